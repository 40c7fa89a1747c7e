// What is minimised or maximised: the expressions, how replicates become one value, and from where fronts are measured.
#include "../forms.h"

#include <math.h>
#include <string.h>

// "word(number)": the number; false if the text is anything else.
static bool sections_call(const char *text, const char *word, double *number)
{
    const size_t length = strlen(word), whole = strlen(text);
    char inner[64];
    if (strncmp(text, word, length) != 0 || text[length] != '(' || text[whole - 1] != ')') return false;
    const size_t inside = whole - length - 2;
    if (inside >= sizeof inner) return false;
    memcpy(inner, text + length + 1, inside);
    inner[inside] = '\0';
    return text_to_number(inner, number);
}

static void objective_read_over(SpecReader *reader, const GivenKey *given)
{
    const Node *node = given->value;
    const int index = node->kind == NODE_SCALAR ? words_find("mean|median|worst", node->text) : -1;
    double q = -1.0;
    if (index >= 0)
        reader->spec->objective.over = (Over)index;
    else if (node->kind == NODE_SCALAR && sections_call(node->text, "quantile", &q) && q >= 0.0 && q <= 1.0)
        reader->spec->objective.over = OVER_QUANTILE;
    else
        form_mistyped(reader, given);
    reader->spec->objective.quantile = q > 0.0 ? q : 0.0;
}

static void objective_read_failed(SpecReader *reader, const GivenKey *given)
{
    const Node *node = given->value;
    Spec *spec = reader->spec;
    if (node->kind == NODE_SCALAR && strcmp(node->text, "any") == 0)
        spec->objective.failed = FAILED_ANY;
    else if (node->kind == NODE_SCALAR && strcmp(node->text, "ignore") == 0)
        spec->objective.failed = FAILED_IGNORE;
    else if (node->kind == NODE_SCALAR && sections_call(node->text, "penalty", &spec->objective.penalty))
        spec->objective.failed = FAILED_PENALTY;
    else
        form_mistyped(reader, given);
}

// A metric says nothing about its direction: a distance may be an error, or how far a robot walked.
static void objective_missing(SpecReader *reader)
{
    const Configured *configured = &reader->spec->configured;
    const GivenKey *section = given_find(reader, "objective"), *model = given_find(reader, "model");
    const char *names = "";
    for (int i = 0; i < configured->n_metrics; i++)
        names = arena_format(reader->arena, "%s%s%s", names, i > 0 ? ", " : "", configured->metrics[i].name);
    diagnose(reader->diagnostics,
             section != NULL ? section->key
             : model != NULL ? model->value
                             : reader->root,
             "objective.minimize (or maximize) is missing, and model %s has no default: an expression of its metrics "
             "%s, for example `minimize: %s`",
             reader->spec->model->name, names, configured->metrics[0].name);
}

// The model's default, as if the spec had given it. NULL: there is none, or it is a metric of the spec's own whose name
// is wrong; an error says so.
static const Node *objective_default(SpecReader *reader)
{
    const Configured *configured = &reader->spec->configured;
    if (configured->n_metrics == 0 || configured->metrics[0].name[0] == '\0') return NULL;
    if (configured->objective == NULL) {
        objective_missing(reader);
        return NULL;
    }
    Source *source = ARENA_NEW(reader->arena, Source, 1);
    *source = (Source){.file = reader->spec->model->name, .text = configured->objective};
    Node *node = ARENA_NEW(reader->arena, Node, 1);
    *node = (Node){.kind = NODE_SCALAR, .source = source, .line = 1, .column = 1, .width = 1, .text = source->text};
    return node;
}

// A method is for one objective or for several; methods whose points are known beforehand take both.
static void objective_check_method(SpecReader *reader, const Node *node, const char *key)
{
    const SearchMethod *method = reader->spec->method;
    const int count = reader->spec->objective.count;
    if (method == NULL) return;
    if (count > 1 && !method->several && (search_learns(method) || method->sensitivity != NULL))
        diagnose(reader->diagnostics, node, "%s holds %d objectives, and method %s takes one; nsga2 takes several", key,
                 count, method->name);
    if (count == 1 && method->several)
        diagnose(reader->diagnostics, node,
                 "%s is one objective, and method %s takes a list of two or more; cmaes takes one", key, method->name);
}

