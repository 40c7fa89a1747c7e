// The constrained accelerations of one step,
//     [ M  J'] [  a   ]   [  F  ]
//     [ J  0 ] [-lambda] = [ rhs ]
// by elimination from the leaves of the trees of bodies and joints to their roots: no fill-in, O(n). Rows that close
// loops stand apart: their multipliers solve the Schur complement G = J_l H^-1 J_l' of their island, H its trees'
// matrix.
// Source: D. Baraff, Linear-time dynamics using Lagrange multipliers, SIGGRAPH 1996. With S_c = J_c M_b^-1 J_c' for the
// joint c between body b and its parent p, M and F with what the children brought:
//     z_c = rhs_c - J_cb M_b^-1 F_b,   M_p += J_cp' S_c^-1 J_cp,   F_p += J_cp' S_c^-1 z_c
//     lambda_c = S_c^-1 (z_c - J_cp a_p),   a_b = M_b^-1 (F_b + J_cb' lambda_c)
#ifndef HOPSCOTCH_RIGID_SOLVE_H
#define HOPSCOTCH_RIGID_SOLVE_H

#include "memory.h"

// ---- small symmetric systems: packed by rows, element (i, j <= i) at i (i + 1)/2 + j --------------------------------

HD int packed(int i, int j) { return i * (i + 1) / 2 + j; }

// A = L D L' in place; the diagonal holds 1/D. A row whose pivot is below `least` of its diagonal follows from those
// before it and is left out: its 1/D is 0. Gives how many were.
HD_CALL real rigid_factor(real *a, int n, double least)
{
    real dropped = splat(0.0), y[RIGID_JOINT_ROWS]; // y: row i of L D
    for (int i = 0; i < n; i++) {
        const real diagonal = a[packed(i, i)];
        real d = diagonal;
        for (int j = 0; j < i; j++) {
            y[j] = a[packed(i, j)];
            for (int m = 0; m < j; m++) y[j] = fused(-y[m], a[packed(j, m)], y[j]);
            a[packed(i, j)] = y[j] * a[packed(j, j)];
            d = fused(-a[packed(i, j)], y[j], d);
        }
        const mask none = MASK(d <= least * diagonal);
        a[packed(i, i)] = select_real(none, splat(0.0), 1.0 / select_real(none, splat(1.0), d));
        dropped = dropped + select_real(none, splat(1.0), splat(0.0));
    }
    return dropped;
}

// x <- (L D L')^-1 x
HD_CALL void rigid_back(const real *a, int n, real *x)
{
    for (int i = 1; i < n; i++) {
        for (int j = 0; j < i; j++) x[i] = fused(-a[packed(i, j)], x[j], x[i]);
    }
    for (int i = 0; i < n; i++) x[i] = x[i] * a[packed(i, i)];
    for (int i = n - 2; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) x[i] = fused(-a[packed(j, i)], x[j], x[i]);
    }
}

// ---- blocks ---------------------------------------------------------------------------------------------------------

// Which half of a row's J is this body's.
HD int rigid_side(const RigidLanes *w, int row, int body)
{
    return rigid_row_at(w, row) + RIGID_ROW_J + (w->rows[row].i == body ? 0 : 6);
}

HD void rigid_take(const RigidLanes *w, int at, int count, real *x)
{
    for (int k = 0; k < count; k++) x[k] = cell(w, at + k);
}

HD void rigid_put(const RigidLanes *w, int at, int count, const real *x)
{
    for (int k = 0; k < count; k++) set_cell(w, at + k, x[k]);
}

HD real rigid_dot6(const real *a, const real *b)
{
    real sum = a[0] * b[0];
    for (int k = 1; k < 6; k++) sum = fused(a[k], b[k], sum);
    return sum;
}

HD bool rigid_moves(const RigidLanes *w, int body) { return body >= 0 && w->bodies[body].fixed == 0.0; }

