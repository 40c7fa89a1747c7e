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

// A new handle for it; NULL: there are too many.
hopscotch_env *library_handle(Library *library);
// The library of a handle, for one call; after it, leave. NULL and *status: closed or busy.
Library *library_enter(const hopscotch_env *env, int *status);
int library_leave(const hopscotch_env *env, int status);
// Within a call: from now on the handle is closed.
void library_forget(const hopscotch_env *env);
// One holder more, or less; the last one frees it.
void library_hold(Library *library);
void library_release(Library *library);

// ---- errors ---------------------------------------------------------------------------------------------------------

// Notes the error of a call; library NULL: of this thread. Returns the status.
int library_fail(Library *library, int status, const char *format, ...) PRINTF_LIKE(3, 4);
int library_failed(Library *library, Error error);
// Where a call without an open handle writes its text: LIBRARY_ERROR bytes of this thread.
char *library_error_of_thread(void);

// ---- arrays.c -------------------------------------------------------------------------------------------------------

bool library_on_gpu(const Library *library);

// ---- open.c ---------------------------------------------------------------------------------------------------------

void library_free(Library *library); // NULL: nothing

#endif
