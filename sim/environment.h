// Environments: what all models share of a reset and of a step. The kernel of a model M and its integrator K gives four
// functions with (constants, assets, group, which), of the lanes of `which` (M/environment.h):
//     M_K_begin    starts them; their parameters are drawn
//     M_K_advance  advances them by group->ticks, or to their end, by their clocks and actions
//     M_K_sample   writes their columns
//     M_K_finish   ends them without failure, with their metrics
// A lane depends on nothing but its own parameters, actions and clock, so it has the bits of a run (sim/README.md).
#ifndef HOPSCOTCH_ENVIRONMENT_H
#define HOPSCOTCH_ENVIRONMENT_H

#include "environment_code.h"
#include "philox.h"

typedef struct EnvironmentLanes {
    mask present, going, begun; // in this group; advanced by this step; begun by it in place of a step
    mask stop;                  // the condition of the spec ends them
    real reward;
} EnvironmentLanes;

// ---- arrays ---------------------------------------------------------------------------------------------------------

HD real environment_load(const EnvironmentView *e, const LaneGroup *group, const double *rows, int row)
{
    return load_lanes(rows + row * e->stride + group->lane, group->valid);
}

HD void environment_store(const EnvironmentView *e, const LaneGroup *group, double *rows, int row, real x, mask which)
{
    store_lanes(rows + row * e->stride + group->lane, x, which, group->valid);
}

// A row of floats, of single or double precision.
HD real environment_float(const EnvironmentView *e, const LaneGroup *group, const void *rows, int row)
{
    if (e->single == 0) return environment_load(e, group, (const double *)rows, row);
    const float *from = (const float *)rows + row * e->stride + group->lane;
    double x[LANES];
    for (int i = 0; i < LANES; i++) x[i] = (double)from[i < group->valid ? i : group->valid - 1];
    return load_lanes(x, LANES);
}

HD void environment_set_float(const EnvironmentView *e, const LaneGroup *group, void *rows, int row, real x, mask which)
{
    if (e->single == 0) {
        environment_store(e, group, (double *)rows, row, x, which);
        return;
    }
    float *to = (float *)rows + row * e->stride + group->lane;
    for (int i = 0; i < group->valid; i++)
        if (lane_of_mask(which, i)) to[i] = (float)lane_of(x, i);
}

HD void environment_set_byte(const LaneGroup *group, uint8_t *bytes, mask set, mask which)
{
    for (int i = 0; i < group->valid; i++)
        if (lane_of_mask(which, i)) bytes[group->lane + i] = lane_of_mask(set, i) ? 1 : 0;
}

HD mask environment_mask_of(const LaneGroup *group, const uint8_t *bytes)
{
    double x[LANES];
    for (int i = 0; i < LANES; i++) x[i] = i < group->valid && bytes[group->lane + i] != 0 ? 1.0 : 0.0;
    return MASK(load_lanes(x, LANES) > 0.0);
}

// Lanes whose episode is over: 0 running, else 1 + code of the failure.
HD real environment_status(const LaneGroup *group)
{
    double x[LANES];
    for (int i = 0; i < LANES; i++) x[i] = i < group->valid ? (double)group->batch.status[group->lane + i] : 0.0;
    return load_lanes(x, LANES);
}

// ---- the spec's expressions -----------------------------------------------------------------------------------------

// What the spec's expressions say of a step.
typedef struct EnvironmentResult {
    real reward;
    mask stop; // its condition holds
} EnvironmentResult;

