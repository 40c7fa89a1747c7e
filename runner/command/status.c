// hopscotch status: the campaigns under a results root, or one of them closely.
#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// ---- searches that learn --------------------------------------------------------------------------------------------

// One row a search: its last round, and why it ended if it did; the best first. Of several objectives it has a front in
// the place of a step size. Columns of a table whose numbers are whole, then those that are not, then the ends.
enum { STATUS_COLUMNS_MAX = 9 };
typedef struct StatusSearches {
    const char *sql;
    int whole, columns;
    const char *names[STATUS_COLUMNS_MAX];
} StatusSearches;

#define STATUS_SEARCHES(columns, from, order)                                                                          \
    "SELECT r.search, r.round + 1, r.evaluations, r.population, " columns ","                                          \
    " (SELECT count(*) FROM rounds s WHERE s.search = r.search AND s.stop IS NOT NULL), ifnull(r.stop, '') FROM " from \
    " WHERE r.round = (SELECT max(round) FROM rounds m WHERE m.search = r.search) ORDER BY " order                     \
    ", r.search LIMIT ?"

static const StatusSearches status_searches_one = {
    STATUS_SEARCHES("r.sigma, r.condition, r.best", "rounds r", "r.best"),
    4,
    9,
    {"search", "generations", "evaluations", "population", "sigma", "condition", "best", "ends", "last end"}};
static const StatusSearches status_searches_several = {
    STATUS_SEARCHES("f.front, f.hypervolume", "rounds r JOIN fronts f USING(search, round)", "f.hypervolume DESC"),
    5,
    8,
    {"search", "generations", "evaluations", "population", "front", "hypervolume", "ends", "last end"}};

// Of a fitness that is maximised.
static const StatusSearches status_searches_greatest = {
    STATUS_SEARCHES("r.sigma, r.condition, r.best", "rounds r", "r.best DESC"),
    4,
    9,
    {"search", "generations", "evaluations", "population", "sigma", "condition", "best", "ends", "last end"}};

// In the order of their points, with the point behind the number.
static const StatusSearches status_searches_outer = {
    STATUS_SEARCHES("r.sigma, r.condition, r.best", "rounds r", "r.search"),
    4,
    9,
    {"search", "generations", "evaluations", "population", "sigma", "condition", "best", "ends", "last end"}};

#undef STATUS_SEARCHES

// Parameters of an outer grid, and what searches have for them.
enum { STATUS_OUTER_MAX = 16 };
typedef struct StatusOuter {
    const char *names[STATUS_OUTER_MAX];
    int count;
    Statement *values;
} StatusOuter;

static Error status_read_outer(Database *database, Arena *arena, StatusOuter *outer)
{
    Statement *statement = NULL;
    int64_t tables = 0;
    bool row = false;
    TRY(store_integer(database, "SELECT count(*) FROM sqlite_schema WHERE name = 'outer_points'", 0, &tables));
    if (tables == 0) return error_none();
    TRY(database_prepare(database, "SELECT DISTINCT parameter FROM outer_points ORDER BY parameter LIMIT ?",
                         &statement));
    bind_integer(statement, 1, STATUS_OUTER_MAX);
    Error error = statement_step(statement, &row);
    for (; error.kind == OK && row; error = statement_step(statement, &row))
        outer->names[outer->count++] = arena_copy(arena, column_text(statement, 0));
    statement_close(statement);
    if (error.kind != OK || outer->count == 0) return error;
    return database_prepare(database, "SELECT value FROM outer_points WHERE search = ? AND parameter = ?",
                            &outer->values);
}

// NaN if it is not known.
static Error status_outer_value(const StatusOuter *outer, int64_t search, int index, double *value)
{
    bool row = false;
    bind_integer(outer->values, 1, search);
    bind_text(outer->values, 2, outer->names[index]);
    TRY(statement_step(outer->values, &row));
    *value = row ? column_real(outer->values, 0) : (double)NAN;
    return row ? statement_step(outer->values, &row) : error_none(); // to its end, which resets it
}

// Schemas before 6 have no fronts.
static Error status_choose(Database *database, const StatusOuter *outer, const StatusSearches **searches)
{
    bool exist = false, maximizes = false;
    int64_t rows = 0;
    TRY(fronts_exist(database, &exist));
    if (exist) TRY(store_integer(database, "SELECT count(*) FROM (SELECT 1 FROM fronts LIMIT 1)", 0, &rows));
    TRY(store_maximizes(database, &maximizes));
    *searches = rows > 0           ? &status_searches_several
                : outer->count > 0 ? &status_searches_outer
                : maximizes        ? &status_searches_greatest
                                   : &status_searches_one;
    return error_none();
}

