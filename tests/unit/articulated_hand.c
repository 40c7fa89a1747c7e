// See articulated_hand.h.
#include "articulated_hand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void hand_start(ArticulatedHand *hand, const ArticulatedSetup *setup)
{
    articulated_start(&hand->test, setup);
    const Configured *configured = &hand->test.configured;
    hand->group = (LaneGroup){.batch = *hand->test.batch, .valid = 1};
    hand->group.batch.work = ARENA_NEW(&hand->test.arena, double, (size_t)configured->n_work *LANES);
    hand->w = articulated_open(&configured->constants, configured->assets, &hand->group);
    hand->t = 0.0;
    articulated_begin(&hand->w);
}

// The velocity of a body on a joint, by its parent's.
static void move_on_joint(const ArticulatedLanes *w, int body, const double *rate, Vector3 *v, Vector3 *turn)
{
    const ArticulatedPose c = body_pose(w, body), p = body_pose(w, w->bodies[body].parent);
    const ArticulatedJointState s = joint_state(w, body, &c, &p);
    const int kind = w->bodies[body].kind;
    Vector3 anchor = added(p.v, cross3(p.w, s.r_p));
    *turn = p.w;
    if (kind == ROBOT_HINGE) *turn = along(p.w, splat(rate[0]), s.axis);
    if (kind == ROBOT_BALL) *turn = added(p.w, vector3_of(rate));
    if (kind == ROBOT_SLIDE) anchor = along(anchor, splat(rate[0]), s.axis);
    *v = less(anchor, cross3(*turn, s.r_c));
}

void hand_move(ArticulatedHand *hand, const double *v, const double (*rate)[3])
{
    const ArticulatedLanes *w = &hand->w;
    for (int i = 0; i < w->c.n_bodies; i++) {
        const int at = articulated_at(i);
        const ArticulatedPose pose = body_pose(w, i);
        Vector3 turn = vector3_of(rate[i]), velocity;
        if (w->bodies[i].kind == ROBOT_FREE) {
            const Vector3 centre = rotation_out(&pose.r, body_vector(w, i, ARTICULATED_anchor_x));
            velocity = less(vector3_of(v), cross3(turn, centre));
        } else {
            move_on_joint(w, i, rate[i], &velocity, &turn);
        }
        const Vector3 L = symmetric3_times(body_inertia(w, i), rotation_in(&pose.r, turn));
        set_limb3(w, at + ARTICULATED_V, velocity);
        set_limb3(w, at + ARTICULATED_W, turn);
        set_limb3(w, at + ARTICULATED_L, rotation_out(&pose.r, L));
        if (w->bodies[i].kind == ROBOT_SLIDE) set_limb(w, at + ARTICULATED_RATE, splat(rate[i][0]));
        if (w->bodies[i].kind == ROBOT_BALL)
            set_limb3(w, at + ARTICULATED_RATE, rotation_in(&pose.r, vector3_of(rate[i])));
    }
}

void hand_step(ArticulatedHand *hand)
{
    articulated_tick(&hand->w, splat(hand->t));
    hand->t += hand->w.c.dt;
}

void hand_end(ArticulatedHand *hand) { articulated_end(&hand->test); }

double hand_cell(const ArticulatedHand *hand, int body, int cell)
{
    return lane_of(limb(&hand->w, articulated_at(body) + cell), 0);
}

double hand_coordinate(const ArticulatedHand *hand, int body)
{
    const ArticulatedPose c = body_pose(&hand->w, body), p = body_pose(&hand->w, hand->w.bodies[body].parent);
    return lane_of(joint_state(&hand->w, body, &c, &p).coordinate, 0);
}

HandMomentum hand_momentum(const ArticulatedHand *hand)
{
    HandMomentum sum = {.p = {0.0}};
    for (int i = 0; i < hand->w.c.n_bodies; i++) {
        const double m = lane_of(body_number(&hand->w, i, ARTICULATED_mass), 0);
        double x[3], p[3], L[3];
        for (int k = 0; k < 3; k++) {
            x[k] = hand_cell(hand, i, ARTICULATED_X + k);
            p[k] = m * hand_cell(hand, i, ARTICULATED_V + k);
            L[k] = hand_cell(hand, i, ARTICULATED_L + k);
        }
        for (int k = 0; k < 3; k++) {
            const int a = (k + 1) % 3, b = (k + 2) % 3;
            sum.p[k] += p[k];
            sum.l[k] += x[a] * p[b] - x[b] * p[a] + L[k];
        }
        const double size = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        sum.size[0] += size;
        sum.size[1] += size * sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        sum.size[1] += sqrt(L[0] * L[0] + L[1] * L[1] + L[2] * L[2]);
    }
    return sum;
}

// ---- random robots --------------------------------------------------------------------------------------------------

