// hopscotch ask: the next trials of an experiment that people run.
#include "command.h"

#include <string.h>
#include <time.h>

enum { ASK_TRIALS = 8 };

// The campaign that the argument names, or the one of a spec's file.
static RunOptions ask_options(const CommandLine *line, const Spec *spec, const CampaignLocation *location)
{
    return (RunOptions){.results = location != NULL ? location->results : line->results,
                        .name = location != NULL ? location->name : command_campaign_name(line, spec),
                        .resume_only = location != NULL,
                        .shared_fs = switch_given(line, "shared-fs"),
                        .out = line->out,
                        .messages = line->messages};
}

// All parameters, searched or not: each is to be set. CSV has room for the results, and exact numbers: it is filled in
// and told.
static Error ask_print(const CommandLine *line, const Spec *spec, const Asked *asked)
{
    const Configured *configured = &spec->configured;
    const TableFormat format = command_format(line);
    const bool several = spec->replicates.count > 1, filled_in = format == TABLE_CSV;
    const int named = configured_named(configured), metrics = filled_in ? configured->n_metrics : 0;
    const int columns = 1 + several + named + metrics + filled_in;
    const char **names = ARENA_NEW(line->arena, const char *, columns);
    int n = 0;
    names[n++] = "trial";
    if (several) names[n++] = "replicate";
    for (int i = 0; i < named; i++) {
        const Parameter *row = &configured->parameters[i];
        const bool unit = format == TABLE_TEXT && strcmp(row->unit, "1") != 0;
        names[n++] = unit ? arena_format(line->arena, "%s [%s]", row->name, row->unit) : row->name;
    }
    for (int m = 0; m < metrics; m++) names[n++] = configured->metrics[m].name;
    if (filled_in) names[n++] = "failure";
    Table *table = table_start(line->out, format, columns, names);
    for (int64_t i = 0; i < asked->count && table != NULL; i++) {
        const ToRun *lane = &asked->lanes[i];
        table_integer(table, lane->trial);
        if (several) table_integer(table, lane->replicate);
        for (int p = 0; p < named; p++) {
            if (format == TABLE_TEXT && configured_choices(configured, p) == NULL)
                table_number(table, lane->parameter[p]);
            else
                table_value(table, configured_choices(configured, p), lane->parameter[p]);
        }
        for (int m = 0; m < metrics + filled_in; m++) table_text(table, NULL);
    }
    return table_finish(table);
}

static void ask_report(const CommandLine *line, const Asked *asked, const Awaited *awaited, const RunOptions *options,
                       bool learns)
{
    FILE *out = line->messages;
    const char *name = options->name;
    const char *waits = awaited_text(awaited, line->arena);
    const CommandText command = command_again(options->results, "ask %.128s --again", name);
    const char *again = command.text;
    if (switch_integer(line, "trials", ASK_TRIALS) == 0)
        fprintf(out, "%s: %s trial%s asked for%s%s\n", name, text_count(awaited->asked).text,
                awaited->asked == 1 ? " was" : "s were", awaited->open > 0 ? "; awaited: " : "",
                awaited->open > 0 ? waits : "");
    else if (awaited->open > 0 && learns)
        fprintf(out, "%s waits for results of %s: further trials depend on them; `%s` gives these again\n", name, waits,
                again);
    else if (awaited->open > 0)
        fprintf(out, "%s has no further trials; results of %s are missing; `%s` gives these again\n", name, waits,
                again);
    else
        fprintf(out, "%s is %s: %s trial%s%s%s\n", name, asked->state, text_count(awaited->asked).text,
                awaited->asked == 1 ? "" : "s", asked->reason != NULL ? "; " : "",
                asked->reason != NULL ? text_visible(asked->reason, line->arena) : "");
}

// The time that lies --older before now, as the database writes times.
static Error ask_before(const CommandLine *line, const char **before)
{
    const int64_t minutes = switch_integer(line, "older", 0);
    const time_t then = time(NULL) - (time_t)(60 * minutes);
    struct tm utc;
    char text[32];
    *before = NULL;
    if (!switch_given(line, "older")) return error_none();
    gmtime_r(&then, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    *before = arena_copy(line->arena, text);
    return error_none();
}

static Error ask_from(const CommandLine *line, ByHand *hand, const RunOptions *options)
{
    Asked asked;
    Awaited awaited;
    AskRequest request = {.trials = switch_integer(line, "trials", ASK_TRIALS), .again = switch_given(line, "again")};
    TRY(ask_before(line, &request.before));
    TRY(by_hand_ask(hand, &request, &asked));
    TRY(by_hand_awaited(hand, &awaited));
    if (asked.count == 0) ask_report(line, &asked, &awaited, options, search_learns(by_hand_spec(hand)->method));
    if (asked.count == 0 && command_format(line) == TABLE_TEXT) return error_none();
    return ask_print(line, by_hand_spec(hand), &asked);
}

static Error ask_start(const CommandLine *line, Spec *spec)
{
    const char *taken = NULL;
    TRY(command_taken(line, spec, command_campaign_name(line, spec), &taken));
    if (taken != NULL) {
        const char *last = arena_format(line->arena, "search.%s.taken=%s", spec->method->name, taken);
        TRY(command_spec_with(line, line->arguments[0], &(Overrides){.count = 0}, last, spec));
    }
    return explain_warn(spec, line->arena, line->messages);
}

static Error ask_run(const CommandLine *line)
{
    Spec spec;
    ByHand *hand = NULL;
    CampaignLocation location;
    const char *text = line->arguments[0];
    const bool file = command_is_file(text, line->arena);
    if (!file) TRY(campaign_find(line, text, &location));
    TRY(command_spec(line, text, &spec));
    if (file) TRY(ask_start(line, &spec));
    const RunOptions options = ask_options(line, &spec, file ? NULL : &location);
    TRY(by_hand_open(&spec, &options, line->arena, &hand));
    return by_hand_close(hand, ask_from(line, hand, &options));
}

static const Switch ask_rows[] = {
    {"trials", SWITCH_INTEGER, "N", 0, 100000,
     "how many trials, at most; also -n (default 8; 0: only make the campaign)"},
    {"again", SWITCH_FLAG, NULL, 0, 0, "first give those again that were asked for and not told"},
    {"older", SWITCH_INTEGER, "MINUTES", 0, 1 << 30,
     "the same, only of those that were asked for longer ago: others may still be running"},
    {"name", SWITCH_TEXT, "NAME", 0, 0, "name of the campaign (default: the experiment's)"},
};
static const Switches ask_switches = {ask_rows, sizeof ask_rows / sizeof *ask_rows};

const Command command_ask = {
    .name = "ask",
    .arguments = "SPEC|CAMPAIGN",
    .doc = "the next trials of an experiment that you run yourself (`model: manual`); makes the campaign if it is new",
    .examples = "  hopscotch ask experiments/manual_gripper.yaml\n"
                "  hopscotch ask manual_gripper -n 4 --format csv > todo.csv\n"
                "  hopscotch ask manual_gripper --again\n",
    .least = 1,
    .most = 1,
    .switches = {&ask_switches, &switches_format, &switches_spec, &switches_shared_fs},
    .run = ask_run,
};
