// What the files of the plots share: the data of a campaign, read once; panels with axes; the table of plots. Each
// panel is one SVG, so that a page lets panels flow and a picture sets them in rows.
#ifndef HOPSCOTCH_PLOT_H
#define HOPSCOTCH_PLOT_H

#include "../view.h"

// ---- data (data.c) --------------------------------------------------------------------------------------------------

// The trial whose motion a report shows: the best; the first of the sample if all failed; -1: there are no trials.
int64_t plot_shown_trial(const PlotData *data);
// For a campaign that keeps rows of some trials (sums.c): counts, bins and cells of all trials.
Error plot_take_sums(PlotData *data);
// data->effect, data->share (effects.c); rank[n_fitted]: of the fitness.
void plot_find_effects(PlotData *data, const double *rank, Arena *arena);
int plot_bin(const PlotGain *gain, double value); // the bin that holds the value
const PlotCell *plot_cell(const PlotData *data, int gain_x, int gain_y, int bin_x, int bin_y); // in any order
bool plot_varies(const PlotGain *gain);                     // it has at least two values
bool plot_better(const PlotData *data, double a, double b); // a is better than b, or b is NaN
// The fitness that a fraction [0, 1] of the sample reaches: 0 the best, 1 the worst.
double plot_quantile(const PlotData *data, double fraction);

// ---- panels (panel.c) -----------------------------------------------------------------------------------------------

#define PLOT_FONT 11.0           // pixels
#define PLOT_PICTURE_WIDTH 920.0 // pixels in a row of a picture, unless it is a figure of another width
#define PLOT_AROUND 66.0         // pixels above and below a vertical axis
enum { PLOT_RUNS = 16 };

struct Plot {
    FILE *out;
    bool page;
    const char *name; // of panels without a title and axes, for screen readers; NULL: they are decoration
    double x, y, row, width, height; // of a picture: the next panel's corner, the row's height, the size so far
    double limit;                    // pixels in a row of a picture
    // a figure for a paper: the panels of a row fill it
    bool figure;
    double tall;   // factor of the heights of vertical axes
    double labels; // pixels left of each vertical axis, where axes are aligned: the most that one of them needs
    bool aligned;
    // panels in each run of rows, from one plot_new_row to the next: of this picture when it was drawn before, and now
    int run, panels[PLOT_RUNS], met[PLOT_RUNS];
};

