// The user's own simulator as a model: a program that the spec names, run as worker processes. The spec itself declares
// the parameters, metrics, failures and columns. Nothing here runs it: see pool.h.
#include "command.h"

#include "../declared.h"
#include "../models.h"

#include <stdio.h>
#include <string.h>

enum { COMMAND_PROGRAM, COMMAND_WORKERS, COMMAND_SECONDS, COMMAND_SAMPLES, COMMAND_OWN_FAILURES, COMMAND_N_OPTIONS };
enum { COMMAND_N_LISTS = DECLARED_COLUMNS + 1 };

const char *command_line_words(const CommandModel *model, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < model->n_program && used + 1 < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%.60s%s", i > 0 ? " " : "", model->program[i],
                                 strlen(model->program[i]) > 60 ? "..." : "");
    return out;
}

static const Option command_options[COMMAND_N_OPTIONS] = {
    {"program", OPTION_ARGUMENTS, "", 0, 0, 0, "[python3, simulate.py]",
     "the program and its arguments, without a shell; it runs in the spec's folder. A first word with a slash is a "
     "file there, any other is looked for in PATH"},
    {"workers", OPTION_MANNER_NUMBER, "1", 0, 1, 256, "auto",
     "processes of the program that work at the same time; auto: one per thread (`--threads`)"},
    {"timeout", OPTION_NUMBER, "s", 60, 1e-3, 1e6, NULL,
     "time of a trial, after which its process is killed and the trial fails as `timeout`; for a process to say hello "
     "it is 60 s at least"},
    {"samples", OPTION_INTEGER, "1", 10000, 1, 1e6, NULL, "samples of a trajectory, at most"},
    {"failures", OPTION_WORDS, "", 0, 0, 0, "[fell, unstable]",
     "names of the failures that the program itself reports; `crashed`, `timeout` and `protocol` are there anyway"},
};

static const char *const command_failures[COMMAND_FAILURES] = {
    [COMMAND_NONE] = "none",           [COMMAND_CRASHED] = "crashed",
    [COMMAND_TIMEOUT] = "timeout",     [COMMAND_BROKE_PROTOCOL] = "protocol",
    [COMMAND_NON_FINITE] = NON_FINITE,
};

static const List command_lists[COMMAND_N_LISTS] = {
    {.name = "parameters",
     DECLARED_LIST(declared_parameter_fields),
     .doc = "the parameters that the program takes",
     .example = "{mass: {value: 1, unit: kg, range: [0.1, 10]}, gain: 2, solver: {words: [euler, heun]}}"},
    {.name = "metrics",
     DECLARED_LIST(declared_output_fields),
     .doc = "the numbers that the program answers with",
     .example = "{error: m, energy: {unit: J}}"},
    {.name = "columns",
     DECLARED_LIST(declared_output_fields),
     .doc = "columns that the program returns for trajectories, besides `time`",
     .example = "{x: m, speed: m/s}"},
};

// ---- tables ---------------------------------------------------------------------------------------------------------

static Error command_parameters(const Points *items, Arena *arena, Configured *out)
{
    Parameter *rows = NULL;
    TRY(declared_parameters(items, "program", arena, &rows, out));
    rows[out->n_parameters++] = (Parameter){.name = "seed",
                                            .unit = "1",
                                            .high = 9007199254740991.0,
                                            .section = SECTION_SEED,
                                            .doc = "seeds the program's own random numbers"};
    return error_none();
}

static void command_columns(const Points *items, Arena *arena, Configured *out)
{
    Field *rows = ARENA_NEW(arena, Field, items->count + 1);
    rows[0] = (Field){"time", "s", "time of the sample", "time"};
    memcpy(rows + 1, declared_fields(items, "column of the program", "state", arena),
           (size_t)items->count * sizeof *rows);
    out->columns = rows;
    out->n_columns = items->count > 0 ? (int)items->count + 1 : 0;
}

// ---- the model ------------------------------------------------------------------------------------------------------

extern const Model command_model;

static Error command_check(const Points *points, Configured *out)
{
    const Points *lists = points + COMMAND_N_OPTIONS;
    if (points[COMMAND_PROGRAM].count == 0)
        return error_make(ERROR_USER,
                          "simulation.program is missing: the program that simulates, for example `program: [python3, "
                          "simulate.py]`");
    if (lists[DECLARED_METRICS].count == 0)
        return error_make(
            ERROR_USER,
            "metrics is missing: the numbers that the program answers with, for example `metrics: {error: m}`");
    for (int list = 0; list < COMMAND_N_LISTS; list++) TRY(declared_check_names(lists, list, out));
    return error_none();
}

static Error command_configure(const double *settings, const Points *points, Arena *arena, Configured *out)
{
    static const Points none[COMMAND_N_OPTIONS + COMMAND_N_LISTS];
    const Points *given = points != NULL ? points : none, *lists = given + COMMAND_N_OPTIONS;
    CommandModel *model = ARENA_NEW(arena, CommandModel, 1);
    *model = (CommandModel){.program = given[COMMAND_PROGRAM].names,
                            .n_program = (int)given[COMMAND_PROGRAM].count,
                            .workers = (int)settings[COMMAND_WORKERS],
                            .timeout = settings[COMMAND_SECONDS],
                            .samples = (int64_t)settings[COMMAND_SAMPLES]};
    *out = (Configured){.model = &command_model,
                        .kernel = KERNEL_NONE,
                        .ticks = model->samples,
                        .steps_max = INT64_MAX / 4, // a trial ends by its time
                        .host = model};
    if (points != NULL) TRY(command_check(points, out));
    TRY(command_parameters(&lists[DECLARED_PARAMETERS], arena, out));
    out->metrics = declared_fields(&lists[DECLARED_METRICS], "metric of the program", NULL, arena);
    out->n_metrics = (int)lists[DECLARED_METRICS].count;
    command_columns(&lists[DECLARED_COLUMNS], arena, out);
    return declared_failures(command_failures, COMMAND_FAILURES, &given[COMMAND_OWN_FAILURES], COMMAND_OWN_FAILURES,
                             arena, out);
}

// A test plays it.
static const char command_protocol[] =
    "the protocol, a JSON object per line: the worker's standard input has the first line, and a request for each\n"
    "trial; its standard output the second line, and an answer for each request. `seed` is all the randomness of a\n"
    "trial. An answer may add \"failure\": a name of `failures`; with \"trajectory\": true in the request, "
    "\"trajectory\":\n{\"time\": [...], ...}, a list for each column. It ends when its standard input ends.\n\n"
    "    {\"hello\": 1, \"parameters\": [\"mass\"], \"metrics\": [\"error\"], \"columns\": [], \"failures\": []}\n"
    "    {\"hello\": 1}\n"
    "    {\"id\": 7, \"trial\": 0, \"replicate\": 0, \"seed\": 9087, \"trajectory\": false, "
    "\"parameters\": {\"mass\": 1}}\n"
    "    {\"id\": 7, \"metrics\": {\"error\": 0.5}}\n\n"
    "hopscotch.worker speaks it for a Python function: program: [python3, -m, hopscotch.worker, simulate.py]\n";

const Model command_model = {
    .name = "command",
    .doc = "a simulator of your own: a program that takes parameters and gives metrics, one JSON object per line",
    .options = command_options,
    .n_options = COMMAND_N_OPTIONS,
    .lists = command_lists,
    .n_lists = COMMAND_N_LISTS,
    .top = "parameters|metrics|columns|failures",
    .declares = DECLARED_PARAMETERS + 1,
    .runs_program = true,
    .notes = command_protocol,
    .configure = command_configure,
};
