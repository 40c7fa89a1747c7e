// hopscotch pack: writes a stored trial as one file, with all that `replay FILE` needs to check every bit of it.
#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// CAMPAIGN_TRIAL.hop; a campaign of verify has slashes in its name.
static const char *pack_default_path(const CommandLine *line, const StoredCampaign *campaign, int64_t trial)
{
    const char *last = strrchr(campaign->name, '/');
    return arena_format(line->arena, "%s_%" PRId64 ".hop", last != NULL ? last + 1 : campaign->name, trial);
}

// What is written is read again and replayed, as by those who get it.
static Error pack_prove(const CommandLine *line, const char *path, Bytes text, const BackendOptions *backend)
{
    StoredCampaign again;
    PackResult result = {.equal = false};
    TRY(pack_open_text(path, text, line->arena, &again));
    Error error = pack_replay(&again, backend, false, line->arena, &result);
    campaign_close(&again);
    if (error.kind == OK && !result.equal)
        error = error_make(ERROR_MACHINE, "the trial does not repeat from its pack: %.300s; nothing is written",
                           result.difference);
    return error;
}

static void pack_print(const CommandLine *line, const char *path, const Pack *pack, const Spec *spec, size_t size)
{
    const PackStates *states = &pack->states;
    const double fitness = pack->row.fitness[0];
    if (switch_given(line, "json")) {
        Json json;
        json_start(&json, line->out, true);
        json_object(&json, NULL);
        json_text(&json, "file", path);
        json_integer(&json, "bytes", (int64_t)size);
        json_text(&json, "campaign", pack->campaign);
        json_integer(&json, "trial", pack->trial);
        json_number(&json, "fitness", fitness);
        json_text(&json, "digest", pack->digest.hex);
        json_integer(&json, "states", states->count);
        json_integer(&json, "files", pack->n_files);
        json_close(&json, '}');
        return;
    }
    fprintf(line->out, "%s: %s; trial %" PRId64 " of %s", text_visible(path, line->arena),
            text_bytes((double)size).text, pack->trial, pack->campaign);
    if (!spec_several(spec)) fprintf(line->out, ", fitness %s", isnan(fitness) ? "none" : text_number(fitness).text);
    fprintf(line->out, ", hashes of %s state%s, %d file%s\ndigest %s\n", text_count(states->count).text,
            states->count == 1 ? "" : "s", pack->n_files, pack->n_files == 1 ? "" : "s", pack->digest.hex);
}

static Error pack_write_file(const CommandLine *line, const StoredCampaign *campaign, int64_t trial)
{
    const BackendOptions backend = command_backend(line, "auto");
    const char *path = switch_text(line, "output", pack_default_path(line, campaign, trial));
    Pack pack;
    Bytes text = {0};
    bool standard = false;
    TRY(pack_make(campaign, trial, &backend, line->arena, &pack));
    TRY(pack_write(&pack, &campaign->spec, line->arena, &text));
    TRY(pack_prove(line, path, text, &backend));
    TRY(output_write(path, text.data, text.size, line->arena, &standard));
    if (!standard) pack_print(line, path, &pack, &campaign->spec, text.size);
    return error_none();
}

static Error pack_command(const CommandLine *line)
{
    StoredCampaign campaign;
    int64_t trial = 0;
    interrupt_install(); // an interrupted command leaves no files
    TRY(campaign_open_trial(line, line->arguments[0], &campaign, &trial));
    const Error error = pack_write_file(line, &campaign, trial);
    campaign_close(&campaign);
    return error;
}

static const Switch pack_rows[] = {
    {"output", SWITCH_FILE, "FILE.hop", 0, 0, "the file, also as -o (default: CAMPAIGN_TRIAL.hop; -: standard output)"},
};
static const Switches pack_switches = {pack_rows, sizeof pack_rows / sizeof *pack_rows};

const Command command_pack = {
    .name = "pack",
    .arguments = "CAMPAIGN/TRIAL",
    .doc = "write a trial with all its replicates as one file, which `replay FILE` checks to the bit anywhere",
    .examples = "  hopscotch pack raibert_gains/best\n"
                "  hopscotch pack raibert_gains/41 -o result.hop\n"
                "  hopscotch replay result.hop\n",
    .least = 1,
    .most = 1,
    .switches = {&pack_switches, &switches_backend, &switches_json},
    .run = pack_command,
};
