// hopscotch doctor --repair. Each step needs those before it: the structure of the database, the campaign's row,
// trials, the search, rows of arrays, arrays, files, the catalogue. Times, events and notes can't be computed again:
// the repair keeps them as they are and says so.
#include "doctor.h"

#include "../store/trials/best_rows.h"
#include "../store/queries.h"
#include "../store/list/integrity.h"
#include "../store/ground/rows.h"
#include "../store/campaign/store.h"
#include "../store/commit/schema.h"
#include "../store/trials/trial_blocks.h"

#include <stdarg.h>
#include <string.h>

// ---- shared by the steps --------------------------------------------------------------------------------------------

void repair_report(const Repair *repair, const char *format, ...)
{
    va_list arguments;
    if (repair->messages == NULL) return;
    va_start(arguments, format);
    vfprintf(repair->messages, format, arguments);
    va_end(arguments);
    fputc('\n', repair->messages);
}

Error repair_open_device(Repair *repair)
{
    ProgramNoted noted;
    if (repair->device_open) return error_none();
    if (repair->spec.model->by_hand)
        return error_make(
            ERROR_USER, "people measured what is damaged, and no repair can measure again: the table `asked` has what "
                        "they told; nothing was changed");
    if (repair->spec.model->runs_program) {
        TRY(program_noted(repair->store->database, repair->arena, &noted));
        if (repair->options.backend.program.folder == NULL) repair->options.backend.program.folder = noted.folder;
    }
    TRY(device_open(&repair->spec, &repair->options, repair->arena, &repair->device));
    repair->device_open = true;
    return error_none();
}

Error repair_seal(Repair *repair, const char *table)
{
    SealTally now;
    return seal_again(repair->store->database, table, 0, repair->arena, &now);
}

static const char *repair_file(const Repair *repair, const char *name)
{
    return arena_format(repair->arena, "%s/%s", repair->doctor->location->folder, name);
}

// ---- the structure of the database ----------------------------------------------------------------------------------

static Error repair_structure(const Repair *repair, Database *database)
{
    const char *by = NULL;
    if (!repair->doctor->structure_bad) return error_none();
    integrity_mend(database, &by);
    if (by != NULL) repair_report(repair, "structure: sound after %s", by);
    if (by != NULL) return error_none();
    const CampaignLocation *location = repair->doctor->location;
    repair_report(repair, "database: to have it computed again, to the same bits: %s",
                  doctor_how_again(location, repair->doctor->arena));
    return error_make(ERROR_MACHINE, "%.300s/" CAMPAIGN_DATABASE ": its structure is beyond repair", location->folder);
}

// ---- the campaign's own row -----------------------------------------------------------------------------------------

// The spec from the files beside the database.
static Error repair_read_files(Repair *repair, Spec *spec, const char **given)
{
    Diagnostics *diagnostics = diagnostics_new(repair->arena);
    const char *path = repair_file(repair, "resolved.yaml");
    Bytes text, resolved;
    TRY(file_read_stored(repair_file(repair, "spec.yaml"), (size_t)4 << 20, repair->arena, &text));
    TRY(file_read_stored(path, RESOLVED_BYTES_MAX, repair->arena, &resolved));
    *given = (const char *)text.data;
    return spec_parse(path, (const char *)resolved.data, NULL, 0, repair->arena, diagnostics, spec);
}

// Restores the row from the files, unless the database has a sound spec and the files have none or another one.
static Error repair_campaign_row(Repair *repair, Database *database)
{
    const Doctor *doctor = repair->doctor;
    const char *given = NULL;
    SealTally now;
    Spec spec;
    if (doctor->spec_ok && !doctor_damaged(doctor, "campaign")) return error_none();
    const Error error = repair_read_files(repair, &spec, &given);
    const bool another = doctor->spec_ok && strcmp(spec.hash.hex, doctor->spec.hash.hex) != 0;
    if (error.kind != OK && !doctor->spec_ok)
        return error_make(ERROR_MACHINE, "neither " CAMPAIGN_DATABASE " nor the files beside it hold a spec: %.300s",
                          error.text);
    if (error.kind == OK && !another) TRY(campaign_row_restore(database, doctor->location->name, &spec, given));
    repair_report(repair, "campaign: the spec is that of %s; times, host and versions stay as they are",
                  error.kind == OK && !another ? "the files" : CAMPAIGN_DATABASE);
    return seal_again(database, "campaign", 0, repair->arena, &now);
}

