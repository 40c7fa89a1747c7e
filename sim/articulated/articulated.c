// Articulated robots: what the model says of itself.
#include "articulated.h"

#include "../models.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof(ArticulatedConstants) <= sizeof(Constants), "the constants fit a kernel's argument");

enum {
    ARTICULATED_OPTION_ROBOT,
    ARTICULATED_OPTION_DURATION,
    ARTICULATED_OPTION_DT,
    ARTICULATED_OPTION_ORDER,
    ARTICULATED_OPTION_ATTACHMENT,
    ARTICULATED_OPTION_SWEEPS,
    ARTICULATED_OPTION_CONTROL,
    ARTICULATED_OPTION_PERIOD,
    ARTICULATED_OPTION_ACTIONS,
    ARTICULATED_OPTION_ACTIONS_FILE,
    ARTICULATED_OPTION_COMMAND,
    ARTICULATED_OPTION_LAW,
    ARTICULATED_OPTION_ACTION_PERIOD,
    ARTICULATED_OPTION_BOUNDS,
    ARTICULATED_OPTION_LONGEST_DELAY,
    ARTICULATED_OPTION_GAIT,
    ARTICULATED_OPTION_LEGS,
    ARTICULATED_OPTION_REACHES,
    ARTICULATED_OPTION_KEYFRAME,
    ARTICULATED_OPTION_SETTLE,
    ARTICULATED_OPTION_IGNORE,
    ARTICULATED_OPTION_BASE,
    ARTICULATED_OPTION_TERRAIN,
    ARTICULATED_OPTION_POINTS,
    ARTICULATED_OPTION_HEIGHTS,
    ARTICULATED_OPTION_SPACING,
    ARTICULATED_OPTION_FRICTION,
    ARTICULATED_OPTION_REFERENCE,
    ARTICULATED_OPTION_REFERENCE_SCALE,
    ARTICULATED_OPTION_REFERENCE_LOSS,
    ARTICULATED_OPTION_REFERENCE_WIDTH,
    ARTICULATED_OPTION_MESHES,
    ARTICULATED_OPTION_FRAMES,
    ARTICULATED_N_OPTIONS
};

