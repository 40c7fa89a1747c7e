// Units: reading them, arithmetic with them, and their propagation through an expression.
#include "units.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- words ----------------------------------------------------------------------------------------------------------

enum { UNIT_BASES = 7 };
static const char *const unit_bases[UNIT_BASES] = {"kg", "m", "s", "A", "K", "mol", "cd"};

// A word: its scale, and its powers of unit_bases.
typedef struct UnitWord {
    const char *word;
    double scale;
    int8_t power[UNIT_BASES];
    bool prefixed; // k, m, u, ... may stand before it
} UnitWord;

#define UNIT_PI 3.14159265358979323846

// clang-format off
static const UnitWord unit_words[] = {
    {"m", 1, {0, 1}, true}, {"g", 1e-3, {1}, true}, {"s", 1, {0, 0, 1}, true}, {"A", 1, {0, 0, 0, 1}, true},
    {"K", 1, {0, 0, 0, 0, 1}, true}, {"mol", 1, {0, 0, 0, 0, 0, 1}, true}, {"cd", 1, {0, 0, 0, 0, 0, 0, 1}, true},
    {"rad", 1, {0}, true}, {"sr", 1, {0}, false}, {"%", 0.01, {0}, false},
    {"deg", UNIT_PI / 180, {0}, false}, {"°", UNIT_PI / 180, {0}, false}, {"rev", 2 * UNIT_PI, {0}, false},
    {"rpm", UNIT_PI / 30, {0, 0, -1}, false}, {"Hz", 1, {0, 0, -1}, true},
    {"N", 1, {1, 1, -2}, true}, {"J", 1, {1, 2, -2}, true}, {"W", 1, {1, 2, -3}, true}, {"Pa", 1, {1, -1, -2}, true},
    {"bar", 1e5, {1, -1, -2}, true}, {"L", 1e-3, {0, 3}, true}, {"l", 1e-3, {0, 3}, true},
    {"V", 1, {1, 2, -3, -1}, true}, {"C", 1, {0, 0, 1, 1}, true}, {"F", 1, {-1, -2, 4, 2}, true},
    {"ohm", 1, {1, 2, -3, -2}, true}, {"Ω", 1, {1, 2, -3, -2}, true}, {"S", 1, {-1, -2, 3, 2}, true},
    {"Wb", 1, {1, 2, -2, -1}, true}, {"T", 1, {1, 0, -2, -1}, true}, {"H", 1, {1, 2, -2, -2}, true},
    {"min", 60, {0, 0, 1}, false}, {"h", 3600, {0, 0, 1}, false}, {"d", 86400, {0, 0, 1}, false},
};
static const struct {
    const char *prefix;
    double scale;
} unit_prefixes[] = {{"G", 1e9}, {"M", 1e6}, {"k", 1e3}, {"d", 1e-1}, {"c", 1e-2}, {"m", 1e-3}, {"u", 1e-6},
                     {"µ", 1e-6}, {"μ", 1e-6}, {"n", 1e-9}, {"p", 1e-12}};
// clang-format on

static const UnitWord *unit_find(const char *word)
{
    for (size_t i = 0; i < sizeof unit_words / sizeof *unit_words; i++)
        if (strcmp(unit_words[i].word, word) == 0) return &unit_words[i];
    return NULL;
}

// The known word behind a prefix, and the scale of the prefix; NULL: it is none.
static const UnitWord *unit_find_prefixed(const char *word, double *scale)
{
    *scale = 1.0;
    const UnitWord *whole = unit_find(word);
    for (size_t i = 0; whole == NULL && i < sizeof unit_prefixes / sizeof *unit_prefixes; i++) {
        const size_t length = strlen(unit_prefixes[i].prefix);
        const UnitWord *rest = strncmp(word, unit_prefixes[i].prefix, length) == 0 ? unit_find(word + length) : NULL;
        if (rest == NULL || !rest->prefixed) continue;
        *scale = unit_prefixes[i].scale;
        return rest;
    }
    return whole;
}

