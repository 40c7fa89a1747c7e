// See articulated_case.h.
#include "articulated_case.h"

#include "../../sim/articulated/articulated.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void setting_set(const Model *model, double *settings, const ArticulatedValue *value)
{
    for (int i = 0; i < model->n_options; i++) {
        if (strcmp(model->options[i].name, value->name) != 0) continue;
        settings[i] = value->value;
        return;
    }
    CHECK_TEXT("an option", value->name);
}

static int option_place(const Model *model, const char *name)
{
    int i = 0;
    while (strcmp(model->options[i].name, name) != 0) i++;
    return i;
}

void articulated_prepare(ArticulatedCase *test, const ArticulatedSetup *setup)
{
    enum { OPTIONS_MOST = 64 };
    const Model *model = model_find("articulated");
    double settings[OPTIONS_MOST];
    Points points[OPTIONS_MOST];
    const char *words[ARTICULATED_VALUES];
    Choice choice = {.words = words};
    *test = (ArticulatedCase){.backend = NULL};
    if (arena_create(&test->arena, (size_t)1 << 30, "a test of robots").kind != OK) abort();
    memset(points, 0, sizeof points);
    for (int i = 0; i < model->n_options; i++) settings[i] = model->options[i].value;
    setting_set(model, settings, &(ArticulatedValue){"terrain", 0}); // flat
    for (int i = 0; setup->settings[i].name != NULL; i++) setting_set(model, settings, &setup->settings[i]);
    points[option_place(model, "robot")] = (Points){.count = 1, .robot = setup->robot};
    if (setup->table != NULL) points[option_place(model, "terrain_points")] = *setup->table;
    if (setup->heights != NULL) points[option_place(model, "terrain_file")] = *setup->heights;
    if (setup->reference != NULL) points[option_place(model, "reference")] = *setup->reference;
    if (setup->actions != NULL) points[option_place(model, "control.actions")] = *setup->actions;
    for (int i = 0; i < 2 && setup->lists != NULL; i++) points[model->n_options + i] = setup->lists[i];
    for (int i = 0; setup->parameters[i].name != NULL; i++) words[choice.n_words++] = setup->parameters[i].name;
    CHECK_OK(model->configure(settings, points, &test->arena, &test->configured));
    if (setup->efforts) {
        ArticulatedConstants c;
        memcpy(&c, &test->configured.constants, sizeof c);
        c.efforts = 1;
        memcpy(&test->configured.constants, &c, sizeof c);
    }
    CHECK_OK(model->choose(&test->configured, &choice, &test->arena));
}

Points articulated_record(const ArticulatedSetup *setup, int rows, double apart, Arena *arena)
{
    ArticulatedCase test;
    ArticulatedSetup own = *setup;
    own.reference = NULL; // it may be one of before
    articulated_prepare(&test, &own);
    const int n = test.configured.n_columns;
    const char **names = ARENA_NEW(arena, const char *, n);
    double *numbers = ARENA_NEW(arena, double, rows *n);
    for (int c = 0; c < n; c++) names[c] = arena_copy(arena, test.configured.columns[c].name);
    for (int r = 0; r < rows; r++) {
        numbers[r * n] = r * apart * test.configured.tick_duration;
        for (int c = 1; c < n; c++) numbers[r * n + c] = 0.5 * sin(1.3 * r + 2.1 * c);
    }
    articulated_end(&test);
    return (Points){.count = rows * n, .columns = n, .numbers = numbers, .names = names};
}

