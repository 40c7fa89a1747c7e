// What the files of the CMA-ES share: its settings, what it remembers of a search, and its steps.
//
// Source: N. Hansen, The CMA evolution strategy: a tutorial, arXiv:1604.00772v2, 2023; equations and table 1 by their
// numbers there. Symbols: n coordinates, lambda members of a generation, mu parents, m mean, sigma step size, C
// covariance, C = B D^2 B' with the rows of `axes` as the columns of B and D in `lengths`, p_c and p_sigma evolution
// paths, y = (x - m)/sigma.
#ifndef HOPSCOTCH_SEARCH_CMAES_H
#define HOPSCOTCH_SEARCH_CMAES_H

#include "race.h"
#include "surrogate.h"

enum {
    CMAES_DIMENSIONS_MAX = 1000,
    CMAES_FULL_MAX = 100, // dimensions beyond which the covariance is separable, unless the spec says otherwise
    CMAES_POPULATION_MAX = 1 << 20,
    CMAES_TRIALS_MAX = 1 << 24, // of a generation: what an ordinal holds
    CMAES_HISTORY = 256,        // entries of the history of best and median
    CMAES_STATE_VERSION = 2
};

#define CMAES_WIDTH 10.0 // every coordinate runs from 0 to this

// Rows of the table of options (options.c).
enum {
    CMAES_POPULATION,
    CMAES_SIGMA,
    CMAES_SEARCHES,
    CMAES_FIRST,
    CMAES_START,
    CMAES_BOUNDS,
    CMAES_WEIGHTS,
    CMAES_COVARIANCE,
    CMAES_UNCERTAINTY,
    CMAES_UNCERTAINTY_MAX,
    CMAES_CONSTRAINTS,
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
    CMAES_SURROGATE,
    CMAES_EVALUATE_LEAST,
    CMAES_N_OPTIONS
};
enum { CMAES_START_RANDOM, CMAES_START_CENTER, CMAES_START_DEFAULT };
enum { CMAES_BOUNDS_TRANSFORM, CMAES_BOUNDS_RESAMPLE, CMAES_BOUNDS_PENALTY };
enum { CMAES_WEIGHTS_ACTIVE, CMAES_WEIGHTS_POSITIVE };
enum { CMAES_COVARIANCE_AUTO, CMAES_COVARIANCE_FULL, CMAES_COVARIANCE_SEPARABLE };
enum { CMAES_CONSTRAINTS_RANKING, CMAES_CONSTRAINTS_LAGRANGIAN };
enum { CMAES_RESTARTS_NONE, CMAES_RESTARTS_IPOP, CMAES_RESTARTS_BIPOP };
enum { CMAES_SURROGATE_NONE, CMAES_SURROGATE_QUADRATIC };
extern const Option cmaes_options[CMAES_N_OPTIONS];

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
    int64_t span_count;   // spans in the ring; of bounds: penalty
    double sigma, sigma_start;
    double generation_best, generation_median,
        generation_worst;           // of the last generation, as it was ranked; NaN: failed
    double best;                    // fitness of the whole search
    double evaluations_each, noise; // of a member; measure of the last generation (uncertainty.c)
    double mean_fitness;            // of the last mean that was run; NaN: none was (lagrangian.c)
} CmaesRun;

