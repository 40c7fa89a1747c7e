// Many searches side by side: what is asked for next, whose results come next, checkpoints (side_by_side.h).
#include "side_by_side.h"

#include <math.h>
#include <string.h>

void side_take_part(const Spec *spec, SideBySide *side)
{
    int64_t first, end;
    part_units(spec->part, side->searches, &first, &end);
    side->first += first;
    side->searches = end - first;
}

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
    SideBySide *side = search->scratch;
    side->turns = ARENA_NEW(arena, SideTurn, side->searches);
    side->worker = ARENA_NEW(arena, void *, 1);
    side->worker[0] = side;
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

// From ask_search on, the searches of the round whose trials are asked for, for `wanted` trials or a few more, into
// side->turns. None: the next one must be told first, or the round has no more.
static int64_t side_choose(const Search *search, SideBySide *side, int64_t wanted)
{
    int64_t count = 0, trials = -side->ask_trial, s = side->ask_search;
    for (; s < side->searches && trials < wanted; s++) {
        const SideRun run = side->method->run(search, s);
        if (run.stop != 0 || run.round > side->ask_round) continue;
        if (run.round < side->ask_round || (count > 0 && s - side->turns[0].search >= side->kept)) break;
        side->turns[count++].search = s;
        trials += side->method->members(search, s);
    }
    if (count == 0) side->ask_search = s;
    return count;
}

// The searches whose trials come next in the order of (round, search, trial). None: one must be told first.
static int64_t side_next(const Search *search, SideBySide *side, int64_t wanted)
{
    for (;;) {
        const int64_t count = side_choose(search, side, wanted);
        if (count > 0 || side->ask_search < side->searches) return count;
        side->ask_search = 0;
        side->ask_round++;
    }
}

typedef struct SideGift {
    Trials *trials;
    int64_t first, round; // of the first trial
} SideGift;

static void side_give(const Search *search, void *worker, const SideTurn *turn, int64_t from, int64_t end,
                      void *context)
{
    const SideBySide *side = search->scratch;
    const SideGift *gift = context;
    Trials *trials = gift->trials;
    const int64_t n = search->spec->configured.n_parameters, at = gift->first + turn->first;
    side->method->give(search, worker, turn->search, turn->from + from, turn->from + end,
                       trials->parameter + (at + from) * n);
    for (int64_t i = from; i < end; i++) {
        trials->id[at + i] = turn->id + turn->from + i;
        trials->search[at + i] = (int32_t)(turn->search + side->first);
        trials->round[at + i] = (int32_t)gift->round;
        trials->ordinal[at + i] = search_ordinal(search->method, gift->round, turn->from + i);
        if (side->method->name != NULL) side->method->name(search, turn->search, turn->from + i, trials, at + i);
    }
}

static Error side_no_trials(int64_t s)
{
    return error_make(ERROR_USER,
                      "search %lld: `exclude`, the ranges of derived parameters or the bounds reject all of %d "
                      "draws per trial; loosen them",
                      (long long)s, SIDE_ATTEMPTS);
}

// Sets the ranges of the trials that each of turns[*count] gives, `wanted` in all, and moves behind them.
static Error side_assign(const Search *search, SideBySide *side, int64_t wanted, int64_t *count, int64_t *given)
{
    int64_t t = 0;
    for (*given = 0; t < *count && *given < wanted; t++) {
        SideTurn *turn = &side->turns[t];
        const int64_t all = side->method->drawn(search, turn->search)->trials, left = wanted - *given;
        if (all == 0) return side_no_trials(turn->search + side->first);
        turn->from = turn->search == side->ask_search ? side->ask_trial : 0;
        turn->first = *given;
        turn->count = all - turn->from < left ? all - turn->from : left;
        turn->id = side->ask_id - turn->from;
        side->ask_id += side->method->run(search, turn->search).again ? 0 : turn->count;
        *given += turn->count;
        const bool whole = turn->from + turn->count == all;
        side->ask_search = turn->search + whole;
        side->ask_trial = whole ? 0 : turn->from + turn->count;
    }
    *count = t;
    return error_none();
}

