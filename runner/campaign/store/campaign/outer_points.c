// The table outer_points: the outer parameters of each search of an outer grid. Rows of trials have these values too;
// the table gives them by search, to readers without the spec.
#include "store.h"

#include "../ground/rows.h"

#include <math.h>

static void outer_insert(Cursor *insert, const Spec *spec, int64_t search, double *parameter)
{
    const Axis *outer = spec->axes + spec->n_axes + spec->n_derived;
    search_outer_fill(spec, search, parameter);
    for (int i = 0; i < spec->n_outer; i++) {
        with_integer(insert, search);
        with_text(insert, spec->configured.parameters[outer[i].parameter].name);
        const char *choices = configured_choices(&spec->configured, outer[i].parameter);
        if (choices != NULL)
            with_text(insert, value_text(choices, parameter[outer[i].parameter]).text);
        else
            with_real(insert, rows_stored(parameter[outer[i].parameter]));
        cursor_next(insert);
    }
}

Error outer_record(Database *database, const Spec *spec)
{
    Arena arena;
    const int64_t searches = spec->n_outer > 0 ? spec->outer.points * spec->outer.searches : 0;
    if (searches == 0) return error_none();
    TRY(arena_create(&arena, sizeof(double) * (size_t)spec->configured.n_parameters + 4096, "an outer point"));
    double *parameter = ARENA_NEW(&arena, double, spec->configured.n_parameters);
    Cursor insert = cursor_open(database, "INSERT INTO outer_points VALUES(?, ?, ?)");
    for (int64_t s = 0; s < searches; s++) outer_insert(&insert, spec, spec->outer.first + s, parameter);
    arena_destroy(&arena);
    return cursor_close(&insert);
}

Error outer_names(Database *database, int most, Arena *arena, const char **names, int *count)
{
    const char *name;
    *count = 0;
    Cursor parameters = cursor_open(database, "SELECT DISTINCT parameter FROM outer_points ORDER BY parameter LIMIT ?");
    with_integer(&parameters, most);
    while (next_text(&parameters, &name)) names[(*count)++] = arena_copy(arena, name);
    return cursor_close(&parameters);
}

Cursor outer_values(Database *database)
{
    return cursor_open(database, "SELECT value FROM outer_points WHERE search = ? AND parameter = ?");
}

OuterValue outer_value(Cursor *values, int64_t search, const char *parameter)
{
    OuterValue value = {.number = (double)NAN};
    with_integer(values, search);
    with_text(values, parameter);
    if (!cursor_next(values)) return value;
    const bool word = cell_kind(values, 0) == COLUMN_TEXT;
    if (word) value.word = cell_text(values, 0);
    if (!word) value.number = cell_real(values, 0);
    return value;
}
