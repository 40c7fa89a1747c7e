// Defaults of MJCF. A class begins as a copy of its parent's records; its elements then change them, and so do the
// attributes of an element that is of the class.
#include "../text.h"
#include "mjcf.h"

#include <math.h>
#include <string.h>

// ---- orientations ---------------------------------------------------------------------------------------------------

double mjcf_angle(const Mjcf *mjcf, double value)
{
    return mjcf->compiler.radian ? value : value * (3.14159265358979323846 / 180.0);
}

static bool mjcf_direction(Mjcf *mjcf, const XmlNode *node, const char *attribute, double *vector)
{
    if (robot_normalize(vector, 3)) return true;
    robot_error(mjcf->file, node, attribute, "%s has no direction: its length is 0", attribute);
    return false;
}

static bool mjcf_read_axes(Mjcf *mjcf, const XmlNode *node, double q[4])
{
    double v[6], z[3];
    if (robot_numbers(mjcf->file, node, "xyaxes", 6, 6, v) == 0) return false;
    if (!mjcf_direction(mjcf, node, "xyaxes", v)) return false;
    const double along = robot_dot(v, v + 3);
    for (int a = 0; a < 3; a++) v[3 + a] -= along * v[a];
    if (!mjcf_direction(mjcf, node, "xyaxes", v + 3)) return false;
    robot_cross(v, v + 3, z);
    robot_quaternion_of_axes(v, v + 3, z, q);
    return true;
}

// In small letters each turn is about an axis of the turned body, in capitals about one of the outer frame.
static bool mjcf_read_euler(Mjcf *mjcf, const XmlNode *node, double q[4])
{
    double angle[3], total[4] = {0.0, 0.0, 0.0, 1.0};
    if (robot_numbers(mjcf->file, node, "euler", 3, 3, angle) == 0) return false;
    for (int i = 0; i < 3; i++) {
        const char c = mjcf->compiler.euler[i];
        const bool outer = c >= 'X' && c <= 'Z';
        const int a = outer ? c - 'X' : c - 'x';
        const double axis[3] = {a == 0, a == 1, a == 2};
        double turn[4];
        robot_turn(axis, mjcf_angle(mjcf, angle[i]), turn);
        robot_quaternion_product(outer ? turn : total, outer ? total : turn, total);
    }
    robot_normalize(total, 4);
    memcpy(q, total, sizeof total);
    return true;
}

static bool mjcf_read_turn(Mjcf *mjcf, const XmlNode *node, double q[4])
{
    double v[4];
    if (robot_numbers(mjcf->file, node, "axisangle", 4, 4, v) == 4) {
        if (!mjcf_direction(mjcf, node, "axisangle", v)) return false;
        robot_turn(v, mjcf_angle(mjcf, v[3]), q);
        return true;
    }
    if (robot_numbers(mjcf->file, node, "zaxis", 3, 3, v) == 3) {
        if (!mjcf_direction(mjcf, node, "zaxis", v)) return false;
        robot_turn_z(v, q);
        return true;
    }
    return mjcf_read_axes(mjcf, node, q) || mjcf_read_euler(mjcf, node, q);
}

// To about 1e-6 rad; a quaternion and its negative are the same.
static bool mjcf_same_turn(const double a[4], const double b[4])
{
    return fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]) > 1.0 - 1e-12;
}

void mjcf_read_frame(Mjcf *mjcf, const XmlNode *node, RobotFrame *frame, bool *turned, double turn[4])
{
    static const char *const forms[] = {"quat", "axisangle", "xyaxes", "zaxis", "euler"};
    int given = 0;
    double q[4];
    for (int i = 0; i < 5; i++) {
        if (xml_attribute(node, forms[i]) != NULL && ++given == 2)
            robot_error(mjcf->file, node, forms[i],
                        "this is a second orientation; give one of quat, axisangle, xyaxes, "
                        "zaxis and euler");
    }
    robot_numbers(mjcf->file, node, "pos", 3, 3, frame->p);
    if (robot_numbers(mjcf->file, node, "quat", 4, 4, q) == 4) { // w, x, y, z
        if (!robot_normalize(q, 4))
            robot_error(mjcf->file, node, "quat", "quat has no direction: its length is 0");
        else
            memcpy(frame->q, (const double[]){q[1], q[2], q[3], q[0]}, sizeof q);
        if (*turned && !mjcf_same_turn(frame->q, turn))
            robot_error(mjcf->file, node, "quat",
                        "the defaults have another orientation than quat, and versions of "
                        "MuJoCo differ in which one counts; give it in the same form");
    }
    if (mjcf_read_turn(mjcf, node, turn)) *turned = true;
}