Error side_ask(Search *search, int64_t max, Trials *trials, bool *waiting)
{
    SideBySide *side = search->scratch;
    const int64_t wanted = max < trials->capacity ? max : trials->capacity;
    trials->count = 0;
    *waiting = false;
    if (side_all_ended(search)) return error_none();
    while (trials->count < wanted) {
        int64_t count = side_next(search, side, wanted - trials->count), given = 0;
        if (count == 0) break;
        side_draw(search, count);
        TRY(side_assign(search, side, wanted - trials->count, &count, &given));
        SideGift gift = {.trials = trials, .first = trials->count, .round = side->ask_round};
        side_share(search, count, SIDE_TRIALS_LEAST, side_give, &gift);
        trials->count += given;
    }
    *waiting = trials->count == 0;
    search->asked = side->ask_id;
    return error_none();
}

// ---- tell -----------------------------------------------------------------------------------------------------------

// To the search whose results come next: the first one that goes on, in the order of (round, search). If all have ended
// it stays.
static void side_move(const Search *search)
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
    if (next < 0) {
        progress->round += side->method->counts_last;
        return;
    }
    progress->search = next;
    progress->round = round;
}

// How many trials from `first` on are those that come next, of search s. Trials that go on keep their ids; a batch has
// one generation of a search at most.
static int64_t side_told_of(const Search *search, const Trials *trials, int64_t first, int64_t id, int64_t s)
{
    const SideBySide *side = search->scratch;
    const int64_t round = side_progress(search)->round, number = s + side->first;
    const bool again = side->method->run(search, s).again;
    int64_t t = first;
    while (t < trials->count && trials->search[t] == number &&
           (again ? trials->first[t] > 0 : trials->id[t] == id + (t - first) && trials->round[t] == round))
        t++;
    return t - first;
}

// The ids that trials of a generation took.
static int64_t side_ids(const Search *search, int64_t s, int64_t trials)
{
    return ((const SideBySide *)search->scratch)->method->run(search, s).again ? 0 : trials;
}

// Which searches the trials from `first` on belong to, in the order in which they were asked for, up to the end of the
// round.
static int64_t side_sort_told(const Search *search, const Trials *trials, int64_t first)
{
    const SideBySide *side = search->scratch;
    const SideProgress *progress = side_progress(search);
    int64_t count = 0, at = first, id = progress->next_id;
    for (int64_t s = progress->search; s < side->searches && s - progress->search < side->kept; s++) {
        const SideRun run = side->method->run(search, s);
        if (run.stop != 0 || run.round != progress->round) continue;
        const int64_t told = side_is_drawn(search, s)
                                 ? side->method->drawn(search, s)->trials - (count == 0 ? progress->told : 0)
                                 : side_told_of(search, trials, at, id, s);
        if (told <= 0 || at >= trials->count || trials->search[at] != s + side->first) break;
        side->turns[count++].search = s;
        at += told;
        id += side_ids(search, s, told);
    }
    return count;
}

// Sets the range of each turn, up to the first generation that the batch does not complete. Returns how many it
// completes; *count: with that one.
static int64_t side_assign_told(const Search *search, const Trials *trials, int64_t first, int64_t *count)
{
    const SideBySide *side = search->scratch;
    const SideProgress *progress = side_progress(search);
    int64_t at = first, id = progress->next_id;
    for (int64_t t = 0; t < *count; t++) {
        SideTurn *turn = &side->turns[t];
        turn->from = t == 0 ? progress->told : 0;
        turn->first = at;
        turn->id = id - turn->from;
        turn->count = side_told_of(search, trials, at, id, turn->search);
        const int64_t left = side->method->drawn(search, turn->search)->trials - turn->from;
        if (turn->count != left) *count = t + 1; // no more of this round
        if (turn->count < left) return t;
        turn->count = left;
        at += left;
        id += side_ids(search, turn->search, left);
    }
    return *count;
}

