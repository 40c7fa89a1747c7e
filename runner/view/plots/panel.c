// Panels: a frame with two axes, ticks at round numbers, and the marks that all plots use.
//
// Colours are classes (plot_style). The last class of the scale is the best or the greatest value. It has the most
// contrast: dark on a light page, bright on a dark one. Lightness is monotonic along the scale, so it can be read
// without colour vision and in grey. Kinds have the palette of Okabe & Ito (Color universal design, 2008).
#include "plot.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLOT_GAP 16.0
#define PLOT_SHRINKS 0.7     // of its width, and of the height of its axis: how small a panel of a figure may become
#define PLOT_LABEL_ROOM 10.0 // pixels between two labels, at least
#define PLOT_Y_TICKS 34.0    // pixels between two marks of a vertical axis, about
#define PLOT_SHARED 32.0     // pixels of the numbers and the name of a horizontal axis
#define PLOT_CHARACTER 6.0   // pixels between two numbers of a key, at least

// ---- colours --------------------------------------------------------------------------------------------------------

typedef struct PlotRule {
    const char *selector, *light, *dark;
} PlotRule;

static const PlotRule plot_rules[] = {
    {"text", "fill:#333b45", "fill:#c6ced8"},
    {".tt", "fill:#12171d;font-weight:600", "fill:#f2f5f8;font-weight:600"},
    {".ax", "stroke:#8a95a2", "stroke:#66717f"},
    {".gr", "stroke:#e4e8ec", "stroke:#2a323c"},
    {".ln", "stroke:#22577a;fill:none;stroke-width:1.6", "stroke:#7cc4de;fill:none;stroke-width:1.6"},
    {".li", "stroke:#9db0bf;fill:none;stroke-width:.8", "stroke:#46586a;fill:none;stroke-width:.8"},
    {".pt", "fill:#22577a", "fill:#9fd8ec"},
    {".ba", "fill:#1f5f8a", "fill:#3f87ad"},
    {".be", "fill:#d9480f", "fill:#ff8a4c"},
    {".bl", "stroke:#d9480f;fill:none;stroke-width:1.8", "stroke:#ff8a4c;fill:none;stroke-width:1.8"},
    {".rd", "stroke:#d9480f;fill:none;stroke-width:2.4;stroke-linecap:round",
     "stroke:#ff8a4c;fill:none;stroke-width:2.4;stroke-linecap:round"},
    {".wh", "stroke:#333b45;stroke-width:1.2", "stroke:#c6ced8;stroke-width:1.2"},
    {".in", "fill:#fff", "fill:#12171d"},                                        // on a bar
    {".ol", "stroke:#5c6875;stroke-width:.3", "stroke:#8591a0;stroke-width:.3"}, // a pale dot has an outline
    {"." PLOT_FAILED_CLASS, "fill:#f6e9e2;stroke:#b5674a;stroke-width:.4",
     "fill:#3a2620;stroke:#d08566;stroke-width:.4"},
    // kinds: the hues of Okabe & Ito, each with a lightness of its own, so that they differ in grey too
    {".k0", "fill:#c9d1d9", "fill:#3a4552"},
    {".k1", "fill:#bd5300", "fill:#c45700"},
    {".k2", "fill:#005b8f", "fill:#0098ed"},
    {".k3", "fill:#e69f00", "fill:#eba200"},
    {".k4", "fill:#00a377", "fill:#00ebab"},
    {".k5", "fill:#67274b", "fill:#993a6f"},
    {".k6", "fill:#97d1f1", "fill:#dff1fb"},
    // the same of lines
    {".h1", "stroke:#bd5300;fill:none", "stroke:#c45700;fill:none"},
    {".h2", "stroke:#005b8f;fill:none", "stroke:#0098ed;fill:none"},
    {".h3", "stroke:#e69f00;fill:none", "stroke:#eba200;fill:none"},
    {".h4", "stroke:#00a377;fill:none", "stroke:#00ebab;fill:none"},
    // dashes of lines
    {".d1", "stroke-dasharray:7 3", "stroke-dasharray:7 3"},
    {".d2", "stroke-dasharray:2 2.5", "stroke-dasharray:2 2.5"},
    // drawings of a model
    {".gd", "stroke:#5c6875;fill:none;stroke-width:1.5", "stroke:#8591a0;fill:none;stroke-width:1.5"},
    {".body", "stroke:#22577a;fill:#22577a", "stroke:#7cc4de;fill:#7cc4de"},
    {".leg,.spring", "stroke:#333b45;fill:none", "stroke:#c6ced8;fill:none"},
    {".hip", "stroke:none;fill:#333b45", "stroke:none;fill:#c6ced8"},
    {".foot", "stroke:none;fill:#d9480f", "stroke:none;fill:#ff8a4c"},
    {".nf", "fill:none", "fill:none"},
    // solids by the light on them
    {".body-lit", "stroke:#173f59;fill:#7fb0cf", "stroke:#0c151c;fill:#a5dbee"},
    {".body-side", "stroke:#173f59;fill:#5590b5", "stroke:#0c151c;fill:#76b9d2"},
    {".body-dark", "stroke:#173f59;fill:#3a6f93", "stroke:#0c151c;fill:#4c8da9"},
    {".leg-lit", "stroke:#333b45;fill:#dfe4e9", "stroke:#0c151c;fill:#bcc6d0"},
    {".leg-side", "stroke:#333b45;fill:#bcc6cf", "stroke:#0c151c;fill:#95a1ae"},
    {".leg-dark", "stroke:#333b45;fill:#98a5b1", "stroke:#0c151c;fill:#707d8a"},
    {".foot-lit", "stroke:#7d2c0c;fill:#f5a27b", "stroke:#0c151c;fill:#ffb28a"},
    {".foot-side", "stroke:#7d2c0c;fill:#e8763f", "stroke:#0c151c;fill:#f58a52"},
    {".foot-dark", "stroke:#7d2c0c;fill:#c1511b", "stroke:#0c151c;fill:#c4622e"},
    {".sd", "fill:#1b232c;fill-opacity:.12", "fill:#000;fill-opacity:.35"},
    {".tr", "stroke:#9db0bf;fill:none;stroke-dasharray:3 3", "stroke:#566879;fill:none;stroke-dasharray:3 3"},
};

