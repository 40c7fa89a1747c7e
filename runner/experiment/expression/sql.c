// Expressions as conditions of SQL, with a question mark for every constant.
//
// A missing value is NULL in a column and NaN here. SQL's logic does with NULL what ours does with NaN, and WHERE takes
// neither as true: a missing value never matches, nor does its `not`. But SQL computes with integers and with functions
// of the C library, and its 1.0 / 0 is NULL. So SQL gets `and`, `or`, `not`, and comparisons between columns and
// constants, for which it can use indices; all else is a function of the program over columns, which evaluates a piece
// of the expression.
#include "expression.h"

#include <string.h>

enum {
    EXPRESSION_SQL_DEPTH = 400, // SQLite takes trees of depth 1,000, and we write at most two levels for one
    EXPRESSION_SQL_STACK = 70   // and its parser keeps 100 symbols, of which the rest of the statement needs some
};

// Where an operand stands: levels of the tree above it, and symbols that SQLite's parser keeps until it is read.
typedef struct ExpressionSqlNesting {
    int depth, stack;
} ExpressionSqlNesting;

static ExpressionSqlNesting expression_sql_below(ExpressionSqlNesting nesting, int symbols)
{
    return (ExpressionSqlNesting){nesting.depth + 1, nesting.stack + symbols};
}

// Measured first, as ExpressionOutput is, and then written.
typedef struct ExpressionSql {
    ExpressionOutput out;
    const ExpressionStep *steps;
    Arena *arena;
    SqlValue *values; // what the question marks stand for
    int n_values;
    bool too_many; // names of a piece
} ExpressionSql;

static void expression_sql_value(ExpressionSql *writer, SqlValue value)
{
    expression_put(&writer->out, "?");
    if (writer->values != NULL) writer->values[writer->n_values] = value;
    writer->n_values++;
}

// ---- pieces that SQL does not evaluate ------------------------------------------------------------------------------

// A piece of an expression as a function of the columns that it names.
typedef struct ExpressionPiece {
    SqlFunction function; // first: a pointer to it is one to the piece
    Expression expression;
    const char *const *texts;
    int n_texts;
} ExpressionPiece;

// A text that the piece does not quote has the number of the first argument that equals it.
static double expression_piece_text(const ExpressionPiece *piece, const SqlValue *arguments, int i)
{
    for (int t = 0; t < piece->n_texts; t++) {
        if (strcmp(piece->texts[t], arguments[i].text) == 0) return t;
    }
    int first = 0;
    while (!arguments[first].is_text || strcmp(arguments[first].text, arguments[i].text) != 0) first++;
    return piece->n_texts + first;
}

static double expression_piece_value(const SqlFunction *function, const SqlValue *arguments, int n)
{
    const ExpressionPiece *piece = (const ExpressionPiece *)function;
    double values[SQL_ARGUMENTS_MAX];
    for (int i = 0; i < n && i < SQL_ARGUMENTS_MAX; i++)
        values[i] = arguments[i].is_text ? expression_piece_text(piece, arguments, i) : arguments[i].number;
    return expression_value(&piece->expression, values);
}

// Steps [end + 1 - size, end] with their names counted anew: *n_names, in the order in which they first stand.
static ExpressionStep *expression_piece_steps(ExpressionSql *writer, int end, const char **names, int *n_names)
{
    const int size = writer->steps[end].size;
    ExpressionStep *steps = ARENA_NEW(writer->arena, ExpressionStep, size);
    memcpy(steps, &writer->steps[end + 1 - size], (size_t)size * sizeof *steps);
    for (int i = 0; i < size; i++) {
        int k = 0;
        if (!expression_is_name(&steps[i])) continue;
        while (k < *n_names && strcmp(names[k], steps[i].text) != 0) k++;
        if (k == SQL_ARGUMENTS_MAX) {
            writer->too_many = true;
            return steps;
        }
        names[k] = steps[i].text;
        *n_names += k == *n_names;
        steps[i].index = k;
    }
    return steps;
}

static void expression_sql_piece(ExpressionSql *writer, int end)
{
    const char *names[SQL_ARGUMENTS_MAX];
    int n_names = 0;
    ExpressionPiece *piece = ARENA_NEW(writer->arena, ExpressionPiece, 1);
    piece->function.value = expression_piece_value;
    const ExpressionStep *steps = expression_piece_steps(writer, end, names, &n_names);
    piece->expression = (Expression){.steps = steps, .count = writer->steps[end].size};
    const Expression whole = {.steps = writer->steps, .count = end + 1}; // its texts have the numbers of the piece's
    piece->texts = expression_texts(&whole, writer->arena, &piece->n_texts);
    expression_put(&writer->out, SQL_FUNCTION "(");
    expression_sql_value(writer, (SqlValue){.function = &piece->function});
    for (int i = 0; i < n_names; i++) {
        expression_put(&writer->out, ", ");
        expression_put(&writer->out, sql_identifier(writer->arena, names[i]));
    }
    expression_put(&writer->out, ")");
}

