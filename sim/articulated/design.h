// The lane's own robot: numbers that its inputs set, and designs that change bodies' shapes. Computed once, when the
// lane begins; a body with no such input has the numbers of the file.
#ifndef HOPSCOTCH_ARTICULATED_DESIGN_H
#define HOPSCOTCH_ARTICULATED_DESIGN_H

#include "memory.h"

HD Quaternion quaternion_about(Vector3 axis, real angle)
{
    Quaternion q;
    real sine, cosine;
    sine_cosine(0.5 * angle, &sine, &cosine);
    q.x = sine * axis.x;
    q.y = sine * axis.y;
    q.z = sine * axis.z;
    q.w = cosine;
    return q;
}

HD void design_times(const ArticulatedLanes *w, int body, int number, real factor)
{
    const int at = w->bodies[body].own + number;
    set_limb(w, at, limb(w, at) * factor);
}

// The frame turned about its axis k, in the parent's axes, before the file's rotation.
HD void design_rotate(const ArticulatedLanes *w, const ArticulatedDesign *design, real angle)
{
    const int k = design->axis;
    const Vector3 axis = vector3(splat(k == 0), splat(k == 1), splat(k == 2));
    const Quaternion turn = quaternion_about(axis, design->sign * angle);
    set_limb4(w, w->bodies[design->body].own + ARTICULATED_rest_x, quaternion_times(turn, body_rest(w, design->body)));
}

// Everything along the body's axes by s: its mass by s, its inertia by s^3.
HD void design_length(const ArticulatedLanes *w, int body, real s)
{
    design_times(w, body, ARTICULATED_mass, s);
    for (int k = 0; k < 6; k++) design_times(w, body, ARTICULATED_xx + k, s * s * s);
    for (int k = 0; k < 3; k++) design_times(w, body, ARTICULATED_anchor_x + k, s);
    for (int k = 0; k < 3 && centre_moves(w, body); k++) design_times(w, body, ARTICULATED_moved_x + k, s);
    design_times(w, body, ARTICULATED_scale, s);
}

HD void design_apply(const ArticulatedLanes *w, const ArticulatedDesign *design)
{
    const real s = lanes_parameter(w->group, design->parameter);
    if (design->kind == ARTICULATED_ROTATE) design_rotate(w, design, s);
    if (design->kind == ARTICULATED_LENGTH) design_length(w, design->body, s);
    for (int k = 0; k < 7 && design->kind == ARTICULATED_WEIGHT; k++)
        design_times(w, design->body, ARTICULATED_mass + k, s);
    for (int k = 0; k < 2 && design->kind == ARTICULATED_GAIN; k++)
        design_times(w, design->body, ARTICULATED_kp + k, s);
}

// The product of two upper triangles.
typedef struct ArticulatedSpread {
    real xx, xy, xz, yy, yz, zz;
} ArticulatedSpread;

// An inertia that a body can have, whatever the numbers are: S = m F F' with F = C E, E an upper triangle with the
// diagonal exp(log) and the shears. E = 1: the file's. All such inertias have one E each.
// Source: C. Rucker & P. M. Wensing, Smooth parameterization of rigid-body inertia, IEEE RA-L 7(2), 2022; about the
// centre of mass, so that mass and centre are numbers of their own.
HD ArticulatedSpread spread_logs(const ArticulatedLanes *w, int body)
{
    ArticulatedSpread e;
    e.xx = exponential(body_number(w, body, ARTICULATED_log_x));
    e.yy = exponential(body_number(w, body, ARTICULATED_log_y));
    e.zz = exponential(body_number(w, body, ARTICULATED_log_z));
    e.xy = body_number(w, body, ARTICULATED_shear_xy);
    e.xz = body_number(w, body, ARTICULATED_shear_xz);
    e.yz = body_number(w, body, ARTICULATED_shear_yz);
    return e;
}
HD ArticulatedSpread spread_factor(const ArticulatedLanes *w, int body, const ArticulatedSpread *e)
{
    const double *c = w->bodies[body].spread;
    ArticulatedSpread f;
    f.xx = c[0] * e->xx;
    f.xy = fused(splat(c[0]), e->xy, c[1] * e->yy);
    f.xz = fused(splat(c[0]), e->xz, fused(splat(c[1]), e->yz, c[2] * e->zz));
    f.yy = c[3] * e->yy;
    f.yz = fused(splat(c[3]), e->yz, c[4] * e->zz);
    f.zz = c[5] * e->zz;
    return f;
}
HD ArticulatedSpread spread_square(const ArticulatedSpread *f)
{
    ArticulatedSpread s;
    s.xx = fused(f->xx, f->xx, fused(f->xy, f->xy, f->xz * f->xz));
    s.yy = fused(f->yy, f->yy, f->yz * f->yz);
    s.zz = f->zz * f->zz;
    s.xy = fused(f->xy, f->yy, f->xz * f->yz);
    s.xz = f->xz * f->zz;
    s.yz = f->yz * f->zz;
    return s;
}

