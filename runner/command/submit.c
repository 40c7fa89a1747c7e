// hopscotch submit: a batch script that runs a campaign in parts as a job array of Slurm. It writes the script, which
// is the user's to edit, and with --yes calls sbatch. Values stand in single quotes; no shell runs here.
#include "command.h"

#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { SUBMIT_PATH = 4096, SUBMIT_GRACE = 120 }; // s before the end of its time in which a task is asked to stop

typedef struct Submit {
    const CommandLine *line;
    Arena *arena;
    const char *name;
    int64_t parts;
    const char *program, *spec, *results; // absolute
    const char *run_options;              // " --set 'a=b'"
    const char *allow;                    // " --allow-programs", for the parts and for gather
    bool shared;                          // tasks write to the results root itself
    const char *file;                     // of the script
    FILE *out;
} Submit;

// ---- words ----------------------------------------------------------------------------------------------------------

static Error submit_refuse(const char *what, const char *text)
{
    return error_make(
        ERROR_USER,
        "%s \"%.100s\" has a line break or another control character, which is not allowed in a batch script", what,
        text);
}

static bool submit_has_control(const char *text)
{
    for (; *text != '\0'; text++)
        if (iscntrl((unsigned char)*text)) return true;
    return false;
}

// In single quotes, and a single quote as '\''.
static Error submit_quote(const Submit *submit, const char *what, const char *text, const char **quoted)
{
    if (submit_has_control(text)) return submit_refuse(what, text);
    char *to = ARENA_NEW(submit->arena, char, (int64_t)(4 * strlen(text) + 3));
    *quoted = to;
    *to++ = '\'';
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            memcpy(to, "'\\''", 4);
            to += 4;
        } else {
            *to++ = *text;
        }
    }
    *to = '\'';
    return error_none();
}

static Error submit_absolute(const Submit *submit, const char *path, const char **absolute)
{
    char here[SUBMIT_PATH];
    *absolute = path;
    if (path[0] == '/') return error_none();
    if (getcwd(here, sizeof here) == NULL)
        return error_make(ERROR_MACHINE, "the current folder has no path: %s", strerror(errno));
    *absolute = arena_format(submit->arena, "%s/%s", strcmp(here, "/") == 0 ? "" : here, path);
    return error_none();
}

static Error submit_program(Submit *submit)
{
    char path[SUBMIT_PATH];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return error_make(ERROR_MACHINE, "can't find the path of this program: %s", strerror(errno));
    path[length] = '\0';
    return submit_quote(submit, "the path of this program", arena_copy(submit->arena, path), &submit->program);
}

// ---- the spec -------------------------------------------------------------------------------------------------------

// Whether the spec can be divided.
static Error submit_check(const Submit *submit, Spec *spec)
{
    Search search;
    spec->part = (PartOf){1, (int)submit->parts};
    return search_init(spec, submit->arena, &search);
}

// A search that starts from another campaign: tasks can't read that campaign; its points are passed as --set.
static Error submit_taken(Submit *submit, const Spec *spec)
{
    const char *taken = NULL, *quoted;
    TRY(command_taken(submit->line, spec, submit->name, &taken));
    if (taken == NULL) return error_none();
    const char *set = arena_format(submit->arena, "search.%s.taken=%s", spec->method->name, taken);
    TRY(submit_quote(submit, "what the search takes", set, &quoted));
    submit->run_options = arena_format(submit->arena, "%s --set %s", submit->run_options, quoted);
    return error_none();
}

static Error submit_run_options(Submit *submit)
{
    int count;
    const char *const *sets = switch_all(submit->line, "set", &count), *quoted;
    submit->run_options = "";
    for (int i = 0; i < count; i++) {
        TRY(submit_quote(submit, "--set", sets[i], &quoted));
        submit->run_options = arena_format(submit->arena, "%s --set %s", submit->run_options, quoted);
    }
    const char *const *folders = switch_all(submit->line, "allow-files", &count);
    for (int i = 0; i < count; i++) {
        const char *absolute;
        TRY(submit_absolute(submit, folders[i], &absolute));
        TRY(submit_quote(submit, "--allow-files", absolute, &quoted));
        submit->run_options = arena_format(submit->arena, "%s --allow-files %s", submit->run_options, quoted);
    }
    return error_none();
}

