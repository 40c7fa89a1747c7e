// Reads the samples of recorded lanes from their shards (queries.h).
#include "../queries.h"

#include <stdlib.h>

// *slot: of the shard, which is opened instead of the one used longest ago if it is not open.
static Error lane_open_shard(LaneReader *lanes, const StoredArray *array, int *slot)
{
    char path[1024];
    int oldest = 0;
    for (int i = 0; i < lanes->most; i++) {
        *slot = i;
        if (lanes->reader[i] != NULL && lanes->shard[i] == array->shard) return error_none();
        if (lanes->used[i] < lanes->used[oldest]) oldest = i;
    }
    *slot = oldest;
    shard_close(lanes->reader[oldest]);
    lanes->reader[oldest] = NULL;
    lanes->shard[oldest] = array->shard;
    snprintf(path, sizeof path, "%s/" CAMPAIGN_SHARDS "/%s", lanes->folder, array->name);
    if (!file_exists(path))
        return error_make(ERROR_MACHINE, "shard %s is missing; the command resume records its arrays again",
                          array->name);
    return shard_open(path, &lanes->layout, array->sha256, &lanes->reader[oldest]);
}

static Error lane_reserve(LaneReader *lanes, size_t size)
{
    if (size <= lanes->samples_size) return error_none();
    free(lanes->samples);
    lanes->samples = malloc(size);
    lanes->samples_size = lanes->samples != NULL ? size : 0;
    return lanes->samples != NULL ? error_none()
                                  : error_make(ERROR_MACHINE, "not enough memory for a lane of %zu bytes", size);
}

Error lane_read(LaneReader *lanes, const StoredArray *array, const double **samples)
{
    int slot = 0;
    TRY(lane_open_shard(lanes, array, &slot));
    lanes->used[slot] = ++lanes->clock;
    ShardReader *reader = lanes->reader[slot];
    const bool there = array->row < shard_lane_count(reader);
    const ShardLane lane = there ? shard_lane(reader, array->row) : (ShardLane){.trial = -1};
    if (lane.trial != array->trial || lane.replicate != array->replicate || lane.length != array->samples) {
        return error_make(
            ERROR_MACHINE,
            "shard %s does not hold trial %lld, replicate %lld in row %lld, as campaign.db says; the command "
            "doctor shows what is damaged",
            array->name, (long long)array->trial, (long long)array->replicate, (long long)array->row);
    }
    TRY(lane_reserve(lanes, (size_t)array->samples * (size_t)lanes->layout.n_columns * sizeof(double)));
    *samples = lanes->samples;
    return shard_samples(reader, array->row, lanes->samples);
}

void lanes_close(LaneReader *lanes)
{
    for (int i = 0; i < lanes->most; i++) shard_close(lanes->reader[i]);
    free(lanes->samples);
}
