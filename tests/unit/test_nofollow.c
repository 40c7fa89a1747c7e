// Files below a results root: no link is followed, on any path and at any time.
#include "../../io/system.h"
#include "../test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// from linux/fs.h; some C libraries' <stdio.h> lack it
enum { RENAME_BOTH = 2 };

typedef struct NofollowCase {
    Arena arena;
    const char *root, *outside; // folders of the test
} NofollowCase;

static const char *nofollow_path(NofollowCase *test, const char *name)
{
    return arena_format(&test->arena, "%s/%s", test->root, name);
}

static const char *outside_path(NofollowCase *test, const char *name)
{
    return arena_format(&test->arena, "%s/%s", test->outside, name);
}

// Makes root/a with a file, a folder, and links to the ones outside; root/b is a link to the folder outside.
static NofollowCase nofollow_case(void)
{
    NofollowCase test;
    CHECK_OK(arena_create(&test.arena, 1 << 22, "a test"));
    const char *folder = arena_copy(&test.arena, test_folder());
    test.root = arena_format(&test.arena, "%s/root", folder);
    test.outside = arena_format(&test.arena, "%s/outside", folder);
    CHECK_OK(folder_make(nofollow_path(&test, "a/shards")));
    CHECK_OK(folder_make(outside_path(&test, "folder")));
    CHECK_OK(file_write(nofollow_path(&test, "a"), "file", "mine", 4));
    CHECK_OK(file_write(test.outside, "file", "secret", 6));
    CHECK(symlink(outside_path(&test, "file"), nofollow_path(&test, "a/link")) == 0);
    CHECK(symlink(test.outside, nofollow_path(&test, "a/way")) == 0);
    CHECK(symlink(test.outside, nofollow_path(&test, "b")) == 0);
    CHECK_OK(nofollow_add_root(test.root));
    return test;
}

static const char *nofollow_listing(NofollowCase *test)
{
    char **names;
    int count;
    const char *text = "";
    CHECK_OK(folder_list(test->outside, &test->arena, &names, &count));
    for (int i = 0; i < count; i++) text = arena_format(&test->arena, "%s%s ", text, names[i]);
    return text;
}

static void nofollow_end(NofollowCase *test, const char *left_outside)
{
    Bytes bytes = {0};
    CHECK_OK(file_read(outside_path(test, "file"), 100, &test->arena, &bytes));
    CHECK_TEXT("secret", (const char *)bytes.data);
    CHECK_TEXT(left_outside, nofollow_listing(test));
    arena_destroy(&test->arena);
}

// The result of a call: 0 or its errno.
static int nofollow_reason(int result) { return result >= 0 ? 0 : errno; }

#define CHECK_LINK(call) CHECK_INTEGER(ELOOP, nofollow_reason(call))

TEST(nofollow_below_a_root_no_link_is_followed)
{
    NofollowCase test = nofollow_case();
    struct stat status;
    static const char *const ways[] = {"b/file", "a/way/file", "a/./way//file", "a/../b/file", "a/way/folder/new"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const char *path = nofollow_path(&test, ways[i]);
        CHECK_LINK(system_open(path, O_RDONLY));
        CHECK_LINK(system_open(path, O_RDWR | O_CREAT));
        CHECK_LINK(system_stat(path, &status));
        CHECK_LINK(system_link_stat(path, &status));
        CHECK_LINK(nofollow_access(path, F_OK, 0));
        CHECK_LINK(system_unlink(path));
        CHECK_LINK(system_rmdir(path));
        CHECK_LINK(system_mkdir(path));
        CHECK_LINK(system_rename(path, nofollow_path(&test, "a/stolen")));
        CHECK_LINK(system_rename(nofollow_path(&test, "a/file"), path));
    }
    CHECK_LINK(system_open(nofollow_path(&test, "a/link"), O_RDONLY));
    CHECK_LINK(system_open(nofollow_path(&test, "a/link"), O_WRONLY | O_CREAT | O_TRUNC));
    CHECK_LINK(system_open(nofollow_path(&test, "a/way"), O_RDONLY | O_DIRECTORY));
    CHECK(system_stat(nofollow_path(&test, "a/link"), &status) == 0 && S_ISLNK(status.st_mode));
    CHECK(system_stat(nofollow_path(&test, "a/way/"), &status) == 0 && S_ISLNK(status.st_mode));
    CHECK_INTEGER(ENOENT, nofollow_reason(system_stat(nofollow_path(&test, "c/file"), &status)));
    CHECK_INTEGER(ENOTDIR, nofollow_reason(system_stat(nofollow_path(&test, "a/file/file"), &status)));
    CHECK_OK(file_remove(nofollow_path(&test, "a/link"))); // removes the link, not its target
    nofollow_end(&test, "file folder ");
}

