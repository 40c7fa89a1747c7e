// The table of events of a recorded lane: a debug row (../lanes.h) for each event, in the order in which they happen.
#ifndef HOPSCOTCH_EQUATIONS_RECORD_H
#define HOPSCOTCH_EQUATIONS_RECORD_H

#include "metrics.h"

#if defined(HOPSCOTCH_MADE) // no lane of a made kernel is observed
HD mask equations_record_before(const EquationsLane *lane, int event, mask which)
{
    (void)lane, (void)event, (void)which;
    return no_lanes();
}
HD void equations_record_after(const EquationsLane *lane, mask recorded) { (void)lane, (void)recorded; }
#else

// The lanes of `which` whose event is recorded: the time (s) of the arguments is in the window of debug rows. A window
// that ends with the lane has its last instant too.
HD mask equations_recorded(const EquationsLane *lane, mask which)
{
    const EquationsConstants *c = lane->c;
    const DebugRows *debug = &lane->recorded->batch.debug;
    const double first = (double)debug->first * c->dt, end = (double)debug->end * c->dt;
    const real t = frame_get(lane->file, SYSTEM_TIME);
    return which & MASK(t >= first) & (end < c->duration ? MASK(t < end) : all_lanes());
}

// The mode, the states and the user's held numbers as columns of the next row, before an event or after it.
HD_CALL void equations_record_state(const EquationsLane *UNALIASED lane, bool after, mask which)
{
    const EquationsConstants *c = lane->c;
    const int n_held = c->n_held - c->n_clocks, n_modes = c->n_modes > 1 ? 2 : 0;
    int column = EQUATIONS_ROW + n_modes + (after ? c->n_states + n_held : 0);
    if (n_modes > 0)
        lanes_set_debug(lane->recorded, EQUATIONS_ROW + (after ? 1 : 0), equations_named(lane, EQUATIONS_MODE_OF),
                        which);
    FRAME_EACH
    for (int i = 0; i < c->n_states; i++)
        lanes_set_debug(lane->recorded, column++, frame_get(lane->file, SYSTEM_STATE(i)), which);
    FRAME_EACH
    for (int i = 0; i < n_held; i++)
        lanes_set_debug(lane->recorded, column++, frame_get(lane->file, SYSTEM_HELD(c->n_states, i)), which);
}

// Begins the rows of an event of the lanes of `which`, before what it sets. Returns the lanes that are recorded.
HD mask equations_record_before(const EquationsLane *lane, int event, mask which)
{
    if (lane->recorded == NULL) return no_lanes();
    const mask recorded = equations_recorded(lane, which);
    if (!any_lane(recorded)) return recorded;
    lanes_set_debug(lane->recorded, EQUATIONS_ROW_TIME, frame_get(lane->file, SYSTEM_TIME), recorded);
    lanes_set_debug(lane->recorded, EQUATIONS_ROW_NUMBER, lanes_debug_rows(lane->recorded), recorded);
    lanes_set_debug(lane->recorded, EQUATIONS_ROW_EVENT, splat((double)event), recorded);
    equations_record_state(lane, false, recorded);
    return recorded;
}

// Ends them, after what the event sets.
HD void equations_record_after(const EquationsLane *lane, mask recorded)
{
    if (lane->recorded == NULL || !any_lane(recorded)) return;
    equations_record_state(lane, true, recorded);
    lanes_end_debug(lane->recorded, recorded);
}
#endif

#endif
