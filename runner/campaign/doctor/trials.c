// hopscotch doctor --repair, the rows of trials. A trial is a function of the spec and its id, and, if the search
// learns, of the earlier results. So damaged rows are simulated again, and the digest of their range shows whether the
// bits are those that were written.
#include "doctor.h"

#include "../batch/trials_in_flight.h"
#include "../store/commit/kept_rows.h"
#include "../store/commit/race_rows.h"
#include "../store/queries.h"
#include "../store/ground/rewrite.h"
#include "../store/ground/rows.h"
#include "../store/commit/trial_blocks_write.h"

#include <string.h>

typedef struct RepairRange {
    Repair *repair;
    Arena *arena;
    int64_t first, end; // ids
    Spec spec;          // what its trials ran: the campaign's; of a race that of a rung
    int rung;           // whose trials are computed now; -1: all trials
    int64_t strangers;  // rows with ids that the spec does not give
    TrialRows missing;  // of trials in blocks: those that have no row, or another one
    uint64_t *digests;  // of the rows of `commit`
    Rewrite rewrite;
    Flight flight;
    Commit commit;
} RepairRange;

// ---- a range --------------------------------------------------------------------------------------------------------

// Of trials in blocks: the rows of `commit` that are missing, in the order of ids.
static Error repair_collect(RepairRange *range)
{
    Store *store = range->repair->store;
    const TrialRows *rows = &range->commit.rows;
    rows_table_show(rows, 0, rows->count, &store->trials);
    memory_table_digests(&store->trials, 0, rows->count, range->digests);
    Cursor stored = trials_by_id(store->database, NULL, 0, range->arena);
    for (int64_t i = 0; i < rows->count; i++) {
        const bool same = trial_at(&stored, rows->id[i]) && cells_digest(&stored, 0) == range->digests[i];
        if (!same) rows_copy(rows, i, &range->missing, range->missing.count++);
    }
    return cursor_close(&stored);
}

static Error repair_take_rows(RepairRange *range)
{
    if (range->repair->store->blocks != NULL) return repair_collect(range);
    for (int64_t i = 0; i < range->commit.rows.count; i++) TRY(rewrite_row(&range->rewrite, &range->commit.rows, i));
    return error_none();
}

static Error repair_simulate(RepairRange *range)
{
    const Spec *spec = &range->spec;
    Backend *backend = range->repair->device.backend;
    if (range->flight.trials.count == 0) return error_none();
    flight_fill(spec, &range->flight, backend_batch(backend, 0));
    TRY(flight_run(spec, backend, &range->flight, 0, NULL));
    flight_collect(spec, &range->flight, backend_batch(backend, 0), &range->commit);
    TRY(repair_take_rows(range));
    if (search_learns(spec->method)) TRY(spec->method->tell(&range->repair->search, &range->flight.trials));
    range->flight.trials.count = 0;
    return error_none();
}

// The ids of the range that are trials, up to the last one that was told.
static Error repair_each_id(RepairRange *range, int64_t last)
{
    const Search *search = &range->repair->search;
    Trials *trials = &range->flight.trials;
    for (int64_t id = range->first; id < range->end && id <= last; id++) {
        const int64_t t = trials->count;
        double *parameter = &trials->parameter[t * search->spec->configured.n_parameters];
        bool wanted = true;
        if (search->method->trial(search, id, &trials->ordinal[t], parameter).kind != OK) continue;
        if (range->rung >= 0) TRY(race_ended(range->repair->store, id, range->rung, &wanted));
        if (!wanted) continue;
        trials->id[t] = id;
        trials->search[t] = trials->round[t] = 0;
        if (++trials->count == trials->capacity) TRY(repair_simulate(range));
    }
    return repair_simulate(range);
}

// ---- a search that learns -------------------------------------------------------------------------------------------

