// See lagrange.h.
#include "lagrange.h"

#include <math.h>
#include <string.h>

// ---- vectors --------------------------------------------------------------------------------------------------------

static void cross(const double *a, const double *b, double *c)
{
    const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    c[0] = x;
    c[1] = y;
    c[2] = z;
}
static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static void add(double *a, double s, const double *b)
{
    for (int k = 0; k < 3; k++) a[k] += s * b[k];
}
// a += w x r
static void add_cross(double *a, const double *w, const double *r)
{
    double c[3];
    cross(w, r, c);
    add(a, 1.0, c);
}
static void quaternion_product(const double *p, const double *q, double *r)
{
    const double x = p[3] * q[0] + p[0] * q[3] + p[1] * q[2] - p[2] * q[1];
    const double y = p[3] * q[1] - p[0] * q[2] + p[1] * q[3] + p[2] * q[0];
    const double z = p[3] * q[2] + p[0] * q[1] - p[1] * q[0] + p[2] * q[3];
    r[3] = p[3] * q[3] - p[0] * q[0] - p[1] * q[1] - p[2] * q[2];
    r[0] = x;
    r[1] = y;
    r[2] = z;
}
// out = R(q) v
static void turn(const double *q, const double *v, double *out)
{
    double t[3], s[3];
    cross(q, v, t);
    for (int k = 0; k < 3; k++) t[k] *= 2.0;
    cross(q, t, s);
    for (int k = 0; k < 3; k++) out[k] = v[k] + q[3] * t[k] + s[k];
}
static void turn_back(const double *q, const double *v, double *out)
{
    const double back[4] = {-q[0], -q[1], -q[2], q[3]};
    turn(back, v, out);
}

// ---- the tree -------------------------------------------------------------------------------------------------------

// A body in the world: frame's origin x and quaternion q, velocities, accelerations where all u' are 0, and how x moves
// and the body turns by each u.
typedef struct Link {
    double x[3], q[4], v[3], w[3], a[3], alpha[3];
    double by_v[LAGRANGE_MOST][3], by_w[LAGRANGE_MOST][3];
} Link;

static int velocities(RobotJointKind kind)
{
    static const int count[] = {
        [ROBOT_FREE] = 6, [ROBOT_HINGE] = 1, [ROBOT_SLIDE] = 1, [ROBOT_BALL] = 3, [ROBOT_WELD] = 0};
    return count[kind];
}

static void link_free(const Lagrange *motion, int body, const double *y, Link *link)
{
    const double *q = y + motion->q[body], *u = y + motion->n_q + motion->u[body];
    memset(link, 0, sizeof *link);
    memcpy(link->x, q, sizeof link->x);
    memcpy(link->q, q + 3, sizeof link->q);
    memcpy(link->v, u, sizeof link->v);
    turn(link->q, u + 3, link->w);
    for (int k = 0; k < 3; k++) {
        const double axis[3] = {k == 0, k == 1, k == 2};
        link->by_v[motion->u[body] + k][k] = 1.0;
        turn(link->q, axis, link->by_w[motion->u[body] + 3 + k]);
    }
}

// A point at r from the origin of the link's frame, all of it but where it is: moves `to` there.
static void link_carry(const Link *link, int n_u, const double *r, Link *to)
{
    double inner[3];
    add_cross(to->v, link->w, r);
    cross(link->w, r, inner);
    add_cross(to->a, link->alpha, r);
    add_cross(to->a, link->w, inner);
    for (int j = 0; j < n_u; j++) add_cross(to->by_v[j], link->by_w[j], r);
}

// The joint's part of turns: axes[n] in the world with their rates; nothing moves yet.
static void link_turn(int first, int n, double (*axes)[3], const double *rate, Link *link)
{
    double relative[3] = {0, 0, 0};
    for (int k = 0; k < n; k++) {
        add(relative, rate[k], axes[k]);
        add(link->by_w[first + k], 1.0, axes[k]);
    }
    add_cross(link->alpha, link->w, relative); // the axes turn with the parent; those of a ball with the body
    add(link->w, 1.0, relative);
}

