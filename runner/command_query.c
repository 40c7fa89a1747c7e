// hopscotch query: rows of the table trials by a condition. The condition goes through our own expression parser and
// the columns through the list of those that exist; nothing that the user typed becomes part of a statement.
//
// A reader of a write-ahead log that stays in one long transaction (a pager that waits for a key) would keep the log
// from being folded back while a run writes. So the matching ids are taken in one go, and their rows, which never
// change, in short transactions; what they give is printed between them, from a buffer.
#include "runner.h"

#include <inttypes.h>
#include <string.h>

enum {
    QUERY_BLOCK = 500,
    QUERY_BUFFER = 1 << 20,
    QUERY_ROWS_SHOWN = 50,
    QUERY_COLUMNS_MAX = 2000,
    QUERY_ORDER_MAX = 64
};

typedef struct Query {
    const StoredCampaign *campaign;
    TrialColumns all;
    const char **names; // [count] columns to print
    int *columns;       // [count] their places in `all`
    int count;
    const char *where, *order; // SQL
    SqlValue *values;          // [n_values] to bind to `where`
    int n_values;
    int64_t limit; // 0: none
    int64_t *ids;  // [n_ids]
    int64_t n_ids;
} Query;

// ---- what the user asked --------------------------------------------------------------------------------------------

static Error query_column(const TrialColumns *all, const char *name, const char *what, int *column)
{
    *column = trial_column_find(all, name);
    if (*column >= 0) return error_none();
    const char *nearest = nearest_name(name, all->names, all->count);
    if (nearest != NULL)
        return error_make(ERROR_USER, "--%s: there is no column '%.60s'; did you mean '%.60s'?", what, name, nearest);
    return error_make(ERROR_USER, "--%s: there is no column '%.60s'; --columns all --limit 1 shows them", what, name);
}

static Error query_where(Query *query, const char *text, Arena *arena)
{
    const TrialColumns *all = &query->all;
    const char **numbers = ARENA_NEW(arena, const char *, all->count + 1);
    const char **texts = ARENA_NEW(arena, const char *, all->count + 1);
    Scope scope = {.names = numbers, .texts = texts};
    Expression *expression;
    for (int i = 0; i < all->count; i++) {
        if (all->is_text[i])
            texts[scope.n_texts++] = all->names[i];
        else
            numbers[scope.count++] = all->names[i];
    }
    query->where = "1";
    if (text == NULL) return error_none();
    TRY(expression_parse_text(text, "--where", &scope, arena, &expression));
    return expression_sql(expression, arena, &query->where, &query->values, &query->n_values);
}

// "velocity_error,k_fp:desc": missing values last whichever way, ties by id.
static Error query_order(Query *query, const char *text, Arena *arena)
{
    char *rest = text != NULL ? arena_copy(arena, text) : NULL;
    int count = 0;
    query->order = "";
    for (char *name; (name = strsep(&rest, ",")) != NULL;) {
        int column;
        char *direction = strchr(name, ':');
        if (direction != NULL) *direction++ = '\0';
        TRY(query_column(&query->all, name, "order", &column));
        if (direction != NULL && strcmp(direction, "desc") != 0 && strcmp(direction, "asc") != 0)
            return error_make(ERROR_USER, "--order: '%.60s' is no direction; write %.60s:asc or %.60s:desc", direction,
                              name, name);
        if (++count > QUERY_ORDER_MAX)
            return error_make(ERROR_USER, "--order: more than %d columns; the first few decide", QUERY_ORDER_MAX);
        const char *quoted = sql_identifier(arena, query->all.names[column]);
        query->order = arena_format(arena, "%s%s IS NULL, %s %s, ", query->order, quoted, quoted,
                                    direction != NULL && strcmp(direction, "desc") == 0 ? "DESC" : "ASC");
    }
    return error_none();
}

static void query_add(Query *query, int column)
{
    query->columns[query->count] = column;
    query->names[query->count++] = query->all.names[column];
}

// Without --columns what tells most, and with it the failure of those that have no fitness.
static void query_default_columns(Query *query, Arena *arena)
{
    const char *const *names;
    const int count = trial_columns_main(&query->campaign->spec, arena, &names);
    for (int i = 0; i < count; i++) query_add(query, trial_column_find(&query->all, names[i]));
    if (query->campaign->spec.objective.failed == FAILED_ANY)
        query_add(query, trial_column_find(&query->all, "failure"));
}

static Error query_columns(Query *query, const char *text, Arena *arena)
{
    query->names = ARENA_NEW(arena, const char *, QUERY_COLUMNS_MAX);
    query->columns = ARENA_NEW(arena, int, QUERY_COLUMNS_MAX);
    if (text == NULL) {
        query_default_columns(query, arena);
        return error_none();
    }
    if (strcmp(text, "all") == 0) {
        for (int i = 0; i < query->all.count; i++) query_add(query, i);
        return error_none();
    }
    char *rest = arena_copy(arena, text);
    for (char *name; (name = strsep(&rest, ",")) != NULL;) {
        int column;
        TRY(query_column(&query->all, name, "columns", &column));
        if (query->count == QUERY_COLUMNS_MAX) return error_make(ERROR_USER, "--columns: too many columns");
        query_add(query, column);
    }
    return error_none();
}

// ---- rows -----------------------------------------------------------------------------------------------------------

