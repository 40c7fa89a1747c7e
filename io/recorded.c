// What the readers of binary recordings share (recorded.h).
#include "recorded.h"

#include <string.h>

uint64_t recorded_number(RecordedBytes *bytes, int size)
{
    const unsigned char *at = recorded_take(bytes, (uint64_t)size);
    uint64_t value = 0;
    for (int i = 0; at != NULL && i < size; i++) value |= (uint64_t)at[i] << (8 * i);
    return value;
}

const unsigned char *recorded_take(RecordedBytes *bytes, uint64_t size)
{
    const unsigned char *at = bytes->at;
    if (bytes->bad || size > (uint64_t)(bytes->end - bytes->at)) {
        bytes->bad = true;
        return NULL;
    }
    bytes->at += size;
    return at;
}

double recorded_value(const unsigned char *at, char kind, int size, bool big_endian)
{
    uint64_t bits = 0;
    for (int i = 0; i < size; i++) bits |= (uint64_t)at[i] << (8 * (big_endian ? size - 1 - i : i));
    if (kind == 'f' && size == 8) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (kind == 'f') {
        const uint32_t half = (uint32_t)bits;
        float value;
        memcpy(&value, &half, sizeof value);
        return (double)value;
    }
    if (kind != 'i') return (double)bits;
    const uint64_t sign = UINT64_C(1) << (8 * size - 1);
    return (double)(int64_t)((bits ^ sign) - sign);
}

static const struct {
    const char *format, *mark;
    size_t length;
    Error (*read)(RecordedFile *file);
} recorded_readers[] = {{"npz", "PK\x03\x04", 4, recorded_npz},
                        {"npz", "PK\x05\x06", 4, recorded_npz}, // without any array
                        {"MCAP", "\x89MCAP0\r\n", 8, recorded_mcap}};
enum { RECORDED_READERS = sizeof recorded_readers / sizeof *recorded_readers };

static int recorded_reader(Bytes data)
{
    for (int i = 0; i < RECORDED_READERS; i++)
        if (data.size >= recorded_readers[i].length &&
            memcmp(data.data, recorded_readers[i].mark, recorded_readers[i].length) == 0)
            return i;
    return -1;
}

bool recorded_claims(Bytes data) { return recorded_reader(data) >= 0; }

Error recorded_open(const char *name, Bytes data, RecordedFile *file)
{
    const int reader = recorded_reader(data);
    *file = (RecordedFile){.of = name, .data = data};
    if (reader < 0) return error_make(ERROR_USER, "%.160s: neither npz nor MCAP", name);
    file->format = recorded_readers[reader].format;
    TRY(arena_create_growing(&file->arena, (size_t)1 << 30, "a recording"));
    const Error error = recorded_readers[reader].read(file);
    if (error.kind != OK) recorded_close(file);
    return error;
}

void recorded_close(RecordedFile *file)
{
    arena_destroy(&file->arena);
    *file = (RecordedFile){0};
}