// J x of a row, x[6] of each body at this place among its cells
HD_CALL real rigid_row_times(const RigidLanes *w, int row, int x_at)
{
    real J[6], x[6], sum = splat(0.0);
    for (int side = 0; side < 2; side++) {
        const int body = (int)(side == 0 ? w->rows[row].i : w->rows[row].j);
        if (!rigid_moves(w, body)) continue;
        rigid_take(w, rigid_row_at(w, row) + RIGID_ROW_J + 6 * side, 6, J);
        rigid_take(w, rigid_body_at(w, body) + x_at, 6, x);
        sum = sum + rigid_dot6(J, x);
    }
    return sum;
}

// x += J' s of a row, at the bodies of one tree (-1: at both)
HD_CALL void rigid_row_add_to(const RigidLanes *w, int row, real s, int x_at, int tree)
{
    for (int side = 0; side < 2; side++) {
        const int body = (int)(side == 0 ? w->rows[row].i : w->rows[row].j);
        if (!rigid_moves(w, body) || (tree >= 0 && (int)w->bodies[body].tree != tree)) continue;
        const int J_at = rigid_row_at(w, row) + RIGID_ROW_J + 6 * side, to = rigid_body_at(w, body) + x_at;
        for (int k = 0; k < 6; k++) set_cell(w, to + k, fused(s, cell(w, J_at + k), cell(w, to + k)));
    }
}

HD void rigid_row_add(const RigidLanes *w, int row, real s, int x_at) { rigid_row_add_to(w, row, s, x_at, -1); }

// J M^-1 J' of a row alone, with the bodies' own masses
HD_CALL real rigid_row_compliance(const RigidLanes *w, int row);

// ---- the tree -------------------------------------------------------------------------------------------------------

// diag(m 1, I) of a body, packed
HD void rigid_start_block(const RigidLanes *w, int body)
{
    const int at = rigid_body_at(w, body);
    const real m = cell(w, at + RIGID_BODY_M);
    const Symmetric3 I = rigid_inertia(w, body);
    real block[21];
    for (int k = 0; k < 21; k++) block[k] = splat(0.0);
    block[packed(0, 0)] = block[packed(1, 1)] = block[packed(2, 2)] = m;
    block[packed(3, 3)] = I.xx;
    block[packed(4, 4)] = I.yy;
    block[packed(5, 5)] = I.zz;
    block[packed(4, 3)] = I.xy;
    block[packed(5, 3)] = I.xz;
    block[packed(5, 4)] = I.yz;
    rigid_put(w, at + RIGID_BODY_FACTOR, 21, block);
}

// M_p += J_cp' S_c^-1 J_cp
HD_CALL void rigid_pass_block(const RigidLanes *w, const RigidJoint *joint, const real *S)
{
    const int n = (int)joint->count, first = (int)joint->first, parent = (int)joint->parent;
    const int to = rigid_body_at(w, parent) + RIGID_BODY_FACTOR;
    real J[RIGID_JOINT_ROWS][6], t[RIGID_JOINT_ROWS];
    for (int k = 0; k < n; k++) rigid_take(w, rigid_side(w, first + k, parent), 6, J[k]);
    for (int c = 0; c < 6; c++) {
        for (int k = 0; k < n; k++) t[k] = J[k][c];
        rigid_back(S, n, t);
        for (int d = c; d < 6; d++) {
            real sum = J[0][d] * t[0];
            for (int k = 1; k < n; k++) sum = fused(J[k][d], t[k], sum);
            add_cell(w, to + packed(d, c), sum);
        }
    }
}

// The factors of all blocks; gives the rows without a pivot.
HD_CALL real rigid_factor_tree(const RigidLanes *w)
{
    real dropped = splat(0.0), block[21], S[21], J[RIGID_JOINT_ROWS][6], y[6];
    for (int b = 0; b < w->n_moving; b++) rigid_start_block(w, (int)w->order[b]);
    for (int b = 0; b < w->n_moving; b++) {
        const int body = (int)w->order[b], at = rigid_body_at(w, body) + RIGID_BODY_FACTOR;
        rigid_take(w, at, 21, block);
        rigid_factor(block, 6, 0.0);
        rigid_put(w, at, 21, block);
        if (w->bodies[body].joint < 0.0) continue;
        const RigidJoint *joint = &w->joints[(int)w->bodies[body].joint];
        const int n = (int)joint->count, first = (int)joint->first;
        for (int k = 0; k < n; k++) rigid_take(w, rigid_side(w, first + k, body), 6, J[k]);
        for (int k = 0; k < n; k++) {
            for (int c = 0; c < 6; c++) y[c] = J[k][c];
            rigid_back(block, 6, y);
            for (int l = 0; l <= k; l++) S[packed(k, l)] = rigid_dot6(J[l], y);
            S[packed(k, k)] = S[packed(k, k)] + cell(w, rigid_row_at(w, first + k) + RIGID_ROW_SOFT);
        }
        dropped = dropped + rigid_factor(S, n, w->c.pivot);
        rigid_put(w, w->c.factor_at + RIGID_JOINT_CELLS * (int)w->bodies[body].joint, packed(n, 0), S);
        if (rigid_moves(w, (int)joint->parent)) rigid_pass_block(w, joint, S);
    }
    return dropped;
}

