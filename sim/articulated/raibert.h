// Raibert's control of any number of legs. A clock gives each leg its phase: stance for `duty` of a stride, then swing.
//     swing    the foot goes to x_f = x_n + v T + v T_s/2 + k (v - v_des), on the ground below it: v of the robot's
//              centre of mass, T the rest of the swing, T_s = duty/f the duration of stance; x_n, where the foot
//              stands at t = 0 from the middle of all feet, is kept from the centre of mass, and turns with the body
//     stance   the feet push so that together they give the body
//                  force  = m (g c + k_z (z_des - z) - d_z v_z) up,   m k_v (v_des - v) along the ground
//                  torque = I (k e - d w), e the rotation from the body's upright axes
//              through least squares (balance.h) and J' (leg.h); motors hold the feet with a fraction of their gains.
//              c = 1, or with `bounce` the half sine of each foot's stance, whose mean over a stride is 1 too
// A foot that touches the ground late in its swing stands; one that has not touched at its end reaches on downwards.
// Sources: M. H. Raibert, Legged robots that balance, MIT Press 1986 (three controllers: hopping, speed by the
// foothold, attitude in stance); M. H. Raibert, Trotting, pacing and bounding by a quadruped robot, J. Biomechanics 23,
// suppl. 1, 1990 (virtual legs: feet that share a stance); J. Di Carlo et al., Dynamic locomotion in the MIT Cheetah 3
// through convex model-predictive control, IROS 2018 (the foothold with yaw rate).
#ifndef HOPSCOTCH_ARTICULATED_RAIBERT_H
#define HOPSCOTCH_ARTICULATED_RAIBERT_H

#include "balance.h"
#include "foot_path.h"
#include "leg.h"
#include "point.h"

typedef struct RaibertSettings {
#define ARTICULATED_MEMBER(name, ...) real name;
    ARTICULATED_RAIBERT(ARTICULATED_MEMBER)
#undef ARTICULATED_MEMBER
} RaibertSettings;

// What all legs of a step have in common.
typedef struct RaibertView {
    RaibertSettings p;
    real t, clock;           // s; strides since the first step, negative: all feet stand
    real yaw_rate;           // commanded now
    ArticulatedPose base;    //
    Vector3 ahead, left, up; // the body's heading
    Quaternion heading;      //
    Vector3 centre, v;       // of the robot's mass
    Vector3 v_des;           //
    Vector3 course;          // the heading that is commanded
    real ground, height;     // mean height of the last footholds; that of the base over them that is commanded
} RaibertView;

HD const ArticulatedLeg *raibert_legs(const ArticulatedLanes *w)
{
    return (const ArticulatedLeg *)(w->assets + w->c.legs);
}
HD int leg_at(const ArticulatedLanes *w, int leg) { return w->c.raibert + RAIBERT_CELLS + RAIBERT_LEG_CELLS * leg; }

HD RaibertSettings raibert_settings(const ArticulatedLanes *w)
{
    RaibertSettings p;
#define ARTICULATED_LOAD(name, ...) p.name = lanes_parameter(w->group, w->c.raibert_row + RAIBERT_##name);
    ARTICULATED_RAIBERT(ARTICULATED_LOAD)
#undef ARTICULATED_LOAD
    return p;
}

// ---- the body -------------------------------------------------------------------------------------------------------

HD Vector3 raibert_ahead(const ArticulatedPose *pose)
{
    const real x = pose->r.x.x, y = pose->r.x.y, length = square_root(fused(x, x, y * y));
    const mask upright = MASK(value_of(length) > 1e-6);
    const real scale = 1.0 / select_real(upright, length, splat(1.0));
    return vector3(select_real(upright, scale * x, splat(1.0)), select_real(upright, scale * y, splat(0.0)),
                   splat(0.0));
}

