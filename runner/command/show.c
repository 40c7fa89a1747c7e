// hopscotch show: everything that is known of one trial, and where to find the rest.
#include "show_debug.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// One row of the table trials, found by column name.
typedef struct ShowTrial {
    const StoredCampaign *campaign;
    int64_t id;
    double fitness, *metric, *spread; // [n_metrics]; spread NaN with one replicate
    double objective[OBJECTIVES_MAX]; // of several
    const char *failure;
    int64_t n_failed;
    double *parameter; // [n_parameters] complete, as the search gives them
} ShowTrial;

// The arrays of one replicate, a trajectory say.
typedef struct ShowArrays {
    const char *file;
    int64_t replicate, first, samples; // rows [first, first + samples) of every dataset
} ShowArrays;

// All arrays of the trial: places[n_*].
typedef struct ShowPlaces {
    ShowArrays *trajectories, *debug_rows;
    int n_trajectories, n_debug_rows;
} ShowPlaces;

// ---- reading --------------------------------------------------------------------------------------------------------

static void show_read_row(ShowTrial *trial, Statement *statement, Arena *arena)
{
    const Configured *configured = &trial->campaign->spec.configured;
    const int n_columns = column_count(statement);
    for (int i = 0; i < n_columns; i++) {
        const char *name = column_name(statement, i);
        if (strcmp(name, "fitness") == 0) trial->fitness = column_real(statement, i);
        for (int k = 0; k < rows_objectives(&trial->campaign->spec); k++) {
            if (strcmp(name, rows_objective_name(k)) == 0) trial->objective[k] = column_real(statement, i);
        }
        if (strcmp(name, "failure") == 0) trial->failure = arena_copy(arena, column_text(statement, i));
        if (strcmp(name, "n_failed") == 0) trial->n_failed = column_integer(statement, i);
        for (int m = 0; m < configured->n_metrics; m++) {
            const char *metric = configured->metrics[m].name;
            const size_t length = strlen(metric);
            if (strcmp(name, metric) == 0) trial->metric[m] = column_real(statement, i);
            if (strncmp(name, metric, length) == 0 && strcmp(name + length, "_std") == 0)
                trial->spread[m] = column_real(statement, i);
        }
    }
}

static Error show_read(const StoredCampaign *campaign, int64_t id, Arena *arena, ShowTrial *trial)
{
    const Configured *configured = &campaign->spec.configured;
    Search search;
    Statement *statement;
    bool row = false;
    *trial = (ShowTrial){.campaign = campaign, .id = id, .fitness = (double)NAN, .failure = "none"};
    trial->metric = ARENA_NEW(arena, double, configured->n_metrics);
    trial->spread = ARENA_NEW(arena, double, configured->n_metrics);
    trial->parameter = ARENA_NEW(arena, double, configured->n_parameters);
    for (int k = 0; k < OBJECTIVES_MAX; k++) trial->objective[k] = (double)NAN;
    for (int m = 0; m < configured->n_metrics; m++) trial->metric[m] = trial->spread[m] = (double)NAN;
    TRY(database_prepare(campaign->database, "SELECT * FROM trials WHERE id = ?", &statement));
    bind_integer(statement, 1, id);
    Error error = statement_step(statement, &row);
    if (error.kind == OK && row) show_read_row(trial, statement, arena);
    if (error.kind == OK && !row)
        error = error_make(ERROR_USER,
                           "campaign %.100s has no trial %" PRId64 " (not run yet, or excluded); "
                           "%s lists trials",
                           campaign->name, id,
                           command_again(folder_of(campaign->folder, arena), "query %.100s", campaign->name).text);
    statement_close(statement);
    if (error.kind != OK) return error;
    TRY(search_init(&campaign->spec, arena, &search));
    return search_read_trial(&search, campaign->database, id, arena, trial->parameter);
}

// Where the trial's arrays lie, by the table of their places: the lanes of a shard follow each other in every dataset.
static Error show_arrays(const ShowTrial *trial, const char *table, Arena *arena, ShowArrays **out, int *count)
{
    Statement *statement;
    bool row = false;
    const int most = trial->campaign->spec.replicates.count;
    *count = 0;
    *out = ARENA_NEW(arena, ShowArrays, most);
    TRY(database_prepare(
        trial->campaign->database,
        arena_format(arena,
                     "SELECT t.replicate, s.name, t.samples,"
                     " (SELECT coalesce(sum(b.samples), 0) FROM %s b WHERE b.shard = t.shard AND b.row < t.row)"
                     " FROM %s t JOIN shards s ON s.id = t.shard WHERE t.trial = ? ORDER BY t.replicate",
                     table, table),
        &statement));
    bind_integer(statement, 1, trial->id);
    Error error = statement_step(statement, &row);
    for (; error.kind == OK && row && *count < most; error = statement_step(statement, &row)) {
        (*out)[(*count)++] = (ShowArrays){.file = arena_format(arena, "%s/" CAMPAIGN_SHARDS "/%s",
                                                               trial->campaign->folder, column_text(statement, 1)),
                                          .replicate = column_integer(statement, 0),
                                          .samples = column_integer(statement, 2),
                                          .first = column_integer(statement, 3)};
    }
    statement_close(statement);
    return error;
}

