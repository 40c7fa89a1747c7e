// What the report shows of a model that iterates and has no time.
#ifndef HOPSCOTCH_REPORT_ITERATIONS_H
#define HOPSCOTCH_REPORT_ITERATIONS_H

#include "../plots/plot.h"

Error iterations_write(const StoredCampaign *campaign, const PlotData *data, const BackendOptions *backend, FILE *out,
                       Arena *arena);

#endif
