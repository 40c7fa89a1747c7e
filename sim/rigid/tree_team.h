// The trees by one thread or by a team of them, with the same bits. Bodies of equal depth are computed in parallel,
// each by a crew of eight threads. Thread c of a crew holds column c of a symmetric block, or row c of a joint's J, in
// its registers. A body's crew adds the terms of its children itself, in their order. Work on a single body (masses,
// pivots, a triangular solve) is in tree.h.
#ifndef HOPSCOTCH_RIGID_TREE_TEAM_H
#define HOPSCOTCH_RIGID_TREE_TEAM_H

#include "tree.h"

#if defined(HOPSCOTCH_TEAMS)

enum { RIGID_CREW = 8, RIGID_DOF = 6, RIGID_PACKED = 21 }; // RIGID_DOF: of a body

// ---- a crew ---------------------------------------------------------------------------------------------------------

typedef struct RigidCrew {
    unsigned mask; // its threads in the warp
    int column;    // of this thread, 0..7
    // pointers of the lanes, copied to keep them in registers
    double *base;
    const RigidSlot *slots; // in the order of the world
    int body_at, row_at, factor_at;
    double pivot;
    const RigidLanes *w; // for the ease of rows
} RigidCrew;

HD RigidCrew rigid_crew(const RigidLanes *w)
{
    RigidCrew crew;
    crew.mask = 0xffU << (team_column() / RIGID_CREW * RIGID_CREW);
    crew.column = (int)threadIdx.x % RIGID_CREW;
    crew.base = w->base; // a team's stride is 1
    crew.slots = w->slots;
    crew.body_at = w->c.body_at;
    crew.row_at = w->c.row_at;
    crew.factor_at = w->c.factor_at;
    crew.pivot = w->c.pivot;
    crew.w = w;
    return crew;
}

// x of thread `from` of the crew
HD double rigid_of_crew(const RigidCrew *crew, double x, int from)
{
    return __shfl_sync(crew->mask, x, from, RIGID_CREW);
}

// x[k] <- x of thread k
HD void rigid_share(const RigidCrew *crew, double x, double *all)
{
    UNROLL
    for (int k = 0; k < RIGID_DOF; k++) all[k] = rigid_of_crew(crew, x, k);
}

// all[column]
HD double rigid_own(const RigidCrew *crew, const double *all)
{
    double own = all[0];
    UNROLL
    for (int k = 1; k < RIGID_DOF; k++) own = crew->column == k ? all[k] : own;
    return own;
}

// packed_factor of n <= 6 rows; a[i]: element (i, column) for i >= column.
HD void rigid_crew_factor(const RigidCrew *crew, double *a, int n, double least)
{
    const double diagonal = rigid_own(crew, a);
    UNROLL
    for (int m = 0; m < RIGID_DOF; m++) {
        if (m >= n) break;
        double y[RIGID_DOF];
        const double inverse = rigid_of_crew(crew, pivot_inverse(a[m], least, diagonal), m);
        UNROLL
        for (int i = m + 1; i < RIGID_DOF; i++) y[i] = rigid_of_crew(crew, a[i], m);
        double own = 0.0;
        UNROLL
        for (int i = m + 1; i < RIGID_DOF; i++) own = crew->column == i ? y[i] : own;
        const double l = own * inverse;
        UNROLL
        for (int i = m + 1; i < RIGID_DOF; i++) {
            if (crew->column > m) a[i] = fma(-y[i], l, a[i]);
            if (crew->column == m) a[i] = y[i] * inverse;
        }
        if (crew->column == m) a[m] = inverse;
    }
}

// ---- what it reads --------------------------------------------------------------------------------------------------

// 0 from `count` on
HD void rigid_crew_take(const double *from, int count, double *to, int size)
{
    UNROLL
    for (int k = 0; k < size; k++) to[k] = k < count ? from[k] : 0.0;
}

HD double *rigid_body_cells(const RigidCrew *crew, int body)
{
    return crew->base + crew->body_at + RIGID_BODY_CELLS * body;
}

// of row k of a body's joint
HD double *rigid_row_cells(const RigidCrew *crew, const RigidSlot *child, int k)
{
    return crew->base + crew->row_at + RIGID_ROW_CELLS * (child->row + k);
}

