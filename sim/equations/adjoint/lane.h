// A lane forward, which leaves its trail, and back along it. The lengths of steps are numbers, but for three kinds: one
// that ends at an instant has the length that is left until then, the last of a run until the duration, and one that
// lands on a guard is as long as the guard says: it is 0 where the step ends. So the time of an event, and what it
// leads to, depend on all that the guard does (the saltation of hybrid systems: M. A. Aizerman & F. R. Gantmakher,
// Q. J. Mech. Appl. Math. 11, 1958).
// Where the trail does not fit into memory, the lane is kept at the begin of each segment of it, and all segments but
// the last are run once more.
#ifndef HOPSCOTCH_EQUATIONS_ADJOINT_LANE_H
#define HOPSCOTCH_EQUATIONS_ADJOINT_LANE_H

#include "pull.h"

enum {
    TRAIL_MEMORY = 1 << 25, // bytes, if no other number is given
    TRAIL_SLICE = 1024,     // attempts at a step between two looks whether to leave
    TRAIL_LEAST = 256,      // entries
    TRAIL_SEGMENTS = 64     // at least
};
#define TRAIL_EVER ((int64_t)1 << 52) // ticks
#define TRAIL_SAME 1e-6               // of the derivatives of instants
#define TRAIL_GRAZES 1e-5 // of the speed of a guard at its event, over its mean speed in the step that lands on it

// What lanes are lanes of. On a GPU in its memory.
typedef struct TrailSystem {
    const Constants *constants;
    const double *assets;
    const EquationsDerivatives *derivatives;
    int n_parameters, n_metrics, n_work; // of a Configured
    int64_t ticks;
} TrailSystem;

// How much memory a lane has.
typedef struct TrailPlan {
    int64_t room, most, at_once; // entries; segments; entries of an attempt at a step, at most
    int width;
} TrailPlan;

// A lane that runs or is gone back through. Its arrays are in memory of its own.
typedef struct TrailLane {
    const TrailSystem *of;
    TrailPlan plan;
    TrailGroup group;
    EquationsTrail trail;
    Motion motion;
    int64_t tick;      // of the lane
    int64_t segments;  // of the trail
    int64_t held;      // the segment whose entries are in memory
    int64_t until;     // the tick at which it ends, if it is run once more
    int64_t segment;   // that is gone back through; -1: all are
    int64_t at;        // entries of it that are still to be gone back through
    bool fills;        // its entries are not all there yet
    bool streams;      // they are read and forgotten as it runs (tangent.h): when there is no room it stops
    bool looks;        // before that, it runs for the times of its extrema alone
    bool overflows;    // more segments were needed than there is room for
    bool grazes;       // a guard is only touched, and what moves it has no derivative
    bool coincides;    // events at one instant, which some inputs take apart
    bool cuts;         // an instant that some inputs move cuts the path of the noise
    double piece_end;  // of the path, of the step behind
    double trouble;    // time of the last such event, backwards
    double end_time;   // of the run
    double size, most; // norms of the bars of the state: the first that is not 0, backwards; the greatest
    int32_t status;
    Cells kept;                      // [TRAIL_KEPT] numbers of this struct between two slices
    Cells metric;                    // [n_metrics]
    Cells parameter;                 // [n_parameters]
    Cells weigh;                     // [n_metrics] weights
    Cells work;                      // [n_work]
    Cells firsts;                    // [most][1 + n_work] the tick and the lane where a segment begins
    Cells part;                      // [width] an entry's step up to an extremum
    Cells next, conditions;          // [width] the entry behind; [n_conditions] at the end of a step
    Cells bar, to, guard, by, other; // [n_bars]
    Cells from;                      // [n_total] bars at the end of a step
    Cells integrals;                 // [n_integrals] bars
    Cells left;                      // [n_metrics] occurrences of an event that are still to come, backwards
    Cells taken;                     // [n_metrics] 1: the least was taken, 2: the greatest
} TrailLane;

// ---- memory ---------------------------------------------------------------------------------------------------------

HD const EquationsConstants *trail_constants(const TrailSystem *of)
{
    return (const EquationsConstants *)(const void *)of->constants;
}

HD_CALL int64_t trail_at_once(const TrailSystem *of)
{
    const EquationsConstants *c = trail_constants(of);
    int64_t actions = 0;
    for (int m = 0; m < c->n_modes; m++) {
        const int64_t own =
            asset_integer(of->assets, c->modes + (int64_t)m * EQUATIONS_MODE + EQUATIONS_MODE_N_ACTIONS);
        if (own > actions) actions = own;
    }
    return 3 + (c->n_actions > 0 ? 2 : 1) * (c->cascade + 3) * actions; // a period of actions has its own
}

// most: bytes, 0: TRAIL_MEMORY.
HD_CALL TrailPlan trail_plan(const TrailSystem *of, size_t most)
{
    const EquationsConstants *c = trail_constants(of);
    const int64_t doubles = (int64_t)((most > 0 ? most : (size_t)TRAIL_MEMORY) / sizeof(double));
    const int64_t needed = of->ticks < c->steps_max ? of->ticks : c->steps_max;
    TrailPlan plan;
    plan.width = trail_width(c);
    plan.at_once = trail_at_once(of);
    plan.room = doubles * 3 / 4 / plan.width;
    if (c->fixed_steps && plan.room > needed + needed / 4 + 2 * plan.at_once)
        plan.room = needed + needed / 4 + 2 * plan.at_once;
    if (plan.room < 2 * plan.at_once + TRAIL_LEAST) plan.room = 2 * plan.at_once + TRAIL_LEAST;
    plan.most = doubles / 4 / (of->n_work + 1);
    if (c->fixed_steps && plan.most > 2 + 4 * needed / plan.room) plan.most = 2 + 4 * needed / plan.room;
    if (plan.most < TRAIL_SEGMENTS) plan.most = TRAIL_SEGMENTS;
    return plan;
}

