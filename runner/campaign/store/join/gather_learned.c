// The parts of a method that learns. It counts the trials of a part by (round, search, trial), and those of all parts
// in the same order give the ids of the whole. While parts are missing these ids are those that the parts at hand give,
// so each new part changes them: then one transaction replaces all rows.
#include "gather.h"

#include "../ground/rows.h"

// ---- ids ------------------------------------------------------------------------------------------------------------

// Trials of one search and round, whose ids follow each other: in the part from `local` on, in the whole from `id` on.
static Error gather_make_runs(const Gather *gather)
{
    return database_run(gather->store->database,
                        "CREATE TEMP TABLE runs(part INTEGER, local INTEGER, count INTEGER, round INTEGER, "
                        "search INTEGER)");
}

static Error gather_examine(Gather *gather, const JoinSource *source)
{
    TRY(gather_check_digests(source));
    return join_rows(source, gather->store,
                     arena_format(gather->arena,
                                  "SELECT %d, min(id), count(*), round, search FROM trials GROUP BY round, search",
                                  source->campaign.spec.part.number),
                     "INSERT INTO temp.runs VALUES(?, ?, ?, ?, ?)");
}

static Error gather_number_runs(const Gather *gather)
{
    Database *database = gather->store->database;
    Cursor twice = cursor_open(database, "SELECT round, search FROM temp.runs GROUP BY round, search "
                                         "HAVING count(*) > 1 ORDER BY round, search LIMIT 1");
    if (cursor_next(&twice))
        cursor_stop(&twice,
                    error_make(ERROR_MACHINE, "two parts hold round %lld of search %lld: one of them is damaged",
                               (long long)cell_integer(&twice, 0), (long long)cell_integer(&twice, 1)));
    TRY(cursor_close(&twice));
    return database_run(database, "CREATE TEMP TABLE numbered AS SELECT part, local, count, sum(count) OVER (ORDER BY "
                                  "round, search) - count AS id FROM temp.runs; CREATE INDEX temp.numbered_by_part ON "
                                  "numbered(part, local)");
}

const char *gather_learned_id(const Gather *gather, PartOf part, int number)
{
    if (!gather->learns) return arena_format(gather->arena, "?%d", number);
    return arena_format(gather->arena,
                        "(SELECT id + ?%d - local FROM temp.numbered WHERE part = %d AND local <= ?%d ORDER BY local "
                        "DESC LIMIT 1)",
                        number, part.number, number);
}

typedef struct GatherIds {
    const Gather *gather;
    Cursor runs;            // of the part, in order
    int64_t local, end, id; // of the run of the last trial
} GatherIds;

static Error gather_choose_id(void *context, TrialRows *rows, bool *taken)
{
    GatherIds *ids = context;
    int64_t *id = &rows->id[rows->count];
    (void)taken;
    while (*id >= ids->end && next_integer(&ids->runs, &ids->local)) {
        ids->end = ids->local + cell_integer(&ids->runs, 1);
        ids->id = cell_integer(&ids->runs, 2);
    }
    TRY(ids->runs.error);
    if (*id < ids->local || *id >= ids->end) return gather_changed(ids->gather);
    *id += ids->id - ids->local;
    return error_none();
}

Error gather_learned_trials(const Gather *gather, const JoinSource *source)
{
    GatherIds ids = {.gather = gather};
    ids.runs = cursor_open(gather->store->database,
                           "SELECT local, count, id FROM temp.numbered WHERE part = ? ORDER BY local");
    with_integer(&ids.runs, source->campaign.spec.part.number);
    const Error error = join_trials(source, gather->store, gather_choose_id, &ids);
    const Error closing = cursor_close(&ids.runs);
    return error.kind != OK ? error : closing;
}

// ---- the searches ---------------------------------------------------------------------------------------------------