RobotFrame mjcf_frame(Mjcf *mjcf, const XmlNode *node)
{
    RobotFrame frame = robot_frame_none();
    bool turned = false;
    double turn[4];
    mjcf_read_frame(mjcf, node, &frame, &turned, turn);
    if (turned) memcpy(frame.q, turn, sizeof turn);
    return frame;
}

// ---- geoms ----------------------------------------------------------------------------------------------------------

static const RobotElement mjcf_geom = {
    .name = "geom",
    .read = "name class type pos quat axisangle xyaxes zaxis euler fromto size friction mass density shellinertia "
            "contype conaffinity condim priority margin solref solimp group mesh hfield",
    .solver = "solmix gap",
    .show = "material rgba user castshadow fitscale fluidshape fluidcoef",
    .refused = "adhesion surfacevel",
};

// Directions in which a contact holds: 1 the normal, 3 friction, 4 and 6 torques of friction.
static void mjcf_read_condim(Mjcf *mjcf, const XmlNode *node, int *condim)
{
    int given = 0;
    if (!robot_integer(mjcf->file, node, "condim", &given)) return;
    if (given == 1 || given == 3 || given == 4 || given == 6)
        *condim = given;
    else
        robot_error(mjcf->file, node, "condim", "condim is %d, expected 1, 3, 4 or 6", given);
}

// MuJoCo's stiffness and damping of a contact are per mass that it moves; here they are parameters, N/m and N s/m.
static void mjcf_note_contact(Mjcf *mjcf, const XmlNode *node)
{
    static const char *const words[] = {"solref", "solimp"};
    for (int i = 0; i < 2; i++) {
        const XmlAttribute *given = xml_attribute(node, words[i]);
        if (given != NULL) robot_note_at(mjcf->file, node->name, words[i], given->line);
    }
}

void mjcf_apply_geom(Mjcf *mjcf, const XmlNode *node, MjcfGeom *geom)
{
    static const char types[] = "plane|hfield|sphere|capsule|ellipsoid|cylinder|box|mesh|sdf";
    RobotFile *file = mjcf->file;
    robot_check_attributes(file, node, &mjcf_geom);
    geom->type = (MjcfGeomType)robot_choice(file, node, "type", types, (int)geom->type);
    mjcf_read_frame(mjcf, node, &geom->frame, &geom->turned, geom->turn);
    geom->from_to |= robot_numbers(file, node, "fromto", 6, 6, geom->ends) == 6;
    geom->mesh |= robot_text_of(node, "mesh") != NULL;
    if (robot_text_of(node, "mesh") != NULL) geom->of_mesh = robot_text_of(node, "mesh");
    if (robot_text_of(node, "hfield") != NULL) geom->field = robot_text_of(node, "hfield");
    robot_numbers(file, node, "size", 1, 3, geom->size);
    robot_numbers(file, node, "friction", 1, 3, geom->friction);
    robot_not_negative(file, node, "mass", &geom->mass);
    robot_not_negative(file, node, "density", &geom->density);
    robot_integer(file, node, "contype", &geom->contype);
    robot_integer(file, node, "conaffinity", &geom->conaffinity);
    robot_integer(file, node, "group", &geom->group);
    robot_integer(file, node, "priority", &geom->priority);
    robot_not_negative(file, node, "margin", &geom->margin);
    mjcf_read_condim(mjcf, node, &geom->condim);
    mjcf_note_contact(mjcf, node);
    geom->shell = robot_choice(file, node, "shellinertia", "false|true", geom->shell) == 1;
}

// ---- pairs ----------------------------------------------------------------------------------------------------------

static const RobotElement mjcf_pair = {
    .name = "pair",
    .read = "name class geom1 geom2 condim friction margin solref solimp",
    .solver = "solreffriction gap",
};

