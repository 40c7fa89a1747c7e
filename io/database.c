// SQLite: the only file that calls it. A connection and its statements belong to one thread at a time.
#include "seam.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { DATABASE_VALUE_MAX = 64 << 20, DATABASE_BUSY_MILLISECONDS = 10000 };

struct Database {
    sqlite3 *handle;
    DatabaseMode mode;
    char *path;
    dev_t device; // of the file, when it was opened
    ino_t inode;
    int lock; // descriptor of a lock that SQLite does not take; -1: there is none
};

struct Statement {
    Database *database;
    sqlite3_stmt *handle;
    int bound;       // the first error of bind_*, or SQLITE_OK
    uint64_t digest; // of the values bound so far
    int *texts;      // [n_texts] columns that may hold a text; NULL: not known yet
    int n_texts, n_columns;
};

// ---- errors ---------------------------------------------------------------------------------------------------------

static const struct {
    int code; // primary result code
    ErrorKind kind;
    const char *advice;
} database_advice[] = {
    {SQLITE_FULL, ERROR_MACHINE,
     "the disk is full, or your quota: free some space, then resume; what was committed is safe"},
    {SQLITE_IOERR, ERROR_MACHINE, "the disk failed: look at dmesg before you resume; what was committed is safe"},
    {SQLITE_BUSY, ERROR_MACHINE, "another process kept it locked for 10 s: close that program and try again"},
    {SQLITE_LOCKED, ERROR_MACHINE, "another statement of this program has it locked"},
    {SQLITE_NOTADB, ERROR_USER, "it is no SQLite database"},
    {SQLITE_CORRUPT, ERROR_MACHINE, "the file is damaged: restore a copy, or move it away"},
    {SQLITE_READONLY, ERROR_MACHINE, "it can't be written: check the permissions of the file and of its folder"},
    {SQLITE_CANTOPEN, ERROR_MACHINE, "check that the file is there, and the permissions of its folder"},
    {SQLITE_PERM, ERROR_MACHINE, "check the permissions of the file and of its folder"},
    {SQLITE_NOMEM, ERROR_MACHINE, "there is not enough memory"},
    {SQLITE_PROTOCOL, ERROR_MACHINE, "its lock is contended, or its disk's locks do not work: try again, or move it"},
};

// The errno of the last call that failed on the database or on its journal; 0: none did.
static int database_file_errno(const Database *database, int which)
{
    sqlite3_file *file = NULL;
    int reason = 0;
    sqlite3_file_control(database->handle, "main", which, &file);
    if (file != NULL && file->pMethods != NULL) file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &reason);
    return reason;
}

// Why no more could be written, as an errno: a used-up quota, a limit on files, or no room for its shared memory are
// I/O errors to SQLite. 0: another reason.
static int database_no_room(const Database *database, int code)
{
    const int primary = code & 0xff;
    if (primary == SQLITE_FULL) return ENOSPC;
    if (primary != SQLITE_IOERR || database->handle == NULL) return 0;
    const int reasons[] = {sqlite3_system_errno(database->handle),
                           database_file_errno(database, SQLITE_FCNTL_FILE_POINTER),
                           database_file_errno(database, SQLITE_FCNTL_JOURNAL_POINTER)};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (file_no_room(reasons[i])) return reasons[i];
    }
    return 0;
}

// The primary result code, and that of the kind of error that SQLite only calls an I/O error
static int database_reason(const Database *database, int code)
{
    const int primary = code & 0xff;
    if (primary != SQLITE_IOERR || database->handle == NULL) return primary;
    if (sqlite3_system_errno(database->handle) == ENOMEM) return SQLITE_NOMEM; // its journal could not be mapped
    return database_no_room(database, code) != 0 ? SQLITE_FULL : primary;
}

static Error database_error(const Database *database, int code, const char *doing)
{
    const int primary = database_reason(database, code);
    const char *words = sqlite3_errstr(code);
    if (database->handle != NULL && sqlite3_extended_errcode(database->handle) == code)
        words = sqlite3_errmsg(database->handle);
    ErrorKind kind = ERROR_MACHINE;
    const char *advice = "";
    const int no_room = database_no_room(database, code);
    const FileAdvice limit = file_advice_for(no_room);
    for (size_t i = 0; i < sizeof database_advice / sizeof *database_advice; i++) {
        if (database_advice[i].code != primary) continue;
        kind = database_advice[i].kind;
        advice = database_advice[i].advice;
    }
    char space[48] = "";
    int64_t bytes;
    if (no_room == EFBIG)
        advice = limit.text;
    else if (primary == SQLITE_FULL && disk_free(database->path, &bytes).kind == OK)
        snprintf(space, sizeof space, ", %lld bytes free", (long long)bytes);
    return error_make(kind, "%s: cannot %.80s: %.120s (SQLite %d%s)%s%s", path_text(database->path).text, doing, words,
                      code, space, advice[0] != '\0' ? "; " : "", advice);
}

