// A stream whose text is collected in memory.
#ifndef HOPSCOTCH_IO_TEXT_STREAM_H
#define HOPSCOTCH_IO_TEXT_STREAM_H

#include "../sim/sim.h"

#include <stdio.h>

typedef struct TextStream {
    FILE *out;             // write here
    char *text;            // after closing: the text, NUL-terminated; the caller frees it, also after an error
    size_t size, capacity; // bytes
    const char *purpose;   // for messages: "not enough memory for ..."
} TextStream;
Error text_stream_open(const char *purpose, TextStream *stream); // do not move *stream until it is closed
// Now text[size] is what was written. Then size may be set to 0, and the stream collects the next text.
Error text_stream_flush(TextStream *stream);
Error text_stream_close(TextStream *stream); // error (machine): memory ran out, now or earlier

#endif
