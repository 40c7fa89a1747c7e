// The rungs of a race in the database (race_rows.c): the table `race` says which trials each rung runs.
#ifndef HOPSCOTCH_RACE_ROWS_H
#define HOPSCOTCH_RACE_ROWS_H

#include "../queries.h"
#include "commit.h"

Error race_make(Database *database, const Spec *spec); // the table, for a spec that races
// The trials of rung 1 or a later one; 0: they are not chosen yet, or no trial of the rung before has a fitness.
Error race_chosen(Database *database, int rung, int64_t *trials);
// Chooses them, in a transaction of its own: the best of the rung before, by rank.
Error race_choose(Store *store, int rung);
// Rows of the chosen trials that have not run the rung yet, block by block: trial_rows_after.
Cursor race_rows(Database *database, const Spec *spec, int rung, Arena *arena);
Error race_left(Database *database, const Spec *spec, int rung, int64_t *trials); // the number of these rows
// Replaces the row by that with more replicates, within a transaction. rows: from rows_take for race_rung(spec).
// failed: by how much its batch has more failed trials now.
Error race_replace(Store *store, const TrialRows *rows, int64_t row, int64_t failed);
// For repairs. *ended: the race of the trial ended with this rung, or waits there for the next one. race_drop_surplus
// deletes replicates that the rows of these trials do not count.
Error race_ended(Store *store, int64_t trial, int rung, bool *ended);
Error race_drop_surplus(Store *store, int64_t first, int64_t end);
// Leaves those trials in the temporary table `wanted` whose race ended with this rung.
Error race_want_rung(Database *database, const Spec *spec, int rung);

#endif
