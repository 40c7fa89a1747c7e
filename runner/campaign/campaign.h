// What was done: campaigns, their store (campaign.db, shards, the catalogue), runs, plans, replays and repairs.
//
// Each folder uses those before it: store (what is kept), batch (lanes on a device), plan (what a run would take), run
// (from ask to commit), doctor (checks and repairs). `make lint` checks that.
#ifndef HOPSCOTCH_CAMPAIGN_H
#define HOPSCOTCH_CAMPAIGN_H

#include "../experiment/experiment.h"
#include "store/cursor.h"

// ---- folders --------------------------------------------------------------------------------------------------------

// What lies in a campaign's folder, beside CAMPAIGN_FILES.
#define CAMPAIGN_DATABASE "campaign.db"
#define CAMPAIGN_LOCK "campaign.lock"
#define CAMPAIGN_SHARDS "shards"
#define CAMPAIGN_QUARANTINE "quarantine" // shards that recovery put aside
#define CAMPAIGN_STOP "stop"             // asks the run to end (batch/interrupt.c)
// A results root of its own: the campaigns that verify and compare made of this one.
#define CAMPAIGN_MADE "verify"
// Of a folder in which campaigns are being merged; gc removes what a crash leaves of it.
#define MERGE_PREFIX ".merging-"

// results/NAME. Error (user): campaign_name_check's.
Error campaign_folder(const char *results, const char *name, Arena *arena, const char **folder);

// ---- commands that messages give users to type (store/suggested_commands.c) -----------------------------------------

// The results root that commands use without --results.
const char *command_default_results(void);
// " --results DIR" for a command that is shown to the user, empty where it is not needed.
const char *command_results_option(const char *results, Arena *arena);
const char *command_quoted(const char *text, Arena *arena); // as one word of a shell
const char *command_program(Arena *arena); // this program as the user typed it: what works if typed again
// A command to type, for a message: the program, the words, and --results where it is needed (NULL: never). One that is
// too long ends in "--results ...".
typedef struct CommandText {
    char text[320];
} CommandText;
CommandText command_again(const char *results, const char *format, ...) PRINTF_LIKE(2, 3);

// ---- a run (run/run.c) ----------------------------------------------------------------------------------------------

typedef struct RunOptions {
    const char *results; // root folder
    const char *name;    // NULL: the experiment's
    BackendOptions backend;
    int64_t batch; // lanes; 0: the spec's or auto
    int64_t slice; // ticks a slice; 0: chosen by time
    ProgressStyle progress;
    bool resume_only;  // `resume`: the campaign must exist
    bool made;         // of another campaign, by verify or compare: in its folder, which must be there
    const char *retry; // kinds of failures that are run again; NULL: none
    bool extend;       // another spec than the campaign's adds its trials to it
    bool shared_fs;    // allow a network file system
    bool ignore_space; // run even if the disk is too small
    bool fallback_cpu; // go on on the CPU if the device fails
    FILE *out, *messages;
} RunOptions;

typedef struct RunSummary {
    int64_t trials_total, trials_done, trials_before, lanes_run, failures;
    double wall_seconds, kernel_seconds, first_launch_to_last_commit;
    double record_seconds, index_seconds; // after the last commit: arrays by rank, the fitness index
    double best_fitness;
    int64_t best_trial, first_batch; // first_batch: of this run
    const char *state, *reason;
    char folder[512], device[128];
} RunSummary;

// Runs or continues the campaign; returns when it is done, stopped by a limit, or interrupted (ERROR_INTERRUPTED after
// committing what is complete). Errors of the machine leave everything committed readable.
Error campaign_run(const Spec *spec, const RunOptions *options, Arena *arena, RunSummary *summary);

// What the spec's `search.cmaes.taken` is to be, for a campaign of that name (run/warm_start.c); NULL: there is nothing
// to be taken, or it was. Error (user): the other campaign is not there, or has nothing to start from.
Error warm_start_take(const Spec *spec, const char *results, const char *name, Arena *arena, const char **taken);

// ---- stored campaigns (store/stored.c, store/find.c) ----------------------------------------------------------------

