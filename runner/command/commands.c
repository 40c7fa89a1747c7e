// The table of commands; runs one, prints its error and gives its exit code.
#include "command.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

// One row per command: its group and its name, in the order of `help`.
// clang-format off
#define COMMANDS(X) \
    X("run", check) X("run", plan) X("run", run) X("run", resume) X("run", stop) X("run", submit) \
    X("run", ask) X("run", tell) \
    X("look", status) X("look", list) X("look", best) X("look", sensitivity) X("look", query) X("look", show) \
    X("look", report) X("look", overview) X("look", plot) X("look", replay) X("look", gradient) X("look", fit) \
    X("look", verify) X("look", compare) \
    X("keep", tag) X("keep", note) X("keep", export) X("keep", pack) X("keep", merge) X("keep", gather) \
    X("keep", digest) \
    X("maintain", doctor) X("maintain", rm) X("maintain", gc) \
    X("learn", examples) X("learn", docs) X("learn", models) X("learn", schema) X("learn", help_pages) X("learn", version)
#define COMMAND_DECLARE(group, name) extern const Command command_##name;
#define COMMAND_ROW(group, name) {group, &command_##name},
COMMANDS(COMMAND_DECLARE)
static const struct {
    const char *group;
    const Command *command;
} commands_table[] = {COMMANDS(COMMAND_ROW)};
#undef COMMAND_DECLARE
#undef COMMAND_ROW
// clang-format on
#undef COMMANDS

// An upper limit: the arena grows as the command needs it.
static const size_t commands_arena_size = (size_t)4 << 30;

int command_count(void) { return (int)(sizeof commands_table / sizeof *commands_table); }
const Command *command_at(int index) { return commands_table[index].command; }

const char *command_group(int index)
{
    const bool first = index == 0 || strcmp(commands_table[index].group, commands_table[index - 1].group) != 0;
    return first ? commands_table[index].group : NULL;
}

const Command *command_find(const char *name)
{
    for (int i = 0; i < command_count(); i++) {
        if (strcmp(command_at(i)->name, name) == 0) return command_at(i);
    }
    return NULL;
}

static Error commands_dispatch(const CommandLine *line)
{
    if (line->command == NULL && switch_given(line, "help")) {
        const CommandLine help = {.command = &command_help_pages, .out = line->out, .messages = line->messages};
        return command_help_pages.run(&help);
    }
    if (line->command == NULL)
        return error_make(ERROR_USAGE, "no command given; %s lists the commands", command_again(NULL, "help").text);
    if (switch_given(line, "help")) {
        command_help(line->command, line->out);
        return error_none();
    }
    examples_name(line);
    return line->command->run(line);
}

// Buffered output fails here if the disk behind `> best.csv` is full.
static Error commands_flush(FILE *out)
{
    if (fflush(out) == 0 && !ferror(out)) return error_none();
    return file_unwritten("standard output");
}

static int commands_exit_code(ErrorKind kind)
{
    static const int codes[] = {[OK] = 0,
                                [ERROR_USER] = 1,
                                [ERROR_USAGE] = 2,
                                [ERROR_MACHINE] = 3,
                                [ERROR_INTERRUPTED] = 128 + SIGINT,
                                [ERROR_UNFINISHED] = 75,
                                [ERROR_MEMORY] = 3,
                                [ERROR_DEVICE] = 3,
                                [ERROR_STUCK] = 3};
    const int signal_number = interrupt_requested();
    const bool interrupted = kind == ERROR_INTERRUPTED || kind == ERROR_STUCK;
    return interrupted && signal_number > 0 ? 128 + signal_number : codes[kind]; // 0: asked by `hopscotch stop`
}

static void commands_print_error(const Error *error, FILE *out)
{
    const bool colour = terminal_colour(out) && error->kind != ERROR_INTERRUPTED && error->kind != ERROR_UNFINISHED;
    fprintf(out, "%shopscotch:%s ", colour ? "\033[1;31m" : "", colour ? "\033[0m" : "");
    for (const char *text = error->text; *text != '\0';) { // it may hold text of a file or of the user
        const Glyph glyph = glyph_read(text);
        fputs(*text == '\n' ? "\n" : glyph.text, out); // our own line breaks stay
        text += glyph.bytes;
    }
    fputc('\n', out);
}

typedef struct CommandsCall {
    int argc;
    char **argv;
    int code; // exit code
} CommandsCall;

static void *commands_run(void *argument)
{
    CommandsCall *call = argument;
    Arena arena;
    CommandLine line;
    Error error = arena_create_growing(&arena, commands_arena_size, "the command");
    if (error.kind == OK) error = command_line_parse(call->argc, call->argv, &arena, &line);
    if (error.kind == OK) error = nofollow_add_root(line.results);
    if (error.kind == OK) error = commands_dispatch(&line);
    if (error.kind == OK) error = commands_flush(stdout);
    if (error.kind != OK && error.text[0] != '\0') commands_print_error(&error, stderr);
    if (error.kind == ERROR_STUCK) _exit(commands_exit_code(error.kind)); // the stuck thread still uses the arena
    arena_destroy(&arena);
    call->code = commands_exit_code(error.kind);
    return NULL;
}

int hopscotch_main(int argc, char **argv)
{
    CommandsCall call = {argc, argv, 0};
    signal(SIGXFSZ, SIG_IGN); // so that a write beyond `ulimit -f` returns an error
    const int failed = thread_run_deep(commands_run, &call);
    if (failed == 0) return call.code;
    const Error error = error_make(ERROR_MEMORY, "not enough memory for the command's stack: %s", strerror(failed));
    commands_print_error(&error, stderr);
    return commands_exit_code(error.kind);
}