// In a build with faults, what SQLite is made to answer: the errno of the rule "sql:n:errno", as SQLite would see it.
static int database_fault(void)
{
    static const struct {
        int reason, code;
    } codes[] = {{ENOSPC, SQLITE_FULL}, {EIO, SQLITE_IOERR_WRITE}, {EBUSY, SQLITE_BUSY}, {ENOMEM, SQLITE_NOMEM}};
    const int fault = seam_fault("sql");
    if (fault == 0) return SQLITE_OK;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (codes[i].reason == fault) return codes[i].code;
    }
    return SQLITE_IOERR;
}

// SQLite's opens: of regular files, and never through a link, whatever was put in the place of a database or of the
// files beside it. (It opens folders to sync them, and /dev/urandom once.)
static int database_open_file(const char *path, int flags, int mode)
{
    struct stat status;
    int descriptor = inside_open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, (mode_t)mode);
    const bool link = descriptor < 0 && errno == ELOOP; // a folder may lie behind one, but below no results root
    if (link && !inside_holds(path)) descriptor = inside_open(path, O_RDONLY | O_DIRECTORY, 0);
    if (descriptor < 0) return -1;
    const bool known = fstat(descriptor, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
    if (known || strcmp(path, "/dev/urandom") == 0) return descriptor;
    (void)close(descriptor);
    errno = ENXIO;
    return -1;
}

// SQLite's own writes, as the operation "sqlwrite": how a disk fails in the middle of a commit.
#ifdef HOPSCOTCH_FAULTS
static ssize_t database_write_at(int descriptor, const void *data, size_t size, off64_t offset)
{
    const int fault = seam_fault("sqlwrite");
    if (fault > 0) {
        errno = fault;
        return -1;
    }
    return pwrite64(descriptor, data, fault == SEAM_SHORT ? (size + 1) / 2 : size, offset);
}

static void database_watch_writes(sqlite3_vfs *vfs)
{
    vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)database_write_at);
    vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)database_write_at);
}
#else
static inline void database_watch_writes(sqlite3_vfs *vfs) { (void)vfs; }
#endif

static int database_access_file(const char *path, int mode) { return inside_access(path, mode, 0); }

// SQLite would follow links to find a database's one name. The path as it is given serves as well, and is the one by
// which it is known that the file lies below a results root.
static int database_full_path(sqlite3_vfs *vfs, const char *path, int size, char *out)
{
    (void)vfs;
    return snprintf(out, (size_t)size, "%s", path) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

// SQLite's own file system, whose calls that name a file are ours. NULL: SQLite has not even the memory to begin, as
// opening will say.
static const char *database_file_system(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static sqlite3_vfs ours;
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    if (vfs == NULL) return NULL;
    pthread_mutex_lock(&lock);
    if (ours.zName == NULL) {
        ours = *vfs;
        ours.zName = "hopscotch";
        ours.xFullPathname = database_full_path;
        vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)database_open_file);
        vfs->xSetSystemCall(vfs, "access", (sqlite3_syscall_ptr)database_access_file);
        vfs->xSetSystemCall(vfs, "stat", (sqlite3_syscall_ptr)inside_stat);
        vfs->xSetSystemCall(vfs, "lstat", (sqlite3_syscall_ptr)inside_link_stat);
        vfs->xSetSystemCall(vfs, "unlink", (sqlite3_syscall_ptr)inside_unlink);
        database_watch_writes(vfs);
        sqlite3_vfs_register(&ours, 0);
    }
    pthread_mutex_unlock(&lock);
    return ours.zName;
}

static int database_add_functions(sqlite3 *handle);

// ---- opening and closing --------------------------------------------------------------------------------------------

// Every commit is on the disk when COMMIT returns (synchronous FULL). The WAL is copied into the database each 64 MiB
// rather than each 4, so that a page which several transactions touch is copied once. A row that INSERT OR REPLACE
// deletes sets off the triggers of a deletion (recursive_triggers). No function that a damaged or
// foreign schema names is called (trusted_schema).
static const char database_settings_write[] = "PRAGMA synchronous = FULL;"
                                              "PRAGMA foreign_keys = ON;"
                                              "PRAGMA wal_autocheckpoint = 16384;"
                                              "PRAGMA cache_size = -32768;"
                                              "PRAGMA recursive_triggers = ON;"
                                              "PRAGMA trusted_schema = OFF;";
