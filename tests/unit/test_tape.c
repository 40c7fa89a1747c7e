// Tapes: codes give the bits of expressions, registers are not reused too early, equal terms are computed once,
// constants are folded, slopes are derivatives.
#include "../../sim/tape.h"

#include "../../sim/tape_code.h"
#include "../test.h"
#include "expression_case.h"

#include <math.h>
#include <string.h>

enum { TAPE_TEST_NAMES = 4, TAPE_TEST_OUTPUTS = 6, TAPE_TEST_TEXT = 1 << 14 };
static const char *const tape_test_names[] = {"a", "b", "c", "d"};
static const Scope tape_test_scope = {.names = tape_test_names, .count = TAPE_TEST_NAMES};

static Arena tape_test_arena(void)
{
    Arena arena;
    CHECK_OK(arena_create(&arena, (size_t)1 << 30, "tapes"));
    return arena;
}

static const Expression *tape_test_expression(const char *text, Arena *arena)
{
    Expression *expression = NULL;
    CHECK_OK(expression_parse_text(text, "test", &tape_test_scope, arena, &expression));
    return expression;
}

// a and b move, c and d are fixed. Register k is name k.
static TapeValue tape_test_input(void *tape, int name)
{
    return tape_input(tape, name, name < 2 ? TAPE_MOVING : TAPE_FIXED);
}

static TapeValue tape_test_value(Tape *tape, const Expression *expression)
{
    return expression_tape(expression, &(ExpressionTape){tape, tape, tape_test_input, NULL});
}

// out[count] <- the values at `at`[TAPE_TEST_NAMES], by a layout for all of them and codes of `each` at a time.
static void tape_test_run(Tape *tape, const TapeValue *values, int count, int each, const double *at, Arena *arena,
                          double *out)
{
    TapeLayout layout;
    CHECK_OK(tape_layout(tape, TAPE_TEST_NAMES, values, count, arena, &layout));
    TapeCode *codes = ARENA_NEW(arena, TapeCode, count);
    for (int i = 0; i < count; i += each)
        CHECK_OK(tape_code(tape, &layout, values + i, count - i < each ? count - i : each, arena, &codes[i]));
    double *registers = ARENA_NEW(arena, double, layout.registers + 1);
    const Frame frame = {registers, 1};
    for (int i = 0; i < layout.registers; i++) registers[i] = NAN;
    memcpy(registers, at, TAPE_TEST_NAMES * sizeof *at);
    memcpy(registers + layout.first, layout.numbers, (size_t)layout.n_numbers * sizeof *layout.numbers);
    tape_run((const double *)layout.derived, 0, 0, layout.n_derived_steps, frame);
    for (int i = 0; i < count; i += each) {
        tape_run((const double *)codes[i].steps, 0, 0, codes[i].count, frame);
        for (int k = 0; k < codes[i].n_outputs; k++) out[i + k] = registers[codes[i].outputs[k]];
    }
}

static bool tape_test_same(double a, double b) { return (a != a && b != b) || memcmp(&a, &b, sizeof a) == 0; }

static int tape_test_steps(const char *text, int *operation, Arena *arena)
{
    Tape *tape = tape_new(arena);
    TapeLayout layout;
    TapeCode code;
    const TapeValue value = tape_test_value(tape, tape_test_expression(text, arena));
    CHECK_OK(tape_layout(tape, TAPE_TEST_NAMES, &value, 1, arena, &layout));
    CHECK_OK(tape_code(tape, &layout, &value, 1, arena, &code));
    *operation = code.count > 0 ? tape_step_operation(code.steps[code.count - 1]) : -1;
    return code.count + layout.n_derived_steps;
}