void mjcf_apply_pair(Mjcf *mjcf, const XmlNode *node, MjcfPair *pair)
{
    robot_check_attributes(mjcf->file, node, &mjcf_pair);
    robot_numbers(mjcf->file, node, "friction", 1, 5, pair->friction);
    robot_not_negative(mjcf->file, node, "margin", &pair->margin);
    mjcf_read_condim(mjcf, node, &pair->condim);
    mjcf_note_contact(mjcf, node);
}

// ---- joints ---------------------------------------------------------------------------------------------------------

static const RobotElement mjcf_joint = {
    .name = "joint",
    .read = "name class type pos axis range limited actuatorfrcrange actuatorfrclimited stiffness springref damping "
            "armature frictionloss ref margin",
    .solver = "solreflimit solimplimit solreffriction solimpfriction",
    .show = "group user",
    .refused = "springdamper actuatorgravcomp springyield",
};

void mjcf_read_linear(Mjcf *mjcf, const XmlNode *node, const char *attribute, double *value)
{
    double number[3] = {0.0};
    if (robot_numbers(mjcf->file, node, attribute, 1, 3, number) == 0) return;
    if (number[0] < 0.0)
        robot_error(mjcf->file, node, attribute, "%s is %s, expected at least 0", attribute,
                    text_number(number[0]).text);
    else
        *value = number[0];
    if (number[1] == 0.0 && number[2] == 0.0) return;
    if (robot_ignores(mjcf->file, attribute)) {
        robot_note(mjcf->file, true, attribute, 1);
        return;
    }
    mjcf->file->unread++;
    robot_error(mjcf->file, node, attribute,
                "%s of %s is not linear, which is not simulated: only the first number may differ from 0; add %s "
                "to ignore: then only that one counts",
                attribute, robot_label(mjcf->file, node), attribute);
}

void mjcf_apply_joint(Mjcf *mjcf, const XmlNode *node, MjcfJoint *joint)
{
    static const RobotJointKind kinds[] = {ROBOT_FREE, ROBOT_BALL, ROBOT_SLIDE, ROBOT_HINGE};
    RobotFile *file = mjcf->file;
    robot_check_attributes(file, node, &mjcf_joint);
    const int kind = robot_choice(file, node, "type", "free|ball|slide|hinge", -1);
    if (kind >= 0) joint->kind = kinds[kind];
    robot_numbers(file, node, "pos", 3, 3, joint->pos);
    robot_numbers(file, node, "axis", 3, 3, joint->axis);
    robot_numbers(file, node, "range", 2, 2, joint->range);
    robot_numbers(file, node, "actuatorfrcrange", 2, 2, joint->effort);
    joint->limited = (MjcfSwitch)robot_choice(file, node, "limited", "false|true|auto", (int)joint->limited);
    joint->effort_limited =
        (MjcfSwitch)robot_choice(file, node, "actuatorfrclimited", "false|true|auto", (int)joint->effort_limited);
    mjcf_read_linear(mjcf, node, "stiffness", &joint->stiffness);
    robot_number(file, node, "springref", &joint->rest);
    mjcf_read_linear(mjcf, node, "damping", &joint->damping);
    robot_not_negative(file, node, "armature", &joint->armature);
    robot_not_negative(file, node, "frictionloss", &joint->friction);
    robot_number(file, node, "ref", &joint->reference);
    robot_not_negative(file, node, "margin", &joint->margin);
}

// ---- actuators ------------------------------------------------------------------------------------------------------

#define MJCF_MOTOR                                                                                                     \
    "name class joint jointinparent gear ctrlrange ctrllimited forcerange forcelimited tendon site slidersite "        \
    "cranksite body refsite group"
#define MJCF_MOTOR_SHOW "user lengthrange cranklength"
#define MJCF_MOTOR_REFUSED "armature damping delay interp nsample"

static const RobotElement mjcf_actuators[] = {
    // in the order of MjcfShortcut
    {"general", MJCF_MOTOR " gaintype biastype dyntype gainprm biasprm inheritrange", NULL,
     MJCF_MOTOR_SHOW " actearly actdim actlimited actrange dynprm ffrange velrange", MJCF_MOTOR_REFUSED " input"},
    {"motor", MJCF_MOTOR, NULL, MJCF_MOTOR_SHOW, MJCF_MOTOR_REFUSED},
    {"position", MJCF_MOTOR " kp kv dampratio timeconst inheritrange", NULL, MJCF_MOTOR_SHOW, MJCF_MOTOR_REFUSED},
    {"velocity", MJCF_MOTOR " kv", NULL, MJCF_MOTOR_SHOW, MJCF_MOTOR_REFUSED},
};

