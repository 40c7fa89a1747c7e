// Many searches side by side: what is asked for next, whose results come next, checkpoints (side_by_side.h).
#include "side_by_side.h"

#include <math.h>
#include <string.h>

SideProgress *side_progress(const Search *search)
{
    const SideBySide *side = search->scratch;
    return (void *)((unsigned char *)search->state + side->method->progress);
}

double *side_told(const Search *search)
{
    const SideBySide *side = search->scratch;
    return (void *)((unsigned char *)search->state + side->told_at);
}

static size_t side_state_bytes(const SideBySide *side, int64_t told)
{
    return side->told_at + (size_t)(told * side->told_width) * sizeof(double);
}

void side_init(Search *search, uint32_t shape, Arena *arena)
{
    const SideBySide *side = search->scratch;
    search->state_size = side_state_bytes(side, 0);
    search->state_capacity = side_state_bytes(side, side->trials_max);
    search->state = ARENA_NEW(arena, unsigned char, search->state_capacity);
    search->stops = ARENA_NEW(arena, RoundStop, side->searches);
    const uint32_t head[] = {side->method->version, shape};
    memcpy(search->state, head, sizeof head);
    side_progress(search)->searches = side->searches;
}

// ---- ask ------------------------------------------------------------------------------------------------------------

static bool side_all_ended(const Search *search)
{
    const SideBySide *side = search->scratch;
    for (int64_t s = 0; s < side->searches; s++) {
        if (side->method->run(search, s).stop == 0) return false;
    }
    return true;
}

// To the next trial in the order of (round, search, trial). False: its search must be told first.
static bool side_find_trial(const Search *search, SideBySide *side, int64_t *trials)
{
    for (;;) {
        const SideRun run = side->method->run(search, side->ask_search);
        if (run.stop == 0 && run.round < side->ask_round) return false;
        if (run.stop == 0 && run.round == side->ask_round) {
            *trials = side->method->trials(search, side->ask_search);
            if (*trials == 0 || side->ask_trial < *trials) return true;
        }
        side->ask_trial = 0;
        if (++side->ask_search < side->searches) continue;
        side->ask_search = 0;
        side->ask_round++;
    }
}

static void side_give(const Search *search, SideBySide *side, Trials *trials)
{
    const int64_t t = trials->count++;
    const int n = search->spec->configured.n_parameters;
    const double *parameter = side->method->parameters(search, side->ask_search, side->ask_trial);
    memcpy(trials->parameter + t * n, parameter, (size_t)n * sizeof *parameter);
    trials->id[t] = side->ask_id++;
    trials->search[t] = (int32_t)(side->ask_search + side->first);
    trials->round[t] = (int32_t)side->ask_round;
    trials->ordinal[t] = search_round_ordinal(side->ask_round, side->ask_trial++);
}

Error side_ask(Search *search, int64_t max, Trials *trials, bool *waiting)
{
    SideBySide *side = search->scratch;
    const int64_t wanted = max < trials->capacity ? max : trials->capacity;
    int64_t of_generation;
    trials->count = 0;
    *waiting = false;
    if (side_all_ended(search)) return error_none();
    while (trials->count < wanted && side_find_trial(search, side, &of_generation)) {
        if (of_generation == 0)
            return error_make(ERROR_USER,
                              "search %lld: `exclude`, the ranges of derived parameters or the bounds allow none of %d "
                              "draws for each trial; loosen them",
                              (long long)side->ask_search, SIDE_ATTEMPTS);
        side_give(search, side, trials);
    }
    *waiting = trials->count == 0;
    search->asked = side->ask_id;
    return error_none();
}

// ---- tell -----------------------------------------------------------------------------------------------------------

bool side_turn(const Search *search)
{
    const SideBySide *side = search->scratch;
    SideProgress *progress = side_progress(search);
    int64_t next = -1, round = 0;
    for (int64_t s = 0; s < side->searches; s++) {
        const SideRun run = side->method->run(search, s);
        if (run.stop != 0 || (next >= 0 && run.round >= round)) continue;
        next = s;
        round = run.round;
    }
    if (next < 0) return false;
    progress->search = next;
    progress->round = round;
    return true;
}