static void link_joint(const Lagrange *motion, int body, const double *y, const Link *parent, Link *link)
{
    const RobotBody *of = &motion->robot->bodies[body];
    const RobotJoint *joint = &of->joint;
    const double *q = y + motion->q[body], *u = y + motion->n_q + motion->u[body];
    double r[3], rest[4], anchor[3], axes[3][3], own[4] = {0, 0, 0, 1};
    *link = *parent;
    turn(parent->q, of->p, r);
    quaternion_product(parent->q, of->q, rest);
    turn(rest, joint->anchor, anchor);
    turn(rest, joint->axis, axes[0]);
    add(r, 1.0, anchor);
    if (joint->kind == ROBOT_SLIDE) add(r, q[0] - joint->reference, axes[0]);
    link_carry(parent, motion->n_u, r, link);
    add(link->x, 1.0, r);
    if (joint->kind == ROBOT_SLIDE) {
        double twice[3];
        cross(parent->w, axes[0], twice);
        add(link->v, u[0], axes[0]);
        add(link->a, 2.0 * u[0], twice);
        add(link->by_v[motion->u[body]], 1.0, axes[0]);
    }
    if (joint->kind == ROBOT_HINGE) {
        const double half = 0.5 * (q[0] - joint->reference);
        for (int k = 0; k < 3; k++) own[k] = sin(half) * joint->axis[k];
        own[3] = cos(half);
        link_turn(motion->u[body], 1, axes, u, link);
    }
    if (joint->kind == ROBOT_BALL) memcpy(own, q, sizeof own);
    quaternion_product(rest, own, link->q);
    if (joint->kind == ROBOT_BALL) {
        for (int k = 0; k < 3; k++) turn(link->q, (const double[3]){k == 0, k == 1, k == 2}, axes[k]);
        link_turn(motion->u[body], 3, axes, u, link);
    }
    turn(link->q, (const double[3]){-joint->anchor[0], -joint->anchor[1], -joint->anchor[2]}, r);
    const Link moved = *link; // from the anchor to the origin of its frame
    link_carry(&moved, motion->n_u, r, link);
    add(link->x, 1.0, r);
}

static void links_of(const Lagrange *motion, const double *y, Link *links)
{
    static const Link world = {.q = {0, 0, 0, 1}};
    for (int i = 0; i < motion->robot->n_bodies; i++) {
        const int parent = motion->robot->bodies[i].parent;
        if (motion->robot->bodies[i].joint.kind == ROBOT_FREE)
            link_free(motion, i, y, &links[i]);
        else
            link_joint(motion, i, y, parent < 0 ? &world : &links[parent], &links[i]);
    }
}

// From the origin of the frame to the centre of mass.
static void link_to_centre(const Lagrange *motion, const RobotBody *body, Link *link)
{
    double r[3];
    const Link frame = *link;
    turn(link->q, body->centre, r);
    link_carry(&frame, motion->n_u, r, link);
    add(link->x, 1.0, r);
}

// I v for the body's inertia
static void inertia_times(const RobotBody *body, const double *q, const double *v, double *out)
{
    double in[3], y[3];
    const double *I = body->inertia;
    turn_back(q, v, in);
    y[0] = I[0] * in[0] + I[3] * in[1] + I[4] * in[2];
    y[1] = I[3] * in[0] + I[1] * in[1] + I[5] * in[2];
    y[2] = I[4] * in[0] + I[5] * in[1] + I[2] * in[2];
    turn(q, y, out);
}

// ---- equations of motion --------------------------------------------------------------------------------------------

typedef struct Equations {
    double M[LAGRANGE_MOST][LAGRANGE_MOST], f[LAGRANGE_MOST];
} Equations;

