// A lane of the model `equations`: its frame, its codes, and the values that its modes give.
#ifndef HOPSCOTCH_EQUATIONS_LANE_H
#define HOPSCOTCH_EQUATIONS_LANE_H

#include "../samples.h"
#include "../tape_code.h"
#include "equations.h"
#include "system.h"

#if defined(HOPSCOTCH_TRAIL)
#include "cells.h"
typedef struct EquationsTrail EquationsTrail; // trail.h
HD EquationsTrail *trail_of_group(const LaneGroup *group);
#endif

typedef struct EquationsLane {
    const EquationsConstants *c;
    const double *assets;
    Frame frame, file;         // file: the registers of codes, in the frame
    const LaneGroup *recorded; // the group, if events of its lanes are recorded; else NULL (record.h)
#if defined(HOPSCOTCH_TRAIL)
    EquationsTrail *trail; // trail.h
#endif
} EquationsLane;

// Said in functions that are called often: a lane of a made kernel has its frame for itself.
HD void equations_owns_memory(const EquationsLane *lane)
{
    is_own_memory(lane->frame.at);
    is_own_memory(lane->file.at);
}

HD real equations_named(const EquationsLane *lane, int name) { return frame_get(lane->frame, name); }
HD void equations_name(const EquationsLane *lane, int name, real value, mask which)
{
    frame_put(lane->frame, name, value, which);
}

// ---- codes ----------------------------------------------------------------------------------------------------------

HD int equations_integer(const EquationsLane *lane, int64_t k) { return (int)asset_integer(lane->assets, k); }

HD EquationsCode equations_code(const EquationsLane *lane, int64_t row)
{
    EquationsCode code;
    code.first = equations_integer(lane, row);
    code.count = equations_integer(lane, row + 1);
    code.outputs = equations_integer(lane, row + 2);
    return code;
}

#if defined(HOPSCOTCH_MADE)
// The codes of this campaign by their first steps, but for those of equations_of_modes.
#define EQUATIONS_GET(k) r[k]
#define EQUATIONS_SET(k, value) r[k] = value
HD_CALL void made_run(const double *assets, int first, real *r)
{
    is_own_memory(r);
    (void)assets;
    switch (first) {
        EQUATIONS_MADE_CODES
    default: return;
    }
}
#endif

// Registers that a GPU has in shared memory, at most: of straight runs (straight.h), which use nothing else, more.
HD int equations_shared_file(const EquationsConstants *c)
{
    return c->straight != 0 ? SHARED_NUMBERS : EQUATIONS_SHARED_FILE;
}
// Whether the registers stand in a GPU's shared memory while a general kernel works, and even the whole frame.
// Kernels of environments have none: a period is too short for what goes there and back.
#if defined(HOPSCOTCH_ENVIRONMENTS)
HD bool equations_shares(const EquationsConstants *c) { return (void)c, false; }
HD bool equations_shares_all(const EquationsConstants *c) { return (void)c, false; }
#else
HD bool equations_shares(const EquationsConstants *c) { return ON_GPU && c->registers <= equations_shared_file(c); }
HD bool equations_shares_all(const EquationsConstants *c) { return ON_GPU && c->file + c->registers <= SHARED_NUMBERS; }
#endif

HD void equations_run_steps(const EquationsLane *lane, int first, int count)
{
#if defined(HOPSCOTCH_MADE)                                      // its steps as text (equations.c)
    if (count > 0) made_run(lane->assets, first, lane->file.at); // one without steps begins where another does
#elif defined(HAS_SHARED_ADDRESSES)
    if (equations_shares(lane->c) || equations_shares_all(lane->c))
        tape_run_shared(lane->assets, lane->c->tables, first, count, lane->file);
    else
        tape_run(lane->assets, lane->c->tables, first, count, lane->file);
#else
    tape_run(lane->assets, lane->c->tables, first, count, lane->file);
#endif
}
HD void equations_run(const EquationsLane *lane, EquationsCode code)
{
    equations_run_steps(lane, code.first, code.count);
}

