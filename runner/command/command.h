// Talking to people: the command line, a file per command, what all commands share.
#ifndef HOPSCOTCH_COMMAND_H
#define HOPSCOTCH_COMMAND_H

#include "../view/view.h"

// ---- commands (the table is commands.c, their lines are read in command_line.c; one file each) ----------------------

// One --option: `--name VALUE` or `--name=VALUE`; checked against its row before the command runs.
typedef enum SwitchType { SWITCH_FLAG, SWITCH_TEXT, SWITCH_INTEGER, SWITCH_CHOICE, SWITCH_DEVICES } SwitchType;
typedef struct Switch {
    const char *name; // without the dashes
    SwitchType type;
    const char *argument; // how help names the value; a choice: "table|csv|json"; NULL for a flag
    int64_t low, high;    // SWITCH_INTEGER: inclusive range
    const char *doc;
} Switch;
typedef struct Switches {
    const Switch *rows;
    int count;
} Switches;
extern const Switches switches_common; // of every command: --results, --no-color, --help
extern const Switches switches_spec;   // --set
extern const Switches switches_backend;
extern const Switches switches_format; // --format, --json
extern const Switches switches_json;   // --json alone
extern const Switches switches_shared_fs;
extern const Switches switches_select; // --where, --order, --columns, --limit

enum { COMMAND_SWITCHES_MAX = 4 };
typedef struct CommandLine CommandLine;
typedef struct Command {
    const char *name, *arguments, *doc, *examples;
    int least, most; // arguments besides options
    const Switches *switches[COMMAND_SWITCHES_MAX];
    Error (*run)(const CommandLine *line);
} Command;

// A command line that agrees with the command's row.
struct CommandLine {
    const Command *command;
    const char **arguments; // [n_arguments]
    int n_arguments;
    const Switch **given; // [n_given] in the order given
    const char **values;  // [n_given]; a flag's is ""
    int n_given;
    const char *results; // root folder
    FILE *out, *messages;
    Arena *arena;
};

int command_count(void);
const Command *command_at(int index);
const char *command_group(int index);          // of the first command of a group: the group's name; else NULL
const Command *command_find(const char *name); // NULL if there is none
int hopscotch_main(int argc, char **argv);     // exit code

// Error: usage, with the nearest name and where to read on.
Error command_line_parse(int argc, char **argv, Arena *arena, CommandLine *line);
bool switch_given(const CommandLine *line, const char *name);
// Of the option's last occurrence, else the fallback.
const char *switch_text(const CommandLine *line, const char *name, const char *fallback);
int64_t switch_integer(const CommandLine *line, const char *name, int64_t fallback);
int switch_choice(const CommandLine *line, const char *name, int fallback); // place among the choices
// Of all its occurrences, in order. *count of them.
const char *const *switch_all(const CommandLine *line, const char *name, int *count);
void command_help(const Command *command, FILE *out);
// The groups of a command's options, the common ones last. NULL after the last. command NULL: the common ones.
const Switches *command_switches(const Command *command, int index);
// A page for man(1): of a command, of the program (NULL). The spec's, in section 5 (manual.c).
void manual_command(const Command *command, FILE *out);
void manual_spec(FILE *out);
// What a shell sources to complete words (completion.c).
void completion_bash(FILE *out);
void completion_zsh(FILE *out);
int command_threads(const CommandLine *line);                                  // --threads, else as many as are allowed
BackendOptions command_backend(const CommandLine *line, const char *fallback); // fallback: without --backend
BackendOptions command_spec_backend(const CommandLine *line, const Spec *spec); // for all trials of the spec
TableFormat command_format(const CommandLine *line);
// A file that the user asked for, written whole at its end unless there was an error; "-": standard output
// (output_file.c). Its path and size are told.
typedef struct CommandOutput {
    const char *path;
    TextStream stream;
} CommandOutput;
Error command_output_start(const char *path, CommandOutput *output);
Error command_output_finish(const CommandLine *line, CommandOutput *output, Error error);
// The spec of the first argument, with --set; its errors go to `messages`.
Error command_spec(const CommandLine *line, const char *path, Spec *spec);
// With other overrides before those that the command line gives, and another one last (or NULL).
Error command_spec_with(const CommandLine *line, const char *path, const Overrides *first, const char *last,
                        Spec *spec);
Overrides command_overrides(const CommandLine *line); // all that --set says, and --seed
// What a search takes from the campaign that it starts from, for a campaign of that name: the value of `cmaes.taken`,
// NULL: nothing. What is wrong with the other one is said where the spec names it.
Error command_taken(const CommandLine *line, const Spec *spec, const char *name, const char **taken);

// What the arguments name (open.c). Error (user): there is none, with the nearest name.
Error campaign_find(const CommandLine *line, const char *text, CampaignPlace *place);
Error campaign_open_named(const CommandLine *line, const char *text, StoredCampaign *campaign);
// CAMPAIGN/ID, or best, worst or failed (the first) in place of the id.
Error campaign_open_trial(const CommandLine *line, const char *text, StoredCampaign *campaign, int64_t *trial);
// What --where, --order, --columns and --limit choose (select.c). `columns`: without --columns; NULL: what tells most.
Error command_select(const CommandLine *line, const StoredCampaign *campaign, int64_t limit, const char *columns,
                     Query *query);
// One cell of a row of the table trials, by its column's type.
void trial_cell(Table *table, const Cursor *trial, int place, const TrialColumns *columns, int column);
// Makes an index of these columns for a query that was slow (index.c). The campaign is closed; count 0: none is made.
void index_after_answer(const CommandLine *line, const StoredCampaign *answered, const TrialOrder *columns, int count);
// Shows a campaign until it ends or the reader leaves (live.c).
Error live_watch(const CommandLine *line, const CampaignPlace *place);

// The columns that a front is of (best_front.c): those of a list "a,b", or, with NULL, the spec's objectives.
typedef struct FrontColumns {
    const char *names[OBJECTIVES_MAX];
    int count;
    bool own; // the spec's
} FrontColumns;
Error front_columns(const StoredCampaign *campaign, const char *text, Arena *arena, FrontColumns *by);
// Prints `top` of its trials (-1: all), nothing in a text if there are none; *first: the first one's id, or -1.
Error front_print(const StoredCampaign *campaign, const FrontColumns *by, int64_t top, TableFormat format, FILE *out,
                  Arena *arena, int64_t *first);
// Prints the best trials, or of several objectives the front; *best: the first one's id. With none that did not fail,
// the longest survivors, and -1. CSV and JSON have every column, and no survivors. top 0: 10, or a whole front for
// programs.
Error best_print(const StoredCampaign *campaign, int64_t top, TableFormat format, FILE *out, Arena *arena,
                 int64_t *best);

#endif
