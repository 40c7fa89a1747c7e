// Every part of the adjoint of an articulated robot against dual numbers: <ybar, J xdot> = <J' ybar, xdot> for random
// states, directions and weights, to 1e-12 of the sum of the terms' sizes.
#include "../../sim/articulated/adjoint/rollout.h"
#include "articulated_hand.h"
#include "articulated_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct PartTest {
    ArticulatedCase test;
    LaneGroup group;
    ArticulatedLanes w;
    double *parameter, *parameter_dot, *cell_dot, *weight;
    double metric_weight[ARTICULATED_N_METRICS];
    uint64_t state; // of random numbers
    double power, force, slid;
    int64_t tick;
} PartTest;

static double part_random(PartTest *part) { return random_between(&part->state, -1.0, 1.0); }

// ---- states ---------------------------------------------------------------------------------------------------------

static void part_open(PartTest *part, const ArticulatedSetup *setup, uint64_t seed)
{
    ArticulatedConstants c;
    articulated_start(&part->test, setup);
    Arena *arena = &part->test.arena;
    const Configured *configured = &part->test.configured;
    const size_t n = (size_t)configured->n_parameters;
    memcpy(&c, &configured->constants, sizeof c);
    part->group = (LaneGroup){.batch = *part->test.batch, .valid = 1};
    part->group.batch.work = ARENA_NEW(arena, double, articulated_adjoint_cells(&c, configured->n_parameters));
    part->w = articulated_open(&configured->constants, configured->assets, &part->group);
    ArticulatedBody *bodies = ARENA_NEW(arena, ArticulatedBody, c.n_bodies);
    memcpy(bodies, part->w.bodies, (size_t)c.n_bodies * sizeof *bodies);
    for (int i = 0; i < c.n_bodies; i++) // bars of all numbers that each body has
        if (bodies[i].own >= 0) bodies[i].varied |= ((int64_t)1 << ARTICULATED_encoder) - 1;
    part->w.bodies = bodies;
    part->parameter = ARENA_NEW(arena, double, n);
    part->parameter_dot = ARENA_NEW(arena, double, n);
    part->cell_dot = ARENA_NEW(arena, double, configured->n_work);
    part->weight = ARENA_NEW(arena, double, configured->n_work);
    for (size_t p = 0; p < n; p++)
        part->parameter[p] = part->test.batch->parameter[(int64_t)p * part->group.batch.stride];
    part->state = seed * 7919 + 13;
    part->tick = 12; // during the push
    part->power = part_random(part);
    part->force = part_random(part);
    part->slid = part_random(part);
    articulated_begin(&part->w);
}

// The solve of the step.
static void part_again(PartTest *part)
{
    const ArticulatedLanes *w = &part->w;
    step_again(w, (double)part->tick * w->c.dt, w->c.dt);
    for (int i = 0; i < w->c.n_bodies; i++) tree_lower(w, i);
}

// Joints apart, bodies in motion, commands anywhere; then the solve of a step.
static void part_shake(PartTest *part)
{
    const ArticulatedLanes *w = &part->w;
    for (int i = 0; i < w->c.n_bodies; i++) {
        const int at = articulated_at(i);
        for (int k = 0; k < 3; k++) {
            set_limb(w, at + ARTICULATED_X + k, limb(w, at + ARTICULATED_X + k) + 1e-3 * part_random(part));
            set_limb(w, at + ARTICULATED_V + k, part_random(part));
            set_limb(w, at + ARTICULATED_W + k, part_random(part));
            set_limb(w, at + ARTICULATED_L + k, 0.1 * part_random(part));
        }
        for (int k = 0; k < 4; k++)
            set_limb(w, at + ARTICULATED_Q + k, limb(w, at + ARTICULATED_Q + k) + 1e-2 * part_random(part));
        set_limb(w, at + ARTICULATED_COMMAND, part_random(part));
    }
    for (int k = 0; k < 3 * w->c.n_points && w->c.grips > 0; k++) // some hold, some slip
        set_limb(w, w->c.grips + k, (k / 3 % 2 == 0 ? 1e-4 : 1e-2) * part_random(part));
    part_again(part);
}