static void equations_add_body(const Lagrange *motion, const RobotBody *body, const Link *centre, Equations *all)
{
    double spin[3], turned[3], force[3] = {0, 0, -motion->gravity}, Iw[3];
    inertia_times(body, centre->q, centre->w, Iw);
    inertia_times(body, centre->q, centre->alpha, turned);
    cross(centre->w, Iw, spin);
    add(turned, 1.0, spin);
    add(force, -1.0, centre->a);
    for (int i = 0; i < motion->n_u; i++) {
        double I[3];
        inertia_times(body, centre->q, centre->by_w[i], I);
        all->f[i] += body->mass * dot(centre->by_v[i], force) - dot(centre->by_w[i], turned);
        for (int j = 0; j <= i; j++)
            all->M[i][j] += body->mass * dot(centre->by_v[i], centre->by_v[j]) + dot(I, centre->by_w[j]);
    }
}

// The rotation vector of a unit quaternion.
static void rotation_vector(const double *q, double *v)
{
    const double sign = q[3] < 0.0 ? -1.0 : 1.0, s = sqrt(dot(q, q));
    const double factor = s > 1e-12 ? 2.0 * sign * atan2(s, sign * q[3]) / s : 2.0 * sign;
    for (int k = 0; k < 3; k++) v[k] = factor * q[k];
}

static void equations_add_joint(const Lagrange *motion, int body, const double *y, Equations *all)
{
    const RobotJoint *joint = &motion->robot->bodies[body].joint;
    const int first = motion->u[body];
    const double *q = y + motion->q[body], *u = y + motion->n_q + first;
    double stretch[3] = {q[0] - joint->rest, 0, 0};
    if (joint->kind == ROBOT_FREE) return;
    if (joint->kind == ROBOT_BALL) rotation_vector(q, stretch);
    for (int k = 0; k < velocities(joint->kind); k++) {
        all->M[first + k][first + k] += joint->armature;
        all->f[first + k] -= joint->stiffness * stretch[k] + joint->damping * u[k];
    }
}

// x of M x = f; M is positive definite, its lower half is given. By L D L'.
static void equations_solve(Equations *all, int n, double *x)
{
    for (int i = 0; i < n; i++) {
        double y[LAGRANGE_MOST];
        for (int j = 0; j < i; j++) {
            y[j] = all->M[i][j];
            for (int k = 0; k < j; k++) y[j] -= y[k] * all->M[j][k];
            all->M[i][j] = y[j] / all->M[j][j];
            all->M[i][i] -= all->M[i][j] * y[j];
        }
    }
    for (int i = 0; i < n; i++) {
        x[i] = all->f[i];
        for (int j = 0; j < i; j++) x[i] -= all->M[i][j] * x[j];
    }
    for (int i = 0; i < n; i++) x[i] /= all->M[i][i];
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) x[i] -= all->M[j][i] * x[j];
    }
}

// q' = q (w, 0)/2, w in the axes of the body
static void quaternion_rate(const double *q, const double *w, double *rate)
{
    const double by[4] = {0.5 * w[0], 0.5 * w[1], 0.5 * w[2], 0.0};
    quaternion_product(q, by, rate);
}

static void slope(const Lagrange *motion, const double *y, double *dy)
{
    Link links[LAGRANGE_BODIES];
    Equations all;
    links_of(motion, y, links);
    for (int i = 0; i < motion->n_u; i++) {
        all.f[i] = 0.0;
        for (int j = 0; j <= i; j++) all.M[i][j] = 0.0;
    }
    for (int i = 0; i < motion->robot->n_bodies; i++) {
        const RobotBody *body = &motion->robot->bodies[i];
        const double *q = y + motion->q[i], *u = y + motion->n_q + motion->u[i];
        double *dq = dy + motion->q[i];
        link_to_centre(motion, body, &links[i]);
        equations_add_body(motion, body, &links[i], &all);
        equations_add_joint(motion, i, y, &all);
        if (body->joint.kind == ROBOT_FREE) {
            memcpy(dq, u, 3 * sizeof *dq);
            quaternion_rate(q + 3, u + 3, dq + 3);
        } else if (body->joint.kind == ROBOT_BALL) {
            quaternion_rate(q, u, dq);
        } else if (body->joint.kind != ROBOT_WELD) {
            dq[0] = u[0];
        }
    }
    equations_solve(&all, motion->n_u, dy + motion->n_q);
}

