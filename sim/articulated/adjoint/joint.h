// The rows of a joint, in reverse. With lambda = A^-1 ubar' the derivative of a step's result with respect to anything
// in A and b is that of
//     lambda' (b - A u') = dl.(f - K dv') + dm.(torque - T dw')        (joint.h; dl, dm: as dv, dw, of lambda)
// for constant lambda and u'. The functions here go through joint_rows, joint_axis and joint_state from the last line
// to the first; bars of a struct are in a struct of the same type.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_JOINT_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_JOINT_H

#include "../joint.h"
#include "memory.h"

typedef struct ArticulatedSolved {
    Vector3 v_c, w_c, v_p, w_p; // of the body and its parent
} ArticulatedSolved;

// The velocity at the anchors, one against the other.
HD Vector3 solved_apart(const ArticulatedSolved *u, const ArticulatedJointState *s)
{
    return less(added(u->v_c, cross3(u->w_c, s->r_c)), added(u->v_p, cross3(u->w_p, s->r_p)));
}

// Adjoints (bars) of a joint's rows, of their lever arms and of their axis.
HD void pull_solved(const ArticulatedSolved *u, const ArticulatedSolved *l, const ArticulatedJointState *s,
                    const ArticulatedRows *rows, ArticulatedRows *rows_bar, ArticulatedJointState *bar)
{
    const Vector3 dv = solved_apart(u, s), dl = solved_apart(l, s), a = s->axis;
    const Vector3 dw = less(u->w_c, u->w_p), dm = less(l->w_c, l->w_p);
    const real av = dot3(a, dv), al = dot3(a, dl), aw = dot3(a, dw), am = dot3(a, dm);
    const Vector3 force = along(along(rows->f, -rows->k, dv), -(rows->k_more * av), a);
    const Vector3 back = along(scaled(-rows->k, dl), -(rows->k_more * al), a);
    bar->r_c = added(cross3(force, l->w_c), cross3(back, u->w_c));
    bar->r_p = scaled(splat(-1.0), added(cross3(force, l->w_p), cross3(back, u->w_p)));
    bar->axis = added(scaled(-rows->k_more, along(scaled(av, dl), al, dv)),
                      scaled(-rows->t_more, along(scaled(aw, dm), am, dw)));
    rows_bar->f = dl;
    rows_bar->torque = dm;
    rows_bar->k = -dot3(dl, dv);
    rows_bar->k_more = -(al * av);
    rows_bar->t = -dot3(dm, dw);
    rows_bar->t_more = -(am * aw);
}

// ---- joint_axis -----------------------------------------------------------------------------------------------------

// Beyond the range: K += h (h k + d fade), f -= h k beyond
HD void pull_limit(const ArticulatedLanes *w, int body, real h, const ArticulatedAxis *axis_bar, real coordinate,
                   real *coordinate_bar)
{
    const real zero = splat(0.0), high = coordinate - body_number(w, body, ARTICULATED_high);
    const real low = coordinate - body_number(w, body, ARTICULATED_low);
    const mask above = MASK(high > 0.0), below = MASK(low < 0.0) & ~above;
    const real beyond = select_real(above, high, select_real(below, low, zero)), depth = absolute(beyond);
    const mask out = MASK(depth > 0.0);
    if (!any_lane(out)) return;
    const real K_bar = select_real(out, axis_bar->K, zero), f_bar = axis_bar->f;
    const mask fading = MASK(depth * 1e3 < 1.0);
    const real rate = select_real(fading, select_real(above, splat(1e3), splat(-1e3)), zero);
    const real fade = lesser_of(depth * 1e3, splat(1.0));
    const real beyond_bar =
        select_real(out, fused(-(h * w->limit_stiffness), f_bar, h * w->limit_damping * rate * K_bar), zero);
    parameter_bar(w, ARTICULATED_PARAMETER_limit_stiffness, fused(h * h, K_bar, -(h * beyond * f_bar)));
    parameter_bar(w, ARTICULATED_PARAMETER_limit_damping, h * fade * K_bar);
    number_bar(w, body, ARTICULATED_high, select_real(above, -beyond_bar, zero));
    number_bar(w, body, ARTICULATED_low, select_real(below, -beyond_bar, zero));
    *coordinate_bar = *coordinate_bar + beyond_bar;
}

