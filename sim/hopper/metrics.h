// Sums that a hopper's metrics are computed from, and the metrics at the end of its life.
//
// In the letters of dynamics.h and control.h; a mean is over the steps, or the time, after settle:
//     velocity_error    = sqrt(mean (v - x_dot_des)^2),  mean_speed = mean v,  attitude_rms = sqrt(mean b^2)
//     energy            = integral of |u2 (b' - a')| + |u1 l'|
//     cost_of_transport = energy/((m + m_l) g |distance|)
//     peak_ground_force = max |(F_x, F_z)|
//     energy_drift      = change of HopperEnergy - integral of HopperPower
#ifndef HOPSCOTCH_HOPPER_METRICS_H
#define HOPSCOTCH_HOPPER_METRICS_H

#include "control.h"

// Sums of terms (J); only with `accounting: parts`.
typedef struct HopperTerms {
#define HOPPER_MEMBER(name) real name;
    HOPPER_TERM_SUMS(HOPPER_MEMBER)
#undef HOPPER_MEMBER
} HopperTerms;

typedef struct HopperSums {
#define HOPPER_MEMBER(name) real name;
    HOPPER_SUMS(HOPPER_MEMBER)
    HOPPER_STARTS(HOPPER_MEMBER)
#undef HOPPER_MEMBER
    HopperTerms terms;
} HopperSums;

// Results of a step for the sums: averages of the powers over the step, and the greatest force on the foot.
typedef struct HopperStep {
    HopperPower power; // only with `accounting: parts`
    real work;         // W, total of the above
    real effort;       // W, |hip| + |thrust|
    real foot_force2;  // N^2
    real residual;     // of the implicit solve; 0 for explicit steps
} HopperStep;

// The same from the values at one instant.
HD HopperStep hopper_step_of(const HopperPower *power, const HopperForces *forces, real residual)
{
    HopperStep step;
    step.power = *power;
    step.work = hopper_power_total(power);
    step.effort = absolute(power->hip) + absolute(power->thrust);
    step.foot_force2 = fused(forces->F_x, forces->F_x, forces->F_z * forces->F_z);
    step.residual = residual;
    return step;
}

HD HopperStep hopper_step_select(const HopperWorld *world, mask m, const HopperStep *a, const HopperStep *b)
{
    HopperStep chosen = *a;
    if (hopper_with(world, HOPPER_WITH_TERMS)) {
        chosen.power.hip = select_real(m, a->power.hip, b->power.hip);
        chosen.power.thrust = select_real(m, a->power.thrust, b->power.thrust);
        chosen.power.stop = select_real(m, a->power.stop, b->power.stop);
        chosen.power.ground = select_real(m, a->power.ground, b->power.ground);
        chosen.power.other = select_real(m, a->power.other, b->power.other);
    }
    chosen.work = select_real(m, a->work, b->work);
    chosen.effort = select_real(m, a->effort, b->effort);
    chosen.foot_force2 = select_real(m, a->foot_force2, b->foot_force2);
    chosen.residual = select_real(m, a->residual, b->residual);
    return chosen;
}

HD void hopper_terms_begin(HopperTerms *terms, const HopperEnergy *energy)
{
    terms->kinetic_start = energy->kinetic;
    terms->gravity_start = energy->gravity;
    terms->leg_start = energy->leg;
    terms->ground_start = energy->ground;
}

HD void hopper_terms_sum(HopperTerms *terms, const HopperPower *power, real dt)
{
    terms->stop = fused(power->stop, dt, terms->stop);
    terms->ground = fused(power->ground, dt, terms->ground);
    terms->hip = fused(power->hip, dt, terms->hip);
    terms->thrust = fused(power->thrust, dt, terms->thrust);
    terms->other = fused(power->other, dt, terms->other);
}

// metric[HOPPER_N_ALL_METRICS]
HD void hopper_terms_metrics(const HopperTerms *terms, const HopperEnergy *energy, real *metric)
{
    metric[HOPPER_METRIC_change_kinetic] = energy->kinetic - terms->kinetic_start;
    metric[HOPPER_METRIC_change_gravity] = energy->gravity - terms->gravity_start;
    metric[HOPPER_METRIC_change_leg] = energy->leg - terms->leg_start;
    metric[HOPPER_METRIC_change_ground] = energy->ground - terms->ground_start;
    metric[HOPPER_METRIC_dissipated_stop] = terms->stop;
    metric[HOPPER_METRIC_dissipated_ground] = terms->ground;
    metric[HOPPER_METRIC_work_hip] = terms->hip;
    metric[HOPPER_METRIC_work_thrust] = terms->thrust;
    metric[HOPPER_METRIC_work_disturbance] = terms->other;
}

