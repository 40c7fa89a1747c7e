// From the bodies of a robot file to those of a Robot: bodies without a joint become part of their parents, masses are
// checked, names are given, motors get their damping.
#include "robot_file.h"

#include <math.h>
#include <string.h>

// A + B >= C for principal moments may be missed by this much: files have few digits.
static const double robot_triangle = 1e-6;

RobotFileBody *robot_add_body(RobotFile *file, const XmlNode *node, int parent)
{
    if (file->n_bodies == ROBOT_BODIES_MAX) {
        robot_error(file, node, NULL, "more than %d bodies", ROBOT_BODIES_MAX);
        return NULL;
    }
    RobotFileBody *body = &file->bodies[file->n_bodies++];
    *body = (RobotFileBody){.node = node,
                            .joint_node = node,
                            .name = robot_text_of(node, "name"),
                            .parent = parent,
                            .frame = robot_frame_none()};
    body->joint = (RobotJoint){.kind = ROBOT_WELD, .axis = {0.0, 0.0, 1.0}, .low = -INFINITY, .high = INFINITY};
    body->joint.motor = (RobotMotor){.low = -INFINITY, .high = INFINITY, .effort = INFINITY};
    return body;
}

RobotFileShape *robot_add_shape(RobotFile *file, const XmlNode *node, int body)
{
    if (file->n_shapes == ROBOT_SHAPES_MAX) {
        robot_error(file, node, NULL, "more than %d shapes", ROBOT_SHAPES_MAX);
        return NULL;
    }
    RobotFileShape *shape = &file->shapes[file->n_shapes++];
    *shape = (RobotFileShape){.node = node, .mass = NAN};
    const char *name = robot_text_of(node, "name");
    shape->shape = (RobotShape){.name = name != NULL ? name : "", .body = body, .q = {0.0, 0.0, 0.0, 1.0}};
    return shape;
}

void robot_add_site(RobotFile *file, const XmlNode *node, int body, const RobotFrame *frame)
{
    const char *name = robot_text_of(node, "name");
    if (name == NULL || *name == '\0') return;
    if (file->n_sites == file->room_of_sites) {
        file->room_of_sites = 2 * file->n_sites + 16;
        RobotFileSite *more = ARENA_NEW(file->arena, RobotFileSite, file->room_of_sites);
        if (file->n_sites > 0) memcpy(more, file->sites, (size_t)file->n_sites * sizeof *more);
        file->sites = more;
    }
    file->sites[file->n_sites++] = (RobotFileSite){.node = node, .name = name, .body = body, .frame = *frame};
}

int robot_index(const RobotFile *file, const RobotFileBody *body) { return (int)(body - file->bodies); }

int robot_intermediates(const RobotFile *file, int body)
{
    int count = 0;
    while (count < body && file->bodies[body - count - 1].intermediate) count++;
    return count;
}

// ---- what moves -----------------------------------------------------------------------------------------------------

static void robot_apply_base(RobotFile *file)
{
    const RobotBase base = file->options->base;
    for (int i = 0; i < file->n_bodies; i++) {
        RobotFileBody *body = &file->bodies[i];
        body->fixed = body->joint.kind == ROBOT_WELD && (body->parent < 0 || file->bodies[body->parent].fixed);
    }
    for (int i = 0; i < file->n_bodies; i++) {
        RobotFileBody *body = &file->bodies[i];
        if (body->parent >= 0) continue;
        if (base == ROBOT_BASE_FIXED && body->joint.kind == ROBOT_FREE) body->joint.kind = ROBOT_WELD;
        if (base == ROBOT_BASE_FLOATING && body->joint.kind == ROBOT_WELD) body->joint.kind = ROBOT_FREE;
    }
}

static bool robot_hangs_on_joint(const RobotFile *file, int body)
{
    for (int i = file->bodies[body].parent; i >= 0; i = file->bodies[i].parent) {
        const RobotJointKind kind = file->bodies[i].joint.kind;
        if (kind != ROBOT_WELD && kind != ROBOT_FREE) return true;
    }
    return false;
}

