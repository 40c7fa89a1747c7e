// What the other folders of campaign/ and the floors above ask the store. Functions come in
// pairs: the first opens a cursor over some rows, the second reads its next row into a struct.
#ifndef HOPSCOTCH_QUERIES_H
#define HOPSCOTCH_QUERIES_H

#include "../campaign.h"

// ---- conditions that users write ------------------------------------------------------------------------------------

// The condition of --where; NULL: all trials. Error (user): the text is not a condition. The SQL has no text of the
// user: experiment/expression/sql.c writes it from the names of existing columns, with a `?` for every constant.
typedef struct Condition {
    const char *sql;
    SqlValue *values; // [count]
    int count;
    const Expression *expression; // NULL: all trials
    int *columns;                 // [n_columns] of the expression's names: indices in TrialColumns
    int n_columns;
} Condition;
Error condition_read(const TrialColumns *all, const char *text, Arena *arena, Condition *condition);

// The value of a parameter in a cell, as lanes have it: of a word (choices: configured_choices) its index. NaN: it is
// missing, or no word of the parameter.
double cell_value(const Cursor *row, int column, const char *choices);

// Name, unit and meaning of a column of trials.
Field rows_field(const Spec *spec, const char *name);

// ---- rows -----------------------------------------------------------------------------------------------------------
// columns[count]: names of columns. A row has a cell for each. `most`: upper bound of the rows; -1: all.

typedef struct TrialOrder {
    const char *column;
    bool descending; // missing values are last in both directions
} TrialOrder;

// Trials by id, in any order: trial_at moves to a trial and gives whether it exists. columns NULL: all.
Cursor trials_by_id(Database *database, const char *const *columns, int count, Arena *arena);
bool trial_at(Cursor *trials, int64_t id);
// Trials from one id to another; a last cell has the id. trials_from begins with a range of ids, any number of times.
Cursor trials_between(Database *database, const char *const *columns, int count, Arena *arena);
void trials_from(Cursor *trials, int64_t first, int64_t last);
// The best with a fitness first, of one objective.
Cursor trials_best(const StoredCampaign *campaign, const char *const *columns, int count, int64_t most, Arena *arena);
// The best of each group of trials that agree in the columns `groups`; a last cell has the rank within the group.
Cursor trials_best_of_groups(const StoredCampaign *campaign, const char *const *columns, int count,
                             const char *const *groups, int n_groups, int64_t most, Arena *arena);
// Trials that failed; the one that survived longest first.
Cursor trials_survivors(const StoredCampaign *campaign, const char *const *columns, int count, int64_t most,
                        Arena *arena);
// By id: all, or (succeeded) those that did not fail and meet the constraints.
Cursor trials_in_turn(const StoredCampaign *campaign, bool succeeded, const char *const *columns, int count,
                      Arena *arena);
// Trials that meet a condition, in any order.
Cursor trials_of(Database *database, const Condition *where, const char *const *columns, int count, Arena *arena);
// Of these the best by column `by`, without those where it is missing.
Cursor trials_of_best(const StoredCampaign *campaign, const Condition *where, TrialOrder by, const char *const *columns,
                      int count, int64_t most, Arena *arena);

// ---- columns of trials (trial_scan.c, trial_order.c) ----------------------------------------------------------------

// Some trials: columns[k][rows]. Missing: NaN; there is no -0. A text: its number in the words of the scan.
enum { TRIAL_PIECE = 4096 }; // most rows
typedef struct TrialPiece {
    const double *const *columns;
    int rows;
} TrialPiece;

