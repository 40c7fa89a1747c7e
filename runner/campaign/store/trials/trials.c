// Queries of the table trials: which trials, in which order, with which columns (queries.h). Identifiers in these
// statements are quoted names of existing columns; all values are bound.
#include "../queries.h"
#include "../ground/rows.h"

#include "rank.h"
#include "trial_blocks.h"

#include <string.h>

// ---- conditions that users write ------------------------------------------------------------------------------------

Error condition_read(const TrialColumns *all, const char *text, Arena *arena, Condition *condition)
{
    const char **names = ARENA_NEW(arena, const char *, all->count + 1);
    const char **choices = ARENA_NEW(arena, const char *, all->count + 1);
    Expression *expression;
    *condition = (Condition){.sql = "1"};
    if (text == NULL) return error_none();
    condition->columns = ARENA_NEW(arena, int, all->count + 1);
    int n_numbers = 0, n = 0;
    for (int texts = 0; texts < 2; texts++) { // the scope has the names of numbers first
        for (int i = 0; i < all->count; i++) {
            if (all->is_text[i] != (texts == 1)) continue;
            names[n] = all->names[i];
            choices[n] = texts == 1 ? all->choices[i] : NULL;
            condition->columns[n++] = i;
        }
        if (texts == 0) n_numbers = n;
    }
    const Scope scope = {
        .names = names, .count = n_numbers, .texts = names + n_numbers, .n_texts = n - n_numbers, .choices = choices};
    TRY(expression_parse_text(text, "--where", &scope, arena, &expression));
    condition->expression = expression;
    condition->n_columns = n;
    return expression_sql(expression, arena, &condition->sql, &condition->values, &condition->count);
}

static void with_condition(Cursor *cursor, const Condition *condition)
{
    for (int i = 0; i < condition->count; i++) with_value(cursor, &condition->values[i]);
}

double cell_value(const Cursor *row, int column, const char *choices)
{
    if (choices == NULL) return cell_real(row, column);
    const int word = cell_is_null(row, column) ? -1 : words_find(choices, cell_text(row, column));
    return word >= 0 ? word : (double)__builtin_nan("");
}

// ---- rows -----------------------------------------------------------------------------------------------------------

Cursor trials_by_id(Database *database, const char *const *columns, int count, Arena *arena)
{
    const char *list = columns != NULL ? trial_columns_sql(columns, count, arena) : "*";
    return cursor_open(database, arena_format(arena, "SELECT %s FROM trials WHERE id = ?", list));
}

bool trial_at(Cursor *trials, int64_t id)
{
    with_integer(trials, id);
    return cursor_next(trials);
}

Cursor trials_between(Database *database, const char *const *columns, int count, Arena *arena)
{
    const char *list = trial_columns_sql(columns, count, arena);
    return cursor_open(database,
                       arena_format(arena, "SELECT %s, id FROM trials WHERE id BETWEEN ? AND ? ORDER BY id", list));
}

void trials_from(Cursor *trials, int64_t first, int64_t last)
{
    with_integer(trials, first);
    with_integer(trials, last);
}

// `table`, `where` and `order` are constants of the program.
static Cursor trials_where(const StoredCampaign *campaign, const char *table, const char *where, const char *order,
                           const char *const *columns, int count, int64_t most, Arena *arena)
{
    Cursor trials =
        cursor_open(campaign->database, arena_format(arena, "SELECT %s FROM %s WHERE %s ORDER BY %s LIMIT ?",
                                                     trial_columns_sql(columns, count, arena), table, where, order));
    with_integer(&trials, most);
    return trials;
}

// Of a campaign in blocks the best trials are rows. An error of the count shows in the query of trials too.
static const char *trials_table_of_best(Database *database, int64_t most)
{
    int64_t stored = 0;
    if (!trial_blocks_exist(database)) return "trials";
    const Error error = store_integer(database, "SELECT count(*) FROM main.best", 0, &stored);
    return error.kind == OK && most >= 0 && most <= stored ? "main.best" : "trials";
}

static const char *trials_order(const Spec *spec, Arena *arena)
{
    return arena_format(arena, "%s, id", rank_order(spec, RANK_COLUMNS_MAX).text);
}

Cursor trials_best(const StoredCampaign *campaign, const char *const *columns, int count, int64_t most, Arena *arena)
{
    return trials_where(campaign, trials_table_of_best(campaign->database, most), "fitness IS NOT NULL",
                        trials_order(&campaign->spec, arena), columns, count, most, arena);
}

