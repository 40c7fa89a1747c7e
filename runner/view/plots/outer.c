// The best trial at each point of an outer grid: its fitness over the outer parameter with the most values, a line for
// each combination of the others. It answers which gait is cheapest at which speed.
#include "plot.h"

#include <math.h>
#include <stdlib.h>

enum { OUTER_LINES = 12, OUTER_KEY_ROW = 18 };

typedef struct OuterBest {
    int64_t trial;
    double fitness; // NaN: no trial has one
} OuterBest;

// The points in rows: along a row the parameter `along` changes, and each row is a line.
typedef struct OuterGrid {
    const Axis *axis; // [n]
    int n, along;
    int64_t points, lines;
    OuterBest *best; // [lines][values of `along`]
    int64_t *line;   // [lines] the line with the best trial first
} OuterGrid;

static int64_t outer_length(const OuterGrid *grid) { return grid->axis[grid->along].values.count; }

static const OuterBest *outer_at(const OuterGrid *grid, int64_t line, int64_t i)
{
    return &grid->best[line * outer_length(grid) + i];
}

static OuterGrid outer_grid(const Spec *spec, Arena *arena)
{
    OuterGrid grid = {.axis = spec->axes + spec->n_axes + spec->n_derived, .n = spec->n_outer, .points = 1};
    for (int k = 0; k < grid.n; k++) {
        grid.points *= grid.axis[k].values.count;
        if (grid.axis[k].values.count > grid.axis[grid.along].values.count) grid.along = k;
    }
    grid.lines = grid.points / outer_length(&grid);
    grid.best = ARENA_NEW(arena, OuterBest, grid.points);
    grid.line = ARENA_NEW(arena, int64_t, grid.lines);
    for (int64_t i = 0; i < grid.points; i++) grid.best[i] = (OuterBest){-1, (double)NAN};
    for (int64_t i = 0; i < grid.lines; i++) grid.line[i] = i;
    return grid;
}

// The point of a trial, whose cells begin with the outer parameters; NULL: none.
static OuterBest *outer_point(const OuterGrid *grid, const Cursor *trial)
{
    int64_t line = 0, point = 0;
    for (int k = 0; k < grid->n; k++) {
        const Values *values = &grid->axis[k].values;
        const int64_t i = values_find(values, cell_value(trial, k, values->choices), 0);
        if (i < 0) return NULL; // written by another program
        if (k == grid->along)
            point = i;
        else
            line = line * grid->axis[k].values.count + i;
    }
    return &grid->best[line * outer_length(grid) + point];
}

static Error outer_read(const PlotData *data, Arena *arena, OuterGrid *grid)
{
    const Spec *spec = &data->campaign->spec;
    const char **columns = ARENA_NEW(arena, const char *, grid->n + 2);
    for (int k = 0; k < grid->n; k++) columns[k] = spec->configured.parameters[grid->axis[k].parameter].name;
    columns[grid->n] = data->value_column;
    columns[grid->n + 1] = "id";
    Cursor trials = trials_of(data->campaign->database, &data->where, columns, grid->n + 2, arena);
    while (cursor_next(&trials)) {
        OuterBest *point = outer_point(grid, &trials);
        const double fitness = cell_real(&trials, grid->n);
        if (point != NULL && isfinite(fitness) && plot_better(data, fitness, point->fitness))
            *point = (OuterBest){cell_integer(&trials, grid->n + 1), fitness};
    }
    return cursor_close(&trials);
}

// ---- lines ----------------------------------------------------------------------------------------------------------

static double outer_line_best(const PlotData *data, const OuterGrid *grid, int64_t line)
{
    double best = (double)NAN;
    for (int64_t i = 0; i < outer_length(grid); i++) {
        const double fitness = outer_at(grid, line, i)->fitness;
        if (isfinite(fitness) && plot_better(data, fitness, best)) best = fitness;
    }
    return best;
}

// The lines in the order of their best trials; equal ones in the order of the grid.
static void outer_sort(const PlotData *data, const OuterGrid *grid, Arena *arena)
{
    double *best = ARENA_NEW(arena, double, grid->lines);
    for (int64_t line = 0; line < grid->lines; line++) best[line] = outer_line_best(data, grid, line);
    for (int64_t i = 1; i < grid->lines; i++) {
        const int64_t line = grid->line[i];
        int64_t at = i;
        for (; at > 0 && isfinite(best[line]) && plot_better(data, best[line], best[grid->line[at - 1]]); at--)
            grid->line[at] = grid->line[at - 1];
        grid->line[at] = line;
    }
}

static int outer_shown(const OuterGrid *grid) { return grid->lines < OUTER_LINES ? (int)grid->lines : OUTER_LINES; }

// "phase_2 0.5, phase_3 0.25"
static const char *outer_name(const Spec *spec, const OuterGrid *grid, int64_t line, Arena *arena)
{
    const char *name = "";
    for (int k = grid->n - 1; k >= 0; k--) {
        const Axis *axis = &grid->axis[k];
        if (k == grid->along) continue;
        const double value = values_at(&axis->values, line % axis->values.count);
        name = arena_format(arena, "%s %s%s%s", spec->configured.parameters[axis->parameter].name,
                            plot_value(axis->values.choices, value).text, name[0] != '\0' ? ", " : "", name);
        line /= axis->values.count;
    }
    return name;
}

