// Replicates where they are needed (replicates.race): all trials run `start` replicates, the best part `keep` of them
// runs more, the best part of those again, until the replicates of a trial are `count`. That is sequential halving of
// Karnin, Koren & Somekh, "Almost optimal exploration in multi-armed bandits", ICML 2013, algorithm 1, with two
// changes: the replicates of earlier rungs count too, and `keep` need not be 1/2. A rung multiplies the replicates by
// 1/keep, so every rung but the first simulates about as much as any other.
//
// The rungs are numbers of the spec and of the campaign's trials alone: they know no batches.
//
// Where a search learns, the members of each generation race by a rule of their own (cmaes/race.c). Their numbers of
// replicates are those of the rungs too: `start`, twice that, and so on.
#include "../experiment.h"

#include <math.h>
#include <stdio.h>

bool spec_races(const Spec *spec) { return spec->replicates.race.start > 0; }

bool race_of_all(const Spec *spec) { return spec_races(spec) && !search_learns(spec->method); }

bool race_of_generations(const Spec *spec) { return spec_races(spec) && search_learns(spec->method); }

int64_t trials_new(const Trials *trials)
{
    int64_t count = trials->count;
    for (int64_t t = 0; trials->first != NULL && t < trials->count; t++) count -= trials->first[t] > 0;
    return count;
}

Text32 replicates_each(const Spec *spec)
{
    Text32 text;
    if (spec_races(spec))
        snprintf(text.text, sizeof text.text, "%d to %d", spec->replicates.race.start, spec->replicates.count);
    else
        snprintf(text.text, sizeof text.text, "%d", spec->replicates.count);
    return text;
}

// A rung that would reach three quarters of the last number of replicates goes there at once.
static int race_next(const Spec *spec, int replicates)
{
    const double next = ceil((double)replicates / spec->replicates.race.keep - 1e-9);
    return next >= 0.75 * spec->replicates.count ? spec->replicates.count : (int)next;
}

int race_rungs(const Spec *spec)
{
    int rungs = 1;
    if (spec_has_rungs(spec)) return spec->limits.rungs.count + 1;
    if (!spec_races(spec)) return 1;
    for (int n = spec->replicates.race.start; n < spec->replicates.count; n = race_next(spec, n)) rungs++;
    return rungs;
}

int race_replicates(const Spec *spec, int rung)
{
    int n = spec->replicates.race.start;
    if (!spec_races(spec)) return spec->replicates.count;
    for (int r = 0; r < rung; r++) n = race_next(spec, n);
    return n;
}

int64_t race_kept(const Spec *spec, int64_t trials)
{
    const int64_t kept = (int64_t)ceil((double)trials * spec->replicates.race.keep - 1e-9);
    return kept > 1 ? kept : trials < 1 ? trials : 1;
}

double race_simulations(const Spec *spec, int64_t trials)
{
    double all = (double)trials * race_replicates(spec, 0);
    for (int rung = 1; rung < race_rungs(spec); rung++) {
        trials = race_kept(spec, trials);
        all += (double)trials * (race_replicates(spec, rung) - race_replicates(spec, rung - 1));
    }
    return all;
}

Spec race_rung(const Spec *spec, int rung)
{
    Spec own = *spec;
    own.replicates.first = rung > 0 ? race_replicates(spec, rung - 1) : 0;
    own.replicates.count = race_replicates(spec, rung);
    return own;
}

Spec race_had(const Spec *spec, int64_t replicates)
{
    Spec own = *spec;
    if (spec_races(spec) && replicates > 0 && replicates < spec->replicates.count)
        own.replicates.count = (int)replicates;
    return own;
}

Spec race_ended_with(const Spec *spec, int rung)
{
    return spec_has_rungs(spec) ? rungs_passed(spec, rung) : race_had(spec, race_replicates(spec, rung));
}

const char *spec_compares(const Spec *spec)
{
    return spec_has_rungs(spec) ? "limits.retire" : spec_races(spec) ? "replicates.race" : NULL;
}
