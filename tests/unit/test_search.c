// Search methods with known trials: the meaning of an id, exclusions, and continuation from a checkpoint.
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- a model of four parameters, and specs over it ------------------------------------------------------------------

enum { N = 4, TRIALS = 64 };
static const Parameter parameters[N] = {
    {"a", "1", 0.5, -1e6, 1e6, SECTION_PARAMETERS, ""},
    {"b", "1", 0.25, -1e6, 1e6, SECTION_PARAMETERS, ""},
    {"c", "1", 7.0, -1e6, 1e6, SECTION_PARAMETERS, ""},
    {"d", "1", 3.0, 0.0, 100.0, SECTION_PARAMETERS, ""},
};
static const char *const names[N] = {"a", "b", "c", "d"};
static const double fixed[N] = {0.5, 0.25, 7.0, 3.0};
static const double ones[] = {1, 2}, tens[] = {10, 20, 30}, hundreds[] = {100, 200};

typedef struct Fixture {
    Arena arena;
    Spec spec;
    Axis axes[N];
    const Expression *exclude[2];
    Search search;
    Trials trials;
} Fixture;

static Fixture *fixture_new(const SearchMethod *method)
{
    Arena arena;
    if (arena_create(&arena, (size_t)1 << 24, "test").kind != OK) abort();
    Fixture *fixture = ARENA_NEW(&arena, Fixture, 1);
    fixture->spec = (Spec){.seed = 7,
                           .method = method,
                           .fixed = fixed,
                           .axes = fixture->axes,
                           .exclude = fixture->exclude,
                           .replicates = {.count = 1}};
    fixture->spec.configured.parameters = parameters;
    fixture->spec.configured.n_parameters = N;
    fixture->trials = (Trials){.capacity = TRIALS,
                               .id = ARENA_NEW(&arena, int64_t, TRIALS),
                               .ordinal = ARENA_NEW(&arena, uint64_t, TRIALS),
                               .search = ARENA_NEW(&arena, int32_t, TRIALS),
                               .round = ARENA_NEW(&arena, int32_t, TRIALS),
                               .parameter = ARENA_NEW(&arena, double, TRIALS *N)};
    fixture->arena = arena;
    return fixture;
}

static void fixture_free(Fixture *fixture)
{
    Arena arena = fixture->arena;
    arena_destroy(&arena);
}

static const Expression *parsed(Fixture *fixture, const char *text)
{
    Expression *expression = NULL;
    const Scope scope = {.names = names, .count = N};
    CHECK_OK(expression_parse_text(text, "test", &scope, &fixture->arena, &expression));
    return expression;
}

static void add_list(Fixture *fixture, int parameter, const double *list, int64_t count, int zip)
{
    fixture->axes[fixture->spec.n_axes++] =
        (Axis){.parameter = parameter, .zip = zip, .values = {.list = list, .count = count}};
}

static void add_range(Fixture *fixture, int parameter, double low, double high, bool log_scale, bool integer)
{
    Axis *axis = &fixture->axes[fixture->spec.n_axes++];
    *axis =
        (Axis){.parameter = parameter,
               .zip = -1,
               .values = {.form = &values_range, .low = low, .high = high, .log_scale = log_scale, .integer = integer}};
    axis->values = values_prepared(axis->values);
}

static void add_derived(Fixture *fixture, int parameter, const char *text)
{
    fixture->axes[fixture->spec.n_axes + fixture->spec.n_derived++] =
        (Axis){.parameter = parameter, .zip = -1, .derive = parsed(fixture, text)};
}

static void add_exclude(Fixture *fixture, const char *text)
{
    fixture->exclude[fixture->spec.n_exclude++] = parsed(fixture, text);
}

static void start(Fixture *fixture) { CHECK_OK(search_init(&fixture->spec, &fixture->arena, &fixture->search)); }

static int64_t ask(Fixture *fixture, int64_t max)
{
    bool waiting;
    CHECK_OK(fixture->search.method->ask(&fixture->search, max, &fixture->trials, &waiting));
    CHECK(!waiting);
    return fixture->trials.count;
}

static double asked_value(const Fixture *fixture, int64_t trial, int parameter)
{
    return fixture->trials.parameter[trial * N + parameter];
}

// ---- grid -----------------------------------------------------------------------------------------------------------

