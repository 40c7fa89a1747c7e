// Divides the world into islands, which constraints join; each island into trees of joints and rows that close loops;
// and orders all of them.
#include "islands.h"

#include <string.h>

static void islands_link(RigidForest *forest, Arena *arena)
{
    forest->first = ARENA_NEW(arena, int, forest->n_bodies);
    for (int side = 0; side < 2; side++) forest->next[side] = ARENA_NEW(arena, int, forest->n_rows);
    for (int b = 0; b < forest->n_bodies; b++) forest->first[b] = -1;
    for (int r = forest->n_rows - 1; r >= 0; r--) {
        for (int side = 0; side < 2; side++) {
            const int body = side == 0 ? forest->rows[r].i : forest->rows[r].j;
            forest->next[side][r] = forest->first[body];
            forest->first[body] = 2 * r + side;
        }
    }
}

int rigid_other(const RigidForest *forest, int link)
{
    return link % 2 == 0 ? forest->rows[link / 2].j : forest->rows[link / 2].i;
}

static bool islands_is_held(const RigidForest *forest, int body) // by a fixed body
{
    for (int link = forest->first[body]; link >= 0; link = forest->next[link % 2][link / 2]) {
        if (forest->bodies[rigid_other(forest, link)].fixed != 0) return true;
    }
    return false;
}

// Collects the bodies of an island, from one of them, in the free end of `order`, and marks them as seen. Returns their
// number.
static int islands_island(RigidForest *forest, int body)
{
    int *found = forest->order + forest->n_order, count = 0;
    found[count++] = body;
    forest->parent[body] = -1;
    for (int at = 0; at < count; at++) {
        for (int link = forest->first[found[at]]; link >= 0; link = forest->next[link % 2][link / 2]) {
            const int other = rigid_other(forest, link);
            if (forest->bodies[other].fixed != 0 || forest->parent[other] != -2) continue;
            forest->parent[other] = -1;
            found[count++] = other;
        }
    }
    return count;
}

// Grows the island's trees breadth first from every body that is held by a fixed one, because a joint can only be
// eliminated after a body; if there is none, from the first body. Many shallow trees result; a row that closes a loop
// acts on two of them.
static void islands_plant(RigidForest *forest, int count, int *root)
{
    int *found = forest->order + forest->n_order, roots = 0;
    const int body = found[0];
    for (int at = 0; at < count; at++) forest->parent[found[at]] = -2;
    for (int at = 0; at < count; at++) { // moves the roots to the front: no number is read after it was overwritten
        if (!islands_is_held(forest, found[at])) continue;
        found[roots] = found[at];
        forest->parent[found[roots++]] = -1;
    }
    if (roots == 0) {
        found[roots++] = body;
        forest->parent[body] = -1;
    }
    for (int at = 0; at < roots; at++) root[found[at]] = at;
    for (int at = 0, end = roots; at < end; at++) {
        for (int link = forest->first[found[at]]; link >= 0; link = forest->next[link % 2][link / 2]) {
            const int other = rigid_other(forest, link);
            if (forest->bodies[other].fixed != 0 || forest->parent[other] != -2) continue;
            forest->parent[other] = found[at];
            root[other] = root[found[at]];
            found[end++] = other;
        }
    }
}

// Orders the island's bodies tree by tree, each with its joint.
static void islands_line_up(RigidForest *forest, int count, const int *root, Arena *arena)
{
    const size_t used = arena->used;
    int *found = forest->order + forest->n_order, *offset = ARENA_NEW(arena, int, count + 1);
    int *lined = ARENA_NEW(arena, int, count);
    for (int at = 0; at < count; at++) offset[root[found[at]] + 1]++;
    for (int t = 0; t < count; t++) offset[t + 1] += offset[t];
    for (int at = 0; at < count; at++) {
        RigidBody *body = &forest->bodies[found[at]];
        const int t = root[found[at]];
        if (forest->parent[found[at]] == -1) body->tree = forest->n_order + offset[t];
        lined[offset[t]++] = found[at];
    }
    memcpy(found, lined, (size_t)count * sizeof *found);
    arena_rewind(arena, used);
    for (int at = 0; at < count; at++) {
        const int body = found[at], parent = forest->parent[body];
        RigidBody *top = &forest->bodies[body];
        if (parent >= 0) top->tree = forest->bodies[parent].tree;
        forest->bodies[forest->order[top->tree]].tree_count += 1;
        if (parent < 0 && !islands_is_held(forest, body)) continue;
        top->joint = forest->n_joints;
        forest->joints[forest->n_joints++] = (RigidJoint){.child = body, .parent = parent};
    }
}

static void islands_walk(RigidForest *forest, int body, int *root, Arena *arena)
{
    const int first = forest->n_order, count = islands_island(forest, body);
    islands_plant(forest, count, root);
    islands_line_up(forest, count, root, arena);
    forest->n_order += count;
    forest->islands[forest->n_islands++] = (RigidIsland){.first = first, .count = count};
}

