// Kernels of a CPU, made by the C compiler of this machine.
#ifndef HOPSCOTCH_MADE_COMPILE_C_H
#define HOPSCOTCH_MADE_COMPILE_C_H

#include "../sim.h"

// As made_compiler, made_options and made_compile of sim.h, for a CPU. made_c_compile listens to SIGTERM, SIGINT and
// SIGHUP from then on: they end the compiler, and remove its folder.
const char *made_c_compiler(Arena *arena);
const char *made_c_options(const char *architecture, Arena *arena);
Error made_c_compile(const char *source, const char *architecture, Arena *arena, MadeImage *image);

#endif
