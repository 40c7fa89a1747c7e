// The kernel of articulated robots.
#ifndef HOPSCOTCH_ARTICULATED_ADVANCE_H
#define HOPSCOTCH_ARTICULATED_ADVANCE_H

#include "debug.h"
#include "design.h"
#include "reference.h"
#include "two.h"

// ---- a lane's begin -------------------------------------------------------------------------------------------------

HD ArticulatedLanes articulated_open(const Constants *constants, const double *assets, const LaneGroup *group)
{
    ArticulatedLanes w;
    int stride; // ARTICULATED_STRIDE
    memcpy(&w.c, constants, sizeof w.c);
    w.bodies = (const ArticulatedBody *)assets;
    w.points = (const ArticulatedPoint *)(assets + w.c.points);
    w.surfaces = (const ArticulatedSurface *)(assets + w.c.surfaces);
    w.inputs = (const ArticulatedInput *)(assets + w.c.inputs);
    w.designs = (const ArticulatedDesign *)(assets + w.c.designs);
    w.actions = assets + w.c.actions;
    w.assets = assets;
    w.group = group;
    w.base = lanes_work_chunk(group, w.c.cells, &stride);
    w.bars = w.c.cells;
    w.residuals = NULL;
    w.metered = NULL;
    w.controlled = NULL;
    w.senses = false;
#define ARTICULATED_LOAD(name, ...) w.name = lanes_parameter(group, ARTICULATED_PARAMETER_##name);
    ARTICULATED_PARAMETERS(ARTICULATED_LOAD)
#undef ARTICULATED_LOAD
    return w;
}

// Forward kinematics: a body behind its parent, at the coordinate `start`.
HD void articulated_set_pose(const ArticulatedLanes *w, int body)
{
    const ArticulatedBody *of = &w->bodies[body];
    const int at = articulated_at(body);
    const Vector3 axis = body_vector(w, body, ARTICULATED_axis_x);
    const real from_rest = body_number(w, body, ARTICULATED_start) - body_number(w, body, ARTICULATED_reference);
    Quaternion q = quaternion_of(of->frame + 3);
    Vector3 seat = vector3_of(of->frame);
    if (of->kind == ROBOT_FREE) {
        const int field = ARTICULATED_PARAMETER_base_x;
        seat = added(seat, vector3(lanes_parameter(w->group, field), lanes_parameter(w->group, field + 1),
                                   lanes_parameter(w->group, field + 2)));
    } else {
        const ArticulatedPose parent = body_pose(w, of->parent);
        const Quaternion carried = quaternion_times(parent.q, body_rest(w, body));
        seat = added(parent.x, rotation_out(&parent.r, body_vector(w, body, ARTICULATED_seat_x)));
        switch ((RobotJointKind)of->kind) {
        case ROBOT_HINGE: q = quaternion_times(carried, quaternion_about(axis, from_rest)); break;
        case ROBOT_BALL: q = quaternion_times(carried, q); break;
        case ROBOT_SLIDE: {
            const Rotation r = rotation_of(carried);
            seat = along(seat, from_rest, rotation_out(&r, axis));
            q = carried;
            break;
        }
        case ROBOT_FREE:
        case ROBOT_WELD: q = carried; break;
        }
    }
    q = quaternion_normal(q);
    const Rotation r = rotation_of(q);
    set_limb3(w, at + ARTICULATED_X, less(seat, rotation_out(&r, body_vector(w, body, ARTICULATED_anchor_x))));
    set_limb4(w, at + ARTICULATED_Q, q);
}

// What is free moves with v, what is fixed to the world rests; a child moves like its parent.
HD Vector3 begin_velocity(const ArticulatedLanes *w, int body, Vector3 v)
{
    const int parent = w->bodies[body].parent;
    if (w->bodies[body].kind == ROBOT_FREE) return v;
    return parent < 0 ? vector3_zero() : limb3(w, articulated_at(parent) + ARTICULATED_V);
}

// Rate k of a joint at t = 0.
HD real begin_rate(const ArticulatedLanes *w, int body, int k)
{
    real rate = splat(w->assets[w->c.rates + ROBOT_RATES * body + k]);
    for (int i = w->c.n_inputs; i < w->c.n_inputs + w->c.n_rates; i++) {
        if (w->inputs[i].body == body && w->inputs[i].number == ARTICULATED_rates + k)
            rate = lanes_parameter(w->group, w->inputs[i].parameter);
    }
    return rate;
}
HD Vector3 begin_rate3(const ArticulatedLanes *w, int body, int first)
{
    return vector3(begin_rate(w, body, first), begin_rate(w, body, first + 1), begin_rate(w, body, first + 2));
}

