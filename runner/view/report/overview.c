// The overview: a page with a row per campaign of a results root. Scripts sort and filter it, choose its columns, and
// name the command that compares (io/page/overview.js). All texts go through put_markup: a campaign may come from a
// stranger.
#include "overview.h"

#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OVERVIEW_CAMPAIGNS = 5000,  // rows of a page
    OVERVIEW_KEYS_SHOWN = 6,    // without scripts and on paper
    OVERVIEW_VALUE_SHOWN = 48,  // bytes of the value of a key
    OVERVIEW_VALUE_BYTES = 400, // of its title
    OVERVIEW_TEXT_BYTES = 400   // of a note, a reason or an objective
};

// ---- cells ----------------------------------------------------------------------------------------------------------

// At most `most` bytes of a text, between two characters.
static const char *overview_cut(const char *text, int most, Arena *arena)
{
    if ((int)strnlen(text, (size_t)most + 1) <= most) return text;
    int size = most - 3;
    while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80) size--;
    return arena_format(arena, "%.*s...", size, text);
}

static void overview_element(FILE *out, const char *element, const char *attributes, const char *text)
{
    fprintf(out, "<%s%s>", element, attributes);
    put_markup(out, text);
    fprintf(out, "</%s>", element);
}

// The name as a relative address.
static void overview_put_address(FILE *out, const char *name)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    fputs("./", out);
    for (; *name != '\0'; name++) {
        if (strchr(plain, *name) != NULL)
            fputc(*name, out);
        else
            fprintf(out, "%%%02X", (unsigned)(unsigned char)*name);
    }
    fputs("/report.html", out);
}

static bool overview_has_report(const Overview *overview, const StatusEntry *entry)
{
    const char *path = arena_format(overview->arena, "%s/report.html", entry->location.folder);
    return overview->options->beside && file_exists(path) && !file_is_link(path) && file_check_regular(path).kind == OK;
}

static void overview_put_tags(const char *tags, FILE *out, Arena *arena)
{
    for (const char *at = tags; *at != '\0';) {
        const size_t length = strcspn(at, ",");
        overview_element(out, "span", " class=\"tag\"", arena_format(arena, "%.*s", (int)length, at));
        at += length + strspn(at + length, ", ");
    }
}

// The campaign's name, its tags and its last note.
static void overview_put_name(const Overview *overview, const StatusEntry *entry)
{
    FILE *out = overview->out;
    Arena *arena = overview->arena;
    const bool link = overview_has_report(overview, entry);
    fputs("<th scope=\"row\" data-value=\"", out);
    put_markup(out, entry->name);
    fputs("\">", out);
    if (link) {
        fputs("<a href=\"", out);
        overview_put_address(out, entry->name);
        fputs("\">", out);
    }
    overview_element(out, "b", "", entry->name);
    if (link) fputs("</a>", out);
    if (entry->error == NULL && entry->report.tags[0] != '\0') {
        fputc(' ', out);
        overview_put_tags(overview_cut(entry->report.tags, OVERVIEW_TEXT_BYTES, arena), out, arena);
    }
    if (entry->error == NULL && entry->report.note[0] != '\0')
        overview_element(out, "small", "", overview_cut(entry->report.note, OVERVIEW_TEXT_BYTES, arena));
    fputs("</th>", out);
}

// A process that holds the lock runs the campaign, whatever its database says.
static const char *overview_state(const StatusEntry *entry)
{
    if (entry->error != NULL) return "unreadable";
    return entry->report.holder[0] != '\0' ? "running" : entry->report.state;
}

static void overview_put_state(const Overview *overview, const StatusEntry *entry)
{
    FILE *out = overview->out;
    const bool done = strcmp(overview_state(entry), "done") == 0; // its reason is long: the stop of each search
    const char *why = entry->error != NULL ? entry->error : done ? "" : entry->report.reason;
    fputs("<td data-value=\"", out);
    put_markup(out, overview_state(entry));
    fputs("\">", out);
    overview_element(out, "span", entry->error != NULL ? " class=\"state wrong\"" : " class=\"state\"",
                     overview_state(entry));
    if (why[0] != '\0') overview_element(out, "small", "", overview_cut(why, OVERVIEW_TEXT_BYTES, overview->arena));
    fputs("</td>", out);
}

