// Robots from MJCF and URDF files.
#ifndef HOPSCOTCH_IO_ROBOT_ROBOT_H
#define HOPSCOTCH_IO_ROBOT_ROBOT_H

#include "../diagnostics.h"

typedef enum RobotBase {
    ROBOT_BASE_FILE,     // as the file has it; the root of URDF floats, unless its link is called world
    ROBOT_BASE_FLOATING, // roots without a joint float
    ROBOT_BASE_FIXED     // floating roots are fixed to the world
} RobotBase;

typedef struct RobotOptions {
    const char *folder;        // of the file, for <include>; NULL: nothing can be included
    const char *const *ignore; // [n_ignore] words of ROBOT_IGNORE_WORDS: what may be left out
    int n_ignore;
    RobotBase base;
} RobotOptions;

// Reads MJCF (<mujoco>) or URDF (<robot>); the root element tells which. Whatever changes the motion and is not
// understood is an error that names it, unless `ignore` does. Bodies that can't move against their parent become part
// of it. In `arena` are the robot and included texts (at most 32 MiB together). NULL after errors, which went to
// `diagnostics`; source->text must outlive them.
const Robot *robot_read(const Source *source, const RobotOptions *options, Arena *arena, Diagnostics *diagnostics);
// The text of an MJCF file with those that it includes put in their places: the robot of it is the same. *text is the
// source's text if it includes none. False: errors went to `diagnostics`.
bool robot_text(const Source *source, const char *folder, Arena *arena, Diagnostics *diagnostics, const char **text);

#endif
