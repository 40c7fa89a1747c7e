// A sample of a trajectory, as the bodies stand now.
#ifndef HOPSCOTCH_ARTICULATED_SAMPLE_H
#define HOPSCOTCH_ARTICULATED_SAMPLE_H

#include "../law.h"
#include "../samples.h"
#include "step.h"

HD Quaternion quaternion_of(const double *q)
{
    Quaternion r;
    r.x = splat(q[0]);
    r.y = splat(q[1]);
    r.z = splat(q[2]);
    r.w = splat(q[3]);
    return r;
}

// Whether a column of this sample counts, and the column.
HD bool sample_counts(const ArticulatedLanes *w, int column)
{
    return w->senses ? law_sees(w->group, column) : lanes_need_column(w->group, column);
}
HD void sample_set(const ArticulatedLanes *w, int column, real value, mask which)
{
    if (w->senses)
        law_see(w->group, column, value, which);
    else
        lanes_set_sample(w->group, column, value, which);
}

// The coordinate of a hinge or slide as the bodies stand now. Its cell has that of the last step's old pose.
HD_CALL real sample_coordinate(const ArticulatedLanes *restrict w, int body)
{
    const ArticulatedPose c = body_pose(w, body), p = body_pose(w, w->bodies[body].parent);
    return joint_state(w, body, &c, &p).coordinate;
}

HD Vector3 sample_position(const ArticulatedLanes *w, int body, const ArticulatedPose *pose)
{
    return added(pose->x, rotation_out(&pose->r, body_vector(w, body, ARTICULATED_anchor_x)));
}

// The quaternion of a ball's body in its parent, at rest (0, 0, 0, 1); of a free body in the world.
HD Quaternion sample_turn(const ArticulatedLanes *w, int body, const ArticulatedPose *pose)
{
    if (w->bodies[body].kind != ROBOT_BALL) return pose->q;
    const Quaternion rest = quaternion_times(body_pose(w, w->bodies[body].parent).q, body_rest(w, body));
    return quaternion_times(quaternion_conjugate(rest), pose->q);
}

// The coordinates of balls, and of free bodies besides the base, from `column` on; returns the column behind them.
HD_CALL int sample_wide(const ArticulatedLanes *restrict w, int column, mask which)
{
    for (int i = 0; i < w->c.n_bodies; i++) {
        const int kind = w->bodies[i].kind;
        if (kind != ROBOT_BALL && (kind != ROBOT_FREE || i == 0)) continue;
        const ArticulatedPose pose = body_pose(w, i);
        const Quaternion q = sample_turn(w, i, &pose);
        if (kind == ROBOT_FREE) {
            const Vector3 p = sample_position(w, i, &pose);
            sample_set(w, column++, p.x, which);
            sample_set(w, column++, p.y, which);
            sample_set(w, column++, p.z, which);
        }
        sample_set(w, column++, q.x, which);
        sample_set(w, column++, q.y, which);
        sample_set(w, column++, q.z, which);
        sample_set(w, column++, q.w, which);
    }
    return column;
}

// The motions of frames (ARTICULATED_FRAME_COLUMNS), from `column` on. r: from the body's centre, world axes.
HD_CALL void sample_frames(const ArticulatedLanes *restrict w, int column, mask which)
{
    const ArticulatedFrame *frames = (const ArticulatedFrame *)(w->assets + w->c.frames);
    for (int i = 0; i < w->c.n_frames; i++) {
        const ArticulatedFrame *frame = &frames[i];
        bool counts = false;
        for (int k = 0; k < ARTICULATED_OF_FRAME && !counts; k++) counts = sample_counts(w, column + k);
        if (!counts) {
            column += ARTICULATED_OF_FRAME;
            continue;
        }
        const ArticulatedPose pose = body_pose(w, frame->body);
        const Vector3 from = body_place(w, frame->body, body_number(w, frame->body, ARTICULATED_scale),
                                        vector3_of(frame->p)),
                      r = rotation_out(&pose.r, from), x = added(pose.x, r), v = added(pose.v, cross3(pose.w, r));
        const Quaternion q = quaternion_times(pose.q, quaternion_of(frame->q));
        const real sample[ARTICULATED_OF_FRAME] = {x.x, x.y, x.z, q.x,      q.y,      q.z,     q.w,
                                                   v.x, v.y, v.z, pose.w.x, pose.w.y, pose.w.z};
        for (int k = 0; k < ARTICULATED_OF_FRAME; k++) sample_set(w, column++, sample[k], which);
    }
}

// See ARTICULATED_BASE_COLUMNS. last: where the lanes end.
HD_CALL void articulated_sample(const ArticulatedLanes *restrict w, real t, bool last, mask which)
{
    const ArticulatedPose base = body_pose(w, w->c.base);
    const Vector3 p = sample_position(w, w->c.base, &base);
    const real first[14] = {t,        p.x,      p.y,      p.z,      base.q.x, base.q.y, base.q.z,
                            base.q.w, base.v.x, base.v.y, base.v.z, base.w.x, base.w.y, base.w.z};
    int column = ARTICULATED_BASE_COLUMNS;
    for (int k = 0; k < 14; k++) sample_set(w, k, first[k], which);
    for (int i = 0; i < w->c.n_bodies; i++) {
        const int at = articulated_at(i), n = w->c.n_joints, of_joint = column + w->bodies[i].joint;
        if (w->bodies[i].joint < 0) continue;
        if (sample_counts(w, of_joint)) sample_set(w, of_joint, sample_coordinate(w, i), which);
        sample_set(w, of_joint + n, limb(w, at + ARTICULATED_RATE), which);
        sample_set(w, of_joint + 2 * n, limb(w, at + ARTICULATED_COMMAND), which);
        sample_set(w, of_joint + 3 * n, limb(w, at + ARTICULATED_EFFORT), which);
    }
    column += ARTICULATED_JOINT_COLUMNS * w->c.n_joints;
    for (int i = 0; i < w->c.n_bodies; i++) {
        if (w->bodies[i].n_points == 0) continue;
        sample_set(w, column++, limb(w, articulated_at(i) + ARTICULATED_FORCE), which);
    }
    column = sample_wide(w, column, which);
    sample_frames(w, column, which);
    if (!w->senses) lanes_end_sample(w->group, last, which);
}

#endif
