// The motion of a robot by Lagrange's equations in the coordinates of its joints, which knows no bodies that are
// attached to each other: M(q) u' + c(q, u) = tau, by Runge and Kutta's method. For tests of `articulated`.
// The velocities u of a free body are that of its frame's origin in world axes and its angular velocity in its own
// axes; those of a ball are the angular velocity of its body against the parent, in the axes of the body; hinge and
// slide have the rate of their coordinate. Armature adds to the diagonal of M, as in MuJoCo.
// Sources: T. R. Kane & D. A. Levinson, Dynamics, 1985, ch. 4 to 6; R. Featherstone, Rigid Body Dynamics Algorithms,
// 2008.
#ifndef HOPSCOTCH_LAGRANGE_H
#define HOPSCOTCH_LAGRANGE_H

#include "../../sim/articulated/robot.h"

enum { LAGRANGE_BODIES = 12, LAGRANGE_MOST = 6 * LAGRANGE_BODIES, LAGRANGE_STATE = 13 * LAGRANGE_BODIES };

// Coordinates of all bodies, one after the other: of a free body the origin of its frame and its quaternion x, y, z, w;
// of a ball the quaternion of the body against its rest; then all velocities.
typedef struct Lagrange {
    const Robot *robot;
    double gravity;
    int q[LAGRANGE_BODIES], u[LAGRANGE_BODIES]; // where those of each body begin
    int n_q, n_u;
    double y[LAGRANGE_STATE]; // [n_q + n_u]
} Lagrange;

// Where a body's centre of mass is, its velocity, its quaternion and its angular velocity in the world.
typedef struct LagrangePose {
    double x[3], v[3], q[4], w[3];
} LagrangePose;

// At the coordinates of the file, at rest.
void lagrange_start(Lagrange *motion, const Robot *robot, double gravity);
void lagrange_go(Lagrange *motion, double duration, int steps);
void lagrange_poses(const Lagrange *motion, LagrangePose *pose); // [n_bodies]
double lagrange_energy(const Lagrange *motion);                  // with that of springs and armature

#endif
