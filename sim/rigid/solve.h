// The constrained accelerations of one step: of an island by the matrix of its rows (skyline.h), or of its trees by
// elimination (tree.h), whichever is less work, and then of rows that close loops by their Schur complement. Those
// stand apart: their multipliers solve G = J_l H^-1 J_l' of their island, H its trees' matrix. A pass of iterative
// refinement follows, or several.
#ifndef HOPSCOTCH_RIGID_SOLVE_H
#define HOPSCOTCH_RIGID_SOLVE_H

#include "skyline.h"
#include "tree_team.h"

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
        const int body = side == 0 ? row->i : row->j;
        if (!rigid_moves(w, body)) continue;
        if (n == 1 && first[0] == w->bodies[body].tree) continue;
        first[n] = w->bodies[body].tree;
        count[n++] = w->bodies[body].tree_count;
    }
    return n;
}

// D = H^-1 J' of a row that closes a loop: the other trees feel nothing of it.
HD_CALL void rigid_respond(const RigidLanes *restrict w, int row, int first, int count)
{
    for (int b = w->rank; b < count; b += w->size) {
        const int body = w->world_order[first + b], joint = w->bodies[body].joint;
        rigid_clear(w, body, RIGID_BODY_R);
        for (int k = 0; joint >= 0 && k < w->joints[joint].count; k++)
            set_cell(w, rigid_row_at(w, w->joints[joint].first + k) + RIGID_ROW_Z, splat(0.0));
    }
    rigid_wait(w);
    if (rigid_speaks(w)) rigid_row_push(w, row, RIGID_BODY_R, first);
    rigid_wait(w);
    rigid_solve_tree(w, first, first + count);
}

// G, a row a solve.
HD_CALL void rigid_assemble_loops(const RigidLanes *restrict w)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) rigid_clear(w, w->order[b], RIGID_BODY_D);
    for (int l = 0; l < w->n_loop_rows; l++) {
        const int row = rigid_loop_row(w, l), reach = w->rows[row].reach;
        int first[2], count[2];
        const int trees = rigid_trees_of(w, &w->rows[row], first, count);
        for (int t = 0; t < trees; t++) rigid_respond(w, row, first[t], count[t]);
        for (int m = reach + w->rank; m <= l; m += w->size) {
            const real soft = m == l ? cell(w, rigid_row_at(w, row) + RIGID_ROW_SOFT) : splat(0.0);
            const real response = rigid_row_times(w, rigid_loop_row(w, m), RIGID_BODY_D);
            set_cell(w, w->schur_at + packed(l, m), m == l ? response + soft : response);
        }
        rigid_wait(w);
        for (int t = 0; t < trees; t++) {
            for (int b = w->rank; b < count[t]; b += w->size)
                rigid_clear(w, w->world_order[first[t] + b], RIGID_BODY_D);
        }
    }
    rigid_wait(w);
}

// G = L D L' as rigid_factor does it, in memory, column by column, of each row from where it is not 0 (its skyline).
HD_CALL real rigid_factor_loops(const RigidLanes *restrict w)
{
    const int n = w->n_loop_rows, G = w->schur_at, y = w->response_at;
    real dropped = splat(0.0);
    rigid_assemble_loops(w);
    for (int m = 0; m < n; m++) {
        // of a row that the tree implies nothing is left: measured against the row alone
        const real diagonal = rigid_row_compliance(w, rigid_loop_row(w, m)), d = cell(w, G + packed(m, m));
        const mask none = MASK(d <= w->c.pivot * diagonal);
        const real inverse = select_real(none, splat(0.0), 1.0 / select_real(none, splat(1.0), d));
        dropped = dropped + select_real(none, splat(1.0), splat(0.0));
        rigid_wait(w); // all have read the pivot
        if (rigid_speaks(w)) set_cell(w, G + packed(m, m), inverse);
        for (int i = m + 1 + w->rank; i < n; i += w->size) {
            if (rigid_loop(w, i)->reach > m) continue;
            const real y_i = cell(w, G + packed(i, m));
            set_cell(w, y + i, y_i);
            set_cell(w, G + packed(i, m), y_i * inverse);
        }
        rigid_wait(w);
        for (int i = m + 1 + w->rank; i < n; i += w->size) {
            if (rigid_loop(w, i)->reach > m) continue;
            const real y_i = cell(w, y + i);
            for (int j = m + 1; j <= i; j++) {
                if (rigid_loop(w, j)->reach > m) continue;
                const int at = G + packed(i, j);
                set_cell(w, at, fused(-y_i, cell(w, G + packed(j, m)), cell(w, at)));
            }
        }
        rigid_wait(w);
    }
    return dropped;
}

