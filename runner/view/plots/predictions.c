// How well a model of the fitness predicts: what it predicted for a trial before it ran, against what was seen.
#include "plot.h"

#include <math.h>

// The column of what was predicted in the row of a round, before that of what was seen; 0: there is none.
static int predictions_column(const PlotData *data)
{
    const SearchMethod *method = data->campaign->spec.method;
    return search_predicts(method) ? method->model->first + method->model->count : 0;
}

static Error predictions_read(const PlotData *data, Arena *arena, PlotRounds *all)
{
    const int column = predictions_column(data);
    RoundRow round;
    TRY(plot_rounds_begin(data, false, arena, all));
    Cursor rounds =
        rounds_of_best(data->campaign->database, data->maximize, all->every, all->searches, all->most, arena);
    while (round_next(&rounds, &round)) {
        const double predicted = round_number(round.debug, column), seen = round_number(round.debug, column + 1);
        if (isfinite(predicted) && isfinite(seen))
            plot_rounds_add(all, round.search, round.round, seen)->value[0] = predicted;
    }
    return cursor_close(&rounds);
}

static void predictions_line(PlotPanel *panel, PlotRange range)
{
    SvgPath path = svg_path(panel->plot->out, "ln");
    svg_path_to(&path, plot_at(&panel->x, range.low), plot_at(&panel->y, range.low));
    svg_path_to(&path, plot_at(&panel->x, range.high), plot_at(&panel->y, range.high));
    svg_path_end(&path);
}

// Rounds are no trials, which dots stand for.
static void predictions_cross(PlotPanel *panel, double seen, double predicted)
{
    const double x = plot_at(&panel->x, seen), y = plot_at(&panel->y, predicted), arm = 3.0;
    for (int k = 0; k < 2; k++) {
        SvgPath path = svg_path(panel->plot->out, "ln");
        svg_path_to(&path, x - arm, k == 0 ? y - arm : y + arm);
        svg_path_to(&path, x + arm, k == 0 ? y + arm : y - arm);
        svg_path_end(&path);
    }
}

static Error predictions_draw(const PlotData *data, Plot *plot, Arena *arena)
{
    PlotRounds all = {0};
    PlotRange range = plot_range();
    TRY(predictions_read(data, arena, &all));
    for (int64_t i = 0; i < all.count; i++) {
        plot_widen(&range, all.round[i].x);
        plot_widen(&range, all.round[i].value[0]);
    }
    PlotPanel panel =
        plot_panel(plot, 440, 380, NULL, plot_axis_over("seen", NULL, range), plot_axis_over("predicted", NULL, range));
    if (all.count > 0) predictions_line(&panel, range);
    for (int64_t i = 0; i < all.count; i++) predictions_cross(&panel, all.round[i].x, all.round[i].value[0]);
    plot_panel_end(&panel);
    return error_none();
}

static const char *predictions_nothing(const PlotData *data, Arena *arena)
{
    if (predictions_column(data) == 0) return "the search method has no model of the fitness";
    return plot_no_fitness(data, arena);
}

const PlotKind plot_predictions = {
    .name = "predictions",
    .title = "Predictions",
    .text =
        "The fitness that the model predicted for the first trial of each round, against what the trial then gave. On "
        "the line both are equal. Far ones belong to early rounds, when the model knew little.",
    .draw = predictions_draw,
    .nothing = predictions_nothing,
    .whole = true,
};