TEST(search_grid_last_axis_varies_fastest)
{
    Fixture *fixture = fixture_new(&search_grid);
    add_list(fixture, 0, ones, 2, -1);
    add_list(fixture, 1, tens, 3, -1);
    start(fixture);
    CHECK_INTEGER(6, fixture->search.total);
    CHECK_INTEGER(6, ask(fixture, 100));
    for (int64_t i = 0; i < 6; i++) {
        CHECK_INTEGER(i, fixture->trials.id[i]);
        CHECK_INTEGER(i, (int64_t)fixture->trials.ordinal[i]);
        CHECK_BITS(ones[i / 3], asked_value(fixture, i, 0));
        CHECK_BITS(tens[i % 3], asked_value(fixture, i, 1));
        CHECK_BITS(7.0, asked_value(fixture, i, 2)); // fixed value
    }
    CHECK_INTEGER(0, ask(fixture, 100));
    fixture_free(fixture);
}

TEST(search_grid_zipped_axes_stand_at_the_first_of_them)
{
    Fixture *fixture = fixture_new(&search_grid);
    add_list(fixture, 0, ones, 2, 0);
    add_list(fixture, 1, tens, 3, -1);
    add_list(fixture, 2, hundreds, 2, 0);
    start(fixture);
    CHECK_INTEGER(6, fixture->search.total);
    CHECK_INTEGER(6, ask(fixture, 6));
    for (int64_t i = 0; i < 6; i++) {
        CHECK_BITS(ones[i / 3], asked_value(fixture, i, 0));
        CHECK_BITS(tens[i % 3], asked_value(fixture, i, 1));
        CHECK_BITS(hundreds[i / 3], asked_value(fixture, i, 2));
    }
    fixture_free(fixture);
}

TEST(search_grid_two_zips_and_an_axis_between)
{
    Fixture *fixture = fixture_new(&search_grid);
    add_list(fixture, 0, tens, 3, 4);
    add_list(fixture, 1, ones, 2, 1);
    add_list(fixture, 2, tens, 3, 4);
    add_list(fixture, 3, ones, 2, 1);
    start(fixture);
    CHECK_INTEGER(6, ask(fixture, 6));
    for (int64_t i = 0; i < 6; i++) {
        CHECK_BITS(tens[i / 2], asked_value(fixture, i, 0));
        CHECK_BITS(tens[i / 2], asked_value(fixture, i, 2));
        CHECK_BITS(ones[i % 2], asked_value(fixture, i, 1));
        CHECK_BITS(ones[i % 2], asked_value(fixture, i, 3));
    }
    fixture_free(fixture);
}

TEST(search_grid_without_axes_is_one_trial)
{
    Fixture *fixture = fixture_new(&search_grid);
    start(fixture);
    CHECK_INTEGER(1, ask(fixture, 5));
    for (int p = 0; p < N; p++) CHECK_BITS(fixed[p], asked_value(fixture, 0, p));
    CHECK_INTEGER(0, ask(fixture, 5));
    fixture_free(fixture);
}

TEST(search_exclude_leaves_gaps_and_total_counts_gaps)
{
    Fixture *fixture = fixture_new(&search_grid);
    add_list(fixture, 0, ones, 2, -1);
    add_list(fixture, 1, tens, 3, -1);
    add_exclude(fixture, "a > 1 and b < 30");
    add_exclude(fixture, "a = 1 and b = 20");
    start(fixture);
    CHECK_INTEGER(6, fixture->search.total);
    CHECK_INTEGER(3, ask(fixture, 100));
    CHECK_INTEGER(0, fixture->trials.id[0]);
    CHECK_INTEGER(2, fixture->trials.id[1]);
    CHECK_INTEGER(5, fixture->trials.id[2]);
    CHECK_INTEGER(5, (int64_t)fixture->trials.ordinal[2]); // the random key uses the id, gaps included
    uint64_t ordinal;
    double parameter[N];
    CHECK_SAYS(ERROR_USER, "there is no trial 1: `exclude`, the range of a derived parameter, `when` or `union`",
               search_grid.trial(&fixture->search, 1, &ordinal, parameter));
    CHECK_SAYS(ERROR_USER, "there is no trial 6: this grid has the ids 0 to 5",
               search_grid.trial(&fixture->search, 6, &ordinal, parameter));
    CHECK_ERROR(ERROR_USER, search_grid.trial(&fixture->search, -1, &ordinal, parameter));
    CHECK_OK(search_grid.trial(&fixture->search, 5, &ordinal, parameter));
    CHECK_INTEGER(5, (int64_t)ordinal);
    CHECK(memcmp(parameter, &fixture->trials.parameter[2 * N], sizeof parameter) == 0);
    fixture_free(fixture);
}