// J of row k of a body's joint, the half that acts on it, or on its parent
HD const double *rigid_half(const RigidCrew *crew, const RigidSlot *child, int k, bool on_parent)
{
    const int side = (child->sides >> k & 1) ^ (on_parent ? 1 : 0);
    return rigid_row_cells(crew, child, k) + RIGID_ROW_J + 6 * side;
}

HD double *rigid_joint_factor(const RigidCrew *crew, const RigidSlot *child)
{
    return crew->base + crew->factor_at + RIGID_JOINT_CELLS * child->joint;
}

// ---- a body ---------------------------------------------------------------------------------------------------------

// Column of diag(m 1, I), and of J' S^-1 J of the joint of each child added to it.
HD void rigid_crew_body_block(const RigidCrew *crew, const RigidSlot *slot, double *a)
{
    const int body = slot->item, c = crew->column, own = c < RIGID_DOF ? c : 0;
    const double *M = rigid_body_cells(crew, body) + RIGID_BODY_M;
    const Symmetric3 I = {M[1], M[2], M[3], M[4], M[5], M[6]};
    double mass[RIGID_PACKED];
    packed_mass(M[0], I, mass);
    UNROLL
    for (int i = 0; i < RIGID_DOF; i++) {
        a[i] = 0.0;
        UNROLL
        for (int j = 0; j <= i; j++) a[i] = c == j ? mass[packed(i, j)] : a[i];
    }
    for (int k = 0; k < slot->n_children; k++) {
        const RigidSlot *child = &crew->slots[slot->child + k];
        const int n = child->n_rows;
        double S[RIGID_PACKED], t[RIGID_DOF];
        rigid_crew_take(rigid_joint_factor(crew, child), packed(n, 0), S, RIGID_PACKED);
        UNROLL
        for (int r = 0; r < RIGID_DOF; r++) t[r] = r < n ? rigid_half(crew, child, r, true)[own] : 0.0;
        packed_back_of(S, n, RIGID_DOF, t);
        UNROLL
        for (int i = 0; i < RIGID_DOF; i++) {
            double sum = rigid_half(crew, child, 0, true)[i] * t[0];
            UNROLL
            for (int r = 1; r < RIGID_DOF; r++) sum = r < n ? fma(rigid_half(crew, child, r, true)[i], t[r], sum) : sum;
            a[i] = a[i] + sum; // elements above the diagonal are never read
        }
    }
}

// Writes the columns of a matrix of n rows to memory, packed; all[21]: the same for every thread.
HD void rigid_crew_show(const RigidCrew *crew, const double *a, int n, double *memory, double *all)
{
    UNROLL
    for (int i = 0; i < RIGID_DOF; i++) {
        if (crew->column <= i && i < n) memory[packed(i, crew->column)] = a[i];
        if (all == NULL) continue;
        UNROLL
        for (int j = 0; j <= i; j++) all[packed(i, j)] = rigid_of_crew(crew, a[i], j);
    }
}

// a: column c of a symmetric matrix whose row c the thread has
HD void rigid_crew_turn(const RigidCrew *crew, const double *row, double *a)
{
    UNROLL
    for (int i = 0; i < RIGID_DOF; i++) {
        a[i] = 0.0;
        UNROLL
        for (int j = 0; j <= i; j++) {
            const double x = rigid_of_crew(crew, row[j], i);
            a[i] = crew->column == j ? x : a[i];
        }
    }
}

