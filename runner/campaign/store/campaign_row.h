// What a campaign's database says of itself: the one row of its table campaign (campaign_row.c).
#ifndef HOPSCOTCH_CAMPAIGN_ROW_H
#define HOPSCOTCH_CAMPAIGN_ROW_H

#include "cursor.h"

// Texts in the arena, numbers as texts too; "" where there is nothing.
typedef struct CampaignRow {
    const char *experiment, *state, *reason, *created, *finished, *program_version, *numerics_version, *compiler,
        *commit, *host, *seed, *given, *resolved, *canonical, *hash; // given: the spec as it was
} CampaignRow;
Error campaign_row_read(Database *database, Arena *arena, CampaignRow *row, bool *found);
// Of a repair: the row as the spec has it, made anew if it is gone. given: the spec's text. What only the row told (times,
// host, versions) is kept as it stands.
Error campaign_row_restore(Database *database, const char *name, const Spec *spec, const char *given);

#endif