// The numbers of a lane between two slices. X(type, member)
// clang-format off
#define TRAIL_NUMBERS(X) \
    X(int64_t, tick) X(int64_t, segments) X(int64_t, held) X(int64_t, until) X(int64_t, segment) X(int64_t, at) \
    X(int64_t, trail.count) X(bool, trail.again) X(bool, fills) X(bool, streams) X(bool, looks) X(bool, overflows) \
    X(bool, grazes) X(bool, coincides) X(bool, cuts) X(double, piece_end) X(double, trouble) X(double, end_time) \
    X(double, size) X(double, most) X(int32_t, status)
// clang-format on
#define TRAIL_NUMBER(type, member) +1
enum { TRAIL_KEPT = 0 TRAIL_NUMBERS(TRAIL_NUMBER) };
#undef TRAIL_NUMBER

HD_CALL void trail_keep(const TrailLane *lane)
{
    int k = 0;
#define TRAIL_NUMBER(type, member) lane->kept[k++] = (double)lane->member;
    TRAIL_NUMBERS(TRAIL_NUMBER)
#undef TRAIL_NUMBER
}
HD_CALL void trail_load(TrailLane *lane)
{
    int k = 0;
#define TRAIL_NUMBER(type, member) lane->member = (type)lane->kept[k++];
    TRAIL_NUMBERS(TRAIL_NUMBER)
#undef TRAIL_NUMBER
}

// Lays the arrays out from `at` on; returns where they end.
HD_CALL Cells trail_lay(const TrailSystem *of, const TrailPlan *plan, Cells at, TrailLane *lane)
{
    const EquationsConstants *c = trail_constants(of);
    lane->motion.c = c;
    lane->motion.d = of->derivatives;
    lane->motion.assets = of->assets;
    const int n_bars = motion_bars(&lane->motion);
    lane->kept = cells_take(&at, TRAIL_KEPT);
    lane->metric = cells_take(&at, of->n_metrics);
    lane->parameter = cells_take(&at, of->n_parameters);
    lane->weigh = cells_take(&at, of->n_metrics);
    lane->work = cells_take(&at, of->n_work);
    lane->firsts = cells_take(&at, plan->most * (1 + of->n_work));
    lane->part = cells_take(&at, plan->width);
    lane->next = cells_take(&at, plan->width);
    lane->conditions = cells_take(&at, c->n_conditions);
    lane->bar = cells_take(&at, n_bars);
    lane->to = cells_take(&at, n_bars);
    lane->guard = cells_take(&at, n_bars);
    lane->by = cells_take(&at, n_bars);
    lane->other = cells_take(&at, n_bars);
    lane->from = cells_take(&at, c->n_total);
    lane->integrals = cells_take(&at, c->n_integrals);
    lane->left = cells_take(&at, c->n_metrics);
    lane->taken = cells_take(&at, c->n_metrics);
    lane->trail.sums = cells_take(&at, (int64_t)EQUATIONS_SUMS * c->n_metrics);
    lane->trail.extreme = cells_take(&at, c->n_metrics);
    at = motion_lay(&lane->motion, at);
    lane->trail.entries = cells_take(&at, plan->room * plan->width);
    return at;
}

// Numbers of a lane in memory.
HD_CALL int64_t trail_doubles(const TrailSystem *of, const TrailPlan *plan)
{
    TrailLane lane;
    const Cells none = cells_of(NULL);
    return (cells_begin(trail_lay(of, plan, none, &lane)) - cells_begin(none)) / CELLS_APART;
}

// A lane whose arrays stand at `memory`, before its run: parameter[n_parameters] are to be set. Returns where they end.
HD_CALL Cells trail_open(const TrailSystem *of, const TrailPlan *plan, Cells memory, TrailLane *lane)
{
    memset(lane, 0, sizeof *lane);
    const Cells end = trail_lay(of, plan, memory, lane);
    lane->of = of;
    lane->plan = *plan;
    lane->fills = true;
    lane->trail.room = plan->room;
    lane->trail.width = plan->width;
    lane->group.trail = &lane->trail;
    Batch *batch = &lane->group.group.batch;
    batch->lanes = 1;
    batch->stride = CELLS_APART;
    batch->parameter = cells_begin(lane->parameter);
    batch->work = cells_begin(lane->work);
    batch->metric = cells_begin(lane->metric);
    batch->status = &lane->status;
    lane->group.group.valid = 1;
    return end;
}

// ---- forward --------------------------------------------------------------------------------------------------------

// Attempts at steps that fit into the trail. 0: it is full.
HD_CALL int64_t trail_fits(const TrailLane *lane)
{
    const int64_t ticks = (lane->trail.room - lane->trail.count) / lane->plan.at_once;
    if (ticks < 16 && 2 * lane->trail.count > lane->trail.room) return 0;
    return ticks < TRAIL_SLICE ? ticks : TRAIL_SLICE;
}