#define ARTICULATED_ATTACHMENT_SAYS(name, says) says
#define ARTICULATED_CONTROL_SAYS(name, says, uses, refusal) says
static const Option articulated_options[ARTICULATED_N_OPTIONS] = {
    {"robot", OPTION_FILE, "", 0, 0, 0, "robot", "MJCF or URDF file of the robot; without one: a double pendulum"},
    {"duration", OPTION_NUMBER, "s", 1.0, 1e-6, 1e6, NULL, "simulated time; a whole number of steps dt"},
    {"dt", OPTION_NUMBER, "s", 0.002, 1e-7, 1.0, NULL, "time step"},
    {"order", OPTION_CHOICE, "", 0, 0, 1, "one|two",
     "the error falls with this power of dt. two: a step is one of dt and two of dt/2, extrapolated (Deuflhard 1985), "
     "at three times the cost; adds the metric step_error"},
    {"attachment", OPTION_CHOICE, "", 0, 0, CHOICES(ARTICULATED_ATTACHMENTS),
     "how joints hold bodies together. " ARTICULATED_ATTACHMENTS(ARTICULATED_ATTACHMENT_SAYS)},
    {"sweeps", OPTION_INTEGER, "1", 20, 1, 1000, NULL, "attachment gauss_seidel: sweeps over all joints in a step"},
    {"control.mode", OPTION_CHOICE, "", 0, 0, CHOICES(ARTICULATED_CONTROLS),
     "commands of the motors. " ARTICULATED_CONTROLS(ARTICULATED_CONTROL_SAYS)},
    {"control.period", OPTION_NUMBER, "s", 0.02, 1e-6, 1e3, NULL,
     "control actions, external, law and policy: how long each row of the table, action or decision holds, unless the "
     "file has a column time; a whole number of steps dt"},
    {"control.actions", OPTION_NUMBERS, "rad", 0, -1e3, 1e3, NULL,
     "control actions: row after row, a number for each hinge and slide in the order of the file; the last row "
     "holds to the end. Control law: a number for each of the law's inputs"},
    {"control.file", OPTION_FILE, "", 0, -1e6, 1e6, "recording",
     "control actions: the table as a CSV file, its first line names hinges and slides in any order; other joints hold "
     "their offset. With a column time (s) each row holds from the step nearest to its time until that of the next. "
     "Control law: its columns are the law's inputs; control policy: the weights of the network, with the columns "
     "layer, output, input (0: the constant) and weight"},
    {"control.command", OPTION_CHOICE, "", 0, 0, 1, "position|effort",
     "control external and policy: what an action is. position: offset + action is the motor's command; effort: the "
     "action is the motor's effort (N m, of a slide N), and its gains are off. Without a table all actions are 0"},
    {"control.law", OPTION_LAW, "", 0, 0, 0, NULL,
     "control law: commands and efforts of motors, as expressions of the columns of trajectories, once a control "
     "period"},
    {"control.action_period", OPTION_NUMBER, "s", 0, 1e-6, 1e3, "period",
     "control law: how long an action of the law's inputs is held; a whole number of control periods"},
    {"control.bounds", OPTION_NUMBERS, "rad", 0, -1e6, 1e6, NULL,
     "control policy: [least, greatest] of each action, whose range that of the network becomes, where the motor's own "
     "range is not narrower; as action_bounds of an environment in Python"},
    {"control.longest_delay", OPTION_NUMBER, "s", 0, 0, 10, NULL,
     "control external, law and policy: the greatest delay that a joint may have (`NAME_delay`); what was decided in "
     "that time is kept"},
    {"control.gait", OPTION_CHOICE, "", 0, 0, CHOICES(ARTICULATED_GAITS),
     "control raibert: which legs swing together, by the defaults of phase_1 ..., stride_frequency, duty and bounce. "
     "Two legs take turns in trot, walk and run. A parameter `gait`, fixed or searched, takes its place in each trial"},
    {"control.legs", OPTION_WORDS, "", 0, 0, 0, "[left_foot, right_foot]",
     "control raibert: bodies that are feet, in the order of phase_1 ...: front to hind, of each pair the left one "
     "first. Without it those with points that touch the ground"},
    {"control.reaches", OPTION_INTEGER, "1", 2, 1, 100, NULL,
     "control raibert: iterations per step that find the joint angles with which a leg reaches its foot's position"},
    {"keyframe", OPTION_WORDS, "", 0, 0, 0, "[stand]",
     "pose of the robot's file that it starts from; without one: where the file places its bodies"},
    {"settle", OPTION_BOOLEAN, "", 0, 0, 1, NULL,
     "true: the robot is moved up or down before t = 0, so that its lowest shape just touches the ground, where "
     "its file, its keyframe and the defaults of parameters place it. Starts, designs and terrains that are "
     "searched do not move it"},
    {"ignore", OPTION_WORDS, "", 0, 0, 0, "[mesh, equality]",
     "elements of the robot's file to leave out although they change the motion, errors name them; unknown: all words "
     "that no format knows"},
    {"base", OPTION_CHOICE, "", 0, 0, 2, "file|floating|fixed",
     "the robot's root. file: as in its file, floating if that is URDF; floating; fixed: to the world"},
    {"terrain", OPTION_CHOICE, "", TERRAIN_file, 0, CHOICES(TERRAINS),
     "the ground. file: the planes, height fields and other shapes of the world in the robot's file, and no ground "
     "where it has none; under a URDF that floats a plane at z = 0. none: nothing touches anything. The others take "
     "the place of the file's planes and height fields: their height along x, parameters give its dimensions, "
     "terrain_points the table; heights: over x and y, from terrain_file"},
    {"terrain_points", OPTION_POINTS, "m", 0, -1e6, 1e6, NULL,
     "[[x, z], ...] for terrain: table; linear between points, level before the first and after the last"},
    {"terrain_file", OPTION_FILE, "m", 0, -1e4, 1e4, "matrix",
     "CSV file for terrain: heights; its lines are along y, the fields of a line along x. Bilinear between them; "
     "beyond an edge the ground keeps the edge's height"},
    {"terrain_spacing", OPTION_NUMBER, "m", 0.1, 1e-4, 1e4, NULL, "between neighbours in terrain_file"},
    {"friction", OPTION_CHOICE, "", 0, 0, 1, "viscous|anchored",
     "of the ground. viscous: a damper below slip_speed, so a robot at rest creeps; anchored: a spring holds each "
     "point where it first touched, until it slips"},
    {"reference", OPTION_FILE, "", 0, -1e9, 1e9, "recording",
     "recorded motion as a CSV file, .npz or MCAP; gives the metric reference_error, the rms difference over rows and "
     "columns. The first line names time (s) and any columns of a trajectory, as `replay --output FILE.csv` writes "
     "them; {file: log.csv, time: {column: stamp, unit: ms}, columns: {knee_q: {column: motor3.pos, unit: deg}}, from: "
     "0, to: 2, every: 10, gaps: skip} says what another file has. Between two steps the simulation counts as linear"},
    {"reference_scale", OPTION_CHOICE, "", 0, 0, 2, "deviation|none|noise",
     "what the difference of each column is divided by. deviation: by the column's standard deviation in the file, at "
     "least 1e-3 of its unit; none: by 1 of its unit; noise: by the standard deviation of its noise, from third "
     "differences of the rows: of a column that is smooth between rows apart from its noise, differences of a good fit "
     "are then about 1. Where columns of the recording have a `noise`, by that"},
    {"reference_loss", OPTION_CHOICE, "", 0, 0, 2, "squares|huber|cauchy",
     "what a difference d, divided by its scale, counts in reference_error, the root of the mean. squares: d^2; huber: "
     "d^2 up to the width k, 2 k |d| - k^2 beyond; cauchy: k^2 log(1 + d^2/k^2). The last two bear outliers"},
    {"reference_width", OPTION_NUMBER, "1", 1, 1e-6, 1e6, NULL, "k of reference_loss"},
    {"meshes", OPTION_CHOICE, "", 0, 0, 3, "refuse|hull|box|capsule",
     "meshes (STL, OBJ) of moving bodies that collide or give inertia. refuse: an error; hull: points of their convex "
     "hulls, at most 26, touch; box: the corners of a box around each, along the axes of its file; capsule: a capsule "
     "around each, along the longest edge of that box"},
    {"frames", OPTION_WORDS, "", 0, 0, 0, "[hand, tool0]",
     "bodies and sites whose motion has columns: hand_x, hand_y, hand_z (m), the quaternion hand_qx to hand_qw, "
     "velocity hand_vx to hand_vz (m/s), angular velocity hand_wx to hand_wz (rad/s, world axes) of their frames"},
};

