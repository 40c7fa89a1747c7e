// The key table: the only table where a key of a spec is described, if it has no form of its own (forms.h).
#include "forms.h"

#include <math.h>
#include <string.h>

#define KEYS_AT(kind, member) .store = STORE_##kind, .offset = offsetof(Spec, member)
#define KEYS_WHOLE ((double)INTEGER_MAX)

// clang-format off
static const Key keys_rows[] = {
    {.path = "version", .type = KEY_INTEGER, .value = 1, .low = 1, .high = 1, .flags = KEY_REQUIRED | KEY_IDENTITY,
     .doc = "version of the spec's format", .example = "1"},
    {.path = "experiment", .type = KEY_NAME, KEYS_AT(TEXT, experiment), .flags = KEY_REQUIRED,
     .doc = "name of the experiment, and of its campaign unless `--name` gives another", .example = "raibert_gains"},
    {.path = "seed", .type = KEY_INTEGER, .high = KEYS_WHOLE, KEYS_AT(UINT64, seed), .flags = KEY_IDENTITY,
     .doc = "all randomness derives from it, and never from the clock", .example = "7"},
    {.path = "simulation", .type = KEY_SECTION, .flags = KEY_OPEN,
     .doc = "how it is simulated: options of the model", .example = "{duration: 5.0, dt: 1.0e-4}"},
    {.path = "initial", .type = KEY_SECTION, .flags = KEY_OPEN,
     .doc = "the state at t = 0, by name; what is not named keeps its default", .example = "{z_foot: 0.4}"},
    {.path = "parameters", .type = KEY_SECTION, .flags = KEY_OPEN,
     .doc = "fixed values, by name; what is not named keeps its default", .example = "{x_dot_des: 2.0}"},

    {.path = "search", .type = KEY_SECTION, .doc = "what is searched and how; without it there is one trial",
     .example = "{method: grid, over: {k_fp: [100, 150]}}"},
    {.path = "replicates", .type = KEY_SECTION, .doc = "simulations of each trial under seeded perturbations",
     .example = "{count: 16, perturb: {phi_leg: {normal: [0.01, 0.02]}}}"},
    {.path = "replicates.count", .type = KEY_INTEGER, .value = 1, .low = 1, .high = REPLICATES_MAX,
     KEYS_AT(INT, replicates.count), .flags = KEY_IDENTITY, .doc = "simulations of each trial", .example = "16"},
    {.path = "replicates.common", .type = KEY_BOOLEAN, .value = 1, KEYS_AT(BOOLEAN, replicates.common),
     .flags = KEY_IDENTITY,
     .doc = "every trial gets the same perturbations, so that trials differ by their parameters only",
     .example = "true"},
    {.path = "replicates.store", .type = KEY_BOOLEAN, KEYS_AT(BOOLEAN, replicates.store),
     .doc = "also keep the metrics of every replicate, and what it drew", .example = "false"},

    {.path = "objective", .type = KEY_SECTION, .doc = "what is minimised or maximised",
     .example = "{minimize: \"velocity_error\", over: mean}"},
    {.path = "environment", .type = KEY_SECTION,
     .doc = "what a program that steps the model from outside gets (runner/hopscotch.h); needs control: {mode: "
            "external}, or an input with a range. It changes nothing of a run",
     .example = "{reward: \"dx_foot\", terminate: \"z_foot > 3\"}"},
    {.path = "record", .type = KEY_SECTION, .doc = "which arrays are kept",
     .example = "{trajectories: {select: {best: 20}}}"},
    {.path = "record.trajectories", .type = KEY_SECTION, .doc = "time series of chosen trials",
     .example = "{select: {best: 20}, sample: 0.001}"},
    {.path = "record.trajectories.select", .type = KEY_SECTION, .flags = KEY_REQUIRED,
     .doc = "the trials that are recorded", .example = "{best: 20, every: 1000, failures: 50, trials: [0, 41]}"},
    {.path = "record.trajectories.select.best", .type = KEY_INTEGER, .high = 1048576,
     KEYS_AT(INT64, record.select.best), .doc = "number of best trials of the campaign", .example = "20"},
    {.path = "record.trajectories.select.every", .type = KEY_INTEGER, .high = KEYS_WHOLE,
     KEYS_AT(INT64, record.select.every), .doc = "the trials whose id is a multiple of this number; 0: none",
     .example = "1000"},
    {.path = "record.trajectories.select.failures", .type = KEY_INTEGER, .high = 1048576,
     KEYS_AT(INT64, record.select.failures), .doc = "number of failed trials, the first by id", .example = "50"},
    {.path = "record.trajectories.replicates", .type = KEY_CHOICE, .high = 1, .words = "first|all",
     KEYS_AT(BOOLEAN, record.all_replicates), .doc = "which replicates of these trials", .example = "first"},
    {.path = "record.trajectories.events", .type = KEY_BOOLEAN, KEYS_AT(BOOLEAN, record.events),
     .doc = "of model equations: also the table of their events. Of each replicate the last 100,000 are kept, fewer "
            "where 64 MiB hold fewer; `record.debug.events` has another number (`keep`), a window, other trials",
     .example = "true"},
    {.path = "record.trajectories.sample", .type = KEY_NUMBER, .unit = "s", .low = 1e-9, .high = 1e9, .words = "auto",
     KEYS_AT(DOUBLE, record.sample),
     .doc = "time between samples, a multiple of the model's step; auto: the one nearest to 0.001 s",
     .example = "0.001"},
    {.path = "record.trajectories.precision", .type = KEY_CHOICE, .high = 1, .words = "float32|float64",
     KEYS_AT(BOOLEAN, record.float64), .doc = "of stored samples", .example = "float32"},
    {.path = "record.trajectories.compression", .type = KEY_CHOICE, .high = 1, .words = "none|gzip",
     KEYS_AT(BOOLEAN, record.gzip), .doc = "gzip saves a fifth to a third and is several times slower",
     .example = "none"},
    {.path = "record.debug", .type = KEY_SECTION, .doc = "what happens inside the steps of chosen trials",
     .example = "{newton: {select: {best: 1}, window: [0.28, 0.3]}}"},
    {.path = "record.debug.newton", .type = KEY_SECTION,
     .doc = "a row for each iteration of the model's solver (hopper: residuals of an implicit step, state before and "
            "after); other models call this section otherwise. The trials are simulated again, to the same bits",
     .example = "{select: {best: 1}, window: [0.28, 0.3]}"},
    {.path = "record.debug.newton.select", .type = KEY_SECTION,
     .doc = "which trials; with `on: failure`: the first 1000 failed trials, unless `select` names others",
     .example = "{best: 1, every: 1000, failures: 5, trials: [0, 41]}"},
    {.path = "record.debug.newton.select.best", .type = KEY_INTEGER, .high = 1048576,
     KEYS_AT(INT64, record.debug.select.best), .doc = "number of best trials of the campaign", .example = "1"},
    {.path = "record.debug.newton.select.every", .type = KEY_INTEGER, .high = KEYS_WHOLE,
     KEYS_AT(INT64, record.debug.select.every), .doc = "the trials whose id is a multiple of this number; 0: none",
     .example = "1000"},
    {.path = "record.debug.newton.select.failures", .type = KEY_INTEGER, .high = 1048576,
     KEYS_AT(INT64, record.debug.select.failures), .doc = "number of failed trials, the first by id", .example = "5"},
    {.path = "record.debug.newton.on", .type = KEY_CHOICE, .high = 1, .words = "always|failure",
     KEYS_AT(BOOLEAN, record.debug.failed_only),
     .doc = "failure: only of the replicates that failed", .example = "failure"},
    {.path = "record.debug.newton.keep", .type = KEY_INTEGER, .low = 1, .high = 1e6, .words = "all",
     KEYS_AT(INT64, record.debug.keep),
     .doc = "number of last rows that are kept of a replicate; all (of events 100,000), unless `on: failure` makes it "
            "200",
     .example = "200"},
    {.path = "record.debug.newton.replicates", .type = KEY_CHOICE, .high = 1, .words = "first|all",
     KEYS_AT(BOOLEAN, record.debug.all_replicates),
     .doc = "which replicates; `on: failure` records every failed replicate", .example = "first"},
    {.path = "limits", .type = KEY_SECTION, .doc = "when to stop early; totals, over all runs of the campaign",
     .example = "{trials: 1e6, wall_time: 2h, failures: 50%}"},
    {.path = "limits.trials", .type = KEY_INTEGER, .low = 1, .high = KEYS_WHOLE, .words = "none",
     KEYS_AT(INT64, limits.trials), .doc = "number of trials after which the run ends", .example = "1e6"},
    {.path = "limits.wall_time", .type = KEY_NUMBER, .unit = "s", .low = 1e-3, .high = 1e9, .words = "none",
     KEYS_AT(DOUBLE, limits.wall_time), .doc = "time after which the run ends", .example = "2h"},
    {.path = "limits.failures", .type = KEY_NUMBER, .unit = "fraction", .value = 1, .high = 1, .words = "none",
     KEYS_AT(DOUBLE, limits.failures),
     .doc = "the run ends when more than this fraction of 100 or more trials has failed, or so many that it will be "
            "more of all trials; this is looked at after each batch",
     .example = "50%"},

    {.path = "device", .type = KEY_SECTION, .doc = "what it runs on; never changes a result",
     .example = "{backend: auto, batch: auto}"},
    {.path = "device.backend", .type = KEY_CHOICE, .high = 2, .words = "auto|cpu|cuda", KEYS_AT(TEXT, device.backend),
     .doc = "auto: the CPU, and a GPU where the rest of the campaign takes less time there", .example = "auto"},
    {.path = "device.batch", .type = KEY_INTEGER, .low = 1, .high = 16777216, .words = "auto",
     KEYS_AT(INT64, device.batch), .doc = "simulations that run together", .example = "auto"},
    {.path = "device.kernels", .type = KEY_CHOICE, .high = 2, .words = "auto|made|general",
     KEYS_AT(TEXT, device.kernels),
     .doc = "GPU, equations: made compiles the model for this campaign, with fixed values; auto: where it saves time",
     .example = "auto"},

    {.path = "store", .type = KEY_SECTION, .doc = "how results are stored; never changes a result",
     .example = "{rows: blocks}"},
    {.path = "store.rows", .type = KEY_CHOICE, .high = 2, .words = "auto|table|blocks", KEYS_AT(TEXT, store.rows),
     .doc = "where a campaign has its trials, for good. table: in rows of the table trials of campaign.db. blocks: in "
            "columns of HDF5, many trials a file; campaign.db has the best 1,000 as rows of the table best. Stored "
            "replicates need table. auto: blocks from 100,000 trials on",
     .example = "auto"},
};
// clang-format on

