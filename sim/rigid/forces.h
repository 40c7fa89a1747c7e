// Masses and forces of the bodies at the lane's state: gravity, drag, springs, pushes, parachutes, inputs, and the
// gyroscopic torque -w x I w. Source: ISO 2533 (standard atmosphere).
#ifndef HOPSCOTCH_RIGID_FORCES_H
#define HOPSCOTCH_RIGID_FORCES_H

#include "inputs.h"

HD Symmetric3 rigid_body_inertia(const RigidBody *body)
{
    Symmetric3 a;
    a.xx = splat(body->inertia[0]);
    a.yy = splat(body->inertia[1]);
    a.zz = splat(body->inertia[2]);
    a.xy = splat(body->inertia[3]);
    a.xz = splat(body->inertia[4]);
    a.yz = splat(body->inertia[5]);
    return a;
}

// Mass, and inertia in world axes.
HD void rigid_masses_of(const RigidLanes *restrict w, int number)
{
    const int at = rigid_body_at(w, number) + RIGID_BODY_M;
    const RigidBody *body = &w->bodies[number];
    const Rotation turn = rotation_of(rigid_q(w, number));
    const Symmetric3 I = symmetric3_turned(&turn, rigid_body_inertia(body));
    set_cell(w, at, body->input >= 0 ? lanes_parameter(w->group, body->input) : splat(body->mass));
    rigid_set_symmetric(w, at + 1, I);
}
HD_CALL void rigid_masses(const RigidLanes *restrict w)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) rigid_masses_of(w, w->order[b]);
    rigid_wait(w);
}

// kg/m^3 at the height z (m): 1.225 (1 - 0.0065 z/288.15)^4.25588 below 11 km, then exponential
HD_CALL real rigid_isa_density(real z)
{
    const real low = lesser_of(greater_of(z, splat(-5000.0)), splat(11000.0));
    const real below = power(1.0 - low * (0.0065 / 288.15), splat(4.2558797)) * 1.225;
    return below * exponential(-greater_of(z - 11000.0, splat(0.0)) * (1.0 / 6341.62));
}

HD real rigid_density(const RigidLanes *w, real z)
{
    return w->c.air == RIGID_ISA ? rigid_isa_density(z) : splat(w->c.density);
}

// Number `k` of the force's inputs: the lane's parameter, or the world's `value`.
HD real rigid_force_input(const RigidLanes *w, const RigidForce *force, int k, double value)
{
    return force->input[k] >= 0 ? lanes_parameter(w->group, force->input[k]) : splat(value);
}

// Adds `force` at the end's point, if the body moves.
HD void rigid_apply(const RigidLanes *w, int body, const RigidEnd *end, Vector3 force)
{
    if (!rigid_moves(w, body)) return;
    const int at = rigid_body_at(w, body) + RIGID_BODY_F;
    add_cell3(w, at, force);
    add_cell3(w, at + 3, cross3(end->r, force));
}

// -(linear + rho/2 A |u|) u, u the velocity relative to the air
HD Vector3 rigid_drag(const RigidLanes *w, const RigidEnd *end, real linear, real area)
{
    const Vector3 u = less(added(end->v, cross3(end->w, end->r)), vector3(w->wind_x, w->wind_y, w->wind_z));
    const real factor = linear + 0.5 * rigid_density(w, end->p.z) * area * length3(u);
    return scaled(-factor, u);
}

// Latches a parachute at a step's start, t; its cell keeps the time.
HD void rigid_latch_one(const RigidLanes *w, int number, real t)
{
    const RigidForce *force = &w->forces[number];
    const int at = w->c.latch_at + number;
    if (force->kind != RIGID_PARACHUTE) return;
    const RigidEnd end = rigid_end(w, force->i, force->at_i);
    const mask pulls = MASK(value_of(length3(end.v)) > force->speed) | MASK(value_of(end.p.z) < force->altitude);
    const real latched = cell(w, at);
    update_cell(w, at, select_real(pulls & MASK(value_of(latched) < 0.0), t, latched));
}

