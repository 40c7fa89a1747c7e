#include "../../io/system.h"
#include "../test.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct LockPath {
    char text[256];
} LockPath;

static LockPath lock_test_path(void)
{
    LockPath path;
    snprintf(path.text, sizeof path.text, "%s/lock", test_folder());
    return path;
}

// Starts a process that takes the lock, says so, and waits to be killed.
static pid_t lock_test_holder(const char *path)
{
    int ready[2];
    char byte = 0;
    CHECK(pipe(ready) == 0);
    const pid_t child = fork();
    if (child == 0) {
        Lock lock;
        byte = lock_take(path, &lock).kind == OK ? 'y' : 'n';
        if (write(ready[1], &byte, 1) == 1) pause();
        _exit(0);
    }
    CHECK(read(ready[0], &byte, 1) == 1 && byte == 'y');
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void lock_test_kill(pid_t child) { CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child); }

TEST(lock_is_held_by_one)
{
    const LockPath path = lock_test_path();
    Lock first, second;
    char holder[160], expected[160], host[65] = {0};
    CHECK_OK(lock_holder(path.text, holder, sizeof holder)); // the file does not exist yet
    CHECK_TEXT("", holder);
    CHECK_OK(lock_take(path.text, &first));
    CHECK_ERROR(ERROR_MACHINE, lock_take(path.text, &second)); // the same process opens the file again
    CHECK_INTEGER(-1, second.descriptor);
    CHECK_OK(lock_holder(path.text, holder, sizeof holder));
    CHECK(gethostname(host, sizeof host - 1) == 0);
    snprintf(expected, sizeof expected, "pid %ld on %s since 20", (long)getpid(), host);
    CHECK(strncmp(holder, expected, strlen(expected)) == 0);
    CHECK(holder[strlen(holder) - 1] == 'Z');
    lock_release(&first);
    lock_release(&first); // a second release has no effect
    CHECK_OK(lock_holder(path.text, holder, sizeof holder));
    CHECK_TEXT("", holder);
    CHECK_OK(lock_take(path.text, &second));
    lock_release(&second);
}

TEST(lock_names_the_other_process_and_dies_with_it)
{
    const LockPath path = lock_test_path();
    Lock lock;
    char expected[64], holder[160];
    const pid_t child = lock_test_holder(path.text);
    const Error error = lock_take(path.text, &lock);
    CHECK_ERROR(ERROR_MACHINE, error);
    snprintf(expected, sizeof expected, "is held by pid %ld on ", (long)child);
    CHECK(strstr(error.text, expected) != NULL);
    CHECK_OK(lock_holder(path.text, holder, sizeof holder));
    CHECK(strncmp(holder, expected + strlen("is held by "), strlen(expected) - strlen("is held by ")) == 0);
    lock_test_kill(child);
    CHECK_OK(lock_holder(path.text, holder, sizeof holder)); // the text is still there, the lock is not
    CHECK_TEXT("", holder);
    CHECK_OK(lock_take(path.text, &lock));
    CHECK(strncmp(lock.stale, expected + strlen("is held by "), strlen(expected) - strlen("is held by ")) == 0);
    CHECK_OK(lock_holder(path.text, holder, sizeof holder));
    CHECK_TEXT(lock.holder, holder);
    lock_release(&lock);
    CHECK_OK(lock_take(path.text, &lock));
    CHECK_TEXT("", lock.stale); // the last holder released it
    lock_release(&lock);
}

// A program that we start must not inherit the lock: it would hold it after our process ended.
TEST(lock_is_not_inherited)
{
    const LockPath path = lock_test_path();
    Lock lock;
    CHECK_OK(lock_take(path.text, &lock));
    const pid_t child = fork();
    if (child == 0) {
        execlp("sleep", "sleep", "30", (char *)NULL);
        _exit(1);
    }
    lock_release(&lock);
    Error error = lock_take(path.text, &lock);
    for (int tries = 0; error.kind != OK && tries < 100; tries++) { // until exec has closed the descriptor
        usleep(100000);
        error = lock_take(path.text, &lock);
    }
    CHECK_OK(error);
    lock_release(&lock);
    lock_test_kill(child);
}

