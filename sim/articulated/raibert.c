// control: raibert: which bodies of a robot are its feet, its legs, and the parameters of its gaits.
#include "articulated.h"

#include "../spatial/figure.h"

#include <string.h>

// ---- gaits ----------------------------------------------------------------------------------------------------------

// Legs stand in rows from front to hind, the left one first. A leg is ahead of the first one by a fraction of a stride
// for each row behind it, and for the right one.
#define RAIBERT_GAIT(name, ...) {__VA_ARGS__},
static const struct {
    double frequency, duty, bounce, row, right;
    bool wave;
} raibert_gaits[ARTICULATED_N_GAITS] = {ARTICULATED_GAITS(RAIBERT_GAIT)};
#undef RAIBERT_GAIT

static double raibert_phase_of(ArticulatedGait gait, int leg, int n_legs)
{
    const int row = leg / 2, rows = (n_legs + 1) / 2;
    const double of_row = raibert_gaits[gait].row / (raibert_gaits[gait].wave ? rows : 1);
    const double phase = row * of_row + leg % 2 * raibert_gaits[gait].right;
    return phase >= 1.0 ? phase - 1.0 : phase;
}

// What a gait gives: these parameters, then the phases of the legs.
static const int raibert_of_gait[] = {RAIBERT_stride_frequency, RAIBERT_duty, RAIBERT_bounce};
enum { RAIBERT_OF_GAIT = sizeof raibert_of_gait / sizeof raibert_of_gait[0] };

// Of what a gait gives, number k: its row among the parameters of control: raibert, and its value.
static int raibert_given_row(int k)
{
    return k < RAIBERT_OF_GAIT ? raibert_of_gait[k] : RAIBERT_PARAMETERS + k - RAIBERT_OF_GAIT;
}
static double raibert_given(const ArticulatedHost *host, ArticulatedGait gait, int k)
{
    const double own[RAIBERT_OF_GAIT] = {raibert_gaits[gait].frequency, raibert_gaits[gait].duty,
                                         raibert_gaits[gait].bounce};
    return k < RAIBERT_OF_GAIT ? own[k] : raibert_phase_of(gait, k - RAIBERT_OF_GAIT, host->n_feet);
}

int parameters_of_raibert(const ArticulatedHost *host, Parameter *parameters)
{
    const int count = host->n_feet > 0 ? RAIBERT_PARAMETERS + host->n_feet : 0;
    memcpy(parameters, articulated_extra + ARTICULATED_N_TERRAIN, (size_t)count * sizeof *parameters);
    for (int k = 0; k < RAIBERT_OF_GAIT + host->n_feet && count > 0; k++)
        parameters[raibert_given_row(k)].value = raibert_given(host, host->gait, k);
    return count;
}

void parameter_of_gait(const ArticulatedHost *host, int raibert_row, int row, Arena *arena, Parameter *parameters,
                       Configured *out)
{
    const int most = RAIBERT_OF_GAIT + host->n_feet;
    const char **choices = ARENA_NEW(arena, const char *, row + 1);
    Follower *followers = ARENA_NEW(arena, Follower, most);
    int count = 0;
    for (int k = 0; k < most; k++) {
        double *values = ARENA_NEW(arena, double, ARTICULATED_N_GAITS);
        bool differ = false;
        for (int gait = 0; gait < ARTICULATED_N_GAITS; gait++) {
            values[gait] = raibert_given(host, (ArticulatedGait)gait, k);
            differ |= values[gait] != values[0];
        }
        if (differ) followers[count++] = (Follower){raibert_row + raibert_given_row(k), row, values};
    }
    parameters[row] = articulated_extra[ARTICULATED_N_EXTRA - 1];
    parameters[row].value = host->gait;
    choices[row] = articulated_extra_choices[ARTICULATED_N_EXTRA - 1];
    out->choices = choices;
    out->followers = followers;
    out->n_followers = count;
}

// ---- feet -----------------------------------------------------------------------------------------------------------

