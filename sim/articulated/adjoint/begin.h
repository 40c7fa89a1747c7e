// A lane's begin, in reverse: forward kinematics, inputs and designs.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_BEGIN_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_BEGIN_H

#include "../advance.h"
#include "memory.h"

// ---- forward kinematics ---------------------------------------------------------------------------------------------

// The body's pose by its joint: from the bars of the seat in the world and of the body's quaternion.
HD void pull_jointed(const ArticulatedLanes *w, int body, Vector3 seat_bar, Quaternion q_bar)
{
    const ArticulatedBody *of = &w->bodies[body];
    const ArticulatedPose parent = body_pose(w, of->parent);
    const Quaternion rest = body_rest(w, body), carried = quaternion_times(parent.q, rest);
    const Vector3 seat = body_vector(w, body, ARTICULATED_seat_x), axis = body_vector(w, body, ARTICULATED_axis_x);
    const real from_rest = body_number(w, body, ARTICULATED_start) - body_number(w, body, ARTICULATED_reference);
    ArticulatedPoseBar parent_bar = pose_bar_zero();
    Rotation carried_turn = rotation_zero();
    Quaternion carried_bar = q_bar;
    Vector3 axis_bar = vector3_zero();
    real start_bar = splat(0.0);
    switch ((RobotJointKind)of->kind) {
    case ROBOT_HINGE:
        carried_bar = pull_first(q_bar, quaternion_about(axis, from_rest));
        start_bar = pull_about(axis, from_rest, pull_second(carried, q_bar), &axis_bar);
        break;
    case ROBOT_BALL: carried_bar = pull_first(q_bar, quaternion_of(of->frame + 3)); break;
    case ROBOT_SLIDE: {
        const Rotation r = rotation_of(carried);
        start_bar = dot3(seat_bar, rotation_out(&r, axis));
        pull_turned(&carried_turn, axis, scaled(from_rest, seat_bar));
        axis_bar = scaled(from_rest, rotation_in(&r, seat_bar));
        carried_bar = quaternion_added(carried_bar, pull_rotation(carried, &carried_turn));
        break;
    }
    case ROBOT_FREE:
    case ROBOT_WELD: break;
    }
    number_bar(w, body, ARTICULATED_start, start_bar);
    number_bar(w, body, ARTICULATED_reference, -start_bar);
    vector_bar(w, body, ARTICULATED_axis_x, axis_bar);
    vector_bar(w, body, ARTICULATED_seat_x, rotation_in(&parent.r, seat_bar));
    rest_bar(w, body, pull_second(parent.q, carried_bar));
    parent_bar.x = seat_bar;
    parent_bar.q = pull_first(carried_bar, rest);
    pull_turned(&parent_bar.r, seat, seat_bar);
    pose_bar_add(w, of->parent, &parent_bar);
}

HD void pull_pose(const ArticulatedLanes *w, int body)
{
    const int at = articulated_at(body);
    const Quaternion q = limb4(w, at + ARTICULATED_Q);
    const Rotation r = rotation_of(q);
    const Vector3 x_bar = bar3(w, at + ARTICULATED_X), anchor = body_vector(w, body, ARTICULATED_anchor_x);
    const Vector3 back = scaled(splat(-1.0), x_bar);
    Rotation r_bar = rotation_zero();
    pull_turned(&r_bar, anchor, back);
    vector_bar(w, body, ARTICULATED_anchor_x, rotation_in(&r, back));
    if (w->bodies[body].kind == ROBOT_FREE) {
        parameter_bar(w, ARTICULATED_PARAMETER_base_x, x_bar.x);
        parameter_bar(w, ARTICULATED_PARAMETER_base_y, x_bar.y);
        parameter_bar(w, ARTICULATED_PARAMETER_base_z, x_bar.z);
        return;
    }
    const Quaternion q_bar = quaternion_added(bar4(w, at + ARTICULATED_Q), pull_rotation(q, &r_bar));
    pull_jointed(w, body, x_bar, pull_normal(q, splat(1.0), q_bar)); // what is normalized has length 1 up to rounding
}