// The body's velocities by those of its parent and the rates of its joint. With the anchor at r from its centre, which
// the parent carries with the velocity u besides the joint:
//     w' = w + the joint's,   v = u - w' x r,   L = I_w w'
// Of a free body u is the velocity of its frame, where v comes in addition.
HD void begin_moving(const ArticulatedLanes *w, int body, Vector3 v)
{
    const int at = articulated_at(body), kind = w->bodies[body].kind;
    const ArticulatedPose c = body_pose(w, body), p = body_pose(w, w->bodies[body].parent);
    const Vector3 r = rotation_out(&c.r, body_vector(w, body, ARTICULATED_anchor_x));
    const Vector3 axis = rotation_out(&c.r, body_vector(w, body, ARTICULATED_axis_x));
    Vector3 turn = p.w, u = added(p.v, cross3(p.w, less(added(c.x, r), p.x)));
    if (kind == ROBOT_FREE) {
        turn = begin_rate3(w, body, 0);
        u = added(v, begin_rate3(w, body, 3));
    } else if (kind == ROBOT_BALL) {
        const Vector3 spin = begin_rate3(w, body, 0);
        turn = added(turn, rotation_out(&c.r, spin));
        set_limb3(w, at + ARTICULATED_RATE, spin);
    } else if (kind == ROBOT_HINGE || kind == ROBOT_SLIDE) {
        const real rate = begin_rate(w, body, 0);
        if (kind == ROBOT_HINGE) turn = along(turn, rate, axis);
        if (kind == ROBOT_SLIDE) u = along(u, rate, axis);
        set_limb(w, at + ARTICULATED_RATE, rate);
    }
    const Vector3 in_body = symmetric3_times(body_inertia(w, body), rotation_in(&c.r, turn));
    set_limb3(w, at + ARTICULATED_V, less(u, cross3(turn, r)));
    set_limb3(w, at + ARTICULATED_W, turn);
    set_limb3(w, at + ARTICULATED_L, rotation_out(&c.r, in_body));
}

// The command before the first step: that of the first step, and of external control and of a law the offset.
HD real begin_command(const ArticulatedLanes *w, int body)
{
    if ((w->c.uses & (CONTROL_ACTS | CONTROL_LAW)) == 0) return control_command(w, body, 0, splat(0.0));
    return body_number(w, body, ARTICULATED_offset);
}

HD_CALL void articulated_begin(const ArticulatedLanes *restrict w)
{
    const int field = ARTICULATED_PARAMETER_base_vx;
    const Vector3 v = vector3(lanes_parameter(w->group, field), lanes_parameter(w->group, field + 1),
                              lanes_parameter(w->group, field + 2));
    articulated_own(w);
    for (int i = 0; i < w->c.n_bodies; i++) {
        const int at = articulated_at(i);
        for (int k = 0; k < ARTICULATED_CELLS; k++) set_limb(w, at + k, splat(0.0));
        articulated_set_pose(w, i);
        set_limb3(w, at + ARTICULATED_V, begin_velocity(w, i, v));
        if (w->c.rates != 0) begin_moving(w, i, v);
        set_limb(w, at + ARTICULATED_COORDINATE, body_number(w, i, ARTICULATED_start));
        if (w->bodies[i].driven != 0) set_limb(w, at + ARTICULATED_COMMAND, begin_command(w, i));
    }
    for (int i = 0; i < w->c.n_bodies && w->c.efforts > 0; i++) {
        if (w->bodies[i].joint < 0) continue;
        set_limb(w, effort_at(w, i) + ARTICULATED_FEEDFORWARD, splat(0.0));
        set_limb(w, effort_at(w, i) + ARTICULATED_GAIN_SCALE, splat(1.0));
    }
    for (int i = 0; i < w->c.n_bodies && w->c.n_late > 0; i++)
        if (w->bodies[i].joint >= 0) late_begin(w, i);
    for (int k = 0; k < 3 * w->c.n_points && w->c.grips > 0; k++) set_limb(w, w->c.grips + k, splat(0.0));
    articulated_begin_sums(w);
    if (w->c.whole > 0) set_limb(w, w->c.whole, splat(0.0));
    if ((w->c.uses & CONTROL_LEGS) != 0) raibert_begin(w);
    if (w->c.n_targets > 0) reference_begin(w);
}

// ---- the loop -------------------------------------------------------------------------------------------------------

// Of the base's centre of mass over the ground below it.
HD real articulated_height(const ArticulatedLanes *w)
{
    const Vector3 x = limb3(w, base_at(w) + ARTICULATED_X);
    return w->c.terrain == TERRAIN_flat ? x.z : x.z - ground_below(w, x.x, x.y).height;
}

// The code of the failure of each lane, or ARTICULATED_NONE.
HD_CALL real articulated_failure(const ArticulatedLanes *restrict w, const ArticulatedSeen *seen)
{
    const real none = splat(ARTICULATED_NONE);
    const mask low =
        MASK(value_of(articulated_height(w)) < value_of(w->fall_height)) & MASK(value_of(w->fall_height) != 0.0);
    const mask tilted =
        MASK(value_of(articulated_tilt(w)) > value_of(w->fall_tilt)) & MASK(value_of(w->fall_tilt) != 0.0);
    real failure = select_real(low | tilted, splat(ARTICULATED_FELL), none);
    failure = select_real(MASK(value_of(seen->fastest) > ARTICULATED_FAST), splat(ARTICULATED_DIVERGED), failure);
    if (lanes_have_law(w->group)) failure = select_real(law_is_wrong(w->group), splat(ARTICULATED_NON_FINITE), failure);
    return select_real(is_finite(seen->size), failure, splat(ARTICULATED_NON_FINITE));
}

