// Expressions: values, errors at the character, canonical text, SQL that answers as the evaluator does, and that
// nothing crashes the parser.
#include "expression_case.h"

#include "../../sim/environment_code.h"
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPRESSION_FUNCTIONS                                                                                           \
    "min max clip if; abs sign step; floor ceil mod; sqrt exp log sinh cosh tanh; sin cos tan asin acos atan atan2 "   \
    "hypot"

static Arena expression_arena;
static const char *const expression_names[] = {"a", "b", "k_fp", "fitness", "velocity_error"};
static const char *const expression_text_names[] = {"failure"};
static const Scope expression_scope = {
    .names = expression_names, .count = 5, .texts = expression_text_names, .n_texts = 1};

static void expression_begin(void)
{
    if (expression_arena.base != NULL) arena_destroy(&expression_arena);
    CHECK_OK(arena_create(&expression_arena, (size_t)1 << 28, "expressions"));
}

static const Expression *expression_of(const char *text)
{
    Expression *expression;
    const Error error = expression_parse_text(text, "test", &expression_scope, &expression_arena, &expression);
    CHECK_OK(error);
    if (expression != NULL) return expression;
    CHECK_OK(expression_parse_text("0", "test", &expression_scope, &expression_arena, &expression));
    return expression;
}

// Names whose values are indices of words: the number of a quoted word is its index, and texts read back.
TEST(expression_words_are_indices)
{
    static const char *const names[] = {"rate", "optimizer", "other", "same"};
    static const char *const choices[] = {NULL, "adam|sgd|rmsprop", "sgd|adam", "adam|sgd|rmsprop"};
    const Scope scope = {.names = names, .count = 4, .choices = choices};
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"optimizer = 'rmsprop'", 1},
                 {"'rmsprop' = optimizer", 1},
                 {"optimizer != 'sgd'", 1},
                 {"optimizer = 'adam'", 0},
                 {"other = 'sgd'", 0},
                 {"other = 'adam'", 1},
                 {"same = optimizer", 0},
                 {"same != optimizer", 1},
                 {"rate * (other != 'sgd')", 0.5},
                 {"optimizer = 'rmsprop' and other = 'sgd' or same = 'sgd'", 1}};
    static const char *const wrong[][2] = {{"optimizer = 'sdg'", "'optimizer' is never 'sdg'; did you mean 'sgd'?"},
                                           {"other = 'x'", "'other' is never 'x': its words are sgd or adam"},
                                           {"optimizer = other", "'other' and 'optimizer' have different words"},
                                           {"optimizer + 1", "compare it, as in optimizer = 'adam'"},
                                           {"rate = 'adam'", "a text can only be compared"}};
    const double values[] = {0.5, 2, 1, 1};
    expression_begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Expression *expression, *again;
        CHECK_OK(expression_parse_text(cases[i].text, "test", &scope, &expression_arena, &expression));
        CHECK_NEAR(cases[i].value, expression_value(expression, values), 0.0);
        const char *text = expression_text(expression, &expression_arena);
        CHECK_OK(expression_parse_text(text, "test", &scope, &expression_arena, &again));
        CHECK_NEAR(cases[i].value, expression_value(again, values), 0.0);
        CHECK_TEXT(text, expression_text(again, &expression_arena));
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Expression *expression;
        const Error error = expression_parse_text(wrong[i][0], "test", &scope, &expression_arena, &expression);
        CHECK_ERROR(ERROR_USER, error);
        if (strstr(error.text, wrong[i][1]) == NULL) CHECK_TEXT(wrong[i][1], error.text);
    }
}

// Derivatives along a direction against central differences of the fourth order.
TEST(expression_slopes)
{
    static const char *const texts[] = {"a + 2 * b",
                                        "a - b / k_fp",
                                        "-(a * b) / (1 + a^2)",
                                        "sqrt(a * b) + exp(a / 10) - log(b)",
                                        "sin(a) * cos(b)",
                                        "a^b + b^-3 + (a * b)^2.5",
                                        "max(a, b, 2) * min(a, b)",
                                        "abs(a - b) * abs(b)",
                                        "a * (b > 2) + (a < b and b < 5)",
                                        "max(a^2 - b, 0)^2",
                                        "tan(a) + atan(a * b) * atan2(a, -b)",
                                        "asin(a / 5) * acos(-b / 7)",
                                        "sinh(a) - cosh(b) * tanh(a / b)",
                                        "hypot(a, 2 * b) + hypot(-3, a)",
                                        "mod(-a * b, 5) + mod(7, a) + mod(a, -b)",
                                        "clip(a, 1, b) + clip(-a, -b, b / 9) + clip(9, a, b) * clip(a, b, 2 * b)",
                                        "if(a < b, a^2, b^3) + if(a > b, a^2, b^3)",
                                        "floor(a + 0.3) * ceil(b + 0.3) * sign(-a) * a + b * step(a)",
                                        "sin(2 * pi * a)"};
    const double direction[] = {0.7, -0.4, 10, 0, 0}, h = 1e-3;
    expression_begin();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const Expression *expression = expression_of(texts[i]);
        double at[4];
        for (int k = 0; k < 4; k++) {
            static const double offsets[] = {-2, -1, 1, 2};
            double moved[] = {3, 4, 150, 0, 0};
            for (int v = 0; v < 5; v++) moved[v] += offsets[k] * h * direction[v];
            at[k] = expression_value(expression, moved);
        }
        const double values[] = {3, 4, 150, 0, 0}, difference = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h);
        CHECK_NEAR(difference, expression_slope(expression, values, direction), 1e-7 * (1 + fabs(difference)));
    }
    const double zero[] = {0, 0, 0, 0, 0}, along[] = {1, 1, 1, 1, 1};
    CHECK_NEAR(0.0, expression_slope(expression_of("abs(a) + a^2 + a^0 + 3"), zero, along), 0.0);
    CHECK(isinf(expression_slope(expression_of("sqrt(a)"), zero, along)));
    CHECK_NEAR(0.0, expression_slope(expression_of("hypot(a, b)"), zero, along), 0.0);
    CHECK_NEAR(1.0, expression_slope(expression_of("asin(a) + acos(1)"), zero, along), 0.0);
    const double large[] = {1e200, 1e200, 0, 0, 0};
    CHECK_NEAR(0.0, expression_slope(expression_of("atan2(a, b) + tanh(a) + atan(a)"), large, along), 0.0);
    CHECK_NEAR(1.4142135623730951, expression_slope(expression_of("hypot(a, b)"), large, along), 1e-15);
}