// Reads columns of all trials that meet a condition. All threads read the trials of blocks, in any order.
typedef struct TrialScan {
    Database *database;
    const TrialColumns *all;
    const Condition *where;
    const int *columns; // [n] what is read: indices in `all`
    int n;
    int64_t first;              // only so many trials, the first by id, are needed; 0: all
    const int64_t *between;     // [2] only trials with ids from one to the other are needed; others may come too
    const DatabaseGuard *guard; // its interruption ends the scan; NULL: nothing does
    void (*take)(void *context, int thread, const TrialPiece *piece); // threads call it at the same time
    // Whether trials with such a first column are not needed: it lies between these numbers, or is missing. Without any
    // number least is greater. NULL: all are needed.
    bool (*skips)(const void *context, double least, double greatest);
    void *context;
    // by trial_scan_start
    int threads;        // that call `take`: numbers below this
    const char **words; // [n_words] of the text columns, in alphabetical order, each once
    int n_words;
    bool within; // a transaction of trial_scan_start
    Arena *arena;
} TrialScan;
// Completes the scan. Then, unless that failed, trial_scan_run reads all; after an error some pieces may have been
// wrong.
Error trial_scan_start(TrialScan *scan, Arena *arena);
Error trial_scan_run(TrialScan *scan);

// *ids <- [*count] of trials that meet a condition, in an order; missing values come last, then the id decides. most:
// upper bound of their number; 0: all.
Error trials_ordered(Database *database, const TrialColumns *all, const Condition *where, const TrialOrder *order,
                     int n_order, int64_t most, const DatabaseGuard *guard, Arena *arena, int64_t **ids,
                     int64_t *count);

// ---- numbers --------------------------------------------------------------------------------------------------------

Error trials_count(Database *database, int64_t *count); // of all trials, also of those without a row
Error trials_rows(Database *database, int64_t *rows);   // that are stored: of all trials, or of those that keep one
// of the stored trials that meet the condition
Error trials_count_of(Database *database, const Condition *where, Arena *arena, int64_t *count);
Error trials_last(Database *database, int64_t *id); // 0: none
// The last trial that a search was told: by the table batches, or by the stored ids below `end`. -1: none.
Error trials_last_told(Database *database, bool by_batches, int64_t end, int64_t *id);
Error trials_any_success(const StoredCampaign *campaign, bool *any);
// The number of characters of the longest text in a column.
Error trials_widest(Database *database, const char *column, Arena *arena, int64_t *width);
// *found: there is such a trial. NaN: it failed.
Error trial_fitness(Database *database, int64_t id, double *fitness, bool *found);
// The replicates that a stored trial has: of a race its own, else those of the spec.
Error trial_replicates(const StoredCampaign *campaign, int64_t id, int *count);
// The worst trial; failed trials are worse than all others. id -1: none. succeeded: the number of trials with a
// fitness.
typedef struct WorstTrial {
    int64_t trials, succeeded, id;
    double fitness;
    const char *failure;
} WorstTrial;
Error trials_worst(const StoredCampaign *campaign, Arena *arena, WorstTrial *worst);
// The greatest or least fitness of each of `ranges` equal ranges of ids, in their order.
Cursor trials_best_of_ranges(Database *database, bool greatest, int64_t ranges);

// ---- campaigns that keep rows of some trials, and sums over all (kept_rows.c, sums.c) -------------------------------

// What `record.rows` says; best 0: all trials keep a row.
typedef struct KeptChoice {
    int64_t best, every, failures;
} KeptChoice;
Error kept_choice(Database *database, KeptChoice *choice);
bool kept_partly(const Database *database); // some trials have no row
Error kept_count(Database *database, int64_t *trials, int64_t *rows);
// "rows of 1,234 of 10,000,000 trials (record.rows)"; NULL: of all.
Error kept_words(Database *database, Arena *arena, const char **words);
// Error (user) for such a campaign: `what` would be wrong.
Error kept_refuse(Database *database, const char *name, const char *what, Arena *arena);
// Whether a batch of such a campaign had this id. The search says whether it was a trial.
Error kept_covers(Database *database, int64_t trial, bool *covers);