// Of the scale, for a light and a dark page: class cN fills, and class sN draws a line.
static const char *const plot_scale[PLOT_CLASSES][2] = {
    {"#e9f0ee", "#1b2733"}, {"#cbe3da", "#1f3a50"}, {"#a2d0c6", "#21536d"}, {"#73b8b7", "#276f87"},
    {"#4799a9", "#3c8f9d"}, {"#2b7596", "#62b1ab"}, {"#26517c", "#9cd1b8"}, {"#1e2d57", "#e4f4cf"},
};

void plot_style(FILE *out, const char *scope, bool dark)
{
    for (size_t i = 0; i < sizeof plot_rules / sizeof *plot_rules; i++) {
        const PlotRule *rule = &plot_rules[i];
        const char *comma = strchr(rule->selector, ',');
        if (comma != NULL) fprintf(out, "%s .p %.*s,", scope, (int)(comma - rule->selector), rule->selector);
        fprintf(out, "%s .p %s{%s}\n", scope, comma != NULL ? comma + 1 : rule->selector,
                dark ? rule->dark : rule->light);
    }
    for (int c = 0; c < PLOT_CLASSES; c++)
        fprintf(out, "%s .p .c%d{fill:%s}\n%s .p .s%d{stroke:%s;fill:none}\n", scope, c, plot_scale[c][dark], scope, c,
                plot_scale[c][dark]);
}

// ---- texts ----------------------------------------------------------------------------------------------------------

// Hundredths of the font's size, of the characters from ' ' to '~' in DejaVu Sans, which is wider than Helvetica, Arial
// and other fonts that a picture may be shown with.
static const unsigned char plot_advance[] = {
    32, 40, 46, 84, 64, 95, 78, 27, 39,  39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79,
    60, 79, 69, 63, 61, 73, 68, 99, 69,  61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63,
    63, 28, 28, 58, 28, 97, 63, 61, 63,  63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84};

// Of one character, in pixels; 0 of the bytes that continue one. Characters of three bytes and more may be wide.
static double plot_advance_of(unsigned char byte)
{
    if (byte >= ' ' && byte <= '~') return 0.01 * PLOT_FONT * plot_advance[byte - ' '];
    return byte >= 0xE0 ? PLOT_FONT : byte >= 0xC0 ? 0.7 * PLOT_FONT : 0;
}

double plot_text_width(const char *text)
{
    double width = 0;
    for (; *text != '\0'; text++) width += plot_advance_of((unsigned char)*text);
    return width;
}

