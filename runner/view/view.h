// What the results mean: queries, intervals and tests, verification; plots; the report and the motion of a trial.
//
// Each folder uses those before it: analysis, plots, report. `make lint` checks that.
#ifndef HOPSCOTCH_VIEW_H
#define HOPSCOTCH_VIEW_H

#include "../campaign/campaign.h"
#include "plots/kinds.h"

// ---- queries (analysis/query.c) -------------------------------------------------------------------------------------

// Rows of the table trials by a condition, in an order: what `query` prints and `export` writes. The condition goes
// through our own expression parser and the columns through the list of those that exist; nothing that the user typed
// becomes part of a statement.
//
// A reader of a write-ahead log that stays in one long transaction (a pager that waits for a key) would keep the log
// from being folded back while a run writes. So the matching ids are taken in one go, and their rows, which never
// change, in short transactions; what they give is written between them.
typedef struct Query {
    const StoredCampaign *campaign;
    TrialColumns all;
    const char **names; // [count] columns to give
    int *columns;       // [count] their places in `all`
    int count;
    Condition where;
    TrialOrder *order; // [n_order]
    int n_order;
    int64_t limit; // 0: none
    int64_t *ids;  // [n_ids] that match; one more than the limit tells that there are more
    int64_t n_ids;
    TrialOrder *index; // [n_index] columns of an index that would have helped, where the database took long
    int n_index;
} Query;

// What the user asks for, as --where, --order, --columns and --limit say it.
typedef struct QueryAsked {
    const char *where, *order; // NULL: all; by id
    const char *columns;       // "all", "a,b"; NULL: those that tell most
    int64_t limit;             // 0: none
} QueryAsked;
Error query_start(const StoredCampaign *campaign, const QueryAsked *asked, Arena *arena, Query *query);
int64_t query_rows(const Query *query); // that are given
// Calls `take` with every trial, whose cells are the columns.
typedef Error QueryTake(void *taker, const Query *query, const Cursor *trial);
Error query_each(const Query *query, Arena *arena, QueryTake *take, void *taker);

// ---- intervals and tests (analysis/statistics.c) --------------------------------------------------------------------

// Intervals and tests for comparing gaits: what `verify` and `compare` print. All at 95 %.
typedef struct Interval {
    double value, low, high; // NaN: there are too few values to say
} Interval;

// A rate from `successes` of `n` trials. n = 0: NaN.
Interval interval_of_rate(int64_t successes, int64_t n);
// The mean of value[n]. n = 1: no bounds.
Interval interval_of_mean(const double *value, int64_t n);
// The q-quantile of value[n], sorted ascending; q = 0.5: the median. No bounds where n is too small for 95 %.
Interval interval_of_quantile(const double *value, int64_t n, double q);
int statistics_ascending(const void *left, const void *right); // of doubles, for qsort; infinities are values

// Whether b tends to be less than a. Infinities are ranks like others: what failed is above all that did not.
typedef struct RankTest {
    double u;        // pairs in which b is less than a, ties as a half
    double p;        // two-sided
    double superior; // u / (n_a n_b): the chance that b is less than a (Vargha and Delaney's A); 0.5: no difference
    bool exact;      // p counts all orders; else by the normal distribution, with ties corrected
} RankTest;
RankTest rank_test(const double *a, int64_t n_a, const double *b, int64_t n_b, Arena *arena);

// ---- verifying a trial (analysis/verify.c, analysis/verify_run.c) ---------------------------------------------------

// Verifying a trial: is what the search found good under disturbances that it has never met, and do its gains sit on a
// cliff? Two specs are made out of the campaign's own, and run like any others:
//   seeds   method centered: the trial under n replicates with a fresh seed, then one gain or physical parameter at a
//           time a little less and a little more, under the same n disturbances
//   grid    method grid: every combination of the starts that the replicates would draw, edge to edge
typedef struct VerifyTask {
    const StoredCampaign *campaign;
    int64_t trial;           // -1: the model's defaults in place of what was searched
    const double *parameter; // [n_parameters] of the trial, complete
    double fitness;          // that is stored of it; NaN: none
    uint64_t seed;           // fresh
    int64_t seeds;           // replicates
    double gains, physics;   // by what part a gain, another parameter is changed; 0: not
    int levels;              // of an axis of the grid; 0: no grid
    const int *also;         // [n_also] more parameters for the grid
    int n_also;
} VerifyTask;

