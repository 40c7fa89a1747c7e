// Flips one bit at a time in the database and in a shard of a small campaign, and asks the doctor: it must find every
// flip that alters a value, and nothing may crash. Whether a flip of the database altered a value is decided without
// the doctor: by the text of all its tables, each value with its type. A flip in a block of rows must also be found by
// who reads the trials.
//
//     flips FOLDER [FLIPS [SEED]]      FOLDER: is made, and left behind when something was found; or one that has a
//                                      campaign `flips` already
//
// Prints a line `ok …` or `FAIL …`.
#include "../../runner/campaign/doctor/doctor.h"
#include "../../runner/campaign/store/campaign/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char flips_spec[] =
    "version: 1\nexperiment: flips\nseed: 7\nmodel: hopper\nsimulation: {duration: 0.3, dt: 1.0e-3, settle: 0}\n"
    "search: {method: grid, over: {k_fp: {linspace: [50, 300, 40]}, dphi_body: {linspace: [0, 20, 10]}}}\n"
    "replicates: {count: 2, store: true, perturb: {phi_leg: {uniform: [0, 0.1]}}}\n"
    "record: {trajectories: {select: {best: 2, every: 50, failures: 2}, sample: 0.01}}\n";

typedef struct Flips {
    Arena *arena;
    CampaignLocation place;
    uint64_t random;
    int altered, harmless, unreadable, missed;
} Flips;

static uint64_t flips_random(Flips *flips, uint64_t below)
{
    flips->random = flips->random * 6364136223846793005u + 1442695040888963407u; // Knuth's MMIX
    return (flips->random >> 24) % below;
}

// ---- the values of a database ---------------------------------------------------------------------------------------

static Error flips_dump_table(Database *database, const char *sql, Sha256 *hash)
{
    Statement *statement = NULL;
    bool row = false;
    TRY(database_prepare(database, sql, &statement));
    Error error = statement_step(statement, &row);
    for (; error.kind == OK && row; error = statement_step(statement, &row)) {
        for (int i = 0; i < column_count(statement); i++) {
            const Bytes text = column_blob(statement, i);
            sha256_add(hash, &text.size, sizeof text.size);
            if (text.size > 0) sha256_add(hash, text.data, text.size);
        }
    }
    statement_close(statement);
    return error;
}

// Digest of all values of all tables, by quote(): type and digits. Error: a value can't be read.
static Error flips_dump(const char *path, const char *const *tables, Arena *arena, Sha256Text *text)
{
    Database *database = NULL;
    Sha256 hash;
    sha256_start(&hash);
    TRY(database_open(path, DATABASE_READ, &database));
    Error error = flips_dump_table(database, "SELECT type, name, tbl_name, sql FROM sqlite_schema", &hash);
    for (int i = 0; tables[i] != NULL && error.kind == OK; i++) error = flips_dump_table(database, tables[i], &hash);
    const Error closing = database_close(database);
    (void)closing, (void)arena;
    *text = sha256_finish(&hash);
    return error;
}

// "SELECT quote(a), quote(b) FROM t" for every table, ended by NULL; taken once, from the undamaged database.
static Error flips_queries(const char *path, Arena *arena, const char **queries, int most)
{
    Database *database = NULL;
    Statement *statement = NULL;
    bool row = false;
    int count = 0;
    TRY(database_open(path, DATABASE_READ, &database));
    TRY(database_prepare(
        database,
        "SELECT 'SELECT ' || group_concat('quote(\"' || c.name || '\")', ', ') || ' FROM ' || t.name "
        "FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table' GROUP BY t.name",
        &statement));
    Error error = statement_step(statement, &row);
    for (; error.kind == OK && row && count < most - 1; error = statement_step(statement, &row))
        queries[count++] = arena_copy(arena, column_text(statement, 0));
    queries[count] = NULL;
    statement_close(statement);
    const Error closing = database_close(database);
    return error.kind != OK ? error : closing;
}

// ---- flips ----------------------------------------------------------------------------------------------------------

static Error flips_write(const char *path, const Bytes *content)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) return error_make(ERROR_MACHINE, "cannot write %.300s", path);
    const bool good = fwrite(content->data, 1, content->size, file) == content->size;
    return fclose(file) == 0 && good ? error_none() : error_make(ERROR_MACHINE, "cannot write %.300s", path);
}

static Error flips_ask(Flips *flips, int *findings)
{
    Doctor doctor;
    const size_t used = flips->arena->used;
    TRY(doctor_examine(&flips->place, flips->arena, &doctor));
    *findings = doctor.findings;
    arena_rewind(flips->arena, used);
    return error_none();
}

// In a block, whose columns SQLite reads: it knows one zero, and one NULL for all that is not a number.
static bool flips_is_same(const char *path, const Bytes *content, uint64_t byte, int bit)
{
    uint64_t word;
    double before, after;
    if (strstr(path, "/rows_") == NULL || byte / 8 * 8 + 8 > content->size) return false;
    memcpy(&word, &content->data[byte / 8 * 8], sizeof word);
    memcpy(&after, &word, sizeof after);
    word ^= (uint64_t)1 << (8 * (byte % 8) + (uint64_t)bit);
    memcpy(&before, &word, sizeof before);
    return before == after || (isnan(before) && isnan(after));
}

// Trials as readers see them. Error: a block can't be read.
static Error flips_read(Flips *flips, Sha256Text *text)
{
    Database *database = NULL;
    Statement *statement = NULL;
    Sha256 hash;
    bool row = false;
    sha256_start(&hash);
    TRY(store_peek(&flips->place, flips->arena, &database));
    Error error = database_prepare(database, "SELECT * FROM trials", &statement);
    if (error.kind == OK) error = statement_step(statement, &row);
    for (; error.kind == OK && row; error = statement_step(statement, &row)) {
        const uint64_t digest = column_digest(statement, 0);
        sha256_add(&hash, &digest, sizeof digest);
    }
    statement_close(statement);
    store_leave(database);
    *text = sha256_finish(&hash);
    return error;
}

