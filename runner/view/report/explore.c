// What the page's scripts select, draw and list (io/page/explore.js): the columns of the trials as JSON. Few trials
// have exact numbers. More have 16-bit codes between knots at quantiles of their column, and exact numbers of the best
// and of some that failed. Of more trials than PLOT_SAMPLE there is a sample, which the page says.
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXPLORE_COLUMNS = 64,
    EXPLORE_EXACT_BYTES = 1200000, // of all columns in base64, as doubles
    EXPLORE_BYTES = 2600000,       // as codes; columns that do not fit are named
    EXPLORE_INTERVALS = 512,       // between knots
    EXPLORE_STEPS = 127,           // codes of an interval
    EXPLORE_MISSING = 65535,
    EXPLORE_FAILED = 200, // trials that failed and are exact
    EXPLORE_AXES = 8      // of the parallel coordinates at first, besides the fitness
};

typedef struct ExploreColumn {
    const char *name, *unit, *origin, *choices; // choices: the words that a value is the index of, or NULL
    bool log;
} ExploreColumn;

typedef struct Explore {
    const Report *report;
    ExploreColumn column[EXPLORE_COLUMNS];
    int n_columns, failure; // failure: the column of the kinds of failures
    int most;               // columns of codes
    const char **omitted;
    int n_omitted;
    int64_t rows;
    int64_t *id;   // [rows] ascending
    double *value; // [rows][n_columns] NaN: missing
} Explore;

bool report_has_explore(const Report *report) { return report->data->n_sample > 1 && report->data->n_varied > 0; }

// ---- columns --------------------------------------------------------------------------------------------------------

static const char *explore_failures(const Configured *configured, Arena *arena)
{
    const char *words = "";
    for (int f = 0; f < configured->n_failures; f++)
        words = arena_format(arena, "%s%s%s", words, f > 0 ? "|" : "", configured->failures[f]);
    return words;
}

static ExploreColumn explore_column(const Report *report, const TrialColumns *all, int c)
{
    const Spec *spec = &report->campaign->spec;
    const Configured *configured = &spec->configured;
    ExploreColumn column = {.name = all->names[c], .origin = "result", .choices = all->choices[c]};
    for (int p = 0; p < configured->n_parameters; p++) {
        if (strcmp(configured->parameters[p].name, column.name) != 0) continue;
        column.unit = configured->parameters[p].unit;
        column.origin = "parameter";
    }
    for (int m = 0; m < configured->n_metrics; m++) {
        if (strcmp(configured->metrics[m].name, column.name) != 0) continue;
        column.unit = configured->metrics[m].unit;
        column.origin = "metric";
    }
    for (int g = 0; g < report->data->n_gains; g++) {
        if (strcmp(report->data->gain[g].name, column.name) == 0) column.log = report->data->gain[g].log;
    }
    for (int k = 0; spec_several(spec) && k < spec->objective.count; k++) {
        if (strcmp(rows_objective_name(k), column.name) == 0) column.origin = objective_text(spec, k, report->arena);
    }
    if (strcmp(column.name, "failure") == 0) column.choices = explore_failures(configured, report->arena);
    return column;
}

static void explore_add(Explore *explore, const TrialColumns *all, const char *name)
{
    const int c = trial_column_find(all, name);
    if (c < 0 || strcmp(name, "id") == 0) return;
    for (int i = 0; i < explore->n_columns; i++) {
        if (strcmp(explore->column[i].name, name) == 0) return;
    }
    for (int i = 0; i < explore->n_omitted; i++) {
        if (strcmp(explore->omitted[i], name) == 0) return;
    }
    const ExploreColumn column = explore_column(explore->report, all, c);
    if (explore->n_columns == EXPLORE_COLUMNS || (all->is_text[c] && column.choices == NULL)) {
        explore->omitted[explore->n_omitted++] = name;
        return;
    }
    if (strcmp(name, "failure") == 0) explore->failure = explore->n_columns;
    explore->column[explore->n_columns++] = column;
}

static Error explore_find_columns(Explore *explore, int64_t rows)
{
    const Report *report = explore->report;
    TrialColumns all;
    const char *const *main;
    TRY(trial_columns(report->campaign->database, &report->campaign->spec, report->arena, &all));
    const int n_main = trial_columns_main(&report->campaign->spec, report->arena, &main);
    explore->most = (int)(EXPLORE_BYTES / (rows * 8 / 3 + 1));
    explore->omitted = ARENA_NEW(report->arena, const char *, all.count + 1);
    // Those that do not fit come last: first what was searched, in the order in which it matters.
    explore_add(explore, &all, "failure");
    explore_add(explore, &all, report->data->value_column);
    for (int i = 0; i < report->data->n_varied; i++)
        explore_add(explore, &all, report->data->gain[report->data->order[i]].name);
    for (int i = 0; i < n_main; i++) explore_add(explore, &all, main[i]);
    for (int i = 0; i < all.count; i++) explore_add(explore, &all, all.names[i]);
    return error_none();
}