const char *plot_cut(const char *text, double room, char *cut, size_t size)
{
    static const char more[] = "\xE2\x80\xA6"; // an ellipsis
    double width = PLOT_FONT;
    size_t kept = 0;
    if (plot_text_width(text) <= room && strlen(text) < size) return text;
    for (size_t i = 0; text[i] != '\0' && i + sizeof more < size; i++) {
        const double advance = plot_advance_of((unsigned char)text[i]);
        if (advance > 0 && width + advance > room) break;
        width += advance;
        kept = i + 1;
    }
    while (kept > 0 && text[kept - 1] == ' ') kept--;
    snprintf(cut, size, "%.*s%s", (int)kept, text, more);
    return cut;
}

// ---- axes -----------------------------------------------------------------------------------------------------------

static Text32 plot_digits(double value, int digits)
{
    Text32 text;
    const bool thousands = fabs(value) >= 1e4 && fabs(value) < 1e6 && digits < 6;
    const double shown = thousands ? nearbyint(value) : value == 0 ? 0.0 : value;
    snprintf(text.text, sizeof text.text, "%.*g", thousands ? 6 : digits, shown);
    char *exponent = strstr(text.text, "e+0"); // 1e+06 as 1e6, 1e-05 as 1e-5
    if (exponent != NULL) memmove(exponent + 1, exponent + 3, strlen(exponent + 3) + 1);
    exponent = strstr(text.text, "e-0");
    if (exponent != NULL) memmove(exponent + 2, exponent + 3, strlen(exponent + 3) + 1);
    return text;
}

Text32 plot_short(double value) { return plot_digits(value, 4); }

ValueText plot_value(const char *choices, double value)
{
    ValueText text;
    if (choices != NULL) return value_text(choices, value);
    snprintf(text.text, sizeof text.text, "%s", plot_short(value).text);
    return text;
}

const char *plot_unit(const char *unit, char *text, size_t size)
{
    const bool none = unit == NULL || unit[0] == '\0' || strcmp(unit, "1") == 0;
    snprintf(text, size, none ? "%.0s" : " (%s)", none ? "" : unit);
    return text;
}

double plot_at(const PlotAxis *axis, double value)
{
    const double fraction = axis->log ? log(value / axis->low) / log(axis->high / axis->low)
                                      : (value - axis->low) / (axis->high - axis->low);
    return axis->from + fraction * (axis->to - axis->from);
}

PlotAxis plot_axis_of(const PlotGain *gain)
{
    return (PlotAxis){.name = gain->name,
                      .unit = gain->unit,
                      .low = gain->edge[0],
                      .high = gain->edge[gain->n_bins],
                      .log = gain->log,
                      .whole = gain->choices != NULL,
                      .choices = gain->choices};
}

PlotRange plot_range(void) { return (PlotRange){(double)INFINITY, (double)-INFINITY}; }

