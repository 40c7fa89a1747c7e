// Elementary functions on `real`, from correctly rounded operations only, so that every processor and every number of
// lanes gives the same bits. A special case is a select; a rare one is behind any_lane().
//
// Each function is the textbook one (J.-M. Muller, Elementary Functions, 3rd ed. 2016: chapter 11 for the range
// reductions): reduce the argument to a small interval, evaluate a polynomial there, reconstruct. The polynomials are
// our own fits: Remez exchange in 60 digits, minimising the error relative to the function. Coefficients are rounded to
// double one after the other from the lowest, and the others are fitted again each time. The comment beside each
// polynomial gives the interval and the relative error of the fit (half an ulp is 2^-53).
//
// Special values are those of C17's Annex F. Exceptions, errno and the bits of a NaN are not specified.
// tests/unit/test_portable_math.c states the worst error found for each function.
#ifndef HOPSCOTCH_PORTABLE_MATH_H
#define HOPSCOTCH_PORTABLE_MATH_H

#include "real.h"

#if !defined(HOPSCOTCH_DUAL) // dual.h has its own

// ---- pieces ---------------------------------------------------------------------------------------------------------

// c0 + c1 x
HD real math_pair(real x, double c0, double c1) { return fused(splat(c1), x, splat(c0)); }
// c[0] + c[1] x + ... + c[n - 1] x^(n - 1), n even: pairs of terms, chained by Horner in x^2. Half the latency of plain
// Horner.
HD real math_polynomial(real x, const double *c, int n)
{
    const real x2 = x * x;
    real P = math_pair(x, entry_of(&c[n - 2]), entry_of(&c[n - 1]));
    UNROLL
    for (int i = n - 4; i >= 0; i -= 2) P = fused(P, x2, math_pair(x, entry_of(&c[i]), entry_of(&c[i + 1])));
    return P;
}

// The same, n a multiple of 4: fours of terms by Horner in x^4, which has half the latency again.
HD real math_quartered(real x, const double *c, int n)
{
    const real x2 = x * x, x4 = x2 * x2;
    real P = splat(0.0);
    UNROLL
    for (int i = n - 4; i >= 0; i -= 4) {
        const real low = math_pair(x, entry_of(&c[i]), entry_of(&c[i + 1]));
        const real four = fused(math_pair(x, entry_of(&c[i + 2]), entry_of(&c[i + 3])), x2, low);
        P = i == n - 4 ? four : fused(P, x4, four);
    }
    return P;
}

// Adding and subtracting 1.5 * 2^52 rounds to the nearest integer (|x| < 2^51), which is in the low bits of the sum.
HD real math_rounder(void) { return splat(0x1.8p52); }
HD real math_nearest(real x) { return (x + math_rounder()) - math_rounder(); }

HD real math_infinity(void) { return real_of_bits(splat_bits(0x7ff0000000000000)); }
HD real math_nan(void) { return real_of_bits(splat_bits(0x7ff8000000000000)); }
HD bits64 math_sign_bit(real x) { return bits_of(x) & splat_bits(INT64_MIN); }
// x with the sign bit set where `sign` has it
HD real math_signed(real x, bits64 sign) { return real_of_bits(bits_of(x) | sign); }

// 2^k, integer k in -1022..1023
HD real math_power_of_two(real k)
{
    const bits64 exponent = bits_of(k + splat(0x1.8p52 + 1023.0)) & splat_bits(2047);
    return real_of_bits(exponent << 52);
}

// x 2^k, rounded once, even if it overflows or is subnormal: x in [1/2, 2), integer k in -1080..1030
HD real math_scaled(real x, real k)
{
    const real half = math_nearest(0.5 * k);
    return x * math_power_of_two(half) * math_power_of_two(k - half);
}

// ---- sine and cosine ------------------------------------------------------------------------------------------------

// for |r| <= pi/4
HD void math_sine_cosine_near(real r, real *sine_r, real *cosine_r)
{
    // sin r = r + r z S(z): 2^-57.9
    TABLE double S[] = {-0.1666666666666663,    0.00833333333332184,     -0.00019841269829358636,
                        2.7557313538737745e-06, -2.5050734478853535e-08, 1.5895443090503213e-10};
    // cos r = 1 + z (-1/2 + z C(z)): 2^-63.9
    TABLE double C[] = {0.041666666666666595,    -0.0013888888888873342, 2.4801587289002062e-05,
                        -2.7557314217031994e-07, 2.087570539589356e-09,  -1.1358749328927445e-11};
    const real z = r * r;
    *sine_r = math_signed(fused(r * z, math_polynomial(z, S, 6), r), math_sign_bit(r)); // the sum loses the sign of -0
    *cosine_r = fused(z, fused(z, math_polynomial(z, C, 6), splat(-0.5)), splat(1.0));
}

