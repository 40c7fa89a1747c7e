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

// ---- noise by series ------------------------------------------------------------------------------------------------

// Series of residuals in their order (as trial_residuals_along): columns of the recording, values of a metric,
// expressions. each[residual_count], or NULL.
typedef struct InformationSeries {
    const char *name;
    int64_t first, count;
} InformationSeries;

static void information_put(InformationSeries *series, int *n, const char *name, int64_t count)
{
    const int64_t at = *n > 0 ? series[*n - 1].first + series[*n - 1].count : 0;
    series[(*n)++] = (InformationSeries){name, at, count};
}

static InformationSeries *information_series(const SpecReader *reader, bool *recorded, int *n)
{
    const Spec *spec = reader->spec;
    const Points *record = spec_recording(spec);
    const int64_t columns = record != NULL && record->count > 0 ? record->columns : 0;
    InformationSeries *series = ARENA_NEW(reader->arena, InformationSeries, spec->objective.n_residuals + columns);
    *n = 0;
    *recorded = false;
    for (int by_value = 1; by_value >= 0; by_value--) {
        for (int i = 0; i < spec->objective.n_residuals; i++) {
            const Residual *of = &spec->objective.residuals[i];
            if ((of->metric >= 0) != by_value) continue;
            if (of->metric < 0 || columns == 0)
                information_put(series, n, expression_text(of->expression, reader->arena), of->count);
            for (int64_t c = 0; c < columns && of->metric >= 0; c++) {
                int64_t there = 0;
                for (int64_t at = c; at < record->count; at += columns) there += !isnan(record->numbers[at]);
                if (strcmp(record->names[c], "time") != 0) information_put(series, n, record->names[c], there);
                *recorded = true;
            }
        }
    }
    return series;
}

// Differences from a recording must be in the units of its columns.
static bool information_is_scaled(const SpecReader *reader)
{
    const Spec *spec = reader->spec;
    const Points *record = spec_recording(spec);
    for (int i = 0; i < spec->model->n_options; i++) {
        const Option *option = &spec->model->options[i];
        if (strcmp(option->name, "reference_scale") == 0 && spec->settings[i] != words_find(option->choices, "none"))
            return true;
    }
    for (int64_t c = 0; c < record->columns && record->source != NULL && record->source->noise != NULL; c++)
        if (!isnan(record->source->noise[c])) return true;
    return false;
}

static void information_read_noises(SpecReader *reader, const Node *node)
{
    static const Key noise = {.path = "noise", .type = KEY_NUMBER, .low = 1e-12, .high = 1e12};
    Spec *spec = reader->spec;
    bool recorded;
    int n;
    if (trial_residuals_check(spec).kind != OK) return; // which is said later
    const InformationSeries *series = information_series(reader, &recorded, &n);
    const char **names = ARENA_NEW(reader->arena, const char *, n), *text = "", *missing = NULL;
    double *each = ARENA_NEW(reader->arena, double, spec->objective.residual_count);
    for (int s = 0; s < n; s++) names[s] = series[s].name;
    for (int i = 0; i < node->count; i++) {
        int s = 0;
        while (s < n && strcmp(names[s], node->keys[i]->text) != 0) s++;
        if (s < n) continue;
        diagnose(reader->diagnostics, node->keys[i], "no residual is called '%s'%s", node->keys[i]->text,
                 did_you_mean(nearest_name(node->keys[i]->text, names, n), reader->arena));
        return;
    }
    for (int s = 0; s < n; s++) {
        const Node *item = node_find(node, names[s]);
        double value = 1.0;
        if (item == NULL && missing == NULL) missing = names[s];
        if (item != NULL) scalar_number(reader, &noise, item, &value);
        for (int64_t k = 0; k < series[s].count; k++) each[series[s].first + k] = value;
        const bool plain =
            strspn(names[s], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(names[s]);
        text = arena_format(reader->arena, "%s%s%s: %s", text, s > 0 ? ", " : "",
                            plain ? names[s] : scalar_quoted(names[s], reader->arena), text_number(value).text);
    }
    if (missing != NULL)
        diagnose(reader->diagnostics, node, "noise has no value for %s: give one to each residual", missing);
    else if (recorded && information_is_scaled(reader))
        diagnose(
            reader->diagnostics, node,
            "noise by column is in the units of columns: write `reference_scale: none`, and no `noise` at columns");
    spec->objective.information.noise = 1.0;
    spec->objective.information.each = each;
    spec->objective.information.noises = arena_format(reader->arena, "{%s}", text);
}

// False: there is no such key.
static bool information_read_key(SpecReader *reader, const Node *name, const Node *item)
{
    static const Key noise = {.path = "noise", .type = KEY_NUMBER, .low = 1e-12, .high = 1e12};
    static const char *const names[] = {"of", "criterion", "noise"};
    Spec *spec = reader->spec;
    if (strcmp(name->text, "of") == 0) {
        information_read_of(reader, item);
    } else if (strcmp(name->text, "noise") == 0 && item->kind == NODE_MAPPING) {
        information_read_noises(reader, item);
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
                        spec->objective.information.noises != NULL
                            ? spec->objective.information.noises
                            : text_number(spec->objective.information.noise).text);
}

const Form form_information = {
    .path = "objective.information",
    .after = "objective.residuals",
    .words = "a mapping of of, criterion and noise",
    .doc = "the fitness is what a recording of the residuals would tell of the parameters `of`, at their values: the "
           "expected error by Fisher's information, relative to |value| (1 where that is 0), with independent `noise` "
           "of that standard deviation in each residual, or of those of a mapping by column of the recording, or by "
           "residual: {hip_q: 0.001, hip_rate: 0.05}. criterion D: the geometric mean of the half axes of the "
           "ellipsoid of errors; A: the root mean square of the errors. A plan that leaves a combination of them open "
           "fails as undetermined. `hopscotch fit NAME/TRIAL` prints the expected intervals",
    .example = "{of: [m, k_l], criterion: D, noise: 0.01}",
    .stage = FORM_OBJECTIVE,
    .read = information_read,
    .flags = KEY_IDENTITY,
    .text = information_text,
    .schema =
        "{type: object, properties: {of: {type: array, minItems: 1, maxItems: MOST, items: {type: string}}, "
        "criterion: {enum: [D, A]}, noise: {anyOf: [{type: number, minimum: 1e-12, maximum: 1e12}, {type: object, "
        "additionalProperties: {type: number, minimum: 1e-12, maximum: 1e12}}]}}, required: [of, "
        "noise], additionalProperties: false}",
    .most = INFORMATION_MOST,
};
