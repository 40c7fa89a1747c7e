// The portable elementary functions against the C library's long double ones (64 bits of mantissa on x86), in units in
// the last place of the exact value, and Annex F's special values. sim.h promises 2 ulp; each function is held to a
// little more than the worst that 3 million arguments of each range have shown. atan2 has its worst, 1.4, where y/x is
// subnormal, and 0.9 elsewhere.
#include "../test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int math_arguments(void) { return test_quick() ? 20000 : 200000; }

// |got - expected| in ulps of expected; infinite if only one of them is special, or for zeros of different sign
static double math_ulps(long double expected, double got)
{
    const double rounded = (double)expected;
    if (isnan(rounded) || isnan(got)) return isnan(rounded) && isnan(got) ? 0.0 : INFINITY;
    if (isinf(rounded) || isinf(got)) return rounded == got ? 0.0 : INFINITY;
    if (rounded == 0.0 && got == 0.0) return signbit(rounded) == signbit(got) ? 0.0 : INFINITY;
    int exponent;
    frexp(rounded, &exponent);
    const int last = exponent - DBL_MANT_DIG > -1074 ? exponent - DBL_MANT_DIG : -1074;
    return (double)(fabsl((long double)got - expected) / ldexpl(1.0L, rounded == 0.0 ? -1074 : last));
}

// ---- arguments ------------------------------------------------------------------------------------------------------

// How the i-th argument is chosen: evenly over [low, high]; evenly over the exponents up to that of high, with
// both signs; or any bits.
typedef enum MathSpread { MATH_EVEN, MATH_EXPONENTS, MATH_BITS } MathSpread;

typedef struct MathRange {
    MathSpread spread;
    double low, high;
} MathRange;

static double math_argument(MathRange range, uint32_t replicate, int i)
{
    const RandomKey key = {.seed = 1, .ordinal = (uint64_t)i, .replicate = replicate, .purpose = RANDOM_SAMPLE};
    const double u = random_uniform(&key, 0), v = random_uniform(&key, 1);
    if (range.spread == MATH_EVEN) return range.low + (range.high - range.low) * u;
    if (range.spread == MATH_EXPONENTS) {
        const double magnitude = ldexp(1.0 + fabs(2.0 * u - 1.0), (int)(-1075.0 + v * (ilogb(range.high) + 1075.0)));
        return u < 0.5 ? -magnitude : magnitude;
    }
    const uint64_t bits = (uint64_t)(u * 0x1p32) << 32 | (uint64_t)(v * 0x1p32);
    double any;
    memcpy(&any, &bits, sizeof any);
    return any;
}

static const double math_specials[] = {
    0.0,
    -0.0,
    INFINITY,
    -INFINITY,
    NAN,
    0x1p-1074,
    -0x1p-1074,
    0x1p-1022,
    -0x1p-1022,
    0x1p-27,
    -0x1p-27,
    0.5,
    -0.5,
    1.0,
    -1.0,
    1.5,
    -1.5,
    2.0,
    -2.0,
    3.0,
    -3.0,
    10.0,
    22.0,
    -22.0,
    709.7827,
    709.7828,
    -708.3965,
    -745.1332,
    -745.1333,
    710.0,
    -746.0,
    0x1p52,
    -0x1p52,
    0x1p53,
    -0x1p53,
    0x1.fffffffffffffp-1,
    -0x1.0000000000001p0,
    0x1.6a09e667f3bcdp-1,
    0x1.6a09e667f3bccp-1,
    0x1.fffffffffffffp52,
    -0x1.fffffffffffffp52,
    DBL_MAX,
    -DBL_MAX,
    1.5707963267948966,
    -3.141592653589793,
};
enum { MATH_N_SPECIALS = sizeof math_specials / sizeof math_specials[0] };

// ---- comparison -----------------------------------------------------------------------------------------------------

typedef struct MathFunction {
    const char *name;
    double bound; // ulp
    double (*of_one)(double);
    long double (*exact_of_one)(long double);
    double (*of_two)(double, double);
    long double (*exact_of_two)(long double, long double);
} MathFunction;

typedef struct MathWorst {
    double ulps, x, y;
} MathWorst;

static void math_compare(const MathFunction *f, double x, double y, MathWorst *worst)
{
    const double got = f->of_one != NULL ? f->of_one(x) : f->of_two(x, y);
    const long double exact = f->of_one != NULL ? f->exact_of_one(x) : f->exact_of_two(x, y);
    const double ulps = math_ulps(exact, got);
    if (ulps > worst->ulps) *worst = (MathWorst){ulps, x, y};
}

