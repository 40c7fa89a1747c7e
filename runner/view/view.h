// What the results mean: queries, intervals and tests, verification; plots; the report and the motion of a trial.
//
// Each folder uses those before it: analysis, plots, report. `make lint` checks that.
#ifndef HOPSCOTCH_VIEW_H
#define HOPSCOTCH_VIEW_H

#include "../campaign/campaign.h"
#include "plots/kinds.h"

// ---- queries (analysis/query.c) -------------------------------------------------------------------------------------

// Trials that meet a condition, in an order: `query` prints them and `export` writes them. The condition goes through
// our own expression parser and the columns through the list of existing ones, so no text of the user becomes part of
// an SQL statement.
//
// A reader in one long transaction (a pager that waits for a key) would keep SQLite from checkpointing the write-ahead
// log of a run. Therefore the matching ids are read at once, and their rows, which never change, in short transactions;
// output is written between these.
typedef struct Query {
    const StoredCampaign *campaign;
    TrialColumns all;
    const char **names; // [count] chosen columns
    int *columns;       // [count] their indices in `all`
    int count;
    Condition where;
    TrialOrder *order; // [n_order]
    int n_order;
    int64_t limit; // 0: none
    int64_t *ids;  // [n_ids] that match; one more than the limit if there are more
    int64_t n_ids;
} Query;

// The options --where, --order, --columns and --limit.
typedef struct QueryAsked {
    const char *where, *order; // NULL: all; by id
    const char *columns;       // "all", "a,b"; NULL: the main ones
    int64_t limit;             // 0: none
} QueryAsked;
Error query_start(const StoredCampaign *campaign, const QueryAsked *asked, Arena *arena, Query *query);
int64_t query_rows(const Query *query); // at most the limit
// Calls `take` with every trial. The cells of the cursor are the chosen columns.
typedef Error QueryTake(void *taker, const Query *query, const Cursor *trial);
Error query_each(const Query *query, Arena *arena, QueryTake *take, void *taker);
// The numbers of the chosen columns [column, column + n) of the trials [from, from + count), read by all threads:
// values[n][count]. Missing: NaN. A text: its number in words[n_words], which live as long as the arena.
typedef struct QueryPart {
    int64_t from, count;
    int column, n;
    double **values;
    const char *const *words;
    int n_words;
} QueryPart;
Error query_part(const Query *query, QueryPart *part, Arena *arena);

// Groups of trials that agree in some columns, with aggregates of each (analysis/groups.c).
typedef struct Aggregate Aggregate;
typedef struct Groups {
    TrialColumns all;
    int *by; // [n_by] columns that the trials of a group agree in: indices in `all`
    int n_by;
    Aggregate *aggregates; // [n_aggregates]
    int n_aggregates;
    const char **names;       // [n_by + n_aggregates]
    const char *const *words; // texts of the numbers in text columns
    double *values;           // [count][n_by + n_aggregates] in their order; NaN: missing
    int64_t count;
} Groups;
// asked->columns: aggregates; NULL: the number of trials, and the least, median and greatest fitness. asked->order: of
// columns by their names in the output; else the groups ascend. by: "A,B". The limit is not applied.
Error groups_read(const StoredCampaign *campaign, const QueryAsked *asked, const char *by, Arena *arena,
                  Groups *groups);
// Whether the numbers of an output column are counts.
bool groups_counts(const Groups *groups, int output);

// ---- intervals and tests (analysis/statistics.c) --------------------------------------------------------------------

// Intervals of 95 %, and a test of two samples, for `verify` and `compare`.
typedef struct Interval {
    double value, low, high; // NaN: too few values
} Interval;

