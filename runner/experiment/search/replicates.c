// The parameters of one replicate: those of the trial, with a draw for each perturbed parameter, and seeds for the
// model's own draws. With common random numbers (replicates.common) replicate r meets the same disturbances in every
// trial, so trials differ by their gains only; without, each trial draws its own. A parameter that is derived from a
// perturbed one keeps the trial's value. The same holds for what a case of the spec replaces.
#include "../experiment.h"

#include <string.h>

static double replicate_draw(const Perturbation *perturbation, const RandomKey *key, uint32_t index)
{
    if (perturbation->distribution == DISTRIBUTION_NORMAL) {
        return perturbation->a + perturbation->b * random_normal(key, index);
    }
    return perturbation->a + (perturbation->b - perturbation->a) * random_uniform(key, index);
}

// Integers below 2^53, for the rows of SECTION_SEED.
static void replicate_seeds(const Configured *configured, RandomKey key, double *lane)
{
    const int named = configured_named(configured);
    key.purpose = RANDOM_DISTURB;
    for (int i = named; i < configured->n_parameters; i++)
        lane[i] = 0x1p53 * random_uniform(&key, (uint32_t)(i - named));
}

bool replicates_differ(const Spec *spec)
{
    return spec->replicates.n_perturb > 0 || configured_named(&spec->configured) < spec->configured.n_parameters;
}

static RandomKey replicate_key(const Spec *spec, int32_t search, uint64_t ordinal, int replicate)
{
    return (RandomKey){.seed = spec->seed,
                       .search = search_key(spec, search),
                       .ordinal = spec->replicates.common ? 0 : ordinal,
                       .replicate = (uint32_t)replicate,
                       .purpose = RANDOM_PERTURB};
}

static double replicate_drawn(const Spec *spec, const RandomKey *key, int i)
{
    const Perturbation *perturbation = &spec->replicates.perturb[i];
    const Parameter *row = &spec->configured.parameters[perturbation->parameter];
    const double x = replicate_draw(perturbation, key, (uint32_t)i);
    return x < row->low ? row->low : x > row->high ? row->high : x;
}

void replicate_draws(const Spec *spec, int32_t search, uint64_t ordinal, int replicate, double *drawn)
{
    const RandomKey key = replicate_key(spec, search, ordinal, replicate);
    for (int i = 0; i < spec->replicates.n_perturb; i++) drawn[i] = replicate_drawn(spec, &key, i);
}

void replicate_parameters(const Spec *spec, int32_t search, uint64_t ordinal, int replicate, const double *trial,
                          double *lane)
{
    const RandomKey key = replicate_key(spec, search, ordinal, replicate);
    memcpy(lane, trial, (size_t)spec->configured.n_parameters * sizeof *lane);
    case_parameters(spec, replicate, lane);
    for (int i = 0; i < spec->replicates.n_perturb; i++)
        lane[spec->replicates.perturb[i].parameter] = replicate_drawn(spec, &key, i);
    replicate_seeds(&spec->configured, key, lane);
}
