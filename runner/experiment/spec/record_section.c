// Reading the section `record:`, and what its times mean in ticks of the model.
#include "forms.h"

#include <math.h>
#include <string.h>

// ---- which trials ---------------------------------------------------------------------------------------------------

static void record_read_ids(SpecReader *reader, const GivenKey *given, Selection *select)
{
    static const Key key = {.path = "trials", .type = KEY_INTEGER, .high = (double)INTEGER_MAX};
    const Node *node = given->value;
    if (node->kind != NODE_SEQUENCE) {
        form_mistyped(reader, given);
        return;
    }
    int64_t *trials = ARENA_NEW(reader->arena, int64_t, node->count);
    for (int i = 0; i < node->count; i++) {
        double id = 0;
        scalar_number(reader, &key, node->items[i], &id);
        trials[i] = (int64_t)id;
    }
    select->trials = trials;
    select->n_trials = node->count;
}

static void record_read_trials(SpecReader *reader, const GivenKey *given)
{
    record_read_ids(reader, given, &reader->spec->record.select);
}

static void record_read_debug_trials(SpecReader *reader, const GivenKey *given)
{
    record_read_ids(reader, given, &reader->spec->record.debug.select);
}

static const char *record_ids_text(const SpecReader *reader, const Selection *select)
{
    const size_t size = (size_t)select->n_trials * 24 + 3; // 19 digits at most, and ", "
    char *text = arena_take(reader->arena, size, 1), *p = stpcpy(text, "[");
    for (int i = 0; i < select->n_trials; i++)
        p += snprintf(p, 24, "%s%lld", i > 0 ? ", " : "", (long long)select->trials[i]);
    stpcpy(p, "]");
    return text;
}

static const char *record_trials_text(const SpecReader *reader)
{
    return record_ids_text(reader, &reader->spec->record.select);
}

static const char *record_debug_trials_text(const SpecReader *reader)
{
    return record_ids_text(reader, &reader->spec->record.debug.select);
}

static bool record_selects(const Selection *select)
{
    return select->best > 0 || select->every > 0 || select->failures > 0 || select->n_trials > 0;
}

// ---- trajectories ---------------------------------------------------------------------------------------------------

// Samples are taken at ticks of the model.
static void record_check_sample(SpecReader *reader)
{
    const GivenKey *given = given_find(reader, "record.trajectories.sample");
    const double tick = reader->spec->configured.tick_duration;
    double *sample = &reader->spec->record.sample;
    if (tick <= 0.0) {
        if (*sample > 0.0)
            diagnose(reader->diagnostics, given->value, "sample is %s, but model %s has no time: leave it out",
                     given->value->text, reader->spec->model->name);
        return;
    }
    if (*sample == 0.0) { // auto
        const double ticks = floor(1e-3 / tick + 0.5);
        *sample = ticks >= 1.0 ? ticks * tick : tick;
        return;
    }
    const double ticks = *sample / tick, below = floor(ticks);
    if (fabs(ticks - floor(ticks + 0.5)) <= 1e-9 * ticks) return;
    const char *nearest = below >= 1.0 ? arena_format(reader->arena, "%.6g or %.6g", below * tick, (below + 1.0) * tick)
                                       : arena_format(reader->arena, "%.6g", tick);
    diagnose(reader->diagnostics, given->value, "sample is %s, must be a multiple of the step, %s s: write %s",
             given->value->text, text_number(tick).text, nearest);
}