// sin(x)/x and cos(x) of x = sqrt(z), by the same polynomials. |x| <= 0.785, where an angle needs no reduction; NaN
// stays.
HD void math_sinc_cosine_near(real z, real *sinc, real *cosine_x)
{
    TABLE double S[] = {-0.1666666666666663,    0.00833333333332184,     -0.00019841269829358636,
                        2.7557313538737745e-06, -2.5050734478853535e-08, 1.5895443090503213e-10};
    TABLE double C[] = {0.041666666666666595,    -0.0013888888888873342, 2.4801587289002062e-05,
                        -2.7557314217031994e-07, 2.087570539589356e-09,  -1.1358749328927445e-11};
    *sinc = fused(z, math_polynomial(z, S, 6), splat(1.0));
    *cosine_x = fused(z, fused(z, math_polynomial(z, C, 6), splat(-0.5)), splat(1.0));
}

HD mask math_is_near(real x) { return MASK(absolute(x) <= splat(0.785)); }

// |x| 2/pi mod 4 = quarters + high + low, |high + low| <= 1/2; all have the sign of x. NaN if x is not finite.
typedef struct MathQuarters {
    double quarters, high, low;
} MathQuarters;

// A product of 64 bits each.
HD void math_multiply(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low)
{
    const uint64_t half = 0xffffffff, a1 = a >> 32, a0 = a & half, b1 = b >> 32, b0 = b & half;
    const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & half);
    *high = a1 * b1 + (middle >> 32) + (other >> 32);
    *low = a * b;
}

// Payne and Hanek's reduction (SIGNUM Newsletter 18, 1983) of one number, |x| >= 2^30, in integers: x = m 2^e, and of
// 2/pi only 192 bits matter, because those before them add multiples of 4. A double is never nearer to a multiple of
// pi/2 than 2^-62, where 75 correct bits are left.
HD_RARE MathQuarters math_quarters_of(double x)
{
    // 64 zeros, then the bits of 2/pi
    TABLE uint64_t bits_of_2_pi[] = {0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
                                     0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
                                     0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
                                     0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
                                     0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};
    MathQuarters result;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const bool negative = bits >> 63 != 0;
    const int exponent = (int)(bits >> 52 & 2047);
    if (exponent == 2047 || exponent < 1023 + 30) {
        result.quarters = result.low = 0.0;
        result.high = exponent == 2047 ? x - x : x; // the latter is never used
        return result;
    }
    const int at = exponent - 1075 - 2 + 64; // of the first bit that matters; its weight in m 2/pi is 2
    const int word = at / 64, shift = at % 64;
    uint64_t w[3], f[3], carry, high;
    for (int k = 0; k < 3; k++) {
        const uint64_t next = bits_of_2_pi[word + k + 1];
        w[k] = bits_of_2_pi[word + k] << shift | (shift > 0 ? next >> (64 - shift) : 0);
    }
    // f = m w mod 2^192, in units of 2^-190 quarters; f[0] is the highest
    const uint64_t m = (bits & 0xfffffffffffff) | 0x10000000000000;
    math_multiply(m, w[2], &carry, &f[2]);
    math_multiply(m, w[1], &high, &f[1]);
    f[1] += carry;
    f[0] = m * w[0] + high + (f[1] < carry ? 1 : 0);
    int64_t quarters = (int64_t)(f[0] >> 62);
    f[0] = f[0] << 2 | f[1] >> 62; // now in units of 2^-192
    f[1] = f[1] << 2 | f[2] >> 62;
    f[2] = f[2] << 2;
    bool below = false; // the fraction is negative: more than half a quarter counts as the next one
    if (f[0] >> 63 != 0) {
        quarters++;
        below = true;
        f[2] = ~f[2] + 1;
        f[1] = ~f[1] + (f[2] == 0 ? 1 : 0);
        f[0] = ~f[0] + (f[2] == 0 && f[1] == 0 ? 1 : 0);
    }
    int scale = 0; // the highest bit of f[0] has the weight 2^(scale - 1)
    for (int k = 0; k < 2 && f[0] == 0; k++) {
        f[0] = f[1];
        f[1] = f[2];
        f[2] = 0;
        scale -= 64;
    }
    for (int s = 32; s > 0; s /= 2) {
        if (f[0] >> (64 - s) != 0) continue;
        f[0] = f[0] << s | f[1] >> (64 - s);
        f[1] = f[1] << s | f[2] >> (64 - s);
        f[2] = f[2] << s;
        scale -= s;
    }
    const uint64_t of_high = (uint64_t)(1023 + scale - 53) << 52, of_low = (uint64_t)(1023 + scale - 106) << 52;
    double unit_high, unit_low;
    memcpy(&unit_high, &of_high, sizeof unit_high);
    memcpy(&unit_low, &of_low, sizeof unit_low);
    result.high = (double)(int64_t)(f[0] >> 11) * unit_high;
    result.low = (double)(int64_t)((f[0] & 2047) << 42 | f[1] >> 22) * unit_low;
    result.high = below != negative ? -result.high : result.high;
    result.low = below != negative ? -result.low : result.low;
    result.quarters = (double)(negative ? -quarters : quarters);
    return result;
}