// Bodies whose shapes may touch the ground: touches[n_bodies].
static void feet_touch(const ArticulatedHost *host, bool *touches)
{
    const Robot *robot = host->robot;
    memset(touches, 0, (size_t)robot->n_bodies * sizeof *touches);
    for (int s = 0; s < robot->n_shapes; s++) {
        const RobotShape *shape = &robot->shapes[s];
        if (shape->body >= 0 && articulated_on_terrain(host, shape)) touches[shape->body] = true;
    }
    for (int k = 0; k < robot->n_contacts; k++) {
        const RobotContact *contact = &robot->contacts[k];
        if (articulated_counts(host, contact)) touches[robot->shapes[contact->shape].body] = true;
    }
}

// Whether a body has the other above it in the tree.
static bool foot_is_below(const Robot *robot, int body, int above)
{
    while (body >= 0 && body != above) body = robot->bodies[body].parent;
    return body == above;
}

// The base, as layout.c finds it.
static int foot_base(const Robot *robot)
{
    int base = 0;
    for (int i = 1; i < robot->n_bodies && robot->bodies[base].mass == 0.0; i++)
        if (robot->bodies[i].parent == base) base = i;
    return base;
}

// Joints with one coordinate between the base and a body.
static int foot_joints(const Robot *robot, int base, int body)
{
    int count = 0;
    for (; body >= 0 && body != base; body = robot->bodies[body].parent)
        count += robot_joint_coordinates(robot->bodies[body].joint.kind) == 1;
    return count;
}

// Bodies that may be feet: the last of their limbs that touch the ground.
static int feet_find(const Robot *robot, const bool *touches, int base, int *feet)
{
    int count = 0;
    for (int i = 0; i < robot->n_bodies; i++) {
        bool last = i != base && touches[i] && foot_is_below(robot, i, base);
        for (int k = i + 1; k < robot->n_bodies && last; k++) last = !touches[k] || !foot_is_below(robot, k, i);
        if (last && foot_joints(robot, base, i) > 0) feet[count++] = i;
    }
    return count;
}

static const char *feet_text(const ArticulatedHost *host, const int *feet, int count, Arena *arena)
{
    const char *text = "";
    for (int i = 0; i < count && i < 12; i++)
        text = arena_format(arena, "%s%s%.60s", text, i > 0 ? ", " : "", host->robot->bodies[feet[i]].name);
    return arena_format(arena, "%s%s", text, count > 12 ? " ..." : "");
}

// Where a body stands if all joints have the coordinates of the file.
static void foot_position(const Robot *robot, int body, double *p)
{
    memset(p, 0, 3 * sizeof *p);
    for (; body >= 0; body = robot->bodies[body].parent) {
        figure_turn(robot->bodies[body].q, p, p);
        for (int k = 0; k < 3; k++) p[k] += robot->bodies[body].p[k];
    }
}

// Puts the feet in rows from front to hind, the left one of each first: where their limbs begin, as knees may bend.
static void feet_sort(const Robot *robot, int base, int *feet, int count)
{
    double at[ARTICULATED_LEGS][3];
    for (int i = 0; i < count; i++) {
        int root = feet[i];
        while (robot->bodies[root].parent != base) root = robot->bodies[root].parent;
        foot_position(robot, root, at[i]);
        const int foot = feet[i];
        const double x = at[i][0], y = at[i][1], z = at[i][2];
        int k = i;
        for (; k > 0 && (at[k - 1][0] < x - 1e-3 || (at[k - 1][0] <= x + 1e-3 && at[k - 1][1] < y)); k--) {
            feet[k] = feet[k - 1];
            memcpy(at[k], at[k - 1], sizeof at[k]);
        }
        feet[k] = foot;
        at[k][0] = x, at[k][1] = y, at[k][2] = z;
    }
}

static int foot_named(const ArticulatedHost *host, const char *name)
{
    for (int i = 0; i < host->robot->n_bodies; i++) {
        if (strcmp(host->robot->bodies[i].name, name) == 0 || strcmp(host->bodies[i], name) == 0) return i;
    }
    return -1;
}

