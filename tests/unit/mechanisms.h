// Random mechanisms of one degree of freedom: loops of hinges that move although their rows follow from others, and a
// reference for their motion in one coordinate, which knows no rows.
#ifndef HOPSCOTCH_MECHANISMS_H
#define HOPSCOTCH_MECHANISMS_H

#include "../test.h"

typedef enum MechanismKind {
    MECHANISM_BENNETT,   // 4 hinges: a / sin(alpha) = b / sin(beta), opposite links equal
    MECHANISM_TRIHEDRAL, // 6: Bricard's, neighbouring axes perpendicular, sums of squares of odd and even links equal
    MECHANISM_SYMMETRIC, // 6: Bricard's with an axis of symmetry, opposite links equal
    MECHANISM_PLANAR,    // 4 parallel axes
    MECHANISM_SPHERICAL, // 4 axes through one point
    MECHANISM_DOOR,      // one body on three hinges of one axis
    MECHANISM_KINDS
} MechanismKind;
enum { MECHANISM_JOINTS = 6 };

extern const char *const mechanism_names[MECHANISM_KINDS];

// Link k reaches from joint k to joint k + 1; the last is the ground. Denavit and Hartenberg's parameters: the frame of
// joint k + 1 is that of joint k turned by its angle about z, shifted by offset along z and length along x, and turned
// by twist about x. J. Denavit & R. S. Hartenberg, J. Appl. Mech. 22, 1955.
typedef struct Mechanism {
    MechanismKind kind;
    int n_joints, n_links; // number of moving links
    double length[MECHANISM_JOINTS], offset[MECHANISM_JOINTS], twist[MECHANISM_JOINTS];
    double base[12];                // frame of the first joint: rows of the rotation, and the origin
    double along[MECHANISM_JOINTS]; // position of the hinges along their axes (m); for a door all on the first axis
    double angle[MECHANISM_JOINTS]; // at the start
    double tangent[MECHANISM_JOINTS];
    double speed;                        // rad/s along the tangent
    double mass[MECHANISM_JOINTS];       // of the moving links
    double inertia[MECHANISM_JOINTS][6]; // xx, yy, zz, xy, xz, yz in world axes at the start
} Mechanism;

// Centres and velocities of the links at a time. least: how near the motion came to a pose from which more than one
// motion continues: the smallest singular value of the closure's rows, without the zero one, over the greatest.
typedef struct MechanismMotion {
    double p[MECHANISM_JOINTS][3], v[MECHANISM_JOINTS][3];
    double least, energy; // J: kinetic and of gravity
    bool exact;           // the integrator met its tolerance
} MechanismMotion;

// Draws a mechanism of the kind with all numbers from `state`; it is closed, and not near a singular pose at the start.
void mechanism_draw(MechanismKind kind, uint64_t *state, Mechanism *out);
// The mechanism as `world: {...}` of a spec.
const char *mechanism_world(const Mechanism *mechanism, Arena *arena);
// Moves the links for `duration` (s) with that acceleration of gravity.
void mechanism_move(const Mechanism *mechanism, double gravity, double duration, MechanismMotion *out);

#endif