// As math_reduced, where |x| > 2^30 or x is not finite, but r is the result + *low. Other lanes are not used.
HD_RARE real math_reduced_far(real x, bits64 *turns, real *low)
{
    double number[LANES], high[LANES], rest[LANES], quarters[LANES];
    store_all(number, x);
    for (int i = 0; i < LANES; i++) {
        const MathQuarters of = math_quarters_of(number[i]);
        high[i] = of.high;
        rest[i] = of.low;
        quarters[i] = of.quarters;
    }
    const real h = load_all(high), pi_2 = splat(1.5707963267948966);
    *turns = bits_of(load_all(quarters) + math_rounder());
    const real r = h * pi_2;
    *low = fused(h, pi_2, -r) + fused(h, splat(6.123233995736766e-17), load_all(rest) * pi_2);
    return r;
}

// x = r + n pi/2, |r| <= pi/4 (1 + 2^-50), n in the low bits of `turns`. r = x and n = 0 where math_is_near(x).
// Up to 2^30 the reduction of Cody and Waite: r = x - n pi/2, with pi/2 in three pieces of 53 bits; the first step is
// exact, the last only matters next to multiples of pi/2. That r is rounded costs a third of an ulp; its tail would
// cost 8 operations.
HD real math_reduced(real x, bits64 *turns)
{
    const mask far = ~MASK(absolute(x) <= splat(0x1p30));
    const real rounded = fused(x, splat(0.6366197723675814), math_rounder()); // 2/pi
    const real n = rounded - math_rounder();
    const real r = fused(-n, splat(6.123233995736765e-17), fused(-n, splat(1.5707963267948966), x));
    const real near = fused(-n, splat(1.082856673921914e-32), r); // positive pieces leave -0 its sign
    *turns = bits_of(rounded);
    if (!any_lane(far)) return near;
    bits64 far_turns;
    real low;
    const real high = math_reduced_far(x, &far_turns, &low);
    *turns = bits_of(select_real(far, real_of_bits(far_turns), rounded));
    return select_real(far, high + low, near);
}

// As math_reduced, but r is the result + *low, to 2^-100. x >= 0 or NaN. The products and the difference are exact in
// two numbers each (T. J. Dekker, Numer. Math. 18, 1971; D. E. Knuth, The Art of Computer Programming, vol. 2).
HD real math_reduced_long(real x, bits64 *turns, real *low)
{
    const mask far = ~MASK(x <= splat(0x1p30));
    const real rounded = fused(x, splat(0.6366197723675814), math_rounder()); // 2/pi
    const real n = rounded - math_rounder(), middle = splat(6.123233995736765e-17);
    const real first = fused(-n, splat(1.5707963267948966), x); // exact
    const real second = n * middle, second_low = fused(n, middle, -second);
    const real difference = first - second, taken = first - difference;
    const real lost = (first - (difference + taken)) + (taken - second);
    const real rest = fused(-n, splat(1.082856673921914e-32), lost - second_low);
    real r = difference + rest;
    *low = (difference - r) + rest;
    *turns = bits_of(rounded);
    if (!any_lane(far)) return r;
    bits64 far_turns;
    real far_low;
    const real far_high = math_reduced_far(x, &far_turns, &far_low), sum = far_high + far_low;
    *turns = bits_of(select_real(far, real_of_bits(far_turns), rounded));
    *low = select_real(far, (far_high - sum) + far_low, *low);
    return select_real(far, sum, r);
}

// Rotates by n quarter turns: n mod 4 = 0 gives (s, c), 1 (c, -s), 2 (-s, -c), 3 (-c, s).
HD void math_turn_back(bits64 turns, real *s, real *c)
{
    const mask odd = (mask)(-(turns & splat_bits(1)));
    const bits64 half_turn = -(turns & splat_bits(2)), sign_bit = splat_bits(INT64_MIN);
    const real sine_x = real_of_bits(bits_of(select_real(odd, *c, *s)) ^ (half_turn & sign_bit));
    *c = real_of_bits(bits_of(select_real(odd, *s, *c)) ^ ((half_turn ^ odd) & sign_bit));
    *s = sine_x;
}

// sin and cos of two angles. The reduction runs only if a lane of the group needs it; the bits
// of the other lanes stay the same.
HD void sines_cosines(real x, real y, real *sine_x, real *cosine_x, real *sine_y, real *cosine_y)
{
    const mask far = ~(math_is_near(x) & math_is_near(y));
    bits64 turns_x = splat_bits(0), turns_y = splat_bits(0);
    if (any_lane(far)) {
        x = math_reduced(x, &turns_x);
        y = math_reduced(y, &turns_y);
    }
    math_sine_cosine_near(x, sine_x, cosine_x);
    math_sine_cosine_near(y, sine_y, cosine_y);
    if (any_lane(far)) {
        math_turn_back(turns_x, sine_x, cosine_x);
        math_turn_back(turns_y, sine_y, cosine_y);
    }
}

