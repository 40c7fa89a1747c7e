// Control laws of the user's own (Law in sim.h): once a control period a code runs over a sample of the lane. It gives
// the motors their commands and efforts until the next period, and the numbers that the law holds until then:
//     u[k] = g(x[k], y[k]),   x[k+1] = f(x[k], y[k])
// y: what the law sees of the sample; x: held numbers, the mode, guards at the last period, readings that are delayed.
// With policies g and f have two codes: what the policies see, then, behind them, all else.
#ifndef HOPSCOTCH_LAW_H
#define HOPSCOTCH_LAW_H

#include "lanes.h"
#if !defined(HOPSCOTCH_DUAL)
#include "lane_code.h"
#include "philox_lanes.h"
#include "policy.h"
#endif

HD const Law *law_of(const LaneGroup *group) { return &group->batch.law; }
#if defined(HOPSCOTCH_MADE) && !MADE_ON_CPU
HD bool lanes_have_law(const LaneGroup *group) { return (void)group, LAW_MADE; }
#else
HD bool lanes_have_law(const LaneGroup *group) { return group->batch.law.of.cell != NULL; }
#endif

// The law decides before this tick.
HD bool law_is_due(const LaneGroup *group, int64_t tick)
{
    return lanes_have_law(group) && tick % law_of(group)->ticks == 0;
}
// The number of the period that begins at a tick; of lanes with their own clocks after that many ticks.
HD real law_period(const LaneGroup *group, int64_t tick) { return splat((double)(tick / law_of(group)->ticks)); }
HD real law_period_after(const LaneGroup *group, real ticks) { return ticks / (double)law_of(group)->ticks; }

#if defined(HOPSCOTCH_DUAL) // lanes with derivatives: law_tangent_begin of sim.h
HD int64_t law_asset(const LaneGroup *group, int64_t k)
{
    int64_t value;
    memcpy(&value, law_of(group)->of.assets + k, sizeof value);
    return value;
}
HD bool law_sees(const LaneGroup *group, int column)
{
    return law_asset(group, law_of(group)->of.columns + column) >= 0;
}
HD void law_see(const LaneGroup *group, int column, real value, mask which)
{
    const Law *law = law_of(group);
    const int64_t at = law_asset(group, law->of.columns + column);
    (void)which;
    if (at < 0) return;
    law->of.cell[at] = value_of(value);
    for (int k = 0; k < DUAL_DIRECTIONS; k++) law->of.cell[(1 + k) * law->of.n_needed + at] = slope_along(value, k);
}
HD bool law_gives(const LaneGroup *group, int output) { return law_asset(group, law_of(group)->outputs + output) >= 0; }
HD real law_output(const LaneGroup *group, int output)
{
    return load_all(law_tangent_outputs(law_of(group), DUAL_DIRECTIONS, law_of(group)->of.cell) +
                    output * REAL_DOUBLES);
}
HD mask law_is_wrong(const LaneGroup *group)
{
    const double *outputs = law_tangent_outputs(law_of(group), DUAL_DIRECTIONS, law_of(group)->of.cell);
    return MASK(outputs[law_of(group)->n_outputs * REAL_DOUBLES] != 0.0);
}
HD void law_begin(const LaneGroup *group, mask which)
{
    const LaneCode *of = &law_of(group)->of;
    (void)which;
    for (int i = 0; i < of->n_parameters; i++) {
        const real parameter = lanes_parameter(group, (int)law_asset(group, of->parameters + i));
        double *slope = of->cell + (1 + DUAL_DIRECTIONS) * of->n_needed + i;
        for (int k = 0; k < DUAL_DIRECTIONS; k++) slope[k * of->n_parameters] = slope_along(parameter, k);
    }
    law_tangent_begin(law_of(group), group->batch.parameter, DUAL_DIRECTIONS, law_of(group)->of.cell);
}
HD void law_decide(const LaneGroup *group, real period, mask which)
{
    (void)which;
    law_tangent_decide(law_of(group), group->batch.parameter, DUAL_DIRECTIONS, value_of(period),
                       law_of(group)->of.cell);
}
HD int law_shown(const LaneGroup *group) { return (void)group, 0; }
HD real law_shown_value(const LaneGroup *group, int k) { return (void)group, (void)k, splat(0.0); }
#else