#undef KEYS_AT
#undef KEYS_WHOLE

// ---- rows from other tables -----------------------------------------------------------------------------------------

static Key key_of_form(const Form *form)
{
    return (Key){.path = form->path,
                 .type = KEY_FORM,
                 .words = form->words,
                 .doc = form->doc,
                 .example = form->example,
                 .flags = form->flags,
                 .method = form->method,
                 .form = form};
}

// The row, and the forms that stand behind it.
static void keys_add(Key *rows, int *count, Key row)
{
    rows[(*count)++] = row;
    for (int i = 0; i < form_count(); i++) {
        if (strcmp(form_at(i)->after, row.path) == 0) keys_add(rows, count, key_of_form(form_at(i)));
    }
}

const Key *keys_table(Arena *arena, int *count)
{
    enum { ROWS = sizeof keys_rows / sizeof *keys_rows };
    Key *rows = ARENA_NEW(arena, Key, ROWS + form_count());
    *count = 0;
    for (int i = 0; i < ROWS; i++) keys_add(rows, count, keys_rows[i]);
    return rows;
}

bool model_is_top(const Model *model, const char *name)
{
    return model->top != NULL && words_find(model->top, name) >= 0;
}

bool model_is_numerics(const Model *model, const char *name)
{
    return model->numerics != NULL && words_find(model->numerics, name) >= 0;
}

