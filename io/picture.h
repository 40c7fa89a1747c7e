// Pictures in other formats than SVG: PDF, whose fonts are embedded, and PNG. They are made by rsvg-convert, a program
// of librsvg, in a process of its own: it is needed for these alone, and a static program can call it too.
#ifndef HOPSCOTCH_IO_PICTURE_H
#define HOPSCOTCH_IO_PICTURE_H

#include "../sim/sim.h"

typedef enum PictureFormat { PICTURE_SVG, PICTURE_PDF, PICTURE_PNG } PictureFormat;

#define PICTURE_ENDINGS "svg|pdf|png"
enum { PICTURE_DPI = 300, PICTURE_DPI_LEAST = 30, PICTURE_DPI_MOST = 2400 };

PictureFormat picture_format(const char *path); // by its ending; SVG without one
// *data <- svg[size] in the format, for free(). dpi: pixels per inch of a PNG, which says so (pHYs); the size of a PDF
// is that of the SVG, which names a unit of length. Error (user): rsvg-convert is not installed. Error (machine): it
// failed.
Error picture_convert(const char *svg, size_t size, PictureFormat format, int dpi, Arena *arena, char **data,
                      size_t *bytes);

#endif
