// The table of plots, and a plot as an SVG file, which follows the viewer's light or dark theme.
#include "plot.h"

#include <stdlib.h>
#include <string.h>

#define PLOT_KIND_ROW(name) &plot_##name,
static const PlotKind *const plot_kinds[] = {PLOT_KINDS(PLOT_KIND_ROW)};
#undef PLOT_KIND_ROW

const PlotKind *plot_kind_find(const char *name)
{
    for (size_t i = 0; i < sizeof plot_kinds / sizeof *plot_kinds; i++) {
        if (strcmp(plot_kinds[i]->name, name) == 0) return plot_kinds[i];
    }
    return NULL;
}

static const char plot_fonts[] =
    ".p{font:11px system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif;overflow:visible}\n"
    ".tt{font-size:12.5px}.ce{shape-rendering:crispEdges}.gr,.ax{stroke-width:1}\n";

void plot_write_picture(const Plot *plot, const char *title, const char *panels, FILE *out)
{
    const double margin = 14, head = 30;
    const double width = plot->width + 2 * margin, height = plot->height + head + 2 * margin;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"%.0f %.0f %.0f %.0f\">"
            "<title>",
            width, height, -margin, -margin - head, width, height);
    put_markup(out, title);
    fputs("</title>\n<style>\n.paper{fill:#fff}\n", out);
    fputs(plot_fonts, out);
    plot_style(out, "", false);
    fputs("@media (prefers-color-scheme:dark){.paper{fill:#12171d}\n", out);
    plot_style(out, "", true);
    fprintf(out, "}\n</style>\n<rect class=\"paper\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\"/>\n", -margin,
            -margin - head, width, height);
    fputs("<g class=\"p\">", out);
    svg_text(out, "tt", 2, -head + 12, "start", title);
    fprintf(out, "</g>\n%s</svg>\n", panels);
}

const char *plot_no_fitness(const PlotData *data, Arena *arena)
{
    (void)arena;
    return data->n_best > 0 ? NULL : "none of the trials that were chosen has a fitness";
}

const char *plot_no_gain(const PlotData *data, Arena *arena)
{
    const char *none = data->n_varied > 0 ? NULL : "no searched parameter has two values";
    return data->n_best > 0 ? none : plot_no_fitness(data, arena);
}

Error plot_picture(const PlotData *data, const PlotKind *kind, FILE *out, Arena *arena)
{
    TextStream panels;
    const char *nothing = kind->nothing(data, arena);
    if (nothing != NULL) return error_make(ERROR_USER, "there is nothing to plot as %s: %.300s", kind->name, nothing);
    TRY(text_stream_open("the plot", &panels));
    Plot plot = {.out = panels.out, .name = kind->title};
    Error error = kind->draw(data, &plot, arena);
    const Error closed = text_stream_close(&panels);
    if (error.kind == OK) error = closed;
    if (error.kind == OK)
        plot_write_picture(&plot, arena_format(arena, "%s: %s", text_visible(data->campaign->name, arena), kind->title),
                           panels.text, out);
    free(panels.text);
    return error;
}
