// hopscotch verify: runs a campaign's best trial under seeds that the search has not used, with one parameter changed
// at a time, and from a grid of starts. The runs are stored as campaigns (view/analysis/verify.c).
#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FINALISTS_MAX = 1000, VERIFY_SEEDS = 200, VERIFY_PERCENT = 10, VERIFY_LEVELS = 5 };

// One verification, from the command line to its two runs.
typedef struct Verify {
    const CommandLine *line;
    VerifyTask task;
    CampaignLocation location; // of the campaign that is verified
    const char *results;       // root of the new campaigns: below the verified one; with --name, beside it
    const char *name;          // of the new campaign; that of the grid is NAME_grid
    StoredCampaign seeds, grid;
} Verify;

// ---- what the user asked --------------------------------------------------------------------------------------------

// "--grid-over m,k_g"
static Error verify_read_also(Verify *verify)
{
    const Configured *configured = &verify->task.campaign->spec.configured;
    const int named = configured_named(configured);
    const char *text = switch_text(verify->line, "grid-over", NULL), *model = verify->task.campaign->spec.model->name;
    const char **names = ARENA_NEW(verify->line->arena, const char *, named);
    int *also = ARENA_NEW(verify->line->arena, int, named);
    for (int p = 0; p < named; p++) names[p] = configured->parameters[p].name;
    char *rest = text != NULL ? arena_copy(verify->line->arena, text) : NULL;
    for (char *name; rest != NULL && (name = strsep(&rest, ",")) != NULL;) {
        int found = -1;
        name = text_stripped(name);
        for (int p = 0; p < named; p++) {
            if (strcmp(names[p], name) == 0) found = p;
        }
        const char *nearest = found < 0 ? nearest_name(name, names, named) : NULL;
        if (nearest != NULL)
            return error_make(ERROR_USER, "--grid-over: '%.60s' is not a parameter of %s; did you mean '%s'?", name,
                              model, nearest);
        if (found < 0)
            return error_make(ERROR_USER, "--grid-over: '%.60s' is not a parameter of %s; %s lists them", name, model,
                              command_again(NULL, "models %s", model).text);
        if (verify->task.n_also < named) also[verify->task.n_also++] = found;
    }
    verify->task.also = also;
    return error_none();
}

static Error verify_check_grid(const Verify *verify)
{
    const int axes = verify_grid_axes(&verify->task);
    if (axes <= VERIFY_GRID_AXES_MAX) return error_none();
    return error_make(ERROR_USER,
                      "a grid over %d starts and parameters is too large: at most %d axes; --grid 0 leaves it out",
                      axes, VERIFY_GRID_AXES_MAX);
}

static Error verify_ask(Verify *verify)
{
    const CommandLine *line = verify->line;
    VerifyTask *task = &verify->task;
    const Spec *spec = &task->campaign->spec;
    task->seeds = switch_integer(line, "seeds", VERIFY_SEEDS);
    task->seed = (uint64_t)switch_integer(line, "seed", (int64_t)verify_seed(spec));
    task->gains = (double)switch_integer(line, "gains", VERIFY_PERCENT) / 100.0;
    task->physics = (double)switch_integer(line, "physics", VERIFY_PERCENT) / 100.0;
    task->levels = (int)switch_integer(line, "grid", VERIFY_LEVELS);
    task->trial = switch_integer(line, "trial", -1);
    task->fitness = (double)NAN;
    if (switch_given(line, "defaults") && task->trial >= 0)
        return error_make(ERROR_USAGE, "--defaults and --trial choose different points: give one of them");
    if (switch_given(line, "defaults"))
        verify_take_defaults(task, line->arena);
    else
        TRY(verify_take_trial(task, line->arena));
    TRY(verify_read_also(verify));
    if (task->levels > 0) TRY(verify_check_grid(verify));
    const bool named = switch_given(line, "name");
    verify->name = switch_text(line, "name", NULL);
    verify->results = named ? verify->location.results : campaign_nested_root(&verify->location, line->arena);
    if (verify_draws(spec)) return error_none();
    fprintf(line->messages, "results of %s do not depend on the seed (no replicates.perturb): one run is enough\n",
            verify->location.name);
    task->seeds = 1;
    return error_none();
}

// ---- the runs -------------------------------------------------------------------------------------------------------

