// Raibert's three-part control and its state machine COMPRESSION -> THRUST -> FLIGHT -> COMPRESSION.
#ifndef HOPSCOTCH_HOPPER_CONTROL_H
#define HOPSCOTCH_HOPPER_CONTROL_H

#include "dynamics.h"

// What the controller remembers: fsm, the estimated duration of stance T_s, that of the last compression, when the last
// thrust began and when the last transition was (s).
typedef struct HopperMachine {
    real fsm, T_s, T_compression, t_thrust_on, t_transition;
} HopperMachine;

typedef struct HopperControl {
    real u1, u2; // N along the leg; N m on the body
} HopperControl;

// The switches of the control law: what is on depends on the side of a threshold.
typedef struct HopperSwitches {
    mask thrusting; // in THRUST, and not for too long
    mask placing;   // in flight and high enough: the hip places the foot
} HopperSwitches;

HD HopperSwitches hopper_switches(const HopperParameters *p, const HopperMachine *machine, real height, real t)
{
    HopperSwitches on;
    on.thrusting = MASK(machine->fsm == HOPPER_THRUST) & MASK(t - machine->t_thrust_on <= p->T_max_thrust);
    on.placing = MASK(machine->fsm == HOPPER_FLIGHT) & MASK(height > p->z_low);
    return on;
}

// Control with the given switches. body_speed: v of the body's centre of mass (m/s).
HD HopperControl hopper_control(const HopperWorld *world, const HopperMachine *machine, const HopperSwitches *on,
                                const HopperVector *q, const HopperVector *v, real body_speed)
{
    const HopperParameters *p = &world->p;
    const real zero = splat(0.0);
    const mask flight = MASK(machine->fsm == HOPPER_FLIGHT);
    HopperControl control;
    control.u1 = select_real(on->thrusting, p->thrust, zero);
    control.u2 = -fused(p->k_att, q->b - 0.5 * q->a, p->b_att * v->b); // stance: the hip levels the body
    if (any_lane(flight)) {                                            // flight: the hip places the foot
        const real offset = fused(0.5 * body_speed, machine->T_s, p->k_xdot * (body_speed - p->x_dot_des));
        const real a_des = -arc_sine(clamped(offset / q->l, splat(-1.0), splat(1.0)));
        const real placing = fused(p->k_fp, q->a - a_des, p->b_fp * v->a);
        control.u2 = select_real(flight, select_real(on->placing, placing, zero), control.u2);
    }
    return control;
}

typedef struct HopperTransitions {
    mask touchdown, bottom, lift_off; // FLIGHT -> COMPRESSION -> THRUST -> FLIGHT
} HopperTransitions;

// The machine takes the given edges at time t.
HD void hopper_follow(HopperMachine *machine, const HopperTransitions *edge, real t)
{
    const mask any = edge->touchdown | edge->bottom | edge->lift_off;
    if (!any_lane(any)) return;
    machine->T_compression = select_real(edge->bottom, t - machine->t_transition, machine->T_compression);
    machine->T_s = select_real(edge->lift_off, (t - machine->t_thrust_on) + machine->T_compression, machine->T_s);
    machine->t_thrust_on = select_real(edge->bottom, t, machine->t_thrust_on);
    machine->t_transition = select_real(any, t, machine->t_transition);
    machine->fsm = select_real(edge->touchdown, splat(HOPPER_COMPRESSION), machine->fsm);
    machine->fsm = select_real(edge->bottom, splat(HOPPER_THRUST), machine->fsm);
    machine->fsm = select_real(edge->lift_off, splat(HOPPER_FLIGHT), machine->fsm);
}

// What the transitions look at, before and after a step.
typedef struct HopperEdge {
    real height, l, dl; // of the foot over the ground (m); leg length and its rate
} HopperEdge;

// After a step from one place to another that ends at time t. Transitions are edges, not levels: at many lift-offs the
// foot is still below ground, and a level test would chatter through all three states. At most one a step.
HD HopperTransitions hopper_transitions(const HopperWorld *world, HopperMachine *machine, const HopperEdge *before,
                                        const HopperEdge *after, real t)
{
    const real slack = world->p.r_s0 + 1e-4;
    HopperTransitions edge;
    edge.touchdown = MASK(machine->fsm == HOPPER_FLIGHT) & MASK(before->height >= 0.0) & MASK(after->height < 0.0);
    edge.bottom = MASK(machine->fsm == HOPPER_COMPRESSION) & MASK(before->dl < 0.0) & MASK(after->dl >= 0.0);
    edge.lift_off = MASK(machine->fsm == HOPPER_THRUST) & MASK(before->l <= slack) & MASK(after->l > slack);
    hopper_follow(machine, &edge, t);
    return edge;
}

#endif
