// The kernels of rigid bodies. On a GPU one thread steps a small world, which fits in fast memory; a warp or a thread
// block steps a larger one.
#ifndef HOPSCOTCH_RIGID_ADVANCE_H
#define HOPSCOTCH_RIGID_ADVANCE_H

#include "control.h"
#include "start.h"

// ---- a lane's begin and end -----------------------------------------------------------------------------------------

// The layout of the world.
HD RigidLanes rigid_world_of(const Constants *constants, const double *assets)
{
    RigidLanes w;
#if !defined(HOPSCOTCH_MADE)
    memcpy(&w.c, constants, sizeof w.c);
#endif
#if !defined(HOPSCOTCH_MADE) && !defined(HOPSCOTCH_ALONE)
    w.rank = 0;
    w.size = 1;
#endif
    w.bodies = (const RigidBody *)assets;
    w.rows = (const RigidRow *)(assets + w.c.rows);
    w.joints = (const RigidJoint *)(assets + w.c.joints);
    w.forces = (const RigidForce *)(assets + w.c.forces);
    w.touches = (const int32_t *)(assets + w.c.touches);
    w.slots = (const RigidSlot *)(assets + w.c.slots);
    w.levels = (const RigidSlot *)(assets + w.c.levels);
    w.force_slots = (const RigidSlot *)(assets + w.c.force_slots);
    w.order = w.world_order = (const int32_t *)(assets + w.c.order);
    w.islands = (const RigidIsland *)(assets + w.c.islands);
    w.n_moving = w.c.n_moving;
    w.n_islands = w.c.n_islands;
    w.refine = w.c.refine;
    w.row = 0;
    w.row_end = w.c.n_rows;
    w.n_loop_rows = w.c.n_loop_rows;
    w.schur_at = w.response_at = 0;
    w.actions = assets + w.c.actions;
    w.recorded = (const int32_t *)(assets + w.c.recorded);
    w.named = (const int32_t *)(assets + w.c.named);
    return w;
}

// Loads the lanes' gains.
HD RigidLanes rigid_open(const Constants *constants, const double *assets, const LaneGroup *group)
{
    RigidLanes w = rigid_world_of(constants, assets);
    w.group = group;
    w.active = all_lanes();
#define RIGID_LOAD(name, ...) w.name = lanes_parameter(group, RIGID_PARAMETER_##name);
    RIGID_PARAMETERS(RIGID_LOAD)
#undef RIGID_LOAD
    w.substeps = math_nearest(w.substeps);
    w.dt = w.c.dt / w.substeps;
    return w;
}

HD void rigid_begin_body(const RigidLanes *w, int number)
{
    const RigidBody *body = &w->bodies[number];
    const int at = rigid_state_at(w, number), input = body->input;
    for (int k = 0; k < 3; k++) {
        set_cell(w, at + k, input >= 0 ? lanes_parameter(w->group, input + 1 + k) : splat(body->p[k]));
        set_cell(w, at + 7 + k, input >= 0 ? lanes_parameter(w->group, input + 4 + k) : splat(body->v[k]));
        set_cell(w, at + 10 + k, input >= 0 ? lanes_parameter(w->group, input + 7 + k) : splat(body->w[k]));
    }
    for (int k = 0; k < 4; k++) set_cell(w, at + 3 + k, splat(body->q[k]));
}

// More than the energy that rounding of positions gives: a world at rest has none, and keeps it.
HD_CALL real rigid_rounding(const RigidLanes *restrict w)
{
    const real speed = splat(RIGID_ROUNDED) / w->dt; // per m
    real sum = splat(0.0);
    for (int b = 0; b < w->n_moving; b++) {
        const Vector3 p = rigid_p(w, w->order[b]);
        sum = sum + cell(w, rigid_body_at(w, w->order[b]) + RIGID_BODY_M) * (1.0 + dot3(p, p));
    }
    return sum * speed * speed;
}