// A child begins with its parent's velocity.
HD void pull_begin_velocity(const ArticulatedLanes *w, int body)
{
    const Vector3 bar = bar3(w, articulated_at(body) + ARTICULATED_V);
    const int parent = w->bodies[body].parent;
    if (w->bodies[body].kind == ROBOT_FREE) {
        parameter_bar(w, ARTICULATED_PARAMETER_base_vx, bar.x);
        parameter_bar(w, ARTICULATED_PARAMETER_base_vy, bar.y);
        parameter_bar(w, ARTICULATED_PARAMETER_base_vz, bar.z);
    } else if (parent >= 0) {
        bar_add3(w, articulated_at(parent) + ARTICULATED_V, bar);
    }
}

// Of rate k of a joint, where it is an input: that which begin_rate took.
HD void begin_rate_bar(const ArticulatedLanes *w, int body, int k, real x)
{
    int parameter = -1;
    for (int i = w->c.n_inputs; i < w->c.n_inputs + w->c.n_rates; i++) {
        if (w->inputs[i].body == body && w->inputs[i].number == ARTICULATED_rates + k)
            parameter = w->inputs[i].parameter;
    }
    if (parameter >= 0) parameter_bar(w, parameter, x);
}
HD void begin_rate_bar3(const ArticulatedLanes *w, int body, int first, Vector3 x)
{
    begin_rate_bar(w, body, first, x.x);
    begin_rate_bar(w, body, first + 1, x.y);
    begin_rate_bar(w, body, first + 2, x.z);
}

// L = I_w w': returns what it adds to the bar of w'.
HD Vector3 pull_begin_momentum(const ArticulatedLanes *w, int body, const ArticulatedPose *c, Rotation *r_bar)
{
    const Vector3 l_bar = bar3(w, articulated_at(body) + ARTICULATED_L);
    const Symmetric3 own = body_inertia(w, body);
    Symmetric3 inertia = {splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0), splat(0.0)};
    pull_quadratic(&c->r, own, l_bar, c->w, r_bar, &inertia);
    inertia_bar(w, body, &inertia);
    return rotation_out(&c->r, symmetric3_times(own, rotation_in(&c->r, l_bar)));
}

// begin_moving, with turn for w'. u_bar is that of v.
HD void pull_begin_moving(const ArticulatedLanes *w, int body)
{
    const int at = articulated_at(body), kind = w->bodies[body].kind, parent = w->bodies[body].parent;
    const ArticulatedPose c = body_pose(w, body), p = body_pose(w, parent);
    const Vector3 anchor = body_vector(w, body, ARTICULATED_anchor_x), r = rotation_out(&c.r, anchor);
    const Vector3 own = body_vector(w, body, ARTICULATED_axis_x), axis = rotation_out(&c.r, own);
    const Vector3 u_bar = bar3(w, at + ARTICULATED_V), arm = less(added(c.x, r), p.x);
    ArticulatedPoseBar c_bar = pose_bar_zero(), p_bar = pose_bar_zero();
    Vector3 axis_bar = vector3_zero(), r_bar = cross3(c.w, u_bar);
    Vector3 turn_bar = added(bar3(w, at + ARTICULATED_W), pull_begin_momentum(w, body, &c, &c_bar.r));
    turn_bar = less(turn_bar, cross3(r, u_bar));
    if (kind == ROBOT_FREE) {
        for (int k = 0; k < 3; k++) parameter_bar(w, ARTICULATED_PARAMETER_base_vx + k, vector3_component(u_bar, k));
        begin_rate_bar3(w, body, 0, turn_bar);
        begin_rate_bar3(w, body, 3, u_bar);
    } else {
        const Vector3 arm_bar = cross3(u_bar, p.w);
        p_bar.v = u_bar;
        p_bar.w = added(turn_bar, cross3(arm, u_bar));
        c_bar.x = arm_bar;
        p_bar.x = scaled(splat(-1.0), arm_bar);
        r_bar = added(r_bar, arm_bar);
    }
    if (kind == ROBOT_BALL) {
        begin_rate_bar3(w, body, 0, added(rotation_in(&c.r, turn_bar), bar3(w, at + ARTICULATED_RATE)));
        pull_turned(&c_bar.r, limb3(w, at + ARTICULATED_RATE), turn_bar);
    } else if (kind == ROBOT_HINGE || kind == ROBOT_SLIDE) {
        const Vector3 moved_bar = kind == ROBOT_HINGE ? turn_bar : u_bar;
        begin_rate_bar(w, body, 0, dot3(axis, moved_bar) + bar(w, at + ARTICULATED_RATE));
        axis_bar = scaled(limb(w, at + ARTICULATED_RATE), moved_bar);
    }
    pull_turned(&c_bar.r, own, axis_bar);
    pull_turned(&c_bar.r, anchor, r_bar);
    vector_bar(w, body, ARTICULATED_axis_x, rotation_in(&c.r, axis_bar));
    vector_bar(w, body, ARTICULATED_anchor_x, rotation_in(&c.r, r_bar));
    pose_bar_add(w, body, &c_bar);
    pose_bar_add(w, parent, &p_bar);
}