static const char *keys_below(const char *section, const char *name, Arena *arena)
{
    return section[0] != '\0' ? arena_format(arena, "%s.%s", section, name) : name;
}

Key key_of_option(const Option *option, const char *section, Arena *arena)
{
    static const KeyType types[] = {
        [OPTION_NUMBER] = KEY_NUMBER, [OPTION_INTEGER] = KEY_INTEGER,     [OPTION_BOOLEAN] = KEY_BOOLEAN,
        [OPTION_CHOICE] = KEY_CHOICE, [OPTION_POINTS] = KEY_POINTS,       [OPTION_NUMBERS] = KEY_NUMBERS,
        [OPTION_SYSTEM] = KEY_SYSTEM, [OPTION_FILE] = KEY_FILE,           [OPTION_MANNER] = KEY_CHOICE,
        [OPTION_WORDS] = KEY_WORDS,   [OPTION_ARGUMENTS] = KEY_ARGUMENTS, [OPTION_MANNER_NUMBER] = KEY_INTEGER,
        [OPTION_LAW] = KEY_LAW,
    };
    const bool list = option->type == OPTION_POINTS || option->type == OPTION_NUMBERS || option->type == OPTION_WORDS ||
                      option->type == OPTION_ARGUMENTS || option->type == OPTION_SYSTEM || option->type == OPTION_LAW;
    const bool manner = option->type == OPTION_MANNER || option->type == OPTION_MANNER_NUMBER;
    return (Key){.path = keys_below(section, option->name, arena),
                 .type = types[option->type],
                 .unit = option->unit,
                 .value = option->value,
                 .low = option->low,
                 .high = option->high,
                 .words = option->choices,
                 .doc = option->doc,
                 .store = list                          ? STORE_POINTS
                          : option->type == OPTION_FILE ? STORE_FILE
                                                        : STORE_DOUBLE,
                 .flags = (manner ? 0 : KEY_IDENTITY) | (section[0] == '\0' ? KEY_TOP : 0U)};
}