HD bool spread_varies(const ArticulatedLanes *w, int body) { return number_counts(w, body, ARTICULATED_log_x, 6); }

HD void own_spread(const ArticulatedLanes *w, int body)
{
    const ArticulatedSpread e = spread_logs(w, body), f = spread_factor(w, body, &e), s = spread_square(&f);
    const real m = body_number(w, body, ARTICULATED_mass);
    const int at = w->bodies[body].own;
    set_limb(w, at + ARTICULATED_xx, m * (s.yy + s.zz));
    set_limb(w, at + ARTICULATED_yy, m * (s.xx + s.zz));
    set_limb(w, at + ARTICULATED_zz, m * (s.xx + s.yy));
    set_limb(w, at + ARTICULATED_xy, -(m * s.xy));
    set_limb(w, at + ARTICULATED_xz, -(m * s.xz));
    set_limb(w, at + ARTICULATED_yz, -(m * s.yz));
}

// The joint as the moved centre sees it.
HD void own_centre(const ArticulatedLanes *w, int body)
{
    const Vector3 moved = body_vector(w, body, ARTICULATED_moved_x);
    set_limb3(w, w->bodies[body].own + ARTICULATED_anchor_x, less(body_vector(w, body, ARTICULATED_anchor_x), moved));
}

// Where the joint stands on the parent: its frame's position, by the parent's length, and its pivot in the turned
// frame.
HD void design_seat(const ArticulatedLanes *w, int body)
{
    const ArticulatedBody *of = &w->bodies[body];
    const real scale = of->parent >= 0 ? body_number(w, of->parent, ARTICULATED_scale) : splat(1.0);
    const Rotation rest = rotation_of(body_rest(w, body));
    Vector3 seat = scaled(scale, vector3_of(of->seat));
    if (of->parent >= 0 && centre_moves(w, of->parent))
        seat = less(seat, body_vector(w, of->parent, ARTICULATED_moved_x));
    set_limb3(w, of->own + ARTICULATED_seat_x, added(seat, rotation_out(&rest, vector3_of(of->pivot))));
}

// Whether its joint may stand elsewhere on the parent than in the file.
HD bool seat_is_own(const ArticulatedLanes *w, int body)
{
    const ArticulatedBody *of = &w->bodies[body];
    return of->own >= 0 && (w->c.n_designs > 0 || (of->parent >= 0 && centre_moves(w, of->parent)));
}

HD void articulated_own(const ArticulatedLanes *w)
{
    for (int i = 0; i < w->c.n_bodies; i++) {
        const ArticulatedBody *body = &w->bodies[i];
        for (int k = 0; k < body->n_own; k++) set_limb(w, body->own + k, splat(body->number[k]));
    }
    for (int i = 0; i < w->c.n_inputs; i++) {
        const ArticulatedInput *input = &w->inputs[i];
        set_limb(w, w->bodies[input->body].own + input->number,
                 lanes_parameter(w->group, input->parameter) + input->add);
    }
    for (int i = 0; i < w->c.n_bodies; i++) {
        if (spread_varies(w, i)) own_spread(w, i);
        if (centre_moves(w, i)) own_centre(w, i);
    }
    for (int i = 0; i < w->c.n_designs; i++) design_apply(w, &w->designs[i]);
    for (int i = 0; i < w->c.n_bodies; i++) {
        if (seat_is_own(w, i)) design_seat(w, i);
    }
}

#endif
