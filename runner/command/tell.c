// hopscotch tell: results of trials that people ran.
#include "command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- what is checked against the campaign ---------------------------------------------------------------------------

// A line that repeats the parameters must have those of the trial: else it is another trial's result. Spreadsheets
// round.
static Error tell_check_parameters(ByHand *hand, const ResultLine *result, Diagnostics *diagnostics)
{
    const double rounded = 1e-6;
    const Configured *configured = &by_hand_spec(hand)->configured;
    const double *parameter = NULL;
    TRY(by_hand_parameters(hand, result->trial, &parameter));
    for (int i = 0; parameter != NULL && i < configured_named(configured); i++) {
        const double given = result->parameter[i], own = parameter[i];
        if (isnan(given) || fabs(given - own) <= rounded * fmax(fabs(given), fabs(own))) continue;
        const char *choices = configured_choices(configured, i);
        diagnose(diagnostics, result->at,
                 "trial %lld has %s = %s, and this line says %s: is it another trial's result?",
                 (long long)result->trial, configured->parameters[i].name, value_text(choices, own).text,
                 value_text(choices, given).text);
        break;
    }
    return error_none();
}

static Error tell_check_line(const CommandLine *line, ByHand *hand, const ResultLine *result, Diagnostics *diagnostics)
{
    ToldBefore before;
    const char *stored = "";
    const Told told = {result->trial, result->replicate, result->failure, result->metric};
    TRY(by_hand_compare(hand, &told, &before, &stored));
    if (before == TOLD_UNKNOWN) {
        diagnose(diagnostics, result->at, "trial %lld was not asked for: `ask` gives the trials to run",
                 (long long)result->trial);
        return error_none();
    }
    if (before == TOLD_OTHERS && !switch_given(line, "replace"))
        diagnose(diagnostics, result->at, "trial %lld was told with other values (%.200s): --replace corrects it",
                 (long long)result->trial, stored);
    return tell_check_parameters(hand, result, diagnostics);
}

// ---- what was stored ------------------------------------------------------------------------------------------------

static void tell_report_same(FILE *out, int64_t same)
{
    if (same > 0)
        fprintf(out, "%s result%s told before, with the same values\n", text_count(same).text,
                same == 1 ? " was" : "s were");
}

static Error tell_report(const CommandLine *line, ByHand *hand, const TellSummary *summary, const ResultLines *lines,
                         const RunOptions *options)
{
    FILE *out = line->out;
    Awaited awaited;
    TRY(by_hand_awaited(hand, &awaited));
    fprintf(out, "%s: %s result%s stored", options->name, text_count(summary->stored + summary->corrected).text,
            summary->stored + summary->corrected == 1 ? "" : "s");
    if (summary->corrected > 0) fprintf(out, ", %s of them corrected", text_count(summary->corrected).text);
    if (by_hand_spec(hand)->replicates.count > 1)
        fprintf(out, "; %s trial%s complete by them", text_count(summary->complete).text,
                summary->complete == 1 ? " is" : "s are");
    fputc('\n', out);
    tell_report_same(out, summary->same);
    if (lines->empty > 0)
        fprintf(out, "%s left out: %s no results\n",
                lines->empty == 1 ? "1 line was"
                                  : arena_format(line->arena, "%s lines were", text_count(lines->empty).text),
                lines->empty == 1 ? "it has" : "they have");
    if (summary->learned > 0)
        fprintf(
            out,
            "the search learned from %s of the corrected trials before: it keeps what it learned, and trials that it "
            "gave stay as they are\n",
            text_count(summary->learned).text);
    if (awaited.open > 0)
        fprintf(out, "results of %s are still awaited\n", awaited_text(&awaited, line->arena));
    else if (strcmp(summary->state, STORE_WAITING) == 0)
        fprintf(out, "`%s` gives the next trials\n", command_again(options->results, "ask %.128s", options->name).text);
    else
        fprintf(out, "%s is %s%s%s; `%s` shows the best\n", options->name, summary->state,
                summary->reason != NULL ? ": " : "",
                summary->reason != NULL ? text_visible(summary->reason, line->arena) : "",
                command_again(options->results, "best %.128s", options->name).text);
    return error_none();
}

// ---- the command ----------------------------------------------------------------------------------------------------

static Error tell_summary(const CommandLine *line, Diagnostics *diagnostics)
{
    const int errors = diagnostics_errors(diagnostics);
    diagnostics_print(diagnostics, line->messages, terminal_colour(line->messages));
    return errors == 0 ? error_none()
                       : error_make(ERROR_USER, "%d error%s: nothing was stored", errors, errors == 1 ? "" : "s");
}

static Error tell_store(const CommandLine *line, ByHand *hand, const ResultLines *lines, const RunOptions *options)
{
    TellSummary summary;
    Diagnostics *diagnostics = diagnostics_new(line->arena);
    Told *told = ARENA_NEW(line->arena, Told, lines->count + 1);
    for (int64_t i = 0; i < lines->count; i++) {
        const ResultLine *at = &lines->lines[i];
        TRY(tell_check_line(line, hand, at, diagnostics));
        told[i] = (Told){at->trial, at->replicate, at->failure, at->metric};
    }
    TRY(tell_summary(line, diagnostics));
    TRY(by_hand_tell(hand, told, lines->count, &summary));
    return tell_report(line, hand, &summary, lines, options);
}

