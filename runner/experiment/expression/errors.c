// Errors of expressions, with their place (in a spec the character of its file, on the command line a caret) and the
// likeliest reason.
#include "expression.h"

#include <stdarg.h>
#include <string.h>

enum { EXPRESSION_EXCERPT = 76 }; // columns of an expression that an error on the command line shows

// ---- places ---------------------------------------------------------------------------------------------------------

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

// Reports a message at its place in a spec, of a copy at that in the text that was written.
static void expression_report_at(Diagnostics *diagnostics, const Node *node, int at, int width, bool warning,
                                 const char *message)
{
    void (*report)(Diagnostics *, const Node *, const char *, ...) = warning ? diagnose_warning : diagnose;
    Node place = *node;
    if (node->copy != NULL && node->copy->places != NULL) {
        const int *places = node->copy->places, length = (int)strlen(node->text);
        const int end = places[at + width < length ? at + width : length];
        at = places[at < length ? at : length];
        width = end > at ? end - at : 1;
        place.text = node->copy->written;
    }
    const int characters = expression_characters(place.text + at, width);
    if (expression_column(&place, at, &place.column)) {
        place.width = characters;
        report(diagnostics, &place, "%s", message);
    } else {
        report(diagnostics, node, "%s (at character %d of the expression)", message,
               expression_characters(place.text, at) + 1);
    }
}

void expression_diagnose(Diagnostics *diagnostics, const Node *node, int at, int width, const char *format, ...)
{
    char message[640];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    expression_report_at(diagnostics, node, at, width, false, message);
}

void expression_diagnose_warning(Diagnostics *diagnostics, const Node *node, int at, int width, const char *format, ...)
{
    char message[640];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    expression_report_at(diagnostics, node, at, width, true, message);
}

static void expression_report(ExpressionParser *parser, const char *at, int width, const char *format,
                              va_list arguments)
{
    char message[320];
    vsnprintf(message, sizeof message, format, arguments);
    const int offset = (int)(at - parser->text), characters = expression_characters(at, width);
    if (parser->node == NULL && !parser->failed) {
        const int position = expression_characters(parser->text, offset) + 1;
        const Excerpt excerpt = source_excerpt(parser->text, 1, position, characters, EXPRESSION_EXCERPT);
        parser->error =
            error_make(ERROR_USER, "%s: %s\n    %s\n    %s", parser->what, message, excerpt.line, excerpt.caret);
    } else if (parser->node != NULL) {
        expression_report_at(parser->diagnostics, parser->node, offset, width, false, message);
    }
    parser->failed = true;
}

void expression_complain(ExpressionParser *parser, const char *at, int width, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    expression_report(parser, at, width, format, arguments);
    va_end(arguments);
}

void expression_stop(ExpressionParser *parser, const char *at, int width, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    expression_report(parser, at, width, format, arguments);
    va_end(arguments);
    parser->stopped = true;
}

// ---- habits ---------------------------------------------------------------------------------------------------------

// clang-format off
static const ExpressionHabit expression_habits[] = {
    {"&&", "and"}, {"||", "or"}, {"**", "^"}, {"<>", "!="}, {"!=", NULL}, {"!", "not"}, {"&", "and"}, {"|", "or"},
    {"−", "-"}, {"×", "*"}, {"·", "*"}, {"÷", "/"}, {"≤", "<="}, {"≥", ">="}, {"≠", "!="}, {"\"", "'"}, {"[", "("},
    {"]", ")"}, {"AND", "and"}, {"OR", "or"}, {"NOT", "not"}, {"π", "pi"}, {"//", "floor(a / b)"},
    {"%", "mod(a, b)"}, {"?", "if(condition, a, b)"}, {"if", "if(condition, a, b)"},
};