// ---- arithmetic -----------------------------------------------------------------------------------------------------

static int unit_rank(const char *word)
{
    for (int i = 0; i < UNIT_BASES; i++)
        if (strcmp(unit_bases[i], word) == 0) return i;
    return UNIT_BASES;
}

// Multiplies by a power of a word. False: there are too many words.
static bool unit_times_word(Unit *unit, const char *word, double power)
{
    int at = 0;
    while (at < unit->count) {
        const int ranks = unit_rank(unit->word[at]) - unit_rank(word);
        const int order = ranks != 0 ? ranks : strcmp(unit->word[at], word);
        if (order >= 0) break;
        at++;
    }
    const bool there = at < unit->count && strcmp(unit->word[at], word) == 0;
    if (!there && unit->count == UNIT_WORDS_MAX) return false;
    if (!there) {
        memmove(&unit->word[at + 1], &unit->word[at], (size_t)(unit->count - at) * sizeof *unit->word);
        memmove(&unit->power[at + 1], &unit->power[at], (size_t)(unit->count - at) * sizeof *unit->power);
        unit->word[at] = word;
        unit->power[at] = 0.0;
        unit->count++;
    }
    unit->power[at] += power;
    if (fabs(unit->power[at]) > 1e-9) return true;
    unit->count--;
    memmove(&unit->word[at], &unit->word[at + 1], (size_t)(unit->count - at) * sizeof *unit->word);
    memmove(&unit->power[at], &unit->power[at + 1], (size_t)(unit->count - at) * sizeof *unit->power);
    return true;
}

static bool unit_same_words(const Unit *a, const Unit *b)
{
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = strcmp(a->word[i], b->word[i]) == 0 && fabs(a->power[i] - b->power[i]) < 1e-9;
    return same;
}

static bool unit_same_scale(const Unit *a, const Unit *b)
{
    return fabs(a->scale - b->scale) <= 1e-12 * fabs(a->scale);
}

bool unit_same_kind(const Unit *a, const Unit *b) { return unit_same_words(a, b); }

UnitValue unit_known(const Unit *unit, const char *text)
{
    return (UnitValue){.kind = UNIT_KNOWN, .unit = *unit, .text = text};
}

static UnitValue unit_one(const char *text) { return unit_known(&(Unit){.scale = 1.0}, text); }

UnitValue unit_power(const UnitValue *value, double power)
{
    UnitValue result = *value;
    if (value->kind != UNIT_KNOWN || power == 1.0) return result;
    result.text = NULL;
    result.unit = (Unit){.scale = pow(value->unit.scale, power)};
    for (int i = 0; i < value->unit.count; i++)
        unit_times_word(&result.unit, value->unit.word[i], power * value->unit.power[i]);
    return result;
}

UnitValue unit_product(const UnitValue *a, const UnitValue *b, int times)
{
    if (a->kind == UNIT_OPEN || b->kind == UNIT_OPEN) return (UnitValue){.kind = UNIT_OPEN};
    if (a->kind == UNIT_NUMBER && b->kind == UNIT_NUMBER) return *a;
    UnitValue right = unit_power(b, times);
    UnitValue result = a->kind == UNIT_NUMBER ? right : *a;
    result.factored = a->factored || b->factored || a->kind == UNIT_NUMBER || b->kind == UNIT_NUMBER;
    if (a->kind == UNIT_NUMBER || b->kind == UNIT_NUMBER) return result;
    result.text = b->unit.count == 0 && b->unit.scale == 1.0   ? a->text
                  : a->unit.count == 0 && a->unit.scale == 1.0 ? right.text
                                                               : NULL;
    result.unit.scale *= right.unit.scale;
    for (int i = 0; i < right.unit.count; i++)
        if (!unit_times_word(&result.unit, right.unit.word[i], right.unit.power[i]))
            return (UnitValue){.kind = UNIT_OPEN};
    return result;
}

