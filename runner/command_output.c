// Files that commands write for the user: gathered in memory and written whole, so that an error or a kill never leaves
// half a file where a good one was.
#include "runner.h"

#include <stdlib.h>
#include <string.h>

Error command_output_start(const char *path, CommandOutput *output)
{
    *output = (CommandOutput){.path = path};
    output->out = open_memstream(&output->text, &output->size);
    if (output->out == NULL) return error_make(ERROR_MEMORY, "not enough memory for %.200s", path);
    return error_none();
}

static Error command_output_write(const CommandLine *line, const CommandOutput *output)
{
    if (strcmp(output->path, "-") == 0) {
        fwrite(output->text, 1, output->size, line->out);
        return error_none(); // its errors are found when it is flushed
    }
    TRY(file_write_path(output->path, output->text, output->size, line->arena));
    FILE *words = switch_given(line, "json") ? line->messages : line->out; // JSON stands alone
    put_visible(words, output->path);
    fprintf(words, ": %s\n", text_bytes((double)output->size).text);
    return error_none();
}

Error command_output_finish(const CommandLine *line, CommandOutput *output, Error error)
{
    if (fclose(output->out) != 0 && error.kind == OK)
        error = error_make(ERROR_MEMORY, "not enough memory for %.200s", output->path);
    if (error.kind == OK) error = command_output_write(line, output);
    free(output->text);
    return error;
}