// The rate of `successes` in n trials. n = 0: NaN.
Interval interval_of_rate(int64_t successes, int64_t n);
// The mean of value[n]. n = 1: no bounds.
Interval interval_of_mean(const double *value, int64_t n);
// The q-quantile of value[n], sorted ascending; q = 0.5: the median. No bounds if n is too small for 95 %.
Interval interval_of_quantile(const double *value, int64_t n, double q);
double student_quantile(double freedom);                       // 0.975-quantile of Student's t
double chi_squared_above(double x, double freedom);            // P(X > x)
double beta_above(double x, double a, double b);               // P(X > x)
int statistics_ascending(const void *left, const void *right); // of doubles, for qsort; infinities are values
// rank[n] of value[n], from 1; equal values share the mean of their ranks (infinities are values).
void statistics_ranks(const double *value, int64_t n, Arena *arena, double *rank);

// Whether b tends to be less than a. A failed run counts as infinity, greater than every other value.
typedef struct RankTest {
    double u;        // pairs in which b is less than a; a tie counts as a half
    double p;        // two-sided
    double superior; // u / (n_a n_b): the chance that b is less than a (Vargha and Delaney's A); 0.5: no difference
    bool exact;      // p counts all orders; else by the normal distribution, corrected for ties
} RankTest;
RankTest rank_test(const double *a, int64_t n_a, const double *b, int64_t n_b, Arena *arena);

// The same for pairs, such as runs under common seeds: Wilcoxon's signed-rank test of the differences b - a. What both
// runs of a pair share, such as a hard start, cancels. Pairs in which both fail, or that are equal, are left out.
typedef struct SignedRankTest {
    int64_t less, greater, equal; // pairs
    double w;                     // sum of the ranks of those in which b is less
    double p;                     // two-sided; NaN: no pair differs
    bool exact;                   // p counts all signs; else by the normal distribution, corrected for ties
} SignedRankTest;
SignedRankTest signed_rank_test(const double *a, const double *b, int64_t n, Arena *arena);

// ---- a fit (analysis/fit.c) -----------------------------------------------------------------------------------------

