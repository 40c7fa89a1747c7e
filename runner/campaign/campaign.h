// What was done: campaigns, their store (campaign.db, shards, the catalogue), runs, plans, replays and repairs.
//
// Each folder uses those before it: store (what is kept), batch (trials on a device), plan (time, memory and disk of a
// run), run (from ask to commit), doctor (checks and repairs). `make lint` checks that.
#ifndef HOPSCOTCH_CAMPAIGN_H
#define HOPSCOTCH_CAMPAIGN_H

#include "../experiment/experiment.h"
#include "store/ground/cursor.h"

// ---- folders --------------------------------------------------------------------------------------------------------

// What lies in a campaign's folder, beside CAMPAIGN_FILES.
#define CAMPAIGN_DATABASE "campaign.db"
#define CAMPAIGN_LOCK "campaign.lock"
#define CAMPAIGN_SHARDS "shards"
#define CAMPAIGN_QUARANTINE "quarantine" // shards that recovery moved away
#define CAMPAIGN_STOP "stop"             // asks the run to end (batch/interrupt.c)
// A results root inside the campaign: of the campaigns that verify and compare run for it.
#define CAMPAIGN_NESTED "verify"
// Prefixes of the name of a folder while it is removed, or while campaigns are merged into it. After a crash gc removes
// the folder.
#define REMOVE_PREFIX ".removed-"
#define MERGE_PREFIX ".merging-"

// results/NAME. Error (user): campaign_name_check's.
Error campaign_folder(const char *results, const char *name, Arena *arena, const char **folder);

// ---- commands that messages give users to type (store/ground/suggested_commands.c) ----------------------------------

// The results root that commands use without --results.
const char *command_default_results(void);
// " --results DIR" for a command that a message shows; empty for the default root.
const char *command_results_option(const char *results, Arena *arena);
const char *command_quoted(const char *text, Arena *arena); // as one word of a shell
const char *command_program(Arena *arena);                  // this program by the name that the user typed
const char *command_allow(const Model *model); // " --allow-programs" for a command that runs a program; else empty
// A command for a message: the program, the words, and --results where it is needed (NULL: never). A command that is
// too long ends in "--results ...".
typedef struct CommandText {
    char text[320];
} CommandText;
CommandText command_again(const char *results, const char *format, ...) PRINTF_LIKE(2, 3);

// ---- models that run a program (batch/program.c, store/campaign/program.c) ------------------------------------------

// For such a model, completes the options of a backend: it runs the program in the folder of the options, else the
// spec's. Error (user): the user did not allow it, or the folder is not known. Other models: does nothing; error
// (user): people run its trials.
Error program_options(const Spec *spec, Arena *arena, BackendOptions *options);

// Folder and version of the program that a campaign ran; NULL: not stored.
typedef struct ProgramNoted {
    const char *folder, *version;
} ProgramNoted;
#define PROGRAM_FOLDER "program folder" // kinds of events
#define PROGRAM_VERSION "program version"
#define PROGRAM_FILE "program file"                                         // "SHA256 NAME"
Error program_noted(Database *database, Arena *arena, ProgramNoted *noted); // reads the last events of these kinds

// The files that a campaign keeps of its program, as it last ran (store/campaign/program_files.c), by their names in
// the program's folder. The copies lie in CAMPAIGN_FILES, under their digests.
typedef struct ProgramFile {
    const char *name;
    Sha256Text digest;
} ProgramFile;
typedef struct ProgramFiles {
    ProgramFile *items; // [count]
    int count;
} ProgramFiles;
Error program_files_kept(Database *database, Arena *arena, ProgramFiles *kept);
// Prints a line to `messages` (NULL: nothing) for each of them that has another content in `folder` now, or is not
// there. campaign: its folder. folder NULL: does nothing.
Error program_files_remark(Database *database, const char *campaign, const char *folder, FILE *messages, Arena *arena);

// ---- a run (run/run.c) ----------------------------------------------------------------------------------------------

typedef struct RunOptions {
    const char *results; // root folder
    const char *name;    // NULL: the experiment's
    BackendOptions backend;
    int64_t batch; // lanes; 0: the spec's or auto
    int64_t slice; // ticks per slice; 0: chosen by time
    ProgressStyle progress;
    bool resume_only;    // `resume`: the campaign must exist
    bool nested;         // by verify or compare of another campaign: `results` lies in that campaign's folder
    const char *again;   // the command that continues the run; NULL: resume
    const char *retry;   // kinds of failures that are run again; NULL: none
    bool extend;         // if the spec is not the campaign's, add its trials to the campaign
    bool gathers;        // by gather, which adds the missing parts to a campaign
    bool shared_fs;      // allow a network file system
    bool ignore_space;   // run even if the disk is too small
    bool fallback_cpu;   // continue on the CPU if the device fails
    bool accept_version; // continue with a program of another version
    FILE *out, *messages;
} RunOptions;

typedef struct RunSummary {
    int64_t trials_total, trials_done, trials_before, lanes_run, failures;
    double wall_seconds, kernel_seconds, first_launch_to_last_commit;
    double record_seconds, index_seconds; // after the last commit: arrays by rank, index
    double best_fitness;
    int64_t best_trial, first_batch; // first_batch: of this run
    const char *state, *reason;
    char folder[512], device[128];
} RunSummary;

// Runs or continues the campaign. Returns when it is done, stopped by a limit, or interrupted (ERROR_INTERRUPTED, after
// it committed all complete trials). After an error of the machine everything committed is readable.
Error campaign_run(const Spec *spec, const RunOptions *options, Arena *arena, RunSummary *summary);

// ---- a campaign whose trials people run (run/by_hand.c, run/ask.c, run/tell.c) --------------------------------------

// Between open and close the campaign's lock is held. It is waited for: others hold it for an instant only.
typedef struct ByHand ByHand;
// Opens the campaign, or makes it if it is new and options->resume_only is false. Error (user): the model runs its
// trials itself, or as a run. *hand is in the arena.
Error by_hand_open(const Spec *spec, const RunOptions *options, Arena *arena, ByHand **hand);
Error by_hand_close(ByHand *hand, Error error); // returns `error`, or else its own
const Spec *by_hand_spec(const ByHand *hand);   // as it is stored
Error by_hand_check(const Spec *spec);          // error (user): people do not run its trials
// The parameters of a trial that was asked for, [n_parameters]; NULL after an error, or if there is no such trial.
Error by_hand_parameters(ByHand *hand, int64_t trial, const double **parameter);

// A replicate that is to be run.
typedef struct ToRun {
    int64_t trial;
    int replicate;
    bool again;              // it was given before
    const double *parameter; // [n_parameters]
} ToRun;
typedef struct AskRequest {
    int64_t trials;     // at most
    bool again;         // first those that were asked for and not told
    const char *before; // only those of them that were asked for before this time (clock_utc); NULL: all
} AskRequest;
typedef struct Asked {
    ToRun *lanes; // [count]
    int64_t count;
    const char *state, *reason; // of the campaign; reason NULL: none
} Asked;
Error by_hand_ask(ByHand *hand, const AskRequest *request, Asked *asked);