// A record of a histogram: trials with low <= value <= high. And of bins along one axis or two (y NaN: one); the last
// bin of an axis includes x_high. Both as they are stored.
typedef struct HistogramBin {
    double low, high;
    int64_t trials;
} HistogramBin;
typedef struct AxisBin {
    double x_low, x_high, y_low, y_high;
    int64_t trials, failures, values; // failures: with a failed replicate; values: with a finite fitness
    double sum, best;                 // of the fitness; best NaN: none
    int64_t best_trial;
} AxisBin;

typedef struct ColumnSum {
    const char *name; // valid until the next one, as the histogram
    int64_t values, missing;
    double least, greatest, sum;
    const void *histogram; // [bins] by value
    int64_t bins;
} ColumnSum;
// One by one. False: there are no more, or an error, which cursor_close gives.
Cursor sums_of_columns(Database *database);
bool column_sum_next(Cursor *columns, ColumnSum *sum);
HistogramBin histogram_bin(const ColumnSum *sum, int64_t index); // 0 <= index < bins
// The bounds of a quantile; fraction in [0, 1].
void column_quantile(const ColumnSum *sum, double fraction, double *low, double *high);

typedef struct AxisSum {
    const char *x, *y; // y "": one axis
    const void *bin;   // [bins] by x, then y
    int64_t bins;
} AxisSum;
// The same of single axes, or of pairs of axes.
Cursor sums_of_axes(Database *database, bool pairs);
bool axis_sum_next(Cursor *axes, AxisSum *sum);
AxisBin axis_bin(const AxisSum *sum, int64_t index); // 0 <= index < bins

Cursor sums_of_failures(Database *database); // of all trials, of any campaign: kind, trials; the most frequent first

// A row in memory as a row of the table trials; *trial stands on it. Once per connection.
Error trial_of_memory(Database *database, const Spec *spec, const TrialRows *row, Arena *arena, Cursor *trial);

// ---- whole rows -----------------------------------------------------------------------------------------------------

// Every column, as in TrialRows, by id.
Cursor trial_rows(Database *database, const Spec *spec, Arena *arena);
bool trial_rows_next(Cursor *trials, const Spec *spec, TrialRows *rows, int64_t row);
// The same by trial_row_at, with ids in any order.
Cursor trial_rows_by_id(Database *database, const Spec *spec, Arena *arena);
bool trial_row_at(Cursor *trials, int64_t id, const Spec *spec, TrialRows *rows, int64_t row);
// Trials whose arrays are wanted (record_list), block by block: trial_rows_after(id, n) selects the next n after id.
Cursor trial_rows_wanted(Database *database, const Spec *spec, Arena *arena);
void trial_rows_after(Cursor *trials, int64_t id, int64_t most);
// What a search is told of a trial, with ids in any order, into trials[i]; false: there is no such row.
Cursor trial_results_by_id(Database *database, const Spec *spec, Arena *arena);
bool trial_result_at(Cursor *results, const Spec *spec, Trials *trials, int64_t i);
Error trial_row_read(const StoredCampaign *campaign, int64_t id, Arena *arena, TrialRows *row); // row->count 0: none

// ---- replicates, where they are stored ------------------------------------------------------------------------------

// The replicates of a trial, in order. The columns of the cursor; metrics begin at REPLICATE_METRICS.
enum { REPLICATE_TRIAL, REPLICATE_NUMBER, REPLICATE_FAILURE, REPLICATE_METRICS };
Cursor replicates_of(Database *database, int64_t trial);
// The same with the statement kept: *count <- the replicates of a trial, at most `most`, into metric[most][n_metrics],
// drawn[most][n_perturb] and failure[most], an index of configured.failures.
Cursor replicates_by_trial(Database *database);
Error replicates_take(Cursor *replicates, const Spec *spec, int64_t trial, int most, double *metric, double *drawn,
                      int *failure, int *count);
// The first `had` replicates of a trial that races. Error (machine): it has fewer.
Error replicates_take_raced(Cursor *replicates, const Spec *spec, int64_t trial, int had, double *metric, double *drawn,
                            int *failure);
