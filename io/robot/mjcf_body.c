// The bodies of MJCF: frames, inertia (given, or of the geoms), joints, geoms.
#include "../text.h"
#include "mjcf.h"

#include <math.h>
#include <string.h>

// Where an element stands.
typedef struct MjcfScope {
    int body;         // -1: the world
    int class;        // for elements that name none
    RobotFrame frame; // of the enclosing <frame>s, in the body
    double pos[3];    // of the body, as written
    const XmlNode *inertial;
} MjcfScope;

static void mjcf_read_children(Mjcf *mjcf, const XmlNode *node, MjcfScope *scope);

// ---- joints ---------------------------------------------------------------------------------------------------------

// Of the elements in a body: joints, also those in frames.
static int mjcf_count_joints(const XmlNode *node)
{
    int count = 0;
    for (const XmlNode *child = node->first; child != NULL; child = child->next) {
        if (strcmp(child->name, "frame") == 0) count += mjcf_count_joints(child);
        count += strcmp(child->name, "joint") == 0 || strcmp(child->name, "freejoint") == 0;
    }
    return count;
}

bool mjcf_limited(Mjcf *mjcf, const XmlNode *node, const char *attribute, MjcfSwitch limited, const double range[2])
{
    const bool given = range[0] != 0.0 || range[1] != 0.0;
    if (limited == MJCF_FALSE || (limited == MJCF_AUTO && !given)) return false;
    if (limited == MJCF_AUTO && !mjcf->compiler.autolimits) {
        robot_error(mjcf->file, node, attribute,
                    "%s of %s has no effect without limited=\"true\", because autolimits is false", attribute,
                    robot_label(mjcf->file, node));
        return false;
    }
    if (range[0] < range[1]) return true;
    robot_error(mjcf->file, node, attribute, "%s of %s is %s to %s, expected a lower and a greater number", attribute,
                robot_label(mjcf->file, node), text_number(range[0]).text, text_number(range[1]).text);
    return false;
}

void mjcf_clamp_efforts(Mjcf *mjcf, const char *attribute, const double range[2], double scale, double ends[2])
{
    double low = range[0], high = range[1];
    const bool even = fabs(low + high) <= 1e-9 * fabs(high);
    if (!even && robot_ignores(mjcf->file, attribute)) {
        robot_note(mjcf->file, true, attribute, 1);
        high = fmax(fabs(low), fabs(high));
        low = -high;
    }
    if (even) low = -high;
    const double one = scale * low, other = scale * high, least = fmin(one, other), most = fmax(one, other);
    for (int k = 0; k < 2; k++) ends[k] = ends[k] < least ? least : ends[k] > most ? most : ends[k];
}

void mjcf_set_efforts(const double ends[2], RobotMotor *motor)
{
    motor->uneven = ends[0] != -ends[1];
    motor->effort = motor->uneven ? INFINITY : ends[1];
    motor->least = motor->uneven ? ends[0] : 0.0;
    motor->most = motor->uneven ? ends[1] : 0.0;
}

// A free joint as it is simulated: without stiffness and the like, which defaults may give it.
static void mjcf_check_free(Mjcf *mjcf, const XmlNode *node, const MjcfScope *scope, MjcfJoint *joint)
{
    RobotFile *file = mjcf->file;
    if (robot_intermediates(file, scope->body) > 0)
        robot_error(file, node, NULL, "a free joint must be the only joint of its body");
    else if (file->bodies[scope->body].parent >= 0)
        robot_error(file, node, NULL, "a free joint is only possible in a body of <worldbody>");
    if (joint->stiffness == 0.0 && joint->damping == 0.0 && joint->armature == 0.0 && joint->friction == 0.0) return;
    joint->stiffness = joint->damping = joint->armature = joint->friction = 0.0;
    if (robot_ignores(file, "freejoint"))
        robot_note(file, true, "freejoint", 1);
    else
        robot_error(
            file, node, NULL,
            "a free joint with stiffness, damping, armature or frictionloss is not simulated; use <freejoint/>, "
            "to which the defaults of joints do not apply, or add freejoint to ignore");
}

