// morris: elementary effects (M. D. Morris, Technometrics 33(2), 1991). A trajectory of k + 1 trials changes each of
// the k parameters once, in a random order, by delta = p/(2 (p - 1)) of its range, up or down between p levels. The
// effect of a parameter in a trajectory is the change of the fitness over delta: per whole range, in units of the
// fitness; of a log scale per range of the logarithm. mu: its mean; mu_star: the mean of its absolute values, which do
// not cancel (F. Campolongo, J. Cariboni & A. Saltelli, Environ. Model. Softw. 22, 2007); sigma: its standard
// deviation, which is large for nonlinear effects and interactions. As SALib without `scaled`.
#include "../experiment.h"

#include <math.h>

enum { SEARCH_MORRIS_TRAJECTORIES, SEARCH_MORRIS_LEVELS, SEARCH_MORRIS_N_OPTIONS };
enum { SEARCH_MORRIS_MU, SEARCH_MORRIS_MU_STAR, SEARCH_MORRIS_SIGMA, SEARCH_MORRIS_MEASURES };
enum { SEARCH_MORRIS_DRAW_LEVEL, SEARCH_MORRIS_DRAW_SIGN, SEARCH_MORRIS_DRAW_ORDER }; // `replicate` of a key

static const Option search_morris_options[SEARCH_MORRIS_N_OPTIONS] = {
    {"trajectories", OPTION_INTEGER, "1", 20, 2, 1e6, NULL, "trajectories, each of k + 1 trials for k parameters"},
    {"levels", OPTION_INTEGER, "1", 4, 2, 1024, NULL, "levels of each parameter; an even number"},
};

// The levels of an axis: decimals, as those of a grid (io/decimal.c).
typedef struct SearchMorrisLevels {
    DecimalLine line;
    DecimalCurve curve; // on a log scale
} SearchMorrisLevels;

static double search_morris_delta(const Spec *spec)
{
    const double levels = spec->method_settings[SEARCH_MORRIS_LEVELS];
    return levels / (2.0 * (levels - 1.0));
}

static RandomKey search_morris_key(const Spec *spec, int64_t trajectory, int what)
{
    return (RandomKey){
        .seed = spec->seed, .ordinal = (uint64_t)trajectory, .replicate = (uint32_t)what, .purpose = RANDOM_SAMPLE};
}

static bool search_morris_goes_up(const Spec *spec, int64_t trajectory, int axis)
{
    const RandomKey key = search_morris_key(spec, trajectory, SEARCH_MORRIS_DRAW_SIGN);
    return random_uniform(&key, (uint32_t)axis) < 0.5;
}

// The step, from 1 on, in which the axis changes: its rank among random numbers.
static int search_morris_step(const Spec *spec, int64_t trajectory, int axis)
{
    const RandomKey key = search_morris_key(spec, trajectory, SEARCH_MORRIS_DRAW_ORDER);
    const double own = random_uniform(&key, (uint32_t)axis);
    int step = 1;
    for (int other = 0; other < spec->n_axes; other++) {
        const double u = random_uniform(&key, (uint32_t)other);
        step += u < own || (u == own && other < axis);
    }
    return step;
}

static double search_morris_value(const Values *values, const SearchMorrisLevels *axis, int64_t level, int64_t levels)
{
    if (values->integer) return search_value(values, (double)level / (double)(levels - 1));
    if (level == levels - 1) return values->high;
    return values->log_scale ? decimal_curve_at(&axis->curve, level) : decimal_line_at(&axis->line, level);
}

static void search_morris_point(const Search *search, int64_t id, double *parameter)
{
    const Spec *spec = search->spec;
    const int64_t trajectory = id / (spec->n_axes + 1), step = id % (spec->n_axes + 1);
    const int64_t levels = (int64_t)spec->method_settings[SEARCH_MORRIS_LEVELS];
    const SearchMorrisLevels *axes = search->scratch;
    const RandomKey key = search_morris_key(spec, trajectory, SEARCH_MORRIS_DRAW_LEVEL);
    for (int a = 0; a < spec->n_axes; a++) {
        const int64_t base = (int64_t)(random_uniform(&key, (uint32_t)a) * (double)levels / 2.0);
        const bool changed = step >= search_morris_step(spec, trajectory, a);
        const bool high = changed == search_morris_goes_up(spec, trajectory, a);
        parameter[spec->axes[a].parameter] =
            search_morris_value(&spec->axes[a].values, &axes[a], high ? base + levels / 2 : base, levels);
    }
}