// Where a joint is against its range.
typedef enum PartRange {
    RANGE_NONE,
    RANGE_ABOVE,
    RANGE_ABOVE_FADING,
    RANGE_BELOW,
    RANGE_BELOW_FADING,
    RANGES
} PartRange;

static void part_limit(PartTest *part, int body, PartRange range, double effort)
{
    static const double beyond[RANGES] = {
        [RANGE_ABOVE] = 0.02, [RANGE_ABOVE_FADING] = 4e-4, [RANGE_BELOW] = -0.02, [RANGE_BELOW_FADING] = -4e-4};
    const int own = part->w.bodies[body].own;
    const double coordinate = hand_coordinate(&(ArticulatedHand){.w = part->w}, body);
    CHECK(own >= 0);
    if (beyond[range] > 0.0) set_limb(&part->w, own + ARTICULATED_high, coordinate - beyond[range]);
    if (beyond[range] < 0.0) set_limb(&part->w, own + ARTICULATED_low, coordinate - beyond[range]);
    set_limb(&part->w, own + ARTICULATED_effort, effort);
}

// ---- directions and weights -----------------------------------------------------------------------------------------

static void part_still(PartTest *part)
{
    const Configured *configured = &part->test.configured;
    memset(part->parameter_dot, 0, (size_t)configured->n_parameters * sizeof(double));
    memset(part->cell_dot, 0, (size_t)configured->n_work * sizeof(double));
    memset(part->weight, 0, (size_t)configured->n_work * sizeof(double));
    memset(part->metric_weight, 0, sizeof part->metric_weight);
    bars_clear(&part->w, configured->n_parameters);
}

static void part_vary(PartTest *part, int at, int count)
{
    for (int k = at; k < at + count; k++) part->cell_dot[k] = part_random(part);
}

// In proportion to their values, so that none hides the others.
static void part_vary_parameters(PartTest *part)
{
    const Configured *configured = &part->test.configured;
    for (int p = 0; p < configured->n_parameters; p++) {
        const double value = part->parameter[p], size = fabs(value) > 0.0 ? fabs(value) : 1.0;
        if (isinf(value) || !configured->model->adjoint->parameter(configured, p)) continue;
        part->parameter_dot[p] = size * part_random(part);
    }
}

static void part_vary_numbers(PartTest *part)
{
    for (int i = 0; i < part->w.c.n_bodies; i++) {
        const int own = part->w.bodies[i].own;
        for (int k = 0; k < part->w.bodies[i].n_own; k++) {
            const double value = limb(&part->w, own + k), size = fabs(value) > 0.0 ? fabs(value) : 0.1;
            if (!isinf(value)) part->cell_dot[own + k] = size * part_random(part);
        }
    }
}

static void part_vary_states(PartTest *part)
{
    for (int i = 0; i < part->w.c.n_bodies; i++) {
        const int at = articulated_at(i);
        part_vary(part, at + ARTICULATED_X, ARTICULATED_W + 3 - ARTICULATED_X);
        part_vary(part, at + ARTICULATED_RATE, 3);
        part_vary(part, at + ARTICULATED_COMMAND, 1);
    }
    for (int k = 0; k < 3 * part->w.c.n_points && part->w.c.grips > 0; k++)
        part->cell_dot[part->w.c.grips + k] = 1e-2 * part_random(part);
}

// Of the cells [at, at + count): weights for the dual numbers and the same bars.
static void part_weigh(PartTest *part, int at, int count)
{
    for (int k = at; k < at + count; k++) {
        part->weight[k] = part_random(part);
        set_bar(&part->w, k, part->weight[k]);
    }
}

static void part_weigh_all(PartTest *part, int cell, int count)
{
    for (int i = 0; i < part->w.c.n_bodies; i++) part_weigh(part, articulated_at(i) + cell, count);
}

// ---- the check ------------------------------------------------------------------------------------------------------

