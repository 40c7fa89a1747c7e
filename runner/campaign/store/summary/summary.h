// Sums over all trials of a campaign that keeps rows of some (`record.rows`): summary.c adds the trials of a batch,
// summary_axes.c divides the searched parameters into bins, summary_tables.c keeps the sums in campaign.db.
#ifndef HOPSCOTCH_SUMMARY_H
#define HOPSCOTCH_SUMMARY_H

#include "../../campaign.h"

enum {
    SUMMARY_AXES = 16,   // searched parameters that have bins: the first ones
    SUMMARY_LEVELS = 64, // most values of an axis that has a bin for each
    SUMMARY_RANGE = 32,  // bins of all other axes
    SUMMARY_PAIR = 32,
    SUMMARY_PAIR_OF_MANY = 16, // bins of an axis in a pair; if there are more than SUMMARY_FEW axes
    SUMMARY_FEW = 8,
    SUMMARY_MANTISSA = 6, // bits of the mantissa that a histogram distinguishes
};

// A column of trials. Its histogram has one bin for each sign, exponent and leading SUMMARY_MANTISSA bits of the
// mantissa: counts[sign and exponent][mantissa], NULL where there is none yet.
typedef struct SummaryColumn {
    const char *name;
    int64_t values, missing; // trials with a finite number, and without
    double least, greatest;  // NaN: there is no number
    double sum;              // in the order of ids
    int64_t **counts;        // [SUMMARY_EXPONENTS]
} SummaryColumn;
enum { SUMMARY_EXPONENTS = 1 << 12, SUMMARY_FRACTIONS = 1 << SUMMARY_MANTISSA };

// Bin i of an axis holds edge[i-1] <= x < edge[i]; the outer ones hold all beyond them too.
typedef struct SummaryAxis {
    const char *name;
    int column;                                       // among the searched parameters
    int bins;                                         // <= SUMMARY_LEVELS
    double edge[SUMMARY_LEVELS];                      // [bins - 1]
    double low[SUMMARY_LEVELS], high[SUMMARY_LEVELS]; // [bins] the values that a bin is for
} SummaryAxis;

// Trials in one bin of an axis or of a pair of axes.
typedef struct SummaryBin {
    int64_t trials, failures; // failures: with a failed replicate
    int64_t values;           // trials with a finite fitness
    double sum;               // of the fitness, in the order of ids
    double best;              // fitness of the best that meets the constraints; NaN: none
    int64_t best_trial;       // -1: none
} SummaryBin;

typedef struct SummaryGrid {
    int x, y;         // axes; y -1: one axis
    int n_x, n_y;     // bins
    SummaryBin *bins; // [n_x][n_y]
} SummaryGrid;

typedef struct Summary {
    const Spec *spec;
    int64_t trials;
    int64_t *failures; // [n_failures + 1] by code; the last: unknown
    SummaryColumn *columns;
    int n_columns;
    SummaryAxis *axes; // [n_axes]
    int n_axes;
    SummaryGrid *grids; // [n_grids] the axes, then the pairs
    int n_grids;
    Arena *arena; // of new bins of histograms
} Summary;

// Empty sums.
void summary_take(const Spec *spec, Arena *arena, Summary *summary);
// Adds all rows, which follow those added before by their ids. The bits do not depend on how trials are divided into
// calls.
void summary_add(Summary *summary, const TrialRows *rows);

// The bins of the searched parameters (summary_axes.c): axes[SUMMARY_AXES]; gives their number.
int summary_axes(const Spec *spec, SummaryAxis *axes, Arena *arena);
int summary_bin(const SummaryAxis *axis, double x);
// Whether both specs divide their parameters into the same bins; else *axis: the first parameter that differs.
bool summary_same_axes(const Spec *a, const Spec *b, Arena *arena, const char **axis);

// The bin of a histogram: sign and exponent, mantissa; and its least and greatest value.
void summary_find_bin(double value, int *exponent, int *fraction);
void summary_bounds(int exponent, int fraction, double *low, double *high);

// The tables (summary_tables.c): created with the campaign, read when it is opened, written in the transaction of a
// batch.
Error summary_make_tables(Database *database);
Error summary_make(Database *database, const Summary *summary);
Error summary_read(Database *database, Summary *summary);
Error summary_write(Database *database, const Summary *summary);

#endif
