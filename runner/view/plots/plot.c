// The table of plots, and a plot as an SVG file, which follows the viewer's light or dark theme.
#include "plot.h"

#include <math.h>
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
// In print, fonts are those of papers, and lines are thin.
static const char plot_figure_fonts[] =
    ".p{font:11px Helvetica,Arial,\"Liberation Sans\",\"Nimbus Sans\",sans-serif;overflow:visible}\n"
    ".gr,.ax{stroke-width:.6}.ln,.bl{stroke-width:1.3}.li{stroke-width:.6}\n";

// ---- figures for papers ---------------------------------------------------------------------------------------------
// A figure is drawn in pixels, as every picture. Its viewBox makes PLOT_FONT of them as high as the font that was asked
// for, so the rest follows: the pixels of its width, and lines in proportion to the font.

#define PLOT_POINT (25.4 / 72)          // mm
#define PLOT_NATURAL (PLOT_FONT * 0.75) // pt, of a picture on a screen with 96 pixels per inch
#define PLOT_EDGE 2.0                   // pixels around a figure
#define PLOT_LEAST 150.0                // pixels: the narrowest figure whose labels fit

static double plot_millimetres(const Figure *figure) // per pixel
{
    return (figure->font > 0 ? figure->font : PLOT_NATURAL) * PLOT_POINT / PLOT_FONT;
}

void plot_begin_picture(const char *size, const double *box, const char *title, FILE *out)
{
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" %s viewBox=\"%.0f %.0f %.3f %.3f\"><title>", size, box[0],
            box[1], box[2], box[3]);
    put_markup(out, title);
    fprintf(out, "</title>\n<style>\n%s", plot_figure_fonts);
    plot_style(out, "", false);
    fprintf(out, "</style>\n<rect fill=\"#fff\" x=\"%.0f\" y=\"%.0f\" width=\"%.3f\" height=\"%.3f\"/>\n", box[0],
            box[1], box[2], box[3]);
}

static void plot_write_figure(const Plot *plot, const Figure *figure, const char *title, const char *panels, FILE *out)
{
    const double mm = plot_millimetres(figure), width = plot->limit + 2 * PLOT_EDGE;
    const double height = figure->height > 0 ? figure->height / mm : plot->height + 2 * PLOT_EDGE;
    char size[64];
    snprintf(size, sizeof size, "width=\"%.2fmm\" height=\"%.2fmm\"", width * mm, height * mm);
    plot_begin_picture(size, (const double[4]){-PLOT_EDGE, -PLOT_EDGE, width, height}, title, out);
    fprintf(out, "%s</svg>\n", panels);
}