// A run with its arrays, as pointers into the state. Those of options that are not in use have no elements.
typedef struct CmaesView {
    CmaesRun *run;
    double *mean, *p_c, *p_sigma;          // [n]
    double *lengths;                       // [n] ascending; separable: of the coordinates, in their order
    double *C;                             // [n][n]; separable: [n], the diagonal
    double *axes;                          // [n][n]: row k is the axis of lengths[k]; separable: none
    double *recent;                        // [n_recent] best of the last generations, a ring
    double *history_best, *history_median; // [CMAES_HISTORY], every history_stride generations
    double *scaling;                       // [n] of coordinates of integers, 1 of the others (integer.c)
    double *penalty, *spans;               // [n] weights; [n_spans] of the fitness of generations, a ring (penalty.c)
    double *multiplier, *stiffness, *constraint; // [n_constraints] (lagrangian.c)
    // of a surrogate (surrogate.c); coordinates are those of cmaes_evaluated
    Surrogate *surrogate;
    double *archive;         // [capacity][n + 1] coordinates and fitness (NaN: failed), newest last
    SurrogateMember *member; // [lambda_max]
    double *model;           // [terms] factors of the full model's terms
    double *center, *scale;  // [n] of the model's coordinates
    double *best;            // [n] the model's best point, in the strategy's own coordinates
    // of members that race (race.c)
    CmaesRace *race;
    CmaesRacer *racer; // [lambda_max]
    double *value;     // [lambda_max][replicates] costs, NaN: failed, or not run
} CmaesView;

// The checkpoint: this, the runs, then the results of the one search whose generation is partly told.
typedef struct CmaesState {
    uint32_t version, dimension;
    SideProgress progress;
} CmaesState;

// A generation as it was drawn: drawn when it is asked for, and again, to the same bits, if it is gone when it is told.
enum { CMAES_SLOT_MEAN = -1 };
typedef struct CmaesPopulation {
    SideDrawn drawn; // slots: the member that a trial evaluates, lambda + member: again, CMAES_SLOT_MEAN: the mean
    int64_t again;   // members that are evaluated again
    bool injected;   // member 0 is the best point of a surrogate's model
    double *y;       // [lambda][n]
    double *square;  // [lambda] |C^-1/2 y|^2
} CmaesPopulation;

typedef struct CmaesScale { // both ends of a range, or their logarithms
    double low, high;
} CmaesScale;

enum { CMAES_ARRAYS = 25 }; // of a run (CmaesView)

typedef struct CmaesRank { // a member and what it is ranked by, as an integer of the same order
    uint64_t key;
    int64_t member;
} CmaesRank;

// Room for a surrogate. A worker that only draws has none but `z`, `terms` and `modelled`.
typedef struct SurrogateRoom {
    double *z, *terms;    // [n], [terms of the full model]
    double *modelled;     // [lambda_max]
    LeastSquares squares; // of the greatest fit
    double *weight;       // [rows of it]
    double *fitness;      // [capacity]
    double *hessian;      // [n*n], then its axes, then room
    double *pair[2];      // [capacity] for Kendall's tau
} SurrogateRoom;

// Another thread has a copy with room of its own (cmaes_worker); `side` is only current in the first one.
typedef struct Cmaes {
    SideBySide side;
    const Spec *spec;
    const double *settings; // [CMAES_N_OPTIONS]
    int n;                  // coordinates
    bool separable, has_integers, penalized, uncertain, lagrangian, surrogate, race;
    double *fixed; // [n_parameters] of the search whose points are drawn: fixed and outer values (cmaes_fix)
    bool drops;    // there are points that may not be run
    int n_constraints;
    int64_t lambda_start, lambda_max, n_recent, n_spans;
    int64_t archive_max;              // points of a surrogate's archive
    int64_t offset[CMAES_ARRAYS + 1]; // of a run's arrays, in doubles
    size_t run_bytes;
    CmaesScale *scale; // [n]
    double *spread;    // [n] of each coordinate at the start, relative to sigma
    CmaesWeights weights;
    CmaesPopulation *populations; // [side.kept] by search
    ThreadTeam *team;             // may help with the update; NULL: no
    // a generation's results, by member: means over the evaluations of each
    double *fitness, *survived; // [lambda_max]; fitness of those that failed: NaN
    double *again;              // [lambda_max] of the second evaluation; uncertain alone
    double *both;               // [2 lambda_max] room for first and second ones
    int64_t *both_order;        // [4 lambda_max] likewise
    double *constraint;         // [lambda_max][n_constraints] <= 0: met
    double *violation;          // [lambda_max] sum of those above 0; NULL without constraints
    double *key;                // [lambda_max] what it is ranked by: fitness, and what bounds and constraints add
    double mean_fitness, *mean_constraint; // of the mean; lagrangian alone
    // room for one update
    int64_t *order;     // [lambda_max + n_spans] members, best first; or indices of other numbers, sorted
    CmaesRank *rank[2]; // [2 lambda_max + n_spans]
    double *vector;     // [n*n + 4 n], separable [6 n]
    double *parameter;  // [n_parameters]
    SurrogateRoom modelling;
} Cmaes;

