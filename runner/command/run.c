// hopscotch run and resume: read the options and print the summary; campaign/run/run.c runs the campaign.
#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { RUN_BEST_SHOWN = 5 };

// ---- summary --------------------------------------------------------------------------------------------------------

// "120 fell, 3 solver": committed trials by kind of failure.
static Error run_print_failures(const StoredCampaign *campaign, const RunSummary *summary, FILE *out)
{
    fprintf(out, "%-9s ", "failures");
    const Error error = campaign_failures(campaign->database, out);
    fputc('\n', out);
    if (campaign->spec.model->runs_program && summary->failures > 0) {
        fputs("          ", out);
        put_visible(out, summary->folder);
        fputs("/workers.log holds what the program said\n", out);
    }
    return error;
}

// The reason is text of a database, which may come from another user.
static void run_print_state(const RunSummary *summary, FILE *out)
{
    const bool explained = summary->reason != NULL && summary->reason[0] != '\0';
    fprintf(out, "\n%-9s %s%s", "state", summary->state, explained ? ": " : "");
    if (explained) put_visible(out, summary->reason);
    fputc('\n', out);
}

static void run_print_numbers(const RunSummary *summary, FILE *out)
{
    const int64_t now = summary->trials_done - summary->trials_before;
    fprintf(out, "%-9s %s of %s", "trials", text_count(summary->trials_done).text,
            summary->trials_total > 0 ? text_count(summary->trials_total).text : "an unlimited number");
    if (summary->trials_before > 0) fprintf(out, " (%s of them before)", text_count(summary->trials_before).text);
    run_print_state(summary, out);
    if (now <= 0) return;
    fprintf(out, "%-9s %s (kernels: %s); %s trials/s on %s\n", "time", text_duration(summary->wall_seconds).text,
            text_duration(summary->kernel_seconds).text, text_short((double)now / summary->wall_seconds).text,
            summary->device);
}

static void run_print_files(const char *folder, FILE *out)
{
    fprintf(out, "%-9s ", "files");
    put_visible(out, folder);
    fputs(": campaign.db (SQLite), shards/*.h5 (HDF5), resolved.yaml\n", out);
}

// A parameter whose best value is the least or the greatest one searched, where the model allows more.
static Error run_print_ends(const StoredCampaign *campaign, int64_t best, FILE *out, Arena *arena)
{
    const Spec *spec = &campaign->spec;
    Search search;
    double *parameter = ARENA_NEW(arena, double, spec->configured.n_parameters);
    TRY(search_init(spec, arena, &search));
    TRY(search_read_trial(&search, campaign->database, best, arena, parameter));
    for (int a = 0; a < spec->n_axes; a++) {
        const Parameter *row = &spec->configured.parameters[spec->axes[a].parameter];
        const double x = parameter[spec->axes[a].parameter];
        const Values *values = &spec->axes[a].values;
        double low, high;
        if ((!values_are_range(values) && values->count < 3) || values->choices != NULL) continue; // words have no ends
        values_ends(values, &low, &high);
        const double near = 1e-3 * (high - low);
        const bool least = x <= low + near && low > row->low, greatest = x >= high - near && high < row->high;
        if (least || greatest)
            fprintf(out, "%-9s %s is %s, at the %s end of what was searched: widen its range\n", "range", row->name,
                    text_number(x).text, least ? "lower" : "upper");
    }
    return error_none();
}

// How many trials have a metric above the bound beyond which the model's numbers are doubtful.
static Error run_print_doubts(const StoredCampaign *campaign, FILE *out, Arena *arena)
{
    const Model *model = campaign->spec.model;
    TrialColumns columns;
    TRY(trial_columns(campaign->database, &campaign->spec, arena, &columns));
    for (int i = 0; i < model->n_doubts; i++) {
        const Doubt *doubt = &model->doubts[i];
        Condition above;
        int64_t doubtful = 0, rows = 0;
        if (trial_column_find(&columns, doubt->metric) < 0) continue;
        const char *text = arena_format(arena, "%s > %s", doubt->metric, text_number(doubt->most).text);
        TRY(condition_read(&columns, text, arena, &above));
        TRY(trials_count_of(campaign->database, &above, arena, &doubtful));
        TRY(trials_rows(campaign->database, &rows));
        if (doubtful > 0)
            fprintf(out, "%-9s %s of %s trials have %s: %s\n", "doubtful", text_count(doubtful).text,
                    text_count(rows).text, text, doubt->advice);
    }
    return error_none();
}