// A stored campaign opened for reading: its database, and its spec read from resolved text.
typedef struct StoredCampaign {
    Database *database;
    const char *folder, *name;
    Spec spec;
    int numerics_version;
    const char *program_version;
    const char *hash; // of the spec, as it was stored
} StoredCampaign;
Error campaign_open(const char *results, const char *name, Arena *arena, StoredCampaign *out);
// Error: one of the folders in a campaign's folder is none, or a link, which could lead anywhere.
Error campaign_check_folders(const char *folder, Arena *arena);
// Error (user): this program understands the stored spec otherwise than the one that stored it, so its rows have other
// columns.
Error campaign_check_meaning(const StoredCampaign *campaign);
void campaign_close(StoredCampaign *campaign);

// Stored campaigns, by name under the results root or by path. Error (user): there is none, with the nearest name.
typedef struct CampaignPlace {
    const char *results, *name, *folder;
} CampaignPlace;
Error find_campaign(const char *results, const char *text, Arena *arena, CampaignPlace *place);
// A trial by its id, or as best, worst or failed (the first).
Error find_trial(const StoredCampaign *campaign, const char *text, Arena *arena, int64_t *trial);
// The complete parameters of a trial that is stored (store/stored_trial.c).
Error search_read_trial(const Search *search, Database *database, int64_t id, Arena *arena, double *parameter);
// The resolved spec that its database holds; NULL if it was killed before it held one.
Error campaign_resolved(const CampaignPlace *place, Arena *arena, const char **resolved);
Error campaign_names(const char *results, Arena *arena, const char *const **names, int *count); // sorted
// Where verify and compare put what they make of a campaign; what they have made, each followed by what was made of it.
typedef struct CampaignMade {
    CampaignPlace place;
    const char *name; // as the user writes it: "gains/verify/trial_41"
} CampaignMade;
const char *campaign_made_root(const CampaignPlace *place, Arena *arena);
Error campaign_made(const CampaignPlace *place, Arena *arena, CampaignMade **made, int *count);
Error campaign_made_is_idle(const CampaignPlace *place, Arena *arena); // else error (user)
// Its name as seen from the results root of `of`: what the user writes.
const char *campaign_made_name(const CampaignPlace *of, const char *name, Arena *arena);
// Whether a text is an id, or best, worst or failed (the first): what find_trial takes.
bool trial_is_named(const char *text);
Error campaign_failures(Database *database, FILE *out); // "120 fell, 3 solver", "none"

// SHA-256 over trials, searches' states and trajectories' values, in id order; without times, batches and machines.
Error campaign_digest(const StoredCampaign *campaign, Sha256Text *digest);

// ---- the database (store/store.c) -----------------------------------------------------------------------------------
//
//   campaign     one row: id = 1, name, experiment, model, spec, resolved, canonical, hash, seed, program_version,
//                numerics_version, compiler, commit_id, host, created, started, finished, state ('running',
//                'interrupted', 'stopped', 'done'), reason, trials_total (NULL: not known), replicates, trials_most (at
//                most so many, where the total is not known)
//   searches     id, method, state BLOB (after the last tell), previous BLOB, stop_reason
//   rounds       search, round, debug BLOB (a row of doubles), population, evaluations, sigma, condition, best, stop:
//                of methods that learn, a row a generation; stop: why the search, or a restart of it, ended with it
//   fronts       search, round, front, hypervolume: of the rounds of methods for several objectives
//   batches      id, first_trial, last_trial, trials, failures, lanes, backend, device, version, numerics_version,
//                kernel_seconds, wait_seconds, wall_seconds, committed, copy_seconds, search_seconds, hdf5_seconds,
//                sqlite_seconds (store/timings.c)
//   trials       id, search, round, one REAL column a searched parameter (in the spec's order, derived ones too),
//                fitness REAL, of several objectives objective_1 REAL, objective_2 REAL, ..., with constraints
//                violation REAL (0: all are met), constraint_1 REAL, ..., failure TEXT NOT NULL ('none'), n_failed
//                INTEGER, one REAL column a metric, and with several replicates one `<metric>_std` each. STRICT. NULL:
//                failed; with several objectives fitness always is.
//   replicates   trial, replicate, failure, one REAL column a metric; when the spec stores them
//   shards       id, name, bytes, sha256
//   trajectories trial, replicate, shard, row, samples, recipe: where a trajectory is, and how it was sampled
//   debug_rows   the same columns: where debug rows are
//   outer_points search, parameter, value: what a search of an outer grid has for the outer parameters
//   round_rows   search, first, last, shard, row: the rounds that a lane of a shard holds
//   sensitivity  parameter, measure, value, low, high, blocks, left_out: of morris and sobol_indices
//   segments     id, spec, resolved, hash, first_id, first_point, decided, time: the specs of a campaign that was
//                extended, in order; none if it never was
//   overrides    id, key, value: what --set changed in the spec, and an extension keeps (store/overrides.c)
//   retries      id, kinds, next, end, trials, recovered, changed, time, finished: requests to run failed trials again
//   events       id, time, kind, text
//   tags         tag;  notes  time, text
//   origin       purpose, campaign, hash, trial, fitness, time: of what it was made (store/origin.c)
//   digests      name (of a table), block, rows, digest: what `doctor` compares the rows with (store/seal.c)
//
// Best first is always: ORDER BY fitness IS NULL, violation, fitness, survived DESC, id; `fitness DESC` if the spec
// maximises it.

