// bench_robot: how long a generated robot takes to read. bench_robot FILE [base=fixed] [WORD...]: that robot as JSON,
// or its errors; words are ignored elements. tests/bench/robot_mujoco.py compares it with MuJoCo's.
#include "../../runner/command/command.h"

#include <math.h>
#include <string.h>

static Arena arena;

static void put_numbers(Json *json, const char *name, const double *value, int64_t count)
{
    json_array(json, name);
    for (int64_t i = 0; i < count; i++) json_number(json, NULL, value[i]);
    json_close(json, ']');
}

static void put_joint(Json *json, const RobotJoint *joint)
{
    static const char *const kinds[] = {"free", "hinge", "slide", "ball", "weld"};
    const double numbers[] = {joint->reference,
                              joint->limited ? joint->low : -1e9,
                              joint->limited ? joint->high : 1e9,
                              joint->stiffness,
                              joint->rest,
                              joint->damping,
                              joint->friction,
                              joint->armature};
    const double motor[] = {joint->motor.driven, joint->motor.kp, joint->motor.kd, joint->motor.bias};
    double ends[2];
    robot_motor_ends(&joint->motor, ends);
    json_object(json, "joint");
    json_text(json, "name", joint->name);
    json_text(json, "kind", kinds[joint->kind]);
    put_numbers(json, "anchor", joint->anchor, 3);
    put_numbers(json, "axis", joint->axis, 3);
    put_numbers(json, "numbers", numbers, 8);
    put_numbers(json, "motor", motor, 4);
    json_number(json, "low", joint->motor.low);
    json_number(json, "high", joint->motor.high);
    json_number(json, "least", ends[0]);
    json_number(json, "most", ends[1]);
    json_close(json, '}');
}

static void put_bodies(Json *json, const Robot *robot)
{
    json_array(json, "bodies");
    for (int i = 0; i < robot->n_bodies; i++) {
        const RobotBody *body = &robot->bodies[i];
        json_object(json, NULL);
        json_text(json, "name", body->name);
        json_integer(json, "parent", body->parent);
        put_numbers(json, "p", body->p, 3);
        put_numbers(json, "q", body->q, 4);
        json_number(json, "mass", body->mass);
        put_numbers(json, "centre", body->centre, 3);
        put_numbers(json, "inertia", body->inertia, 6);
        put_joint(json, &body->joint);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_rest(Json *json, const Robot *robot)
{
    json_array(json, "shapes");
    for (int i = 0; i < robot->n_shapes; i++) {
        const RobotShape *shape = &robot->shapes[i];
        json_object(json, NULL);
        json_text(json, "name", shape->name);
        json_integer(json, "kind", shape->kind);
        json_integer(json, "body", shape->body);
        put_numbers(json, "p", shape->p, 3);
        put_numbers(json, "q", shape->q, 4);
        put_numbers(json, "size", shape->size, 3);
        json_boolean(json, "collides", shape->collides);
        json_number(json, "friction", shape->friction);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_object(json, "keyframes");
    for (int i = 0; i < robot->n_keyframes; i++)
        put_numbers(json, robot->keyframes[i].name, robot->keyframes[i].coordinates, robot->n_coordinates);
    json_close(json, '}');
    json_array(json, "notes");
    for (int i = 0; i < robot->n_notes; i++)
        json_text(
            json, NULL,
            arena_format(&arena, "%s: %s", robot->notes[i].skipped ? "skipped" : "not needed", robot->notes[i].what));
    json_close(json, ']');
}

static int show(const char *path, char **ignore, int n_ignore)
{
    Bytes bytes;
    Diagnostics *diagnostics = diagnostics_new(&arena);
    const Error error = file_read(path, XML_BYTES_MAX, &arena, &bytes);
    if (error.kind != OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    const Source source = {.file = path, .text = (const char *)bytes.data};
    RobotOptions options = {.folder = folder_of(path, &arena)};
    for (; n_ignore > 0 && strchr(ignore[0], '=') != NULL; ignore++, n_ignore--) {
        if (strcmp(ignore[0], "base=fixed") == 0) options.base = ROBOT_BASE_FIXED;
        if (strcmp(ignore[0], "meshes=hull") == 0) options.meshes = ROBOT_MESHES_HULL;
    }
    options.ignore = (const char *const *)ignore;
    options.n_ignore = n_ignore;
    const Robot *robot = robot_read(&source, &options, &arena, diagnostics);
    diagnostics_print(diagnostics, stderr, false);
    if (robot == NULL) return 1;
    Json json;
    json_start(&json, stdout, false);
    json_object(&json, NULL);
    json_text(&json, "name", robot->name);
    put_bodies(&json, robot);
    put_rest(&json, robot);
    json_close(&json, '}');
    putchar('\n');
    return 0;
}

// A tree of 1,000 bodies with ten children each.
static const char *generated(void)
{
    TextStream stream;
    if (text_stream_open("a robot", &stream).kind != OK) return "";
    fputs("<mujoco><worldbody><body name='root'><freejoint/><geom size='.1'/>", stream.out);
    for (int leg = 0; leg < 111; leg++) {
        for (int i = 0; i < 9; i++)
            fprintf(
                stream.out,
                "<body name='b%d_%d' pos='.1 .2 %d' euler='10 20 %d'><joint name='j%d_%d' axis='0 1 0' range='-90 %d'/>"
                "<geom type='capsule' size='.02' fromto='0 0 0 0 0 -.3'/>",
                leg, i, i, i, leg, i, i);
        for (int i = 0; i < 9; i++) fputs("</body>", stream.out);
    }
    fputs("</body></worldbody></mujoco>", stream.out);
    return text_stream_close(&stream).kind == OK ? stream.text : "";
}

int main(int count, char **argument)
{
    if (arena_create_growing(&arena, (size_t)1 << 30, "a robot").kind != OK) return 1;
    if (count > 1) return show(argument[1], argument + 2, count - 2);
    const Source source = {.file = "generated.xml", .text = generated()};
    const RobotOptions options = {0};
    const double start = clock_seconds();
    const Robot *robot = robot_read(&source, &options, &arena, diagnostics_new(&arena));
    if (robot == NULL) return 1;
    printf("robot of %d bodies, %zu bytes: %.1f ms\n", robot->n_bodies, strlen(source.text),
           1e3 * (clock_seconds() - start));
    return 0;
}
