// status --watch: shows a campaign repeatedly until it ends or the user presses Ctrl-C. On a terminal each view
// overwrites the last one: the cursor moves up and the lines below are cleared. No mode of the terminal is changed, so
// nothing has to be restored. In a file or pipe each view is one line.
#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LIVE_POINTS = 60, LIVE_TEXT = 32 * 1024 };

typedef struct Live {
    const CommandLine *line;
    double every;             // least time between two views, s
    double best[LIVE_POINTS]; // best fitness so far, in the order of the trials
    double rate[LIVE_POINTS]; // between two views, trials/s
    int n_best, n_rate;
    int64_t trials; // at the last view; -1 before the first
    double time;    // of the last view, s
    char *drawn;    // text of the last view, to count its rows
} Live;

static void live_push(double *values, int *count, double value)
{
    if (*count == LIVE_POINTS) memmove(values, values + 1, (LIVE_POINTS - 1) * sizeof *values);
    *count -= *count == LIVE_POINTS;
    values[(*count)++] = value;
}

// ---- reading --------------------------------------------------------------------------------------------------------

// At the first view: the best fitness so far at LIVE_POINTS - 1 points among the stored trials.
static Error live_read_history(Live *live, const CampaignLocation *location, Arena *arena)
{
    Database *database;
    double best = (double)NAN, value;
    bool maximizes = false;
    TRY(store_peek(location, arena, &database));
    const Error known = store_maximizes(database, &maximizes);
    Cursor ranges = trials_best_of_ranges(database, maximizes, LIVE_POINTS - 1);
    cursor_stop(&ranges, known);
    while (next_real(&ranges, &value)) {
        best = maximizes ? fmax(best, value) : fmin(best, value); // fmin and fmax ignore NaN
        live_push(live->best, &live->n_best, best);
    }
    const Error error = cursor_close(&ranges);
    store_leave(database);
    return error;
}

static Error live_read(Live *live, const CampaignLocation *location, Arena *arena, StatusReport *visible)
{
    StatusReport report;
    const double now = clock_seconds();
    if (live->trials < 0) TRY(live_read_history(live, location, arena));
    TRY(status_read(location, arena, &report));
    if (live->trials >= 0 && now > live->time)
        live_push(live->rate, &live->n_rate, (double)(report.trials - live->trials) / (now - live->time));
    live_push(live->best, &live->n_best, report.best);
    live->trials = report.trials;
    live->time = now;
    *visible = status_visible(&report, arena);
    return error_none();
}

// Trials/s between the last two views; at the first view, that of the last batches.
static double live_rate(const Live *live, const StatusReport *report)
{
    return live->n_rate > 0 ? live->rate[live->n_rate - 1] : report->rate;
}

static bool live_is_over(const StatusReport *report) { return report->holder[0] == '\0'; }

// The total number of trials, or its upper limit; 0: unknown.
static int64_t live_bound(const StatusReport *report) { return report->total > 0 ? report->total : report->most; }

static const char *live_at_most(const StatusReport *report) { return report->total > 0 ? "" : "at most "; }

// ", 2 min left", if a rate is known.
static void live_put_left(const StatusReport *report, double rate, FILE *out)
{
    if (rate > 0 && live_bound(report) > report->trials)
        fprintf(out, ", %s%s left", live_at_most(report),
                text_duration((double)(live_bound(report) - report->trials) / rate).text);
}

// ---- a line ---------------------------------------------------------------------------------------------------------

static void live_put_line(const Live *live, const StatusReport *report, FILE *out)
{
    const double rate = live_rate(live, report);
    fprintf(out, "%s %s %s: %s", clock_utc().text, report->location.name, report->state,
            text_count(report->trials).text);
    if (live_bound(report) > 0) fprintf(out, " of %s%s", live_at_most(report), text_count(live_bound(report)).text);
    fprintf(out, " trials, %s failed, best ", text_count(report->failures).text);
    fputs(isnan(report->best) ? "none" : text_number(report->best).text, out);
    if (!live_is_over(report) && !isnan(rate)) fprintf(out, ", %s trials/s", text_short(rate).text);
    if (!live_is_over(report)) live_put_left(report, rate, out);
    fputc('\n', out);
    fflush(out);
}

// ---- a view ---------------------------------------------------------------------------------------------------------

static void live_put_bar(const StatusReport *report, int columns, FILE *out)
{
    const double fraction = (double)report->trials / (double)live_bound(report);
    const int width = columns < 70 ? columns - 20 : 50, full = (int)(fmin(fraction, 1) * width);
    if (width < 8) return;
    fprintf(out, "%-9s [", "");
    for (int i = 0; i < width; i++) fputc(i < full ? '=' : i == full ? '>' : ' ', out);
    fprintf(out, "] %.1f %%\n", 100.0 * fraction);
}

static void live_put_progress(const Live *live, const StatusReport *report, int columns, FILE *out)
{
    const double rate = live_rate(live, report);
    fprintf(out, "%-9s %s", "trials", text_count(report->trials).text);
    if (live_bound(report) > 0) fprintf(out, " of %s%s", live_at_most(report), text_count(live_bound(report)).text);
    fprintf(out, ", %s failed\n", text_count(report->failures).text);
    if (live_bound(report) > 0) live_put_bar(report, columns, out);
    fprintf(out, "%-9s %s trials/s", "rate", isnan(rate) ? "no" : text_short(rate).text);
    live_put_left(report, rate, out);
    fputs("  ", out);
    put_sparkline(out, live->rate, live->n_rate < columns - 40 ? live->n_rate : columns > 40 ? columns - 40 : 0);
    fputc('\n', out);
}