#define ARTICULATED_ROW(name, unit, doc, group) {#name, unit, doc, group},
static const Field articulated_debug[] = {ARTICULATED_DEBUG(ARTICULATED_ROW)};
#undef ARTICULATED_ROW

#define ARTICULATED_ROW(name, says, uses, refusal) uses,
static const int32_t articulated_uses[] = {ARTICULATED_CONTROLS(ARTICULATED_ROW)};
#undef ARTICULATED_ROW

static const char *const articulated_failures[] = {"none", "fell", "diverged", "non_finite"};

extern const Model articulated_model;

// Coordinates of the file: the poses of bodies in it, and the references of joints.
static const double *articulated_file_pose(const Robot *robot, Arena *arena)
{
    double *pose = ARENA_NEW(arena, double, robot->n_coordinates + 1), *to = pose;
    for (int i = 0; i < robot->n_bodies; i++) {
        const RobotBody *body = &robot->bodies[i];
        const RobotJointKind kind = body->joint.kind;
        switch (kind) {
        case ROBOT_FREE:
            memcpy(to, body->p, sizeof body->p);
            memcpy(to + 3, body->q, sizeof body->q);
            break;
        case ROBOT_BALL: to[3] = 1.0; break;
        case ROBOT_HINGE:
        case ROBOT_SLIDE: to[0] = body->joint.reference; break;
        case ROBOT_WELD: break;
        }
        to += robot_joint_coordinates(kind);
    }
    return pose;
}

// The coordinates at t = 0: of the keyframe that a spec names, or of the file.
static Error articulated_pose(const Robot *robot, const Points *points, ArticulatedHost *host, Arena *arena,
                              Configured *out)
{
    const double **pose = &host->coordinates;
    const Points *named = points != NULL ? &points[ARTICULATED_OPTION_KEYFRAME] : NULL;
    *pose = articulated_file_pose(robot, arena);
    if (named == NULL || named->count == 0) return error_none();
    out->wrong_option = ARTICULATED_OPTION_KEYFRAME + 1;
    if (named->count > 1)
        return error_make(ERROR_USER, "keyframe has %lld names, expected one", (long long)named->count);
    for (int k = 0; k < robot->n_keyframes; k++) {
        if (strcmp(robot->keyframes[k].name, named->names[0]) != 0) continue;
        *pose = robot->keyframes[k].coordinates;
        host->keyframe = &robot->keyframes[k];
        out->wrong_option = 0;
        return error_none();
    }
    const char *known = "";
    for (int k = 0; k < robot->n_keyframes && k < 8; k++)
        known = arena_format(arena, "%s%s%.40s", known, k > 0 ? ", " : "; it has ", robot->keyframes[k].name);
    return error_make(ERROR_USER, "the robot has no keyframe '%.60s'%.300s", named->names[0], known);
}

