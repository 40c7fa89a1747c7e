// An experiment that nobody here runs, as a model: a robot in the lab, somebody else's cluster. The spec declares
// parameters, metrics and failures. `hopscotch ask` gives the trials, and `hopscotch tell` takes their results
// (Model.by_hand): no backend ever sees them.
#include "manual.h"

#include "../models.h"

enum { MANUAL_OWN_FAILURES, MANUAL_N_OPTIONS };
enum { MANUAL_N_LISTS = DECLARED_METRICS + 1 };

static const Option manual_options[MANUAL_N_OPTIONS] = {
    {"failures", OPTION_WORDS, "", 0, 0, 0, "[fell, overheated]",
     "names of the ways in which a trial can fail; `failed` and `skipped` are there anyway"},
};

static const char *const manual_failures[MANUAL_FAILURES] = {
    [MANUAL_NONE] = "none",
    [MANUAL_FAILED] = "failed",
    [MANUAL_SKIPPED] = "skipped",
    [MANUAL_NON_FINITE] = NON_FINITE,
};

static const List manual_lists[MANUAL_N_LISTS] = {
    {.name = "parameters",
     DECLARED_LIST(declared_parameter_fields),
     .doc = "the parameters that are set for a trial",
     .example = "{grip: {value: 10, unit: N, range: [1, 40]}, pads: {words: [rubber, foam]}}"},
    {.name = "metrics",
     DECLARED_LIST(declared_output_fields),
     .doc = "the numbers that are measured in a trial",
     .example = "{slip: mm, lift_time: {unit: s, doc: until the part lies in its tray}}"},
};

static Error manual_check(const Points *lists, Configured *out)
{
    if (lists[DECLARED_METRICS].count == 0)
        return error_make(
            ERROR_USER,
            "metrics is missing: the numbers that are measured in a trial, for example `metrics: {slip: mm}`");
    for (int list = 0; list < MANUAL_N_LISTS; list++) TRY(declared_check_names(lists, list, out));
    return error_none();
}

extern const Model manual_model;

static Error manual_configure(const double *settings, const Points *points, Arena *arena, Configured *out)
{
    static const Points none[MANUAL_N_OPTIONS + MANUAL_N_LISTS];
    const Points *given = points != NULL ? points : none, *lists = given + MANUAL_N_OPTIONS;
    Parameter *rows = NULL;
    (void)settings;
    *out = (Configured){.model = &manual_model, .kernel = KERNEL_NONE, .ticks = 1};
    if (points != NULL) TRY(manual_check(lists, out));
    TRY(declared_parameters(&lists[DECLARED_PARAMETERS], "experiment", arena, &rows, out));
    out->metrics = declared_fields(&lists[DECLARED_METRICS], "metric of the experiment", NULL, arena);
    out->n_metrics = (int)lists[DECLARED_METRICS].count;
    return declared_failures(manual_failures, MANUAL_FAILURES, &given[MANUAL_OWN_FAILURES], MANUAL_OWN_FAILURES, arena,
                             out);
}

// A test plays it.
static const char manual_words[] =
    "`hopscotch ask SPEC` makes the campaign and gives the next trials; after they were run, `hopscotch tell NAME\n"
    "FILE` takes their results, in any order. `ask NAME` gives further ones. A search that learns goes on when all\n"
    "results of its generation are there.\n\n"
    "    hopscotch ask experiments/manual_gripper.yaml -n 4 --format csv > todo.csv   # fill in what was measured\n"
    "    hopscotch tell manual_gripper todo.csv\n"
    "    hopscotch tell manual_gripper/4 slip=0.8 lift_time=3.1\n"
    "    hopscotch tell manual_gripper/5 failure=dropped\n";

const Model manual_model = {
    .name = "manual",
    .doc = "an experiment that you run yourself: `ask` gives trials, `tell` takes what was measured",
    .options = manual_options,
    .n_options = MANUAL_N_OPTIONS,
    .lists = manual_lists,
    .n_lists = MANUAL_N_LISTS,
    .top = "parameters|metrics|failures",
    .declares = DECLARED_PARAMETERS + 1,
    .by_hand = true,
    .notes = manual_words,
    .configure = manual_configure,
};
