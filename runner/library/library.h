// libhopscotch: the functions of runner/hopscotch.h. Handles (handles.c), opening and closing (open.c), tables and
// arrays (arrays.c), resets and steps (step.c).
#ifndef HOPSCOTCH_LIBRARY_H
#define HOPSCOTCH_LIBRARY_H

#include "../experiment/experiment.h"
#include "../hopscotch.h"

enum { LIBRARY_ERROR = 8192 }; // bytes of a text

// What a handle stands for.
typedef struct Library {
    Arena arena; // of the spec
    Spec spec;
    EnvironmentSetup setup;
    Environment *environment;
    int n_actions, n_observations;
    bool begun; // all lanes were reset once
    char error[LIBRARY_ERROR];
    int holders; // the handle, and each tensor of DLPack; under the lock of handles.c
} Library;

// ---- handles.c ------------------------------------------------------------------------------------------------------

// A new handle for the library; NULL: there are too many handles.
hopscotch_env *library_handle(Library *library);
// Begin and end a call: library_enter gives the library of the handle to this call alone; NULL, with *status, if the
// handle is closed or busy. library_leave returns `status`.
Library *library_enter(const hopscotch_env *env, int *status);
int library_leave(const hopscotch_env *env, int status);
// Closes the handle, within a call.
void library_forget(const hopscotch_env *env);
// Count holders of the library; the last release frees the library.
void library_hold(Library *library);
void library_release(Library *library);

// ---- errors ---------------------------------------------------------------------------------------------------------

// Store the error of a call in the library, or with NULL in this thread. library_fail returns `status`; library_failed
// the status that belongs to the kind of the error.
int library_fail(Library *library, int status, const char *format, ...) PRINTF_LIKE(3, 4);
int library_failed(Library *library, Error error);
// Where a call without an open handle writes its text: LIBRARY_ERROR bytes of this thread.
char *library_error_of_thread(void);

// ---- arrays.c -------------------------------------------------------------------------------------------------------

bool library_on_gpu(const Library *library); // its arrays are in a GPU's memory

// ---- open.c ---------------------------------------------------------------------------------------------------------

void library_free(Library *library); // NULL: nothing to do

#endif