static void math_report(const MathFunction *f, const MathWorst *worst, const char *file, int line)
{
    char what[160];
    snprintf(what, sizeof what, f->of_one != NULL ? "ulps of %s(%a)" : "ulps of %s(%a, %a)", f->name, worst->x,
             worst->y);
    test_near(0.0, worst->ulps, f->bound, file, line, what);
}

static void math_check(const MathFunction *f, MathRange x, MathRange y, const char *file, int line)
{
    MathWorst worst = {0};
    for (int i = 0; i < math_arguments(); i++) math_compare(f, math_argument(x, 0, i), math_argument(y, 1, i), &worst);
    math_report(f, &worst, file, line);
}

// Every special argument (or pair of them) with |x| <= limit, infinite or NaN.
static void math_check_specials(const MathFunction *f, double limit, const char *file, int line)
{
    MathWorst worst = {0};
    for (int i = 0; i < MATH_N_SPECIALS; i++) {
        const double x = math_specials[i];
        if (fabs(x) > limit && !isinf(x)) continue;
        for (int j = 0; j < (f->of_one != NULL ? 1 : MATH_N_SPECIALS); j++)
            math_compare(f, x, math_specials[j], &worst);
    }
    math_report(f, &worst, file, line);
}

#define MATH_CHECK(f, x) math_check((f), (MathRange)x, (MathRange)x, __FILE__, __LINE__)
#define MATH_RANGE(...)                                                                                                \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
#define MATH_CHECK_SPECIALS(f, limit) math_check_specials((f), (limit), __FILE__, __LINE__)

// ---- tests ----------------------------------------------------------------------------------------------------------

TEST(portable_sin_and_cos_are_near_the_exact_ones)
{
    const MathFunction functions[] = {{"sin", 1.6, portable_sin, sinl, NULL, NULL},
                                      {"cos", 1.6, portable_cos, cosl, NULL, NULL}};
    for (int i = 0; i < 2; i++) {
        MATH_CHECK(&functions[i], MATH_RANGE(MATH_EVEN, -4.0, 4.0));
        MATH_CHECK(&functions[i], MATH_RANGE(MATH_EVEN, -1e4, 1e4));
        MATH_CHECK(&functions[i], MATH_RANGE(MATH_EXPONENTS, 0.0, 0x1p30));
        MATH_CHECK(&functions[i], MATH_RANGE(MATH_EXPONENTS, 0.0, DBL_MAX));
        MATH_CHECK(&functions[i], MATH_RANGE(MATH_EVEN, -1e12, 1e12));
        MATH_CHECK(&functions[i], MATH_RANGE(MATH_BITS, 0.0, 0.0));
        MATH_CHECK_SPECIALS(&functions[i], DBL_MAX);
    }
}

// Multiples of pi/2 leave a remainder of about 1e-17: all its digits come from the second and third part of pi/2.
TEST(portable_sin_and_cos_survive_cancellation)
{
    const MathFunction functions[] = {{"sin", 1.6, portable_sin, sinl, NULL, NULL},
                                      {"cos", 1.6, portable_cos, cosl, NULL, NULL}};
    for (int f = 0; f < 2; f++) {
        MathWorst worst = {0};
        for (int i = 1; i < math_arguments(); i++) math_compare(&functions[f], i * 1.5707963267948966, 0.0, &worst);
        for (int i = 1; i < math_arguments(); i++)
            math_compare(&functions[f], i * 3355.0 * 1.5707963267948966, 0.0, &worst);
        math_report(&functions[f], &worst, __FILE__, __LINE__);
    }
}