// Output k of a code that has run: its register, -1: none.
HD int equations_register(const EquationsLane *lane, EquationsCode code, int k)
{
    return equations_integer(lane, code.outputs + k);
}
HD real equations_output(const EquationsLane *lane, EquationsCode code, int k)
{
    const int at = equations_register(lane, code, k);
    return at >= 0 ? frame_get(lane->file, at) : splat(0.0);
}

HD int64_t equations_mode_row(const EquationsLane *lane, int mode)
{
    return lane->c->modes + (int64_t)mode * EQUATIONS_MODE;
}
HD mask equations_in(const EquationsLane *lane, int mode)
{
    return lane->c->n_modes == 1 ? all_lanes() : MASK(equations_named(lane, EQUATIONS_MODE_OF) == (double)mode);
}

// ---- arguments and results of codes ---------------------------------------------------------------------------------

HD void equations_at(const EquationsLane *lane, real time) { frame_set(lane->file, SYSTEM_TIME, time); }
// The state numbers[n_states] of the frame as arguments.
HD void equations_argue(const EquationsLane *lane, int numbers)
{
    FRAME_LOADS
    for (int i = 0; i < lane->c->n_states; i++) frame_set(lane->file, 1 + i, frame_get(lane->frame, numbers + i));
}

// numbers[count] of the frame <- outputs of a code that has run, 0 where it has none, in the lanes of `which`.
HD void equations_keep_outputs(const EquationsLane *lane, EquationsCode code, int numbers, int count, mask which)
{
    FRAME_EACH
    for (int i = 0; i < count; i++) frame_put(lane->frame, numbers + i, equations_output(lane, code, i), which);
}

// Whether all modes have one code in a row of the table of modes, and with the same outputs.
HD bool equations_share(const EquationsLane *lane, int code_row)
{
    return (lane->c->shared >> code_row / EQUATIONS_CODE & 1) != 0;
}
HD bool equations_are_same(const EquationsLane *lane, int code_row)
{
    return (lane->c->same >> code_row / EQUATIONS_CODE & 1) != 0;
}

// Runs a code of every mode that a lane of `which` is in; numbers[count] of the frame <- its outputs, 0 where a
// mode has none.
#if defined(HOPSCOTCH_MADE)
#define EQUATIONS_IN_MODE(mode)                                                                                        \
    {                                                                                                                  \
        const mask in = mode < 0 ? which : which & equations_in(lane, mode);                                           \
        if (made_n_modes == 1 || any_lane(in)) {
#define EQUATIONS_RESULT(k, value) frame_put(lane->frame, numbers + k, value, in)
#define EQUATIONS_END_MODE                                                                                             \
    }                                                                                                                  \
    }
HD_CALL void equations_of_modes(const EquationsLane *UNALIASED lane, int code_row, int numbers, int count, mask which)
{
    const double *assets = lane->assets;
    real *r = lane->file.at;
    (void)assets, (void)count;
    equations_owns_memory(lane);
    is_own_memory(r);
    switch (code_row) {
        EQUATIONS_MADE_MODES
    default: return;
    }
}
#else
HD_CALL void equations_of_modes(const EquationsLane *UNALIASED lane, int code_row, int numbers, int count, mask which)
{
    const bool shared = equations_share(lane, code_row), same = equations_are_same(lane, code_row);
    if (shared) equations_run(lane, equations_code(lane, equations_mode_row(lane, 0) + code_row));
    FRAME_EACH
    for (int mode = 0; mode < (same ? 1 : lane->c->n_modes); mode++) {
        const mask in = same ? which : which & equations_in(lane, mode);
        if (lane->c->n_modes > 1 && !any_lane(in)) continue;
        const EquationsCode code = equations_code(lane, equations_mode_row(lane, mode) + code_row);
        if (!shared) equations_run(lane, code);
        if (lane->c->n_modes > 1 && whole_vector(in))
            equations_keep_outputs(lane, code, numbers, count, all_lanes());
        else
            equations_keep_outputs(lane, code, numbers, count, in);
    }
}
#endif

