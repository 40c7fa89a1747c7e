// What the files of a campaign share among themselves: rows of trials, the store, a batch in flight, the recording
// policy, the writer thread, the catalogue. The rest of the runner needs none of it.
#ifndef HOPSCOTCH_STORE_H
#define HOPSCOTCH_STORE_H

#include "../runner.h"

#include <pthread.h>

// ---- rows of the table trials (rows.c) ------------------------------------------------------------------------------

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

int rows_searched(const Spec *spec);    // P
int rows_objectives(const Spec *spec);  // K
int rows_constraints(const Spec *spec); // C: one more than there are constraints, 0 without
Text32 rows_constraint_name(int index); // violation, constraint_1, ...
const char *rows_objective_name(int index);
const char *rows_good_name(const Spec *spec); // the column that is NULL if a trial failed
int64_t rows_columns(const Spec *spec);       // of the tables trials and replicates
int64_t rows_replicate_columns(const Spec *spec);
void rows_take(const Spec *spec, int64_t capacity, Arena *arena, TrialRows *rows);
int64_t rows_bytes(const Spec *spec); // of one row in memory
// Error (user): a parameter and a metric would stand in columns of the same name.
Error rows_check_names(const Spec *spec);
const char *rows_table_sql(const Spec *spec, Arena *arena);      // CREATE TABLE trials
const char *rows_replicates_sql(const Spec *spec, Arena *arena); // CREATE TABLE replicates
const char *rows_insert_sql(const Spec *spec, Arena *arena);
const char *rows_insert_replicate_sql(const Spec *spec, Arena *arena);
const char *rows_select_sql(const Spec *spec, Arena *arena, const char *tail); // every column, in table order
void rows_bind(const Spec *spec, const TrialRows *rows, int64_t row, Statement *statement);
void rows_bind_replicate(const Spec *spec, const TrialRows *rows, int64_t row, int replicate, Statement *statement);
// Row `row` from the statement's current row.
void rows_read(const Spec *spec, Statement *statement, TrialRows *rows, int64_t row);
// Adds the row to a hash: every column in table order, numbers by their 8 bytes, NULL as the canonical NaN (which is
// never stored), texts by length and bytes.
void rows_hash(const Spec *spec, const TrialRows *rows, int64_t row, Sha256 *hash);
// The first field in which two rows of one trial differ, with both values; false if all bits are equal.
bool rows_differ(const Spec *spec, const TrialRows *stored, int64_t row, const TrialRows *again, int64_t row_again,
                 char *text, size_t size);
// A number as SQLite gives it back: it keeps neither NaN's sign and payload nor the sign of zero.
double rows_stored(double value);

// ---- trials that were run (stored_trial.c) --------------------------------------------------------------------------

// The complete parameters of a stored row, and what its random numbers are keyed by.
Error search_stored_trial(const Search *search, Database *database, const TrialRows *rows, int64_t row,
                          uint64_t *ordinal, double *parameter);

// ---- starting from another campaign (search/cmaes/warm_start.c) -----------------------------------------------------

// What the spec's `search.cmaes.taken` is to be, for a campaign of that name; NULL: there is nothing to be taken, or it
// was. Error (user): the other campaign is not there, or has nothing to start from.
Error warm_start_take(const Spec *spec, const char *results, const char *name, Arena *arena, const char **taken);

// ---- what is recorded of a lane (campaign/record.c) -----------------------------------------------------------------

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
    char recipe[96]; // what the arrays hold, by number: arrays of another recipe are recorded anew
} Recording;

Recording recording_of(const Spec *spec, RecordKind kind);
// Prints a debug row of a replicate, from the shard that it lies in, for people, with those of its step if the model
// reads them together (commands/show_debug.c). parameter[n_parameters]: the trial's, NaN where replicates drew their
// own. Error (user): there are fewer rows.
Error show_debug_row(const StoredCampaign *campaign, int64_t trial, const double *parameter, const char *file,
                     int64_t replicate, int64_t row, FILE *out, Arena *arena);
ShardLayout recording_layout(const Recording *recording);
int64_t recording_lane_bytes(const Recording *recording); // of one lane in memory, at most
// Lanes whose arrays fit RECORD_BYTES_MAX, in whole trials and at least one; 0: nothing is recorded.
int64_t recording_lanes_max(const Recording *recording);

// ---- digests of rows (seal.c) ---------------------------------------------------------------------------------------

