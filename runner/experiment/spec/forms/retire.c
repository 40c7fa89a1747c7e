// `limits.retire`: trials that end early, because a condition holds at a sample, or because others are better. The
// conditions are part of the meter, which reads the samples of every lane (sim/meter.h); rungs are batches that end
// earlier (search/rungs.c).
#include "../../equations/equations.h"
#include "../forms.h"

#include <math.h>
#include <string.h>

enum { RETIRE_MAX = 64, RETIRE_OF_MAX = 65536 };

// Why no trial can end early; NULL: it can.
static const char *retire_refusal(SpecReader *reader)
{
    const Spec *spec = reader->spec;
    const Configured *configured = &spec->configured;
    if (configured->n_columns == 0 || configured->tick_duration <= 0.0 || spec->model->by_hand)
        return arena_format(reader->arena, "model %s has no samples in time", spec->model->name);
    if (given_find(reader, "environment") != NULL)
        return "an environment ends its episodes itself: write the condition in environment.terminate";
    return NULL;
}

// An entry of the list: a condition, or a rung.
typedef struct RetireRow {
    const Node *node, *at, *every, *when, *keep, *of; // NULL: it is not given
    double time, part, trials;                        // time NaN: none
    int64_t ticks;                                    // of `every`
} RetireRow;

// The time `at`.
static bool retire_read_time(SpecReader *reader, const Node *node, double *at)
{
    const Configured *configured = &reader->spec->configured;
    const double life = configured_duration(configured);
    const bool map = configured_iterates(configured);
    const Key key = {.path = "at", .type = map ? KEY_INTEGER : KEY_NUMBER, .unit = map ? "1" : "s", .high = 1e12};
    double value;
    if (!scalar_number(reader, &key, node, &value)) return false;
    if (value >= life)
        diagnose(reader->diagnostics, node, "at is %s, and a trial lasts %s%s: it has ended by then",
                 text_number(value).text, text_number(life).text, map ? " iterations" : " s");
    *at = value;
    return value < life;
}

// The ticks of `every`, a time of whole ones.
static void retire_read_every(SpecReader *reader, const Node *node, int64_t *every)
{
    const Configured *configured = &reader->spec->configured;
    const bool map = configured_iterates(configured);
    const Key key = {.path = "every", .type = map ? KEY_INTEGER : KEY_NUMBER, .unit = map ? "1" : "s", .high = 1e12};
    double value;
    if (!scalar_number(reader, &key, node, &value)) return;
    const double ticks = value / configured->tick_duration, whole = floor(ticks + 0.5);
    *every = (int64_t)(whole < INT32_MAX ? whole : INT32_MAX);
    if (whole >= 1.0 && whole < INT32_MAX && fabs(ticks - whole) <= 1e-6 * whole) return;
    if (map)
        diagnose(reader->diagnostics, node, "every is %s, expected a number of iterations", text_number(value).text);
    else
        diagnose(reader->diagnostics, node, "every is %s s, expected a whole number of steps (%s s)",
                 text_number(value).text, text_number(configured->tick_duration).text);
}

static void retire_read_key(SpecReader *reader, const Node *key, const Node *item, RetireRow *row)
{
    static const char *const names[] = {"at", "every", "when", "keep", "of"};
    static const Key keep = {.path = "keep", .type = KEY_NUMBER, .unit = "fraction", .low = 0.001, .high = 0.99},
                     of = {.path = "of", .type = KEY_INTEGER, .unit = "trials", .low = 2, .high = RETIRE_OF_MAX};
    if (strcmp(key->text, "at") == 0) {
        row->at = item;
        retire_read_time(reader, item, &row->time);
    } else if (strcmp(key->text, "every") == 0) {
        row->every = item;
        retire_read_every(reader, item, &row->ticks);
    } else if (strcmp(key->text, "when") == 0) {
        row->when = item;
    } else if (strcmp(key->text, "keep") == 0) {
        row->keep = item;
        scalar_number(reader, &keep, item, &row->part);
    } else if (strcmp(key->text, "of") == 0) {
        row->of = item;
        scalar_number(reader, &of, item, &row->trials);
    } else {
        diagnose(reader->diagnostics, key,
                 "retire has no key '%s', expected at or every, and when, or at, keep and of%s", key->text,
                 did_you_mean(nearest_name(key->text, names, 5), reader->arena));
    }
}

