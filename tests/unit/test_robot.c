// Robots from MJCF and URDF: orientations, defaults, inertia of shapes, fused bodies, motors, keyframes, includes.
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

typedef struct RobotCase {
    Arena arena;
    Diagnostics *diagnostics;
    Source source;
    RobotOptions options;
    const Robot *robot;
} RobotCase;

static void robot_case_start(RobotCase *c)
{
    *c = (RobotCase){0};
    CHECK_OK(arena_create_growing(&c->arena, (size_t)1 << 30, "test"));
    c->diagnostics = diagnostics_new(&c->arena);
}

static void robot_case_read(RobotCase *c, const char *text)
{
    c->source = (Source){.file = "robot.xml", .text = text};
    c->robot = robot_read(&c->source, &c->options, &c->arena, c->diagnostics);
    if (c->robot == NULL) diagnostics_print(c->diagnostics, stdout, false);
    CHECK(c->robot != NULL);
}

static void robot_case(RobotCase *c, const char *text)
{
    robot_case_start(c);
    robot_case_read(c, text);
}

static void robot_case_end(RobotCase *c) { arena_destroy(&c->arena); }

static void robot_refused(RobotCase *c, const char *text, const char *words)
{
    char *printed = NULL;
    size_t size = 0;
    c->source = (Source){.file = "robot.xml", .text = text};
    CHECK(robot_read(&c->source, &c->options, &c->arena, c->diagnostics) == NULL);
    FILE *out = open_memstream(&printed, &size);
    diagnostics_print(c->diagnostics, out, false);
    fclose(out);
    if (strstr(printed, words) == NULL) CHECK_TEXT(words, printed);
    free(printed);
}

static void check_vector(const double *expected, const double *got, int n, double tolerance)
{
    for (int i = 0; i < n; i++) CHECK_NEAR(expected[i], got[i], tolerance);
}

// Up to sign.
static void check_turn(const double *expected, const double *q)
{
    double dot = 0.0;
    for (int i = 0; i < 4; i++) dot += expected[i] * q[i];
    for (int i = 0; i < 4; i++) CHECK_NEAR(expected[i], dot < 0.0 ? -q[i] : q[i], 2e-15);
}

// ---- orientations ---------------------------------------------------------------------------------------------------

static void orientation_is(const char *compiler, const char *form, const double *expected)
{
    RobotCase c;
    char text[600];
    snprintf(text, sizeof text,
             "<mujoco><compiler %s/><worldbody><body %s><freejoint/><geom size='1'/></body></worldbody></mujoco>",
             compiler, form);
    robot_case(&c, text);
    if (c.robot != NULL) check_turn(expected, c.robot->bodies[0].q);
    robot_case_end(&c);
}

TEST(robot_orientations_agree)
{
    const double half = sqrt(0.5), x_90[] = {half, 0, 0, half}, y_90[] = {0, half, 0, half}, x_180[] = {1, 0, 0, 0};
    orientation_is("", "quat='2 2 0 0'", x_90);
    orientation_is("", "axisangle='3 0 0 90'", x_90);
    orientation_is("angle='radian'", "axisangle='3 0 0 1.5707963267948966'", x_90);
    orientation_is("", "xyaxes='2 0 0 1 0 1'", x_90);
    orientation_is("", "zaxis='0 -2 0'", x_90);
    orientation_is("", "euler='90 0 0'", x_90);
    orientation_is("", "zaxis='5 0 0'", y_90);
    orientation_is("", "zaxis='0 0 -1'", x_180);
    orientation_is("", "xyaxes='1 0 0 0 -1 0'", x_180);
    // z first, then the new x: in capitals the same turns in the other order
    const double both[] = {0.5, 0.5, 0.5, 0.5};
    orientation_is("eulerseq='zxy'", "euler='90 90 0'", both);
    orientation_is("eulerseq='XZY'", "euler='90 90 0'", both);
    orientation_is("", "xyaxes='0 1 0 0 0 1'", both);
    orientation_is("", "axisangle='1 1 1 120'", both);
}

// A quaternion beside another form in the defaults is not ambiguous where both are the same turn.
TEST(robot_default_orientation_may_agree)
{
    RobotCase c;
    robot_case(&c, "<mujoco><default><geom euler='0 90 0'/></default><worldbody><body><freejoint/>"
                   "<geom size='1' quat='-1 0 -1 0'/></body></worldbody></mujoco>");
    check_turn((const double[]){0, sqrt(0.5), 0, sqrt(0.5)}, c.robot->shapes[0].q);
    robot_case_end(&c);
}

// ---- inertia --------------------------------------------------------------------------------------------------------

static void geom_weighs(const char *geom, double mass, const double moments[3])
{
    RobotCase c;
    char text[600];
    snprintf(text, sizeof text, "<mujoco><worldbody><body><freejoint/><geom %s/></body></worldbody></mujoco>", geom);
    robot_case(&c, text);
    if (c.robot != NULL) {
        CHECK_NEAR(mass, c.robot->bodies[0].mass, 1e-12 * mass);
        check_vector(moments, c.robot->bodies[0].inertia, 3, 1e-12 * mass);
    }
    robot_case_end(&c);
}

TEST(robot_inertia_of_shapes)
{
    const double ball = 4.0 / 3.0 * pi * 0.001 * 1000.0, i = 0.4 * ball * 0.01;
    geom_weighs("size='.1'", ball, (const double[]){i, i, i});
    geom_weighs("size='.1' mass='3'", 3.0, (const double[]){0.012, 0.012, 0.012});
    geom_weighs("type='box' size='.1 .2 .3' density='2000'", 96.0, (const double[]){4.16, 3.2, 1.6});
    geom_weighs("type='box' size='.1 .2 .3' density='2000' euler='0 90 0'", 96.0, (const double[]){1.6, 3.2, 4.16});
    const double rod = pi * 0.01 * 0.4 * 1000.0;
    geom_weighs("type='cylinder' size='.1 .2'", rod,
                (const double[]){rod * (0.03 + 0.16) / 12, rod * (0.03 + 0.16) / 12, rod * 0.005});
    const double egg = 4.0 / 3.0 * pi * 0.006 * 1000.0;
    geom_weighs("type='ellipsoid' size='.1 .2 .3'", egg,
                (const double[]){egg * 0.13 / 5, egg * 0.1 / 5, egg * 0.05 / 5});
    // a capsule is a cylinder and a ball in two halves, each 3/8 r beyond the cylinder's end
    const double across = rod * (0.03 + 0.16) / 12 + i + ball * (0.04 + 0.2 * 0.1 * 0.75);
    geom_weighs("type='capsule' size='.1 .2'", rod + ball, (const double[]){across, across, rod * 0.005 + i});
    geom_weighs("type='capsule' size='.1' fromto='-.2 0 0 .2 0 0'", rod + ball,
                (const double[]){rod * 0.005 + i, across, across});
}

TEST(robot_fuses_bodies_that_do_not_move)
{
    // four point-like balls at the corners of a square, in two levels of welded bodies, about a common centre
    RobotCase c;
    robot_case(&c, "<mujoco><worldbody><body name='a' pos='0 0 1'><freejoint/><geom size='.1' mass='1' pos='1 1 0'/>"
                   "<body pos='1 0 0' euler='0 0 90'><geom name='g' size='.1' mass='1' pos='-1 2 0'/>"
                   "<body pos='0 1 0' euler='0 0 90'><geom size='.1' mass='2' pos='1 1 0'/>"
                   "<body name='b' pos='3 0 0'><joint axis='0 1 0'/><geom size='.1'/></body></body></body>"
                   "</body></worldbody></mujoco>");
    const Robot *robot = c.robot;
    CHECK_INTEGER(2, robot->n_bodies);
    // places: (1, 1), (-1, -1) and (-1, -1)
    check_vector((const double[]){-0.5, -0.5, 0}, robot->bodies[0].centre, 3, 1e-15);
    CHECK_NEAR(4.0, robot->bodies[0].mass, 1e-15);
    const double own = 4 * 0.4 * 0.01, spread = 1 * 2.25 + 3 * 0.25;
    check_vector((const double[]){spread + own, spread + own, 2 * spread + own, -spread, 0, 0},
                 robot->bodies[0].inertia, 6, 1e-14);
    check_vector((const double[]){-3, 0, 0}, robot->bodies[1].p, 3, 4e-15);
    check_turn((const double[]){0, 0, 1, 0}, robot->bodies[1].q);
    CHECK_INTEGER(0, robot->bodies[1].parent);
    CHECK_INTEGER(0, robot->shapes[1].body);
    CHECK_TEXT("g", robot->shapes[1].name);
    check_vector((const double[]){-1, -1, 0}, robot->shapes[1].p, 3, 1e-15);
    robot_case_end(&c);
}

