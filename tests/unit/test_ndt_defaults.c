// Results of scan matching with the defaults: cells of 1 m, where the score is not concave on the way to the true pose.
#include "../../sim/ndt/ndt.h"
#include "../test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULTS_STARTS = 200 };

// Number of alignments, from starts that fill half a cube, that end at the true pose 0. Each start is 0.4 m off along x
// and y, plus up to `apart` m along each axis, and a tenth of that in angles.
static int64_t defaults_found(double apart)
{
    const BackendOptions options = {.name = "cpu", .threads = 1, .isa = "auto", .patience = INFINITY};
    const Model *model = model_find("ndt");
    double settings[NDT_N_OPTIONS], seconds;
    Points points[NDT_N_OPTIONS] = {{0}};
    Configured configured;
    Backend *backend;
    Arena arena;
    bool done = false;
    int64_t found = 0;
    if (arena_create(&arena, (size_t)1 << 26, "a test of scan matching").kind != OK) abort();
    for (int i = 0; i < NDT_N_OPTIONS; i++) settings[i] = model->options[i].value;
    settings[NDT_OPTION_RESOLUTION] = 1.0;
    CHECK_OK(model->configure(settings, points, &arena, &configured));
    CHECK_OK(model->build(settings, points, &arena, &configured));
    CHECK_OK(backend_open(&options, &backend));
    CHECK_OK(backend_prepare(backend, &configured, DEFAULTS_STARTS, 0, 1));
    Batch *batch = backend_batch(backend, 0);
    batch->lanes = DEFAULTS_STARTS;
    for (int p = 0; p < configured.n_parameters; p++) {
        const int axis = p - NDT_INITIAL; // axis of the start pose
        for (int64_t lane = 0; lane < batch->lanes; lane++) {
            const RandomKey key = {.seed = 1, .ordinal = (uint64_t)lane, .purpose = RANDOM_SAMPLE};
            const double drawn = 2.0 * random_uniform(&key, (uint32_t)p) - 1.0;
            const double start = (axis < 2 ? 0.4 : 0.0) + (axis < 3 ? 1.0 : 0.1) * apart * drawn;
            batch->parameter[p * batch->stride + lane] = axis < 0 ? configured.parameters[p].value : start;
        }
    }
    CHECK_OK(backend_begin(backend, 0));
    while (!done) {
        CHECK_OK(backend_advance(backend, 0, configured.ticks));
        CHECK_OK(backend_wait(backend, 0, &done, &seconds));
    }
    for (int64_t lane = 0; lane < batch->lanes; lane++)
        found += batch->metric[NDT_METRIC_MISSED * batch->stride + lane] == 0.0;
    backend_close(backend);
    arena_destroy(&arena);
    return found;
}

// For comparison: Newton's step without a line search, of at most 0.1, finds the pose from 0, 13 and 86 of the starts.
TEST(ndt_defaults_find_the_pose_in_cells_of_a_metre)
{
    static const double apart[] = {1e-7, 3e-5, 1e-2};
    for (int k = 0; k < 3; k++) CHECK_INTEGER(DEFAULTS_STARTS, defaults_found(apart[k]));
}
