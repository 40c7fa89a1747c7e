// hopscotch show: prints one trial, and where its arrays are.
#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// One row of the table trials.
typedef struct ShowTrial {
    const StoredCampaign *campaign;
    int64_t id;
    double fitness, *metric, *spread; // [n_metrics]; spread NaN with one replicate
    double objective[OBJECTIVES_MAX]; // NaN with one objective
    const char *failure;
    int64_t n_failed;
    int64_t replicates; // that it has
    int64_t rungs;      // of limits.retire, that it passed
    double *parameter;  // [n_parameters] all, as the search gives them
    bool computed;      // it keeps no row, and was simulated again
    int64_t search, round;
    bool has_gradient;
    GradientSigns gradient; // that its round, or the last one before it, took
} ShowTrial;

// The arrays of one replicate, e.g. its trajectory.
typedef struct ShowArrays {
    const char *file;
    int64_t replicate, first, samples; // rows [first, first + samples) of every dataset
} ShowArrays;

// All arrays of the trial: [n_*].
typedef struct ShowRecorded {
    ShowArrays *trajectories, *debug_rows;
    int n_trajectories, n_debug_rows;
} ShowRecorded;

// ---- reading --------------------------------------------------------------------------------------------------------

static void show_read_row(ShowTrial *trial, const Cursor *row, Arena *arena)
{
    const Configured *configured = &trial->campaign->spec.configured;
    const int n_columns = cells_count(row);
    for (int i = 0; i < n_columns; i++) {
        const char *name = cells_name(row, i);
        if (strcmp(name, "fitness") == 0) trial->fitness = cell_real(row, i);
        for (int k = 0; k < rows_objectives(&trial->campaign->spec); k++) {
            if (strcmp(name, rows_objective_name(k)) == 0) trial->objective[k] = cell_real(row, i);
        }
        if (strcmp(name, "failure") == 0) trial->failure = arena_copy(arena, cell_text(row, i));
        if (strcmp(name, "search") == 0) trial->search = cell_integer(row, i);
        if (strcmp(name, "round") == 0) trial->round = cell_integer(row, i);
        if (strcmp(name, "n_failed") == 0) trial->n_failed = cell_integer(row, i);
        if (spec_races(&trial->campaign->spec) && strcmp(name, "replicates") == 0)
            trial->replicates = cell_integer(row, i);
        if (spec_has_rungs(&trial->campaign->spec) && strcmp(name, "rungs") == 0) trial->rungs = cell_integer(row, i);
        for (int m = 0; m < configured->n_metrics; m++) {
            const char *metric = configured->metrics[m].name;
            const size_t length = strlen(metric);
            if (strcmp(name, metric) == 0) trial->metric[m] = cell_real(row, i);
            if (strncmp(name, metric, length) == 0 && strcmp(name + length, "_std") == 0)
                trial->spread[m] = cell_real(row, i);
        }
    }
}

// A trial that keeps no row (record.rows) is simulated now.
static Error show_compute(const StoredCampaign *campaign, int64_t id, Arena *arena, ShowTrial *trial)
{
    const BackendOptions backend = {.name = "cpu"};
    TrialRows rows;
    Cursor row;
    TRY(campaign_simulate(campaign, id, &backend, arena, &rows));
    TRY(trial_of_memory(campaign->database, &campaign->spec, &rows, arena, &row));
    show_read_row(trial, &row, arena);
    trial->computed = true;
    return cursor_close(&row);
}

static Error show_read_gradient(ShowTrial *trial)
{
    Cursor gradients = gradients_by_round(trial->campaign->database);
    trial->has_gradient = gradient_of_round(&gradients, trial->search, trial->round, &trial->gradient);
    return cursor_close(&gradients);
}

