// Parses an expression by recursive descent into a postfix program.
//
//     or      = and {"or" and}                         left to right
//     and     = not {"and" not}
//     not     = "not" not | compare
//     compare = sum [("<" | "<=" | ">" | ">=" | "=" | "==" | "!=") sum]     no chains
//     sum     = product {("+" | "-") product}
//     product = minus {("*" | "/") minus}
//     minus   = "-" minus | power
//     power   = atom ["^" minus]                       right to left; -x^2 is -(x^2)
//     atom    = number | name | "pi" | 'text' | function "(" or {"," or} ")" | "(" or ")"
#include "expression.h"

#include <stdlib.h>
#include <string.h>

// ---- tokens and steps -----------------------------------------------------------------------------------------------

bool expression_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static bool expression_digit(char c) { return c >= '0' && c <= '9'; }

int expression_word_length(const char *at)
{
    int length = 0;
    while (expression_letter(at[length]) || expression_digit(at[length])) length++;
    return length;
}

static void expression_skip(ExpressionParser *parser)
{
    while (*parser->at != '\0' && strchr(" \t\r\n", *parser->at) != NULL) parser->at++;
}

// Emits an operation over the subtrees that end before it. at: where its name or sign stands.
static void expression_emit(ExpressionParser *parser, const char *at, ExpressionStep step)
{
    step.at = (int)(at - parser->text);
    const int operands = expression_operands(&expression_operations[step.operation]);
    step.size = 1;
    for (int i = 0; i < operands; i++) step.size += parser->steps[parser->count - step.size].size;
    parser->steps[parser->count++] = step;
}