// What is in play at the start, of which the energy can't gain more: see RIGID_ENERGY.
HD_CALL real rigid_play(const RigidLanes *restrict w, const RigidGains *gains)
{
    const real wind = absolute(w->wind_x) + absolute(w->wind_y) + absolute(w->wind_z);
    const mask blown = w->c.damped != 0 ? MASK(value_of(wind) > 0.0) : no_lanes();
    real play = rigid_kinetic(w) + rigid_rounding(w);
    if (w->c.powered != 0) return splat(RIGID_RATTLE_FAR);
    for (int k = 0; w->c.form != RIGID_RATTLE && k < w->c.n_rows; k++) {
        const real error = cell(w, rigid_row_at(w, k) + RIGID_ROW_STRETCH);
        const real rate = greater_of(greater_of(gains->c, square_root(gains->k)), gains->k * w->dt);
        const real length = cell(w, rigid_row_at(w, k) + RIGID_ROW_LENGTH), speed = rate * error * length;
        play = play + 2.0 * speed * speed / rigid_row_compliance(w, k); // four times that of a row alone
    }
    return select_real(blown, splat(RIGID_RATTLE_FAR), play);
}

// Begins the active lanes. Returns those whose start is refused.
HD_CALL mask rigid_begin(const RigidLanes *restrict w)
{
    const RigidGains gains = rigid_gains(w);
    for (int b = w->rank; b < w->c.n_bodies; b += w->size) rigid_begin_body(w, b);
    for (int f = w->rank; f < w->c.n_forces; f += w->size) set_cell(w, w->c.latch_at + f, splat(-1.0));
    for (int i = w->rank; i < w->c.n_islands; i += w->size) set_cell(w, w->c.follow_at + i, splat(-1.0));
    for (int k = w->rank; k < RIGID_SUMS; k += w->size) set_cell(w, w->c.sums_at + k, splat(0.0));
    rigid_control_begin(w);
    rigid_wait(w);
    mask refused = no_lanes();
    real lever;
    if (w->c.form == RIGID_RATTLE) {
        refused = rigid_project(w, &lever);
    } else {
        rigid_masses(w);
        rigid_assemble(w, true);
        lever = rigid_opening(w).lever;
    }
    const real energy = rigid_energy(w);
    if (rigid_speaks(w)) {
        const int sums = w->c.sums_at;
        set_cell(w, sums + RIGID_SUM_ENERGY, energy);
        set_cell(w, sums + RIGID_SUM_OPEN, select_real(refused, splat(1.0), splat(0.0)));
        set_cell(w, sums + RIGID_SUM_PLAY, fused(splat(RIGID_ENERGY_ROUND), absolute(energy), rigid_play(w, &gains)));
        set_cell(w, sums + RIGID_SUM_LEVER_START, lever);
        set_cell(w, sums + RIGID_METRIC_touchdown, splat(-1.0));
    }
    rigid_wait(w);
    return refused;
}

// ---- what is counted and kept ---------------------------------------------------------------------------------------

HD void rigid_most(const RigidLanes *w, int sum, real x)
{
    const int at = w->c.sums_at + sum;
    update_cell(w, at, most_of(x, cell(w, at)));
}

// The greatest values over rows: at the state at which they were assembled, and of the solution there.
typedef struct RigidExtremes {
    real stretch, lever, pull, multiplier, residual;
} RigidExtremes;

HD_CALL RigidExtremes rigid_extremes(const RigidLanes *restrict w)
{
    const real none = splat(0.0);
    RigidExtremes most = {none, none, none, none, none};
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        const int at = rigid_row_at(w, k);
        const real stretch = cell(w, at + RIGID_ROW_STRETCH), lambda = cell(w, at + RIGID_ROW_LAMBDA);
        most.stretch = most_of(absolute(stretch), most.stretch);
        most.lever = most_of(absolute(stretch) * w->rows[k].turn, most.lever);
        most.multiplier = most_of(absolute(lambda), most.multiplier);
        if (w->rows[k].kind == RIGID_DISTANCE)
            most.pull = most_of(-(lambda * cell(w, at + RIGID_ROW_LENGTH)), most.pull);
    }
    most.stretch = rigid_most_of_team(w, most.stretch);
    most.lever = rigid_most_of_team(w, most.lever);
    most.pull = rigid_most_of_team(w, most.pull);
    most.multiplier = rigid_most_of_team(w, most.multiplier);
    most.residual = rigid_most_of_team(w, rigid_residual(w));
    return most;
}

