// What the searches along gradients (adam, lbfgs, least_squares) share: many of them side by side, their points,
// derivatives by differences, what they remember, when they end. A method adds its step: one file and one
// DescentMethod.
//
// Coordinates: u in [0, 1] over the range of each parameter, or over that of its logarithm. They stay within the range
// by projection: a coordinate beyond an end becomes the end. A smooth transform would bend the objective, flatten its
// slope near the ends and never reach a best point that lies there; with the projection the differences of a quadratic
// are exact to rounding.
//
// A round of a search is either the centre x with its differences, or points along a line from it.
//   differences: x, then for each coordinate x + h e_i and x - h e_i, both projected; h is the option `difference`.
//       The derivative is (f+ - f-)/(u+ - u-), with an error of h^2 f'''/6 and of rounding/h; at an end of the range
//       it is one-sided. The default h = 1e-4 leaves room for objectives that are only smooth to about 1e-9 of their
//       size, as those of simulations with contacts are.
//   forward differences: x, then for each coordinate x + h e_i, or x - h e_i where the range or the spec ends; h is the
//       option `forward`. The error is h f''/2 and of rounding/h. Where a line has just chosen x, its value is known,
//       and x does not run again, unless the gradients of its replicates are compared (signs.c).
//   Replicates of the points of a round share their random numbers, so noise cancels in differences.
//   adjoint: x alone. When the round is told, its gradient is computed by the model's adjoint (TrialGradient), which
//       runs it once more, so that nothing more than the fitness of a trial is stored: by the threads, or by a GPU
//       where enough rounds end together.
//   tangent: the same by runs of x with dual numbers, along some coordinates each.
// Failed points: where one of the two failed, the centre replaces it; where that is not possible the derivative is
// missing: it counts as 0, and the round says how many there were.
#ifndef HOPSCOTCH_SEARCH_DESCENT_H
#define HOPSCOTCH_SEARCH_DESCENT_H

#include "../side_by_side.h"
#include "../sobol_sequence.h"

enum {
    DESCENT_SEARCHES_MAX = 4096,
    DESCENT_ITERATIONS_MAX = 100000,
    DESCENT_RESTARTS_MAX = 16,
    DESCENT_LINE_MAX = 64,
    DESCENT_TOLD = 2, // doubles of a trial that are told, before the values of its replicates
    DESCENT_STATE_VERSION = 1
};

// The first rows of a method's table of options; its own follow.
enum {
    DESCENT_SEARCHES,
    DESCENT_FIRST,
    DESCENT_START,
    DESCENT_GRADIENT,
    DESCENT_DIFFERENCE,
    DESCENT_FORWARD,
    DESCENT_RATE,
    DESCENT_RESTARTS,
    DESCENT_STOP_ITERATIONS,
    DESCENT_STOP_TRIALS,
    DESCENT_STOP_TARGET,
    DESCENT_STOP_GRADIENT,
    DESCENT_STOP_STEP,
    DESCENT_STOP_STAGNATION,
    DESCENT_OPTIONS
};
// Those of adam and lbfgs, then of lbfgs alone, of least_squares alone.
enum { DESCENT_PENALTY = DESCENT_OPTIONS, DESCENT_PENALTY_OPTIONS };
enum { LBFGS_MEMORY = DESCENT_PENALTY_OPTIONS, LBFGS_LINE, LBFGS_N_OPTIONS };
enum { SQUARES_DECREASE = DESCENT_OPTIONS, SQUARES_LINE, SQUARES_N_OPTIONS };
enum { DESCENT_BY_DIFFERENCES, DESCENT_BY_ADJOINT, DESCENT_BY_TANGENT };
enum { DESCENT_START_SOBOL, DESCENT_START_RANDOM, DESCENT_START_CENTER, DESCENT_START_DEFAULT };