// Evaluates the observations, of a step also the reward and the condition, for the samples of the lanes of `which`, of
// `valid` lanes from `lane` on. Their frame begins with the columns. A reward that is not finite counts as 0.
HD EnvironmentResult environment_evaluate(const EnvironmentView *e, int64_t lane, int valid, double *column,
                                          int64_t columns_apart, bool step, real failed, mask which)
{
    const EnvironmentCode *code = step ? &e->step : &e->observe;
    EnvironmentResult result = {splat(0.0), no_lanes()};
    LaneGroup group;
    Frame frame;
    group.batch.parameter = e->parameter;
    group.batch.stride = e->stride;
    group.lane = lane;
    group.valid = valid;
    frame.at = column;
    frame.apart = (int)columns_apart;
    environment_code_run(e->codes, code, &group, failed, frame);
    for (int k = 0; k < e->n_observations; k++)
        environment_set_float(e, &group, e->observation, k,
                              canonical(environment_code_output(e->codes, code, k, frame)), which);
    if (!step) return result;
    const real reward = environment_code_output(e->codes, code, e->n_observations, frame);
    result.reward = select_real(is_finite(reward), reward, splat(0.0));
    result.stop = program_is_true(environment_code_output(e->codes, code, e->n_observations + 1, frame));
    return result;
}

HD_CALL EnvironmentResult environment_evaluate_called(const EnvironmentView *e, int64_t lane, int valid, double *column,
                                                      int64_t columns_apart, bool step, real failed, mask which)
{
    return environment_evaluate(e, lane, valid, column, columns_apart, step, failed, which);
}

// ---- an episode begins ----------------------------------------------------------------------------------------------

// The words number `index` of this lane's episode: two uniform numbers, in (0, 1] and [0, 1).
HD void environment_draw(const EnvironmentView *e, const LaneGroup *group, uint32_t index, real *u, real *v)
{
    enum { PURPOSE = 5 }; // beside those of sim.h
    *u = *v = splat(0.0);
    for (int i = 0; i < group->valid; i++) {
        const int64_t lane = group->lane + i;
        const uint64_t episode = e->episode[lane];
        const Philox counter = {
            {index, (uint32_t)episode, e->stream[lane], (uint32_t)PURPOSE << 16 | (uint32_t)(episode >> 32 & 0xffff)}};
        const Philox drawn = philox4x32_10(counter, e->seed[lane]);
        set_lane(u, i, philox_unit(drawn.word[0], drawn.word[1]) + 0x1p-53);
        set_lane(v, i, philox_unit(drawn.word[2], drawn.word[3]));
    }
}

// By Box & Muller, as in sim/random.c; or uniform.
HD real environment_drawn(const EnvironmentView *e, const LaneGroup *group, int k)
{
    const EnvironmentDraw *draw = &e->draws[k];
    real u, v;
    environment_draw(e, group, (uint32_t)k, &u, &v);
    const real normal = square_root(-2.0 * logarithm(u)) * cosine(6.283185307179586 * v);
    const real x = draw->normal != 0 ? draw->a + draw->b * normal : draw->a + (draw->b - draw->a) * v;
    return clamped(x, splat(draw->low), splat(draw->high));
}

// Inputs of the lanes: fixed ones, drawn ones, and seeds of the model's own draws, integers below 2^53.
HD_CALL void environment_draw_inputs(const EnvironmentView *e, int64_t lane, int valid, mask which)
{
    LaneGroup group;
    group.lane = lane;
    group.valid = valid;
    for (int p = 0; p < e->n_named; p++) environment_store(e, &group, e->parameter, p, splat(e->fixed[p]), which);
    for (int k = 0; k < e->n_draws; k++)
        environment_store(e, &group, e->parameter, (int)e->draws[k].parameter, environment_drawn(e, &group, k), which);
    for (int p = e->n_named; p < e->n_parameters; p++) {
        real u, v;
        environment_draw(e, &group, (uint32_t)(e->n_draws + p - e->n_named), &u, &v);
        environment_store(e, &group, e->parameter, p, 0x1p53 * v, which);
    }
}

HD void environment_begin(const EnvironmentView *e, const LaneGroup *group, mask which)
{
    environment_draw_inputs(e, group->lane, group->valid, which);
    for (int i = 0; i < group->valid; i++) {
        const int64_t lane = group->lane + i;
        if (!lane_of_mask(which, i)) continue;
        group->batch.status[lane] = LANE_RUNNING;
        e->clock[lane] = 0;
        e->steps[lane] = 0;
        e->total[lane] = 0.0;
        e->episode[lane]++;
    }
}