// The name as the user writes it.
static const char *verify_shown_name(const Verify *verify, const char *name)
{
    if (verify->results == verify->location.results) return name;
    return campaign_nested_name(&verify->location, name, verify->line->arena);
}

typedef Error VerifySpec(const VerifyTask *task, const char *name, Arena *arena, Spec *out);

// Is there no campaign of this name, or one of the same spec, which is continued? One that can't be read was killed at
// its start, and is continued too, or the run says what is wrong.
static Error verify_is_free(const Verify *verify, VerifySpec *derive, const char *name, bool *is_free)
{
    Arena *arena = verify->line->arena;
    Spec spec;
    StoredCampaign stored;
    *is_free = campaign_open(verify->results, name, arena, &stored).kind != OK;
    if (*is_free) return error_none();
    Error error = derive(&verify->task, name, arena, &spec);
    if (error.kind == OK) error = spec_complete(&spec, arena, diagnostics_new(arena));
    *is_free = error.kind == OK && strcmp(stored.hash, spec.hash.hex) == 0;
    campaign_close(&stored);
    return error;
}

static bool verify_has_grid(const Verify *verify)
{
    return verify->task.levels > 0 && verify_grid_axes(&verify->task) > 0;
}

static const char *verify_grid_name(const Verify *verify)
{
    return arena_format(verify->line->arena, "%s_grid", verify->name);
}

// Without --name: "trial_41"; for other options than those of an earlier verification "trial_41-2", and so on.
static Error verify_choose_name(Verify *verify)
{
    Arena *arena = verify->line->arena;
    const char *first =
        verify->task.trial >= 0 ? arena_format(arena, "trial_%" PRId64, verify->task.trial) : "defaults";
    bool is_free = verify->name != NULL;
    for (int k = 1; !is_free; k++) {
        verify->name = k == 1 ? first : arena_format(arena, "%s-%d", first, k);
        TRY(verify_is_free(verify, verify_seeds_spec, verify->name, &is_free));
        if (is_free && verify_has_grid(verify))
            TRY(verify_is_free(verify, verify_grid_spec, verify_grid_name(verify), &is_free));
    }
    return error_none();
}

static Error verify_run_one(const Verify *verify, VerifySpec *derive, const char *name, StoredCampaign *out)
{
    const CommandLine *line = verify->line;
    Spec spec;
    TRY(derive(&verify->task, name, line->arena, &spec));
    RunOptions options = command_run_options(line, &verify->task.campaign->spec);
    options.results = verify->results;
    options.nested = verify->results != verify->location.results;
    options.name = name;
    options.again = command_line_again(line);
    return verify_run_spec(&verify->task, "verifies", &spec, &options, line->arena, out);
}

// ---- printing -------------------------------------------------------------------------------------------------------

// "99.7 % (95 %: 99.1 to 99.9)"
static void verify_print_rate(const Interval *rate, FILE *out)
{
    fprintf(out, "%.4g %% (95 %%: %.4g to %.4g)", 100.0 * rate->value, 100.0 * rate->low, 100.0 * rate->high);
}

static void verify_print_value(const Interval *value, FILE *out)
{
    if (isnan(value->value))
        fputs("none", out);
    else if (isnan(value->low) || isnan(value->high))
        fprintf(out, "%.6g", value->value);
    else
        fprintf(out, "%.6g (95 %%: %.6g to %.6g)", value->value, value->low, value->high);
}