// All samples of a recorded trial must fit.
static void record_check_size(SpecReader *reader)
{
    const Spec *spec = reader->spec;
    const Configured *configured = &spec->configured;
    const GivenKey *given = given_find(reader, "record.trajectories");
    const double lanes = spec->record.all_replicates ? spec->replicates.count : 1;
    const double samples = (double)trace_capacity(configured->ticks, spec_sample_ticks(spec));
    const double bytes = samples * 8.0 * configured->n_columns * lanes, most = (double)RECORD_TRIAL_BYTES_MAX;
    if (!spec->record.trajectories || given == NULL) return;
    if (spec->configured.n_columns == 0)
        diagnose(reader->diagnostics, given->key,
                 "no trajectory can be recorded: the spec declares no columns, for example `columns: {x: m}`");
    if (bytes <= most) return;
    const double ticks = ceil((double)configured->ticks * bytes / most / samples);
    diagnose(
        reader->diagnostics, given->key,
        "trajectories of one trial may take %s (%s samples of %d columns for each of %s replicates), at most %s is "
        "allowed: write sample of at least %.6g s%s%s",
        text_bytes(bytes).text, text_count((int64_t)samples).text, configured->n_columns,
        text_count((int64_t)lanes).text, text_bytes(most).text, ticks * configured->tick_duration,
        lanes > 1 ? ", or replicates: first" : "", configured->n_things > 1 ? ", or name fewer record.bodies" : "");
}

int64_t spec_sample_ticks(const Spec *spec)
{
    const double tick = spec->configured.tick_duration;
    return tick > 0.0 && spec->record.sample > tick ? (int64_t)(spec->record.sample / tick + 0.5) : 1;
}

// ---- debug rows -----------------------------------------------------------------------------------------------------

// The first tick that begins at or after a time (s).
static int64_t record_tick_at(const Spec *spec, double time)
{
    const double ticks = ceil(time / spec->configured.tick_duration - 1e-6);
    return ticks < (double)spec->configured.ticks ? (int64_t)ticks : spec->configured.ticks;
}

void spec_debug_ticks(const Spec *spec, int64_t *first, int64_t *end)
{
    const double *window = spec->record.debug.window;
    const bool always = window[1] <= 0.0;
    *first = always ? 0 : record_tick_at(spec, window[0]);
    *end = always ? spec->configured.ticks : record_tick_at(spec, window[1]);
}

const Selection *spec_debug_select(const Spec *spec)
{
    return spec->record.events ? &spec->record.select : &spec->record.debug.select;
}

bool spec_debug_all(const Spec *spec)
{
    return spec->record.debug.failed_only || spec->record.debug.all_replicates ||
           (spec->record.events && spec->record.all_replicates);
}

// Of rows that no number of ticks bounds: as many as are kept unless the spec says how many.
static int64_t record_unbounded_rows(const Spec *spec)
{
    const int64_t lanes = spec_debug_all(spec) ? spec->replicates.count : 1, row = 8 * spec->configured.n_debug;
    const int64_t most = row > 0 ? RECORD_BYTES_MAX / (row * lanes) : 0;
    return most < DEBUG_ROWS_KEPT ? most : DEBUG_ROWS_KEPT;
}

int64_t spec_debug_rows(const Spec *spec)
{
    int64_t first, end, rows;
    if (spec->configured.debug_rows == 0)
        return spec->record.debug.keep > 0 ? spec->record.debug.keep : record_unbounded_rows(spec);
    spec_debug_ticks(spec, &first, &end);
    if (__builtin_mul_overflow(end - first, spec->configured.debug_rows, &rows)) rows = INT64_MAX;
    const int64_t keep = spec->record.debug.keep;
    return keep > 0 && keep < rows ? keep : rows;
}

static void record_read_window(SpecReader *reader)
{
    Spec *spec = reader->spec;
    const Configured *configured = &spec->configured;
    const GivenKey *given = form_given(reader, &form_debug_window);
    if (given == NULL) return;
    if (given->value->kind != NODE_SEQUENCE || given->value->count != 2) {
        form_mistyped(reader, given);
        return;
    }
    const double life = configured_duration(configured);
    const Key key = {.path = "window", .type = KEY_NUMBER, .unit = "s", .high = life};
    double *window = spec->record.debug.window;
    bool ok = true;
    for (int i = 0; i < 2; i++) ok &= scalar_number(reader, &key, given->value->items[i], &window[i]);
    if (ok && record_tick_at(spec, window[0]) >= record_tick_at(spec, window[1]))
        diagnose(reader->diagnostics, given->value, "no step begins in the window from %s s to %s s: a step takes %s s",
                 text_number(window[0]).text, text_number(window[1]).text, text_number(configured->tick_duration).text);
}