static void mjcf_joint_limits(Mjcf *mjcf, const XmlNode *node, const MjcfJoint *from, RobotJoint *joint)
{
    const bool turns = joint->kind != ROBOT_SLIDE;
    joint->limited = joint->kind != ROBOT_FREE && mjcf_limited(mjcf, node, "range", from->limited, from->range);
    if (joint->limited) {
        joint->low = turns ? mjcf_angle(mjcf, from->range[0]) : from->range[0];
        joint->high = turns ? mjcf_angle(mjcf, from->range[1]) : from->range[1];
        if (joint->kind != ROBOT_BALL) joint->low += from->margin;
        joint->high -= from->margin;
        if (joint->low >= joint->high)
            robot_error(mjcf->file, node, "margin", "margin %s of %s leaves nothing of its range",
                        text_number(from->margin).text, robot_label(mjcf->file, node));
    }
    if (joint->limited && joint->kind == ROBOT_BALL && from->range[0] != 0.0)
        robot_error(mjcf->file, node, "range", "the range of a ball joint must begin with 0");
    if (mjcf_limited(mjcf, node, "actuatorfrcrange", from->effort_limited, from->effort)) {
        double ends[2] = {-INFINITY, INFINITY};
        mjcf_clamp_efforts(mjcf, "actuatorfrcrange", from->effort, 1.0, ends);
        mjcf_set_efforts(ends, &joint->motor);
    }
}

static void mjcf_joint_numbers(Mjcf *mjcf, const MjcfJoint *from, RobotJoint *joint)
{
    const bool hinge = joint->kind == ROBOT_HINGE;
    joint->reference = hinge ? mjcf_angle(mjcf, from->reference) : from->reference;
    joint->rest = hinge ? mjcf_angle(mjcf, from->rest) : from->rest;
    joint->stiffness = from->stiffness;
    joint->damping = from->damping;
    joint->friction = from->friction;
    joint->armature = from->armature;
    if (joint->kind == ROBOT_FREE || joint->kind == ROBOT_BALL) joint->reference = joint->rest = 0.0;
}

// The next joint of the body; NULL after an error.
static RobotJoint *mjcf_new_joint(Mjcf *mjcf, const XmlNode *node, const MjcfScope *scope)
{
    RobotFile *file = mjcf->file;
    if (scope->body < 0) {
        robot_error(file, node, NULL, "the world has no joint; put it into a <body>");
        return NULL;
    }
    RobotFileBody *body = &file->bodies[scope->body - robot_intermediates(file, scope->body)];
    while (body->joint_node != body->node) body++;
    body->joint_node = node;
    body->joint.name = robot_text_of(node, "name");
    return &body->joint;
}

static void mjcf_read_joint(Mjcf *mjcf, const XmlNode *node, const MjcfScope *scope)
{
    MjcfJoint from = mjcf->classes[mjcf_class(mjcf, node, "class", scope->class)].joint;
    mjcf_apply_joint(mjcf, node, &from);
    RobotJoint *joint = mjcf_new_joint(mjcf, node, scope);
    if (joint == NULL) return;
    joint->kind = from.kind;
    robot_transform(&scope->frame, from.pos, joint->anchor);
    robot_rotate(scope->frame.q, from.axis, joint->axis);
    if (joint->kind == ROBOT_FREE) memset(joint->anchor, 0, sizeof joint->anchor);
    const bool along = joint->kind == ROBOT_HINGE || joint->kind == ROBOT_SLIDE;
    if (!robot_normalize(joint->axis, 3) && along)
        robot_error(mjcf->file, node, "axis", "axis has no direction: its length is 0");
    if (joint->kind == ROBOT_FREE) mjcf_check_free(mjcf, node, scope, &from);
    mjcf_joint_limits(mjcf, node, &from, joint);
    mjcf_joint_numbers(mjcf, &from, joint);
}

static void mjcf_read_freejoint(Mjcf *mjcf, const XmlNode *node, const MjcfScope *scope)
{
    static const RobotElement element = {.name = "freejoint", .read = "name", .show = "group", .refused = "align"};
    MjcfJoint plain = {.kind = ROBOT_FREE};
    robot_check_attributes(mjcf->file, node, &element);
    RobotJoint *joint = mjcf_new_joint(mjcf, node, scope);
    if (joint == NULL) return;
    joint->kind = ROBOT_FREE;
    mjcf_check_free(mjcf, node, scope, &plain);
}

// ---- geoms ----------------------------------------------------------------------------------------------------------

static bool mjcf_is_mesh(const MjcfGeom *geom)
{
    return geom->mesh || geom->type == MJCF_MESH || geom->type == MJCF_HFIELD || geom->type == MJCF_SDF;
}

