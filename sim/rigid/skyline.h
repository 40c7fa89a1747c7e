// The constrained accelerations of islands by the matrix of their rows,
//     A = J M^-1 J' + soft,  A x = z - J M^-1 r,  d = M^-1 (r + J' x)
// factored as L D L' within its skyline: each row is stored from its first nonzero entry on, because nothing is filled
// in before that. For chains and small islands, with loops or without, this is less work than body by body (tree.h).
// Source: A. Jennings, A compact storage scheme for the solution of symmetric linear simultaneous equations, Comput. J.
// 9, 1966.
#ifndef HOPSCOTCH_RIGID_SKYLINE_H
#define HOPSCOTCH_RIGID_SKYLINE_H

#include "tree.h"

// M^-1 of a body: 1/m, and the inverse of its inertia (6)
enum { RIGID_INVERSE_MASS = RIGID_BODY_FACTOR, RIGID_INVERSE_INERTIA = RIGID_BODY_FACTOR + 1 };

// Cell of element (row, column >= rows[row].reach); both count from the world's first row.
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

// Adds to n rows of A the terms of one of their bodies: products with J of earlier rows that touch it.
HD void rigid_couple(const RigidLanes *restrict w, int row, int side, int body, int n)
{
    const int32_t *touches = w->touches + w->bodies[body].touch;
    real y[RIGID_JOINT_ROWS][6] = {{splat(0.0)}}, J[6];
    for (int r = 0; r < n; r++) {
        rigid_take_J(w, row + r, side, y[r]);
        rigid_divide(w, body, y[r]);
    }
    for (int t = 0; t < w->bodies[body].n_touches && touches[t] / 2 < row + n; t++) {
        const int other = touches[t] / 2;
        rigid_take_J(w, other, touches[t] % 2, J);
        for (int r = 0; r < n; r++) {
            if (other <= row + r) add_cell(w, rigid_entry(w, row + r, other), dot6(J, y[r]));
        }
    }
}

HD void rigid_fill_rows(const RigidLanes *restrict w, int row, bool eased, int n)
{
    const RigidRow *rows = &w->rows[row];
    for (int r = 0; r < n; r++) {
        for (int l = rows->reach; l < row + r; l++) set_cell(w, rigid_entry(w, row + r, l), splat(0.0));
        set_cell(w, rows[r].pivot, cell(w, rigid_row_at(w, row + r) + RIGID_ROW_SOFT));
    }
    if (rigid_moves(w, rows->i)) rigid_couple(w, row, 0, rows->i, n);
    if (rigid_moves(w, rows->j)) rigid_couple(w, row, 1, rows->j, n);
    for (int r = 0; eased && r < n; r++) {
        const real own = cell(w, rows[r].pivot), soft = cell(w, rigid_row_at(w, row + r) + RIGID_ROW_SOFT);
        set_cell(w, rows[r].pivot, fused(cell(w, rows[r].ease), own - soft, own));
    }
}

HD_CALL void rigid_fill_skyline(const RigidLanes *restrict w)
{
    const bool eased = rigid_is_eased(w);
    rigid_invert_masses(w);
    for (int k = w->row + w->rank, n; k < w->row_end; k += w->size * n) {
        n = rigid_together(w, k);
        if (w->rows[k].entry >= 0) RIGID_ROWS_DO(n, rigid_fill_rows, w, k, eased);
    }
    rigid_wait(w);
}

// ---- of an island by one thread -------------------------------------------------------------------------------------

// Column j of L D of rows [i, i + n); columns before it are done.
HD_INLINE void rigid_factor_column(const RigidLanes *restrict w, int i, int j, int n)
{
    const int first = w->rows[i].reach, reach = w->rows[j].reach, other = rigid_entry(w, j, 0);
    int row[RIGID_JOINT_ROWS] = {0};
    real y[RIGID_JOINT_ROWS] = {splat(0.0)};
    UNROLL
    for (int r = 0; r < n; r++) row[r] = rigid_entry(w, i + r, 0);
    UNROLL
    for (int r = 0; r < n; r++) y[r] = cell(w, row[r] + j);
    for (int m = reach > first ? reach : first; m < j; m++) {
        const real l = cell(w, other + m);
        UNROLL
        for (int r = 0; r < n; r++) y[r] = fused(-cell(w, row[r] + m), l, y[r]);
    }
    UNROLL
    for (int r = 0; r < n; r++) set_cell(w, row[r] + j, y[r]);
}