static void mjcf_apply_general(Mjcf *mjcf, const XmlNode *node, MjcfActuator *a)
{
    RobotFile *file = mjcf->file;
    static const char gains[] = "fixed|affine|muscle|user|dcmotor|so3|pid",
                      biases[] = "none|affine|muscle|user|dcmotor|so3|pid";
    double gain[16], bias[16];
    const int gain_type = robot_choice(file, node, "gaintype", gains, -1);
    const int bias_type = robot_choice(file, node, "biastype", biases, -1);
    const int dynamics =
        robot_choice(file, node, "dyntype", "none|integrator|filter|filterexact|muscle|user|dcmotor|pid", -1);
    if (gain_type >= 0) a->gain_type = gain_type == 0 ? MJCF_GAIN_FIXED : MJCF_GAIN_OTHER;
    if (bias_type >= 0) a->bias_type = bias_type < 2 ? (MjcfBias)bias_type : MJCF_BIAS_OTHER;
    if (dynamics >= 0) a->dynamics = dynamics > 0;
    if (robot_numbers(file, node, "gainprm", 1, 16, gain) > 0) a->gain = gain[0];
    const int n = robot_numbers(file, node, "biasprm", 1, 16, bias);
    memcpy(a->bias, bias, (size_t)(n < 3 ? n : 3) * sizeof *bias);
}

// Gain and bias that a shortcut starts from. A class has only one set for all shortcuts; if the last one that gave them
// was another, those of the nearest class around it that suit count, as in MuJoCo.
static void mjcf_start_gains(MjcfShortcut shortcut, MjcfActuator *a)
{
    static const MjcfActuator none = {.gain = 1.0};
    const MjcfActuator *from = a;
    while (from != NULL && from->shortcut != MJCF_GENERAL && from->shortcut != shortcut) from = from->outer;
    if (from == NULL) from = &none;
    a->gain = from->gain;
    if (from != a) memcpy(a->bias, from->bias, sizeof a->bias);
}

static void mjcf_apply_position(Mjcf *mjcf, const XmlNode *node, MjcfActuator *a)
{
    RobotFile *file = mjcf->file;
    double kv = 0.0, ratio = 0.0, time = 0.0;
    mjcf_start_gains(MJCF_POSITION, a);
    robot_not_negative(file, node, "kp", &a->gain);
    a->gain_type = MJCF_GAIN_FIXED;
    a->bias_type = MJCF_BIAS_AFFINE;
    a->bias[1] = -a->gain;
    const bool damped = robot_not_negative(file, node, "kv", &kv);
    if (damped) a->bias[2] = -kv;
    if (robot_not_negative(file, node, "dampratio", &ratio)) {
        a->bias[2] = ratio;
        if (damped) robot_error(file, node, "dampratio", "kv and dampratio are both given; give one of them");
    }
    if (robot_not_negative(file, node, "timeconst", &time)) a->dynamics = time > 0.0;
}

static void mjcf_apply_velocity(Mjcf *mjcf, const XmlNode *node, MjcfActuator *a)
{
    mjcf_start_gains(MJCF_VELOCITY, a);
    robot_not_negative(mjcf->file, node, "kv", &a->gain);
    a->gain_type = MJCF_GAIN_FIXED;
    a->bias_type = MJCF_BIAS_AFFINE;
    a->bias[0] = a->bias[1] = 0.0;
    a->bias[2] = -a->gain;
}

static void mjcf_apply_torque(MjcfActuator *a)
{
    a->gain_type = MJCF_GAIN_FIXED;
    a->bias_type = MJCF_BIAS_NONE;
    a->gain = 1.0;
    memset(a->bias, 0, sizeof a->bias);
}

