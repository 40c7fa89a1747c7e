// Opening an environment of a spec, and closing it.
#include "library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY_SPEC_BYTES ((size_t)16 << 30) // of address space for a spec
enum { LIBRARY_LANES = 16777216 };

// Where the spec is: a file, or a text with a name for messages.
typedef struct LibrarySource {
    const char *path, *name, *text;
} LibrarySource;

void library_free(Library *library)
{
    if (library == NULL) return;
    environment_close(library->environment);
    arena_destroy(&library->arena);
    free(library);
}

// ---- options --------------------------------------------------------------------------------------------------------

// What the caller knows of the options; a caller that was compiled with an older header knows less of them.
static int library_take_options(const hopscotch_env_options *given, hopscotch_env_options *options)
{
    const hopscotch_env_options defaults = HOPSCOTCH_ENV_OPTIONS;
    *options = defaults;
    if (given == NULL) return HOPSCOTCH_OK;
    if (given->size < offsetof(hopscotch_env_options, stream) || given->size > sizeof *options)
        return library_fail(NULL, HOPSCOTCH_WRONG_ARGUMENT, "options.size is %zu, expected %zu", given->size,
                            sizeof *options);
    memcpy(options, given, given->size);
    if (options->lanes == 0) options->lanes = 1;
    if (options->lanes < 1 || options->lanes > LIBRARY_LANES)
        return library_fail(NULL, HOPSCOTCH_WRONG_ARGUMENT, "options.lanes is %lld, expected 1 to %d",
                            (long long)options->lanes, LIBRARY_LANES);
    if (options->autoreset < HOPSCOTCH_AUTORESET_NEXT_STEP || options->autoreset > HOPSCOTCH_AUTORESET_DISABLED)
        return library_fail(NULL, HOPSCOTCH_WRONG_ARGUMENT, "options.autoreset is %d, expected 0, 1 or 2",
                            options->autoreset);
    if (options->type != HOPSCOTCH_FLOAT64 && options->type != HOPSCOTCH_FLOAT32)
        return library_fail(NULL, HOPSCOTCH_WRONG_ARGUMENT,
                            "options.type is %d, expected HOPSCOTCH_FLOAT64 or HOPSCOTCH_FLOAT32", options->type);
    if (options->threads < 0 || options->threads > 1024)
        return library_fail(NULL, HOPSCOTCH_WRONG_ARGUMENT, "options.threads is %d, expected 0 to 1024",
                            options->threads);
    if (options->n_set < 0 || (options->n_set > 0 && options->set == NULL))
        return library_fail(NULL, HOPSCOTCH_WRONG_ARGUMENT, "options.n_set is %d, and options.set is %s",
                            options->n_set, options->set == NULL ? "NULL" : "given");
    for (int i = 0; i < options->n_set; i++)
        if (options->set[i] == NULL)
            return library_fail(NULL, HOPSCOTCH_WRONG_ARGUMENT, "options.set[%d] is NULL, expected KEY=VALUE", i);
    return HOPSCOTCH_OK;
}

// "cuda:3": "cuda" and 3.
static int library_take_device(const char *device, EnvironmentSetup *setup)
{
    static const char *const names[] = {"auto", "cpu", "cuda"};
    const char *given = device != NULL ? device : "auto";
    char *end;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        setup->device = names[i];
        if (strcmp(given, names[i]) == 0) return HOPSCOTCH_OK;
    }
    if (strncmp(given, "cuda:", 5) == 0 && given[5] >= '0' && given[5] <= '9') {
        const long number = strtol(given + 5, &end, 10);
        setup->number = (int)number;
        if (*end == '\0' && number < 64) return HOPSCOTCH_OK;
    }
    return library_fail(NULL, HOPSCOTCH_WRONG_ARGUMENT, "unknown device '%.60s': use auto, cpu, cuda or cuda:N", given);
}

// ---- the spec -------------------------------------------------------------------------------------------------------

// All that is wrong with a spec, as `hopscotch check` prints it.
static int library_wrong_spec(const Diagnostics *diagnostics, const Error *error)
{
    char *text = library_error_of_thread();
    FILE *out = diagnostics_errors(diagnostics) > 0 ? fmemopen(text, LIBRARY_ERROR, "w") : NULL;
    const int status = error->kind == ERROR_USER ? HOPSCOTCH_WRONG_SPEC : HOPSCOTCH_MACHINE;
    if (out == NULL) return library_fail(NULL, status, "%s", error->text);
    memset(text, 0, LIBRARY_ERROR);
    diagnostics_print(diagnostics, out, false);
    fclose(out);
    text[LIBRARY_ERROR - 1] = '\0';
    for (size_t length = strlen(text); length > 0 && text[length - 1] == '\n'; length--) text[length - 1] = '\0';
    return status;
}

