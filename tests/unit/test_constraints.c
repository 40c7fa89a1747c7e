// Constraints: the value of an inequality, over replicates and in the spec.
#include "../test.h"

#include <math.h>
#include <string.h>

// The value of the constraint `text` at a and b.
static double constraint_of(const char *text, double a, double b)
{
    static const char *const names[] = {"a", "b"};
    const Scope scope = {.names = names, .count = 2};
    const double values[] = {a, b};
    Expression *expression = NULL;
    Arena arena;
    CHECK_OK(arena_create(&arena, (size_t)1 << 20, "test"));
    CHECK_OK(expression_parse_text(text, "constraint", &scope, &arena, &expression));
    const bool good = expression != NULL && constraint_is_inequality(expression);
    const double value = good ? constraint_value(expression, values) : (double)NAN;
    arena_destroy(&arena);
    return value;
}

TEST(constraints_give_the_distance_to_being_met)
{
    CHECK_BITS(2.0, constraint_of("a < b", 3, 1));
    CHECK_BITS(-2.0, constraint_of("a >= b", 3, 1));
    CHECK_BITS(0.0, constraint_of("a <= b", 1, 1));
    CHECK_BITS(3.0, constraint_of("2*a - b < 2", 3, 1));
    CHECK_BITS(2.0, constraint_of("a < 2 and b < -1", 3, 1)); // `and` takes the greater value
    CHECK_BITS(1.0, constraint_of("a < 2 or b < -1", 3, 1));  // `or` takes the lesser value
    CHECK_BITS(-1.0, constraint_of("not a < 2", 3, 1));
    CHECK_BITS(0.5, constraint_of("not (a > 4 or b < 1.5) and a < 2.5", 3, 1));
    CHECK(isnan(constraint_of("a = b", 1, 1)));
    CHECK(isnan(constraint_of("a + b", 1, 1)));
    CHECK(isnan(constraint_of("a < b and a", 1, 1)));
    CHECK(isnan(constraint_of("max(a < b, 1)", 1, 1)));
}

TEST(constraints_are_met_if_every_replicate_meets_them)
{
    enum { REPLICATES = 3 };
    Arena arena;
    Spec spec;
    CHECK_OK(arena_create(&arena, (size_t)256 << 20, "test"));
    Diagnostics *diagnostics = diagnostics_new(&arena);
    const char *text = "version: 1\nexperiment: test\nmodel: bbob\nsimulation: {dimension: 2}\n"
                       "replicates: {count: 3}\nconstraints: [\"f < 5\", \"x1 > 1\"]\n";
    CHECK_OK(spec_parse("test.yaml", text, NULL, 0, &arena, diagnostics, &spec));
    const double parameter[2] = {0.5, 0};
    const int metrics = spec.configured.n_metrics;
    double g[2], *metric = ARENA_NEW(&arena, double, REPLICATES *metrics);
    for (int m = 0; m < metrics; m++) {
        const bool f = strcmp(spec.configured.metrics[m].name, "f") == 0;
        for (int r = 0; r < REPLICATES; r++) metric[r * metrics + m] = f ? (const double[]){3, 7, 100}[r] : -1.0;
    }
    trial_constraints(&spec, parameter, metric, (const int[REPLICATES]){0, 0, 1}, g);
    CHECK_BITS(2.0, g[0]);
    CHECK_BITS(0.5, g[1]);
    CHECK_BITS(2.5, constraints_violation(g, 2));
    trial_constraints(&spec, parameter, metric, (const int[REPLICATES]){0, 1, 1}, g);
    CHECK_BITS(-2.0, g[0]);
    CHECK_BITS(0.5, constraints_violation(g, 2));
    trial_constraints(&spec, parameter, metric, (const int[REPLICATES]){1, 1, 1}, g);
    CHECK(isnan(g[0]) && isnan(constraints_violation(g, 2)));
    for (int m = 0; m < metrics; m++) metric[metrics + m] = (double)NAN;
    trial_constraints(&spec, parameter, metric, (const int[REPLICATES]){0, 0, 1}, g);
    CHECK(isinf(g[0]) && isinf(constraints_violation(g, 2))); // a failed replicate violates its constraints
    arena_destroy(&arena);
}