HD void rigid_take_factors(const RigidLanes *w, int body, real *block, real *S)
{
    const int joint = (int)w->bodies[body].joint;
    rigid_take(w, rigid_body_at(w, body) + RIGID_BODY_FACTOR, 21, block);
    if (joint >= 0)
        rigid_take(w, w->c.factor_at + RIGID_JOINT_CELLS * joint, packed((int)w->joints[joint].count, 0), S);
}

// from the leaves: z_c and what reaches the parents
HD_CALL void rigid_solve_up(const RigidLanes *w)
{
    real block[21], S[21], f[6], J[6], z[RIGID_JOINT_ROWS];
    for (int b = 0; b < w->n_moving; b++) {
        const int body = (int)w->order[b];
        if (w->bodies[body].joint < 0.0) continue;
        const RigidJoint *joint = &w->joints[(int)w->bodies[body].joint];
        const int n = (int)joint->count, first = (int)joint->first;
        rigid_take_factors(w, body, block, S);
        rigid_take(w, rigid_body_at(w, body) + RIGID_BODY_R, 6, f);
        rigid_back(block, 6, f);
        for (int k = 0; k < n; k++) {
            const int at = rigid_row_at(w, first + k) + RIGID_ROW_Z;
            rigid_take(w, rigid_side(w, first + k, body), 6, J);
            z[k] = cell(w, at) - rigid_dot6(J, f);
            set_cell(w, at, z[k]);
        }
        if (!rigid_moves(w, (int)joint->parent)) continue;
        rigid_back(S, n, z);
        const int to = rigid_body_at(w, (int)joint->parent) + RIGID_BODY_R;
        for (int k = 0; k < n; k++) {
            const int side = rigid_side(w, first + k, (int)joint->parent);
            for (int c = 0; c < 6; c++) add_cell(w, to + c, cell(w, side + c) * z[k]);
        }
    }
}

// from the roots: multipliers and accelerations
HD_CALL void rigid_solve_down(const RigidLanes *w)
{
    real block[21], S[21], f[6], J[6], a[6], x[RIGID_JOINT_ROWS];
    for (int b = w->n_moving - 1; b >= 0; b--) {
        const int body = (int)w->order[b], at = rigid_body_at(w, body);
        rigid_take_factors(w, body, block, S);
        rigid_take(w, at + RIGID_BODY_R, 6, f);
        if (w->bodies[body].joint >= 0.0) {
            const RigidJoint *joint = &w->joints[(int)w->bodies[body].joint];
            const int n = (int)joint->count, first = (int)joint->first, parent = (int)joint->parent;
            for (int c = 0; c < 6; c++) a[c] = splat(0.0);
            if (rigid_moves(w, parent)) rigid_take(w, rigid_body_at(w, parent) + RIGID_BODY_D, 6, a);
            for (int k = 0; k < n; k++) {
                x[k] = cell(w, rigid_row_at(w, first + k) + RIGID_ROW_Z);
                if (!rigid_moves(w, parent)) continue;
                rigid_take(w, rigid_side(w, first + k, parent), 6, J);
                x[k] = x[k] - rigid_dot6(J, a);
            }
            rigid_back(S, n, x);
            for (int k = 0; k < n; k++) {
                rigid_take(w, rigid_side(w, first + k, body), 6, J);
                for (int c = 0; c < 6; c++) f[c] = fused(J[c], x[k], f[c]);
                set_cell(w, rigid_row_at(w, first + k) + RIGID_ROW_X, x[k]);
            }
        }
        rigid_back(block, 6, f);
        rigid_put(w, at + RIGID_BODY_D, 6, f);
    }
}

