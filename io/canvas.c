// Draws with characters: a raster of dots; one character of the terminal shows two by four of them. Source of the
// patterns: The Unicode Standard 15.0, chapter 21.1, Braille Patterns (U+2800 to U+28FF).
#include "canvas.h"

#include <math.h>
#include <string.h>

// bit of the dot in this row and column of a character
static const unsigned char canvas_bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

Canvas canvas_take(int columns, int rows, Arena *arena)
{
    return (Canvas){.columns = columns, .rows = rows, .dots = ARENA_NEW(arena, unsigned char, columns *rows)};
}

void canvas_clear(Canvas *canvas) { memset(canvas->dots, 0, (size_t)canvas->columns * (size_t)canvas->rows); }

void canvas_dot(Canvas *canvas, double x, double y)
{
    if (!(x >= 0 && y >= 0 && x < 2 * canvas->columns && y < 4 * canvas->rows)) return;
    const int column = (int)x, row = (int)y;
    canvas->dots[row / 4 * canvas->columns + column / 2] |= canvas_bits[row % 4][column % 2];
}

void canvas_line(Canvas *canvas, double x1, double y1, double x2, double y2)
{
    const double longest = fmax(fabs(x2 - x1), fabs(y2 - y1)), most = 4096;
    if (!(longest < most)) return; // true for NaN too
    const int steps = (int)ceil(longest) + 1;
    for (int i = 0; i <= steps; i++) canvas_dot(canvas, x1 + (x2 - x1) * i / steps, y1 + (y2 - y1) * i / steps);
}

void canvas_disc(Canvas *canvas, double x, double y, double radius)
{
    for (double dy = -floor(radius); dy <= radius; dy++) {
        for (double dx = -floor(radius); dx <= radius; dx++) {
            if (dx * dx + dy * dy <= radius * radius) canvas_dot(canvas, x + dx, y + dy);
        }
    }
}

static void canvas_put_braille(unsigned char dots, FILE *out)
{
    const unsigned code = 0x2800u + dots;
    fputc((int)(0xE0 | code >> 12), out);
    fputc((int)(0x80 | (code >> 6 & 0x3F)), out);
    fputc((int)(0x80 | (code & 0x3F)), out);
}

static void canvas_put_plain(unsigned char dots, FILE *out)
{
    static const char shades[] = " .:+*####"; // by the number of dots
    fputc(shades[__builtin_popcount(dots)], out);
}

void canvas_put(const Canvas *canvas, bool utf8, FILE *out)
{
    for (int row = 0; row < canvas->rows; row++) {
        const unsigned char *dots = canvas->dots + row * canvas->columns;
        int columns = canvas->columns;
        while (columns > 0 && dots[columns - 1] == 0) columns--;
        for (int column = 0; column < columns; column++) {
            if (dots[column] == 0)
                fputc(' ', out);
            else if (utf8)
                canvas_put_braille(dots[column], out);
            else
                canvas_put_plain(dots[column], out);
        }
        fputc('\n', out);
    }
}