// Results of single replicates are not stored: where the search is told them, its trials are simulated again.
static Error repair_values(Repair *repair, Flight *flight, Commit *commit)
{
    Backend *backend;
    if (flight->trials.value == NULL || flight->trials.count == 0) return error_none();
    TRY(repair_open_device(repair));
    backend = repair->device.backend;
    flight_fill(&repair->spec, flight, backend_batch(backend, 0));
    TRY(flight_run(&repair->spec, backend, flight, 0, NULL));
    flight_collect(&repair->spec, flight, backend_batch(backend, 0), commit);
    return error_none();
}

// Fills in the results that the search is told, which are stored. *all: every trial has a row.
static Error repair_stored_results(Repair *repair, Flight *flight, Commit *commit, bool *all)
{
    Trials *trials = &flight->trials;
    TRY(repair_values(repair, flight, commit));
    const size_t used = repair->arena->used;
    Cursor results = trial_results_by_id(repair->store->database, &repair->spec, repair->arena);
    arena_rewind(repair->arena, used);
    *all = true;
    for (int64_t i = 0; i < trials->count && *all; i++) *all = trial_result_at(&results, &repair->spec, trials, i);
    return cursor_close(&results);
}

// Stored results that were not damaged or are already repaired.
static Error repair_tell_stored(RepairRange *range)
{
    Repair *repair = range->repair;
    Trials *trials = &range->flight.trials;
    bool all = true;
    TRY(repair_stored_results(repair, &range->flight, &range->commit, &all));
    if (!all)
        return error_make(
            ERROR_MACHINE,
            "trials before %lld are missing, on which those after them depend: nothing was changed; "
            "%s run %.200s --name NEW computes all of them again",
            (long long)range->first, command_program(repair->doctor->arena),
            command_quoted(arena_format(repair->doctor->arena, "%s/resolved.yaml", repair->doctor->location->folder),
                           repair->doctor->arena));
    TRY(repair->spec.method->tell(&repair->search, trials));
    trials->count = 0;
    return error_none();
}

// Advances the search to the end of the range: it is told the stored results before the range, and the trials of the
// range are simulated. It starts again if it is already beyond the range.
static Error repair_learn_again(RepairRange *range, int64_t last)
{
    Repair *repair = range->repair;
    Trials *trials = &range->flight.trials;
    if (repair->search.asked > range->first) TRY(search_init(&repair->spec, repair->arena, &repair->search));
    const int64_t end = last + 1 < range->end ? last + 1 : range->end;
    for (int64_t next = repair->search.asked; next < end; next = repair->search.asked) {
        const int64_t most = (next < range->first ? range->first : end) - next;
        bool waiting = false;
        TRY(repair->spec.method->ask(&repair->search, most < trials->capacity ? most : trials->capacity, trials,
                                     &waiting));
        if (trials->count == 0) break;
        TRY(next < range->first ? repair_tell_stored(range) : repair_simulate(range));
    }
    return error_none();
}

static Error repair_in_blocks(RepairRange *range, int64_t last)
{
    const Spec *spec = &range->repair->spec;
    Store *store = range->repair->store;
    rows_take(spec, range->end - range->first, range->arena, &range->missing);
    range->digests = ARENA_NEW(range->arena, uint64_t, range->commit.rows.capacity);
    TRY(trial_blocks_show_to_run(store->database));
    TRY(search_learns(spec->method) ? repair_learn_again(range, last) : repair_each_id(range, last));
    range->rewrite.written = range->missing.count;
    return trial_blocks_put(store, &range->missing, false);
}

static void repair_take(RepairRange *range)
{
    const Spec *spec = &range->spec;
    int64_t trials = range->repair->device.lanes / spec->replicates.count;
    if (trials > range->end - range->first) trials = range->end - range->first;
    flight_take(spec, trials, NULL, range->arena, &range->flight);
    commit_take(spec, trials, 0, 0, 0, range->arena, &range->commit);
}

