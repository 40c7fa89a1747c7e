// The types of CUDA's driver that sim/made/driver.cuh names. On this host there is no driver to be found, so no kernel
// is made.
#ifndef HOPSCOTCH_CUDA_DRIVER_ON_HOST_H
#define HOPSCOTCH_CUDA_DRIVER_ON_HOST_H

typedef int CUresult;
enum { CUDA_SUCCESS = 0, CUDA_ERROR_NOT_FOUND = 500 };
typedef struct HostModule *CUmodule;
typedef struct HostFunction *CUfunction;
typedef struct HostStream *CUstream;
enum CUfunction_attribute { CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3, CU_FUNC_ATTRIBUTE_NUM_REGS = 4 };

#endif
