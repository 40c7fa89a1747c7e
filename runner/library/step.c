// Resets and steps.
#include "library.h"

#include <math.h>

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

static bool library_action_is_nan(const EnvironmentView *view, int64_t k)
{
    return view->single != 0 ? isnan(((const float *)view->given)[k]) : isnan(((const double *)view->given)[k]);
}

// On the CPU: the lanes that a step advances need actions. On a GPU hopscotch_env_wait() looks.
static int library_check_actions(Library *library)
{
    const EnvironmentView *view = environment_view(library->environment);
    if (library_on_gpu(library)) return HOPSCOTCH_OK;
    for (int a = 0; a < view->n_actions; a++) {
        for (int64_t lane = 0; lane < view->lanes; lane++) {
            if (!library_action_is_nan(view, a * view->stride + lane) || view->status[lane] != LANE_RUNNING) continue;
            return library_fail(library, HOPSCOTCH_WRONG_ARGUMENT, "action %s of environment %lld is NaN",
                                library->spec.configured.actions[a].name, (long long)lane);
        }
    }
    return HOPSCOTCH_OK;
}

int hopscotch_env_step(hopscotch_env *env)
{
    int status;
    Library *library = library_enter(env, &status);
    if (library == NULL) return status;
    if (!library->begun)
        return library_leave(env, library_fail(library, HOPSCOTCH_WRONG_ARGUMENT, "reset the environment first"));
    status = library_check_actions(library);
    if (status != HOPSCOTCH_OK) return library_leave(env, status);
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
    void *stream = environment_device(library->environment).stream;
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
