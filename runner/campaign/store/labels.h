// What people add to a campaign: tags and notes (labels.c).
#ifndef HOPSCOTCH_LABELS_H
#define HOPSCOTCH_LABELS_H

#include "cursor.h"
#include "edit.h"

// Both texts are valid until the next one.
typedef struct Label {
    bool note;
    const char *text, *time; // time: of a note, else ""
} Label;
Cursor labels_tags(Database *database);  // in order of the alphabet
Cursor labels_notes(Database *database); // as they were added
Cursor labels_all(Database *database);   // tags, then notes by time
bool label_next(Cursor *labels, Label *label);

Error tag_add(CampaignEdit *edit, const char *tag);
Error tag_remove(CampaignEdit *edit, const char *tag);
Error note_add(CampaignEdit *edit, const char *text); // with the time

#endif