HD int rigid_loop_x(const RigidLanes *w, int l) { return rigid_row_at(w, rigid_loop_row(w, l)) + RIGID_ROW_X; }

// x <- G^-1 x, x in the rows' X, by the columns of L and of L'
HD_CALL void rigid_solve_loops(const RigidLanes *restrict w)
{
    const int n = w->n_loop_rows, G = w->schur_at;
    for (int j = 0; j < n; j++) {
        const real x = cell(w, rigid_loop_x(w, j));
        for (int i = j + 1 + w->rank; i < n; i += w->size) {
            if (rigid_loop(w, i)->reach > j) continue;
            const int at = rigid_loop_x(w, i);
            set_cell(w, at, fused(-cell(w, G + packed(i, j)), x, cell(w, at)));
        }
        rigid_wait(w);
    }
    for (int i = w->rank; i < n; i += w->size)
        set_cell(w, rigid_loop_x(w, i), cell(w, rigid_loop_x(w, i)) * cell(w, G + packed(i, i)));
    rigid_wait(w);
    for (int j = n - 1; j >= 0; j--) {
        const real x = cell(w, rigid_loop_x(w, j));
        for (int i = rigid_loop(w, j)->reach + w->rank; i < j; i += w->size)
            set_cell(w, rigid_loop_x(w, i), fused(-cell(w, G + packed(j, i)), x, cell(w, rigid_loop_x(w, i))));
        rigid_wait(w);
    }
}

// ---- all of it ------------------------------------------------------------------------------------------------------

// R and Z as they are given: nothing is solved yet.
HD void rigid_given_sides(const RigidLanes *w)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int at = rigid_body_at(w, w->order[b]);
        for (int c = 0; c < 6; c++) set_cell(w, at + RIGID_BODY_R + c, cell(w, at + RIGID_BODY_F + c));
    }
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        set_cell(w, at + RIGID_ROW_Z, cell(w, at + RIGID_ROW_RHS));
    }
    rigid_wait(w);
}

// R and Z: what F, M A, J' lambda and rhs, J A, soft lambda leave open.
HD_CALL void rigid_open_sides(const RigidLanes *restrict w)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int body = w->order[b], at = rigid_body_at(w, body);
        const Vector3 a = cell3(w, at + RIGID_BODY_A), turn = cell3(w, at + RIGID_BODY_A + 3);
        const Vector3 force = less(cell3(w, at + RIGID_BODY_F), scaled(cell(w, at + RIGID_BODY_M), a));
        const Vector3 torque = less(cell3(w, at + RIGID_BODY_F + 3), symmetric3_times(rigid_inertia(w, body), turn));
        real r[6];
        r[0] = force.x;
        r[1] = force.y;
        r[2] = force.z;
        r[3] = torque.x;
        r[4] = torque.y;
        r[5] = torque.z;
        rigid_gather(w, body, 0, RIGID_ROW_LAMBDA, r);
        rigid_put(w, at + RIGID_BODY_R, 6, r);
    }
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        set_cell(w, at + RIGID_ROW_Z,
                 cell(w, at + RIGID_ROW_RHS) - rigid_row_times(w, k, RIGID_BODY_A) -
                     cell(w, at + RIGID_ROW_SOFT) * cell(w, at + RIGID_ROW_LAMBDA));
    }
    rigid_wait(w);
}

HD void rigid_right_sides(const RigidLanes *w, bool first)
{
    if (first)
        rigid_given_sides(w);
    else
        rigid_open_sides(w);
}

