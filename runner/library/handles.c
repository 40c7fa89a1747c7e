// Handles: a slot of a table and how often that slot was used, so that a closed handle is never taken for another.
// Nothing is read through a handle before it is found in the table.
#include "library.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { HANDLES_BITS = 12, HANDLES = 1 << HANDLES_BITS };

typedef struct HandleSlot {
    Library *library; // NULL: free
    uintptr_t uses;
    bool inside; // a call is
} HandleSlot;

static HandleSlot handles_table[HANDLES];
static pthread_mutex_t handles_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local char handles_error[LIBRARY_ERROR];

char *library_error_of_thread(void) { return handles_error; }

// The number of a handle is uses * HANDLES + slot + 1, which is never 0.
static hopscotch_env *handles_of(int slot)
{
    return (hopscotch_env *)((handles_table[slot].uses << HANDLES_BITS) + (uintptr_t)slot + 1);
}

// With the lock held. NULL: closed.
static HandleSlot *handles_find(const hopscotch_env *env)
{
    const uintptr_t number = (uintptr_t)env - 1;
    HandleSlot *slot = &handles_table[number % HANDLES];
    return env != NULL && slot->library != NULL && slot->uses == number >> HANDLES_BITS ? slot : NULL;
}

hopscotch_env *library_handle(Library *library)
{
    hopscotch_env *env = NULL;
    pthread_mutex_lock(&handles_lock);
    for (int i = 0; i < HANDLES && env == NULL; i++) {
        if (handles_table[i].library != NULL) continue;
        handles_table[i].library = library;
        handles_table[i].uses++;
        handles_table[i].inside = false;
        library->holders = 1;
        env = handles_of(i);
    }
    pthread_mutex_unlock(&handles_lock);
    return env;
}

Library *library_enter(const hopscotch_env *env, int *status)
{
    Library *library = NULL;
    pthread_mutex_lock(&handles_lock);
    HandleSlot *slot = handles_find(env);
    *status = slot == NULL ? HOPSCOTCH_CLOSED : slot->inside ? HOPSCOTCH_BUSY : HOPSCOTCH_OK;
    if (*status == HOPSCOTCH_OK) {
        library = slot->library;
        slot->inside = true;
    }
    pthread_mutex_unlock(&handles_lock);
    if (library != NULL)
        library->error[0] = '\0';
    else
        library_fail(NULL, *status, "%s",
                     *status == HOPSCOTCH_BUSY ? "another call with this environment has not returned yet"
                                               : "the environment is closed, or was never opened");
    return library;
}

int library_leave(const hopscotch_env *env, int status)
{
    pthread_mutex_lock(&handles_lock);
    HandleSlot *slot = handles_find(env);
    if (slot != NULL) slot->inside = false;
    pthread_mutex_unlock(&handles_lock);
    return status;
}

void library_forget(const hopscotch_env *env)
{
    pthread_mutex_lock(&handles_lock);
    HandleSlot *slot = handles_find(env);
    if (slot != NULL) slot->library = NULL;
    pthread_mutex_unlock(&handles_lock);
}

void library_hold(Library *library)
{
    pthread_mutex_lock(&handles_lock);
    library->holders++;
    pthread_mutex_unlock(&handles_lock);
}

void library_release(Library *library)
{
    pthread_mutex_lock(&handles_lock);
    const bool last = --library->holders == 0;
    pthread_mutex_unlock(&handles_lock);
    if (last) library_free(library);
}

// ---- errors ---------------------------------------------------------------------------------------------------------

int library_fail(Library *library, int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(library != NULL ? library->error : handles_error, LIBRARY_ERROR, format, arguments);
    va_end(arguments);
    return status;
}

int library_failed(Library *library, Error error)
{
    const int status = error.kind == OK                                        ? HOPSCOTCH_OK
                       : error.kind == ERROR_USER || error.kind == ERROR_USAGE ? HOPSCOTCH_WRONG_ARGUMENT
                                                                               : HOPSCOTCH_MACHINE;
    return status == HOPSCOTCH_OK ? status : library_fail(library, status, "%s", error.text);
}

const char *hopscotch_error(const hopscotch_env *env)
{
    pthread_mutex_lock(&handles_lock);
    const HandleSlot *slot = handles_find(env);
    const char *text = slot != NULL ? slot->library->error : handles_error;
    pthread_mutex_unlock(&handles_lock);
    return text;
}

int hopscotch_interface(void) { return HOPSCOTCH_INTERFACE; }
const char *hopscotch_version(void) { return HOPSCOTCH_VERSION; }
