// Raibert's three-part control and its state machine COMPRESSION -> THRUST -> FLIGHT -> COMPRESSION. With four states
// the flight has two phases: in AIR_PREPARE the leg is short and swings to its angle at touchdown; in SPEED_MATCH it
// extends again, and the hip matches the foot's speed to the ground.
//
// In the letters of dynamics.h, with v the horizontal velocity of the body's centre of mass (hopper_body_speed):
//     stance: u2    = -k_att (b - a/2) - b_att b'
//             u1    = thrust in THRUST, while t - t_thrust_on <= T_max_thrust, otherwise 0
//     flight: a_des = -asin(clamp((v T_s/2 + k_xdot (v - x_dot_des))/l, -1, 1))
//             u2    = k_fp (a - a_des) + b_fp a' if z > z_low, otherwise 0
//             u1    = 0
// and with four states:
//     AIR_PREPARE: u2 as in flight,    u1 = -k_l retract - b_retract l'
//     SPEED_MATCH: u2 = -k_match x',   u1 = 0
// With external control u1 and u2 are actions within bounds. The machine goes on: metrics count hops by it. What a law
// adds to Raibert's control is within the same bounds.
#ifndef HOPSCOTCH_HOPPER_CONTROL_H
#define HOPSCOTCH_HOPPER_CONTROL_H

#include "dynamics.h"

// The controller's memory: fsm, the estimated duration of stance T_s, that of the last compression, the start of the
// last thrust and the last transition (s).
typedef struct HopperMachine {
    real fsm, T_s, T_compression, t_thrust_on, t_transition;
} HopperMachine;

// Inputs to the equations of motion. Fixed steps keep them constant; adaptive steps evaluate them at every stage.
typedef struct HopperControl {
    real u1, u2; // N along the leg; N m on the body
    real push;   // N on the body, by disturbance.h
    real t;      // s: the time, for the wind
} HopperControl;

HD mask hopper_in(const HopperMachine *machine, int state) { return MASK(value_of(machine->fsm) == state); }
HD mask hopper_flying(const HopperMachine *machine) { return MASK(value_of(machine->fsm) >= HOPPER_FLIGHT); }

// Switches of the control law: each is on or off, depending on a threshold.
typedef struct HopperSwitches {
    mask thrusting; // in THRUST, within T_max_thrust
    mask placing;   // in flight and high enough: the hip places the foot
} HopperSwitches;

HD HopperSwitches hopper_switches(const HopperParameters *p, const HopperMachine *machine, real height, real t)
{
    HopperSwitches on;
    on.thrusting =
        hopper_in(machine, HOPPER_THRUST) & MASK(value_of(t - machine->t_thrust_on) <= value_of(p->T_max_thrust));
    on.placing = hopper_in(machine, HOPPER_FLIGHT) & MASK(value_of(height) > value_of(p->z_low));
    return on;
}

// The control law with the given switches.
HD HopperControl hopper_control(const HopperWorld *world, const HopperMachine *machine, const HopperSwitches *on,
                                const HopperVector *q, const HopperVector *qd, real v)
{
    const HopperParameters *p = &world->p;
    const real zero = splat(0.0);
    const mask flight = hopper_in(machine, HOPPER_FLIGHT);
    HopperControl control;
    control.u1 = select_real(on->thrusting, p->thrust, zero);
    control.u2 = -fused(p->k_att, fused(splat(-0.5), q->a, q->b), p->b_att * qd->b); // the hip levels the body
    if (any_lane(flight)) { // the foot is placed ahead of the hip, by v T_s/2 + k_xdot (v - x_dot_des)
        const real v_factor = fused(splat(0.5), machine->T_s, p->k_xdot);
        const real ahead = fused(v, v_factor, -p->k_xdot * p->x_dot_des);
        const real a_des = -arc_sine_limited(ahead * (1.0 / q->l));
        const real placing = fused(-p->k_fp, a_des, fused(p->k_fp, q->a, p->b_fp * qd->a));
        control.u2 = select_real(flight, select_real(on->placing, placing, zero), control.u2);
    }
    if (hopper_with(world, HOPPER_WITH_FOUR_STATES)) { // FLIGHT is AIR_PREPARE
        const mask matching = hopper_in(machine, HOPPER_SPEED_MATCH);
        control.u1 = select_real(flight, -fused(p->k_l, p->retract, p->b_retract * qd->l), control.u1);
        control.u2 = select_real(matching, -p->k_match * qd->x, control.u2);
    }
    control.push = zero;
    control.t = zero;
    return control;
}

// What external control asks for: N along the leg, N m on the body. Held over a control period.
typedef struct HopperAction {
    real u1, u2;
} HopperAction;

// The row of the table of actions for a step; the last one holds on.
HD HopperAction hopper_action(const HopperWorld *world, int64_t tick)
{
    HopperAction action;
    action.u1 = action.u2 = splat(0.0);
    if (world->clocked || !hopper_with(world, HOPPER_WITH_EXTERNAL)) return action;
    const int64_t row = tick / world->c.held, last = world->c.n_actions - 1;
    const double *of_table = world->assets + world->c.actions + 2 * (row < last ? row : last);
    action.u1 = splat(of_table[0]);
    action.u2 = splat(of_table[1]);
    return action;
}

