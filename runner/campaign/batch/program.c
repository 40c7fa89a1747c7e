// Models that run a program of the user's: who may run it, and where.
#include "../campaign.h"

#include <string.h>

static const char *program_words(const Spec *spec, Arena *arena)
{
    const Points *words = &spec->option_points[0]; // the first option of such a model
    const char *text = "";
    for (int64_t i = 0; i < words->count; i++)
        text = arena_format(arena, "%s%s%.60s", text, i > 0 ? " " : "", words->names[i]);
    return text_visible(text, arena);
}

Error program_options(const Spec *spec, Arena *arena, BackendOptions *options)
{
    ProgramOptions *program = &options->program;
    if (!spec->model->runs_program) return error_none();
    if (program->folder == NULL) program->folder = spec->folder;
    if (options->name != NULL && strcmp(options->name, "cuda") == 0)
        return error_make(ERROR_USER, "model %s runs a program, which has no backend `cuda`: leave --backend out",
                          spec->model->name);
    if (!program->allowed)
        return error_make(ERROR_USER,
                          "this would run `%.120s`: a program can do all that you can do. If you trust it, add "
                          "--allow-programs",
                          program_words(spec, arena));
    if (program->folder == NULL)
        return error_make(ERROR_USER, "where the program `%.120s` lies is not known: run the spec's file again",
                          program_words(spec, arena));
    program->folder = folder_absolute(program->folder, arena);
    options->name = "program";
    return error_none();
}
