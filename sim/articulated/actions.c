// The table of commands for control: actions, from the spec or a file.
#include "articulated.h"

#include <math.h>
#include <string.h>

// The joint with that name in the file, or as it stands in parameters, counted among hinges and slides; -1: none.
static int actions_joint(const ArticulatedHost *host, const char *name)
{
    for (int i = 0, joint = 0; i < host->robot->n_bodies; i++) {
        if (robot_joint_coordinates(host->robot->bodies[i].joint.kind) != 1) continue;
        if (strcmp(host->robot->bodies[i].joint.name, name) == 0 || strcmp(host->joints[i], name) == 0) return joint;
        joint++;
    }
    return -1;
}

// to[columns]: the joint of each column of a file; -1: its time.
static Error actions_columns(const Points *file, const ArticulatedHost *host, int *to)
{
    for (int64_t c = 0; c < file->columns; c++) {
        const bool time = strcmp(file->names[c], "time") == 0;
        to[c] = time ? -1 : actions_joint(host, file->names[c]);
        if (!time && to[c] < 0)
            return error_make(ERROR_USER,
                              "control.file has a column '%.100s', and the robot has no such hinge or slide",
                              file->names[c]);
        for (int64_t other = 0; other < c; other++) {
            if (to[other] == to[c])
                return error_make(ERROR_USER, "control.file has two columns of one joint, '%.100s' and '%.100s'",
                                  file->names[other], file->names[c]);
        }
    }
    return error_none();
}

// The steps with which rows start, by their times.
static Error actions_starts(const Points *file, int64_t column, double dt, double *starts)
{
    const int64_t rows = file->count / file->columns;
    for (int64_t r = 0; r < rows; r++) {
        const double *time = file->numbers + r * file->columns + column;
        if (r > 0 && time[0] <= time[-file->columns])
            return error_make(ERROR_USER, "control.file: time must increase, and row %lld follows %.9g s with %.9g s",
                              (long long)r + 1, time[-file->columns], time[0]);
        starts[r] = floor(time[0] / dt + 0.5);
    }
    return error_none();
}

static Error actions_of_file(const Points *file, int n_joints, ArticulatedHost *host, Arena *arena,
                             ArticulatedConstants *c)
{
    const int64_t rows = file->count / file->columns;
    int *to = ARENA_NEW(arena, int, file->columns);
    TRY(actions_columns(file, host, to));
    if (rows * n_joints > MATRIX_MAX)
        return error_make(ERROR_USER, "control.file has %lld rows for %d joints, at most %d commands are allowed",
                          (long long)rows, n_joints, MATRIX_MAX);
    for (int64_t k = 0; k < file->count; k++) {
        if (!isnan(file->numbers[k])) continue;
        return error_make(ERROR_USER, "control.file: column '%.100s' has no value in row %lld: a command has no gaps",
                          file->names[k % file->columns], (long long)(k / file->columns) + 1);
    }
    double *actions = ARENA_NEW(arena, double, rows *n_joints + 1);
    for (int64_t k = 0; k < file->columns; k++) {
        for (int64_t r = 0; r < rows && to[k] >= 0; r++)
            actions[r * n_joints + to[k]] = file->numbers[r * file->columns + k];
        if (to[k] >= 0) continue;
        double *starts = ARENA_NEW(arena, double, rows);
        TRY(actions_starts(file, k, c->dt, starts));
        host->starts = starts;
    }
    host->actions = actions;
    c->n_actions = (int32_t)rows;
    return error_none();
}

Error articulated_actions(const Points *listed, const Points *file, const int *options, ArticulatedHost *host,
                          Arena *arena, ArticulatedConstants *c, Configured *out)
{
    int n_joints = 0;
    for (int i = 0; i < host->robot->n_bodies; i++)
        n_joints += robot_joint_coordinates(host->robot->bodies[i].joint.kind) == 1;
    const bool takes = (c->uses & CONTROL_TABLE) != 0, policy = (c->uses & CONTROL_POLICY) != 0;
    if ((c->uses & CONTROL_LAW) != 0 && !(policy && listed->count > 0)) return error_none(); // not of the joints
    out->wrong_option = options[file->count > 0 && !policy];
    if (policy) return error_make(ERROR_USER, "control.actions needs control: {mode: actions} or {mode: external}");
    if (!takes && (listed->count > 0 || file->count > 0))
        return error_make(ERROR_USER, "control.%s needs control: {mode: actions} or {mode: external}",
                          file->count > 0 ? "file" : "actions");
    if (listed->count > 0 && file->count > 0)
        return error_make(ERROR_USER, "the commands are in control.actions already: give one of the two");
    if (file->count > 0) TRY(actions_of_file(file, n_joints, host, arena, c));
    const bool without = (c->uses & CONTROL_ACTS) != 0 && listed->count == 0;
    if (takes && file->count == 0 && !without && (listed->count == 0 || n_joints == 0 || listed->count % n_joints != 0))
        return error_make(ERROR_USER, "control.actions has %lld numbers, expected rows of %d, one for each joint",
                          (long long)listed->count, n_joints);
    out->wrong_option = 0;
    if (listed->count == 0) return error_none();
    host->actions = listed->numbers;
    host->listed = true;
    c->n_actions = (int32_t)(listed->count / n_joints);
    return error_none();
}
