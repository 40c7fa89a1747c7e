// Writes MCAP (mcap.h). A record is a byte, its length and its body. The data section has topics, chunks of messages,
// and metadata. The summary repeats the topics and says where all else is.
#include "mcap.h"

#include "text_stream.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MCAP_CHUNK_BYTES = 1 << 20, MCAP_CHUNK_MESSAGES = 1 << 14, MCAP_RECORD_HEAD = 9 };
#define MCAP_ID(topic) (1 + (uint64_t)(topic)) // of its channel, and of its schema

static const unsigned char mcap_mark[MCAP_MARK] = {0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};

// A record that the summary repeats.
typedef struct McapKept {
    uint8_t opcode;
    const char *body;
    size_t size;
} McapKept;

typedef struct McapWrittenTopic {
    McapKept channel, schema;
    uint64_t messages;
} McapWrittenTopic;

// A message of the chunk that is collected.
typedef struct McapPlace {
    uint64_t time, offset; // offset: bytes from the chunk's first record
    int topic;
} McapPlace;

typedef struct McapWrittenChunk {
    uint64_t start, end;              // ns: first and last time
    uint64_t at, length;              // bytes of its record
    uint64_t indexes, indexes_length; // bytes of the message indexes behind it
    uint64_t size;                    // bytes of its records
    uint64_t *index;                  // [n_topics] where each topic's index stands; 0: it has no messages
    int n_topics;
    struct McapWrittenChunk *next;
} McapWrittenChunk;

typedef struct McapWrittenMetadata {
    const char *name;
    uint64_t at, length;
    struct McapWrittenMetadata *next;
} McapWrittenMetadata;

struct McapWriter {
    FILE *out;
    Arena *arena;
    uint64_t at;  // bytes written
    uint32_t crc; // of the section's bytes
    TextStream record, chunk;
    uint64_t chunk_bytes; // in the chunk that is collected
    McapWrittenTopic topics[MCAP_TOPICS_MAX];
    int n_topics;
    McapPlace places[MCAP_CHUNK_MESSAGES];
    int n_places;
    McapWrittenChunk *first_chunk, **next_chunk;
    uint32_t n_chunks, n_metadata;
    McapWrittenMetadata *first_metadata, **next_metadata;
    uint64_t start, end, messages; // ns; of all messages
    Error error;                   // the first: memory ran out
};

// ---- bytes ----------------------------------------------------------------------------------------------------------

static void mcap_number(FILE *out, uint64_t value, int size)
{
    for (int k = 0; k < size; k++) fputc((int)(value >> 8 * k & 255), out);
}

static void mcap_string(FILE *out, const char *text)
{
    mcap_number(out, strlen(text), 4);
    fputs(text, out);
}

static void mcap_write(McapWriter *writer, const void *bytes, size_t size)
{
    fwrite(bytes, 1, size, writer->out);
    writer->at += size;
    writer->crc = (uint32_t)crc32_z(writer->crc, bytes, size);
}

static void mcap_write_head(McapWriter *writer, uint8_t opcode, uint64_t size)
{
    unsigned char head[MCAP_RECORD_HEAD] = {opcode};
    for (int k = 0; k < 8; k++) head[1 + k] = (unsigned char)(size >> 8 * k & 255);
    mcap_write(writer, head, sizeof head);
}

// What was collected in a stream is complete.
static void mcap_complete(McapWriter *writer, TextStream *stream)
{
    const Error error = text_stream_flush(stream);
    if (writer->error.kind == OK) writer->error = error;
}

// Writes what was collected as the body of a record.
static void mcap_write_record(McapWriter *writer, uint8_t opcode)
{
    TextStream *record = &writer->record;
    mcap_complete(writer, record);
    mcap_write_head(writer, opcode, record->size);
    mcap_write(writer, record->text, record->size);
    record->size = 0;
}

static McapKept mcap_keep(McapWriter *writer, uint8_t opcode)
{
    TextStream *record = &writer->record;
    mcap_complete(writer, record);
    char *body = ARENA_NEW(writer->arena, char, record->size + 1);
    memcpy(body, record->text, record->size);
    const McapKept kept = {.opcode = opcode, .body = body, .size = record->size};
    record->size = 0;
    return kept;
}