// ---- trials ---------------------------------------------------------------------------------------------------------

static int explore_by_number(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static bool explore_wants(const int64_t *wanted, int64_t count, int64_t id)
{
    return bsearch(&id, wanted, (size_t)count, sizeof *wanted, explore_by_number) != NULL;
}

// The numbers of the sample and of the best, ascending.
static int64_t *explore_wanted(const PlotData *data, Arena *arena, int64_t *count)
{
    const int64_t all = data->n_sample + data->n_best;
    int64_t *wanted = ARENA_NEW(arena, int64_t, all + 1);
    memcpy(wanted, data->id, (size_t)data->n_sample * sizeof *wanted);
    memcpy(wanted + data->n_sample, data->best_id, (size_t)data->n_best * sizeof *wanted);
    qsort(wanted, (size_t)all, sizeof *wanted, explore_by_number);
    for (int64_t i = 0; i < all; i++) {
        if (i == 0 || wanted[i] != wanted[i - 1]) wanted[(*count)++] = wanted[i];
    }
    return wanted;
}

static Error explore_read(Explore *explore, const int64_t *wanted, int64_t count)
{
    const Report *report = explore->report;
    const int n = explore->n_columns;
    const char **names = ARENA_NEW(report->arena, const char *, n + 1);
    names[0] = "id";
    for (int c = 0; c < n; c++) names[c + 1] = explore->column[c].name;
    explore->id = ARENA_NEW(report->arena, int64_t, count + 1);
    explore->value = ARENA_NEW(report->arena, double, count *n + 1);
    for (int64_t i = 0; i < count * n; i++) explore->value[i] = (double)NAN;
    Cursor trials = trials_of(report->campaign->database, &report->data->where, names, n + 1, report->arena);
    while (cursor_next(&trials)) {
        const int64_t id = cell_integer(&trials, 0);
        if (!explore_wants(wanted, count, id)) continue;
        const int64_t *at = bsearch(&id, wanted, (size_t)count, sizeof *wanted, explore_by_number);
        for (int c = 0; c < n; c++) {
            const double value = cell_value(&trials, c + 1, explore->column[c].choices);
            explore->value[(at - wanted) * n + c] = isfinite(value) ? value : (double)NAN;
        }
    }
    memcpy(explore->id, wanted, (size_t)count * sizeof *wanted);
    explore->rows = count;
    return cursor_close(&trials);
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

static void explore_bytes(Json *json, const char *name, const unsigned char *bytes, size_t size, Arena *arena)
{
    const size_t used = arena->used;
    char *text = ARENA_NEW(arena, char, BASE64_SIZE(size));
    base64_put(bytes, size, text);
    json_text(json, name, text);
    arena_rewind(arena, used);
}

// Doubles, little endian.
static void explore_doubles(Json *json, const char *name, const double *value, int64_t count, Arena *arena)
{
    const size_t used = arena->used;
    unsigned char *bytes = ARENA_NEW(arena, unsigned char, 8 * count + 1);
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &value[i], sizeof bits);
        for (int b = 0; b < 8; b++) bytes[8 * i + b] = (unsigned char)(bits >> 8 * b);
    }
    explore_bytes(json, name, bytes, (size_t)(8 * count), arena);
    arena_rewind(arena, used);
}

// Ascending knots of `count` sorted values: the values if few differ, else quantiles. Returns their number.
static int explore_knots(const double *sorted, int64_t count, double *knot)
{
    int n = 0;
    for (int64_t i = 0; i < count && n <= EXPLORE_INTERVALS + 1; i++) {
        if (n > 0 && sorted[i] == knot[n - 1]) continue;
        if (n <= EXPLORE_INTERVALS) knot[n] = sorted[i];
        n++;
    }
    if (n <= EXPLORE_INTERVALS + 1) return n;
    n = 0;
    for (int64_t k = 0; k <= EXPLORE_INTERVALS; k++) {
        const double value = sorted[k * (count - 1) / EXPLORE_INTERVALS];
        if (n == 0 || value > knot[n - 1]) knot[n++] = value;
    }
    return n;
}

