// What the files of the report share.
#ifndef HOPSCOTCH_REPORT_H
#define HOPSCOTCH_REPORT_H

#include "../plots/plot.h"

// Rules for light, dark and printed pages, for page_start.
Error report_style(Arena *arena, const char **style);
// The sections of a page, one after another.
Error report_write(const StoredCampaign *campaign, const PlotData *data, const BackendOptions *backend, FILE *out,
                   Arena *arena);

#endif