// The factors of a body's block and of its joint's.
HD void rigid_crew_eliminate(const RigidCrew *crew, const RigidSlot *slot)
{
    const int body = slot->item, n = slot->n_rows, k = crew->column;
    double a[RIGID_DOF], body_block[RIGID_PACKED], J[RIGID_DOF], y[RIGID_DOF], row[RIGID_DOF];
    const double ease = crew->base[slot->ease];
    const double eased = k < n && ease > 0.0 ? rigid_row_compliance(crew->w, slot->row + k) : 0.0;
    const double soft = k < n ? rigid_row_cells(crew, slot, k)[RIGID_ROW_SOFT] : 0.0;
    rigid_crew_take(rigid_half(crew, slot, k, false), k < n ? RIGID_DOF : 0, y, RIGID_DOF);
    rigid_crew_body_block(crew, slot, a);
    rigid_crew_factor(crew, a, RIGID_DOF, 0.0);
    rigid_crew_show(crew, a, RIGID_DOF, rigid_body_cells(crew, body) + RIGID_BODY_FACTOR, body_block);
    if (n == 0) return;
    packed_back_of(body_block, RIGID_DOF, RIGID_DOF, y);
    UNROLL
    for (int l = 0; l < RIGID_DOF; l++) { // row k of S
        rigid_crew_take(rigid_half(crew, slot, l, false), l < n ? RIGID_DOF : 0, J, RIGID_DOF);
        const double s = dot6(J, y);
        row[l] = l == k ? fma(ease, eased, s + soft) : s;
    }
    rigid_crew_turn(crew, row, a);
    rigid_crew_factor(crew, a, n, rigid_least_eased(ease, crew->pivot));
    rigid_crew_show(crew, a, n, rigid_joint_factor(crew, slot), NULL);
}

// R with the terms of the children, z of the joint, and S^-1 z, which is kept in its rows' X during the upward pass.
HD void rigid_crew_raise(const RigidCrew *crew, const RigidSlot *slot)
{
    const int body = slot->item, n = slot->n_rows, c = crew->column, own = c < RIGID_DOF ? c : 0;
    double *own_cells = rigid_body_cells(crew, body), *row_cells = rigid_row_cells(crew, slot, c);
    double body_block[RIGID_PACKED], S[RIGID_PACKED], J[RIGID_DOF], f[RIGID_DOF], z[RIGID_DOF];
    double r = own_cells[RIGID_BODY_R + own];
    const double Z = c < n ? row_cells[RIGID_ROW_Z] : 0.0;
    rigid_crew_take(own_cells + RIGID_BODY_FACTOR, RIGID_PACKED, body_block, RIGID_PACKED);
    if (n > 0) rigid_crew_take(rigid_joint_factor(crew, slot), packed(n, 0), S, RIGID_PACKED);
    if (c < n) rigid_crew_take(rigid_half(crew, slot, c, false), RIGID_DOF, J, RIGID_DOF);
    for (int k = 0; k < slot->n_children; k++) {
        const RigidSlot *child = &crew->slots[slot->child + k];
        UNROLL
        for (int l = 0; l < RIGID_DOF; l++) {
            if (l >= child->n_rows) break;
            r = r + rigid_half(crew, child, l, true)[own] * rigid_row_cells(crew, child, l)[RIGID_ROW_X];
        }
    }
    if (c < RIGID_DOF) own_cells[RIGID_BODY_R + c] = r;
    if (n == 0) return;
    rigid_share(crew, r, f);
    packed_back_of(body_block, RIGID_DOF, RIGID_DOF, f);
    const double own_z = c < n ? Z - dot6(J, f) : 0.0;
    rigid_share(crew, own_z, z);
    packed_back_of(S, n, RIGID_DOF, z);
    if (c >= n) return;
    row_cells[RIGID_ROW_Z] = own_z;
    row_cells[RIGID_ROW_X] = rigid_own(crew, z);
}

