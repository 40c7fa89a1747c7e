#include "../../io/system.h"
#include "../test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static Arena file_test_arena(void)
{
    Arena arena;
    CHECK_OK(arena_create(&arena, 1 << 24, "a test"));
    return arena;
}

// The names in the folder, as "a b c"
static const char *file_test_names(const char *folder, Arena *arena)
{
    char **names;
    int count;
    CHECK_OK(folder_list(folder, arena, &names, &count));
    char *text = arena_copy(arena, "");
    for (int i = 0; i < count; i++) text = arena_format(arena, "%s%s%s", text, i > 0 ? " " : "", names[i]);
    return text;
}

static const char *file_test_text(const char *folder, const char *name, Arena *arena)
{
    Bytes bytes = {0};
    CHECK_OK(file_read(arena_format(arena, "%s/%s", folder, name), 1 << 20, arena, &bytes));
    return bytes.data != NULL ? (const char *)bytes.data : "";
}

TEST(file_log_with_a_name_too_long_is_refused)
{
    BoundedLog log;
    char name[sizeof log.path + 1];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const Error error = bounded_log_open(name, 1000, &log);
    CHECK_INTEGER(ERROR_MACHINE, error.kind);
    CHECK_TEXT("the name of a log is too long", error.text);
}

TEST(file_write_and_read)
{
    Arena arena = file_test_arena();
    const char *folder = arena_copy(&arena, test_folder());
    CHECK_OK(file_write(folder, "spec.yaml", "version: 1\n", 11));
    CHECK_TEXT("version: 1\n", file_test_text(folder, "spec.yaml", &arena));
    CHECK_OK(file_write(folder, "spec.yaml", "", 0)); // replaces the old content
    CHECK_TEXT("", file_test_text(folder, "spec.yaml", &arena));
    CHECK_OK(file_write(folder, "nul", "a\0b", 3));
    Bytes bytes;
    CHECK_OK(file_read(arena_format(&arena, "%s/nul", folder), 3, &arena, &bytes)); // as large as the limit
    CHECK_INTEGER(3, (int64_t)bytes.size);
    CHECK(memcmp(bytes.data, "a\0b\0", 4) == 0);
    CHECK_TEXT("nul spec.yaml", file_test_names(folder, &arena));
    arena_destroy(&arena);
}

TEST(file_read_refuses)
{
    Arena arena = file_test_arena();
    const char *folder = arena_copy(&arena, test_folder());
    Bytes bytes;
    CHECK_OK(file_write(folder, "four", "1234", 4));
    const size_t used = arena.used;
    CHECK_SAYS(ERROR_USER, "/four is larger than 3 bytes, the limit for this file",
               file_read(arena_format(&arena, "%s/four", folder), 3, &arena, &bytes));
    CHECK_ERROR(ERROR_USER, file_read("/dev/zero", 100, &arena, &bytes)); // has no end
    CHECK_ERROR(ERROR_MACHINE, file_read(folder, 100, &arena, &bytes));
    const Error error = file_read(arena_format(&arena, "%s/none", folder), 100, &arena, &bytes);
    CHECK_ERROR(ERROR_MACHINE, error);
    CHECK_TEXT(arena_format(&arena, "cannot open %s/none: No such file or directory", folder), error.text);
    CHECK(arena.used < used + 4096);                                 // the bytes that were read were given back
    CHECK_OK(file_read("/proc/self/stat", 1 << 16, &arena, &bytes)); // its size is reported as 0
    CHECK(bytes.size > 0);
    arena_destroy(&arena);
}

TEST(file_append_rename_remove)
{
    Arena arena = file_test_arena();
    const char *folder = arena_copy(&arena, test_folder());
    const char *log = arena_format(&arena, "%s/log.jsonl", folder), *moved = arena_format(&arena, "%s/q/log", folder);
    CHECK_OK(file_append_line(log, "{\"a\":1}"));
    CHECK_OK(file_append_line(log, ""));
    CHECK_OK(file_append_line(log, "{}"));
    CHECK_TEXT("{\"a\":1}\n\n{}\n", file_test_text(folder, "log.jsonl", &arena));
    int64_t bytes = 0;
    CHECK_OK(file_size(log, &bytes));
    CHECK_INTEGER(12, bytes);
    CHECK_OK(folder_make(arena_format(&arena, "%s/q", folder)));
    CHECK_OK(file_rename(log, moved));
    CHECK(!file_exists(log) && file_exists(moved));
    CHECK_OK(file_remove(moved));
    CHECK_ERROR(ERROR_MACHINE, file_remove(moved));
    CHECK_ERROR(ERROR_MACHINE, file_size(moved, &bytes));
    CHECK_ERROR(ERROR_MACHINE, file_rename(log, moved));
    arena_destroy(&arena);
}

