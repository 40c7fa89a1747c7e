// Scan matching by the normal distributions transform: what the model says of itself. An alignment is a lane, an
// iteration a tick.
#include "ndt.h"

#include "../models.h"

#include <string.h>

_Static_assert(sizeof(NdtConstants) <= sizeof(Constants), "the constants of scan matching fit a kernel's argument");

// clang-format off
static const Option ndt_options[NDT_N_OPTIONS] = {
    {"target", OPTION_FILE, "m", 0, 0, 0, "cloud", "file with the points of the map: PCD, PLY or lines of x, y, z"},
    {"source", OPTION_FILE, "m", 0, 0, 0, "cloud", "file with the points that are moved onto the target"},
    {"target_voxel", OPTION_NUMBER, "m", 0, 0, 100, NULL, "target points in a cube of this edge become one; 0: off"},
    {"source_voxel", OPTION_NUMBER, "m", 0, 0, 100, NULL, "the same for the source"},
    {"scene", OPTION_CHOICE, "", 0, 0, 2, "half_cube|street|tunnel", "without files: an artificial scene to scan"},
    {"scene_seed", OPTION_INTEGER, "1", 1, 0, 1e9, NULL, "seed of the street's houses and of the noise"},
    {"spacing", OPTION_NUMBER, "m", 0.4, 0.05, 10, NULL, "distance of neighbouring points of the target"},
    {"source_spacing", OPTION_NUMBER, "m", 1.5, 0.05, 10, NULL, "distance of neighbouring points of the source"},
    {"range", OPTION_NUMBER, "m", 25, 1, 1e3, NULL, "the source sees this far from the true pose"},
    {"noise", OPTION_NUMBER, "m", 0.02, 0, 1, NULL, "standard deviation of each coordinate"},
    {"truth.x", OPTION_NUMBER, "m", 0, -1e7, 1e7, NULL, "the true pose: where the source was scanned"},
    {"truth.y", OPTION_NUMBER, "m", 0, -1e7, 1e7, NULL, "the same"},
    {"truth.z", OPTION_NUMBER, "m", 0, -1e7, 1e7, NULL, "the same"},
    {"truth.roll", OPTION_NUMBER, "rad", 0, -3.2, 3.2, NULL, "the same, about x"},
    {"truth.pitch", OPTION_NUMBER, "rad", 0, -3.2, 3.2, NULL, "the same, about y"},
    {"truth.yaw", OPTION_NUMBER, "rad", 0, -3.2, 3.2, NULL, "the same, about z"},
    {"truth.file", OPTION_FILE, "m", 0, 0, 0, "numbers", "the true pose as a matrix of 3 or 4 rows of 4"},
    {"resolution", OPTION_NUMBER, "m", 2, 0.1, 100, NULL, "edge of the map's cells"},
    {"maps", OPTION_NUMBERS, "m", 0, 0.1, 100, NULL,
     "several resolutions; parameters.resolution selects one per trial"},
    {"neighbours", OPTION_CHOICE, "", 0, 0, 2, "radius|direct7|direct1",
     "cells compared with a point. radius: means within the resolution; direct7: its own and six; direct1: its own"},
    {"covariance", OPTION_CHOICE, "", 0, 0, 1, "zero|identity",
     "start of a cell's sum of squares; identity changes scores by a quarter"},
    {"precision", OPTION_CHOICE, "", 0, 0, 1, "single|double", "numbers of points and cells; sums are always double"},
    {"solver", OPTION_CHOICE, "", NDT_SADDLE_FREE, 0, 2, "newton|saddle_free|searched",
     "newton: step -H^-1 g, turned uphill; saddle_free: |H|^-1 g; searched: parameters.solver selects per trial"},
    {"line_search", OPTION_CHOICE, "", NDT_MORE_THUENTE, 0, 3, "none|more_thuente|batched|searched",
     "length of the step (none: use a step_size of 0.1); searched: parameters.line_search selects per trial"},
    {"max_iterations", OPTION_INTEGER, "1", 30, 1, 1000, NULL, "an alignment that needs more has not converged"},
    {"near_enough", OPTION_NUMBER, "m", 0.2, 0, 1e3, NULL, "a greater translation_error counts as missed"},
    {"turned_enough", OPTION_NUMBER, "rad", 0.05, 0, 3.2, NULL, "a greater rotation_error counts as missed"},
    {"executor", OPTION_MANNER, "", 2, 0, 2, "sequential|levels|auto",
     "CPU threads. sequential: one per alignment; levels: all share each; auto: levels if that saves time"},
};

