// What of a world may be done side by side: lists of its bodies and forces by stretches (RigidPlace), the rows that
// touch each body, and its children.
#include "rigid.h"

// Doubles that all of it takes in the assets.
size_t rigid_places_doubles(const RigidConstants *c)
{
    return 2 * (size_t)c->n_rows + (2 * (size_t)c->n_moving + (size_t)c->n_forces) * sizeof(RigidPlace) / sizeof(double);
}

// touches: of a body its rows in their order
static void places_touch(const RigidConstants *c, RigidBody *bodies, const RigidRow *rows, double *touches)
{
    int count = 0;
    for (int r = 0; r < c->n_rows; r++) {
        bodies[(int)rows[r].i].n_touches += 1.0;
        bodies[(int)rows[r].j].n_touches += 1.0;
    }
    for (int b = 0; b < c->n_bodies; b++) {
        bodies[b].touch = count;
        count += (int)bodies[b].n_touches;
        bodies[b].n_touches = 0.0; // counted anew below
    }
    for (int r = 0; r < c->n_rows; r++) {
        for (int side = 0; side < 2; side++) {
            RigidBody *body = &bodies[(int)(side == 0 ? rows[r].i : rows[r].j)];
            touches[(int)(body->touch + body->n_touches)] = 2 * r + side;
            body->n_touches += 1.0;
        }
    }
}

// The moving body that a body's joint holds it to; -1: none.
static int places_parent(const RigidBody *bodies, const RigidJoint *joints, int body)
{
    const int parent = bodies[body].joint < 0.0 ? -1 : (int)joints[(int)bodies[body].joint].parent;
    return parent >= 0 && bodies[parent].fixed == 0.0 ? parent : -1;
}

// Children are neighbours in the order, which has them before their parents. depth: joints to the root.
static void places_descend(const RigidConstants *c, RigidBody *bodies, const double *assets, int *depth)
{
    const RigidJoint *joints = (const RigidJoint *)(assets + c->joints);
    for (int k = c->n_moving - 1; k >= 0; k--) {
        const int body = (int)assets[c->order + k], parent = places_parent(bodies, joints, body);
        depth[body] = parent < 0 ? 0 : depth[parent] + 1;
        if (parent < 0) continue;
        bodies[parent].child = k;
        bodies[parent].n_children += 1.0;
    }
}

// begin and end of stretches of places with the same value of of[item]
static void places_stretch(RigidPlace *places, int count, const int *of)
{
    for (int from = 0, end; from < count; from = end) {
        for (end = from + 1; end < count && of[(int)places[end].item] == of[(int)places[from].item];) end++;
        for (int k = from; k < end; k++) {
            places[k].begin = from;
            places[k].end = end;
        }
    }
}

// Items (NULL: 0, 1, ...) by rising rank[item] < count, else as they stand.
static void places_sort(RigidPlace *places, const double *items, int count, const int *rank, Arena *arena)
{
    int *next = ARENA_NEW(arena, int, count + 1); // free place of each rank
    for (int k = 0; k < count; k++) next[rank[items == NULL ? k : (int)items[k]] + 1]++;
    for (int r = 0; r < count; r++) next[r + 1] += next[r];
    for (int k = 0; k < count; k++) {
        const int item = items == NULL ? k : (int)items[k];
        places[next[rank[item]]++].item = item;
    }
}

// A force's rank is above that of all before it that act on a moving body of its own.
static void places_rank_forces(const RigidConstants *c, const RigidBody *bodies, const RigidForce *forces, int *rank,
                               Arena *arena)
{
    int *of_body = ARENA_NEW(arena, int, c->n_bodies); // the next free rank; stays 0 of what is fixed
    for (int f = 0; f < c->n_forces; f++) {
        const int i = (int)forces[f].i, j = (int)forces[f].j;
        rank[f] = of_body[i] > of_body[j] ? of_body[i] : of_body[j];
        if (bodies[i].fixed == 0.0) of_body[i] = rank[f] + 1;
        if (bodies[j].fixed == 0.0) of_body[j] = rank[f] + 1;
    }
}

void rigid_lay_places(RigidConstants *c, double *assets, Arena *arena)
{
    RigidBody *bodies = (RigidBody *)assets;
    RigidPlace *places = (RigidPlace *)(assets + c->places), *levels = (RigidPlace *)(assets + c->levels);
    int *depth = ARENA_NEW(arena, int, c->n_bodies), *level = ARENA_NEW(arena, int, c->n_bodies), deepest = 0;
    int *rank = ARENA_NEW(arena, int, c->n_forces + 1);
    places_touch(c, bodies, (const RigidRow *)(assets + c->rows), assets + c->touches);
    places_descend(c, bodies, assets, depth);
    for (int k = 0; k < c->n_moving; k++) {
        const int body = (int)assets[c->order + k];
        places[k].item = body;
        deepest = depth[body] > deepest ? depth[body] : deepest;
        level[body] = depth[body] + (int)bodies[body].tree * RIGID_BODIES_MAX; // apart from other trees'
    }
    places_stretch(places, c->n_moving, level);
    for (int b = 0; b < c->n_bodies; b++) level[b] = deepest - depth[b];
    places_sort(levels, assets + c->order, c->n_moving, level, arena);
    places_stretch(levels, c->n_moving, level);
    places_rank_forces(c, bodies, (const RigidForce *)(assets + c->forces), rank, arena);
    places_sort((RigidPlace *)(assets + c->force_places), NULL, c->n_forces, rank, arena);
    places_stretch((RigidPlace *)(assets + c->force_places), c->n_forces, rank);
}