TEST(robot_with_a_fixed_base_hangs_on_the_world)
{
    RobotCase c;
    robot_case(&c, "<mujoco><worldbody><body name='stand' pos='0 0 2' euler='0 0 90'><geom type='box' size='1 1 1'/>"
                   "<body name='arm' pos='1 0 0'><joint name='shoulder' pos='0 0 .5' axis='2 0 0'/>"
                   "<geom size='.1'/></body><body pos='2 0 0'><joint type='slide'/><geom size='.1'/></body>"
                   "</body></worldbody></mujoco>");
    const RobotBody *arm = &c.robot->bodies[0];
    CHECK(c.robot->n_bodies == 2 && arm->parent == -1 && c.robot->n_coordinates == 2);
    check_vector((const double[]){0, 1, 2}, arm->p, 3, 1e-15);
    check_vector((const double[]){1, 0, 0}, arm->joint.axis, 3, 0.0);
    check_vector((const double[]){0, 0, 0.5}, arm->joint.anchor, 3, 0.0);
    CHECK_INTEGER(-1, c.robot->shapes[0].body);
    CHECK_TEXT("body_1", c.robot->bodies[1].name);
    CHECK_TEXT("body_1", c.robot->bodies[1].joint.name);
    robot_case_end(&c);
}

TEST(robot_corrects_inertia_as_asked)
{
    RobotCase c;
    robot_case(&c,
               "<mujoco><compiler balanceinertia='true' boundmass='.5' boundinertia='.01' settotalmass='6'/><worldbody>"
               "<body><freejoint/><inertial pos='0 0 0' mass='.1' diaginertia='.1 .1 .4'/></body>"
               "<body><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='.001 .02 .02' euler='0 0 90'/></body>"
               "</worldbody></mujoco>");
    CHECK_NEAR(2.0, c.robot->bodies[0].mass, 1e-15);
    check_vector((const double[]){0.8, 0.8, 0.8, 0, 0, 0}, c.robot->bodies[0].inertia, 6, 1e-15);
    check_vector((const double[]){0.08, 0.04, 0.08, 0, 0, 0}, c.robot->bodies[1].inertia, 6, 1e-15);
    robot_case_end(&c);
}

// As MuJoCo has it: at the body's pos, as written, in the body's own frame.
TEST(robot_puts_the_least_mass_of_a_body_without_any_at_its_pos)
{
    RobotCase c;
    robot_case(&c, "<mujoco><compiler boundmass='.5' boundinertia='.01'/><worldbody><body><freejoint/><geom size='.1'/>"
                   "<frame pos='1 0 0' euler='0 0 90'><body pos='.1 .2 .3'><joint/></body></frame>"
                   "<body pos='.4 0 0'><joint/><geom size='.1' mass='0' pos='0 1 0'/></body>"
                   "<body pos='.5 0 0'><joint/><inertial pos='0 0 .6' mass='0' diaginertia='0 0 0'/></body>"
                   "</body></worldbody></mujoco>");
    for (int i = 1; i < 4; i++) CHECK_NEAR(0.5, c.robot->bodies[i].mass, 0.0);
    check_vector((const double[]){0.1, 0.2, 0.3}, c.robot->bodies[1].centre, 3, 0.0);
    check_vector((const double[]){0.4, 0, 0}, c.robot->bodies[2].centre, 3, 0.0);
    check_vector((const double[]){0, 0, 0.6}, c.robot->bodies[3].centre, 3, 0.0);
    check_vector((const double[]){0.01, 0.01, 0.01, 0, 0, 0}, c.robot->bodies[1].inertia, 6, 1e-15);
    robot_case_end(&c);
}

// ---- defaults, joints, motors ---------------------------------------------------------------------------------------

static const char defaults_text[] =
    "<mujoco><default><joint damping='1' armature='2'/><geom size='.1' contype='0'/>"
    "<default class='leg'><joint damping='3' range='-90 90' springref='90' stiffness='1'/>"
    "<default class='foot'><joint type='slide' frictionloss='5' range='-1 2'/></default></default></default>"
    "<worldbody><body><freejoint/><geom/><body childclass='leg'><joint name='a' ref='180'/><geom/>"
    "<body><joint name='b' class='foot' armature='0'/><geom conaffinity='0'/>"
    "<frame childclass='foot' pos='0 1 0' euler='90 0 0'><body pos='0 0 1'><joint name='c' class='main'/><geom/></body>"
    "</frame></body></body></body></worldbody></mujoco>";

TEST(robot_defaults_are_inherited)
{
    RobotCase c;
    robot_case(&c, defaults_text);
    const RobotJoint *a = &c.robot->bodies[1].joint, *b = &c.robot->bodies[2].joint, *d = &c.robot->bodies[3].joint;
    CHECK(a->kind == ROBOT_HINGE && a->limited && a->damping == 3 && a->armature == 2 && a->friction == 0);
    CHECK_NEAR(-pi / 2, a->low, 1e-15);
    CHECK_NEAR(pi / 2, a->rest, 1e-15);
    CHECK_NEAR(pi, a->reference, 1e-15);
    CHECK(b->kind == ROBOT_SLIDE && b->damping == 3 && b->armature == 0 && b->friction == 5 && b->stiffness == 1);
    CHECK(b->low == -1 && b->high == 2 && b->rest == 90); // a slide's are m
    CHECK(d->kind == ROBOT_HINGE && !d->limited && d->damping == 1 && d->friction == 0);
    check_vector((const double[]){0, 0, 0}, c.robot->bodies[3].p, 3, 1e-15);
    CHECK(c.robot->shapes[1].collides && !c.robot->shapes[2].collides);
    robot_case_end(&c);
}

// A class has one set of gains for all shortcuts: another one hides them, and then those of the class around count.
TEST(robot_shortcuts_start_from_gains_of_their_own_kind)
{
    static const struct {
        const char *defaults, *motor;
        double kp, kd;
    } cases[] = {
        {"<position kp='10' kv='3'/><default class='c'><motor ctrlrange='-1 1'/></default>", "position", 10, 3},
        {"<position kp='10' kv='3'/><default class='c'><velocity kv='2'/></default>", "position", 10, 3},
        {"<position kp='10' kv='3'/><default class='c'><velocity kv='2'/></default>", "velocity", 0, 2},
        {"<position kp='10'/><default class='c'><position kp='5'/><motor/></default>", "position", 10, 0},
        {"<position kp='10'/><default class='c'><motor/><position kv='2'/></default>", "position", 10, 2},
        {"<position kp='10' kv='3'/><motor/><default class='c'/>", "position", 1, 0},
        {"<position kp='10' kv='3'/><default class='c'><motor/></default>", "velocity", 0, 1},
        {"<general gainprm='4' biastype='affine' biasprm='0 -4 0'/><default class='c'><motor/></default>", "velocity",
         0, 4},
        {"<position kp='10' kv='3'/><default class='c'><general gainprm='6'/></default>", "position", 6, 3},
    };
    for (int i = 0; i < 9; i++) {
        RobotCase c;
        char text[1024];
        snprintf(text, sizeof text,
                 "<mujoco><default>%s</default><worldbody><body><joint name='j'/><geom size='.1'/></body></worldbody>"
                 "<actuator><%s class='c' joint='j'/></actuator></mujoco>",
                 cases[i].defaults, cases[i].motor);
        robot_case(&c, text);
        CHECK_NEAR(cases[i].kp, c.robot->bodies[0].joint.motor.kp, 0.0);
        CHECK_NEAR(cases[i].kd, c.robot->bodies[0].joint.motor.kd, 0.0);
        robot_case_end(&c);
    }
}

static void check_ends(const Robot *robot, int body, double least, double most)
{
    double ends[2];
    robot_motor_ends(&robot->bodies[body].joint.motor, ends);
    CHECK_NEAR(least, ends[0], 1e-15);
    CHECK_NEAR(most, ends[1], 1e-15);
}

// The force of an actuator is clamped to one range after the other, that of its joint last.
TEST(robot_motors_may_be_stronger_one_way)
{
    RobotCase c;
    robot_case(&c, "<mujoco><worldbody><body><joint name='a' actuatorfrcrange='-3 5'/><geom size='.1'/>"
                   "<body pos='1 0 0'><joint name='b'/><geom size='.1'/></body>"
                   "<body pos='2 0 0'><joint name='c' actuatorfrcrange='-1 1'/><geom size='.1'/></body>"
                   "<body pos='3 0 0'><joint name='d' actuatorfrcrange='-4 4'/><geom size='.1'/></body>"
                   "<body pos='4 0 0'><joint name='e' actuatorfrcrange='-4 9'/><geom size='.1'/></body></body>"
                   "</worldbody><actuator><motor joint='a' gear='-2' ctrlrange='-1 7' forcerange='-10 .5'/>"
                   "<position joint='b' kp='9' gear='2' forcerange='-1 2'/><motor joint='c' ctrlrange='2 5'/>"
                   "<motor joint='d' ctrlrange='-9 9' forcerange='-5 4'/></actuator></mujoco>");
    check_ends(c.robot, 0, -1, 2); // -2 (-1 to 7) by control, of it -2 (-1 to 0.5) by force
    check_ends(c.robot, 1, -2, 4);
    check_ends(c.robot, 2, 1, 1); // always more than the joint takes
    check_ends(c.robot, 3, -4, 4);
    check_ends(c.robot, 4, -4, 9);
    CHECK(c.robot->bodies[0].joint.motor.uneven && c.robot->bodies[2].joint.motor.uneven);
    CHECK(!c.robot->bodies[3].joint.motor.uneven && c.robot->bodies[3].joint.motor.effort == 4);
    CHECK(!c.robot->bodies[4].joint.motor.driven);
    robot_case_end(&c);
}