static const Parameter ndt_parameters[NDT_N_PARAMETERS] = {
    {"outlier_ratio", "1", 0.55, 1e-3, 0.999, SECTION_PARAMETERS, "fraction of the points that fit no cell"},
    {"step_size", "1", 0.3, 1e-4, 100, SECTION_PARAMETERS, "longest step, the norm of all six numbers (m, rad)"},
    {"epsilon", "1", 0.01, 1e-12, 1, SECTION_PARAMETERS, "a step shorter than this ends the alignment"},
    {"regularisation", "1/m^2", 0, 0, 1e6, SECTION_PARAMETERS,
     "weight of a second measurement of the position, along the heading; 0: none"},
    {"measured_x", "m", 0, -1e7, 1e7, SECTION_PARAMETERS, "x of the second measurement"},
    {"measured_y", "m", 0, -1e7, 1e7, SECTION_PARAMETERS, "y of the second measurement"},
    {"start_x", "m", 0, -1e7, 1e7, SECTION_INITIAL, "initial pose: translation along x"},
    {"start_y", "m", 0, -1e7, 1e7, SECTION_INITIAL, "translation along y"},
    {"start_z", "m", 0, -1e7, 1e7, SECTION_INITIAL, "translation along z"},
    {"start_roll", "rad", 0, -10, 10, SECTION_INITIAL, "rotation about x, applied last"},
    {"start_pitch", "rad", 0, -10, 10, SECTION_INITIAL, "rotation about y"},
    {"start_yaw", "rad", 0, -10, 10, SECTION_INITIAL, "rotation about z, applied first"},
};

// in the order of NDT_OWN_...
static const Parameter ndt_own[NDT_N_OWN] = {
    {"resolution", "m", 2, 0.1, 100, SECTION_PARAMETERS,
     "edge of the cells; the nearest of simulation.maps is taken"},
    {"solver", "1", NDT_SADDLE_FREE, NDT_NEWTON, NDT_SADDLE_FREE, SECTION_PARAMETERS,
     "solver of each trial, with simulation.solver: searched"},
    {"line_search", "1", NDT_MORE_THUENTE, NDT_NO_SEARCH, NDT_BATCHED, SECTION_PARAMETERS,
     "line search of each trial, with simulation.line_search: searched"},
};
static const char *const ndt_own_choices[NDT_N_OWN] = {NULL, "newton|saddle_free", "none|more_thuente|batched"};

static const Field ndt_metrics[NDT_N_METRICS] = {
    {"translation_error", "m", "distance of the middle of the source from its true position", NULL},
    {"rotation_error", "rad", "angle between the final pose and the true one", NULL},
    {"missed", "1", "0 if it converged near enough to the true pose, else 1: its mean is the failure rate", NULL},
    {"score", "1", "score of the final pose: sum over all correspondences", NULL},
    {"tp", "1", "transformation probability: score per point of the source", NULL},
    {"nvtl", "1", "nearest voxel transformation likelihood: mean over matched points of the best cell's term", NULL},
    {"correspondences", "1", "pairs of a point and a cell at the final pose", NULL},
    {"iterations", "1", "iterations until the alignment ended", NULL},
    {"evaluations", "1", "evaluations of the score and its derivatives", NULL},
    {"oscillation", "1", "longest run of displacements that each turn back (cosine below -0.9)", NULL},
    {"cell_edge", "m", "resolution of the map that was used", NULL},
    {"laplace_xx", "m^2", "spread of x by the score's Hessian, up to a factor; NaN: it has no maximum", NULL},
    {"laplace_xy", "m^2", "the same for x and y together", NULL},
    {"laplace_yy", "m^2", "of y", NULL},
    {"final_x", "m", "final pose", NULL},
    {"final_y", "m", "final pose", NULL},
    {"final_z", "m", "final pose", NULL},
    {"final_roll", "rad", "final pose", NULL},
    {"final_pitch", "rad", "final pose", NULL},
    {"final_yaw", "rad", "final pose", NULL},
};