// An island whose trees are solved: X of the rows that close its loops, and the trees' D and X with them.
HD_CALL void rigid_solve_looped(const RigidLanes *restrict w, bool first)
{
    for (int l = w->rank; l < w->n_loop_rows; l += w->size) {
        const int row = rigid_loop_row(w, l), at = rigid_row_at(w, row);
        set_cell(w, at + RIGID_ROW_X, cell(w, at + RIGID_ROW_Z) - rigid_row_times(w, row, RIGID_BODY_D));
    }
    rigid_wait(w);
    rigid_solve_loops(w);
    rigid_right_sides(w, first);
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int body = w->order[b], at = rigid_body_at(w, body) + RIGID_BODY_R;
        real r[6];
        rigid_take(w, at, 6, r);
        rigid_gather(w, body, rigid_loop_row(w, 0), RIGID_ROW_X, r);
        rigid_put(w, at, 6, r);
    }
    rigid_wait(w);
    rigid_solve_trees(w);
}

// A cell is x, or grows by it.
HD void rigid_gain(const RigidLanes *w, int at, real x, bool first) { set_cell(w, at, first ? x : cell(w, at) + x); }

HD_CALL void rigid_solve_once(const RigidLanes *restrict w, bool first)
{
    rigid_right_sides(w, first);
    rigid_solve_skyline(w);
    rigid_solve_trees(w);
    for (int i = 0; i < w->n_islands && w->n_loop_rows > 0; i++) {
        const RigidLanes island = rigid_islands(w, i, 1);
        if (island.n_loop_rows > 0) rigid_solve_looped(&island, first);
    }
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int at = rigid_body_at(w, w->order[b]);
        for (int c = 0; c < 6; c++) rigid_gain(w, at + RIGID_BODY_A + c, cell(w, at + RIGID_BODY_D + c), first);
    }
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        rigid_gain(w, at + RIGID_ROW_LAMBDA, cell(w, at + RIGID_ROW_X), first);
    }
    rigid_wait(w);
}

// D and X for the rows' right-hand sides where no forces act (F = 0).
HD_CALL void rigid_solve_rows(const RigidLanes *restrict w)
{
    rigid_given_sides(w);
    rigid_solve_skyline_rows(w);
    rigid_solve_trees(w);
    for (int i = 0; i < w->n_islands && w->n_loop_rows > 0; i++) {
        const RigidLanes island = rigid_islands(w, i, 1);
        if (island.n_loop_rows > 0) rigid_solve_looped(&island, true);
    }
}

// Gives the rows without a pivot that this thread has found.
HD real rigid_factor_all(const RigidLanes *w)
{
    real dropped = rigid_factor_skyline(w);
    dropped = dropped + rigid_factor_trees(w);
    for (int i = 0; i < w->n_islands && w->n_loop_rows > 0; i++) {
        const RigidLanes island = rigid_islands(w, i, 1);
        if (island.n_loop_rows == 0) continue;
        const real of_loops = rigid_factor_loops(&island);
        dropped = rigid_speaks(w) ? dropped + of_loops : dropped;
    }
    return dropped;
}

// A and lambda of F and the rows' right-hand sides, by the factors that are there.
HD_CALL void rigid_solve(const RigidLanes *restrict w)
{
    for (int pass = 0; pass <= w->c.refine; pass++) rigid_solve_once(w, pass == 0);
}

// rhs - J a - soft lambda of a row
HD real rigid_open_row(const RigidLanes *w, int row)
{
    const int at = rigid_row_at(w, row);
    return cell(w, at + RIGID_ROW_RHS) - rigid_row_times(w, row, RIGID_BODY_A) -
           cell(w, at + RIGID_ROW_SOFT) * cell(w, at + RIGID_ROW_LAMBDA);
}

// greatest |rhs - J a - soft lambda| of this thread's rows
HD_CALL real rigid_residual(const RigidLanes *restrict w)
{
    real greatest = splat(0.0);
    for (int k = w->row + w->rank; k < w->row_end; k += w->size)
        greatest = most_of(absolute(rigid_open_row(w, k)), greatest);
    return greatest;
}

#endif
