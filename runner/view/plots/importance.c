// Which searched parameters matter: eta^2 on ranks and PED-ANOVA (effects.c), with the sign of Spearman's rank
// correlation; of few trials this correlation alone. In a campaign that measures sensitivity, Morris' or Sobol'
// measures with their intervals.
#include "plot.h"

#include <math.h>
#include <string.h>

#define IMPORTANCE_LABEL 120.0

// For the names of parameters, and for texts behind the bars.
static PlotBarRoom importance_room(const PlotData *data, double numbers)
{
    PlotBarRoom room = {.least = IMPORTANCE_LABEL, .numbers = numbers};
    for (int i = 0; i < data->n_varied; i++)
        room.names = fmax(room.names, plot_text_width(data->gain[data->order[i]].name) + 14);
    return room;
}

// Few trials have none.
static bool importance_has_effects(const PlotData *data)
{
    return data->n_varied > 0 && !isnan(data->effect[data->order[0]]);
}

static void importance_draw_correlation(const PlotData *data, Plot *plot)
{
    double most = 0.25;
    for (int g = 0; g < data->n_gains; g++) {                                  // NaN: it never varies
        while (most < 1 && fabs(data->correlation[g]) > 0.8 * most) most *= 2; // room for the number
    }
    const char *sign = data->maximize ? "Spearman's rho; positive: more of it is better"
                                      : "Spearman's rho; negative: more of it is better";
    PlotPanel panel = plot_bars(plot, 440, importance_room(data, 0), "Rank correlation with the fitness", sign,
                                data->n_varied, -most, most);
    for (int i = 0; i < data->n_varied; i++) {
        const int g = data->order[i];
        const double rho = fabs(data->correlation[g]) < 0.005 ? 0 : data->correlation[g]; // not -0.00
        const bool words = data->gain[g].choices != NULL;
        plot_bar(&panel, i, data->gain[g].name, rho, rho < 0 || words ? "ba" : "be");
        if (!isfinite(rho)) continue;
        char text[32];
        snprintf(text, sizeof text, words ? "eta %.2f" : "%+.2f", rho);
        const double x = plot_at(&panel.x, rho);
        const bool left = rho < 0 ? fabs(rho) < 0.8 * most : fabs(rho) > 0.8 * most; // of the bar's end
        svg_text(plot->out, fabs(rho) > 0.8 * most ? "in" : "tk", left ? x - 4 : x + 4,
                 PLOT_BAR_TOP + PLOT_BAR_ROW * i + 12, left ? "end" : "start", text);
    }
    plot_bars_zero(&panel, data->n_varied);
    plot_panel_end(&panel);
}

// ---- effects --------------------------------------------------------------------------------------------------------

// Which end of its range is better; "": neither, or its values are words.
static const char *importance_direction(const PlotData *data, int g)
{
    const double rho = data->correlation[g];
    if (data->gain[g].choices != NULL || !(data->effect[g] > 0.02)) return "";
    if (!(rho * rho > 0.3 * data->effect[g])) return ", best in between";
    return (rho > 0) == data->maximize ? ", more is better" : ", less is better";
}

static void importance_draw_share(const PlotData *data, const double *value, const char *title, const char *label,
                                  bool directed, Plot *plot)
{
    double most = 0.05;
    for (int g = 0; g < data->n_gains; g++) most = fmax(most, value[g]); // NaN: it never varies
    const double numbers = plot_text_width(directed ? "0.00, best in between" : "0.00") + 4;
    PlotPanel panel =
        plot_bars(plot, 440, importance_room(data, numbers), title, label, data->n_varied, 0, 1.02 * most);
    for (int i = 0; i < data->n_varied; i++) {
        const int g = data->order[i];
        plot_bar(&panel, i, data->gain[g].name, value[g], "ba");
        if (!isfinite(value[g])) continue;
        char text[64];
        snprintf(text, sizeof text, "%.2f%s", value[g], directed ? importance_direction(data, g) : "");
        svg_text(plot->out, "tk", plot_at(&panel.x, value[g]) + 4, PLOT_BAR_TOP + PLOT_BAR_ROW * i + 12, "start", text);
    }
    plot_bars_zero(&panel, data->n_varied);
    plot_panel_end(&panel);
}

static void importance_draw_effects(const PlotData *data, Plot *plot)
{
    importance_draw_share(data, data->effect, "Effect on the ranks of the fitness", "eta² on ranks, less chance", true,
                          plot);
    importance_draw_share(data, data->share, "The best tenth against all trials", "PED-ANOVA, share", false, plot);
}

// ---- measures of sensitivity ----------------------------------------------------------------------------------------

typedef struct ImportanceMeasure {
    char name[64], parameter[64];
    double value, low, high;
} ImportanceMeasure;

enum { IMPORTANCE_MEASURES = 512 };