// terrain: table needs points, and heights a file; other terrains must not have any.
static Error articulated_take_terrain(const double *settings, const Points *points, ArticulatedHost *host,
                                      ArticulatedConstants *c, Configured *out)
{
    const Points none = {.count = 0}, *table = points != NULL ? &points[ARTICULATED_OPTION_POINTS] : &none;
    const Points *heights = points != NULL ? &points[ARTICULATED_OPTION_HEIGHTS] : &none;
    host->terrain = (TerrainKind)settings[ARTICULATED_OPTION_TERRAIN];
    out->wrong_option = ARTICULATED_OPTION_HEIGHTS + 1;
    if (host->terrain != TERRAIN_heights && heights->count > 0)
        return error_make(ERROR_USER, "terrain_file needs terrain: heights");
    if (heights->count > 0 && (heights->columns < 2 || heights->count / heights->columns < 2))
        return error_make(ERROR_USER, "terrain_file has %lld x %lld heights, expected at least 2 rows of 2",
                          (long long)(heights->count / heights->columns), (long long)heights->columns);
    out->wrong_option = ARTICULATED_OPTION_TERRAIN + 1;
    if (host->terrain == TERRAIN_heights && heights->count == 0)
        return error_make(ERROR_USER, "terrain: heights needs terrain_file, a CSV file with rows of heights");
    out->wrong_option = 0;
    if (host->terrain != TERRAIN_table && table->count > 0)
        return error_make(ERROR_USER, "terrain_points needs terrain: table");
    if (host->terrain == TERRAIN_table && table->count < 2)
        return error_make(ERROR_USER, "terrain: table needs terrain_points, at least two: [[0, 0], [1, 0.1]]");
    host->table = table->xy;
    host->n_table = (int)table->count;
    host->heights = heights->numbers;
    host->n_columns = (int)heights->columns;
    host->n_rows = heights->count > 0 ? (int)(heights->count / heights->columns) : 0;
    c->spacing = settings[ARTICULATED_OPTION_SPACING];
    return error_none();
}

// The settings of a law and of a policy.
static Error articulated_take_law(const double *settings, const Points *points, ArticulatedHost *host,
                                  const ArticulatedConstants *c, Configured *out)
{
    const Points none = {.count = 0}, *bounds = points != NULL ? &points[ARTICULATED_OPTION_BOUNDS] : &none;
    const bool policy = (c->uses & CONTROL_POLICY) != 0, lawful = (c->uses & CONTROL_LAW) != 0 && !policy,
               law = points != NULL && points[ARTICULATED_OPTION_LAW].count > 0;
    out->wrong_option = (law ? ARTICULATED_OPTION_LAW : ARTICULATED_OPTION_CONTROL) + 1;
    if (law && !lawful)
        return error_make(ERROR_USER,
                          "control.law needs control: {mode: law}, or {mode: gait}, to whose commands it adds");
    if (lawful && !law)
        return error_make(ERROR_USER, "control: {mode: law} needs control.law, such as {command: {all: 0}}");
    out->wrong_option = ARTICULATED_OPTION_ACTION_PERIOD + 1;
    if (settings[ARTICULATED_OPTION_ACTION_PERIOD] > 0.0 && !lawful)
        return error_make(ERROR_USER, "control.action_period needs control: {mode: law}");
    out->wrong_option = ARTICULATED_OPTION_BOUNDS + 1;
    if (bounds->count > 0 && !policy) return error_make(ERROR_USER, "control.bounds needs control: {mode: policy}");
    if (bounds->count > 0 && (bounds->count != 2 || !(bounds->numbers[0] < bounds->numbers[1])))
        return error_make(ERROR_USER, "control.bounds must be two numbers, [least, greatest]");
    host->bounds[0] = bounds->count > 0 ? bounds->numbers[0] : -INFINITY;
    host->bounds[1] = bounds->count > 0 ? bounds->numbers[1] : INFINITY;
    out->wrong_option = 0;
    return error_none();
}

// How many steps are kept for commands that come late.
static Error articulated_take_delay(const double *settings, ArticulatedHost *host, ArticulatedConstants *c,
                                    Configured *out)
{
    enum { STEPS_MOST = 1000 };
    host->longest_delay = settings[ARTICULATED_OPTION_LONGEST_DELAY];
    if (host->longest_delay == 0.0) return error_none();
    const double steps = floor(host->longest_delay / settings[ARTICULATED_OPTION_DT]);
    out->wrong_option = ARTICULATED_OPTION_LONGEST_DELAY + 1;
    if ((c->uses & (CONTROL_ACTS | CONTROL_LAW)) == 0)
        return error_make(ERROR_USER, "control.longest_delay needs control: {mode: external}, {mode: law} or {mode: "
                                      "policy}; others know their commands before");
    if (steps > STEPS_MOST)
        return error_make(ERROR_USER, "control.longest_delay (%g s) is more than %d steps dt (%g s)",
                          host->longest_delay, STEPS_MOST, settings[ARTICULATED_OPTION_DT]);
    c->n_late = (int32_t)steps + 2;
    out->wrong_option = 0;
    return error_none();
}

