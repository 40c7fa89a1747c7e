// Metrics and commands, in reverse. Metrics that count, or are the greatest of something, have no derivative: metric
// bars of these are not looked at (gradient.c).
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_METRICS_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_METRICS_H

#include "../metrics.h"
#include "../reference.h"
#include "law.h"
#include "step.h"

HD real sum_bar(const ArticulatedLanes *w, int sum) { return bar(w, articulated_sum(w, sum)); }
HD void set_sum_bar(const ArticulatedLanes *w, int sum, real x, mask which)
{
    set_bar(w, articulated_sum(w, sum), select_real(which, x, sum_bar(w, sum)));
}

// y = sqrt(sum/n): sumbar = ybar/(2 n y); 0 where y is
HD real pull_rms(real y, real n, real y_bar)
{
    const mask some = MASK(y > 0.0);
    return select_real(some, y_bar / (2.0 * n * select_real(some, y, splat(1.0))), splat(0.0));
}

// reference_error = sqrt(sum/count)
HD void pull_reference_error(const ArticulatedLanes *w, real error_bar, mask which)
{
    const int at = reference_cell(w, REFERENCE_SUM);
    const real count = limb(w, reference_cell(w, REFERENCE_COUNT));
    set_bar(w, at, select_real(which, pull_rms(reference_error(w), count, error_bar), bar(w, at)));
}

// From metric_bar[n_metrics] to the bars of the sums and of the last state, of the lanes of `which`. They are at their
// ends, and their metrics are what articulated_metrics computed of them after `steps` steps.
HD_CALL void pull_metrics(const ArticulatedLanes *restrict w, real steps, const real *metric_bar, mask which)
{
    const real t = steps * w->c.dt, energy = limb(w, articulated_sum(w, ARTICULATED_METRIC_energy));
    const real moved = limb(w, base_at(w) + ARTICULATED_X) - limb(w, articulated_sum(w, ARTICULATED_SUM_X));
    const real drift = limb(w, base_at(w) + ARTICULATED_X + 1) - limb(w, articulated_sum(w, ARTICULATED_SUM_Y));
    const real mass = limb(w, articulated_sum(w, ARTICULATED_SUM_MASS)), weight = mass * w->gravity;
    const real way = counted_distance(moved), cost = energy / (weight * way);
    const real cost_bar = metric_bar[ARTICULATED_METRIC_cost_of_transport];
    const real weight_bar = -(cost_bar * cost / weight); // and way' = way/root
    const real moved_bar = metric_bar[ARTICULATED_METRIC_distance] + metric_bar[ARTICULATED_METRIC_mean_speed] / t -
                           cost_bar * cost / counted_root(moved);
    const real drifted = metric_bar[ARTICULATED_METRIC_lateral_drift];
    const real drift_bar = select_real(MASK(drift < 0.0), -drifted, drifted);
    const real tilt = square_root(limb(w, articulated_sum(w, ARTICULATED_METRIC_tilt_rms)) / steps);
    const real changes = steps * articulated_count(w, true);
    const real change = square_root(limb(w, articulated_sum(w, ARTICULATED_METRIC_action_rate)) / changes);
    const real zero = splat(0.0);
    set_sum_bar(w, ARTICULATED_METRIC_energy, metric_bar[ARTICULATED_METRIC_energy] + cost_bar / (weight * way), which);
    set_sum_bar(w, ARTICULATED_METRIC_height_mean, metric_bar[ARTICULATED_METRIC_height_mean] / steps, which);
    set_sum_bar(w, ARTICULATED_METRIC_tilt_rms, pull_rms(tilt, steps, metric_bar[ARTICULATED_METRIC_tilt_rms]), which);
    set_sum_bar(w, ARTICULATED_METRIC_action_rate,
                pull_rms(change, changes, metric_bar[ARTICULATED_METRIC_action_rate] / w->c.dt), which);
    set_sum_bar(w, ARTICULATED_METRIC_ground_force_mean, metric_bar[ARTICULATED_METRIC_ground_force_mean] / steps,
                which);
    set_sum_bar(w, ARTICULATED_METRIC_slip, metric_bar[ARTICULATED_METRIC_slip], which);
    set_sum_bar(w, ARTICULATED_SUM_X, -moved_bar, which);
    set_sum_bar(w, ARTICULATED_SUM_Y, -drift_bar, which);
    set_sum_bar(w, ARTICULATED_SUM_MASS, weight_bar * w->gravity, which);
    parameter_bar(w, ARTICULATED_PARAMETER_gravity, select_real(which, weight_bar * mass, zero));
    bar_add(w, base_at(w) + ARTICULATED_X, select_real(which, moved_bar, zero));
    bar_add(w, base_at(w) + ARTICULATED_X + 1, select_real(which, drift_bar, zero));
    if (w->c.n_targets > 0) pull_reference_error(w, metric_bar[ARTICULATED_REFERENCE_ERROR], which);
}

