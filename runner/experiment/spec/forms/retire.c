// `limits.retire`: trials that end early, because a condition holds at a sample. The conditions are part of the meter,
// which reads the samples of every lane (sim/meter.h).
#include "../../equations/equations.h"
#include "../forms.h"

#include <math.h>
#include <string.h>

enum { RETIRE_MAX = 64 };

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

// An entry of the list. False after an error.
static bool retire_read_row(SpecReader *reader, const Node *node, const Node **when, MeterRetire *out)
{
    static const char *const names[] = {"at", "every", "when"};
    const int errors = diagnostics_errors(reader->diagnostics);
    *out = (MeterRetire){.at = (double)NAN};
    *when = NULL;
    if (node->kind != NODE_MAPPING) {
        diagnose(reader->diagnostics, node, "an entry of retire is %s, expected a mapping such as {at: 1, when: x > 3}",
                 scalar_given(node, reader->arena));
        return false;
    }
    for (int i = 0; i < node->count; i++) {
        const Node *key = node->keys[i];
        if (strcmp(key->text, "at") == 0)
            retire_read_time(reader, node->items[i], &out->at);
        else if (strcmp(key->text, "every") == 0)
            retire_read_every(reader, node->items[i], &out->every);
        else if (strcmp(key->text, "when") == 0)
            *when = node->items[i];
        else if (strcmp(key->text, "keep") == 0 || strcmp(key->text, "of") == 0)
            diagnose(reader->diagnostics, key,
                     "limits.retire takes `when`, a condition for each trial alone; it does not compare trials by `%s`",
                     key->text);
        else
            diagnose(reader->diagnostics, key, "retire has no key '%s', expected at, every and when%s", key->text,
                     did_you_mean(nearest_name(key->text, names, 3), reader->arena));
    }
    if (!isnan(out->at) && out->every > 0)
        diagnose(reader->diagnostics, node, "an entry of retire has `at`, one look, or `every`, one after the other");
    if (isnan(out->at) && out->every == 0) out->every = 1;
    if (*when == NULL && diagnostics_errors(reader->diagnostics) == errors)
        diagnose(reader->diagnostics, node, "an entry of retire has no `when`: the condition under which a trial ends");
    return diagnostics_errors(reader->diagnostics) == errors;
}

static const char *retire_row_text(const MeterRetire *row, const Node *when, double tick, Arena *arena)
{
    const char *condition = scalar_quoted(when->text, arena);
    if (row->every == 1) return arena_format(arena, "{when: %s}", condition);
    if (row->every == 0) return arena_format(arena, "{at: %s, when: %s}", text_number(row->at).text, condition);
    return arena_format(arena, "{every: %s, when: %s}", text_number((double)row->every * tick).text, condition);
}

bool retire_rows(SpecReader *reader, MeterGiven *out)
{
    const GivenKey *given = form_given(reader, &form_retire);
    const char *text = "", *refusal = given != NULL ? retire_refusal(reader) : NULL;
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
    const Node **when = ARENA_NEW(reader->arena, const Node *, list->count);
    MeterRetire *retire = ARENA_NEW(reader->arena, MeterRetire, list->count);
    const double tick = reader->spec->configured.tick_duration;
    bool ok = true;
    for (int i = 0; i < list->count; i++) {
        const bool read = retire_read_row(reader, list->items[i], &when[i], &retire[i]);
        ok &= read;
        if (!read || when[i]->kind != NODE_SCALAR) continue;
        text = arena_format(reader->arena, "%s%s%s", text, i > 0 ? ", " : "",
                            retire_row_text(&retire[i], when[i], tick, reader->arena));
        retire[i].at -= 1e-6 * tick; // the times of samples are rounded
    }
    reader->spec->retire_text = arena_format(reader->arena, "[%s]", text);
    out->when = when;
    out->retire = retire;
    out->n_retire = list->count;
    return ok;
}

static void retire_read(SpecReader *reader, const GivenKey *given)
{
    if (given_find(reader, "metrics") == NULL) meter_read(reader, NULL, given->value); // else they are read together
}

static const char *retire_text(const SpecReader *reader) { return reader->spec->retire_text; }

const Form form_retire = {
    .path = "limits.retire",
    .after = "limits.failures",
    .words = "a list of 1 to 64 mappings of at or every, and when, such as [{at: 1, when: x < 0.5}]",
    .doc = "trials that end early: `when` is a condition over the columns of trajectories and over parameters, looked "
           "at once, before the first step from the time `at` on, or again and again `every` so long, or before each "
           "step, which takes the longest. Where it holds, the trial ends with the step that follows and has failed: "
           "its failure is `retired`, and its time is in the metric `survived`. Such trials do not count for "
           "limits.failures. `models SPEC.yaml` lists the columns",
    .example = "[{at: 1, when: x_foot < 0.5}]",
    .stage = FORM_METRICS,
    .read = retire_read,
    .flags = KEY_IDENTITY,
    .text = retire_text,
    .schema = "{type: array, minItems: 1, maxItems: MOST, items: {type: object, properties: {at: $quantity, every: "
              "$quantity, when: {type: string}}, required: [when], additionalProperties: false}}",
    .most = RETIRE_MAX,
    .most_of = "conditions of limits.retire",
};