typedef struct FitParameter {
    double low, high; // ends of the interval of 95 %; NaN: the residuals do not determine it
    double error;     // standard deviation of its value; NaN: the same
    double white;     // the same if residuals that follow each other were independent
    int end;          // -1, 1: at the lower, upper end of its range
    bool determined;
    bool open; // by its profile the interval goes on beyond the range, or to where runs fail: that end is NaN
} FitParameter;
// Residuals of a series. NaN: too few.
typedef struct FitNoise {
    double rms;
    double noise;      // standard deviation of what is white in them, from third differences
    double neighbours; // correlation of neighbours
    double p;          // of the tests that they are white: Ljung and Box's, and that for a smooth part
    bool coloured;     // the test says so, by all series together
    double mean, off;  // their mean, in its standard errors too
    bool shifted;      // and it is not 0, by all series together
} FitNoise;
// What the model could do, and the fit leaves as it is: a parameter that is not searched, beside those that are.
typedef struct FitLack {
    int parameter;        // of the model
    double value, change; // in the trial; what the residuals want more of it
    double error;         // standard deviation of the change
    double squares;       // what the change takes of the sum of squares, a fraction
    double p;             // that none is wanted
    bool lacking;         // p says so, by all such parameters together
} FitLack;
// What the length of steps does to a fit (analysis/fit_step.c).
typedef struct FitStep {
    FitFiner finer;       // name NULL: nothing is known
    int series;           // whose residuals change most, in units of their noise: by `change` (rms)
    double change;        //
    double wanted, error; // how often the residuals want that change, and its standard deviation; NaN: not at all
    double squares, p;    // what it takes of their sum of squares; that none is wanted
    bool lacking;         // they do: the step is too long for them
    int parameter;        // [data->n] that half a step moves most
    double moved;         // by so many standard deviations of it; NaN: none
    bool moving;          // by more than one, and the residuals do not contradict
} FitStep;
// What is wrong with a recording itself (analysis/fit_record.c): a column in another unit, or of the other sign.
typedef struct FitUnit {
    int series;
    const char *name;       // of the column, or the input of a system
    double by, correlation; // recorded through simulated; between them
    const char *means;      // in words, and what to do
} FitUnit;
// A clock that is off: that of a recording, or of one joint's columns, of which `series` is the first.
typedef struct FitClock {
    int series;
    const char *name;  // of the series' column, or the input of a system
    bool input;        // it is one
    bool whole;        // of all columns of its recording
    bool mirrored;     // no clock, but the other sign
    double late, left; // s; what is left of the mean square with it, a fraction
    bool off;          // it is named
} FitClock;
// An input that is compared between its rows: the series with most such residuals.
typedef struct FitBetween {
    const char *name; // of the input; NULL: none is
    int64_t residuals, count;
} FitBetween;
typedef struct FitResult {
    FitParameter *parameters;  // [data->n]
    FitNoise *noise;           // [data->n_series]
    int n_free;                // parameters
    double off;                // how far the best value of one parameter alone is from the trial's, in its errors
    int off_parameter;         // the parameter with the greatest
    double condition;          // of the derivatives by coordinates
    const double *correlation; // [n][n]; NaN: of a parameter without interval
    const char **unknown;      // [n_unknown] directions that the residuals do not determine, in words
    int n_unknown;
    bool robust;            // intervals take the correlation of residuals into account
    int n_coloured;         // series
    int n_shifted;          // the same
    int order;              // of that correlation: the greatest of the autoregressive processes of series
    const double *quantile; // [n] times the standard deviation is half of an interval
    const double *widening; // [n] that standard deviation through the one if all residuals had one variance
    FitLack *lacks;         // [n_lacks] by p: parameters that were tested
    int n_lacks, n_lacking;
    FitStep step;
    FitUnit *units; // [n_units]
    int n_units;
    FitClock clock;
    FitBetween between;
    int64_t fits, failed, block; // of a bootstrap: how many, of them with a run that failed, rows of a block
    const struct Fit *inner;     // of the analysis
} FitResult;
FitResult *fit_analyse(const Spec *spec, const FitData *data, Arena *arena);
// Tests whether steps are short enough (analysis/fit_step.c), then whether the residuals want a parameter that is not
// searched to be other than it is (analysis/fit_lack.c).
Error fit_lacks(const FitModel *model, FitResult *result);
// Looks for what is wrong with the recordings themselves (analysis/fit_record.c). After fit_lacks.
Error fit_records(const FitModel *model, FitResult *result);
// Replaces intervals by those of the profile of the sum of squares (analysis/fit_profile.c).
Error fit_profile(const FitModel *model, const FitData *data, FitResult *result, Arena *arena);
// Replaces intervals by those of `count` fits to residuals that are drawn again (analysis/fit_bootstrap.c).
Error fit_bootstrap(const FitModel *model, FitResult *result, int64_t count);
// The columns of a recording that was held out, beside the same of those that were fitted (analysis/fit_validate.c).
typedef struct FitColumn {
    const char *recording, *column;
    int64_t count;       // residuals; 0: the run failed, or no fitted recording has the column
    double fitted, held; // rms, in the unit of the column
    double p;            // of a ratio as great as this, if both had the same variance; NaN: too few
    bool larger;         // the test says that it is larger, by all columns together
} FitColumn;
const FitColumn *fit_validate(const FitData *data, const FitResult *result, Arena *arena, int *count);
// In words (analysis/fit_words.c): what is not determined, whether what is left is noise, what is correlated.
typedef struct FitLine {
    const char *about, *text;
} FitLine;
const FitLine *fit_lines(const Spec *spec, const FitData *data, const FitResult *result, Arena *arena, int *count);
const char *fit_remark(const FitParameter *of); // "" or why it has no interval

// ---- verifying a trial (analysis/verify.c, analysis/verify_run.c) ---------------------------------------------------

