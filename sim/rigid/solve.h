// The constrained accelerations of one step. An island is solved by the matrix of its rows (skyline.h), or by
// elimination along its trees (tree.h), whichever is less work; in the latter case rows that close loops follow by
// their Schur complement. Their multipliers solve G = J_l H^-1 J_l' of their island, H its trees' matrix. One or more
// passes of iterative refinement follow.
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

// The trees on which a row acts: order[first .. first + count); returns their number.
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

// D = H^-1 J' of a row that closes a loop; it is 0 in the other trees.
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

// G, one row per solve.
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

// G = L D L' as in packed_factor, in memory, column by column, each row from its first nonzero entry on (its skyline).
HD_CALL void rigid_factor_loops(const RigidLanes *restrict w)
{
    const int n = w->n_loop_rows, G = w->schur_at, y = w->response_at;
    const real ease = cell(w, w->islands->ease), least = rigid_least(w, w->islands->ease);
    rigid_assemble_loops(w);
    for (int m = 0; m < n; m++) {
        // of a row that the trees imply nothing is left, relative to the row alone
        const real diagonal = rigid_row_compliance(w, rigid_loop_row(w, m));
        const real d = fused(ease, diagonal, cell(w, G + packed(m, m)));
        const mask none = MASK(value_of(d) <= value_of(least * diagonal));
        const real inverse = select_real(none, splat(0.0), 1.0 / select_real(none, splat(1.0), d));
        rigid_wait(w); // all threads have read the pivot
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

// R and Z as given, before any solve.
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

// rhs - J A - soft lambda of n rows together, into Z
HD void rigid_open_rows(const RigidLanes *w, int row, int n)
{
    real product[RIGID_JOINT_ROWS] = {splat(0.0)};
    rigid_rows_times(w, row, RIGID_BODY_A, product, n);
    for (int r = 0; r < n; r++) {
        const int at = rigid_row_at(w, row + r);
        set_cell(w, at + RIGID_ROW_Z,
                 cell(w, at + RIGID_ROW_RHS) - product[r] -
                     cell(w, at + RIGID_ROW_SOFT) * cell(w, at + RIGID_ROW_LAMBDA));
    }
}

// r[6] <- F - M A + J' lambda of a body
HD void rigid_open_body(const RigidLanes *w, int body, real *r)
{
    const int at = rigid_body_at(w, body);
    const Vector3 a = cell3(w, at + RIGID_BODY_A), turn = cell3(w, at + RIGID_BODY_A + 3);
    const Vector3 force = less(cell3(w, at + RIGID_BODY_F), scaled(cell(w, at + RIGID_BODY_M), a));
    const Vector3 torque = less(cell3(w, at + RIGID_BODY_F + 3), symmetric3_times(rigid_inertia(w, body), turn));
    r[0] = force.x;
    r[1] = force.y;
    r[2] = force.z;
    r[3] = torque.x;
    r[4] = torque.y;
    r[5] = torque.z;
    rigid_gather(w, body, 0, RIGID_ROW_LAMBDA, r);
}

// R and Z: the residuals of F with M A and J' lambda, and of rhs with J A and soft lambda.
HD_CALL void rigid_open_sides(const RigidLanes *restrict w, bool again)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int body = w->order[b], at = rigid_body_at(w, body);
        if (rigid_passes_by(w, w->bodies[body].ease, again)) continue;
        real r[6];
        rigid_open_body(w, body, r);
        rigid_put(w, at + RIGID_BODY_R, 6, r);
    }
    for (int k = w->row + w->rank, n; k < w->row_end; k += w->size * n) {
        n = rigid_together(w, k);
        if (!rigid_passes_by(w, w->rows[k].ease, again)) RIGID_ROWS_DO(n, rigid_open_rows, w, k);
    }
    rigid_wait(w);
}

HD void rigid_right_sides(const RigidLanes *w, bool first)
{
    if (first)
        rigid_given_sides(w);
    else
        rigid_open_sides(w, false);
}

