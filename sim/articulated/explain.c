// Says before a run what a robot's file holds, what of it is not simulated, and which motors can do nothing.
#include "articulated.h"

#include <math.h>
#include <string.h>

enum { EXPLAIN_NOTES = 12 }; // that are named of what is not needed; the rest is counted

typedef struct RobotRemarks {
    Remark *remarks;
    int count;
    Arena *arena;
} RobotRemarks;

static void robot_say(RobotRemarks *to, const char *name, bool warning, const char *text)
{
    if (to->count < REMARKS_MAX) to->remarks[to->count++] = (Remark){.name = name, .text = text, .warning = warning};
}

static const char *robot_joints_text(const Robot *robot, Arena *arena)
{
    static const char *const kinds[] = {"free", "hinge", "slide", "ball", "weld"};
    int count[5] = {0}, driven = 0;
    const char *text = "";
    for (int i = 0; i < robot->n_bodies; i++) {
        count[robot->bodies[i].joint.kind]++;
        driven += robot->bodies[i].joint.motor.driven;
    }
    for (int k = 0; k < 5; k++) {
        if (count[k] > 0)
            text = arena_format(arena, "%s%s%d %s", text, text[0] != '\0' ? ", " : "", count[k], kinds[k]);
    }
    return arena_format(arena, "joints: %s; %d motor%s", text, driven, driven == 1 ? "" : "s");
}

static void robot_say_whole(RobotRemarks *to, const Robot *robot)
{
    double mass = 0.0;
    for (int i = 0; i < robot->n_bodies; i++) mass += robot->bodies[i].mass;
    robot_say(to, "robot", false,
              arena_format(to->arena, "%.60s: %d bod%s, %.4g kg; %s", robot->name, robot->n_bodies,
                           robot->n_bodies == 1 ? "y" : "ies", mass, robot_joints_text(robot, to->arena)));
}

// Of the file's sites those that have no columns (`frames`): "site (3)"; NULL: all have.
static const char *robot_idle_sites(const RobotRemarks *to, const ArticulatedHost *host, const char *what)
{
    int idle = host->robot->n_sites;
    for (int i = 0; i < host->robot->n_sites; i++) {
        bool used = false;
        for (int k = 0; k < host->n_frames; k++) used |= strcmp(host->frame_names[k], host->robot->sites[i].name) == 0;
        idle -= used;
    }
    if (idle == host->robot->n_sites) return what;
    return idle == 0 ? NULL : arena_format(to->arena, "site (%d)", idle);
}

// What the file holds besides: skipped by `ignore`, replaced by parameters, or not needed.
static void robot_say_notes(RobotRemarks *to, const ArticulatedHost *host, bool skipped, bool replaced)
{
    const Robot *robot = host->robot;
    const char *text = "";
    int said = 0, more = 0;
    for (int i = 0; i < robot->n_notes; i++) {
        if (robot->notes[i].skipped != skipped || robot->notes[i].replaced != replaced) continue;
        const char *what = robot->notes[i].what;
        const bool site = !skipped && strncmp(what, "site", 4) == 0 && strchr(" ", what[4]) != NULL;
        if (site) what = robot_idle_sites(to, host, what);
        if (what == NULL) continue;
        if (said == EXPLAIN_NOTES && !skipped) {
            more++;
            continue;
        }
        text = arena_format(to->arena, "%s%s%.80s", text, said++ > 0 ? ", " : "", what);
    }
    if (said == 0) return;
    if (more > 0) text = arena_format(to->arena, "%s and %d more", text, more);
    if (replaced)
        robot_say(
            to, "replaced", false,
            arena_format(to->arena, "%s: by ground_stiffness, ground_damping and ground_depth of the spec", text));
    else
        robot_say(to, skipped ? "skipped" : "not needed", skipped,
                  arena_format(to->arena, skipped ? "%s: in the file, and not simulated" : "%s", text));
}

// Planes, height fields and other shapes of the world in the file.
typedef struct RobotGrounds {
    int planes, fields, others;
} RobotGrounds;

static RobotGrounds robot_grounds(const Robot *robot, Arena *arena)
{
    RobotGrounds grounds = {0, 0, 0};
    bool *seen = ARENA_NEW(arena, bool, robot->n_shapes + 1);
    for (int k = 0; k < robot->n_contacts; k++) {
        const int ground = robot->contacts[k].ground;
        if (seen[ground]) continue;
        seen[ground] = true;
        grounds.planes += robot->shapes[ground].kind == ROBOT_PLANE;
        grounds.fields += robot->shapes[ground].kind == ROBOT_HFIELD;
        grounds.others += !articulated_is_floor(&robot->shapes[ground]);
    }
    return grounds;
}