static int library_load(Library *library, const LibrarySource *source, const hopscotch_env_options *options,
                        Diagnostics *diagnostics)
{
    const Error error = source->path != NULL ? spec_load(source->path, options->set, options->n_set, &library->arena,
                                                         diagnostics, &library->spec)
                                             : spec_parse(source->name, source->text, options->set, options->n_set,
                                                          &library->arena, diagnostics, &library->spec);
    return error.kind == OK ? HOPSCOTCH_OK : library_wrong_spec(diagnostics, &error);
}

static int library_prepare(Library *library, const hopscotch_env_options *options, Diagnostics *diagnostics)
{
    EnvironmentSetup *setup = &library->setup;
    const Spec *spec = &library->spec;
    const int status = library_take_device(options->device, setup);
    if (status != HOPSCOTCH_OK) return status;
    Error error = spec_environment(spec, &library->arena, diagnostics, setup);
    if (error.kind != OK) return library_wrong_spec(diagnostics, &error);
    library->spec.fixed = setup->fixed;
    setup->lanes = options->lanes;
    setup->autoreset = (EnvironmentReset)options->autoreset;
    setup->single = options->type == HOPSCOTCH_FLOAT32;
    setup->isa = options->isa;
    setup->threads = options->threads;
    setup->stream = options->stream;
    if (options->has_seed != 0) setup->seed = options->seed;
    library->n_actions = spec->configured.n_actions;
    library->n_observations = setup->n_observations;
    error = environment_check(setup);
    if (error.kind == ERROR_USER) return library_fail(NULL, HOPSCOTCH_WRONG_SPEC, "%s: %s", spec->file, error.text);
    return library_failed(NULL, environment_open(setup, &library->environment));
}

static int library_open(const LibrarySource *source, const hopscotch_env_options *given, hopscotch_env **env)
{
    hopscotch_env_options options;
    int status = library_take_options(given, &options);
    if (status != HOPSCOTCH_OK) return status;
    Library *library = calloc(1, sizeof *library);
    if (library == NULL) return library_fail(NULL, HOPSCOTCH_MACHINE, "not enough memory for an environment");
    const Error error = arena_create_growing(&library->arena, LIBRARY_SPEC_BYTES, "a spec");
    status = library_failed(NULL, error);
    Diagnostics *diagnostics = status == HOPSCOTCH_OK ? diagnostics_new(&library->arena) : NULL;
    if (status == HOPSCOTCH_OK) status = library_load(library, source, &options, diagnostics);
    if (status == HOPSCOTCH_OK) status = library_prepare(library, &options, diagnostics);
    if (status == HOPSCOTCH_OK) *env = library_handle(library);
    if (status == HOPSCOTCH_OK && *env == NULL)
        status = library_fail(NULL, HOPSCOTCH_MACHINE, "too many environments are open");
    if (status != HOPSCOTCH_OK) library_free(library);
    return status;
}

int hopscotch_env_open(const char *path, const hopscotch_env_options *options, hopscotch_env **env)
{
    if (env == NULL) return library_fail(NULL, HOPSCOTCH_WRONG_ARGUMENT, "env is NULL: it must point to a handle");
    *env = NULL;
    if (path == NULL) return library_fail(NULL, HOPSCOTCH_WRONG_ARGUMENT, "path is NULL, expected the name of a file");
    return library_open(&(LibrarySource){.path = path}, options, env);
}

int hopscotch_env_open_text(const char *name, const char *text, const hopscotch_env_options *options,
                            hopscotch_env **env)
{
    if (env == NULL) return library_fail(NULL, HOPSCOTCH_WRONG_ARGUMENT, "env is NULL: it must point to a handle");
    *env = NULL;
    if (text == NULL) return library_fail(NULL, HOPSCOTCH_WRONG_ARGUMENT, "text is NULL, expected a spec");
    return library_open(&(LibrarySource){.name = name != NULL ? name : "spec", .text = text}, options, env);
}

int hopscotch_env_close(hopscotch_env *env)
{
    int status;
    Library *library = library_enter(env, &status);
    if (library == NULL) return status;
    (void)environment_set_stream(library->environment, NULL); // waits; tensors may outlive the caller's stream
    library_forget(env);
    library_release(library);
    return HOPSCOTCH_OK;
}