// of the errors of an island's rows
HD_CALL real rigid_island_squares(const RigidLanes *restrict w, const RigidIsland *island)
{
    real squares = splat(0.0);
    for (int k = island->row; k < island->row_end; k++) {
        const real stretch = cell(w, rigid_row_at(w, k) + RIGID_ROW_STRETCH);
        squares = fused(stretch, stretch, squares);
    }
    return squares;
}

// Sum over the world, valid in the thread that writes.
HD real rigid_squares(const RigidLanes *restrict w)
{
    real sum = splat(0.0);
    for (int i = w->rank; i < w->n_islands; i += w->size) {
        const real squares = rigid_island_squares(w, &w->islands[i]);
        sum = sum + squares;
        if (w->size > 1) set_cell(w, rigid_island_at(w, &w->islands[i]), squares);
    }
    if (w->size == 1) return sum;
    rigid_wait(w);
    return rigid_sum_islands(w);
}

// the world's springs and tethers
HD real rigid_greatest_pull(const RigidLanes *w)
{
    real pull = splat(0.0);
    for (int f = 0; f < w->c.n_forces; f++) {
        if (w->forces[f].kind != RIGID_SPRING && w->forces[f].kind != RIGID_TETHER) continue;
        pull = most_of(cell(w, w->c.latch_at + f), pull);
    }
    return pull;
}

// Adds the results of all rows of the world, and the number of rows without a pivot.
HD void rigid_sum_rows(const RigidLanes *restrict w, real dropped, real squares, const RigidExtremes *most)
{
    if (!rigid_speaks(w)) return;
    const int sums = w->c.sums_at;
    update_cell(w, sums + RIGID_SUM_SQUARES, cell(w, sums + RIGID_SUM_SQUARES) + squares);
    rigid_most(w, RIGID_METRIC_error_max, most->stretch);
    rigid_most(w, RIGID_SUM_LEVER, most->lever);
    rigid_most(w, RIGID_METRIC_tension_max, most_of(rigid_greatest_pull(w), most->pull));
    rigid_most(w, RIGID_METRIC_multiplier_max, most->multiplier);
    rigid_most(w, RIGID_METRIC_residual_max, most->residual);
    update_cell(w, sums + RIGID_METRIC_redundant_rows, dropped);
}

// Lanes of `redundant: drop` in which a row that is kept has nearly become dependent on those before it: its multiplier
// is about to be noise, and so are the rows that are left out. Known to all threads of a team. Only rows that close
// loops are looked at, because what is left of them is the same number for either solver; the rows of trees are
// independent of each other.
HD mask rigid_nearly_follow(const RigidLanes *restrict w)
{
    if (w->c.redundant != RIGID_DROP || w->c.form != RIGID_RATTLE) return no_lanes();
    const real scale = square_root(splat(w->c.pivot)); // then rounding leaves less than `pivot` of a dependent row
    mask near = no_lanes();
    for (int k = w->row + w->rank; k < w->row_end; k += w->size) {
        if (w->rows[k].closes == 0) continue;
        near = near | MASK(value_of(cell(w, w->rows[k].pivot) * rigid_row_compliance(w, k) * scale) > 1.0);
    }
    return MASK(value_of(rigid_most_of_team(w, select_real(near, splat(1.0), splat(0.0)))) > 0.0);
}

// Lanes of `redundant: drop` in which fewer rows are left out, at the start or the end of the step, than at the first
// step. The choice of kept rows is fixed, but as a mechanism moves they may become dependent. What is then left of a
// dependent row is rounding, yet above the least fraction that counts. Its multiplier is noise, although the
// constraints are met.
HD mask rigid_drops_too_few(const RigidLanes *restrict w, real dropped)
{
    if (w->c.redundant != RIGID_DROP || w->c.form != RIGID_RATTLE || !rigid_speaks(w)) return no_lanes();
    const int sums = w->c.sums_at;
    const real begun = cell(w, sums + RIGID_METRIC_redundant_rows), follow = cell(w, sums + RIGID_SUM_FOLLOW);
    return w->active & MASK(value_of(lesser_of(begun, dropped)) < value_of(follow));
}