// Which results a campaign waits for.
enum { AWAITED_SHOWN = 8 };
typedef struct Awaited {
    int64_t asked, open;          // trials; open: that were not told, or of which replicates were not told
    int64_t first[AWAITED_SHOWN]; // of the open ones
} Awaited;
Error awaited_read(Database *database, Awaited *awaited); // asked 0: none was asked for, or another model's campaign
Error by_hand_awaited(const ByHand *hand, Awaited *awaited);
const char *awaited_text(const Awaited *awaited, Arena *arena); // "trials 3, 5 and 2 more"

// A result. by_hand_compare says what is known of this replicate.
typedef struct Told {
    int64_t trial;
    int replicate;
    int failure;          // code; 0: none
    const double *metric; // [n_metrics]; NaN: not given, which only a failure allows
} Told;
typedef enum ToldBefore {
    TOLD_UNKNOWN, // it was not asked for
    TOLD_NEVER,   //
    TOLD_SAME,    // with the same values
    TOLD_OTHERS   //
} ToldBefore;
Error by_hand_compare(ByHand *hand, const Told *told, ToldBefore *before, const char **stored); // stored: in words
typedef struct TellSummary {
    int64_t stored, same, corrected; // replicates
    int64_t complete;                // trials that have all their replicates now, and had not before
    int64_t learned;                 // corrected trials that the search had learned from
    const char *state, *reason;
} TellSummary;
// Stores results: all of them, or none after an error. All were compared.
Error by_hand_tell(ByHand *hand, const Told *told, int64_t count, TellSummary *summary);

// The process of a run that compiles a kernel for the campaign (batch/made.c): source on standard input, image on
// standard output. Returns the exit code: 0, or 1 with a message instead of the image.
#define MADE_COMPILER "--compile-kernel"
int made_compiler_main(const char *architecture);

// The value of the spec's `search.cmaes.taken`, for a campaign `name` (run/warm_start.c). NULL: the spec takes nothing
// from another campaign, or has that value already. Error (user): the other campaign does not exist, or has no trial to
// start from.
Error warm_start_take(const Spec *spec, const char *results, const char *name, Arena *arena, const char **taken);

// Restores a search from the state that the database keeps (run/warm_start.c); *found false: it keeps none.
Error search_read_state(Database *database, Search *search, bool *found);

// ---- stored campaigns (store/campaign/campaign_open.c, store/campaign/find.c) ---------------------------------------

// A stored campaign that is open for reading: its database and its spec.
typedef struct StoredCampaign {
    Database *database;
    const char *folder, *name;
    Spec spec;
    int numerics_version;
    const char *program_version;
    const char *hash;  // of the spec, as it was stored
    struct Pack *pack; // the trial of a file that `pack` wrote, in place of a database; NULL: a campaign in a folder
} StoredCampaign;
Error campaign_open(const char *results, const char *name, Arena *arena, StoredCampaign *out);
// Error: something in the campaign's folder has the name of a folder and is a file or a link. A link could lead
// anywhere.
Error campaign_check_folders(const char *folder, Arena *arena);
// Error (user): for this program the stored spec has another meaning than for the program that stored it. The rows then
// have other columns.
Error campaign_check_meaning(const StoredCampaign *campaign);
void campaign_close(StoredCampaign *campaign); // closes the database, or a pack; the arena keeps the spec

// A stored campaign, by its name under the results root or by its path. Error (user): there is none; it suggests the
// nearest name.
typedef struct CampaignLocation {
    const char *results, *name, *folder;
} CampaignLocation;
Error find_campaign(const char *results, const char *text, Arena *arena, CampaignLocation *location);
// A trial by its id, or by a name: best, worst, failed (the first).
Error find_trial(const StoredCampaign *campaign, const char *text, Arena *arena, int64_t *trial);
// The complete parameters of a stored trial (store/trials/trial_parameters.c).
Error search_read_trial(const Search *search, Database *database, int64_t id, Arena *arena, double *parameter);
// The spec in its database, as it was given and with every default. resolved NULL: the run was killed before it stored
// one. folder: where the campaign's program last ran; NULL: it has none. set: what --set changed.
typedef struct StoredText {
    const char *given, *resolved, *folder;
    Overrides set;
} StoredText;
Error campaign_text(const CampaignLocation *location, Arena *arena, StoredText *text);
// The canonical text of its spec (difference_among); NULL: the run was killed before it stored one.
Error campaign_canonical(const CampaignLocation *location, Arena *arena, const char **canonical);
Error campaign_names(const char *results, Arena *arena, const char *const **names, int *count); // sorted
// The campaigns that verify and compare ran for a campaign. campaign_nested_root: the folder that holds them.
// campaign_nested: nested[*count], each followed by the campaigns that were run for it.
typedef struct NestedCampaign {
    CampaignLocation location;
    const char *name; // as the user writes it: "gains/verify/trial_41"
} NestedCampaign;
const char *campaign_nested_root(const CampaignLocation *location, Arena *arena);
Error campaign_nested(const CampaignLocation *location, Arena *arena, NestedCampaign **nested, int *count);
Error campaign_nested_is_idle(const CampaignLocation *location,
                              Arena *arena); // error (user): a process runs one of them
// The name of such a campaign as the user writes it, from the results root of `of`: "gains/verify/trial_41".
const char *campaign_nested_name(const CampaignLocation *of, const char *name, Arena *arena);
// True if the text has a form that find_trial takes: an id, best, worst or failed.
bool trial_is_named(const char *text);
Error campaign_failures(Database *database, FILE *out); // "120 fell, 3 solver", "none"

// SHA-256 over trials, states of searches and values of trajectories, in the order of ids; times, batches and machines
// are left out.
Error campaign_digest(const StoredCampaign *campaign, Sha256Text *digest);

