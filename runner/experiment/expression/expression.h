// What the files of expressions share. An expression is parsed by recursive descent (parse.c, its complaints
// in errors.c) into a flat postfix program, which is evaluated on a small stack (expression.c), written as
// text again (text.c) or as SQL (sql.c).
#ifndef HOPSCOTCH_EXPRESSION_H
#define HOPSCOTCH_EXPRESSION_H

#include "../experiment.h"

// ---- expression.c: operations ---------------------------------------------------------------------------------------

// How tightly an operation binds. ATOM: needs no parentheses.
typedef enum ExpressionRank {
    RANK_OR = 1,
    RANK_AND,
    RANK_NOT,
    RANK_COMPARE,
    RANK_SUM,
    RANK_PRODUCT,
    RANK_MINUS,
    RANK_POWER,
    RANK_ATOM
} ExpressionRank;

typedef enum ExpressionSyntax {
    SYNTAX_NUMBER,
    SYNTAX_NAME,
    SYNTAX_TEXT,
    SYNTAX_TEXT_NAME,
    SYNTAX_PREFIX,
    SYNTAX_INFIX,
    SYNTAX_FUNCTION
} ExpressionSyntax;

// One row describes an operation: how it is read and written, and what it gives. A row whose text starts with another's
// stands before it.
typedef struct ExpressionOperation {
    const char *text;
    ExpressionSyntax syntax;
    ExpressionRank rank;
    int arguments; // of a function; -2: two or more, folded from the left
    double (*apply)(double a, double b);
    void (*apply_rows)(const double *a, const double *b, int n, double *out); // out may be a or b
    double (*slope)(double a, double b, double da, double db); // the derivative of apply along (da, db); NULL: 0
} ExpressionOperation;

enum { EXPRESSION_NUMBER, EXPRESSION_NAME, EXPRESSION_TEXT, EXPRESSION_TEXT_NAME, EXPRESSION_OPERATIONS = 27 }; // rows
extern const ExpressionOperation expression_operations[EXPRESSION_OPERATIONS];

int expression_find_function(const char *name); // row, -1: there is none
bool expression_compares_texts(int operation);  // = and !=
// What an infix operator of this rank takes on its right side.
ExpressionRank expression_right_rank(ExpressionRank rank);

// ---- expression.c: programs -----------------------------------------------------------------------------------------

// One step of the postfix program.
typedef struct ExpressionStep {
    int operation;    // row of expression_operations
    int index;        // NAME, TEXT_NAME: of the value
    int size;         // steps of the subtree that ends here
    double number;    // NUMBER; TEXT: how many other texts stand before the first one like this
    const char *text; // NAME, TEXT_NAME: the name; TEXT: the text
} ExpressionStep;

struct Expression {
    const ExpressionStep *steps;
    int count;
};

// For the operation at step `end`. expression_row: its row. expression_left: the last step of its left operand; the
// last step of the right or only operand is end - 1.
const ExpressionOperation *expression_row(const ExpressionStep *steps, int end);
int expression_left(const ExpressionStep *steps, int end);
bool expression_is_name(const ExpressionStep *step); // also of a column of texts
// Whether the subtree that ends at step `end` has no name; then *value is its value.
bool expression_constant(const ExpressionStep *steps, int end, double *value);

// ---- parse.c --------------------------------------------------------------------------------------------------------

typedef struct ExpressionParser {
    const char *text, *at; // the whole; the next token
    const Scope *scope;
    Arena *arena;
    ExpressionStep *steps;
    int count, depth;
    bool failed;      // there was an error
    bool stopped;     // one after which the rest can't be read
    const Node *node; // where the text stands in a spec: errors go to `diagnostics`
    Diagnostics *diagnostics;
    const char *what; // or on the command line: the first error goes to `error`
    Error error;
} ExpressionParser;

bool expression_letter(char c);             // the character can begin a word
int expression_word_length(const char *at); // letters, digits and _

// ---- errors.c -------------------------------------------------------------------------------------------------------

// Report an error at `width` bytes from `at`. After expression_stop the rest is not parsed.
void expression_complain(ExpressionParser *parser, const char *at, int width, const char *, ...) PRINTF_LIKE(4, 5);
void expression_stop(ExpressionParser *parser, const char *at, int width, const char *, ...) PRINTF_LIKE(4, 5);
// The next token is not what is `expected`.
void expression_unexpected(ExpressionParser *parser, const char *expected);
// Reports an unknown name with the likeliest reason. `after_text`: a text stands before it, in a comparison.
void expression_unknown_name(ExpressionParser *parser, const char *at, const char *name, bool after_text);

// A word or sign of other languages, and what to write here.
typedef struct ExpressionHabit {
    const char *wrong, *right; // right NULL: it is right as it is
} ExpressionHabit;
// The habit of more than `length` characters at `at`; NULL: none, or one that is right here.
const ExpressionHabit *expression_habit(const char *at, size_t length);

// ---- text.c ---------------------------------------------------------------------------------------------------------

// Text that is first measured (text NULL), then written.
typedef struct ExpressionOutput {
    char *text;
    size_t used;
} ExpressionOutput;

void expression_put(ExpressionOutput *out, const char *text); // appends; without text only counts the bytes

#endif