TEST(robot_motors_have_gains_and_limits)
{
    RobotCase c;
    robot_case(&c,
               "<mujoco><worldbody><body><freejoint/><geom size='.1'/>"
               "<body pos='1 0 0'><joint name='a' actuatorfrcrange='-7 7' range='-90 90'/><geom size='.1'/></body>"
               "<body pos='2 0 0'><joint name='b'/><geom size='.1'/></body>"
               "<body pos='3 0 0'><joint name='c' axis='0 1 0' armature='.5'/><geom size='.1' pos='0 0 1' mass='2'/>"
               "</body></body></worldbody><actuator><position joint='a' kp='10' ctrlrange='-1 2' gear='-2'/>"
               "<velocity joint='a' kv='3'/><motor joint='b' gear='50' ctrlrange='-2 2' forcerange='-1 1'/>"
               "<position joint='c' kp='16' dampratio='.5' forcerange='-9 9'/></actuator></mujoco>");
    const RobotMotor *a = &c.robot->bodies[1].joint.motor, *b = &c.robot->bodies[2].joint.motor;
    const RobotMotor *d = &c.robot->bodies[3].joint.motor;
    CHECK(a->driven && a->kp == 40 && a->kd == 3 && a->low == -1 && a->high == 0.5 && a->effort == 7);
    CHECK(b->driven && b->kp == 0 && b->kd == 0 && b->effort == 50 && b->low == -INFINITY);
    CHECK(d->kp == 16 && d->effort == 9);
    CHECK_NEAR(5.737317870464277, d->kd, 1e-13); // 2 ratio sqrt(kp/(M^-1)_jj), of MuJoCo's M
    CHECK(!c.robot->bodies[0].joint.motor.driven);
    robot_case_end(&c);
}

// Two bodies in line: a slide with armature feels m + armature - m^2/(M + m) while what carries it is free, and all of
// m + armature where that is fixed.
TEST(robot_damping_ratio_of_a_slide)
{
    const char *text = "<mujoco><worldbody><body name='cart'>%s<inertial pos='0 0 0' mass='3' diaginertia='1 1 1'/>"
                       "<body pos='2 0 0'><joint name='s' type='slide' axis='1 0 0' armature='.25'/>"
                       "<inertial pos='1 0 0' mass='1' diaginertia='1 1 1'/></body></body></worldbody><actuator>"
                       "<position joint='s' kp='9' dampratio='.5' gear='2'/></actuator></mujoco>";
    const char *const carried[] = {"<freejoint/>", "<joint type='slide' axis='1 0 0' armature='1e20'/>"};
    const double felt[] = {1.25 - 1.0 / 4.0, 1.25};
    for (int k = 0; k < 2; k++) {
        RobotCase c;
        robot_case_start(&c);
        robot_case_read(&c, arena_format(&c.arena, text, carried[k]));
        CHECK_NEAR(sqrt(4 * 9 * felt[k]), c.robot->bodies[1].joint.motor.kd, 1e-13);
        robot_case_end(&c);
    }
}

// A hinge and a slide on a free body, two motors with a ratio on one joint: numbers of MuJoCo 3.17 and 4.0.0.
TEST(robot_damping_ratios_of_several_motors)
{
    RobotCase c;
    robot_case(
        &c, "<mujoco><worldbody><body><freejoint/><inertial pos='.1 0 0' mass='2' diaginertia='.2 .3 .25'/>"
            "<body pos='1 0 0'><joint name='a' axis='0 1 0' armature='.1'/>"
            "<inertial pos='0 .2 .1' mass='1' diaginertia='.02 .03 .025'/>"
            "<body pos='0 .5 0'><joint name='c' axis='1 0 0' armature='.05' type='slide'/>"
            "<inertial pos='0 0 -.3' mass='.7' diaginertia='.02 .03 .025'/></body></body></body></worldbody><actuator>"
            "<position joint='a' kp='30' dampratio='.7' gear='2'/><position joint='a' kp='10' dampratio='.3'/>"
            "<position joint='c' kp='20' dampratio='1'/></actuator></mujoco>");
    CHECK_NEAR(130.0, c.robot->bodies[1].joint.motor.kp, 0.0);
    CHECK_NEAR(4 * 1.5635537288894974 + 0.773758428228681, c.robot->bodies[1].joint.motor.kd, 1e-12);
    CHECK_NEAR(5.831134067763359, c.robot->bodies[2].joint.motor.kd, 1e-12);
    robot_case_end(&c);
}

TEST(robot_keyframes_have_their_quaternions_turned)
{
    RobotCase c;
    const char *text =
        "<mujoco><worldbody><body pos='0 0 3'><freejoint/><geom size='.1'/>"
        "<body><joint type='ball'/><geom size='.1'/></body><body><joint ref='90'/><geom size='.1'/></body>"
        "</body></worldbody><keyframe><key name='k' qpos='1 2 3 0 0 0 0 0 0 5 0 7' ctrl='1'/><key/>"
        "</keyframe></mujoco>";
    robot_case(&c, text);
    CHECK(c.robot->n_keyframes == 2 && c.robot->n_coordinates == 12);
    check_vector((const double[]){1, 2, 3, 0, 0, 0, 1, 0, 1, 0, 0, 7}, c.robot->keyframes[0].coordinates, 12, 0.0);
    check_vector((const double[]){0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1, pi / 2}, c.robot->keyframes[1].coordinates, 12,
                 1e-15);
    CHECK_TEXT("key_1", c.robot->keyframes[1].name);
    robot_case_end(&c);
    robot_case_start(&c);
    c.options.base = ROBOT_BASE_FIXED;
    robot_case_read(&c, text);
    CHECK(c.robot->n_coordinates == 5 && c.robot->n_bodies == 2 && c.robot->bodies[0].parent == -1);
    check_vector((const double[]){0, 1, 0, 0, 7}, c.robot->keyframes[0].coordinates, 5, 0.0);
    robot_case_end(&c);
}

TEST(robot_contacts_follow_the_planes)
{
    RobotCase c;
    robot_case(
        &c, "<mujoco><worldbody><geom type='plane' size='1 1 1' contype='4' conaffinity='0'/><body><freejoint/>"
            "<geom size='.1'/><geom size='.1' contype='0' conaffinity='4' friction='.7'/></body></worldbody></mujoco>");
    CHECK(!c.robot->shapes[1].collides && c.robot->shapes[2].collides);
    CHECK_NEAR(1.0, c.robot->shapes[2].friction, 0.0); // the plane's is greater
    CHECK(c.robot->shapes[0].kind == ROBOT_PLANE && c.robot->shapes[0].body == -1);
    robot_case_end(&c);
    robot_case(&c, "<mujoco><default><geom contype='0' conaffinity='0'/></default><worldbody>"
                   "<geom name='floor' type='plane' size='1 1 1'/><body><freejoint/><geom name='a' size='.1'/>"
                   "<geom name='b' size='.1'/><geom name='c' size='.1'/></body></worldbody><contact>"
                   "<pair geom1='a' geom2='floor' condim='3' friction='.6 .6'/><pair geom1='floor' geom2='b'/>"
                   "<pair geom1='b' geom2='c'/></contact></mujoco>");
    CHECK(c.robot->shapes[1].collides && c.robot->shapes[2].collides && !c.robot->shapes[3].collides);
    CHECK_INTEGER(1, c.robot->n_notes);
    CHECK(c.robot->notes[0].skipped);
    CHECK_TEXT("pair of bodies (1)", c.robot->notes[0].what);
    robot_case_end(&c);
    robot_case(&c, "<mujoco><option><flag contact='disable' energy='enable'/></option><worldbody><geom size='1'/>"
                   "<body><freejoint/><geom size='.1'/><geom mesh='m' mass='0'/></body></worldbody></mujoco>");
    CHECK(!c.robot->shapes[1].collides);
    robot_case_end(&c);
}

// MuJoCo has the velocity of a free joint before its angular velocity, which is in the axes of the body: here its x
// axis is y of the world. Of joints that the base took or gave away nothing is left.
TEST(robot_keyframes_have_rates)
{
    RobotCase c;
    static const char text[] =
        "<mujoco><compiler angle='degree'/><worldbody><body><freejoint/><geom size='1'/><body><joint type='ball'/>"
        "<geom size='1'/></body><body/></body><body><joint/><joint type='slide'/><geom size='1'/></body></worldbody>"
        "<keyframe><key qpos='0 0 0 1 0 0 1 1 0 0 0 2 3' qvel='1 2 3 4 5 6 7 8 9 10 11'/><key/></keyframe></mujoco>";
    robot_case(&c, text);
    CHECK(c.robot->n_bodies == 4 && c.robot->n_keyframes == 2 && c.robot->keyframes[1].rates == NULL);
    const double *rates = c.robot->keyframes[0].rates;
    check_vector((const double[]){-5, 4, 6, 1, 2, 3}, rates, 6, 1e-14);
    check_vector((const double[]){7, 8, 9, 0, 0, 0}, rates + 6, 6, 0.0);
    check_vector((const double[]){10, 0, 0, 0, 0, 0, 11, 0, 0, 0, 0, 0}, rates + 12, 12, 0.0);
    robot_case_end(&c);
    robot_case_start(&c);
    c.options.base = ROBOT_BASE_FIXED;
    robot_case_read(&c, text);
    CHECK(c.robot->n_bodies == 3);
    check_vector((const double[]){7, 8, 9, 0, 0, 0}, c.robot->keyframes[0].rates, 6, 0.0);
    check_vector((const double[]){10, 0}, c.robot->keyframes[0].rates + 6, 2, 0.0);
    robot_case_end(&c);
}

