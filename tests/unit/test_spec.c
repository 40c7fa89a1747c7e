// Reading specs: defaults, units, overrides; every mistake gives one error, regardless of other errors.
#include "robot_folder.h"

#include <stdlib.h>
#include <string.h>

static const char spec_head[] = "version: 1\nexperiment: test\nmodel: hopper\n";

typedef struct Reading {
    Arena arena;
    Spec spec;
    Error error;
    int errors;
    char *messages; // release with free()
} Reading;

static Reading spec_of(const char *text, const char *const *overrides, int n_overrides)
{
    Reading reading = {0};
    size_t size;
    if (arena_create(&reading.arena, (size_t)64 << 20, "test").kind != OK) abort();
    Diagnostics *diagnostics = diagnostics_new(&reading.arena);
    reading.error = robot_folder_parse(text, overrides, n_overrides, &reading.arena, diagnostics, &reading.spec);
    reading.errors = diagnostics_errors(diagnostics);
    FILE *out = open_memstream(&reading.messages, &size);
    diagnostics_print(diagnostics, out, false);
    fclose(out);
    return reading;
}

static Reading spec_with(const char *text)
{
    char whole[4096];
    snprintf(whole, sizeof whole, "%s%s", spec_head, text);
    return spec_of(whole, NULL, 0);
}

static void spec_done(Reading *reading)
{
    free(reading->messages);
    arena_destroy(&reading->arena);
}

static int spec_parameter(const Spec *spec, const char *name)
{
    for (int i = 0; i < spec->configured.n_parameters; i++) {
        if (strcmp(spec->configured.parameters[i].name, name) == 0) return i;
    }
    abort();
}

TEST(spec_defaults_are_those_of_the_tables)
{
    Reading reading = spec_with("");
    const Spec *spec = &reading.spec;
    CHECK_OK(reading.error);
    CHECK_TEXT("", reading.messages);
    CHECK_TEXT("test", spec->experiment);
    CHECK_TEXT("hopper", spec->model->name);
    CHECK_TEXT("grid", spec->method->name);
    CHECK_INTEGER(0, (int64_t)spec->seed);
    CHECK_INTEGER(0, spec->n_axes + spec->n_derived);
    CHECK_INTEGER(1, spec->replicates.count);
    CHECK(spec->replicates.common && !spec->replicates.store && !spec->record.trajectories);
    CHECK(spec->objective.over == OVER_MEAN && spec->objective.failed == FAILED_ANY &&
          spec->objective.expression != NULL);
    CHECK_INTEGER(0, spec->limits.trials);
    CHECK_BITS(0.0, spec->limits.wall_time);
    CHECK_BITS(1.0, spec->limits.failures);
    CHECK_TEXT("auto", spec->device.backend);
    for (int i = 0; i < spec->model->n_options; i++) CHECK_BITS(spec->model->options[i].value, spec->settings[i]);
    for (int i = 0; i < spec->configured.n_parameters; i++)
        CHECK_BITS(spec->configured.parameters[i].value, spec->fixed[i]);
    spec_done(&reading);
}