#define STORE_APPLICATION_ID 0x484F5053 // "HOPS"
#define STORE_SCHEMA_VERSION 7          // steps from older ones: store/migration.c

// A batch and a shard have arrays of one kind.
typedef enum RecordKind { RECORD_TRAJECTORIES, RECORD_DEBUG, RECORD_KINDS } RecordKind;

typedef struct Recording {
    bool wanted;
    const char *group, *table; // in a shard; in campaign.db, of the places in shards
    const Selection *select;
    const Field *columns; // [n_columns] of a row
    int n_columns;
    int64_t capacity; // rows of a lane, at most
    int lanes;        // of a recorded trial: its first replicate or all
    bool failed_only; // of those, the ones that failed
    bool float64, gzip;
    char columns_recipe[32]; // its end: which columns, where they were chosen; else empty
    char recipe[96];         // what the arrays hold, by number: arrays of another recipe are recorded anew
} Recording;

Recording recording_of(const Spec *spec, RecordKind kind);
ShardLayout recording_layout(const Recording *recording);

enum { STORE_STATEMENTS = 10 + RECORD_KINDS };
typedef struct Store {
    Database *database;
    const char *folder, *shards, *name;
    const Spec *spec;
    union { // the statements of a commit, which all commits share
        struct {
            Cursor insert_trial, insert_replicate, insert_shard, insert_batch, note_batch, add_digest;
            Cursor update_search, insert_search, insert_round, insert_front;
            Cursor insert_place[RECORD_KINDS]; // of a lane's arrays
        };
        Cursor statements[STORE_STATEMENTS];
    };
    int64_t next_shard, next_batch;
    double sqlite_seconds; // of the last batch's transaction, which its own row could not hold; negative: none
    bool created;          // by this process
    char state[16];
    const char *reason; // why the last run ended; "" if it did not, or had no reason
} Store;

// Opens or creates the database of the campaign, whose lock is held. Error (user): it holds another spec (the
// differences go to `messages`), or numbers of another numerics_version, or is no campaign.
Error store_open(const char *folder, const char *name, const Spec *spec, const RunOptions *options, Arena *arena,
                 Store **out);
Error store_close(Store *store);
// On a file system without trustworthy shared locks: no WAL, and one process at a time.
Error store_share(Database *database, bool shared_fs);
// The first column of a statement's first row; `missing` if there is none.
Error store_integer(Database *database, const char *sql, int64_t missing, int64_t *value);
Error store_text(Database *database, const char *sql, Arena *arena, const char **value); // NULL if there is none
// Whether there is such a table, such a column: databases of older schemas have fewer.
Error store_has_table(Database *database, const char *table, bool *has);
Error store_has_column(Database *database, const char *table, const char *column, bool *has);
// Between the two all that is read is of one moment, whoever writes meanwhile. The end gives `error`, or its own.
Error store_read_begin(Database *database);
Error store_read_end(Database *database, Error error);
// A campaign's database for readers, who have nothing to lose when they leave it; NULL is passed over.
Error store_peek(const CampaignPlace *place, Arena *arena, Database **database);
void store_leave(Database *database);
Error store_begin(Store *store); // a transaction
// Ends it: commits it if all went well, else takes it back and gives `error`.
Error store_end(Store *store, Error error);
Error store_event(Store *store, const char *kind, const char *format, ...) PRINTF_LIKE(3, 4);
Cursor store_events(Database *database);                    // cells: time, kind, text
const char *store_meets(const Spec *spec);                  // " AND violation = 0", "" without constraints
Error store_maximizes(Database *database, bool *maximizes); // whether the one objective of the campaign is maximised
const char *store_best_order(const Spec *spec); // ORDER BY of the trials WHERE fitness IS NOT NULL, best first

