// Actuators and keyframes of MJCF. All motors of a joint become one: effort = kp (command - q) - kd q' + bias.
#include "mjcf.h"

#include <math.h>
#include <string.h>

// ---- actuators ------------------------------------------------------------------------------------------------------

static RobotFileBody *mjcf_find_joint(Mjcf *mjcf, const XmlNode *node, const char *attribute, const char *name)
{
    RobotFile *file = mjcf->file;
    const char **names = ARENA_NEW(file->arena, const char *, file->n_bodies + 1);
    int count = 0;
    for (int i = 0; i < file->n_bodies; i++) {
        const char *joint = file->bodies[i].joint.name;
        if (joint == NULL) continue;
        if (strcmp(joint, name) == 0) return &file->bodies[i];
        names[count++] = joint;
    }
    const char *near = nearest_name(name, names, count);
    robot_error(file, node, attribute, "there is no joint '%.128s'%s%s%s", name, near != NULL ? "; did you mean '" : "",
                near != NULL ? near : "", near != NULL ? "'?" : "");
    return NULL;
}

// The body whose joint it drives; NULL: none, or of no use here.
static RobotFileBody *mjcf_driven(Mjcf *mjcf, const XmlNode *node)
{
    static const char *const others[] = {"tendon", "site", "slidersite", "cranksite", "body", "refsite"};
    for (int i = 0; i < 6; i++) {
        if (xml_attribute(node, others[i]) == NULL) continue;
        robot_skip(mjcf->file, node, others[i], i == 0 ? "tendon" : "site");
        return NULL;
    }
    const char *attribute = xml_attribute(node, "joint") != NULL ? "joint" : "jointinparent";
    const char *name = robot_text_of(node, attribute);
    if (name == NULL) {
        robot_error(mjcf->file, node, NULL, "%s drives nothing: it needs a joint", robot_label(mjcf->file, node));
        return NULL;
    }
    RobotFileBody *body = mjcf_find_joint(mjcf, node, attribute, name);
    if (body == NULL || body->joint.kind == ROBOT_HINGE || body->joint.kind == ROBOT_SLIDE) return body;
    robot_error(mjcf->file, node, attribute, "only motors of hinges and slides are simulated; '%.128s' is %s", name,
                body->joint.kind == ROBOT_BALL ? "a ball joint" : "free");
    return NULL;
}

// Least and greatest of ends that may be in either order.
static void mjcf_set_range(double a, double b, double *low, double *high)
{
    *low = a < b ? a : b;
    *high = a < b ? b : a;
}

static void mjcf_inherit_range(const RobotJoint *joint, MjcfActuator *a)
{
    if (a->inherit == 0.0 || !joint->limited) return;
    const double mean = 0.5 * (joint->low + joint->high), half = 0.5 * (joint->high - joint->low) * a->inherit;
    a->command[0] = mean - half;
    a->command[1] = mean + half;
    if (a->command_limited == MJCF_AUTO) a->command_limited = MJCF_TRUE;
}

// The efforts of an actuator: its force is clamped to forcerange, that of a motor by torque first to the forces of its
// ctrlrange, and the force of the joint at last to its actuatorfrcrange. false: no range of its own bounds it.
static bool mjcf_limit_effort(Mjcf *mjcf, const XmlNode *node, const MjcfActuator *a, RobotMotor *motor)
{
    double ends[2] = {-INFINITY, INFINITY}, joint[2];
    const bool by_torque = a->bias_type == MJCF_BIAS_NONE;
    const bool commands = by_torque && mjcf_limited(mjcf, node, "ctrlrange", a->command_limited, a->command);
    const bool forces = mjcf_limited(mjcf, node, "forcerange", a->force_limited, a->force);
    if (commands) mjcf_clamp_efforts(mjcf, "ctrlrange", a->command, a->gear[0] * a->gain, ends);
    if (forces) mjcf_clamp_efforts(mjcf, "forcerange", a->force, a->gear[0], ends);
    robot_motor_ends(motor, joint);
    for (int k = 0; k < 2; k++) ends[k] = fmin(fmax(ends[k], joint[0]), joint[1]);
    mjcf_set_efforts(ends, motor);
    return commands || forces;
}