HD void trail_advance(TrailLane *lane, EquationsMethod method, int64_t ticks)
{
    lane->group.group.tick = lane->tick;
    lane->group.group.ticks = ticks;
    equations_advance(lane->of->constants, lane->of->assets, &lane->group.group, method, false);
    lane->tick += ticks;
}

HD Cells trail_first(const TrailLane *lane, int64_t segment) { return lane->firsts + segment * (1 + lane->of->n_work); }

// A segment begins here. Without room for it the run goes on, for its metrics.
HD_CALL void trail_store_first(TrailLane *lane)
{
    const Cells first = trail_first(lane, lane->segments);
    lane->trail.count = 0;
    lane->overflows |= lane->segments == lane->plan.most;
    if (lane->overflows) return;
    first[0] = (double)lane->tick;
    cells_copy(first + 1, lane->work, lane->of->n_work);
    lane->held = lane->segments++;
}

// Attempts from here on that leave entries of one segment. 0: entries are to be read first.
HD_CALL int64_t trail_ahead(TrailLane *lane)
{
    if (lane->looks) lane->trail.count = 0;
    if (lane->streams) return trail_fits(lane);
    if (lane->trail.again) return lane->until - lane->tick;
    if (lane->tick == 0 || trail_fits(lane) == 0) trail_store_first(lane);
    return trail_fits(lane);
}

// A slice of the run, or of a segment that is run once more: `ticks` attempts at steps, at most, while lane->fills.
HD void trail_run(TrailLane *lane, EquationsMethod method, int64_t ticks)
{
    for (int64_t left = ticks, some; left > 0 && lane->fills; left -= some) {
        const int64_t ahead = trail_ahead(lane);
        if (ahead == 0) return;
        some = ahead < left ? ahead : left;
        trail_advance(lane, method, some);
        const bool there = lane->trail.again && lane->tick == lane->until;
        lane->fills = lane->status == LANE_RUNNING && !there;
        lane->at = lane->trail.count;
    }
}

// Goes to the end of a segment. Where its entries are not in memory, they are to be filled. -1: all are done.
HD_CALL void trail_hold(TrailLane *lane, int64_t segment)
{
    lane->segment = segment;
    lane->at = lane->trail.count;
    if (segment < 0 || lane->held == segment) return;
    const ConstCells first = trail_first(lane, segment);
    lane->until = segment + 1 < lane->segments ? (int64_t)trail_first(lane, segment + 1)[0] : TRAIL_EVER;
    lane->status = LANE_RUNNING;
    lane->tick = (int64_t)first[0];
    cells_copy(lane->work, first + 1, lane->of->n_work);
    lane->held = segment;
    lane->trail.count = 0;
    lane->trail.again = lane->fills = true;
}

HD ConstCells trail_entry(const TrailLane *lane, int64_t k) { return lane->trail.entries + k * lane->trail.width; }

// ---- metrics --------------------------------------------------------------------------------------------------------

HD_CALL int trail_metric(const TrailLane *lane, int metric, int member)
{
    const int64_t at = lane->motion.c->metrics + (int64_t)metric * EQUATIONS_METRIC + member;
    return (int)asset_integer(lane->motion.assets, at);
}
HD_CALL double trail_sum(const TrailLane *lane, int metric, int k)
{
    return lane->trail.sums[metric * EQUATIONS_SUMS + k];
}

// Adds the bars of a metric's expression at the arguments, in a mode.
HD_CALL void trail_pull_watched(TrailLane *lane, const DerivativeMode *mode, int metric, double bar)
{
    if (bar != 0.0) motion_add(&lane->motion, &mode->watched_pull[metric], bar, lane->bar);
}

// What a metric over the whole run gives to the end of it. sum: its time.
HD_CALL void trail_pull_whole(TrailLane *lane, ConstCells end, int metric, double weight)
{
    const int reduction = trail_metric(lane, metric, EQUATIONS_METRIC_REDUCTION),
              integral = trail_metric(lane, metric, EQUATIONS_METRIC_INTEGRAL);
    const DerivativeMode *mode = entry_mode(&lane->motion, end);
    const double total = integral >= 0 ? entry_integrals(&lane->motion, end)[integral] : 0.0,
                 time = trail_sum(lane, metric, 0), rms = square_root(total / time);
    switch (reduction) {
    case REDUCTION_FINAL:
        motion_argue(&lane->motion, end);
        if (mode->watches[metric]) trail_pull_watched(lane, mode, metric, weight);
        break;
    case REDUCTION_MEAN: lane->integrals[integral] += weight / time; break;
    case REDUCTION_RMS:
        if (rms > 0.0) lane->integrals[integral] += weight / (2.0 * time * rms);
        break;
    case REDUCTION_INTEGRAL: lane->integrals[integral] += weight; break;
    case REDUCTION_PART: lane->bar[SYSTEM_TIME] -= weight * time / (end[TRAIL_NOW] * end[TRAIL_NOW]); break;
    default: break;
    }
}

