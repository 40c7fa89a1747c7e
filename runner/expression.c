// Expressions: what objectives, constraints, `derive`, `exclude` and `--where` are written in. Parsed by recursive
// descent into a flat postfix program, which is evaluated on a small stack, written as SQL, or written as text again.
//
//     or     = and {"or" and}                         left to right
//     and    = not {"and" not}
//     not    = "not" not | compare
//     compare= sum [("<" | "<=" | ">" | ">=" | "=" | "==" | "!=") sum]     no chains
//     sum    = product {("+" | "-") product}
//     product= minus {("*" | "/") minus}
//     minus  = "-" minus | power
//     power  = atom ["^" minus]                       right to left; -x^2 is -(x^2)
//     atom   = number | name | 'text' | function "(" or {"," or} ")" | "(" or ")"
//
// A comparison with NaN is false, also `!=`; truth is any number but 0 and NaN.
#include "runner.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXPRESSION_LENGTH = 4096,
    EXPRESSION_DEPTH = 64,
    EXPRESSION_STACK = 512,     // a level of nesting holds at most one operand of each of the seven ranks
    EXPRESSION_POWERS = 16,     // integer exponents up to this are repeated multiplication
    EXPRESSION_EXCERPT = 76,    // columns of it that an error shows
    EXPRESSION_SQL_DEPTH = 400, // SQLite takes trees of depth 1,000, and we write at most two levels for one
};

// ---- operations -----------------------------------------------------------------------------------------------------

static bool expression_truth(double a) { return a < 0 || a > 0; }

static double expression_or(double a, double b) { return expression_truth(a) || expression_truth(b); }
static double expression_and(double a, double b) { return expression_truth(a) && expression_truth(b); }
static double expression_not(double a, double b) { return (void)b, !expression_truth(a); }
static double expression_less(double a, double b) { return a < b; }
static double expression_less_equal(double a, double b) { return a <= b; }
static double expression_greater(double a, double b) { return a > b; }
static double expression_greater_equal(double a, double b) { return a >= b; }
static double expression_equal(double a, double b) { return a == b; }
static double expression_unequal(double a, double b) { return a < b || a > b; }
static double expression_add(double a, double b) { return a + b; }
static double expression_subtract(double a, double b) { return a - b; }
static double expression_multiply(double a, double b) { return a * b; }
static double expression_divide(double a, double b) { return a / b; }
static double expression_negate(double a, double b) { return (void)b, -a; }
static double expression_min(double a, double b) { return a != a ? a : b != b ? b : a < b ? a : b; }
static double expression_max(double a, double b) { return a != a ? a : b != b ? b : a > b ? a : b; }
static double expression_abs(double a, double b) { return (void)b, fabs(a); }
static double expression_sqrt(double a, double b) { return (void)b, sqrt(a); }
static double expression_exp(double a, double b) { return (void)b, portable_exp(a); }
static double expression_log(double a, double b) { return (void)b, portable_log(a); }
static double expression_sin(double a, double b) { return (void)b, portable_sin(a); }
static double expression_cos(double a, double b) { return (void)b, portable_cos(a); }

// NaN to any power, and any number to the power of NaN, is NaN here, also where IEEE 754 says 1.
static double expression_power(double a, double b)
{
    if (a != a || b != b) return a + b;
    if (fabs(b) > EXPRESSION_POWERS || b != (double)(int)b) return portable_pow(a, b);
    double product = 1;
    for (int i = (int)fabs(b); i > 0; i--) product *= a;
    return b < 0 ? 1 / product : product;
}

// How tightly an operation binds. ATOM: what needs no parentheses anywhere.
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

// One row describes an operation: how it is read and written, what it gives, and how SQL says it. A row whose text
// starts with another's stands before it.
typedef struct ExpressionOperation {
    const char *text;
    ExpressionSyntax syntax;
    ExpressionRank rank;
    int arguments; // of a function; -2: two or more, folded from the left
    double (*apply)(double a, double b);
    const char *sql;
} ExpressionOperation;

