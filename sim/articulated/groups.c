// Groups of joints and designs, as a spec names them.
#include "articulated.h"

#include <string.h>
#include <strings.h>

// clang-format off
static const ItemField group_fields[] = {
    {"name", ITEM_NAME, 1, 1, "", 0, 0, 0, NULL, NULL, "of the group; parameters of all its joints begin with it"},
    {"joints", ITEM_WORDS, 1, 1, "", 0, 0, 0, NULL, NULL,
     "names of the joints; of two the second is the other side: its gait is half a period later"},
};
static const ItemField design_fields[] = {
    {"name", ITEM_NAME, 1, 1, "", 0, 0, 0, NULL, NULL, "of the parameter"},
    {"rotate", ITEM_WORDS, 0, 1, "", 0, 0, 0, NULL, NULL, "joints or a group: the parameter turns the frames that they "
     "move about an axis of theirs"},
    {"length", ITEM_WORDS, 0, 1, "", 0, 0, 0, NULL, NULL, "the same: lengths and masses of these bodies times the "
     "parameter, inertias times its cube"},
    {"mass", ITEM_WORDS, 0, 1, "", 0, 0, 0, NULL, NULL, "the same: masses and inertias of these bodies"},
    {"gain", ITEM_WORDS, 0, 1, "", 0, 0, 0, NULL, NULL, "the same: kp and kd of these joints"},
    {"axis", ITEM_CHOICE, 1, 1, "", 0, 0, 2, "x|y|z", NULL, "of rotate"},
    {"mirror", ITEM_BOOLEAN, 1, 1, "", 0, 0, 1, NULL, NULL, "of rotate: the second joint turns as in a mirror"},
};
const List articulated_lists[2] = {
    {"groups", group_fields, 2, 256, "joints that share parameters",
     "{hip: [left_hip, right_hip], knee: [left_knee, right_knee]}"},
    {"design", design_fields, 7, 256, "parameters that change the robot's shape or strength",
     "{shank: {length: knee}, hip_tilt: {rotate: hip, axis: x, mirror: true}}"},
};
// clang-format on
enum { DESIGN_AXIS, DESIGN_MIRROR, DESIGN_WIDTH }; // doubles of an item

// Index of a joint by its name in the file, or as it stands in parameters; -1: none.
static int group_joint(const ArticulatedHost *host, const char *name)
{
    for (int i = 0; i < host->robot->n_bodies; i++) {
        const RobotJoint *joint = &host->robot->bodies[i].joint;
        const bool named = strcmp(joint->name, name) == 0 || strcmp(host->joints[i], name) == 0;
        if (named && joint->kind != ROBOT_FREE && joint->kind != ROBOT_WELD) return i;
    }
    return -1;
}

static const ArticulatedGroup *group_find(const ArticulatedGroup *groups, int count, const char *name)
{
    for (int g = 0; g < count; g++) {
        if (strcmp(groups[g].name, name) == 0) return &groups[g];
    }
    return NULL;
}

static const char *const group_lists[] = {"group", "design"};
typedef struct GroupItem {
    int list; // of group_lists
    int64_t item;
    const char *name; // of the item
} GroupItem;

static void group_wrong(const GroupItem *at, Configured *out)
{
    out->wrong_list = at->list + 1;
    out->wrong_item = at->item;
}

static Error group_add(const ArticulatedHost *host, const GroupItem *at, int body, Configured *out,
                       ArticulatedGroup *group, int *bodies)
{
    for (int k = 0; k < group->n_bodies; k++) {
        if (bodies[k] != body) continue;
        group_wrong(at, out);
        return error_make(ERROR_USER, "%s %.60s names joint '%.100s' twice: name it once", group_lists[at->list],
                          at->name, host->robot->bodies[body].joint.name);
    }
    bodies[group->n_bodies++] = body;
    return error_none();
}

// The joints that words name, each also the name of a group; no joint twice.
static Error group_of_words(const ArticulatedHost *host, const char *const *words, int n_groups, const GroupItem *at,
                            Arena *arena, Configured *out, ArticulatedGroup *group)
{
    int *bodies = ARENA_NEW(arena, int, host->robot->n_bodies);
    group->bodies = bodies;
    group->n_bodies = 0;
    for (; *words != NULL; words++) {
        const ArticulatedGroup *other = group_find(host->groups, n_groups, *words);
        const int joint = group_joint(host, *words), n = other != NULL ? other->n_bodies : 1;
        if (other == NULL && joint < 0) {
            group_wrong(at, out);
            return error_make(ERROR_USER, "%s %.60s names '%.100s', and the robot has no such joint or group",
                              group_lists[at->list], at->name, *words);
        }
        for (int k = 0; k < n; k++)
            TRY(group_add(host, at, other != NULL ? other->bodies[k] : joint, out, group, bodies));
    }
    return error_none();
}