// ---- a reset --------------------------------------------------------------------------------------------------------

// The lanes of a reset, with their seeds.
HD mask environment_reset_lanes(const EnvironmentView *e, const LaneGroup *group, const EnvironmentBegin *begin)
{
    const mask present = first_lanes(group->valid);
    const mask which = begin->lanes != NULL ? environment_mask_of(group, begin->lanes) & present : present;
    for (int i = 0; i < group->valid && begin->seeds != NULL; i++) {
        const int64_t lane = group->lane + i;
        if (!lane_of_mask(which, i)) continue;
        e->seed[lane] = begin->seeds[lane];
        e->stream[lane] = 0;
        e->episode[lane] = 0;
    }
    return which;
}

HD void environment_reset_results(const EnvironmentView *e, const LaneGroup *group, mask which)
{
    environment_set_float(e, group, e->reward, 0, splat(0.0), which);
    environment_set_byte(group, e->terminated, no_lanes(), which);
    environment_set_byte(group, e->truncated, no_lanes(), which);
}

// ---- a step ---------------------------------------------------------------------------------------------------------

// The lanes that this step advances; floats of single precision become their actions.
HD mask environment_before(const EnvironmentView *e, const LaneGroup *group)
{
    const mask over = MASK(environment_status(group) != (double)LANE_RUNNING);
    const mask going = first_lanes(group->valid) & ~over;
    for (int a = 0; a < e->n_actions && ON_GPU; a++) { // on a CPU the library has looked at them
        const real given = environment_float(e, group, e->given, a);
        const mask wrong = going & MASK(given != given);
        if (any_lane(wrong)) environment_set_byte(group, e->wrong, wrong, wrong);
    }
    for (int a = 0; a < e->n_actions && e->single != 0; a++)
        environment_store(e, group, e->action, a, environment_float(e, group, e->given, a), going);
    return going;
}

HD EnvironmentLanes environment_lanes(const EnvironmentView *e, const LaneGroup *group, mask going)
{
    EnvironmentLanes lanes;
    lanes.present = first_lanes(group->valid);
    lanes.going = going;
    lanes.begun = e->autoreset == ENVIRONMENT_NEXT_STEP ? lanes.present & ~going : no_lanes();
    lanes.stop = no_lanes();
    lanes.reward = splat(0.0);
    return lanes;
}

// Evaluates observation, reward and condition; *stop: lanes that the condition ends, and the model did not.
HD void environment_evaluate_step(const EnvironmentView *e, const LaneGroup *group, EnvironmentLanes *lanes)
{
    const real status = environment_status(group);
    const real failed = program_truth(MASK(status > (double)LANE_DONE));
    // on a GPU inline: pointers and numbers of the view are constants there
    const EnvironmentResult result =
        ON_GPU ? environment_evaluate(e, group->lane, group->valid, group->own.column, group->own.columns_apart, true,
                                      failed, lanes->going)
               : environment_evaluate_called(e, group->lane, group->valid, group->own.column, group->own.columns_apart,
                                             true, failed, lanes->going);
    lanes->reward = result.reward;
    lanes->stop = result.stop & lanes->going;
}

// What is stored of the lanes of `ends`.
HD void environment_end_episodes(const EnvironmentView *e, const LaneGroup *group, mask ends)
{
    for (int k = 0; k < e->n_observations; k++)
        environment_set_float(e, group, e->final_observation, k, environment_float(e, group, e->observation, k), ends);
    for (int i = 0; i < group->valid; i++) {
        const int64_t lane = group->lane + i;
        if (!lane_of_mask(ends, i)) continue;
        e->episode_return[lane] = e->total[lane];
        e->episode_steps[lane] = e->steps[lane];
        e->episode_failure[lane] = group->batch.status[lane] - LANE_DONE;
    }
}