// splitmix64 (G. L. Steele, D. Lea & C. H. Flood, OOPSLA 2014)
static uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double random_between(uint64_t *state, double low, double high)
{
    return low + (high - low) * ((double)(random_next(state) >> 11) * 0x1p-53);
}

static void random_unit(uint64_t *state, double *v, int n)
{
    double squares;
    do {
        squares = 0.0;
        for (int k = 0; k < n; k++) {
            v[k] = random_between(state, -1.0, 1.0);
            squares += v[k] * v[k];
        }
    } while (squares > 1.0 || squares < 0.01);
    for (int k = 0; k < n; k++) v[k] /= sqrt(squares);
}

void random_turn(uint64_t *state, double *q) { random_unit(state, q, 4); }

void random_rates(uint64_t *state, int n, double (*rate)[3])
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) rate[i][k] = random_between(state, -2.0, 2.0);
    }
}

// R diag(b + c, a + c, a + b) R' with random a, b, c > 0 and axes: an inertia that a body can have.
static void random_inertia(uint64_t *state, double *inertia)
{
    double q[4], part[3];
    const double size = pow(10.0, random_between(state, -6.0, 0.0));
    random_turn(state, q);
    for (int k = 0; k < 3; k++) part[k] = size * random_between(state, 0.1, 1.0);
    const Symmetric3 own = {splat(part[1] + part[2]),
                            splat(part[0] + part[2]),
                            splat(part[0] + part[1]),
                            splat(0.0),
                            splat(0.0),
                            splat(0.0)};
    const Rotation r = rotation_of((Quaternion){splat(q[0]), splat(q[1]), splat(q[2]), splat(q[3])});
    const Symmetric3 I = symmetric3_turned(&r, own);
    const real all[6] = {I.xx, I.yy, I.zz, I.xy, I.xz, I.yz};
    for (int k = 0; k < 6; k++) inertia[k] = lane_of(all[k], 0);
}

static void random_body(uint64_t *state, int i, Arena *arena, RobotBody *body)
{
    static const RobotJointKind kinds[] = {ROBOT_HINGE, ROBOT_HINGE, ROBOT_SLIDE, ROBOT_BALL, ROBOT_WELD};
    *body = (RobotBody){.name = arena_format(arena, "b%d", i), .parent = i - 1};
    if (i > 0) body->parent = (int)(random_between(state, 0.0, 1.0) * i);
    for (int k = 0; k < 3; k++) body->p[k] = random_between(state, -0.3, 0.3);
    random_turn(state, body->q);
    body->mass = pow(10.0, random_between(state, -2.0, 1.0));
    for (int k = 0; k < 3; k++) body->centre[k] = random_between(state, -0.2, 0.2);
    random_inertia(state, body->inertia);
    RobotJoint *joint = &body->joint;
    *joint = (RobotJoint){.name = arena_format(arena, "j%d", i), .kind = ROBOT_FREE};
    if (i == 0) return;
    joint->kind = kinds[(int)random_between(state, 0.0, 5.0)];
    for (int k = 0; k < 3; k++) joint->anchor[k] = random_between(state, -0.1, 0.1);
    random_unit(state, joint->axis, 3);
    joint->reference = random_between(state, -1.0, 1.0);
    joint->damping = random_between(state, 0.0, 0.1);
    joint->friction = random_between(state, 0.0, 0.1);
    joint->armature = random_between(state, 0.0, 0.1);
    joint->motor = (RobotMotor){.driven = random_between(state, 0.0, 1.0) < 0.5,
                                .kp = 50.0,
                                .kd = 2.0,
                                .low = -INFINITY,
                                .high = INFINITY,
                                .effort = random_between(state, 1.0, 50.0)};
}

Robot random_robot(uint64_t *state, int n, Arena *arena)
{
    RobotBody *bodies = ARENA_NEW(arena, RobotBody, n);
    Robot robot = {.name = "random", .bodies = bodies, .n_bodies = n};
    for (int i = 0; i < n; i++) {
        random_body(state, i, arena, &bodies[i]);
        robot.n_coordinates += robot_joint_coordinates(bodies[i].joint.kind);
    }
    return robot;
}

void random_robot_feet(Robot *robot, Arena *arena)
{
    RobotShape *shapes = ARENA_NEW(arena, RobotShape, robot->n_bodies);
    for (int i = 0; i < robot->n_bodies; i++)
        shapes[i] = (RobotShape){.name = "",
                                 .kind = ROBOT_SPHERE,
                                 .body = i,
                                 .q = {0, 0, 0, 1},
                                 .size = {0.05, 0, 0},
                                 .collides = true,
                                 .friction = 1};
    robot->shapes = shapes;
    robot->n_shapes = robot->n_bodies;
}

