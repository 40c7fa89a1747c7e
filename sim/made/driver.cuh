// The functions of CUDA's driver that load and launch a kernel of ours, found when they are wanted: the runtime, which
// the program is linked with, has had them under several names. Only for sim/backend_cuda.cu.
#ifndef HOPSCOTCH_MADE_DRIVER_H
#define HOPSCOTCH_MADE_DRIVER_H

#include <cuda.h>
#include <dlfcn.h>

typedef struct Driver {
    CUresult (*load)(CUmodule *module, const void *image);
    CUresult (*unload)(CUmodule module);
    CUresult (*function)(CUfunction *function, CUmodule module, const char *name);
    CUresult (*attribute)(int *value, CUfunction_attribute attribute, CUfunction function);
    CUresult (*launch)(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                       unsigned bz, unsigned shared, CUstream stream, void **arguments, void **extra);
    CUresult (*words)(CUresult result, const char **words);
} Driver;

template <typename Function> static bool driver_symbol(void *library, const char *name, Function *function)
{
    *function = (Function)dlsym(library, name);
    return *function != NULL;
}

// The driver is loaded already if the runtime has found a device.
static bool driver_find(Driver *driver)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library != NULL && driver_symbol(library, "cuModuleLoadData", &driver->load) &&
           driver_symbol(library, "cuModuleUnload", &driver->unload) &&
           driver_symbol(library, "cuModuleGetFunction", &driver->function) &&
           driver_symbol(library, "cuFuncGetAttribute", &driver->attribute) &&
           driver_symbol(library, "cuLaunchKernel", &driver->launch) &&
           driver_symbol(library, "cuGetErrorString", &driver->words);
}

#endif