// What the sums take from a new state: height and tilt of the base. q: of the new state.
HD void pull_sums(const ArticulatedLanes *w, Quaternion q)
{
    const Rotation r = rotation_of(q);
    const real s = square_root(fused(r.z.x, r.z.x, r.z.y * r.z.y)), c = r.z.z, n = fused(s, s, c * c);
    const real factor = 2.0 * arc_tangent2(s, c) * sum_bar(w, ARTICULATED_METRIC_tilt_rms) / n;
    const real across = factor * c / select_real(MASK(s > 0.0), s, splat(1.0));
    Rotation r_bar = rotation_zero();
    r_bar.z = vector3(across * r.z.x, across * r.z.y, -(factor * s));
    bar_add4(w, base_at(w) + ARTICULATED_Q, pull_rotation(q, &r_bar));
    bar_add(w, base_at(w) + ARTICULATED_X + 2, sum_bar(w, ARTICULATED_METRIC_height_mean));
}

// ---- commands -------------------------------------------------------------------------------------------------------

// From the bar of a command to those of its numbers. A command at a limit of its motor depends on that limit alone.
// past: it is of the control period before the one in reverse.
HD void pull_command(const ArticulatedLanes *w, int body, real t, const ArticulatedCommand *of, bool past,
                     real command_bar)
{
    const real low = body_number(w, body, ARTICULATED_command_low), zero = splat(0.0);
    const real high = body_number(w, body, ARTICULATED_command_high);
    const mask at_low = MASK(of->command <= low), at_high = MASK(of->command >= high) & ~at_low;
    const real inside = select_real(at_low | at_high, zero, command_bar);
    number_bar(w, body, ARTICULATED_command_low, select_real(at_low, command_bar, zero));
    number_bar(w, body, ARTICULATED_command_high, select_real(at_high, command_bar, zero));
    if ((w->c.uses & CONTROL_LAW) != 0 && law_gives(w->group, control_law_output(w, body, false))) {
        controlled_add(w, control_law_output(w, body, false), past, inside);
        if ((w->c.uses & (CONTROL_ADDS | CONTROL_POLICY)) == 0) return; // both add to what there is
    }
    number_bar(w, body, ARTICULATED_offset, inside);
    number_bar(w, body, ARTICULATED_delay, inside * of->late);
    if ((w->c.uses & CONTROL_SWINGS) == 0) return;
    const real angle_bar = inside * body_number(w, body, ARTICULATED_amplitude) * of->cosine;
    number_bar(w, body, ARTICULATED_amplitude, inside * of->sine);
    number_bar(w, body, ARTICULATED_phase, angle_bar);
    parameter_bar(w, ARTICULATED_PARAMETER_gait_frequency,
                  6.283185307179586 * control_gait_time(w, body, t) * angle_bar);
}

// An effort that is asked of a motor: at an end of the motor it depends on that end alone. Returns its own bar.
HD real pull_asked_effort(const ArticulatedLanes *w, int body, real effort)
{
    const ArticulatedEnds ends = motor_ends(w, body);
    const real effort_bar = bar(w, effort_at(w, body) + ARTICULATED_FEEDFORWARD), zero = splat(0.0);
    const mask above = MASK(effort > ends.high), below = MASK(effort < ends.low);
    pull_end(w, body, ARTICULATED_most, splat(1.0), select_real(above, effort_bar, zero));
    pull_end(w, body, ARTICULATED_least, splat(-1.0), select_real(below & ~above, effort_bar, zero));
    return select_real(above | below, zero, effort_bar);
}