// Of a block every flip is also found by who reads trials, or they are the same.
static void flips_look_at_readers(Flips *flips, const char *path, const Sha256Text *before, uint64_t byte)
{
    Sha256Text after;
    const size_t used = flips->arena->used;
    if (strstr(path, "/rows_") != NULL && flips_read(flips, &after).kind == OK && strcmp(before->hex, after.hex) != 0) {
        printf("   byte %llu of %s was read as it is\n", (unsigned long long)byte, path);
        flips->missed++;
    }
    arena_rewind(flips->arena, used);
}

// Flips bits of the file. queries NULL: every bit of the file counts.
static Error flips_file(Flips *flips, const char *path, const char *const *queries, int count)
{
    const size_t used = flips->arena->used;
    Bytes content;
    Sha256Text before = {""}, after, trials = {""};
    int findings = 0;
    TRY(file_read(path, (size_t)1 << 30, flips->arena, &content));
    if (queries != NULL) TRY(flips_dump(path, queries, flips->arena, &before));
    TRY(flips_read(flips, &trials));
    for (int i = 0; i < count; i++) {
        const uint64_t byte = flips_random(flips, content.size), bit = flips_random(flips, 8);
        content.data[byte] = (unsigned char)(content.data[byte] ^ (1 << bit));
        TRY(flips_write(path, &content));
        const Error dump = queries != NULL ? flips_dump(path, queries, flips->arena, &after) : error_none();
        const bool altered = queries == NULL ? !flips_is_same(path, &content, byte, (int)bit)
                                             : dump.kind != OK || strcmp(before.hex, after.hex) != 0;
        flips_look_at_readers(flips, path, &trials, byte);
        TRY(flips_ask(flips, &findings));
        flips->unreadable += dump.kind != OK;
        flips->altered += altered && dump.kind == OK;
        flips->harmless += !altered;
        if (altered && findings == 0) {
            printf("   missed: bit %d of byte %llu of %s\n", (int)bit, (unsigned long long)byte, path);
            flips->missed++;
        }
        content.data[byte] = (unsigned char)(content.data[byte] ^ (1 << bit));
    }
    TRY(flips_write(path, &content));
    TRY(flips_ask(flips, &findings));
    arena_rewind(flips->arena, used);
    return findings == 0 ? error_none() : error_make(ERROR_MACHINE, "%d findings without a flip", findings);
}

static void flips_report(const Flips *flips, const char *what)
{
    printf("%s flips: %s: %d altered a value, %d made it unreadable, %d altered nothing; %d missed\n",
           flips->missed == 0 ? "ok" : "FAIL", what, flips->altered, flips->unreadable, flips->harmless, flips->missed);
}

static Error flips_campaign(Flips *flips, const char *results)
{
    Spec spec;
    flips->place = (CampaignLocation){
        .results = results, .name = "flips", .folder = arena_format(flips->arena, "%s/flips", results)};
    if (!file_missing(flips->place.folder)) return error_none();
    RunSummary summary;
    const RunOptions options = {
        .results = results, .backend = {.name = "cpu"}, .batch = 128, .progress = PROGRESS_NONE};
    TRY(spec_parse("flips.yaml", flips_spec, NULL, 0, flips->arena, diagnostics_new(flips->arena), &spec));
    return campaign_run(&spec, &options, flips->arena, &summary);
}

// Of arrays, or of trials in blocks. The first one: a run that was killed may have written one more,
// which its database does not name.
static Error flips_a_shard(Flips *flips, const char **path)
{
    char **names = NULL;
    int count = 0;
    const char *folder = arena_format(flips->arena, "%s/" CAMPAIGN_SHARDS, flips->place.folder);
    TRY(folder_list(folder, flips->arena, &names, &count));
    if (count == 0) return error_make(ERROR_MACHINE, "%.300s has no shard", folder);
    const char *first = names[0];
    for (int i = 1; i < count; i++) first = strcmp(names[i], first) < 0 ? names[i] : first;
    *path = arena_format(flips->arena, "%s/%s", folder, first);
    return error_none();
}

static Error flips_run(Flips *flips, const char *results, int count, bool *good)
{
    const char *queries[64], *shard = NULL;
    TRY(flips_campaign(flips, results));
    const char *database = arena_format(flips->arena, "%s/" CAMPAIGN_DATABASE, flips->place.folder);
    TRY(flips_queries(database, flips->arena, queries, 64));
    TRY(flips_file(flips, database, queries, count));
    flips_report(flips, "campaign.db");
    *good = flips->missed == 0;
    flips->altered = flips->harmless = flips->unreadable = flips->missed = 0;
    TRY(flips_a_shard(flips, &shard));
    TRY(flips_file(flips, shard, NULL, count));
    flips_report(flips, "a shard");
    *good = *good && flips->missed == 0;
    return error_none();
}

int main(int argc, char **argv)
{
    Arena arena;
    bool good = false;
    if (argc < 2) return 2;
    Flips flips = {.arena = &arena, .random = argc > 3 ? strtoull(argv[3], NULL, 10) : 1};
    Error error = arena_create(&arena, (size_t)4 << 30, "flips");
    if (error.kind == OK) error = flips_run(&flips, argv[1], argc > 2 ? atoi(argv[2]) : 1000, &good);
    if (error.kind != OK) printf("FAIL flips: %s\n", error.text);
    return error.kind == OK && good ? 0 : 1;
}
