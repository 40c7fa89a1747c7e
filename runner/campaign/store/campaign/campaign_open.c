// The folder of a campaign, and a stored campaign opened for reading: its database and its spec.
#include "parts.h"
#include "store.h"
#include "../trials/trial_blocks.h"
#include "../commit/schema.h"

#include <string.h>

Error campaign_folder(const char *results, const char *name, Arena *arena, const char **folder)
{
    TRY(campaign_name_check(name));
    *folder = arena_format(arena, "%s/%s", results, name);
    return error_none();
}

static Error stored_read(StoredCampaign *campaign, const char *path, Arena *arena)
{
    const char *resolved = NULL;
    TRY(schema_check(campaign->database, path));
    Cursor row =
        cursor_open(campaign->database, "SELECT resolved, numerics_version, program_version, hash FROM campaign");
    if (cursor_next(&row)) {
        resolved = arena_copy(arena, cell_text(&row, 0));
        campaign->numerics_version = (int)cell_integer(&row, 1);
        campaign->program_version = arena_copy(arena, cell_text(&row, 2));
        campaign->hash = arena_copy(arena, cell_text(&row, 3));
    }
    TRY(cursor_close(&row));
    if (resolved == NULL) return store_row_lost(campaign->database, campaign->name);
    const char *source = arena_format(arena, "%s/resolved.yaml", campaign->folder);
    TRY(spec_parse(source, resolved, NULL, 0, arena, diagnostics_new(arena), &campaign->spec));
    ProgramNoted program = {NULL, NULL};
    TRY(part_read(campaign->database, &campaign->spec.part));
    TRY(segments_read(campaign->database, campaign->folder, arena, &campaign->spec));
    if (campaign->spec.model->runs_program) TRY(program_noted(campaign->database, arena, &program));
    campaign->spec.folder = program.folder;
    return error_none();
}

Error campaign_check_folders(const char *folder, Arena *arena)
{
    static const char *const inside[] = {CAMPAIGN_SHARDS, CAMPAIGN_FILES, CAMPAIGN_QUARANTINE, CAMPAIGN_NESTED};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        TRY(folder_check_inside(arena_format(arena, "%s/%s", folder, inside[i])));
    return error_none();
}

Error campaign_check_meaning(const StoredCampaign *campaign)
{
    if (strcmp(campaign->hash, campaign->spec.hash.hex) == 0) return error_none();
    return error_make(
        ERROR_USER,
        "campaign %.100s was stored by hopscotch %.20s, for which its spec meant something else (a world "
        "of many bodies may have had fewer inputs and results): use that program, or run the spec under a "
        "new name",
        campaign->name, campaign->program_version);
}

Error campaign_open(const char *results, const char *name, Arena *arena, StoredCampaign *out)
{
    *out = (StoredCampaign){.name = arena_copy(arena, name)};
    TRY(campaign_folder(results, name, arena, &out->folder));
    const char *path = arena_format(arena, "%s/%s", out->folder, CAMPAIGN_DATABASE);
    if (file_missing(path)) {
        return error_make(ERROR_USER, "there is no campaign %.128s under %.150s: `%s` lists those that are there", name,
                          results, command_again(results, "status").text);
    }
    TRY(campaign_check_folders(out->folder, arena));
    TRY(database_open(path, DATABASE_READ, &out->database));
    Error error = stored_read(out, path, arena);
    if (error.kind == OK) error = trial_blocks_show(out->database);
    if (error.kind != OK) campaign_close(out);
    return error;
}

void campaign_close(StoredCampaign *campaign)
{
    if (campaign->pack != NULL) pack_close(campaign);
    store_leave(campaign->database);
    campaign->database = NULL;
}
