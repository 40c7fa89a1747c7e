// Error against time of `stabilisation: rattle`: chains of rods let go from horizontal, at a range of steps. One world
// alone, without vectors, and eight side by side. tests/bench/compare_mujoco.py measures the same chains elsewhere.
//     rigid_precision [LENGTH DURATION]
#include "../test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRECISION_CHAIN                                                                                                \
    "bodies: [{name: b#, repeat: copies, inertia: [0.001, 0.08333333333333333, 0.08333333333333333], position: "       \
    "[0.5, 0, 0], step: {position: [1, 0, 0]}}], constraints: [{name: hook, type: ball, a: b1, at_a: [-0.5, 0, 0]}, "  \
    "{name: joint#, repeat: [2, copies], type: ball, a: b#, b: b#-1, at_a: [-0.5, 0, 0]}]"

enum { PRECISION_RODS_MAX = 16 };

typedef struct PrecisionPoint {
    double x, z;
} PrecisionPoint;

static void precision_must(Error error)
{
    if (error.kind == OK) return;
    fprintf(stderr, "%s\n", error.text);
    exit(1);
}

// ---- the exact motion -----------------------------------------------------------------------------------------------

// Rates of n angles from the x axis and of their rates: sum_j A_ij (cos(t_i - t_j) t_j'' + sin(t_i - t_j) t_j'^2) = Q_i
static void precision_rates(int n, const double *y, double *rate)
{
    double M[PRECISION_RODS_MAX][PRECISION_RODS_MAX], Q[PRECISION_RODS_MAX];
    for (int i = 0; i < n; i++) {
        Q[i] = -9.81 * cos(y[i]) * (n - 1 - i + 0.5);
        for (int j = 0; j < n; j++) {
            const double A = i == j ? n - 1 - i + 1.0 / 3.0 : n - 1 - (i > j ? i : j) + 0.5;
            M[i][j] = A * cos(y[i] - y[j]);
            Q[i] -= A * sin(y[i] - y[j]) * y[n + j] * y[n + j];
        }
        rate[i] = y[n + i];
    }
    for (int m = 0; m < n; m++) {
        for (int i = m + 1; i < n; i++) {
            const double l = M[i][m] / M[m][m];
            for (int j = m; j < n; j++) M[i][j] -= l * M[m][j];
            Q[i] -= l * Q[m];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) Q[i] -= M[i][j] * rate[n + j];
        rate[n + i] = Q[i] / M[i][i];
    }
}

// The centre of the last of n rods after `duration`, by Runge and Kutta's method of fourth order in angles.
static PrecisionPoint precision_exact(int n, double duration)
{
    double y[2 * PRECISION_RODS_MAX] = {0}, k[4][2 * PRECISION_RODS_MAX], z[2 * PRECISION_RODS_MAX];
    static const double at[4] = {0.0, 0.5, 0.5, 1.0};
    const int steps = (int)(duration / 2e-5 + 0.5);
    const double h = duration / steps;
    for (int step = 0; step < steps; step++) {
        for (int stage = 0; stage < 4; stage++) {
            for (int i = 0; i < 2 * n; i++) z[i] = stage == 0 ? y[i] : y[i] + at[stage] * h * k[stage - 1][i];
            precision_rates(n, z, k[stage]);
        }
        for (int i = 0; i < 2 * n; i++) y[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
    }
    PrecisionPoint centre = {0.0, 0.0};
    for (int i = 0; i < n; i++) {
        const double part = i + 1 < n ? 1.0 : 0.5;
        centre = (PrecisionPoint){centre.x + part * cos(y[i]), centre.z + part * sin(y[i])};
    }
    return centre;
}

// ---- a run ----------------------------------------------------------------------------------------------------------

typedef struct PrecisionRun {
    double seconds;        // a world, processor time; the least of three
    PrecisionPoint centre; // of the last rod
} PrecisionRun;

static double precision_metric(const Configured *configured, const Batch *batch, const char *name)
{
    for (int m = 0; m < configured->n_metrics; m++) {
        if (strcmp(configured->metrics[m].name, name) == 0) return batch->metric[m * batch->stride];
    }
    return NAN;
}

static PrecisionRun precision_run(int n, double duration, const char *order, double dt, const char *isa, int64_t lanes)
{
    Arena arena;
    Spec spec;
    Backend *backend;
    PrecisionRun run = {.seconds = INFINITY};
    const BackendOptions options = {.name = "cpu", .threads = 1, .isa = isa};
    precision_must(arena_create(&arena, (size_t)1 << 30, "a world"));
    const char *text =
        arena_format(&arena,
                     "version: 1\nexperiment: chain\nmodel: rigid\nsimulation: {duration: %.17g, dt: "
                     "%.17g, copies: %d, stabilisation: rattle, order: %s, world: {" PRECISION_CHAIN "}}\n",
                     duration, dt, n, order);
    precision_must(spec_parse("chain.yaml", text, NULL, 0, &arena, diagnostics_new(&arena), &spec));
    precision_must(backend_open(&options, &backend));
    precision_must(backend_prepare(backend, &spec.configured, lanes, 0, 1));
    Batch *batch = backend_batch(backend, 0);
    for (int k = 0; k < 3; k++) {
        double seconds = 0.0;
        bool done = false;
        batch->lanes = lanes;
        for (int p = 0; p < spec.configured.n_parameters; p++) {
            for (int64_t lane = 0; lane < lanes; lane++) batch->parameter[p * batch->stride + lane] = spec.fixed[p];
        }
        precision_must(backend_begin(backend, 0));
        while (!done) {
            precision_must(backend_advance(backend, 0, INT64_MAX / 2));
            precision_must(backend_wait(backend, 0, &done, &seconds));
        }
        run.seconds = fmin(run.seconds, seconds / (double)lanes);
    }
    const double cx = precision_metric(&spec.configured, batch, arena_format(&arena, "b%d_end_x", n));
    const double cz = precision_metric(&spec.configured, batch, arena_format(&arena, "b%d_end_z", n));
    run.centre = (PrecisionPoint){cx, cz};
    backend_close(backend);
    arena_destroy(&arena);
    return run;
}

static void precision_chain(int n, double duration)
{
    static const char *const orders[] = {"two", "four", "six"};
    const PrecisionPoint exact = precision_exact(n, duration);
    printf("%d rods, %g s; us for 1 s of simulated time\n", n, duration);
    for (int k = 0; k < (int)(sizeof orders / sizeof orders[0]); k++) {
        for (double dt = k == 0 ? 0.005 : k == 1 ? 0.05 : 0.1; dt > (k == 0 ? 3e-4 : 1.5e-3); dt /= 2.0) {
            const PrecisionRun alone = precision_run(n, duration, orders[k], dt, "scalar", 1);
            const PrecisionRun eight = precision_run(n, duration, orders[k], dt, "auto", 8);
            printf("order %-5s dt %9.3g   one world %9.1f   of eight %9.1f   error %8.2e m\n", orders[k], dt,
                   1e6 * alone.seconds / duration, 1e6 * eight.seconds / duration,
                   hypot(alone.centre.x - exact.x, alone.centre.z - exact.z));
        }
    }
}

int main(int count, char **argument)
{
    if (count == 3) {
        precision_chain(atoi(argument[1]), atof(argument[2]));
        return 0;
    }
    precision_chain(1, 10.0);
    precision_chain(10, 1.0);
    return 0;
}