HD void raibert_mass(const ArticulatedLanes *w, Vector3 *centre, Vector3 *v, real *mass)
{
    Vector3 arm = vector3_zero(), momentum = vector3_zero();
    *mass = splat(0.0);
    for (int i = 0; i < w->c.n_bodies; i++) {
        const real m = body_number(w, i, ARTICULATED_mass);
        arm = along(arm, m, limb3(w, articulated_at(i) + ARTICULATED_X));
        momentum = along(momentum, m, limb3(w, articulated_at(i) + ARTICULATED_V));
        *mass = *mass + m;
    }
    *centre = scaled(1.0 / *mass, arm);
    *v = scaled(1.0 / *mass, momentum);
}

// v by an angle about z
HD Vector3 raibert_turned(Vector3 v, real angle)
{
    real s, c;
    sine_cosine(angle, &s, &c);
    return vector3(fused(c, v.x, -(s * v.y)), fused(s, v.x, c * v.y), v.z);
}

HD RaibertView raibert_view(const ArticulatedLanes *w, real t)
{
    RaibertView v;
    real mass;
    v.p = raibert_settings(w);
    v.t = t;
    v.clock = (t - v.p.start_time) * v.p.stride_frequency;
    v.base = body_pose(w, w->c.base);
    v.ahead = raibert_ahead(&v.base);
    v.left = vector3(-v.ahead.y, v.ahead.x, splat(0.0));
    v.up = vector3(splat(0.0), splat(0.0), splat(1.0));
    v.heading = quaternion_about(v.up, arc_tangent2(v.ahead.y, v.ahead.x));
    raibert_mass(w, &v.centre, &v.v, &mass);
    // the commands grow over ramp_time
    const real since = greater_of(t - v.p.start_time, splat(0.0)), ramp = greater_of(v.p.ramp_time, splat(1e-9));
    const real fraction = lesser_of(since / ramp, splat(1.0)), grown = lesser_of(since, ramp);
    const real effective = fused(0.5 * grown, fraction, since - grown); // integral of fraction
    v.yaw_rate = fraction * v.p.yaw_rate;
    v.course = raibert_turned(limb3(w, w->c.raibert + RAIBERT_COURSE), effective * v.p.yaw_rate);
    v.v_des = along(scaled(fraction * v.p.speed, v.ahead), fraction * v.p.speed_left, v.left);
    v.ground = splat(0.0);
    for (int i = 0; i < w->c.n_legs; i++) v.ground = v.ground + limb(w, leg_at(w, i) + RAIBERT_LEG_GROUND);
    v.ground = v.ground / (double)w->c.n_legs;
    v.height = limb(w, w->c.raibert + RAIBERT_HEIGHT) + v.p.body_height;
    return v;
}

// ---- the clock ------------------------------------------------------------------------------------------------------

// x less the greatest whole number that is not above it
HD real raibert_fraction(real x)
{
    const real fraction = x - math_nearest(x - 0.5);
    return select_real(MASK(value_of(fraction) >= 1.0), fraction - 1.0, fraction);
}

// The phase of a leg, from 0 to 1; while all feet stand the middle of stance.
HD real raibert_phase(const ArticulatedLanes *w, const RaibertView *v, int leg)
{
    const real phase = lanes_parameter(w->group, w->c.raibert_row + RAIBERT_PARAMETERS + leg);
    return select_real(MASK(value_of(v->clock) < 0.0), 0.5 * v->p.duty, raibert_fraction(v->clock + phase));
}

// Where the foot stands, in the world.
HD Vector3 raibert_foot(const ArticulatedLanes *w, int leg)
{
    const ArticulatedPose pose = body_pose(w, raibert_legs(w)[leg].foot);
    return added(pose.x, rotation_out(&pose.r, limb3(w, leg_at(w, leg) + RAIBERT_LEG_FOOT)));
}

HD void raibert_update(const ArticulatedLanes *w, int at, Vector3 x, mask which)
{
    const Vector3 was = limb3(w, at);
    set_limb3(w, at,
              vector3(select_real(which, x.x, was.x), select_real(which, x.y, was.y), select_real(which, x.z, was.z)));
}