#define NDT_POSE_FIELDS(prefix, when, set) \
    {prefix "x", "m", "translation along x " when, set}, \
    {prefix "y", "m", "translation along y " when, set}, \
    {prefix "z", "m", "translation along z " when, set}, \
    {prefix "roll", "rad", "rotation about x " when, set}, \
    {prefix "pitch", "rad", "rotation about y " when, set}, \
    {prefix "yaw", "rad", "rotation about z " when, set},

static const Field ndt_columns[NDT_COLUMNS] = {
    {"time", "1", "iterations done", "time"},
    NDT_POSE_FIELDS("", "there", "pose")
    {"score", "1", "of that pose", "score"},
    {"correspondences", "1", "pairs of a point and a cell", "score"},
};

#define NDT_G(name) {"g_" #name, "1", "gradient of the score", "rows"},
#define NDT_H(a, b) {"H_" #a "_" #b, "1", "Hessian of the score", "rows"},
// time, then the numbers of a row in the order of NDT_DEBUG_... (align.h)
static const Field ndt_debug_columns[] = {
    {"time", "1", "iterations before it", "time"},
    {"iteration", "1", "from 0", "rows"},
    {"score", "1", "before the iteration", "rows"},
    NDT_POSE_FIELDS("before_", "before the iteration", "rows")
    NDT_G(x) NDT_G(y) NDT_G(z) NDT_G(roll) NDT_G(pitch) NDT_G(yaw)
    NDT_H(x, x) NDT_H(x, y) NDT_H(x, z) NDT_H(x, roll) NDT_H(x, pitch) NDT_H(x, yaw)
    NDT_H(y, y) NDT_H(y, z) NDT_H(y, roll) NDT_H(y, pitch) NDT_H(y, yaw)
    NDT_H(z, z) NDT_H(z, roll) NDT_H(z, pitch) NDT_H(z, yaw)
    NDT_H(roll, roll) NDT_H(roll, pitch) NDT_H(roll, yaw)
    NDT_H(pitch, pitch) NDT_H(pitch, yaw)
    NDT_H(yaw, yaw)
    NDT_POSE_FIELDS("delta_", "of the whole step", "rows")
    {"alpha", "1", "pose after = pose before + alpha delta", "rows"},
    {"correspondences", "1", "pairs of a point and a cell, before the iteration", "rows"},
    {"reversed", "1", "1 if the step led downhill and was reversed", "rows"},
    NDT_POSE_FIELDS("after_", "after the iteration", "rows")
};
// clang-format on
enum { NDT_N_DEBUG = sizeof ndt_debug_columns / sizeof ndt_debug_columns[0] };
_Static_assert(NDT_N_DEBUG == 1 + 50, "a debug row has 50 numbers behind its time");

// in the order of NdtEnd (align.h)
static const char *const ndt_failures[] = {"none", "no_correspondences", "not_converged", "stalled", "non_finite"};

// ---- the model ------------------------------------------------------------------------------------------------------

extern const Model ndt_model;

