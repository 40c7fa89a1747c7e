// Error against cost for all integrators of the hopper: twelve gaits of 5 s (tests/hopper_twelve.h), each integrator at
// a range of steps or tolerances.
//     work_precision [OUTPUT [LANES [BACKEND [POINTS]]]]
// writes OUTPUT.csv and OUTPUT.svg (build/work_precision). LANES (960) are timed on BACKEND (cpu: one thread; cuda),
// the twelve gaits over and over; POINTS: at most N settings of each integrator, the coarsest. Error: distance
// (m) of the foot at 5 s from dormand_prince at 1e-12, the median and the worst of the gaits; it is the same on every
// backend.
// Cost: time (s) of all lanes by their number, median of 3; processor time on a CPU, event time of the kernel on a GPU.
#include "../../sim/sim.h"
#include "../hopper_twelve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORK_DURATION 5.0 // s

typedef struct WorkMethod {
    const char *name, *colour;
    int integrator;             // place in the choices of the model's option
    double first, factor, last; // settings: dt (s), or the tolerance
} WorkMethod;

static const WorkMethod work_methods[] = {
    {"implicit_midpoint", "#1f6fb4", 0, 4e-4, 0.5, 1.2e-5}, {"semi_implicit_euler", "#d4731c", 1, 2e-4, 0.5, 1.2e-5},
    {"implicit_euler", "#8a5a44", 2, 2e-4, 0.5, 1.2e-5},    {"rk4", "#3a8f3a", 3, 2e-4, 0.5, 1.2e-5},
    {"dormand_prince", "#b3261e", 4, 5e-5, 0.2, 1e-10},
};
enum { WORK_METHODS = sizeof work_methods / sizeof work_methods[0], WORK_POINTS_MAX = 16, WORK_REPEATS = 3 };

typedef struct WorkPoint {
    double setting, cost, error, worst; // of a method; s a hopper; m
} WorkPoint;

typedef struct WorkCurve {
    WorkPoint points[WORK_POINTS_MAX];
    int count;
} WorkCurve;

// ---- one batch ------------------------------------------------------------------------------------------------------

static Error work_configure(int integrator, double setting, Arena *arena, Configured *configured)
{
    const Model *model = model_find("hopper");
    double settings[64];
    Points points[64] = {{0}};
    for (int i = 0; i < model->n_options; i++) {
        const char *name = model->options[i].name;
        settings[i] = model->options[i].value;
        if (strcmp(name, "duration") == 0) settings[i] = WORK_DURATION;
        if (strcmp(name, "integrator") == 0) settings[i] = integrator;
        if (strcmp(name, integrator == 4 ? "tolerance" : "dt") == 0) settings[i] = setting;
    }
    return model->configure(settings, points, arena, configured);
}

static void work_fill(const Configured *configured, Batch *batch)
{
    for (int p = 0; p < configured->n_parameters; p++) {
        const Parameter *row = &configured->parameters[p];
        int gain = 0;
        while (gain < HOPPER_TWELVE_GAINS && strcmp(row->name, hopper_twelve_gains[gain]) != 0) gain++;
        for (int64_t i = 0; i < batch->lanes; i++)
            batch->parameter[p * batch->stride + i] =
                gain < HOPPER_TWELVE_GAINS ? hopper_twelve[i % HOPPER_TWELVE][gain] : row->value;
    }
}

static double work_processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Runs `lanes` lanes; `foot` [HOPPER_TWELVE][2]: where it is at the end (m), NaN of a gait that failed, or NULL.
static Error work_run(Backend *backend, const Configured *configured, int64_t lanes, double (*foot)[2], double *seconds)
{
    const int64_t traced = foot == NULL ? 0 : lanes;
    bool done = false;
    TRY(backend_prepare(backend, configured, lanes, traced, 2));
    Batch *batch = backend_batch(backend, 0);
    batch->lanes = lanes;
    batch->trace.lanes = traced;
    batch->trace.every = configured->ticks; // the first and the last sample
    work_fill(configured, batch);
    TRY(backend_begin(backend, 0));
    const double start = work_processor_seconds();
    while (!done) {
        TRY(backend_advance(backend, 0, 1000000));
        TRY(backend_wait(backend, 0, &done, seconds));
    }
    if (strcmp(backend_info(backend)->name, "cpu") == 0) *seconds = work_processor_seconds() - start;
    for (int64_t i = 0; i < traced; i++) {
        const double *last = batch->trace.sample + (i * batch->trace.capacity + 1) * configured->n_columns;
        for (int k = 0; k < 2; k++) foot[i][k] = batch->status[i] == LANE_DONE ? last[1 + k] : NAN;
    }
    return error_none();
}

// ---- a point of a curve ---------------------------------------------------------------------------------------------

static int work_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct WorkBench {
    Backend *exact, *timed;
    int64_t lanes;
    int points; // of a curve, at most
    double reference[HOPPER_TWELVE][2];
    WorkCurve curves[WORK_METHODS];
} WorkBench;

