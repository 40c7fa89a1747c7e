// Expressions as SQL, with a question mark for every constant.
//
// NULL in a column is NaN here. SQL's logic does with NULL what ours does with NaN, and WHERE takes neither as true: a
// missing value never matches, nor does its `not`.
#include "expression.h"

enum {
    EXPRESSION_SQL_DEPTH = 400, // SQLite takes trees of depth 1,000, and we write at most two levels for one
    EXPRESSION_SQL_STACK = 80   // and its parser keeps 100 symbols, of which the rest of the statement needs some
};

// Where an operand stands: levels of the tree above it, and symbols that SQLite's parser keeps until it is read.
typedef struct ExpressionSqlPlace {
    int depth, stack;
} ExpressionSqlPlace;

static ExpressionSqlPlace expression_sql_below(ExpressionSqlPlace place, int symbols)
{
    return (ExpressionSqlPlace){place.depth, place.stack + symbols};
}

// Measured first, as ExpressionOutput is, and then written.
typedef struct ExpressionSql {
    ExpressionOutput out;
    const ExpressionStep *steps;
    Arena *arena;
    SqlValue *values; // what the question marks stand for
    int n_values;
    bool too_deep;
} ExpressionSql;

static void expression_sql_constant(ExpressionSql *writer, SqlValue value)
{
    expression_put(&writer->out, "?");
    if (writer->values != NULL) writer->values[writer->n_values] = value;
    writer->n_values++;
}

static void expression_write_sql(ExpressionSql *writer, int end, ExpressionSqlPlace place);

static void expression_sql_prefix(ExpressionSql *writer, int end, ExpressionSqlPlace place)
{
    const ExpressionOperation *row = expression_row(writer->steps, end);
    expression_put(&writer->out, row->rank == RANK_NOT ? "(NOT " : "(-");
    expression_write_sql(writer, end - 1, expression_sql_below(place, 2));
    expression_put(&writer->out, ")");
}

static bool expression_sql_chains(const ExpressionSql *writer, int end, ExpressionRank rank)
{
    const ExpressionOperation *row = expression_row(writer->steps, end);
    return row->syntax == SYNTAX_INFIX && row->rank == rank && rank != RANK_POWER && rank != RANK_COMPARE;
}

// Without parentheses: a left operand of the same rank follows suit, as SQL too reads from the left, so that a long
// chain (id = 3 or id = 5 or ...) nests no parentheses.
static void expression_sql_chain(ExpressionSql *writer, int end, ExpressionSqlPlace place)
{
    const ExpressionOperation *row = expression_row(writer->steps, end);
    const int left = expression_left(writer->steps, end);
    if (place.depth > EXPRESSION_SQL_DEPTH) {
        writer->too_deep = true;
        return;
    }
    place.depth++;
    if (expression_sql_chains(writer, left, row->rank))
        expression_sql_chain(writer, left, place);
    else
        expression_write_sql(writer, left, place);
    expression_put(&writer->out, row->sql);
    expression_write_sql(writer, end - 1, expression_sql_below(place, 4)); // the left one, and of " * 1.0 / " one more
}

static void expression_sql_infix(ExpressionSql *writer, int end, ExpressionSqlPlace place)
{
    const ExpressionOperation *row = expression_row(writer->steps, end);
    expression_put(&writer->out, row->rank == RANK_POWER ? row->sql : "");
    expression_put(&writer->out, "(");
    if (row->rank == RANK_POWER) {
        expression_write_sql(writer, expression_left(writer->steps, end), expression_sql_below(place, 3));
        expression_put(&writer->out, ", ");
        expression_write_sql(writer, end - 1, expression_sql_below(place, 5));
    } else {
        expression_sql_chain(writer, end, expression_sql_below(place, 1));
    }
    expression_put(&writer->out, ")");
}

static void expression_sql_function(ExpressionSql *writer, int end, ExpressionSqlPlace place)
{
    const ExpressionOperation *row = expression_row(writer->steps, end);
    expression_put(&writer->out, row->sql);
    expression_put(&writer->out, "(");
    if (row->arguments == -2) {
        expression_write_sql(writer, expression_left(writer->steps, end), expression_sql_below(place, 3));
        expression_put(&writer->out, ", ");
    }
    expression_write_sql(writer, end - 1, expression_sql_below(place, 5));
    expression_put(&writer->out, ")");
}

static void expression_write_sql(ExpressionSql *writer, int end, ExpressionSqlPlace place)
{
    const ExpressionStep *step = &writer->steps[end];
    if (place.depth > EXPRESSION_SQL_DEPTH || place.stack > EXPRESSION_SQL_STACK) {
        writer->too_deep = true;
        return;
    }
    place.depth++;
    switch (expression_row(writer->steps, end)->syntax) {
    case SYNTAX_NUMBER: expression_sql_constant(writer, (SqlValue){.number = step->number}); break;
    case SYNTAX_TEXT: expression_sql_constant(writer, (SqlValue){.is_text = true, .text = step->text}); break;
    case SYNTAX_NAME:
    case SYNTAX_TEXT_NAME: expression_put(&writer->out, sql_identifier(writer->arena, step->text)); break;
    case SYNTAX_PREFIX: expression_sql_prefix(writer, end, place); break;
    case SYNTAX_INFIX: expression_sql_infix(writer, end, place); break;
    case SYNTAX_FUNCTION: expression_sql_function(writer, end, place); break;
    }
}

Error expression_sql(const Expression *expression, Arena *arena, const char **sql, SqlValue **values, int *count)
{
    ExpressionSql writer = {.steps = expression->steps, .arena = arena};
    expression_write_sql(&writer, expression->count - 1, (ExpressionSqlPlace){0});
    if (writer.too_deep) {
        return error_make(ERROR_USER,
                          "this expression has too many operations inside each other for a query; shorten it "
                          "or ask in two steps");
    }
    writer.out = (ExpressionOutput){.text = ARENA_NEW(arena, char, writer.out.used + 1)};
    writer.values = ARENA_NEW(arena, SqlValue, writer.n_values + 1);
    writer.n_values = 0;
    expression_write_sql(&writer, expression->count - 1, (ExpressionSqlPlace){0});
    *sql = writer.out.text;
    *values = writer.values;
    *count = writer.n_values;
    return error_none();
}