// A digest of all columns of all replicates of a trial; 0: the campaign stores none.
Error replicates_digest(const StoredCampaign *campaign, int64_t trial, uint64_t *digest);
Error replicates_read(const StoredCampaign *campaign, int64_t trial, TrialRows *rows); // into row 0, under its id

// ---- parameters of stored trials (trial_parameters.c) ---------------------------------------------------------------

// The complete parameters of a stored row, and the ordinal that keys its random numbers.
Error search_stored_trial(const Search *search, Database *database, const TrialRows *rows, int64_t row,
                          uint64_t *ordinal, double *parameter);

// ---- where arrays lie: shards, and the rows in them (stored_arrays.c) -----------------------------------------------

// A committed shard; its texts are valid until the next one.
typedef struct StoredShard {
    int64_t id, bytes;
    const char *name, *sha256;
} StoredShard;
Cursor shards_by_id(Database *database, bool newest_first);
bool shard_next(Cursor *shards, StoredShard *shard);
Error shards_count(Database *database, int64_t *count);
Error shards_bytes(Database *database, double *bytes);
Cursor shards_by_name(Database *database);
bool shard_is_named(Cursor *shards, const char *name);

// The arrays of one replicate: row `row` of a shard. The texts are valid until the next one.
typedef struct StoredArray {
    int64_t trial, replicate, shard, row, samples;
    const char *name, *sha256;
    int64_t first; // samples of the rows before it in its shard: only of arrays_of_trial
} StoredArray;
bool array_next(Cursor *arrays, StoredArray *array);
Cursor arrays_of_trial(Database *database, RecordKind kind, int64_t trial);
Cursor arrays_of_shard(Database *database, RecordKind kind, int64_t shard); // by row; without the shard's name
// Of trials in the temporary table `wanted` (record_ask), by trial.
Cursor arrays_wanted(Database *database, const Recording *recording, Arena *arena);
// Of arrays that have the columns of the recording, by shard and row.
Cursor arrays_alike(Database *database, const Recording *recording, Arena *arena);
// Inserts arrays; existing ones stay.
Cursor arrays_filler(Database *database, const Recording *recording, Arena *arena);
void array_add(Cursor *filler, const ShardLane *lane, int64_t shard, int64_t row, const char *recipe);
Error arrays_count(Database *database, const Recording *recording, Arena *arena, int64_t *count);

// Reads lanes from the shards of a campaign, whose SHA-256 is compared; the few that were used last stay open.
enum { LANE_SHARDS_MAX = 8 };
typedef struct LaneReader {
    const char *folder; // the campaign's
    ShardLayout layout;
    int most; // shards that stay open, at most LANE_SHARDS_MAX
    ShardReader *reader[LANE_SHARDS_MAX];
    int64_t shard[LANE_SHARDS_MAX], used[LANE_SHARDS_MAX], clock;
    double *samples;
    size_t samples_size;
} LaneReader;
// *samples: [array->samples][columns of the layout], until the next call. Error: ERROR_MACHINE, the shard is missing or
// damaged, or does not hold the lane.
Error lane_read(LaneReader *lanes, const StoredArray *array, const double **samples);
void lanes_close(LaneReader *lanes);

// ---- searches that learn (searches.c), outer grids, sensitivities ---------------------------------------------------

// The state of all searches after the last tell. *found: there is one, of *size bytes. It is copied into `state` if
// *size <= most.
Error search_state_read(Database *database, void *state, size_t most, size_t *size, bool *found);
// For a repair, within a transaction: writes the state; rows of the other searches, from the rounds; deletes all
// rounds.
Error search_state_restore(Database *database, const Search *search);
Error searches_restore_others(Database *database);
Error rounds_clear(Database *database);

Error searches_have_rounds(Database *database, bool *have); // any of them
Error searches_count(Database *database, int64_t *count);   // searches that have rounds