// sin x and cos x.
HD void sine_cosine(real x, real *sine_x, real *cosine_x)
{
    const mask far = ~math_is_near(x);
    bits64 turns = splat_bits(0);
    if (any_lane(far)) x = math_reduced(x, &turns);
    math_sine_cosine_near(x, sine_x, cosine_x);
    if (any_lane(far)) math_turn_back(turns, sine_x, cosine_x);
}

HD real sine(real x)
{
    real s, c;
    sine_cosine(x, &s, &c);
    return s;
}

HD real cosine(real x)
{
    real s, c;
    sine_cosine(x, &s, &c);
    return c;
}

// tan x = sin r/cos r, or -cos r/sin r where x is an odd number of quarter turns away. Both are pairs of numbers, so
// that only the division's last step rounds.
HD real tangent(real x)
{
    // sin r = r + r z S(z), cos r = 1 - z/2 + z^2 C(z): as in math_sine_cosine_near
    TABLE double S[] = {-0.1666666666666663,    0.00833333333332184,     -0.00019841269829358636,
                        2.7557313538737745e-06, -2.5050734478853535e-08, 1.5895443090503213e-10};
    TABLE double C[] = {0.041666666666666595,    -0.0013888888888873342, 2.4801587289002062e-05,
                        -2.7557314217031994e-07, 2.087570539589356e-09,  -1.1358749328927445e-11};
    real r = absolute(x), low = splat(0.0);
    bits64 turns = splat_bits(0);
    if (any_lane(~math_is_near(r))) r = math_reduced_long(r, &turns, &low);
    const real z = r * r, z_low = fused(r, r, -z), half = 0.5 * z;
    // sin(r + low) = sin r + low cos r, cos(r + low) = cos r - low sin r
    const real bend = fused(r * z, math_polynomial(z, S, 6), fused(-low, half, low));
    const real s = r + bend, s_low = (r - s) + bend;
    const real less = fused(z * z, math_polynomial(z, C, 6), fused(-r, low, -0.5 * z_low));
    const real near_one = 1.0 - half, lost = (1.0 - near_one) - half, rest = lost + less;
    const real c = near_one + rest, c_low = (near_one - c) + rest;
    const mask odd = (mask)(-(turns & splat_bits(1)));
    const real a = select_real(odd, -c, s), a_low = select_real(odd, -c_low, s_low);
    const real b = select_real(odd, s, c), b_low = select_real(odd, s_low, c_low);
    const real inverse = 1.0 / b, q = a * inverse;
    const real remainder = fused(-q, b_low, fused(-q, b, a) + a_low);
    return real_of_bits(bits_of(fused(remainder, inverse, q)) ^ math_sign_bit(x));
}

// ---- inverse functions ----------------------------------------------------------------------------------------------

// asin s = s + s3 tail of s = a, or where `beyond`, a > 1/2, of s = sqrt((1 - a)/2), for which asin a = pi/2 - 2 asin s
// and acos a = 2 asin s. `limited`: a beyond 1 counts as 1.
typedef struct MathArc {
    real s, s3, tail;
    mask beyond;
} MathArc;

HD MathArc math_arc(real a, bool limited)
{
    // asin s = s + s z (1/6 + z P(z)), z = s^2, on s <= 1/2: 2^-59.8
    TABLE double P[] = {0.07499999999970865,  0.044642857174562914, 0.0303819427097636,    0.02237221493856613,
                        0.017351612811881075, 0.013980811718279395, 0.011398979677766777,  0.010779897328959072,
                        0.003707675024876921, 0.021704541861272516, -0.020995198799901263, 0.03262636805534764};
    MathArc arc;
    arc.beyond = MASK(a > splat(0.5));
    real s = a, z = a * a;
    if (any_lane(arc.beyond)) {
        const real rest = 0.5 * (1.0 - a);
        z = select_real(arc.beyond, limited ? greater_of(rest, splat(0.0)) : rest, z);
        s = select_real(arc.beyond, square_root(z), s);
    }
    arc.s = s;
    arc.s3 = s * z;
    arc.tail = fused(math_quartered(z, P, 12), z, splat(0.1666666666666676));
    return arc;
}

HD real math_arc_sine(real x, bool limited)
{
    const MathArc arc = math_arc(absolute(x), limited);
    const real s = arc.s;
    real result = fused(arc.s3, arc.tail, s);
    if (any_lane(arc.beyond)) {
        const real sum = 1.5707963267948966 - 2.0 * s, lost = (1.5707963267948966 - sum) - 2.0 * s;
        const real of_beyond = sum + fused(-2.0 * arc.s3, arc.tail, lost + 6.123233995736766e-17);
        result = select_real(arc.beyond, of_beyond, result);
    }
    return math_signed(result, math_sign_bit(x));
}

// asin x in [-pi/2, pi/2]; NaN for |x| > 1.
HD real arc_sine(real x) { return math_arc_sine(x, false); }

// asin of x limited to [-1, 1]; NaN stays.
HD real arc_sine_limited(real x) { return math_arc_sine(x, true); }

