// What metrics make of the values that an expression has while a lane runs.
#ifndef HOPSCOTCH_REDUCTIONS_H
#define HOPSCOTCH_REDUCTIONS_H

typedef enum SystemReduction {
    SYSTEM_FINAL,
    SYSTEM_MEAN,
    SYSTEM_RMS,
    SYSTEM_INTEGRAL,
    SYSTEM_MIN,
    SYSTEM_MAX,
    SYSTEM_COUNT,  // of an event
    SYSTEM_BEFORE, // at an event, before what it sets
    SYSTEM_AFTER,  //
    SYSTEM_FIRST,  // time at which a condition begins to hold
    SYSTEM_LAST,   // last time at which it held
    SYSTEM_PART    // fraction of the time in which it holds
} SystemReduction;

typedef enum SystemTake {
    SYSTEM_TAKE_FIRST,
    SYSTEM_TAKE_LAST,
    SYSTEM_TAKE_MEAN,
    SYSTEM_TAKE_MIN,
    SYSTEM_TAKE_MAX,
    SYSTEM_TAKE_SPREAD // greatest less least
} SystemTake;

#endif
