// Where the time of a campaign went: what table `batches` says of each batch, summed.
#include "store.h"

#include <math.h>

enum { TIMINGS_SCHEMA = 4 }; // from that version on the loop's and the writer's times are there

static double timings_column(Statement *row, int index)
{
    const double value = column_real(row, index);
    return isnan(value) ? 0 : value;
}

Error timings_read(Database *database, int64_t first, Arena *arena, Timings *timings)
{
    int64_t version = 0;
    bool row = false;
    Statement *statement = NULL;
    TRY(store_integer(database, "PRAGMA user_version", 0, &version));
    const char *sums = version < TIMINGS_SCHEMA
                           ? "0, 0, 0, 0"
                           : "sum(copy_seconds), sum(search_seconds), sum(hdf5_seconds), sum(sqlite_seconds)";
    TRY(database_prepare(
        database,
        arena_format(arena, "SELECT sum(wall_seconds), sum(kernel_seconds), %s FROM batches WHERE id >= ?", sums),
        &statement));
    bind_integer(statement, 1, first);
    const Error error = statement_step(statement, &row);
    *timings = (Timings){0};
    double *const times[] = {&timings->wall,   &timings->kernel, &timings->copy,
                             &timings->search, &timings->hdf5,   &timings->sqlite};
    for (int i = 0; row && i < 6; i++) *times[i] = timings_column(statement, i);
    statement_close(statement);
    return error;
}

Error timings_of_trial(Database *database, int64_t trial, Arena *arena, BatchTiming *timing)
{
    Statement *statement;
    bool row = false;
    *timing = (BatchTiming){.device = NULL};
    TRY(database_prepare(database,
                         "SELECT device, lanes, kernel_seconds / lanes FROM batches WHERE first_trial <= ?1 AND "
                         "last_trial >= ?1 AND lanes > 0 ORDER BY id DESC LIMIT 1",
                         &statement));
    bind_integer(statement, 1, trial);
    const Error error = statement_step(statement, &row);
    if (error.kind == OK && row && isfinite(column_real(statement, 2)))
        *timing = (BatchTiming){.device = arena_copy(arena, column_text(statement, 0)),
                                .lanes = column_integer(statement, 1),
                                .lane_seconds = column_real(statement, 2)};
    statement_close(statement);
    return error;
}

// The device without work, while the loop ran.
static double timings_idle(const Timings *timings)
{
    return timings->wall > timings->kernel ? timings->wall - timings->kernel : 0;
}

void timings_print(const Timings *timings, FILE *out)
{
    fprintf(out, "kernel %s, idle %s; copy %s, search %s; beside them HDF5 %s, SQLite %s\n",
            text_duration(timings->kernel).text, text_duration(timings_idle(timings)).text,
            text_duration(timings->copy).text, text_duration(timings->search).text, text_duration(timings->hdf5).text,
            text_duration(timings->sqlite).text);
}

void timings_json(const Timings *timings, Json *json)
{
    json_object(json, "timings");
    json_number(json, "wall_seconds", timings->wall);
    json_number(json, "kernel_seconds", timings->kernel);
    json_number(json, "idle_seconds", timings_idle(timings));
    json_number(json, "copy_seconds", timings->copy);
    json_number(json, "search_seconds", timings->search);
    json_number(json, "hdf5_seconds", timings->hdf5);
    json_number(json, "sqlite_seconds", timings->sqlite);
    json_close(json, '}');
}
