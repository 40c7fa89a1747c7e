// The registry: a model is a folder in sim/ and its lines here.
//   MODELS(X)   X(name): `name_model`, a Model (sim.h), defined in sim/name/name.c
//   KERNELS(X)  X(model, kernel): `model_kernel`, a function that advances one group of lanes, in sim/model/advance.h
//   GRAPH_KERNELS(X)  those whose step is also a compute graph (`model_kernel_open`, `model_kernel_share`; see
//               sim/cpu_kernels.h), in sim/model/step_graph.h
#ifndef HOPSCOTCH_MODELS_H
#define HOPSCOTCH_MODELS_H

#include "sim.h"

// clang-format off
#define MODELS(X) \
    X(hopper) \
    X(bbob) \
    X(rigid) \
    X(ndt)

#define KERNELS(X) \
    X(hopper, implicit_midpoint) \
    X(hopper, semi_implicit_euler) \
    X(hopper, implicit_euler) \
    X(hopper, rk4) \
    X(hopper, newton_analytic) \
    X(hopper, newton_finite_difference) \
    X(hopper, dormand_prince) \
    X(hopper, implicit_midpoint_full) \
    X(hopper, semi_implicit_euler_full) \
    X(hopper, implicit_euler_full) \
    X(hopper, rk4_full) \
    X(hopper, dormand_prince_full) \
    X(bbob, evaluate) \
    X(rigid, small) \
    X(rigid, large) \
    X(ndt, align)

#define GRAPH_KERNELS(X) \
    X(rigid, large)
// clang-format on

// Only the kernels' own translation units (sim/cpu_kernels.c, sim/backend_cuda.cu) see the models' arithmetic.
#ifdef HOPSCOTCH_KERNELS
#include "bbob/advance.h"
#include "hopper/advance.h"
#include "ndt/advance.h"
#include "rigid/advance.h"
#endif
#ifdef HOPSCOTCH_GRAPHS
#include "rigid/step_graph.h"
#endif

#define MODELS_KERNEL_NUMBER(model, kernel) KERNEL_##model##_##kernel,
enum { KERNELS(MODELS_KERNEL_NUMBER) KERNEL_COUNT };
#undef MODELS_KERNEL_NUMBER

#endif
