// Before a campaign goes on: are all rows of its trials there? A block may be lost or damaged, or a repair may have
// been killed between its steps. A search that enumerates its trials does not look at the rows of those it gave, so
// that nothing else would notice.
#include "../store/queries.h"
#include "../store/commit/seal.h"
#include "../store/campaign/store.h"
#include "../store/trials/trial_blocks.h"

static void mend_count(void *damaged, const char *name, const char *fault)
{
    (void)name, (void)fault;
    ++*(int64_t *)damaged;
}

// Trials that have a row against those whose digests are stored.
static Error mend_compare(Database *database, int64_t *missing)
{
    int64_t rows = 0;
    SealTally sum;
    TRY(trials_rows(database, &rows));
    TRY(seal_sum(database, &sum));
    *missing = sum.rows - rows;
    return error_none();
}

static Error mend_look(const CampaignLocation *location, Arena *arena, int64_t *damaged, int64_t *missing)
{
    Database *database = NULL;
    int64_t blocks = 0;
    TRY(store_peek(location, arena, &database));
    Error error = trial_blocks_check(database, arena, mend_count, damaged, &blocks);
    if (error.kind == OK) error = mend_compare(database, missing);
    store_leave(database);
    return error;
}

Error doctor_mend(const RunOptions *options, const char *name, Arena *arena)
{
    const char *folder = NULL;
    int64_t damaged = 0, missing = 0;
    TRY(campaign_folder(options->results, name, arena, &folder));
    const CampaignLocation location = {.results = options->results, .name = name, .folder = folder};
    const char *path = arena_format(arena, "%s/" CAMPAIGN_DATABASE, folder);
    // a database that can't be read is reported by those who open it
    if (!file_exists(path) || mend_look(&location, arena, &damaged, &missing).kind != OK) return error_none();
    if (damaged == 0 && missing <= 0) return error_none();
    if (options->messages != NULL && damaged > 0)
        fprintf(options->messages, "%s: %lld block%s of rows missing or damaged; the trials are simulated again\n",
                name, (long long)damaged, damaged == 1 ? "" : "s");
    else if (options->messages != NULL)
        fprintf(options->messages, "%s: %lld row%s of trials missing; the trials are simulated again\n", name,
                (long long)missing, missing == 1 ? "" : "s");
    Doctor doctor;
    TRY(doctor_examine(&location, arena, &doctor));
    return doctor_repair(&doctor, &options->backend, options->shared_fs, NULL);
}