// From one end to the other: the length is along z, and the second size is half of it (of boxes the third).
static void mjcf_set_ends(Mjcf *mjcf, const XmlNode *node, const MjcfGeom *geom, RobotFrame *frame, double size[3])
{
    double way[3];
    for (int a = 0; a < 3; a++) {
        way[a] = geom->ends[a] - geom->ends[3 + a];
        frame->p[a] = 0.5 * (geom->ends[a] + geom->ends[3 + a]);
    }
    const double half = 0.5 * robot_norm(way, 3);
    const bool block = geom->type == MJCF_BOX || geom->type == MJCF_ELLIPSOID;
    if (geom->type != MJCF_CAPSULE && geom->type != MJCF_CYLINDER && !block)
        robot_error(mjcf->file, node, "fromto", "fromto is for capsules, cylinders, boxes and ellipsoids");
    if (!robot_normalize(way, 3)) {
        robot_error(mjcf->file, node, "fromto", "the two ends of fromto are the same point");
        return;
    }
    robot_turn_z(way, frame->q);
    size[1] = block ? size[0] : half;
    if (block) size[2] = half;
}

static const struct {
    RobotShapeKind kind;
    int sizes;
} mjcf_kinds[] = {
    [MJCF_PLANE] = {ROBOT_PLANE, 0},
    [MJCF_HFIELD] = {ROBOT_BOX, 0},
    [MJCF_SPHERE] = {ROBOT_SPHERE, 1},
    [MJCF_CAPSULE] = {ROBOT_CAPSULE, 2},
    [MJCF_ELLIPSOID] = {ROBOT_ELLIPSOID, 3},
    [MJCF_CYLINDER] = {ROBOT_CYLINDER, 2},
    [MJCF_BOX] = {ROBOT_BOX, 3},
    [MJCF_MESH] = {ROBOT_BOX, 0},
    [MJCF_SDF] = {ROBOT_BOX, 0},
};

static void mjcf_set_shape(Mjcf *mjcf, const XmlNode *node, const MjcfGeom *geom, RobotFileShape *shape)
{
    RobotFrame frame = geom->frame;
    double size[3];
    memcpy(size, geom->size, sizeof size);
    if (geom->turned) memcpy(frame.q, geom->turn, sizeof frame.q);
    if (geom->from_to && shape->unknown == NULL) mjcf_set_ends(mjcf, node, geom, &frame, size);
    for (int i = 0; i < mjcf_kinds[geom->type].sizes && shape->unknown == NULL; i++) {
        if (size[i] > 0.0) continue;
        robot_error(mjcf->file, node, "size", "%s needs %d size%s greater than 0%s", robot_label(mjcf->file, node),
                    mjcf_kinds[geom->type].sizes, mjcf_kinds[geom->type].sizes == 1 ? "" : "s",
                    geom->from_to ? " (with fromto: one)" : "");
        break;
    }
    for (int i = 0; i < 3; i++) shape->shape.size[i] = i < mjcf_kinds[geom->type].sizes ? size[i] : 0.0;
    memcpy(shape->shape.p, frame.p, sizeof frame.p);
    memcpy(shape->shape.q, frame.q, sizeof frame.q);
}

static void mjcf_read_geom(Mjcf *mjcf, const XmlNode *node, const MjcfScope *scope)
{
    const int errors = diagnostics_errors(mjcf->file->diagnostics);
    MjcfGeom geom = mjcf->classes[mjcf_class(mjcf, node, "class", scope->class)].geom;
    mjcf_apply_geom(mjcf, node, &geom);
    RobotFileShape *shape = robot_add_shape(mjcf->file, node, scope->body);
    if (shape == NULL) return;
    const char *mesh = geom.type == MJCF_HFIELD ? "hfield" : geom.type == MJCF_SDF ? "sdf" : "mesh";
    shape->unknown = mjcf_is_mesh(&geom) ? mesh : NULL;
    shape->field = geom.type == MJCF_HFIELD ? geom.field : geom.of_mesh;
    shape->fitted = geom.type != MJCF_MESH;
    shape->shape.kind = mjcf_kinds[geom.type].kind;
    shape->contype = geom.contype;
    shape->conaffinity = geom.conaffinity;
    shape->condim = geom.condim;
    shape->priority = geom.priority;
    shape->margin = geom.margin;
    memcpy(shape->friction, geom.friction, sizeof shape->friction);
    shape->group = geom.group;
    shape->mass = geom.mass;
    shape->density = geom.density;
    shape->shell = geom.shell;
    if (diagnostics_errors(mjcf->file->diagnostics) == errors) mjcf_set_shape(mjcf, node, &geom, shape);
    RobotFrame own;
    memcpy(own.p, shape->shape.p, sizeof own.p);
    memcpy(own.q, shape->shape.q, sizeof own.q);
    const RobotFrame frame = robot_frame_product(&scope->frame, &own);
    memcpy(shape->shape.p, frame.p, sizeof frame.p);
    memcpy(shape->shape.q, frame.q, sizeof frame.q);
}

