// Draws pictures with characters, for terminals.
#ifndef HOPSCOTCH_IO_CANVAS_H
#define HOPSCOTCH_IO_CANVAS_H

#include "../sim/sim.h"

#include <stdio.h>

// A raster of dots, two by four per character. Coordinates are in dots from the top left corner; dots outside of the
// canvas are not drawn.
typedef struct Canvas {
    int columns, rows;   // characters
    unsigned char *dots; // [rows][columns], bits in the order of Unicode's Braille patterns
} Canvas;
Canvas canvas_take(int columns, int rows, Arena *arena); // empty; in characters
void canvas_clear(Canvas *canvas);
void canvas_dot(Canvas *canvas, double x, double y);
void canvas_line(Canvas *canvas, double x1, double y1, double x2, double y2);
void canvas_disc(Canvas *canvas, double x, double y, double radius);
// Prints the rows, each with a newline. utf8: Braille patterns; else ASCII characters by the number of dots.
void canvas_put(const Canvas *canvas, bool utf8, FILE *out);

// Prints value[count] as one character each, higher for greater numbers; " " for a number that is not finite. The scale
// is logarithmic if the numbers are positive and span more than a factor of 100 (sparkline.c).
void put_sparkline(FILE *out, const double *value, int count);

#endif