static Error status_open(const CampaignPlace *place, Arena *arena, Database **database, bool *rounds)
{
    Statement *statement = NULL;
    TRY(database_open(arena_format(arena, "%s/" CAMPAIGN_DATABASE, place->folder), DATABASE_READ, database));
    TRY(database_prepare(
        *database, "SELECT 1 FROM pragma_table_info('rounds') WHERE name = 'stop' AND EXISTS (SELECT 1 FROM rounds)",
        &statement)); // schemas before 4 have no such column
    const Error error = statement_step(statement, rounds);
    statement_close(statement);
    return error;
}

static Error status_search_row(const StatusSearches *searches, const StatusOuter *outer, Statement *row, Table *table,
                               Arena *arena)
{
    const int last = searches->columns - 1;
    for (int i = 0; i < last; i++) {
        if (i < searches->whole || i == last - 1)
            table_integer(table, column_integer(row, i));
        else
            table_number(table, column_real(row, i));
        for (int k = 0; i == 0 && k < outer->count; k++) {
            double value;
            TRY(status_outer_value(outer, column_integer(row, 0), k, &value));
            table_number(table, value);
        }
    }
    table_text(table, text_visible(column_text(row, last), arena));
    return error_none();
}

static Error status_print_searches(const StatusSearches *searches, const StatusOuter *outer, Database *database,
                                   FILE *out, Arena *arena)
{
    enum { SHOWN = 20 };
    const char *names[STATUS_COLUMNS_MAX + STATUS_OUTER_MAX] = {searches->names[0]};
    Statement *statement = NULL;
    bool row = false;
    for (int i = 0; i < outer->count; i++) names[1 + i] = text_visible(outer->names[i], arena);
    for (int i = 1; i < searches->columns; i++) names[outer->count + i] = searches->names[i];
    TRY(database_prepare(database, searches->sql, &statement));
    bind_integer(statement, 1, SHOWN);
    fputc('\n', out);
    Table *table = table_start(out, TABLE_TEXT, searches->columns + outer->count, names);
    Error error = statement_step(statement, &row);
    while (error.kind == OK && row) {
        if (table != NULL) error = status_search_row(searches, outer, statement, table, arena);
        if (error.kind == OK) error = statement_step(statement, &row);
    }
    statement_close(statement);
    const Error finished = table_finish(table);
    return error.kind == OK ? finished : error;
}

static Error status_json_search(const StatusSearches *searches, const StatusOuter *outer, Statement *row, Json *json)
{
    const int last = searches->columns - 1;
    json_object(json, NULL);
    for (int i = 0; i < last; i++) {
        if (i < searches->whole || i == last - 1)
            json_integer(json, searches->names[i], column_integer(row, i));
        else
            json_number(json, searches->names[i], column_real(row, i));
    }
    json_text(json, "stop", column_text(row, last));
    if (outer->count > 0) json_object(json, "outer");
    for (int i = 0; i < outer->count; i++) {
        double value;
        TRY(status_outer_value(outer, column_integer(row, 0), i, &value));
        json_number(json, outer->names[i], value);
    }
    if (outer->count > 0) json_close(json, '}');
    json_close(json, '}');
    return error_none();
}

static Error status_json_searches(const StatusSearches *searches, const StatusOuter *outer, Database *database,
                                  Json *json)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(database, searches->sql, &statement));
    bind_integer(statement, 1, -1);
    json_array(json, "searches");
    Error error = statement_step(statement, &row);
    while (error.kind == OK && row) {
        error = status_json_search(searches, outer, statement, json);
        if (error.kind == OK) error = statement_step(statement, &row);
    }
    json_close(json, ']');
    statement_close(statement);
    return error;
}

// Of a campaign whose method has rounds; json: as a member of the object that is open.
static Error status_searches(const CampaignPlace *place, FILE *out, Json *json, Arena *arena)
{
    Database *database = NULL;
    bool rounds = false;
    const StatusSearches *searches = NULL;
    StatusOuter outer = {.count = 0};
    Error error = status_open(place, arena, &database, &rounds);
    if (error.kind == OK && rounds) error = status_read_outer(database, arena, &outer);
    if (error.kind == OK && rounds) error = status_choose(database, &outer, &searches);
    if (error.kind == OK && rounds)
        error = json != NULL ? status_json_searches(searches, &outer, database, json)
                             : status_print_searches(searches, &outer, database, out, arena);
    statement_close(outer.values);
    if (database != NULL) database_close(database);
    return error;
}

// ---- printing -------------------------------------------------------------------------------------------------------

static bool status_can_resume(const StatusReport *report)
{
    return report->holder[0] == '\0' && strcmp(report->state, "done") != 0;
}