static void mcap_write_kept(McapWriter *writer, const McapKept *kept)
{
    mcap_write_head(writer, kept->opcode, kept->size);
    mcap_write(writer, kept->body, kept->size);
}

// ---- chunks ---------------------------------------------------------------------------------------------------------

static void mcap_write_index(McapWriter *writer, int topic, McapWrittenChunk *chunk)
{
    FILE *out = writer->record.out;
    uint64_t count = 0;
    for (int i = 0; i < writer->n_places; i++) count += writer->places[i].topic == topic;
    if (count == 0) return;
    mcap_number(out, MCAP_ID(topic), 2);
    mcap_number(out, 16 * count, 4);
    for (int i = 0; i < writer->n_places; i++) {
        if (writer->places[i].topic != topic) continue;
        mcap_number(out, writer->places[i].time, 8);
        mcap_number(out, writer->places[i].offset, 8);
    }
    chunk->index[topic] = writer->at;
    mcap_write_record(writer, MCAP_MESSAGE_INDEX);
}

static void mcap_write_chunk(McapWriter *writer)
{
    TextStream *record = &writer->record, *records = &writer->chunk;
    if (writer->n_places == 0) return;
    mcap_complete(writer, records);
    McapWrittenChunk *chunk = ARENA_NEW(writer->arena, McapWrittenChunk, 1);
    *chunk = (McapWrittenChunk){.start = writer->places[0].time,
                                .end = writer->places[writer->n_places - 1].time,
                                .at = writer->at,
                                .size = records->size,
                                .index = ARENA_NEW(writer->arena, uint64_t, writer->n_topics),
                                .n_topics = writer->n_topics};
    mcap_number(record->out, chunk->start, 8);
    mcap_number(record->out, chunk->end, 8);
    mcap_number(record->out, records->size, 8);
    mcap_number(record->out, crc32_z(0, (const unsigned char *)records->text, records->size), 4);
    mcap_string(record->out, ""); // not compressed
    mcap_number(record->out, records->size, 8);
    mcap_complete(writer, record);
    mcap_write_head(writer, MCAP_CHUNK, record->size + records->size);
    mcap_write(writer, record->text, record->size);
    mcap_write(writer, records->text, records->size);
    record->size = records->size = 0;
    chunk->length = writer->at - chunk->at;
    chunk->indexes = writer->at;
    for (int t = 0; t < writer->n_topics; t++) mcap_write_index(writer, t, chunk);
    chunk->indexes_length = writer->at - chunk->indexes;
    writer->n_places = 0;
    writer->chunk_bytes = 0;
    writer->n_chunks++;
    *writer->next_chunk = chunk;
    writer->next_chunk = &chunk->next;
}

// ---- what the caller puts -------------------------------------------------------------------------------------------

Error mcap_start(FILE *out, const char *library, Arena *arena, McapWriter **given)
{
    McapWriter *writer = ARENA_NEW(arena, McapWriter, 1);
    *writer = (McapWriter){.out = out, .arena = arena, .start = UINT64_MAX};
    writer->next_chunk = &writer->first_chunk;
    writer->next_metadata = &writer->first_metadata;
    *given = writer;
    TRY(text_stream_open("a message", &writer->record));
    const Error error = text_stream_open("messages", &writer->chunk);
    if (error.kind != OK) {
        (void)text_stream_close(&writer->record);
        free(writer->record.text);
        return error;
    }
    mcap_write(writer, mcap_mark, sizeof mcap_mark);
    mcap_string(writer->record.out, ""); // no profile, because topics have more than one encoding
    mcap_string(writer->record.out, library);
    mcap_write_record(writer, MCAP_HEADER);
    return error_none();
}