enum { LAW_DRAW = 7 }; // purpose of a random number, beside those of sim.h, environment.h and equations/noise.h

// Whether the law needs a column of the next sample, and the column.
HD bool law_sees(const LaneGroup *group, int column) { return lane_code_needs(&law_of(group)->of, column); }
HD void law_see(const LaneGroup *group, int column, real value, mask which)
{
    lane_code_set(group, &law_of(group)->of, column, value, which);
}

// ---- cells: what was decided, what is held, whether a number was none, two layers of policies, then registers -------

HD int law_held(const Law *law) { return law->n_outputs; }
HD int law_wrong(const Law *law) { return law->n_outputs + law->n_held; }
HD int law_layers(const Law *law) { return law_wrong(law) + 1; }
// Registers behind those of columns and parameters: held numbers, normal numbers, whether the period is the first, what
// policies give, actions.
HD int law_register(const Law *law, int k) { return law->of.n_needed + law->of.n_parameters + k; }

// Registers of all inputs.
HD int law_inputs(const Law *law)
{
    return law_register(law, law->n_held + law->n_noises + 1 + law->n_given + law->n_actions);
}

HD int law_integer(const Law *law, int64_t k) { return lane_code_integer(&law->of, k); }
HD real law_at(const LaneGroup *group, int cell) { return lane_code_get(group, &law_of(group)->of, cell); }
HD real law_value(const LaneGroup *group, int at) { return law_at(group, lane_code_register(&law_of(group)->of, at)); }
HD void law_set_register(const LaneGroup *group, int at, real value)
{
    lane_code_put(group, &law_of(group)->of, lane_code_register(&law_of(group)->of, at), value);
}

// Whether the law gives an output, and what it gave last.
HD bool law_gives(const LaneGroup *group, int output)
{
    return law_integer(law_of(group), law_of(group)->outputs + output) >= 0;
}
HD real law_output(const LaneGroup *group, int output) { return law_at(group, output); }
// The lanes in which an output, or a number that is held, was not a number.
HD mask law_is_wrong(const LaneGroup *group) { return MASK(law_at(group, law_wrong(law_of(group))) != 0.0); }

// ---- a period -------------------------------------------------------------------------------------------------------

// Before the first sample of the lanes of `which`: the numbers that the law holds at the start.
HD_CALL void law_begin(const LaneGroup *group, mask which)
{
    const Law *law = law_of(group);
    lane_code_begin(group, &law->of, LANE_CODE_LAW_BEGIN);
    for (int k = 0; k < law->n_held; k++)
        lane_code_put_in(group, &law->of, law_held(law) + k, law_value(group, law_integer(law, law->start + k)), which);
    lane_code_put_in(group, &law->of, law_wrong(law), splat(0.0), which);
}

// The numbers with columns, which are the first that are held.
HD int law_shown(const LaneGroup *group) { return law_of(group)->n_shown; }
HD real law_shown_value(const LaneGroup *group, int k) { return law_at(group, law_held(law_of(group)) + k); }

// Standard normal numbers (Box & Muller 1958), functions of the lane's seed, the period and their index.
HD_CALL void law_draw(const LaneGroup *group, real period)
{
    const Law *law = law_of(group);
    const real seed = lanes_parameter(group, law->seed);
    for (int k = 0; k < law->n_noises; k += 2) {
        real u, v, sine_of, cosine_of;
        philox_uniforms(period, splat(0.0), (uint32_t)LAW_DRAW << 16 | (uint32_t)k, seed, &u, &v);
        const real radius = square_root(-2.0 * logarithm(u));
        sine_cosine(6.283185307179586 * v, &sine_of, &cosine_of);
        law_set_register(group, law_register(law, law->n_held + k), radius * cosine_of);
        if (k + 1 < law->n_noises) law_set_register(group, law_register(law, law->n_held + k + 1), radius * sine_of);
    }
}