// What is left of an affine motor without its gains is a constant effort, and so are controls of torques in a keyframe;
// controls of positions are commands.
TEST(robot_motors_have_a_constant)
{
    RobotCase c;
    robot_case(&c, "<mujoco><default><default class='off'><general group='7'/></default></default><worldbody>"
                   "<body><joint name='a'/><geom size='.1'/>"
                   "<body pos='1 0 0'><joint name='b'/><geom size='.1'/></body>"
                   "<body pos='2 0 0'><joint name='c'/><geom size='.1'/></body>"
                   "<body pos='3 0 0'><joint name='d'/><geom size='.1'/></body></body></worldbody>"
                   "<option actuatorgroupdisable='0 7'/><actuator>"
                   "<general joint='a' gainprm='50' biastype='affine' biasprm='6 -40 -2' gear='-2' ctrlrange='-1 2'"
                   " group='1'/><general joint='b' biastype='affine' biasprm='3' gear='5' group='2'/>"
                   "<velocity joint='b' kv='4' group='2'/><motor joint='c' gear='10' ctrlrange='-1 1' group='2'/>"
                   "<position joint='c' kp='9'/><general class='off' joint='d'/></actuator>"
                   "<keyframe><key qpos='1 2 3 4' ctrl='1 2 3 4 5 6'/><key qpos='1 2 3 4'/></keyframe></mujoco>");
    const RobotMotor *a = &c.robot->bodies[0].joint.motor, *b = &c.robot->bodies[1].joint.motor;
    const RobotMotor *t = &c.robot->bodies[2].joint.motor;
    CHECK(a->kp == 160 && a->kd == 8 && a->bias == -12);
    CHECK_NEAR(-1.25, a->low, 1e-15); // 50 * 2 / 40 / -2
    CHECK_NEAR(0.625, a->high, 1e-15);
    CHECK(b->driven && b->kp == 0 && b->kd == 4 && b->bias == 15);
    CHECK(t->driven && t->kp == 0 && t->effort == 10);
    CHECK(!c.robot->bodies[3].joint.motor.driven);
    const RobotKeyframe *key = &c.robot->keyframes[0], *bare = &c.robot->keyframes[1];
    CHECK_NEAR(-2.0 * 50 * 1 / 160, key->commands[0], 1e-15);
    CHECK(isnan(key->commands[1]) && isnan(key->commands[2]) && isnan(bare->commands[0]));
    check_vector((const double[]){0, 5 * 2 + 4 * 3, 10 * 1, 0}, key->efforts, 4, 1e-14); // 4 is over the motor's 1
    check_vector((const double[]){0, 0, 0, 0}, bare->efforts, 4, 0.0);
    robot_case_end(&c);
}

// As MuJoCo does, where a range's end is reached by the margin earlier.
TEST(robot_margins_narrow_ranges)
{
    RobotCase c;
    robot_case(&c, "<mujoco><compiler angle='degree'/><default><joint margin='.1'/></default><worldbody><body>"
                   "<joint range='-90 90'/><geom size='.1'/><body><joint type='slide' range='-1 2' margin='.25'/>"
                   "<geom size='.1'/><body><joint type='ball' range='0 90'/><geom size='.1'/></body></body></body>"
                   "</worldbody></mujoco>");
    CHECK_NEAR(0.1 - pi / 2, c.robot->bodies[0].joint.low, 1e-15);
    CHECK_NEAR(pi / 2 - 0.1, c.robot->bodies[0].joint.high, 1e-15);
    CHECK(c.robot->bodies[1].joint.low == -0.75 && c.robot->bodies[1].joint.high == 1.75);
    CHECK(c.robot->bodies[2].joint.low == 0.0);
    CHECK_NEAR(pi / 2 - 0.1, c.robot->bodies[2].joint.high, 1e-15);
    robot_case_end(&c);
    robot_case_start(&c);
    robot_refused(
        &c, "<mujoco><worldbody><body><joint range='-1 1' margin='.1'/><geom size='1'/></body></worldbody></mujoco>",
        "margin 0.1 of joint leaves nothing of its range");
    robot_case_end(&c);
}

static void pull_is(const char *defaults, const char *sections, bool accepted)
{
    RobotCase c;
    char text[900];
    snprintf(text, sizeof text,
             "<mujoco><default>%s</default><worldbody><body><joint name='a'/><geom size='.1'/><body><joint name='b'/>"
             "<geom size='.1'/></body></body></worldbody>%s</mujoco>",
             defaults, sections);
    robot_case_start(&c);
    if (accepted)
        robot_case_read(&c, text);
    else
        robot_refused(&c, text, "changes the motion and is not simulated");
    robot_case_end(&c);
}

// Tendons that only measure, and equalities that are not active.
TEST(robot_tendons_and_equalities_may_do_nothing)
{
    static const char fixed[] = "<tendon><fixed name='t'><joint joint='a' coef='1'/></fixed></tendon>";
    pull_is("", fixed, true);
    pull_is("", "<tendon><spatial width='.1' springlength='1' range='0 0'><site site='s'/></spatial></tendon>", true);
    pull_is("<tendon stiffness='0' limited='false' range='-1 1'/>", fixed, true);
    pull_is("<tendon stiffness='3'/>", fixed, false);
    pull_is("<default class='c'><tendon range='0 1'/></default>", "<tendon><fixed class='c'/></tendon>", false);
    pull_is("", "<tendon><fixed damping='1'/></tendon>", false);
    pull_is("", "<tendon><fixed frictionloss='1'/></tendon>", false);
    pull_is("", "<tendon><fixed armature='1'/></tendon>", false);
    pull_is("", "<tendon><spatial limited='true' range='0 1'/></tendon>", false);
    pull_is("", "<tendon><fixed name='t'/></tendon><actuator><motor tendon='t'/></actuator>", false);
    pull_is("", "<tendon><fixed name='t'/></tendon><equality><tendon tendon1='t'/></equality>", false);
    pull_is("", "<equality><joint joint1='a' joint2='b' active='false'/></equality>", true);
    pull_is("<equality active='false'/>", "<equality><joint joint1='a' joint2='b'/></equality>", true);
    pull_is("<equality active='false'/>", "<equality><joint joint1='a' joint2='b' active='true'/></equality>", false);
}

TEST(robot_options_are_read)
{
    RobotCase c;
    robot_case(&c,
               "<mujoco><option timestep='.01' impratio='10'><flag energy='enable' filterparent='disable'/></option>"
               "<worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>");
    CHECK_INTEGER(2, c.robot->n_notes);
    CHECK(!c.robot->notes[0].skipped && c.robot->notes[1].skipped);
    CHECK_TEXT("option impratio, for which friction has slip_speed (1)", c.robot->notes[1].what);
    robot_case_end(&c);
    robot_case_start(&c);
    robot_refused(&c, "<mujoco><option><flag override='enable'/></option></mujoco>",
                  "override of flag changes the motion");
    robot_refused(&c, "<mujoco><option colision='all'/></mujoco>", "unknown attribute 'colision' of <option>");
    robot_refused(&c, "<mujoco><option actuatorgroupdisable='31'/></mujoco>",
                  "31 is not a group of actuators, 0 to 30");
    robot_refused(&c,
                  "<mujoco><keyframe><key ctrl='1'/></keyframe><actuator><motor joint='a'/><motor joint='a'/>"
                  "</actuator><worldbody><body><joint name='a'/><geom size='.1'/></body></worldbody></mujoco>",
                  "ctrl has 1 number, expected 2");
    robot_case_end(&c);
}

// ---- several joints on one body -------------------------------------------------------------------------------------

static const char several_text[] =
    "<mujoco><worldbody><body name='trunk' pos='0 0 3' euler='0 0 90'><joint name='x' type='slide' axis='1 0 0'/>"
    "<joint name='z' type='slide' ref='3'/><geom size='.1' mass='2'/>"
    "<body name='leg' pos='1 0 0'><frame pos='0 .1 0'><joint axis='1 0 0'/></frame><geom size='.1' pos='0 0 -1'/>"
    "<joint name='knee' axis='0 1 0' armature='.5'/><body name='foot' pos='0 0 -2'><geom size='.2'/>"
    "<body name='toe'><joint/><geom size='.1'/></body></body></body><body name='z'><joint/><geom size='.1'/></body>"
    "</body></worldbody>"
    "<actuator><position joint='z' kp='5'/></actuator><keyframe><key qpos='1 2 3 4 5 6'/></keyframe></mujoco>";