// The trials of a race, by the numbers of their replicates.
static Error repair_each_rung(RepairRange *range, int64_t last)
{
    const Spec *spec = &range->repair->spec;
    Error error = error_none();
    for (int rung = 0; rung < race_rungs(spec) && error.kind == OK; rung++) {
        const size_t used = range->arena->used;
        range->rung = rung;
        range->spec = race_had(spec, race_replicates(spec, rung));
        repair_take(range);
        error = repair_each_id(range, last);
        arena_rewind(range->arena, used);
    }
    return error.kind == OK ? race_drop_surplus(range->repair->store, range->first, range->end) : error;
}

static Error repair_rewrite(RepairRange *range, int64_t last)
{
    const Spec *spec = &range->repair->spec;
    if (spec_races(spec)) return repair_each_rung(range, last);
    return search_learns(spec->method) ? repair_learn_again(range, last) : repair_each_id(range, last);
}

static Error repair_range_rows(RepairRange *range, int64_t last)
{
    Rewrite *rewrite = &range->rewrite;
    if (!spec_races(&range->spec)) repair_take(range);
    if (range->repair->store->blocks != NULL) return repair_in_blocks(range, last);
    rewrite_begin(range->repair->store, rewrite);
    const Error error = repair_rewrite(range, last);
    const Error ended = rewrite_end(rewrite);
    TRY(error);
    TRY(ended);
    TRY(rewrite_strangers(rewrite, range->first, range->end, &range->strangers));
    return rewrite_drop_strangers(rewrite, range->first, range->end);
}

// Where only some trials keep a row: deletes the others, of which all have one now.
static Error repair_settle(RepairRange *range, int64_t index, SealTally *after)
{
    Repair *repair = range->repair;
    TRY(kept_settle_between(repair->store, range->first, range->end));
    return seal_again(repair->store->database, "trials", index, range->arena, after);
}

enum { REPAIR_RANGES = 64 }; // ranges of digests that are repaired together where trials are in blocks of columns

// Digests of trials and replicates, before and after.
typedef struct RepairSeals {
    SealTally trials[REPAIR_RANGES], replicates[REPAIR_RANGES];
} RepairSeals;

static Error repair_read_seals(const RepairRange *range, int64_t index, int count, RepairSeals *seals)
{
    Database *database = range->repair->store->database;
    for (int i = 0; i < count; i++) {
        TRY(seal_stored(database, "trials", index + i, &seals->trials[i]));
        if (range->repair->spec.replicates.store)
            TRY(seal_stored(database, "replicates", index + i, &seals->replicates[i]));
    }
    return error_none();
}

static Error repair_seal_again(const RepairRange *range, int64_t index, int count, RepairSeals *seals)
{
    Database *database = range->repair->store->database;
    for (int i = 0; i < count; i++) {
        TRY(seal_again(database, "trials", index + i, range->arena, &seals->trials[i]));
        if (range->repair->spec.replicates.store)
            TRY(seal_again(database, "replicates", index + i, range->arena, &seals->replicates[i]));
    }
    return error_none();
}

static bool repair_is_proven(const RepairRange *range, int count, const RepairSeals *before, const RepairSeals *after)
{
    bool proven = true;
    for (int i = 0; i < count; i++) {
        const SealTally *a = &before->trials[i], *b = &after->trials[i];
        proven = proven && a->digest == b->digest && a->rows == b->rows;
        if (!range->repair->spec.replicates.store) continue;
        a = &before->replicates[i];
        b = &after->replicates[i];
        proven = proven && a->digest == b->digest && a->rows == b->rows;
    }
    return proven;
}