// ---- rows of the tables trials and replicates (store/rows.c, store/columns.c) ---------------------------------------

// A block of rows, in the order of their ids. P: searched parameters, K: objectives, if they are several, else 0;
// M: metrics, R: replicates.
typedef struct TrialRows {
    int64_t count, capacity;
    int64_t *id;                // [capacity]
    int32_t *search, *round;    // [capacity]
    double *searched;           // [capacity][P], the spec's axes in order, derived ones too
    double *fitness;            // [capacity], NaN: failed, or there are several objectives
    double *objective;          // [capacity][K] of several objectives, NaN: failed
    double *constraint;         // [capacity][C] violation and constraints, if there are any; NaN: failed
    int32_t *failure;           // [capacity], index in configured.failures
    int32_t *n_failed;          // [capacity]
    double *metric;             // [capacity][M], mean over the replicates
    double *spread;             // [capacity][M], standard deviation; NULL with one replicate
    double *replicate_metric;   // [capacity][R][M]; NULL unless the spec stores replicates
    int32_t *replicate_failure; // [capacity][R]; NULL likewise
} TrialRows;

int rows_searched(const Spec *spec);   // P
int rows_objectives(const Spec *spec); // K
const char *rows_objective_name(int index);
const char *rows_good_name(const Spec *spec); // the column that is NULL if a trial failed
void rows_take(const Spec *spec, int64_t capacity, Arena *arena, TrialRows *rows);
const char *rows_select_sql(const Spec *spec, Arena *arena, const char *tail); // every column, in table order
// Row `row` from a row of rows_select_sql.
void rows_read(const Spec *spec, const Cursor *trial, TrialRows *rows, int64_t row);
// The first field in which two rows of one trial differ, with both values; false if all bits are equal.
bool rows_differ(const Spec *spec, const TrialRows *stored, int64_t row, const TrialRows *again, int64_t row_again,
                 char *text, size_t size);
// Puts a row in, within a transaction (store/commit.c).
Error store_insert_row(Store *store, const TrialRows *rows, int64_t row);

// Columns of the table trials, as they are in the file.
typedef struct TrialColumns {
    const char **names;
    bool *is_text, *is_integer;
    int count;
} TrialColumns;
Error trial_columns(Database *database, Arena *arena, TrialColumns *columns);
int trial_column_find(const TrialColumns *columns, const char *name); // -1 if there is none
// The columns that tell most: id, fitness, what was searched, and the metrics that the objective uses.
int trial_columns_main(const Spec *spec, Arena *arena, const char *const **names);
// As a list for SELECT, quoted.
const char *trial_columns_sql(const char *const *names, int count, Arena *arena);

// ---- fronts (store/front.c) -----------------------------------------------------------------------------------------

// The trials of a campaign that none of its others dominates, by the first objective, the second, ..., the id.
typedef struct Front {
    int64_t count, capacity;
    int objectives;
    bool maximize[OBJECTIVES_MAX]; // [objectives]
    int64_t *id;                   // [count]
    double *value;                 // [count][objectives], costs: of a maximised column the negative
} Front;
double front_value(const Front *front, int64_t place, int k); // as it is stored

// By these columns of the table trials, of the trials that did not fail and meet the constraints. Trials that miss one
// of them are left out.
Error front_read(Database *database, const Spec *spec, const char *const *columns, int objectives, Arena *arena,
                 Front *front);
Error front_read_objectives(Database *database, const Spec *spec, Arena *arena, Front *front); // the spec's own
void front_free(Front *front);
// The i-th of `wanted` points, spread evenly over the front with both its ends.
int64_t front_spread(const Front *front, int64_t wanted, int64_t i);
Error fronts_exist(Database *database, bool *exist);       // databases of schemas before 6 have no such table
Error fronts_are_stored(Database *database, bool *stored); // whether there are any

// ---- small changes of a stored campaign (store/edit.c) --------------------------------------------------------------