// numbers[n_total] <- the rates at the arguments.
HD void equations_rates(const EquationsLane *lane, int numbers, mask which)
{
    equations_of_modes(lane, EQUATIONS_MODE_RATES, numbers, lane->c->n_total, which);
}

// The lanes whose mode has output k of a code.
HD_CALL mask equations_has_output(const EquationsLane *UNALIASED lane, int code_row, int k)
{
#if LANES == 1
    const int mode = lane->c->n_modes == 1 ? 0 : (int)equations_named(lane, EQUATIONS_MODE_OF);
    return MASK(equations_register(lane, equations_code(lane, equations_mode_row(lane, mode) + code_row), k) >= 0);
#else
    mask has = no_lanes();
    FRAME_EACH
    for (int mode = 0; mode < lane->c->n_modes; mode++) {
        const EquationsCode code = equations_code(lane, equations_mode_row(lane, mode) + code_row);
        if (equations_register(lane, code, k) >= 0) has = has | equations_in(lane, mode);
    }
    return has;
#endif
}
HD mask equations_has_guard(const EquationsLane *lane, int k)
{
    return equations_has_output(lane, EQUATIONS_MODE_GUARDS, k);
}

// What guard k is in a mode: equal numbers are one quantity. -1: the mode does not have it.
HD real equations_quantity(const EquationsLane *lane, int k, real mode)
{
#if LANES == 1
    const int first = equations_integer(lane, equations_mode_row(lane, (int)mode) + EQUATIONS_MODE_QUANTITIES);
    return (double)equations_integer(lane, first + k);
#else
    real quantity = splat(-1.0);
    FRAME_EACH
    for (int m = 0; m < lane->c->n_modes; m++) {
        const int first = equations_integer(lane, equations_mode_row(lane, m) + EQUATIONS_MODE_QUANTITIES);
        const double number = (double)equations_integer(lane, first + k);
        quantity = select_real(MASK(mode == (double)m), splat(number), quantity);
    }
    return quantity;
#endif
}

// The lanes whose guard k is what it was in mode `before`: its side goes on.
HD_CALL mask equations_keeps_guard(const EquationsLane *UNALIASED lane, int k, real before)
{
    const real quantity = equations_quantity(lane, k, equations_named(lane, EQUATIONS_MODE_OF));
    return MASK(quantity >= 0.0) & MASK(quantity == equations_quantity(lane, k, before));
}

HD real equations_side(const EquationsLane *lane, int k)
{
    return frame_get(lane->file, SYSTEM_SIDE(lane->c->n_states, lane->c->n_held, lane->c->n_parameters, k));
}
HD void equations_set_side(const EquationsLane *lane, int k, real side, mask which)
{
    frame_put(lane->file, SYSTEM_SIDE(lane->c->n_states, lane->c->n_held, lane->c->n_parameters, k), side, which);
}

HD real equations_sign(real x)
{
    return select_real(MASK(x > 0.0), splat(1.0), select_real(MASK(x < 0.0), splat(-1.0), splat(0.0)));
}

// A second, or a shorter duration: the scale of times that count as none.
HD real equations_second(const EquationsLane *lane) { return splat(lane->c->duration < 1.0 ? lane->c->duration : 1.0); }

// ---- switches -------------------------------------------------------------------------------------------------------

HD int equations_switches(const EquationsConstants *c) // straight.h has those registers where there are none
{
    return c->straight != 0 ? 0 : c->first_number - SYSTEM_SIDE(c->n_states, c->n_held, c->n_parameters, c->n_guards);
}
HD int equations_switch(const EquationsConstants *c, int k) { return c->first_number - equations_switches(c) + k; }