Key key_of_list(const List *list, const char *section, Arena *arena)
{
    return (Key){.path = keys_below(section, list->name, arena),
                 .type = KEY_ITEMS,
                 .doc = list->doc,
                 .example = list->example,
                 .list = list,
                 .store = STORE_ITEMS,
                 .flags = KEY_IDENTITY | (section[0] == '\0' ? KEY_TOP : 0U)};
}

Key key_of_parameter(const Parameter *parameter, const char *choices, Arena *arena)
{
    const char *section = parameter->section == SECTION_INITIAL ? "initial" : "parameters";
    return (Key){.path = arena_format(arena, "%s.%s", section, parameter->name),
                 .type = choices != NULL ? KEY_CHOICE : KEY_NUMBER,
                 .unit = parameter->unit,
                 .value = parameter->value,
                 .low = parameter->low,
                 .high = parameter->high,
                 .words = choices,
                 .doc = parameter->doc,
                 .store = STORE_DOUBLE,
                 .flags = KEY_IDENTITY};
}

#define KEYS_DEBUG "record.debug.newton"

const char *model_debug_group(const Model *model)
{
    return model != NULL && model->debug != NULL ? model->debug : SHARD_DEBUG;
}

const char *model_debug_name(const Model *model)
{
    const char *group = model_debug_group(model), *slash = strrchr(group, '/');
    return slash != NULL ? slash + 1 : group;
}

const char *model_debug_are(const Model *model)
{
    return model != NULL && model->debug_are != NULL ? model->debug_are : "debug rows";
}

const char *model_debug_needs(const Model *model)
{
    return model->debug_needs != NULL ? model->debug_needs : "no step is solved by iteration";
}

Key key_of_debug(const Key *key, const Model *model, Arena *arena)
{
    const size_t length = strlen(KEYS_DEBUG);
    Key own = *key;
    if (model == NULL || model->debug == NULL || strncmp(key->path, KEYS_DEBUG, length) != 0) return own;
    own.path = arena_format(arena, "record.debug.%s%s", model_debug_name(model), key->path + length);
    if (key->path[length] == '\0' && model->debug_doc != NULL) own.doc = model->debug_doc;
    return own;
}

const Parameter *keys_extra(const Model *model, const char *name)
{
    for (int i = 0; i < model->n_extra; i++) {
        if (strcmp(model->extra[i].name, name) == 0) return &model->extra[i];
    }
    return NULL;
}

