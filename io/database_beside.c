// Checks the files beside a database before it is opened, because SQLite trusts them.
#include "database_connection.h"
#include "folder.h"
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// Reads the first or the last bytes of a file, at most `size`.
static Error database_read_bytes(const char *path, bool last, unsigned char *data, int size, int64_t *bytes)
{
    struct stat status = {.st_size = 0};
    memset(data, 0, (size_t)size);
    *bytes = 0;
    int descriptor;
    if (file_missing(path)) return error_none();
    TRY(file_open_regular(path, O_RDONLY, "open", &descriptor));
    bool ok = fstat(descriptor, &status) == 0;
    const off_t at = last && status.st_size > size ? status.st_size - size : 0;
    ok = ok && lseek(descriptor, at, SEEK_SET) >= 0 && system_read(descriptor, data, (size_t)size) >= 0;
    const Error error = ok ? error_none() : file_error("read", path, 0);
    (void)system_close(descriptor);
    *bytes = status.st_size;
    return error;
}

// SQLite plays a rollback journal back when it opens the database. If the journal names a super-journal, SQLite then
// deletes the file of that name, wherever it is. Our journals never name one, because no transaction of ours spans two
// databases. A database in WAL mode has no journal, except while it is created, when it has one page. (SQLite's file
// format, 3: a journal that names a super-journal ends with the journal's magic number; 1.3: bytes 16 to 19 of a
// database are its page size and its versions, 2 for WAL.)
static Error database_check_journal(const char *path, const char *journal)
{
    enum { DATABASE_HEADER = 20, DATABASE_WAL = 2 };
    static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    unsigned char header[DATABASE_HEADER], end[sizeof magic];
    int64_t bytes = 0, journal_bytes = 0;
    TRY(database_read_bytes(journal, true, end, sizeof end, &journal_bytes));
    if (journal_bytes == 0) return error_none();
    TRY(database_read_bytes(path, false, header, sizeof header, &bytes));
    const int page = header[16] << 8 | header[17];
    const bool wal = header[18] == DATABASE_WAL && bytes > (page == 1 ? 65536 : page);
    if (!wal && memcmp(end, magic, sizeof magic) != 0) return error_none();
    return error_make(ERROR_MACHINE,
                      "%s was not written by hopscotch; applying this journal could change or delete other files: "
                      "look at it, and move it away",
                      path_text(journal).text);
}

Error database_check_files(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    Arena arena;
    TRY(arena_create(&arena, 1 << 16, "a database's path"));
    Error error = error_none();
    for (size_t i = 0; error.kind == OK && i < sizeof endings / sizeof *endings; i++)
        error = file_check_regular(arena_format(&arena, "%s%s", path, endings[i]));
    if (error.kind == OK) error = database_check_journal(path, arena_format(&arena, "%s-journal", path));
    arena_destroy(&arena);
    return error;
}

// ---- whether there is room for more ---------------------------------------------------------------------------------

// A database in WAL mode can be read only if its -shm file exists or can be created. If the folder is read-only, it
// can't be created, and no process writes to the database.
bool database_is_frozen(const char *path, Arena *arena)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? arena_copy(arena, ".") : arena_copy(arena, path);
    if (slash != NULL) folder[slash == path ? 1 : slash - path] = '\0';
    return nofollow_access(folder, W_OK, AT_EACCESS) != 0;
}

// SQLite makes the -shm file with 32 KiB.
bool database_lacks_room(const char *path, Arena *arena)
{
    enum { DATABASE_SHARED_BYTES = 32 << 10 };
    struct rlimit limit;
    int64_t bytes = 0, free_bytes = 0;
    const char *shared = arena_format(arena, "%s-shm", path);
    if (file_exists(shared) && file_size(shared, &bytes).kind == OK && bytes >= DATABASE_SHARED_BYTES) return false;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < DATABASE_SHARED_BYTES) return true;
    return disk_free(path, &free_bytes).kind == OK && free_bytes < DATABASE_SHARED_BYTES;
}

// A WAL that is missing or empty can't always be created.
bool database_has_wal(const char *path, Arena *arena)
{
    int64_t bytes = 0;
    const char *wal = arena_format(arena, "%s-wal", path);
    return !file_missing(wal) && (file_size(wal, &bytes).kind != OK || bytes > 0);
}
