// Streams into memory.
#ifndef HOPSCOTCH_IO_TEXT_STREAM_H
#define HOPSCOTCH_IO_TEXT_STREAM_H

#include "../sim/sim.h"

#include <stdio.h>

typedef struct TextStream {
    FILE *out;             // write here
    char *text;            // the text after closing, NUL-terminated; the caller frees it, also after an error
    size_t size, capacity; // bytes
    const char *purpose;   // for messages: "not enough memory for ..."
} TextStream;
Error text_stream_open(const char *purpose, TextStream *stream); // must not be moved until it is closed
Error text_stream_close(TextStream *stream);                     // Error: memory ran out, now or earlier

#endif