static Error repair_read_spec(Repair *repair, Database *database)
{
    CampaignRow row;
    bool found = false;
    TRY(campaign_row_read(database, repair->arena, &row, &found));
    Error error = spec_parse(repair_file(repair, "resolved.yaml"), row.resolved, NULL, 0, repair->arena,
                             diagnostics_new(repair->arena), &repair->spec);
    if (error.kind == OK) error = part_read(database, &repair->spec.part);
    if (error.kind == OK) repair->spec.text = row.given;
    if (error.kind == OK)
        error = file_write(repair->doctor->location->folder, "spec.yaml", row.given, strlen(row.given));
    if (error.kind == OK)
        error = file_write(repair->doctor->location->folder, "resolved.yaml", row.resolved, strlen(row.resolved));
    return error;
}

// All repairs need the segments, and only the database has them.
static Error repair_check_segments(const Repair *repair)
{
    if (!doctor_damaged(repair->doctor, "segments")) return error_none();
    return error_make(
        ERROR_MACHINE,
        "the specs that %.128s was extended by (table segments) differ from what was written, and can't be "
        "computed again: restore " CAMPAIGN_DATABASE " from a copy, or run the last spec under a new name",
        repair->doctor->location->name);
}

// Blocks that are not as they were written are forgotten: their rows are then missing, and simulated again like others.
static Error repair_forget_blocks(const Repair *repair, Database *database)
{
    int64_t count = 0;
    TRY(repair_structure(repair, database)); // then an error is none of the records
    TRY(store_compare_numerics(database, repair->doctor->location->name));
    if (repair->doctor->spec_ok && doctor_damaged(repair->doctor, "block_words"))
        TRY(trial_blocks_fill(database, &repair->doctor->spec, repair->arena));
    TRY(seal_keep(database, repair->arena));
    TRY(trial_blocks_forget(database, &count));
    if (count > 0)
        repair_report(repair, "blocks: %lld of them are missing or damaged; their trials are simulated again",
                      (long long)count);
    return error_none();
}

// *found: there are blocks.
static Error repair_blocks(const Repair *repair, bool *found)
{
    Database *database = NULL;
    *found = false;
    TRY(campaign_open_database(repair_file(repair, CAMPAIGN_DATABASE), &database));
    Error error = store_share(database, repair->options.shared_fs);
    *found = error.kind == OK && trial_blocks_exist(database);
    if (*found) error = repair_forget_blocks(repair, database);
    const Error closing = database_close(database);
    return error.kind != OK ? error : closing;
}

// Repairs what store_open needs.
static Error repair_before_opening(Repair *repair)
{
    Database *database = NULL;
    TRY(campaign_open_database(repair_file(repair, CAMPAIGN_DATABASE), &database));
    Error error = store_share(database, repair->options.shared_fs);
    if (error.kind == OK) error = integrity_ignore_references(database);
    if (error.kind == OK) error = repair_structure(repair, database);
    if (error.kind == OK) error = repair_campaign_row(repair, database);
    if (error.kind == OK) error = repair_read_spec(repair, database);
    const Error closing = database_close(database);
    return error.kind != OK ? error : closing;
}

// ---- tables that can't be computed again ----------------------------------------------------------------------------

static bool repair_is_computed(const char *table)
{
    static const char *const computed[] = {"trials",   "replicates", "searches",     "rounds",
                                           "fronts",   "gradients",  "trajectories", "debug_rows",
                                           "campaign", "blocks",     "block_words",  "best"};
    for (size_t i = 0; i < sizeof computed / sizeof *computed; i++) {
        if (strcmp(computed[i], table) == 0) return true;
    }
    return false;
}

// The digests may be right again, now that trials are repaired.
static Error repair_sum(Repair *repair)
{
    bool same = false;
    TRY(seal_compare_sum(repair->store->database, &same));
    if (same) return error_none();
    repair_report(repair, "trials: which rows are missing is not known; the others stay as they are");
    return seal_keep_sum(repair->store->database);
}