// The bars by now against dual numbers.
static void part_check(PartTest *part, Part of, int body, const char *what)
{
    const Configured *configured = &part->test.configured;
    const size_t used = part->test.arena.used;
    double sum = 0.0, size = 0.0, value;
    for (int k = 0; k < configured->n_work; k++) {
        if (part->cell_dot[k] == 0.0) continue;
        sum += part->cell_dot[k] * bar(&part->w, k);
        size += fabs(part->cell_dot[k] * bar(&part->w, k));
    }
    for (int p = 0; p < configured->n_parameters; p++) {
        const double term = part->parameter_dot[p] * limb(&part->w, parameter_bar_at(&part->w, p));
        sum += term;
        size += fabs(term);
    }
    const PartLane lane = {.configured = configured,
                           .parameter = part->parameter,
                           .parameter_dot = part->parameter_dot,
                           .cell = part->w.base,
                           .cell_dot = part->cell_dot,
                           .weight = part->weight,
                           .metric_weight = part->metric_weight,
                           .power = part->power,
                           .force = part->force,
                           .slid = part->slid,
                           .body = body,
                           .tick = part->tick};
    const double slope = part_slope(of, &lane, &part->test.arena, &value);
    const double most = (of == PART_TWO ? 1e-10 : 1e-12) * size; // there larger bars of three steps cancel
    if (!(fabs(slope - sum) <= most)) CHECK_TEXT("its dot product", what);
    CHECK_NEAR(slope, sum, most);
    CHECK(size > 0.0 || of == PART_GRIPS); // a point without pressure holds nothing
    arena_rewind(&part->test.arena, used);
}

// ---- parts ----------------------------------------------------------------------------------------------------------

static const char *part_kind(const PartTest *part, int body)
{
    static const char *const names[] = {[ROBOT_FREE] = "free",
                                        [ROBOT_HINGE] = "hinge",
                                        [ROBOT_SLIDE] = "slide",
                                        [ROBOT_BALL] = "ball",
                                        [ROBOT_WELD] = "weld"};
    return names[part->w.bodies[body].kind];
}

static void check_joint(PartTest *part, int body)
{
    const ArticulatedLanes *w = &part->w;
    const ArticulatedPose pose = body_pose(w, body);
    ArticulatedPoseBar pose_bar = pose_bar_zero();
    part_still(part);
    part_vary_states(part);
    part_vary_numbers(part);
    part_vary_parameters(part);
    if (w->bodies[body].driven != 0) pull_rate(w, body, w->c.dt, part->power);
    part_weigh_all(part, ARTICULATED_U, 6);
    pull_joint(w, body, &pose, w->c.dt, &pose_bar);
    pose_bar_add(w, body, &pose_bar);
    part_check(part, PART_JOINT, body, part_kind(part, body));
}

// Returns how many of its points touch the ground.
static int check_contact(PartTest *part, int body)
{
    const ArticulatedLanes *w = &part->w;
    const ArticulatedPose pose = body_pose(w, body);
    const ArticulatedTouchBar touch = {part->force, part->slid};
    ArticulatedPoseBar pose_bar = pose_bar_zero();
    int touching = 0;
    part_still(part);
    part_vary_states(part);
    part_vary_numbers(part);
    part_vary_parameters(part);
    part_weigh_all(part, ARTICULATED_U, 6);
    for (int k = 0; k < w->bodies[body].n_points; k++) {
        const ArticulatedPoint *point = &w->points[w->bodies[body].point + k];
        touching += contact_state(w, &pose, point, body_number(w, body, ARTICULATED_scale)).touching != 0;
    }
    pull_contacts(w, body, &pose, w->c.dt, &touch, &pose_bar);
    pose_bar_add(w, body, &pose_bar);
    if (touching > 0) part_check(part, PART_CONTACT, body, "contact");
    return touching;
}

// The springs of anchored friction afterwards.
static void check_grips(PartTest *part, int body)
{
    const ArticulatedLanes *w = &part->w;
    const ArticulatedPose pose = body_pose(w, body);
    const ArticulatedTouchBar touch = {0.0, 0.0};
    const int at = articulated_at(body) + ARTICULATED_U;
    ArticulatedPoseBar pose_bar = pose_bar_zero();
    double by_u[6];
    part_still(part);
    part_vary_states(part);
    part_vary_numbers(part);
    part_vary_parameters(part);
    part_vary(part, at, 6);
    part_weigh(part, w->c.grips, 3 * w->c.n_points);
    for (int k = 0; k < 3 * w->c.n_points; k++) { // of this body's points alone
        const int point = k / 3 - w->bodies[body].point;
        if (point >= 0 && point < w->bodies[body].n_points) continue;
        part->weight[w->c.grips + k] = 0.0;
        set_bar(w, w->c.grips + k, 0.0);
    }
    pull_grips_moved(w, body, w->c.dt);
    for (int k = 0; k < 6; k++) {
        by_u[k] = bar(w, at + k);
        set_bar(w, at + k, 0.0);
    }
    pull_contacts(w, body, &pose, w->c.dt, &touch, &pose_bar);
    pose_bar_add(w, body, &pose_bar);
    for (int k = 0; k < 6; k++) set_bar(w, at + k, by_u[k]);
    part_check(part, PART_GRIPS, body, "grips");
}

