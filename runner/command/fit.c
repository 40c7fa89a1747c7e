// hopscotch fit: prints the parameters that were fitted to residuals, with intervals, what the residuals do not
// determine, and whether what is left of them is noise.
#include "command.h"

#include <inttypes.h>
#include <math.h>

static Error fit_print_parameters(const Spec *spec, const FitData *data, const FitResult *result, TableFormat format,
                                  FILE *out)
{
    static const char *const columns[] = {"parameter", "value", "low", "high", "unit", "error", "remark"};
    bool remarks = format != TABLE_TEXT;
    for (int i = 0; i < data->n; i++) remarks = remarks || fit_remark(&result->parameters[i])[0] != '\0';
    Table *table = table_start(out, format, (int)(sizeof columns / sizeof *columns) - !remarks, columns);
    for (int i = 0; i < data->n; i++) {
        const FitParameter *of = &result->parameters[i];
        table_text(table, spec->configured.parameters[data->parameter[i]].name);
        table_exact(table, data->value[i]);
        table_number(table, of->low);
        table_number(table, of->high);
        table_text(table, spec->configured.parameters[data->parameter[i]].unit);
        table_number(table, of->error);
        if (remarks) table_text(table, fit_remark(of));
    }
    return table_finish(table);
}

static Error fit_print_held(const FitData *data, const FitResult *result, Arena *arena, TableFormat format, FILE *out)
{
    static const char *const columns[] = {"recording", "column", "count", "fitted", "held out", "p", "remark"};
    int count = 0;
    const FitColumn *held = fit_validate(data, result, arena, &count);
    if (data->n_recordings == 0)
        return error_make(ERROR_USER, "the spec has no `validate`: recordings that no trial sees");
    bool remarks = format != TABLE_TEXT;
    for (int i = 0; i < count; i++) remarks = remarks || held[i].larger || held[i].count == 0;
    Table *table = table_start(out, format, (int)(sizeof columns / sizeof *columns) - !remarks, columns);
    for (int i = 0; i < count; i++) {
        table_text(table, held[i].recording);
        table_text(table, held[i].column);
        table_integer(table, held[i].count);
        table_number(table, held[i].fitted);
        table_number(table, held[i].held);
        table_number(table, held[i].p);
        if (remarks) table_text(table, held[i].count == 0 ? "the run fails" : held[i].larger ? "larger" : "");
    }
    return table_finish(table);
}

static Error fit_print_residuals(const FitData *data, const FitResult *result, TableFormat format, FILE *out)
{
    static const char *const columns[] = {"residual", "count", "rms", "noise", "neighbours", "p", "remark"};
    Table *table = table_start(out, format, (int)(sizeof columns / sizeof *columns), columns);
    for (int s = 0; s < data->n_series; s++) {
        const FitNoise *noise = &result->noise[s];
        table_text(table, data->series[s].name);
        table_integer(table, data->series[s].count);
        table_number(table, noise->rms);
        table_number(table, noise->noise);
        table_number(table, noise->neighbours);
        table_number(table, noise->p);
        table_text(table, noise->coloured && noise->shifted ? "not white, mean not 0"
                          : noise->coloured                 ? "not white"
                          : noise->shifted                  ? "mean not 0"
                                                            : "");
    }
    return table_finish(table);
}

static Error fit_print_correlation(const Spec *spec, const FitData *data, const FitResult *result, TableFormat format,
                                   FILE *out)
{
    static const char *const columns[] = {"parameter", "with", "correlation"};
    Table *table = table_start(out, format, (int)(sizeof columns / sizeof *columns), columns);
    for (int i = 0; i < data->n; i++) {
        for (int j = 0; j < i; j++) {
            table_text(table, spec->configured.parameters[data->parameter[j]].name);
            table_text(table, spec->configured.parameters[data->parameter[i]].name);
            table_number(table, result->correlation[i * data->n + j]);
        }
    }
    return table_finish(table);
}