// Verifying a trial: does it hold under disturbances that the search has not used, and when its parameters change a
// little? Two specs are derived from the campaign's, and run as campaigns:
//   seeds   method centered: the trial under n replicates with a fresh seed, then with one gain or physical parameter
//           at a time a little lower and a little higher, under the same n disturbances
//   grid    method grid: every combination of the starts that the replicates would draw, edge to edge
typedef struct VerifyTask {
    const StoredCampaign *campaign;
    int64_t trial;           // -1: the model's defaults for the searched parameters
    const double *parameter; // [n_parameters] of the trial
    double fitness;          // the stored one; NaN: none
    bool recommended;        // under fresh seeds, in place of `best`, the best of the search
    int64_t best;            //
    uint64_t seed;           // fresh
    int64_t seeds;           // replicates
    double gains, physics;   // relative change of a gain, of another parameter; 0: none
    int levels;              // of an axis of the grid; 0: no grid
    const int *also;         // [n_also] more parameters for the grid
    int n_also;
} VerifyTask;

enum { VERIFY_GRID_AXES_MAX = 6 };

// A seed of 52 bits that differs from the campaign's; the same for all its trials.
uint64_t verify_seed(const Spec *spec);
// True if results depend on the seed.
bool verify_draws(const Spec *spec);
// Completes the task by the parameters of its trial; if it names none, of the trial that is recommended, or the best
// one (verify_run.c).
Error verify_take_trial(VerifyTask *task, Arena *arena);
// Completes the task by the model's defaults for the searched parameters.
void verify_take_defaults(VerifyTask *task, Arena *arena);
// The number of axes of the grid; 0: no parameter varies.
int verify_grid_axes(const VerifyTask *task);
// Derive the specs of the two campaigns of a verification from the campaign's spec; verify_run_spec completes them.
Error verify_seeds_spec(const VerifyTask *task, const char *name, Arena *arena, Spec *out);
Error verify_grid_spec(const VerifyTask *task, const char *name, Arena *arena, Spec *out);

// Runs the spec as the campaign options->name, or continues it; stores its origin, and opens it.
Error verify_run_spec(const VerifyTask *task, const char *purpose, Spec *spec, const RunOptions *options, Arena *arena,
                      StoredCampaign *out);

// The results of the n runs of one trial.
typedef struct VerifyOutcome {
    int64_t trial, n, succeeded; // succeeded: runs that did not fail
    double *value;               // [n] the cost of each run (spec_cost); infinite: it failed
    Interval rate, fitness;
    int64_t worst;             // the run with the greatest cost; of failed runs the one that failed soonest
    double worst_cost;         // infinite: it failed
    const char *worst_failure; // "none": it did not fail
    double worst_survived;     // s; NaN: the model has no such metric
} VerifyOutcome;

// The fitness by the objective's `over`, of the runs that did not fail: Student's interval for a mean, order statistics
// for a median or a quantile, none for the worst.
Error verify_outcome(const StoredCampaign *run, int64_t trial, Arena *arena, VerifyOutcome *outcome);
Interval verify_shown(const Spec *spec, const Interval *cost); // costs as values of the user's objective
const char *verify_interval_method(const Spec *spec);          // "Student's t", "order statistics", "no interval"

// ---- what is known about a trial (analysis/verified.c) --------------------------------------------------------------

typedef struct Verified {
    const char *run; // "gains/verify/trial_41", of the most fresh seeds; NULL: the trial was not verified
    VerifyOutcome outcome;
} Verified;
// Of the complete runs under fresh seeds; one that just begins is left out.
Error verified_read(const StoredCampaign *campaign, int64_t trial, Arena *arena, Verified *verified);
// "198 of 200 fresh seeds succeed (95 %: 96.4 to 99.7 %), fitness 0.43"
const char *verified_text(const Verified *verified, Arena *arena);

// ---- the probability of being the best (analysis/finalists.c) -------------------------------------------------------

