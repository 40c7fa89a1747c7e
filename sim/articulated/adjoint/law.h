// A control law of the spec's own (../../law.h), in reverse. The run keeps what each period began with and gave.
// The steps of a period gather the bars of its commands and efforts; where the period begins they become, with those of
// the numbers that the law held for the next period, bars of the columns that it saw, of parameters and of the numbers
// that it held before. Which mode a law was in, and what it compared, is as it was.
#ifndef HOPSCOTCH_ARTICULATED_ADJOINT_LAW_H
#define HOPSCOTCH_ARTICULATED_ADJOINT_LAW_H

#include "../../law.h"
#include "../../policy_slopes.h"
#include "memory.h"

// ---- memory ---------------------------------------------------------------------------------------------------------
// Doubles of a lane: the cells of the law, the registers of its derivatives, the step at which the lane ended, the bars
// of outputs of the period that is in reverse and of the one before it, of the numbers that are held next, and of the
// columns and parameters that the law takes; the numbers of a policy and the bars of two of its layers; then of each
// period its columns, held numbers, outputs and what policies gave.

HD_BOTH int64_t controlled_kept(const Law *law)
{
    return law->of.n_needed + law->n_held + law->n_outputs + law->n_given;
}
HD_BOTH int64_t controlled_doubles(const Law *law, int64_t ticks)
{
    const int64_t periods = (ticks + law->ticks - 1) / law->ticks;
    return law->of.cells + law->slopes->back.registers + 1 + 2 * law->n_outputs + law->n_held + law->of.n_needed +
           law->of.n_parameters + law->slopes->asked + 2 * law->widest + periods * controlled_kept(law);
}

typedef struct Controlled {
    const Law *law;
    Frame file;    // the registers of the derivatives
    double *end;   // [1] steps at its end
    double *now;   // [n_outputs] of the period in reverse
    double *past;  // [n_outputs] of the period before it
    double *held;  // [n_held]
    double *input; // [n_needed + n_parameters]
    double *asked; // [LawSlopes.asked + 2 widest] of a policy
    double *kept;  // [periods][controlled_kept]
} Controlled;

HD double *controlled_cell(double *first, int64_t k) { return first + k * ARTICULATED_STRIDE; }

HD Controlled controlled_open(const ArticulatedLanes *w)
{
    Controlled controlled;
    const Law *law = controlled.law = law_of(w->group);
    controlled.file.at = controlled_cell(w->controlled, law->of.cells);
    controlled.file.apart = 1;
    controlled.end = controlled_cell(controlled.file.at, law->slopes->back.registers);
    controlled.now = controlled_cell(controlled.end, 1);
    controlled.past = controlled_cell(controlled.now, law->n_outputs);
    controlled.held = controlled_cell(controlled.past, law->n_outputs);
    controlled.input = controlled_cell(controlled.held, law->n_held);
    controlled.asked = controlled_cell(controlled.input, law->of.n_needed + law->of.n_parameters);
    controlled.kept = controlled_cell(controlled.asked, law->slopes->asked + 2 * law->widest);
    return controlled;
}
HD double *controlled_period(const Controlled *controlled, int64_t period, int k)
{
    return controlled_cell(controlled->kept, period * controlled_kept(controlled->law) + k);
}

// ---- forward --------------------------------------------------------------------------------------------------------

// What a period began with, and what it gave, after law_decide.
HD_CALL void controlled_keep(const ArticulatedLanes *restrict w, int64_t period)
{
    const Controlled controlled = controlled_open(w);
    const Law *law = controlled.law;
    const int n_needed = law->of.n_needed;
    for (int k = 0; k < n_needed; k++) store_all(controlled_period(&controlled, period, k), law_value(w->group, k));
    for (int k = 0; k < law->n_held; k++)
        store_all(controlled_period(&controlled, period, n_needed + k), law_value(w->group, law_register(law, k)));
    for (int k = 0; k < law->n_outputs; k++)
        store_all(controlled_period(&controlled, period, n_needed + law->n_held + k), law_output(w->group, k));
    for (int k = 0; k < law->n_given; k++)
        store_all(controlled_period(&controlled, period, n_needed + law->n_held + law->n_outputs + k),
                  law_value(w->group, law_given(law, k)));
}

