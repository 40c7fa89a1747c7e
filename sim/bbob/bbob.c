// The noiseless black-box optimisation benchmark: its tables and settings. One evaluation of a known function, without
// simulation: for tests of search methods, and as an example of a small model. The functions are in advance.h, their
// instances in instances.c. Source: N. Hansen, S. Finck, R. Ros & A. Auger, Real-parameter black-box optimization
// benchmarking 2009: noiseless functions definitions, INRIA research report RR-6829.
#include "bbob.h"

#include "../models.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof(BbobConstants) <= sizeof(Constants), "the benchmark's constants fit a kernel's argument");

enum { BBOB_FUNCTION, BBOB_DIMENSION, BBOB_INSTANCE, BBOB_N_OPTIONS };

static const Option bbob_options[BBOB_N_OPTIONS] = {
    {"function", OPTION_CHOICE, "", 0, 0, BBOB_FUNCTIONS - 1, bbob_names, "f1 to f24 of the report, in that order"},
    {"dimension", OPTION_INTEGER, "1", 2, 2, BBOB_DIMENSIONS_MAX, NULL, "number of parameters x1, x2, ..."},
    {"instance", OPTION_INTEGER, "1", 1, 1, 1e9, NULL,
     "number of the instance, that of COCO's suite bbob (1 to 15 in its tables)"},
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

extern const Model bbob_model;

static Error bbob_configure(const double *settings, const Points *points, Arena *arena, Configured *out)
{
    (void)points;
    const int function = 1 + (int)settings[BBOB_FUNCTION], dimension = (int)settings[BBOB_DIMENSION];
    BbobConstants constants;
    int64_t n_assets = 0;
    const double *assets =
        bbob_instance(function, (uint64_t)settings[BBOB_INSTANCE], dimension, arena, &constants, &n_assets);
    *out = (Configured){.model = &bbob_model,
                        .metrics = bbob_metrics,
                        .n_metrics = BBOB_N_METRICS,
                        .failures = bbob_failures,
                        .n_failures = (int)(sizeof bbob_failures / sizeof bbob_failures[0]),
                        .objective = "f",
                        .kernel = KERNEL_bbob_evaluate,
                        .ticks = 1,
                        .assets = assets,
                        .n_assets = n_assets};
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
