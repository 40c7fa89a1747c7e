// hopscotch check: prints all errors of a spec, or one line about what it would run.
#include "command.h"

#include <inttypes.h>
#include <string.h>

// " over k_fp, thrust": the searched parameters, or those that are derived
static void check_print_axes(const Spec *spec, bool derived, const char *before, FILE *out)
{
    for (int i = 0; i < spec->n_axes + spec->n_derived + spec->n_outer; i++) {
        const Axis *axis = &spec->axes[i];
        if ((axis->derive != NULL) != derived) continue;
        fprintf(out, "%s %s", before, spec->configured.parameters[axis->parameter].name);
        before = ",";
    }
}

// A line for people: "12,960 trials x 8 replicates of hopper, 5 s each".
static void check_print(const Spec *spec, const Search *search, const Remark *remarks, int n_remarks, FILE *out)
{
    const Configured *configured = &spec->configured;
    const double simulated = configured_duration(configured);
    fprintf(out, "ok: %s: ", spec->experiment);
    if (search->total >= 0)
        fprintf(out, "%s trial%s", text_count(search->total).text, search->total == 1 ? "" : "s");
    else
        fprintf(out, "trials until %s stops", spec->method->name);
    if (spec->n_exclude > 0)
        fprintf(out, " before exclude");
    else if (spec->n_when > 0 || spec->n_grids > 1)
        fprintf(out, " at most"); // equal trials count once
    if (spec->replicates.count > 1) fprintf(out, " x %s replicates", replicates_each(spec).text);
    if (spec->n_cases > 0) fprintf(out, " under %d cases", spec->n_cases);
    fprintf(out, " of %s", spec->model->name);
    if (simulated > 0)
        fprintf(out, ", %s%s %s each", spec_has_rungs(spec) || spec->n_cases > 0 ? "up to " : "",
                text_number(simulated).text, configured_iterates(configured) ? "iterations" : "s");
    fprintf(out, ", %s", spec->method->name);
    check_print_axes(spec, false, " over", out);
    check_print_axes(spec, true, "; derived", out);
    fprintf(out, "\n");
    for (int i = 0; i < n_remarks; i++)
        fprintf(out, "%-12s %s%s\n", remarks[i].name, remarks[i].warning ? "warning: " : "", remarks[i].text);
}

// The unit of each parameter, metric and column of trajectories. A column has the name of another row only where it is
// the same quantity.
static void check_units_json(const Spec *spec, Json *json)
{
    const Configured *configured = &spec->configured;
    const int n_named = configured_named(configured);
    json_object(json, "units");
    for (int p = 0; p < n_named; p++) json_text(json, configured->parameters[p].name, configured->parameters[p].unit);
    for (int m = 0; m < configured->n_metrics; m++)
        json_text(json, configured->metrics[m].name, configured->metrics[m].unit);
    for (int c = 0; c < configured->n_columns; c++) {
        bool known = false;
        for (int p = 0; p < n_named && !known; p++)
            known = strcmp(configured->parameters[p].name, configured->columns[c].name) == 0;
        for (int m = 0; m < configured->n_metrics && !known; m++)
            known = strcmp(configured->metrics[m].name, configured->columns[c].name) == 0;
        if (!known) json_text(json, configured->columns[c].name, configured->columns[c].unit);
    }
    json_close(json, '}');
}

static void check_print_json(const Spec *spec, const Search *search, const Remark *remarks, int n_remarks, FILE *out)
{
    Json json;
    json_start(&json, out, true);
    json_object(&json, NULL);
    json_boolean(&json, "ok", true);
    json_text(&json, "experiment", spec->experiment);
    json_text(&json, "model", spec->model->name);
    json_text(&json, "method", spec->method->name);
    json_integer(&json, "trials", search->total);
    json_integer(&json, "replicates", spec->replicates.count);
    json_number(&json, "simulated_seconds", configured_duration(&spec->configured));
    json_array(&json, "searched");
    for (int i = 0; i < spec->n_axes + spec->n_derived + spec->n_outer; i++)
        json_text(&json, NULL, spec->configured.parameters[spec->axes[i].parameter].name);
    json_close(&json, ']');
    json_text(&json, "hash", spec->hash.hex);
    json_array(&json, "remarks");
    for (int i = 0; i < n_remarks; i++) {
        json_object(&json, NULL);
        json_text(&json, "name", remarks[i].name);
        json_text(&json, "text", remarks[i].text);
        json_boolean(&json, "warning", remarks[i].warning);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    check_units_json(spec, &json);
    json_close(&json, '}');
}

// Checks the campaign that the search starts from. If there is none yet, warns: it may be run later.
static Error check_start(const CommandLine *line, const Spec *spec)
{
    const char *taken, *from = spec->warm.from;
    if (from == NULL) return error_none();
    if (!file_missing(arena_format(line->arena, "%s/%s/%s", line->results, from, CAMPAIGN_DATABASE)))
        return command_taken(line, spec, spec->experiment, &taken);
    Diagnostics *diagnostics = diagnostics_new(line->arena);
    diagnose_warning(diagnostics, spec->warm.at, "there is no campaign %s under %s; run it before this one", from,
                     line->results);
    diagnostics_print(diagnostics, line->messages, terminal_colour(line->messages));
    return error_none();
}

// Where a run would look for the program.
static Error check_program(const CommandLine *line, const Spec *spec)
{
    const char *folder = switch_text(line, "program-folder", spec->folder);
    if (!spec->model->runs_program || folder == NULL) return error_none();
    const Error error = program_check(&spec->configured, folder);
    if (error.kind != ERROR_USER || spec->option_points[0].count == 0 ||
        strchr(spec->option_points[0].names[0], '/') != NULL)
        return error;
    fprintf(line->messages, "warning: %s\n", error.text); // a program in PATH may be on the machine that runs it
    return error_none();
}

static Error check_one(const CommandLine *line)
{
    Spec spec;
    Search search;
    Remark remarks[REMARKS_MAX + 3];
    int n_remarks;
    TRY(command_spec(line, line->arguments[0], &spec));
    TRY(check_start(line, &spec));
    TRY(rows_check_names(&spec));
    TRY(check_program(line, &spec));
    TRY(search_init(&spec, line->arena, &search));
    TRY(explain(&spec, &search, line->arena, remarks, &n_remarks));
    if (switch_given(line, "resolved"))
        fputs(spec.resolved, line->out);
    else if (switch_given(line, "json"))
        check_print_json(&spec, &search, remarks, n_remarks, line->out);
    else
        check_print(&spec, &search, remarks, n_remarks, line->out);
    return error_none();
}

static Error check_run(const CommandLine *line) { return command_sweep(line, check_one); }

static const Switch check_rows[] = {
    {"resolved", SWITCH_FLAG, NULL, 0, 0, "print the spec with every default written out"},
};
static const Switches check_switches = {check_rows, 1};

const Command command_check = {
    .name = "check",
    .arguments = "SPEC",
    .doc = "check a spec: print all its errors, or a summary and the model's remarks",
    .examples = "  hopscotch check experiments/raibert_gains.yaml\n"
                "  hopscotch check my.yaml --set 'search.over.thrust=[25,30]' --set seed=3\n"
                "  hopscotch check my.yaml --resolved > complete.yaml\n",
    .least = 1,
    .most = 1,
    .switches = {&check_switches, &switches_spec, &switches_json},
    .run = check_run,
};
