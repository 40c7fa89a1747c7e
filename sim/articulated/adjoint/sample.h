// A sample (../sample.h), in reverse: from the bars of its columns to those of the state.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_SAMPLE_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_SAMPLE_H

#include "../sample.h"
#include "reference.h"

// The bar of a column; 0: the code does not take it.
HD real column_bar(const ColumnBars *bars, int column)
{
    const int at = lane_code_integer(bars->of, bars->of->columns + column);
    return at >= 0 ? load_all(bars->bar + (int64_t)at * ARTICULATED_STRIDE) : splat(0.0);
}
HD Vector3 column_bar3(const ColumnBars *bars, int column)
{
    return vector3(column_bar(bars, column), column_bar(bars, column + 1), column_bar(bars, column + 2));
}
HD Quaternion column_bar4(const ColumnBars *bars, int column)
{
    Quaternion q;
    q.x = column_bar(bars, column);
    q.y = column_bar(bars, column + 1);
    q.z = column_bar(bars, column + 2);
    q.w = column_bar(bars, column + 3);
    return q;
}

// sample_wide
HD_CALL int pull_sample_wide(const ArticulatedLanes *restrict w, const ColumnBars *bars, int column)
{
    for (int i = 0; i < w->c.n_bodies; i++) {
        const int kind = w->bodies[i].kind;
        if (kind != ROBOT_BALL && (kind != ROBOT_FREE || i == 0)) continue;
        if (kind == ROBOT_FREE) {
            pull_position(w, i, column_bar3(bars, column));
            column += 3;
        }
        pull_sample_turn(w, i, column_bar4(bars, column));
        column += 4;
    }
    return column;
}

// sample_frames
HD_CALL void pull_sample_frames(const ArticulatedLanes *restrict w, const ColumnBars *bars, int column)
{
    const ArticulatedFrame *frames = (const ArticulatedFrame *)(w->assets + w->c.frames);
    for (int i = 0; i < w->c.n_frames; i++, column += ARTICULATED_OF_FRAME) {
        const int body = frames[i].body;
        const ArticulatedPose pose = body_pose(w, body);
        const Vector3 p = vector3_of(frames[i].p),
                      from = body_place(w, body, body_number(w, body, ARTICULATED_scale), p),
                      x_bar = column_bar3(bars, column), v_bar = column_bar3(bars, column + 7),
                      r_bar = added(x_bar, cross3(v_bar, pose.w));
        ArticulatedPoseBar bar = pose_bar_zero();
        bar.x = x_bar;
        bar.q = pull_first(column_bar4(bars, column + 3), quaternion_of(frames[i].q));
        bar.v = v_bar;
        bar.w = added(column_bar3(bars, column + 10), cross3(rotation_out(&pose.r, from), v_bar));
        pull_turned(&bar.r, from, r_bar);
        const Vector3 from_bar = rotation_in(&pose.r, r_bar);
        number_bar(w, body, ARTICULATED_scale, dot3(p, from_bar));
        vector_bar(w, body, ARTICULATED_moved_x, scaled(splat(-1.0), from_bar));
        pose_bar_add(w, body, &bar);
    }
}

// articulated_sample. The bars of cells that a step computes wait there for pull_step and pull_commands.
HD_CALL void pull_sample(const ArticulatedLanes *restrict w, const ColumnBars *bars)
{
    const int base = base_at(w), n = w->c.n_joints;
    int column = ARTICULATED_BASE_COLUMNS;
    pull_position(w, w->c.base, column_bar3(bars, 1));
    bar_add4(w, base + ARTICULATED_Q, column_bar4(bars, 4));
    bar_add3(w, base + ARTICULATED_V, column_bar3(bars, 8));
    bar_add3(w, base + ARTICULATED_W, column_bar3(bars, 11));
    for (int i = 0; i < w->c.n_bodies; i++) {
        const int at = articulated_at(i), of_joint = column + w->bodies[i].joint;
        if (w->bodies[i].joint < 0) continue;
        if (lane_code_needs(bars->of, of_joint)) pull_sample_coordinate(w, i, column_bar(bars, of_joint));
        bar_add(w, at + ARTICULATED_RATE, column_bar(bars, of_joint + n));
        bar_add(w, at + ARTICULATED_COMMAND, column_bar(bars, of_joint + 2 * n));
        bar_add(w, at + ARTICULATED_EFFORT, column_bar(bars, of_joint + 3 * n));
    }
    column += ARTICULATED_JOINT_COLUMNS * n;
    for (int i = 0; i < w->c.n_bodies; i++) {
        if (w->bodies[i].n_points > 0) bar_add(w, articulated_at(i) + ARTICULATED_FORCE, column_bar(bars, column++));
    }
    column = pull_sample_wide(w, bars, column);
    pull_sample_frames(w, bars, column);
}

#endif