TEST(search_derived_follow_fixed_searched_and_earlier_derived)
{
    Fixture *fixture = fixture_new(&search_grid);
    add_list(fixture, 0, ones, 2, -1);
    add_derived(fixture, 2, "a + b");  // b is fixed at 0.25
    add_derived(fixture, 3, "10 * c"); // c was derived before
    start(fixture);
    CHECK_INTEGER(2, ask(fixture, 100));
    CHECK_BITS(1.25, asked_value(fixture, 0, 2));
    CHECK_BITS(12.5, asked_value(fixture, 0, 3));
    CHECK_BITS(22.5, asked_value(fixture, 1, 3));
    fixture_free(fixture);
}

TEST(search_derived_out_of_range_or_nan_drops_the_trial)
{
    static const double values[] = {-1, 0, 1, 100, 101};
    Fixture *fixture = fixture_new(&search_grid);
    add_list(fixture, 0, values, 5, -1);
    add_derived(fixture, 3, "a * a / a"); // d is in [0, 100]; a = 0 gives 0 / 0
    start(fixture);
    CHECK_INTEGER(2, ask(fixture, 100));
    CHECK_INTEGER(2, fixture->trials.id[0]);
    CHECK_INTEGER(3, fixture->trials.id[1]);
    CHECK_BITS(100.0, asked_value(fixture, 1, 3)); // the range includes its end
    fixture_free(fixture);
}

TEST(search_huge_excluded_grid_is_searched_in_parts)
{
    Fixture *fixture = fixture_new(&search_grid);
    for (int p = 0; p < 3; p++) {
        fixture->axes[fixture->spec.n_axes++] =
            (Axis){.parameter = p,
                   .zip = -1,
                   .values = values_prepared((Values){.form = &values_linspace, .low = 0, .high = 1, .count = 10000})};
    }
    add_exclude(fixture, "a >= 0");
    const size_t before = fixture->arena.used;
    start(fixture);
    CHECK(fixture->arena.used - before < 4096); // memory does not grow with the number of trials
    CHECK_INTEGER(1000000000000, fixture->search.total);
    for (int64_t call = 1; call <= 2; call++) {
        bool waiting = false;
        CHECK_OK(search_grid.ask(&fixture->search, 10, &fixture->trials, &waiting));
        CHECK_INTEGER(0, fixture->trials.count);
        CHECK(waiting);
        CHECK_INTEGER(call * 1000000, fixture->search.asked);
    }
    fixture_free(fixture);
}

static Error start_again(Fixture *fixture) { return search_init(&fixture->spec, &fixture->arena, &fixture->search); }

TEST(search_grid_of_too_many_points_is_refused)
{
    Fixture *fixture = fixture_new(&search_grid);
    for (int p = 0; p < N; p++) {
        fixture->axes[fixture->spec.n_axes++] =
            (Axis){.parameter = p, .zip = -1, .values = {.form = &values_linspace, .high = 1, .count = 100000}};
    }
    CHECK_SAYS(ERROR_USER, "more than 2^63 trials are more than the 2^48 possible ids", start_again(fixture));
    fixture->spec.n_axes = 3;
    CHECK_SAYS(ERROR_USER, "1,000,000,000,000,000 trials are more than the 2^48", start_again(fixture));
    fixture->spec.method = &search_centered;
    for (int p = 0; p < 3; p++) fixture->axes[p].values.count = INT64_MAX / 2;
    CHECK_SAYS(ERROR_USER, "more than 2^63 trials", start_again(fixture));
    fixture_free(fixture);
}

// ---- list -----------------------------------------------------------------------------------------------------------

TEST(search_list_gives_its_points_in_order)
{
    static const double points[] = {5, 50, 4, 40, 6, 60};
    Fixture *fixture = fixture_new(&search_list);
    add_list(fixture, 2, NULL, 0, -1);
    add_list(fixture, 0, NULL, 0, -1);
    fixture->spec.points = points;
    fixture->spec.n_points = 3;
    add_exclude(fixture, "c = 4");
    start(fixture);
    CHECK_INTEGER(2, ask(fixture, 100));
    CHECK_INTEGER(2, fixture->trials.id[1]);
    CHECK_BITS(5.0, asked_value(fixture, 0, 2));
    CHECK_BITS(50.0, asked_value(fixture, 0, 0));
    CHECK_BITS(6.0, asked_value(fixture, 1, 2));
    CHECK_BITS(0.25, asked_value(fixture, 1, 1));
    fixture_free(fixture);
}

// ---- random ---------------------------------------------------------------------------------------------------------