// A floating joint below the root holds nothing: its body moves in the world as if it had no parent.
static void robot_release(RobotFile *file)
{
    RobotFrame *world = ARENA_NEW(file->arena, RobotFrame, file->n_bodies + 1);
    for (int i = 0; i < file->n_bodies; i++) {
        RobotFileBody *body = &file->bodies[i];
        world[i] = body->parent >= 0 ? robot_frame_product(&world[body->parent], &body->frame) : body->frame;
        if (body->joint.kind != ROBOT_FREE || body->parent < 0) continue;
        if (robot_hangs_on_joint(file, i))
            robot_note(file, true, "where a floating joint starts if `start` moves its parent", 1);
        body->released = true;
        body->parent = -1;
        body->frame = world[i];
    }
}

// The body that each becomes part of, with its frame in it; parents come first.
static int robot_fuse(RobotFile *file, RobotBody *bodies)
{
    int count = 0;
    for (int i = 0; i < file->n_bodies; i++) {
        RobotFileBody *body = &file->bodies[i];
        const RobotFileBody *parent = body->parent >= 0 ? &file->bodies[body->parent] : NULL;
        const int in = parent != NULL ? parent->kept : -1;
        const RobotFrame frame = parent != NULL ? robot_frame_product(&parent->in_kept, &body->frame) : body->frame;
        body->kept = in;
        body->in_kept = frame;
        if (body->joint.kind == ROBOT_WELD) continue;
        RobotBody *kept = &bodies[count];
        *kept = (RobotBody){.parent = in, .joint = body->joint, .line = body->node->line, .column = body->node->column};
        memcpy(kept->p, frame.p, sizeof kept->p);
        memcpy(kept->q, frame.q, sizeof kept->q);
        body->kept = count++;
        body->in_kept = robot_frame_none();
    }
    return count;
}

static void robot_set_mass(RobotBody *body, const RobotMass *mass)
{
    body->mass = mass->mass;
    memcpy(body->centre, mass->centre, sizeof body->centre);
    memcpy(body->inertia, mass->inertia, sizeof body->inertia);
}

static RobotMass robot_mass_of(const RobotBody *body)
{
    RobotMass mass = {.mass = body->mass};
    memcpy(mass.centre, body->centre, sizeof mass.centre);
    memcpy(mass.inertia, body->inertia, sizeof mass.inertia);
    return mass;
}

static void robot_add_masses(RobotFile *file, RobotBody *bodies)
{
    double total = 0.0;
    for (int i = 0; i < file->n_bodies; i++) total += file->bodies[i].mass.mass;
    const double scale = file->total_mass > 0.0 && total > 0.0 ? file->total_mass / total : 1.0;
    for (int i = 0; i < file->n_bodies; i++) {
        const RobotFileBody *body = &file->bodies[i];
        if (body->kept < 0) continue;
        RobotMass scaled = body->mass;
        scaled.mass *= scale;
        for (int k = 0; k < 6; k++) scaled.inertia[k] *= scale;
        const RobotMass sum = robot_mass_of(&bodies[body->kept]), more = robot_mass_in(&body->in_kept, &scaled);
        const RobotMass both = robot_mass_sum(&sum, &more);
        robot_set_mass(&bodies[body->kept], &both);
    }
}

static void robot_check_mass(RobotFile *file, const RobotFileBody *from, const RobotBody *body)
{
    double moments[3], axes[9];
    const char *label = robot_label(file, from->node);
    if (!(body->mass > 1e-15)) {
        const bool floats = from->joint.kind == ROBOT_FREE && !from->released;
        robot_error(file, from->node, NULL, "%s moves and has no mass%s%s", label,
                    file->is_mjcf ? ": give it <inertial>, or shapes with a density" : ": give its link <inertial>",
                    floats ? ", or set base: fixed, which holds it to the world" : "");
        return;
    }
    if (!isfinite(body->mass) || !robot_principal(body->inertia, moments, axes) || !(moments[0] > 1e-15)) {
        robot_error(file, from->node, NULL,
                    "%s has an impossible inertia: its principal moments must be greater than 0", label);
        return;
    }
    if (moments[0] + moments[1] >= moments[2] * (1.0 - robot_triangle)) return;
    if (robot_ignores(file, "inertia")) {
        robot_note(file, true, "inertia", 1);
        return;
    }
    robot_error(
        file, from->node, NULL,
        "%s has an impossible inertia: of its principal moments %.6g + %.6g is less than %.6g kg m^2; correct it%s, or "
        "add inertia to ignore: then it is taken as it is",
        label, moments[0], moments[1], moments[2],
        file->is_mjcf ? ", let <compiler balanceinertia=\"true\"/> do so" : "");
}