TEST(expression_value_of_cases)
{
    expression_begin();
    const double inf = INFINITY, values[] = {3, 4, 150, NAN, inf};
    const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1 + 2*3", 7},
        {"(1 + 2)*3", 9},
        {"10 - 4 - 3", 3},
        {"24 / 4 / 3", 2},
        {"-2^2", -4},
        {"2^-2", 0.25},
        {"2^3^2", 512},
        {"--a", 3},
        {"a*-b", -12},
        {"1.5e2", 150},
        {"0.25", 0.25},
        {"1e-4", 1e-4},
        {"a < b", 1},
        {"a >= b", 0},
        {"a = 3", 1},
        {"a == 3", 1},
        {"a != 3", 0},
        {"a <= 3 and b > 3", 1},
        {"a > 3 or b > 3", 1},
        {"not a > 3", 1},
        {"not not 7", 1},
        {"1 or 0 and 0", 1},
        {"(1 or 0) and 0", 0},
        {"1 + (a < b)", 2},
        {"min(a, b, 1)", 1},
        {"max(1, a, b)", 4},
        {"abs(a - b)", 1},
        {"sqrt(a*a + b*b)", 5},
        {"exp(0)", 1},
        {"log(1)", 0},
        {"sin(0)", 0},
        {"cos(0)", 1},
        {"tan(0)", 0},
        {"asin(1) * 2 = pi", 1},
        {"acos(-1)", 3.141592653589793},
        {"atan(velocity_error) - pi / 2", 0},
        {"atan2(0, -1)", 3.141592653589793},
        {"atan2(-2, 0) + pi / 2", 0},
        {"sinh(0) + cosh(0)", 1},
        {"tanh(50)", 1},
        {"hypot(a, b)", 5},
        {"hypot(3e300, 4e300)", 5e300},
        {"hypot(3e-310, 4e-310)", 5e-310},
        {"hypot(velocity_error, a)", INFINITY},
        {"hypot(velocity_error, fitness)", NAN},
        {"floor(-2.5)", -3},
        {"ceil(-2.5)", -2},
        {"1 / ceil(-0.5)", -INFINITY},
        {"floor(1e300) = 1e300", 1},
        {"sign(-a)", -1},
        {"sign(b)", 1},
        {"sign(-0)", 0},
        {"1 / sign(-0)", INFINITY},
        {"sign(fitness)", NAN},
        {"mod(7, a)", 1},
        {"mod(-7, a)", 2},
        {"mod(7, -a)", -2},
        {"mod(-7, -a)", -1},
        {"mod(a, 0)", NAN},
        {"mod(velocity_error, 2)", NAN},
        {"mod(-a, velocity_error)", INFINITY},
        {"mod(5.5, 2)", 1.5},
        {"clip(a, 4, 5)", 4},
        {"clip(a, 1, 2)", 2},
        {"clip(a, 1, 5)", 3},
        {"clip(a, 5, 1)", 1},
        {"clip(fitness, 1, 2)", NAN},
        {"clip(a, fitness, 2)", NAN},
        {"clip(a, 1, fitness)", NAN},
        {"step(a)", 1},
        {"step(-a)", 0},
        {"step(-0)", 1},
        {"step(fitness)", NAN},
        {"if(a < b, 10, 20)", 10},
        {"if(a > b, 10, 20)", 20},
        {"if(1, 10, fitness)", 10},
        {"if(0, fitness, 20)", 20},
        {"if(fitness, 10, 20)", NAN},
        {"if(-0.5, 10, 20)", 10},
        {"if(a < b, if(a > b, 1, 2), 3) - if(0, 1, if(1, 4, 5))", -2},
        {"2 * pi", 6.283185307179586},
        {"fitness < 1", NAN},
        {"1 <= fitness", NAN},
        {"fitness >= 1", NAN},
        {"fitness > 1", NAN},
        {"fitness = fitness", NAN},
        {"fitness != 1", NAN},
        {"not fitness < 1", NAN},
        {"fitness or 0", NAN},
        {"0 or fitness", NAN},
        {"fitness or 1", 1},
        {"2 or fitness", 1},
        {"fitness and 1", NAN},
        {"1 and fitness", NAN},
        {"fitness and 0", 0},
        {"0 and fitness", 0},
        {"not fitness", NAN},
        {"1 + (fitness < 1)", NAN},
        {"min(fitness < 1, 1)", NAN},
        {"min(fitness, 1)", NAN},
        {"max(1, fitness)", NAN},
        {"fitness^0", NAN},
        {"1^fitness", NAN},
        {"a^16", 43046721},
        {"velocity_error > 1e308", 1},
        {"k_fp = 150 and b = 4", 1},
        {"a^0", 1},
        {"2^-1", 0.5},
        {"min(2, max(1, 3)) * 2", 4},
        {"max(a, b) > min(a, b)", 1},
        {"0 * velocity_error", NAN},
        {" a ", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double got = expression_value(expression_of(cases[i].text), values);
        const bool same = got == cases[i].value || (got != got && cases[i].value != cases[i].value);
        if (!same) printf("%s is %g, expected %g\n", cases[i].text, got, cases[i].value);
        CHECK(same);
    }
    CHECK_NEAR(1.4142135623730951, expression_value(expression_of("2^0.5"), values), 4e-16);
    CHECK_NEAR(pow(3, 17.0), expression_value(expression_of("a^17"), values), 1e-7);
}