static Error show_read(const StoredCampaign *campaign, int64_t id, Arena *arena, ShowTrial *trial)
{
    const Configured *configured = &campaign->spec.configured;
    Search search;
    *trial = (ShowTrial){.campaign = campaign,
                         .id = id,
                         .fitness = (double)NAN,
                         .failure = "none",
                         .replicates = campaign->spec.replicates.count};
    trial->metric = ARENA_NEW(arena, double, configured->n_metrics);
    trial->spread = ARENA_NEW(arena, double, configured->n_metrics);
    trial->parameter = ARENA_NEW(arena, double, configured->n_parameters);
    for (int k = 0; k < OBJECTIVES_MAX; k++) trial->objective[k] = (double)NAN;
    for (int m = 0; m < configured->n_metrics; m++) trial->metric[m] = trial->spread[m] = (double)NAN;
    Cursor row = trials_by_id(campaign->database, NULL, 0, arena);
    const bool there = trial_at(&row, id);
    if (there) show_read_row(trial, &row, arena);
    TRY(cursor_close(&row));
    bool without_row = false;
    if (!there) TRY(kept_covers(campaign->database, id, &without_row));
    if (without_row) TRY(show_compute(campaign, id, arena, trial));
    if (!there && !without_row)
        return error_make(ERROR_USER,
                          "campaign %.100s has no trial %" PRId64 " (not run yet, or excluded); "
                          "%s lists trials",
                          campaign->name, id,
                          command_again(folder_of(campaign->folder, arena), "query %.100s", campaign->name).text);
    TRY(show_read_gradient(trial));
    TRY(search_init(&campaign->spec, arena, &search));
    return search_read_trial(&search, campaign->database, id, arena, trial->parameter);
}

static Error show_arrays(const ShowTrial *trial, RecordKind kind, Arena *arena, ShowArrays **out, int *count)
{
    const int most = trial->campaign->spec.replicates.count;
    StoredArray array;
    *count = 0;
    *out = ARENA_NEW(arena, ShowArrays, most);
    Cursor arrays = arrays_of_trial(trial->campaign->database, kind, trial->id);
    while (*count < most && array_next(&arrays, &array))
        (*out)[(*count)++] =
            (ShowArrays){.file = arena_format(arena, "%s/" CAMPAIGN_SHARDS "/%s", trial->campaign->folder, array.name),
                         .replicate = array.replicate,
                         .samples = array.samples,
                         .first = array.first};
    return cursor_close(&arrays);
}

static Error show_recorded(const ShowTrial *trial, Arena *arena, ShowRecorded *recorded)
{
    TRY(show_arrays(trial, RECORD_TRAJECTORIES, arena, &recorded->trajectories, &recorded->n_trajectories));
    return show_arrays(trial, RECORD_DEBUG, arena, &recorded->debug_rows, &recorded->n_debug_rows);
}

// ---- tables ---------------------------------------------------------------------------------------------------------

// Where a parameter's value comes from.
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
        table_value(table, configured_choices(configured, i), trial->parameter[i]);
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
                "\nreplicates: %d, %" PRId64 " failed; with replicates.store: true the metrics of each replicate "
                "are stored\n",
                spec->replicates.count, trial->n_failed);
        return error_none();
    }
    Cursor replicates = replicates_of(trial->campaign->database, trial->id);
    if (replicates.error.kind != OK) return cursor_close(&replicates);
    const int count = cells_count(&replicates);
    const char **names = ARENA_NEW(arena, const char *, count);
    for (int i = REPLICATE_NUMBER; i < count; i++)
        names[i - REPLICATE_NUMBER] = arena_copy(arena, cells_name(&replicates, i));
    fputc('\n', out);
    Table *table = table_start(out, TABLE_TEXT, count - REPLICATE_NUMBER, names);
    while (cursor_next(&replicates)) {
        table_integer(table, cell_integer(&replicates, REPLICATE_NUMBER));
        table_text(table, cell_text(&replicates, REPLICATE_FAILURE));
        for (int i = REPLICATE_METRICS; i < count; i++) table_number(table, cell_real(&replicates, i));
    }
    cursor_stop(&replicates, table_finish(table));
    return cursor_close(&replicates);
}

