// What the files of the method `bayesian` share: its settings, what it remembers of a search, and its steps.
//
// A Gaussian process predicts the cost of a point; the next trials are where the expected improvement is greatest,
// within a trust region around the best point. Sources: D. R. Jones, M. Schonlau, W. J. Welch, "Efficient Global
// Optimization of Expensive Black-Box Functions", J. Global Optimization 13, 1998; D. Eriksson, M. Pearce, J. Gardner,
// R. D. Turner, M. Poloczek, "Scalable Global Optimization via Local Bayesian Optimization" (TuRBO), NeurIPS 2019;
// D. Eriksson, M. Poloczek, "Scalable Constrained Bayesian Optimization" (SCBO), AISTATS 2021.
//
// A coordinate runs from 0 to 1 over the range of its parameter, or over that of its logarithm. Symbols: n axes, q
// trials of a round, m constraints.
#ifndef HOPSCOTCH_SEARCH_BAYESIAN_H
#define HOPSCOTCH_SEARCH_BAYESIAN_H

#include "../side_by_side.h"
#include "../quasi_newton.h"
#include "../sobol_sequence.h"
#include "acquisition.h"
#include "hyperparameters.h"

enum {
    BAYESIAN_AXES_MAX = 50,
    BAYESIAN_TRIALS_MAX = 2000,
    BAYESIAN_BATCH_MAX = 64,
    BAYESIAN_SEARCHES_MAX = 256,
    BAYESIAN_CONSTRAINTS_MAX = 8,
    BAYESIAN_MODEL_MAX = 400, // points of a process: those nearest to the region's centre
    BAYESIAN_FIT_MAX = 150,   // points that hyperparameters are fitted to
    BAYESIAN_STATE_VERSION = 1
};

// Rows of the table of options (options.c).
enum {
    BAYESIAN_BATCH,
    BAYESIAN_START,
    BAYESIAN_SEARCHES,
    BAYESIAN_FIRST,
    BAYESIAN_STOP_TRIALS,
    BAYESIAN_STOP_TARGET,
    BAYESIAN_N_OPTIONS
};
extern const Option bayesian_options[BAYESIAN_N_OPTIONS];

// Why a search ended. The names are stored (bayesian_stop_names).
typedef enum BayesianStop {
    BAYESIAN_GOES_ON,
    BAYESIAN_AT_TRIALS,
    BAYESIAN_AT_TARGET,
    BAYESIAN_AT_POINTS,
    BAYESIAN_STOPS
} BayesianStop;
extern const char *const bayesian_stop_names[BAYESIAN_STOPS];

// What the checkpoint holds of one search: this and the arrays behind it, raw, without pointers or padding.
typedef struct BayesianRun {
    int64_t round;  // rounds told
    int64_t trials; // told, and rows
    int64_t stop;   // BayesianStop
    int64_t fitted; // rows when hyperparameters were fitted last
    // the trust region
    int64_t restarts;            // regions before this one
    int64_t successes, failures; // rounds, one after the other
    double length;               // of its sides, in coordinates
    double best;                 // cost of the best trial that is feasible; NaN: none
} BayesianRun;

// A trial of a search. What was told of it: its cost, NaN: it failed; what is known of the cost, which for a failed
// trial is the mean of the replicates that did not fail, NaN: nothing; its standard error, 0: unknown or none; the
// fraction of replicates that failed; the time that they survived. The values of constraints stand behind, met if <= 0.
typedef struct BayesianRow {
    double *x; // [n] coordinates
    double *told;
} BayesianRow;
enum { BAYESIAN_COST, BAYESIAN_KNOWN, BAYESIAN_ERROR, BAYESIAN_LOST, BAYESIAN_SURVIVED, BAYESIAN_TOLD };
// Then what was predicted of the cost before the trial ran, with its standard deviation; NaN: the trial is of a start.
enum { BAYESIAN_PREDICTED, BAYESIAN_DEVIATION, BAYESIAN_NOTED };

// A run with its arrays, as pointers into the state.
typedef struct BayesianView {
    BayesianRun *run;
    double *theta; // [outputs][n + 2] hyperparameters
    double *row;   // [capacity][row_doubles]
} BayesianView;

// The checkpoint: this, the runs, then the results of the one search whose round is partly told.
typedef struct BayesianState {
    uint32_t version, axes;
    int64_t outputs, capacity;
    SideProgress progress;
} BayesianState;

// The trials of a round as they were chosen: chosen when they are asked for, and again, to the same bits, if they are
// gone when they are told.
typedef struct BayesianPoints {
    SideDrawn drawn;
    double *x;         // [members][n]
    double *predicted; // [members][BAYESIAN_NOTED]
} BayesianPoints;

// What a process predicts: the cost, success, constraints.
enum { BAYESIAN_OF_COST, BAYESIAN_OF_SUCCESS, BAYESIAN_OUTPUTS };

