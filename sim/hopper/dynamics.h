// Forces and accelerations of the hopper in closed form.
//
// q = (x, z, a, b, l): foot position, leg angle, body angle (absolute, clockwise from the vertical), leg length; m,
// rad. A prime is a derivative by time: qd = q', qdd = q''; where the code has no vector, dx = x', dz = z', dl = l'.
// The leg's centre of mass is l_1 from the foot, the hip at l, the body's centre of mass l_2 above the hip.
//
//     e   = (sin a, cos a) along the leg, t = (cos a, -sin a) across it
//     s_r = sin(a - b),  c_r = cos(a - b),  R = l - l_1
//
// Forces: F_k along the leg, F = (F_x, F_z) of the ground on the foot, u2 the hip's torque on the body.
//
//     F_k = k_l (r_s0 - l) + u1                     if l < r_s0: the spring
//         = k_stop (r_s0 - l) - b_stop l' + u1      otherwise: the stop
//     F_x = -b_g x',  F_z = -k_g z + max(-b_g z', 0)     if z < 0, otherwise 0
//     F_t = F.t,  F_e = F.e,  tau = -l_1 F_t - u2
//
// Accelerations. Newton's and Euler's equations of leg and body give the hip's force N across the leg with one
// division, and the five accelerations follow without a 5x5 solve.
//
//     A   = 1/m_l + 1/m + R^2/J_l + (l_2 c_r)^2/J
//     A N = -F_t/m_l - 2 l' a' - R tau/J_l - (l_2 c_r/J) (u2 - l_2 s_r F_k) - l_2 s_r b'^2
//     a'' = (R N + tau)/J_l
//     b'' = (u2 - l_2 s_r F_k + l_2 c_r N)/J
//     l'' = (1/m + 1/m_l) F_k - F_e/m_l + R a'^2 - l_2 s_r b'' + l_2 c_r b'^2
//     x'' = (F_x - F_k sin a + N cos a)/m_l - l_1 (a'' cos a - a'^2 sin a)
//     z'' = (F_z - F_k cos a - N sin a)/m_l + l_1 (a'' sin a + a'^2 cos a) - g
//
// Variants add to them. Terrain: the height over the ground and its rate stand in place of z and z' in the forces
// (HopperFoot). Disturbances: a horizontal force F_b on the body's centre of mass. The reference's equations: a force
// P = (P_x, 0), P_x = -2 m_l l_1 a'^2 sin a, on the leg's centre of mass; the sign error of its 5x5 form amounts to it.
// With both, f = (F + P)/m_l - (F_b, 0)/m stands in place of F/m_l in A N and in l'', and P_x/m_l is added to x''.
#ifndef HOPSCOTCH_HOPPER_DYNAMICS_H
#define HOPSCOTCH_HOPPER_DYNAMICS_H

#include "disturbance.h"
#include "terrain.h"

// A value of q, q' or q''.
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
        const Terrain ground = hopper_terrain(world, x);
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
    contact.ground = MASK(value_of(foot->height) < 0.0);
    contact.damping = contact.ground & MASK(value_of(foot->rate) < 0.0);
    contact.stop = MASK(value_of(l - p->r_s0) >= 0.0);
    return contact;
}

// External forces: of the ground on the foot, of disturbances on the body's centre of mass.
typedef struct HopperForces {
    real F_x, F_z, F_b; // N
    real F_z_damper;    // term of F_z: the ground's damper
} HopperForces;

HD HopperForces hopper_ground(const HopperParameters *p, const HopperContact *contact, const HopperFoot *foot, real dx)
{
    const real zero = splat(0.0);
    HopperForces forces;
    forces.F_x = select_real(contact->ground, -p->b_g * dx, zero);
    forces.F_z_damper = select_real(contact->damping, -p->b_g * foot->rate, zero);
    forces.F_z = select_real(contact->ground, fused(-p->k_g, foot->height, forces.F_z_damper), zero);
    forces.F_b = zero;
    return forces;
}

