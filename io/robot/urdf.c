// URDF: links, and joints that connect them to a tree. Angles are in rad; roll, pitch and yaw turn about the fixed axes
// x, y, z of the parent. The format: wiki.ros.org/urdf/XML.
#include "../text.h"
#include "robot_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct UrdfLink {
    const XmlNode *node;
    const char *name;
    int joint; // that it hangs on; -1: none
    int first; // of the joints that hang on it, -1: none; then UrdfJoint.next
    int last;
    double friction;            // sliding, of its shapes
    const XmlNode *friction_at; // that says so; NULL: nothing does
} UrdfLink;

typedef struct UrdfJoint {
    const XmlNode *node;
    int parent, child; // links
    int next;
} UrdfJoint;

typedef struct Urdf {
    RobotFile *file;
    UrdfLink *links;         // [ROBOT_BODIES_MAX]
    const UrdfLink **sorted; // [n_links] by name
    UrdfJoint *joints;
    int n_links, n_joints;
    bool broken; // links and joints are no tree
} Urdf;

// ---- elements -------------------------------------------------------------------------------------------------------

static bool urdf_is(const XmlNode *node, const char *name) { return strcmp(node->name, name) == 0; }

static const XmlNode *urdf_child(const XmlNode *node, const char *name)
{
    for (const XmlNode *child = node->first; child != NULL; child = child->next) {
        if (urdf_is(child, name)) return child;
    }
    return NULL;
}

// R = Rz(yaw) Ry(pitch) Rx(roll)
static RobotFrame urdf_origin(RobotFile *file, const XmlNode *node)
{
    static const RobotElement element = {.name = "origin", .read = "xyz rpy"};
    RobotFrame frame = robot_frame_none();
    const XmlNode *origin = urdf_child(node, "origin");
    double angle[3] = {0.0};
    if (origin == NULL) return frame;
    robot_check_attributes(file, origin, &element);
    robot_numbers(file, origin, "xyz", 3, 3, frame.p);
    robot_numbers(file, origin, "rpy", 3, 3, angle);
    for (int a = 0; a < 3; a++) {
        const double axis[3] = {a == 0, a == 1, a == 2};
        double turn[4];
        robot_turn(axis, angle[a], turn);
        robot_quaternion_product(turn, frame.q, frame.q);
    }
    robot_normalize(frame.q, 4);
    return frame;
}

static bool urdf_is_xacro(RobotFile *file, const XmlNode *node)
{
    if (strncmp(node->name, "xacro:", 6) != 0) return false;
    robot_error(file, node, NULL, "<%.64s> is xacro, not URDF; run `xacro robot.urdf.xacro > robot.urdf` first",
                node->name);
    return true;
}

// Children that are neither read nor named in `shown` are errors.
static void urdf_check_children(RobotFile *file, const XmlNode *node, const char *read, const char *shown,
                                const char *refused)
{
    const char *known[16];
    int count = 0;
    static const char *const all[] = {"link", "joint",   "inertial", "visual",   "collision", "origin",
                                      "mass", "inertia", "geometry", "material", "parent",    "child",
                                      "axis", "limit",   "dynamics", "mimic"};
    for (int i = 0; i < 16; i++) {
        if (robot_word_in(read, all[i])) known[count++] = all[i];
    }
    for (const XmlNode *child = node->first; child != NULL; child = child->next) {
        if (robot_word_in(read, child->name)) continue;
        if (robot_word_in(shown, child->name))
            robot_note(file, false, child->name, 1);
        else if (robot_word_in(refused, child->name))
            robot_skip(file, child, NULL, child->name);
        else if (!urdf_is_xacro(file, child))
            robot_unknown_element(file, child, known, count);
    }
}

// ---- contact --------------------------------------------------------------------------------------------------------