static Error show_places(const ShowTrial *trial, Arena *arena, ShowPlaces *places)
{
    TRY(show_arrays(trial, "trajectories", arena, &places->trajectories, &places->n_trajectories));
    return show_arrays(trial, "debug_rows", arena, &places->debug_rows, &places->n_debug_rows);
}

// ---- what to say ----------------------------------------------------------------------------------------------------

// Where a parameter's value came from.
static const char *show_origin(const Spec *spec, int parameter, double value)
{
    for (int i = 0; i < spec->replicates.n_perturb; i++) {
        if (spec->replicates.perturb[i].parameter == parameter) return "drawn per replicate";
    }
    for (int i = 0; i < spec->n_axes + spec->n_derived + spec->n_outer; i++) {
        if (spec->axes[i].parameter == parameter && i >= spec->n_axes + spec->n_derived) return "outer";
        if (spec->axes[i].parameter == parameter) return spec->axes[i].derive != NULL ? "derived" : "searched";
    }
    return value == spec->configured.parameters[parameter].value ? "default" : "set";
}

static Error show_print_parameters(const ShowTrial *trial, FILE *out)
{
    static const char *const names[] = {"parameter", "value", "unit", "from"};
    const Configured *configured = &trial->campaign->spec.configured;
    Table *table = table_start(out, TABLE_TEXT, 4, names);
    for (int i = 0; i < configured_named(configured); i++) {
        table_text(table, configured->parameters[i].name);
        table_number(table, trial->parameter[i]);
        table_text(table, configured->parameters[i].unit);
        table_text(table, show_origin(&trial->campaign->spec, i, trial->parameter[i]));
    }
    return table_finish(table);
}

static Error show_print_metrics(const ShowTrial *trial, FILE *out)
{
    static const char *const single[] = {"metric", "value", "unit"}, *const several[] = {"metric", "mean", "std",
                                                                                         "unit"};
    const Configured *configured = &trial->campaign->spec.configured;
    const bool spread = trial->campaign->spec.replicates.count > 1;
    Table *table = table_start(out, TABLE_TEXT, spread ? 4 : 3, spread ? several : single);
    for (int i = 0; i < configured->n_metrics; i++) {
        table_text(table, configured->metrics[i].name);
        table_number(table, trial->metric[i]);
        if (spread) table_number(table, trial->spread[i]);
        table_text(table, configured->metrics[i].unit);
    }
    return table_finish(table);
}

static Error show_print_replicates(const ShowTrial *trial, FILE *out, Arena *arena)
{
    const Spec *spec = &trial->campaign->spec;
    if (spec->replicates.count == 1) return error_none();
    if (!spec->replicates.store) {
        fprintf(out,
                "\nreplicates: %d, %" PRId64 " failed; each one's metrics are stored with replicates.store: true\n",
                spec->replicates.count, trial->n_failed);
        return error_none();
    }
    Statement *statement;
    bool row = false;
    TRY(database_prepare(trial->campaign->database, "SELECT * FROM replicates WHERE trial = ? ORDER BY replicate",
                         &statement));
    const int count = column_count(statement); // trial, replicate, failure, metrics
    const char **names = ARENA_NEW(arena, const char *, count);
    for (int i = 1; i < count; i++) names[i - 1] = arena_copy(arena, column_name(statement, i));
    fputc('\n', out);
    Table *table = table_start(out, TABLE_TEXT, count - 1, names);
    bind_integer(statement, 1, trial->id);
    Error error = statement_step(statement, &row);
    for (; error.kind == OK && row; error = statement_step(statement, &row)) {
        table_integer(table, column_integer(statement, 1));
        table_text(table, column_text(statement, 2));
        for (int i = 3; i < count; i++) table_number(table, column_real(statement, i));
    }
    statement_close(statement);
    const Error written = table_finish(table);
    return error.kind != OK ? error : written;
}