// D and X of the tree's rows for R and Z, which are used up.
HD void rigid_solve_tree(const RigidLanes *w)
{
    rigid_solve_up(w);
    rigid_solve_down(w);
}

// ---- loops ----------------------------------------------------------------------------------------------------------

HD int rigid_loop_row(const RigidLanes *w, int l) { return w->row_end - w->n_loop_rows + l; }

HD const RigidRow *rigid_loop(const RigidLanes *w, int l) { return &w->rows[rigid_loop_row(w, l)]; }

HD void rigid_clear(const RigidLanes *w, int body, int cells_at)
{
    for (int c = 0; c < 6; c++) set_cell(w, rigid_body_at(w, body) + cells_at + c, splat(0.0));
}

// The trees that a row acts on: order[first .. first + count); gives how many.
HD int rigid_trees_of(const RigidLanes *w, const RigidRow *row, int first[2], int count[2])
{
    int n = 0;
    for (int side = 0; side < 2; side++) {
        const int body = (int)(side == 0 ? row->i : row->j);
        if (!rigid_moves(w, body)) continue;
        if (n == 1 && first[0] == (int)w->bodies[body].tree) continue;
        first[n] = (int)w->bodies[body].tree;
        count[n++] = (int)w->bodies[body].tree_count;
    }
    return n;
}

// D = H^-1 J' of a row that closes a loop: the other trees feel nothing of it.
HD_CALL void rigid_respond(const RigidLanes *w, RigidLanes *tree, int row, int first, int count)
{
    tree->order = w->world_order + first;
    tree->n_moving = count;
    for (int b = 0; b < count; b++) {
        const int body = (int)tree->order[b], joint = (int)w->bodies[body].joint;
        rigid_clear(w, body, RIGID_BODY_R);
        for (int k = 0; joint >= 0 && k < (int)w->joints[joint].count; k++)
            set_cell(w, rigid_row_at(w, (int)w->joints[joint].first + k) + RIGID_ROW_Z, splat(0.0));
    }
    rigid_row_add_to(w, row, splat(1.0), RIGID_BODY_R, first);
    rigid_solve_tree(tree);
}

// G, a row a solve.
HD_CALL void rigid_assemble_loops(const RigidLanes *w)
{
    RigidLanes tree = *w;
    for (int b = 0; b < w->n_moving; b++) rigid_clear(w, (int)w->order[b], RIGID_BODY_D);
    for (int l = 0; l < w->n_loop_rows; l++) {
        const int row = rigid_loop_row(w, l), reach = (int)w->rows[row].reach;
        int first[2], count[2];
        const int trees = rigid_trees_of(w, &w->rows[row], first, count);
        for (int t = 0; t < trees; t++) rigid_respond(w, &tree, row, first[t], count[t]);
        for (int m = reach; m <= l; m++)
            set_cell(w, w->schur_at + packed(l, m), rigid_row_times(w, rigid_loop_row(w, m), RIGID_BODY_D));
        add_cell(w, w->schur_at + packed(l, l), cell(w, rigid_row_at(w, row) + RIGID_ROW_SOFT));
        for (int t = 0; t < trees; t++) {
            for (int b = 0; b < count[t]; b++) rigid_clear(w, (int)w->world_order[first[t] + b], RIGID_BODY_D);
        }
    }
}

