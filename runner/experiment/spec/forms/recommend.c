// `recommend`: trials that are run again at the end, under fresh seeds (view/analysis/recommend.c).
#include "../forms.h"

#include <string.h>

enum { RECOMMEND_TRIALS = 10, RECOMMEND_TRIALS_MAX = 1000 };

static void recommend_read_key(SpecReader *reader, const Node *name, const Node *item)
{
    static const Key keys[] = {
        {.path = "trials", .type = KEY_INTEGER, .low = 1, .high = RECOMMEND_TRIALS_MAX},
        {.path = "replicates", .type = KEY_INTEGER, .low = 1, .high = REPLICATES_MAX},
    };
    static const char *const names[] = {"trials", "replicates"};
    int64_t *const values[] = {&reader->spec->recommend.trials, &reader->spec->recommend.replicates};
    double value = 0;
    for (int k = 0; k < 2; k++) {
        if (strcmp(names[k], name->text) != 0) continue;
        const bool automatic = k == 1 && item->kind == NODE_SCALAR && strcmp(item->text, "auto") == 0;
        if (!automatic && scalar_number(reader, &keys[k], item, &value)) *values[k] = (int64_t)value;
        return;
    }
    diagnose(reader->diagnostics, name, "recommend has no key '%s', expected trials and replicates%s", name->text,
             did_you_mean(nearest_name(name->text, names, 2), reader->arena));
}

const char *recommend_refusal(const Spec *spec)
{
    if (spec->model->by_hand) return "people run its trials";
    if (spec->n_cases > 0) return "its replicates are the spec's cases";
    if (spec_several(spec)) return "several objectives have no best trial";
    if (spec->n_outer > 0) return "each point of an outer grid has a best trial of its own";
    if (spec->n_axes == 0) return "nothing is searched";
    if (!replicates_differ(spec)) return "nothing is drawn (replicates.perturb), so that every seed gives the same";
    return NULL;
}

static void recommend_read(SpecReader *reader, const GivenKey *given)
{
    Spec *spec = reader->spec;
    const Node *node = given->value;
    if (node->kind == NODE_SCALAR && strcmp(node->text, "auto") == 0) return;
    if (node->kind == NODE_SCALAR && strcmp(node->text, "off") == 0) {
        spec->recommend.when = RECOMMEND_NEVER;
        return;
    }
    if (node->kind != NODE_MAPPING) {
        form_mistyped(reader, given);
        return;
    }
    spec->recommend.when = RECOMMEND_ALWAYS;
    spec->recommend.trials = RECOMMEND_TRIALS;
    for (int i = 0; i < node->count; i++) recommend_read_key(reader, node->keys[i], node->items[i]);
    const char *refusal = reader->names != NULL && spec->method != NULL ? recommend_refusal(spec) : NULL;
    if (refusal != NULL)
        diagnose(reader->diagnostics, given->key,
                 "recommend runs the best trials under fresh seeds, and %s: leave it out", refusal);
}

static const char *recommend_text(const SpecReader *reader)
{
    const Spec *spec = reader->spec;
    if (spec->recommend.when == RECOMMEND_AUTO) return "auto";
    if (spec->recommend.when == RECOMMEND_NEVER) return "off";
    return arena_format(reader->arena, "{trials: %lld, replicates: %s}", (long long)spec->recommend.trials,
                        spec->recommend.replicates > 0 ? text_number((double)spec->recommend.replicates).text : "auto");
}

const Form form_recommend = {
    .path = "recommend",
    .after = "limits.failures",
    .words = "auto, off, or a mapping of trials and replicates",
    .doc =
        "at the end the best trials, and the mean of cmaes, are run again under fresh seeds, because the best of a "
        "noisy search is also the luckiest. They race (replicates.race): those that fall behind end early. trials: "
        "number of best trials (default 10). replicates: seeds of those that reach the end (default auto: all "
        "together take about a tenth of the search's simulations). auto: where replicates draw something, for cmaes, "
        "bayesian, adam and lbfgs with one objective and no outer grid; a tenth of the trials, at most 10. No stored "
        "result changes",
    .example = "{trials: 10, replicates: 64}",
    .stage = FORM_RECORD,
    .read = recommend_read,
    .text = recommend_text,
    .schema = "{anyOf: [{enum: [auto, off]}, {type: object, properties: {trials: {type: number, minimum: 1, maximum: "
              "MOST}, replicates: {anyOf: [{enum: [auto]}, {type: number, minimum: 1}]}}, additionalProperties: "
              "false}]}",
    .most = RECOMMEND_TRIALS_MAX,
};
