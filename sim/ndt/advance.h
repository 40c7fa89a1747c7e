// The kernel of scan matching: one tick is one iteration. A lane is an alignment. The lanes of a vector hold
// neighbouring points of one alignment, so the alignments of a group run one after the other.
#ifndef HOPSCOTCH_NDT_ADVANCE_H
#define HOPSCOTCH_NDT_ADVANCE_H

#include "../samples.h"
#include "../team.h"
#include "align.h"

// ---- within the assets ----------------------------------------------------------------------------------------------

HD NdtNumbers ndt_numbers_at(const NdtConstants *c, const double *at)
{
    NdtNumbers numbers;
    numbers.single = c->precision == NDT_SINGLE ? (const float *)at : NULL;
    numbers.whole = c->precision == NDT_SINGLE ? NULL : at;
    return numbers;
}

// Number of the map with the nearest resolution, by their ratio.
HD int64_t ndt_nearest_map(const NdtConstants *c, const double *assets, double resolution)
{
    double least = 0.0;
    int64_t nearest = 0;
    for (int64_t m = 0; m < c->n_maps; m++) {
        NdtMapAt at;
        memcpy(&at, assets + m * NDT_MAP_AT, sizeof at);
        const double ratio = resolution > at.resolution ? resolution / at.resolution : at.resolution / resolution;
        if (m > 0 && !(ratio < least)) continue;
        least = ratio;
        nearest = m;
    }
    return nearest;
}

HD void ndt_open(const NdtConstants *c, const double *assets, int64_t number, NdtMap *map, NdtTask *task)
{
    const double *source = assets + ndt_packed(c->n_maps * NDT_MAP_AT, false);
    const int64_t size = ndt_packed(c->n_source, c->precision == NDT_SINGLE);
    NdtMapAt at;
    memcpy(&at, assets + number * NDT_MAP_AT, sizeof at);
    map->resolution = at.resolution;
    for (int a = 0; a < 3; a++) map->origin[a] = at.origin[a];
    map->reach2 = at.reach2;
    map->table_size = at.table_size;
    map->n_candidates = at.n_candidates;
    map->n_cells = at.n_cells;
    map->table = (const int64_t *)(assets + at.table);
    map->candidates = ndt_numbers_at(c, assets + at.candidates);
    map->cells = ndt_numbers_at(c, assets + at.cells);
    task->map = map;
    for (int a = 0; a < 3; a++) task->source[a] = ndt_numbers_at(c, source + a * size);
    task->n_source = c->n_source;
}

// ---- one lane of the batch ------------------------------------------------------------------------------------------

HD double ndt_input(const LaneGroup *group, int64_t lane, int field)
{
    return group->batch.parameter[field * group->batch.stride + lane];
}

// The lane's own choice, an integer from 0 to `last`; if it has no such input, the choice of all lanes.
HD int ndt_choice(const NdtConstants *c, const LaneGroup *alone, int which, int of_all, int last)
{
    if (c->own[which] == 0) return of_all;
    const double input = ndt_input(alone, alone->lane, c->own[which]);
    int choice = 0;
    while (choice < last && input > choice + 0.5) choice++; // the nearest; inputs are in range
    return choice;
}

HD NdtMethod ndt_method(const NdtConstants *c, const LaneGroup *alone)
{
    NdtMethod method;
    method.step_size = ndt_input(alone, alone->lane, NDT_STEP_SIZE);
    method.epsilon = ndt_input(alone, alone->lane, NDT_EPSILON);
    method.max_iterations = c->max_iterations;
    method.solver = (NdtSolver)ndt_choice(c, alone, NDT_OWN_SOLVER, c->solver, NDT_SADDLE_FREE);
    method.line_search = (NdtLineSearch)ndt_choice(c, alone, NDT_OWN_LINE_SEARCH, c->line_search, NDT_BATCHED);
    return method;
}

HD void ndt_load(const LaneGroup *group, int64_t lane, NdtAlignment *a)
{
    double state[NDT_STATE];
    for (int k = 0; k < NDT_STATE; k++) state[k] = group->batch.work[k * group->batch.stride + lane];
    memcpy(a, state, sizeof *a);
}

HD void ndt_store(const LaneGroup *group, int64_t lane, const NdtAlignment *a)
{
    double state[NDT_STATE];
    if (!team_speaks(group)) return;
    memcpy(state, a, sizeof *a);
    for (int k = 0; k < NDT_STATE; k++) group->batch.work[k * group->batch.stride + lane] = state[k];
}

// The lane as a group of one.
HD LaneGroup ndt_alone(const LaneGroup *group, int i)
{
    LaneGroup alone = *group;
    alone.lane += i;
    alone.valid = 1;
    return alone;
}

HD void ndt_sample(const LaneGroup *alone, const NdtAlignment *a, bool last)
{
    real sample[NDT_COLUMNS];
    if (!team_speaks(alone)) return;
    sample[NDT_COLUMN_TIME] = splat(a->iterations);
    for (int k = 0; k < NDT_POSE; k++) sample[NDT_COLUMN_POSE + k] = splat(a->pose[k]);
    sample[NDT_COLUMN_SCORE] = splat(a->sums.at[NDT_SCORE]);
    sample[NDT_COLUMN_PAIRS] = splat(a->sums.at[NDT_PAIRS]);
    lanes_sample(alone, sample, last, all_lanes());
}