// Which legs stand, and where the others left the ground.
HD void raibert_switch(const ArticulatedLanes *w, const RaibertView *v, int leg)
{
    const int at = leg_at(w, leg);
    const real phase = raibert_phase(w, v, leg), none = splat(0.0);
    const mask stood = MASK(value_of(limb(w, at + RAIBERT_LEG_STANDS)) != 0.0);
    const mask touches = MASK(value_of(limb(w, articulated_at(raibert_legs(w)[leg].foot) + ARTICULATED_FORCE)) > 0.0);
    const mask leaves = MASK(value_of(phase) >= value_of(v->p.duty)) &
                        MASK(value_of(phase) < value_of(v->p.duty + (1.0 - v->p.duty) * v->p.early));
    const mask stands = (stood | touches) & ~leaves;
    const Vector3 foot = raibert_foot(w, leg);
    const real sole = limb(w, at + RAIBERT_LEG_SOLE), ground = limb(w, at + RAIBERT_LEG_GROUND);
    raibert_update(w, at + RAIBERT_LEG_FROM, foot, stood & ~stands);
    raibert_update(w, at + RAIBERT_LEG_HOLD, foot, stands & ~stood);
    set_limb(w, at + RAIBERT_LEG_GROUND, select_real(stands & ~stood, foot.z - sole, ground));
    set_limb(w, at + RAIBERT_LEG_STANDS, select_real(stands, splat(1.0), none));
    set_limb(w, at + RAIBERT_LEG_SWITCHED, select_real((stood & ~stands) | (stands & ~stood), splat(1.0), none));
    set_limb(w, at + RAIBERT_LEG_PHASE, phase);
}

// ---- swing ----------------------------------------------------------------------------------------------------------

// Where the foot shall land, `rest` seconds from now.
HD Vector3 raibert_foothold(const ArticulatedLanes *w, const RaibertView *v, int leg, real rest)
{
    const int at = leg_at(w, leg);
    const real half = 0.5 * v->p.duty / v->p.stride_frequency;
    const Vector3 own = limb3(w, at + RAIBERT_LEG_NOMINAL);
    const real side = select_real(MASK(value_of(own.y) >= 0.0), splat(1.0), splat(-1.0));
    const real x = own.x + v->p.foot_forward, y = fused(side, v->p.foot_outward, own.y);
    const Vector3 hip = along(scaled(x, v->ahead), y, v->left);
    const Vector3 off = less(v->v, v->v_des);
    Vector3 to = added(v->centre, raibert_turned(hip, v->yaw_rate * (rest + half)));
    to = along(along(to, rest + half, v->v), v->p.placement_gain, off);
    to.z = ground_below(w, to.x, to.y).height + limb(w, at + RAIBERT_LEG_SOLE);
    return to;
}

// Where a swinging foot shall be now; after its swing it goes down.
HD Vector3 raibert_swing(const ArticulatedLanes *w, const RaibertView *v, int leg)
{
    const int at = leg_at(w, leg);
    const real phase = limb(w, at + RAIBERT_LEG_PHASE), duty = v->p.duty;
    const mask late = MASK(value_of(phase) < value_of(duty));
    const real swing = greater_of(1.0 - duty, splat(1e-6));
    const real s = select_real(late, splat(1.0), clamped((phase - duty) / swing, splat(0.0), splat(1.0)));
    const Vector3 to = raibert_foothold(w, v, leg, (1.0 - s) * swing / v->p.stride_frequency);
    const mask stands = MASK(value_of(limb(w, at + RAIBERT_LEG_STANDS)) != 0.0);
    raibert_update(w, at + RAIBERT_LEG_HOLD, to, ~late & ~stands);
    Vector3 foot = path_foot(limb3(w, at + RAIBERT_LEG_FROM), limb3(w, at + RAIBERT_LEG_HOLD), v->p.swing_height, s);
    const real down = v->p.late_speed * phase / v->p.stride_frequency;
    foot.z = foot.z - select_real(late, down, splat(0.0));
    return foot;
}

// ---- stance ---------------------------------------------------------------------------------------------------------