// Prints where `what` is, in `group` of a shard, and a command that reads its datasets `first` and `second`.
static void show_print_arrays(const ShowArrays *arrays, const char *what, const char *group, const char *first,
                              const char *second, FILE *out, Arena *arena)
{
    const char *file = text_visible(arrays->file, arena);
    fprintf(out, "\n%s of replicate %" PRId64 ": %s, ", what, arrays->replicate, file);
    if (arrays->samples == 0) {
        fputs("no samples in the recorded time\n", out);
        return;
    }
    if (file_missing(arrays->file)) {
        fputs("which is missing; `hopscotch resume` of the campaign records it again\n", out);
        return;
    }
    const int64_t from = arrays->first, to = arrays->first + arrays->samples;
    fprintf(out, "samples %" PRId64 " to %" PRId64 "; to read it:\n", from, to - 1);
    fprintf(out,
            "  python3 -c 'import h5py; f = h5py.File(\"%s\")[\"%s\"]; "
            "print(f[\"%s\"][%" PRId64 ":%" PRId64 "], f[\"%s\"][%" PRId64 ":%" PRId64 "])'\n",
            file, group, first, from, to, second, from, to);
}

// The first two datasets of debug rows after the time.
static void show_debug_groups(const Configured *configured, const char **first, const char **second)
{
    *first = *second = configured->n_debug > 1 ? configured->debug[1].group : "time";
    for (int c = 1; c < configured->n_debug && strcmp(*first, *second) == 0; c++) *second = configured->debug[c].group;
}

static void show_print_recorded(const ShowTrial *trial, const ShowRecorded *recorded, FILE *out, Arena *arena)
{
    const char *first, *second;
    show_debug_groups(&trial->campaign->spec.configured, &first, &second);
    if (recorded->n_trajectories == 0 && !trial->campaign->spec.model->by_hand)
        fprintf(out,
                "\ntrajectory: not recorded; record.trajectories.select chooses the trials to record. "
                "%s re-simulates the trial\n",
                command_again(folder_of(trial->campaign->folder, arena), "replay %.100s/%" PRId64 "%s",
                              trial->campaign->name, trial->id, command_allow(trial->campaign->spec.model))
                    .text);
    for (int i = 0; i < recorded->n_trajectories; i++)
        show_print_arrays(&recorded->trajectories[i], "trajectory", SHARD_TRAJECTORIES, "time", "state", out, arena);
    for (int i = 0; i < recorded->n_debug_rows; i++)
        show_print_arrays(&recorded->debug_rows[i], model_debug_are(trial->campaign->spec.model),
                          model_debug_group(trial->campaign->spec.model), first, second, out, arena);
}

static void show_print_objectives(const ShowTrial *trial, FILE *out, Arena *arena)
{
    const Spec *spec = &trial->campaign->spec;
    fprintf(out, "%s/%" PRId64 ": ", trial->campaign->name, trial->id);
    if (!spec_several(spec))
        fprintf(out, "fitness %s, ", isnan(trial->fitness) ? "none" : text_number(trial->fitness).text);
    fprintf(out, "failure %s", text_visible(trial->failure, arena));
    if (spec_races(spec))
        fprintf(out, ", %" PRId64 " of up to %d replicates (replicates.race)", trial->replicates,
                spec->replicates.count);
    if (spec_has_rungs(spec))
        fprintf(out, ", %" PRId64 " of %d rungs passed (limits.retire)", trial->rungs, spec->limits.rungs.count);
    fputc('\n', out);
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
    if (strcmp(batch->device, "by hand") == 0) return;
    fprintf(out, "\ncomputed: %s each, in a batch of %s on %s%s\n", text_duration(batch->lane_seconds).text,
            text_count(batch->lanes).text, text_visible(batch->device, arena),
            batch->made ? ", by a kernel made for the campaign" : "");
}

