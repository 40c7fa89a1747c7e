// Parts of a rollout with dual numbers, for the dot-product tests of their adjoints: <ybar, J xdot> of a part y(x).
#ifndef ARTICULATED_PARTS_H
#define ARTICULATED_PARTS_H

#include "../../sim/articulated/articulated.h"

typedef enum Part {
    PART_JOINT,    // lambda' (b - A u') of the rows of a body's joint, and its motor's power
    PART_CONTACT,  // the same of a body's contacts, and what metrics take from them
    PART_GRIPS,    // springs of anchored friction after the step
    PART_INERTIA,  // the same of a body's own block
    PART_SOLVE,    // u' of all bodies, by what stands in b
    PART_RATES,    // power by u'
    PART_MOVE,     // the new state by u' and the old one
    PART_STEP,     // a whole step
    PART_TWO,      // the same of order two
    PART_BEGIN,    // the state at t = 0 and the bodies' own numbers
    PART_COMMANDS, // of a step, and the squares of their changes
    PART_SUMS,     // what the sums take from a new state
    PART_METRICS,  // metrics by sums and last state
    PARTS
} Part;

// A lane, the direction in which it changes, and the weights of results.
typedef struct PartLane {
    const Configured *configured;
    const double *parameter, *parameter_dot; // [n_parameters]
    const double *cell, *cell_dot;           // [n_work]
    const double *weight;                    // [n_work] of cells afterwards; lambda of bodies is in ARTICULATED_U
    const double *metric_weight;             // [n_metrics]
    double power, force, slid;               // weights of the power, and of the touch
    int body;
    int64_t tick;
} PartLane;

// The derivative of the weighed results along the direction. value: of the weighed results.
double part_slope(Part part, const PartLane *lane, Arena *arena, double *value);

// Functions of vector.h.
typedef enum Spatial {
    SPATIAL_TURNED,    // R v of R[9], v[3]
    SPATIAL_TIMES,     // p q of p[4], q[4]
    SPATIAL_NORMAL,    // of q[4]
    SPATIAL_ROTATION,  // columns[9] of q[4]
    SPATIAL_LOGARITHM, // of q[4]
    SPATIAL_ABOUT,     // the turn about axis[3] by an angle
    SPATIAL_QUADRATIC, // a' R I R' b of R[9], I[6]; a, b: the weights
    SPATIALS
} Spatial;
enum { SPATIAL_MOST = 16 };
// ybar' J xdot
double spatial_slope(Spatial function, const double *x, const double *x_dot, const double *y_weight);

#endif