bool unit_fits(const UnitValue *is, const UnitValue *wanted)
{
    if (is->kind != UNIT_KNOWN || wanted->kind != UNIT_KNOWN) return true;
    if (!unit_same_words(&is->unit, &wanted->unit)) return false;
    return is->factored || wanted->factored || unit_same_scale(&is->unit, &wanted->unit);
}

// ---- reading --------------------------------------------------------------------------------------------------------

//     unit    = product {"/" factor}        behind a "/" one factor stands alone: write kg/(m s)
//     product = factor {["*" | "·"] factor}
//     factor  = (word | "1" | "(" unit ")") ["^" exponent | "²" | "³"]
typedef struct UnitParser {
    const char *at;
    Arena *arena;
    const char *why; // NULL: no error so far
    int depth;
} UnitParser;

static const char unit_grammar[] = "write products, quotients and powers, as in N m/s^2; 1 for a number";

static UnitValue unit_parse(UnitParser *parser);

static bool unit_skip(UnitParser *parser, const char *sign)
{
    while (*parser->at == ' ') parser->at++;
    const size_t length = strlen(sign);
    if (strncmp(parser->at, sign, length) != 0) return false;
    parser->at += length;
    return true;
}

// Bytes of a word: letters, digits behind the first, _ and all beyond ASCII but signs.
static int unit_word_length(const char *at)
{
    int n = 0;
    if (*at == '%') return 1;
    while (expression_letter(at[n]) || (n > 0 && at[n] >= '0' && at[n] <= '9') ||
           ((unsigned char)at[n] >= 128 && strncmp(at + n, "·", 2) != 0 && strncmp(at + n, "²", 2) != 0 &&
            strncmp(at + n, "³", 2) != 0))
        n++;
    return n;
}

// What runs units together, as "Nm" does: "N m". NULL: it does not. Only words that begin with a capital letter: the
// user's own words, such as "lm", may be made of letters that are units.
static const char *unit_apart(const char *word, Arena *arena)
{
    if (*word < 'A' || *word > 'Z') return NULL;
    const char *apart = "";
    while (*word != '\0') {
        int length = (int)strlen(word);
        while (length > 0 && unit_find(arena_format(arena, "%.*s", length, word)) == NULL) length--;
        if (length == 0) return NULL;
        apart = arena_format(arena, "%s%s%.*s", apart, *apart != '\0' ? " " : "", length, word);
        word += length;
    }
    return apart;
}

static UnitValue unit_parse_word(UnitParser *parser)
{
    const int length = unit_word_length(parser->at);
    UnitValue value = unit_one(NULL);
    if (length == 0 || length > UNIT_WORD_LENGTH) {
        parser->why = length > 0 ? "a word of it is too long" : unit_grammar;
        return value;
    }
    const char *word = arena_format(parser->arena, "%.*s", length, parser->at);
    parser->at += length;
    double scale;
    const UnitWord *known = unit_find_prefixed(word, &scale);
    const char *apart = known == NULL ? unit_apart(word, parser->arena) : NULL;
    if (apart != NULL) {
        parser->why = arena_format(parser->arena, "write %s, with a space between units", apart);
        return value;
    }
    if (known == NULL) {
        unit_times_word(&value.unit, word, 1.0);
        return value;
    }
    value.unit.scale = strcmp(word, "kg") == 0 ? 1.0 : scale * known->scale; // exactly
    for (int i = 0; i < UNIT_BASES; i++)
        if (known->power[i] != 0) unit_times_word(&value.unit, unit_bases[i], known->power[i]);
    return value;
}

static double unit_parse_exponent(UnitParser *parser)
{
    if (unit_skip(parser, "²")) return 2.0;
    if (unit_skip(parser, "³")) return 3.0;
    if (!unit_skip(parser, "^") && !unit_skip(parser, "**")) return 1.0;
    const bool bracket = unit_skip(parser, "(");
    char *end;
    while (*parser->at == ' ') parser->at++;
    const bool number = strchr("+-.0123456789", *parser->at) != NULL && *parser->at != '\0';
    double power = number ? strtod(parser->at, &end) : NAN;
    if (number) parser->at = end;
    if (bracket && unit_skip(parser, "/")) {
        const double below = strtod(parser->at, &end);
        parser->at = end;
        power /= below;
    }
    if (bracket && !unit_skip(parser, ")")) power = NAN;
    if (!(fabs(power) <= 100.0)) parser->why = "a power is a number, as in m^2 or s^-1";
    return power;
}