// d metric/d length of a step of this entry, of metrics that are over a time.
HD_CALL double trail_length_bar(const TrailLane *lane, ConstCells entry, int metric)
{
    const int reduction = trail_metric(lane, metric, EQUATIONS_METRIC_REDUCTION),
              condition = trail_metric(lane, metric, EQUATIONS_METRIC_CONDITION);
    const double value = lane->metric[metric], time = trail_sum(lane, metric, 0);
    const bool watched = entry_mode(&lane->motion, entry)->watches[metric];
    if (reduction == REDUCTION_MEAN && watched) return -value / time;
    if (reduction == REDUCTION_RMS && watched) return -0.5 * value / time;
    if (reduction == REDUCTION_PART && program_is_true(entry_conditions(&lane->motion, entry)[condition]))
        return 1.0 / lane->end_time;
    return 0.0;
}

// 1: the metric is the time at the end of this step; else 0.
HD_CALL double trail_time_bar(TrailLane *lane, ConstCells entry, int metric)
{
    const int reduction = trail_metric(lane, metric, EQUATIONS_METRIC_REDUCTION),
              condition = trail_metric(lane, metric, EQUATIONS_METRIC_CONDITION);
    if (reduction != REDUCTION_FIRST && reduction != REDUCTION_LAST) return 0.0;
    const bool held = program_is_true(entry_conditions(&lane->motion, entry)[condition]),
               holds = program_is_true(lane->conditions[condition]);
    if (lane->taken[metric] != 0.0 || entry[TRAIL_NOW] != trail_sum(lane, metric, 0)) return 0.0;
    if (reduction == REDUCTION_FIRST ? held || !holds : !held && !holds) return 0.0;
    lane->taken[metric] = 1.0;
    return 1.0;
}

// The weight of an occurrence of the event of a metric, from the last to the first. The value is at the arguments.
HD_CALL double trail_occurrence(TrailLane *lane, const DerivativeMode *mode, int metric)
{
    const int take = trail_metric(lane, metric, EQUATIONS_METRIC_TAKE);
    const double count = trail_sum(lane, metric, 1);
    const double k = lane->left[metric] -= 1.0;
    double weight = 0.0;
    if (take == REDUCTION_TAKE_FIRST) return k == 0.0 ? 1.0 : 0.0;
    if (take == REDUCTION_TAKE_LAST) return k == count - 1.0 ? 1.0 : 0.0;
    if (take == REDUCTION_TAKE_MEAN) return 1.0 / count;
    const double value = motion_value(&lane->motion, &mode->watched[metric]);
    if (take == REDUCTION_TAKE_RMS) {
        const double squares = trail_sum(lane, metric, 0);
        return squares > 0.0 ? value / square_root(squares * count) : 0.0;
    }
    const bool spread = take == REDUCTION_TAKE_SPREAD;
    const int taken = (int)lane->taken[metric];
    int now = 0;
    if (value == trail_sum(lane, metric, 0) && (taken & 1) == 0) {
        weight += 1.0;
        now |= 1;
    }
    if (spread && value == trail_sum(lane, metric, 2) && (taken & 2) == 0) {
        weight -= 1.0;
        now |= 2;
    }
    lane->taken[metric] = taken | now;
    return weight;
}

// The metrics at an event, at the arguments.
HD_CALL void trail_pull_event(TrailLane *lane, ConstCells weight, const DerivativeMode *mode, int event, bool after)
{
    const int reduction = after ? REDUCTION_AFTER : REDUCTION_BEFORE;
    for (int m = 0; m < lane->motion.c->n_metrics; m++) {
        if (trail_metric(lane, m, EQUATIONS_METRIC_REDUCTION) != reduction) continue;
        if (trail_metric(lane, m, EQUATIONS_METRIC_EVENT) != event || !mode->watches[m]) continue;
        if (weight[m] != 0.0) trail_pull_watched(lane, mode, m, weight[m] * trail_occurrence(lane, mode, m));
    }
}

// ---- extrema --------------------------------------------------------------------------------------------------------
// What a metric is at its extremum inside a step does not change with the time at which it is.

HD_CALL bool trail_is_extremum(const TrailLane *lane, int metric)
{
    const int reduction = trail_metric(lane, metric, EQUATIONS_METRIC_REDUCTION);
    return (reduction == REDUCTION_MIN || reduction == REDUCTION_MAX) && lane->taken[metric] == 0.0;
}

// Adds the bars of extrema inside the step of an entry to those at its begin.
HD_CALL void trail_pull_inner(TrailLane *lane, ConstCells entry, ConstCells weight)
{
    Motion *m = &lane->motion;
    const Cells from = lane->from;
    cells_clear(from, m->c->n_total);
    for (int k = 0; k < m->c->n_metrics; k++) {
        const double at = lane->trail.extreme[k];
        if (weight[k] == 0.0 || !(at > entry[TRAIL_T] && at < entry[TRAIL_NOW]) || !trail_is_extremum(lane, k))
            continue;
        lane->taken[k] = 1.0;
        cells_copy(lane->part, entry, lane->trail.width);
        lane->part[TRAIL_H] = at - entry[TRAIL_T];
        motion_argue(m, entry);
        motion_argue_end(m, lane->part);
        for (int i = 0; i < motion_bars(m); i++) lane->other[i] = 0.0;
        motion_add(m, &entry_mode(m, entry)->watched_pull[k], weight[k], lane->other);
        for (int i = 0; i < m->c->n_states; i++) from[i] = lane->other[SYSTEM_STATE(i)];
        for (int i = 0; i < m->d->n_inputs; i++)
            if (i == SYSTEM_TIME || i > m->c->n_states) lane->bar[i] += lane->other[i];
        (void)pull_step(m, lane->part, from, lane->bar);
    }
}

