// The registry of models. A model is a folder in sim/ and its lines here.
//   MODELS(X)   X(name): `name_model`, a Model (sim.h), defined in sim/name/name.c
//               A model that runs a program, or whose trials people run, has no kernel (KERNEL_NONE).
//   KERNELS(X)  X(model, kernel, threads, alone, work, fill): `model_kernel`, a function in sim/model/advance.h that
//               advances one group of lanes. threads: of a GPU that advance a lane together, at most (sim/team.h).
//               alone: how a CPU computes a single lane: `scalar`, because the other lanes of a vector would be idle,
//               or `vector` if the model fills vectors itself. work: how a lane keeps it between slices: in `columns`,
//               so that lanes can be swapped (lanes_work), or in `chunks` of neighbouring lanes (lanes_work_chunk).
//               fill: thread blocks that a processor of a GPU is to hold of a kernel made for a campaign
//               (sim/made), where there are as many lanes; 1: the compiler takes the registers that it wants
//   ADJOINT_KERNELS(X)  kernels whose run can be gone back through, in sim/model/adjoint: by two threads of a GPU
//               (`model_adjoint_plan`, `_forth`, `_back_slice`, pair.h; see sim/adjoint.h), by a vector of a CPU
//               (`model_adjoint_bytes`, `_run`, `_back`, group.h; see sim/cpu_kernels.h)
//   ENVIRONMENT_KERNELS(X)  kernels whose lanes can have clocks of their own, in sim/model/environment.h
//               (`model_kernel_begin`, `_advance`, `_sample`, `_finish`; see sim/environment.h)
//   ALONE_KERNELS(X)  kernels of several threads that a GPU also has for one thread per lane (sim/alone.cuh)
//   GRAPH_KERNELS(X)  kernels whose step is also a compute graph (`model_kernel_open`, `model_kernel_share`; see
//               sim/cpu_kernels.h), in sim/model/step_graph.h
//   DUAL_KERNELS(X)  kernels whose lanes can also run with dual numbers, for gradients by the tangent (sim/tangent.h)
//   TILE_KERNELS(X)  kernels that advance neighbouring groups of a CPU together (`model_kernel_tile`, see
//               sim/cpu_kernels.h), in sim/model/tile.h
#ifndef HOPSCOTCH_MODELS_H
#define HOPSCOTCH_MODELS_H

#include "sim.h"

// clang-format off
#define MODELS(X) \
    X(hopper) \
    X(bbob) \
    X(rigid) \
    X(articulated) \
    X(equations) \
    X(ndt) \
    X(command) \
    X(manual)

#define KERNELS(X) \
    X(hopper, implicit_midpoint, 1, scalar, columns, 6) \
    X(hopper, semi_implicit_euler, 1, scalar, columns, 1) \
    X(hopper, implicit_euler, 1, scalar, columns, 1) \
    X(hopper, rk4, 1, scalar, columns, 6) \
    X(hopper, newton_analytic, 1, scalar, columns, 1) \
    X(hopper, newton_finite_difference, 1, scalar, columns, 1) \
    X(hopper, dormand_prince, 1, scalar, columns, 1) \
    X(hopper, implicit_midpoint_full, 1, scalar, columns, 6) \
    X(hopper, semi_implicit_euler_full, 1, scalar, columns, 1) \
    X(hopper, implicit_euler_full, 1, scalar, columns, 1) \
    X(hopper, rk4_full, 1, scalar, columns, 1) \
    X(hopper, dormand_prince_full, 1, scalar, columns, 1) \
    X(bbob, evaluate, 1, scalar, columns, 1) \
    X(rigid, small, 1, scalar, columns, 1) \
    X(rigid, large, 256, scalar, chunks, 1) \
    X(articulated, tree, 1, scalar, chunks, 1) \
    X(equations, dormand_prince, 1, scalar, chunks, 1) \
    X(equations, rk4, 1, scalar, chunks, 1) \
    X(equations, semi_implicit_euler, 1, scalar, chunks, 1) \
    X(equations, implicit_midpoint, 1, scalar, chunks, 1) \
    X(equations, rodas5p, 1, scalar, chunks, 1) \
    X(equations, euler_maruyama, 1, scalar, chunks, 1) \
    X(equations, sra3, 1, scalar, chunks, 1) \
    X(equations, map, 1, scalar, chunks, 1) \
    X(ndt, align, 256, vector, columns, 1)

#define ENVIRONMENT_KERNELS(X) \
    X(hopper, implicit_midpoint) \
    X(hopper, semi_implicit_euler) \
    X(hopper, implicit_euler) \
    X(hopper, rk4) \
    X(hopper, implicit_midpoint_full) \
    X(hopper, semi_implicit_euler_full) \
    X(hopper, implicit_euler_full) \
    X(hopper, rk4_full) \
    X(articulated, tree) \
    X(equations, dormand_prince) \
    X(equations, rk4) \
    X(equations, semi_implicit_euler) \
    X(equations, implicit_midpoint) \
    X(equations, rodas5p) \
    X(equations, euler_maruyama) \
    X(equations, sra3) \
    X(equations, map)

#define ALONE_KERNELS(X) \
    X(rigid, large)

#define GRAPH_KERNELS(X) \
    X(rigid, large) \
    X(ndt, align)

#define ADJOINT_KERNELS(X) \
    X(articulated, tree)

#define DUAL_KERNELS(X) \
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
    X(rigid, small) \
    X(rigid, large)

#define TILE_KERNELS(X) \
    X(equations, rk4) \
    X(equations, semi_implicit_euler) \
    X(equations, map)
// clang-format on

// Only the translation units of the kernels (sim/cpu_kernels.c, sim/*_cuda.cu) include the models' arithmetic.
#ifdef HOPSCOTCH_ALONE
#include "rigid/advance.h"
#elif defined(HOPSCOTCH_KERNELS)
#include "articulated/advance.h"
#include "bbob/advance.h"
#include "equations/advance.h"
#include "hopper/advance.h"
#include "ndt/advance.h"
#include "rigid/advance.h"
#endif
#ifdef HOPSCOTCH_ADJOINTS
#include "articulated/adjoint/pair.h"
#endif
#ifdef HOPSCOTCH_ADJOINT_GROUPS
#include "articulated/adjoint/group.h"
#endif
#ifdef HOPSCOTCH_DUAL
#include "articulated/adjoint/tangent.h"
#include "hopper/advance.h"
#include "rigid/advance.h"
#endif
#ifdef HOPSCOTCH_ENVIRONMENTS
#include "articulated/environment.h"
#include "environment.h"
#include "equations/environment.h"
#include "hopper/environment.h"
#endif
#ifdef HOPSCOTCH_GRAPHS
#include "ndt/step_graph.h"
#include "rigid/step_graph.h"
#endif

#define MODELS_KERNEL_NUMBER(model, kernel, threads, alone, work, fill) KERNEL_##model##_##kernel,
enum { KERNELS(MODELS_KERNEL_NUMBER) KERNEL_COUNT, KERNEL_NONE = -1 };
#undef MODELS_KERNEL_NUMBER

#endif
