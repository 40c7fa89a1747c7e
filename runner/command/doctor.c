// hopscotch doctor: prints what the checks of a campaign found; with --repair, repairs it.
#include "command.h"

#include <string.h>

// ---- which campaign -------------------------------------------------------------------------------------------------

// A folder with resolved.yaml is a campaign here even if its database is missing.
static Error doctor_location(const CommandLine *line, CampaignLocation *location)
{
    const char *name = line->arguments[0], *folder = NULL;
    const Error error = campaign_find(line, name, location);
    if (error.kind == OK || campaign_folder(line->results, name, line->arena, &folder).kind != OK) return error;
    if (!file_exists(arena_format(line->arena, "%s/resolved.yaml", folder))) return error;
    *location = (CampaignLocation){.results = line->results, .name = name, .folder = folder};
    return error_none();
}

// ---- printing -------------------------------------------------------------------------------------------------------

static void doctor_print(const Doctor *doctor, FILE *out)
{
    for (int i = 0; i < doctor->n_lines; i++) {
        const DoctorLine *row = &doctor->lines[i];
        fprintf(out, "%-8s %-10s ", row->finding ? "FINDING" : "ok", row->check);
        put_visible(out, row->text); // it may hold text of the database
        fputc('\n', out);
    }
}

static void doctor_print_json(const Doctor *doctor, FILE *out)
{
    Json json;
    json_start(&json, out, true);
    json_object(&json, NULL);
    json_text(&json, "campaign", doctor->location->name);
    json_boolean(&json, "healthy", doctor->findings == 0);
    json_integer(&json, "findings", doctor->findings);
    json_array(&json, "checks");
    for (int i = 0; i < doctor->n_lines; i++) {
        json_object(&json, NULL);
        json_text(&json, "check", doctor->lines[i].check);
        json_boolean(&json, "finding", doctor->lines[i].finding);
        json_text(&json, "text", doctor->lines[i].text);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

static Error doctor_verdict(const Doctor *doctor, bool repaired)
{
    const char *name = doctor->location->name;
    if (doctor->findings == 0) return error_none();
    if (repaired)
        return error_make(ERROR_MACHINE, "%.128s: %d finding%s could not be repaired; see the list above", name,
                          doctor->findings, doctor->findings == 1 ? "" : "s");
    return error_make(ERROR_MACHINE, "%.128s: %d finding%s; `%s` repairs what can be repaired", name, doctor->findings,
                      doctor->findings == 1 ? "" : "s",
                      command_again(doctor->location->results, "doctor %.128s --repair", name).text);
}

static Error doctor_run(const CommandLine *line)
{
    CampaignLocation location;
    Doctor doctor;
    const bool repair = switch_given(line, "repair");
    TRY(doctor_location(line, &location));
    TRY(doctor_examine(&location, line->arena, &doctor));
    if (repair && doctor.findings > 0) {
        if (!switch_given(line, "json")) doctor_print(&doctor, line->out);
        const BackendOptions backend = command_backend(line, "auto");
        interrupt_install();
        TRY(doctor_repair(&doctor, &backend, switch_given(line, "shared-fs"), line->messages));
        TRY(doctor_examine(&location, line->arena, &doctor));
    }
    if (switch_given(line, "json"))
        doctor_print_json(&doctor, line->out);
    else
        doctor_print(&doctor, line->out);
    return doctor_verdict(&doctor, repair);
}

static const Switch doctor_rows[] = {
    {"repair", SWITCH_FLAG, NULL, 0, 0, "repair the findings; lost trials are simulated again, with the same bits"},
};
static const Switches doctor_switches = {doctor_rows, sizeof doctor_rows / sizeof *doctor_rows};

const Command command_doctor = {
    .name = "doctor",
    .arguments = "CAMPAIGN",
    .doc = "check a campaign for damage (exit code 0: none found, 3: damaged); --repair repairs it",
    .examples = "  hopscotch doctor raibert_gains\n"
                "  hopscotch doctor raibert_gains --repair\n",
    .least = 1,
    .most = 1,
    .switches = {&doctor_switches, &switches_shared_fs, &switches_backend, &switches_json},
    .run = doctor_run,
};