static Error fit_print_lacks(const Spec *spec, const FitResult *result, TableFormat format, FILE *out)
{
    static const char *const columns[] = {"parameter", "value", "wanted", "unit", "error", "squares", "p", "remark"};
    Table *table = table_start(out, format, (int)(sizeof columns / sizeof *columns), columns);
    for (int k = 0; k < result->n_lacks; k++) {
        const FitLack *lack = &result->lacks[k];
        table_text(table, spec->configured.parameters[lack->parameter].name);
        table_exact(table, lack->value);
        table_number(table, lack->value + lack->change);
        table_text(table, spec->configured.parameters[lack->parameter].unit);
        table_number(table, lack->error);
        table_number(table, lack->squares);
        table_number(table, lack->p);
        table_text(table, lack->lacking ? "lacking" : "");
    }
    return table_finish(table);
}

static void fit_print_lines(const CommandLine *line, const StoredCampaign *campaign, int64_t trial, const FitData *data,
                            const FitResult *result)
{
    FILE *out = line->messages;
    int count = 0;
    const FitLine *lines = fit_lines(&campaign->spec, data, result, line->arena, &count);
    if (data->noise > 0.0)
        fprintf(out,
                "%s/%" PRId64 ": relative error %s (%s) by %" PRId64
                " residuals, %d parameters, condition number %.3g\n",
                campaign->name, trial, isnan(data->fitness) ? "infinite" : text_number(data->fitness).text,
                information_criterion(&campaign->spec), data->count, data->n, result->condition);
    else
        fprintf(out, "%s/%" PRId64 ": root mean square %s of %" PRId64 " residuals, %s%s\n", campaign->name, trial,
                text_number(data->fitness).text, data->count,
                data->n == 0
                    ? "no parameter is searched"
                    : arena_format(line->arena, "%d parameters, condition number %.3g", data->n, result->condition),
                data->by_differences ? "; derivatives by differences" : "");
    for (int k = 0; k < count; k++) fprintf(out, "%-11s %s\n", lines[k].about, lines[k].text);
}

