// Parts of a campaign: the split, names of folders, and a search of each part beside the whole one.
#include "../test.h"

#include <stdlib.h>
#include <string.h>

#define PART_SPEC(search)                                                                                              \
    "version: 1\nexperiment: p\nseed: 7\nmodel: bbob\nsimulation: {dimension: 3}\nsearch:\n" search "\n"
#define PART_RANGES "  over: {x1: {range: [-5, 5]}, x2: {range: [-5, 5]}}\n"

TEST(part_units_cover_all_without_gaps)
{
    static const int64_t units[] = {1, 7, 100, TRIALS_MAX};
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        for (int count = 1; count <= PARTS_MAX; count += 1666) {
            int64_t next = 0, first, end;
            for (int number = 1; number <= count; number++) {
                part_units((PartOf){number, count}, units[u], &first, &end);
                CHECK_INTEGER(next, first);
                CHECK(end - first == units[u] / count || end - first == units[u] / count + 1);
                next = end;
            }
            CHECK_INTEGER(units[u], next);
        }
    }
}

TEST(part_of_nothing_is_all)
{
    int64_t first, end;
    part_units((PartOf){.count = 0}, 41, &first, &end);
    CHECK_INTEGER(0, first);
    CHECK_INTEGER(41, end);
}

TEST(part_names_read_back_and_others_do_not)
{
    static const char *const others[] = {"",         "of",      "3of16",   "03of016", "003of16",
                                         "00of16",   "17of16",  "03of16x", "03of",    "of16",
                                         "03of16of", "03 of16", "a3of16",  "03of9",   "00003of10000"};
    const PartOf parts[] = {{1, 1}, {3, 16}, {99, 99}, {7, 100}, {1000, 1000}, {PARTS_MAX, PARTS_MAX}};
    PartOf part;
    CHECK_TEXT("03of16", part_name(parts[1]).text);
    CHECK_TEXT("007of100", part_name(parts[3]).text);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        CHECK(part_is_named(part_name(parts[i]).text, &part));
        CHECK(part.number == parts[i].number && part.count == parts[i].count);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) CHECK(!part_is_named(others[i], &part));
}

typedef struct PartCase {
    Arena arena;
    Spec spec;
    Search search;
} PartCase;

static Error part_case_start(PartCase *test, const char *text, PartOf part)
{
    if (arena_create(&test->arena, (size_t)1 << 28, "test").kind != OK) abort();
    Diagnostics *diagnostics = diagnostics_new(&test->arena);
    CHECK_OK(spec_parse("p.yaml", text, NULL, 0, &test->arena, diagnostics, &test->spec));
    test->spec.part = part;
    return search_init(&test->spec, &test->arena, &test->search);
}

static void part_case_refused(const char *text, PartOf part, const char *says)
{
    PartCase test;
    const Error error = part_case_start(&test, text, part);
    CHECK_INTEGER(ERROR_USER, error.kind);
    CHECK(strstr(error.text, says) != NULL);
    arena_destroy(&test.arena);
}

TEST(part_of_what_counts_all_trials_is_refused)
{
    part_case_refused(PART_SPEC("  method: cmaes\n" PART_RANGES), (PartOf){1, 2}, "a search can't be divided");
    part_case_refused(PART_SPEC("  method: cmaes\n  cmaes: {searches: 3}\n" PART_RANGES), (PartOf){1, 4},
                      "use 3 parts or fewer");
    part_case_refused(PART_SPEC("  method: random\n  trials: 3\n" PART_RANGES), (PartOf){1, 4}, "use fewer parts");
    part_case_refused(PART_SPEC("  method: random\n  trials: 9\n" PART_RANGES) "limits: {trials: 5}\n", (PartOf){1, 4},
                      "limits.trials");
    part_case_refused(PART_SPEC("  method: random\n  trials: 9\n" PART_RANGES) "record: {rows: {best: 3}}\n",
                      (PartOf){1, 4}, "record.rows");
}

TEST(part_of_an_enumerated_search_has_its_ids_alone)
{
    static const char text[] = PART_SPEC("  method: random\n  trials: 10\n" PART_RANGES);
    PartCase test;
    double parameter[8];
    uint64_t ordinal;
    CHECK_OK(part_case_start(&test, text, (PartOf){2, 3}));
    CHECK_INTEGER(3, test.search.first);
    CHECK_INTEGER(6, test.search.end);
    CHECK_INTEGER(3, test.search.asked);
    CHECK_OK(test.search.method->trial(&test.search, 5, &ordinal, parameter));
    CHECK_INTEGER(5, (int64_t)ordinal);
    CHECK_INTEGER(ERROR_USER, test.search.method->trial(&test.search, 6, &ordinal, parameter).kind);
    CHECK_INTEGER(ERROR_USER, test.search.method->trial(&test.search, 2, &ordinal, parameter).kind);
    arena_destroy(&test.arena);
}

static void part_case_trials(PartCase *test, Trials *trials)
{
    enum { MOST = 64 };
    Arena *arena = &test->arena;
    *trials = (Trials){.capacity = MOST,
                       .id = ARENA_NEW(arena, int64_t, MOST),
                       .search = ARENA_NEW(arena, int32_t, MOST),
                       .round = ARENA_NEW(arena, int32_t, MOST),
                       .ordinal = ARENA_NEW(arena, uint64_t, MOST),
                       .parameter = ARENA_NEW(arena, double, MOST * test->spec.configured.n_parameters)};
}

// The first generation of search 3 of 5, in the whole campaign and in part 4 of 5.
TEST(part_of_searches_draws_what_they_draw_in_the_whole)
{
    static const char text[] = PART_SPEC("  method: cmaes\n  cmaes: {searches: 5, population: 6}\n" PART_RANGES);
    PartCase whole, part;
    Trials all, some;
    bool waiting = false;
    CHECK_OK(part_case_start(&whole, text, (PartOf){.count = 0}));
    CHECK_OK(part_case_start(&part, text, (PartOf){4, 5}));
    part_case_trials(&whole, &all);
    part_case_trials(&part, &some);
    CHECK_OK(whole.search.method->ask(&whole.search, 30, &all, &waiting));
    CHECK_OK(part.search.method->ask(&part.search, 30, &some, &waiting));
    CHECK_INTEGER(30, all.count);
    CHECK_INTEGER(6, some.count);
    const size_t row = (size_t)whole.spec.configured.n_parameters;
    for (int64_t t = 0; t < some.count; t++) {
        CHECK_INTEGER(3, some.search[t]);
        CHECK_INTEGER(3, all.search[18 + t]);
        CHECK(some.ordinal[t] == all.ordinal[18 + t]);
    }
    CHECK(memcmp(some.parameter, all.parameter + 18 * row, 6 * row * sizeof(double)) == 0);
    arena_destroy(&whole.arena);
    arena_destroy(&part.arena);
}
