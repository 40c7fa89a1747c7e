// Extensions: allowed differences between two specs, and the ids of trials of several specs in one campaign.
#include "../test.h"

#include <stdlib.h>
#include <string.h>

#define EXTEND_SPEC(search)                                                                                            \
    "version: 1\nexperiment: e\nseed: 7\nmodel: bbob\nsimulation: {dimension: 3}\nsearch:\n" search "\n"

typedef struct ExtendCase {
    Arena arena;
    Spec spec[3];
    Segment segments[3];
    Search search;
} ExtendCase;

static void extend_case_start(ExtendCase *test, const char *const *texts, int count)
{
    *test = (ExtendCase){.segments = {{.first_id = 0}}};
    if (arena_create(&test->arena, (size_t)1 << 28, "test").kind != OK) abort();
    for (int i = 0; i < count; i++) {
        Diagnostics *diagnostics = diagnostics_new(&test->arena);
        CHECK_OK(spec_parse("e.yaml", texts[i], NULL, 0, &test->arena, diagnostics, &test->spec[i]));
        diagnostics_print(diagnostics, stdout, false);
    }
}

// Appends spec `i` as a campaign does, when the trials with ids below `decided` are done.
static void extend_case_append(ExtendCase *test, int i, int64_t decided)
{
    Spec *spec = &test->spec[i];
    double parameter[8];
    if (i == 1) CHECK_OK(search_init(&test->spec[0], &test->arena, &test->search));
    test->segments[i - 1].spec = &test->spec[i - 1];
    test->segments[i] = (Segment){.first_id = test->search.total, .decided = decided};
    spec->segments = test->segments;
    spec->n_segments = i + 1;
    CHECK_OK(search_init(spec, &test->arena, &test->search));
    test->segments[i].first_point = segments_first_new(&test->search, parameter);
    CHECK_OK(search_init(spec, &test->arena, &test->search));
}

// "0 1 2 7": the ids of all trials
static const char *extend_case_ids(ExtendCase *test)
{
    double parameter[8];
    const char *text = "";
    for (int64_t id = 0; id < test->search.total; id++) {
        if (!count_has(&test->search, id, parameter)) continue;
        text = arena_format(&test->arena, "%s%s%lld", text, text[0] != '\0' ? " " : "", (long long)id);
    }
    return text;
}

static double extend_case_x1(const ExtendCase *test, int64_t id)
{
    double parameter[8] = {0};
    CHECK(count_has(&test->search, id, parameter));
    return parameter[0];
}

TEST(extend_finds_a_value_among_others)
{
    const Values line = values_prepared((Values){.form = &values_linspace, .low = 0, .high = 0.3, .count = 4});
    const Values centred = values_prepared((Values){.form = &values_linspace, .low = -0.3, .high = 0.6, .count = 10});
    const Values steps =
        values_prepared((Values){.form = &values_arange, .low = 25, .high = 40, .step = 5, .count = 4});
    const Values decades = values_prepared((Values){.form = &values_logspace, .low = 1e-3, .high = 1e3, .count = 7});
    const Values roots = values_prepared((Values){.form = &values_logspace, .low = 50, .high = 300, .count = 11});
    const Values finer = values_prepared((Values){.form = &values_logspace, .low = 50, .high = 300, .count = 31});
    const Values list = {.list = (const double[]){3, 1, 2}, .count = 3};
    CHECK_INTEGER(1, values_find(&line, 0.1, 0));
    CHECK_INTEGER(3, values_find(&line, 0.3, 0));
    CHECK_INTEGER(-1, values_find(&line, 0.15, 0));
    CHECK_INTEGER(-1, values_find(&line, 0.1 + 1e-9, 0));
    CHECK_INTEGER(-1, values_find(&line, -1, 0));
    CHECK_INTEGER(-1, values_find(&line, 0.30000000000000004, 0)); // another double, as in conditions and in SQL
    CHECK_INTEGER(3, values_find(&centred, 0, 0));
    CHECK_INTEGER(2, values_find(&steps, 35, 0));
    CHECK_INTEGER(-1, values_find(&steps, 45, 0));
    for (int64_t i = 0; i < 7; i++) CHECK_INTEGER(i, values_find(&decades, values_at(&decades, i), 0));
    CHECK_INTEGER(4, values_find(&decades, 10, 0));
    for (int64_t i = 0; i < 11; i++) CHECK_INTEGER(3 * i, values_find(&finer, values_at(&roots, i), 0));
    CHECK_INTEGER(-1, values_find(&decades, -10, 0));
    CHECK_INTEGER(2, values_find(&list, 2, 2));
    CHECK_INTEGER(0, values_find(&list, 3, 2));
    CHECK_INTEGER(-1, values_find(&list, 4, 7));
}