TEST(nofollow_below_a_root_operations_refuse_links)
{
    NofollowCase test = nofollow_case();
    char **names;
    int count;
    Bytes bytes;
    Output output;
    Database *database;
    const char *words = "it, or a folder of its path, is a link";
    CHECK_SAYS(ERROR_MACHINE, words, file_write(nofollow_path(&test, "a/way"), "new", "x", 1));
    CHECK_SAYS(ERROR_MACHINE, words, file_append_line(nofollow_path(&test, "a/way/file"), "x"));
    CHECK_SAYS(ERROR_MACHINE, words, file_read_stored(nofollow_path(&test, "b/file"), 100, &test.arena, &bytes));
    CHECK_SAYS(ERROR_MACHINE, words, folder_list(nofollow_path(&test, "a/way"), &test.arena, &names, &count));
    CHECK_SAYS(ERROR_MACHINE, words, folder_remove(nofollow_path(&test, "a/way/folder"), &test.arena));
    CHECK_SAYS(ERROR_MACHINE, "a file of that name exists", folder_make(nofollow_path(&test, "b/new")));
    CHECK_SAYS(ERROR_MACHINE, words, database_open(nofollow_path(&test, "b/new.db"), DATABASE_WRITE, &database));
    CHECK_SAYS(ERROR_MACHINE, words, database_open(nofollow_path(&test, "b/new.db"), DATABASE_READ, &database));
    CHECK_SAYS(ERROR_MACHINE, "is a link, not a regular file: look at it, and move it away",
               output_open(nofollow_path(&test, "a/link"), &test.arena, &output));
    CHECK(mkfifo(nofollow_path(&test, "a/pipe"), 0600) == 0);
    CHECK_SAYS(ERROR_MACHINE, "is a pipe, not a regular file",
               output_open(nofollow_path(&test, "a/pipe"), &test.arena, &output)); // and does not wait for a reader
    CHECK(!file_missing(nofollow_path(&test, "a/link")) && !file_missing(nofollow_path(&test, "b/file")));
    CHECK_OK(file_read(nofollow_path(&test, "b/file"), 100, &test.arena, &bytes)); // the user named this path
    nofollow_end(&test, "file folder ");
}

// A database below a root, which SQLite knows only by its name: its files are created, found and removed.
TEST(nofollow_below_a_root_databases_work)
{
    NofollowCase test = nofollow_case();
    Database *database = NULL;
    char **names;
    int count;
    CHECK(symlink(test.root, outside_path(&test, "root")) == 0);
    const char *linked = arena_format(&test.arena, "%s/root", test.outside); // a root may be reached through links
    CHECK_OK(nofollow_add_root(linked));
    CHECK_OK(database_open(arena_format(&test.arena, "%s/a/shards/x.db", linked), DATABASE_WRITE, &database));
    CHECK_OK(database_run(database, "CREATE TABLE t(a); INSERT INTO t VALUES(1)"));
    CHECK_OK(database_check_path(database));
    CHECK_OK(folder_list(nofollow_path(&test, "a/shards"), &test.arena, &names, &count));
    CHECK_INTEGER(3, count); // x.db, -shm, -wal
    CHECK_OK(database_close(database));
    CHECK_OK(database_open(nofollow_path(&test, "a/shards/x.db"), DATABASE_READ, &database));
    CHECK_OK(database_run(database, "SELECT a FROM t"));
    CHECK_OK(database_close(database));
    CHECK_OK(file_remove(outside_path(&test, "root")));
    nofollow_end(&test, "file folder ");
}

