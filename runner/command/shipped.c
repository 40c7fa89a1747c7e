// The files that come with the program: experiments/ and pages, in ../share/hopscotch beside it as `make install` and
// the wheel have them, or in the source folder that it was built in.
#include "command.h"

#include <string.h>
#include <unistd.h>

enum { SHIPPED_PATH = 4096 };

Error shipped_folder(Arena *arena, const char **folder)
{
    static const char *const places[] = {"../share/hopscotch", "..", "../.."}; // installed, build/, build/dev/
    char program[SHIPPED_PATH];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    for (size_t i = 0; length > 0 && i < sizeof places / sizeof *places; i++) {
        const char *place = arena_format(arena, "%s/%s", folder_of(program, arena), places[i]);
        if (!file_exists(arena_format(arena, "%s/experiments/schema.json", place))) continue;
        *folder = folder_absolute(place, arena);
        return error_none();
    }
    return error_make(ERROR_USER, "the examples and pages are not beside this program: `make install` puts them into "
                                  "../share/hopscotch, and the Python wheel has them");
}

Error shipped_read(const char *folder, const char *name, Arena *arena, Bytes *out)
{
    FileWithin file;
    TRY(file_open_within(folder, name, arena, &file));
    return file_read_within(&file, SHIPPED_BYTES_MAX, arena, out);
}