// "2 planes and 1 other shape of the world", or the terrain.
static const char *robot_grounds_text(const ArticulatedHost *host, const RobotGrounds *grounds, Arena *arena)
{
    const bool file = host->terrain == TERRAIN_file, planes = grounds->planes > 0, fields = grounds->fields > 0;
    const char *and = planes && fields ? " and " : "", *text = "";
    if (file && planes) text = arena_format(arena, "%d plane%s", grounds->planes, grounds->planes == 1 ? "" : "s");
    if (file && fields)
        text =
            arena_format(arena, "%s%s%d height field%s", text, and, grounds->fields, grounds->fields == 1 ? "" : "s");
    if (!file)
        text = arena_format(arena, "the terrain of the spec%s%s%s%s", planes || fields ? ", in place of " : "",
                            planes ? "planes" : "", and, fields ? "height fields" : "");
    if (grounds->others == 0) return text;
    return arena_format(arena, "%s%s%d other shape%s of the world", text,
                        !file              ? ", and "
                        : planes || fields ? " and "
                                           : "",
                        grounds->others, grounds->others == 1 ? "" : "s");
}

// ", friction 0.3 to 1"
static const char *robot_friction_text(const ArticulatedConstants *c, const double *assets, Arena *arena)
{
    const ArticulatedPoint *points = (const ArticulatedPoint *)(assets + c->points);
    double low = INFINITY, high = 0.0;
    for (int k = 0; k < c->n_points; k++) {
        low = fmin(points[k].friction, low);
        high = fmax(points[k].friction, high);
    }
    return low == high ? arena_format(arena, "friction %.4g", low)
                       : arena_format(arena, "friction %.4g to %.4g", low, high);
}

static void robot_say_ground(RobotRemarks *to, const ArticulatedHost *host, const ArticulatedConstants *c,
                             const double *assets)
{
    const ArticulatedBody *bodies = (const ArticulatedBody *)assets;
    const RobotGrounds grounds = robot_grounds(host->robot, to->arena);
    const bool falls = c->n_points == 0 && c->floats != 0;
    int touching = 0;
    for (int i = 0; i < c->n_bodies; i++) touching += bodies[i].n_points > 0;
    if (host->terrain == TERRAIN_none)
        robot_say(to, "ground", false, "terrain: none: nothing touches anything");
    else if (c->n_points > 0)
        robot_say(to, "ground", false,
                  arena_format(to->arena, "%d point%s of %d bod%s can touch %s; %s; bodies do not touch each other",
                               c->n_points, c->n_points == 1 ? "" : "s", touching, touching == 1 ? "y" : "ies",
                               robot_grounds_text(host, &grounds, to->arena),
                               robot_friction_text(c, assets, to->arena)));
    else if (host->terrain == TERRAIN_file && host->robot->n_contacts == 0)
        robot_say(to, "ground", falls,
                  falls ? "the file has no plane that the robot touches: it falls; name a terrain, for instance "
                          "`terrain: flat`"
                        : "the file has no plane that the robot touches, and so there is none");
    else if (falls)
        robot_say(to, "ground", true, "no shape of the file collides: the robot falls through the ground");
}

// Names that were taken: parameters and columns of such joints and bodies begin with another.
static void robot_say_names(RobotRemarks *to, const ArticulatedHost *host)
{
    const char *text = "";
    for (int i = 0; i < host->n_renamed; i++)
        text = arena_format(to->arena, "%s%s%s", text, i > 0 ? ", " : "", host->renamed[i]);
    if (host->n_renamed == 0) return;
    robot_say(to, "names", true, arena_format(to->arena, "%s in parameters and columns: the name is taken", text));
}

// The deepest start of a few hundred trials.
static void robot_say_start(RobotRemarks *to, const Configured *configured, const double *point, int count)
{
    enum { LOOKED_AT = 256 };
    const double touches = 1e-4; // m
    const ArticulatedHost *host = configured->host;
    ArticulatedStart start = {.least = INFINITY};
    for (int i = 0; i < count && i < LOOKED_AT; i++) {
        const size_t used = to->arena->used;
        const ArticulatedStart of = articulated_start_of(configured, point + i * configured->n_parameters, to->arena);
        if (of.least < start.least) start = of;
        arena_rewind(to->arena, used);
    }
    if (!(start.least < -touches)) return;
    const RobotShape *shape = &host->robot->shapes[start.shape];
    const char *name = shape->name[0] != '\0' ? arena_format(to->arena, " '%.60s'", shape->name) : "";
    const char *more = start.inside > 1 ? arena_format(to->arena, ", and %d more", start.inside - 1) : "";
    robot_say(to, "start", true,
              arena_format(to->arena,
                           "the robot starts in the ground: shape%s of body %.60s is %.3g mm deep in it%s; raise the "
                           "robot, or set settle: true",
                           name, host->robot->bodies[shape->body].name, -1e3 * start.least, more));
}

