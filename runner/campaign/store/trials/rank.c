// See rank.h.
#include "rank.h"

#include "../ground/rows.h"
#include "trial_blocks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// What makes a trial better: in a race more replicates and, if the spec says so, fewer of them that failed; less
// violation of the constraints, then the objectives, then a longer time survived.
typedef struct RankOf {
    bool races, by_failures, violates, survives;
    const bool *maximize; // [objectives]
    int objectives;
} RankOf;

static int rank_terms_of(const RankOf *of, TrialOrder *columns)
{
    const bool *maximize = of->maximize;
    const int objectives = of->objectives;
    int count = 0;
    if (of->races) columns[count++] = (TrialOrder){"replicates", true};
    if (of->by_failures) columns[count++] = (TrialOrder){"n_failed", false};
    if (of->violates) columns[count++] = (TrialOrder){"violation", false};
    if (objectives == 1) columns[count++] = (TrialOrder){"fitness", maximize[0]};
    if (objectives == 1 && of->survives) columns[count++] = (TrialOrder){"survived", true};
    for (int i = 0; objectives > 1 && i < objectives; i++)
        columns[count++] = (TrialOrder){rows_objective_name(i), maximize[i]};
    return count;
}

int rank_columns(const Spec *spec, int most, TrialOrder *columns)
{
    const RankOf of = {.races = race_of_all(spec),
                       .by_failures = race_of_all(spec) && spec->replicates.race.by == RACE_BY_FAILURES,
                       .violates = spec->n_constraints > 0,
                       .survives = spec_has_metric(spec, "survived"),
                       .maximize = spec->objective.maximize,
                       .objectives = spec->objective.count};
    const int count = rank_terms_of(&of, columns);
    return count < most ? count : most;
}

// ---- as SQL ---------------------------------------------------------------------------------------------------------

static RankText rank_text(const TrialOrder *columns, int count, bool reversed)
{
    RankText order = {""};
    for (int i = 0, at = 0; i < count; i++)
        at += snprintf(order.text + at, sizeof order.text - (size_t)at, "%s\"%s\"%s", i > 0 ? ", " : "",
                       columns[i].column, columns[i].descending != reversed ? " DESC" : "");
    return order;
}

RankText rank_order(const Spec *spec, int most)
{
    TrialOrder columns[RANK_COLUMNS_MAX];
    return rank_text(columns, rank_columns(spec, most, columns), false);
}

RankText rank_order_of_worst(const Spec *spec)
{
    TrialOrder columns[RANK_COLUMNS_MAX];
    return rank_text(columns, rank_columns(spec, RANK_COLUMNS_MAX, columns), true);
}

const char *rank_order_of_equals(const Spec *spec)
{
    return spec_has_metric(spec, "survived") ? "survived DESC, id" : "id";
}

const char *rank_meets(const Spec *spec) { return spec->n_constraints > 0 ? " AND violation = 0" : ""; }

const char *rank_searches(bool maximize)
{
    return maximize ? "SELECT search FROM rounds GROUP BY search ORDER BY min(best) IS NULL, max(best) DESC, search"
                    : "SELECT search FROM rounds GROUP BY search ORDER BY min(best) IS NULL, min(best), search";
}

// With one objective the section of the resolved text begins with its direction.
Error store_maximizes(Database *database, bool *maximizes)
{
    int64_t found = 0;
    TRY(store_integer(database,
                      "SELECT instr(char(10) || resolved, char(10) || 'objective:' || char(10) || '  maximize:') > 0 "
                      "FROM campaign",
                      0, &found));
    *maximizes = found > 0;
    return error_none();
}

// The same of a race, whose resolved text is "{start: 4, keep: 0.5, by: failures}".
static Error race_is_by_failures(Database *database, bool *by_failures)
{
    int64_t found = 0;
    TRY(store_integer(database, "SELECT instr(resolved, ', by: failures}') > 0 FROM campaign", 0, &found));
    *by_failures = found > 0;
    return error_none();
}

Error rank_best(Database *database, int64_t *id, double *fitness)
{
    char sql[512];
    const char *table = trial_blocks_table(database);
    const bool violates = database_has(database, table, "violation");
    bool maximizes = false, by_failures = false;
    TrialOrder columns[RANK_COLUMNS_MAX];
    TRY(store_maximizes(database, &maximizes));
    TRY(race_is_by_failures(database, &by_failures));
    const bool races = database_has(database, "race", NULL);
    const RankOf of = {.races = races,
                       .by_failures = races && by_failures,
                       .violates = violates,
                       .survives = database_has(database, table, "survived"),
                       .maximize = &maximizes,
                       .objectives = 1};
    const int count = rank_terms_of(&of, columns);
    snprintf(sql, sizeof sql, "SELECT id, fitness FROM %s WHERE fitness IS NOT NULL%s ORDER BY %s, id LIMIT 1", table,
             violates ? " AND violation = 0" : "", rank_text(columns, count, false).text);
    Cursor best = cursor_open(database, sql);
    if (next_integer(&best, id)) *fitness = cell_real(&best, 1);
    return cursor_close(&best);
}

// ---- as keys --------------------------------------------------------------------------------------------------------

static const double *rank_column(const Spec *spec, const TrialRows *rows, const char *name)
{
    int metric = 0;
    if (strcmp(name, "fitness") == 0) return rows->fitness;
    if (strcmp(name, "violation") == 0) return rows->constraint;
    for (int i = 0; i < rows_objectives(spec); i++) {
        if (strcmp(name, rows_objective_name(i)) == 0) return rows->objective + i * rows->stride;
    }
    while (strcmp(spec->configured.metrics[metric].name, name) != 0) metric++; // survived
    return rows->metric + metric * rows->stride;
}

RankTerms rank_terms(const Spec *spec, const TrialRows *rows)
{
    TrialOrder columns[RANK_COLUMNS_MAX];
    RankTerms terms = {.count = rank_columns(spec, ORDER_TERMS_MAX, columns),
                       .outcome = rank_column(spec, rows, rows_outcome_name(spec))};
    for (int i = 0; i < terms.count; i++) {
        terms.values[i] = rank_column(spec, rows, columns[i].column);
        terms.descending[i] = columns[i].descending;
    }
    return terms;
}

bool rank_row(const RankTerms *terms, int64_t row, FoundRow *found)
{
    if (isnan(terms->outcome[row])) return false;
    for (int k = 0; k < terms->count; k++)
        found->key[k] = order_key(true, terms->descending[k], (Cell){.real = terms->values[k][row]});
    return true;
}

const char *rank_list(const Spec *spec, Arena *arena)
{
    TrialOrder columns[RANK_COLUMNS_MAX];
    const char *names[RANK_COLUMNS_MAX];
    const int count = rank_columns(spec, ORDER_TERMS_MAX, columns);
    for (int i = 0; i < count; i++) names[i] = columns[i].column;
    return trial_columns_sql(names, count, arena);
}

void rank_stored(const Spec *spec, const Cursor *row, int at, FoundRow *found)
{
    TrialOrder columns[RANK_COLUMNS_MAX];
    const int count = rank_columns(spec, ORDER_TERMS_MAX, columns);
    for (int k = 0; k < count; k++)
        found->key[k] = order_key(true, columns[k].descending, (Cell){.real = cell_real(row, at + k)});
}