TEST(expression_uses_names)
{
    expression_begin();
    const Expression *expression = expression_of("min(b, 2) + k_fp");
    CHECK(!expression_uses(expression, 0) && expression_uses(expression, 1) && expression_uses(expression, 2));
}

TEST(expression_errors_on_the_command_line)
{
    expression_begin();
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"k_pf > 1", "unknown name 'k_pf'; did you mean 'k_fp'?\n    k_pf > 1\n    ^~~~"},
        {"1 + gravity", "unknown name 'gravity'; there are: a, b, k_fp, fitness, velocity_error, failure\n"
                        "    1 + gravity\n        ^~~~~~~"},
        {"", "the expression is empty\n    \n    ^"},
        {"frob(a)", "unknown function 'frob'; there are " EXPRESSION_FUNCTIONS "\n    frob(a)\n    ^~~~"},
        {"atam2(a, b)", "unknown function 'atam2'; did you mean 'atan2'?\n    atam2(a, b)\n    ^~~~~"},
        {"fmod(a, b)", "write mod instead of fmod\n    fmod(a, b)\n    ^~~~"},
        {"1 + arctan2(a, b)", "write atan2 instead of arctan2\n    1 + arctan2(a, b)\n        ^~~~~~~"},
        {"pow(a, 2)", "write a^b instead of pow\n    pow(a, 2)\n    ^~~"},
        {"2*np.sin(a)", "write sin instead of np.sin\n    2*np.sin(a)\n      ^~~~~~"},
        {"a < math.pi", "write pi instead of math.pi\n    a < math.pi\n        ^~~~~~~"},
        {"a.b.fabs(2)", "write abs instead of a.b.fabs\n    a.b.fabs(2)\n    ^~~~~~~~"},
        {"a.b", "expected an operator here, not '.'\n    a.b\n     ^"},
        {"pi()", "pi is a number; write it without parentheses\n    pi()\n    ^~"},
        {"2*\xCF\x80", "write pi instead of \xCF\x80\n    2*\xCF\x80\n      ^"},
        {"a % b", "write mod(a, b) instead of %\n    a % b\n      ^"},
        {"a // b", "write floor(a / b) instead of //\n    a // b\n      ^~"},
        {"a > b ? a : b", "write if(condition, a, b) instead of ?\n    a > b ? a : b\n          ^"},
        {"a if a > b else b", "write if(condition, a, b) instead of if\n    a if a > b else b\n      ^~"},
        {"if(a, b)", "if takes three arguments; 2 given\n    if(a, b)\n    ^~"},
        {"clip(a, 1, 2, 3)", "clip takes three arguments; 4 given\n    clip(a, 1, 2, 3)\n    ^~~~"},
        {"mod(a)", "mod takes two arguments; 1 given\n    mod(a)\n    ^~~"},
        {"mod > 1", "'mod' is a function; write mod(...)\n    mod > 1\n    ^~~"},
        {"if(failure, 1, 2)", "'failure' is a text; compare it, as in failure = 'none'\n"
                              "    if(failure, 1, 2)\n       ^~~~~~~"},
        {"if(a, 'x', 2)", "a text can only be compared, with = or !=, to a column that holds texts\n"
                          "    if(a, 'x', 2)\n          ^"},
        {"min + 1", "'min' is a function; write min(...)\n    min + 1\n    ^~~"},
        {"min(a)", "min takes two or more arguments; 1 given\n    min(a)\n    ^~~"},
        {"sqrt(a, b)", "sqrt takes one argument; 2 given\n    sqrt(a, b)\n    ^~~~"},
        {"abs()", "abs takes one argument; 0 given\n    abs()\n    ^~~"},
        {"min(a, ", "expected a value at the end\n    min(a, \n           ^"},
        {"min(a b)", "expected ',' or ')' here\n    min(a b)\n          ^"},
        {"(a + b", "this parenthesis is never closed\n    (a + b\n    ^"},
        {"(a b)", "expected an operator or ')' before 'b'\n    (a b)\n       ^"},
        {"a + ", "expected a value at the end\n    a + \n        ^"},
        {"a b", "expected an operator before 'b'\n    a b\n      ^"},
        {"a )", "expected an operator here, not ')'\n    a )\n      ^"},
        {"and b", "expected a value before 'and'\n    and b\n    ^~~"},
        {"1 < a < 2", "comparisons do not chain; write x < y and y < z for x < y < z\n    1 < a < 2\n          ^"},
        {"a = b = 1", "comparisons do not chain; write x < y and y < z for x < y < z\n    a = b = 1\n          ^"},
        {".5", "write 0.5, with a digit before the point\n    .5\n    ^~"},
        {"5. + 1", "write 5.0, with a digit behind the point\n    5. + 1\n    ^~"},
        {"1.2.3", "'1.2.3' is not a number\n    1.2.3\n    ^~~~~"},
        {"0x10", "'0x10' is not a number\n    0x10\n    ^~~~"},
        {"1e", "'1e' is not a number\n    1e\n    ^~"},
        {"1e999", "this number is too large for a double\n    1e999\n    ^~~~~"},
        {"nan", "'nan' can't be used as a number here\n    nan\n    ^~~"},
        {"a < inf", "'inf' can't be used as a number here\n    a < inf\n        ^~~"},
        {"a && b", "write and instead of &&\n    a && b\n      ^~"},
        {"a || b", "write or instead of ||\n    a || b\n      ^~"},
        {"a ** 2", "write ^ instead of **\n    a ** 2\n      ^~"},
        {"a <> 2", "write != instead of <>\n    a <> 2\n      ^~"},
        {"!a", "write not instead of !\n    !a\n    ^"},
        {"!= a", "expected a value here, not '!'\n    != a\n    ^"},
        {"a \xC3\x97 b", "write * instead of \xC3\x97\n    a \xC3\x97 b\n      ^"},
        {"a ; b", "expected an operator here, not ';'\n    a ; b\n      ^"},
        {"a AND b", "write and instead of AND\n    a AND b\n      ^~~"},
        {"failure", "'failure' is a text; compare it, as in failure = 'none'\n    failure\n    ^~~~~~~"},
        {"1 + failure", "'failure' is a text; compare it, as in failure = 'none'\n    1 + failure\n        ^~~~~~~"},
        {"failure > 'a'", "a text can only be compared, with = or !=, to a column that holds texts\n"
                          "    failure > 'a'\n              ^"},
        {"NOT a", "write not instead of NOT\n    NOT a\n    ^~~"},
        {"a ORBIT", "expected an operator before 'ORBIT'\n    a ORBIT\n      ^~~~~"},
        {"failure = 1", "'failure' is a text; compare it, as in failure = 'none'\n    failure = 1\n    ^~~~~~~"},
        {"failure = none",
         "unknown name 'none'; a text stands in single quotes\n    failure = none\n              ^~~~"},
        {"a = 'x'", "a text can only be compared, with = or !=, to a column that holds texts\n    a = 'x'\n        ^"},
        {"'x' = 'x'",
         "a text can only be compared, with = or !=, to a column that holds texts\n    'x' = 'x'\n          ^"},
        {"min(failure, 1)", "'failure' is a text; compare it, as in failure = 'none'\n"
                            "    min(failure, 1)\n        ^~~~~~~"},
        {"failure = 'x", "this quote is never closed\n    failure = 'x\n              ^"},
        {"failure = \"x\"", "write ' instead of \"\n    failure = \"x\"\n              ^"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Expression *expression;
        const Error error =
            expression_parse_text(cases[i].text, "--where", &expression_scope, &expression_arena, &expression);
        CHECK_ERROR(ERROR_USER, error);
        CHECK(expression == NULL && strncmp(error.text, "--where: ", 9) == 0);
        CHECK_TEXT(cases[i].error, error.text + 9);
    }
}