TEST(nofollow_below_a_root_that_is_made_later)
{
    NofollowCase test = nofollow_case();
    Bytes bytes = {0};
    int64_t room = 0;
    const char *root = outside_path(&test, "later/"), *folder = outside_path(&test, "later/a/shards");
    CHECK_OK(nofollow_add_root(root));
    CHECK(file_missing(folder));
    CHECK_OK(disk_free(folder, &room));
    CHECK_OK(folder_make(folder));
    CHECK_OK(file_write(folder, "file", "x", 1));
    CHECK_OK(file_read_stored(outside_path(&test, "later//a/../a/./shards/file"), 10, &test.arena, &bytes));
    CHECK(file_exists(root));
    CHECK_OK(file_rename(outside_path(&test, "later/a"), outside_path(&test, "later/b")));
    CHECK_OK(folder_remove(outside_path(&test, "later/b"), &test.arena));
    CHECK_INTEGER(0,
                  system_rmdir(arena_format(&test.arena, "%s/../outside/later", test.outside))); // ".." leads outside
    nofollow_end(&test, "file folder ");
}

TEST(nofollow_below_a_root_is_decided_by_the_path)
{
    NofollowCase test = nofollow_case();
    char name[5000];
    struct stat status;
    CHECK(nofollow_holds(test.root) && nofollow_holds(nofollow_path(&test, "")) &&
          nofollow_holds(nofollow_path(&test, "a/b")));
    CHECK(nofollow_holds(nofollow_path(&test, "a/../b")) && nofollow_holds(nofollow_path(&test, "a/b/../../c")));
    CHECK(!nofollow_holds(nofollow_path(&test, "..")) && !nofollow_holds(nofollow_path(&test, "a/../../root/b")));
    CHECK(!nofollow_holds(arena_format(&test.arena, "%sx/a", test.root)) && !nofollow_holds(test.outside));
    CHECK(!nofollow_holds("") && !nofollow_holds("/") && !nofollow_holds("a"));
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    CHECK_INTEGER(ENAMETOOLONG, nofollow_reason(system_open(name, O_RDONLY)));
    CHECK_INTEGER(ENAMETOOLONG, nofollow_reason(system_stat(nofollow_path(&test, name), &status)));
    nofollow_end(&test, "file folder ");
}

// ---- races ----------------------------------------------------------------------------------------------------------

typedef struct NofollowSwap {
    const char *first, *second;
    atomic_bool ended;
    int64_t swaps;
} NofollowSwap;

// Exchanges a folder and a link, repeatedly, each time by one atomic rename.
static void *nofollow_swap(void *data)
{
    NofollowSwap *swap = data;
    while (!atomic_load(&swap->ended)) {
        if (syscall(SYS_renameat2, AT_FDCWD, swap->first, AT_FDCWD, swap->second, RENAME_BOTH) == 0) swap->swaps++;
    }
    return NULL;
}

// All operations of a run, recovery and gc on a folder, while it is exchanged for a link again and again.
static void nofollow_work(NofollowCase *test, const char *folder)
{
    char **names;
    int count;
    Bytes bytes;
    Database *database;
    (void)file_write(folder, "shard", "x", 1);
    (void)file_append_line(arena_format(&test->arena, "%s/log", folder), "x");
    (void)file_rename(arena_format(&test->arena, "%s/shard", folder), arena_format(&test->arena, "%s/aside", folder));
    if (file_read_stored(arena_format(&test->arena, "%s/file", folder), 100, &test->arena, &bytes).kind == OK)
        CHECK_TEXT("mine", (const char *)bytes.data);
    if (folder_list(folder, &test->arena, &names, &count).kind == OK)
        CHECK(count > 0 && strcmp(names[count - 1], "secret") != 0);
    if (database_open(arena_format(&test->arena, "%s/x.db", folder), DATABASE_WRITE, &database).kind == OK) {
        (void)database_run(database, "CREATE TABLE IF NOT EXISTS t(a)");
        (void)database_close(database);
    }
    (void)folder_make(arena_format(&test->arena, "%s/more/folders", folder));
    (void)folder_remove(arena_format(&test->arena, "%s/aside", folder), &test->arena);
    (void)file_remove(arena_format(&test->arena, "%s/secret", folder)); // this file exists only outside
}