// The row of this syntax and rank whose sign or word comes next; 0: none (row 0 is a number).
static int expression_take(ExpressionParser *parser, ExpressionSyntax syntax, ExpressionRank rank)
{
    if (parser->stopped) return 0;
    expression_skip(parser);
    for (int i = 0; i < EXPRESSION_OPERATIONS; i++) {
        const ExpressionOperation *row = &expression_operations[i];
        const size_t length = strlen(row->text);
        if (row->syntax != syntax || row->rank != rank || strncmp(parser->at, row->text, length) != 0) continue;
        if (expression_letter(row->text[0]) && expression_word_length(parser->at) != (int)length) continue;
        if (expression_habit(parser->at, length) != NULL) continue; // ** is not a product
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

// The words of the name at step `end`; NULL: it has none.
static const char *expression_choices(const ExpressionParser *parser, int end)
{
    const ExpressionStep *step = &parser->steps[end];
    const bool may = step->operation == EXPRESSION_TEXT_NAME && parser->scope->choices != NULL;
    return may ? parser->scope->choices[step->index] : NULL;
}

// A text that the name at step `end` can be compared with, for messages.
static const char *expression_example(const ExpressionParser *parser, int end)
{
    const char *choices = expression_choices(parser, end);
    return choices != NULL ? words_at(choices, 0, parser->arena) : "none";
}

// Refuses a text as an operand of anything but = and !=. `at`: where that operand starts.
static void expression_need_number(ExpressionParser *parser, const char *at)
{
    if (parser->failed || parser->count == 0 || !expression_is_text(parser, parser->count - 1)) return;
    const bool name = parser->steps[parser->count - 1].operation == EXPRESSION_TEXT_NAME;
    const char *text = parser->steps[parser->count - 1].text;
    const int width = name ? (int)strlen(text) : 1;
    if (name) {
        expression_stop(parser, at, width, "'%.40s' is a text; compare it, as in %.40s = '%.40s'", text, text,
                        expression_example(parser, parser->count - 1));
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

// Length of: digits [. digits] [e [sign] digits].
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
    int whole = length; // with letters, digits and points that follow directly
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
    expression_emit(parser, start, (ExpressionStep){.operation = EXPRESSION_NUMBER, .number = value});
}

// Equal texts have equal numbers: 0, 1, ... in the order in which they first stand.
static int expression_number(const ExpressionParser *parser, const char *text)
{
    int next = 0;
    for (int i = 0; i < parser->count; i++) {
        const ExpressionStep *step = &parser->steps[i];
        if (step->operation != EXPRESSION_TEXT) continue;
        if (strcmp(step->text, text) == 0) return (int)step->number;
        next = (int)step->number >= next ? (int)step->number + 1 : next;
    }
    return next;
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
    const ExpressionStep step = {.operation = EXPRESSION_TEXT, .text = text, .number = expression_number(parser, text)};
    expression_emit(parser, start, step);
}

static int expression_find(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) return i;
    }
    return -1;
}

int expression_find_name(const Scope *scope, const char *name)
{
    if (scope->by_name == NULL) return expression_find(scope->names, scope->count, name);
    int low = 0, high = scope->count - 1;
    while (low <= high) {
        const int middle = (low + high) / 2, at = scope->by_name[middle], order = strcmp(scope->names[at], name);
        if (order == 0) return at;
        *(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle - 1;
    }
    return -1;
}

static void expression_parse_name(ExpressionParser *parser, const char *start, const char *name)
{
    const Scope *scope = parser->scope;
    const int index = expression_find_name(scope, name);
    const int text = index < 0 ? expression_find(scope->texts, scope->n_texts, name) : -1;
    const bool after_text = parser->count > 0 && expression_is_text(parser, parser->count - 1);
    if (index < 0 && text < 0 && strcmp(name, EXPRESSION_PI) == 0) { // a name of the scope comes first
        expression_emit(parser, start,
                        (ExpressionStep){.operation = EXPRESSION_NUMBER, .number = 3.141592653589793, .text = name});
        return;
    }
    if (index < 0 && text < 0) expression_unknown_name(parser, start, name, after_text);
    const bool word = index >= 0 && scope->choices != NULL && scope->choices[index] != NULL;
    const int operation = text >= 0 || word ? EXPRESSION_TEXT_NAME : EXPRESSION_NAME;
    const int at = index >= 0 ? index : text >= 0 ? scope->count + text : 0;
    expression_emit(parser, start, (ExpressionStep){.operation = operation, .index = at, .text = name});
}

// Arguments of the function whose name stands at `name`, in parentheses; more than two of min and max are folded from
// the left. Returns their number.
static int expression_parse_arguments(ExpressionParser *parser, const char *name, int operation)
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
        if (wanted == -2 && n > 0) expression_emit(parser, name, (ExpressionStep){.operation = operation});
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

// In words, of a row's number of arguments.
static const char *expression_wanted(int arguments)
{
    static const char *const words[] = {"one argument", "two arguments", "three arguments"};
    return arguments == -2 ? "two or more arguments" : words[arguments - 1];
}

// The function of a call: its row; *table <- the index of a table of the scope, -1: it is none.
static int expression_find_call(const Scope *scope, const char *name, int *table)
{
    *table = expression_find(scope->tables, scope->n_tables, name);
    if (*table < 0) return expression_find_function(name);
    return scope->table_arguments[*table] == 1 ? EXPRESSION_TABLE : EXPRESSION_TABLE_OF_TWO;
}

static void expression_parse_call(ExpressionParser *parser, const char *start, const char *name)
{
    int table;
    const int operation = expression_find_call(parser->scope, name, &table), width = (int)strlen(name),
              before = parser->count;
    if (operation < 0) expression_unknown_function(parser, start, name);
    parser->at++; // the parenthesis
    if (!expression_enter(parser)) return;
    const int n = expression_parse_arguments(parser, start, operation);
    parser->depth--;
    if (parser->stopped) return;
    if (operation < 0) { // go on as if it were a number, to find what else is wrong
        parser->count = before;
        expression_emit(parser, start, (ExpressionStep){.operation = EXPRESSION_NUMBER});
        return;
    }
    const int wanted = expression_operations[operation].arguments;
    if (wanted == -2 ? n < 2 : n != wanted) {
        expression_stop(parser, start, width, "%s takes %s; %d given", name, expression_wanted(wanted), n);
    } else if (wanted != -2) {
        expression_emit(parser, start,
                        (ExpressionStep){.operation = operation, .index = table, .text = table >= 0 ? name : NULL});
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
    int whole;
    const char *meant = expression_of_module(start, &whole);
    if (meant != NULL) {
        expression_stop(parser, start, whole, "write %s instead of %.*s", meant, whole < 40 ? whole : 40, start);
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
    expression_skip(parser);
    const char *sign = parser->at;
    const int operation = expression_take(parser, SYNTAX_PREFIX, rank);
    if (operation == 0) return false;
    if (!expression_enter(parser)) return true;
    expression_skip(parser);
    const char *start = parser->at;
    expression_parse_rank(parser, rank);
    expression_need_number(parser, start);
    parser->depth--;
    if (!parser->stopped) expression_emit(parser, sign, (ExpressionStep){.operation = operation});
    return true;
}

// A name with words and the text or name that it is compared with, at `at`: the text gets the number of its word.
static void expression_take_word(ExpressionParser *parser, int name, int other, const char *at)
{
    const char *choices = expression_choices(parser, name), *others = expression_choices(parser, other);
    ExpressionStep *text = &parser->steps[other];
    if (choices == NULL || text->operation == EXPRESSION_TEXT_NAME) {
        const bool column = parser->steps[name].index >= parser->scope->count; // of texts
        if (choices == NULL || column || (others != NULL && strcmp(choices, others) == 0)) return;
        expression_stop(parser, at, (int)strlen(text->text), "'%.40s' and '%.40s' have different words", text->text,
                        parser->steps[name].text);
        return;
    }
    const int index = words_find(choices, text->text), count = words_count(choices);
    if (index >= 0 && parser->steps[name].index < parser->scope->count) text->number = index;
    if (index >= 0) return;
    const char **words = words_list(choices, parser->arena), *near = nearest_name(text->text, words, count);
    expression_complain(parser, at, 1, "'%.40s' is never '%.40s'%s", parser->steps[name].text, text->text,
                        near != NULL ? arena_format(parser->arena, "; did you mean '%s'?", near)
                                     : arena_format(parser->arena, ": its words are %.120s",
                                                    words_sentence(words, count, parser->arena)));
}

// After the right side of `operation`: whether both sides are what it takes.
static void expression_check_sides(ExpressionParser *parser, int operation, const char *left, const char *right)
{
    if (parser->stopped) return;
    const int right_end = parser->count - 1, left_end = expression_left(parser->steps, parser->count);
    const bool right_text = expression_is_text(parser, right_end), left_text = expression_is_text(parser, left_end);
    const bool column = parser->steps[right_end].operation == EXPRESSION_TEXT_NAME ||
                        parser->steps[left_end].operation == EXPRESSION_TEXT_NAME;
    if (expression_compares_texts(operation) && left_text && right_text && column) {
        expression_take_word(parser, left_end, right_end, right);
        if (!parser->stopped) expression_take_word(parser, right_end, left_end, left);
        return;
    }
    expression_need_number(parser, right);
    if (parser->stopped || !left_text) return;
    const int count = parser->count;
    parser->count = left_end + 1;
    expression_need_number(parser, left);
    parser->count = count;
}

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
        if (rank == RANK_POWER && !expression_enter(parser)) return; // the only infix rank that contains itself
        expression_skip(parser);
        const char *right = parser->at;
        expression_parse_rank(parser, expression_right_rank(rank));
        parser->depth -= rank == RANK_POWER;
        expression_check_sides(parser, operation, left, right);
        if (parser->stopped) return;
        expression_emit(parser, sign, (ExpressionStep){.operation = operation});
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

// ---- all of it ------------------------------------------------------------------------------------------------------

static Expression *expression_parse_all(ExpressionParser *parser)
{
    const size_t length = strlen(parser->text);
    const bool copy = parser->node != NULL && parser->node->copy != NULL; // sums over copies are written out
    const int most = copy ? EXPRESSION_WRITTEN_LENGTH : EXPRESSION_LENGTH;
    parser->at = parser->text;
    if (length > (size_t)most) {
        expression_stop(parser, parser->text, 1, "an expression has at most %d characters; this has %zu", most, length);
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
    *expression = (Expression){parser->steps, parser->count, parser->node};
    if (copy || strlen(expression_text(expression, parser->arena)) <= EXPRESSION_LENGTH) return expression;
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
