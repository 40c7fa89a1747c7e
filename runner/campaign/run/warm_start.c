// Reads where a search starts that continues another campaign (`from: NAME` of cmaes, adam and lbfgs). The values are
// written into the stored spec (`taken`), so that the new campaign no longer needs the other one, and its hash covers
// them. search/cmaes/warm_start.c says what they are.
#include "../store/queries.h"

#include <string.h>

static const size_t warm_bytes = (size_t)256 << 20; // of address space

Error search_read_state(Database *database, Search *search, bool *found)
{
    size_t size = 0;
    TRY(search_state_read(database, search->state, search_state_most(search), &size, found));
    *found = *found && size > 0 && size <= search_state_most(search);
    if (!*found) return error_none();
    search->state_size = size;
    return search->method->restore(search);
}

static Error warm_take_state(Spec *spec, StoredCampaign *other, Search *search, Arena *arena, bool *done)
{
    bool found = false;
    *done = false;
    if (!warm_is_alike(spec, &other->spec, arena)) return error_none();
    TRY(search_read_state(other->database, search, &found));
    *done = found && warm_from_state(spec, search, arena);
    return error_none();
}

// parameter[most][n_parameters] of the best trials, *count of them.
static Error warm_read_trials(StoredCampaign *other, const Search *search, int most, double *parameter, int *count,
                              Arena *arena)
{
    static const char *const column[] = {"id"};
    int64_t id = 0;
    Cursor best = trials_best(other, column, 1, most, arena);
    for (*count = 0; next_integer(&best, &id); ++*count) {
        double *its = parameter + (int64_t)*count * other->spec.configured.n_parameters;
        cursor_stop(&best, search_read_trial(search, other->database, id, arena, its));
    }
    return cursor_close(&best);
}

static Error warm_take_best(Spec *spec, StoredCampaign *other, const Search *search, Arena *arena)
{
    const int most = warm_trials(spec);
    double *parameter = ARENA_NEW(arena, double, (int64_t)most * other->spec.configured.n_parameters);
    int count = 0;
    if (warm_shared(spec, &other->spec, arena) == 0)
        return error_make(ERROR_USER, "campaign %.128s has none of the parameters that are searched", other->name);
    TRY(warm_read_trials(other, search, most, parameter, &count, arena));
    if (count == 0) return error_make(ERROR_USER, "campaign %.128s has no trial that did not fail", other->name);
    warm_from_trials(spec, &other->spec, parameter, count, arena);
    return error_none();
}

static Error warm_from_campaign(Spec *spec, StoredCampaign *other, Arena *arena)
{
    Search search;
    bool done = false;
    TRY(search_init(&other->spec, arena, &search));
    TRY(warm_take_state(spec, other, &search, arena, &done));
    if (!done) TRY(warm_take_best(spec, other, &search, arena));
    spec->warm.hash = arena_copy(arena, other->spec.hash.hex);
    return error_none();
}

// The values that the campaign already stores, if it exists: running it again must not change them.
static bool warm_from_itself(const Spec *spec, const char *results, const char *name, Arena *arena, const char **taken)
{
    StoredCampaign stored;
    if (campaign_open(results, name, arena, &stored).kind != OK) return false;
    const bool same = stored.spec.warm.mean != NULL && strcmp(stored.spec.warm.from, spec->warm.from) == 0;
    if (same) *taken = cmaes_taken_text(&stored.spec, arena);
    campaign_close(&stored);
    return same;
}

Error warm_start_take(const Spec *spec, const char *results, const char *name, Arena *arena, const char **taken)
{
    StoredCampaign other;
    *taken = NULL;
    if (spec->warm.from == NULL || spec->warm.mean != NULL) return error_none();
    if (warm_from_itself(spec, results, name, arena, taken)) return error_none();
    if (strcmp(spec->warm.from, name) == 0)
        return error_make(ERROR_USER, "%.128s can't start from itself; give the new campaign its own name with --name",
                          name);
    Arena own;
    TRY(arena_create_growing(&own, warm_bytes, "the campaign that a search starts from"));
    Error error = campaign_open(results, spec->warm.from, &own, &other);
    if (error.kind == OK) {
        Spec filled = *spec;
        error = warm_from_campaign(&filled, &other, &own);
        campaign_close(&other);
        if (error.kind == OK) *taken = cmaes_taken_text(&filled, arena);
    }
    arena_destroy(&own);
    return error;
}