static void live_put_view(const Live *live, const StatusReport *report, int columns, FILE *out)
{
    fprintf(out, "%s: %s%s%s", report->location.name, report->state, report->reason[0] != '\0' ? ": " : "",
            report->reason);
    if (report->holder[0] != '\0') fprintf(out, " (%s)", report->holder);
    fputc('\n', out);
    live_put_progress(live, report, columns, out);
    if (isnan(report->best))
        fprintf(out, "%-9s none yet\n", "best");
    else
        fprintf(out, "%-9s %s (trial %" PRId64 ")\n", "best", text_number(report->best).text, report->best_trial);
    fprintf(out, "%-9s ", "so far");
    const int room = columns - 12, shown = live->n_best < room ? live->n_best : room > 0 ? room : 0;
    put_sparkline(out, live->best + live->n_best - shown, shown);
    fprintf(out, "\n%-9s %s", "device", report->devices);
    if (!isnan(report->busy)) fprintf(out, ", computing %.0f %% of the time", 100.0 * report->busy);
    fprintf(out, "\n%-9s %s replicates in %s batches; last commit %s\n", "work", text_count(report->lanes).text,
            text_count(report->batches).text, report->committed[0] != '\0' ? report->committed : "none yet");
}

// ---- drawing --------------------------------------------------------------------------------------------------------

// Number of rows of a text on a terminal with `columns` columns, of which each character takes one. The text may have
// been drawn on a wider one.
static int live_rows(const char *text, int columns)
{
    int rows = 0;
    for (const char *line = text; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        const int wide = utf8_count(line, length);
        rows += wide <= columns ? 1 : (wide + columns - 1) / columns;
        line += length + (line[length] == '\n');
    }
    return rows;
}

// Cuts each line to the terminal's width, so that it takes one row.
static void live_cut(const char *text, int columns, char *out)
{
    for (const char *line = text; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        size_t kept = 0;
        for (int wide = 0; kept < length; kept++) {
            wide += utf8_begins(line[kept]);
            if (wide > columns - 1) break;
        }
        memcpy(out, line, kept);
        out += kept;
        *out++ = '\n';
        line += length + (line[length] == '\n');
    }
    *out = '\0';
}

// Overwrites the last view with one write, so that no partial view is seen.
static void live_draw(Live *live, const char *text)
{
    FILE *out = live->line->out;
    const int columns = terminal_columns(out), above = live_rows(live->drawn, columns);
    live_cut(text, columns, live->drawn);
    if (above > 0) fprintf(out, "\033[%dA\r\033[J", above);
    fputs(live->drawn, out);
    fflush(out);
}

static void live_show(Live *live, const StatusReport *report, Arena *arena)
{
    FILE *out = live->line->out;
    if (!terminal_interactive(out)) {
        live_put_line(live, report, out);
        return;
    }
    char *text = arena_take(arena, LIVE_TEXT, 1);
    FILE *memory = fmemopen(text, LIVE_TEXT, "w");
    if (memory == NULL) return; // there may be memory at the next view
    live_put_view(live, report, terminal_columns(out), memory);
    fclose(memory);
    live_draw(live, text);
}

bool live_pause(double seconds)
{
    const double until = clock_seconds() + seconds;
    while (clock_seconds() < until && interrupt_requested() == 0)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    return interrupt_requested() == 0;
}

// Waits for the next view; false: the user pressed Ctrl-C. Reading a large campaign takes time, so the pause is at
// least ten times as long.
static bool live_wait(Live *live, double reading)
{
    const double seconds = fmax(live->every, 10.0 * reading), until = clock_seconds() + seconds;
    const bool goes_on = live_pause(seconds);
    if (clock_seconds() > until + 2.0) live->drawn[0] = '\0'; // it was suspended (Ctrl-Z): others wrote below
    return goes_on;
}

Error live_watch(const CommandLine *line, const CampaignLocation *location)
{
    Arena *arena = line->arena;
    Live live = {.line = line, .every = (double)switch_integer(line, "every", 1), .trials = -1};
    live.drawn = arena_take(arena, 2 * LIVE_TEXT, 1);
    setvbuf(line->out, NULL, _IOFBF, (size_t)2 * LIVE_TEXT);
    interrupt_install();
    for (bool more = true; more;) {
        const size_t used = arena->used;
        const double start = clock_seconds();
        StatusReport report;
        TRY(live_read(&live, location, arena, &report));
        live_show(&live, &report, arena);
        more = !live_is_over(&report) && live_wait(&live, clock_seconds() - start);
        arena_rewind(arena, used);
    }
    return error_none();
}

// ---- pages ----------------------------------------------------------------------------------------------------------

Error live_follow(const CommandLine *line, Error (*write)(const CommandLine *line, bool *over))
{
    if (strcmp(switch_text(line, "output", ""), "-") == 0)
        return error_make(ERROR_USAGE, "--follow writes the page again and again: name a file, not -");
    interrupt_install();
    for (bool more = true; more;) {
        const size_t used = line->arena->used;
        const double start = clock_seconds();
        bool over;
        TRY(write(line, &over));
        fflush(line->out);
        const double every = (double)switch_integer(line, "every", LIVE_PAGE_EVERY);
        const double pause = fmax(every, 10 * (clock_seconds() - start));
        arena_rewind(line->arena, used);
        more = !over && live_pause(pause);
    }
    return error_none();
}