// force = k (gear command - gear q) + bias[0], with k = -bias[1] and the joint's command = gain control / (k gear)
static void mjcf_add_servo(Mjcf *mjcf, const XmlNode *node, const MjcfActuator *a, RobotFileBody *body)
{
    RobotMotor *motor = &body->joint.motor;
    const double gear = a->gear[0], k = -a->bias[1];
    motor->kp += gear * gear * k;
    if (a->bias[2] > 0.0)
        body->damping_sum += a->bias[2] * sqrt(gear * gear * fmax(k, 0.0));
    else
        motor->kd -= gear * gear * a->bias[2];
    motor->bias += gear * a->bias[0];
    if (k <= 0.0 || !mjcf_limited(mjcf, node, "ctrlrange", a->command_limited, a->command)) return;
    const double one = a->gain * a->command[0] / k / gear, other = a->gain * a->command[1] / k / gear;
    if (motor->low > -INFINITY || motor->high < INFINITY)
        robot_error(mjcf->file, node, NULL, "two motors with a ctrlrange command the position of one joint");
    mjcf_set_range(one, other, &motor->low, &motor->high);
}

static bool mjcf_can_drive(Mjcf *mjcf, const XmlNode *node, const MjcfActuator *a)
{
    const char *wrong = NULL;
    if (a->gain_type != MJCF_GAIN_FIXED) wrong = "a gaintype other than fixed";
    if (a->bias_type == MJCF_BIAS_OTHER) wrong = "a biastype other than none and affine";
    if (a->dynamics) wrong = "a state of its own (dyntype, timeconst)";
    if (a->gear[0] == 0.0) wrong = "gear 0";
    if (a->bias_type == MJCF_BIAS_AFFINE && a->bias[1] > 0.0) wrong = "a positive biasprm 2 (it pushes away)";
    if (a->bias_type == MJCF_BIAS_AFFINE && a->bias[1] < 0.0 && a->bias[2] > 0.0 && a->gain != -a->bias[1])
        wrong = "a positive biasprm 3 without a gain of -biasprm 2";
    if (wrong == NULL) return true;
    robot_error(mjcf->file, node, NULL, "%s has %s, which is not simulated", robot_label(mjcf->file, node), wrong);
    return false;
}

// What its control does, for keyframes.
static void mjcf_add_control(Mjcf *mjcf, const XmlNode *node, const MjcfActuator *a, int body, MjcfControl *control)
{
    control->body = body;
    control->scale = a->gear[0] * a->gain;
    control->by_position = a->bias_type == MJCF_BIAS_AFFINE && a->bias[1] < 0.0;
    if (!mjcf_limited(mjcf, node, "ctrlrange", a->command_limited, a->command)) return;
    control->low = a->command[0];
    control->high = a->command[1];
}

// A motor of a group that <option actuatorgroupdisable> names is off.
static bool mjcf_is_off(Mjcf *mjcf, const MjcfActuator *a)
{
    const bool off = a->group >= 0 && a->group <= MJCF_GROUP_MAX && (mjcf->compiler.disabled >> a->group & 1) != 0;
    if (off) robot_note(mjcf->file, false, "disabled motor", 1);
    return off;
}