// A campaign's folder can come from another person: a link in place of a folder leads out of the campaign.
TEST(folder_inside_is_a_folder)
{
    Arena arena = file_test_arena();
    const char *folder = arena_copy(&arena, test_folder());
    const char *link = arena_format(&arena, "%s/link", folder), *file = arena_format(&arena, "%s/file", folder);
    CHECK_OK(folder_check_inside(folder));
    CHECK_OK(folder_check_inside(link)); // the link does not exist yet
    CHECK(symlink(folder, link) == 0);
    CHECK_SAYS(ERROR_MACHINE, "/link is a link, not a folder: look at it, and move it away", folder_check_inside(link));
    CHECK_OK(file_write(folder, "file", "", 0));
    CHECK_SAYS(ERROR_MACHINE, "/file is a ", folder_check_inside(file));
    arena_destroy(&arena);
}

TEST(folder_remove_leaves_what_links_lead_to)
{
    Arena arena;
    int64_t bytes = 0;
    CHECK_OK(arena_create(&arena, 1 << 20, "a test"));
    const char *root = arena_copy(&arena, test_folder());
    const char *folder = arena_format(&arena, "%s/folder", root), *other = arena_format(&arena, "%s/other", root);
    const char *large = arena_format(&arena, "%s/large", other);
    char *data = ARENA_NEW(&arena, char, 100000);
    CHECK_OK(folder_make(arena_format(&arena, "%s/below", folder)));
    CHECK_OK(folder_make(other));
    CHECK_OK(file_write(other, "large", data, 100000));
    CHECK(symlink(other, arena_format(&arena, "%s/below/way", folder)) == 0);
    CHECK(symlink(large, arena_format(&arena, "%s/link", folder)) == 0);
    CHECK_OK(folder_bytes(folder, &bytes));
    CHECK(bytes < 100000);
    CHECK_OK(folder_remove(folder, &arena));
    CHECK(file_missing(folder) && file_exists(large));
    arena_destroy(&arena);
}

TEST(folder_make_and_list)
{
    Arena arena = file_test_arena();
    const char *folder = arena_copy(&arena, test_folder());
    CHECK_OK(folder_make(arena_format(&arena, "%s/a//b/c/", folder)));
    CHECK_OK(folder_make(arena_format(&arena, "%s/a/b", folder))); // the folder exists
    CHECK_OK(file_write(folder, "file", "", 0));
    const Error error = folder_make(arena_format(&arena, "%s/file", folder));
    CHECK_ERROR(ERROR_MACHINE, error);
    CHECK(strstr(error.text, "a file of that name") != NULL);
    CHECK_ERROR(ERROR_MACHINE, folder_make(arena_format(&arena, "%s/file/below", folder)));
    for (const char *const *name = (const char *const[]){"z", "\xc3\xa9", "B", "10", "9", NULL}; *name != NULL; name++)
        CHECK_OK(file_write(folder, *name, "", 0));
    CHECK_TEXT("10 9 B a file z \xc3\xa9", file_test_names(folder, &arena)); // sorted by bytes
    CHECK_TEXT("", file_test_names(arena_format(&arena, "%s/a/b/c", folder), &arena));
    char **names;
    int count;
    CHECK_ERROR(ERROR_MACHINE, folder_list(arena_format(&arena, "%s/none", folder), &arena, &names, &count));
    arena_destroy(&arena);
}

TEST(folder_make_relative)
{
    Arena arena = file_test_arena();
    const char *folder = arena_copy(&arena, test_folder());
    char here[4096];
    CHECK(getcwd(here, sizeof here) != NULL && chdir(folder) == 0);
    CHECK_OK(folder_make("results/one"));
    CHECK_OK(file_write(".", "plain", "x", 1));
    CHECK_OK(file_rename("plain", "results/one/plain"));
    CHECK(chdir(here) == 0);
    CHECK_TEXT("plain", file_test_names(arena_format(&arena, "%s/results/one", folder), &arena));
    arena_destroy(&arena);
}

TEST(disks)
{
    Arena arena = file_test_arena();
    const char *folder = arena_copy(&arena, test_folder());
    int64_t here = 0, below = 0;
    CHECK_OK(disk_free(folder, &here));
    CHECK_OK(disk_free(arena_format(&arena, "%s/not/yet/made", folder), &below)); // the disk where the folder will lie
    CHECK(here > 0 && below > 0);
    CHECK_TEXT("", network_file_system("/proc"));
    arena_destroy(&arena);
}

TEST(file_long_paths_keep_their_end)
{
    char path[3000];
    memset(path, 'x', sizeof path);
    memcpy(path + sizeof path - 9, "/the.end", 9);
    Arena arena = file_test_arena();
    Bytes bytes;
    const Error error = file_read(path, 10, &arena, &bytes);
    CHECK(strstr(error.text, "/the.end: File name too long; choose a shorter name") != NULL);
    CHECK_ERROR(ERROR_MACHINE, folder_make(path));
    CHECK_ERROR(ERROR_MACHINE, file_write(path, path, "", 0));
    arena_destroy(&arena);
}

#ifdef HOPSCOTCH_FAULTS

// After each fault: the old content is whole, no temporary file is left, and the message names the operation.
static const struct {
    const char *rules, *words;
} file_test_faults[] = {
    {"open:1:EMFILE", "ulimit -n"},        {"open:1:EACCES", "cannot create"},
    {"write:1:ENOSPC", "20 bytes wanted"}, {"write:1:SHORT,write:2:EIO", "cannot write"},
    {"write:1:EDQUOT", "quota"},           {"fsync:1:EIO", "cannot sync"},
    {"close:1:EIO", "cannot close"},       {"rename:1:EIO", "cannot rename"},
};