// ---- joints of one body ---------------------------------------------------------------------------------------------

enum { ROBOT_TWISTS_MAX = 6, ROBOT_TWIST = 6 + ROBOT_TWISTS_MAX };

// Appends what each coordinate of the joint does to a body whose frame stands so in that of the joint's body: velocity,
// angular velocity (its axes), and the root of its armature in a slot of its own. Returns how many
// there are; -1: too many.
static int robot_add_twists(const RobotJoint *joint, const RobotFrame *frame, double (*twist)[ROBOT_TWIST], int count)
{
    const int axes = joint->kind == ROBOT_BALL ? 3 : 1;
    if (count < 0 || count + axes > ROBOT_TWISTS_MAX) return -1;
    for (int a = 0; a < axes; a++, count++) {
        const double unit[3] = {a == 0, a == 1, a == 2};
        const double *axis = joint->kind == ROBOT_BALL ? unit : joint->axis;
        double moved[3] = {axis[0], axis[1], axis[2]}, turned[3] = {0.0}, arm[3];
        for (int k = 0; k < 3; k++) arm[k] = joint->anchor[k] - frame->p[k];
        if (joint->kind != ROBOT_SLIDE) {
            memcpy(turned, axis, sizeof turned);
            robot_cross(arm, axis, moved);
        }
        const double back[4] = {-frame->q[0], -frame->q[1], -frame->q[2], frame->q[3]};
        memset(twist[count], 0, sizeof twist[count]);
        robot_rotate(back, moved, twist[count]);
        robot_rotate(back, turned, twist[count] + 3);
        twist[count][6 + count] = sqrt(joint->armature);
    }
    return count;
}

// Is each twist more than a sum of those before it? Takes those from it (Gram-Schmidt).
static bool robot_independent(double (*twist)[ROBOT_TWIST], int count)
{
    for (int i = 0; i < count; i++) {
        const double size = robot_norm(twist[i], ROBOT_TWIST);
        for (int j = 0; j < i; j++) {
            double along = 0.0;
            for (int k = 0; k < ROBOT_TWIST; k++) along += twist[i][k] * twist[j][k];
            for (int k = 0; k < ROBOT_TWIST; k++) twist[i][k] -= along * twist[j][k];
        }
        const double rest = robot_norm(twist[i], ROBOT_TWIST);
        if (!(rest > 1e-6 * size)) return false;
        for (int k = 0; k < ROBOT_TWIST; k++) twist[i][k] /= rest;
    }
    return true;
}

// Where two coordinates of one body do the same, nothing decides how they share it.
// body: of `bodies`, with those without mass directly before it.
static void robot_check_joints(RobotFile *file, const RobotFileBody *from, const RobotBody *bodies, int body)
{
    double twist[ROBOT_TWISTS_MAX][ROBOT_TWIST];
    RobotFrame frame = robot_frame_none();
    int count = 0, first = body;
    for (int i = body; count >= 0 && (i == body || (i >= 0 && bodies[i].mass == 0.0)); i = bodies[i].parent) {
        const RobotBody *of = &bodies[i];
        count = robot_add_twists(&of->joint, &frame, twist, count);
        RobotFrame own;
        memcpy(own.p, of->p, sizeof own.p);
        memcpy(own.q, of->q, sizeof own.q);
        frame = robot_frame_product(&own, &frame);
        first = i;
    }
    if (first == body || (count >= 0 && robot_independent(twist, count))) return;
    robot_error(file, from->node, NULL,
                "the joints of %s are not independent where the file has it: one moves it like others together; delete "
                "that joint, turn its axis, or give it armature",
                robot_label(file, from->node));
}