extern const char *const seal_table_sql; // CREATE TABLE digests
extern const char *const seal_add_sql;   // the statement `add` below

// Rows of one table that were added and not yet counted in its digests.
typedef struct SealTally {
    const char *name;
    int64_t block, rows;
    uint64_t digest;
} SealTally;

// Follows every change of the connection's from here on, but for rows inserted into trials and replicates: those are
// counted with seal_count, and seal_flush before the transaction ends.
Error seal_keep(Database *database, Arena *arena);
Error seal_count(Statement *add, SealTally *tally, int64_t block, uint64_t digest);
Error seal_flush(Statement *add, SealTally *tally);
int64_t seal_block(int64_t trial);                             // in which block a trial's rows are
void seal_trials(int64_t block, int64_t *first, int64_t *end); // the ids [*first, *end) of a block
Error seal_schema(Database *database);                         // after a change of the declarations
Error seal_all(Database *database, Arena *arena);              // counts everything as it is now

// Of one block: what its digest says, and a new one of what is there now. tally->rows 0: there are none.
Error seal_stored(Database *database, const char *table, int64_t block, SealTally *tally);
Error seal_again(Database *database, const char *table, int64_t block, Arena *arena, SealTally *tally);

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
// Counts everything again and compares: with the digests, trials with their batches, replicates with their trials. Works on a connection
// that only reads.
Error seal_check(Database *database, Arena *arena, SealDamage *damage);

// ---- older schemas (migration.c) ------------------------------------------------------------------------------------

// The schema version of a campaign's database. Error (user): it is none, or too old or new for this program.
Error schema_version(Database *database, const char *path, int *version);
// Brings a database whose lock is held to STORE_SCHEMA_VERSION in one transaction. *from: what it was.
Error schema_migrate(Database *database, const char *path, Arena *arena, int *from);

// ---- the store (store.c, commit.c, recovery.c) ----------------------------------------------------------------------

struct Store {
    Database *database;
    const char *folder, *shards, *name;
    const Spec *spec;
    Statement *insert_trial, *insert_replicate, *insert_shard, *insert_batch, *note_batch, *add_digest;
    Statement *update_search, *insert_search, *insert_round, *insert_front;
    Statement *insert_place[RECORD_KINDS]; // of a lane's arrays
    int64_t next_shard, next_batch;
    double sqlite_seconds; // of the last batch's transaction, which its own row could not hold; negative: none
    bool created;          // by this process
    char state[16];
    const char *reason; // why the last run ended; "" if it did not, or had no reason
};

// Opens or creates the database of the campaign, whose lock is held. Error (user): it holds another spec (the
// differences go to `messages`), or numbers of another numerics_version, or is no campaign.
Error store_open(const char *folder, const char *name, const Spec *spec, const RunOptions *options, Arena *arena,
                 Store **out);
Error store_close(Store *store);
// Of a database whose table `campaign`, which has one row, is empty.
Error store_row_lost(const char *name);
// On a file system without trustworthy shared locks: no WAL, and one process at a time.
Error store_share(Database *database, bool shared_fs);
// The first column of a statement's first row; `missing` if there is none.
Error store_integer(Database *database, const char *sql, int64_t missing, int64_t *value);
Error store_text(Database *database, const char *sql, Arena *arena, const char **value); // NULL if there is none
// Ends a transaction: commits it if all went well, else takes it back and gives `error`.
Error store_end(Store *store, Error error);
// The campaign has another spec than `given`, which is the store's: says what differs and, if the options ask for it
// and every row keeps its meaning, appends it to the campaign. Error (user) otherwise (campaign/extend.c).
Error store_extend(Store *store, Spec *given, const RunOptions *options, Arena *arena);
// The segments of a campaign that was extended, into its spec; none if it never was.
Error segments_read(Database *database, const char *folder, Arena *arena, Spec *spec);
extern const char *const segments_table_sql;
// Failed trials that are to be run again (campaign/retry.c): `kinds` is "failed" or "fell,solver".
Error retry_request(Store *store, const char *kinds, FILE *messages, Arena *arena);
Error retry_is_pending(Store *store, bool *pending);
extern const char *const retries_table_sql;
// Within a transaction; n_fields: of a round's row.
Error store_insert_row(Store *store, const TrialRows *rows, int64_t row);
Error store_insert_rounds(const Store *store, const Rounds *rounds, int n_fields);
Error store_recover(Store *store, StoreRecovery *recovery, FILE *messages);
typedef struct StoreCounts {
    int64_t trials, failures, last_trial; // last_trial: -1 if there is none
    double wall_seconds;                  // of all runs so far
    double best_fitness;                  // NaN if there is none
    int64_t best_trial;
} StoreCounts;
Error store_counts(Store *store, StoreCounts *counts);
// The search's state after the last tell, into search->state. *found: there is one.
Error store_search_state(Store *store, Search *search, bool *found);
Error store_set_state(Store *store, const char *state, const char *reason, const char *stop_reason);
Error store_set_total(Store *store, int64_t trials_total); // 0: unknown
Error store_event(Store *store, const char *kind, const char *format, ...) PRINTF_LIKE(3, 4);
Error store_index_fitness(Store *store);
const char *store_meets(const Spec *spec);                  // " AND violation = 0", "" without constraints
Error store_best_sql(Database *database, const char **sql); // id and fitness of the best trial, whatever the spec
const char *store_best_order(const Spec *spec); // ORDER BY of the trials WHERE fitness IS NOT NULL, best first