TEST(spec_values_arrive_with_their_units)
{
    Reading reading =
        spec_with("seed: 9007199254740991\n"
                  "simulation: {duration: 2000ms, dt: 1e-4, settle: 0.5s, newton: {iterations: 2e1}}\n"
                  "initial: {phi_leg: -0.02}\nparameters: {k_fp: 1.5e2, T_max_thrust: 150ms}\n"
                  "replicates: {count: 16, common: false, store: true, perturb: {z_foot: {uniform: [0.3, 0.4]}}}\n"
                  "objective: {minimize: velocity_error + k_fp, over: quantile(0.9), failed: penalty(1e3)}\n"
                  "record: {trajectories: {select: {best: 2, trials: [4, 1]}, replicates: all, sample: 5ms,\n"
                  "  precision: float64, compression: gzip}}\n"
                  "limits: {trials: 1e6, wall_time: 2h, failures: 12.5%}\n"
                  "device: {backend: cpu, batch: 4096}\n");
    const Spec *spec = &reading.spec;
    CHECK_OK(reading.error);
    CHECK_TEXT("", reading.messages);
    CHECK(spec->seed == 9007199254740991);
    CHECK_BITS(2.0, spec->settings[0]);
    CHECK_INTEGER(20000, spec->configured.ticks);
    CHECK_BITS(-0.02, spec->fixed[spec_parameter(spec, "phi_leg")]);
    CHECK_BITS(0.15, spec->fixed[spec_parameter(spec, "T_max_thrust")]);
    CHECK(spec->replicates.count == 16 && !spec->replicates.common && spec->replicates.store);
    CHECK_INTEGER(spec_parameter(spec, "z_foot"), spec->replicates.perturb[0].parameter);
    CHECK(spec->objective.over == OVER_QUANTILE && spec->objective.failed == FAILED_PENALTY);
    CHECK_BITS(0.9, spec->objective.quantile);
    CHECK_BITS(1000.0, spec->objective.penalty);
    CHECK(spec->record.trajectories && spec->record.all_replicates && spec->record.float64 && spec->record.gzip);
    CHECK_INTEGER(4, spec->record.select.trials[0]);
    CHECK_INTEGER(50, spec_sample_ticks(spec));
    CHECK_INTEGER(1000000, spec->limits.trials);
    CHECK_BITS(7200.0, spec->limits.wall_time);
    CHECK_BITS(0.125, spec->limits.failures);
    CHECK_INTEGER(4096, spec->device.batch);
    spec_done(&reading);
}

TEST(spec_axes_keep_their_order_and_derived_ones_follow)
{
    Reading reading = spec_with("search:\n  over:\n    thrust: [25, 30]\n    b_fp: {derive: 0.1*k_fp}\n"
                                "    k_fp: [1, 2, 3]\n    k_xdot: [0, 1, 2]\n    z_foot: [0.4, 0.5]\n"
                                "  zip: [[k_xdot, k_fp]]\n  exclude: [k_fp > 2 and thrust < 30]\n");
    static const char *const order[] = {"thrust", "k_fp", "k_xdot", "z_foot", "b_fp"};
    const Spec *spec = &reading.spec;
    CHECK_OK(reading.error);
    CHECK_INTEGER(4, spec->n_axes);
    CHECK_INTEGER(1, spec->n_derived);
    for (int a = 0; a < 5 && reading.error.kind == OK; a++)
        CHECK_INTEGER(spec_parameter(spec, order[a]), spec->axes[a].parameter);
    CHECK(spec->axes[1].zip == spec->axes[2].zip && spec->axes[1].zip >= 0 && spec->axes[0].zip < 0);
    CHECK(spec->axes[4].derive != NULL && spec->axes[3].derive == NULL);
    CHECK_INTEGER(1, spec->n_exclude);
    spec_done(&reading);
}

TEST(spec_points_are_rows_in_the_order_of_the_first)
{
    Reading reading = spec_with("search:\n  method: list\n  over: {b_fp: {derive: k_fp / 10}}\n"
                                "  points:\n    - {thrust: 30, k_fp: 100}\n    - {k_fp: 200, thrust: 40}\n");
    const double expected[] = {30, 100, 40, 200};
    CHECK_OK(reading.error);
    CHECK_INTEGER(2, reading.spec.n_points);
    CHECK_INTEGER(2, reading.spec.n_axes);
    for (int i = 0; i < 4 && reading.error.kind == OK; i++) CHECK_BITS(expected[i], reading.spec.points[i]);
    CHECK_INTEGER(1, reading.spec.n_derived);
    spec_done(&reading);
}

