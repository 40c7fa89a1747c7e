// The schema and the reference page describe every key.
// (tests/cli/schema.sh validates with the schema.)
#include "../../runner/experiment/spec/keys.h"
#include "../test.h"

#include <stdlib.h>
#include <string.h>

static char *schema_printed(void (*print)(FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    print(out);
    fclose(out);
    return text;
}

TEST(schema_and_reference_know_every_key)
{
    Arena arena;
    int count;
    char *schema = schema_printed(spec_schema), *reference = schema_printed(spec_reference);
    CHECK_OK(arena_create(&arena, 1 << 20, "test"));
    const Key *rows = keys_table(&arena, &count);
    for (int i = 0; i < count; i++) {
        const char *property = arena_format(&arena, "\"%s\": {", key_name(&rows[i]));
        const char *heading = arena_format(&arena, "\n%s\n    ", rows[i].path);
        CHECK(strstr(schema, property) != NULL);
        CHECK(strstr(reference, heading) != NULL);
        CHECK(rows[i].doc != NULL && rows[i].example != NULL);
    }
    arena_destroy(&arena);
    free(schema);
    free(reference);
}

// The least `search:` of a method, made of what `over` may hold with it. `extra`: more keys, "" or ", key: value".
static const char *schema_least(const SearchMethod *method, const char *extra, Arena *arena)
{
    const char *trials = method->wants_range    ? "over: {k_fp: {range: [50, 300]}, thrust: {range: [20, 40]}}"
                         : method->wants_points ? "points: [{k_fp: 100, thrust: 30}]"
                                                : "over: {k_fp: [50, 300], thrust: [20, 40]}";
    return arena_format(arena, "{method: %s, %s%s}", method->name, trials, extra);
}

// The method in whose section a key is, as in search.cmaes.population; NULL: none.
static const SearchMethod *schema_method(const char *path, Arena *arena)
{
    const char *name = path_below(path, "search");
    return name == NULL ? NULL : search_method_find(arena_format(arena, "%.*s", (int)strcspn(name, "."), name));
}

// `search:` with the other keys that a key needs to be valid.
static const char *schema_context(const char *path, Arena *arena)
{
    static const struct {
        const char *path, *search;
    } contexts[] = {
        {"search.zip", "{over: {k_att: [1, 2], b_att: [1, 2]}}"},
        {"search.points", "{method: list}"},
        {"search.when", "{over: {k_att: [0, 1], b_att: [1, 2]}}"},
        {"search.csv", "{method: csv}"},
        {"recommend", "{method: random, over: {k_fp: {range: [50, 300]}}}"},
    };
    const SearchMethod *method = schema_method(path, arena);
    const char *last = strrchr(path, '.');
    for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++) {
        if (strcmp(contexts[i].path, path) == 0) return contexts[i].search;
    }
    if (method == NULL) return "{}";
    const bool taken = strcmp(last, ".taken") == 0; // stands beside `from`
    return schema_least(method, taken ? arena_format(arena, ", %s: {from: other}", method->name) : "", arena);
}

// The `objective:` or `replicates:` that a key needs, or "".
static const char *schema_beside(const char *path, Arena *arena)
{
    if (strcmp(path, "replicates.race") == 0)
        return "replicates: {count: 16, perturb: {phi_leg: {normal: [0, 0.1]}}}\n";
    if (strcmp(path, "recommend") == 0) return "replicates: {perturb: {phi_leg: {normal: [0, 0.1]}}}\n";
    const SearchMethod *method = schema_method(path, arena);
    const bool several = strcmp(path, "objective.reference") == 0 || (method != NULL && method->several);
    if (strcmp(path, "validate") == 0) return "objective: {residuals: [velocity_error]}\n";
    if (strstr(path, "least_squares") != NULL) return "objective: {residuals: [velocity_error, attitude_rms]}\n";
    return several ? "objective: {minimize: [energy, apex_mean]}\n" : "";
}

// Each campaign that the example of `sweep` declares, for the file, is a valid spec.
static void schema_check_sweep(const char *file, const char *set, Arena *arena)
{
    Sweep sweep;
    const char *items[] = {set};
    CHECK_OK(spec_sweep(file, &(Overrides){.items = items, .count = 1}, arena, diagnostics_new(arena), &sweep));
    CHECK_INTEGER(4, sweep.count);
    for (int i = 0; i < sweep.count; i++) {
        Spec spec;
        const Overrides *each = &sweep.campaigns[i].overrides;
        CHECK_OK(spec_load(file, each->items, each->count, arena, diagnostics_new(arena), &spec));
    }
    CHECK_TEXT("dt_5.0e-4.integrator_dormand_prince", sweep.campaigns[3].name);
}

// The examples in the schema must be valid specs.
TEST(schema_examples_are_good_specs)
{
    Arena arena;
    int count;
    const char *folder = test_folder();
    static const char points[] = "k_fp,thrust\n100,30\n";
    CHECK_OK(arena_create(&arena, (size_t)256 << 20, "test"));
    const Key *rows = keys_table(&arena, &count);
    CHECK_OK(file_write(folder, "points.csv", points, strlen(points)));
    CHECK_OK(file_write(folder, "fragment.yaml", "seed: 3\n", strlen("seed: 3\n")));
    for (int i = 0; i < count; i++) {
        const char *text =
            arena_format(&arena, "version: 1\nexperiment: test\nmodel: %s\nsimulation: {duration: 1.5}\n%ssearch: %s\n",
                         strcmp(rows[i].path, "record.bodies") == 0 ? "rigid" : "hopper",
                         schema_beside(rows[i].path, &arena), schema_context(rows[i].path, &arena));
        const char *set = arena_format(&arena, "%s=%s", rows[i].path, rows[i].example);
        Spec spec;
        Diagnostics *diagnostics = diagnostics_new(&arena);
        // only files can have these keys
        const bool in_file = strcmp(rows[i].path, "include") == 0 || strcmp(rows[i].path, "set") == 0;
        if (in_file) text = arena_format(&arena, "%s%s: %s\n", text, rows[i].path, rows[i].example);
        CHECK_OK(file_write(folder, "example.yaml", text, strlen(text)));
        const char *file = arena_format(&arena, "%s/example.yaml", folder);
        if (strcmp(rows[i].path, "sweep") == 0) {
            schema_check_sweep(file, set, &arena);
            continue;
        }
        const Error error = spec_load(file, &set, in_file ? 0 : 1, &arena, diagnostics, &spec);
        // Without `select`, a key of `trajectories` is incomplete.
        const bool lacks_select =
            strncmp(rows[i].path, "record.trajectories.", 20) == 0 && strstr(rows[i].path, "select") == NULL;
        // and without `reward` a key of `environment`
        const bool lacks_reward =
            strncmp(rows[i].path, "environment.", 12) == 0 && strcmp(rows[i].path, "environment.reward") != 0;
        const int lacks = lacks_select || lacks_reward ? 1 : 0;
        if (diagnostics_errors(diagnostics) != lacks) diagnostics_print(diagnostics, stdout, false);
        CHECK_INTEGER(lacks, diagnostics_errors(diagnostics));
        CHECK((error.kind != OK) == (lacks != 0));
    }
    arena_destroy(&arena);
}
