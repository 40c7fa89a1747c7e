// The models' runs with dual numbers: the derivatives of metrics along a direction of the parameters.
#include "articulated/adjoint/tangent.h"

#include "dual_kernels.h"

const DualKernels dual_articulated = {articulated_tangent_bytes, articulated_tangent};