TEST(spec_overrides_replace_and_create)
{
    static const char *const overrides[] = {"parameters.k_fp=200",           "search.over.thrust=[25, 30]",
                                            "search.over.k_att=[1]",         "simulation.newton.iterations=8",
                                            "objective.minimize=\"energy\"", "parameters.k_fp=300"};
    static const char text[] = "version: 1\nexperiment: test\nmodel: hopper\nparameters: {k_fp: 100, b_fp: 9}\n"
                               "search: {over: {thrust: [1, 2, 3]}}\n";
    Reading reading = spec_of(text, overrides, 6);
    const Spec *spec = &reading.spec;
    CHECK_OK(reading.error);
    CHECK_TEXT("", reading.messages);
    CHECK_BITS(300.0, spec->fixed[spec_parameter(spec, "k_fp")]);
    CHECK_BITS(9.0, spec->fixed[spec_parameter(spec, "b_fp")]);
    CHECK_INTEGER(2, spec->n_axes);
    CHECK_INTEGER(2, spec->axes[0].values.count);
    CHECK(strstr(spec->resolved, "iterations: 8\n") != NULL && strstr(spec->resolved, "minimize: \"energy\"") != NULL);
    spec_done(&reading);
}

TEST(spec_errors_of_overrides_have_their_own_place)
{
    static const char *const overrides[] = {"parameters.k_fq=200", "limits.trials=-1", "nonsense", "seed.low=1",
                                            "a..b=1"};
    Reading reading = spec_of("version: 1\nexperiment: test\nmodel: hopper\nseed: 7\n", overrides, 5);
    CHECK_ERROR(ERROR_USER, reading.error);
    CHECK_INTEGER(5, reading.errors);
    CHECK(strstr(reading.messages, "--set:1:12: error: unknown key 'k_fq' in parameters; did you mean 'k_fp'?\n"
                                   "    parameters.k_fq=200\n               ^~~~\n") != NULL);
    CHECK(strstr(reading.messages, "--set:1:15: error: trials is -1, must be in [1, 9007199254740991]\n") != NULL);
    spec_done(&reading);
}

// Without the model its names are unknown, and no error mentions them. Forms, methods and zips are checked for every
// model.
TEST(spec_an_unknown_model_hides_no_errors_and_causes_none)
{
    Reading reading = spec_of("version: 1\nexperiment: test\nmodel: quadruped\nsimulation: {warp: 9}\n"
                              "parameters: {x: y}\nsearch: {over: {q: [1, 2]}, exclude: [q > nothing]}\n"
                              "objective: {minimize: nothing}\nreplicates: {perturb: {q: 1}}\n",
                              NULL, 0);
    CHECK_INTEGER(1, reading.errors);
    spec_done(&reading);
    reading = spec_of("version: 1\nexperiment: test\nmodel: quadruped\nsearch: {over: {q: [1, z]}, zip: 3}\n", NULL, 0);
    CHECK_INTEGER(3, reading.errors);
    CHECK(strstr(reading.messages, "q is 'z', expected a number") != NULL);
    CHECK(strstr(reading.messages, "zip is '3', expected a list of groups of axes") != NULL);
    spec_done(&reading);
}

TEST(spec_a_misspelt_model_is_read_as_the_one_that_was_meant)
{
    Reading reading =
        spec_of("version: 1\nexperiment: test\nmodel: hoppper\nsearch: {over: {k_fq: [1, 2]}}\n", NULL, 0);
    CHECK_INTEGER(2, reading.errors);
    CHECK(strstr(reading.messages, "did you mean 'hopper'?") != NULL);
    CHECK(strstr(reading.messages, "did you mean 'k_fp'?") != NULL);
    spec_done(&reading);
}

TEST(spec_many_errors_are_counted_in_bounded_memory)
{
    enum { KEYS = 20000 };
    char *text = malloc(64 + KEYS * 32);
    size_t size = (size_t)sprintf(text, "%sparameters:\n", spec_head);
    for (int i = 0; i < KEYS; i++) size += (size_t)sprintf(text + size, "  what%d: x\n", i);
    size += (size_t)sprintf(text + size, "search: {over: {thrust: [");
    for (int i = 0; i < KEYS; i++) size += (size_t)sprintf(text + size, "x%s", i + 1 < KEYS ? "," : "]}}\n");
    Reading reading = spec_of(text, NULL, 0);
    CHECK_INTEGER(2 * KEYS, reading.errors);
    free(text);
    spec_done(&reading);
}

