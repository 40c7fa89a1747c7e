// Evenly spaced numbers, exact until they are rounded (io.h).
#include "decimal.h"

#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- decimals -------------------------------------------------------------------------------------------------------

Decimal decimal_of(double value)
{
    const Text32 text = text_number(value);
    const char *c = text.text + (text.text[0] == '-');
    Decimal decimal = {0};
    bool fraction = false;
    for (; *c != '\0' && *c != 'e'; c++) {
        if (*c == '.') fraction = true;
        if (*c == '.') continue;
        decimal.digits = 10 * decimal.digits + (*c - '0'); // at most 17 digits
        decimal.exponent -= fraction;
    }
    if (*c == 'e') decimal.exponent += (int)strtol(c + 1, NULL, 10);
    while (decimal.digits != 0 && decimal.digits % 10 == 0) {
        decimal.digits /= 10;
        decimal.exponent++;
    }
    if (decimal.digits == 0) decimal.exponent = 0;
    if (text.text[0] == '-') decimal.digits = -decimal.digits;
    return decimal;
}

static const DecimalWide decimal_bound = (DecimalWide)1 << 120; // of all integers here: 36 digits

static bool decimal_inside(DecimalWide value) { return value < decimal_bound && value > -decimal_bound; }

// *value times `by`; false: it would be too large.
static bool decimal_times(DecimalWide *value, DecimalWide by)
{
    return !__builtin_mul_overflow(*value, by, value) && decimal_inside(*value);
}

static bool decimal_times_ten(DecimalWide *value, int power)
{
    bool fits = true;
    for (int i = 0; i < power && *value != 0 && fits; i++) fits = decimal_times(value, 10);
    return fits;
}

// The numbers as integers of one exponent; false: they are too large.
static bool decimal_align(const double *value, int count, DecimalWide *aligned, int *exponent)
{
    Decimal decimal[4];
    bool some = false, fits = true;
    *exponent = 0;
    for (int i = 0; i < count; i++) {
        decimal[i] = decimal_of(value[i]);
        if (decimal[i].digits == 0) continue;
        if (!some || decimal[i].exponent < *exponent) *exponent = decimal[i].exponent;
        some = true;
    }
    for (int i = 0; i < count && fits; i++) {
        aligned[i] = decimal[i].digits;
        fits = decimal_times_ten(&aligned[i], decimal[i].exponent - *exponent);
    }
    return fits;
}

// ---- rounding -------------------------------------------------------------------------------------------------------

// The double nearest to over/under 10^exponent, under > 0. Both exact as doubles: one division rounds once. Otherwise
// the quotient is written as a decimal of up to 120 digits, with a 1 at the end if there are more, and read.
static double decimal_nearest(DecimalWide over, DecimalWide under, int exponent)
{
    enum { DIGITS = 120, INTEGER_DIGITS = 40 };
    const DecimalWide exact = (DecimalWide)1 << 53, size = over < 0 ? -over : over;
    if (exponent == 0 && size <= exact && under <= exact) return (double)over / (double)under;
    char text[INTEGER_DIGITS + DIGITS + 32], *end = text + INTEGER_DIGITS, *start = end;
    DecimalWide whole = size / under, rest = size % under;
    do {
        *--start = (char)('0' + (int)(whole % 10));
        whole /= 10;
    } while (whole != 0);
    for (int i = 0; rest != 0 && i < DIGITS; i++, exponent--) {
        *end++ = (char)('0' + (int)(rest * 10 / under));
        rest = rest * 10 % under;
    }
    if (rest != 0) {
        *end++ = '1';
        exponent--;
    }
    snprintf(end, 16, "e%d", exponent);
    const double nearest = strtod(start, NULL);
    return over < 0 ? -nearest : nearest;
}

double decimal_scaled(Decimal value, int64_t times, int64_t over)
{
    DecimalWide upper = (DecimalWide)value.digits * times, lower = over;
    int exponent = value.exponent;
    const DecimalWide given = lower;
    if (exponent < 0 && decimal_times_ten(&lower, -exponent))
        exponent = 0;
    else
        lower = given;
    return decimal_nearest(upper, lower, exponent);
}

// ---- lines ----------------------------------------------------------------------------------------------------------