// ---- inertia --------------------------------------------------------------------------------------------------------

// Is the body fixed to the world? `base` may change that.
static bool mjcf_stands(const RobotFile *file, int body)
{
    while (body >= 0 && file->bodies[body].joint.kind == ROBOT_WELD) body = file->bodies[body].parent;
    return body < 0 && file->options->base != ROBOT_BASE_FLOATING;
}

static bool mjcf_mesh_mass(Mjcf *mjcf, const RobotFileShape *shape, RobotMass *mass)
{
    double volume = 0.0;
    RobotFrame frame;
    RobotMass one;
    if (!robot_mesh_solid(mjcf->file, shape, &volume, &one)) return false;
    if (shape->shell)
        robot_error(mjcf->file, shape->node, "shellinertia", "of a mesh, write inertia=\"shell\" in its <mesh>");
    const double kilograms = isnan(shape->mass) ? shape->density * volume : shape->mass;
    one.mass = kilograms;
    for (int k = 0; k < 6; k++) one.inertia[k] *= kilograms;
    memcpy(frame.p, shape->shape.p, sizeof frame.p);
    memcpy(frame.q, shape->shape.q, sizeof frame.q);
    *mass = robot_mass_in(&frame, &one);
    return true;
}

// The mass of one geom in its body's frame. False: it has none.
static bool mjcf_geom_mass(Mjcf *mjcf, const RobotFileShape *shape, RobotMass *mass)
{
    double volume = 0.0, moments[3];
    const bool nothing = shape->mass == 0.0 || (isnan(shape->mass) && shape->density == 0.0);
    if (nothing || shape->group < mjcf->compiler.groups[0] || shape->group > mjcf->compiler.groups[1]) return false;
    const bool mesh = shape->unknown != NULL && strcmp(shape->unknown, "mesh") == 0 && !shape->fitted;
    if (mesh && mjcf->file->options->meshes != ROBOT_MESHES_REFUSE && !robot_ignores(mjcf->file, "mesh"))
        return mjcf_mesh_mass(mjcf, shape, mass);
    if (shape->unknown != NULL) {
        const bool ground = strcmp(shape->unknown, "hfield") == 0 && mjcf_stands(mjcf->file, shape->shape.body);
        if (ground || robot_ignores(mjcf->file, shape->unknown)) return false;
        robot_error(mjcf->file, shape->node, NULL,
                    "%s gives its body inertia and is a %s, which is not read; give the body <inertial>%s, or add %s "
                    "to ignore: then it weighs nothing",
                    robot_label(mjcf->file, shape->node), shape->unknown, mesh ? ", set meshes: hull" : "",
                    shape->unknown);
        return false;
    }
    if (!robot_solid(&shape->shape, &volume, moments)) return false;
    if (shape->shell) robot_skip(mjcf->file, shape->node, "shellinertia", "shellinertia");
    *mass = (RobotMass){.mass = isnan(shape->mass) ? shape->density * volume : shape->mass};
    for (int i = 0; i < 3; i++) moments[i] *= mass->mass;
    memcpy(mass->centre, shape->shape.p, sizeof mass->centre);
    robot_inertia_turned(shape->shape.q, moments, mass->inertia);
    return true;
}

static void mjcf_mass_of_geoms(Mjcf *mjcf, int body)
{
    RobotFile *file = mjcf->file;
    RobotMass total = {0}, one;
    bool any = false;
    for (int i = 0; i < file->n_shapes; i++) {
        if (file->shapes[i].shape.body != body || !mjcf_geom_mass(mjcf, &file->shapes[i], &one)) continue;
        total = robot_mass_sum(&total, &one);
        any = true;
    }
    if (any) file->bodies[body].mass = total;
}

