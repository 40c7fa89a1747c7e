// `hopscotch show CAMPAIGN/TRIAL --debug ROW` (show_debug.c).
#ifndef HOPSCOTCH_SHOW_DEBUG_H
#define HOPSCOTCH_SHOW_DEBUG_H

#include "command.h"

// Prints a debug row of a replicate, from the shard that it lies in, for people, with those of its step if the model
// reads them together. parameter[n_parameters]: the trial's, NaN where replicates drew their own. Error (user): there
// are fewer rows.
Error show_debug_row(const StoredCampaign *campaign, int64_t trial, const double *parameter, const char *file,
                     int64_t replicate, int64_t row, FILE *out, Arena *arena);

#endif