// An island whose trees are solved: X of the rows that close its loops, then the trees' D and X with them.
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
    rigid_solve_trees(w, false);
}

// Computes D and X from R and Z, which are overwritten.
HD void rigid_solve_all(const RigidLanes *w, bool first, bool again)
{
    rigid_solve_skyline(w, again);
    rigid_solve_trees(w, again);
    for (int i = 0; rigid_has_loops(w) && i < w->n_islands; i++) {
        if (rigid_passes_by(w, w->islands[i].ease, again)) continue;
        const RigidLanes island = rigid_islands(w, i, 1);
        if (island.n_loop_rows > 0) rigid_solve_looped(&island, first);
    }
}

// Sets a cell to x, or adds x to it.
HD void rigid_gain(const RigidLanes *w, int at, real x, bool first) { set_cell(w, at, first ? x : cell(w, at) + x); }

// ---- all of it by one thread, where all islands are solved by the matrix of their rows ------------------------------
// The same operations in fewer passes over bodies and rows: each loads what the ones after it need.

// R and M^-1 R of a body, which is D.
HD void rigid_sides_of_body(const RigidLanes *w, int body, bool first)
{
    const int at = rigid_body_at(w, body);
    real r[6];
    if (first)
        rigid_take(w, at + RIGID_BODY_F, 6, r);
    else
        rigid_open_body(w, body, r);
    rigid_put(w, at + RIGID_BODY_R, 6, r);
    rigid_divide(w, body, r);
    rigid_put(w, at + RIGID_BODY_D, 6, r);
}

// X of n rows together: rhs - J A - soft lambda - J D; first: rhs - J D
HD_INLINE void rigid_sides_of_rows(const RigidLanes *w, int row, bool first, int n)
{
    real a[RIGID_JOINT_ROWS] = {splat(0.0)}, d[RIGID_JOINT_ROWS] = {splat(0.0)}, J[6], A[6], D[6];
    for (int side = 0; side < 2; side++) {
        const int body = side == 0 ? w->rows[row].i : w->rows[row].j;
        if (!rigid_moves(w, body)) continue;
        if (!first) rigid_take(w, rigid_body_at(w, body) + RIGID_BODY_A, 6, A);
        rigid_take(w, rigid_body_at(w, body) + RIGID_BODY_D, 6, D);
        UNROLL
        for (int r = 0; r < n; r++) {
            rigid_take_J(w, row + r, side, J);
            if (!first) a[r] = a[r] + dot6(J, A);
            d[r] = d[r] + dot6(J, D);
        }
    }
    UNROLL
    for (int r = 0; r < n; r++) {
        const int at = rigid_row_at(w, row + r);
        real z = cell(w, at + RIGID_ROW_RHS);
        if (!first) z = z - a[r] - cell(w, at + RIGID_ROW_SOFT) * cell(w, at + RIGID_ROW_LAMBDA);
        set_cell(w, at + RIGID_ROW_X, z - d[r]);
    }
}

// D = M^-1 (R + J' X) of a body, and what A gains.
HD void rigid_gain_body(const RigidLanes *w, int body, bool first)
{
    const int at = rigid_body_at(w, body);
    real x[6], A[6];
    rigid_take(w, at + RIGID_BODY_R, 6, x);
    for (int c = 0; c < 6; c++) A[c] = splat(0.0);
    if (!first) rigid_take(w, at + RIGID_BODY_A, 6, A);
    rigid_gather(w, body, 0, RIGID_ROW_X, x);
    rigid_divide(w, body, x);
    rigid_put(w, at + RIGID_BODY_D, 6, x);
    for (int c = 0; c < 6; c++) A[c] = first ? x[c] : A[c] + x[c];
    rigid_put(w, at + RIGID_BODY_A, 6, A);
}