static Error side_end_turns(Search *search, const Trials *trials, int64_t count)
{
    const SideBySide *side = search->scratch;
    SideProgress *progress = side_progress(search);
    Rounds *rounds = search->rounds;
    if (count == 0) return error_none();
    int64_t ids = 0; // before the generations end
    for (int64_t t = 0; t < count; t++) ids += side_ids(search, side->turns[t].search, side->turns[t].count);
    TRY(side_end_all(search, trials, count));
    if (rounds != NULL) {
        rounds->count = rounds->count + count < rounds->capacity ? rounds->count + count : rounds->capacity;
    }
    progress->next_id += ids;
    progress->search = side->turns[count - 1].search;
    progress->told = 0;
    side_move(search);
    return error_none();
}

// Tells the trials of a batch from *first on, of one round at most.
static Error side_tell_round(Search *search, const Trials *trials, int64_t *first)
{
    const SideBySide *side = search->scratch;
    SideProgress *progress = side_progress(search);
    const int64_t before = *first;
    int64_t count = side_sort_told(search, trials, *first);
    side_draw(search, count);
    const int64_t whole = side_assign_told(search, trials, *first, &count);
    for (int64_t t = 0; t < count; t++) *first += side->turns[t].count;
    TRY(side_end_turns(search, trials, whole));
    if (whole < count) {
        const SideTurn *rest = &side->turns[whole];
        side_note(search, trials, rest);
        progress->next_id += side_ids(search, rest->search, rest->count);
        progress->told += rest->count;
    }
    return *first > before ? error_none() : search_told_wrong(search, trials, before);
}

Error side_tell(Search *search, const Trials *trials)
{
    const SideBySide *side = search->scratch;
    for (int64_t t = 0; t < trials->count;) TRY(side_tell_round(search, trials, &t));
    search->state_size = side_state_bytes(side, side_progress(search)->told);
    return error_none();
}

