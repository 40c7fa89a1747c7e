// Parameters and columns of a robot. A robot has dozens of numbers a joint: only those that the spec names become lane
// inputs.
#include "articulated.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// ---- parameters -----------------------------------------------------------------------------------------------------

#define ARTICULATED_ROW(name, unit, value, low, high, doc) {#name, unit, value, low, high, SECTION_PARAMETERS, doc},
#define ARTICULATED_ROW_INITIAL(name, unit, value, doc) {#name, unit, value, -1e6, 1e6, SECTION_INITIAL, doc},
static const Parameter articulated_always[ARTICULATED_N_PARAMETERS] = {
    ARTICULATED_PARAMETERS(ARTICULATED_ROW) ARTICULATED_INITIAL(ARTICULATED_ROW_INITIAL)};
#undef ARTICULATED_ROW
#undef ARTICULATED_ROW_INITIAL

#define ARTICULATED_ROW(name, unit, value, low, high, doc)                                                             \
    {#name, unit, value, low, high, SECTION_PARAMETERS, doc " (control: raibert)"},
#define ARTICULATED_ROW_PHASE(k)                                                                                       \
    {"phase_" #k,                                                                                                      \
     "1",                                                                                                              \
     0.0,                                                                                                              \
     -1e3,                                                                                                             \
     1e3,                                                                                                              \
     SECTION_PARAMETERS,                                                                                               \
     "strides that leg " #k " is ahead; its default is that of control.gait (control: raibert)"},
#define ARTICULATED_ROW_GAIT                                                                                           \
    {ARTICULATED_GAIT,                                                                                                 \
     "1",                                                                                                              \
     ARTICULATED_GAIT_trot,                                                                                            \
     0,                                                                                                                \
     ARTICULATED_N_GAITS - 1,                                                                                          \
     SECTION_PARAMETERS,                                                                                               \
     "gait of each trial, if the spec names it; its default is control.gait (control: raibert)"},
#define ARTICULATED_ROW_TERRAIN(name, unit, value, low, high, section, has, doc)                                       \
    {#name, unit, value, low, high, section, doc},
const Parameter articulated_extra[ARTICULATED_N_EXTRA] = {
    TERRAIN_START(ARTICULATED_ROW_TERRAIN) TERRAIN_SIZES(ARTICULATED_ROW_TERRAIN) TERRAIN_GRID(ARTICULATED_ROW_TERRAIN)
        ARTICULATED_RAIBERT(ARTICULATED_ROW) ARTICULATED_ROW_PHASE(1) ARTICULATED_ROW_PHASE(2) ARTICULATED_ROW_PHASE(3)
            ARTICULATED_ROW_PHASE(4) ARTICULATED_ROW_PHASE(5) ARTICULATED_ROW_PHASE(6) ARTICULATED_ROW_PHASE(7)
                ARTICULATED_ROW_PHASE(8) ARTICULATED_ROW_GAIT};
const char *const articulated_extra_choices[ARTICULATED_N_EXTRA] = {[ARTICULATED_N_EXTRA - 1] =
                                                                        &("" ARTICULATED_GAITS(CHOICE_WORD))[1]};
#undef ARTICULATED_ROW
#undef ARTICULATED_ROW_PHASE
#undef ARTICULATED_ROW_GAIT
#undef ARTICULATED_ROW_TERRAIN
_Static_assert(ARTICULATED_LEGS == 8, "a phase for each leg");

// Numbers that can be named: NAME_suffix, with the name of a body, of a hinge or slide or a group of these, of a joint
// with an angular velocity (ball; free, by its body), or of a free body that is not the base.
#define ANGULAR "angular velocity at t = 0; of a ball against its parent, body axes; of a free body world axes"
#define LINEAR "velocity of its frame at t = 0, to which that of all bodies (base_vx ...) is added"
typedef enum ArticulatedOwner { OF_BODY, OF_JOINT, OF_WIDE, OF_OTHER } ArticulatedOwner;
static const struct {
    const char *suffix, *unit, *of_slide;
    int number;
    ArticulatedOwner of;
    ParameterSection section;
    double low, high;
    const char *doc;
} articulated_numbers[] = {
    {"mass", "kg", NULL, ARTICULATED_mass, OF_BODY, SECTION_PARAMETERS, 1e-9, 1e6, "mass"},
    {"ixx", "kg m^2", NULL, ARTICULATED_xx, OF_BODY, SECTION_PARAMETERS, 1e-15, 1e9, "inertia about its centre"},
    {"iyy", "kg m^2", NULL, ARTICULATED_yy, OF_BODY, SECTION_PARAMETERS, 1e-15, 1e9, "inertia about its centre"},
    {"izz", "kg m^2", NULL, ARTICULATED_zz, OF_BODY, SECTION_PARAMETERS, 1e-15, 1e9, "inertia about its centre"},
    {"ixy", "kg m^2", NULL, ARTICULATED_xy, OF_BODY, SECTION_PARAMETERS, -1e9, 1e9, "inertia about its centre"},
    {"ixz", "kg m^2", NULL, ARTICULATED_xz, OF_BODY, SECTION_PARAMETERS, -1e9, 1e9, "inertia about its centre"},
    {"iyz", "kg m^2", NULL, ARTICULATED_yz, OF_BODY, SECTION_PARAMETERS, -1e9, 1e9, "inertia about its centre"},
    {"movedx", "m", NULL, ARTICULATED_moved_x, OF_BODY, SECTION_PARAMETERS, -1e3, 1e3,
     "its centre of mass from that of the file, axes of the body"},
    {"movedy", "m", NULL, ARTICULATED_moved_y, OF_BODY, SECTION_PARAMETERS, -1e3, 1e3, "the same"},
    {"movedz", "m", NULL, ARTICULATED_moved_z, OF_BODY, SECTION_PARAMETERS, -1e3, 1e3, "the same"},
    {"logx", "1", NULL, ARTICULATED_log_x, OF_BODY, SECTION_PARAMETERS, -30, 30,
     "log-Cholesky numbers of its inertia about its centre, which some body has for any of their values: logarithm of "
     "how much wider than in the file its mass spreads along x"},
    {"logy", "1", NULL, ARTICULATED_log_y, OF_BODY, SECTION_PARAMETERS, -30, 30, "the same along y"},
    {"logz", "1", NULL, ARTICULATED_log_z, OF_BODY, SECTION_PARAMETERS, -30, 30, "the same along z"},
    {"shearxy", "1", NULL, ARTICULATED_shear_xy, OF_BODY, SECTION_PARAMETERS, -1e6, 1e6,
     "with logx: shear of how it spreads"},
    {"shearxz", "1", NULL, ARTICULATED_shear_xz, OF_BODY, SECTION_PARAMETERS, -1e6, 1e6, "the same"},
    {"shearyz", "1", NULL, ARTICULATED_shear_yz, OF_BODY, SECTION_PARAMETERS, -1e6, 1e6, "the same"},
    {"kp", "N m/rad", "N/m", ARTICULATED_kp, OF_JOINT, SECTION_PARAMETERS, 0, 1e9, "motor: gain on the position"},
    {"kd", "N m s/rad", "N s/m", ARTICULATED_kd, OF_JOINT, SECTION_PARAMETERS, 0, 1e9, "motor: gain on the rate"},
    {"effort", "N m", "N", ARTICULATED_effort, OF_JOINT, SECTION_PARAMETERS, 0, INFINITY,
     "motor: greatest effort, either way"},
    {"least", "N m", "N", ARTICULATED_least, OF_JOINT, SECTION_PARAMETERS, -INFINITY, INFINITY,
     "motor: least effort, where it is weaker one way"},
    {"most", "N m", "N", ARTICULATED_most, OF_JOINT, SECTION_PARAMETERS, -INFINITY, INFINITY,
     "motor: greatest effort, where it is weaker the other way"},
    {"bias", "N m", "N", ARTICULATED_bias, OF_JOINT, SECTION_PARAMETERS, -1e9, 1e9,
     "motor: constant effort beside its gains"},
    {"armature", "kg m^2", "kg", ARTICULATED_armature, OF_JOINT, SECTION_PARAMETERS, 0, 1e6, "inertia of the rotor"},
    {"damping", "N m s/rad", "N s/m", ARTICULATED_damping, OF_JOINT, SECTION_PARAMETERS, 0, 1e9, "viscous friction"},
    {"stiffness", "N m/rad", "N/m", ARTICULATED_stiffness, OF_JOINT, SECTION_PARAMETERS, 0, 1e9, "of a passive spring"},
    {"spring", "rad", "m", ARTICULATED_spring, OF_JOINT, SECTION_PARAMETERS, -1e3, 1e3, "where that spring is at rest"},
    {"friction", "N m", "N", ARTICULATED_friction, OF_JOINT, SECTION_PARAMETERS, 0, 1e6, "dry friction"},
    {"stiction", "N m", "N", ARTICULATED_stiction, OF_JOINT, SECTION_PARAMETERS, 0, 1e6,
     "dry friction at rest beyond `friction`: times exp(-(rate/stribeck)^2)"},
    {"stribeck", "rad/s", "m/s", ARTICULATED_stribeck, OF_JOINT, SECTION_PARAMETERS, 1e-6, 1e6,
     "rate at which stiction has fallen to 1/e"},
    {"load", "1", NULL, ARTICULATED_load, OF_JOINT, SECTION_PARAMETERS, 0, 1e3,
     "dry friction by the size of the motor's effort"},
    {"stickload", "1", NULL, ARTICULATED_stickload, OF_JOINT, SECTION_PARAMETERS, 0, 1e3,
     "the same at rest beyond `load`: times exp(-(rate/stribeck)^2)"},
    {"drag", "N m s^2/rad^2", "N s^2/m^2", ARTICULATED_drag, OF_JOINT, SECTION_PARAMETERS, 0, 1e9,
     "friction by the square of the rate"},
    {"encoder", "rad", "m", ARTICULATED_encoder, OF_JOINT, SECTION_PARAMETERS, -1e3, 1e3,
     "what its encoder reads beyond the coordinate: to the motor's gain kp and to reference_error"},
    {"delay", "s", NULL, ARTICULATED_delay, OF_JOINT, SECTION_PARAMETERS, 0, 1e3,
     "how late commands come; between steps in proportion. Of control external, law and policy at most "
     "control.longest_delay"},
    {"resistance", "ohm", NULL, ARTICULATED_resistance, OF_JOINT, SECTION_PARAMETERS, 1e-9, 1e9,
     "of the windings of a motor that is driven by a voltage kp (command - coordinate) - kd rate + bias: its kp, kd "
     "and bias are in V/rad, V s/rad and V"},
    {"kt", "N m/A", NULL, ARTICULATED_kt, OF_JOINT, SECTION_PARAMETERS, 0, 1e6, "of that motor: torque by current"},
    {"emf", "V s/rad", NULL, ARTICULATED_emf, OF_JOINT, SECTION_PARAMETERS, 0, 1e6,
     "of that motor: back-EMF by rate; in SI units an ideal motor has emf = kt"},
    {"gear", "1", "1/m", ARTICULATED_gear, OF_JOINT, SECTION_PARAMETERS, 1e-6, 1e6,
     "of that motor: its rate by that of the joint"},
    {"voltage", "V", NULL, ARTICULATED_voltage, OF_JOINT, SECTION_PARAMETERS, 0, INFINITY,
     "of that motor: greatest voltage, either way"},
    {"low", "rad", "m", ARTICULATED_low, OF_JOINT, SECTION_PARAMETERS, -INFINITY, INFINITY, "least coordinate"},
    {"high", "rad", "m", ARTICULATED_high, OF_JOINT, SECTION_PARAMETERS, -INFINITY, INFINITY, "greatest coordinate"},
    {"offset", "rad", "m", ARTICULATED_offset, OF_JOINT, SECTION_PARAMETERS, -1e3, 1e3, "command that the motor holds"},
    {"amplitude", "rad", "m", ARTICULATED_amplitude, OF_JOINT, SECTION_PARAMETERS, -1e3, 1e3,
     "control gait: amplitude of the command about its offset"},
    {"phase", "rad", "rad", ARTICULATED_phase, OF_JOINT, SECTION_PARAMETERS, -1e3, 1e3,
     "control gait: offset + amplitude sin(2 pi gait_frequency t + phase); the second joint of a group of two has half "
     "a turn more"},
    {"start", "rad", "m", ARTICULATED_start, OF_JOINT, SECTION_INITIAL, -1e3, 1e3, "coordinate at t = 0"},
    {"rate", "rad/s", "m/s", ARTICULATED_rates, OF_JOINT, SECTION_INITIAL, -1e3, 1e3, "rate at t = 0"},
    {"wx", "rad/s", NULL, ARTICULATED_rates, OF_WIDE, SECTION_INITIAL, -1e3, 1e3, ANGULAR},
    {"wy", "rad/s", NULL, ARTICULATED_rates + 1, OF_WIDE, SECTION_INITIAL, -1e3, 1e3, ANGULAR},
    {"wz", "rad/s", NULL, ARTICULATED_rates + 2, OF_WIDE, SECTION_INITIAL, -1e3, 1e3, ANGULAR},
    {"vx", "m/s", NULL, ARTICULATED_rates + 3, OF_OTHER, SECTION_INITIAL, -1e6, 1e6, LINEAR},
    {"vy", "m/s", NULL, ARTICULATED_rates + 4, OF_OTHER, SECTION_INITIAL, -1e6, 1e6, LINEAR},
    {"vz", "m/s", NULL, ARTICULATED_rates + 5, OF_OTHER, SECTION_INITIAL, -1e6, 1e6, LINEAR},
};
enum { ARTICULATED_NAMED = sizeof articulated_numbers / sizeof articulated_numbers[0] };

#define ARTICULATED_ROW(name, ...) #name,
static const char *const articulated_metrics[ARTICULATED_N_METRICS] = {ARTICULATED_METRICS(ARTICULATED_ROW)};
#undef ARTICULATED_ROW

// Whether the model has a parameter or a metric that is called so, whatever the settings.
static bool own_name(const char *name)
{
    bool is = false;
    for (int k = 0; k < ARTICULATED_N_PARAMETERS; k++) is |= strcasecmp(articulated_always[k].name, name) == 0;
    for (int k = 0; k < ARTICULATED_N_EXTRA; k++) is |= strcasecmp(articulated_extra[k].name, name) == 0;
    for (int k = 0; k < ARTICULATED_N_METRICS; k++) is |= strcasecmp(articulated_metrics[k], name) == 0;
    return is;
}

// Whether a body, joint or group has the first `length` characters as its name.
static bool parameter_names(const ArticulatedHost *host, const char *name, size_t length)
{
    for (int g = 0; g < host->n_groups; g++) {
        if (strlen(host->groups[g].name) == length && strncasecmp(host->groups[g].name, name, length) == 0) return true;
    }
    for (int i = 0; i < host->robot->n_bodies; i++) {
        if (strlen(host->bodies[i]) == length && strncasecmp(host->bodies[i], name, length) == 0) return true;
        if (strlen(host->joints[i]) == length && strncasecmp(host->joints[i], name, length) == 0) return true;
    }
    return false;
}

bool articulated_is_parameter(const ArticulatedHost *host, const char *name)
{
    const char *last = strrchr(name, '_');
    bool is = own_name(name);
    for (int row = 0; row < ARTICULATED_NAMED && last != NULL; row++)
        is |= strcasecmp(articulated_numbers[row].suffix, last + 1) == 0 &&
              parameter_names(host, name, (size_t)(last - name));
    return is;
}

// PREFIX_suffix, in `text`; false: it is too long for a name of the model's own.
static bool own_join(char text[64], const char *prefix, const char *suffix)
{
    return snprintf(text, 64, "%s_%s", prefix, suffix) < 64;
}

bool articulated_is_own(const char *name, bool body, bool wide)
{
    char text[64];
    for (int row = 0; row < ARTICULATED_NAMED; row++) {
        const ArticulatedOwner of = articulated_numbers[row].of;
        const bool rate = articulated_numbers[row].number >= ARTICULATED_rates; // candidate_name
        const bool counts = !rate && of == (body ? OF_BODY : OF_JOINT);
        if (counts && own_join(text, name, articulated_numbers[row].suffix) && own_name(text)) return true;
    }
    return wide && strcasecmp(name, "base") == 0; // base_x ... base_qw
}

#define ARTICULATED_PROFILE(name, has)                                                                                 \
    _Static_assert(((has)&TERRAIN_HAS_start) != 0 &&                                                                   \
                       (((has)&TERRAIN_HAS_slope) != 0) != (((has)&TERRAIN_HAS_height) != 0),                          \
                   "a profile has a start, and either a slope or a height");
TERRAIN_PROFILES(ARTICULATED_PROFILE)
#undef ARTICULATED_PROFILE

// Appends the parameters that this terrain has; returns how many.
static int parameters_of_terrain(TerrainKind terrain, Parameter *parameters)
{
#define ARTICULATED_HAS(name, unit, value, low, high, section, has, doc) has,
#define ARTICULATED_TERRAIN_HAS(word, has) has,
    static const int bits[] = {TERRAIN_START(ARTICULATED_HAS) TERRAIN_SIZES(ARTICULATED_HAS)
                                   TERRAIN_GRID(ARTICULATED_HAS)};
    static const int of_kind[] = {TERRAINS(ARTICULATED_TERRAIN_HAS)};
#undef ARTICULATED_HAS
#undef ARTICULATED_TERRAIN_HAS
    int count = 0;
    for (int k = 0; k < ARTICULATED_N_TERRAIN; k++)
        if ((of_kind[terrain] & bits[k]) != 0) parameters[count++] = articulated_extra[k];
    return count;
}

// A number of bodies, joints or groups that a spec may name.
typedef struct ArticulatedCandidate {
    const char *name;
    const ArticulatedGroup *of;
    int number, row; // ARTICULATED_...; of the table of names
} ArticulatedCandidate;

static int candidates_compare(const void *a, const void *b)
{
    return strcmp(((const ArticulatedCandidate *)a)->name, ((const ArticulatedCandidate *)b)->name);
}

// A rate that is called like one of the model's own (a joint `yaw` with control: raibert) gets a number.
static const char *candidate_name(const ArticulatedGroup *group, int row, Arena *arena)
{
    const char *name = arena_format(arena, "%s_%s", group->name, articulated_numbers[row].suffix);
    const bool rate = articulated_numbers[row].number >= ARTICULATED_rates;
    return rate && own_name(name) ? arena_format(arena, "%s_2", name) : name;
}

static void candidates_add(ArticulatedCandidate *all, int *count, const ArticulatedGroup *group, ArticulatedOwner of,
                           Arena *arena)
{
    for (int row = 0; row < ARTICULATED_NAMED; row++) {
        if (articulated_numbers[row].of != of) continue;
        all[(*count)++] =
            (ArticulatedCandidate){candidate_name(group, row, arena), group, articulated_numbers[row].number, row};
    }
}

// A body or joint as a group of one.
static const ArticulatedGroup *group_of_one(const char *name, int body, Arena *arena)
{
    ArticulatedGroup *group = ARENA_NEW(arena, ArticulatedGroup, 1);
    int *bodies = ARENA_NEW(arena, int, 1);
    *bodies = body;
    *group = (ArticulatedGroup){name, bodies, 1};
    return group;
}

// All names, groups first: what is said of one joint is said after what is said of its group.
static ArticulatedCandidate *candidates_all(const ArticulatedHost *host, const ArticulatedBody *bodies, Arena *arena,
                                            int *count)
{
    const int n = host->robot->n_bodies;
    ArticulatedCandidate *all =
        ARENA_NEW(arena, ArticulatedCandidate, (size_t)(2 * n + host->n_groups) * ARTICULATED_NAMED);
    *count = 0;
    for (int g = 0; g < host->n_groups; g++) {
        if (host->groups[g].n_bodies > 0) candidates_add(all, count, &host->groups[g], OF_JOINT, arena);
    }
    for (int i = 0; i < n; i++) {
        const bool free = bodies[i].kind == ROBOT_FREE, base = free && i == 0;
        const char *wide = base ? "base" : free ? host->bodies[i] : host->joints[i];
        candidates_add(all, count, group_of_one(host->bodies[i], i, arena), OF_BODY, arena);
        if (bodies[i].joint >= 0) candidates_add(all, count, group_of_one(host->joints[i], i, arena), OF_JOINT, arena);
        if (free || bodies[i].kind == ROBOT_BALL)
            candidates_add(all, count, group_of_one(wide, i, arena), OF_WIDE, arena);
        if (free && !base) candidates_add(all, count, group_of_one(wide, i, arena), OF_OTHER, arena);
    }
    return all;
}

// wanted[count]: the candidates that the words name.
static void candidates_mark(const ArticulatedCandidate *all, int count, const Choice *choice, bool *wanted,
                            Arena *arena)
{
    ArticulatedCandidate *sorted = ARENA_NEW(arena, ArticulatedCandidate, count + 1);
    for (int i = 0; i < count; i++) {
        sorted[i] = all[i];
        sorted[i].row = i;
    }
    qsort(sorted, (size_t)count, sizeof *sorted, candidates_compare);
    for (int64_t k = 0; choice != NULL && k < choice->n_words; k++) {
        const ArticulatedCandidate key = {.name = choice->words[k]};
        const ArticulatedCandidate *found = bsearch(&key, sorted, (size_t)count, sizeof key, candidates_compare);
        if (found != NULL) wanted[found->row] = true;
    }
}

static bool choice_names(const Choice *choice, const char *name)
{
    bool names = false;
    for (int64_t k = 0; choice != NULL && k < choice->n_words; k++) names |= strcmp(choice->words[k], name) == 0;
    return names;
}

static Parameter articulated_parameter(const ArticulatedHost *host, const ArticulatedCandidate *of,
                                       const ArticulatedBody *bodies, Arena *arena)
{
    const int row = of->row, first = of->of->bodies[0], rate = of->number - ARTICULATED_rates;
    const bool slides = bodies[first].kind == ROBOT_SLIDE && articulated_numbers[row].of_slide != NULL;
    const bool late = of->number == ARTICULATED_delay && host->longest_delay > 0.0;
    return (Parameter){.name = of->name,
                       .unit = slides ? articulated_numbers[row].of_slide : articulated_numbers[row].unit,
                       .value = rate < 0 ? bodies[first].number[of->number] : host->rates[ROBOT_RATES * first + rate],
                       .low = articulated_numbers[row].low,
                       .high = late ? host->longest_delay : articulated_numbers[row].high,
                       .section = articulated_numbers[row].section,
                       .doc = arena_format(arena, "%s; %s", of->of->name, articulated_numbers[row].doc)};
}

static const struct {
    const char *unit, *doc;
    double value, low, high;
} articulated_designs[ARTICULATED_DESIGNS] = {
    [ARTICULATED_ROTATE] = {"rad", "turns the frame of", 0.0, -3.2, 3.2},
    [ARTICULATED_LENGTH] = {"1", "length of, times that of the file", 1.0, 0.01, 100.0},
    [ARTICULATED_WEIGHT] = {"1", "mass of, times that of the file", 1.0, 0.01, 100.0},
    [ARTICULATED_GAIN] = {"1", "kp and kd of, times those of the motor", 1.0, 0.0, 1e3},
};

// A parameter for each design, behind `*n`; returns what they change in the bodies.
static const ArticulatedDesign *articulated_plan(const ArticulatedHost *host, Arena *arena, Parameter *parameters,
                                                 int *n, int *count)
{
    int most = 0;
    for (int i = 0; i < host->n_plans; i++) most += host->plans[i].of->n_bodies;
    ArticulatedDesign *designs = ARENA_NEW(arena, ArticulatedDesign, most + 1);
    *count = 0;
    for (int i = 0; i < host->n_plans; i++) {
        const ArticulatedPlan *plan = &host->plans[i];
        for (int k = 0; k < plan->of->n_bodies; k++) { // (x, y, z) of the left is (-x, y, -z) of the right
            const bool mirrored = plan->mirror && k == 1 && plan->axis != 1;
            designs[(*count)++] =
                (ArticulatedDesign){(int32_t)plan->kind, plan->of->bodies[k], *n, plan->axis, mirrored ? -1.0 : 1.0};
        }
        parameters[(*n)++] = (Parameter){
            .name = plan->name,
            .unit = articulated_designs[plan->kind].unit,
            .value = articulated_designs[plan->kind].value,
            .low = articulated_designs[plan->kind].low,
            .high = articulated_designs[plan->kind].high,
            .doc = arena_format(arena, "design: %s %s", articulated_designs[plan->kind].doc, plan->of->name)};
    }
    return designs;
}

// The inputs of one parameter; returns how many.
static int articulated_inputs(const ArticulatedCandidate *of, int parameter, ArticulatedInput *inputs)
{
    const ArticulatedGroup *group = of->of;
    const bool pair = group->n_bodies == 2 && of->number == ARTICULATED_phase;
    for (int k = 0; k < group->n_bodies; k++)
        inputs[k] =
            (ArticulatedInput){parameter, group->bodies[k], of->number, 0, pair && k == 1 ? 3.141592653589793 : 0.0};
    return group->n_bodies;
}

ArticulatedVariation articulated_parameters(const ArticulatedHost *host, const Choice *choice,
                                            const ArticulatedBody *bodies, Arena *arena, Configured *out)
{
    ArticulatedVariation variation = {.n_inputs = 0};
    int n = 0, n_inputs = 0, n_parameters = ARTICULATED_N_PARAMETERS + ARTICULATED_N_EXTRA + host->n_plans;
    const ArticulatedCandidate *all = candidates_all(host, bodies, arena, &n);
    bool *wanted = ARENA_NEW(arena, bool, n + 1);
    candidates_mark(all, n, choice, wanted, arena);
    const char **nameable = ARENA_NEW(arena, const char *, n + 1);
    for (int i = 0; i < n; i++) nameable[i] = all[i].name;
    nameable[n] = ARTICULATED_GAIT;
    out->nameable = nameable;
    out->n_nameable = n + (host->n_feet > 0);
    for (int i = 0; i < n; i++) {
        n_parameters += wanted[i];
        n_inputs += wanted[i] ? all[i].of->n_bodies : 0;
    }
    Parameter *parameters = ARENA_NEW(arena, Parameter, n_parameters);
    ArticulatedInput *inputs = ARENA_NEW(arena, ArticulatedInput, n_inputs + 1);
    memcpy(parameters, articulated_always, sizeof articulated_always);
    n_parameters = ARTICULATED_N_PARAMETERS;
    n_parameters += parameters_of_terrain(host->terrain, parameters + n_parameters);
    variation.raibert_row = n_parameters;
    n_parameters += parameters_of_raibert(host, parameters + n_parameters);
    variation.designs = articulated_plan(host, arena, parameters, &n_parameters, &variation.n_designs);
    ArticulatedInput *rates = ARENA_NEW(arena, ArticulatedInput, n_inputs + 1);
    for (int i = 0; i < n; i++) {
        if (!wanted[i]) continue;
        if (all[i].number < ARTICULATED_rates)
            variation.n_inputs += articulated_inputs(&all[i], n_parameters, inputs + variation.n_inputs);
        else
            variation.n_rates += articulated_inputs(&all[i], n_parameters, rates + variation.n_rates);
        parameters[n_parameters++] = articulated_parameter(host, &all[i], bodies, arena);
    }
    if (variation.n_rates > 0) memcpy(inputs + variation.n_inputs, rates, (size_t)variation.n_rates * sizeof *inputs);
    variation.inputs = inputs;
    out->choices = NULL;
    out->n_followers = 0;
    if (host->n_feet > 0 && choice_names(choice, ARTICULATED_GAIT)) // the last: the kernels do not read it
        parameter_of_gait(host, variation.raibert_row, n_parameters++, arena, parameters, out);
    out->parameters = parameters;
    out->n_parameters = n_parameters;
    return variation;
}

// ---- columns --------------------------------------------------------------------------------------------------------

static const Field articulated_base[] = {
    {"time", "s", "simulated time", "time"},
    {"base_x", "m", "position of the base's frame", "base"},
    {"base_y", "m", "the same", "base"},
    {"base_z", "m", "the same, upwards", "base"},
    {"base_qx", "1", "orientation, quaternion", "base"},
    {"base_qy", "1", "orientation, quaternion", "base"},
    {"base_qz", "1", "orientation, quaternion", "base"},
    {"base_qw", "1", "orientation, quaternion", "base"},
    {"base_vx", "m/s", "velocity of the base's centre of mass", "base"},
    {"base_vy", "m/s", "the same", "base"},
    {"base_vz", "m/s", "the same, upwards", "base"},
    {"base_wx", "rad/s", "angular velocity, world axes", "base"},
    {"base_wy", "rad/s", "angular velocity, world axes", "base"},
    {"base_wz", "rad/s", "angular velocity, world axes", "base"},
};
_Static_assert(sizeof articulated_base / sizeof articulated_base[0] == ARTICULATED_BASE_COLUMNS,
               "the kernel's columns");

static const struct {
    const char *suffix, *unit, *of_slide, *doc;
} articulated_of_joint[ARTICULATED_JOINT_COLUMNS] = {
    {"q", "rad", "m", "coordinate"},
    {"rate", "rad/s", "m/s", "rate of the coordinate"},
    {"command", "rad", "m", "command of the motor"},
    {"torque", "N m", "N", "effort of the motor"},
};

// Of a ball the last four, of a free body that is not the base all.
static const struct {
    const char *suffix, *unit, *doc;
} articulated_of_wide[] = {
    {"x", "m", "position of its frame"},          {"y", "m", "position of its frame"},
    {"z", "m", "position of its frame, upwards"}, {"qx", "1", "orientation, quaternion"},
    {"qy", "1", "orientation, quaternion"},       {"qz", "1", "orientation, quaternion"},
    {"qw", "1", "orientation, quaternion"},
};
enum { ARTICULATED_POSITION_COLUMNS = 3, ARTICULATED_WIDE_COLUMNS = 7 };

// Columns as they grow, with the panels in which they are drawn: a row of panels for the base, for each few joints, and
// for each body with more coordinates.
typedef struct ArticulatedTable {
    Field *columns;
    ColumnPanel *panels;
    JointColumns *joints;
    int n_columns, n_panels, n_joints;
    Arena *arena;
} ArticulatedTable;

static void table_add_panel(ArticulatedTable *table, const char *of, const char *title, const char *unit, int column,
                            int count, const char *const *lines)
{
    table->panels[table->n_panels++] =
        (ColumnPanel){.of = of, .title = title, .unit = unit, .column = column, .count = count, .lines = lines};
}

static const char *const table_axes[] = {"x", "y", "z", "w"};

static void table_add_base(ArticulatedTable *table)
{
    memcpy(table->columns, articulated_base, sizeof articulated_base);
    table->n_columns = ARTICULATED_BASE_COLUMNS;
    table_add_panel(table, "base", "position", "m", 1, 3, table_axes);
    table_add_panel(table, "base", "orientation", "1", 4, 4, table_axes);
    table_add_panel(table, "base", "velocity", "m/s", 8, 3, table_axes);
    table_add_panel(table, "base", "angular velocity", "rad/s", 11, 3, table_axes);
}

enum { PANEL_LINES = 3 }; // at most, of columns of different joints or bodies

static void table_add_joints(ArticulatedTable *table, const ArticulatedHost *host, const ArticulatedBody *bodies)
{
    const char **joints = ARENA_NEW(table->arena, const char *, host->robot->n_bodies);
    static const char *const titles[ARTICULATED_JOINT_COLUMNS] = {"coordinate", "rate", "command", "effort"};
    const int first = table->n_columns;
    int n = 0;
    for (int k = 0; k < ARTICULATED_JOINT_COLUMNS; k++) {
        for (int i = 0; i < host->robot->n_bodies; i++) {
            const bool slides = bodies[i].kind == ROBOT_SLIDE;
            if (bodies[i].joint < 0) continue;
            if (k == 0) joints[n++] = host->joints[i];
            table->columns[table->n_columns++] =
                (Field){arena_format(table->arena, "%s_%s", host->joints[i], articulated_of_joint[k].suffix),
                        slides ? articulated_of_joint[k].of_slide : articulated_of_joint[k].unit,
                        arena_format(table->arena, "%s; %s", host->joints[i], articulated_of_joint[k].doc), "joints"};
        }
    }
    for (int j = 0; j < n; j++)
        table->joints[table->n_joints++] = (JointColumns){joints[j], first + j, first + n + j, first + 3 * n + j};
    for (int j = 0; j < n; j += PANEL_LINES) {
        const int count = n - j < PANEL_LINES ? n - j : PANEL_LINES;
        const char *row = count > 1 ? arena_format(table->arena, "joints %d to %d:", j + 1, j + count) : joints[j];
        for (int k = 0; k < ARTICULATED_JOINT_COLUMNS; k++)
            table_add_panel(table, row, titles[k], table->columns[first + k * n + j].unit, first + k * n + j, count,
                            joints + j);
    }
}

static void table_add_contacts(ArticulatedTable *table, const ArticulatedHost *host, const ArticulatedBody *bodies)
{
    const char **names = ARENA_NEW(table->arena, const char *, host->robot->n_bodies);
    const int first = table->n_columns;
    int n = 0;
    for (int i = 0; i < host->robot->n_bodies; i++) {
        if (bodies[i].n_points == 0) continue;
        names[n++] = host->bodies[i];
        table->columns[table->n_columns++] =
            (Field){arena_format(table->arena, "%s_force", host->bodies[i]), "N",
                    arena_format(table->arena, "%s; normal force of the ground", host->bodies[i]), "contacts"};
    }
    for (int j = 0; j < n; j += PANEL_LINES)
        table_add_panel(table, "ground:", "normal force", "N", first + j, n - j < PANEL_LINES ? n - j : PANEL_LINES,
                        names + j);
}

// The coordinates of a ball, or of a free body; returns the first column.
static int table_add_wide(ArticulatedTable *table, const char *name, bool ball)
{
    const int first = table->n_columns, from = ball ? ARTICULATED_POSITION_COLUMNS : 0;
    for (int k = from; k < ARTICULATED_WIDE_COLUMNS; k++)
        table->columns[table->n_columns++] = (Field){
            arena_format(table->arena, "%s_%s", name, articulated_of_wide[k].suffix), articulated_of_wide[k].unit,
            arena_format(table->arena, "%s; %s", name, articulated_of_wide[k].doc), ball ? "joints" : "bodies"};
    if (!ball) table_add_panel(table, name, "position", "m", first, 3, table_axes);
    table_add_panel(table, name, "orientation", "1", table->n_columns - 4, 4, table_axes);
    return first;
}

static void table_add_frame(ArticulatedTable *table, const char *name)
{
#define ARTICULATED_ROW(suffix, unit, doc) {#suffix, unit, doc},
    static const struct {
        const char *suffix, *unit, *doc;
    } rows[ARTICULATED_OF_FRAME] = {ARTICULATED_FRAME_COLUMNS(ARTICULATED_ROW)};
#undef ARTICULATED_ROW
    const int first = table->n_columns;
    for (int k = 0; k < ARTICULATED_OF_FRAME; k++)
        table->columns[table->n_columns++] =
            (Field){arena_format(table->arena, "%s_%s", name, rows[k].suffix), rows[k].unit,
                    arena_format(table->arena, "%s; %s of its frame", name, rows[k].doc), "frames"};
    table_add_panel(table, name, "position", "m", first, 3, table_axes);
    table_add_panel(table, name, "orientation", "1", first + 3, 4, table_axes);
    table_add_panel(table, name, "velocity", "m/s", first + 7, 3, table_axes);
    table_add_panel(table, name, "angular velocity", "rad/s", first + 10, 3, table_axes);
}

const int *articulated_columns(const ArticulatedHost *host, const ArticulatedBody *bodies, Arena *arena,
                               Configured *out)
{
    const int n = host->robot->n_bodies;
    int *coordinate = ARENA_NEW(arena, int, n);
    ArticulatedTable table = {
        .columns = ARENA_NEW(arena, Field,
                             ARTICULATED_BASE_COLUMNS + (ARTICULATED_WIDE_COLUMNS + 1) * n +
                                 ARTICULATED_OF_FRAME * host->n_frames),
        .panels = ARENA_NEW(arena, ColumnPanel, 4 + (ARTICULATED_JOINT_COLUMNS + 1) * n + 4 * host->n_frames),
        .joints = ARENA_NEW(arena, JointColumns, n),
        .arena = arena};
    table_add_base(&table);
    table_add_joints(&table, host, bodies);
    table_add_contacts(&table, host, bodies);
    for (int i = 0; i < n; i++) {
        const bool ball = bodies[i].kind == ROBOT_BALL;
        coordinate[i] = bodies[i].joint >= 0 ? ARTICULATED_BASE_COLUMNS + bodies[i].joint : -1;
        if (bodies[i].kind == ROBOT_FREE && i == 0) coordinate[i] = 1;
        if (ball || (bodies[i].kind == ROBOT_FREE && i > 0))
            coordinate[i] = table_add_wide(&table, ball ? host->joints[i] : host->bodies[i], ball);
    }
    for (int i = 0; i < host->n_frames; i++) table_add_frame(&table, host->frame_names[i]);
    out->columns = table.columns;
    out->n_columns = table.n_columns;
    out->panels = table.panels;
    out->n_panels = table.n_panels;
    out->joints = table.joints;
    out->n_joints = table.n_joints;
    return coordinate;
}