// Row i of L from that of L D, and 1/D: 0 if less is left of its diagonal than the least fraction that counts, because
// then it follows from the rows before it.
HD void rigid_factor_pivot(const RigidLanes *restrict w, int i, real least)
{
    const int row = rigid_entry(w, i, 0);
    const real diagonal = cell(w, row + i);
    real d = diagonal;
    for (int j = w->rows[i].reach; j < i; j++) {
        const real y = cell(w, row + j), l = y * cell(w, w->rows[j].pivot);
        set_cell(w, row + j, l);
        d = fused(-l, y, d);
    }
    const mask none = MASK(value_of(d) <= value_of(least * diagonal));
    set_cell(w, row + i, select_real(none, splat(0.0), 1.0 / select_real(none, splat(1.0), d)));
}

// Turns rows [i, i + n) of A into those of L.
HD_INLINE void rigid_factor_rows(const RigidLanes *restrict w, int i, real least, int n)
{
    for (int j = w->rows[i].reach; j < i; j++) rigid_factor_column(w, i, j, n);
    for (int r = 0; r < n; r++) {
        for (int j = i; j < i + r; j++) rigid_factor_column(w, i + r, j, 1);
        rigid_factor_pivot(w, i + r, least);
    }
}

// Stores T L in place of L of rows [i, i + n), and T in place of L within them, T its inverse there. A solve then takes
// two products, and no row waits for the row before. T_r = e_r - l_r0 T_0 - .. - l_r,r-1 T_r-1.
HD void rigid_invert_rows(const RigidLanes *restrict w, int i, int n)
{
    const int first = w->rows[i].reach;
    for (int r = 1; r < n; r++) {
        const int row = rigid_entry(w, i + r, 0);
        for (int j = first; j < i; j++) { // earlier rows are T L already
            real y = cell(w, row + j);
            for (int s = 0; s < r; s++) y = fused(-cell(w, row + i + s), cell(w, rigid_entry(w, i + s, j)), y);
            set_cell(w, row + j, y);
        }
        for (int s = 0; s < r; s++) { // column s of T_r, from the l to its right
            real t = -cell(w, row + i + s);
            for (int m = s + 1; m < r; m++) t = fused(-cell(w, row + i + m), cell(w, rigid_entry(w, i + m, i + s)), t);
            set_cell(w, row + i + s, t);
        }
    }
}

HD_CALL void rigid_factor_island(const RigidLanes *restrict w, const RigidIsland *island)
{
    const real least = rigid_least(w, island->ease);
    for (int i = island->row, n; i < island->row_end; i += n) {
        n = w->rows[i].together;
        RIGID_ROWS_DO(n, rigid_factor_rows, w, i, least);
    }
    for (int i = island->row, n; i < island->row_end; i += n) {
        n = w->rows[i].together;
        if (n > 1) RIGID_ROWS_DO(n, rigid_invert_rows, w, i);
    }
}

// As RIGID_ROWS_DO; the width is a literal too if it is that of a chain's links.
#if defined(HOPSCOTCH_MADE)
#define RIGID_BAND_DO(width, n, function, ...) function(__VA_ARGS__, width, n)
#else
#define RIGID_BAND_DO(width, n, function, ...)                                                                         \
    ((n) == 3 && (width) == 3   ? function(__VA_ARGS__, 3, 3)                                                          \
     : (n) == 5 && (width) == 5 ? function(__VA_ARGS__, 5, 5)                                                          \
     : (n) == 1 && (width) == 1 ? function(__VA_ARGS__, 1, 1)                                                          \
                                : RIGID_ROWS_DO(n, function, __VA_ARGS__, width))