static Error submit_read(Submit *submit)
{
    Spec spec;
    const CommandLine *line = submit->line;
    const char *path, *results;
    TRY(command_spec(line, line->arguments[0], &spec));
    submit->name = switch_text(line, "name", spec.experiment);
    TRY(campaign_name_check(submit->name));
    TRY(submit_check(submit, &spec));
    BackendOptions backend = {.program = {.allowed = switch_given(line, "allow-programs")}};
    TRY(program_options(&spec, submit->arena, &backend));
    submit->allow = backend.program.allowed ? " --allow-programs" : "";
    TRY(submit_absolute(submit, line->arguments[0], &path));
    TRY(submit_quote(submit, "the path of the spec", path, &submit->spec));
    TRY(submit_absolute(submit, line->results, &results));
    TRY(submit_quote(submit, "the results root", results, &submit->results));
    submit->file = switch_text(line, "output", arena_format(submit->arena, "%s.sbatch", submit->name));
    if (submit_has_control(submit->file)) return submit_refuse("--output", submit->file);
    submit->shared = switch_given(line, "shared-fs");
    TRY(submit_run_options(submit));
    TRY(submit_taken(submit, &spec));
    return submit_program(submit);
}

// ---- the script -----------------------------------------------------------------------------------------------------

// Each word of --slurm is a line of its own. sbatch reads these lines without a shell, but has quotes of its own.
static Error submit_put_options(const Submit *submit)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=,.:/@+%[]()*&|~^";
    const char *text = switch_text(submit->line, "slurm", "");
    if (submit_has_control(text)) return submit_refuse("--slurm", text);
    while (*(text += strspn(text, " ")) != '\0') {
        const size_t length = strcspn(text, " "), valid = strspn(text, allowed);
        if (text[0] != '-' || valid < length)
            return error_make(ERROR_USER,
                              "--slurm: \"%.*s\" is not supported: use --name=value without quotes, or edit the "
                              "script",
                              length < 100 ? (int)length : 100, text);
        fprintf(submit->out, "#SBATCH %.*s\n", (int)length, text);
        text += length;
    }
    return error_none();
}

static const char *submit_file_quoted(const Submit *submit) { return command_quoted(submit->file, submit->arena); }

static Error submit_put_head(const Submit *submit)
{
    FILE *out = submit->out;
    fprintf(out,
            "#!/bin/sh\n"
            "# Campaign %s: %lld parts, one task each. Written by hopscotch submit; edit as needed. To submit it:\n"
            "#     job=$(sbatch --parsable %s)\n"
            "#     sbatch --dependency=afterany:\"$job\" --array=0 %s    # task 0 joins the parts\n"
            "#SBATCH --job-name=%s\n"
            "#SBATCH --array=1-%lld\n"
            "#SBATCH --output=%s.%%a.log\n"
            "#SBATCH --open-mode=append\n"
            "#SBATCH --requeue\n"
            "#SBATCH --signal=B:TERM@%d\n",
            submit->name, (long long)submit->parts, submit_file_quoted(submit), submit_file_quoted(submit),
            submit->name, (long long)submit->parts, submit->name, SUBMIT_GRACE);
    return submit_put_options(submit);
}

static void submit_put_values(const Submit *submit)
{
    fprintf(submit->out,
            "\nhopscotch=%s\n"
            "spec=%s\n"
            "results=%s\n"
            "name=%s parts=%lld\n"
            "\n"
            "# %d s before its time is over, or earlier, Slurm sends TERM to this shell.\n"
            "run='' told=''\n"
            "trap 'told=yes; [ -z \"$run\" ] || kill -TERM \"$run\"' TERM\n",
            submit->program, submit->spec, submit->results, submit->name, (long long)submit->parts, SUBMIT_GRACE);
}

static void submit_put_copy_here(const Submit *submit)
{
    const int digits = submit->parts > 999 ? 4 : submit->parts > 99 ? 3 : 2;
    fprintf(
        submit->out,
        "\n"
        "# The part runs on a disk of this node, in a new folder of its own. Its earlier results are copied from the\n"
        "# results folder. There PART.new is a complete copy, and PART.copy an incomplete one.\n"
        "part=$name.parts/$(printf '%%0%ddof%%0%dd' \"$SLURM_ARRAY_TASK_ID\" \"$parts\")\n"
        "replace_part()\n"
        "{\n"
        "    [ -d \"$results/$part.new\" ] || return 0\n"
        "    rm -rf \"$results/$part.old\"\n"
        "    [ ! -d \"$results/$part\" ] || mv \"$results/$part\" \"$results/$part.old\" || return\n"
        "    mv \"$results/$part.new\" \"$results/$part\" || return\n"
        "    rm -rf \"$results/$part.old\" || true\n"
        "}\n"
        "node=''\n"
        "if [ \"$SLURM_ARRAY_TASK_ID\" -gt 0 ]; then\n"
        "    rm -rf \"${TMPDIR:-/tmp}/hopscotch.$SLURM_JOB_ID.\"* # left by a killed task\n"
        "    node=$(mktemp -d \"${TMPDIR:-/tmp}/hopscotch.$SLURM_JOB_ID.XXXXXXXX\") || exit\n"
        "    mkdir -p \"$node/$name.parts\" \"$results/$name.parts\" || exit\n"
        "    replace_part || exit\n"
        "    [ ! -d \"$results/$part\" ] || cp -Rp \"$results/$part\" \"$node/$part\" || exit\n"
        "fi\n",
        digits, digits);
}