// A child that a killed process had begun holds its lock for as long as it is no program of its own.
TEST(lock_waits_for_a_child_of_a_killed_process)
{
    const LockPath path = lock_test_path();
    Lock lock;
    int ready[2];
    char byte;
    CHECK(pipe(ready) == 0);
    const pid_t holder = fork();
    if (holder == 0) {
        const bool taken = lock_take(path.text, &lock).kind == OK;
        if (fork() == 0) {
            if (taken && write(ready[1], "y", 1) == 1) usleep(300000);
            _exit(0);
        }
        pause();
    }
    CHECK(read(ready[0], &byte, 1) == 1 && byte == 'y');
    lock_test_kill(holder);
    CHECK_OK(lock_take(path.text, &lock));
    lock_release(&lock);
    close(ready[0]);
    close(ready[1]);
}

TEST(lock_survives_another_open_and_close_of_its_file)
{
    const LockPath path = lock_test_path();
    Lock lock, other;
    Arena arena;
    Bytes bytes;
    CHECK_OK(arena_create(&arena, 1 << 20, "a test"));
    CHECK_OK(lock_take(path.text, &lock));
    CHECK_OK(file_read(path.text, 1000, &arena, &bytes)); // a plain POSIX lock would be lost here
    CHECK_ERROR(ERROR_MACHINE, lock_take(path.text, &other));
    lock_release(&lock);
    arena_destroy(&arena);
}

#ifdef HOPSCOTCH_FAULTS
// Another process removes or renames the file as soon as this one has locked it: the lock would exclude no third
// process.
TEST(lock_whose_file_goes_away_is_not_held)
{
    const LockPath path = lock_test_path();
    Lock lock;
    system_set_faults("stat:1+:ENOENT");
    CHECK_SAYS(ERROR_MACHINE, "/lock is removed or renamed by another process: try again", lock_take(path.text, &lock));
    system_set_faults("stat:1:ENOENT");
    CHECK_INTEGER(-1, lock.descriptor);
    CHECK_OK(lock_take(path.text, &lock)); // the file disappears once only: the second attempt succeeds
    system_set_faults("");
    lock_release(&lock);
}

TEST(lock_that_failed_is_not_held)
{
    const LockPath path = lock_test_path();
    Lock lock;
    for (const char *const *rule = (const char *const[]){"open:1:EACCES", "lock:1:ENOLCK", "write:1:EIO", NULL};
         *rule != NULL; rule++) {
        system_set_faults(*rule);
        CHECK_ERROR(ERROR_MACHINE, lock_take(path.text, &lock));
        system_set_faults("");
        CHECK_INTEGER(-1, lock.descriptor);
    }
    CHECK_OK(lock_take(path.text, &lock)); // no failed attempt still holds the lock
    lock_release(&lock);
}

TEST(lock_is_held_without_a_text_on_a_full_disk)
{
    static const char *const rules[] = {"write:1+:ENOSPC", "write:1+:EDQUOT", "write:1+:EFBIG",
                                        "write:1:SHORT,write:2+:ENOSPC"};
    const LockPath path = lock_test_path();
    Lock lock, other;
    char holder[160];
    int64_t bytes = -1;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        system_set_faults(rules[i]);
        CHECK_OK(lock_take(path.text, &lock));
        system_set_faults("");
        CHECK_ERROR(ERROR_MACHINE, lock_take(path.text, &other));
        CHECK_OK(lock_holder(path.text, holder, sizeof holder));
        CHECK_TEXT("another process", holder);
        CHECK_OK(file_size(path.text, &bytes));
        CHECK_INTEGER(0, bytes); // no part of a text was written
        lock_release(&lock);
    }
}
#endif