TEST(extend_tells_what_differs_and_what_may)
{
    ExtendCase test;
    SpecChange *changes = NULL;
    const char *const texts[] = {EXTEND_SPEC("  over: {x1: [1, 2], x2: [1, 2, 3]}\n  exclude: [\"x1 > 1\"]"),
                                 EXTEND_SPEC("  over: {x1: [1, 2, 4], x2: [1, 2, 3]}\n  exclude: [\"x1 > 3\"]\n"
                                             "parameters: {x3: 2}"),
                                 EXTEND_SPEC("  over: {x2: [1, 2, 3], x1: [1, 2]}\n  exclude: [\"x1 > 1\"]")};
    extend_case_start(&test, texts, 3);
    CHECK_INTEGER(0, difference_find(&test.spec[0], &test.spec[0], &test.arena, &changes));
    CHECK_INTEGER(3, difference_find(&test.spec[0], &test.spec[1], &test.arena, &changes));
    CHECK_TEXT("parameters.x3", changes[0].key);
    CHECK_TEXT("0", changes[0].from);
    CHECK_TEXT("2", changes[0].to);
    CHECK(!changes[0].free);
    CHECK_TEXT("search.exclude", changes[1].key);
    CHECK_TEXT("x1 > 3", changes[1].to);
    CHECK(changes[1].free);
    CHECK_TEXT("search.over.x1", changes[2].key);
    CHECK_TEXT("[1, 2]", changes[2].from);
    CHECK_TEXT("[1, 2, 4]", changes[2].to);
    CHECK(changes[2].free);
    CHECK_INTEGER(2, difference_find(&test.spec[0], &test.spec[2], &test.arena, &changes)); // the order of ids differs
    CHECK(!changes[0].free && !changes[1].free);
    CHECK_TEXT("search.over.x1", changes[0].key);
    arena_destroy(&test.arena);
}

TEST(extend_numbers_a_grown_grid_as_the_whole_grid)
{
    ExtendCase test;
    const char *const texts[] = {EXTEND_SPEC("  over: {x1: [1, 2], x2: [1, 2, 3]}"),
                                 EXTEND_SPEC("  over: {x1: [1, 2, 3], x2: [1, 2, 3]}")};
    extend_case_start(&test, texts, 2);
    extend_case_append(&test, 1, 6);
    CHECK_TEXT("0 1 2 3 4 5 6 7 8", extend_case_ids(&test));
    CHECK_BITS(3, extend_case_x1(&test, 6));
    arena_destroy(&test.arena);
}

TEST(extend_keeps_points_and_drops_what_is_no_longer_asked_for)
{
    ExtendCase test;
    const char *const texts[] = {EXTEND_SPEC("  over: {x1: [1, 2, 3, 4]}"), EXTEND_SPEC("  over: {x1: [5, 4, 1]}"),
                                 EXTEND_SPEC("  over: {x1: [1, 2, 3, 4, 5]}")};
    extend_case_start(&test, texts, 3);
    extend_case_append(&test, 1, 2); // 1 and 2 are done, 3 is dropped, 4 is still to run
    CHECK_TEXT("0 1 3 4", extend_case_ids(&test));
    CHECK_BITS(4, extend_case_x1(&test, 3));
    CHECK_BITS(5, extend_case_x1(&test, 4));
    extend_case_append(&test, 2, 5); // 3 is back, under a new id
    CHECK_BITS(3, extend_case_x1(&test, test.search.total - 3));
    CHECK_INTEGER(5, (int64_t)(strlen(extend_case_ids(&test)) + 1) / 2);
    arena_destroy(&test.arena);
}

TEST(extend_matches_the_points_of_lists_and_of_zipped_axes)
{
    ExtendCase test;
    const char *const lists[] = {
        EXTEND_SPEC("  method: list\n  points: [{x1: 1, x2: 1}, {x1: 2, x2: 1}]"),
        EXTEND_SPEC("  method: list\n  points: [{x1: 3, x2: 1}, {x1: 2, x2: 1}, {x1: 1, x2: 2}]")};
    const char *const zips[] = {EXTEND_SPEC("  over: {x1: [1, 1, 2], x2: [1, 2, 1]}\n  zip: [[x1, x2]]"),
                                EXTEND_SPEC("  over: {x1: [1, 1, 2], x2: [2, 3, 1]}\n  zip: [[x1, x2]]")};
    extend_case_start(&test, lists, 2);
    extend_case_append(&test, 1, 2);
    CHECK_TEXT("0 1 2 4", extend_case_ids(&test));
    arena_destroy(&test.arena);
    extend_case_start(&test, zips, 2);
    extend_case_append(&test, 1, 3);
    CHECK_TEXT("0 1 2 3", extend_case_ids(&test));
    CHECK_BITS(1, extend_case_x1(&test, 3));
    arena_destroy(&test.arena);
}