static const ExpressionOperation expression_operations[] = {
    {"number", SYNTAX_NUMBER, RANK_ATOM, 0, NULL, NULL},
    {"name", SYNTAX_NAME, RANK_ATOM, 0, NULL, NULL},
    {"text", SYNTAX_TEXT, RANK_ATOM, 0, NULL, NULL},
    {"text name", SYNTAX_TEXT_NAME, RANK_ATOM, 0, NULL, NULL},
    {"or", SYNTAX_INFIX, RANK_OR, 2, expression_or, " OR "},
    {"and", SYNTAX_INFIX, RANK_AND, 2, expression_and, " AND "},
    {"not", SYNTAX_PREFIX, RANK_NOT, 1, expression_not, NULL},
    {"<=", SYNTAX_INFIX, RANK_COMPARE, 2, expression_less_equal, " <= "},
    {"<", SYNTAX_INFIX, RANK_COMPARE, 2, expression_less, " < "},
    {">=", SYNTAX_INFIX, RANK_COMPARE, 2, expression_greater_equal, " >= "},
    {">", SYNTAX_INFIX, RANK_COMPARE, 2, expression_greater, " > "},
    {"!=", SYNTAX_INFIX, RANK_COMPARE, 2, expression_unequal, " <> "},
    {"=", SYNTAX_INFIX, RANK_COMPARE, 2, expression_equal, " = "},
    {"+", SYNTAX_INFIX, RANK_SUM, 2, expression_add, " + "},
    {"-", SYNTAX_INFIX, RANK_SUM, 2, expression_subtract, " - "},
    {"*", SYNTAX_INFIX, RANK_PRODUCT, 2, expression_multiply, " * "},
    {"/", SYNTAX_INFIX, RANK_PRODUCT, 2, expression_divide, " * 1.0 / "}, // integers divide as reals
    {"-", SYNTAX_PREFIX, RANK_MINUS, 1, expression_negate, "-"},
    {"^", SYNTAX_INFIX, RANK_POWER, 2, expression_power, "pow"},
    {"min", SYNTAX_FUNCTION, RANK_ATOM, -2, expression_min, "min"},
    {"max", SYNTAX_FUNCTION, RANK_ATOM, -2, expression_max, "max"},
    {"abs", SYNTAX_FUNCTION, RANK_ATOM, 1, expression_abs, "abs"},
    {"sqrt", SYNTAX_FUNCTION, RANK_ATOM, 1, expression_sqrt, "sqrt"},
    {"exp", SYNTAX_FUNCTION, RANK_ATOM, 1, expression_exp, "exp"},
    {"log", SYNTAX_FUNCTION, RANK_ATOM, 1, expression_log, "ln"}, // SQL's log is to the base of 10
    {"sin", SYNTAX_FUNCTION, RANK_ATOM, 1, expression_sin, "sin"},
    {"cos", SYNTAX_FUNCTION, RANK_ATOM, 1, expression_cos, "cos"},
};

enum {
    EXPRESSION_OPERATIONS = sizeof expression_operations / sizeof *expression_operations,
    EXPRESSION_NUMBER = 0,
    EXPRESSION_NAME,
    EXPRESSION_TEXT,
    EXPRESSION_TEXT_NAME, // their rows
};

// What people write who know another language, and what they should write here; NULL: that is right.
static const struct ExpressionHabit {
    const char *wrong, *right;
} expression_habits[] = {
    {"&&", "and"}, {"||", "or"}, {"**", "^"}, {"<>", "!="}, {"!=", NULL},   {"!", "not"}, {"&", "and"},
    {"|", "or"},   {"−", "-"},   {"×", "*"},  {"·", "*"},   {"÷", "/"},     {"≤", "<="},  {"≥", ">="},
    {"≠", "!="},   {"\"", "'"},  {"[", "("},  {"]", ")"},   {"AND", "and"}, {"OR", "or"}, {"NOT", "not"},
};

// One step of the postfix program.
typedef struct ExpressionStep {
    int operation;    // row of expression_operations
    int index;        // NAME: of the value
    int size;         // steps of the subtree that ends here
    double number;    // NUMBER
    const char *text; // NAME, TEXT_NAME: the name; TEXT: the text
} ExpressionStep;

struct Expression {
    const ExpressionStep *steps;
    int count;
};

// ---- parsing --------------------------------------------------------------------------------------------------------

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