// The diagnostics of a spec for the scalar `root` of a YAML text.
static const char *expression_diagnosed(const char *yaml, const char *key)
{
    static char *text;
    size_t size;
    Source source = {.file = "s", .text = yaml};
    Diagnostics *diagnostics = diagnostics_new(&expression_arena);
    const Node *root = yaml_parse(&source, &expression_arena, diagnostics);
    CHECK(root != NULL && node_find(root, key) != NULL);
    if (root == NULL || node_find(root, key) == NULL) return "";
    CHECK(expression_parse(node_find(root, key), &expression_scope, &expression_arena, diagnostics) == NULL);
    free(text);
    FILE *out = open_memstream(&text, &size);
    diagnostics_print(diagnostics, out, false);
    fclose(out);
    return text;
}

TEST(expression_errors_in_a_spec_stand_at_the_character)
{
    expression_begin();
    CHECK_TEXT(
        "s:2:8: error: unknown name 'k_pf'; did you mean 'k_fp'?\n    o: 1 + k_pf * frob(c)\n           ^~~~\n"
        "s:2:15: error: unknown function 'frob'; there are " EXPRESSION_FUNCTIONS "\n"
        "    o: 1 + k_pf * frob(c)\n                  ^~~~\n"
        "s:2:20: error: unknown name 'c'; did you mean 'a'?\n    o: 1 + k_pf * frob(c)\n                       ^\n",
        expression_diagnosed("a: 1\no: 1 + k_pf * frob(c)\n", "o"));
    CHECK_TEXT("s:1:9: error: unknown name 'k_pf'; did you mean 'k_fp'?\n    o: \"1 + k_pf\"\n            ^~~~\n",
               expression_diagnosed("o: \"1 + k_pf\"\n", "o"));
    CHECK_TEXT("s:1:29: error: unknown name 'k_pf'; did you mean 'k_fp'?\n"
               "    o: 'failure = ''x'' and 1 > k_pf'\n                                ^~~~\n",
               expression_diagnosed("o: 'failure = ''x'' and 1 > k_pf'\n", "o"));
    CHECK_TEXT("s:1:4: error: unknown name 'k_pf'; did you mean 'k_fp'? (at character 5 of the expression)\n"
               "    o: >\n       ^\n",
               expression_diagnosed("o: >\n  1 +\n  k_pf\n", "o"));
    CHECK_TEXT("s:1:4: error: unknown name 'k_pf'; did you mean 'k_fp'? (at character 5 of the expression)\n"
               "    o: 1 +\n       ^~~\n",
               expression_diagnosed("o: 1 +\n  k_pf\n", "o"));
    CHECK_TEXT("s:1:4: error: expected an expression, like \"k_fp > 100 and thrust < 30\"\n    o: [1]\n       ^~~\n",
               expression_diagnosed("o: [1]\n", "o"));
    CHECK_TEXT("s:1:5: error: the expression is empty\n    o: ''\n        ^\n", expression_diagnosed("o: ''\n", "o"));
}

