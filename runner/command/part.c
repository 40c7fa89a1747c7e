// `run --part`: which part of the campaign this process runs. The number is given, or comes from the environment of a
// task in an array of Slurm, PBS or Kubernetes.
#include "command.h"

#include <stdlib.h>
#include <string.h>

// ---- arrays of schedulers -------------------------------------------------------------------------------------------

// The variables of a scheduler: the number of the task and, where it says them, the number of the first task and of all
// tasks, and the step between numbers. NULL: it has none.
static const struct {
    const char *scheduler, *task, *first, *count, *step;
    int from; // tasks are numbered from this one on
} part_arrays[] = {
    {"Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_STEP", 1},
    {"PBS", "PBS_ARRAY_INDEX", NULL, NULL, NULL, 1},
    {"Kubernetes", "JOB_COMPLETION_INDEX", NULL, NULL, NULL, 0},
};
enum { PART_ARRAYS = sizeof part_arrays / sizeof *part_arrays };

// Digits alone, at most nine.
static bool part_number(const char *text, size_t length, int *value)
{
    if (length == 0 || length > 9 || strspn(text, "0123456789") < length) return false;
    *value = 0;
    for (size_t i = 0; i < length; i++) *value = 10 * *value + (text[i] - '0');
    return true;
}

// The number in a variable; -1: the variable is not set. Error (user): it is no number.
static Error part_variable(const char *name, int *value)
{
    const char *text = name != NULL ? getenv(name) : NULL;
    *value = -1;
    if (text == NULL || part_number(text, strlen(text), value)) return error_none();
    return error_make(ERROR_USER, "the environment variable %s is \"%.40s\", and should be a number", name, text);
}

static Error part_outside(int array, int task, PartOf part)
{
    return error_make(ERROR_USER, "%s is %d, which is not a task of an array of %d: number the tasks from %d to %d",
                      part_arrays[array].task, task, part.count, part_arrays[array].from,
                      part_arrays[array].from + part.count - 1);
}

// Without --parts: the whole array, whose numbers have no gaps, is the campaign.
static Error part_of_whole_array(int array, int task, PartOf *part)
{
    int first, count, step;
    TRY(part_variable(part_arrays[array].first, &first));
    TRY(part_variable(part_arrays[array].count, &count));
    TRY(part_variable(part_arrays[array].step, &step));
    if (first < 0 || count < 0)
        return error_make(ERROR_USER, "%s does not say how many tasks the array has: add --parts N",
                          part_arrays[array].scheduler);
    *part = (PartOf){task - first + 1, count};
    if (step <= 1 && task >= first && part->number <= count && count <= PARTS_MAX) return error_none();
    return error_make(
        ERROR_USER,
        "task %d of an array of %d that begins at %d: the numbers have gaps, or there are more than %d: use "
        "--parts N and number the tasks 1 to N",
        task, count, first, PARTS_MAX);
}

static Error part_of_array(const CommandLine *line, int array, int task, PartOf *part)
{
    if (!switch_given(line, "parts")) return part_of_whole_array(array, task, part);
    *part = (PartOf){task - part_arrays[array].from + 1, (int)switch_integer(line, "parts", 0)};
    return part->number >= 1 && part->number <= part->count ? error_none() : part_outside(array, task, *part);
}

static Error part_of_environment(const CommandLine *line, PartOf *part)
{
    int found = -1, number = -1;
    for (int i = 0; i < PART_ARRAYS; i++) {
        int task;
        TRY(part_variable(part_arrays[i].task, &task));
        if (task < 0) continue;
        if (found >= 0)
            return error_make(ERROR_USER, "%s and %s are both set: use --part K/N", part_arrays[found].task,
                              part_arrays[i].task);
        found = i;
        number = task;
    }
    if (found >= 0) return part_of_array(line, found, number, part);
    return error_make(ERROR_USER, "--part auto needs a task of an array: none of SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX "
                                  "and JOB_COMPLETION_INDEX is set; use --part K/N");
}

// ---- the option -----------------------------------------------------------------------------------------------------

static Error part_of_text(const CommandLine *line, const char *text, PartOf *part)
{
    const char *slash = strchr(text, '/');
    if (switch_given(line, "parts"))
        return error_make(ERROR_USAGE, "--parts is only for --part auto; --part %.40s already gives the number", text);
    if (slash != NULL && part_number(text, (size_t)(slash - text), &part->number) &&
        part_number(slash + 1, strlen(slash + 1), &part->count) && part->number >= 1 && part->number <= part->count &&
        part->count <= PARTS_MAX)
        return error_none();
    return error_make(ERROR_USAGE, "--part %.40s: write --part K/N with 1 <= K <= N <= %d, or --part auto", text,
                      PARTS_MAX);
}

static Error part_given(const CommandLine *line, PartOf *part)
{
    const char *text = switch_text(line, "part", "");
    return strcmp(text, "auto") == 0 ? part_of_environment(line, part) : part_of_text(line, text, part);
}

// ---- its folder -----------------------------------------------------------------------------------------------------

// Whether a folder is that of a part: NAME.parts/03of16.
static bool part_is_folder(const char *folder, Arena *arena)
{
    PartOf part;
    const char *name = strrchr(folder, '/'), *root = folder_of(folder, arena);
    const size_t length = strlen(root), suffix = strlen(PARTS_SUFFIX);
    if (!part_is_named(name != NULL ? name + 1 : folder, &part)) return false;
    return length > suffix && strcmp(root + length - suffix, PARTS_SUFFIX) == 0;
}

static Error part_check_results(const CommandLine *line, const char *name, PartOf part, const char *root)
{
    PartOf other;
    Arena *arena = line->arena;
    const char *here = arena_format(arena, "%s/%s", line->results, name);
    if (part_is_folder(folder_of(line->arguments[0], arena), arena) || part_is_folder(here, arena))
        return error_make(ERROR_USER, "%.300s is a part. A part can't be divided: divide the campaign into more parts",
                          part_is_folder(here, arena) ? here : line->arguments[0]);
    TRY(parts_divided(root, arena, &other));
    if (other.count == 0 || other.count == part.count) return error_none();
    return error_make(ERROR_USER, "%.300s has %d parts, not %d: use the same number, or remove the folder", root,
                      other.count, part.count);
}

Error part_prepare(const CommandLine *line, Spec *spec, RunOptions *options)
{
    PartOf part = {.count = 0};
    Search search;
    TRY(campaign_name_check(options->name));
    TRY(part_given(line, &part));
    if (options->extend)
        return error_make(ERROR_USAGE, "a part can't be extended: run the changed spec in parts under a new --name");
    const char *root = parts_root(line->results, options->name, line->arena);
    TRY(part_check_results(line, options->name, part, root));
    spec->part = part;
    options->results = root;
    options->name = arena_copy(line->arena, part_name(part).text);
    return search_init(spec, line->arena, &search); // whether it can be divided, before anything is written
}
