// `objective.information`: the fitness is what a recording would tell (search/information.c).
#include "../forms.h"

#include <math.h>
#include <string.h>

static void information_read_name(SpecReader *reader, const Node *node)
{
    Spec *spec = reader->spec;
    const int n = configured_named(&spec->configured);
    int found = -1;
    for (int i = 0; i < n && node->kind == NODE_SCALAR; i++)
        if (strcmp(node->text, reader->names[i]) == 0) found = i;
    if (found < 0) {
        const char *text = node->kind == NODE_SCALAR ? node->text : "a list";
        diagnose(reader->diagnostics, node, "unknown parameter '%s' in information%s", text,
                 did_you_mean(nearest_name(text, (const char *const *)reader->names, n), reader->arena));
        return;
    }
    for (int i = 0; i < spec->objective.information.n; i++) {
        if (spec->objective.information.of[i] != found) continue;
        diagnose(reader->diagnostics, node, "%s is named twice", node->text);
        return;
    }
    if (trial_residuals_check(spec).kind == OK && !trial_gradient_has(spec, found)) {
        diagnose(reader->diagnostics, node, "no residual depends smoothly on %s", node->text);
        return;
    }
    spec->objective.information.of[spec->objective.information.n++] = found;
}

static void information_read_of(SpecReader *reader, const Node *node)
{
    Spec *spec = reader->spec;
    if (node->kind != NODE_SEQUENCE || node->count < 1 || node->count > INFORMATION_MOST) {
        diagnose(reader->diagnostics, node, "of is a list of 1 to %d parameters", INFORMATION_MOST);
        return;
    }
    spec->objective.information.of = ARENA_NEW(reader->arena, int, node->count);
    for (int i = 0; i < node->count; i++) information_read_name(reader, node->items[i]);
}

// False: there is no such key.
static bool information_read_key(SpecReader *reader, const Node *name, const Node *item)
{
    static const Key noise = {.path = "noise", .type = KEY_NUMBER, .low = 1e-12, .high = 1e12};
    static const char *const names[] = {"of", "criterion", "noise"};
    Spec *spec = reader->spec;
    if (strcmp(name->text, "of") == 0) {
        information_read_of(reader, item);
    } else if (strcmp(name->text, "noise") == 0) {
        scalar_number(reader, &noise, item, &spec->objective.information.noise);
    } else if (strcmp(name->text, "criterion") == 0) {
        const int word = item->kind == NODE_SCALAR ? words_find("D|A", item->text) : -1;
        if (word < 0) diagnose(reader->diagnostics, item, "criterion is D or A");
        spec->objective.information.criterion = word == 1 ? INFORMATION_A : INFORMATION_D;
    } else {
        diagnose(reader->diagnostics, name, "information has no key '%s', expected of, criterion and noise%s",
                 name->text, did_you_mean(nearest_name(name->text, names, 3), reader->arena));
        return false;
    }
    return true;
}

static void information_check(SpecReader *reader, const GivenKey *given)
{
    const Spec *spec = reader->spec;
    const int n = spec->objective.information.n;
    const Error refused = trial_residuals_check(spec);
    const char *why = NULL;
    if (spec->objective.n_residuals == 0)
        why = "information is that of residuals: name them too";
    else if (refused.kind != OK)
        why = arena_copy(reader->arena, refused.text);
    else if (spec->n_cases > 0)
        why = "information is that of one planned run: leave `cases` out";
    else if (spec->replicates.count > 1)
        why = "information is that of one run, and replicates.count is more";
    else if (spec->method != NULL && strcmp(spec->method->name, "least_squares") == 0)
        why = "least_squares makes residuals small: search the information by another method, such as cmaes";
    else if (n > 0 && spec->objective.residual_count < n)
        why =
            arena_format(reader->arena, "%lld residual%s can't determine %d parameters",
                         (long long)spec->objective.residual_count, spec->objective.residual_count == 1 ? "" : "s", n);
    if (why != NULL) diagnose(reader->diagnostics, given->key, "%s", why);
}

static void information_read(SpecReader *reader, const GivenKey *given)
{
    Spec *spec = reader->spec;
    const Node *node = given->value;
    if (reader->names == NULL || reader->nameless) return;
    if (node->kind != NODE_MAPPING) {
        form_mistyped(reader, given);
        return;
    }
    spec->objective.information.noise = (double)NAN;
    bool known = true; // a key that is misspelt is not missing, too
    for (int i = 0; i < node->count; i++) known &= information_read_key(reader, node->keys[i], node->items[i]);
    if (known && spec->objective.information.of == NULL)
        diagnose(reader->diagnostics, given->key, "information needs `of`: the parameters that the recording is for");
    if (known && isnan(spec->objective.information.noise))
        diagnose(reader->diagnostics, given->key,
                 "information needs `noise`: the standard deviation of a residual, in its unit");
    if (diagnostics_errors(reader->diagnostics) == 0) information_check(reader, given);
    (void)configured_fails_as(&spec->configured, UNDETERMINED, reader->arena);
}

static const char *information_text(const SpecReader *reader)
{
    const Spec *spec = reader->spec;
    const char *names = "";
    const int n = spec->objective.information.n;
    if (n == 0) return NULL;
    for (int i = 0; i < n; i++)
        names = arena_format(reader->arena, "%s%s%s", names, i > 0 ? ", " : "",
                             spec->configured.parameters[spec->objective.information.of[i]].name);
    return arena_format(reader->arena, "{of: [%s], criterion: %s, noise: %s}", names, information_criterion(spec),
                        text_number(spec->objective.information.noise).text);
}

const Form form_information = {
    .path = "objective.information",
    .after = "objective.residuals",
    .words = "a mapping of of, criterion and noise",
    .doc = "the fitness is what a recording of the residuals would tell of the parameters `of`, at their values: the "
           "expected error by Fisher's information, relative to |value| (1 where that is 0), with independent `noise` "
           "of that standard deviation in each residual. criterion D: the geometric mean of the half axes of the "
           "ellipsoid of errors; A: the root mean square of the errors. A plan that leaves a combination of them open "
           "fails as undetermined. `hopscotch fit NAME/TRIAL` prints the expected intervals",
    .example = "{of: [m, k_l], criterion: D, noise: 0.01}",
    .stage = FORM_OBJECTIVE,
    .read = information_read,
    .flags = KEY_IDENTITY,
    .text = information_text,
    .schema = "{type: object, properties: {of: {type: array, minItems: 1, maxItems: MOST, items: {type: string}}, "
              "criterion: {enum: [D, A]}, noise: {type: number, minimum: 1e-12, maximum: 1e12}}, required: [of, "
              "noise], additionalProperties: false}",
    .most = INFORMATION_MOST,
};