TEST(spec_a_model_may_size_its_tables_by_its_options)
{
    if (model_find("bbob") == NULL) {
        test_skip("the model bbob", "make");
        return;
    }
    static const char text[] =
        "version: 1\nexperiment: test\nmodel: bbob\nsimulation: {function: rosenbrock, dimension: %d}\n"
        "search: {method: random, trials: 50, over: {x1: {range: [-5, 5]}, x7: {range: [0, 5]}}}\n"
        "record: {trajectories: {select: {best: 1}}}\n";
    char whole[512];
    snprintf(whole, sizeof whole, text, 8);
    Reading reading = spec_of(whole, NULL, 0);
    CHECK_OK(reading.error);
    CHECK_INTEGER(8, reading.spec.configured.n_parameters);
    CHECK_INTEGER(1, spec_sample_ticks(&reading.spec));
    CHECK_BITS(50.0, reading.spec.method_settings[0]);
    spec_done(&reading);
    snprintf(whole, sizeof whole, text, 3); // the model now has no x7
    reading = spec_of(whole, NULL, 0);
    CHECK_INTEGER(1, reading.errors);
    spec_done(&reading);
}

TEST(spec_names_of_models_do_not_clash)
{
    // These names become columns of one SQL table and names in one scope.
    static const char *const reserved[] = {"id",      "search",   "round", "fitness",
                                           "failure", "n_failed", "trial", "replicate"};
    enum { RESERVED = sizeof reserved / sizeof reserved[0] };
    for (int m = 0; m < model_count(); m++) {
        char text[256];
        const char *names[256];
        int count = 0;
        if (model_at(m)->runs_program || model_at(m)->by_hand) continue; // the spec names everything: test_command.c
        if (model_at(m) == model_find("equations")) continue; // the same: golden/bad_specs/equations_metrics.yaml
        const char *objective = model_at(m) == model_find("articulated") ? "objective: {minimize: distance}" : "";
        snprintf(text, sizeof text, "version: 1\nexperiment: test\nmodel: %s\n%s\n", model_at(m)->name, objective);
        Reading reading = spec_of(text, NULL, 0);
        const Configured *configured = &reading.spec.configured;
        CHECK_OK(reading.error);
        for (int i = 0; i < configured->n_parameters; i++) names[count++] = configured->parameters[i].name;
        for (int i = 0; i < configured->n_metrics; i++) names[count++] = configured->metrics[i].name;
        for (int i = 0; i < RESERVED; i++) names[count++] = reserved[i];
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < i; k++) CHECK(strcasecmp(names[i], names[k]) != 0);
        }
        spec_done(&reading);
    }
}

TEST(spec_derived_parameters_see_what_stands_before_them)
{
    static const struct {
        const char *over;
        int errors;
    } cases[] = {
        {"{k_fp: [1, 2], b_fp: {derive: k_fp}, b_att: {derive: b_fp + k_fp}}", 0},
        {"{b_fp: {derive: k_fp}, k_fp: [1, 2]}", 0}, // the axis may come later
        {"{b_fp: {derive: k_att}}", 0},              // derived from a fixed value
        {"{b_fp: {derive: b_fp}}", 1},
        {"{b_fp: {derive: b_att}, b_att: {derive: b_fp}}", 1},
        {"{b_fp: {derive: velocity_error}}", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "search: {over: %s}\n", cases[i].over);
        Reading reading = spec_with(text);
        CHECK_INTEGER(cases[i].errors, reading.errors);
        spec_done(&reading);
    }
}

