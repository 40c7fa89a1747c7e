// The rows of a joint between a body c and its parent p. Both sides act at the body's anchor x_c, so that their
// wrenches cancel: with r_c, r_p from the centres to x_c, dv = v_c + w_c x r_c - v_p - w_p x r_p and dw = w_c - w_p,
//     force on c:  f - K dv,   torque on c:  t - T dw          (impulses of the step h)
// where K, T and f, t are implicit springs: a spring k, d with error C gives K = h^2 k + h d and f = -h k C.
//     attach    C = x_c - x_p; of a slide only across its axis
//     hinge     C = a_p x a_c, across the axis;  weld, slide  C = the rotation vector of c in p;  ball: none
//     axis      C = coordinate + encoder - command, with the motor's kp and kd; passive spring and damper, friction,
//               limits;
//               armature adds its inertia to K and its old momentum to f. Where the control commands efforts too, the
//               motor gives s (-kp C - kd rate + bias) + e, with the scale s of its gains and the effort e
// The old momentum of an armature is that of the rate that the last solve gave, by the row of that solve: the new row
// times the old velocities lacks J' u, the derivative of the row, in which a slide on a turning parent feels the
// centrifugal force, at any step. Of a hinge J' u is 0. A ball's rate turns with its body: I_a times the derivative of
// its components in body axes is the torque of its armature, as in MuJoCo.
#ifndef HOPSCOTCH_ARTICULATED_JOINT_H
#define HOPSCOTCH_ARTICULATED_JOINT_H

#include "tree.h"

typedef struct ArticulatedJointState {
    Vector3 gap;      // x_c - x_p
    Vector3 r_c, r_p; //
    Vector3 axis;     // of hinge and slide, as the parent carries it; of a ball that of its turn
    Vector3 spin;     // angular velocity against the parent; of a ball that of the last solve, turned with the body
    Vector3 turn;     // error of the orientation
    real coordinate;  //
    real rate;        // of the coordinate, by the last solve; of a slide with the row of that solve
} ArticulatedJointState;

// The orientation of c against where p wants it, in the world.
HD Quaternion joint_turned(const ArticulatedPose *c, Quaternion wanted)
{
    return quaternion_times(c->q, quaternion_conjugate(wanted));
}

// The angle about the axis of a quaternion in body axes, the one nearest to `last`.
HD real joint_twist(Quaternion q, Vector3 axis, real last)
{
    const real sine = dot3(vector3(q.x, q.y, q.z), axis);
    const real sign = select_real(MASK(value_of(q.w) < 0.0), splat(-1.0), splat(1.0));
    const real angle = 2.0 * arc_tangent2(sign * sine, sign * q.w);
    return fused(splat(6.283185307179586), math_nearest((last - angle) * 0.15915494309189535), angle);
}

HD ArticulatedJointState joint_state(const ArticulatedLanes *w, int body, const ArticulatedPose *c,
                                     const ArticulatedPose *p)
{
    ArticulatedJointState s;
    const int kind = w->bodies[body].kind, at = articulated_at(body);
    const Quaternion wanted = quaternion_times(p->q, body_rest(w, body));
    const Vector3 own = body_vector(w, body, ARTICULATED_axis_x);
    const real reference = body_number(w, body, ARTICULATED_reference);
    s.r_c = rotation_out(&c->r, body_vector(w, body, ARTICULATED_anchor_x));
    const Vector3 x_c = added(c->x, s.r_c);
    s.gap = less(less(x_c, p->x), rotation_out(&p->r, body_vector(w, body, ARTICULATED_seat_x)));
    s.r_p = less(x_c, p->x);
    const Rotation carried = rotation_of(wanted);
    s.axis = rotation_out(&carried, own);
    s.coordinate = s.rate = splat(0.0);
    s.spin = kind == ROBOT_BALL ? rotation_out(&c->r, limb3(w, at + ARTICULATED_RATE)) : less(c->w, p->w);
    s.turn = vector3_zero();
    if (kind == ROBOT_HINGE) {
        s.turn = cross3(s.axis, rotation_out(&c->r, own));
        const Quaternion relative = quaternion_times(quaternion_conjugate(wanted), c->q);
        s.coordinate = reference + joint_twist(relative, own, limb(w, at + ARTICULATED_COORDINATE) - reference);
        s.rate = dot3(s.axis, s.spin);
    } else {
        s.turn = quaternion_logarithm(joint_turned(c, wanted));
    }
    if (kind == ROBOT_BALL) {
        s.coordinate = length3(s.turn);
        s.axis = scaled(1.0 / select_real(MASK(value_of(s.coordinate) > 0.0), s.coordinate, splat(1.0)), s.turn);
    }
    if (kind == ROBOT_SLIDE) {
        s.coordinate = reference + dot3(s.axis, s.gap);
        s.rate = limb(w, at + ARTICULATED_RATE);
    }
    return s;
}

