// The catalogue results/index.db: one row per campaign (catalogue.c).
#ifndef HOPSCOTCH_CATALOGUE_H
#define HOPSCOTCH_CATALOGUE_H

#include "../../campaign.h"

typedef struct CatalogueRow {
    const char *name, *experiment, *model, *hash, *state, *reason;
    int64_t trials, trials_total, failures, best_trial;
    double best_fitness;
} CatalogueRow;

// Writes a campaign's row. A damaged catalogue is built again from the folders, and `messages` (may be NULL) is told.
Error catalogue_update(const char *results, bool shared_fs, const CatalogueRow *row, FILE *messages, Arena *arena);
// The row of a stored campaign.
Error catalogue_row(Database *database, const char *name, Arena *arena, CatalogueRow *row);
// In a transaction: the row of a campaign as its status says.
Error catalogue_replace_by(Database *catalogue, const StatusReport *report);
// The first difference between the catalogue and this row, in words; "": none. running: compares only the fields that a
// run does not change. *behind: the campaign was changed, or its folder renamed, since the catalogue was written; the
// next list renews it.
Error catalogue_compare(const char *results, const CatalogueRow *row, bool running, char *difference, size_t size,
                        bool *behind, Arena *arena);

#endif