static UnitValue unit_parse_factor(UnitParser *parser)
{
    UnitValue value = unit_one(NULL);
    if (unit_skip(parser, "(")) {
        if (++parser->depth > 8) parser->why = "it is nested too deep";
        if (parser->why == NULL) value = unit_parse(parser);
        parser->depth--;
        if (parser->why == NULL && !unit_skip(parser, ")")) parser->why = "a parenthesis is never closed";
    } else if (*parser->at == '1' && unit_word_length(parser->at + 1) == 0 &&
               (parser->at[1] == '\0' || strchr("0123456789.", parser->at[1]) == NULL)) {
        parser->at++;
    } else {
        value = unit_parse_word(parser);
    }
    if (parser->why != NULL) return value;
    const double power = unit_parse_exponent(parser);
    return parser->why == NULL ? unit_power(&value, power) : value;
}

static UnitValue unit_parse(UnitParser *parser)
{
    UnitValue value = unit_parse_factor(parser);
    bool divided = false;
    while (parser->why == NULL) {
        const bool divide = unit_skip(parser, "/"),
                   multiply = !divide && (unit_skip(parser, "*") || unit_skip(parser, "·"));
        if (!divide && !multiply && (*parser->at == '\0' || *parser->at == ')')) return value;
        if (!divide && divided) parser->why = "it can be read in two ways: write kg/(m s) or kg s/m";
        if (parser->why != NULL) return value;
        divided |= divide;
        const UnitValue factor = unit_parse_factor(parser);
        value = unit_product(&value, &factor, divide ? -1 : 1);
        if (value.kind == UNIT_OPEN) parser->why = "it has too many words";
    }
    return value;
}

bool unit_read(const char *text, Arena *arena, Unit *unit, const char **why)
{
    UnitParser parser = {.at = text, .arena = arena};
    const UnitValue value = unit_parse(&parser);
    if (parser.why == NULL && *parser.at != '\0') parser.why = unit_grammar;
    *unit = value.unit;
    *why = parser.why;
    return parser.why == NULL;
}

// ---- writing --------------------------------------------------------------------------------------------------------

static const char *unit_factor(const char *word, double power, Arena *arena)
{
    return power == 1.0 ? word : arena_format(arena, "%s^%s", word, text_number(power).text);
}

// Of what has a name that is used more than its base units.
static const char *unit_named(const Unit *unit, Arena *arena)
{
    static const char *const names[] = {"N", "N m", "W", "N/m", "N s/m", "Pa", "V", "C", "ohm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Unit named;
        const char *why;
        if (unit_read(names[i], arena, &named, &why) && unit_same_words(unit, &named)) return names[i];
    }
    return NULL;
}

// A number to 12 digits: a scale is a product of rounded ones.
static double unit_rounded(double number)
{
    char text[32];
    snprintf(text, sizeof text, "%.12g", number);
    return strtod(text, NULL);
}

const char *unit_factor_text(const UnitValue *is, const UnitValue *wanted, Arena *arena)
{
    const bool scaled = is->kind == UNIT_KNOWN && wanted->kind == UNIT_KNOWN && !is->factored && !wanted->factored &&
                        unit_same_words(&is->unit, &wanted->unit) && !unit_same_scale(&is->unit, &wanted->unit);
    return scaled ? arena_copy(arena, text_number(unit_rounded(is->unit.scale / wanted->unit.scale)).text) : NULL;
}