// All that one batch adds to a campaign: what a job of the writer carries, and what is committed at once or not at all.
typedef struct Commit {
    TrialRows rows;   // count 0: none
    RecordKind kind;  // of the arrays
    ShardLane *lanes; // [lanes_capacity] arrays, lane after lane in `samples`
    int64_t n_lanes, lanes_capacity;
    double *samples; // [sum of lengths][columns of the kind]
    void *state;     // [state_size] of the search after tell
    size_t state_size;
    Rounds rounds;               // of the search that ended with this batch
    int n_round_fields;          // of each
    int64_t lanes_run, failures; // failures: trials with a failed replicate or without fitness
    double kernel_seconds, wait_seconds, wall_seconds, copy_seconds, search_seconds;
    char backend[16], device[128], version[64]; // where it was computed
} Commit;

// `lanes`: observed, of `lane_bytes` each.
void commit_take(const Spec *spec, int64_t trials, int64_t lanes, int64_t lane_bytes, size_t state_size, Arena *arena,
                 Commit *commit);
void commit_take_rounds(const Search *search, int64_t trials, Arena *arena, Commit *commit); // of a batch of `trials`
int64_t commit_rounds_bytes(const Search *search, int64_t trials);
// A shard of the store's next number: its file, whose attributes are filled in here; and its row, within a transaction.
typedef struct StoreShard {
    char name[32];
    int64_t bytes;
    Sha256Text sha256;
    double seconds; // to build and write it
} StoreShard;
Error store_write_shard(const Store *store, Shard *shard, StoreShard *written);
Error store_insert_shard(const Store *store, const StoreShard *shard);
// Shard first, then one transaction. *seconds: what it took.
// How long the transaction took is known when it has ended: the next one notes it, or, after the last, the second call.
Error store_commit(Store *store, const Commit *commit, double *seconds);
Error store_note_seconds(Store *store);

// ---- a batch of whole trials (campaign/flight.c) --------------------------------------------------------------------

// From ask to tell: which lane of the batch holds which replicate of which trial. Lanes that are observed come
// first, because a trace covers the lanes [0, n); the trials stay in the order of ask.
typedef struct Flight {
    Trials trials;
    RecordKind kind; // what is recorded
    bool *observed;  // [trials.capacity]: record this trial
    int64_t *lane;   // [trials.capacity][R]
    int64_t lanes, n_observed;
    int64_t ticks; // advanced so far
    double kernel_seconds, wait_seconds, copy_seconds, search_seconds;
    double *lane_parameter; // [n_parameters] of the lane that is being filled
    double *metric;         // [R][M] and failure[R] of the trial that is being collected
    int *failure;
} Flight;