// `refine` passes of refinement follow.
HD_CALL void rigid_solve_alone(const RigidLanes *restrict w)
{
    for (int b = 0; b < w->n_moving; b++) rigid_sides_of_body(w, w->order[b], true);
    for (int pass = 0; pass <= w->refine; pass++) {
        for (int k = w->row, n; k < w->row_end; k += n) {
            n = rigid_together(w, k);
            RIGID_ROWS_DO(n, rigid_sides_of_rows, w, k, pass == 0);
        }
        rigid_back_skyline(w, false);
        for (int k = w->row; k < w->row_end; k++)
            rigid_gain(w, rigid_row_at(w, k) + RIGID_ROW_LAMBDA, cell(w, rigid_x_at(w, k)), pass == 0);
        for (int b = 0; b < w->n_moving; b++) {
            rigid_gain_body(w, w->order[b], pass == 0);
            if (pass < w->refine) rigid_sides_of_body(w, w->order[b], false);
        }
    }
}

// ---- of any world ---------------------------------------------------------------------------------------------------

HD_CALL void rigid_solve_once(const RigidLanes *restrict w, bool first)
{
    rigid_right_sides(w, first);
    rigid_solve_all(w, first, false);
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

// ---- rows that share a load -----------------------------------------------------------------------------------------
// If rows of an island follow from others, A = J M^-1 J' is singular, and the load can be shared in many ways. The
// solution with the least multipliers is taken, lambda = A+ b: it needs no choice of rows. With a fixed choice, the
// kept rows may become dependent as the mechanism moves, and their multipliers would grow without bound.
//
// A + E is factored in place of A, E = ease diag(A), and each pass solves for the residual:
//     lambda_k+1 = lambda_k + (A + E)^-1 (b - A lambda_k).
// A pass leaves ease/(s + ease) of the component of lambda that belongs to an eigenvalue s of A (in units of its
// diagonal). If b is inconsistent, each pass also adds the same vector v with A v = 0. After n passes, n times the last
// change is subtracted: this removes v, and keeps the rest, whose last change is 0 if s >> ease. Eigenvalues far below
// ease count as 0, and the solution changes smoothly when an eigenvalue passes ease. Source: J. D. Riley, Math. Tables
// Aids Comput. 9, 1955 (the iteration).
//
// Only islands that have such rows when their rows are first met are eased. Elsewhere a row without a pivot, at a
// singular pose, is left out for that step.

enum { RIGID_PASSES_EXACT = 3, RIGID_PASSES_ROUGH = 5 }; // least number for rows that are met exactly, or roughly

HD void rigid_factor_once(const RigidLanes *w)
{
    rigid_factor_skyline(w);
    rigid_factor_trees(w);
    for (int i = 0; rigid_has_loops(w) && i < w->n_islands; i++) {
        const RigidLanes island = rigid_islands(w, i, 1);
        if (island.n_loop_rows > 0) rigid_factor_loops(&island);
    }
    rigid_wait(w);
}

// About the angle by which the errors of an island's rows have turned J: error over arm.
HD_CALL real rigid_turned_by(const RigidLanes *restrict w, const RigidIsland *island)
{
    real most = splat(0.0);
    for (int k = island->row; k < island->row_end; k++)
        most = most_of(absolute(cell(w, rigid_row_at(w, k) + RIGID_ROW_STRETCH)) * w->rows[k].turn, most);
    return most;
}

// The ease of an island's rows. If errors have turned J by phi, a fraction of about phi^2 is left of redundant rows
// when all are met; it must count as 0.
HD real rigid_ease_of(const RigidLanes *w, const RigidIsland *island)
{
    const real phi = w->c.form == RIGID_RATTLE ? splat(0.0) : rigid_turned_by(w, island);
    return greater_of(lesser_of(RIGID_EASE_TURNED * phi * phi, splat(RIGID_EASE_MOST)), splat(w->c.pivot));
}

// Eases the islands with rows that follow from others. Returns the number of such rows in this thread's islands.
HD_CALL real rigid_ease_followers(const RigidLanes *restrict w)
{
    const real none = splat(0.0);
    real follow = none;
    for (int i = w->rank; i < w->n_islands; i += w->size) {
        const RigidIsland *island = &w->islands[i];
        const real count = cell(w, island->follow);
        const mask some = w->c.share != 0 ? MASK(value_of(count) > value_of(none)) : no_lanes();
        real ease = none;
        if (any_lane(some)) {
            ease = select_real(some, rigid_ease_of(w, island), none);
            follow = follow + select_real(some, count, none);
        }
        set_cell(w, island->ease, ease);
    }
    rigid_wait(w);
    return follow;
}

// Number of rows left out that this thread finds. It first checks whether there are any, because mostly there are none.
HD real rigid_count_left_out(const RigidLanes *w)
{
    mask some = no_lanes();
    for (int k = w->row + w->rank; k < w->row_end; k += w->size)
        some = some | MASK(value_of(cell(w, w->rows[k].pivot)) == 0.0);
    real left_out = splat(0.0);
    if (!any_lane(some)) return left_out;
    for (int k = w->row + w->rank; k < w->row_end; k += w->size)
        left_out = left_out + select_real(MASK(value_of(cell(w, w->rows[k].pivot)) == 0.0), splat(1.0), splat(0.0));
    return left_out;
}

// Keeps the number of rows that follow from others, of islands whose rows are met for the first time. Returns the lanes
// with such rows in this thread's islands.
HD_CALL mask rigid_know_followers(const RigidLanes *restrict w)
{
    mask found = no_lanes();
    for (int i = w->rank; i < w->n_islands; i += w->size) {
        const RigidIsland *island = &w->islands[i];
        mask unknown = MASK(value_of(cell(w, island->follow)) < 0.0);
        real count = splat(0.0);
        if (!any_lane(unknown)) continue;
        const real phi = rigid_turned_by(w, island);
        unknown = unknown & MASK(value_of(phi * phi) <= w->c.pivot);
        for (int k = island->row; k < island->row_end; k++)
            count = count + select_real(MASK(value_of(cell(w, w->rows[k].pivot)) == 0.0), splat(1.0), splat(0.0));
        set_cell(w, island->follow, select_real(unknown, count, cell(w, island->follow)));
        found = found | (unknown & MASK(value_of(count) > 0.0));
    }
    return found;
}

// Factors all islands. Returns the number of rows that follow from others found by this thread.
HD_CALL real rigid_factor_all(const RigidLanes *restrict w)
{
    real follow;
    bool again = false; // once per trial
    do {
        follow = rigid_ease_followers(w);
        rigid_factor_once(w);
        if (again || w->c.share == 0) break;
        const real found = select_real(rigid_know_followers(w), splat(1.0), splat(0.0));
        again = any_lane(MASK(value_of(rigid_most_of_team(w, found)) > 0.0));
        if (again) rigid_wait(w);
    } while (again);
    return follow + rigid_count_left_out(w);
}

// Adds x s to a cell of an eased island.
HD void rigid_gain_eased(const RigidLanes *w, int at, real x, double s, mask eased)
{
    set_cell(w, at, select_real(eased, fused(x, splat(s), cell(w, at)), cell(w, at)));
}

// s: factor of what this pass adds
HD_CALL void rigid_solve_again(const RigidLanes *restrict w, double s)
{
    rigid_open_sides(w, true);
    rigid_solve_all(w, false, true);
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int body = w->order[b], at = rigid_body_at(w, body);
        const mask eased = MASK(value_of(cell(w, w->bodies[body].ease)) > 0.0);
        if (!any_lane(eased)) continue;
        for (int c = 0; c < 6; c++)
            rigid_gain_eased(w, at + RIGID_BODY_A + c, cell(w, at + RIGID_BODY_D + c), s, eased);
    }
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        const mask eased = MASK(value_of(cell(w, w->rows[k].ease)) > 0.0);
        rigid_gain_eased(w, at + RIGID_ROW_LAMBDA, cell(w, at + RIGID_ROW_X), s, eased);
    }
    rigid_wait(w);
}

