// The registry: a model is a folder in sim/ and its lines here.
//   MODELS(X)   X(name): `name_model`, a Model (sim.h), defined in sim/name/name.c
//   KERNELS(X)  X(model, kernel, threads): `model_kernel`, a function that advances one group of lanes, in
//               sim/model/advance.h; on a GPU so many threads advance a lane together (sim/team.h)
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
    X(hopper, implicit_midpoint, 1) \
    X(hopper, semi_implicit_euler, 1) \
    X(hopper, implicit_euler, 1) \
    X(hopper, rk4, 1) \
    X(hopper, newton_analytic, 1) \
    X(hopper, newton_finite_difference, 1) \
    X(hopper, dormand_prince, 1) \
    X(hopper, implicit_midpoint_full, 1) \
    X(hopper, semi_implicit_euler_full, 1) \
    X(hopper, implicit_euler_full, 1) \
    X(hopper, rk4_full, 1) \
    X(hopper, dormand_prince_full, 1) \
    X(bbob, evaluate, 1) \
    X(rigid, small, 1) \
    X(rigid, large, 1) \
    X(ndt, align, 256)

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

#define MODELS_KERNEL_NUMBER(model, kernel, threads) KERNEL_##model##_##kernel,
enum { KERNELS(MODELS_KERNEL_NUMBER) KERNEL_COUNT };
#undef MODELS_KERNEL_NUMBER

#endif
