// `exclude`: trials that are not run.
#include "../forms.h"

static void exclude_read(SpecReader *reader, const GivenKey *given)
{
    const Node *node = given->value;
    if (node->kind != NODE_SEQUENCE) {
        diagnose(reader->diagnostics, node, "exclude is %s, expected a list of expressions: [\"a > 1 and b < 2\"]",
                 scalar_given(node, reader->arena));
        return;
    }
    if (node->count > EXCLUDE_MAX) {
        diagnose(reader->diagnostics, node, "exclude has %d expressions, at most %d are allowed; join some with `or`",
                 node->count, EXCLUDE_MAX);
        return;
    }
    const Scope scope = parameter_scope(reader);
    const Expression **list = ARENA_NEW(reader->arena, const Expression *, node->count);
    for (int i = 0; i < node->count; i++) list[i] = expression_read(reader, node->items[i], &scope, "exclude");
    reader->spec->exclude = list;
    reader->spec->n_exclude = node->count;
}

static bool exclude_entry(const SpecReader *reader, int index, FormEntry *out)
{
    if (index >= reader->spec->n_exclude) return false;
    out->expression = reader->spec->exclude[index];
    return true;
}

const Form form_exclude = {
    .path = "search.exclude",
    .after = "search.zip",
    .words = "a list of expressions over the parameters",
    .doc = "a trial is not run if one of these expressions holds; one that is NaN does not",
    .example = "[\"k_fp > 250 and thrust < 30\"]",
    .stage = FORM_SEARCH,
    .read = exclude_read,
    .flags = KEY_IDENTITY,
    .entry = exclude_entry,
    .canonical = "search.exclude",
    .lines = {{.start = "search.exclude", .shown = "search.exclude", .change = CHANGE_POINTS}},
    .schema = "{type: array, maxItems: MOST, items: $expression}",
    .most = EXCLUDE_MAX,
    .most_of = "expressions",
};