static Error importance_read(const PlotData *data, ImportanceMeasure *measure, int *count)
{
    StoredMeasure row;
    Cursor rows = sensitivity_by_measure(data->campaign->database, IMPORTANCE_MEASURES);
    while (sensitivity_next(&rows, &row)) {
        ImportanceMeasure *m = &measure[(*count)++];
        *m = (ImportanceMeasure){.value = row.value, .low = row.low, .high = row.high};
        snprintf(m->name, sizeof m->name, "%s", row.measure);
        snprintf(m->parameter, sizeof m->parameter, "%s", row.parameter);
    }
    return cursor_close(&rows);
}

static const char *importance_words(const char *measure)
{
    static const char *const words[][2] = {
        {"mu_star", "Morris: mean size of the elementary effects, mu*"},
        {"mu", "Morris: mean of the elementary effects, mu"},
        {"sigma", "Morris: spread of the elementary effects, sigma"},
        {"first_order", "Sobol': first-order index"},
        {"total", "Sobol': total index"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i][0], measure) == 0) return words[i][1];
    }
    return measure;
}

static void importance_draw_measure(const ImportanceMeasure *measure, int rows, Plot *plot)
{
    PlotRange range = {0, 0};
    for (int i = 0; i < rows; i++) {
        plot_widen(&range, measure[i].value);
        plot_widen(&range, measure[i].low);
        plot_widen(&range, measure[i].high);
    }
    if (!(range.low < range.high)) range.high = 1;
    PlotBarRoom room = {.least = IMPORTANCE_LABEL};
    for (int i = 0; i < rows; i++) room.names = fmax(room.names, plot_text_width(measure[i].parameter) + 14);
    PlotPanel panel = plot_bars(plot, 440, room, importance_words(measure->name), "with intervals of 95 %", rows,
                                range.low, range.high);
    for (int i = 0; i < rows; i++) {
        plot_bar(&panel, i, measure[i].parameter, measure[i].value, "ba");
        plot_bar_whisker(&panel, i, measure[i].low, measure[i].high);
    }
    plot_panel_end(&panel);
}

static Error importance_draw(const PlotData *data, Plot *plot, Arena *arena)
{
    ImportanceMeasure *measure = ARENA_NEW(arena, ImportanceMeasure, IMPORTANCE_MEASURES);
    int count = 0;
    if (importance_has_effects(data))
        importance_draw_effects(data, plot);
    else if (data->n_fitted >= 3)
        importance_draw_correlation(data, plot);
    TRY(importance_read(data, measure, &count));
    for (int first = 0, last; first < count; first = last) {
        for (last = first; last < count && strcmp(measure[last].name, measure[first].name) == 0;) last++;
        importance_draw_measure(&measure[first], last - first, plot);
    }
    return error_none();
}

static const char *importance_nothing(const PlotData *data, Arena *arena)
{
    return data->n_fitted < 3 ? "fewer than three trials have a fitness" : plot_no_gain(data, arena);
}

// Where the best trial lies within 2 % of an end of a range, and others along the range are worse.
static const char *importance_ends(const PlotData *data, Arena *arena)
{
    const char *text = "";
    for (int i = 0; i < data->n_varied; i++) {
        const int g = data->order[i];
        const PlotGain *gain = &data->gain[g];
        const double best = data->best_value[g], low = gain->low, high = gain->high;
        const double part = gain->log ? log(best / low) / log(high / low) : (best - low) / (high - low);
        if (gain->choices != NULL || !(data->effect[g] > 0.02) || (part > 0.02 && part < 0.98)) continue;
        const double half = gain->log ? sqrt(high / low) : (high - low) / 2;
        const double beyond = part > 0.5  ? (gain->log ? high * half : high + half)
                              : gain->log ? low / half
                                          : low - half;
        char unit[64];
        text = arena_format(arena, "%s The best %s%s, %s, lies at the %s end of its range: try %s to %s.", text,
                            gain->name, plot_unit(gain->unit, unit, sizeof unit), plot_short(best).text,
                            part > 0.5 ? "upper" : "lower", part > 0.5 ? "up" : "down", plot_short(beyond).text);
    }
    return text;
}

static const char *importance_caption(const PlotData *data, Arena *arena)
{
    bool words = false;
    for (int g = 0; g < data->n_gains; g++) words |= data->gain[g].choices != NULL;
    if (importance_has_effects(data))
        return arena_format(
            arena,
            "Left: the share of the variation of all ranks that the parameter explains alone. Right: how "
            "much its values among the best tenth differ from those of all trials. Neither sees what "
            "parameters do together.%s",
            importance_ends(data, arena));
    return arena_format(arena,
                        "Rank correlation finds monotonic effects only: a parameter whose best value is in the middle "
                        "of its range can matter and have a correlation near zero.%s",
                        words ? " Words have no order: eta is the correlation ratio of the ranks, from 0 to 1." : "");
}

const PlotKind plot_importance = {
    .name = "importance",
    .title = "Importance of the parameters",
    .caption = importance_caption,
    .draw = importance_draw,
    .nothing = importance_nothing,
};
