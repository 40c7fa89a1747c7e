// The noiseless black-box optimisation benchmark: what the model says of itself. No simulation, one evaluation of a
// known function, to test searches and to show how little a model needs. The functions are in advance.h.
// Source: N. Hansen, S. Finck, R. Ros & A. Auger, Real-parameter black-box optimization benchmarking 2009: noiseless
// functions definitions, INRIA research report RR-6829.
#include "bbob.h"

#include "../models.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof(BbobConstants) <= sizeof(Constants), "the benchmark's constants fit a kernel's argument");

enum { BBOB_FUNCTION, BBOB_DIMENSION, BBOB_INSTANCE, BBOB_N_OPTIONS };

static const Option bbob_options[BBOB_N_OPTIONS] = {
    {"function", OPTION_CHOICE, "", 0, 0, 1, "sphere|rosenbrock", "sphere: f1; rosenbrock: f8, a curved valley"},
    {"dimension", OPTION_INTEGER, "1", 2, 2, BBOB_DIMENSIONS_MAX, NULL, "number of parameters x1, x2, ..."},
    {"instance", OPTION_INTEGER, "1", 1, 1, 1e9, NULL, "which of the functions of that kind: seeds its optimum"},
};

// One function, by its place among the choices: where its optimum is drawn from, and how it stretches space.
typedef struct BbobFunction {
    uint32_t number; // f1, f8, ...
    int kernel;
    double reach;   // x_opt is uniform in [-reach, reach]^D
    bool stretched; // by max(1, sqrt(D)/8)
} BbobFunction;

static const BbobFunction bbob_functions[] = {
    {1, KERNEL_bbob_sphere, 4.0, false},
    {8, KERNEL_bbob_rosenbrock, 3.0, true},
};

static const Field bbob_metrics[BBOB_N_METRICS] = {
    {"f", "1", "value of the function above its optimum", NULL},
    {"distance", "1", "Euclidean distance to the optimum", NULL},
};

static const char *const bbob_failures[] = {"none", "diverged"};

// x1..xD, and the columns time, x1..xD
static void bbob_name_coordinates(int dimension, Arena *arena, Configured *out)
{
    Parameter *parameters = ARENA_NEW(arena, Parameter, dimension);
    Field *columns = ARENA_NEW(arena, Field, 1 + dimension);
    columns[0] = (Field){"time", "s", "0 before the evaluation, 1 after it", "time"};
    for (int i = 0; i < dimension; i++) {
        const char *name = arena_format(arena, "x%d", i + 1);
        const char *doc = arena_format(arena, "coordinate %d of the point", i + 1);
        parameters[i] = (Parameter){name, "1", 0.0, -5.0, 5.0, SECTION_PARAMETERS, doc};
        columns[1 + i] = (Field){name, "1", doc, "state"};
    }
    out->parameters = parameters;
    out->n_parameters = dimension;
    out->columns = columns;
    out->n_columns = 1 + dimension;
}

// x_opt depends on function, instance and coordinate alone: the same problem in every campaign.
static const double *bbob_optimum(const BbobFunction *function, uint64_t instance, int dimension, Arena *arena)
{
    const RandomKey key = {.search = function->number, .ordinal = instance, .purpose = RANDOM_INSTANCE};
    double *x_opt = ARENA_NEW(arena, double, dimension);
    for (int i = 0; i < dimension; i++) x_opt[i] = function->reach * (2.0 * random_uniform(&key, (uint32_t)i) - 1.0);
    return x_opt;
}

extern const Model bbob_model;

static Error bbob_configure(const double *settings, const Points *points, Arena *arena, Configured *out)
{
    (void)points;
    const BbobFunction *function = &bbob_functions[(int)settings[BBOB_FUNCTION]];
    const int dimension = (int)settings[BBOB_DIMENSION];
    const double stretch = sqrt((double)dimension) / 8.0;
    const BbobConstants constants = {.scale = function->stretched && stretch > 1.0 ? stretch : 1.0,
                                     .dimension = dimension};
    *out = (Configured){.model = &bbob_model,
                        .metrics = bbob_metrics,
                        .n_metrics = BBOB_N_METRICS,
                        .failures = bbob_failures,
                        .n_failures = (int)(sizeof bbob_failures / sizeof bbob_failures[0]),
                        .objective = "f",
                        .kernel = function->kernel,
                        .ticks = 1,
                        .assets = bbob_optimum(function, (uint64_t)settings[BBOB_INSTANCE], dimension, arena),
                        .n_assets = dimension};
    bbob_name_coordinates(dimension, arena, out);
    memcpy(&out->constants, &constants, sizeof constants);
    return error_none();
}

const Model bbob_model = {
    .name = "bbob",
    .doc = "benchmark functions of black-box optimisation, with known optima",
    .source = "N. Hansen, S. Finck, R. Ros & A. Auger, INRIA RR-6829, 2009",
    .options = bbob_options,
    .n_options = BBOB_N_OPTIONS,
    .configure = bbob_configure,
};