static void retire_check_row(SpecReader *reader, const RetireRow *row)
{
    const bool rung = row->keep != NULL || row->of != NULL;
    if (row->when == NULL && !rung)
        diagnose(reader->diagnostics, row->node,
                 "an entry of retire has no `when`: the condition under which a trial ends");
    else if (row->when != NULL && rung)
        diagnose(reader->diagnostics, row->when,
                 "an entry of retire has `when`, a condition for each trial alone, and `%s`, which compares trials: "
                 "write two entries",
                 row->keep != NULL ? "keep" : "of");
    else if (row->at != NULL && row->every != NULL)
        diagnose(reader->diagnostics, row->every,
                 "an entry of retire has `at`, one look, or `every`, one after the other");
    else if (rung && (row->at == NULL || row->keep == NULL || row->of == NULL))
        diagnose(
            reader->diagnostics, row->node,
            "a rung needs at, keep and of: {at: 1, keep: 0.25, of: 4096} is the best quarter of each 4,096 trials");
}

// False after an error.
static bool retire_read_row(SpecReader *reader, const Node *node, RetireRow *row)
{
    const int errors = diagnostics_errors(reader->diagnostics);
    *row = (RetireRow){.node = node, .time = (double)NAN};
    if (node->kind != NODE_MAPPING) {
        diagnose(reader->diagnostics, node,
                 "an entry of retire is %s, expected a mapping such as {at: 1, when: x > 3} or {at: 1, keep: 0.25, of: "
                 "4096}",
                 scalar_given(node, reader->arena));
        return false;
    }
    for (int i = 0; i < node->count; i++) retire_read_key(reader, node->keys[i], node->items[i], row);
    if (diagnostics_errors(reader->diagnostics) == errors) retire_check_row(reader, row);
    return diagnostics_errors(reader->diagnostics) == errors;
}

static const char *retire_row_text(const RetireRow *row, double tick, Arena *arena)
{
    const Text32 at = text_number(row->time);
    if (row->keep != NULL)
        return arena_format(arena, "{at: %s, keep: %s, of: %s}", at.text, text_number(row->part).text,
                            text_number(row->trials).text);
    const char *condition = scalar_quoted(row->when->text, arena);
    if (row->at != NULL) return arena_format(arena, "{at: %s, when: %s}", at.text, condition);
    if (row->every == NULL) return arena_format(arena, "{when: %s}", condition);
    return arena_format(arena, "{every: %s, when: %s}", text_number((double)row->ticks * tick).text, condition);
}

// Adds a rung, which must be later than the one before, and compare as many trials.
static void retire_add_rung(SpecReader *reader, const RetireRow *row, Rung *rung)
{
    Spec *spec = reader->spec;
    Configured cut = spec->configured;
    const int count = spec->limits.rungs.count;
    const Error error = spec->model->shorten(row->time, &cut);
    if (error.kind != OK)
        diagnose(reader->diagnostics, row->at, "at is %s: the time of a rung must be %s", text_number(row->time).text,
                 error.text);
    if (count > 0 && row->time <= rung[count - 1].at)
        diagnose(reader->diagnostics, row->at, "at is %s, and the rung before is at %s: give them in the order of time",
                 text_number(row->time).text, text_number(rung[count - 1].at).text);
    if (count > 0 && (int64_t)row->trials != spec->limits.rungs.of)
        diagnose(reader->diagnostics, row->of,
                 "of is %s where the rung before has %lld: all rungs compare the same trials",
                 text_number(row->trials).text, (long long)spec->limits.rungs.of);
    spec->limits.rungs.of = (int64_t)row->trials;
    rung[count] = (Rung){.at = row->time, .keep = row->part};
    spec->limits.rungs.count = spec->limits.rungs.passed = count + 1;
}

// Appends to a list of entries, as YAML.
static const char *retire_append(const char *text, const char *entry, Arena *arena)
{
    return text == NULL ? entry : arena_format(arena, "%s, %s", text, entry);
}

