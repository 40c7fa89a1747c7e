// What the files of NSGA-II share: its settings, what it remembers of a search, and its steps.
//
// Source: K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, "A fast and elitist multiobjective genetic algorithm: NSGA-II",
// IEEE Transactions on Evolutionary Computation 6(2), 2002. Symbols: n genes, N members of a population, K objectives.
// A gene runs from 0 to 1 over the range of its parameter, or over that of its logarithm.
#ifndef HOPSCOTCH_SEARCH_NSGA2_H
#define HOPSCOTCH_SEARCH_NSGA2_H

#include "../side_by_side.h"

#include <math.h>

enum {
    NSGA2_GENES_MAX = 100,
    NSGA2_POPULATION_MAX = 4096,
    NSGA2_SEARCHES_MAX = 1024,
    NSGA2_GENERATIONS_MAX = 10000000,
    NSGA2_STATE_VERSION = 1
};

// Rows of the table of options (nsga2.c).
enum {
    NSGA2_POPULATION,
    NSGA2_SEARCHES,
    NSGA2_FIRST,
    NSGA2_CROSSOVER,
    NSGA2_ETA_CROSSOVER,
    NSGA2_MUTATION,
    NSGA2_ETA_MUTATION,
    NSGA2_PATIENCE,
    NSGA2_STOP_GENERATIONS,
    NSGA2_STOP_TRIALS,
    NSGA2_STOP_STAGNATION,
    NSGA2_STOP_TOLERANCE,
    NSGA2_N_OPTIONS
};

// Why a search ended. The names are stored (nsga2_stop_names).
typedef enum Nsga2Stop {
    NSGA2_GOES_ON,
    NSGA2_AT_GENERATIONS,
    NSGA2_AT_TRIALS,
    NSGA2_AT_STAGNATION,
    NSGA2_AT_ALL_FAILED,
    NSGA2_STOPS
} Nsga2Stop;
extern const char *const nsga2_stop_names[NSGA2_STOPS];

// What the checkpoint holds of one search: this and the arrays behind it, raw, without pointers or padding.
typedef struct Nsga2Run {
    int64_t round;              // generations told
    int64_t evaluations;        // trials told
    int64_t members;            // of the population, <= N
    int64_t stop;               // Nsga2Stop
    int64_t failed_generations; // one after the other, without a single success
    int64_t best_round;         // when the hypervolume grew last
    int64_t has_reference;
    int64_t front;      // members of the first front that did not fail
    double hypervolume; // of the front; NaN: there is none, or it has too many points
    double best;        // greatest hypervolume so far
} Nsga2Run;

// One member: a parent, or a child with its results.
typedef struct Nsga2Member {
    double *gene;      // [n]
    double *objective; // [K]; NaN, all of them: failed
    double *rest;      // [NSGA2_REST]
} Nsga2Member;
enum { NSGA2_SURVIVED, NSGA2_VIOLATION, NSGA2_RANK, NSGA2_CROWDING, NSGA2_REST }; // survived: s

// Ranks after those of fronts: constraint-domination (section VI). A member that violates constraints loses against any
// that meets them all, and wins against any that failed. Among violating members the smaller violation wins, among
// failed ones the longer survived time: both replace the crowding distance, so one comparison serves all.
#define NSGA2_RANK_VIOLATES 1e300
#define NSGA2_RANK_FAILED ((double)INFINITY)

// A run with its arrays, as pointers into the state.
typedef struct Nsga2View {
    Nsga2Run *run;
    double *reference; // [K]
    double *member;    // [N][n + K + NSGA2_REST]
} Nsga2View;

// The checkpoint: this, the runs, then the results of the one search whose generation is partly told.
typedef struct Nsga2State {
    uint32_t version, genes;
    int64_t objectives, population;
    SideProgress progress;
} Nsga2State;

// The children of a generation as they were drawn: drawn when they are asked for, and again, to the same bits, if they
// are gone when they are told.
typedef struct Nsga2Brood {
    SideDrawn drawn; // slots: indices of children
    double *gene;    // [N][n]
} Nsga2Brood;

// How members are ordered after a generation.
typedef struct Nsga2Order {
    double rank, crowding;
    int64_t index;
} Nsga2Order;

// Another thread has a copy with room of its own (nsga2_worker); `side` is only current in the first one.
typedef struct Nsga2 {
    SideBySide side;
    const Spec *spec;
    const double *settings; // [NSGA2_N_OPTIONS]
    int n, objectives;
    int64_t population, member_doubles;
    size_t run_bytes;
    Nsga2Brood *broods; // [side.kept] by search
    // room for one generation
    double *pool;      // [2 N][member_doubles] parents and children
    double *value;     // [2 N][K] of those that did not fail and meet the constraints
    int64_t *feasible; // [2 N] their indices in the pool
    int64_t *rank;     // [2 N]
    double *crowding;  // [2 N]
    Nsga2Order *order; // [2 N]
    void *room;        // of dominance_sort and hypervolume
    double *parameter; // [n_parameters]
} Nsga2;

// ---- nsga2.c --------------------------------------------------------------------------------------------------------

Nsga2View nsga2_view(const Search *search, int64_t run);                      // where the arrays of the run are
Nsga2Member nsga2_member(const Nsga2 *nsga2, double *members, int64_t index); // where those of a member are
bool nsga2_failed(const Nsga2Member *member);                                 // it has no fitness
bool nsga2_feasible(const Nsga2Member *member); // it did not fail, and meets the constraints
// The parameters of genes, into nsga2->parameter; false: the spec drops the point.
bool nsga2_point(const Nsga2 *nsga2, const double *gene);

// ---- vary.c: what is drawn ------------------------------------------------------------------------------------------

// nsga2_brood: the children of the generation that a run is in. nsga2_draw_children draws the children [first, end);
// nsga2_list then lists the children that are run.
Nsga2Brood *nsga2_brood(const Search *search, int64_t run);
void nsga2_draw_children(const Search *search, void *worker, int64_t run, int64_t first, int64_t end);
void nsga2_list(const Search *search, void *worker, int64_t run);

// ---- select.c -------------------------------------------------------------------------------------------------------

// The next population of a run, from its own and the children, of which `count` stand behind it in the pool.
void nsga2_select(Nsga2 *nsga2, const Nsga2View *view, int64_t count);
// Front and hypervolume of the population; the reference point, if there is none yet.
void nsga2_measure(Nsga2 *nsga2, const Nsga2View *view);

// ---- rounds.c: what is told of a generation -------------------------------------------------------------------------

// The fields of a row of Rounds; nsga2_report adds the row of a generation that has ended.
const Field *nsga2_fields(const Spec *spec, Arena *arena, int *count);
void nsga2_report(Search *search, const SideEnd *end, int64_t failed, Nsga2Stop stop);

#endif