static void check_inertia(PartTest *part, int body)
{
    const ArticulatedLanes *w = &part->w;
    const ArticulatedPose pose = body_pose(w, body);
    ArticulatedPoseBar pose_bar = pose_bar_zero();
    part_still(part);
    part_vary_states(part);
    part_vary_numbers(part);
    part_vary_parameters(part);
    part_weigh_all(part, ARTICULATED_U, 6);
    pull_mass(w, body, &pose, w->c.dt, (double)part->tick * w->c.dt, &pose_bar);
    pose_bar_add(w, body, &pose_bar);
    part_check(part, PART_INERTIA, body, "inertia");
}

// b changes by L, gravity and the push.
static void check_solve(PartTest *part)
{
    const ArticulatedLanes *w = &part->w;
    const double t = (double)part->tick * w->c.dt;
    part_still(part);
    part_weigh_all(part, ARTICULATED_U, 6);
    for (int i = 0; i < w->c.n_bodies; i++) part_vary(part, articulated_at(i) + ARTICULATED_L, 3);
    for (int p = ARTICULATED_PARAMETER_push_x; p <= ARTICULATED_PARAMETER_push_z; p++)
        part->parameter_dot[p] = 10.0 * part_random(part);
    part->parameter_dot[ARTICULATED_PARAMETER_gravity] = part_random(part);
    for (int i = w->c.n_bodies - 1; i >= 0; i--) pull_solve_up(w, i);
    for (int i = 0; i < w->c.n_bodies; i++) pull_solve_down(w, i);
    for (int i = 0; i < w->c.n_bodies; i++) {
        const ArticulatedPose pose = body_pose(w, i);
        ArticulatedPoseBar unused = pose_bar_zero();
        pull_mass(w, i, &pose, w->c.dt, t, &unused);
    }
    part_check(part, PART_SOLVE, 0, "solve");
}

static void check_rates(PartTest *part)
{
    const ArticulatedLanes *w = &part->w;
    part_still(part);
    for (int i = 0; i < w->c.n_bodies; i++) part_vary(part, articulated_at(i) + ARTICULATED_U, 6);
    for (int i = 0; i < w->c.n_bodies; i++) {
        if (w->bodies[i].driven != 0) pull_rate(w, i, w->c.dt, part->power);
    }
    part_check(part, PART_RATES, 0, "rates");
}

// The squares of the bars of a body's new state, without those along its quaternion.
static double part_squares(const ArticulatedLanes *w, int body)
{
    const int at = articulated_at(body);
    const Quaternion q = turned_cayley(limb4(w, at + ARTICULATED_Q), limb3(w, at + ARTICULATED_U + 3), w->c.dt);
    const Quaternion q_bar = bar4(w, at + ARTICULATED_Q);
    const double along = q.x * q_bar.x + q.y * q_bar.y + q.z * q_bar.z + q.w * q_bar.w;
    double sum = -along * along;
    for (int k = 0; k < ARTICULATED_COORDINATE; k++) sum += bar(w, at + k) * bar(w, at + k);
    return sum;
}

