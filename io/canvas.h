// Pictures of characters.
#ifndef HOPSCOTCH_IO_CANVAS_H
#define HOPSCOTCH_IO_CANVAS_H

#include "../sim/sim.h"

#include <stdio.h>

// Draws with characters (io/canvas.c): a raster of dots, two by four per character, from the top left corner.
typedef struct Canvas {
    int columns, rows;   // characters
    unsigned char *dots; // [rows][columns], bits in the order of Unicode's Braille patterns
} Canvas;
Canvas canvas_take(int columns, int rows, Arena *arena);
void canvas_clear(Canvas *canvas);
void canvas_dot(Canvas *canvas, double x, double y); // outside of the canvas: nothing
void canvas_line(Canvas *canvas, double x1, double y1, double x2, double y2);
void canvas_disc(Canvas *canvas, double x, double y, double radius);
// Prints the rows, each with a newline. utf8: Braille patterns; else ASCII characters by the number of dots.
void canvas_put(const Canvas *canvas, bool utf8, FILE *out);

// One character per number, higher for greater numbers; " " for a missing one (io/sparkline.c).
void put_sparkline(FILE *out, const double *value, int count);

#endif