TEST(expression_length_and_depth_are_bounded)
{
    expression_begin();
    char text[8300] = "";
    Expression *expression;
    for (int depth = 64; depth <= 65; depth++) {
        static const char *const forms[][2] = {{"(", ")"},    {"-", ""},  {"not ", ""},
                                               {"abs(", ")"}, {"2^", ""}, {"1+(", ")"}};
        for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
            text[0] = '\0';
            for (int i = 0; i < depth; i++) strcat(text, forms[form][0]);
            strcat(text, "a");
            for (int i = 0; i < depth; i++) strcat(text, forms[form][1]);
            const Error error = expression_parse_text(text, "x", &expression_scope, &expression_arena, &expression);
            CHECK_ERROR(depth <= 64 ? OK : ERROR_USER, error);
            CHECK_INTEGER(depth > 64, strstr(error.text, "nested more than 64 deep") != NULL);
        }
    }
    memset(text, '1', 4096);
    memset(text + 4096, '\0', 10);
    text[1] = '.';
    CHECK_OK(expression_parse_text(text, "x", &expression_scope, &expression_arena, &expression));
    text[4096] = '1';
    CHECK_ERROR(ERROR_USER, expression_parse_text(text, "x", &expression_scope, &expression_arena, &expression));
    for (int i = 0; i < 4095; i++) text[i] = i % 2 == 0 ? 'a' : '+'; // "a + a + ..." would be twice as long
    text[4095] = '\0';
    CHECK_ERROR(ERROR_USER, expression_parse_text(text, "x", &expression_scope, &expression_arena, &expression));
    text[2001] = '\0';
    CHECK_OK(expression_parse_text(text, "x", &expression_scope, &expression_arena, &expression));
    const double values[5] = {1};
    CHECK_BITS(1001, expression_value(expression, values));
    const char *sql;
    SqlValue *bound;
    int count;
    CHECK_OK(expression_sql(expression, &expression_arena, &sql, &bound, &count));
    // every precedence level holds an operand at every depth: the deepest possible stack
    text[0] = '\0';
    for (int i = 0; i < 63; i++) strcat(text, "1 or 1 and 1=1+1*1^(");
    strcat(text, "1");
    for (int i = 0; i < 63; i++) strcat(text, ")");
    Error error = expression_parse_text(text, "x", &expression_scope, &expression_arena, &expression);
    CHECK(error.kind == ERROR_USER);
    text[0] = '\0';
    for (int i = 0; i < 32; i++) strcat(text, "1 or 1 and 1=1+1*1^min(1,");
    strcat(text, "1");
    for (int i = 0; i < 32; i++) strcat(text, ")");
    CHECK_OK(expression_parse_text(text, "x", &expression_scope, &expression_arena, &expression));
    CHECK_BITS(1, expression_value(expression, values));
    text[0] = '\0';
    for (int i = 0; i < 64; i++) strcat(text, "1 or 1 and 1=1+1*if(0,1,");
    strcat(text, "1");
    for (int i = 0; i < 64; i++) strcat(text, ")");
    CHECK_OK(expression_parse_text(text, "x", &expression_scope, &expression_arena, &expression));
    CHECK_INTEGER(64 * 7 + 1, expression_height(expression));
    CHECK_BITS(1, expression_value(expression, values));
}

// A function is followed by a parenthesis, so its name is free for others; a name of the scope comes before pi.
TEST(expression_names_like_functions)
{
    static const char *const names[] = {"step", "mod", "if", "pi", "sin"};
    static const double values[] = {2, 3, 5, 7, 11};
    const Scope scope = {.names = names, .count = 5};
    expression_begin();
    Expression *expression;
    CHECK_OK(expression_parse_text("if(step, mod(if, mod), pi) + sin * sin(0) - pi + step (mod)", "test", &scope,
                                   &expression_arena, &expression));
    CHECK_NEAR(2 - 7 + 1, expression_value(expression, values), 0);
    CHECK_TEXT("if(step, mod(if, mod), pi) + sin * sin(0) - pi + step(mod)",
               expression_text(expression, &expression_arena));
    CHECK(expression_uses(expression, 3));
    CHECK(!expression_uses(expression_of("a + pi"), 3));
}

TEST(expression_text_has_no_more_parentheses_than_needed)
{
    expression_begin();
    static const char *const cases[][2] = {
        {"((a))+((b*1))", "a + b * 1"},
        {"(a-b)-1", "a - b - 1"},
        {"a-(b-1)", "a - (b - 1)"},
        {"a/(b*2)", "a / (b * 2)"},
        {"(a+b)*2", "(a + b) * 2"},
        {"-(a*b)", "-(a * b)"},
        {"(-a)*b", "-a * b"},
        {"(-a)^2", "(-a)^2"},
        {"-(a^2)", "-a^2"},
        {"a^(b^2)", "a^b^2"},
        {"(a^b)^2", "(a^b)^2"},
        {"a^(-b)", "a^-b"},
        {"a and (b or 1)", "a and (b or 1)"},
        {"(a and b) or 1", "a and b or 1"},
        {"not(a==1)", "not a = 1"},
        {"(not a)=1", "(not a) = 1"},
        {"(a<b)=(b<a)", "(a < b) = (b < a)"},
        {"min(min(a,b),1)", "min(a, b, 1)"},
        {"min(a,min(b,1))", "min(a, min(b, 1))"},
        {"max(min(a,b),1)", "max(min(a, b), 1)"},
        {"failure='it''s'", "failure = 'it''s'"},
        {"sqrt((a+b))", "sqrt(a + b)"},
        {"a- -b", "a - -b"},
        {"0.10", "0.1"},
        {"if(((a<b)),(a+b),min(a,(b)))", "if(a < b, a + b, min(a, b))"},
        {"clip(clip(a,0,1),(b),2)", "clip(clip(a, 0, 1), b, 2)"},
        {"mod(mod(a,b),2)", "mod(mod(a, b), 2)"},
        {"2*(pi)^(2)", "2 * pi^2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = expression_text(expression_of(cases[i][0]), &expression_arena);
        CHECK_TEXT(cases[i][1], text);
        CHECK_TEXT(text, expression_text(expression_of(text), &expression_arena));
    }
}

// ---- random expressions ---------------------------------------------------------------------------------------------

static const char *const expression_leaves[] = {"a", "b", "k_fp", "fitness", "0.5", "1e-07", "2", "1e22", "0.1", "pi"};
enum { EXPRESSION_LEAVES = sizeof expression_leaves / sizeof *expression_leaves };

static void expression_invent(ExpressionRandom *random, int depth, bool texts, char *out)
{
    expression_case_invent(random, depth, expression_leaves, EXPRESSION_LEAVES, texts, out);
}

TEST(expression_text_reads_back_to_the_same)
{
    static const double values[][5] = {{0.5, -1.25, 150, NAN, 3}, {1e-3, 7, 0, 2, INFINITY}, {-0.0, 2, 1, 1, -4}};
    char *text = malloc(1 << 20);
    for (uint64_t i = 0; i < 2000; i++) {
        ExpressionRandom random = {.key = {.seed = 7, .ordinal = i, .purpose = RANDOM_SAMPLE}};
        expression_begin();
        text[0] = '\0';
        expression_invent(&random, 1 + (int)(i % 4), false, text);
        const Expression *first = expression_of(text);
        const char *canonical = expression_text(first, &expression_arena);
        const Expression *second = expression_of(canonical);
        CHECK_TEXT(canonical, expression_text(second, &expression_arena));
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            CHECK_BITS(expression_value(first, values[v]), expression_value(second, values[v]));
        }
    }
    free(text);
}