// Takes the campaign's lock; a live holder is named, with what can be done about it.
Error campaign_lock(const char *folder, const char *name, Arena *arena, Lock *lock);
Error campaign_refuse_network(const char *folder, bool shared_fs); // unless that is allowed
// With the lock held, the database of a campaign that is there, to be changed: none is made where one was.
Error campaign_open_database(const char *path, Database **database);
Error campaign_is_gone(const char *path); // the error that says so
// An error if a campaign can't be put there. What a killed run left of a folder, at most its lock, is cleared away.
Error campaign_name_is_free(const char *results, const char *name, const char *folder, Arena *arena);
Error campaign_clear_begun(const char *folder, const char *name, Arena *arena, bool *cleared);
// Between begin and end: the lock is held, a transaction is open, digests follow. The store is only good for its
// database, folder and events.
typedef struct CampaignEdit {
    Lock lock;
    bool shared_fs;
    Store store;
} CampaignEdit;
Error edit_begin(const CampaignPlace *place, bool shared_fs, Arena *arena, CampaignEdit *edit);
Lock edit_keep_lock(CampaignEdit *edit);         // which the caller releases, after the edit's end
Error edit_end(CampaignEdit *edit, Error error); // takes all of it back after an error, and gives that
// The schema version of a campaign's database. Error (user): it is none, or too old or new for this program.
Error schema_version(Database *database, const char *path, int *version);

// ---- the catalogue results/index.db: a row per campaign (store/catalogue.c) -----------------------------------------

// Makes the row of this name as the campaign's database has it; removes the row if there is no such campaign.
Error catalogue_look(const char *results, bool shared_fs, const char *name, FILE *messages, Arena *arena);
// Makes it anew from the campaigns' own databases; those that can't be read are told to `messages` and left out.
Error catalogue_rebuild(const char *results, bool shared_fs, FILE *messages, Arena *arena, int *campaigns);

// ---- where a campaign comes from, and what it was given (store/origin.c, store/overrides.c) -------------------------

typedef struct Origin {
    const char *purpose; // "verifies", "compares", "imports", "merges"
    const char *campaign, *hash;
    int64_t trial; // -1: none
    double fitness;
} Origin;
// Once: a second time changes nothing.
Error origin_note(const CampaignPlace *place, bool shared_fs, const Origin *origin, Arena *arena);

// Those of a campaign, oldest first; none in databases of schemas before 7.
Error overrides_read(Database *database, Arena *arena, Overrides *overrides);
// `earlier` without those whose keys `later` sets anew.
Overrides overrides_without(const Overrides *earlier, const Overrides *later, Arena *arena);
// "search.trials=30, seed=7", as it may be printed
const char *overrides_text(const Overrides *overrides, Arena *arena);

// ---- times (store/timings.c) ----------------------------------------------------------------------------------------

// Where the time of a campaign's batches went, in s, summed from table `batches`.
typedef struct Timings {
    double wall;         // from the start of each run, or the end of a batch, to the end of the next
    double kernel;       // the device at work
    double copy, search; // the loop: lanes filled and gathered, to the device and back; ask and tell
    double hdf5, sqlite; // the writer, beside the device
} Timings;
// Of the batches from `first` on. What a database of an older schema does not hold reads as 0.
Error timings_read(Database *database, int64_t first, Arena *arena, Timings *timings);
void timings_print(const Timings *timings, FILE *out); // "kernel 2 s, idle 0.1 s; ...", a line
void timings_json(const Timings *timings, Json *json);

// What the batch that computed a trial took, of which no lane is timed alone.
typedef struct BatchTiming {
    const char *device; // in the arena; NULL: not known
    int64_t lanes;
    double lane_seconds; // the kernels' time, shared evenly
} BatchTiming;

Error timings_of_trial(Database *database, int64_t trial, Arena *arena, BatchTiming *timing);

// ---- status (store/status.c, store/status_cache.c) ------------------------------------------------------------------

// What is known of a campaign without reading its spec, so that it can also be told of campaigns that another version
// wrote.
typedef struct StatusReport {
    CampaignPlace place;
    const char *state, *reason, *experiment, *model, *started, *finished, *hash, *program, *devices;
    char holder[256]; // who runs it now; empty: nobody
    int64_t most;     // trials, at most; 0: unknown, or the total is known
    int64_t trials, total, replicates, failures, seed, numerics_version, batches, lanes, shards, best_trial;
    int64_t objectives;                           // of several
    const char *committed, *origin, *tags, *note; // note: the last one
    double best, shard_bytes;
    bool maximizes; // more is better
    double rate;    // trials/s of the last batches; NaN: there are none
    double busy;    // part of their time in which the device computed
    Timings timings;
} StatusReport;

