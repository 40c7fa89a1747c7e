// The constrained accelerations of islands by the matrix of their rows,
//     A = J M^-1 J' + soft,  A x = z - J M^-1 r,  d = M^-1 (r + J' x)
// factored as L D L' within its skyline: of each row from its first entry that is not 0, as nothing is filled in before
// that. Chains, and small islands whether they have loops or not, are less work so than body after body (tree.h).
// Source: A. Jennings, A compact storage scheme for the solution of symmetric linear simultaneous equations, Comput. J.
// 9, 1966.
#ifndef HOPSCOTCH_RIGID_SKYLINE_H
#define HOPSCOTCH_RIGID_SKYLINE_H

#include "tree.h"

// M^-1 of a body: 1/m, and the inverse of its inertia (6)
enum { RIGID_INVERSE_MASS = RIGID_BODY_FACTOR, RIGID_INVERSE_INERTIA = RIGID_BODY_FACTOR + 1 };

// Element (row, column >= rows[row].reach): both count from the world's first row.
HD int rigid_entry(const RigidLanes *w, int row, int column) { return w->rows[row].entry + column; }

// x[6] <- M^-1 x
HD void rigid_divide(const RigidLanes *w, int body, real *x)
{
    const int at = rigid_body_at(w, body);
    const real inverse = cell(w, at + RIGID_INVERSE_MASS);
    const Vector3 turn = symmetric3_times(rigid_symmetric(w, at + RIGID_INVERSE_INERTIA), vector3(x[3], x[4], x[5]));
    for (int c = 0; c < 3; c++) x[c] = inverse * x[c];
    x[3] = turn.x;
    x[4] = turn.y;
    x[5] = turn.z;
}

// ---- the matrix -----------------------------------------------------------------------------------------------------

HD void rigid_invert_masses(const RigidLanes *restrict w)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int body = w->order[b], at = rigid_body_at(w, body);
        if (w->bodies[body].skyline == 0) continue;
        set_cell(w, at + RIGID_INVERSE_MASS, 1.0 / cell(w, at + RIGID_BODY_M));
        rigid_set_symmetric(w, at + RIGID_INVERSE_INERTIA, symmetric3_inverse(rigid_inertia(w, body)));
    }
    rigid_wait(w);
}

// A row of A, of what one of its bodies brings: J of the rows so far that touch the body too.
HD void rigid_couple(const RigidLanes *restrict w, int row, int side, int body)
{
    const int32_t *touches = w->touches + w->bodies[body].touch;
    real y[6], J[6];
    rigid_take(w, rigid_row_at(w, row) + RIGID_ROW_J + 6 * side, 6, y);
    rigid_divide(w, body, y);
    for (int t = 0; t < w->bodies[body].n_touches && touches[t] / 2 <= row; t++) {
        const int other = touches[t] / 2;
        rigid_take(w, rigid_row_at(w, other) + RIGID_ROW_J + 6 * (touches[t] % 2), 6, J);
        add_cell(w, rigid_entry(w, row, other), rigid_dot6(J, y));
    }
}

HD_CALL void rigid_fill_skyline(const RigidLanes *restrict w)
{
    const bool eased = rigid_is_eased(w);
    rigid_invert_masses(w);
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const RigidRow *row = &w->rows[k];
        if (row->entry < 0) continue;
        for (int l = row->reach; l < k; l++) set_cell(w, rigid_entry(w, k, l), splat(0.0));
        set_cell(w, rigid_entry(w, k, k), cell(w, rigid_row_at(w, k) + RIGID_ROW_SOFT));
        if (rigid_moves(w, row->i)) rigid_couple(w, k, 0, row->i);
        if (rigid_moves(w, row->j)) rigid_couple(w, k, 1, row->j);
        if (!eased) continue;
        const real own = cell(w, rigid_entry(w, k, k)), soft = cell(w, rigid_row_at(w, k) + RIGID_ROW_SOFT);
        set_cell(w, rigid_entry(w, k, k), fused(cell(w, row->ease), own - soft, own));
    }
    rigid_wait(w);
}

// ---- of an island by one thread -------------------------------------------------------------------------------------