void articulated_start(ArticulatedCase *test, const ArticulatedSetup *setup)
{
    const int64_t lanes = setup->lanes > 0 ? setup->lanes : 1, samples = setup->samples;
    const BackendOptions options = {
        .name = "cpu", .threads = 1, .isa = setup->isa != NULL ? setup->isa : "auto", .patience = INFINITY};
    articulated_prepare(test, setup);
    const Configured *configured = &test->configured;
    CHECK_OK(backend_open(&options, &test->backend));
    CHECK_OK(backend_prepare(test->backend, configured, lanes, samples > 0 ? lanes : 0, samples));
    if (setup->debug > 0) CHECK_OK(backend_prepare_debug(test->backend, lanes, setup->debug));
    test->batch = backend_batch(test->backend, 0);
    test->batch->lanes = lanes;
    if (setup->debug > 0) {
        test->batch->debug.lanes = lanes;
        test->batch->debug.end = configured->ticks;
    }
    test->batch->trace.lanes = samples > 0 ? lanes : 0;
    test->batch->trace.every = 1;
    for (int p = 0; p < configured->n_parameters; p++) {
        for (int64_t lane = 0; lane < lanes; lane++)
            test->batch->parameter[p * test->batch->stride + lane] = configured->parameters[p].value;
    }
    for (int i = 0; setup->parameters[i].name != NULL; i++) {
        for (int64_t lane = 0; lane < lanes; lane++)
            articulated_set(test, setup->parameters[i].name, lane, setup->parameters[i].value);
    }
}

void articulated_set(ArticulatedCase *test, const char *parameter, int64_t lane, double value)
{
    const Configured *configured = &test->configured;
    for (int p = 0; p < configured->n_parameters; p++) {
        if (strcmp(configured->parameters[p].name, parameter) != 0) continue;
        test->batch->parameter[p * test->batch->stride + lane] = value;
        return;
    }
    CHECK_TEXT("a parameter", parameter);
}

void articulated_go(ArticulatedCase *test, int64_t slice)
{
    bool done = false;
    double seconds;
    CHECK_OK(backend_begin(test->backend, 0));
    while (!done) {
        CHECK_OK(backend_advance(test->backend, 0, slice));
        CHECK_OK(backend_wait(test->backend, 0, &done, &seconds));
    }
}

void articulated_end(ArticulatedCase *test)
{
    if (test->backend != NULL) backend_close(test->backend);
    arena_destroy(&test->arena);
}

double articulated_got(const ArticulatedCase *test, const char *metric, int64_t lane)
{
    const Configured *configured = &test->configured;
    for (int m = 0; m < configured->n_metrics; m++) {
        if (strcmp(configured->metrics[m].name, metric) == 0)
            return test->batch->metric[m * test->batch->stride + lane];
    }
    CHECK_TEXT("a metric", metric);
    return NAN;
}

int articulated_failed(const ArticulatedCase *test, int64_t lane) { return test->batch->status[lane] - LANE_DONE; }

double articulated_seen(const ArticulatedCase *test, int64_t lane, int64_t k, const char *column)
{
    const Configured *configured = &test->configured;
    const Trace *trace = &test->batch->trace;
    for (int c = 0; c < configured->n_columns; c++) {
        if (strcmp(configured->columns[c].name, column) == 0)
            return trace->sample[(lane * trace->capacity + k) * configured->n_columns + c];
    }
    CHECK_TEXT("a column", column);
    return NAN;
}

const double *articulated_debug_row(const ArticulatedCase *test, int64_t lane, int64_t k)
{
    const DebugRows *debug = &test->batch->debug;
    return debug->row + (lane * debug->capacity + k) * test->configured.n_debug;
}

// ---- Unitree G1 -----------------------------------------------------------------------------------------------------

enum { G1_CELLS = 32, G1_LINE = 2048, G1_TEXT = 1 << 17 };

typedef struct CsvRow {
    char text[G1_LINE];
    const char *cell[G1_CELLS];
} CsvRow;

static bool csv_row(FILE *file, CsvRow *row)
{
    int count = 0;
    if (fgets(row->text, sizeof row->text, file) == NULL) return false;
    row->text[strcspn(row->text, "\r\n")] = '\0';
    char *at = row->text;
    while (at != NULL && count < G1_CELLS) {
        row->cell[count++] = at;
        at = strchr(at, ',');
        if (at != NULL) *at++ = '\0';
    }
    while (count < G1_CELLS) row->cell[count++] = "";
    return true;
}