// Horizontal velocity of the body's centre of mass (m/s), v = x' + l_2 b' cos b + l a' cos a + l' sin a.
HD real hopper_body_speed(const HopperParameters *p, const HopperAngles *s, real l, const HopperVector *qd)
{
    return fused(p->l_2 * qd->b, s->cos_b, qd->x) + fused(l * qd->a, s->cos_a, qd->l * s->sin_a);
}

// All external forces at time t in (q, qd); the force `push` is constant over the step.
HD HopperForces hopper_forces(const HopperWorld *world, const HopperAngles *s, const HopperContact *contact,
                              const HopperFoot *foot, real push, real l, const HopperVector *qd, real t)
{
    HopperForces forces = hopper_ground(&world->p, contact, foot, qd->x);
    if (world->full) forces.F_b = push + hopper_wind(world, t, hopper_body_speed(&world->p, s, l, qd));
    return forces;
}

// The force along the leg as a function of l'': F_k = F_0 - d l''. Explicit: d = 0. In an implicit step the l' at the
// evaluated instant is l' + h l'' with the unknown l''; the law then solves the stiff stop exactly instead of by
// iteration.
typedef struct HopperLegLaw {
    real F_0, d;   // N, kg
    bool implicit; // a literal
} HopperLegLaw;

HD HopperLegLaw hopper_leg_explicit(const HopperParameters *p, const HopperContact *contact, real l, real dl, real u1)
{
    const real beyond = l - p->r_s0, damping = p->b_stop * dl;
    HopperLegLaw law;
    law.F_0 = u1 - select_real(contact->stop, fused(p->k_stop, beyond, damping), p->k_l * beyond);
    law.d = splat(0.0);
    law.implicit = false;
    return law;
}

// F_k = k (r_s0 - l_m) - b l'_m + u1 at the middle of a step that starts at (l, l'), with k and b of the spring or of
// the stop. From l'_m = l' + h l'' and l_m = l + h l'_m: F_0 = k (r_s0 - l) + u1 - (k h + b) l', d = (k h + b) h.
HD HopperLegLaw hopper_leg_implicit(const HopperParameters *p, const HopperContact *contact, real h, real l, real dl,
                                    real u1)
{
    const real k = select_real(contact->stop, p->k_stop, p->k_l);
    const real k_h_b = fused(k, h, select_real(contact->stop, p->b_stop, splat(0.0))); // k h + b, N s/m
    HopperLegLaw law;
    law.F_0 = fused(k, p->r_s0 - l, u1) - k_h_b * dl;
    law.d = k_h_b * h;
    law.implicit = true;
    return law;
}