// A link of URDF without mass stands between joints of those that it carries, like the intermediates of a body of MJCF
// with several joints.
static void robot_find_intermediates(RobotFile *file, const RobotBody *bodies)
{
    static const RobotMass nothing = {0};
    for (int i = file->n_bodies - 1; i >= 0 && !file->is_mjcf; i--) {
        RobotFileBody *body = &file->bodies[i];
        if (body->joint.kind == ROBOT_WELD || body->joint.kind == ROBOT_FREE) continue;
        const RobotBody *kept = &bodies[body->kept];
        if (kept->mass != 0.0 || memcmp(kept->inertia, nothing.inertia, sizeof kept->inertia) != 0) continue;
        for (int k = i + 1; k < file->n_bodies && !body->intermediate; k++) {
            const RobotFileBody *child = &file->bodies[k];
            const bool carried = child->joint.kind != ROBOT_WELD && bodies[child->kept].parent == body->kept;
            body->intermediate = carried && (child->intermediate || bodies[child->kept].mass > 0.0);
        }
    }
}

// ---- numbers that grew too large ------------------------------------------------------------------------------------

static bool robot_all_finite(const double *value, int count)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(value[i])) return false;
    }
    return true;
}

static bool robot_is_finite(const RobotBody *body)
{
    const RobotJoint *joint = &body->joint;
    const RobotMotor *motor = &joint->motor;
    const double numbers[] = {joint->reference, joint->stiffness, joint->rest, joint->damping, joint->friction,
                              joint->armature,  motor->kp,        motor->kd,   motor->bias};
    const bool limits = !joint->limited || (isfinite(joint->low) && isfinite(joint->high));
    const bool ends = !motor->uneven || (isfinite(motor->least) && isfinite(motor->most));
    const bool motors = motor->low <= motor->high && motor->effort >= 0.0 && ends;
    return limits && motors && robot_all_finite(body->p, 3) && robot_all_finite(body->q, 4) &&
           robot_all_finite(body->centre, 3) && robot_all_finite(joint->anchor, 3) &&
           robot_all_finite(joint->axis, 3) && robot_all_finite(numbers, 9);
}

// Products of finite numbers may be too large.
static void robot_check_numbers(RobotFile *file, const Robot *robot)
{
    static const char message[] = "numbers of %s are too large to compute with";
    for (int i = 0; i < file->n_bodies; i++) {
        const RobotFileBody *from = &file->bodies[i];
        if (from->joint.kind == ROBOT_WELD || robot_is_finite(&robot->bodies[from->kept])) continue;
        robot_error(file, from->node, NULL, message, robot_label(file, from->node));
    }
    for (int i = 0, n = 0; i < file->n_shapes; i++) {
        if (file->shapes[i].unknown != NULL) continue;
        const RobotShape *shape = &robot->shapes[n++];
        if (!robot_all_finite(shape->p, 3) || !robot_all_finite(shape->q, 4))
            robot_error(file, file->shapes[i].node, NULL, message, robot_label(file, file->shapes[i].node));
    }
}

// ---- names ----------------------------------------------------------------------------------------------------------

static bool robot_has_body(const RobotBody *bodies, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (bodies[i].name != NULL && strcmp(bodies[i].name, name) == 0) return true;
    }
    return false;
}

static bool robot_has_joint(const RobotBody *bodies, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (bodies[i].joint.name != NULL && strcmp(bodies[i].joint.name, name) == 0) return true;
    }
    return false;
}

static const char *robot_checked_name(RobotFile *file, const XmlNode *node, const char *name, const char *taken)
{
    if (name == NULL) return NULL;
    if (taken != NULL) robot_error(file, node, "name", "two %s are called '%.128s'", taken, name);
    if (strlen(name) > ROBOT_NAME_MAX)
        robot_error(file, node, "name", "this name has more than %d bytes", ROBOT_NAME_MAX);
    return name;
}