// ---- the database (store/commit/schema.c) ---------------------------------------------------------------------------
//
//   campaign     one row: id = 1, name, experiment, model, spec, resolved, canonical, hash, seed, program_version,
//                numerics_version, compiler, commit_id, host, created, started, finished, state ('running',
//                'interrupted', 'stopped', 'done', 'waiting': for results of trials that people run), reason,
//                trials_total (NULL: not known), replicates, trials_most
//                (an upper bound, where the total is not known)
//   searches     id, method, state BLOB (after the last tell), previous BLOB, stop_reason
//   rounds       search, round, debug BLOB (a row of doubles), population, evaluations, sigma, condition, best, stop:
//                one row per generation of methods that learn; stop: why the search, or a restart, ended with it;
//                sigma: step size, along gradients the length of the last step
//   fronts       search, round, front, hypervolume: of the rounds of methods for several objectives
//   gradients    search, round, norm, spread, cosine, growth: of the rounds that took a gradient (GradientSigns); only
//                of methods that do
//   batches      id, first_trial, last_trial, trials, failures, lanes, backend, device, version, numerics_version,
//                kernel_seconds, wait_seconds, wall_seconds, committed, copy_seconds, search_seconds, hdf5_seconds,
//                sqlite_seconds (store/campaign/timings.c), kernel ('general', or 'made' for the campaign)
//   trials       id, search, round, one REAL column per searched parameter (in the spec's order, derived ones too),
//                fitness REAL, of several objectives objective_1 REAL, objective_2 REAL, ..., with constraints
//                violation REAL (0: all are met), constraint_1 REAL, ..., failure TEXT NOT NULL ('none'), n_failed
//                INTEGER, of a race replicates INTEGER, one REAL column per metric, and with several replicates one
//                `<metric>_std` each. STRICT. NULL: failed. With several objectives fitness is always NULL.
//   replicates   trial, replicate, failure, one REAL column per metric, then per perturbed parameter what was drawn;
//                only if the spec stores replicates
//   shards       id, name, bytes, sha256
//   trajectories trial, replicate, shard, row, samples, recipe: where a trajectory is, and how it was sampled
//   debug_rows   the same columns: where debug rows are
//   outer_points search, parameter, value: the outer parameters of each search of an outer grid
//   round_rows   search, first, last, shard, row: which rounds row `row` of a shard holds
//   sensitivity  parameter, measure, value, low, high, blocks, left_out: of morris and sobol_indices
//   segments     id, spec, resolved, hash, first_id, first_point, decided, time: the specs of a campaign that was
//                extended, in order; empty if it never was
//   overrides    id, key, value: what --set changed in the spec; extensions keep it (store/campaign/overrides.c)
//   retries      id, kinds, next, end, trials, recovered, changed, time, finished: requests to run failed trials again
//   events       id, time, kind, text
//   asked        trial, replicate, asked, told, failure, metrics BLOB: where people run the trials, when a replicate
//                was asked for, and what was told of it; told_before has what was corrected (store/commit/asked.c)
//   tags         tag;  notes  time, text
//   origin       purpose, campaign, hash, trial, fitness, time: the campaigns that it was derived from
//                (store/campaign/origin.c)
//   blocks       id, first, last, rows, name, bytes, columns, sha256, digest: shards of columns in which the trials
//                are, instead of the table trials; block_words number, word: what numbers in their columns of texts
//                mean; best: the best 1,000 trials, with the columns of trials (store/trials/trial_blocks.h)
//   race         rung, place, trial, fitness: the trials that each rung but the first runs, best first, with their
//                fitness before it; only of a race of all trials (store/commit/race_rows.c)
//   kept_rows    best, every, failures: which trials keep a row, if not all do; then also summary_failures,
//                summary_columns and summary_axes, the sums over all trials (store/summary/summary_tables.c)
//   digests      name (of a table), block, rows, digest: `doctor` compares the rows with them (store/commit/seal.c)
//
// Best first is always: ORDER BY fitness IS NULL, of a race of all trials replicates DESC and perhaps n_failed,
// violation, fitness, survived DESC, id; `fitness DESC` if the spec maximises it (store/trials/rank.c). Worst first is
// the reverse.

#define STORE_WAITING "waiting"         // the state of a campaign by hand until it is done
#define STORE_APPLICATION_ID 0x484F5053 // "HOPS"
#define STORE_SCHEMA_VERSION 1
#define STORE_SCHEMA_WITH_SUMS 3   // some trials keep a row, all are summed up (store/commit/kept_rows.c)
#define STORE_SCHEMA_WITH_BLOCKS 4 // all trials are in blocks (store/trials/trial_blocks.h), with sums or without
#define STORE_SCHEMA_WITH_WORDS 5  // the same, and parameters whose values are words: block_words has theirs too

// A batch and a shard have arrays of one kind.
typedef enum RecordKind { RECORD_TRAJECTORIES, RECORD_DEBUG, RECORD_KINDS } RecordKind;

typedef struct Recording {
    bool wanted;
    const char *group, *table; // in a shard; in campaign.db, of the rows in shards
    const Selection *select;
    const Field *columns; // [n_columns] of a row
    int n_columns;
    const FieldWords *words; // [n_words] columns whose numbers stand for words
    int n_words;
    int64_t capacity; // rows per lane, at most
    int lanes;        // replicates of a recorded trial: the first or all
    bool failed_only; // only those of them that failed
    bool float64, gzip;
    char columns_recipe[32]; // the end of `recipe` where the spec chose the columns; else empty
    char recipe[96];         // how the arrays are sampled; arrays of another recipe are recorded again
} Recording;

Recording recording_of(const Spec *spec, RecordKind kind); // what the spec records of a kind
// The word that the value of a column stands for; NULL: it is a number.
const char *recording_word(const FieldWords *words, int n_words, int column, double value);
const char *recording_are(const Spec *spec, RecordKind kind); // "trajectories", "debug rows" or what a model calls them
ShardLayout recording_layout(const Recording *recording);     // the form of its arrays in a shard

enum { STORE_STATEMENTS = 11 + RECORD_KINDS };
typedef struct Store {
    Database *database;
    const char *folder, *shards, *name;
    const Spec *spec;
    union { // statements that all commits share
        struct {
            Cursor insert_trials, insert_replicates, insert_shard, insert_batch, note_batch, add_digest;
            Cursor update_search, insert_search, insert_round, insert_front, insert_gradient;
            Cursor insert_array[RECORD_KINDS]; // of a lane's arrays
        };
        Cursor statements[STORE_STATEMENTS];
    };
    MemoryTable trials, replicates;  // the rows that are being committed, temp.batch_trials and temp.batch_replicates
    struct TrialBlockWriter *blocks; // where trials are in blocks; else NULL
    struct BestRows *best;           // their rows of the best trials (store/trials/best_rows.c)
    struct KeptRows *kept;           // which trials keep a row (store/commit/kept_rows.c); NULL: all
    int64_t next_shard, next_batch;
    double sqlite_seconds; // of the last batch's transaction, still to be noted in its row; negative: none
    bool created;          // by this process
    bool has_gradients;    // it has a table for them
    char state[16];
    const char *reason; // why the last run ended; "": it did not end, or had no reason
} Store;

// Opens or creates the database of a campaign whose lock is held. Error (user): it holds another spec (the differences
// go to `messages`), or numbers of another numerics_version, or it is not a campaign's.
Error store_open(const char *folder, const char *name, const Spec *spec, const RunOptions *options, Arena *arena,
                 Store **out);
Error store_close(Store *store); // closes the database, and checkpoints it
// On a file system whose shared locks can't be trusted: no WAL, and one process at a time.
Error store_share(Database *database, bool shared_fs);
// The first column of a statement's first row; `missing` if there is none.
Error store_integer(Database *database, const char *sql, int64_t missing, int64_t *value);
Error store_text(Database *database, const char *sql, Arena *arena, const char **value); // NULL if there is none
// Between begin and end all reads see one state of the database. store_read_end returns `error`, or else its own error.
Error store_read_begin(Database *database);
Error store_read_end(Database *database, Error error);
// Opens and closes a campaign's database for reading. store_leave ignores errors: a reader has nothing to lose. NULL is
// allowed.
Error store_peek(const CampaignLocation *location, Arena *arena, Database **database);
void store_leave(Database *database);
Error store_begin(Store *store); // a transaction
// Ends the transaction: commits it if `error` is none, else rolls it back and returns `error`.
Error store_end(Store *store, Error error);
// Adds a row to the campaign's events, within a transaction. kind: "run", PROGRAM_FOLDER, ...
Error store_event(Store *store, const char *kind, const char *format, ...) PRINTF_LIKE(3, 4);
Cursor store_events(Database *database);                    // cells: time, kind, text
Error store_maximizes(Database *database, bool *maximizes); // whether the one objective of the campaign is maximised

// ---- rows of the tables trials and replicates (store/ground/rows.c, store/trials/columns.c) -------------------------