static void verify_print_base(const Verify *verify, const VerifyOutcome *base)
{
    FILE *out = verify->line->out;
    const VerifyTask *task = &verify->task;
    const bool fell = strcmp(base->worst_failure, "none") != 0;
    if (task->trial >= 0)
        fprintf(out, "%s/%" PRId64, task->campaign->name, task->trial);
    else
        fprintf(out, "the defaults of the parameters that %s searches", task->campaign->name);
    if (task->recommended)
        fprintf(out, ", which is recommended; the best of the search is trial %" PRId64 ",", task->best);
    fprintf(out, " under %s fresh seed%s (seed %" PRIu64 ")\n\n", text_count(base->n).text, base->n == 1 ? "" : "s",
            task->seed);
    fprintf(out, "%-9s %s of %s: ", "success", text_count(base->succeeded).text, text_count(base->n).text);
    verify_print_rate(&base->rate, out);
    fprintf(out, " (Wilson)\n%-9s ", "fitness");
    verify_print_value(&base->fitness, out);
    fprintf(out, " (%s", verify_interval_method(&verify->seeds.spec));
    if (base->succeeded < base->n) fprintf(out, ", of runs that did not fail");
    fputs(")\n", out);
    if (!isnan(task->fitness)) fprintf(out, "%-9s %s in the search\n", "", text_number(task->fitness).text);
    fprintf(out, "%-9s replicate %" PRId64 ": ", "worst", base->worst);
    if (!fell) fprintf(out, "%.6g\n", spec_cost(&verify->seeds.spec, 0, base->worst_cost));
    if (fell) put_visible(out, base->worst_failure);
    if (fell && !isnan(base->worst_survived)) fprintf(out, " after %s s", text_number(base->worst_survived).text);
    if (fell) fputc('\n', out);
}

// The one parameter in which a trial of the method `centered` differs from the first trial; NULL: none.
typedef struct VerifyChange {
    const char *parameter, *choices; // choices: configured_choices
    double value, relative; // relative: change relative to the first trial's value; NaN if that is zero, or a word
} VerifyChange;

static Error verify_change(const StoredCampaign *run, int64_t trial, const VerifyTask *task, Arena *arena,
                           VerifyChange *change)
{
    const Spec *spec = &run->spec;
    Search search;
    double *parameter = ARENA_NEW(arena, double, spec->configured.n_parameters);
    *change = (VerifyChange){.parameter = NULL};
    TRY(search_init(spec, arena, &search));
    TRY(search_read_trial(&search, run->database, trial, arena, parameter));
    for (int a = 0; a < spec->n_axes; a++) {
        const int p = spec->axes[a].parameter;
        const double from = task->parameter[p];
        if (parameter[p] == from) continue;
        const char *choices = configured_choices(&spec->configured, p);
        const bool relative = from != 0.0 && choices == NULL;
        *change = (VerifyChange){.parameter = spec->configured.parameters[p].name,
                                 .choices = choices,
                                 .value = parameter[p],
                                 .relative = relative ? (parameter[p] - from) / fabs(from) : (double)NAN};
    }
    return error_none();
}

double verify_percent(double fraction) { return round(1000.0 * fraction) / 10.0; }

// A changed trial, and what became of it.
typedef struct VerifyChanged {
    VerifyChange change;
    VerifyOutcome outcome; // without the values of the runs
    bool more;             // a greater fitness is better
} VerifyChanged;

// What does the most harm comes first: the fewest runs succeed, then the fitness is worst; none is worst of all.
static int verify_by_harm(const void *a, const void *b)
{
    const VerifyChanged *first = a, *second = b;
    const Interval *x = &first->outcome.fitness, *y = &second->outcome.fitness;
    const double sign = first->more ? -1.0 : 1.0, left = isnan(x->value) ? (double)INFINITY : sign * x->value;
    const double right = isnan(y->value) ? (double)INFINITY : sign * y->value;
    if (first->outcome.succeeded != second->outcome.succeeded)
        return first->outcome.succeeded < second->outcome.succeeded ? -1 : 1;
    if (left != right) return left > right ? -1 : 1;
    return first->outcome.trial < second->outcome.trial ? -1 : 1;
}

// The changed trials (ids from 1), sorted by harm.
static Error verify_read_changes(const Verify *verify, VerifyChanged **changed, int64_t *count)
{
    Arena *arena = verify->line->arena;
    TRY(trials_last(verify->seeds.database, count));
    if (*count < 0) *count = 0;
    *changed = ARENA_NEW(arena, VerifyChanged, *count + 1);
    for (int64_t i = 0; i < *count; i++) {
        VerifyChanged *one = &(*changed)[i];
        const size_t used = arena->used;
        one->more = verify->seeds.spec.objective.maximize[0];
        TRY(verify_outcome(&verify->seeds, i + 1, arena, &one->outcome));
        TRY(verify_change(&verify->seeds, i + 1, &verify->task, arena, &one->change));
        one->outcome.value = NULL;
        arena_rewind(arena, used);
    }
    qsort(*changed, (size_t)*count, sizeof **changed, verify_by_harm);
    return error_none();
}