// One expression, or a list of them: added to the objectives. False: there are none or too many.
static bool objective_read_list(SpecReader *reader, const Node *node, const char *key, const Scope *scope)
{
    Spec *spec = reader->spec;
    const bool list = node->kind == NODE_SEQUENCE;
    const int count = list ? node->count : 1, before = spec->objective.count;
    if (count < 1 || count > OBJECTIVES_MAX) {
        diagnose(reader->diagnostics, node, "%s is a list of %d objectives, expected 1 to %d", key, count,
                 OBJECTIVES_MAX);
        return false;
    }
    if (before + count > OBJECTIVES_MAX) {
        diagnose(reader->diagnostics, node, "minimize and maximize hold %d objectives together, expected %d at most",
                 before + count, OBJECTIVES_MAX);
        return false;
    }
    const Expression **expression = ARENA_NEW(reader->arena, const Expression *, before + count);
    for (int k = 0; k < before; k++) expression[k] = spec->objective.expression[k];
    for (int i = 0; i < count; i++) {
        expression[before + i] = expression_read(reader, list ? node->items[i] : node, scope, key);
        spec->objective.maximize[before + i] = strcmp(key, "maximize") == 0;
    }
    spec->objective.expression = expression;
    spec->objective.count = before + count;
    return true;
}

// A number for each objective.
static void objective_read_reference(SpecReader *reader, const GivenKey *given)
{
    const Node *node = given->value;
    Spec *spec = reader->spec;
    const Key number = {.path = "reference", .type = KEY_NUMBER, .low = -INFINITY, .high = INFINITY};
    if (spec->objective.count == 0) return; // no model, or wrong
    if (node->kind != NODE_SEQUENCE) {
        form_mistyped(reader, given);
        return;
    }
    if (!spec_several(spec)) {
        diagnose(reader->diagnostics, node, "reference is for several objectives, and %s is one",
                 spec->objective.maximize[0] ? "maximize" : "minimize");
        return;
    }
    if (node->count != spec->objective.count) {
        diagnose(reader->diagnostics, node, "reference is a list of %d, expected a number for each of %d objectives",
                 node->count, spec->objective.count);
        return;
    }
    double *reference = ARENA_NEW(reader->arena, double, node->count);
    bool ok = true;
    for (int i = 0; i < node->count; i++) ok &= scalar_number(reader, &number, node->items[i], &reference[i]);
    if (ok) spec->objective.reference = reference;
}

Scope objective_scope(SpecReader *reader)
{
    const Configured *configured = &reader->spec->configured;
    const int n_metrics = configured->n_metrics, n = n_metrics + configured_named(configured);
    const char **names = ARENA_NEW(reader->arena, const char *, n);
    const char **choices = ARENA_NEW(reader->arena, const char *, n);
    for (int i = 0; i < n; i++) {
        names[i] = i < n_metrics ? configured->metrics[i].name : reader->names[i - n_metrics];
        choices[i] = i < n_metrics ? NULL : configured_choices(configured, i - n_metrics);
    }
    return (Scope){.names = names, .count = n, .choices = choices};
}

// ---- residuals ------------------------------------------------------------------------------------------------------

enum { RESIDUALS_MAX = 256 };

// A metric that stands alone counts by each of its values, if it is the root of their mean square.
static Residual objective_read_residual(SpecReader *reader, const Node *node, const Scope *scope)
{
    const Configured *configured = &reader->spec->configured;
    const Adjoint *adjoint = reader->spec->model->adjoint;
    Residual residual = {.metric = -1, .count = 1};
    Node *named = ARENA_NEW(reader->arena, Node, 1);
    *named = *node;
    if (node->kind == NODE_SCALAR && strcmp(node->text, "reference") == 0 &&
        spec_has_metric(reader->spec, "reference_error"))
        named->text = "reference_error";
    residual.expression = expression_read(reader, named, scope, "residuals");
    if (residual.expression == NULL || adjoint == NULL || adjoint->residuals == NULL) return residual;
    for (int m = 0; m < configured_own_metrics(configured); m++) {
        const int64_t count =
            strcmp(configured->metrics[m].name, named->text) == 0 ? adjoint->residuals(configured, m) : 0;
        if (count == 0) continue;
        residual.metric = m;
        residual.count = count;
    }
    for (int m = 0; residual.metric < 0 && m < configured_own_metrics(configured); m++) {
        if (!expression_uses(residual.expression, m) || adjoint->residuals(configured, m) == 0) continue;
        diagnose_warning(reader->diagnostics, node,
                         "%s is one number here, the root of the mean square of its %lld values; they count one by one "
                         "where it stands alone: scale it %s",
                         configured->metrics[m].name, (long long)adjoint->residuals(configured, m),
                         strcmp(configured->metrics[m].name, "reference_error") == 0
                             ? "by `reference_scale`, or by the `noise` of columns"
                             : "in its `value`");
    }
    return residual;
}