static const ExpressionHabit expression_functions_elsewhere[] = {
    {"arcsin", "asin"}, {"arccos", "acos"}, {"arctan", "atan"}, {"arctan2", "atan2"}, {"degrees", "x * 180 / pi"},
    {"radians", "x * pi / 180"}, {"fabs", "abs"}, {"absolute", "abs"}, {"sgn", "sign"}, {"signum", "sign"},
    {"heaviside", "step"}, {"fmod", "mod"}, {"ceiling", "ceil"}, {"round", "floor(x + 0.5)"}, {"ln", "log"},
    {"log2", "log(x) / log(2)"}, {"log10", "log(x) / log(10)"}, {"pow", "a^b"}, {"power", "a^b"}, {"square", "x^2"},
    {"fmin", "min"}, {"fmax", "max"}, {"minimum", "min"}, {"maximum", "max"}, {"clamp", "clip"}, {"where", "if"},
    {"ifelse", "if"}, {"iif", "if"},
};
// clang-format on

// What to write instead of a function of other languages; NULL: it is not known.
static const char *expression_function_here(const char *name)
{
    for (size_t i = 0; i < sizeof expression_functions_elsewhere / sizeof *expression_functions_elsewhere; i++) {
        const ExpressionHabit *habit = &expression_functions_elsewhere[i];
        if (strcmp(habit->wrong, name) == 0) return habit->right;
    }
    return NULL;
}

const char *expression_of_module(const char *at, int *length)
{
    char name[16];
    *length = expression_word_length(at);
    int last = 0; // where its last part starts
    while (at[*length] == '.' && expression_letter(at[*length + 1])) {
        last = *length + 1;
        *length = last + expression_word_length(at + last);
    }
    if (last == 0 || *length - last >= (int)sizeof name) return NULL;
    snprintf(name, sizeof name, "%.*s", *length - last, at + last);
    const int operation = expression_find_function(name);
    if (operation >= 0) return expression_operations[operation].text;
    return strcmp(name, EXPRESSION_PI) == 0 ? EXPRESSION_PI : expression_function_here(name);
}

const ExpressionHabit *expression_habit(const char *at, size_t length)
{
    for (size_t i = 0; i < sizeof expression_habits / sizeof *expression_habits; i++) {
        const ExpressionHabit *habit = &expression_habits[i];
        const size_t size = strlen(habit->wrong);
        if (size <= length || strncmp(at, habit->wrong, size) != 0) continue;
        if (expression_letter(at[0]) && expression_word_length(at) != (int)size) continue;
        return habit->right != NULL ? habit : NULL;
    }
    return NULL;
}

