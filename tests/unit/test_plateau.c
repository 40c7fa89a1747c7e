// Derivatives by differences of nine steps, of functions whose derivatives are known: smooth, with noise, with few
// digits, with a jump or a kink near.
#include "../../runner/campaign/run/gradient.h"
#include "../test.h"

#include <math.h>

typedef double PlateauFunction(double x);

static GradientRow plateau_of(PlateauFunction *f, double x, double most)
{
    GradientRow row = {.value = x};
    GradientSamples samples = {.centre = f(x)};
    for (int k = 0; k < GRADIENT_STEPS; k++) {
        row.steps[k] = (x != 0.0 ? fabs(x) : 1.0) * pow(10.0, -1 - k);
        samples.fitness[2 * k] = f(x + row.steps[k]);
        samples.fitness[2 * k + 1] = f(x - row.steps[k]);
        samples.out[2 * k] = x + row.steps[k] > most;
    }
    gradient_plateau(&row, &samples);
    return row;
}

// A number in [-1, 1) that x alone decides
static double plateau_noise_of(double x)
{
    union {
        double x;
        uint64_t bits;
    } of = {x};
    uint64_t h = (of.bits ^ of.bits >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ h >> 27) * UINT64_C(0x94D049BB133111EB);
    return (double)(int64_t)(h ^ h >> 31) * 0x1p-63;
}

static double plateau_exp(double x) { return exp(x); }
static double plateau_wave(double x) { return 3.0 + sin(40.0 * x); }
static double plateau_line(double x) { return 7.0 - 2.0 * x; }
static double plateau_power(double x) { return pow(x, 10.0); }
static double plateau_square(double x) { return x * x; }
static double plateau_large(double x) { return 1e6 + exp(x); }
static double plateau_constant(double x) { return 0.0 * x + 42.0; }
static double plateau_noisy(double x) { return exp(x) + 1e-12 * plateau_noise_of(x); }
static double plateau_noisier(double x) { return exp(x) + 1e-6 * plateau_noise_of(x); }
static double plateau_few_digits(double x) { return floor(1e8 * exp(x) + 0.5) / 1e8; }
static double plateau_six_digits(double x) { return floor(1e6 * exp(x) + 0.5) / 1e6; }
static double plateau_count(double x) { return floor(10.0 * x + 0.5); }
static double plateau_flat(double x) { return fmax(0.0, x - 1.001); }
static double plateau_jump_near(double x) { return exp(x) + (x > 1.0 + 3e-5 ? 5.0 : 0.0); }
static double plateau_jump_nearer(double x) { return exp(x) + (x < 1.0 - 2e-7 ? 5.0 : 0.0); }
static double plateau_large_jump(double x) { return exp(x) + (x > 1.0003 ? 1e4 : 0.0); }
static double plateau_jump(double x) { return exp(x) + (x >= 1.0 ? 5.0 : 0.0); }
static double plateau_small_jump(double x) { return exp(x) + (x > 1.0 ? 1e-3 : 0.0); }
static double plateau_kink_near(double x) { return exp(x) + fabs(x - 1.0003); }
static double plateau_kink(double x) { return exp(x) + fabs(x - 1.0); }

