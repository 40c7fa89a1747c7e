// hopscotch plan: estimates the cost of a run before it starts.
#include "command.h"

#include <string.h>

static bool plan_may_end_early(const Plan *plan) { return plan->trials_least < plan->trials; }

// A search that may end early has an upper limit; one without a limit, the time of its first generation.
static void plan_print_time(const Plan *plan, FILE *out)
{
    const double rounds = plan->round_trials > 0 ? (double)plan->trials / (double)plan->round_trials : 1.0;
    if (plan->trials_open)
        fprintf(out, "%-14s no limit; about %s (up to %s) for the first generation\n", "time",
                text_duration(plan->seconds).text, text_duration(plan->seconds_high).text);
    else if (plan->looked_at > 0)
        fprintf(out, "%-14s unknown; at most about %s (up to %s)\n", "time", text_duration(plan->seconds).text,
                text_duration(plan->seconds_high).text);
    else if (plan_may_end_early(plan))
        fprintf(out, "%-14s at most about %s (up to %s); about %s per generation\n", "time",
                text_duration(plan->seconds).text, text_duration(plan->seconds_high).text,
                text_duration(plan->seconds / rounds).text);
    else
        fprintf(out, "%-14s about %s (%s to %s)\n", "time", text_duration(plan->seconds).text,
                text_duration(plan->seconds_low).text, text_duration(plan->seconds_high).text);
}

// "at most 12,000, 120 per generation; tolerances may end a search early"
static void plan_print_trials(const Plan *plan, FILE *out)
{
    fprintf(out, "%-14s ", "trials");
    if (plan->looked_at > 0)
        fprintf(out,
                "unknown: exclude removes all of a sample of %s of %s; the estimates below are for %s, the most that "
                "may remain (95 %% confidence)",
                text_count(plan->looked_at).text, text_count(plan->trials + plan->excluded).text,
                text_count(plan->trials).text);
    else if (plan->trials_open)
        fprintf(out, "no fixed number: %s end it; the estimates below are for the first generation of %s", plan->early,
                text_count(plan->trials).text);
    else
        fprintf(out, "%s%s", plan_may_end_early(plan) ? "at most " : "", text_count(plan->trials).text);
    if (!plan->trials_open && plan->round_trials > 0)
        fprintf(out, ", %s per generation", text_count(plan->round_trials).text);
    if (!plan->trials_open && plan->early != NULL && plan_may_end_early(plan))
        fprintf(out, "; %s may end a search early", plan->early);
}

// s, of `trials` whole trials
static double plan_simulated(const Spec *spec, double trials)
{
    return trials * spec->replicates.count * configured_duration(&spec->configured);
}

static void plan_print(const Spec *spec, const Plan *plan, FILE *out)
{
    fprintf(out, "%-14s %s\n", "experiment", spec->experiment);
    plan_print_trials(plan, out);
    if (plan->excluded > 0 && plan->looked_at == 0)
        fprintf(out, " (%s%s more are excluded)", plan->excluded_estimated ? "about " : "",
                text_count(plan->excluded).text);
    fprintf(out, "\n%-14s %s per trial, ", "replicates", replicates_each(spec).text);
    if (race_of_generations(spec)) fprintf(out, "%s to ", text_count(plan->lanes_least).text);
    fprintf(out, "%s in all", text_count(plan->lanes).text);
    if (race_of_generations(spec)) fputs(" (a race: it depends on the noise)", out);
    if (race_of_all(spec))
        fprintf(out, " (a race of %d rungs; equal shares: %s)", race_rungs(spec),
                text_count(plan->trials * spec->replicates.count).text);
    fputc('\n', out);
    if (spec_has_rungs(spec))
        fprintf(out, "%-14s %s of simulated time, at most: %.3g %% of %s without limits.retire\n", "rungs",
                text_duration(plan_simulated(spec, rungs_simulated(spec, plan->trials))).text,
                100 * rungs_simulated(spec, plan->trials) / (double)plan->trials,
                text_duration(plan_simulated(spec, (double)plan->trials)).text);
    fprintf(out, "%-14s %s", "batches", text_count(plan->batches).text);
    fprintf(out, " of up to %s replicates\n", text_count(plan->batch_lanes).text);
    fprintf(out, "%-14s %s%s%s%s\n", "device", plan->device, plan->other[0] != '\0' ? " (" : "", plan->other,
            plan->other[0] != '\0' ? ")" : "");
    if (plan->kernel[0] != '\0') fprintf(out, "%-14s %s\n", "kernel", plan->kernel);
    fprintf(out, "%-14s %s on the device, %s on the host\n", "memory", text_bytes(plan->device_bytes).text,
            text_bytes(plan->host_bytes).text);
    fprintf(out, "%-14s %s of HDF5 (%s trajectories), %s of SQLite", "disk", text_bytes(plan->hdf5_bytes).text,
            text_count(plan->traced_lanes).text, text_bytes(plan->sqlite_bytes).text);
    if (plan->block_bytes > 0) fprintf(out, ", %s of blocks of trials", text_bytes(plan->block_bytes).text);
    fprintf(out, "; %s are free\n", text_bytes(plan->disk_free).text);
    plan_print_time(plan, out);
    if (plan->why_bound != NULL && plan_may_end_early(plan))
        fprintf(out, "%-14s trials, disk and time are upper bounds: %s\n", "bound", plan->why_bound);
    if (plan->idle != NULL) fprintf(out, "%-14s %s\n", "workers", plan->idle);
    if (plan->warning[0] != '\0') fprintf(out, "%-14s %s\n", "warning", plan->warning);
}