bool keys_widest_model(const Model *model, Arena *arena, Configured *out)
{
    double *settings = ARENA_NEW(arena, double, model->n_options);
    for (int i = 0; i < model->n_options; i++) {
        const Option *option = &model->options[i];
        const bool sizes_a_table = option->type == OPTION_INTEGER && option->high <= 1000;
        settings[i] = sizes_a_table ? option->high : option->value;
    }
    if (model_configure(model, settings, NULL, arena, out).kind == OK) return true;
    for (int i = 0; i < model->n_options; i++) settings[i] = model->options[i].value;
    return model_configure(model, settings, NULL, arena, out).kind == OK;
}

// ---- what a row expects, in words -----------------------------------------------------------------------------------

const char *key_name(const Key *key)
{
    const char *dot = strrchr(key->path, '.');
    return dot != NULL ? dot + 1 : key->path;
}

const char *path_below(const char *path, const char *section)
{
    const size_t length = strlen(section);
    if (length == 0) return path;
    return strncmp(path, section, length) == 0 && path[length] == '.' ? path + length + 1 : NULL;
}

const char *key_range(const Key *key, Arena *arena)
{
    const bool has_unit = key->unit != NULL && strcmp(key->unit, "") != 0 && strcmp(key->unit, "1") != 0 &&
                          strcmp(key->unit, "fraction") != 0;
    const char *space = has_unit ? " " : "", *unit = has_unit ? key->unit : "";
    const Text32 low = text_number(key->low), high = text_number(key->high);
    if (key->low == key->high) return arena_format(arena, "%s%s%s", low.text, space, unit);
    if (isfinite(key->low) && isfinite(key->high))
        return arena_format(arena, "in [%s, %s]%s%s", low.text, high.text, space, unit);
    if (isfinite(key->low)) return arena_format(arena, ">= %s%s%s", low.text, space, unit);
    if (isfinite(key->high)) return arena_format(arena, "<= %s%s%s", high.text, space, unit);
    return has_unit ? arena_format(arena, "in %s", unit) : "";
}

static const char *keys_expected_number(const Key *key, Arena *arena)
{
    const bool fraction = key->unit != NULL && strcmp(key->unit, "fraction") == 0;
    const bool duration = key->unit != NULL && strcmp(key->unit, "s") == 0;
    const char *kind = key->type == KEY_INTEGER ? "an integer" : fraction ? "a fraction" : "a number";
    const char *range = key_range(key, arena);
    if (key->low == key->high) return range;
    return arena_format(arena, "%s%s%s%s%s%s", kind, range[0] != '\0' ? " " : "", range,
                        fraction   ? " (or 0% to 100%)"
                        : duration ? " (or with a unit: 5ms, 10s, 2h)"
                                   : "",
                        key->words != NULL ? ", or " : "", key->words != NULL ? key->words : "");
}

const char *key_expected(const Key *key, Arena *arena)
{
    if (key->type == KEY_NUMBER || key->type == KEY_INTEGER) return keys_expected_number(key, arena);
    if (key->type == KEY_BOOLEAN) return "true or false";
    if (key->type == KEY_POINTS) return "a list of points such as [[0, 0], [1, 0.1]]";
    if (key->type == KEY_NUMBERS) return arena_format(arena, "a list of numbers %s", key_range(key, arena));
    if (key->type == KEY_WORDS) return arena_format(arena, "a list of words such as %s", key->words);
    if (key->type == KEY_ARGUMENTS) return arena_format(arena, "a list of texts such as %s", key->words);
    if (key->type == KEY_SYSTEM) return "a mapping with states and rates, or the name of a file with one";
    if (key->type == KEY_LAW) return "a mapping such as {command: {elbow: 0.5}}, or the name of a file with one";
    if (key->type == KEY_FILE && strcmp(key->words, "recording") == 0)
        return "the name of a file, {file: name, columns: ..., ...} or none";
    if (key->type == KEY_FILE) return "the name of a file, {file: name, sha256: digest} or none";
    if (key->type == KEY_ITEMS) return arena_format(arena, "a list of mappings such as %s", key->example);
    if (key->type == KEY_NAME) return "a name of 1 to 128 of A-Z a-z 0-9 . _ -, not starting with . or -";
    if (key->type != KEY_CHOICE) return key->words != NULL ? key->words : "a mapping";
    return words_sentence(words_list(key->words, arena), words_count(key->words), arena);
}
