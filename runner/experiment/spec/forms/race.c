// `race`: replicates where they are needed (search/race.c).
#include "../forms.h"

#include <string.h>

static const char *const race_orders[] = {[RACE_BY_FITNESS] = "fitness", [RACE_BY_FAILURES] = "failures"};
enum { RACE_ORDERS = sizeof race_orders / sizeof *race_orders };

static void race_read_order(SpecReader *reader, const Node *item)
{
    for (int i = 0; i < RACE_ORDERS; i++) {
        if (item->kind != NODE_SCALAR || strcmp(item->text, race_orders[i]) != 0) continue;
        reader->spec->replicates.race.by = i == RACE_BY_FAILURES ? RACE_BY_FAILURES : RACE_BY_FITNESS;
        return;
    }
    const char *near = item->kind == NODE_SCALAR ? nearest_name(item->text, race_orders, RACE_ORDERS) : NULL;
    diagnose(reader->diagnostics, item, "by is %s, expected fitness or failures%s", scalar_given(item, reader->arena),
             did_you_mean(near, reader->arena));
}

// keep and by say who goes on from a rung of all trials; clear says it of the members of a generation.
static void race_refuse_keys(SpecReader *reader, const Node *node)
{
    const SearchMethod *method = reader->spec->method;
    if (reader->names == NULL || method == NULL) return;
    for (int i = 0; i < node->count; i++) {
        const char *name = node->keys[i]->text;
        const bool rungs = strcmp(name, "keep") == 0 || strcmp(name, "by") == 0;
        if (rungs && method->races)
            diagnose(reader->diagnostics, node->keys[i],
                     "race.%s has no meaning for method %s: a member runs more replicates where the noise hides its "
                     "rank in its generation (clear)",
                     name, method->name);
        if (strcmp(name, "clear") == 0 && !method->races)
            diagnose(reader->diagnostics, node->keys[i],
                     "race.clear has no meaning for method %s: the best part `keep` of all trials runs more replicates",
                     method->name);
    }
}

static void race_read_key(SpecReader *reader, const Node *name, const Node *item)
{
    static const Key start = {.path = "start", .type = KEY_INTEGER, .low = 2, .high = REPLICATES_MAX};
    static const Key keep = {.path = "keep", .type = KEY_NUMBER, .unit = "fraction", .low = 0.1, .high = 0.9};
    static const Key clear = {.path = "clear", .type = KEY_NUMBER, .unit = "standard errors", .low = 0.1, .high = 10};
    static const char *const names[] = {"start", "keep", "by", "clear"};
    Spec *spec = reader->spec;
    double value = 0;
    if (strcmp(name->text, "start") == 0) {
        if (scalar_number(reader, &start, item, &value)) spec->replicates.race.start = (int)value;
    } else if (strcmp(name->text, "keep") == 0) {
        if (scalar_number(reader, &keep, item, &value)) spec->replicates.race.keep = value;
    } else if (strcmp(name->text, "clear") == 0) {
        if (scalar_number(reader, &clear, item, &value)) spec->replicates.race.clear = value;
    } else if (strcmp(name->text, "by") == 0) {
        race_read_order(reader, item);
    } else {
        diagnose(reader->diagnostics, name, "race has no key '%s', expected start, keep, by and clear%s", name->text,
                 did_you_mean(nearest_name(name->text, names, 4), reader->arena));
    }
}

// Why the replicates of the trials can't differ; NULL: they can.
static const char *race_refusal(const Spec *spec, Arena *arena)
{
    if (spec->model->by_hand) return "people run its trials: `replicates.count` alone says how often each";
    if (!replicates_differ(spec)) return "nothing is drawn (replicates.perturb), so that all replicates are equal";
    if (spec_several(spec)) return "several objectives have no best trial";
    if (search_learns(spec->method) && !spec->method->races)
        return arena_format(arena, "method %s compares its trials round by round; of such methods only cmaes races",
                            spec->method->name);
    if (spec->method->sensitivity != NULL || spec->method == &search_centered)
        return arena_format(arena, "method %s compares all trials with each other", spec->method->name);
    if (spec->record.all_replicates || spec_debug_all(spec))
        return "arrays are recorded of all replicates: record those of the first";
    return NULL;
}