static const double thousands[] = {20000};

static double drawn(const Fixture *fixture, int64_t id, int parameter)
{
    uint64_t ordinal;
    double values[N];
    CHECK_OK(search_random.trial(&fixture->search, id, &ordinal, values));
    return values[parameter];
}

TEST(search_random_draws_are_keyed_by_trial_and_axis)
{
    Fixture *fixture = fixture_new(&search_random);
    fixture->spec.method_settings = thousands;
    add_range(fixture, 1, 2, 6, false, false);
    add_range(fixture, 0, 1, 100, true, false);
    start(fixture);
    CHECK_INTEGER(20000, fixture->search.total);
    const RandomKey key = {.seed = 7, .search = 0, .ordinal = 41, .replicate = 0, .purpose = RANDOM_SAMPLE};
    CHECK_BITS(2 + 4 * random_uniform(&key, 0), drawn(fixture, 41, 1));
    CHECK_NEAR(pow(100, random_uniform(&key, 1)), drawn(fixture, 41, 0), 1e-12);
    for (int64_t done = 0, n = 1; done < 500; done += n, n = n % 61 + 1) { // in blocks of n trials, or one by one
        CHECK_INTEGER(n, ask(fixture, n));
        for (int64_t i = 0; i < n; i++) CHECK_BITS(drawn(fixture, done + i, 0), asked_value(fixture, i, 0));
    }
    fixture_free(fixture);
}

TEST(search_random_is_uniform_in_the_scale)
{
    Fixture *fixture = fixture_new(&search_random);
    fixture->spec.method_settings = thousands;
    add_range(fixture, 0, -3, 5, false, false);
    add_range(fixture, 1, 0.01, 100, true, false);
    start(fixture);
    double sum = 0, log_sum = 0;
    for (int64_t i = 0; i < 20000; i++) {
        const double a = drawn(fixture, i, 0), b = drawn(fixture, i, 1);
        CHECK(a >= -3 && a <= 5 && b >= 0.01 && b <= 100);
        sum += a;
        log_sum += log10(b);
    }
    CHECK_NEAR(1.0, sum / 20000, 5 * 8 / sqrt(12) / sqrt(20000)); // 5 standard errors
    CHECK_NEAR(0.0, log_sum / 20000, 5 * 4 / sqrt(12) / sqrt(20000));
    fixture_free(fixture);
}

TEST(search_random_integers_and_values_are_equally_likely)
{
    Fixture *fixture = fixture_new(&search_random);
    fixture->spec.method_settings = thousands;
    add_range(fixture, 0, -2, 2, false, true);
    add_list(fixture, 1, tens, 3, -1);
    add_range(fixture, 2, 1, 3, true, true);
    start(fixture);
    int integers[5] = {0}, values[3] = {0}, logarithmic[3] = {0};
    for (int64_t i = 0; i < 20000; i++) {
        const double a = drawn(fixture, i, 0), b = drawn(fixture, i, 1), c = drawn(fixture, i, 2);
        CHECK(a == floor(a) && a >= -2 && a <= 2 && (b == 10 || b == 20 || b == 30) && c == floor(c) && c >= 1 &&
              c <= 3);
        integers[(int)a + 2]++;
        values[(int)b / 10 - 1]++;
        logarithmic[(int)c - 1]++;
    }
    for (int i = 0; i < 5; i++) CHECK_NEAR(4000, integers[i], 5 * sqrt(20000 * 0.2 * 0.8));
    for (int i = 0; i < 3; i++) CHECK_NEAR(20000 / 3.0, values[i], 5 * sqrt(20000 * 2 / 9.0));
    CHECK_NEAR(10000, logarithmic[0], 5 * sqrt(20000 * 0.25)); // log 2 / log 4
    fixture_free(fixture);
}

TEST(search_random_zipped_axes_share_their_draw)
{
    Fixture *fixture = fixture_new(&search_random);
    fixture->spec.method_settings = thousands;
    add_list(fixture, 0, ones, 2, 0);
    add_list(fixture, 1, hundreds, 2, 0);
    start(fixture);
    for (int64_t i = 0; i < 200; i++) CHECK_BITS(100 * drawn(fixture, i, 0), drawn(fixture, i, 1));
    fixture_free(fixture);
}