static const char *unit_unscaled(const Unit *unit, Arena *arena)
{
    if (unit->count == 0) return "1";
    const char *above = unit_named(unit, arena), *below = "";
    if (above != NULL) return above;
    int n_above = 0, n_below = 0;
    above = "";
    for (int i = 0; i < unit->count; i++) {
        const bool up = unit->power[i] > 0.0;
        const char *factor = unit_factor(unit->word[i], fabs(unit->power[i]), arena);
        if (up)
            above = arena_format(arena, "%s%s%s", above, n_above++ > 0 ? " " : "", factor);
        else
            below = arena_format(arena, "%s%s%s", below, n_below++ > 0 ? " " : "", factor);
    }
    if (n_below == 0) return above;
    return arena_format(arena, n_below > 1 ? "%s/(%s)" : "%s/%s", n_above > 0 ? above : "1", below);
}

// A literal factor may have changed the scale to one that is not known: then it is not said.
const char *unit_text(const UnitValue *value, Arena *arena)
{
    const Unit one = {.scale = 1.0};
    if (value->text != NULL) return value->text;
    if (value->kind != UNIT_KNOWN) return "1";
    const char *text = unit_unscaled(&value->unit, arena);
    if (value->factored || unit_same_scale(&value->unit, &one)) return text;
    const char *scale = text_number(unit_rounded(value->unit.scale)).text;
    if (value->unit.count == 0) return arena_copy(arena, scale);
    return arena_format(arena, text[0] == '1' ? "%s%s" : "%s %s", scale, text + (text[0] == '1'));
}

// ---- propagation ----------------------------------------------------------------------------------------------------

// What an operation asks of its operands and gives.
typedef enum UnitRule {
    UNIT_RULE_SAME,    // operands of equal units; the result has it
    UNIT_RULE_CHOICE,  // of the last two
    UNIT_RULE_COMPARE, // operands of equal units; the result is a number
    UNIT_RULE_TIMES,
    UNIT_RULE_OVER,
    UNIT_RULE_POWER,
    UNIT_RULE_ROOT,
    UNIT_RULE_KEEPS,  // one operand; the result has its unit
    UNIT_RULE_NUMBER, // any operands; the result is a number
    UNIT_RULE_ANGLE,  // a number or an angle; the result is a number
    UNIT_RULE_GIVES_ANGLE
} UnitRule;

// Of the operations that an expression can have.
static UnitRule unit_rule(int operation)
{
    switch (operation) {
    case PROGRAM_ADD:
    case PROGRAM_SUBTRACT:
    case PROGRAM_MIN:
    case PROGRAM_MAX:
    case PROGRAM_CLIP:
    case PROGRAM_MOD:
    case PROGRAM_HYPOT: return UNIT_RULE_SAME;
    case PROGRAM_IF: return UNIT_RULE_CHOICE;
    case PROGRAM_LESS:
    case PROGRAM_LESS_EQUAL:
    case PROGRAM_GREATER:
    case PROGRAM_GREATER_EQUAL:
    case PROGRAM_EQUAL:
    case PROGRAM_UNEQUAL:
    case PROGRAM_ATAN2: return UNIT_RULE_COMPARE;
    case PROGRAM_MULTIPLY: return UNIT_RULE_TIMES;
    case PROGRAM_DIVIDE: return UNIT_RULE_OVER;
    case PROGRAM_POWER: return UNIT_RULE_POWER;
    case PROGRAM_SQRT: return UNIT_RULE_ROOT;
    case PROGRAM_NEGATE:
    case PROGRAM_ABS:
    case PROGRAM_FLOOR:
    case PROGRAM_CEIL: return UNIT_RULE_KEEPS;
    case PROGRAM_ASIN:
    case PROGRAM_ACOS:
    case PROGRAM_ATAN: return UNIT_RULE_GIVES_ANGLE;
    case PROGRAM_SIGN:
    case PROGRAM_STEP:
    case PROGRAM_AND:
    case PROGRAM_OR:
    case PROGRAM_NOT: return UNIT_RULE_NUMBER;
    default: return UNIT_RULE_ANGLE; // sin, cos, tan, exp, log, sinh, cosh, tanh
    }
}

