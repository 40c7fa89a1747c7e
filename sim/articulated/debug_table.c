// A table of what a step solved for: of each body its joint's errors and multipliers as lengths of vectors.
#include "articulated.h"

#include <math.h>

enum { SOLVE_BODY, SOLVE_JOINT, SOLVE_GAP, SOLVE_TURN, SOLVE_FORCE, SOLVE_TORQUE, SOLVE_AXIS, SOLVE_RESIDUAL };

static const char *const solve_names[] = {"body", "joint", "gap", "turn", "force", "torque", "axis", "residual"};

static double solve_length(const double *v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static DebugCell solve_cell(const Configured *configured, const double *parameter, const double *debug, int column)
{
    static const int of[] = {ARTICULATED_DEBUG_body,   ARTICULATED_DEBUG_body,    ARTICULATED_DEBUG_gap_x,
                             ARTICULATED_DEBUG_turn_x, ARTICULATED_DEBUG_force_x, ARTICULATED_DEBUG_torque_x,
                             ARTICULATED_DEBUG_axis,   ARTICULATED_DEBUG_residual};
    const ArticulatedHost *host = configured->host;
    const double body = debug[ARTICULATED_DEBUG_body];
    // the number in a damaged file may be anything
    const bool known = body >= 0.0 && body < host->robot->n_bodies;
    (void)parameter;
    if (known && column == SOLVE_BODY) return (DebugCell){.text = host->bodies[(int)body]};
    if (known && column == SOLVE_JOINT) return (DebugCell){.text = host->joints[(int)body]};
    if (column >= SOLVE_GAP && column <= SOLVE_TORQUE) return (DebugCell){.number = solve_length(debug + of[column])};
    return (DebugCell){.number = debug[of[column]]};
}

const DebugTable articulated_debug_table = {solve_names, SOLVE_RESIDUAL + 1, solve_cell,
                                            ARTICULATED_DEBUG_residual_max};