// ---- runs -----------------------------------------------------------------------------------------------------------

void lagrange_start(Lagrange *motion, const Robot *robot, double gravity)
{
    *motion = (Lagrange){.robot = robot, .gravity = gravity};
    for (int i = 0; i < robot->n_bodies; i++) {
        const RobotBody *body = &robot->bodies[i];
        double *q = motion->y + motion->n_q;
        motion->q[i] = motion->n_q;
        motion->u[i] = motion->n_u;
        motion->n_q += robot_joint_coordinates(body->joint.kind);
        motion->n_u += velocities(body->joint.kind);
        if (body->joint.kind == ROBOT_FREE) {
            memcpy(q, body->p, sizeof body->p);
            memcpy(q + 3, body->q, sizeof body->q);
        }
        if (body->joint.kind == ROBOT_BALL) q[3] = 1.0;
        if (body->joint.kind == ROBOT_HINGE || body->joint.kind == ROBOT_SLIDE) q[0] = body->joint.reference;
    }
}

void lagrange_go(Lagrange *motion, double duration, int steps)
{
    static const double before[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    const int n = motion->n_q + motion->n_u;
    const double h = duration / steps;
    for (int s = 0; s < steps; s++) {
        double k[4][LAGRANGE_STATE], at[LAGRANGE_STATE];
        for (int stage = 0; stage < 4; stage++) {
            for (int i = 0; i < n; i++) at[i] = motion->y[i] + (stage > 0 ? h * before[stage] * k[stage - 1][i] : 0.0);
            slope(motion, at, k[stage]);
        }
        for (int i = 0; i < n; i++) {
            for (int stage = 0; stage < 4; stage++) motion->y[i] += h * weight[stage] * k[stage][i];
        }
    }
}

void lagrange_poses(const Lagrange *motion, LagrangePose *pose)
{
    Link links[LAGRANGE_BODIES];
    links_of(motion, motion->y, links);
    for (int i = 0; i < motion->robot->n_bodies; i++) {
        link_to_centre(motion, &motion->robot->bodies[i], &links[i]);
        memcpy(pose[i].x, links[i].x, sizeof pose[i].x);
        memcpy(pose[i].v, links[i].v, sizeof pose[i].v);
        memcpy(pose[i].q, links[i].q, sizeof pose[i].q);
        memcpy(pose[i].w, links[i].w, sizeof pose[i].w);
    }
}

double lagrange_energy(const Lagrange *motion)
{
    LagrangePose pose[LAGRANGE_BODIES];
    double sum = 0.0;
    lagrange_poses(motion, pose);
    for (int i = 0; i < motion->robot->n_bodies; i++) {
        const RobotBody *body = &motion->robot->bodies[i];
        const double *q = motion->y + motion->q[i], *u = motion->y + motion->n_q + motion->u[i];
        double Iw[3], stretch[3] = {q[0] - body->joint.rest, 0, 0};
        inertia_times(body, pose[i].q, pose[i].w, Iw);
        sum += 0.5 * body->mass * dot(pose[i].v, pose[i].v) + 0.5 * dot(pose[i].w, Iw);
        sum += body->mass * motion->gravity * pose[i].x[2];
        if (body->joint.kind == ROBOT_FREE) continue;
        if (body->joint.kind == ROBOT_BALL) rotation_vector(q, stretch);
        for (int k = 0; k < velocities(body->joint.kind); k++)
            sum += 0.5 * body->joint.armature * u[k] * u[k] + 0.5 * body->joint.stiffness * stretch[k] * stretch[k];
    }
    return sum;
}
