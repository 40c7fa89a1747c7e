// Columns of the table trials, as they are in the file.
#include "../ground/rows.h"
#include "trial_blocks.h"

#include <string.h>

enum { CAMPAIGN_COLUMNS_MAX = 2000 }; // SQLite's own limit

// -1: the column is no parameter.
static int columns_parameter(const Spec *spec, const char *name)
{
    for (int p = 0; spec != NULL && p < configured_named(&spec->configured); p++) {
        if (strcmp(spec->configured.parameters[p].name, name) == 0) return p;
    }
    return -1;
}

Error trial_columns(Database *database, const Spec *spec, Arena *arena, TrialColumns *columns)
{
    columns->count = 0;
    columns->names = ARENA_NEW(arena, const char *, CAMPAIGN_COLUMNS_MAX);
    columns->is_text = ARENA_NEW(arena, bool, CAMPAIGN_COLUMNS_MAX);
    columns->is_integer = ARENA_NEW(arena, bool, CAMPAIGN_COLUMNS_MAX);
    columns->is_parameter = ARENA_NEW(arena, bool, CAMPAIGN_COLUMNS_MAX);
    columns->choices = ARENA_NEW(arena, const char *, CAMPAIGN_COLUMNS_MAX);
    Cursor each = cursor_open(database, "SELECT name, type FROM pragma_table_info(?) ORDER BY cid");
    with_text(&each, trial_blocks_table(database));
    while (columns->count < CAMPAIGN_COLUMNS_MAX && cursor_next(&each)) {
        const int i = columns->count++;
        columns->names[i] = arena_copy(arena, cell_text(&each, 0));
        columns->is_text[i] = strcmp(cell_text(&each, 1), "TEXT") == 0;
        columns->is_integer[i] = strcmp(cell_text(&each, 1), "INTEGER") == 0;
        const int parameter = columns_parameter(spec, columns->names[i]);
        columns->is_parameter[i] = parameter >= 0;
        columns->choices[i] = parameter >= 0 ? configured_choices(&spec->configured, parameter) : NULL;
    }
    return cursor_close(&each);
}

int trial_column_find(const TrialColumns *columns, const char *name)
{
    for (int i = 0; i < columns->count; i++) {
        if (strcmp(columns->names[i], name) == 0) return i;
    }
    return -1;
}

int trial_columns_main(const Spec *spec, Arena *arena, const char *const **names)
{
    const Configured *configured = &spec->configured;
    const int n_searched = spec->n_axes + spec->n_derived + spec->n_outer;
    const char **chosen = ARENA_NEW(arena, const char *, 5 + OBJECTIVES_MAX + n_searched + configured->n_metrics);
    int count = 0;
    chosen[count++] = "id";
    if (!spec_several(spec)) chosen[count++] = "fitness";
    for (int i = 0; i < rows_objectives(spec); i++) chosen[count++] = rows_objective_name(i);
    if (spec->n_constraints > 0) chosen[count++] = "violation";
    if (spec_races(spec)) chosen[count++] = "replicates";
    if (spec->objective.failed != FAILED_ANY) chosen[count++] = "failure"; // else a fitness says that there was none
    for (int i = 0; i < n_searched; i++) chosen[count++] = configured->parameters[spec->axes[i].parameter].name;
    for (int i = 0; i < configured->n_metrics; i++) {
        bool used = false;
        for (int k = 0; k < spec->objective.count; k++) used |= expression_uses(spec->objective.expression[k], i);
        if (used) chosen[count++] = configured->metrics[i].name;
    }
    *names = chosen;
    return count;
}

const char *trial_columns_sql(const char *const *names, int count, Arena *arena)
{
    const char *sql = "";
    for (int i = 0; i < count; i++)
        sql = arena_format(arena, "%s%s%s", sql, i > 0 ? ", " : "", sql_identifier(arena, names[i]));
    return sql;
}