// The text at a node's place, NULL if there is none.
static const char *expression_source(const Node *node)
{
    const char *text = node->source->text;
    uint32_t c;
    if (strncmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3;
    for (int i = 1; i < node->line; i++) {
        text = strchr(text, '\n');
        if (text == NULL) return NULL;
        text++;
    }
    for (int i = 1; i < node->column && *text != '\0'; i++) text += utf8_read(text, &c);
    return text;
}

// The place of the scalar's byte `offset`, in the scalar's own line. False if it does not stand there (folded lines,
// escapes other than of quotes).
static bool expression_column(const Node *node, int offset, int *column)
{
    const char *source = expression_source(node);
    if (source == NULL) return false;
    const char quote = *source;
    *column = node->column;
    if (node->quoted) {
        if (quote != '\'' && quote != '"') return false;
        source++;
        *column += 1;
    }
    for (const char *text = node->text, *end = text + offset; text < end; *column += 1) {
        const bool escaped = node->quoted && ((quote == '\'' && strncmp(source, "''", 2) == 0) ||
                                              (quote == '"' && source[0] == '\\' && source[1] == text[0]));
        if (escaped) {
            source++;
            *column += 1;
        }
        uint32_t c;
        const int length = utf8_read(text, &c);
        if (length == 0 || strncmp(source, text, (size_t)length) != 0) return false;
        source += length;
        text += length;
    }
    return true;
}

static int expression_characters(const char *from, int bytes)
{
    int characters = 0;
    uint32_t c;
    for (const char *at = from; at < from + bytes && *at != '\0'; characters++) {
        const int length = utf8_read(at, &c);
        at += length > 0 ? length : 1;
    }
    return characters;
}

static void expression_report(ExpressionParser *parser, const char *at, int width, const char *format,
                              va_list arguments)
{
    char message[320];
    vsnprintf(message, sizeof message, format, arguments);
    const int offset = (int)(at - parser->text), characters = expression_characters(at, width);
    int column;
    if (parser->node == NULL && !parser->failed) {
        const int place = expression_characters(parser->text, offset) + 1;
        const Excerpt excerpt = source_excerpt(parser->text, 1, place, characters, EXPRESSION_EXCERPT);
        parser->error =
            error_make(ERROR_USER, "%s: %s\n    %s\n    %s", parser->what, message, excerpt.line, excerpt.caret);
    } else if (parser->node != NULL && expression_column(parser->node, offset, &column)) {
        diagnose_at(parser->diagnostics, parser->node->source, parser->node->line, column, characters, "%s", message);
    } else if (parser->node != NULL) {
        diagnose(parser->diagnostics, parser->node, "%s (at character %d of the expression)", message,
                 expression_characters(parser->text, offset) + 1);
    }
    parser->failed = true;
}

// An error at `width` bytes from `at`, after which parsing goes on.
static void expression_complain(ExpressionParser *, const char *at, int width, const char *, ...) PRINTF_LIKE(4, 5);
static void expression_complain(ExpressionParser *parser, const char *at, int width, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    expression_report(parser, at, width, format, arguments);
    va_end(arguments);
}

// An error after which the rest can't be read.
static void expression_stop(ExpressionParser *, const char *at, int width, const char *, ...) PRINTF_LIKE(4, 5);
static void expression_stop(ExpressionParser *parser, const char *at, int width, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    expression_report(parser, at, width, format, arguments);
    va_end(arguments);
    parser->stopped = true;
}

static bool expression_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static bool expression_digit(char c) { return c >= '0' && c <= '9'; }

static int expression_word_length(const char *at)
{
    int length = 0;
    while (expression_letter(at[length]) || expression_digit(at[length])) length++;
    return length;
}

static void expression_skip(ExpressionParser *parser)
{
    while (*parser->at != '\0' && strchr(" \t\r\n", *parser->at) != NULL) parser->at++;
}

// Emits an operation over the subtrees that end before it.
static void expression_emit(ExpressionParser *parser, ExpressionStep step)
{
    const ExpressionOperation *row = &expression_operations[step.operation];
    const int operands = row->syntax == SYNTAX_INFIX || row->arguments == -2 ? 2 : row->apply != NULL ? 1 : 0;
    step.size = 1;
    for (int i = 0; i < operands; i++) step.size += parser->steps[parser->count - step.size].size;
    parser->steps[parser->count++] = step;
}

// The habit of more than `length` characters that stands here.
static const struct ExpressionHabit *expression_habit(const char *at, size_t length)
{
    for (size_t i = 0; i < sizeof expression_habits / sizeof *expression_habits; i++) {
        const struct ExpressionHabit *habit = &expression_habits[i];
        const size_t size = strlen(habit->wrong);
        if (size <= length || strncmp(at, habit->wrong, size) != 0) continue;
        if (expression_letter(at[0]) && expression_word_length(at) != (int)size) continue;
        return habit->right != NULL ? habit : NULL;
    }
    return NULL;
}

// The row of this syntax and rank whose sign or word comes next; 0 if there is none (row 0 is none of them).
static int expression_take(ExpressionParser *parser, ExpressionSyntax syntax, ExpressionRank rank)
{
    if (parser->stopped) return 0;
    expression_skip(parser);
    for (int i = 0; i < EXPRESSION_OPERATIONS; i++) {
        const ExpressionOperation *row = &expression_operations[i];
        const size_t length = strlen(row->text);
        if (row->syntax != syntax || row->rank != rank || strncmp(parser->at, row->text, length) != 0) continue;
        if (expression_letter(row->text[0]) && expression_word_length(parser->at) != (int)length) continue;
        if (expression_habit(parser->at, length) != NULL) continue; // ** is no product
        parser->at += length;
        if (row->text[0] == '=' && *parser->at == '=') parser->at++; // == is = too
        return i;
    }
    return 0;
}

// Whether the operand that ends at step `end` is a text.
static bool expression_is_text(const ExpressionParser *parser, int end)
{
    const int operation = parser->steps[end].operation;
    return operation == EXPRESSION_TEXT || operation == EXPRESSION_TEXT_NAME;
}

// Refuses a text as an operand of anything but = and !=. `at`: where that operand starts.
static void expression_need_number(ExpressionParser *parser, const char *at)
{
    if (parser->stopped || parser->count == 0 || !expression_is_text(parser, parser->count - 1)) return;
    const bool name = parser->steps[parser->count - 1].operation == EXPRESSION_TEXT_NAME;
    const char *text = parser->steps[parser->count - 1].text;
    const int width = name ? (int)strlen(text) : 1;
    if (name) {
        expression_stop(parser, at, width, "'%.40s' is a text; compare it, as in %.40s = 'none'", text, text);
    } else {
        expression_stop(parser, at, width, "a text can only be compared, with = or !=, to a column that holds texts");
    }
}

static void expression_parse_rank(ExpressionParser *parser, ExpressionRank rank);

// One level deeper. False, with an error, if that is too deep.
static bool expression_enter(ExpressionParser *parser)
{
    if (++parser->depth <= EXPRESSION_DEPTH) return true;
    if (!parser->stopped) expression_stop(parser, parser->at, 1, "nested more than %d deep", EXPRESSION_DEPTH);
    return false;
}

// ---- atoms ----------------------------------------------------------------------------------------------------------

// Digits [. digits] [e [sign] digits], and nothing glued to it.
static int expression_number_length(const char *at)
{
    int n = 0;
    while (expression_digit(at[n])) n++;
    if (n > 0 && at[n] == '.' && expression_digit(at[n + 1])) {
        n++;
        while (expression_digit(at[n])) n++;
    }
    if (n > 0 && (at[n] == 'e' || at[n] == 'E')) {
        int m = n + 1;
        if (at[m] == '+' || at[m] == '-') m++;
        if (!expression_digit(at[m])) return n;
        while (expression_digit(at[m])) m++;
        n = m;
    }
    return n;
}

static void expression_parse_number(ExpressionParser *parser)
{
    const char *start = parser->at;
    const int length = expression_number_length(start);
    int whole = length; // with what is glued to it
    while (start[whole] == '.' || expression_word_length(start + whole) > 0) {
        whole += start[whole] == '.' ? 1 : expression_word_length(start + whole);
    }
    const int shown = whole < 40 ? whole : 40;
    if (whole > length) {
        if (start[0] == '.') {
            expression_stop(parser, start, whole, "write 0%.*s, with a digit before the point", shown, start);
        } else if (start[length] == '.' && whole == length + 1) {
            expression_stop(parser, start, whole, "write %.*s0, with a digit behind the point", shown, start);
        } else {
            expression_stop(parser, start, whole, "'%.*s' is not a number", shown, start);
        }
        return;
    }
    const double value = strtod(start, NULL);
    if (!(value <= 1.7976931348623157e308)) {
        expression_stop(parser, start, whole, "this number is too large for a double");
        return;
    }
    parser->at += length;
    expression_emit(parser, (ExpressionStep){.operation = EXPRESSION_NUMBER, .number = value});
}

// 'text', with '' for a quote in it.
static void expression_parse_quoted(ExpressionParser *parser)
{
    const char *start = parser->at, *end = start + 1;
    while (*end != '\0' && !(end[0] == '\'' && end[1] != '\'')) end += end[0] == '\'' ? 2 : 1;
    if (*end == '\0') {
        expression_stop(parser, start, 1, "this quote is never closed");
        return;
    }
    char *text = arena_take(parser->arena, (size_t)(end - start), 1), *out = text;
    for (const char *at = start + 1; at < end; at++) {
        *out++ = *at;
        if (*at == '\'') at++;
    }
    *out = '\0';
    parser->at = end + 1;
    expression_emit(parser, (ExpressionStep){.operation = EXPRESSION_TEXT, .text = text});
}

static int expression_find(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) return i;
    }
    return -1;
}