void flight_take(const Spec *spec, int64_t trials, Arena *arena, Flight *flight);
int64_t flight_bytes(const Spec *spec); // of one trial in memory
// Gives every replicate its lane and its parameters.
void flight_fill(const Spec *spec, Flight *flight, Batch *batch);
// Fitness and metrics of every trial into `commit->rows` (and fitness, survived into the trials, for tell), and the
// observed lanes' arrays into `commit->lanes` and `samples`.
void flight_collect(const Spec *spec, Flight *flight, const Batch *batch, Commit *commit);
// Waits for the slice in flight; counts what it took.
Error flight_wait(const Spec *spec, Backend *backend, int slot, Flight *flight, bool *done);
int flight_survived_metric(const Spec *spec); // the place of `survived` among the metrics, or -1
// Who is told how far a run is, and answered when SIGUSR1 asks.
typedef struct Watch {
    Progress *progress;
    const ProgressNumbers *numbers;
} Watch;
void watch_show(const Watch *watch);
// Runs a filled flight on slot 0 to its end; `watch` (may be NULL) is told of every slice. Error (interrupted) between
// two slices.
Error flight_run(const Spec *spec, Backend *backend, Flight *flight, int64_t slice, const Watch *watch);
// Slices of about 0.1 s: the length for the next one.
int64_t slice_start(const Spec *spec, int64_t requested);
int64_t slice_adapt(int64_t slice, double seconds, int64_t requested);

// ---- a pilot of a run (plan/pilot.c) --------------------------------------------------------------------------------

typedef struct PilotTask {
    const Spec *spec;
    const Search *search;
    Backend *backend;           // prepared for batches of batch_lanes
    int64_t batch_lanes, lanes; // lanes: of the campaign
    bool observed;              // some of them are
} PilotTask;

typedef struct Pilot {
    int64_t lanes;          // that were run
    double seconds;         // that they take
    double first_seconds;   // of the first launch, which also loads the kernel
    double observed_factor; // how many times as long a lane takes that is observed
    double low, high;       // factors: between which the time of others like them should be
    bool whole;             // they came to their end
} Pilot;

Error pilot_run(const PilotTask *task, Pilot *pilot);

// ---- the device of a run (campaign/device.c) ------------------------------------------------------------------------

typedef struct Device {
    const Spec *spec;
    BackendOptions options;               // of the backend that is open
    bool any, fallback;                   // when it fails: any other device of the host may be taken; the CPU may
    Backend *backend;                     // NULL: none is open
    int64_t requested;                    // lanes of a batch; 0: the device decides
    int64_t lanes, traced_max, debug_max; // of a batch: all, those that may be traced, those that may give debug rows
    int failures, failed;                 // of this device; of several, the one that failed last, or -1
    Configured configured;                // the spec's, with all that a run needs
    char note[512];                       // what the last call did about trouble, for the user; empty: there was none
} Device;

// Error (memory): batches of so many lanes need more than the device or the machine has. It gives address space for
// more than that, and ends a program that uses it (plan/plan.c).
Error plan_fits(const Device *device);
// Opens a backend and takes its memory: batches are halved until they fit, down to a single trial. What the model
// builds is in the arena.
Error device_open(const Spec *spec, const RunOptions *options, Arena *arena, Device *device);
// Whether a run may go on after such an error, on a device that was opened anew.
bool device_is_at_fault(ErrorKind kind);
// After an error of a run: the same device with a fresh context (and smaller batches, if it was memory that was
// missing), another one, or the CPU. What was in flight is gone. Gives the error itself if nothing can be done.
Error device_recover(Device *device, Error error);
bool device_close(Device *device); // as backend_close

// ---- the recording policy (campaign/record.c) -----------------------------------------------------------------------

// Trajectories of `every` and `trials`: known before the trial has run. All debug rows are recorded afterwards.
bool record_as_run(const Spec *spec, int64_t id);
int64_t record_trials_max(const Spec *spec, int64_t traced_max); // of one batch, so that `every` fits the trace
// Lanes of debug rows that a batch of `trials` trials may have.
int64_t record_debug_lanes(const Spec *spec, int64_t trials);
// Re-simulates and stores the arrays of the kind of the trials that `ids_sql` selects, whether there are any of theirs
// or not: the new ones replace them. In batches of at most `trials_max` trials, of which `lanes_max` lanes are
// observed. *recorded: trials.
Error record_again(const Spec *spec, Store *store, const Search *search, Backend *backend, RecordKind kind,
                   int64_t trials_max, int64_t lanes_max, const char *ids_sql, int64_t *recorded);
// Fills the temporary table `wanted` with the ids of the stored trials whose arrays of the kind the spec asks for.
// Within a transaction.
Error record_ask(const Spec *spec, Database *database, RecordKind kind);
// Whether record_missing would do anything, of any kind.
Error record_is_missing(const Spec *spec, Store *store, bool *missing);