// Adds a step of dt (s) that ended in q, with the body's speed v and the given transitions. settled: lanes past settle;
// without own clocks all or none.
HD void hopper_sum(const HopperWorld *world, HopperSums *sums, const HopperAngles *s, const HopperVector *q,
                   const HopperMachine *machine, const HopperTransitions *edge, const HopperStep *step, real v,
                   real height, real dt, mask settled)
{
    if (any_lane(settled)) {
        const mask which = world->clocked ? settled : all_lanes();
        const real error = v - world->p.x_dot_des;
        sums->sum_speed_error2 =
            select_real(which, fused(error, error, sums->sum_speed_error2), sums->sum_speed_error2);
        sums->sum_speed = select_real(which, sums->sum_speed + v, sums->sum_speed);
        sums->sum_attitude2 = select_real(which, fused(q->b, q->b, sums->sum_attitude2), sums->sum_attitude2);
    }
    sums->energy = fused(step->effort, dt, sums->energy);
    sums->work = fused(step->work, dt, sums->work);
    if (hopper_with(world, HOPPER_WITH_TERMS)) hopper_terms_sum(&sums->terms, &step->power, dt);
    sums->peak_force2 = greater_of(step->foot_force2, sums->peak_force2);
    sums->penetration = greater_of(-height, sums->penetration);
    sums->residual = greater_of(step->residual, sums->residual);

    // the greatest height of each flight after a lift-off
    const mask hopped = MASK(value_of(sums->hops) > 0.0);
    const real rise = hopper_body_z(&world->p, s, q->z, q->l) - sums->z_body_start; // of z_b
    if (any_lane(edge->touchdown | edge->lift_off)) {
        const mask landed = edge->touchdown & hopped;
        sums->sum_apex = select_real(landed, sums->sum_apex + sums->apex, sums->sum_apex);
        sums->sum_apex2 = select_real(landed, fused(sums->apex, sums->apex, sums->sum_apex2), sums->sum_apex2);
        sums->flights = select_real(landed, sums->flights + 1.0, sums->flights);
        sums->apex = select_real(edge->lift_off, rise, sums->apex);
        sums->hops = select_real(edge->lift_off, sums->hops + 1.0, sums->hops);
    }
    sums->apex = select_real(hopper_flying(machine) & hopped, greater_of(rise, sums->apex), sums->apex);
}

// The metrics of a lane that ended at `survived` (s) in q, qd. metric[HOPPER_N_ALL_METRICS]. settled: number of steps,
// or seconds, in the settled sums; not positive if the lane ended before.
HD void hopper_metrics(const HopperWorld *world, const HopperSums *sums, const HopperAngles *s, const HopperVector *q,
                       const HopperVector *qd, real settled, real survived, real *metric)
{
    const HopperParameters *p = &world->p;
    const HopperEnergy energy = hopper_energy(world, s, q, qd);
    const real missing = math_nan();
    const real over = select_real(MASK(value_of(settled) > 0.0), settled, missing);
    const real distance = hopper_body_x(p, s, q->x, q->l) - sums->x_body_start;
    const real travel = absolute(distance), weight = (p->m + p->m_l) * p->g;
    const real mean_apex = sums->sum_apex / sums->flights;
    const real variance = (sums->sum_apex2 - sums->sum_apex * mean_apex) / sums->flights;
    const real endless = math_infinity();

    metric[HOPPER_METRIC_velocity_error] = square_root(sums->sum_speed_error2 / over);
    metric[HOPPER_METRIC_mean_speed] = sums->sum_speed / over;
    metric[HOPPER_METRIC_distance] = distance;
    metric[HOPPER_METRIC_hop_count] = sums->hops;
    metric[HOPPER_METRIC_apex_mean] = mean_apex + sums->z_body_start;
    metric[HOPPER_METRIC_apex_std] = square_root(select_real(MASK(value_of(variance) < 0.0), splat(0.0), variance));
    metric[HOPPER_METRIC_attitude_rms] = square_root(sums->sum_attitude2 / over);
    metric[HOPPER_METRIC_energy] = sums->energy;
    metric[HOPPER_METRIC_cost_of_transport] =
        select_real(MASK(value_of(weight) > 0.0) & MASK(value_of(travel) >= 1e-3), sums->energy / (weight * travel),
                    select_real(MASK(value_of(travel) == value_of(travel)), endless, missing));
    metric[HOPPER_METRIC_peak_ground_force] = square_root(sums->peak_force2);
    metric[HOPPER_METRIC_max_penetration] = sums->penetration;
    metric[HOPPER_METRIC_energy_drift] = hopper_energy_total(&energy) - sums->energy_start - sums->work;
    metric[HOPPER_METRIC_survived] = survived;
    metric[HOPPER_METRIC_newton_max_residual] = sums->residual;
    if (hopper_with(world, HOPPER_WITH_TERMS)) hopper_terms_metrics(&sums->terms, &energy, metric);
}

#endif
