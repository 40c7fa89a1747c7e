// Forces and accelerations of the hopper in closed form.
//
// q = (x, z, a, b, l): foot position, leg angle, body angle (absolute, clockwise from the vertical), leg length; m,
// rad. e = (sin a, cos a) along the leg, t = (cos a, -sin a) across it. The leg's centre of mass is l_1 from the foot,
// the hip at l, the body's centre of mass l_2 above the hip. Newton's and Euler's equations of leg and body, with the
// hip force N across the leg eliminated, need one division and no 5x5 solve.
#ifndef HOPSCOTCH_HOPPER_DYNAMICS_H
#define HOPSCOTCH_HOPPER_DYNAMICS_H

#include "disturbance.h"
#include "terrain.h"

// Positions, or velocities, or accelerations.
typedef struct HopperVector {
    real x, z, a, b, l;
} HopperVector;

typedef struct HopperAngles {
    real sin_a, cos_a, sin_b, cos_b;
} HopperAngles;

HD HopperAngles hopper_angles(real a, real b)
{
    HopperAngles angles;
    sines_cosines(a, b, &angles.sin_a, &angles.cos_a, &angles.sin_b, &angles.cos_b);
    return angles;
}

// The foot over the ground, along the vertical.
typedef struct HopperFoot {
    real height, rate; // m, m/s
    real slope;        // of the ground below it
} HopperFoot;

HD HopperFoot hopper_foot(const HopperWorld *world, real x, real z, real dx, real dz)
{
    HopperFoot foot;
    foot.height = z;
    foot.rate = dz;
    foot.slope = splat(0.0);
    if (world->full) {
        const HopperTerrain ground = hopper_terrain(world, x);
        foot.height = z - ground.height;
        foot.rate = fused(-ground.slope, dx, dz);
        foot.slope = ground.slope;
    }
    return foot;
}

// Which branch of the piecewise forces holds.
typedef struct HopperContact {
    mask ground;  // foot below the ground
    mask damping; // and still sinking: the vertical damper pushes, it never pulls
    mask stop;    // leg at or beyond its rest length: the stop acts, else the spring
} HopperContact;

HD HopperContact hopper_contact(const HopperParameters *p, const HopperFoot *foot, real l)
{
    HopperContact contact;
    contact.ground = MASK(foot->height < 0.0);
    contact.damping = contact.ground & MASK(foot->rate < 0.0);
    contact.stop = MASK(l - p->r_s0 >= 0.0);
    return contact;
}

// Forces from outside: of the ground on the foot, of disturbances on the body's centre of mass.
typedef struct HopperForces {
    real f_x, f_z, f_body; // N
    real f_damper;         // the part of f_z that is the ground's damper
} HopperForces;

HD HopperForces hopper_ground(const HopperParameters *p, const HopperContact *contact, const HopperFoot *foot, real dx)
{
    const real zero = splat(0.0);
    HopperForces forces;
    forces.f_x = select_real(contact->ground, -p->b_g * dx, zero);
    forces.f_damper = select_real(contact->damping, -p->b_g * foot->rate, zero);
    forces.f_z = select_real(contact->ground, fused(-p->k_g, foot->height, forces.f_damper), zero);
    forces.f_body = zero;
    return forces;
}

// Horizontal velocity of the body's centre of mass (m/s): v of the control law.
HD real hopper_body_speed(const HopperParameters *p, const HopperAngles *s, real l, const HopperVector *v)
{
    return fused(p->l_2 * v->b, s->cos_b, v->x) + fused(l * v->a, s->cos_a, v->l * s->sin_a);
}

// All of them at time t in (q, v), with the force `push` that is held over the step.
HD HopperForces hopper_forces(const HopperWorld *world, const HopperAngles *s, const HopperContact *contact,
                              const HopperFoot *foot, real push, real l, const HopperVector *v, real t)
{
    HopperForces forces = hopper_ground(&world->p, contact, foot, v->x);
    if (world->full) forces.f_body = push + hopper_wind(world, t, hopper_body_speed(&world->p, s, l, v));
    return forces;
}

// The force along the leg as an affine law of l'': F_k = constant - slope l''. Explicit: slope 0. In an implicit step
// l' at the evaluated instant is itself v + h l'', and stating so solves the stiff stop exactly instead of by
// iteration.
typedef struct HopperLegLaw {
    real constant, slope;
    bool implicit; // a literal
} HopperLegLaw;

HD HopperLegLaw hopper_leg_explicit(const HopperParameters *p, const HopperContact *contact, real l, real dl, real u1)
{
    const real beyond = l - p->r_s0, drag = p->b_stop * dl;
    HopperLegLaw law;
    law.constant = u1 - select_real(contact->stop, fused(p->k_stop, beyond, drag), p->k_l * beyond);
    law.slope = splat(0.0);
    law.implicit = false;
    return law;
}