static Error repair_range_sealed(RepairRange *range, int64_t index, int count, int64_t last)
{
    Repair *repair = range->repair;
    RepairSeals *before = ARENA_NEW(range->arena, RepairSeals, 1), *after = ARENA_NEW(range->arena, RepairSeals, 1);
    TRY(repair_read_seals(range, index, count, before));
    TRY(repair_range_rows(range, last));
    if (repair->store->kept != NULL) return repair_settle(range, index, &after->trials[0]);
    TRY(repair_seal_again(range, index, count, after));
    const bool proven = repair_is_proven(range, count, before, after);
    if (!proven && range->strangers > 0) { // nothing is dropped on a guess
        return error_make(
            ERROR_MACHINE,
            "trials %lld to %lld: neither the rows nor their digest are those that were written, and %lld "
            "rows have ids that this spec does not give; nothing of them was changed",
            (long long)range->first, (long long)range->end - 1, (long long)range->strangers);
    }
    repair_report(repair, "trials %lld to %lld: simulated again, %lld rows written again; %s", (long long)range->first,
                  (long long)range->end - 1, (long long)range->rewrite.written,
                  proven ? "their digest is that of what was written"
                         : "their digest was damaged too, and is made again");
    return error_none();
}

// `count` ranges of digests from `index` on.
static Error repair_range(Repair *repair, int64_t index, int count, int64_t last)
{
    RepairRange range = {.repair = repair, .spec = repair->spec, .rung = -1};
    Arena arena;
    int64_t unused = 0;
    seal_trials(index, &range.first, &unused);
    seal_trials(index + count - 1, &unused, &range.end);
    TRY(repair_open_device(repair));
    const int64_t bytes = flight_bytes(&repair->spec) + 2 * rows_bytes(&repair->spec) + (int64_t)sizeof *range.digests;
    const int64_t scratch = flight_scratch_bytes(&repair->spec, NULL) + ((int64_t)4 << 20);
    TRY(arena_create(&arena, (size_t)((range.end - range.first) * bytes + scratch), "trials that are repaired"));
    range.arena = &arena;
    TRY(store_begin(repair->store));
    const Error error = store_end(repair->store, repair_range_sealed(&range, index, count, last));
    arena_destroy(&arena);
    return error;
}

// Which rows are kept depends on those of the other ranges, so it is decided again when all of them are repaired.
static Error repair_kept_range(Repair *repair, int64_t index, const SealTally *before)
{
    RepairRange range = {.repair = repair, .arena = repair->arena};
    SealTally after = {.rows = 0};
    seal_trials(index, &range.first, &range.end);
    TRY(store_begin(repair->store));
    TRY(store_end(repair->store, repair_settle(&range, index, &after)));
    repair_report(repair, "trials %lld to %lld: simulated again, %lld rows are kept; %s", (long long)range.first,
                  (long long)range.end - 1, (long long)after.rows,
                  before->digest == after.digest && before->rows == after.rows
                      ? "their digest is that of what was written"
                      : "their digest was damaged too, and is made again");
    return error_none();
}

static Error repair_kept_trials(Repair *repair, int64_t last)
{
    const SealDamage *damage = &repair->doctor->damage;
    SealTally *before = ARENA_NEW(repair->arena, SealTally, damage->count + 1);
    for (int64_t i = 0; i < damage->count; i++)
        TRY(seal_stored(repair->store->database, "trials", damage->broken[i].range, &before[i]));
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < damage->count; i++) {
            const int64_t range = damage->broken[i].range;
            if (strcmp(damage->broken[i].table, "trials") != 0) continue;
            TRY(pass == 0 ? repair_range(repair, range, 1, last) : repair_kept_range(repair, range, &before[i]));
        }
    }
    return error_none();
}

// How many damaged ranges of digests from broken[i] on follow each other. Rows are written again one range after the
// other; blocks of columns should not be small.
static int repair_neighbours(const Repair *repair, int64_t i)
{
    const SealDamage *damage = &repair->doctor->damage;
    int count = 1;
    if (repair->store->blocks == NULL) return count;
    while (count < REPAIR_RANGES && i + count < damage->count &&
           strcmp(damage->broken[i + count].table, "trials") == 0 &&
           damage->broken[i + count].range == damage->broken[i].range + count)
        count++;
    return count;
}

