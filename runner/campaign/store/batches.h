// The batches of a campaign as they are stored (batches.c); what of them is summed is in timings.c.
#ifndef HOPSCOTCH_BATCHES_H
#define HOPSCOTCH_BATCHES_H

#include "cursor.h"
#include "store.h"

Error batches_count(Database *database, int64_t *count);

// s; 0 in databases of schemas before 4, which do not have copy and search.
typedef struct BatchRow {
    double wall, kernel, copy, search;
    int64_t trials;
} BatchRow;
Error batches_in_turn(Database *database, Cursor *batches);
bool batch_next(Cursor *batches, BatchRow *batch);

// Cells: device, driver or instructions, batches, trials, lanes, kernel seconds.
Cursor batches_by_device(Database *database);
Error batches_devices(Database *database, Arena *arena, const char **devices); // "A,B"

// A batch of trials that were taken from another campaign. trials: how many; first, last: their ids.
typedef struct MergedTrials {
    int64_t first, last, trials, failures;
} MergedTrials;
Error batch_note_merged(Store *store, const char *campaign, const MergedTrials *merged);
// Of a repair: they say how many trials there are. If theirs is another number, one batch takes the place of all.
Error batches_restore(Database *database, const Spec *spec, Arena *arena);

#endif