// q'' from the angles, leg length, q', forces, leg law and the hip's torque u2 (N m, on the body), as above. N and l''
// are affine in F_k:
//     A N   = N_0 + N_1 F_k,   N_0 = (R/J_l - l_2 c_r/J) u2 - (f_t + 2 l' a' + l_2 s_r b'^2 - l_1 (R/J_l) F_t)
//                              N_1 = l_2 c_r l_2 s_r/J
//     A l'' = L_0 + L_1 F_k,   L_0 = A (R a'^2 + l_2 c_r b'^2 - f_e - l_2 s_r u2/J) - l_2 s_r (l_2 c_r/J) N_0
//                              L_1 = (1/m + 1/m_l) (A + (l_2 s_r)^2/J) + (R^2/J_l) (l_2 s_r)^2/J > 0
// and so the leg's law gives (A + d L_1) F_k = A F_0 - d L_0. One division gives this and 1/A.
HD HopperVector hopper_acceleration(const HopperWorld *world, const HopperAngles *s, real l, const HopperVector *qd,
                                    const HopperForces *forces, const HopperLegLaw *law, real u2)
{
    const HopperParameters *p = &world->p;
    const real s_r = fused(s->sin_a, s->cos_b, -s->cos_a * s->sin_b);
    const real c_r = fused(s->cos_a, s->cos_b, s->sin_a * s->sin_b);
    const real R = l - p->l_1, da2 = qd->a * qd->a, db2 = qd->b * qd->b; // a'^2, b'^2

    const real F_t = fused(forces->F_x, s->cos_a, -forces->F_z * s->sin_a);
    const real F_e = fused(forces->F_x, s->sin_a, forces->F_z * s->cos_a);
    const real tau = fused(-p->l_1, F_t, -u2);
    // f = (F + P)/m_l - F_b/m
    real f_t = F_t * p->inverse_m_l, f_e = F_e * p->inverse_m_l, P_x_m_l = splat(0.0);
    if (hopper_with(world, HOPPER_WITH_REFERENCE)) {
        P_x_m_l = -2.0 * p->l_1 * da2 * s->sin_a; // P_x/m_l
        f_t = fused(P_x_m_l, s->cos_a, f_t);
        f_e = fused(P_x_m_l, s->sin_a, f_e);
    }
    if (world->full) {
        const real F_b_m = forces->F_b * p->inverse_m; // F_b/m
        f_t = fused(-F_b_m, s->cos_a, f_t);
        f_e = fused(-F_b_m, s->sin_a, f_e);
    }

    // l_2 c_r, l_2 s_r, l_2 c_r/J, l_2 s_r/J; R/J_l, R^2/J_l, u2/J, 1/m + 1/m_l
    const real l2_c = p->l_2 * c_r, l2_s = p->l_2 * s_r, l2_c_J = l2_c * p->inverse_J, l2_s_J = l2_s * p->inverse_J;
    const real R_Jl = R * p->inverse_J_l, u2_J = u2 * p->inverse_J;
    const real inverse_masses = p->inverse_m + p->inverse_m_l;
    const real R2_Jl = R * R_Jl, A = fused(l2_c, l2_c_J, inverse_masses + R2_Jl);
    const real coriolis = fused(2.0 * qd->l, qd->a, l2_s * db2);
    const real without_u2 = fused(-p->l_1 * R_Jl, F_t, f_t + coriolis);
    const real N_0 = fused(R_Jl - l2_c_J, u2, -without_u2), N_1 = l2_c * l2_s_J;
    const real centrifugal = fused(R, da2, fused(l2_c, db2, -f_e)); // R a'^2 + l_2 c_r b'^2 - f_e

    real F_k = law->F_0, inverse_A;
    if (law->implicit) {
        const real l2_s2_J = l2_s * l2_s_J;
        const real L_1 = fused(inverse_masses, A + l2_s2_J, R2_Jl * l2_s2_J);
        const real L_0 = fused(A, fused(-l2_s, u2_J, centrifugal), -(l2_s * l2_c_J) * N_0);
        const real A_d_L_1 = fused(law->d, L_1, A);
        const real inverse = 1.0 / (A * A_d_L_1);
        inverse_A = A_d_L_1 * inverse;
        F_k = fused(A, law->F_0, -law->d * L_0) * (A * inverse);
    } else {
        inverse_A = 1.0 / A;
    }

    const real N = fused(N_1, F_k, N_0) * inverse_A;
    HopperVector qdd;
    qdd.a = fused(R_Jl, N, tau * p->inverse_J_l);
    qdd.b = fused(l2_c_J, N, fused(-l2_s_J, F_k, u2_J));
    qdd.l = fused(-l2_s, qdd.b, fused(inverse_masses, F_k, centrifugal));
    const real across = fused(qdd.a, s->cos_a, -da2 * s->sin_a); // a'' cos a - a'^2 sin a
    const real along = fused(qdd.a, s->sin_a, da2 * s->cos_a);   // a'' sin a + a'^2 cos a
    const real leg_x = forces->F_x - fused(F_k, s->sin_a, -N * s->cos_a);
    const real leg_z = forces->F_z - fused(F_k, s->cos_a, N * s->sin_a);
    qdd.x = fused(leg_x, p->inverse_m_l, fused(-p->l_1, across, P_x_m_l));
    qdd.z = fused(leg_z, p->inverse_m_l, fused(p->l_1, along, -p->g));
    return qdd;
}

// x + l sin a + l_2 sin b
HD real hopper_body_x(const HopperParameters *p, const HopperAngles *s, real x, real l)
{
    return fused(l, s->sin_a, fused(p->l_2, s->sin_b, x));
}

// z + l cos a + l_2 cos b
HD real hopper_body_z(const HopperParameters *p, const HopperAngles *s, real z, real l)
{
    return fused(l, s->cos_a, fused(p->l_2, s->cos_b, z));
}

