// Reads robots from MJCF and URDF files.
#ifndef HOPSCOTCH_IO_ROBOT_ROBOT_H
#define HOPSCOTCH_IO_ROBOT_ROBOT_H

#include "../diagnostics.h"

typedef enum RobotBase {
    ROBOT_BASE_FILE,     // as the file has it; the root of URDF floats, unless its link is called world
    ROBOT_BASE_FLOATING, // roots without a joint float
    ROBOT_BASE_FIXED     // floating roots are fixed to the world
} RobotBase;

// What becomes of meshes of bodies that move and collide: errors, points of their convex hulls, or boxes or capsules
// around them. Meshes that give inertia are read too, but where this is REFUSE.
typedef enum RobotMeshes { ROBOT_MESHES_REFUSE, ROBOT_MESHES_HULL, ROBOT_MESHES_BOX, ROBOT_MESHES_CAPSULE } RobotMeshes;

typedef struct RobotOptions {
    const char *folder;        // of the file, for <include>; NULL: nothing can be included
    const char *const *ignore; // [n_ignore] words of ROBOT_IGNORE_WORDS: what may be left out
    int n_ignore;
    RobotBase base;
    RobotMeshes meshes;
} RobotOptions;

// The root element decides the format: MJCF (<mujoco>) or URDF (<robot>). An element that would change the motion and
// is not supported is an error, unless `ignore` names it. Bodies that can't move relative to their parent are merged
// into the parent. The robot and the included texts are in `arena` (at most 32 MiB together). NULL after errors, which
// go to `diagnostics`; source->text must outlive `diagnostics`.
const Robot *robot_read(const Source *source, const RobotOptions *options, Arena *arena, Diagnostics *diagnostics);
// *text <- the text of an MJCF file with every <include> replaced by the contents of its file; source->text if there is
// no <include>. False after errors, which go to `diagnostics`.
bool robot_text(const Source *source, const char *folder, Arena *arena, Diagnostics *diagnostics, const char **text);
// The same of a robot of either format, with the points of meshes instead of their files, if these can be read.
bool robot_text_with_meshes(const Source *source, const char *folder, RobotMeshes meshes, Arena *arena,
                            Diagnostics *diagnostics, const char **text);

#endif
