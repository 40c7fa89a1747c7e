// A kernel's view of a batch: LANES neighbouring lanes (one on the GPU), for one slice. A kernel is a function
//     HD void model_kernel(const Constants *constants, const double *assets, const LaneGroup *group, bool observed)
// that loads its lanes (or starts them at tick 0), advances each by `ticks`, and stores it when the lane or the slice
// ends. `observed` is a literal in every call: only the observed kernel samples trajectories and writes debug rows. The
// plain one is compiled from the same source without that code.
#ifndef HOPSCOTCH_LANES_H
#define HOPSCOTCH_LANES_H

#include "lanes_view.h"
#include "real.h"

HD real lanes_parameter(const LaneGroup *group, int field)
{
#if defined(HOPSCOTCH_MADE) // for a campaign: made_inputs are those of all its trials (sim/made/source.c)
    double value;
    memcpy(&value, &made_inputs[field], sizeof value);
    if (made_input_is_fixed[field]) return splat(value);
#endif
    return load_lanes(group->batch.parameter + field * group->batch.stride + group->lane, group->valid);
}

HD real lanes_work(const LaneGroup *group, int field)
{
    return load_lanes(group->batch.work + field * group->batch.stride + group->lane, group->valid);
}

HD void lanes_set_work(const LaneGroup *group, int field, real value, mask which)
{
    store_lanes(group->batch.work + field * group->batch.stride + group->lane, value, which, group->valid);
}

HD void lanes_set_metric(const LaneGroup *group, int metric, real value, mask which)
{
    store_lanes(group->batch.metric + metric * group->batch.stride + group->lane, canonical(value), which,
                group->valid);
}

// Where a CPU keeps a group's own memory, in lanes: observed lanes form separate groups, and each group has room for
// all LANES.
#if !defined(HOPSCOTCH_ALONE) && !defined(HOPSCOTCH_TEAMS)
HD int64_t lanes_position(const LaneGroup *group)
{
    const int64_t observed = batch_observed(&group->batch), past = group->lane - observed;
    return past < 0 ? group->lane : (observed + LANES_MOST - 1) / LANES_MOST * LANES_MOST + past;
}
#endif

// The work fields of the group as one chunk, in an order that only the model knows. Field i of the group's k-th lane
// stands at [i*stride + k]. On a CPU the chunk has room for all LANES, even if the group has fewer. A kernel uses
// either this or lanes_work, never both.
HD double *lanes_work_chunk(const LaneGroup *group, int fields, int *stride)
{
#if defined(HOPSCOTCH_ALONE)
    *stride = LANES_TOGETHER;
    return group->batch.work + group->lane / LANES_TOGETHER * LANES_TOGETHER * fields + group->lane % LANES_TOGETHER;
#elif defined(HOPSCOTCH_TEAMS)
    // neighbouring threads use neighbouring numbers, of one lane or of LANES_TOGETHER lanes
    *stride = group->team.thread_blocks > 0 ? 1 : LANES_TOGETHER;
    return group->batch.work + group->lane / *stride * *stride * fields + group->lane % *stride;
#else
    *stride = REAL_DOUBLES; // neighbouring fields are contiguous in memory
    return group->batch.work + lanes_position(group) * fields;
#endif
}

// Where a GPU's kernel begins: from the first lane of its launch to the lane of this thread or team. False: there is
// none.
HD bool lanes_take(LaneGroup *group, int64_t position, int64_t end)
{
    group->lane += position;
    if (group->lane >= end) return false;
    if (group->order != NULL) group->lane = group->order[group->lane];
    return true;
}

// the lanes that have not ended yet
HD mask lanes_running(const LaneGroup *group)
{
#if LANES == 1
    return MASK(group->tick == 0 || group->batch.status[group->lane] == LANE_RUNNING);
#else
    mask running = no_lanes();
    for (int i = 0; i < group->valid; i++) {
        running[i] = group->tick == 0 || group->batch.status[group->lane + i] == LANE_RUNNING ? -1 : 0;
    }
    return running;
#endif
}

// Ends the lanes of `which` with the failure code in `failure` (0: none).
HD void lanes_end(const LaneGroup *group, real failure, mask which)
{
    for (int i = 0; i < group->valid; i++) {
        if (lane_of_mask(which, i)) group->batch.status[group->lane + i] = LANE_DONE + (int32_t)lane_of(failure, i);
    }
}

// ---- lanes with clocks of their own ---------------------------------------------------------------------------------

HD real lanes_clock(const LaneGroup *group)
{
    double ticks[REAL_DOUBLES] = {0.0};
    for (int i = 0; i < LANES; i++)
        ticks[i] = (double)group->own.ticks[group->lane + (i < group->valid ? i : group->valid - 1)];
    return load_lanes(ticks, LANES);
}

HD void lanes_set_clock(const LaneGroup *group, real ticks, mask which)
{
    for (int i = 0; i < group->valid; i++)
        if (lane_of_mask(which, i)) group->own.ticks[group->lane + i] = (int64_t)lane_of(ticks, i);
}

HD real lanes_action(const LaneGroup *group, int action)
{
    return load_lanes(group->own.action + action * group->batch.stride + group->lane, group->valid);
}

HD void lanes_set_column(const LaneGroup *group, int column, real value, mask which)
{
    store_lanes(group->own.column + column * group->own.columns_apart, value, which, group->valid);
}

// ---- debug rows -----------------------------------------------------------------------------------------------------

// True if debug rows are wanted for this tick.
HD bool lanes_debug_due(const LaneGroup *group, int64_t tick)
{
    const DebugRows *debug = &group->batch.debug;
#if defined(HOPSCOTCH_MADE) // whose lanes are not recorded
    return (void)debug, (void)tick, false;
#endif
    return group->lane < debug->lanes && tick >= debug->first && tick < debug->end;
}

// Sets a number of the next debug row of the lanes of `which`. If the ring is full, the row replaces the oldest.
HD void lanes_set_debug(const LaneGroup *group, int column, real value, mask which)
{
    const DebugRows *debug = &group->batch.debug;
    for (int i = 0; i < group->valid && group->lane + i < debug->lanes; i++) {
        if (!lane_of_mask(which, i)) continue;
        const int64_t lane = group->lane + i, k = debug->count[lane] % debug->capacity;
        debug->row[(lane * debug->capacity + k) * group->n_debug + column] = lane_of(canonical(value), i);
    }
}

// Completes that row, after all its numbers are set.
HD void lanes_end_debug(const LaneGroup *group, mask which)
{
    const DebugRows *debug = &group->batch.debug;
    for (int i = 0; i < group->valid && group->lane + i < debug->lanes; i++)
        if (lane_of_mask(which, i)) debug->count[group->lane + i]++;
}

// Appends a debug row row[n_debug] for the lanes of `which`.
HD void lanes_debug(const LaneGroup *group, const real *row, mask which)
{
    for (int c = 0; c < group->n_debug; c++) lanes_set_debug(group, c, row[c], which);
    lanes_end_debug(group, which);
}

// The number of rows that each lane has written so far.
HD real lanes_debug_rows(const LaneGroup *group)
{
    double rows[REAL_DOUBLES] = {0.0};
    for (int i = 0; i < LANES; i++) {
        const int64_t lane = group->lane + (i < group->valid ? i : group->valid - 1);
        rows[i] = lane < group->batch.debug.lanes ? (double)group->batch.debug.count[lane] : 0.0;
    }
    return load_lanes(rows, LANES);
}

#endif