// The searches of the part as they ended.
static Error gather_join_search(Gather *gather, const JoinSource *source)
{
    Arena arena;
    Search part;
    size_t size = 0;
    bool found = false;
    TRY(arena_create_growing(&arena, (size_t)1 << 28, "the searches of a part"));
    Error error = search_init(&source->campaign.spec, &arena, &part);
    if (error.kind == OK)
        error = search_state_read(source->campaign.database, part.state, part.state_capacity, &size, &found);
    part.state_size = size;
    if (error.kind == OK && found)
        error = size <= part.state_capacity ? part.method->restore(&part) : search_state_damaged(&part);
    if (error.kind == OK && found) search_join(&gather->whole, &part);
    arena_destroy(&arena);
    return error;
}

// ---- all parts ------------------------------------------------------------------------------------------------------

typedef Error (*GatherStep)(Gather *gather, const JoinSource *source);

// Calls `step` for the parts that are taken. Those that another process holds are no longer taken.
static Error gather_all_parts(Gather *gather, bool *taken, GatherStep step)
{
    for (int i = 0; i < gather->parts->count; i++) {
        JoinSource source;
        bool busy = false;
        if (!taken[i]) continue;
        TRY(gather_open(gather, i, &source, &busy));
        if (busy) taken[i] = false;
        if (busy) continue;
        const Error error = step(gather, &source);
        join_close(&source);
        TRY(error);
    }
    return error_none();
}

static Error gather_add_learned(Gather *gather, const JoinSource *source)
{
    TRY(gather_check_program(gather, source));
    TRY(gather_add(gather, source));
    gather_count(gather, source);
    return gather->whole.state != NULL ? gather_join_search(gather, source) : error_none();
}

static Error gather_clear(const Gather *gather)
{
    Database *database = gather->store->database;
    TRY(rounds_clear(database));
    if (gather->spec->replicates.store) TRY(database_run(database, "DELETE FROM replicates"));
    return database_run(database, "DELETE FROM main.trials; DELETE FROM batches; DELETE FROM searches WHERE id <> 0; "
                                  "DELETE FROM origin WHERE purpose = 'gathers'; "
                                  "DELETE FROM events WHERE text GLOB '[0-9]*of[0-9]*: *'");
}

// there: parts that are taken.
static Error gather_replace(Gather *gather, bool *taken, int there)
{
    const bool whole = there == gather->parts->count;
    TRY(gather_clear(gather));
    gather->report->gathered = (Gathered){.of = gather->parts->count};
    gather->report->joined = 0;
    if (whole) TRY(search_init(gather->spec, gather->arena, &gather->whole));
    TRY(gather_all_parts(gather, taken, gather_add_learned));
    if (gather->report->gathered.count != there) return gather_changed(gather);
    if (!whole) return error_none();
    int64_t trials = 0;
    TRY(trials_count(gather->store->database, &trials));
    search_join_end(&gather->whole, trials);
    return gather_put_state(gather, &gather->whole);
}

// The parts that are done; all that are joined must be among them.
static Error gather_choose(const Gather *gather, bool *taken)
{
    for (int i = 0; i < gather->parts->count; i++) {
        const PartReport *part = &gather->parts->part[i];
        taken[i] = part_is_done(part);
        if (taken[i] || !gather->report->gathered.has[i + 1]) continue;
        return error_make(
            ERROR_USER,
            "%.40s was joined and is %.40s now: for %.40s keep all part folders until the last is joined, "
            "because each new part renumbers the trials",
            part->location.name, part->state, gather->spec->method->name);
    }
    return error_none();
}

Error gather_learned(Gather *gather)
{
    const int count = gather->parts->count, before = gather->report->gathered.count;
    bool *taken = ARENA_NEW(gather->arena, bool, count);
    int there = 0;
    if (before == count) return error_none();
    TRY(gather_choose(gather, taken));
    TRY(gather_make_runs(gather));
    TRY(gather_all_parts(gather, taken, gather_examine));
    for (int i = 0; i < count; i++) there += taken[i];
    if (there <= before) return error_none();
    TRY(gather_number_runs(gather));
    TRY(store_begin(gather->store));
    TRY(store_end(gather->store, gather_replace(gather, taken, there)));
    gather->report->joined -= before;
    return error_none();
}