// acos x in [0, pi]; NaN for |x| > 1. pi/2 - asin x, and beyond 1/2 2 asin s or pi - 2 asin s.
HD real arc_cosine(real x)
{
    const MathArc arc = math_arc(absolute(x), false);
    const bits64 sign = math_sign_bit(x) & ~arc.beyond;
    const real times = select_real(arc.beyond, splat(2.0), splat(1.0));
    const real angle = real_of_bits(bits_of(times * arc.s) ^ sign), more = real_of_bits(bits_of(times * arc.s3) ^ sign);
    const real base = select_real(arc.beyond, splat(3.141592653589793), splat(1.5707963267948966));
    const real base_low = select_real(arc.beyond, splat(1.2246467991473532e-16), splat(6.123233995736766e-17));
    const real sum = base - angle, lost = (base - sum) - angle;
    const real difference = sum + fused(-more, arc.tail, lost + base_low);
    return select_real(arc.beyond & MASK(x > splat(0.0)), fused(more, arc.tail, angle), difference);
}

// Scales the absolute values of the arguments of atan2 so that low/high can be divided: high in 2^-946..2^900. Two
// infinities have the ratio 1, two zeros the ratio 0; a NaN in either stays.
HD void math_ratio(real *low, real *high)
{
    const mask infinite = MASK(*high == math_infinity()), zero = MASK(*high == splat(0.0));
    real scale = select_real(MASK(*high > splat(0x1p900)), splat(0x1p-128), splat(1.0));
    scale = select_real(MASK(*high < splat(0x1p-900)), splat(0x1p128), scale);
    const real if_infinite = select_real(MASK(*low == math_infinity()), splat(1.0), 0.0 * *low);
    *low = select_real(infinite, if_infinite, *low * scale);
    *high = select_real(infinite | zero, splat(1.0), *high * scale);
}

// The angle of (x, y) in [-pi, pi].
// With t the smaller of |x|, |y| over the larger: atan t = pi/4 + atan((t - 1)/(t + 1)) for t > 1/2, then the octants
// by symmetry: the angle is m pi/4 +- atan q with |q| <= 1/2, added up once, at the end.
HD real arc_tangent2(real y, real x)
{
    const real ax = absolute(x), ay = absolute(y);
    const mask steep = MASK(ay > ax), left = MASK(bits_of(x) < 0);
    real low = select_real(steep, ax, ay), high = select_real(steep, ay, ax);
    math_ratio(&low, &high);

    const mask diagonal = MASK(low > 0.5 * high);
    const real zero = splat(0.0);
    const real addend = select_real(diagonal, low, zero);
    const real denominator = high + addend, denominator_low = addend - (denominator - high); // together exact
    const real numerator = low - select_real(diagonal, high, zero);                          // exact
    real octants = select_real(diagonal, splat(1.0), zero);
    octants = select_real(steep, 2.0 - octants, octants);
    octants = select_real(left, 4.0 - octants, octants);
    const bits64 turned = (steep ^ left) & splat_bits(INT64_MIN);

    // q + q_low = numerator / denominator
    const real inverse = 1.0 / denominator;
    const real q = numerator * inverse;
    const real rest = fused(-q, denominator_low, fused(-q, denominator, numerator));
    const real q_low = rest * inverse;

    // atan q = q + q z P(z) on |q| <= 1/2: 2^-57.2
    const real z = q * q, z2 = z * z;
    real P = math_pair(z, -0.027435017009505607, 0.010117372653355756);
    P = fused(P, z2, math_pair(z, -0.05121992565943551, 0.041864808736964326));
    P = fused(P, z2, math_pair(z, -0.06663810213726555, 0.05858295765198272));
    P = fused(P, z2, math_pair(z, -0.0909089624333142, 0.0769207388234246));
    P = fused(P, z2, math_pair(z, -0.14285714276385142, 0.11111110659595749));
    P = fused(P, z2, math_pair(z, -0.3333333333333298, 0.19999999999903104));
    const real tail = fused(q * z, P, q_low);

    const real base = octants * 0.7853981633974483; // m pi/4 = base + base_low
    const real base_low =
        fused(octants, splat(3.061616997868383e-17), fused(octants, splat(0.7853981633974483), -base));
    const real signed_q = real_of_bits(bits_of(q) ^ turned), signed_tail = real_of_bits(bits_of(tail) ^ turned);
    const real sum = base + signed_q; // sum + lost is exact: |base| >= |q| or base = 0
    const real lost = (base - sum) + signed_q;
    return math_signed(sum + (lost + (signed_tail + base_low)), math_sign_bit(y));
}

// The angle of (1, x), in [-pi/2, pi/2].
HD real arc_tangent(real x) { return arc_tangent2(x, splat(1.0)); }

// ---- exponential and logarithm --------------------------------------------------------------------------------------