// ---- kernels --------------------------------------------------------------------------------------------------------

static TapeValue expression_column(void *tape, int name) { return tape_input(tape, name, TAPE_MOVING); }

// What a kernel of an environment computes of an expression, for one lane with these columns.
static double expression_of_kernel(const Expression *expression, const double *values)
{
    const EnvironmentInputs inputs = {.n_columns = 5};
    EnvironmentCode code;
    TapeAssets assets = {.arena = &expression_arena};
    Tape *tape = tape_new(&expression_arena);
    const TapeValue value = expression_tape(expression, &(ExpressionTape){tape, tape, expression_column, NULL});
    CHECK_OK(environment_code(tape, &value, 1, &inputs, &assets, &code));
    const Frame frame = {ARENA_NEW(&expression_arena, double, code.code.registers *LANES), 1};
    for (int k = 0; k < inputs.n_columns; k++) frame_set(frame, k, splat(values[k]));
    environment_code_run(assets.numbers, &code, NULL, splat(0.0), frame);
    return lane_of(environment_code_output(assets.numbers, &code, 0, frame), 0);
}

TEST(expression_has_its_bits_in_a_kernel)
{
    static const double likely[] = {NAN, 0, -0.0, 1, -1, 0.5, -2.5, 3, 150, 1e300, INFINITY, -INFINITY, 1e-310, -1e17};
    char *text = malloc(1 << 20);
    for (uint64_t i = 0; i < 4000; i++) {
        ExpressionRandom random = {.key = {.seed = 11, .ordinal = i, .purpose = RANDOM_SAMPLE}};
        expression_begin();
        text[0] = '\0';
        expression_invent(&random, 1 + (int)(i % 4), false, text);
        const Expression *expression = expression_of(text);
        for (int n = 0; n < 4; n++) {
            double values[5];
            for (int k = 0; k < 5; k++) {
                const int pick = expression_case_pick(&random, 28);
                values[k] = pick < 14 ? likely[pick] : 20 * random_uniform(&random.key, random.used++) - 10;
            }
            const double expected = expression_value(expression, values);
            const double got = expression_of_kernel(expression, values);
            if (isnan(expected) && isnan(got)) continue;
            if (memcmp(&expected, &got, sizeof got) != 0) printf("%s:\n", text);
            CHECK_BITS(expected, got);
        }
    }
    free(text);
}

// ---- SQL ------------------------------------------------------------------------------------------------------------

TEST(expression_sql_binds_every_constant)
{
    expression_begin();
    static const char *const cases[][2] = {
        {"k_fp > 100 and failure = 'none'", "((\"k_fp\" > ?) AND (\"failure\" = ?))"},
        {"not fitness < 1", "(NOT (\"fitness\" < ?))"},
        {"a < b and a and not (b or 1)", "((\"a\" < \"b\") AND \"a\" AND (NOT (\"b\" OR ?)))"},
        {"-2^2 > a", "(? > \"a\")"},
        {"1 + (a < b)", "hopscotch_value(?, \"a\", \"b\")"},
        {"b < 2 or a / b > a", "((\"b\" < ?) OR hopscotch_value(?, \"a\", \"b\"))"},
        {"min(a, b, 1) != log(b)", "hopscotch_value(?, \"a\", \"b\")"},
        {"failure != 'a''; drop table trials'", "(\"failure\" <> ?)"},
        {"if(a < b, k_fp, a) > 2 and a < pi", "(hopscotch_value(?, \"a\", \"b\", \"k_fp\") AND (\"a\" < ?))"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *sql;
        SqlValue *values;
        int count;
        CHECK_OK(expression_sql(expression_of(cases[i][0]), &expression_arena, &sql, &values, &count));
        CHECK_TEXT(cases[i][1], sql);
        int marks = 0;
        for (const char *at = sql; *at != '\0'; at++) marks += *at == '?';
        CHECK_INTEGER(marks, count);
        if (i == 0) CHECK_NEAR(100, values[0].number, 0);
        if (i == 0) CHECK_TEXT("none", values[1].text);
        if (i == 7) CHECK_TEXT("a'; drop table trials", values[0].text);
    }
}

// A table with rows of the scope (NaN: NULL), `a` as an INTEGER column.
enum { EXPRESSION_TABLE = 37 };
typedef struct ExpressionTable {
    double column[6][EXPRESSION_TABLE]; // the last one: the number of the failure
    const double *columns[6];
} ExpressionTable;

static const char *const expression_failures[] = {"none", "fell", "it's"};

static void expression_fill(ExpressionTable *table)
{
    static const double likely[] = {NAN, 0, 1, -1, 0.5, 2, 3, 150, -1e300, INFINITY, -INFINITY, 1e-310};
    ExpressionRandom random = {.key = {.seed = 9, .purpose = RANDOM_SAMPLE}};
    for (int c = 0; c < 6; c++) {
        table->columns[c] = table->column[c];
        for (int i = 0; i < EXPRESSION_TABLE; i++) {
            const bool integer = c == 0, text = c == 5;
            const double value = expression_case_pick(&random, 2) == 0
                                     ? likely[expression_case_pick(&random, 12)]
                                     : 20 * random_uniform(&random.key, random.used++) - 5;
            table->column[c][i] = text                           ? expression_case_pick(&random, 3)
                                  : integer && fabs(value) < 1e9 ? rint(value)
                                                                 : value;
            if (integer && fabs(table->column[c][i]) > 1e9) table->column[c][i] = 7;
            table->column[c][i] += 0.0;
        }
    }
}

static Database *expression_database(const ExpressionTable *table, int rows)
{
    Database *database;
    Statement *insert;
    bool row;
    CHECK_OK(database_open(arena_format(&expression_arena, "%s/t.db", test_folder()), DATABASE_WRITE, &database));
    CHECK_OK(database_run(database, "DROP TABLE IF EXISTS t; CREATE TABLE t (a INTEGER, b REAL, k_fp REAL, "
                                    "fitness REAL, velocity_error REAL, failure TEXT) STRICT"));
    CHECK_OK(database_prepare(database, "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", &insert));
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < 5; c++) bind_real(insert, c + 1, table->column[c][r]);
        bind_text(insert, 6, expression_failures[(int)table->column[5][r]]);
        CHECK_OK(statement_step(insert, &row));
    }
    statement_close(insert);
    return database;
}