// rigid_lower
HD void rigid_crew_lower(const RigidCrew *crew, const RigidSlot *slot)
{
    const int body = slot->item, parent = slot->parent, n = slot->n_rows, c = crew->column;
    double *own_cells = rigid_body_cells(crew, body), *row_cells = rigid_row_cells(crew, slot, c);
    const int own = c < RIGID_DOF ? c : 0;
    double body_block[RIGID_PACKED], S[RIGID_PACKED], J[RIGID_DOF], column[RIGID_DOF], a[RIGID_DOF], x[RIGID_DOF];
    double f = own_cells[RIGID_BODY_R + own], own_x = 0.0, all[RIGID_DOF];
    rigid_crew_take(own_cells + RIGID_BODY_FACTOR, RIGID_PACKED, body_block, RIGID_PACKED);
    if (n > 0) {
        rigid_crew_take(rigid_joint_factor(crew, slot), packed(n, 0), S, RIGID_PACKED);
        UNROLL
        for (int k = 0; k < RIGID_DOF; k++) column[k] = k < n ? rigid_half(crew, slot, k, false)[own] : 0.0;
        if (c < n) own_x = row_cells[RIGID_ROW_Z];
        if (parent >= 0) {
            rigid_crew_take(rigid_body_cells(crew, parent) + RIGID_BODY_D, RIGID_DOF, a, RIGID_DOF);
            if (c < n) {
                rigid_crew_take(rigid_half(crew, slot, c, true), RIGID_DOF, J, RIGID_DOF);
                own_x = own_x - dot6(J, a);
            }
        }
        rigid_share(crew, own_x, x);
        packed_back_of(S, n, RIGID_DOF, x);
        UNROLL
        for (int k = 0; k < RIGID_DOF; k++) f = k < n ? fma(column[k], x[k], f) : f;
        if (c < n) row_cells[RIGID_ROW_X] = rigid_own(crew, x);
    }
    rigid_share(crew, f, all);
    packed_back_of(body_block, RIGID_DOF, RIGID_DOF, all);
    if (c < RIGID_DOF) own_cells[RIGID_BODY_D + c] = rigid_own(crew, all);
}

// ---- all bodies -----------------------------------------------------------------------------------------------------

// Factors of the bodies of a list.
HD_CALL void rigid_team_factor(const RigidLanes *restrict w, const RigidSlot *slots, int count)
{
    const RigidCrew crew = rigid_crew(w);
    const int first = w->rank / RIGID_CREW, crews = w->size / RIGID_CREW;
    for (int at = 0, end; at < count; at = end) {
        end = slots[at].end;
        for (int k = at + first; k < end; k += crews) rigid_crew_eliminate(&crew, &slots[k]);
        rigid_wait(w);
    }
}

// rigid_solve_up and rigid_solve_down of the bodies slots[from .. to)
HD_CALL void rigid_team_solve(const RigidLanes *restrict w, const RigidSlot *slots, int from, int to)
{
    const RigidCrew crew = rigid_crew(w);
    const int first = w->rank / RIGID_CREW, crews = w->size / RIGID_CREW;
    for (int at = from, end; at < to; at = end) {
        end = slots[at].end;
        for (int k = at + first; k < end; k += crews) rigid_crew_raise(&crew, &slots[k]);
        rigid_wait(w);
    }
    for (int end = to, at; end > from; end = at) {
        at = slots[end - 1].begin;
        for (int k = at + first; k < end; k += crews) rigid_crew_lower(&crew, &slots[k]);
        rigid_wait(w);
    }
}
#endif

// ---- by one thread or a team ----------------------------------------------------------------------------------------

// Factors of all islands that are solved by trees.
HD void rigid_factor_trees(const RigidLanes *w)
{
#if defined(HOPSCOTCH_TEAMS)
    if (w->size > 1) {
        rigid_team_factor(w, w->levels, w->c.n_levels);
        return;
    }
#endif
    for (int i = 0; i < w->n_islands; i++) {
        const RigidIsland *island = &w->islands[i];
        if (island->skyline == 0) rigid_factor_tree(w, island->first, island->first + island->count);
    }
}

// D and X of the rows of the trees world_order[first .. end) from R and Z, which are overwritten.
HD void rigid_solve_tree(const RigidLanes *w, int first, int end)
{
#if defined(HOPSCOTCH_TEAMS)
    if (w->size > 1) {
        rigid_team_solve(w, w->slots, first, end);
        return;
    }
#endif
    rigid_solve_up(w, first, end);
    rigid_solve_down(w, first, end);
}

// The same for all islands that are solved by trees; on a GPU in parallel.
HD void rigid_solve_trees(const RigidLanes *w, bool again)
{
#if defined(HOPSCOTCH_TEAMS)
    if (w->size > 1 && w->n_moving == w->c.n_moving) {
        rigid_team_solve(w, w->levels, 0, w->c.n_levels);
        return;
    }
#endif
    for (int i = 0; i < w->n_islands; i++) {
        const RigidIsland *island = &w->islands[i];
        if (island->skyline == 0 && !rigid_passes_by(w, island->ease, again))
            rigid_solve_tree(w, island->first, island->first + island->count);
    }
}

#endif