// e^x = 2^k (1 + r + c), integer k, |r| <= ln(2)/2 (1 + 2^-40), |c| <= 0.08 |r|. x in [-746, 710].
HD void math_reduced_exponential(real x, real *k, real *r, real *c)
{
    *k = math_nearest(x * 1.4426950408889634); // 1/ln 2
    const real exact = fused(-*k, splat(0.6931471805599453), x);
    const real ln2_low = splat(2.3190468138462996e-17);
    *r = fused(-*k, ln2_low, exact);
    const real r_low = fused(-*k, ln2_low, exact - *r);
    // e^r = 1 + r + r^2 P(r) on |r| <= ln(2)/2: 2^-56.3
    TABLE double P[] = {0.5000000000000011,    0.16666666666666413,    0.04166666666653026,    0.00833333333349433,
                        0.0013888888943599574, 0.00019841269506806197, 2.4801493134120783e-05, 2.7557586230128553e-06,
                        2.763023467781774e-07, 2.500008681432576e-08};
    *c = fused(*r * *r, math_polynomial(*r, P, 10), r_low);
}

// x limited to the range outside which e^x is 0 or infinite; NaN stays.
HD real math_exponential_range(real x)
{
    const real above = select_real(MASK(x > splat(710.0)), splat(710.0), x);
    return select_real(MASK(x < splat(-746.0)), splat(-746.0), above);
}

HD real exponential(real x)
{
    real k, r, c;
    math_reduced_exponential(math_exponential_range(x), &k, &r, &c);
    return math_scaled(1.0 + (r + c), k);
}

// tanh x = E/(E + 2), E = e^2x - 1 = 2^k (r + c) + (2^k - 1). It is 1 for x >= 22.
HD real hyperbolic_tangent(real x)
{
    const real a = absolute(x);
    real k, r, c;
    math_reduced_exponential(2.0 * select_real(MASK(a > splat(22.0)), splat(22.0), a), &k, &r, &c);
    const real scale = math_power_of_two(k), p = r + c, p_low = scale * ((r - p) + c);
    const real less = scale - 1.0, less_low = (scale - less) - 1.0; // 2^53 + 1 is not a double
    const real more = scale + 1.0, more_low = (scale - more) + 1.0;
    const real E = fused(scale, p, less), E_low = fused(scale, p, less - E) + (less_low + p_low);
    const real D = fused(scale, p, more), D_low = fused(scale, p, more - D) + (more_low + p_low); // E + 2
    const real inverse = 1.0 / D;
    const real q = E * inverse;
    const real rest = fused(-q, D_low, fused(-q, D, E) + E_low);
    return math_signed(fused(rest, inverse, q), math_sign_bit(x));
}

// e^a = D + D_low and e^a - 1 = E + E_low for 0 <= a <= 22, and far = e^a/2 for all a >= 0; NaN stays.
typedef struct MathGrowth {
    real D, D_low, E, E_low, far;
} MathGrowth;

HD MathGrowth math_growth(real a)
{
    MathGrowth g;
    real k, r, c;
    math_reduced_exponential(select_real(MASK(a > splat(712.0)), splat(712.0), a), &k, &r, &c);
    const real scale = math_power_of_two(k), p = r + c, p_low = scale * ((r - p) + c), less = scale - 1.0;
    g.D = fused(scale, p, scale);
    g.D_low = fused(scale, p, scale - g.D) + p_low;
    g.E = fused(scale, p, less);
    g.E_low = fused(scale, p, less - g.E) + p_low;
    g.far = math_scaled(1.0 + p, k - 1.0);
    return g;
}

// sinh a = (E + E/(E + 1))/2. From 22 on it is e^a/2.
HD real hyperbolic_sine(real x)
{
    const real a = absolute(x);
    const MathGrowth g = math_growth(a);
    const real inverse = 1.0 / g.D, q = g.E * inverse;
    const real rest = fused(-q, g.D_low, fused(-q, g.D, g.E) + g.E_low);
    const real sum = g.E + q, lost = (g.E - sum) + q;
    const real near = 0.5 * (sum + (lost + fused(rest, inverse, g.E_low)));
    return math_signed(select_real(MASK(a > splat(22.0)), g.far, near), math_sign_bit(x));
}

// cosh a = (D + 1/D)/2. From 22 on it is e^a/2.
HD real hyperbolic_cosine(real x)
{
    const real a = absolute(x);
    const MathGrowth g = math_growth(a);
    const real inverse = 1.0 / g.D;
    const real rest = fused(-inverse, g.D_low, fused(-inverse, g.D, splat(1.0)));
    const real sum = g.D + inverse, lost = (g.D - sum) + inverse;
    const real near = 0.5 * (sum + (lost + fused(rest, inverse, g.D_low)));
    return select_real(MASK(a > splat(22.0)), g.far, near);
}