static int expression_find_function(const char *name)
{
    for (int i = 0; i < EXPRESSION_OPERATIONS; i++) {
        const ExpressionOperation *row = &expression_operations[i];
        if (row->syntax == SYNTAX_FUNCTION && strcmp(row->text, name) == 0) return i;
    }
    return -1;
}

// Up to a line of names, for messages.
static void expression_list_names(const char *const *names, int count, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < count; i++) {
        if (used + strlen(names[i]) + 16 >= size) {
            snprintf(out + used, size - used, ", ...");
            return;
        }
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", names[i]);
    }
}

// The names of the scope as one list.
static const char **expression_all_names(const Scope *scope, Arena *arena)
{
    const char **names = ARENA_NEW(arena, const char *, scope->count + scope->n_texts + 1);
    for (int i = 0; i < scope->count; i++) names[i] = scope->names[i];
    for (int i = 0; i < scope->n_texts; i++) names[scope->count + i] = scope->texts[i];
    return names;
}

// Says why the name is not known, by the likeliest reason. `after_text`: what stands before it is compared as a text.
static void expression_unknown_name(ExpressionParser *parser, const char *at, const char *name, bool after_text)
{
    static const char *const no_numbers[] = {"nan", "NaN", "inf", "Inf", "infinity"};
    const int width = (int)strlen(name), n_names = parser->scope->count + parser->scope->n_texts;
    const char **names = expression_all_names(parser->scope, parser->arena);
    const char *near = nearest_name(name, names, n_names);
    const struct ExpressionHabit *habit = expression_habit(at, 0);
    char list[200];
    expression_list_names(names, n_names, list, sizeof list);
    if (after_text) {
        expression_complain(parser, at, width, "unknown name '%.64s'; a text stands in single quotes", name);
    } else if (habit != NULL) {
        expression_stop(parser, at, width, "write %s instead of %s", habit->right, habit->wrong);
    } else if (expression_find_function(name) >= 0) {
        expression_complain(parser, at, width, "'%s' is a function; write %s(...)", name, name);
    } else if (expression_find(no_numbers, 5, name) >= 0) {
        expression_complain(parser, at, width, "'%s' is no number that can be used here", name);
    } else if (near != NULL) {
        expression_complain(parser, at, width, "unknown name '%.64s'; did you mean '%s'?", name, near);
    } else if (n_names > 0) {
        expression_complain(parser, at, width, "unknown name '%.64s'; there are: %s", name, list);
    } else {
        expression_complain(parser, at, width, "unknown name '%.64s'; only numbers can stand here", name);
    }
}

