// Forces of the ground on the feet that give a wrench W = (force, torque) about a centre. With A = [I; [r]] of a point
// at r from the centre and its weight g, the least of |f|^2/g + |A f - W|^2/s over all points is
//     f = g A' y,   (sum of g A A' + s I) y = W
// A point that would pull is left out, and what slides is shortened to the friction cone |f_t| <= mu f_n; what then
// lacks of W is asked again of those that push.
// Source: C. Gehring et al., Control of dynamic gaits for a quadrupedal robot, ICRA 2013 (forces by least squares).
#ifndef HOPSCOTCH_ARTICULATED_BALANCE_H
#define HOPSCOTCH_ARTICULATED_BALANCE_H

#include "tree.h"

// Two rounds of asking: y of each.
typedef struct ArticulatedBalance {
    real first[6], second[6], friction; // mu
} ArticulatedBalance;

// A point that may push.
typedef struct ArticulatedHold {
    Vector3 r, n; // from the centre; normal of the ground
    real weight;  // 0: it may not
} ArticulatedHold;

// The matrix without any point; soft: s of the force (1) and of the torque (m^2).
HD void balance_begin(real *a, real soft, real soft_turn)
{
    for (int k = 0; k < PACKED_CELLS; k++) a[k] = splat(0.0);
    for (int i = 0; i < 6; i++) a[packed(i, i)] = i < 3 ? soft : soft_turn;
}

// g A' y
HD Vector3 balance_asked(const ArticulatedHold *hold, const real *y)
{
    const Vector3 turn = vector3(y[3], y[4], y[5]);
    return scaled(hold->weight, added(vector3(y[0], y[1], y[2]), cross3(turn, hold->r)));
}

// The nearest force that pushes within the cone, along the ground shortened.
HD Vector3 balance_in_cone(Vector3 f, Vector3 n, real friction)
{
    const real normal = greater_of(dot3(f, n), splat(0.0));
    const Vector3 across = along(f, -dot3(f, n), n);
    const real length = length3(across), most = friction * normal;
    const mask slides = MASK(value_of(length) > value_of(most));
    const real fraction = select_real(slides, most / select_real(slides, length, splat(1.0)), splat(1.0));
    return along(scaled(fraction, across), normal, n);
}

// The same point in the second round: without weight if it would have pulled in the first.
HD ArticulatedHold balance_kept(const ArticulatedHold *hold, const ArticulatedBalance *balance)
{
    ArticulatedHold kept = *hold;
    const mask pushes = MASK(value_of(dot3(balance_asked(hold, balance->first), hold->n)) > 0.0);
    kept.weight = select_real(pushes, hold->weight, splat(0.0));
    return kept;
}

HD Vector3 balance_first(const ArticulatedHold *hold, const ArticulatedBalance *balance)
{
    return balance_in_cone(balance_asked(hold, balance->first), hold->n, balance->friction);
}

// The force on a point after both rounds.
HD Vector3 balance_force(const ArticulatedHold *hold, const ArticulatedBalance *balance)
{
    const ArticulatedHold kept = balance_kept(hold, balance);
    const Vector3 more = balance_asked(&kept, balance->second);
    return balance_in_cone(added(balance_first(hold, balance), more), hold->n, balance->friction);
}

#endif