// Complete commands to type next, with --results if they need it.
static Error run_print_next(const CommandLine *line, const StoredCampaign *campaign, int64_t best_trial, FILE *out)
{
    Recommendation recommendation;
    TRY(recommendation_read(campaign, line->arena, &recommendation));
    const char *of_trial =
        recommended_trial(&recommendation, -1) < 0 ? "" : arena_format(line->arena, " --trial %" PRId64, best_trial);
    const char *name = campaign->name, *allow = command_allow(campaign->spec.model);
    const char *root = command_results_option(line->results, line->arena), *program = command_program(line->arena);
    fprintf(out, "%-9s %s report %s%s\n", "next", program, name, root);
    if (best_trial < 0) return error_none();
    fprintf(out, "%-9s %s show %s/%" PRId64 "%s\n", "", program, name, best_trial, root);
    fprintf(out, "%-9s %s replay %s/%" PRId64 "%s%s\n", "", program, name, best_trial, allow, root);
    if (campaign->spec.objective.n_residuals > 0)
        fprintf(out, "%-9s %s fit %s/best%s%s\n", "", program, name, allow, root);
    if (!spec_several(&campaign->spec) && campaign->spec.n_cases == 0)
        fprintf(out, "%-9s %s verify %s%s%s%s\n", "", program, name, of_trial, allow, root);
    return error_none();
}

// one_line: after --progress json, where each line is one object.
static void run_print_json(const RunSummary *summary, const Timings *timings, const Recommendation *recommendation,
                           const char *name, bool one_line, FILE *out)
{
    Json json;
    json_start(&json, out, !one_line);
    json_object(&json, NULL);
    json_text(&json, "campaign", name);
    json_text(&json, "state", summary->state);
    json_text(&json, "reason", summary->reason);
    json_integer(&json, "trials_total", summary->trials_total);
    json_integer(&json, "trials_done", summary->trials_done);
    json_integer(&json, "trials_before", summary->trials_before);
    json_integer(&json, "lanes_run", summary->lanes_run);
    json_integer(&json, "failures", summary->failures);
    json_number(&json, "wall_seconds", summary->wall_seconds);
    json_number(&json, "kernel_seconds", summary->kernel_seconds);
    json_number(&json, "first_launch_to_last_commit", summary->first_launch_to_last_commit);
    json_number(&json, "record_seconds", summary->record_seconds);
    json_number(&json, "index_seconds", summary->index_seconds);
    if (timings != NULL) timings_json(timings, &json);
    json_number(&json, "best_fitness", summary->best_fitness);
    if (!isnan(summary->best_fitness)) json_integer(&json, "best_trial", summary->best_trial);
    recommended_json(recommendation, &json);
    json_text(&json, "device", summary->device);
    json_text(&json, "folder", summary->folder);
    json_close(&json, '}');
    if (one_line) fputc('\n', out);
}

static void run_print_timings(const RunSummary *summary, const Timings *timings, FILE *out)
{
    fprintf(out, "\n%-9s first launch to last commit %s; then ", "timings",
            text_duration(summary->first_launch_to_last_commit).text);
    fprintf(out, "%s for the index, %s for arrays chosen by rank\n%-9s ", text_duration(summary->index_seconds).text,
            text_duration(summary->record_seconds).text, "");
    timings_print(timings, out);
}

static Error run_print(const CommandLine *line, const RunSummary *summary, const StoredCampaign *campaign,
                       const Timings *timings, FILE *out)
{
    int64_t best = -1;
    fputc('\n', out);
    run_print_numbers(summary, out);
    TRY(run_print_failures(campaign, summary, out));
    run_print_files(summary->folder, out);
    if (switch_given(line, "timings")) run_print_timings(summary, timings, out);
    fputc('\n', out);
    if (summary->trials_done > 0) TRY(best_print(campaign, RUN_BEST_SHOWN, TABLE_TEXT, out, line->arena, &best));
    fputc('\n', out);
    if (best >= 0) TRY(run_print_ends(campaign, best, out, line->arena));
    TRY(run_print_doubts(campaign, out, line->arena));
    return run_print_next(line, campaign, best, out);
}

