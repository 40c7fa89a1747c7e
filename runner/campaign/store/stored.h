// What is stored, in words: what the other folders of campaign/ and the floors above ask the store. A function that
// gives a Cursor says what rows it has; the function beside it gives the next one, typed.
#ifndef HOPSCOTCH_STORED_H
#define HOPSCOTCH_STORED_H

#include "../campaign.h"

// ---- conditions that users write ------------------------------------------------------------------------------------

// What --where gives of the columns; NULL: all trials. Error (user): it is no condition. Nothing that the user typed is
// part of the SQL: experiment/expression/sql.c writes it of the columns that there are, with a `?` for every constant.
typedef struct Condition {
    const char *sql;
    SqlValue *values; // [count]
    int count;
    const char *const *columns; // [n_columns] that it names, in the order in which an index has them best
    int n_columns;
} Condition;
Error condition_read(const TrialColumns *all, const char *text, Arena *arena, Condition *condition);

// ---- rows -----------------------------------------------------------------------------------------------------------
// columns[count]: their names. A row has a cell for each. `most`: rows, at most; -1: all.

typedef struct TrialOrder {
    const char *column;
    bool descending; // missing values are last whichever way
} TrialOrder;

// By id, whatever the order: trial_at gives whether there is that trial, and stands on it. columns NULL: all.
Cursor trials_by_id(Database *database, const char *const *columns, int count, Arena *arena);
bool trial_at(Cursor *trials, int64_t id);
// The best with a fitness first, of one objective.
Cursor trials_best(const StoredCampaign *campaign, const char *const *columns, int count, int64_t most, Arena *arena);
// The best of each group of trials that have these values in common, with the place in its group in a last cell.
Cursor trials_best_of_groups(const StoredCampaign *campaign, const char *const *columns, int count,
                             const char *const *groups, int n_groups, int64_t most, Arena *arena);
// Those that failed; the one that survived longest first.
Cursor trials_survivors(const StoredCampaign *campaign, const char *const *columns, int count, int64_t most,
                        Arena *arena);
// By id, all or those that did not fail and meet the constraints.
Cursor trials_in_turn(const StoredCampaign *campaign, bool good, const char *const *columns, int count, Arena *arena);
// Those of a condition: in any order; by `order` and then the id.
Cursor trials_of(Database *database, const Condition *where, const char *const *columns, int count, Arena *arena);
Cursor trials_ordered(Database *database, const Condition *where, const TrialOrder *order, int n_order,
                      const char *const *columns, int count, int64_t most, Arena *arena);
// Whether the database has an index that serves such a query.
Error trials_ordered_served(Database *database, const Condition *where, const TrialOrder *order, int n_order,
                            Arena *arena, bool *served);
// And the best of them by a column that is not missing.
Cursor trials_of_best(const StoredCampaign *campaign, const Condition *where, TrialOrder by, const char *const *columns,
                      int count, int64_t most, Arena *arena);

// ---- numbers --------------------------------------------------------------------------------------------------------

Error trials_count(Database *database, int64_t *count);
Error trials_count_of(Database *database, const Condition *where, Arena *arena, int64_t *count);
Error trials_last(Database *database, int64_t *id); // 0 if there is none
// The last that a search was told, by the batches; or by the ids below `end` that are there. -1: none.
Error trials_last_told(Database *database, bool by_batches, int64_t end, int64_t *id);
Error trials_any_good(const StoredCampaign *campaign, bool *any);
// Characters of the longest text in a column.
Error trials_widest(Database *database, const char *column, Arena *arena, int64_t *width);
// *found: there is such a trial. NaN: it failed.
Error trial_fitness(Database *database, int64_t id, double *fitness, bool *found);
// The worst trial, one that failed before all others; *id: -1 if there is none. And how many have a fitness.
typedef struct WorstTrial {
    int64_t trials, good, id;
    double fitness;
    const char *failure;
} WorstTrial;
Error trials_worst(const StoredCampaign *campaign, Arena *arena, WorstTrial *worst);
// The greatest or least fitness of each of `parts` parts of the ids, in their order.
Cursor trials_best_of_parts(Database *database, bool greatest, int64_t parts);

// ---- whole rows -----------------------------------------------------------------------------------------------------

// Every column, as TrialRows has them: by id, one after the other.
Cursor trial_rows(Database *database, const Spec *spec, Arena *arena);
bool trial_rows_next(Cursor *trials, const Spec *spec, TrialRows *rows, int64_t row);
// And of one id (trial_row_at), whatever the order.
Cursor trial_rows_by_id(Database *database, const Spec *spec, Arena *arena);
bool trial_row_at(Cursor *trials, int64_t id, const Spec *spec, TrialRows *rows, int64_t row);
// Those whose arrays are wanted (record_list), block by block: after trial_rows_after(id, n) the next n behind that id.
Cursor trial_rows_wanted(Database *database, const Spec *spec, Arena *arena);
void trial_rows_after(Cursor *trials, int64_t id, int64_t most);
// What a search is told of a trial, whatever the order, into trials[i]; false: there is no such row.
Cursor trial_results_by_id(Database *database, const Spec *spec, Arena *arena);
bool trial_result_at(Cursor *results, const Spec *spec, Trials *trials, int64_t i);
Error trial_row_read(const StoredCampaign *campaign, int64_t id, Arena *arena, TrialRows *row); // row->count 0: none

