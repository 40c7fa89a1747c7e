// Rungs of limits.retire: of each `of` trials, in the order of their ids, the best part `keep` goes on past the time
// `at`. The others end there as `retired`. That is successive halving with simulated time as the resource (Jamieson &
// Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", AISTATS 2016, algorithm 1), in
// groups of trials instead of once over all, so that no more than a group has to be in flight.
//
// Trials that go on run again from the start, for the time of the next rung. So a trial that reaches the end is, to the
// bit, that of a campaign without rungs, and one that ends at a rung that of a campaign with this duration, with any
// integrator: to stop lanes in place, the kernels of every model would have to end a lane, with its metrics, and take
// it up again. With two rungs at a fifth and a half of the time that keep a quarter each it is 0.39 of the simulated
// time in place of 0.31. Times that grow by 1/keep cost about as much in each rung.
#include "../experiment.h"

#include <assert.h>
#include <math.h>

Spec rungs_passed(const Spec *spec, int passed)
{
    Spec own = *spec;
    const int count = spec->limits.rungs.count;
    own.limits.rungs.passed = passed < 0 ? 0 : passed > count ? count : passed;
    if (!rungs_end(&own)) return own;
    const Error error = spec->model->shorten(spec->limits.rungs.rung[own.limits.rungs.passed].at, &own.configured);
    assert(error.kind == OK); // the spec was read
    (void)error;
    return own;
}

int64_t rungs_kept(const Spec *spec, int rung, int64_t trials)
{
    return (int64_t)ceil((double)trials * spec->limits.rungs.rung[rung].keep - 1e-9);
}

double rungs_simulated(const Spec *spec, int64_t trials)
{
    const double life = configured_duration(&spec->configured);
    const int64_t of = spec->limits.rungs.of;
    double all = 0;
    if (!spec_has_rungs(spec)) return (double)trials;
    for (int part = 0; part < 2; part++) { // all whole groups, and the last one
        const double groups = part == 0 ? (double)(trials / of) : 1.0;
        int64_t left = part == 0 ? of : trials % of;
        for (int rung = 0; rung < spec->limits.rungs.count; rung++) {
            all += groups * (double)left * spec->limits.rungs.rung[rung].at / life;
            left = rungs_kept(spec, rung, left);
        }
        all += groups * (double)left;
    }
    return all;
}

void rungs_retire(const Spec *spec, const Replicates *of, TrialResult *result)
{
    const int failure = result->failure, retired = configured_failure(&spec->configured, RETIRED);
    for (int r = 0; r < spec->replicates.count; r++) {
        if (of->failure[r] == 0) of->failure[r] = retired;
    }
    trial_result(spec, of, result);
    if (failure != 0) result->failure = failure;
}

Error rungs_check(const Spec *spec)
{
    const long long of = (long long)spec->limits.rungs.of, trials = (long long)spec->limits.trials;
    const char *before = "limits.retire compares trials at a rung (keep), and";
    if (!spec_has_rungs(spec)) return error_none();
    if (search_learns(spec->method))
        return error_make(ERROR_USER,
                          "%s method %s chooses trials by the results of earlier ones: use a grid, a list or a sample, "
                          "or a condition (when)",
                          before, spec->method->name);
    if (spec->method->sensitivity != NULL || spec->method == &search_centered)
        return error_make(ERROR_USER, "%s method %s needs the results of all trials: leave it out, or use a condition",
                          before, spec->method->name);
    if (spec_several(spec))
        return error_make(ERROR_USER, "%s several objectives (objective) have no best trial: give one", before);
    if (spec_races(spec))
        return error_make(ERROR_USER, "%s replicates.race compares them by their replicates: leave one of both out",
                          before);
    if (trials % of != 0)
        return error_make(ERROR_USER,
                          "%s limits.trials is %lld, which is not a number of whole groups of %lld trials: %lld is",
                          before, trials, of, (trials / of + 1) * of);
    return error_none();
}
