// Copies of the files of a program: those that its words name and that lie in the folder where it runs, such as
// simulate.py of [python3, -m, hopscotch.worker, simulate.py]. Like the files that a model reads they lie in a
// campaign's CAMPAIGN_FILES under their digests. They are no part of the spec's identity: a program may change if it
// says so (its version). Events name them; of each name the last one counts. Files that a program reads by itself,
// such as modules that it imports, are not known.
#include "store.h"

#include "../ground/cursor.h"

#include <string.h>

enum { PROGRAM_FILES_MOST = 64, PROGRAM_FILE_NAME = 400 }; // NAME: bytes, as an event holds
#define PROGRAM_FILE_BYTES ((size_t)64 << 20)

// ---- what the words name --------------------------------------------------------------------------------------------

// The word is the file's name, or --option=NAME. The first word names a file only with a slash: else it is looked for
// in PATH.
static const char *program_file_name(const char *word, int64_t index)
{
    const char *equals = word[0] == '-' ? strchr(word, '=') : NULL, *name = equals != NULL ? equals + 1 : word;
    if (index == 0 && strchr(word, '/') == NULL) return NULL;
    while (strncmp(name, "./", 2) == 0) name += 2;
    return name[0] != '\0' && name[0] != '-' ? name : NULL;
}

// Opens the file if the word names one. Nothing outside of the folder is opened.
static bool program_file_open(const char *folder, const char *name, Arena *arena, FileWithin *file)
{
    *file = (FileWithin){.descriptor = -1};
    if (name == NULL || strlen(name) > PROGRAM_FILE_NAME || strpbrk(name, "\n\r") != NULL) return false;
    return file_open_within(folder, name, arena, file).kind == OK;
}

// The content of an open file, in its own arena, and its digest.
static Error program_file_load(FileWithin *file, const char *name, Arena *own, Bytes *bytes, Sha256Text *digest)
{
    const size_t size = (size_t)file->bytes;
    if (size > PROGRAM_FILE_BYTES) {
        file_close_within(file);
        return error_make(ERROR_USER, "%.200s has %s, and copies are kept of files up to %s", name,
                          text_bytes((double)size).text, text_bytes((double)PROGRAM_FILE_BYTES).text);
    }
    const Error made = arena_create(own, size + 65536, "a file of a program");
    if (made.kind != OK) {
        file_close_within(file);
        return made;
    }
    const Error error = file_read_within(file, size, own, bytes);
    if (error.kind == OK)
        *digest = sha256_of(bytes->data, bytes->size);
    else
        arena_destroy(own);
    return error;
}

// ---- what is kept ---------------------------------------------------------------------------------------------------

static bool program_file_parse(const char *text, Arena *arena, ProgramFile *file)
{
    enum { DIGITS = sizeof file->digest.hex - 1 };
    if (strspn(text, "0123456789abcdef") != DIGITS || text[DIGITS] != ' ' || text[DIGITS + 1] == '\0') return false;
    memcpy(file->digest.hex, text, DIGITS);
    file->digest.hex[DIGITS] = '\0';
    file->name = arena_copy(arena, text + DIGITS + 1);
    return true;
}

static ProgramFile *program_file_find(const ProgramFiles *files, const char *name)
{
    for (int i = 0; i < files->count; i++) {
        if (strcmp(files->items[i].name, name) == 0) return &files->items[i];
    }
    return NULL;
}

Error program_files_kept(Database *database, Arena *arena, ProgramFiles *kept)
{
    const char *text;
    *kept = (ProgramFiles){.items = ARENA_NEW(arena, ProgramFile, PROGRAM_FILES_MOST)};
    Cursor each = cursor_open(database, "SELECT text FROM events WHERE kind = '" PROGRAM_FILE "' ORDER BY id");
    while (next_text(&each, &text)) {
        ProgramFile file;
        if (!program_file_parse(text, arena, &file)) continue;
        ProgramFile *known = program_file_find(kept, file.name);
        if (known != NULL)
            *known = file;
        else if (kept->count < PROGRAM_FILES_MOST)
            kept->items[kept->count++] = file;
    }
    return cursor_close(&each);
}

static const char *program_file_path(const char *campaign, const ProgramFile *file, Arena *arena)
{
    return arena_format(arena, "%s/" CAMPAIGN_FILES "/%s", campaign, file->digest.hex);
}

