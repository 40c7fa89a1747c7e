// The trail of a lane: each step that it took and each action that happened, for its derivatives (adjoint/). Kernels
// that leave one are compiled apart (../trail_kernels.c), with one lane; others have no trace of it.
#ifndef HOPSCOTCH_EQUATIONS_TRAIL_H
#define HOPSCOTCH_EQUATIONS_TRAIL_H

#include "noise.h"

// An entry: these numbers, then the state and the integrals, held numbers, sides of guards and rows of switches, and
// conditions, as they are before the step or the action, or at the end. Then, of a step that lands, which guards turn.
// Last, of a system with noise: increments and areas of sources in the step, the state that sizes of the noise are of,
// and the end of the piece of the path (noise.h).
enum {
    TRAIL_KIND,
    TRAIL_T,
    TRAIL_H,
    TRAIL_MODE,
    TRAIL_CAUSE, // of a step: why it ended when it did
    TRAIL_WHICH, // the guard, instant or switch; of an action its row
    TRAIL_NOW,   // time at the end of a step
    TRAIL_NAMED
};
enum { TRAIL_STEP, TRAIL_ACTION, TRAIL_END };
// FREE: its length is what the method chose. KNOWN: at a time that depends on no parameter.
enum { TRAIL_FREE, TRAIL_KNOWN, TRAIL_GUARD, TRAIL_INSTANT, TRAIL_SWITCH };

#if defined(HOPSCOTCH_TRAIL)
enum { EQUATIONS_TRAILS = 1 };

struct EquationsTrail {
    Cells entries; // [room][width]
    int64_t count, room;
    int width;
    Cells sums;    // [n_metrics][EQUATIONS_SUMS] of the lane at its end
    Cells extreme; // [n_metrics] time at which a metric took the value that it kept last
    bool again;    // a part of the run is computed once more, and `extreme` stays
};

// The group of a kernel that leaves a trail.
typedef struct TrailGroup {
    LaneGroup group;
    EquationsTrail *trail;
} TrailGroup;

HD EquationsTrail *trail_of_group(const LaneGroup *group) { return ((const TrailGroup *)(const void *)group)->trail; }

enum { TRAIL_BITS = 32 }; // of a number that says which guards turn

HD int trail_turns(const EquationsConstants *c) // where these begin
{
    return TRAIL_NAMED + c->n_total + c->n_held + c->n_guards + equations_switches(c) + c->n_conditions;
}
HD int trail_path(const EquationsConstants *c) { return trail_turns(c) + (c->n_guards + TRAIL_BITS - 1) / TRAIL_BITS; }
HD int trail_width(const EquationsConstants *c)
{
    return trail_path(c) + (c->n_sources > 0 ? 2 * c->n_sources + c->n_states + 1 : 0);
}

// A new entry with what the lane is now, at time t.
HD_CALL Cells trail_put(const EquationsLane *UNALIASED lane, int kind, real t)
{
    const EquationsConstants *c = lane->c;
    EquationsTrail *trail = lane->trail;
    const Cells entry = trail->entries + trail->count++ * trail->width;
    int at = TRAIL_NAMED;
    entry[TRAIL_KIND] = kind;
    entry[TRAIL_T] = t;
    entry[TRAIL_H] = 0.0;
    entry[TRAIL_MODE] = equations_named(lane, EQUATIONS_MODE_OF);
    entry[TRAIL_CAUSE] = TRAIL_KNOWN;
    entry[TRAIL_WHICH] = -1.0;
    entry[TRAIL_NOW] = t;
    for (int i = 0; i < c->n_total; i++) entry[at++] = frame_get(lane->frame, c->y + i);
    for (int i = 0; i < c->n_held; i++) entry[at++] = frame_get(lane->file, SYSTEM_HELD(c->n_states, i));
    for (int i = 0; i < c->n_guards; i++) entry[at++] = equations_side(lane, i);
    for (int i = 0; i < equations_switches(c); i++) entry[at++] = frame_get(lane->file, equations_switch(c, i));
    for (int i = 0; i < c->n_conditions; i++) entry[at++] = frame_get(lane->frame, c->condition + i);
    for (int i = 0; i < c->n_guards; i += TRAIL_BITS) entry[at++] = 0.0;
    for (int i = 0; i < 2 * c->n_sources; i++) entry[at++] = frame_get(lane->frame, equations_stepped(lane) + i);
    for (int i = 0; i < c->n_states && c->n_sources > 0; i++)
        entry[at++] = frame_get(lane->frame, equations_origin(lane) + i);
    if (c->n_sources > 0) entry[at++] = equations_named(lane, EQUATIONS_PIECE_END);
    return entry;
}

// Before an action of row `row` of the assets. The arguments are the lane's state.
HD_CALL void trail_action(const EquationsLane *UNALIASED lane, int64_t row)
{
    const Cells entry = trail_put(lane, TRAIL_ACTION, frame_get(lane->file, SYSTEM_TIME));
    entry[TRAIL_WHICH] = (double)row;
}

// A metric has taken a value at the arguments; before, it kept `kept`, if it was not its first.
HD_CALL void trail_extreme(const EquationsLane *UNALIASED lane, int metric, mask first, real kept, mask which)
{
    const real now = frame_get(lane->frame, lane->c->sums + metric * EQUATIONS_SUMS);
    if (any_lane(which) && (any_lane(first) || now != kept) && !lane->trail->again)
        lane->trail->extreme[metric] = frame_get(lane->file, SYSTEM_TIME);
}

HD_CALL void trail_end(const EquationsLane *UNALIASED lane)
{
    const int sums = EQUATIONS_SUMS * lane->c->n_metrics;
    (void)trail_put(lane, TRAIL_END, equations_named(lane, EQUATIONS_T));
    for (int k = 0; k < sums; k++) lane->trail->sums[k] = frame_get(lane->frame, lane->c->sums + k);
}
#else
enum { EQUATIONS_TRAILS = 0 };
HD void trail_action(const EquationsLane *lane, int64_t row) { (void)lane, (void)row; }
HD void trail_extreme(const EquationsLane *lane, int metric, mask first, real kept, mask which)
{
    (void)lane, (void)metric, (void)first, (void)kept, (void)which;
}
HD void trail_end(const EquationsLane *lane) { (void)lane; }
#endif

#endif