// "1,234 of 11,660 trials, 10.6 %" ("of at most", "so far"), and while somebody runs it the rate and what is left.
static void status_print_progress(const StatusReport *report, FILE *out)
{
    fprintf(out, "\n%-11s %s", "trials", text_count(report->trials).text);
    if (report->total > 0 || report->most > 0)
        fprintf(out, " of %s%s", report->total > 0 ? "" : "at most ",
                text_count(report->total > 0 ? report->total : report->most).text);
    else
        fputs(" so far, of an open number", out);
    if (report->replicates > 1) fprintf(out, ", %" PRId64 " replicates each", report->replicates);
    if (report->total > 0 && report->trials < report->total)
        fprintf(out, " (%.3g %%)", 100.0 * (double)report->trials / (double)report->total);
    fputc('\n', out);
    if (report->holder[0] == '\0' || isnan(report->rate)) return;
    fprintf(out, "%-11s %s trials/s", "rate", text_short(report->rate).text);
    if (report->total > report->trials && report->rate > 0)
        fprintf(out, ", %s left", text_duration((double)(report->total - report->trials) / report->rate).text);
    if (report->most > report->trials && report->rate > 0)
        fprintf(out, ", at most %s left", text_duration((double)(report->most - report->trials) / report->rate).text);
    fputc('\n', out);
}

static void status_print(const StatusReport *report, FILE *out, Arena *arena)
{
    fprintf(out, "%-11s %s%s%s", "state", report->state, report->reason[0] != '\0' ? ": " : "", report->reason);
    if (report->holder[0] != '\0') fprintf(out, " (%s)", report->holder);
    status_print_progress(report, out);
    fprintf(out, "%-11s %s trials\n", "failures", text_count(report->failures).text);
    if (report->objectives > 0)
        fprintf(out, "%-11s %" PRId64 " objectives, so a front: %s best %s%s\n", "best", report->objectives,
                command_program(arena), report->place.name, command_results_option(report->place.results, arena));
    else if (isnan(report->best))
        fprintf(out, "%-11s none yet\n", "best");
    else
        fprintf(out, "%-11s %s (trial %" PRId64 ")\n", "best", text_number(report->best).text, report->best_trial);
    fprintf(out, "%-11s %s, seed %" PRId64 ", spec %.12s\n", "model", report->model, report->seed, report->hash);
    fprintf(out, "%-11s %s", "started", report->started);
    if (report->committed[0] != '\0') fprintf(out, ", last commit %s", report->committed);
    if (report->finished[0] != '\0') fprintf(out, ", finished %s", report->finished);
    fprintf(out, "\n%-11s %s batch%s, %s lanes, %s in the kernels; %s\n", "work", text_count(report->batches).text,
            report->batches == 1 ? "" : "es", text_count(report->lanes).text,
            text_duration(report->timings.kernel).text, report->devices);
    fprintf(out, "%-11s ", "time");
    timings_print(&report->timings, out);
    fprintf(out, "%-11s hopscotch %s, numerics version %" PRId64 "\n", "written by", report->program,
            report->numerics_version);
    if (report->origin[0] != '\0') fprintf(out, "%-11s %s\n", "origin", report->origin);
    if (report->tags[0] != '\0') fprintf(out, "%-11s %s\n", "tags", report->tags);
    if (report->note[0] != '\0') fprintf(out, "%-11s %s\n", "note", report->note);
    fprintf(out, "%-11s %s (%s shards, %s)\n", "files", text_visible(report->place.folder, arena),
            text_count(report->shards).text, text_bytes(report->shard_bytes).text);
    if (status_can_resume(report))
        fprintf(out, "%-11s %s resume %s%s\n", "to go on", command_program(arena), report->place.name,
                command_results_option(report->place.results, arena));
}

// Members of an object.
static void status_json(const StatusReport *report, Json *json)
{
    json_text(json, "campaign", report->place.name);
    json_text(json, "folder", report->place.folder);
    json_text(json, "state", report->state);
    json_text(json, "reason", report->reason[0] != '\0' ? report->reason : NULL);
    json_text(json, "holder", report->holder[0] != '\0' ? report->holder : NULL);
    json_text(json, "model", report->model);
    json_integer(json, "trials", report->trials);
    json_number(json, "trials_total", report->total > 0 ? (double)report->total : (double)NAN); // null: unknown
    json_number(json, "trials_most", report->most > 0 ? (double)report->most : (double)NAN);
    json_integer(json, "failures", report->failures);
    json_number(json, "best", report->best);
    if (report->objectives > 0) json_integer(json, "objectives", report->objectives);
    if (!isnan(report->best)) json_integer(json, "best_trial", report->best_trial);
    json_number(json, "trials_per_second", report->rate);
    json_text(json, "origin", report->origin[0] != '\0' ? report->origin : NULL);
    json_text(json, "tags", report->tags[0] != '\0' ? report->tags : NULL);
    json_text(json, "started", report->started);
    json_text(json, "last_commit", report->committed[0] != '\0' ? report->committed : NULL);
    json_text(json, "finished", report->finished != NULL && report->finished[0] != '\0' ? report->finished : NULL);
    json_number(json, "kernel_seconds", report->timings.kernel);
    timings_json(&report->timings, json);
    json_integer(json, "batches", report->batches);
    json_integer(json, "shards", report->shards);
    json_number(json, "shard_bytes", report->shard_bytes);
}

