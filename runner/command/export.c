// hopscotch export: writes trials as CSV, JSON lines or NPZ, and one HDF5 file that links to all recorded arrays.
#include "command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXPORT_TEXT_MAX = 256, EXPORT_GROUPS = RECORD_KINDS };

// ---- tables ---------------------------------------------------------------------------------------------------------

static Error export_table(const Query *query, TableFormat format, const char *path, Arena *arena)
{
    Output output;
    TRY(output_open(path, arena, &output));
    return output_close(&output, query_print(query, format, output.stream, arena));
}

// ---- NPZ ------------------------------------------------------------------------------------------------------------

typedef struct ExportNpz {
    Npz *npz;
    const NpzColumn *columns;
} ExportNpz;

static Error export_npz_row(void *taker, const Query *query, const Cursor *trial)
{
    const ExportNpz *npz = taker;
    for (int c = 0; c < query->count; c++) {
        switch (npz->columns[c].type) {
        case NPZ_REAL: TRY(npz_real(npz->npz, c, cell_real(trial, c))); break; // NaN if the value is missing
        case NPZ_INTEGER: TRY(npz_integer(npz->npz, c, cell_integer(trial, c))); break;
        case NPZ_TEXT: TRY(npz_text(npz->npz, c, cell_text(trial, c))); break;
        }
    }
    return error_none();
}

static Error export_npz_columns(const Query *query, Arena *arena, NpzColumn *columns)
{
    for (int c = 0; c < query->count; c++) {
        const int column = query->columns[c];
        int64_t width = 0;
        columns[c] =
            (NpzColumn){.name = query->names[c], .type = query->all.is_integer[column] ? NPZ_INTEGER : NPZ_REAL};
        if (!query->all.is_text[column]) continue;
        TRY(trials_widest(query->campaign->database, query->names[c], arena, &width));
        columns[c].type = NPZ_TEXT;
        columns[c].width = width < 1 ? 1 : width > EXPORT_TEXT_MAX ? EXPORT_TEXT_MAX : (int)width;
    }
    return error_none();
}

static Error export_npz(const Query *query, const char *path, Arena *arena)
{
    Output output;
    NpzColumn *columns = ARENA_NEW(arena, NpzColumn, query->count);
    ExportNpz npz = {.columns = columns};
    if (!output_takes_any_order(path))
        return error_make(ERROR_USAGE, "--npz %.200s: NPZ is not written in order; give the name of a regular file",
                          text_visible(path, arena));
    TRY(export_npz_columns(query, arena, columns));
    TRY(output_open(path, arena, &output));
    Error error = npz_open(output.stream, columns, query->count, query_rows(query), arena, &npz.npz);
    if (error.kind == OK) error = query_each(query, arena, export_npz_row, &npz);
    if (error.kind == OK) error = npz_finish(npz.npz);
    return output_close(&output, error);
}

// ---- HDF5 -----------------------------------------------------------------------------------------------------------

// The lanes of one kind of arrays, ordered by shard and row. Lanes whose samples follow each other in a shard form one
// part.
typedef struct ExportArrays {
    ShardLane *lanes;
    MasterPart *parts;
    int64_t n_lanes, n_parts, capacity;
    int64_t shard, next_row; // place of a lane that would continue the last part
} ExportArrays;

// Counts the samples before a row of a shard, from the shard's own table of lanes: the database does not list rows that
// were recorded again in another shard.
static Error export_skip(const StoredCampaign *campaign, const Recording *recording, const char *name, int64_t row,
                         int64_t *samples)
{
    char path[1024];
    ShardReader *reader = NULL;
    const ShardLayout layout = {.group = recording->group};
    snprintf(path, sizeof path, "%s/" CAMPAIGN_SHARDS "/%s", campaign->folder, name);
    TRY(shard_open(path, &layout, NULL, &reader));
    *samples = 0;
    for (int64_t i = 0; i < row && i < shard_lane_count(reader); i++) *samples += shard_lane(reader, i).length;
    shard_close(reader);
    return error_none();
}