static void verify_change_row(const VerifyChanged *changed, Table *table)
{
    const VerifyOutcome *outcome = &changed->outcome;
    table_text(table, changed->change.parameter);
    if (changed->change.choices != NULL)
        table_value(table, changed->change.choices, changed->change.value);
    else
        table_number(table, changed->change.value);
    table_number(table, verify_percent(changed->change.relative));
    table_number(table, verify_percent(outcome->rate.value));
    table_number(table, verify_percent(outcome->rate.low));
    table_number(table, verify_percent(outcome->rate.high));
    table_number(table, outcome->fitness.value);
    table_number(table, outcome->fitness.low);
    table_number(table, outcome->fitness.high);
}

void verify_interval_json(Json *json, const char *name, const Interval *interval)
{
    json_object(json, name);
    json_number(json, "value", interval->value);
    json_number(json, "low", interval->low);
    json_number(json, "high", interval->high);
    json_close(json, '}');
}

static void verify_outcome_json(const Spec *spec, const VerifyOutcome *outcome, Json *json)
{
    json_integer(json, "trial", outcome->trial);
    json_integer(json, "runs", outcome->n);
    json_integer(json, "succeeded", outcome->succeeded);
    verify_interval_json(json, "success", &outcome->rate);
    verify_interval_json(json, "fitness", &outcome->fitness);
    json_object(json, "worst");
    json_integer(json, "replicate", outcome->worst);
    json_text(json, "failure", outcome->worst_failure);
    json_number(json, "survived", outcome->worst_survived);
    json_number(json, "fitness", outcome->n > 0 ? spec_cost(spec, 0, outcome->worst_cost) : (double)NAN);
    json_close(json, '}');
}

// The same to the bit: the parameter has no part in this robot's motion, say.
static bool verify_is_idle(const VerifyChanged *changed, const VerifyOutcome *base)
{
    const Interval *x = &changed->outcome.fitness, *y = &base->fitness;
    return changed->outcome.succeeded == base->succeeded && x->value == y->value && x->low == y->low &&
           x->high == y->high;
}

// Each parameter once.
static void verify_print_idle(const Verify *verify, const VerifyOutcome *base, const VerifyChanged *changed,
                              int64_t count)
{
    Arena *arena = verify->line->arena;
    FILE *out = verify->line->out;
    const char *names = "", *last = "";
    for (int64_t i = 0; i < count; i++) { // in their order: equal outcomes stand by trial
        if (!verify_is_idle(&changed[i], base) || strcmp(changed[i].change.parameter, last) == 0) continue;
        last = changed[i].change.parameter;
        names = arena_format(arena, "%s%s%s", names, names[0] != '\0' ? ", " : "", last);
    }
    if (names[0] == '\0') return;
    fputs("\nwithout effect, to the bit: ", out);
    terminal_paragraph(out, names, 28, terminal_breaks(out));
    fputc('\n', out);
}

static Error verify_print_changes(const Verify *verify, const VerifyOutcome *base, const VerifyChanged *changed,
                                  int64_t count)
{
    static const char *const columns[] = {"changed", "to",      "by %",  "success %", "from",
                                          "to ",     "fitness", "from ", "to  "};
    if (count == 0) return error_none();
    fprintf(verify->line->out, "\none change at a time, under the same seeds, the most harmful first; from, to: 95 %% "
                               "intervals\n\n");
    Table *table = table_start(verify->line->out, TABLE_TEXT, (int)(sizeof columns / sizeof *columns), columns);
    for (int64_t i = 0; i < count; i++) {
        if (!verify_is_idle(&changed[i], base)) verify_change_row(&changed[i], table);
    }
    TRY(table_finish(table));
    verify_print_idle(verify, base, changed, count);
    return error_none();
}

