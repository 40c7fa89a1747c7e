// Method auto: one of the other methods, chosen by the number of parameters and trials, noise and constraints. The spec
// that is stored names the method that was chosen, so a campaign does not depend on this rule again.
//
// The rule was measured (tests/bench/compare_methods.py, and the table of experiments/costly_trials.md). With an exact
// fitness the quadratic surrogate of cmaes reaches more targets of bbob's 24 functions than plain cmaes, and than
// lbfgs by central differences, in 2 to 20 dimensions and after any number of trials; bayesian is level with it, or
// better, up to 20 n trials. The adjoint is worth more than any model where nothing strikes, and less where robots
// fall: there lbfgs stays in the valley that it starts in. By forward differences lbfgs is level with the surrogate up
// to 50 n trials for n = 5, and ahead for n = 10: better where there is one valley, worse where there are many. It is
// taken only where the spec says that the fitness is smooth. No surrogate won on a fitness that is noisy; there
// bayesian leads while trials are few, and plain cmaes afterwards.
#include "../experiment.h"

#include "bayesian/bayesian.h"
#include "cmaes/cmaes.h"
#include "descent/descent.h"

enum { AUTO_TRIALS, AUTO_WORKERS, AUTO_TRIAL_TIME, AUTO_SMOOTH, AUTO_N_OPTIONS };

static const Option auto_options[AUTO_N_OPTIONS] = {
    {"auto.trials", OPTION_INTEGER, "1", 0, 1, 1e15, "none",
     "how many trials there may be, in whole rounds of the method; must be given"},
    {"auto.workers", OPTION_INTEGER, "1", 1, 1, CMAES_POPULATION_MAX / 2, NULL, "trials that can run at once"},
    {"auto.trial_time", OPTION_NUMBER, "s", 0, 1e-9, 1e9, "unknown",
     "what a trial costs, all replicates together. Where that is less than a model of the fitness costs, none is used"},
    {"auto.smooth", OPTION_BOOLEAN, "", 0, 0, 1, NULL,
     "the fitness has derivatives almost everywhere, and its rounding is that of doubles: nothing strikes, falls or is "
     "counted. Then lbfgs follows forward differences"},
};

static const double auto_model_time = 0.01; // s that a model of the fitness costs for each trial, about
static const double auto_few = 20.0;        // trials for each parameter up to which a Gaussian process leads
static const double auto_few_noisy = 300.0; // trials of a noisy fitness up to which it does
static const double auto_few_smooth = 50.0; // trials for each parameter up to which lbfgs by differences leads
static const double auto_forward = 1e-8, auto_rate = 0.5, auto_memory = 100.0; // of lbfgs

typedef struct AutoFacts {
    double trials, workers, time; // time 0: unknown
    int n;
    bool noisy, smooth;
} AutoFacts;

static AutoFacts auto_facts(const Spec *spec)
{
    return (AutoFacts){.trials = spec->method_settings[AUTO_TRIALS],
                       .workers = spec->method_settings[AUTO_WORKERS],
                       .time = spec->method_settings[AUTO_TRIAL_TIME],
                       .n = spec->n_axes,
                       .noisy = replicates_differ(spec),
                       .smooth = spec->method_settings[AUTO_SMOOTH] != 0.0};
}

// ---- methods with their settings ------------------------------------------------------------------------------------

static double *auto_defaults(const SearchMethod *method, Arena *arena)
{
    double *settings = ARENA_NEW(arena, double, method->n_options);
    for (int i = 0; i < method->n_options; i++) settings[i] = method->options[i].value;
    return settings;
}

// What is drawn at once keeps all workers busy. A restart doubles the population, as often as the trials allow.
static AutoChoice auto_cmaes(const AutoFacts *facts, bool surrogate, Arena *arena)
{
    double *settings = auto_defaults(&search_cmaes, arena);
    const double usual = (double)cmaes_usual_population(facts->n);
    const double needed = facts->workers > 1.0 ? (surrogate ? 2.0 : 1.0) * facts->workers : 0.0;
    if (needed > usual) settings[CMAES_POPULATION] = needed;
    double population = needed > usual ? needed : usual, doublings = 0.0;
    for (; 2.0 * population <= facts->trials && doublings < settings[CMAES_RESTARTS_MAX]; doublings++)
        population *= 2.0;
    settings[CMAES_RESTARTS] = doublings > 0.0 ? CMAES_RESTARTS_IPOP : CMAES_RESTARTS_NONE;
    settings[CMAES_RESTARTS_MAX] = doublings;
    settings[CMAES_STOP_TRIALS] = facts->trials;
    if (surrogate) settings[CMAES_SURROGATE] = CMAES_SURROGATE_QUADRATIC;
    if (surrogate && facts->workers > 1.0) settings[CMAES_EVALUATE_LEAST] = facts->workers;
    return (AutoChoice){&search_cmaes, settings, NULL};
}

static AutoChoice auto_bayesian(const AutoFacts *facts, Arena *arena)
{
    double *settings = auto_defaults(&search_bayesian, arena);
    settings[BAYESIAN_BATCH] = facts->workers;
    settings[BAYESIAN_STOP_TRIALS] = facts->trials;
    return (AutoChoice){&search_bayesian, settings, NULL};
}

