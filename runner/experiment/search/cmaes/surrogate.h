// A quadratic surrogate for the fitness within a CMA-ES (`cmaes: {surrogate: quadratic}`): its model, its archive, and
// how a generation is evaluated in several rounds.
//
// Source: N. Hansen, A global surrogate assisted CMA-ES, GECCO 2019, doi:10.1145/3321707.3321842 (lq-CMA-ES).
#ifndef HOPSCOTCH_SEARCH_SURROGATE_H
#define HOPSCOTCH_SEARCH_SURROGATE_H

#include "../side_by_side.h"

enum { SURROGATE_DIMENSIONS_MAX = 40 };

// Kinds of the model, by their number of terms; the numbers are stored.
typedef enum SurrogateKind {
    SURROGATE_NONE,
    SURROGATE_LINEAR,   // 1, x_i
    SURROGATE_DIAGONAL, // and x_i^2
    SURROGATE_FULL,     // and x_i x_j
    SURROGATE_KINDS
} SurrogateKind;

// What the checkpoint holds of the surrogate of one search, beside its arrays. All members have 8 bytes.
typedef struct Surrogate {
    int64_t rounds;    // told, of all restarts: a generation has one or several
    int64_t evaluated; // members of this generation that were, failed ones included
    int64_t wanted;    // how many of them are to be when the next round is told
    int64_t count;     // points of the archive
    int64_t kind;      // SurrogateKind
    int64_t has_best;  // `best` is a point
    double tau;        // Kendall's, of the last round; NaN: none yet
    double constant;   // of the model, as the fitness minus that of a point, in units of `unit`
    double unit;       // of the fitness
} Surrogate;
enum { SURROGATE_DOUBLES = sizeof(Surrogate) / sizeof(double) };

// A member of a generation that is partly evaluated.
typedef struct SurrogateMember {
    double evaluated; // 1: it was
    double fitness;   // NaN: failed
    double survived;
} SurrogateMember;
enum { SURROGATE_MEMBER_DOUBLES = sizeof(SurrogateMember) / sizeof(double) };

// Linear least squares, A x = b.
typedef struct LeastSquares {
    int64_t rows, columns;
    double *matrix;     // [columns][rows], overwritten
    double *value;      // [rows] b, overwritten
    double *diagonal;   // [columns] room, as the next
    double *transposed; // [columns][columns]
    double *room;       // [columns]
    int64_t *order;     // [columns]
} LeastSquares;

// x[columns] <- of all vectors that minimise |A x - b| the shortest. Returns the rank of A, as far as rounding tells.
int64_t least_squares(LeastSquares *of, double *x);

// Terms of a model beside the constant.
int64_t surrogate_terms(SurrogateKind kind, int64_t n);

#endif