// A search at its last round. With several objectives it has a front instead of a step size. 0 or NaN: not given.
typedef struct SearchProgress {
    int64_t search, generations, evaluations, population, front,
        ends; // ends: rounds with which it, or a restart, ended
    double sigma, condition, best, hypervolume, gradient;
    double model[MODEL_COLUMNS_MAX]; // of its model of the fitness, if it has one
    GradientSigns signs;             // of its last gradient; search_progress_next leaves it empty
    const char *stop;                // why it ended; "": it goes on; valid until the next one
} SearchProgress;
typedef enum SearchOrder {
    SEARCHES_BY_LEAST,
    SEARCHES_BY_GREATEST,
    SEARCHES_BY_VOLUME,
    SEARCHES_BY_NUMBER
} SearchOrder;
Cursor searches_progress(Database *database, SearchOrder order, int64_t most); // -1: all
// Columns in the row of a round, as SearchMethod says.
typedef struct RoundColumns {
    int gradient;              // 0: there is none
    const ModelColumns *model; // NULL: there are none
} RoundColumns;
bool search_progress_next(Cursor *searches, RoundColumns columns, SearchProgress *progress);
Error searches_columns(Database *database, RoundColumns *columns);
double round_number(Bytes debug, int column); // of the row of a round; NaN: it has no such column

// How good gradients are (gradients.c). gradients_have: which of these numbers any round has. gradient_of_round: of a
// round of a search, or of the last one before it that took a gradient; false: there is none.
Error gradients_make(Database *database);
bool gradients_are_kept(const Database *database);
Cursor gradients_filler(Database *database);
void gradients_add(Cursor *filler, const Round *round);
Error gradients_have(Database *database, bool *spread, bool *cosine, bool *growth);
Cursor gradients_by_round(Database *database);
// All of them, and those of the best `searches`, every k-th of each.
Error gradients_count(Database *database, int64_t *count);
Cursor gradients_of_best(Database *database, bool maximize, int64_t every, int64_t searches, int64_t most,
                         Arena *arena);
bool gradients_next(Cursor *gradients, int64_t *search, int64_t *round, GradientSigns *signs);
bool gradient_of_round(Cursor *gradients, int64_t search, int64_t round, GradientSigns *signs);

// The best fitness of each search, in order of their numbers; NaN: it has none.
Error searches_best(const StoredCampaign *campaign, Arena *arena, double **best, int64_t *count);

// The number of rounds and of searches that have rounds. best: id of the best search, by hypervolume or fitness; 0:
// none.
typedef struct RoundsKept {
    int64_t rounds, searches, best;
} RoundsKept;
Error rounds_kept(Database *database, bool several, bool maximize, RoundsKept *kept);

typedef struct RoundRow {
    int64_t search, round;
    double evaluations, best, sigma, condition, hypervolume; // NaN: not given
    Bytes debug;                                             // doubles; valid until the next one
} RoundRow;
// Of the best `searches`, by search and round: every `every`-th round, and those that ended a search or a restart.
Cursor rounds_of_best(Database *database, bool maximize, int64_t every, int64_t searches, int64_t most, Arena *arena);
bool round_next(Cursor *rounds, RoundRow *round);

// The outer parameters, at most `most`.
Error outer_names(Database *database, int most, Arena *arena, const char **names, int *count);
// Their values by search: outer_value. number NaN and word NULL: not known. A word is valid until the next value.
typedef struct OuterValue {
    double number;
    const char *word; // NULL: the value is a number
} OuterValue;
Cursor outer_values(Database *database);
OuterValue outer_value(Cursor *values, int64_t search, const char *parameter);

// A measure of a parameter; texts are valid until the next one.
typedef struct StoredMeasure {
    const char *parameter, *measure;
    double value, low, high; // low, high: interval of 95 %
    int64_t blocks, left_out;
} StoredMeasure;
Cursor sensitivity_by_parameter(Database *database); // the parameter with the greatest influence first
Cursor sensitivity_by_measure(Database *database, int64_t most);
bool sensitivity_next(Cursor *rows, StoredMeasure *row);