HD void ndt_metrics_of(const NdtConstants *c, const NdtTask *task, const NdtAlignment *a, NdtEnd end, double *metric)
{
    const double translation = ndt_translation_error(a->pose, c->middle, c->true_middle);
    const double rotation = ndt_rotation_error(a->pose, c->truth);
    const bool found = end == NDT_CONVERGED && translation <= c->near_enough && rotation <= c->turned_enough;
    metric[NDT_METRIC_TRANSLATION] = translation;
    metric[NDT_METRIC_ROTATION] = rotation;
    metric[NDT_METRIC_MISSED] = found ? 0.0 : 1.0;
    metric[NDT_METRIC_SCORE] = a->sums.at[NDT_SCORE];
    metric[NDT_METRIC_TP] = ndt_transformation_probability(task, &a->sums);
    metric[NDT_METRIC_NVTL] = ndt_voxel_likelihood(&a->sums);
    metric[NDT_METRIC_PAIRS] = a->sums.at[NDT_PAIRS];
    metric[NDT_METRIC_ITERATIONS] = a->iterations;
    metric[NDT_METRIC_EVALUATIONS] = a->evaluations;
    metric[NDT_METRIC_OSCILLATION] = a->oscillation;
    metric[NDT_METRIC_EDGE] = task->map->resolution;
    ndt_laplace(&a->sums, metric + NDT_METRIC_LAPLACE);
    for (int k = 0; k < NDT_POSE; k++) metric[NDT_METRIC_FINAL + k] = a->pose[k];
}

HD void ndt_finish(const NdtConstants *c, const NdtTask *task, const LaneGroup *alone, const NdtAlignment *a,
                   NdtEnd end)
{
    double metric[NDT_N_METRICS];
    if (!team_speaks(alone)) return;
    ndt_metrics_of(c, task, a, end, metric);
    for (int k = 0; k < NDT_N_METRICS; k++) lanes_set_metric(alone, k, splat(metric[k]), all_lanes());
    lanes_end(alone, splat((double)end), all_lanes());
}

// The map that the lane has chosen, and the other data of its sums.
HD void ndt_begin(const NdtConstants *c, const double *assets, const LaneGroup *alone, NdtMap *map, NdtTask *task)
{
    const int own = c->own[NDT_OWN_RESOLUTION];
    ndt_open(c, assets, own != 0 ? ndt_nearest_map(c, assets, ndt_input(alone, alone->lane, own)) : 0, map, task);
    task->mixture = ndt_mixture(ndt_input(alone, alone->lane, NDT_OUTLIER_RATIO), map->resolution);
    task->pull.scale = ndt_input(alone, alone->lane, NDT_PULL);
    task->pull.x = ndt_input(alone, alone->lane, NDT_PULL + 1);
    task->pull.y = ndt_input(alone, alone->lane, NDT_PULL + 2);
    task->group = alone;
    task->crew = NULL;
}

// One alignment for one slice.
HD void ndt_advance(const NdtConstants *c, const NdtTask *task, const LaneGroup *alone, bool observed)
{
    const NdtMethod method = ndt_method(c, alone);
    NdtAlignment a;
    NdtDebugRow row;
    if (alone->tick == 0) {
        double pose[NDT_POSE];
        for (int k = 0; k < NDT_POSE; k++) pose[k] = ndt_input(alone, alone->lane, NDT_INITIAL + k);
        ndt_align_begin(&a, pose);
    } else {
        ndt_load(alone, alone->lane, &a);
    }
    for (int64_t tick = alone->tick; tick < alone->tick + alone->ticks; tick++) {
        const bool debug = observed && lanes_debug_due(alone, tick);
        bool has_row;
        if (observed && lanes_sample_due(alone, tick)) {
            ndt_align_know(task, &a);
            ndt_sample(alone, &a, false);
        }
        const NdtEnd end = ndt_iterate(task, &method, &a, debug ? &row : NULL, &has_row);
        if (has_row) team_debug(alone, a.iterations - 1.0, row.at, NDT_DEBUG_COLUMNS);
        if (end == NDT_RUNNING) continue;
        if (observed) ndt_sample(alone, &a, true);
        ndt_finish(c, task, alone, &a, end);
        return;
    }
    ndt_store(alone, alone->lane, &a);
}

#if defined(HOPSCOTCH_TEAMS)
HD void ndt_align(const Constants *constants, const double *assets, const LaneGroup *group, bool observed)
{
    NdtConstants c;
    NdtMap map;
    NdtTask task;
    memcpy(&c, constants, sizeof c);
    const bool running = any_lane(lanes_running(group));
    team_barrier(group); // all have checked before one of them ends the lane
    if (!running) return;
    ndt_begin(&c, assets, group, &map, &task);
    if (!team_leads(group)) {
        ndt_help(&task);
        return;
    }
    ndt_advance(&c, &task, group, observed);
    ndt_rest(&task);
}
#else
// crew: the threads that share the evaluations; NULL: none.
HD void ndt_align_all(const Constants *constants, const double *assets, const LaneGroup *group, bool observed,
                      NdtCrew *crew)
{
    NdtConstants c;
    NdtMap map;
    NdtTask task;
    memcpy(&c, constants, sizeof c);
    const mask running = lanes_running(group);
    for (int i = 0; i < group->valid; i++) {
        if (!lane_of_mask(running, i)) continue;
        const LaneGroup alone = ndt_alone(group, i);
        ndt_begin(&c, assets, &alone, &map, &task);
        task.crew = crew;
        ndt_advance(&c, &task, &alone, observed);
    }
}

HD void ndt_align(const Constants *constants, const double *assets, const LaneGroup *group, bool observed)
{
    ndt_align_all(constants, assets, group, observed, NULL);
}
#endif

#endif
