// The report's head, its tables and its texts. Texts of a spec, a name or a note go through put_markup.
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { REPORT_BEST = 25, REPORT_EVENTS = 100 };

// ---- small pieces ---------------------------------------------------------------------------------------------------

static void report_element(FILE *out, const char *element, const char *attributes, const char *text)
{
    fprintf(out, "<%s%s>", element, attributes);
    put_markup(out, text);
    fprintf(out, "</%s>", element);
}

static void report_row(FILE *out, const char *name, const char *value)
{
    fputs("<tr>", out);
    report_element(out, "th", " scope=\"row\"", name);
    report_element(out, "td", "", value);
    fputs("</tr>\n", out);
}

static void report_fact(FILE *out, const char *name, const char *value, const char *more)
{
    fputs("<div class=\"fact\">", out);
    report_element(out, "dt", "", name);
    fputs("<dd><b>", out);
    put_markup(out, value);
    fputs("</b> ", out);
    report_element(out, "span", "", more);
    fputs("</dd></div>\n", out);
}

// Writes at most `limit` rows of texts as rows of a table. *rows: how many.
static Error report_rows(Cursor *each, int limit, FILE *out, int *rows)
{
    for (*rows = 0; *rows < limit && cursor_next(each); ++*rows) {
        fputs("<tr>", out);
        for (int c = 0; c < cells_count(each); c++) report_element(out, "td", "", cell_text(each, c));
        fputs("</tr>\n", out);
    }
    return cursor_close(each);
}

// ---- the head -------------------------------------------------------------------------------------------------------

// Whether the best trial holds under fresh seeds, or that nobody has looked.
static Error report_verified_fact(const Report *report)
{
    const PlotData *data = report->data;
    const Spec *spec = &report->campaign->spec;
    Verified verified;
    const bool search = search_learns(spec->method) && !spec_several(spec) && !spec->model->by_hand;
    if (data->n_best == 0) return error_none();
    TRY(verified_read(report->campaign, data->best_id[0], report->arena, &verified));
    if (verified.run != NULL)
        report_fact(
            report->out, "verified",
            arena_format(report->arena, "%" PRId64 " of %" PRId64, verified.outcome.succeeded, verified.outcome.n),
            "fresh seeds succeed");
    else if (search)
        report_fact(report->out, "verified", "no",
                    arena_format(report->arena, "hopscotch verify %s", report->campaign->name));
    return error_none();
}

static Error report_facts(const Report *report, const Timings *timings, const char *devices)
{
    const PlotData *data = report->data;
    const Spec *spec = &report->campaign->spec;
    FILE *out = report->out;
    Arena *arena = report->arena;
    const double wall = isfinite(timings->wall) && timings->wall > 0 ? timings->wall : 0;
    const double failed = (double)(data->trials - data->failures[0]);
    fputs("<dl class=\"facts\">\n", out);
    if (spec_several(spec))
        report_fact(out, "objectives", text_count(spec->objective.count).text, "plots of a fitness show the first");
    else if (data->n_best > 0)
        report_fact(out, data->trials > 1 ? "best fitness" : "fitness", plot_short(data->best_fitness[0]).text,
                    arena_format(arena, "trial %" PRId64, data->best_id[0]));
    else if (data->trials > 0)
        report_fact(out, "best fitness", "none", "no trial has one");
    report_fact(out, "trials", text_count(data->trials).text,
                spec->replicates.count > 1 ? arena_format(arena, "of %s replicates", replicates_each(spec).text) : "");
    if (data->trials > 0)
        report_fact(out, "failed", arena_format(arena, "%.3g %%", 100 * failed / (double)data->trials),
                    text_count((int64_t)failed).text);
    TRY(report_verified_fact(report));
    if (wall > 0)
        report_fact(out, "time", text_duration(wall).text,
                    arena_format(arena, "%s trials/s", text_short((double)data->trials / wall).text));
    if (devices[0] != '\0') report_fact(out, "device", devices, "");
    fputs("</dl>\n", out);
    return error_none();
}