// The share of a foot in carrying the body: it grows and fades over `load` of its stance.
HD real raibert_load(const ArticulatedLanes *w, const RaibertView *v, int leg)
{
    const int at = leg_at(w, leg);
    const real phase = limb(w, at + RAIBERT_LEG_PHASE), duty = v->p.duty;
    const real edge = greater_of(lesser_of(phase, duty - phase), splat(0.0));
    const real fraction = clamped(edge / greater_of(v->p.load * duty, splat(1e-9)), splat(0.1), splat(1.0));
    return select_real(MASK(value_of(limb(w, at + RAIBERT_LEG_STANDS)) != 0.0), fraction, splat(0.0));
}

// The point k of a foot that touches, or is within a centimetre of the one that would touch first.
HD ArticulatedHold raibert_hold(const ArticulatedLanes *w, const RaibertView *v, int leg, int k, real lowest, real load)
{
    ArticulatedHold hold;
    const int foot = raibert_legs(w)[leg].foot;
    const ArticulatedPose pose = body_pose(w, foot);
    const ArticulatedPoint *point = &w->points[w->bodies[foot].point + k];
    const real scale = body_number(w, foot, ARTICULATED_scale);
    const Vector3 c = added(pose.x, point_reach(w, &pose, point, scale));
    const real over = c.z - point->radius;
    hold.n = ground_below(w, c.x, c.y).normal;
    hold.r = less(along(c, splat(-point->radius), hold.n), v->centre);
    hold.weight = load * clamped(1.0 - 100.0 * (over - lowest), splat(0.0), splat(1.0));
    return hold;
}

// Height of a body's lowest point.
HD real raibert_lowest(const ArticulatedLanes *w, int body)
{
    const ArticulatedPose pose = body_pose(w, body);
    const real scale = body_number(w, body, ARTICULATED_scale);
    real lowest = splat(1e30);
    for (int k = 0; k < w->bodies[body].n_own_points; k++) {
        const ArticulatedPoint *point = &w->points[w->bodies[body].point + k];
        const Vector3 c = added(pose.x, point_reach(w, &pose, point, scale));
        lowest = lesser_of(lowest, c.z - point->radius);
    }
    return lowest;
}

// The half sine of all feet that stand by the clock: over a stride its mean is 1.
HD real raibert_bounce(const ArticulatedLanes *w, const RaibertView *v)
{
    real sum = splat(0.0);
    for (int i = 0; i < w->c.n_legs; i++) {
        const real phase = limb(w, leg_at(w, i) + RAIBERT_LEG_PHASE);
        const mask stance = MASK(value_of(phase) < value_of(v->p.duty));
        real s, c;
        sine_cosine(3.141592653589793 * phase / v->p.duty, &s, &c);
        sum = sum + select_real(stance, s, splat(0.0));
    }
    const real by_clock = 1.5707963267948966 * sum / (v->p.duty * (double)w->c.n_legs);
    return select_real(MASK(value_of(v->clock) < 0.0), splat(1.0), by_clock);
}

// While all feet stand: from the centre of mass to the middle of the feet, along the ground.
HD Vector3 raibert_off_centre(const ArticulatedLanes *w, const RaibertView *v)
{
    Vector3 middle = vector3_zero();
    const real fraction = select_real(MASK(value_of(v->clock) < 0.0), splat(1.0), splat(0.0));
    for (int i = 0; i < w->c.n_legs; i++)
        middle = along(middle, splat(1.0 / w->c.n_legs), limb3(w, leg_at(w, i) + RAIBERT_LEG_HOLD));
    return vector3(fraction * (middle.x - v->centre.x), fraction * (middle.y - v->centre.y), splat(0.0));
}

