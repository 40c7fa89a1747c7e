// A table of the constraint rows that a step solved for: by name, with the pull of each rod.
#include "rigid.h"

#include <math.h>
#include <string.h>

enum { KKT_ROW, KKT_CONSTRAINT, KKT_C, KKT_JV, KKT_LAMBDA, KKT_TENSION, KKT_RESIDUAL, KKT_COLUMNS };

static const char *const kkt_names[KKT_COLUMNS] = {"row", "constraint", "C", "Jv", "lambda", "tension", "residual"};

static bool kkt_is_soft(const RigidConstants *c, const double *parameter)
{
    return c->form == RIGID_SOFT || (c->form == RIGID_SEARCHED && parameter[RIGID_PARAMETER_form] > RIGID_SOFT - 0.5);
}

// The pull of a rod: -lambda |d|, with |d|^2 = L^2 + 2 C. Form soft has divided its rows by |d|.
static double kkt_tension(const Configured *configured, const double *parameter, const double *debug)
{
    RigidConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    const RigidRow *row = (const RigidRow *)(configured->assets + c.rows) + (int)debug[RIGID_DEBUG_row];
    if (row->kind != RIGID_DISTANCE) return NAN;
    if (kkt_is_soft(&c, parameter)) return -debug[RIGID_DEBUG_lambda];
    const double length = row->input >= 0 ? parameter[row->input] : row->target;
    return -debug[RIGID_DEBUG_lambda] * sqrt(fmax(length * length + 2.0 * debug[RIGID_DEBUG_C], 0.0));
}

static DebugCell kkt_cell(const Configured *configured, const double *parameter, const double *debug, int column)
{
    static const int of[KKT_COLUMNS] = {RIGID_DEBUG_row,    RIGID_DEBUG_constraint, RIGID_DEBUG_C,       RIGID_DEBUG_Jv,
                                        RIGID_DEBUG_lambda, RIGID_DEBUG_lambda,     RIGID_DEBUG_residual};
    const RigidHost *host = configured->host;
    RigidConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    // the number in a damaged file may be anything
    const bool known = debug[RIGID_DEBUG_row] >= 0.0 && debug[RIGID_DEBUG_row] < c.n_rows;
    if (column == KKT_CONSTRAINT && known) {
        const RigidRow *row = (const RigidRow *)(configured->assets + c.rows) + (int)debug[RIGID_DEBUG_row];
        return (DebugCell){.text = host->constraints[row->constraint]};
    }
    if (column == KKT_TENSION) return (DebugCell){.number = known ? kkt_tension(configured, parameter, debug) : NAN};
    return (DebugCell){.number = debug[of[column]]};
}

const DebugTable rigid_debug_table = {kkt_names, KKT_COLUMNS, kkt_cell, RIGID_DEBUG_energy};