static RobotShape random_shape(uint64_t *state, RobotShapeKind kind, int body, double size)
{
    RobotShape shape = {.name = "", .kind = kind, .body = body, .collides = body >= 0, .friction = 1};
    random_turn(state, shape.q);
    for (int k = 0; k < 3; k++) {
        shape.size[k] = size * random_between(state, 0.6, 1.2);
        shape.p[k] = random_between(state, -0.02, 0.02);
    }
    return shape;
}

// Of small triangles, turned about z.
static RobotShape random_field(uint64_t *state, Robot *robot, Arena *arena)
{
    RobotShape field = {.name = "", .kind = ROBOT_HFIELD, .body = -1, .rows = 5, .columns = 4, .size = {0.5, 0.6}};
    double *heights = ARENA_NEW(arena, double, 20);
    for (int i = 0; i < 20; i++) heights[i] = random_between(state, 0.0, 0.1);
    for (int k = 0; k < 3; k++) field.p[k] = random_between(state, -0.1, 0.0);
    const double half = random_between(state, 0.0, 3.0);
    memcpy(field.q, (double[]){0, 0, sin(half), cos(half)}, sizeof field.q);
    robot->heights = heights;
    robot->n_heights = 20;
    return field;
}

void random_robot_world(Robot *robot, uint64_t seed, Arena *arena)
{
    static const RobotShapeKind kinds[] = {ROBOT_CYLINDER, ROBOT_ELLIPSOID, ROBOT_BOX, ROBOT_CAPSULE, ROBOT_SPHERE};
    static const RobotShapeKind grounds[] = {ROBOT_PLANE,   ROBOT_PLANE,    ROBOT_SPHERE,
                                             ROBOT_CAPSULE, ROBOT_CYLINDER, ROBOT_BOX};
    enum { GROUNDS = sizeof grounds / sizeof *grounds };
    uint64_t state = seed + 1000, of_field = seed + 2000;
    const int n = robot->n_bodies;
    RobotShape *shapes = ARENA_NEW(arena, RobotShape, n + GROUNDS + 1);
    RobotContact *contacts = ARENA_NEW(arena, RobotContact, n * (GROUNDS + 1));
    robot->n_contacts = 0;
    for (int i = 0; i < n; i++) shapes[i] = random_shape(&state, kinds[(seed + (uint64_t)i) % 5], i, 0.06);
    for (int g = 0; g < GROUNDS; g++) {
        RobotShape *shape = &shapes[n + g];
        *shape = random_shape(&state, grounds[g], -1, 0.2);
        for (int k = 0; k < 3; k++) shape->p[k] = random_between(&state, -0.3, 0.3);
        if (shape->kind != ROBOT_PLANE) continue;
        const double half = 0.5 * random_between(&state, g == 0 ? 0.0 : 0.6, g == 0 ? 0.2 : 0.9);
        memcpy(shape->q, (double[]){sin(half), 0, 0, cos(half)}, sizeof shape->q);
        shape->p[2] = g == 0 ? 0.0 : -0.3;
    }
    shapes[n + GROUNDS] = random_field(&of_field, robot, arena);
    for (int i = 0; i < n; i++) {
        for (int g = 0; g < GROUNDS; g++)
            contacts[robot->n_contacts++] =
                (RobotContact){i, n + g, (i + g) % 4 == 0 ? 0.0 : random_between(&state, 0.2, 1.5), 1e-3 * g};
        contacts[robot->n_contacts++] = (RobotContact){i, n + GROUNDS, random_between(&of_field, 0.2, 1.5), 1e-3};
    }
    robot->shapes = shapes;
    robot->n_shapes = n + GROUNDS + 1;
    robot->contacts = contacts;
}

Robot random_driven_robot(uint64_t seed, Arena *arena)
{
    static const RobotJointKind kinds[] = {ROBOT_FREE, ROBOT_HINGE, ROBOT_SLIDE, ROBOT_BALL};
    uint64_t state = seed;
    Robot robot = random_robot(&state, 6, arena);
    RobotBody *bodies = ARENA_NEW(arena, RobotBody, robot.n_bodies);
    memcpy(bodies, robot.bodies, (size_t)robot.n_bodies * sizeof *bodies);
    robot.bodies = bodies;
    robot.n_coordinates = 0;
    for (int i = 0; i < robot.n_bodies; i++) {
        RobotJoint *joint = &bodies[i].joint;
        if (i < 4) joint->kind = kinds[i];
        joint->motor.driven = joint->kind == ROBOT_HINGE || joint->kind == ROBOT_SLIDE;
        robot.n_coordinates += robot_joint_coordinates(joint->kind);
    }
    random_robot_feet(&robot, arena);
    return robot;
}