static void mjcf_read_inertial(Mjcf *mjcf, const XmlNode *node, MjcfScope *scope)
{
    static const RobotElement element = {.name = "inertial",
                                         .read = "pos quat axisangle xyaxes zaxis euler mass diaginertia fullinertia"};
    RobotFile *file = mjcf->file;
    double v[6] = {0.0};
    robot_check_attributes(file, node, &element);
    if (scope->body < 0 || scope->inertial != NULL) {
        robot_error(file, node, NULL, scope->body < 0 ? "the world has no <inertial>" : "this is a second <inertial>");
        return;
    }
    RobotFileBody *body = &file->bodies[scope->body];
    const RobotFrame frame = mjcf_frame(mjcf, node);
    scope->inertial = node;
    body->weighed = true;
    memcpy(body->mass.centre, frame.p, sizeof frame.p);
    if (xml_attribute(node, "pos") == NULL || xml_attribute(node, "mass") == NULL)
        robot_error(file, node, NULL, "<inertial> needs pos and mass");
    robot_not_negative(file, node, "mass", &body->mass.mass);
    const bool full = xml_attribute(node, "fullinertia") != NULL;
    if (full == (xml_attribute(node, "diaginertia") != NULL)) {
        robot_error(file, node, NULL, "<inertial> needs one of diaginertia and fullinertia");
    } else if (full) {
        robot_numbers(file, node, "fullinertia", 6, 6, body->mass.inertia);
        if (memcmp(frame.q, robot_frame_none().q, sizeof frame.q) != 0)
            robot_error(file, node, "fullinertia", "fullinertia and an orientation can't both be given");
    } else if (robot_numbers(file, node, "diaginertia", 3, 3, v) == 3) {
        robot_inertia_turned(frame.q, v, body->mass.inertia);
    }
}

// Raises the principal moments to the least that <compiler> allows, or makes them all equal.
static void mjcf_correct_inertia(const Mjcf *mjcf, RobotMass *mass)
{
    const MjcfCompiler *compiler = &mjcf->compiler;
    double moments[3], axes[9];
    if (mass->mass < compiler->bound_mass) mass->mass = compiler->bound_mass;
    if (compiler->bound_moment == 0.0 && !compiler->balance) return;
    if (!robot_principal(mass->inertia, moments, axes)) {
        for (int i = 0; i < 3; i++) mass->inertia[i] = compiler->bound_moment;
        return;
    }
    bool raised = false;
    for (int i = 0; i < 3; i++) {
        raised |= moments[i] < compiler->bound_moment;
        moments[i] = moments[i] < compiler->bound_moment ? compiler->bound_moment : moments[i];
    }
    if (compiler->balance && moments[0] + moments[1] < moments[2]) {
        raised = true;
        moments[0] = moments[1] = moments[2] = (moments[0] + moments[1] + moments[2]) / 3.0;
    }
    if (!raised) return;
    double q[4];
    const double third[3] = {axes[1] * axes[5] - axes[2] * axes[4], axes[2] * axes[3] - axes[0] * axes[5],
                             axes[0] * axes[4] - axes[1] * axes[3]};
    robot_quaternion_of_axes(axes, axes + 3, third, q);
    robot_inertia_turned(q, moments, mass->inertia);
}

static void mjcf_finish_body(Mjcf *mjcf, const MjcfScope *scope)
{
    const MjcfInertia from = mjcf->compiler.from_geoms;
    RobotFileBody *body = &mjcf->file->bodies[scope->body];
    if (from == MJCF_INERTIA_YES || (from == MJCF_INERTIA_AUTO && !body->weighed))
        mjcf_mass_of_geoms(mjcf, scope->body);
    // MuJoCo puts the mass that boundmass gives to a body without any at the body's pos, in the body's own frame.
    if (!body->weighed && body->mass.mass == 0.0) memcpy(body->mass.centre, scope->pos, sizeof scope->pos);
    mjcf_correct_inertia(mjcf, &body->mass);
}

// ---- bodies ---------------------------------------------------------------------------------------------------------

// A body, behind an intermediate without mass for each of its joints but the last: joints of one body act one after the
// other, the first next to the parent. NULL: too many bodies.
static RobotFileBody *mjcf_add_body(Mjcf *mjcf, const XmlNode *node, const RobotFrame *frame, const MjcfScope *outer)
{
    const int intermediates = mjcf_count_joints(node) - 1;
    RobotFileBody *body = robot_add_body(mjcf->file, node, outer->body);
    if (body != NULL) body->frame = robot_frame_product(&outer->frame, frame);
    for (int i = 0; i < intermediates && body != NULL; i++) {
        body->intermediate = true;
        body->name = NULL;
        body = robot_add_body(mjcf->file, node, robot_index(mjcf->file, body));
    }
    return body;
}