static Error run_summary(const CommandLine *line, const RunSummary *summary, bool recommends, const char *name)
{
    const bool stream = switch_choice(line, "progress", PROGRESS_AUTO) == PROGRESS_JSON; // on standard output
    StoredCampaign campaign;
    Timings timings;
    Recommendation recommendation = {.best = -1};
    if (switch_given(line, "json") && !switch_given(line, "timings") && !recommends) {
        run_print_json(summary, NULL, &recommendation, name, stream, line->out);
        return error_none();
    }
    const Error opened = campaign_open(line->results, name, line->arena, &campaign);
    if (opened.kind != OK && file_missing(arena_format(line->arena, "%s/" CAMPAIGN_DATABASE, summary->folder))) {
        run_print_numbers(summary, stream ? line->messages : line->out);
        fprintf(line->messages, "%s no longer exists: another process removed or renamed it\n", name);
        return error_none();
    }
    TRY(opened);
    const bool timed = switch_given(line, "timings");
    Error error = timings_read(campaign.database, summary->first_batch, &timings);
    if (error.kind == OK && switch_given(line, "json"))
        error = recommendation_read(&campaign, line->arena, &recommendation);
    if (error.kind == OK && switch_given(line, "json"))
        run_print_json(summary, timed ? &timings : NULL, &recommendation, name, stream, line->out);
    else if (error.kind == OK)
        error = run_print(line, summary, &campaign, &timings, stream ? line->messages : line->out);
    campaign_close(&campaign);
    return error;
}

// ---- run and resume -------------------------------------------------------------------------------------------------

static RunOptions run_options(const CommandLine *line, const Spec *spec)
{
    RunOptions options = command_run_options(line, spec);
    options.name = command_campaign_name(line, spec);
    options.batch = switch_integer(line, "batch", 0);
    options.slice = switch_integer(line, "slice", 0);
    options.retry = switch_text(line, "retry", NULL);
    options.extend = switch_given(line, "extend");
    options.ignore_space = switch_given(line, "ignore-space");
    options.fallback_cpu = strcmp(switch_text(line, "fallback", "none"), "cpu") == 0;
    options.accept_version = switch_given(line, "accept-version");
    options.out = line->out;
    return options;
}

static void run_take_text(void *out, const char *text, size_t length) { fwrite(text, 1, length, out); }

// --profile-graph: one step with the spec's fixed values. Its message goes to `messages`, as the output may be JSON.
static Error run_profile_graph(const CommandLine *line, const Spec *spec)
{
    const char *path = switch_text(line, "profile-graph", NULL);
    if (path == NULL) return error_none();
    const size_t length = strlen(path);
    const bool dot = length > 4 && strcmp(path + length - 4, ".dot") == 0;
    CommandLine aside = *line;
    if (strcmp(path, "-") != 0) aside.out = line->messages;
    CommandOutput output;
    TRY(command_output_start(path, &output));
    const TextSink sink = {.write = run_take_text, .to = output.stream.out};
    const Error error =
        step_picture(&spec->configured, spec->fixed, command_threads(line), dot ? STEP_DOT : STEP_TRACE, sink);
    return command_output_finish(&aside, &output, error);
}

// Not where a budget of time or of failures stopped it.
static bool run_has_ended(const RunSummary *summary)
{
    if (summary->state == NULL) return false;
    const bool by_trials = summary->reason != NULL && strncmp(summary->reason, "limits.trials", 13) == 0;
    return strcmp(summary->state, "done") == 0 || (strcmp(summary->state, "stopped") == 0 && by_trials);
}

static Error run_campaign(const CommandLine *line, const Spec *spec, const RunOptions *options)
{
    RunSummary summary = {.best_fitness = (double)NAN};
    TRY(run_profile_graph(line, spec));
    interrupt_install();
    TRY(doctor_mend(options, options->name != NULL ? options->name : spec->experiment, line->arena));
    Error error = campaign_run(spec, options, line->arena, &summary);
    if (error.kind == ERROR_INTERRUPTED && spec->part.count > 0) error.kind = ERROR_UNFINISHED; // for schedulers
    TRY(error);
    const bool recommends = recommend_wanted(spec) && run_has_ended(&summary);
    const CampaignLocation location = {.results = options->results,
                                       .name = options->name,
                                       .folder = arena_format(line->arena, "%s/%s", options->results, options->name)};
    if (recommends) TRY(recommend_run(&location, options, line->arena));
    return run_summary(line, &summary, recommends, options->name);
}

