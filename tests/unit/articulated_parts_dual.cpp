// See articulated_parts.h. This file is compiled with dual numbers.
#include "../../sim/dual.h"
#include "../../sim/articulated/advance.h"
extern "C" {
#include "articulated_parts.h"
}

// ---- a lane ---------------------------------------------------------------------------------------------------------

static double *interleaved(const double *x, const double *x_dot, int64_t count, Arena *arena)
{
    double *both = ARENA_NEW(arena, double, count *REAL_DOUBLES);
    for (int64_t k = 0; k < count; k++) store_all(both + k * REAL_DOUBLES, dual(x[k], x_dot[k]));
    return both;
}

static LaneGroup part_group(const PartLane *lane, Arena *arena)
{
    const Configured *configured = lane->configured;
    LaneGroup group;
    memset(&group, 0, sizeof group);
    group.batch.lanes = group.valid = 1;
    group.batch.stride = REAL_DOUBLES;
    group.batch.parameter = interleaved(lane->parameter, lane->parameter_dot, configured->n_parameters, arena);
    group.batch.work = interleaved(lane->cell, lane->cell_dot, configured->n_work, arena);
    group.batch.metric = ARENA_NEW(arena, double, configured->n_metrics *REAL_DOUBLES);
    return group;
}

static real weighed_cells(const ArticulatedLanes *w, const PartLane *lane)
{
    real sum = splat(0.0);
    for (int k = 0; k < w->c.cells; k++) {
        if (lane->weight[k] != 0.0) sum = sum + lane->weight[k] * limb(w, k);
    }
    return sum;
}

// ---- rows -----------------------------------------------------------------------------------------------------------

static void lambda_of(const PartLane *lane, int body, real *l)
{
    for (int k = 0; k < 6; k++) l[k] = splat(body < 0 ? 0.0 : lane->weight[articulated_at(body) + ARTICULATED_U + k]);
}

static void solved_of(const ArticulatedLanes *w, int body, real *u)
{
    for (int k = 0; k < 6; k++) u[k] = body < 0 ? splat(0.0) : limb(w, articulated_at(body) + ARTICULATED_U + k);
}

// l' (b - a u), a[21] packed
static real rows_weighed(const real *a, const real *b, const real *u, const real *l)
{
    real sum = splat(0.0);
    for (int i = 0; i < 6; i++) {
        real row = b[i];
        for (int j = 0; j < 6; j++) row = row - a[i > j ? packed(i, j) : packed(j, i)] * u[j];
        sum = sum + l[i] * row;
    }
    return sum;
}

static void rows_clear(real *a, real *b)
{
    for (int k = 0; k < PACKED_CELLS; k++) a[k] = splat(0.0);
    for (int k = 0; k < 6; k++) b[k] = splat(0.0);
}

static real part_joint(const ArticulatedLanes *w, const PartLane *lane)
{
    const real h = splat(w->c.dt);
    const int body = lane->body, parent = w->bodies[body].parent;
    const ArticulatedPose c = body_pose(w, body), p = body_pose(w, parent);
    const ArticulatedJointState s = joint_state(w, body, &c, &p);
    const ArticulatedAxis axis = joint_axis(w, body, h, &s);
    const ArticulatedRows rows = joint_rows(w, body, h, &s, &axis);
    ArticulatedPassed passed;
    real a[PACKED_CELLS], b[6], B[36], u[6], up[6], l[6], lp[6];
    rows_clear(a, b);
    joint_add(&rows, &s, a, b, B, &passed);
    if (w->bodies[body].kind == ROBOT_SLIDE) joint_add_slide(&rows, &s, a, B, &passed);
    solved_of(w, body, u);
    solved_of(w, parent, up);
    lambda_of(lane, body, l);
    lambda_of(lane, parent, lp);
    real sum = rows_weighed(a, b, u, l) + rows_weighed(passed.a, passed.b, up, lp);
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) sum = sum - B[6 * i + j] * (l[i] * up[j] + lp[j] * u[i]);
    }
    joint_store(w, body, &s, &axis);
    return sum;
}