// `what` of a replicate lies in `group` of a shard; two of its datasets are shown being read.
static void show_print_arrays(const ShowArrays *arrays, const char *what, const char *group, const char *first,
                              const char *second, FILE *out, Arena *arena)
{
    const char *file = text_visible(arrays->file, arena);
    fprintf(out, "\n%s of replicate %" PRId64 ": %s, ", what, arrays->replicate, file);
    if (arrays->samples == 0) {
        fputs("none in the time that is recorded\n", out);
        return;
    }
    const int64_t from = arrays->first, to = arrays->first + arrays->samples;
    fprintf(out, "samples %" PRId64 " to %" PRId64 "; to read it:\n", from, to - 1);
    fprintf(out,
            "  python3 -c 'import h5py; f = h5py.File(\"%s\")[\"%s\"]; "
            "print(f[\"%s\"][%" PRId64 ":%" PRId64 "], f[\"%s\"][%" PRId64 ":%" PRId64 "])'\n",
            file, group, first, from, to, second, from, to);
}

// The first two datasets of debug rows behind the time's.
static void show_debug_groups(const Configured *configured, const char **first, const char **second)
{
    *first = *second = configured->n_debug > 1 ? configured->debug[1].group : "time";
    for (int c = 1; c < configured->n_debug && strcmp(*first, *second) == 0; c++) *second = configured->debug[c].group;
}

static void show_print_places(const ShowTrial *trial, const ShowPlaces *places, FILE *out, Arena *arena)
{
    const char *first, *second;
    show_debug_groups(&trial->campaign->spec.configured, &first, &second);
    if (places->n_trajectories == 0)
        fprintf(out,
                "\ntrajectory: none was recorded; record.trajectories.select chooses which are. "
                "%s re-simulates the trial\n",
                command_again(folder_of(trial->campaign->folder, arena), "replay %.128s/%" PRId64,
                              trial->campaign->name, trial->id)
                    .text);
    for (int i = 0; i < places->n_trajectories; i++)
        show_print_arrays(&places->trajectories[i], "trajectory", SHARD_TRAJECTORIES, "time", "state", out, arena);
    for (int i = 0; i < places->n_debug_rows; i++)
        show_print_arrays(&places->debug_rows[i], "debug rows", model_debug_group(trial->campaign->spec.model), first,
                          second, out, arena);
}

static void show_print_objectives(const ShowTrial *trial, FILE *out, Arena *arena)
{
    const Spec *spec = &trial->campaign->spec;
    fprintf(out, "%s/%" PRId64 ": ", trial->campaign->name, trial->id);
    if (!spec_several(spec))
        fprintf(out, "fitness %s, ", isnan(trial->fitness) ? "none" : text_number(trial->fitness).text);
    fprintf(out, "failure %s\n", text_visible(trial->failure, arena));
    if (!spec_several(spec)) fprintf(out, "objective: %s\n", objective_text(spec, 0, arena));
    for (int k = 0; k < rows_objectives(spec); k++)
        fprintf(out, "%s %s: %s\n", rows_objective_name(k),
                isnan(trial->objective[k]) ? "none" : text_number(trial->objective[k]).text,
                objective_text(spec, k, arena));
    fputc('\n', out);
}

static void show_print_batch(const BatchTiming *batch, FILE *out, Arena *arena)
{
    if (batch->device == NULL) return;
    fprintf(out, "\ncomputed: %s each, in a batch of %s on %s\n", text_duration(batch->lane_seconds).text,
            text_count(batch->lanes).text, text_visible(batch->device, arena));
}