static void mjcf_read_body(Mjcf *mjcf, const XmlNode *node, const MjcfScope *outer)
{
    static const RobotElement element = {.name = "body",
                                         .read = "name childclass pos quat axisangle xyaxes zaxis euler",
                                         .show = "user sleep simple fuse",
                                         .refused = "mocap gravcomp"};
    robot_check_attributes(mjcf->file, node, &element);
    const RobotFrame frame = mjcf_frame(mjcf, node);
    RobotFileBody *body = mjcf_add_body(mjcf, node, &frame, outer);
    if (body == NULL) return;
    MjcfScope scope = {.body = robot_index(mjcf->file, body),
                       .class = mjcf_class(mjcf, node, "childclass", outer->class),
                       .frame = robot_frame_none(),
                       .pos = {frame.p[0], frame.p[1], frame.p[2]}};
    mjcf_read_children(mjcf, node, &scope);
    mjcf_finish_body(mjcf, &scope);
}

static void mjcf_read_in_frame(Mjcf *mjcf, const XmlNode *node, const MjcfScope *outer)
{
    static const RobotElement element = {.name = "frame",
                                         .read = "name childclass pos quat axisangle xyaxes zaxis euler"};
    robot_check_attributes(mjcf->file, node, &element);
    MjcfScope scope = *outer;
    const RobotFrame frame = mjcf_frame(mjcf, node);
    scope.frame = robot_frame_product(&outer->frame, &frame);
    scope.class = mjcf_class(mjcf, node, "childclass", outer->class);
    for (const XmlNode *child = node->first; child != NULL; child = child->next) {
        if (strcmp(child->name, "inertial") == 0)
            robot_error(mjcf->file, child, NULL, "<inertial> can't stand in a <frame>");
    }
    mjcf_read_children(mjcf, node, &scope);
}

// A site changes no motion. Those of moving bodies can have columns (`frames`).
static void mjcf_read_site(Mjcf *mjcf, const XmlNode *node, const MjcfScope *scope)
{
    robot_note(mjcf->file, false, node->name, 1);
    if (scope->body < 0 || mjcf->sites_lost || robot_text_of(node, "fromto") != NULL) return;
    const RobotFrame own = mjcf_frame(mjcf, node), frame = robot_frame_product(&scope->frame, &own);
    robot_add_site(mjcf->file, node, scope->body, &frame);
}

static void mjcf_read_child(Mjcf *mjcf, const XmlNode *node, MjcfScope *scope)
{
    static const char *const known[] = {"body",   "frame", "inertial", "joint",     "freejoint", "geom",   "site",
                                        "camera", "light", "attach",   "composite", "flexcomp",  "plugin", "replicate"};
    const int n_known = sizeof known / sizeof *known, n_shown = 9;
    int kind = 0;
    while (kind < n_known && strcmp(known[kind], node->name) != 0) kind++;
    if (mjcf->file->n_bodies == ROBOT_BODIES_MAX && kind == 0 && robot_failed(mjcf->file)) return;
    switch (kind) {
    case 0: mjcf_read_body(mjcf, node, scope); break;
    case 1: mjcf_read_in_frame(mjcf, node, scope); break;
    case 2: mjcf_read_inertial(mjcf, node, scope); break;
    case 3: mjcf_read_joint(mjcf, node, scope); break;
    case 4: mjcf_read_freejoint(mjcf, node, scope); break;
    case 5: mjcf_read_geom(mjcf, node, scope); break;
    case 6: mjcf_read_site(mjcf, node, scope); break;
    default:
        if (kind == n_known)
            robot_unknown_element(mjcf->file, node, known, n_known);
        else if (kind < n_shown)
            robot_note(mjcf->file, false, node->name, 1);
        else
            robot_skip(mjcf->file, node, NULL, node->name);
    }
}

static void mjcf_read_children(Mjcf *mjcf, const XmlNode *node, MjcfScope *scope)
{
    for (const XmlNode *child = node->first; child != NULL; child = child->next) mjcf_read_child(mjcf, child, scope);
}

void mjcf_read_world(Mjcf *mjcf, const XmlNode *node)
{
    static const RobotElement element = {.name = "worldbody", .read = "name childclass"};
    MjcfScope scope = {.body = -1, .class = mjcf_class(mjcf, node, "childclass", 0), .frame = robot_frame_none()};
    robot_check_attributes(mjcf->file, node, &element);
    mjcf_read_children(mjcf, node, &scope);
}
