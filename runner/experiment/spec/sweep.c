// `sweep: {simulation.dt: [1.0e-3, 1.0e-4]}`: settings as axes. A spec with it declares a campaign for each combination
// of the values, which is the spec with these values in place of its own, as --set would put them there.
#include "forms.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define SWEEP_KEY "sweep"
#define SWEEP_NONE "none"

// Keys and their values, in the order of the spec; the last key varies fastest.
typedef struct SweepKeys {
    const char **path;  // [count]
    const Node **name;  // where the spec names it
    const Node **value; // sequences
    int count;
    Arena *arena;
    Diagnostics *diagnostics;
} SweepKeys;

// ---- reading --------------------------------------------------------------------------------------------------------

static void sweep_check_values(const SweepKeys *keys, const char *path, const Node *values)
{
    if (values->count == 0) diagnose(keys->diagnostics, values, "%s has no value", path);
    for (int i = 0; i < values->count; i++) {
        const Node *value = values->items[i];
        if (value->kind != NODE_SCALAR || scalar_is_empty(value))
            diagnose(keys->diagnostics, value, "a value of %s is %s, expected a number or a word", path,
                     scalar_given(value, keys->arena));
    }
}

// The index of a key that is there already; else the number of keys.
static int sweep_index(const SweepKeys *keys, const char *path)
{
    int index = 0;
    while (index < keys->count && strcmp(path, keys->path[index]) != 0) index++;
    return index;
}

// --set 'sweep.simulation.dt=[...]' replaces what the spec has under `simulation.dt`.
static void sweep_add(SweepKeys *keys, const char *path, const Node *name, const Node *values)
{
    static const char *const fixed[] = {"version", "experiment", "include", "set", SWEEP_KEY};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        if (strcmp(path, fixed[i]) == 0) diagnose(keys->diagnostics, name, "%s can't be swept", path);
    }
    const int index = sweep_index(keys, path);
    if (index < keys->count && name->source == keys->name[index]->source)
        diagnose(keys->diagnostics, name, "%s is swept already", path);
    if (index == SWEEP_KEYS_MAX) {
        diagnose(keys->diagnostics, name, "at most %d keys can be swept", SWEEP_KEYS_MAX);
        return;
    }
    sweep_check_values(keys, path, values);
    keys->path[index] = path;
    keys->name[index] = name;
    keys->value[index] = values;
    keys->count += index == keys->count;
}

// Keys may be written whole, or in mappings.
static void sweep_walk(SweepKeys *keys, const char *section, const Node *mapping)
{
    for (int i = 0; i < mapping->count; i++) {
        const Node *name = mapping->keys[i], *value = mapping->items[i];
        const char *path = section[0] != '\0' ? arena_format(keys->arena, "%s.%s", section, name->text) : name->text;
        if (value->kind == NODE_MAPPING)
            sweep_walk(keys, path, value);
        else if (value->kind == NODE_SEQUENCE)
            sweep_add(keys, path, name, value);
        else
            diagnose(keys->diagnostics, value, "%s is %s, expected a list of the values that it has in turn", path,
                     scalar_given(value, keys->arena));
    }
}

// ---- the campaigns --------------------------------------------------------------------------------------------------

// The last word of the path; the whole path where another key ends with that word.
static const char *sweep_word(const SweepKeys *keys, int key)
{
    const char *dot = strrchr(keys->path[key], '.'), *word = dot != NULL ? dot + 1 : keys->path[key];
    for (int i = 0; i < keys->count; i++) {
        const char *other = strrchr(keys->path[i], '.');
        if (i != key && strcmp(other != NULL ? other + 1 : keys->path[i], word) == 0) return keys->path[key];
    }
    return word;
}

// "dt_0.001.integrator_rk4"; what can't stand in a campaign's name becomes '_'.
static const char *sweep_name(const SweepKeys *keys, const int *index)
{
    const char *joined = "";
    for (int k = 0; k < keys->count; k++)
        joined = arena_format(keys->arena, "%s%s%s_%s", joined, k > 0 ? "." : "", sweep_word(keys, k),
                              keys->value[k]->items[index[k]]->text);
    char *name = arena_copy(keys->arena, joined);
    for (char *c = name; *c != '\0'; c++) {
        if (!isalnum((unsigned char)*c) && strchr("._-", *c) == NULL) *c = '_';
    }
    return name;
}

