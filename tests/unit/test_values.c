// Value forms: number of values, exact ends, tolerance of rounding, and their texts.
#include "../../runner/experiment/spec/keys.h"
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A spec that searches k_xdot (s, in [-100, 100]) through `values`; `method`: the other keys of the search, before it.
static bool values_parse(const char *values, const char *method, Arena *arena, Values *out)
{
    Spec spec;
    Diagnostics *diagnostics = diagnostics_new(arena);
    const char *text = arena_format(arena,
                                    "version: 1\nexperiment: values\nmodel: hopper\nsearch:\n  method: %s\n"
                                    "  over: {k_xdot: %s}\n",
                                    method, values);
    const Error error = spec_parse("values.yaml", text, NULL, 0, arena, diagnostics, &spec);
    if (error.kind == OK) *out = spec.axes[0].values;
    return error.kind == OK;
}

TEST(values_linspace_has_both_ends_and_even_steps)
{
    Arena arena;
    Values values;
    CHECK_OK(arena_create(&arena, (size_t)64 << 20, "test"));
    CHECK(values_parse("{linspace: [0, 1, 11]}", "grid", &arena, &values));
    CHECK_INTEGER(11, values.count);
    const double tenths[] = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1};
    for (int i = 0; i < 11; i++) CHECK_BITS(tenths[i], values_at(&values, i));
    CHECK(values_parse("{linspace: [0.3, -0.1, 3]}", "grid", &arena, &values));
    CHECK_BITS(0.3, values_at(&values, 0));
    CHECK_BITS(0.1, values_at(&values, 1));
    CHECK_BITS(-0.1, values_at(&values, 2));
    arena_destroy(&arena);
}

TEST(values_logspace_has_end_values_and_even_ratios)
{
    Arena arena;
    Values values;
    CHECK_OK(arena_create(&arena, (size_t)64 << 20, "test"));
    CHECK(values_parse("{logspace: [0.1, 10, 5]}", "grid", &arena, &values));
    CHECK_INTEGER(5, values.count);
    CHECK_BITS(0.1, values_at(&values, 0));
    CHECK_BITS(10.0, values_at(&values, 4));
    for (int i = 0; i < 4; i++) CHECK_NEAR(sqrt(10.0), values_at(&values, i + 1) / values_at(&values, i), 1e-14);
    arena_destroy(&arena);
}

TEST(values_arange_counts_as_people_do)
{
    static const struct {
        const char *text;
        int64_t count;
        double last;
    } cases[] = {
        {"{arange: [25, 40, 5]}", 4, 40},       {"{arange: [0, 0.3, 0.1]}", 4, 0.3},
        {"{arange: [0, 1, 0.1]}", 11, 1},       {"{arange: [0, 0.29, 0.1]}", 3, 0.2},
        {"{arange: [1, 1, 5]}", 1, 1},          {"{arange: [0, 4, 3]}", 2, 3},
        {"{arange: [-0.2, 0.2, 0.1]}", 5, 0.2}, {"{arange: [0, 100, 0.0001]}", 1000001, 100},
    };
    Arena arena;
    Values values;
    CHECK_OK(arena_create(&arena, (size_t)256 << 20, "test"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK(values_parse(cases[i].text, "grid", &arena, &values));
        CHECK_INTEGER(cases[i].count, values.count);
        CHECK_NEAR(cases[i].last, values_at(&values, values.count - 1), 1e-12);
        CHECK(values_at(&values, values.count - 1) <= values.high);
        for (int64_t k = 1; k < values.count && k < 100; k++) {
            char decimal[32]; // all steps here are multiples of 1e-4: the decimal, as the C library reads it
            snprintf(decimal, sizeof decimal, "%.4f", values.low + (double)k * values.step);
            CHECK_BITS(strtod(decimal, NULL), values_at(&values, k));
        }
    }
    arena_destroy(&arena);
}

TEST(values_lists_keep_their_order_and_take_units)
{
    Arena arena;
    Values values;
    CHECK_OK(arena_create(&arena, (size_t)64 << 20, "test"));
    CHECK(values_parse("[20ms, 5us, 1, 1e-1, 0.5min, 3ms, 0.7ms, 1.1us]", "grid", &arena, &values));
    const double expected[] = {0.02, 5e-6, 1.0, 0.1, 30.0, 0.003, 0.0007, 1.1e-6};
    CHECK_INTEGER(8, values.count);
    for (int i = 0; i < 8; i++) CHECK_BITS(expected[i], values_at(&values, i));
    arena_destroy(&arena);
}

TEST(values_ranges_are_for_methods_that_sample)
{
    Arena arena;
    Values values;
    CHECK_OK(arena_create(&arena, (size_t)64 << 20, "test"));
    CHECK(values_parse("{range: [1, 100], scale: log, integer: true}", "random", &arena, &values));
    CHECK(values_are_range(&values) && values.log_scale && values.integer && values.count == 0);
    CHECK_BITS(1.0, values.low);
    CHECK_BITS(100.0, values.high);
    CHECK(values_parse("{range: [-1, 1]}", "random", &arena, &values));
    CHECK(!values.log_scale && !values.integer);
    CHECK(!values_parse("{range: [1, 100]}", "grid", &arena, &values));
    arena_destroy(&arena);
}

TEST(values_bad_forms_are_refused)
{
    static const char *const bad[] = {
        "{linspace: [0, 1]}",
        "{linspace: [0, 1, 1]}",
        "{linspace: [0, 1, 2.5]}",
        "{linspace: [0, 1000, 3]}",
        "{linspace: [1, 1, 3]}",
        "{logspace: [0, 1, 3]}",
        "{logspace: [-1, 1, 3]}",
        "{arange: [1, 0, 0.1]}",
        "{arange: [0, 1, 0]}",
        "{arange: [0, 1, -1]}",
        "{arange: [0, 100, 1e-300]}",
        "[]",
        "[1, nan]",
        "[1, x]",
        "1",
        "{}",
        "{linspace: [0, 1, 2], scale: log}",
        "{linspace: 3}",
        "{lin: [0, 1, 2]}",
        "[[1, 2]]",
    };
    Arena arena;
    Values values;
    CHECK_OK(arena_create(&arena, (size_t)256 << 20, "test"));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const bool accepted = values_parse(bad[i], "grid", &arena, &values);
        if (accepted) printf("accepted: %s\n", bad[i]);
        CHECK(!accepted);
    }
    arena_destroy(&arena);
}

// Every model's parameters have bounds; here the parameter is made by hand.
TEST(values_whose_ends_are_too_far_apart_are_refused)
{
    Arena arena;
    char *text = NULL;
    size_t size = 0;
    Values values;
    CHECK_OK(arena_create(&arena, (size_t)64 << 20, "test"));
    Source source = {.file = "values.yaml", .text = "{linspace: [-1e308, 1e308, 3]}"};
    Diagnostics *diagnostics = diagnostics_new(&arena);
    const Node *node = yaml_parse(&source, &arena, diagnostics);
    const Key key = {.path = "parameters.drift", .type = KEY_NUMBER, .unit = "m", .low = -INFINITY, .high = INFINITY};
    Spec spec = {.method = &search_grid};
    SpecReader reader = {.spec = &spec, .arena = &arena, .diagnostics = diagnostics, .root = node};
    CHECK(!values_read(&reader, &key, node, &values));
    FILE *out = open_memstream(&text, &size);
    diagnostics_print(diagnostics, out, false);
    fclose(out);
    CHECK(strstr(text, "the ends of drift are too far apart") != NULL);
    free(text);
    arena_destroy(&arena);
}