// What pull_mass adds to the move: L' = I_w w' at the old pose.
static void check_move(PartTest *part)
{
    const ArticulatedLanes *w = &part->w;
    double *by_u = ARENA_NEW(&part->test.arena, double, 6 * w->c.n_bodies);
    part_still(part);
    part_vary_states(part);
    part_vary_numbers(part);
    for (int i = 0; i < w->c.n_bodies; i++) part_vary(part, articulated_at(i) + ARTICULATED_U, 6);
    part_weigh_all(part, ARTICULATED_X, ARTICULATED_W + 3 - ARTICULATED_X);
    for (int i = 0; i < w->c.n_bodies; i++) {
        const int at = articulated_at(i) + ARTICULATED_U;
        const ArticulatedPose pose = body_pose(w, i);
        ArticulatedPoseBar pose_bar = pose_bar_zero();
        const double squares = part_squares(w, i);
        CHECK_NEAR(squares, pull_move(w, i, w->c.dt), 1e-12 * squares);
        for (int k = 0; k < 6; k++) {
            by_u[6 * i + k] = bar(w, at + k);
            set_bar(w, at + k, 0.0);
        }
        pull_mass(w, i, &pose, w->c.dt, 0.0, &pose_bar);
        pose_bar_add(w, i, &pose_bar);
        for (int k = 0; k < 6; k++) set_bar(w, at + k, by_u[6 * i + k]);
    }
    part_check(part, PART_MOVE, 0, "move");
}

// A step, or one of order two.
static void check_step(PartTest *part, bool second)
{
    const ArticulatedLanes *w = &part->w;
    const ArticulatedSeenBar seen = {{part->force, part->slid}, part->power};
    part_still(part);
    part_vary_states(part);
    part_vary_numbers(part);
    part_vary_parameters(part);
    part_weigh_all(part, ARTICULATED_X, ARTICULATED_W + 3 - ARTICULATED_X);
    for (int i = 0; i < w->c.n_bodies; i++) {
        if (w->bodies[i].kind == ROBOT_SLIDE) part_weigh(part, articulated_at(i) + ARTICULATED_RATE, 1);
        if (w->bodies[i].kind == ROBOT_BALL) part_weigh(part, articulated_at(i) + ARTICULATED_RATE, 3);
    }
    if (w->c.grips > 0) part_weigh(part, w->c.grips, 3 * w->c.n_points);
    if (second) {
        pull_two(w, (double)part->tick * w->c.dt, &seen);
        part_check(part, PART_TWO, 0, "step of order two");
        return;
    }
    step_again(w, (double)part->tick * w->c.dt, w->c.dt); // pull_step itself goes down from the roots
    pull_step(w, (double)part->tick * w->c.dt, w->c.dt, &seen, false);
    part_check(part, PART_STEP, 0, "step");
}

static void check_begin(PartTest *part)
{
    const ArticulatedLanes *w = &part->w;
    articulated_begin(w);
    part_still(part);
    part_vary_parameters(part);
    part_weigh_all(part, ARTICULATED_X, ARTICULATED_L - ARTICULATED_X);
    if (w->c.rates != 0) part_weigh_all(part, ARTICULATED_L, ARTICULATED_COORDINATE - ARTICULATED_L);
    for (int i = 0; i < w->c.n_bodies; i++) {
        if (w->c.rates != 0 && w->bodies[i].kind != ROBOT_FREE && w->bodies[i].kind != ROBOT_WELD)
            part_weigh(part, articulated_at(i) + ARTICULATED_RATE, w->bodies[i].kind == ROBOT_BALL ? 3 : 1);
        for (int k = 0; k < w->bodies[i].n_own; k++) {
            const int at = w->bodies[i].own + k;
            if (!isinf(limb(w, at))) part_weigh(part, at, 1);
        }
    }
    part_weigh(part, articulated_sum(w, ARTICULATED_SUM_X), 2);
    part_weigh(part, articulated_sum(w, ARTICULATED_SUM_MASS), 1);
    pull_begin(w);
    // its bars of numbers are those of the numbers before, not of cells that vary
    part_check(part, PART_BEGIN, 0, "begin");
}

