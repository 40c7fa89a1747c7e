// When a restart of a search along gradients ends, and what follows. The first condition that holds, in the order of
// the table below, is stored.
#include "descent.h"

#include <math.h>
#include <string.h>

const char *const descent_stop_names[DESCENT_STOPS] = {
    [DESCENT_GOES_ON] = "",
    [DESCENT_AT_TARGET] = "target",
    [DESCENT_AT_TRIALS] = "trials",
    [DESCENT_AT_ALL_FAILED] = "all_failed",
    [DESCENT_AT_GRADIENT] = "gradient",
    [DESCENT_AT_LINE_SEARCH] = "line_search",
    [DESCENT_AT_STEP] = "step",
    [DESCENT_AT_STAGNATION] = "stagnation",
    [DESCENT_AT_ITERATIONS] = "iterations",
    [DESCENT_AT_DECREASE] = "decrease",
};

typedef bool DescentStops(const Descent *descent, const DescentRun *run);

static bool descent_at_target(const Descent *descent, const DescentRun *run)
{
    const double target = descent->settings[DESCENT_STOP_TARGET];
    return run->best <= (isinf(target) ? target : spec_cost(descent->spec, 0, target)); // infinite: none
}

static bool descent_at_trials(const Descent *descent, const DescentRun *run)
{
    const double most = descent->settings[DESCENT_STOP_TRIALS];
    return most > 0.0 && (double)run->evaluations >= most;
}

static bool descent_at_gradient(const Descent *descent, const DescentRun *run)
{
    return run->missing == 0 && run->gradient <= descent->settings[DESCENT_STOP_GRADIENT];
}

static bool descent_at_step(const Descent *descent, const DescentRun *run)
{
    return run->failed_rounds == 0 && run->step <= descent->settings[DESCENT_STOP_STEP];
}

static bool descent_at_stagnation(const Descent *descent, const DescentRun *run)
{
    const double iterations = descent->settings[DESCENT_STOP_STAGNATION];
    return iterations > 0.0 && (double)(run->iteration - run->best_iteration) >= iterations;
}

// Not between differences and the line that they are for.
static bool descent_at_iterations(const Descent *descent, const DescentRun *run)
{
    return (double)run->iteration >= descent->settings[DESCENT_STOP_ITERATIONS];
}

static const struct {
    DescentStop stop;
    DescentStops *holds; // NULL: here come the method's own
} descent_stops[] = {
    {DESCENT_AT_TARGET, descent_at_target},
    {DESCENT_AT_TRIALS, descent_at_trials},
    {DESCENT_AT_GRADIENT, descent_at_gradient},
    {DESCENT_GOES_ON, NULL},
    {DESCENT_AT_STEP, descent_at_step},
    {DESCENT_AT_STAGNATION, descent_at_stagnation},
    {DESCENT_AT_ITERATIONS, descent_at_iterations},
};

DescentStop descent_stop(const Descent *descent, const DescentRun *run)
{
    for (size_t i = 0; i < sizeof descent_stops / sizeof *descent_stops; i++) {
        const bool shared = descent_stops[i].holds != NULL;
        if (shared && descent_stops[i].holds(descent, run)) return descent_stops[i].stop;
        const DescentStop own = shared ? DESCENT_GOES_ON : descent->method->stop(descent, run);
        if (own != DESCENT_GOES_ON) return own;
    }
    return DESCENT_GOES_ON;
}

// ---- restarts -------------------------------------------------------------------------------------------------------

void descent_begin(const Descent *descent, const DescentView *view, int64_t search)
{
    const DescentRun before = *view->run;
    *view->run = (DescentRun){.round = before.round,
                              .evaluations = before.evaluations,
                              .restart = before.restart,
                              .first_round = before.round,
                              .best = before.best,
                              .least = (double)NAN,
                              .value = (double)NAN,
                              .gradient = (double)NAN,
                              .step = (double)NAN};
    memset(view->slope, 0, (size_t)descent->n * sizeof *view->slope);
    memset(view->valid, 0, (size_t)descent->n * sizeof *view->valid);
    memset(view->own, 0, (size_t)descent->method->own(descent) * sizeof *view->own);
    descent_start(descent, search, view->run, view->x);
    descent->method->begin(descent, view);
}

void descent_restart(const Descent *descent, const DescentView *view, int64_t search, DescentStop why)
{
    DescentRun *run = view->run;
    const bool last = (double)run->restart >= descent->settings[DESCENT_RESTARTS];
    if (last || why == DESCENT_AT_TARGET || why == DESCENT_AT_TRIALS) {
        run->stop = why;
        return;
    }
    run->restart++;
    descent_begin(descent, view, search);
}
