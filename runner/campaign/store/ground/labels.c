// Tags and notes of a campaign (queries.h).
#include "../queries.h"

Cursor labels_tags(Database *database) { return cursor_open(database, "SELECT 0, tag, '' FROM tags ORDER BY tag"); }

Cursor labels_notes(Database *database)
{
    return cursor_open(database, "SELECT 1, text, time FROM notes ORDER BY rowid");
}

Cursor labels_all(Database *database)
{
    return cursor_open(database,
                       "SELECT 0, tag, '' FROM tags UNION ALL SELECT 1, text, time FROM notes ORDER BY 1, 3, 2");
}

bool label_next(Cursor *labels, Label *label)
{
    if (!cursor_next(labels)) return false;
    *label = (Label){cell_integer(labels, 0) == 1, cell_text(labels, 1), cell_text(labels, 2)};
    return true;
}

static Error label_change(CampaignEdit *edit, const char *sql, const char *text)
{
    Cursor change = cursor_open(edit->store.database, sql);
    with_text(&change, text);
    return cursor_run(&change);
}

Error tag_add(CampaignEdit *edit, const char *tag)
{
    return label_change(edit, "INSERT OR IGNORE INTO tags VALUES(?)", tag);
}

Error tag_remove(CampaignEdit *edit, const char *tag)
{
    return label_change(edit, "DELETE FROM tags WHERE tag = ?", tag);
}

Error note_add(CampaignEdit *edit, const char *text)
{
    Cursor change = cursor_open(edit->store.database, "INSERT INTO notes VALUES(?, ?)");
    with_text(&change, clock_utc().text);
    with_text(&change, text);
    return cursor_run(&change);
}