// Each joint but the last has a part of its own, without mass, which is called like it.
TEST(robot_several_joints_make_parts)
{
    static const char *const names[] = {"x", "trunk", "body_2", "leg", "toe", "z"};
    static const char *const joints[] = {"x", "z", "body_2", "knee", "toe", "z_"};
    static const int parents[] = {-1, 0, 1, 2, 3, 1};
    RobotCase c;
    robot_case(&c, several_text);
    const RobotBody *bodies = c.robot->bodies;
    CHECK_INTEGER(6, c.robot->n_bodies);
    for (int i = 0; i < 6; i++) {
        CHECK_TEXT(names[i], bodies[i].name);
        CHECK_TEXT(joints[i], bodies[i].joint.name);
        CHECK_INTEGER(parents[i], bodies[i].parent);
        CHECK((bodies[i].mass == 0.0) == (i == 0 || i == 2));
    }
    check_vector((const double[]){0, 0, 3}, bodies[0].p, 3, 0.0);
    check_vector((const double[]){0, 0, 0}, bodies[1].p, 3, 0.0);
    check_turn((const double[]){0, 0, sqrt(0.5), sqrt(0.5)}, bodies[0].q);
    check_turn((const double[]){0, 0, 0, 1}, bodies[1].q);
    check_vector((const double[]){1, 0, 0}, bodies[2].p, 3, 0.0);
    check_vector((const double[]){0, 0.1, 0}, bodies[2].joint.anchor, 3, 0.0);
    CHECK(bodies[0].joint.axis[0] == 1 && bodies[1].joint.reference == 3 && bodies[3].joint.armature == 0.5);
    CHECK(bodies[1].joint.motor.driven && bodies[1].joint.motor.kp == 5 && !bodies[0].joint.motor.driven);
    check_vector((const double[]){1, 2, 3, 4, 5, 6}, c.robot->keyframes[0].coordinates, 6, 0.0);
    CHECK(c.robot->shapes[1].body == 3 && c.robot->shapes[2].body == 3); // the foot is part of the leg
    robot_case_end(&c);
}

// ---- URDF -----------------------------------------------------------------------------------------------------------

#define URDF_INERTIAL(mass)                                                                                            \
    "<inertial><mass value='" mass "'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"

static const char urdf_text[] =
    "<robot name='r'><material name='m'/><link name='base'/>"
    "<link name='leg'>" URDF_INERTIAL(
        "2") "<collision><origin xyz='0 0 -1'/><geometry>"
             "<cylinder radius='.1' length='1'/></geometry></collision>"
             "<visual><geometry><mesh filename='leg.stl'/></geometry></visual></link>"
             "<link name='trunk'>" URDF_INERTIAL("3") "</link><link name='foot'>" URDF_INERTIAL(
                 "1") "</link>"
                      "<joint name='weld' type='fixed'><parent link='base'/><child link='trunk'/>"
                      "<origin xyz='0 0 1' rpy='0 0 1.5707963267948966'/></joint>"
                      "<joint name='hip' type='revolute'><parent link='trunk'/><child link='leg'/>"
                      "<origin xyz='1 0 0' rpy='1.5707963267948966 0 1.5707963267948966'/><axis xyz='0 2 0'/>"
                      "<limit lower='-1' upper='2' effort='30' velocity='9'/>"
                      "<dynamics damping='.5' friction='.25'/></joint>"
                      "<joint name='ankle' type='prismatic'><parent link='leg'/><child link='foot'/>"
                      "<limit lower='0' upper='1' effort='0'/></joint>"
                      "<gazebo><plugin>text</plugin></gazebo><transmission name='t'/></robot>";

TEST(robot_urdf_is_read)
{
    RobotCase c;
    robot_case(&c, urdf_text);
    const RobotBody *base = &c.robot->bodies[0], *leg = &c.robot->bodies[1], *foot = &c.robot->bodies[2];
    CHECK_INTEGER(3, c.robot->n_bodies);
    CHECK(base->joint.kind == ROBOT_FREE && base->mass == 3 && leg->parent == 0 && foot->parent == 1);
    CHECK_TEXT("base", base->name);
    check_vector((const double[]){0, 1, 1}, leg->p, 3, 1e-15);
    // yaw of the weld, then roll before yaw: Rz(90) Rz(90) Rx(90)
    check_turn((const double[]){0, sqrt(0.5), sqrt(0.5), 0}, leg->q);
    const RobotJoint *hip = &leg->joint;
    CHECK(hip->kind == ROBOT_HINGE && hip->limited && hip->low == -1 && hip->high == 2 && hip->damping == 0.5);
    CHECK(hip->friction == 0.25 && hip->axis[1] == 1 && hip->motor.driven && hip->motor.effort == 30);
    CHECK(foot->joint.kind == ROBOT_SLIDE && foot->joint.axis[0] == 1 && foot->joint.motor.effort == INFINITY);
    CHECK(c.robot->n_shapes == 2 && c.robot->shapes[0].size[1] == 0.5 && c.robot->shapes[0].collides);
    CHECK(c.robot->shapes[1].kind == ROBOT_PLANE && c.robot->n_contacts == 1 && c.robot->contacts[0].ground == 1);
    CHECK_INTEGER(6, c.robot->n_notes);
    robot_case_end(&c);
}

// What is not said does not limit, and what other programs read changes nothing.
TEST(robot_urdf_limits_may_be_missing)
{
    RobotCase c;
    robot_case(&c, "<robot name='r'><link name='a'>" URDF_INERTIAL("2") "</link><link name='b'>" URDF_INERTIAL(
                       "2") "</link><joint name='j' type='revolute' dont_collapse='true'><parent link='a'/>"
                            "<child link='b'/><limit effort='3' velocity='1'/></joint><sensor name='s'/>"
                            "<ros2_control name='c'><hardware/></ros2_control></robot>");
    const RobotJoint *joint = &c.robot->bodies[1].joint;
    CHECK(joint->kind == ROBOT_HINGE && !joint->limited && joint->motor.effort == 3);
    CHECK_INTEGER(4, c.robot->n_notes);
    robot_case_end(&c);
}

TEST(robot_urdf_base_is_chosen)
{
    RobotCase c;
    robot_case_start(&c);
    c.options.base = ROBOT_BASE_FIXED;
    robot_case_read(&c, urdf_text);
    CHECK(c.robot->n_bodies == 2 && c.robot->bodies[0].parent == -1);
    check_vector((const double[]){0, 1, 1}, c.robot->bodies[0].p, 3, 1e-15);
    robot_case_end(&c);
    robot_case(
        &c,
        "<robot name='r'><link name='world'/><link name='a'>" URDF_INERTIAL("2") "</link><link name='b'>" URDF_INERTIAL(
            "2") "</link><joint name='j' type='fixed'>"
                 "<parent link='world'/><child link='a'/></joint><joint name='k' type='continuous'><parent link='a'/>"
                 "<child link='b'/></joint></robot>");
    CHECK(c.robot->n_bodies == 1 && c.robot->bodies[0].parent == -1 && c.robot->bodies[0].joint.kind == ROBOT_HINGE);
    robot_case_end(&c);
}

// Friction is said in three ways, which must agree; softness is the spec's; what else a contact does is refused.
TEST(robot_urdf_contacts_are_read)
{
    RobotCase c;
#define URDF_BALL(more) "<collision><geometry><sphere radius='.1'/></geometry>" more "</collision>"
#define URDF_ROBOT(of_a, of_b, more)                                                                                   \
    "<robot name='r'><link name='a'>" URDF_INERTIAL("1") of_a "</link><link name='b'>" URDF_INERTIAL("1") of_b         \
        "</link><joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint>" more "</robot>"
    robot_case(
        &c,
        URDF_ROBOT(URDF_BALL("") "<contact><lateral_friction value='0.25'/><stiffness value='3'/>"
                                 "<rolling_friction value='0.0'/><inertia_scaling value='1'/></contact>" URDF_BALL(""),
                   URDF_BALL("<contact_coefficients mu='0.5' kp='1'/>"),
                   "<gazebo reference='b'><mu1>0.5</mu1><mu2> 5e-1 </mu2><kp>1e6</kp><material>m</material>"
                   "<turnGravityOff>false</turnGravityOff></gazebo><gazebo><plugin/></gazebo>"));
    CHECK_INTEGER(4, c.robot->n_shapes); // and the floor
    for (int i = 0; i < 3; i++) CHECK_NEAR(i < 2 ? 0.25 : 0.5, c.robot->shapes[i].friction, 0.0);
    CHECK_INTEGER(3, c.robot->n_contacts);
    for (int i = 0; i < 3; i++) CHECK_NEAR(i < 2 ? 0.25 : 0.5, c.robot->contacts[i].friction, 0.0);
    robot_case_end(&c);
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {URDF_ROBOT("<contact><rolling_friction value='.1'/></contact>", "", ""),
         "<rolling_friction> changes the motion"},
        {URDF_ROBOT("<contact><restitution value='.1'/></contact>", "", ""), "or add contact to ignore"},
        {URDF_ROBOT("<contact><inertia_scaling value='3'/></contact>", "", ""), "<inertia_scaling> changes the motion"},
        {URDF_ROBOT("<contact><friction value='3'/></contact>", "", ""), "unknown element <friction> in <contact>"},
        {URDF_ROBOT("<contact><lateral_friction/></contact>", "", ""), "<lateral_friction> needs one finite number"},
        {URDF_ROBOT("<contact><lateral_friction value='-1'/></contact>", "", ""),
         "friction of link 'a' is -1, expected at least 0"},
        {URDF_ROBOT("<contact><lateral_friction value='1'/></contact>", "",
                    "<gazebo reference='a'><mu1>2</mu1></gazebo>"),
         "friction of link 'a' is 1 here, and 2 in line 1; delete one of them"},
        {URDF_ROBOT("", "", "<gazebo reference='a'><mu1>2</mu1><mu2>1</mu2></gazebo>"), "<mu2> changes the motion"},
        {URDF_ROBOT("", "", "<gazebo><static>true</static></gazebo>"), "or add gazebo to ignore"},
        {URDF_ROBOT("", "", "<gazebo reference='j'><springStiffness>2</springStiffness></gazebo>"),
         "<springStiffness>"},
        {URDF_ROBOT("", URDF_BALL("<contact_coefficients restitution='1'/>"), ""),
         "restitution of contact_coefficients"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        robot_case_start(&c);
        robot_refused(&c, wrong[i].text, wrong[i].words);
        robot_case_end(&c);
    }
}