// The law gives again what it gave for a step.
HD_CALL void controlled_recall(const ArticulatedLanes *restrict w, int64_t tick)
{
    const Controlled controlled = controlled_open(w);
    const Law *law = controlled.law;
    for (int k = 0; k < law->n_outputs; k++)
        lane_code_put(w->group, &law->of, k,
                      load_all(controlled_period(&controlled, tick / law->ticks, law->of.n_needed + law->n_held + k)));
}

// ---- back -----------------------------------------------------------------------------------------------------------

HD void controlled_back_begin(const ArticulatedLanes *w)
{
    const Controlled controlled = controlled_open(w);
    const Law *law = controlled.law;
    const int count = 1 + 2 * law->n_outputs + law->n_held;
    for (int k = 0; k < count; k++) store_all(controlled_cell(controlled.end, k), splat(0.0));
    for (int k = 0; k < law->of.n_parameters; k++) // what depends on parameters alone is computed once
        frame_set(controlled.file, law->of.n_needed + k, law_value(w->group, law->of.n_needed + k));
    tape_begin(law->of.assets, &law->slopes->back, controlled.file);
}

// Before the last step in reverse of the lanes of `entering`. steps: that all lanes took.
HD void controlled_enter(const ArticulatedLanes *w, real steps, mask entering)
{
    const Controlled controlled = controlled_open(w);
    const Law *law = controlled.law;
    const int count = 2 * law->n_outputs + law->n_held;
    store_all(controlled.end, steps);
    for (int k = 0; k < count; k++) {
        double *bar = controlled_cell(controlled.now, k);
        store_all(bar, select_real(entering, splat(0.0), load_all(bar)));
    }
}

// Adds to the bar of an output of the period in reverse, or of the one before it.
HD void controlled_add(const ArticulatedLanes *w, int output, bool past, real x)
{
    const Controlled controlled = controlled_open(w);
    double *bar = controlled_cell(past ? controlled.past : controlled.now, output);
    store_all(bar, load_all(bar) + x);
}

HD real controlled_slope(const Controlled *controlled, int32_t rows, int k)
{
    const int at = law_integer(controlled->law, rows + k);
    return at >= 0 ? frame_get(controlled->file, at) : splat(0.0);
}

// The inputs of the period, and the bars of what it gave, into the registers.
HD void controlled_fill(const ArticulatedLanes *w, const Controlled *controlled, int64_t period)
{
    const Law *law = controlled->law;
    const int n_needed = law->of.n_needed, first = n_needed + law->of.n_parameters, bars = law_inputs(law),
              begins = first + law->n_held + law->n_noises, given = n_needed + law->n_held + law->n_outputs;
    for (int k = 0; k < n_needed; k++)
        frame_set(controlled->file, k, load_all(controlled_period(controlled, period, k)));
    for (int k = 0; k < law->n_held; k++)
        frame_set(controlled->file, first + k, load_all(controlled_period(controlled, period, n_needed + k)));
    if (law->n_noises > 0) law_draw(w->group, splat((double)period));
    for (int k = 0; k < law->n_noises; k++)
        frame_set(controlled->file, first + law->n_held + k, law_value(w->group, first + law->n_held + k));
    frame_set(controlled->file, begins, splat(period == 0 ? 1.0 : 0.0));
    if (law->n_actions > 0) law_act(w->group, splat((double)period));
    for (int k = 0; k < law->n_given; k++)
        frame_set(controlled->file, law_given(law, k), load_all(controlled_period(controlled, period, given + k)));
    for (int k = law_given(law, law->n_given); k < bars; k++) frame_set(controlled->file, k, law_value(w->group, k));
    for (int k = 0; k < law->n_held; k++)
        frame_set(controlled->file, bars + k, load_all(controlled_cell(controlled->held, k)));
    for (int k = 0; k < law->n_outputs; k++)
        frame_set(controlled->file, bars + law->n_held + k, load_all(controlled_cell(controlled->now, k)));
    for (int k = 0; k < law->n_seen; k++)
        frame_set(controlled->file, bars + law->n_held + law->n_outputs + k, splat(0.0));
}

