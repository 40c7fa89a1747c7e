// See campaign_row.h.
#include "campaign_row.h"

Error campaign_row_read(Database *database, Arena *arena, CampaignRow *row, bool *found)
{
    const char **const texts[] = {
        &row->experiment,       &row->state,     &row->reason, &row->created, &row->finished, &row->program_version,
        &row->numerics_version, &row->compiler,  &row->commit, &row->host,    &row->seed,     &row->given,
        &row->resolved,         &row->canonical, &row->hash};
    Cursor campaign = cursor_open(database, "SELECT experiment, state, reason, created, finished, program_version, "
                                            "numerics_version, compiler, commit_id, host, seed, spec, resolved, "
                                            "canonical, hash FROM campaign");
    *found = cursor_next(&campaign);
    for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++)
        *texts[i] = *found ? arena_copy(arena, cell_text(&campaign, i)) : "";
    return cursor_close(&campaign);
}