TEST(file_write_leaves_the_old_content_when_it_fails)
{
    Arena arena = file_test_arena();
    const char *folder = arena_copy(&arena, test_folder());
    CHECK_OK(file_write(folder, "kept", "old", 3));
    for (size_t i = 0; i < sizeof file_test_faults / sizeof *file_test_faults; i++) {
        system_set_faults(file_test_faults[i].rules);
        const Error error = file_write(folder, "kept", "twenty bytes of text", 20);
        system_set_faults("");
        CHECK_ERROR(ERROR_MACHINE, error);
        CHECK(strstr(error.text, file_test_faults[i].words) != NULL);
        CHECK(strstr(error.text, "kept") != NULL);
        CHECK_TEXT("old", file_test_text(folder, "kept", &arena));
        CHECK_TEXT("kept", file_test_names(folder, &arena));
    }
    arena_destroy(&arena);
}

// Each operation fails before it changes anything, and its message says what it did on which file.
TEST(file_operations_that_fail_name_the_operation)
{
    Arena arena = file_test_arena();
    const char *folder = arena_copy(&arena, test_folder());
    const char *below = arena_format(&arena, "%s/a/b", folder), *log = arena_format(&arena, "%s/log", folder);
    char **names;
    int count;
    system_set_faults("mkdir:2:ENOSPC");
    CHECK_SAYS(ERROR_MACHINE, arena_format(&arena, "cannot make folder %s: ", below), folder_make(below));
    system_set_faults("list:1:EMFILE");
    CHECK_SAYS(ERROR_MACHINE, arena_format(&arena, "cannot list folder %s: ", folder),
               folder_list(folder, &arena, &names, &count));
    system_set_faults("write:1:EIO");
    CHECK_SAYS(ERROR_MACHINE, arena_format(&arena, "cannot append to %s: ", log), file_append_line(log, "a line"));
    system_set_faults("");
    arena_destroy(&arena);
}

// The rename is done, but it may not survive a power cut: that is an error too.
TEST(file_write_reports_that_the_folder_was_not_synced)
{
    Arena arena = file_test_arena();
    const char *folder = arena_copy(&arena, test_folder());
    system_set_faults("fsync:2:EIO");
    const Error error = file_write(folder, "name", "x", 1);
    system_set_faults("");
    CHECK(strstr(error.text, "cannot sync folder") != NULL);
    system_set_faults("open:2:EMFILE");
    CHECK_SAYS(ERROR_MACHINE, "cannot open folder", file_write(folder, "other", "data", 4));
    system_set_faults("");
    arena_destroy(&arena);
}

TEST(file_operations_survive_interruptions_and_short_writes)
{
    Arena arena = file_test_arena();
    const char *folder = arena_copy(&arena, test_folder());
    system_set_faults(
        "open:1:EINTR,write:1:EINTR,write:2:SHORT,write:3:SHORT,fsync:1:EINTR,fsync:3:EINTR,close:1:EINTR");
    CHECK_OK(file_write(folder, "a", "twenty bytes of text", 20));
    system_set_faults("read:1:EINTR,read:2:SHORT,read:3:SHORT");
    CHECK_TEXT("twenty bytes of text", file_test_text(folder, "a", &arena));
    system_set_faults("write:1:SHORT,write:2:EINTR");
    CHECK_OK(file_append_line(arena_format(&arena, "%s/log", folder), "a line"));
    system_set_faults("");
    CHECK_TEXT("a line\n", file_test_text(folder, "log", &arena));
    arena_destroy(&arena);
}

TEST(file_fsync_that_failed_is_not_tried_again)
{
    const char *folder = test_folder();
    system_set_faults("fsync:1:EIO");
    CHECK_ERROR(ERROR_MACHINE, file_write(folder, "a", "x", 1));
    system_set_faults("");
}

// Killed at each operation of a replacement, which stands for a power cut: the file is the old or the new one.
TEST(file_write_killed_anywhere_is_old_or_new)
{
    static const char *const points[] = {"open:1",  "write:1",  "write:2", "fsync:1",
                                         "close:1", "rename:1", "open:2",  "fsync:2"};
    Arena arena = file_test_arena();
    const char *folder = arena_copy(&arena, test_folder());
    int fresh = 0;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        CHECK_OK(file_write(folder, "a", "old", 3));
        const pid_t child = fork();
        if (child == 0) {
            system_set_faults(arena_format(&arena, "%s:KILL%s", points[i], i == 2 ? ",write:1:SHORT" : ""));
            (void)file_write(folder, "a", "new", 3);
            _exit(0);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        const char *text = file_test_text(folder, "a", &arena);
        fresh += strcmp(text, "new") == 0;
        CHECK(strcmp(text, "old") == 0 || strcmp(text, "new") == 0);
    }
    CHECK_INTEGER(2, fresh); // killed after the rename: the new file is there
    arena_destroy(&arena);
}

#endif