// Whether the spec gives a count that is an error of its own.
static bool race_count_is_wrong(SpecReader *reader)
{
    const GivenKey *count = given_find(reader, "replicates.count");
    double given = 0;
    if (count == NULL) return false;
    return count->value->kind != NODE_SCALAR || !text_to_number(count->value->text, &given) ||
           given != reader->spec->replicates.count;
}

static void race_check(SpecReader *reader, const GivenKey *given)
{
    Spec *spec = reader->spec;
    const GivenKey *store = given_find(reader, "replicates.store");
    const char *refusal = reader->names != NULL && spec->method != NULL ? race_refusal(spec, reader->arena) : NULL;
    if (spec->replicates.race.start >= spec->replicates.count && !race_count_is_wrong(reader))
        diagnose(reader->diagnostics, given->value,
                 "start is %d and replicates.count is %d: the best trials go on from `start` to a greater `count`",
                 spec->replicates.race.start, spec->replicates.count);
    if (refusal != NULL)
        diagnose(reader->diagnostics, given->key, "race gives the best trials more replicates, and %s", refusal);
    if (store != NULL && !spec->replicates.store)
        diagnose(reader->diagnostics, store->value,
                 "store is false, and race goes on with the replicates that a trial has: leave `store` out");
    spec->replicates.store = true;
}

static void race_read(SpecReader *reader, const GivenKey *given)
{
    Spec *spec = reader->spec;
    const Node *node = given->value;
    if (node->kind == NODE_SCALAR && strcmp(node->text, "off") == 0) return;
    if (node->kind != NODE_MAPPING) {
        form_mistyped(reader, given);
        return;
    }
    bool starts = false;
    spec->replicates.race.keep = 0.5;
    spec->replicates.race.clear = 1.3;
    for (int i = 0; i < node->count; i++) {
        race_read_key(reader, node->keys[i], node->items[i]);
        starts |= strcmp(node->keys[i]->text, "start") == 0;
    }
    race_refuse_keys(reader, node);
    if (spec->replicates.race.start > 0)
        race_check(reader, given);
    else if (!starts)
        diagnose(reader->diagnostics, given->key, "race has no start: the number of replicates that every trial runs");
}

static const char *race_text(const SpecReader *reader)
{
    const Spec *spec = reader->spec;
    if (!spec_races(spec)) return NULL;
    if (race_of_generations(spec))
        return arena_format(reader->arena, "{start: %d, clear: %s}", spec->replicates.race.start,
                            text_number(spec->replicates.race.clear).text);
    return arena_format(reader->arena, "{start: %d, keep: %s, by: %s}", spec->replicates.race.start,
                        text_number(spec->replicates.race.keep).text, race_orders[spec->replicates.race.by]);
}

const Form form_race = {
    .path = "replicates.race",
    .after = "replicates.store",
    .words = "off, or a mapping of start, and of keep and by, or clear",
    .doc =
        "replicates where they are needed (sequential halving): every trial runs `start` replicates (at least 2). "
        "When all trials have run, the best part `keep` of them (0.1 to 0.9, default 0.5) runs 1/keep times as many, "
        "the best part of those again, up to `count`. A trial keeps the replicates that it has; its fitness is of "
        "those, and the column `replicates` says how many. Trials with more replicates rank first. by: failures: the "
        "trials with the fewest failed replicates go on, with or without a fitness, among equals the fittest "
        "(default fitness). Methods that know their trials beforehand race so. With cmaes the members of a generation "
        "race before it is told (AS-CMA): members two ranks apart run twice as many replicates, up to `count`, while "
        "their difference is less than `clear` (default 1.3) times its standard error. It needs the mean of the "
        "replicates, and failed: penalty(X) or ignore. A race stores all replicates",
    .example = "{start: 4, keep: 0.5}",
    .stage = FORM_RECORD,
    .read = race_read,
    .flags = KEY_IDENTITY,
    .text = race_text,
    .schema = "{anyOf: [{enum: [off]}, {type: object, properties: {start: {type: number, minimum: 2, maximum: MOST}, "
              "keep: {type: number, minimum: 0.1, maximum: 0.9}, by: {enum: [fitness, failures]}, "
              "clear: {type: number, minimum: 0.1, maximum: 10}}, required: [start], "
              "additionalProperties: false}]}",
    .most = REPLICATES_MAX,
};