// Beyond 2^30: doubles that lie nearest to multiples of pi/2 (the convergents m of 2^e 2/pi, for all e), and large
// ones. x, sin x, cos x and tan x by tests/unit/far_angles.py (mpmath, 3000 bits).
static const double math_far[][4] = {
    {0x1.6ac5b262ca1ffp+849, 0x1.0000000000000p+0, -0x1.14ae72e6ba22fp-61, -0x1.d9ba9a7975636p+60},
    {0x1.6ac5b262ca1ffp+850, -0x1.14ae72e6ba22fp-60, -0x1.0000000000000p+0, 0x1.14ae72e6ba22fp-60},
    {0x1.504cac51f1eafp+131, -0x1.0000000000000p+0, -0x1.0cb604d34f341p-59, 0x1.e7c7d0f43f81ep+58},
    {0x1.6ac5b262ca1ffp+851, 0x1.14ae72e6ba22fp-59, 0x1.0000000000000p+0, 0x1.14ae72e6ba22fp-59},
    {0x1.e009c53148be1p+991, 0x1.0000000000000p+0, 0x1.295a3b0a64b1dp-59, 0x1.b8cbf7ecfaffap+58},
    {0x1.4c96c11134d36p+577, -0x1.0000000000000p+0, 0x1.6ec67bcf77522p-59, -0x1.655cf9e23c4d7p+58},
    {0x1.cfe482285f8edp+860, -0x1.0000000000000p+0, -0x1.d08f59c32bfa3p-59, 0x1.1a246b6f92457p+58},
    {0x1.db41f3cb71d7bp+680, 0x1.0000000000000p+0, 0x1.e09878d22e29dp-59, 0x1.10ba6f3f467d7p+58},
    {0x1.e7e44a78ac18cp+197, -0x1.0000000000000p+0, 0x1.ed415f54c8cb8p-59, -0x1.09ba7e061f301p+58},
    {0x1.c45cd11154dfdp+295, 0x1.0000000000000p+0, 0x1.01242876d7c1bp-58, 0x1.fdba46f553a09p+57},
    {0x1.504cac51f1eafp+132, 0x1.0cb604d34f341p-58, -0x1.0000000000000p+0, -0x1.0cb604d34f341p-58},
    {0x1.83009e2e9e2ebp+614, 0x1.0000000000000p+0, -0x1.104830400912ap-58, -0x1.e1621fb1336a5p+57},
    {0x1.b2196364d750bp+253, -0x1.0000000000000p+0, 0x1.12bbbe07f2de1p-58, -0x1.dd1688c6969adp+57},
    {0x1.6ac5b262ca1ffp+852, 0x1.14ae72e6ba22fp-58, 0x1.0000000000000p+0, 0x1.14ae72e6ba22fp-58},
    {0x1.e009c53148be1p+992, 0x1.295a3b0a64b1dp-58, -0x1.0000000000000p+0, -0x1.295a3b0a64b1dp-58},
    {0x1.69eab0985179bp+246, -0x1.0000000000000p+0, -0x1.61ecec9c577fdp-58, 0x1.72567cb9047a9p+57},
    {0x1.4c96c11134d36p+578, -0x1.6ec67bcf77522p-58, -0x1.0000000000000p+0, 0x1.6ec67bcf77522p-58},
    {0x1.782b7a20df6d4p+67, -0x1.0000000000000p+0, -0x1.7a6500ca6d83bp-58, 0x1.5a63c82b6dae2p+57},
    {0x1.66bd5424e5655p+90, -0x1.0000000000000p+0, -0x1.7a6b2243e72f6p-58, 0x1.5a5e2b886a2abp+57},
    {0x1.0000000000001p+30, -0x1.3c122eebfba67p-1, 0x1.92cb4b9968dc8p-1, -0x1.91c3b439ec482p-1},
    {-0x1.0000000000000p+31, 0x1.f14f913e9af98p-1, 0x1.e70c2d5131e55p-3, 0x1.0564ff9979ed5p+2},
    {0x1.0000000000001p+52, 0x1.053c35068e10dp-4, -0x1.fef526a39c993p-1, -0x1.05c4a3507a3f6p-4},
    {0x1.0000000000000p+53, -0x1.b2a66c8f35586p-1, -0x1.0e9918bb35aacp-1, 0x1.9b33af5ae241fp+0},
    {-0x1.0000000000000p+64, -0x1.82a353118793dp-6, -0x1.ffdb7fa3fe34dp-1, 0x1.82bee572e2ac9p-6},
    {0x1.0f0cf064dd592p+73, -0x1.b453ab76bf397p-1, 0x1.0be2cef01c8f4p-1, -0x1.a0f79c1b6b257p+0},
    {-0x1.249ad2594c37dp+332, 0x1.85c5e5b929359p-2, 0x1.d9757496841f5p-1, 0x1.a5807d6f76f7dp-2},
    {0x1.7e43c8800759cp+996, -0x1.a2c16b010e385p-1, -0x1.2699022adc4c1p-1, 0x1.6be411f37ac77p+0},
    {0x1.0000000000000p+1023, 0x1.205248cbdb760p-1, -0x1.a719f26c232bfp-1, -0x1.5ce6b4c0d02a3p-1},
    {0x1.fffffffffffffp+1023, 0x1.452fc98b34e97p-8, -0x1.fffe62ecfab75p-1, -0x1.4530cfe729484p-8},
};