// A campaign that is called running while nobody holds its lock was killed. After an error the state is "unreadable",
// and every text is there.
Error status_read(const CampaignPlace *place, Arena *arena, StatusReport *report);
// With what the database says made visible: it may be anybody's.
StatusReport status_visible(const StatusReport *report, Arena *arena);

// One of many campaigns, and what is read of it.
typedef struct StatusEntry {
    CampaignPlace place;
    const char *name; // as seen from the root
    StatusReport report;
    const char *error;   // what was wrong; NULL: nothing
    DatabaseStamp stamp; // with which the database says so
    bool known;          // it need not be read
    bool still;          // nothing wrote to the database; before it is read: that is likely
} StatusEntry;

// What list and status last read of each campaign of a root, kept in its catalogue.
typedef struct StatusCacheRow StatusCacheRow;

typedef struct StatusCache {
    const char *results;
    int64_t device; // on which the root lies; campaigns elsewhere are read each time; -1: all are
    Arena *arena;
    Database *catalogue; // open for reading; NULL: there is none that can be used
    Cursor find;
    bool writable;         // the root is of a kind where the catalogue may be written
    StatusCacheRow *fresh; // campaigns that were read anew, the last one first
} StatusCache;

// Never fails: without a catalogue every campaign is read.
void status_cache_open(const char *results, Arena *arena, StatusCache *cache);
// As status_read, of each. Their names live as long as the cache. An error: there is no memory for it.
Error status_cache_read(StatusCache *cache, StatusEntry *entries, int count);
// Keeps what was read anew, if the catalogue can be written now; forgets campaigns that are not among `names`, which
// are sorted.
void status_cache_close(StatusCache *cache, const char *const *names, int count);

// ---- arrays that a spec does not ask for any more (store/unwanted_shards.c) -----------------------------------------

// Shards that hold no array that the spec asks for, in the order of their numbers; and their rows are deleted, in
// the same transaction.
typedef struct UnwantedShards {
    const char **names; // [count]
    int64_t count;
} UnwantedShards;
Error unwanted_list(const Spec *spec, Database *database, Arena *arena, UnwantedShards *out);
Error unwanted_forget(Database *database);

// ---- replay (run/replay.c, run/trace.c) -----------------------------------------------------------------------------

// Re-simulates a stored trial with all its replicates and compares fitness, failure and metrics to the bit.
// `difference` names the first field that differs, with both values; empty if all are equal.
typedef struct ReplayResult {
    int64_t trial;
    double fitness, stored_fitness;
    bool equal;
    char difference[256];
} ReplayResult;
Error campaign_replay(const StoredCampaign *campaign, int64_t trial, const BackendOptions *backend, Arena *arena,
                      ReplayResult *result);
// The same, and what one replicate did meanwhile: samples of its trajectory, or a row an iteration of its solver.
typedef struct ReplayRequest {
    int64_t trial;
    int replicate;
    bool debug;                // rows of the solver
    const char *rows;          // what they are called
    double sample;             // s between two samples; 0: as the spec records them
    bool coarser;              // or more, where they would take too much memory
    double window[2];          // s: rows with [0] <= time <= [1]; both 0: all
    bool drawn;                // with all that the model's drawing asks for
    const char *const *bodies; // [n_bodies] names and patterns of what is shown; n_bodies 0: as the spec records
    int n_bodies;
} ReplayRequest;
typedef struct ReplayTrace {
    const StoredCampaign *campaign;
    ReplayRequest request;
    const Configured *configured; // the spec's, with the columns that there are
    const Field *columns;         // [n_columns], the first is time (s)
    int n_columns;
    const int *shown; // [n_shown] the columns that people asked for, the first is the time's
    int n_shown;
    double *row;   // [count][n_columns]
    double *point; // [n_points][2] of the drawing: trace_points's
    int64_t count;
    double *parameter;   // [n_parameters] of the replicate
    double fitness;      // of the trial; NaN: it failed
    const char *failure; // of the replicate
    double level;        // m: where the ground is drawn of a motion that has none
} ReplayTrace;
// Error (user): there is no such replicate, the model has no such rows, they would not fit in memory.
Error campaign_trace(const StoredCampaign *campaign, const ReplayRequest *request, const BackendOptions *backend,
                     Arena *arena, ReplayResult *result, ReplayTrace *trace);
