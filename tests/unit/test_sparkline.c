// Rows of numbers as rows of characters.
#include "../test.h"

#include <math.h>
#include <stdlib.h>

static void sparkline_check(const char *expected, const double *value, int count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    put_sparkline(out, value, count);
    fclose(out);
    CHECK_TEXT(expected, text);
    free(text);
}

TEST(sparkline_from_the_least_to_the_greatest)
{
    setenv("LC_ALL", "C.UTF-8", 1);
    sparkline_check("▁▂▃▄▅▆▇█", (const double[]){0, 1, 2, 3, 4, 5, 6, 7}, 8);
    sparkline_check("█▁ ▅", (const double[]){-1, -8, (double)NAN, -4}, 4);
    sparkline_check("▁▁", (const double[]){3, 3}, 2);
    sparkline_check("█▅▁", (const double[]){1, 0.01, 0.0001}, 3); // the logarithm is shown if the range covers decades
    sparkline_check("", NULL, 0);
    setenv("LC_ALL", "C", 1);
    sparkline_check("_# ", (const double[]){1, 2, (double)INFINITY}, 3);
    unsetenv("LC_ALL");
}
