// How the metrics of a lane change along one direction of its parameters: along its trail as it grows. Its codes and
// its rules for steps and events are not those of the adjoint, which it checks; which entries there are is the same.
// The lane runs for a slice, then what it left is read; between the two all is in the memory of the lane (trail_keep).
#ifndef HOPSCOTCH_EQUATIONS_ADJOINT_TANGENT_H
#define HOPSCOTCH_EQUATIONS_ADJOINT_TANGENT_H

#include "lane.h"
#include "push.h"

// Numbers of a metric: how its sums change.
enum { TANGENT_KEPT, TANGENT_LEAST, TANGENT_VALUE, TANGENT_LEAST_VALUE, TANGENT_COUNT, TANGENT_CELLS };

enum { TANGENT_MEMORY = 1 << 20 }; // bytes of a trail on a CPU: it is forgotten as it is read

typedef struct Tangent {
    TrailLane *lane;
    Cells rate;      // [n_bars] of time, states, held numbers; the direction; what the noise's sizes are taken at
    Cells integrals; // [n_integrals]
    Cells cells;     // [n_metrics][TANGENT_CELLS]
    Cells slope;     // [n_metrics]
    Cells now, then; // [n_total] of a step's begin and end
    Cells longer;    // [n_total] of the end, by the length of the step
    Cells none;      // [n_total] 0
    ResidualSeries *series;
    int n_series;
} Tangent;

// Lays the arrays out from `at` on, behind those of the lane; returns where they end.
HD_CALL Cells tangent_lay(TrailLane *lane, Cells at, Tangent *tangent)
{
    const EquationsConstants *c = lane->motion.c;
    tangent->lane = lane;
    tangent->rate = cells_take(&at, motion_bars(&lane->motion));
    tangent->integrals = cells_take(&at, c->n_integrals);
    tangent->cells = cells_take(&at, (int64_t)TANGENT_CELLS * c->n_metrics);
    tangent->slope = cells_take(&at, c->n_metrics + 1); // the last: of survived
    tangent->now = cells_take(&at, c->n_total);
    tangent->then = cells_take(&at, c->n_total);
    tangent->longer = cells_take(&at, c->n_total);
    tangent->none = cells_take(&at, c->n_total);
    tangent->series = NULL;
    tangent->n_series = 0;
    return at;
}

// Numbers of a tangent behind those of its lane.
HD_CALL int64_t tangent_doubles(const TrailSystem *of)
{
    TrailLane lane;
    Tangent tangent;
    const Cells none = cells_of(NULL);
    lane.motion.c = trail_constants(of);
    lane.motion.d = of->derivatives;
    return (cells_begin(tangent_lay(&lane, none, &tangent)) - cells_begin(none)) / CELLS_APART;
}

HD_CALL double *tangent_cell(const Tangent *tangent, int metric, int cell)
{
    return &tangent->cells[metric * TANGENT_CELLS + cell];
}

// How a metric's expression changes at the arguments.
HD_CALL double tangent_watched(const Tangent *tangent, const DerivativeMode *mode, int metric)
{
    const Motion *m = &tangent->lane->motion;
    motion_move(m, tangent->rate, m->d->n_inputs);
    return motion_value(m, &mode->watched_push[metric]);
}

// ---- extrema --------------------------------------------------------------------------------------------------------

HD_CALL bool tangent_is_extremum(const Tangent *tangent, int metric, double from, double to)
{
    const int reduction = trail_metric(tangent->lane, metric, EQUATIONS_METRIC_REDUCTION);
    const double at = tangent->lane->trail.extreme[metric];
    return (reduction == REDUCTION_MIN || reduction == REDUCTION_MAX) &&
           (from == to ? at == from : at > from && at < to);
}