// Those of extrema that are the state of an entry.
HD_CALL void trail_pull_extrema(TrailLane *lane, ConstCells entry, ConstCells weight)
{
    const Motion *m = &lane->motion;
    const DerivativeMode *mode = entry_mode(m, entry);
    for (int k = 0; k < m->c->n_metrics; k++) {
        if (weight[k] == 0.0 || lane->trail.extreme[k] != entry[TRAIL_T] || !mode->watches[k]) continue;
        if (!trail_is_extremum(lane, k)) continue;
        motion_argue(m, entry);
        if (motion_value(m, &mode->watched[k]) != trail_sum(lane, k, 0)) continue; // it was before another event
        lane->taken[k] = 1.0;
        trail_pull_watched(lane, mode, k, weight[k]);
    }
}

// ---- back -----------------------------------------------------------------------------------------------------------

HD_CALL void trail_back_last(TrailLane *lane, ConstCells entry, ConstCells weight)
{
    const EquationsConstants *c = lane->motion.c;
    for (int m = 0; m < c->n_metrics; m++)
        if (weight[m] != 0.0) trail_pull_whole(lane, entry, m, weight[m]);
    if (!c->is_map) lane->bar[SYSTEM_TIME] += weight[c->n_metrics]; // survived
    trail_pull_extrema(lane, entry, weight);
}

// Which action of which mode has this row.
HD_CALL const DerivativeAction *trail_action_of(const TrailLane *lane, int64_t row)
{
    const Motion *m = &lane->motion;
    for (int mode = 0; mode < m->c->n_modes; mode++) {
        const int64_t at = m->c->modes + (int64_t)mode * EQUATIONS_MODE,
                      first = asset_integer(m->assets, at + EQUATIONS_MODE_ACTIONS),
                      count = asset_integer(m->assets, at + EQUATIONS_MODE_N_ACTIONS);
        if (row >= first && row < first + count * EQUATIONS_ACTION)
            return &m->d->modes[mode].actions[(row - first) / EQUATIONS_ACTION];
    }
    return NULL;
}

// The arguments are those behind an action: of the next entry, but the sides of guards are those before.
HD_CALL void trail_argue_after(const TrailLane *lane, ConstCells entry)
{
    const Motion *m = &lane->motion;
    motion_argue(m, lane->next);
    for (int k = 0; k < m->d->n_rows; k++) m->file[m->d->n_inputs + k] = entry_rows(m, entry)[k];
}

HD_CALL void trail_back_action(TrailLane *lane, ConstCells entry, ConstCells weight)
{
    Motion *m = &lane->motion;
    const int64_t row = (int64_t)entry[TRAIL_WHICH];
    const int event = (int)asset_integer(m->assets, row + EQUATIONS_ACTION_EVENT),
              settable = m->c->n_states + m->c->n_held;
    const DerivativeAction *action = trail_action_of(lane, row);
    trail_argue_after(lane, entry);
    trail_pull_event(lane, weight, entry_mode(m, lane->next), event, true);
    motion_argue(m, entry);
    for (int i = 0; i < settable && action->sets != NULL; i++) {
        double *bar = &lane->bar[SYSTEM_STATE(i)]; // held numbers stand behind states
        double *origin = i < m->c->n_states && motion_has_noise(m) ? &lane->bar[m->d->n_inputs + i] : NULL;
        m->file[m->d->weight + i] = action->sets[i] ? *bar + (origin != NULL ? *origin : 0.0) : 0.0;
        if (action->sets[i]) *bar = 0.0;
        if (action->sets[i] && origin != NULL) *origin = 0.0;
    }
    if (action->sets != NULL) motion_add(m, &action->pull, 1.0, lane->bar);
    trail_pull_event(lane, weight, entry_mode(m, entry), event, false);
    trail_pull_extrema(lane, entry, weight);
}

// ---- what the length of a step depends on ---------------------------------------------------------------------------
// by[n_bars] <- the derivatives of its length by the inputs at its begin.

// One that ends at an instant, whose derivatives by parameters are those of `code` times `factor`.
HD_CALL void trail_by_instant(const TrailLane *lane, const DerivativeCode *code, double factor, Cells by)
{
    for (int k = 0; k < motion_bars(&lane->motion); k++) by[k] = 0.0;
    by[SYSTEM_TIME] = -1.0;
    if (code != NULL) motion_add(&lane->motion, code, factor, by);
}

// The multiple of the period that an instant is; 1: it is once.
HD_CALL double trail_multiple(const Motion *m, ConstCells entry, int instant)
{
    if (asset_integer(m->assets, m->c->instants + 2 * (int64_t)instant) == 0) return 1.0;
    return math_nearest(entry[TRAIL_NOW] / motion_value(m, &m->d->instant[instant]));
}

