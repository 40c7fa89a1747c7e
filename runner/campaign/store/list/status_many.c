// Reads the states of many campaigns with one thread per processor. Nearly all of the time is SQLite's, which reads a
// schema and prepares a dozen statements per database.
#include "../campaign/status.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    STATUS_THREADS_MOST = 16,
    STATUS_A_THREAD = 32, // campaigns for which it pays to start one
    STATUS_SCRATCH_MOST = 64 << 20
};

typedef struct StatusReaders {
    StatusEntry *entries;
    int count;
    atomic_int next;
    pthread_mutex_t mutex; // of the arena
    Arena *arena;          // that the reports' texts live in
} StatusReaders;

// With the mutex held.
static void status_entry_put(StatusEntry *entry, const StatusReport *report, const Error *error, Arena *arena)
{
    const CampaignLocation location = entry->location;
    entry->report = *report;
    entry->report.location = location;
    status_copy_texts(&entry->report, arena);
    entry->error = error->kind != OK ? arena_copy(arena, error->text) : NULL;
}

static void status_entry_read(StatusEntry *entry, StatusReaders *readers, Arena *scratch)
{
    StatusReport report;
    Error error = error_none();
    entry->still = entry->still && status_read_still(&entry->location, scratch, &entry->stamp, &report);
    if (!entry->still) error = status_read_database(&entry->location, scratch, &report);
    pthread_mutex_lock(&readers->mutex);
    status_entry_put(entry, &report, &error, readers->arena);
    pthread_mutex_unlock(&readers->mutex);
}

static void status_readers_work(StatusReaders *readers, Arena *scratch)
{
    for (int i; (i = atomic_fetch_add(&readers->next, 1)) < readers->count;) {
        if (readers->entries[i].known) continue;
        status_entry_read(&readers->entries[i], readers, scratch);
        arena_rewind(scratch, 0);
    }
}

// A thread without memory returns at once.
static void *status_readers_help(void *argument)
{
    Arena scratch;
    if (arena_create_growing(&scratch, STATUS_SCRATCH_MOST, "the state of a campaign").kind != OK) return NULL;
    status_readers_work(argument, &scratch);
    arena_destroy(&scratch);
    return NULL;
}

static int status_threads(const StatusEntry *entries, int count)
{
    int unknown = 0;
    for (int i = 0; i < count; i++) unknown += !entries[i].known;
    if (unknown < 2 * STATUS_A_THREAD) return 1;
    const int wanted = unknown / STATUS_A_THREAD, there = processors_allowed();
    const int most = there < STATUS_THREADS_MOST ? there : STATUS_THREADS_MOST;
    return wanted < most ? wanted : most;
}

Error status_read_many(StatusEntry *entries, int count, Arena *arena)
{
    pthread_t helpers[STATUS_THREADS_MOST];
    int n_helpers = 0;
    Arena scratch;
    StatusReaders readers = {.entries = entries, .count = count, .mutex = PTHREAD_MUTEX_INITIALIZER, .arena = arena};
    TRY(arena_create_growing(&scratch, STATUS_SCRATCH_MOST, "the state of a campaign"));
    for (int left = status_threads(entries, count) - 1; left > 0; left--) {
        if (thread_start(&helpers[n_helpers], status_readers_help, &readers) != 0) break;
        n_helpers++;
    }
    status_readers_work(&readers, &scratch);
    for (int i = 0; i < n_helpers; i++) pthread_join(helpers[i], NULL);
    arena_destroy(&scratch);
    return error_none();
}