bool mjcf_apply_actuator(Mjcf *mjcf, const XmlNode *node, MjcfActuator *a)
{
    RobotFile *file = mjcf->file;
    int kind = 0;
    while (kind < 4 && strcmp(mjcf_actuators[kind].name, node->name) != 0) kind++;
    if (kind == 4) return false;
    robot_check_attributes(file, node, &mjcf_actuators[kind]);
    robot_numbers(file, node, "gear", 1, 6, a->gear);
    robot_numbers(file, node, "ctrlrange", 2, 2, a->command);
    robot_numbers(file, node, "forcerange", 2, 2, a->force);
    robot_not_negative(file, node, "inheritrange", &a->inherit);
    robot_integer(file, node, "group", &a->group);
    a->command_limited =
        (MjcfSwitch)robot_choice(file, node, "ctrllimited", "false|true|auto", (int)a->command_limited);
    a->force_limited = (MjcfSwitch)robot_choice(file, node, "forcelimited", "false|true|auto", (int)a->force_limited);
    if (kind == 0) mjcf_apply_general(mjcf, node, a);
    if (kind == 1) mjcf_apply_torque(a);
    if (kind == 2) mjcf_apply_position(mjcf, node, a);
    if (kind == 3) mjcf_apply_velocity(mjcf, node, a);
    a->shortcut = (MjcfShortcut)kind;
    return true;
}

// ---- tendons and equalities -----------------------------------------------------------------------------------------

void mjcf_apply_tendon(Mjcf *mjcf, const XmlNode *node, MjcfTendon *tendon)
{
    static const RobotElement element = {
        .name = "tendon",
        .read = "name class limited range stiffness damping frictionloss armature",
        .show = "group user rgba material width springlength margin solreflimit solimplimit solreffriction "
                "solimpfriction actuatorfrclimited actuatorfrcrange",
    };
    RobotFile *file = mjcf->file;
    robot_check_attributes(file, node, &element);
    robot_numbers(file, node, "range", 2, 2, tendon->range);
    tendon->limited = (MjcfSwitch)robot_choice(file, node, "limited", "false|true|auto", (int)tendon->limited);
    mjcf_read_linear(mjcf, node, "stiffness", &tendon->stiffness);
    mjcf_read_linear(mjcf, node, "damping", &tendon->damping);
    robot_not_negative(file, node, "frictionloss", &tendon->friction);
    robot_not_negative(file, node, "armature", &tendon->armature);
}

void mjcf_apply_equality(Mjcf *mjcf, const XmlNode *node, bool *inactive)
{
    const int active = robot_choice(mjcf->file, node, "active", "false|true", -1);
    if (active >= 0) *inactive = active == 0;
}

// Where a mesh stands in its file is of no use without these.
void mjcf_apply_mesh(Mjcf *mjcf, const XmlNode *node, double scale[3])
{
    robot_numbers(mjcf->file, node, "scale", 3, 3, scale);
}

// ---- classes --------------------------------------------------------------------------------------------------------

static const MjcfClass mjcf_first_class = {
    .name = "main",
    .geom = {.type = MJCF_SPHERE,
             .frame = {.q = {0.0, 0.0, 0.0, 1.0}},
             .friction = {1.0, 0.005, 0.0001},
             .mass = NAN,
             .density = 1000.0,
             .contype = 1,
             .conaffinity = 1,
             .condim = 3},
    .joint = {.kind = ROBOT_HINGE, .axis = {0.0, 0.0, 1.0}, .limited = MJCF_AUTO, .effort_limited = MJCF_AUTO},
    .tendon = {.limited = MJCF_AUTO},
    .actuator = {.gain = 1.0, .gear = {1.0}, .command_limited = MJCF_AUTO, .force_limited = MJCF_AUTO},
    .scale = {1.0, 1.0, 1.0},
    .pair = {.condim = 3, .friction = {1.0, 1.0, 0.005, 0.0001, 0.0001}},
};

void mjcf_start_classes(Mjcf *mjcf)
{
    mjcf->classes = ARENA_NEW(mjcf->file->arena, MjcfClass, MJCF_CLASSES_MAX);
    mjcf->classes[mjcf->n_classes++] = mjcf_first_class;
}

static int mjcf_find_class(const Mjcf *mjcf, const char *name)
{
    for (int i = 0; i < mjcf->n_classes; i++) {
        if (strcmp(mjcf->classes[i].name, name) == 0) return i;
    }
    return -1;
}