HD_CALL void trail_by_cause(const TrailLane *lane, ConstCells entry, int cause, int which, Cells by)
{
    const Motion *m = &lane->motion;
    if (cause == TRAIL_KNOWN) trail_by_instant(lane, NULL, 0.0, by);
    if (cause == TRAIL_INSTANT) trail_by_instant(lane, &m->d->instant_pull[which], trail_multiple(m, entry, which), by);
    if (cause != TRAIL_SWITCH) return;
    double *row = &m->file[m->d->n_inputs + m->c->n_guards + which]; // that which begins then
    *row += 1.0;
    trail_by_instant(lane, &m->d->switch_pull[which], 1.0, by);
    *row -= 1.0;
}

// Whether guard k, which moves with speed `rate` where a step lands on it, hardly does: it is slow beside its way from
// where the step begins.
HD_CALL bool trail_is_touched(const TrailLane *lane, ConstCells entry, int k, double rate)
{
    const Motion *m = &lane->motion;
    motion_argue_at(m, entry[TRAIL_T], entry_state(entry));
    const double way = motion_value(m, &entry_mode(m, entry)->guard[k]);
    return !(absolute(rate) > 0.0) || absolute(rate) * entry[TRAIL_H] < TRAIL_GRAZES * absolute(way);
}

// One that lands on guard k, which is 0 at its end: the length changes by -dg/(dg/d length).
HD_CALL void trail_by_guard(TrailLane *lane, ConstCells entry, int k, Cells by)
{
    Motion *m = &lane->motion;
    const int n = motion_bars(m);
    const Cells from = lane->from;
    cells_clear(from, m->c->n_total);
    for (int i = 0; i < n; i++) lane->guard[i] = by[i] = 0.0;
    motion_argue_at(m, entry[TRAIL_NOW], entry_state(lane->next));
    motion_add(m, &entry_mode(m, entry)->guard_pull[k], 1.0, lane->guard);
    for (int i = 0; i < m->c->n_states; i++) from[i] = lane->guard[SYSTEM_STATE(i)];
    const double rate = pull_step(m, entry, from, by) + lane->guard[SYSTEM_TIME];
    const bool touched = trail_is_touched(lane, entry, k, rate);
    lane->grazes |= touched;
    if (touched) lane->trouble = entry[TRAIL_NOW];
    for (int i = 0; i < n; i++) {
        const bool state = i > SYSTEM_TIME && i <= m->c->n_states; // by the step alone
        const double moves = by[i] + (state ? 0.0 : lane->guard[i]);
        by[i] = moves == 0.0 ? 0.0 : touched ? math_nan() : -moves / rate;
    }
}

// Something else happens at the end of the same step, whose instant moves in another way: there is no derivative by
// the inputs that take them apart.
HD_CALL void trail_part(TrailLane *lane, ConstCells entry, ConstCells also, Cells by)
{
    double size = 0.0;
    const int n = motion_bars(&lane->motion);
    for (int k = 0; k < n; k++) size = greater_of(absolute(also[k]), size);
    for (int k = 0; k < n; k++) {
        if (absolute(also[k] - by[k]) <= TRAIL_SAME * (absolute(also[k]) + 1e-3 * size)) continue;
        by[k] = math_nan();
        lane->coincides = true;
        lane->trouble = entry[TRAIL_NOW];
    }
}

HD_CALL void trail_part_by(TrailLane *lane, ConstCells entry, int cause, int which, Cells by)
{
    motion_argue(&lane->motion, entry);
    trail_by_cause(lane, entry, cause, which, lane->other);
    trail_part(lane, entry, lane->other, by);
}

// Other guards that turn, instants, and rows of inputs and switches.
HD_CALL void trail_part_all(TrailLane *lane, ConstCells entry, Cells by)
{
    const Motion *m = &lane->motion;
    const EquationsConstants *c = m->c;
    const int cause = (int)entry[TRAIL_CAUSE], which = (int)entry[TRAIL_WHICH];
    const int64_t row = c->modes + (int64_t)entry[TRAIL_MODE] * EQUATIONS_MODE;
    const int64_t first = asset_integer(m->assets, row + EQUATIONS_MODE_ACTIONS);
    for (int k = which + 1; k < c->n_guards && cause == TRAIL_GUARD; k++) {
        const int64_t turns = (int64_t)entry[trail_turns(c) + k / TRAIL_BITS];
        if ((turns >> k % TRAIL_BITS & 1) == 0) continue;
        motion_argue(&lane->motion, entry);
        trail_by_guard(lane, entry, k, lane->other);
        trail_part(lane, entry, lane->other, by);
    }
    for (int a = 0; a < asset_integer(m->assets, row + EQUATIONS_MODE_N_ACTIONS); a++) {
        const int k = (int)asset_integer(m->assets, first + (int64_t)a * EQUATIONS_ACTION + EQUATIONS_ACTION_INSTANT);
        if (k < 0 || (cause == TRAIL_INSTANT && k == which)) continue;
        const double now = entry[TRAIL_NOW], when = trail_multiple(m, entry, k) * motion_value(m, &m->d->instant[k]);
        if (absolute(when - now) <= EQUATIONS_SAME * now) trail_part_by(lane, entry, TRAIL_INSTANT, k, by);
    }
    for (int k = 0; k < m->d->n_rows - c->n_guards; k++) {
        const double was = entry_rows(m, entry)[c->n_guards + k], is = entry_rows(m, lane->next)[c->n_guards + k];
        if (was != is && !(cause == TRAIL_SWITCH && k == which)) trail_part_by(lane, entry, TRAIL_SWITCH, k, by);
    }
    for (int k = c->n_held - c->n_clocks - c->n_actions; k < c->n_held; k++)
        if (entry_held(m, entry)[k] != entry_held(m, lane->next)[k]) trail_part_by(lane, entry, TRAIL_KNOWN, -1, by);
}

