// The constrained accelerations of trees of bodies and joints,
//     [ M  J'] [  a   ]   [  F  ]
//     [ J  0 ] [-lambda] = [ rhs ]
// by elimination from their leaves to their roots: no fill-in, O(n).
// Source: D. Baraff, Linear-time dynamics using Lagrange multipliers, SIGGRAPH 1996. With S_c = J_c M_b^-1 J_c' for the
// joint c between body b and its parent p, M and F with what the children brought:
//     z_c = rhs_c - J_cb M_b^-1 F_b,   M_p += J_cp' S_c^-1 J_cp,   F_p += J_cp' S_c^-1 z_c
//     lambda_c = S_c^-1 (z_c - J_cp a_p),   a_b = M_b^-1 (F_b + J_cb' lambda_c)
#ifndef HOPSCOTCH_RIGID_TREE_H
#define HOPSCOTCH_RIGID_TREE_H

#include "../spatial/packed.h"
#include "memory.h"

// ---- rows that are eased (solve.h) ----------------------------------------------------------------------------------

// Least fraction of a row that counts; for eased rows any fraction does. By their ease; by the cell of their island.
HD real rigid_least_eased(real ease, double pivot)
{
    return select_real(MASK(value_of(ease) > 0.0), splat(0.0), splat(pivot));
}

HD real rigid_least(const RigidLanes *w, int ease) { return rigid_least_eased(cell(w, ease), w->c.pivot); }

// True if any island is eased.
HD bool rigid_is_eased(const RigidLanes *w)
{
    bool eased = false;
    for (int i = 0; i < w->n_islands && w->c.share != 0 && !eased; i++)
        eased = any_lane(MASK(value_of(cell(w, w->islands[i].ease)) > 0.0));
    return eased;
}

// True if an island needs no further pass.
HD bool rigid_passes_by(const RigidLanes *w, int ease, bool again)
{
    return again && !any_lane(MASK(value_of(cell(w, ease)) > 0.0));
}

// ---- blocks of bodies and joints ------------------------------------------------------------------------------------

HD void rigid_take(const RigidLanes *w, int at, int count, real *x)
{
    for (int k = 0; k < count; k++) x[k] = cell(w, at + k);
}

HD void rigid_put(const RigidLanes *w, int at, int count, const real *x)
{
    for (int k = 0; k < count; k++) set_cell(w, at + k, x[k]);
}

// J[6] of a row, of the body on this side. Of a row along an axis only the arms are kept (rigid_arms), once for each
// constraint, where that saves memory.
HD void rigid_take_J(const RigidLanes *w, int row, int side, real *J)
{
    const RigidRow *of = &w->rows[row];
    if (RIGID_STORES_ARMS && of->kind == RIGID_ALONG) {
        const Vector3 e = vector3_of(of->a), turn = cross3(cell3(w, rigid_arms(w, row) + 6 * side), e);
        J[0] = side == 0 ? e.x : -e.x;
        J[1] = side == 0 ? e.y : -e.y;
        J[2] = side == 0 ? e.z : -e.z;
        J[3] = side == 0 ? turn.x : -turn.x;
        J[4] = side == 0 ? turn.y : -turn.y;
        J[5] = side == 0 ? turn.z : -turn.z;
    } else {
        rigid_take(w, rigid_row_at(w, row) + RIGID_ROW_J + 6 * side, 6, J);
    }
}

// The same of the body itself.
HD void rigid_take_J_of(const RigidLanes *w, int row, int body, real *J)
{
    rigid_take_J(w, row, w->rows[row].i == body ? 0 : 1, J);
}

