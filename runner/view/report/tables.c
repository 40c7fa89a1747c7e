// The report's head, its tables and its texts. Everything that a spec, a name or a note says goes through put_markup.
#include "tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { REPORT_BEST = 25, REPORT_EVENTS = 100 };

// ---- small parts ----------------------------------------------------------------------------------------------------

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

// The rows of a statement without values, each as a line of cells.
static Error report_rows(Database *database, const char *sql, int limit, FILE *out, int *rows)
{
    Statement *statement = NULL;
    bool row = false;
    *rows = 0;
    TRY(database_prepare(database, sql, &statement));
    Error error = statement_step(statement, &row);
    for (; error.kind == OK && row && *rows < limit; error = statement_step(statement, &row), ++*rows) {
        fputs("<tr>", out);
        for (int c = 0; c < column_count(statement); c++) report_element(out, "td", "", column_text(statement, c));
        fputs("</tr>\n", out);
    }
    statement_close(statement);
    return error;
}

// ---- the head -------------------------------------------------------------------------------------------------------

// The row of table `campaign`, column by column.
enum {
    REPORT_EXPERIMENT,
    REPORT_STATE,
    REPORT_REASON,
    REPORT_TOTAL,
    REPORT_CREATED,
    REPORT_FINISHED,
    REPORT_PROGRAM,
    REPORT_NUMERICS,
    REPORT_COMPILER,
    REPORT_COMMIT,
    REPORT_HOST,
    REPORT_HASH,
    REPORT_SEED,
    REPORT_GIVEN,
    REPORT_COLUMNS
};

static Error report_read_campaign(const StoredCampaign *campaign, Arena *arena, const char **column)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(campaign->database,
                         "SELECT experiment, state, reason, trials_total, created, finished, program_version, "
                         "numerics_version, compiler, commit_id, host, hash, seed, spec FROM campaign",
                         &statement));
    const Error error = statement_step(statement, &row);
    for (int c = 0; c < REPORT_COLUMNS; c++) column[c] = row ? arena_copy(arena, column_text(statement, c)) : "";
    statement_close(statement);
    return error;
}

static void report_facts(const StoredCampaign *campaign, const PlotData *data, const Timings *timings,
                         const char *devices, FILE *out, Arena *arena)
{
    const Spec *spec = &campaign->spec;
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
                spec->replicates.count > 1 ? arena_format(arena, "of %d replicates", spec->replicates.count) : "");
    if (data->trials > 0)
        report_fact(out, "failed", arena_format(arena, "%.3g %%", 100 * failed / (double)data->trials),
                    text_count((int64_t)failed).text);
    if (wall > 0)
        report_fact(out, "time", text_duration(wall).text,
                    arena_format(arena, "%s trials/s", text_short((double)data->trials / wall).text));
    if (devices[0] != '\0') report_fact(out, "device", devices, "");
    fputs("</dl>\n", out);
}

// Of a campaign without trials: how to go on.
static void report_hint(const StoredCampaign *campaign, const char *state, FILE *out)
{
    fputs("<p class=\"none\">No trial is stored yet.", out);
    if (strcmp(state, "interrupted") == 0) {
        fputs(" The campaign continues with <code>hopscotch resume ", out);
        put_markup(out, campaign->name);
        fputs("</code>.", out);
    }
    fputs("</p>\n", out);
}

// Tags and notes, if there are any.
static Error report_remarks(Database *database, FILE *out)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(database,
                         "SELECT 0, tag, '' FROM tags UNION ALL SELECT 1, text, time FROM notes ORDER BY 1, 3, 2",
                         &statement));
    Error error = statement_step(statement, &row);
    for (; error.kind == OK && row; error = statement_step(statement, &row)) {
        const bool note = column_integer(statement, 0) == 1;
        if (note) fputs("<p class=\"note\">", out);
        report_element(out, "span", note ? "" : " class=\"tag\"", column_text(statement, 1));
        if (note) report_element(out, "time", "", column_text(statement, 2));
        fputs(note ? "</p>\n" : "\n", out);
    }
    statement_close(statement);
    return error;
}