static Error verify_print_grid(const Verify *verify)
{
    FILE *out = verify->line->out;
    WorstTrial grid;
    const Spec *spec = &verify->grid.spec;
    if (verify->grid.database == NULL) return error_none();
    TRY(trials_worst(&verify->grid, verify->line->arena, &grid));
    fputs("\ngrid     ", out);
    for (int a = 0, shown = 0; a < spec->n_axes; a++) {
        const Values *values = &spec->axes[a].values;
        if (values->count < 2) continue;
        fprintf(out, "%s %s ", shown++ > 0 ? "," : "", spec->configured.parameters[spec->axes[a].parameter].name);
        if (values->choices != NULL)
            fprintf(out, "of %lld words", (long long)values->count);
        else
            fprintf(out, "%.4g to %.4g", values_at(values, 0), values_at(values, values->count - 1));
    }
    fprintf(out, ": %s of %s starts succeed\n%-9s %s/%" PRId64 ": ", text_count(grid.succeeded).text,
            text_count(grid.trials).text, "worst", verify_shown_name(verify, verify->grid.name), grid.id);
    if (isnan(grid.fitness))
        put_visible(out, grid.failure);
    else
        fputs(text_number(grid.fitness).text, out);
    fputc('\n', out);
    return error_none();
}

// All of it in one line.
static Error verify_print_summary(const Verify *verify, const VerifyOutcome *base, const VerifyChanged *changed,
                                  int64_t count)
{
    FILE *out = verify->line->out;
    WorstTrial grid;
    fprintf(out, "\n%-9s %s of %s fresh seeds succeed", "verdict", text_count(base->succeeded).text,
            text_count(base->n).text);
    if (count > 0 && changed->outcome.succeeded == base->succeeded)
        fprintf(out, "; none of %s changes makes one fail", text_count(count).text);
    else if (count > 0)
        fprintf(out, "; with %s at %s %s of %s, the fewest of %s changes", changed->change.parameter,
                value_text(changed->change.choices, changed->change.value).text,
                text_count(changed->outcome.succeeded).text, text_count(changed->outcome.n).text,
                text_count(count).text);
    if (verify->grid.database != NULL) {
        TRY(trials_worst(&verify->grid, verify->line->arena, &grid));
        fprintf(out, "; %s of %s starts", text_count(grid.succeeded).text, text_count(grid.trials).text);
    }
    fputc('\n', out);
    return error_none();
}

static Error verify_print(const Verify *verify, const VerifyOutcome *base, const VerifyChanged *changed, int64_t count)
{
    FILE *out = verify->line->out;
    const char *root = command_results_option(verify->location.results, verify->line->arena);
    verify_print_base(verify, base);
    TRY(verify_print_changes(verify, base, changed, count));
    TRY(verify_print_grid(verify));
    TRY(verify_print_summary(verify, base, changed, count));
    fprintf(out, "\n%-9s %s/%s\n%-9s %s best %s%s\n", "files", text_visible(verify->results, verify->line->arena),
            verify->name, "next", command_program(verify->line->arena), verify_shown_name(verify, verify->name), root);
    return error_none();
}

static Error verify_grid_json(const Verify *verify, Json *json)
{
    WorstTrial grid;
    if (verify->grid.database == NULL) return error_none();
    TRY(trials_worst(&verify->grid, verify->line->arena, &grid));
    json_object(json, "grid");
    json_text(json, "campaign", verify_shown_name(verify, verify->grid.name));
    json_integer(json, "points", grid.trials);
    json_integer(json, "succeeded", grid.succeeded);
    json_integer(json, "worst_trial", grid.id);
    json_number(json, "worst_fitness", grid.fitness);
    json_text(json, "worst_failure", grid.failure);
    json_close(json, '}');
    return error_none();
}