// The copy is there before the event that names it.
static Error program_file_put(Store *store, const ProgramFile *file, Bytes bytes, Arena *arena)
{
    const char *folder = arena_format(arena, "%s/" CAMPAIGN_FILES, store->folder);
    TRY(campaign_check_folders(store->folder, arena));
    if (file_missing(program_file_path(store->folder, file, arena))) {
        TRY(folder_make(folder));
        TRY(file_write(folder, file->digest.hex, bytes.data, bytes.size));
    }
    return store_event(store, PROGRAM_FILE, "%s %s", file->digest.hex, file->name);
}

static Error program_file_keep(Store *store, FileWithin *open, ProgramFile *file, const ProgramFiles *kept,
                               FILE *messages, Arena *arena)
{
    Arena own;
    Bytes bytes = {0};
    const Error error = program_file_load(open, file->name, &own, &bytes, &file->digest);
    if (error.kind == ERROR_USER) { // the campaign goes on without a copy
        if (messages != NULL) fprintf(messages, "warning: %s\n", text_visible(error.text, arena));
        return error_none();
    }
    TRY(error);
    const ProgramFile *known = program_file_find(kept, file->name);
    const bool same = known != NULL && strcmp(known->digest.hex, file->digest.hex) == 0;
    const Error put = same ? error_none() : program_file_put(store, file, bytes, arena);
    arena_destroy(&own);
    return put;
}

Error program_files_keep(Store *store, const char *folder, FILE *messages, Arena *arena)
{
    const Points *words = &store->spec->option_points[0]; // the first option of such a model
    ProgramFiles kept;
    TRY(program_files_kept(store->database, arena, &kept));
    for (int64_t i = 0, count = 0; i < words->count && count < PROGRAM_FILES_MOST; i++) {
        ProgramFile file = {.name = program_file_name(words->names[i], i)};
        FileWithin open;
        if (!program_file_open(folder, file.name, arena, &open)) continue;
        count++;
        TRY(program_file_keep(store, &open, &file, &kept, messages, arena));
    }
    return error_none();
}

Error program_files_adopt(Store *store, Database *from, const char *campaign, Arena *arena)
{
    ProgramFiles files, kept;
    TRY(program_files_kept(from, arena, &files));
    TRY(program_files_kept(store->database, arena, &kept));
    for (int i = 0; i < files.count; i++) {
        const ProgramFile *file = &files.items[i], *known = program_file_find(&kept, file->name);
        Bytes bytes = {0};
        if (known != NULL && strcmp(known->digest.hex, file->digest.hex) == 0) continue;
        TRY(file_read_stored(program_file_path(campaign, file, arena), PROGRAM_FILE_BYTES, arena, &bytes));
        TRY(program_file_put(store, file, bytes, arena));
    }
    return error_none();
}

// ---- what has changed -----------------------------------------------------------------------------------------------

// The digest that the file has now; NULL: it is not there.
static const char *program_file_now(const ProgramFile *file, const char *folder, Arena *arena)
{
    Arena own;
    FileWithin open;
    Bytes bytes;
    Sha256Text digest;
    if (!program_file_open(folder, file->name, arena, &open)) return NULL;
    if (program_file_load(&open, file->name, &own, &bytes, &digest).kind != OK) return "unknown";
    arena_destroy(&own);
    return arena_copy(arena, digest.hex);
}

static void program_file_remark(const ProgramFile *file, const char *campaign, const char *folder, FILE *messages,
                                Arena *arena)
{
    const char *now = program_file_now(file, folder, arena), *name = text_visible(file->name, arena);
    const char *in = text_visible(folder, arena);
    const char *copy = arena_format(arena, "%s/" CAMPAIGN_FILES "/%s", text_visible(campaign, arena), file->digest.hex);
    if (now == NULL)
        fprintf(messages, "remark: %s is not in %s any more; as it ran it is %s\n", name, in, copy);
    else if (strcmp(now, file->digest.hex) != 0)
        fprintf(messages,
                "remark: %s in %s has changed since the campaign ran it: its SHA-256 is %.12s...; as it ran it is %s\n",
                name, in, now, copy);
}

Error program_files_remark(Database *database, const char *campaign, const char *folder, FILE *messages, Arena *arena)
{
    ProgramFiles kept;
    if (messages == NULL || folder == NULL) return error_none();
    TRY(program_files_kept(database, arena, &kept));
    for (int i = 0; i < kept.count; i++) program_file_remark(&kept.items[i], campaign, folder, messages, arena);
    return error_none();
}