// The derivative with respect to an end of a motor's efforts: of an uneven motor `of` (least or most) within +-effort.
HD void pull_end(const ArticulatedLanes *w, int body, int of, real sign, real end_bar)
{
    const real zero = splat(0.0), both = body_number(w, body, ARTICULATED_effort);
    real both_bar = sign * end_bar;
    if (w->bodies[body].uneven != 0) {
        const real own = body_number(w, body, of);
        const mask below = MASK(own <= -both), inside = MASK(own < both) & ~below;
        number_bar(w, body, of, select_real(inside, end_bar, zero));
        both_bar = select_real(inside, zero, select_real(below, -end_bar, end_bar));
    }
    number_bar(w, body, ARTICULATED_effort, both_bar);
}

// motor_gains. What the voltage is decides only whether it is at its end.
HD void pull_gains(const ArticulatedLanes *w, int body, real C, real rate, ArticulatedGains bar)
{
    const real scale = joint_gain_scale(w, body);
    if (motor_has_voltage(w, body)) {
        const ArticulatedGains of = motor_numbers(w, body);
        mask bound;
        const real zero = splat(0.0), V = motor_voltage(w, body, &of, C, rate, &bound);
        const real R = body_number(w, body, ARTICULATED_resistance), gear = body_number(w, body, ARTICULATED_gear);
        const real kt = body_number(w, body, ARTICULATED_kt), emf = body_number(w, body, ARTICULATED_emf);
        const real strength = motor_strength(w, body);
        const real by_controller = fused(of.kp, bar.kp, fused(of.kd, bar.kd, of.bias * bar.bias));
        const real strength_bar = fused(gear * emf, bar.kd, select_real(bound, V * bar.bias, by_controller));
        const real end_bar = select_real(bound, strength * bar.bias, zero);
        number_bar(w, body, ARTICULATED_voltage, select_real(MASK(V < 0.0), -end_bar, end_bar));
        number_bar(w, body, ARTICULATED_emf, strength * gear * bar.kd);
        number_bar(w, body, ARTICULATED_kt, gear / R * strength_bar);
        number_bar(w, body, ARTICULATED_gear, fused(kt / R, strength_bar, strength * emf * bar.kd));
        number_bar(w, body, ARTICULATED_resistance, -(strength / R * strength_bar));
        bar.kp = select_real(bound, zero, strength * bar.kp);
        bar.kd = select_real(bound, zero, strength * bar.kd);
        bar.bias = select_real(bound, zero, strength * bar.bias);
    }
    number_bar(w, body, ARTICULATED_kp, scale * bar.kp);
    number_bar(w, body, ARTICULATED_kd, scale * bar.kd);
    number_bar(w, body, ARTICULATED_bias, scale * bar.bias);
}