// clang-format off
#define DESCENT_OPTION_ROWS(method, gradient, gradient_doc, rate_name, rate, rate_doc, iterations) \
    {method ".searches", OPTION_INTEGER, "1", 1, 1, DESCENT_SEARCHES_MAX, NULL, \
     "number of independent searches, which run side by side"}, \
    {method ".first", OPTION_INTEGER, "1", 0, 0, 60000, NULL, \
     "number of the first search: what a search does depends on the seed and on its number alone"}, \
    {method ".start", OPTION_CHOICE, "", 0, 0, 3, "sobol|random|center|default", \
     "where searches start. sobol, random: in the middle 80 % of the ranges, evenly or at random; center, default: " \
     "the first search in their middle or at the model's defaults, the others as sobol. Restarts are as sobol, or " \
     "random"}, \
    {method ".gradient", OPTION_CHOICE, "", gradient, 0, 2, "differences|adjoint|tangent", gradient_doc}, \
    {method ".difference", OPTION_NUMBER, "1", 1e-4, 1e-10, 0.1, NULL, \
     "step of a difference, as a fraction of each parameter's range (or of the range of its logarithm)"}, \
    {method ".forward", OPTION_NUMBER, "1", 0, 1e-12, 0.1, "none", \
     "step of forward differences, as a fraction of each range: one trial per parameter instead of two. 1e-8 suits a " \
     "fitness that is exact to rounding. none: central differences"}, \
    {method "." rate_name, OPTION_NUMBER, "1", rate, 1e-9, 1.0, NULL, rate_doc}, \
    {method ".restarts", OPTION_INTEGER, "1", 0, 0, DESCENT_RESTARTS_MAX, NULL, \
     "how often a search that has ended starts again, elsewhere"}, \
    {method ".stop.iterations", OPTION_INTEGER, "1", iterations, 1, DESCENT_ITERATIONS_MAX, NULL, "of one restart"}, \
    {method ".stop.trials", OPTION_INTEGER, "1", 0, 1, 1e15, "none", \
     "trials of one search, all restarts together, in whole rounds; --extend may raise it"}, \
    {method ".stop.target", OPTION_NUMBER, "", -(double)INFINITY, -(double)INFINITY, (double)INFINITY, "none", \
     "a search ends when its best fitness is at least this good"}, \
    {method ".stop.gradient", OPTION_NUMBER, "", 0, 0, (double)INFINITY, NULL, \
     "norm of the gradient, in fitness per range, without what points out of the ranges; 0: it vanishes"}, \
    {method ".stop.step", OPTION_NUMBER, "1", 1e-12, 0, 1, NULL, "length of a step, as a fraction of the ranges"}, \
    {method ".stop.stagnation", OPTION_INTEGER, "1", 0, 1, 1e7, "none", \
     "a search ends when its best cost has not fallen for this number of iterations"}
#define DESCENT_GRADIENT_DOC \
    "where derivatives come from. differences: central ones, from two trials per parameter; adjoint: going back " \
    "through the steps of the run (articulated, equations), from one trial for all parameters; tangent: runs of one " \
    "trial with dual numbers, along eight parameters each (these, hopper and rigid; of equations along one)"
#define DESCENT_PENALTY_ROW(method) \
    {method ".penalty", OPTION_NUMBER, "", 100, 0, 1e12, NULL, \
     "weight of constraints: what is minimised is the cost plus this times the squares of what is above 0"}
// clang-format on

// Why a restart of a search ended. The names are stored (descent_stop_names).
typedef enum DescentStop {
    DESCENT_GOES_ON,
    DESCENT_AT_TARGET,
    DESCENT_AT_TRIALS,
    DESCENT_AT_ALL_FAILED,
    DESCENT_AT_GRADIENT,
    DESCENT_AT_LINE_SEARCH,
    DESCENT_AT_STEP,
    DESCENT_AT_STAGNATION,
    DESCENT_AT_ITERATIONS,
    DESCENT_AT_DECREASE,
    DESCENT_STOPS
} DescentStop;
extern const char *const descent_stop_names[DESCENT_STOPS];

// What the checkpoint holds of one search: this and the arrays behind it, raw, without pointers or padding. Costs are
// those of spec_cost; `value`s include the penalty of constraints.
typedef struct DescentRun {
    int64_t round, evaluations; // told, of all restarts
    int64_t stop;               // DescentStop of the whole search
    // of this restart, from here on
    int64_t restart, first_round;
    int64_t iteration;      // steps, or attempts at one
    int64_t on_line;        // the next round is points along a line; 0: differences
    int64_t failed_rounds;  // one after the other, without a single derivative
    int64_t missing;        // derivatives of the last differences
    int64_t has_valid;      // `valid` holds a point
    int64_t best_iteration; // when its best value fell last
    int64_t pairs, shorter; // lbfgs: pairs that are kept; least_squares: 1: the sum of squares hardly falls. Lines one
                            // after the other without a better point
    double best;            // cost of the whole search, of trials that meet the constraints; NaN: none
    double least;           // best value of this restart; NaN: none
    double value;           // at the centre; NaN: it failed
    double gradient;        // norm of the projected one; NaN: none yet
    double step;            // length of the last one; NaN: none yet
    double scale;           // lbfgs: of the line; least_squares: damping
} DescentRun;

// A run with its arrays, as pointers into the state.
typedef struct DescentView {
    DescentRun *run;
    double *x;     // [n] centre
    double *slope; // [n] df/du there; 0 where it is missing
    double *valid; // [n] the last centre that did not fail and had a derivative
    double *own;   // the method's
} DescentView;

// The checkpoint: this, the runs, then the results of the one search whose round is partly told.
typedef struct DescentState {
    uint32_t version, dimension;
    SideProgress progress;
} DescentState;

struct DescentMethod;

