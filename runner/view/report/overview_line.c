// A campaign's convergence as a line in a cell: the best fitness so far in the order of the trials.
#include "overview.h"

#include <math.h>

enum { OVERVIEW_LINE_TRIALS = 2000000 }; // most trials that are read for a line
#define OVERVIEW_SECONDS 20.0            // for all lines; the newest campaigns have theirs first

// ---- reading --------------------------------------------------------------------------------------------------------

static Error overview_read_line(const StatusEntry *entry, OverviewLine *line, Arena *arena)
{
    Database *database;
    double best = (double)NAN, value;
    TRY(store_peek(&entry->location, arena, &database));
    Cursor ranges = trials_best_of_ranges(database, entry->report.maximizes, OVERVIEW_LINE);
    while (next_real(&ranges, &value)) {
        if (isfinite(value)) best = entry->report.maximizes ? fmax(best, value) : fmin(best, value); // ignore NaN
        if (line->count < OVERVIEW_LINE) line->best[line->count++] = best;
    }
    const Error error = cursor_close(&ranges);
    store_leave(database);
    return error;
}

// A campaign that can't be read has no line: its row says what is wrong.
Error overview_read_lines(Overview *overview)
{
    const double end = clock_seconds() + OVERVIEW_SECONDS;
    overview->lines = ARENA_NEW(overview->arena, OverviewLine, overview->count + 1);
    for (int i = 0; i < overview->count; i++) {
        const StatusEntry *entry = overview->entries[i];
        const size_t used = overview->arena->used;
        if (entry->error != NULL || isnan(entry->report.best)) continue;
        if (entry->report.trials > OVERVIEW_LINE_TRIALS || clock_seconds() > end) {
            overview->without_line++;
            continue;
        }
        const Error error = overview_read_line(entry, &overview->lines[i], overview->arena);
        if (error.kind == ERROR_MEMORY) return error;
        if (error.kind != OK) overview->lines[i].count = 0;
        arena_rewind(overview->arena, used);
    }
    return error_none();
}

// ---- drawing --------------------------------------------------------------------------------------------------------

static double overview_line_height(double value, bool logarithmic) { return logarithmic ? log(value) : value; }

// Steps: a point where the best changes, and the last.
static void overview_put_steps(const OverviewLine *line, double low, double high, FILE *out)
{
    enum { WIDTH = 96, HEIGHT = 20, EDGE = 2 };
    const bool logarithmic = low > 0 && high > 100 * low; // a search that converges crosses decades
    const double bottom = overview_line_height(low, logarithmic), top = overview_line_height(high, logarithmic);
    const double step = (double)(WIDTH - 2 * EDGE) / (line->count > 1 ? line->count - 1 : 1);
    double before = (double)NAN;
    SvgPath path = svg_path(out, "ln");
    for (int i = 0; i < line->count; i++) {
        if (isnan(line->best[i])) continue;
        const double part =
            top > bottom ? (overview_line_height(line->best[i], logarithmic) - bottom) / (top - bottom) : 0.5;
        const double x = EDGE + step * i, y = HEIGHT - EDGE - part * (HEIGHT - 2 * EDGE);
        if (y == before && i + 1 < line->count) continue;
        if (!isnan(before) && y != before) svg_path_to(&path, x, before);
        svg_path_to(&path, x, y);
        before = y;
    }
    svg_path_end(&path);
}

void overview_put_line(const Overview *overview, int campaign)
{
    const OverviewLine *line = &overview->lines[campaign];
    double low = (double)INFINITY, high = (double)-INFINITY, first = (double)NAN;
    for (int i = 0; i < line->count; i++) {
        if (isnan(line->best[i])) continue;
        if (isnan(first)) first = line->best[i];
        low = fmin(low, line->best[i]);
        high = fmax(high, line->best[i]);
    }
    if (isnan(first)) return;
    fprintf(overview->out,
            "<svg class=\"p spark\" width=\"96\" height=\"20\" viewBox=\"0 0 96 20\" role=\"img\" "
            "aria-label=\"best so far: %.4g, then %.4g\">",
            first, line->best[line->count - 1]);
    overview_put_steps(line, low, high, overview->out);
    fputs("</svg>", overview->out);
}