static int explore_code(const double *knot, int n, double value)
{
    int low = 0, high = n;
    if (isnan(value)) return EXPLORE_MISSING;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        *(value >= knot[middle] ? &low : &high) = middle;
    }
    const double fraction = low + 1 < n ? (value - knot[low]) / (knot[low + 1] - knot[low]) : 0;
    return low * EXPLORE_STEPS + (int)nearbyint(fraction * EXPLORE_STEPS);
}

static void explore_codes(const Explore *explore, const double *column, double *work, Json *json)
{
    Arena *arena = explore->report->arena;
    const size_t used = arena->used;
    double *knot = ARENA_NEW(arena, double, EXPLORE_INTERVALS + 2);
    unsigned char *bytes = ARENA_NEW(arena, unsigned char, 2 * explore->rows + 1);
    int64_t count = 0;
    bool rounded = false; // a number that is no knot
    for (int64_t i = 0; i < explore->rows; i++) {
        if (!isnan(column[i])) work[count++] = column[i];
    }
    qsort(work, (size_t)count, sizeof *work, statistics_ascending);
    const int n = explore_knots(work, count, knot);
    for (int64_t i = 0; i < explore->rows; i++) {
        const int code = n > 0 ? explore_code(knot, n, column[i]) : EXPLORE_MISSING;
        rounded |= code != EXPLORE_MISSING && knot[code / EXPLORE_STEPS] != column[i];
        bytes[2 * i] = (unsigned char)(code & 255);
        bytes[2 * i + 1] = (unsigned char)(code >> 8);
    }
    if (rounded) json_boolean(json, "rounded", true);
    explore_doubles(json, "knots", knot, n, arena);
    explore_bytes(json, "codes", bytes, (size_t)(2 * explore->rows), arena);
    arena_rewind(arena, used);
}

static void explore_put_words(const char *words, Json *json, Arena *arena)
{
    const char **list = words_list(words, arena);
    json_array(json, "words");
    for (int w = 0; w < words_count(words); w++) json_text(json, NULL, list[w]);
    json_close(json, ']');
}

// Whether all trials have the same number, or none.
static bool explore_is_constant(const Explore *explore, int c)
{
    const double first = explore->value[c];
    for (int64_t i = 1; i < explore->rows; i++) {
        const double value = explore->value[i * explore->n_columns + c];
        if (!(value == first) && !(isnan(value) && isnan(first))) return false;
    }
    return true;
}

static void explore_put_column(const Explore *explore, int c, const int64_t *exact, int64_t n_exact, Json *json)
{
    Arena *arena = explore->report->arena;
    const ExploreColumn *column = &explore->column[c];
    const size_t used = arena->used;
    double *value = ARENA_NEW(arena, double, explore->rows + 1), *work = ARENA_NEW(arena, double, explore->rows + 1);
    for (int64_t i = 0; i < explore->rows; i++) value[i] = explore->value[i * explore->n_columns + c];
    json_object(json, NULL);
    json_text(json, "name", column->name);
    if (column->unit != NULL && strcmp(column->unit, "1") != 0) json_text(json, "unit", column->unit);
    json_text(json, "origin", column->origin);
    if (column->log) json_boolean(json, "log", true);
    if (column->choices != NULL) explore_put_words(column->choices, json, arena);
    if (explore_is_constant(explore, c)) {
        json_number(json, "constant", value[0]);
    } else if (exact == NULL) {
        explore_doubles(json, "values", value, explore->rows, arena);
    } else {
        explore_codes(explore, value, work, json);
        for (int64_t i = 0; i < n_exact; i++) work[i] = value[exact[i]];
        explore_doubles(json, "exact", work, n_exact, arena);
    }
    json_close(json, '}');
    arena_rewind(arena, used);
}

// Rows whose numbers are exact: the best, and the first that failed. NULL: all.
static int64_t *explore_exact(const Explore *explore, int64_t *count)
{
    const PlotData *data = explore->report->data;
    const int64_t bytes = explore->rows * explore->n_columns * 32 / 3;
    int64_t *exact = ARENA_NEW(explore->report->arena, int64_t, PLOT_BEST + EXPLORE_FAILED), failed = 0;
    if (bytes <= EXPLORE_EXACT_BYTES) return NULL;
    for (int64_t b = 0; b < data->n_best; b++) {
        const int64_t *at =
            bsearch(&data->best_id[b], explore->id, (size_t)explore->rows, sizeof *explore->id, explore_by_number);
        if (at != NULL) exact[(*count)++] = at - explore->id;
    }
    for (int64_t i = 0; i < explore->rows && failed < EXPLORE_FAILED; i++) {
        if (!(explore->value[i * explore->n_columns + explore->failure] > 0)) continue;
        exact[(*count)++] = i;
        failed++;
    }
    return exact;
}