// The wrench on the body that is wanted, about the robot's centre of mass.
HD void raibert_wrench(const ArticulatedLanes *w, const RaibertView *v, real *W)
{
    const int at = w->c.raibert;
    const real mass = limb(w, at + RAIBERT_MASS), c = fused(v->p.bounce, raibert_bounce(w, v) - 1.0, splat(1.0));
    const real low = v->ground + v->height - v->base.x.z;
    const real lift = fused(v->p.height_gain, low, fused(w->gravity, c, -(v->p.height_rate_gain * v->v.z)));
    const Vector3 push =
        along(scaled(v->p.speed_gain, less(v->v_des, v->v)), v->p.centre_gain, raibert_off_centre(w, v));
    real s, cosine;
    sine_cosine(v->p.body_pitch, &s, &cosine);
    const Vector3 e = cross3(v->base.r.z, along(scaled(s, v->ahead), cosine, v->up)), turn = v->base.w;
    const real off = arc_tangent2(cross3(v->ahead, v->course).z, dot3(v->ahead, v->course));
    const real roll = fused(v->p.roll_gain, dot3(e, v->ahead), -(v->p.roll_rate_gain * dot3(turn, v->ahead)));
    const real pitch = fused(v->p.pitch_gain, dot3(e, v->left), -(v->p.pitch_rate_gain * dot3(turn, v->left)));
    const real yaw = fused(v->p.yaw_gain, off, v->p.yaw_rate_gain * (v->yaw_rate - turn.z));
    const Vector3 I = limb3(w, at + RAIBERT_INERTIA);
    const Vector3 torque = along(along(scaled(I.x * roll, v->ahead), I.y * pitch, v->left), I.z * yaw, v->up);
    W[0] = mass * push.x;
    W[1] = mass * push.y;
    W[2] = mass * greater_of(lift, splat(0.0));
    W[3] = torque.x;
    W[4] = torque.y;
    W[5] = torque.z;
}

// Vertical force, roll and pitch matter; the others give way first.
HD void raibert_soft(const ArticulatedLanes *w, const RaibertView *v, real *a)
{
    const real length = limb(w, w->c.raibert + RAIBERT_HEIGHT), square = length * length;
    balance_begin(a, v->p.track_softness, v->p.balance_softness * square);
    a[packed(2, 2)] = v->p.balance_softness;
    a[packed(5, 5)] = v->p.track_softness * square;
}

// One round: y of the points that may push, with what of W the last round left.
HD_CALL void raibert_round(const ArticulatedLanes *restrict w, const RaibertView *v, ArticulatedBalance *balance,
                           bool again, real *W)
{
    real a[PACKED_CELLS];
    raibert_soft(w, v, a);
    for (int i = 0; i < w->c.n_legs; i++) {
        const int foot = raibert_legs(w)[i].foot;
        const real load = raibert_load(w, v, i), lowest = raibert_lowest(w, foot);
        for (int k = 0; k < w->bodies[foot].n_own_points; k++) {
            const ArticulatedHold hold = raibert_hold(w, v, i, k, lowest, load);
            const ArticulatedHold kept = again ? balance_kept(&hold, balance) : hold;
            body_block_add_point(a, kept.weight, hold.r);
            if (again) side_add(W, splat(-1.0), hold.r, balance_first(&hold, balance), vector3_zero());
        }
    }
    real *y = again ? balance->second : balance->first;
    for (int k = 0; k < 6; k++) y[k] = W[k];
    packed_factor(a, 6, splat(1e-14));
    packed_back_of(a, 6, 6, y);
}

// The efforts with which a leg pushes the ground.
HD void raibert_push(const ArticulatedLanes *w, const RaibertView *v, const ArticulatedBalance *balance, int leg)
{
    const ArticulatedLeg *of = &raibert_legs(w)[leg];
    const Vector3 at_foot = raibert_foot(w, leg);
    const real load = raibert_load(w, v, leg), lowest = raibert_lowest(w, of->foot);
    Vector3 force = vector3_zero(), torque = vector3_zero();
    for (int k = 0; k < w->bodies[of->foot].n_own_points; k++) {
        const ArticulatedHold hold = raibert_hold(w, v, leg, k, lowest, load);
        const Vector3 f = balance_force(&hold, balance), r = less(added(hold.r, v->centre), at_foot);
        force = less(force, f);
        torque = less(torque, cross3(r, f));
    }
    for (int k = 0; k < of->n_driven; k++)
        set_limb(w, effort_at(w, of->driven[k]) + ARTICULATED_FEEDFORWARD,
                 leg_effort(w, of->driven[k], at_foot, force, torque));
}

