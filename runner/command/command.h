// The command line: options, one table row per command, and what commands share.
#ifndef HOPSCOTCH_COMMAND_H
#define HOPSCOTCH_COMMAND_H

#include "../view/view.h"

// ---- commands (their table is in commands.c; command_line.c parses a command line) ----------------------------------

// An option: `--name VALUE` or `--name=VALUE`. Its value is checked before the command runs.
typedef enum SwitchType {
    SWITCH_FLAG,
    SWITCH_TEXT,
    SWITCH_TEXTS, // may be given several times
    SWITCH_FILE,  // a file that is written; argument FILE.h5|csv: an ending in letters is one of these
    SWITCH_INTEGER,
    SWITCH_CHOICE,
    SWITCH_DEVICES
} SwitchType;
typedef struct Switch {
    const char *name; // without the dashes
    SwitchType type;
    const char *argument; // name of the value in help; of a choice, its values: "table|csv|json"; NULL for a flag
    int64_t low, high;    // SWITCH_INTEGER, SWITCH_DEVICES: inclusive range
    const char *doc;
} Switch;
typedef struct Switches {
    const Switch *rows;
    int count;
} Switches;
extern const Switches switches_common;   // of every command: --results, --no-color, --help
extern const Switches switches_spec;     // --set
extern const Switches switches_backend;  // --backend, --threads, --device, --kernels, --isa, --watchdog
extern const Switches switches_campaign; // of commands that run a campaign: --progress, --shared-fs
extern const Switches switches_shared_fs;
extern const Switches switches_format; // --format, --json
extern const Switches switches_json;   // --json alone
extern const Switches switches_select; // --where, --order, --columns, --limit (select.c)

enum { COMMAND_SWITCHES_MAX = 4 };
typedef struct CommandLine CommandLine;
typedef struct Command {
    const char *name, *arguments, *doc, *examples;
    int least, most; // number of arguments; options do not count
    const Switches *switches[COMMAND_SWITCHES_MAX];
    Error (*run)(const CommandLine *line);
} Command;

// A parsed command line.
struct CommandLine {
    const Command *command;
    const char **arguments; // [n_arguments]
    int n_arguments;
    const Switch **given; // [n_given] options in the order given
    const char **values;  // [n_given]; "" for a flag
    int n_given;
    const char *results;    // root folder
    const Overrides *swept; // of a campaign of a sweep, after those of the command line; NULL: there is none
    const char *swept_name; // of that campaign
    FILE *out, *messages;
    Arena *arena;
};

// All commands, index from 0 to command_count() - 1, in the order of `hopscotch help`.
int command_count(void);
const Command *command_at(int index);
const char *command_group(int index);          // name of the group if this is its first command; else NULL
const Command *command_find(const char *name); // NULL: no command has the name
int hopscotch_main(int argc, char **argv);     // the program; returns the exit code

// Error (usage): suggests the nearest command or option, or names the help page.
Error command_line_parse(int argc, char **argv, Arena *arena, CommandLine *line);
bool switch_given(const CommandLine *line, const char *name); // the option was given; name: without "--"
// The command once more, for a message: "hopscotch verify gains --seeds 1000".
const char *command_line_again(const CommandLine *line);
// The value of the option's last occurrence; `fallback` if it was not given.
const char *switch_text(const CommandLine *line, const char *name, const char *fallback);
int64_t switch_integer(const CommandLine *line, const char *name, int64_t fallback);
int switch_choice(const CommandLine *line, const char *name, int fallback); // index of the choice
// The values of all occurrences of the option, in order: [*count].
const char *const *switch_all(const CommandLine *line, const char *name, int *count);
void command_help(const Command *command, FILE *out); // as `hopscotch help COMMAND`
// The command's groups of options by index, the common ones last; NULL after the last. command NULL: the common ones.
const Switches *command_switches(const Command *command, int index);
// Print manual pages (manual.c): section 1 for a command, or for the program with NULL; section 5 for the spec.
void manual_command(const Command *command, FILE *out);
void manual_spec(FILE *out);
// Print scripts that complete words in a shell (completion.c).
void completion_bash(FILE *out);
void completion_zsh(FILE *out);

