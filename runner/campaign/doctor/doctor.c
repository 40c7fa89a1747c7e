// hopscotch doctor, the checks: whether a campaign's folder has what was written to it. They only read, and don't
// disturb a campaign that runs meanwhile. Each check writes a line: that all is well, or what is wrong.
#include "doctor.h"

#include "../store/trials/trial_blocks.h"
#include "../store/queries.h"
#include "../store/list/integrity.h"
#include "../store/campaign/store.h"
#include "../store/commit/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    DOCTOR_LINES_MAX = 400,
    DOCTOR_REPORTED_MAX = 20, // findings of one check
    DOCTOR_SPEC_BYTES_MAX = RESOLVED_BYTES_MAX
};

static void doctor_line(Doctor *doctor, const char *check, bool finding, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = arena_take(doctor->arena, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    doctor->findings += finding;
    if (doctor->n_lines >= DOCTOR_LINES_MAX) return;
    doctor->lines[doctor->n_lines++] = (DoctorLine){check, finding, text};
}

void doctor_pass(Doctor *doctor, const char *check, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    doctor_line(doctor, check, false, format, arguments);
    va_end(arguments);
}

void doctor_find(Doctor *doctor, const char *check, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    doctor_line(doctor, check, true, format, arguments);
    va_end(arguments);
}

bool doctor_damaged(const Doctor *doctor, const char *table)
{
    for (int64_t i = 0; i < doctor->damage.count; i++) {
        if (strcmp(doctor->damage.broken[i].table, table) == 0) return true;
    }
    return false;
}

static const char *doctor_file(const Doctor *doctor, const char *name)
{
    return arena_format(doctor->arena, "%s/%s", doctor->location->folder, name);
}

// ---- the database ---------------------------------------------------------------------------------------------------

// Commands that move the database away, remove its journal, which SQLite would apply to a new one, and run the spec.
const char *doctor_how_again(const CampaignLocation *location, Arena *arena)
{
    const char *database = arena_format(arena, "%s/" CAMPAIGN_DATABASE, location->folder);
    const char *aside = arena_format(arena, "%s/damaged.db", location->folder);
    const char *journal = arena_format(arena, "%s-wal", database);
    const char *spec = arena_format(arena, "%s/resolved.yaml", location->folder);
    return arena_format(arena, "mv -- %s %s && rm -f -- %s && %s run --name %s%s -- %s",
                        command_quoted(database, arena), command_quoted(aside, arena), command_quoted(journal, arena),
                        command_program(arena), location->name, command_results_option(location->results, arena),
                        command_quoted(spec, arena));
}

// Advice for a database that SQLite can't read: compute it again, to the same bits.
static void doctor_advise_again(Doctor *doctor)
{
    doctor_find(doctor, "database", "to have it computed again, to the same bits: %s",
                doctor_how_again(doctor->location, doctor->arena));
}

static void doctor_check_database(Doctor *doctor)
{
    const char *path = doctor_file(doctor, CAMPAIGN_DATABASE);
    Error error = file_exists(path) ? database_open(path, DATABASE_READ, &doctor->database)
                                    : error_make(ERROR_USER, "%.300s is missing", path);
    if (error.kind == OK) error = schema_version(doctor->database, &doctor->schema);
    if (error.kind == OK) error = schema_check(doctor->database, path);
    if (error.kind == OK) error = integrity_begin(doctor->database, &doctor->version);
    if (error.kind == OK) error = trial_blocks_show(doctor->database);
    if (error.kind == OK) {
        doctor_pass(doctor, "database", "schema version %lld", (long long)doctor->schema);
        return;
    }
    doctor_find(doctor, "database", "%s", error.text);
    if (doctor->schema == 0 || schema_is_known(doctor->schema)) doctor_advise_again(doctor);
    (void)database_close(doctor->database); // a reader has nothing to lose
    doctor->database = NULL;
}

// Writes a line for each finding except "ok". The number of findings.
static int doctor_report_findings(Doctor *doctor, const char *check, Cursor findings)
{
    const char *text;
    int count = 0;
    while (next_text(&findings, &text)) {
        if (strcmp(text, "ok") != 0 && count++ < DOCTOR_REPORTED_MAX) doctor_find(doctor, check, "%s", text);
    }
    const Error error = cursor_close(&findings);
    if (error.kind != OK && ++count > 0) doctor_find(doctor, check, "%s", error.text);
    return count;
}

// If the fast check fails, SQLite's integrity_check decides.
static void doctor_check_structure(Doctor *doctor)
{
    if (!integrity_is_sound(doctor->database, doctor->arena))
        doctor->structure_bad = doctor_report_findings(doctor, "structure", integrity_findings(doctor->database)) > 0;
    if (!doctor->structure_bad) doctor_pass(doctor, "structure", "sound by SQLite's integrity_check");
    const int count = doctor_report_findings(doctor, "references", integrity_references(doctor->database));
    if (count == 0) doctor_pass(doctor, "references", "every row that another row refers to exists");
}

// ---- rows against their digests -------------------------------------------------------------------------------------

static void doctor_report_broken(Doctor *doctor, const SealBroken *broken)
{
    int64_t first, end;
    seal_trials(broken->range, &first, &end);
    const bool of_trials = strcmp(broken->table, "trials") == 0 || strcmp(broken->table, "replicates") == 0;
    if (broken->unreadable != NULL)
        doctor_find(doctor, "rows", "table %s can't be read: %s", broken->table, broken->unreadable);
    else if (strcmp(broken->table, "sqlite_schema") == 0)
        doctor_find(doctor, "rows", "the declarations of tables differ from what was written");
    else if (of_trials && end == 0)
        doctor_find(doctor, "rows", "table %s: there is a digest of range %lld, in which no trial can be",
                    broken->table, (long long)broken->range);
    else if (strcmp(broken->table, SEAL_ALL_TRIALS) == 0)
        doctor_find(doctor, "rows",
                    "table trials: kept rows are missing or were added, and their digests too; it is not known which: "
                    "restore " CAMPAIGN_DATABASE " from a copy, or run the spec again under a "
                    "new name");
    else if (broken->lost && strcmp(broken->table, "trials") == 0)
        doctor_find(doctor, "rows",
                    "table trials: rows are missing of batches that were committed with trials %lld to %lld, and their "
                    "digests with them; --repair simulates them again",
                    (long long)first, (long long)end - 1);
    else if (broken->lost)
        doctor_find(doctor, "rows",
                    "table %s: rows of trials %lld to %lld are missing, and their digests with them; --repair "
                    "simulates them again",
                    broken->table, (long long)first, (long long)end - 1);
    else if (of_trials)
        doctor_find(doctor, "rows", "table %s: the rows of trials %lld to %lld differ from what was written",
                    broken->table, (long long)first, (long long)end - 1);
    else
        doctor_find(doctor, "rows", "table %s: its rows differ from what was written", broken->table);
}

static void doctor_check_rows(Doctor *doctor)
{
    const Error error = seal_check(doctor->database, doctor->arena, &doctor->damage);
    if (error.kind != OK) doctor_find(doctor, "rows", "%s", error.text);
    for (int64_t i = 0; i < doctor->damage.count && i < DOCTOR_REPORTED_MAX; i++)
        doctor_report_broken(doctor, &doctor->damage.broken[i]);
    if (doctor->damage.count > DOCTOR_REPORTED_MAX)
        doctor_find(doctor, "rows", "and %lld more ranges", (long long)doctor->damage.count - DOCTOR_REPORTED_MAX);
    if (error.kind == OK && doctor->damage.count == 0) doctor_pass(doctor, "rows", "every row is as it was written");
}

// ---- the spec -------------------------------------------------------------------------------------------------------

static void doctor_compare_file(Doctor *doctor, const char *name, const char *stored)
{
    Bytes file;
    const Error error = file_read_stored(doctor_file(doctor, name), DOCTOR_SPEC_BYTES_MAX, doctor->arena, &file);
    const bool same = error.kind == OK && file.size == strlen(stored) && memcmp(file.data, stored, file.size) == 0;
    if (error.kind != OK)
        doctor_find(doctor, "spec", "%s", error.text);
    else if (same)
        doctor_pass(doctor, "spec", "%s is as it was written", name);
    else if (doctor->holder[0] != '\0')
        doctor_pass(doctor, "spec", "%s is not yet the text that " CAMPAIGN_DATABASE " holds: a run is writing", name);
    else
        doctor_find(doctor, "spec", "%s is not the text that " CAMPAIGN_DATABASE " holds", name);
}

static void doctor_read_spec(Doctor *doctor, const char *resolved, const char *canonical, const char *hash)
{
    Diagnostics *diagnostics = diagnostics_new(doctor->arena);
    const Error error =
        spec_parse(doctor_file(doctor, "resolved.yaml"), resolved, NULL, 0, doctor->arena, diagnostics, &doctor->spec);
    if (error.kind != OK)
        doctor_find(doctor, "spec", "the spec in " CAMPAIGN_DATABASE " can't be read: %s", error.text);
    else if (strcmp(doctor->spec.hash.hex, hash) != 0 || strcmp(doctor->spec.canonical, canonical) != 0)
        doctor_find(doctor, "spec", "the spec in " CAMPAIGN_DATABASE " has the hash %.12s, but %.12s is written there",
                    doctor->spec.hash.hex, hash);
    else
        doctor->spec_ok = true;
    if (doctor->spec_ok) doctor_pass(doctor, "spec", "%s, hash %.12s", doctor->spec.experiment, hash);
}

static void doctor_check_spec(Doctor *doctor)
{
    CampaignRow row;
    bool found = false;
    const Error error = campaign_row_read(doctor->database, doctor->arena, &row, &found);
    if (error.kind != OK || !found) {
        doctor_find(doctor, "spec", "%s", error.kind != OK ? error.text : "the table campaign is empty");
        return;
    }
    doctor_read_spec(doctor, row.resolved, row.canonical, row.hash);
    doctor_compare_file(doctor, "spec.yaml", row.given);
    doctor_compare_file(doctor, "resolved.yaml", row.resolved);
}

// ---- the catalogue --------------------------------------------------------------------------------------------------

// A campaign may have changed, or been renamed, since the catalogue was written: that is not damage.
static void doctor_check_catalogue(Doctor *doctor)
{
    const char *difference;
    bool behind;
    const Error error = catalogue_compare(doctor->location, doctor->arena, &difference, &behind);
    if (error.kind != OK || (difference[0] != '\0' && !behind))
        doctor_find(doctor, "catalogue", "%s", error.kind != OK ? error.text : difference);
    else if (behind)
        doctor_pass(doctor, "catalogue", "%s: the next list renews it", difference);
    else
        doctor_pass(doctor, "catalogue", CATALOGUE_DATABASE " says the same");
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static void doctor_check_lock(Doctor *doctor)
{
    Error error = error_none();
    if (!doctor->locked) error = lock_holder(doctor_file(doctor, CAMPAIGN_LOCK), doctor->holder, sizeof doctor->holder);
    if (error.kind != OK)
        doctor_find(doctor, "lock", "%s", error.text);
    else if (doctor->holder[0] != '\0')
        doctor_pass(doctor, "lock", "held by %s: files that it is writing are not checked", doctor->holder);
    else
        doctor_pass(doctor, "lock", "free");
}

static void doctor_look(const CampaignLocation *location, bool locked, Arena *arena, Doctor *doctor)
{
    static void (*const of_database[])(Doctor *) = {doctor_check_structure, doctor_check_rows,
                                                    doctor_check_spec,      doctor_check_kept,
                                                    doctor_check_shards,    doctor_check_catalogue};
    *doctor = (Doctor){.location = location,
                       .arena = arena,
                       .locked = locked,
                       .lines = ARENA_NEW(arena, DoctorLine, DOCTOR_LINES_MAX)};
    doctor_check_lock(doctor);
    doctor_check_database(doctor);
    for (size_t i = 0; doctor->database != NULL && i < sizeof of_database / sizeof *of_database; i++)
        of_database[i](doctor);
    doctor_check_files(doctor);
}

// Whether another process changed the campaign meanwhile, so that files and rows were read at different moments.
// SQLite's data_version changes when another connection has committed, but not within a transaction.
static bool doctor_was_disturbed(const Doctor *doctor)
{
    char holder[sizeof doctor->holder] = "";
    int64_t now = 0;
    const Error held = lock_holder(doctor_file(doctor, CAMPAIGN_LOCK), holder, sizeof holder);
    if (held.kind == OK && !doctor->locked && strcmp(holder, doctor->holder) != 0) return true;
    if (doctor->database == NULL) return false;
    if (store_read_end(doctor->database, error_none()).kind != OK) return false;
    if (integrity_version(doctor->database, &now).kind != OK) return false;
    return now != doctor->version || database_check_path(doctor->database).kind != OK;
}

// If another process may have caused a finding by its work, all checks are run again a little later.
static Error doctor_examine_as(const CampaignLocation *location, bool locked, Arena *arena, Doctor *doctor)
{
    enum { DOCTOR_LOOKS = 3 };
    const size_t used = arena->used;
    bool was_there = false, disturbed = true;
    for (int looks = 0; looks < DOCTOR_LOOKS && disturbed; looks++) {
        if (looks > 0) nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        arena_rewind(arena, used);
        doctor_look(location, locked, arena, doctor);
        was_there = was_there || doctor->database != NULL;
        disturbed = doctor->findings > 0 && doctor_was_disturbed(doctor);
        (void)database_close(doctor->database); // a reader has nothing to lose
        doctor->database = NULL;
    }
    const char *path = doctor_file(doctor, CAMPAIGN_DATABASE);
    return was_there && file_missing(path) ? campaign_is_gone(path) : error_none();
}

Error doctor_examine(const CampaignLocation *location, Arena *arena, Doctor *doctor)
{
    return doctor_examine_as(location, false, arena, doctor);
}

Error doctor_examine_locked(const CampaignLocation *location, Arena *arena, Doctor *doctor)
{
    return doctor_examine_as(location, true, arena, doctor);
}
