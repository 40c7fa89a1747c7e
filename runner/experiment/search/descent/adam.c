// adam: steps along a running mean of the gradient, scaled by a running mean of its squares, many searches side by
// side.
//
// Source: D. P. Kingma, J. Ba, "Adam: a method for stochastic optimization", ICLR 2015, algorithm 1. In iteration t
//     m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2,
//     u = u - a_t (m/(1 - b1^t)) / (sqrt(v/(1 - b2^t)) + epsilon)
// by coordinate, where u runs from 0 to 1 over the range and g = df/du. The result is projected onto the ranges. The
// rate a_t is constant, falls like a cosine from a to 0 over the iterations (I. Loshchilov, F. Hutter, ICLR 2017,
// equation 5 without restarts), or decays like a/sqrt(t) (section 4 of Kingma & Ba).
//
// A round without a single derivative takes the search half way back to the last centre that had some, with m = 0.
// Replicates get new random numbers every round (`common: false`), or always the same ones.
#include "descent.h"

#include <math.h>
#include <string.h>

enum {
    ADAM_BETA1 = DESCENT_PENALTY_OPTIONS,
    ADAM_BETA2,
    ADAM_EPSILON,
    ADAM_SCHEDULE,
    ADAM_CLIP,
    ADAM_PATIENCE,
    ADAM_N_OPTIONS
};
enum { ADAM_CONSTANT, ADAM_COSINE, ADAM_DECAY };

static const Option adam_options[ADAM_N_OPTIONS] = {
    DESCENT_OPTION_ROWS("adam", DESCENT_BY_DIFFERENCES, DESCENT_GRADIENT_DOC, "rate", 0.02,
                        "length of a step in each parameter at the start, as a fraction of its range", 300),
    DESCENT_PENALTY_ROW("adam"),
    {"adam.beta1", OPTION_NUMBER, "1", 0.9, 0, 0.9999, NULL, "memory of the mean of the gradient"},
    {"adam.beta2", OPTION_NUMBER, "1", 0.999, 0, 0.999999, NULL, "memory of the mean of its squares"},
    {"adam.epsilon", OPTION_NUMBER, "", 1e-8, 1e-300, (double)INFINITY, NULL,
     "derivatives much smaller than this make small steps, in fitness per range"},
    {"adam.schedule", OPTION_CHOICE, "", 0, 0, 2, "constant|cosine|decay",
     "of the rate. cosine: down to 0 at stop.iterations, which can't be extended then; decay: with 1/sqrt(iteration)"},
    {"adam.clip", OPTION_NUMBER, "", 0, 1e-300, (double)INFINITY, "none",
     "a longer gradient is shortened to this norm, in fitness per range, without what points out of the ranges"},
    {"adam.patience", OPTION_INTEGER, "1", 10, 1, 1e6, NULL,
     "rounds without a single derivative, after which a search ends"},
};

// ---- the step -------------------------------------------------------------------------------------------------------

static int64_t adam_own(const Descent *descent) { return 2 * (int64_t)descent->n; }

static int64_t adam_none(const Descent *descent)
{
    (void)descent;
    return 0;
}

static void adam_begin(const Descent *descent, const DescentView *view)
{
    (void)descent;
    (void)view;
}

// a_t of the last iteration.
static double adam_rate(const Descent *descent, const DescentRun *run)
{
    const double *settings = descent->settings, t = (double)run->iteration, pi = 3.14159265358979323846;
    if (settings[ADAM_SCHEDULE] == ADAM_DECAY) return settings[DESCENT_RATE] / sqrt(t);
    if (settings[ADAM_SCHEDULE] == ADAM_CONSTANT) return settings[DESCENT_RATE];
    return settings[DESCENT_RATE] * 0.5 * (1.0 + portable_cos(pi * (t - 1.0) / settings[DESCENT_STOP_ITERATIONS]));
}