static void work_errors(const WorkBench *bench, double (*foot)[2], WorkPoint *point)
{
    double errors[HOPPER_TWELVE];
    int count = 0;
    for (int i = 0; i < HOPPER_TWELVE; i++) {
        if (isnan(bench->reference[i][0])) continue;
        const double distance = hypot(foot[i][0] - bench->reference[i][0], foot[i][1] - bench->reference[i][1]);
        errors[count++] = isnan(distance) ? INFINITY : distance;
    }
    qsort(errors, (size_t)count, sizeof errors[0], work_compare);
    point->error = errors[count / 2];
    point->worst = errors[count - 1];
}

static Error work_point(WorkBench *bench, int integrator, double setting, WorkPoint *point)
{
    Arena arena;
    Configured configured;
    double foot[HOPPER_TWELVE][2], seconds[WORK_REPEATS];
    TRY(arena_create(&arena, 1 << 24, "a benchmark"));
    TRY(work_configure(integrator, setting, &arena, &configured));
    TRY(work_run(bench->exact, &configured, HOPPER_TWELVE, foot, &seconds[0]));
    for (int i = 0; i < WORK_REPEATS; i++) TRY(work_run(bench->timed, &configured, bench->lanes, NULL, &seconds[i]));
    qsort(seconds, WORK_REPEATS, sizeof seconds[0], work_compare);
    arena_destroy(&arena);
    point->setting = setting;
    point->cost = seconds[WORK_REPEATS / 2] / (double)bench->lanes;
    work_errors(bench, foot, point);
    return error_none();
}

static Error work_measure(WorkBench *bench)
{
    Arena arena;
    Configured configured;
    double seconds;
    TRY(arena_create(&arena, 1 << 24, "a benchmark"));
    TRY(work_configure(4, 1e-12, &arena, &configured));
    TRY(work_run(bench->exact, &configured, HOPPER_TWELVE, bench->reference, &seconds));
    arena_destroy(&arena);
    for (int m = 0; m < WORK_METHODS; m++) {
        const WorkMethod *method = &work_methods[m];
        WorkCurve *curve = &bench->curves[m];
        for (double setting = method->first; setting >= method->last && curve->count < bench->points;
             setting *= method->factor) {
            WorkPoint *point = &curve->points[curve->count++];
            TRY(work_point(bench, method->integrator, setting, point));
            printf("%-20s %8.2e  %10.3f us a hopper  error %8.2e m, worst %8.2e m\n", method->name, setting,
                   1e6 * point->cost, point->error, point->worst);
        }
    }
    return error_none();
}

// ---- what it writes -------------------------------------------------------------------------------------------------

static void work_csv(const WorkBench *bench, FILE *file)
{
    fprintf(file, "# hoppers of 5 s, %lld lanes; %s\n", (long long)bench->lanes, backend_info(bench->timed)->device);
    fprintf(file, "integrator,dt_or_tolerance,seconds_a_hopper,median_error_m,worst_error_m\n");
    for (int m = 0; m < WORK_METHODS; m++) {
        for (int i = 0; i < bench->curves[m].count; i++) {
            const WorkPoint *point = &bench->curves[m].points[i];
            fprintf(file, "%s,%.4g,%.4g,%.4g,%.4g\n", work_methods[m].name, point->setting, point->cost, point->error,
                    point->worst);
        }
    }
}

// Decades that hold all points, and the frame in which they are drawn (px).
typedef struct WorkAxes {
    int x_low, x_high, y_low, y_high;
    double left, top, width, height;
} WorkAxes;

static double work_x(const WorkAxes *axes, double cost)
{
    return axes->left + axes->width * (log10(cost) - axes->x_low) / (axes->x_high - axes->x_low);
}

static double work_y(const WorkAxes *axes, double error)
{
    return axes->top + axes->height * (axes->y_high - log10(error)) / (axes->y_high - axes->y_low);
}

static WorkAxes work_axes(const WorkBench *bench)
{
    WorkAxes axes = {100, -100, 100, -100, 70, 20, 480, 330};
    for (int m = 0; m < WORK_METHODS; m++) {
        for (int i = 0; i < bench->curves[m].count; i++) {
            const WorkPoint *point = &bench->curves[m].points[i];
            const int x = (int)floor(log10(point->cost)), y = (int)floor(log10(point->error));
            if (x < axes.x_low) axes.x_low = x;
            if (x + 1 > axes.x_high) axes.x_high = x + 1;
            if (y < axes.y_low) axes.y_low = y;
            if (isfinite(point->error) && y + 1 > axes.y_high) axes.y_high = y + 1;
        }
    }
    return axes;
}