// Terms of the energy (J). (x_l, z_l) and (x_b, z_b) are the centres of mass of leg and body; k is k_l or k_stop.
//     kinetic = (m_l (x_l'^2 + z_l'^2) + J_l a'^2 + m (x_b'^2 + z_b'^2) + J b'^2)/2
//     gravity = g (m_l z_l + m z_b),  leg = k (r_s0 - l)^2/2,  ground = k_g z^2/2 if z < 0
typedef struct HopperEnergy {
    real kinetic, gravity, leg, ground;
} HopperEnergy;

HD HopperEnergy hopper_energy(const HopperWorld *world, const HopperAngles *s, const HopperVector *q,
                              const HopperVector *qd)
{
    const HopperParameters *p = &world->p;
    const real dx_l = fused(p->l_1 * qd->a, s->cos_a, qd->x), dz_l = fused(-p->l_1 * qd->a, s->sin_a, qd->z);
    const real dx_b = hopper_body_speed(p, s, q->l, qd);
    const real dz_b = fused(qd->l, s->cos_a, fused(-q->l * qd->a, s->sin_a, fused(-p->l_2 * qd->b, s->sin_b, qd->z)));
    const real extension = p->r_s0 - q->l;
    const real k = select_real(MASK(value_of(extension) > 0.0), p->k_l, p->k_stop);
    const real height = hopper_foot(world, q->x, q->z, qd->x, qd->z).height;
    HopperEnergy energy;
    energy.kinetic = 0.5 * (p->m_l * fused(dx_l, dx_l, dz_l * dz_l) + p->J_l * (qd->a * qd->a) +
                            p->m * fused(dx_b, dx_b, dz_b * dz_b) + p->J * (qd->b * qd->b));
    energy.gravity = p->g * (p->m_l * fused(p->l_1, s->cos_a, q->z) + p->m * hopper_body_z(p, s, q->z, q->l));
    energy.leg = 0.5 * k * (extension * extension);
    energy.ground = select_real(MASK(value_of(height) < 0.0), 0.5 * p->k_g * (height * height), splat(0.0));
    return energy;
}

HD real hopper_energy_total(const HopperEnergy *energy)
{
    return (energy->kinetic + energy->gravity) + (energy->leg + energy->ground);
}

// Power of everything that this energy leaves out (W): of the actuators, of the dampers of stop and ground, of
// disturbances and of P.
//     hip = u2 (b' - a'),  thrust = u1 l',  stop = b_stop l'^2,  ground = -F_x x' - max(-b_g z', 0) z'
//     other = F_b v + P_x x_l'
typedef struct HopperPower {
    real hip, thrust, stop, ground, other;
} HopperPower;

HD HopperPower hopper_power(const HopperWorld *world, const HopperAngles *s, const HopperContact *contact,
                            const HopperFoot *foot, const HopperForces *forces, real u1, real u2, real l,
                            const HopperVector *qd)
{
    const HopperParameters *p = &world->p;
    const real zero = splat(0.0);
    HopperPower power;
    power.hip = u2 * (qd->b - qd->a);
    power.thrust = u1 * qd->l;
    power.stop = select_real(contact->stop, p->b_stop * qd->l * qd->l, zero);
    power.ground = -fused(forces->F_x, qd->x, forces->F_z_damper * qd->z);
    power.other = zero;
    if (world->full) {
        // the spring pushes vertically, but its energy changes with the height over the slope
        const real vertical = select_real(contact->ground, p->k_g * foot->height, zero);
        power.ground = fused(vertical, foot->slope * qd->x, power.ground);
        power.other = forces->F_b * hopper_body_speed(p, s, l, qd);
    }
    if (hopper_with(world, HOPPER_WITH_REFERENCE)) {
        const real P_x = -2.0 * p->m_l * p->l_1 * (qd->a * qd->a) * s->sin_a;
        power.other = fused(P_x, fused(p->l_1 * qd->a, s->cos_a, qd->x), power.other);
    }
    return power;
}

HD real hopper_power_total(const HopperPower *power)
{
    return (power->hip + power->thrust) - (power->stop + power->ground) + power->other;
}

#endif
