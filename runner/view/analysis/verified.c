// What verify found out about a trial, read from the campaigns that it left below the trial's campaign.
#include "../view.h"

#include <string.h>

// verify's campaigns of a trial are called trial_41, trial_41-2, ...
static bool verified_is_of(const NestedCampaign *made, const char *root, int64_t trial, Arena *arena)
{
    const char *name = arena_format(arena, "trial_%lld", (long long)trial), *of = made->location.name;
    const size_t length = strlen(name);
    return strcmp(made->location.results, root) == 0 && strncmp(of, name, length) == 0 &&
           (of[length] == '\0' || of[length] == '-');
}

// Takes the runs under fresh seeds if they are complete, and more than those taken before.
static Error verified_take(const StoredCampaign *run, const char *name, Arena *arena, Verified *verified)
{
    VerifyOutcome outcome;
    int64_t last = -1;
    if (run->spec.method != &search_centered) return error_none(); // the grid of starts
    TRY(trials_last(run->database, &last));
    if (last < 0) return error_none();
    TRY(verify_outcome(run, 0, arena, &outcome));
    if (outcome.n <= verified->outcome.n) return error_none();
    *verified = (Verified){.run = name, .outcome = outcome};
    return error_none();
}

Error verified_read(const StoredCampaign *campaign, int64_t trial, Arena *arena, Verified *verified)
{
    const CampaignLocation location = {.name = campaign->name, .folder = campaign->folder};
    const char *root = campaign_nested_root(&location, arena);
    NestedCampaign *made;
    int count;
    *verified = (Verified){.run = NULL};
    TRY(campaign_nested(&location, arena, &made, &count));
    for (int i = 0; i < count; i++) {
        StoredCampaign run;
        if (!verified_is_of(&made[i], root, trial, arena)) continue;
        if (campaign_open(root, made[i].location.name, arena, &run).kind != OK) continue; // one that just begins
        const Error error = verified_take(&run, made[i].name, arena, verified);
        campaign_close(&run);
        TRY(error);
    }
    return error_none();
}

const char *verified_text(const Verified *verified, Arena *arena)
{
    const VerifyOutcome *outcome = &verified->outcome;
    const char *text = arena_format(arena, "%s of %s fresh seeds succeed (95 %%: %.4g to %.4g %%)",
                                    text_count(outcome->succeeded).text, text_count(outcome->n).text,
                                    100.0 * outcome->rate.low, 100.0 * outcome->rate.high);
    return outcome->succeeded > 0 ? arena_format(arena, "%s, fitness %.6g", text, outcome->fitness.value) : text;
}