// Height of the first body that moves, and its rate.
typedef struct RigidHeight {
    real z, v;
} RigidHeight;

HD RigidHeight rigid_height(const RigidLanes *w)
{
    RigidHeight height;
    height.z = rigid_p(w, w->c.first_moving).z;
    height.v = rigid_v(w, w->c.first_moving).z;
    return height;
}

// The height at the fraction s of a step, by the cubic through both heights and rates. It is exact for free fall.
HD real rigid_height_at(const RigidHeight *from, const RigidHeight *to, real dt, real s)
{
    const real rise = to->z - from->z, a = fused(dt, from->v, -rise), b = fused(-dt, to->v, rise), rest = 1.0 - s;
    return fused(s, rise, from->z) + s * rest * fused(a, rest, b * s);
}

// The fraction of the step at which the height is 0, by bisection. A derivative follows from that of the height there,
// over its rate.
HD_CALL real rigid_root(const RigidHeight *from, const RigidHeight *to, real dt)
{
    real low = splat(0.0), high = splat(1.0);
    for (int k = 0; k < 52; k++) {
        const real s = 0.5 * (low + high);
        const mask above = MASK(value_of(rigid_height_at(from, to, dt, s)) > 0.0);
        low = select_real(above, s, low);
        high = select_real(above, high, s);
    }
    const real s = 0.5 * (low + high);
    const real rise = to->z - from->z, a = fused(dt, from->v, -rise), b = fused(-dt, to->v, rise);
    const real rate = rise + (1.0 - 2.0 * s) * fused(a, 1.0 - s, b * s) + s * (1.0 - s) * (b - a);
    return with_slope(s, rigid_height_at(from, to, dt, s) / -constant_of(rate));
}

// Lanes that end because energy has changed by a large fraction of the kinetic energy, summed over the steps that
// missed the constraints or met them with noisy multipliers: from then on the lane does not show the motion. In other
// steps the energy only oscillates; these steps change it permanently, at once or bit by bit, so their fractions are
// added up. Forces that depend on velocities remove energy themselves: there only gains count.
HD_CALL void rigid_find_jumps(const RigidLanes *restrict w, real change, mask missed)
{
    const int sums = w->c.sums_at, at = sums + RIGID_SUM_JUMPS;
    const real kinetic = rigid_kinetic(w),
               step = change - cell(w, sums + RIGID_METRIC_energy_end) - rigid_worked_now(w);
    const real size = w->c.damped != 0 ? step : absolute(step);
    const mask some = missed & MASK(value_of(size) > 0.0);
    set_cell(w, at, cell(w, at) + select_real(some, size / (kinetic + size), splat(0.0)));
}

// Adds the state at the end of the step from t, and its energy. before: the height at t; missed: as in
// rigid_step_rattle; near: as of rigid_nearly_follow, these lanes end.
HD void rigid_sum_state(const RigidLanes *restrict w, real energy, const RigidHeight *before, mask missed, mask near,
                        real t)
{
    if (!rigid_speaks(w)) return;
    if (any_lane(near)) {
        const int at = w->c.sums_at + RIGID_SUM_JUMPS;
        set_cell(w, at, select_real(near & w->active, splat(1.0), cell(w, at)));
    }
    const real change = energy - cell(w, w->c.sums_at + RIGID_SUM_ENERGY);
    if (any_lane(missed)) rigid_find_jumps(w, change, missed);
    rigid_most(w, RIGID_METRIC_energy_error, absolute(change - rigid_worked(w)));
    if (w->c.n_inputs > 0) update_cell(w, w->c.inputs_at + RIGID_WORK_BEFORE, rigid_worked(w));
    update_cell(w, w->c.sums_at + RIGID_METRIC_energy_end, change);
    const int at = w->c.sums_at + RIGID_METRIC_touchdown;
    const RigidHeight after = rigid_height(w);
    const mask lands = MASK(value_of(before->z) > 0.0) & MASK(value_of(after.z) <= 0.0) &
                       MASK(value_of(cell(w, at)) < 0.0) & w->active;
    if (!any_lane(lands)) return;
    const real landed = fused(w->dt, rigid_root(before, &after, w->dt), t);
    set_cell(w, at, select_real(lands, landed, cell(w, at)));
}