// Hulls of meshes by fewer points than they have corners.
static void robot_say_reduced(RobotRemarks *to, const Robot *robot)
{
    const RobotReduced *reduced = &robot->reduced;
    if (reduced->meshes == 0) return;
    robot_say(
        to, "meshes", false,
        arena_format(to->arena,
                     "%d touch%s with fewer points than vertices; most is lost of %.60s: its hull reaches %.3g mm "
                     "out of that of its %d points, of %d vertices",
                     reduced->meshes, reduced->meshes == 1 ? "es" : "", reduced->name, 1e3 * reduced->lost,
                     reduced->points, reduced->vertices));
}

static void robot_say_fields(RobotRemarks *to, const ArticulatedHost *host)
{
    const Robot *robot = host->robot;
    bool *seen = ARENA_NEW(to->arena, bool, robot->n_shapes + 1);
    for (int k = 0; k < robot->n_contacts && host->terrain == TERRAIN_file; k++) {
        const RobotShape *field = &robot->shapes[robot->contacts[k].ground];
        if (field->kind != ROBOT_HFIELD || seen[robot->contacts[k].ground]) continue;
        seen[robot->contacts[k].ground] = true;
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < field->rows * field->columns; i++) {
            low = fmin(robot->heights[field->first + i], low);
            high = fmax(robot->heights[field->first + i], high);
        }
        robot_say(to, "hfield", false,
                  arena_format(to->arena,
                               "%.60s%s%d x %d heights, %.4g m along x and %.4g m along y, from %.4g to %.4g m; no "
                               "ground beyond its edges, and ground however deep below it",
                               field->name, field->name[0] != '\0' ? ": " : "", field->rows, field->columns,
                               2.0 * field->size[0], 2.0 * field->size[1], field->p[2] + low, field->p[2] + high));
    }
}

static void robot_say_terrain(RobotRemarks *to, const ArticulatedHost *host, const ArticulatedConstants *c)
{
    double low = INFINITY, high = -INFINITY;
    if (host->terrain != TERRAIN_heights) return;
    for (int k = 0; k < host->n_rows * host->n_columns; k++) {
        low = fmin(host->heights[k], low);
        high = fmax(host->heights[k], high);
    }
    robot_say(to, "terrain", false,
              arena_format(to->arena, "%d x %d heights, %.4g m along x and %.4g m along y, from %.4g to %.4g m",
                           host->n_rows, host->n_columns, c->spacing * (host->n_columns - 1),
                           c->spacing * (host->n_rows - 1), low, high));
}

static void robot_say_reference(RobotRemarks *to, const ArticulatedHost *host, const ArticulatedConstants *c)
{
    if (c->n_targets == 0) return;
    const double *step = host->records, *fraction = host->records + c->n_records;
    const int last = c->n_records - 1;
    int between = 0;
    for (int r = 0; r <= last; r++) between += fraction[r] < 1.0;
    robot_say(to, "reference", false,
              arena_format(to->arena, "%d row%s of %d column%s from %.4g to %.4g s, %d between two steps", last + 1,
                           last > 0 ? "s" : "", c->n_targets, c->n_targets == 1 ? "" : "s",
                           (step[0] - 1 + fraction[0]) * c->dt, (step[last] - 1 + fraction[last]) * c->dt, between));
}

// What is likely wrong with it.
static void robot_say_doubts(RobotRemarks *to, const Configured *configured, const double *point, int count)
{
    const char *texts[ARTICULATED_DOUBTS];
    const int n = articulated_doubts(configured, point, count, to->arena, texts);
    for (int i = 0; i < n; i++) robot_say(to, "reference", true, texts[i]);
}

// Whether a law gives a driven body an effort.
static bool robot_is_pushed(const Law *law, const ArticulatedBody *body)
{
    int64_t at = -1;
    if (law != NULL) memcpy(&at, law->of.assets + law->outputs + 2 * (body->driven - 1) + 1, sizeof at);
    return at >= 0;
}