// Points of a line that have no worker of their own are not run.
static AutoChoice auto_lbfgs(const AutoFacts *facts, bool adjoint, Arena *arena)
{
    double *settings = auto_defaults(&search_lbfgs, arena);
    if (adjoint) settings[DESCENT_GRADIENT] = DESCENT_BY_ADJOINT;
    if (!adjoint) settings[DESCENT_FORWARD] = auto_forward;
    settings[DESCENT_RATE] = auto_rate;
    settings[DESCENT_RESTARTS] = DESCENT_RESTARTS_MAX;
    settings[DESCENT_STOP_ITERATIONS] = DESCENT_ITERATIONS_MAX;
    settings[DESCENT_STOP_TRIALS] = facts->trials;
    settings[LBFGS_MEMORY] = auto_memory;
    if (facts->workers < settings[LBFGS_LINE]) settings[LBFGS_LINE] = facts->workers;
    return (AutoChoice){&search_lbfgs, settings, NULL};
}

static bool auto_is_smooth(const Spec *spec)
{
    const Adjoint *adjoint = spec->model->adjoint;
    return adjoint != NULL && adjoint->smooth != NULL && adjoint->smooth(&spec->configured);
}

// The penalty of lbfgs for constraints ends a little outside of them.
static bool auto_says_smooth(const Spec *spec, const AutoFacts *facts)
{
    return facts->smooth && !facts->noisy && spec->n_constraints == 0;
}

// Whether the method can run the spec, by the method's own check.
static bool auto_runs(const Spec *spec, const AutoChoice *choice)
{
    Spec own = *spec;
    const char *key;
    own.method = choice->method;
    own.method_settings = choice->settings;
    return search_check(&own, &key).kind == OK;
}

// ---- the rule -------------------------------------------------------------------------------------------------------

// Gaussian processes take as many trials at once as their rounds may have.
static bool auto_is_few(const AutoFacts *facts)
{
    const double few = auto_few * facts->n, most = facts->noisy && few < auto_few_noisy ? auto_few_noisy : few;
    return facts->trials <= most && facts->trials <= BAYESIAN_TRIALS_MAX && facts->workers <= BAYESIAN_BATCH_MAX;
}

static AutoChoice auto_of(const Spec *spec, const AutoFacts *facts, Arena *arena)
{
    const AutoChoice cmaes = auto_cmaes(facts, false, arena), surrogate = auto_cmaes(facts, true, arena);
    const AutoChoice bayesian = auto_bayesian(facts, arena), lbfgs = auto_lbfgs(facts, true, arena);
    const AutoChoice forward = auto_lbfgs(facts, false, arena);
    const char *trials = arena_format(arena, "%s trials of %d parameter%s", text_count((int64_t)facts->trials).text,
                                      facts->n, facts->n == 1 ? "" : "s");
    const char *each = facts->noisy ? "a noisy fitness" : "an exact fitness";
    const bool few = facts->trials <= auto_few_smooth * facts->n;
    const char *why;
    AutoChoice choice;
    if (!facts->noisy && auto_is_smooth(spec) && auto_runs(spec, &lbfgs)) {
        choice = lbfgs;
        why = "the fitness is exact and smooth, and its gradient comes from the model's adjoint";
    } else if (auto_says_smooth(spec, facts) && auto_runs(spec, &forward) && (few || !auto_runs(spec, &surrogate))) {
        choice = forward;
        why = "the fitness is exact, and smooth as the spec says";
    } else if (facts->time > 0.0 && facts->time < auto_model_time) {
        choice = cmaes;
        why = "a trial costs less than a model of the fitness";
    } else if (auto_is_few(facts) && auto_runs(spec, &bayesian)) {
        choice = bayesian;
        why = arena_format(arena, "%s are few for %s", trials, each);
    } else if (!facts->noisy && auto_runs(spec, &surrogate)) {
        choice = surrogate;
        why = arena_format(arena, "%s are enough for a quadratic model of %s", trials, each);
    } else {
        choice = cmaes;
        why = arena_format(arena, "no model of the fitness has been found to help with %s of %s", trials, each);
    }
    choice.why = why;
    return choice;
}

Error auto_choose(const Spec *spec, Arena *arena, AutoChoice *out, const char **key)
{
    const AutoFacts facts = auto_facts(spec);
    *key = "search.method";
    if (!(facts.trials > 0.0))
        return error_make(ERROR_USER, "method auto chooses by the number of trials: write auto: {trials: 300}");
    *out = auto_of(spec, &facts, arena);
    return error_none();
}

// Of no spec that was read: another method stands there then.
static Error auto_init(const Spec *spec, Arena *arena, Search *search)
{
    (void)arena, (void)search;
    return error_make(ERROR_MACHINE, "bug: %s has the method auto", spec->experiment);
}

const SearchMethod search_auto = {
    .name = "auto",
    .doc = "lbfgs, bayesian, or cmaes with or without a surrogate: by parameters, trials, noise and gradients",
    .options = auto_options,
    .n_options = AUTO_N_OPTIONS,
    .wants_range = true,
    .init = auto_init,
};
