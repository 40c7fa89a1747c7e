// Panels of horizontal bars with a name each, from 0 to a value.
#include "plot.h"

#include <math.h>

PlotPanel plot_bars(Plot *plot, double width, PlotBarRoom room, const char *title, const char *label, int rows,
                    double low, double high)
{
    PlotPanel panel = plot_plain_panel(plot, width, 74 + PLOT_BAR_ROW * rows, title);
    FILE *out = plot->out;
    const double names = plot->figure ? fmin(room.names, 0.4 * panel.width) : fmax(room.names, room.least);
    panel.x = (PlotAxis){
        .name = label, .low = low, .high = high, .from = names, .to = panel.width - fmax(12, room.numbers + 4)};
    const double bottom = PLOT_BAR_TOP + PLOT_BAR_ROW * rows;
    double tick[PLOT_TICKS_MAX];
    const int ticks = plot_ticks(&panel.x, 60, tick);
    double taken = -INFINITY; // where the last number ends
    for (int i = 0; i < ticks; i++) {
        const double x = plot_at(&panel.x, tick[i]);
        svg_line(out, "gr", x, 26, x, bottom);
        const Text32 text = plot_short(tick[i]);
        const double half = plot_text_width(text.text) / 2;
        if (x - half < taken + 4 || x + half > panel.width) continue;
        svg_text(out, "tk", x, bottom + 14, "middle", text.text);
        taken = x + half;
    }
    char cut[256];
    const char *shown = plot_cut(label, panel.width - 4, cut, sizeof cut);
    const double half = plot_text_width(shown) / 2, middle = (panel.x.from + panel.x.to) / 2;
    svg_text(out, "la", fmax(fmin(middle, panel.width - half - 2), half), bottom + 32, "middle", shown);
    return panel;
}

void plot_bar(PlotPanel *panel, int row, const char *name, double value, const char *class_name)
{
    FILE *out = panel->plot->out;
    const double y = PLOT_BAR_TOP + PLOT_BAR_ROW * row, zero = plot_at(&panel->x, 0), x = plot_at(&panel->x, value);
    char cut[256];
    svg_text(out, "la", panel->x.from - 10, y + 11, "end", plot_cut(name, panel->x.from - 10, cut, sizeof cut));
    if (isfinite(value)) svg_rectangle(out, class_name, x < zero ? x : zero, y + 2, fabs(x - zero), 12);
}

void plot_bar_whisker(PlotPanel *panel, int row, double low, double high)
{
    const double y = PLOT_BAR_TOP + PLOT_BAR_ROW * row + 8;
    if (!isfinite(low) || !isfinite(high)) return;
    const double from = plot_at(&panel->x, low), to = plot_at(&panel->x, high);
    svg_line(panel->plot->out, "wh", from, y, to, y);
    svg_line(panel->plot->out, "wh", from, y - 3, from, y + 3);
    svg_line(panel->plot->out, "wh", to, y - 3, to, y + 3);
}

void plot_bars_zero(PlotPanel *panel, int rows)
{
    const double zero = plot_at(&panel->x, 0);
    svg_line(panel->plot->out, "ax", zero, 26, zero, PLOT_BAR_TOP + PLOT_BAR_ROW * rows);
}
