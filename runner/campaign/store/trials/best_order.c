// Which trial is better, as SQL.
#include "best_order.h"

#include "../ground/cursor.h"
#include "trial_blocks.h"

const char *store_best_order(const Spec *spec)
{
    // by whether there are constraints, the fitness is maximised, trials have a time that they survived
    static const char *const orders[2][2][2] = {
        {{"fitness, id", "fitness, survived DESC, id"}, {"fitness DESC, id", "fitness DESC, survived DESC, id"}},
        {{"violation, fitness, id", "violation, fitness, survived DESC, id"},
         {"violation, fitness DESC, id", "violation, fitness DESC, survived DESC, id"}}};
    return orders[spec->n_constraints > 0][spec->objective.maximize[0]][spec_has_metric(spec, "survived")];
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

const char *store_worst_order(const Spec *spec)
{
    static const char *const orders[2][2] = {{"fitness DESC, id", "fitness, id"},
                                             {"violation DESC, fitness DESC, id", "violation DESC, fitness, id"}};
    return orders[spec->n_constraints > 0][spec->objective.maximize[0]];
}

const char *store_meets(const Spec *spec) { return spec->n_constraints > 0 ? " AND violation = 0" : ""; }

Error store_take_best(Database *database, const char *sql, int64_t *id, double *fitness)
{
    Cursor best = cursor_open(database, sql);
    if (next_integer(&best, id)) *fitness = cell_real(&best, 1);
    return cursor_close(&best);
}

Error store_best(Database *database, int64_t *id, double *fitness)
{
    char sql[256];
    const char *table = trial_blocks_table(database);
    const bool violates = database_has(database, table, "violation");
    bool maximizes = false;
    TRY(store_maximizes(database, &maximizes));
    snprintf(sql, sizeof sql, "SELECT id, fitness FROM %s WHERE fitness IS NOT NULL%s ORDER BY %sfitness%s, id LIMIT 1",
             table, violates ? " AND violation = 0" : "", violates ? "violation, " : "", maximizes ? " DESC" : "");
    return store_take_best(database, sql, id, fitness);
}