// Whether it depends on a run, and not on parameters alone.
static bool objective_sees(const SpecReader *reader, const Expression *expression)
{
    for (int m = 0; m < reader->spec->configured.n_metrics; m++) {
        if (expression_uses(expression, m)) return true;
    }
    return false;
}

// The root of the mean square, as an expression. One metric that is such a root is it.
static const Node *objective_of_residuals(SpecReader *reader)
{
    const Spec *spec = reader->spec;
    const Residual *residuals = spec->objective.residuals;
    const char *sum = "";
    for (int i = 0; i < spec->objective.n_residuals; i++) {
        const char *text = expression_text(residuals[i].expression, reader->arena);
        const char *times =
            residuals[i].metric >= 0 ? arena_format(reader->arena, "%lld*", (long long)residuals[i].count) : "";
        sum = arena_format(reader->arena, "%s%s%s(%s)^2", sum, i > 0 ? " + " : "", times, text);
    }
    if (spec->objective.n_residuals == 1 && residuals[0].metric >= 0)
        sum = spec->configured.metrics[residuals[0].metric].name;
    else
        sum = arena_format(reader->arena, "sqrt((%s)/%lld)", sum, (long long)spec->objective.residual_count);
    Source *source = ARENA_NEW(reader->arena, Source, 1);
    *source = (Source){.file = "residuals", .text = sum};
    Node *node = ARENA_NEW(reader->arena, Node, 1);
    *node = (Node){.kind = NODE_SCALAR, .source = source, .line = 1, .column = 1, .width = 1, .text = sum};
    return node;
}

// Rows that are compared between their instants are smoother than what was recorded, and bent.
static void objective_see_rows(SpecReader *reader, const Node *node, const Residual *residual)
{
    RecordedInput input;
    if (diagnostics_errors(reader->diagnostics) > 0 || residual->metric < 0) return;
    if (!spec_recorded_input(reader->spec, residual->metric, reader->arena, &input) || input.between == 0) return;
    diagnose_warning(reader->diagnostics, node,
                     "%lld of the %lld instants at which %s compares lie between two rows of %s, where it is drawn "
                     "from both: intervals of a fit are too short then; give the event `rows: %s`",
                     (long long)input.between, (long long)input.count,
                     reader->spec->configured.metrics[residual->metric].name, input.input, input.input);
}

static void objective_read_residuals(SpecReader *reader, const GivenKey *given, const Scope *scope)
{
    Spec *spec = reader->spec;
    const Node *node = given->value;
    const bool list = node->kind == NODE_SEQUENCE;
    const int count = list ? node->count : 1;
    if (count < 1 || count > RESIDUALS_MAX || node->kind == NODE_MAPPING) {
        form_mistyped(reader, given);
        return;
    }
    Residual *residuals = ARENA_NEW(reader->arena, Residual, count);
    bool whole = true;
    int taken = 0;
    for (int i = 0; i < count; i++) {
        const Residual residual = objective_read_residual(reader, list ? node->items[i] : node, scope);
        whole = whole && residual.expression != NULL;
        if (reader->beside && residual.expression != NULL && !objective_sees(reader, residual.expression)) continue;
        if (residual.expression != NULL) objective_see_rows(reader, list ? node->items[i] : node, &residual);
        residuals[taken++] = residual;
        spec->objective.residual_count += residual.count;
    }
    if (!whole) return;
    spec->objective.residuals = residuals;
    spec->objective.n_residuals = taken;
    if (taken == 0) {
        diagnose(reader->diagnostics, node, "no residual depends on the run of a case: name a metric, or `reference`");
        return;
    }
    if (objective_read_list(reader, objective_of_residuals(reader), "minimize", scope))
        objective_check_method(reader, node, "residuals");
}