// Islands in the order of their first bodies.
static void islands_grow(RigidForest *forest, Arena *arena)
{
    int *root = ARENA_NEW(arena, int, forest->n_bodies);
    forest->order = ARENA_NEW(arena, int, forest->n_bodies);
    forest->parent = ARENA_NEW(arena, int, forest->n_bodies);
    forest->joints = ARENA_NEW(arena, RigidJoint, forest->n_bodies);
    forest->islands = ARENA_NEW(arena, RigidIsland, forest->n_bodies);
    for (int b = 0; b < forest->n_bodies; b++) forest->parent[b] = -2;
    for (int b = 0; b < forest->n_bodies; b++) {
        if (forest->bodies[b].fixed == 0 && forest->parent[b] == -2) islands_walk(forest, b, root, arena);
    }
    for (int k = 0; k < forest->n_order; k++) { // the order in the assets is the reverse
        RigidBody *body = &forest->bodies[forest->order[k]];
        body->tree_count = forest->bodies[forest->order[body->tree]].tree_count;
    }
    for (int k = 0; k < forest->n_order; k++) {
        RigidBody *body = &forest->bodies[forest->order[k]];
        body->tree = forest->n_order - body->tree - body->tree_count;
    }
}

// The joint that a row belongs to; -1: the row closes a loop.
static int islands_joint_of(const RigidForest *forest, const RigidRow *row)
{
    const int i = row->i, j = row->j;
    const bool i_fixed = forest->bodies[i].fixed != 0, j_fixed = forest->bodies[j].fixed != 0;
    if (i_fixed || j_fixed) {
        const int body = i_fixed ? j : i, joint = forest->bodies[body].joint;
        return joint >= 0 && forest->joints[joint].parent < 0 ? joint : -1;
    }
    if (forest->parent[i] == j) return forest->bodies[i].joint;
    if (forest->parent[j] == i) return forest->bodies[j].joint;
    return -1;
}

// The island of each body; -1: it is fixed.
static int *islands_islands_of(const RigidForest *forest, Arena *arena)
{
    int *of = ARENA_NEW(arena, int, forest->n_bodies);
    for (int b = 0; b < forest->n_bodies; b++) of[b] = -1;
    for (int i = 0; i < forest->n_islands; i++) {
        const RigidIsland *island = &forest->islands[i];
        for (int k = 0; k < island->count; k++) of[forest->order[island->first + k]] = i;
    }
    return of;
}

// Sorts rows by island; within an island, those of its joints in their order, then those that close loops.
static void islands_sort(RigidForest *forest, RigidRow *sorted, Arena *arena)
{
    const int *of = islands_islands_of(forest, arena);
    int *joint = ARENA_NEW(arena, int, forest->n_rows), count = 0;
    for (int r = 0; r < forest->n_rows; r++) {
        const int i = of[forest->rows[r].i], island = i >= 0 ? i : of[forest->rows[r].j];
        joint[r] = islands_joint_of(forest, &forest->rows[r]);
        if (joint[r] >= 0 && forest->joints[joint[r]].count >= RIGID_JOINT_ROWS) joint[r] = -1;
        if (joint[r] >= 0)
            forest->joints[joint[r]].count += 1;
        else
            forest->islands[island].n_loop_rows += 1;
        forest->n_closing += joint[r] < 0;
    }
    for (int i = 0, k = 0; i < forest->n_islands; i++) {
        RigidIsland *island = &forest->islands[i];
        island->row = count;
        for (; k < forest->n_joints && of[forest->joints[k].child] == i; k++) {
            forest->joints[k].first = count;
            count += forest->joints[k].count;
            forest->joints[k].count = 0; // counted again below
        }
        island->row_end = count; // so far
        count += island->n_loop_rows;
    }
    for (int r = 0; r < forest->n_rows; r++) {
        RigidJoint *to = joint[r] >= 0 ? &forest->joints[joint[r]] : NULL;
        const int i = of[forest->rows[r].i];
        RigidIsland *island = &forest->islands[i >= 0 ? i : of[forest->rows[r].j]];
        RigidRow *row = &sorted[to != NULL ? to->first + to->count : island->row_end];
        *row = forest->rows[r];
        row->closes = to == NULL;
        *(to != NULL ? &to->count : &island->row_end) += 1;
    }
}

static bool islands_acts_on(const RigidForest *forest, const RigidRow *row, int tree_at)
{
    const RigidBody *i = &forest->bodies[row->i], *j = &forest->bodies[row->j];
    return (i->fixed == 0 && i->tree == tree_at) || (j->fixed == 0 && j->tree == tree_at);
}

// Finds the first nonzero column of each row of G: LDL' fills in nothing before it.
static void islands_find_reach(const RigidForest *forest, RigidRow *rows)
{
    for (int i = 0; i < forest->n_islands; i++) {
        const RigidIsland *island = &forest->islands[i];
        RigidRow *loops = rows + (island->row_end - island->n_loop_rows);
        for (int l = 0; l < island->n_loop_rows; l++) {
            const RigidBody *a = &forest->bodies[loops[l].i], *b = &forest->bodies[loops[l].j];
            int m = 0;
            while (m < l && !(a->fixed == 0 && islands_acts_on(forest, &loops[m], a->tree)) &&
                   !(b->fixed == 0 && islands_acts_on(forest, &loops[m], b->tree)))
                m++;
            loops[l].reach = m;
        }
    }
}

Error rigid_find_islands(RigidForest *forest, RigidSolver solver, RigidRow *sorted, Arena *arena)
{
    islands_link(forest, arena);
    islands_grow(forest, arena);
    islands_sort(forest, sorted, arena);
    islands_find_reach(forest, sorted);
    return rigid_choose_solvers(forest, sorted, solver, arena);
}