int mcap_add_topic(McapWriter *writer, const char *topic, const char *message_encoding, const char *schema,
                   const char *schema_encoding, const char *text, size_t size)
{
    FILE *out = writer->record.out;
    const int number = writer->n_topics++;
    assert(number < MCAP_TOPICS_MAX);
    mcap_number(out, MCAP_ID(number), 2);
    mcap_string(out, schema);
    mcap_string(out, schema_encoding);
    mcap_number(out, size, 4);
    fwrite(text, 1, size, out);
    writer->topics[number].schema = mcap_keep(writer, MCAP_SCHEMA);
    mcap_number(out, MCAP_ID(number), 2);
    mcap_number(out, MCAP_ID(number), 2); // its schema's
    mcap_string(out, topic);
    mcap_string(out, message_encoding);
    mcap_number(out, 0, 4); // no metadata
    writer->topics[number].channel = mcap_keep(writer, MCAP_CHANNEL);
    mcap_write_kept(writer, &writer->topics[number].schema);
    mcap_write_kept(writer, &writer->topics[number].channel);
    return number;
}

FILE *mcap_message(McapWriter *writer, int topic, uint64_t time)
{
    FILE *out = writer->record.out;
    assert(time >= writer->end);
    writer->places[writer->n_places++] = (McapPlace){.time = time, .offset = writer->chunk_bytes, .topic = topic};
    if (time < writer->start) writer->start = time;
    writer->end = time;
    mcap_number(out, MCAP_ID(topic), 2);
    mcap_number(out, writer->topics[topic].messages++ & UINT32_MAX, 4);
    mcap_number(out, time, 8); // when it was logged, and when it was published
    mcap_number(out, time, 8);
    writer->messages++;
    return out;
}

Error mcap_put(McapWriter *writer)
{
    TextStream *record = &writer->record;
    FILE *out = writer->chunk.out;
    mcap_complete(writer, record);
    fputc(MCAP_MESSAGE, out);
    mcap_number(out, record->size, 8);
    fwrite(record->text, 1, record->size, out);
    writer->chunk_bytes += MCAP_RECORD_HEAD + record->size;
    record->size = 0;
    if (writer->chunk_bytes >= MCAP_CHUNK_BYTES || writer->n_places == MCAP_CHUNK_MESSAGES) mcap_write_chunk(writer);
    return writer->error;
}

Error mcap_put_metadata(McapWriter *writer, const char *name, const McapPair *pairs, int count)
{
    FILE *out = writer->record.out;
    uint64_t size = 0;
    McapWrittenMetadata *metadata = ARENA_NEW(writer->arena, McapWrittenMetadata, 1);
    mcap_write_chunk(writer);
    for (int i = 0; i < count; i++) size += 8 + strlen(pairs[i].key) + strlen(pairs[i].value);
    mcap_string(out, name);
    mcap_number(out, size, 4);
    for (int i = 0; i < count; i++) {
        mcap_string(out, pairs[i].key);
        mcap_string(out, pairs[i].value);
    }
    *metadata = (McapWrittenMetadata){.name = arena_copy(writer->arena, name), .at = writer->at};
    mcap_write_record(writer, MCAP_METADATA);
    metadata->length = writer->at - metadata->at;
    writer->n_metadata++;
    *writer->next_metadata = metadata;
    writer->next_metadata = &metadata->next;
    return writer->error;
}

// ---- the end --------------------------------------------------------------------------------------------------------

static void mcap_write_statistics(McapWriter *writer)
{
    FILE *out = writer->record.out;
    mcap_number(out, writer->messages, 8);
    mcap_number(out, (uint64_t)writer->n_topics, 2); // schemas
    mcap_number(out, (uint64_t)writer->n_topics, 4);
    mcap_number(out, 0, 4); // attachments
    mcap_number(out, writer->n_metadata, 4);
    mcap_number(out, writer->n_chunks, 4);
    mcap_number(out, writer->messages > 0 ? writer->start : 0, 8);
    mcap_number(out, writer->end, 8);
    mcap_number(out, 10 * (uint64_t)writer->n_topics, 4);
    for (int t = 0; t < writer->n_topics; t++) {
        mcap_number(out, MCAP_ID(t), 2);
        mcap_number(out, writer->topics[t].messages, 8);
    }
    mcap_write_record(writer, MCAP_STATISTICS);
}