// Those that are the state of an entry, and those inside its step, in which it changes from tangent->now on.
HD_CALL void tangent_extrema(Tangent *tangent, ConstCells entry)
{
    const Motion *m = &tangent->lane->motion;
    for (int k = 0; k < m->c->n_metrics; k++) {
        const DerivativeMode *mode = entry_mode(m, entry);
        if (!tangent_is_extremum(tangent, k, entry[TRAIL_T], entry[TRAIL_T]) || !mode->watches[k]) continue;
        motion_argue(m, entry);
        if (motion_value(m, &mode->watched[k]) != trail_sum(tangent->lane, k, 0)) continue; // at another of its events
        *tangent_cell(tangent, k, TANGENT_KEPT) = tangent_watched(tangent, mode, k);
    }
}
HD_CALL void tangent_inner(Tangent *tangent, ConstCells entry)
{
    TrailLane *lane = tangent->lane;
    Motion *m = &lane->motion;
    const Cells then = tangent->then;
    for (int k = 0; k < m->c->n_metrics; k++) {
        if (!tangent_is_extremum(tangent, k, entry[TRAIL_T], entry[TRAIL_NOW])) continue;
        const Push push = {tangent->rate[SYSTEM_TIME], 0.0, tangent->now, tangent->rate};
        cells_copy(lane->part, entry, lane->trail.width);
        lane->part[TRAIL_H] = lane->trail.extreme[k] - entry[TRAIL_T];
        motion_argue(m, entry);
        push_step(m, lane->part, &push, then);
        motion_argue_end(m, lane->part);
        motion_move(m, tangent->rate, m->d->n_inputs);
        for (int i = 0; i < m->c->n_states; i++) m->file[m->d->rate + SYSTEM_STATE(i)] = then[i];
        *tangent_cell(tangent, k, TANGENT_KEPT) = motion_value(m, &entry_mode(m, entry)->watched_push[k]);
    }
}

// ---- events ---------------------------------------------------------------------------------------------------------

// Values of metrics that are residuals; on a GPU nobody takes them.
HD void tangent_put(const Tangent *tangent, int metric, double value, double slope)
{
#if defined(HOPSCOTCH_CELLS)
    (void)tangent, (void)metric, (void)value, (void)slope;
#else
    for (int s = 0; s < tangent->n_series; s++)
        if (tangent->series[s].metric == metric) residual_series_add(&tangent->series[s], value, &slope);
#endif
}

// A metric takes a value that changes by `slope`.
HD_CALL void tangent_take(const Tangent *tangent, int metric, double value, double slope)
{
    double *kept = tangent_cell(tangent, metric, TANGENT_KEPT), *least = tangent_cell(tangent, metric, TANGENT_LEAST),
           *of_kept = tangent_cell(tangent, metric, TANGENT_VALUE),
           *of_least = tangent_cell(tangent, metric, TANGENT_LEAST_VALUE),
           *count = tangent_cell(tangent, metric, TANGENT_COUNT);
    const int take = trail_metric(tangent->lane, metric, EQUATIONS_METRIC_TAKE);
    const bool first = (*count)++ == 0.0, greater = first || value > *of_kept, less = first || value < *of_least;
    if (take == REDUCTION_TAKE_MEAN) *kept += slope;
    if (take == REDUCTION_TAKE_RMS) *kept += value * slope;
    tangent_put(tangent, metric, value, slope);
    if (take == REDUCTION_TAKE_LAST || (take == REDUCTION_TAKE_FIRST && first)) *kept = slope;
    if (take == REDUCTION_TAKE_MIN && (first || value < *of_kept)) *kept = slope, *of_kept = value;
    if ((take == REDUCTION_TAKE_MAX || take == REDUCTION_TAKE_SPREAD) && greater) *kept = slope, *of_kept = value;
    if (less) *least = slope, *of_least = value;
}

HD_CALL void tangent_event(const Tangent *tangent, const DerivativeMode *mode, int event, bool after)
{
    const TrailLane *lane = tangent->lane;
    const int reduction = after ? REDUCTION_AFTER : REDUCTION_BEFORE;
    for (int k = 0; k < lane->motion.c->n_metrics; k++) {
        if (trail_metric(lane, k, EQUATIONS_METRIC_REDUCTION) != reduction) continue;
        if (trail_metric(lane, k, EQUATIONS_METRIC_EVENT) != event || !mode->watches[k]) continue;
        const double value = motion_value(&lane->motion, &mode->watched[k]);
        tangent_take(tangent, k, value, tangent_watched(tangent, mode, k));
    }
}