// Rows in the order of their ids, column by column: value `row` of the i-th column of an array is
// array[i * stride + row]. Every value has 8 bytes. So a column can be written, hashed and read by SQLite in place.
// P: searched parameters, K: objectives, if they are several, else 0; C: constraints and their violation; M: metrics,
// R: replicates.
enum { TRIAL_ROWS_ARRAYS = 13 }; // id ... spread
typedef struct TrialRows {
    int64_t count, capacity, stride; // stride >= capacity
    int columns[TRIAL_ROWS_ARRAYS];  // of the table trials that each array holds; spread: 0 with one replicate
    int64_t *id;                     // [stride]
    int64_t *search, *round;         // [stride]
    Cell *searched;                  // [P][stride], the spec's axes in order, derived ones too; words as integers
    double *fitness;                 // [stride], NaN: failed, or there are several objectives
    double *objective;               // [K][stride] of several objectives, NaN: failed
    double *constraint;              // [C][stride] violation and constraints, if there are any; NaN: failed
    int64_t *failure;                // [stride], index in configured.failures
    int64_t *n_failed;               // [stride] replicates that failed
    int64_t *replicates;             // [stride] that the trial has; only of a race, where they differ
    int64_t *rungs;                  // [stride] of limits.retire that it passed; only of a spec that has some
    int64_t *had;                    // [capacity] those that are stored: > 0: the row replaces one; NULL: all are new
    double *metric;                  // [M][stride], mean over the replicates
    double *spread;                  // [M][stride], standard deviation; NULL with one replicate
    // Rows of the table replicates: replicate r of the trial in `row` is row `row * R + r`. NULL unless the spec stores
    // replicates
    int replicate_count;                  // R
    int replicate_first;                  // those before it are in the table already (a rung of a race)
    int64_t replicate_stride;             // >= capacity * R
    int64_t *replicate_trial, *replicate; // [replicate_stride] id of the trial, r
    int64_t *replicate_failure;           // [replicate_stride]
    double *replicate_metric;             // [M][replicate_stride]
    double *replicate_drawn;              // [perturbed parameters][replicate_stride]
} TrialRows;

int rows_searched(const Spec *spec);                   // P
const char *rows_choices(const Spec *spec, int index); // the words of searched parameter `index`; NULL: it is a number
// The value of searched parameter `index` in a row, as lanes have it; and back.
double rows_searched_value(const Spec *spec, const TrialRows *rows, int index, int64_t row);
void rows_set_searched(const Spec *spec, TrialRows *rows, int index, int64_t row, double value);
int rows_objectives(const Spec *spec);           // K
const char *rows_objective_name(int index);      // "objective_1", of several; index from 0
const char *rows_outcome_name(const Spec *spec); // the column that is NULL if the trial failed
void rows_take(const Spec *spec, int64_t capacity, Arena *arena, TrialRows *rows); // memory for `capacity` trials
const char *rows_select_sql(const Spec *spec, Arena *arena, const char *tail);     // every column, in table order
// Row `row` from a row of rows_select_sql.
void rows_read(const Spec *spec, const Cursor *trial, TrialRows *rows, int64_t row);
Spec rows_had(const Spec *spec, const TrialRows *rows, int64_t row); // with the replicates and rungs of that trial
// The first field in which two rows of one trial differ, with both values; false if all bits are equal.
bool rows_differ(const Spec *spec, const TrialRows *stored, int64_t row, const TrialRows *again, int64_t row_again,
                 char *text, size_t size);
// All that differs, as far as there is room.
void rows_differences(const Spec *spec, const TrialRows *stored, int64_t row, const TrialRows *again, int64_t row_again,
                      char *text, size_t size);

// Puts in all rows, with their replicates, within a transaction; in the order of ids (store/commit/commit.c).
Error store_insert_rows(Store *store, const TrialRows *rows);
// Within a transaction, after other changes than batches: the rows of the best trials, from the table trials, which the
// connection shows (store/trials/best_rows.c). Nothing where trials are rows.
Error best_rows_again(Store *store);
// Copies the files of all blocks into the folder `to`; their names there have the prefix behind "rows_".
Error trial_blocks_copy(Database *from, const char *to, const char *prefix);

// The columns that the table trials of a database has.
typedef struct TrialColumns {
    const char **names;
    bool *is_text, *is_integer;
    bool *is_parameter;   // an input: tables print what reads back to it
    const char **choices; // of a parameter whose values are words, as configured_choices; else NULL
    int count;
} TrialColumns;
// spec NULL: is_parameter is false, and choices NULL.
Error trial_columns(Database *database, const Spec *spec, Arena *arena, TrialColumns *columns);
int trial_column_find(const TrialColumns *columns, const char *name); // -1 if there is none
// The columns to show by default: id, fitness, searched parameters, and the metrics that the objective uses.
int trial_columns_main(const Spec *spec, Arena *arena, const char *const **names);
// As a list for SELECT, quoted.
const char *trial_columns_sql(const char *const *names, int count, Arena *arena);

// ---- fronts (store/trials/front.c) ----------------------------------------------------------------------------------

// The trials that no other trial of the campaign dominates, ordered by the first objective, the second, ..., the id.
typedef struct Front {
    int64_t count, capacity;
    int objectives;
    bool maximize[OBJECTIVES_MAX]; // [objectives]
    int64_t *id;                   // [count]
    double *value;                 // [count][objectives] costs: the negative value of a maximised column
} Front;
double front_value(const Front *front, int64_t index, int k); // the value as it is stored

// The front by these columns of the table trials, among the trials that did not fail and meet the constraints. Trials
// with NULL in one of the columns are left out.
Error front_read(Database *database, const Spec *spec, const char *const *columns, int objectives, Arena *arena,
                 Front *front);
Error front_read_objectives(Database *database, const Spec *spec, Arena *arena, Front *front); // the spec's own
void front_free(Front *front); // the memory of front_read
// The i-th of `wanted` points, spread evenly over the front with both its ends.
int64_t front_spread(const Front *front, int64_t wanted, int64_t i);
Error fronts_are_stored(Database *database, bool *stored); // whether there are any

// ---- small changes of a stored campaign (store/commit/edit.c) -------------------------------------------------------

// Takes the campaign's lock. Error (user): another process holds it; the error names that process and what to do.
Error campaign_lock(const char *folder, const char *name, Arena *arena, Lock *lock);
// Makes the folder of a campaign and locks it. Until it is locked, gc may remove it as the remains of a crash. nested:
// by verify or compare; error: the campaign that it is derived from was removed or renamed. name NULL: it gets its name
// later, so that errors name the lock.
Error campaign_create_locked(const char *folder, const char *name, bool nested, Arena *arena, Lock *lock);
// Error (user): the folder is on a network file system, and shared_fs does not allow that.
Error campaign_refuse_network(const char *folder, bool shared_fs);
// Opens a campaign's database for writing, with the lock held. A database that is gone is not created again.
Error campaign_open_database(const char *path, Database **database);
Error campaign_is_gone(const char *path);  // returns the error that the database is missing
Error campaign_is_empty(const char *path); // returns the error that the database has 0 bytes
// Error (user): the campaign, which was named by a path, does not lie below the results root.
Error campaign_check_inside(const char *results, const CampaignLocation *location, Arena *arena);
// Error (user): the name is taken. A folder in which a killed run left nothing but its lock is removed first.
Error campaign_name_is_free(const char *results, const char *name, const char *folder, Arena *arena);
// Removes such a folder. *cleared: it was one, and is removed.
Error campaign_clear_begun(const char *folder, const char *name, Arena *arena, bool *cleared);
// Between begin and end the lock is held, a transaction is open, and digests follow the changes. Only the database, the
// folder and the events of `store` can be used.
typedef struct CampaignEdit {
    Lock lock;
    bool shared_fs;
    Store store;
} CampaignEdit;
Error edit_begin(const CampaignLocation *location, bool shared_fs, Arena *arena, CampaignEdit *edit);
Lock edit_keep_lock(CampaignEdit *edit);         // edit_end leaves the lock held, and the caller releases it later
Error edit_end(CampaignEdit *edit, Error error); // after an error, rolls back and returns that error

