// Conditions and queries (view.h).
#include "../view.h"

#include <string.h>

enum { QUERY_BLOCK = 500, QUERY_COLUMNS_MAX = 2000, QUERY_ORDER_MAX = 64 };

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

Error condition_read(const TrialColumns *all, const char *text, Arena *arena, Condition *condition)
{
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
    *condition = (Condition){.sql = "1"};
    if (text == NULL) return error_none();
    TRY(expression_parse_text(text, "--where", &scope, arena, &expression));
    return expression_sql(expression, arena, &condition->sql, &condition->values, &condition->count);
}

void condition_bind(const Condition *condition, Statement *statement)
{
    for (int i = 0; i < condition->count; i++) {
        if (condition->values[i].is_text)
            bind_text(statement, i + 1, condition->values[i].text);
        else
            bind_real(statement, i + 1, condition->values[i].number);
    }
}

// "velocity_error,k_fp:desc": missing values last whichever way, ties by id. An index of the order is only for queries
// without a condition ("+" forbids it): SQLite can't know how many rows in that order it would look up before enough of
// them satisfy one, and a whole scan is quicker than ten million look-ups.
static Error query_order(Query *query, const char *text, Arena *arena)
{
    char *rest = text != NULL ? arena_copy(arena, text) : NULL;
    const char *plain = strcmp(query->where.sql, "1") == 0 ? "" : "+";
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
        const bool down = direction != NULL && strcmp(direction, "desc") == 0;
        query->order =
            arena_format(arena, "%s%s%s %s NULLS LAST, ", query->order, plain, quoted, down ? "DESC" : "ASC");
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
    const char *sql = arena_format(arena, "SELECT id FROM trials WHERE %s ORDER BY %sid%s", query->where.sql,
                                   query->order, query->limit > 0 ? " LIMIT ?" : "");
    TRY(database_prepare(query->campaign->database, sql, &statement));
    condition_bind(&query->where, statement);
    if (query->limit > 0) bind_integer(statement, query->where.count + 1, query->limit + 1);
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

static Error query_block(const Query *query, Statement *statement, int64_t from, int64_t to, QueryTake *take,
                         void *taker)
{
    for (int64_t i = from; i < to; i++) {
        bool row = false;
        bind_integer(statement, 1, query->ids[i]);
        TRY(statement_step(statement, &row));
        if (row) TRY(take(taker, query, statement));
        if (row) TRY(statement_step(statement, &row)); // to its end, which resets it
    }
    return error_none();
}

static Error query_blocks(const Query *query, Statement *statement, QueryTake *take, void *taker)
{
    const int64_t rows = query_rows(query);
    for (int64_t from = 0; from < rows; from += QUERY_BLOCK) {
        const int64_t to = from + QUERY_BLOCK < rows ? from + QUERY_BLOCK : rows;
        TRY(database_run(query->campaign->database, "BEGIN"));
        const Error error = query_block(query, statement, from, to, take, taker);
        const Error ended = database_run(query->campaign->database, "COMMIT");
        if (error.kind != OK) return error;
        TRY(ended);
    }
    return error_none();
}

Error query_each(const Query *query, Arena *arena, QueryTake *take, void *taker)
{
    Statement *statement;
    const char *sql = arena_format(arena, "SELECT %s FROM trials WHERE id = ?",
                                   trial_columns_sql((const char *const *)query->names, query->count, arena));
    TRY(database_prepare(query->campaign->database, sql, &statement));
    const Error error = query_blocks(query, statement, take, taker);
    statement_close(statement);
    return error;
}

int64_t query_rows(const Query *query)
{
    return query->limit > 0 && query->n_ids > query->limit ? query->limit : query->n_ids;
}

Error query_start(const StoredCampaign *campaign, const QueryAsked *asked, Arena *arena, Query *query)
{
    *query = (Query){.campaign = campaign, .limit = asked->limit};
    TRY(trial_columns(campaign->database, arena, &query->all));
    TRY(condition_read(&query->all, asked->where, arena, &query->where));
    TRY(query_order(query, asked->order, arena));
    TRY(query_columns(query, asked->columns, arena));
    return query_ids(query, arena);
}