HD_CALL void tangent_action(Tangent *tangent, ConstCells entry)
{
    const TrailLane *lane = tangent->lane;
    const Motion *m = &lane->motion;
    const int64_t row = (int64_t)entry[TRAIL_WHICH];
    const int event = (int)asset_integer(m->assets, row + EQUATIONS_ACTION_EVENT),
              settable = m->c->n_states + m->c->n_held;
    const DerivativeAction *action = trail_action_of(lane, row);
    const Cells to = lane->to;
    tangent_extrema(tangent, entry);
    motion_argue(m, entry);
    tangent_event(tangent, entry_mode(m, entry), event, false);
    motion_move(m, tangent->rate, m->d->n_inputs);
    if (action->sets != NULL) motion_values(m, &action->push, to, settable);
    for (int i = 0; i < settable && action->sets != NULL; i++)
        if (action->sets[i]) tangent->rate[SYSTEM_STATE(i)] = to[i];
    for (int i = 0; i < m->c->n_states && action->sets != NULL && motion_has_noise(m); i++)
        if (action->sets[i]) tangent->rate[m->d->n_inputs + i] = to[i];
    trail_argue_after(lane, entry);
    tangent_event(tangent, entry_mode(m, lane->next), event, true);
}

// ---- steps ----------------------------------------------------------------------------------------------------------

// How the instant of a cause changes that parameters give. The arguments are those of the entry.
HD_CALL double tangent_instant(const Tangent *tangent, ConstCells entry, int cause, int which)
{
    const Motion *m = &tangent->lane->motion;
    double *row = &m->file[m->d->n_inputs + m->c->n_guards + which], slope = 0.0;
    motion_move(m, tangent->rate, m->d->n_inputs);
    if (cause == TRAIL_INSTANT) slope = trail_multiple(m, entry, which) * motion_value(m, &m->d->instant_push[which]);
    if (cause != TRAIL_SWITCH) return slope;
    *row += 1.0; // that which begins then
    slope = motion_value(m, &m->d->switch_push[which]);
    *row -= 1.0;
    return slope;
}

// How guard k at the end of a step changes, with time, states, and others as `rest` says.
HD_CALL double tangent_guard(const Tangent *tangent, ConstCells entry, int k, double time, ConstCells states, bool rest)
{
    const Motion *m = &tangent->lane->motion;
    const Cells rate = m->file + m->d->rate;
    motion_argue_at(m, entry[TRAIL_NOW], entry_state(tangent->lane->next));
    rate[SYSTEM_TIME] = time;
    for (int i = 1; i < m->d->n_inputs; i++)
        rate[i] = i <= m->c->n_states ? states[i - 1] : rest ? tangent->rate[i] : 0.0;
    return motion_value(m, &entry_mode(m, entry)->guard_push[k]);
}

// The change of the length of a step that lands on guard k.
HD_CALL double tangent_landing(const Tangent *tangent, ConstCells entry, int k)
{
    TrailLane *lane = tangent->lane;
    Motion *m = &lane->motion;
    const Cells as_is = tangent->then, longer = tangent->longer, nothing = lane->other;
    cells_clear(nothing, motion_bars(m));
    const Push same = {tangent->rate[SYSTEM_TIME], 0.0, tangent->now, tangent->rate},
               stretched = {0.0, 1.0, tangent->none, nothing};
    push_step(m, entry, &same, as_is);
    push_step(m, entry, &stretched, longer);
    const double change = tangent_guard(tangent, entry, k, tangent->rate[SYSTEM_TIME], as_is, true),
                 speed = tangent_guard(tangent, entry, k, 1.0, longer, false);
    if (change == 0.0) return 0.0;
    return trail_is_touched(lane, entry, k, speed) ? math_nan() : -change / speed;
}

HD_CALL double tangent_by_cause(const Tangent *tangent, ConstCells entry, int cause, int which)
{
    const Motion *m = &tangent->lane->motion;
    motion_argue(m, entry);
    if (cause == TRAIL_GUARD) return tangent_landing(tangent, entry, which);
    const double slope = tangent_instant(tangent, entry, cause, which);
    if (slope != 0.0 && motion_has_noise(m)) return math_nan(); // it cuts the path of the noise
    return slope - tangent->rate[SYSTEM_TIME];
}