static Error export_lane(const StoredCampaign *campaign, const Recording *recording, const char *folder,
                         const ArrayPlace *place, Arena *arena, ExportArrays *arrays)
{
    const bool follows = place->shard == arrays->shard && place->row == arrays->next_row;
    if (!follows) {
        int64_t first = 0;
        if (place->row > 0) TRY(export_skip(campaign, recording, place->name, place->row, &first));
        arrays->parts[arrays->n_parts++] =
            (MasterPart){.file = arena_format(arena, "%s" CAMPAIGN_SHARDS "/%s", folder, place->name), .first = first};
    }
    arrays->lanes[arrays->n_lanes++] =
        (ShardLane){.trial = place->trial, .replicate = (int32_t)place->replicate, .length = place->samples};
    arrays->parts[arrays->n_parts - 1].count += place->samples;
    arrays->shard = place->shard;
    arrays->next_row = place->row + 1;
    return error_none();
}

static Error export_arrays(const StoredCampaign *campaign, const Recording *recording, const char *folder, Arena *arena,
                           ExportArrays *arrays)
{
    ArrayPlace place;
    int64_t lanes = 0;
    TRY(places_count(campaign->database, recording, arena, &lanes));
    *arrays = (ExportArrays){.lanes = ARENA_NEW(arena, ShardLane, lanes + 1),
                             .parts = ARENA_NEW(arena, MasterPart, lanes + 1),
                             .capacity = lanes,
                             .shard = -1};
    Cursor places = places_alike(campaign->database, recording, arena);
    while (arrays->n_lanes < arrays->capacity && place_next(&places, &place))
        cursor_stop(&places, export_lane(campaign, recording, folder, &place, arena, arrays));
    return cursor_close(&places);
}

// The path of the shards from the file's folder: relative if that is the campaign's folder, which can then be moved and
// copied; else absolute.
static const char *export_shards_from(const StoredCampaign *campaign, const char *path, Arena *arena)
{
    const char *slash = strrchr(path, '/');
    const char *folder = slash == NULL   ? "."
                         : slash == path ? "/"
                                         : arena_format(arena, "%.*s", (int)(slash - path), path);
    char *here = realpath(folder, NULL), *there = realpath(campaign->folder, NULL);
    const bool beside = here != NULL && there != NULL && strcmp(here, there) == 0;
    const char *from = beside || there == NULL ? "" : arena_format(arena, "%s/", there);
    free(here);
    free(there);
    return from;
}

static Error export_hdf5_image(const StoredCampaign *campaign, const char *path, Arena *arena, Bytes *image)
{
    const Spec *spec = &campaign->spec;
    const char *folder = export_shards_from(campaign, path, arena);
    Master groups[EXPORT_GROUPS];
    int n_groups = 0;
    for (RecordKind kind = 0; kind < RECORD_KINDS; kind++) {
        const Recording recording = recording_of(spec, kind);
        ExportArrays arrays;
        if (recording.n_columns == 0) continue;
        TRY(export_arrays(campaign, &recording, folder, arena, &arrays));
        if (arrays.n_lanes == 0) continue;
        groups[n_groups++] = (Master){.group = recording.group,
                                      .columns = recording.columns,
                                      .n_columns = recording.n_columns,
                                      .float64 = recording.float64,
                                      .parts = arrays.parts,
                                      .n_parts = arrays.n_parts,
                                      .lanes = arrays.lanes,
                                      .n_lanes = arrays.n_lanes};
    }
    if (n_groups == 0)
        return error_make(ERROR_USER,
                          "%.100s has no arrays, because its spec records none (record, see help spec); resume with "
                          "--set record.trajectories.select.best=10 records some now",
                          campaign->name);
    const ShardAttribute attributes[] = {{"campaign", campaign->name},
                                         {"spec_hash", spec->hash.hex},
                                         {"program_version", campaign->program_version},
                                         {"model", spec->model->name}};
    return master_build(attributes, (int)(sizeof attributes / sizeof *attributes), groups, n_groups, image);
}