static void retire_add(SpecReader *reader, const RetireRow *row, MeterGiven *out, Rung *rung)
{
    Spec *spec = reader->spec;
    const double tick = spec->configured.tick_duration;
    const char *entry = retire_row_text(row, tick, reader->arena);
    if (row->keep != NULL) {
        retire_add_rung(reader, row, rung);
        spec->limits.rungs.text = retire_append(spec->limits.rungs.text, entry, reader->arena);
        return;
    }
    MeterRetire *retire = (MeterRetire *)out->retire + out->n_retire;
    retire->at = row->time - 1e-6 * tick; // the times of samples are rounded
    retire->every = row->every != NULL ? row->ticks : row->at == NULL;
    ((const Node **)out->when)[out->n_retire++] = row->when;
    if (row->when->kind == NODE_SCALAR) spec->retire_text = retire_append(spec->retire_text, entry, reader->arena);
}

bool retire_rows(SpecReader *reader, MeterGiven *out)
{
    Spec *spec = reader->spec;
    const GivenKey *given = form_given(reader, &form_retire);
    const char *refusal = given != NULL ? retire_refusal(reader) : NULL;
    const int errors = diagnostics_errors(reader->diagnostics);
    if (given == NULL) return true;
    const Node *list = given->value;
    if (list->kind != NODE_SEQUENCE || list->count == 0 || list->count > RETIRE_MAX) {
        form_mistyped(reader, given);
        return false;
    }
    if (refusal != NULL) {
        diagnose(reader->diagnostics, given->key, "no trial can end early: %s", refusal);
        return false;
    }
    Rung *rung = ARENA_NEW(reader->arena, Rung, list->count);
    spec->limits.rungs.rung = rung;
    out->when = ARENA_NEW(reader->arena, const Node *, list->count);
    out->retire = ARENA_NEW(reader->arena, MeterRetire, list->count);
    for (int i = 0; i < list->count; i++) {
        RetireRow row;
        if (retire_read_row(reader, list->items[i], &row)) retire_add(reader, &row, out, rung);
    }
    if (spec_has_rungs(spec)) (void)configured_fails_as(&spec->configured, RETIRED, reader->arena);
    return diagnostics_errors(reader->diagnostics) == errors;
}

static void retire_read(SpecReader *reader, const GivenKey *given)
{
    const bool together = given_find(reader, "metrics") != NULL && !model_is_top(reader->spec->model, "metrics");
    if (!together) meter_read(reader, NULL, given->value);
}

static const char *retire_text(const SpecReader *reader)
{
    const Spec *spec = reader->spec;
    const char *text = spec->retire_text;
    if (spec_has_rungs(spec)) text = retire_append(text, spec->limits.rungs.text, reader->arena);
    return text != NULL ? arena_format(reader->arena, "[%s]", text) : NULL;
}

const Form form_retire = {
    .path = "limits.retire",
    .after = "limits.failures",
    .words = "a list of 1 to 64 mappings, such as [{at: 1, when: x < 0.5}] or [{at: 1, keep: 0.25, of: 4096}]",
    .doc = "trials that end early: `when` is a condition over the columns of trajectories and over parameters, "
           "looked at once, before the first step from the time `at` on, or again and again `every` so long, or "
           "before each step, which takes the longest. Where it holds, the trial ends with the step that follows"
           " and has failed: its failure is `retired`, and its time is in the metric `survived`. Such trials do "
           "not count for limits.failures. `models SPEC.yaml` lists the columns. A rung compares trials: of each"
           " `of` (2 to 65536) that follow each other the best part `keep` (0.001 to 0.99), by the fitness of "
           "trials that last until `at`, goes on past that time, and the others are retired there. Rungs are in "
           "the order of time, and all have the same `of`. Methods that know their trials beforehand take them; "
           "the column `rungs` says how many a trial passed",
    .example = "[{at: 1, when: x_foot < 0.5}]",
    .stage = FORM_METRICS,
    .read = retire_read,
    .flags = KEY_IDENTITY,
    .text = retire_text,
    .schema = "{type: array, minItems: 1, maxItems: MOST, items: {type: object, properties: {at: $quantity, "
              "every: $quantity, when: {type: string}, keep: {type: number, minimum: 0.001, maximum: 0.99}, of:"
              " {type: number, minimum: 2, maximum: 65536}}, anyOf: [{required: [when]}, {required: [at, keep, "
              "of]}], additionalProperties: false}}",
    .most = RETIRE_MAX,
    .most_of = "entries of limits.retire",
};