HD void raibert_stance(const ArticulatedLanes *w, const RaibertView *v)
{
    ArticulatedBalance balance;
    real W[6];
    balance.friction = v->p.cone;
    raibert_wrench(w, v, W);
    raibert_round(w, v, &balance, false, W);
    raibert_round(w, v, &balance, true, W);
    for (int i = 0; i < w->c.n_legs; i++) raibert_push(w, v, &balance, i);
}

// ---- commands -------------------------------------------------------------------------------------------------------

// Where the foot shall be, in the axes of the base: while it stands where it touched, by the base as it should be.
HD ArticulatedLegTarget raibert_target(const ArticulatedLanes *w, const RaibertView *v, int leg)
{
    ArticulatedLegTarget target;
    const int at = leg_at(w, leg), foot = raibert_legs(w)[leg].foot;
    const mask stands = MASK(value_of(limb(w, at + RAIBERT_LEG_STANDS)) != 0.0);
    const real one = select_real(stands, splat(1.0), splat(0.0));
    const Quaternion level =
        quaternion_times(v->heading, quaternion_about(vector3(splat(0.0), splat(1.0), splat(0.0)), v->p.body_pitch));
    const Vector3 swing = raibert_swing(w, v, leg), hold = limb3(w, at + RAIBERT_LEG_HOLD);
    const Vector3 world = along(swing, one, less(hold, swing));
    const Vector3 base = vector3(v->base.x.x, v->base.x.y, select_real(stands, v->ground + v->height, v->base.x.z));
    Quaternion q;
    q.x = select_real(stands, level.x, v->base.q.x);
    q.y = select_real(stands, level.y, v->base.q.y);
    q.z = select_real(stands, level.z, v->base.q.z);
    q.w = select_real(stands, level.w, v->base.q.w);
    const Rotation r = rotation_of(q);
    target.foot = limb3(w, at + RAIBERT_LEG_FOOT);
    target.p = rotation_in(&r, less(world, base));
    target.q = quaternion_times(quaternion_conjugate(q), quaternion_times(v->heading, limb4(w, at + RAIBERT_LEG_AXES)));
    target.turn_weight = w->bodies[foot].n_own_points > 1 ? v->p.level_weight : splat(0.0);
    target.damping = v->p.reach_damping;
    return target;
}

// Commands, efforts and gains of a leg; returns the sum of squares of the commands' changes.
HD_CALL real raibert_command(const ArticulatedLanes *restrict w, const RaibertView *v, int leg)
{
    const ArticulatedLeg *of = &raibert_legs(w)[leg];
    const int at = leg_at(w, leg);
    const ArticulatedLegTarget target = raibert_target(w, v, leg);
    const mask stands = MASK(value_of(limb(w, at + RAIBERT_LEG_STANDS)) != 0.0);
    const mask steady = MASK(value_of(limb(w, at + RAIBERT_LEG_SWITCHED)) == 0.0) & MASK(value_of(v->t) > 0.0);
    const real scale = select_real(stands, v->p.stance_gain, splat(1.0));
    real coordinate[ARTICULATED_LEG_JOINTS], squares = splat(0.0);
    for (int k = 0; k < of->n_driven; k++) coordinate[k] = limb(w, articulated_at(of->driven[k]) + ARTICULATED_COMMAND);
    for (int k = 0; k < w->c.reaches; k++) leg_improve(w, of, &target, coordinate);
    for (int k = 0; k < of->n_driven; k++) {
        const int cell = articulated_at(of->driven[k]) + ARTICULATED_COMMAND, effort = effort_at(w, of->driven[k]);
        const real change = coordinate[k] - limb(w, cell), rate = change / w->c.dt;
        const real kd = scale * body_number(w, of->driven[k], ARTICULATED_kd) * v->p.rate_part;
        const real pushed = select_real(stands, limb(w, effort + ARTICULATED_FEEDFORWARD), splat(0.0));
        squares = fused(change, change, squares);
        set_limb(w, cell, coordinate[k]);
        set_limb(w, effort + ARTICULATED_FEEDFORWARD, pushed + select_real(steady, kd * rate, splat(0.0)));
        set_limb(w, effort + ARTICULATED_GAIN_SCALE, scale);
    }
    return squares;
}

