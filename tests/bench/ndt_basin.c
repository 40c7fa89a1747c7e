// The basin of convergence of scan matching: the distance from which each solver with each line search finds the true
// pose. In the artificial scenes with their defaults and, if it is there, with the lidar pair.
//     ndt_basin [STARTS [STEP_SIZE [METHOD]]]     NDT_DATA: folder of the lidar pair (../shared/data/ndt)
// METHOD: 3 solver + line search; without it all six.
// prints CSV, on one thread. A start is drawn evenly from x, y within `offset` of the true pose, z within 0.3 offset
// (at most 0.3 m), the angles within 0.1 offset (at most 0.1 rad). `found`: alignments that converge to within 0.2 m
// and 0.05 rad of it.
#include "../../io/io.h"
#include "../../sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BASIN_OPTIONS_MAX = 64, BASIN_STARTS = 20, BASIN_METHODS = 6, BASIN_SCENES = 4 };

static const char *const basin_scenes[BASIN_SCENES] = {"half_cube", "street", "tunnel", "lidar"};
static const char *const basin_solvers[] = {"newton", "saddle_free"};
static const char *const basin_searches[] = {"none", "more_thuente", "batched"};
static const double basin_resolutions[] = {0.5, 1.0, 2.0, 4.0};
static const double basin_offsets[] = {1e-7, 1e-4, 1e-2, 0.1, 0.3, 1.0, 2.0, 3.0};

// The lidar pair; count 0: it is not there.
typedef struct BasinPair {
    CloudFile target, source;
    double truth[16];
} BasinPair;

typedef struct BasinRow {
    int scene, method; // method: 3 solver + line search
    double resolution, step_size;
    int64_t starts;
} BasinRow;

static Error basin_read(const char *folder, BasinPair *pair)
{
    char path[1024];
    *pair = (BasinPair){.truth = {0.0}};
    snprintf(path, sizeof path, "%s/T_target_source.txt", folder);
    FILE *file = fopen(path, "r");
    if (file == NULL) return error_none();
    int count = 0;
    while (count < 16 && fscanf(file, "%lf", &pair->truth[count]) == 1) count++;
    fclose(file);
    snprintf(path, sizeof path, "%s/251370668.pcd", folder);
    TRY(cloud_read(path, &pair->target));
    snprintf(path, sizeof path, "%s/ndt_source_0.5m.csv", folder);
    return cloud_read(path, &pair->source);
}

static int basin_option(const Model *model, const char *name)
{
    for (int i = 0; i < model->n_options; i++)
        if (strcmp(model->options[i].name, name) == 0) return i;
    abort();
}

// The points of a cloud as an option holds them: x, then y, then z.
static Points basin_points(const Cloud *cloud, Arena *arena)
{
    double *at = ARENA_NEW(arena, double, 3 * cloud->count);
    for (int a = 0; a < 3; a++) memcpy(at + a * cloud->count, cloud->at[a], (size_t)cloud->count * sizeof *at);
    return (Points){.cloud = at, .count = cloud->count};
}

static Error basin_configure(const BasinRow *row, const BasinPair *pair, Arena *arena, Configured *configured)
{
    const Model *model = model_find("ndt");
    double settings[BASIN_OPTIONS_MAX];
    Points points[BASIN_OPTIONS_MAX] = {{0}};
    for (int i = 0; i < model->n_options; i++) settings[i] = model->options[i].value;
    settings[basin_option(model, "resolution")] = row->resolution;
    settings[basin_option(model, "solver")] = row->method / 3;
    settings[basin_option(model, "line_search")] = row->method % 3;
    if (row->resolution < 1.0) settings[basin_option(model, "spacing")] *= row->resolution; // six points in a cell
    if (row->scene < BASIN_SCENES - 1) {
        settings[basin_option(model, "scene")] = row->scene;
    } else {
        const int target = basin_option(model, "target"), source = basin_option(model, "source");
        const int truth = basin_option(model, "truth.file");
        settings[target] = settings[source] = settings[truth] = 1.0;
        points[target] = basin_points(&pair->target.cloud, arena);
        points[source] = basin_points(&pair->source.cloud, arena);
        points[truth] = (Points){.numbers = pair->truth, .count = 16};
    }
    TRY(model->configure(settings, points, arena, configured));
    return model->build(settings, points, arena, configured);
}

static double basin_reach(const char *parameter, double offset)
{
    const double height = 0.3 * offset < 0.3 ? 0.3 * offset : 0.3, angle = 0.1 * offset < 0.1 ? 0.1 * offset : 0.1;
    if (strncmp(parameter, "start_", 6) != 0) return 0.0;
    if (strcmp(parameter, "start_x") == 0 || strcmp(parameter, "start_y") == 0) return offset;
    return strcmp(parameter, "start_z") == 0 ? height : angle;
}