// The law decides by a sample of the lanes at time t, for the period with this number.
HD_CALL void articulated_decide(ArticulatedLanes *w, real t, real period, mask which)
{
    w->senses = true;
    articulated_sample(w, t, false, which);
    w->senses = false;
    law_decide(w->group, period, which);
}

// The solve of the step from `tick` on, at time t; of order two that of the whole step. changed: squares of the changes
// of the commands.
HD_CALL ArticulatedSeen articulated_solve_at(const ArticulatedLanes *restrict w, int64_t tick, real t, real *changed)
{
    *changed = control_set(w, tick, t);
    if (w->c.whole == 0) momentum_expect_step(w, t);
    return articulated_solve(w, t, splat(w->c.dt));
}

HD ArticulatedSeen articulated_tick_solve(const ArticulatedLanes *w, int64_t tick, real *changed)
{
    return articulated_solve_at(w, tick, splat((double)tick * w->c.dt), changed);
}

// The rest of the step from the time t on, with its sums. stored: where the new state is stored too (memory.h), body by
// body while it is known; or NULL.
HD_CALL void articulated_tick_move(const ArticulatedLanes *restrict w, real t, ArticulatedSeen *seen, real changed,
                                   double *stored)
{
    ArticulatedMomentum after = momentum_zero();
    if (w->c.whole > 0) two_steps(w, t, seen);
    for (int i = 0; i < w->c.n_bodies; i++) {
        articulated_move(w, i, seen);
        momentum_add(w, i, &after);
        if (stored != NULL) state_store_body(w, i, stored);
    }
    if (stored != NULL) state_store_rest(w, stored);
    if (w->c.whole == 0) seen_whole(seen);
    momentum_check(w, &after, w->c.floats != 0 ? MASK(value_of(seen->touched) == 0.0) : no_lanes());
    articulated_sum_step(w, seen, changed);
}

// Then: how far the new state is from the recorded motion. `ticks`: done so far.
HD void articulated_tick_compare(const ArticulatedLanes *w, int64_t ticks)
{
    if (w->c.n_targets > 0) reference_compare(w, ticks);
}

// The metrics of lanes that end after `steps` steps.
HD void articulated_all_metrics(const ArticulatedLanes *w, real steps, mask which)
{
    articulated_metrics(w, steps, which);
    if (w->c.n_targets > 0) lanes_set_metric(w->group, ARTICULATED_REFERENCE_ERROR, reference_error(w), which);
    if ((w->c.uses & CONTROL_LEGS) != 0) raibert_metrics(w, which);
    if (w->c.whole > 0) lanes_set_metric(w->group, two_metric(w), limb(w, w->c.whole), which);
}

// Ends lanes that are done or fail; returns those that go on. `steps`: done so far.
HD mask articulated_tick_end(ArticulatedLanes *w, bool observed, real steps, const ArticulatedSeen *seen, mask running)
{
    const mask retired = observed ? lanes_retire(w->group) : no_lanes();
    const real failure = lanes_retired(w->group, retired, articulated_failure(w, seen));
    const mask over = MASK(value_of(steps) == (double)w->c.ticks) | MASK(value_of(failure) > ARTICULATED_NONE);
    const mask ended = running & over;
    if (!any_lane(ended)) return running;
    if (observed) articulated_sample(w, steps * w->c.dt, true, ended);
    articulated_all_metrics(w, steps, ended);
    lanes_end(w->group, failure, ended);
    return running & ~ended;
}

HD void articulated_tree(const Constants *constants, const double *assets, const LaneGroup *group, bool observed)
{
    ArticulatedLanes w = articulated_open(constants, assets, group);
    mask running = lanes_running(group);
    if (group->tick == 0) articulated_begin(&w);
    if (group->tick == 0 && lanes_have_law(group)) law_begin(group, all_lanes());
    for (int64_t tick = group->tick; tick < group->tick + group->ticks && any_lane(running); tick++) {
        if (observed && lanes_sample_due(group, tick))
            articulated_sample(&w, splat((double)tick * w.c.dt), false, running);
        real changed;
        if (law_is_due(group, tick))
            articulated_decide(&w, splat((double)tick * w.c.dt), law_period(group, tick), running);
        ArticulatedSeen seen = articulated_tick_solve(&w, tick, &changed);
        if (observed && lanes_debug_due(group, tick)) {
            articulated_lower(&w, &seen);
            articulated_debug_rows(&w, splat((double)tick * w.c.dt), running);
        }
        articulated_tick_move(&w, splat((double)tick * w.c.dt), &seen, changed, NULL);
        articulated_tick_compare(&w, tick + 1);
        running = articulated_tick_end(&w, observed, splat((double)(tick + 1)), &seen, running);
    }
}

#endif
