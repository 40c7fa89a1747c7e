// What a robot file holds and the robot does not: not needed, because it changes no motion, or skipped, because the
// user says so.
#include "robot_file.h"

#include <string.h>

static void note_add(RobotFile *file, bool skipped, const char *what, int count, int line)
{
    for (int i = 0; i < file->n_notes; i++) {
        RobotFileNote *note = &file->notes[i];
        if (note->skipped != skipped || strcmp(note->what, what) != 0) continue;
        note->count += count;
        return;
    }
    if (count == 0 || file->n_notes == ROBOT_NOTES_MAX) return;
    file->notes[file->n_notes++] = (RobotFileNote){skipped, arena_copy(file->arena, what), count, line};
}

void robot_note(RobotFile *file, bool skipped, const char *what, int count) { note_add(file, skipped, what, count, 0); }

void robot_note_at(RobotFile *file, const char *element, const char *attribute, int line)
{
    note_add(file, false, arena_format(file->arena, "%s %s", element, attribute), 1, line);
}

bool robot_ignores(const RobotFile *file, const char *word)
{
    for (int i = 0; i < file->options->n_ignore; i++) {
        if (strcmp(file->options->ignore[i], word) == 0) return true;
    }
    return false;
}

bool robot_ignores_unknown(RobotFile *file, const char *word)
{
    const bool ignored = robot_ignores(file, word) || robot_ignores(file, "unknown");
    if (ignored) robot_note(file, true, word, 1);
    return ignored;
}

bool robot_skip(RobotFile *file, const XmlNode *node, const char *attribute, const char *word)
{
    if (robot_ignores(file, word)) {
        robot_note(file, true, word, 1);
        return true;
    }
    file->unread++;
    const bool ignorable = robot_word_in(ROBOT_IGNORE_WORDS, word);
    robot_error(file, node, attribute, "%s%s%s changes the motion and is not simulated; delete it%s%s%s",
                attribute != NULL ? attribute : "<", attribute != NULL ? " of " : node->name,
                attribute != NULL ? robot_label(file, node) : ">", ignorable ? ", or add " : "", ignorable ? word : "",
                ignorable ? " to ignore" : "");
    return false;
}
