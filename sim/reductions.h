// What metrics make of the values that an expression has while a lane runs.
#ifndef HOPSCOTCH_REDUCTIONS_H
#define HOPSCOTCH_REDUCTIONS_H

typedef enum Reduction {
    REDUCTION_FINAL,
    REDUCTION_MEAN,
    REDUCTION_RMS,
    REDUCTION_INTEGRAL,
    REDUCTION_MIN,
    REDUCTION_MAX,
    REDUCTION_COUNT,  // of an event
    REDUCTION_BEFORE, // at an event, before what it sets
    REDUCTION_AFTER,  //
    REDUCTION_FIRST,  // time at which a condition begins to hold
    REDUCTION_LAST,   // last time at which it held
    REDUCTION_PART    // fraction of the time in which it holds
} Reduction;

typedef enum ReductionTake {
    REDUCTION_TAKE_FIRST,
    REDUCTION_TAKE_LAST,
    REDUCTION_TAKE_MEAN,
    REDUCTION_TAKE_MIN,
    REDUCTION_TAKE_MAX,
    REDUCTION_TAKE_SPREAD, // greatest less least
    REDUCTION_TAKE_RMS
} ReductionTake;

#endif