// The same for programs: the head of an object, whose last member is the table.
static void fit_json_head(const CommandLine *line, const StoredCampaign *campaign, int64_t trial, const FitData *data,
                          const FitResult *result, Json *json)
{
    int count = 0;
    const FitLine *lines = fit_lines(&campaign->spec, data, result, line->arena, &count);
    json_start(json, line->out, true);
    json_object(json, NULL);
    json_text(json, "campaign", campaign->name);
    json_integer(json, "trial", trial);
    json_number(json, data->noise > 0.0 ? "relative_error" : "rms", data->fitness);
    json_integer(json, "residuals", data->count);
    json_integer(json, "searched", data->n);
    json_number(json, "condition", result->condition);
    json_boolean(json, "by_differences", data->by_differences);
    json_array(json, "remarks");
    for (int k = 0; k < count; k++) {
        json_object(json, NULL);
        json_text(json, "name", lines[k].about);
        json_text(json, "text", lines[k].text);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_before(json, "rows");
}

// ---- the command ----------------------------------------------------------------------------------------------------

typedef struct FitAsked {
    const CommandLine *line;
    const Spec *spec;
    FitResult *result;
} FitAsked;

static Error fit_then(const FitModel *model, const FitData *data, void *context)
{
    FitAsked *asked = context;
    asked->result = fit_analyse(asked->spec, data, asked->line->arena);
    if (data->noise > 0.0) {
        const char *const of_data[] = {"bootstrap", "profile", "lacking", "residuals"};
        for (size_t k = 0; k < sizeof of_data / sizeof *of_data; k++)
            if (switch_given(asked->line, of_data[k]))
                return error_make(ERROR_USER, "--%s needs a recording, and this campaign plans one", of_data[k]);
        return error_none();
    }
    TRY(fit_lacks(model, asked->result));
    TRY(fit_records(model, asked->result));
    if (switch_given(asked->line, "bootstrap") && switch_given(asked->line, "profile"))
        return error_make(ERROR_USAGE, "intervals are by --profile or by --bootstrap, not both");
    if (switch_given(asked->line, "bootstrap"))
        return fit_bootstrap(model, asked->result, switch_integer(asked->line, "bootstrap", 0));
    if (!switch_given(asked->line, "profile")) return error_none();
    return fit_profile(model, data, asked->result, asked->line->arena);
}

static Error fit_print_table(const CommandLine *line, const StoredCampaign *campaign, const FitData *data,
                             const FitResult *result, TableFormat format)
{
    const Spec *spec = &campaign->spec;
    if (switch_given(line, "held-out")) return fit_print_held(data, result, line->arena, format, line->out);
    if (switch_given(line, "residuals")) return fit_print_residuals(data, result, format, line->out);
    if (switch_given(line, "lacking")) return fit_print_lacks(spec, result, format, line->out);
    if (switch_given(line, "correlation")) return fit_print_correlation(spec, data, result, format, line->out);
    return fit_print_parameters(spec, data, result, format, line->out);
}

static Error fit_at(const CommandLine *line, const StoredCampaign *campaign, int64_t trial)
{
    const BackendOptions backend = command_backend(line, "auto");
    const TableFormat format = command_format(line);
    FitAsked asked = {.line = line, .spec = &campaign->spec};
    FitData data;
    TRY(command_program_remark(line, campaign));
    TRY(campaign_fit(campaign, trial, &backend, line->arena, fit_then, &asked, &data));
    const FitResult *result = asked.result;
    if (format != TABLE_JSON) {
        fit_print_lines(line, campaign, trial, &data, result);
        return fit_print_table(line, campaign, &data, result, format);
    }
    Json json;
    fit_json_head(line, campaign, trial, &data, result, &json);
    TRY(fit_print_table(line, campaign, &data, result, format));
    json_close(&json, '}');
    return error_none();
}

static Error fit_command(const CommandLine *line)
{
    StoredCampaign campaign;
    int64_t trial = 0;
    TRY(campaign_open_trial(line, line->arguments[0], &campaign, &trial));
    const Error error = fit_at(line, &campaign, trial);
    campaign_close(&campaign);
    return error;
}

static const Switch fit_switch_rows[] = {
    {"residuals", SWITCH_FLAG, NULL, 0, 0, "print the series of residuals instead: their rms, noise, and test"},
    {"held-out", SWITCH_FLAG, NULL, 0, 0,
     "print the columns of recordings that were held out (validate) instead: their rms beside that where they were "
     "fitted, in their units"},
    {"profile", SWITCH_FLAG, NULL, 0, 0,
     "intervals by the profile of the sum of squares, for which all other parameters are fitted again: right also "
     "where the model is far from linear, and some hundred runs for each parameter"},
    {"bootstrap", SWITCH_INTEGER, "N", 99, 100000,
     "intervals by N fits to residuals that are drawn again in blocks of rows, which keep their correlation: right "
     "also where noise is not normal, and some runs for each fit"},
    {"lacking", SWITCH_FLAG, NULL, 0, 0,
     "print the parameters that are not searched instead: what the residuals want each to be, beside what was fitted"},
    {"correlation", SWITCH_FLAG, NULL, 0, 0, "print the correlation of each two parameters instead"},
};
static const Switches fit_switches = {fit_switch_rows, (int)(sizeof fit_switch_rows / sizeof *fit_switch_rows)};

const Command command_fit = {
    .name = "fit",
    .arguments = "CAMPAIGN/TRIAL",
    .doc = "print parameters fitted to residuals with 95 % intervals, what the residuals do not determine, and whether "
           "what is left of them is noise",
    .examples = "  hopscotch fit identify_biped/best\n"
                "  hopscotch fit identify_biped/best --residuals --format csv\n",
    .least = 1,
    .most = 1,
    .switches = {&fit_switches, &switches_backend, &switches_format},
    .run = fit_command,
};
