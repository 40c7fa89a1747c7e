// Constraint rows at the present state of the lane: J, the error C, J v and J' v. d = p_i + r_i - p_j - r_j, u = d'.
#ifndef HOPSCOTCH_RIGID_ROWS_H
#define HOPSCOTCH_RIGID_ROWS_H

#include "memory.h"

// Data of one body of a row.
typedef struct RigidEnd {
    Vector3 p, v, w, r; // r: from the centre to where the constraint acts, world axes
    Rotation turn;
} RigidEnd;

HD_CALL RigidEnd rigid_end(const RigidLanes *restrict w, int body, const double *at)
{
    RigidEnd end;
    end.turn = rotation_of(rigid_q(w, body));
    end.p = rigid_p(w, body);
    end.v = rigid_v(w, body);
    end.w = rigid_w(w, body);
    end.r = rotation_out(&end.turn, vector3_of(at));
    return end;
}

typedef struct RigidValues {
    Vector3 v_i, w_i, v_j, w_j; // J
    real C, stretch, bias, length;
} RigidValues;

HD RigidValues rigid_distance(const RigidEnd *i, const RigidEnd *j, Vector3 d, Vector3 u, Vector3 spin, real L)
{
    RigidValues row;
    row.length = length3(d);
    row.v_i = d;
    row.w_i = cross3(i->r, d);
    row.v_j = scaled(splat(-1.0), d);
    row.w_j = scaled(splat(-1.0), cross3(j->r, d));
    row.stretch = row.length - L;
    row.C = 0.5 * row.stretch * (row.length + L);
    row.bias = dot3(u, u) + dot3(d, spin);
    return row;
}

HD RigidValues rigid_along(const RigidEnd *i, const RigidEnd *j, Vector3 d, Vector3 spin, Vector3 e, real target)
{
    RigidValues row;
    row.length = splat(1.0);
    row.v_i = e;
    row.w_i = cross3(i->r, e);
    row.v_j = scaled(splat(-1.0), e);
    row.w_j = scaled(splat(-1.0), cross3(j->r, e));
    row.C = row.stretch = dot3(e, d) - target;
    row.bias = dot3(e, spin);
    return row;
}

HD RigidValues rigid_turn(Vector3 e, Vector3 angle)
{
    RigidValues row;
    row.length = splat(1.0);
    row.v_i = row.v_j = vector3_zero();
    row.w_i = e;
    row.w_j = scaled(splat(-1.0), e);
    row.C = row.stretch = dot3(e, angle);
    row.bias = splat(0.0);
    return row;
}

// C = a.b; C' = (w_i - w_j).(a x b). Its derivative without accelerations, with a' = w_i x a, b' = w_j x b: (w_i -
// w_j).(a' x b + a x b')
HD RigidValues rigid_perpendicular(const RigidEnd *i, const RigidEnd *j, Vector3 a, Vector3 b)
{
    RigidValues row;
    row.length = splat(1.0);
    row.v_i = row.v_j = vector3_zero();
    row.w_i = cross3(a, b);
    row.w_j = scaled(splat(-1.0), row.w_i);
    row.C = row.stretch = dot3(a, b);
    row.bias = dot3(less(i->w, j->w), added(cross3(cross3(i->w, a), b), cross3(a, cross3(j->w, b))));
    return row;
}

HD Quaternion rigid_rest(const RigidRow *row)
{
    Quaternion q;
    q.x = splat(row->rest[0]);
    q.y = splat(row->rest[1]);
    q.z = splat(row->rest[2]);
    q.w = splat(row->rest[3]);
    return q;
}

// L of a distance, e.d of an along
HD real rigid_target(const RigidLanes *w, const RigidRow *row)
{
    return row->input >= 0 ? lanes_parameter(w->group, row->input) : splat(row->target);
}

HD RigidValues rigid_values(const RigidLanes *w, const RigidRow *row, const RigidEnd *i, const RigidEnd *j)
{
    const Vector3 d = less(added(i->p, i->r), added(j->p, j->r));
    const Vector3 turn_i = cross3(i->w, i->r), turn_j = cross3(j->w, j->r);
    const Vector3 spin = less(cross3(i->w, turn_i), cross3(j->w, turn_j));
    const real target = rigid_target(w, row);
    if (row->kind == RIGID_DISTANCE)
        return rigid_distance(i, j, d, less(added(i->v, turn_i), added(j->v, turn_j)), spin, target);
    if (row->kind == RIGID_ALONG) return rigid_along(i, j, d, spin, vector3_of(row->a), target);
    if (row->kind == RIGID_PERPENDICULAR)
        return rigid_perpendicular(i, j, rotation_out(&i->turn, vector3_of(row->a)),
                                   rotation_out(&j->turn, vector3_of(row->b)));
    const Quaternion relative = quaternion_times(quaternion_times(rigid_q(w, row->i), rigid_rest(row)),
                                                 quaternion_conjugate(rigid_q(w, row->j)));
    return rigid_turn(vector3_of(row->a), quaternion_logarithm(relative));
}

// Computes every row at the present state. with_J false: only C and the stretch; J stays.
HD_CALL void rigid_assemble(const RigidLanes *restrict w, bool with_J)
{
    RigidEnd i, j;
    memset(&i, 0, sizeof i);
    memset(&j, 0, sizeof j);
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const RigidRow *row = &w->rows[k];
        const int at = rigid_row_at(w, k);
        // rows of a constraint have the same ends
        if (k == w->row || w->size > 1 || row->constraint != row[-1].constraint) {
            i = rigid_end(w, row->i, row->at_i);
            j = rigid_end(w, row->j, row->at_j);
        }
        const RigidValues values = rigid_values(w, row, &i, &j);
        set_cell(w, at + RIGID_ROW_C, values.C);
        set_cell(w, at + RIGID_ROW_STRETCH, values.stretch);
        set_cell(w, at + RIGID_ROW_LENGTH, values.length);
        if (!with_J) continue;
        if (RIGID_STORES_ARMS && row->kind == RIGID_ALONG) {
            if (rigid_arms(w, k) == at + RIGID_ROW_J) {
                set_cell3(w, at + RIGID_ROW_J, i.r);
                set_cell3(w, at + RIGID_ROW_J + 6, j.r);
            }
        } else {
            set_cell3(w, at + RIGID_ROW_J, values.v_i);
            set_cell3(w, at + RIGID_ROW_J + 3, values.w_i);
            set_cell3(w, at + RIGID_ROW_J + 6, values.v_j);
            set_cell3(w, at + RIGID_ROW_J + 9, values.w_j);
        }
        set_cell(w, at + RIGID_ROW_BIAS, values.bias);
        set_cell(w, at + RIGID_ROW_JV,
                 dot3(values.v_i, i.v) + dot3(values.w_i, i.w) + dot3(values.v_j, j.v) + dot3(values.w_j, j.w));
    }
    rigid_wait(w);
}

#endif