static const char planar_urdf[] =
    "<robot name='p'><link name='map'/><link name='along'/><link name='across'/><link name='hull'>" URDF_INERTIAL(
        "3") "</link><joint name='x' type='prismatic'><parent link='map'/><child link='along'/><axis xyz='1 0 0'/>"
             "<limit/></joint><joint name='y' type='prismatic'><parent link='along'/><child link='across'/>"
             "<origin xyz='0 0 1' rpy='0 0 1.5707963267948966'/><axis xyz='%s'/><limit/></joint>"
             "<joint name='yaw' type='continuous'><parent link='across'/><child link='hull'/>"
             "<axis xyz='0 0 1'/></joint>"
             "%s</robot>";

// Links without mass carry the next ones, as long as their joints are independent.
TEST(robot_urdf_links_may_have_no_mass)
{
    RobotCase c;
    robot_case_start(&c);
    c.options.base = ROBOT_BASE_FIXED;
    robot_case_read(&c, arena_format(&c.arena, planar_urdf, "1 0 0", "")); // turned by 90 degrees
    CHECK_INTEGER(3, c.robot->n_bodies);
    CHECK(c.robot->bodies[0].mass == 0.0 && c.robot->bodies[1].mass == 0.0 && c.robot->bodies[2].mass == 3.0);
    c.diagnostics = diagnostics_new(&c.arena);
    robot_refused(&c, arena_format(&c.arena, planar_urdf, "0 1 0", ""),
                  "the joints of link 'hull' are not independent where the file has it");
    c.diagnostics = diagnostics_new(&c.arena);
    robot_refused(&c,
                  arena_format(&c.arena, planar_urdf, "1 0 0",
                               "<link name='tip'/><joint name='t' type='continuous'><parent link='hull'/>"
                               "<child link='tip'/></joint>"),
                  "link 'tip' moves and has no mass: give its link <inertial>");
    c.options.base = ROBOT_BASE_FILE;
    c.diagnostics = diagnostics_new(&c.arena);
    robot_refused(
        &c, arena_format(&c.arena, planar_urdf, "1 0 0", ""),
        "link 'map' moves and has no mass: give its link <inertial>, or set base: fixed, which holds it to the "
        "world");
    robot_case_end(&c);
}

// All that is unknown, in one pass, also beside faults of other kinds; one word of `ignore` takes it all.
TEST(robot_unknown_words_come_at_once)
{
    static const char text[] =
        "<robot name='r' x='1'><a/><link name='a' y='2'><b/></link><link name='c'>" URDF_INERTIAL(
            "1") "</link><joint name='j' type='continuous'><parent link='a'/><child link='c'/><d/></joint></robot>";
    RobotCase c;
    robot_case_start(&c);
    robot_refused(&c, text, "link 'a' moves and has no mass");
    CHECK_INTEGER(6, diagnostics_errors(c.diagnostics));
    c.options.ignore = (const char *const[]){"unknown"};
    c.options.n_ignore = 1;
    c.options.base = ROBOT_BASE_FIXED;
    robot_case_read(&c, text);
    CHECK_INTEGER(5, c.robot->n_notes);
    for (int i = 0; i < 5; i++) CHECK(c.robot->notes[i].skipped);
    robot_case_end(&c);
}

// ---- what is left out, limits ---------------------------------------------------------------------------------------

TEST(robot_notes_say_what_was_left_out)
{
    static const char *const ignore[] = {"equality", "tendon", "mesh", "self_filter"};
    RobotCase c;
    robot_case_start(&c);
    c.options.ignore = ignore;
    c.options.n_ignore = 4;
    robot_case_read(
        &c, "<mujoco><worldbody><light/><body><freejoint/><geom size='.1' solref='1 1'/><geom type='mesh' mesh='a'/>"
            "<self_filter/><body><joint name='j'/><geom size='.1'/></body></body></worldbody>"
            "<tendon><fixed stiffness='1'/></tendon><equality><weld/><joint/></equality>"
            "<actuator><motor tendon='t'/></actuator><sensor><gyro/></sensor></mujoco>");
    static const char *const notes[] = {"0 light (1)",       "0 geom solref (1, first in line 1)",
                                        "1 self_filter (1)", "1 tendon (2)",
                                        "1 equality (2)",    "0 sensor (1)",
                                        "1 mesh (1)"};
    CHECK_INTEGER(7, c.robot->n_notes);
    for (int i = 0; i < 7 && i < c.robot->n_notes; i++)
        CHECK_TEXT(notes[i], arena_format(&c.arena, "%d %s", c.robot->notes[i].skipped, c.robot->notes[i].what));
    robot_case_end(&c);
    robot_case_start(&c);
    c.options.ignore = (const char *const[]){"eqality"};
    c.options.n_ignore = 1;
    robot_refused(&c, defaults_text, "the robot has no 'eqality' to ignore");
    robot_case_end(&c);
}

static char *robot_of_bodies(int count, bool nested)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fputs("<mujoco><worldbody>", out);
    for (int i = 0; i < count; i++)
        fprintf(out, "<body pos='0 0 1'>%s<geom size='.1'/>%s", i == 0 || !nested ? "<freejoint/>" : "<joint/>",
                nested ? "" : "</body>");
    for (int i = 0; nested && i < count; i++) fputs("</body>", out);
    fputs("</worldbody></mujoco>", out);
    fclose(out);
    return text;
}

// Time grows with the text.
TEST(robot_long_elements_are_refused)
{
    RobotCase c;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fputs("<mujoco", out);
    for (int i = 0; i < 257; i++) fprintf(out, " a%d='1'", i);
    fputs("/>", out);
    fclose(out);
    robot_case_start(&c);
    robot_refused(&c, text, "robot.xml:1:1: error: more than 256 attributes of an element");
    robot_case_end(&c);
    free(text);
    out = open_memstream(&text, &size);
    fputs("<robot name='r'>", out);
    for (int i = 0; i < 20000; i++) fprintf(out, "<link name='l%d'/>", i);
    for (int i = 1; i < 20000; i++)
        fprintf(out, "<joint name='j%d' type='fixed'><parent link='l%d'/><child link='x%d'/></joint>", i, i - 1, i);
    fputs("</robot>", out);
    fclose(out);
    robot_case_start(&c);
    robot_refused(&c, text, "more than 1024 links");
    CHECK_INTEGER(1, diagnostics_errors(c.diagnostics));
    robot_case_end(&c);
    free(text);
}

TEST(robot_is_bounded)
{
    RobotCase c;
    char *many = robot_of_bodies(10000, false), *fits = robot_of_bodies(1024, false),
         *deep = robot_of_bodies(250, true);
    robot_case_start(&c);
    robot_refused(&c, many, "robot.xml:1:55316: error: more than 1024 bodies");
    CHECK_INTEGER(1, diagnostics_errors(c.diagnostics));
    robot_case_end(&c);
    robot_case(&c, fits);
    CHECK_INTEGER(1024, c.robot->n_bodies);
    CHECK_TEXT("body_1023", c.robot->bodies[1023].name);
    robot_case_end(&c);
    robot_case(&c, deep);
    CHECK_INTEGER(256, c.robot->n_coordinates);
    robot_case_end(&c);
    free(many), free(fits), free(deep);
}

// `feet` spheres of a body on `steps` boxes of the world; the first two are in `pairs` pairs, and their bodies
// excluded.
static char *robot_on_steps(int feet, int steps, int pairs)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fputs("<mujoco><worldbody><body name='b'><freejoint/>", out);
    for (int i = 0; i < feet; i++) fprintf(out, "<geom name='foot%d' size='.1'/>", i);
    fputs("</body>", out);
    for (int i = 0; i < steps; i++) fprintf(out, "<geom name='step%d' type='box' size='1 1 1'/>", i);
    fputs("</worldbody><contact>", out);
    for (int i = 0; i < pairs; i++) fputs("<pair geom1='foot0' geom2='step0'/>", out);
    for (int i = 0; i < pairs; i++) fputs("<exclude body1='world' body2='b'/>", out);
    fputs("</contact></mujoco>", out);
    fclose(out);
    return text;
}

