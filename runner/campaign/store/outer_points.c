// The table outer_points of a campaign: what each search of an outer grid has for the outer parameters. Rows of trials
// hold these values too; this table is for who asks by search, and knows no spec.
#include "outer_points.h"

#include "rows.h"

const char *const outer_table_sql =
    "CREATE TABLE outer_points(search INTEGER NOT NULL, parameter TEXT NOT NULL, value REAL NOT NULL,\n"
    "  PRIMARY KEY(search, parameter)) STRICT, WITHOUT ROWID;\n";

static Error outer_insert(Statement *insert, const Spec *spec, int64_t search, double *parameter)
{
    const Axis *outer = spec->axes + spec->n_axes + spec->n_derived;
    search_outer_fill(spec, search, parameter);
    for (int i = 0; i < spec->n_outer; i++) {
        bool row = false;
        bind_integer(insert, 1, search);
        bind_text(insert, 2, spec->configured.parameters[outer[i].parameter].name);
        bind_real(insert, 3, rows_stored(parameter[outer[i].parameter]));
        TRY(statement_step(insert, &row));
    }
    return error_none();
}

Error outer_record(Database *database, const Spec *spec)
{
    Statement *insert = NULL;
    Arena arena;
    const int64_t searches = spec->n_outer > 0 ? spec->outer.points * spec->outer.searches : 0;
    if (searches == 0) return error_none();
    TRY(arena_create(&arena, sizeof(double) * (size_t)spec->configured.n_parameters + 4096, "an outer point"));
    double *parameter = ARENA_NEW(&arena, double, spec->configured.n_parameters);
    Error error = database_prepare(database, "INSERT INTO outer_points VALUES(?, ?, ?)", &insert);
    for (int64_t s = 0; error.kind == OK && s < searches; s++)
        error = outer_insert(insert, spec, spec->outer.first + s, parameter);
    statement_close(insert);
    arena_destroy(&arena);
    return error;
}