// ---- where a campaign comes from, and what --set changed (store/campaign/origin.c, store/campaign/overrides.c) ------

typedef struct Origin {
    const char *purpose; // "verifies", "compares", "merges", "recommends"
    const char *campaign, *hash;
    int64_t trial; // -1: none
    double fitness;
} Origin;
// Notes origins. The same origin is noted once.
Error origin_note(const CampaignLocation *location, bool shared_fs, const Origin *origins, int count, Arena *arena);
// Notes an event of a campaign that no other process runs (store/commit/edit.c).
Error event_note(const CampaignLocation *location, bool shared_fs, const char *kind, const char *text, Arena *arena);

// The overrides that a campaign stores, oldest first.
Error overrides_read(Database *database, Arena *arena, Overrides *overrides);
// `earlier` without the keys that `later` sets.
Overrides overrides_without(const Overrides *earlier, const Overrides *later, Arena *arena);
// "search.trials=30, seed=7", as it may be printed
const char *overrides_text(const Overrides *overrides, Arena *arena);

// ---- times (store/campaign/timings.c) -------------------------------------------------------------------------------

// Where the time of a campaign's batches went, in s, summed from table `batches`.
typedef struct Timings {
    double wall;           // from the start of a run, or the end of a batch, to the end of the next batch
    double kernel;         // the device computes
    double copy, search;   // the loop: batches filled, copied to the device and back, gathered; ask and tell
    double hdf5, sqlite;   // the writer, while the device computes
    int64_t batches, made; // number of batches, and of those by a kernel that was made for the campaign
} Timings;
// Sums over the batches with ids >= first.
Error timings_read(Database *database, int64_t first, Timings *timings);
void timings_print(const Timings *timings, FILE *out); // "kernel 2 s, idle 0.1 s; ...", a line
void timings_json(const Timings *timings, Json *json); // members of the open object, in s

// The time of the batch that computed a trial. The trials of a batch are not timed one by one.
typedef struct BatchTiming {
    const char *device; // in the arena; NULL: not known
    bool made;          // by a kernel that was made for the campaign
    int64_t lanes;
    double lane_seconds; // the kernels' time divided by the lanes
} BatchTiming;

// The batch that computed this trial; device NULL if the database does not say.
Error timings_of_trial(Database *database, int64_t trial, Arena *arena, BatchTiming *timing);

// ---- status (store/campaign/status.c) -------------------------------------------------------------------------------

// The state of a campaign. It is read without the spec, so that a campaign is listed even if another version of the
// program wrote its spec.
typedef struct StatusReport {
    CampaignLocation location;
    const char *state, *reason, *experiment, *model, *started, *finished, *hash, *program, *devices;
    char holder[256]; // the process that runs it now; empty: none
    int64_t most;     // upper bound of trials; 0: unknown, or the total is known
    int64_t trials, total, replicates, failures, seed, numerics_version, batches, lanes, shards, best_trial;
    int64_t replicates_least;                     // of a race: of the trials with the fewest; else 0
    int64_t objectives;                           // 0: a single one
    const char *committed, *origin, *tags, *note; // note: the last one
    const char *resumed, *overrides;              // the last start after the first; what --set changed
    const char *method, *objective;               // of the search; "a", "maximise a" or "a, b"
    double best, shard_bytes;
    bool maximizes; // more is better
    double rate;    // trials/s of the last batches; NaN: no batches
    double busy;    // fraction of their time in which the device computed
    Timings timings;
} StatusReport;

// State "killed": the database says running, and no process holds the lock. After an error the state is "unreadable",
// and no text is NULL.
Error status_read(const CampaignLocation *location, Arena *arena, StatusReport *report);
// With the texts of the database that are safe to print: a database may come from a stranger.
StatusReport status_visible(const StatusReport *report, Arena *arena);

// One of many campaigns, and its state.
typedef struct StatusEntry {
    CampaignLocation location;
    const char *name; // as seen from the root
    StatusReport report;
    const char *error;   // NULL: none
    DatabaseStamp stamp; // of the database when the report was read
    bool known;          // the catalogue has the report: the database need not be read
    bool still;          // nothing wrote to the database while it was read; before that: nothing is likely to
} StatusEntry;

// ---- the catalogue results/index.db: a cache of these states (store/list/catalogue.c) -------------------------------

// status_read of each entry: of the campaigns of a root, and of those that were run for them. names: [n_names], the
// campaigns of the root, sorted. Renews the catalogue, or makes it, if it can be written now. Error: not enough memory.
Error catalogue_read(const char *results, StatusEntry *entries, int count, const char *const *names, int n_names,
                     Arena *arena);
// After a command has changed, created or removed a campaign and closed its database: writes its row, so that the next
// list need not open it. shared_fs: does nothing.
void catalogue_note(const char *results, bool shared_fs, const char *name, Arena *arena);
// *difference: in words; "": none. *behind: the campaign changed after the catalogue was written; the next list renews
// it. Error: the catalogue can't be read.
Error catalogue_compare(const CampaignLocation *location, Arena *arena, const char **difference, bool *behind);

// ---- parts of a campaign, on many machines (store/campaign/parts.c, store/join/gather.c) ----------------------------

typedef struct PartReport {
    CampaignLocation location;
    const char *state;   // as in StatusReport; "running"; "missing": it has no folder
    const char *error;   // why it can't be read; else ""
    bool there;          // it has a folder; else `status` is not set
    StatusReport status; // state "unreadable": it can't be read
} PartReport;
typedef struct Parts {
    const char *root; // results/NAME.parts
    PartReport *part; // [count]
    int count;        // 0: there are none
} Parts;
// The parts that a campaign has joined, of `of` parts. of 0: the campaign has no parts.
typedef struct Gathered {
    int count, of;
    bool has[PARTS_MAX + 1]; // by number
} Gathered;

const char *parts_root(const char *results, const char *name, Arena *arena); // "results/NAME.parts"
// *any <- any part in that folder; count 0: no part. Error (user): the folder has parts of different divisions.
Error parts_divided(const char *root, Arena *arena, PartOf *any);
// The parts of campaign `name` with their states, by number. Errors: as parts_divided.
Error parts_find(const char *results, const char *name, Arena *arena, Parts *parts);
bool part_is_done(const PartReport *part); // its run is complete, so that it can be joined
Error gathered_read(Database *database, Gathered *gathered);
// The parts that were not joined: "03of16 (running), 07of16 (missing) and 2 more".
const char *parts_without(const Parts *parts, const Gathered *gathered, Arena *arena);

// Joins the parts that are done into campaign `name`, a transaction per part; for a method that learns, one transaction
// for all parts, because the ids of its trials follow from all. Parts that were joined before are left alone. Error: a
// part is damaged, or belongs to another spec; the parts before it are joined.
typedef struct GatherReport {
    int joined;        // by this call
    int64_t trials;    // of the campaign
    Gathered gathered; // by now
    const Spec *spec;  // of the campaign; NULL: no part is done
} GatherReport;
Error gather_parts(const Parts *parts, const char *name, const RunOptions *options, Arena *arena, GatherReport *report);