// Shards that hold no array that the spec asks for (campaign/record_unwanted.c), in the order of their numbers; and
// their rows are deleted, in the same transaction.
typedef struct UnwantedShards {
    const char **names; // [count]
    int64_t count;
} UnwantedShards;
Error unwanted_list(const Spec *spec, Database *database, Arena *arena, UnwantedShards *out);
Error unwanted_forget(Database *database);

// ---- rounds of searches that learn (rounds.c) -----------------------------------------------------------------------

extern const char *const rounds_table_sql; // CREATE TABLE round_rows
// Writes the rounds that no shard holds yet to one, under debug/METHOD. Whether there are any.
Error rounds_record(Store *store, const Search *search);
Error rounds_are_missing(Store *store, bool *missing);
extern const char *const fronts_table_sql;           // CREATE TABLE fronts
Error fronts_exist(Database *database, bool *exist); // databases of schemas before 6 have no such table

// ---- outer grids (outer_points.c) -----------------------------------------------------------------------------------

extern const char *const outer_table_sql;                 // CREATE TABLE outer_points
Error outer_record(Database *database, const Spec *spec); // once, within the transaction that makes the campaign

// ---- small changes (edit.c) -----------------------------------------------------------------------------------------

// Takes the campaign's lock; a live holder is named, with what can be done about it.
Error campaign_lock(const char *folder, const char *name, Arena *arena, Lock *lock);
Error campaign_refuse_network(const char *folder, bool shared_fs); // unless that is allowed
// Between begin and end: the lock is held, a transaction is open, digests follow. The store is only good for its
// database, folder and events.
typedef struct CampaignEdit {
    Lock lock;
    bool shared_fs;
    Store store;
} CampaignEdit;
Error edit_begin(const CampaignPlace *place, bool shared_fs, Arena *arena, CampaignEdit *edit);
// The same after the folder was renamed.
Error edit_begin_moved(const CampaignPlace *from, const CampaignPlace *to, bool shared_fs, Arena *arena,
                       CampaignEdit *edit);
Error edit_run(CampaignEdit *edit, const char *sql, const char *const *texts, int count); // with texts bound in order
Error edit_end(CampaignEdit *edit, Error error); // takes all of it back after an error, and gives that

// of a folder in which campaigns are being merged; gc removes what a crash leaves of it
#define MERGE_PREFIX ".merging-"

// ---- where a campaign comes from (origin.c) -------------------------------------------------------------------------

extern const char *const origin_table_sql; // CREATE TABLE origin
typedef struct Origin {
    const char *purpose; // "verifies", "compares", "imports", "merges"
    const char *campaign, *hash;
    int64_t trial; // -1: none
    double fitness;
} Origin;
// Once: a second time changes nothing.
Error origin_note(const CampaignPlace *place, bool shared_fs, const Origin *origin, Arena *arena);
Error origin_text(Database *database, Arena *arena, const char **text); // "verifies gains/41"; "": it is its own

// ---- sensitivities (analysis/sensitivity.c) -------------------------------------------------------------------------

extern const char *const sensitivity_table_sql;               // CREATE TABLE sensitivity
Error sensitivity_record(Store *store, const Search *search); // of a campaign that is done; nothing for other methods

// ---- the writer thread (campaign/writer.c) --------------------------------------------------------------------------

enum { WRITER_COMMITS = 3 }; // one being written, one waiting, one being filled

typedef struct WriterCounts {
    int64_t trials, failures, lanes; // committed by this process
    double best_fitness;             // NaN: none
    int64_t best_trial;
    double last_commit, write_seconds;
} WriterCounts;

// One thread that commits in the order of writer_put, behind a queue of bounded length.
typedef struct Writer {
    Store *store;
    pthread_t thread;
    pthread_mutex_t mutex; // guards all below
    pthread_cond_t put_signal, done_signal;
    Commit commits[WRITER_COMMITS];
    int64_t put, done; // commits handed over, commits finished
    bool closing;
    Error error; // the first; nothing is committed after it
    WriterCounts counts;
} Writer;

// The commits' buffers were taken by the caller.
Error writer_start(Writer *writer, Store *store);
// A commit to fill; waits for one that is free. Error: the writer's own.
Error writer_take(Writer *writer, Commit **commit);
void writer_put(Writer *writer);
WriterCounts writer_counts(Writer *writer);
Error writer_finish(Writer *writer); // commits what was put, ends the thread, gives its error

// ---- the loop (campaign/loop.c) -------------------------------------------------------------------------------------