// Sums, flags and results of the step; returns the lanes that begin an episode now. status: after the model's advance,
// before the condition ended lanes.
HD mask environment_after(const EnvironmentView *e, const LaneGroup *group, const EnvironmentLanes *lanes, real status)
{
    const mask failed = MASK(status > (double)LANE_DONE), over = MASK(status == (double)LANE_DONE);
    const mask ends = lanes->going & (failed | over | lanes->stop);
    const mask reported = lanes->going | lanes->begun;
    environment_set_float(e, group, e->reward, 0, select_real(lanes->going, lanes->reward, splat(0.0)), lanes->present);
    environment_set_byte(group, e->terminated, lanes->going & (failed | lanes->stop), reported);
    environment_set_byte(group, e->truncated, lanes->going & over, reported);
    environment_store(e, group, e->total, 0, environment_load(e, group, e->total, 0) + lanes->reward, lanes->going);
    for (int i = 0; i < group->valid; i++)
        if (lane_of_mask(lanes->going, i)) e->steps[group->lane + i]++;
    if (any_lane(ends)) environment_end_episodes(e, group, ends);
    return e->autoreset == ENVIRONMENT_SAME_STEP ? ends : lanes->begun;
}

// ---- of each kernel -------------------------------------------------------------------------------------------------

#define ENVIRONMENT_BEGIN(name, which)                                                                                 \
    do {                                                                                                               \
        environment_begin(e, group, which);                                                                            \
        name##_begin(constants, assets, group, which);                                                                 \
        name##_sample(constants, assets, group, which);                                                                \
        environment_evaluate_called(e, group->lane, group->valid, group->own.column, group->own.columns_apart, false,  \
                                    splat(0.0), which);                                                                \
    } while (0)

// A step is the advance of the lanes that it goes on with, and what follows.
#define ENVIRONMENT_KERNEL(model, kernel)                                                                              \
    HD void environment_reset_##model##_##kernel(const EnvironmentView *e, const Constants *constants,                 \
                                                 const double *assets, const LaneGroup *group,                         \
                                                 const EnvironmentBegin *begin)                                        \
    {                                                                                                                  \
        const mask which = environment_reset_lanes(e, group, begin);                                                   \
        if (!any_lane(which)) return;                                                                                  \
        ENVIRONMENT_BEGIN(model##_##kernel, which);                                                                    \
        environment_reset_results(e, group, which);                                                                    \
    }                                                                                                                  \
    HD mask environment_advance_##model##_##kernel(const EnvironmentView *e, const Constants *constants,               \
                                                   const double *assets, const LaneGroup *group)                       \
    {                                                                                                                  \
        const mask going = environment_before(e, group);                                                               \
        if (any_lane(going)) model##_##kernel##_advance(constants, assets, group, not_empty(going));                   \
        return going;                                                                                                  \
    }                                                                                                                  \
    HD void environment_follow_##model##_##kernel(const EnvironmentView *e, const Constants *constants,                \
                                                  const double *assets, const LaneGroup *group, mask going)            \
    {                                                                                                                  \
        EnvironmentLanes lanes = environment_lanes(e, group, going);                                                   \
        real status = splat(0.0);                                                                                      \
        if (any_lane(lanes.going)) {                                                                                   \
            model##_##kernel##_sample(constants, assets, group, lanes.going);                                          \
            environment_evaluate_step(e, group, &lanes);                                                               \
            status = environment_status(group);                                                                        \
            const mask stop = lanes.stop & MASK(status == (double)LANE_RUNNING);                                       \
            if (any_lane(stop)) model##_##kernel##_finish(constants, assets, group, stop);                             \
        }                                                                                                              \
        const mask which = environment_after(e, group, &lanes, status);                                                \
        if (any_lane(which)) ENVIRONMENT_BEGIN(model##_##kernel, which);                                               \
    }

#endif
