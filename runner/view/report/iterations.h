// What the report shows of a model that iterates and has no time.
#ifndef HOPSCOTCH_REPORT_ITERATIONS_H
#define HOPSCOTCH_REPORT_ITERATIONS_H

#include "../plots/plot.h"

bool iterations_are_shown(const StoredCampaign *campaign); // whether the model has anything to show
Error iterations_write(const StoredCampaign *campaign, const PlotData *data, const BackendOptions *backend, FILE *out,
                       Arena *arena);

// The alignments of replayed trials, whose rows are those of their solver, as a page that plays them.
Error iterations_write_page(const ReplayTrace *const *traces, int count, FILE *out, Arena *arena);

#endif