// A cell whose exact value is `value`; NaN: empty.
static void overview_put_number(FILE *out, double value, const char *shown, const char *more)
{
    if (isnan(value)) {
        fputs("<td class=\"n\"></td>", out);
        return;
    }
    fprintf(out, "<td class=\"n\" data-value=\"%s\">", text_number(value).text);
    put_markup(out, shown);
    if (more[0] != '\0') overview_element(out, "small", "", more);
    fputs("</td>", out);
}

static void overview_put_trials(const Overview *overview, const StatusReport *report)
{
    const int64_t bound = report->total > 0 ? report->total : report->most;
    const char *of =
        bound > 0 && bound != report->trials
            ? arena_format(overview->arena, "of %s%s", report->total > 0 ? "" : "at most ", text_count(bound).text)
            : "";
    overview_put_number(overview->out, (double)report->trials, text_count(report->trials).text, of);
    overview_put_number(overview->out, (double)report->failures, text_count(report->failures).text, "");
}

static void overview_put_best(const Overview *overview, const StatusReport *report)
{
    const double best = isfinite(report->best) ? report->best : (double)NAN;
    const bool exact = isnan(best) || strcmp(text_number(best).text, plot_short(best).text) == 0;
    const char *shown = arena_format(overview->arena, "%s%s", exact ? "" : "\xe2\x89\x88 ", plot_short(best).text);
    overview_put_number(overview->out, best, shown, isnan(best) || !report->maximizes ? "" : "maximised");
}

// "2026-11-29T16:02:07Z" without its seconds.
static void overview_put_date(FILE *out, const char *date)
{
    const bool known = strlen(date) == 20 && date[10] == 'T' && date[19] == 'Z';
    fputs("<td data-value=\"", out);
    put_markup(out, date);
    fputs("\">", out);
    char shown[17];
    snprintf(shown, sizeof shown, "%.10s %.5s", date, known ? date + 11 : "");
    put_markup(out, known ? shown : date);
    fputs("</td>", out);
}

static void overview_put_keys(const Overview *overview, int campaign)
{
    FILE *out = overview->out;
    for (int k = 0; k < overview->n_keys; k++) {
        const char *value = overview->keys[k].value[campaign];
        fprintf(out, "<td class=\"key%s\"", k < OVERVIEW_KEYS_SHOWN ? "" : " more");
        if (value != NULL && strlen(value) > OVERVIEW_VALUE_SHOWN) {
            fputs(" title=\"", out);
            put_markup(out, overview_cut(value, OVERVIEW_VALUE_BYTES, overview->arena));
            fputc('"', out);
        }
        fputc('>', out);
        if (value != NULL) put_markup(out, overview_cut(value, OVERVIEW_VALUE_SHOWN, overview->arena));
        fputs("</td>", out);
    }
}

static void overview_put_row(const Overview *overview, int campaign)
{
    FILE *out = overview->out;
    Arena *arena = overview->arena;
    const StatusEntry *entry = overview->entries[campaign];
    const StatusReport *report = &entry->report;
    const double bytes = (double)overview->bytes[campaign];
    fputs("<tr data-word=\"", out);
    put_markup(out, command_quoted(entry->name, arena));
    fputs("\">", out);
    overview_put_name(overview, entry);
    overview_put_state(overview, entry);
    overview_element(out, "td", "", entry->error == NULL ? report->model : "");
    overview_element(out, "td", "", entry->error == NULL ? report->method : "");
    overview_element(out, "td", " class=\"text\"",
                     entry->error == NULL ? overview_cut(report->objective, OVERVIEW_TEXT_BYTES, arena) : "");
    if (entry->error == NULL)
        overview_put_trials(overview, report);
    else
        fputs("<td></td><td></td>", out);
    overview_put_best(overview, report);
    fputs("<td>", out);
    overview_put_line(overview, campaign);
    fputs("</td>", out);
    overview_put_keys(overview, campaign);
    overview_put_number(out, bytes < 0 ? (double)NAN : bytes, text_bytes(bytes).text, "");
    overview_put_date(out, entry->error == NULL ? report->committed : "");
    fputs("</tr>\n", out);
}

