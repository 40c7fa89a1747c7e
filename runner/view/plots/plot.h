// What the files of the plots share: the data of a campaign, gathered once; panels with axes; and the table of plots. A
// panel is an SVG of its own, so that a page can let panels flow and a picture can set them in rows.
#ifndef HOPSCOTCH_PLOT_H
#define HOPSCOTCH_PLOT_H

#include "../view.h"

// ---- data (data.c) --------------------------------------------------------------------------------------------------

// The trial that a report shows closer: the best one; the first of the sample if all failed; -1 if there is none.
int64_t plot_shown_trial(const PlotData *data);
int plot_bin(const PlotGain *gain, double value);
const PlotCell *plot_cell(const PlotData *data, int gain_x, int gain_y, int bin_x, int bin_y); // in any order
bool plot_varies(const PlotGain *gain);                     // its trials have at least two values of it
bool plot_better(const PlotData *data, double a, double b); // a than b; also if b is NaN
// Value at this part [0, 1] of the sample's fitness, from the best to the worst.
double plot_quantile(const PlotData *data, double part);

// ---- panels (panel.c) -----------------------------------------------------------------------------------------------

struct Plot {
    FILE *out;
    bool page;
    double x, y, row, width, height; // picture: the next panel's place, the row's height, the whole so far
    int panels;
};

typedef struct PlotAxis {
    const char *name, *unit; // unit "1" or NULL: none
    double low, high;        // values at its ends
    double from, to;         // pixels
    bool log, whole;         // whole: only whole numbers are marked
} PlotAxis;

// The least and the greatest of some values; low > high: there are none.
typedef struct PlotRange {
    double low, high;
} PlotRange;

typedef struct PlotPanel {
    Plot *plot;
    double width, height;
    PlotAxis x, y;
} PlotPanel;

PlotRange plot_range(void);                      // of no values
void plot_widen(PlotRange *range, double value); // leaves out NaN and infinities
// An axis over the range with a margin at both ends; over [0, 1] if there are no values.
PlotAxis plot_axis_over(const char *name, const char *unit, PlotRange range);
// A panel without axes, and one with axes, which are drawn where they have a name. `title` may be NULL.
PlotPanel plot_plain_panel(Plot *plot, double width, double height, const char *title);
PlotPanel plot_panel(Plot *plot, double width, double height, const char *title, PlotAxis x, PlotAxis y);
void plot_new_row(Plot *plot); // of a picture
void plot_panel_end(PlotPanel *panel);
double plot_at(const PlotAxis *axis, double value); // pixel
// Round values to mark on the axis, about so many pixels apart. tick[PLOT_TICKS_MAX]; how many.
enum { PLOT_TICKS_MAX = 24 };
int plot_ticks(const PlotAxis *axis, double pixels, double *tick);
PlotAxis plot_axis_of(const PlotGain *gain);
PlotAxis plot_fitness_axis(const PlotData *data); // from the best to where most are
// A filled cell of a heat map, one of PLOT_CLASSES: gathered in one path a class.
void plot_cells(PlotPanel *panel, int n_x, int n_y, const double *edge_x, const double *edge_y,
                int (*class_of)(const void *context, int x, int y), const void *context);
// A round mark of a trial, which page and script know by its number; the tip is what it says of itself.
void plot_mark(PlotPanel *panel, const char *class_name, double x, double y, double radius, int64_t trial,
               const char *tip);
// A bar of the PLOT_CLASSES colours with the values between them.
void plot_scale_key(PlotPanel *panel, double x, double y, double width, const double *threshold, const char *text);
// The classes of one of `count` lines in a panel, and of its key.
typedef struct PlotColour {
    char line[4], key[4];
} PlotColour;
PlotColour plot_colour(int line, int count);
double plot_text_width(const char *text); // about what a text of a plot takes
// A swatch and a word; where the next one can stand.
double plot_key(PlotPanel *panel, double x, double y, const char *class_name, const char *text);
// The rules that the classes need, each with `scope` before it: dark or light colours.
void plot_style(FILE *out, const char *scope, bool dark);
const char *plot_unit(const char *unit, char *text, size_t size); // " (m/s)", "" without one
Text32 plot_short(double value);                                  // four digits, or thousands

// ---- the plots (plot.c, one file each) ------------------------------------------------------------------------------

#define PLOT_KIND_DECLARE(name) extern const PlotKind plot_##name;
PLOT_KINDS(PLOT_KIND_DECLARE)
#undef PLOT_KIND_DECLARE

// Reasons why there is nothing to draw, for PlotKind.nothing.
const char *plot_no_fitness(const PlotData *data, Arena *arena); // no trial has one
const char *plot_no_gain(const PlotData *data, Arena *arena);    // nor has any parameter two values

// Panels that were drawn to memory, as one picture.
void plot_write_picture(const Plot *plot, const char *title, const char *panels, FILE *out);

#endif
