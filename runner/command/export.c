// hopscotch export: writes trials as CSV, JSON lines, NPZ or SQLite, and one HDF5 file with all recorded arrays.
#include "command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXPORT_TEXT_MAX = 256 };

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

// ---- SQLite ---------------------------------------------------------------------------------------------------------

static Error export_sqlite_row(void *taker, const Query *query, const Cursor *trial)
{
    (void)query;
    return trial_table_add(taker, trial);
}

static Error export_sqlite(const Query *query, const char *path, Arena *arena)
{
    Output output;
    TrialTable table;
    if (!output_takes_any_order(path))
        return error_make(ERROR_USAGE,
                          "--sqlite %.200s: a database is not written in order; give the name of a regular file",
                          text_visible(path, arena));
    TRY(output_open(path, arena, &output));
    Error error = trial_table_open(output.temporary, &query->all, query->columns, query->count, arena, &table);
    if (error.kind == OK) error = query_each(query, arena, export_sqlite_row, &table);
    return output_close(&output, trial_table_close(&table, error));
}

// ---- HDF5 -----------------------------------------------------------------------------------------------------------

typedef struct ExportPlace {
    int64_t row;
    int shard; // index into ExportArrays.shards
} ExportPlace;

// The lanes of one kind of arrays, by shard and row.
typedef struct ExportArrays {
    ShardLane *lanes;
    ExportPlace *places;
    ArrayPlace *shards; // [n_shards] id, name and digest
    int64_t n_lanes, capacity;
    int n_shards;
    LaneReader reader;
} ExportArrays;

static void export_lane(const ArrayPlace *place, Arena *arena, ExportArrays *arrays)
{
    if (arrays->n_shards == 0 || place->shard != arrays->shards[arrays->n_shards - 1].shard)
        arrays->shards[arrays->n_shards++] = (ArrayPlace){
            .shard = place->shard, .name = arena_copy(arena, place->name), .sha256 = arena_copy(arena, place->sha256)};
    arrays->places[arrays->n_lanes] = (ExportPlace){.row = place->row, .shard = arrays->n_shards - 1};
    arrays->lanes[arrays->n_lanes++] =
        (ShardLane){.trial = place->trial, .replicate = (int32_t)place->replicate, .length = place->samples};
}

static Error export_arrays(const StoredCampaign *campaign, const Recording *recording, Arena *arena,
                           ExportArrays *arrays)
{
    ArrayPlace place;
    int64_t lanes = 0, shards = 0;
    TRY(places_count(campaign->database, recording, arena, &lanes));
    TRY(shards_count(campaign->database, &shards));
    *arrays = (ExportArrays){
        .lanes = ARENA_NEW(arena, ShardLane, lanes + 1),
        .places = ARENA_NEW(arena, ExportPlace, lanes + 1),
        .shards = ARENA_NEW(arena, ArrayPlace, lanes < shards ? lanes + 1 : shards + 1),
        .capacity = shards > 0 ? lanes : 0,
        .reader = {.folder = campaign->folder, .layout = recording_layout(recording), .most = 1},
    };
    Cursor places = places_alike(campaign->database, recording, arena);
    while (arrays->n_lanes < arrays->capacity && place_next(&places, &place)) export_lane(&place, arena, arrays);
    return cursor_close(&places);
}

static Error export_read(void *of, int64_t index, const double **samples)
{
    ExportArrays *arrays = of;
    const ShardLane *lane = &arrays->lanes[index];
    ArrayPlace place = arrays->shards[arrays->places[index].shard];
    if (interrupt_requested() != 0) return error_make(ERROR_INTERRUPTED, "%s", interrupt_words());
    place.trial = lane->trial;
    place.replicate = lane->replicate;
    place.samples = lane->length;
    place.row = arrays->places[index].row;
    return lane_read(&arrays->reader, &place, samples);
}

// *any: there are lanes of this kind.
static Error export_kind(const StoredCampaign *campaign, RecordKind kind, ArrayFile *file, Arena *arena, bool *any)
{
    const Recording recording = recording_of(&campaign->spec, kind);
    ExportArrays arrays;
    if (recording.n_columns == 0) return error_none();
    TRY(export_arrays(campaign, &recording, arena, &arrays));
    if (arrays.n_lanes == 0) return error_none();
    *any = true;
    const ArrayGroup group = {.group = recording.group,
                              .columns = recording.columns,
                              .n_columns = recording.n_columns,
                              .float64 = recording.float64,
                              .gzip = recording.gzip,
                              .lanes = arrays.lanes,
                              .n_lanes = arrays.n_lanes,
                              .read = export_read,
                              .of = &arrays};
    const Error error = array_file_put(file, &group);
    lanes_close(&arrays.reader);
    return error;
}