// On a network file system, where shared memory between hosts cannot be: one host has the file for itself.
static const char database_settings_shared[] = "PRAGMA locking_mode = EXCLUSIVE;"
                                               "PRAGMA synchronous = EXTRA;"
                                               "PRAGMA foreign_keys = ON;"
                                               "PRAGMA cache_size = -32768;"
                                               "PRAGMA recursive_triggers = ON;"
                                               "PRAGMA trusted_schema = OFF;";
static const char database_settings_read[] = "PRAGMA trusted_schema = OFF;"
                                             "PRAGMA cache_size = -32768;";

typedef struct DatabaseAnswer {
    char text[16];
} DatabaseAnswer;

static int database_take_answer(void *answer, int columns, char **values, char **names)
{
    (void)names;
    if (columns > 0 && values[0] != NULL)
        snprintf(((DatabaseAnswer *)answer)->text, sizeof(DatabaseAnswer), "%s", values[0]);
    return 0;
}

// Statements that belong to opening; *answer (may be NULL): the first column of the last row.
static Error database_set_up(Database *database, const char *sql, DatabaseAnswer *answer)
{
    int code = database_fault();
    if (code == SQLITE_OK)
        code = sqlite3_exec(database->handle, sql, answer != NULL ? database_take_answer : NULL, answer, NULL);
    return code == SQLITE_OK ? error_none() : database_error(database, code, "open it");
}

// journal_mode answers with the mode that it is in afterwards.
static Error database_journal_mode(Database *database, const char *sql, const char *mode)
{
    DatabaseAnswer answer = {""};
    TRY(database_set_up(database, sql, &answer));
    if (strcmp(answer.text, mode) == 0) return error_none();
    return error_make(ERROR_MACHINE, "%s: its journal can't be set to %s here: put the results on a local disk",
                      path_text(database->path).text, mode);
}

// file:PATH?immutable=1 with what an URI reserves escaped (RFC 3986, 2.1)
static const char *database_immutable_uri(const char *path, Arena *arena)
{
    char *uri = ARENA_NEW(arena, char, 3 * strlen(path) + 32), *at = uri;
    at += sprintf(at, path[0] == '/' ? "file://" : "file:");
    for (const char *c = path; *c != '\0'; c++) {
        if (strchr("%?#", *c) != NULL)
            at += sprintf(at, "%%%02X", (unsigned)(unsigned char)*c);
        else
            *at++ = *c;
    }
    strcpy(at, "?immutable=1");
    return uri;
}

// Against a file that was made to do harm: nothing in its schema runs (our triggers are temporary ones, which this does
// not touch), and no value of it fills the memory.
static void database_defend(sqlite3 *handle)
{
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, DATABASE_VALUE_MAX);
}

// SQLite counts every byte that it takes, behind a lock, unless it is told before its first use that nobody asks: a
// tenth of what a row costs.
// A path is a path: one that begins with "file:" is no URI, unless the call says that it is one.
static void database_configure(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_config(SQLITE_CONFIG_URI, 0);
}

static Error database_connect(Database *database, const char *name, int flags)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int code = database_fault();
    pthread_once(&once, database_configure);
    flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    const char *file_system = database_file_system();
    if (code == SQLITE_OK && file_system == NULL) code = SQLITE_NOMEM;
    if (code == SQLITE_OK) code = sqlite3_open_v2(name, &database->handle, flags, file_system);
    if (code == SQLITE_OK) code = database_add_functions(database->handle);
    if (code != SQLITE_OK) return database_error(database, code, "open it");
    sqlite3_busy_timeout(database->handle, DATABASE_BUSY_MILLISECONDS);
    database_defend(database->handle);
    sqlite3_db_config(database->handle, SQLITE_DBCONFIG_DQS_DML, 0, (int *)NULL); // "no_such_column" is no text
    return error_none();
}

static Error database_start_writer(Database *database)
{
    const bool shared = database->mode == DATABASE_WRITE_SHARED;
    TRY(database_connect(database, database->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
    TRY(database_set_up(database, shared ? database_settings_shared : database_settings_write, NULL));
    return shared ? database_journal_mode(database, "PRAGMA journal_mode = TRUNCATE", "truncate")
                  : database_journal_mode(database, "PRAGMA journal_mode = WAL", "wal");
}

// Reads the header and the schema, so that what is wrong with the file is found here.
static Error database_probe(Database *database)
{
    TRY(database_set_up(database, database_settings_read, NULL));
    return database_set_up(database, "SELECT count(*) FROM sqlite_schema", NULL);
}

// A database in WAL mode can be read only where its -shm file is or can be made. Where neither is so because the folder
// is read-only, nobody writes to it.
static bool database_is_frozen(const char *path, Arena *arena)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? arena_copy(arena, ".") : arena_copy(arena, path);
    if (slash != NULL) folder[slash == path ? 1 : slash - path] = '\0';
    return inside_access(folder, W_OK, AT_EACCESS) != 0;
}

static Error database_reconnect(Database *database, const char *name, int flags)
{
    sqlite3_close_v2(database->handle);
    database->handle = NULL;
    return database_connect(database, name, flags);
}

// Whether its -shm file is to be made and the disk has no room for it (SQLite makes it of 32 KiB).
static bool database_lacks_room(const char *path, Arena *arena)
{
    enum { DATABASE_SHARED_BYTES = 32 << 10 };
    struct rlimit limit;
    int64_t bytes = 0, free_bytes = 0;
    const char *shared = arena_format(arena, "%s-shm", path);
    if (file_exists(shared) && file_size(shared, &bytes).kind == OK && bytes >= DATABASE_SHARED_BYTES) return false;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < DATABASE_SHARED_BYTES) return true;
    return disk_free(path, &free_bytes).kind == OK && free_bytes < DATABASE_SHARED_BYTES;
}