// x = 2^k m, integer k, m in [sqrt(1/2), sqrt(2)), for positive finite x; the result is meaningless for other x.
HD void math_decomposed(real x, real *k, real *m)
{
    const mask subnormal = MASK(x < splat(0x1p-1022));
    const bits64 bits = bits_of(select_real(subnormal, x * 0x1p54, x)) & splat_bits(INT64_MAX);
    const bits64 root = splat_bits(0x3fe6a09e667f3bcd); // sqrt(1/2)
    const bits64 m_bits = ((bits - root) & splat_bits(0x000fffffffffffff)) + root;
    const bits64 biased = (bits - m_bits + splat_bits(INT64_C(1022) << 52)) >> 52; // k + 1022 >= 0
    const real whole = real_of_bits(biased | splat_bits(0x4330000000000000)) - (0x1p52 + 1022.0);
    *k = whole - select_real(subnormal, splat(54.0), splat(0.0));
    *m = real_of_bits(m_bits);
}

// ln x. With f = m - 1, s = f/(2 + f): ln m = 2 atanh s = f - (f^2/2 - s (f^2/2 + z R(z))), z = s^2.
HD real logarithm(real x)
{
    real k, m;
    math_decomposed(x, &k, &m);
    const real f = m - 1.0;
    const real s = f / (2.0 + f);
    const real z = s * s, z2 = z * z;
    // 2 atanh s = 2 s + s z R(z) on |s| <= 0.1716: 2^-59.5
    real R = fused(z, splat(0.1479536355388431), splat(0.15314110778120332));
    R = fused(R, z2, math_pair(z, 0.22222198621748576, 0.18183561896038553));
    R = fused(R, z2, math_pair(z, 0.3999999999941705, 0.2857142874189151));
    R = fused(R, z, splat(0.6666666666666734));
    const real half_square = 0.5 * f * f;
    const real correction = fused(s, fused(z, R, half_square), k * 2.3190468138462996e-17);
    const real finite = fused(k, splat(0.6931471805599453), f - (half_square - correction));
    const real not_positive = select_real(MASK(x == splat(0.0)), -math_infinity(), math_nan());
    const real special = select_real(MASK(x <= splat(0.0)), not_positive, x); // infinity and NaN give themselves
    return select_real(MASK(x > splat(0.0)) & MASK(x < math_infinity()), finite, special);
}

// ---- power ----------------------------------------------------------------------------------------------------------

// ln x = high + low to 2^-64 relative, for positive finite x: 2 atanh s as in logarithm(), its leading terms in pairs
// of doubles (error-free sums and products: T. J. Dekker, Numer. Math. 18, 1971).
HD void math_long_logarithm(real x, real *high, real *low)
{
    real k, m;
    math_decomposed(x, &k, &m);
    // s + s_low = (m - 1)/(m + 1)
    const real f = m - 1.0;
    const real d = m + 1.0, d_low = m - (d - 1.0);
    const real inverse = 1.0 / d;
    const real s = f * inverse;
    const real s_low = fused(-s, d_low, fused(-s, d, f)) * inverse;
    // z + z_low = s^2
    const real z = s * s, z_low = fused(2.0 * s, s_low, fused(s, s, -z)), z2 = z * z;
    // atanh s = s + s z (1/3 + z Q(z)) on |s| <= 0.1716: 2^-73.4
    real Q = math_pair(z, 0.058379015760416667, 0.05990771893735062);
    Q = fused(Q, z2, math_pair(z, 0.0769227922593525, 0.06668131752594497));
    Q = fused(Q, z2, math_pair(z, 0.11111111108895902, 0.09090909421844244));
    Q = fused(Q, z2, math_pair(z, 0.1999999999999999, 0.14285714285721918));
    // T + T_low = 1/3 + z Q, u + u_low = s z, v + v_low = u T
    const real zQ = z * Q;
    const real T = zQ + 0.3333333333333333, T_low = (0.3333333333333333 - T) + zQ + 1.850371707708594e-17;
    const real u = s * z, u_low = fused(s, z_low, fused(s_low, z, fused(s, z, -u)));
    const real v = u * T, v_low = fused(u, T_low, fused(u_low, T, fused(u, T, -v)));
    // k ln 2 + 2 s + 2 v, from the largest to the smallest
    const real ln2 = splat(0.6931471805599453);
    const real base = k * ln2, base_low = fused(k, splat(2.3190468138462996e-17), fused(k, ln2, -base));
    const real with_s = base + 2.0 * s, lost_s = (base - with_s) + 2.0 * s;
    const real with_v = with_s + 2.0 * v, lost_v = (with_s - with_v) + 2.0 * v;
    const real rest = lost_s + (lost_v + fused(splat(2.0), s_low + v_low, base_low));
    *high = with_v + rest;
    *low = (with_v - *high) + rest;
}

// Whether y is an integer, and an odd one. From 2^53 on all doubles are even. Half of an even number is an integer.
HD void math_parity(real y, mask *integer, mask *odd)
{
    const real a = absolute(y), half = 0.5 * a, rounder = splat(0x1p52);
    *integer = MASK(a >= rounder) | MASK((a + rounder) - rounder == a);
    *odd = *integer & ~(MASK(a >= splat(0x1p53)) | MASK((half + rounder) - rounder == half));
}