// G = L D L' as rigid_factor does it, in memory, row by row from where it is not 0 (its skyline).
HD_CALL real rigid_factor_loops(const RigidLanes *w)
{
    const int n = w->n_loop_rows, G = w->schur_at, y = w->response_at;
    real dropped = splat(0.0);
    rigid_assemble_loops(w);
    for (int i = 0; i < n; i++) {
        // of a row that the tree implies nothing is left: measured against the row alone
        const real diagonal = rigid_row_compliance(w, rigid_loop_row(w, i));
        const int reach = (int)rigid_loop(w, i)->reach;
        real d = cell(w, G + packed(i, i));
        for (int j = reach; j < i; j++) {
            const int from = (int)rigid_loop(w, j)->reach;
            real y_j = cell(w, G + packed(i, j));
            for (int m = from > reach ? from : reach; m < j; m++)
                y_j = fused(-cell(w, y + m), cell(w, G + packed(j, m)), y_j);
            set_cell(w, y + j, y_j);
            const real l = y_j * cell(w, G + packed(j, j));
            set_cell(w, G + packed(i, j), l);
            d = fused(-l, y_j, d);
        }
        const mask none = MASK(d <= w->c.pivot * diagonal);
        set_cell(w, G + packed(i, i), select_real(none, splat(0.0), 1.0 / select_real(none, splat(1.0), d)));
        dropped = dropped + select_real(none, splat(1.0), splat(0.0));
    }
    return dropped;
}

HD int rigid_loop_x(const RigidLanes *w, int l) { return rigid_row_at(w, rigid_loop_row(w, l)) + RIGID_ROW_X; }

// x <- G^-1 x, x in the rows' X
HD_CALL void rigid_solve_loops(const RigidLanes *w)
{
    const int n = w->n_loop_rows, G = w->schur_at;
    for (int i = 0; i < n; i++) {
        real x = cell(w, rigid_loop_x(w, i));
        for (int j = (int)rigid_loop(w, i)->reach; j < i; j++)
            x = fused(-cell(w, G + packed(i, j)), cell(w, rigid_loop_x(w, j)), x);
        set_cell(w, rigid_loop_x(w, i), x);
    }
    for (int i = 0; i < n; i++)
        set_cell(w, rigid_loop_x(w, i), cell(w, rigid_loop_x(w, i)) * cell(w, G + packed(i, i)));
    for (int j = n - 1; j >= 0; j--) { // L' by its columns
        const real x = cell(w, rigid_loop_x(w, j));
        for (int i = (int)rigid_loop(w, j)->reach; i < j; i++)
            set_cell(w, rigid_loop_x(w, i), fused(-cell(w, G + packed(j, i)), x, cell(w, rigid_loop_x(w, i))));
    }
}

// ---- all of it ------------------------------------------------------------------------------------------------------

// R and Z: what F, M A, J' lambda and rhs, J A, soft lambda leave open.
HD_CALL void rigid_right_sides(const RigidLanes *w)
{
    for (int b = 0; b < w->n_moving; b++) {
        const int body = (int)w->order[b], at = rigid_body_at(w, body);
        const Vector3 a = cell3(w, at + RIGID_BODY_A), turn = cell3(w, at + RIGID_BODY_A + 3);
        const real m = cell(w, at + RIGID_BODY_M);
        set_cell3(w, at + RIGID_BODY_R, less(cell3(w, at + RIGID_BODY_F), scaled(m, a)));
        set_cell3(w, at + RIGID_BODY_R + 3,
                  less(cell3(w, at + RIGID_BODY_F + 3), symmetric3_times(rigid_inertia(w, body), turn)));
    }
    for (int k = w->row; k < w->row_end; k++) {
        const int at = rigid_row_at(w, k);
        const real lambda = cell(w, at + RIGID_ROW_LAMBDA);
        rigid_row_add(w, k, lambda, RIGID_BODY_R);
        set_cell(w, at + RIGID_ROW_Z,
                 cell(w, at + RIGID_ROW_RHS) - rigid_row_times(w, k, RIGID_BODY_A) -
                     cell(w, at + RIGID_ROW_SOFT) * lambda);
    }
}

// An island whose tree is solved: X of the rows that close its loops, and the tree's D and X with them.
HD_CALL void rigid_solve_looped(const RigidLanes *w)
{
    for (int l = 0; l < w->n_loop_rows; l++) {
        const int row = rigid_loop_row(w, l), at = rigid_row_at(w, row);
        set_cell(w, at + RIGID_ROW_X, cell(w, at + RIGID_ROW_Z) - rigid_row_times(w, row, RIGID_BODY_D));
    }
    rigid_solve_loops(w);
    rigid_right_sides(w);
    for (int l = 0; l < w->n_loop_rows; l++) {
        const int row = rigid_loop_row(w, l);
        rigid_row_add(w, row, cell(w, rigid_row_at(w, row) + RIGID_ROW_X), RIGID_BODY_R);
    }
    rigid_solve_tree(w);
}