static Error articulated_take_actions(const double *settings, const Points *points, ArticulatedHost *host, Arena *arena,
                                      ArticulatedConstants *c, Configured *out)
{
    static const int options[2] = {ARTICULATED_OPTION_ACTIONS + 1, ARTICULATED_OPTION_ACTIONS_FILE + 1};
    const Points none = {.count = 0};
    const double held = floor(settings[ARTICULATED_OPTION_PERIOD] / settings[ARTICULATED_OPTION_DT] + 0.5);
    c->held = held < 1.0 ? 1 : held > 1e9 ? 1000000000 : (int32_t)held;
    out->wrong_option = ARTICULATED_OPTION_PERIOD + 1;
    if ((c->uses & (CONTROL_TABLE | CONTROL_LAW)) != 0 &&
        fabs(settings[ARTICULATED_OPTION_PERIOD] / settings[ARTICULATED_OPTION_DT] - c->held) > 1e-6)
        return error_make(ERROR_USER, "control.period (%g s) must be a whole number of steps dt (%g s)",
                          settings[ARTICULATED_OPTION_PERIOD], settings[ARTICULATED_OPTION_DT]);
    out->wrong_option = ARTICULATED_OPTION_COMMAND + 1;
    if ((c->uses & (CONTROL_ACTS | CONTROL_POLICY)) == 0 && settings[ARTICULATED_OPTION_COMMAND] != 0.0)
        return error_make(ERROR_USER, "control.command needs control: {mode: external} or {mode: policy}");
    TRY(articulated_take_law(settings, points, host, c, out));
    TRY(articulated_take_delay(settings, host, c, out));
    return articulated_actions(points != NULL ? &points[ARTICULATED_OPTION_ACTIONS] : &none,
                               points != NULL ? &points[ARTICULATED_OPTION_ACTIONS_FILE] : &none, options, host, arena,
                               c, out);
}

static Error articulated_take_legs(const double *settings, const Points *points, ArticulatedHost *host, Arena *arena,
                                   ArticulatedConstants *c, Configured *out)
{
    const Points none = {.count = 0};
    host->gait = (ArticulatedGait)settings[ARTICULATED_OPTION_GAIT];
    TRY(articulated_feet(points != NULL ? &points[ARTICULATED_OPTION_LEGS] : &none, ARTICULATED_OPTION_LEGS + 1, c,
                         arena, host, out));
    c->n_legs = host->n_feet;
    return error_none();
}

static void articulated_take_reference(const double *settings, const Points *points, ArticulatedHost *host,
                                       Arena *arena, ArticulatedConstants *constants, Configured *out)
{
    const Points none = {.count = 0};
    host->reference = points != NULL ? points[ARTICULATED_OPTION_REFERENCE] : none;
    host->scale = (ReferenceScale)settings[ARTICULATED_OPTION_REFERENCE_SCALE];
    constants->loss = (int32_t)settings[ARTICULATED_OPTION_REFERENCE_LOSS];
    constants->loss_width = settings[ARTICULATED_OPTION_REFERENCE_WIDTH];
    articulated_metrics_of(host, settings[ARTICULATED_OPTION_ORDER] != 0.0, arena, out);
}

// Joints that are solved apart divide by the mass of each body; a link between two joints of one body has none.
static Error articulated_check_attachment(const Robot *robot, int attachment, Configured *out)
{
    for (int i = 0; i < robot->n_bodies && attachment != ARTICULATED_ATTACHMENT_tree; i++) {
        if (robot->bodies[i].mass > 0.0) continue;
        out->wrong_option = ARTICULATED_OPTION_ATTACHMENT + 1;
        return error_make(ERROR_USER,
                          "joint '%.60s' shares its body with another joint, or its link has no mass: only "
                          "`attachment: tree` can simulate that",
                          robot->bodies[i].joint.name);
    }
    return error_none();
}

// Whether a table has a command other than 0 for the joint, counted among hinges and slides.
static bool articulated_commands(const ArticulatedHost *host, const ArticulatedConstants *c, int joint)
{
    for (int64_t row = 0; row < c->n_actions; row++)
        if (host->actions[row * c->n_joints + joint] != 0.0) return true;
    return false;
}