static void check_commands(PartTest *part)
{
    const ArticulatedLanes *w = &part->w;
    for (int i = 0; i < w->c.n_bodies; i++) { // one of three at its limit
        const double command = control_command(w, i, part->tick, (double)part->tick * w->c.dt);
        if (w->bodies[i].driven != 0 && i % 3 == 1)
            set_limb(w, w->bodies[i].own + ARTICULATED_command_high, command - 0.1);
        if (w->bodies[i].driven != 0 && i % 3 == 2)
            set_limb(w, w->bodies[i].own + ARTICULATED_command_low, command + 0.1);
    }
    part_still(part);
    part_vary_numbers(part);
    part_vary_parameters(part);
    for (int i = 0; i < w->c.n_bodies; i++) {
        if (w->bodies[i].driven != 0) part_weigh(part, articulated_at(i) + ARTICULATED_COMMAND, 1);
    }
    set_bar(w, articulated_sum(w, ARTICULATED_METRIC_action_rate), part->power);
    commands_start(w, part->tick);
    pull_commands(w, part->tick);
    part_check(part, PART_COMMANDS, 0, "commands");
}

static void check_sums(PartTest *part)
{
    const ArticulatedLanes *w = &part->w;
    part_still(part);
    part_vary(part, ARTICULATED_X, 7);
    part_weigh(part, articulated_sum(w, ARTICULATED_METRIC_height_mean), 1);
    part_weigh(part, articulated_sum(w, ARTICULATED_METRIC_tilt_rms), 1);
    pull_sums(w, limb4(w, ARTICULATED_Q));
    part_check(part, PART_SUMS, 0, "sums");
}

static void check_metrics(PartTest *part)
{
    const ArticulatedLanes *w = &part->w;
    const Adjoint *adjoint = part->test.configured.model->adjoint;
    part_still(part);
    for (int k = 0; k < ARTICULATED_SUMS; k++)
        set_limb(w, articulated_sum(w, k), random_between(&part->state, 0.1, 2.0));
    for (int m = 0; m < ARTICULATED_N_METRICS; m++)
        part->metric_weight[m] = adjoint->bends(&part->test.configured, m) == NULL ? part_random(part) : 0.0;
    part_vary(part, ARTICULATED_X, 3);
    part_vary(part, w->c.sums_at, ARTICULATED_SUMS);
    part->parameter_dot[ARTICULATED_PARAMETER_gravity] = part_random(part);
    pull_metrics(w, (double)part->tick, part->metric_weight, all_lanes());
    part_check(part, PART_METRICS, 0, "metrics");
}

// ---- tests ----------------------------------------------------------------------------------------------------------

// One of three holds, one swings, one follows a table; one of two begins with rates.
static ArticulatedSetup part_setup(const Robot *robot, uint64_t seed, Arena *arena)
{
    ArticulatedSetup setup = random_setup(robot);
    setup_control(&setup, (int)(seed % 3), arena);
    setup_add(&setup, "b3_mass", 0.7); // all bodies have numbers of their own
    setup_add(&setup, "b4_mass", 0.3);
    setup_add(&setup, "b5_mass", 1.3);
    if (seed % 2 == 1) setup_rates(&setup);
    if (seed % 2 == 0) setup_actuators(&setup, seed % 4 == 0);
    return setup;
}

// A robot whose body 4 is welded.
static Robot part_robot(uint64_t seed, Arena *arena)
{
    Robot robot = random_driven_robot(seed, arena);
    RobotBody *bodies = ARENA_NEW(arena, RobotBody, robot.n_bodies);
    memcpy(bodies, robot.bodies, (size_t)robot.n_bodies * sizeof *bodies);
    robot.n_coordinates -= robot_joint_coordinates(bodies[4].joint.kind);
    bodies[4].joint.kind = ROBOT_WELD;
    bodies[4].joint.motor.driven = false;
    robot.bodies = bodies;
    return robot;
}

static void part_start_order(PartTest *part, Arena *arena, uint64_t seed, int terrain, bool anchored, bool second)
{
    if (arena_create(arena, (size_t)1 << 24, "a robot").kind != OK) abort();
    Robot *robot = ARENA_NEW(arena, Robot, 1);
    *robot = part_robot(seed, arena);
    if (terrain == TERRAIN_file) random_robot_world(robot, seed, arena);
    ArticulatedSetup setup = part_setup(robot, seed, arena);
    setup_ground(&setup, (TerrainKind)terrain, anchored);
    setup_order(&setup, second);
    part_open(part, &setup, seed);
}
static void part_start(PartTest *part, Arena *arena, uint64_t seed, int terrain, bool anchored)
{
    part_start_order(part, arena, seed, terrain, anchored, false);
}

static void part_end(PartTest *part, Arena *arena)
{
    articulated_end(&part->test);
    arena_destroy(arena);
}

