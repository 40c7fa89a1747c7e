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

// The other keys that a key needs to be valid.
static const char *schema_context(const char *path)
{
    static const struct {
        const char *path, *search;
    } contexts[] = {
        {"search.zip", "{over: {k_att: [1, 2], b_att: [1, 2]}}"},
        {"search.points", "{method: list}"},
        {"search.when", "{over: {k_att: [0, 1], b_att: [1, 2]}}"},
        {"search.csv", "{method: csv}"},
        {"search.cmaes.from", "{method: cmaes, over: {k_fp: {range: [50, 300]}}}"},
        {"search.cmaes.inject", "{method: cmaes, over: {k_fp: {range: [50, 300]}, thrust: {range: [20, 40]}}}"},
        {"search.cmaes.taken",
         "{method: cmaes, over: {k_fp: {range: [50, 300]}, thrust: {range: [20, 40]}}, cmaes: {from: other}}"},
        {"search.cmaes.outer", "{method: cmaes, over: {k_fp: {range: [50, 300]}}}"},
        {"search.adam.from", "{method: adam, over: {k_fp: {range: [50, 300]}, thrust: {range: [20, 40]}}}"},
        {"search.adam.starts", "{method: adam, over: {k_fp: {range: [50, 300]}, thrust: {range: [20, 40]}}}"},
        {"search.adam.taken",
         "{method: adam, over: {k_fp: {range: [50, 300]}, thrust: {range: [20, 40]}}, adam: {from: other}}"},
        {"search.lbfgs.from", "{method: lbfgs, over: {k_fp: {range: [50, 300]}, thrust: {range: [20, 40]}}}"},
        {"search.lbfgs.starts", "{method: lbfgs, over: {k_fp: {range: [50, 300]}, thrust: {range: [20, 40]}}}"},
        {"search.lbfgs.taken",
         "{method: lbfgs, over: {k_fp: {range: [50, 300]}, thrust: {range: [20, 40]}}, lbfgs: {from: other}}"},
    };
    for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++) {
        if (strcmp(contexts[i].path, path) == 0) return contexts[i].search;
    }
    return "{}";
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
        const char *several =
            strcmp(rows[i].path, "objective.reference") == 0 ? "objective: {minimize: [energy, apex_mean]}\n" : "";
        const char *text = arena_format(
            &arena, "version: 1\nexperiment: test\nmodel: %s\nsimulation: {duration: 1.5}\n%ssearch: %s\n",
            strcmp(rows[i].path, "record.bodies") == 0 ? "rigid" : "hopper", several, schema_context(rows[i].path));
        const char *set = arena_format(&arena, "%s=%s", rows[i].path, rows[i].example);
        Spec spec;
        Diagnostics *diagnostics = diagnostics_new(&arena);
        const bool in_file = strcmp(rows[i].path, "include") == 0; // only files can have this key
        if (in_file) text = arena_format(&arena, "%s%s: %s\n", text, rows[i].path, rows[i].example);
        CHECK_OK(file_write(folder, "example.yaml", text, strlen(text)));
        const Error error = spec_load(arena_format(&arena, "%s/example.yaml", folder), &set, in_file ? 0 : 1, &arena,
                                      diagnostics, &spec);
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