// Costs of finalists under common seeds: value[i][r], r < had[i]; not finite: that replicate failed.
typedef struct FinalistRuns {
    int count, named;
    const int *had;             // [count]
    const double *const *value; // [count]
    uint64_t seed;              // of the draws
} FinalistRuns;
// The probability that the mean cost of finalist `named` is the least; NaN: fewer than two, or nothing differs.
double finalists_probability(const FinalistRuns *runs, Arena *arena);

// ---- finalists: recommending a trial (analysis/recommend.c) ---------------------------------------------------------

// The best trials of a noisy search and the mean of its distribution race under fresh seeds (replicates.race).
typedef struct Recommended {
    int64_t trial;     // of the campaign; -1: the mean
    double fitness;    // in the search; NaN: it has none
    int64_t there;     // its trial in the campaign of the fresh seeds
    double fresh;      // fitness there, NaN: none; with `failed: any` of the replicates that did not fail
    Interval interval; // its own, as verify's
    int64_t seeds;     // replicates that it ran
    int64_t failed;    // of them
    double violation;  // of the constraints
} Recommended;
typedef struct Recommendation {
    const char *run;            // "gains/verify/recommend_0123456789ab"; NULL: there is none
    int64_t seeds;              // replicates of the one that is recommended
    int64_t simulations;        // of all candidates together
    uint64_t seed;              // fresh
    double probability;         // that the recommended one is the best of them; NaN: not known
    const char *unknown;        // why
    int compared;               // candidates that the probability is among: those that can be the best
    int failing, violating;     // those that can't: they fail more often, they violate a constraint
    bool maximize, by_failures; // what is better: more; first the fewest failed replicates
    Recommended *candidates;    // [count] the best of the search first, its mean last
    const double **value;       // [count][seeds of each] costs, as in VerifyOutcome
    int count, best;            // best: the candidate that is recommended; -1: none
} Recommendation;

bool recommend_wanted(const Spec *spec); // the spec asks for a recommendation
// For a campaign whose search has ended: runs the candidates, or the rest of them. Does nothing if the spec does not
// ask for a recommendation, no trial has a fitness, or another process runs the candidates.
Error recommend_run(const CampaignLocation *location, const RunOptions *options, Arena *arena);
// `verify --finalists`: the same for any campaign that has run trials, with other numbers than the spec's.
typedef struct FinalistsAsked {
    int64_t trials, replicates; // of the best; of each that reaches the last rung
    int64_t seed;               // -1: derived from the campaign's
} FinalistsAsked;
Error finalists_run(const CampaignLocation *location, const RunOptions *options, const FinalistsAsked *asked,
                    Arena *arena);
// Whether the search of a stored campaign has ended, and the candidates of its recommendation have not, and no process
// runs them.
Error recommendation_left(const StoredCampaign *campaign, Arena *arena, bool *left);
// The stored recommendation; out->run is NULL if there is none.
Error recommendation_read(const StoredCampaign *campaign, Arena *arena, Recommendation *out);
bool recommended_is_better(const Recommendation *of, const Recommended *a, const Recommended *b);
const Recommended *recommendation_of(const Recommendation *recommendation, int64_t trial); // NULL: no candidate
// The trial that is recommended; `best` where none is, or the mean, which is no trial.
int64_t recommended_trial(const Recommendation *recommendation, int64_t best);

// ---- plots (plots/plot.c; plots/data.c gathers the data) ------------------------------------------------------------

enum {
    PLOT_SAMPLE = 100000, // trials that are drawn one by one, about; of more trials a sample
    PLOT_GAINS_MAX = 32,  // gains that are drawn
    PLOT_BINS = 32,       // of a gain
    PLOT_BEST = 100,      // trials that are known by rank
    PLOT_CLASSES = 8      // steps of a colour scale
};

// A searched parameter with an axis (not derived, not the follower of a zip).
typedef struct PlotGain {
    const char *name, *unit, *choices; // choices: configured_choices
    double low, high;                  // of all trials
    bool log;
    int n_bins; // between edge[n_bins + 1], in the gain's unit; of a grid one bin per value
    double edge[PLOT_BINS + 1];
} PlotGain;