HD_CALL void rigid_latch(const RigidLanes *restrict w, real t)
{
    if (w->c.n_forces == 0) return;
    for (int f = w->rank; f < w->c.n_forces; f += w->size) rigid_latch_one(w, f, t);
    rigid_wait(w);
}

// Cd A of a parachute (m^2): the packed value, then growing since it latched.
HD real rigid_canopy(const RigidLanes *w, const RigidForce *force, int number, real t)
{
    const real since = cell(w, w->c.latch_at + number);
    const real packed = rigid_force_input(w, force, 0, force->packed);
    const real open = rigid_force_input(w, force, 1, force->open);
    const real s = hyperbolic_tangent(rigid_force_input(w, force, 2, force->rate) * (t - since));
    const real opened = force->jumps != 0 ? 0.5 * (1.0 + s) : s;
    const real area = fused(opened, open - packed, packed);
    return select_real(MASK(value_of(since) < 0.0), packed, area);
}

// Force along d = p_j - p_i, positive if it pulls: k (|d| - L) + c |d|'. A tether only pulls. The value is kept for the
// metrics, in the cell where a parachute keeps the time at which it latched.
HD Vector3 rigid_pull(const RigidLanes *w, const RigidForce *force, int number, const RigidEnd *i, const RigidEnd *j)
{
    const Vector3 d = less(added(j->p, j->r), added(i->p, i->r));
    const Vector3 u = less(added(j->v, cross3(j->w, j->r)), added(i->v, cross3(i->w, i->r)));
    const real length = length3(d), none = splat(0.0);
    const real safe = select_real(MASK(value_of(length) > value_of(none)), length, splat(1.0));
    const real stiffness = rigid_force_input(w, force, 0, force->stiffness);
    const real damping = rigid_force_input(w, force, 1, force->damping);
    const real rest = rigid_force_input(w, force, 2, force->length);
    real pull = fused(stiffness, length - rest, damping * dot3(u, d) / safe);
    if (force->kind == RIGID_TETHER)
        pull = select_real(MASK(value_of(length) > value_of(rest)) & MASK(value_of(pull) > value_of(none)), pull, none);
    update_cell(w, w->c.latch_at + number, pull);
    return scaled(pull / safe, d);
}

HD void rigid_force(const RigidLanes *w, int number, real t)
{
    const RigidForce *force = &w->forces[number];
    const RigidEnd i = rigid_end(w, force->i, force->at_i);
    if (force->kind == RIGID_SPRING || force->kind == RIGID_TETHER) {
        const RigidEnd j = rigid_end(w, force->j, force->at_j);
        const Vector3 pull = rigid_pull(w, force, number, &i, &j);
        rigid_apply(w, force->i, &i, pull);
        rigid_apply(w, force->j, &j, scaled(splat(-1.0), pull));
    } else if (force->kind == RIGID_PUSH) {
        const Vector3 push =
            vector3(rigid_force_input(w, force, 0, force->force[0]), rigid_force_input(w, force, 1, force->force[1]),
                    rigid_force_input(w, force, 2, force->force[2]));
        rigid_apply(w, force->i, &i, push);
        add_cell3(w, rigid_body_at(w, force->i) + RIGID_BODY_F + 3, vector3_of(force->torque));
    } else if (force->kind == RIGID_INPUT) {
        const Vector3 load = scaled(cell(w, rigid_input_at(w, force->number)), rigid_input_direction(w, force));
        if (force->turns == 0) {
            rigid_apply(w, force->i, &i, load);
        } else {
            rigid_apply_torque(w, force->i, load);
            rigid_apply_torque(w, force->j, scaled(splat(-1.0), load));
        }
    } else {
        const bool canopy = force->kind == RIGID_PARACHUTE;
        const real linear = canopy ? splat(force->linear) : rigid_force_input(w, force, 0, force->linear);
        const real area = canopy ? rigid_canopy(w, force, number, t) : rigid_force_input(w, force, 1, force->quadratic);
        rigid_apply(w, force->i, &i, rigid_drag(w, &i, linear, area));
    }
}