Error report_head(const StoredCampaign *campaign, const PlotData *data, FILE *out, Arena *arena)
{
    const char *column[REPORT_COLUMNS], *devices = "";
    const Spec *spec = &campaign->spec;
    Timings timings;
    TRY(report_read_campaign(campaign, arena, column));
    TRY(store_text(campaign->database, "SELECT coalesce(group_concat(DISTINCT device), '') FROM batches", arena,
                   &devices));
    TRY(timings_read(campaign->database, 0, arena, &timings));
    fputs("<header>\n<button type=\"button\" id=\"theme\" hidden>Theme</button>\n<p class=\"kicker\">Hopscotch "
          "campaign</p>\n",
          out);
    report_element(out, "h1", "", campaign->name);
    fputs("\n<p class=\"lead\"><span class=\"state\">", out);
    put_markup(out, column[REPORT_STATE]);
    fputs("</span> ", out);
    put_markup(out, arena_format(arena, "model %s, method %s", spec->model->name, spec->method->name));
    if (column[REPORT_REASON][0] != '\0') {
        fputs(" (", out);
        put_markup(out, column[REPORT_REASON]);
        fputc(')', out);
    }
    fputs(spec->objective.maximize[spec->objective.count - 1] ? ". Objective: " : ". Minimised: ", out);
    for (int k = 0; k < spec->objective.count; k++) {
        fputs(k == 0 ? "<code>" : "</code>, <code>", out);
        put_markup(out, objective_text(spec, k, arena));
    }
    fputs("</code></p>\n", out);
    TRY(report_remarks(campaign->database, out));
    report_facts(campaign, data, &timings, devices, out, arena);
    if (data->trials == 0) report_hint(campaign, column[REPORT_STATE], out);
    fputs("</header>\n", out);
    return error_none();
}

// ---- best trials ----------------------------------------------------------------------------------------------------

static void report_best_row(Statement *row, int count, int64_t rank, FILE *out)
{
    const int64_t id = column_integer(row, 0);
    fprintf(out, "<tr data-trial=\"%" PRId64 "\" tabindex=\"0\"><td>%" PRId64 "</td>", id, rank);
    for (int c = 0; c < count; c++) {
        const double value = column_real(row, c);
        fputs("<td>", out);
        if (c == 0)
            fprintf(out, "%" PRId64, id);
        else if (isfinite(value))
            fprintf(out, "%.5g", value);
        fputs("</td>", out);
    }
    fputs("</tr>\n", out);
}

// Of several objectives: the front, or as much of it as is shown, spread evenly.
static Error report_front_rows(const StoredCampaign *campaign, const char *const *names, int count, FILE *out,
                               Arena *arena)
{
    Statement *statement = NULL;
    bool row = false;
    Front front;
    const char *columns = trial_columns_sql(names, count, arena);
    TRY(front_read_objectives(campaign->database, &campaign->spec, arena, &front));
    const int64_t shown = front.count < REPORT_BEST ? front.count : REPORT_BEST;
    Error error = database_prepare(campaign->database,
                                   arena_format(arena, "SELECT %s FROM trials WHERE id = ?", columns), &statement);
    for (int64_t i = 0; i < shown && error.kind == OK; i++) {
        bind_integer(statement, 1, front.id[front_spread(&front, shown, i)]);
        error = statement_step(statement, &row);
        if (error.kind == OK && row) report_best_row(statement, count, i + 1, out);
        if (error.kind == OK && row) error = statement_step(statement, &row); // there is only one
    }
    if (statement != NULL) statement_close(statement);
    front_free(&front);
    return error;
}

static Error report_best_rows(const StoredCampaign *campaign, const char *const *names, int count, FILE *out,
                              Arena *arena)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(campaign->database,
                         arena_format(arena, "SELECT %s FROM trials WHERE fitness IS NOT NULL ORDER BY %s LIMIT %d",
                                      trial_columns_sql(names, count, arena), store_best_order(&campaign->spec),
                                      (int)REPORT_BEST),
                         &statement));
    Error error = statement_step(statement, &row);
    for (int64_t rank = 1; error.kind == OK && row; rank++, error = statement_step(statement, &row))
        report_best_row(statement, count, rank, out);
    statement_close(statement);
    return error;
}

// What stands under a column's name: its unit; of one of several objectives what it is.
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

