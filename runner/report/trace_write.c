// A trace as numbers: CSV, or HDF5 in the form of the campaign's own shards.
#include "trace.h"

#include "../runner.h"

#include <stdlib.h>

Error trace_write_csv(const ReplayTrace *trace, FILE *out)
{
    const char *names[64];
    const int n_columns = trace->n_columns < 64 ? trace->n_columns : 64;
    for (int c = 0; c < n_columns; c++) names[c] = trace->columns[c].name;
    Table *table = table_start(out, TABLE_CSV, n_columns, names);
    for (int64_t i = 0; i < trace->count; i++) {
        for (int c = 0; c < n_columns; c++) table_number(table, trace->row[i * trace->n_columns + c]);
    }
    return table_finish(table);
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
    const Shard shard = {.group = trace->request.debug ? model_debug_group(campaign->spec.model) : SHARD_TRAJECTORIES,
                         .attributes = attributes,
                         .n_attributes = (int)(sizeof attributes / sizeof *attributes),
                         .columns = trace->columns,
                         .n_columns = trace->n_columns,
                         .lanes = &lane,
                         .n_lanes = 1,
                         .samples = trace->row,
                         .float64 = true};
    TRY(shard_build(&shard, &image));
    fwrite(image.data, 1, image.size, out);
    free(image.data);
    return error_none();
}