// A row of A becomes that of L, and 1/D: 0 if what is left of its diagonal is below the least part that counts, as then
// it follows from the rows before it.
HD void rigid_factor_row(const RigidLanes *restrict w, int i, real least)
{
    const int first = w->rows[i].reach, row = rigid_entry(w, i, 0);
    const real diagonal = cell(w, row + i);
    real d = diagonal;
    for (int j = first; j < i; j++) { // L D
        const int other = rigid_entry(w, j, 0), reach = w->rows[j].reach;
        real y = cell(w, row + j);
        for (int m = reach > first ? reach : first; m < j; m++) y = fused(-cell(w, row + m), cell(w, other + m), y);
        set_cell(w, row + j, y);
    }
    for (int j = first; j < i; j++) {
        const real y = cell(w, row + j), l = y * cell(w, rigid_entry(w, j, j));
        set_cell(w, row + j, l);
        d = fused(-l, y, d);
    }
    const mask none = MASK(d <= least * diagonal);
    set_cell(w, row + i, select_real(none, splat(0.0), 1.0 / select_real(none, splat(1.0), d)));
}

HD_CALL void rigid_factor_island(const RigidLanes *restrict w, const RigidIsland *island)
{
    const real least = rigid_least(w, island->ease);
    for (int i = island->row; i < island->row_end; i++) rigid_factor_row(w, i, least);
}

// x <- A^-1 x, x in the rows' X
HD_CALL void rigid_back_island(const RigidLanes *restrict w, const RigidIsland *island)
{
    const int begin = island->row, end = island->row_end;
    for (int i = begin; i < end; i++) {
        const int row = rigid_entry(w, i, 0), at = rigid_row_at(w, i) + RIGID_ROW_X;
        real x = cell(w, at);
        for (int j = w->rows[i].reach; j < i; j++)
            x = fused(-cell(w, row + j), cell(w, rigid_row_at(w, j) + RIGID_ROW_X), x);
        set_cell(w, at, x);
    }
    for (int i = begin; i < end; i++) {
        const int at = rigid_row_at(w, i) + RIGID_ROW_X;
        set_cell(w, at, cell(w, at) * cell(w, rigid_entry(w, i, i)));
    }
    for (int i = end - 1; i > begin; i--) {
        const int row = rigid_entry(w, i, 0);
        const real x = cell(w, rigid_row_at(w, i) + RIGID_ROW_X);
        for (int j = w->rows[i].reach; j < i; j++) {
            const int at = rigid_row_at(w, j) + RIGID_ROW_X;
            set_cell(w, at, fused(-cell(w, row + j), x, cell(w, at)));
        }
    }
}

// ---- of all islands -------------------------------------------------------------------------------------------------

HD void rigid_factor_skyline(const RigidLanes *w)
{
    rigid_fill_skyline(w);
    for (int i = w->rank; i < w->n_islands; i += w->size) {
        const RigidIsland *island = &w->islands[i];
        if (island->skyline != 0) rigid_factor_island(w, island);
    } // the factors are read by the thread that has them
}

// D = M^-1 R; with_rows: of R + J' X
HD_CALL void rigid_divide_all(const RigidLanes *restrict w, bool with_rows, bool again)
{
    real x[6];
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int body = w->order[b], at = rigid_body_at(w, body);
        if (w->bodies[body].skyline == 0 || rigid_passes_by(w, w->bodies[body].ease, again)) continue;
        rigid_take(w, at + RIGID_BODY_R, 6, x);
        if (with_rows) rigid_gather(w, body, 0, RIGID_ROW_X, x);
        rigid_divide(w, body, x);
        rigid_put(w, at + RIGID_BODY_D, 6, x);
    }
    rigid_wait(w);
}

// X <- A^-1 X, and D
HD void rigid_end_skyline(const RigidLanes *restrict w, bool again)
{
    for (int i = w->rank; i < w->n_islands; i += w->size) {
        const RigidIsland *island = &w->islands[i];
        if (island->skyline != 0 && !rigid_passes_by(w, island->ease, again)) rigid_back_island(w, island);
    }
    rigid_wait(w);
    rigid_divide_all(w, true, again);
}

// D and X for R and Z.
HD_CALL void rigid_solve_skyline(const RigidLanes *restrict w, bool again)
{
    rigid_divide_all(w, false, again);
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        if (w->rows[k].entry < 0 || rigid_passes_by(w, w->rows[k].ease, again)) continue;
        set_cell(w, at + RIGID_ROW_X, cell(w, at + RIGID_ROW_Z) - rigid_row_times(w, k, RIGID_BODY_D));
    }
    rigid_wait(w);
    rigid_end_skyline(w, again);
}

// The same for R = 0.
HD_CALL void rigid_solve_skyline_rows(const RigidLanes *restrict w)
{
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        if (w->rows[k].entry >= 0) set_cell(w, at + RIGID_ROW_X, cell(w, at + RIGID_ROW_Z));
    }
    rigid_wait(w);
    rigid_end_skyline(w, false);
}

#endif
