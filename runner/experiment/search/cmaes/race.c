// Replicates where they are needed, in a CMA-ES: a generation is ranked, and its members are told apart with no more
// replicates than that takes. All members run `start` replicates. A member whose fitness is too near to that of a
// neighbour in rank runs as many again, until its rank is clear or it has `count`. Only then the search is told.
//
// Members two ranks apart have to be clear of each other. Direct neighbours need not: where their order is hard to see,
// it changes little.
//
// Source: R. M. Martin & S. H. Collins, Improving CMA-ES convergence speed, efficiency, and reliability in noisy robot
// optimization problems, arXiv:2601.09594, 2026 (AS-CMA). Taken from there: candidates are measured until the
// difference of neighbours is beta = 1.3 (`clear`) times its noise, which is sqrt(2) sigma for two of noise sigma. Not
// taken: there the time of a candidate is chosen before it runs. Its difference is predicted as its distance to the
// nearest candidate times the mean change of cost per distance of the last generation, and the noise comes from a curve
// of error against time that was measured beforehand. Here differences and noise are those of the replicates that have
// run, neighbours are two ranks apart, and nothing has to be known beforehand.
//
// With common random numbers two members meet the same disturbances, so the noise of their difference is that of the
// differences of their replicates (a paired test). Members with more replicates have met disturbances that the others
// have not, which may be hard ones. So members are compared as if all had run the most: what the next replicates
// change is measured on the members that ran them, and added to the others (race_shift). That is least squares for a
// model of member + replicate, whose missing values are the last ones of each member.
#include "cmaes.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { RACE_APART = 2 }; // ranks of members that have to be clear of each other

double race_level(const CmaesRacer *racer) { return racer->fitness + racer->shift; }

static const double *race_values(const RaceRule *rule, int64_t member)
{
    return rule->value + member * rule->spec->replicates.count;
}

// ---- members that ran different replicates --------------------------------------------------------------------------

// The mean of the values [first, end) that are there; NaN: none is.
static double race_mean(const double *value, int first, int end)
{
    double sum = 0.0;
    int n = 0;
    for (int r = first; r < end; r++) {
        if (isnan(value[r])) continue;
        sum += value[r];
        n++;
    }
    return n > 0 ? sum / n : (double)NAN;
}

// By how much the mean over [0, end) differs from that over [0, first), among the members that ran both.
static double race_change(const RaceRule *rule, int first, int end)
{
    double sum = 0.0;
    int64_t n = 0;
    for (int64_t k = 0; k < rule->members; k++) {
        if (rule->racer[k].had < end) continue;
        const double change = race_mean(race_values(rule, k), first, end) - race_mean(race_values(rule, k), 0, first);
        if (isnan(change)) continue;
        sum += change;
        n++;
    }
    return n > 0 ? sum / (double)n * (end - first) / end : 0.0;
}

void race_shift(const RaceRule *rule)
{
    const int rungs = race_rungs(rule->spec);
    for (int64_t k = 0; k < rule->members; k++) rule->racer[k].shift = 0.0;
    for (int rung = 1; rung < rungs && rule->spec->replicates.common; rung++) {
        const int first = race_replicates(rule->spec, rung - 1), end = race_replicates(rule->spec, rung);
        const double change = race_change(rule, first, end);
        for (int64_t k = 0; k < rule->members; k++) rule->racer[k].shift += rule->racer[k].had < end ? change : 0.0;
    }
}

// ---- clear or not ---------------------------------------------------------------------------------------------------

// The square of the standard error of the mean of value[r] - other[r], or of value[r]; infinite if fewer than two are
// there.
static double race_noise_of(const double *value, const double *other, int count)
{
    double mean = 0.0, squares = 0.0;
    int n = 0;
    for (int r = 0; r < count; r++) {
        const double x = value[r] - (other != NULL ? other[r] : 0.0);
        if (isnan(x)) continue;
        const double from = x - mean;
        mean += from / ++n;
        squares += from * (x - mean);
    }
    return n > 1 ? squares / ((double)(n - 1) * n) : (double)INFINITY;
}