TEST(portable_sin_cos_and_tan_of_far_angles)
{
    for (size_t i = 0; i < sizeof math_far / sizeof math_far[0]; i++) {
        const double x = math_far[i][0], s = math_far[i][1], c = math_far[i][2];
        CHECK_NEAR(0.0, math_ulps(s, portable_sin(x)), 1.6);
        CHECK_NEAR(0.0, math_ulps(c, portable_cos(x)), 1.6);
        CHECK_BITS(-portable_sin(x), portable_sin(-x));
        CHECK_BITS(portable_cos(x), portable_cos(-x));
        CHECK_NEAR(0.0, math_ulps(math_far[i][3], portable_tan(x)), 1.5);
    }
}

TEST(portable_tan_is_near_the_exact_one)
{
    const MathFunction f = {"tan", 1.0, portable_tan, tanl, NULL, NULL};
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, -1.0, 1.0));
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, -1e4, 1e4));
    MATH_CHECK(&f, MATH_RANGE(MATH_EXPONENTS, 0.0, 0x1p30));
    MATH_CHECK(&f, MATH_RANGE(MATH_EXPONENTS, 0.0, DBL_MAX));
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, -1e12, 1e12));
    MATH_CHECK(&f, MATH_RANGE(MATH_BITS, 0.0, 0.0));
    MATH_CHECK_SPECIALS(&f, DBL_MAX);
    MathWorst worst = {0};
    for (int i = 1; i < math_arguments(); i++) math_compare(&f, i * 1.5707963267948966, 0.0, &worst);
    for (int i = 1; i < math_arguments(); i++) math_compare(&f, i * 3355.0 * 1.5707963267948966, 0.0, &worst);
    math_report(&f, &worst, __FILE__, __LINE__);
}

TEST(portable_asin_is_near_the_exact_one)
{
    const MathFunction f = {"asin", 1.2, portable_asin, asinl, NULL, NULL};
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, -1.0, 1.0));
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, 0.45, 0.55));
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, -1.0, -0.999));
    MATH_CHECK(&f, MATH_RANGE(MATH_EXPONENTS, 0.0, 4.0));
    MATH_CHECK_SPECIALS(&f, DBL_MAX);
}

TEST(portable_acos_is_near_the_exact_one)
{
    const MathFunction f = {"acos", 1.2, portable_acos, acosl, NULL, NULL};
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, -1.0, 1.0));
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, 0.45, 0.55));
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, 0.999, 1.0));
    MATH_CHECK(&f, MATH_RANGE(MATH_EXPONENTS, 0.0, 4.0));
    MATH_CHECK_SPECIALS(&f, DBL_MAX);
    const MathFunction left = {"acos", 0.7, portable_acos, acosl, NULL, NULL}; // pi and pi/2 of two numbers are added
    MATH_CHECK(&left, MATH_RANGE(MATH_EVEN, -1.0, 0.5));
    MATH_CHECK(&left, MATH_RANGE(MATH_EVEN, -1.0, -0.999));
    MathWorst worst = {0};
    for (int i = 1; i < math_arguments(); i++)
        math_compare(&f, 1.0 - 0x1p-53 * i, 0.0, &worst); // the last ones below 1
    math_report(&f, &worst, __FILE__, __LINE__);
}

TEST(portable_atan_is_near_the_exact_one)
{
    const MathFunction f = {"atan", 1.0, portable_atan, atanl, NULL, NULL};
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, -1.0, 1.0));
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, 1.0, 2.2));
    MATH_CHECK(&f, MATH_RANGE(MATH_EXPONENTS, 0.0, DBL_MAX));
    MATH_CHECK(&f, MATH_RANGE(MATH_BITS, 0.0, 0.0));
    MATH_CHECK_SPECIALS(&f, DBL_MAX);
}

TEST(portable_atan2_is_near_the_exact_one)
{
    const MathFunction f = {"atan2", 1.6, NULL, NULL, portable_atan2, atan2l};
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, -1.0, 1.0));
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, 1.0, 2.2));
    MATH_CHECK(&f, MATH_RANGE(MATH_EXPONENTS, 0.0, DBL_MAX));
    MATH_CHECK(&f, MATH_RANGE(MATH_EXPONENTS, 0.0, 0x1p-1060));
    MATH_CHECK(&f, MATH_RANGE(MATH_BITS, 0.0, 0.0));
    MATH_CHECK_SPECIALS(&f, DBL_MAX);
}