// ---- what the options say -------------------------------------------------------------------------------------------

int command_threads(const CommandLine *line);                                   // --threads, else processors_allowed
BackendOptions command_backend(const CommandLine *line, const char *fallback);  // fallback: without --backend
BackendOptions command_spec_backend(const CommandLine *line, const Spec *spec); // without options: the spec's
TableFormat command_format(const CommandLine *line);                            // --json, --format, else text
// Options of a run under --results, with the backend, --progress and --shared-fs. Its output goes to `messages`.
RunOptions command_run_options(const CommandLine *line, const Spec *spec);
// The spec in the file `path`, or that of a campaign by its name, its folder or a file in it, with --set. Its errors
// are printed to `messages`.
Error command_spec(const CommandLine *line, const char *path, Spec *spec);
bool command_is_file(const char *path, Arena *arena); // the path exists and is not the folder of a campaign
// The spec that a campaign was run with (text->resolved is not NULL), with overrides and `last` (or NULL) after them.
Error command_kept_spec(const CommandLine *line, const CampaignLocation *location, const StoredText *text,
                        const Overrides *overrides, const char *last, Spec *spec);
// As command_spec, with the overrides `first` before those of the command line and the override `last` (or NULL) after.
Error command_spec_with(const CommandLine *line, const char *path, const Overrides *first, const char *last,
                        Spec *spec);
Overrides command_overrides(const CommandLine *line); // of --set and --seed, then those of a sweep
// Calls `run` for each campaign that the spec's `sweep` declares, or once where the spec has none (sweep.c). All specs
// are checked first; the first error ends it. command_campaign_name: of this campaign, of --name, or the experiment's.
Error command_sweep(const CommandLine *line, Error (*run)(const CommandLine *));
const char *command_campaign_name(const CommandLine *line, const Spec *spec);
// For a spec whose search starts from another campaign (`cmaes.from`): *taken, the value of `cmaes.taken` for the
// campaign `name`; NULL without such a start. Problems are printed with the place in the spec that names the other one.
Error command_taken(const CommandLine *line, const Spec *spec, const char *name, const char **taken);

// For `run --part`: puts the part into the spec, and its folder into the options (part.c). Error (user): number or size
// of the job array are unknown, or the campaign is divided into another number of parts, or is a part itself.
Error part_prepare(const CommandLine *line, Spec *spec, RunOptions *options);
// Print the parts of a campaign (gather.c) as a table, or as a member of the open object of `json`.
Error parts_print(const Parts *parts, const Gathered *gathered, FILE *out, Arena *arena);
void parts_json(const Parts *parts, const Gathered *gathered, Json *json);

// ---- campaigns, trials and rows that the arguments name (open.c, select.c) ------------------------------------------

// Error (user): there is no such campaign; suggests the nearest name.
Error campaign_find(const CommandLine *line, const char *text, CampaignLocation *location);
// The campaigns that all arguments name. A pattern of the shell, results/*, also matches the files of the catalogue,
// which are left out. Error (usage): fewer than `least` are left.
enum { CAMPAIGN_ARGUMENTS_MOST = 100000 };
Error campaign_arguments(const CommandLine *line, int least, const char *const **names, int *count);
CampaignLocation campaign_location(const CommandLine *line,
                                   const char *name); // of an existing campaign under --results