// Puts the action, within its bounds, in place of Raibert's control, or adds it. NaN is the lower bound.
HD void hopper_act(const HopperWorld *world, const HopperAction *action, HopperControl *control)
{
    const HopperParameters *p = &world->p;
    if (!hopper_acts(world)) return;
    const real u1 = clamped(action->u1, p->u1_min, p->u1_max), u2 = clamped(action->u2, p->u2_min, p->u2_max);
    const bool adds = hopper_with(world, HOPPER_WITH_ADDED);
    control->u1 = adds ? control->u1 + u1 : u1;
    control->u2 = adds ? control->u2 + u2 : u2;
}

// How far the hopper is beyond what counts as upright (m, rad); positive: it fell. The greatest of: the body's turn
// over a right angle, l_1 + 0.05 m over the leg's length, 0.3 m over the height of the body's centre above the ground.
HD real hopper_fallen(const HopperWorld *world, const HopperAngles *s, const HopperVector *q)
{
    const HopperParameters *p = &world->p;
    const real x = hopper_body_x(p, s, q->x, q->l), z = hopper_body_z(p, s, q->z, q->l), zero = splat(0.0);
    const real low = 0.3 - hopper_foot(world, x, z, zero, zero).height;
    return greater_of(greater_of(absolute(q->b) - 1.5707963267948966, (p->l_1 + 0.05) - q->l), low);
}

typedef struct HopperTransitions {
    mask touchdown, bottom, lift_off; // FLIGHT -> COMPRESSION -> THRUST -> FLIGHT
    mask match;                       // AIR_PREPARE -> SPEED_MATCH
} HopperTransitions;

// Changes the machine's state by the given edges at time t.
HD void hopper_follow(HopperMachine *machine, const HopperTransitions *edge, real t)
{
    const mask any = edge->touchdown | edge->bottom | edge->lift_off | edge->match;
    if (!any_lane(any)) return;
    machine->T_compression = select_real(edge->bottom, t - machine->t_transition, machine->T_compression);
    machine->T_s = select_real(edge->lift_off, (t - machine->t_thrust_on) + machine->T_compression, machine->T_s);
    machine->t_thrust_on = select_real(edge->bottom, t, machine->t_thrust_on);
    machine->t_transition = select_real(any, t, machine->t_transition);
    machine->fsm = select_real(edge->touchdown, splat(HOPPER_COMPRESSION), machine->fsm);
    machine->fsm = select_real(edge->bottom, splat(HOPPER_THRUST), machine->fsm);
    machine->fsm = select_real(edge->lift_off, splat(HOPPER_FLIGHT), machine->fsm);
    machine->fsm = select_real(edge->match, splat(HOPPER_SPEED_MATCH), machine->fsm);
}

// Quantities before and after a step by which transitions are found.
typedef struct HopperEdge {
    real height, l, dl; // of the foot over the ground (m); leg length and its rate
    real landing;       // hopper_landing (m); only with four states
} HopperEdge;

// Predicted height of the foot over the ground (m) in t_match, if the hip falls freely and the leg has its rest length
// and keeps its angle. Negative: touchdown is nearer than t_match.
//     height + z_h' t_match - g t_match^2/2,  z_h' = z' - l a' sin a + l' cos a of the hip
HD real hopper_landing(const HopperWorld *world, const HopperAngles *s, const HopperVector *q, const HopperVector *qd)
{
    const HopperParameters *p = &world->p;
    const real out = q->l - p->r_s0, zero = splat(0.0);
    const real height = hopper_foot(world, fused(out, s->sin_a, q->x), fused(out, s->cos_a, q->z), zero, zero).height;
    const real dz_h = fused(qd->l, s->cos_a, fused(-q->l * qd->a, s->sin_a, qd->z));
    return fused(p->t_match, fused(-0.5 * p->g, p->t_match, dz_h), height);
}

// Transitions of a step that ends at time t, from the quantities before and after it. They are edges, not levels: at
// many lift-offs the foot is still below ground, and a level test would chatter through all three states. At most one
// transition per step.
HD HopperTransitions hopper_transitions(const HopperWorld *world, HopperMachine *machine, const HopperEdge *before,
                                        const HopperEdge *after, real t)
{
    const real slack = world->p.r_s0 + 1e-4;
    HopperTransitions edge;
    edge.touchdown =
        hopper_flying(machine) & MASK(value_of(before->height) >= 0.0) & MASK(value_of(after->height) < 0.0);
    edge.bottom =
        hopper_in(machine, HOPPER_COMPRESSION) & MASK(value_of(before->dl) < 0.0) & MASK(value_of(after->dl) >= 0.0);
    edge.lift_off = hopper_in(machine, HOPPER_THRUST) & MASK(value_of(before->l) <= value_of(slack)) &
                    MASK(value_of(after->l) > value_of(slack));
    edge.match = no_lanes();
    if (hopper_with(world, HOPPER_WITH_FOUR_STATES)) {
        const mask prepared = hopper_in(machine, HOPPER_FLIGHT) & ~edge.touchdown;
        edge.match = prepared & MASK(value_of(before->landing) >= 0.0) & MASK(value_of(after->landing) < 0.0);
    }
    hopper_follow(machine, &edge, t);
    return edge;
}

#endif
