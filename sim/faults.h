// Lets tests make calls of the backends' devices fail (sim/faults.c).
#ifndef HOPSCOTCH_FAULTS_H
#define HOPSCOTCH_FAULTS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// True if this CUDA call must fail; *code: with which error. Always false in a build without -DHOPSCOTCH_FAULTS. It is
// a function, so that both builds can share the object of the CUDA kernels, which takes minutes to compile.
bool backend_cuda_fault(int *code);
// Whether `auto` takes the backend `faulty` for a GPU, and finds it faster (1) or slower (-1). 0: it does not, as in a
// build without -DHOPSCOTCH_FAULTS.
int backend_faulty_is_gpu(void);
enum { CUDA_FAULT_TRAP = 99999 }; // an error number: launch a kernel that crashes

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

DeviceFault device_fault(const char *operation); // outcome of this call of the backend `faulty`
void device_set_faults(const char *rules);       // replaces the environment's rules; "" for none
void backend_faulty_repair(void);                // lost devices work again

#ifdef __cplusplus
}
#endif
#endif
