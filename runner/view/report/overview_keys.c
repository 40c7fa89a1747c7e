// What differs between the specs of campaigns of one model: a column per key.
#include "overview.h"

#include <stdlib.h>
#include <string.h>

enum {
    OVERVIEW_KEYS_MOST = 1000,      // keys of a model that are looked at
    OVERVIEW_SPEC_BYTES = 256 << 10 // a longer spec is not compared
};

typedef struct OverviewSpec {
    const char *model, *canonical;
    int campaign; // index in the overview
} OverviewSpec;

// The table has these columns already.
static bool overview_has_column(const char *key)
{
    return strcmp(key, "search.method") == 0 || strncmp(key, "objective.m", 11) == 0 || strcmp(key, "model") == 0;
}

static int overview_by_model(const void *a, const void *b)
{
    const OverviewSpec *left = a, *right = b;
    const int order = strcmp(left->model, right->model);
    return order != 0 ? order : left->campaign - right->campaign;
}

static int overview_by_campaigns(const void *a, const void *b)
{
    const OverviewKey *left = a, *right = b;
    return left->campaigns != right->campaigns ? right->campaigns - left->campaigns : strcmp(left->key, right->key);
}

static Error overview_read_specs(const Overview *overview, OverviewSpec *specs, int *count)
{
    for (int i = 0; i < overview->count; i++) {
        const StatusEntry *entry = overview->entries[i];
        const size_t used = overview->arena->used;
        const char *canonical = NULL;
        if (entry->error != NULL) continue;
        const Error error = campaign_canonical(&entry->location, overview->arena, &canonical);
        if (error.kind == ERROR_MEMORY) return error;
        if (error.kind == OK && canonical != NULL && strlen(canonical) <= OVERVIEW_SPEC_BYTES)
            specs[(*count)++] = (OverviewSpec){entry->report.model, canonical, i};
        else
            arena_rewind(overview->arena, used);
    }
    return error_none();
}

static OverviewKey *overview_key(Overview *overview, int room, const char *key)
{
    for (int k = 0; k < overview->n_keys; k++) {
        if (strcmp(overview->keys[k].key, key) == 0) return &overview->keys[k];
    }
    if (overview->n_keys == room) return NULL;
    OverviewKey *added = &overview->keys[overview->n_keys++];
    *added = (OverviewKey){.key = key, .value = ARENA_NEW(overview->arena, const char *, overview->count)};
    return added;
}

// Adds what differs among specs[count], which have one model.
static void overview_add_keys(Overview *overview, const OverviewSpec *specs, int count, int room)
{
    SpecVariety *varieties;
    const char **canonical = ARENA_NEW(overview->arena, const char *, count);
    for (int i = 0; i < count; i++) canonical[i] = specs[i].canonical;
    const int64_t found = difference_among(canonical, count, OVERVIEW_KEYS_MOST, overview->arena, &varieties);
    for (int64_t v = 0; v < found && v < OVERVIEW_KEYS_MOST; v++) {
        if (overview_has_column(varieties[v].key)) continue;
        OverviewKey *key = overview_key(overview, room, varieties[v].key);
        if (key == NULL) continue;
        for (int i = 0; i < count; i++) {
            key->value[specs[i].campaign] = varieties[v].value[i];
            key->campaigns += varieties[v].value[i] != NULL;
        }
    }
}

Error overview_find_keys(Overview *overview)
{
    int count = 0;
    OverviewSpec *specs = ARENA_NEW(overview->arena, OverviewSpec, overview->count + 1);
    TRY(overview_read_specs(overview, specs, &count));
    qsort(specs, (size_t)count, sizeof *specs, overview_by_model);
    overview->keys = ARENA_NEW(overview->arena, OverviewKey, OVERVIEW_KEYS_MOST);
    for (int first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && strcmp(specs[end].model, specs[first].model) == 0;) end++;
        overview_add_keys(overview, specs + first, end - first, OVERVIEW_KEYS_MOST);
    }
    qsort(overview->keys, (size_t)overview->n_keys, sizeof *overview->keys, overview_by_campaigns);
    overview->all_keys = overview->n_keys;
    if (overview->n_keys > OVERVIEW_KEYS) overview->n_keys = OVERVIEW_KEYS;
    return error_none();
}
