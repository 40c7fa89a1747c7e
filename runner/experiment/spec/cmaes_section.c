// Keys of `search.cmaes:` that have forms of their own: points that are injected into the first generation, and another
// campaign to start from, with what was taken from it.
#include "keys.h"

#include <math.h>
#include <string.h>

enum { CMAES_INJECT_MAX = 4096, CMAES_HASH_LENGTH = 64 };

static const char *const cmaes_paths[] = {"search.cmaes.from", "search.cmaes.inject", "search.cmaes.taken"};

// ---- inject ---------------------------------------------------------------------------------------------------------

static int cmaes_axis_of(const Spec *spec, int parameter)
{
    for (int a = 0; a < spec->n_axes; a++) {
        if (spec->axes[a].parameter == parameter) return a;
    }
    return -1;
}

static void cmaes_read_coordinate(SpecReader *reader, const Node *point, int index, double *values, bool *given)
{
    const Node *name = point->keys[index], *node = point->items[index];
    const int parameter = parameter_find(reader, name, point, "search.cmaes.inject");
    if (parameter < 0) return;
    const int axis = cmaes_axis_of(reader->spec, parameter);
    if (axis < 0 && strcmp(reader->names[parameter], name->text) != 0) return; // misspelt: reported
    if (axis < 0) {
        diagnose(reader->diagnostics, name, "%s is not in search.over: its value is the same in all trials",
                 name->text);
        return;
    }
    const Values *range = &reader->spec->axes[axis].values;
    given[axis] = true;
    if (!scalar_number(reader, reader->parameter_keys[parameter], node, &values[axis])) return;
    if (values[axis] < range->low || values[axis] > range->high)
        diagnose(reader->diagnostics, node, "%s is %s, and is searched in [%s, %s]", name->text, node->text,
                 text_number(range->low).text, text_number(range->high).text);
    else if (range->integer && values[axis] != floor(values[axis]))
        diagnose(reader->diagnostics, node, "%s is %s, and only integers are searched", name->text, node->text);
}

static void cmaes_read_point(SpecReader *reader, const Node *point, double *values)
{
    const Spec *spec = reader->spec;
    bool *given = ARENA_NEW(reader->arena, bool, spec->n_axes + 1);
    if (point->kind != NODE_MAPPING) {
        diagnose(reader->diagnostics, point, "point is %s, expected a mapping of the searched parameters to numbers",
                 scalar_given(point, reader->arena));
        return;
    }
    for (int i = 0; i < point->count; i++) cmaes_read_coordinate(reader, point, i, values, given);
    for (int a = 0; a < spec->n_axes; a++) {
        if (!given[a])
            diagnose(reader->diagnostics, point, "%s is missing, a point names all searched parameters",
                     reader->names[spec->axes[a].parameter]);
    }
}

static void cmaes_read_inject(SpecReader *reader, const Node *node)
{
    Spec *spec = reader->spec;
    if (node->kind != NODE_SEQUENCE || node->count > CMAES_INJECT_MAX) {
        diagnose(reader->diagnostics, node, "inject is %s, expected a list of up to %d mappings such as {k: 1, d: 2}",
                 node->kind == NODE_SEQUENCE ? arena_format(reader->arena, "a list of %d", node->count)
                                             : scalar_given(node, reader->arena),
                 CMAES_INJECT_MAX);
        return;
    }
    double *values = ARENA_NEW(reader->arena, double, (int64_t)node->count * spec->n_axes + 1);
    for (int i = 0; i < node->count; i++) cmaes_read_point(reader, node->items[i], values + (int64_t)i * spec->n_axes);
    spec->inject = values;
    spec->n_inject = node->count;
}

// ---- from, and what was taken ---------------------------------------------------------------------------------------

static void cmaes_read_from(SpecReader *reader, const Node *node)
{
    const Key key = {.path = cmaes_paths[0], .type = KEY_NAME, .store = STORE_TEXT, .at = &reader->spec->warm.from};
    scalar_read(reader, &key, node);
    reader->spec->warm.at = node;
}