void plot_write_picture(const Plot *plot, const Figure *figure, const char *title, const char *panels, FILE *out)
{
    if (figure != NULL) {
        plot_write_figure(plot, figure, title, panels, out);
        return;
    }
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

// Draws the panels into text->text, in place of those of an earlier time, for free().
static Error plot_draw_once(const PlotDrawing *drawing, Plot *plot, TextStream *text, Arena *arena)
{
    const size_t used = arena->used;
    free(text->text);
    text->text = NULL;
    TRY(text_stream_open("the plot", text));
    memcpy(plot->panels, plot->met, sizeof plot->panels);
    memset(plot->met, 0, sizeof plot->met);
    plot->x = plot->y = plot->row = plot->width = plot->height = 0;
    plot->run = 0;
    plot->out = text->out;
    const Error error = drawing->draw(drawing->of, plot, arena), closed = text_stream_close(text);
    arena_rewind(arena, used);
    return error.kind == OK ? closed : error;
}

// Aligned panels are drawn again where one of them needs more room for its labels than those above it had.
static Error plot_draw(const PlotDrawing *drawing, Plot *plot, TextStream *text, Arena *arena)
{
    Error error = error_none();
    double labels;
    int passes = 0;
    do {
        labels = plot->labels;
        error = plot_draw_once(drawing, plot, text, arena);
    } while (error.kind == OK && plot->labels > labels && ++passes < 4);
    return error;
}

// The height of a picture is linear in the factor of its axes, but for steps.
static Error plot_fit_height(const PlotDrawing *drawing, const Figure *figure, Plot *plot, TextStream *text,
                             Arena *arena)
{
    const double mm = plot_millimetres(figure), wanted = figure->height / mm - 2 * PLOT_EDGE;
    Error error = error_none();
    for (int i = 0; i < 4 && error.kind == OK && fabs(plot->height - wanted) > 0.5; i++) {
        const double before = plot->height, tall = plot->tall;
        plot->tall *= 1.05;
        error = plot_draw(drawing, plot, text, arena);
        const double slope = (plot->height - before) / (0.05 * tall);
        if (error.kind != OK || !(slope > 0)) break;
        plot->tall = fmax(tall + (wanted - before) / slope, 0.2);
        error = plot_draw(drawing, plot, text, arena);
    }
    if (error.kind == OK && plot->height > wanted + 0.5)
        error = error_make(ERROR_USER, "--height: the plot %s of this width is at least %.0f mm high", drawing->name,
                           ceil((plot->height + 2 * PLOT_EDGE) * mm));
    return error;
}

static Error plot_draw_figure(const PlotDrawing *drawing, const Figure *figure, Plot *plot, TextStream *text,
                              Arena *arena)
{
    const double mm = plot_millimetres(figure);
    plot->figure = true;
    plot->tall = 1;
    if (figure->width > 0) plot->limit = figure->width / mm - 2 * PLOT_EDGE;
    if (plot->limit < PLOT_LEAST)
        return error_make(ERROR_USER, "--width: with this font, a figure is at least %.0f mm wide",
                          ceil((PLOT_LEAST + 2 * PLOT_EDGE) * mm));
    TRY(plot_draw(drawing, plot, text, arena)); // counts panels
    Error error = plot_draw(drawing, plot, text, arena);
    if (error.kind == OK && figure->height > 0) error = plot_fit_height(drawing, figure, plot, text, arena);
    return error;
}

Error plot_draw_picture(const PlotDrawing *drawing, const Figure *figure, const char *title, FILE *out, Arena *arena)
{
    TextStream panels = {0};
    Plot plot = {.name = drawing->name, .limit = PLOT_PICTURE_WIDTH};
    const Error error = figure != NULL ? plot_draw_figure(drawing, figure, &plot, &panels, arena)
                                       : plot_draw(drawing, &plot, &panels, arena);
    if (error.kind == OK) plot_write_picture(&plot, figure, title, panels.text, out);
    free(panels.text);
    return error;
}

// ---- plots of a campaign --------------------------------------------------------------------------------------------

typedef struct PlotOfKind {
    const PlotData *data;
    const PlotKind *kind;
} PlotOfKind;

static Error plot_draw_kind(const void *of, Plot *plot, Arena *arena)
{
    const PlotOfKind *asked = of;
    plot->name = asked->kind->title;
    return asked->kind->draw(asked->data, plot, arena);
}

static const char *plot_columns_title(const PlotData *data, Arena *arena)
{
    const PlotColumns *axes = data->axes;
    return arena_format(arena, "%s against %s", axes->y != NULL ? axes->y : data->value_name, axes->x);
}

Error plot_picture(const PlotData *data, const PlotKind *kind, const Figure *figure, FILE *out, Arena *arena)
{
    const char *nothing = kind->nothing(data, arena);
    if (nothing != NULL) return error_make(ERROR_USER, "there is nothing to plot as %s: %.300s", kind->name, nothing);
    const PlotOfKind of = {data, kind};
    const PlotDrawing drawing = {kind->name, plot_draw_kind, &of};
    return plot_draw_picture(&drawing, figure,
                             arena_format(arena, "%s: %s", text_visible(data->campaign->name, arena),
                                          data->axes != NULL ? plot_columns_title(data, arena) : kind->title),
                             out, arena);
}
