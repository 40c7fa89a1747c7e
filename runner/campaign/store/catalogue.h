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
// In a transaction: the row of a campaign as its status says.
Error catalogue_replace_by(Database *catalogue, const StatusReport *report);
// In what the catalogue differs from this row, in words; "" if in nothing. `running`: only what does not change then.
// *behind: the campaign was changed, or its folder renamed, since the catalogue was written; the next list renews it.
Error catalogue_compare(const char *results, const CatalogueRow *row, bool running, char *difference, size_t size,
                        bool *behind, Arena *arena);

#endif