Error side_tell(Search *search, const Trials *trials)
{
    const SideBySide *side = search->scratch;
    SideProgress *progress = side_progress(search);
    for (int64_t t = 0; t < trials->count; t++) {
        const int64_t s = trials->search[t] - side->first;
        if (trials->id[t] != progress->next_id || s != progress->search || trials->round[t] != progress->round)
            return search_told_wrong(search, trials, t);
        const int64_t of_generation = side->method->trials(search, s);
        side->method->note(search, trials, t, side_told(search) + progress->told * side->told_width);
        progress->next_id++;
        if (++progress->told == of_generation) side->method->end_generation(search, s);
    }
    search->state_size = side_state_bytes(side, progress->told);
    return error_none();
}

Round *side_round(Search *search, int64_t s, int64_t stop, double **fields)
{
    const SideBySide *side = search->scratch;
    Rounds *rounds = search->rounds;
    if (rounds == NULL || rounds->count >= rounds->capacity) return NULL;
    *fields = rounds->field + rounds->count * search->n_round_fields;
    Round *row = &rounds->row[rounds->count++];
    *row = (Round){.search = (int32_t)(s + side->first),
                   .round = (int32_t)(side->method->run(search, s).round - 1),
                   .sigma = (double)NAN,
                   .condition = (double)NAN,
                   .best = (double)NAN,
                   .stop = stop != 0 ? side->method->stop_names[stop] : NULL};
    return row;
}

// ---- going on -------------------------------------------------------------------------------------------------------

static bool side_is_whole(const Search *search, const SideBySide *side)
{
    const SideProgress *progress = side_progress(search);
    const int64_t id_most = (int64_t)1 << 53;
    return progress->searches == side->searches && progress->told >= 0 && progress->told < side->trials_max &&
           progress->search >= 0 && progress->search < side->searches && progress->round >= 0 &&
           progress->round <= INT32_MAX && progress->next_id >= 0 && progress->next_id <= id_most &&
           search->state_size == side_state_bytes(side, progress->told) && side->method->is_whole(search);
}

// Budgets are totals: if the campaign was extended, a search that had ended may go on, and one that went on may end.
// One whose generation is partly told ends it first.
static void side_heed_budgets(Search *search, const SideBySide *side)
{
    const SideProgress *progress = side_progress(search);
    search->n_stops = 0;
    for (int64_t s = 0; s < side->searches; s++) {
        const int64_t round = side->method->run(search, s).round - 1;
        const bool partly_told = progress->told > 0 && s == progress->search;
        const int64_t stop = partly_told ? -1 : side->method->reconsider(search, s);
        if (stop < 0) continue;
        search->stops[search->n_stops++] = (RoundStop){.search = (int32_t)(s + side->first),
                                                       .round = (int32_t)round,
                                                       .stop = stop != 0 ? side->method->stop_names[stop] : NULL};
    }
    if (progress->told == 0) (void)side_turn(search);
}

Error side_restore(Search *search)
{
    SideBySide *side = search->scratch;
    const SideProgress *progress = side_progress(search);
    uint32_t version = 0;
    if (search->state_size >= side->method->progress + sizeof *progress)
        memcpy(&version, search->state, sizeof version);
    if (version != side->method->version) return search_state_of_other(search, (int)side->method->version);
    if (!side_is_whole(search, side)) return search_state_damaged(search);
    side->method->forget(search);
    side_heed_budgets(search, side);
    side->ask_round = progress->round; // behind what was told
    side->ask_search = progress->search;
    side->ask_id = search->asked = progress->next_id;
    side->ask_trial = progress->told;
    if (progress->told > 0 && progress->told >= side->method->trials(search, progress->search))
        return search_state_damaged(search);
    return error_none();
}

const char *side_stopped(const Search *search)
{
    SideBySide *side = search->scratch;
    const SideMethod *method = side->method;
    int64_t counts[SIDE_NAMES] = {0};
    if (!side_all_ended(search)) return NULL;
    if (side->searches == 1) return method->stop_names[method->run(search, 0).stop];
    for (int64_t s = 0; s < side->searches; s++) counts[method->run(search, s).stop]++;
    const size_t size = sizeof side->ending;
    size_t used = (size_t)snprintf(side->ending, size, "%lld searches ended", (long long)side->searches);
    const char *separator = ":";
    for (int i = 1; i < method->n_stops; i++) {
        if (counts[i] == 0 || used >= size) continue;
        used += (size_t)snprintf(side->ending + used, size - used, "%s %lld %s", separator, (long long)counts[i],
                                 method->stop_names[i]);
        separator = ",";
    }
    return side->ending;
}