// The register of what switch k is made of; -1: none.
HD int equations_switch_register(const EquationsLane *lane, int k, int member)
{
    const EquationsConstants *c = lane->c;
    return equations_integer(lane, c->clocks + c->n_clocks + (int64_t)k * EQUATIONS_SWITCH + member);
}
HD real equations_switch_number(const EquationsLane *lane, int k, int member)
{
    return frame_get(lane->file, equations_switch_register(lane, k, member));
}
HD bool equations_switch_counts(const EquationsLane *lane, int k)
{
    return equations_switch_register(lane, k, EQUATIONS_SWITCH_AT) < 0;
}

// The row of switch k at time t, but for rounding where it counts.
HD real equations_switch_row(const EquationsLane *lane, int k, real t)
{
    if (!equations_switch_counts(lane, k))
        return equations_sign(t - equations_switch_number(lane, k, EQUATIONS_SWITCH_AT));
    const real x = equations_switch_number(lane, k, EQUATIONS_SWITCH_RATE) * t +
                   equations_switch_number(lane, k, EQUATIONS_SWITCH_REST);
    return rounded_down(x / equations_switch_number(lane, k, EQUATIONS_SWITCH_PERIOD));
}

// The instant at which the next row of switch k begins; 1e300: there is none.
HD real equations_switch_instant(const EquationsLane *lane, int k)
{
    const real row = frame_get(lane->file, equations_switch(lane->c, k));
    if (!equations_switch_counts(lane, k))
        return select_real(MASK(row < 0.0), equations_switch_number(lane, k, EQUATIONS_SWITCH_AT), splat(1e300));
    const real period = equations_switch_number(lane, k, EQUATIONS_SWITCH_PERIOD),
               rate = equations_switch_number(lane, k, EQUATIONS_SWITCH_RATE),
               rest = equations_switch_number(lane, k, EQUATIONS_SWITCH_REST);
    const real instant = ((row + 1.0) * period - rest) / rate;
    return select_real(MASK(rate > 0.0) & MASK(period > 0.0) & MASK(instant < 1e300), instant, splat(1e300));
}

// The rows of switches that begin up to time t count, in the lanes of `which`.
HD void equations_turn_switches(const EquationsLane *lane, real t, mask which)
{
    FRAME_EACH
    for (int k = 0; k < equations_switches(lane->c) && any_lane(which); k++) {
        const mask due = which & MASK(equations_switch_instant(lane, k) <= t);
        if (!any_lane(due)) continue;
        const int at = equations_switch(lane->c, k);
        const real now = equations_switch_row(lane, k, t);
        const real next = equations_switch_counts(lane, k) ? greater_of(frame_get(lane->file, at) + 1.0, now) : now;
        frame_put(lane->file, at, next, due);
    }
}

// What happens at the instants of switches is over, in the lanes of `which`.
HD void equations_pass_switches(const EquationsLane *lane, mask which)
{
    FRAME_EACH
    for (int k = 0; k < equations_switches(lane->c) && any_lane(which); k++) {
        const int at = equations_switch(lane->c, k);
        const mask now = equations_switch_counts(lane, k) ? no_lanes() : MASK(frame_get(lane->file, at) == 0.0);
        frame_put(lane->file, at, splat(1.0), which & now);
    }
}

// The lanes in which a switch is at its instant.
HD mask equations_is_switching(const EquationsLane *lane)
{
    mask any = no_lanes();
    FRAME_EACH
    for (int k = 0; k < equations_switches(lane->c); k++)
        if (!equations_switch_counts(lane, k))
            any = any | MASK(frame_get(lane->file, equations_switch(lane->c, k)) == 0.0);
    return any;
}

// ---- beginning and end of a slice -----------------------------------------------------------------------------------

// Between slices a lane is in the batch's memory. General kernels compute there; a made kernel computes in registers:
// `own` has room for them.
HD double *equations_memory(const EquationsConstants *c, const LaneGroup *group, int *apart)
{
#if defined(HOPSCOTCH_TRAIL) // each lane is a group of its own
    (void)c;
    *apart = CELLS_APART;
    return group->batch.work;
#endif
    const int count = c->file + c->registers;
    if (!ON_GPU) return lanes_work_chunk(group, count, apart);
    *apart = LANES_TOGETHER; // neighbouring threads use neighbouring numbers
    return group->batch.work + group->lane / LANES_TOGETHER * LANES_TOGETHER * count + group->lane % LANES_TOGETHER;
}