// The drawing of the trace's model, NULL if it has none or the trace is of its solver.
const Drawing *trace_drawing(const ReplayTrace *trace);
void trace_find_level(ReplayTrace *trace); // once, before the others
// point[n_points][2] (m) of row i, the trace's own until the next call.
const double *trace_points(const ReplayTrace *trace, int64_t i);

// ---- what a run would take (plan/plan.c, plan/explain.c) ------------------------------------------------------------

typedef struct Plan {
    // `trials`, and all that follows from it: what will be run; where a search may end early at most so many; where it
    // is open (it ends by itself, some time) those of one generation.
    int64_t trials_least, rounds; // rounds: generations of all searches together, at most; 0: the method has none
    bool trials_open;
    const char *early;    // what may end it early, or NULL
    int64_t round_trials; // of a generation; 0: the method has none
    int64_t trials, excluded, lanes, batch_lanes, batches, traced_lanes;
    double host_bytes, device_bytes, hdf5_bytes, sqlite_bytes, disk_free;
    double seconds, seconds_low, seconds_high; // expected, and between which it should be
    char device[128], warning[1024];
    char refusal[512];       // why it would not do; empty: it would
    bool excluded_estimated; // `excluded` (and all that follows from it) comes from a sample of a large grid
    int64_t looked_at;       // > 0: of a sample of so many ids none is a trial; `trials` are the most that may be there
} Plan;
Error plan_make(const Spec *spec, const RunOptions *options, Arena *arena, Plan *plan);
// Trials, lanes and bytes on disk alone, without a device; at once if the excluded trials are counted as if they ran.
Error plan_count(const Spec *spec, const RunOptions *options, bool count_excluded, Arena *arena, Plan *plan);

// What the model says of the trials of a spec before they run: remarks[REMARKS_MAX]; at most a few thousand trials
// are looked at. And its warnings, a line each.
Error explain(const Spec *spec, const Search *search, Arena *arena, Remark *remarks, int *count);
Error explain_warn(const Spec *spec, Arena *arena, FILE *out);

// ---- requests to end a run (batch/interrupt.c) ----------------------------------------------------------------------

// Requests to end a run, and to say how it does: SIGINT, SIGTERM, a control file; SIGUSR1.
enum { INTERRUPT_STOP = -1 };
void interrupt_install(void);
// From now on an empty file at `path`, or one that names the lock's holder, ends this process's run; one that lies
// there for an earlier run is removed. And no longer; a request that was there is removed.
Error interrupt_watch(const char *path, const char *holder);
Error interrupt_unwatch(void);
int interrupt_requested(void);     // 0, the signal, or INTERRUPT_STOP
const char *interrupt_words(void); // "interrupted by the user": why it ends
bool interrupt_asks_status(void);  // once a question

// ---- doctor (doctor/doctor.c, doctor/repair.c) ----------------------------------------------------------------------

typedef struct SealBroken {
    const char *table; // "sqlite_schema": the declarations
    int64_t block;
    const char *unreadable; // why it can't be read; NULL: it can, and says something else than was written
    bool lost;              // no digest says so, and committed batches had more trials, or its trials more replicates
} SealBroken;
typedef struct SealDamage {
    SealBroken *broken; // [count], in the arena
    int64_t count, capacity;
} SealDamage;

typedef struct DoctorLine {
    const char *check; // which one it belongs to
    bool finding;      // else all is well
    const char *text;
} DoctorLine;

typedef struct Doctor {
    // given
    const CampaignPlace *place;
    Arena *arena;
    bool locked; // by this process, for a repair
    // found
    DoctorLine *lines; // [n_lines]
    int n_lines, findings;
    char holder[256];   // who runs it now; empty: nobody
    Database *database; // open for reading while the checks run; NULL: it can't be read
    int64_t version;    // SQLite's data_version of what was read
    Spec spec;
    bool spec_good, structure_bad, places_bad, catalogue_bad;
    int schema;
    SealDamage damage;
    int64_t *bad_shards; // [n_bad_shards] ids
    int n_bad_shards;
    int stray_files; // orphans and temporaries
} Doctor;

// Looks at everything and changes nothing. What is wrong with the campaign is in the lines; an Error is of the machine.
Error doctor_examine(const CampaignPlace *place, Arena *arena, Doctor *doctor);
// Mends what was found, with the campaign's lock held; what was done is told to `messages`.
Error doctor_repair(const Doctor *doctor, const BackendOptions *backend, bool shared_fs, FILE *messages);

#include "store/stored.h" // what is stored, in words

#endif