// x^y = e^(y ln |x|), with the sign of x where y is odd
HD real power(real x, real y)
{
    const real a = absolute(x), zero = splat(0.0), one = splat(1.0), infinity = math_infinity();
    real high, low;
    math_long_logarithm(a, &high, &low);
    high = select_real(MASK(a == zero), -infinity, select_real(MASK(a < infinity), high, a)); // infinity and NaN as is
    const real exponent = y * high;
    const real exponent_low = fused(y, high, -exponent) + y * low;
    const mask moderate = MASK(absolute(exponent) < splat(800.0));
    real k, r, c;
    math_reduced_exponential(math_exponential_range(exponent), &k, &r, &c);
    c = fused(select_real(moderate, exponent_low, zero), 1.0 + (r + c), c); // e^(a + b) = e^a + b e^a for a tiny b
    const real magnitude = math_scaled(1.0 + (r + c), k);

    mask integer, odd;
    math_parity(y, &integer, &odd);
    const real with_sign = math_signed(magnitude, math_sign_bit(x) & odd);
    const mask no_power = MASK(x < zero) & MASK(a < infinity) & ~integer;
    const mask is_one = MASK(y == zero) | MASK(x == one) | (MASK(a == one) & MASK(absolute(y) == infinity));
    return select_real(is_one, one, select_real(no_power, math_nan(), with_sign));
}

// ---- whole numbers --------------------------------------------------------------------------------------------------

// |x| rounded to the nearest integer, with the sign of x; x itself from 2^52 on, where all doubles are integers
HD real math_whole(real x)
{
    const real a = absolute(x), rounder = splat(0x1p52);
    return select_real(MASK(a < rounder), math_signed((a + rounder) - rounder, math_sign_bit(x)), x);
}

// The greatest integer <= x. Infinities, -0 and NaN give themselves.
HD real rounded_down(real x)
{
    const real whole = math_whole(x);
    return select_real(MASK(whole > x), whole - 1.0, whole);
}

// The least integer >= x; -0 for x in (-1, 0).
HD real rounded_up(real x)
{
    const real whole = math_whole(x);
    return select_real(MASK(whole < x), math_signed(whole + 1.0, math_sign_bit(x)), whole);
}

// r - n unit of the greatest integer n <= r/unit, exactly: r >= 0, unit > 0, r/unit < 2^53. The quotient is rounded: it
// may reach an integer that r/unit does not, and then the remainder is negative.
HD real math_less_multiples(real r, real unit)
{
    const real n = rounded_down(r / unit), rest = fused(-n, unit, r);
    return select_real(MASK(rest < splat(0.0)), rest + unit, rest);
}

// a - b floor(a/b): exact where a and b have one sign, else rounded once, even to b. It is 0 or has the sign of b, also
// if it is 0. NaN if b is 0 or a is infinite; a or b for an infinite b, whichever has its sign. A quotient of more than
// 52 bits is taken away 52 bits at a time.
HD real floored_remainder(real a, real b)
{
    const real up = splat(0x1p52), size = absolute(b), zero = splat(0.0);
    const mask infinite = MASK(size == math_infinity());
    const mask possible = MASK(absolute(a) < math_infinity()) & MASK(size > zero);
    real rest = select_real(possible, absolute(a), math_nan()), unit = select_real(infinite, splat(1.0), size);
    mask more = MASK(unit * up <= rest) & ~infinite;
    const mask long_quotient = more;
    while (any_lane(more)) {
        unit = select_real(more, unit * up, unit);
        more = MASK(unit * up <= rest) & ~infinite;
    }
    real reduced = math_less_multiples(rest, unit);
    for (mask left = MASK(unit > size) & long_quotient; any_lane(left); left = MASK(unit > size) & long_quotient) {
        unit = select_real(left, unit * 0x1p-52, unit);
        reduced = select_real(left, math_less_multiples(reduced, unit), reduced);
    }
    rest = select_real(infinite, rest, reduced);
    const mask turned = MASK((bits_of(a) ^ bits_of(b)) < 0) & MASK(rest > zero);
    rest = select_real(turned, size - rest, rest);
    return math_signed(rest, math_sign_bit(b));
}

// ---- length ---------------------------------------------------------------------------------------------------------

// sqrt(x^2 + y^2) without overflow or underflow of the squares. Infinite if x or y is, even if the other is NaN.
HD real hypotenuse(real x, real y)
{
    const real ax = absolute(x), ay = absolute(y);
    const mask steep = MASK(ay > ax), infinite = MASK(ax == math_infinity()) | MASK(ay == math_infinity());
    real high = select_real(steep, ay, ax), low = select_real(steep, ax, ay);
    const mask large = MASK(high > splat(0x1p500)), small = MASK(high < splat(0x1p-450));
    const real scale = select_real(large, splat(0x1p-600), select_real(small, splat(0x1p600), splat(1.0)));
    const real back = select_real(large, splat(0x1p600), select_real(small, splat(0x1p-600), splat(1.0)));
    high = high * scale;
    low = low * scale;
    const real length = square_root(fused(high, high, low * low)) * back;
    return select_real(infinite, math_infinity(), length);
}

#endif // HOPSCOTCH_DUAL

#endif