static void record_resolve_window(ResolveWriter *writer, const char *path)
{
    const double *window = writer->reader->spec->record.debug.window;
    if (window[1] <= 0.0) return; // always
    resolve_line(
        writer, path,
        arena_format(writer->reader->arena, "[%s, %s]", text_number(window[0]).text, text_number(window[1]).text), "s");
}

// All rows of a recorded trial must fit.
static void record_check_debug_size(SpecReader *reader, const Node *at)
{
    const Spec *spec = reader->spec;
    const Configured *configured = &spec->configured;
    const double lanes = spec_debug_all(spec) ? spec->replicates.count : 1, row = 8.0 * configured->n_debug;
    const int64_t count = spec_debug_rows(spec);
    const double bytes = (double)count * row * lanes, most = (double)RECORD_BYTES_MAX,
                 rows = floor(most / (row * lanes));
    if (bytes <= most && count > 0) return;
    const char *shorter =
        configured->debug_rows > 0
            ? arena_format(reader->arena, "write window for at most %.6g s, or keep for at most %.0f rows",
                           floor(rows / configured->debug_rows) * configured->tick_duration, rows)
        : rows >= 1.0 ? arena_format(reader->arena, "write keep for at most %.0f rows", rows)
                      : "write replicates: first";
    diagnose(reader->diagnostics, at,
             "%s of one trial may take %s (%s rows of %d columns for each of %s replicates), at most %s is allowed: %s",
             model_debug_are(spec->model), text_bytes(bytes).text, text_count(count).text, configured->n_debug,
             text_count((int64_t)lanes).text, text_bytes(most).text, shorter);
}

// Events of the trials with trajectories: only systems have them, and one section says which trials.
static void record_check_events(SpecReader *reader)
{
    const Spec *spec = reader->spec;
    const GivenKey *given = given_find(reader, "record.trajectories.events"),
                   *select = given_find(reader, "record.debug.events.select");
    if (!spec->record.events || !spec->record.debug.wanted || given == NULL) return;
    if (spec->model->debug_are == NULL || strcmp(spec->model->debug_are, "events") != 0)
        diagnose(reader->diagnostics, given->key,
                 "model %s has no events; only model equations has them: leave events out", spec->model->name);
    else if (spec->configured.n_debug == 0)
        diagnose(reader->diagnostics, given->key,
                 "there is nothing to record: the system has no events; leave events out");
    else if (select != NULL && record_selects(&spec->record.debug.select))
        diagnose(reader->diagnostics, select->key,
                 "record.trajectories.events names the trials whose events are recorded: leave out one of the two");
    else
        record_check_debug_size(reader, given->key);
}

static void record_read_debug(SpecReader *reader)
{
    enum { FAILURES = 1000, KEEP = 200 }; // of `on: failure`
    Spec *spec = reader->spec;
    const char *section = arena_format(reader->arena, "record.debug.%s", model_debug_name(spec->model));
    const GivenKey *given = given_find(reader, section);
    Selection *select = &spec->record.debug.select;
    if (spec->record.debug.failed_only && !spec->record.events && !record_selects(select)) select->failures = FAILURES;
    if (spec->record.debug.failed_only && spec->record.debug.keep == 0) spec->record.debug.keep = KEEP;
    spec->record.debug.wanted = record_selects(spec_debug_select(spec));
    if (reader->names == NULL) return;
    const int errors = diagnostics_errors(reader->diagnostics);
    if (given != NULL && spec->configured.n_debug > 0) record_read_window(reader);
    record_check_events(reader);
    if (given == NULL || !spec->record.debug.wanted || spec->record.events) return;
    if (spec->configured.n_debug == 0)
        diagnose(reader->diagnostics, given->key,
                 "model %s makes no debug rows under this `simulation:`: %s; leave %s out", spec->model->name,
                 model_debug_needs(spec->model), given->path);
    else if (diagnostics_errors(reader->diagnostics) == errors)
        record_check_debug_size(reader, given->key);
}