// For a campaign without trials: how to continue it.
static void report_hint(const StoredCampaign *campaign, const char *state, FILE *out)
{
    const bool waits = strcmp(state, STORE_WAITING) == 0;
    fputs("<p class=\"none\">No trial is stored yet.", out);
    if (waits || strcmp(state, "interrupted") == 0 || strcmp(state, "killed") == 0) {
        fputs(waits ? " Its trials come from <code>hopscotch ask "
                    : " The campaign continues with <code>hopscotch resume ",
              out);
        put_markup(out, campaign->name);
        fputs("</code>.", out);
    }
    fputs("</p>\n", out);
}

// Tags and notes.
static Error report_remarks(Database *database, FILE *out)
{
    Label label;
    Cursor labels = labels_all(database);
    while (label_next(&labels, &label)) {
        if (label.note) fputs("<p class=\"note\">", out);
        report_element(out, "span", label.note ? "" : " class=\"tag\"", label.text);
        if (label.note) report_element(out, "time", "", label.time);
        fputs(label.note ? "</p>\n" : "\n", out);
    }
    return cursor_close(&labels);
}

Error report_head(const Report *report)
{
    const StoredCampaign *campaign = report->campaign;
    FILE *out = report->out;
    Arena *arena = report->arena;
    const char *devices = "";
    CampaignRow row;
    bool found = false;
    const Spec *spec = &campaign->spec;
    Timings timings;
    TRY(campaign_row_read(campaign->database, arena, &row, &found));
    TRY(batches_devices(campaign->database, arena, &devices));
    TRY(timings_read(campaign->database, 0, &timings));
    fputs("<header>\n<button type=\"button\" id=\"theme\" hidden>Theme</button>\n<p class=\"kicker\">Hopscotch "
          "campaign</p>\n",
          out);
    report_element(out, "h1", "", campaign->name);
    fputs("\n<p class=\"lead\"><span class=\"state\">", out);
    put_markup(out, report->options->state);
    fputs("</span> ", out);
    put_markup(out, arena_format(arena, "model %s, method %s", spec->model->name, spec->method->name));
    if (row.reason[0] != '\0') {
        fputs(" (", out);
        put_markup(out, row.reason);
        fputc(')', out);
    }
    fputs(spec->objective.maximize[spec->objective.count - 1] ? ". Objective: " : ". Minimised: ", out);
    for (int k = 0; k < spec->objective.count; k++) {
        fputs(k == 0 ? "<code>" : "</code>, <code>", out);
        put_markup(out, objective_text(spec, k, arena));
    }
    fputs("</code></p>\n", out);
    TRY(report_remarks(campaign->database, out));
    if (report->options->follow > 0)
        fprintf(out, "<p class=\"note\" data-follow=\"%d\">The run goes on. The page reads itself again.</p>\n",
                report->options->follow);
    TRY(report_facts(report, &timings, devices));
    if (report->data->trials == 0) report_hint(campaign, report->options->state, out);
    fputs("</header>\n", out);
    return error_none();
}

// ---- best trials ----------------------------------------------------------------------------------------------------

// A word, or a number with five digits, whose title is the whole number.
static void report_best_cell(const Cursor *trial, int column, FILE *out)
{
    char shown[32] = "";
    const bool word = cell_kind(trial, column) == COLUMN_TEXT;
    const double value = word ? (double)NAN : cell_real(trial, column);
    if (isfinite(value)) snprintf(shown, sizeof shown, "%.5g", value);
    const Text32 whole = text_number(value);
    if (isfinite(value) && strcmp(whole.text, shown) != 0)
        fprintf(out, "<td title=\"%s\">%s</td>", whole.text, shown);
    else
        report_element(out, "td", "", word ? cell_text(trial, column) : shown);
}

static void report_best_row(const Cursor *trial, int count, int64_t rank, FILE *out)
{
    const int64_t id = cell_integer(trial, 0);
    fprintf(out, "<tr data-trial=\"%" PRId64 "\" tabindex=\"0\"><td>%" PRId64 "</td>", id, rank);
    for (int c = 0; c < count; c++) {
        if (c == 0)
            fprintf(out, "<td>%" PRId64 "</td>", id);
        else
            report_best_cell(trial, c, out);
    }
    fputs("</tr>\n", out);
}