// For a search that starts from another campaign, adds what it takes to the spec.
static Error run_start(const CommandLine *line, const Overrides *earlier, Spec *spec)
{
    const char *taken = NULL;
    TRY(command_taken(line, spec, command_campaign_name(line, spec), &taken));
    if (taken == NULL) return error_none();
    return command_spec_with(line, line->arguments[0], earlier,
                             arena_format(line->arena, "search.%s.taken=%s", spec->method->name, taken), spec);
}

static Error run_read_overrides(const char *path, Arena *arena, Overrides *overrides)
{
    Database *database = NULL;
    TRY(database_open(path, DATABASE_READ, &database));
    const Error error = overrides_read(database, arena, overrides);
    const Error closing = database_close(database);
    (void)closing; // a reader has nothing to lose
    return error;
}

// --extend keeps the overrides of earlier runs, except those that this run sets again.
static Error run_remember(const CommandLine *line, Spec *spec, Overrides *earlier)
{
    Arena *arena = line->arena;
    const char *name = command_campaign_name(line, spec), *folder = NULL;
    const Overrides given = command_overrides(line);
    Overrides stored = {.count = 0};
    if (!switch_given(line, "extend")) return error_none();
    TRY(campaign_folder(line->results, name, arena, &folder));
    const char *path = arena_format(arena, "%s/" CAMPAIGN_DATABASE, folder);
    if (!file_exists(path)) return error_none();
    TRY(run_read_overrides(path, arena, &stored));
    *earlier = overrides_without(&stored, &given, arena);
    if (earlier->count == 0) return error_none();
    fprintf(line->messages, "%s keeps the overrides of earlier runs: %s (--set changes them)\n", name,
            overrides_text(earlier, arena));
    return command_spec_with(line, line->arguments[0], earlier, NULL, spec);
}

// A campaign that is run again as a spec makes another one.
static Error run_needs_name(const CommandLine *line)
{
    const char *text = line->arguments[0];
    if (command_is_file(text, line->arena) || switch_given(line, "name")) return error_none();
    return error_make(ERROR_USAGE,
                      "%.128s is a campaign: add --name NEW to run its spec as a new campaign; `%s` continues it", text,
                      command_again(line->results, "resume %.128s", text).text);
}

static Error run_one(const CommandLine *line)
{
    Spec spec;
    Overrides earlier = {.count = 0};
    if (switch_given(line, "parts") && !switch_given(line, "part"))
        return error_make(ERROR_USAGE, "--parts is the number of parts for --part auto: add --part auto");
    TRY(command_spec(line, line->arguments[0], &spec));
    TRY(run_needs_name(line));
    TRY(run_remember(line, &spec, &earlier));
    TRY(run_start(line, &earlier, &spec));
    TRY(explain_warn(&spec, line->arena, line->messages));
    RunOptions options = run_options(line, &spec);
    if (!switch_given(line, "part")) return run_campaign(line, &spec, &options);
    CommandLine there = *line;
    TRY(part_prepare(line, &spec, &options));
    there.results = options.results;
    return run_campaign(&there, &spec, &options);
}

static Error run_run(const CommandLine *line) { return command_sweep(line, run_one); }

// A run that was killed before it stored the spec leaves only the file.
static Error run_stored_spec(const CommandLine *line, const CampaignLocation *location, Spec *spec)
{
    StoredText text;
    const Overrides given = command_overrides(line);
    TRY(campaign_text(location, line->arena, &text));
    if (text.resolved != NULL) return command_kept_spec(line, location, &text, &given, NULL, spec);
    return command_spec(line, arena_format(line->arena, "%s/resolved.yaml", location->folder), spec);
}

static Error run_resume(const CommandLine *line)
{
    Spec spec;
    CampaignLocation location;
    TRY(campaign_find(line, line->arguments[0], &location));
    TRY(run_stored_spec(line, &location, &spec));
    RunOptions options = run_options(line, &spec);
    options.results = location.results;
    options.name = location.name;
    options.resume_only = true;
    CommandLine there = *line;
    there.results = location.results;
    return run_campaign(&there, &spec, &options);
}