typedef struct UnitWalk {
    const Expression *expression;
    Arena *arena;
    UnitFault *fault;
} UnitWalk;

static void unit_fault(UnitWalk *walk, int step, bool weighted, const char *text)
{
    if (walk->fault->step < 0) *walk->fault = (UnitFault){.step = step, .weighted = weighted, .text = text};
}

// Operands that must have equal units; the result has it.
static UnitValue unit_same(UnitWalk *walk, int step, const UnitValue *a, const UnitValue *b)
{
    const ExpressionOperation *row = expression_row(walk->expression->steps, step);
    if (a->kind == UNIT_OPEN || b->kind == UNIT_OPEN) return (UnitValue){.kind = UNIT_OPEN};
    if (a->kind == UNIT_NUMBER) return *b; // a literal takes the unit of what it is added to
    if (b->kind == UNIT_NUMBER) return *a;
    if (unit_fits(a, b)) {
        UnitValue result = *a;
        if (a->text == NULL || b->text == NULL || strcmp(a->text, b->text) != 0) result.text = NULL;
        result.factored |= b->factored;
        return result;
    }
    const char *left = unit_text(a, walk->arena), *right = unit_text(b, walk->arena);
    const bool scaled = unit_same_words(&a->unit, &b->unit), infix = row->syntax == SYNTAX_INFIX;
    const char *what = infix ? arena_format(walk->arena, "%s %s %s", left, row->text, right)
                             : arena_format(walk->arena, "%s of %s and %s", row->text, left, right);
    unit_fault(walk, step, a->factored || b->factored,
               arena_format(walk->arena, "%s: %s", what,
                            scaled ? "units of different size; multiply one by the factor between them"
                                   : "both sides must have the same unit"));
    const UnitValue gain = unit_product(a, b, -1), lacks = a->factored ? unit_product(b, a, -1) : gain;
    if (walk->fault->step == step && !scaled && infix && gain.kind == UNIT_KNOWN)
        walk->fault->gain = unit_text(&gain, walk->arena);
    if (walk->fault->step == step && !scaled && (a->factored || b->factored) && lacks.kind == UNIT_KNOWN)
        walk->fault->lacks = unit_text(&lacks, walk->arena);
    return (UnitValue){.kind = UNIT_OPEN};
}

// An operand that must be a number or an angle in rad. One with a literal factor is not looked at.
static void unit_angle(UnitWalk *walk, int step, const UnitValue *a)
{
    const UnitValue one = unit_one("1");
    const char *function = expression_row(walk->expression->steps, step)->text;
    if (a->factored || unit_fits(a, &one)) return; // in sin(10*time) the literal stands for 10 rad/s
    const bool scaled = a->unit.count == 0;
    unit_fault(walk, step, a->factored,
               arena_format(walk->arena,
                            scaled ? "%s takes rad or a number, and this is in %s: multiply it by %s"
                                   : "%s takes rad or a number, and this is in %s",
                            function, unit_text(a, walk->arena),
                            fabs(a->unit.scale - UNIT_PI / 180) < 1e-12 ? "pi/180" : text_number(a->unit.scale).text));
}

static UnitValue unit_raise(UnitWalk *walk, int step, const UnitValue *base, const UnitValue *exponent)
{
    const UnitValue one = unit_one("1");
    double power;
    if (base->kind == UNIT_OPEN || exponent->kind == UNIT_OPEN) return (UnitValue){.kind = UNIT_OPEN};
    if (!unit_fits(exponent, &one)) {
        unit_fault(
            walk, step, false,
            arena_format(walk->arena, "an exponent is a number, and this is in %s", unit_text(exponent, walk->arena)));
        return (UnitValue){.kind = UNIT_OPEN};
    }
    const bool constant = expression_constant(walk->expression->steps, step - 1, &power);
    if (base->kind == UNIT_NUMBER) return constant ? *base : one;
    if (constant) return unit_power(base, power);
    return base->unit.count == 0 ? one : (UnitValue){.kind = UNIT_OPEN};
}

