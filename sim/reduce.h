// Reductions (reductions.h) of values that kernels take one by one.
#ifndef HOPSCOTCH_REDUCE_H
#define HOPSCOTCH_REDUCE_H

#include "program.h"
#include "reductions.h"

// The value that is kept of those taken one by one: `kept` before this one, `value`. first: there was none.
HD real reduction_next(int take, mask first, real kept, real value)
{
    switch (take) {
    case REDUCTION_TAKE_FIRST: return select_real(first, value, kept);
    case REDUCTION_TAKE_MEAN: return select_real(first, value, kept + value);
    case REDUCTION_TAKE_RMS: return select_real(first, value * value, kept + value * value);
    case REDUCTION_TAKE_MIN: return select_real(first, value, program_min(kept, value));
    case REDUCTION_TAKE_MAX:
    case REDUCTION_TAKE_SPREAD: return select_real(first, value, program_max(kept, value));
    default: return value;
    }
}

// What is made of `count` values; NaN: there was none. least: of `spread`.
HD real reduction_result(int take, real kept, real count, real least)
{
    const real result = take == REDUCTION_TAKE_MEAN     ? kept / count
                        : take == REDUCTION_TAKE_RMS    ? square_root(kept / count)
                        : take == REDUCTION_TAKE_SPREAD ? kept - least
                                                        : kept;
    return select_real(MASK(count > 0.0), result, math_nan());
}

#endif