static Error repair_keep_rest(Repair *repair)
{
    const SealDamage *damage = &repair->doctor->damage;
    SealTally now;
    for (int64_t i = 0; i < damage->count; i++) {
        if (strcmp(damage->broken[i].table, SEAL_ALL_TRIALS) == 0) {
            TRY(repair_sum(repair));
            continue;
        }
        const char *table = damage->broken[i].table;
        if (repair_is_computed(table) || strcmp(table, "sqlite_schema") == 0) continue;
        TRY(seal_again(repair->store->database, table, damage->broken[i].range, repair->arena, &now));
        if (strcmp(table, "shards") != 0)
            repair_report(repair, "%s: the damage can't be repaired; its rows stay as they are", table);
    }
    return error_none();
}

// ---- all of it ------------------------------------------------------------------------------------------------------

// The tables of blocks, when their trials are repaired.
static Error repair_tables_of_blocks(Repair *repair)
{
    static const char *const tables[] = {"blocks", "block_words", "best"};
    Store *store = repair->store;
    if (store->blocks == NULL) return error_none();
    TRY(store_begin(store));
    Error error = trial_blocks_show_to_run(store->database);
    if (error.kind == OK) error = best_rows_again(store);
    for (int i = 0; i < 3 && error.kind == OK; i++) error = repair_seal(repair, tables[i]);
    TRY(store_end(store, error));
    return trial_blocks_clear(store->database);
}

static Error repair_rows(Repair *repair)
{
    bool found = false;
    TRY(search_init(&repair->spec, repair->arena, &repair->search));
    TRY(repair_trials(repair));
    TRY(repair_tables_of_blocks(repair));
    TRY(repair_search(repair));
    TRY(store_search_state(repair->store, &repair->search, &found));
    if (found) TRY(repair->search.method->restore(&repair->search));
    if (doctor_damaged(repair->doctor, "batches") && !kept_partly(repair->store->database))
        TRY(batches_restore(repair->store->database, &repair->spec, repair->arena));
    TRY(repair_array_rows(repair));
    TRY(repair_shards(repair));
    return repair_keep_rest(repair);
}

static Error repair_store(Repair *repair)
{
    StoreRecovery recovery;
    TRY(repair_rows(repair));
    TRY(store_recover(repair->store, &recovery, repair->messages));
    if (strcmp(repair->store->state, "done") == 0 && repair->store->blocks == NULL)
        TRY(store_index_fitness(repair->store, repair->arena));
    return store_event(repair->store, "repaired", "%d findings", repair->doctor->findings);
}

static Error repair_locked(Repair *repair)
{
    const CampaignLocation *location = repair->doctor->location;
    TRY(repair_check_segments(repair));
    TRY(repair_before_opening(repair));
    TRY(store_open(location->folder, location->name, &repair->spec, &repair->options, repair->arena, &repair->store));
    repair->spec = *repair->store->spec;                                // with the specs that it was extended by
    Error error = integrity_ignore_references(repair->store->database); // the repairs restore them
    if (error.kind == OK) error = repair_store(repair);
    const Error closing = store_close(repair->store);
    if (repair->device_open) device_close(&repair->device);
    catalogue_note(location->results, repair->options.shared_fs, location->name, repair->arena);
    return error.kind != OK ? error : closing;
}

Error doctor_repair(const Doctor *doctor, const BackendOptions *backend, bool shared_fs, FILE *messages)
{
    Repair repair = {.doctor = doctor,
                     .arena = doctor->arena,
                     .options = {.results = doctor->location->results,
                                 .name = doctor->location->name,
                                 .backend = *backend,
                                 .resume_only = true,
                                 .shared_fs = shared_fs,
                                 .progress = PROGRESS_NONE,
                                 .messages = messages},
                     .messages = messages};
    Lock lock = {.descriptor = -1};
    Doctor now;
    if (!file_exists(repair_file(&repair, CAMPAIGN_DATABASE)) || !schema_is_known(doctor->schema)) {
        return error_make(ERROR_MACHINE, "%.300s/" CAMPAIGN_DATABASE " can't be read, so it can't be repaired",
                          doctor->location->folder);
    }
    TRY(campaign_lock(doctor->location->folder, doctor->location->name, doctor->arena, &lock));
    Error error =
        doctor_examine_locked(doctor->location, doctor->arena, &now); // others may have worked there meanwhile
    repair.doctor = &now;
    bool blocks = false;
    if (error.kind == OK && now.findings > 0) error = repair_blocks(&repair, &blocks);
    if (error.kind == OK && blocks) error = doctor_examine_locked(doctor->location, doctor->arena, &now);
    if (error.kind == OK && now.findings > 0) error = repair_locked(&repair);
    lock_release(&lock);
    return error;
}