enum { RUN_ROWS_OF_SPEC = 4 }; // the first rows, which resume does not have
static const Switch run_rows[] = {
    {"name", SWITCH_TEXT, "NAME", 0, 0, "name of the campaign (default: the experiment's)"},
    {"part", SWITCH_TEXT, "K/N|auto", 0, 0,
     "run part K of N, in the folder NAME.parts, for gather; auto: the task of a Slurm, PBS or Kubernetes array"},
    {"parts", SWITCH_INTEGER, "N", 1, PARTS_MAX,
     "number of parts for --part auto (default: the number of tasks in the array)"},
    {"seed", SWITCH_INTEGER, "N", 0, INTEGER_MAX, "seed of all random numbers, as --set seed=N (default: the spec's)"},
    {"batch", SWITCH_INTEGER, "N", 0, 1LL << 31,
     "number of replicates that run together (default 0: the spec's, else by the device)"},
    {"slice", SWITCH_INTEGER, "N", 0, 1LL << 40,
     "time steps per launch of a kernel (default 0: as many as take about 0.1 s)"},
    {"fallback", SWITCH_CHOICE, "none|cpu", 0, 0,
     "device to continue on when the GPU fails and there is no other GPU (default none)"},
    {"extend", SWITCH_FLAG, NULL, 0, 0,
     "add the trials of a changed spec to the campaign; overrides (--set) of earlier runs stay"},
    {"retry", SWITCH_TEXT, "failed|KIND[,KIND]", 0, 0,
     "first run failed trials again: all, or those with these kinds of failure"},
    {"accept-version", SWITCH_FLAG, NULL, 0, 0,
     "continue even if the program of `model: command` reports a different version"},
    {"ignore-space", SWITCH_FLAG, NULL, 0, 0, "run even if the results may not fit on the disk"},
    {"timings", SWITCH_FLAG, NULL, 0, 0, "print the time of kernels, idle device, copies, search, HDF5 and SQLite"},
    {"profile-graph", SWITCH_FILE, "FILE.dot|json", 0, 0,
     "first draw how CPU threads share one step of a world (model rigid, not with rattle), for chrome://tracing, "
     "or for Graphviz if FILE ends in .dot"},
    {"json", SWITCH_FLAG, NULL, 0, 0, "for programs: print the summary as JSON"},
};
static const Switches run_switches = {run_rows, sizeof run_rows / sizeof *run_rows};
static const Switches run_resume_switches = {run_rows + RUN_ROWS_OF_SPEC,
                                             sizeof run_rows / sizeof *run_rows - RUN_ROWS_OF_SPEC};

const Command command_run = {
    .name = "run",
    .arguments = "SPEC",
    .doc = "run a spec, or the spec of a campaign, as a campaign, or continue it; Ctrl-C keeps the finished "
           "trials",
    .examples = "  hopscotch run experiments/smoke.yaml\n"
                "  hopscotch run experiments/raibert_gains.yaml --name gains_v2 \\\n"
                "      --set 'search.over.thrust=[25,30]'\n"
                "  hopscotch run gains_v2 --name gains_v3 --set 'search.over.thrust=[35]'\n"
                "  hopscotch run experiments/chain_scaling.yaml --set simulation.stabilisation=baumgarte \\\n"
                "      --profile-graph step.json\n"
                "  hopscotch run my.yaml --backend cpu --threads 8 --progress json > progress.jsonl\n",
    .least = 1,
    .most = 1,
    .switches = {&run_switches, &switches_campaign, &switches_spec, &switches_backend},
    .run = run_run,
};

const Command command_resume = {
    .name = "resume",
    .arguments = "CAMPAIGN",
    .doc = "continue a campaign that was interrupted, killed or stopped by a limit",
    .examples = "  hopscotch resume raibert_gains\n"
                "  hopscotch resume raibert_gains --set limits.trials=2000000\n",
    .least = 1,
    .most = 1,
    .switches = {&run_resume_switches, &switches_campaign, &switches_spec, &switches_backend},
    .run = run_resume,
};