// The passes of eased islands, from `pass` up to `passes`.
HD void rigid_solve_passes(const RigidLanes *w, int pass, int passes)
{
    for (; pass < passes; pass++) rigid_solve_again(w, pass + 1 == passes ? 1.0 - (double)passes : 1.0);
}

// A and lambda from F and the rows' right-hand sides, with the present factors.
HD_CALL void rigid_solve(const RigidLanes *restrict w)
{
    const int least = w->c.form == RIGID_RATTLE ? RIGID_PASSES_EXACT : RIGID_PASSES_ROUGH;
    const int passes = w->refine + 2 > least ? w->refine + 2 : least;
    if (w->size == 1 && w->c.trees == 0)
        rigid_solve_alone(w);
    else
        for (int pass = 0; pass <= w->refine; pass++) rigid_solve_once(w, pass == 0);
    if (rigid_is_eased(w)) rigid_solve_passes(w, w->refine + 1, passes);
}

// A and lambda <- D and X; back: the reverse.
HD void rigid_save_solution(const RigidLanes *w, bool back)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int at = rigid_body_at(w, w->order[b]), A = at + RIGID_BODY_A, D = at + RIGID_BODY_D;
        for (int c = 0; c < 6; c++) set_cell(w, back ? D + c : A + c, cell(w, back ? A + c : D + c));
    }
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k), X = at + RIGID_ROW_X, lambda = at + RIGID_ROW_LAMBDA;
        set_cell(w, back ? X : lambda, cell(w, back ? lambda : X));
    }
    rigid_wait(w);
}