static void expression_parse_name(ExpressionParser *parser, const char *start, const char *name)
{
    const Scope *scope = parser->scope;
    const int index = expression_find(scope->names, scope->count, name);
    const int text = index < 0 ? expression_find(scope->texts, scope->n_texts, name) : -1;
    const bool after_text = parser->count > 0 && expression_is_text(parser, parser->count - 1);
    if (index < 0 && text < 0) expression_unknown_name(parser, start, name, after_text);
    const int operation = text >= 0 ? EXPRESSION_TEXT_NAME : EXPRESSION_NAME;
    expression_emit(parser, (ExpressionStep){.operation = operation, .index = index < 0 ? 0 : index, .text = name});
}

// Arguments in parentheses; more than two of min and max fold from the left. Returns how many there were.
static int expression_parse_arguments(ExpressionParser *parser, int operation)
{
    int n = 0;
    for (bool more = true; more && !parser->stopped; n++) {
        expression_skip(parser);
        const char *start = parser->at;
        if (n == 0 && *start == ')') break;
        expression_parse_rank(parser, RANK_OR);
        expression_need_number(parser, start);
        if (parser->stopped) return n;
        const int wanted = operation >= 0 ? expression_operations[operation].arguments : 0;
        if (wanted == -2 && n > 0) expression_emit(parser, (ExpressionStep){.operation = operation});
        expression_skip(parser);
        more = *parser->at == ',';
        parser->at += more;
    }
    if (parser->stopped) return n;
    if (*parser->at != ')') {
        expression_stop(parser, parser->at, 1, n > 0 ? "expected ',' or ')' here" : "expected a value or ')' here");
    } else {
        parser->at++;
    }
    return n;
}

static void expression_parse_call(ExpressionParser *parser, const char *start, const char *name)
{
    const int operation = expression_find_function(name), width = (int)strlen(name), before = parser->count;
    if (operation < 0) {
        expression_complain(parser, start, width,
                            "unknown function '%.64s'; there are min, max, abs, sqrt, exp, log, sin, cos", name);
    }
    parser->at++; // the parenthesis
    if (!expression_enter(parser)) return;
    const int n = expression_parse_arguments(parser, operation);
    parser->depth--;
    if (parser->stopped) return;
    if (operation < 0) { // go on as if it were a number, to find what else is wrong
        parser->count = before;
        expression_emit(parser, (ExpressionStep){.operation = EXPRESSION_NUMBER});
        return;
    }
    const int wanted = expression_operations[operation].arguments;
    if (wanted == -2 ? n < 2 : n != wanted) {
        expression_stop(parser, start, width, "%s takes %s; %d given", name,
                        wanted == -2 ? "two or more arguments" : "one argument", n);
    } else if (wanted != -2) {
        expression_emit(parser, (ExpressionStep){.operation = operation});
    }
}

static void expression_parse_word(ExpressionParser *parser)
{
    const char *start = parser->at;
    const int length = expression_word_length(start);
    char *name = arena_take(parser->arena, (size_t)length + 1, 1);
    memcpy(name, start, (size_t)length);
    if (strcmp(name, "and") == 0 || strcmp(name, "or") == 0 || strcmp(name, "not") == 0) {
        expression_stop(parser, start, length, "expected a value before '%s'", name);
        return;
    }
    parser->at += length;
    const char *behind = parser->at;
    expression_skip(parser);
    if (*parser->at == '(') {
        expression_parse_call(parser, start, name);
    } else {
        parser->at = behind;
        expression_parse_name(parser, start, name);
    }
}

// What stands here is none of what is `expected`.
static void expression_unexpected(ExpressionParser *parser, const char *expected)
{
    const char *at = parser->at;
    uint32_t c;
    const struct ExpressionHabit *habit = expression_habit(at, 0);
    if (habit != NULL) {
        expression_stop(parser, at, (int)strlen(habit->wrong), "write %s instead of %s", habit->right, habit->wrong);
        return;
    }
    const int word = expression_word_length(at), character = utf8_read(at, &c);
    if (*at == '\0') {
        expression_stop(parser, at, 1, "expected %s at the end", expected);
    } else if (word > 0) {
        expression_stop(parser, at, word, "expected %s before '%.*s'", expected, word < 40 ? word : 40, at);
    } else {
        expression_stop(parser, at, 1, "expected %s here, not '%.*s'", expected, character, at);
    }
}

static void expression_parse_group(ExpressionParser *parser)
{
    const char *start = parser->at++;
    if (!expression_enter(parser)) return;
    expression_parse_rank(parser, RANK_OR);
    parser->depth--;
    if (parser->stopped) return;
    expression_skip(parser);
    if (*parser->at == ')') {
        parser->at++;
    } else if (*parser->at == '\0') {
        expression_stop(parser, start, 1, "this parenthesis is never closed");
    } else {
        expression_unexpected(parser, "an operator or ')'");
    }
}