// Which replicates the members of a generation ran is known to the search alone, while it runs; how long a trial ran is
// known when all of its group have run.
static Error repair_refuse_race(const Repair *repair)
{
    Arena *arena = repair->doctor->arena;
    if (!race_of_generations(&repair->spec) && !spec_has_rungs(&repair->spec)) return error_none();
    const char *resolved = arena_format(arena, "%s/resolved.yaml", repair->doctor->location->folder);
    return error_make(ERROR_MACHINE,
                      "trials that are compared with others (%s) are not repaired one by one: nothing was changed; %s "
                      "run %.200s --name NEW computes all of them again",
                      spec_compares(&repair->spec), command_program(arena), command_quoted(resolved, arena));
}

Error repair_trials(Repair *repair)
{
    const SealDamage *damage = &repair->doctor->damage;
    int64_t last = -1, from = -1, done = -1;
    TRY(repair_refuse_race(repair));
    const bool batches = !doctor_damaged(repair->doctor, "batches"); // else by the last stored id
    TRY(trials_last_told(repair->store->database, batches, repair->search.total, &last));
    if (repair->store->kept != NULL) return repair_kept_trials(repair, last);
    for (int pass = 0; pass < 2; pass++) { // ranges of trials, then other ranges of replicates
        const char *table = pass == 0 ? "trials" : "replicates";
        for (int64_t i = 0; i < damage->count; i++) {
            const int64_t range = damage->broken[i].range;
            if (strcmp(damage->broken[i].table, table) != 0 || (range >= from && range <= done)) continue;
            const int count = repair_neighbours(repair, i);
            TRY(repair_range(repair, range, count, last));
            from = range;
            done = range + count - 1;
        }
    }
    return error_none();
}

// ---- the search -----------------------------------------------------------------------------------------------------

// Asks for one trial after the other and tells the stored results, until there are no more. Inserts the rounds that
// end, if the search gives them.
static Error repair_tell_again(Repair *repair, Search *search, Arena *arena)
{
    Flight flight;
    Commit commit;
    bool waiting = true, all = true;
    flight_take(&repair->spec, 1, NULL, arena, &flight);
    commit_take(&repair->spec, 1, 0, 0, 0, arena, &commit);
    flight.trials.count = 1;
    while (all && (flight.trials.count > 0 || waiting)) {
        flight.trials.count = 0;
        TRY(search->method->ask(search, 1, &flight.trials, &waiting));
        TRY(repair_stored_results(repair, &flight, &commit, &all));
        if (all && flight.trials.count > 0) TRY(search->method->tell(search, &flight.trials));
        if (search->rounds == NULL) continue;
        TRY(store_insert_rounds(repair->store, search->rounds, search->n_round_fields));
        search->rounds->count = 0;
    }
    return error_none();
}

static Error repair_tell_rounds(Repair *repair, Search *search, Arena *arena)
{
    Round round;
    Rounds rounds = {.capacity = 1, .row = &round, .field = ARENA_NEW(arena, double, search->n_round_fields)};
    TRY(rounds_clear(repair->store->database));
    search->rounds = &rounds;
    TRY(repair_tell_again(repair, search, arena));
    search->rounds = NULL;
    repair_report(repair, "rounds: computed from the trials");
    TRY(repair_seal(repair, "fronts"));
    if (repair->store->has_gradients) TRY(repair_seal(repair, "gradients"));
    return repair_seal(repair, "rounds");
}

Error repair_search(Repair *repair)
{
    Search search;
    const bool rounds = doctor_damaged(repair->doctor, "rounds") || doctor_damaged(repair->doctor, "fronts") ||
                        doctor_damaged(repair->doctor, "gradients");
    if (!rounds && !doctor_damaged(repair->doctor, "searches")) return error_none();
    TRY(repair_refuse_race(repair));
    TRY(search_init(&repair->spec, repair->arena, &search));
    TRY(rounds && search.n_round_fields > 0 ? repair_tell_rounds(repair, &search, repair->arena)
                                            : repair_tell_again(repair, &search, repair->arena));
    TRY(search_state_restore(repair->store->database, &search));
    TRY(searches_restore_others(repair->store->database));
    repair_report(repair, "search: its state was computed from its trials");
    return repair_seal(repair, "searches");
}