// Of least squares (least_squares.c). The threads share it; room is each thread's own.
typedef struct DescentSquares {
    int64_t count;    // residuals
    int at_once;      // centres whose derivatives are computed together
    int runs;         // of a centre, each along some neighbouring parameters
    double *residual; // [at_once][runs][count]
    double *column;   // [at_once][n][count]
    int64_t *there;   // [at_once][runs] how many there are; 0: the run failed
    double *ready;    // [searches][squares_doubles] of centres
} DescentSquares;
typedef struct DescentSquaresRoom {
    TrialResiduals *trial; // NULL: derivatives are by differences
    double *parameter;     // [n_parameters]
    double *matrix;        // [n][n]
    double *step, *slope;  // [n]
    int *free;             // [n]
    int8_t *end;           // [n] -1, 1: at the lower, upper end of the range; 0: free
    double *each;          // [n_residuals][n] by differences
    const double *told;    // of the round that ends
} DescentSquaresRoom;

// Centres whose gradients are computed at once.
typedef struct DescentGroup {
    int at_once;       // at most
    int32_t *search;   // [at_once] their numbers
    uint64_t *ordinal; // [..]
    double *parameter; // [..][n_parameters]
    double *slope;     // [..][n]
    double *each;      // [..][replicates][n]; NULL: not looked at
    double *growth;    // [..]
} DescentGroup;

// Another thread has a copy with room of its own (descent_worker); `side` is only current in the first one.
typedef struct Descent {
    SideBySide side;
    const struct DescentMethod *method;
    const Spec *spec;
    const double *settings;
    int n;
    size_t run_bytes;
    const Sobol *sobol; // NULL: too many parameters
    SideDrawn *points;  // [side.kept] rounds by search. Points are computed from the state, the same bits each time
    // room for one round
    double *value;     // [trials_max] by point; NaN: failed or left out
    double *replicate; // [trials_max] the same of one replicate
    double *vector;    // [3 n]
    bool *counts;      // [n] whether a derivative is there and no end of the range holds it
    double *each;      // [replicates][n] derivatives of each; NaN: missing; NULL: they are not looked at
    bool took;         // the round took a gradient
    GradientSigns signs;
    double *parameter; // [n_parameters]
    // by the model; NULL: by differences
    TrialGradient *gradient;
    const int *searched;     // [n] parameters of the axes
    int64_t *centres;        // [side.searches] searches whose gradients are computed together
    DescentGroup group;      // that is computed at once
    struct Descent *on_gpu;  // with room of its own, for many centres at once; NULL: there is none
    DescentSquares *squares; // NULL: the method has no residuals
    DescentSquaresRoom room;
    // of all threads
    double *ready;              // [side.searches][n] slopes
    GradientSigns *ready_signs; // [side.searches]
    int64_t *ready_round;       // [side.searches] the round whose they are; -1: none
} Descent;

bool descent_by_model(const Descent *descent); // by its adjoint or tangent
// Whether the value at the centre is that of the line that chose it, so that it does not run again.
bool descent_knows_centre(const Descent *descent, const DescentRun *run);
int64_t descent_around(const Descent *descent); // points of a round that is not a line

// The step of a method. `own` holds what it remembers between rounds.
typedef struct DescentMethod {
    bool squares;                                                   // of residuals
    const char *searches, *gradient, *forward;                      // keys of its options in the spec
    int64_t (*own)(const Descent *descent);                         // doubles of it
    int64_t (*line)(const Descent *descent);                        // points of a line; 0: it has none
    int64_t (*pairs)(const Descent *descent);                       // that it keeps at most
    void (*begin)(const Descent *descent, const DescentView *view); // a restart, at view->x
    void (*learn)(const Descent *descent, const DescentView *view); // from value and slope at x, the next x
    // Point of a line, and what follows from their values.
    void (*line_point)(const Descent *descent, const DescentView *view, int64_t index, double *x);
    void (*line_learn)(const Descent *descent, const DescentView *view);
    DescentStop (*stop)(const Descent *descent, const DescentRun *run); // its own reasons
    double (*rate)(const Descent *descent, const DescentRun *run);      // for the record: of the last step
} DescentMethod;

// ---- descent.c: what every SearchMethod of the family has in common -------------------------------------------------

DescentView descent_view(const Search *search, int64_t run);  // where the arrays of the run are
SideDrawn *descent_points(const Search *search, int64_t run); // the points of the round that the run is in
// check, init and bounds of SearchMethod.
Error descent_check(const Spec *spec, const DescentMethod *method, const char **key);
Error descent_init(const Spec *spec, const DescentMethod *method, Arena *arena, Search *search);
void descent_bounds(const Search *search, SearchBounds *bounds);
// Options that only limit how long a search goes on; with restarts those of the whole search.
bool descent_budget(const Spec *spec, const char *option);

// ---- points.c -------------------------------------------------------------------------------------------------------