// At the middle of a step that starts at (l, dl): l_m = l + h l'_m, l'_m = dl + h l''.
HD HopperLegLaw hopper_leg_implicit(const HopperParameters *p, const HopperContact *contact, real h, real l, real dl,
                                    real u1)
{
    const real stiffness = select_real(contact->stop, p->k_stop, p->k_l);
    const real resistance = fused(stiffness, h, select_real(contact->stop, p->b_stop, splat(0.0))); // N s/m
    HopperLegLaw law;
    law.constant = fused(stiffness, p->r_s0 - l, u1) - resistance * dl;
    law.slope = resistance * h;
    law.implicit = true;
    return law;
}

// q'' from the angles, leg length, q', forces, leg law and hip torque u2 (N m, on the body).
// The hip's force across the leg is N = (n0 + n1 F_k)/A, then b'' = u2/J + j_c N - j_s F_k and l'' = X - l_s b'' +
// F_k (1/m + 1/m_l). Put together, A l'' = A X' - g n0 + E F_k with positive E, so that the leg law closes it with one
// division.
// The reference's equations have one more force, P = (-2 m_l l_1 a'^2 sin a, 0) at the leg's centre of mass, which is
// what the sign error of its 5x5 form amounts to.
HD HopperVector hopper_acceleration(const HopperWorld *world, const HopperAngles *s, real l, const HopperVector *v,
                                    const HopperForces *forces, const HopperLegLaw *law, real u2)
{
    const HopperParameters *p = &world->p;
    const real sin_r = fused(s->sin_a, s->cos_b, -s->cos_a * s->sin_b); // sin(a - b)
    const real cos_r = fused(s->cos_a, s->cos_b, s->sin_a * s->sin_b);
    const real r = l - p->l_1, a_rate2 = v->a * v->a, b_rate2 = v->b * v->b;

    // forces on the leg across and along it; over mass, less what moves the body
    const real force_t = fused(forces->f_x, s->cos_a, -forces->f_z * s->sin_a);
    const real force_e = fused(forces->f_x, s->sin_a, forces->f_z * s->cos_a);
    const real torque = fused(-p->l_1, force_t, -u2);
    real pull_t = force_t * p->inverse_m_l, pull_e = force_e * p->inverse_m_l, more_x = splat(0.0);
    if (hopper_with(world, HOPPER_WITH_REFERENCE)) {
        more_x = -2.0 * p->l_1 * a_rate2 * s->sin_a; // P / m_l
        pull_t = fused(more_x, s->cos_a, pull_t);
        pull_e = fused(more_x, s->sin_a, pull_e);
    }
    if (world->full) {
        const real body = forces->f_body * p->inverse_m;
        pull_t = fused(-body, s->cos_a, pull_t);
        pull_e = fused(-body, s->sin_a, pull_e);
    }

    const real l_c = p->l_2 * cos_r, l_s = p->l_2 * sin_r, j_c = l_c * p->inverse_J, j_s = l_s * p->inverse_J;
    const real r_j = r * p->inverse_J_l, turn = u2 * p->inverse_J;
    const real inverse_mass = p->inverse_m + p->inverse_m_l;
    const real r_r_j = r * r_j, A = fused(l_c, j_c, inverse_mass + r_r_j);
    const real coriolis = fused(2.0 * v->l, v->a, l_s * b_rate2);
    const real without_u2 = fused(-p->l_1 * r_j, force_t, pull_t + coriolis);
    const real n0 = fused(r_j - j_c, u2, -without_u2), n1 = l_c * j_s;
    const real X = fused(r, a_rate2, fused(l_c, b_rate2, -pull_e));

    real f_k = law->constant, inverse_A;
    if (law->implicit) {
        const real l_s_j_s = l_s * j_s;
        const real E = fused(inverse_mass, A + l_s_j_s, r_r_j * l_s_j_s);
        const real free = fused(A, fused(-l_s, turn, X), -(l_s * j_c) * n0);
        const real D = fused(law->slope, E, A);
        const real inverse = 1.0 / (A * D);
        inverse_A = D * inverse;
        f_k = fused(A, law->constant, -law->slope * free) * (A * inverse);
    } else {
        inverse_A = 1.0 / A;
    }

    const real n = fused(n1, f_k, n0) * inverse_A;
    HopperVector acceleration;
    acceleration.a = fused(r_j, n, torque * p->inverse_J_l);
    acceleration.b = fused(j_c, n, fused(-j_s, f_k, turn));
    acceleration.l = fused(-l_s, acceleration.b, fused(inverse_mass, f_k, X));
    // of the leg's centre of mass about the foot
    const real across = fused(acceleration.a, s->cos_a, -a_rate2 * s->sin_a);
    const real along = fused(acceleration.a, s->sin_a, a_rate2 * s->cos_a);
    const real push_x = forces->f_x - fused(f_k, s->sin_a, -n * s->cos_a);
    const real push_z = forces->f_z - fused(f_k, s->cos_a, n * s->sin_a);
    acceleration.x = fused(push_x, p->inverse_m_l, fused(-p->l_1, across, more_x));
    acceleration.z = fused(push_z, p->inverse_m_l, fused(p->l_1, along, -p->g));
    return acceleration;
}

