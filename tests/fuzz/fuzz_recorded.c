// Any bytes as a binary recording: an error, or columns of which each is an error or numbers.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *bytes = malloc(size + 1);
    if (bytes == NULL) abort();
    if (size > 0) memcpy(bytes, data, size);
    RecordedFile file;
    const Error error = recorded_open("recording", (Bytes){bytes, size}, &file);
    fuzz_check_error(error);
    for (int c = 0; error.kind == OK && c < file.count && c < 64; c++) {
        const RecordedColumn *column = &file.columns[c];
        const double *value = NULL, *time = NULL;
        if (column->why != NULL) continue;
        if (column->count < 0 || (uint64_t)column->count > 1040 * (size + 1)) abort();
        const Error load = file.load(&file, c, c % 2, &file.arena, &value, &time);
        fuzz_check_error(load);
        if (load.kind != OK) continue;
        if ((time != NULL) != (file.clocks != NULL)) abort();
        for (int64_t i = 1; time != NULL && i < column->count; i++)
            if (!(time[i] >= time[i - 1])) abort();
    }
    if (error.kind == OK) recorded_close(&file);
    free(bytes);
    return 0;
}
