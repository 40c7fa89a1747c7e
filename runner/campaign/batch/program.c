// Models that run a program of the user's: who may run it, and where.
#include "../campaign.h"

#include <string.h>

// At most `most` bytes of a text; "..." marks what is cut.
static const char *program_cut(const char *text, size_t most, Arena *arena)
{
    return strlen(text) <= most ? text : arena_format(arena, "%.*s...", (int)(most - 3), text);
}

static const char *program_words(const Spec *spec, Arena *arena)
{
    enum { WORD = 60, ALL = 160 };                 // bytes that are shown
    const Points *words = &spec->option_points[0]; // the first option of such a model
    const char *text = "";
    for (int64_t i = 0; i < words->count && strlen(text) <= ALL; i++) {
        const char *word = program_cut(text_visible(words->names[i], arena), WORD, arena);
        text = arena_format(arena, "%s%s%s", text, i > 0 ? " " : "", word);
    }
    return program_cut(text, ALL, arena);
}

// folder NULL: it stands in the campaign, which is not open yet.
static Error program_refuse(const Spec *spec, const char *folder, Arena *arena)
{
    const char *where = "where it ran before";
    if (folder != NULL) where = arena_format(arena, "in %s", text_visible(folder_absolute(folder, arena), arena));
    return error_make(
        ERROR_USER,
        "this would run `%s` %.160s: a program can do all that you can do. If you trust it, add --allow-programs",
        program_words(spec, arena), where);
}

Error program_options(const Spec *spec, Arena *arena, BackendOptions *options)
{
    ProgramOptions *program = &options->program;
    options->cases = spec->n_cases;
    if (spec->model->by_hand) return spec_check_run(spec);
    if (!spec->model->runs_program) return error_none();
    if (program->folder == NULL) program->folder = spec->folder;
    if (options->name != NULL && strcmp(options->name, "cuda") == 0)
        return error_make(ERROR_USER, "model %s runs a program, which has no backend `cuda`: leave --backend out",
                          spec->model->name);
    if (!program->allowed) return program_refuse(spec, program->folder, arena);
    if (program->folder == NULL)
        return error_make(ERROR_USER,
                          "where the program `%s` lies is not known: name its folder with --program-folder, or run the "
                          "spec's file again",
                          program_words(spec, arena));
    program->folder = folder_absolute(program->folder, arena);
    options->name = "program";
    return error_none();
}