// One process and the rows that it knows.
typedef struct BayesianModel {
    GaussianProcess process;
    int64_t *row;   // [process.count] ascending
    double *theta;  // [n + 2] that it was factored with
    int64_t search; // that it was factored for; -1: none
    bool constant;  // all outputs are equal: it says nothing
} BayesianModel;

// How outputs become those of a process, and back (warp.c).
typedef struct BayesianWarp {
    double middle, scale; // a good cost c becomes (c - middle)/scale
    int64_t count;
    double *cost, *warped; // [count] ascending
} BayesianWarp;

// A region as the model sees it.
typedef struct BayesianRegion {
    double *centre, *low, *high; // [n]
} BayesianRegion;

// Another thread has a copy with room of its own (bayesian_worker); `side` is only current in the first one.
typedef struct Bayesian {
    SideBySide side;
    const Spec *spec;
    const double *settings; // [BAYESIAN_N_OPTIONS]
    int n, m, outputs, batch, design;
    int64_t capacity, row_doubles;
    bool valued; // the values of replicates are told
    bool noisy;  // they say how uncertain the cost is
    size_t run_bytes;
    bool *word; // [n]
    Sobol *sobol;
    BayesianPoints *points; // [side.kept] by search
    double *parameter;      // [n_parameters]
    // room for one search
    BayesianModel *model; // [outputs]
    GaussianProcess fit;
    BayesianWarp warp;
    BayesianRegion region;
    double *room;    // of hyperparameters_fit
    double *number;  // [3][capacity]
    int64_t *chosen; // [2][capacity]
    double *pool;    // candidates
    double *vector;  // [8 n + bounded_minimum_room]
} Bayesian;

// ---- bayesian.c -----------------------------------------------------------------------------------------------------

BayesianView bayesian_view(const Search *search, int64_t s);
BayesianRow bayesian_row(const Bayesian *bayesian, const BayesianView *view, int64_t row);
double *bayesian_noted(const Bayesian *bayesian, const BayesianRow *row); // [BAYESIAN_NOTED]
bool bayesian_failed(const BayesianRow *row);
// It did not fail, and meets the constraints.
bool bayesian_feasible(const Bayesian *bayesian, const BayesianRow *row);
// The parameters of coordinates, into bayesian->parameter; integers are rounded in x too. False: the spec drops it.
// Whether one of the search's first `trials` trials has the coordinates x.
bool bayesian_is_known(const Bayesian *bayesian, const BayesianView *view, int64_t trials, const double *x);
bool bayesian_point(const Bayesian *bayesian, double *x);
BayesianPoints *bayesian_points(const Search *search, int64_t s);

// ---- warp.c ---------------------------------------------------------------------------------------------------------

// Prepares the warp for cost[count].
void bayesian_warp_prepare(BayesianWarp *warp, const double *cost, int64_t count);
// The output of a cost, and its slope.
double bayesian_warp(const BayesianWarp *warp, double cost, double *slope);
double bayesian_unwarp(const BayesianWarp *warp, double output);

// ---- feasibility.c --------------------------------------------------------------------------------------------------

// out[count] <- the latent of success of rows: -1: the trial succeeded; > 0: it failed, less if it survived longer.
void bayesian_success(Bayesian *bayesian, const BayesianView *view, const int64_t *rows, int64_t count, double *out);
// The output of a constraint value: 0 stays 0; far values are compressed.
double bayesian_constraint(double value, double scale);

// ---- model.c --------------------------------------------------------------------------------------------------------

// The row that the region is around: the best feasible one, or else the one that is nearest to being feasible; -1:
// there is no row.
int64_t bayesian_centre(const Bayesian *bayesian, const BayesianView *view);
// Fits hyperparameters of all outputs to the rows of the run, into its state.
HyperparameterKind bayesian_kind(int output);
void bayesian_fit(Bayesian *bayesian, const BayesianView *view);
// Sets and factors the processes for the rows of the run.
void bayesian_learn(Bayesian *bayesian, const BayesianView *view, int64_t s);

// ---- region.c -------------------------------------------------------------------------------------------------------

// After the trials from row `first` on were added: the region moves, grows, shrinks, or begins anew.
void bayesian_region_update(const Bayesian *bayesian, const BayesianView *view, int64_t first);
// The sides of the region around the model's best point, into bayesian->region.
void bayesian_region_set(Bayesian *bayesian, const BayesianView *view);

// ---- propose.c ------------------------------------------------------------------------------------------------------

// Chooses the trials of the round that search s is in.
void bayesian_propose(const Search *search, void *worker, int64_t s);

// ---- rounds.c: what is told of a round ------------------------------------------------------------------------------

extern const ModelColumns bayesian_columns;
const Field *bayesian_fields(const Spec *spec, Arena *arena, int *count);
void bayesian_report(Search *search, Bayesian *bayesian, const SideEnd *end, BayesianStop stop);

#endif