// selected[n] <- whether the rows meet the condition
static void expression_select(Database *database, const Expression *expression, int n, bool *selected)
{
    const char *sql;
    SqlValue *values;
    int count;
    Statement *select;
    bool row = true;
    memset(selected, 0, (size_t)n * sizeof *selected);
    CHECK_OK(expression_sql(expression, &expression_arena, &sql, &values, &count));
    CHECK_OK(database_prepare(database, arena_format(&expression_arena, "SELECT rowid FROM t WHERE %s", sql), &select));
    for (int i = 0; i < count; i++) bind_value(select, i + 1, &values[i]);
    while (row) {
        CHECK_OK(statement_step(select, &row));
        if (row) selected[column_integer(select, 0) - 1] = true;
    }
    statement_close(select);
}

static bool expression_selects(Database *database, const Expression *expression)
{
    bool selected;
    expression_select(database, expression, 1, &selected);
    return selected;
}

static const ExpressionTable expression_row = {{{3}, {2.5}, {150}, {NAN}, {-1}, {0}}, {NULL}};

TEST(expression_sql_of_cases)
{
    expression_begin();
    Database *database = expression_database(&expression_row, 1);
    CHECK(expression_selects(database, expression_of("a / (a + a) = 0.5"))); // not an integer division
    CHECK(expression_selects(database, expression_of("a / 0 > 1e300")));
    CHECK(expression_selects(database, expression_of("failure = 'none'")));
    CHECK(!expression_selects(database, expression_of("failure != 'none'")));
    CHECK(
        expression_selects(database, expression_of("(failure = 'none') + (failure = failure) - ('x' = failure) = 2")));
    CHECK(expression_selects(database,
                             expression_of("abs(log(exp(a)) - 3) + abs(sin(a)^2 + cos(a)^2 - sqrt(1)) < 1e-9")));
    CHECK(expression_selects(database, expression_of("mod(-a, 2) = 1 and floor(b) = 2 and ceil(b) = 3")));
    CHECK(
        expression_selects(database, expression_of("if(failure = 'none', clip(b, 0, 1), 7) = 1 and hypot(a, 4) = 5")));
    CHECK(expression_selects(database, expression_of("atan2(a, a) = pi / 4 and if(fitness > 0, 1, 1) = 1 or a = 3")));
    CHECK(!expression_selects(database, expression_of("if(fitness > 0, 1, 1)")));
    CHECK(!expression_selects(database, expression_of("fitness < 1")));
    CHECK(!expression_selects(database, expression_of("not fitness < 1")));
    database_close(database);
}

// The number of the failure of a row to an expression: of a quoted text, or another one.
static double expression_failure(const Expression *expression, double failure)
{
    int count;
    const char *const *texts = expression_texts(expression, &expression_arena, &count);
    for (int t = 0; t < count; t++) {
        if (strcmp(texts[t], expression_failures[(int)failure]) == 0) return t;
    }
    return count + failure;
}

// One row, rows and SQL: the same bits, and the same rows that are selected.
TEST(expression_of_rows_and_sql_answer_as_of_one)
{
    static ExpressionTable table, given;
    static double stack[64 * EXPRESSION_TABLE];
    expression_begin();
    expression_fill(&table);
    Database *database = expression_database(&table, EXPRESSION_TABLE);
    const size_t used = expression_arena.used;
    char *text = malloc(1 << 20);
    int selected = 0, missing = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        ExpressionRandom random = {.key = {.seed = 8, .ordinal = i, .purpose = RANDOM_SAMPLE}};
        bool got[EXPRESSION_TABLE];
        arena_rewind(&expression_arena, used);
        text[0] = '\0';
        expression_invent(&random, 1 + (int)(i % 3), true, text);
        const Expression *expression = expression_of(text);
        given = table;
        for (int c = 0; c < 6; c++) given.columns[c] = given.column[c];
        for (int r = 0; r < EXPRESSION_TABLE; r++)
            given.column[5][r] = expression_failure(expression, table.column[5][r]);
        CHECK(expression_height(expression) <= 64);
        expression_values(expression, given.columns, EXPRESSION_TABLE, stack);
        expression_select(database, expression, EXPRESSION_TABLE, got);
        for (int r = 0; r < EXPRESSION_TABLE; r++) {
            double values[6];
            for (int c = 0; c < 6; c++) values[c] = given.column[c][r];
            const double value = expression_value(expression, values);
            if (value == value) CHECK_BITS(value, stack[r]);
            CHECK((value == value) == (stack[r] == stack[r]));
            if (got[r] != (value < 0 || value > 0)) printf("row %d: %s\n", r, text);
            CHECK_INTEGER(value < 0 || value > 0, got[r]);
            selected += got[r];
            missing += value != value;
        }
    }
    CHECK(selected > 20000 && selected < 90000 && missing > 5000 && missing < 80000);
    free(text);
    database_close(database);
}