// The minimised objectives first. Without any objective: the model's default.
static void objective_read_expressions(SpecReader *reader, const GivenKey *minimize)
{
    const GivenKey *maximize = given_find(reader, form_maximize.path);
    const GivenKey *residuals = given_find(reader, form_residuals.path);
    if (reader->names == NULL || reader->nameless) return;
    const Scope scope = objective_scope(reader);
    if (residuals != NULL && (minimize != NULL || maximize != NULL)) {
        diagnose(reader->diagnostics, residuals->key,
                 "residuals are the objective, the root of their mean square: leave out %s",
                 minimize != NULL ? "minimize" : "maximize");
        return;
    }
    if (residuals != NULL) {
        objective_read_residuals(reader, residuals, &scope);
        return;
    }
    reader->spec->objective.by_default = minimize == NULL && maximize == NULL;
    const Node *least = minimize != NULL ? minimize->value : maximize == NULL ? objective_default(reader) : NULL;
    if (least == NULL && maximize == NULL) return;
    if (least != NULL && !objective_read_list(reader, least, "minimize", &scope)) return;
    if (maximize != NULL && !objective_read_list(reader, maximize->value, "maximize", &scope)) return;
    const bool both = least != NULL && maximize != NULL;
    objective_check_method(reader, maximize != NULL ? maximize->value : least,
                           both               ? "objective"
                           : maximize != NULL ? "maximize"
                                              : "minimize");
}

// ---- writing --------------------------------------------------------------------------------------------------------

static const char *objective_over_text(const SpecReader *reader)
{
    const Spec *spec = reader->spec;
    static const char *const names[] = {[OVER_MEAN] = "mean", [OVER_MEDIAN] = "median", [OVER_WORST] = "worst"};
    if (spec->objective.over != OVER_QUANTILE) return names[spec->objective.over];
    return arena_format(reader->arena, "quantile(%s)", text_number(spec->objective.quantile).text);
}

static const char *objective_failed_text(const SpecReader *reader)
{
    const Spec *spec = reader->spec;
    if (spec->objective.failed == FAILED_ANY) return "any";
    if (spec->objective.failed == FAILED_IGNORE) return "ignore";
    return arena_format(reader->arena, "penalty(%s)", text_number(spec->objective.penalty).text);
}

// The objectives of one direction, as an expression or a list.
static void objective_resolve(ResolveWriter *writer, const char *path, bool maximize)
{
    const Spec *spec = writer->reader->spec;
    Arena *arena = writer->reader->arena;
    const char *text = NULL;
    int count = 0;
    if (spec->objective.n_residuals > 0) return;
    for (int k = 0; k < spec->objective.count; k++) {
        if (spec->objective.maximize[k] != maximize) continue;
        const char *one = resolve_quoted(spec->objective.expression[k], arena);
        text = count++ == 0 ? one : arena_format(arena, "%s, %s", text, one);
    }
    if (count > 0) resolve_line(writer, path, count > 1 ? arena_format(arena, "[%s]", text) : text, NULL);
}

static void minimize_resolve(ResolveWriter *writer, const char *path) { objective_resolve(writer, path, false); }
static void maximize_resolve(ResolveWriter *writer, const char *path) { objective_resolve(writer, path, true); }

static const char *reference_text(const SpecReader *reader)
{
    const Values list = {.list = reader->spec->objective.reference, .count = reader->spec->objective.count};
    return list.list != NULL ? values_text(&list, reader->arena) : NULL;
}

// ---- identity -------------------------------------------------------------------------------------------------------

// Of one direction; the second is "objective.minimize.2".
static void objective_identify(const SpecReader *reader, CanonicalLines *lines, const char *path, bool maximize)
{
    const Spec *spec = reader->spec;
    if (spec->objective.n_residuals > 0) return;
    for (int k = 0, count = 0; k < spec->objective.count; k++) {
        if (spec->objective.maximize[k] != maximize) continue;
        const char *text = expression_text(spec->objective.expression[k], lines->arena);
        count++;
        canonical_add(lines, count == 1 ? path : arena_format(lines->arena, "%s.%d", path, count), text);
    }
}

static void minimize_identify(const SpecReader *reader, CanonicalLines *lines)
{
    objective_identify(reader, lines, form_minimize.path, false);
}

static void maximize_identify(const SpecReader *reader, CanonicalLines *lines)
{
    objective_identify(reader, lines, form_maximize.path, true);
}

// ---- the rows -------------------------------------------------------------------------------------------------------

#define OBJECTIVE_SCHEMA "{anyOf: [$expression, {type: array, minItems: 1, maxItems: MOST, items: $expression}]}"

