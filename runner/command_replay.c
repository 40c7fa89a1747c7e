// hopscotch replay and digest: is what is stored still what the simulation gives, and are two campaigns the same?
#include "runner.h"

#include <inttypes.h>
#include <math.h>

static void replay_print_json(const ReplayResult *result, const char *name, FILE *out)
{
    Json json;
    json_start(&json, out, true);
    json_object(&json, NULL);
    json_text(&json, "campaign", name);
    json_integer(&json, "trial", result->trial);
    json_boolean(&json, "equal", result->equal);
    json_number(&json, "fitness", result->fitness);
    json_number(&json, "stored_fitness", result->stored_fitness);
    json_text(&json, "difference", result->equal ? NULL : result->difference);
    json_close(&json, '}');
}

static void replay_print_equal(const ReplayResult *result, const StoredCampaign *campaign, FILE *out)
{
    fprintf(out, "%s/%" PRId64 ": the same to the bit: ", campaign->name, result->trial);
    if (spec_several(&campaign->spec))
        fputs("every objective", out);
    else
        fprintf(out, "fitness %s", isnan(result->fitness) ? "none" : text_number(result->fitness).text);
    fputs(", failure and every metric\n", out);
}

static Error replay_trial(const CommandLine *line, const StoredCampaign *campaign, int64_t trial)
{
    ReplayResult result = {.trial = trial};
    const BackendOptions backend = command_backend(line, "auto");
    TRY(campaign_replay(campaign, trial, &backend, line->arena, &result));
    if (switch_given(line, "json"))
        replay_print_json(&result, campaign->name, line->out);
    else if (result.equal)
        replay_print_equal(&result, campaign, line->out);
    if (result.equal) return error_none();
    return error_make(ERROR_MACHINE, "%.100s/%" PRId64 " differs from what is stored: %s", campaign->name, trial,
                      result.difference);
}

static Error replay_run(const CommandLine *line)
{
    StoredCampaign campaign;
    int64_t trial;
    TRY(campaign_open_trial(line, line->arguments[0], &campaign, &trial));
    const Error error = replay_trial(line, &campaign, trial);
    campaign_close(&campaign);
    return error;
}

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

const Command command_replay = {
    .name = "replay",
    .arguments = "CAMPAIGN/TRIAL",
    .doc = "simulate a stored trial again and compare every number with the stored one, to the bit",
    .examples = "  hopscotch replay raibert_gains/41\n"
                "  hopscotch replay raibert_gains/41 --backend cpu --isa scalar\n",
    .least = 1,
    .most = 1,
    .switches = {&switches_backend, &switches_json},
    .run = replay_run,
};

const Command command_digest = {
    .name = "digest",
    .arguments = "CAMPAIGN",
    .doc = "a hash of trials, search states and arrays: equal for equal campaigns, wherever they ran",
    .examples = "  hopscotch digest raibert_gains\n"
                "  diff <(hopscotch digest gains --results cpu) <(hopscotch digest gains --results gpu)\n",
    .least = 1,
    .most = 1,
    .switches = {&switches_json},
    .run = digest_run,
};
