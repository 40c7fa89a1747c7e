// Trials that were run, as they were given to the model (stored_trial.c).
#ifndef HOPSCOTCH_STORED_TRIAL_H
#define HOPSCOTCH_STORED_TRIAL_H

#include "rows.h"

// The complete parameters of a stored row, and what its random numbers are keyed by.
Error search_stored_trial(const Search *search, Database *database, const TrialRows *rows, int64_t row,
                          uint64_t *ordinal, double *parameter);

#endif