enum { LOOP_SLOTS_MAX = 2 };

typedef struct LoopSlot {
    Flight flight;
    bool pending, done; // a slice is in flight; the batch has ended and was not yet collected
    int64_t slice;      // ticks of the last one
} LoopSlot;

// From ask to commit until there are no more trials, a limit is reached, or the user interrupts. Batches are told and
// committed in the order of ask, whichever ends first.
typedef struct Loop {
    // given
    const Spec *spec;
    Store *store;
    Search *search;
    Backend *backend;
    Progress *progress;
    StoreCounts before;      // of the runs before this one
    int64_t trials_expected; // in all, before limits.trials; -1: unknown
    int64_t batch_trials, slice_requested;
    int64_t traced_max, debug_max; // lanes of a batch that may be traced, or give debug rows
    // in flight
    LoopSlot slots[LOOP_SLOTS_MAX];
    Writer writer;
    int n_slots, oldest, in_flight;
    int64_t slice;
    // so far, this run and those before
    int64_t asked, told, failures;           // trials
    double lane_ticks;                       // lanes x ticks told in this run
    double started, accounted, first_launch; // clock_seconds
    double kernel_seconds;                   // of this run
    // how it ended
    bool ending;
    const char *state;   // "done", "stopped" or "interrupted"
    char reason[160];    // empty: no more trials
    WriterCounts counts; // what was committed
    ProgressNumbers numbers;
} Loop;

int64_t loop_total(const Loop *loop); // trials that the campaign will have in all; 0: unknown
// Before the loop: what is done then, for whoever asks.
void loop_tell(Loop *loop, const char *doing);
// Takes its buffers, starts the writer, runs, and leaves everything that was told committed.
Error loop_run(Loop *loop);
// Before the loop (campaign/retry.c): all that is still to do of a request to run trials again; `text` says what came
// of it, "" if there was none. Error (interrupted) between two slices.
Error retry_pending(const Loop *loop, char *text, size_t size);
// After it (campaign/record.c): re-simulates and stores every array of the kind that the policy wants and that is not
// there: trajectories of best and failures, debug rows, and what a lost shard took with it. *recorded: trials.
Error record_missing(const Loop *loop, RecordKind kind, int64_t *recorded);

// ---- disk space (plan/space.c) --------------------------------------------------------------------------------------

// Estimates, in bytes: `lanes` arrays of a kind in about so many shards; the database; the journal beside it.
double space_hdf5(const Spec *spec, RecordKind kind, int64_t lanes, int64_t shards);
double space_sqlite(const Spec *spec, int64_t trials, int64_t lanes);
double space_journal(double sqlite_bytes);
typedef enum SpaceVerdict { SPACE_ENOUGH, SPACE_TIGHT, SPACE_SHORT } SpaceVerdict; // tight: nine tenths and more
SpaceVerdict space_verdict(double needed, double available);
// Before a run: error (machine) if what is still to be written does not fit the disk, unless that is to be ignored; a
// warning to options->messages if it nearly does not.
Error space_check(const Spec *spec, Store *store, const RunOptions *options, int64_t trials_done, Arena *arena);

// ---- the catalogue results/index.db (catalogue.c) -------------------------------------------------------------------

typedef struct CatalogueRow {
    const char *name, *experiment, *model, *hash, *state, *reason;
    int64_t trials, trials_total, failures, best_trial;
    double best_fitness;
} CatalogueRow;

// If the catalogue is damaged, it is made anew from the folders, which is told to `messages` (may be NULL).
Error catalogue_update(const char *results, bool shared_fs, const CatalogueRow *row, FILE *messages, Arena *arena);
// Takes a campaign out of it, and puts one in as its database has it (NULL: none).
Error catalogue_change(const char *results, bool shared_fs, const char *gone, const char *come, FILE *messages,
                       Arena *arena);
// Makes it anew from the campaigns' own databases; those that can't be read are told to `messages` and left out.
Error catalogue_rebuild(const char *results, bool shared_fs, FILE *messages, Arena *arena, int *campaigns);
// The row of a stored campaign.
Error catalogue_row(Database *database, const char *name, Arena *arena, CatalogueRow *row);
// In what the catalogue differs from this row, in words; "" if in nothing. `running`: only what does not change then.
Error catalogue_compare(const char *results, const CatalogueRow *row, bool running, char *difference, size_t size,
                        Arena *arena);

#endif
