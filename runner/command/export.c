// hopscotch export: writes trials, or all recorded arrays, in the formats of export/formats.h.
#include "export/formats.h"

#include <string.h>

#define EXPORT_ROW(name, endings, doc) {#name, SWITCH_FILE, "FILE." endings, 0, 0, doc},
static const Switch export_rows[] = {EXPORT_FORMATS(EXPORT_ROW)};
#undef EXPORT_ROW
static const Switches export_switches = {export_rows, sizeof export_rows / sizeof *export_rows};

// [export_switches.count]
#define EXPORT_ROW(name, endings, doc) &export_##name,
static const ExportFormat *const export_formats[] = {EXPORT_FORMATS(EXPORT_ROW)};
#undef EXPORT_ROW

// "--csv, --jsonl or --npz": the formats, or those of trials alone.
static const char *export_names(bool arrays, const char *last, Arena *arena)
{
    const char *text = "", *before = NULL;
    for (int i = 0; i < export_switches.count; i++) {
        if (export_formats[i]->arrays && !arrays) continue;
        if (before != NULL) text = arena_format(arena, "%s%s--%s", text, *text != '\0' ? ", " : "", before);
        before = export_rows[i].name;
    }
    return arena_format(arena, "%s %s --%s", text, last, before);
}

static Error export_write(const CommandLine *line, int format, const char *path, Export *export)
{
    const ExportFormat *to = export_formats[format];
    Output output;
    if (to->unordered != NULL && !output_takes_any_order(path))
        return error_make(ERROR_USAGE, "--%s %.200s: %s is not written in order; give the name of a regular file",
                          export_rows[format].name, text_visible(path, line->arena), to->unordered);
    if (strcmp(path, "-") != 0) interrupt_install(); // an interrupted export leaves no incomplete file
    TRY(output_open(path, line->arena, &output));
    export->file = output.stream;
    export->path = output.temporary;
    TRY(output_close(&output, to->write(export)));
    if (strcmp(path, "-") != 0)
        fprintf(line->messages, "%s: %s%s\n", text_visible(path, line->arena),
                to->arrays ? "all recorded arrays" : text_count(query_rows(export->query)).text,
                to->arrays ? "" : " trials");
    return error_none();
}

static Error export_campaign(const CommandLine *line, const StoredCampaign *campaign)
{
    Query query;
    Export export = {.campaign = campaign, .arena = line->arena};
    for (int i = 0; i < export_switches.count; i++) {
        const char *path = switch_text(line, export_rows[i].name, NULL);
        if (path == NULL) continue;
        if (!export_formats[i]->arrays && export.query == NULL) {
            TRY(command_report_rows(line, campaign));
            TRY(command_select(line, campaign, 0, "all", &query));
            export.query = &query;
        }
        TRY(export_write(line, i, path, &export));
    }
    return switch_given(line, "crate") ? export_crate(line, campaign) : error_none();
}

static Error export_run(const CommandLine *line)
{
    StoredCampaign campaign;
    const char *format = NULL, *arrays = NULL;
    for (int i = 0; i < export_switches.count; i++) {
        if (!switch_given(line, export_rows[i].name)) continue;
        format = export_rows[i].name;
        if (export_formats[i]->arrays) arrays = format;
    }
    if (switch_given(line, "crate")) format = arrays = "crate";
    if (format == NULL)
        return error_make(ERROR_USAGE, "export needs a format: %s FILE, or --crate FOLDER",
                          export_names(true, "or", line->arena));
    for (int i = 0; i < switches_select.count && arrays != NULL; i++) {
        const char *name = switches_select.rows[i].name;
        if (switch_given(line, name))
            return error_make(ERROR_USAGE,
                              "--%s takes all recorded arrays; --%s chooses trials of %s, in an export without --%s",
                              arrays, name, export_names(false, "and", line->arena), arrays);
    }
    TRY(campaign_open_named(line, line->arguments[0], &campaign));
    const Error error = export_campaign(line, &campaign);
    campaign_close(&campaign);
    return error;
}

const Command command_export = {
    .name = "export",
    .arguments = "CAMPAIGN",
    .doc = "write trials as CSV, JSON lines, NPZ, Parquet or SQLite, trajectories as HDF5, or all of it as an RO-Crate",
    .examples = "  hopscotch export gains --csv gains.csv --where \"failure = 'none'\" --columns id,k_fp,fitness\n"
                "  hopscotch export gains --parquet gains.parquet\n"
                "  hopscotch export gains --npz gains.npz\n"
                "  hopscotch export gains --hdf5 results/gains/campaign.h5\n"
                "  hopscotch export gains --crate gains_crate --license CC-BY-4.0 --author \"Ada Lovelace\"\n",
    .least = 1,
    .most = 1,
    .switches = {&export_switches, &switches_crate, &switches_select},
    .run = export_run,
};