Round *side_round(Search *search, const SideEnd *end, int64_t stop, double **fields)
{
    const SideBySide *side = search->scratch;
    const Rounds *rounds = search->rounds;
    if (rounds == NULL || end->row >= rounds->capacity) return NULL;
    *fields = rounds->field + end->row * search->n_round_fields;
    Round *row = &rounds->row[end->row];
    *row = (Round){.search = (int32_t)(end->search + side->first),
                   .round = (int32_t)(side->method->run(search, end->search).round - 1),
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

// A state of an earlier program, of a generation that is partly told, has fewer results of each trial: the others are
// unknown.
static void side_widen_told(Search *search, const SideBySide *side)
{
    const int64_t told = side_progress(search)->told;
    const int before = side->told_before, width = side->told_width;
    if (before == 0 || before == width || told <= 0 || told >= side->trials_max) return;
    if (search->state_size != side->told_at + (size_t)(told * before) * sizeof(double)) return;
    double *at = side_told(search);
    for (int64_t t = told - 1; t >= 0; t--) {
        memmove(at + t * width, at + t * before, (size_t)before * sizeof *at);
        for (int k = before; k < width; k++) at[t * width + k] = (double)NAN;
    }
    search->state_size = side_state_bytes(side, told);
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
    if (progress->told == 0 && !side_all_ended(search)) side_move(search);
}

Error side_restore(Search *search)
{
    SideBySide *side = search->scratch;
    const SideProgress *progress = side_progress(search);
    uint32_t version = 0;
    if (search->state_size >= side->method->progress + sizeof *progress)
        memcpy(&version, search->state, sizeof version);
    if (version != side->method->version) return search_state_of_other(search, (int)side->method->version);
    side_widen_told(search, side);
    if (!side_is_whole(search, side)) return search_state_damaged(search);
    for (int64_t i = 0; i < side->kept; i++) side->method->drawn(search, i)->round = -1;
    side_heed_budgets(search, side);
    side->ask_round = progress->round; // behind what was told
    side->ask_search = progress->search;
    side->ask_id = search->asked = progress->next_id;
    side->ask_trial = progress->told;
    if (progress->told == 0) return error_none();
    side->turns[0].search = progress->search;
    side_draw(search, 1);
    if (progress->told >= side->method->drawn(search, progress->search)->trials) return search_state_damaged(search);
    return error_none();
}

// ---- parts ----------------------------------------------------------------------------------------------------------

// The last results came of the last round, there of the last search. progress->round of a part says it (side_move).
void search_join(Search *whole, const Search *part)
{
    const SideBySide *all = whole->scratch, *some = part->scratch;
    const size_t run = (all->told_at - all->method->runs) / (size_t)all->searches;
    const int64_t first = some->first - all->first;
    SideProgress *to = side_progress(whole);
    const SideProgress *from = side_progress(part);
    memcpy((unsigned char *)whole->state + all->method->runs + (size_t)first * run,
           (const unsigned char *)part->state + all->method->runs, (size_t)some->searches * run);
    const int64_t last = first + from->search;
    if (from->round < to->round || (from->round == to->round && last < to->search)) return;
    to->round = from->round;
    to->search = last;
}

void search_join_end(Search *whole, int64_t trials) { side_progress(whole)->next_id = trials; }

const char *side_stop_words(const char *name)
{
    static const struct {
        const char *name, *words;
    } known[] = {
        {"target", "the fitness reached stop.target"},
        {"trials", "stop.trials trials were computed"},
        {"points", "every point of the ranges was computed"},
        {"generations", "stop.generations generations were computed"},
        {"iterations", "stop.iterations iterations were computed"},
        {"tolfun", "converged: the fitness changes by less than stop.tolfun"},
        {"tolfunhist", "converged: the best fitness of the last generations changes by less than stop.tolfunhist"},
        {"tolx", "converged: the steps are shorter than stop.tolx"},
        {"step", "converged: the steps are shorter than stop.step"},
        {"decrease", "converged: the sum of squares falls by less than stop.decrease"},
        {"gradient", "converged: the gradient is smaller than stop.gradient"},
        {"no_effect_axis", "converged: a step along an axis changes no digit (no_effect_axis)"},
        {"no_effect_coordinate", "converged: a step of a parameter changes no digit (no_effect_coordinate)"},
        {"tolxup", "the steps grew by more than stop.tolxup: the start is far from an optimum, or there is none"},
        {"condition", "the condition number of the covariance exceeds stop.condition"},
        {"stagnation", "no improvement for stop.stagnation rounds"},
        {"equal_values", "the trials of a generation have the same fitness (equal_values)"},
        {"line_search", "no point along the line is better (line_search)"},
        {"all_failed", "all trials of a round failed (all_failed)"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].name, name) == 0) return known[i].words;
    }
    return name;
}

const char *side_stopped(const Search *search)
{
    SideBySide *side = search->scratch;
    const SideMethod *method = side->method;
    int64_t counts[SIDE_NAMES] = {0};
    if (!side_all_ended(search)) return NULL;
    if (side->searches == 1) return side_stop_words(method->stop_names[method->run(search, 0).stop]);
    for (int64_t s = 0; s < side->searches; s++) counts[method->run(search, s).stop]++;
    const size_t size = sizeof side->ending;
    size_t used = (size_t)snprintf(side->ending, size, "%lld searches ended", (long long)side->searches);
    const char *separator = ":";
    for (int i = 1; i < method->n_stops; i++) {
        if (counts[i] == 0 || used >= size) continue;
        used += (size_t)snprintf(side->ending + used, size - used, "%s %lld by %s", separator, (long long)counts[i],
                                 method->stop_names[i]);
        separator = ",";
    }
    return side->ending;
}
