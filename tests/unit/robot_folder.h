// Shared by tests of specs: a text as a spec, in a folder with the shipped robots if it names one.
#ifndef HOPSCOTCH_ROBOT_FOLDER_H
#define HOPSCOTCH_ROBOT_FOLDER_H

#include "../test.h"

Error robot_folder_parse(const char *text, const char *const *overrides, int n_overrides, Arena *arena,
                         Diagnostics *diagnostics, Spec *spec);

// The text as a file in that folder: its path.
const char *robot_folder_spec(const char *text, Arena *arena);

// From now on the folder also holds this file; both texts must stay.
void robot_folder_add(const char *name, const char *text);

#endif