// A signal ends `wait` at once, with 143; the next one waits on. dash returns 127 for a process that already ended.
static void submit_put_run(const Submit *submit)
{
    const char *shared = submit->shared ? " --shared-fs" : "";
    fprintf(submit->out,
            "\n"
            "# Exit code 75: it stopped and can go on; 143: SIGTERM came before the handler was installed.\n"
            "if [ -n \"$told\" ]; then\n"
            "    (exit 75) &\n"
            "elif [ \"$SLURM_ARRAY_TASK_ID\" -eq 0 ]; then\n"
            "    \"$hopscotch\" gather \"$name\" --results \"$results\" --progress none%s%s &\n"
            "else\n"
            "    \"$hopscotch\" run \"$spec\" --name \"$name\" --part auto --parts \"$parts\" --results \"%s\" \\\n"
            "        --progress none%s%s%s &\n"
            "fi\n"
            "run=$!\n"
            "[ -z \"$told\" ] || kill -TERM \"$run\"\n"
            "wait \"$run\"\n"
            "code=$?\n"
            "trap '' TERM\n"
            "if [ \"$code\" -eq 143 ]; then # the signal ended this wait, or what it waited for\n"
            "    wait \"$run\"\n"
            "    again=$?\n"
            "    [ \"$again\" -eq 127 ] || code=$again\n"
            "fi\n",
            shared, submit->allow, submit->shared ? "$results" : "$node", shared, submit->allow, submit->run_options);
}

static void submit_put_copy_back(const Submit *submit)
{
    fputs("\n"
          "# Copied beside its place and renamed, so that gather and the next turn find a complete part.\n"
          "if [ -n \"$node\" ] && [ -d \"$node/$part\" ]; then\n"
          "    if ! { rm -rf \"$results/$part.copy\" && cp -Rp \"$node/$part\" \"$results/$part.copy\" && sync &&\n"
          "        mv \"$results/$part.copy\" \"$results/$part.new\" && replace_part; }; then\n"
          "        echo \"$part could not be copied to $results: it is in $node of $(uname -n)\" >&2\n"
          "        exit 3\n"
          "    fi\n"
          "fi\n"
          "[ -z \"$node\" ] || rm -rf \"$node\"\n",
          submit->out);
}

static Error submit_put(const Submit *submit)
{
    TRY(submit_put_head(submit));
    submit_put_values(submit);
    if (!submit->shared) submit_put_copy_here(submit);
    submit_put_run(submit);
    if (!submit->shared) submit_put_copy_back(submit);
    fputs("\n# A cancelled task is not RUNNING; it is not requeued.\n"
          "task=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\n"
          "case $code in\n"
          "75 | 143) [ \"$(squeue -h -j \"$task\" -o %T)\" = RUNNING ] && scontrol requeue \"$task\" ;;\n"
          "esac\n"
          "exit \"$code\"\n",
          submit->out);
    return error_none();
}

// ---- sbatch ---------------------------------------------------------------------------------------------------------

// Reads all that comes, so that sbatch need not end by SIGPIPE; text[size]: the first bytes of it.
static void submit_hear(int from, char *text, size_t size)
{
    char piece[256];
    size_t used = 0;
    ssize_t got;
    while ((got = read(from, piece, sizeof piece)) > 0 || (got < 0 && errno == EINTR)) {
        const size_t room = size - 1 - used, kept = got < 0 ? 0 : (size_t)got < room ? (size_t)got : room;
        memcpy(text + used, piece, kept);
        used += kept;
    }
    text[used] = '\0';
}