// ---- cmaes.c --------------------------------------------------------------------------------------------------------

// The state of run `run`, and where its arrays are (cmaes_view).
CmaesRun *cmaes_run(const Search *search, int64_t run);
// The team, if it may help and there are enough members that waking it pays; else NULL.
ThreadTeam *cmaes_team(const Cmaes *cmaes, int64_t lambda);
CmaesView cmaes_view(const Search *search, int64_t run);
int64_t cmaes_usual_population(int n);                           // of n parameters
int64_t cmaes_rounds(const Cmaes *cmaes, const CmaesView *view); // of ask and tell, that were told
// The parameters of a member, as it is evaluated, into cmaes->parameter; cmaes->vector is room.
void cmaes_set_member(const Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population, int64_t member);

// ---- coordinates.c --------------------------------------------------------------------------------------------------

// cmaes_reflected: from the strategy's coordinate to one in [0, CMAES_WIDTH]; cmaes_value: from there to the
// parameter's value; cmaes_unreflected and cmaes_coordinate: back.
double cmaes_reflected(double x);
double cmaes_unreflected(double coordinate);
CmaesScale cmaes_scale(const Values *values);
double cmaes_value(const Values *values, double coordinate);
double cmaes_coordinate(const Values *values, double value);
// The point m + sigma A y of a member.
void cmaes_member_point(const Cmaes *cmaes, const CmaesView *view, const double *y, double *x);
// Before points of a search are drawn.
void cmaes_fix(const Cmaes *cmaes, int64_t search);
// Whether the point x[n] may be evaluated: within the bounds as they are handled, and not dropped by the spec. Fills
// cmaes->parameter.
bool cmaes_point(const Cmaes *cmaes, const double *x);

// ---- start.c: the first mean and covariance, injected points --------------------------------------------------------

// cmaes_start sets the distribution of a fresh run, without its step size, which is cmaes_start_sigma.
void cmaes_start(const Cmaes *cmaes, const CmaesView *view, int64_t search);
double cmaes_start_sigma(const Cmaes *cmaes, const CmaesView *view);
// Points that the first generation has before those that are drawn. Fills y, its square and cmaes->parameter; false:
// the spec drops the point.
int64_t cmaes_injected(const Cmaes *cmaes, const CmaesView *view);
bool cmaes_inject(const Cmaes *cmaes, const CmaesView *view, int64_t member, double *y, double *square);

// ---- population.c: what is drawn ------------------------------------------------------------------------------------

// The weights of a population of `lambda`, and the learning rates that follow from them.
void cmaes_weights(const Cmaes *cmaes, int64_t lambda, CmaesWeights *weights);
// Uniform random numbers that belong to a restart.
double cmaes_draw_uniform(const Cmaes *cmaes, int64_t search, int64_t round, int index);
// Where the generation that a run is in is kept; whether it was drawn. Members of it, and then the list of its trials.
CmaesPopulation *cmaes_population(const Search *search, int64_t run);
void cmaes_draw(const Search *search, void *worker, int64_t run, int64_t first, int64_t end);
void cmaes_list(const Search *search, void *worker, int64_t run);

// ---- rank.c ---------------------------------------------------------------------------------------------------------

// cmaes->order from key, violation, fitness (NaN: failed) and survived.
void cmaes_rank(Cmaes *cmaes, int64_t lambda);
// order[count] of the numbers value[count], ascending, equal ones by their indices; NaN last.
void cmaes_sort(const Cmaes *cmaes, const double *value, int64_t count, int64_t *order);

