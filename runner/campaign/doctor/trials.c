// hopscotch doctor --repair, the rows of trials: a trial is a function of the spec and its id, or, where a search
// learns, of the results before it. So rows that are not what was written are simulated again, and the digest of their
// block says whether the bits are back.
#include "doctor.h"

#include "../batch/flight.h"

#include <string.h>

typedef struct RepairBlock {
    Repair *repair;
    Arena *arena;
    int64_t first, end;         // ids
    int64_t written, strangers; // rows that were not what they should be
    Statement *select, *insert, *select_replicate, *insert_replicate, *expect;
    Flight flight;
    Commit commit;
} RepairBlock;

// ---- one trial ------------------------------------------------------------------------------------------------------

// Writes what is bound, and counts it unless the selected row is already that.
static Error repair_row(Statement *select, Statement *insert, int64_t *written)
{
    const uint64_t wanted = bound_digest(insert);
    bool row = false, more = false;
    TRY(statement_step(select, &row));
    *written += !row || column_digest(select, 0) != wanted;
    if (row) TRY(statement_step(select, &more));
    return statement_step(insert, &more);
}

static Error repair_trial(RepairBlock *block, int64_t row)
{
    const Spec *spec = &block->repair->spec;
    const TrialRows *rows = &block->commit.rows;
    bind_integer(block->select, 1, rows->id[row]);
    rows_bind(spec, rows, row, block->insert);
    TRY(repair_row(block->select, block->insert, &block->written));
    for (int r = 0; spec->replicates.store && r < spec->replicates.count; r++) {
        bind_integer(block->select_replicate, 1, rows->id[row]);
        bind_integer(block->select_replicate, 2, r);
        rows_bind_replicate(spec, rows, row, r, block->insert_replicate);
        TRY(repair_row(block->select_replicate, block->insert_replicate, &block->written));
    }
    return error_none();
}

// ---- a block --------------------------------------------------------------------------------------------------------

static Error repair_simulate(RepairBlock *block)
{
    const Spec *spec = &block->repair->spec;
    Backend *backend = block->repair->device.backend;
    bool none = false;
    if (block->flight.trials.count == 0) return error_none();
    flight_fill(spec, &block->flight, backend_batch(backend, 0));
    TRY(flight_run(spec, backend, &block->flight, 0, NULL));
    flight_collect(spec, &block->flight, backend_batch(backend, 0), &block->commit);
    for (int64_t i = 0; i < block->commit.rows.count; i++) {
        bind_integer(block->expect, 1, block->commit.rows.id[i]);
        TRY(statement_step(block->expect, &none));
        TRY(repair_trial(block, i));
    }
    if (search_learns(spec->method)) TRY(spec->method->tell(&block->repair->search, &block->flight.trials));
    block->flight.trials.count = 0;
    return error_none();
}

// Every id of the block of which there is a trial, up to the last that was told.
static Error repair_each_id(RepairBlock *block, int64_t last)
{
    const Search *search = &block->repair->search;
    Trials *trials = &block->flight.trials;
    for (int64_t id = block->first; id < block->end && id <= last; id++) {
        const int64_t t = trials->count;
        double *parameter = &trials->parameter[t * search->spec->configured.n_parameters];
        if (search->method->trial(search, id, &trials->ordinal[t], parameter).kind != OK) continue;
        trials->id[t] = id;
        trials->search[t] = trials->round[t] = 0;
        if (++trials->count == trials->capacity) TRY(repair_simulate(block));
    }
    return repair_simulate(block);
}

// ---- a search that learns -------------------------------------------------------------------------------------------

static Error repair_stored_results(Repair *repair, const char *sql, Trials *trials, bool *all);
static const char *repair_results_sql(const Repair *repair);

// Results that are stored and were not damaged, or are mended already.
static Error repair_tell_stored(RepairBlock *block, const char *sql)
{
    Repair *repair = block->repair;
    Trials *trials = &block->flight.trials;
    bool all = true;
    TRY(repair_stored_results(repair, sql, trials, &all));
    if (!all)
        return error_make(
            ERROR_MACHINE,
            "trials before %lld are missing, on which those after them depend: nothing was changed; "
            "%s run %.200s --name NEW computes all of them again",
            (long long)block->first, command_program(repair->doctor->arena),
            command_quoted(arena_format(repair->doctor->arena, "%s/resolved.yaml", repair->doctor->place->folder),
                           repair->doctor->arena));
    TRY(repair->spec.method->tell(&repair->search, trials));
    trials->count = 0;
    return error_none();
}