TEST(search_random_exclude_leaves_gaps_and_seeds_differ)
{
    Fixture *fixture = fixture_new(&search_random);
    fixture->spec.method_settings = thousands;
    add_range(fixture, 0, 0, 1, false, false);
    add_exclude(fixture, "a < 0.5");
    start(fixture);
    CHECK_INTEGER(60, ask(fixture, 60));
    CHECK(fixture->trials.id[59] > 80);
    for (int i = 0; i < 60; i++) CHECK(asked_value(fixture, i, 0) >= 0.5);
    const double first = asked_value(fixture, 0, 0);
    const int64_t id = fixture->trials.id[0];
    fixture->spec.seed = 0; // 0 is a seed like any other
    fixture->spec.n_exclude = 0;
    CHECK(drawn(fixture, id, 0) != first);
    fixture_free(fixture);
}

// ---- state ----------------------------------------------------------------------------------------------------------

TEST(search_continues_after_the_last_result)
{
    Fixture *fixture = fixture_new(&search_grid), *again = fixture_new(&search_grid);
    for (int i = 0; i < 2; i++) {
        Fixture *one = i == 0 ? fixture : again;
        add_list(one, 0, ones, 2, -1);
        add_list(one, 1, tens, 3, -1);
        add_exclude(one, "a = 1 and b > 10"); // leaves 0, 3, 4, 5
        start(one);
    }
    CHECK_INTEGER(2, ask(fixture, 2));
    CHECK_INTEGER(3, fixture->trials.id[1]);
    CHECK_OK(search_grid.tell(&fixture->search, &fixture->trials));
    CHECK_INTEGER(1, ask(fixture, 1)); // trial 4 is asked for, but its result never arrives
    CHECK_INTEGER(16, (int64_t)fixture->search.state_size);
    memcpy(again->search.state, fixture->search.state, fixture->search.state_size);
    CHECK_OK(search_grid.restore(&again->search));
    CHECK_INTEGER(2, ask(again, 10));
    CHECK_INTEGER(4, again->trials.id[0]);
    CHECK_INTEGER(5, again->trials.id[1]);
    CHECK_INTEGER(1, ask(fixture, 10)); // the first search does not give trial 4 again
    CHECK_INTEGER(5, fixture->trials.id[0]);
    CHECK(search_grid.stopped(&fixture->search) == NULL);
    fixture_free(fixture);
    fixture_free(again);
}

TEST(search_refuses_a_state_that_it_cannot_read)
{
    Fixture *fixture = fixture_new(&search_grid);
    add_list(fixture, 0, ones, 2, -1);
    start(fixture);
    const uint32_t newer = 99, version = 1;
    const int64_t beyond = 3;
    memcpy(fixture->search.state, &newer, sizeof newer);
    CHECK_SAYS(ERROR_USER,
               "the stored state of search method grid is not of version 1, the one that this program reads",
               search_grid.restore(&fixture->search));
    memcpy(fixture->search.state, &version, sizeof version);
    memcpy((char *)fixture->search.state + 8, &beyond, sizeof beyond);
    CHECK_SAYS(ERROR_MACHINE,
               "the stored state of search method grid is damaged; doctor CAMPAIGN --repair computes it again",
               search_grid.restore(&fixture->search));
    fixture_free(fixture);
}

TEST(search_refuses_results_out_of_order)
{
    Fixture *fixture = fixture_new(&search_grid);
    add_list(fixture, 0, tens, 3, -1);
    start(fixture);
    CHECK_INTEGER(2, ask(fixture, 2));
    CHECK_OK(search_grid.tell(&fixture->search, &fixture->trials));
    CHECK_SAYS(ERROR_MACHINE, "bug: trial 0 of search 0 was told to grid out of order", // twice
               search_grid.tell(&fixture->search, &fixture->trials));
    fixture->trials.count = 1;
    fixture->trials.id[0] = 2;
    CHECK_ERROR(ERROR_MACHINE, search_grid.tell(&fixture->search, &fixture->trials)); // never asked for
    fixture_free(fixture);
}

TEST(search_methods_are_found_by_name)
{
    CHECK(search_method_count() > 1);
    for (int i = 0; i < search_method_count(); i++) {
        const SearchMethod *method = search_method_at(i);
        CHECK(search_method_find(method->name) == method);
        CHECK(method->doc[0] != '\0');
    }
    CHECK(search_method_find("random") == &search_random);
    CHECK(search_method_find("gird") == NULL);
}

// A spec that was read has the method that auto chose in its place.
TEST(search_auto_does_not_run)
{
    Fixture *fixture = fixture_new(&search_auto);
    fixture->spec.experiment = "unread";
    CHECK_ERROR(ERROR_MACHINE, start_again(fixture));
    fixture_free(fixture);
}