// Of a law, or of a table, whose entries are no parameters.
HD void pull_effort(const ArticulatedLanes *w, int body, int64_t tick)
{
    const int output = control_law_output(w, body, true);
    if (w->c.efforts == 0) return;
    if ((w->c.uses & CONTROL_ACTS) != 0)
        (void)pull_asked_effort(w, body, control_asked(w, body, tick));
    else if (lanes_are_controlled(w) && law_gives(w->group, output))
        controlled_add(w, output, false, pull_asked_effort(w, body, law_output(w->group, output)));
    set_bar(w, effort_at(w, body) + ARTICULATED_FEEDFORWARD, splat(0.0));
}

// The command of a step, kept until the step's reverse.
HD void command_store(const ArticulatedLanes *w, int body, const ArticulatedCommand *of)
{
    const int at = articulated_at(body) + ARTICULATED_STORED_COMMAND;
    set_bar3(w, at, vector3(of->command, of->sine, of->cosine));
    set_bar(w, at + 3, of->late);
}
HD ArticulatedCommand command_load(const ArticulatedLanes *w, int body)
{
    const int at = articulated_at(body) + ARTICULATED_STORED_COMMAND;
    const Vector3 kept = bar3(w, at);
    const ArticulatedCommand of = {kept.x, kept.y, kept.z, bar(w, at + 3)};
    return of;
}

// Before the reverse of the step `tick`, where that of the step after it has not been.
HD_CALL void commands_start(const ArticulatedLanes *restrict w, int64_t tick)
{
    if (lanes_are_controlled(w)) controlled_recall(w, tick);
    for (int i = 0; i < w->c.n_bodies; i++) {
        if (w->bodies[i].driven == 0) continue;
        const ArticulatedCommand of = control_terms(w, i, tick, splat((double)tick * w->c.dt));
        command_store(w, i, &of);
    }
}

// The commands for the step again.
HD void commands_set(const ArticulatedLanes *w, int64_t tick)
{
    for (int i = 0; i < w->c.n_bodies; i++) {
        if (w->bodies[i].driven == 0) continue;
        set_limb(w, articulated_at(i) + ARTICULATED_COMMAND, command_load(w, i).command);
        if ((w->c.uses & CONTROL_ACTS) != 0 && w->c.efforts > 0) control_set_effort(w, i, tick);
        if (lanes_are_controlled(w)) control_set_law_effort(w, i);
    }
}

// Commands of a step, after its pull_step: the rows' bars are in the commands' cells. The metric action_rate sums the
// squares of their changes since the step before, whose commands are kept then.
HD_CALL void pull_commands(const ArticulatedLanes *restrict w, int64_t tick)
{
    const int64_t last = tick > 0 ? tick - 1 : 0;
    const real t = splat((double)tick * w->c.dt), t_before = splat((double)last * w->c.dt);
    const real rate_bar = 2.0 * sum_bar(w, ARTICULATED_METRIC_action_rate);
    const bool past = lanes_are_controlled(w) && tick % law_of(w->group)->ticks == 0, begins = past && tick == 0;
    for (int i = 0; i < w->c.n_bodies && w->c.efforts > 0; i++)
        if (w->bodies[i].driven != 0) pull_effort(w, i, tick);
    if (past) controlled_recall(w, last);
    for (int i = 0; i < w->c.n_bodies; i++) {
        const int at = articulated_at(i) + ARTICULATED_COMMAND;
        if (w->bodies[i].driven == 0) continue;
        const ArticulatedCommand now = command_load(w, i);
        ArticulatedCommand before = control_terms(w, i, last, t_before);
        if (begins) before.command = body_number(w, i, ARTICULATED_offset); // what a law finds (begin_command)
        const real change = now.command - before.command;
        pull_command(w, i, t, &now, false, fused(rate_bar, change, bar(w, at)));
        if (begins)
            number_bar(w, i, ARTICULATED_offset, -(rate_bar * change));
        else
            pull_command(w, i, t_before, &before, past, -(rate_bar * change));
        set_bar(w, at, splat(0.0));
        command_store(w, i, &before);
    }
}

#endif
