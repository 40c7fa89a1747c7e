// What the files that lay out a world on the host share: fields of its items by name, and vectors.
#ifndef HOPSCOTCH_RIGID_WORLD_H
#define HOPSCOTCH_RIGID_WORLD_H

#include "rigid.h"

#include <math.h>
#include <string.h>

enum { WORLD_DISTANCE_TYPE, WORLD_BALL, WORLD_HINGE, WORLD_WELD, WORLD_ALONG_TYPE, WORLD_TURN_TYPE };

// ---- fields by name -------------------------------------------------------------------------------------------------

static inline int world_offset(const List *list, const char *name)
{
    int offset = 0;
    for (int f = 0; f < list->n_fields; f++) {
        if (strcmp(list->fields[f].name, name) == 0) return offset;
        offset += list_field_width(&list->fields[f]);
    }
    return -1;
}

static inline const double *world_at(const Points *items, const List *list, int64_t item, const char *name)
{
    return items->items + item * list_width(list) + world_offset(list, name);
}

#define BODY(item, name) world_at(&spec->bodies, &rigid_lists[0], (item), (name))
#define CONSTRAINT(item, name) world_at(&spec->constraints, &rigid_lists[1], (item), (name))
#define FORCE(item, name) world_at(&spec->forces, &rigid_lists[2], (item), (name))

// ---- vectors on the host --------------------------------------------------------------------------------------------

static inline void world_cross(const double *a, const double *b, double *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double world_length(const double *a) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

// v turned by q (sign 1), or back (-1): v + 2 w (u x v) + 2 u x (u x v)
static inline void world_turn(const double *q, double sign, const double *v, double *out)
{
    const double u[3] = {sign * q[0], sign * q[1], sign * q[2]};
    double first[3], second[3];
    world_cross(u, v, first);
    world_cross(u, first, second);
    for (int k = 0; k < 3; k++) out[k] = v[k] + 2.0 * (q[3] * first[k] + second[k]);
}

// ---- world_forces.c -------------------------------------------------------------------------------------------------

// Force `item` of the spec. Error (user).
Error world_take_force(const RigidWorldSpec *spec, int64_t item, const RigidBody *bodies, RigidForce *force);
// Numbers the inputs among forces[count]; returns how many there are.
int32_t world_number_inputs(RigidForce *forces, int count);
// Does some force depend on velocities? Does some force bring energy of its own?
int32_t world_is_damped(const RigidForce *forces, int count);
int32_t world_is_powered(const RigidForce *forces, int count);

#endif