typedef struct PlotAxis {
    const char *name, *unit; // unit "1" or NULL: none
    double low, high;        // values at its ends
    double from, to;         // their pixels
    bool log, whole;         // whole: only whole numbers are marked
    const char *choices;     // words in place of whole numbers (words.h); NULL: none
    bool shared;             // a horizontal axis whose numbers and name stand below another panel
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
PlotAxis plot_log_axis_over(const char *name, PlotRange range); // of values > 0
// A panel without axes, and one with axes, which are drawn where they have a name. `title` may be NULL.
PlotPanel plot_plain_panel(Plot *plot, double width, double height, const char *title);
PlotPanel plot_panel(Plot *plot, double width, double height, const char *title, PlotAxis x, PlotAxis y);
void plot_new_row(Plot *plot); // of a picture
// What becomes of the width of a panel, and of its height, in a figure.
double plot_panel_width(const Plot *plot, double width);
double plot_panel_height(const Plot *plot, double width, double height);
void plot_panel_end(PlotPanel *panel);
double plot_at(const PlotAxis *axis, double value); // pixel
// Finds round values to mark on the axis, about `pixels` apart. tick[PLOT_TICKS_MAX]. Returns their number.
enum { PLOT_TICKS_MAX = 24 };
int plot_ticks(const PlotAxis *axis, double pixels, double *tick);
PlotAxis plot_axis_of(const PlotGain *gain);
PlotAxis plot_fitness_axis(const PlotData *data); // from the best fitness to the worst but 2 %
// Draws a heat map of n_x by n_y cells between the edges. class_of: the colour of a cell, in PLOT_CLASSES; PLOT_FAILED:
// it has trials, and none with a value; -1: empty.
#define PLOT_FAILED PLOT_CLASSES
#define PLOT_FAILED_CLASS "cf"
void plot_cells(PlotPanel *panel, int n_x, int n_y, const double *edge_x, const double *edge_y,
                int (*class_of)(const void *context, int x, int y), const void *context);
// Draws a dot for a trial. The page's script finds it by the trial's number; `tip` is shown under the pointer.
void plot_mark(PlotPanel *panel, const char *class_name, double x, double y, double radius, int64_t trial,
               const char *tip);
// threshold[PLOT_CLASSES - 1] <- of classes with equal numbers of different values. Sorts value[count].
void plot_find_thresholds(double *value, int64_t count, double *threshold);
int plot_class(double value, const double *threshold);
// Draws a bar of the PLOT_CLASSES colours and the thresholds between them, with `text` above it.
void plot_scale_key(PlotPanel *panel, double x, double y, double width, const double *threshold, const char *text);
// The classes of one of the lines in a panel: its colour with its dashes, and that of its dots.
typedef struct PlotColour {
    char line[12], key[4];
} PlotColour;
PlotColour plot_colour(int line);
double plot_text_width(const char *text); // pixels, of the widest font that is usual
// The text, or its beginning and an ellipsis in cut[size], so that it fits into `room` pixels.
const char *plot_cut(const char *text, double room, char *cut, size_t size);
// Draws a square of a colour with a word beside it. Returns the x of the next one.
double plot_key(PlotPanel *panel, double x, double y, const char *class_name, const char *text);
double plot_key_line(PlotPanel *panel, double x, double y, PlotColour colour, const char *text); // a line instead
// A panel of keys in as many rows as they need, and a new row after it.
#define PLOT_KEY_ROW 16.0
void plot_keys(Plot *plot, double width, int count, const char *const *classes, const char *const *texts);
// Writes the style rules of the classes, in light or dark colours, with `scope` before each.
void plot_style(FILE *out, const char *scope, bool dark);
const char *plot_unit(const char *unit, char *text, size_t size); // " (m/s)"; "" without a unit
Text32 plot_short(double value);                                  // four digits; from 1e4 to 1e6 a whole number
ValueText plot_value(const char *choices, double value);          // the same, or a word

// ---- bars (bars.c) --------------------------------------------------------------------------------------------------

#define PLOT_BAR_TOP 30.0 // of the first row
#define PLOT_BAR_ROW 21.0
// A panel of `rows` horizontal bars, its x axis from `low` to `high`. plot_bar and plot_bar_whisker draw one bar, and
// an interval on it.
typedef struct PlotBarRoom {
    double names, least; // pixels left of the bars; `least` on a page and in a picture that is no figure
    double numbers;      // right of the axis
} PlotBarRoom;
PlotPanel plot_bars(Plot *plot, double width, PlotBarRoom room, const char *title, const char *label, int rows,
                    double low, double high);
void plot_bar(PlotPanel *panel, int row, const char *name, double value, const char *class_name);
void plot_bar_whisker(PlotPanel *panel, int row, double low, double high);
void plot_bars_zero(PlotPanel *panel, int rows); // a line at 0

// ---- rounds of searches (rounds.c) ----------------------------------------------------------------------------------

// A round of a search: values against x.
enum { PLOT_ROUND_VALUES = 16, PLOT_SEARCHES = 48 }; // the best searches are drawn
typedef struct PlotRound {
    int64_t search, number;
    double x, value[PLOT_ROUND_VALUES];
} PlotRound;

typedef struct PlotRounds {
    PlotRound *round; // [count] by search, then number
    int64_t count, best_search;
    double last;                   // the greatest x
    int64_t every, searches, most; // what is read: every k-th round of this number of searches, at most `most` in all
} PlotRounds;

// plot_rounds_begin: memory for the rounds of the best searches, empty. plot_rounds_add adds a round, with values NaN.
Error plot_rounds_begin(const PlotData *data, bool several, Arena *arena, PlotRounds *rounds);
PlotRound *plot_rounds_add(PlotRounds *rounds, int64_t search, int64_t number, double x);
PlotRange plot_rounds_range(const PlotRounds *rounds, int which); // of a value
void plot_rounds(const PlotRounds *rounds, int which, PlotPanel *panel);

// ---- the plots (plot.c, one file each) ------------------------------------------------------------------------------

#define PLOT_KIND_DECLARE(name) extern const PlotKind plot_##name;
PLOT_KINDS(PLOT_KIND_DECLARE)
#undef PLOT_KIND_DECLARE

Error plot_draw_columns(const PlotData *data, Plot *plot, Arena *arena); // data->axes (columns.c)

// Reasons why there is nothing to draw, for PlotKind.nothing.
const char *plot_no_fitness(const PlotData *data, Arena *arena); // no trial has one
const char *plot_no_gain(const PlotData *data, Arena *arena);    // nor has any parameter two values

// Writes the beginning of a picture for print: its size (attributes), its box (x, y, width, height in pixels), the
// style of the classes, a white ground.
void plot_begin_picture(const char *size, const double *box, const char *title, FILE *out);
// A picture of panels that `draw` draws. It may be called several times, until widths and heights fit.
typedef struct PlotDrawing {
    const char *name; // for messages: "the plot NAME"
    Error (*draw)(const void *of, Plot *plot, Arena *arena);
    const void *of;
} PlotDrawing;
// figure NULL: as on a screen. Error (user): the figure is too small for it, and errors of `draw`.
Error plot_draw_picture(const PlotDrawing *drawing, const Figure *figure, const char *title, FILE *out, Arena *arena);
// Writes panels that were drawn to memory as one picture. figure NULL: not for a paper.
void plot_write_picture(const Plot *plot, const Figure *figure, const char *title, const char *panels, FILE *out);

#endif