// A list of `count` numbers; NULL after an error.
static const double *cmaes_read_numbers(SpecReader *reader, const Node *taken, const char *name, int64_t count,
                                        int64_t or_count)
{
    const Key key = {.path = name, .type = KEY_NUMBER, .low = -1e300, .high = 1e300};
    const Node *node = node_find(taken, name);
    const bool fits = node != NULL && node->kind == NODE_SEQUENCE && (node->count == count || node->count == or_count);
    if (!fits) {
        diagnose(reader->diagnostics, node != NULL ? node : taken, "%s of taken is no list of %lld numbers", name,
                 (long long)count);
        return NULL;
    }
    double *values = ARENA_NEW(reader->arena, double, node->count);
    for (int i = 0; i < node->count; i++) {
        if (!scalar_number(reader, &key, node->items[i], &values[i])) return NULL;
    }
    return values;
}

static void cmaes_check_variances(SpecReader *reader, const Node *taken)
{
    const Spec *spec = reader->spec;
    for (int i = 0; i < spec->n_axes && spec->warm.covariance != NULL; i++) {
        const int at = spec->warm.full ? i * (i + 3) / 2 : i;
        if (spec->warm.covariance[at] > 0.0) continue;
        diagnose(reader->diagnostics, node_find(taken, "covariance"),
                 "covariance of taken has a variance that is not "
                 "> 0");
        return;
    }
}

static void cmaes_read_taken(SpecReader *reader, const Node *taken)
{
    Spec *spec = reader->spec;
    const int64_t n = spec->n_axes;
    const Key sigma_key = {.path = "sigma", .type = KEY_NUMBER, .low = 0.0, .high = 10.0};
    const Node *hash = taken->kind == NODE_MAPPING ? node_find(taken, "hash") : NULL;
    const Node *sigma = taken->kind == NODE_MAPPING ? node_find(taken, "sigma") : NULL;
    const bool whole = hash != NULL && sigma != NULL && taken->count == 4 && hash->kind == NODE_SCALAR &&
                       strlen(hash->text) == CMAES_HASH_LENGTH && spec->warm.from != NULL;
    if (!whole || strspn(hash->text, "0123456789abcdef") != CMAES_HASH_LENGTH) {
        diagnose(reader->diagnostics, taken,
                 "taken is what the program notes of the campaign that `from` names; remove it, or leave it as it was");
        return;
    }
    spec->warm.hash = hash->text;
    spec->warm.mean = cmaes_read_numbers(reader, taken, "mean", n, n);
    spec->warm.covariance = cmaes_read_numbers(reader, taken, "covariance", n, n * (n + 1) / 2);
    spec->warm.full = spec->warm.covariance != NULL && node_find(taken, "covariance")->count != n;
    (void)scalar_number(reader, &sigma_key, sigma, &spec->warm.sigma);
    cmaes_check_variances(reader, taken);
}

void cmaes_section_read(SpecReader *reader)
{
    static void (*const read[])(SpecReader * reader, const Node *node) = {cmaes_read_from, cmaes_read_inject,
                                                                          cmaes_read_taken};
    for (size_t i = 0; i < sizeof cmaes_paths / sizeof *cmaes_paths; i++) {
        const GivenKey *given = given_find(reader, cmaes_paths[i]);
        if (given == NULL || reader->spec->method == NULL) continue;
        if (strcmp(reader->spec->method->name, "cmaes") == 0)
            read[i](reader, given->value);
        else
            diagnose(reader->diagnostics, given->key, "%s belongs to method cmaes, and this is method %s",
                     strrchr(cmaes_paths[i], '.') + 1, reader->spec->method->name);
    }
}

// ---- as texts -------------------------------------------------------------------------------------------------------

static const char *cmaes_list(const double *values, int64_t count, Arena *arena)
{
    return values_text(&(Values){.form = VALUES_LIST, .list = values, .count = count}, arena);
}

const char *cmaes_inject_text(const Spec *spec, const char *const *names, int index, Arena *arena)
{
    const char *text = "{";
    for (int a = 0; a < spec->n_axes; a++)
        text = arena_format(arena, "%s%s%s: %s", text, a > 0 ? ", " : "", names[spec->axes[a].parameter],
                            text_number(spec->inject[(int64_t)index * spec->n_axes + a]).text);
    return arena_format(arena, "%s}", text);
}

const char *cmaes_taken_text(const Spec *spec, Arena *arena)
{
    const int64_t n = spec->n_axes;
    return arena_format(arena, "{hash: \"%s\", sigma: %s, mean: %s, covariance: %s}", spec->warm.hash,
                        text_number(spec->warm.sigma).text, cmaes_list(spec->warm.mean, n, arena),
                        cmaes_list(spec->warm.covariance, spec->warm.full ? n * (n + 1) / 2 : n, arena));
}