Cursor trials_survivors(const StoredCampaign *campaign, const char *const *columns, int count, int64_t most,
                        Arena *arena)
{
    return trials_where(campaign, "trials", arena_format(arena, "%s IS NULL", rows_outcome_name(&campaign->spec)),
                        rank_order_of_equals(&campaign->spec), columns, count, most, arena);
}

Cursor trials_best_of_groups(const StoredCampaign *campaign, const char *const *columns, int count,
                             const char *const *groups, int n_groups, int64_t most, Arena *arena)
{
    const char *group = trial_columns_sql(groups, n_groups, arena);
    Cursor trials = cursor_open(
        campaign->database,
        arena_format(arena,
                     "SELECT %s, place FROM (SELECT *, row_number() OVER (PARTITION BY %s ORDER BY %s) AS place "
                     "FROM trials WHERE fitness IS NOT NULL) WHERE place <= ? ORDER BY %s, place",
                     trial_columns_sql(columns, count, arena), group, trials_order(&campaign->spec, arena), group));
    with_integer(&trials, most);
    return trials;
}

Cursor trials_in_turn(const StoredCampaign *campaign, bool succeeded, const char *const *columns, int count,
                      Arena *arena)
{
    const char *where = succeeded ? arena_format(arena, "failure = 'none'%s", rank_meets(&campaign->spec)) : "1";
    return cursor_open(campaign->database, arena_format(arena, "SELECT %s FROM trials WHERE %s ORDER BY id",
                                                        trial_columns_sql(columns, count, arena), where));
}

static Cursor trials_select(Database *database, const Condition *where, const char *tail, const char *const *columns,
                            int count, Arena *arena)
{
    Cursor trials = cursor_open(database, arena_format(arena, "SELECT %s FROM trials WHERE %s%s",
                                                       trial_columns_sql(columns, count, arena), where->sql, tail));
    with_condition(&trials, where);
    return trials;
}

Cursor trials_of(Database *database, const Condition *where, const char *const *columns, int count, Arena *arena)
{
    return trials_select(database, where, "", columns, count, arena);
}

Cursor trials_of_best(const StoredCampaign *campaign, const Condition *where, TrialOrder by, const char *const *columns,
                      int count, int64_t most, Arena *arena)
{
    const char *column = sql_identifier(arena, by.column);
    const char *tail = arena_format(arena, " AND %s IS NOT NULL ORDER BY %s%s, %s LIMIT ?", column, column,
                                    by.descending ? " DESC" : "", rank_order_of_equals(&campaign->spec));
    Cursor trials = trials_select(campaign->database, where, tail, columns, count, arena);
    with_integer(&trials, most);
    return trials;
}

// ---- numbers --------------------------------------------------------------------------------------------------------

bool kept_partly(const Database *database) { return database_has(database, "kept_rows", "best"); }

Error trials_count(Database *database, int64_t *count)
{
    if (!kept_partly(database)) return trials_rows(database, count);
    return store_integer(database, "SELECT ifnull(sum(trials), 0) FROM batches", 0, count);
}

Error trials_rows(Database *database, int64_t *rows)
{
    return trial_blocks_exist(database) ? trial_blocks_count(database, rows)
                                        : store_integer(database, "SELECT count(*) FROM main.trials", 0, rows);
}

Error trials_count_of(Database *database, const Condition *where, Arena *arena, int64_t *count)
{
    Cursor trials = cursor_open(database, arena_format(arena, "SELECT count(*) FROM trials WHERE %s", where->sql));
    with_condition(&trials, where);
    *count = 0;
    next_integer(&trials, count);
    return cursor_close(&trials);
}

Error trials_last(Database *database, int64_t *id)
{
    return store_integer(
        database, kept_partly(database) ? "SELECT max(last_trial) FROM batches" : "SELECT max(id) FROM trials", 0, id);
}

Error trials_last_told(Database *database, bool by_batches, int64_t end, int64_t *id)
{
    by_batches = by_batches || kept_partly(database);
    Cursor last = cursor_open(database, by_batches ? "SELECT max(last_trial) FROM batches"
                                                   : "SELECT max(id) FROM trials WHERE id < ?");
    if (!by_batches) with_integer(&last, end);
    *id = cursor_next(&last) && !cell_is_null(&last, 0) ? cell_integer(&last, 0) : -1;
    return cursor_close(&last);
}