// All driven joints are a group, the first.
static void group_all(const ArticulatedHost *host, Arena *arena, ArticulatedGroup *group)
{
    int *bodies = ARENA_NEW(arena, int, host->robot->n_bodies), count = 0;
    for (int i = 0; i < host->robot->n_bodies; i++) {
        const RobotJoint *joint = &host->robot->bodies[i].joint;
        if (joint->motor.driven && robot_joint_coordinates(joint->kind) == 1) bodies[count++] = i;
    }
    *group = (ArticulatedGroup){"all", bodies, count};
}

// A group's parameters begin with its name, like those of joints.
static Error group_named(const ArticulatedHost *host, const GroupItem *at, Configured *out)
{
    const bool all = strcasecmp(at->name, host->groups[0].name) == 0, own = articulated_is_own(at->name, false, false);
    bool joint = group_joint(host, at->name) >= 0;
    for (int i = 0; i < host->robot->n_bodies && !joint; i++)
        joint = robot_joint_coordinates(host->robot->bodies[i].joint.kind) == 1 &&
                strcasecmp(host->joints[i], at->name) == 0;
    if (!all && !joint && !own) return error_none();
    group_wrong(at, out);
    if (all) return error_make(ERROR_USER, "the name `all` is taken: that group holds all driven joints");
    if (own)
        return error_make(ERROR_USER,
                          "group %.60s would give a parameter that the model has already: give it another name",
                          at->name);
    return error_make(ERROR_USER, "group %.60s has the name of a joint: give it another", at->name);
}

// A design is a parameter of its own.
static Error design_named(const ArticulatedHost *host, const GroupItem *at, Configured *out)
{
    bool metric = false;
    const bool reserved = name_is_reserved(at->name);
    for (int m = 0; m < out->n_metrics; m++) metric |= strcasecmp(out->metrics[m].name, at->name) == 0;
    if (!metric && !reserved && !articulated_is_parameter(host, at->name)) return error_none();
    group_wrong(at, out);
    return error_make(ERROR_USER, "design %.60s has the name of a %s: give it another", at->name,
                      metric     ? "metric"
                      : reserved ? "column of tables"
                                 : "parameter");
}

static Error group_designs(const Points *designs, ArticulatedHost *host, Arena *arena, Configured *out)
{
    ArticulatedPlan *plans = ARENA_NEW(arena, ArticulatedPlan, ARTICULATED_DESIGNS * designs->count + 1);
    int n = 0;
    for (int64_t i = 0; i < designs->count; i++) {
        const double *item = designs->items + i * DESIGN_WIDTH;
        const GroupItem at = {1, i, designs->names[i]};
        const int before = n;
        TRY(design_named(host, &at, out));
        for (int kind = 0; kind < ARTICULATED_DESIGNS; kind++) {
            const char *const *words = designs->words[i * ARTICULATED_DESIGNS + kind];
            ArticulatedGroup *group = ARENA_NEW(arena, ArticulatedGroup, 1);
            if (words == NULL) continue;
            TRY(group_of_words(host, words, host->n_groups, &at, arena, out, group));
            group->name = words[0];
            plans[n++] = (ArticulatedPlan){designs->names[i], (ArticulatedDesignKind)kind, group,
                                           (int)item[DESIGN_AXIS], item[DESIGN_MIRROR] != 0.0};
        }
        if (n == before + 1) continue;
        group_wrong(&at, out);
        return error_make(ERROR_USER, "design %s must have one of rotate, length, mass and gain", designs->names[i]);
    }
    host->plans = plans;
    host->n_plans = n;
    return error_none();
}

Error articulated_groups(const Points *lists, ArticulatedHost *host, Arena *arena, Configured *out)
{
    const Points *groups = &lists[0];
    ArticulatedGroup *all = ARENA_NEW(arena, ArticulatedGroup, groups->count + 1);
    group_all(host, arena, &all[0]);
    host->groups = all;
    host->n_groups = 1;
    for (int64_t i = 0; i < groups->count; i++) {
        ArticulatedGroup *group = &all[host->n_groups];
        const GroupItem at = {0, i, groups->names[i]};
        group->name = at.name;
        TRY(group_named(host, &at, out));
        TRY(group_of_words(host, groups->words[i], host->n_groups, &at, arena, out, group));
        host->n_groups++;
    }
    return group_designs(&lists[1], host, arena, out);
}