TEST(spec_a_grid_may_have_2_to_the_48_trials_and_no_more)
{
    Reading reading =
        spec_with("search: {over: {k_fp: {linspace: [1, 2, 16777216]}, b_fp: {linspace: [1, 2, 16777216]}}}\n");
    CHECK_OK(reading.error);
    spec_done(&reading);
    reading = spec_with("search: {over: {k_fp: {linspace: [1, 2, 16777216]}, b_fp: {linspace: [1, 2, 16777217]}}}\n");
    CHECK_INTEGER(1, reading.errors);
    spec_done(&reading);
}

// ---- a typo in any key of any shipped spec is one error -------------------------------------------------------------

typedef enum Typo { TYPO_DOUBLED, TYPO_DROPPED, TYPO_REPLACED, TYPO_SWAPPED, TYPO_COUNT } Typo;

// Writes `text` with a typo in letter `letter` of the key at `at` with `length` letters.
static void spec_misspell(const char *text, const char *at, size_t length, size_t letter, Typo typo, char *out)
{
    char key[64];
    memcpy(key, at, length);
    key[length] = '\0';
    if (typo == TYPO_DOUBLED) memmove(key + letter + 1, key + letter, length - letter + 1);
    if (typo == TYPO_DROPPED) memmove(key + letter, key + letter + 1, length - letter);
    if (typo == TYPO_REPLACED) key[letter] = 'q';
    if (typo == TYPO_SWAPPED && letter + 1 < length) {
        const char first = key[letter];
        key[letter] = key[letter + 1];
        key[letter + 1] = first;
    }
    sprintf(out, "%.*s%s%s", (int)(at - text), text, key, at + length);
}

static const char *spec_place(const char *text, int line, int column)
{
    for (int l = 1; l < line; l++) text = strchr(text, '\n') + 1;
    return text + column - 1;
}

// Whether this typo is tried: one in four, in a quick run one in twenty, with TYPOS=1 every one.
static bool spec_tries_typo(const Node *key, size_t letter, Typo typo)
{
    const size_t number = letter + 5 * (size_t)typo + (size_t)key->line;
    return getenv("TYPOS") != NULL || number % (test_quick() ? 20 : 4) == 0;
}

// Whether the messages suggest the key. Of a path, whose keys the spec may have above, another may be nearest.
static bool spec_suggests(Reading *reading, const char *key)
{
    const char *right =
        strchr(key, '.') != NULL ? "did you mean '" : arena_format(&reading->arena, "did you mean '%s'?", key);
    return strstr(reading->messages, right) != NULL;
}

static void spec_check_typos_of_key(const char *file, const char *text, const Node *key, char *out)
{
    const size_t length = strlen(key->text);
    const char *at = spec_place(text, key->line, key->column);
    CHECK(strncmp(at, key->text, length) == 0);
    for (size_t letter = 0; letter < length; letter += test_quick() ? 4 : 1) {
        for (Typo typo = 0; typo < TYPO_COUNT; typo++) {
            if (length < 3 || (typo == TYPO_SWAPPED && letter + 1 == length)) continue;
            if (!spec_tries_typo(key, letter, typo)) continue;
            spec_misspell(text, at, length, letter, typo, out);
            if (strcmp(out, text) == 0) continue; // swapping two equal letters changes nothing
            Reading reading = spec_of(out, NULL, 0);
            const bool one = reading.errors == 1 && (typo != TYPO_DOUBLED || spec_suggests(&reading, key->text));
            if (!one)
                printf("%s:%d: typo %d of letter %zu in %s:\n%s", file, key->line, (int)typo, letter, key->text,
                       reading.messages);
            CHECK(one);
            spec_done(&reading);
        }
    }
}

// Keys of a mapping by name are the user's own: a typo makes another name, which is wrong where it is used.
static bool spec_names_items(const Node *key, bool system)
{
    static const char *const of_systems[] = {"parameters",   "states",  "held",     "let",     "rates",   "next",
                                             "modes",        "metrics", "failures", "columns", "set",     "sensors",
                                             "every_period", "command", "effort",   "inputs",  "policies"};
    for (size_t i = 0; system && i < sizeof of_systems / sizeof *of_systems; i++)
        if (strcmp(key->text, of_systems[i]) == 0) return true;
    return strcmp(key->text, "metrics") == 0 || strcmp(key->text, "groups") == 0 || strcmp(key->text, "design") == 0 ||
           strcmp(key->text, "define") == 0;
}