ArticulatedSetup random_setup(const Robot *robot)
{
    return (ArticulatedSetup){
        .robot = robot,
        .settings = {{"dt", RANDOM_DT}, {"duration", RANDOM_DT * RANDOM_STEPS}, {"control.mode", 1}, {"order", 0}},
        .parameters = {{"base_z", 0.1},       {"base_vx", 0.3},    {"base_vy", -0.1},      {"push_time", 0.02},
                       {"push_x", 10.0},      {"push_y", 3.0},     {"all_amplitude", 0.3}, {"all_offset", 0.1},
                       {"all_phase", 0.4},    {"all_kp", 20.0},    {"all_kd", 0.5},        {"all_armature", 0.01},
                       {"all_damping", 0.02}, {"all_spring", 0.2}, {"all_stiffness", 0.5}, {"all_friction", 0.05},
                       {"all_start", 0.1},    {"all_bias", 0.3},   {"b0_mass", 2.0},       {"b1_mass", 1.0},
                       {"b1_ixx", 0.02},      {"b1_iyy", 0.03},    {"b1_izz", 0.025},      {"b1_ixy", 0.002},
                       {"b1_ixz", -0.001},    {"b1_iyz", 0.003},   {"b2_mass", 0.5},       {"gravity", 9.0}}};
}

void setup_add(ArticulatedSetup *setup, const char *name, double value)
{
    int i = 0;
    while (setup->parameters[i].name != NULL) i++;
    setup->parameters[i] = (ArticulatedValue){name, value};
}

void setup_order(ArticulatedSetup *setup, bool second) { setup->settings[3].value = second ? 1.0 : 0.0; }

void setup_rates(ArticulatedSetup *setup)
{
    static const ArticulatedValue rates[] = {{"base_wx", 0.5},  {"base_wy", -0.8}, {"base_wz", 1.1}, {"j1_rate", 1.3},
                                             {"j2_rate", -0.4}, {"j3_wx", 0.7},    {"j3_wy", 1.9},   {"j3_wz", -1.2}};
    for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) setup_add(setup, rates[k].name, rates[k].value);
}

void setup_actuators(ArticulatedSetup *setup, bool voltage)
{
    static const ArticulatedValue values[] = {{"all_encoder", 0.07},   {"all_delay", 0.0137}, {"all_stiction", 0.08},
                                              {"all_stribeck", 0.6},   {"all_load", 0.11},    {"all_stickload", 0.23},
                                              {"all_drag", 0.013},     {"j1_encoder", -0.04}, {"j2_delay", 0.0061},
                                              {"all_resistance", 1.7}, {"all_kt", 0.11},      {"all_gear", 11.0},
                                              {"all_emf", 0.09},       {"all_voltage", 1.5}};
    for (size_t k = 0; k < (voltage ? 14 : 9); k++) setup_add(setup, values[k].name, values[k].value);
}

void setup_control(ArticulatedSetup *setup, int mode, Arena *arena)
{
    enum { ROWS = 5 };
    int n_joints = 0;
    setup->settings[2] = (ArticulatedValue){"control.mode", mode};
    if (mode != ARTICULATED_CONTROL_actions) return;
    for (int i = 0; i < setup->robot->n_bodies; i++)
        n_joints += robot_joint_coordinates(setup->robot->bodies[i].joint.kind) == 1;
    double *actions = ARENA_NEW(arena, double, ROWS *n_joints);
    for (int k = 0; k < ROWS * n_joints; k++) actions[k] = 0.3 * sin(1.9 * k);
    Points *table = ARENA_NEW(arena, Points, 1);
    *table = (Points){.count = ROWS * n_joints, .numbers = actions};
    setup->actions = table;
}

void setup_ground(ArticulatedSetup *setup, TerrainKind terrain, bool anchored)
{
    static const double points[] = {-3.0, 0.05, -0.2, -0.03, 0.1, 0.02, 0.4, -0.01, 3.0, 0.1};
    static const Points table = {.count = 5, .xy = points};
    static double z[20 * 21];
    static Points heights = {.count = 20 * 21, .columns = 21, .numbers = z};
    for (int k = 0; k < 20 * 21; k++) z[k] = 0.03 * sin(1.7 * k);
    setup->settings[4] = (ArticulatedValue){"terrain", terrain};
    setup->settings[5] = (ArticulatedValue){"friction", anchored ? 1 : 0};
    setup->table = terrain == TERRAIN_table ? &table : NULL;
    setup->heights = terrain == TERRAIN_heights ? &heights : NULL;
#define HAND_HAS(name, has) has,
    static const int has[] = {TERRAINS(HAND_HAS)};
#undef HAND_HAS
    if ((has[terrain] & TERRAIN_HAS_start) != 0) setup_add(setup, "terrain_start", -1.0);
    if ((has[terrain] & TERRAIN_HAS_length) != 0) setup_add(setup, "terrain_length", 0.7);
    if ((has[terrain] & TERRAIN_HAS_scale) != 0) setup_add(setup, "terrain_scale", 1.1);
}