// Greatest |work| of a body's weight since the start (J).
HD_CALL real rigid_greatest_fall(const RigidLanes *restrict w)
{
    real greatest = splat(0.0);
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const RigidBody *body = &w->bodies[w->order[b]];
        const real z = body->input >= 0 ? lanes_parameter(w->group, body->input + 3) : splat(body->p[2]);
        const real weight = body->gravity * w->gravity * cell(w, rigid_body_at(w, w->order[b]) + RIGID_BODY_M);
        greatest = most_of(absolute(weight * (rigid_p(w, w->order[b]).z - z)), greatest);
    }
    return rigid_most_of_team(w, greatest);
}

HD mask rigid_all_finite(const RigidLanes *restrict w)
{
    mask finite = all_lanes();
    for (int b = w->rank; b < w->n_moving; b += w->size) {
        const int at = rigid_state_at(w, w->order[b]);
        real sum = splat(0.0);
        for (int k = 0; k < RIGID_STATE; k++) sum = sum + absolute(cell(w, at + k));
        finite = finite & is_finite(sum);
    }
    return MASK(value_of(rigid_most_of_team(w, select_real(finite, splat(0.0), splat(1.0)))) == 0.0);
}

// The threads of a team take the bodies in turn.
HD_CALL void rigid_sample(const RigidLanes *restrict w, real t, bool last, mask which)
{
    for (int r = w->rank; r < w->c.n_recorded; r += w->size) {
        const int at = rigid_state_at(w, w->recorded[r]);
        for (int k = 0; k < RIGID_STATE; k++)
            lanes_set_sample(w->group, 1 + RIGID_STATE * r + k, cell(w, at + k), which);
    }
    rigid_wait(w); // all threads have read the number of samples
    if (!rigid_speaks(w)) return;
    for (int k = 0; k < w->c.n_inputs; k++)
        lanes_set_sample(w->group, 1 + RIGID_STATE * w->c.n_recorded + k, cell(w, rigid_input_at(w, k)), which);
    lanes_set_sample(w->group, 0, t, which);
    lanes_end_sample(w->group, last, which);
}

// Writes the solution of the step from t.
HD_CALL void rigid_debug_rows(const RigidLanes *restrict w, real t, mask which)
{
    if (!rigid_speaks(w)) return;
    const int sums = w->c.sums_at;
    real row[RIGID_N_DEBUG];
    row[RIGID_DEBUG_time] = t;
    row[RIGID_DEBUG_energy] = cell(w, sums + RIGID_SUM_ENERGY) + cell(w, sums + RIGID_METRIC_energy_end);
    for (int k = 0; k < w->c.n_rows && k < RIGID_DEBUG_ROWS; k++) {
        const int at = rigid_row_at(w, k);
        row[RIGID_DEBUG_row] = splat((double)k);
        row[RIGID_DEBUG_constraint] = splat(w->rows[k].constraint);
        row[RIGID_DEBUG_Jv] = cell(w, at + RIGID_ROW_JV);
        row[RIGID_DEBUG_C] = cell(w, at + RIGID_ROW_C);
        row[RIGID_DEBUG_lambda] = cell(w, at + RIGID_ROW_LAMBDA);
        row[RIGID_DEBUG_residual] = rigid_open_row(w, k);
        lanes_debug(w->group, row, which);
    }
}