void expression_unexpected(ExpressionParser *parser, const char *expected)
{
    const char *at = parser->at;
    uint32_t c;
    const ExpressionHabit *habit = expression_habit(at, 0);
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

// ---- unknown functions and names ------------------------------------------------------------------------------------

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

const char *expression_functions(Arena *arena)
{
    const char *list = "";
    ExpressionGroup group = GROUP_NONE;
    for (int i = 0; i < EXPRESSION_OPERATIONS; i++) {
        const ExpressionOperation *row = &expression_operations[i];
        if (row->syntax != SYNTAX_FUNCTION) continue;
        const char *between = group == GROUP_NONE ? "" : row->group == group ? " " : "; ";
        list = arena_format(arena, "%s%s%s", list, between, row->text);
        group = row->group;
    }
    return list;
}

void expression_unknown_function(ExpressionParser *parser, const char *at, const char *name)
{
    const Scope *scope = parser->scope;
    const char **names = ARENA_NEW(parser->arena, const char *, EXPRESSION_OPERATIONS + scope->n_tables),
               *right = expression_function_here(name);
    const int width = (int)strlen(name);
    int n = 0;
    for (int i = 0; i < EXPRESSION_OPERATIONS; i++) {
        if (expression_operations[i].syntax == SYNTAX_FUNCTION) names[n++] = expression_operations[i].text;
    }
    for (int i = 0; i < scope->n_tables; i++) names[n++] = scope->tables[i];
    const char *near = nearest_name(name, names, n);
    bool number = false;
    for (int i = 0; i < scope->count; i++) number = number || strcmp(scope->names[i], name) == 0;
    if (strcmp(name, EXPRESSION_PI) == 0) {
        expression_complain(parser, at, width, "pi is a number; write it without parentheses");
    } else if (right != NULL) {
        expression_complain(parser, at, width, "write %s instead of %s", right, name);
    } else if (number) {
        expression_complain(parser, at, width, "'%.64s' is no function; to multiply, write %.64s*(...)", name, name);
    } else if (near != NULL) {
        expression_complain(parser, at, width, "unknown function '%.64s'; did you mean '%s'?", name, near);
    } else {
        expression_complain(parser, at, width, "unknown function '%.64s'; there are %s", name,
                            expression_functions(parser->arena));
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

static bool expression_is_no_number(const char *name)
{
    static const char *const names[] = {"nan", "NaN", "inf", "Inf", "infinity"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) return true;
    }
    return false;
}

static bool expression_is_table_of(const Scope *scope, const char *name)
{
    bool is = false;
    for (int i = 0; i < scope->n_tables; i++) is |= strcmp(scope->tables[i], name) == 0;
    return is;
}

// The body or site whose frame would have such a column; NULL: there is none.
static const char *expression_frame_of(const Scope *scope, const char *name)
{
    static const char *const columns[] = {"x", "y", "z", "qx", "qy", "qz", "qw", "vx", "vy", "vz", "wx", "wy", "wz"};
    for (int i = 0; i < scope->n_frames; i++) {
        const size_t length = strlen(scope->frames[i]);
        if (strncmp(scope->frames[i], name, length) != 0 || name[length] != '_') continue;
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            if (strcmp(columns[k], name + length + 1) == 0) return scope->frames[i];
    }
    return NULL;
}

// The only name that ends in _NAME, as law_mode for mode; NULL: there is none, or there are several.
static const char *expression_name_ending(const char *const *names, int count, const char *name)
{
    const size_t length = strlen(name);
    const char *found = NULL;
    for (int i = 0; i < count; i++) {
        const size_t whole = strlen(names[i]);
        if (whole < length + 2 || names[i][whole - length - 1] != '_') continue;
        if (strcmp(names[i] + whole - length, name) != 0) continue;
        if (found != NULL) return NULL;
        found = names[i];
    }
    return found;
}

void expression_unknown_name(ExpressionParser *parser, const char *at, const char *name, bool after_text)
{
    const int width = (int)strlen(name), n_names = parser->scope->count + parser->scope->n_texts;
    const char **names = expression_all_names(parser->scope, parser->arena);
    const char *near = nearest_name(name, names, n_names);
    for (int i = 0; i < n_names && strcmp(name, "t") == 0; i++)
        if (strcmp(names[i], "time") == 0) near = names[i];
    if (near == NULL) near = expression_name_ending(names, n_names, name);
    const ExpressionHabit *habit = expression_habit(at, 0);
    char list[200];
    expression_list_names(names, n_names, list, sizeof list);
    if (after_text) {
        expression_complain(parser, at, width, "unknown name '%.64s'; a text stands in single quotes", name);
    } else if (habit != NULL) {
        expression_stop(parser, at, width, "write %s instead of %s", habit->right, habit->wrong);
    } else if (expression_find_function(name) >= 0) {
        expression_complain(parser, at, width, "'%s' is a function; write %s(...)", name, name);
    } else if (expression_is_table_of(parser->scope, name)) {
        expression_complain(parser, at, width, "'%s' is a table; write %s(...)", name, name);
    } else if (expression_frame_of(parser->scope, name) != NULL) {
        expression_complain(parser, at, width,
                            "'%.64s' is not computed: name its body or site, simulation.frames: [%.64s]", name,
                            expression_frame_of(parser->scope, name));
    } else if (expression_is_no_number(name)) {
        expression_complain(parser, at, width, "'%s' can't be used as a number here", name);
    } else if (near != NULL) {
        expression_complain(parser, at, width, "unknown name '%.64s'; did you mean '%s'?", name, near);
    } else if (n_names > 0) {
        expression_complain(parser, at, width, "unknown name '%.64s'; there are: %s", name, list);
    } else {
        expression_complain(parser, at, width, "unknown name '%.64s'; only numbers can stand here", name);
    }
}
