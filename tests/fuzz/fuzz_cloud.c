// Any bytes as a point cloud: an error, or finite points, no more than the bytes can hold.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL) abort();
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    CloudFile file;
    const Error error = cloud_parse("cloud", (Bytes){(unsigned char *)text, size}, &file);
    fuzz_check_error(error);
    if (error.kind == OK) {
        if (file.cloud.count < 1 || (uint64_t)(file.cloud.count + file.dropped) > 88 * (size + 1)) abort();
        for (int64_t i = 0; i < 3 * file.cloud.count; i++) {
            const double x = file.cloud.at[i % 3][i / 3];
            if (x - x != 0.0) abort();
        }
        cloud_close(&file);
    }
    free(text);
    return 0;
}