// ---- rows of trials -------------------------------------------------------------------------------------------------

enum { KEPT_ROWS_DEFAULT = 1000, KEPT_ROWS_MAX = 10000000 };

typedef struct KeptKey {
    const char *name;
    double low, high;
} KeptKey;
static const KeptKey record_kept_keys[] = {
    {"best", 1, KEPT_ROWS_MAX}, {"every", 0, (double)INTEGER_MAX}, {"failures", 1, KEPT_ROWS_MAX}};
enum { KEPT_KEYS = sizeof record_kept_keys / sizeof *record_kept_keys };

static void record_unknown_kept(SpecReader *reader, const Node *key)
{
    const char *names[KEPT_KEYS];
    for (int i = 0; i < KEPT_KEYS; i++) names[i] = record_kept_keys[i].name;
    diagnose(reader->diagnostics, key, "rows has no key '%s', expected %s%s", key->text,
             words_sentence(names, KEPT_KEYS, reader->arena),
             did_you_mean(nearest_name(key->text, names, KEPT_KEYS), reader->arena));
}

static void record_read_kept_key(SpecReader *reader, const Node *name, const Node *item)
{
    Spec *spec = reader->spec;
    int64_t *const values[] = {&spec->record.rows.best, &spec->record.rows.every, &spec->record.rows.failures};
    double value = 0;
    int k = 0;
    while (k < KEPT_KEYS && strcmp(record_kept_keys[k].name, name->text) != 0) k++;
    if (k == KEPT_KEYS) {
        record_unknown_kept(reader, name);
        return;
    }
    const KeptKey *row = &record_kept_keys[k];
    const Key key = {.path = row->name, .type = KEY_INTEGER, .low = row->low, .high = row->high};
    if (scalar_number(reader, &key, item, &value)) *values[k] = (int64_t)value;
}

static void record_read_kept(SpecReader *reader, const GivenKey *given)
{
    Spec *spec = reader->spec;
    const Node *node = given->value;
    if (node->kind == NODE_SCALAR && strcmp(node->text, "all") == 0) return;
    if (node->kind != NODE_MAPPING) {
        form_mistyped(reader, given);
        return;
    }
    spec->record.rows.some = true;
    spec->record.rows.best = spec->record.rows.failures = KEPT_ROWS_DEFAULT;
    for (int i = 0; i < node->count; i++) record_read_kept_key(reader, node->keys[i], node->items[i]);
}

static const char *record_kept_text(const SpecReader *reader)
{
    const Spec *spec = reader->spec;
    if (!spec->record.rows.some) return "all";
    return arena_format(reader->arena, "{best: %lld, every: %lld, failures: %lld}", (long long)spec->record.rows.best,
                        (long long)spec->record.rows.every, (long long)spec->record.rows.failures);
}

// What needs a row of every trial, or NULL.
static const char *record_needs_rows(const Spec *spec, Arena *arena)
{
    if (spec->replicates.store) return "replicates.store keeps rows of all replicates";
    if (spec_several(spec)) return "a front of several objectives is found among all trials";
    if (spec->method == NULL) return NULL;
    if (search_learns(spec->method))
        return arena_format(arena, "the trials of method %s depend on the results of others", spec->method->name);
    if (spec->method->sensitivity != NULL)
        return arena_format(arena, "method %s measures sensitivities from the fitness of all trials",
                            spec->method->name);
    return NULL;
}

// Arrays of the best trials and of those that failed are recorded when all have run, so they need rows.
static void record_check_chosen(SpecReader *reader, const char *section, const Selection *select)
{
    const Spec *spec = reader->spec;
    const int64_t wanted[] = {select->best, select->failures};
    const int64_t kept[] = {spec->record.rows.best, spec->record.rows.failures};
    static const char *const names[] = {"best", "failures"};
    for (int i = 0; i < 2; i++) {
        const GivenKey *given = given_find(reader, arena_format(reader->arena, "%s.%s", section, names[i]));
        if (given != NULL && wanted[i] > kept[i])
            diagnose(reader->diagnostics, given->value, "%s is %lld, but record.rows keeps %lld of them: keep as many",
                     names[i], (long long)wanted[i], (long long)kept[i]);
    }
}

