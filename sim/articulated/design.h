// The lane's own robot: numbers that its inputs set, and designs that change bodies' shapes. Computed once, when the
// lane begins; a body with no such input has the numbers of the file.
#ifndef HOPSCOTCH_ARTICULATED_DESIGN_H
#define HOPSCOTCH_ARTICULATED_DESIGN_H

#include "memory.h"

HD Quaternion quaternion_about(Vector3 axis, real angle)
{
    Quaternion q;
    real sine, cosine;
    sine_cosine(0.5 * angle, &sine, &cosine);
    q.x = sine * axis.x;
    q.y = sine * axis.y;
    q.z = sine * axis.z;
    q.w = cosine;
    return q;
}

HD void design_times(const ArticulatedLanes *w, int body, int number, real factor)
{
    const int at = w->bodies[body].own + number;
    set_limb(w, at, limb(w, at) * factor);
}

// The frame turned about its axis k, in the parent's axes, before the file's rotation.
HD void design_rotate(const ArticulatedLanes *w, const ArticulatedDesign *design, real angle)
{
    const int k = design->axis;
    const Vector3 axis = vector3(splat(k == 0), splat(k == 1), splat(k == 2));
    const Quaternion turn = quaternion_about(axis, design->sign * angle);
    set_limb4(w, w->bodies[design->body].own + ARTICULATED_rest_x, quaternion_times(turn, body_rest(w, design->body)));
}

// Everything along the body's axes by s: its mass by s, its inertia by s^3.
HD void design_length(const ArticulatedLanes *w, int body, real s)
{
    design_times(w, body, ARTICULATED_mass, s);
    for (int k = 0; k < 6; k++) design_times(w, body, ARTICULATED_xx + k, s * s * s);
    for (int k = 0; k < 3; k++) design_times(w, body, ARTICULATED_anchor_x + k, s);
    design_times(w, body, ARTICULATED_scale, s);
}

HD void design_apply(const ArticulatedLanes *w, const ArticulatedDesign *design)
{
    const real s = lanes_parameter(w->group, design->parameter);
    if (design->kind == ARTICULATED_ROTATE) design_rotate(w, design, s);
    if (design->kind == ARTICULATED_LENGTH) design_length(w, design->body, s);
    for (int k = 0; k < 7 && design->kind == ARTICULATED_WEIGHT; k++)
        design_times(w, design->body, ARTICULATED_mass + k, s);
    for (int k = 0; k < 2 && design->kind == ARTICULATED_GAIN; k++)
        design_times(w, design->body, ARTICULATED_kp + k, s);
}

// Where the joint stands on the parent: its frame's position, by the parent's length, and its pivot in the turned
// frame.
HD void design_seat(const ArticulatedLanes *w, int body)
{
    const ArticulatedBody *of = &w->bodies[body];
    const real scale = of->parent >= 0 ? body_number(w, of->parent, ARTICULATED_scale) : splat(1.0);
    const Rotation rest = rotation_of(body_rest(w, body));
    const Vector3 seat = scaled(scale, vector3_of(of->seat));
    set_limb3(w, of->own + ARTICULATED_seat_x, added(seat, rotation_out(&rest, vector3_of(of->pivot))));
}

HD void articulated_own(const ArticulatedLanes *w)
{
    for (int i = 0; i < w->c.n_bodies; i++) {
        const ArticulatedBody *body = &w->bodies[i];
        for (int k = 0; k < ARTICULATED_N_NUMBERS && body->own >= 0; k++)
            set_limb(w, body->own + k, splat(body->number[k]));
    }
    for (int i = 0; i < w->c.n_inputs; i++) {
        const ArticulatedInput *input = &w->inputs[i];
        set_limb(w, w->bodies[input->body].own + input->number,
                 lanes_parameter(w->group, input->parameter) + input->add);
    }
    for (int i = 0; i < w->c.n_designs; i++) design_apply(w, &w->designs[i]);
    for (int i = 0; i < w->c.n_bodies && w->c.n_designs > 0; i++) {
        if (w->bodies[i].own >= 0) design_seat(w, i);
    }
}

#endif
