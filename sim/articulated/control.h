// The commands of motors: hold their offset, swing about it (a law may add to that), follow a table, walk (raibert.h),
// or do what a law decides (../law.h), of the spec's own or of a policy.
#ifndef HOPSCOTCH_ARTICULATED_CONTROL_H
#define HOPSCOTCH_ARTICULATED_CONTROL_H

#include "../law.h"
#include "raibert.h"

// The time at which a gait is asked for its commands of the step from t on: of order two the middle of the step,
// because they hold for all of it.
HD real control_time(const ArticulatedLanes *w, real t) { return w->c.whole > 0 ? t + 0.5 * w->c.dt : t; }

// The same of a joint whose commands come late: that of the delay before. Before t = 0 the gait stands.
HD real control_gait_time(const ArticulatedLanes *w, int body, real t)
{
    const real now = control_time(w, t);
    if (!body_varies(w, body, ARTICULATED_delay)) return now;
    return greater_of(now - body_number(w, body, ARTICULATED_delay), splat(0.0));
}

// offset + amplitude sin(2 pi f t + phase), and the cosine
HD real control_gait(const ArticulatedLanes *w, int body, real t, real *sine, real *cosine)
{
    const real angle = fused(6.283185307179586 * w->gait_frequency, t, body_number(w, body, ARTICULATED_phase));
    sine_cosine(angle, sine, cosine);
    return fused(body_number(w, body, ARTICULATED_amplitude), *sine, body_number(w, body, ARTICULATED_offset));
}