static double csv_number(const CsvRow *row, int cell) { return strtod(row->cell[cell], NULL); }

static void g1_body(const CsvRow *row, Arena *arena, RobotBody *body)
{
    double norm = 0.0;
    *body = (RobotBody){.name = arena_copy(arena, row->cell[1]), .parent = (int)csv_number(row, 2)};
    for (int k = 0; k < 3; k++) body->p[k] = csv_number(row, 4 + k);
    for (int k = 0; k < 4; k++) body->q[(k + 3) % 4] = csv_number(row, 7 + k);
    for (int k = 0; k < 4; k++) norm += body->q[k] * body->q[k];
    for (int k = 0; k < 4; k++) body->q[k] /= sqrt(norm);
    body->mass = csv_number(row, 11);
    for (int k = 0; k < 3; k++) body->centre[k] = csv_number(row, 12 + k);
    for (int k = 0; k < 6; k++) body->inertia[k] = csv_number(row, 22 + k); // xx, yy, zz, xy, xz, yz
    body->joint = (RobotJoint){.name = "base", .kind = ROBOT_FREE};
}

static void g1_joint(const CsvRow *row, Arena *arena, RobotBody *bodies)
{
    RobotBody *body = bodies;
    while (strcmp(body->name, row->cell[3]) != 0) body++;
    if (strcmp(row->cell[2], "hinge") != 0) return;
    body->joint = (RobotJoint){.name = arena_copy(arena, row->cell[1]),
                               .kind = ROBOT_HINGE,
                               .axis = {csv_number(row, 5), csv_number(row, 6), csv_number(row, 7)},
                               .armature = csv_number(row, 16),
                               .motor = {.driven = true,
                                         .kp = csv_number(row, 14),
                                         .kd = csv_number(row, 15),
                                         .low = -INFINITY,
                                         .high = INFINITY,
                                         .effort = INFINITY}};
}

// q <- the turn about x by the angle, then q
static void g1_turn(double *q, double angle)
{
    const double c = cos(0.5 * angle), s = sin(0.5 * angle), x = q[0], y = q[1], z = q[2], w = q[3];
    q[0] = c * x + s * w;
    q[1] = c * y - s * z;
    q[2] = c * z + s * y;
    q[3] = c * w - s * x;
}

static void g1_turn_leg(RobotBody *bodies, const char *side, double sign, const double *theta)
{
    static const char *const links[] = {"hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll"};
    char name[64];
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "%s_%s_link", side, links[i]);
        for (int b = 0; b < G1_BODIES; b++) {
            if (strcmp(bodies[b].name, name) == 0) g1_turn(bodies[b].q, sign * theta[i]);
        }
    }
}

static int g1_feet(const RobotBody *bodies, RobotShape *shapes)
{
    static const double feet[4][3] = {
        {-0.05, 0.025, -0.03}, {-0.05, -0.025, -0.03}, {0.12, 0.03, -0.03}, {0.12, -0.03, -0.03}};
    int count = 0;
    for (int b = 0; b < G1_BODIES; b++) {
        if (strstr(bodies[b].name, "ankle_roll_link") == NULL) continue;
        for (int k = 0; k < 4; k++)
            shapes[count++] = (RobotShape){.name = "",
                                           .kind = ROBOT_SPHERE,
                                           .body = b,
                                           .p = {feet[k][0], feet[k][1], feet[k][2]},
                                           .q = {0, 0, 0, 1},
                                           .size = {0.005, 0, 0},
                                           .collides = true,
                                           .friction = 1};
    }
    return count;
}

static bool g1_read(const char *name, Arena *arena, RobotBody *bodies, bool joints)
{
    const char *path = test_shared(name);
    FILE *file = path != NULL ? fopen(path, "rb") : NULL;
    CsvRow row;
    if (file == NULL) return false;
    csv_row(file, &row);
    for (int i = 0; csv_row(file, &row); i++) {
        if (joints)
            g1_joint(&row, arena, bodies);
        else if (i < G1_BODIES)
            g1_body(&row, arena, &bodies[i]);
    }
    fclose(file);
    return true;
}