// The trials in one bin of a gain, or in one cell of the bins of two gains.
typedef struct PlotCell {
    int64_t count, failed;
    double best; // fitness; NaN: none
} PlotCell;

// Columns of the table trials as the axes of the plot scatter. colour, y: may be NULL; y NULL: the fitness.
typedef struct PlotColumns {
    const char *x, *y, *colour;
    bool log_x, log_y;
} PlotColumns;

typedef struct PlotData {
    const StoredCampaign *campaign;
    Condition where;                       // which trials
    const char *value_name, *value_column; // the fitness that is plotted: one of several objectives
    bool maximize;                         // greater is better
    PlotGain *gain;                        // [n_gains]
    int n_gains;
    int64_t trials, ranked; // all; those with a fitness
    int64_t *failures;      // [configured.n_failures] trials by kind; [0]: did not fail
    bool sums;              // computed from sums over all trials, where these are known
    int64_t sample_every;   // > 0: only ids that are multiples of it are in the sample
    // a sample, drawn by a hash of the id: the same for the same campaign
    int64_t n_sample;
    int64_t *id;      // [n_sample]
    double *value;    // [n_sample][n_gains]
    double *fitness;  // [n_sample] NaN: failed
    int64_t n_fitted; // trials of the sample with a fitness
    double *sorted;   // [n_fitted] their fitness, ascending
    // all trials
    PlotCell *bin;         // [n_gains][PLOT_BINS]
    int64_t *bin_failures; // [n_gains][PLOT_BINS][n_failures]
    bool kinds_mixed;      // the kinds of the failures in a bin are not known: bin_failures is 0
    PlotCell *cell;        // [n_gains][n_gains][PLOT_BINS][PLOT_BINS], first gain < second gain
    // the best, by rank
    int64_t n_best, best_id[PLOT_BEST];
    double best_fitness[PLOT_BEST];
    double *best_value; // [n_best][n_gains]
    // Spearman's rank correlation of each gain with the fitness, over the n_fitted trials; of a gain with words, which
    // have no order, the correlation ratio of the ranks; NaN: none
    double *correlation;     // [n_gains]
    double *effect;          // [n_gains] eta^2 of its bins on the ranks of the fitness, less chance; NaN: few trials
    double *share;           // [n_gains] of the importance by PED-ANOVA; NaN: few trials
    int *order;              // [n_gains] gains, the greatest effect first; those with one value last
    int n_varied;            // gains with at least two values
    const PlotColumns *axes; // of the plot scatter; NULL: the fitness against each gain
} PlotData;

// Reads the trials that meet the condition `where` (NULL: all). objective: which of several, from 0. Error (user): no
// objective has this number, or the condition is wrong.
Error plot_data_read(const StoredCampaign *campaign, int objective, const char *where, Arena *arena, PlotData *data);

// The output of panels: see plots/plot.h.
typedef struct Plot Plot;

typedef struct PlotKind {
    const char *name, *title;
    const char *text;                                           // its caption; NULL: `caption` writes it
    const char *(*caption)(const PlotData *data, Arena *arena); // a caption that depends on the data
    Error (*draw)(const PlotData *data, Plot *plot, Arena *arena);
    const char *(*nothing)(const PlotData *data, Arena *arena); // why there is nothing to draw; NULL: there is
    bool whole;                                                 // of the whole campaign: it takes no condition
} PlotKind;

const PlotKind *plot_kind_find(const char *name); // NULL if there is none
// "convergence|scatter|...", the choices of an option
#define PLOT_KIND_WORD(name) "|" #name
#define PLOT_KIND_WORDS (&(PLOT_KINDS(PLOT_KIND_WORD))[1])
// The size of a figure for a paper, and of the text in it. It has no title, and no colours of a dark page.
typedef struct Figure {
    double width, height; // mm; 0: as on a screen
    double font;          // pt; 0: as on a screen
} Figure;
// The plot as one picture (SVG). figure NULL: as on a screen. Error (user): there is nothing to plot, or the figure is
// too small for it.
Error plot_picture(const PlotData *data, const PlotKind *kind, const Figure *figure, FILE *out, Arena *arena);

