// The springs of anchored friction, in reverse (contact.h). With the stretch s along the ground before the step:
//     t = k s + R v_t,  R = h k + d,  c = min(1, mu f_n/|t|),  K_t = c h R,  f_t = -h c k s
//     afterwards  m = s0 + h (v' + w' x r),  s' = p (m - (m.n) n),  p = min(1, mu f_n/(k |m - (m.n) n|))
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_GRIP_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_GRIP_H

#include "../contact.h"
#include "memory.h"

// What friction adds to a point's rows: across the normal, K_t and the impulse f_t.
typedef struct ArticulatedFriction {
    real K;
    Vector3 f;
} ArticulatedFriction;

// Bars of what it depends on: f_n; the velocity along the ground, slid times itself and, of a spring, `across`; normal;
// arm.
typedef struct ArticulatedFrictionBar {
    real force, slid;
    Vector3 across, n, r;
} ArticulatedFrictionBar;

// Of the point's spring; 0: viscous friction.
HD int grip_cell(const ArticulatedLanes *w, int point) { return w->c.grips > 0 ? w->c.grips + 3 * point : 0; }

HD ArticulatedFriction grip_friction(const ArticulatedLanes *w, const ArticulatedContact *s, int cell, real h)
{
    ArticulatedFriction friction;
    const Vector3 stretch = grip_stretch(w, cell, s->n);
    const real fraction = grip_fraction(w, s, stretch, h);
    friction.K = fraction * (h * fused(h, w->grip_stiffness, w->grip_damping));
    friction.f = scaled(-(h * fraction * w->grip_stiffness), stretch);
    return friction;
}

// y = v - (v.n) n: returns vbar, adds to nbar.
HD Vector3 pull_across(Vector3 v, Vector3 n, Vector3 y_bar, Vector3 *n_bar)
{
    const real normal = dot3(n, y_bar);
    *n_bar = less(*n_bar, added(scaled(dot3(v, n), y_bar), scaled(normal, v)));
    return along(y_bar, -normal, n);
}

// share: of mu in ground_friction.
HD void grip_parameters(const ArticulatedLanes *w, const ArticulatedContact *s, double share, real k_bar, real d_bar,
                        real mu_bar)
{
    const real zero = splat(0.0);
    parameter_bar(w, ARTICULATED_PARAMETER_grip_stiffness, select_real(s->touching, k_bar, zero));
    parameter_bar(w, ARTICULATED_PARAMETER_grip_damping, select_real(s->touching, d_bar, zero));
    parameter_bar(w, ARTICULATED_PARAMETER_ground_friction, select_real(s->touching, share * mu_bar, zero));
}

// ---- the stretch afterwards -----------------------------------------------------------------------------------------

// Bars of m, f_n, k and mu by that of s'.
typedef struct ArticulatedGripBar {
    Vector3 moved, n;
    real force, k, mu;
} ArticulatedGripBar;

HD ArticulatedGripBar pull_stretch(const ArticulatedLanes *w, int body, int cell, const ArticulatedContact *s, real h)
{
    ArticulatedGripBar bar;
    const Vector3 new_bar = bar3(w, cell), v = added(solved(w, body, 0), cross3(solved(w, body, 3), s->r));
    const Vector3 moved = along(limb3(w, cell), h, v), flat = along(moved, -dot3(moved, s->n), s->n);
    const real zero = splat(0.0), length = length3(flat), most = s->mu * s->force / w->grip_stiffness;
    const mask slips = MASK(length > most);
    const real safe = select_real(slips, length, splat(1.0)), fraction = select_real(slips, most / safe, splat(1.0));
    const real most_bar = select_real(slips, dot3(new_bar, flat) / safe, zero);
    const Vector3 flat_bar = along(scaled(fraction, new_bar), -(most_bar * fraction / safe), flat);
    bar.n = vector3_zero();
    bar.moved = pull_across(moved, s->n, flat_bar, &bar.n);
    bar.force = most_bar * s->mu / w->grip_stiffness;
    bar.mu = most_bar * s->force / w->grip_stiffness;
    bar.k = -(most_bar * most / w->grip_stiffness);
    return bar;
}

