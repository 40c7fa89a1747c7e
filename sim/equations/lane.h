// A lane of the model `equations`: its frame, its codes, and the values that its modes give.
#ifndef HOPSCOTCH_EQUATIONS_LANE_H
#define HOPSCOTCH_EQUATIONS_LANE_H

#include "../lanes.h"
#include "../tape_code.h"
#include "equations.h"
#include "system.h"

typedef struct EquationsLane {
    EquationsConstants c;
    const double *assets;
    Frame frame, file; // file: the registers of codes, in the frame
} EquationsLane;

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

HD void equations_run(const EquationsLane *lane, EquationsCode code)
{
    tape_run(lane->assets, code.first, code.count, lane->file);
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
    return lane->c.modes + (int64_t)mode * EQUATIONS_MODE;
}
HD mask equations_in(const EquationsLane *lane, int mode)
{
    return lane->c.n_modes == 1 ? all_lanes() : MASK(equations_named(lane, EQUATIONS_MODE_OF) == (double)mode);
}

// ---- arguments and results of codes ---------------------------------------------------------------------------------

HD void equations_at(const EquationsLane *lane, real time) { frame_set(lane->file, SYSTEM_TIME, time); }
// The state numbers[n_states] of the frame as arguments.
HD void equations_argue(const EquationsLane *lane, int numbers)
{
    for (int i = 0; i < lane->c.n_states; i++) frame_set(lane->file, 1 + i, frame_get(lane->frame, numbers + i));
}

// Runs a code of every mode that a lane of `which` is in; numbers[count] of the frame <- its outputs, those from
// `first` on, 0 where a mode has none.
HD void equations_of_modes(const EquationsLane *lane, int code_row, int first, int numbers, int count, mask which)
{
    for (int mode = 0; mode < lane->c.n_modes; mode++) {
        const mask in = which & equations_in(lane, mode);
        if (!any_lane(in)) continue;
        const EquationsCode code = equations_code(lane, equations_mode_row(lane, mode) + code_row);
        equations_run(lane, code);
        for (int i = 0; i < count; i++)
            frame_put(lane->frame, numbers + i, equations_output(lane, code, first + i), in);
    }
}

// numbers[n_total] <- the rates at the arguments.
HD void equations_rates(const EquationsLane *lane, int numbers, mask which)
{
    equations_of_modes(lane, EQUATIONS_MODE_RATES, 0, numbers, lane->c.n_total, which);
}

// Whether guard k stands in the mode of each lane.
HD mask equations_has_guard(const EquationsLane *lane, int k)
{
    mask has = no_lanes();
    for (int mode = 0; mode < lane->c.n_modes; mode++) {
        const EquationsCode code = equations_code(lane, equations_mode_row(lane, mode) + EQUATIONS_MODE_GUARDS);
        if (equations_register(lane, code, k) >= 0) has = has | equations_in(lane, mode);
    }
    return has;
}

HD real equations_side(const EquationsLane *lane, int k)
{
    return frame_get(lane->file, SYSTEM_SIDE(lane->c.n_states, lane->c.n_held, lane->c.n_parameters, k));
}
HD void equations_set_side(const EquationsLane *lane, int k, real side, mask which)
{
    frame_put(lane->file, SYSTEM_SIDE(lane->c.n_states, lane->c.n_held, lane->c.n_parameters, k), side, which);
}

HD real equations_sign(real x)
{
    return select_real(MASK(x > 0.0), splat(1.0), select_real(MASK(x < 0.0), splat(-1.0), splat(0.0)));
}

// ---- beginning ------------------------------------------------------------------------------------------------------

HD EquationsLane equations_lane(const Constants *constants, const double *assets, const LaneGroup *group)
{
    EquationsLane lane;
    memcpy(&lane.c, constants, sizeof lane.c);
    lane.assets = assets;
    lane.frame.at = lanes_work_chunk(group, lane.c.file + lane.c.registers, &lane.frame.apart);
    if (ON_GPU) { // neighbouring threads use neighbouring numbers
        lane.frame.apart = LANES_TOGETHER;
        lane.frame.at = group->batch.work +
                        group->lane / LANES_TOGETHER * LANES_TOGETHER * (lane.c.file + lane.c.registers) +
                        group->lane % LANES_TOGETHER;
    }
    lane.file = frame_from(lane.frame, lane.c.file);
    return lane;
}

HD void equations_begin(const EquationsLane *lane, const LaneGroup *group)
{
    const EquationsConstants *c = &lane->c;
    for (int k = 0; k < c->file + c->registers; k++) frame_set(lane->frame, k, splat(0.0));
    for (int k = 0; k < c->n_numbers; k++)
        frame_set(lane->file, c->first_number + k, splat(lane->assets[c->numbers + k]));
    const int parameters = SYSTEM_PARAMETER(c->n_states, c->n_held, 0);
    for (int k = 0; k < c->n_parameters; k++) frame_set(lane->file, parameters + k, lanes_parameter(group, k));
    tape_run(lane->assets, c->derived, c->n_derived_steps, lane->file);
    const EquationsCode start = equations_code(lane, c->start);
    equations_run(lane, start);
    for (int i = 0; i < c->n_states; i++) frame_set(lane->frame, c->y + i, equations_output(lane, start, i));
    for (int i = 0; i < c->n_held; i++)
        frame_set(lane->file, SYSTEM_HELD(c->n_states, i), equations_output(lane, start, c->n_states + i));
    frame_set(lane->frame, EQUATIONS_EVENT_T, splat(-1.0));
}

#endif