int ndt_number_own(const double *settings, const Points *points, int32_t *own)
{
    const bool wanted[NDT_N_OWN] = {points != NULL && points[NDT_OPTION_MAPS].count > 0,
                                    settings[NDT_OPTION_SOLVER] == NDT_SOLVER_SEARCHED,
                                    settings[NDT_OPTION_LINE_SEARCH] == NDT_LINE_SEARCH_SEARCHED};
    int count = NDT_N_PARAMETERS;
    for (int k = 0; k < NDT_N_OWN; k++) own[k] = wanted[k] ? count++ : 0;
    return count;
}

// Values of a resolution are between those of the maps.
static void ndt_bound(const Points *resolutions, Parameter *own)
{
    own->value = own->low = own->high = resolutions->numbers[0];
    for (int64_t i = 0; i < resolutions->count; i++) {
        own->low = resolutions->numbers[i] < own->low ? resolutions->numbers[i] : own->low;
        own->high = resolutions->numbers[i] > own->high ? resolutions->numbers[i] : own->high;
    }
}

static void ndt_name_parameters(const double *settings, const Points *points, Arena *arena, Configured *out)
{
    int32_t own[NDT_N_OWN];
    Parameter *parameters = ARENA_NEW(arena, Parameter, NDT_N_PARAMETERS + NDT_N_OWN);
    const char **choices = ARENA_NEW(arena, const char *, NDT_N_PARAMETERS + NDT_N_OWN);
    out->parameters = parameters;
    out->choices = choices;
    out->n_parameters = ndt_number_own(settings, points, own);
    memcpy(parameters, ndt_parameters, sizeof ndt_parameters);
    for (int k = 0; k < NDT_N_OWN; k++) {
        if (own[k] == 0) continue;
        parameters[own[k]] = ndt_own[k];
        choices[own[k]] = ndt_own_choices[k];
    }
    const int resolution = own[NDT_OWN_RESOLUTION];
    if (resolution != 0) ndt_bound(&points[NDT_OPTION_MAPS], &parameters[resolution]);
}

static Error ndt_configure(const double *settings, const Points *points, Arena *arena, Configured *out)
{
    *out = (Configured){.model = &ndt_model,
                        .metrics = ndt_metrics,
                        .n_metrics = NDT_N_METRICS,
                        .columns = ndt_columns,
                        .n_columns = NDT_COLUMNS,
                        .debug = ndt_debug_columns,
                        .n_debug = NDT_N_DEBUG,
                        .debug_rows = 1,
                        .failures = ndt_failures,
                        .n_failures = (int)(sizeof ndt_failures / sizeof ndt_failures[0]),
                        .objective = "translation_error + rotation_error",
                        .kernel = KERNEL_ndt_align,
                        .executor = (Executor)settings[NDT_OPTION_EXECUTOR],
                        .n_work = NDT_STATE,
                        .ticks = (int64_t)settings[NDT_OPTION_ITERATIONS]};
    ndt_name_parameters(settings, points, arena, out);
    if ((settings[NDT_OPTION_TARGET] != 0.0) != (settings[NDT_OPTION_SOURCE] != 0.0))
        return error_make(ERROR_USER,
                          "simulation.%s is given without simulation.%s: name both, or neither for an "
                          "artificial scene",
                          settings[NDT_OPTION_TARGET] != 0.0 ? "target" : "source",
                          settings[NDT_OPTION_TARGET] != 0.0 ? "source" : "target");
    return error_none();
}

const Model ndt_model = {
    .name = "ndt",
    .doc = "scan matching: a point cloud is moved onto another, known by the normal distributions of its cells",
    .source = "P. Biber & W. Strasser, IROS 2003; M. Magnusson, PhD thesis, Oerebro 2009",
    .options = ndt_options,
    .n_options = NDT_N_OPTIONS,
    .extra = ndt_own,
    .n_extra = NDT_N_OWN,
    .extra_choices = ndt_own_choices,
    .debug = "debug/ndt",
    .iterations = &ndt_iterations,
    .configure = ndt_configure,
    .build = ndt_build_assets,
    .explain = ndt_explain,
};
