// `cmaes.from`: another campaign to start from; `cmaes.taken`: the distribution that the program took from it. adam and
// lbfgs take a point alone, the mean.
#include "../forms.h"

#include <string.h>

enum { TAKEN_HASH_LENGTH = 64 };

// ---- reading --------------------------------------------------------------------------------------------------------

static void from_read(SpecReader *reader, const GivenKey *given)
{
    const Key key = {.path = given->path, .type = KEY_NAME, .store = STORE_TEXT, .at = &reader->spec->warm.from};
    scalar_read(reader, &key, given->value);
    reader->spec->warm.at = given->value;
}

// A list of `count` numbers; NULL after an error.
static const double *taken_read_numbers(SpecReader *reader, const Node *taken, const char *name, int64_t count,
                                        int64_t or_count)
{
    const Key key = {.path = name, .type = KEY_NUMBER, .low = -1e300, .high = 1e300};
    const Node *node = node_find(taken, name);
    const bool fits = node != NULL && node->kind == NODE_SEQUENCE && (node->count == count || node->count == or_count);
    if (!fits) {
        diagnose(reader->diagnostics, node != NULL ? node : taken, "%s of taken is not a list of %lld numbers", name,
                 (long long)count);
        return NULL;
    }
    double *values = ARENA_NEW(reader->arena, double, node->count);
    for (int i = 0; i < node->count; i++) {
        if (!scalar_number(reader, &key, node->items[i], &values[i])) return NULL;
    }
    return values;
}

static void taken_check_variances(SpecReader *reader, const Node *taken)
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

static void taken_read(SpecReader *reader, const GivenKey *given)
{
    const Node *taken = given->value;
    Spec *spec = reader->spec;
    const int64_t n = spec->n_axes;
    const Key sigma_key = {.path = "sigma", .type = KEY_NUMBER, .low = 0.0, .high = 10.0};
    const Node *hash = taken->kind == NODE_MAPPING ? node_find(taken, "hash") : NULL;
    const Node *sigma = taken->kind == NODE_MAPPING ? node_find(taken, "sigma") : NULL;
    const bool whole = hash != NULL && sigma != NULL && taken->count == 4 && hash->kind == NODE_SCALAR &&
                       strlen(hash->text) == TAKEN_HASH_LENGTH && spec->warm.from != NULL;
    if (!whole || strspn(hash->text, "0123456789abcdef") != TAKEN_HASH_LENGTH) {
        diagnose(reader->diagnostics, taken,
                 "the program writes `taken` for the campaign that `from` names; remove it, or leave it unchanged");
        return;
    }
    spec->warm.hash = hash->text;
    spec->warm.mean = taken_read_numbers(reader, taken, "mean", n, n);
    spec->warm.covariance = taken_read_numbers(reader, taken, "covariance", n, n * (n + 1) / 2);
    spec->warm.full = spec->warm.covariance != NULL && node_find(taken, "covariance")->count != n;
    (void)scalar_number(reader, &sigma_key, sigma, &spec->warm.sigma);
    taken_check_variances(reader, taken);
}

// ---- writing: the identity holds the campaign's name and what was taken ---------------------------------------------

static const char *taken_list(const double *values, int64_t count, Arena *arena)
{
    return values_text(&(Values){.list = values, .count = count}, arena);
}

const char *cmaes_taken_text(const Spec *spec, Arena *arena)
{
    const int64_t n = spec->n_axes;
    return arena_format(arena, "{hash: \"%s\", sigma: %s, mean: %s, covariance: %s}", spec->warm.hash,
                        text_number(spec->warm.sigma).text, taken_list(spec->warm.mean, n, arena),
                        taken_list(spec->warm.covariance, spec->warm.full ? n * (n + 1) / 2 : n, arena));
}

static void from_resolve(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    if (spec->warm.from != NULL)
        resolve_line(writer, path, resolve_plain(spec->warm.from, writer->reader->arena), NULL);
}

static const char *from_text(const SpecReader *reader) { return reader->spec->warm.from; }

static const char *taken_text(const SpecReader *reader)
{
    return reader->spec->warm.mean != NULL ? cmaes_taken_text(reader->spec, reader->arena) : NULL;
}

// clang-format off
#define FROM_FORM(method_, behind, what) \
    .path = "search." method_ ".from", \
    .after = behind, \
    .method = method_, \
    .words = "the name of a campaign", \
    .doc = "method " method_ ": a campaign in the same results folder to start from: " what, \
    .example = "raibert_gains", \
    .stage = FORM_SEARCH, \
    .read = from_read, \
    .flags = KEY_IDENTITY, \
    .text = from_text, \
    .resolve = from_resolve, \
    .schema = "{type: string, pattern: '" SCHEMA_NAME_PATTERN "'}"

#define TAKEN_FORM(method_, behind) \
    .path = "search." method_ ".taken", \
    .after = "search." method_ "." behind, \
    .method = method_, \
    .words = "what the program notes there", \
    .doc = "method " method_ ": what was taken from the campaign of `from`, as `run` notes it in resolved.yaml", \
    .example = "{hash: \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\", sigma: 0, mean: [5, 5], " \
               "covariance: [1, 0, 1]}", \
    .stage = FORM_SEARCH, \
    .read = taken_read, \
    .flags = KEY_IDENTITY, \
    .text = taken_text, \
    .schema = "{type: object}"

#define FROM_BEST "the first search without a point of `starts` begins at its best trial"
// clang-format on

const Form form_from = {FROM_FORM(
    "cmaes", "search.cmaes.outer",
    "its mean and covariance, if it is a cmaes campaign over the same ranges; else mean and spread of its ten "
    "best trials")};
const Form form_taken = {TAKEN_FORM("cmaes", "inject")};
const Form form_adam_from = {FROM_FORM("adam", "search.cmaes.taken", FROM_BEST)};
const Form form_adam_taken = {TAKEN_FORM("adam", "starts")};
const Form form_lbfgs_from = {FROM_FORM("lbfgs", "search.adam.taken", FROM_BEST)};
const Form form_lbfgs_taken = {TAKEN_FORM("lbfgs", "starts")};
const Form form_least_squares_from = {FROM_FORM("least_squares", "search.lbfgs.taken", FROM_BEST)};
const Form form_least_squares_taken = {TAKEN_FORM("least_squares", "starts")};
