// The comparison with a recorded motion, in reverse (reference.h). The run kept the difference of each row and column.
// A row is linear in the values of the step before it and of the one after it, so that the bar of a value is the sum
// over the rows next to its step.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_REFERENCE_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_REFERENCE_H

#include "../reference.h"
#include "joint.h"
#include "metrics.h"

// ---- values ---------------------------------------------------------------------------------------------------------

HD Vector3 vector3_of_component(int component, real x)
{
    const real zero = splat(0.0);
    return vector3(component == 0 ? x : zero, component == 1 ? x : zero, component == 2 ? x : zero);
}
HD Quaternion quaternion_of_component(int component, real x)
{
    Quaternion q = quaternion_zero();
    if (component == 0) q.x = x;
    if (component == 1) q.y = x;
    if (component == 2) q.z = x;
    if (component == 3) q.w = x;
    return q;
}

// sample_position
HD void pull_position(const ArticulatedLanes *w, int body, Vector3 position_bar)
{
    const ArticulatedPose pose = body_pose(w, body);
    ArticulatedPoseBar bar = pose_bar_zero();
    bar.x = position_bar;
    pull_turned(&bar.r, body_vector(w, body, ARTICULATED_anchor_x), position_bar);
    vector_bar(w, body, ARTICULATED_anchor_x, rotation_in(&pose.r, position_bar));
    pose_bar_add(w, body, &bar);
}

// sample_turn
HD void pull_sample_turn(const ArticulatedLanes *w, int body, Quaternion turn_bar)
{
    const int parent = w->bodies[body].parent;
    ArticulatedPoseBar bar = pose_bar_zero(), parent_bar = pose_bar_zero();
    bar.q = turn_bar;
    if (w->bodies[body].kind == ROBOT_BALL) {
        const ArticulatedPose pose = body_pose(w, body), of_parent = body_pose(w, parent);
        const Quaternion rest = quaternion_times(of_parent.q, body_rest(w, body));
        const Quaternion at_rest_bar = quaternion_conjugate(pull_first(turn_bar, pose.q));
        bar.q = pull_second(quaternion_conjugate(rest), turn_bar);
        parent_bar.q = pull_first(at_rest_bar, body_rest(w, body));
        rest_bar(w, body, pull_second(of_parent.q, at_rest_bar));
    }
    pose_bar_add(w, body, &bar);
    pose_bar_add(w, parent, &parent_bar);
}

// sample_coordinate
HD_CALL void pull_sample_coordinate(const ArticulatedLanes *restrict w, int body, real coordinate_bar)
{
    const int parent = w->bodies[body].parent;
    const ArticulatedPose c = body_pose(w, body), p = body_pose(w, parent);
    const ArticulatedJointState s = joint_state(w, body, &c, &p);
    ArticulatedPoseBar c_bar = pose_bar_zero(), p_bar = pose_bar_zero();
    ArticulatedJointState s_bar;
    s_bar.gap = s_bar.turn = s_bar.spin = s_bar.axis = s_bar.r_c = s_bar.r_p = vector3_zero();
    s_bar.rate = splat(0.0);
    s_bar.coordinate = coordinate_bar;
    pull_state(w, body, &c, &p, &s, &s_bar, &c_bar, &p_bar);
    pose_bar_add(w, body, &c_bar);
    pose_bar_add(w, parent, &p_bar);
}

// reference_value. The bars of cells that a step computes wait there for pull_step and pull_commands.
HD void pull_reference_value(const ArticulatedLanes *w, int target, real value_bar)
{
    const ArticulatedTarget *of = reference_target(w, target);
    if (of->kind == ARTICULATED_TARGET_CELL)
        bar_add(w, articulated_at(of->body) + of->component, value_bar);
    else if (of->kind == ARTICULATED_TARGET_COORDINATE) {
        number_bar(w, of->body, ARTICULATED_encoder, value_bar);
        pull_sample_coordinate(w, of->body, value_bar);
    } else if (of->kind == ARTICULATED_TARGET_POSITION)
        pull_position(w, of->body, vector3_of_component(of->component, value_bar));
    else
        pull_sample_turn(w, of->body, quaternion_of_component(of->component, value_bar));
}

// ---- steps ----------------------------------------------------------------------------------------------------------

// After `step` steps, where the bodies stand now: the rows of this step, and those of the next one that begin here.
HD_CALL void pull_reference(const ArticulatedLanes *restrict w, int64_t step)
{
    const int first = record_first(w, step), end = record_first(w, step + 1), next = record_first(w, step + 2);
    const real sum_bar = bar(w, reference_cell(w, REFERENCE_SUM));
    if (!reference_needs(w, step, first, end)) return;
    for (int k = 0; k < w->c.n_targets; k++) {
        real value_bar = splat(0.0);
        for (int row = first; row < next; row++) {
            const double fraction = row < end ? record_fraction(w, row) : 1.0 - record_fraction(w, row);
            const real residual = load_all(w->residuals + (row * w->c.n_targets + k) * ARTICULATED_STRIDE);
            value_bar = fused(splat(fraction), residual, value_bar);
        }
        pull_reference_value(w, k, 2.0 * reference_target(w, k)->weight * sum_bar * value_bar);
    }
}

// The bars of efforts and forces, after they were used.
HD void column_bars_clear(const ArticulatedLanes *w)
{
    for (int i = 0; i < w->c.n_bodies; i++) {
        const int at = articulated_at(i);
        set_bar(w, at + ARTICULATED_EFFORT, splat(0.0));
        set_bar(w, at + ARTICULATED_FORCE, splat(0.0));
    }
}

// Before the first step. Commands are those of that step.
HD void pull_begin_commands(const ArticulatedLanes *w)
{
    for (int i = 0; i < w->c.n_bodies; i++) {
        if (w->bodies[i].driven == 0) continue;
        const ArticulatedCommand first = control_terms(w, i, 0, splat(0.0));
        const real command_bar = bar(w, articulated_at(i) + ARTICULATED_COMMAND);
        if (lanes_are_controlled(w)) // begin_command
            number_bar(w, i, ARTICULATED_offset, command_bar);
        else
            pull_command(w, i, splat(0.0), &first, false, command_bar);
    }
}

#endif