static void explore_put_ids(const Explore *explore, Json *json)
{
    const int64_t first = explore->id[0], last = explore->id[explore->rows - 1];
    json_integer(json, "rows", explore->rows);
    json_integer(json, "first", first);
    if (last - first + 1 == explore->rows) return; // one after the other
    json_array(json, "steps");
    for (int64_t i = 1; i < explore->rows; i++) json_integer(json, NULL, explore->id[i] - explore->id[i - 1]);
    json_close(json, ']');
}

static void explore_put_names(const Explore *explore, Json *json)
{
    const PlotData *data = explore->report->data;
    json_array(json, "axes");
    for (int i = 0; i < data->n_varied && i < EXPLORE_AXES; i++) json_text(json, NULL, data->gain[data->order[i]].name);
    const Spec *spec = &explore->report->campaign->spec;
    for (int k = 0; spec_several(spec) && k < spec->objective.count; k++) json_text(json, NULL, rows_objective_name(k));
    if (!spec_several(spec)) json_text(json, NULL, data->value_column);
    json_close(json, ']');
}

static void explore_put_columns(Explore *explore, const int64_t *exact, int64_t n_exact, Json *json)
{
    int coded = 0;
    json_array(json, "columns");
    for (int c = 0; c < explore->n_columns; c++) {
        const bool codes = exact != NULL && !explore_is_constant(explore, c);
        if (codes && coded == explore->most) {
            explore->omitted[explore->n_omitted++] = explore->column[c].name;
            continue;
        }
        coded += codes;
        explore_put_column(explore, c, exact, n_exact, json);
    }
    json_close(json, ']');
    json_array(json, "omitted");
    for (int i = 0; i < explore->n_omitted; i++) json_text(json, NULL, explore->omitted[i]);
    json_close(json, ']');
}

static void explore_put(Explore *explore, FILE *out)
{
    const Report *report = explore->report;
    const PlotData *data = report->data;
    int64_t n_exact = 0;
    const int64_t *exact = explore_exact(explore, &n_exact);
    Json json;
    json_start(&json, out, false);
    json_object(&json, NULL);
    json_text(&json, "campaign", report->campaign->name);
    json_integer(&json, "trials", data->trials);
    json_text(&json, "value", data->value_column);
    json_boolean(&json, "maximize", data->maximize);
    json_boolean(&json, "several", spec_several(&report->campaign->spec));
    json_boolean(&json, "moves", report->campaign->spec.configured.drawing != NULL); // replay shows it
    json_integer(&json, "replicates", report->campaign->spec.replicates.count);
    json_boolean(&json, "stored", report->campaign->spec.replicates.store); // each of them
    explore_put_ids(explore, &json);
    explore_put_names(explore, &json);
    if (exact != NULL) {
        json_array(&json, "exact");
        for (int64_t i = 0; i < n_exact; i++) json_integer(&json, NULL, exact[i]);
        json_close(&json, ']');
    }
    explore_put_columns(explore, exact, n_exact, &json);
    json_close(&json, '}');
}

// ---- the section ----------------------------------------------------------------------------------------------------

static Error explore_put_trials(const Report *report)
{
    Explore *explore = ARENA_NEW(report->arena, Explore, 1);
    TextStream stream;
    int64_t count = 0;
    explore->report = report;
    const int64_t *wanted = explore_wanted(report->data, report->arena, &count);
    TRY(explore_find_columns(explore, count));
    TRY(explore_read(explore, wanted, count));
    TRY(text_stream_open("the trials of a page", &stream));
    explore_put(explore, stream.out);
    const Error error = text_stream_close(&stream);
    if (error.kind == OK) page_put_json(report->out, "trials", stream.text);
    free(stream.text);
    return error;
}

// Without scripts and on paper the section is the plot of parallel coordinates.
Error report_explore(const Report *report)
{
    const PlotKind *kind = plot_kind_find("parallel");
    Plot plot = {.out = report->out, .page = true, .name = kind->title};
    fputs("<div class=\"explore\"></div>\n<div class=\"still\">\n", report->out);
    if (kind->nothing(report->data, report->arena) == NULL) {
        fputs("<p class=\"caption\">", report->out);
        put_markup(report->out, kind->caption(report->data, report->arena));
        fputs("</p>\n<div class=\"panels\">\n", report->out);
        TRY(kind->draw(report->data, &plot, report->arena));
        fputs("</div>\n", report->out);
    } else {
        fputs("<p class=\"none\">A browser with scripts shows the trials here.</p>\n", report->out);
    }
    fputs("</div>\n", report->out);
    TRY(report_put_replicates(report));
    return explore_put_trials(report);
}