// A number as <mu1>0.5</mu1>, or <lateral_friction value="0.5"/>.
static bool urdf_number(RobotFile *file, const XmlNode *node, double *value)
{
    char text[64];
    const size_t size = node->inner_end - node->inner;
    if (xml_attribute(node, "value") != NULL) return robot_number(file, node, "value", value);
    if (size < sizeof text) {
        memcpy(text, node->source->text + node->inner, size);
        text[size] = '\0';
        if (robot_number_of(text, value)) return true;
    }
    robot_error(file, node, NULL, "<%.64s> needs one finite number", node->name);
    return false;
}

// Sliding friction of a link. Files say it in up to three ways, of which none is above another.
static void urdf_set_friction(RobotFile *file, const XmlNode *node, double friction, UrdfLink *link)
{
    if (friction < 0.0)
        robot_error(file, node, NULL, "friction of link '%.128s' is %s, expected at least 0", link->name,
                    text_number(friction).text);
    else if (link->friction_at != NULL && link->friction != friction)
        robot_error(file, node, NULL, "friction of link '%.128s' is %s here, and %s in line %d; delete one of them",
                    link->name, text_number(friction).text, text_number(link->friction).text, link->friction_at->line);
    link->friction = friction;
    link->friction_at = node;
}

// What changes the motion unless it is the number that means nothing.
static void urdf_refuse_number(RobotFile *file, const XmlNode *node, double nothing, const char *word)
{
    double value = nothing;
    const bool read = urdf_number(file, node, &value);
    if (read && value != nothing) robot_skip(file, node, NULL, word);
    if (read && value == nothing) robot_note(file, false, node->name, 1);
}

// Of a soft contact; here the spec says how soft the ground is.
static void urdf_note_softness(RobotFile *file, const XmlNode *node)
{
    robot_note_at(file, node->parent->name, node->name, node->line);
}

// <contact> of a link, as Bullet reads it.
static void urdf_read_contact(RobotFile *file, const XmlNode *node, UrdfLink *link)
{
    static const char refused[] = "rolling_friction spinning_friction restitution";
    static const char soft[] = "stiffness damping contact_cfm contact_erp";
    static const char *const known[] = {"lateral_friction", "rolling_friction", "spinning_friction", "restitution",
                                        "stiffness",        "damping",          "contact_cfm",       "contact_erp",
                                        "inertia_scaling",  "friction_anchor"};
    double value = 1.0;
    for (const XmlNode *child = node->first; child != NULL; child = child->next) {
        if (urdf_is(child, "lateral_friction")) {
            if (urdf_number(file, child, &value)) urdf_set_friction(file, child, value, link);
        } else if (robot_word_in(refused, child->name) || urdf_is(child, "inertia_scaling")) {
            urdf_refuse_number(file, child, urdf_is(child, "inertia_scaling") ? 1.0 : 0.0, "contact");
        } else if (robot_word_in(soft, child->name) || urdf_is(child, "friction_anchor")) {
            urdf_note_softness(file, child);
        } else {
            robot_unknown_element(file, child, known, sizeof known / sizeof *known);
        }
    }
}

static void urdf_read_coefficients(RobotFile *file, const XmlNode *node, UrdfLink *link)
{
    static const RobotElement element = {.name = "contact_coefficients", .read = "mu kp kd restitution"};
    double mu = 0.0, restitution = 0.0;
    robot_check_attributes(file, node, &element);
    if (robot_number(file, node, "mu", &mu)) urdf_set_friction(file, node, mu, link);
    if (robot_number(file, node, "restitution", &restitution) && restitution != 0.0)
        robot_skip(file, node, "restitution", "contact");
    if (xml_attribute(node, "kp") != NULL || xml_attribute(node, "kd") != NULL) urdf_note_softness(file, node);
}

// True, or a number that is not 0.
static bool urdf_is_on(const XmlNode *node)
{
    const char *text = node->source->text + node->inner;
    size_t size = node->inner_end - node->inner;
    while (size > 0 && strchr(" \t\r\n", *text) != NULL) text++, size--;
    return size > 0 && strchr("tT123456789", *text) != NULL;
}