// fitness[group][n_axes + 1]
static void search_morris_measure(const Search *search, const SensitivityGroups *groups, double *out)
{
    const Spec *spec = search->spec;
    const double delta = search_morris_delta(spec), n = (double)groups->count;
    for (int a = 0; a < spec->n_axes; a++) {
        double sum = 0.0, absolute_sum = 0.0, squares = 0.0;
        for (int pass = 0; pass < 2; pass++) {
            for (int64_t b = 0; b < groups->count; b++) {
                const int64_t trajectory = groups->chosen[b];
                const double *fitness = groups->fitness + trajectory * (spec->n_axes + 1);
                const int step = search_morris_step(spec, trajectory, a);
                const double sign = search_morris_goes_up(spec, trajectory, a) ? 1.0 : -1.0;
                const double effect = sign * (fitness[step] - fitness[step - 1]) / delta;
                if (pass == 0) sum += effect;
                if (pass == 0) absolute_sum += fabs(effect);
                if (pass == 1) squares += (effect - sum / n) * (effect - sum / n);
            }
        }
        out[a * SEARCH_MORRIS_MEASURES + SEARCH_MORRIS_MU] = sum / n;
        out[a * SEARCH_MORRIS_MEASURES + SEARCH_MORRIS_MU_STAR] = absolute_sum / n;
        out[a * SEARCH_MORRIS_MEASURES + SEARCH_MORRIS_SIGMA] = n > 1.0 ? sqrt(squares / (n - 1.0)) : (double)NAN;
    }
}

static int64_t search_morris_group(const Spec *spec) { return spec->n_axes + 1; }

static const char *const search_morris_measures[SEARCH_MORRIS_MEASURES] = {"mu", "mu_star", "sigma"};
static const Sensitivity search_morris_sensitivity = {search_morris_measures, SEARCH_MORRIS_MEASURES,
                                                      SEARCH_MORRIS_MU_STAR,  search_morris_group,
                                                      search_morris_measure,  NULL};

static Error search_morris_check(const Spec *spec, const char **key)
{
    *key = "search.over";
    for (int a = 0; a < spec->n_axes; a++) {
        if (spec->axes[a].values.choices == NULL) continue;
        return error_make(ERROR_USER,
                          "morris measures changes per range, and the values of %s are words: sobol_indices measures "
                          "their share of the variance",
                          spec->configured.parameters[spec->axes[a].parameter].name);
    }
    *key = "search.levels";
    if ((int64_t)spec->method_settings[SEARCH_MORRIS_LEVELS] % 2 == 0) return error_none();
    return error_make(ERROR_USER, "levels of morris must be even");
}

static Error search_morris_prepare(const Spec *spec, Arena *arena, Search *search)
{
    const int64_t levels = (int64_t)spec->method_settings[SEARCH_MORRIS_LEVELS];
    SearchMorrisLevels *axes = ARENA_NEW(arena, SearchMorrisLevels, spec->n_axes);
    for (int a = 0; a < spec->n_axes; a++) {
        const Values *values = &spec->axes[a].values;
        if (values->log_scale)
            axes[a].curve = decimal_curve_between(values->low, values->high, levels);
        else
            axes[a].line = decimal_line_between(values->low, values->high, levels);
    }
    search->scratch = axes;
    search->total = (int64_t)spec->method_settings[SEARCH_MORRIS_TRAJECTORIES] * (spec->n_axes + 1);
    return error_none();
}

const SearchMethod search_morris = {
    .name = "morris",
    .doc = "elementary effects of each parameter, for sensitivity: changes of the fitness per whole range (scale: log: "
           "of the logarithm); mu: their mean, mu_star: of their absolute values, sigma: their standard deviation",
    .options = search_morris_options,
    .n_options = SEARCH_MORRIS_N_OPTIONS,
    .wants_range = true,
    .whole = true,
    .sensitivity = &search_morris_sensitivity,
    .check = search_morris_check,
    ENUMERATED_METHOD,
    .prepare = search_morris_prepare,
    .point = search_morris_point,
};
