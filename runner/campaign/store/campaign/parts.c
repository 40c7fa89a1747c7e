// The parts of a campaign, each a campaign of its own in results/NAME.parts, and which of them were joined into NAME.
// Both stand in the table `origin`: of a part a row 'part' with its name, of the joined campaign a row 'gathers' for
// each part that it holds.
#include "parts.h"

#include "../queries.h"

#include <string.h>

// ---- what a database says -------------------------------------------------------------------------------------------

static Error parts_insert(Database *database, const char *purpose, PartOf part, const char *hash)
{
    Cursor insert = cursor_open(database, "INSERT INTO origin(purpose, campaign, hash, time) VALUES(?, ?, ?, ?)");
    with_text(&insert, purpose);
    with_text(&insert, part_name(part).text);
    with_text(&insert, hash);
    with_text(&insert, clock_utc().text);
    return cursor_run(&insert);
}

Error part_keep(Database *database, const Spec *spec)
{
    return spec->part.count > 0 ? parts_insert(database, "part", spec->part, spec->hash.hex) : error_none();
}

Error part_read(Database *database, PartOf *part)
{
    const char *name;
    *part = (PartOf){.count = 0};
    Cursor rows = cursor_open(database, "SELECT campaign FROM origin WHERE purpose = 'part'");
    while (next_text(&rows, &name)) {
        if (!part_is_named(name, part))
            cursor_stop(&rows,
                        error_make(ERROR_MACHINE, "its table origin names a part \"%.40s\", which can't be one", name));
    }
    return cursor_close(&rows);
}

Error part_compare(Database *database, const char *name, Spec *spec)
{
    PartOf stored;
    const PartOf given = spec->part;
    TRY(part_read(database, &stored));
    spec->part = stored;
    if (given.count == 0 || (given.count == stored.count && given.number == stored.number)) return error_none();
    if (stored.count == 0)
        return error_make(ERROR_USER, "%.128s is a campaign, not a part: choose another --name", name);
    return error_make(ERROR_USER, "%.100s holds part %d of %d, and not part %d of %d: its folder was renamed or copied",
                      name, stored.number, stored.count, given.number, given.count);
}

Error gathered_note(Database *database, PartOf part, const char *hash)
{
    return parts_insert(database, "gathers", part, hash);
}

Error gathered_read(Database *database, Gathered *gathered)
{
    const char *name;
    PartOf part;
    *gathered = (Gathered){.count = 0};
    Cursor rows = cursor_open(database, "SELECT DISTINCT campaign FROM origin WHERE purpose = 'gathers'");
    while (next_text(&rows, &name)) {
        if (!part_is_named(name, &part)) continue;
        gathered->of = part.count;
        gathered->count++;
        gathered->has[part.number] = true;
    }
    return cursor_close(&rows);
}

Error gathered_check(Database *database, const char *name)
{
    Gathered gathered;
    TRY(gathered_read(database, &gathered));
    if (gathered.count == gathered.of) return error_none();
    char results[1024];
    snprintf(results, sizeof results, "%s", database_path(database)); // of RESULTS/NAME/campaign.db
    for (int i = 0; i < 2 && strrchr(results, '/') != NULL; i++) *strrchr(results, '/') = '\0';
    return error_make(ERROR_USER, "%.128s holds %d of %d parts so far: run the others, and `%s` joins them to it", name,
                      gathered.count, gathered.of, command_again(results, "gather %.128s", name).text);
}

// ---- folders --------------------------------------------------------------------------------------------------------

const char *parts_root(const char *results, const char *name, Arena *arena)
{
    return arena_format(arena, "%s/%s" PARTS_SUFFIX, results, name);
}

// Error (user): the folder has parts of another division.
static Error parts_check_count(const char *root, PartOf a, PartOf b)
{
    if (a.count == 0 || a.count == b.count) return error_none();
    return error_make(ERROR_USER, "%.300s has parts of two divisions (%d and %d): remove one", root, a.count, b.count);
}

Error parts_divided(const char *root, Arena *arena, PartOf *any)
{
    char **names;
    int count;
    PartOf part;
    *any = (PartOf){.count = 0};
    if (file_missing(root)) return error_none();
    TRY(folder_check_inside(root));
    TRY(folder_list(root, arena, &names, &count));
    for (int i = 0; i < count; i++) {
        if (!part_is_named(names[i], &part)) continue;
        TRY(parts_check_count(root, *any, part));
        *any = part;
    }
    return error_none();
}

static Error parts_read_one(Parts *parts, int number, Arena *arena)
{
    PartReport *report = &parts->part[number - 1];
    const char *name = arena_copy(arena, part_name((PartOf){number, parts->count}).text);
    report->location = (CampaignLocation){
        .results = parts->root, .name = name, .folder = arena_format(arena, "%s/%s", parts->root, name)};
    report->state = "missing";
    if (file_missing(arena_format(arena, "%s/" CAMPAIGN_DATABASE, report->location.folder))) return error_none();
    TRY(folder_check_inside(report->location.folder));
    const Error error = status_read(&report->location, arena, &report->status);
    report->there = true;
    report->state = error.kind == OK ? report->status.state : "unreadable";
    report->error = error.kind == OK ? "" : arena_copy(arena, error.text);
    if (error.kind == OK && report->status.holder[0] != '\0') report->state = "running";
    return error_none();
}

Error parts_find(const char *results, const char *name, Arena *arena, Parts *parts)
{
    PartOf any;
    TRY(campaign_name_check(name));
    *parts = (Parts){.root = parts_root(results, name, arena)};
    TRY(parts_divided(parts->root, arena, &any));
    if (any.count == 0) return error_none();
    parts->count = any.count;
    parts->part = ARENA_NEW(arena, PartReport, any.count);
    for (int number = 1; number <= any.count; number++) TRY(parts_read_one(parts, number, arena));
    return error_none();
}

bool part_is_done(const PartReport *part) { return part->there && strcmp(part->state, "done") == 0; }

const char *parts_without(const Parts *parts, const Gathered *gathered, Arena *arena)
{
    enum { SHOWN = 8 };
    const char *text = "";
    int missing = 0;
    for (int i = 0; i < parts->count; i++) {
        if (gathered->has[i + 1]) continue;
        const PartReport *part = &parts->part[i];
        if (++missing <= SHOWN)
            text =
                arena_format(arena, "%s%s%s (%s)", text, text[0] != '\0' ? ", " : "", part->location.name, part->state);
    }
    return missing > SHOWN ? arena_format(arena, "%s and %d more", text, missing - SHOWN) : text;
}
