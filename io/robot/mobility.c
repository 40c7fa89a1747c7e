// How easily a joint moves where the file has the robot: the diagonal of the inverse of its mass matrix. With each
// joint as a row of degrees of freedom k, S_k how the bodies behind it move (angular velocity, velocity of the origin),
// I_k the inertia of all that hangs on it when what is behind it moves freely:
//     U_k = I_k S_k,   d_k = S_k.U_k + armature,   I of what comes before += I_k - U_k U_k'/d_k
// an effort of 1 at k is u_k = 1, and -S_i.p at each i before it, p += U_i u_i/d_i: together sum of u_i^2/d_i.
// Source: R. Featherstone, Rigid Body Dynamics Algorithms, 2008, 7.3 (the articulated-body algorithm).
#include "robot_file.h"

#include <math.h>
#include <string.h>

enum { MOBILITY_AXES = 6 };

// S and U of a degree of freedom, and 1/d; 0 where nothing hangs on it.
typedef struct MobilityAxis {
    double S[6], U[6], inverse;
} MobilityAxis;

typedef struct MobilityBody {
    RobotFrame frame; // in the world, as if the root were at its origin
    double I[6][6];   // about that origin
    int n_axes;
    MobilityAxis axes[MOBILITY_AXES];
} MobilityBody;

struct RobotMobility {
    const RobotBody *bodies;
    MobilityBody *all; // [n_bodies]
};

// m (c.c 1 - c c') + inertia, m [c], m 1
static void mobility_inertia(const RobotMass *mass, double I[6][6])
{
    static const int component[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    const double m = mass->mass, *c = mass->centre;
    const double across[3][3] = {{0, -c[2], c[1]}, {c[2], 0, -c[0]}, {-c[1], c[0], 0}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            I[i][j] = mass->inertia[component[i][j]] + m * ((i == j ? robot_dot(c, c) : 0.0) - c[i] * c[j]);
            I[i][3 + j] = m * across[i][j];
            I[3 + j][i] = m * across[i][j];
            I[3 + i][3 + j] = i == j ? m : 0.0;
        }
    }
}

static void mobility_turns(MobilityBody *body, const double axis[3], const double at[3])
{
    double *S = body->axes[body->n_axes++].S;
    memcpy(S, axis, 3 * sizeof *S);
    robot_cross(at, axis, S + 3);
}

static void mobility_moves(MobilityBody *body, const double axis[3])
{
    double *S = body->axes[body->n_axes++].S;
    memset(S, 0, 3 * sizeof *S);
    memcpy(S + 3, axis, 3 * sizeof *S);
}

static void mobility_axes(const RobotJoint *joint, MobilityBody *body)
{
    static const double units[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double axis[3], anchor[3];
    robot_rotate(body->frame.q, joint->axis, axis);
    robot_transform(&body->frame, joint->anchor, anchor);
    switch (joint->kind) {
    case ROBOT_SLIDE: mobility_moves(body, axis); break;
    case ROBOT_HINGE: mobility_turns(body, axis, anchor); break;
    case ROBOT_FREE:
        for (int k = 0; k < 3; k++) mobility_moves(body, units[k]);
        for (int k = 0; k < 3; k++) mobility_turns(body, units[k], anchor);
        break;
    case ROBOT_BALL:
        for (int k = 0; k < 3; k++) mobility_turns(body, units[k], anchor);
        break;
    case ROBOT_WELD: break;
    }
}

// What hangs on the axis with it free, instead of I.
static void mobility_release(MobilityAxis *axis, double armature, double I[6][6])
{
    double d = armature;
    for (int i = 0; i < 6; i++) {
        axis->U[i] = 0.0;
        for (int j = 0; j < 6; j++) axis->U[i] += I[i][j] * axis->S[j];
        d += axis->S[i] * axis->U[i];
    }
    axis->inverse = d > 0.0 ? 1.0 / d : 0.0;
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) I[i][j] -= axis->U[i] * axis->U[j] * axis->inverse;
    }
}

const RobotMobility *robot_mobility(const RobotBody *bodies, int n_bodies, Arena *arena)
{
    RobotMobility *mobility = ARENA_NEW(arena, RobotMobility, 1);
    *mobility = (RobotMobility){bodies, ARENA_NEW(arena, MobilityBody, n_bodies)};
    for (int i = 0; i < n_bodies; i++) {
        const RobotFrame none = robot_frame_none();
        MobilityBody *body = &mobility->all[i];
        RobotFrame own = none;
        if (bodies[i].parent >= 0) memcpy(own.p, bodies[i].p, sizeof own.p);
        memcpy(own.q, bodies[i].q, sizeof own.q);
        body->frame = robot_frame_product(bodies[i].parent < 0 ? &none : &mobility->all[bodies[i].parent].frame, &own);
        RobotMass mass = {.mass = bodies[i].mass};
        memcpy(mass.centre, bodies[i].centre, sizeof mass.centre);
        memcpy(mass.inertia, bodies[i].inertia, sizeof mass.inertia);
        mass = robot_mass_in(&body->frame, &mass);
        mobility_inertia(&mass, body->I);
        mobility_axes(&bodies[i].joint, body);
    }
    for (int i = n_bodies - 1; i >= 0; i--) {
        MobilityBody *body = &mobility->all[i];
        const double armature = bodies[i].joint.kind == ROBOT_FREE ? 0.0 : bodies[i].joint.armature;
        for (int k = body->n_axes - 1; k >= 0; k--) mobility_release(&body->axes[k], armature, body->I);
        for (int r = 0; r < 36 && bodies[i].parent >= 0; r++)
            mobility->all[bodies[i].parent].I[r / 6][r % 6] += body->I[r / 6][r % 6];
    }
    return mobility;
}

double robot_reflected_inertia(const RobotMobility *mobility, int body)
{
    double p[6] = {0}, sum = 0.0;
    for (int i = body; i >= 0; i = mobility->bodies[i].parent) {
        const MobilityBody *of = &mobility->all[i];
        for (int k = of->n_axes - 1; k >= 0; k--) {
            const MobilityAxis *axis = &of->axes[k];
            double u = i == body ? 1.0 : 0.0;
            for (int c = 0; c < 6; c++) u -= axis->S[c] * p[c];
            for (int c = 0; c < 6; c++) p[c] += axis->U[c] * u * axis->inverse;
            sum += u * u * axis->inverse;
        }
    }
    return sum > 0.0 ? 1.0 / sum : 0.0;
}