// Before lambda is known: what the stretches afterwards add to ubar'.
HD void pull_grips_moved(const ArticulatedLanes *w, int body, real h)
{
    const ArticulatedBody *of = &w->bodies[body];
    const ArticulatedPose pose = body_pose(w, body);
    const int at = articulated_at(body) + ARTICULATED_U;
    const real zero = splat(0.0), scale = body_number(w, body, ARTICULATED_scale);
    for (int k = 0; k < of->n_points; k++) {
        const ArticulatedContact s = contact_state(w, &pose, &w->points[of->point + k], scale);
        if (!any_lane(s.touching)) continue;
        const ArticulatedGripBar bar = pull_stretch(w, body, grip_cell(w, of->point + k), &s, h);
        const Vector3 by_v = scaled(h, bar.moved), by_w = cross3(s.r, by_v);
        bar_add3(w, at,
                 vector3(select_real(s.touching, by_v.x, zero), select_real(s.touching, by_v.y, zero),
                         select_real(s.touching, by_v.z, zero)));
        bar_add3(w, at + 3,
                 vector3(select_real(s.touching, by_w.x, zero), select_real(s.touching, by_w.y, zero),
                         select_real(s.touching, by_w.z, zero)));
    }
}

// ---- the rows -------------------------------------------------------------------------------------------------------

// Bars of the stretch before the step, by those of K_t and f_t.
HD Vector3 pull_grip_rows(const ArticulatedLanes *w, const ArticulatedContact *s, double share, int cell, real h,
                          real K_bar, Vector3 f_bar, ArticulatedFrictionBar *bar)
{
    const Vector3 stretch = grip_stretch(w, cell, s->n);
    const real zero = splat(0.0), k = w->grip_stiffness, R = fused(h, k, w->grip_damping);
    const Vector3 t = along(scaled(k, stretch), R, s->across);
    const real pull = length3(t), most = s->mu * s->force;
    const mask slips = MASK(pull > most);
    const real safe = select_real(slips, pull, splat(1.0)), fraction = select_real(slips, most / safe, splat(1.0));
    const real along_bar = dot3(f_bar, stretch), fraction_bar = fused(h * R, K_bar, -(h * k * along_bar));
    const real most_bar = select_real(slips, fraction_bar / safe, zero), R_bar = fraction * h * K_bar;
    const Vector3 t_bar = scaled(-(most_bar * fraction / safe), t);
    const real by_rate = R_bar + dot3(t_bar, s->across);
    const Vector3 stretch_bar = along(scaled(k, t_bar), -(h * fraction * k), f_bar);
    grip_parameters(w, s, share, fused(h, by_rate, fused(-(h * fraction), along_bar, dot3(t_bar, stretch))), by_rate,
                    most_bar * s->force);
    bar->force = fused(most_bar, s->mu, bar->force);
    bar->across = along(bar->across, R, t_bar);
    return pull_across(limb3(w, cell), s->n, stretch_bar, &bar->n);
}

// The velocity along the ground is v - (v.n) n.
HD void pull_gripped(const ArticulatedContact *s, const ArticulatedFrictionBar *bar, Vector3 *v_bar, Vector3 *n_bar)
{
    *v_bar = added(*v_bar, pull_across(s->v, s->n, bar->across, n_bar));
    *n_bar = added(*n_bar, bar->n);
}

// All of a spring: the bar of its stretch afterwards becomes that of the stretch before.
HD void pull_grip(const ArticulatedLanes *w, int body, int cell, const ArticulatedContact *s, double share, real h,
                  real K_bar, Vector3 f_bar, ArticulatedFrictionBar *bar)
{
    const real zero = splat(0.0);
    const ArticulatedGripBar kept = pull_stretch(w, body, cell, s, h);
    const Vector3 before = added(kept.moved, pull_grip_rows(w, s, share, cell, h, K_bar, f_bar, bar));
    grip_parameters(w, s, share, kept.k, zero, kept.mu);
    bar->force = bar->force + kept.force;
    bar->n = added(bar->n, kept.n);
    bar->r = added(bar->r, cross3(scaled(h, kept.moved), solved(w, body, 3)));
    set_bar3(w, cell,
             vector3(select_real(s->touching, before.x, zero), select_real(s->touching, before.y, zero),
                     select_real(s->touching, before.z, zero)));
}

#endif
