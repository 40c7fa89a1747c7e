// Unions and conditional axes against a plain list of the points that they mean: every point has one id, ids are places
// in the full products, and a point is found at its id.
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct FormsCase {
    Arena arena;
    Spec spec;
    Search search;
    double *parameter;
} FormsCase;

static bool forms_start(FormsCase *test, const char *search)
{
    *test = (FormsCase){0};
    if (arena_create(&test->arena, (size_t)1 << 27, "test").kind != OK) abort();
    Diagnostics *diagnostics = diagnostics_new(&test->arena);
    const char *text = arena_format(&test->arena,
                                    "version: 1\nexperiment: forms\nseed: 3\nmodel: bbob\nsimulation: {dimension: 4}\n"
                                    "search: %s\n",
                                    search);
    const Error error = spec_parse("forms.yaml", text, NULL, 0, &test->arena, diagnostics, &test->spec);
    CHECK_OK(error);
    diagnostics_print(diagnostics, stdout, false);
    if (error.kind != OK) return false;
    CHECK_OK(search_init(&test->spec, &test->arena, &test->search));
    test->parameter = ARENA_NEW(&test->arena, double, test->spec.configured.n_parameters);
    return true;
}

// All ids that stand for a trial, as "id: x1 x2 x3 x4; ...", with the parameters' values by name
static const char *forms_points(FormsCase *test)
{
    const char *text = "";
    for (int64_t id = 0; id < test->search.total; id++) {
        uint64_t ordinal;
        if (test->search.method->trial(&test->search, id, &ordinal, test->parameter).kind != OK) continue;
        CHECK_INTEGER(id, (int64_t)ordinal);
        CHECK_INTEGER(id, enumerated_find(&test->search, test->parameter, 0));
        CHECK_INTEGER(id, enumerated_find(&test->search, test->parameter, id));
        text = arena_format(&test->arena, "%s%s%lld:", text, text[0] != '\0' ? "; " : "", (long long)id);
        for (int p = 0; p < 4; p++)
            text = arena_format(&test->arena, "%s %s", text, text_number(test->parameter[p]).text);
    }
    return text;
}

static void forms_check(const char *search, int64_t total, const char *points)
{
    FormsCase test;
    if (!forms_start(&test, search)) return;
    CHECK_INTEGER(total, test.search.total);
    CHECK_TEXT(points, forms_points(&test));
    arena_destroy(&test.arena);
}

TEST(forms_union_is_its_blocks_in_order)
{
    forms_check("{union: [{over: {x1: [1, 2], x2: [3, 4]}}, {over: {x3: [1, 2, 3]}}]}", 7,
                "0: 1 3 0 0; 1: 1 4 0 0; 2: 2 3 0 0; 3: 2 4 0 0; 4: 0 0 1 0; 5: 0 0 2 0; 6: 0 0 3 0");
    forms_check("{union: [{over: {x1: [1, 2], x2: [3, 4]}, zip: [[x1, x2]]}, {over: {x2: [3, 4], x1: [1, 2]}}]}", 6,
                "0: 1 3 0 0; 1: 2 4 0 0; 3: 1 4 0 0; 4: 2 3 0 0"); // axes in the order in which they are first named
}

TEST(forms_union_has_a_point_once)
{
    forms_check("{union: [{over: {x1: [0, 1]}}, {over: {x2: [0, 1]}}, {over: {x1: [1, 2], x2: [1, 0]}}]}", 8,
                "0: 0 0 0 0; 1: 1 0 0 0; 3: 0 1 0 0; 4: 1 1 0 0; 6: 2 1 0 0; 7: 2 0 0 0");
    forms_check("{union: [{over: {x1: [1, 2]}}, {over: {x1: [2, 3]}}], exclude: [\"x1 = 2\"]}", 4,
                "0: 1 0 0 0; 3: 3 0 0 0");
}

TEST(forms_union_takes_derived_parameters)
{
    forms_check("{over: {x4: {derive: \"x1 + x2\"}}, union: [{over: {x1: [1]}}, {over: {x2: [2]}}]}", 2,
                "0: 1 0 0 1; 1: 0 2 0 2");
}

TEST(forms_condition_removes_equal_trials)
{
    forms_check("{over: {x1: [0, 1], x2: [2, 3, 4]}, when: {x2: \"x1 > 0\"}}", 6,
                "0: 0 0 0 0; 3: 1 2 0 0; 4: 1 3 0 0; 5: 1 4 0 0");
    // the fixed value may be one of the axis' values
    forms_check("{over: {x1: [0, 1], x2: [0, 3]}, when: {x2: \"x1 > 0\"}}", 4, "0: 0 0 0 0; 2: 1 0 0 0; 3: 1 3 0 0");
    // a condition on a conditional axis
    forms_check("{over: {x1: [0, 1], x2: [0, 1], x3: [4, 5]}, when: {x2: \"x1 > 0\", x3: \"x2 > 0\"}}", 8,
                "0: 0 0 0 0; 4: 1 0 0 0; 6: 1 1 4 0; 7: 1 1 5 0");
}

