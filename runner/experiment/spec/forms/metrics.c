// `metrics`: the user's own, over the columns of the model.
#include "../../equations/equations.h"
#include "../forms.h"

#include <string.h>

// Why a model takes none; NULL: it does.
static const char *metrics_refusal(const Spec *spec)
{
    if (strcmp(spec->model->name, "equations") == 0)
        return "the metrics of equations stand in their system, where events are located: simulation.system.metrics";
    if (spec->configured.n_columns == 0) return "this model has no columns that metrics could be made of";
    return NULL;
}

bool meter_read(SpecReader *reader, const Node *metrics, const Node *at)
{
    Spec *spec = reader->spec;
    Meter *meter = ARENA_NEW(reader->arena, Meter, 1);
    const bool nameless = reader->nameless;
    Scope frames = {0};
    MeterGiven given = {.metrics = metrics, .of = &spec->configured, .frames = &frames, .at = at};
    reader->nameless = true; // in what follows, if there is an error
    frames.frames = robot_frames(reader, &frames.n_frames);
    if (!retire_rows(reader, &given)) return false;
    if (metrics == NULL && given.n_retire == 0) { // rungs need no meter
        reader->nameless = nameless;
        return true;
    }
    if (!equations_read_meter(&given, reader->arena, reader->diagnostics, meter)) return false;
    const LaneCode *code = &meter->of;
    const char *what = metrics != NULL ? "a metric" : "a condition";
    if (!things_check_taken(reader, code->needed + code->n_needed, code->n_parameters, at, what)) return false;
    reader->nameless = nameless;
    meter_attach(meter, &spec->configured, reader->arena);
    return true;
}

static void metrics_read(SpecReader *reader, const GivenKey *given)
{
    Spec *spec = reader->spec;
    const Node *node = given->value;
    if (node->kind != NODE_MAPPING || node->count == 0) {
        form_mistyped(reader, given);
        return;
    }
    const char *refusal = metrics_refusal(spec);
    if (refusal != NULL) {
        diagnose(reader->diagnostics, given->key, "%s", refusal);
        return;
    }
    if (meter_read(reader, node, node)) spec->metrics_text = equations_text(node, reader->arena);
}

static const char *metrics_text(const SpecReader *reader) { return reader->spec->metrics_text; }

const Form form_metrics = {
    .path = "metrics",
    .after = "parameters",
    .words = "a mapping of names to metrics, such as {tip: {max: \"abs(x)\"}}",
    .doc =
        "metrics of your own, over the columns of trajectories and over parameters, computed at each step: final, "
        "mean, rms, min, max, integral of an expression; first, last (time), part (of the time), count (how often it "
        "begins) of a condition; at: CONDITION, value: EXPRESSION, take: first|last|mean|min|max|spread|rms where it "
        "begins. They are metrics as the model's own. `models SPEC.yaml` lists the columns",
    .example = "{highest: {max: z_foot}, effort: {rms: u2}}",
    .stage = FORM_METRICS,
    .read = metrics_read,
    .flags = KEY_IDENTITY,
    .text = metrics_text,
    .schema =
        "{type: [object, array], additionalProperties: {anyOf: [$system_metric, {type: [string, array, object]}]}}",
};
