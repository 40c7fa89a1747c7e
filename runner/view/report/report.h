// What the files of the report share.
#ifndef HOPSCOTCH_REPORT_H
#define HOPSCOTCH_REPORT_H

#include "../plots/plot.h"

typedef struct Report {
    const StoredCampaign *campaign;
    const PlotData *data;
    const ReportOptions *options;
    int64_t batches;
    FILE *out;
    Arena *arena;
} Report;

// Rules for light, dark and printed pages, for page_start.
Error report_style(Arena *arena, const char **style);
// Writes the words in front of a trial that was simulated again, as the beginning of a caption.
void report_put_replayed(const Report *report, const ReplayResult *result, const ReplayTrace *trace);
// Writes why a trial was not simulated again. Without it a report is still a report, so only an interruption is an
// error.
Error report_put_not_replayed(const Report *report, const Error *error);

// The head of the page, and the contents of sections (tables.c, iterations.c).
Error report_head(const Report *report);
Error report_best(const Report *report);
Error report_spec(const Report *report);
Error report_provenance(const Report *report);
Error report_iterations(const Report *report);
// Of a campaign whose model or method gives gradients (slopes.c)
bool report_has_slopes(const Report *report);
Error report_slopes(const Report *report);
// The columns of the trials, for scripts, and parallel coordinates (explore.c)
bool report_has_explore(const Report *report);
Error report_explore(const Report *report);
// The trials that the page tells more about than the shown one's (report.c): the best, then some of each kind of
// failure; their motions, and each of their replicates (replicates.c).
Error report_closer(const Report *report, int64_t **trials, int *count);
Error report_put_replicates(const Report *report);
// Of a campaign with residuals (fit.c)
bool report_has_fit(const Report *report);
Error report_fit(const Report *report);
// Of a campaign that keeps rows of some trials (sums.c)
bool report_has_sums(const Report *report);
Error report_sums(const Report *report);

#endif