static void robot_give_names(RobotFile *file, RobotBody *bodies, int count, Arena *arena)
{
    for (int i = 0, n = 0; i < file->n_bodies; i++) {
        const RobotFileBody *from = &file->bodies[i];
        if (from->joint.kind == ROBOT_WELD) continue;
        RobotBody *body = &bodies[n];
        body->name = robot_checked_name(file, from->node, from->name,
                                        from->name != NULL && robot_has_body(bodies, n, from->name) ? "bodies" : NULL);
        body->joint.name = robot_checked_name(
            file, from->joint_node, from->joint.name,
            from->joint.name != NULL && robot_has_joint(bodies, n, from->joint.name) ? "joints" : NULL);
        n++;
    }
    for (int i = 0; i < count; i++) {
        const char *joint = bodies[i].mass == 0.0 ? bodies[i].joint.name : NULL; // of an intermediate
        const char *name = bodies[i].name != NULL ? bodies[i].name
                           : joint != NULL        ? joint
                                                  : arena_format(file->arena, "body_%d", i);
        while (bodies[i].name == NULL && robot_has_body(bodies, count, name))
            name = arena_format(file->arena, "%s_", name);
        bodies[i].name = arena_copy(arena, name);
    }
    for (int i = 0; i < count; i++) {
        const char *name = bodies[i].joint.name != NULL ? bodies[i].joint.name : bodies[i].name;
        while (bodies[i].joint.name == NULL && robot_has_joint(bodies, count, name))
            name = arena_format(file->arena, "%s_", name);
        bodies[i].joint.name = arena_copy(arena, name);
    }
}

// ---- damping ratios -------------------------------------------------------------------------------------------------

// MuJoCo's dampratio, from 3.15 on (4 too): kd = 2 ratio sqrt(kp M), M the inertia that the joint feels where the file
// has the robot, with all other joints free. Before 3.15 these were held. Ratios of several motors add.
static void robot_give_damping(const RobotFile *file, RobotBody *bodies, int count)
{
    const size_t used = file->arena->used;
    const RobotMobility *mobility = NULL;
    for (int i = 0; i < file->n_bodies; i++) {
        const RobotFileBody *from = &file->bodies[i];
        if (from->damping_sum == 0.0 || from->joint.kind == ROBOT_WELD) continue;
        if (mobility == NULL) mobility = robot_mobility(bodies, count, file->arena);
        bodies[from->kept].joint.motor.kd +=
            2.0 * from->damping_sum * sqrt(robot_reflected_inertia(mobility, from->kept));
    }
    arena_rewind(file->arena, used);
}

// ---- keyframes and shapes -------------------------------------------------------------------------------------------

// Coordinates of a body where the file has it.
static void robot_rest(const RobotFileBody *body, double *out)
{
    const RobotJointKind kind = body->joint.kind;
    memset(out, 0, 7 * sizeof *out);
    switch (kind) {
    case ROBOT_FREE:
        memcpy(out, body->frame.p, 3 * sizeof *out);
        memcpy(out + 3, body->frame.q, 4 * sizeof *out);
        break;
    case ROBOT_BALL: out[3] = 1.0; break;
    case ROBOT_HINGE:
    case ROBOT_SLIDE: out[0] = body->joint.reference; break;
    case ROBOT_WELD: break;
    }
}

// `was`: the kinds in the file, before the base was fixed or set free to float.
static const double *robot_keyframe(const RobotFile *file, const RobotFileKey *key, const RobotJointKind *was,
                                    int n_coordinates, Arena *arena)
{
    double *out = ARENA_NEW(arena, double, n_coordinates > 0 ? n_coordinates : 1), rest[7];
    const double *from = key->coordinates;
    for (int i = 0, n = 0; i < file->n_bodies; i++) {
        const int count = robot_joint_coordinates(file->bodies[i].joint.kind);
        const int given = robot_joint_coordinates(was[i]);
        robot_rest(&file->bodies[i], rest);
        memcpy(out + n, from != NULL && given == count ? from : rest, (size_t)count * sizeof *out);
        n += count;
        if (from != NULL) from += given;
    }
    return out;
}

