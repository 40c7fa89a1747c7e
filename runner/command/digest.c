// hopscotch digest: prints a hash by which campaigns can be compared.
#include "command.h"

static Error digest_run(const CommandLine *line)
{
    StoredCampaign campaign;
    Sha256Text digest;
    TRY(campaign_open_named(line, line->arguments[0], &campaign));
    const Error error = campaign_digest(&campaign, &digest);
    if (error.kind == OK && switch_given(line, "json")) {
        Json json;
        json_start(&json, line->out, true);
        json_object(&json, NULL);
        json_text(&json, "campaign", campaign.name);
        json_text(&json, "digest", digest.hex);
        json_integer(&json, "numerics_version", campaign.numerics_version);
        json_close(&json, '}');
    } else if (error.kind == OK) {
        fprintf(line->out, "%s  %s\n", digest.hex, campaign.name);
    }
    campaign_close(&campaign);
    return error;
}

const Command command_digest = {
    .name = "digest",
    .arguments = "CAMPAIGN",
    .doc = "print a hash of trials, search states and arrays; equal campaigns have equal hashes on any machine",
    .examples = "  hopscotch digest raibert_gains\n"
                "  diff <(hopscotch digest gains --results cpu) <(hopscotch digest gains --results gpu)\n",
    .least = 1,
    .most = 1,
    .switches = {&switches_json},
    .run = digest_run,
};