// ---- the page -------------------------------------------------------------------------------------------------------

// name: in a condition; NULL: it stands in none
static void overview_put_head(const Overview *overview, const char *attributes, const char *name, const char *title)
{
    FILE *out = overview->out;
    Arena *arena = overview->arena;
    fprintf(out, "<th scope=\"col\"%s", attributes);
    if (name != NULL) fprintf(out, " data-name=\"%s\"", name);
    fputc('>', out);
    for (const char *part = title; *part != '\0';) { // a line may end behind a dot
        const size_t length = strcspn(part, ".") + (strchr(part, '.') != NULL);
        put_markup(out, arena_format(arena, "%.*s", (int)length, part));
        if (part[length] != '\0') fputs("<wbr>", out);
        part += length;
    }
    fputs("</th>", out);
}

static void overview_put_heads(const Overview *overview)
{
    FILE *out = overview->out;
    fputs("<thead><tr>", out);
    overview_put_head(overview, "", "name", "campaign");
    overview_put_head(overview, "", "state", "state");
    overview_put_head(overview, "", "model", "model");
    overview_put_head(overview, "", "method", "method");
    overview_put_head(overview, "", "objective", "objective");
    overview_put_head(overview, " class=\"n\"", "trials", "trials");
    overview_put_head(overview, " class=\"n\"", "failures", "failures");
    overview_put_head(overview, " class=\"n\"", "best", "best");
    overview_put_head(overview, "", NULL, "convergence");
    for (int k = 0; k < overview->n_keys; k++)
        overview_put_head(overview, k < OVERVIEW_KEYS_SHOWN ? " class=\"key\"" : " class=\"key more\"", NULL,
                          overview->keys[k].key);
    overview_put_head(overview, " class=\"n\"", "bytes", "size");
    overview_put_head(overview, "", NULL, "last commit");
    fputs("</tr></thead>\n", out);
}

static void overview_put_table(const Overview *overview)
{
    FILE *out = overview->out;
    fputs("<div class=\"scroll\"><table class=\"overview sortable\" data-compare=\"", out);
    put_markup(out, arena_format(overview->arena, "%s compare", command_program(overview->arena)));
    fputs("\" data-results=\"", out);
    put_markup(out, command_results_option(overview->options->results, overview->arena));
    fputs("\">\n", out);
    overview_put_heads(overview);
    fputs("<tbody>\n", out);
    for (int i = 0; i < overview->count; i++) {
        const size_t used = overview->arena->used;
        overview_put_row(overview, i);
        arena_rewind(overview->arena, used);
    }
    fputs("</tbody></table></div>\n", out);
}

static void overview_put_fact(FILE *out, const char *name, const char *value)
{
    fputs("<div class=\"fact\">", out);
    overview_element(out, "dt", "", name);
    fputs("<dd>", out);
    overview_element(out, "b", "", value);
    fputs("</dd></div>\n", out);
}

static void overview_put_facts(const Overview *overview)
{
    FILE *out = overview->out;
    int running = 0, unreadable = 0;
    int64_t trials = 0, bytes = 0;
    for (int i = 0; i < overview->count; i++) {
        const StatusEntry *entry = overview->entries[i];
        running += strcmp(overview_state(entry), "running") == 0;
        unreadable += strcmp(overview_state(entry), "unreadable") == 0;
        if (entry->error == NULL && entry->report.trials > 0) trials += entry->report.trials;
        if (overview->bytes[i] > 0) bytes += overview->bytes[i];
    }
    fputs("<dl class=\"facts\">\n", out);
    overview_put_fact(out, "campaigns", text_count(overview->all).text);
    overview_put_fact(out, "running", text_count(running).text);
    if (unreadable > 0) overview_put_fact(out, "unreadable", text_count(unreadable).text);
    overview_put_fact(out, "trials", text_count(trials).text);
    overview_put_fact(out, "size", text_bytes((double)bytes).text);
    fputs("</dl>\n", out);
}