// effort_bar: of the effort in the old state.
HD void pull_motor(const ArticulatedLanes *w, int body, real h, const ArticulatedJointState *s,
                   const ArticulatedAxis *axis_bar, real effort_bar, ArticulatedJointState *bar)
{
    const real zero = splat(0.0), K_bar = axis_bar->motor_K, f_bar = axis_bar->motor_f;
    const ArticulatedEnds ends = motor_ends(w, body);
    const real C = motor_error(w, body, s->coordinate);
    const ArticulatedGains gains = motor_gains(w, body, C, s->rate);
    const real kp = gains.kp;
    real effort = gains.bias - fused(kp, C, gains.kd * s->rate);
    if (w->c.efforts > 0) effort = effort + limb(w, effort_at(w, body) + ARTICULATED_FEEDFORWARD);
    const mask above = MASK(effort > ends.high), bound = above | MASK(effort < ends.low);
    const real end_bar = fused(h, f_bar, effort_bar), free_bar = select_real(bound, zero, effort_bar);
    const real C_bar = select_real(bound, zero, -(h * kp * f_bar)) - kp * free_bar;
    ArticulatedGains gains_bar;
    gains_bar.kp = select_real(bound, zero, fused(h * h, K_bar, -(h * C * f_bar))) - C * free_bar;
    gains_bar.kd = select_real(bound, zero, h * K_bar) - s->rate * free_bar;
    gains_bar.bias = select_real(bound, zero, end_bar);
    pull_gains(w, body, C, s->rate, gains_bar);
    pull_end(w, body, ARTICULATED_most, splat(1.0), select_real(above, end_bar, zero));
    pull_end(w, body, ARTICULATED_least, splat(-1.0), select_real(bound & ~above, end_bar, zero));
    if (w->c.efforts > 0) bar_add(w, effort_at(w, body) + ARTICULATED_FEEDFORWARD, gains_bar.bias);
    number_bar(w, body, ARTICULATED_encoder, C_bar);
    bar->coordinate = bar->coordinate + C_bar;
    bar->rate = bar->rate - gains.kd * free_bar;
    bar_add(w, articulated_at(body) + ARTICULATED_COMMAND, -C_bar);
}

// axis_damping and axis_friction, without the two numbers that each joint has. Adds to the bar of |rate|; returns that
// of the motor's effort.
HD real pull_friction(const ArticulatedLanes *w, int body, real rate, real effort, const ArticulatedDryFriction *of,
                      real damping_bar, real *smooth_bar, real *rate_bar)
{
    const real level_bar = damping_bar / of->smooth, size = absolute(effort);
    real by_effort = splat(0.0);
    if (body_varies(w, body, ARTICULATED_drag)) {
        number_bar(w, body, ARTICULATED_drag, of->smooth * damping_bar);
        *smooth_bar = fused(body_number(w, body, ARTICULATED_drag), damping_bar, *smooth_bar);
    }
    if (body_varies(w, body, ARTICULATED_load)) {
        number_bar(w, body, ARTICULATED_load, size * level_bar);
        by_effort = body_number(w, body, ARTICULATED_load);
    }
    if (body_varies(w, body, ARTICULATED_stribeck)) {
        const real v = body_number(w, body, ARTICULATED_stribeck), x = rate / v;
        const real by_load = body_number(w, body, ARTICULATED_stickload), more_bar = of->sticks * level_bar;
        const real more = fused(by_load, size, body_number(w, body, ARTICULATED_stiction));
        const real x_bar = -2.0 * x * more * more_bar;
        number_bar(w, body, ARTICULATED_stiction, more_bar);
        number_bar(w, body, ARTICULATED_stickload, size * more_bar);
        number_bar(w, body, ARTICULATED_stribeck, -(x / v * x_bar));
        *rate_bar = *rate_bar + x_bar / v;
        by_effort = fused(by_load, of->sticks, by_effort);
    }
    return select_real(MASK(effort < 0.0), -by_effort, by_effort) * level_bar;
}

HD void pull_axis(const ArticulatedLanes *w, int body, real h, const ArticulatedJointState *s,
                  ArticulatedAxis *axis_bar, ArticulatedJointState *bar)
{
    const real K_bar = axis_bar->K, f_bar = axis_bar->f, rate = s->rate;
    const real stiffness = body_number(w, body, ARTICULATED_stiffness);
    const real slow = w->friction_speed, damping_bar = h * K_bar, stretch_bar = -(h * stiffness * f_bar);
    const real stretch = s->coordinate - body_number(w, body, ARTICULATED_spring);
    ArticulatedAxis unused;
    real effort = splat(0.0);
    if (w->bodies[body].driven != 0 && friction_has_load(w, body)) axis_motor(w, body, h, s, &effort, &unused);
    const ArticulatedDryFriction friction = axis_friction(w, body, rate, effort);
    const real smooth = friction.smooth;
    real smooth_bar = -(damping_bar * friction.level) / (smooth * smooth);
    const real effort_bar = pull_friction(w, body, rate, effort, &friction, damping_bar, &smooth_bar, &bar->rate);
    pull_limit(w, body, h, axis_bar, s->coordinate, &bar->coordinate);
    number_bar(w, body, ARTICULATED_armature, fused(rate, f_bar, K_bar));
    number_bar(w, body, ARTICULATED_damping, damping_bar);
    number_bar(w, body, ARTICULATED_friction, damping_bar / smooth);
    number_bar(w, body, ARTICULATED_stiffness, fused(h * h, K_bar, -(h * stretch * f_bar)));
    number_bar(w, body, ARTICULATED_spring, -stretch_bar);
    parameter_bar(w, ARTICULATED_PARAMETER_friction_speed, smooth_bar * slow / smooth);
    bar->coordinate = bar->coordinate + stretch_bar;
    bar->rate = bar->rate + fused(body_number(w, body, ARTICULATED_armature), f_bar, smooth_bar * rate / smooth);
    axis_bar->motor_K = axis_bar->motor_K + K_bar;
    axis_bar->motor_f = axis_bar->motor_f + f_bar;
    if (w->bodies[body].driven != 0) pull_motor(w, body, h, s, axis_bar, effort_bar, bar);
}