static Error export_kinds(const StoredCampaign *campaign, const Output *output, Arena *arena)
{
    const ShardAttribute attributes[] = {{"campaign", campaign->name},
                                         {"spec_hash", campaign->spec.hash.hex},
                                         {"program_version", campaign->program_version},
                                         {"model", campaign->spec.model->name}};
    ArrayFile *file = NULL;
    bool any = false;
    TRY(array_file_open(fileno(output->stream), output->temporary, attributes,
                        (int)(sizeof attributes / sizeof *attributes), &file));
    Error error = error_none();
    for (RecordKind kind = 0; kind < RECORD_KINDS && error.kind == OK; kind++)
        error = export_kind(campaign, kind, file, arena, &any);
    if (error.kind == OK && !any)
        error = error_make(ERROR_USER,
                           "%.100s has no arrays, because its spec records none (record, see help spec); resume with "
                           "--set record.trajectories.select.best=10 records some now",
                           campaign->name);
    return array_file_close(file, error);
}

static Error export_hdf5(const StoredCampaign *campaign, const char *path, Arena *arena)
{
    Output output;
    if (!output_takes_any_order(path))
        return error_make(ERROR_USAGE, "--hdf5 %.200s: HDF5 is not written in order; give the name of a regular file",
                          text_visible(path, arena));
    interrupt_install(); // an interrupted export leaves no part of a file
    TRY(output_open(path, arena, &output));
    return output_close(&output, export_kinds(campaign, &output, arena));
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
    const char *npz = switch_text(line, "npz", NULL), *sqlite = switch_text(line, "sqlite", NULL);
    if (!switch_given(line, "csv") && !switch_given(line, "jsonl") && npz == NULL && sqlite == NULL)
        return error_none();
    TRY(command_tell_rows(line, campaign));
    TRY(command_select(line, campaign, 0, "all", &query));
    const char *rows = arena_format(line->arena, "%s trials", text_count(query_rows(&query)).text);
    for (size_t i = 0; i < sizeof export_tables / sizeof *export_tables; i++) {
        const char *path = switch_text(line, export_tables[i].name, NULL);
        if (path == NULL) continue;
        TRY(export_table(&query, export_tables[i].format, path, line->arena));
        export_say(line, path, rows);
    }
    if (npz != NULL) TRY(export_npz(&query, npz, line->arena));
    if (npz != NULL) export_say(line, npz, rows);
    if (sqlite != NULL) TRY(export_sqlite(&query, sqlite, line->arena));
    if (sqlite != NULL) export_say(line, sqlite, rows);
    return error_none();
}

static Error export_campaign(const CommandLine *line, const StoredCampaign *campaign)
{
    const char *hdf5 = switch_text(line, "hdf5", NULL);
    TRY(export_trials(line, campaign));
    if (hdf5 == NULL) return error_none();
    TRY(export_hdf5(campaign, hdf5, line->arena));
    export_say(line, hdf5, "all recorded arrays");
    return error_none();
}

static Error export_run(const CommandLine *line)
{
    static const char *const kinds[] = {"csv", "jsonl", "npz", "sqlite", "hdf5"};
    StoredCampaign campaign;
    bool any = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) any |= switch_given(line, kinds[i]);
    if (!any) return error_make(ERROR_USAGE, "export needs a format: --csv, --jsonl, --npz, --sqlite or --hdf5 FILE");
    for (int i = 0; i < switches_select.count && switch_given(line, "hdf5"); i++) {
        const char *name = switches_select.rows[i].name;
        if (switch_given(line, name))
            return error_make(
                ERROR_USAGE,
                "--hdf5 takes all recorded arrays; --%s chooses trials of --csv, --jsonl, --npz and --sqlite, in an "
                "export without --hdf5",
                name);
    }
    TRY(campaign_open_named(line, line->arguments[0], &campaign));
    const Error error = export_campaign(line, &campaign);
    campaign_close(&campaign);
    return error;
}

static const Switch export_rows[] = {
    {"csv", SWITCH_TEXT, "FILE", 0, 0, "trials as comma-separated values (RFC 4180); - is standard output"},
    {"jsonl", SWITCH_TEXT, "FILE", 0, 0,
     "trials as JSON lines, one object per line; null where a number is missing or infinite; - is standard output"},
    {"npz", SWITCH_TEXT, "FILE", 0, 0, "trials for numpy.load, one array per column; NaN where a number is missing"},
    {"sqlite", SWITCH_TEXT, "FILE", 0, 0, "trials as the table trials of a SQLite database"},
    {"hdf5", SWITCH_TEXT, "FILE", 0, 0,
     "one HDF5 file with copies of all recorded arrays; takes no --where, --order, --columns, --limit"},
};
static const Switches export_switches = {export_rows, sizeof export_rows / sizeof *export_rows};

const Command command_export = {
    .name = "export",
    .arguments = "CAMPAIGN",
    .doc = "write trials as CSV, JSON lines, NPZ or SQLite, or one HDF5 file with all trajectories",
    .examples = "  hopscotch export gains --csv gains.csv --where \"failure = 'none'\" --columns id,k_fp,fitness\n"
                "  hopscotch export gains --npz gains.npz\n"
                "  hopscotch export gains --hdf5 results/gains/campaign.h5\n",
    .least = 1,
    .most = 1,
    .switches = {&export_switches, &switches_select},
    .run = export_run,
};