static void expression_parse_atom(ExpressionParser *parser)
{
    expression_skip(parser);
    const char c = *parser->at;
    if (parser->stopped) return;
    if (c == '(')
        expression_parse_group(parser);
    else if (c == '\'')
        expression_parse_quoted(parser);
    else if (expression_digit(c) || (c == '.' && expression_digit(parser->at[1])))
        expression_parse_number(parser);
    else if (expression_letter(c))
        expression_parse_word(parser);
    else
        expression_unexpected(parser, "a value");
}

// ---- operators ------------------------------------------------------------------------------------------------------

// A prefix operator of this rank and what it applies to. False if none stands here.
static bool expression_parse_prefix(ExpressionParser *parser, ExpressionRank rank)
{
    const int operation = expression_take(parser, SYNTAX_PREFIX, rank);
    if (operation == 0) return false;
    if (!expression_enter(parser)) return true;
    expression_skip(parser);
    const char *start = parser->at;
    expression_parse_rank(parser, rank);
    expression_need_number(parser, start);
    parser->depth--;
    if (!parser->stopped) expression_emit(parser, (ExpressionStep){.operation = operation});
    return true;
}

// After the right side of `operation`: whether both sides are what it takes.
static void expression_check_sides(ExpressionParser *parser, int operation, const char *left, const char *right)
{
    if (parser->stopped) return;
    const ExpressionStep *last = &parser->steps[parser->count - 1];
    const bool right_text = expression_is_text(parser, parser->count - 1);
    const bool left_text = expression_is_text(parser, parser->count - 1 - last->size);
    const bool equality = expression_operations[operation].apply == expression_equal ||
                          expression_operations[operation].apply == expression_unequal;
    const bool names = last->operation == EXPRESSION_TEXT_NAME ||
                       parser->steps[parser->count - 1 - last->size].operation == EXPRESSION_TEXT_NAME;
    if (equality && left_text && right_text && names) return;
    expression_need_number(parser, right);
    if (parser->stopped || !left_text) return;
    const int count = parser->count;
    parser->count -= last->size;
    expression_need_number(parser, left);
    parser->count = count;
}

// What an infix operator of this rank takes on its right side.
static ExpressionRank expression_right_rank(ExpressionRank rank) { return rank == RANK_POWER ? RANK_MINUS : rank + 1; }

static void expression_parse_infix(ExpressionParser *parser, ExpressionRank rank)
{
    expression_skip(parser);
    const char *left = parser->at;
    expression_parse_rank(parser, rank + 1);
    for (int n = 0;; n++) {
        expression_skip(parser);
        const char *sign = parser->at;
        const int operation = expression_take(parser, SYNTAX_INFIX, rank);
        if (operation == 0) return;
        if (rank == RANK_COMPARE && n > 0) {
            expression_stop(parser, sign, (int)(parser->at - sign),
                            "comparisons do not chain; write x < y and y < z for x < y < z");
            return;
        }
        if (rank == RANK_POWER && !expression_enter(parser)) return; // the only one that contains itself
        expression_skip(parser);
        const char *right = parser->at;
        expression_parse_rank(parser, expression_right_rank(rank));
        parser->depth -= rank == RANK_POWER;
        expression_check_sides(parser, operation, left, right);
        if (parser->stopped) return;
        expression_emit(parser, (ExpressionStep){.operation = operation});
    }
}

// An expression whose operators bind as `rank` or tighter.
static void expression_parse_rank(ExpressionParser *parser, ExpressionRank rank)
{
    if (parser->stopped) return;
    if (rank == RANK_ATOM) {
        expression_parse_atom(parser);
    } else if (rank == RANK_NOT || rank == RANK_MINUS) {
        if (!expression_parse_prefix(parser, rank)) expression_parse_rank(parser, rank + 1);
    } else {
        expression_parse_infix(parser, rank);
    }
}

static Expression *expression_parse_all(ExpressionParser *parser)
{
    const size_t length = strlen(parser->text);
    parser->at = parser->text;
    if (length > EXPRESSION_LENGTH) {
        expression_stop(parser, parser->text, 1, "an expression has at most %d characters; this has %zu",
                        EXPRESSION_LENGTH, length);
        return NULL;
    }
    parser->steps = ARENA_NEW(parser->arena, ExpressionStep, length + 1); // every step takes a character
    expression_skip(parser);
    if (*parser->at == '\0') expression_stop(parser, parser->at, 1, "the expression is empty");
    const char *start = parser->at;
    expression_parse_rank(parser, RANK_OR);
    expression_need_number(parser, start);
    expression_skip(parser);
    if (!parser->stopped && *parser->at != '\0') expression_unexpected(parser, "an operator");
    if (parser->failed) return NULL;
    Expression *expression = ARENA_NEW(parser->arena, Expression, 1);
    *expression = (Expression){parser->steps, parser->count};
    if (strlen(expression_text(expression, parser->arena)) <= EXPRESSION_LENGTH) return expression;
    expression_complain(parser, parser->text, 1, "written out, the expression has more than %d characters",
                        EXPRESSION_LENGTH);
    return NULL;
}