// The derivative lies within the error bar, which is at most a part `most` of it, and not 0.
TEST(plateau_finds_derivatives_within_their_error)
{
    static const struct {
        const char *name;
        PlateauFunction *f;
        double x, derivative, most;
    } cases[] = {
        {"exp", plateau_exp, 1.0, 2.718281828459045, 1e-8},
        {"exp of -3", plateau_exp, -3.0, 0.049787068367863944, 1e-8},
        {"a wave", plateau_wave, 0.7, -38.504234652542664, 1e-6},
        {"a line", plateau_line, 0.3, -2.0, 1e-12},
        {"a power", plateau_power, 2.0, 5120.0, 1e-8},
        {"a square", plateau_square, 5.0, 10.0, 1e-9},
        {"large values", plateau_large, 1.0, 2.718281828459045, 1e-5},
        {"noise of 1e-12", plateau_noisy, 1.0, 2.718281828459045, 1e-6},
        {"noise of 1e-6", plateau_noisier, 1.0, 2.718281828459045, 1e-2},
        {"eight decimals", plateau_few_digits, 1.0, 2.718281828459045, 1e-3},
        {"six decimals", plateau_six_digits, 1.0, 2.718281828459045, 1e-2},
        {"a kink near", plateau_kink_near, 1.0, 1.718281828459045, 1e-5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double truth = cases[i].derivative;
        for (int side = 0; side < 2; side++) { // the second: at the end of the range
            const GradientRow row = plateau_of(cases[i].f, cases[i].x, side == 0 ? (double)INFINITY : cases[i].x);
            const double most = side == 0 ? cases[i].most : 100.0 * cases[i].most + 1e-6;
            const bool good = fabs(row.difference - truth) <= row.error && row.error > 0.0 &&
                              row.error <= most * fabs(truth) && row.remark[0] == '\0';
            if (!good)
                printf("%s, %s: %.17g +- %.3g at %g, expected %.17g; %s\n", cases[i].name,
                       side == 0 ? "both sides" : "one side", row.difference, row.error, row.step, truth, row.remark);
            CHECK(good);
        }
    }
    CHECK_BITS(0.0, plateau_of(plateau_count, 1.03, (double)INFINITY).difference);
    CHECK_BITS(0.0, plateau_of(plateau_flat, 1.0, (double)INFINITY).difference);
    CHECK_BITS(0.0, plateau_of(plateau_constant, 3.0, (double)INFINITY).difference);
    CHECK_NEAR(0.0, plateau_of(plateau_square, 0.0, (double)INFINITY).difference, 1e-12);
}

TEST(plateau_says_where_a_discontinuity_lies_near)
{
    static PlateauFunction *const near[] = {plateau_jump_near, plateau_jump_nearer, plateau_large_jump},
                                  *const at[] = {plateau_jump, plateau_small_jump};
    static const bool hidden[] = {true, false}; // a small jump still shows the slope at wide steps
    for (int i = 0; i < 3; i++) {
        const GradientRow row = plateau_of(near[i], 1.0, (double)INFINITY);
        CHECK_TEXT("a discontinuity near", row.remark);
        CHECK_NEAR(2.718281828459045, row.difference, row.error);
        CHECK(row.error < 1e-2);
    }
    for (int i = 0; i < 2; i++) {
        const GradientRow row = plateau_of(at[i], 1.0, (double)INFINITY);
        CHECK_TEXT("a discontinuity near", row.remark);
        CHECK(isnan(row.difference) == hidden[i] && isnan(row.error) == hidden[i]);
        CHECK(hidden[i] || fabs(row.difference - 2.718281828459045) <= row.error);
    }
}

TEST(plateau_spans_the_slopes_of_both_sides_of_a_kink)
{
    const GradientRow row = plateau_of(plateau_kink, 1.0, (double)INFINITY);
    CHECK_TEXT("a kink: the slopes of the two sides differ", row.remark);
    CHECK_NEAR(2.718281828459045, row.difference, 1e-6);
    CHECK_NEAR(1.0, row.error, 1e-3);
}

// Noise is no discontinuity: 2,000 places of the noisy function.
TEST(plateau_takes_no_noise_for_a_discontinuity)
{
    int said = 0, missed = 0;
    for (int i = 0; i < 2000; i++) {
        const double x = 0.5 + i / 1000.0;
        const GradientRow row = plateau_of(i % 2 == 0 ? plateau_noisy : plateau_noisier, x, (double)INFINITY);
        said += row.remark[0] != '\0';
        missed += !(fabs(row.difference - exp(x)) <= 3.0 * row.error);
    }
    printf("%d of 2000 have a remark, %d lie three errors away\n", said, missed);
    CHECK(said <= 2);
    CHECK(missed <= 10);
}