// F of all bodies without the world's forces. gyroscopic: with -w x I w, which an update of the angular momentum does
// not need.
HD_CALL void rigid_weights(const RigidLanes *restrict w, bool gyroscopic)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int body = w->order[b], at = rigid_body_at(w, body);
        const Vector3 spin = rigid_w(w, body);
        const real weight = -w->gravity * cell(w, at + RIGID_BODY_M) * w->bodies[body].gravity;
        const Vector3 torque = cross3(symmetric3_times(rigid_inertia(w, body), spin), spin);
        set_cell3(w, at + RIGID_BODY_F, vector3(splat(0.0), splat(0.0), weight));
        set_cell3(w, at + RIGID_BODY_F + 3, gyroscopic ? torque : vector3_zero());
    }
    rigid_wait(w);
}

HD_CALL void rigid_forces(const RigidLanes *restrict w, real t, bool gyroscopic)
{
    rigid_weights(w, gyroscopic);
    if (w->c.n_forces == 0) return;
    for (int f = 0, end; f < w->c.n_forces; f = end) { // those on one body in order
        end = w->force_slots[f].end;
        for (int k = f + w->rank; k < end; k += w->size) rigid_force(w, w->force_slots[k].item, t);
        rigid_wait(w);
    }
}

// of the world, by one thread
HD_CALL real rigid_kinetic(const RigidLanes *restrict w)
{
    real sum = splat(0.0);
    for (int b = 0; b < w->n_moving; b++) {
        const int body = w->order[b];
        const Vector3 v = rigid_v(w, body), spin = rigid_w(w, body);
        const real m = cell(w, rigid_body_at(w, body) + RIGID_BODY_M);
        sum = sum + 0.5 * m * dot3(v, v) + 0.5 * dot3(spin, symmetric3_times(rigid_inertia(w, body), spin));
    }
    return sum;
}

// kinetic and of gravity
HD real rigid_body_energy(const RigidLanes *w, int body)
{
    const Vector3 v = rigid_v(w, body), spin = rigid_w(w, body);
    const real m = cell(w, rigid_body_at(w, body) + RIGID_BODY_M);
    return 0.5 * m * dot3(v, v) + 0.5 * dot3(spin, symmetric3_times(rigid_inertia(w, body), spin)) +
           w->bodies[body].gravity * m * w->gravity * rigid_p(w, body).z;
}

// of an island's bodies
HD_CALL real rigid_island_energy(const RigidLanes *restrict w, const RigidIsland *island)
{
    const int32_t *order = w->world_order + island->first;
    real sum = splat(0.0);
    for (int b = 0; b < island->count; b++) sum = sum + rigid_body_energy(w, order[b]);
    return sum;
}

// A cell of an island that is free between the end of a step and the next solve.
HD int rigid_island_at(const RigidLanes *w, const RigidIsland *island)
{
    return rigid_body_at(w, w->world_order[island->first]) + RIGID_BODY_D + 1;
}

// Sum of each island's cell, in the thread that writes.
HD real rigid_sum_islands(const RigidLanes *w)
{
    real sum = splat(0.0);
    for (int i = 0; rigid_speaks(w) && i < w->n_islands; i++) sum = sum + cell(w, rigid_island_at(w, &w->islands[i]));
    return sum;
}

// Energy of the world, in the thread that writes: the same sums in the same order, with bodies and islands in parallel.
HD_CALL real rigid_team_energy(const RigidLanes *restrict w)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int body = w->order[b];
        set_cell(w, rigid_body_at(w, body) + RIGID_BODY_D, rigid_body_energy(w, body));
    }
    rigid_wait(w);
    for (int i = w->rank; i < w->n_islands; i += w->size) {
        const RigidIsland *island = &w->islands[i];
        real sum = splat(0.0);
        for (int b = 0; b < island->count; b++)
            sum = sum + cell(w, rigid_body_at(w, w->world_order[island->first + b]) + RIGID_BODY_D);
        set_cell(w, rigid_island_at(w, island), sum);
    }
    rigid_wait(w);
    return rigid_sum_islands(w);
}

HD real rigid_energy(const RigidLanes *w)
{
    real sum = splat(0.0);
    if (w->size > 1) return rigid_team_energy(w);
    for (int i = 0; i < w->n_islands; i++) sum = sum + rigid_island_energy(w, &w->islands[i]);
    return sum;
}

#endif
