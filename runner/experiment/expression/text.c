// The canonical text of an expression: as few parentheses as possible, spaces by rule. Parsing it gives the same
// program.
#include "expression.h"

#include <string.h>

void expression_put(ExpressionOutput *out, const char *text)
{
    const size_t length = strlen(text);
    if (out->text != NULL) memcpy(out->text + out->used, text, length);
    out->used += length;
}

static void expression_put_quoted(ExpressionOutput *out, const char *text)
{
    expression_put(out, "'");
    for (; *text != '\0'; text++) {
        const char character[] = {*text, *text == '\'' ? '\'' : '\0', '\0'};
        expression_put(out, character);
    }
    expression_put(out, "'");
}

static void expression_write(ExpressionOutput *out, const ExpressionStep *steps, int end, ExpressionRank least);

// min(min(a, b), c) is written min(a, b, c): it was folded from that, and is the same.
static void expression_write_arguments(ExpressionOutput *out, const ExpressionStep *steps, int end)
{
    const ExpressionOperation *row = expression_row(steps, end);
    const int operands = expression_operands(row);
    int last[EXPRESSION_OPERANDS]; // step of each operand
    for (int i = operands - 1, at = end - 1; i >= 0; i--) {
        last[i] = at;
        at -= steps[at].size;
    }
    for (int i = 0; i < operands; i++) {
        if (i > 0) expression_put(out, ", ");
        if (i == 0 && row->arguments == -2 && expression_row(steps, last[0]) == row)
            expression_write_arguments(out, steps, last[0]);
        else
            expression_write(out, steps, last[i], RANK_OR);
    }
}

static void expression_write_infix(ExpressionOutput *out, const ExpressionStep *steps, int end)
{
    const ExpressionOperation *row = expression_row(steps, end);
    const bool tight = row->rank == RANK_POWER;
    expression_write(out, steps, expression_left(steps, end), row->rank + (row->rank == RANK_COMPARE || tight));
    if (!tight) expression_put(out, " ");
    expression_put(out, row->text);
    if (!tight) expression_put(out, " ");
    expression_write(out, steps, end - 1, expression_right_rank(row->rank));
}

// The subtree that ends at step `end`, in parentheses if it binds less tightly than `least`.
static void expression_write(ExpressionOutput *out, const ExpressionStep *steps, int end, ExpressionRank least)
{
    const ExpressionStep *step = &steps[end];
    const ExpressionOperation *row = expression_row(steps, end);
    if (row->rank < least) expression_put(out, "(");
    switch (row->syntax) {
    case SYNTAX_NUMBER: expression_put(out, step->text != NULL ? step->text : text_number(step->number).text); break;
    case SYNTAX_NAME:
    case SYNTAX_TEXT_NAME: expression_put(out, step->text); break;
    case SYNTAX_TEXT: expression_put_quoted(out, step->text); break;
    case SYNTAX_PREFIX:
        expression_put(out, row->rank == RANK_NOT ? "not " : row->text);
        expression_write(out, steps, end - 1, row->rank);
        break;
    case SYNTAX_INFIX: expression_write_infix(out, steps, end); break;
    case SYNTAX_FUNCTION:
    case SYNTAX_TABLE:
        expression_put(out, row->syntax == SYNTAX_TABLE ? step->text : row->text);
        expression_put(out, "(");
        expression_write_arguments(out, steps, end);
        expression_put(out, ")");
        break;
    }
    if (row->rank < least) expression_put(out, ")");
}

const char *expression_text(const Expression *expression, Arena *arena)
{
    ExpressionOutput out = {0};
    expression_write(&out, expression->steps, expression->count - 1, RANK_OR);
    out = (ExpressionOutput){.text = ARENA_NEW(arena, char, out.used + 1)};
    expression_write(&out, expression->steps, expression->count - 1, RANK_OR);
    return out.text;
}