// ---- joint_rows -----------------------------------------------------------------------------------------------------

// k = h (h k_a + d_a), f = -h k_a gap of the attachment
HD void pull_attachment(const ArticulatedLanes *w, real h, const ArticulatedJointState *s, real k_bar, Vector3 f_bar,
                        ArticulatedJointState *bar)
{
    bar->gap = along(bar->gap, -(h * w->attach_stiffness), f_bar);
    parameter_bar(w, ARTICULATED_PARAMETER_attach_stiffness, fused(h * h, k_bar, -(h * dot3(s->gap, f_bar))));
    parameter_bar(w, ARTICULATED_PARAMETER_attach_damping, h * k_bar);
}
HD void pull_attached_turn(const ArticulatedLanes *w, real h, const ArticulatedJointState *s, real t_bar,
                           Vector3 torque_bar, ArticulatedJointState *bar)
{
    bar->turn = along(bar->turn, -(h * w->attach_turn_stiffness), torque_bar);
    parameter_bar(w, ARTICULATED_PARAMETER_attach_turn_stiffness,
                  fused(h * h, t_bar, -(h * dot3(s->turn, torque_bar))));
    parameter_bar(w, ARTICULATED_PARAMETER_attach_turn_damping, h * t_bar);
}

HD void pull_rows_ball(const ArticulatedLanes *w, int body, real h, const ArticulatedJointState *s,
                       const ArticulatedRows *rows_bar, ArticulatedJointState *bar)
{
    const real kp = body_number(w, body, ARTICULATED_kp) + body_number(w, body, ARTICULATED_stiffness);
    const real friction = body_number(w, body, ARTICULATED_friction), slow = w->friction_speed;
    const real smooth = square_root(fused(slow, slow, dot3(s->spin, s->spin)));
    const real damping_bar = h * rows_bar->t, kp_bar = fused(h, damping_bar, -(h * dot3(s->turn, rows_bar->torque)));
    const real smooth_bar = -(damping_bar * friction) / (smooth * smooth);
    ArticulatedAxis limit, limit_bar;
    limit.K = limit.f = splat(0.0);
    axis_limit(w, body, h, s->coordinate, &limit);
    limit_bar.K = rows_bar->t_more;
    limit_bar.f = dot3(s->axis, rows_bar->torque);
    pull_limit(w, body, h, &limit_bar, s->coordinate, &bar->coordinate);
    number_bar(w, body, ARTICULATED_kp, kp_bar);
    number_bar(w, body, ARTICULATED_stiffness, kp_bar);
    number_bar(w, body, ARTICULATED_kd, damping_bar);
    number_bar(w, body, ARTICULATED_damping, damping_bar);
    number_bar(w, body, ARTICULATED_friction, damping_bar / smooth);
    number_bar(w, body, ARTICULATED_armature, rows_bar->t + dot3(s->spin, rows_bar->torque));
    parameter_bar(w, ARTICULATED_PARAMETER_friction_speed, smooth_bar * slow / smooth);
    bar->turn = along(bar->turn, -(h * kp), rows_bar->torque);
    bar->axis = along(bar->axis, limit.f, rows_bar->torque);
    bar->spin = along(along(bar->spin, body_number(w, body, ARTICULATED_armature), rows_bar->torque),
                      smooth_bar / smooth, s->spin);
}