// Opens a campaign by its name or its path. Errors: as campaign_find and campaign_open.
Error campaign_open_named(const CommandLine *line, const char *text, StoredCampaign *campaign);
// Before the program of a campaign runs again: prints to `messages` which of its files have changed.
Error command_program_remark(const CommandLine *line, const StoredCampaign *campaign);
// Opens the campaign of CAMPAIGN/ID; ID may also be `best`, `worst` or `failed` (the first trial that failed).
Error campaign_open_trial(const CommandLine *line, const char *text, StoredCampaign *campaign, int64_t *trial);
// The same of CAMPAIGN/TRIAL/REPLICATE, too. *named: the text names the replicate, which is 0 otherwise.
Error campaign_open_replicate(const CommandLine *line, const char *text, StoredCampaign *campaign, int64_t *trial,
                              int *replicate, bool *named);
// *query <- the rows of --where, --order, --columns and --limit. limit, columns: defaults of these options; columns
// NULL: the main columns.
Error command_select(const CommandLine *line, const StoredCampaign *campaign, int64_t limit, const char *columns,
                     Query *query);
// If the campaign stores rows of some trials only (record.rows): prints to `messages` which rows the output is from.
Error command_report_rows(const CommandLine *line, const StoredCampaign *campaign);
// Prints the value `cell` of the row, by the type of its column.
void trial_cell(Table *table, const Cursor *trial, int location, const TrialColumns *columns, int column);
Error query_print(const Query *query, TableFormat format, FILE *out, Arena *arena); // all rows (query.c)

// ---- output ---------------------------------------------------------------------------------------------------------

// A file that the user asked for; "-" is standard output (output_file.c). The text is collected in memory, in `stream`.
// command_output_finish writes it in one piece and prints path and size; after `error` it writes nothing and returns
// it.
typedef struct CommandOutput {
    const char *path;
    TextStream stream;
} CommandOutput;
Error command_output_start(const char *path, CommandOutput *output);
Error command_output_finish(const CommandLine *line, CommandOutput *output, Error error);

// A picture, written as SVG to output->stream, in the format of its path's ending (figure.c). dpi: of a PNG.
Error command_picture_finish(const CommandLine *line, CommandOutput *output, int dpi, Error error);
// The figure of --width, --height and --font, or NULL where none is given and the path ends in .svg or not at all: PDF
// and PNG are figures. Error (usage): a length that is none.
extern const Switches switches_figure; // these and --dpi
Error command_figure(const CommandLine *line, const char *path, Figure *room, const Figure **figure);

// The files that come with the program (shipped.c): *folder holds experiments/ and the pages. Error (user): they are
// not there. shipped_read: the file `name` of the folder, which can't lead out of it.
enum { SHIPPED_BYTES_MAX = 4 << 20 };
Error shipped_folder(Arena *arena, const char **folder);
Error shipped_read(const char *folder, const char *name, Arena *arena, Bytes *out);
// If the command takes a spec and its argument names neither a file nor a campaign, but an example that comes with the
// program ("smoke"): puts the example's path in its place and prints so to `messages` (examples.c).
void examples_name(const CommandLine *line);
// The example whose name is like that of a spec that is not there, with or without .yaml; NULL: none, or a path to
// another folder is given.
const char *examples_nearest(const char *given, Arena *arena);

// --sample and --window of a motion that is simulated again (replay.c). replay_differs: the error of one whose results
// are not the stored ones.
Error replay_read_times(const CommandLine *line, ReplayRequest *request);
Error replay_differs(const StoredCampaign *campaign, const ReplayResult *result, Arena *arena);
// Of a trial that failed as non_finite: prints what was not finite first (replay_cause.c). It is simulated twice again.
Error replay_print_cause(const CommandLine *line, const StoredCampaign *campaign, const ReplayRequest *asked,
                         const BackendOptions *backend, FILE *out);
// `plot --columns` and `plot --phase` (plot_motions.c). Error (usage): the options are not of a motion.
bool plot_is_of_motions(const CommandLine *line);
Error plot_motions(const CommandLine *line);
Error plot_without_motions(const CommandLine *line); // checks the arguments of a plot of a campaign
extern const Switches switches_motions;
// `replay --frames` (frames.c). Error (user): the model has no drawing, or the folder holds files.
Error frames_write(const CommandLine *line, const ReplayTrace *trace);