const Form form_minimize = {
    .path = "objective.minimize",
    .after = "objective",
    .words = "an expression over metrics and parameters, or a list of up to 8 of them",
    .doc = "the fitness, evaluated for each replicate; the model has a default. A list: several objectives, and no "
           "fitness; `hopscotch best` shows the trials that no other one beats in all of them",
    .example = "\"velocity_error + 0.1*cost_of_transport + attitude_rms\"",
    .stage = FORM_OBJECTIVE,
    .always = true,
    .read = objective_read_expressions, // those of maximize too
    .resolve = minimize_resolve,
    .identify = minimize_identify,
    .schema = OBJECTIVE_SCHEMA,
    .most = OBJECTIVES_MAX,
};

const Form form_maximize = {
    .path = "objective.maximize",
    .after = "objective.minimize",
    .words = "an expression over metrics and parameters, or a list of up to 8 of them",
    .doc = "the same, but more is better: the fitness is stored and shown as it is, and the greatest ranks first (in "
           "SQL: ORDER BY fitness DESC). Beside `minimize`: several objectives, the minimised ones first. Then `worst` "
           "is the least of the replicates, and quantile(0.1) is pessimistic",
    .example = "\"mean_speed - 0.1*cost_of_transport\"",
    .stage = FORM_BY_SECTION,
    .resolve = maximize_resolve,
    .identify = maximize_identify,
    .schema = OBJECTIVE_SCHEMA,
    .most = OBJECTIVES_MAX,
};

static bool residuals_entry(const SpecReader *reader, int index, FormEntry *out)
{
    if (index >= reader->spec->objective.n_residuals) return false;
    out->expression = reader->spec->objective.residuals[index].expression;
    return true;
}

const Form form_residuals = {
    .path = "objective.residuals",
    .after = "objective.maximize",
    .words = "reference, or an expression over metrics and parameters, or a list of up to 256 of them",
    .doc =
        "in place of minimize: numbers that are to be 0 together. The fitness is the root of their mean square, with "
        "`cases` that of all cases; those of parameters alone count once. "
        "reference: all differences from a recorded motion (articulated); so a metric with `take: rms` at instants of "
        "a system of equations counts by each of its values. What is known beforehand is one too: (mass - 18)/2 is 18 "
        "with the standard deviation 2, if residuals are in standard deviations",
    .example = "[velocity_error, \"(k_fp - 100)/20\"]",
    .stage = FORM_BY_SECTION,
    .flags = KEY_IDENTITY,
    .entry = residuals_entry,
    .canonical = "objective.residuals.",
    .digits = 3,
    .schema = "{anyOf: [$expression, {type: array, minItems: 1, maxItems: MOST, items: $expression}]}",
    .most = RESIDUALS_MAX,
};

const Form form_objective_over = {
    .path = "objective.over",
    .after = "objective.information",
    .words = "mean, median, worst or quantile(q) with q in [0, 1]",
    .doc = "how the objective values of the replicates are combined: mean, median, worst or a quantile",
    .example = "quantile(0.9)",
    .stage = FORM_OBJECTIVE,
    .read = objective_read_over,
    .flags = KEY_IDENTITY,
    .text = objective_over_text,
    .schema = "{type: string, pattern: '^(mean|median|worst|quantile\\([0-9.eE+-]+\\))$'}",
};

const Form form_failed = {
    .path = "objective.failed",
    .after = "objective.over",
    .words = "any, ignore or penalty(x) with a number x",
    .doc = "any: one failed replicate fails the trial; penalty(x): it counts as x; ignore: it is left out. A replicate "
           "with an objective or a constraint that is not finite fails too: non_finite",
    .example = "penalty(10)",
    .stage = FORM_OBJECTIVE,
    .read = objective_read_failed,
    .flags = KEY_IDENTITY,
    .text = objective_failed_text,
    .schema = "{type: string, pattern: '^(any|ignore|penalty\\([0-9.eE+-]+\\))$'}",
};

const Form form_reference = {
    .path = "objective.reference",
    .after = "objective.failed",
    .words = "a list of numbers, one for each objective",
    .doc = "for several objectives: the point from which the hypervolume of a front is measured, worse than every "
           "value of interest; default: the worst values of the first generation",
    .example = "[2.0, 1.5]",
    .stage = FORM_OBJECTIVE,
    .read = objective_read_reference,
    .flags = KEY_IDENTITY,
    .text = reference_text,
    .schema = "{type: array, minItems: 2, maxItems: MOST, items: {type: number}}",
    .most = OBJECTIVES_MAX,
};