void plot_widen(PlotRange *range, double value)
{
    if (!isfinite(value)) return;
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

PlotAxis plot_axis_over(const char *name, const char *unit, PlotRange range)
{
    if (!(range.low <= range.high)) range = (PlotRange){0, 1};
    const double length = range.high - range.low;
    const double margin = length > 0 ? 0.05 * length : range.low != 0 ? 0.1 * fabs(range.low) : 0.5;
    return (PlotAxis){.name = name, .unit = unit, .low = range.low - margin, .high = range.high + margin};
}

PlotAxis plot_log_axis_over(const char *name, PlotRange range)
{
    const double high = range.low == range.high ? 2 * range.low : range.high;
    return (PlotAxis){.name = name, .low = range.low / 1.15, .high = high * 1.15, .log = true};
}

PlotAxis plot_fitness_axis(const PlotData *data)
{
    const double best = data->n_best > 0 ? data->best_fitness[0] : 0, most = plot_quantile(data, 0.98);
    if (data->maximize) {
        const double low = isfinite(most) && most < best ? most : best - 1;
        return (PlotAxis){.name = data->value_name,
                          .low = fmax(low - 0.02 * (best - low), -DBL_MAX),
                          .high = best + 0.04 * (best - low)};
    }
    const double high = isfinite(most) && most > best ? most : best + 1;
    if (best > 0 && high > 30 * best)
        return (PlotAxis){.name = data->value_name, .low = best / 1.2, .high = fmin(high * 1.05, DBL_MAX), .log = true};
    return (PlotAxis){.name = data->value_name,
                      .low = best - 0.04 * (high - best),
                      .high = fmin(high + 0.02 * (high - best), DBL_MAX)};
}

// Round numbers: 1, 2 or 5 times a power of ten (and 1 to 9 of a logarithmic axis that spans little).
static int plot_ticks_even(const PlotAxis *axis, int wanted, double *tick)
{
    const double span = axis->high - axis->low, rough = span / wanted, power = pow(10, floor(log10(rough)));
    const double ratio = rough / power;
    double step = power * (ratio < 1.6 ? 1 : ratio < 3.6 ? 2 : ratio < 7.6 ? 5 : 10);
    int count = 0;
    if (axis->whole && step < 1) step = 1;
    for (double k = ceil(axis->low / step - 1e-9);
         isfinite(k * step) && k * step <= axis->high + 1e-9 * step && count < PLOT_TICKS_MAX; k++)
        tick[count++] = k * step;
    return count;
}

static int plot_ticks_log(const PlotAxis *axis, int wanted, double *tick)
{
    static const double few[] = {1, 2, 5};
    const double decades = log10(axis->high / axis->low);
    const int each = decades > wanted ? (int)ceil(decades / wanted) : 1, per_decade = 2 * decades <= wanted + 1 ? 3 : 1;
    int count = 0;
    for (int d = (int)floor(log10(axis->low)); d <= (int)ceil(log10(axis->high)); d++) {
        for (int i = 0; i < per_decade && d % each == 0; i++) {
            const double value = few[i] * pow(10, d);
            if (value >= axis->low * (1 - 1e-9) && value <= axis->high * (1 + 1e-9) && count < PLOT_TICKS_MAX)
                tick[count++] = value;
        }
    }
    return count >= 2 ? count : plot_ticks_even(axis, wanted, tick);
}

int plot_ticks(const PlotAxis *axis, double pixels, double *tick)
{
    const double length = fabs(axis->to - axis->from);
    const int wanted = length < 3 * pixels ? 3 : (int)(length / pixels);
    if (!(axis->low < axis->high) || !isfinite(axis->high - axis->low) || (axis->log && !(axis->low > 0))) return 0;
    return axis->log ? plot_ticks_log(axis, wanted, tick) : plot_ticks_even(axis, wanted, tick);
}

// Labels of an axis have the digits that distinguish neighbours. If that makes them too long, they are differences to a
// base, which stands beside the axis' name.
enum { PLOT_LABEL_MOST = 7 }; // characters of a label

typedef struct PlotLabels {
    ValueText text[PLOT_TICKS_MAX];
    Text32 base; // "" if there is none
} PlotLabels;

static double plot_label_gap(const double *tick, int count, int i)
{
    return i > 0 ? tick[i] - tick[i - 1] : count > 1 ? tick[1] - tick[0] : fabs(tick[0]);
}

static void plot_label_texts(const double *tick, int count, double base, PlotLabels *labels)
{
    for (int digits = 4, exact = 0; digits < 16 && exact < count; digits++) {
        exact = 0;
        for (int i = 0; i < count; i++) {
            const double gap = plot_label_gap(tick, count, i), from_base = tick[i] - base;
            const Text32 text = plot_digits(fabs(from_base) > 1e-3 * gap ? from_base : 0, digits);
            snprintf(labels->text[i].text, sizeof labels->text[i].text, "%s", text.text);
            exact += fabs(strtod(text.text, NULL) - from_base) <= 0.05 * gap;
        }
    }
}

static PlotLabels plot_labels(const PlotAxis *axis, const double *tick, int count)
{
    PlotLabels labels = {.base = {""}};
    int shortest = 0;
    size_t longest = 0;
    for (int i = 0; axis->choices != NULL && i < count; i++) labels.text[i] = value_text(axis->choices, tick[i]);
    if (axis->choices != NULL) return labels;
    plot_label_texts(tick, count, 0, &labels);
    for (int i = 0; i < count; i++) {
        const size_t length = strlen(labels.text[i].text);
        if (length > longest) longest = length;
        if (length < strlen(labels.text[shortest].text)) shortest = i;
    }
    if (longest <= PLOT_LABEL_MOST) return labels;
    const double base = strtod(labels.text[shortest].text, NULL);
    if (base == 0) return labels;
    snprintf(labels.base.text, sizeof labels.base.text, "%.31s", labels.text[shortest].text);
    plot_label_texts(tick, count, base, &labels);
    return labels;
}

// The axis' name with its base, unit and scale. Where there is too little room, the name is cut.
static const char *plot_axis_name(const PlotAxis *axis, const PlotLabels *labels, double room, char *text, size_t size)
{
    char unit[64], cut[256], after[160];
    const char *base = labels->base.text;
    snprintf(after, sizeof after, "%s%s%s%s",
             base[0] == '\0'  ? ""
             : base[0] == '-' ? " + "
                              : " - ",
             base[0] == '-' ? base + 1 : base, plot_unit(axis->unit, unit, sizeof unit),
             axis->log ? ", log scale" : "");
    snprintf(text, size, "%s%s", plot_cut(axis->name, room - plot_text_width(after), cut, sizeof cut), after);
    return text;
}

// The least gap between two labels, in pixels; negative: they overlap.
static double plot_label_room(const PlotAxis *axis, const double *tick, int count, const PlotLabels *labels)
{
    double room = (double)INFINITY;
    for (int i = 1; i < count; i++) {
        const double widths = plot_text_width(labels->text[i - 1].text) + plot_text_width(labels->text[i].text);
        room = fmin(room, fabs(plot_at(axis, tick[i]) - plot_at(axis, tick[i - 1])) - widths / 2);
    }
    return room;
}

// Ticks of a horizontal axis: the most that leave a gap between their labels.
static int plot_ticks_apart(const PlotAxis *axis, double *tick, PlotLabels *labels)
{
    int count = 0;
    for (double pixels = 52; pixels < 400; pixels *= 1.3) {
        count = plot_ticks(axis, pixels, tick);
        *labels = plot_labels(axis, tick, count);
        if (plot_label_room(axis, tick, count, labels) >= PLOT_LABEL_ROOM) break;
    }
    while (count > 2 && plot_label_room(axis, tick, count, labels) < PLOT_LABEL_ROOM / 2) { // every second label
        count = (count + 1) / 2;
        for (int i = 1; i < count; i++) {
            tick[i] = tick[2 * i];
            labels->text[i] = labels->text[2 * i];
        }
    }
    return count;
}

// The x of a text's middle that keeps it inside of the panel.
static double plot_inside(const PlotPanel *panel, double x, const char *text)
{
    const double half = plot_text_width(text) / 2;
    return fmax(fmin(x, panel->width - half - 2), half);
}

static void plot_draw_x(const PlotPanel *panel)
{
    const PlotAxis *axis = &panel->x;
    FILE *out = panel->plot->out;
    const double bottom = panel->y.from;
    double tick[PLOT_TICKS_MAX];
    PlotLabels labels;
    const int count = plot_ticks_apart(axis, tick, &labels);
    svg_line(out, "ax", axis->from, bottom, axis->to, bottom);
    for (int i = 0; i < count; i++) {
        const double x = plot_at(axis, tick[i]);
        svg_line(out, "ax", x, bottom, x, bottom + 4);
        if (axis->shared) continue;
        svg_text(out, "tk", plot_inside(panel, x, labels.text[i].text), bottom + 16, "middle", labels.text[i].text);
    }
    if (axis->shared) return;
    char text[512];
    plot_axis_name(axis, &labels, panel->width - 4, text, sizeof text);
    svg_text(out, "la", plot_inside(panel, (axis->from + axis->to) / 2, text), bottom + 33, "middle", text);
}

static void plot_draw_y(const PlotPanel *panel)
{
    const PlotAxis *axis = &panel->y;
    FILE *out = panel->plot->out;
    double tick[PLOT_TICKS_MAX];
    const int count = plot_ticks(axis, PLOT_Y_TICKS, tick);
    const PlotLabels labels = plot_labels(axis, tick, count);
    for (int i = 0; i < count; i++) {
        const double y = plot_at(axis, tick[i]);
        svg_line(out, "gr", panel->x.from, y, panel->x.to, y);
        svg_text(out, "tk", panel->x.from - 6, y + 4, "end", labels.text[i].text);
    }
    char text[512];
    svg_text(out, "la", 2, axis->to - 9, "start", plot_axis_name(axis, &labels, panel->width - 4, text, sizeof text));
}

// ---- panels ---------------------------------------------------------------------------------------------------------

// In a figure, panels of a row share its width. They become narrower than asked for, so that more fit, or wider.
double plot_panel_width(const Plot *plot, double width)
{
    if (!plot->figure) return plot->page ? width : fmin(width, plot->limit);
    const int fit = (int)((plot->limit + PLOT_GAP) / (PLOT_SHRINKS * width + PLOT_GAP));
    const int panels = plot->panels[plot->run < PLOT_RUNS ? plot->run : PLOT_RUNS - 1], most = panels > 1 ? panels : 1;
    const int rows = fit > 1 ? (most + fit - 1) / fit : most, columns = (most + rows - 1) / rows;
    return (plot->limit - (columns - 1) * PLOT_GAP) / columns;
}

double plot_panel_height(const Plot *plot, double width, double height)
{
    if (!plot->figure) return height;
    const double narrower = fmax(fmin(plot_panel_width(plot, width) / width, 1), PLOT_SHRINKS);
    return PLOT_AROUND + fmax(height - PLOT_AROUND, 0) * narrower * plot->tall;
}

static void plot_take_room(Plot *plot, double width, double height)
{
    if (plot->run < PLOT_RUNS) plot->met[plot->run]++;
    if (plot->x > 0 && plot->x + width > plot->limit + 0.5) {
        plot->x = 0;
        plot->y += plot->row + PLOT_GAP;
        plot->row = 0;
    }
    if (height > plot->row) plot->row = height;
    if (plot->x + width > plot->width) plot->width = plot->x + width;
    if (plot->y + height > plot->height) plot->height = plot->y + height;
}

void plot_new_row(Plot *plot)
{
    if (plot->page) fputs("<i class=\"break\"></i>\n", plot->out);
    plot->x = 2 * plot->limit;
    plot->run++;
}

// The numbers by which the page's script converts a pixel to a value: low high from to log.
static void plot_note_axis(FILE *out, const char *name, const PlotAxis *axis)
{
    fprintf(out, " data-%s=\"%s %s %.1f %.1f %d ", name, text_number(axis->low).text, text_number(axis->high).text,
            axis->from, axis->to, axis->log);
    put_markup(out, axis->name);
    fputc('"', out);
    if (axis->choices == NULL) return;
    fprintf(out, " data-%s-words=\"", name);
    put_markup(out, axis->choices);
    fputc('"', out);
}

static void plot_open(const PlotPanel *panel, const char *title)
{
    enum { PLOT_FITS = 440 };
    Plot *plot = panel->plot;
    const char *name = title != NULL ? title : panel->y.name != NULL ? panel->y.name : plot->name;
    fputs(name != NULL ? "<svg class=\"p\" role=\"img\"" : "<svg class=\"p\" aria-hidden=\"true\"", plot->out);
    if (!plot->page) fprintf(plot->out, " x=\"%.0f\" y=\"%.0f\"", plot->x, plot->y);
    if (plot->page && panel->width <= PLOT_FITS) fputs(" data-fit", plot->out); // fills a narrow screen (page.css)
    fprintf(plot->out, " width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\"", panel->width, panel->height,
            panel->width, panel->height);
    if (panel->x.name != NULL) plot_note_axis(plot->out, "x", &panel->x);
    if (panel->y.name != NULL) plot_note_axis(plot->out, "y", &panel->y);
    fputs(" aria-label=\"", plot->out);
    put_markup(plot->out, name != NULL ? name : "");
    if (panel->x.name != NULL) {
        fputs(", ", plot->out);
        put_markup(plot->out, panel->x.name);
    }
    fputs("\">", plot->out);
    char cut[256];
    if (title != NULL) svg_text(plot->out, "tt", 2, 14, "start", plot_cut(title, panel->width / 1.25, cut, sizeof cut));
}

// Pixels for the labels of a vertical axis: words may need more than numbers, up to half of the panel. A figure has no
// more than they need.
static double plot_label_width(const Plot *plot, const PlotAxis *axis, double width)
{
    double most = 0, tick[PLOT_TICKS_MAX];
    for (int w = 0; axis->choices != NULL && w < words_count(axis->choices); w++) {
        const double word = plot_text_width(value_text(axis->choices, w).text);
        if (w >= axis->low && w <= axis->high) most = fmax(most, word);
    }
    const int count = plot->figure && axis->choices == NULL ? plot_ticks(axis, PLOT_Y_TICKS, tick) : 0;
    const PlotLabels labels = plot_labels(axis, tick, count);
    for (int i = 0; i < count; i++) most = fmax(most, plot_text_width(labels.text[i].text));
    const double least = plot->figure ? 30 : 54;
    return fmin(fmax(least, most + 12), fmax(54, width / 2));
}

PlotPanel plot_panel(Plot *plot, double width, double height, const char *title, PlotAxis x, PlotAxis y)
{
    const bool plain = x.name == NULL && y.name == NULL;
    PlotPanel panel = {.plot = plot, .x = x, .y = y};
    panel.width = plot_panel_width(plot, width);
    panel.height = plain ? height : plot_panel_height(plot, width, height) - (x.shared ? PLOT_SHARED : 0);
    panel.y.from = panel.height - (x.name == NULL || x.shared ? 10 : 42);
    panel.y.to = (title != NULL ? 24 : 8) + (y.name != NULL ? 16 : 0);
    panel.x.from = y.name != NULL ? plot_label_width(plot, &panel.y, panel.width) : 10;
    if (plot->aligned) panel.x.from = plot->labels = fmax(panel.x.from, plot->labels);
    panel.x.to = panel.width - 12;
    if (!plot->page) plot_take_room(plot, panel.width, panel.height);
    plot_open(&panel, title);
    if (panel.y.name != NULL) plot_draw_y(&panel);
    if (panel.x.name != NULL) plot_draw_x(&panel);
    return panel;
}

PlotPanel plot_plain_panel(Plot *plot, double width, double height, const char *title)
{
    return plot_panel(plot, width, height, title, (PlotAxis){0}, (PlotAxis){0});
}

void plot_panel_end(PlotPanel *panel)
{
    fputs("</svg>\n", panel->plot->out);
    panel->plot->x += panel->width + PLOT_GAP;
}

// ---- marks ----------------------------------------------------------------------------------------------------------

static void plot_put(FILE *out, const char *before, double value)
{
    fputs(before, out);
    svg_number(out, value);
}

static void plot_cell_path(const PlotPanel *panel, const double *edge_x, const double *edge_y, int x, int y)
{
    FILE *out = panel->plot->out;
    const double left = plot_at(&panel->x, edge_x[x]);
    plot_put(out, "M", left);
    plot_put(out, " ", plot_at(&panel->y, edge_y[y + 1]));
    plot_put(out, "H", plot_at(&panel->x, edge_x[x + 1]));
    plot_put(out, "V", plot_at(&panel->y, edge_y[y]));
    plot_put(out, "H", left);
    fputc('z', out);
}

void plot_cells(PlotPanel *panel, int n_x, int n_y, const double *edge_x, const double *edge_y,
                int (*class_of)(const void *context, int x, int y), const void *context)
{
    FILE *out = panel->plot->out;
    for (int class_number = 0; class_number <= PLOT_FAILED; class_number++) {
        char name[8] = PLOT_FAILED_CLASS;
        if (class_number != PLOT_FAILED) snprintf(name, sizeof name, "c%d", class_number);
        bool any = false;
        for (int i = 0; i < n_x * n_y; i++) {
            if (class_of(context, i % n_x, i / n_x) != class_number) continue;
            if (!any) fprintf(out, "<path class=\"%s ce\" d=\"", name);
            any = true;
            plot_cell_path(panel, edge_x, edge_y, i % n_x, i / n_x);
        }
        if (any) fputs("\"/>", out);
    }
}

void plot_mark(PlotPanel *panel, const char *class_name, double x, double y, double radius, int64_t trial,
               const char *tip)
{
    FILE *out = panel->plot->out;
    if (!isfinite(x) || !isfinite(y)) return;
    fprintf(out, "<circle class=\"%s\" data-trial=\"%" PRId64 "\"", class_name, trial);
    plot_put(out, " cx=\"", x);
    plot_put(out, "\" cy=\"", y);
    plot_put(out, "\" r=\"", radius);
    fputs("\"><title>", out);
    put_markup(out, tip);
    fputs("</title></circle>", out);
}

// Four kinds whose lightness differs most, in the order in which few of them do: blue, orange, green, and vermilion,
// which recorded dots have too; more lines have dashes.
PlotColour plot_colour(int line)
{
    static const int few[] = {2, 3, 4, 1};
    PlotColour classes;
    snprintf(classes.line, sizeof classes.line, line < 4 ? "h%d" : "h%d d%d", few[line % 4], line / 4 % 3);
    snprintf(classes.key, sizeof classes.key, "k%d", few[line % 4]);
    return classes;
}

static double plot_key_width(const char *text) { return 15 + plot_text_width(text) + 10; }

double plot_key(PlotPanel *panel, double x, double y, const char *class_name, const char *text)
{
    char cut[256];
    svg_rectangle(panel->plot->out, class_name, x, y - 9, 10, 10);
    svg_text(panel->plot->out, "tk", x + 15, y, "start", plot_cut(text, panel->width - x - 15, cut, sizeof cut));
    return x + plot_key_width(text);
}

double plot_key_line(PlotPanel *panel, double x, double y, PlotColour colour, const char *text)
{
    char classes[32], cut[256];
    snprintf(classes, sizeof classes, "ln %s", colour.line);
    SvgPath path = svg_path(panel->plot->out, classes);
    svg_path_to(&path, x, y - 4);
    svg_path_to(&path, x + 18, y - 4);
    svg_path_end(&path);
    svg_text(panel->plot->out, "tk", x + 23, y, "start", plot_cut(text, panel->width - x - 23, cut, sizeof cut));
    return x + 8 + plot_key_width(text);
}

// Keys stand in columns of the widest, as many as fit.
void plot_keys(Plot *plot, double width, int count, const char *const *classes, const char *const *texts)
{
    double widest = 0;
    for (int k = 0; k < count; k++) widest = fmax(widest, plot_key_width(texts[k]));
    const double room = plot_panel_width(plot, width) - 8;
    const int fit = (int)(room / widest), columns = fit < 1 ? 1 : fit < count ? fit : count;
    PlotPanel panel = plot_plain_panel(plot, width, 10 + PLOT_KEY_ROW * ((count + columns - 1) / columns), NULL);
    for (int k = 0; k < count; k++)
        plot_key(&panel, 8 + widest * (k % columns), PLOT_KEY_ROW * (k / columns + 1), classes[k], texts[k]);
    plot_panel_end(&panel);
    plot_new_row(plot);
}

// Keeps one of each equal values. value[count] is ascending; returns the number kept.
static int64_t plot_unique(double *value, int64_t count)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        if (kept == 0 || value[i] != value[kept - 1]) value[kept++] = value[i];
    }
    return kept;
}