// *axis_bar: what acts along the axis, to which is added.
HD void pull_rows(const ArticulatedLanes *w, int body, real h, const ArticulatedJointState *s,
                  const ArticulatedAxis *axis, const ArticulatedRows *rows_bar, ArticulatedAxis *axis_bar,
                  ArticulatedJointState *bar)
{
    const RobotJointKind kind = (RobotJointKind)w->bodies[body].kind;
    const Vector3 f0 = scaled(-(h * w->attach_stiffness), s->gap);
    Vector3 f_bar = rows_bar->f;
    real k_bar = rows_bar->k, t_bar = rows_bar->t;
    switch (kind) {
    case ROBOT_HINGE:
        axis_bar->K = rows_bar->t_more;
        axis_bar->f = dot3(s->axis, rows_bar->torque);
        t_bar = t_bar - rows_bar->t_more;
        bar->axis = along(bar->axis, axis->f, rows_bar->torque);
        break;
    case ROBOT_SLIDE: {
        const real component = dot3(s->axis, f0), along_bar = dot3(s->axis, f_bar);
        axis_bar->K = rows_bar->k_more;
        axis_bar->f = along_bar;
        k_bar = k_bar - rows_bar->k_more;
        bar->axis = along(along(bar->axis, axis->f - component, f_bar), -along_bar, f0);
        f_bar = along(f_bar, -along_bar, s->axis);
        break;
    }
    case ROBOT_BALL: // its torque is below
    case ROBOT_FREE:
    case ROBOT_WELD: break;
    }
    pull_attachment(w, h, s, k_bar, f_bar, bar);
    if (kind == ROBOT_BALL)
        pull_rows_ball(w, body, h, s, rows_bar, bar);
    else
        pull_attached_turn(w, h, s, t_bar, rows_bar->torque, bar);
}

// ---- joint_state ----------------------------------------------------------------------------------------------------

// The coordinate and the rate of a hinge, and the error of its axes.
HD void pull_hinge(const ArticulatedLanes *w, int body, const ArticulatedPose *c, Quaternion wanted,
                   const ArticulatedJointState *s, ArticulatedJointState *bar, ArticulatedPoseBar *c_bar,
                   Quaternion *wanted_bar)
{
    const Vector3 own = body_vector(w, body, ARTICULATED_axis_x), own_axis = rotation_out(&c->r, own);
    const Quaternion relative = quaternion_times(quaternion_conjugate(wanted), c->q);
    const Vector3 v = vector3(relative.x, relative.y, relative.z), axis_bar = cross3(bar->turn, s->axis);
    const real sine = dot3(v, own), factor = 2.0 * bar->coordinate / fused(sine, sine, relative.w * relative.w);
    Quaternion relative_bar;
    relative_bar.x = factor * relative.w * own.x;
    relative_bar.y = factor * relative.w * own.y;
    relative_bar.z = factor * relative.w * own.z;
    relative_bar.w = -(factor * sine);
    bar->axis = added(along(bar->axis, bar->rate, s->spin), cross3(own_axis, bar->turn));
    bar->spin = along(bar->spin, bar->rate, s->axis);
    pull_turned(&c_bar->r, own, axis_bar);
    vector_bar(w, body, ARTICULATED_axis_x, along(rotation_in(&c->r, axis_bar), factor * relative.w, v));
    c_bar->q = quaternion_added(c_bar->q, quaternion_times(wanted, relative_bar));
    *wanted_bar =
        quaternion_added(*wanted_bar, quaternion_conjugate(quaternion_times(relative_bar, quaternion_conjugate(c->q))));
    number_bar(w, body, ARTICULATED_reference, bar->coordinate);
}

