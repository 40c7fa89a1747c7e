// The best trials of a campaign whose trials lie in blocks, as rows of the table `best`: any program that reads SQLite
// finds them there. They change with the batch that changes them (best_rows.c).
#ifndef HOPSCOTCH_BEST_ROWS_H
#define HOPSCOTCH_BEST_ROWS_H

#include "../../campaign.h"

enum { BEST_ROWS = 1000 }; // where the spec keeps rows of the best N, at most N

Error best_rows_make(Database *database, const Spec *spec, Arena *arena); // of a new campaign
Error best_rows_open(Store *store);                                       // store->best; NULL without blocks
void best_rows_close(Store *store);                                       // store->best may be NULL
// Within the transaction of a batch. Ids are in ascending order.
Error best_rows_add(Store *store, const TrialRows *rows);

#endif