// system: the node is the mapping of a system, or in it.
static void spec_check_typos_below(const char *file, const char *text, const Node *node, bool names, bool system,
                                   char *out)
{
    for (int i = 0; i < node->count; i++) {
        const bool mapping = node->kind == NODE_MAPPING;
        if (mapping && !names) spec_check_typos_of_key(file, text, node->keys[i], out);
        const bool in_system =
            system ||
            (mapping && (strcmp(node->keys[i]->text, "system") == 0 || strcmp(node->keys[i]->text, "law") == 0));
        spec_check_typos_below(file, text, node->items[i], mapping && spec_names_items(node->keys[i], system),
                               in_system, out);
    }
}

TEST(spec_a_typo_in_any_key_of_a_shipped_spec_is_one_error)
{
    Arena arena;
    char **names;
    int count = 0;
    CHECK_OK(arena_create(&arena, (size_t)64 << 20, "test"));
    if (!file_exists("experiments")) {
        test_skip("files of the repository", "run it from its root");
        return;
    }
    CHECK_OK(folder_list("experiments", &arena, &names, &count));
    for (int i = 0; i < count; i++) {
        const char *dot = strrchr(names[i], '.');
        Bytes bytes;
        if (dot == NULL || strcmp(dot, ".yaml") != 0) continue;
        CHECK_OK(file_read(arena_format(&arena, "experiments/%s", names[i]), 1 << 20, &arena, &bytes));
        const Source source = {.file = names[i], .text = (const char *)bytes.data};
        const Node *root = yaml_parse(&source, &arena, diagnostics_new(&arena));
        char *out = arena_take(&arena, bytes.size + 64, 1);
        CHECK(root != NULL);
        if (root != NULL) spec_check_typos_below(names[i], source.text, root, false, false, out);
    }
    arena_destroy(&arena);
}

// ---- limits ---------------------------------------------------------------------------------------------------------

static void spec_expect(const char *text, const char *message)
{
    Reading reading = spec_with(text);
    CHECK_INTEGER(message[0] != '\0', reading.errors);
    if (strstr(reading.messages, message) == NULL) CHECK_TEXT(message, reading.messages);
    spec_done(&reading);
}

TEST(spec_integers_that_no_double_holds_are_refused_not_rounded)
{
    spec_expect("seed: 9007199254740991\n", "");
    spec_expect("seed: 9007199254740992\n", "seed is 9007199254740992, must be in [0, 9007199254740991]");
    spec_expect("seed: 9007199254740993\n", "seed is 9007199254740993, must be in [0, 9007199254740991]");
}

TEST(spec_exclude_has_at_most_256_expressions)
{
    char text[4096] = "search: {over: {k_fp: [1]}, exclude: [";
    for (int i = 0; i < EXCLUDE_MAX; i++) strcat(text, "k_fp > 1,");
    char *end = strchr(text, '\0');
    strcpy(end, "]}\n");
    spec_expect(text, "");
    strcpy(end, "k_fp]}\n");
    spec_expect(text, "exclude has 257 expressions, at most 256 are allowed; join some with `or`");
}

TEST(spec_trajectories_of_one_trial_fit_a_gibibyte)
{
    static const char format[] = "simulation: {duration: 3600}\nreplicates: {count: 16}\n"
                                 "record: {trajectories: {select: {best: 1}, replicates: all, sample: %s}}\n";
    char text[256];
    snprintf(text, sizeof text, format, "0.0061");
    spec_expect(text, "");
    snprintf(text, sizeof text, format, "0.006");
    spec_expect(text, "is allowed: write sample of at least 0.0061 s, or replicates: first");
}

TEST(spec_dotted_keys_are_shown_nested) { spec_expect("limits.trials: 5\n", "keys nest, write limits: {trials: ...}"); }