// What happens at once must stay so along the direction; NaN: it does not.
HD_CALL double tangent_same(double length, double also)
{
    return absolute(length - also) <= TRAIL_SAME * (absolute(length) + absolute(also)) ? length : math_nan();
}

// The change of the length of a step. lane->next is the entry behind.
HD_CALL double tangent_length(const Tangent *tangent, ConstCells entry)
{
    const TrailLane *lane = tangent->lane;
    const Motion *m = &lane->motion;
    const EquationsConstants *c = m->c;
    const int cause = (int)entry[TRAIL_CAUSE], which = (int)entry[TRAIL_WHICH];
    if (c->is_map || cause == TRAIL_FREE) return 0.0;
    double length = tangent_by_cause(tangent, entry, cause, which);
    for (int k = 0; k < c->n_guards && cause == TRAIL_GUARD; k++) {
        const int64_t turns = (int64_t)entry[trail_turns(c) + k / TRAIL_BITS];
        if (k != which && (turns >> k % TRAIL_BITS & 1) != 0)
            length = tangent_same(length, tangent_by_cause(tangent, entry, TRAIL_GUARD, k));
    }
    const int64_t row = c->modes + (int64_t)entry[TRAIL_MODE] * EQUATIONS_MODE,
                  first = asset_integer(m->assets, row + EQUATIONS_MODE_ACTIONS),
                  actions = cause != TRAIL_KNOWN ? asset_integer(m->assets, row + EQUATIONS_MODE_N_ACTIONS) : 0;
    for (int64_t a = 0; a < actions; a++) {
        const int k = (int)asset_integer(m->assets, first + a * EQUATIONS_ACTION + EQUATIONS_ACTION_INSTANT);
        if (k < 0) continue;
        const double when = trail_multiple(m, entry, k) * motion_value(m, &m->d->instant[k]);
        if (absolute(when - entry[TRAIL_NOW]) <= EQUATIONS_SAME * entry[TRAIL_NOW])
            length = tangent_same(length, tangent_by_cause(tangent, entry, TRAIL_INSTANT, k));
    }
    if (length != 0.0 && trail_is_cut(m, entry, lane->piece_end)) length = math_nan();
    const bool free = cause == TRAIL_KNOWN;
    for (int k = 0; k < m->d->n_rows - c->n_guards && !free; k++)
        if (entry_rows(m, entry)[c->n_guards + k] != entry_rows(m, lane->next)[c->n_guards + k])
            length = tangent_same(length, tangent_by_cause(tangent, entry, TRAIL_SWITCH, k));
    for (int k = c->n_held - c->n_clocks - c->n_actions; k < c->n_held && !free; k++)
        if (entry_held(m, entry)[k] != entry_held(m, lane->next)[k])
            length = tangent_same(length, tangent_by_cause(tangent, entry, TRAIL_KNOWN, -1));
    return length;
}

// Times and durations of metrics, at the end of a step whose length changes by dh.
HD_CALL void tangent_durations(Tangent *tangent, ConstCells entry, ConstCells next, double dh)
{
    const TrailLane *lane = tangent->lane;
    const Motion *m = &lane->motion;
    for (int k = 0; k < m->c->n_metrics; k++) {
        const int reduction = trail_metric(lane, k, EQUATIONS_METRIC_REDUCTION),
                  condition = trail_metric(lane, k, EQUATIONS_METRIC_CONDITION);
        double *kept = tangent_cell(tangent, k, TANGENT_KEPT), *count = tangent_cell(tangent, k, TANGENT_COUNT);
        if ((reduction == REDUCTION_MEAN || reduction == REDUCTION_RMS) && entry_mode(m, entry)->watches[k])
            *kept += dh;
        if (condition < 0) continue;
        const bool held = program_is_true(entry_conditions(m, entry)[condition]),
                   holds = program_is_true(entry_conditions(m, next)[condition]);
        if (reduction == REDUCTION_PART && held) *kept += dh;
        if (reduction == REDUCTION_LAST && (held || holds)) *kept = tangent->rate[SYSTEM_TIME];
        if (reduction == REDUCTION_FIRST && holds && !held && *count == 0.0) *kept = tangent->rate[SYSTEM_TIME];
        if (held || holds) *count = 1.0;
    }
}

