// The section `constraints:`: a list of inequalities.
#include "../forms.h"

static const Expression *constraints_read_one(SpecReader *reader, const Node *node, const Scope *scope)
{
    const Expression *expression = expression_read(reader, node, scope, "constraint");
    if (expression != NULL && !constraint_is_inequality(expression))
        diagnose(reader->diagnostics, node,
                 "a constraint is an inequality such as \"peak_ground_force < 3000\", or several with and, or, not");
    return expression;
}

static void constraints_read(SpecReader *reader, const GivenKey *given)
{
    if (reader->names == NULL || reader->nameless) return;
    const Node *node = given->value;
    if (node->kind != NODE_SEQUENCE || node->count > CONSTRAINTS_MAX) {
        diagnose(reader->diagnostics, node, "constraints is %s, expected a list of up to %d inequalities",
                 node->kind == NODE_SEQUENCE ? arena_format(reader->arena, "a list of %d", node->count)
                                             : scalar_given(node, reader->arena),
                 CONSTRAINTS_MAX);
        return;
    }
    const Scope scope = objective_scope(reader);
    const Expression **list = ARENA_NEW(reader->arena, const Expression *, node->count + 1);
    for (int i = 0; i < node->count; i++) list[i] = constraints_read_one(reader, node->items[i], &scope);
    reader->spec->constraints = list;
    reader->spec->n_constraints = node->count;
}

static bool constraints_entry(const SpecReader *reader, int index, FormEntry *out)
{
    if (index >= reader->spec->n_constraints) return false;
    out->expression = reader->spec->constraints[index];
    return true;
}

const Form form_constraints = {
    .path = "constraints",
    .after = "objective.reference",
    .words = "a list of inequalities over metrics and parameters",
    .doc =
        "inequalities that every replicate has to meet. A trial that does not meet them ranks behind those that do; "
        "its `violation` is the sum of the excesses, and less is better. Where both sides are equal it is met, < as <=",
    .example = "[\"peak_ground_force < 3000\"]",
    .stage = FORM_OBJECTIVE,
    .read = constraints_read,
    .flags = KEY_IDENTITY,
    .entry = constraints_entry,
    .canonical = "constraints.",
    .digits = 3,
    .schema = "{type: array, maxItems: MOST, items: $expression}",
    .most = CONSTRAINTS_MAX,
    .most_of = "expressions",
};
