// Any bytes over the stored state of an adaptive search: the state is refused, or the search continues with points
// within their ranges. The first byte selects the search; then come patches: place (2 bytes), length, bytes.
#include "fuzz.h"

#include <math.h>

enum { FUZZ_SEARCHES = 6, FUZZ_TRIALS = 32, FUZZ_AHEAD = 60, FUZZ_BATCHES = 6 };

static const char *const fuzz_searches[FUZZ_SEARCHES] = {
    "search: {method: nsga2, over: {x1: {range: [-5, 5]}, x2: {range: [1, 5], integer: true}},"
    " nsga2: {population: 6, searches: 2}}\nobjective: {minimize: [f, distance]}\n",
    "search: {method: nsga2, over: {x1: {range: [-5, 5]}}, exclude: [\"x1 > 4\"], nsga2: {population: 5}}\n"
    "objective: {minimize: [f, distance, x1]}\nconstraints: [\"x1 < 3\"]\n",
    "search: {method: cmaes, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, cmaes: {searches: 2}}\n",
    "search: {method: cmaes, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}},"
    " cmaes: {restarts: bipop, restarts_max: 2}}\n",
    "search: {method: adam, over: {x1: {range: [-5, 5]}, x2: {range: [1, 5], scale: log}},"
    " adam: {searches: 2, restarts: 1, stop: {iterations: 5}}}\n",
    "search: {method: lbfgs, over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}, exclude: [\"x1 > 4\"],"
    " lbfgs: {searches: 2, memory: 3}}\n"};

static void fuzz_take_trials(const Spec *spec, Arena *arena, Trials *trials)
{
    *trials = (Trials){.capacity = FUZZ_TRIALS,
                       .id = ARENA_NEW(arena, int64_t, FUZZ_TRIALS),
                       .ordinal = ARENA_NEW(arena, uint64_t, FUZZ_TRIALS),
                       .search = ARENA_NEW(arena, int32_t, FUZZ_TRIALS),
                       .round = ARENA_NEW(arena, int32_t, FUZZ_TRIALS),
                       .parameter = ARENA_NEW(arena, double, FUZZ_TRIALS * spec->configured.n_parameters),
                       .fitness = ARENA_NEW(arena, double, FUZZ_TRIALS),
                       .objective = ARENA_NEW(arena, double, FUZZ_TRIALS * spec->objective.count),
                       .constraint = ARENA_NEW(arena, double, FUZZ_TRIALS * spec->n_constraints),
                       .survived = ARENA_NEW(arena, double, FUZZ_TRIALS)};
}

static void fuzz_results(const Spec *spec, Trials *trials)
{
    const int objectives = spec->objective.count;
    for (int64_t t = 0; t < trials->count; t++) {
        const double *x = trials->parameter + t * spec->configured.n_parameters;
        const bool failed = trials->id[t] % 7 == 3;
        for (int i = 0; i < spec->n_axes; i++) {
            const Values *values = &spec->axes[i].values;
            const double at = x[spec->axes[i].parameter];
            if (!(at >= values->low && at <= values->high)) abort();
        }
        trials->fitness[t] = failed ? (double)NAN : x[0] * x[0];
        for (int k = 0; k < objectives; k++)
            trials->objective[t * objectives + k] = failed ? (double)NAN : (x[0] - k) * (x[0] - k);
        for (int k = 0; k < spec->n_constraints; k++) trials->constraint[t * spec->n_constraints + k] = x[0] - 3.0;
        trials->survived[t] = x[0];
    }
}

// False: the search has ended, or refuses.
static bool fuzz_batch(Search *search, Trials *trials, int64_t most)
{
    bool waiting = false;
    Error error = search->method->ask(search, most, trials, &waiting);
    fuzz_check_error(error);
    if (error.kind != OK) return false;
    fuzz_results(search->spec, trials);
    error = search->method->tell(search, trials);
    fuzz_check_error(error);
    return error.kind == OK && (trials->count > 0 || waiting);
}

static void fuzz_patch(Search *search, const uint8_t *data, size_t size)
{
    unsigned char *state = search->state;
    while (size > 3) {
        const size_t place = (size_t)(data[0] | data[1] << 8) % search->state_size;
        size_t length = data[2] % 16U + 1;
        data += 3;
        size -= 3;
        if (length > size) length = size;
        if (length > search->state_size - place) length = search->state_size - place;
        memcpy(state + place, data, length);
        data += length;
        size -= length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *arena = fuzz_arena();
    Spec spec;
    Search search;
    Trials trials;
    if (size < 4) return 0;
    const char *text = arena_format(arena, "version: 1\nexperiment: fuzz\nmodel: bbob\nsimulation: {dimension: 2}\n%s",
                                    fuzz_searches[data[0] % FUZZ_SEARCHES]);
    if (spec_parse("fuzz.yaml", text, NULL, 0, arena, diagnostics_new(arena), &spec).kind != OK) abort();
    if (search_init(&spec, arena, &search).kind != OK) abort();
    fuzz_take_trials(&spec, arena, &trials);
    for (int64_t told = 0; told < FUZZ_AHEAD; told += 5) (void)fuzz_batch(&search, &trials, 5);
    fuzz_patch(&search, data + 1, size - 1);
    const Error error = search.method->restore(&search);
    fuzz_check_error(error);
    for (int i = 0; error.kind == OK && i < FUZZ_BATCHES && fuzz_batch(&search, &trials, FUZZ_TRIALS); i++) {
    }
    return 0;
}
