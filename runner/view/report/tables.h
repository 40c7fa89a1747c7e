// The parts of the report that are texts and tables.
#ifndef HOPSCOTCH_REPORT_TABLES_H
#define HOPSCOTCH_REPORT_TABLES_H

#include "../plots/plot.h"

Error report_head(const StoredCampaign *campaign, const PlotData *data, FILE *out, Arena *arena);
Error report_best_table(const StoredCampaign *campaign, const PlotData *data, FILE *out, Arena *arena);
Error report_spec_texts(const StoredCampaign *campaign, FILE *out, Arena *arena);
Error report_provenance_tables(const StoredCampaign *campaign, FILE *out, Arena *arena);

#endif