static void mjcf_read_actuator(Mjcf *mjcf, const XmlNode *node, MjcfControl *control)
{
    MjcfActuator a = mjcf->classes[mjcf_class(mjcf, node, "class", 0)].actuator;
    if (!mjcf_apply_actuator(mjcf, node, &a)) {
        static const char *const known[] = {"general", "motor", "position", "velocity"};
        static const char others[] = "muscle damper cylinder intvelocity adhesion dcmotor orientation pid plugin";
        if (robot_word_in(others, node->name))
            robot_skip(mjcf->file, node, NULL, node->name);
        else
            robot_unknown_element(mjcf->file, node, known, 4);
        return;
    }
    if (mjcf_is_off(mjcf, &a)) return;
    RobotFileBody *body = mjcf_driven(mjcf, node);
    if (body == NULL || !mjcf_can_drive(mjcf, node, &a)) return;
    const bool another = body->joint.motor.driven, had_limit = body->limited_motor;
    body->joint.motor.driven = true;
    mjcf_inherit_range(&body->joint, &a);
    mjcf_add_control(mjcf, node, &a, robot_index(mjcf->file, body), control);
    if (a.bias_type != MJCF_BIAS_NONE) mjcf_add_servo(mjcf, node, &a, body);
    body->limited_motor = mjcf_limit_effort(mjcf, node, &a, &body->joint.motor);
    if (another && (had_limit || body->limited_motor))
        robot_error(mjcf->file, node, NULL,
                    "two motors drive one joint, and one of them has a limit of its own; give "
                    "the joint an actuatorfrcrange instead");
    body->limited_motor |= had_limit;
}

void mjcf_read_actuators(Mjcf *mjcf, const XmlNode *node)
{
    const MjcfControl none = {.body = -1, .low = -INFINITY, .high = INFINITY};
    for (const XmlNode *child = node->first; child != NULL; child = child->next) {
        if (mjcf->n_controls == MJCF_CONTROLS_MAX) {
            robot_error(mjcf->file, child, NULL, "more than %d actuators", MJCF_CONTROLS_MAX);
            return;
        }
        MjcfControl *control = &mjcf->controls[mjcf->n_controls++];
        *control = none;
        mjcf_read_actuator(mjcf, child, control);
    }
}

// ---- keyframes ------------------------------------------------------------------------------------------------------

// MuJoCo's quaternions are w, x, y, z.
static void mjcf_turn_quaternions(Mjcf *mjcf, const XmlNode *node, double *coordinates)
{
    for (int i = 0; i < mjcf->file->n_bodies; i++) {
        const RobotJointKind kind = mjcf->file->bodies[i].joint.kind;
        double *q = coordinates + (kind == ROBOT_FREE ? 3 : 0);
        if (kind == ROBOT_FREE || kind == ROBOT_BALL) {
            if (robot_norm(q, 4) < 1e-14) q[0] = 1.0; // no turn, as MuJoCo reads it
            if (!robot_normalize(q, 4)) robot_error(mjcf->file, node, "qpos", "a quaternion of qpos is too large");
            memcpy(q, (const double[]){q[1], q[2], q[3], q[0]}, 4 * sizeof *q);
        }
        coordinates += robot_joint_coordinates(kind);
    }
}

// Controls of motors by position become commands of their joints, others efforts. `act`, `mpos` and `mquat` are of
// motors with a state and of mocap bodies, which are refused, or ignored.
static void mjcf_read_controls(Mjcf *mjcf, const XmlNode *node, RobotFileKey *key)
{
    RobotFile *file = mjcf->file;
    double *control = ARENA_NEW(file->arena, double, mjcf->n_controls + 1);
    double *commands = ARENA_NEW(file->arena, double, file->n_bodies + 1);
    double *efforts = ARENA_NEW(file->arena, double, file->n_bodies + 1);
    const int n = mjcf->n_controls;
    for (int i = 0; i < file->n_bodies; i++) commands[i] = NAN;
    key->commands = commands;
    key->efforts = efforts;
    if (n == 0 || robot_numbers(file, node, "ctrl", n, n, control) != n) return;
    for (int i = 0; i < n; i++) {
        const MjcfControl *of = &mjcf->controls[i];
        if (of->body < 0) continue;
        const double c = control[i] < of->low ? of->low : control[i] > of->high ? of->high : control[i];
        double *to = of->by_position ? &commands[of->body] : &efforts[of->body];
        const double value = of->scale * c / (of->by_position ? file->bodies[of->body].joint.motor.kp : 1.0);
        *to = value + (isnan(*to) ? 0.0 : *to);
        if (!isfinite(*to))
            robot_error(file, node, "ctrl", "numbers of %s are too large to compute with", robot_label(file, node));
    }
}

