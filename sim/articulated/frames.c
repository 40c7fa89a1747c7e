// Frames of bodies and sites whose motion has columns.
#include "articulated.h"

#include <string.h>

static ArticulatedFrame frame_on(const Robot *robot, int body, const double p[3], const double q[4])
{
    ArticulatedFrame frame = {.body = body};
    for (int k = 0; k < 3; k++) frame.p[k] = p[k] - robot->bodies[body].centre[k];
    memcpy(frame.q, q, sizeof frame.q);
    return frame;
}

// Bodies by their name in the file or in parameters; sites by that of the file. Returns how many have it.
static int frame_find(const ArticulatedHost *host, const char *name, ArticulatedFrame *frame)
{
    static const double at[3] = {0.0, 0.0, 0.0}, straight[4] = {0.0, 0.0, 0.0, 1.0};
    const Robot *robot = host->robot;
    int found = 0;
    for (int i = 0; i < robot->n_bodies; i++) {
        if (strcmp(robot->bodies[i].name, name) != 0 && strcmp(host->bodies[i], name) != 0) continue;
        *frame = frame_on(robot, i, at, straight);
        found++;
    }
    for (int i = 0; i < robot->n_sites; i++) {
        if (strcmp(robot->sites[i].name, name) != 0) continue;
        *frame = frame_on(robot, robot->sites[i].body, robot->sites[i].p, robot->sites[i].q);
        found++;
    }
    return found;
}

static Error frame_unknown(const ArticulatedHost *host, const char *name, Arena *arena)
{
    const Robot *robot = host->robot;
    const int count = robot->n_bodies + robot->n_sites;
    const char *text = "";
    for (int i = 0; i < count && i < 12; i++)
        text = arena_format(arena, "%s%s%.60s", text, i > 0 ? ", " : "",
                            i < robot->n_bodies ? robot->bodies[i].name : robot->sites[i - robot->n_bodies].name);
    return error_make(ERROR_USER, "frames: the robot has no moving body or site '%.60s'; it has %s%s", name, text,
                      count > 12 ? " ..." : "");
}

// Whether a column of the robot, or of a frame before, has this beginning.
static bool frame_is_taken(const ArticulatedHost *host, const char *word)
{
    if (strcasecmp(word, "base") == 0) return true;
    for (int i = 1; i < host->robot->n_bodies; i++)
        if (host->robot->bodies[i].joint.kind == ROBOT_FREE && strcasecmp(host->bodies[i], word) == 0) return true;
    for (int i = 0; i < host->robot->n_bodies; i++)
        if (host->robot->bodies[i].joint.kind == ROBOT_BALL && strcasecmp(host->joints[i], word) == 0) return true;
    for (int i = 0; i < host->n_frames; i++)
        if (strcasecmp(host->frame_names[i], word) == 0) return true;
    return false;
}

Error articulated_frames(const Points *named, int option, Arena *arena, ArticulatedHost *host, Configured *out)
{
    if (named->count == 0) return error_none();
    ArticulatedFrame *frames = ARENA_NEW(arena, ArticulatedFrame, named->count);
    const char **names = ARENA_NEW(arena, const char *, named->count);
    host->frames = frames;
    host->frame_names = names;
    out->wrong_option = option;
    for (int64_t i = 0; i < named->count; i++) {
        out->wrong_item = i + 1;
        const char *name = named->names[i], *word = articulated_word(name, arena);
        const int found = frame_find(host, name, &frames[i]);
        if (found == 0) return frame_unknown(host, name, arena);
        if (found > 1)
            return error_make(ERROR_USER, "frames: '%.60s' is a body and a site, or two: the file must name them apart",
                              name);
        if (frame_is_taken(host, word))
            return error_make(ERROR_USER, "frames: columns of '%.60s' are there already, as %.60s_x", name, word);
        names[i] = word;
        host->n_frames++;
    }
    out->wrong_option = 0;
    out->wrong_item = 0;
    return error_none();
}