// Ends the lanes of `which` after `steps` steps at the time t.
HD_CALL void rigid_finish(const RigidLanes *restrict w, real steps, real t, real failure, mask which)
{
    rigid_assemble(w, false);
    real greatest = splat(0.0);
    for (int k = w->row + w->rank; k < w->row_end; k += w->size)
        greatest = most_of(absolute(cell(w, rigid_row_at(w, k) + RIGID_ROW_STRETCH)), greatest);
    greatest = rigid_most_of_team(w, greatest);
    if (!rigid_speaks(w)) return;
    const int sums = w->c.sums_at;
    const real rows = splat((double)(w->c.n_rows > 0 ? w->c.n_rows : 1));
    const real touchdown = cell(w, sums + RIGID_METRIC_touchdown);
    update_cell(w, sums + RIGID_METRIC_error_rms,
                square_root(cell(w, sums + RIGID_SUM_SQUARES) / (rows * greater_of(steps, splat(1.0)))));
    update_cell(w, sums + RIGID_METRIC_survived, t);
    update_cell(w, sums + RIGID_METRIC_touchdown, select_real(MASK(value_of(touchdown) < 0.0), t, touchdown));
    update_cell(w, sums + RIGID_METRIC_error_end, greatest);
    rigid_most(w, RIGID_METRIC_error_max, greatest);
    for (int m = 0; m < RIGID_N_METRICS; m++) lanes_set_metric(w->group, m, cell(w, sums + m), which);
    for (int r = 0; r < w->c.n_named; r++) {
        const Vector3 p = rigid_p(w, w->named[r]);
        lanes_set_metric(w->group, RIGID_N_METRICS + 3 * r, p.x, which);
        lanes_set_metric(w->group, RIGID_N_METRICS + 3 * r + 1, p.y, which);
        lanes_set_metric(w->group, RIGID_N_METRICS + 3 * r + 2, p.z, which);
    }
    if (w->c.n_inputs > 0) lanes_set_metric(w->group, RIGID_N_METRICS + 3 * w->c.n_named, rigid_worked(w), which);
    lanes_end(w->group, failure, which);
}

// ---- the loop -------------------------------------------------------------------------------------------------------

// One step of the active lanes from the time t on, with all its sums.
HD void rigid_step(const RigidLanes *restrict w, const RigidGains *gains, real t)
{
    const RigidHeight height = rigid_height(w);
    const bool rattle = w->c.form == RIGID_RATTLE;
    const real power = rattle ? splat(0.0) : rigid_input_power(w);
    mask missed = no_lanes();
    const real dropped = rattle ? rigid_step_rattle(w, t, &missed) : rigid_step_stabilised(w, gains, t);
    const real left_out = rigid_count_of_team(w, dropped);
    const RigidExtremes most = rigid_extremes(w);
    missed = missed | rigid_drops_too_few(w, left_out);
    const mask near = rigid_nearly_follow(w);
    rigid_sum_rows(w, left_out, rigid_squares(w), &most);
    if (!rattle) {
        rigid_move(w);
        rigid_add_work(w, w->dt, power);
    }
    rigid_sum_state(w, rigid_energy(w), &height, missed, near, t);
}

// RIGID_NONE, or the failure that ends the lane. fall: of rigid_greatest_fall so far.
HD real rigid_failure(const RigidLanes *w, mask finite, real fall)
{
    const int sums = w->c.sums_at;
    const real dropped = cell(w, w->c.sums_at + RIGID_METRIC_redundant_rows);
    const mask refused = w->c.redundant == RIGID_REFUSE ? MASK(value_of(dropped) > 0.0) : no_lanes();
    const mask jumped = MASK(value_of(cell(w, w->c.sums_at + RIGID_SUM_JUMPS)) > RIGID_JUMP);
    const mask open = MASK(value_of(cell(w, sums + RIGID_SUM_OPEN)) > 0.0);
    const real play = fused(splat((double)w->c.n_moving), fall, cell(w, sums + RIGID_SUM_PLAY));
    const mask gained = MASK(value_of(cell(w, sums + RIGID_METRIC_energy_end)) > value_of(play));
    const mask torn =
        MASK(value_of(cell(w, sums + RIGID_SUM_LEVER) - cell(w, sums + RIGID_SUM_LEVER_START)) > RIGID_ERROR_MOST);
    real failure = select_real(refused | jumped, splat(RIGID_SOLVER), splat(RIGID_NONE));
    failure = select_real(gained, splat(RIGID_ENERGY), failure);
    failure = select_real(torn, splat(RIGID_CONSTRAINT), failure);
    failure = select_real(finite, failure, splat(RIGID_DIVERGED));
    return select_real(open, splat(RIGID_OPEN), failure);
}