// product[n] <- J x of n rows together, x[6] of each body at this offset among its cells
HD_INLINE void rigid_rows_times(const RigidLanes *w, int row, int x_at, real *product, int n)
{
    real J[6], x[6];
    UNROLL
    for (int r = 0; r < n; r++) product[r] = splat(0.0);
    for (int side = 0; side < 2; side++) {
        const int body = side == 0 ? w->rows[row].i : w->rows[row].j;
        if (!rigid_moves(w, body)) continue;
        rigid_take(w, rigid_body_at(w, body) + x_at, 6, x);
        for (int r = 0; r < n; r++) {
            rigid_take_J(w, row + r, side, J);
            product[r] = product[r] + dot6(J, x);
        }
    }
}

// J x of a row
HD_CALL real rigid_row_times(const RigidLanes *restrict w, int row, int x_at)
{
    real J[6], x[6], sum = splat(0.0);
    for (int side = 0; side < 2; side++) {
        const int body = side == 0 ? w->rows[row].i : w->rows[row].j;
        if (!rigid_moves(w, body)) continue;
        rigid_take_J(w, row, side, J);
        rigid_take(w, rigid_body_at(w, body) + x_at, 6, x);
        sum = sum + dot6(J, x);
    }
    return sum;
}

// x += J' of a row, at the bodies of one tree
HD_CALL void rigid_row_push(const RigidLanes *restrict w, int row, int x_at, int tree)
{
    for (int side = 0; side < 2; side++) {
        const int body = side == 0 ? w->rows[row].i : w->rows[row].j;
        if (!rigid_moves(w, body) || w->bodies[body].tree != tree) continue;
        const int to = rigid_body_at(w, body) + x_at;
        real J[6];
        rigid_take_J(w, row, side, J);
        for (int k = 0; k < 6; k++) add_cell(w, to + k, J[k]);
    }
}

// x[6] += J' s of n rows together, of the body on this side
HD void rigid_gather_rows(const RigidLanes *w, int row, int side, int s_at, real *x, int n)
{
    real J[6];
    for (int r = 0; r < n; r++) {
        const real s = cell(w, rigid_row_at(w, row + r) + s_at);
        rigid_take_J(w, row + r, side, J);
        for (int c = 0; c < 6; c++) x[c] = fused(s, J[c], x[c]);
    }
}

// x[6] += J' s of a body's rows from `first` on, in order; s: that cell of each row
HD void rigid_gather(const RigidLanes *w, int body, int first, int s_at, real *x)
{
    const int32_t *touches = w->touches + w->bodies[body].touch;
    for (int k = 0, n; k < w->bodies[body].n_touches; k += n) {
        const int row = touches[k] >> 1, side = touches[k] & 1;
        n = row < first ? 1 : rigid_together(w, row);
        if (row >= first) RIGID_ROWS_DO(n, rigid_gather_rows, w, row, side, s_at, x);
    }
}

// J M^-1 J' of a row alone, with the bodies' own masses
HD_CALL real rigid_row_compliance(const RigidLanes *restrict w, int row)
{
    real sum = splat(0.0);
    for (int side = 0; side < 2; side++) {
        const int body = side == 0 ? w->rows[row].i : w->rows[row].j;
        if (!rigid_moves(w, body)) continue;
        real J[6];
        rigid_take_J(w, row, side, J);
        const Vector3 J_v = vector3(J[0], J[1], J[2]), J_w = vector3(J[3], J[4], J[5]);
        const Symmetric3 I = rigid_inertia(w, body);
        real inertia[21];
        inertia[0] = I.xx;
        inertia[1] = I.xy;
        inertia[2] = I.yy;
        inertia[3] = I.xz;
        inertia[4] = I.yz;
        inertia[5] = I.zz;
        packed_factor(inertia, 3, splat(0.0));
        real x[6];
        x[0] = J_w.x;
        x[1] = J_w.y;
        x[2] = J_w.z;
        packed_back(inertia, 3, x);
        sum = sum + dot3(J_v, J_v) / cell(w, rigid_body_at(w, body) + RIGID_BODY_M) +
              dot3(J_w, vector3(x[0], x[1], x[2]));
    }
    return sum;
}

// ---- a body -------------------------------------------------------------------------------------------------------