// From where the search is to the end of the block: what stands before it is told as it is stored, and the block's own
// trials are simulated. It starts anew if it is beyond the block already.
static Error repair_learn_again(RepairBlock *block, int64_t last)
{
    Repair *repair = block->repair;
    Trials *trials = &block->flight.trials;
    const char *sql = repair_results_sql(repair);
    if (repair->search.asked > block->first) TRY(search_init(&repair->spec, repair->arena, &repair->search));
    const int64_t end = last + 1 < block->end ? last + 1 : block->end;
    for (int64_t next = repair->search.asked; next < end; next = repair->search.asked) {
        const int64_t most = (next < block->first ? block->first : end) - next;
        bool waiting = false;
        TRY(repair->spec.method->ask(&repair->search, most < trials->capacity ? most : trials->capacity, trials,
                                     &waiting));
        if (trials->count == 0) break;
        TRY(next < block->first ? repair_tell_stored(block, sql) : repair_simulate(block));
    }
    return error_none();
}

// ---- what was not told ----------------------------------------------------------------------------------------------

static Error repair_count_strangers(RepairBlock *block)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(block->repair->store->database,
                         "SELECT count(*) FROM trials WHERE id >= ? AND id < ? AND id NOT IN temp.expected",
                         &statement));
    bind_integer(statement, 1, block->first);
    bind_integer(statement, 2, block->end);
    const Error error = statement_step(statement, &row);
    block->strangers = row ? column_integer(statement, 0) : 0;
    statement_close(statement);
    return error;
}

// Rows of ids that the campaign never had: what a flipped id looks like.
static Error repair_drop_strangers(RepairBlock *block)
{
    static const struct {
        const char *table, *id;
    } of_trials[] = {{"trajectories", "trial"}, {"debug_rows", "trial"}, {"replicates", "trial"}, {"trials", "id"}};
    for (size_t i = 0; i < sizeof of_trials / sizeof *of_trials; i++) {
        const char *id = of_trials[i].id;
        if (strcmp(of_trials[i].table, "replicates") == 0 && !block->repair->spec.replicates.store) continue;
        TRY(database_run(block->repair->store->database,
                         arena_format(block->arena,
                                      "DELETE FROM %s WHERE %s >= %lld AND %s < %lld AND %s NOT IN temp.expected",
                                      of_trials[i].table, id, (long long)block->first, id, (long long)block->end, id)));
    }
    return error_none();
}

// "INSERT INTO ..." as a statement that replaces the row that is there.
static const char *repair_replace_sql(const char *insert, Arena *arena)
{
    return arena_format(arena, "INSERT OR REPLACE%s", insert + strlen("INSERT"));
}

static Error repair_take_block(RepairBlock *block)
{
    Database *database = block->repair->store->database;
    const Spec *spec = &block->repair->spec;
    Arena *arena = block->arena;
    int64_t trials = block->repair->device.lanes / spec->replicates.count;
    if (trials > block->end - block->first) trials = block->end - block->first;
    flight_take(spec, trials, block->arena, &block->flight);
    commit_take(spec, trials, 0, 0, 0, block->arena, &block->commit);
    TRY(database_run(database, "CREATE TEMP TABLE IF NOT EXISTS expected(id INTEGER PRIMARY KEY); "
                               "DELETE FROM temp.expected;"));
    TRY(database_prepare(database, "INSERT INTO temp.expected VALUES(?)", &block->expect));
    TRY(database_prepare(database, "SELECT * FROM trials WHERE id = ?", &block->select));
    TRY(database_prepare(database, repair_replace_sql(rows_insert_sql(spec, arena), arena), &block->insert));
    if (!spec->replicates.store) return error_none();
    TRY(database_prepare(database, repair_replace_sql(rows_insert_replicate_sql(spec, arena), arena),
                         &block->insert_replicate));
    return database_prepare(database, "SELECT * FROM replicates WHERE trial = ? AND replicate = ?",
                            &block->select_replicate);
}

static Error repair_block_rows(RepairBlock *block, int64_t last)
{
    Error error = repair_take_block(block);
    const bool learns = search_learns(block->repair->spec.method);
    if (error.kind == OK) error = learns ? repair_learn_again(block, last) : repair_each_id(block, last);
    statement_close(block->select);
    statement_close(block->insert);
    statement_close(block->select_replicate);
    statement_close(block->insert_replicate);
    statement_close(block->expect);
    if (error.kind == OK) error = repair_count_strangers(block);
    return error.kind == OK ? repair_drop_strangers(block) : error;
}