static void robot_key_commands(const RobotFile *file, const RobotFileKey *key, int count, Arena *arena,
                               RobotKeyframe *out)
{
    double *commands = ARENA_NEW(arena, double, count + 1), *efforts = ARENA_NEW(arena, double, count + 1);
    for (int i = 0; i < file->n_bodies; i++) {
        if (file->bodies[i].joint.kind == ROBOT_WELD) continue;
        commands[file->bodies[i].kept] = key->commands[i];
        efforts[file->bodies[i].kept] = key->efforts[i];
    }
    out->commands = commands;
    out->efforts = efforts;
}

// Of bodies that the base was given to, or taken from, the rates are 0.
static const double *robot_key_rates(const RobotFile *file, const RobotFileKey *key, const RobotJointKind *was,
                                     int count, Arena *arena)
{
    if (key->rates == NULL) return NULL;
    double *rates = ARENA_NEW(arena, double, ROBOT_RATES *(count + 1));
    for (int i = 0; i < file->n_bodies; i++) {
        const RobotFileBody *body = &file->bodies[i];
        if (body->joint.kind == ROBOT_WELD || body->joint.kind != was[i]) continue;
        memcpy(rates + ROBOT_RATES * body->kept, key->rates + ROBOT_RATES * i, ROBOT_RATES * sizeof *rates);
    }
    return rates;
}

static void robot_add_keyframes(RobotFile *file, Robot *robot, const RobotJointKind *was, Arena *arena)
{
    RobotKeyframe *keys = ARENA_NEW(arena, RobotKeyframe, file->n_keys + 1);
    for (int i = 0; i < file->n_keys; i++) {
        const char *name = file->keys[i].name;
        for (int j = 0; name != NULL && j < i; j++) {
            if (strcmp(keys[j].name, name) == 0)
                robot_error(file, file->keys[i].node, "name", "two keyframes are called '%.128s'", name);
        }
        keys[i].name = name != NULL ? arena_copy(arena, name) : arena_format(arena, "key_%d", i);
        keys[i].coordinates = robot_keyframe(file, &file->keys[i], was, robot->n_coordinates, arena);
        robot_key_commands(file, &file->keys[i], robot->n_bodies, arena, &keys[i]);
        keys[i].rates = robot_key_rates(file, &file->keys[i], was, robot->n_bodies, arena);
    }
    robot->keyframes = keys;
    robot->n_keyframes = file->n_keys;
}

static void robot_add_shapes(RobotFile *file, Robot *robot, Arena *arena)
{
    RobotShape *shapes = ARENA_NEW(arena, RobotShape, file->n_shapes + 1);
    for (int i = 0; i < file->n_shapes; i++) {
        const RobotFileShape *from = &file->shapes[i];
        if (from->unknown != NULL) continue;
        const RobotFileBody *body = from->shape.body >= 0 ? &file->bodies[from->shape.body] : NULL;
        RobotFrame frame;
        memcpy(frame.p, from->shape.p, sizeof frame.p);
        memcpy(frame.q, from->shape.q, sizeof frame.q);
        if (body != NULL) frame = robot_frame_product(&body->in_kept, &frame);
        RobotShape *shape = &shapes[robot->n_shapes++];
        *shape = from->shape;
        shape->name = arena_copy(arena, from->shape.name);
        shape->body = body != NULL ? body->kept : -1;
        memcpy(shape->p, frame.p, sizeof shape->p);
        memcpy(shape->q, frame.q, sizeof shape->q);
        if (body != NULL && shape->body < 0 && !robot_is_ground(file, from))
            robot_note(file, false, "shapes of the world", 1);
    }
    robot->shapes = shapes;
    double *heights = ARENA_NEW(arena, double, file->n_heights + 1);
    if (file->n_heights > 0) memcpy(heights, file->heights, (size_t)file->n_heights * sizeof *heights);
    robot->heights = heights;
    robot->n_heights = file->n_heights;
}

static void robot_put_site(Robot *robot, RobotSite *sites, const char *name, int body, const RobotFrame *frame,
                           Arena *arena)
{
    RobotSite *site = &sites[robot->n_sites++];
    site->name = arena_copy(arena, name);
    site->body = body;
    memcpy(site->p, frame->p, sizeof site->p);
    memcpy(site->q, frame->q, sizeof site->q);
}

