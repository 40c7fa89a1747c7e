// The way of a foot through the air. Along the ground it goes with the quintic
//     h(s) = 10 s^3 - 15 s^4 + 6 s^5
// whose speed and acceleration are 0 at both ends; in height it rises and sinks with the same curve, each for half the
// time, to the higher of both ends and `lift` above it.
// Source: T. Flash & N. Hogan, The coordination of arm movements, J. Neuroscience 5(7), 1985 (least jerk).
#ifndef HOPSCOTCH_ARTICULATED_FOOT_PATH_H
#define HOPSCOTCH_ARTICULATED_FOOT_PATH_H

#include "../spatial/vector.h"

HD real path_quintic(real s)
{
    const real inner = fused(fused(splat(6.0), s, splat(-15.0)), s, splat(10.0));
    return s * s * s * inner;
}

// Where the foot is for s from 0 (at `from`) to 1 (at `to`).
HD Vector3 path_foot(Vector3 from, Vector3 to, real lift, real s)
{
    const real fraction = path_quintic(s), top = greater_of(from.z, to.z) + lift;
    const mask rises = MASK(value_of(s) < 0.5);
    const real end = select_real(rises, from.z, to.z), away = select_real(rises, 2.0 * s, 2.0 - 2.0 * s);
    return vector3(fused(fraction, to.x - from.x, from.x), fused(fraction, to.y - from.y, from.y),
                   fused(path_quintic(away), top - end, end));
}

#endif