// The path of the noise is cut where this step ends: there is no derivative by what moves that instant.
HD_CALL void trail_cut(TrailLane *lane, ConstCells entry, Cells by)
{
    for (int k = 0; k < motion_bars(&lane->motion); k++) {
        if (by[k] == 0.0 || k == SYSTEM_TIME) continue;
        by[k] = math_nan();
        lane->cuts = true;
        lane->trouble = entry[TRAIL_NOW];
    }
}

// Whether a step that lands on a guard has one behind it in another piece of the path: an instant of the mode behind
// has cut the rest of the piece.
HD_CALL bool trail_is_cut(const Motion *m, ConstCells entry, double piece_end_behind)
{
    return motion_has_noise(m) && (int)entry[TRAIL_CAUSE] == TRAIL_GUARD && piece_end_behind >= 0.0 &&
           entry_piece_end(m, entry) != piece_end_behind;
}

// Adds `bar`, that of the length of a step, to what the length depends on.
HD_CALL void trail_pull_length(TrailLane *lane, ConstCells entry, double bar, Cells to)
{
    const Cells by = lane->by;
    const int cause = (int)entry[TRAIL_CAUSE];
    if (cause == TRAIL_FREE || bar == 0.0) return;
    if (cause == TRAIL_KNOWN) {
        to[SYSTEM_TIME] -= bar;
        return;
    }
    motion_argue(&lane->motion, entry);
    if (cause == TRAIL_GUARD)
        trail_by_guard(lane, entry, (int)entry[TRAIL_WHICH], by);
    else
        trail_by_cause(lane, entry, cause, (int)entry[TRAIL_WHICH], by);
    trail_part_all(lane, entry, by);
    const bool moves = cause == TRAIL_INSTANT || cause == TRAIL_SWITCH;
    if ((motion_has_noise(&lane->motion) && moves) || trail_is_cut(&lane->motion, entry, lane->piece_end))
        trail_cut(lane, entry, by);
    for (int k = 0; k < motion_bars(&lane->motion); k++) to[k] += bar * by[k];
}

// Sizes of the noise of a piece are those of the state in which it begins.
HD_CALL void trail_pull_origin(TrailLane *lane)
{
    const Motion *m = &lane->motion;
    for (int i = 0; i < m->c->n_states && motion_has_noise(m); i++) {
        lane->bar[SYSTEM_STATE(i)] += lane->bar[m->d->n_inputs + i];
        lane->bar[m->d->n_inputs + i] = 0.0;
    }
}

HD_CALL void trail_back_step(TrailLane *lane, ConstCells entry, ConstCells weight)
{
    Motion *m = &lane->motion;
    const EquationsConstants *c = m->c;
    const int n = motion_bars(m);
    const Cells from = lane->from, bar = lane->bar, to = lane->to;
    double length = 0.0;
    if ((int)entry[TRAIL_CAUSE] != TRAIL_GUARD) trail_pull_origin(lane); // the next piece begins behind this step
    for (int k = 0; k < c->n_metrics && !c->is_map; k++) {
        if (weight[k] == 0.0) continue;
        length += weight[k] * trail_length_bar(lane, entry, k);
        bar[SYSTEM_TIME] += weight[k] * trail_time_bar(lane, entry, k);
    }
    for (int i = 0; i < c->n_states; i++) from[i] = bar[SYSTEM_STATE(i)];
    for (int i = 0; i < c->n_integrals; i++) from[c->n_states + i] = lane->integrals[i];
    for (int k = 0; k < n; k++) to[k] = 0.0;
    motion_argue(m, entry);
    length += pull_step(m, entry, from, to);
    to[SYSTEM_TIME] += bar[SYSTEM_TIME];
    if (!c->is_map) trail_pull_length(lane, entry, length + bar[SYSTEM_TIME], to);
    if (c->is_map) to[SYSTEM_TIME] = 0.0; // the number of an iteration
    for (int k = 0; k <= c->n_states; k++) bar[k] = to[k];
    for (int k = c->n_states + 1; k < n; k++) bar[k] += to[k];
    trail_pull_inner(lane, entry, weight);
    trail_pull_extrema(lane, entry, weight);
    if (motion_has_noise(m)) lane->piece_end = entry_piece_end(m, entry);
}

HD_CALL void trail_back_begin(TrailLane *lane)
{
    const EquationsConstants *c = lane->motion.c;
    for (int k = 0; k < motion_bars(&lane->motion); k++) lane->bar[k] = 0.0;
    for (int k = 0; k < c->n_integrals; k++) lane->integrals[k] = 0.0;
    for (int m = 0; m < c->n_metrics; m++) {
        lane->left[m] = trail_sum(lane, m, 1);
        lane->taken[m] = 0.0;
    }
    lane->grazes = lane->coincides = lane->cuts = false;
    lane->piece_end = -1.0;
    motion_begin(&lane->motion, lane->parameter);
}