// ---- replicates, where they are stored ------------------------------------------------------------------------------

// Of a trial, in order: cells by place, and behind them the names of the columns.
enum { REPLICATE_TRIAL, REPLICATE_NUMBER, REPLICATE_FAILURE, REPLICATE_METRICS };
Cursor replicates_of(Database *database, int64_t trial);
// A digest of all columns of all replicates of a trial; 0 if none are kept.
Error replicates_digest(const StoredCampaign *campaign, int64_t trial, uint64_t *digest);
Error replicates_read(const StoredCampaign *campaign, int64_t trial, TrialRows *rows); // of row 0

// ---- where arrays lie: shards, and the lanes in them (places.c) -----------------------------------------------------

// A shard that is committed; its texts are valid until the next one.
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

// The arrays of a lane: row `row` of a shard, whose name and digest are valid until the next one.
typedef struct ArrayPlace {
    int64_t trial, replicate, shard, row, samples;
    const char *name, *sha256;
    int64_t first; // samples of the lanes before it in its shard: only of places_of_trial
} ArrayPlace;
bool place_next(Cursor *places, ArrayPlace *place);
Cursor places_of_trial(Database *database, RecordKind kind, int64_t trial);
Cursor places_of_shard(Database *database, RecordKind kind, int64_t shard); // by row; without the shard's name
// Of trials in the temporary table `wanted` (record_ask), by trial.
Cursor places_wanted(Database *database, const Recording *recording, Arena *arena);
// By shard and row, of arrays that have the columns of the recording; and how many places there are in all.
Cursor places_alike(Database *database, const Recording *recording, Arena *arena);
// Inserts places: those that are there stay.
Cursor places_filler(Database *database, const Recording *recording, Arena *arena);
void place_add(Cursor *filler, const ShardLane *lane, int64_t shard, int64_t row, const char *recipe);
Error places_count(Database *database, const Recording *recording, Arena *arena, int64_t *count);

// ---- searches that learn (searches.c), outer grids, sensitivities ---------------------------------------------------

// The state of all searches after the last tell. *found: there is one, of *size bytes; copied if they are at most
// `most`.
Error search_state_read(Database *database, void *state, size_t most, size_t *size, bool *found);
// Of a repair, within a transaction: the state anew; the other searches, which have none, by the rounds; no rounds.
Error search_state_restore(Database *database, const Search *search);
Error searches_restore_others(Database *database);
Error rounds_clear(Database *database);

Error searches_have_rounds(Database *database, bool *have); // none have in databases of schemas before 4
Error searches_count(Database *database, int64_t *count);   // of those that have rounds

// A search at its last round. Of several objectives it has a front in the place of a step size; what it has not is 0
// or NaN.
typedef struct SearchProgress {
    int64_t search, generations, evaluations, population, front,
        ends; // ends: rounds with which it, or a restart, ended
    double sigma, condition, best, hypervolume;
    const char *stop; // why it ended, "" if it goes on; valid until the next one
} SearchProgress;
typedef enum SearchOrder {
    SEARCHES_BY_LEAST,
    SEARCHES_BY_GREATEST,
    SEARCHES_BY_VOLUME,
    SEARCHES_BY_NUMBER
} SearchOrder;
Cursor searches_progress(Database *database, SearchOrder order, int64_t most); // -1: all
bool search_progress_next(Cursor *searches, SearchProgress *progress);

// The best fitness of each search, in order of their numbers; NaN: it has none.
Error searches_best(const StoredCampaign *campaign, Arena *arena, double **best, int64_t *count);

// Which rounds there are. best: the number of the best search, by hypervolume or fitness; 0 if there is none.
typedef struct RoundsKept {
    int64_t rounds, searches, best;
    bool fronts;
} RoundsKept;
Error rounds_kept(Database *database, bool several, bool maximize, RoundsKept *kept);

typedef struct RoundRow {
    int64_t search, round;
    double evaluations, best, sigma, condition, hypervolume; // NaN: it has none
    Bytes debug;                                             // doubles; valid until the next one
} RoundRow;
// Of the best `searches`, by search and round: each `every`-th round and those that ended something.
Cursor rounds_of_best(Database *database, const RoundsKept *kept, bool maximize, int64_t every, int64_t searches,
                      int64_t most, Arena *arena);
bool round_next(Cursor *rounds, RoundRow *round);

