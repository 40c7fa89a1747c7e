// What the files of the CMA-ES share: its settings, what it remembers of a search, and its steps.
//
// Source: N. Hansen, The CMA evolution strategy: a tutorial, arXiv:1604.00772v2, 2023; equations and table 1 by their
// numbers there. Symbols: n coordinates, lambda members of a generation, mu parents, m mean, sigma step size, C
// covariance, C = B D^2 B' with the rows of `axes` as the columns of B and D in `lengths`, p_c and p_sigma evolution
// paths, y = (x - m)/sigma.
#ifndef HOPSCOTCH_SEARCH_CMAES_H
#define HOPSCOTCH_SEARCH_CMAES_H

#include "runner.h"

enum {
    CMAES_DIMENSIONS_MAX = 100,
    CMAES_POPULATION_MAX = 1 << 20,
    CMAES_HISTORY = 256,  // entries of the history of best and median
    CMAES_ATTEMPTS = 100, // draws of a member, before it is left out
    CMAES_STATE_VERSION = 1
};

#define CMAES_WIDTH 10.0 // every coordinate runs from 0 to this

// Rows of the table of options (search_cmaes.c).
enum {
    CMAES_POPULATION,
    CMAES_SIGMA,
    CMAES_SEARCHES,
    CMAES_FIRST,
    CMAES_START,
    CMAES_BOUNDS,
    CMAES_WEIGHTS,
    CMAES_RESTARTS,
    CMAES_RESTARTS_MAX,
    CMAES_PATIENCE,
    CMAES_STOP_TRIALS,
    CMAES_STOP_TARGET,
    CMAES_STOP_GENERATIONS,
    CMAES_STOP_TOLFUN,
    CMAES_STOP_TOLFUNHIST,
    CMAES_STOP_TOLX,
    CMAES_STOP_TOLXUP,
    CMAES_STOP_CONDITION,
    CMAES_N_OPTIONS
};
enum { CMAES_START_RANDOM, CMAES_START_CENTER, CMAES_START_DEFAULT };
enum { CMAES_BOUNDS_TRANSFORM, CMAES_BOUNDS_RESAMPLE };
enum { CMAES_WEIGHTS_ACTIVE, CMAES_WEIGHTS_POSITIVE };
enum { CMAES_RESTARTS_NONE, CMAES_RESTARTS_IPOP, CMAES_RESTARTS_BIPOP };

// Why a run of the strategy ended. The names are stored (cmaes_stop_names).
typedef enum CmaesStop {
    CMAES_GOES_ON,
    CMAES_AT_TARGET,
    CMAES_AT_TRIALS,
    CMAES_AT_BUDGET, // of a small population between large ones
    CMAES_AT_GENERATIONS,
    CMAES_AT_TOLFUN,
    CMAES_AT_TOLFUNHIST,
    CMAES_AT_TOLX,
    CMAES_AT_TOLXUP,
    CMAES_AT_CONDITION,
    CMAES_AT_NO_EFFECT_AXIS,
    CMAES_AT_NO_EFFECT_COORDINATE,
    CMAES_AT_STAGNATION,
    CMAES_AT_EQUAL_VALUES,
    CMAES_AT_ALL_FAILED,
    CMAES_STOPS
} CmaesStop;
extern const char *const cmaes_stop_names[CMAES_STOPS];

// Strategy parameters of one lambda: table 1.
typedef struct CmaesWeights {
    int64_t lambda, mu;
    double *weight; // [lambda], descending; from mu on not positive
    double sum;     // of all
    double mu_eff, c_sigma, d_sigma, c_c, c_1, c_mu, chi_n;
} CmaesWeights;

// What the checkpoint holds of one search: this and the arrays behind it, raw, without pointers or padding.
typedef struct CmaesRun {
    int64_t round;                          // generations told, of all restarts
    int64_t evaluations;                    // of all restarts, members that were left out included
    int64_t restart;                        // how many there were
    int64_t first_round, first_evaluations; // of this restart
    int64_t lambda;
    int64_t eigen_evaluations;  // when C was decomposed last
    int64_t failed_generations; // one after the other, without a single fitness
    int64_t stop;               // CmaesStop of the whole search
    int64_t small;              // this restart has a small population (BIPOP)
    int64_t large_restarts;     // doublings of the population so far
    int64_t large_evaluations, small_evaluations, last_large_evaluations; // BIPOP's accounts
    int64_t history_count, history_stride;
    int64_t recent_count; // best values in the ring
    double sigma, sigma_start;
    double generation_best, generation_median, generation_worst; // of the last generation; NaN: there is none
    double best;                                                 // of the whole search
} CmaesRun;