// A piece of the noise's path begins.
HD_CALL void tangent_open(const Tangent *tangent)
{
    const Motion *m = &tangent->lane->motion;
    for (int i = 0; i < m->c->n_states && motion_has_noise(m); i++)
        tangent->rate[m->d->n_inputs + i] = tangent->rate[SYSTEM_STATE(i)];
}

// next: the next entry with conditions; lane->next is that behind.
HD_CALL void tangent_step(Tangent *tangent, ConstCells entry, ConstCells next)
{
    Motion *m = &tangent->lane->motion;
    const EquationsConstants *c = m->c;
    const Cells now = tangent->now, then = tangent->then;
    for (int i = 0; i < c->n_states; i++) now[i] = tangent->rate[SYSTEM_STATE(i)];
    for (int i = 0; i < c->n_integrals; i++) now[c->n_states + i] = tangent->integrals[i];
    tangent->lane->piece_end = motion_has_noise(m) && entry_is(next, TRAIL_STEP) ? entry_piece_end(m, next) : -1.0;
    tangent_extrema(tangent, entry);
    tangent_inner(tangent, entry);
    const double dh = tangent_length(tangent, entry);
    const Push push = {tangent->rate[SYSTEM_TIME], dh, now, tangent->rate};
    motion_argue(m, entry);
    push_step(m, entry, &push, then);
    for (int i = 0; i < c->n_states; i++) tangent->rate[SYSTEM_STATE(i)] = then[i];
    for (int i = 0; i < c->n_integrals; i++) tangent->integrals[i] = then[c->n_states + i];
    tangent->rate[SYSTEM_TIME] += dh;
    if ((int)entry[TRAIL_CAUSE] != TRAIL_GUARD) tangent_open(tangent);
    if (!c->is_map) tangent_durations(tangent, entry, next, dh);
}

// ---- the end --------------------------------------------------------------------------------------------------------

HD_CALL double tangent_metric(const Tangent *tangent, ConstCells end, int metric)
{
    const TrailLane *lane = tangent->lane;
    const Motion *m = &lane->motion;
    const int reduction = trail_metric(lane, metric, EQUATIONS_METRIC_REDUCTION),
              integral = trail_metric(lane, metric, EQUATIONS_METRIC_INTEGRAL),
              take = trail_metric(lane, metric, EQUATIONS_METRIC_TAKE);
    const double kept = *tangent_cell(tangent, metric, TANGENT_KEPT),
                 least = *tangent_cell(tangent, metric, TANGENT_LEAST),
                 count = *tangent_cell(tangent, metric, TANGENT_COUNT);
    const double total = integral >= 0 ? entry_integrals(m, end)[integral] : 0.0,
                 grows = integral >= 0 ? tangent->integrals[integral] : 0.0, time = trail_sum(lane, metric, 0);
    const double mean = (grows - kept * total / time) / time, root = square_root(total / time);
    switch (reduction) {
    case REDUCTION_FINAL:
        return entry_mode(m, end)->watches[metric] ? tangent_watched(tangent, entry_mode(m, end), metric) : 0.0;
    case REDUCTION_MEAN: return mean;
    case REDUCTION_RMS: return root > 0.0 ? 0.5 * mean / root : 0.0;
    case REDUCTION_INTEGRAL: return grows;
    case REDUCTION_PART: return (kept - time / end[TRAIL_NOW] * tangent->rate[SYSTEM_TIME]) / end[TRAIL_NOW];
    case REDUCTION_BEFORE:
    case REDUCTION_AFTER:
        if (take == REDUCTION_TAKE_RMS) return time > 0.0 ? kept / square_root(time * count) : 0.0;
        return take == REDUCTION_TAKE_SPREAD ? kept - least : take == REDUCTION_TAKE_MEAN ? kept / count : kept;
    case REDUCTION_FIRST:
    case REDUCTION_LAST:
    case REDUCTION_MIN:
    case REDUCTION_MAX: return kept;
    default: return 0.0; // counts
    }
}