#endif

HD int rigid_x_at(const RigidLanes *w, int row) { return rigid_row_at(w, row) + RIGID_ROW_X; }

// First entry of row r of rows that are stored together, each with `width` entries before them.
HD int rigid_line(int start, int width, int r) { return start + r * (width + 1) + r * (r - 1) / 2; }

// x <- T x - T L x of rows [i, i + n); those before them are done. width: entries of each row before them
HD_INLINE void rigid_forward_rows(const RigidLanes *restrict w, int i, int width, int n)
{
    const int at = rigid_x_at(w, i), before = rigid_x_at(w, i - width), start = rigid_entry(w, i, i - width);
    real z[RIGID_JOINT_ROWS] = {splat(0.0)}, x[RIGID_JOINT_ROWS] = {splat(0.0)};
    UNROLL
    for (int r = 0; r < n; r++) x[r] = z[r] = cell(w, at + RIGID_ROW_CELLS * r);
    UNROLL
    for (int r = 1; r < n; r++) {
        UNROLL
        for (int s = 0; s < r; s++) x[r] = fused(cell(w, rigid_line(start, width, r) + width + s), z[s], x[r]);
    }
    if (width == n) { // a chain's links
        UNROLL
        for (int j = 0; j < n; j++) {
            UNROLL
            for (int r = 0; r < n; r++)
                x[r] = fused(-cell(w, rigid_line(start, width, r) + j), cell(w, before + RIGID_ROW_CELLS * j), x[r]);
        }
    } else {
        for (int j = 0; j < width; j++) {
            UNROLL
            for (int r = 0; r < n; r++)
                x[r] = fused(-cell(w, rigid_line(start, width, r) + j), cell(w, before + RIGID_ROW_CELLS * j), x[r]);
        }
    }
    UNROLL
    for (int r = 0; r < n; r++) set_cell(w, at + RIGID_ROW_CELLS * r, x[r]);
}

// The same, column j, in the backward pass.
HD_INLINE void rigid_backward_column(const RigidLanes *restrict w, const real *x, int start, int before, int j,
                                     int width, int n)
{
    real other = cell(w, before + RIGID_ROW_CELLS * j);
    UNROLL
    for (int r = n - 1; r >= 0; r--) other = fused(-cell(w, rigid_line(start, width, r) + j), x[r], other);
    set_cell(w, before + RIGID_ROW_CELLS * j, other);
}

// Backward pass of rows [i, i + n): subtracts (T L)' x from the rows before them, and x <- T' x.
HD_INLINE void rigid_backward_rows(const RigidLanes *restrict w, int i, int width, int n)
{
    const int at = rigid_x_at(w, i), before = rigid_x_at(w, i - width), start = rigid_entry(w, i, i - width);
    real x[RIGID_JOINT_ROWS] = {splat(0.0)};
    UNROLL
    for (int r = 0; r < n; r++) x[r] = cell(w, at + RIGID_ROW_CELLS * r);
    if (width == n) {
        UNROLL
        for (int j = 0; j < n; j++) rigid_backward_column(w, x, start, before, j, width, n);
    } else {
        for (int j = 0; j < width; j++) rigid_backward_column(w, x, start, before, j, width, n);
    }
    UNROLL
    for (int s = 0; s + 1 < n; s++) {
        UNROLL
        for (int r = s + 1; r < n; r++) x[s] = fused(cell(w, rigid_line(start, width, r) + width + s), x[r], x[s]);
        set_cell(w, at + RIGID_ROW_CELLS * s, x[s]);
    }
}

