// Kernels made for a campaign: the same headers of the models, compiled once more while it runs, with everything that
// no trial changes as a constant. The bits are those of the general kernels, because constants fold by the rules of
// IEEE 754 and nothing is contracted in either.
#ifndef HOPSCOTCH_MADE_H
#define HOPSCOTCH_MADE_H

#include "../sim.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a kernel is made for.
typedef struct MadeWish {
    const Configured *configured;
    const double *fixed; // [n_parameters] the value that a lane input has in every trial; NaN: trials differ in it
    int blocks;          // of MADE_THREADS, that a processor of the GPU is to hold at once
} MadeWish;

enum { MADE_THREADS = 64 }; // of a block; a thread advances a lane

// The C++ text of the plain kernel of that configuration: one function `made` with the arguments of a general kernel
// (sim/backend_cuda.cu). NUL-terminated, in the arena. NULL: nothing is made of this kernel.
const char *made_source(const MadeWish *wish, Arena *arena);

// ---- the compiler ---------------------------------------------------------------------------------------------------
// NVRTC is found when it is wanted. It may hang, die, or take all memory: call it in a process that may be lost.

// What NVRTC is given beside the source, as one line: part of a kernel's identity.
const char *made_options(const char *architecture, Arena *arena);
// architecture: "sm_90". The image is in the arena. Error (machine): no NVRTC, or it refused.
Error made_compile(const char *source, const char *architecture, Arena *arena, MadeImage *image);

#ifdef __cplusplus
}
#endif
#endif
