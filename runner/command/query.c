// hopscotch query: prints the trials that meet a condition (view/analysis/query.c), or the rows of a SELECT.
#include "command.h"

#include <inttypes.h>
#include <string.h>

enum { QUERY_BUFFER = 1 << 20, QUERY_ROWS_SHOWN = 50, QUERY_SECONDS = 30 };

static const char *query_first(int64_t limit, Arena *arena)
{
    if (limit == 1) return "this is the first row";
    return arena_format(arena, "these are the first %" PRId64 " rows", limit);
}

static Error query_take_row(void *taker, const Query *query, const Cursor *trial)
{
    for (int c = 0; c < query->count; c++) trial_cell(taker, trial, c, &query->all, query->columns[c]);
    return error_none();
}

Error query_print(const Query *query, TableFormat format, FILE *out, Arena *arena)
{
    Table *table = table_start(out, format, query->count, (const char *const *)query->names);
    const Error error = query_each(query, arena, query_take_row, table);
    const Error written = table_finish(table);
    return error.kind != OK ? error : written;
}

static Error query_campaign(const CommandLine *line, const StoredCampaign *campaign, Query *query)
{
    const TableFormat format = command_format(line);
    TRY(command_report_rows(line, campaign));
    TRY(command_select(line, campaign, format == TABLE_TEXT ? QUERY_ROWS_SHOWN : 0, NULL, query));
    TRY(query_print(query, format, line->out, line->arena));
    if (query->limit > 0 && query->n_ids > query->limit && format == TABLE_TEXT)
        fprintf(line->messages, "%s; --limit 0 prints all\n", query_first(query->limit, line->arena));
    return error_none();
}

// ---- groups ---------------------------------------------------------------------------------------------------------

static void query_group_value(Table *table, const Groups *groups, int output, double value)
{
    const int column = output < groups->n_by ? groups->by[output] : -1;
    const bool missing = value != value;
    if (column >= 0 && groups->all.is_text[column])
        table_text(table, missing ? NULL : groups->words[(int64_t)value]);
    else if (groups_counts(groups, output) || (column >= 0 && groups->all.is_integer[column] && !missing))
        table_integer(table, (int64_t)value);
    else if (column >= 0)
        table_exact(table, value);
    else
        table_number(table, value);
}

static Error query_groups(const CommandLine *line, const StoredCampaign *campaign)
{
    Groups groups;
    const TableFormat format = command_format(line);
    const int64_t limit = switch_integer(line, "limit", format == TABLE_TEXT ? QUERY_ROWS_SHOWN : 0);
    const QueryAsked asked = {.where = switch_text(line, "where", NULL),
                              .order = switch_text(line, "order", NULL),
                              .columns = switch_text(line, "columns", NULL)};
    TRY(command_report_rows(line, campaign));
    TRY(groups_read(campaign, &asked, switch_text(line, "group-by", ""), line->arena, &groups));
    const int width = groups.n_by + groups.n_aggregates;
    Table *table = table_start(line->out, format, width, groups.names);
    for (int64_t g = 0; g < groups.count && (limit == 0 || g < limit); g++) {
        for (int c = 0; c < width; c++) query_group_value(table, &groups, c, groups.values[g * width + c]);
    }
    TRY(table_finish(table));
    if (limit > 0 && groups.count > limit && format == TABLE_TEXT)
        fprintf(line->messages, "%s; --limit 0 prints all\n", query_first(limit, line->arena));
    return error_none();
}

// ---- the user's own SQL ---------------------------------------------------------------------------------------------

static void query_value(Table *table, const Cursor *row, int column)
{
    const ColumnKind kind = cell_kind(row, column);
    if (kind == COLUMN_INTEGER)
        table_integer(table, cell_integer(row, column));
    else if (kind == COLUMN_REAL)
        table_exact(table, cell_real(row, column));
    else
        table_text(table, kind == COLUMN_NULL ? NULL : kind == COLUMN_BLOB ? "(bytes)" : cell_text(row, column));
}