// Motors that are commanded by torque have no gains of their own.
static void robot_say_gains(RobotRemarks *to, const ArticulatedConstants *c, const double *assets, const Law *law)
{
    const ArticulatedBody *bodies = (const ArticulatedBody *)assets;
    const ArticulatedInput *inputs = (const ArticulatedInput *)(assets + c->inputs);
    int idle = 0;
    if ((c->uses & CONTROL_ACTS) != 0 && c->efforts != 0) return; // actions are efforts: no gains are needed
    for (int i = 0; i < c->n_bodies; i++) {
        bool gains = bodies[i].number[ARTICULATED_kp] != 0.0 || bodies[i].number[ARTICULATED_kd] != 0.0;
        for (int k = 0; k < c->n_inputs && !gains; k++)
            gains = inputs[k].body == i && (inputs[k].number == ARTICULATED_kp || inputs[k].number == ARTICULATED_kd);
        idle += bodies[i].driven != 0 && !gains && !robot_is_pushed(law, &bodies[i]);
    }
    if (idle == 0) return;
    robot_say(to, "motors", true,
              arena_format(to->arena,
                           "%d motor%s no gains and can do nothing: the file commands torques; give all_kp and "
                           "all_kd, or those of %s",
                           idle, idle == 1 ? " has" : "s have", idle == 1 ? "its joint" : "their joints"));
}

// A gain of a joint without a motor gives it one.
static void robot_say_added(RobotRemarks *to, const ArticulatedHost *host, const ArticulatedConstants *c,
                            const double *assets)
{
    const ArticulatedBody *bodies = (const ArticulatedBody *)assets;
    const char *names = "";
    int added = 0;
    for (int i = 0; i < c->n_bodies; i++) {
        const RobotJoint *joint = &host->robot->bodies[i].joint;
        if (bodies[i].driven == 0 || joint->motor.driven) continue;
        names = arena_format(to->arena, "%s%s%.60s", names, added++ > 0 ? ", " : "", joint->name);
    }
    if (added > 0)
        robot_say(to, "motors", true,
                  arena_format(to->arena, "%s %s no motor in the file, and %s one: the spec names %s gains", names,
                               added == 1 ? "has" : "have", added == 1 ? "gets" : "each gets",
                               added == 1 ? "its" : "their"));
}

// The legs of control: raibert, in the order of their phases.
static void robot_say_legs(RobotRemarks *to, const ArticulatedHost *host, const ArticulatedConstants *c,
                           const double *assets)
{
    const ArticulatedLeg *legs = (const ArticulatedLeg *)(assets + c->legs);
    const char *text = "";
    for (int i = 0; i < c->n_legs; i++)
        text = arena_format(to->arena, "%s%sphase_%d %.60s (%d joint%s)", text, i > 0 ? ", " : "", i + 1,
                            host->robot->bodies[legs[i].foot].name, legs[i].n_driven, legs[i].n_driven == 1 ? "" : "s");
    if (c->n_legs > 0) robot_say(to, "legs", false, text);
}

// Where steps of order two are not.
static void robot_say_order(RobotRemarks *to, const ArticulatedConstants *c)
{
    const bool touches = c->n_points > 0, walks = c->n_legs > 0;
    if (c->whole == 0 || (!touches && !walks)) return;
    robot_say(to, "order", false,
              arena_format(to->arena, "errors fall with dt^2 while forces are smooth, and with dt%s%s%s",
                           touches ? " where points begin or cease to touch the ground" : "",
                           touches && walks ? ", and" : "",
                           walks ? " because control raibert decides once a step" : ""));
}

int articulated_explain(const Configured *configured, const double *point, int count, Arena *arena, Remark *remarks)
{
    const ArticulatedHost *host = configured->host;
    RobotRemarks to = {.remarks = remarks, .arena = arena};
    ArticulatedConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    robot_say_whole(&to, host->robot);
    robot_say_notes(&to, host, true, false);
    robot_say_notes(&to, host, false, true);
    robot_say_notes(&to, host, false, false);
    robot_say_ground(&to, host, &c, configured->assets);
    robot_say_names(&to, host);
    robot_say_start(&to, configured, point, count);
    robot_say_legs(&to, host, &c, configured->assets);
    robot_say_order(&to, &c);
    robot_say_terrain(&to, host, &c);
    robot_say_fields(&to, host);
    robot_say_reduced(&to, host->robot);
    robot_say_reference(&to, host, &c);
    robot_say_doubts(&to, configured, point, count);
    robot_say_gains(&to, &c, configured->assets, configured->law);
    robot_say_added(&to, host, &c, configured->assets);
    return to.count;
}
