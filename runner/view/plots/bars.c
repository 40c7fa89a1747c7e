// Panels of horizontal bars with a name each, from 0 to a value.
#include "plot.h"

#include <math.h>

PlotPanel plot_bars(Plot *plot, double width, double room, const char *title, const char *label, int rows, double low,
                    double high)
{
    PlotPanel panel = plot_plain_panel(plot, width, 74 + PLOT_BAR_ROW * rows, title);
    FILE *out = plot->out;
    panel.x = (PlotAxis){.name = label, .low = low, .high = high, .from = room, .to = width - 12};
    const double bottom = PLOT_BAR_TOP + PLOT_BAR_ROW * rows;
    double tick[PLOT_TICKS_MAX];
    const int ticks = plot_ticks(&panel.x, 70, tick);
    for (int i = 0; i < ticks; i++) {
        const double x = plot_at(&panel.x, tick[i]);
        svg_line(out, "gr", x, 26, x, bottom);
        svg_text(out, "tk", x, bottom + 14, "middle", plot_short(tick[i]).text);
    }
    svg_text(out, "la", (panel.x.from + panel.x.to) / 2, bottom + 32, "middle", label);
    return panel;
}

void plot_bar(PlotPanel *panel, int row, const char *name, double value, const char *class_name)
{
    FILE *out = panel->plot->out;
    const double y = PLOT_BAR_TOP + PLOT_BAR_ROW * row, zero = plot_at(&panel->x, 0), x = plot_at(&panel->x, value);
    svg_text(out, "la", panel->x.from - 10, y + 11, "end", name);
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
