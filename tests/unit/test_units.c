// Units: how they are read and written, and which unit an expression has.
#include "../../runner/experiment/expression/units.h"
#include "../test.h"

#include <string.h>

static Arena units_arena;

static UnitValue units_read(const char *text)
{
    Unit unit;
    const char *why;
    if (!unit_read(text, &units_arena, &unit, &why)) return (UnitValue){.kind = UNIT_OPEN, .text = why};
    return unit_known(&unit, NULL);
}

static const char *units_written(const char *text)
{
    const UnitValue value = units_read(text);
    return value.kind == UNIT_KNOWN ? unit_text(&value, &units_arena) : value.text;
}

TEST(units_are_read_and_written)
{
    CHECK_OK(arena_create_growing(&units_arena, (size_t)64 << 20, "test"));
    static const char *const cases[][2] = {
        {"m", "m"},
        {"m/s^2", "m/s^2"},
        {"kg m^2", "kg m^2"},
        {"1/s", "1/s"},
        {"kg m/s^2", "N"},
        {"N*m", "N m"},
        {"N s/m", "N s/m"},
        {"N·s/m", "N s/m"},
        {"kg/(m s)", "kg/(m s)"},
        {"m s^-1", "m/s"},
        {"m²", "m^2"},
        {"m^(1/2)", "m^0.5"},
        {"N m/rad", "N m"},
        {"1", "1"},
        {"%", "0.01"},
        {"cell/(m^2 h)", "0.000277777777778 cell/(m^2 s)"},
        {"V/A", "ohm"},
        {"m/m", "1"},
        {"kg/m s", "it can be read in two ways: write kg/(m s) or kg s/m"},
        {"m/", "write products, quotients and powers, as in N m/s^2; 1 for a number"},
        {"12 m", "write products, quotients and powers, as in N m/s^2; 1 for a number"},
        {"(m", "a parenthesis is never closed"},
        {"m)", "write products, quotients and powers, as in N m/s^2; 1 for a number"},
        {"m^s", "a power is a number, as in m^2 or s^-1"},
        {"m^1e9", "a power is a number, as in m^2 or s^-1"},
        {"aa bb cc ee ff ii jj kk oo", "it has too many words"},
        {"((((((((((m))))))))))", "it is nested too deep"},
        {"abcdefghijklmnopqrstuvwxyz", "a word of it is too long"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) CHECK_TEXT(cases[i][1], units_written(cases[i][0]));
    static const struct {
        const char *text;
        double scale;
    } scales[] = {{"kg", 1},
                  {"g", 1e-3},
                  {"cm", 1e-2},
                  {"km/h", 1 / 3.6},
                  {"deg", 3.14159265358979 / 180},
                  {"min", 60},
                  {"ms", 1e-3},
                  {"kN/m", 1e3},
                  {"mm^2", 1e-6},
                  {"%", 0.01},
                  {"widget", 1.0},
                  {"L", 1e-3},
                  {"cd", 1},
                  {"rpm", 3.14159265358979 / 30}};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        const UnitValue value = units_read(scales[i].text);
        CHECK_NEAR(scales[i].scale, value.unit.scale, 1e-12 * scales[i].scale);
    }
    arena_destroy(&units_arena);
}

// Names of the test's expressions, and their units; "" : none.
static const char *const units_names[] = {"x", "v", "m", "k", "t", "q", "deg", "cm", "n", "free"};
static const char *const units_of_names[] = {"m", "m/s", "kg", "N/m", "s", "rad", "deg", "cm", "1", ""};
enum { UNITS_NAMES = 10 };

static UnitValue units_of(const void *data, int index)
{
    (void)data;
    if (units_of_names[index][0] == '\0') return (UnitValue){.kind = UNIT_OPEN};
    UnitValue value = units_read(units_of_names[index]);
    value.text = units_of_names[index];
    return value;
}

// The unit of an expression, "open", "number", or what does not fit, with the byte of its sign.
static const char *units_expression(const char *text)
{
    static UnitValue stack[UNIT_STACK];
    static const char *const texts[] = {"failure"};
    const Scope scope = {.names = units_names, .count = UNITS_NAMES, .texts = texts, .n_texts = 1};
    Expression *expression;
    UnitFault fault;
    const Error error = expression_parse_text(text, "test", &scope, &units_arena, &expression);
    CHECK_OK(error);
    if (error.kind != OK) return arena_copy(&units_arena, error.text);
    const UnitValue value = expression_unit(expression, units_of, NULL, NULL, stack, &units_arena, &fault);
    if (fault.step >= 0)
        return arena_format(&units_arena, "%d: %.*s", expression->steps[fault.step].at, (int)strcspn(fault.text, ":;"),
                            fault.text);
    return value.kind == UNIT_OPEN ? "open" : value.kind == UNIT_NUMBER ? "number" : unit_text(&value, &units_arena);
}

TEST(units_pass_through_expressions)
{
    CHECK_OK(arena_create_growing(&units_arena, (size_t)64 << 20, "test"));
    static const char *const cases[][2] = {
        {"x", "m"},
        {"2*x", "m"},
        {"x + 1", "m"},
        {"x - 0", "m"},
        {"x/t + v", "m/s"},
        {"v + x", "2: m/s + m"},
        {"1 + x + v*2", "6: m + m/s"},
        {"-k*x/m", "m/s^2"},
        {"k*x", "N"},
        {"m*v^2/2", "N m"},
        {"sqrt(k/m)", "1/s"},
        {"x^n", "open"},
        {"n^x", "1: an exponent is a number, and this is in m"},
        {"2^n", "1"},
        {"2^(0.5*x)", "1: an exponent is a number, and this is in m"},
        {"sin(q) + cos(1)", "1"},
        {"sin(x)", "0: sin takes rad or a number, and this is in m"},
        {"sin(10*t)", "1"},
        {"sin(t)", "0: sin takes rad or a number, and this is in s"},
        {"sin(deg)", "0: sin takes rad or a number, and this is in deg"},
        {"sin(deg*pi/180)", "1"},
        {"exp(t/t)", "1"},
        {"atan2(x, 2*x)", "1"},
        {"atan2(x, v)", "0: atan2 of m and m/s"},
        {"hypot(x, x)", "m"},
        {"min(x, 1, v)", "0: min of m and m/s"},
        {"clip(x, 0, 3)", "m"},
        {"clip(x, 0, t)", "0: clip of m and s"},
        {"if(x > 0, v, 0)", "m/s"},
        {"if(x > v, v, 0)", "5: m > m/s"},
        {"if(x > 0, v, x)", "0: if of m/s and m"},
        {"x < 1 and v < 2", "1"},
        {"sign(v) + step(x)", "1"},
        {"abs(-x) + floor(x)", "m"},
        {"mod(x, 3)", "m"},
        {"x + cm", "2: m + cm"},
        {"x + cm/100", "m"},
        {"x + free + v", "open"},
        {"free*x", "open"},
        {"2*3 + pi", "number"},
        {"(x + v)*(t + m)", "3: m + m/s"},
        {"q*x", "m"},
        {"x^2 - x*x", "m^2"},
        {"1/t", "1/s"},
        {"failure = 'fell' and x > v", "23: m > m/s"},
        {"if(failure = 'fell', x, 0)", "open"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) CHECK_TEXT(cases[i][1], units_expression(cases[i][0]));
    arena_destroy(&units_arena);
}