// If the first row fails, nothing is printed.
static Error query_sql_rows(const CommandLine *line, Cursor *rows, int64_t limit, bool *more)
{
    const TableFormat format = command_format(line);
    const int count = cells_count(rows);
    const char **names = ARENA_NEW(line->arena, const char *, count + 1);
    for (int c = 0; c < count; c++) names[c] = arena_copy(line->arena, cells_name(rows, c));
    cursor_next(rows);
    if (rows->error.kind != OK) return rows->error;
    Table *table = table_start(line->out, format, count, names);
    for (int64_t shown = 0; rows->row && (limit == 0 || shown < limit); shown++, cursor_next(rows)) {
        for (int c = 0; c < count; c++) query_value(table, rows, c);
    }
    *more = rows->row;
    return table_finish(table);
}

static Error query_report_rows(const CommandLine *line, const CampaignLocation *location, Database *database)
{
    const StoredCampaign campaign = {.database = database, .name = location->name, .folder = location->folder};
    return command_report_rows(line, &campaign);
}

// --sql: on a connection that only reads.
static Error query_sql(const CommandLine *line)
{
    const int64_t limit = switch_integer(line, "limit", command_format(line) == TABLE_TEXT ? QUERY_ROWS_SHOWN : 0);
    DatabaseGuard guard = {.deadline = clock_seconds() + (double)switch_integer(line, "timeout", QUERY_SECONDS),
                           .interrupted = interrupt_requested};
    CampaignLocation location;
    Database *database;
    bool more = false;
    interrupt_install();
    TRY(campaign_find(line, line->arguments[0], &location));
    TRY(store_peek(&location, line->arena, &database));
    TRY(query_report_rows(line, &location, database));
    Cursor rows = cursor_open_guarded(database, switch_text(line, "sql", ""), &guard);
    cursor_stop(&rows, query_sql_rows(line, &rows, limit, &more));
    const Error error = cursor_close(&rows);
    store_leave(database);
    if (error.kind == OK && more && command_format(line) == TABLE_TEXT)
        fprintf(line->messages, "%s; --limit 0 prints all\n", query_first(limit, line->arena));
    return error;
}

static Error query_run(const CommandLine *line)
{
    static const char *const others[] = {"where", "order", "columns", "group-by"};
    StoredCampaign campaign;
    for (size_t i = 0; switch_given(line, "sql") && i < sizeof others / sizeof *others; i++) {
        if (switch_given(line, others[i]))
            return error_make(
                ERROR_USAGE,
                "--sql and --%s cannot be combined: write conditions, groups, order and columns in the SELECT",
                others[i]);
    }
    if (switch_given(line, "sql")) return query_sql(line);
    TRY(campaign_open_named(line, line->arguments[0], &campaign));
    setvbuf(line->out, NULL, _IOFBF, QUERY_BUFFER);
    Query query;
    const Error error =
        switch_given(line, "group-by") ? query_groups(line, &campaign) : query_campaign(line, &campaign, &query);
    campaign_close(&campaign);
    return error;
}

static const Switch query_own_rows[] = {
    {"group-by", SWITCH_TEXT, "A,B,..", 0, 0,
     "print groups of trials that agree in these columns. --columns then names aggregates: count, and count, min, max, "
     "mean, sum, std, median of a column, quantile(COLUMN, 0.9) (default: count; min, median, max of the fitness)"},
    {"sql", SWITCH_TEXT, "SELECT", 0, 0,
     "a SELECT over the tables of campaign.db, instead of --where, --order and --columns; read-only. Other "
     "programs find the same table trials with libhopscotch_sqlite (results/README.md)"},
    {"timeout", SWITCH_INTEGER, "SECONDS", 1, 86400, "time limit of --sql (default 30)"},
};
static const Switches query_own = {query_own_rows, sizeof query_own_rows / sizeof *query_own_rows};

const Command command_query = {
    .name = "query",
    .arguments = "CAMPAIGN",
    .doc = "list the trials that meet a condition on parameters, metrics, fitness or failure",
    .examples =
        "  hopscotch query gains --where \"k_fp > 100 and failure = 'none'\" --order velocity_error --limit 20\n"
        "  hopscotch query gains --where \"failure = 'fell'\" --order survived:desc --columns id,k_fp,survived\n"
        "  hopscotch query gains --columns all --format csv > trials.csv\n"
        "  hopscotch query gains --group-by thrust --columns \"count,mean(fitness),quantile(fitness, 0.9)\"\n"
        "  hopscotch query gains --sql \"SELECT thrust, max(fitness) - min(fitness) FROM trials GROUP BY thrust\"\n",
    .least = 1,
    .most = 1,
    .switches = {&switches_select, &query_own, &switches_format},
    .run = query_run,
};
