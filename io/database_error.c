// SQLite's result codes as errors: SQLite's words, and what to do.
#include "database_connection.h"
#include "folder.h"
#include "system.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
    int code; // primary result code
    ErrorKind kind;
    const char *advice;
} database_advice[] = {
    {SQLITE_FULL, ERROR_MACHINE,
     "the disk or your quota is full: free some space, then resume; what was committed is safe"},
    {SQLITE_IOERR, ERROR_MACHINE, "the disk failed: look at dmesg before you resume; what was committed is safe"},
    {SQLITE_BUSY, ERROR_MACHINE, "another process kept it locked for 10 s: close that program and try again"},
    {SQLITE_LOCKED, ERROR_MACHINE, "another statement of this program has it locked"},
    {SQLITE_NOTADB, ERROR_USER, "it is not an SQLite database"},
    {SQLITE_CORRUPT, ERROR_MACHINE, "the file is damaged: restore a copy, or move it away"},
    {SQLITE_READONLY, ERROR_MACHINE, "it can't be written: check the permissions of the file and of its folder"},
    {SQLITE_CANTOPEN, ERROR_MACHINE, "check that the file is there, and the permissions of its folder"},
    {SQLITE_PERM, ERROR_MACHINE, "check the permissions of the file and of its folder"},
    {SQLITE_NOMEM, ERROR_MACHINE, "there is not enough memory"},
    {SQLITE_PROTOCOL, ERROR_MACHINE, "its lock is busy, or locks do not work on this disk: try again, or move it"},
};

// The errno of the last call that failed on the database or on its journal; 0: none failed.
static int database_file_errno(const Database *database, int which)
{
    sqlite3_file *file = NULL;
    int reason = 0;
    sqlite3_file_control(database->handle, "main", which, &file);
    if (file != NULL && file->pMethods != NULL) file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &reason);
    return reason;
}

int database_no_room(const Database *database, int code)
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

// The primary result code, or a more exact one where SQLite only says "I/O error"
static int database_reason(const Database *database, int code)
{
    const int primary = code & 0xff;
    if (primary != SQLITE_IOERR || database->handle == NULL) return primary;
    if (sqlite3_system_errno(database->handle) == ENOMEM) return SQLITE_NOMEM; // its journal could not be mapped
    return database_no_room(database, code) != 0 ? SQLITE_FULL : primary;
}

Error database_error(const Database *database, int code, const char *doing)
{
    TRY(database_block_error(database));
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

// "run INSERT INTO ..." for messages: the start of the statement, in one line
Error database_statement_error(const Database *database, int code, const char *sql)
{
    char doing[72];
    snprintf(doing, sizeof doing, "run %.60s", sql != NULL ? sql : "a statement");
    for (char *c = doing; *c != '\0'; c++) {
        if (*c == '\n') *c = ' ';
    }
    return database_error(database, code, doing);
}

int database_fault(void)
{
    static const struct {
        int reason, code;
    } codes[] = {{ENOSPC, SQLITE_FULL}, {EIO, SQLITE_IOERR_WRITE}, {EBUSY, SQLITE_BUSY}, {ENOMEM, SQLITE_NOMEM}};
    const int fault = system_fault("sql");
    if (fault == 0) return SQLITE_OK;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (codes[i].reason == fault) return codes[i].code;
    }
    return SQLITE_IOERR;
}
