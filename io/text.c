// Numbers as texts: for people (counts, durations, bytes, rates) and for programs (the shortest decimal that reads back
// to the same double).
#include "text.h"

#include "characters.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// 1234567 -> "1,234,567"
Text32 text_count(int64_t value)
{
    char digits[24];
    const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    const int count = snprintf(digits, sizeof digits, "%" PRIu64, size);
    Text32 text = {""};
    size_t used = 0;
    if (value < 0) text.text[used++] = '-';
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0) text.text[used++] = ',';
        text.text[used++] = digits[i];
    }
    return text;
}

// At most two units, the first rounded down: "3 min 20 s". Below a minute one unit.
Text32 text_duration(double seconds)
{
    static const struct {
        double size, small; // s
        const char *name, *small_name;
    } units[] = {{86400, 3600, "d", "h"}, {3600, 60, "h", "min"}, {60, 1, "min", "s"}};
    Text32 text = {"?"};
    if (!(seconds >= 0) || seconds > 1e11) return text;
    for (size_t i = 0; seconds >= 59.95 && i < sizeof units / sizeof *units; i++) {
        const double rounded = floor(seconds / units[i].small + 0.5);
        if (rounded * units[i].small < units[i].size) continue;
        const int64_t in_one = (int64_t)(units[i].size / units[i].small), all = (int64_t)rounded;
        snprintf(text.text, sizeof text.text, "%" PRId64 " %s %" PRId64 " %s", all / in_one, units[i].name,
                 all % in_one, units[i].small_name);
        return text;
    }
    if (seconds >= 0.9995)
        snprintf(text.text, sizeof text.text, "%.1f s", seconds);
    else if (seconds >= 0.9995e-3)
        snprintf(text.text, sizeof text.text, "%.0f ms", 1e3 * seconds);
    else
        snprintf(text.text, sizeof text.text, "%.0f us", 1e6 * seconds);
    return text;
}

Text32 text_bytes(double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    Text32 text = {"?"};
    if (!(bytes >= 0) || bytes > 1e18) return text;
    int unit = 0;
    while (unit < 5 && bytes >= (unit == 0 ? 1023.5 : 1023.95)) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text.text, sizeof text.text, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
    return text;
}

// Three digits and a factor: 950, 12.3k, 1.20M. For rates, where more digits would be noise.
Text32 text_short(double value)
{
    static const char *const factors[] = {"", "k", "M", "G", "T"};
    Text32 text = {"?"};
    if (!(value >= 0) || value > 1e15) return text;
    int factor = 0;
    while (factor < 4 && value >= 999.5) {
        value /= 1000;
        factor++;
    }
    const int decimals = value >= 99.95 || (factor == 0 && value == floor(value)) ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(text.text, sizeof text.text, "%.*f%s", decimals, value, factors[factor]);
    return text;
}

// ---- the shortest decimal -------------------------------------------------------------------------------------------

__extension__ typedef unsigned __int128 TextWide;

// A positive double as m 2^e, m of 53 bits.
typedef struct TextDouble {
    uint64_t m;
    int e;
} TextDouble;

// `precision` decimal digits; the first stands for 10^exponent.
typedef struct TextDecimal {
    uint64_t digits;
    int precision, exponent;
} TextDecimal;

// The integer nearest to m 2^e 10^k = m 5^k 2^(e + k), 0 <= k <= 27. m 5^k has at most 116 bits, so the arithmetic is
// exact. True if that integer, over 10^k, reads back as the same double: if it lies within half a unit of m, which is
// 5^k / 2 here. (Below a power of two the doubles are twice as dense.)
static bool text_scaled(const TextDouble *value, int k, uint64_t *nearest)
{
    uint64_t five = 1;
    for (int i = 0; i < k; i++) five *= 5;
    const TextWide product = (TextWide)value->m * five;
    const int shift = -(value->e + k);
    if (shift <= 0) { // m 2^e is an integer
        *nearest = (uint64_t)(product << -shift);
        return true;
    }
    TextWide whole = product >> shift;
    const TextWide rest = product - (whole << shift), half = (TextWide)1 << (shift - 1);
    if (rest > half || (rest == half && (whole & 1) != 0)) whole++;
    *nearest = (uint64_t)whole;
    const bool above = (whole << shift) > product, even = (value->m & 1) == 0;
    const TextWide distance = above ? (whole << shift) - product : product - (whole << shift);
    const TextWide reach = !above && value->m == (uint64_t)1 << 52 ? 4 * distance : 2 * distance;
    return reach < five || (reach == five && even);
}