HD void rigid_start_body_block(const RigidLanes *w, int body)
{
    const int at = rigid_body_at(w, body);
    real body_block[21];
    packed_mass(cell(w, at + RIGID_BODY_M), rigid_inertia(w, body), body_block);
    rigid_put(w, at + RIGID_BODY_FACTOR, 21, body_block);
}

// M_p += J_cp' S_c^-1 J_cp
HD_CALL void rigid_pass_body_block(const RigidLanes *restrict w, const RigidJoint *joint, const real *S)
{
    const int n = joint->count, first = joint->first, parent = joint->parent;
    const int to = rigid_body_at(w, parent) + RIGID_BODY_FACTOR;
    real J[RIGID_JOINT_ROWS][6], t[RIGID_JOINT_ROWS];
    for (int k = 0; k < n; k++) rigid_take_J_of(w, first + k, parent, J[k]);
    for (int c = 0; c < 6; c++) {
        for (int k = 0; k < n; k++) t[k] = J[k][c];
        packed_back(S, n, t);
        for (int d = c; d < 6; d++) {
            real sum = J[0][d] * t[0];
            for (int k = 1; k < n; k++) sum = fused(J[k][d], t[k], sum);
            add_cell(w, to + packed(d, c), sum);
        }
    }
}

// The factors of a body's block, to which its children have added theirs, and of its joint's block; S: the latter.
HD void rigid_eliminate(const RigidLanes *w, int body, real *S)
{
    const int at = rigid_body_at(w, body) + RIGID_BODY_FACTOR, number = w->bodies[body].joint;
    real body_block[21], J[RIGID_JOINT_ROWS][6], y[6];
    rigid_take(w, at, 21, body_block);
    packed_factor(body_block, 6, splat(0.0));
    rigid_put(w, at, 21, body_block);
    if (number < 0) return;
    const real ease = cell(w, w->bodies[body].ease);
    const bool eased = any_lane(MASK(value_of(ease) > 0.0));
    const int n = w->joints[number].count, first = w->joints[number].first;
    for (int k = 0; k < n; k++) rigid_take_J_of(w, first + k, body, J[k]);
    for (int k = 0; k < n; k++) {
        for (int c = 0; c < 6; c++) y[c] = J[k][c];
        packed_back(body_block, 6, y);
        for (int l = 0; l <= k; l++) S[packed(k, l)] = dot6(J[l], y);
        S[packed(k, k)] = S[packed(k, k)] + cell(w, rigid_row_at(w, first + k) + RIGID_ROW_SOFT);
        if (eased) S[packed(k, k)] = fused(ease, rigid_row_compliance(w, first + k), S[packed(k, k)]);
    }
    packed_factor(S, n, rigid_least(w, w->bodies[body].ease));
    rigid_put(w, w->c.factor_at + RIGID_JOINT_CELLS * number, packed(n, 0), S);
}

// The joint that connects a body to a moving parent; NULL: none.
HD const RigidJoint *rigid_inner_joint(const RigidLanes *w, int body)
{
    const int joint = w->bodies[body].joint;
    return joint >= 0 && rigid_moves(w, w->joints[joint].parent) ? &w->joints[joint] : NULL;
}

// Factors all blocks of the bodies world_order[first .. end), which are whole trees.
HD_CALL void rigid_factor_tree(const RigidLanes *restrict w, int first, int end)
{
    real S[21];
    for (int b = first; b < end; b++) rigid_start_body_block(w, w->world_order[b]);
    for (int b = first; b < end; b++) {
        const int body = w->world_order[b];
        const RigidJoint *inner = rigid_inner_joint(w, body);
        rigid_eliminate(w, body, S);
        if (inner != NULL) rigid_pass_body_block(w, inner, S);
    }
}