static void overview_put_top(const Overview *overview)
{
    FILE *out = overview->out;
    fputs("<header class=\"wide\">\n<button type=\"button\" id=\"theme\" hidden>Theme</button>\n"
          "<p class=\"kicker\">Hopscotch "
          "results</p>\n<h1>Campaigns</h1>\n<p class=\"lead\">All campaigns under <code>",
          out);
    put_markup(out, overview->options->results);
    fprintf(out, "</code>, the newest first. Written %s.</p>\n", clock_utc().text);
    if (overview->options->follow > 0)
        fprintf(out, "<p class=\"note\" data-follow=\"%d\">Campaigns are running. The page reads itself again.</p>\n",
                overview->options->follow);
    overview_put_facts(overview);
    fputs("</header>\n", out);
}

// What the table does not show.
static void overview_put_remarks(const Overview *overview)
{
    FILE *out = overview->out;
    fputs("<p class=\"caption\">", out);
    if (overview->all > overview->count)
        fprintf(out, "The newest %s of %s campaigns. ", text_count(overview->count).text,
                text_count(overview->all).text);
    fputs("Convergence is the best fitness so far, in the order of the trials. ", out);
    if (overview->without_line > 0)
        fprintf(out, "%s campaign%s no line, because reading the trials takes too long. ",
                text_count(overview->without_line).text, overview->without_line == 1 ? " has" : "s have");
    if (overview->n_keys > 0) {
        overview_element(out, "code", "", overview->keys[0].key);
        fputs(overview->n_keys > 1 ? " and other columns are keys in which specs of one model differ."
                                   : " is a key in which specs of one model differ.",
              out);
    }
    if (overview->all_keys > overview->n_keys) {
        fprintf(out, " %s more keys differ: <code>", text_count(overview->all_keys - overview->n_keys).text);
        put_markup(out, command_again(overview->options->results, "list --differ").text);
        fputs("</code>.", out);
    }
    fputs("</p>\n", out);
}

static void overview_put_body(const Overview *overview)
{
    FILE *out = overview->out;
    overview_put_top(overview);
    fputs("<main class=\"wide\">\n<section id=\"campaigns\">\n", out);
    if (overview->count == 0) {
        fputs("<p class=\"none\">There is no campaign yet: <code>", out);
        put_markup(out, command_again(overview->options->results, "run SPEC").text);
        fputs("</code> starts one.</p>\n", out);
    } else {
        overview_put_remarks(overview);
        overview_put_table(overview);
    }
    fputs("</section>\n</main>\n", out);
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static int overview_by_date(const void *a, const void *b)
{
    const StatusEntry *left = *(const StatusEntry *const *)a, *right = *(const StatusEntry *const *)b;
    const int order = strcmp(right->report.committed, left->report.committed);
    return order != 0 ? order : strcmp(left->name, right->name);
}

static void overview_choose(Overview *overview, const StatusEntry *entries, int count)
{
    overview->all = count;
    overview->entries = ARENA_NEW(overview->arena, const StatusEntry *, count + 1);
    for (int i = 0; i < count; i++) overview->entries[i] = &entries[i];
    qsort(overview->entries, (size_t)count, sizeof(const StatusEntry *), overview_by_date);
    overview->count = count < OVERVIEW_CAMPAIGNS ? count : OVERVIEW_CAMPAIGNS;
    overview->bytes = ARENA_NEW(overview->arena, int64_t, overview->count + 1);
    for (int i = 0; i < overview->count; i++) {
        if (folder_bytes(overview->entries[i]->location.folder, &overview->bytes[i]).kind != OK)
            overview->bytes[i] = -1;
    }
}

Error overview_write(const OverviewOptions *options, const StatusEntry *entries, int count, FILE *out, Arena *arena)
{
    Overview overview = {.options = options, .out = out, .arena = arena};
    const char *style;
    overview_choose(&overview, entries, count);
    TRY(overview_read_lines(&overview));
    TRY(overview_find_keys(&overview));
    TRY(report_style(arena, &style));
    page_start(out, "Campaigns", style);
    overview_put_body(&overview);
    page_finish(out);
    return error_none();
}