// ---- campaigns of one spec (store/join/merge.c) ---------------------------------------------------------------------

// Makes campaign `name` of several of one spec that know their trials beforehand: a copy of the one with the highest
// trial id, and the trials that only others have. Error: a trial of two of them differs in a bit; the first such trials
// go to options->messages.
typedef struct MergeReport {
    const char *largest;   // the campaign that was copied
    int64_t trials, added; // of that campaign, of others
} MergeReport;
Error merge_campaigns(const CampaignLocation *locations, int count, const char *name, const RunOptions *options,
                      Arena *arena, MergeReport *report);

// ---- arrays that the spec no longer asks for (store/commit/unwanted_shards.c) ---------------------------------------

// Lists the shards without any array that the spec asks for, by number; then deletes their rows. Both in one
// transaction.
typedef struct UnwantedShards {
    const char **names; // [count]
    int64_t count;
} UnwantedShards;
Error unwanted_list(const Spec *spec, Database *database, Arena *arena, UnwantedShards *out);
Error unwanted_forget(Database *database); // of the shards that unwanted_list found

// ---- replay (run/replay.c, run/trace.c) -----------------------------------------------------------------------------

// Re-simulates a stored trial with all its replicates and compares fitness, failure and metrics to the bit.
// `difference` names the first field that differs, with both values; empty if all are equal. For a model that runs a
// program it names all such fields, and `version` is the version that the program reports now.
typedef struct ReplayResult {
    int64_t trial;
    double fitness, stored_fitness;
    const char *failure; // "none", or how the trial failed now
    bool equal;
    bool computed; // the trial has no stored row (record.rows), so there is nothing to compare with; equal is true
    char difference[384];
    const char *version;
} ReplayResult;
Error campaign_replay(const StoredCampaign *campaign, int64_t trial, const BackendOptions *backend, Arena *arena,
                      ReplayResult *result);
// Simulates a trial that was run, whether it keeps a row or not; its results are row 0.
Error campaign_simulate(const StoredCampaign *campaign, int64_t trial, const BackendOptions *backend, Arena *arena,
                        TrialRows *row);
// The results of each replicate of a trial: simulated again, or, of a model that runs a program or people, as stored.
// count 0: they are not known.
typedef struct TrialReplicates {
    int count;
    const double *value;    // [count] the first objective; NaN: it failed; NULL: not known
    const int64_t *failure; // [count] index in configured.failures
    const double *metric;   // [n_metrics][stride]
    int64_t stride;
} TrialReplicates;
Error campaign_replicates(const StoredCampaign *campaign, int64_t trial, const BackendOptions *backend, Arena *arena,
                          TrialReplicates *replicates);
// A replay that also records one replicate: samples of its trajectory, or one row per iteration of its solver.
typedef struct ReplayRequest {
    int64_t trial;
    int replicate;
    bool debug;                // rows of the solver
    const char *rows;          // the name of the rows, for messages
    double sample;             // s between two samples; 0: as the spec records them
    bool coarser;              // sample less often where the rows would take too much memory
    double window[2];          // s: rows with [0] <= time <= [1]; both 0: all
    bool drawn;                // with the columns that the model's drawing needs
    bool every_replicate;      // records all of them, not only `replicate`
    int64_t ticks[2];          // only samples at these ticks, [0] <= tick < [1], each of them; [1] 0: all
    const char *const *bodies; // [n_bodies] names and patterns of bodies to show; n_bodies 0: as the spec records
    int n_bodies;
} ReplayRequest;
typedef struct ReplayTrace {
    const StoredCampaign *campaign;
    ReplayRequest request;
    const Configured *configured; // the spec's, with the recorded columns
    const Field *columns;         // [n_columns], the first is time (s)
    int n_columns;
    const int *shown; // [n_shown] the columns that the user asked for, the first is the time's
    int n_shown;
    double *row;   // [count][n_columns]
    double *point; // [n_points][2] of the drawing: trace_points's
    double *pose;  // [n_bodies][POSE_NUMBERS]: trace_poses's
    int64_t count;
    int64_t dropped;         // debug rows before the first, which are not kept
    const FieldWords *words; // [n_words] columns whose numbers stand for words
    int n_words;
    double *parameter;      // [n_parameters] of the replicate
    double *metric;         // [n_metrics] of the trial: means over its replicates
    double fitness;         // of the trial; NaN: it failed
    const char *failure;    // of the replicate
    const Points *recorded; // the motion that it is compared with; NULL: there is none, or the rows are of a solver
    double level;           // m: height at which the ground is drawn if the motion has no ground
} ReplayTrace;
// Error (user): there is no such replicate, the model has no such rows, or they do not fit in memory.
Error campaign_trace(const StoredCampaign *campaign, const ReplayRequest *request, const BackendOptions *backend,
                     Arena *arena, ReplayResult *result, ReplayTrace *trace);
// The drawing of the trace's model; NULL: the model has none, or the trace is of its solver.
const Drawing *trace_drawing(const ReplayTrace *trace);
void trace_find_level(ReplayTrace *trace); // once, before the others
// point[n_points][2] (m) of row i, in the trace's memory, valid until the next call.
const double *trace_points(const ReplayTrace *trace, int64_t i);
// The same of a drawing with bodies: pose[n_bodies][POSE_NUMBERS].
const double *trace_poses(const ReplayTrace *trace, int64_t i);

// ---- a trial as one file (store/campaign/pack_write.c, pack_read.c, run/pack.c) -------------------------------------
//
// A pack is a JSON text: the resolved spec, the files that it names, the trial's row, and a hash of the state at each
// thousandth of the run. Its last line is the SHA-256 of all before. It proves a result: whoever has it can simulate
// the trial with all its replicates, on any processor, and compare every bit.

enum {
    PACK_FORM = 2,            // of the text; form 1 is read too
    PACK_BYTES_MAX = 1000000, // of the text
    PACK_STATES = 1000,       // instants per replicate, and one at the start
    PACK_REPLICATES = 16,     // with more than so many, each has fewer instants, and a hash of its results
    PACK_LANES = 8000,        // with more than so many, only the first has its states hashed; form 1: PACK_REPLICATES
    PACK_OUTCOMES = 16384,    // hashes of replicates' results, at most; then a hash is of several replicates
    PACK_TAGS = 96000,        // tags of columns, at most; then a tag is of several columns
    PACK_HASH = 8,            // bytes of the hash of a state: the first of its SHA-256
    PACK_TAG = 2,             // bytes of the tag of a column's value, likewise: it tells which column differs
    PACK_FILES_MOST = 1000
};

// States of replicates 0, 1, ..., one after the other.
typedef struct PackStates {
    int64_t every;              // ticks between two states
    int replicates;             // that have states; 0: the model has no trajectory
    const int64_t *rows;        // [replicates] their states
    int64_t count;              // sum of rows
    const char *const *columns; // [n_columns] of a state
    int n_columns;
    int group, n_tags;   // a tag is of so many columns, the last of fewer; tags of a state
    unsigned char *hash; // [count][PACK_HASH]
    unsigned char *tag;  // [count][n_tags][PACK_TAG]
    // of failure and metrics of all replicates, if not each of them has states
    int outcomes, share;    // a hash is of so many replicates, the last of fewer; outcomes 0: there are none
    unsigned char *outcome; // [outcomes][PACK_HASH]
} PackStates;

