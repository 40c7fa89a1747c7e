// What the files of the plots share: the data of a campaign, gathered once; panels with axes; and the table of plots. A
// panel is an SVG of its own, so that a page can let panels flow and a picture can set them in rows.
#ifndef HOPSCOTCH_PLOT_H
#define HOPSCOTCH_PLOT_H

#include "../../campaign/store/trials.h"

// ---- data (data.c) --------------------------------------------------------------------------------------------------

enum {
    PLOT_SAMPLE = 100000, // trials that are looked at one by one, about; of more a sample is drawn
    PLOT_GAINS_MAX = 32,  // gains that are drawn
    PLOT_BINS = 32,       // of a gain
    PLOT_BEST = 100,      // trials that are known by rank
    PLOT_CLASSES = 8      // steps of a colour scale
};

// A searched parameter on its own axis (not derived, not one that another one carries along).
typedef struct PlotGain {
    const char *name, *unit;
    int searched;     // place among the searched columns
    double low, high; // of all trials
    bool log;
    int n_bins; // between edge[n_bins + 1], in the gain's unit: of a grid, one bin a value
    double edge[PLOT_BINS + 1];
} PlotGain;

// Of the trials in one bin, or one cell of two gains' bins.
typedef struct PlotCell {
    int64_t count, failed;
    double best; // NaN: none has a fitness
} PlotCell;

typedef struct PlotData {
    const StoredCampaign *campaign;
    Condition where;                       // which trials
    const char *value_name, *value_column; // what is plotted as fitness: of several objectives one of them
    bool maximize;                         // more of it is better
    PlotGain *gain;                        // [n_gains]
    int n_gains;
    int64_t trials, ranked; // stored; with a fitness
    int64_t *failures;      // [configured.n_failures] trials by kind; [0]: none
    // the sample, drawn by a hash of the id: the same for the same campaign
    int64_t n_sample;
    int64_t *id;      // [n_sample]
    double *value;    // [n_sample][n_gains]
    double *fitness;  // [n_sample] NaN: failed
    int64_t n_fitted; // of the sample, with a fitness
    double *sorted;   // [n_fitted] their fitness, ascending
    // all trials
    PlotCell *bin;         // [n_gains][PLOT_BINS]
    int64_t *bin_failures; // [n_gains][PLOT_BINS][n_failures]
    PlotCell *cell;        // [n_gains][n_gains][PLOT_BINS][PLOT_BINS], first gain < second gain
    // the best, by rank
    int64_t n_best, best_id[PLOT_BEST];
    double best_fitness[PLOT_BEST];
    double *best_value; // [n_best][n_gains]
    // Spearman's rank correlation of each gain with the fitness, over the sample's trials with a fitness; NaN: none
    double *correlation; // [n_gains]
    int *order;          // [n_gains] the most important gain first; those that never vary last
    int n_varied;        // gains that have at least two values
} PlotData;

// Of the trials where that is so (NULL: all). objective: which one, from 0, if there are several. Error (user): there
// is none of that number, or the condition is none.
Error plot_data_read(const StoredCampaign *campaign, int objective, const char *where, Arena *arena, PlotData *data);

// The trial that a report shows closer: the best one; the first of the sample if all failed; -1 if there is none.
int64_t plot_shown_trial(const PlotData *data);
int plot_bin(const PlotGain *gain, double value);
const PlotCell *plot_cell(const PlotData *data, int gain_x, int gain_y, int bin_x, int bin_y); // in any order
bool plot_varies(const PlotGain *gain);                     // its trials have at least two values of it
bool plot_better(const PlotData *data, double a, double b); // a than b; also if b is NaN
// Value at this part [0, 1] of the sample's fitness, from the best to the worst.
double plot_quantile(const PlotData *data, double part);

// ---- panels (panel.c) -----------------------------------------------------------------------------------------------

// Where panels go: one after another on a page, or in rows of a picture.
typedef struct Plot {
    FILE *out;
    bool page;
    double x, y, row, width, height; // picture: the next panel's place, the row's height, the whole so far
    int panels;
} Plot;

typedef struct PlotAxis {
    const char *name, *unit; // unit "1" or NULL: none
    double low, high;        // values at its ends
    double from, to;         // pixels
    bool log, whole;         // whole: only whole numbers are marked
} PlotAxis;

typedef struct PlotPanel {
    Plot *plot;
    double width, height;
    PlotAxis x, y;
} PlotPanel;

// A panel whose axes are drawn where they have a name. `title` may be NULL.
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
double plot_text_width(const char *text); // about what a text of a plot takes
// A swatch and a word; where the next one can stand.
double plot_key(PlotPanel *panel, double x, double y, const char *class_name, const char *text);
// The rules that the classes need, each with `scope` before it: dark or light colours.
void plot_style(FILE *out, const char *scope, bool dark);
const char *plot_unit(const char *unit, char *text, size_t size); // " (m/s)", "" without one
Text32 plot_short(double value);                                  // four digits, or thousands

// ---- the plots (plot.c, one file each) ------------------------------------------------------------------------------

typedef struct PlotKind {
    const char *name, *title;
    const char *(*caption)(const PlotData *data, Arena *arena); // of what it draws of these data
    Error (*draw)(const PlotData *data, Plot *plot, Arena *arena);
    // why there is nothing to draw, NULL if there is something
    const char *(*nothing)(const PlotData *data, Arena *arena);
} PlotKind;

extern const PlotKind plot_convergence, plot_scatter, plot_pairs, plot_parallel, plot_importance, plot_failures,
    plot_pareto, plot_timings;

int plot_count(void);
const PlotKind *plot_kind(int index);
const PlotKind *plot_kind_find(const char *name); // NULL if there is none
// Panels that were drawn to memory, as one picture.
void plot_write_picture(const Plot *plot, const char *title, const char *panels, FILE *out);
// The plot as one picture.
Error plot_picture(const PlotData *data, const PlotKind *kind, FILE *out, Arena *arena);

#endif