// ---- a lane ---------------------------------------------------------------------------------------------------------

// What the metrics need: the squares of the speed's error and of the heading's, once the robot had time to settle.
HD void raibert_score(const ArticulatedLanes *w, const RaibertView *v)
{
    const int at = w->c.raibert;
    const Vector3 off = less(v->v, v->v_des);
    const real turn = arc_tangent2(cross3(v->ahead, v->course).z, dot3(v->ahead, v->course));
    const real fraction = select_real(MASK(value_of(v->t) >= value_of(v->p.settle_time)), splat(1.0), splat(0.0));
    const real speed = fused(off.x, off.x, off.y * off.y);
    set_limb(w, at + RAIBERT_COUNT, limb(w, at + RAIBERT_COUNT) + fraction);
    set_limb(w, at + RAIBERT_SPEED, fused(fraction, speed, limb(w, at + RAIBERT_SPEED)));
    set_limb(w, at + RAIBERT_TURN, fused(fraction, turn * turn, limb(w, at + RAIBERT_TURN)));
}

// Before the step from the time t: commands of all legs' motors; returns the sum of squares of their changes.
HD_CALL real raibert_set(const ArticulatedLanes *restrict w, real t)
{
    const RaibertView v = raibert_view(w, t);
    real squares = splat(0.0);
    raibert_score(w, &v);
    for (int i = 0; i < w->c.n_legs; i++) raibert_switch(w, &v, i);
    raibert_stance(w, &v);
    for (int i = 0; i < w->c.n_legs; i++) squares = squares + raibert_command(w, &v, i);
    return squares;
}

// The point of the foot that touches the ground: the middle of its lowest points.
HD void raibert_begin_leg(const ArticulatedLanes *w, int leg, const ArticulatedPose *base, Vector3 ahead)
{
    const int at = leg_at(w, leg), foot = raibert_legs(w)[leg].foot;
    const ArticulatedPose pose = body_pose(w, foot);
    const Vector3 left = vector3(-ahead.y, ahead.x, splat(0.0)), up = vector3(splat(0.0), splat(0.0), splat(1.0));
    const real scale = body_number(w, foot, ARTICULATED_scale), lowest = raibert_lowest(w, foot);
    Vector3 sum = vector3_zero();
    real weight = splat(0.0);
    for (int k = 0; k < w->bodies[foot].n_own_points; k++) {
        const ArticulatedPoint *point = &w->points[w->bodies[foot].point + k];
        const Vector3 reach = point_reach(w, &pose, point, scale);
        const Vector3 p = point->kind == ARTICULATED_POINT ? body_place(w, foot, scale, vector3_of(point->p))
                                                           : rotation_in(&pose.r, reach);
        const real over = added(pose.x, reach).z - point->radius - lowest;
        const real fraction = clamped(1.0 - 100.0 * over, splat(0.0), splat(1.0));
        sum = along(sum, fraction, p);
        weight = weight + fraction;
    }
    sum = scaled(1.0 / weight, sum);
    const Vector3 touch = added(pose.x, rotation_out(&pose.r, sum)), from_base = less(touch, base->x);
    const Quaternion heading = quaternion_about(up, arc_tangent2(ahead.y, ahead.x));
    for (int k = 0; k < raibert_legs(w)[leg].n_driven; k++) {
        const int joint = articulated_at(raibert_legs(w)[leg].driven[k]);
        set_limb(w, joint + ARTICULATED_COMMAND, limb(w, joint + ARTICULATED_COORDINATE));
    }
    set_limb3(w, at + RAIBERT_LEG_FOOT, sum);
    set_limb3(w, at + RAIBERT_LEG_FROM, touch);
    set_limb3(w, at + RAIBERT_LEG_HOLD, touch);
    set_limb3(w, at + RAIBERT_LEG_NOMINAL, vector3(dot3(from_base, ahead), dot3(from_base, left), splat(0.0)));
    set_limb4(w, at + RAIBERT_LEG_AXES, quaternion_times(quaternion_conjugate(heading), pose.q));
    set_limb(w, at + RAIBERT_LEG_SOLE, touch.z - lowest);
    set_limb(w, at + RAIBERT_LEG_GROUND, lowest);
    set_limb(w, at + RAIBERT_LEG_STANDS, splat(1.0));
    set_limb(w, at + RAIBERT_LEG_SWITCHED, splat(0.0));
    set_limb(w, at + RAIBERT_LEG_PHASE, splat(0.0));
}