HD EquationsLane equations_lane(const Constants *constants, const double *assets, const LaneGroup *group, bool observed,
                                FrameNumber *own)
{
    EquationsLane lane;
    lane.recorded = observed && group->lane < group->batch.debug.lanes ? group : NULL;
#if defined(HOPSCOTCH_MADE) && !defined(__cplusplus)
    (void)constants;
    lane.c = &equations_made_constants;
#else
    lane.c = (const EquationsConstants *)constants; // a copy would be in a GPU's local memory
#endif
    lane.assets = assets;
#if defined(HOPSCOTCH_TRAIL)
    lane.trail = trail_of_group(group);
#endif
#if defined(HOPSCOTCH_MADE)
    lane.frame.at = own;
    lane.frame.apart = 1;
    (void)group;
#else
    (void)own;
    lane.frame.at = equations_memory(lane.c, group, &lane.frame.apart);
#endif
#if !defined(HOPSCOTCH_MADE)
    if (equations_shares_all(lane.c)) {
        lane.frame.at = shared_numbers();
        lane.frame.apart = THREAD_BLOCK;
    }
#endif
    lane.file = frame_from(lane.frame, lane.c->file);
#if !defined(HOPSCOTCH_MADE)
    if (equations_shares(lane.c) && !equations_shares_all(lane.c)) {
        lane.file.at = shared_numbers();
        lane.file.apart = THREAD_BLOCK;
    }
#endif
    return lane;
}

#if defined(HOPSCOTCH_MADE)
// Registers between slices: held numbers and sides. Time, states and parameters are set again.
HD bool equations_is_kept(const EquationsConstants *c, int k)
{
    const int held = SYSTEM_HELD(c->n_states, 0), sides = SYSTEM_SIDE(c->n_states, c->n_held, c->n_parameters, 0);
    return (k >= held && k < held + c->n_held) || k >= sides;
}

// Whether number k of the frame up to the stages has a meaning in this system: registers are few.
HD bool equations_has(const EquationsLane *lane, int k)
{
    const EquationsConstants *c = lane->c;
    const bool events = c->n_guards > 0 || c->n_instants > 0;
    if (k == EQUATIONS_H) return !c->fixed_steps;
    if (k == EQUATIONS_MODE_OF) return c->n_modes > 1;
    if (k == EQUATIONS_GRID) return c->fixed_steps != 0;
    if (k == EQUATIONS_SIGHT) return !c->fixed_steps;
    if (k >= EQUATIONS_OPEN && k <= EQUATIONS_CUTS) return c->n_sources > 0;
    if (k < EQUATIONS_NAMED && k != EQUATIONS_T) return events;
    if (k >= c->acting && k < c->watched) return true;
    if (k >= c->watched && k < c->sums) return c->extrema != 0;
    if (k < c->sums) return true;
    const int reduction = equations_integer(
        lane, c->metrics + (int64_t)((k - c->sums) / EQUATIONS_SUMS) * EQUATIONS_METRIC + EQUATIONS_METRIC_REDUCTION);
    return reduction != REDUCTION_FINAL && reduction != REDUCTION_INTEGRAL;
}

// What is kept: the frame up to the stages, and the file up to its numbers.
HD void equations_keep(const EquationsLane *lane, const LaneGroup *group, bool store)
{
    const EquationsConstants *c = lane->c;
    int apart;
    double *memory = equations_memory(c, group, &apart);
    FRAME_EACH
    for (int k = 0; k < c->file + c->first_number; k++) {
        if (k >= c->stage && k < c->file) continue;
        if (k < c->stage && !equations_has(lane, k)) continue;
        if (k >= c->file && !equations_is_kept(c, k - c->file)) continue;
        double *kept = memory + (int64_t)k * apart;
        if (store)
            store_all(kept, frame_get(lane->frame, k));
        else
            frame_set(lane->frame, k, load_all(kept));
    }
}
#endif

