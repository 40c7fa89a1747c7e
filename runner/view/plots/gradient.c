// How good the gradients of a search are, round by round (GradientSigns): norm, spread over the replicates, cosine of
// two halves, growth back in time. A line per search, the best search in front.
#include "plot.h"

#include <math.h>
#include <stddef.h>

// A panel for each number.
static const struct {
    const char *title;
    size_t member; // of GradientSigns
    bool log;
} gradient_panels[] = {
    {"norm of the gradient", offsetof(GradientSigns, norm), true},
    {"spread over the replicates, in norms", offsetof(GradientSigns, spread), true},
    {"cosine of two halves of the replicates", offsetof(GradientSigns, cosine), false},
    {"growth back in time", offsetof(GradientSigns, growth), true},
};
enum { GRADIENT_PANELS = sizeof gradient_panels / sizeof *gradient_panels };

static Error gradient_read(const PlotData *data, Arena *arena, PlotRounds *rounds)
{
    int64_t search, number;
    GradientSigns signs;
    TRY(plot_rounds_begin(data, false, arena, rounds));
    Cursor rows = gradients_of_best(data->campaign->database, data->maximize, rounds->every, rounds->searches,
                                    rounds->most, arena);
    while (gradients_next(&rows, &search, &number, &signs)) {
        PlotRound *round = plot_rounds_add(rounds, search, number, (double)number);
        for (int k = 0; k < GRADIENT_PANELS; k++) {
            const double value = *(const double *)(const void *)((const char *)&signs + gradient_panels[k].member);
            if (!gradient_panels[k].log || value > 0.0) round->value[k] = value;
        }
    }
    return cursor_close(&rows);
}

// ---- drawing --------------------------------------------------------------------------------------------------------

static PlotAxis gradient_axis(int which, PlotRange range)
{
    const char *title = gradient_panels[which].title;
    if (gradient_panels[which].log) return plot_log_axis_over(title, range);
    return (PlotAxis){.name = title, .low = range.low < 0 ? -1.05 : -0.05, .high = 1.05};
}

// A line across at a value, with a word beside it, above the line or below.
static void gradient_mark(const PlotPanel *panel, double mark, const char *word, bool above)
{
    if (!(mark > panel->y.low && mark < panel->y.high)) return;
    const double y = plot_at(&panel->y, mark);
    svg_line(panel->plot->out, "tr", panel->x.from, y, panel->x.to, y);
    svg_text(panel->plot->out, "tk", panel->x.to - 2, above ? y - 5 : y + 13, "end", word);
}

static void gradient_marks(const PlotPanel *panel, int which)
{
    const size_t member = gradient_panels[which].member;
    if (member == offsetof(GradientSigns, spread)) gradient_mark(panel, 1.0, "noise", true);
    if (member != offsetof(GradientSigns, cosine)) return;
    gradient_mark(panel, GRADIENT_SIGNAL, "signal", true);
    gradient_mark(panel, GRADIENT_NOISE, "noise", false);
}

static Error gradient_draw(const PlotData *data, Plot *plot, Arena *arena)
{
    PlotRounds rounds;
    TRY(gradient_read(data, arena, &rounds));
    const PlotAxis x = {.name = "round", .low = 0, .high = rounds.last > 0 ? rounds.last : 1, .whole = true};
    for (int which = 0; which < GRADIENT_PANELS; which++) {
        const PlotRange range = plot_rounds_range(&rounds, which);
        if (!(range.low <= range.high)) continue; // no round has it
        PlotPanel panel = plot_panel(plot, 440, 220, NULL, x, gradient_axis(which, range));
        gradient_marks(&panel, which);
        plot_rounds(&rounds, which, &panel);
        plot_panel_end(&panel);
    }
    return error_none();
}

static const char *gradient_caption(const PlotData *data, Arena *arena)
{
    bool spread = false, cosine = false, growth = false;
    const Error error = gradients_have(data->campaign->database, &spread, &cosine, &growth);
    if (error.kind != OK) spread = growth = false;
    return arena_format(
        arena, "%s%s%s", "The norm falls towards 0 where a search finds a minimum inside the ranges.",
        spread ? " The spread is the standard error of the mean over the replicates: below 1 the direction is known. "
                 "The cosine compares the gradients of two halves of the replicates: above 0.7 they show a signal, "
                 "below 0.3 noise. At a minimum both halves cancel, so there the spread is large and the cosine low."
               : "",
        growth ? " The growth is the factor by which the influence of the state on the fitness rises on the way back "
                 "through the run: where it reaches thousands, the motion is too chaotic for gradients."
               : "");
}

static const char *gradient_nothing(const PlotData *data, Arena *arena)
{
    int64_t rows = 0;
    const Error error = gradients_count(data->campaign->database, &rows);
    (void)arena;
    return error.kind == OK && rows > 0 ? NULL : "no round took a gradient, or an earlier program did not keep it";
}

const PlotKind plot_gradient = {
    .name = "gradient",
    .title = "How good the gradients are",
    .caption = gradient_caption,
    .draw = gradient_draw,
    .nothing = gradient_nothing,
    .whole = true,
};
