// The state of a campaign from its database and its lock: a few queries of one row each.
#include "status.h"

#include "../trials/rank.h"
#include "../ground/rows.h"
#include "store.h"
#include "../trials/trial_blocks.h"
#include "../commit/schema.h"

#include <math.h>
#include <string.h>

// Every query here gives one row. Without any batch its cells read as zeros.
typedef void StatusRead(StatusReport *report, const Cursor *row, Arena *arena);

static void status_read_campaign(StatusReport *report, const Cursor *row, Arena *arena)
{
    const char **const texts[] = {&report->experiment, &report->model,    &report->hash,  &report->program,
                                  &report->started,    &report->finished, &report->state, &report->reason};
    const int n_texts = (int)(sizeof texts / sizeof *texts);
    for (int i = 0; i < n_texts; i++) *texts[i] = arena_copy(arena, cell_text(row, i));
    report->seed = cell_integer(row, n_texts);
    report->numerics_version = cell_integer(row, n_texts + 1);
    report->total = cell_integer(row, n_texts + 2);
    report->replicates = cell_integer(row, n_texts + 3);
}

// What stands behind " = " in a line of the canonical text.
static const char *status_value(const char *line, const char *end, Arena *arena)
{
    const char *value = memmem(line, (size_t)(end - line), " = ", 3);
    return value != NULL ? arena_format(arena, "%.*s", (int)(end - value - 3), value + 3) : "";
}

// The method and the objectives are lines of the canonical text: "search.method = cmaes", "objective.maximize.2 = v".
static void status_read_search(StatusReport *report, const Cursor *row, Arena *arena)
{
    static const char method[] = "search.method = ", least[] = "objective.minimize", most[] = "objective.maximize";
    int objectives = 0;
    for (const char *line = cell_text(row, 0), *end; *line != '\0'; line = *end != '\0' ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        const bool maximizes = strncmp(line, most, sizeof most - 1) == 0;
        if (strncmp(line, method, sizeof method - 1) == 0) report->method = status_value(line, end, arena);
        if ((!maximizes && strncmp(line, least, sizeof least - 1) != 0) || objectives == OBJECTIVES_MAX) continue;
        report->objective = arena_format(arena, "%s%s%s%s", report->objective, objectives++ > 0 ? ", " : "",
                                         maximizes ? "maximise " : "", status_value(line, end, arena));
    }
}

static void status_read_batches(StatusReport *report, const Cursor *row, Arena *arena)
{
    report->batches = cell_integer(row, 0);
    report->trials = cell_integer(row, 1);
    report->failures = cell_integer(row, 2);
    report->lanes = cell_integer(row, 3);
    report->devices = arena_copy(arena, cell_text(row, 4));
}

// The rate of the last batches is the rate now.
static void status_read_rate(StatusReport *report, const Cursor *row, Arena *arena)
{
    const double seconds = cell_real(row, 1);
    report->committed = arena_copy(arena, cell_text(row, 2));
    report->rate = seconds > 0 ? cell_real(row, 0) / seconds : (double)NAN;
    report->busy = seconds > 0 ? fmin(1.0, cell_real(row, 3) / seconds) : (double)NAN;
}

static void status_read_tags(StatusReport *report, const Cursor *row, Arena *arena)
{
    report->tags = arena_copy(arena, cell_text(row, 0));
}

static void status_read_note(StatusReport *report, const Cursor *row, Arena *arena)
{
    report->note = arena_copy(arena, cell_text(row, 0));
}

static void status_read_resumed(StatusReport *report, const Cursor *row, Arena *arena)
{
    report->resumed = arena_copy(arena, cell_text(row, 0));
}

static void status_read_shards(StatusReport *report, const Cursor *row, Arena *arena)
{
    (void)arena;
    report->shards = cell_integer(row, 0);
    report->shard_bytes = cell_is_null(row, 1) ? 0 : cell_real(row, 1);
}

static const struct {
    const char *sql;
    StatusRead *read;
} status_queries[] = {
    {"SELECT experiment, model, hash, program_version, started, finished, state, reason, seed, numerics_version,"
     " trials_total, replicates FROM campaign WHERE id = 1",
     status_read_campaign},
    {"SELECT canonical FROM campaign WHERE id = 1", status_read_search},
    {"SELECT count(*), sum(trials), sum(failures), sum(lanes), group_concat(DISTINCT device) FROM batches",
     status_read_batches},
    {"SELECT sum(trials), sum(wall_seconds), max(committed), sum(kernel_seconds) FROM"
     " (SELECT trials, wall_seconds, committed, kernel_seconds FROM batches ORDER BY id DESC LIMIT 32)",
     status_read_rate},
    {"SELECT count(*), sum(bytes) FROM shards", status_read_shards},
    {"SELECT group_concat(tag, ', ') FROM (SELECT tag FROM tags ORDER BY tag)", status_read_tags},
    {"SELECT max(time) FROM events WHERE kind = 'resumed'", status_read_resumed},
    {"SELECT text FROM notes ORDER BY rowid DESC LIMIT 1", status_read_note},
};

static Error status_query(Database *database, int index, StatusReport *report, Arena *arena)
{
    Cursor row = cursor_open(database, status_queries[index].sql);
    if (cursor_next(&row)) status_queries[index].read(report, &row, arena);
    return cursor_close(&row);
}

