// A hopper lane from start to end: loads parameters and state, samples, detects failure, stores metrics.
#ifndef HOPSCOTCH_HOPPER_LANE_H
#define HOPSCOTCH_HOPPER_LANE_H

#include "../law.h"
#include "../samples.h"
#include "step.h"

HD void hopper_load_parameters(const LaneGroup *group, HopperParameters *p)
{
#define HOPPER_LOAD(name, ...) p->name = lanes_parameter(group, HOPPER_PARAMETER_##name);
    HOPPER_PARAMETERS(HOPPER_LOAD)
#undef HOPPER_LOAD
    p->inverse_m = 1.0 / p->m;
    p->inverse_m_l = 1.0 / p->m_l;
    p->inverse_J = 1.0 / p->J;
    p->inverse_J_l = 1.0 / p->J_l;
}

// Inputs that the lanes do not have are 0 and never read.
HD void hopper_load_variants(const HopperConstants *c, const LaneGroup *group, HopperParameters *p)
{
#define HOPPER_LOAD(name, ...)                                                                                         \
    p->name = c->row[HOPPER_VARIANT_##name] >= 0 ? lanes_parameter(group, c->row[HOPPER_VARIANT_##name]) : splat(0.0);
    HOPPER_VARIANT_PARAMETERS(HOPPER_LOAD)
#undef HOPPER_LOAD
    p->gust_phase = (c->variants & HOPPER_WITH_GUSTS) != 0 ? hopper_draw_gust_phase(p->lane_seed) : splat(0.0);
}

HD void hopper_load_bounds(const HopperConstants *c, const LaneGroup *group, HopperParameters *p)
{
    p->u1_min = lanes_parameter(group, c->row[HOPPER_VARIANT_u1_min]);
    p->u1_max = lanes_parameter(group, c->row[HOPPER_VARIANT_u1_max]);
    p->u2_min = lanes_parameter(group, c->row[HOPPER_VARIANT_u2_min]);
    p->u2_max = lanes_parameter(group, c->row[HOPPER_VARIANT_u2_max]);
}

HD HopperWorld hopper_world(const Constants *constants, const double *assets, const LaneGroup *group, bool full,
                            bool clocked)
{
    HopperWorld world;
    memcpy(&world.c, constants, sizeof world.c);
    hopper_load_parameters(group, &world.p);
    if (full)
        hopper_load_variants(&world.c, group, &world.p);
    else if (clocked)
        hopper_load_bounds(&world.c, group, &world.p);
    world.assets = assets;
    world.full = full;
    world.clocked = clocked;
    return world;
}

// The lane at t = 0: in flight, with a first guess of the duration of stance.
HD void hopper_begin(const HopperWorld *world, HopperLanes *lanes, HopperSums *sums)
{
    const HopperParameters *p = &world->p;
    memset(&lanes->past, 0, sizeof lanes->past);
    memset(&lanes->machine, 0, sizeof lanes->machine);
    memset(sums, 0, sizeof *sums);
    lanes->q.x = p->x_foot;
    lanes->q.z = p->z_foot;
    lanes->q.a = p->phi_leg;
    lanes->q.b = p->phi_body;
    lanes->q.l = p->len_leg;
    lanes->v.x = p->dx_foot;
    lanes->v.z = p->dz_foot;
    lanes->v.a = p->dphi_leg;
    lanes->v.b = p->dphi_body;
    lanes->v.l = p->dlen_leg;
    lanes->machine.fsm = splat(HOPPER_FLIGHT);
    lanes->machine.T_s = splat(0.425);
    lanes->held.u1 = lanes->held.u2 = splat(0.0);
    if (world->full) lanes->q.z = p->z_foot + hopper_terrain(world, p->x_foot).height;
    const HopperAngles s = hopper_angles(lanes->q.a, lanes->q.b);
    const HopperEnergy energy = hopper_energy(world, &s, &lanes->q, &lanes->v);
    const real height = hopper_foot(world, lanes->q.x, lanes->q.z, lanes->v.x, lanes->v.z).height;
    sums->energy_start = hopper_energy_total(&energy);
    sums->x_body_start = hopper_body_x(p, &s, lanes->q.x, lanes->q.l);
    sums->z_body_start = hopper_body_z(p, &s, lanes->q.z, lanes->q.l);
    sums->penetration = greater_of(-height, splat(0.0));
    if (hopper_with(world, HOPPER_WITH_TERMS)) hopper_terms_begin(&sums->terms, &energy);
}

// Work field <-> member, one list for both directions.
// clang-format off
#define HOPPER_STATE(X) \
    X(x, q.x) X(z, q.z) X(a, q.a) X(b, q.b) X(l, q.l) X(dx, v.x) X(dz, v.z) X(da, v.a) X(db, v.b) X(dl, v.l) \
    X(x0, past.acceleration[0].x) X(z0, past.acceleration[0].z) X(a0, past.acceleration[0].a) X(b0, past.acceleration[0].b) X(l0, past.acceleration[0].l) \
    X(x1, past.acceleration[1].x) X(z1, past.acceleration[1].z) X(a1, past.acceleration[1].a) X(b1, past.acceleration[1].b) X(l1, past.acceleration[1].l) \
    X(x2, past.acceleration[2].x) X(z2, past.acceleration[2].z) X(a2, past.acceleration[2].a) X(b2, past.acceleration[2].b) X(l2, past.acceleration[2].l) \
    X(x3, past.acceleration[3].x) X(z3, past.acceleration[3].z) X(a3, past.acceleration[3].a) X(b3, past.acceleration[3].b) X(l3, past.acceleration[3].l) \
    X(x4, past.acceleration[4].x) X(z4, past.acceleration[4].z) X(a4, past.acceleration[4].a) X(b4, past.acceleration[4].b) X(l4, past.acceleration[4].l) \
    X(fsm, machine.fsm)
// Times of the controller: what lanes with own clocks need not, because their actions are given.
#define HOPPER_TIMES(X) \
    X(T_s, machine.T_s) X(T_compression, machine.T_compression) \
    X(t_thrust_on, machine.t_thrust_on) X(t_transition, machine.t_transition)
// clang-format on

HD void hopper_load_starts(const LaneGroup *group, HopperSums *sums)
{
#define HOPPER_LOAD_SUM(field) sums->field = lanes_work(group, HOPPER_WORK_##field);
    HOPPER_STARTS(HOPPER_LOAD_SUM)
#undef HOPPER_LOAD_SUM
}

// What lanes with own clocks do not have is 0, so that the compiler sees it set.
HD void hopper_load(const HopperWorld *world, const LaneGroup *group, HopperLanes *lanes, HopperSums *sums)
{
#define HOPPER_LOAD(field, member) lanes->member = lanes_work(group, HOPPER_WORK_##field);
#define HOPPER_NO_LOAD(field, member) lanes->member = splat(0.0);
#define HOPPER_LOAD_SUM(field) sums->field = lanes_work(group, HOPPER_WORK_##field);
#define HOPPER_LOAD_TERM(field) sums->terms.field = lanes_work(group, HOPPER_WORK_term_##field);
#define HOPPER_NO_TERM(field) sums->terms.field = splat(0.0);
    HOPPER_STATE(HOPPER_LOAD)
    HOPPER_SUMS(HOPPER_LOAD_SUM)
    hopper_load_starts(group, sums);
    if (world->clocked) {
        HOPPER_TIMES(HOPPER_NO_LOAD)
    } else {
        HOPPER_TIMES(HOPPER_LOAD)
    }
    if (hopper_with(world, HOPPER_WITH_TERMS)) {
        HOPPER_TERM_SUMS(HOPPER_LOAD_TERM)
    } else if (world->clocked) {
        HOPPER_TERM_SUMS(HOPPER_NO_TERM)
    }
    if (hopper_with(world, HOPPER_WITH_LAW)) {
        lanes->held.u1 = lanes_work(group, HOPPER_WORK_held_u1);
        lanes->held.u2 = lanes_work(group, HOPPER_WORK_held_u2);
    } else if (world->clocked) {
        lanes->held.u1 = lanes->held.u2 = splat(0.0);
    }
#undef HOPPER_NO_TERM
#undef HOPPER_LOAD_TERM
#undef HOPPER_LOAD_SUM
#undef HOPPER_NO_LOAD
#undef HOPPER_LOAD
}

// Lanes with own clocks store what they started with when they begin (hopper_store_starts).
HD void hopper_store(const HopperWorld *world, const LaneGroup *group, const HopperLanes *lanes, const HopperSums *sums,
                     mask which)
{
#define HOPPER_STORE(field, member) lanes_set_work(group, HOPPER_WORK_##field, lanes->member, which);
#define HOPPER_STORE_SUM(field) lanes_set_work(group, HOPPER_WORK_##field, sums->field, which);
#define HOPPER_STORE_TERM(field) lanes_set_work(group, HOPPER_WORK_term_##field, sums->terms.field, which);
    HOPPER_STATE(HOPPER_STORE)
    HOPPER_SUMS(HOPPER_STORE_SUM)
    if (!world->clocked) {
        HOPPER_TIMES(HOPPER_STORE)
        HOPPER_STARTS(HOPPER_STORE_SUM)
    }
    if (hopper_with(world, HOPPER_WITH_TERMS)) {
        HOPPER_TERM_SUMS(HOPPER_STORE_TERM)
    }
    if (hopper_with(world, HOPPER_WITH_LAW)) {
        lanes_set_work(group, HOPPER_WORK_held_u1, lanes->held.u1, which);
        lanes_set_work(group, HOPPER_WORK_held_u2, lanes->held.u2, which);
    }
#undef HOPPER_STORE_TERM
#undef HOPPER_STORE_SUM
#undef HOPPER_STORE
}

HD void hopper_store_starts(const LaneGroup *group, const HopperSums *sums, mask which)
{
#define HOPPER_STORE_SUM(field) lanes_set_work(group, HOPPER_WORK_##field, sums->field, which);
    HOPPER_STARTS(HOPPER_STORE_SUM)
#undef HOPPER_STORE_SUM
}

HD void hopper_sample(const LaneGroup *group, const HopperLanes *lanes, const HopperControl *control, real t, bool last,
                      mask which)
{
    const real sample[HOPPER_COLUMNS] = {t,          lanes->q.x,  lanes->q.z,  lanes->q.a,        lanes->q.b,
                                         lanes->q.l, lanes->v.x,  lanes->v.z,  lanes->v.a,        lanes->v.b,
                                         lanes->v.l, control->u1, control->u2, lanes->machine.fsm};
    lanes_sample(group, sample, last, which);
}

// ---- a law ----------------------------------------------------------------------------------------------------------

// What it asks for at t, in the lanes of `which`, for the period with this number. Of the columns that it sees, u1 and
// u2 are those that it asked for before, at first 0; on top of Raibert's control what it added.
HD_CALL HopperAction hopper_obey(const LaneGroup *group, const HopperLanes *lanes, real period, real t, mask which)
{
    const real column[HOPPER_COLUMNS] = {t,          lanes->q.x,     lanes->q.z,     lanes->q.a,        lanes->q.b,
                                         lanes->q.l, lanes->v.x,     lanes->v.z,     lanes->v.a,        lanes->v.b,
                                         lanes->v.l, lanes->held.u1, lanes->held.u2, lanes->machine.fsm};
    HopperAction action;
    for (int c = 0; c < HOPPER_COLUMNS; c++) law_see(group, c, column[c], which);
    law_decide(group, period, which);
    action.u1 = law_gives(group, 0) ? law_output(group, 0) : splat(0.0);
    action.u2 = law_gives(group, 1) ? law_output(group, 1) : splat(0.0);
    return action;
}

// The action for the step after `tick` steps of the slice, `ticks` of each lane: a law decides again when its last one
// was held for a period.
HD HopperAction hopper_asked(const HopperWorld *world, const LaneGroup *group, const HopperAction *given,
                             HopperLanes *lanes, int64_t tick, real ticks, mask which)
{
    if (!hopper_with(world, HOPPER_WITH_LAW)) return world->clocked ? *given : hopper_action(world, tick);
    if (law_is_due(group, tick))
        lanes->held = hopper_obey(group, lanes, law_period_after(group, ticks), ticks * world->c.dt, which);
    return lanes->held;
}

// Failures of a lane in a step: the solve did not converge; it fell; its state is not finite.
typedef struct HopperFailures {
    mask solver, fell, diverged;
} HopperFailures;

HD HopperFailures hopper_failures_of(const HopperLanes *lanes, mask fell, real residual)
{
    const HopperVector *v = &lanes->v;
    // q follows from v: it is finite as long as v is
    const real all = (absolute(v->x) + absolute(v->z)) + (absolute(v->a) + absolute(v->b)) + absolute(v->l);
    HopperFailures failures;
    failures.solver = MASK(value_of(residual) > 1e-9);
    failures.diverged = ~is_finite(all);
    failures.fell = fell;
    return failures;
}

HD mask hopper_failed(const HopperFailures *failures) { return failures->solver | failures->diverged | failures->fell; }

// The failure code of each lane (HOPPER_NONE...); of several failures the most severe.
HD real hopper_failure(const HopperFailures *failures)
{
    const real fell = select_real(failures->fell, splat(HOPPER_FELL), splat(HOPPER_NONE));
    return select_real(failures->diverged, splat(HOPPER_DIVERGED),
                       select_real(failures->solver, splat(HOPPER_SOLVER), fell));
}

// Ends the lanes of `which`: stores metrics and status. `settled` and `survived` as for hopper_metrics.
HD void hopper_end(const HopperWorld *world, const LaneGroup *group, const HopperLanes *lanes, const HopperSums *sums,
                   const HopperAngles *s, real settled, real survived, real failure, mask which)
{
    const int count = hopper_with(world, HOPPER_WITH_TERMS) ? HOPPER_N_ALL_METRICS : HOPPER_N_METRICS;
    real metric[HOPPER_N_ALL_METRICS];
    HopperSums all = *sums;
    if (world->clocked) hopper_load_starts(group, &all); // here, so that no register holds them over the steps
    hopper_metrics(world, &all, s, &lanes->q, &lanes->v, settled, survived, metric);
    for (int m = 0; m < count; m++) lanes_set_metric(group, m, metric[m], which);
    lanes_end(group, failure, which);
}

// The same, and stores the state.
HD void hopper_finish(const HopperWorld *world, const LaneGroup *group, const HopperLanes *lanes,
                      const HopperSums *sums, const HopperAngles *s, real settled, real survived, real failure,
                      mask which)
{
    hopper_end(world, group, lanes, sums, s, settled, survived, failure, which);
    hopper_store(world, group, lanes, sums, which);
}

#endif
