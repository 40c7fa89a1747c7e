// Points of searches along gradients: coordinates, where searches start, the members of a round.
#include "descent.h"

#include <math.h>
#include <string.h>

#define DESCENT_WARM_WIDTH 10.0 // of the coordinates that are taken from another campaign (cmaes/coordinates.c)

enum { DESCENT_MEMBER_NONE = (1 << 24) - 1 }; // starts are drawn as a member that no round has

bool descent_point(const Descent *descent, const double *x)
{
    const Spec *spec = descent->spec;
    memcpy(descent->parameter, spec->fixed, (size_t)spec->configured.n_parameters * sizeof(double));
    for (int i = 0; i < descent->n; i++)
        descent->parameter[spec->axes[i].parameter] = search_value(&spec->axes[i].values, x[i]);
    return search_complete(spec, descent->parameter);
}

// ---- starts ---------------------------------------------------------------------------------------------------------

static double descent_start_drawn(const Descent *descent, int64_t search, const DescentRun *run, int attempt, int i)
{
    const int64_t number = search + descent->side.first;
    const bool random = descent->settings[DESCENT_START] == DESCENT_START_RANDOM || descent->sobol == NULL;
    const RandomKey key = {.seed = descent->spec->seed,
                           .search = (uint32_t)number,
                           .ordinal = search_round_ordinal(run->restart, DESCENT_MEMBER_NONE),
                           .replicate = (uint32_t)attempt,
                           .purpose = RANDOM_SAMPLE};
    const uint64_t index = (uint64_t)run->restart << 20 | (uint64_t)number;
    const double u =
        random || attempt > 0 ? random_uniform(&key, (uint32_t)i) : sobol_coordinate(descent->sobol, i, index);
    return 0.1 + 0.8 * u;
}

// Starts that are given: points of the spec, then that of another campaign, or the option's.
static bool descent_start_given(const Descent *descent, int64_t search, const DescentRun *run, double *x)
{
    const Spec *spec = descent->spec;
    const int start = (int)descent->settings[DESCENT_START], n = descent->n;
    if (run->restart > 0) return false;
    const int64_t number = search + descent->side.first;
    const bool point = number < spec->n_inject, first = number == spec->n_inject;
    const bool warm = first && spec->warm.mean != NULL, center = start == DESCENT_START_CENTER;
    if (!point && !warm && !(first && (center || start == DESCENT_START_DEFAULT))) return false;
    for (int i = 0; i < n; i++) {
        const Values *values = &spec->axes[i].values;
        const double value = point ? spec->inject[number * n + i] : spec->fixed[spec->axes[i].parameter];
        x[i] = warm               ? search_inside(spec->warm.mean[i] / DESCENT_WARM_WIDTH)
               : center && !point ? 0.5
                                  : search_coordinate(values, value);
    }
    return true;
}

// Draws again while the spec drops the point; if it drops all, the round has no trials.
void descent_start(const Descent *descent, int64_t search, const DescentRun *run, double *x)
{
    if (descent_start_given(descent, search, run, x)) return;
    for (int attempt = 0; attempt < SIDE_ATTEMPTS; attempt++) {
        for (int i = 0; i < descent->n; i++) x[i] = descent_start_drawn(descent, search, run, attempt, i);
        if (descent_point(descent, x)) return;
    }
}

// ---- members of a round ---------------------------------------------------------------------------------------------

int64_t descent_members(const Descent *descent, const DescentRun *run)
{
    return run->on_line ? descent->method->line(descent) : descent_around(descent);
}

double descent_forward(const Descent *descent, const double *x, int i)
{
    const double h = descent->settings[DESCENT_FORWARD], above = x[i] + h;
    double *point = descent->vector + 2 * (ptrdiff_t)descent->n;
    memcpy(point, x, (size_t)descent->n * sizeof *point);
    point[i] = above;
    return above <= 1.0 && descent_point(descent, point) ? above : search_inside(x[i] - h);
}

void descent_member(const Descent *descent, const DescentView *view, int64_t member, double *x)
{
    if (view->run->on_line) {
        descent->method->line_point(descent, view, member, x);
        return;
    }
    memcpy(x, view->x, (size_t)descent->n * sizeof *x);
    if (member == 0) return;
    if (descent->settings[DESCENT_FORWARD] > 0.0) {
        x[member - 1] = descent_forward(descent, view->x, (int)member - 1);
        return;
    }
    const int64_t i = (member - 1) / 2;
    const double h = descent->settings[DESCENT_DIFFERENCE];
    x[i] = search_inside(member % 2 == 1 ? x[i] + h : x[i] - h);
}

void descent_retreat(const Descent *descent, const double *allowed, double *x)
{
    enum { HALVES = 60 };
    for (int k = 0; k < HALVES && !descent_point(descent, x); k++) {
        for (int i = 0; i < descent->n; i++) x[i] = allowed[i] + 0.5 * (x[i] - allowed[i]);
    }
    if (!descent_point(descent, x)) memcpy(x, allowed, (size_t)descent->n * sizeof *x);
}
