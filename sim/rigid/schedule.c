// Finds what of a world can be computed in parallel: lists of its bodies and forces (RigidSlot), the rows
// that touch each body, and its children.
#include "rigid.h"

_Static_assert(sizeof(RigidSlot) % sizeof(double) == 0, "slots are laid out as doubles");

// Doubles that these lists take in the assets.
size_t rigid_schedule_doubles(const RigidConstants *c)
{
    return (size_t)c->n_rows + // two entries of touches per double
           (2 * (size_t)c->n_moving + (size_t)c->n_forces) * sizeof(RigidSlot) / sizeof(double);
}

// touches: the rows of each body in their order
static void schedule_touch(const RigidConstants *c, RigidBody *bodies, const RigidRow *rows, int32_t *touches)
{
    int count = 0;
    for (int r = 0; r < c->n_rows; r++) {
        bodies[rows[r].i].n_touches += 1;
        bodies[rows[r].j].n_touches += 1;
    }
    for (int b = 0; b < c->n_bodies; b++) {
        bodies[b].touch = count;
        count += bodies[b].n_touches;
        bodies[b].n_touches = 0; // counted again below
    }
    for (int r = 0; r < c->n_rows; r++) {
        for (int side = 0; side < 2; side++) {
            RigidBody *body = &bodies[side == 0 ? rows[r].i : rows[r].j];
            touches[body->touch + body->n_touches] = 2 * r + side;
            body->n_touches += 1;
        }
    }
}

// The moving body to which a body's joint connects it; -1: none.
static int schedule_parent(const RigidBody *bodies, const RigidJoint *joints, int body)
{
    const int parent = bodies[body].joint < 0 ? -1 : joints[bodies[body].joint].parent;
    return parent >= 0 && bodies[parent].fixed == 0 ? parent : -1;
}

// Goes along the order, in which children precede parents and the children of one parent are neighbours. depth: joints
// to the root.
static void schedule_descend(const RigidConstants *c, const double *assets, RigidSlot *slots, int *depth, Arena *arena)
{
    const RigidBody *bodies = (const RigidBody *)assets;
    const RigidRow *rows = (const RigidRow *)(assets + c->rows);
    const RigidJoint *joints = (const RigidJoint *)(assets + c->joints);
    int *slot_of = ARENA_NEW(arena, int, c->n_bodies);
    for (int k = c->n_moving - 1; k >= 0; k--) {
        const int body = rigid_list(assets, c->order)[k], parent = schedule_parent(bodies, joints, body);
        RigidSlot *slot = &slots[k];
        slot_of[body] = k;
        depth[body] = parent < 0 ? 0 : depth[parent] + 1;
        *slot = (RigidSlot){.item = body, .parent = parent, .ease = bodies[body].ease};
        if (parent >= 0) {
            slots[slot_of[parent]].child = k;
            slots[slot_of[parent]].n_children += 1;
        }
        if (bodies[body].joint < 0) continue;
        const RigidJoint *joint = &joints[bodies[body].joint];
        slot->joint = bodies[body].joint;
        slot->row = joint->first;
        slot->n_rows = joint->count;
        for (int r = 0; r < joint->count; r++) slot->sides += rows[joint->first + r].i == body ? 0 : 1 << r;
    }
}

// Sets begin and end of stretches of slots with the same of[item].
static void schedule_stretch(RigidSlot *slots, int count, const int *of)
{
    for (int from = 0, end; from < count; from = end) {
        for (end = from + 1; end < count && of[slots[end].item] == of[slots[from].item];) end++;
        for (int k = from; k < end; k++) {
            slots[k].begin = from;
            slots[k].end = end;
        }
    }
}

// Sorts slots by rank[item] < count; the sort is stable.
static void schedule_sort(const RigidSlot *from, int count, const int *rank, RigidSlot *sorted, Arena *arena)
{
    int *next = ARENA_NEW(arena, int, count + 1); // free slot of each rank
    for (int k = 0; k < count; k++) next[rank[from[k].item] + 1]++;
    for (int r = 0; r < count; r++) next[r + 1] += next[r];
    for (int k = 0; k < count; k++) sorted[next[rank[from[k].item]]++] = from[k];
}

// The rank of a force is above the ranks of all forces before it that act on one of its moving bodies.
static void schedule_rank_forces(const RigidConstants *c, const RigidBody *bodies, const RigidForce *forces, int *rank,
                                 Arena *arena)
{
    int *of_body = ARENA_NEW(arena, int, c->n_bodies); // the next free rank; stays 0 for fixed bodies
    for (int f = 0; f < c->n_forces; f++) {
        const int i = forces[f].i, j = forces[f].j;
        rank[f] = of_body[i] > of_body[j] ? of_body[i] : of_body[j];
        if (bodies[i].fixed == 0) of_body[i] = rank[f] + 1;
        if (bodies[j].fixed == 0) of_body[j] = rank[f] + 1;
    }
}

// Slots of islands that are solved by trees. Returns their number.
static int slots_of_trees(const RigidConstants *c, const double *assets, const RigidSlot *slots, RigidSlot *of)
{
    const RigidIsland *islands = (const RigidIsland *)(assets + c->islands);
    int count = 0;
    for (int i = c->n_islands - 1; i >= 0; i--) { // islands are in reverse order
        for (int k = 0; k < islands[i].count && islands[i].skyline == 0; k++) of[count++] = slots[islands[i].first + k];
    }
    return count;
}

// Returns the length of levels.
static int schedule_bodies(const RigidConstants *c, double *assets, Arena *arena)
{
    const RigidBody *bodies = (const RigidBody *)assets;
    RigidSlot *slots = (RigidSlot *)(assets + c->slots), *levels = (RigidSlot *)(assets + c->levels);
    int *depth = ARENA_NEW(arena, int, c->n_bodies), *level = ARENA_NEW(arena, int, c->n_bodies), deepest = 0;
    schedule_descend(c, assets, slots, depth, arena);
    for (int b = 0; b < c->n_bodies; b++) {
        deepest = depth[b] > deepest ? depth[b] : deepest;
        level[b] = depth[b] + bodies[b].tree * RIGID_BODIES_MAX; // separate for each tree
    }
    schedule_stretch(slots, c->n_moving, level);
    for (int b = 0; b < c->n_bodies; b++) level[b] = deepest - depth[b];
    RigidSlot *rising = ARENA_NEW(arena, RigidSlot, c->n_moving);
    const int count = slots_of_trees(c, assets, slots, rising);
    schedule_sort(rising, count, level, levels, arena);
    schedule_stretch(levels, count, level);
    return count;
}

static void schedule_forces(const RigidConstants *c, double *assets, Arena *arena)
{
    RigidSlot *numbered = ARENA_NEW(arena, RigidSlot, c->n_forces + 1);
    RigidSlot *slots = (RigidSlot *)(assets + c->force_slots);
    int *rank = ARENA_NEW(arena, int, c->n_forces + 1);
    schedule_rank_forces(c, (const RigidBody *)assets, (const RigidForce *)(assets + c->forces), rank, arena);
    for (int f = 0; f < c->n_forces; f++) numbered[f].item = f;
    schedule_sort(numbered, c->n_forces, rank, slots, arena);
    schedule_stretch(slots, c->n_forces, rank);
}

void rigid_lay_schedule(RigidConstants *c, double *assets, Arena *arena)
{
    schedule_touch(c, (RigidBody *)assets, (const RigidRow *)(assets + c->rows), (int32_t *)(assets + c->touches));
    c->n_levels = schedule_bodies(c, assets, arena);
    schedule_forces(c, assets, arena);
}
