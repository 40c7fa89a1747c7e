// The schema and the reference page speak of every key that can be given, and of none that can't.
// (tests/cli/schema.sh validates with the schema.)
#include "../../runner/keys.h"
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
    const Key *rows = keys_table(&count);
    char *schema = schema_printed(spec_schema), *reference = schema_printed(spec_reference);
    CHECK_OK(arena_create(&arena, 1 << 20, "test"));
    for (int i = 0; i < count; i++) {
        const bool usable = rows[i].type != KEY_LATER;
        const char *property = arena_format(&arena, "\"%s\": {", key_name(&rows[i]));
        const char *heading = arena_format(&arena, "\n%s\n    ", rows[i].path);
        CHECK((strstr(schema, property) != NULL) == usable);
        CHECK((strstr(reference, heading) != NULL) == usable);
        CHECK(!usable || (rows[i].doc != NULL && rows[i].example != NULL));
    }
    arena_destroy(&arena);
    free(schema);
    free(reference);
}

// An example that does not parse would be a bad teacher.
TEST(schema_examples_are_good_specs)
{
    Arena arena;
    int count;
    const Key *rows = keys_table(&count);
    CHECK_OK(arena_create(&arena, (size_t)256 << 20, "test"));
    for (int i = 0; i < count; i++) {
        if (rows[i].type == KEY_LATER) continue;
        const char *axes =
            strcmp(rows[i].path, "search.zip") == 0 ? "search: {over: {k_att: [1, 2], b_att: [1, 2]}}\n" : "";
        const char *list = strcmp(rows[i].path, "search.points") == 0 ? "search: {method: list}\n" : "";
        const char *several =
            strcmp(rows[i].path, "objective.reference") == 0 ? "objective: {minimize: [energy, apex_mean]}\n" : "";
        const char *learns =
            strncmp(rows[i].path, "search.cmaes.", 13) == 0
                ? "search: {method: cmaes, over: {k_fp: {range: [50, 300]}, thrust: {range: [20, 40]}}, "
                  "cmaes: {from: other}}\n"
                : "";
        const char *text =
            arena_format(&arena, "version: 1\nexperiment: test\nmodel: hopper\nsimulation: {duration: 1.5}\n%s%s%s%s",
                         axes, list, several, learns);
        const char *set = arena_format(&arena, "%s=%s", rows[i].path, rows[i].example);
        Spec spec;
        Diagnostics *diagnostics = diagnostics_new(&arena);
        const Error error = spec_parse("example", text, &set, 1, &arena, diagnostics, &spec);
        // Alone, a part of `trajectories` lacks `select`.
        const bool lacks_select =
            strncmp(rows[i].path, "record.trajectories.", 20) == 0 && strstr(rows[i].path, "select") == NULL;
        if (error.kind != OK && !lacks_select) diagnostics_print(diagnostics, stdout, false);
        CHECK_INTEGER(lacks_select ? 1 : 0, diagnostics_errors(diagnostics));
    }
    arena_destroy(&arena);
}