// x <- A^-1 x, x in the rows' X
HD_CALL void rigid_back_island(const RigidLanes *restrict w, const RigidIsland *island)
{
    const int begin = island->row, end = island->row_end;
    for (int i = begin, n; i < end; i += n) {
        n = w->rows[i].together;
        RIGID_BAND_DO(i - w->rows[i].reach, n, rigid_forward_rows, w, i);
    }
    for (int i = begin; i < end; i++)
        set_cell(w, rigid_x_at(w, i), cell(w, rigid_x_at(w, i)) * cell(w, w->rows[i].pivot));
    for (int i = end, n; i > begin;) {
        n = w->rows[i - 1].before + 1;
        i -= n;
        RIGID_BAND_DO(i - w->rows[i].reach, n, rigid_backward_rows, w, i);
    }
}

// ---- of all islands -------------------------------------------------------------------------------------------------

HD void rigid_factor_skyline(const RigidLanes *w)
{
    rigid_fill_skyline(w);
    for (int i = w->rank; i < w->n_islands; i += w->size) {
        const RigidIsland *island = &w->islands[i];
        if (island->skyline != 0) rigid_factor_island(w, island);
    } // each thread reads the factors that it computed
}

typedef enum RigidSides { RIGID_OF_BODIES = 1, RIGID_OF_ROWS = 2 } RigidSides;

// D = M^-1 (R + J' X), or one of both terms
HD void rigid_divide_sides(const RigidLanes *restrict w, int sides, bool again)
{
    real x[6];
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int body = w->order[b], at = rigid_body_at(w, body);
        if (w->bodies[body].skyline == 0 || rigid_passes_by(w, w->bodies[body].ease, again)) continue;
        for (int c = 0; c < 6; c++) x[c] = (sides & RIGID_OF_BODIES) != 0 ? cell(w, at + RIGID_BODY_R + c) : splat(0.0);
        if ((sides & RIGID_OF_ROWS) != 0) rigid_gather(w, body, 0, RIGID_ROW_X, x);
        rigid_divide(w, body, x);
        rigid_put(w, at + RIGID_BODY_D, 6, x);
    }
    rigid_wait(w);
}

HD_CALL void rigid_divide_all(const RigidLanes *restrict w, bool again)
{
    rigid_divide_sides(w, RIGID_OF_BODIES | RIGID_OF_ROWS, again);
}
HD_CALL void rigid_divide_bodies(const RigidLanes *restrict w, bool again)
{
    rigid_divide_sides(w, RIGID_OF_BODIES, again);
}
HD_CALL void rigid_divide_rows(const RigidLanes *restrict w) { rigid_divide_sides(w, RIGID_OF_ROWS, false); }

// X <- A^-1 X
HD void rigid_back_skyline(const RigidLanes *restrict w, bool again)
{
    for (int i = w->rank; i < w->n_islands; i += w->size) {
        const RigidIsland *island = &w->islands[i];
        if (island->skyline != 0 && !rigid_passes_by(w, island->ease, again)) rigid_back_island(w, island);
    }
    rigid_wait(w);
}

// X of n rows together: Z - J D
HD void rigid_open_x(const RigidLanes *w, int row, int n)
{
    real product[RIGID_JOINT_ROWS] = {splat(0.0)};
    rigid_rows_times(w, row, RIGID_BODY_D, product, n);
    for (int r = 0; r < n; r++)
        set_cell(w, rigid_x_at(w, row + r), cell(w, rigid_row_at(w, row + r) + RIGID_ROW_Z) - product[r]);
}

// Computes D and X from R and Z.
HD_CALL void rigid_solve_skyline(const RigidLanes *restrict w, bool again)
{
    rigid_divide_bodies(w, again);
    for (int k = w->row + w->rank, n; k < w->row_end; k += w->size * n) {
        n = rigid_together(w, k);
        if (w->rows[k].entry < 0 || rigid_passes_by(w, w->rows[k].ease, again)) continue;
        RIGID_ROWS_DO(n, rigid_open_x, w, k);
    }
    rigid_wait(w);
    rigid_back_skyline(w, again);
    rigid_divide_all(w, again);
}

// The same for R = 0, with X in place of Z.
HD_CALL void rigid_solve_skyline_rows(const RigidLanes *restrict w)
{
    rigid_back_skyline(w, false);
    rigid_divide_rows(w);
}

#endif