// ---- inputs and designs ---------------------------------------------------------------------------------------------

HD void pull_seat(const ArticulatedLanes *w, int body)
{
    const ArticulatedBody *of = &w->bodies[body];
    const int at = of->own + ARTICULATED_seat_x;
    const Vector3 seat_bar = bar3(w, at);
    Rotation r_bar = rotation_zero();
    pull_turned(&r_bar, vector3_of(of->pivot), seat_bar);
    rest_bar(w, body, pull_rotation(body_rest(w, body), &r_bar));
    if (of->parent >= 0) number_bar(w, of->parent, ARTICULATED_scale, dot3(vector3_of(of->seat), seat_bar));
    if (of->parent >= 0) vector_bar(w, of->parent, ARTICULATED_moved_x, scaled(splat(-1.0), seat_bar));
    set_bar3(w, at, vector3_zero());
}

// number <- number * factor
HD real pull_times(const ArticulatedLanes *w, int body, int number, real factor)
{
    const int at = w->bodies[body].own + number;
    const real result = bar(w, at);
    set_bar(w, at, result * factor);
    return result * limb(w, at);
}

HD real pull_rotate(const ArticulatedLanes *w, const ArticulatedDesign *design, real angle)
{
    const int at = w->bodies[design->body].own + ARTICULATED_rest_x, k = design->axis;
    const Vector3 axis = vector3(splat(k == 0), splat(k == 1), splat(k == 2));
    const Quaternion result = bar4(w, at), turn = quaternion_about(axis, design->sign * angle);
    Vector3 unused = vector3_zero();
    const Quaternion turn_bar = pull_first(result, body_rest(w, design->body));
    set_bar4(w, at, pull_second(turn, result));
    return design->sign * pull_about(axis, design->sign * angle, turn_bar, &unused);
}

HD real pull_length(const ArticulatedLanes *w, int body, real s)
{
    real sum = pull_times(w, body, ARTICULATED_mass, s);
    for (int k = 0; k < 6; k++) sum = sum + 3.0 * s * s * pull_times(w, body, ARTICULATED_xx + k, s * s * s);
    for (int k = 0; k < 3; k++) sum = sum + pull_times(w, body, ARTICULATED_anchor_x + k, s);
    for (int k = 0; k < 3 && centre_moves(w, body); k++) sum = sum + pull_times(w, body, ARTICULATED_moved_x + k, s);
    return sum + pull_times(w, body, ARTICULATED_scale, s);
}

// With the numbers that the design began with.
HD void pull_design(const ArticulatedLanes *w, const ArticulatedDesign *design)
{
    const real s = lanes_parameter(w->group, design->parameter);
    real sum = splat(0.0);
    if (design->kind == ARTICULATED_ROTATE) sum = pull_rotate(w, design, s);
    if (design->kind == ARTICULATED_LENGTH) sum = pull_length(w, design->body, s);
    for (int k = 0; k < 7 && design->kind == ARTICULATED_WEIGHT; k++)
        sum = sum + pull_times(w, design->body, ARTICULATED_mass + k, s);
    for (int k = 0; k < 2 && design->kind == ARTICULATED_GAIN; k++)
        sum = sum + pull_times(w, design->body, ARTICULATED_kp + k, s);
    parameter_bar(w, design->parameter, sum);
}

