// A step with stabilised constraints: J a = -s J' v - c J v - k C at the old state, then v += a dt, p += v dt with the
// new v, and the turn by the new w.
// Sources: J. Baumgarte, CMAME 1, 1972; E. Catto, Soft constraints, GDC 2011 (form soft).
#ifndef HOPSCOTCH_RIGID_STEP_H
#define HOPSCOTCH_RIGID_STEP_H

#include "forces.h"
#include "solve.h"

// s, c and k of a form. Form soft also gives the fraction of the diagonal that is added to it, and acts on |d| - L.
typedef struct RigidGains {
    real s, c, k, soft;
    mask normal; // rows are divided by |d|
} RigidGains;

HD RigidGains rigid_soft_gains(const RigidLanes *w)
{
    const real omega = 6.283185307179586 * w->frequency;
    const real a1 = fused(omega, w->dt, 2.0 * w->damping_ratio);
    RigidGains gains;
    gains.s = splat(0.0);
    gains.c = 1.0 / w->dt;
    gains.k = omega / (a1 * w->dt);
    gains.soft = 1.0 / (w->dt * omega * a1);
    gains.normal = all_lanes();
    return gains;
}

HD RigidGains rigid_gains_of(const RigidLanes *w, int form)
{
    const real unit = w->c.per_dt ? 1.0 / w->dt : splat(1.0);
    RigidGains gains;
    gains.soft = splat(w->c.cfm);
    gains.normal = no_lanes();
    gains.s = splat(1.0);
    switch (form) {
    case RIGID_ORIGINAL:
    case RIGID_ORIGINAL_WITH_BIAS:
        gains.s = splat(form == RIGID_ORIGINAL ? 0.0 : 1.0);
        gains.c = w->c.per_dt ? w->beta * unit : 1.0 + w->beta;
        gains.k = w->alpha * unit * unit;
        return gains;
    case RIGID_VELOCITY:
        gains.s = splat(0.0);
        gains.c = 1.0 / w->dt;
        gains.k = w->gamma / (w->dt * w->dt);
        return gains;
    case RIGID_SOFT: return rigid_soft_gains(w);
    default:
        gains.c = 2.0 * w->alpha * unit;
        gains.k = w->beta * w->beta * unit * unit;
        return gains;
    }
}

HD RigidGains rigid_gains(const RigidLanes *w)
{
    if (w->c.form != RIGID_SEARCHED) return rigid_gains_of(w, w->c.form);
    const real form = lanes_parameter(w->group, RIGID_PARAMETER_form);
    RigidGains gains = rigid_gains_of(w, RIGID_BAUMGARTE);
    for (int f = RIGID_ORIGINAL; f <= RIGID_SOFT; f++) {
        const RigidGains other = rigid_gains_of(w, f);
        const mask own = MASK(value_of(form) > f - 0.5);
        gains.s = select_real(own, other.s, gains.s);
        gains.c = select_real(own, other.c, gains.c);
        gains.k = select_real(own, other.k, gains.k);
        gains.soft = select_real(own, other.soft, gains.soft);
        gains.normal = (own & other.normal) | (~own & gains.normal);
    }
    return gains;
}

// Divides rows of distances by |d|, for form soft, which acts on |d| - L.
HD void rigid_normalise(const RigidLanes *restrict w, int at, mask which)
{
    const real length = cell(w, at + RIGID_ROW_LENGTH), one = splat(1.0);
    const real inverse = select_real(which, 1.0 / length, one);
    for (int k = 0; k < 12; k++) set_cell(w, at + RIGID_ROW_J + k, cell(w, at + RIGID_ROW_J + k) * inverse);
    set_cell(w, at + RIGID_ROW_JV, cell(w, at + RIGID_ROW_JV) * inverse);
    set_cell(w, at + RIGID_ROW_C, select_real(which, cell(w, at + RIGID_ROW_STRETCH), cell(w, at + RIGID_ROW_C)));
    set_cell(w, at + RIGID_ROW_LENGTH, select_real(which, one, length));
}

HD void rigid_stabilise(const RigidLanes *restrict w, const RigidGains *gains)
{
    const bool normal = any_lane(gains->normal), regular = normal || w->c.cfm > 0.0;
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        if (normal) rigid_normalise(w, at, gains->normal);
        const real velocity = gains->c * cell(w, at + RIGID_ROW_JV), position = gains->k * cell(w, at + RIGID_ROW_C);
        set_cell(w, at + RIGID_ROW_RHS, -(gains->s * cell(w, at + RIGID_ROW_BIAS)) - velocity - position);
        set_cell(w, at + RIGID_ROW_SOFT, regular ? gains->soft * rigid_row_compliance(w, k) : splat(0.0));
    }
    rigid_wait(w);
}

// v += a s, w += a s
HD void rigid_kick_body(const RigidLanes *restrict w, int body, real s)
{
    const int at = rigid_body_at(w, body) + RIGID_BODY_A, to = rigid_state_at(w, body) + 7;
    for (int c = 0; c < 6; c++) update_cell(w, to + c, fused(s, cell(w, at + c), cell(w, to + c)));
}

HD void rigid_drift_body(const RigidLanes *restrict w, int body)
{
    const Quaternion q = rigid_q(w, body);
    const Vector3 spin = rigid_w(w, body);
    update_cell3(w, rigid_state_at(w, body), along(rigid_p(w, body), w->dt, rigid_v(w, body)));
    rigid_set_q(w, body, w->c.map == RIGID_CAYLEY ? turned_cayley(q, spin, w->dt) : turned_exponential(q, spin, w->dt));
}

// Ends a step with the accelerations that were solved for. One thread does all of a body.
HD_CALL void rigid_move(const RigidLanes *restrict w)
{
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        rigid_kick_body(w, w->order[b], w->dt);
        rigid_drift_body(w, w->order[b]);
        rigid_masses_of(w, w->order[b]);
    }
    rigid_wait(w);
}

// A step up to the accelerations, with the masses of the state. Returns the number of rows without a pivot.
HD real rigid_step_stabilised(const RigidLanes *restrict w, const RigidGains *gains, real t)
{
    rigid_assemble(w, true);
    rigid_latch(w, t);
    rigid_forces(w, t, true);
    rigid_stabilise(w, gains);
    const real dropped = rigid_factor_all(w);
    rigid_solve(w);
    return dropped;
}

#endif