// What commands motors needs them. A joint whose gains the spec names has a motor.
static Error articulated_check_motors(const ArticulatedHost *host, const ArticulatedConstants *c, Configured *out)
{
#define ARTICULATED_ROW(name, ...) #name,
    static const char *const modes[] = {ARTICULATED_CONTROLS(ARTICULATED_ROW)};
#undef ARTICULATED_ROW
    const ArticulatedBody *bodies = (const ArticulatedBody *)out->assets;
    const char *joint = NULL;
    bool driven = (c->uses & CONTROL_MOTORS) == 0;
    for (int i = 0; i < c->n_bodies; i++) {
        driven = driven || bodies[i].driven != 0;
        if (joint == NULL && bodies[i].joint >= 0) joint = host->joints[i];
    }
    out->wrong_option = ARTICULATED_OPTION_CONTROL + 1;
    if (!driven && joint == NULL)
        return error_make(ERROR_USER,
                          "control mode %s commands motors, and the robot has no hinge or slide: leave it out",
                          modes[c->control]);
    if (!driven)
        return error_make(ERROR_USER,
                          "control mode %s commands motors, and no joint of the robot has one: add motors to its file, "
                          "or gains to `parameters`, e.g. %.60s_kp",
                          modes[c->control], joint);
    out->wrong_option = (host->listed ? ARTICULATED_OPTION_ACTIONS : ARTICULATED_OPTION_ACTIONS_FILE) + 1;
    for (int i = 0; i < c->n_bodies; i++) {
        if (bodies[i].joint < 0 || bodies[i].driven != 0 || !articulated_commands(host, c, bodies[i].joint)) continue;
        return error_make(ERROR_USER,
                          "control.%s commands joint %.60s, which has no motor: add one to the robot's file, or gains "
                          "to `parameters`, e.g. %.60s_kp; or let it be 0",
                          host->listed ? "actions" : "file", host->joints[i], host->joints[i]);
    }
    out->wrong_option = 0;
    return error_none();
}

static bool articulated_varies(const ArticulatedBody *body, int number) { return (body->varied >> number & 1) != 0; }

// Numbers of an actuator that need others, or what it has not.
static Error articulated_check_actuator(const ArticulatedBody *body, const char *joint, const ArticulatedConstants *c)
{
    const bool delay = articulated_varies(body, ARTICULATED_delay);
    const bool load = articulated_varies(body, ARTICULATED_load) || articulated_varies(body, ARTICULATED_stickload);
    const bool sticks =
        articulated_varies(body, ARTICULATED_stiction) || articulated_varies(body, ARTICULATED_stickload);
    bool voltage = false;
    for (int k = ARTICULATED_resistance; k <= ARTICULATED_voltage; k++) voltage |= articulated_varies(body, k);
    for (int k = ARTICULATED_encoder; k <= ARTICULATED_voltage && body->joint < 0; k++)
        if (articulated_varies(body, k))
            return error_make(ERROR_USER,
                              "joint %.60s has several coordinates: only hinges and slides have an encoder, a delay, a "
                              "voltage, and friction beside damping and friction",
                              joint);
    if (body->driven == 0 && (delay || load || voltage))
        return error_make(ERROR_USER,
                          "joint %.60s has no motor, and so no delay, load or voltage: add one to the robot's file, or "
                          "gains to `parameters`, e.g. %.60s_kp",
                          joint, joint);
    if (delay && (c->uses & CONTROL_LEGS) != 0)
        return error_make(ERROR_USER, "control mode raibert has no delay of commands: leave %.60s_delay out", joint);
    if (delay && (c->uses & CONTROL_ADDS) != 0 && (c->uses & CONTROL_LAW) != 0)
        return error_make(
            ERROR_USER,
            "a gait to which a law adds has no delay of commands: leave %.60s_delay out, or write the gait "
            "in the law",
            joint);
    if (delay && (c->uses & (CONTROL_ACTS | CONTROL_LAW)) != 0 && c->n_late == 0)
        return error_make(
            ERROR_USER, "%.60s_delay needs control.longest_delay (s) with control mode external, law or policy", joint);
    if (sticks && !articulated_varies(body, ARTICULATED_stribeck))
        return error_make(ERROR_USER,
                          "the friction of joint %.60s at rest falls with its rate: name %.60s_stribeck (rad/s) too",
                          joint, joint);
    if (!voltage) return error_none();
    for (int k = ARTICULATED_resistance; k <= ARTICULATED_emf; k++)
        if (!articulated_varies(body, k) && k != ARTICULATED_gear)
            return error_make(ERROR_USER, "a motor driven by a voltage needs %.60s_resistance, %.60s_kt and %.60s_emf",
                              joint, joint, joint);
    for (int k = ARTICULATED_kp; k <= ARTICULATED_bias; k++)
        if (!articulated_varies(body, k) && k != ARTICULATED_effort && (k == ARTICULATED_kp || body->number[k] != 0.0))
            return error_make(
                ERROR_USER,
                "the motor of joint %.60s is driven by a voltage, and its gains in the robot's file are of "
                "an effort: name %.60s_kp (V/rad), and %.60s_kd and %.60s_bias where the file has them",
                joint, joint, joint, joint);
    return c->efforts == 0
               ? error_none()
               : error_make(ERROR_USER,
                            "the motor of joint %.60s is driven by a voltage: that needs control mode hold, "
                            "gait, actions, or external with positions",
                            joint);
}

