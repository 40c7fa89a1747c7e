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

typedef struct Evaluated {
    const Spec *spec;
    Replicates of;
    int failure[3];
    double g[2], value[3], room[3];
} Evaluated;

static void evaluate(Evaluated *e, const int *failure)
{
    TrialResult result = {.constraint = e->g, .value = e->value, .room = e->room};
    memcpy(e->failure, failure, sizeof e->failure);
    e->of.failure = e->failure;
    trial_objective(e->spec, &e->of, &result);
}

TEST(constraints_are_met_if_every_replicate_meets_them)
{
    enum { REPLICATES = 3 };
    Arena arena;
    Spec spec;
    CHECK_OK(arena_create(&arena, (size_t)256 << 20, "test"));
    Diagnostics *diagnostics = diagnostics_new(&arena);
    const char *text = "version: 1\nexperiment: test\nmodel: bbob\nsimulation: {dimension: 2}\n"
                       "replicates: {count: 3}\nobjective: {minimize: x1}\nconstraints: [\"f < 5\", \"x1 > 1\"]\n";
    CHECK_OK(spec_parse("test.yaml", text, NULL, 0, &arena, diagnostics, &spec));
    const double parameter[2] = {0.5, 0};
    const int metrics = spec.configured.n_metrics;
    double *metric = ARENA_NEW(&arena, double, REPLICATES *metrics);
    for (int m = 0; m < metrics; m++) {
        const bool f = strcmp(spec.configured.metrics[m].name, "f") == 0;
        for (int r = 0; r < REPLICATES; r++) metric[r * metrics + m] = f ? (const double[]){3, 7, 100}[r] : -1.0;
    }
    Evaluated of = {.spec = &spec, .of = {.parameter = parameter, .metric = metric}};
    const double *g = of.g;
    evaluate(&of, (const int[REPLICATES]){0, 0, 1});
    CHECK_BITS(2.0, g[0]);
    CHECK_BITS(0.5, g[1]);
    CHECK_BITS(2.5, constraints_violation(g, 2));
    evaluate(&of, (const int[REPLICATES]){0, 1, 1});
    CHECK_BITS(-2.0, g[0]);
    CHECK_BITS(0.5, constraints_violation(g, 2));
    evaluate(&of, (const int[REPLICATES]){1, 1, 1});
    CHECK(isnan(g[0]) && isnan(constraints_violation(g, 2)));
    // A constraint that is not finite fails its replicate; the objective is x1 alone.
    for (int b = 0; b < 3; b++) {
        for (int m = 0; m < metrics; m++)
            metric[metrics + m] = (const double[]){(double)NAN, (double)INFINITY, (double)-INFINITY}[b];
        evaluate(&of, (const int[REPLICATES]){0, 0, 1});
        CHECK_INTEGER(configured_failure(&spec.configured, NON_FINITE), of.failure[1]);
        CHECK_INTEGER(0, of.failure[0]);
        CHECK_BITS(-2.0, g[0]);
        CHECK_BITS(0.5, constraints_violation(g, 2));
    }
    // What a replicate drew counts.
    static const Perturbation perturb[] = {{.parameter = 0}};
    spec.replicates.perturb = perturb;
    spec.replicates.n_perturb = 1;
    of.of.drawn = (const double[REPLICATES]){0.25, -1, 5};
    evaluate(&of, (const int[REPLICATES]){0, 1, 1});
    CHECK_BITS(0.75, g[1]);
    arena_destroy(&arena);
}