TEST(robot_contacts_are_bounded)
{
    RobotCase c;
    char *most = robot_on_steps(128, 128, 0), *more = robot_on_steps(129, 128, 0), *pairs = robot_on_steps(2, 2, 4097),
         *fits = robot_on_steps(2, 2, 4096);
    robot_case(&c, most);
    CHECK_INTEGER(16384, c.robot->n_contacts);
    robot_case_end(&c);
    robot_case_start(&c);
    robot_refused(&c, more, "16512 pairs of a shape of the robot and one of the world touch, at most 16384 may");
    robot_case_end(&c);
    robot_case_start(&c);
    robot_refused(&c, pairs, "error: more than 4096 pairs\n");
    robot_case_end(&c);
    robot_case_start(&c);
    robot_refused(&c, pairs, "error: more than 4096 pairs of bodies are excluded");
    robot_case_end(&c);
    robot_case(&c, fits);
    CHECK_INTEGER(1, c.robot->n_contacts); // all are excluded but the pair
    robot_case_end(&c);
    free(most), free(more), free(pairs), free(fits);
}

// What pairs of shapes give: (shape, ground) in order, friction.
TEST(robot_contacts_are_those_of_pairs)
{
    static const struct {
        int shape, ground;
        double friction, margin;
    } expected[] = {{2, 0, 0.5, 0.0}, {2, 1, 0.5, 0.01}, {3, 0, 1.0, 0.0}, {3, 1, 0.7, 0.02}, {4, 1, 0.0, 0.01}};
    RobotCase c;
    robot_case(&c, "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/>"
                   "<body name='table'><geom name='top' type='box' size='1 1 1' margin='.01'/></body>"
                   "<body name='a'><freejoint/><geom size='.1' friction='.5' priority='1'/>"
                   "<geom name='toe' size='.1' condim='1'/></body>"
                   "<body name='b'><freejoint/><geom size='.1' condim='1' priority='2'/></body></worldbody>"
                   "<contact><exclude body1='b' body2='world'/>"
                   "<pair geom1='toe' geom2='top' friction='.7 .7' margin='.02'/></contact></mujoco>");
    CHECK_INTEGER(5, c.robot->n_contacts);
    for (int i = 0; i < 5 && i < c.robot->n_contacts; i++) {
        const RobotContact *got = &c.robot->contacts[i];
        CHECK(got->shape == expected[i].shape && got->ground == expected[i].ground);
        CHECK_NEAR(expected[i].friction, got->friction, 0.0);
        CHECK_NEAR(expected[i].margin, got->margin, 0.0);
    }
    CHECK(!c.robot->shapes[4].collides && c.robot->shapes[2].collides);
    robot_case_end(&c);
}

TEST(robot_names_are_unique)
{
    RobotCase c;
    robot_case(
        &c, "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body><body name='body_0'><joint name='body_0_'/>"
            "<geom size='.1' pos='1 0 0'/></body></worldbody></mujoco>");
    CHECK_TEXT("body_0_", c.robot->bodies[0].name);
    CHECK_TEXT("body_0__", c.robot->bodies[0].joint.name);
    robot_case_end(&c);
}

// ---- includes -------------------------------------------------------------------------------------------------------

static void include_file(const char *folder, const char *name, const char *text)
{
    CHECK_OK(file_write(folder, name, text, strlen(text)));
}

TEST(robot_includes_are_put_in_their_places)
{
    RobotCase c;
    const char *folder = test_folder(), *text = NULL;
    robot_case_start(&c);
    CHECK_OK(folder_make(arena_format(&c.arena, "%s/parts", folder)));
    include_file(folder, "common.xml",
                 "\xEF\xBB\xBF<?xml version='1.0'?>\n<mujoco model='x'><compiler angle='radian'/>"
                 "<!-- c --></mujoco>");
    include_file(folder, "leg.xml",
                 "<mujocoinclude><body><joint name='hip' range='-1 1'/><geom size='.1'/>"
                 "<include file='./parts/foot.xml'/></body></mujocoinclude>");
    include_file(folder, "parts/foot.xml", "<x><body><joint name='ankle'/><geom size='.1' rang='1'/></body></x>");
    static const char main_text[] = "<mujoco model='m'><include file='common.xml'/><worldbody><body><freejoint/>"
                                    "<geom size='.1'/><include file='leg.xml'></include></body></worldbody></mujoco>";
    c.options.folder = folder;
    robot_refused(&c, main_text, "parts/foot.xml:1:47: error: unknown attribute 'rang' of <geom>");
    include_file(folder, "parts/foot.xml", "<x><body><joint name='ankle'/><geom size='.1'/></body></x>");
    c.diagnostics = diagnostics_new(&c.arena);
    robot_case_read(&c, main_text);
    CHECK(robot_text(&c.source, folder, &c.arena, c.diagnostics, &text));
    CHECK_TEXT(
        "<mujoco model='m'><compiler angle='radian'/><!-- c --><worldbody><body><freejoint/><geom size='.1'/>"
        "<body><joint name='hip' range='-1 1'/><geom size='.1'/><body><joint name='ankle'/><geom size='.1'/></body>"
        "</body></body></worldbody></mujoco>",
        text);
    CHECK(c.robot->n_bodies == 3 && c.robot->bodies[1].joint.high == 1.0);
    CHECK_TEXT("m", c.robot->name);
    // the text alone is the same robot, and stays as it is
    const Source whole = {.file = "kept.xml", .text = text};
    const Robot *kept = robot_read(&whole, &(RobotOptions){0}, &c.arena, c.diagnostics);
    const char *again = NULL;
    CHECK(kept != NULL && kept->n_bodies == 3);
    CHECK(robot_text(&whole, NULL, &c.arena, c.diagnostics, &again) && again == text);
    robot_case_end(&c);
}

// From a robot's folder to another one in the spec's, and not out of it.
TEST(robot_includes_lead_to_neighbours)
{
    RobotCase c;
    const char *folder = test_folder();
    robot_case_start(&c);
    CHECK_OK(folder_make(arena_format(&c.arena, "%s/b", folder)));
    include_file(folder, "b/ball.xml", "<a><body><freejoint/><geom size='.1'/></body></a>");
    c.options.folder = folder;
    c.source = (Source){.file = arena_format(&c.arena, "%s/a/c/robot.xml", folder)};
    static const char *const good[] = {"../../b/ball.xml", "./..//../a/../b/ball.xml", "../../b/./ball.xml"};
    static const char *const bad[] = {"../../../b/ball.xml", "../../../../etc/passwd", "/etc/passwd", "../..", ""};
    for (int i = 0; i < 8; i++) {
        c.source.text = arena_format(&c.arena, "<mujoco><worldbody><include file='%s'/></worldbody></mujoco>",
                                     i < 3 ? good[i] : bad[i - 3]);
        c.robot = robot_read(&c.source, &c.options, &c.arena, c.diagnostics);
        CHECK((c.robot != NULL) == (i < 3));
    }
    robot_case_end(&c);
}

TEST(robot_includes_are_bounded)
{
    RobotCase c;
    const char *folder = test_folder();
    robot_case_start(&c);
    c.options.folder = folder;
    char *large = malloc((5 << 20) + 1), *many = NULL;
    memset(large, ' ', 5 << 20);
    memcpy(large, "<a>", 3);
    strcpy(large + (5 << 20) - 4, "</a>");
    include_file(folder, "a.xml", large);
    include_file(folder, "b.xml", large);
    robot_refused(&c, "<mujoco><include file='a.xml'/><include file='b.xml'/></mujoco>",
                  "robot.xml:1:32: error: the included files have more than 8 MiB");
    size_t size = 0;
    FILE *out = open_memstream(&many, &size);
    fputs("<mujoco>", out);
    for (int i = 0; i < 33; i++) {
        include_file(folder, arena_format(&c.arena, "%d.xml", i), "<a/>");
        fprintf(out, "<include file='%d.xml'/>", i);
    }
    fputs("</mujoco>", out);
    fclose(out);
    robot_refused(&c, many, "error: more than 32 files are included");
    // 200 levels in 200
    char *deep = robot_of_bodies(200, true), *from = strstr(deep, "<body"), *to = strstr(deep, "</worldbody>");
    include_file(folder, "deep.xml", arena_format(&c.arena, "<a>%.*s</a>", (int)(to - from), from));
    char *text = malloc(strlen(deep) + 100), *inner = strstr(deep, "</body>");
    sprintf(text, "%.*s<include file='deep.xml'/>%s", (int)(inner - deep), deep, inner);
    robot_refused(&c, text, "error: with the included files more than 256 elements are inside each other");
    robot_case_end(&c);
    free(large), free(many), free(deep), free(text);
}

// ---- height fields --------------------------------------------------------------------------------------------------

static void field_file(const char *folder, const char *name, int rows, int columns, const float *data, int count)
{
    char bytes[8 + 16 * sizeof(float)];
    const int32_t sides[2] = {rows, columns};
    memcpy(bytes, sides, sizeof sides);
    memcpy(bytes + 8, data, (size_t)count * sizeof *data);
    CHECK_OK(file_write(folder, name, bytes, 8 + (size_t)count * sizeof *data));
}

