// hopscotch gather: joins the parts of a campaign that are done. When it holds all of them, it is ended as a run ends:
// arrays that are chosen by rank are recorded, and its index is built.
#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// ---- the parts as a table -------------------------------------------------------------------------------------------

static const char *parts_state(const Parts *parts, const Gathered *gathered, int index)
{
    return gathered->has[index + 1] ? "joined" : parts->part[index].state;
}

static const char *parts_note(const PartReport *part, Arena *arena)
{
    if (!part->there) return "";
    if (part->error[0] != '\0') return text_visible(part->error, arena);
    return text_visible(part->status.holder[0] != '\0' ? part->status.holder : part->status.reason, arena);
}

Error parts_print(const Parts *parts, const Gathered *gathered, FILE *out, Arena *arena)
{
    static const char *const columns[] = {"part", "state", "trials", "of", "failures", "best", "note"};
    Table *table = table_start(out, TABLE_TEXT, (int)(sizeof columns / sizeof *columns), columns);
    for (int i = 0; table != NULL && i < parts->count; i++) {
        const PartReport *part = &parts->part[i];
        const bool known = part->there && part->error[0] == '\0';
        table_text(table, part->location.name);
        table_text(table, text_visible(parts_state(parts, gathered, i), arena));
        for (int k = 0; k < 3; k++) {
            const int64_t number = k == 0 ? part->status.trials : k == 1 ? part->status.total : part->status.failures;
            if (known && (k != 1 || number > 0))
                table_integer(table, number);
            else
                table_text(table, "");
        }
        table_number(table, known ? part->status.best : (double)NAN);
        table_text(table, parts_note(part, arena));
    }
    return table_finish(table);
}

void parts_json(const Parts *parts, const Gathered *gathered, Json *json)
{
    json_array(json, "parts");
    for (int i = 0; i < parts->count; i++) {
        const PartReport *part = &parts->part[i];
        const bool known = part->there && part->error[0] == '\0';
        json_object(json, NULL);
        json_text(json, "part", part->location.name);
        json_text(json, "state", part->state);
        json_boolean(json, "joined", gathered->has[i + 1]);
        json_integer(json, "trials", known ? part->status.trials : 0);
        json_number(json, "trials_total", known && part->status.total > 0 ? (double)part->status.total : (double)NAN);
        json_text(json, "holder", known && part->status.holder[0] != '\0' ? part->status.holder : NULL);
        json_close(json, '}');
    }
    json_close(json, ']');
}

// ---- the command ----------------------------------------------------------------------------------------------------

// When all parts are joined, their folders may be gone.
static Error gather_without_parts(const CommandLine *line, const char *name)
{
    StoredCampaign campaign;
    Gathered gathered = {.count = 0};
    const char *path = arena_format(line->arena, "%s/%s/" CAMPAIGN_DATABASE, line->results, name);
    if (file_exists(path)) {
        TRY(campaign_open(line->results, name, line->arena, &campaign));
        const Error error = gathered_read(campaign.database, &gathered);
        campaign_close(&campaign);
        TRY(error);
    }
    if (gathered.of > 0 && gathered.count == gathered.of) {
        fprintf(line->out, "%s: all %d parts are joined\n", name, gathered.of);
        return error_none();
    }
    return error_make(ERROR_USER, "there are no parts of %.128s under %.200s: `%s run SPEC --part 1/4` runs the first",
                      name, line->results, command_program(line->arena));
}

static Error gather_unfinished(const CommandLine *line, const char *name, const Parts *parts,
                               const GatherReport *report)
{
    return error_make(ERROR_UNFINISHED, "%.100s: joined %d of %d parts (%s trials); missing: %s", name,
                      report->gathered.count, parts->count, text_count(report->trials).text,
                      parts_without(parts, &report->gathered, line->arena));
}

// As the end of a run on one machine.
static Error gather_end(const CommandLine *line, const char *name, RunOptions *options, const GatherReport *report)
{
    RunSummary summary = {.best_fitness = (double)NAN};
    options->name = name;
    options->resume_only = true;
    options->messages = NULL;
    TRY(doctor_mend(options, name, line->arena));
    TRY(campaign_run(report->spec, options, line->arena, &summary));
    const CampaignLocation location = {.results = options->results,
                                       .name = name,
                                       .folder = arena_format(line->arena, "%s/%s", options->results, name)};
    options->messages = line->messages;
    if (!report->spec->model->runs_program) TRY(recommend_run(&location, options, line->arena));
    fprintf(line->out, "%s: %d parts, %s trials, %s failures; %s\n", name, report->gathered.of,
            text_count(summary.trials_done).text, text_count(summary.failures).text, summary.state);
    return error_none();
}

static Error gather_run(const CommandLine *line)
{
    Parts parts;
    GatherReport *report = ARENA_NEW(line->arena, GatherReport, 1);
    const char *name = line->arguments[0];
    RunOptions options = {.results = line->results,
                          .backend = command_backend(line, "auto"),
                          .progress = (ProgressStyle)switch_choice(line, "progress", PROGRESS_AUTO),
                          .shared_fs = switch_given(line, "shared-fs"),
                          .accept_version = switch_given(line, "accept-version"),
                          .out = line->messages,
                          .messages = line->messages};
    TRY(parts_find(line->results, name, line->arena, &parts));
    if (parts.count == 0) return gather_without_parts(line, name);
    interrupt_install();
    TRY(gather_parts(&parts, name, &options, line->arena, report));
    if (interrupt_requested() != 0)
        return error_make(ERROR_UNFINISHED, "%.100s: %s; %d of %d parts are joined; run the same command to continue",
                          name, interrupt_words(), report->gathered.count, parts.count);
    if (report->gathered.count < parts.count && report->joined > 0)
        catalogue_note(line->results, switch_given(line, "shared-fs"), name, line->arena);
    if (report->gathered.count < parts.count) return gather_unfinished(line, name, &parts, report);
    return gather_end(line, name, &options, report);
}

static const Switch gather_rows[] = {
    {"accept-version", SWITCH_FLAG, NULL, 0, 0,
     "join parts computed by different versions of the program (`model: command`)"},
};
static const Switches gather_switches = {gather_rows, sizeof gather_rows / sizeof *gather_rows};

const Command command_gather = {
    .name = "gather",
    .arguments = "CAMPAIGN",
    .doc = "join the finished parts of a campaign (run --part); exit code 75 until all are joined",
    .examples = "  hopscotch gather raibert_gains\n"
                "  until hopscotch gather raibert_gains; do sleep 60; done\n",
    .least = 1,
    .most = 1,
    .switches = {&gather_switches, &switches_campaign, &switches_backend},
    .run = gather_run,
};