bool g1_robot(Arena *arena, const double *theta, Robot *robot)
{
    RobotBody *bodies = ARENA_NEW(arena, RobotBody, G1_BODIES);
    RobotShape *shapes = ARENA_NEW(arena, RobotShape, 16);
    if (!g1_read("data/g1/g1_bodies.csv", arena, bodies, false) ||
        !g1_read("data/g1/g1_joints.csv", arena, bodies, true)) {
        test_skip("reference data that are not in the repository", "../shared");
        return false;
    }
    if (theta != NULL) {
        g1_turn_leg(bodies, "left", 1.0, theta);
        g1_turn_leg(bodies, "right", -1.0, theta);
    }
    *robot = (Robot){.name = "g1",
                     .bodies = bodies,
                     .n_bodies = G1_BODIES,
                     .shapes = shapes,
                     .n_shapes = g1_feet(bodies, shapes),
                     .n_coordinates = 7 + G1_BODIES - 1};
    return true;
}

const ArticulatedValue golden_gait[GOLDEN_GAIT] = {
    {"attach_stiffness", 1e6},
    {"attach_damping", 1e4},
    {"attach_turn_stiffness", 1e6},
    {"attach_turn_damping", 1e2},
    {"gait_frequency", 1.5},
    {"base_z", 0.8 - 0.793},
    {"left_hip_pitch_joint_amplitude", -0.3},
    {"right_hip_pitch_joint_amplitude", -0.3},
    {"right_hip_pitch_joint_phase", 3.141592653589793},
    {"left_knee_joint_offset", 0.3},
    {"right_knee_joint_offset", 0.3},
    {"left_knee_joint_amplitude", 0.2},
    {"right_knee_joint_amplitude", 0.2},
    {"right_knee_joint_phase", 3.141592653589793},
};

void golden_designs(Points *lists, ArticulatedValue *parameters, const double *theta)
{
    static const double items[6][2] = {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}}; // axis x, mirrored
    static const char *const names[] = {"turn0", "turn1", "turn2", "turn3", "turn4", "turn5"};
    static const char *const joints[6][3] = {{"left_hip_pitch_joint", "right_hip_pitch_joint", NULL},
                                             {"left_hip_roll_joint", "right_hip_roll_joint", NULL},
                                             {"left_hip_yaw_joint", "right_hip_yaw_joint", NULL},
                                             {"left_knee_joint", "right_knee_joint", NULL},
                                             {"left_ankle_pitch_joint", "right_ankle_pitch_joint", NULL},
                                             {"left_ankle_roll_joint", "right_ankle_roll_joint", NULL}};
    static const char *const *words[6][4]; // rotate, length, mass, gain
    for (int i = 0; i < 6; i++) {
        words[i][0] = joints[i];
        parameters[i] = (ArticulatedValue){names[i], theta[i]};
    }
    lists[0] = (Points){.count = 0};
    lists[1] = (Points){.count = 6, .items = &items[0][0], .names = names, .words = &words[0][0]};
}

const char *g1_golden(Arena *arena)
{
    char *text = ARENA_NEW(arena, char, G1_TEXT);
    const char *path = test_shared("data/g1/g1_articulated_golden.json");
    FILE *file = path != NULL ? fopen(path, "rb") : NULL;
    if (file == NULL) return NULL;
    CHECK(fread(text, 1, G1_TEXT - 1, file) > 0 && feof(file));
    fclose(file);
    return text;
}

const char *golden_numbers(const char *from, const char *key, int count, double *numbers)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\"", key);
    const char *at = strstr(from, quoted);
    CHECK(at != NULL);
    if (at == NULL) return from;
    at += strlen(quoted);
    for (int i = 0; i < count; i++) {
        char *end;
        while (strchr("-0123456789", *at) == NULL) at++;
        numbers[i] = strtod(at, &end);
        at = end;
    }
    return at;
}