// Where an expression holds, so do its bounds.
TEST(expression_bounds_of_terms)
{
    static const struct {
        const char *text;
        int count;
        ExpressionBound first, last;
    } cases[] = {
        {"a > 3", 1, {0, COMPARES_ABOVE, 3}, {0, COMPARES_ABOVE, 3}},
        {"3 > a and b <= -2", 2, {0, COMPARES_BELOW, 3}, {1, COMPARES_BELOW, -2}},
        {"a = 1 + 1 and a + b < 2 and (k_fp != 1 and failure = 'x')",
         3,
         {0, COMPARES_EQUAL, 2},
         {5, COMPARES_EQUAL, 0}},
        {"a > 3 or b > 3", 0, {0}, {0}},
        {"not a > 3", 0, {0}, {0}},
        {"a", 0, {0}, {0}},
    };
    expression_begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int count;
        const ExpressionBound *bounds = expression_bounds(expression_of(cases[i].text), &expression_arena, &count);
        CHECK_INTEGER(cases[i].count, count);
        for (int k = 0; k<count; k += count> 1 ? count - 1 : 1) {
            const ExpressionBound *wanted = k == 0 ? &cases[i].first : &cases[i].last;
            CHECK_INTEGER(wanted->name, bounds[k].name);
            CHECK_INTEGER(wanted->comparison, bounds[k].comparison);
            CHECK_NEAR(wanted->value, bounds[k].value, 0);
        }
    }
}

// A chain nests no parentheses. What nests too deeply for SQLite's parser is a function of ours.
TEST(expression_sql_of_chains_and_nests)
{
    static const struct {
        const char *first, *repeated, *last, *closing;
        int times;
    } cases[] = {
        {"a = 0", " or a = 1", " or a = 3", "", 250},
        {"a > 0", " and a > 1", "", "", 300},
        {"a", " + 1 - 1", " > 2", "", 150},
        {"a", " * 2 / 2", " > 2", "", 100},
        {"", "a + (", "a", ")", 15},
        {"", "a + (", "a", ")", 60},
        {"", "a > 0 and not (", "a = 4", ")", 31},
        {"", "a > 9 or not (", "b > 3", ")", 31},
        {"a > 0", " and a > 1", "", "", 390},
    };
    expression_begin();
    Database *database = expression_database(&expression_row, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[8192];
        char *end = stpcpy(text, cases[i].first);
        for (int n = 0; n < cases[i].times; n++) end = stpcpy(end, cases[i].repeated);
        end = stpcpy(end, cases[i].last);
        for (int n = 0; n < cases[i].times; n++) end = stpcpy(end, cases[i].closing);
        const Expression *expression = expression_of(text);
        CHECK(expression_selects(database, expression));
    }
    database_close(database);
}

// ---- arbitrary texts ------------------------------------------------------------------------------------------------

static void expression_survive(const char *text)
{
    static const double values[6] = {1, 2, 3, NAN, 5, 0};
    expression_begin();
    Expression *expression;
    const Error error = expression_parse_text(text, "x", &expression_scope, &expression_arena, &expression);
    CHECK((error.kind == OK) == (expression != NULL));
    if (expression == NULL) return;
    expression_value(expression, values);
    const char *canonical = expression_text(expression, &expression_arena);
    CHECK_TEXT(canonical, expression_text(expression_of(canonical), &expression_arena));
}

TEST(expression_survives_prefixes_and_mutations)
{
    static const char *const good[] = {
        "velocity_error + 0.1*min(a, b, k_fp) - abs(-a^2^b) / 1.5e-3",
        "not (k_fp > 250 and a < 30) or failure != 'it''s' and exp(log(sqrt(b))) >= sin(a) * cos(b)",
        "if(mod(a, 2*pi) < clip(b, 0, 1), atan2(a, b), step(hypot(a, np.sin)))",
    };
    static const char likely[] = "()'\"+-*/^<>=!,. \t\n0123456789eabknotrf_&|\\\x01\xC3\xE2\xFF";
    char text[128];
    for (size_t g = 0; g < sizeof good / sizeof *good; g++) {
        const size_t length = strlen(good[g]);
        for (size_t n = 0; n <= length; n++) {
            memcpy(text, good[g], n);
            text[n] = '\0';
            expression_survive(text);
        }
        for (uint64_t i = 0; i < 2000; i++) {
            memcpy(text, good[g], length + 1);
            for (uint32_t k = 0; k < 1 + i % 4; k++) {
                const RandomKey key = {.seed = 2 + g, .ordinal = i, .replicate = k, .purpose = RANDOM_SAMPLE};
                const size_t at = (size_t)(random_uniform(&key, 0) * (double)length);
                text[at] = likely[(size_t)(random_uniform(&key, 1) * (double)(sizeof likely - 1))];
            }
            expression_survive(text);
        }
    }
}

TEST(expression_that_is_too_long_or_without_names_is_refused)
{
    const Scope empty = {.count = 0};
    Expression *expression = NULL;
    char text[5000];
    memset(text, ' ', sizeof text);
    text[sizeof text - 1] = '\0';
    CHECK_OK(arena_create(&expression_arena, 1 << 20, "test"));
    CHECK_SAYS(ERROR_USER, "an expression has at most 4096 characters; this has 4999",
               expression_parse_text(text, "x", &expression_scope, &expression_arena, &expression));
    for (int i = 0; i < 4095; i++) text[i] = i % 2 == 0 ? '1' : '+'; // its canonical text has blanks
    text[4095] = '\0';
    CHECK_SAYS(ERROR_USER, "written out, the expression has more than 4096 characters",
               expression_parse_text(text, "x", &expression_scope, &expression_arena, &expression));
    CHECK_SAYS(ERROR_USER, "unknown name 'k_fp'; only numbers can stand here",
               expression_parse_text("2 * k_fp", "x", &empty, &expression_arena, &expression));
    arena_destroy(&expression_arena);
}