// <gazebo reference="link">: friction is read. Most else is about sensors, looks and programs.
static void urdf_read_gazebo(RobotFile *file, const XmlNode *node, UrdfLink *link)
{
    static const char soft[] = "kp kd maxVel minDepth maxContacts softCfm softErp stopCfm stopErp surface collision";
    const XmlNode *across = urdf_child(node, "mu2");
    double mu = 1.0, other = 1.0;
    for (const XmlNode *child = node->first; child != NULL; child = child->next) {
        const bool off = urdf_is(child, "gravity") && !urdf_is_on(child);
        if (urdf_is(child, "mu1") && link != NULL && urdf_number(file, child, &mu)) {
            if (across != NULL && urdf_number(file, across, &other) && other != mu)
                robot_skip(file, across, NULL, "gazebo");
            else
                urdf_set_friction(file, child, mu, link);
        } else if (off || (robot_word_in("turnGravityOff static", child->name) && urdf_is_on(child))) {
            robot_skip(file, child, NULL, "gazebo");
        } else if (urdf_is(child, "springStiffness")) {
            urdf_refuse_number(file, child, 0.0, "gazebo");
        } else if (robot_word_in(soft, child->name)) {
            urdf_note_softness(file, child);
        }
    }
}

// ---- links ----------------------------------------------------------------------------------------------------------

