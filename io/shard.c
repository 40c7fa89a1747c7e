// What writing and reading shards share; shard_hdf5.h has their contracts.
#include "shard_hdf5.h"

#include <string.h>

// ---- calls and their errors -----------------------------------------------------------------------------------------

typedef struct ShardWords {
    char text[160];
} ShardWords;

// The innermost entry of HDF5's error stack holds the cause.
static herr_t shard_take_words(unsigned depth, const H5E_error2_t *entry, void *words)
{
    if (depth == 0) snprintf(((ShardWords *)words)->text, sizeof(ShardWords), "%s", entry->desc);
    return 0;
}

void shard_check(Error *error, bool ok, const char *what)
{
    if (ok || error->kind != OK) return;
    ShardWords words = {"no reason given"};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, shard_take_words, &words);
    *error = error_make(ERROR_MACHINE, "HDF5 failed on %s: %s", what, words.text);
}

hid_t shard_id(Error *error, hid_t id, const char *what)
{
    shard_check(error, id >= 0, what);
    return id;
}

void shard_ok(Error *error, herr_t status, const char *what) { shard_check(error, status >= 0, what); }

// HDF5's messages go into our errors, not to the terminal. It loads no plugins, whose folder an environment variable
// names (HDF5_PLUGIN_PATH) and which a file can ask for: a shard's filters are in HDF5 itself. Its exit handler is not
// installed, because it crashed on full disks. Only the first call in the process has an effect, and it comes before
// every other call of HDF5. HDF5 1.10.8 crashes if it gets no memory, so the memory is tested beforehand.
Error shard_ready(size_t bytes)
{
    Arena room;
    TRY(arena_create(&room, 2 * bytes + SHARD_GROWTH + SHARD_LIBRARY_BYTES, "HDF5"));
    arena_destroy(&room);
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0);
    return error_none();
}

// ---- columns in datasets, lanes in rows -----------------------------------------------------------------------------

ShardGroups shard_groups(const char *const *groups_of_columns, int n_columns, Arena *arena)
{
    ShardGroups groups = {.items = ARENA_NEW(arena, ShardGroup, n_columns)};
    int *group = ARENA_NEW(arena, int, n_columns), *columns = ARENA_NEW(arena, int, n_columns);
    for (int c = 0; c < n_columns; c++) {
        int g = c > 0 && strcmp(groups_of_columns[c], groups_of_columns[c - 1]) == 0 ? group[c - 1] : 0;
        while (g < groups.count && strcmp(groups.items[g].name, groups_of_columns[c]) != 0) g++;
        if (g == groups.count) groups.items[groups.count++] = (ShardGroup){.name = groups_of_columns[c]};
        groups.items[g].count++;
        group[c] = g;
    }
    for (int g = 0; g < groups.count; g++) {
        groups.items[g].columns = columns;
        columns += groups.items[g].count;
        groups.items[g].count = 0;
    }
    for (int c = 0; c < n_columns; c++) groups.items[group[c]].columns[groups.items[group[c]].count++] = c;
    return groups;
}

int shard_integer_bytes(const ShardGroup *group)
{
    static const char *const names[] = {"number", "event", "from", "to"}; // of events
    if (strcmp(group->name, "fsm") == 0) return 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(group->name, names[i]) == 0) return 4;
    return 0;
}

hid_t shard_row_type(Error *error)
{
    const hid_t type = shard_id(error, H5Tcreate(H5T_COMPOUND, sizeof(ShardRow)), "the lane table");
    shard_ok(error, H5Tinsert(type, "trial", HOFFSET(ShardRow, trial), H5T_NATIVE_INT64), "the lane table");
    shard_ok(error, H5Tinsert(type, "replicate", HOFFSET(ShardRow, replicate), H5T_NATIVE_INT32), "the lane table");
    shard_ok(error, H5Tinsert(type, "offset", HOFFSET(ShardRow, offset), H5T_NATIVE_INT64), "the lane table");
    shard_ok(error, H5Tinsert(type, "length", HOFFSET(ShardRow, length), H5T_NATIVE_INT64), "the lane table");
    return type;
}

hid_t shard_row_file_type(Error *error)
{
    const hid_t type = shard_id(error, H5Tcreate(H5T_COMPOUND, 28), "the lane table");
    shard_ok(error, H5Tinsert(type, "trial", 0, H5T_STD_I64LE), "the lane table");
    shard_ok(error, H5Tinsert(type, "replicate", 8, H5T_STD_I32LE), "the lane table");
    shard_ok(error, H5Tinsert(type, "offset", 12, H5T_STD_I64LE), "the lane table");
    shard_ok(error, H5Tinsert(type, "length", 20, H5T_STD_I64LE), "the lane table");
    return type;
}
