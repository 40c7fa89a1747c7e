// Resets and steps.
#include "library.h"

int hopscotch_env_reset(hopscotch_env *env, const uint8_t *mask, const uint64_t *seeds)
{
    int status;
    Library *library = library_enter(env, &status);
    if (library == NULL) return status;
    if (mask != NULL && !library->begun)
        return library_leave(
            env, library_fail(library, HOPSCOTCH_WRONG_ARGUMENT, "the first reset must be of all lanes: give no mask"));
    status = library_failed(library, environment_reset(library->environment, mask, seeds));
    library->begun |= status == HOPSCOTCH_OK;
    return library_leave(env, status);
}

int hopscotch_env_step(hopscotch_env *env)
{
    int status;
    Library *library = library_enter(env, &status);
    if (library == NULL) return status;
    if (!library->begun)
        return library_leave(env, library_fail(library, HOPSCOTCH_WRONG_ARGUMENT, "reset the environment first"));
    return library_leave(env, library_failed(library, environment_step(library->environment)));
}

int hopscotch_env_wait(hopscotch_env *env)
{
    int status;
    Library *library = library_enter(env, &status);
    if (library == NULL) return status;
    return library_leave(env, library_failed(library, environment_wait(library->environment)));
}

void *hopscotch_env_stream(hopscotch_env *env)
{
    int status;
    Library *library = library_enter(env, &status);
    if (library == NULL) return NULL;
    void *stream = environment_place(library->environment).stream;
    library_leave(env, HOPSCOTCH_OK);
    return stream;
}

int hopscotch_env_set_stream(hopscotch_env *env, void *stream)
{
    int status;
    Library *library = library_enter(env, &status);
    if (library == NULL) return status;
    return library_leave(env, library_failed(library, environment_set_stream(library->environment, stream)));
}