Expression *expression_parse(const Node *at, const Scope *scope, Arena *arena, Diagnostics *diagnostics)
{
    if (at->kind != NODE_SCALAR) {
        diagnose(diagnostics, at, "expected an expression, like \"k_fp > 100 and thrust < 30\"");
        return NULL;
    }
    ExpressionParser parser = {
        .text = at->text, .scope = scope, .arena = arena, .node = at, .diagnostics = diagnostics};
    return expression_parse_all(&parser);
}

Error expression_parse_text(const char *text, const char *what, const Scope *scope, Arena *arena, Expression **out)
{
    ExpressionParser parser = {.text = text, .scope = scope, .arena = arena, .what = what};
    *out = expression_parse_all(&parser);
    return *out != NULL ? error_none() : parser.error;
}

// ---- evaluating -----------------------------------------------------------------------------------------------------

double expression_value(const Expression *expression, const double *values)
{
    double stack[EXPRESSION_STACK], *top = stack; // top: behind the last
    const ExpressionStep *const end = expression->steps + expression->count;
    for (const ExpressionStep *step = expression->steps; step < end; step++) {
        const ExpressionOperation *row = &expression_operations[step->operation];
        if (step->operation == EXPRESSION_NAME) {
            *top++ = values[step->index];
        } else if (step->operation == EXPRESSION_NUMBER) {
            *top++ = step->number;
        } else if (row->apply == NULL) {
            *top++ = NAN; // texts have no value outside SQL
        } else if (row->arguments == 1) {
            top[-1] = row->apply(top[-1], 0);
        } else {
            top--;
            top[-1] = row->apply(top[-1], top[0]);
        }
    }
    return stack[0];
}

bool expression_uses(const Expression *expression, int name)
{
    for (int i = 0; i < expression->count; i++) {
        if (expression->steps[i].operation == EXPRESSION_NAME && expression->steps[i].index == name) return true;
    }
    return false;
}

// ---- writing --------------------------------------------------------------------------------------------------------

// Text that is first measured (out NULL), then written.
typedef struct ExpressionWriter {
    const Expression *expression;
    Arena *arena;
    char *out;
    size_t used;
    SqlValue *values; // SQL: what its question marks stand for
    int n_values;
    bool too_deep;
} ExpressionWriter;

static void expression_put(ExpressionWriter *writer, const char *text)
{
    const size_t length = strlen(text);
    if (writer->out != NULL) memcpy(writer->out + writer->used, text, length);
    writer->used += length;
}

static void expression_put_quoted(ExpressionWriter *writer, const char *text)
{
    expression_put(writer, "'");
    for (; *text != '\0'; text++) {
        const char character[] = {*text, *text == '\'' ? '\'' : '\0', '\0'};
        expression_put(writer, character);
    }
    expression_put(writer, "'");
}

static const ExpressionOperation *expression_row(const ExpressionWriter *writer, int end)
{
    return &expression_operations[writer->expression->steps[end].operation];
}

// The last step of the left operand of the operation at `end`; that of its right (or only) one is end - 1.
static int expression_left(const ExpressionWriter *writer, int end)
{
    return end - 1 - writer->expression->steps[end - 1].size;
}

static void expression_write(ExpressionWriter *writer, int end, ExpressionRank least);

// min(min(a, b), c) is written min(a, b, c): it was folded from that, and is the same.
static void expression_write_arguments(ExpressionWriter *writer, int end)
{
    const ExpressionOperation *row = expression_row(writer, end);
    if (row->arguments == -2) {
        const int left = expression_left(writer, end);
        if (expression_row(writer, left) == row)
            expression_write_arguments(writer, left);
        else
            expression_write(writer, left, RANK_OR);
        expression_put(writer, ", ");
    }
    expression_write(writer, end - 1, RANK_OR);
}

static void expression_write_infix(ExpressionWriter *writer, int end)
{
    const ExpressionOperation *row = expression_row(writer, end);
    const bool tight = row->rank == RANK_POWER;
    expression_write(writer, expression_left(writer, end), row->rank + (row->rank == RANK_COMPARE || tight));
    if (!tight) expression_put(writer, " ");
    expression_put(writer, row->text);
    if (!tight) expression_put(writer, " ");
    expression_write(writer, end - 1, expression_right_rank(row->rank));
}

// The subtree that ends at step `end`, in parentheses if it binds less tightly than `least`.
static void expression_write(ExpressionWriter *writer, int end, ExpressionRank least)
{
    const ExpressionStep *step = &writer->expression->steps[end];
    const ExpressionOperation *row = expression_row(writer, end);
    if (row->rank < least) expression_put(writer, "(");
    switch (row->syntax) {
    case SYNTAX_NUMBER: expression_put(writer, text_number(step->number).text); break;
    case SYNTAX_NAME:
    case SYNTAX_TEXT_NAME: expression_put(writer, step->text); break;
    case SYNTAX_TEXT: expression_put_quoted(writer, step->text); break;
    case SYNTAX_PREFIX:
        expression_put(writer, row->rank == RANK_NOT ? "not " : row->text);
        expression_write(writer, end - 1, row->rank);
        break;
    case SYNTAX_INFIX: expression_write_infix(writer, end); break;
    case SYNTAX_FUNCTION:
        expression_put(writer, row->text);
        expression_put(writer, "(");
        expression_write_arguments(writer, end);
        expression_put(writer, ")");
        break;
    }
    if (row->rank < least) expression_put(writer, ")");
}