static Error repair_block_sealed(RepairBlock *block, int64_t index, int64_t last)
{
    Repair *repair = block->repair;
    const bool replicates = repair->spec.replicates.store;
    SealTally before[2], after[2];
    TRY(seal_stored(repair->store->database, "trials", index, &before[0]));
    if (replicates) TRY(seal_stored(repair->store->database, "replicates", index, &before[1]));
    TRY(repair_block_rows(block, last));
    TRY(seal_again(repair->store->database, "trials", index, block->arena, &after[0]));
    if (replicates) TRY(seal_again(repair->store->database, "replicates", index, block->arena, &after[1]));
    const bool proven = before[0].digest == after[0].digest && before[0].rows == after[0].rows &&
                        (!replicates || (before[1].digest == after[1].digest && before[1].rows == after[1].rows));
    if (!proven && block->strangers > 0) { // nothing is dropped on a guess
        return error_make(
            ERROR_MACHINE,
            "trials %lld to %lld: neither the rows nor their digest are those that were written, and %lld "
            "rows have ids that this spec does not give; nothing of them was changed",
            (long long)block->first, (long long)block->end - 1, (long long)block->strangers);
    }
    repair_tell(repair, "trials %lld to %lld: simulated again, %lld rows written anew; %s", (long long)block->first,
                (long long)block->end - 1, (long long)block->written,
                proven ? "their digest is that of what was written" : "their digest was damaged too, and is made anew");
    return error_none();
}

static Error repair_block(Repair *repair, int64_t index, int64_t last)
{
    RepairBlock block = {.repair = repair};
    Arena arena;
    seal_trials(index, &block.first, &block.end);
    TRY(repair_open_device(repair));
    const int64_t bytes = flight_bytes(&repair->spec) + rows_bytes(&repair->spec);
    TRY(arena_create(&arena, (size_t)((block.end - block.first) * bytes) + ((size_t)4 << 20),
                     "trials that are repaired"));
    block.arena = &arena;
    TRY(database_run(repair->store->database, "BEGIN IMMEDIATE"));
    const Error error = store_end(repair->store, repair_block_sealed(&block, index, last));
    arena_destroy(&arena);
    return error;
}

// The last trial that was told: of the batches, or if they are damaged too, the last that there can be.
static Error repair_last_trial(Repair *repair, int64_t *last)
{
    Statement *statement = NULL;
    bool row = false;
    const bool batches = !doctor_damaged(repair->doctor, "batches");
    TRY(database_prepare(repair->store->database,
                         batches ? "SELECT max(last_trial) FROM batches" : "SELECT max(id) FROM trials WHERE id < ?",
                         &statement));
    if (!batches) bind_integer(statement, 1, repair->search.total);
    const Error error = statement_step(statement, &row);
    *last = row && !column_is_null(statement, 0) ? column_integer(statement, 0) : -1;
    statement_close(statement);
    return error;
}

Error repair_trials(Repair *repair)
{
    const SealDamage *damage = &repair->doctor->damage;
    int64_t last = -1, done = -1;
    TRY(repair_last_trial(repair, &last));
    for (int pass = 0; pass < 2; pass++) { // blocks of trials, then those of replicates that were none of them
        const char *table = pass == 0 ? "trials" : "replicates";
        for (int64_t i = 0; i < damage->count; i++) {
            const int64_t block = damage->broken[i].block;
            if (strcmp(damage->broken[i].table, table) != 0 || block == done) continue;
            TRY(repair_block(repair, block, last));
            done = block;
        }
    }
    return error_none();
}

// ---- the search -----------------------------------------------------------------------------------------------------

// "SELECT fitness, survived, objective_1, objective_2 FROM trials WHERE id = ?"
static const char *repair_results_sql(const Repair *repair)
{
    const char *objectives = "";
    for (int i = 0; i < rows_objectives(&repair->spec); i++)
        objectives = arena_format(repair->arena, "%s, %s", objectives, rows_objective_name(i));
    for (int i = 1; i < rows_constraints(&repair->spec); i++)
        objectives = arena_format(repair->arena, "%s, %s", objectives, rows_constraint_name(i).text);
    return arena_format(repair->arena, "SELECT fitness, %s%s FROM trials WHERE id = ?",
                        flight_survived_metric(&repair->spec) >= 0 ? "survived" : "0.0", objectives);
}