// ---- batches (batches.c) --------------------------------------------------------------------------------------------

Error batches_count(Database *database, int64_t *count); // committed ones

// Times in s.
typedef struct BatchRow {
    double wall, kernel, copy, search;
    int64_t trials;
} BatchRow;
Cursor batches_in_turn(Database *database); // by id
bool batch_next(Cursor *batches, BatchRow *batch);

// Cells: device, driver or instructions, batches, trials, lanes, kernel seconds.
Cursor batches_by_device(Database *database);
Error batches_devices(Database *database, Arena *arena, const char **devices); // "A,B"

// A batch of trials that were taken from another campaign. trials: their number; first, last: ids.
typedef struct MergedTrials {
    int64_t first, last, trials, failures;
} MergedTrials;
Error batch_note_merged(Store *store, const char *campaign, const MergedTrials *merged);
// For a repair: batches count the trials. If their sum is wrong, one batch replaces all.
Error batches_restore(Database *database, const Spec *spec, Arena *arena);

// ---- the campaign's row, tags, notes, origins (campaign_row.c, labels.c, origin.c) ----------------------------------

// Texts in the arena, numbers as texts too; "": NULL.
typedef struct CampaignRow {
    const char *experiment, *state, *reason, *created, *finished, *program_version, *numerics_version, *compiler,
        *commit, *host, *seed, *given, *resolved, *canonical, *hash; // given: the spec as the user wrote it
} CampaignRow;
Error campaign_row_read(Database *database, Arena *arena, CampaignRow *row, bool *found);
// For a repair: writes what the row has from the spec; inserts the row if it is gone. given: the spec as the user wrote
// it. Times, host and versions stay as they are.
Error campaign_row_restore(Database *database, const char *name, const Spec *spec, const char *given);

// Both texts are valid until the next one.
typedef struct Label {
    bool note;
    const char *text, *time; // time: of a note, else ""
} Label;
Cursor labels_tags(Database *database);  // in alphabetical order
Cursor labels_notes(Database *database); // in the order in which they were added
Cursor labels_all(Database *database);   // tags, then notes by time
bool label_next(Cursor *labels, Label *label);

Error tag_add(CampaignEdit *edit, const char *tag);    // one that is there stays as it is
Error tag_remove(CampaignEdit *edit, const char *tag); // one that is not there: nothing
Error note_add(CampaignEdit *edit, const char *text);  // with the time

// From what it was derived, with the present name of what was renamed: "verifies gait/41 (now walk)". "": from nothing.
Error origin_read(const CampaignLocation *location, Arena *arena, const char **text);
Cursor origins_for(Database *database, const char *purpose); // cells: trial, fitness; in the order of their notes
// Of a merge, within a transaction.
Error origin_note_merged(Store *store, const StoredCampaign *source);

// ---- a table of trials in a new database (trial_table.c) ------------------------------------------------------------

// columns[count] of `all`. Close it, also after an error, which trial_table_close gives back.
typedef struct TrialTable {
    Database *database;
    Cursor insert;
    int count;
} TrialTable;
Error trial_table_open(const char *path, const TrialColumns *all, const int *columns, int count, Arena *arena,
                       TrialTable *table);
Error trial_table_add(TrialTable *table, const Cursor *trial); // whose cells are these columns
Error trial_table_close(TrialTable *table, Error error);

// ---- unused pages, copies (database_upkeep.c) -----------------------------------------------------------------------

Error store_unused(const CampaignLocation *location, Arena *arena, int64_t *bytes); // in unused pages of the file
Error store_compact(const char *path, bool shared_fs); // gives unused pages back to the disk
// Error (user): a parameter and a metric need columns of the same name in the table trials, or it has too many columns.
Error rows_check_names(const Spec *spec);
Error store_copy(const char *from, const char *to); // of a database into a new file

#endif