static void work_svg_frame(const WorkAxes *axes, const char *device, FILE *file)
{
    const double bottom = axes->top + axes->height, right = axes->left + axes->width;
    fprintf(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 410\" font-family=\"sans-serif\" "
                  "font-size=\"13\">\n<rect width=\"760\" height=\"410\" fill=\"#fff\"/>\n<g stroke=\"#ddd\">\n");
    for (int x = axes->x_low; x <= axes->x_high; x++)
        fprintf(file, "<path d=\"M%.1f %.1fV%.1f\"/>\n", work_x(axes, pow(10, x)), axes->top, bottom);
    for (int y = axes->y_low; y <= axes->y_high; y++)
        fprintf(file, "<path d=\"M%.1f %.1fH%.1f\"/>\n", axes->left, work_y(axes, pow(10, y)), right);
    fprintf(file, "</g>\n<g fill=\"#333\" text-anchor=\"middle\">\n");
    for (int x = axes->x_low; x <= axes->x_high; x++)
        fprintf(file, "<text x=\"%.1f\" y=\"%.1f\">10<tspan dy=\"-5\" font-size=\"9\">%d</tspan></text>\n",
                work_x(axes, pow(10, x)), bottom + 20, x);
    for (int y = axes->y_low; y <= axes->y_high; y++)
        fprintf(file, "<text x=\"%.1f\" y=\"%.1f\">10<tspan dy=\"-5\" font-size=\"9\">%d</tspan></text>\n",
                axes->left - 22, work_y(axes, pow(10, y)) + 4, y);
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\">time for a hopper of 5 s (s) on %s</text>\n",
            axes->left + 0.5 * axes->width, bottom + 45, device);
    fprintf(file, "<text transform=\"translate(16 %.1f) rotate(-90)\">error of the foot at 5 s (m)</text>\n</g>\n",
            axes->top + 0.5 * axes->height);
}

static void work_svg_curve(const WorkAxes *axes, const WorkMethod *method, const WorkCurve *curve, int place,
                           FILE *file)
{
    const double y = axes->top + 14 + 20 * place, x = axes->left + axes->width + 14;
    fprintf(file, "<g fill=\"%s\" stroke=\"%s\">\n<polyline fill=\"none\" stroke-width=\"2\" points=\"", method->colour,
            method->colour);
    for (int i = 0; i < curve->count; i++) {
        const WorkPoint *point = &curve->points[i];
        if (isfinite(point->error)) fprintf(file, "%.1f,%.1f ", work_x(axes, point->cost), work_y(axes, point->error));
    }
    fprintf(file, "\"/>\n");
    for (int i = 0; i < curve->count; i++) {
        const WorkPoint *point = &curve->points[i];
        if (!isfinite(point->error)) continue;
        fprintf(file, "<circle r=\"3.5\" cx=\"%.1f\" cy=\"%.1f\"><title>%s, %s %.3g: %.3g m</title></circle>\n",
                work_x(axes, point->cost), work_y(axes, point->error), method->name,
                method->integrator == 4 ? "tolerance" : "dt", point->setting, point->error);
    }
    fprintf(file, "<circle r=\"3.5\" cx=\"%.1f\" cy=\"%.1f\"/>\n", x, y);
    fprintf(file, "<text stroke=\"none\" x=\"%.1f\" y=\"%.1f\">%s</text>\n</g>\n", x + 10, y + 4, method->name);
}

static void work_svg(const WorkBench *bench, FILE *file)
{
    const WorkAxes axes = work_axes(bench);
    work_svg_frame(&axes, backend_info(bench->timed)->device, file);
    for (int m = 0; m < WORK_METHODS; m++) work_svg_curve(&axes, &work_methods[m], &bench->curves[m], m, file);
    fprintf(file, "</svg>\n");
}

static Error work_write(const WorkBench *bench, const char *output, const char *kind,
                        void (*write)(const WorkBench *, FILE *))
{
    char path[4096];
    snprintf(path, sizeof path, "%s.%s", output, kind);
    FILE *file = fopen(path, "w");
    if (file == NULL) return error_make(ERROR_MACHINE, "can't write %s", path);
    write(bench, file);
    if (fclose(file) != 0) return error_make(ERROR_MACHINE, "can't write %s", path);
    return error_none();
}

static Error work_bench(const char *output, int64_t lanes, const char *backend, int points)
{
    static WorkBench bench;
    const BackendOptions exact = {.name = "cpu", .isa = "auto"};
    const BackendOptions timed = {.name = backend, .threads = 1, .isa = "auto"};
    bench.lanes = lanes;
    bench.points = points < WORK_POINTS_MAX ? points : WORK_POINTS_MAX;
    TRY(backend_open(&exact, &bench.exact));
    TRY(backend_open(&timed, &bench.timed));
    TRY(work_measure(&bench));
    TRY(work_write(&bench, output, "csv", work_csv));
    TRY(work_write(&bench, output, "svg", work_svg));
    backend_close(bench.timed);
    backend_close(bench.exact);
    return error_none();
}

int main(int argc, char **argv)
{
    const Error error = work_bench(argc > 1 ? argv[1] : "build/work_precision", argc > 2 ? atoll(argv[2]) : 960,
                                   argc > 3 ? argv[3] : "cpu", argc > 4 ? atoi(argv[4]) : WORK_POINTS_MAX);
    if (error.kind == OK) return 0;
    fprintf(stderr, "error: %s\n", error.text);
    return 3;
}