// The actions of a period: in an environment the lane's own, else those of the table; without one 0, or the bound
// nearest to it.
HD_CALL void law_act(const LaneGroup *group, real period)
{
    const Law *law = law_of(group);
    const double *bounds = law->of.assets + law->actions, *table = law->of.assets + law->action_rows;
    for (int a = 0; a < law->n_actions; a++) {
        real value = splat(0.0);
        if (group->own.action != NULL) value = lanes_action(group, a);
        for (int i = 0; i < LANES && group->own.action == NULL && law->n_action_rows > 0; i++) {
            const int64_t row = (int64_t)lane_of(period, i) / law->action_periods, last = law->n_action_rows - 1;
            set_lane(&value, i, table[(row < last ? row : last) * law->n_actions + a]);
        }
        law_set_register(group, law_register(law, law->n_held + law->n_noises + 1 + law->n_given + a),
                         clamped(value, splat(bounds[2 * a]), splat(bounds[2 * a + 1])));
    }
}

// A policy that it asks, and where the registers of what it sees stand.
HD Policy law_policy(const Law *law, int p, int64_t *seen)
{
    const int64_t row = law->policies + (int64_t)p * LAW_POLICY;
    *seen = asset_integer(law->of.assets, row + LAW_POLICY_SEEN);
    return policy_open(law->of.assets + asset_integer(law->of.assets, row + LAW_POLICY_AT), law->weights);
}
// The register of what policies give.
HD int law_given(const Law *law, int k) { return law_register(law, law->n_held + law->n_noises + 1 + k); }

// The policies give what they see for. Returns the lanes in which one sees what is not a number.
HD_CALL mask law_ask(const LaneGroup *group)
{
    const Law *law = law_of(group);
    const int a = law_layers(law), b = a + law->widest;
    int given = 0;
    mask blind = no_lanes();
    for (int p = 0; p < law->n_policies; p++) {
        int64_t seen;
        const Policy policy = law_policy(law, p, &seen);
        for (int k = 0; k < (int)policy.shape->width[0]; k++) {
            const real value = law_value(group, law_integer(law, seen + k));
            blind = blind | MASK(value != value);
            lane_code_put(group, &law->of, a + k, value);
        }
        policy_act(&policy, group, &law->of, a, b);
        for (int k = 0; k < policy_outputs(&policy); k++)
            law_set_register(group, law_given(law, given++), law_at(group, a + k));
    }
    return blind;
}

// Runs the code of a period. Returns the lanes in which a policy sees what is not a number.
HD mask law_run(const LaneGroup *group)
{
    const Law *law = law_of(group);
    mask blind = no_lanes();
    lane_code_run(group, &law->of, &law->of.code, LANE_CODE_LAW_STEP);
    if (law->n_policies == 0) return blind;
    blind = law_ask(group);
    lane_code_run(group, &law->of, &law->then, LANE_CODE_LAW_THEN);
    return blind;
}

// Decides for the period with this number, from 0 on, in the lanes of `which`; their columns have been seen.
HD_CALL void law_decide(const LaneGroup *group, real period, mask which)
{
    const Law *law = law_of(group);
    for (int k = 0; k < law->n_held; k++)
        law_set_register(group, law_register(law, k), law_at(group, law_held(law) + k));
    if (law->n_noises > 0) law_draw(group, period);
    law_set_register(group, law_register(law, law->n_held + law->n_noises),
                     select_real(MASK(period == 0.0), splat(1.0), splat(0.0)));
    if (law->n_actions > 0) law_act(group, period);
    mask wrong = law_run(group);
    for (int k = 0; k < law->n_held; k++) {
        const int from = law_integer(law, law->next + k);
        const real value = law_value(group, from);
        if (k < law->n_checked) wrong = wrong | MASK(value != value);
        lane_code_put_in(group, &law->of, law_held(law) + k, value, which);
    }
    for (int k = 0; k < law->n_outputs; k++) {
        if (!law_gives(group, k)) continue;
        const real value = law_value(group, law_integer(law, law->outputs + k));
        wrong = wrong | MASK(value != value);
        lane_code_put_in(group, &law->of, k, value, which);
    }
    lane_code_put_in(group, &law->of, law_wrong(law), splat(1.0), which & wrong);
}
#endif

#endif