// The parameters of a point into descent->parameter; false: the spec drops it.
bool descent_point(const Descent *descent, const double *x);
// Where a restart begins.
void descent_start(const Descent *descent, int64_t search, const DescentRun *run, double *x);
// The points of the run's next round: their number, and x[n] of one.
int64_t descent_members(const Descent *descent, const DescentRun *run);
void descent_member(const Descent *descent, const DescentView *view, int64_t member, double *x);
// Coordinate i of the point of a forward difference from x[n].
double descent_forward(const Descent *descent, const double *x, int i);
// Moves a point towards an allowed one, by halves, until the spec allows it.
void descent_retreat(const Descent *descent, const double *allowed, double *x);

// ---- slope.c --------------------------------------------------------------------------------------------------------

// Value and slope at the centre. descent_differentiate: from the values of its differences. descent_reverse: from the
// model's gradient, for a round of search s.
void descent_differentiate(Descent *descent, const DescentView *view);
void descent_reverse(Descent *descent, const DescentView *view, int64_t s);
// The gradients at the centres of searches whose rounds end together, and what their replicates say, for
// descent_reverse. Error (interrupted): asked to leave (Search.leaves).
Error descent_reverse_all(Search *search, const SideTurn *turns, int64_t count);
GradientMeans descent_means(const Descent *descent, AdjointDevice *device);
// The number of lanes from which on a GPU is faster than this number of threads.
int64_t descent_gpu_least(int threads);
int64_t descent_lanes(const Descent *descent); // that one gradient takes on it
// gradient_lanes, gradient_bytes and use_gpu of SearchMethod.
int64_t descent_gradient_lanes(const Search *search, int threads);
size_t descent_gradient_bytes(const Search *search);
void descent_use_gpu(Search *search, AdjointDevice *device, Arena *arena);
// Whether coordinate i counts at descent->parameter; the slope of the run from slope[n], of which some may be missing.
bool descent_counts(const Descent *descent, int axis);
void descent_take(Descent *descent, const DescentView *view, const double *slope);
// Whether a step against the slope would leave the range at coordinate i.
bool descent_is_held(const DescentView *view, int i);
double descent_norm(const double *vector, int n);
// By coordinate i at x[n], from the values of the points of the round around it. NaN: too many failed.
double descent_derivative(const Descent *descent, const double *x, const double *value, int i);

// ---- squares.c ------------------------------------------------------------------------------------------------------

// Of a sum of squares S = r'r by coordinates u: J'J below and on the diagonal by rows, J'r, S.
typedef struct SquaresView {
    double *normal;  // [n (n + 1)/2]
    double *slope;   // [n]
    double *squares; // [1]
} SquaresView;
int64_t squares_doubles(int n);
SquaresView squares_view(double *at, int n);
Error squares_check(const Spec *spec, const char **key);
bool squares_take_residuals(const Spec *spec); // SearchMethod.takes_residuals
size_t squares_room_bytes(const Descent *descent);
void squares_take_room(Descent *descent, Arena *arena);
void squares_take(Descent *descent, Arena *arena); // what the threads share
// As descent_reverse_all and descent_reverse, by the tangent; and descent_differentiate.
Error squares_reverse_all(Search *search, const int64_t *centres, int64_t count);
void squares_reverse(Descent *descent, const DescentView *view, int64_t s);
void squares_differentiate(Descent *descent, const DescentView *view, const SideDrawn *points, const double *told);

// ---- signs.c --------------------------------------------------------------------------------------------------------

bool descent_sees_replicates(const Spec *spec); // gradients of single replicates are compared
int64_t descent_searches(const Spec *spec);     // SearchMethod.searches
bool descent_takes_values(const Spec *spec);    // SearchMethod.takes_values
// The slope of each replicate at the centre, from the values of its differences.
void descent_differentiate_each(Descent *descent, const DescentView *view, const SideDrawn *points, const double *told);
void descent_signs(const Descent *descent, GradientSigns *signs); // spread and cosine, if they are known

// ---- stop.c ---------------------------------------------------------------------------------------------------------

DescentStop descent_stop(const Descent *descent, const DescentRun *run); // why the run ends with this round, if it does
// Begins a restart of the search.
void descent_begin(const Descent *descent, const DescentView *view, int64_t search);
// After a restart ended: the next one, or the end of the search.
void descent_restart(const Descent *descent, const DescentView *view, int64_t search, DescentStop why);

// ---- rounds.c: what is told of a round ------------------------------------------------------------------------------

enum { DESCENT_GRADIENT_COLUMN = 9 };
// The fields of a row of Rounds; descent_report adds the row of a round that has ended.
const Field *descent_fields(const Spec *spec, Arena *arena, int *count);
void descent_report(Search *search, const Descent *descent, const SideEnd *end, int64_t failed, DescentStop stop);

#endif
