// What --set changed in the spec of a campaign. The campaign stores it, so that an extension by another --set keeps the
// change. A key that is set again replaces its earlier value, and those of the keys below it. Limits other than
// limits.retire, device and recording belong to one run and are not stored.
#include "store.h"

#include <string.h>

enum { OVERRIDES_MAX = 1024, OVERRIDES_TEXT_MAX = 1 << 20 };

static size_t overrides_key(const char *override) { return strcspn(override, "="); }

// "a.b" and "a" cover "a.b.c"
static bool overrides_cover(const char *override, const char *other)
{
    const size_t length = overrides_key(override), whole = overrides_key(other);
    return length <= whole && strncmp(override, other, length) == 0 && (length == whole || other[length] == '.');
}

static bool overrides_are_of_one_run(const char *override)
{
    static const char *const sections[] = {"limits", "device", "record", "store", "experiment"};
    if (overrides_cover("limits.retire", override)) return false; // results depend on it
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (overrides_cover(sections[i], override)) return true;
    }
    return false;
}

static void overrides_add(Overrides *overrides, const char *override)
{
    int kept = 0;
    if (overrides_are_of_one_run(override)) return;
    for (int i = 0; i < overrides->count; i++) {
        if (!overrides_cover(override, overrides->items[i])) overrides->items[kept++] = overrides->items[i];
    }
    overrides->items[kept] = override;
    overrides->count = kept + 1;
}

Error overrides_read(Database *database, Arena *arena, Overrides *overrides)
{
    const char *override;
    *overrides = (Overrides){.count = 0};
    if (!database_has(database, "overrides", NULL)) return error_none(); // its run was killed before it created one
    overrides->items = ARENA_NEW(arena, const char *, OVERRIDES_MAX);
    Cursor each =
        cursor_open(database, "SELECT key || '=' || value FROM overrides WHERE length(key) + length(value) < ?"
                              " ORDER BY id LIMIT ?");
    with_integer(&each, OVERRIDES_TEXT_MAX);
    with_integer(&each, OVERRIDES_MAX);
    while (next_text(&each, &override)) overrides->items[overrides->count++] = arena_copy(arena, override);
    return cursor_close(&each);
}

Overrides overrides_without(const Overrides *earlier, const Overrides *later, Arena *arena)
{
    Overrides left = {.items = ARENA_NEW(arena, const char *, earlier->count + 1)};
    for (int i = 0; i < earlier->count; i++) {
        bool covered = false;
        for (int k = 0; k < later->count; k++) covered = covered || overrides_cover(later->items[k], earlier->items[i]);
        if (!covered) left.items[left.count++] = earlier->items[i];
    }
    return left;
}

static Error overrides_insert(Database *database, const char *override)
{
    Cursor insert = cursor_open(database, "INSERT INTO overrides(key, value)"
                                          " VALUES(substr(?1, 1, instr(?1, '=') - 1), substr(?1, instr(?1, '=') + 1))");
    with_text(&insert, override);
    return cursor_run(&insert);
}

static bool overrides_equal(const Overrides *a, const Overrides *b)
{
    bool equal = a->count == b->count;
    for (int i = 0; equal && i < a->count; i++) equal = strcmp(a->items[i], b->items[i]) == 0;
    return equal;
}

Error overrides_keep(Database *database, const Overrides *given, bool add, Arena *arena)
{
    Overrides stored;
    TRY(overrides_read(database, arena, &stored));
    Overrides kept = {.items = ARENA_NEW(arena, const char *, stored.count + given->count + 1)};
    for (int i = 0; add && i < stored.count; i++) overrides_add(&kept, stored.items[i]);
    for (int i = 0; i < given->count; i++) overrides_add(&kept, given->items[i]);
    if (overrides_equal(&stored, &kept)) return error_none();
    TRY(database_run(database, "DELETE FROM overrides"));
    for (int i = 0; i < kept.count && i < OVERRIDES_MAX; i++) TRY(overrides_insert(database, kept.items[i]));
    return error_none();
}

const char *overrides_text(const Overrides *overrides, Arena *arena)
{
    enum { WIDE = 100 };
    const char *text = "";
    for (int i = 0; i < overrides->count; i++) {
        const char *one = text_visible(overrides->items[i], arena);
        text = arena_format(arena, "%s%s%.*s%s", text, i > 0 ? ", " : "", WIDE, one, strlen(one) > WIDE ? "..." : "");
    }
    return text;
}