HD real hopper_body_x(const HopperParameters *p, const HopperAngles *s, real x, real l)
{
    return fused(l, s->sin_a, fused(p->l_2, s->sin_b, x));
}

HD real hopper_body_z(const HopperParameters *p, const HopperAngles *s, real z, real l)
{
    return fused(l, s->cos_a, fused(p->l_2, s->cos_b, z));
}

// Energy by part (J).
typedef struct HopperEnergy {
    real kinetic, gravity, leg, ground; // both bodies; heights over z = 0; leg spring or stop; ground spring
} HopperEnergy;

HD HopperEnergy hopper_energy(const HopperWorld *world, const HopperAngles *s, const HopperVector *q,
                              const HopperVector *v)
{
    const HopperParameters *p = &world->p;
    const real leg_dx = fused(p->l_1 * v->a, s->cos_a, v->x), leg_dz = fused(-p->l_1 * v->a, s->sin_a, v->z);
    const real body_dx = hopper_body_speed(p, s, q->l, v);
    const real body_dz = fused(v->l, s->cos_a, fused(-q->l * v->a, s->sin_a, fused(-p->l_2 * v->b, s->sin_b, v->z)));
    const real extension = p->r_s0 - q->l;
    const real stiffness = select_real(MASK(extension > 0.0), p->k_l, p->k_stop);
    const real height = hopper_foot(world, q->x, q->z, v->x, v->z).height;
    HopperEnergy energy;
    energy.kinetic = 0.5 * (p->m_l * fused(leg_dx, leg_dx, leg_dz * leg_dz) + p->J_l * (v->a * v->a) +
                            p->m * fused(body_dx, body_dx, body_dz * body_dz) + p->J * (v->b * v->b));
    energy.gravity = p->g * (p->m_l * fused(p->l_1, s->cos_a, q->z) + p->m * hopper_body_z(p, s, q->z, q->l));
    energy.leg = 0.5 * stiffness * (extension * extension);
    energy.ground = select_real(MASK(height < 0.0), 0.5 * p->k_g * (height * height), splat(0.0));
    return energy;
}

HD real hopper_energy_total(const HopperEnergy *energy)
{
    return (energy->kinetic + energy->gravity) + (energy->leg + energy->ground);
}

// Power of all that is not in that energy (W).
typedef struct HopperPower {
    real hip, thrust;  // of the actuators
    real stop, ground; // lost in the stop's damper and in the ground
    real other;        // of disturbances, and of P in the reference's equations
} HopperPower;

HD HopperPower hopper_power(const HopperWorld *world, const HopperAngles *s, const HopperContact *contact,
                            const HopperFoot *foot, const HopperForces *forces, real u1, real u2, real l,
                            const HopperVector *v)
{
    const HopperParameters *p = &world->p;
    const real zero = splat(0.0);
    HopperPower power;
    power.hip = u2 * (v->b - v->a);
    power.thrust = u1 * v->l;
    power.stop = select_real(contact->stop, p->b_stop * v->l * v->l, zero);
    power.ground = -fused(forces->f_x, v->x, forces->f_damper * v->z);
    power.other = zero;
    if (world->full) {
        // the spring pushes along the vertical, but its energy changes with the height over the slope
        const real vertical = select_real(contact->ground, p->k_g * foot->height, zero);
        power.ground = fused(vertical, foot->slope * v->x, power.ground);
        power.other = forces->f_body * hopper_body_speed(p, s, l, v);
    }
    if (hopper_with(world, HOPPER_WITH_REFERENCE)) {
        const real p_x = -2.0 * p->m_l * p->l_1 * (v->a * v->a) * s->sin_a;
        power.other = fused(p_x, fused(p->l_1 * v->a, s->cos_a, v->x), power.other);
    }
    return power;
}

HD real hopper_power_total(const HopperPower *power)
{
    return (power->hip + power->thrust) - (power->stop + power->ground) + power->other;
}

#endif
