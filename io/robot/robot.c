// Reads a robot's file, whichever format it is in.
#include "robot.h"

#include "robot_file.h"

#include <string.h>

// Words that are of no use are probably misspelt.
static void robot_check_ignore(RobotFile *file)
{
    for (int i = 0; i < file->options->n_ignore && !robot_failed(file); i++) {
        const char *word = file->options->ignore[i];
        bool used = robot_word_in(ROBOT_IGNORE_WORDS, word);
        for (int k = 0; k < file->n_notes; k++) {
            const RobotFileNote *note = &file->notes[k];
            used |= note->skipped && strcmp(note->what, word) == 0;
        }
        if (used) continue;
        diagnose_at(file->diagnostics, file->root->source, 0, 0, 0,
                    "the robot has no '%.64s' to ignore; `ignore` takes what is unknown, and " ROBOT_IGNORE_WORDS,
                    word);
    }
}

// Text between elements has no meaning in MJCF and URDF; in URDF <gazebo> and <transmission> hold it.
static void robot_read_root(RobotFile *file)
{
    const char *root = file->root->name, *name = NULL;
    file->is_mjcf = strcmp(root, "mujoco") == 0;
    name = robot_text_of(file->root, file->is_mjcf ? "model" : "name");
    file->name = name != NULL ? name : "robot";
    if (strlen(file->name) > ROBOT_NAME_MAX)
        robot_error(file, file->root, file->is_mjcf ? "model" : "name", "this name has more than %d bytes",
                    ROBOT_NAME_MAX);
    else if (file->is_mjcf)
        mjcf_read(file);
    else if (strcmp(root, "robot") == 0)
        urdf_read(file);
    else
        robot_error(file, file->root, NULL, "<%.64s> is neither <mujoco> (MJCF) nor <robot> (URDF)", root);
}

static const Robot *robot_read_with(const Source *source, const RobotOptions *options, Arena *scratch, Arena *arena,
                                    Diagnostics *diagnostics)
{
    const int errors = diagnostics_errors(diagnostics);
    XmlNode *root = xml_parse(source, scratch, diagnostics);
    const char *text = NULL;
    if (root == NULL) return NULL;
    const bool mjcf = strcmp(root->name, "mujoco") == 0;
    if (mjcf && !robot_include(root, options->folder, scratch, arena, diagnostics, &text)) return NULL;
    RobotFile *file = ARENA_NEW(scratch, RobotFile, 1);
    *file =
        (RobotFile){.arena = scratch, .diagnostics = diagnostics, .errors = errors, .options = options, .root = root};
    file->bodies = ARENA_NEW(scratch, RobotFileBody, ROBOT_BODIES_MAX);
    file->shapes = ARENA_NEW(scratch, RobotFileShape, ROBOT_SHAPES_MAX + 1);
    file->pairs = ARENA_NEW(scratch, RobotFilePair, ROBOT_PAIRS_MAX);
    file->excludes = ARENA_NEW(scratch, RobotFileExclude, ROBOT_PAIRS_MAX);
    robot_read_root(file);
    if (!robot_is_sound(file)) return NULL;
    const Robot *robot = robot_build(file, arena);
    robot_check_ignore(file);
    return robot_failed(file) ? NULL : robot;
}

const Robot *robot_read(const Source *source, const RobotOptions *options, Arena *arena, Diagnostics *diagnostics)
{
    Arena scratch;
    diagnostics_source(diagnostics, source);
    if (arena_create_growing(&scratch, ROBOT_FILE_BYTES, "a robot's file").kind != OK) {
        diagnose_no_memory(diagnostics);
        return NULL;
    }
    const Robot *robot = robot_read_with(source, options, &scratch, arena, diagnostics);
    arena_destroy(&scratch);
    return robot;
}