static SweepCampaign sweep_campaign(const SweepKeys *keys, const int *index)
{
    SweepCampaign campaign = {.name = sweep_name(keys, index)};
    campaign.overrides.items = ARENA_NEW(keys->arena, const char *, keys->count + 1);
    for (int k = 0; k < keys->count; k++) {
        const Node *value = keys->value[k]->items[index[k]];
        const char *text = value->quoted ? scalar_quoted(value->text, keys->arena) : value->text;
        campaign.overrides.items[campaign.overrides.count++] = arena_format(keys->arena, "%s=%s", keys->path[k], text);
    }
    campaign.overrides.items[campaign.overrides.count++] = SWEEP_KEY "=" SWEEP_NONE;
    return campaign;
}

static void sweep_expand(const SweepKeys *keys, const Node *at, Sweep *sweep)
{
    int64_t count = 1;
    int *index = ARENA_NEW(keys->arena, int, keys->count + 1);
    for (int k = 0; k < keys->count && count <= SWEEP_MAX; k++) count *= keys->value[k]->count;
    if (count > SWEEP_MAX) {
        diagnose(keys->diagnostics, at, "a sweep has at most %d campaigns", SWEEP_MAX);
        return;
    }
    SweepCampaign *campaigns = ARENA_NEW(keys->arena, SweepCampaign, count);
    for (int64_t n = 0; n < count; n++) {
        campaigns[n] = sweep_campaign(keys, index);
        for (int64_t i = 0; i < n; i++) {
            if (strcasecmp(campaigns[i].name, campaigns[n].name) == 0) // folders of some disks ignore case
                diagnose(keys->diagnostics, at, "two campaigns of the sweep would be called '%s'", campaigns[n].name);
        }
        for (int k = keys->count - 1; k >= 0 && ++index[k] == keys->value[k]->count; k--) index[k] = 0;
    }
    sweep->campaigns = campaigns;
    sweep->count = (int)count;
}

static bool sweep_is_none(const Node *value)
{
    return (value->kind == NODE_SCALAR && (scalar_is_empty(value) || strcmp(value->text, SWEEP_NONE) == 0)) ||
           (value->kind == NODE_MAPPING && value->count == 0);
}

bool sweep_read(const Node *root, Arena *arena, Diagnostics *diagnostics, Sweep *sweep)
{
    const Node *given = root->kind == NODE_MAPPING ? node_find(root, SWEEP_KEY) : NULL;
    const Node *experiment = root->kind == NODE_MAPPING ? node_find(root, "experiment") : NULL;
    SweepKeys keys = {.path = ARENA_NEW(arena, const char *, SWEEP_KEYS_MAX),
                      .name = ARENA_NEW(arena, const Node *, SWEEP_KEYS_MAX),
                      .value = ARENA_NEW(arena, const Node *, SWEEP_KEYS_MAX),
                      .arena = arena,
                      .diagnostics = diagnostics};
    *sweep = (Sweep){.count = 0};
    if (given == NULL || given->kind != NODE_MAPPING || sweep_is_none(given)) return true; // or the row reports it
    sweep->experiment = experiment != NULL && experiment->kind == NODE_SCALAR ? experiment->text : NULL;
    const int errors = diagnostics_errors(diagnostics);
    sweep_walk(&keys, "", given);
    if (diagnostics_errors(diagnostics) == errors) sweep_expand(&keys, given, sweep);
    return diagnostics_errors(diagnostics) == errors;
}

// ---- the row --------------------------------------------------------------------------------------------------------

// `run`, `check` and `plan` read the campaigns of a sweep one by one.
static void sweep_read_form(SpecReader *reader, const GivenKey *given)
{
    if (sweep_is_none(given->value)) return;
    if (given->value->kind == NODE_MAPPING)
        diagnose(reader->diagnostics, given->key,
                 "a sweep declares several campaigns, and this command takes one: add --set sweep=none, and --set for "
                 "the keys that it sweeps");
    else
        form_mistyped(reader, given);
}

const Form form_sweep = {
    .path = SWEEP_KEY,
    .after = "set",
    .words = "a mapping of keys to lists of values, or none",
    .doc = "settings as axes: run, check and plan take a campaign for each combination of the values of these keys, "
           "which are written whole; its name is that of the experiment with the values behind it",
    .example = "{simulation.dt: [1.0e-3, 5.0e-4], simulation.integrator: [rk4, dormand_prince]}",
    .stage = FORM_FIRST,
    .read = sweep_read_form,
    .schema = "{type: [object, string]}",
    .most = SWEEP_MAX,
    .most_of = "campaigns",
};
