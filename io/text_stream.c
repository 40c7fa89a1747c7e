// A stream into memory, for texts that may not be needed in the end. Unlike open_memstream it reports if memory ran
// out: there text is lost without an error.
#include "text_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_STREAM_START = 4096 };

static bool text_stream_grow(TextStream *stream, size_t least)
{
    size_t capacity = stream->capacity > 0 ? stream->capacity : TEXT_STREAM_START;
    while (capacity < least) capacity *= 2;
    if (capacity == stream->capacity) return true;
    char *text = realloc(stream->text, capacity);
    if (text == NULL) return false;
    stream->text = text;
    stream->capacity = capacity;
    return true;
}

// stdio calls it with each full buffer. 0: nothing was taken, and the stream has its error set.
static ssize_t text_stream_write(void *given, const char *bytes, size_t count)
{
    TextStream *stream = given;
    if (!text_stream_grow(stream, stream->size + count + 1)) {
        errno = ENOMEM;
        return 0;
    }
    memcpy(stream->text + stream->size, bytes, count);
    stream->size += count;
    stream->text[stream->size] = '\0';
    return (ssize_t)count;
}

static Error text_stream_no_memory(const TextStream *stream)
{
    return error_make(ERROR_MEMORY, "not enough memory for %.200s", stream->purpose);
}

Error text_stream_open(const char *purpose, TextStream *stream)
{
    *stream = (TextStream){.purpose = purpose};
    if (!text_stream_grow(stream, 1)) return text_stream_no_memory(stream);
    stream->text[0] = '\0';
    stream->out = fopencookie(stream, "w", (cookie_io_functions_t){.write = text_stream_write});
    if (stream->out != NULL) return error_none();
    free(stream->text);
    stream->text = NULL;
    return text_stream_no_memory(stream);
}

Error text_stream_flush(TextStream *stream)
{
    return fflush(stream->out) == 0 && ferror(stream->out) == 0 ? error_none() : text_stream_no_memory(stream);
}

Error text_stream_close(TextStream *stream)
{
    const bool whole = ferror(stream->out) == 0;
    const bool closed = fclose(stream->out) == 0;
    stream->out = NULL;
    return whole && closed ? error_none() : text_stream_no_memory(stream);
}
