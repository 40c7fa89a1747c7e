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
    SYNTAX_FUNCTION,
    SYNTAX_TABLE // a function of the scope
} ExpressionSyntax;

// What functions are about; messages and pages list them by it.
typedef enum ExpressionGroup {
    GROUP_NONE,
    GROUP_CHOICE,
    GROUP_SIGN,
    GROUP_WHOLE,
    GROUP_GROWTH,
    GROUP_ANGLE
} ExpressionGroup;

#define EXPRESSION_PI "pi" // a number, unless a name of the scope is called so

enum {
    EXPRESSION_NUMBER, // the first rows
    EXPRESSION_NAME,
    EXPRESSION_TEXT,
    EXPRESSION_TEXT_NAME,
    EXPRESSION_TABLE,           // of one argument, then of two
    EXPRESSION_TABLE_OF_TWO,    //
    EXPRESSION_OPERATIONS = 45, // rows
    EXPRESSION_OPERANDS = 3,    // at most
    EXPRESSION_STACK = 512      // a level of nesting holds at most an operand of each of 5 ranks, and 2 of a function
};

// One row describes an operation: how it is read and written, and what it gives. A row whose sign starts with another's
// stands before it. slope ignores operands that the operation does not have.
typedef struct ExpressionOperation {
    const char *text;
    ExpressionSyntax syntax;
    ExpressionRank rank;
    int arguments; // operands; -2: two or more arguments, folded from the left
    ProgramOperation program;
    ExpressionGroup group;
    // the derivative of its value at x[EXPRESSION_OPERANDS] along dx; NULL: 0
    double (*slope)(const double *x, const double *dx);
} ExpressionOperation;

extern const ExpressionOperation expression_operations[EXPRESSION_OPERATIONS];

int expression_operands(const ExpressionOperation *row); // 0 to EXPRESSION_OPERANDS
int expression_find_function(const char *name);          // row, -1: there is none
bool expression_compares_texts(int operation);           // = and !=
// What an infix operator of this rank takes on its right side.
ExpressionRank expression_right_rank(ExpressionRank rank);

// ---- expression.c: programs -----------------------------------------------------------------------------------------

// One step of the postfix program.
struct ExpressionStep {
    int operation;    // row of expression_operations
    int index;        // NAME, TEXT_NAME: of the value; TABLE: of the table
    int size;         // steps of the subtree that ends here
    int at;           // byte of the text at which the name, number, sign or function stands
    double number;    // NUMBER; TEXT: how many other texts stand before the first one like this
    const char *text; // NAME, TEXT_NAME: the name; TEXT: the text; NUMBER: its name, NULL: it has none; TABLE: its name
};

struct Expression {
    const ExpressionStep *steps;
    int count;
    const Node *node; // where it stands in a spec; NULL: on the command line
};

// For the operation at step `end`. expression_row: its row. expression_left: the last step of the left one of its two
// operands; the last step of the last or only operand is end - 1.
const ExpressionOperation *expression_row(const ExpressionStep *steps, int end);
int expression_left(const ExpressionStep *steps, int end);
bool expression_is_name(const ExpressionStep *step);  // also of a column of texts
bool expression_is_table(const ExpressionStep *step); // only a tape evaluates it
// Whether the subtree that ends at step `end` has no name and no table; then *value is its value.
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

bool expression_letter(char c);                                 // the character can begin a word
int expression_word_length(const char *at);                     // letters, digits and _
int expression_find_name(const Scope *scope, const char *name); // index; -1: it is not a name of numbers

// ---- errors.c -------------------------------------------------------------------------------------------------------

// Report an error at `width` bytes from byte `at` of the text of a scalar.
void expression_diagnose(Diagnostics *diagnostics, const Node *node, int at, int width, const char *, ...)
    PRINTF_LIKE(5, 6);
void expression_diagnose_warning(Diagnostics *diagnostics, const Node *node, int at, int width, const char *, ...)
    PRINTF_LIKE(5, 6); // as a warning

// Report an error at `width` bytes from `at`. After expression_stop the rest is not parsed.
void expression_complain(ExpressionParser *parser, const char *at, int width, const char *, ...) PRINTF_LIKE(4, 5);
void expression_stop(ExpressionParser *parser, const char *at, int width, const char *, ...) PRINTF_LIKE(4, 5);
// The next token is not what is `expected`.
void expression_unexpected(ExpressionParser *parser, const char *expected);
// Reports an unknown function.
void expression_unknown_function(ExpressionParser *parser, const char *at, const char *name);
// What is meant by a word with points at `at`, such as sin by np.sin. *length: of the word. NULL: it is not known.
const char *expression_of_module(const char *at, int *length);
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
