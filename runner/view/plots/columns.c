// Any column of the trials against any other, with a third as colour: a number by a scale, words by kinds. It is the
// plot scatter with axes that the user names.
#include "plot.h"

#include <math.h>
#include <string.h>

enum { COLUMNS_POINTS = 5000, COLUMNS_KINDS = 6, COLUMNS_WORD = 64 };

typedef struct ColumnsAxis {
    const char *option, *column, *unit, *choices;
    bool words; // a text without a list of choices
} ColumnsAxis;

typedef struct ColumnsPoint {
    int64_t trial;
    double x, y, colour; // colour: NaN without one; of words their number in `word`
} ColumnsPoint;

typedef struct Columns {
    ColumnsAxis axis[3]; // x, y, colour
    int count;           // 3 with a colour
    ColumnsPoint *point; // [points]
    int64_t points;
    char word[COLUMNS_KINDS + 1][COLUMNS_WORD]; // in the order of trials; the last stands for all others
    int words;
    double threshold[PLOT_CLASSES - 1];
} Columns;

// ---- columns --------------------------------------------------------------------------------------------------------

static const char *columns_unit(const Configured *configured, const char *name)
{
    for (int p = 0; p < configured->n_parameters; p++) {
        if (strcmp(configured->parameters[p].name, name) == 0) return configured->parameters[p].unit;
    }
    for (int m = 0; m < configured->n_metrics; m++) {
        if (strcmp(configured->metrics[m].name, name) == 0) return configured->metrics[m].unit;
    }
    return NULL;
}

static Error columns_find_axis(const PlotData *data, const TrialColumns *all, ColumnsAxis *axis)
{
    const int column = trial_column_find(all, axis->column);
    if (column < 0) {
        const char *nearest = nearest_name(axis->column, all->names, all->count);
        return error_make(ERROR_USER, "--%s: the trials have no column '%.60s'%s%.60s%s", axis->option, axis->column,
                          nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                          nearest != NULL ? "'?" : "");
    }
    axis->choices = all->choices[column];
    axis->words = all->is_text[column] && axis->choices == NULL;
    axis->unit = columns_unit(&data->campaign->spec.configured, axis->column);
    if (axis->words && strcmp(axis->option, "colour") != 0)
        return error_make(ERROR_USER,
                          "--%s: the column %.60s holds words, which have no place on an axis: use --colour",
                          axis->option, axis->column);
    return error_none();
}

static Error columns_find(const PlotData *data, Arena *arena, Columns *columns)
{
    const PlotColumns *asked = data->axes;
    TrialColumns all;
    TRY(trial_columns(data->campaign->database, &data->campaign->spec, arena, &all));
    columns->axis[0] = (ColumnsAxis){.option = "x", .column = asked->x};
    columns->axis[1] = (ColumnsAxis){.option = "y", .column = asked->y != NULL ? asked->y : data->value_column};
    columns->axis[2] = (ColumnsAxis){.option = "colour", .column = asked->colour};
    columns->count = asked->colour != NULL ? 3 : 2;
    for (int k = 0; k < columns->count; k++) TRY(columns_find_axis(data, &all, &columns->axis[k]));
    return error_none();
}

// ---- trials ---------------------------------------------------------------------------------------------------------

static double columns_word(Columns *columns, const char *word)
{
    char start[COLUMNS_WORD];
    snprintf(start, sizeof start, "%s", word);
    int w = 0;
    while (w < columns->words && strcmp(columns->word[w], start) != 0) w++;
    if (w == columns->words && w <= COLUMNS_KINDS) {
        snprintf(columns->word[w], COLUMNS_WORD, "%s", w < COLUMNS_KINDS ? start : "others");
        columns->words++;
    }
    return w < COLUMNS_KINDS ? w : COLUMNS_KINDS;
}

static double columns_number(Columns *columns, const Cursor *trial, int k)
{
    if (cell_is_null(trial, k)) return (double)NAN;
    if (columns->axis[k].words) return columns_word(columns, cell_text(trial, k));
    return cell_value(trial, k, columns->axis[k].choices);
}

// Of the sample, evenly. Trials without a number in a column are left out.
static Error columns_read(const PlotData *data, Arena *arena, Columns *columns)
{
    const int64_t each = 1 + data->n_sample / COLUMNS_POINTS;
    const char *names[3] = {columns->axis[0].column, columns->axis[1].column, columns->axis[2].column};
    columns->point = ARENA_NEW(arena, ColumnsPoint, COLUMNS_POINTS + 1);
    Cursor trials = trials_by_id(data->campaign->database, names, columns->count, arena);
    for (int64_t s = 0; s < data->n_sample; s += each) {
        if (!trial_at(&trials, data->id[s])) continue;
        const double x = columns_number(columns, &trials, 0), y = columns_number(columns, &trials, 1);
        if (!isfinite(x) || !isfinite(y)) continue;
        const double colour = columns->count == 3 ? columns_number(columns, &trials, 2) : 0;
        if (isfinite(colour)) columns->point[columns->points++] = (ColumnsPoint){data->id[s], x, y, colour};
    }
    TRY(cursor_close(&trials));
    if (columns->points > 0) return error_none();
    return error_make(ERROR_USER, "there is nothing to plot as scatter: no trial has a number in %s%.60s and %.60s",
                      columns->count == 3 ? "all of " : "", names[0], columns->count == 3 ? names[2] : names[1]);
}