static void verify_changes_json(const Verify *verify, const VerifyChanged *changed, int64_t count, Json *json)
{
    json_array(json, "changes");
    for (int64_t i = 0; i < count; i++) {
        json_object(json, NULL);
        json_text(json, "parameter", changed[i].change.parameter);
        json_value(json, "value", changed[i].change.choices, changed[i].change.value);
        verify_outcome_json(&verify->seeds.spec, &changed[i].outcome, json);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static Error verify_print_json(const Verify *verify, const VerifyOutcome *base, const VerifyChanged *changed,
                               int64_t count)
{
    Json json;
    json_start(&json, verify->line->out, true);
    json_object(&json, NULL);
    json_text(&json, "campaign", verify_shown_name(verify, verify->name));
    json_text(&json, "verifies", verify->task.campaign->name);
    if (verify->task.trial >= 0) json_integer(&json, "verified_trial", verify->task.trial);
    json_number(&json, "stored_fitness", verify->task.fitness);
    json_integer(&json, "seed", (int64_t)verify->task.seed);
    json_text(&json, "interval", verify_interval_method(&verify->seeds.spec));
    verify_outcome_json(&verify->seeds.spec, base, &json);
    verify_changes_json(verify, changed, count, &json);
    TRY(verify_grid_json(verify, &json));
    json_close(&json, '}');
    return error_none();
}

// ---- the command ----------------------------------------------------------------------------------------------------

static Error verify_compute(Verify *verify)
{
    TRY(verify_choose_name(verify));
    TRY(verify_run_one(verify, verify_seeds_spec, verify->name, &verify->seeds));
    if (!verify_has_grid(verify)) return error_none();
    return verify_run_one(verify, verify_grid_spec, verify_grid_name(verify), &verify->grid);
}

static Error verify_campaign(Verify *verify)
{
    VerifyOutcome base;
    VerifyChanged *changed;
    int64_t count;
    interrupt_install();
    TRY(verify_ask(verify));
    TRY(verify_compute(verify));
    TRY(verify_outcome(&verify->seeds, 0, verify->line->arena, &base));
    TRY(verify_read_changes(verify, &changed, &count));
    return switch_given(verify->line, "json") ? verify_print_json(verify, &base, changed, count)
                                              : verify_print(verify, &base, changed, count);
}

static Error verify_run(const CommandLine *line)
{
    Verify verify = {.line = line};
    StoredCampaign campaign;
    TRY(campaign_find(line, line->arguments[0], &verify.location));
    TRY(campaign_open(verify.location.results, verify.location.name, line->arena, &campaign));
    verify.task.campaign = &campaign;
    const bool several = switch_given(line, "finalists");
    Error error =
        campaign.spec.model->by_hand ? spec_check_run(&campaign.spec) : command_program_remark(line, &campaign);
    if (error.kind == OK && several) error = finalists_verify(line, &verify.location, &campaign);
    if (error.kind == OK && !several) error = verify_campaign(&verify);
    campaign_close(&verify.seeds);
    campaign_close(&verify.grid);
    campaign_close(&campaign);
    return error;
}

static const Switch verify_rows[] = {
    {"trial", SWITCH_INTEGER, "ID", 0, TRIALS_MAX,
     "trial to run (default: the one that is recommended, or else the best)"},
    {"finalists", SWITCH_INTEGER, "N", 2, FINALISTS_MAX,
     "let the N best trials race instead: who falls behind ends early; names the best, and how probable that is"},
    {"defaults", SWITCH_FLAG, NULL, 0, 0, "run the model's defaults instead of a trial, for comparison"},
    {"seeds", SWITCH_INTEGER, "N", 1, REPLICATES_MAX,
     "number of fresh seeds (default 200); with --finalists of those that reach the end"},
    {"seed", SWITCH_INTEGER, "S", 0, INTEGER_MAX,
     "seed that generates the fresh seeds (default: derived from the campaign's)"},
    {"gains", SWITCH_INTEGER, "PERCENT", 0, 90, "change of each searched gain (default 10; 0: none)"},
    {"physics", SWITCH_INTEGER, "PERCENT", 0, 90, "change of each other parameter (default 10; 0: none)"},
    {"grid", SWITCH_INTEGER, "LEVELS", 0, 1000,
     "grid points per initial value that replicates draw (default 5; 0: no grid)"},
    {"grid-over", SWITCH_TEXT, "A,B,..", 0, 0, "parameters that the grid also varies, by --physics percent"},
    {"name", SWITCH_TEXT, "NAME", 0, 0,
     "name of the new campaign (default CAMPAIGN/verify/trial_ID; with other options trial_ID-2, ...)"},
};
static const Switches verify_switches = {verify_rows, sizeof verify_rows / sizeof *verify_rows};

const Command command_verify = {
    .name = "verify",
    .arguments = "CAMPAIGN",
    .doc = "run the best trial under fresh seeds, with each gain changed a little, and from a grid of starts",
    .examples = "  hopscotch verify raibert_gains --seeds 1000\n"
                "  hopscotch verify raibert_gains --trial 41 --gains 20 --physics 0 --grid 0\n"
                "  hopscotch verify raibert_gains --finalists 64\n"
                "  hopscotch verify raibert_gains --defaults --json\n",
    .least = 1,
    .most = 1,
    .switches = {&verify_switches, &switches_campaign, &switches_backend, &switches_json},
    .run = verify_run,
};