// NAME/12 and words; or NAME and a file.
static Error tell_read(const CommandLine *line, const Spec *spec, int64_t trial, ResultLines *lines)
{
    Diagnostics *diagnostics = diagnostics_new(line->arena);
    Error error = error_none();
    if (trial < 0 && !file_exists(line->arguments[1]))
        return error_make(ERROR_USER, "there is no file %.200s", line->arguments[1]);
    if (trial >= 0)
        results_read_words(spec, trial, line->arguments + 1, line->n_arguments - 1, line->arena, diagnostics, lines);
    else
        error = results_read(spec, line->arguments[1], line->arena, diagnostics, lines);
    if (error.kind != OK && diagnostics_errors(diagnostics) == 0) return error;
    if (lines->empty > 0 && switch_given(line, "strict"))
        diagnose(diagnostics, lines->empty_at, "there is no result here: give all metrics, or a failure");
    TRY(tell_summary(line, diagnostics));
    if (trial >= 0 && lines->count == 0)
        return error_make(ERROR_USER, "there is no result of trial %lld: give all metrics, or a failure",
                          (long long)trial);
    return error_none();
}

// Splits "NAME/12"; the whole text is a name if it is a campaign's, or has no number behind a slash.
static Error tell_find(const CommandLine *line, CampaignLocation *location, int64_t *trial)
{
    char *text = arena_copy(line->arena, line->arguments[0]), *slash = strrchr(text, '/');
    const bool number = slash != NULL && slash[1] != '\0' && slash[1 + strspn(slash + 1, "0123456789")] == '\0';
    *trial = -1;
    if (number && strlen(slash + 1) < 16) {
        *trial = strtoll(slash + 1, NULL, 10);
        *slash = '\0';
    }
    if (*trial < 0 && slash != NULL && campaign_find(line, text, location).kind != OK) *slash = '\0'; // "NAME/x"
    if (*trial < 0 && line->n_arguments > 2)
        return error_make(ERROR_USAGE, "tell takes one file; results of a single trial go to CAMPAIGN/TRIAL: %s",
                          command_again(NULL, "tell %.60s/12 %.60s", text, line->arguments[1]).text);
    if (*trial < 0 && strchr(line->arguments[1], '=') != NULL && !file_exists(line->arguments[1]))
        return error_make(ERROR_USAGE, "results of a single trial go to CAMPAIGN/TRIAL: %s",
                          command_again(NULL, "tell %.60s/12 %.60s", text, line->arguments[1]).text);
    return campaign_find(line, text, location);
}

static Error tell_run(const CommandLine *line)
{
    Spec spec;
    ByHand *hand = NULL;
    StoredText text;
    ResultLines lines;
    CampaignLocation location;
    int64_t trial = -1;
    TRY(tell_find(line, &location, &trial));
    TRY(campaign_text(&location, line->arena, &text));
    if (text.resolved == NULL)
        return error_make(ERROR_USER, "%.128s has no trials yet: `ask` gives them", location.name);
    TRY(command_kept_spec(line, &location, &text, &(Overrides){.count = 0}, NULL, &spec));
    const RunOptions options = {.results = location.results,
                                .name = location.name,
                                .resume_only = true,
                                .shared_fs = switch_given(line, "shared-fs"),
                                .out = line->out,
                                .messages = line->messages};
    TRY(by_hand_check(&spec));
    TRY(tell_read(line, &spec, trial, &lines));
    TRY(by_hand_open(&spec, &options, line->arena, &hand));
    return by_hand_close(hand, tell_store(line, hand, &lines, &options));
}

static const Switch tell_rows[] = {
    {"replace", SWITCH_FLAG, NULL, 0, 0, "correct results that were told before; the old ones are kept as well"},
    {"strict", SWITCH_FLAG, NULL, 0, 0, "a line without a result is an error (default: it is left out)"},
};
static const Switches tell_switches = {tell_rows, sizeof tell_rows / sizeof *tell_rows};

enum { TELL_WORDS_MOST = 2000 };
const Command command_tell = {
    .name = "tell",
    .arguments = "CAMPAIGN FILE | CAMPAIGN/TRIAL NAME=VALUE...",
    .doc = "store results of trials that `ask` gave, in any order: a table (CSV, JSON or JSON lines), or those of one "
           "trial",
    .examples = "  hopscotch tell manual_gripper done.csv\n"
                "  hopscotch tell manual_gripper/12 slip=0.4 lift_time=2.9\n"
                "  hopscotch tell manual_gripper/13 failure=dropped\n"
                "  hopscotch tell manual_gripper/12 slip=0.5 lift_time=2.9 --replace\n",
    .least = 2,
    .most = TELL_WORDS_MOST,
    .switches = {&tell_switches, &switches_shared_fs},
    .run = tell_run,
};