// truth[6]
static void basin_fill(const Configured *configured, const BasinRow *row, double offset, const double *truth,
                       Batch *batch)
{
    int pose = 0;
    for (int p = 0; p < configured->n_parameters; p++) {
        const Parameter *parameter = &configured->parameters[p];
        const double reach = basin_reach(parameter->name, offset);
        const double middle = reach > 0.0                                                         ? truth[pose++]
                              : strcmp(parameter->name, "step_size") == 0 && row->step_size > 0.0 ? row->step_size
                                                                                                  : parameter->value;
        for (int64_t i = 0; i < batch->lanes; i++) {
            const RandomKey key = {.seed = 1, .ordinal = (uint64_t)i, .purpose = RANDOM_SAMPLE};
            batch->parameter[p * batch->stride + i] = middle + reach * (2.0 * random_uniform(&key, (uint32_t)p) - 1.0);
        }
    }
}

static double basin_mean(const Configured *configured, const Batch *batch, const char *metric)
{
    double sum = 0.0;
    for (int m = 0; m < configured->n_metrics; m++) {
        if (strcmp(configured->metrics[m].name, metric) != 0) continue;
        for (int64_t i = 0; i < batch->lanes; i++) sum += batch->metric[m * batch->stride + i];
    }
    return sum / (double)batch->lanes;
}

static Error basin_offset(Backend *backend, const Configured *configured, const BasinRow *row, double offset)
{
    Batch *batch = backend_batch(backend, 0);
    bool done = false;
    double seconds, total = 0.0, truth[6];
    batch->lanes = row->starts;
    memcpy(truth, &configured->constants, sizeof truth); // NdtConstants begin with the true pose
    basin_fill(configured, row, offset, truth, batch);
    TRY(backend_begin(backend, 0));
    while (!done) {
        TRY(backend_advance(backend, 0, configured->ticks));
        TRY(backend_wait(backend, 0, &done, &seconds));
        total = seconds;
    }
    printf("%s,%g,%s,%s,%g,%g,%lld,%.0f,%.2f,%.2f,%.3f\n", basin_scenes[row->scene], row->resolution,
           basin_solvers[row->method / 3], basin_searches[row->method % 3], row->step_size, offset,
           (long long)row->starts, (double)row->starts * (1.0 - basin_mean(configured, batch, "missed")),
           basin_mean(configured, batch, "iterations"), basin_mean(configured, batch, "evaluations"),
           1e3 * total / (double)row->starts);
    fflush(stdout);
    return error_none();
}

static Error basin_row(Backend *backend, const BasinRow *row, const BasinPair *pair)
{
    Arena arena;
    Configured configured;
    TRY(arena_create(&arena, (size_t)1 << 28, "the benchmark"));
    Error error = basin_configure(row, pair, &arena, &configured);
    if (error.kind == OK) error = backend_prepare(backend, &configured, row->starts, 0, 2);
    for (size_t k = 0; error.kind == OK && k < sizeof basin_offsets / sizeof *basin_offsets; k++)
        error = basin_offset(backend, &configured, row, basin_offsets[k]);
    arena_destroy(&arena);
    return error;
}

static Error basin_rows(Backend *backend, const BasinPair *pair, int64_t starts, double step_size, int only)
{
    printf("# %s, compiler: %s\n", backend_info(backend)->device, __VERSION__);
    printf("scene,resolution,solver,line_search,step_size,offset,starts,found,iterations,evaluations,ms\n");
    for (int scene = 0; scene < (pair->source.cloud.count > 0 ? BASIN_SCENES : BASIN_SCENES - 1); scene++) {
        for (size_t r = 0; r < sizeof basin_resolutions / sizeof *basin_resolutions; r++) {
            for (int method = 0; method < BASIN_METHODS; method++) {
                if (only >= 0 && method != only) continue;
                const BasinRow row = {scene, method, basin_resolutions[r], step_size, starts};
                TRY(basin_row(backend, &row, pair));
            }
        }
    }
    return error_none();
}

int main(int argc, char **argv)
{
    const BackendOptions options = {.name = "cpu", .isa = "auto", .threads = 1};
    const char *folder = getenv("NDT_DATA");
    const int64_t starts = argc > 1 ? atoll(argv[1]) : BASIN_STARTS;
    BasinPair pair;
    Backend *backend;
    Error error = basin_read(folder != NULL ? folder : "../shared/data/ndt", &pair);
    if (error.kind == OK) error = backend_open(&options, &backend);
    if (error.kind == OK) {
        error = basin_rows(backend, &pair, starts > 0 ? starts : BASIN_STARTS, argc > 2 ? atof(argv[2]) : 0.0,
                           argc > 3 ? atoi(argv[3]) : -1);
        backend_close(backend);
    }
    if (pair.source.cloud.count > 0) {
        cloud_close(&pair.target);
        cloud_close(&pair.source);
    }
    if (error.kind != OK) fprintf(stderr, "ndt_basin: %s\n", error.text);
    return error.kind == OK ? 0 : 3;
}
