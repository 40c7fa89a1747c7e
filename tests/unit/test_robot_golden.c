// Every bad robot of tests/golden/bad_robots gives exactly the text of NAME.expected. HOPSCOTCH_UPDATE_GOLDEN=1
// rewrites the expected texts; read the difference before you keep it.
#include "../test.h"

#include <stdlib.h>
#include <string.h>

static const char robots_folder[] = "tests/golden/bad_robots";

static char *robots_messages(const char *path, Arena *arena)
{
    char *text = NULL;
    size_t size = 0;
    Bytes bytes;
    Diagnostics *diagnostics = diagnostics_new(arena);
    CHECK_OK(file_read(path, XML_BYTES_MAX, arena, &bytes));
    const Source source = {.file = path, .text = (const char *)bytes.data};
    const RobotOptions options = {.folder = robots_folder};
    CHECK(robot_read(&source, &options, arena, diagnostics) == NULL);
    CHECK(diagnostics_errors(diagnostics) > 0);
    FILE *out = open_memstream(&text, &size);
    diagnostics_print(diagnostics, out, false);
    fclose(out);
    return text;
}

static void robots_check(const char *name, Arena *arena)
{
    const char *expected_name = arena_format(arena, "%s.expected", name);
    char *messages = robots_messages(arena_format(arena, "%s/%s", robots_folder, name), arena);
    Bytes expected;
    if (getenv("HOPSCOTCH_UPDATE_GOLDEN") != NULL)
        CHECK_OK(file_write(robots_folder, expected_name, messages, strlen(messages)));
    const Error error =
        file_read(arena_format(arena, "%s/%s", robots_folder, expected_name), 1 << 20, arena, &expected);
    CHECK_OK(error);
    if (error.kind == OK) CHECK_TEXT((const char *)expected.data, messages);
    free(messages);
}

TEST(robot_bad_robots_give_their_exact_messages)
{
    Arena arena;
    char **names;
    int count = 0, checked = 0;
    CHECK_OK(arena_create(&arena, (size_t)256 << 20, "test"));
    if (!file_exists(robots_folder)) {
        test_skip("files of the repository", "run it from its root");
        return;
    }
    CHECK_OK(folder_list(robots_folder, &arena, &names, &count));
    for (int i = 0; i < count; i++) {
        const char *dot = strrchr(names[i], '.');
        if (dot == NULL || (strcmp(dot, ".xml") != 0 && strcmp(dot, ".urdf") != 0)) continue;
        robots_check(names[i], &arena);
        checked++;
    }
    CHECK(checked >= 25);
    arena_destroy(&arena);
}