static UnitValue unit_apply(UnitWalk *walk, int step, const UnitValue *of, int operands)
{
    const UnitRule rule = unit_rule((int)expression_row(walk->expression->steps, step)->program);
    const UnitValue number = unit_one("1"), open = {.kind = UNIT_OPEN};
    UnitValue result = of[0];
    bool known = true, literal = true;
    for (int i = 0; i < operands; i++) {
        known &= of[i].kind != UNIT_OPEN;
        literal &= of[i].kind == UNIT_NUMBER;
    }
    if (literal) return of[0];
    switch (rule) {
    case UNIT_RULE_TIMES: return unit_product(&of[0], &of[1], 1);
    case UNIT_RULE_OVER: return unit_product(&of[0], &of[1], -1);
    case UNIT_RULE_POWER: return unit_raise(walk, step, &of[0], &of[1]);
    case UNIT_RULE_ROOT: return unit_power(&of[0], 0.5);
    case UNIT_RULE_KEEPS: return of[0];
    case UNIT_RULE_CHOICE: return known ? unit_same(walk, step, &of[1], &of[2]) : open;
    case UNIT_RULE_SAME:
    case UNIT_RULE_COMPARE:
        for (int i = 1; i < operands; i++) result = unit_same(walk, step, &result, &of[i]);
        if (rule == UNIT_RULE_SAME || result.kind == UNIT_OPEN) return result;
        return number;
    case UNIT_RULE_ANGLE:
    case UNIT_RULE_GIVES_ANGLE: unit_angle(walk, step, &of[0]); break;
    case UNIT_RULE_NUMBER: break;
    }
    return known ? number : open;
}

// A lookup: arguments in the units of the table.
static UnitValue unit_look_up(UnitWalk *walk, int step, const UnitTable *table, const UnitValue *of, int operands)
{
    const char *name = walk->expression->steps[step].text;
    bool known = true;
    for (int i = 0; i < operands; i++) {
        known &= of[i].kind == UNIT_NUMBER || (of[i].kind == UNIT_KNOWN && table->of[i].kind == UNIT_KNOWN);
        if (of[i].kind != UNIT_KNOWN || unit_fits(&of[i], &table->of[i])) continue;
        const char *which = operands == 1 ? "" : i == 0 ? "first " : "second ";
        unit_fault(walk, step, of[i].factored,
                   arena_format(walk->arena, "the %sargument of %s is in %s, and this is in %s", which, name,
                                unit_text(&table->of[i], walk->arena), unit_text(&of[i], walk->arena)));
    }
    return known ? table->value : (UnitValue){.kind = UNIT_OPEN};
}

UnitValue expression_unit(const Expression *expression, UnitValue (*of)(const void *data, int index), const void *data,
                          const UnitTable *tables, UnitValue *stack, Arena *arena, UnitFault *fault)
{
    UnitWalk walk = {.expression = expression, .arena = arena, .fault = fault};
    int n = 0;
    *fault = (UnitFault){.step = -1};
    for (int i = 0; i < expression->count; i++) {
        const ExpressionStep *step = &expression->steps[i];
        assert(n + 1 < UNIT_STACK);
        if (step->operation == EXPRESSION_NUMBER || step->operation == EXPRESSION_TEXT) {
            stack[n++] = (UnitValue){.kind = UNIT_NUMBER};
        } else if (step->operation == EXPRESSION_NAME) {
            stack[n++] = of(data, step->index);
        } else if (step->operation == EXPRESSION_TEXT_NAME) {
            stack[n++] = (UnitValue){.kind = UNIT_OPEN};
        } else {
            const int operands = expression_operands(expression_row(expression->steps, i));
            n -= operands;
            stack[n] = expression_is_table(step) ? unit_look_up(&walk, i, &tables[step->index], &stack[n], operands)
                                                 : unit_apply(&walk, i, &stack[n], operands);
            n++;
        }
    }
    return stack[0];
}