TEST(tape_codes_have_the_bits_of_expressions)
{
    static const char *const leaves[] = {"a", "b", "c", "d", "0", "1", "2", "0.5", "(-3)", "4", "pi", "a", "b"};
    const int rounds = test_quick() ? 300 : 6000;
    for (int round = 0; round < rounds; round++) {
        Arena arena = tape_test_arena();
        Tape *tape = tape_new(&arena);
        const Expression *expressions[TAPE_TEST_OUTPUTS];
        TapeValue values[TAPE_TEST_OUTPUTS];
        ExpressionRandom random = {.key = {.seed = 19, .ordinal = (uint64_t)round, .purpose = RANDOM_SAMPLE}};
        for (int i = 0; i < TAPE_TEST_OUTPUTS; i++) {
            char *text = ARENA_NEW(&arena, char, TAPE_TEST_TEXT);
            expression_case_invent(&random, 4, leaves, sizeof leaves / sizeof *leaves, false, text);
            expressions[i] = tape_test_expression(text, &arena);
            values[i] = tape_test_value(tape, expressions[i]);
        }
        for (int each = 1; each <= TAPE_TEST_OUTPUTS; each += TAPE_TEST_OUTPUTS - 1) {
            static const double special[] = {0.0, -0.0, INFINITY, NAN, 1e308, 5e-324, -1.0, 2.0};
            double at[TAPE_TEST_NAMES], got[TAPE_TEST_OUTPUTS];
            for (int k = 0; k < TAPE_TEST_NAMES; k++)
                at[k] = expression_case_pick(&random, 5) == 0
                            ? special[expression_case_pick(&random, 8)]
                            : 6 * random_uniform(&random.key, 60000 + (uint32_t)k + 8 * (uint32_t)each) - 3;
            tape_test_run(tape, values, TAPE_TEST_OUTPUTS, each, at, &arena, got);
            for (int i = 0; i < TAPE_TEST_OUTPUTS; i++) {
                const double expected = expression_value(expressions[i], at);
                if (tape_test_same(expected, got[i])) continue;
                printf("round %d, output %d: %s\n", round, i, expression_text(expressions[i], &arena));
                CHECK_BITS(expected, got[i]);
            }
        }
        arena_destroy(&arena);
    }
}

TEST(tape_computes_equal_terms_once)
{
    static const struct {
        const char *text;
        int steps, last; // last: an operation, -1: not tested
    } cases[] = {{"sin(a*b) + sin(b*a)", 3, PROGRAM_ADD},
                 {"(a + b)*(b + a)", 2, PROGRAM_MULTIPLY},
                 {"2*3 + a*1 - 0", 1, PROGRAM_ADD},
                 {"a/4", 1, PROGRAM_MULTIPLY},
                 {"a/3", 1, PROGRAM_DIVIDE},
                 {"a/1e-310", 1, PROGRAM_DIVIDE},
                 {"-(-a)", 0, -1},
                 {"a^1", 0, -1},
                 {"a^5", 4, PROGRAM_MULTIPLY},
                 {"a^-2", 2, PROGRAM_DIVIDE},
                 {"a^0", 1, PROGRAM_POWER},
                 {"a^0.5", 1, PROGRAM_POWER},
                 {"a^17", 1, PROGRAM_POWER},
                 {"a - 0 + 0", 1, PROGRAM_ADD}, // -0 + 0 is 0
                 {"0*a", 1, PROGRAM_MULTIPLY},  // NaN, and the sign of 0
                 {"a - a", 1, PROGRAM_SUBTRACT},
                 {"c*d + sin(c*d)", 3, -1}, // of fixed inputs: derived
                 {"sqrt(4) + exp(0)", 0, -1},
                 {"if(1 < 2, a, b)", 1, PROGRAM_IF}};
    Arena arena = tape_test_arena();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int last;
        const int steps = tape_test_steps(cases[i].text, &last, &arena);
        if (steps != cases[i].steps || (cases[i].last >= 0 && cases[i].last != last)) printf("%s\n", cases[i].text);
        CHECK_INTEGER(cases[i].steps, steps);
        if (cases[i].last >= 0) CHECK_INTEGER(cases[i].last, last);
    }
    arena_destroy(&arena);
}

// a b + c is rounded once, as a value, a folded number and in a code; its slope is that of the sum and the product.
TEST(tape_fuses_a_product_and_a_sum)
{
    static const double at[TAPE_TEST_NAMES] = {1 + 0x1p-30, 1 - 0x1p-30, -1, 0.5};
    Arena arena = tape_test_arena();
    Tape *tape = tape_new(&arena);
    TapeValue name[TAPE_TEST_NAMES], number[3];
    double got[2], folded;
    for (int i = 0; i < TAPE_TEST_NAMES; i++) name[i] = tape_test_input(tape, i);
    for (int i = 0; i < 3; i++) number[i] = tape_number(tape, at[i]);
    const TapeValue value = tape_fused(tape, name[0], name[1], name[2]);
    const TapeValue rate[] = {tape_number(tape, 2.0), name[3]};
    const TapeValue both[] = {value, tape_slope(tape, value, name, rate, 2)};
    tape_test_run(tape, both, 2, 2, at, &arena, got);
    CHECK(got[0] == -0x1p-60); // a product of its own would be 1
    CHECK(got[1] == 2 * at[1] + at[0] * at[3]);
    CHECK(tape_is_number(tape, tape_fused(tape, number[0], number[1], number[2]), &folded) && folded == -0x1p-60);
    arena_destroy(&arena);
}