// ---- the axis -------------------------------------------------------------------------------------------------------

typedef struct ArticulatedAxis {
    real K, f;             // all that acts along it
    real motor_K, motor_f; // of it the motor's
} ArticulatedAxis;

// Of the gains of a body's motor.
HD real joint_gain_scale(const ArticulatedLanes *w, int body)
{
    return w->c.efforts > 0 ? limb(w, effort_at(w, body) + ARTICULATED_GAIN_SCALE) : splat(1.0);
}

// How far the motor's controller sees the joint from its command: by the encoder.
HD real motor_error(const ArticulatedLanes *w, int body, real coordinate)
{
    const real seen =
        body_varies(w, body, ARTICULATED_encoder) ? coordinate + body_number(w, body, ARTICULATED_encoder) : coordinate;
    return seen - limb(w, articulated_at(body) + ARTICULATED_COMMAND);
}

// A motor's effort is bias - kp C - kd rate.
typedef struct ArticulatedGains {
    real kp, kd, bias;
} ArticulatedGains;

HD bool motor_has_voltage(const ArticulatedLanes *w, int body) { return body_varies(w, body, ARTICULATED_resistance); }
// Effort by voltage.
HD real motor_strength(const ArticulatedLanes *w, int body)
{
    return body_number(w, body, ARTICULATED_gear) * body_number(w, body, ARTICULATED_kt) /
           body_number(w, body, ARTICULATED_resistance);
}

// Those that its numbers say.
HD ArticulatedGains motor_numbers(const ArticulatedLanes *w, int body)
{
    const real scale = joint_gain_scale(w, body);
    const ArticulatedGains gains = {scale * body_number(w, body, ARTICULATED_kp),
                                    scale * body_number(w, body, ARTICULATED_kd),
                                    scale * body_number(w, body, ARTICULATED_bias)};
    return gains;
}

// Of a motor with a voltage they give V = bias - kp C - kd rate, within +-voltage, and its effort is
//     gear kt/R (V - gear emf rate)
// whose last term, the back-EMF, stays where V is at its end.
HD real motor_voltage(const ArticulatedLanes *w, int body, const ArticulatedGains *of, real C, real rate, mask *bound)
{
    const real most = body_number(w, body, ARTICULATED_voltage), V = of->bias - fused(of->kp, C, of->kd * rate);
    *bound = MASK(value_of(V) > value_of(most)) | MASK(value_of(V) < value_of(-most));
    return clamped(V, -most, most);
}

HD ArticulatedGains motor_gains(const ArticulatedLanes *w, int body, real C, real rate)
{
    ArticulatedGains gains = motor_numbers(w, body);
    if (!motor_has_voltage(w, body)) return gains;
    mask bound;
    const real zero = splat(0.0), V = motor_voltage(w, body, &gains, C, rate, &bound);
    const real back = body_number(w, body, ARTICULATED_gear) * body_number(w, body, ARTICULATED_emf);
    const real strength = motor_strength(w, body);
    gains.kp = strength * select_real(bound, zero, gains.kp);
    gains.kd = strength * (select_real(bound, zero, gains.kd) + back);
    gains.bias = strength * select_real(bound, V, gains.bias);
    return gains;
}