// The rotation vector of c in p; of a ball also its length and direction.
HD void pull_turn(const ArticulatedPose *c, Quaternion wanted, bool ball, const ArticulatedJointState *s,
                  ArticulatedJointState *bar, ArticulatedPoseBar *c_bar, Quaternion *wanted_bar)
{
    if (ball) {
        const mask some = MASK(s->coordinate > 0.0);
        const real length = select_real(some, s->coordinate, splat(1.0));
        const Vector3 across = along(bar->axis, -dot3(bar->axis, s->axis), s->axis);
        bar->turn = added(bar->turn, along(scaled(1.0 / length, across), bar->coordinate, s->axis));
    }
    const Quaternion turned_bar = pull_logarithm(joint_turned(c, wanted), bar->turn);
    c_bar->q = quaternion_added(c_bar->q, quaternion_times(turned_bar, wanted));
    *wanted_bar =
        quaternion_added(*wanted_bar, quaternion_conjugate(quaternion_times(quaternion_conjugate(c->q), turned_bar)));
}

HD void pull_slide(const ArticulatedLanes *w, int body, const ArticulatedJointState *s, ArticulatedJointState *bar)
{
    bar->axis = along(bar->axis, bar->coordinate, s->gap);
    bar->gap = along(bar->gap, bar->coordinate, s->axis);
    number_bar(w, body, ARTICULATED_reference, bar->coordinate);
}

// The angular velocity against the parent. That of a ball turned with the body; pull_stored does the rest.
HD void pull_relative(const ArticulatedLanes *w, int body, Vector3 spin_bar, ArticulatedPoseBar *c_bar,
                      ArticulatedPoseBar *p_bar)
{
    if (w->bodies[body].kind == ROBOT_BALL) {
        pull_turned(&c_bar->r, limb3(w, articulated_at(body) + ARTICULATED_RATE), spin_bar);
        return;
    }
    c_bar->w = added(c_bar->w, spin_bar);
    p_bar->w = less(p_bar->w, spin_bar);
}

// The anchors.
HD void pull_arms(const ArticulatedLanes *w, int body, const ArticulatedPose *c, const ArticulatedPose *p,
                  ArticulatedJointState *bar, ArticulatedPoseBar *c_bar, ArticulatedPoseBar *p_bar)
{
    const Vector3 anchor = body_vector(w, body, ARTICULATED_anchor_x), seat = body_vector(w, body, ARTICULATED_seat_x);
    const Vector3 both = added(bar->gap, bar->r_p), seat_bar = scaled(splat(-1.0), bar->gap);
    const Vector3 arm_bar = added(bar->r_c, both);
    c_bar->x = added(c_bar->x, both);
    p_bar->x = less(p_bar->x, both);
    pull_turned(&c_bar->r, anchor, arm_bar);
    pull_turned(&p_bar->r, seat, seat_bar);
    vector_bar(w, body, ARTICULATED_anchor_x, rotation_in(&c->r, arm_bar));
    vector_bar(w, body, ARTICULATED_seat_x, rotation_in(&p->r, seat_bar));
}

HD void pull_state(const ArticulatedLanes *w, int body, const ArticulatedPose *c, const ArticulatedPose *p,
                   const ArticulatedJointState *s, ArticulatedJointState *bar, ArticulatedPoseBar *c_bar,
                   ArticulatedPoseBar *p_bar)
{
    const int kind = w->bodies[body].kind;
    const Quaternion rest = body_rest(w, body), wanted = quaternion_times(p->q, rest);
    const Vector3 own = body_vector(w, body, ARTICULATED_axis_x);
    const Rotation carried = rotation_of(wanted);
    Rotation carried_bar = rotation_zero();
    Quaternion wanted_bar = quaternion_zero();
    if (kind == ROBOT_SLIDE) pull_slide(w, body, s, bar);
    if (kind == ROBOT_HINGE)
        pull_hinge(w, body, c, wanted, s, bar, c_bar, &wanted_bar);
    else
        pull_turn(c, wanted, kind == ROBOT_BALL, s, bar, c_bar, &wanted_bar);
    pull_relative(w, body, bar->spin, c_bar, p_bar);
    if (kind != ROBOT_BALL) {
        pull_turned(&carried_bar, own, bar->axis);
        vector_bar(w, body, ARTICULATED_axis_x, rotation_in(&carried, bar->axis));
    }
    wanted_bar = quaternion_added(wanted_bar, pull_rotation(wanted, &carried_bar));
    p_bar->q = quaternion_added(p_bar->q, pull_first(wanted_bar, rest));
    rest_bar(w, body, pull_second(p->q, wanted_bar));
    pull_arms(w, body, c, p, bar, c_bar, p_bar);
}