TEST(nofollow_below_a_root_races_lead_nowhere)
{
    NofollowCase test = nofollow_case();
    pthread_t thread;
    const int rounds = test_quick() ? 100 : 1000;
    const char *folder = nofollow_path(&test, "a/shards");
    NofollowSwap swap = {.first = folder, .second = nofollow_path(&test, "a/way")};
    CHECK_OK(file_write(test.outside, "secret", "secret", 6));
    CHECK_OK(file_write(folder, "file", "mine", 4));
    CHECK_INTEGER(0, pthread_create(&thread, NULL, nofollow_swap, &swap));
    for (int i = 0; i < rounds; i++) {
        const size_t used = test.arena.used;
        nofollow_work(&test, folder);
        arena_rewind(&test.arena, used);
    }
    atomic_store(&swap.ended, true);
    CHECK_INTEGER(0, pthread_join(thread, NULL));
    if (swap.swaps == 0) test_skip("a file system that exchanges two names", "TMPDIR on ext4, xfs or tmpfs");
    nofollow_end(&test, "file folder secret ");
}

// A locked folder is exchanged for another one. Operations below its path act on the locked folder; a query for the
// name sees the new one.
TEST(nofollow_a_locked_folder_is_the_one_that_was_locked)
{
    NofollowCase test = nofollow_case();
    Lock lock;
    struct stat status;
    const char *file = nofollow_path(&test, "a/file");
    CHECK_OK(folder_make(nofollow_path(&test, "other/shards")));
    CHECK_OK(file_write(nofollow_path(&test, "other"), "file", "theirs", 6));
    CHECK_OK(lock_take(nofollow_path(&test, "a/campaign.lock"), &lock));
    CHECK(rename(nofollow_path(&test, "a"), nofollow_path(&test, "old")) == 0);
    CHECK(rename(nofollow_path(&test, "other"), nofollow_path(&test, "a")) == 0);
    CHECK(nofollow_stat(file, &status) == 0 && status.st_size == 4);
    CHECK(nofollow_named_stat(file, &status) == 0 && status.st_size == 6);
    CHECK_OK(file_write(nofollow_path(&test, "a"), "new", "1", 1));
    CHECK_OK(file_write(nofollow_path(&test, "a/shards"), "new", "1", 1));
    CHECK_OK(file_remove(file));
    CHECK_OK(folder_add(nofollow_path(&test, "a/made")));
    CHECK(!lock_is_named(&lock, nofollow_path(&test, "a/campaign.lock")));
    CHECK_SAYS(ERROR_MACHINE, "root/a was replaced or moved by another process just now: try again",
               lock_rename(&lock, nofollow_path(&test, "a"), nofollow_path(&test, "b2")));
    CHECK(!file_exists(nofollow_path(&test, "b2")));
    CHECK_OK(file_rename(nofollow_path(&test, "a"), nofollow_path(&test, "b2"))); // the name means another folder
    lock_release(&lock);
    CHECK(file_exists(nofollow_path(&test, "b2/file")) && !file_exists(nofollow_path(&test, "b2/new")));
    CHECK(!file_exists(nofollow_path(&test, "b2/made")) && !file_exists(nofollow_path(&test, "b2/shards/new")));
    CHECK(file_exists(nofollow_path(&test, "old/new")) && file_exists(nofollow_path(&test, "old/shards/new")));
    CHECK(file_exists(nofollow_path(&test, "old/made")) && !file_exists(nofollow_path(&test, "old/file")));
    nofollow_end(&test, "file folder ");
}

// The process that holds the lock renames the folder: it continues under the new name, and the old name is free.
TEST(nofollow_a_locked_folder_may_be_renamed)
{
    NofollowCase test = nofollow_case();
    Lock lock;
    CHECK_OK(lock_take(nofollow_path(&test, "a/campaign.lock"), &lock));
    CHECK_OK(lock_rename(&lock, nofollow_path(&test, "a"), nofollow_path(&test, "c")));
    CHECK(!file_exists(nofollow_path(&test, "a/file")) && file_exists(nofollow_path(&test, "c/file")));
    CHECK(rename(nofollow_path(&test, "c"), nofollow_path(&test, "d")) == 0);
    CHECK(file_exists(nofollow_path(&test, "c/file"))); // the path still means the locked folder
    lock_release(&lock);
    CHECK(!file_exists(nofollow_path(&test, "c/file")));
    nofollow_end(&test, "file folder ");
}
