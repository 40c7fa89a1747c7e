// A code over the samples of lanes (LaneCode in sim.h), whose numbers stand in memory of each lane: metrics of the
// user's own (meter.h) and control laws (law.h).
#ifndef HOPSCOTCH_LANE_CODE_H
#define HOPSCOTCH_LANE_CODE_H

#include "lanes.h"
#include "tape_code.h"

HD double *lane_code_cell(const LaneGroup *group, const LaneCode *of, int k)
{
#if defined(HOPSCOTCH_ALONE) || defined(HOPSCOTCH_TEAMS)
    return of->cell + group->lane * of->lane_apart + (int64_t)k * of->cell_apart;
#elif LANES == 1
    return of->cell + lanes_position(group) * of->lane_apart + (int64_t)k * of->cell_apart;
#else
    return of->cell + lanes_position(group) * of->lane_apart + (int64_t)k * LANES;
#endif
}
HD real lane_code_get(const LaneGroup *group, const LaneCode *of, int k)
{
#if LANES == 1
    return *lane_code_cell(group, of, k);
#else
    return load_all(lane_code_cell(group, of, k));
#endif
}
HD void lane_code_put(const LaneGroup *group, const LaneCode *of, int k, real value)
{
#if LANES == 1
    *lane_code_cell(group, of, k) = value;
#else
    store_all(lane_code_cell(group, of, k), value);
#endif
}
HD void lane_code_put_in(const LaneGroup *group, const LaneCode *of, int k, real value, mask which)
{
    lane_code_put(group, of, k, select_real(which, value, lane_code_get(group, of, k)));
}

HD int lane_code_integer(const LaneCode *of, int64_t k) { return (int)asset_integer(of->assets, k); }
// The cell of a register.
HD int lane_code_register(const LaneCode *of, int k) { return of->cells - of->code.registers + k; }

// Whether it takes a column.
HD bool lane_code_needs(const LaneCode *of, int column) { return lane_code_integer(of, of->columns + column) >= 0; }

// Column `column` of the next sample.
HD void lane_code_set(const LaneGroup *group, const LaneCode *of, int column, real value, mask which)
{
    const int at = lane_code_integer(of, of->columns + column);
    if (at >= 0) lane_code_put_in(group, of, lane_code_register(of, at), value, which);
}

// Codes: what does not change while a lane runs, what does, and of a law with policies what follows these.
typedef enum LaneCodePart {
    LANE_CODE_METER_BEGIN,
    LANE_CODE_METER_STEP,
    LANE_CODE_LAW_BEGIN,
    LANE_CODE_LAW_STEP,
    LANE_CODE_LAW_THEN
} LaneCodePart;

#if defined(HOPSCOTCH_MADE) && !MADE_ON_CPU // codes as text (made/source.c); a CPU's made kernel has none
#define LANE_CODE_GET(k) cell[(k)*apart]
#define LANE_CODE_SET(k, value) cell[(k)*apart] = value
#define LANE_CODE_MADE(name, steps)                                                                                    \
    static __device__ __noinline__ void name(const double *assets, double *cell, int64_t apart)                        \
    {                                                                                                                  \
        (void)assets, (void)cell, (void)apart;                                                                         \
        steps                                                                                                          \
    }
LANE_CODE_MADE(lane_code_meter_begin, METER_MADE_BEGIN)
LANE_CODE_MADE(lane_code_meter_step, METER_MADE_STEPS)
LANE_CODE_MADE(lane_code_law_begin, LAW_MADE_BEGIN)
LANE_CODE_MADE(lane_code_law_step, LAW_MADE_STEPS)
LANE_CODE_MADE(lane_code_law_then, LAW_THEN_MADE_STEPS)
#undef LANE_CODE_MADE
#endif

// code: the one that has this part
HD void lane_code_run(const LaneGroup *group, const LaneCode *of, const CodeView *code, LaneCodePart part)
{
#if !defined(HOPSCOTCH_MADE)
    Frame file;
    file.at = lane_code_cell(group, of, lane_code_register(of, 0));
    file.apart = (int)of->cell_apart;
    if (part == LANE_CODE_METER_BEGIN || part == LANE_CODE_LAW_BEGIN)
        tape_begin(of->assets, code, file);
    else
        tape_step(of->assets, code, file);
#elif !MADE_ON_CPU
    double *const cell = lane_code_cell(group, of, lane_code_register(of, 0));
    (void)code;
    if (part == LANE_CODE_METER_BEGIN) lane_code_meter_begin(of->assets, cell, of->cell_apart);
    if (part == LANE_CODE_METER_STEP) lane_code_meter_step(of->assets, cell, of->cell_apart);
    if (part == LANE_CODE_LAW_BEGIN) lane_code_law_begin(of->assets, cell, of->cell_apart);
    if (part == LANE_CODE_LAW_STEP) lane_code_law_step(of->assets, cell, of->cell_apart);
    if (part == LANE_CODE_LAW_THEN) lane_code_law_then(of->assets, cell, of->cell_apart);
#else
    (void)group, (void)of, (void)code, (void)part;
#endif
}

// Its parameters, and what depends on them alone.
HD void lane_code_begin(const LaneGroup *group, const LaneCode *of, LaneCodePart part)
{
    for (int k = 0; k < of->n_parameters; k++) {
        const int field = lane_code_integer(of, of->parameters + k);
        const double *from = group->batch.parameter + field * group->batch.stride + group->lane;
        lane_code_put(group, of, lane_code_register(of, of->n_needed + k), load_lanes(from, group->valid));
    }
    lane_code_run(group, of, &of->code, part);
}

#endif