Error trials_any_success(const StoredCampaign *campaign, bool *any)
{
    char sql[96];
    int64_t rows = 0;
    snprintf(sql, sizeof sql, "SELECT 1 FROM trials WHERE %s IS NOT NULL LIMIT 1", rows_outcome_name(&campaign->spec));
    TRY(store_integer(campaign->database, sql, 0, &rows));
    *any = rows > 0;
    return error_none();
}

Error trials_widest(Database *database, const char *column, Arena *arena, int64_t *width)
{
    const char *sql = arena_format(arena, "SELECT max(length(%s)) FROM trials", sql_identifier(arena, column));
    return store_integer(database, sql, 0, width);
}

Error trial_fitness(Database *database, int64_t id, double *fitness, bool *found)
{
    Cursor trials = cursor_open(database, "SELECT fitness FROM trials WHERE id = ?");
    *found = trial_at(&trials, id);
    if (*found) *fitness = cell_real(&trials, 0);
    return cursor_close(&trials);
}

Error trial_replicates(const StoredCampaign *campaign, int64_t id, int *count)
{
    *count = campaign->spec.replicates.count;
    if (!spec_races(&campaign->spec)) return error_none();
    Cursor trials = cursor_open(campaign->database, "SELECT replicates FROM trials WHERE id = ?");
    if (trial_at(&trials, id)) *count = (int)cell_integer(&trials, 0);
    return cursor_close(&trials);
}

Error trials_worst(const StoredCampaign *campaign, Arena *arena, WorstTrial *worst)
{
    Database *database = campaign->database;
    *worst = (WorstTrial){.id = -1, .failure = "none"};
    TRY(trials_count(database, &worst->trials));
    TRY(store_integer(database, "SELECT count(*) FROM trials WHERE fitness IS NOT NULL", 0, &worst->succeeded));
    Cursor trials = cursor_open(
        database,
        arena_format(arena, "SELECT id, fitness, failure FROM trials ORDER BY fitness IS NOT NULL, %s, id LIMIT 1",
                     rank_order_of_worst(&campaign->spec).text));
    if (cursor_next(&trials)) {
        worst->id = cell_integer(&trials, 0);
        worst->fitness = cell_real(&trials, 1);
        worst->failure = arena_copy(arena, cell_text(&trials, 2));
    }
    return cursor_close(&trials);
}

Cursor trials_best_of_ranges(Database *database, bool greatest, int64_t ranges)
{
    Cursor best = cursor_open(database, greatest ? "SELECT max(fitness) FROM trials GROUP BY id * ? / (SELECT max(id) "
                                                   "+ 1 FROM trials) ORDER BY min(id)"
                                                 : "SELECT min(fitness) FROM trials GROUP BY id * ? / (SELECT max(id) "
                                                   "+ 1 FROM trials) ORDER BY min(id)");
    with_integer(&best, ranges);
    return best;
}

// ---- whole rows -----------------------------------------------------------------------------------------------------

Cursor trial_rows(Database *database, const Spec *spec, Arena *arena)
{
    return cursor_open(database, rows_select_sql(spec, arena, "ORDER BY id"));
}

bool trial_rows_next(Cursor *trials, const Spec *spec, TrialRows *rows, int64_t row)
{
    if (!cursor_next(trials)) return false;
    rows_read(spec, trials, rows, row);
    return true;
}

Cursor trial_rows_by_id(Database *database, const Spec *spec, Arena *arena)
{
    return cursor_open(database, rows_select_sql(spec, arena, "WHERE id = ?"));
}

bool trial_row_at(Cursor *trials, int64_t id, const Spec *spec, TrialRows *rows, int64_t row)
{
    with_integer(trials, id);
    return trial_rows_next(trials, spec, rows, row);
}

Cursor trial_rows_wanted(Database *database, const Spec *spec, Arena *arena)
{
    return cursor_open(database, rows_select_sql(spec, arena,
                                                 "WHERE id IN (SELECT id FROM temp.wanted WHERE id > ? "
                                                 "ORDER BY id LIMIT ?) ORDER BY id"));
}

void trial_rows_after(Cursor *trials, int64_t id, int64_t most)
{
    with_integer(trials, id);
    with_integer(trials, most);
}

Cursor trial_results_by_id(Database *database, const Spec *spec, Arena *arena)
{
    const char *columns = spec_has_metric(spec, "survived") ? "survived" : "0.0";
    for (int i = 0; i < rows_objectives(spec); i++)
        columns = arena_format(arena, "%s, %s", columns, rows_objective_name(i));
    for (int i = 1; i < rows_constraints(spec); i++)
        columns = arena_format(arena, "%s, %s", columns, rows_constraint_name(i).text);
    return cursor_open(database, arena_format(arena, "SELECT fitness, %s FROM trials WHERE id = ?", columns));
}