HD_CALL void rigid_solve_once(const RigidLanes *w)
{
    rigid_right_sides(w);
    rigid_solve_tree(w);
    for (int i = 0; i < w->n_islands && w->n_loop_rows > 0; i++) {
        const RigidLanes island = rigid_islands(w, i, 1);
        if (island.n_loop_rows > 0) rigid_solve_looped(&island);
    }
    for (int b = 0; b < w->n_moving; b++) {
        const int at = rigid_body_at(w, (int)w->order[b]);
        for (int c = 0; c < 6; c++) add_cell(w, at + RIGID_BODY_A + c, cell(w, at + RIGID_BODY_D + c));
    }
    for (int k = w->row; k < w->row_end; k++) {
        const int at = rigid_row_at(w, k);
        add_cell(w, at + RIGID_ROW_LAMBDA, cell(w, at + RIGID_ROW_X));
    }
}

HD_CALL real rigid_row_compliance(const RigidLanes *w, int row)
{
    real sum = splat(0.0);
    for (int side = 0; side < 2; side++) {
        const int body = (int)(side == 0 ? w->rows[row].i : w->rows[row].j);
        if (!rigid_moves(w, body)) continue;
        const int at = rigid_row_at(w, row) + RIGID_ROW_J + 6 * side;
        const Vector3 J_v = cell3(w, at);
        const Vector3 J_w = cell3(w, at + 3);
        const Symmetric3 I = rigid_inertia(w, body);
        real block[21];
        block[0] = I.xx;
        block[1] = I.xy;
        block[2] = I.yy;
        block[3] = I.xz;
        block[4] = I.yz;
        block[5] = I.zz;
        rigid_factor(block, 3, 0.0);
        real x[6];
        x[0] = J_w.x;
        x[1] = J_w.y;
        x[2] = J_w.z;
        rigid_back(block, 3, x);
        sum = sum + dot3(J_v, J_v) / cell(w, rigid_body_at(w, body) + RIGID_BODY_M) +
              dot3(J_w, vector3(x[0], x[1], x[2]));
    }
    return sum;
}

HD real rigid_factor_all(const RigidLanes *w)
{
    real dropped = rigid_factor_tree(w);
    for (int i = 0; i < w->n_islands && w->n_loop_rows > 0; i++) {
        const RigidLanes island = rigid_islands(w, i, 1);
        if (island.n_loop_rows > 0) dropped = dropped + rigid_factor_loops(&island);
    }
    return dropped;
}

// A and lambda of F and the rows' right-hand sides, by the factors that are there.
HD_CALL void rigid_solve(const RigidLanes *w)
{
    for (int b = 0; b < w->n_moving; b++) {
        const int at = rigid_body_at(w, (int)w->order[b]) + RIGID_BODY_A;
        for (int c = 0; c < 6; c++) set_cell(w, at + c, splat(0.0));
    }
    for (int k = w->row; k < w->row_end; k++) set_cell(w, rigid_row_at(w, k) + RIGID_ROW_LAMBDA, splat(0.0));
    for (int pass = 0; pass <= w->c.refine; pass++) rigid_solve_once(w);
}

// rhs - J a - soft lambda of a row
HD real rigid_open_row(const RigidLanes *w, int row)
{
    const int at = rigid_row_at(w, row);
    return cell(w, at + RIGID_ROW_RHS) - rigid_row_times(w, row, RIGID_BODY_A) -
           cell(w, at + RIGID_ROW_SOFT) * cell(w, at + RIGID_ROW_LAMBDA);
}

// greatest |rhs - J a - soft lambda|
HD_CALL real rigid_residual(const RigidLanes *w)
{
    real greatest = splat(0.0);
    for (int k = w->row; k < w->row_end; k++) greatest = most_of(absolute(rigid_open_row(w, k)), greatest);
    return greatest;
}

#endif