TEST(tape_slopes_are_derivatives)
{
    static const char *const texts[] = {"a + 2 * b",
                                        "c - b / a",
                                        "-(a * b) / (1 + a^2)",
                                        "sqrt(a * b) + exp(a / 10) - log(b)",
                                        "sin(a) * cos(b)",
                                        "a^b + b^-3 + (a * b)^2.5 + a^c",
                                        "max(a, b, 2) * min(a, b)",
                                        "abs(a - b) * abs(b)",
                                        "a * (b > 2) + (a < b and b < 5)",
                                        "tan(a) + atan(a * b) * atan2(a, -b)",
                                        "asin(a / 5) * acos(-b / 7)",
                                        "sinh(a) - cosh(b) * tanh(a / b)",
                                        "hypot(a, 2 * b) + hypot(-3, a)",
                                        "mod(-a * b, 5) + mod(7, a) + mod(a, -b)",
                                        "clip(a, 1, b) + clip(-a, -b, b / 9) + clip(9, a, b) * clip(a, b, 2 * b)",
                                        "clip(a, 9 * b, b)", // the lower limit is the greater
                                        "if(a < b, a^2, b^3) + if(a > b, a^2, b^3)",
                                        "floor(a + 0.3) * ceil(b + 0.3) * sign(-a) * a + b * step(a)",
                                        "a * b * c * d + c",
                                        "c * d"};
    static const double offsets[] = {-2, -1, 1, 2}, h = 1e-3;
    static const double points[][TAPE_TEST_NAMES] = {{3, 4, 1.5, 2}, {2.2, 0.75, -1, 3}, {0.9, 5.1, 2, -2}};
    Arena arena = tape_test_arena();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Tape *tape = tape_new(&arena);
        const Expression *expression = tape_test_expression(texts[i], &arena);
        const TapeValue value = tape_test_value(tape, expression);
        const TapeValue along[] = {tape_test_input(tape, 0), tape_test_input(tape, 1)};
        const TapeValue rate[] = {tape_number(tape, 0.7), tape_test_input(tape, 3)};
        TapeValue slope = tape_slope(tape, value, along, rate, 2);
        if (slope == TAPE_NONE) slope = tape_number(tape, 0.0);
        for (size_t p = 0; p < sizeof points / sizeof *points; p++) {
            const double direction[TAPE_TEST_NAMES] = {0.7, points[p][3]};
            double got, at[4];
            for (int k = 0; k < 4; k++) {
                double moved[TAPE_TEST_NAMES];
                for (int v = 0; v < TAPE_TEST_NAMES; v++) moved[v] = points[p][v] + offsets[k] * h * direction[v];
                at[k] = expression_value(expression, moved);
            }
            tape_test_run(tape, &slope, 1, 1, points[p], &arena, &got);
            const double difference = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h);
            const double exact = expression_slope(expression, points[p], direction);
            if (!(fabs(got - exact) <= 1e-12 * (1 + fabs(exact)))) printf("%s\n", texts[i]);
            CHECK_NEAR(exact, got, 1e-12 * (1 + fabs(exact)));
            CHECK_NEAR(difference, got, 2e-6 * (1 + fabs(difference)));
        }
    }
    arena_destroy(&arena);
}