TEST(portable_exp_is_near_the_exact_one)
{
    const MathFunction f = {"exp", 1.0, portable_exp, expl, NULL, NULL};
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, -1.0, 1.0));
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, -750.0, 715.0));
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, -746.0, -707.0));
    MATH_CHECK(&f, MATH_RANGE(MATH_EXPONENTS, 0.0, 1024.0));
    MATH_CHECK_SPECIALS(&f, DBL_MAX);
}

TEST(portable_log_is_near_the_exact_one)
{
    const MathFunction f = {"log", 1.0, portable_log, logl, NULL, NULL};
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, 0.5, 2.0));
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, 0.999, 1.001));
    MATH_CHECK(&f, MATH_RANGE(MATH_EXPONENTS, 0.0, DBL_MAX));
    MATH_CHECK(&f, MATH_RANGE(MATH_BITS, 0.0, 0.0));
    MATH_CHECK_SPECIALS(&f, DBL_MAX);
}

TEST(portable_sinh_and_cosh_are_near_the_exact_ones)
{
    const MathFunction functions[] = {{"sinh", 1.1, portable_sinh, sinhl, NULL, NULL},
                                      {"cosh", 1.0, portable_cosh, coshl, NULL, NULL}};
    for (int i = 0; i < 2; i++) {
        MATH_CHECK(&functions[i], MATH_RANGE(MATH_EVEN, -1.0, 1.0));
        MATH_CHECK(&functions[i], MATH_RANGE(MATH_EVEN, -25.0, 25.0));
        MATH_CHECK(&functions[i], MATH_RANGE(MATH_EVEN, -715.0, 715.0));
        MATH_CHECK(&functions[i], MATH_RANGE(MATH_EVEN, 710.47, 710.48));
        MATH_CHECK(&functions[i], MATH_RANGE(MATH_EXPONENTS, 0.0, 1024.0));
        MATH_CHECK_SPECIALS(&functions[i], DBL_MAX);
    }
}

TEST(portable_tanh_is_near_the_exact_one)
{
    const MathFunction f = {"tanh", 1.1, portable_tanh, tanhl, NULL, NULL};
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, -1.0, 1.0));
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, -25.0, 25.0));
    MATH_CHECK(&f, MATH_RANGE(MATH_EXPONENTS, 0.0, 32.0));
    MATH_CHECK_SPECIALS(&f, DBL_MAX);
}

TEST(portable_pow_is_near_the_exact_one)
{
    const MathFunction f = {"pow", 1.1, NULL, NULL, portable_pow, powl};
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, 0.0, 10.0));
    MATH_CHECK(&f, MATH_RANGE(MATH_BITS, 0.0, 0.0));
    MATH_CHECK_SPECIALS(&f, DBL_MAX);
    const MathRange bases[] = {{MATH_EVEN, 0.9, 1.1}, {MATH_EXPONENTS, 0.0, DBL_MAX}};
    const MathRange exponents[] = {{MATH_EVEN, -7000.0, 7000.0}, {MATH_EVEN, -1.0, 1.0}};
    for (int i = 0; i < 2; i++) math_check(&f, bases[i], exponents[i], __FILE__, __LINE__);
    MathWorst worst = {0};
    for (int n = -400; n <= 400; n++) {
        for (int i = 1; i < 100; i++) math_compare(&f, -0.07 * i, n, &worst);
    }
    math_report(&f, &worst, __FILE__, __LINE__);
}

TEST(portable_hypot_is_near_the_exact_one)
{
    const MathFunction f = {"hypot", 1.1, NULL, NULL, portable_hypot, hypotl};
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, -1.0, 1.0));
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, 1e154, 1e308));
    MATH_CHECK(&f, MATH_RANGE(MATH_EXPONENTS, 0.0, DBL_MAX));
    MATH_CHECK(&f, MATH_RANGE(MATH_EXPONENTS, 0.0, 0x1p-1060));
    MATH_CHECK(&f, MATH_RANGE(MATH_BITS, 0.0, 0.0));
    MATH_CHECK_SPECIALS(&f, DBL_MAX);
}