// A run with its arrays, as pointers into the state.
typedef struct CmaesView {
    CmaesRun *run;
    double *mean, *p_c, *p_sigma, *lengths; // [n]; lengths ascending
    double *C, *axes;                       // [n][n]; axes: row k is the axis of lengths[k]
    double *recent;                         // [n_recent] best of the last generations, a ring
    double *history_best, *history_median;  // [CMAES_HISTORY], every history_stride generations
} CmaesView;

// The checkpoint: this, the runs, then the results of the one search whose generation is partly told.
typedef struct CmaesState {
    uint32_t version, dimension;
    int64_t searches, next_id; // next_id: the id after the last one told
    int64_t round, search;     // whose results come next
    int64_t told;              // of the generation that is partly told, members that were run
} CmaesState;

// A generation as it was drawn: made when it is asked for, and made again, to the same bits, if it is gone when it is
// told.
typedef struct CmaesPopulation {
    int64_t search, round; // whose it is; round -1: empty
    int64_t run;           // members that are run
    double *y;             // [lambda][n]
    double *square;        // [lambda] |C^-1/2 y|^2
    bool *left_out;        // [lambda] no draw was allowed by `exclude` or by a derived parameter's range
} CmaesPopulation;

typedef struct Cmaes {
    const Spec *spec;
    const double *settings; // [CMAES_N_OPTIONS]
    int n;                  // coordinates
    int64_t searches, lambda_start, lambda_max, n_recent;
    size_t run_bytes;
    double *spread; // [n] of each coordinate at the start, relative to sigma
    CmaesWeights weights;
    CmaesPopulation *populations; // [n_populations] by search
    int64_t n_populations;
    // where ask is: the next member of this search's generation, and the id that it gets
    int64_t ask_round, ask_search, ask_member, ask_run, ask_id;
    // room for one update
    int64_t *order, *order_room; // [lambda_max] members, best first
    double *fitness, *survived;  // [lambda_max] of a generation
    bool *failed;                // [lambda_max]
    double *vector;              // [n*n + 4 n]
    double *parameter;           // [n_parameters]
    char ending[160];
} Cmaes;

// ---- search_cmaes.c -------------------------------------------------------------------------------------------------

CmaesView cmaes_view(const Search *search, int64_t run);
CmaesState *cmaes_state(const Search *search);
double *cmaes_told(const Search *search); // [told][2] fitness and survived time of members that were run

// ---- search_cmaes_space.c: coordinates ------------------------------------------------------------------------------

// From the strategy's coordinate to one in [0, CMAES_WIDTH], to the parameter's value, and back.
double cmaes_reflected(double x);
double cmaes_value(const Values *values, double coordinate);
double cmaes_coordinate(const Values *values, double value);
// Whether the point x[n] of a search may be evaluated: within the bounds as they are handled, and not dropped by the spec. Fills
// cmaes->parameter.
bool cmaes_point(const Cmaes *cmaes, int64_t search, const double *x);

// ---- search_cmaes_population.c: what is drawn -----------------------------------------------------------------------

void cmaes_weights(const Cmaes *cmaes, int64_t lambda, CmaesWeights *weights);
// The first mean of a restart; the uniform random numbers that belong to it.
void cmaes_draw_start(const Cmaes *cmaes, int64_t search, int64_t round, double *mean);
double cmaes_draw_uniform(const Cmaes *cmaes, int64_t search, int64_t round, int index);
// The generation that the run is in.
CmaesPopulation *cmaes_population(const Search *search, int64_t run);

// ---- search_cmaes_update.c ------------------------------------------------------------------------------------------

// From a generation whose fitness, survived and failed stand in `cmaes`, the next: ranking, mean, paths, covariance,
// step size, decomposition.
void cmaes_update(Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population);
double cmaes_condition(const Cmaes *cmaes, const CmaesView *view);

// ---- search_cmaes_stop.c --------------------------------------------------------------------------------------------

CmaesStop cmaes_stop(const Cmaes *cmaes, const CmaesView *view);

// ---- search_cmaes_restart.c -----------------------------------------------------------------------------------------

int64_t cmaes_greatest_population(const double *settings, int64_t lambda);
// A fresh strategy of `lambda` members from the run's round on.
void cmaes_begin(const Cmaes *cmaes, const CmaesView *view, int64_t search, int64_t lambda, double sigma);
// After a run ended: the next one, or the end of the search.
void cmaes_restart(const Cmaes *cmaes, const CmaesView *view, int64_t search, CmaesStop why);

// ---- search_cmaes_rounds.c: what is told of a generation ------------------------------------------------------------

const Field *cmaes_fields(const Spec *spec, int n, Arena *arena, int *count);
void cmaes_report(Search *search, int64_t run, CmaesStop stop);

#endif