static void plan_print_json(const Spec *spec, const Plan *plan, FILE *out)
{
    const struct {
        const char *name;
        double value;
    } sizes[] = {{"host_bytes", plan->host_bytes},    {"device_bytes", plan->device_bytes},
                 {"hdf5_bytes", plan->hdf5_bytes},    {"sqlite_bytes", plan->sqlite_bytes},
                 {"block_bytes", plan->block_bytes},  {"disk_free", plan->disk_free},
                 {"seconds", plan->seconds},          {"seconds_low", plan->seconds_low},
                 {"seconds_high", plan->seconds_high}};
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {
        {"trials", plan->trials},   {"trials_least", plan->trials_least}, {"round_trials", plan->round_trials},
        {"rounds", plan->rounds},   {"excluded", plan->excluded},         {"replicates", spec->replicates.count},
        {"lanes", plan->lanes},     {"lanes_least", plan->lanes_least},   {"batch_lanes", plan->batch_lanes},
        {"batches", plan->batches}, {"traced_lanes", plan->traced_lanes}};
    Json json;
    json_start(&json, out, true);
    json_object(&json, NULL);
    json_text(&json, "experiment", spec->experiment);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) json_integer(&json, counts[i].name, counts[i].value);
    json_boolean(&json, "excluded_estimated", plan->excluded_estimated);
    json_boolean(&json, "trials_known", plan->looked_at == 0);
    json_boolean(&json, "trials_open", plan->trials_open);
    json_text(&json, "early", plan->early);
    json_text(&json, "why_bound", plan_may_end_early(plan) ? plan->why_bound : NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) json_number(&json, sizes[i].name, sizes[i].value);
    json_text(&json, "device", plan->device);
    json_text(&json, "other_device", plan->other[0] != '\0' ? plan->other : NULL);
    json_text(&json, "kernel", plan->kernel[0] != '\0' ? plan->kernel : NULL);
    json_text(&json, "warning", plan->warning[0] != '\0' ? plan->warning : NULL);
    json_text(&json, "idle", plan->idle);
    json_text(&json, "refusal", plan->refusal[0] != '\0' ? plan->refusal : NULL);
    json_close(&json, '}');
}

static Error plan_one(const CommandLine *line)
{
    Spec spec;
    Plan plan;
    TRY(command_spec(line, line->arguments[0], &spec));
    TRY(rows_check_names(&spec));
    const RunOptions options = {.results = line->results,
                                .name = line->swept_name != NULL ? line->swept_name : switch_text(line, "name", NULL),
                                .backend = command_spec_backend(line, &spec),
                                .batch = switch_integer(line, "batch", 0),
                                .progress = PROGRESS_NONE,
                                .out = line->out,
                                .messages = line->messages};
    TRY(plan_make(&spec, &options, line->arena, &plan));
    if (switch_given(line, "json"))
        plan_print_json(&spec, &plan, line->out);
    else
        plan_print(&spec, &plan, line->out);
    return plan.refusal[0] == '\0' ? error_none() : error_make(ERROR_MACHINE, "the run would fail: %s", plan.refusal);
}

static Error plan_run(const CommandLine *line) { return command_sweep(line, plan_one); }

static const Switch plan_rows[] = {
    {"batch", SWITCH_INTEGER, "N", 0, 1LL << 31,
     "number of replicates that run together (default 0: the spec's, else by the device)"},
    {"name", SWITCH_TEXT, "NAME", 0, 0, "name of the campaign (default: the experiment's)"},
};
static const Switches plan_switches = {plan_rows, 2};

const Command command_plan = {
    .name = "plan",
    .arguments = "SPEC",
    .doc = "estimate trials, batches, memory, disk and time of a run; refuse a run that does not fit",
    .examples = "  hopscotch plan experiments/raibert_gains.yaml\n"
                "  hopscotch plan my.yaml --backend cpu --threads 2 --set replicates.count=32\n",
    .least = 1,
    .most = 1,
    .switches = {&plan_switches, &switches_spec, &switches_backend, &switches_json},
    .run = plan_run,
};
