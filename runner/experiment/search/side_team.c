// How the threads of a team share what searches side by side do (side_by_side.h): members are drawn and trials given in
// ranges over all searches; generations end one search per thread, or one after the other with the whole team if they
// are few and large.
#include "side_by_side.h"

#include <string.h>

static const size_t side_team_bytes = (size_t)256 << 20; // most, of address space: for threads; for generations

// Items that are worth a range of their own, each about 20 us.
enum { SIDE_DRAWS_LEAST = 64, SIDE_ENDED_LEAST = 512, SIDE_LARGE = 8192 };

// ---- loops ----------------------------------------------------------------------------------------------------------

typedef struct SideLoop {
    const Search *search;
    const SideBySide *side;
    int64_t count; // turns
    SideWork work;
    void *context;
} SideLoop;

// The last turn whose range does not begin behind the item: those before it have no items.
static int64_t side_turn_of(const SideLoop *loop, int64_t item)
{
    int64_t low = 0, high = loop->count;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (loop->side->turns[middle].first <= item)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void side_share_range(void *context, int thread, int64_t first, int64_t end)
{
    const SideLoop *loop = context;
    for (int64_t t = side_turn_of(loop, first); first < end; t++) {
        const SideTurn *turn = &loop->side->turns[t];
        const int64_t stop = turn->first + turn->count, to = stop < end ? stop : end;
        if (first < to)
            loop->work(loop->search, loop->side->worker[thread], turn, first - turn->first, to - turn->first,
                       loop->context);
        first = first < to ? to : first;
    }
}

void side_share(const Search *search, int64_t count, int64_t least, SideWork work, void *context)
{
    const SideBySide *side = search->scratch;
    SideLoop loop = {search, side, count, work, context};
    if (count == 0) return;
    const SideTurn *last = &side->turns[count - 1];
    thread_team_for(side->team, last->first + last->count, least, side_share_range, &loop);
}

// How many generations a thread takes at once.
static int64_t side_ended_least(int64_t trials, int64_t generations)
{
    return 1 + SIDE_ENDED_LEAST * generations / (trials > 0 ? trials : 1);
}

// ---- drawing --------------------------------------------------------------------------------------------------------

static void side_draw_members(const Search *search, void *worker, const SideTurn *turn, int64_t from, int64_t end,
                              void *context)
{
    const SideBySide *side = search->scratch;
    (void)context;
    side->method->draw(search, worker, turn->search, from, end);
}

bool side_is_drawn(const Search *search, int64_t s)
{
    const SideMethod *method = ((const SideBySide *)search->scratch)->method;
    const SideDrawn *drawn = method->drawn(search, s);
    return drawn->search == s && drawn->round == method->run(search, s).round;
}

SideDrawn side_drawn_take(int64_t members, int64_t trials_max, Arena *arena)
{
    return (SideDrawn){
        .round = -1, .slot = ARENA_NEW(arena, int32_t, trials_max), .left_out = ARENA_NEW(arena, bool, members)};
}

int64_t side_kept_within(const SideBySide *side, size_t bytes, size_t generation)
{
    const int64_t fit = (int64_t)(bytes / generation);
    return fit < 1 ? 1 : fit < side->searches ? fit : side->searches;
}

void side_list_members(SideDrawn *drawn, int64_t members)
{
    drawn->trials = 0;
    for (int64_t k = 0; k < members; k++) {
        if (!drawn->left_out[k]) drawn->slot[drawn->trials++] = (int32_t)k;
    }
}

static void side_list(const Search *search, void *worker, int64_t s)
{
    const SideMethod *method = ((const SideBySide *)search->scratch)->method;
    SideDrawn *drawn = method->drawn(search, s);
    method->list(search, worker, s);
    drawn->search = s;
    drawn->round = method->run(search, s).round;
}

static void side_list_trials(void *context, int thread, int64_t first, int64_t end)
{
    const SideLoop *loop = context;
    const SideBySide *side = loop->side;
    for (int64_t t = first; t < end; t++) {
        if (side->turns[t].count > 0) side_list(loop->search, side->worker[thread], side->turns[t].search);
    }
}

void side_draw(const Search *search, int64_t count)
{
    const SideBySide *side = search->scratch;
    int64_t members = 0;
    for (int64_t t = 0; t < count; t++) {
        SideTurn *turn = &side->turns[t];
        turn->first = members;
        turn->count = side_is_drawn(search, turn->search) ? 0 : side->method->members(search, turn->search);
        members += turn->count;
    }
    if (members == 0) return;
    side_share(search, count, SIDE_DRAWS_LEAST, side_draw_members, NULL);
    SideLoop loop = {.search = search, .side = side};
    thread_team_for(side->team, count, side_ended_least(members, count), side_list_trials, &loop);
}

// ---- ends of generations --------------------------------------------------------------------------------------------

typedef struct SideEnds {
    Search *search;
    const Trials *trials;
    int64_t row;          // of search->rounds, of the first turn
    const SideTurn *turn; // that is noted
    double *told;
} SideEnds;

static void side_note_range(void *context, int thread, int64_t first, int64_t end)
{
    const SideEnds *ends = context;
    const SideBySide *side = ends->search->scratch;
    (void)thread;
    for (int64_t i = first; i < end; i++)
        side->method->note(ends->search, ends->trials, ends->turn->first + i,
                           ends->told + (ends->turn->from + i) * side->told_width);
}

void side_note(Search *search, const Trials *trials, const SideTurn *turn)
{
    const SideBySide *side = search->scratch;
    SideEnds ends = {.search = search, .trials = trials, .turn = turn, .told = side_told(search)};
    thread_team_for(side->team, turn->count, SIDE_TRIALS_LEAST, side_note_range, &ends);
}

static void side_end(const SideEnds *ends, void *worker, int64_t t, const double *told, ThreadTeam *team)
{
    const SideBySide *side = ends->search->scratch;
    const SideTurn *turn = &side->turns[t];
    const SideEnd end = {
        .search = turn->search, .told = told, .first_id = turn->id, .row = ends->row + t, .team = team};
    side->method->end_generation(ends->search, worker, &end);
}

// Only the first turn may go on with results that the checkpoint holds.
static void side_end_range(void *context, int thread, int64_t first, int64_t end)
{
    const SideEnds *shared = context;
    const SideBySide *side = shared->search->scratch;
    for (int64_t t = first; t < end; t++) {
        SideEnds ends = *shared;
        ends.turn = &side->turns[t];
        ends.told = ends.turn->from > 0 ? side_told(ends.search) : side->told[thread];
        side_note_range(&ends, thread, 0, ends.turn->count);
        side_end(&ends, side->worker[thread], t, ends.told, NULL);
    }
}

// Whether each thread is to end generations of its own, rather than all of them one after the other.
static bool side_ends_apart(const Search *search, int64_t count, int64_t trials)
{
    const SideBySide *side = search->scratch;
    if (side->told == NULL || count == 1) return false;
    return 2 * count >= thread_team_threads(side->team) || trials / count < SIDE_LARGE;
}

Error side_end_all(Search *search, const Trials *trials, int64_t count)
{
    const SideBySide *side = search->scratch;
    SideEnds ends = {.search = search, .trials = trials, .row = search->rounds != NULL ? search->rounds->count : 0};
    int64_t told = 0;
    for (int64_t t = 0; t < count; t++) told += side->turns[t].count;
    if (side->method->before_ends != NULL) TRY(side->method->before_ends(search, side->turns, count));
    if (side_ends_apart(search, count, told)) {
        thread_team_for(side->team, count, side_ended_least(told, count), side_end_range, &ends);
        return error_none();
    }
    for (int64_t t = 0; t < count; t++) {
        side_note(search, trials, &side->turns[t]);
        side_end(&ends, side->worker[0], t, side_told(search), side->team);
    }
    return error_none();
}

// ---- memory ---------------------------------------------------------------------------------------------------------

typedef struct SideRoom {
    int64_t generations; // that are kept
    int threads;
    bool learn;  // they end generations of their own
    size_t told; // bytes of the results of one
} SideRoom;

static size_t side_room_bytes(const Search *search, const SideRoom *room)
{
    const SideMethod *method = ((const SideBySide *)search->scratch)->method;
    const size_t worker = method->worker_bytes(search, room->learn) + (room->learn ? room->told : 0);
    return (size_t)room->generations * method->generation_bytes(search) + (size_t)room->threads * (worker + 256);
}

static SideRoom side_room(const Search *search, int threads)
{
    const SideBySide *side = search->scratch;
    const int64_t fit = (int64_t)(side_team_bytes / side->method->generation_bytes(search));
    SideRoom room = {.generations = fit < side->searches ? fit : side->searches,
                     .threads = threads,
                     .learn = threads > 1 && side->searches > 1,
                     .told = (size_t)(side->trials_max * side->told_width) * sizeof(double)};
    if (room.generations <= side->kept) room.generations = 0; // there is room for as many
    const SideRoom workers = {.threads = threads, .learn = true, .told = room.told};
    if (side_room_bytes(search, &workers) > side_team_bytes) room.learn = false;
    return room;
}

void side_use_team(Search *search, ThreadTeam *team, Arena *arena)
{
    SideBySide *side = search->scratch;
    const SideRoom room = side_room(search, thread_team_threads(team));
    if (room.threads == 1 && room.generations == 0) return;
    if (arena_create(arena, side_room_bytes(search, &room), arena->purpose).kind != OK) return;
    if (room.generations > 0) side->method->keep(search, room.generations, arena);
    void **worker = ARENA_NEW(arena, void *, room.threads);
    worker[0] = search->scratch;
    for (int t = 1; t < room.threads; t++) worker[t] = side->method->worker(search, room.learn, arena);
    side->worker = worker;
    side->told = room.learn ? ARENA_NEW(arena, double *, room.threads) : NULL;
    for (int t = 0; t < room.threads && room.learn; t++)
        side->told[t] = ARENA_NEW(arena, double, side->trials_max * side->told_width);
    side->team = team;
}
