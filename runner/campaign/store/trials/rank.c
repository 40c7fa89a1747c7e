// See rank.h.
#include "rank.h"

#include "../ground/rows.h"

#include <math.h>
#include <string.h>

int trials_best_columns(const Spec *spec, TrialOrder *columns)
{
    const bool several = spec_several(spec);
    int count = 0;
    if (spec->n_constraints > 0) columns[count++] = (TrialOrder){"violation", false};
    for (int i = 0; i < rows_objectives(spec); i++)
        columns[count++] = (TrialOrder){rows_objective_name(i), spec->objective.maximize[i]};
    if (!several) columns[count++] = (TrialOrder){"fitness", spec->objective.maximize[0]};
    if (!several && spec_has_metric(spec, "survived")) columns[count++] = (TrialOrder){"survived", true};
    return count;
}

const char *trials_columns_order(const TrialOrder *columns, int count, Arena *arena)
{
    const char *list = "";
    for (int i = 0; i < count; i++)
        list = arena_format(arena, "%s%s%s%s", list, i > 0 ? ", " : "", sql_identifier(arena, columns[i].column),
                            columns[i].descending ? " DESC" : "");
    return list;
}

int rank_columns(const Spec *spec, TrialOrder *columns)
{
    const int count = trials_best_columns(spec, columns);
    return count < ORDER_TERMS_MAX ? count : ORDER_TERMS_MAX;
}

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
    TrialOrder columns[BEST_COLUMNS_MAX];
    RankTerms terms = {.count = rank_columns(spec, columns), .good = rank_column(spec, rows, rows_good_name(spec))};
    for (int i = 0; i < terms.count; i++) {
        terms.values[i] = rank_column(spec, rows, columns[i].column);
        terms.descending[i] = columns[i].descending;
    }
    return terms;
}

bool rank_row(const RankTerms *terms, int64_t row, FoundRow *found)
{
    if (isnan(terms->good[row])) return false;
    for (int k = 0; k < terms->count; k++)
        found->key[k] = order_key(true, terms->descending[k], (Cell){.real = terms->values[k][row]});
    return true;
}

const char *rank_list(const Spec *spec, Arena *arena)
{
    TrialOrder columns[BEST_COLUMNS_MAX];
    const char *names[BEST_COLUMNS_MAX];
    const int count = rank_columns(spec, columns);
    for (int i = 0; i < count; i++) names[i] = columns[i].column;
    return trial_columns_sql(names, count, arena);
}

void rank_stored(const Spec *spec, const Cursor *row, int at, FoundRow *found)
{
    TrialOrder columns[BEST_COLUMNS_MAX];
    const int count = rank_columns(spec, columns);
    for (int k = 0; k < count; k++)
        found->key[k] = order_key(true, columns[k].descending, (Cell){.real = cell_real(row, at + k)});
}