// Ends the lanes that are done after this many ticks, or that fail. fall: of rigid_greatest_fall. Returns the lanes
// that go on.
HD mask rigid_tick_end(RigidLanes *w, bool observed, double ticks, mask finite, real fall, mask running)
{
    const mask open = MASK(value_of(cell(w, w->c.sums_at + RIGID_SUM_OPEN)) > 0.0);
    const real greatest = most_of(fall, cell(w, w->c.sums_at + RIGID_SUM_FALL));
    const real steps = select_real(open, splat(0.0), ticks * w->substeps);
    const real t_end = select_real(open, splat(0.0), splat(ticks * w->c.dt));
    const mask sane = w->c.n_inputs > 0 && lanes_have_law(w->group) ? ~law_is_wrong(w->group) : all_lanes();
    const mask retired = observed ? lanes_retire(w->group) : no_lanes();
    const real failure = lanes_retired(w->group, retired, rigid_failure(w, finite & sane, greatest));
    if (rigid_speaks(w)) set_cell(w, w->c.sums_at + RIGID_SUM_FALL, greatest);
    const mask over = (int64_t)ticks == w->c.ticks ? all_lanes() : MASK(value_of(failure) > RIGID_NONE);
    const mask ended = running & over;
    if (!any_lane(ended)) return running;
    if (observed) rigid_sample(w, t_end, true, ended);
    w->active = ended;
    rigid_finish(w, steps, t_end, failure, ended);
    return running & ~ended;
}

// refused: lanes whose start is open.
HD void rigid_advance(RigidLanes *w, const LaneGroup *group, mask refused, bool observed)
{
    mask running = lanes_running(group);
    const RigidGains gains = rigid_gains(w);
    double ticks = (double)group->tick;
    for (int64_t tick = group->tick; tick < group->tick + group->ticks && any_lane(running); tick++) {
        const real t = splat(ticks * w->c.dt);
        const mask moving = running & ~refused;
        ticks += 1.0;
        rigid_control(w, tick, t, moving);
        if (observed && lanes_sample_due(group, tick)) rigid_sample(w, t, false, moving);
        w->active = moving;
        for (double k = 0.0; any_lane(w->active); k += 1.0) {
            rigid_step(w, &gains, fused(splat(k), w->dt, t));
            if (observed && k == 0.0 && lanes_debug_due(group, tick)) {
                rigid_debug_rows(w, t, moving);
                rigid_wait(w);
            }
            w->active = moving & MASK(k + 1.0 < value_of(w->substeps));
        }
        const real fall = rigid_greatest_fall(w);
        running = rigid_tick_end(w, observed, ticks, rigid_all_finite(w), fall, running);
    }
}

HD void rigid_small(const Constants *constants, const double *assets, const LaneGroup *group, bool observed)
{
    RigidLanes w = rigid_open(constants, assets, group);
    real memory[RIGID_SMALL];
    w.base = (double *)memory;
#if !defined(HOPSCOTCH_MADE)
    w.stride = REAL_DOUBLES;
#endif
    const bool first = group->tick == 0;
    mask refused = no_lanes();
    if (first) {
        refused = rigid_begin(&w);
    } else {
        for (int k = 0; k < w.c.kept; k++) set_cell(&w, k, lanes_work(group, k));
        rigid_masses(&w);
    }
    if (w.c.form == RIGID_RATTLE) rigid_prepare_rattle(&w, first);
    rigid_advance(&w, group, refused, observed);
    for (int k = 0; k < w.c.kept; k++) lanes_set_work(group, k, cell(&w, k), all_lanes());
}

#if !defined(HOPSCOTCH_MADE) // nothing is gained: its memory is too large to be near the processor
HD void rigid_large(const Constants *constants, const double *assets, const LaneGroup *group, bool observed)
{
    RigidLanes w = rigid_open(constants, assets, group);
    mask refused = no_lanes();
    w.base = lanes_work_chunk(group, w.c.cells, &w.stride);
#if defined(HOPSCOTCH_TEAMS)
    if (group->team.thread_blocks > 0) {
        w.rank = (int)threadIdx.x;
        w.size = (int)blockDim.x;
    }
#endif
    if (group->tick == 0) {
        refused = rigid_begin(&w);
        if (w.c.form == RIGID_RATTLE) rigid_prepare_rattle(&w, true);
    }
    rigid_advance(&w, group, refused, observed);
}
#endif

#endif
