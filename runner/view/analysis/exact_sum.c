// Exact sums by a superaccumulator. Source: R. M. Neal, Fast exact summation using small and large superaccumulators,
// arXiv:1505.05571, 2015: the small one.
//
// A term of 53 bits is shifted to its position and added to two words. Each takes at most 2^52 of a term, so carries
// are due after 2^10 terms.
#include "exact_sum.h"

#include <math.h>
#include <string.h>

enum { EXACT_TERMS = 1 << 10, EXACT_BITS = 32 };

// All digits are then in [0, 2^32), but for the last one, which has the sign.
static void exact_carry(ExactSum *sum)
{
    for (int i = 0; i + 1 < EXACT_DIGITS; i++) {
        const int64_t digit = sum->digits[i] & (((int64_t)1 << EXACT_BITS) - 1);
        sum->digits[i + 1] += (sum->digits[i] - digit) / ((int64_t)1 << EXACT_BITS);
        sum->digits[i] = digit;
    }
    sum->waiting = 0;
}

void exact_add(ExactSum *sum, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int field = (int)(bits >> 52 & 0x7ff);
    const uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    if (field == 0x7ff) {
        sum->up += x > 0;
        sum->down += x < 0;
        return;
    }
    const uint64_t mantissa = field == 0 ? fraction : fraction | (uint64_t)1 << 52;
    const int exponent = field == 0 ? 1 : field, shift = exponent % EXACT_BITS;
    int64_t *digit = &sum->digits[exponent / EXACT_BITS];
    const int64_t low = (int64_t)(mantissa << shift & 0xffffffff), high = (int64_t)(mantissa >> (EXACT_BITS - shift));
    const int64_t sign = bits >> 63 != 0 ? -1 : 1;
    digit[0] += sign * low;
    digit[1] += sign * high;
    if (++sum->waiting == EXACT_TERMS) exact_carry(sum);
}

void exact_add_product(ExactSum *sum, double x, double y)
{
    const double product = x * y;
    exact_add(sum, product);
    if (isfinite(product)) exact_add(sum, fma(x, y, -product));
}

void exact_add_sum(ExactSum *sum, ExactSum *other)
{
    exact_carry(sum);
    exact_carry(other);
    for (int i = 0; i < EXACT_DIGITS; i++) sum->digits[i] += other->digits[i];
    sum->up += other->up;
    sum->down += other->down;
    exact_carry(sum);
}

// The first 64 bits of a sum that is not negative, as an integer whose last bit also says whether any bit follows: it
// rounds as the sum does. Below the normal numbers the sum has fewer bits than a double.
static double exact_round(const ExactSum *sum)
{
    int top = EXACT_DIGITS - 1;
    while (top > 0 && sum->digits[top] == 0) top--;
    const uint64_t a = (uint64_t)sum->digits[top], b = top > 0 ? (uint64_t)sum->digits[top - 1] : 0,
                   c = top > 1 ? (uint64_t)sum->digits[top - 2] : 0;
    if (a == 0) return 0;
    const int zeros = __builtin_clzll(a) - EXACT_BITS;
    uint64_t first = (a << EXACT_BITS | b) << zeros | (c << zeros >> EXACT_BITS);
    bool more = (c << zeros & 0xffffffff) != 0;
    for (int i = 0; i < top - 2; i++) more |= sum->digits[i] != 0;
    first |= more;
    return ldexp((double)first, EXACT_BITS * (top - 1) - zeros - 1075);
}

double exact_value(ExactSum *sum)
{
    if (sum->up > 0 || sum->down > 0) return sum->down == 0 ? INFINITY : sum->up == 0 ? -INFINITY : (double)NAN;
    exact_carry(sum);
    if (sum->digits[EXACT_DIGITS - 1] >= 0) return exact_round(sum);
    ExactSum negative = *sum;
    for (int i = 0; i < EXACT_DIGITS; i++) negative.digits[i] = -negative.digits[i];
    exact_carry(&negative);
    return -exact_round(&negative);
}
