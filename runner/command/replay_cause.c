// Why a trial failed as non_finite: `replay` names the first column of the motion that is not finite, or the metrics.
#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// The first sample with a number that is not finite, and its column. False: there is none.
static bool cause_in_motion(const ReplayTrace *trace, int64_t *sample, int *column)
{
    for (*sample = 0; *sample < trace->count; ++*sample) {
        const double *row = &trace->row[*sample * trace->n_columns];
        for (*column = 0; *column < trace->n_columns; ++*column) {
            if (!isfinite(row[*column])) return true;
        }
    }
    return false;
}

// "root, reach" of one replicate; "": all are finite.
static const char *cause_in_metrics(const Configured *configured, const TrialReplicates *of, int replicate,
                                    Arena *arena)
{
    const char *names = "";
    for (int m = 0; m < configured->n_metrics; m++) {
        if (isfinite(of->metric[m * of->stride + replicate])) continue;
        names = arena_format(arena, "%s%s%s", names, names[0] != '\0' ? ", " : "", configured->metrics[m].name);
    }
    return names;
}

// `motion`: of that replicate, NULL of a model without columns.
static void cause_print(const StoredCampaign *campaign, const TrialReplicates *of, int replicate,
                        const ReplayTrace *motion, FILE *out, Arena *arena)
{
    int64_t sample = 0;
    int column;
    const Configured *configured = &campaign->spec.configured;
    const char *metrics = cause_in_metrics(configured, of, replicate, arena);
    const double *last =
        motion != NULL && motion->count > 0 ? &motion->row[(motion->count - 1) * motion->n_columns] : NULL;
    const bool ended = last == NULL || last[0] > configured->tick_duration * ((double)configured->ticks - 0.5);
    fputs("non_finite: ", out);
    if (of->count > 1) fprintf(out, "replicate %d: ", replicate);
    if (last != NULL && cause_in_motion(motion, &sample, &column)) {
        const double *row = &motion->row[sample * motion->n_columns];
        fprintf(out, "column %s is %s at %s s", motion->columns[column].name,
                isnan(row[column])  ? "nan"
                : row[column] > 0.0 ? "inf"
                                    : "-inf",
                text_number(row[0]).text);
        fprintf(out, "%s%s\n", metrics[0] != '\0' ? "; metrics that are not finite: " : "", metrics);
    } else if (!ended) {
        fprintf(out, "all columns are finite until the end, at %s s; %s was not\n", text_number(last[0]).text,
                configured->law != NULL ? "what the law gave or held last" : "the state behind them");
    } else if (metrics[0] != '\0') {
        fprintf(out, "metrics that are not finite: %s\n", metrics);
    } else {
        fputs("all metrics are finite, and the objective or a constraint of them is not\n", out);
    }
}

Error replay_print_cause(const CommandLine *line, const StoredCampaign *campaign, const ReplayRequest *asked,
                         const BackendOptions *backend, FILE *out)
{
    const Configured *configured = &campaign->spec.configured;
    const int code = configured_failure(configured, NON_FINITE);
    ReplayRequest request = {
        .trial = asked->trial, .replicate = asked->replicate, .sample = configured->tick_duration, .coarser = true};
    TrialReplicates replicates;
    ReplayResult result;
    ReplayTrace motion;
    if (campaign->spec.model->runs_program) return error_none();
    TRY(campaign_replicates(campaign, asked->trial, backend, line->arena, &replicates));
    while (request.replicate < replicates.count && replicates.failure[request.replicate] != code) request.replicate++;
    if (request.replicate >= replicates.count) return error_none();
    const bool moves = configured->n_columns > 0 && configured->tick_duration > 0;
    if (moves) TRY(campaign_trace(campaign, &request, backend, line->arena, &result, &motion));
    cause_print(campaign, &replicates, request.replicate, moves ? &motion : NULL, out, line->arena);
    return error_none();
}