// ---- rate and power -------------------------------------------------------------------------------------------------
// power = effort rate, effort = (f - K rate)/h, rate = axis.dw of a hinge, axis.dv of a slide, by u'; it counts as
// sqrt(power^2 + 1e-6). The rate of a slide, and a ball's angular velocity R'(dw), are of the new state.

// Whether anything depends on the rate of the body's joint: the new state, a metric by the power of a motor, a column.
HD bool rate_counts(const ArticulatedLanes *w, int body)
{
    return w->bodies[body].driven != 0 || w->bodies[body].kind == ROBOT_SLIDE ||
           (w->bodies[body].joint >= 0 && columns_count(w));
}

// Before lambda is known: what the angular velocity of a ball in the new state adds to ubar'.
HD void pull_spin(const ArticulatedLanes *w, int body)
{
    const int at = articulated_at(body), parent = w->bodies[body].parent;
    const Rotation r = rotation_of(limb4(w, at + ARTICULATED_Q));
    const Vector3 turn_bar = rotation_out(&r, bar3(w, at + ARTICULATED_RATE));
    bar_add3(w, at + ARTICULATED_U + 3, turn_bar);
    if (parent >= 0) bar_add3(w, articulated_at(parent) + ARTICULATED_U + 3, scaled(splat(-1.0), turn_bar));
}

// Before lambda is known: the bars of rate, f and K into their cells, and what the rate adds to ubar'. In the cells of
// rate and effort stand the bars of these two by the new state and by columns.
HD void pull_rate(const ArticulatedLanes *w, int body, real h, real power_bar)
{
    const int at = articulated_at(body), parent = w->bodies[body].parent;
    const real rate = joint_solved_rate(w, body), K = limb(w, at + ARTICULATED_MOTOR_D);
    const real effort = fused(-K, rate, limb(w, at + ARTICULATED_MOTOR_F)) / h, power = effort * rate;
    const real power_factor = power_bar * power / square_root(fused(power, power, splat(1e-6)));
    real effort_bar = power_factor * rate / h, rate_bar;
    if (columns_count(w)) effort_bar = effort_bar + bar(w, at + ARTICULATED_EFFORT) / h;
    rate_bar = fused(power_factor, effort, -(effort_bar * K));
    rate_bar = rate_bar + bar(w, at + ARTICULATED_RATE);
    const Vector3 axis = limb3(w, at + ARTICULATED_AXIS);
    Vector3 force = vector3_zero(), torque = scaled(rate_bar, axis), torque_p = torque;
    if (w->bodies[body].kind == ROBOT_SLIDE) {
        const Rotation r = rotation_of(limb4(w, at + ARTICULATED_Q));
        const Vector3 r_c = rotation_out(&r, body_vector(w, body, ARTICULATED_anchor_x));
        const Vector3 x_c = added(limb3(w, at + ARTICULATED_X), r_c);
        force = torque;
        torque = cross3(r_c, force);
        if (parent >= 0) torque_p = cross3(less(x_c, limb3(w, articulated_at(parent) + ARTICULATED_X)), force);
    }
    set_bar(w, at + ARTICULATED_RATE, rate_bar);
    set_bar(w, at + ARTICULATED_MOTOR_F, effort_bar);
    set_bar(w, at + ARTICULATED_MOTOR_D, -(effort_bar * rate));
    bar_add3(w, at + ARTICULATED_U, force);
    bar_add3(w, at + ARTICULATED_U + 3, torque);
    if (parent < 0) return;
    bar_add3(w, articulated_at(parent) + ARTICULATED_U, scaled(splat(-1.0), force));
    bar_add3(w, articulated_at(parent) + ARTICULATED_U + 3, scaled(splat(-1.0), torque_p));
}