// What a search is told of the trials that were asked for, as it is stored. *all: there is a row of each.
static Error repair_stored_results(Repair *repair, const char *sql, Trials *trials, bool *all)
{
    const int objectives = rows_objectives(&repair->spec), constraints = repair->spec.n_constraints;
    Statement *statement = NULL;
    bool row = true, more = false;
    TRY(database_prepare(repair->store->database, sql, &statement));
    Error error = error_none();
    for (int64_t i = 0; i < trials->count && error.kind == OK && row; i++) {
        bind_integer(statement, 1, trials->id[i]);
        error = statement_step(statement, &row);
        if (error.kind != OK || !row) continue;
        trials->fitness[i] = column_real(statement, 0);
        trials->survived[i] = column_real(statement, 1);
        for (int k = 0; k < objectives; k++) trials->objective[i * objectives + k] = column_real(statement, 2 + k);
        for (int k = 0; k < constraints; k++)
            trials->constraint[i * constraints + k] = column_real(statement, 2 + objectives + k);
        error = statement_step(statement, &more);
    }
    statement_close(statement);
    *all = row;
    return error;
}

// Asks for one trial after the other, and tells what is stored of it, until there is no more. The rounds that end are
// inserted if the search gives them away.
static Error repair_tell_again(Repair *repair, Search *search, Arena *arena)
{
    Flight flight;
    bool waiting = true, all = true;
    const char *sql = repair_results_sql(repair);
    flight_take(&repair->spec, 1, arena, &flight);
    flight.trials.count = 1;
    while (all && (flight.trials.count > 0 || waiting)) {
        flight.trials.count = 0;
        TRY(search->method->ask(search, 1, &flight.trials, &waiting));
        TRY(repair_stored_results(repair, sql, &flight.trials, &all));
        if (all && flight.trials.count > 0) TRY(search->method->tell(search, &flight.trials));
        if (search->rounds == NULL) continue;
        TRY(store_insert_rounds(repair->store, search->rounds, search->n_round_fields));
        search->rounds->count = 0;
    }
    return error_none();
}

static Error repair_set_state(Repair *repair, const Search *search)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(repair->store->database,
                         "INSERT INTO searches(id, method, state, stop_reason) VALUES(0, ?, ?, ?) ON CONFLICT(id) DO "
                         "UPDATE SET method = excluded.method, state = excluded.state, previous = NULL, "
                         "stop_reason = excluded.stop_reason",
                         &statement));
    bind_text(statement, 1, repair->spec.method->name);
    bind_blob(statement, 2, search->state, search->state_size);
    bind_text(statement, 3, search->method->stopped(search));
    const Error error = statement_step(statement, &row);
    statement_close(statement);
    return error;
}

// The searches beside the first have a row that their rounds refer to, and no state of their own.
static Error repair_other_searches(Repair *repair)
{
    return database_run(repair->store->database,
                        "DELETE FROM searches WHERE id <> 0 AND id NOT IN (SELECT search FROM rounds); "
                        "INSERT OR IGNORE INTO searches(id, method) SELECT DISTINCT search, '' FROM rounds; "
                        "UPDATE searches SET method = (SELECT method FROM searches WHERE id = 0), state = NULL, "
                        "previous = NULL, stop_reason = NULL WHERE id <> 0");
}

static Error repair_tell_rounds(Repair *repair, Search *search, Arena *arena)
{
    Round round;
    Rounds rounds = {.capacity = 1, .row = &round, .field = ARENA_NEW(arena, double, search->n_round_fields)};
    TRY(database_run(repair->store->database, "DELETE FROM fronts; DELETE FROM rounds"));
    search->rounds = &rounds;
    TRY(repair_tell_again(repair, search, arena));
    search->rounds = NULL;
    repair_tell(repair, "rounds: computed from the trials");
    TRY(repair_seal(repair, "fronts"));
    return repair_seal(repair, "rounds");
}

Error repair_search(Repair *repair)
{
    Search search;
    const bool rounds = doctor_damaged(repair->doctor, "rounds") || doctor_damaged(repair->doctor, "fronts");
    if (!rounds && !doctor_damaged(repair->doctor, "searches")) return error_none();
    TRY(search_init(&repair->spec, repair->arena, &search));
    TRY(rounds && search.n_round_fields > 0 ? repair_tell_rounds(repair, &search, repair->arena)
                                            : repair_tell_again(repair, &search, repair->arena));
    TRY(repair_set_state(repair, &search));
    TRY(repair_other_searches(repair));
    repair_tell(repair, "search: its state was computed from its trials");
    return repair_seal(repair, "searches");
}