static void urdf_read_inertial(RobotFile *file, const XmlNode *node, RobotFileBody *body)
{
    static const RobotElement mass_element = {.name = "mass", .read = "value"};
    static const RobotElement inertia_element = {.name = "inertia", .read = "ixx iyy izz ixy ixz iyz"};
    static const char *const names[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    const XmlNode *mass = urdf_child(node, "mass"), *inertia = urdf_child(node, "inertia");
    RobotMass own = {0};
    const RobotFrame frame = urdf_origin(file, node);
    urdf_check_children(file, node, "origin mass inertia", NULL, NULL);
    if (mass == NULL || inertia == NULL) {
        robot_error(file, node, NULL, "<inertial> needs <mass> and <inertia>");
        return;
    }
    robot_check_attributes(file, mass, &mass_element);
    robot_check_attributes(file, inertia, &inertia_element);
    if (!robot_not_negative(file, mass, "value", &own.mass) && xml_attribute(mass, "value") == NULL)
        robot_error(file, mass, NULL, "<mass> needs a value (kg)");
    for (int i = 0; i < 6; i++) robot_number(file, inertia, names[i], &own.inertia[i]);
    body->mass = robot_mass_in(&frame, &own);
    body->weighed = true;
}

static void urdf_size(RobotFile *file, const XmlNode *node, const char *name, double scale, double *size)
{
    if (robot_number(file, node, name, size) && *size > 0.0)
        *size *= scale;
    else
        robot_error(file, node, name, "<%s> needs a %s greater than 0", node->name, name);
}

static void urdf_radius(RobotFile *file, const XmlNode *node, double *radius)
{
    if (!robot_not_negative(file, node, "radius", radius) && xml_attribute(node, "radius") == NULL)
        robot_error(file, node, NULL, "<%s> needs a radius, 0 for a point", node->name);
}

static bool urdf_read_geometry(RobotFile *file, const XmlNode *node, RobotShape *shape)
{
    static const RobotElement elements[] = {{.name = "sphere", .read = "radius"},
                                            {.name = "cylinder", .read = "radius length"},
                                            {.name = "capsule", .read = "radius length"},
                                            {.name = "box", .read = "size"}};
    static const RobotShapeKind kinds[] = {ROBOT_SPHERE, ROBOT_CYLINDER, ROBOT_CAPSULE, ROBOT_BOX};
    int kind = 0;
    while (kind < 4 && !urdf_is(node, elements[kind].name)) kind++;
    if (kind == 4) return false;
    robot_check_attributes(file, node, &elements[kind]);
    shape->kind = kinds[kind];
    if (kind == 0) // of radius 0: a point
        urdf_radius(file, node, &shape->size[0]);
    else if (kind < 3)
        urdf_size(file, node, "radius", 1.0, &shape->size[0]);
    if (kind == 1 || kind == 2) urdf_size(file, node, "length", 0.5, &shape->size[1]);
    if (kind < 3) return true;
    const bool given = robot_numbers(file, node, "size", 3, 3, shape->size) == 3;
    const bool ok = shape->size[0] > 0.0 && shape->size[1] > 0.0 && shape->size[2] > 0.0;
    if (!ok && (given || xml_attribute(node, "size") == NULL))
        robot_error(file, node, "size", "<box> needs a size of three numbers greater than 0");
    for (int a = 0; a < 3; a++) shape->size[a] *= 0.5;
    return true;
}

static void urdf_read_shape(RobotFile *file, const XmlNode *node, int body, UrdfLink *link)
{
    const bool collides = urdf_is(node, "collision");
    const XmlNode *geometry = urdf_child(node, "geometry"), *what = geometry != NULL ? geometry->first : NULL;
    urdf_check_children(file, node, "origin geometry contact_coefficients", "material verbose", NULL);
    if (what == NULL) {
        robot_error(file, node, NULL, "<%s> needs a <geometry> with a shape in it", node->name);
        return;
    }
    RobotFileShape *shape = robot_add_shape(file, node, body);
    if (shape == NULL) return;
    const RobotFrame frame = urdf_origin(file, node);
    memcpy(shape->shape.p, frame.p, sizeof frame.p);
    memcpy(shape->shape.q, frame.q, sizeof frame.q);
    const XmlNode *coefficients = urdf_child(node, "contact_coefficients");
    if (coefficients != NULL) urdf_read_coefficients(file, coefficients, link);
    shape->friction[0] = 1.0;
    shape->condim = 3;
    shape->contype = shape->conaffinity = collides;
    if (urdf_is(what, "mesh")) {
        shape->unknown = "mesh";
        shape->mesh = what;
    } else if (!urdf_read_geometry(file, what, &shape->shape) && !urdf_is_xacro(file, what))
        robot_error(file, what, NULL, "unknown shape <%.64s>, expected sphere, cylinder, capsule, box or mesh",
                    what->name);
}

static void urdf_read_link(RobotFile *file, UrdfLink *link, RobotFileBody *body, int index)
{
    const XmlNode *node = link->node;
    const int first = file->n_shapes;
    static const RobotElement element = {.name = "link", .read = "name", .show = "type"};
    robot_check_attributes(file, node, &element);
    urdf_check_children(file, node, "inertial visual collision contact", "self_collision_checking", NULL);
    for (const XmlNode *child = node->first; child != NULL; child = child->next) {
        if (urdf_is(child, "inertial") && body != NULL) urdf_read_inertial(file, child, body);
        if (urdf_is(child, "contact")) urdf_read_contact(file, child, link);
        if (urdf_is(child, "visual") || urdf_is(child, "collision")) urdf_read_shape(file, child, index, link);
    }
    for (int i = first; i < file->n_shapes; i++) file->shapes[i].friction[0] = link->friction;
}

// ---- joints ---------------------------------------------------------------------------------------------------------

// A joint that stays at one coordinate is a weld there.
static void urdf_lock(RobotFile *file, RobotFileBody *body, double coordinate)
{
    RobotFrame at = robot_frame_none();
    if (body->joint.kind == ROBOT_HINGE)
        robot_turn(body->joint.axis, coordinate, at.q);
    else
        for (int a = 0; a < 3; a++) at.p[a] = coordinate * body->joint.axis[a];
    body->frame = robot_frame_product(&body->frame, &at);
    body->joint.kind = ROBOT_WELD;
    robot_note(file, true, "motion of a joint with lower = upper, which is locked", 1);
}

static void urdf_read_limit(RobotFile *file, const XmlNode *node, RobotFileBody *body, bool limited)
{
    static const RobotElement element = {.name = "limit", .read = "lower upper effort velocity"};
    const XmlNode *limit = urdf_child(node, "limit");
    RobotJoint *joint = &body->joint;
    if (limit == NULL) {
        if (limited) robot_error(file, node, NULL, "%s needs a <limit>", robot_label(file, node));
        return;
    }
    double low = 0.0, high = 0.0, effort = INFINITY, velocity = 0.0;
    robot_check_attributes(file, limit, &element);
    robot_number(file, limit, "lower", &low);
    robot_number(file, limit, "upper", &high);
    if (limited && low == high && xml_attribute(limit, "lower") != NULL && xml_attribute(limit, "upper") != NULL) {
        urdf_lock(file, body, low);
        return;
    }
    robot_not_negative(file, limit, "effort", &effort);
    if (robot_not_negative(file, limit, "velocity", &velocity)) robot_note(file, true, "limit velocity", 1);
    if (effort == 0.0) robot_note(file, true, "limit effort 0, read as unlimited", 1);
    if (effort > 0.0) joint->motor.effort = effort;
    if (!limited) return;
    if (xml_attribute(limit, "lower") == NULL && xml_attribute(limit, "upper") == NULL) {
        robot_note(file, true, "limit without lower and upper, read as unlimited", 1);
    } else if (low < high) {
        joint->limited = true;
        joint->low = low;
        joint->high = high;
    } else {
        robot_error(file, limit, "upper",
                    "the limit of %s is %s to %s, expected a lower and a greater number; type=\"continuous\" has none",
                    robot_label(file, node), text_number(low).text, text_number(high).text);
    }
}

static void urdf_read_dynamics(RobotFile *file, const XmlNode *node, RobotJoint *joint)
{
    static const RobotElement element = {.name = "dynamics", .read = "damping friction"};
    const XmlNode *dynamics = urdf_child(node, "dynamics");
    if (dynamics == NULL) return;
    robot_check_attributes(file, dynamics, &element);
    robot_not_negative(file, dynamics, "damping", &joint->damping);
    robot_not_negative(file, dynamics, "friction", &joint->friction);
}

static void urdf_read_axis(RobotFile *file, const XmlNode *node, RobotJoint *joint)
{
    static const RobotElement element = {.name = "axis", .read = "xyz"};
    const XmlNode *axis = urdf_child(node, "axis");
    memcpy(joint->axis, (const double[]){1.0, 0.0, 0.0}, sizeof joint->axis);
    if (axis == NULL) return;
    robot_check_attributes(file, axis, &element);
    robot_numbers(file, axis, "xyz", 3, 3, joint->axis);
    if (robot_normalize(joint->axis, 3)) return;
    robot_error(file, axis, "xyz", "axis has no direction: its length is 0");
}

static void urdf_read_joint(RobotFile *file, const XmlNode *node, RobotFileBody *body)
{
    static const RobotElement element = {.name = "joint", .read = "name type", .show = "dont_collapse"};
    static const char types[] = "revolute|continuous|prismatic|fixed|floating";
    static const RobotJointKind kinds[] = {ROBOT_HINGE, ROBOT_HINGE, ROBOT_SLIDE, ROBOT_WELD, ROBOT_FREE};
    RobotJoint *joint = &body->joint;
    robot_check_attributes(file, node, &element);
    urdf_check_children(file, node, "origin parent child axis limit dynamics", "safety_controller calibration",
                        "mimic");
    body->joint_node = node;
    body->frame = urdf_origin(file, node);
    const int type = robot_choice(file, node, "type", types, -1);
    if (type < 0) {
        if (xml_attribute(node, "type") == NULL)
            robot_error(file, node, NULL, "<joint> needs a type: one of %s", types);
        return;
    }
    joint->kind = kinds[type];
    joint->name = robot_text_of(node, "name");
    if (type > 2) return;
    joint->motor.driven = true;
    urdf_read_axis(file, node, joint);
    urdf_read_limit(file, node, body, type != 1);
    urdf_read_dynamics(file, node, joint);
}

// ---- the tree -------------------------------------------------------------------------------------------------------

static int urdf_compare(const void *a, const void *b)
{
    const UrdfLink *const *one = a, *const *other = b;
    return strcmp((*one)->name, (*other)->name);
}

static void urdf_sort(Urdf *urdf)
{
    urdf->sorted = ARENA_NEW(urdf->file->arena, const UrdfLink *, urdf->n_links + 1);
    for (int i = 0; i < urdf->n_links; i++) urdf->sorted[i] = &urdf->links[i];
    qsort(urdf->sorted, (size_t)urdf->n_links, sizeof *urdf->sorted, urdf_compare);
    for (int i = 1; i < urdf->n_links; i++) {
        if (urdf_compare(&urdf->sorted[i - 1], &urdf->sorted[i]) != 0) continue;
        const UrdfLink *one = urdf->sorted[i - 1], *other = urdf->sorted[i], *later = one > other ? one : other;
        robot_error(urdf->file, later->node, "name", "two links are called '%.128s'", later->name);
        urdf->broken = true;
    }
}

static int urdf_find_link(const Urdf *urdf, const char *name)
{
    const UrdfLink key = {.name = name}, *at = &key;
    const UrdfLink **found = bsearch(&at, urdf->sorted, (size_t)urdf->n_links, sizeof at, urdf_compare);
    return found != NULL ? (int)(*found - urdf->links) : -1;
}

static void urdf_add_link(Urdf *urdf, const XmlNode *node)
{
    const char *name = robot_text_of(node, "name");
    const int errors = diagnostics_errors(urdf->file->diagnostics);
    if (urdf->n_links > ROBOT_BODIES_MAX) return;
    if (name == NULL)
        robot_error(urdf->file, node, NULL, "<link> needs a name");
    else if (urdf->n_links == ROBOT_BODIES_MAX)
        robot_error(urdf->file, node, NULL, "more than %d links", ROBOT_BODIES_MAX);
    urdf->broken |= diagnostics_errors(urdf->file->diagnostics) > errors;
    if (name == NULL) return;
    urdf->links[urdf->n_links++] =
        (UrdfLink){.node = node, .name = name, .joint = -1, .first = -1, .last = -1, .friction = 1.0};
}

// The link that <parent link="..."/> or <child link="..."/> names; -1 after an error.
static int urdf_end(Urdf *urdf, const XmlNode *node, const char *end)
{
    const XmlNode *child = urdf_child(node, end);
    const char *name = child != NULL ? robot_text_of(child, "link") : NULL;
    if (name == NULL) {
        robot_error(urdf->file, child != NULL ? child : node, NULL, "%s needs <%s link=\"...\"/>",
                    robot_label(urdf->file, node), end);
        return -1;
    }
    const int link = urdf_find_link(urdf, name);
    if (link >= 0) return link;
    const char **names = ARENA_NEW(urdf->file->arena, const char *, urdf->n_links + 1);
    for (int i = 0; i < urdf->n_links; i++) names[i] = urdf->links[i].name;
    const char *near = nearest_name(name, names, urdf->n_links);
    robot_error(urdf->file, child, "link", "there is no link '%.128s'%s%s%s", name,
                near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
    return -1;
}

static void urdf_add_joint(Urdf *urdf, const XmlNode *node)
{
    const int parent = urdf_end(urdf, node, "parent"), child = urdf_end(urdf, node, "child");
    urdf->broken |= parent < 0 || child < 0;
    if (parent < 0 || child < 0) return;
    if (urdf->links[child].joint >= 0) {
        robot_error(urdf->file, node, NULL, "link '%.128s' is the child of a second joint; the first is in line %d",
                    urdf->links[child].name, urdf->joints[urdf->links[child].joint].node->line);
        urdf->broken = true;
        return;
    }
    const int joint = urdf->n_joints++; // at most one per link
    UrdfLink *from = &urdf->links[parent];
    urdf->joints[joint] = (UrdfJoint){.node = node, .parent = parent, .child = child, .next = -1};
    urdf->links[child].joint = joint;
    if (from->last >= 0)
        urdf->joints[from->last].next = joint;
    else
        from->first = joint;
    from->last = joint;
}

static void urdf_add_gazebo(Urdf *urdf, const XmlNode *node)
{
    const bool ignored = robot_ignores(urdf->file, "gazebo");
    const char *name = robot_text_of(node, "reference");
    const int link = name != NULL ? urdf_find_link(urdf, name) : -1;
    robot_note(urdf->file, ignored, "gazebo", 1);
    if (!ignored) urdf_read_gazebo(urdf->file, node, link >= 0 ? &urdf->links[link] : NULL);
}

// The one link that hangs on no joint; -1 after an error.
static int urdf_root(Urdf *urdf)
{
    int root = -1;
    for (int i = 0; i < urdf->n_links; i++) {
        if (urdf->links[i].joint >= 0) continue;
        if (root >= 0) {
            robot_error(urdf->file, urdf->links[i].node, NULL,
                        "link '%.128s' is the child of no joint, nor is '%.128s': only the root may be",
                        urdf->links[i].name, urdf->links[root].name);
            return -1;
        }
        root = i;
    }
    if (root < 0)
        robot_error(urdf->file, urdf->file->root, NULL,
                    urdf->n_links > 0 ? "the joints form a loop: no link is the root" : "the robot has no <link>");
    return root;
}

// The link and what hangs on it. parent: body, -1 the world. Returns the number of links.
static int urdf_add_tree(Urdf *urdf, int link, int parent)
{
    RobotFile *file = urdf->file;
    UrdfLink *from = &urdf->links[link];
    const bool is_world = from->joint < 0 && strcmp(from->name, "world") == 0;
    RobotFileBody *body = is_world ? NULL : robot_add_body(file, from->node, parent);
    const int index = body != NULL ? robot_index(file, body) : -1;
    int count = 1;
    if (from->joint >= 0)
        urdf_read_joint(file, urdf->joints[from->joint].node, body);
    else if (body != NULL && file->options->base != ROBOT_BASE_FIXED)
        body->joint.kind = ROBOT_FREE;
    urdf_read_link(file, from, body, index);
    for (int joint = from->first; joint >= 0; joint = urdf->joints[joint].next)
        count += urdf_add_tree(urdf, urdf->joints[joint].child, index);
    return count;
}

// Every link but the root hangs on one joint.
static void urdf_add_joints(Urdf *urdf)
{
    int count = 0;
    for (const XmlNode *child = urdf->file->root->first; child != NULL; child = child->next) {
        if (urdf_is(child, "gazebo")) urdf_add_gazebo(urdf, child);
        if (!urdf_is(child, "joint") || urdf->n_links > ROBOT_BODIES_MAX) continue;
        if (count++ == ROBOT_BODIES_MAX) robot_error(urdf->file, child, NULL, "more than %d joints", ROBOT_BODIES_MAX);
        if (count <= ROBOT_BODIES_MAX) urdf_add_joint(urdf, child);
    }
    urdf->broken |= count > ROBOT_BODIES_MAX;
}

void urdf_read(RobotFile *file)
{
    static const RobotElement element = {.name = "robot", .read = "name", .show = "version"};
    Urdf urdf = {.file = file, .links = ARENA_NEW(file->arena, UrdfLink, ROBOT_BODIES_MAX + 2)};
    urdf.joints = ARENA_NEW(file->arena, UrdfJoint, ROBOT_BODIES_MAX + 2);
    robot_check_attributes(file, file->root, &element);
    urdf_check_children(file, file->root, "link joint gazebo", "material transmission sensor ros2_control", "mujoco");
    for (const XmlNode *child = file->root->first; child != NULL; child = child->next) {
        if (urdf_is(child, "link")) urdf_add_link(&urdf, child);
    }
    urdf_sort(&urdf);
    urdf_add_joints(&urdf);
    if (urdf.broken) return;
    const int root = urdf_root(&urdf);
    if (root >= 0 && urdf_add_tree(&urdf, root, -1) < urdf.n_links)
        robot_error(file, file->root, NULL, "some joints form a loop that is not connected to the root, '%.128s'",
                    urdf.links[root].name);
}
