// Output files of commands. They are collected in memory and written in one piece, so that an error or a kill never
// replaces a whole file by a piece of one.
#include "command.h"

#include <stdlib.h>
#include <string.h>

Error command_output_start(const char *path, CommandOutput *output)
{
    output->path = path;
    return text_stream_open(path, &output->stream);
}

static Error command_output_write(const CommandLine *line, const CommandOutput *output)
{
    if (strcmp(output->path, "-") == 0) {
        fwrite(output->stream.text, 1, output->stream.size, line->out);
        return error_none(); // errors are found when it is flushed
    }
    bool standard = false;
    TRY(output_write(output->path, output->stream.text, output->stream.size, line->arena, &standard));
    FILE *words = standard || switch_given(line, "json") ? line->messages : line->out; // not within other output
    put_visible(words, output->path);
    fprintf(words, ": %s\n", text_bytes((double)output->stream.size).text);
    return error_none();
}

Error command_output_finish(const CommandLine *line, CommandOutput *output, Error error)
{
    const Error closed = text_stream_close(&output->stream);
    if (error.kind == OK) error = closed;
    if (error.kind == OK) error = command_output_write(line, output);
    free(output->stream.text);
    return error;
}