static real part_rate(const ArticulatedLanes *w, const PartLane *lane, int body)
{
    ArticulatedSeen seen = seen_nothing();
    if (w->bodies[body].joint >= 0) step_rate(w, body, splat(w->c.dt), &seen);
    return lane->power * seen.power;
}

static real part_contact(const ArticulatedLanes *w, const PartLane *lane)
{
    const real zero = splat(0.0);
    const ArticulatedPose pose = body_pose(w, lane->body);
    ArticulatedTouch touch = {zero, zero, zero};
    real a[PACKED_CELLS], b[6], u[6], l[6];
    rows_clear(a, b);
    contact_body(w, lane->body, &pose, splat(w->c.dt), a, b, &touch);
    solved_of(w, lane->body, u);
    lambda_of(lane, lane->body, l);
    const real force = contact_force(w, lane->body, splat(w->c.dt));
    return rows_weighed(a, b, u, l) + lane->force * force + lane->slid * touch.slid;
}

static real part_inertia(const ArticulatedLanes *w, const PartLane *lane)
{
    real a[PACKED_CELLS], b[6], u[6], l[6];
    step_inertia(w, lane->body, splat(w->c.dt), splat((double)lane->tick * w->c.dt), a, b);
    solved_of(w, lane->body, u);
    lambda_of(lane, lane->body, l);
    return rows_weighed(a, b, u, l);
}

// ---- more of a step -------------------------------------------------------------------------------------------------

static real part_step(const ArticulatedLanes *w, const PartLane *lane)
{
    ArticulatedSeen seen = articulated_step(w, splat((double)lane->tick * w->c.dt), splat(w->c.dt));
    return weighed_cells(w, lane) + lane->force * seen.touch.force + lane->slid * seen.touch.slid +
           lane->power * seen.power;
}

// Of order two.
static real part_two(const ArticulatedLanes *w, const PartLane *lane)
{
    const real t = splat((double)lane->tick * w->c.dt);
    ArticulatedSeen seen = articulated_solve(w, t, splat(w->c.dt));
    two_steps(w, t, &seen);
    for (int i = 0; i < w->c.n_bodies; i++) two_body(w, i);
    return weighed_cells(w, lane) + lane->force * seen.touch.force + lane->slid * seen.touch.slid +
           lane->power * seen.power;
}

static real part_solve(const ArticulatedLanes *w, const PartLane *lane)
{
    ArticulatedSeen seen = articulated_solve(w, splat((double)lane->tick * w->c.dt), splat(w->c.dt));
    articulated_lower(w, &seen);
    return weighed_cells(w, lane);
}

static real part_rates(const ArticulatedLanes *w, const PartLane *lane)
{
    real sum = splat(0.0);
    for (int i = 0; i < w->c.n_bodies; i++) sum = sum + part_rate(w, lane, i);
    return sum;
}

static real part_move(const ArticulatedLanes *w, const PartLane *lane)
{
    for (int i = 0; i < w->c.n_bodies; i++) step_move(w, i, splat(w->c.dt));
    return weighed_cells(w, lane);
}

static real part_commands(const ArticulatedLanes *w, const PartLane *lane)
{
    const int64_t last = lane->tick > 0 ? lane->tick - 1 : 0;
    (void)control_set(w, last, splat((double)last * w->c.dt));
    const real changed = control_set(w, lane->tick, splat((double)lane->tick * w->c.dt));
    return weighed_cells(w, lane) + lane->power * changed;
}

static real part_sums(const ArticulatedLanes *w, const PartLane *lane)
{
    const real zero = splat(0.0);
    const ArticulatedSeen seen = seen_nothing();
    articulated_sum_step(w, &seen, zero);
    return weighed_cells(w, lane);
}

static real part_metrics(const ArticulatedLanes *w, const PartLane *lane)
{
    real sum = splat(0.0);
    articulated_metrics(w, splat((double)lane->tick), all_lanes());
    for (int m = 0; m < ARTICULATED_N_METRICS; m++) {
        const real metric = load_all(w->group->batch.metric + m * REAL_DOUBLES);
        if (lane->metric_weight[m] != 0.0) sum = sum + lane->metric_weight[m] * metric;
    }
    return sum;
}