// A motor that reaches an end of its efforts is a constant effort for this step. old: gets its effort in the old state,
// or NULL.
HD void axis_motor(const ArticulatedLanes *w, int body, real h, const ArticulatedJointState *s, real *old,
                   ArticulatedAxis *axis)
{
    const ArticulatedEnds ends = motor_ends(w, body);
    const real C = motor_error(w, body, s->coordinate);
    const ArticulatedGains gains = motor_gains(w, body, C, s->rate);
    const real kp = gains.kp, kd = gains.kd, bias = gains.bias;
    real effort = bias - fused(kp, C, kd * s->rate), held = bias - kp * C;
    if (w->c.efforts > 0) {
        const real feedforward = limb(w, effort_at(w, body) + ARTICULATED_FEEDFORWARD);
        effort = effort + feedforward;
        held = held + feedforward;
    }
    const mask bound = MASK(value_of(effort) > value_of(ends.high)) | MASK(value_of(effort) < value_of(ends.low));
    axis->motor_K = select_real(bound, splat(0.0), h * fused(h, kp, kd));
    axis->motor_f = h * select_real(bound, clamped(effort, ends.low, ends.high), held);
    if (old != NULL) *old = clamped(effort, ends.low, ends.high);
}

// Friction is implicit: a damping, which holds for a step. With |rate| = sqrt(rate^2 + friction_speed^2), e the motor's
// effort in the old state and s = exp(-(rate/stribeck)^2) it is
//     damping + (friction + load |e| + (stiction + stickload |e|) s)/|rate| + drag |rate|
// Source: B. Armstrong-Helouvry, P. Dupont & C. Canudas de Wit, Automatica 30(7), 1994; friction by load: M. Duclusaud
// et al., Extended friction models for the physics simulation of servo actuators, arXiv:2410.08650.
HD bool friction_has_load(const ArticulatedLanes *w, int body)
{
    return body_varies(w, body, ARTICULATED_load) || body_varies(w, body, ARTICULATED_stickload);
}
typedef struct ArticulatedDryFriction {
    real smooth, level, sticks; // |rate|; the dry friction (N m); s, or 0
} ArticulatedDryFriction;

HD ArticulatedDryFriction axis_friction(const ArticulatedLanes *w, int body, real rate, real effort)
{
    ArticulatedDryFriction of;
    of.smooth = square_root(fused(rate, rate, w->friction_speed * w->friction_speed));
    of.level = body_number(w, body, ARTICULATED_friction);
    of.sticks = splat(0.0);
    if (!number_counts(w, body, ARTICULATED_stribeck, 2)) return of;
    if (body_varies(w, body, ARTICULATED_load))
        of.level = fused(body_number(w, body, ARTICULATED_load), absolute(effort), of.level);
    if (body_varies(w, body, ARTICULATED_stribeck)) {
        const real x = rate / body_number(w, body, ARTICULATED_stribeck);
        const real more = fused(body_number(w, body, ARTICULATED_stickload), absolute(effort),
                                body_number(w, body, ARTICULATED_stiction));
        of.sticks = exponential(-(x * x));
        of.level = fused(more, of.sticks, of.level);
    }
    return of;
}
HD real axis_damping(const ArticulatedLanes *w, int body, const ArticulatedDryFriction *of)
{
    const real damping = body_number(w, body, ARTICULATED_damping) + of->level / of->smooth;
    return body_varies(w, body, ARTICULATED_drag) ? fused(body_number(w, body, ARTICULATED_drag), of->smooth, damping)
                                                  : damping;
}

// Beyond its range a joint meets a spring; its damping fades in.
HD void axis_limit(const ArticulatedLanes *w, int body, real h, real coordinate, ArticulatedAxis *axis)
{
    const real high = coordinate - body_number(w, body, ARTICULATED_high);
    const real low = coordinate - body_number(w, body, ARTICULATED_low);
    const mask above = MASK(value_of(high) > 0.0), below = MASK(value_of(low) < 0.0);
    const real beyond = select_real(above, high, select_real(below, low, splat(0.0)));
    if (!any_lane(MASK(value_of(beyond) != 0.0))) return;
    const real depth = absolute(beyond), fade = lesser_of(depth * 1e3, splat(1.0));
    const real K = h * fused(h, w->limit_stiffness, w->limit_damping * fade);
    axis->K = axis->K + select_real(MASK(value_of(depth) > 0.0), K, splat(0.0));
    axis->f = axis->f - h * w->limit_stiffness * beyond;
}

