// Shared by tests of articulated robots: one lane stepped by hand from any state of motion, and robots of random shape.
#ifndef HOPSCOTCH_ARTICULATED_HAND_H
#define HOPSCOTCH_ARTICULATED_HAND_H

#include "../../sim/articulated/advance.h"
#include "articulated_case.h"

typedef struct ArticulatedHand {
    ArticulatedCase test;
    LaneGroup group;
    ArticulatedLanes w;
    double t;
} ArticulatedHand;

// At t = 0 of the setup's robot; the parameters of the setup are taken. `hand` must not move in memory.
void hand_start(ArticulatedHand *hand, const ArticulatedSetup *setup);
// Velocities that fit the joints. Of each body rate[3]: of a hinge or slide the first is the joint's rate; of a ball
// the angular velocity against the parent, world axes; of a free body its angular velocity, world axes, with v[3] the
// velocity of its frame's origin.
void hand_move(ArticulatedHand *hand, const double *v, const double (*rate)[3]);
void hand_step(ArticulatedHand *hand);
void hand_end(ArticulatedHand *hand);
double hand_cell(const ArticulatedHand *hand, int body, int cell); // ARTICULATED_X ...
// The coordinate of a body's joint as its pose is now.
double hand_coordinate(const ArticulatedHand *hand, int body);

// Momentum p and angular momentum l about the origin, of all bodies; size: sums of m |v| and of m |x| |v| + |L|.
typedef struct HandMomentum {
    double p[3], l[3], size[2];
} HandMomentum;
HandMomentum hand_momentum(const ArticulatedHand *hand);

// ---- random robots --------------------------------------------------------------------------------------------------

double random_between(uint64_t *state, double low, double high);
void random_turn(uint64_t *state, double *q);                 // unit quaternion
void random_rates(uint64_t *state, int n, double (*rate)[3]); // of n bodies, within +-2
// A free root and n - 1 bodies on random joints: frames, anchors, axes and inertias are random, inertias over six
// decades, masses over three.
Robot random_robot(uint64_t *state, int n, Arena *arena);
void random_robot_feet(Robot *robot, Arena *arena); // a ball of 0.05 m at each body, which touches the ground

// In place of these a shape of another kind at each body; planes, a ball, a capsule, a cylinder and a box as ground,
// which all of them touch with friction of their own.
void random_robot_world(Robot *robot, uint64_t seed, Arena *arena);

enum { RANDOM_STEPS = 60 };
#define RANDOM_DT 2e-3
// A random robot of 6 bodies with a ball at each. It has a hinge, a slide and a ball joint; hinges and slides are
// driven.
Robot random_driven_robot(uint64_t seed, Arena *arena);
// It swings on the ground or above it, pushed, with a gait.
ArticulatedSetup random_setup(const Robot *robot);
// On that terrain from behind its start, with anchored or viscous friction. Before setup_add.
void setup_ground(ArticulatedSetup *setup, TerrainKind terrain, bool anchored);
void setup_order(ArticulatedSetup *setup, bool second); // its steps are of order two
// Its motors hold, swing, or follow a table that changes every 20 ms (ARTICULATED_CONTROL_hold, _gait, _actions).
void setup_control(ArticulatedSetup *setup, int mode, Arena *arena);
void setup_add(ArticulatedSetup *setup, const char *name, double value); // one more parameter
// Encoders, delays, friction beside Coulomb's; motors that are driven by a voltage, which some reach.
void setup_actuators(ArticulatedSetup *setup, bool voltage);

// Rates at t = 0 of a random driven robot's base, hinge, slide and ball.
void setup_rates(ArticulatedSetup *setup);

#endif