// What is wrong with a body as a foot; NULL: nothing.
static const char *foot_refused(const Robot *robot, const bool *touches, int base, int foot)
{
    int joints = 0, bodies = 0, balls = 0;
    if (!foot_is_below(robot, foot, base) || foot == base) return "no joints lead to it from the base";
    for (int i = foot; i != base; i = robot->bodies[i].parent) {
        const RobotJointKind kind = robot->bodies[i].joint.kind;
        joints += robot_joint_coordinates(kind) == 1;
        balls += kind == ROBOT_BALL || kind == ROBOT_FREE;
        bodies++;
    }
    if (!touches[foot]) return "no shape of it collides with the ground";
    if (balls > 0) return "its leg has a ball joint; only hinge and slide are supported";
    if (joints == 0) return "no hinge or slide leads to it from the base";
    if (joints > ARTICULATED_LEG_JOINTS || bodies > ARTICULATED_LEG_BODIES) return "more than 6 joints lead to it";
    return NULL;
}

static Error feet_take(const Points *named, const ArticulatedHost *host, const bool *touches, int base,
                       const char *found, int *feet)
{
    for (int64_t i = 0; i < named->count; i++) {
        feet[i] = foot_named(host, named->names[i]);
        if (feet[i] < 0)
            return error_make(ERROR_USER, "control.legs: unknown body '%.60s'; possible feet: %s", named->names[i],
                              found);
        for (int64_t k = 0; k < i; k++) {
            if (feet[k] == feet[i]) return error_make(ERROR_USER, "control.legs names '%.60s' twice", named->names[i]);
        }
        const char *why = foot_refused(host->robot, touches, base, feet[i]);
        if (why != NULL)
            return error_make(ERROR_USER, "control.legs: '%.60s' cannot be a foot: %s; possible feet: %s",
                              named->names[i], why, found);
    }
    return error_none();
}

Error articulated_feet(const Points *named, int option, const ArticulatedConstants *c, Arena *arena,
                       ArticulatedHost *host, Configured *out)
{
    const Robot *robot = host->robot;
    const int base = foot_base(robot);
    bool *touches = ARENA_NEW(arena, bool, robot->n_bodies + 1);
    int *feet = ARENA_NEW(arena, int, robot->n_bodies + (int)named->count), count = 0;
    out->wrong_option = option;
    if ((c->uses & CONTROL_LEGS) == 0 && named->count > 0)
        return error_make(ERROR_USER, "control.legs needs control: {mode: raibert}");
    if ((c->uses & CONTROL_LEGS) != 0) {
        feet_touch(host, touches);
        count = feet_find(robot, touches, base, feet);
        const char *found =
            count > 0 ? feet_text(host, feet, count, arena) : "none: no limb ends in a shape that touches the ground";
        if (named->count > ARTICULATED_LEGS || (named->count == 0 && (count == 0 || count > ARTICULATED_LEGS)))
            return error_make(ERROR_USER, "control raibert needs 1 to %d feet in control.legs; possible feet: %s",
                              ARTICULATED_LEGS, found);
        for (int i = 0; i < count && named->count == 0; i++) {
            const char *why = foot_refused(robot, touches, base, feet[i]);
            if (why != NULL)
                return error_make(ERROR_USER,
                                  "control raibert: '%.60s' cannot be a foot: %s; name the feet in "
                                  "control.legs",
                                  robot->bodies[feet[i]].name, why);
        }
        if (named->count == 0) feet_sort(robot, base, feet, count);
        if (named->count > 0) TRY(feet_take(named, host, touches, base, found, feet));
        if (named->count > 0) count = (int)named->count;
    }
    out->wrong_option = 0;
    host->feet = feet;
    host->n_feet = count;
    return error_none();
}

// ---- legs -----------------------------------------------------------------------------------------------------------

const ArticulatedLeg *articulated_legs(const ArticulatedHost *host, const ArticulatedBody *bodies, int base,
                                       Arena *arena)
{
    ArticulatedLeg *legs = ARENA_NEW(arena, ArticulatedLeg, host->n_feet + 1);
    for (int i = 0; i < host->n_feet; i++) {
        ArticulatedLeg *leg = &legs[i];
        *leg = (ArticulatedLeg){.foot = host->feet[i]};
        for (int b = leg->foot; b != base; b = bodies[b].parent) leg->n_bodies++;
        for (int b = leg->foot, k = leg->n_bodies; b != base; b = bodies[b].parent) leg->bodies[--k] = b;
        for (int k = 0; k < leg->n_bodies; k++) {
            if (bodies[leg->bodies[k]].driven != 0) leg->driven[leg->n_driven++] = leg->bodies[k];
        }
    }
    return legs;
}