HD_CALL void tangent_end(Tangent *tangent, ConstCells end)
{
    const EquationsConstants *c = tangent->lane->motion.c;
    tangent_extrema(tangent, end);
    motion_argue(&tangent->lane->motion, end);
    for (int k = 0; k < c->n_metrics; k++) tangent->slope[k] = canonical(tangent_metric(tangent, end, k));
    tangent->slope[c->n_metrics] = c->is_map ? 0.0 : canonical(tangent->rate[SYSTEM_TIME]); // survived
}

// The first entry from k on that has the conditions behind a step; the number of entries: it is not there yet.
HD_CALL int64_t tangent_behind(const TrailLane *lane, int64_t k)
{
    while (k < lane->trail.count && entry_is(trail_entry(lane, k), TRAIL_ACTION)) k++;
    return k;
}

// Reads the entries behind which there is one; those that are left become the first.
HD_CALL void tangent_read(Tangent *tangent)
{
    TrailLane *lane = tangent->lane;
    int64_t k = 0;
    for (; k < lane->trail.count && !entry_is(trail_entry(lane, k), TRAIL_END); k++) {
        const int64_t behind = tangent_behind(lane, k + 1);
        if (behind == lane->trail.count) break;
        cells_copy(lane->next, trail_entry(lane, k + 1), lane->trail.width);
        if (entry_is(trail_entry(lane, k), TRAIL_ACTION))
            tangent_action(tangent, trail_entry(lane, k));
        else
            tangent_step(tangent, trail_entry(lane, k), trail_entry(lane, behind));
    }
    lane->trail.count -= k;
    cells_copy(lane->trail.entries, trail_entry(lane, k), lane->trail.count * lane->trail.width);
}

// Before the run of the lane, whose parameters are set. Number p of direction[n_parameters] stands at
// direction[p*apart].
HD_CALL void tangent_begin(Tangent *tangent, const double *direction, int64_t apart)
{
    TrailLane *lane = tangent->lane;
    const Motion *m = &lane->motion;
    const int settable = m->c->n_states + m->c->n_held;
    cells_clear(tangent->rate, SYSTEM_PARAMETER(m->c->n_states, m->c->n_held, 0));
    for (int p = 0; p < m->c->n_parameters; p++)
        tangent->rate[SYSTEM_PARAMETER(m->c->n_states, m->c->n_held, p)] = direction[p * apart];
    cells_clear(tangent->integrals, m->c->n_integrals);
    cells_clear(tangent->cells, (int64_t)TANGENT_CELLS * m->c->n_metrics);
    cells_clear(tangent->none, m->c->n_total);
    motion_begin(m, lane->parameter);
    motion_move(m, tangent->rate, m->d->n_inputs);
    motion_values(m, &m->d->start_push, lane->to, settable);
    for (int i = 0; i < settable; i++) tangent->rate[SYSTEM_STATE(i)] = lane->to[i];
    tangent_open(tangent);
    lane->streams = true;
    lane->looks = m->c->extrema;
    lane->piece_end = -1.0;
}

// After a slice of the run: reads what it has left. Returns whether all slopes are there.
HD_CALL bool tangent_go_on(Tangent *tangent)
{
    TrailLane *lane = tangent->lane;
    if (!lane->looks) tangent_read(tangent);
    if (lane->fills) return false;
    if (!lane->looks) {
        tangent_end(tangent, trail_entry(lane, 0));
        return true;
    }
    lane->looks = false;
    lane->fills = lane->trail.again = true;
    lane->status = LANE_RUNNING;
    lane->tick = lane->trail.count = 0;
    return false;
}

// slope[n_metrics] of the tangent <- the derivatives of the metrics; series[n_series] <- their values.
HD_CALL void tangent_run(Tangent *tangent, const double *direction)
{
    tangent_begin(tangent, direction, 1);
    do trail_run(tangent->lane, tangent->lane->motion.d->method, TRAIL_SLICE);
    while (!tangent_go_on(tangent));
}

#endif