HD ArticulatedAxis joint_axis(const ArticulatedLanes *w, int body, real h, const ArticulatedJointState *s)
{
    ArticulatedAxis axis;
    const real armature = body_number(w, body, ARTICULATED_armature), rate = s->rate;
    const real stiffness = body_number(w, body, ARTICULATED_stiffness);
    const real stretch = s->coordinate - body_number(w, body, ARTICULATED_spring);
    real effort = splat(0.0);
    axis.motor_K = axis.motor_f = splat(0.0);
    if (w->bodies[body].driven != 0) axis_motor(w, body, h, s, friction_has_load(w, body) ? &effort : NULL, &axis);
    const ArticulatedDryFriction friction = axis_friction(w, body, rate, effort);
    const real damping = axis_damping(w, body, &friction);
    axis.K = axis.motor_K + fused(h, fused(h, stiffness, damping), armature);
    axis.f = axis.motor_f + fused(armature, rate, -(h * stiffness * stretch));
    axis_limit(w, body, h, s->coordinate, &axis);
    return axis;
}

// ---- all rows -------------------------------------------------------------------------------------------------------

// K = k I + k_more axis axis', T = t I + t_more axis axis'; f, torque: see above.
typedef struct ArticulatedRows {
    real k, k_more, t, t_more;
    Vector3 f, torque;
} ArticulatedRows;

// A motor pulls a ball's body to its rest. Armature and dry friction act on the relative angular velocity, the limit on
// the angle between the body and its rest.
HD void joint_rows_ball(const ArticulatedLanes *w, int body, real h, const ArticulatedJointState *s,
                        ArticulatedRows *rows)
{
    ArticulatedAxis limit;
    const real kp = body_number(w, body, ARTICULATED_kp) + body_number(w, body, ARTICULATED_stiffness);
    const real kd = body_number(w, body, ARTICULATED_kd) + body_number(w, body, ARTICULATED_damping);
    const real smooth = square_root(fused(w->friction_speed, w->friction_speed, dot3(s->spin, s->spin)));
    const real damping = kd + body_number(w, body, ARTICULATED_friction) / smooth;
    const real armature = body_number(w, body, ARTICULATED_armature);
    limit.K = limit.f = splat(0.0);
    axis_limit(w, body, h, s->coordinate, &limit);
    rows->t = fused(h, fused(h, kp, damping), armature);
    rows->t_more = limit.K;
    rows->torque = along(along(scaled(-(h * kp), s->turn), armature, s->spin), limit.f, s->axis);
}

HD ArticulatedRows joint_rows(const ArticulatedLanes *w, int body, real h, const ArticulatedJointState *s,
                              const ArticulatedAxis *axis)
{
    ArticulatedRows rows;
    const real turn = h * fused(h, w->attach_turn_stiffness, w->attach_turn_damping);
    rows.k = h * fused(h, w->attach_stiffness, w->attach_damping);
    rows.f = scaled(-(h * w->attach_stiffness), s->gap);
    rows.t = turn;
    rows.torque = scaled(-(h * w->attach_turn_stiffness), s->turn);
    rows.k_more = rows.t_more = splat(0.0);
    switch ((RobotJointKind)w->bodies[body].kind) {
    case ROBOT_HINGE:
        rows.t_more = axis->K - turn;
        rows.torque = along(rows.torque, axis->f, s->axis);
        break;
    case ROBOT_SLIDE: {
        const real component = dot3(s->axis, rows.f);
        rows.k_more = axis->K - rows.k;
        rows.f = along(rows.f, axis->f - component, s->axis);
        break;
    }
    case ROBOT_BALL: joint_rows_ball(w, body, h, s, &rows); break;
    case ROBOT_FREE: // has no rows
    case ROBOT_WELD: break;
    }
    return rows;
}