// Numbers, parameters, and what depends on them alone.
HD void equations_fixed(const EquationsLane *lane, const LaneGroup *group)
{
    const EquationsConstants *c = lane->c;
    FRAME_EACH
    for (int k = 0; k < c->n_numbers; k++)
        frame_set(lane->file, c->first_number + k, splat(lane->assets[c->numbers + k]));
    FRAME_EACH
    for (int k = 0; k < c->n_parameters; k++)
        frame_set(lane->file, SYSTEM_PARAMETER(c->n_states, c->n_held, k), lanes_parameter(group, k));
    equations_run_steps(lane, c->derived, c->n_derived_steps);
}

#if !defined(HOPSCOTCH_MADE)
// Numbers in a GPU's shared memory go to the batch's memory, or come from there.
HD void equations_move_shared(const EquationsLane *lane, const LaneGroup *group, bool store)
{
    const EquationsConstants *c = lane->c;
    const int first = equations_shares_all(c) ? 0 : c->file, end = c->file + c->registers;
    if (!equations_shares(c) && !equations_shares_all(c)) return;
    Frame memory, shared = first == 0 ? lane->frame : lane->file;
    memory.at = equations_memory(c, group, &memory.apart);
    for (int k = first; k < end; k++) {
        if (store)
            frame_set(memory, k, frame_get(shared, k - first));
        else
            frame_set(shared, k - first, frame_get(memory, k));
    }
}
#endif

// The frame of a lane at the beginning of a slice.
HD void equations_load(const EquationsLane *lane, const LaneGroup *group)
{
#if defined(HOPSCOTCH_MADE)
    FRAME_EACH
    for (int k = 0; k < lane->c->file + lane->c->registers; k++) frame_set(lane->frame, k, splat(0.0));
    if (group->tick > 0) equations_keep(lane, group, false);
    if (lane->c->fixed_steps) frame_set(lane->frame, EQUATIONS_H, splat(1e300));
    equations_fixed(lane, group);
#else
    if (group->tick > 0) {
        equations_move_shared(lane, group, false);
        return;
    }
    FRAME_EACH
    for (int k = 0; k < lane->c->file; k++) frame_set(lane->frame, k, splat(0.0));
    FRAME_EACH
    for (int k = 0; k < lane->c->registers; k++) frame_set(lane->file, k, splat(0.0));
    equations_fixed(lane, group);
#endif
}

HD void equations_store(const EquationsLane *lane, const LaneGroup *group)
{
#if defined(HOPSCOTCH_MADE)
    equations_keep(lane, group, true);
#else
    equations_move_shared(lane, group, true);
#endif
}

HD void equations_begin(const EquationsLane *lane)
{
    const EquationsConstants *c = lane->c;
    const EquationsCode start = equations_code(lane, c->start);
    equations_run(lane, start);
    FRAME_EACH
    for (int i = 0; i < c->n_states; i++) frame_set(lane->frame, c->y + i, equations_output(lane, start, i));
    FRAME_EACH
    for (int i = 0; i < c->n_held; i++)
        frame_set(lane->file, SYSTEM_HELD(c->n_states, i), equations_output(lane, start, c->n_states + i));
    FRAME_EACH
    for (int k = 0; k < equations_switches(c); k++)
        frame_set(lane->file, equations_switch(c, k), equations_switch_row(lane, k, splat(0.0)));
    equations_turn_switches(lane, splat(0.0), all_lanes()); // a row may begin there by rounding
    frame_set(lane->frame, EQUATIONS_EVENT_T, splat(-1.0));
    frame_set(lane->frame, EQUATIONS_TIMED_T, splat(-1.0));
    frame_set(lane->frame, EQUATIONS_SIGHT, splat(1e300));
}

#endif