static bool articulated_any(const ArticulatedBody *body, int first, int count)
{
    return (body->varied >> first & (((int64_t)1 << count) - 1)) != 0;
}

// Numbers of masses that contradict each other or the file.
static Error articulated_check_masses(const ArticulatedHost *host, const ArticulatedConstants *c, const double *assets)
{
    const ArticulatedBody *bodies = (const ArticulatedBody *)assets;
    const ArticulatedInput *inputs = (const ArticulatedInput *)(assets + c->inputs);
    for (int k = 0; k < c->n_inputs; k++) {
        const int body = inputs[k].body, number = inputs[k].number;
        if (number < ARTICULATED_xx || number > ARTICULATED_yz || !articulated_any(&bodies[body], ARTICULATED_log_x, 6))
            continue;
        return error_make(ERROR_USER,
                          "body %.60s has its inertia by %.60s_ixx ... and by %.60s_logx ...: name those of one kind",
                          host->bodies[body], host->bodies[body], host->bodies[body]);
    }
    for (int i = 0; i < c->n_bodies; i++) {
        if (articulated_any(&bodies[i], ARTICULATED_log_x, 6) && bodies[i].spread[0] == 0.0)
            return error_make(ERROR_USER,
                              "%.60s_logx ... begin at the inertia in the robot's file, and no body has that one: its "
                              "principal moments A, B, C must satisfy A + B > C",
                              host->bodies[i]);
    }
    return error_none();
}

static Error articulated_choose(Configured *configured, const Choice *choice, Arena *arena)
{
    ArticulatedConstants constants;
    ArticulatedHost *host = ARENA_NEW(arena, ArticulatedHost, 1);
    *host = *(const ArticulatedHost *)configured->host;
    memcpy(&constants, &configured->constants, sizeof constants);
    TRY(articulated_lay(host, choice, arena, &constants, configured));
    memcpy(&configured->constants, &constants, sizeof constants);
    configured->host = host;
    if (choice == NULL) return error_none();
    for (int i = 0; i < constants.n_bodies; i++)
        TRY(articulated_check_actuator((const ArticulatedBody *)configured->assets + i, host->joints[i], &constants));
    TRY(articulated_check_masses(host, &constants, configured->assets));
    return articulated_check_motors(host, &constants, configured);
}

// Lays the robot out again where it just touches the ground.
static Error articulated_take_settle(Arena *arena, Configured *out)
{
    ArticulatedHost *host = ARENA_NEW(arena, ArticulatedHost, 1);
    *host = *(const ArticulatedHost *)out->host;
    double *coordinates = ARENA_NEW(arena, double, host->robot->n_coordinates + 1);
    out->wrong_option = ARTICULATED_OPTION_SETTLE + 1;
    TRY(articulated_settle(out, arena, coordinates));
    host->coordinates = coordinates;
    out->host = host;
    return articulated_choose(out, NULL, arena);
}

static Error articulated_shorten(double duration, Configured *configured)
{
    ArticulatedConstants constants;
    memcpy(&constants, &configured->constants, sizeof constants);
    constants.ticks = (int64_t)floor(duration / constants.dt + 0.5);
    if (constants.ticks < 1 || fabs(duration / constants.dt - (double)constants.ticks) > 1e-6)
        return error_make(ERROR_USER, "a whole number of steps dt (%g s)", constants.dt);
    memcpy(&configured->constants, &constants, sizeof constants);
    configured->ticks = constants.ticks;
    return error_none();
}

