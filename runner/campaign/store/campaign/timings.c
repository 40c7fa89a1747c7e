// Where the time of a campaign went: sums over the table batches.
#include "store.h"

#include <math.h>

Error timings_read(Database *database, int64_t first, Timings *timings)
{
    double *const times[] = {&timings->wall,   &timings->kernel, &timings->copy,
                             &timings->search, &timings->hdf5,   &timings->sqlite};
    *timings = (Timings){0};
    Cursor batches =
        cursor_open(database, "SELECT sum(wall_seconds), sum(kernel_seconds), sum(copy_seconds), sum(search_seconds), "
                              "sum(hdf5_seconds), sum(sqlite_seconds), count(*), total(kernel = 'made') FROM batches "
                              "WHERE id >= ?");
    with_integer(&batches, first);
    const bool any = cursor_next(&batches);
    for (int i = 0; any && i < 6; i++) {
        const double seconds = cell_real(&batches, i);
        if (!isnan(seconds)) *times[i] = seconds;
    }
    if (any) timings->batches = cell_integer(&batches, 6);
    if (any) timings->made = (int64_t)cell_real(&batches, 7);
    return cursor_close(&batches);
}

Error timings_of_trial(Database *database, int64_t trial, Arena *arena, BatchTiming *timing)
{
    *timing = (BatchTiming){.device = NULL};
    Cursor batch = cursor_open(
        database, "SELECT device, lanes, kernel_seconds / lanes, kernel = 'made' FROM batches WHERE first_trial "
                  "<= ?1 AND last_trial >= ?1 AND lanes > 0 ORDER BY id DESC LIMIT 1");
    with_integer(&batch, trial);
    if (cursor_next(&batch) && isfinite(cell_real(&batch, 2)))
        *timing = (BatchTiming){.device = arena_copy(arena, cell_text(&batch, 0)),
                                .lanes = cell_integer(&batch, 1),
                                .made = cell_integer(&batch, 3) != 0,
                                .lane_seconds = cell_real(&batch, 2)};
    return cursor_close(&batch);
}

// The time in which the loop ran and the device had no work.
static double timings_idle(const Timings *timings)
{
    return timings->wall > timings->kernel ? timings->wall - timings->kernel : 0;
}

void timings_print(const Timings *timings, FILE *out)
{
    fprintf(out, "kernel %s, idle %s; copy %s, search %s; beside them HDF5 %s, SQLite %s",
            text_duration(timings->kernel).text, text_duration(timings_idle(timings)).text,
            text_duration(timings->copy).text, text_duration(timings->search).text, text_duration(timings->hdf5).text,
            text_duration(timings->sqlite).text);
    if (timings->made > 0)
        fprintf(out, "; kernel made for the campaign in %s of %s batches", text_count(timings->made).text,
                text_count(timings->batches).text);
    fputc('\n', out);
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
    json_integer(json, "batches", timings->batches);
    json_integer(json, "batches_by_made_kernel", timings->made);
    json_close(json, '}');
}