static real part_value(Part part, const ArticulatedLanes *w, const PartLane *lane)
{
    switch (part) {
    case PART_JOINT: {
        const real rows = part_joint(w, lane);
        return rows + part_rate(w, lane, lane->body);
    }
    case PART_CONTACT: return part_contact(w, lane);
    case PART_GRIPS: grip_store(w, lane->body, splat(w->c.dt)); return weighed_cells(w, lane);
    case PART_INERTIA: return part_inertia(w, lane);
    case PART_SOLVE: return part_solve(w, lane);
    case PART_RATES: return part_rates(w, lane);
    case PART_MOVE: return part_move(w, lane);
    case PART_STEP: return part_step(w, lane);
    case PART_TWO: return part_two(w, lane);
    case PART_BEGIN: articulated_begin(w); return weighed_cells(w, lane);
    case PART_COMMANDS: return part_commands(w, lane);
    case PART_SUMS: return part_sums(w, lane);
    case PART_METRICS: return part_metrics(w, lane);
    case PARTS: break;
    }
    return splat(0.0);
}

double part_slope(Part part, const PartLane *lane, Arena *arena, double *value)
{
    const LaneGroup group = part_group(lane, arena);
    const ArticulatedLanes w = articulated_open(&lane->configured->constants, lane->configured->assets, &group);
    const real sum = part_value(part, &w, lane);
    *value = value_of(sum);
    return slope_of(sum);
}

// ---- functions of vector.h ------------------------------------------------------------------------------------------

static Vector3 vector_at(const real *x) { return vector3(x[0], x[1], x[2]); }
static Quaternion quaternion_at(const real *x)
{
    const Quaternion q = {x[0], x[1], x[2], x[3]};
    return q;
}
static Rotation rotation_at(const real *x)
{
    const Rotation r = {vector_at(x), vector_at(x + 3), vector_at(x + 6)};
    return r;
}
static void vector_put(Vector3 v, real *y)
{
    y[0] = v.x;
    y[1] = v.y;
    y[2] = v.z;
}
static void quaternion_put(Quaternion q, real *y)
{
    vector_put(vector3(q.x, q.y, q.z), y);
    y[3] = q.w;
}

static void spatial_value(Spatial function, const real *x, const double *weight, real *y)
{
    const Rotation r = rotation_at(x), turned = rotation_of(quaternion_at(x));
    const Symmetric3 inertia = {x[9], x[10], x[11], x[12], x[13], x[14]};
    switch (function) {
    case SPATIAL_TURNED: vector_put(rotation_out(&r, vector_at(x + 9)), y); break;
    case SPATIAL_TIMES: quaternion_put(quaternion_times(quaternion_at(x), quaternion_at(x + 4)), y); break;
    case SPATIAL_NORMAL: quaternion_put(quaternion_normal(quaternion_at(x)), y); break;
    case SPATIAL_ROTATION:
        vector_put(turned.x, y);
        vector_put(turned.y, y + 3);
        vector_put(turned.z, y + 6);
        break;
    case SPATIAL_LOGARITHM: vector_put(quaternion_logarithm(quaternion_at(x)), y); break;
    case SPATIAL_ABOUT: quaternion_put(quaternion_about(vector_at(x), x[3]), y); break;
    case SPATIAL_QUADRATIC:
        y[0] = dot3(rotation_in(&r, vector3_of(weight)),
                    symmetric3_times(inertia, rotation_in(&r, vector3_of(weight + 3))));
        break;
    case SPATIALS: break;
    }
}

double spatial_slope(Spatial function, const double *x, const double *x_dot, const double *y_weight)
{
    real all[SPATIAL_MOST], y[SPATIAL_MOST], sum = splat(0.0);
    for (int k = 0; k < SPATIAL_MOST; k++) {
        all[k] = dual(x[k], x_dot[k]);
        y[k] = splat(0.0);
    }
    spatial_value(function, all, y_weight, y);
    if (function == SPATIAL_QUADRATIC) return slope_of(y[0]);
    for (int k = 0; k < SPATIAL_MOST; k++) sum = sum + y_weight[k] * y[k];
    return slope_of(sum);
}