typedef struct PackFile {
    const char *name; // as the spec says it
    Sha256Text digest;
    Bytes bytes;
    size_t packed; // what it takes of the text; pack_write sets it
} PackFile;

typedef struct Pack {
    int form;                                // PACK_FORM, or the older one of a file
    const char *campaign, *version, *commit; // of the program that wrote it; commit NULL: unknown
    int numerics_version;
    const char *backend, *processor; // where it was computed: "cpu", "x86-64-v3"
    int64_t trial;
    uint64_t ordinal; // Trials.ordinal
    const char *spec, *spec_hash;
    PackFile *files; // [n_files]
    int n_files;
    TrialRows row; // row 0
    PackStates states;
    Sha256Text digest;  // of the row, all states and outcomes
    const char *folder; // of an open pack: its files, under their digests; it is removed with the pack
} Pack;

// *text <- the pack as a text. Error (user): it has more than PACK_BYTES_MAX; says what takes most.
Error pack_write(const Pack *pack, const Spec *spec, Arena *arena, Bytes *text);
// Opens a pack as a campaign with one trial and without a database. file: for messages. Error (user): the text is
// damaged, is no pack, or has another form. It may come from anybody: nothing outside of a private folder is opened.
Error pack_open_text(const char *file, Bytes text, Arena *arena, StoredCampaign *out);
Error pack_open(const char *path, Arena *arena, StoredCampaign *out);
void pack_close(StoredCampaign *campaign);
const char *pack_columns(const PackStates *states, const bool *differ, Arena *arena); // "z, dz and 3 more"; [n_tags]

// Simulates a stored trial and describes it. Error (user): trials of this model can't be packed, or this one differs
// from its row.
Error pack_make(const StoredCampaign *campaign, int64_t trial, const BackendOptions *backend, Arena *arena, Pack *pack);
// Simulates the trial of an open pack, and compares its row and all states. explain: where they differ, finds out which
// instruction sets of this processor give the bits of the pack, and with their help the first step that differs.
typedef struct PackResult {
    bool equal;
    double fitness;
    const char *failure;             // "none", or how the trial failed
    const char *backend, *processor; // of now
    Sha256Text digest;               // of now
    const char *difference;          // NULL: none
} PackResult;
Error pack_replay(const StoredCampaign *campaign, const BackendOptions *backend, bool explain, Arena *arena,
                  PackResult *result);

// ---- the gradient at a trial (run/gradient.c) -----------------------------------------------------------------------

enum { GRADIENT_STEPS = 9 };
// d fitness/d parameter of one parameter at a trial. Other parameters stay, but those derived of it follow.
typedef struct GradientRow {
    int parameter;
    double value;
    double adjoint, tangent;  // NaN: none
    double difference, error; // the difference with the least error, and that error; NaN: none
    double step;              // of that difference, in units of the parameter
    const char *remark;       // what lies near: "a discontinuity near", ...; "": nothing
    double steps[GRADIENT_STEPS], curve[GRADIENT_STEPS]; // by differences of all steps; NaN: a trial there failed
} GradientRow;
typedef struct GradientResult {
    double fitness;
    int64_t n_failed;       // replicates of the trial that failed
    const char *no_adjoint; // why there is none; NULL: there is one
    const char *jumping;    // Adjoint.jumping
    const char *remark;     // Adjoint.remark
    const char *missing;    // why some of it is not there at this trial; NULL: all is
    const char *by;         // what a GPU computed of it; NULL: nothing
    GradientRow *rows;      // [count]
    int count;
} GradientResult;
// parameters[count]: indices in configured.parameters. Error (user): the trial has no fitness, or several.
Error campaign_gradient(const StoredCampaign *campaign, int64_t trial, const int *parameters, int count,
                        const BackendOptions *backend, Arena *arena, GradientResult *result);

// ---- what moves the fitness at a trial (run/slopes.c) ---------------------------------------------------------------

// Of a searched parameter: d fitness/d fraction of its range (of a log scale, of the range of its logarithm).
typedef struct Slope {
    int parameter;
    double value, slope; // NaN: none
    double error;        // standard error over the replicates; NaN: unknown
    bool held;           // it would get better beyond the end of the range
} Slope;
typedef struct SlopeResult {
    bool adjoint;     // else by differences
    double growth;    // GradientSigns; NaN: unknown
    int64_t n_failed; // replicates of the trial that failed
    Slope *slopes;    // [count] in the order of the axes
    int count;
} SlopeResult;
// True if the campaign has slopes, and computing them is fast enough for a page.
bool campaign_has_slopes(const StoredCampaign *campaign);
// The slopes of the searched parameters at a stored trial. Errors: as campaign_gradient.
Error campaign_slopes(const StoredCampaign *campaign, int64_t trial, const BackendOptions *backend, Arena *arena,
                      SlopeResult *result);

// ---- residuals at a trial (run/fit.c) -------------------------------------------------------------------------------

// Residuals that follow each other in time: residual[first + k*stride], k < count. count 1: an expression.
typedef struct FitSeries {
    const char *name;
    int64_t first, count;
    int recording; // of those of the spec's cases; series of one follow the same time
    int column;    // of that recording; -1: it is none of its columns
    int metric;    // whose values they are; -1: an expression
} FitSeries;
// Residuals of a recording of `validate`, or of the same cases, without scale and loss.
typedef struct FitRecording {
    const char *name;
    bool held;         // no trial saw it
    FitSeries *series; // [n_series]
    double *residual;  // [count]
    int n_series;
    int64_t count; // 0: the run failed
} FitRecording;
// Residuals at a stored trial, with their derivatives by coordinates: fractions of the ranges of the searched
// parameters (of a log scale, of the range of its logarithm).
typedef struct FitData {
    int n;                         // parameters
    const int *parameter;          // [n]
    const double *parameters;      // values of all parameters of the model
    const double *value, *stretch; // [n] of the trial; d value/d coordinate
    const bool *log_scale;         // [n]
    const double *coordinate;      // [n]; 0 and 1: at an end of the range
    int64_t count;                 // residuals
    double *residual, *column;     // [count], [n][count]
    FitSeries *series;             // [n_series]
    int n_series;
    bool by_differences; // else by the tangent
    double noise;        // > 0: there is no recording; the standard deviation that one will have
    double fitness;
    const char *const *names; // [n_fitted] of the cases; n_fitted 1: there are none
    int n_fitted;
    FitRecording *recordings; // [n_recordings] where the spec has `validate`: of the cases, then those held out
    int n_recordings;
} FitData;
// Computes residuals elsewhere, for the parameters value[n] of the trial: residual[count], column[n][count] by
// coordinates there; NULL: residuals alone. there: false if the run fails.
typedef struct FitModel FitModel;
Error fit_evaluate(const FitModel *model, const double *value, double *residual, double *column, bool *there);
// Whether residuals may depend on a parameter of the model that is not searched, nor drawn nor derived of others, and
// their derivatives by it at the trial, in its unit: column[count]. there: false: a run fails.
bool fit_may_depend(const FitModel *model, int parameter);
Error fit_along(const FitModel *model, int parameter, double *column, bool *there);
// How residuals change where steps are half as long: change[count] at the trial. Of adaptive steps the tolerance is
// made smaller, by as much as half a step makes errors smaller. name NULL: the model has no steps, or draws random
// numbers, or its run fails with the finer step.
typedef struct FitFiner {
    const char *name; // "dt" or "tolerance"
    double value, finer;
} FitFiner;
Error fit_refine(const FitModel *model, double *change, FitFiner *out);
// A column of a recording beside the motion, in its unit: out[n_series]. count 0: the series is none, or can't be
// compared. Rows where the column has no value are left out. Of a system it is an input that a metric subtracts from a
// column.
typedef enum FitLoss { FIT_SQUARES, FIT_HUBER, FIT_CAUCHY } FitLoss; // in the order of `reference_loss`
typedef struct FitRecorded {
    int64_t count;
    const char *name;           // of the column, or the input
    bool input;                 // it is one
    FitLoss loss;               // that residuals have
    double width;               // of the loss
    const double *time, *value; // [count] s; as recorded
    int64_t between;            // of them: not recorded, but drawn from two rows of an input
    const double *simulated;    // [count] of the trial
    const double *middle; // [count] where all searched parameters are in the middle of their ranges; NULL: unknown
} FitRecorded;
Error fit_recorded(const FitModel *model, FitRecorded *out);
// Error (user): the campaign has no residuals, or no derivatives of them; the trial failed. then: called with the data,
// while residuals can be computed elsewhere; NULL: nothing.
typedef Error FitThen(const FitModel *model, const FitData *data, void *context);
Error campaign_fit(const StoredCampaign *campaign, int64_t trial, const BackendOptions *backend, Arena *arena,
                   FitThen *then, void *context, FitData *out);