static void mcap_write_chunk_index(McapWriter *writer, const McapWrittenChunk *chunk)
{
    FILE *out = writer->record.out;
    uint64_t count = 0;
    for (int t = 0; t < chunk->n_topics; t++) count += chunk->index[t] > 0;
    mcap_number(out, chunk->start, 8);
    mcap_number(out, chunk->end, 8);
    mcap_number(out, chunk->at, 8);
    mcap_number(out, chunk->length, 8);
    mcap_number(out, 10 * count, 4);
    for (int t = 0; t < chunk->n_topics; t++) {
        if (chunk->index[t] == 0) continue;
        mcap_number(out, MCAP_ID(t), 2);
        mcap_number(out, chunk->index[t], 8);
    }
    mcap_number(out, chunk->indexes_length, 8);
    mcap_string(out, ""); // not compressed
    mcap_number(out, chunk->size, 8);
    mcap_number(out, chunk->size, 8);
    mcap_write_record(writer, MCAP_CHUNK_INDEX);
}

// Records of one kind in the summary.
static void mcap_write_group(McapWriter *writer, uint8_t opcode)
{
    FILE *out = writer->record.out;
    switch (opcode) {
    case MCAP_SCHEMA:
        for (int t = 0; t < writer->n_topics; t++) mcap_write_kept(writer, &writer->topics[t].schema);
        break;
    case MCAP_CHANNEL:
        for (int t = 0; t < writer->n_topics; t++) mcap_write_kept(writer, &writer->topics[t].channel);
        break;
    case MCAP_STATISTICS: mcap_write_statistics(writer); break;
    case MCAP_CHUNK_INDEX:
        for (const McapWrittenChunk *c = writer->first_chunk; c != NULL; c = c->next) mcap_write_chunk_index(writer, c);
        break;
    case MCAP_METADATA_INDEX:
        for (const McapWrittenMetadata *m = writer->first_metadata; m != NULL; m = m->next) {
            mcap_number(out, m->at, 8);
            mcap_number(out, m->length, 8);
            mcap_string(out, m->name);
            mcap_write_record(writer, MCAP_METADATA_INDEX);
        }
        break;
    }
}

// The summary ends with where each of its groups stands; behind it come the footer and the mark.
static void mcap_write_end(McapWriter *writer)
{
    static const uint8_t groups[] = {MCAP_SCHEMA, MCAP_CHANNEL, MCAP_STATISTICS, MCAP_CHUNK_INDEX, MCAP_METADATA_INDEX};
    enum { GROUPS = sizeof groups };
    FILE *out = writer->record.out;
    uint64_t at[GROUPS + 1];
    mcap_number(out, writer->crc, 4);
    mcap_write_record(writer, MCAP_DATA_END);
    writer->crc = 0;
    for (int g = 0; g < GROUPS; g++) {
        at[g] = writer->at;
        mcap_write_group(writer, groups[g]);
    }
    at[GROUPS] = writer->at;
    for (int g = 0; g < GROUPS; g++) {
        if (at[g + 1] == at[g]) continue;
        mcap_number(out, groups[g], 1);
        mcap_number(out, at[g], 8);
        mcap_number(out, at[g + 1] - at[g], 8);
        mcap_write_record(writer, MCAP_SUMMARY_OFFSET);
    }
    mcap_number(out, at[0], 8);
    mcap_number(out, at[GROUPS], 8);
    mcap_complete(writer, &writer->record);
    mcap_write_head(writer, MCAP_FOOTER, writer->record.size + 4);
    mcap_write(writer, writer->record.text, writer->record.size); // the checksum ends here
    writer->record.size = 0;
    mcap_number(writer->out, writer->crc, 4);
    fwrite(mcap_mark, 1, sizeof mcap_mark, writer->out);
}

Error mcap_finish(McapWriter *writer, Error error)
{
    if (error.kind == OK) {
        mcap_write_chunk(writer);
        mcap_write_end(writer);
        error = writer->error;
    }
    TextStream *streams[] = {&writer->record, &writer->chunk};
    for (int i = 0; i < 2; i++) {
        const Error closed = text_stream_close(streams[i]);
        if (error.kind == OK) error = closed;
        free(streams[i]->text);
    }
    return error;
}