static uint64_t part_seeds(void) { return test_quick() ? 5 : 20; }

TEST(articulated_parts_of_joints)
{
    int kinds[8] = {0};
    for (uint64_t seed = 1; seed <= part_seeds(); seed++) {
        Arena arena;
        PartTest part;
        part_start(&part, &arena, seed, TERRAIN_flat, false);
        for (int i = 1; i < part.w.c.n_bodies; i++) {
            for (PartRange range = RANGE_NONE; range < RANGES; range++) {
                const bool ranged = part.w.bodies[i].kind != ROBOT_WELD && part.w.bodies[i].kind != ROBOT_BALL;
                if (range != RANGE_NONE && !ranged) continue;
                for (int bound = 0; bound < 2; bound++) {
                    articulated_begin(&part.w);
                    part_shake(&part);
                    if (ranged) part_limit(&part, i, range, bound == 1 ? 1e-3 : INFINITY);
                    part_again(&part);
                    check_joint(&part, i);
                }
            }
            kinds[part.w.bodies[i].kind]++;
        }
        part_end(&part, &arena);
    }
    CHECK(kinds[ROBOT_HINGE] > 0 && kinds[ROBOT_SLIDE] > 0 && kinds[ROBOT_BALL] > 0 && kinds[ROBOT_WELD] > 0);
}

// A ball beyond its range: its limit acts on the angle.
TEST(articulated_parts_of_balls_at_limits)
{
    for (uint64_t seed = 1; seed <= part_seeds(); seed++) {
        for (int fading = 0; fading < 2; fading++) {
            Arena arena;
            PartTest part;
            part_start(&part, &arena, seed, TERRAIN_flat, false);
            part_shake(&part);
            const ArticulatedPose c = body_pose(&part.w, 3), p = body_pose(&part.w, part.w.bodies[3].parent);
            const double angle = joint_state(&part.w, 3, &c, &p).coordinate;
            set_limb(&part.w, part.w.bodies[3].own + ARTICULATED_high, angle - (fading ? 3e-4 : 5e-3));
            part_again(&part);
            check_joint(&part, 3);
            part_end(&part, &arena);
        }
    }
}

TEST(articulated_parts_of_contacts)
{
    for (int terrain = TERRAIN_flat; terrain <= TERRAIN_file; terrain++) {
        int touching = 0;
        for (uint64_t seed = 1; seed <= 2 * part_seeds(); seed++) {
            Arena arena;
            PartTest part;
            part_start(&part, &arena, seed, terrain, seed % 2 == 0);
            part_shake(&part);
            for (int i = 0; i < part.w.c.n_bodies; i++) {
                const int touches = check_contact(&part, i);
                if (touches > 0 && part.w.c.grips > 0) check_grips(&part, i);
                touching += touches;
            }
            part_end(&part, &arena);
        }
        CHECK(touching > (int)part_seeds());
    }
}

TEST(articulated_parts_of_steps)
{
    for (uint64_t seed = 1; seed <= part_seeds(); seed++) {
        Arena arena;
        PartTest part;
        part_start(&part, &arena, seed, (int)seed % (TERRAIN_file + 1), seed % 3 == 0);
        part_shake(&part);
        for (int i = 0; i < part.w.c.n_bodies; i++) check_inertia(&part, i);
        check_solve(&part);
        check_rates(&part);
        check_move(&part);
        check_step(&part, false);
        check_sums(&part);
        check_commands(&part);
        check_metrics(&part);
        check_begin(&part);
        part_end(&part, &arena);
    }
}

// Also where points leave the ground in the first half, whose springs are let go.
TEST(articulated_parts_of_steps_of_order_two)
{
    for (uint64_t seed = 1; seed <= 12 * part_seeds(); seed++) {
        Arena arena;
        PartTest part;
        part_start_order(&part, &arena, seed, (int)seed % (TERRAIN_file + 1), seed % 3 != 0, true);
        part_shake(&part);
        check_step(&part, true);
        part_end(&part, &arena);
    }
}

// ---- functions of vector.h ------------------------------------------------------------------------------------------