static Error articulated_configure(const double *settings, const Points *points, Arena *arena, Configured *out)
{
    const double duration = settings[ARTICULATED_OPTION_DURATION], dt = settings[ARTICULATED_OPTION_DT];
    const double steps = floor(duration / dt + 0.5);
    const bool given = points != NULL && points[ARTICULATED_OPTION_ROBOT].count > 0;
    const Robot *robot = given ? points[ARTICULATED_OPTION_ROBOT].robot : &robot_pendulum;
    ArticulatedHost *host = ARENA_NEW(arena, ArticulatedHost, 1);
    ArticulatedConstants constants = {.dt = dt,
                                      .ticks = (int64_t)steps,
                                      .attachment = (int32_t)settings[ARTICULATED_OPTION_ATTACHMENT],
                                      .sweeps = (int32_t)settings[ARTICULATED_OPTION_SWEEPS],
                                      .control = (int32_t)settings[ARTICULATED_OPTION_CONTROL],
                                      .reaches = (int32_t)settings[ARTICULATED_OPTION_REACHES],
                                      .grips = settings[ARTICULATED_OPTION_FRICTION] != 0.0,
                                      .whole = settings[ARTICULATED_OPTION_ORDER] != 0.0};
    constants.uses = articulated_uses[constants.control];
    if ((constants.uses & CONTROL_ADDS) != 0 && points != NULL && points[ARTICULATED_OPTION_LAW].count > 0)
        constants.uses |= CONTROL_LAW | CONTROL_EFFORTS;
    constants.efforts = (constants.uses & CONTROL_EFFORTS) != 0 || settings[ARTICULATED_OPTION_COMMAND] != 0.0;
    if (steps < 1.0 || fabs(duration / dt - steps) > 1e-6)
        return error_make(ERROR_USER, "duration (%g s) must be a whole number of steps dt (%g s)", duration, dt);
    articulated_name(robot, arena, host);
    *out = (Configured){.model = &articulated_model,
                        .debug = articulated_debug,
                        .n_debug = ARTICULATED_N_DEBUG,
                        .debug_rows = robot->n_bodies,
                        .failures = articulated_failures,
                        .n_failures = (int)(sizeof articulated_failures / sizeof articulated_failures[0]),
                        .kernel = KERNEL_articulated_tree,
                        .ticks = constants.ticks,
                        .tick_duration = constants.dt,
                        .things = host->bodies,
                        .n_things = robot->n_bodies,
                        .things_are = "bodies",
                        .things_whole = true,
                        .host = host};
    TRY(articulated_check_attachment(robot, constants.attachment, out));
    TRY(articulated_take_terrain(settings, points, host, &constants, out));
    TRY(articulated_take_actions(settings, points, host, arena, &constants, out));
    TRY(articulated_take_legs(settings, points, host, arena, &constants, out));
    if (points != NULL)
        TRY(articulated_frames(&points[ARTICULATED_OPTION_FRAMES], ARTICULATED_OPTION_FRAMES + 1, arena, host, out));
    articulated_take_reference(settings, points, host, arena, &constants, out);
    memcpy(&out->constants, &constants, sizeof constants);
    TRY(articulated_pose(robot, points, host, arena, out));
    if (points != NULL) TRY(articulated_groups(points + ARTICULATED_N_OPTIONS, host, arena, out));
    out->wrong_option = ARTICULATED_OPTION_REFERENCE + 1; // all else is checked already
    TRY(articulated_choose(out, NULL, arena));
    if (settings[ARTICULATED_OPTION_SETTLE] != 0.0) TRY(articulated_take_settle(arena, out));
    out->wrong_option = 0;
    return error_none();
}

// Where the extrapolation of `order: two` has steps too coarse for its order, and where joints are too soft.
static const Doubt articulated_suspect[] = {
    {"step_error", 1e-3, "dt is too large for order two there; half of it divides step_error by four"},
    {"gap_max", 1e-3, "joints gave way by more than 1 mm there; with `parameters: {attach_stiffness: 1e8}` less"}};

const Model articulated_model = {
    .name = "articulated",
    .doc = "a robot from an MJCF or URDF file: rigid bodies, implicit joints, motors and contact",
    .source = "D. Baraff & A. Witkin, SIGGRAPH 1998; D. Baraff, SIGGRAPH 1996",
    .options = articulated_options,
    .n_options = ARTICULATED_N_OPTIONS,
    .later = "order|settle|reference|reference_scale|reference_loss|reference_width|control.law|"
             "control.action_period|control.bounds|control.longest_delay|control.gait|control.legs|control.reaches|"
             "control.command|meshes|frames",
    .numerics = "dt|order",
    .lists = articulated_lists,
    .n_lists = 2,
    .debug = "debug/solve",
    .debug_table = &articulated_debug_table,
    .extra = articulated_extra,
    .n_extra = ARTICULATED_N_EXTRA,
    .extra_choices = articulated_extra_choices,
    .configure = articulated_configure,
    .shorten = articulated_shorten,
    .choose = articulated_choose,
    .explain = articulated_explain,
    .doubts = articulated_suspect,
    .n_doubts = sizeof articulated_suspect / sizeof *articulated_suspect,
    .adjoint = &articulated_adjoint,
    .robot = articulated_shown,
};
