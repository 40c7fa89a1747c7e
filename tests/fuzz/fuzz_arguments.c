// Any bytes as a command line, an argument a line: a usage error, or a line that agrees with its command's row.
#include "fuzz.h"

enum { FUZZ_ARGUMENTS_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *arena = fuzz_arena();
    char *text = fuzz_text(data, size), *rest = text, *argv[FUZZ_ARGUMENTS_MAX + 2] = {(char[]){"hopscotch"}};
    int argc = 1;
    for (char *word; argc < FUZZ_ARGUMENTS_MAX && (word = strsep(&rest, "\n")) != NULL;) argv[argc++] = word;
    CommandLine line;
    const Error error = command_line_parse(argc, argv, arena, &line);
    fuzz_check_error(error);
    if (error.kind == OK && line.command != NULL) {
        int count;
        const bool help = switch_given(&line, "help");
        if (!help && (line.n_arguments < line.command->least || line.n_arguments > line.command->most)) abort();
        switch_all(&line, "set", &count);
        if (count > argc || line.results == NULL) abort();
    }
    free(text);
    return 0;
}