// Sites of bodies that move, and bodies that have become part of these.
static void robot_add_sites(const RobotFile *file, Robot *robot, Arena *arena)
{
    RobotSite *sites = ARENA_NEW(arena, RobotSite, file->n_sites + file->n_bodies + 1);
    for (int i = 0; i < file->n_sites; i++) {
        const RobotFileBody *body = &file->bodies[file->sites[i].body];
        const RobotFrame frame = robot_frame_product(&body->in_kept, &file->sites[i].frame);
        if (body->kept >= 0) robot_put_site(robot, sites, file->sites[i].name, body->kept, &frame, arena);
    }
    for (int i = 0; i < file->n_bodies; i++) {
        const RobotFileBody *body = &file->bodies[i];
        if (body->joint.kind == ROBOT_WELD && body->kept >= 0 && body->name != NULL)
            robot_put_site(robot, sites, body->name, body->kept, &body->in_kept, arena);
    }
    robot->sites = sites;
}

static void robot_add_notes(const RobotFile *file, Robot *robot, Arena *arena)
{
    RobotNote *notes = ARENA_NEW(arena, RobotNote, file->n_notes + 1);
    for (int i = 0; i < file->n_notes; i++) {
        const RobotFileNote *note = &file->notes[i];
        notes[i] = (RobotNote){.skipped = note->skipped,
                               .replaced = note->line > 0,
                               .what = note->line > 0 ? arena_format(arena, "%s (%d, first in line %d)", note->what,
                                                                     note->count, note->line)
                                                      : arena_format(arena, "%s (%d)", note->what, note->count)};
    }
    robot->notes = notes;
    robot->n_notes = file->n_notes;
}

static void robot_add_reduced(const RobotFile *file, Robot *robot, Arena *arena)
{
    if (file->reduced.meshes == 0) return;
    const char *name = robot_asset_name(file->reduced_mesh, file->arena);
    if (name == NULL) name = robot_text_of(file->reduced_mesh, "filename");
    robot->reduced = file->reduced;
    robot->reduced.name = arena_copy(arena, name != NULL ? name : "");
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static void robot_check_bodies(RobotFile *file, const RobotBody *bodies, int count)
{
    double mass = 0.0;
    for (int i = 0; i < count; i++) mass += bodies[i].mass;
    if (!isfinite(mass)) robot_error(file, file->root, NULL, "the masses of the robot are too large to compute with");
    for (int i = 0; i < file->n_bodies; i++) {
        const RobotFileBody *from = &file->bodies[i];
        if (from->joint.kind == ROBOT_WELD || from->intermediate) continue;
        robot_check_mass(file, from, &bodies[from->kept]);
        robot_check_joints(file, from, bodies, from->kept);
    }
    if (count == 0) robot_error(file, file->root, NULL, "no body of the robot can move");
}

const Robot *robot_build(RobotFile *file, Arena *arena)
{
    Robot *robot = ARENA_NEW(arena, Robot, 1);
    RobotBody *bodies = ARENA_NEW(arena, RobotBody, file->n_bodies + 1);
    RobotJointKind *was = ARENA_NEW(file->arena, RobotJointKind, file->n_bodies + 1);
    for (int i = 0; i < file->n_bodies; i++) was[i] = file->bodies[i].joint.kind;
    robot_apply_base(file);
    robot_release(file);
    const int count = robot_fuse(file, bodies);
    robot_add_masses(file, bodies);
    robot_find_intermediates(file, bodies);
    robot_check_bodies(file, bodies, count);
    robot_give_names(file, bodies, count, arena);
    robot_give_damping(file, bodies, count);
    *robot = (Robot){.name = arena_copy(arena, file->name), .bodies = bodies, .n_bodies = count};
    for (int i = 0; i < count; i++) robot->n_coordinates += robot_joint_coordinates(bodies[i].joint.kind);
    robot_add_keyframes(file, robot, was, arena);
    robot_find_contacts(file, robot, arena);
    robot_add_shapes(file, robot, arena);
    robot_add_sites(file, robot, arena);
    robot_add_notes(file, robot, arena);
    robot_add_reduced(file, robot, arena);
    robot_check_numbers(file, robot);
    return robot;
}