// ---- drawing --------------------------------------------------------------------------------------------------------

static PlotAxis outer_fitness_axis(const PlotData *data, const OuterGrid *grid)
{
    PlotRange range = plot_range();
    for (int shown = 0; shown < outer_shown(grid); shown++)
        for (int64_t i = 0; i < outer_length(grid); i++)
            plot_widen(&range, outer_at(grid, grid->line[shown], i)->fitness);
    PlotAxis axis = plot_axis_over(data->value_name, NULL, range);
    if (!(range.low > 0.0 && range.high > 5.0 * range.low)) return axis;
    axis.low = range.low / 1.15;
    axis.high = range.high * 1.15;
    axis.log = true;
    return axis;
}

static void outer_line(const PlotData *data, const OuterGrid *grid, int shown, PlotPanel *panel, Arena *arena)
{
    const int64_t line = grid->line[shown];
    const PlotColour colour = plot_colour(shown);
    const char *name = outer_name(&data->campaign->spec, grid, line, arena);
    SvgPath path = svg_path(panel->plot->out, arena_format(arena, "ln %s", colour.line));
    for (int64_t i = 0; i < outer_length(grid); i++) {
        const double fitness = outer_at(grid, line, i)->fitness;
        svg_path_to(&path, plot_at(&panel->x, values_at(&grid->axis[grid->along].values, i)),
                    isfinite(fitness) ? plot_at(&panel->y, fitness) : (double)NAN);
    }
    svg_path_end(&path);
    for (int64_t i = 0; i < outer_length(grid); i++) {
        const OuterBest *best = outer_at(grid, line, i);
        const double value = values_at(&grid->axis[grid->along].values, i);
        if (!isfinite(best->fitness)) continue;
        plot_mark(panel, colour.key, plot_at(&panel->x, value), plot_at(&panel->y, best->fitness), 3, best->trial,
                  arena_format(arena, "trial %lld: %s at %s%s%s", (long long)best->trial,
                               plot_short(best->fitness).text,
                               plot_value(grid->axis[grid->along].values.choices, value).text,
                               name[0] != '\0' ? "; " : "", name));
    }
}

// A square and a name for each line, in columns below each other.
static void outer_key(const PlotData *data, const OuterGrid *grid, Plot *plot, Arena *arena)
{
    const int shown = outer_shown(grid);
    if (grid->lines < 2) return;
    PlotPanel panel = plot_plain_panel(plot, 300, 24 + OUTER_KEY_ROW * shown, NULL);
    for (int i = 0; i < shown; i++)
        plot_key_line(&panel, 8, 24 + OUTER_KEY_ROW * i, plot_colour(i),
                      outer_name(&data->campaign->spec, grid, grid->line[i], arena));
    plot_panel_end(&panel);
}

static Error outer_draw(const PlotData *data, Plot *plot, Arena *arena)
{
    OuterGrid grid = outer_grid(&data->campaign->spec, arena);
    TRY(outer_read(data, arena, &grid));
    outer_sort(data, &grid, arena);
    const Parameter *along = &data->campaign->spec.configured.parameters[grid.axis[grid.along].parameter];
    PlotRange range = plot_range();
    for (int64_t i = 0; i < outer_length(&grid); i++) plot_widen(&range, values_at(&grid.axis[grid.along].values, i));
    PlotAxis axis = plot_axis_over(along->name, along->unit, range);
    axis.choices = grid.axis[grid.along].values.choices;
    axis.whole = axis.choices != NULL;
    PlotPanel panel = plot_panel(plot, 440, 280, NULL, axis, outer_fitness_axis(data, &grid));
    for (int shown = outer_shown(&grid) - 1; shown >= 0; shown--) outer_line(data, &grid, shown, &panel, arena);
    plot_panel_end(&panel);
    outer_key(data, &grid, plot, arena);
    return error_none();
}

static const char *outer_caption(const PlotData *data, Arena *arena)
{
    const OuterGrid grid = outer_grid(&data->campaign->spec, arena);
    const char *text = "The best fitness at each point of the outer grid";
    if (grid.lines < 2) return arena_format(arena, "%s.", text);
    if (grid.lines <= OUTER_LINES) return arena_format(arena, "%s. The line with the best trial is named first.", text);
    return arena_format(arena, "%s: the %d of %lld lines with the best trials.", text, (int)OUTER_LINES,
                        (long long)grid.lines);
}

static const char *outer_nothing(const PlotData *data, Arena *arena)
{
    return data->campaign->spec.n_outer > 0 ? plot_no_fitness(data, arena)
                                            : "the spec has no outer grid, such as search.cmaes.outer";
}

const PlotKind plot_outer = {
    .name = "outer",
    .title = "Best of each outer point",
    .caption = outer_caption,
    .draw = outer_draw,
    .nothing = outer_nothing,
};