// Inertia about the centre of mass: about the axes of the heading.
HD Vector3 raibert_inertia(const ArticulatedLanes *w, Vector3 centre, Vector3 ahead)
{
    const Vector3 axis[3] = {ahead, vector3(-ahead.y, ahead.x, splat(0.0)),
                             vector3(splat(0.0), splat(0.0), splat(1.0))};
    real I[3] = {splat(0.0), splat(0.0), splat(0.0)};
    for (int i = 0; i < w->c.n_bodies; i++) {
        const ArticulatedPose pose = body_pose(w, i);
        const Vector3 r = less(pose.x, centre);
        for (int k = 0; k < 3; k++) {
            const Vector3 own = rotation_in(&pose.r, axis[k]), arm = cross3(axis[k], r);
            I[k] = fused(body_number(w, i, ARTICULATED_mass), dot3(arm, arm), I[k]);
            I[k] = I[k] + dot3(own, symmetric3_times(body_inertia(w, i), own));
        }
    }
    return vector3(I[0], I[1], I[2]);
}

HD_CALL void raibert_begin(const ArticulatedLanes *restrict w)
{
    const int at = w->c.raibert;
    const ArticulatedPose base = body_pose(w, w->c.base);
    const Vector3 ahead = raibert_ahead(&base);
    Vector3 centre, v, middle = vector3_zero();
    real mass, ground = splat(0.0);
    raibert_mass(w, &centre, &v, &mass);
    for (int i = 0; i < w->c.n_legs; i++) {
        raibert_begin_leg(w, i, &base, ahead);
        ground = ground + limb(w, leg_at(w, i) + RAIBERT_LEG_GROUND);
        middle = along(middle, splat(1.0 / w->c.n_legs), limb3(w, leg_at(w, i) + RAIBERT_LEG_NOMINAL));
    }
    for (int i = 0; i < w->c.n_legs; i++) {
        const int nominal = leg_at(w, i) + RAIBERT_LEG_NOMINAL;
        set_limb3(w, nominal, less(limb3(w, nominal), middle));
    }
    set_limb(w, at + RAIBERT_MASS, mass);
    set_limb3(w, at + RAIBERT_INERTIA, raibert_inertia(w, centre, ahead));
    set_limb3(w, at + RAIBERT_COURSE, ahead);
    set_limb(w, at + RAIBERT_HEIGHT, base.x.z - ground / (double)w->c.n_legs);
    for (int k = RAIBERT_COUNT; k < RAIBERT_CELLS; k++) set_limb(w, at + k, splat(0.0));
}

// The rms of the errors; of a lane that ended before it settled that of standing still.
HD void raibert_metrics(const ArticulatedLanes *w, mask which)
{
    const int at = w->c.raibert;
    const real count = limb(w, at + RAIBERT_COUNT);
    const mask some = MASK(value_of(count) > 0.0);
    const real n = select_real(some, count, splat(1.0));
    const RaibertSettings p = raibert_settings(w);
    const real still = square_root(fused(p.speed, p.speed, p.speed_left * p.speed_left));
    const real speed = square_root(limb(w, at + RAIBERT_SPEED) / n), turn = square_root(limb(w, at + RAIBERT_TURN) / n);
    lanes_set_metric(w->group, w->c.raibert_metric, select_real(some, speed, still), which);
    lanes_set_metric(w->group, w->c.raibert_metric + 1, turn, which);
}

#endif