int mjcf_class(Mjcf *mjcf, const XmlNode *node, const char *attribute, int otherwise)
{
    const char *name = robot_text_of(node, attribute);
    if (name == NULL) return otherwise;
    const int found = mjcf_find_class(mjcf, name);
    if (found >= 0) return found;
    const char **names = ARENA_NEW(mjcf->file->arena, const char *, mjcf->n_classes);
    for (int i = 0; i < mjcf->n_classes; i++) names[i] = mjcf->classes[i].name;
    const char *near = nearest_name(name, names, mjcf->n_classes);
    robot_error(mjcf->file, node, attribute, "there is no default class '%.64s'%s%s%s", name,
                near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
    return otherwise;
}

// The class of a <default>, -1 after an error.
static int mjcf_add_class(Mjcf *mjcf, const XmlNode *node, int parent)
{
    static const RobotElement element = {.name = "default", .read = "class"};
    RobotFile *file = mjcf->file;
    const char *name = robot_text_of(node, "class");
    robot_check_attributes(file, node, &element);
    if (parent < 0) {
        if (name != NULL) mjcf->classes[0].name = name;
        return 0;
    }
    if (name == NULL) {
        robot_error(file, node, NULL, "a default inside another needs a class: <default class=\"leg\">");
        return -1;
    }
    if (mjcf_find_class(mjcf, name) >= 0) robot_error(file, node, "class", "two classes are called '%.64s'", name);
    if (mjcf->n_classes == MJCF_CLASSES_MAX) {
        robot_error(file, node, NULL, "more than %d default classes", MJCF_CLASSES_MAX);
        return -1;
    }
    mjcf->classes[mjcf->n_classes] = mjcf->classes[parent];
    mjcf->classes[mjcf->n_classes].name = name;
    mjcf->classes[mjcf->n_classes].actuator.outer = &mjcf->classes[parent].actuator;
    return mjcf->n_classes++;
}

static void mjcf_read_default_element(Mjcf *mjcf, const XmlNode *node, MjcfClass *class)
{
    static const char *const known[] = {
        "geom", "joint",  "general", "motor", "position", "velocity", "default", "mesh",   "texture",  "material",
        "site", "camera", "light",   "pair",  "equality", "tendon",   "muscle",  "damper", "cylinder", "intvelocity"};
    static const char shows[] = "texture material site camera light";
    static const char others[] = "muscle damper cylinder intvelocity adhesion dcmotor orientation pid plugin";
    static const char *const places[] = {"pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "fromto"};
    for (size_t i = 0; strcmp(node->name, "site") == 0 && i < sizeof places / sizeof *places; i++)
        mjcf->sites_lost |= robot_text_of(node, places[i]) != NULL;
    if (strcmp(node->name, "geom") == 0)
        mjcf_apply_geom(mjcf, node, &class->geom);
    else if (strcmp(node->name, "joint") == 0)
        mjcf_apply_joint(mjcf, node, &class->joint);
    else if (strcmp(node->name, "tendon") == 0)
        mjcf_apply_tendon(mjcf, node, &class->tendon);
    else if (strcmp(node->name, "equality") == 0)
        mjcf_apply_equality(mjcf, node, &class->inactive);
    else if (strcmp(node->name, "mesh") == 0)
        mjcf_apply_mesh(mjcf, node, class->scale);
    else if (strcmp(node->name, "pair") == 0)
        mjcf_apply_pair(mjcf, node, &class->pair);
    else if (robot_word_in(others, node->name)) // such actuators are refused where they stand
        class->actuator.gain_type = MJCF_GAIN_OTHER;
    else if (!robot_word_in(shows, node->name) && !mjcf_apply_actuator(mjcf, node, &class->actuator))
        robot_unknown_element(mjcf->file, node, known, sizeof known / sizeof *known);
}

// First the elements, then the classes inside, which begin with what they set.
void mjcf_read_default(Mjcf *mjcf, const XmlNode *node, int parent)
{
    const int class = mjcf_add_class(mjcf, node, parent);
    if (class < 0) return;
    for (const XmlNode *child = node->first; child != NULL; child = child->next) {
        if (strcmp(child->name, "default") != 0) mjcf_read_default_element(mjcf, child, &mjcf->classes[class]);
    }
    for (const XmlNode *child = node->first; child != NULL; child = child->next) {
        if (strcmp(child->name, "default") == 0) mjcf_read_default(mjcf, child, class);
    }
}