static void record_check_kept(SpecReader *reader)
{
    const GivenKey *given = form_given(reader, &form_kept_rows);
    const char *reason = reader->spec->record.rows.some ? record_needs_rows(reader->spec, reader->arena) : NULL;
    if (reason != NULL && given != NULL)
        diagnose(reader->diagnostics, given->key, "rows keeps rows of some trials, and %s: write rows: all", reason);
    if (given == NULL || !reader->spec->record.rows.some) return;
    record_check_chosen(reader, "record.trajectories.select", &reader->spec->record.select);
    record_check_chosen(reader,
                        arena_format(reader->arena, "record.debug.%s.select", model_debug_name(reader->spec->model)),
                        &reader->spec->record.debug.select);
}

// Where the trials are in blocks nothing refers to a row.
static void record_check_blocks(SpecReader *reader)
{
    const GivenKey *given = given_find(reader, "store.rows");
    if (given == NULL || !reader->spec->replicates.store || strcmp(reader->spec->store.rows, "blocks") != 0) return;
    diagnose(reader->diagnostics, given->value,
             "rows is blocks, and replicates.store keeps rows of all replicates: write rows: table");
}

// ---- all of it ------------------------------------------------------------------------------------------------------

void record_read(SpecReader *reader)
{
    Spec *spec = reader->spec;
    forms_read(reader, FORM_RECORD);
    record_check_kept(reader);
    record_check_blocks(reader);
    if (reader->names != NULL) record_check_sample(reader);
    spec->record.trajectories = record_selects(&spec->record.select);
    if (reader->names != NULL) record_check_size(reader);
    record_read_debug(reader);
}

// ---- the rows of its forms ------------------------------------------------------------------------------------------

const Form form_kept_rows = {
    .path = "record.rows",
    .after = "record",
    .words = "all, or a mapping of best, every and failures",
    .doc = "the trials that keep a row in campaign.db. With a mapping: the best ones (default 1000), ids that are a "
           "multiple of `every` (default 0: none), the first that failed (default 1000), and those whose arrays are "
           "recorded. Of all trials, sums are kept: failures, histograms, means along the searched parameters. Any "
           "trial can be computed again from its id. Such a campaign can be extended if the bins of its sums stay",
    .example = "{best: 1e6, every: 1000, failures: 1e5}",
    .stage = FORM_RECORD,
    .read = record_read_kept,
    .text = record_kept_text,
    .schema = "{anyOf: [{enum: [all]}, {type: object, properties: {best: {type: number, minimum: 1, maximum: MOST}, "
              "every: {type: number, minimum: 0}, failures: {type: number, minimum: 1, maximum: MOST}}, "
              "additionalProperties: false}]}",
    .most = KEPT_ROWS_MAX,
};

const Form form_recorded_trials = {
    .path = "record.trajectories.select.trials",
    .after = "record.trajectories.select.failures",
    .words = "a list of trial ids",
    .doc = "the ones with these ids",
    .example = "[0, 41]",
    .stage = FORM_RECORD,
    .read = record_read_trials,
    .text = record_trials_text,
    .schema = "{type: array, items: $id}",
};

const Form form_debug_trials = {
    .path = "record.debug.newton.select.trials",
    .after = "record.debug.newton.select.failures",
    .words = "a list of trial ids",
    .doc = "the ones with these ids",
    .example = "[0, 41]",
    .stage = FORM_RECORD,
    .read = record_read_debug_trials,
    .text = record_debug_trials_text,
    .schema = "{type: array, items: $id}",
};

const Form form_debug_window = {
    .path = "record.debug.newton.window",
    .after = "record.debug.newton.on",
    .words = "a list of two times in s",
    .doc = "only the steps that begin at or after the first time and before the second",
    .example = "[0.28, 0.3]",
    .resolve = record_resolve_window, // read once it is known which rows are wanted
    .schema = "{type: array, minItems: 2, maxItems: 2, items: $quantity}",
};