// ---- covariance.c: full or separable --------------------------------------------------------------------------------

double cmaes_variance(const Cmaes *cmaes, const CmaesView *view, int i);    // C_ii
double cmaes_longest(const Cmaes *cmaes, const CmaesView *view);            // of the lengths
double cmaes_condition(const Cmaes *cmaes, const CmaesView *view);          // number of C
double cmaes_axis(const Cmaes *cmaes, const CmaesView *view, int k, int i); // coordinate i of the axis of lengths[k]
// y = B D z for z standard normal of the key, and |z|^2, which is |C^-1/2 y|^2.
double cmaes_draw_y(const Cmaes *cmaes, const CmaesView *view, const RandomKey *key, double *y);
// out[n] += gain C^-1/2 y = gain B D^-1 B' y.
void cmaes_whiten(const Cmaes *cmaes, const CmaesView *view, const double *y, double gain, double *out);
// cmaes_move_C: rank-one and rank-mu update of C. cmaes_decompose: lengths and axes from C. cmaes_decompose_if_due: the
// same, once enough evaluations have passed.
void cmaes_move_C(const Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population, bool h_sigma);
void cmaes_decompose_if_due(const Cmaes *cmaes, const CmaesView *view);
void cmaes_decompose(const Cmaes *cmaes, const CmaesView *view);

// ---- update.c -------------------------------------------------------------------------------------------------------

// From a generation whose results stand in `cmaes`, the next: ranking, mean, paths, covariance, step size,
// decomposition.
void cmaes_update(Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population);

// ---- what is added to the fitness, or changes the distribution after an update --------------------------------------

void cmaes_keep_margin(const Cmaes *cmaes, const CmaesView *view); // integer.c
// penalty.c. cmaes_penalty_adapt: weights from the mean and the fitness of the generation. cmaes_penalty: what is added
// to a member's key.
void cmaes_penalty_adapt(Cmaes *cmaes, const CmaesView *view);
double cmaes_penalty(const Cmaes *cmaes, const CmaesView *view, const double *y);
// uncertainty.c. cmaes_again: members that are evaluated again. cmaes_measure_noise: how noisy ranks are.
// cmaes_treat_noise: adapts the run to that noise.
int64_t cmaes_again(const Cmaes *cmaes, int64_t lambda);
int64_t cmaes_evaluations_each(const Cmaes *cmaes, const CmaesRun *run);
void cmaes_measure_noise(Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population);
void cmaes_treat_noise(const Cmaes *cmaes, CmaesRun *run);
// lagrangian.c. cmaes_lagrangian_adapt: multipliers from the constraints at the mean. cmaes_lagrangian: what is added
// to a member's key.
void cmaes_lagrangian_adapt(Cmaes *cmaes, const CmaesView *view);
double cmaes_lagrangian(const Cmaes *cmaes, const CmaesView *view, const double *constraint);

// ---- stop.c ---------------------------------------------------------------------------------------------------------

CmaesStop cmaes_stop(const Cmaes *cmaes, const CmaesView *view);   // why the run ends with this generation, if it does
double cmaes_most_generations(const Cmaes *cmaes, int64_t lambda); // of one run of the strategy

// ---- budget.c -------------------------------------------------------------------------------------------------------

void cmaes_bounds(const Search *search, SearchBounds *bounds); // SearchMethod.bounds

// ---- restart.c ------------------------------------------------------------------------------------------------------

int64_t cmaes_greatest_population(const double *settings, int64_t lambda); // of all restarts; lambda: of the first run
// A fresh strategy of `lambda` members from the run's round on.
void cmaes_begin(const Cmaes *cmaes, const CmaesView *view, int64_t search, int64_t lambda, double sigma);
// After a run ended: the next one, or the end of the search.
void cmaes_restart(const Cmaes *cmaes, const CmaesView *view, int64_t search, CmaesStop why);
// Applies the current limits, which an extension may have changed, to the stored state of a search: an ended run may go
// on, and a running one may end; returns why it ends. With the same limits nothing changes. For runs that have told a
// generation.
CmaesStop cmaes_reconsider(const Cmaes *cmaes, const CmaesView *view, int64_t search);