HD void rigid_take_factors(const RigidLanes *w, int body, real *body_block, real *S)
{
    const int joint = w->bodies[body].joint;
    rigid_take(w, rigid_body_at(w, body) + RIGID_BODY_FACTOR, 21, body_block);
    if (joint >= 0) rigid_take(w, w->c.factor_at + RIGID_JOINT_CELLS * joint, packed(w->joints[joint].count, 0), S);
}

// z_c of a body's joint, S^-1 z_c, which reaches its parent
HD void rigid_raise(const RigidLanes *w, int body, real *z)
{
    const int n = w->joints[w->bodies[body].joint].count;
    const int first = w->joints[w->bodies[body].joint].first;
    real body_block[21], S[21], f[6], J[6];
    rigid_take_factors(w, body, body_block, S);
    rigid_take(w, rigid_body_at(w, body) + RIGID_BODY_R, 6, f);
    packed_back(body_block, 6, f);
    for (int k = 0; k < n; k++) {
        const int at = rigid_row_at(w, first + k) + RIGID_ROW_Z;
        rigid_take_J_of(w, first + k, body, J);
        z[k] = cell(w, at) - dot6(J, f);
        set_cell(w, at, z[k]);
    }
    packed_back(S, n, z);
}

// F_p += J_cp' S_c^-1 z_c
HD void rigid_pass_force(const RigidLanes *w, const RigidJoint *joint, const real *z)
{
    const int to = rigid_body_at(w, joint->parent) + RIGID_BODY_R;
    for (int k = 0; k < joint->count; k++) {
        real J[6];
        rigid_take_J_of(w, joint->first + k, joint->parent, J);
        for (int c = 0; c < 6; c++) add_cell(w, to + c, J[c] * z[k]);
    }
}

// upward pass, from the leaves
HD_CALL void rigid_solve_up(const RigidLanes *restrict w, int first, int end)
{
    real z[RIGID_JOINT_ROWS];
    for (int b = first; b < end; b++) {
        const int body = w->world_order[b];
        const RigidJoint *inner = rigid_inner_joint(w, body);
        if (w->bodies[body].joint < 0) continue;
        rigid_raise(w, body, z);
        if (inner != NULL) rigid_pass_force(w, inner, z);
    }
}

// multipliers of a body's joint, and its acceleration, after its parent's
HD void rigid_lower(const RigidLanes *w, int body)
{
    const int at = rigid_body_at(w, body);
    real body_block[21], S[21], f[6], J[6], a[6], x[RIGID_JOINT_ROWS];
    rigid_take_factors(w, body, body_block, S);
    rigid_take(w, at + RIGID_BODY_R, 6, f);
    if (w->bodies[body].joint >= 0) {
        const RigidJoint *joint = &w->joints[w->bodies[body].joint];
        const int n = joint->count, first = joint->first, parent = joint->parent;
        for (int c = 0; c < 6; c++) a[c] = splat(0.0);
        if (rigid_moves(w, parent)) rigid_take(w, rigid_body_at(w, parent) + RIGID_BODY_D, 6, a);
        for (int k = 0; k < n; k++) {
            x[k] = cell(w, rigid_row_at(w, first + k) + RIGID_ROW_Z);
            if (!rigid_moves(w, parent)) continue;
            rigid_take_J_of(w, first + k, parent, J);
            x[k] = x[k] - dot6(J, a);
        }
        packed_back(S, n, x);
        for (int k = 0; k < n; k++) {
            rigid_take_J_of(w, first + k, body, J);
            for (int c = 0; c < 6; c++) f[c] = fused(J[c], x[k], f[c]);
            set_cell(w, rigid_row_at(w, first + k) + RIGID_ROW_X, x[k]);
        }
    }
    packed_back(body_block, 6, f);
    rigid_put(w, at + RIGID_BODY_D, 6, f);
}

// downward pass, from the roots
HD_CALL void rigid_solve_down(const RigidLanes *restrict w, int first, int end)
{
    for (int b = end - 1; b >= first; b--) rigid_lower(w, w->world_order[b]);
}

#endif
