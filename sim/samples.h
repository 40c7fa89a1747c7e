// Samples of lanes: a model sets the columns of a sample before each tick and where a lane ends, if it is observed.
// They go to a trajectory, to an environment, or to metrics of the user's own.
#ifndef HOPSCOTCH_SAMPLES_H
#define HOPSCOTCH_SAMPLES_H

#include "law.h"
#include "meter.h"

// Whether lanes have metrics of the user's own, or conditions to retire.
#if defined(HOPSCOTCH_MADE) && !MADE_ON_CPU
HD bool lanes_have_metrics(const LaneGroup *group) { return (void)group, METER_MADE; }
#else
HD bool lanes_have_metrics(const LaneGroup *group) { return group->batch.meter.of.cell != NULL; }
#endif

// Whether a trajectory of the lane has a sample before this tick.
HD bool samples_are_traced(const Trace *trace, int64_t lane, int64_t tick)
{
    return samples_are_kept(trace, lane) && tick >= trace->first && (trace->end == 0 || tick < trace->end) &&
           tick % trace->every == 0;
}

// True if a sample is due before this tick: for a trajectory, or for metrics of the user's own.
HD bool lanes_sample_due(const LaneGroup *group, int64_t tick)
{
    return lanes_have_metrics(group) ? tick % meter_every(group) == 0
                                     : samples_are_traced(&group->batch.trace, group->lane, tick);
}

// Whether a column of the next sample is for anything.
HD bool lanes_need_column(const LaneGroup *group, int column)
{
    const bool metered = group->own.column == NULL && lanes_have_metrics(group);
    return !metered || samples_are_kept(&group->batch.trace, group->lane) || meter_needs(group, column);
}

// Sets one column of the next sample of the lanes of `which`.
HD void lanes_set_sample(const LaneGroup *group, int column, real value, mask which)
{
    if (group->own.column != NULL) {
        lanes_set_column(group, column, value, which);
        return;
    }
    const Trace *trace = &group->batch.trace;
    if (lanes_have_metrics(group)) meter_set(group, column, value, which);
    for (int i = 0; i < group->valid && samples_are_kept(trace, group->lane + i); i++) {
        const int64_t lane = group->lane + i, k = trace->count[lane];
        if (!lane_of_mask(which, i) || k >= trace->capacity) continue;
        trace->sample[(lane * trace->capacity + k) * group->n_columns + column] = lane_of(value, i);
    }
}

// Those of numbers that a law holds.
HD void lanes_set_law_columns(const LaneGroup *group, mask which)
{
    const int shown = lanes_have_law(group) ? law_shown(group) : 0;
    for (int k = 0; k < shown; k++)
        lanes_set_sample(group, group->n_columns - shown + k, law_shown_value(group, k), which);
}

// Completes that sample, after all its columns are set. last: it is where the lanes end, not one that was due.
HD void lanes_end_sample(const LaneGroup *group, bool last, mask which)
{
    lanes_set_law_columns(group, which);
    if (group->own.column != NULL) return;
    const Trace *trace = &group->batch.trace;
    const bool metered = lanes_have_metrics(group);
    for (int i = 0; i < group->valid && samples_are_kept(trace, group->lane + i); i++) {
        const int64_t lane = group->lane + i;
        const bool due = last || !metered || samples_are_traced(trace, lane, meter_samples(group, i));
        if (lane_of_mask(which, i) && due && trace->count[lane] < trace->capacity) trace->count[lane]++;
    }
    if (metered) meter_take(group, last, which);
}

// Appends a sample of the lanes of `which`: sample[n_columns], but for columns of a law.
HD void lanes_sample(const LaneGroup *group, const real *sample, bool last, mask which)
{
    const int shown = lanes_have_law(group) ? law_shown(group) : 0; // lanes_end_sample sets those of a law
    for (int c = 0; c < group->n_columns - shown; c++) lanes_set_sample(group, c, sample[c], which);
    lanes_end_sample(group, last, which);
}

// For models whose steps are not ticks: samples are taken at multiples of `every` ticks, before `end`.
typedef struct LanesSampling {
    double every, skipped, end; // ticks, but skipped: multiples before the first sample
} LanesSampling;

// False: the group's lanes have no samples.
HD bool lanes_are_sampled(const LaneGroup *group, LanesSampling *sampling)
{
    const Trace *trace = &group->batch.trace;
    const bool metered = lanes_have_metrics(group), traced = samples_are_kept(trace, group->lane);
    sampling->every = (double)(metered ? meter_every(group) : trace->every);
    sampling->skipped = metered || !traced ? 0.0 : (double)((trace->first + trace->every - 1) / trace->every);
    sampling->end = metered || trace->end == 0 ? 1e300 : (double)trace->end;
    return metered || traced;
}

// Number of samples taken so far.
HD real lanes_samples(const LaneGroup *group)
{
    double count[REAL_DOUBLES] = {0.0};
    for (int i = 0; i < LANES; i++) {
        const int at = i < group->valid ? i : group->valid - 1;
        const int64_t lane = group->lane + at;
        if (lanes_have_metrics(group))
            count[i] = (double)meter_samples(group, at);
        else
            count[i] = lane < group->batch.trace.lanes ? (double)group->batch.trace.count[lane] : 1e300;
    }
    return load_lanes(count, LANES);
}

#endif