static void adam_step(const Descent *descent, const DescentView *view, double *to)
{
    const double *settings = descent->settings, b1 = settings[ADAM_BETA1], b2 = settings[ADAM_BETA2];
    const double t = (double)view->run->iteration, length = view->run->gradient; // without what the ranges hold
    const double clip = settings[ADAM_CLIP] > 0.0 && length > settings[ADAM_CLIP] ? settings[ADAM_CLIP] / length : 1.0;
    const double of_mean = 1.0 - portable_pow(b1, t), of_squares = 1.0 - portable_pow(b2, t);
    const double rate = adam_rate(descent, view->run);
    double *mean = view->own, *squares = view->own + descent->n;
    for (int i = 0; i < descent->n; i++) {
        const double g = clip * view->slope[i];
        mean[i] = b1 * mean[i] + (1.0 - b1) * g;
        squares[i] = b2 * squares[i] + (1.0 - b2) * g * g;
        const double down = rate * (mean[i] / of_mean) / (sqrt(squares[i] / of_squares) + settings[ADAM_EPSILON]);
        to[i] = search_inside(view->x[i] - down);
    }
}

static void adam_move(const Descent *descent, const DescentView *view, const double *to)
{
    double *moved = descent->vector + descent->n;
    for (int i = 0; i < descent->n; i++) {
        moved[i] = to[i] - view->x[i];
        view->x[i] = to[i];
    }
    view->run->step = descent_norm(moved, descent->n);
}

static void adam_go_back(const Descent *descent, const DescentView *view, double *to)
{
    view->run->failed_rounds++;
    memset(view->own, 0, (size_t)descent->n * sizeof *view->own);
    for (int i = 0; i < descent->n; i++)
        to[i] = view->run->has_valid ? view->valid[i] + 0.5 * (view->x[i] - view->valid[i]) : view->x[i];
    descent_retreat(descent, view->run->has_valid ? view->valid : view->x, to);
    adam_move(descent, view, to);
}

static void adam_learn(const Descent *descent, const DescentView *view)
{
    DescentRun *run = view->run;
    double *to = descent->vector;
    run->iteration++;
    if (run->missing == descent->n) {
        adam_go_back(descent, view, to);
        return;
    }
    run->failed_rounds = 0;
    if (!isnan(run->value)) {
        memcpy(view->valid, view->x, (size_t)descent->n * sizeof *view->valid);
        run->has_valid = 1;
    }
    adam_step(descent, view, to);
    descent_retreat(descent, view->x, to);
    adam_move(descent, view, to);
}

// A start that failed fails again, unless replicates draw anew.
static DescentStop adam_stop(const Descent *descent, const DescentRun *run)
{
    const bool anew = !descent->spec->replicates.common && replicates_differ(descent->spec);
    const double most = run->has_valid || anew ? descent->settings[ADAM_PATIENCE] : 1.0;
    return (double)run->failed_rounds >= most ? DESCENT_AT_ALL_FAILED : DESCENT_GOES_ON;
}

static const DescentMethod adam_method = {
    .searches = "search.adam.searches",
    .gradient = "search.adam.gradient",
    .forward = "search.adam.forward",
    .own = adam_own,
    .line = adam_none,
    .pairs = adam_none,
    .begin = adam_begin,
    .learn = adam_learn,
    .stop = adam_stop,
    .rate = adam_rate,
};

// ---- the row of the registry ----------------------------------------------------------------------------------------

static Error adam_check(const Spec *spec, const char **key) { return descent_check(spec, &adam_method, key); }

static Error adam_init(const Spec *spec, Arena *arena, Search *search)
{
    return descent_init(spec, &adam_method, arena, search);
}

static bool adam_budget(const Spec *spec, const char *option)
{
    const bool iterations = strcmp(option, adam_options[DESCENT_STOP_ITERATIONS].name) == 0;
    if (iterations && spec->method_settings[ADAM_SCHEDULE] == ADAM_COSINE) return false;
    return descent_budget(spec, option);
}

// The points of a round share the random numbers of their replicates.
static uint64_t adam_ordinal(int64_t round, int64_t member)
{
    (void)member;
    return search_round_ordinal(round, 0);
}

const SearchMethod search_adam = {
    .name = "adam",
    .doc = "steps along running means of the gradient (Kingma & Ba 2015), many searches side by side",
    .options = adam_options,
    .n_options = ADAM_N_OPTIONS,
    .wants_range = true,
    .later = "adam.forward",
    .gradient_column = DESCENT_GRADIENT_COLUMN,
    .takes_values = descent_takes_values,
    .budget = adam_budget,
    .bounds = descent_bounds,
    .searches = descent_searches,
    .check = adam_check,
    .init = adam_init,
    .ordinal = adam_ordinal,
    SIDE_BY_SIDE_METHOD,
    .gradient_bytes = descent_gradient_bytes,
    .gradient_lanes = descent_gradient_lanes,
    .use_gpu = descent_use_gpu,
};