// The front of several objectives: all of it, or trials spread evenly over it.
static Error report_front_rows(const Report *report, const char *const *names, int count)
{
    Front front;
    Database *database = report->campaign->database;
    TRY(front_read_objectives(database, &report->campaign->spec, report->arena, &front));
    const int64_t shown = front.count < REPORT_BEST ? front.count : REPORT_BEST;
    Cursor trials = trials_by_id(database, names, count, report->arena);
    for (int64_t i = 0; i < shown; i++) {
        if (trial_at(&trials, front.id[front_spread(&front, shown, i)]))
            report_best_row(&trials, count, i + 1, report->out);
    }
    front_free(&front);
    return cursor_close(&trials);
}

static Error report_best_rows(const Report *report, const char *const *names, int count)
{
    Cursor trials = trials_best(report->campaign, names, count, REPORT_BEST, report->arena);
    for (int64_t rank = 1; cursor_next(&trials); rank++) report_best_row(&trials, count, rank, report->out);
    return cursor_close(&trials);
}

// The text under a column's name: its unit, or the expression of one of several objectives.
static const char *report_unit(const Spec *spec, const char *name, char *text, size_t size, Arena *arena)
{
    const Configured *configured = &spec->configured;
    for (int k = 0; spec_several(spec) && k < spec->objective.count; k++) {
        if (strcmp(rows_objective_name(k), name) == 0) return objective_text(spec, k, arena);
    }
    for (int p = 0; p < configured->n_parameters; p++) {
        if (strcmp(configured->parameters[p].name, name) == 0)
            return plot_unit(configured->parameters[p].unit, text, size);
    }
    for (int m = 0; m < configured->n_metrics; m++) {
        if (strcmp(configured->metrics[m].name, name) == 0) return plot_unit(configured->metrics[m].unit, text, size);
    }
    return "";
}

// The main columns of a trial, without those that are empty here.
static int report_best_columns(const Report *report, const char **shown)
{
    const char *const *names;
    const Spec *spec = &report->campaign->spec;
    const int n_names = trial_columns_main(spec, report->arena, &names);
    int count = 0;
    for (int c = 0; c < n_names; c++) {
        const bool empty = spec_several(spec) && strcmp(names[c], "fitness") == 0;
        if (strcmp(names[c], "failure") != 0 && !empty) shown[count++] = names[c];
    }
    return count;
}

// The recommended candidate under fresh seeds, and the best of the search.
static Error report_recommended(const Report *report)
{
    Recommendation recommendation;
    TRY(recommendation_read(report->campaign, report->arena, &recommendation));
    if (recommendation.best < 0) return error_none();
    const Recommended *best = &recommendation.candidates[recommendation.best], *first = recommendation.candidates;
    FILE *out = report->out;
    fprintf(out, "<p>The best of a noisy search is also the luckiest. Under %" PRId64 " fresh seeds, of %d candidates ",
            recommendation.seeds, recommendation.count);
    if (best->trial >= 0)
        fprintf(out, "trial %" PRId64 " is the best: ", best->trial);
    else
        fputs("the mean of the search is the best: ", out);
    fprintf(out, "<b>%.5g</b>", best->fresh);
    if (!isnan(best->interval.low)) fprintf(out, " (95 %%: %.5g to %.5g)", best->interval.low, best->interval.high);
    if (best->trial >= 0) fprintf(out, "; %.5g in the search", best->fitness);
    if (recommendation.best > 0)
        fprintf(out, ". Trial %" PRId64 ", the best of the search, has %.5g, and %.5g in the search", first->trial,
                first->fresh, first->fitness);
    fputs(".", out);
    if (!isnan(recommendation.probability))
        fprintf(out, " It is the best of the candidates with a probability of %s %.2f.",
                recommendation.probability > 0.995 ? "more than" : "about",
                recommendation.probability > 0.995 ? 0.99 : recommendation.probability);
    fputs("</p>\n", out);
    return error_none();
}

// What verify found out about the best trial.
static Error report_verdict(const Report *report)
{
    Verified verified;
    const int64_t best = plot_shown_trial(report->data);
    TRY(verified_read(report->campaign, best, report->arena, &verified));
    if (verified.run == NULL) return error_none();
    fprintf(report->out, "<p>Trial %" PRId64 " was verified: <b>%s</b> (<code>", best,
            verified_text(&verified, report->arena));
    put_markup(report->out, verified.run);
    fputs("</code>).</p>\n", report->out);
    return error_none();
}

