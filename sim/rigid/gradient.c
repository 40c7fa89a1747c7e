// What of rigid bodies has a derivative, by runs with dual numbers.
#include "../dual_kernels.h"
#include "rigid.h"

#include <string.h>

static RigidConstants rigid_constants_of(const Configured *configured)
{
    RigidConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    return c;
}

// Forces that jump where a step finds something: derivatives do not see when.
static const char *rigid_refuses(const Configured *configured)
{
    const RigidConstants c = rigid_constants_of(configured);
    const char *of_law = law_without_derivative(configured);
    const RigidForce *forces = (const RigidForce *)(configured->assets + c.forces);
    for (int f = 0; f < c.n_forces; f++) {
        if (forces[f].kind == RIGID_PARACHUTE) return "a parachute opens at the start of a step: it has no gradient";
        if (forces[f].kind == RIGID_TETHER && (forces[f].damping > 0.0 || forces[f].input[1] >= 0))
            return "the pull of a tether with damping jumps where it becomes taut: it has no gradient";
    }
    return of_law;
}

static const char *rigid_bends(const Configured *configured, int metric)
{
    if (metric >= RIGID_N_METRICS || metric == RIGID_METRIC_energy_end || metric == RIGID_METRIC_touchdown) return NULL;
    if (metric != RIGID_METRIC_error_rms) return "";
    return rigid_constants_of(configured).form == RIGID_RATTLE ? "rounding, by rattle" : NULL;
}

static bool rigid_by_parameter(const Configured *configured, int parameter)
{
    (void)configured;
    return parameter != RIGID_PARAMETER_substeps;
}

const Adjoint rigid_adjoint = {.refuses = rigid_refuses,
                               .bends = rigid_bends,
                               .parameter = rigid_by_parameter,
                               .directions = dual_directions,
                               .tangent_bytes = dual_bytes,
                               .tangent = dual_tangent};
