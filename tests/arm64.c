// What tests/arm64.sh runs on both processors, against the libraries of the build:
//
//   arm64 environment SPEC           steps five environments, and prints a hash of the bits of what each step gives
//   arm64 database LIBRARY FILE SQL  loads the extension of SQLite, and prints the rows of a statement
#include "../runner/hopscotch.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

enum { LANES = 5, STEPS = 40 };

// FNV-1a (Fowler, Noll and Vo) of 64 bits
static uint64_t hash(uint64_t h, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
    return h;
}

// All doubles of an array of the environment, lane by lane.
static uint64_t hash_array(uint64_t h, hopscotch_env *env, int name)
{
    hopscotch_array array;
    if (hopscotch_env_array(env, name, &array) != HOPSCOTCH_OK) return 0;
    const int64_t columns = array.n_dimensions > 1 ? array.shape[1] : 1;
    for (int64_t lane = 0; lane < LANES; lane++) {
        for (int64_t c = 0; c < columns; c++)
            h = hash(h, (double *)array.data + lane * array.strides[0] + c * array.strides[1], sizeof(double));
    }
    return h;
}

static int environment(const char *spec)
{
    hopscotch_env *env = NULL;
    hopscotch_env_options options = HOPSCOTCH_ENV_OPTIONS;
    hopscotch_env_info info = {.size = sizeof info};
    hopscotch_array actions;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    options.lanes = LANES;
    options.device = "cpu";
    if (hopscotch_env_open(spec, &options, &env) != HOPSCOTCH_OK ||
        hopscotch_env_get_info(env, &info) != HOPSCOTCH_OK ||
        hopscotch_env_array(env, HOPSCOTCH_ACTIONS, &actions) != HOPSCOTCH_OK ||
        hopscotch_env_reset(env, NULL, NULL) != HOPSCOTCH_OK)
        return fprintf(stderr, "%s\n", hopscotch_error(env)), 1;
    for (int step = 0; step < STEPS; step++) {
        for (int64_t lane = 0; lane < LANES; lane++) {
            for (int64_t a = 0; a < info.n_actions; a++)
                ((double *)actions.data)[lane * actions.strides[0] + a * actions.strides[1]] =
                    (double)((step + 3 * lane + 5 * a) % 7) * 8.0;
        }
        if (hopscotch_env_step(env) != HOPSCOTCH_OK) return fprintf(stderr, "%s\n", hopscotch_error(env)), 1;
        h = hash_array(hash_array(h, env, HOPSCOTCH_OBSERVATIONS), env, HOPSCOTCH_REWARDS);
    }
    printf("%016" PRIx64 "\n", h);
    fprintf(stderr, "%s\n", info.device);
    return hopscotch_env_close(env);
}

static int print_row(void *unused, int columns, char **value, char **name)
{
    (void)unused, (void)name;
    for (int c = 0; c < columns; c++) printf("%s%c", value[c] != NULL ? value[c] : "", c + 1 < columns ? ',' : '\n');
    return 0;
}

static int database(const char *library, const char *file, const char *sql)
{
    sqlite3 *database = NULL;
    char *error = NULL;
    if (sqlite3_open_v2(file, &database, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_enable_load_extension(database, 1) != SQLITE_OK ||
        sqlite3_load_extension(database, library, NULL, &error) != SQLITE_OK ||
        sqlite3_exec(database, sql, print_row, NULL, &error) != SQLITE_OK)
        return fprintf(stderr, "%s\n", error != NULL ? error : sqlite3_errmsg(database)), 1;
    return sqlite3_close(database);
}

int main(int count, char *word[])
{
    if (count == 3 && strcmp(word[1], "environment") == 0) return environment(word[2]);
    if (count == 5 && strcmp(word[1], "database") == 0) return database(word[2], word[3], word[4]);
    return 2;
}
