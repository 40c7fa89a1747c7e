// The results of each replicate of the best trials, and of some that failed, as JSON for the page's scripts
// (io/page/panel.js).
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { REPLICATES_SHOWN = 32 }; // of a trial

static void replicates_put_names(const Configured *configured, Json *json)
{
    char unit[64];
    json_array(json, "metrics");
    for (int m = 0; m < configured->n_metrics; m++) json_text(json, NULL, configured->metrics[m].name);
    json_close(json, ']');
    json_array(json, "units");
    for (int m = 0; m < configured->n_metrics; m++)
        json_text(json, NULL, plot_unit(configured->metrics[m].unit, unit, sizeof unit));
    json_close(json, ']');
}

// {of, failure [shown], value [shown] or none, metric [n_metrics][shown]}
static void replicates_put_trial(const Configured *configured, int64_t trial, const TrialReplicates *replicates,
                                 Json *json, Arena *arena)
{
    const int shown = replicates->count < REPLICATES_SHOWN ? replicates->count : REPLICATES_SHOWN;
    json_object(json, arena_format(arena, "%" PRId64, trial));
    json_integer(json, "of", replicates->count);
    json_array(json, "failure");
    for (int r = 0; r < shown; r++) json_text(json, NULL, configured->failures[replicates->failure[r]]);
    json_close(json, ']');
    if (replicates->value != NULL) {
        json_array(json, "value");
        for (int r = 0; r < shown; r++) json_number(json, NULL, replicates->value[r]);
        json_close(json, ']');
    }
    json_array(json, "metric");
    for (int m = 0; m < configured->n_metrics; m++) {
        json_array(json, NULL);
        for (int r = 0; r < shown; r++) json_number(json, NULL, replicates->metric[m * replicates->stride + r]);
        json_close(json, ']');
    }
    json_close(json, ']');
    json_close(json, '}');
}

// A trial that can't be simulated again is left out.
static Error replicates_put_one(const Report *report, int64_t trial, Json *json)
{
    const size_t used = report->arena->used;
    TrialReplicates replicates;
    const Error error =
        campaign_replicates(report->campaign, trial, &report->options->backend, report->arena, &replicates);
    if (error.kind == ERROR_INTERRUPTED || error.kind == ERROR_MEMORY) return error;
    if (error.kind == OK && replicates.count > 0)
        replicates_put_trial(&report->campaign->spec.configured, trial, &replicates, json, report->arena);
    arena_rewind(report->arena, used);
    return error_none();
}

Error report_put_replicates(const Report *report)
{
    const int64_t first = plot_shown_trial(report->data);
    int64_t *trials;
    int count = 0;
    TextStream stream;
    Json json;
    if (report->campaign->spec.replicates.count == 1 || first < 0) return error_none();
    TRY(report_closer(report, &trials, &count));
    TRY(text_stream_open("the replicates of a page", &stream));
    json_start(&json, stream.out, false);
    json_object(&json, NULL);
    replicates_put_names(&report->campaign->spec.configured, &json);
    json_object(&json, "trials");
    Error error = replicates_put_one(report, first, &json);
    for (int i = 0; i < count && error.kind == OK; i++) {
        if (trials[i] != first) error = replicates_put_one(report, trials[i], &json);
    }
    json_close(&json, '}');
    json_close(&json, '}');
    const Error closed = text_stream_close(&stream);
    if (error.kind == OK) error = closed;
    if (error.kind == OK) page_put_json(report->out, "replicates", stream.text);
    free(stream.text);
    return error;
}