// ---- pieces of SQL --------------------------------------------------------------------------------------------------

static bool expression_sql_atom(const ExpressionSql *writer, int end)
{
    double value;
    return expression_is_name(&writer->steps[end]) || expression_constant(writer->steps, end, &value);
}

static void expression_sql_write_atom(ExpressionSql *writer, int end)
{
    const ExpressionStep *step = &writer->steps[end];
    double value = 0;
    if (expression_is_name(step))
        expression_put(&writer->out, sql_identifier(writer->arena, step->text));
    else if (step->operation == EXPRESSION_TEXT)
        expression_sql_value(writer, (SqlValue){.is_text = true, .text = step->text});
    else if (expression_constant(writer->steps, end, &value))
        expression_sql_value(writer, (SqlValue){.number = value});
}

static void expression_sql_compare(ExpressionSql *writer, int end)
{
    const char *sign = expression_row(writer->steps, end)->text;
    expression_put(&writer->out, "(");
    expression_sql_write_atom(writer, expression_left(writer->steps, end));
    expression_put(&writer->out, " ");
    expression_put(&writer->out, strcmp(sign, "!=") == 0 ? "<>" : sign);
    expression_put(&writer->out, " ");
    expression_sql_write_atom(writer, end - 1);
    expression_put(&writer->out, ")");
}

static void expression_write_sql(ExpressionSql *writer, int end, ExpressionSqlNesting nesting);

// Without parentheses: a left operand of the same rank follows suit, as SQL too reads from the left, so that a long
// chain (id = 3 or id = 5 or ...) nests no parentheses.
static void expression_sql_chain(ExpressionSql *writer, int end, ExpressionSqlNesting nesting)
{
    const ExpressionRank rank = expression_row(writer->steps, end)->rank;
    const int left = expression_left(writer->steps, end);
    if (expression_row(writer->steps, left)->rank == rank && nesting.depth < EXPRESSION_SQL_DEPTH)
        expression_sql_chain(writer, left, expression_sql_below(nesting, 0));
    else
        expression_write_sql(writer, left, expression_sql_below(nesting, 0));
    expression_put(&writer->out, rank == RANK_AND ? " AND " : " OR ");
    expression_write_sql(writer, end - 1, expression_sql_below(nesting, 3));
}

static void expression_write_sql(ExpressionSql *writer, int end, ExpressionSqlNesting nesting)
{
    const ExpressionRank rank = expression_row(writer->steps, end)->rank;
    const bool shallow = nesting.depth < EXPRESSION_SQL_DEPTH && nesting.stack < EXPRESSION_SQL_STACK;
    if (expression_sql_atom(writer, end)) {
        expression_sql_write_atom(writer, end);
    } else if (rank == RANK_COMPARE && expression_sql_atom(writer, end - 1) &&
               expression_sql_atom(writer, expression_left(writer->steps, end))) {
        expression_sql_compare(writer, end);
    } else if (shallow && (rank == RANK_AND || rank == RANK_OR)) {
        expression_put(&writer->out, "(");
        expression_sql_chain(writer, end, expression_sql_below(nesting, 1));
        expression_put(&writer->out, ")");
    } else if (shallow && rank == RANK_NOT) {
        expression_put(&writer->out, "(NOT ");
        expression_write_sql(writer, end - 1, expression_sql_below(nesting, 2));
        expression_put(&writer->out, ")");
    } else {
        expression_sql_piece(writer, end);
    }
}

Error expression_sql(const Expression *expression, Arena *arena, const char **sql, SqlValue **values, int *count)
{
    ExpressionSql writer = {.steps = expression->steps, .arena = arena};
    expression_write_sql(&writer, expression->count - 1, (ExpressionSqlNesting){0});
    if (writer.too_many)
        return error_make(ERROR_USER, "a comparison of this expression names more than %d columns; ask in two steps",
                          SQL_ARGUMENTS_MAX);
    writer.out = (ExpressionOutput){.text = ARENA_NEW(arena, char, writer.out.used + 1)};
    writer.values = ARENA_NEW(arena, SqlValue, writer.n_values + 1);
    writer.n_values = 0;
    expression_write_sql(&writer, expression->count - 1, (ExpressionSqlNesting){0});
    *sql = writer.out.text;
    *values = writer.values;
    *count = writer.n_values;
    return error_none();
}