static void show_print_gradient(const ShowTrial *trial, FILE *out, Arena *arena)
{
    const GradientSigns *signs = &trial->gradient;
    if (!trial->has_gradient) return;
    fprintf(out, "\ngradient of its round: norm %s", text_number(signs->norm).text);
    if (!isnan(signs->spread)) fprintf(out, ", spread over the replicates %.3g of the norm", signs->spread);
    if (!isnan(signs->cosine)) fprintf(out, ", cosine of two halves %.3g (%s)", signs->cosine, gradient_verdict(signs));
    if (!isnan(signs->growth)) fprintf(out, ", growth back in time %.3g", signs->growth);
    if (trial->n_failed > 0)
        fprintf(out, "; %s", replicates_failed_text(&trial->campaign->spec, trial->n_failed, arena));
    fputc('\n', out);
}

static Error show_print(const ShowTrial *trial, FILE *out, Arena *arena)
{
    ShowRecorded recorded;
    BatchTiming batch;
    Recommendation recommendation;
    Verified verified;
    TRY(show_recorded(trial, arena, &recorded));
    TRY(timings_of_trial(trial->campaign->database, trial->id, arena, &batch));
    TRY(recommendation_read(trial->campaign, arena, &recommendation));
    TRY(verified_read(trial->campaign, trial->id, arena, &verified));
    show_print_objectives(trial, out, arena);
    if (verified.run != NULL) fprintf(out, "verified: %s, in %s\n\n", verified_text(&verified, arena), verified.run);
    recommended_print_trial(&recommendation, trial->id, out);
    TRY(show_print_parameters(trial, out));
    fputc('\n', out);
    TRY(show_print_metrics(trial, out));
    TRY(show_print_replicates(trial, out, arena));
    show_print_gradient(trial, out, arena);
    show_print_batch(&batch, out, arena);
    if (trial->computed)
        fputs(
            "\nThe campaign stores no row of this trial (record.rows): the results were computed again, with the same "
            "bits.\n",
            out);
    show_print_recorded(trial, &recorded, out, arena);
    return error_none();
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

static void show_json_gradient(const ShowTrial *trial, Json *json)
{
    if (!trial->has_gradient) return;
    json_object(json, "gradient");
    json_number(json, "norm", trial->gradient.norm);
    json_number(json, "spread", trial->gradient.spread);
    json_number(json, "cosine", trial->gradient.cosine);
    json_number(json, "growth", trial->gradient.growth);
    json_close(json, '}');
}

static void show_json_values(const ShowTrial *trial, Json *json)
{
    const Spec *spec = &trial->campaign->spec;
    const Configured *configured = &spec->configured;
    json_object(json, "parameters");
    for (int i = 0; i < configured_named(configured); i++) {
        json_object(json, configured->parameters[i].name);
        json_value(json, "value", configured_choices(configured, i), trial->parameter[i]);
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
    ShowRecorded recorded;
    BatchTiming batch;
    Json json;
    Recommendation recommendation;
    TRY(show_recorded(trial, arena, &recorded));
    TRY(timings_of_trial(trial->campaign->database, trial->id, arena, &batch));
    TRY(recommendation_read(trial->campaign, arena, &recommendation));
    json_start(&json, out, true);
    json_object(&json, NULL);
    json_text(&json, "campaign", trial->campaign->name);
    json_integer(&json, "trial", trial->id);
    json_number(&json, "fitness", trial->fitness);
    recommended_trial_json(&recommendation, trial->id, &json);
    for (int k = 0; k < rows_objectives(&trial->campaign->spec); k++)
        json_number(&json, rows_objective_name(k), trial->objective[k]);
    json_text(&json, "failure", trial->failure);
    if (trial->computed) json_boolean(&json, "computed", true);
    json_integer(&json, "replicates", trial->replicates);
    json_integer(&json, "n_failed", trial->n_failed);
    if (batch.device != NULL) {
        json_text(&json, "device", batch.device);
        json_integer(&json, "batch_lanes", batch.lanes);
        json_number(&json, "lane_seconds", batch.lane_seconds);
    }
    show_json_gradient(trial, &json);
    show_json_values(trial, &json);
    show_json_arrays(recorded.trajectories, recorded.n_trajectories, "trajectories", &json);
    show_json_arrays(recorded.debug_rows, recorded.n_debug_rows, "debug_rows", &json);
    json_close(&json, '}');
    return error_none();
}

// The trial's parameters; NaN where each replicate drew its own value.
static const double *show_shared_parameters(const ShowTrial *trial, Arena *arena)
{
    const Spec *spec = &trial->campaign->spec;
    double *parameter = ARENA_NEW(arena, double, spec->configured.n_parameters);
    memcpy(parameter, trial->parameter, (size_t)spec->configured.n_parameters * sizeof *parameter);
    for (int i = 0; i < spec->replicates.n_perturb; i++) parameter[spec->replicates.perturb[i].parameter] = (double)NAN;
    return parameter;
}

// Prints a debug row of the first replicate that has rows.
static Error show_debug(const ShowTrial *trial, const CommandLine *line)
{
    ShowRecorded recorded;
    const double *parameter = show_shared_parameters(trial, line->arena);
    TRY(show_recorded(trial, line->arena, &recorded));
    for (int i = 0; i < recorded.n_debug_rows; i++) {
        const ShowArrays *rows = &recorded.debug_rows[i];
        if (rows->samples == 0) continue;
        return show_debug_row(trial->campaign, trial->id, parameter, rows->file, rows->replicate,
                              switch_integer(line, "debug", 0), line->out, line->arena);
    }
    const char *name = model_debug_name(trial->campaign->spec.model);
    return error_make(ERROR_USER,
                      "no %s were recorded of trial %" PRId64 "; record.debug.%s.select chooses the trials, and "
                      "%s writes them now",
                      model_debug_are(trial->campaign->spec.model), trial->id, name,
                      command_again(folder_of(trial->campaign->folder, line->arena),
                                    "replay %.100s/%" PRId64 " --debug %s -o FILE.csv", trial->campaign->name,
                                    trial->id, name)
                          .text);
}

static const Switch show_rows[] = {
    {"debug", SWITCH_INTEGER, "ROW", 0, 1LL << 40,
     "print a debug row instead, numbered from 0: full matrices, or all rows of its time step"},
    {"robot", SWITCH_FLAG, NULL, 0, 0,
     "print the tree of the robot's bodies instead: joints, motors, masses, with the trial's values"}};
static const Switches show_switches = {show_rows, 2};

static Error show_run(const CommandLine *line)
{
    StoredCampaign campaign;
    ShowTrial trial;
    int64_t id;
    TRY(campaign_open_trial(line, line->arguments[0], &campaign, &id));
    Error error = show_read(&campaign, id, line->arena, &trial);
    if (error.kind == OK && switch_given(line, "debug"))
        error = show_debug(&trial, line);
    else if (error.kind == OK && switch_given(line, "robot"))
        error = show_robot(&campaign.spec, show_shared_parameters(&trial, line->arena), line->out, line->arena);
    else if (error.kind == OK)
        error = switch_given(line, "json") ? show_json(&trial, line->out, line->arena)
                                           : show_print(&trial, line->out, line->arena);
    campaign_close(&campaign);
    return error;
}

const Command command_show = {
    .name = "show",
    .arguments = "CAMPAIGN/TRIAL",
    .doc = "print one trial: parameters, metrics, failure, replicates, and where its arrays are",
    .examples = "  hopscotch show raibert_gains/41\n"
                "  hopscotch show raibert_gains/best --json     (or worst, failed: the first that failed)\n"
                "  hopscotch show ndt_basin/30 --debug 0\n"
                "  hopscotch show kkt_pendulum_gains/7 --debug 0\n"
                "  hopscotch show robot_gait/best --robot\n",
    .least = 1,
    .most = 1,
    .switches = {&show_switches, &switches_json},
    .run = show_run,
};
