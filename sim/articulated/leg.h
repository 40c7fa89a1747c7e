// A leg: the joints from the base to a foot. Where the foot is by their coordinates, and the coordinates that bring it
// to a position, by damped least squares: with the error e of the foot, its Jacobian J and the damping k,
//     (J' J + k^2 I) dq = J' e
// again and again, a fixed number of times. All of it in the base's axes, from the base's centre of mass.
// Source: C. W. Wampler, Manipulator inverse kinematic solutions based on vector formulations and damped least-squares
// methods, IEEE Trans. Systems, Man, and Cybernetics 16(1), 1986.
#ifndef HOPSCOTCH_ARTICULATED_LEG_H
#define HOPSCOTCH_ARTICULATED_LEG_H

#include "design.h"

// A leg at some coordinates of its driven joints.
typedef struct ArticulatedLegPose {
    Vector3 axis[ARTICULATED_LEG_JOINTS], at[ARTICULATED_LEG_JOINTS]; // of each driven joint: axis and position
    Vector3 x;                                                        // centre of the foot's body
    Quaternion q;                                                     // its axes
} ArticulatedLegPose;

// Follows the leg's joints from the base to the foot. coordinate[n_driven]; other joints have those of the last step.
HD_CALL void leg_forward(const ArticulatedLanes *restrict w, const ArticulatedLeg *leg, const real *coordinate,
                         ArticulatedLegPose *pose)
{
    Vector3 x = vector3_zero();
    Quaternion q;
    int driven = 0;
    q.x = q.y = q.z = splat(0.0);
    q.w = splat(1.0);
    for (int k = 0; k < leg->n_bodies; k++) {
        const int body = leg->bodies[k], kind = w->bodies[body].kind;
        const bool commanded = driven < leg->n_driven && leg->driven[driven] == body;
        const real now = commanded ? coordinate[driven] : limb(w, articulated_at(body) + ARTICULATED_COORDINATE);
        const real from_rest = now - body_number(w, body, ARTICULATED_reference);
        const Vector3 axis = body_vector(w, body, ARTICULATED_axis_x);
        const Rotation parent = rotation_of(q);
        Vector3 seat = added(x, rotation_out(&parent, body_vector(w, body, ARTICULATED_seat_x)));
        q = quaternion_times(q, body_rest(w, body));
        if (kind == ROBOT_HINGE) q = quaternion_times(q, quaternion_about(axis, from_rest));
        const Rotation r = rotation_of(q);
        const Vector3 turned = rotation_out(&r, axis);
        if (kind == ROBOT_SLIDE) seat = along(seat, from_rest, turned);
        x = less(seat, rotation_out(&r, body_vector(w, body, ARTICULATED_anchor_x)));
        if (!commanded) continue;
        pose->axis[driven] = turned;
        pose->at[driven++] = seat;
    }
    pose->x = x;
    pose->q = q;
}

// The position of a point of the foot's body, given from its centre in body axes.
HD Vector3 leg_position(const ArticulatedLegPose *pose, Vector3 from_centre)
{
    const Rotation r = rotation_of(pose->q);
    return added(pose->x, rotation_out(&r, from_centre));
}

// Where a foot is wanted: that point of it at `p`; its axes q, where a radian of error counts as `turn_weight` m.
typedef struct ArticulatedLegTarget {
    Vector3 foot, p;
    Quaternion q;
    real turn_weight, damping; // m/rad
} ArticulatedLegTarget;

// One step of the least squares. coordinate[n_driven] <- the next one, within the joints' ranges.
HD_CALL void leg_improve(const ArticulatedLanes *restrict w, const ArticulatedLeg *leg,
                         const ArticulatedLegTarget *target, real *coordinate)
{
    ArticulatedLegPose pose;
    real a[PACKED_CELLS], b[ARTICULATED_LEG_JOINTS];
    Vector3 move[ARTICULATED_LEG_JOINTS], turn[ARTICULATED_LEG_JOINTS];
    for (int i = 0; i < ARTICULATED_LEG_JOINTS; i++) b[i] = splat(0.0);
    leg_forward(w, leg, coordinate, &pose);
    const Vector3 p = leg_position(&pose, target->foot), e = less(target->p, p);
    const Vector3 off = quaternion_logarithm(quaternion_times(target->q, quaternion_conjugate(pose.q)));
    const Vector3 o = scaled(target->turn_weight, off);
    for (int i = 0; i < leg->n_driven; i++) {
        const bool slides = w->bodies[leg->driven[i]].kind == ROBOT_SLIDE;
        move[i] = slides ? pose.axis[i] : cross3(pose.axis[i], less(p, pose.at[i]));
        turn[i] = slides ? vector3_zero() : scaled(target->turn_weight, pose.axis[i]);
        b[i] = dot3(move[i], e) + dot3(turn[i], o);
        for (int j = 0; j <= i; j++) a[packed(i, j)] = dot3(move[i], move[j]) + dot3(turn[i], turn[j]);
        a[packed(i, i)] = fused(target->damping, target->damping, a[packed(i, i)]);
    }
    packed_factor(a, leg->n_driven, splat(1e-12));
    packed_back_of(a, leg->n_driven, ARTICULATED_LEG_JOINTS, b);
    for (int i = 0; i < leg->n_driven; i++) {
        const int body = leg->driven[i];
        const real next = clamped(coordinate[i] + b[i], body_number(w, body, ARTICULATED_low),
                                  body_number(w, body, ARTICULATED_high));
        coordinate[i] = clamped(next, body_number(w, body, ARTICULATED_command_low),
                                body_number(w, body, ARTICULATED_command_high));
    }
}

// Efforts of the leg's motors that push with `force` on the ground's side of p (world), and turn it with `torque`:
// J' of the bodies as they stand. The ground pushes back with -force.
HD real leg_effort(const ArticulatedLanes *w, int body, Vector3 p, Vector3 force, Vector3 torque)
{
    const ArticulatedPose pose = body_pose(w, body);
    const Vector3 axis = rotation_out(&pose.r, body_vector(w, body, ARTICULATED_axis_x));
    const Vector3 at = added(pose.x, rotation_out(&pose.r, body_vector(w, body, ARTICULATED_anchor_x)));
    if (w->bodies[body].kind == ROBOT_SLIDE) return dot3(axis, force);
    return dot3(axis, added(cross3(less(p, at), force), torque));
}

#endif