// ---- surrogate.c ----------------------------------------------------------------------------------------------------

Error surrogate_check(const Cmaes *cmaes, const char **key); // settings that can't be combined with it
// Sizes: points of the archive for a population, rows of the greatest fit.
int64_t surrogate_capacity(int64_t n, int64_t lambda);
int64_t surrogate_rows(int64_t n, int64_t capacity);
bool surrogate_is_whole(const Cmaes *cmaes, const CmaesView *view); // its counts are possible
void surrogate_begin(const Cmaes *cmaes, const CmaesView *view);    // a restart
// Trials of a generation's first round, when the archive has `archived` points; most rounds of a generation.
int64_t surrogate_first(const Cmaes *cmaes, int64_t lambda, int64_t archived);
int64_t surrogate_most_rounds(const Cmaes *cmaes, int64_t lambda);
// The list of the trials of the next round of a generation that was drawn.
void surrogate_list(const Cmaes *cmaes, const CmaesView *view, CmaesPopulation *population);
// A round's results, told[trials][told_width]. True: it was the last of its generation, whose fitness stands in
// cmaes->fitness and cmaes->survived.
bool surrogate_tell(Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population, const double *told);
// After the update of a generation: counts start again.
void surrogate_next(const Cmaes *cmaes, const CmaesView *view);
// Member 0 of a generation is the model's best point. False: it has none.
bool surrogate_inject(const Cmaes *cmaes, const CmaesView *view, double *y, double *square);

// ---- race.c: members that run different numbers of replicates -------------------------------------------------------

Error cmaes_race_check(const Cmaes *cmaes, const char **key);             // settings that can't be combined with it
bool cmaes_race_is_whole(const Cmaes *cmaes, const CmaesView *view);      // its counts are possible
void cmaes_race_next(const Cmaes *cmaes, const CmaesView *view);          // a generation begins
void cmaes_race_list(const CmaesView *view, CmaesPopulation *population); // of all members, leaves those that run
// SideMethod.name, of the member that a trial evaluates.
void cmaes_race_name(const Cmaes *cmaes, const CmaesView *view, int64_t slot, Trials *trials, int64_t at);
// A round's results. True: it was the last of its generation, whose fitness stands in cmaes->fitness and
// cmaes->survived.
bool cmaes_race_tell(Cmaes *cmaes, const CmaesView *view, const CmaesPopulation *population, const SideEnd *end);

// ---- surrogate_model.c ----------------------------------------------------------------------------------------------

// Memory of a worker: bytes of all, beside those of one that fits models.
size_t surrogate_bytes(const Cmaes *cmaes);
size_t surrogate_fit_bytes(const Cmaes *cmaes);
void surrogate_take(Cmaes *cmaes, bool learns, Arena *arena);
void surrogate_fit(Cmaes *cmaes, const CmaesView *view);
double surrogate_value(const Cmaes *cmaes, const CmaesView *view, const double *coordinate);
// Where the model is best, into view->best.
void surrogate_find_best(Cmaes *cmaes, const CmaesView *view);

// ---- restore.c: is_whole and reconsider of SideMethod ---------------------------------------------------------------

bool cmaes_is_whole(const Search *search);
int64_t cmaes_reconsider_run(const Search *search, int64_t s);

// ---- rounds.c: what is told of a generation -------------------------------------------------------------------------

// The fields of a row of Rounds. cmaes_report adds a row after the update of a generation and before a restart, or of a
// round of a generation that goes on, `partly` of whose members were run.
const Field *cmaes_fields(const Cmaes *cmaes, Arena *arena, int *count);
extern const ModelColumns cmaes_surrogate_columns;
void cmaes_report(Search *search, const SideEnd *end, int64_t partly, CmaesStop stop);

#endif