enum { VERIFY_GRID_AXES_MAX = 6 };

// 53 bits that the campaign's own draws have never seen; the same for all trials of the campaign.
uint64_t verify_seed(const Spec *spec);
// Whether anything differs from one seed to the next.
bool verify_draws(const Spec *spec);
// The trial of the task, or the best if it names none, with its parameters (verify_run.c).
Error verify_take_trial(VerifyTask *task, Arena *arena);
// The model's defaults in place of what the search found.
void verify_take_defaults(VerifyTask *task, Arena *arena);
// How many axes the grid has; 0: there is nothing to vary.
int verify_grid_axes(const VerifyTask *task);
// The two specs, derived from the campaign's; verify_run_spec completes them.
Error verify_seeds_spec(const VerifyTask *task, const char *name, Arena *arena, Spec *out);
Error verify_grid_spec(const VerifyTask *task, const char *name, Arena *arena, Spec *out);

// Runs the spec as the campaign options->name, or goes on with it, notes where it comes from, and opens it.
Error verify_run_spec(const VerifyTask *task, const char *purpose, Spec *spec, const RunOptions *options, Arena *arena,
                      StoredCampaign *out);

// What the n runs of one trial say.
typedef struct VerifyOutcome {
    int64_t trial, n, good;
    double *value; // [n] the cost of each run (spec_cost); infinite: it failed
    Interval rate, fitness;
    int64_t worst;             // the run with the greatest cost; of failed ones the one that failed soonest
    const char *worst_failure; // "none": it did not fail
    double worst_survived;     // s; NaN: the model has no such metric
} VerifyOutcome;

// Fitness by the objective's `over`, of the runs that did not fail: Student's interval for a mean, order statistics for
// a median or a quantile, none for the worst.
Error verify_outcome(const StoredCampaign *run, int64_t trial, Arena *arena, VerifyOutcome *outcome);
Interval verify_shown(const Spec *spec, const Interval *cost); // of costs: as the user's objective gives it
const char *verify_interval_method(const Spec *spec);          // "Student's t", "order statistics", "no interval"

// ---- plots (plots/plot.c; plots/data.c gathers the data) ------------------------------------------------------------

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

// Where panels go: see plots/plot.h.
typedef struct Plot Plot;

typedef struct PlotKind {
    const char *name, *title;
    const char *(*caption)(const PlotData *data, Arena *arena); // of what it draws of these data
    Error (*draw)(const PlotData *data, Plot *plot, Arena *arena);
    // why there is nothing to draw, NULL if there is something
    const char *(*nothing)(const PlotData *data, Arena *arena);
} PlotKind;

const PlotKind *plot_kind_find(const char *name); // NULL if there is none
// "convergence|scatter|...": the choices of an option
#define PLOT_KIND_WORD(name) "|" #name
#define PLOT_KIND_WORDS (&(PLOT_KINDS(PLOT_KIND_WORD))[1])
// The plot as one picture.
Error plot_picture(const PlotData *data, const PlotKind *kind, FILE *out, Arena *arena);

// ---- reports and traces (report/) -----------------------------------------------------------------------------------

// The sections of a page, one after another.
Error report_write(const StoredCampaign *campaign, const PlotData *data, const BackendOptions *backend, FILE *out,
                   Arena *arena);
bool iterations_are_shown(const StoredCampaign *campaign); // whether the model has anything to show
// The alignments of replayed trials, whose rows are those of their solver, as a page that plays them.
Error iterations_write_page(const ReplayTrace *const *traces, int count, FILE *out, Arena *arena);
// As a table with a header, or as a shard of its own that any HDF5 tool reads (trace_write.c).
Error trace_write_csv(const ReplayTrace *trace, FILE *out, Arena *arena);
Error trace_write_hdf5(const ReplayTrace *trace, FILE *out, Arena *arena);
Error trace_write_svg(const ReplayTrace *trace, FILE *out, Arena *arena);
Error trace_write_page(const ReplayTrace *const *traces, int count, FILE *out, Arena *arena);
// In the terminal (trace_terminal.c). Error (interrupted): the user ended it.
Error trace_play(const ReplayTrace *trace, FILE *out, Arena *arena);

#endif