const char *expression_text(const Expression *expression, Arena *arena)
{
    ExpressionWriter writer = {.expression = expression, .arena = arena};
    expression_write(&writer, expression->count - 1, RANK_OR);
    writer.out = ARENA_NEW(arena, char, writer.used + 1);
    writer.used = 0;
    expression_write(&writer, expression->count - 1, RANK_OR);
    return writer.out;
}

// ---- SQL ------------------------------------------------------------------------------------------------------------
// NULL in a column is NaN here. SQL's three-valued logic gives NULL where ours gives false; WHERE takes both as false,
// and `and` and `or` keep them apart from true. So only where a truth is negated or used as a number must it be made
// two-valued, by IS TRUE and IS NOT TRUE; comparisons elsewhere stay bare, so that an index can serve them.

static void expression_sql_constant(ExpressionWriter *writer, SqlValue value)
{
    expression_put(writer, "?");
    if (writer->out != NULL) writer->values[writer->n_values] = value;
    writer->n_values++;
}

static void expression_write_sql(ExpressionWriter *writer, int end, int depth);

// An operand that is used as a number.
static void expression_sql_number(ExpressionWriter *writer, int end, int depth)
{
    const ExpressionRank rank = expression_row(writer, end)->rank;
    const bool truth = rank == RANK_OR || rank == RANK_AND || rank == RANK_COMPARE;
    if (truth) expression_put(writer, "(");
    expression_write_sql(writer, end, depth + truth);
    if (truth) expression_put(writer, " IS TRUE)");
}

static void expression_sql_prefix(ExpressionWriter *writer, int end, int depth)
{
    const ExpressionOperation *row = expression_row(writer, end);
    if (row->rank == RANK_NOT) {
        expression_put(writer, "(");
        expression_write_sql(writer, end - 1, depth);
        expression_put(writer, " IS NOT TRUE)");
    } else {
        expression_put(writer, "(-");
        expression_sql_number(writer, end - 1, depth);
        expression_put(writer, ")");
    }
}

static void expression_sql_infix(ExpressionWriter *writer, int end, int depth)
{
    const ExpressionOperation *row = expression_row(writer, end);
    const bool logic = row->rank == RANK_OR || row->rank == RANK_AND, call = row->rank == RANK_POWER;
    void (*operand)(ExpressionWriter *, int, int) = logic ? expression_write_sql : expression_sql_number;
    expression_put(writer, call ? row->sql : "");
    expression_put(writer, "(");
    operand(writer, expression_left(writer, end), depth);
    expression_put(writer, call ? ", " : row->sql);
    operand(writer, end - 1, depth);
    expression_put(writer, ")");
}

static void expression_sql_function(ExpressionWriter *writer, int end, int depth)
{
    const ExpressionOperation *row = expression_row(writer, end);
    expression_put(writer, row->sql);
    expression_put(writer, "(");
    if (row->arguments == -2) {
        expression_sql_number(writer, expression_left(writer, end), depth);
        expression_put(writer, ", ");
    }
    expression_sql_number(writer, end - 1, depth);
    expression_put(writer, ")");
}

static void expression_write_sql(ExpressionWriter *writer, int end, int depth)
{
    const ExpressionStep *step = &writer->expression->steps[end];
    if (depth > EXPRESSION_SQL_DEPTH) {
        writer->too_deep = true;
        return;
    }
    switch (expression_row(writer, end)->syntax) {
    case SYNTAX_NUMBER: expression_sql_constant(writer, (SqlValue){.number = step->number}); break;
    case SYNTAX_TEXT: expression_sql_constant(writer, (SqlValue){.is_text = true, .text = step->text}); break;
    case SYNTAX_NAME:
    case SYNTAX_TEXT_NAME: expression_put(writer, sql_identifier(writer->arena, step->text)); break;
    case SYNTAX_PREFIX: expression_sql_prefix(writer, end, depth + 1); break;
    case SYNTAX_INFIX: expression_sql_infix(writer, end, depth + 1); break;
    case SYNTAX_FUNCTION: expression_sql_function(writer, end, depth + 1); break;
    }
}

Error expression_sql(const Expression *expression, Arena *arena, const char **sql, SqlValue **values, int *count)
{
    ExpressionWriter writer = {.expression = expression, .arena = arena};
    expression_write_sql(&writer, expression->count - 1, 0);
    if (writer.too_deep) {
        return error_make(ERROR_USER,
                          "this expression has more than %d operations inside each other, too many for a "
                          "query; shorten it or ask in two steps",
                          EXPRESSION_SQL_DEPTH);
    }
    writer.out = ARENA_NEW(arena, char, writer.used + 1);
    writer.values = ARENA_NEW(arena, SqlValue, writer.n_values + 1);
    writer.used = 0;
    writer.n_values = 0;
    expression_write_sql(&writer, expression->count - 1, 0);
    *sql = writer.out;
    *values = writer.values;
    *count = writer.n_values;
    return error_none();
}
