// Numbers as texts: for people (counts, durations, bytes, short rates) and for programs (the shortest decimal that
// reads back to the same double).
#include "io.h"

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

// Two parts at most, each rounded down but the last: "3 min 20 s". Below a minute one part.
Text32 text_duration(double seconds)
{
    static const struct {
        double size, part; // s
        const char *name, *part_name;
    } units[] = {{86400, 3600, "d", "h"}, {3600, 60, "h", "min"}, {60, 1, "min", "s"}};
    Text32 text = {"?"};
    if (!(seconds >= 0) || seconds > 1e11) return text;
    for (size_t i = 0; seconds >= 59.95 && i < sizeof units / sizeof *units; i++) {
        const double parts = floor(seconds / units[i].part + 0.5);
        if (parts * units[i].part < units[i].size) continue;
        const int64_t in_one = (int64_t)(units[i].size / units[i].part), all = (int64_t)parts;
        snprintf(text.text, sizeof text.text, "%" PRId64 " %s %" PRId64 " %s", all / in_one, units[i].name,
                 all % in_one, units[i].part_name);
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

// Three digits and a factor: 950, 12.3k, 1.20M. For rates, where more digits are noise.
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

// "1e-05" -> "1e-5", "1e+20" -> "1e20": what a person would type, and a digit less to read.
static void text_trim_exponent(char *text)
{
    char *from = strchr(text, 'e');
    if (from == NULL) return;
    char *to = ++from;
    if (*from == '-') to++;
    from++; // printf always gives the exponent a sign
    while (*from == '0' && from[1] != '\0') from++;
    memmove(to, from, strlen(from) + 1);
}

// A decimal of up to 15 digits survives the way to a normal double and back (C17 5.2.4.2.2, DBL_DIG), so if 15 digits
// read back they are, with their trailing zeros cut by %g, the shortest. Subnormals have fewer digits: try them all.
Text32 text_number(double value)
{
    Text32 text;
    if (isnan(value) || isinf(value)) {
        snprintf(text.text, sizeof text.text, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return text;
    }
    const bool subnormal = fpclassify(value) == FP_SUBNORMAL;
    char decimal[64];
    for (int digits = subnormal ? 1 : 15; digits <= 17; digits++) {
        snprintf(decimal, sizeof decimal, "%.*g", digits, value);
        if (strtod(decimal, NULL) == value) break;
    }
    text_trim_exponent(decimal);
    memcpy(text.text, decimal, sizeof text.text); // 24 characters at most: -1.2345678901234567e-308
    return text;
}