// The row of the table for this step: the last one that starts at or before it, or one for each `held` steps. The
// first also holds before it starts, and the last holds on.
HD int64_t control_row(const ArticulatedLanes *w, int64_t tick)
{
    const double *starts = w->assets + w->c.starts;
    int64_t low = 0, high = w->c.n_actions;
    if (w->c.starts == 0) return tick / w->c.held < high - 1 ? tick / w->c.held : high - 1;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (starts[middle] <= (double)tick)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// The entry of the table for this step.
HD double control_entry(const ArticulatedLanes *w, int body, int64_t tick)
{
    return w->actions[control_row(w, tick) * w->c.n_joints + w->bodies[body].joint];
}

// The entry that comes late: the mean over this step of entries that each hold for a step, moved by the delay. That is
// between those of the steps n and n + 1 ago, n dt <= delay < (n + 1) dt; before the first step stands that of the
// first. *late: its derivative by the delay.
HD_CALL real control_late_entry(const ArticulatedLanes *restrict w, int body, int64_t tick, real *late)
{
    const real ago = body_number(w, body, ARTICULATED_delay) / w->c.dt;
    real whole = splat(0.0), near = whole, far = whole;
    for (int i = 0; i < LANES; i++) {
        const int64_t n = (int64_t)lane_of(ago, i), first = n < tick ? tick - n : 0, second = first > 0 ? first - 1 : 0;
        set_lane(&whole, i, (double)n);
        set_lane(&near, i, control_entry(w, body, first));
        set_lane(&far, i, control_entry(w, body, second));
    }
    *late = (far - near) / w->c.dt;
    return fused(ago - whole, far - near, near);
}

// What external control asks of a driven joint: in an environment the lane's own action, else the entry of the table
// for this step; without a table 0.
HD real control_asked(const ArticulatedLanes *w, int body, int64_t tick)
{
    if (w->group->own.action != NULL) return lanes_action(w->group, w->bodies[body].driven - 1);
    if (w->c.n_actions == 0) return splat(0.0);
    return splat(w->actions[control_row(w, tick) * w->c.n_joints + w->bodies[body].joint]);
}

// Efforts in place of the motor's own: its gains are off.
HD void control_set_effort(const ArticulatedLanes *w, int body, int64_t tick)
{
    const ArticulatedEnds ends = motor_ends(w, body);
    const real effort = clamped(control_asked(w, body, tick), ends.low, ends.high);
    set_limb(w, effort_at(w, body) + ARTICULATED_FEEDFORWARD, effort);
    set_limb(w, effort_at(w, body) + ARTICULATED_GAIN_SCALE, splat(0.0));
}

// offset + the action, where actions are coordinates
HD real control_external(const ArticulatedLanes *w, int body, int64_t tick)
{
    const real offset = body_number(w, body, ARTICULATED_offset);
    return w->c.efforts > 0 ? offset : offset + control_asked(w, body, tick);
}

// What a law gives a driven joint; NaN stays: the lane fails (articulated_failure).
HD int control_law_output(const ArticulatedLanes *w, int body, bool effort)
{
    return 2 * (w->bodies[body].driven - 1) + (effort ? 1 : 0);
}
HD real control_law_command(const ArticulatedLanes *w, int body)
{
    const int output = control_law_output(w, body, false);
    return law_gives(w->group, output) ? law_output(w->group, output) : body_number(w, body, ARTICULATED_offset);
}

// What a law adds to the command of a gait.
HD real control_added(const ArticulatedLanes *w, int body, real command)
{
    const int output = control_law_output(w, body, false);
    const bool adds = (w->c.uses & CONTROL_LAW) != 0 && law_gives(w->group, output);
    return adds ? command + law_output(w->group, output) : command;
}

// offset + what a policy gives, where actions are coordinates
HD real control_policy(const ArticulatedLanes *w, int body)
{
    const int output = control_law_output(w, body, false);
    const real offset = body_number(w, body, ARTICULATED_offset);
    return law_gives(w->group, output) ? offset + law_output(w->group, output) : offset;
}

// An effort beside a command adds to what the motor's gains give; alone it is all.
HD void control_set_law_effort(const ArticulatedLanes *w, int body)
{
    const int output = control_law_output(w, body, true);
    if (!law_gives(w->group, output)) return;
    const ArticulatedEnds ends = motor_ends(w, body);
    const bool asks = (w->c.uses & CONTROL_ADDS) != 0 || law_gives(w->group, control_law_output(w, body, false));
    const double gains = asks ? 1.0 : 0.0;
    set_limb(w, effort_at(w, body) + ARTICULATED_FEEDFORWARD,
             clamped(law_output(w->group, output), ends.low, ends.high));
    set_limb(w, effort_at(w, body) + ARTICULATED_GAIN_SCALE, splat(gains));
}

// A command, and of a gait the sine and the cosine in it; else 0. late: its derivative by the delay, within its limits.
typedef struct ArticulatedCommand {
    real command, sine, cosine, late;
} ArticulatedCommand;

HD real control_terms_gait(const ArticulatedLanes *w, int body, real t, ArticulatedCommand *terms)
{
    const real at = control_gait_time(w, body, t);
    const real command = control_gait(w, body, at, &terms->sine, &terms->cosine);
    if (!body_varies(w, body, ARTICULATED_delay)) return command;
    const real slope =
        -(6.283185307179586 * w->gait_frequency * body_number(w, body, ARTICULATED_amplitude) * terms->cosine);
    terms->late = select_real(MASK(value_of(at) > 0.0), slope, splat(0.0));
    return command;
}

HD real control_terms_action(const ArticulatedLanes *w, int body, int64_t tick, ArticulatedCommand *terms)
{
    const real offset = body_number(w, body, ARTICULATED_offset);
    if (body_varies(w, body, ARTICULATED_delay)) return offset + control_late_entry(w, body, tick, &terms->late);
    return offset + splat(control_entry(w, body, tick));
}

HD ArticulatedCommand control_terms(const ArticulatedLanes *w, int body, int64_t tick, real t)
{
    ArticulatedCommand terms;
    terms.sine = terms.cosine = terms.late = splat(0.0);
    real command = body_number(w, body, ARTICULATED_offset);
    switch ((ArticulatedControl)w->c.control) {
    case ARTICULATED_CONTROL_hold:
    case ARTICULATED_CONTROL_raibert: break; // of legs: before the first step (raibert_set)
    case ARTICULATED_CONTROL_gait: command = control_added(w, body, control_terms_gait(w, body, t, &terms)); break;
    case ARTICULATED_CONTROL_actions: command = control_terms_action(w, body, tick, &terms); break;
    case ARTICULATED_CONTROL_external: command = control_external(w, body, tick); break;
    case ARTICULATED_CONTROL_law: command = control_law_command(w, body); break;
    case ARTICULATED_CONTROL_policy: command = control_policy(w, body); break;
    }
    terms.command =
        clamped(command, body_number(w, body, ARTICULATED_command_low), body_number(w, body, ARTICULATED_command_high));
    return terms;
}

HD real control_command(const ArticulatedLanes *w, int body, int64_t tick, real t)
{
    return control_terms(w, body, tick, t).command;
}

// ---- late -----------------------------------------------------------------------------------------------------------
// What an environment, a law or a policy decides is known when it is decided, and kept for some steps. As of a table,
// what comes is the mean over the step of what was decided, moved by the delay.

enum { LATE_COMMAND, LATE_EFFORT, LATE_KINDS };
// The first of n_late cells, of the newest step.
HD int late_at(const ArticulatedLanes *w, int body, int kind)
{
    return w->c.late + (LATE_KINDS * w->bodies[body].joint + kind) * w->c.n_late;
}

HD void late_begin(const ArticulatedLanes *w, int body)
{
    for (int k = 0; k < w->c.n_late; k++) {
        set_limb(w, late_at(w, body, LATE_COMMAND) + k, limb(w, articulated_at(body) + ARTICULATED_COMMAND));
        set_limb(w, late_at(w, body, LATE_EFFORT) + k, splat(0.0));
    }
}

// Keeps what is decided for this step; returns what comes: of the two steps around the delay in proportion.
HD_CALL real control_late(const ArticulatedLanes *restrict w, int body, int kind, real now)
{
    const real ago = body_number(w, body, ARTICULATED_delay) / w->c.dt;
    real kept = now, late = splat(0.0);
    for (int k = 0, at = late_at(w, body, kind); k < w->c.n_late; k++, at++) {
        const real before = limb(w, at), weight = greater_of(1.0 - absolute(ago - (double)k), splat(0.0));
        set_limb(w, at, kept);
        late = fused(weight, kept, late);
        kept = before;
    }
    return late;
}

// Sets the commands of all driven joints; returns the sum of squares of their changes.
HD_CALL real control_set(const ArticulatedLanes *restrict w, int64_t tick, real t)
{
    real squares = splat(0.0);
    if ((w->c.uses & CONTROL_LEGS) != 0) return raibert_set(w, t);
    for (int i = 0; i < w->c.n_bodies; i++) {
        const int at = articulated_at(i) + ARTICULATED_COMMAND;
        if (w->bodies[i].driven == 0) continue;
        const bool late = w->c.n_late > 0 && body_varies(w, i, ARTICULATED_delay);
        real command = control_command(w, i, tick, t);
        if (late) command = control_late(w, i, LATE_COMMAND, command);
        const real change = command - limb(w, at);
        squares = fused(change, change, squares);
        set_limb(w, at, command);
        if ((w->c.uses & CONTROL_ACTS) != 0 && w->c.efforts > 0) control_set_effort(w, i, tick);
        if ((w->c.uses & CONTROL_LAW) != 0) control_set_law_effort(w, i);
        if (!late || w->c.efforts == 0) continue;
        const int effort = effort_at(w, i) + ARTICULATED_FEEDFORWARD;
        set_limb(w, effort, control_late(w, i, LATE_EFFORT, limb(w, effort)));
    }
    return squares;
}

#endif