static void status_count_objectives(const Database *database, StatusReport *report)
{
    while (report->objectives < OBJECTIVES_MAX &&
           database_has(database, trial_blocks_table(database), rows_objective_name((int)report->objectives)))
        report->objectives++;
}

static Error status_read_most(Database *database, StatusReport *report)
{
    return store_integer(database, "SELECT ifnull(trials_most, 0) FROM campaign WHERE trials_total IS NULL", 0,
                         &report->most);
}

static Error status_read_set(Database *database, Arena *arena, StatusReport *report)
{
    Overrides set;
    TRY(overrides_read(database, arena, &set));
    report->overrides = overrides_text(&set, arena);
    return error_none();
}

StatusReport status_unread(const CampaignLocation *location)
{
    return (StatusReport){.location = *location,
                          .best = (double)NAN,
                          .state = "unreadable",
                          .reason = "",
                          .experiment = "",
                          .model = "",
                          .started = "",
                          .finished = "",
                          .hash = "",
                          .program = "",
                          .devices = "",
                          .committed = "",
                          .origin = "",
                          .tags = "",
                          .note = "",
                          .resumed = "",
                          .overrides = "",
                          .method = "",
                          .objective = "",
                          .rate = (double)NAN,
                          .busy = (double)NAN};
}

// Batches are those of the first rung of a race.
static Error status_read_race(Database *database, StatusReport *report)
{
    if (!database_has(database, "trials", "replicates")) return error_none();
    Cursor trials = cursor_open(database, "SELECT sum(replicates), min(replicates) FROM trials");
    if (next_integer(&trials, &report->lanes)) report->replicates_least = cell_integer(&trials, 1);
    return cursor_close(&trials);
}

// In one transaction, so that SQLite takes its locks once.
static Error status_read_all(Database *database, Arena *arena, StatusReport *report)
{
    Error error = store_read_begin(database);
    if (error.kind == OK && !database_has(database, "campaign", NULL))
        error = schema_check(database, database_path(database));
    for (int i = 0; i < (int)(sizeof status_queries / sizeof *status_queries) && error.kind == OK; i++)
        error = status_query(database, i, report, arena);
    status_count_objectives(database, report);
    if (error.kind == OK) error = status_read_race(database, report);
    if (error.kind == OK) error = rank_best(database, &report->best_trial, &report->best);
    if (error.kind == OK) error = status_read_most(database, report);
    if (error.kind == OK) error = status_read_set(database, arena, report);
    if (error.kind == OK) error = timings_read(database, 0, &report->timings);
    if (error.kind == OK) error = store_maximizes(database, &report->maximizes);
    if (error.kind == OK) error = origin_text(database, arena, &report->origin);
    return error;
}

Error status_read_database(const CampaignLocation *location, Arena *arena, StatusReport *report)
{
    Database *database;
    *report = status_unread(location);
    TRY(store_peek(location, arena, &database));
    const Error error = status_read_all(database, arena, report);
    store_leave(database);
    return error;
}

bool status_read_still(const CampaignLocation *location, Arena *arena, DatabaseStamp *stamp, StatusReport *report)
{
    DatabaseStamp after;
    Database *database = NULL;
    const char *path = arena_format(arena, "%s/" CAMPAIGN_DATABASE, location->folder);
    *report = status_unread(location);
    if (!database_stamp(path, stamp)) return false;
    Error error = database_open_still(path, arena, &database);
    if (error.kind == OK) error = status_read_all(database, arena, report);
    (void)database_close(database);
    return error.kind == OK && database_stamp(path, &after) && memcmp(stamp, &after, sizeof after) == 0;
}

void status_copy_texts(StatusReport *report, Arena *arena)
{
    const char **const texts[] = {
        &report->state, &report->reason,  &report->experiment, &report->model,     &report->started,  &report->finished,
        &report->hash,  &report->program, &report->devices,    &report->committed, &report->origin,   &report->tags,
        &report->note,  &report->resumed, &report->overrides,  &report->method,    &report->objective};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) *texts[i] = arena_copy(arena, *texts[i]);
}

Error status_read_lock(Arena *arena, StatusReport *report)
{
    const char *path = arena_format(arena, "%s/" CAMPAIGN_LOCK, report->location.folder);
    TRY(lock_holder(path, report->holder, sizeof report->holder));
    if (strcmp(report->state, "running") == 0 && report->holder[0] == '\0') report->state = "killed";
    return error_none();
}

Error status_read(const CampaignLocation *location, Arena *arena, StatusReport *report)
{
    TRY(status_read_database(location, arena, report));
    return status_read_lock(arena, report);
}

StatusReport status_visible(const StatusReport *report, Arena *arena)
{
    StatusReport visible = *report;
    const char **const texts[] = {&visible.state,     &visible.reason,    &visible.model,   &visible.hash,
                                  &visible.finished,  &visible.devices,   &visible.program, &visible.started,
                                  &visible.committed, &visible.origin,    &visible.tags,    &visible.note,
                                  &visible.resumed,   &visible.overrides, &visible.method,  &visible.objective};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) *texts[i] = text_visible(*texts[i], arena);
    return visible;
}