// ---- drawing --------------------------------------------------------------------------------------------------------

static Error columns_axis(const Columns *columns, int k, bool log, PlotAxis *axis)
{
    const ColumnsAxis *of = &columns->axis[k];
    PlotRange range = plot_range();
    for (int64_t i = 0; i < columns->points; i++)
        plot_widen(&range, k == 0 ? columns->point[i].x : columns->point[i].y);
    if (log && !(range.low > 0))
        return error_make(ERROR_USER,
                          "--log %s: some values of %.60s are not above 0: leave it out, or add --where \"%.60s > 0\"",
                          of->option, of->column, of->column);
    if (of->choices != NULL) range = (PlotRange){-0.2, words_count(of->choices) - 0.8};
    *axis = log ? plot_log_axis_over(of->column, range) : plot_axis_over(of->column, of->unit, range);
    axis->unit = of->unit;
    axis->choices = of->choices;
    axis->whole = of->choices != NULL;
    return error_none();
}

// A class by words, or by the scale.
static void columns_class(const Columns *columns, double colour, char *name, size_t size)
{
    const ColumnsAxis *of = &columns->axis[2];
    if (columns->count < 3) {
        snprintf(name, size, "pt");
    } else if (of->words || of->choices != NULL) {
        const int kind = (int)colour;
        const bool pale = of->words && (kind == COLUMNS_KINDS || strcmp(columns->word[kind], "none") == 0);
        snprintf(name, size, "ol k%d", pale ? 0 : 1 + kind % COLUMNS_KINDS);
    } else {
        snprintf(name, size, "ol c%d", plot_class(colour, columns->threshold));
    }
}

static void columns_draw_words(const Columns *columns, Plot *plot, Arena *arena)
{
    const ColumnsAxis *of = &columns->axis[2];
    const int count = of->words ? columns->words : words_count(of->choices);
    const char **classes = ARENA_NEW(arena, const char *, count), **texts = ARENA_NEW(arena, const char *, count);
    for (int w = 0; w < count; w++) {
        char name[16];
        columns_class(columns, w, name, sizeof name);
        classes[w] = arena_copy(arena, name);
        texts[w] = of->words ? columns->word[w] : arena_copy(arena, value_text(of->choices, w).text);
    }
    plot_keys(plot, 440, count, classes, texts);
}

static void columns_draw_key(Columns *columns, Plot *plot, Arena *arena)
{
    const ColumnsAxis *of = &columns->axis[2];
    char unit[64];
    if (of->words || of->choices != NULL) {
        columns_draw_words(columns, plot, arena);
        return;
    }
    double *value = ARENA_NEW(arena, double, columns->points);
    for (int64_t i = 0; i < columns->points; i++) value[i] = columns->point[i].colour;
    plot_find_thresholds(value, columns->points, columns->threshold);
    PlotPanel key = plot_plain_panel(plot, 440, 52, NULL);
    plot_scale_key(&key, 4, 20, fmin(400, key.width - 24), columns->threshold,
                   arena_format(arena, "%s%s", of->column, plot_unit(of->unit, unit, sizeof unit)));
    plot_panel_end(&key);
    plot_new_row(plot);
}

Error plot_draw_columns(const PlotData *data, Plot *plot, Arena *arena)
{
    Columns *columns = ARENA_NEW(arena, Columns, 1);
    PlotAxis x, y;
    TRY(columns_find(data, arena, columns));
    TRY(columns_read(data, arena, columns));
    TRY(columns_axis(columns, 0, data->axes->log_x, &x));
    TRY(columns_axis(columns, 1, data->axes->log_y, &y));
    if (columns->count == 3) columns_draw_key(columns, plot, arena);
    PlotPanel panel = plot_panel(plot, 560, 380, NULL, x, y);
    for (int64_t i = 0; i < columns->points; i++) {
        const ColumnsPoint *point = &columns->point[i];
        char name[16];
        columns_class(columns, point->colour, name, sizeof name);
        plot_mark(&panel, name, plot_at(&panel.x, point->x), plot_at(&panel.y, point->y), 2, point->trial,
                  arena_format(arena, "trial %lld: %s, %s", (long long)point->trial, plot_short(point->x).text,
                               plot_short(point->y).text));
    }
    plot_panel_end(&panel);
    return error_none();
}
