// Every bad spec of tests/golden/bad_specs gives exactly the text of NAME.expected: all its errors, in one pass, at
// their places. HOPSCOTCH_UPDATE_GOLDEN=1 rewrites the expected texts; read the difference before you keep it.
#include "../../runner/experiment/spec/keys.h"
#include "../test.h"

#include <stdlib.h>
#include <string.h>

static const char golden_folder[] = "tests/golden/bad_specs";

// {models} stands for the names of all models, so that a new one changes no golden text.
static const char *golden_without_models(const char *text, Arena *arena)
{
    const char *names[64];
    const int count = model_count();
    for (int i = 0; i < count; i++) names[i] = model_at(i)->name;
    const char *all = words_sentence(names, count, arena);
    const char *found = strstr(text, all);
    if (found == NULL) return arena_copy(arena, text);
    const size_t before = (size_t)(found - text);
    return arena_format(arena, "%.*s{models}%s", (int)before, text, text + before + strlen(all));
}

static const char *golden_messages(const char *path, Arena *arena)
{
    char *text = NULL;
    size_t size = 0;
    Spec spec;
    Diagnostics *diagnostics = diagnostics_new(arena);
    const Error error = spec_load(path, NULL, 0, arena, diagnostics, &spec);
    CHECK_ERROR(ERROR_USER, error);
    FILE *out = open_memstream(&text, &size);
    diagnostics_print(diagnostics, out, false);
    fprintf(out, "%s\n", error.text);
    fclose(out);
    const char *messages = golden_without_models(text, arena);
    free(text);
    return messages;
}

static void golden_check(const char *stem, Arena *arena)
{
    const char *path = arena_format(arena, "%s/%s.yaml", golden_folder, stem);
    const char *expected_name = arena_format(arena, "%s.expected", stem);
    const char *messages = golden_messages(path, arena);
    Bytes expected;
    if (getenv("HOPSCOTCH_UPDATE_GOLDEN") != NULL)
        CHECK_OK(file_write(golden_folder, expected_name, messages, strlen(messages)));
    const Error error =
        file_read(arena_format(arena, "%s/%s", golden_folder, expected_name), 1 << 20, arena, &expected);
    CHECK_OK(error);
    if (error.kind == OK) CHECK_TEXT((const char *)expected.data, messages);
}

TEST(spec_bad_specs_give_their_exact_messages)
{
    Arena arena;
    char **names;
    int count = 0, checked = 0;
    CHECK_OK(arena_create(&arena, (size_t)256 << 20, "test"));
    if (!file_exists(golden_folder)) {
        test_skip("files of the repository", "run it from its root");
        return;
    }
    CHECK_OK(folder_list(golden_folder, &arena, &names, &count));
    for (int i = 0; i < count; i++) {
        const char *dot = strrchr(names[i], '.');
        if (dot == NULL || strcmp(dot, ".yaml") != 0) continue;
        golden_check(arena_format(&arena, "%.*s", (int)(dot - names[i]), names[i]), &arena);
        checked++;
    }
    CHECK(checked >= 60);
    arena_destroy(&arena);
}
