// The catalogue results/index.db: a row a campaign (catalogue.c).
#ifndef HOPSCOTCH_CATALOGUE_H
#define HOPSCOTCH_CATALOGUE_H

#include "../campaign.h"

typedef struct CatalogueRow {
    const char *name, *experiment, *model, *hash, *state, *reason;
    int64_t trials, trials_total, failures, best_trial;
    double best_fitness;
} CatalogueRow;

// If the catalogue is damaged, it is made anew from the folders, which is told to `messages` (may be NULL).
Error catalogue_update(const char *results, bool shared_fs, const CatalogueRow *row, FILE *messages, Arena *arena);
// The row of a stored campaign.
Error catalogue_row(Database *database, const char *name, Arena *arena, CatalogueRow *row);
// In what the catalogue differs from this row, in words; "" if in nothing. `running`: only what does not change then.
Error catalogue_compare(const char *results, const CatalogueRow *row, bool running, char *difference, size_t size,
                        Arena *arena);

#endif