// `list`, and `status` without a campaign (list.c).
Error list_campaigns(const CommandLine *line);
// Shows a campaign until it ends or the user leaves (live.c).
Error live_watch(const CommandLine *line, const CampaignLocation *location);
bool live_pause(double seconds); // false: the user pressed Ctrl-C (interrupt_install)
// Writes a page again and again for --follow, until `write` says in *over that nothing runs any more. Writing takes
// processor time from the runs, so the pause is at least ten times as long. Error (usage): the page is standard output.
enum { LIVE_PAGE_EVERY = 5 }; // s between two pages, without --every
Error live_follow(const CommandLine *line, Error (*write)(const CommandLine *line, bool *over));

// The columns of a front (best_front.c): those of a list "a,b"; with NULL, the spec's objectives.
typedef struct FrontColumns {
    const char *names[OBJECTIVES_MAX];
    int count;
    bool own; // the spec's objectives
} FrontColumns;
Error front_columns(const StoredCampaign *campaign, const char *text, Arena *arena, FrontColumns *by);
// Prints `top` trials of the front (-1: all). An empty front prints nothing as a text. *first: id of the first trial,
// or -1.
Error front_print(const StoredCampaign *campaign, const FrontColumns *by, int64_t top, TableFormat format, FILE *out,
                  Arena *arena, int64_t *first);
// Prints the best trials or, with several objectives, the front; *best: id of the first trial. If all trials failed, a
// text lists those that survived longest, and *best is -1. CSV and JSON have all columns and no such list. top 0: 10
// trials, or the whole front as CSV or JSON.
Error best_print(const StoredCampaign *campaign, int64_t top, TableFormat format, FILE *out, Arena *arena,
                 int64_t *best);

// Prints the best trials of several campaigns in one table (best_several.c). Error (user): their objectives differ.
Error best_of_several(const CommandLine *line, const char *const *names, int count);
// The keys in which the tasks of two specs differ: "simulation.duration, ..."; "": none (compare.c). What the search
// chooses is no part of a task.
const char *compare_tasks(const Spec *first, const Spec *other, Arena *arena);

// Print what a campaign recommends (recommended.c); nothing if it recommends nothing. recommended_print: the
// recommended candidate and the best of the search. recommended_print_trial: a line about a trial that is a candidate.
// The functions with json add the same as a member of the open object.
void recommended_print(const Recommendation *recommendation, FILE *out);
// A line if the candidates have not all run.
void recommended_print_left(const StoredCampaign *campaign, FILE *out, Arena *arena);
// `verify --finalists` (finalists.c). Error (user): the campaign has no best trials that could be compared.
Error finalists_verify(const CommandLine *line, const CampaignLocation *location, const StoredCampaign *campaign);
void recommended_print_trial(const Recommendation *recommendation, int64_t trial, FILE *out);
void recommended_json(const Recommendation *recommendation, Json *json);
void recommended_trial_json(const Recommendation *recommendation, int64_t trial, Json *json);

double verify_percent(double fraction); // a fraction in percent, rounded to one decimal (verify.c)
// Adds the object `name` with value, low and high to the open object.
void verify_interval_json(Json *json, const char *name, const Interval *interval);
// Prints the tree of the robot's bodies (robot_tree.c). Error (user): the model has no robot.
Error show_robot(const Spec *spec, const double *parameter, FILE *out, Arena *arena);
// Prints a row of debug numbers of a replicate from the HDF5 file `file`, together with the other rows of its step if
// the model reads them together (show_debug.c). parameter[n_parameters]: the trial's; NaN where each replicate drew its
// own. Error (user): there is no such row.
Error show_debug_row(const StoredCampaign *campaign, int64_t trial, const double *parameter, const char *file,
                     int64_t replicate, int64_t row, FILE *out, Arena *arena);

#endif