TEST(portable_floor_and_ceil_are_exact)
{
    const MathFunction functions[] = {{"floor", 0.0, portable_floor, floorl, NULL, NULL},
                                      {"ceil", 0.0, portable_ceil, ceill, NULL, NULL}};
    for (int i = 0; i < 2; i++) {
        MATH_CHECK(&functions[i], MATH_RANGE(MATH_EVEN, -1e3, 1e3));
        MATH_CHECK(&functions[i], MATH_RANGE(MATH_EVEN, -0x1p54, 0x1p54));
        MATH_CHECK(&functions[i], MATH_RANGE(MATH_EXPONENTS, 0.0, DBL_MAX));
        MATH_CHECK(&functions[i], MATH_RANGE(MATH_BITS, 0.0, 0.0));
        MATH_CHECK_SPECIALS(&functions[i], DBL_MAX);
        MathWorst worst = {0}; // halves and whole numbers, and the doubles beside them
        for (int n = -1000; n <= 1000; n++) {
            math_compare(&functions[i], 0.5 * n, 0.0, &worst);
            math_compare(&functions[i], nextafter(0.5 * n, INFINITY), 0.0, &worst);
            math_compare(&functions[i], nextafter(0.5 * n, -INFINITY), 0.0, &worst);
        }
        math_report(&functions[i], &worst, __FILE__, __LINE__);
    }
}

// x - y floor(x/y), by the exact remainder of the C library.
static long double math_floored_remainder(long double x, long double y)
{
    const long double rest = fmodl(x, y);
    if (rest == 0) return copysignl(0, y);
    return signbit(rest) != signbit(y) ? rest + y : rest;
}

TEST(portable_mod_is_exact)
{
    const MathFunction f = {"mod", 0.5001, NULL, NULL, portable_mod, math_floored_remainder};
    MATH_CHECK(&f, MATH_RANGE(MATH_EVEN, -10.0, 10.0));
    MATH_CHECK(&f, MATH_RANGE(MATH_EXPONENTS, 0.0, DBL_MAX));
    MATH_CHECK(&f, MATH_RANGE(MATH_EXPONENTS, 0.0, 0x1p-1060));
    MATH_CHECK(&f, MATH_RANGE(MATH_BITS, 0.0, 0.0));
    MATH_CHECK_SPECIALS(&f, DBL_MAX);
    MathWorst worst = {0}; // multiples, and the doubles beside them, whose quotients round to whole numbers
    for (int n = -2000; n <= 2000; n++) {
        const double x = 0.1 * n, steps[] = {x, nextafter(x, INFINITY), nextafter(x, -INFINITY), n * 0x1.8p60};
        for (int i = 0; i < 4; i++) math_compare(&f, steps[i], n % 3 == 0 ? -0.1 : 0.1, &worst);
    }
    math_report(&f, &worst, __FILE__, __LINE__);
    CHECK_NEAR(1.0, portable_mod(-0x1p-60, 1.0), 0.0); // rounded
    CHECK_NEAR(2.0, portable_mod(-7.0, 3.0), 0.0);
    CHECK_NEAR(-2.0, portable_mod(7.0, -3.0), 0.0);
}

// The sign of x turns that of the result, or has no effect.
TEST(portable_functions_are_odd_or_even)
{
    double (*const odd[])(double) = {portable_sin,  portable_tan,  portable_asin,
                                     portable_atan, portable_sinh, portable_tanh};
    double (*const even[])(double) = {portable_cos, portable_cosh};
    const MathRange ranges[] = {{MATH_EVEN, -1.0, 1.0}, {MATH_EXPONENTS, 0.0, DBL_MAX}};
    for (int i = 0; i < math_arguments() / 10; i++) {
        for (int r = 0; r < 2; r++) {
            const double x = math_argument(ranges[r], 0, i), y = math_argument(ranges[r], 1, i);
            for (size_t f = 0; f < sizeof odd / sizeof odd[0]; f++) {
                if (odd[f](x) == odd[f](x)) CHECK_BITS(-odd[f](x), odd[f](-x));
            }
            for (size_t f = 0; f < sizeof even / sizeof even[0]; f++) CHECK_BITS(even[f](x), even[f](-x));
            CHECK_BITS(-portable_floor(x), portable_ceil(-x));
            CHECK_BITS(portable_hypot(x, y), portable_hypot(-y, x));
            CHECK_BITS(-portable_atan2(x, y), portable_atan2(-x, y));
            CHECK_BITS(-portable_mod(x, y), portable_mod(-x, -y));
        }
    }
}
