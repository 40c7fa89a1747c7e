// Trials that are stored: which, in what order, with which of their columns (trials.c).
#ifndef HOPSCOTCH_TRIALS_H
#define HOPSCOTCH_TRIALS_H

#include "cursor.h"
#include "rows.h"

// ---- conditions that users write ------------------------------------------------------------------------------------

// What --where gives of the columns; NULL: all trials. Error (user): it is no condition. Nothing that the user typed is
// part of the SQL: experiment/expression/sql.c writes it of the columns that there are, with a `?` for every constant.
typedef struct Condition {
    const char *sql;
    SqlValue *values; // [count]
    int count;
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

#endif
