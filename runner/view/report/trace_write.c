// A trace as numbers: CSV, or HDF5 in the form of the campaign's shards.
#include "trace.h"

#include <stdlib.h>

Error trace_write_csv(const ReplayTrace *trace, FILE *out, Arena *arena)
{
    const char **names = ARENA_NEW(arena, const char *, trace->n_shown);
    for (int c = 0; c < trace->n_shown; c++) names[c] = trace->columns[trace->shown[c]].name;
    Table *table = table_start(out, TABLE_CSV, trace->n_shown, names);
    for (int64_t i = 0; i < trace->count; i++) {
        for (int c = 0; c < trace->n_shown; c++) {
            const int column = trace->shown[c];
            const double value = trace->row[i * trace->n_columns + column];
            const char *word = recording_word(trace->words, trace->n_words, column, value);
            if (word != NULL)
                table_text(table, word);
            else
                table_number(table, value);
        }
    }
    return table_finish(table);
}

// Returns samples[count][n_shown] of the chosen columns, for free(); NULL: no memory.
static double *trace_shown_samples(const ReplayTrace *trace)
{
    double *samples = malloc(((size_t)trace->count * (size_t)trace->n_shown + 1) * sizeof *samples), *to = samples;
    for (int64_t i = 0; samples != NULL && i < trace->count; i++) {
        for (int c = 0; c < trace->n_shown; c++) *to++ = trace->row[i * trace->n_columns + trace->shown[c]];
    }
    return samples;
}

Error trace_write_hdf5(const ReplayTrace *trace, FILE *out, Arena *arena)
{
    const StoredCampaign *campaign = trace->campaign;
    Bytes image = {0};
    const ShardLane lane = {
        .trial = trace->request.trial, .replicate = trace->request.replicate, .length = trace->count};
    const ShardAttribute attributes[] = {
        {"campaign", campaign->name},
        {"spec_hash", campaign->spec.hash.hex},
        {"program_version", HOPSCOTCH_VERSION},
        {"numerics_version", arena_format(arena, "%d", campaign->numerics_version)},
        {"model", campaign->spec.model->name},
        {"seed", arena_format(arena, "%llu", (unsigned long long)campaign->spec.seed)},
    };
    if (trace->n_shown > RECORD_COLUMNS_MAX)
        return error_make(ERROR_USER, "%d columns, and HDF5 takes %d: name fewer with --bodies, or write -o FILE.csv",
                          trace->n_shown, RECORD_COLUMNS_MAX);
    Field *columns = ARENA_NEW(arena, Field, trace->n_shown);
    for (int c = 0; c < trace->n_shown; c++) columns[c] = trace->columns[trace->shown[c]];
    double *samples = trace_shown_samples(trace);
    if (samples == NULL) return error_make(ERROR_MACHINE, "not enough memory for the samples of a trial");
    const Shard shard = {.group = trace->request.debug ? model_debug_group(campaign->spec.model) : SHARD_TRAJECTORIES,
                         .attributes = attributes,
                         .n_attributes = (int)(sizeof attributes / sizeof *attributes),
                         .columns = columns,
                         .n_columns = trace->n_shown,
                         .words = trace->words, // of debug rows, all of whose columns are shown
                         .n_words = trace->n_words,
                         .lanes = &lane,
                         .n_lanes = 1,
                         .samples = samples,
                         .float64 = true};
    const Error error = shard_build(&shard, &image);
    free(samples);
    if (error.kind != OK) return error;
    fwrite(image.data, 1, image.size, out);
    free(image.data);
    return error_none();
}