// Its parameters, at most `most`; none in databases of schemas before 6.
Error outer_names(Database *database, int most, Arena *arena, const char **names, int *count);
// What searches have for them: outer_value; NaN: that is not known.
Cursor outer_values(Database *database);
double outer_value(Cursor *values, int64_t search, const char *parameter);

// A measure of a parameter; texts are valid until the next one.
typedef struct StoredMeasure {
    const char *parameter, *measure;
    double value, low, high; // with an interval of 95 %
    int64_t blocks, left_out;
} StoredMeasure;
Cursor sensitivity_by_parameter(Database *database); // the parameter that matters most first
Cursor sensitivity_by_measure(Database *database, int64_t most);
bool sensitivity_next(Cursor *rows, StoredMeasure *row);

// ---- batches (batches.c) --------------------------------------------------------------------------------------------

Error batches_count(Database *database, int64_t *count);

// s; 0 in databases of schemas before 4, which do not have copy and search.
typedef struct BatchRow {
    double wall, kernel, copy, search;
    int64_t trials;
} BatchRow;
Error batches_in_turn(Database *database, Cursor *batches);
bool batch_next(Cursor *batches, BatchRow *batch);

// Cells: device, driver or instructions, batches, trials, lanes, kernel seconds.
Cursor batches_by_device(Database *database);
Error batches_devices(Database *database, Arena *arena, const char **devices); // "A,B"

// A batch of trials that were taken from another campaign. trials: how many; first, last: their ids.
typedef struct MergedTrials {
    int64_t first, last, trials, failures;
} MergedTrials;
Error batch_note_merged(Store *store, const char *campaign, const MergedTrials *merged);
// Of a repair: they say how many trials there are. If theirs is another number, one batch takes the place of all.
Error batches_restore(Database *database, const Spec *spec, Arena *arena);

// ---- what the campaign says of itself, and people of it (campaign_row.c, labels.c, origin.c) ------------------------

// Texts in the arena, numbers as texts too; "" where there is nothing.
typedef struct CampaignRow {
    const char *experiment, *state, *reason, *created, *finished, *program_version, *numerics_version, *compiler,
        *commit, *host, *seed, *given, *resolved, *canonical, *hash; // given: the spec as it was
} CampaignRow;
Error campaign_row_read(Database *database, Arena *arena, CampaignRow *row, bool *found);
// Of a repair: the row as the spec has it, made anew if it is gone. given: the spec's text. What only the row told
// (times, host, versions) is kept as it stands.
Error campaign_row_restore(Database *database, const char *name, const Spec *spec, const char *given);

// Both texts are valid until the next one.
typedef struct Label {
    bool note;
    const char *text, *time; // time: of a note, else ""
} Label;
Cursor labels_tags(Database *database);  // in order of the alphabet
Cursor labels_notes(Database *database); // as they were added
Cursor labels_all(Database *database);   // tags, then notes by time
bool label_next(Cursor *labels, Label *label);

Error tag_add(CampaignEdit *edit, const char *tag);
Error tag_remove(CampaignEdit *edit, const char *tag);
Error note_add(CampaignEdit *edit, const char *text); // with the time

// Of what it was made, with the present name of what was renamed: "verifies gait/41 (now walk)". "": of nothing.
Error origin_read(const CampaignPlace *place, Arena *arena, const char **text);
// Of a merge, within a transaction.
Error origin_note_merged(Store *store, const StoredCampaign *source);

// ---- indexes that slow queries make (trials_index.c) ----------------------------------------------------------------

// A query that was slow (database_was_slow) makes an index of the columns that it asked for. The next run that adds
// trials drops these indexes, because SQLite would keep them up row by row.
enum { INDEX_COLUMNS_MAX = 8, INDEXES_MAX = 4, BEST_COLUMNS_MAX = OBJECTIVES_MAX + 2 };

// Makes one, and drops the oldest if there are INDEXES_MAX. Error: the campaign's lock is held. *made: false if such an
// index exists, if it would have more than INDEX_COLUMNS_MAX columns, if the campaign was killed, or if the disk has no
// room. It is given up when `interrupted` gives other than 0.
Error trials_index_make(const CampaignPlace *place, const TrialOrder *columns, int count, int (*interrupted)(void),
                        Arena *arena, bool *made);
Error trials_indexes_drop(Database *database, Arena *arena);
// The columns that `best` and fronts ask for, in order. columns[BEST_COLUMNS_MAX].
int trials_best_columns(const Spec *spec, TrialOrder *columns);
// "x1, f DESC", quoted; for people without quotes.
const char *trials_index_columns(const TrialOrder *columns, int count, bool quoted, Arena *arena);

// ---- unused pages, copies (database_upkeep.c) -----------------------------------------------------------------------

Error store_unused(const CampaignPlace *place, Arena *arena, int64_t *bytes); // of pages that hold nothing
Error store_compact(const char *path, bool shared_fs);                        // gives them back to the disk
Error store_copy(Database *database, const char *path);                       // as it is now, into a new file

#endif