// Runs sbatch with these words; text[size]: the first bytes of its output.
static Error submit_call(char *const *words, char *text, size_t size)
{
    int ends[2], status = 0;
    pid_t process = 0;
    posix_spawn_file_actions_t files;
    if (pipe(ends) != 0 || posix_spawn_file_actions_init(&files) != 0)
        return error_make(ERROR_MACHINE, "no pipe to sbatch: %s", strerror(errno));
    int failed = posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    if (failed == 0) failed = posix_spawn_file_actions_addclose(&files, ends[0]);
    if (failed == 0) failed = posix_spawnp(&process, words[0], &files, NULL, words, environ);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    if (failed == 0) submit_hear(ends[0], text, size);
    close(ends[0]);
    if (failed != 0) return error_make(ERROR_MACHINE, "sbatch can't be called: %s", strerror(failed));
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return error_none();
    return error_make(ERROR_MACHINE, "sbatch refused the job: see its message above");
}

// "4711" or "4711;cluster"
static Error submit_job(char *const *words, Arena *arena, const char **job)
{
    char text[256];
    TRY(submit_call(words, text, sizeof text));
    const size_t digits = strspn(text, "0123456789");
    if (digits == 0 || strchr("\n;", text[digits]) == NULL)
        return error_make(ERROR_MACHINE, "sbatch printed \"%.80s\" instead of a job number", text_visible(text, arena));
    text[digits] = '\0';
    *job = arena_copy(arena, text);
    return error_none();
}

static Error submit_jobs(const Submit *submit)
{
    Arena *arena = submit->arena;
    const char *job, *joining;
    char program[] = "sbatch", parsable[] = "--parsable", array[] = "--array=0",
         *file = arena_copy(arena, submit->file);
    char *const first[] = {program, parsable, file, NULL};
    TRY(submit_job(first, arena, &job));
    char *after = arena_format(arena, "--dependency=afterany:%s", job);
    char *const second[] = {program, parsable, after, array, file, NULL};
    TRY(submit_job(second, arena, &joining));
    fprintf(submit->line->out, "job %s runs the parts, job %s joins them\n", job, joining);
    return error_none();
}

// ---- the command ----------------------------------------------------------------------------------------------------

static Error submit_write(Submit *submit)
{
    CommandOutput output;
    const bool print = switch_given(submit->line, "print");
    TRY(command_output_start(print ? "-" : submit->file, &output));
    submit->out = output.stream.out;
    return command_output_finish(submit->line, &output, submit_put(submit));
}

static Error submit_run(const CommandLine *line)
{
    Submit submit = {.line = line, .arena = line->arena, .parts = switch_integer(line, "parts", 0)};
    const bool print = switch_given(line, "print"), yes = switch_given(line, "yes");
    if (submit.parts < 1) return error_make(ERROR_USAGE, "submit needs the number of parts: --parts N");
    if (print && yes) return error_make(ERROR_USAGE, "--print only prints the script: leave out --yes");
    TRY(submit_read(&submit));
    if (submit.file[0] == '-' && !print)
        return error_make(ERROR_USAGE, "--output %.100s: use --print for standard output, and a name without '-'",
                          submit.file);
    TRY(submit_write(&submit));
    if (yes) return submit_jobs(&submit);
    if (!print) fputs("to submit it, see its first lines or use submit --yes\n", line->messages);
    return error_none();
}

static const Switch submit_rows[] = {
    {"parts", SWITCH_INTEGER, "N", 1, PARTS_MAX, "number of parts: tasks of the array"},
    {"name", SWITCH_TEXT, "NAME", 0, 0, "name of the campaign (default: the experiment's)"},
    {"slurm", SWITCH_TEXT, "OPTIONS", 0, 0, "options for sbatch, e.g. \"--gpus=1 --time=2:00:00\""},
    {"print", SWITCH_FLAG, NULL, 0, 0, "print the script"},
    {"output", SWITCH_TEXT, "FILE", 0, 0, "file of the script (default: NAME.sbatch)"},
    {"allow-programs", SWITCH_FLAG, NULL, 0, 0,
     "let the tasks run the program of a spec with `model: command`; it runs with your rights"},
    {"yes", SWITCH_FLAG, NULL, 0, 0,
     "submit the script: call sbatch for the parts, and for the job that joins the parts"},
};
static const Switches submit_switches = {submit_rows, sizeof submit_rows / sizeof *submit_rows};

const Command command_submit = {
    .name = "submit",
    .arguments = "SPEC",
    .doc = "write a batch script that runs a campaign in parts under Slurm; with --yes submit it",
    .examples = "  hopscotch submit experiments/raibert_gains.yaml --parts 64 --slurm \"--gpus=1 --time=2:00:00\"\n"
                "  hopscotch submit experiments/smoke.yaml --parts 8 --print\n",
    .least = 1,
    .most = 1,
    .switches = {&submit_switches, &switches_spec, &switches_shared_fs},
    .run = submit_run,
};