// Equal values count once: a rate of failures has few values, and most cells share one of them.
void plot_find_thresholds(double *value, int64_t count, double *threshold)
{
    qsort(value, (size_t)count, sizeof *value, statistics_ascending);
    const int64_t different = plot_unique(value, count);
    for (int t = 0; t < PLOT_CLASSES - 1; t++) {
        const int64_t few = t + 1 < different ? t + 1 : different - 1; // a class per value, the last one the greatest
        const int64_t at = different <= PLOT_CLASSES ? few : different * (t + 1) / PLOT_CLASSES;
        threshold[t] = different > 0 ? value[at] : 0;
    }
}

int plot_class(double value, const double *threshold)
{
    int below = 0;
    while (below < PLOT_CLASSES - 1 && value >= threshold[below]) below++;
    return below;
}

void plot_scale_key(PlotPanel *panel, double x, double y, double width, const double *threshold, const char *text)
{
    FILE *out = panel->plot->out;
    char name[16];
    const double step = width / PLOT_CLASSES;
    double taken = -(double)INFINITY; // where the last number ends
    char cut[256];
    svg_text(out, "tk", x, y - 6, "start", plot_cut(text, panel->width - x - 4, cut, sizeof cut));
    for (int c = 0; c < PLOT_CLASSES; c++) {
        snprintf(name, sizeof name, "c%d", c);
        svg_rectangle(out, name, x + c * step, y, step + 0.3, 9);
        // no value has this class
        const bool again = c > 1 && threshold != NULL && threshold[c - 1] == threshold[c - 2];
        if (threshold == NULL || c == 0 || again || step < 8) continue;
        const Text32 number = plot_short(threshold[c - 1]);
        const double half = 0.5 * plot_text_width(number.text);
        if (x + c * step - half < fmax(taken + PLOT_CHARACTER, 0)) continue;
        svg_text(out, "tk", x + c * step, y + 22, "middle", number.text);
        taken = x + c * step + half;
    }
}
