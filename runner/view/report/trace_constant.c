// Columns of a trace that never change. They have no curve; a line names them.
#include "trace.h"

#include <math.h>
#include <string.h>

// A change below this fraction of the greatest value of all columns with the same unit is rounding. (A mechanism in a
// plane moves about 1e-16 m out of it.)
#define TRACE_ROUNDING 1e-12

enum { TRACE_NAMED = 24, TRACE_NAMES_WIDTH = 120 }; // more names are folded; characters of a picture's line

static const char *trace_unit(const ReplayTrace *trace, int column)
{
    return trace->columns[column].unit != NULL ? trace->columns[column].unit : "1";
}

// scale[n_columns]: the greatest value of all columns with the same unit.
static void trace_find_scales(const ReplayTrace *trace, const PlotRange *range, Arena *arena, double *scale)
{
    bool *done = ARENA_NEW(arena, bool, trace->n_columns);
    for (int first = 1; first < trace->n_columns; first++) {
        double most = 0;
        if (done[first]) continue;
        for (int c = first; c < trace->n_columns; c++) {
            if (strcmp(trace_unit(trace, c), trace_unit(trace, first)) != 0) continue;
            most = fmax(most, fmax(-range[c].low, range[c].high)); // without values -infinity
            done[c] = true;
        }
        for (int c = first; c < trace->n_columns; c++) {
            if (strcmp(trace_unit(trace, c), trace_unit(trace, first)) == 0) scale[c] = most;
        }
    }
}

const TraceConstant *trace_constants(const ReplayTrace *trace, Arena *arena, int *count)
{
    PlotRange *range = ARENA_NEW(arena, PlotRange, trace->n_columns);
    int64_t *finite = ARENA_NEW(arena, int64_t, trace->n_columns);
    double *scale = ARENA_NEW(arena, double, trace->n_columns);
    TraceConstant *constant = ARENA_NEW(arena, TraceConstant, trace->n_columns);
    *count = 0;
    for (int c = 0; c < trace->n_columns; c++) range[c] = plot_range();
    for (int64_t k = 0; k < trace->count * trace->n_columns; k++) {
        plot_widen(&range[k % trace->n_columns], trace->row[k]);
        finite[k % trace->n_columns] += isfinite(trace->row[k]);
    }
    // Rows of a solver hold residuals beside values of the same unit: there only equal values are constant.
    if (!trace->request.debug) trace_find_scales(trace, range, arena, scale);
    for (int c = 1; c < trace->n_columns; c++) {
        const double rounding = TRACE_ROUNDING * scale[c], value = trace->row[c];
        const bool equal = range[c].high - range[c].low <= rounding;
        constant[c].is = finite[c] == 0 || (finite[c] == trace->count && equal);
        constant[c].value = finite[c] == 0 ? (double)NAN : fabs(value) <= rounding ? 0 : value;
        *count += constant[c].is;
    }
    return constant;
}

static void trace_put_constant(const ReplayTrace *trace, int column, double value, FILE *out)
{
    const char *unit = trace_unit(trace, column);
    put_markup(out, trace->columns[column].name);
    fprintf(out, isfinite(value) ? " = %s" : " (no value)", plot_short(value).text);
    if (!isfinite(value) || strcmp(unit, "1") == 0 || unit[0] == '\0') return;
    fputc(' ', out);
    put_markup(out, unit);
}

void trace_put_constants(const ReplayTrace *trace, FILE *out, Arena *arena)
{
    int count, put = 0;
    const TraceConstant *constant = trace_constants(trace, arena, &count);
    const bool folded = count > TRACE_NAMED;
    if (count == 0 || trace->count < 2) return;
    if (folded) fprintf(out, "<details><summary>%d columns never change</summary>", count);
    fprintf(out, "<p class=\"none\">%s", folded ? "" : "These columns never change: ");
    for (int c = 1; c < trace->n_columns; c++) {
        if (!constant[c].is) continue;
        fputs(put++ > 0 ? ", " : "", out);
        trace_put_constant(trace, c, constant[c].value, out);
    }
    fprintf(out, ".</p>%s\n", folded ? "</details>" : "");
}

// Lines of a picture do not wrap: it names as many columns as fit.
void trace_plot_constants(const ReplayTrace *trace, Plot *plot, Arena *arena)
{
    int count, named = 0;
    const TraceConstant *constant = trace_constants(trace, arena, &count);
    const char *names = "";
    if (count == 0 || trace->count < 2) return;
    for (int c = 1; c < trace->n_columns && strlen(names) < TRACE_NAMES_WIDTH; c++) {
        if (!constant[c].is) continue;
        names = arena_format(arena, "%s%s%s", names, named > 0 ? ", " : "", trace->columns[c].name);
        named++;
    }
    plot_new_row(plot);
    PlotPanel panel = plot_plain_panel(plot, 896, 24, NULL);
    if (named < count) names = arena_format(arena, "%s and %d others", names, count - named);
    svg_text(plot->out, "la", 2, 14, "start", arena_format(arena, "These columns never change: %s", names));
    plot_panel_end(&panel);
}