static int mjcf_velocities(RobotJointKind kind)
{
    static const int velocities[] = {
        [ROBOT_FREE] = 6, [ROBOT_HINGE] = 1, [ROBOT_SLIDE] = 1, [ROBOT_BALL] = 3, [ROBOT_WELD] = 0};
    return velocities[kind];
}

// Of a free joint MuJoCo has the velocity of its frame, world axes, before the angular velocity, axes of the body.
static void mjcf_free_rates(const RobotFileBody *body, const double *coordinates, const double *given, double *rates)
{
    memcpy(rates + 3, given, 3 * sizeof *rates);
    robot_rotate(coordinates != NULL ? coordinates + 3 : body->frame.q, given + 3, rates);
}

// coordinates: of the key; NULL: the file's places.
static const double *mjcf_read_rates(Mjcf *mjcf, const XmlNode *node, const double *coordinates)
{
    RobotFile *file = mjcf->file;
    int n = 0;
    if (robot_ignores(file, "qvel") && xml_attribute(node, "qvel") != NULL) {
        robot_note(file, true, "qvel", 1);
        return NULL;
    }
    for (int i = 0; i < file->n_bodies; i++) n += mjcf_velocities(file->bodies[i].joint.kind);
    double *given = ARENA_NEW(file->arena, double, n + 1);
    double *rates = ARENA_NEW(file->arena, double, ROBOT_RATES *(file->n_bodies + 1));
    if (n == 0 || robot_numbers(file, node, "qvel", n, n, given) != n) return NULL;
    for (int i = 0; i < file->n_bodies; i++) {
        const RobotJointKind kind = file->bodies[i].joint.kind;
        double *to = rates + ROBOT_RATES * i;
        if (kind == ROBOT_FREE)
            mjcf_free_rates(&file->bodies[i], coordinates, given, to);
        else
            memcpy(to, given, (size_t)mjcf_velocities(kind) * sizeof *to);
        given += mjcf_velocities(kind);
        if (coordinates != NULL) coordinates += robot_joint_coordinates(kind);
    }
    return rates;
}

static void mjcf_read_key(Mjcf *mjcf, const XmlNode *node)
{
    static const RobotElement element = {
        .name = "key", .read = "name qpos qvel ctrl", .solver = "act mpos mquat", .show = "time", .refused = "plastic"};
    RobotFile *file = mjcf->file;
    int n = 0;
    robot_check_attributes(file, node, &element);
    if (file->n_keys == ROBOT_KEYFRAMES_MAX) {
        robot_error(file, node, NULL, "more than %d keyframes", ROBOT_KEYFRAMES_MAX);
        return;
    }
    for (int i = 0; i < file->n_bodies; i++) n += robot_joint_coordinates(file->bodies[i].joint.kind);
    double *coordinates = ARENA_NEW(file->arena, double, n + 1);
    const bool given = n > 0 && robot_numbers(file, node, "qpos", n, n, coordinates) == n;
    if (given) mjcf_turn_quaternions(mjcf, node, coordinates);
    RobotFileKey *key = &file->keys[file->n_keys++];
    *key = (RobotFileKey){.node = node, .name = robot_text_of(node, "name"), .coordinates = given ? coordinates : NULL};
    key->rates = mjcf_read_rates(mjcf, node, key->coordinates);
    mjcf_read_controls(mjcf, node, key);
}

void mjcf_read_keyframes(Mjcf *mjcf, const XmlNode *node)
{
    static const char *const known[] = {"key"};
    for (const XmlNode *child = node->first; child != NULL; child = child->next) {
        if (strcmp(child->name, "key") == 0)
            mjcf_read_key(mjcf, child);
        else
            robot_unknown_element(mjcf->file, child, known, 1);
    }
}