// The entry is the one before lane->next.
HD_CALL void trail_back_entry(TrailLane *lane, ConstCells entry, ConstCells weight)
{
    if (entry_is(entry, TRAIL_END)) {
        lane->end_time = entry[TRAIL_NOW];
        trail_back_last(lane, entry, weight);
    }
    if (entry_is(entry, TRAIL_ACTION)) trail_back_action(lane, entry, weight);
    if (entry_is(entry, TRAIL_STEP)) trail_back_step(lane, entry, weight);
    cells_copy(lane->next, entry, lane->trail.width);
    if (!entry_is(entry, TRAIL_ACTION) && lane->motion.c->n_conditions > 0)
        cells_copy(lane->conditions, entry_conditions(&lane->motion, entry), lane->motion.c->n_conditions);
}

// Of a metric at an event that takes the least or the greatest, the one that it took was found.
HD_CALL bool trail_all_found(const TrailLane *lane, ConstCells weight)
{
    for (int m = 0; m < lane->motion.c->n_metrics; m++) {
        const int reduction = trail_metric(lane, m, EQUATIONS_METRIC_REDUCTION),
                  take = trail_metric(lane, m, EQUATIONS_METRIC_TAKE);
        if (weight[m] == 0.0) continue;
        if ((reduction == REDUCTION_MIN || reduction == REDUCTION_MAX) && lane->taken[m] == 0.0) return false;
        if (reduction != REDUCTION_BEFORE && reduction != REDUCTION_AFTER) continue;
        if (take == REDUCTION_TAKE_SPREAD && lane->taken[m] != 3.0) return false;
        if ((take == REDUCTION_TAKE_MIN || take == REDUCTION_TAKE_MAX) && lane->taken[m] != 1.0) return false;
    }
    return true;
}

HD_CALL double trail_norm(const TrailLane *lane)
{
    double sum = 0.0;
    for (int i = 0; i < lane->motion.c->n_states; i++) sum += lane->bar[SYSTEM_STATE(i)] * lane->bar[SYSTEM_STATE(i)];
    return square_root(sum);
}

// Before the way back. weigh[n_metrics] of the lane are set.
HD_CALL void trail_back_start(TrailLane *lane)
{
    trail_back_begin(lane);
    lane->size = lane->most = lane->end_time = 0.0;
    if (lane->fills) lane->held = -1; // a way back was left before its end
    lane->fills = false;
    trail_hold(lane, lane->overflows ? -1 : lane->segments - 1);
}

HD bool trail_is_back(const TrailLane *lane) { return lane->segment < 0; }

// A slice of the way back: `entries` of the trail, at most, until the lane is back or a segment is to be run once more.
HD_CALL void trail_back(TrailLane *lane, int64_t entries)
{
    for (int64_t left = entries; left > 0 && !lane->fills && lane->segment >= 0; left--) {
        if (lane->at > 0) {
            trail_back_entry(lane, trail_entry(lane, --lane->at), lane->weigh);
            const double size = trail_norm(lane);
            if (lane->size == 0.0) lane->size = size;
            lane->most = greater_of(size, lane->most);
        }
        if (lane->at == 0) trail_hold(lane, lane->segment - 1);
    }
}

// The derivatives of sum weigh[n_metrics] metrics by the parameters: gradient[n_parameters], number p of it at
// gradient[p*apart]; NaN: there are none. *growth: as in Adjoint.back.
HD_CALL void trail_back_end(TrailLane *lane, double *gradient, int64_t apart, double *growth)
{
    const Motion *m = &lane->motion;
    const EquationsConstants *c = m->c;
    trail_pull_origin(lane);
    motion_weigh(m, lane->bar + SYSTEM_STATE(0), c->n_states + c->n_held);
    motion_add(m, &m->d->start_pull, 1.0, lane->bar);
    const bool none = lane->overflows || !trail_all_found(lane, lane->weigh);
    for (int p = 0; p < c->n_parameters; p++)
        gradient[p * apart] = canonical(none ? math_nan() : lane->bar[SYSTEM_PARAMETER(c->n_states, c->n_held, p)]);
    *growth = lane->size > 0.0 ? canonical(lane->most / lane->size) : math_nan();
}

// X(name, text): why there are no derivatives. None: there are.
// clang-format off
#define TRAIL_TROUBLES(X) \
    X(NONE, NULL) \
    X(OVERFLOWS, "the run has more steps than memory has room for") \
    X(TOUCHES, "a guard is touched and hardly crossed") \
    X(CUTS, "an instant that a parameter moves cuts the path of the noise") \
    X(COINCIDES, "two things happen at one instant that a parameter takes apart")
// clang-format on
#define TRAIL_TROUBLE(name, text) TRAIL_TROUBLE_##name,
typedef enum TrailTrouble { TRAIL_TROUBLES(TRAIL_TROUBLE) TRAIL_TROUBLE_COUNT } TrailTrouble;
#undef TRAIL_TROUBLE
#define TRAIL_TROUBLE_TEXT(name, text) text, // of a table of the host

HD_CALL TrailTrouble trail_trouble(const TrailLane *lane)
{
    if (lane->overflows) return TRAIL_TROUBLE_OVERFLOWS;
    if (lane->grazes) return TRAIL_TROUBLE_TOUCHES;
    if (lane->cuts) return TRAIL_TROUBLE_CUTS;
    return lane->coincides ? TRAIL_TROUBLE_COINCIDES : TRAIL_TROUBLE_NONE;
}

#endif