static void status_row(const StatusReport *report, Table *table, Arena *arena)
{
    table_text(table, report->place.name);
    table_text(table, report->state);
    table_integer(table, report->trials);
    if (report->total > 0)
        table_integer(table, report->total);
    else
        table_text(table, report->most > 0 ? arena_format(arena, "<= %lld", (long long)report->most) : "open");
    table_integer(table, report->failures);
    table_number(table, report->best);
    table_text(table, report->model);
    table_text(table, report->started);
}

// ---- the two forms --------------------------------------------------------------------------------------------------

// One that can't be read is a row too, and its reason a line below.
static Error status_all(const CommandLine *line)
{
    static const char *const columns[] = {"campaign", "state", "trials", "of", "failures", "best", "model", "started"};
    const char *const *names;
    int count;
    TRY(campaign_names(line->results, line->arena, &names, &count));
    StatusEntry *entries = ARENA_NEW(line->arena, StatusEntry, count + 1);
    StatusCache cache;
    for (int i = 0; i < count; i++) {
        const char *folder = arena_format(line->arena, "%s/%s", line->results, names[i]);
        entries[i] =
            (StatusEntry){.name = names[i], .place = {.results = line->results, .name = names[i], .folder = folder}};
    }
    status_cache_open(line->results, line->arena, &cache);
    const Error error = status_cache_read(&cache, entries, count);
    status_cache_close(&cache, names, count);
    TRY(error);
    for (int i = 0; i < count; i++) {
        if (entries[i].error != NULL)
            fprintf(line->messages, "hopscotch: %s\n", text_visible(entries[i].error, line->arena));
    }
    if (switch_given(line, "json")) {
        Json json;
        json_start(&json, line->out, true);
        json_array(&json, NULL);
        for (int i = 0; i < count; i++) {
            json_object(&json, NULL);
            status_json(&entries[i].report, &json);
            json_close(&json, '}');
        }
        json_close(&json, ']');
        return error_none();
    }
    if (count == 0) {
        fprintf(line->out, "no campaign under %s yet; %s run SPEC makes one\n",
                text_visible(line->results, line->arena), command_program(line->arena));
        return error_none();
    }
    Table *table = table_start(line->out, TABLE_TEXT, (int)(sizeof columns / sizeof *columns), columns);
    for (int i = 0; table != NULL && i < count; i++) status_row(&entries[i].report, table, line->arena);
    return table_finish(table);
}

static Error status_one(const CommandLine *line)
{
    CampaignPlace place;
    StatusReport report;
    TRY(campaign_find(line, line->arguments[0], &place));
    if (switch_given(line, "watch")) return live_watch(line, &place);
    TRY(status_read(&place, line->arena, &report));
    if (!switch_given(line, "json")) {
        const StatusReport visible = status_visible(&report, line->arena);
        status_print(&visible, line->out, line->arena);
        return status_searches(&place, line->out, NULL, line->arena);
    }
    Json json;
    json_start(&json, line->out, true);
    json_object(&json, NULL);
    status_json(&report, &json);
    const Error error = status_searches(&place, line->out, &json, line->arena);
    json_close(&json, '}');
    return error;
}

static Error status_run(const CommandLine *line)
{
    if (switch_given(line, "watch") && switch_given(line, "json"))
        return error_make(ERROR_USAGE, "--watch shows a view for people: take run --progress json for programs");
    if (switch_given(line, "watch") && line->n_arguments == 0)
        return error_make(ERROR_USAGE, "--watch needs the name of a campaign: %s",
                          command_again(line->results, "status CAMPAIGN --watch").text);
    return line->n_arguments == 0 ? status_all(line) : status_one(line);
}

static const Switch status_rows[] = {
    {"watch", SWITCH_FLAG, NULL, 0, 0, "show it again and again until it ends; Ctrl-C leaves, and stops nothing"},
    {"every", SWITCH_INTEGER, "SECONDS", 0, 3600, "how often --watch looks (default 1; 0: as often as is cheap)"},
};
static const Switches status_switches = {status_rows, sizeof status_rows / sizeof *status_rows};

const Command command_status = {
    .name = "status",
    .arguments = "[CAMPAIGN]",
    .doc = "the campaigns under the results root, or one of them: state, trials, failures, best",
    .examples = "  hopscotch status\n"
                "  hopscotch status raibert_gains --watch\n"
                "  hopscotch status --results /data/sweeps --json\n",
    .least = 0,
    .most = 1,
    .switches = {&status_switches, &switches_json},
    .run = status_run,
};