TEST(forms_condition_takes_the_parameters_own_value)
{
    FormsCase test;
    if (!forms_start(&test, "{over: {x1: [0, 1], x2: [2, 3]}, when: {x2: \"x1 > 0\"}}\nparameters: {x2: -2}")) return;
    CHECK_TEXT("0: 0 -2 0 0; 2: 1 2 0 0; 3: 1 3 0 0", forms_points(&test));
    Spec again = {0};
    Diagnostics *diagnostics = diagnostics_new(&test.arena);
    CHECK_OK(spec_parse("again.yaml", test.spec.resolved, NULL, 0, &test.arena, diagnostics, &again));
    diagnostics_print(diagnostics, stdout, false);
    CHECK_TEXT(test.spec.hash.hex, again.hash.hex);
    CHECK_TEXT(test.spec.resolved, again.resolved);
    CHECK(strstr(test.spec.canonical, "search.elsewhere.x2 = -2\n") != NULL);
    arena_destroy(&test.arena);
}

TEST(forms_union_and_conditions_together)
{
    forms_check("{union: [{over: {x1: [0, 1], x2: [2, 3]}}, {over: {x2: [2, 3], x3: [0, 1]}}], "
                "when: {x2: \"x1 + x3 > 0\"}}",
                8, "0: 0 0 0 0; 2: 1 2 0 0; 3: 1 3 0 0; 5: 0 2 1 0; 7: 0 3 1 0");
}

TEST(forms_resolved_union_reads_back)
{
    FormsCase test;
    if (!forms_start(&test, "{union: [{over: {x1: {linspace: [0, 1, 3]}, x2: [3, 4, 5]}, zip: [[x2, x1]]}, "
                            "{over: {x3: {arange: [0, 2, 0.5]}}}], over: {x4: {derive: \"x1 * 2\"}}}"))
        return;
    Spec again = {0};
    CHECK_OK(spec_parse("again.yaml", test.spec.resolved, NULL, 0, &test.arena, diagnostics_new(&test.arena), &again));
    CHECK_TEXT(test.spec.hash.hex, again.hash.hex);
    CHECK_TEXT(test.spec.resolved, again.resolved);
    arena_destroy(&test.arena);
}

// Sampling methods draw a value for the conditional parameter too, and do not use it.
TEST(forms_conditions_of_samples)
{
    static const char *const methods[] = {"random, trials: 40", "latin_hypercube, trials: 40", "sobol, trials: 40"};
    for (int m = 0; m < 3; m++) {
        FormsCase test;
        const char *search = "{method: %s, over: {x1: {range: [-1, 1]}, x2: {range: [2, 3]}}, when: {x2: \"x1 > 0\"}}";
        char text[256];
        snprintf(text, sizeof text, search, methods[m]);
        if (!forms_start(&test, text)) return;
        int standing = 0;
        for (int64_t id = 0; id < test.search.total; id++) {
            uint64_t ordinal;
            CHECK_OK(test.search.method->trial(&test.search, id, &ordinal, test.parameter));
            const bool counts = test.parameter[0] > 0;
            CHECK(counts ? test.parameter[1] >= 2 && test.parameter[1] <= 3 : test.parameter[1] == 0);
            standing += !counts;
        }
        CHECK(standing > 5 && standing < 35);
        arena_destroy(&test.arena);
    }
}

// A union of many ids needs no memory per id, and an id is split into its parts at once.
TEST(forms_large_unions_are_not_expanded)
{
    FormsCase test;
    uint64_t ordinal;
    if (!forms_start(&test, "{union: [{over: {x1: {linspace: [-5, 5, 1000000]}, x2: {linspace: [-5, 5, 1000000]}}}, "
                            "{over: {x3: {linspace: [-5, 5, 11]}}}]}"))
        return;
    CHECK_INTEGER(1000000000011, test.search.total);
    CHECK(test.arena.used < (size_t)4 << 20);
    CHECK_OK(test.search.method->trial(&test.search, 1000000000010, &ordinal, test.parameter));
    CHECK_NEAR(5.0, test.parameter[2], 0.0);
    CHECK_INTEGER(1000000000010, enumerated_find(&test.search, test.parameter, 3));
    arena_destroy(&test.arena);
}

// The centered method varies one axis at a time: 81 trials, where a grid would have 3^40.
TEST(forms_centered_varies_one_axis_at_a_time)
{
    Arena arena;
    Spec spec;
    Search search;
    CHECK_OK(arena_create(&arena, (size_t)1 << 27, "test"));
    const char *over = "";
    for (int x = 1; x <= 40; x++) over = arena_format(&arena, "%s%sx%d: [0, 1, 2]", over, x > 1 ? ", " : "", x);
    const char *text = arena_format(&arena,
                                    "version: 1\nexperiment: centered\nmodel: bbob\nsimulation: {dimension: 40}\n"
                                    "search: {method: centered, over: {%s}}\n",
                                    over);
    CHECK_OK(spec_parse("centered.yaml", text, NULL, 0, &arena, diagnostics_new(&arena), &spec));
    CHECK_OK(search_init(&spec, &arena, &search));
    CHECK_INTEGER(81, search.total);
    arena_destroy(&arena);
}
