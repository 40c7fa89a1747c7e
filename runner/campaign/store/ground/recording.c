// The arrays that a spec records of a replicate: their columns, the most rows, where they are stored.
#include "recording.h"

#include <stdio.h>
#include <string.h>

// ", columns 0a1b2c3d" if the spec chooses the columns of the model; empty for small worlds, which record all.
static void recording_put_columns(const Spec *spec, char *text, size_t size)
{
    enum { SMALL = 16 };
    const Configured *configured = &spec->configured;
    Sha256 hash;
    if (configured->n_things == 0 || (configured->n_things <= SMALL && spec->record.n_bodies == 0)) return;
    sha256_start(&hash);
    for (int c = 0; c < configured->n_columns; c++)
        sha256_add(&hash, configured->columns[c].name, strlen(configured->columns[c].name) + 1);
    snprintf(text, size, ", columns %.8s", sha256_finish(&hash).hex);
}

static int64_t recording_samples(const Spec *spec)
{
    const int64_t first = spec->record.first_tick, end = spec->record.end_tick;
    return trace_capacity(end > 0 ? end - first : spec->configured.ticks, spec_sample_ticks(spec));
}

static Recording recording_of_trajectories(const Spec *spec)
{
    const Configured *configured = &spec->configured;
    Recording recording = {.wanted = spec->record.trajectories,
                           .group = SHARD_TRAJECTORIES,
                           .table = "trajectories",
                           .select = &spec->record.select,
                           .columns = configured->columns,
                           .n_columns = configured->n_columns,
                           .capacity = recording_samples(spec),
                           .lanes = spec->record.all_replicates ? spec->replicates.count : 1,
                           .float64 = spec->record.float64,
                           .gzip = spec->record.gzip};
    recording_put_columns(spec, recording.columns_recipe, sizeof recording.columns_recipe);
    snprintf(recording.recipe, sizeof recording.recipe, "each %lld ticks, %s%s", (long long)spec_sample_ticks(spec),
             recording.float64 ? "float64" : "float32", recording.columns_recipe);
    return recording;
}

static Recording recording_of_debug(const Spec *spec)
{
    const Configured *configured = &spec->configured;
    int64_t first, end;
    Recording recording = {.wanted = spec->record.debug.wanted,
                           .group = model_debug_group(spec->model),
                           .table = "debug_rows",
                           .select = spec_debug_select(spec),
                           .columns = configured->debug,
                           .n_columns = configured->n_debug,
                           .words = configured->debug_words,
                           .n_words = configured->n_debug_words,
                           .capacity = spec_debug_rows(spec),
                           .lanes = spec_debug_all(spec) ? spec->replicates.count : 1,
                           .failed_only = spec->record.debug.failed_only,
                           .float64 = true};
    spec_debug_ticks(spec, &first, &end);
    snprintf(recording.recipe, sizeof recording.recipe, "ticks %lld to %lld, last %lld rows", (long long)first,
             (long long)end, (long long)recording.capacity);
    return recording;
}

Recording recording_of(const Spec *spec, RecordKind kind)
{
    static Recording (*const of[RECORD_KINDS])(const Spec *) = {
        [RECORD_TRAJECTORIES] = recording_of_trajectories, [RECORD_DEBUG] = recording_of_debug};
    return of[kind](spec);
}

const char *recording_word(const FieldWords *words, int n_words, int column, double value)
{
    for (int w = 0; w < n_words; w++)
        if (words[w].column == column && value >= 0 && value < words[w].count) return words[w].words[(int)value];
    return NULL;
}

const char *recording_are(const Spec *spec, RecordKind kind)
{
    return kind == RECORD_TRAJECTORIES ? "trajectories" : model_debug_are(spec->model);
}

ShardLayout recording_layout(const Recording *recording)
{
    return (ShardLayout){.group = recording->group, .columns = recording->columns, .n_columns = recording->n_columns};
}

int64_t recording_lane_bytes(const Recording *recording)
{
    const size_t beside = sizeof(ShardLane) + sizeof(int64_t); // Commit.lanes and .dropped
    return recording->capacity * recording->n_columns * (int64_t)sizeof(double) + (int64_t)beside;
}

int64_t recording_lanes_max(const Recording *recording)
{
    if (!recording->wanted) return 0;
    const int64_t trials = RECORD_BYTES_MAX / (recording_lane_bytes(recording) * recording->lanes);
    return (trials > 1 ? trials : 1) * recording->lanes;
}