// ---- reports and traces (report/) -----------------------------------------------------------------------------------

// Writes the report of a campaign as one HTML page.
typedef struct ReportOptions {
    BackendOptions backend; // simulates trials again, to the same bits
    const char *state;      // of the campaign: its database does not know of a kill
    int motions;            // of this number of best trials, if the model has any, and of some that failed
    int follow;             // s after which the page reads itself again, because the run goes on; 0: it does not
} ReportOptions;
Error report_write(const StoredCampaign *campaign, const PlotData *data, const ReportOptions *options, FILE *out,
                   Arena *arena);
// Writes a page with a row per campaign of a results root.
typedef struct OverviewOptions {
    const char *results;
    bool beside; // the page is written into the results root: names link to the reports there
    int follow;  // as in ReportOptions, because campaigns are running
} OverviewOptions;
Error overview_write(const OverviewOptions *options, const StatusEntry *entries, int count, FILE *out, Arena *arena);
bool iterations_are_shown(const StoredCampaign *campaign); // whether the model has curves of its solver's iterations
// Writes a page that plays the alignments of replayed trials. The rows of the traces are those of the solver.
Error iterations_write_page(const ReplayTrace *const *traces, int count, FILE *out, Arena *arena);
// Write a replayed trial: a table with a header (CSV), an HDF5 file in the form of a shard, a picture (SVG), or a page
// that animates `count` trials, 1 or 2.
Error trace_write_csv(const ReplayTrace *trace, FILE *out, Arena *arena);
Error trace_write_hdf5(const ReplayTrace *trace, FILE *out, Arena *arena);
Error trace_write_svg(const ReplayTrace *trace, FILE *out, Arena *arena);
// A figure of columns of `count` motions, at most TRACE_MOTIONS: each against time, at most TRACE_PANELS, or pairs of
// them. A recorded motion stands beside it as dots. Lines are simplified by less than a tenth of a pixel. figure NULL:
// as on a screen. Error (user): a motion has no such column or one sample, or the figure is too small.
enum { TRACE_MOTIONS = 6, TRACE_PANELS = 8 };
typedef struct TraceColumns {
    const char *const *names; // [count]; of pairs x, y, x, y, ...
    int count;
    bool pairs;
} TraceColumns;
Error trace_write_columns(const ReplayTrace *const *traces, int count, const TraceColumns *asked, const Figure *figure,
                          FILE *out, Arena *arena);
Error trace_write_page(const ReplayTrace *const *traces, int count, FILE *out, Arena *arena);
// Writes it as MCAP, row after row. Error (interrupted): the user ended it.
Error trace_write_mcap(const ReplayTrace *trace, FILE *out, Arena *arena);
// A motion as frames of a video. `repeats`: it has fewer samples than frames. Error (user): the model has no drawing,
// or there would be too many frames.
typedef struct TraceStage {
    double width, height, scale, x, y; // pixels; pixels per metre; the pixel of the figure's origin
} TraceStage;
typedef struct TraceFrames {
    int fps;
    int64_t count;
    double first; // s
    bool repeats;
    TraceStage stage;
} TraceFrames;
Error trace_frames(const ReplayTrace *trace, int fps, Arena *arena, TraceFrames *frames);
void trace_write_frame(const ReplayTrace *trace, const TraceFrames *frames, int64_t k, FILE *out, Arena *arena); // SVG
// Animates the trial in the terminal (trace_terminal.c). Error (interrupted): the user ended it.
Error trace_play(const ReplayTrace *trace, FILE *out, Arena *arena);

#endif
