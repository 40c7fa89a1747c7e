// hopscotch gradient: prints how the fitness of a trial changes with each parameter: by the adjoint of the model,
// its tangent and differences.
#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// ---- which parameters -----------------------------------------------------------------------------------------------

static Error gradient_add_named(const Spec *spec, const char *name, Arena *arena, int *parameters, int *count)
{
    const int n = configured_named(&spec->configured);
    const char **names = ARENA_NEW(arena, const char *, n);
    for (int p = 0; p < n; p++) {
        names[p] = spec->configured.parameters[p].name;
        if (strcmp(names[p], name) != 0) continue;
        parameters[(*count)++] = p;
        const Axis *axis = axis_of(spec, p);
        if (axis != NULL && axis->derive != NULL)
            return error_make(ERROR_USER,
                              "--parameters: %.60s is derived by %.200s, so no trial has it changed alone: name what "
                              "it is derived from",
                              name, expression_text(axis->derive, arena));
        if (configured_choices(&spec->configured, p) == NULL) return error_none();
        return error_make(ERROR_USER, "--parameters: values of %.60s are words, and only numbers have derivatives",
                          name);
    }
    const char *near = nearest_name(name, names, n);
    return error_make(ERROR_USAGE, "--parameters: the spec has no parameter '%.60s'%s%.60s%s", name,
                      near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
}

// Those that were searched, or the named ones: NAME,NAME,...
static Error gradient_choose_parameters(const Spec *spec, const char *named, Arena *arena, int **out, int *count)
{
    const int most = named != NULL ? (int)strlen(named) + 1 : spec->n_axes;
    int *parameters = ARENA_NEW(arena, int, most + 1);
    *count = 0;
    *out = parameters;
    for (int a = 0; a < spec->n_axes && named == NULL; a++) {
        if (spec->axes[a].values.choices == NULL) parameters[(*count)++] = spec->axes[a].parameter;
    }
    for (char *rest = named != NULL ? arena_copy(arena, named) : NULL, *comma; rest != NULL; rest = comma) {
        comma = strchr(rest, ',');
        if (comma != NULL) *comma++ = '\0';
        TRY(gradient_add_named(spec, rest, arena, parameters, count));
    }
    return error_none();
}

// ---- output ---------------------------------------------------------------------------------------------------------

static Error gradient_print_rows(const Spec *spec, const GradientResult *result, TableFormat format, FILE *out)
{
    const bool said = format == TABLE_TEXT; // n_failed stands above the table
    const char *columns[10] = {"parameter", "value", "unit", "adjoint", "tangent", "difference", "step", "error"};
    int count = 8;
    if (!said) columns[count++] = "n_failed";
    columns[count++] = "remark";
    Table *table = table_start(out, format, count, columns);
    for (int i = 0; i < result->count; i++) {
        const GradientRow *row = &result->rows[i];
        table_text(table, spec->configured.parameters[row->parameter].name);
        table_exact(table, row->value);
        table_text(table, spec->configured.parameters[row->parameter].unit);
        table_number(table, row->adjoint);
        table_number(table, row->tangent);
        table_number(table, row->difference);
        table_number(table, row->step);
        table_number(table, row->error);
        if (!said) table_integer(table, result->n_failed);
        table_text(table, row->remark);
    }
    return table_finish(table);
}

static Error gradient_print_curve(const Spec *spec, const GradientResult *result, TableFormat format, FILE *out)
{
    const bool back = result->no_adjoint == NULL; // else differences stand beside the tangent
    const char *const columns[] = {"parameter", "step", "difference", back ? "from_adjoint" : "from_tangent"};
    Table *table = table_start(out, format, (int)(sizeof columns / sizeof *columns), columns);
    for (int i = 0; i < result->count; i++) {
        const GradientRow *row = &result->rows[i];
        for (int k = 0; k < GRADIENT_STEPS; k++) {
            table_text(table, spec->configured.parameters[row->parameter].name);
            table_number(table, row->steps[k]);
            table_number(table, row->curve[k]);
            table_number(table, row->curve[k] - (back ? row->adjoint : row->tangent));
        }
    }
    return table_finish(table);
}

static Error gradient_print(const CommandLine *line, const StoredCampaign *campaign, int64_t trial,
                            const GradientResult *result)
{
    const Spec *spec = &campaign->spec;
    const TableFormat format = command_format(line);
    fprintf(line->messages, "%s/%" PRId64 ": fitness %s (%s)\n", campaign->name, trial,
            text_number(result->fitness).text, objective_text(spec, 0, line->arena));
    if (result->n_failed > 0)
        fprintf(line->messages, "%s\n", replicates_failed_text(spec, result->n_failed, line->arena));
    if (result->by != NULL) fprintf(line->messages, "%s\n", result->by);
    if (result->no_adjoint != NULL) fprintf(line->messages, "no adjoint: %s\n", result->no_adjoint);
    if (result->jumping != NULL)
        fprintf(
            line->messages,
            "remark: the rate of %s has another form where states pass some value (if, sign, a comparison): adjoint "
            "and tangent are right if it does not jump there, else make an event of it\n",
            result->jumping);
    if (result->remark != NULL) fprintf(line->messages, "remark: %s\n", result->remark);
    if (result->missing != NULL) fprintf(line->messages, "no derivative by some parameters: %s\n", result->missing);
    return switch_given(line, "curve") ? gradient_print_curve(spec, result, format, line->out)
                                       : gradient_print_rows(spec, result, format, line->out);
}

// ---- the command ----------------------------------------------------------------------------------------------------

static Error gradient_at(const CommandLine *line, const StoredCampaign *campaign, int64_t trial)
{
    const BackendOptions backend = command_backend(line, "cpu");
    GradientResult result;
    int *parameters = NULL, count = 0;
    TRY(command_program_remark(line, campaign));
    TRY(gradient_choose_parameters(&campaign->spec, switch_text(line, "parameters", NULL), line->arena, &parameters,
                                   &count));
    TRY(campaign_gradient(campaign, trial, parameters, count, &backend, line->arena, &result));
    return gradient_print(line, campaign, trial, &result);
}

static Error gradient_command(const CommandLine *line)
{
    StoredCampaign campaign;
    int64_t trial = 0;
    TRY(campaign_open_trial(line, line->arguments[0], &campaign, &trial));
    const Error error = gradient_at(line, &campaign, trial);
    campaign_close(&campaign);
    return error;
}

static const Switch gradient_switch_rows[] = {
    {"parameters", SWITCH_TEXT, "NAMES", 0, 0,
     "parameters of the spec, e.g. hip_kp,gravity (default: the searched parameters)"},
    {"curve", SWITCH_FLAG, NULL, 0, 0, "print the differences of every step, from 0.1 to 1e-9 of the value"},
};
static const Switches gradient_switches = {gradient_switch_rows,
                                           (int)(sizeof gradient_switch_rows / sizeof *gradient_switch_rows)};

const Command command_gradient = {
    .name = "gradient",
    .arguments = "CAMPAIGN/TRIAL",
    .doc = "print how the fitness of a trial changes with each parameter, by the model's adjoint, its tangent and "
           "differences",
    .examples = "  hopscotch gradient my_robot/best\n"
                "  hopscotch gradient my_robot/41 --parameters hip_kp,gravity\n"
                "  hopscotch gradient my_robot/41 --curve --format csv\n",
    .least = 1,
    .most = 1,
    .switches = {&gradient_switches, &switches_backend, &switches_format},
    .run = gradient_command,
};