#define FIELD_ROBOT(asset)                                                                                             \
    "<mujoco><compiler meshdir='fields'/><asset>" asset "</asset><worldbody><geom type='hfield' hfield='hill' "        \
    "pos='1 2 3' friction='.4'/><body><freejoint/><geom size='.1' friction='.2'/></body></worldbody></mujoco>"

static void field_check(const RobotCase *c)
{
    static const double heights[] = {0, 0.5, 1, 1.5, 2, 4}; // the first row is at the least y
    const RobotShape *shape = &c->robot->shapes[0];
    CHECK(shape->kind == ROBOT_HFIELD && shape->body == -1 && shape->first == 0);
    CHECK(shape->rows == 2 && shape->columns == 3 && shape->size[0] == 7 && shape->size[1] == 5 && shape->p[2] == 3);
    CHECK_INTEGER(6, c->robot->n_heights);
    for (int i = 0; i < 6; i++) CHECK_NEAR(heights[i], c->robot->heights[i], 0.0);
    CHECK(c->robot->n_contacts == 1 && c->robot->contacts[0].ground == 0 && c->robot->contacts[0].friction == 0.4);
}

// Scaled to [0, 1], times the third size. Lines of elevation begin at the greatest y, those of a file at the least.
TEST(robot_height_fields)
{
    static const float data[] = {1, 2, 3, 4, 5, 9, INFINITY};
    RobotCase c;
    const char *folder = test_folder(), *text = NULL;
    robot_case_start(&c);
    robot_case_read(&c, FIELD_ROBOT("<hfield name='hill' nrow='2' ncol='3' size='7 5 4 1' elevation='4 5 9  1 2 3'/>"));
    field_check(&c);
    CHECK(c.robot->shapes[1].collides && c.robot->shapes[1].friction == 0.4); // on a terrain of the spec too

    CHECK_OK(folder_make(arena_format(&c.arena, "%s/fields", folder)));
    c.options.folder = folder;
    field_file(folder, "fields/hill.bin", 2, 3, data, 6);
    static const char filed[] = FIELD_ROBOT("<!-- a --><hfield file='hill.bin' size='7 5 4 1'/><mesh file='x'/>");
    robot_case_read(&c, filed);
    field_check(&c);
    // the heights are part of the text, which needs no file
    CHECK(robot_text(&c.source, folder, &c.arena, c.diagnostics, &text));
    CHECK_TEXT(
        FIELD_ROBOT("<!-- a --><hfield name=\"hill\" size=\"7 5 4 1\" nrow=\"2\" ncol=\"3\" elevation=\"4 5 9 1 2 3"
                    "\"/><mesh file='x'/>"),
        text);
    c.options.folder = NULL;
    robot_case_read(&c, text);
    field_check(&c);
    c.options.folder = folder;

    field_file(folder, "fields/hill.bin", 2, 3, data, 5);
    robot_refused(&c, filed,
                  "robot.xml:1:62: error: fields/hill.bin is not a height field: it has 28 bytes, expected ");
    field_file(folder, "fields/hill.bin", -2, -3, data, 6);
    robot_refused(&c, filed, "fields/hill.bin is not a height field: it has 32 bytes");
    c.diagnostics = diagnostics_new(&c.arena); // which counts equal errors once
    field_file(folder, "fields/hill.bin", INT32_MAX, INT32_MAX, data, 6);
    robot_refused(&c, filed, "fields/hill.bin is not a height field: it has 32 bytes");
    field_file(folder, "fields/hill.bin", 1, 7, data, 7);
    robot_refused(&c, filed, "error: fields/hill.bin: height 7 is not finite");
    field_file(folder, "fields/hill.bin", 1, 6, data, 6);
    robot_refused(&c, filed, "error: hfield has 1 x 6 heights, expected at least 2 rows of 2");
    CHECK_OK(file_write(folder, "fields/hill.bin", data, 7));
    robot_refused(&c, filed, "fields/hill.bin is not a height field: it has 7 bytes");
    char *large = calloc(1, (1 << 20) + 9);
    CHECK_OK(file_write(folder, "fields/hill.bin", large, (1 << 20) + 9));
    robot_refused(&c, filed, "error: 'fields/hill.bin' has 1048585 bytes, one of at most 262144 heights has 1048584");
    free(large);
    robot_case_end(&c);
}

// One that the text names but nothing touches need not be there; what its text would be is bounded.
TEST(robot_height_fields_are_bounded)
{
    static const float data[4] = {1, 2, 3, 4};
    RobotCase c;
    const char *folder = test_folder(), *text = NULL;
    char *many = NULL;
    size_t size = 0;
    robot_case_start(&c);
    c.options.folder = folder;
    field_file(folder, "a&b.bin", 2, 2, data, 4);
    robot_case_read(&c, "<mujoco><compiler assetdir='x' strippath='true'/><asset><hfield file='c.bin' size='1 1 1 1'/>"
                        "<hfield name='&lt;' file='C:\\y/a&amp;b.bin'/></asset>"
                        "<worldbody><geom type='hfield' hfield='c' contype='0' conaffinity='0'/>"
                        "<body><freejoint/><geom size='.1'/></body></worldbody></mujoco>");
    CHECK(c.robot->n_heights == 0 && c.robot->n_shapes == 1);
    CHECK(robot_text(&c.source, folder, &c.arena, c.diagnostics, &text) && strstr(text, "elevation") == NULL);
    CHECK_OK(folder_make(arena_format(&c.arena, "%s/x", folder)));
    field_file(folder, "x/a&b.bin", 2, 2, data, 4);
    CHECK(robot_text(&c.source, folder, &c.arena, c.diagnostics, &text));
    CHECK(strstr(text, "<hfield name=\"&#60;\" size=\"\" nrow=\"2\" ncol=\"2\" elevation=\"3 4 1 2\"/></asset>") !=
          NULL);
    FILE *out = open_memstream(&many, &size);
    fputs("<mujoco><asset>", out);
    for (int i = 0; i < 33; i++) fputs("<hfield file='x'/>", out);
    fputs("</asset></mujoco>", out);
    fclose(out);
    robot_refused(&c, many, "robot.xml:1:592: error: more than 32 height fields name a file");
    free(many);
    float *wide = malloc((size_t)4 << 18);
    for (int i = 0; i < 1 << 18; i++) wide[i] = -1.17549435e-38f;
    char *bytes = malloc(((size_t)4 << 18) + 8);
    memcpy(bytes, (int32_t[]){512, 512}, 8);
    memcpy(bytes + 8, wide, (size_t)4 << 18);
    CHECK_OK(file_write(folder, "wide.bin", bytes, ((size_t)4 << 18) + 8));
    robot_refused(&c, "<mujoco><asset><hfield file='wide.bin'/><hfield file='wide.bin'/></asset></mujoco>",
                  "robot.xml:1:1: error: with the files that it names the robot has more than 8 MiB");
    free(wide), free(bytes);
    robot_case_end(&c);
}

// ---- a real robot ---------------------------------------------------------------------------------------------------

// Lines of "idx,name,parent,...": name, and numbers by column.
static bool next_row(char **at, char *name, double *number)
{
    if (*at == NULL || **at == '\0') return false;
    char *line = *at, *end = strchr(line, '\n');
    if (end != NULL) *end = '\0';
    *at = end != NULL ? end + 1 : NULL;
    int column = 0;
    for (char *cell = line; cell != NULL; column++) {
        char *comma = strchr(cell, ',');
        if (comma != NULL) *comma = '\0';
        if (column == 1) strcpy(name, cell);
        number[column] = strtod(cell, NULL);
        cell = comma != NULL ? comma + 1 : NULL;
    }
    return column > 26;
}

TEST(robot_g1_has_its_reference_numbers)
{
    static const char *const ignore[] = {"mesh"};
    RobotCase c;
    Bytes xml, csv;
    const char *path = test_shared("data/g1/unitree_mujoco_g1_29dof.xml");
    if (path == NULL) {
        test_skip("the robot G1, which is not in the repository", "../shared/data/g1");
        return;
    }
    robot_case_start(&c);
    CHECK_OK(file_read(path, XML_BYTES_MAX, &c.arena, &xml));
    CHECK_OK(file_read(test_shared("data/g1/g1_bodies.csv"), 1 << 20, &c.arena, &csv));
    c.options.ignore = ignore;
    c.options.n_ignore = 1;
    robot_case_read(&c, (const char *)xml.data);
    char *at = strchr((char *)csv.data, '\n') + 1, name[256];
    double n[64];
    int count = 0;
    for (; next_row(&at, name, n) && count < c.robot->n_bodies; count++) {
        const RobotBody *body = &c.robot->bodies[count];
        const double q[4] = {n[8], n[9], n[10], n[7]},
                     norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        CHECK_TEXT(name, body->name);
        CHECK_INTEGER((int64_t)n[2], body->parent);
        check_vector(&n[4], body->p, 3, 1e-12);
        for (int i = 0; i < 4; i++) CHECK_NEAR(q[i] / norm, body->q[i], 1e-12);
        CHECK_NEAR(n[11], body->mass, 1e-12);
        check_vector(&n[12], body->centre, 3, 1e-12);
        check_vector(&n[22], body->inertia, 6, 1e-12);
    }
    CHECK_INTEGER(30, count);
    CHECK_INTEGER(30, c.robot->n_bodies);
    robot_case_end(&c);
}
