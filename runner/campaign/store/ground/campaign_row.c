// The one row of the table campaign (queries.h).
#include "../queries.h"

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

Error campaign_row_restore(Database *database, const char *name, const Spec *spec, const char *given)
{
    TRY(database_run(
        database, "INSERT INTO campaign SELECT 1, '', '', '', '', '', '', '', 0, 'unknown', 0, 'unknown', 'unknown', "
                  "'unknown', 'unknown', NULL, NULL, 'interrupted', NULL, NULL, 1, NULL WHERE NOT EXISTS "
                  "(SELECT * FROM campaign)"));
    const char *const texts[] = {name,           spec->experiment, spec->model->name, given,
                                 spec->resolved, spec->canonical,  spec->hash.hex};
    Cursor update = cursor_open(
        database, "UPDATE campaign SET id = 1, name = ?, experiment = ?, model = ?, spec = ?, resolved = ?, "
                  "canonical = ?, hash = ?, seed = ?, replicates = ?, numerics_version = "
                  "ifnull((SELECT max(numerics_version) FROM batches), numerics_version), state = CASE WHEN "
                  "state IN ('done', 'stopped', 'running') THEN state ELSE 'interrupted' END");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) with_text(&update, texts[i]);
    with_integer(&update, (int64_t)spec->seed);
    with_integer(&update, spec->replicates.count);
    return cursor_run(&update);
}
