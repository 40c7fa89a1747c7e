// Elements of SVG pictures, and texts in markup. Coordinates are pixels from the top left corner.
#ifndef HOPSCOTCH_IO_SVG_H
#define HOPSCOTCH_IO_SVG_H

#include "../sim/sim.h"

#include <stdio.h>

// Prints a text for an element or a quoted attribute of HTML or SVG. Markup is escaped; unsafe characters are printed
// as codes.
void put_markup(FILE *out, const char *text);
// Prints a coordinate to a tenth of a pixel; 0 if `value` is not finite.
void svg_number(FILE *out, double value);
// Print one element. class_name: a class of the page's style.
void svg_line(FILE *out, const char *class_name, double x1, double y1, double x2, double y2);
void svg_rectangle(FILE *out, const char *class_name, double x, double y, double width, double height);
// anchor: "start", "middle" or "end"
void svg_text(FILE *out, const char *class_name, double x, double y, const char *anchor, const char *text);
// A path that is printed point by point. While the pen is up, the next point begins a new line.
typedef struct SvgPath {
    FILE *out;
    bool down;
} SvgPath;
SvgPath svg_path(FILE *out, const char *class_name);
void svg_path_to(SvgPath *path, double x, double y); // not finite: lifts the pen
void svg_path_end(const SvgPath *path);

#endif