static DecimalWide decimal_divisor(DecimalWide a, DecimalWide b)
{
    if (a < 0) a = -a;
    if (b < 0) b = -b;
    while (b != 0) {
        const DecimalWide rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// Takes the power of ten into the fraction where it fits, and cancels: most points are then one division.
static void decimal_line_simplify(DecimalLine *line, DecimalWide last)
{
    DecimalLine folded = *line;
    folded.exponent = 0;
    const bool fits = line->exponent < 0 ? decimal_times_ten(&folded.divisor, -line->exponent)
                                         : decimal_times_ten(&folded.first, line->exponent) &&
                                               decimal_times_ten(&folded.step, line->exponent) &&
                                               decimal_times_ten(&last, line->exponent);
    if (fits) *line = folded;
    const DecimalWide common = decimal_divisor(decimal_divisor(line->first, line->step), line->divisor);
    line->first /= common;
    line->step /= common;
    line->divisor /= common;
}

DecimalLine decimal_line(double start, double step, int64_t points)
{
    DecimalLine line = {.from = start, .span = step, .steps = 1.0};
    DecimalWide aligned[2], last;
    if (!decimal_align((const double[]){start, step}, 2, aligned, &line.exponent)) return line;
    last = aligned[1];
    if (!decimal_times(&last, points) || !decimal_inside(last + aligned[0])) return line;
    line.first = aligned[0];
    line.step = aligned[1];
    line.divisor = 1;
    decimal_line_simplify(&line, last + aligned[0]);
    return line;
}

DecimalLine decimal_line_between(double first, double last, int64_t points)
{
    DecimalLine line = {.from = first, .span = last - first, .steps = (double)(points - 1)};
    DecimalWide aligned[2];
    if (!decimal_align((const double[]){first, last}, 2, aligned, &line.exponent)) return line;
    line.step = aligned[1] - aligned[0];
    if (!decimal_times(&aligned[0], points - 1) || !decimal_times(&aligned[1], points - 1)) return line;
    line.first = aligned[0];
    line.divisor = points - 1;
    decimal_line_simplify(&line, aligned[1]);
    return line;
}

double decimal_line_at(const DecimalLine *line, int64_t i)
{
    if (line->divisor == 0) return line->from + line->span * (double)i / line->steps;
    return decimal_nearest(line->first + line->step * i, line->divisor, line->exponent);
}

double decimal_steps(double start, double greatest, double step)
{
    DecimalWide aligned[3];
    int exponent;
    if (greatest < start) return -1.0;
    if (!decimal_align((const double[]){start, greatest, step}, 3, aligned, &exponent))
        return floor((greatest - start) / step + 1e-9);
    const DecimalWide way = aligned[1] - aligned[0], steps = way / aligned[2], missing = aligned[2] - way % aligned[2];
    return (double)steps + (missing <= aligned[2] / 1000000000 ? 1.0 : 0.0);
}

// ---- pairs of doubles -----------------------------------------------------------------------------------------------
// hi + lo, |lo| at most half a unit of hi. Sums and products by T. J. Dekker, Numerische Mathematik 18, 1971, with fma.

typedef struct Pair {
    double hi, lo;
} Pair;

static Pair pair_of(double hi, double lo) // |hi| >= |lo|
{
    const double sum = hi + lo;
    return (Pair){sum, lo - (sum - hi)};
}

static Pair pair_sum(Pair a, Pair b)
{
    const double sum = a.hi + b.hi, added = sum - a.hi, rest = (a.hi - (sum - added)) + (b.hi - added);
    const Pair first = pair_of(sum, rest + a.lo);
    const double sum2 = first.hi + b.lo, added2 = sum2 - first.hi;
    return pair_of(sum2, ((first.hi - (sum2 - added2)) + (b.lo - added2)) + first.lo);
}

static Pair pair_product(Pair a, Pair b)
{
    const double product = a.hi * b.hi;
    return pair_of(product, fma(a.hi, b.hi, -product) + (a.hi * b.lo + a.lo * b.hi));
}

static Pair pair_quotient(Pair a, Pair b)
{
    const double quotient = a.hi / b.hi;
    const Pair product = pair_product((Pair){quotient, 0.0}, b);
    const Pair rest = pair_sum(a, (Pair){-product.hi, -product.lo});
    return pair_of(quotient, (rest.hi + rest.lo) / b.hi);
}

static Pair pair_over(Pair a, double divisor)
{
    const double quotient = a.hi / divisor;
    return pair_of(quotient, (fma(-quotient, divisor, a.hi) + a.lo) / divisor);
}

static const Pair pair_ln2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
static const double pair_ln2_rest = 0x1.7b57a079a1934p-111;

// e^x 2^-*power, from 0.7 to 1.42: x less a multiple of ln 2, over 2^7, by Taylor's series, whose small terms need no
// pairs; e^x - 1 is then squared up, since 1 + (e^x - 1) would lose its low bits.
static Pair pair_exp(Pair x, int *power)
{
    enum { HALVINGS = 7, TERMS = 12, PAIRS = 5 };
    const double n = floor(x.hi / pair_ln2.hi + 0.5);
    const Pair multiple = pair_product((Pair){-n, 0.0}, pair_ln2);
    Pair r = pair_sum(pair_sum(x, multiple), (Pair){-n * pair_ln2_rest, 0.0});
    r.hi = ldexp(r.hi, -HALVINGS);
    r.lo = ldexp(r.lo, -HALVINGS);
    double small = 0.0; // r (1 + r/2 (1 + r/3 (...)))
    for (int k = TERMS; k > PAIRS; k--) small = r.hi / k * (1.0 + small);
    Pair less_one = pair_product(r, pair_of(1.0, small));
    for (int k = PAIRS; k >= 2; k--)
        less_one = pair_product(r, pair_sum((Pair){1.0, 0.0}, pair_over(less_one, (double)k)));
    for (int k = 0; k < HALVINGS; k++) { // (1 + y)^2 - 1 = 2 y + y^2
        const Pair square = pair_product(less_one, less_one);
        less_one = pair_sum((Pair){2.0 * less_one.hi, 2.0 * less_one.lo}, square);
    }
    *power = (int)n;
    return pair_sum((Pair){1.0, 0.0}, less_one);
}

// ln x: a Newton step from the logarithm in doubles, y + ln(1 + z) with z = x e^-y - 1 of about 2^-52.
static Pair pair_log(Pair x)
{
    int binary, power;
    const double f = frexp(x.hi, &binary);
    const double y = portable_log(f);
    Pair scaled = pair_exp((Pair){-y, 0.0}, &power);
    scaled = pair_product(scaled, (Pair){ldexp(f, power), ldexp(x.lo, power - binary)});
    const Pair z = pair_sum(scaled, (Pair){-1.0, 0.0});
    const Pair fraction = pair_sum((Pair){y, 0.0}, pair_sum(z, (Pair){-0.5 * z.hi * z.hi, 0.0}));
    const Pair twos = pair_product((Pair){(double)binary, 0.0}, pair_ln2);
    return pair_sum(pair_sum(twos, (Pair){(double)binary * pair_ln2_rest, 0.0}), fraction);
}

// ---- curves ---------------------------------------------------------------------------------------------------------

// ln of the decimal that a double > 0 stands for: ln(digits) + exponent ln(10).
static Pair decimal_log(double value)
{
    const Decimal decimal = decimal_of(value);
    const double hi = (double)decimal.digits, lo = (double)(decimal.digits - (int64_t)hi);
    const Pair ten = pair_log((Pair){10.0, 0.0});
    return pair_sum(pair_log((Pair){hi, lo}), pair_product((Pair){(double)decimal.exponent, 0.0}, ten));
}

DecimalCurve decimal_curve_between(double first, double last, int64_t points)
{
    const Pair start = decimal_log(first), end = decimal_log(last);
    const Pair way = pair_sum(end, (Pair){-start.hi, -start.lo});
    const Pair step = pair_quotient(way, (Pair){(double)(points - 1), 0.0});
    return (DecimalCurve){{start.hi, start.lo}, {step.hi, step.lo}};
}

// hi + lo as a double. In the middle of two, as 1e23 is, up to the error of the pair: the one whose last bit is 0.
static double pair_nearest(Pair value)
{
    const double other = nextafter(value.hi, value.lo > 0.0 ? (double)INFINITY : 0.0);
    const double off = fabs(value.lo) - 0.5 * fabs(other - value.hi);
    const bool odd = ((uint64_t)ldexp(value.hi, value.hi < 1.0 ? 53 : 52) & 1) != 0; // 1/2 < hi < 2
    return odd && fabs(off) < 0x1p-85 ? other : value.hi;
}

double decimal_curve_at(const DecimalCurve *curve, int64_t i)
{
    int power;
    const Pair way = pair_product((Pair){(double)i, 0.0}, (Pair){curve->log_step[0], curve->log_step[1]});
    const Pair value = pair_exp(pair_sum((Pair){curve->log_first[0], curve->log_first[1]}, way), &power);
    return ldexp(pair_nearest(value), power);
}