static Error export_hdf5(const StoredCampaign *campaign, const char *path, Arena *arena)
{
    Bytes image;
    if (strcmp(path, "-") == 0)
        return error_make(ERROR_USAGE, "--hdf5 needs the name of a file; it cannot write to standard output");
    TRY(export_hdf5_image(campaign, path, arena, &image));
    bool standard = false;
    const Error error = output_write(path, image.data, image.size, arena, &standard);
    free(image.data);
    return error;
}

// ---- the command ----------------------------------------------------------------------------------------------------

static const struct {
    const char *name;
    TableFormat format;
} export_tables[] = {{"csv", TABLE_CSV}, {"jsonl", TABLE_JSON_LINES}};

static void export_say(const CommandLine *line, const char *path, const char *what)
{
    if (strcmp(path, "-") != 0) fprintf(line->messages, "%s: %s\n", text_visible(path, line->arena), what);
}

static Error export_trials(const CommandLine *line, const StoredCampaign *campaign)
{
    Query query;
    const char *npz = switch_text(line, "npz", NULL);
    if (!switch_given(line, "csv") && !switch_given(line, "jsonl") && npz == NULL) return error_none();
    TRY(command_tell_rows(line, campaign));
    TRY(command_select(line, campaign, 0, "all", &query));
    const char *rows = arena_format(line->arena, "%s trials", text_count(query_rows(&query)).text);
    for (size_t i = 0; i < sizeof export_tables / sizeof *export_tables; i++) {
        const char *path = switch_text(line, export_tables[i].name, NULL);
        if (path == NULL) continue;
        TRY(export_table(&query, export_tables[i].format, path, line->arena));
        export_say(line, path, rows);
    }
    if (npz == NULL) return error_none();
    TRY(export_npz(&query, npz, line->arena));
    export_say(line, npz, rows);
    return error_none();
}

static Error export_campaign(const CommandLine *line, const StoredCampaign *campaign)
{
    const char *hdf5 = switch_text(line, "hdf5", NULL);
    TRY(export_trials(line, campaign));
    if (hdf5 == NULL) return error_none();
    TRY(export_hdf5(campaign, hdf5, line->arena));
    export_say(line, hdf5, "links to all recorded arrays");
    return error_none();
}

static Error export_run(const CommandLine *line)
{
    static const char *const kinds[] = {"csv", "jsonl", "npz", "hdf5"};
    StoredCampaign campaign;
    bool any = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) any |= switch_given(line, kinds[i]);
    if (!any) return error_make(ERROR_USAGE, "export needs a format: --csv, --jsonl, --npz or --hdf5 FILE");
    TRY(campaign_open_named(line, line->arguments[0], &campaign));
    const Error error = export_campaign(line, &campaign);
    campaign_close(&campaign);
    return error;
}

static const Switch export_rows[] = {
    {"csv", SWITCH_TEXT, "FILE", 0, 0, "trials as comma-separated values (RFC 4180); - is standard output"},
    {"jsonl", SWITCH_TEXT, "FILE", 0, 0, "trials as JSON lines, one object per line; - is standard output"},
    {"npz", SWITCH_TEXT, "FILE", 0, 0, "trials for numpy.load, one array per column; NaN where a number is missing"},
    {"hdf5", SWITCH_TEXT, "FILE", 0, 0, "one HDF5 file that links to all recorded arrays (virtual datasets)"},
};
static const Switches export_switches = {export_rows, sizeof export_rows / sizeof *export_rows};

const Command command_export = {
    .name = "export",
    .arguments = "CAMPAIGN",
    .doc = "write trials as CSV, JSON lines or NPZ, or one HDF5 file that links to all trajectories",
    .examples = "  hopscotch export gains --csv gains.csv --where \"failure = 'none'\" --columns id,k_fp,fitness\n"
                "  hopscotch export gains --npz gains.npz\n"
                "  hopscotch export gains --hdf5 results/gains/campaign.h5\n",
    .least = 1,
    .most = 1,
    .switches = {&export_switches, &switches_select},
    .run = export_run,
};