// own_spread and own_centre.
HD void pull_spread(const ArticulatedLanes *w, int body)
{
    const ArticulatedSpread e = spread_logs(w, body), f = spread_factor(w, body, &e), s = spread_square(&f);
    const double *c = w->bodies[body].spread;
    const real m = body_number(w, body, ARTICULATED_mass);
    const int at = w->bodies[body].own;
    real I[6];
    for (int k = 0; k < 6; k++) {
        I[k] = bar(w, at + ARTICULATED_xx + k);
        set_bar(w, at + ARTICULATED_xx + k, splat(0.0));
    }
    const ArticulatedSpread s_bar = {I[1] + I[2], -I[3], -I[4], I[0] + I[2], -I[5], I[0] + I[1]};
    const real diagonal = fused(s.xx, s_bar.xx, fused(s.yy, s_bar.yy, s.zz * s_bar.zz));
    const real f_xx = 2.0 * m * f.xx * s_bar.xx, f_xy = m * fused(2.0 * f.xy, s_bar.xx, f.yy * s_bar.xy);
    const real f_xz = m * fused(2.0 * f.xz, s_bar.xx, fused(f.yz, s_bar.xy, f.zz * s_bar.xz));
    const real f_yy = m * fused(2.0 * f.yy, s_bar.yy, f.xy * s_bar.xy);
    const real f_yz = m * fused(2.0 * f.yz, s_bar.yy, fused(f.xz, s_bar.xy, f.zz * s_bar.yz));
    const real f_zz = m * fused(2.0 * f.zz, s_bar.zz, fused(f.xz, s_bar.xz, f.yz * s_bar.yz));
    number_bar(w, body, ARTICULATED_mass,
               fused(s.xy, s_bar.xy, fused(s.xz, s_bar.xz, fused(s.yz, s_bar.yz, diagonal))));
    number_bar(w, body, ARTICULATED_log_x, c[0] * e.xx * f_xx);
    number_bar(w, body, ARTICULATED_log_y, e.yy * fused(splat(c[1]), f_xy, c[3] * f_yy));
    number_bar(w, body, ARTICULATED_log_z, e.zz * fused(splat(c[2]), f_xz, fused(splat(c[4]), f_yz, c[5] * f_zz)));
    number_bar(w, body, ARTICULATED_shear_xy, c[0] * f_xy);
    number_bar(w, body, ARTICULATED_shear_xz, c[0] * f_xz);
    number_bar(w, body, ARTICULATED_shear_yz, fused(splat(c[1]), f_xz, c[3] * f_yz));
}
HD void pull_centre(const ArticulatedLanes *w, int body)
{
    vector_bar(w, body, ARTICULATED_moved_x, scaled(splat(-1.0), bar3(w, w->bodies[body].own + ARTICULATED_anchor_x)));
}

HD void pull_input(const ArticulatedLanes *w, const ArticulatedInput *input)
{
    const int at = w->bodies[input->body].own + input->number;
    parameter_bar(w, input->parameter, bar(w, at));
    set_bar(w, at, splat(0.0));
}

// The lane's own numbers again, with its first `designs` designs.
HD void own_again(const ArticulatedLanes *w, int designs)
{
    ArticulatedLanes some = *w;
    some.c.n_designs = designs;
    articulated_own(&some);
}

HD void pull_own(const ArticulatedLanes *w)
{
    for (int i = 0; i < w->c.n_bodies; i++) {
        if (seat_is_own(w, i)) pull_seat(w, i);
    }
    for (int k = w->c.n_designs - 1; k >= 0; k--) {
        own_again(w, k);
        pull_design(w, &w->designs[k]);
    }
    for (int i = 0; i < w->c.n_bodies; i++) {
        if (spread_varies(w, i)) pull_spread(w, i);
        if (centre_moves(w, i)) pull_centre(w, i);
    }
    for (int k = w->c.n_inputs - 1; k >= 0; k--) pull_input(w, &w->inputs[k]);
}

// The sums at t = 0: position of the base, mass of all bodies.
HD void pull_begin_sums(const ArticulatedLanes *w)
{
    const int at = w->c.sums_at;
    for (int i = 0; i < w->c.n_bodies; i++) number_bar(w, i, ARTICULATED_mass, bar(w, at + ARTICULATED_SUM_MASS));
    bar_add(w, base_at(w) + ARTICULATED_X, bar(w, at + ARTICULATED_SUM_X));
    bar_add(w, base_at(w) + ARTICULATED_X + 1, bar(w, at + ARTICULATED_SUM_Y));
}

// From the bars of the state at t = 0 and of the sums to those of the parameters. Bodies stand where articulated_begin
// puts them.
HD_CALL void pull_begin(const ArticulatedLanes *restrict w)
{
    pull_begin_sums(w);
    for (int i = w->c.n_bodies - 1; i >= 0; i--) {
        if (w->c.rates != 0)
            pull_begin_moving(w, i);
        else
            pull_begin_velocity(w, i);
        pull_pose(w, i);
    }
    pull_own(w);
}

#endif