// Where there is no -shm file and can be none, a connection that has the database for itself keeps in its own memory
// what would be there (SQLite's locking mode EXCLUSIVE, which must be set before the first reading). The lock that it
// wants is taken here: on a descriptor of our own, for SQLite has none that is locked for several connections of one
// process, as POSIX's locks are; and not at all if the file can only be read.

static Error database_lock(Database *database)
{
    enum { DATABASE_LOCK_MILLISECONDS = 10 };
    short found;
    database->lock = seam_open(database->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (database->lock < 0) return error_none();
    for (int waited = 0; seam_lock(database->lock, F_SETLK, F_WRLCK, &found) < 0;
         waited += DATABASE_LOCK_MILLISECONDS) {
        if (errno != EAGAIN && errno != EACCES && errno != EINTR) return file_error("lock", database->path, 0);
        if (waited >= DATABASE_BUSY_MILLISECONDS) return database_error(database, SQLITE_BUSY, "open it");
        nanosleep(&(struct timespec){.tv_nsec = DATABASE_LOCK_MILLISECONDS * 1000000L}, NULL);
    }
    return error_none();
}

static int database_lock_nothing(sqlite3_file *file, int level)
{
    (void)file;
    (void)level;
    return SQLITE_OK;
}

// SQLite locks its file no more.
static void database_leave_locks(Database *database)
{
    static sqlite3_io_methods methods; // the same for all
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    sqlite3_file *file = NULL;
    sqlite3_file_control(database->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (file == NULL || file->pMethods == NULL) return;
    pthread_mutex_lock(&mutex);
    if (methods.iVersion == 0) methods = *file->pMethods;
    methods.xLock = methods.xUnlock = database_lock_nothing;
    pthread_mutex_unlock(&mutex);
    file->pMethods = &methods;
}

// Nothing is written: what the WAL holds stays there.
static Error database_start_alone(Database *database)
{
    TRY(database_lock(database));
    TRY(database_reconnect(database, database->path, SQLITE_OPEN_READWRITE)); // or, where it can't be written, to read
    database_leave_locks(database);
    sqlite3_db_config(database->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
    TRY(database_set_up(database, "PRAGMA locking_mode = EXCLUSIVE", NULL));
    return database_probe(database);
}

// Nobody writes to it and it is whole in its one file.
static Error database_start_frozen(Database *database, Arena *arena)
{
    TRY(database_reconnect(database, database_immutable_uri(database->path, arena),
                           SQLITE_OPEN_READONLY | SQLITE_OPEN_URI));
    return database_probe(database);
}

// A WAL that is not there, or empty, can't always be made.
static bool database_has_wal(const char *path, Arena *arena)
{
    int64_t bytes = 0;
    const char *wal = arena_format(arena, "%s-wal", path);
    return !file_missing(wal) && (file_size(wal, &bytes).kind != OK || bytes > 0);
}

static Error database_start_somehow(Database *database, Arena *arena)
{
    const bool lacks_room = database_lacks_room(database->path, arena);
    Error error = error_none();
    TRY(database_connect(database, database->path, SQLITE_OPEN_READONLY));
    if (!lacks_room) error = database_probe(database);
    if (!lacks_room && error.kind == OK) return error;
    const int code = sqlite3_extended_errcode(database->handle), primary = code & 0xff;
    const bool full = lacks_room || database_no_room(database, code) != 0;
    const bool frozen =
        (full || primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY) && database_is_frozen(database->path, arena);
    if (frozen && !database_has_wal(database->path, arena)) return database_start_frozen(database, arena);
    return frozen || full ? database_start_alone(database) : error;
}

static Error database_start_reader(Database *database)
{
    Arena arena;
    TRY(arena_create(&arena, 1 << 16, "a database's path"));
    const Error error = database_start_somehow(database, &arena);
    arena_destroy(&arena);
    return error;
}

static void database_free(Database *database)
{
    sqlite3_close_v2(database->handle);
    if (database->lock >= 0) (void)seam_close(database->lock);
    free(database->path);
    free(database);
}

// ---- what lies beside a database ------------------------------------------------------------------------------------

// The first or the last bytes of a file, as many as there are.
static Error database_read_bytes(const char *path, bool last, unsigned char *data, int size, int64_t *bytes)
{
    struct stat status = {.st_size = 0};
    memset(data, 0, (size_t)size);
    *bytes = 0;
    int descriptor;
    if (file_missing(path)) return error_none();
    TRY(file_open_regular(path, O_RDONLY, "open", &descriptor));
    bool good = fstat(descriptor, &status) == 0;
    const off_t at = last && status.st_size > size ? status.st_size - size : 0;
    good = good && lseek(descriptor, at, SEEK_SET) >= 0 && seam_read(descriptor, data, (size_t)size) >= 0;
    const Error error = good ? error_none() : file_error("read", path, 0);
    (void)seam_close(descriptor);
    *bytes = status.st_size;
    return error;
}

// A rollback journal is played back when its database is opened, and one that names a super-journal has SQLite delete
// the file of that name, wherever it lies. Ours never name one, as no transaction of ours spans two databases. A
// database in WAL mode has no journal at all, but for the moment of its creation, when it has one page. (SQLite's file
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
                      "%s is not a journal of ours, and playing it back could change or delete other files: look at "
                      "it, and move it away",
                      path_text(journal).text);
}

static Error database_check_files(const char *path)
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

const char *database_path(const Database *database) { return database->path; }

// Of a database that is written: that its path still names it.
Error database_check_place(const Database *database)
{
    struct stat status;
    const bool there = seam_link_stat(database->path, &status) == 0;
    if (there && status.st_dev == database->device && status.st_ino == database->inode) return error_none();
    return error_make(ERROR_MACHINE,
                      "%s was %s while it was written: what was committed before is in the file that was there",
                      path_text(database->path).text, there ? "replaced by another file" : "moved away");
}

static void database_note_place(Database *database)
{
    struct stat status;
    if (seam_link_stat(database->path, &status) != 0) return; // which database_check_place will say
    database->device = status.st_dev;
    database->inode = status.st_ino;
}

// The file that was there before it was opened, or a new one, and none that was put there meanwhile.
static Error database_start(Database *database)
{
    database_note_place(database);
    const bool there = database->inode != 0;
    TRY(database->mode == DATABASE_READ ? database_start_reader(database) : database_start_writer(database));
    if (there && database_check_place(database).kind != OK)
        return error_make(ERROR_MACHINE, "%s was replaced or moved by another process just now: try again",
                          path_text(database->path).text);
    if (!there) database_note_place(database);
    return error_none();
}

Error database_open(const char *path, DatabaseMode mode, Database **out)
{
    *out = NULL;
    TRY(database_check_files(path));
    Database *database = calloc(1, sizeof *database);
    if (database != NULL) database->path = strdup(path);
    if (database == NULL || database->path == NULL) {
        free(database);
        return error_make(ERROR_MACHINE, "%s: cannot open it: there is not enough memory", path_text(path).text);
    }
    database->mode = mode;
    database->lock = -1;
    const Error error = database_start(database);
    if (error.kind != OK) {
        database_free(database);
        return error;
    }
    *out = database;
    return error;
}

// The writer's last act is to copy the WAL into the database, so that a finished campaign is one file that opens
// anywhere. A reader that still looks at the WAL is no reason to wait or to fail, nor is a full disk: what was
// committed stays in the WAL.
static Error database_checkpoint(Database *database)
{
    int code = database_fault();
    sqlite3_busy_timeout(database->handle, 0);
    if (code == SQLITE_OK)
        code = sqlite3_wal_checkpoint_v2(database->handle, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    const int primary = code & 0xff;
    if (code == SQLITE_OK || primary == SQLITE_BUSY || primary == SQLITE_LOCKED) return error_none();
    if (database_no_room(database, code) != 0) return error_none();
    return database_error(database, code, "copy its journal into it");
}

Error database_close(Database *database)
{
    if (database == NULL) return error_none();
    Error error = database->mode == DATABASE_WRITE ? database_checkpoint(database) : error_none();
    const bool closed = sqlite3_close(database->handle) == SQLITE_OK;
    if (closed) database->handle = NULL;
    if (!closed && error.kind == OK)
        error = error_make(ERROR_MACHINE, "%s: bug: closed before its statements", path_text(database->path).text);
    database_free(database);
    return error;
}

// ---- statements -----------------------------------------------------------------------------------------------------

// "run INSERT INTO ..." for messages: the statement's beginning, in one line
static Error database_statement_error(const Database *database, int code, const char *sql)
{
    char doing[72];
    snprintf(doing, sizeof doing, "run %.60s", sql != NULL ? sql : "a statement");
    for (char *c = doing; *c != '\0'; c++) {
        if (*c == '\n') *c = ' ';
    }
    return database_error(database, code, doing);
}

Error database_run(Database *database, const char *sql)
{
    int code = database_fault();
    if (code == SQLITE_OK) code = sqlite3_exec(database->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? error_none() : database_statement_error(database, code, sql);
}

// SQLite sorts an index in runs as large as its cache, each by merging linked lists: runs that stay in the processor's
// own cache take half of the time of those of 32 MiB (tests/bench/NOTES.md).
Error database_make_index(Database *database, const char *sql)
{
    TRY(database_run(database, "PRAGMA cache_size = -2048"));
    const Error error = database_run(database, sql);
    const Error restored = database_run(database, "PRAGMA cache_size = -32768");
    return error.kind != OK ? error : restored;
}

Error database_prepare(Database *database, const char *sql, Statement **out)
{
    *out = NULL;
    Statement *statement = calloc(1, sizeof *statement);
    if (statement == NULL) return database_statement_error(database, SQLITE_NOMEM, sql);
    const int code = sqlite3_prepare_v3(database->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement->handle, NULL);
    if (code != SQLITE_OK) {
        free(statement);
        return database_statement_error(database, code, sql);
    }
    statement->database = database;
    *out = statement;
    return error_none();
}

static inline void statement_bound(Statement *statement, int code)
{
    if (code != SQLITE_OK && statement->bound == SQLITE_OK) statement->bound = code;
}

void bind_null(Statement *statement, int index)
{
    statement->digest = row_digest_null(statement->digest);
    statement_bound(statement, sqlite3_bind_null(statement->handle, index));
}

void bind_integer(Statement *statement, int index, int64_t value)
{
    statement->digest = row_digest_integer(statement->digest, value);
    statement_bound(statement, sqlite3_bind_int64(statement->handle, index, value));
}

void bind_real(Statement *statement, int index, double value)
{
    statement->digest = row_digest_real(statement->digest, value);
    statement_bound(statement, sqlite3_bind_double(statement->handle, index, value)); // SQLite makes NaN NULL
}

static void statement_bind_text(Statement *statement, int index, const char *value, sqlite3_destructor_type owner)
{
    statement->digest =
        value != NULL ? row_digest_text(statement->digest, value, strlen(value)) : row_digest_null(statement->digest);
    statement_bound(statement, sqlite3_bind_text(statement->handle, index, value, -1, owner));
}

void bind_text(Statement *statement, int index, const char *value)
{
    statement_bind_text(statement, index, value, SQLITE_TRANSIENT);
}

void bind_word(Statement *statement, int index, const char *value)
{
    statement_bind_text(statement, index, value, SQLITE_STATIC);
}

void bind_blob(Statement *statement, int index, const void *data, size_t size)
{
    const void *bytes = data != NULL ? data : ""; // an empty blob is not NULL
    statement->digest = row_digest_blob(statement->digest, bytes, size);
    statement_bound(statement, sqlite3_bind_blob64(statement->handle, index, bytes, size, SQLITE_TRANSIENT));
}

uint64_t bound_digest(const Statement *statement) { return statement->digest; }

// Columns that are declared as numbers hold no text, as our tables are STRICT; expressions are declared as nothing.
static bool statement_find_texts(Statement *statement, int count)
{
    free(statement->texts);
    statement->texts = malloc(sizeof *statement->texts * ((size_t)count + 1));
    statement->n_columns = count;
    statement->n_texts = 0;
    for (int i = 0; statement->texts != NULL && i < count; i++) {
        const char *type = sqlite3_column_decltype(statement->handle, i);
        const bool number = type != NULL && (strcmp(type, "REAL") == 0 || strcmp(type, "INTEGER") == 0);
        if (!number) statement->texts[statement->n_texts++] = i;
    }
    return statement->texts != NULL;
}

// Memory that SQLite takes to end a text is taken here: where a column is read it could only be missed. Most columns of
// a trial are numbers, and asking each of its type took a seventh of the time of a digest.
static int statement_take_texts(Statement *statement)
{
    sqlite3_stmt *handle = statement->handle;
    const int count = sqlite3_data_count(handle);
    const bool known = statement->texts != NULL && statement->n_columns == count;
    if (!known && !statement_find_texts(statement, count)) return SQLITE_NOMEM;
    for (int k = 0; k < statement->n_texts; k++) {
        const int i = statement->texts[k];
        if (sqlite3_column_type(handle, i) == SQLITE_TEXT && sqlite3_column_text(handle, i) == NULL)
            return SQLITE_NOMEM;
    }
    return SQLITE_ROW;
}

Error statement_step(Statement *statement, bool *row)
{
    int code = statement->bound;
    statement->digest = 0;
    if (code == SQLITE_OK) code = database_fault();
    if (code == SQLITE_OK) code = sqlite3_step(statement->handle);
    if (code == SQLITE_ROW) code = statement_take_texts(statement);
    *row = code == SQLITE_ROW;
    if (*row) return error_none();
    const Error error = code == SQLITE_DONE
                            ? error_none()
                            : database_statement_error(statement->database, code, sqlite3_sql(statement->handle));
    sqlite3_reset(statement->handle); // its answer repeats the step's
    statement->bound = SQLITE_OK;
    return error;
}

void statement_close(Statement *statement)
{
    if (statement == NULL) return;
    sqlite3_finalize(statement->handle); // its answer repeats the last step's
    free(statement->texts);
    free(statement);
}

// ---- columns --------------------------------------------------------------------------------------------------------

// ---- statements of users --------------------------------------------------------------------------------------------

// Functions that compute and do nothing else; all of SQLite's that are not here (load_extension, pragma functions,
// fts3_tokenizer, ...) are refused.
static const char *const database_functions[] = {
    "abs",       "acos",         "acosh",        "asin",    "asinh",      "atan",    "atan2",       "atanh",
    "avg",       "ceil",         "ceiling",      "char",    "coalesce",   "cos",     "cosh",        "count",
    "cume_dist", "date",         "datetime",     "degrees", "dense_rank", "exp",     "first_value", "floor",
    "format",    "glob",         "group_concat", "hex",     "ifnull",     "iif",     "instr",       "julianday",
    "lag",       "last_value",   "lead",         "length",  "like",       "ln",      "log",         "log10",
    "log2",      "lower",        "ltrim",        "max",     "min",        "mod",     "nth_value",   "ntile",
    "nullif",    "percent_rank", "pi",           "pow",     "power",      "printf",  "quote",       "radians",
    "random",    "rank",         "replace",      "round",   "row_number", "rtrim",   "sign",        "sin",
    "sinh",      "sqrt",         "strftime",     "substr",  "substring",  "sum",     "tan",         "tanh",
    "time",      "total",        "trim",         "trunc",   "typeof",     "unicode", "unixepoch",   "upper"};

// What a statement may do: read this database and compute.
static int database_authorize(void *unused, int action, const char *first, const char *second, const char *schema,
                              const char *trigger)
{
    (void)unused, (void)schema, (void)trigger;
    if (action == SQLITE_SELECT || action == SQLITE_RECURSIVE) return SQLITE_OK;
    if (action == SQLITE_READ) return strncmp(first, "pragma_", 7) == 0 ? SQLITE_DENY : SQLITE_OK;
    for (size_t i = 0; action == SQLITE_FUNCTION && i < sizeof database_functions / sizeof *database_functions; i++) {
        if (sqlite3_stricmp(second, database_functions[i]) == 0) return SQLITE_OK;
    }
    return SQLITE_DENY;
}

static int database_is_late(void *given)
{
    const DatabaseGuard *guard = given;
    return clock_seconds() > guard->deadline || (guard->interrupted != NULL && guard->interrupted() != 0);
}

// SQLite's words, and where in the text it stopped if it says so.
static Error database_user_error(const Database *database, const char *sql)
{
    const char *words = sqlite3_errmsg(database->handle);
    int offset = -1;
#if SQLITE_VERSION_NUMBER >= 3038000
    offset = sqlite3_error_offset(database->handle);
#endif
    if (offset < 0) return error_make(ERROR_USER, "--sql: %.300s", words);
    int line = 1, column = 1;
    for (int i = 0; i < offset && sql[i] != '\0'; i++) {
        column = sql[i] == '\n' ? 1 : column + (((unsigned char)sql[i] & 0xc0) != 0x80);
        line += sql[i] == '\n';
    }
    const Excerpt excerpt = source_excerpt(sql, line, column, 1, 100);
    return error_make(ERROR_USER, "--sql: %.160s\n    %.120s\n    %.120s", words, excerpt.line, excerpt.caret);
}

Error database_prepare_guarded(Database *database, const char *sql, DatabaseGuard *guard, Statement **out)
{
    const char *tail = NULL;
    *out = NULL;
    Statement *statement = calloc(1, sizeof *statement);
    if (statement == NULL) return database_statement_error(database, SQLITE_NOMEM, sql);
    sqlite3_limit(database->handle, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_set_authorizer(database->handle, database_authorize, NULL);
    sqlite3_progress_handler(database->handle, 10000, database_is_late, guard);
    statement->database = database;
    const int code = sqlite3_prepare_v2(database->handle, sql, -1, &statement->handle, &tail);
    const bool alone = tail == NULL || tail[strspn(tail, "; \t\r\n")] == '\0';
    if (code == SQLITE_OK && statement->handle != NULL && alone) {
        *out = statement;
        return error_none();
    }
    Error error = code != SQLITE_OK ? database_user_error(database, sql)
                                    : error_make(ERROR_USER, "--sql takes one SELECT, and no more than one statement");
    if (code == SQLITE_AUTH)
        error = error_make(ERROR_USER, "--sql only reads and computes: %.200s", sqlite3_errmsg(database->handle));
    statement_close(statement);
    return error;
}

Error statement_step_guarded(Statement *statement, bool *row)
{
    const int code = sqlite3_step(statement->handle);
    *row = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE) return error_none();
    if (code == SQLITE_INTERRUPT)
        return error_make(ERROR_USER, "--sql took longer than it may: an index helps (hopscotch index), or --timeout");
    return error_make(ERROR_USER, "--sql: %.300s", sqlite3_errmsg(statement->database->handle));
}

ColumnKind column_kind(Statement *statement, int index)
{
    switch (sqlite3_column_type(statement->handle, index)) {
    case SQLITE_INTEGER: return COLUMN_INTEGER;
    case SQLITE_FLOAT: return COLUMN_REAL;
    case SQLITE_NULL: return COLUMN_NULL;
    case SQLITE_BLOB: return COLUMN_BLOB;
    default: return COLUMN_TEXT;
    }
}

// ---- reading a row --------------------------------------------------------------------------------------------------

int column_count(Statement *statement) { return sqlite3_column_count(statement->handle); }

const char *column_name(Statement *statement, int index)
{
    const char *name = sqlite3_column_name(statement->handle, index);
    return name != NULL ? name : "";
}

bool column_is_null(Statement *statement, int index)
{
    return sqlite3_column_type(statement->handle, index) == SQLITE_NULL;
}

int64_t column_integer(Statement *statement, int index) { return sqlite3_column_int64(statement->handle, index); }

double column_real(Statement *statement, int index)
{
    const double value = sqlite3_column_double(statement->handle, index); // of NULL 0
    return value == 0 && column_is_null(statement, index) ? (double)__builtin_nan("") : value;
}

const char *column_text(Statement *statement, int index)
{
    const unsigned char *text = sqlite3_column_text(statement->handle, index);
    return text != NULL ? (const char *)text : "";
}

Bytes column_blob(Statement *statement, int index)
{
    const void *data = sqlite3_column_blob(statement->handle, index); // before its size, as SQLite asks
    const int size = sqlite3_column_bytes(statement->handle, index);
    return (Bytes){.data = (unsigned char *)(uintptr_t)data, .size = (size_t)size};
}

// ---- digests of rows ------------------------------------------------------------------------------------------------

static uint64_t database_value_digest(uint64_t digest, sqlite3_value *value)
{
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER: return row_digest_integer(digest, sqlite3_value_int64(value));
    case SQLITE_FLOAT: return row_digest_real(digest, sqlite3_value_double(value));
    case SQLITE_NULL: return row_digest_null(digest);
    default: break;
    }
    const bool text = sqlite3_value_type(value) == SQLITE_TEXT;
    const void *data = text ? (const void *)sqlite3_value_text(value) : sqlite3_value_blob(value);
    const size_t size = data != NULL ? (size_t)sqlite3_value_bytes(value) : 0;
    return text ? row_digest_text(digest, data, size) : row_digest_blob(digest, data, size);
}

uint64_t column_digest(Statement *statement, int first)
{
    uint64_t digest = 0;
    for (int i = first; i < sqlite3_column_count(statement->handle); i++) {
        digest = database_value_digest(digest, sqlite3_column_value(statement->handle, i));
    }
    return digest;
}

static void database_row_digest(sqlite3_context *context, int count, sqlite3_value **values)
{
    uint64_t digest = (uint64_t)sqlite3_value_int64(values[0]);
    for (int i = 1; i < count; i++) digest = database_value_digest(digest, values[i]);
    sqlite3_result_int64(context, (sqlite3_int64)digest);
}

static int database_add_functions(sqlite3 *handle)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    return sqlite3_create_function_v2(handle, "row_digest", -1, flags, NULL, database_row_digest, NULL, NULL, NULL);
}

// ---- names ----------------------------------------------------------------------------------------------------------

const char *sql_identifier(Arena *arena, const char *name)
{
    char *quoted = ARENA_NEW(arena, char, 2 * strlen(name) + 3), *at = quoted;
    *at++ = '"';
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '"') *at++ = '"';
        *at++ = *c;
    }
    *at++ = '"';
    *at = '\0';
    return quoted;
}
