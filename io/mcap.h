// MCAP: a log of messages on topics, which Foxglove, Rerun and PlotJuggler read. Source: mcap.dev/spec.
#ifndef HOPSCOTCH_IO_MCAP_H
#define HOPSCOTCH_IO_MCAP_H

#include "../sim/sim.h"

#include <stdio.h>

// Records of a file, by the byte before each.
enum {
    MCAP_HEADER = 0x01,
    MCAP_FOOTER,
    MCAP_SCHEMA,
    MCAP_CHANNEL,
    MCAP_MESSAGE,
    MCAP_CHUNK,
    MCAP_MESSAGE_INDEX,
    MCAP_CHUNK_INDEX,
    MCAP_STATISTICS = 0x0b,
    MCAP_METADATA,
    MCAP_METADATA_INDEX,
    MCAP_SUMMARY_OFFSET,
    MCAP_DATA_END
};
enum { MCAP_MARK = 8 }; // bytes at both ends of a file

// A file that is written in order, so that a pipe takes it too. Messages are collected in chunks of about 1 MiB; they
// are not compressed, and have checksums. The same calls give the same bytes. Memory: a chunk, and an index entry per
// chunk. The caller checks `out` for errors of writing.
typedef struct McapWriter McapWriter;
enum { MCAP_TOPICS_MAX = 64 }; // of a writer; as many schemas

// library: the program that writes. *writer lives in the arena, and must be finished.
Error mcap_start(FILE *out, const char *library, Arena *arena, McapWriter **writer);
// A topic, whose schema describes its messages; text[size]: the schema. Returns the topic's number.
int mcap_add_topic(McapWriter *writer, const char *topic, const char *message_encoding, const char *schema,
                   const char *schema_encoding, const char *text, size_t size);
// Begins a message, whose bytes are written to the stream that it returns; then it is put. time: ns; times of a file do
// not decrease.
FILE *mcap_message(McapWriter *writer, int topic, uint64_t time);
Error mcap_put(McapWriter *writer);
// A list of words under a name.
typedef struct McapPair {
    const char *key, *value;
} McapPair;
Error mcap_put_metadata(McapWriter *writer, const char *name, const McapPair *pairs, int count);
// Writes the end, and frees memory. error: the first error of the caller, or none; returns the first error.
Error mcap_finish(McapWriter *writer, Error error);

#endif
