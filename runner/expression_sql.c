// Expressions as SQL, with a question mark for every constant.
//
// NULL in a column is NaN here. SQL's three-valued logic gives NULL where ours gives false; WHERE takes both as false,
// and `and` and `or` keep them apart from true. So only where a truth is negated or used as a number must it be made
// two-valued, by IS TRUE and IS NOT TRUE; comparisons elsewhere stay bare, so that an index can serve them.
#include "expression.h"

enum { EXPRESSION_SQL_DEPTH = 400 }; // SQLite takes trees of depth 1,000, and we write at most two levels for one

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

static void expression_write_sql(ExpressionSql *writer, int end, int depth);

// An operand that is used as a number.
static void expression_sql_number(ExpressionSql *writer, int end, int depth)
{
    const ExpressionRank rank = expression_row(writer->steps, end)->rank;
    const bool truth = rank == RANK_OR || rank == RANK_AND || rank == RANK_COMPARE;
    if (truth) expression_put(&writer->out, "(");
    expression_write_sql(writer, end, depth + truth);
    if (truth) expression_put(&writer->out, " IS TRUE)");
}

static void expression_sql_prefix(ExpressionSql *writer, int end, int depth)
{
    const ExpressionOperation *row = expression_row(writer->steps, end);
    if (row->rank == RANK_NOT) {
        expression_put(&writer->out, "(");
        expression_write_sql(writer, end - 1, depth);
        expression_put(&writer->out, " IS NOT TRUE)");
    } else {
        expression_put(&writer->out, "(-");
        expression_sql_number(writer, end - 1, depth);
        expression_put(&writer->out, ")");
    }
}

static void expression_sql_infix(ExpressionSql *writer, int end, int depth)
{
    const ExpressionOperation *row = expression_row(writer->steps, end);
    const bool logic = row->rank == RANK_OR || row->rank == RANK_AND, call = row->rank == RANK_POWER;
    void (*operand)(ExpressionSql *, int, int) = logic ? expression_write_sql : expression_sql_number;
    expression_put(&writer->out, call ? row->sql : "");
    expression_put(&writer->out, "(");
    operand(writer, expression_left(writer->steps, end), depth);
    expression_put(&writer->out, call ? ", " : row->sql);
    operand(writer, end - 1, depth);
    expression_put(&writer->out, ")");
}

static void expression_sql_function(ExpressionSql *writer, int end, int depth)
{
    const ExpressionOperation *row = expression_row(writer->steps, end);
    expression_put(&writer->out, row->sql);
    expression_put(&writer->out, "(");
    if (row->arguments == -2) {
        expression_sql_number(writer, expression_left(writer->steps, end), depth);
        expression_put(&writer->out, ", ");
    }
    expression_sql_number(writer, end - 1, depth);
    expression_put(&writer->out, ")");
}

static void expression_write_sql(ExpressionSql *writer, int end, int depth)
{
    const ExpressionStep *step = &writer->steps[end];
    if (depth > EXPRESSION_SQL_DEPTH) {
        writer->too_deep = true;
        return;
    }
    switch (expression_row(writer->steps, end)->syntax) {
    case SYNTAX_NUMBER: expression_sql_constant(writer, (SqlValue){.number = step->number}); break;
    case SYNTAX_TEXT: expression_sql_constant(writer, (SqlValue){.is_text = true, .text = step->text}); break;
    case SYNTAX_NAME:
    case SYNTAX_TEXT_NAME: expression_put(&writer->out, sql_identifier(writer->arena, step->text)); break;
    case SYNTAX_PREFIX: expression_sql_prefix(writer, end, depth + 1); break;
    case SYNTAX_INFIX: expression_sql_infix(writer, end, depth + 1); break;
    case SYNTAX_FUNCTION: expression_sql_function(writer, end, depth + 1); break;
    }
}

Error expression_sql(const Expression *expression, Arena *arena, const char **sql, SqlValue **values, int *count)
{
    ExpressionSql writer = {.steps = expression->steps, .arena = arena};
    expression_write_sql(&writer, expression->count - 1, 0);
    if (writer.too_deep) {
        return error_make(ERROR_USER,
                          "this expression has more than %d operations inside each other, too many for a "
                          "query; shorten it or ask in two steps",
                          EXPRESSION_SQL_DEPTH);
    }
    writer.out = (ExpressionOutput){.text = ARENA_NEW(arena, char, writer.out.used + 1)};
    writer.values = ARENA_NEW(arena, SqlValue, writer.n_values + 1);
    writer.n_values = 0;
    expression_write_sql(&writer, expression->count - 1, 0);
    *sql = writer.out.text;
    *values = writer.values;
    *count = writer.n_values;
    return error_none();
}
