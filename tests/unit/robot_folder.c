// See robot_folder.h.
#include "robot_folder.h"

#include <stdio.h>
#include <string.h>

static const char *added_name, *added_text;

void robot_folder_add(const char *name, const char *text)
{
    added_name = name;
    added_text = text;
}

// A folder with copies of the shipped robots, of what is recorded of them, and of learned policies; made once, unless a
// file is added.
static const char *robot_folder(Arena *arena)
{
    static const char *const copied[] = {"robots/biped.xml",
                                         "robots/quadruped.xml",
                                         "robots/chain.xml",
                                         "robots/hopper.xml",
                                         "robots/walker.xml",
                                         "identify_arm_light.csv",
                                         "identify_arm_light_commands.csv",
                                         "identify_arm_loaded.csv",
                                         "identify_arm_loaded_commands.csv",
                                         "identify_arm_other.csv",
                                         "identify_arm_other_commands.csv",
                                         "identify_biped.csv",
                                         "identify_arm_light.csv",
                                         "identify_arm_light_commands.csv",
                                         "identify_arm_loaded.csv",
                                         "identify_arm_loaded_commands.csv",
                                         "identify_arm_other.csv",
                                         "identify_arm_other_commands.csv",
                                         "identify_chirp.csv",
                                         "identify_chirp_commands.csv",
                                         "identify_pendulum.csv",
                                         "robots/arm.xml",
                                         "robots/arm_loaded.xml",
                                         "robots/cartpole.xml",
                                         "laws/trot.yaml",
                                         "learning/hopper_policy.csv",
                                         "learning/quadruped_policy.csv",
                                         "learning/quadruped_residual.csv"};
    static char made[160];
    if (made[0] != '\0' && added_name == NULL && file_exists(made)) return made;
    const char *folder = arena_copy(arena, test_folder());
    snprintf(made, sizeof made, "%s", added_name == NULL ? folder : "");
    CHECK_OK(folder_make(arena_format(arena, "%s/robots", folder)));
    CHECK_OK(folder_make(arena_format(arena, "%s/learning", folder)));
    CHECK_OK(folder_make(arena_format(arena, "%s/laws", folder)));
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) {
        Bytes bytes;
        CHECK_OK(file_read(arena_format(arena, "experiments/%s", copied[i]), 1 << 20, arena, &bytes));
        CHECK_OK(file_write(folder, copied[i], bytes.data, bytes.size));
    }
    if (added_name != NULL) CHECK_OK(file_write(folder, added_name, added_text, strlen(added_text)));
    return folder;
}

const char *robot_folder_spec(const char *text, Arena *arena)
{
    const char *path = arena_format(arena, "%s/test.yaml", robot_folder(arena));
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(text, 1, strlen(text), file) == strlen(text) && fclose(file) == 0);
    return path;
}

Error robot_folder_parse(const char *text, const char *const *overrides, int n_overrides, Arena *arena,
                         Diagnostics *diagnostics, Spec *spec)
{
    if (strstr(text, "robots/") == NULL && strstr(text, "learning/") == NULL && strstr(text, ".csv") == NULL)
        return spec_parse("test.yaml", text, overrides, n_overrides, arena, diagnostics, spec);
    return spec_load(robot_folder_spec(text, arena), overrides, n_overrides, arena, diagnostics, spec);
}