static double race_noise(const RaceRule *rule, int64_t a, int64_t b)
{
    const int of_a = (int)rule->racer[a].had, of_b = (int)rule->racer[b].had;
    if (rule->spec->replicates.common)
        return race_noise_of(race_values(rule, a), race_values(rule, b), of_a < of_b ? of_a : of_b);
    return race_noise_of(race_values(rule, a), NULL, of_a) + race_noise_of(race_values(rule, b), NULL, of_b);
}

// a before b. Equal members without noise are clear: more replicates are as equal.
static bool race_is_clear(const RaceRule *rule, int64_t a, int64_t b)
{
    const double gap = race_level(&rule->racer[b]) - race_level(&rule->racer[a]);
    const double clear = rule->spec->replicates.race.clear;
    return gap * gap >= clear * clear * race_noise(rule, a, b);
}

static void race_run_more(const RaceRule *rule, int64_t member)
{
    CmaesRacer *racer = &rule->racer[member];
    for (int rung = 1; rung < race_rungs(rule->spec) && !(racer->wanted > racer->had); rung++)
        racer->wanted = race_replicates(rule->spec, rung);
    if (racer->wanted < racer->had) racer->wanted = racer->had;
}

int64_t race_want(const RaceRule *rule)
{
    int64_t unclear = 0, ranked = 0;
    while (ranked < rule->members && !isnan(race_level(&rule->racer[rule->order[ranked]]))) ranked++;
    const int64_t apart = ranked > RACE_APART ? RACE_APART : 1;
    for (int64_t k = 0; k < rule->members; k++) rule->racer[k].wanted = rule->racer[k].had;
    for (int64_t i = 0; i + apart < ranked; i++) {
        const int64_t a = rule->order[i], b = rule->order[i + apart];
        if (race_is_clear(rule, a, b)) continue;
        race_run_more(rule, a);
        race_run_more(rule, b);
    }
    for (int64_t k = 0; k < rule->members; k++) unclear += rule->racer[k].wanted > rule->racer[k].had;
    return unclear;
}

// ---- a generation ---------------------------------------------------------------------------------------------------

Error cmaes_race_check(const Cmaes *cmaes, const char **key)
{
    const Spec *spec = cmaes->spec;
    if (!cmaes->race) return error_none();
    *key = "replicates.race";
    if (cmaes->uncertain)
        return error_make(ERROR_USER, "race gives members of cmaes more replicates where ranks are not clear, and "
                                      "cmaes.uncertainty runs members again for that: use one of them");
    if (cmaes->surrogate)
        return error_make(ERROR_USER, "race compares all members of a generation of cmaes, and cmaes.surrogate runs a "
                                      "part of them: use one of them");
    if (cmaes->n_constraints > 0)
        return error_make(ERROR_USER, "race ranks members of cmaes by the noise of their fitness, and does not know "
                                      "that of constraints: add a penalty to the objective instead");
    if (cmaes->penalized)
        return error_make(ERROR_USER, "race ranks members of cmaes by their fitness, and cmaes.bounds: penalty adds to "
                                      "it: use transform or resample");
    if (spec->objective.over != OVER_MEAN)
        return error_make(ERROR_USER, "race needs the standard error of the fitness of cmaes's members, which a mean "
                                      "has: write objective: {over: mean}");
    if (spec->objective.failed == FAILED_ANY)
        return error_make(ERROR_USER, "race gives members of cmaes different numbers of replicates, and with failed: "
                                      "any more replicates fail a trial more often: write failed: penalty(X) or "
                                      "ignore");
    return error_none();
}

void cmaes_race_next(const Cmaes *cmaes, const CmaesView *view)
{
    CmaesRace *race = view->race;
    *race = (CmaesRace){.rounds = race->rounds};
    memset(view->racer, 0, (size_t)cmaes->lambda_max * sizeof *view->racer);
}