// After a run of the code: the bars of what policies see into the registers, from those of what they give in the lanes
// of `there`.
HD_CALL void controlled_pull_policies(const ArticulatedLanes *restrict w, const Controlled *restrict controlled,
                                      mask there)
{
    const Law *law = controlled->law;
    const Frame kept = {controlled->asked, 1}, bar = frame_from(kept, law->slopes->asked),
                room = frame_from(bar, law->widest), of_parameter = {articulated_cell(w, parameter_bar_at(w, 0)), 1};
    int seen = 0, given = 0;
    for (int p = 0; p < law->n_policies; p++) {
        int64_t registers;
        const Policy policy = law_policy(law, p, &registers);
        const int inputs = (int)policy.shape->width[0];
        for (int k = 0; k < inputs; k++) frame_set(kept, k, controlled_slope(controlled, law->slopes->seen, seen + k));
        policy_forth(&policy, w->group, kept);
        for (int k = 0; k < policy_outputs(&policy); k++) {
            const real given_bar = controlled_slope(controlled, law->slopes->given, given++);
            frame_set(bar, k, select_real(there, given_bar, splat(0.0)));
        }
        policy_back(&policy, w->group, kept, bar, room, of_parameter, there);
        for (int k = 0; k < inputs; k++, seen++)
            frame_set(controlled->file, law_inputs(law) + law->n_held + law->n_outputs + seen, frame_get(bar, k));
    }
}

// What starts of held numbers are made of.
HD void controlled_pull_starts(const ArticulatedLanes *w, const Controlled *controlled)
{
    const Law *law = controlled->law;
    const int bars = law_inputs(law);
    for (int k = 0; k < law->n_held; k++)
        frame_set(controlled->file, bars + k, load_all(controlled_cell(controlled->held, k)));
    tape_step(law->of.assets, &law->slopes->back, controlled->file);
    for (int k = 0; k < law->of.n_parameters; k++)
        parameter_bar(w, law_integer(law, law->of.parameters + k),
                      controlled_slope(controlled, law->slopes->starts, k));
}

// The begin of a period, whose steps are done: bars of columns into `input`. Lanes that had ended before have none.
HD_CALL void controlled_pull(const ArticulatedLanes *restrict w, int64_t period)
{
    const Controlled controlled = controlled_open(w);
    const Law *law = controlled.law;
    const mask there = MASK(load_all(controlled.end) > (double)(period * law->ticks));
    const int n_needed = law->of.n_needed, n_fixed = n_needed + law->of.n_parameters;
    controlled_fill(w, &controlled, period);
    tape_step(law->of.assets, &law->slopes->back, controlled.file);
    if (law->n_policies > 0) {
        controlled_pull_policies(w, &controlled, there);
        tape_step(law->of.assets, &law->slopes->back, controlled.file);
    }
    for (int k = 0; k < n_fixed; k++)
        store_all(controlled_cell(controlled.input, k),
                  select_real(there, controlled_slope(&controlled, law->slopes->bars, k), splat(0.0)));
    for (int k = n_needed; k < n_fixed; k++)
        parameter_bar(w, law_integer(law, law->of.parameters + k - n_needed),
                      load_all(controlled_cell(controlled.input, k)));
    for (int k = 0; k < law->n_held; k++) {
        const real held_bar = controlled_slope(&controlled, law->slopes->bars, n_fixed + k);
        store_all(controlled_cell(controlled.held, k), select_real(there, held_bar, splat(0.0)));
    }
    for (int k = 0; k < law->n_outputs; k++) {
        store_all(controlled_cell(controlled.now, k), load_all(controlled_cell(controlled.past, k)));
        store_all(controlled_cell(controlled.past, k), splat(0.0));
    }
    if (period == 0) controlled_pull_starts(w, &controlled);
}

#endif
