// The trees by one thread or by a team of them, the same bits: bodies that are equally far from their roots side by
// side, a thread each. What its children bring, a body's thread then adds itself, in their order.
#ifndef HOPSCOTCH_RIGID_TREE_TEAM_H
#define HOPSCOTCH_RIGID_TREE_TEAM_H

#include "tree.h"

#if defined(__CUDACC__)

// Which list a view of the world works off: all bodies by levels, or those of some trees one tree after the other.
typedef struct RigidWay {
    const RigidPlace *places;
    int from, to;
} RigidWay;

HD RigidWay rigid_way(const RigidLanes *w)
{
    const bool all = w->n_moving == w->c.n_moving;
    RigidWay way;
    way.places = all ? w->levels : w->places;
    way.from = all ? 0 : (int)(w->order - w->world_order);
    way.to = way.from + w->n_moving;
    return way;
}

HD void rigid_take_joint(const RigidLanes *w, int joint, real *S)
{
    rigid_take(w, w->c.factor_at + RIGID_JOINT_CELLS * joint, packed((int)w->joints[joint].count, 0), S);
}

HD real rigid_team_eliminate(const RigidLanes *w, int body)
{
    const RigidBody *b = &w->bodies[body];
    real S[21];
    rigid_start_block(w, body);
    for (int k = 0; k < (int)b->n_children; k++) {
        const int joint = (int)w->bodies[(int)w->world_order[(int)b->child + k]].joint;
        rigid_take_joint(w, joint, S);
        rigid_pass_block(w, &w->joints[joint], S);
    }
    return rigid_eliminate(w, body, S);
}

// rigid_factor_tree, of this thread's bodies
HD_CALL real rigid_team_factor(const RigidLanes *w)
{
    const RigidWay way = rigid_way(w);
    real dropped = splat(0.0);
    for (int at = way.from; at < way.to; at = (int)way.places[at].end) {
        for (int k = at + w->rank; k < (int)way.places[at].end; k += w->size)
            dropped = dropped + rigid_team_eliminate(w, (int)way.places[k].item);
        rigid_wait(w);
    }
    return dropped;
}

// S^-1 z of a joint stands at its rows' X on the way up.
HD void rigid_team_raise(const RigidLanes *w, int body)
{
    const RigidBody *b = &w->bodies[body];
    real z[RIGID_JOINT_ROWS];
    for (int k = 0; k < (int)b->n_children; k++) {
        const RigidJoint *joint = &w->joints[(int)w->bodies[(int)w->world_order[(int)b->child + k]].joint];
        for (int r = 0; r < (int)joint->count; r++)
            z[r] = cell(w, rigid_row_at(w, (int)joint->first + r) + RIGID_ROW_X);
        rigid_pass_force(w, joint, z);
    }
    if (b->joint < 0.0) return;
    const RigidJoint *own = &w->joints[(int)b->joint];
    rigid_raise(w, body, z);
    for (int r = 0; r < (int)own->count; r++) set_cell(w, rigid_row_at(w, (int)own->first + r) + RIGID_ROW_X, z[r]);
}

// rigid_solve_up and rigid_solve_down
HD_CALL void rigid_team_solve(const RigidLanes *w)
{
    const RigidWay way = rigid_way(w);
    for (int at = way.from; at < way.to; at = (int)way.places[at].end) {
        for (int k = at + w->rank; k < (int)way.places[at].end; k += w->size)
            rigid_team_raise(w, (int)way.places[k].item);
        rigid_wait(w);
    }
    for (int end = way.to; end > way.from; end = (int)way.places[end - 1].begin) {
        for (int k = (int)way.places[end - 1].begin + w->rank; k < end; k += w->size)
            rigid_lower(w, (int)way.places[k].item);
        rigid_wait(w);
    }
}

#endif

// The factors of all blocks; gives the rows without a pivot that this thread has found.
HD real rigid_factor_trees(const RigidLanes *w)
{
#if defined(__CUDACC__)
    if (w->size > 1) return rigid_team_factor(w);
#endif
    return rigid_factor_tree(w);
}

// D and X of the trees' rows for R and Z, which are used up.
HD void rigid_solve_trees(const RigidLanes *w)
{
#if defined(__CUDACC__)
    if (w->size > 1) {
        rigid_team_solve(w);
        return;
    }
#endif
    rigid_solve_up(w);
    rigid_solve_down(w);
}

#endif