static Error show_print(const ShowTrial *trial, FILE *out, Arena *arena)
{
    ShowPlaces places;
    BatchTiming batch;
    TRY(show_places(trial, arena, &places));
    TRY(timings_of_trial(trial->campaign->database, trial->id, arena, &batch));
    show_print_objectives(trial, out, arena);
    TRY(show_print_parameters(trial, out));
    fputc('\n', out);
    TRY(show_print_metrics(trial, out));
    TRY(show_print_replicates(trial, out, arena));
    show_print_batch(&batch, out, arena);
    show_print_places(trial, &places, out, arena);
    return error_none();
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

static void show_json_values(const ShowTrial *trial, Json *json)
{
    const Spec *spec = &trial->campaign->spec;
    const Configured *configured = &spec->configured;
    json_object(json, "parameters");
    for (int i = 0; i < configured_named(configured); i++) {
        json_object(json, configured->parameters[i].name);
        json_number(json, "value", trial->parameter[i]);
        json_text(json, "unit", configured->parameters[i].unit);
        json_text(json, "from", show_origin(spec, i, trial->parameter[i]));
        json_close(json, '}');
    }
    json_close(json, '}');
    json_object(json, "metrics");
    for (int i = 0; i < configured->n_metrics; i++) {
        json_object(json, configured->metrics[i].name);
        json_number(json, "mean", trial->metric[i]);
        json_number(json, "std", trial->spread[i]);
        json_text(json, "unit", configured->metrics[i].unit);
        json_close(json, '}');
    }
    json_close(json, '}');
}

static void show_json_arrays(const ShowArrays *arrays, int count, const char *name, Json *json)
{
    json_array(json, name);
    for (int i = 0; i < count; i++) {
        json_object(json, NULL);
        json_integer(json, "replicate", arrays[i].replicate);
        json_text(json, "file", arrays[i].file);
        json_integer(json, "offset", arrays[i].first);
        json_integer(json, "length", arrays[i].samples);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static Error show_json(const ShowTrial *trial, FILE *out, Arena *arena)
{
    ShowPlaces places;
    BatchTiming batch;
    Json json;
    TRY(show_places(trial, arena, &places));
    TRY(timings_of_trial(trial->campaign->database, trial->id, arena, &batch));
    json_start(&json, out, true);
    json_object(&json, NULL);
    json_text(&json, "campaign", trial->campaign->name);
    json_integer(&json, "trial", trial->id);
    json_number(&json, "fitness", trial->fitness);
    for (int k = 0; k < rows_objectives(&trial->campaign->spec); k++)
        json_number(&json, rows_objective_name(k), trial->objective[k]);
    json_text(&json, "failure", trial->failure);
    json_integer(&json, "replicates", trial->campaign->spec.replicates.count);
    json_integer(&json, "n_failed", trial->n_failed);
    if (batch.device != NULL) {
        json_text(&json, "device", batch.device);
        json_integer(&json, "batch_lanes", batch.lanes);
        json_number(&json, "lane_seconds", batch.lane_seconds);
    }
    show_json_values(trial, &json);
    show_json_arrays(places.trajectories, places.n_trajectories, "trajectories", &json);
    show_json_arrays(places.debug_rows, places.n_debug_rows, "debug_rows", &json);
    json_close(&json, '}');
    return error_none();
}

// The trial's parameters, but NaN where each replicate drew its own.
static const double *show_shared_parameters(const ShowTrial *trial, Arena *arena)
{
    const Spec *spec = &trial->campaign->spec;
    double *parameter = ARENA_NEW(arena, double, spec->configured.n_parameters);
    memcpy(parameter, trial->parameter, (size_t)spec->configured.n_parameters * sizeof *parameter);
    for (int i = 0; i < spec->replicates.n_perturb; i++) parameter[spec->replicates.perturb[i].parameter] = (double)NAN;
    return parameter;
}

// A row of the first replicate that has any.
static Error show_debug(const ShowTrial *trial, const CommandLine *line)
{
    ShowPlaces places;
    const double *parameter = show_shared_parameters(trial, line->arena);
    TRY(show_places(trial, line->arena, &places));
    for (int i = 0; i < places.n_debug_rows; i++) {
        const ShowArrays *rows = &places.debug_rows[i];
        if (rows->samples == 0) continue;
        return show_debug_row(trial->campaign, trial->id, parameter, rows->file, rows->replicate,
                              switch_integer(line, "debug", 0), line->out, line->arena);
    }
    const char *name = model_debug_name(trial->campaign->spec.model);
    return error_make(ERROR_USER,
                      "no debug rows were recorded of trial %" PRId64 "; record.debug.%s.select chooses which are, and "
                      "%s makes them",
                      trial->id, name,
                      command_again(folder_of(trial->campaign->folder, line->arena),
                                    "replay %.100s/%" PRId64 " --debug %s -o FILE.csv", trial->campaign->name,
                                    trial->id, name)
                          .text);
}

static const Switch show_rows[] = {
    {"debug", SWITCH_INTEGER, "ROW", 0, 1LL << 40,
     "this of its debug rows instead, from 0; matrices in full, rows of one step as a table"}};
static const Switches show_switches = {show_rows, 1};

static Error show_run(const CommandLine *line)
{
    StoredCampaign campaign;
    ShowTrial trial;
    int64_t id;
    TRY(campaign_open_trial(line, line->arguments[0], &campaign, &id));
    Error error = show_read(&campaign, id, line->arena, &trial);
    if (error.kind == OK && switch_given(line, "debug"))
        error = show_debug(&trial, line);
    else if (error.kind == OK)
        error = switch_given(line, "json") ? show_json(&trial, line->out, line->arena)
                                           : show_print(&trial, line->out, line->arena);
    campaign_close(&campaign);
    return error;
}

const Command command_show = {
    .name = "show",
    .arguments = "CAMPAIGN/TRIAL",
    .doc = "one trial: parameters, metrics, failure, replicates, and where its arrays are",
    .examples = "  hopscotch show raibert_gains/41\n"
                "  hopscotch show raibert_gains/best --json     (or worst, failed: the first that failed)\n"
                "  hopscotch show ndt_basin/30 --debug 0\n"
                "  hopscotch show kkt_pendulum_gains/7 --debug 0\n",
    .least = 1,
    .most = 1,
    .switches = {&show_switches, &switches_json},
    .run = show_run,
};