// x_bar <- what pullbacks give for y_weight.
static void spatial_pull(Spatial function, const double *x, const double *y_weight, double *x_bar)
{
    const Rotation r = {vector3_of(x), vector3_of(x + 3), vector3_of(x + 6)};
    const Quaternion q = quaternion_of(x);
    const Vector3 y3 = vector3_of(y_weight);
    const Quaternion y4 = quaternion_of(y_weight);
    const Symmetric3 inertia = {x[9], x[10], x[11], x[12], x[13], x[14]};
    Rotation r_bar = rotation_zero();
    Symmetric3 inertia_bar = {0, 0, 0, 0, 0, 0};
    memset(x_bar, 0, SPATIAL_MOST * sizeof *x_bar);
    switch (function) {
    case SPATIAL_TURNED: {
        const Vector3 v_bar = rotation_in(&r, y3);
        pull_turned(&r_bar, vector3_of(x + 9), y3);
        memcpy(x_bar, &r_bar, sizeof r_bar);
        memcpy(x_bar + 9, &v_bar, sizeof v_bar);
        break;
    }
    case SPATIAL_TIMES: {
        const Quaternion bars[2] = {pull_first(y4, quaternion_of(x + 4)), pull_second(q, y4)};
        memcpy(x_bar, bars, sizeof bars);
        break;
    }
    case SPATIAL_NORMAL: {
        const Quaternion bar = pull_normal(quaternion_normal(q), quaternion_length(q), y4);
        memcpy(x_bar, &bar, sizeof bar);
        break;
    }
    case SPATIAL_ROTATION: {
        const Rotation y = {vector3_of(y_weight), vector3_of(y_weight + 3), vector3_of(y_weight + 6)};
        const Quaternion bar = pull_rotation(q, &y);
        memcpy(x_bar, &bar, sizeof bar);
        break;
    }
    case SPATIAL_LOGARITHM: {
        const Quaternion bar = pull_logarithm(q, y3);
        memcpy(x_bar, &bar, sizeof bar);
        break;
    }
    case SPATIAL_ABOUT: {
        Vector3 axis_bar = vector3_zero();
        x_bar[3] = pull_about(vector3_of(x), x[3], y4, &axis_bar);
        memcpy(x_bar, &axis_bar, sizeof axis_bar);
        break;
    }
    case SPATIAL_QUADRATIC:
        pull_quadratic(&r, inertia, y3, vector3_of(y_weight + 3), &r_bar, &inertia_bar);
        memcpy(x_bar, &r_bar, sizeof r_bar);
        memcpy(x_bar + 9, &inertia_bar, sizeof inertia_bar);
        break;
    case SPATIALS: break;
    }
}

// size: of x, y, z of x; the logarithm has a series near 0.
static void spatial_check(Spatial function, uint64_t *state, double size)
{
    double x[SPATIAL_MOST], x_dot[SPATIAL_MOST], y_weight[SPATIAL_MOST], x_bar[SPATIAL_MOST], sum = 0.0, all = 0.0;
    for (int k = 0; k < SPATIAL_MOST; k++) {
        x[k] = (k < 3 ? size : 1.0) * random_between(state, -1.0, 1.0);
        x_dot[k] = random_between(state, -1.0, 1.0);
        y_weight[k] = random_between(state, -1.0, 1.0);
    }
    if (function == SPATIAL_LOGARITHM) { // of a turn by a small angle, and of -q
        const double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        x[3] = copysign(sqrt(fmax(1.0 - length * length, 1e-2)), x[3]);
    }
    spatial_pull(function, x, y_weight, x_bar);
    for (int k = 0; k < SPATIAL_MOST; k++) {
        sum += x_bar[k] * x_dot[k];
        all += fabs(x_bar[k] * x_dot[k]);
    }
    const double slope = spatial_slope(function, x, x_dot, y_weight);
    CHECK_NEAR(slope, sum, 1e-12 * all);
}

TEST(articulated_parts_of_rotations)
{
    static const double sizes[] = {1.0, 0.1, 1e-2, 1e-4, 1e-6, 1e-12};
    uint64_t state = 5;
    for (Spatial function = SPATIAL_TURNED; function < SPATIALS; function++) {
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            for (int i = 0; i < 50; i++) spatial_check(function, &state, sizes[k]);
        }
    }
}