// R and Z of trees without forces.
HD void rigid_given_rows(const RigidLanes *w)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) rigid_clear(w, w->order[b], RIGID_BODY_R);
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        set_cell(w, at + RIGID_ROW_Z, cell(w, at + RIGID_ROW_RHS));
    }
    rigid_wait(w);
}

// D and X for the rows' right-hand sides, which are also in X, without forces (F = 0). If eased, A and lambda are
// overwritten.
HD_CALL void rigid_solve_rows(const RigidLanes *restrict w)
{
    rigid_solve_skyline_rows(w);
    if (w->c.trees != 0) {
        rigid_given_rows(w);
        rigid_solve_trees(w, false);
    }
    for (int i = 0; rigid_has_loops(w) && i < w->n_islands; i++) {
        const RigidLanes island = rigid_islands(w, i, 1);
        if (island.n_loop_rows > 0) rigid_solve_looped(&island, true);
    }
    if (!rigid_is_eased(w)) return;
    rigid_save_solution(w, false);
    rigid_solve_passes(w, 1, RIGID_PASSES_EXACT);
    rigid_save_solution(w, true);
}

// rhs - J a - soft lambda of a row
HD real rigid_open_row(const RigidLanes *w, int row)
{
    const int at = rigid_row_at(w, row);
    return cell(w, at + RIGID_ROW_RHS) - rigid_row_times(w, row, RIGID_BODY_A) -
           cell(w, at + RIGID_ROW_SOFT) * cell(w, at + RIGID_ROW_LAMBDA);
}

// the same of n rows together: the greatest of them and `greatest`
HD_INLINE real rigid_open_most(const RigidLanes *w, int row, real greatest, int n)
{
    real product[RIGID_JOINT_ROWS] = {splat(0.0)};
    rigid_rows_times(w, row, RIGID_BODY_A, product, n);
    UNROLL
    for (int r = 0; r < n; r++) {
        const int at = rigid_row_at(w, row + r);
        const real open =
            cell(w, at + RIGID_ROW_RHS) - product[r] - cell(w, at + RIGID_ROW_SOFT) * cell(w, at + RIGID_ROW_LAMBDA);
        greatest = most_of(absolute(open), greatest);
    }
    return greatest;
}

// greatest |rhs - J a - soft lambda| of this thread's rows
HD_CALL real rigid_residual(const RigidLanes *restrict w)
{
    real greatest = splat(0.0);
    for (int k = w->row + w->rank, n; k < w->row_end; k += w->size * n) {
        n = rigid_together(w, k);
        greatest = RIGID_ROWS_DO(n, rigid_open_most, w, k, greatest);
    }
    return greatest;
}

#endif