// The shortest decimal of 1e-10 <= value < 1e14, and the nearest among those. A decimal of up to 15 digits survives the
// conversion to a double and back, and 17 digits always identify a double (C17 5.2.4.2.2, DBL_DIG and DBL_DECIMAL_DIG).
// So the first of 15, 16, 17 digits that reads back, without trailing zeros, is the shortest. (The range keeps k of
// text_scaled in its bounds.)
static TextDecimal text_shortest(double value)
{
    const int guess = (int)floor(log10(value));
    TextDecimal decimal;
    TextDouble binary;
    binary.m = (uint64_t)ldexp(frexp(value, &binary.e), 53);
    binary.e -= 53;
    uint64_t limit = 1000000000000000; // 10^precision
    for (decimal.precision = 15;; decimal.precision++, limit *= 10) {
        decimal.exponent = guess;
        bool same = text_scaled(&binary, decimal.precision - 1 - decimal.exponent, &decimal.digits);
        if (decimal.digits >= limit || decimal.digits < limit / 10) { // a wrong guess, or 9.99 became 10.0
            decimal.exponent += decimal.digits >= limit ? 1 : -1;
            same = text_scaled(&binary, decimal.precision - 1 - decimal.exponent, &decimal.digits);
        }
        if (same || decimal.precision == 17) return decimal;
    }
}

// The layout of %g: plain if the exponent is in [-4, precision), else with an exponent; trailing zeros are cut.
static void text_lay_out(const TextDecimal *decimal, bool negative, Text32 *text)
{
    char number[20];
    int count = decimal->precision, used = 0;
    const int exponent = decimal->exponent;
    uint64_t rest = decimal->digits;
    for (int i = count - 1; i >= 0; i--, rest /= 10) number[i] = (char)('0' + rest % 10);
    while (count > 1 && number[count - 1] == '0') count--;
    char *out = text->text;
    if (negative) out[used++] = '-';
    const bool plain = exponent >= -4 && exponent < decimal->precision;
    const int before_point = !plain ? 1 : exponent >= 0 ? exponent + 1 : 0;
    if (before_point == 0) {
        memcpy(out + used, "0.0000", 6);
        used += 1 - exponent; // "0." and the zeros that follow
    }
    for (int i = 0; i < count || i < before_point; i++) {
        if (i > 0 && i == before_point) out[used++] = '.';
        out[used++] = i < count ? number[i] : '0';
    }
    out[used] = '\0';
    if (!plain) snprintf(out + used, sizeof text->text - (size_t)used, "e%d", exponent);
}

// Very large and very small numbers: tries 1 to 17 digits. Subnormals have fewer than 15.
static void text_by_trying(double value, Text32 *text)
{
    char decimal[64];
    for (int digits = fpclassify(value) == FP_SUBNORMAL ? 1 : 15; digits <= 17; digits++) {
        snprintf(decimal, sizeof decimal, "%.*g", digits, value);
        if (strtod(decimal, NULL) == value) break;
    }
    char *from = strchr(decimal, 'e'), *to = from;
    if (from != NULL) { // "e-05" -> "e-5", "e+20" -> "e20"
        to += from[1] == '-' ? 2 : 1;
        from += 2 + strspn(from + 2, "0");
        memmove(to, from, strlen(from) + 1);
    }
    memcpy(text->text, decimal, sizeof text->text); // 24 characters at most: -1.2345678901234567e-308
}

Text32 text_number(double value)
{
    Text32 text = {"0"};
    const double size = fabs(value);
    if (isnan(value) || isinf(value)) {
        snprintf(text.text, sizeof text.text, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    } else if (size >= 1e-10 && size < 1e14) {
        const TextDecimal decimal = text_shortest(size);
        text_lay_out(&decimal, value < 0, &text);
    } else if (size > 0 || signbit(value)) {
        text_by_trying(value, &text);
    }
    return text;
}

int text_mixed_separators(const char *line, size_t length)
{
    const char *end = line + length, *at = line;
    char first = '\0';
    while (at < end && strchr(" \t", *at) != NULL) at++;
    while (at < end) {
        while (at < end && strchr(",; \t", *at) == NULL) at++;
        const char *separator = at;
        while (at < end && strchr(" \t", *at) != NULL) at++;
        if (at == end) return 0; // blanks at the end
        const char kind = *at == ',' || *at == ';' ? *at++ : ' ';
        while (at < end && strchr(" \t", *at) != NULL) at++;
        if (first != '\0' && kind != first) return (int)(separator - line) + 1;
        first = kind;
    }
    return 0;
}

// ---- reading a number -----------------------------------------------------------------------------------------------
// [+-] (digits [. [digits]] | . digits) [e [+-] digits], without leading zeros: YAML 1.2's core schema without the
// forms that people misread.

static const char *text_skip_digits(const char *p)
{
    while (isdigit((unsigned char)*p)) p++;
    return p;
}

const char *text_number_end(const char *text)
{
    const char *p = text + (*text == '+' || *text == '-'), *start = p;
    p = text_skip_digits(p);
    if (*start == '0' && p > start + 1) return NULL;
    if (p == start && (*p != '.' || !isdigit((unsigned char)p[1]))) return NULL;
    if (*p == '.') p = text_skip_digits(p + 1);
    if (*p == 'e' || *p == 'E') {
        const char *exponent = p + 1 + (p[1] == '+' || p[1] == '-'), *end = text_skip_digits(exponent);
        if (end > exponent) p = end;
    }
    return p;
}

bool text_to_number(const char *text, double *value)
{
    const char *end = text_number_end(text);
    if (end == NULL || *end != '\0') return false;
    const double number = strtod(text, NULL);
    if (!isfinite(number)) return false;
    *value = number == 0.0 ? 0.0 : number; // no negative zero
    return true;
}