Error report_best_table(const StoredCampaign *campaign, const PlotData *data, FILE *out, Arena *arena)
{
    const char *const *names;
    const char **shown = ARENA_NEW(arena, const char *, 2000);
    const int n_names = trial_columns_main(&campaign->spec, arena, &names);
    int count = 0;
    for (int c = 0; c < n_names; c++) {
        const bool empty = spec_several(&campaign->spec) && strcmp(names[c], "fitness") == 0;
        if (strcmp(names[c], "failure") != 0 && !empty) shown[count++] = names[c];
    }
    if (data->n_best > 1)
        fprintf(out,
                "<p class=\"caption\">%sA click on a head sorts. The plots mark the trial under the "
                "pointer.</p>\n",
                spec_several(&campaign->spec) ? "Trials that no other one beats in all objectives at once. " : "");
    fputs("<div class=\"scroll\"><table class=\"sortable\">\n<thead><tr><th scope=\"col\">rank<small></small></th>",
          out);
    for (int c = 0; c < count; c++) {
        char unit[64];
        fputs("<th scope=\"col\">", out);
        put_markup(out, c == 0 ? "trial" : shown[c]);
        fputs("<small>", out);
        put_markup(out, report_unit(&campaign->spec, shown[c], unit, sizeof unit, arena));
        fputs("</small></th>", out);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
    TRY(spec_several(&campaign->spec) ? report_front_rows(campaign, shown, count, out, arena)
                                      : report_best_rows(campaign, shown, count, out, arena));
    fputs("</tbody></table></div>\n<p>Simulates a trial again, to the bit: <code>hopscotch replay ", out);
    put_markup(out, campaign->name);
    fprintf(out, "/%" PRId64 "</code></p>\n", plot_shown_trial(data));
    return error_none();
}

// ---- spec and provenance --------------------------------------------------------------------------------------------

static void report_details(FILE *out, const char *summary, const char *text, bool open)
{
    fprintf(out, "<details%s><summary>%s</summary><pre tabindex=\"0\"><code>", open ? " open" : "", summary);
    put_markup(out, text);
    fputs("</code></pre></details>\n", out);
}

Error report_spec_texts(const StoredCampaign *campaign, FILE *out, Arena *arena)
{
    const char *column[REPORT_COLUMNS];
    TRY(report_read_campaign(campaign, arena, column));
    report_details(out, "as it was given", column[REPORT_GIVEN], true);
    report_details(out, "with every default", campaign->spec.resolved, false);
    return error_none();
}

static Error report_events(Database *database, FILE *out)
{
    int rows;
    fputs("<details><summary>events</summary><div class=\"scroll\"><table><thead><tr><th>time</th><th>kind</th><th>text"
          "</th></tr></thead><tbody>\n",
          out);
    TRY(report_rows(database, "SELECT time, kind, text FROM events ORDER BY id", REPORT_EVENTS, out, &rows));
    fputs("</tbody></table></div>", out);
    if (rows == 0) fputs("<p class=\"none\">none</p>", out);
    if (rows == REPORT_EVENTS) fprintf(out, "<p class=\"none\">the first %d; the others are in log.jsonl</p>", rows);
    fputs("</details>\n", out);
    return error_none();
}

Error report_provenance_tables(const StoredCampaign *campaign, FILE *out, Arena *arena)
{
    static const struct {
        const char *name;
        int column;
    } rows[] = {{"experiment", REPORT_EXPERIMENT},   {"created", REPORT_CREATED}, {"finished", REPORT_FINISHED},
                {"program version", REPORT_PROGRAM}, {"commit", REPORT_COMMIT},   {"numerics version", REPORT_NUMERICS},
                {"compiler", REPORT_COMPILER},       {"host", REPORT_HOST},       {"seed", REPORT_SEED},
                {"spec hash", REPORT_HASH}};
    const char *column[REPORT_COLUMNS];
    int count;
    TRY(report_read_campaign(campaign, arena, column));
    fputs("<table class=\"names\"><tbody>\n", out);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) report_row(out, rows[r].name, column[rows[r].column]);
    report_row(out, "report by", "hopscotch " HOPSCOTCH_VERSION);
    fputs("</tbody></table>\n<div class=\"scroll\"><table><thead><tr><th>device</th><th>driver or instructions</th><th>"
          "batches</th><th>trials</th><th>lanes</th><th>kernel seconds</th></tr></thead><tbody>\n",
          out);
    TRY(report_rows(campaign->database,
                    "SELECT device, version, count(*), sum(trials), sum(lanes), round(sum(kernel_seconds), 2) FROM "
                    "batches GROUP BY device, version ORDER BY min(id)",
                    REPORT_EVENTS, out, &count));
    fputs("</tbody></table></div>\n", out);
    return report_events(campaign->database, out);
}