// One sweep back gives the sums of slopes: of random expressions, some of which choose between values that have no
// derivative where they are not chosen.
TEST(tape_adjoints_are_sums_of_slopes)
{
    static const char *const leaves[] = {
        "a", "b", "c", "d", "2", "0.5", "a", "b", "if(a > 0, sqrt(a), b)", "max(b, log(c))", "clip(a/b, -1, d)"};
    static const double weight[TAPE_TEST_OUTPUTS] = {1, -0.5, 0.25, 2, 1.5, -1};
    const int rounds = test_quick() ? 200 : 4000;
    int seen = 0;
    for (int round = 0; round < rounds; round++) {
        Arena arena = tape_test_arena();
        Tape *tape = tape_new(&arena);
        ExpressionRandom random = {.key = {.seed = 23, .ordinal = (uint64_t)round, .purpose = RANDOM_SAMPLE}};
        const TapeValue one = tape_number(tape, 1.0);
        enum { COUNT = TAPE_TEST_OUTPUTS + 1 };
        TapeValue outputs[COUNT], weights[COUNT], along[TAPE_TEST_NAMES], back[TAPE_TEST_NAMES];
        TapeValue all[TAPE_TEST_NAMES * COUNT];
        double at[TAPE_TEST_NAMES], got[TAPE_TEST_NAMES * COUNT];
        for (int k = 0; k < TAPE_TEST_NAMES; k++) {
            along[k] = tape_test_input(tape, k);
            at[k] = 6 * random_uniform(&random.key, 60000 + (uint32_t)k) - 3;
        }
        for (int i = 0; i < TAPE_TEST_OUTPUTS; i++) {
            char *text = ARENA_NEW(&arena, char, TAPE_TEST_TEXT);
            expression_case_invent(&random, 3, leaves, sizeof leaves / sizeof *leaves, false, text);
            outputs[i] = tape_test_value(tape, tape_test_expression(text, &arena));
            weights[i] = tape_number(tape, weight[i]);
        }
        outputs[COUNT - 1] = TAPE_NONE; // is left out
        weights[COUNT - 1] = TAPE_NONE;
        tape_test_run(tape, outputs, TAPE_TEST_OUTPUTS, 1, at, &arena, got);
        for (int i = 0; i < TAPE_TEST_OUTPUTS; i++)
            if (!isfinite(got[i])) outputs[i] = tape_number(tape, i); // nor has it a derivative
        tape_adjoint(tape, outputs, weights, COUNT, along, TAPE_TEST_NAMES, back);
        for (int k = 0; k < TAPE_TEST_NAMES; k++) {
            all[k] = back[k] != TAPE_NONE ? back[k] : tape_number(tape, 0.0);
            for (int i = 0; i < TAPE_TEST_OUTPUTS; i++) {
                const TapeValue slope = tape_slope(tape, outputs[i], &along[k], &one, 1);
                all[TAPE_TEST_NAMES * (i + 1) + k] = slope != TAPE_NONE ? slope : tape_number(tape, 0.0);
            }
        }
        tape_test_run(tape, all, TAPE_TEST_NAMES * COUNT, TAPE_TEST_NAMES * COUNT, at, &arena, got);
        for (int k = 0; k < TAPE_TEST_NAMES; k++) {
            double sum = 0.0, size = 0.0;
            for (int i = 0; i < TAPE_TEST_OUTPUTS; i++) {
                sum += weight[i] * got[TAPE_TEST_NAMES * (i + 1) + k];
                size += fabs(weight[i] * got[TAPE_TEST_NAMES * (i + 1) + k]);
            }
            if (!(size < 1e6)) continue; // numbers whose sums say nothing
            if (!(fabs(sum - got[k]) <= 1e-9 * (1 + size))) printf("round %d, input %d\n", round, k);
            CHECK_NEAR(sum, got[k], 1e-9 * (1 + size));
            seen += sum != 0.0;
        }
        arena_destroy(&arena);
    }
    CHECK(seen > rounds);
}

TEST(tape_says_what_does_not_fit)
{
    Arena arena = tape_test_arena();
    Tape *tape = tape_new(&arena);
    TapeLayout layout;
    TapeCode code;
    const TapeValue a = tape_test_input(tape, 0);
    TapeValue sum = a, *terms = ARENA_NEW(&arena, TapeValue, TAPE_REGISTERS_MAX + 1);
    for (int i = 0; i <= TAPE_REGISTERS_MAX; i++) {
        terms[i] = tape_operation(tape, PROGRAM_ADD, sum, a, TAPE_NONE);
        sum = terms[i];
    }
    CHECK_OK(tape_layout(tape, TAPE_TEST_NAMES, &sum, 1, &arena, &layout));
    CHECK_OK(tape_code(tape, &layout, &sum, 1, &arena, &code)); // a register for each sum is taken again
    CHECK(layout.registers < 2 * TAPE_TEST_NAMES);
    CHECK_OK(tape_layout(tape, TAPE_TEST_NAMES, terms, TAPE_REGISTERS_MAX + 1, &arena, &layout));
    CHECK_SAYS(ERROR_USER, "make the system smaller",
               tape_code(tape, &layout, terms, TAPE_REGISTERS_MAX + 1, &arena, &code));
    for (int i = 0; i <= TAPE_REGISTERS_MAX; i++) terms[i] = tape_number(tape, i);
    CHECK_SAYS(ERROR_USER, "make the system smaller",
               tape_layout(tape, TAPE_TEST_NAMES, terms, TAPE_REGISTERS_MAX + 1, &arena, &layout));
    CHECK(!tape->full);
    for (int i = 0; i <= TAPE_VALUES_MAX; i++) tape_number(tape, 0.5 + i);
    CHECK(tape->full);
    arena_destroy(&arena);
}
