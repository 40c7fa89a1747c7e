// A row of numbers as a row of characters: one per number, higher for greater numbers.
#include "canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Block elements of Unicode if the environment's encoding is UTF-8 (in the order of setlocale), else ASCII.
static bool sparkline_has_bars(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value == NULL || value[0] == '\0') continue;
        return strstr(value, "UTF-8") != NULL || strstr(value, "utf8") != NULL || strstr(value, "UTF8") != NULL;
    }
    return false;
}

// NaN for a number that can't be shown: missing, infinite, or not positive on a logarithmic scale.
static double sparkline_height(double value, bool logarithmic)
{
    if (!isfinite(value)) return (double)NAN;
    return logarithmic ? log(value) : value;
}

void put_sparkline(FILE *out, const double *value, int count)
{
    enum { LEVELS = 8 };
    static const char *const bars[LEVELS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[LEVELS] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    const char *const *glyphs = sparkline_has_bars() ? bars : plain;
    double low = (double)INFINITY, high = (double)-INFINITY;
    for (int i = 0; i < count; i++) {
        if (!isfinite(value[i])) continue;
        low = fmin(low, value[i]);
        high = fmax(high, value[i]);
    }
    const bool logarithmic = low > 0.0 && high > 100.0 * low; // a search that converges crosses decades
    const double bottom = sparkline_height(low, logarithmic), top = sparkline_height(high, logarithmic);
    for (int i = 0; i < count; i++) {
        const double height = sparkline_height(value[i], logarithmic);
        const double fraction = top > bottom ? (height - bottom) / (top - bottom) : 0.0;
        fputs(isnan(height) ? " " : glyphs[(int)(fraction * (LEVELS - 1) + 0.5)], out);
    }
}