// What metrics and samples take from a joint.
HD void joint_store(const ArticulatedLanes *w, int body, const ArticulatedJointState *s, const ArticulatedAxis *axis)
{
    const int at = articulated_at(body);
    set_limb(w, at + ARTICULATED_COORDINATE, s->coordinate);
    set_limb3(w, at + ARTICULATED_AXIS, s->axis);
    if (w->bodies[body].kind == ROBOT_SLIDE) set_limb3(w, at + ARTICULATED_REACH, s->r_p);
    set_limb(w, at + ARTICULATED_MOTOR_F, axis->motor_f);
    set_limb(w, at + ARTICULATED_MOTOR_D, axis->motor_K);
}

// The rate of a hinge or slide by u', with the row that joint_store left. The body has not moved yet; its parent may
// have.
HD real joint_solved_rate(const ArticulatedLanes *w, int body)
{
    const int at = articulated_at(body), parent = articulated_at(w->bodies[body].parent);
    const bool slides = w->bodies[body].kind == ROBOT_SLIDE, grounded = w->bodies[body].parent < 0;
    const Vector3 turn = limb3(w, at + ARTICULATED_U + 3), axis = limb3(w, at + ARTICULATED_AXIS);
    const Vector3 turn_p = grounded ? vector3_zero() : limb3(w, parent + ARTICULATED_U + 3);
    if (!slides) return dot3(axis, less(turn, turn_p));
    const Vector3 v = limb3(w, at + ARTICULATED_U), r_p = limb3(w, at + ARTICULATED_REACH);
    const Rotation r = rotation_of(limb4(w, at + ARTICULATED_Q));
    const Vector3 r_c = rotation_out(&r, body_vector(w, body, ARTICULATED_anchor_x));
    Vector3 apart = added(v, cross3(turn, r_c));
    if (!grounded) apart = less(apart, added(limb3(w, parent + ARTICULATED_U), cross3(turn_p, r_p)));
    return dot3(axis, apart);
}

// The same of a ball, in body axes.
HD Vector3 joint_solved_spin(const ArticulatedLanes *w, int body)
{
    const int at = articulated_at(body) + ARTICULATED_U + 3, parent = w->bodies[body].parent;
    const Rotation r = rotation_of(limb4(w, articulated_at(body) + ARTICULATED_Q));
    const Vector3 turn = limb3(w, at),
                  turn_p = parent < 0 ? vector3_zero() : limb3(w, articulated_at(parent) + ARTICULATED_U + 3);
    return rotation_in(&r, less(turn, turn_p));
}

// Adds the rows to the body's block a[21] and b[6], starts its coupling B[36], and what its parent gets.
HD void joint_add(const ArticulatedRows *rows, const ArticulatedJointState *s, real *a, real *b, real *B,
                  ArticulatedPassed *passed)
{
    for (int k = 0; k < PACKED_CELLS; k++) passed->a[k] = splat(0.0);
    for (int k = 0; k < 6; k++) passed->b[k] = splat(0.0);
    body_block_add_point(a, rows->k, s->r_c);
    body_block_add_point(passed->a, rows->k, s->r_p);
    coupling_of_point(B, rows->k, s->r_c, s->r_p);
    body_block_add_turn(a, rows->t, rows->t_more, s->axis);
    body_block_add_turn(passed->a, rows->t, rows->t_more, s->axis);
    coupling_add_turn(B, rows->t, rows->t_more, s->axis);
    side_add(b, splat(1.0), s->r_c, rows->f, rows->torque);
    side_add(passed->b, splat(-1.0), s->r_p, rows->f, rows->torque);
}

HD void joint_add_slide(const ArticulatedRows *rows, const ArticulatedJointState *s, real *a, real *B,
                        ArticulatedPassed *passed)
{
    real Jc[6], Jp[6];
    row_of_point(s->axis, s->r_c, Jc);
    row_of_point(s->axis, s->r_p, Jp);
    body_block_add_row(a, rows->k_more, Jc);
    body_block_add_row(passed->a, rows->k_more, Jp);
    coupling_add_row(B, rows->k_more, Jc, Jp);
}

#endif