// ---- time, memory and disk of a run (plan/plan.c, plan/explain.c) ---------------------------------------------------

typedef struct Plan {
    // `trials`, and all that follows from it: the trials to run. A search that may end early runs at most as many. For
    // an open search (trials_open: nothing limits it but its own end) it is one generation.
    int64_t trials_least, rounds; // rounds: upper bound of the generations of all searches; 0: the method has none
    bool trials_open;
    const char *early;     // what may end it early, or NULL
    const char *why_bound; // why the trials are an upper bound, or NULL
    int64_t round_trials;  // of a generation; 0: the method has none
    int64_t trials, excluded, lanes, batch_lanes, batches, traced_lanes;
    int64_t lanes_least; // of as many trials, where members of a generation race; `lanes` is an upper bound then
    double host_bytes, device_bytes, hdf5_bytes, sqlite_bytes, disk_free;
    double block_bytes;                        // of trials
    double seconds, seconds_low, seconds_high; // expected, and its likely bounds
    double seconds_open;                       // of them until the first trial begins
    char device[128], warning[1024];
    char other[256];         // backend auto: how long another device takes; empty: there was no choice
    const char *idle;        // which workers of a program will have nothing to do (plan_idle); NULL: none
    char kernel[400];        // which one the run begins with; empty: the device has only one
    char refusal[512];       // why the run does not fit; empty: it fits
    bool excluded_estimated; // `excluded` (and all that follows from it) comes from a sample of a large grid
    int64_t looked_at;       // > 0: a sample of that many ids has no trial; `trials` is an upper bound
} Plan;
// Estimates a run on the device of the options, with a short pilot run. Error: the device can't be opened, or fails. A
// run that does not fit is not an error: plan->refusal says why.
Error plan_make(const Spec *spec, const RunOptions *options, Arena *arena, Plan *plan);
// Whether a run may take the CPU or a GPU: backend auto, a build that knows GPUs, and no number of a device.
bool plan_may_choose(const Spec *spec, const RunOptions *options);
// Says in words that workers of a program will have nothing to do: of a search that learns in each generation
// (round_trials > 0), else in all of the run's `trials`. NULL: all have work, or the model runs no program.
const char *plan_idle(const Spec *spec, int64_t round_trials, int64_t trials, const Backend *backend, Arena *arena);
// Only trials, lanes and bytes on disk, without a device. count_excluded false: excluded trials count
// as if they ran, so that the grid is not examined.
Error plan_count(const Spec *spec, const RunOptions *options, bool count_excluded, Arena *arena, Plan *plan);

// The objective, units in it that differ, and the model's remarks on the trials of a spec before they run:
// remarks[REMARKS_MAX + 3]. At most a few thousand trials are examined. explain_warn prints warnings, and an objective
// that the spec leaves to the model.
Error explain(const Spec *spec, const Search *search, Arena *arena, Remark *remarks, int *count);
Error explain_warn(const Spec *spec, Arena *arena, FILE *out);

// ---- requests to end a run (batch/interrupt.c) ----------------------------------------------------------------------

// SIGINT, SIGTERM, SIGHUP (unless it is ignored) and a control file end a run; SIGUSR1 asks it for its progress.
enum { INTERRUPT_STOP = -1 };
void interrupt_install(void); // installs the handlers of these signals
// Until interrupt_unwatch, a file at `path` ends this process's run, if it is empty or names `holder`, the holder of
// the lock. interrupt_watch removes the file of an earlier run, interrupt_unwatch any file at `path`.
Error interrupt_watch(const char *path, const char *holder);
Error interrupt_unwatch(void);
int interrupt_requested(void);     // 0, the signal, or INTERRUPT_STOP
const char *interrupt_words(void); // why the run ends: "interrupted by the user"
bool interrupt_asks_status(void);  // true once per SIGUSR1

// ---- doctor (doctor/doctor.c, doctor/repair.c) ----------------------------------------------------------------------

typedef struct SealBroken {
    const char *table; // "sqlite_schema": the declarations
    int64_t range;
    const char *unreadable; // why it can't be read; NULL: it can, and differs from what was written
    bool lost; // rows are gone together with their digest: batches had more trials, or trials more replicates
} SealBroken;
typedef struct SealDamage {
    SealBroken *broken; // [count], in the arena
    int64_t count, capacity;
} SealDamage;

typedef struct DoctorLine {
    const char *check; // which check wrote it
    bool finding;      // false: all is well
    const char *text;
} DoctorLine;

typedef struct Doctor {
    // given
    const CampaignLocation *location;
    Arena *arena;
    bool locked; // by this process, for a repair
    // found
    DoctorLine *lines; // [n_lines]
    int n_lines, findings;
    char holder[256];   // the process that runs it now; empty: none
    Database *database; // open for reading while the checks run; NULL: it can't be read
    int64_t version;    // SQLite's data_version when it was read
    Spec spec;
    bool spec_ok, structure_bad, array_rows_bad;
    int64_t schema; // its version; 0: unreadable, or not a campaign's
    SealDamage damage;
    int64_t *bad_shards; // [n_bad_shards] ids
    int n_bad_shards;
    int stray_files; // orphans and temporaries
} Doctor;

// Checks everything and changes nothing. Damage of the campaign is in the lines; an Error is the machine's.
Error doctor_examine(const CampaignLocation *location, Arena *arena, Doctor *doctor);
// Repairs the findings, with the campaign's lock held, and prints each repair to `messages`.
Error doctor_repair(const Doctor *doctor, const BackendOptions *backend, bool shared_fs, FILE *messages);
// Before campaign_run goes on with a campaign: if blocks of rows are not as they were written, or rows are missing,
// repairs it. Does nothing if there is no such campaign (doctor/mend.c).
Error doctor_mend(const RunOptions *options, const char *name, Arena *arena);

#include "store/queries.h"

#endif