Error report_best(const Report *report)
{
    const Spec *spec = &report->campaign->spec;
    FILE *out = report->out;
    const char **shown = ARENA_NEW(report->arena, const char *, 2000);
    const int count = report_best_columns(report, shown);
    TRY(report_verdict(report));
    if (report->data->n_best > 1)
        fprintf(out,
                "<p class=\"caption\">%sClick on a column's head to sort. The plots mark the trial under the "
                "pointer.</p>\n",
                spec_several(spec) ? "No other trial beats these in all objectives at once. " : "");
    fputs("<div class=\"scroll\"><table class=\"sortable\">\n<thead><tr><th scope=\"col\">rank<small></small></th>",
          out);
    for (int c = 0; c < count; c++) {
        char unit[64];
        fputs("<th scope=\"col\">", out);
        put_markup(out, c == 0 ? "trial" : shown[c]);
        report_element(out, "small", "", report_unit(spec, shown[c], unit, sizeof unit, report->arena));
        fputs("</th>", out);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
    TRY(spec_several(spec) ? report_front_rows(report, shown, count) : report_best_rows(report, shown, count));
    fputs("</tbody></table></div>\n", out);
    TRY(report_recommended(report));
    if (spec->model->by_hand) return error_none();
    fputs("<p>To simulate a trial again, to the same bits: <code>hopscotch replay ", out);
    put_markup(out, report->campaign->name);
    fprintf(out, "/%" PRId64 "</code></p>\n", plot_shown_trial(report->data));
    return error_none();
}

// ---- spec and provenance --------------------------------------------------------------------------------------------

static void report_details(FILE *out, const char *summary, const char *text, bool open)
{
    fprintf(out, "<details%s><summary>%s</summary><pre tabindex=\"0\"><code>", open ? " open" : "", summary);
    put_markup(out, text);
    fputs("</code></pre></details>\n", out);
}

Error report_spec(const Report *report)
{
    CampaignRow row;
    bool found = false;
    TRY(campaign_row_read(report->campaign->database, report->arena, &row, &found));
    report_details(report->out, "as it was given", row.given, true);
    report_details(report->out, "with every default", report->campaign->spec.resolved, false);
    return error_none();
}

static Error report_events(Database *database, FILE *out)
{
    int rows;
    fputs("<details><summary>events</summary><div class=\"scroll\"><table><thead><tr><th>time</th><th>kind</th><th>text"
          "</th></tr></thead><tbody>\n",
          out);
    Cursor events = store_events(database);
    TRY(report_rows(&events, REPORT_EVENTS, out, &rows));
    fputs("</tbody></table></div>", out);
    if (rows == 0) fputs("<p class=\"none\">none</p>", out);
    if (rows == REPORT_EVENTS) fprintf(out, "<p class=\"none\">the first %d; the others are in log.jsonl</p>", rows);
    fputs("</details>\n", out);
    return error_none();
}

Error report_provenance(const Report *report)
{
    CampaignRow row;
    bool found = false;
    int count;
    Database *database = report->campaign->database;
    FILE *out = report->out;
    TRY(campaign_row_read(database, report->arena, &row, &found));
    const char *const facts[][2] = {{"experiment", row.experiment},
                                    {"created", row.created},
                                    {"finished", row.finished},
                                    {"program version", row.program_version},
                                    {"commit", row.commit},
                                    {"numerics version", row.numerics_version},
                                    {"compiler", row.compiler},
                                    {"host", row.host},
                                    {"seed", row.seed},
                                    {"spec hash", row.hash}};
    fputs("<table class=\"names\"><tbody>\n", out);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) report_row(out, facts[i][0], facts[i][1]);
    report_row(out, "report written by", "hopscotch " HOPSCOTCH_VERSION);
    fputs("</tbody></table>\n<div class=\"scroll\"><table><thead><tr><th>device</th><th>driver or instructions</th><th>"
          "batches</th><th>trials</th><th>replicates</th><th>kernel seconds</th></tr></thead><tbody>\n",
          out);
    Cursor devices = batches_by_device(database);
    TRY(report_rows(&devices, REPORT_EVENTS, out, &count));
    fputs("</tbody></table></div>\n", out);
    return report_events(database, out);
}