bool trial_result_at(Cursor *results, const Spec *spec, Trials *trials, int64_t i)
{
    const int objectives = rows_objectives(spec), constraints = spec->n_constraints;
    if (!trial_at(results, trials->id[i])) return false;
    trials->fitness[i] = cell_real(results, 0);
    trials->survived[i] = cell_real(results, 1);
    for (int k = 0; k < objectives; k++) trials->objective[i * objectives + k] = cell_real(results, 2 + k);
    for (int k = 0; k < constraints; k++)
        trials->constraint[i * constraints + k] = cell_real(results, 2 + objectives + k);
    while (results->row) cursor_next(results); // there is only one
    return true;
}

Error trial_row_read(const StoredCampaign *campaign, int64_t id, Arena *arena, TrialRows *row)
{
    rows_take(&campaign->spec, 1, arena, row);
    Cursor trials = trial_rows_by_id(campaign->database, &campaign->spec, arena);
    row->count = trial_row_at(&trials, id, &campaign->spec, row, 0);
    return cursor_close(&trials);
}

// ---- replicates -----------------------------------------------------------------------------------------------------

Cursor replicates_by_trial(Database *database)
{
    return cursor_open(database, "SELECT * FROM replicates WHERE trial = ? ORDER BY replicate");
}

Cursor replicates_of(Database *database, int64_t trial)
{
    Cursor replicates = replicates_by_trial(database);
    with_integer(&replicates, trial);
    return replicates;
}

Error replicates_take(Cursor *replicates, const Spec *spec, int64_t trial, int most, double *metric, double *drawn,
                      int *failure, int *count)
{
    const int n_metrics = spec->configured.n_metrics, n_perturb = spec->replicates.n_perturb;
    int r = 0;
    with_integer(replicates, trial);
    for (; r < most && cursor_next(replicates); r++) {
        failure[r] = configured_failure(&spec->configured, cell_text(replicates, REPLICATE_FAILURE));
        for (int m = 0; m < n_metrics; m++)
            metric[(ptrdiff_t)r * n_metrics + m] = cell_real(replicates, REPLICATE_METRICS + m);
        for (int i = 0; i < n_perturb; i++)
            drawn[(ptrdiff_t)r * n_perturb + i] = cell_real(replicates, REPLICATE_METRICS + n_metrics + i);
    }
    while (replicates->row) cursor_next(replicates);
    *count = r;
    return replicates->error;
}

Error replicates_take_raced(Cursor *replicates, const Spec *spec, int64_t trial, int had, double *metric, double *drawn,
                            int *failure)
{
    int count = 0;
    TRY(replicates_take(replicates, spec, trial, had, metric, drawn, failure, &count));
    if (count == had) return error_none();
    return error_make(ERROR_MACHINE,
                      "trial %lld has %d stored replicates, and its race needs %d: the database is damaged",
                      (long long)trial, count, had);
}

Error replicates_digest(const StoredCampaign *campaign, int64_t trial, uint64_t *digest)
{
    *digest = 0;
    if (!campaign->spec.replicates.store) return error_none();
    Cursor replicates = replicates_of(campaign->database, trial);
    while (cursor_next(&replicates)) *digest = row_digest_integer(*digest, (int64_t)cells_digest(&replicates, 0));
    return cursor_close(&replicates);
}

Error replicates_read(const StoredCampaign *campaign, int64_t trial, TrialRows *rows)
{
    const Spec *spec = &campaign->spec;
    const int metrics = spec->configured.n_metrics;
    if (!spec->replicates.store) return error_none();
    for (int r = 0; r < spec->replicates.count; r++) rows->replicate_trial[r] = rows->id[0];
    Cursor replicates = replicates_of(campaign->database, trial);
    for (int r = 0; r < spec->replicates.count && cursor_next(&replicates); r++) {
        const int32_t failure = rows_failure_code(spec, cell_text(&replicates, REPLICATE_FAILURE));
        if (failure >= 0) rows->replicate_failure[r] = failure;
        for (int m = 0; m < metrics; m++)
            rows->replicate_metric[m * rows->replicate_stride + r] = cell_real(&replicates, REPLICATE_METRICS + m);
        for (int d = 0; d < spec->replicates.n_perturb; d++)
            rows->replicate_drawn[d * rows->replicate_stride + r] =
                cell_real(&replicates, REPLICATE_METRICS + metrics + d);
    }
    return cursor_close(&replicates);
}