// The ids that match, in order; one more than the limit, if there is one, tells that there are more.
static Error query_ids(Query *query, Arena *arena)
{
    Statement *statement;
    bool row = false;
    const char *sql = arena_format(arena, "SELECT id FROM trials WHERE %s ORDER BY %sid%s", query->where, query->order,
                                   query->limit > 0 ? " LIMIT ?" : "");
    TRY(database_prepare(query->campaign->database, sql, &statement));
    for (int i = 0; i < query->n_values; i++) {
        if (query->values[i].is_text)
            bind_text(statement, i + 1, query->values[i].text);
        else
            bind_real(statement, i + 1, query->values[i].number);
    }
    if (query->limit > 0) bind_integer(statement, query->n_values + 1, query->limit + 1);
    Error error = statement_step(statement, &row);
    for (; error.kind == OK && row; error = statement_step(statement, &row)) {
        // 8 aligned ids at a time: consecutive takes from the arena are one array
        int64_t *place = query->n_ids % 8 == 0 ? ARENA_NEW(arena, int64_t, 8) : NULL;
        if (query->n_ids == 0) query->ids = place;
        query->ids[query->n_ids++] = column_integer(statement, 0);
    }
    statement_close(statement);
    return error;
}

static Error query_block(const Query *query, Statement *statement, int64_t from, int64_t to, Table *table)
{
    for (int64_t i = from; i < to; i++) {
        bool row = false;
        bind_integer(statement, 1, query->ids[i]);
        TRY(statement_step(statement, &row));
        for (int c = 0; row && c < query->count; c++) trial_cell(table, statement, c, &query->all, query->columns[c]);
        if (row) TRY(statement_step(statement, &row)); // to its end, which resets it
    }
    return error_none();
}

static Error query_blocks(const Query *query, Statement *statement, int64_t rows, FILE *out, Table *table)
{
    for (int64_t from = 0; from < rows; from += QUERY_BLOCK) {
        const int64_t to = from + QUERY_BLOCK < rows ? from + QUERY_BLOCK : rows;
        TRY(database_run(query->campaign->database, "BEGIN"));
        const Error error = query_block(query, statement, from, to, table);
        const Error ended = database_run(query->campaign->database, "COMMIT");
        if (error.kind != OK) return error;
        TRY(ended);
        fflush(out);
    }
    return error_none();
}

static Error query_print(const Query *query, TableFormat format, FILE *out, Arena *arena)
{
    Statement *statement;
    const int64_t rows = query->limit > 0 && query->n_ids > query->limit ? query->limit : query->n_ids;
    const char *sql = arena_format(arena, "SELECT %s FROM trials WHERE id = ?",
                                   trial_columns_sql((const char *const *)query->names, query->count, arena));
    TRY(database_prepare(query->campaign->database, sql, &statement));
    Table *table = table_start(out, format, query->count, (const char *const *)query->names);
    const Error error = query_blocks(query, statement, rows, out, table);
    const Error written = table_finish(table);
    statement_close(statement);
    return error.kind != OK ? error : written;
}

static Error query_campaign(const CommandLine *line, const StoredCampaign *campaign)
{
    const TableFormat format = command_format(line);
    Query query = {.campaign = campaign};
    query.limit = switch_integer(line, "limit", format == TABLE_TEXT ? QUERY_ROWS_SHOWN : 0);
    TRY(trial_columns(campaign->database, line->arena, &query.all));
    TRY(query_where(&query, switch_text(line, "where", NULL), line->arena));
    TRY(query_order(&query, switch_text(line, "order", NULL), line->arena));
    TRY(query_columns(&query, switch_text(line, "columns", NULL), line->arena));
    TRY(query_ids(&query, line->arena));
    TRY(query_print(&query, format, line->out, line->arena));
    if (query.limit > 0 && query.n_ids > query.limit && format == TABLE_TEXT)
        fprintf(line->messages, "the first %" PRId64 " rows; more match: --limit 0 prints all\n", query.limit);
    return error_none();
}

static Error query_run(const CommandLine *line)
{
    StoredCampaign campaign;
    TRY(campaign_open_named(line, line->arguments[0], &campaign));
    setvbuf(line->out, NULL, _IOFBF, QUERY_BUFFER);
    const Error error = query_campaign(line, &campaign);
    campaign_close(&campaign);
    return error;
}

static const Switch query_rows[] = {
    {"where", SWITCH_TEXT, "EXPRESSION", 0, 0,
     "which trials: comparisons of columns, and, or, not; texts in single quotes"},
    {"order", SWITCH_TEXT, "COLUMN[:desc],..", 0, 0, "in which order; missing values last (default id)"},
    {"columns", SWITCH_TEXT, "A,B,..", 0, 0, "which columns, or all"},
    {"limit", SWITCH_INTEGER, "N", 0, 1LL << 40, "how many rows; 0: all (default 50 for the table, else 0)"},
};
static const Switches query_switches = {query_rows, sizeof query_rows / sizeof *query_rows};

const Command command_query = {
    .name = "query",
    .arguments = "CAMPAIGN",
    .doc = "trials by a condition on their parameters, metrics, fitness and failure",
    .examples =
        "  hopscotch query gains --where \"k_fp > 100 and failure = 'none'\" --order velocity_error --limit 20\n"
        "  hopscotch query gains --where \"failure = 'fell'\" --order survived:desc --columns id,k_fp,survived\n"
        "  hopscotch query gains --columns all --format csv > trials.csv\n",
    .least = 1,
    .most = 1,
    .switches = {&query_switches, &switches_format},
    .run = query_run,
};
