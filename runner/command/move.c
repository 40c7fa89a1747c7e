// hopscotch mv: another name for a campaign. The folder is renamed first, which happens at once or not at all; the name
// in its database and in the catalogue follow, and after a crash in between the next run or `reindex` mends them. If
// the database can't take the name, the folder has its old one again; what is not the campaign itself may lag behind.
#include "command.h"

#include <string.h>

static Error move_target(const CommandLine *line, const CampaignPlace *from, CampaignPlace *to)
{
    *to = (CampaignPlace){.results = from->results, .name = line->arguments[1]};
    TRY(campaign_folder(from->results, to->name, line->arena, &to->folder));
    return campaign_name_is_free(from->results, to->name, to->folder, line->arena);
}

static Error move_note(CampaignEdit *edit, const CampaignPlace *from, const CampaignPlace *to)
{
    TRY(edit_rename(edit, to->name));
    return store_event(&edit->store, "renamed", "%s to %s", from->name, to->name);
}

// What was made of it says so under the new name.
static Error move_origin(const CampaignPlace *made, const CampaignPlace *from, const CampaignPlace *to, bool shared_fs,
                         Arena *arena)
{
    CampaignEdit edit;
    TRY(edit_begin(made, shared_fs, arena, &edit));
    return edit_end(&edit, origin_rename(&edit, from->name, to->name));
}

static Error move_made(const CommandLine *line, const CampaignPlace *from, const CampaignPlace *to)
{
    CampaignMade *made;
    int count;
    TRY(campaign_made(to, line->arena, &made, &count));
    for (int i = 0; i < count; i++)
        TRY(move_origin(&made[i].place, from, to, switch_given(line, "shared-fs"), line->arena));
    return error_none();
}

static void move_warn(const CommandLine *line, const char *what, Error error)
{
    if (error.kind != OK) fprintf(line->messages, "warning: %s: %s\n", what, text_visible(error.text, line->arena));
}

// With the lock held until all say the new name, so that no other process renames or removes it meanwhile.
static Error move_locked(const CommandLine *line, CampaignEdit *edit, const CampaignPlace *from,
                         const CampaignPlace *to)
{
    const bool shared_fs = switch_given(line, "shared-fs");
    TRY(edit_end(edit, move_note(edit, from, to)));
    const char *reindex =
        arena_format(line->arena, "the catalogue was not updated (%s)", command_again(to->results, "reindex").text);
    move_warn(line, reindex,
              catalogue_change(to->results, shared_fs, from->name, to->name, line->messages, line->arena));
    move_warn(line, "what was made of it still names the old one", move_made(line, from, to));
    return error_none();
}

static Error move_run(const CommandLine *line)
{
    CampaignPlace from, to;
    CampaignEdit edit;
    TRY(campaign_find(line, line->arguments[0], &from));
    TRY(move_target(line, &from, &to));
    TRY(campaign_made_is_idle(&from, "rename", line->arena));
    TRY(edit_begin_moved(&from, &to, switch_given(line, "shared-fs"), line->arena, &edit));
    Lock lock = edit_keep_lock(&edit);
    const Error error = move_locked(line, &edit, &from, &to);
    lock_release(&lock);
    if (error.kind == OK) fprintf(line->out, "%s is now %s\n", from.name, to.name);
    return error;
}

const Command command_mv = {
    .name = "mv",
    .arguments = "CAMPAIGN NAME",
    .doc = "give a campaign another name; its trials keep their ids and their bits",
    .examples = "  hopscotch mv raibert_gains raibert_gains_coarse\n",
    .least = 2,
    .most = 2,
    .switches = {&switches_shared_fs},
    .run = move_run,
};