// Afterwards: what these cells say, and the axis and arms of the rate.
HD void pull_power(const ArticulatedLanes *w, int body, const ArticulatedSolved *u, const ArticulatedJointState *s,
                   ArticulatedAxis *axis_bar, ArticulatedJointState *s_bar)
{
    const int at = articulated_at(body);
    const real rate_bar = bar(w, at + ARTICULATED_RATE);
    const bool slides = w->bodies[body].kind == ROBOT_SLIDE;
    const Vector3 pull = scaled(rate_bar, s->axis);
    axis_bar->motor_K = axis_bar->motor_K + bar(w, at + ARTICULATED_MOTOR_D);
    axis_bar->motor_f = axis_bar->motor_f + bar(w, at + ARTICULATED_MOTOR_F);
    s_bar->axis = along(s_bar->axis, rate_bar, slides ? solved_apart(u, s) : less(u->w_c, u->w_p));
    if (!slides) return;
    s_bar->r_c = added(s_bar->r_c, cross3(pull, u->w_c));
    s_bar->r_p = less(s_bar->r_p, cross3(pull, u->w_p));
}

// The bar of the rate in the new state becomes that of the rate in the old one.
HD void pull_stored(const ArticulatedLanes *w, int body, const ArticulatedSolved *u, const ArticulatedPose *c,
                    const ArticulatedJointState *s_bar, ArticulatedPoseBar *c_bar)
{
    const int at = articulated_at(body) + ARTICULATED_RATE, kind = w->bodies[body].kind;
    if (kind == ROBOT_BALL) {
        pull_turned(&c_bar->r, bar3(w, at), less(u->w_c, u->w_p));
        set_bar3(w, at, rotation_in(&c->r, s_bar->spin));
    } else if (rate_counts(w, body)) {
        set_bar(w, at, kind == ROBOT_SLIDE ? s_bar->rate : splat(0.0));
    }
}

// ---- all of it ------------------------------------------------------------------------------------------------------

HD void pull_joint(const ArticulatedLanes *w, int body, const ArticulatedPose *c, real h, ArticulatedPoseBar *c_bar)
{
    const int parent = w->bodies[body].parent;
    const ArticulatedPose p = body_pose(w, parent);
    const ArticulatedJointState s = joint_state(w, body, c, &p);
    const ArticulatedAxis axis = joint_axis(w, body, h, &s);
    const ArticulatedRows rows = joint_rows(w, body, h, &s, &axis);
    const ArticulatedSolved u = {solved(w, body, 0), solved(w, body, 3), solved(w, parent, 0), solved(w, parent, 3)};
    const ArticulatedSolved l = {lambda(w, body, 0), lambda(w, body, 3), lambda(w, parent, 0), lambda(w, parent, 3)};
    ArticulatedPoseBar p_bar = pose_bar_zero();
    ArticulatedJointState s_bar;
    ArticulatedRows rows_bar;
    ArticulatedAxis axis_bar;
    s_bar.gap = s_bar.turn = s_bar.spin = vector3_zero();
    s_bar.coordinate = s_bar.rate = axis_bar.K = axis_bar.f = splat(0.0);
    axis_bar.motor_K = axis_bar.motor_f = splat(0.0);
    pull_solved(&u, &l, &s, &rows, &rows_bar, &s_bar);
    if (rate_counts(w, body)) pull_power(w, body, &u, &s, &axis_bar, &s_bar);
    pull_rows(w, body, h, &s, &axis, &rows_bar, &axis_bar, &s_bar);
    if (w->bodies[body].joint >= 0) pull_axis(w, body, h, &s, &axis_bar, &s_bar);
    pull_state(w, body, c, &p, &s, &s_bar, c_bar, &p_bar);
    pull_stored(w, body, &u, c, &s_bar, c_bar);
    pose_bar_add(w, parent, &p_bar);
}

#endif
