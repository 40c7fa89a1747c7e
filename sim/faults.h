// The seam between the backends and their devices, through which a test makes them fail (sim/faults.c).
#ifndef HOPSCOTCH_FAULTS_H
#define HOPSCOTCH_FAULTS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Whether this CUDA call is to fail, and with which error number. A build without -DHOPSCOTCH_FAULTS never says so; the
// object of CUDA kernels, which takes minutes to compile, is the same in both.
bool backend_cuda_fault(int *code);
enum { CUDA_FAULT_TRAP = 99999 }; // as an error number: a kernel is launched that dies

// Only in builds with -DHOPSCOTCH_FAULTS.
typedef enum DeviceFault {
    FAULT_NONE,
    FAULT_MEMORY,
    FAULT_LAUNCH,
    FAULT_LOST,
    FAULT_HANG,
    FAULT_TIME,
    FAULTS
} DeviceFault;

DeviceFault device_fault(const char *operation); // what becomes of this call of the backend `faulty`
void device_set_faults(const char *rules);       // in place of the environment's; "" for none
void backend_faulty_repair(void);                // no device is lost any more

#ifdef __cplusplus
}
#endif
#endif