bool cmaes_race_is_whole(const Cmaes *cmaes, const CmaesView *view)
{
    const CmaesRace *race = view->race;
    const int64_t most = (int64_t)1 << 53, count = cmaes->spec->replicates.count;
    if (race->rounds < 0 || race->rounds > most || race->turn < 0 || race->turn >= race_rungs(cmaes->spec) ||
        race->first_id < 0 || race->first_id > most || race->first_round < 0 || race->first_round > race->rounds ||
        race->simulations < 0 || race->simulations > most)
        return false;
    for (int64_t k = 0; k < view->run->lambda; k++) {
        const CmaesRacer *racer = &view->racer[k];
        if (!(racer->had >= 0 && racer->wanted >= racer->had && racer->wanted <= (double)count && racer->place >= 0 &&
              racer->place < (double)view->run->lambda))
            return false;
    }
    return true;
}

// Only members that run more, after the first turn.
void cmaes_race_list(const CmaesView *view, CmaesPopulation *population)
{
    int64_t listed = 0;
    for (int64_t i = 0; i < population->drawn.trials; i++) {
        const int32_t k = population->drawn.slot[i];
        if (view->race->turn > 0 && !(view->racer[k].wanted > view->racer[k].had)) continue;
        population->drawn.slot[listed++] = k;
    }
    population->drawn.trials = listed;
}

void cmaes_race_name(const Cmaes *cmaes, const CmaesView *view, int64_t slot, Trials *trials, int64_t at)
{
    const CmaesRacer *racer = &view->racer[slot];
    assert(trials->first != NULL || view->race->turn == 0);
    if (trials->first == NULL) return; // they run all replicates
    trials->first[at] = (int32_t)racer->had;
    trials->end[at] = view->race->turn > 0 ? (int32_t)racer->wanted : cmaes->spec->replicates.race.start;
    if (view->race->turn == 0) return;
    trials->id[at] = view->race->first_id + (int64_t)racer->place;
    trials->round[at] = (int32_t)view->race->first_round;
    trials->ordinal[at] = search_ordinal(&search_cmaes, view->race->first_round, (int64_t)racer->place);
}

static void cmaes_race_note(const Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population,
                            const double *told)
{
    const int64_t count = cmaes->spec->replicates.count;
    for (int64_t i = 0; i < population->drawn.trials; i++, told += cmaes->side.told_width) {
        const int64_t k = population->drawn.slot[i];
        CmaesRacer *racer = &view->racer[k];
        const double had = racer->had;
        if (view->race->turn == 0) {
            racer->place = (double)i;
            racer->wanted = cmaes->spec->replicates.race.start;
        }
        racer->had = racer->wanted;
        racer->fitness = told[0];
        racer->survived = told[1];
        view->race->simulations += (int64_t)(racer->had - had);
        memcpy(view->value + k * count, told + 2, (size_t)count * sizeof *told);
    }
}

static void cmaes_race_gather(Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population)
{
    for (int64_t k = 0; k < view->run->lambda; k++) {
        const bool out = population->drawn.left_out[k];
        cmaes->fitness[k] = out ? (double)NAN : view->racer[k].fitness;
        cmaes->survived[k] = out ? -1.0 : view->racer[k].survived;
    }
}

bool cmaes_race_tell(Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population, const SideEnd *end)
{
    CmaesRace *race = view->race;
    const RaceRule rule = {.spec = cmaes->spec,
                           .members = view->run->lambda,
                           .value = view->value,
                           .racer = view->racer,
                           .order = cmaes->order};
    if (race->turn == 0) race->first_id = end->first_id;
    if (race->turn == 0) race->first_round = race->rounds;
    cmaes_race_note(cmaes, view, population, end->told);
    cmaes_race_gather(cmaes, view, population);
    race_shift(&rule);
    for (int64_t k = 0; k < rule.members; k++) cmaes->key[k] = cmaes->fitness[k] + view->racer[k].shift;
    cmaes_sort(cmaes, cmaes->key, rule.members, cmaes->order);
    race->unclear = race_want(&rule);
    race->rounds++;
    race->turn++;
    return race->unclear == 0;
}
