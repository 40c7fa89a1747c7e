// Base64 (RFC 4648).
#ifndef HOPSCOTCH_IO_BASE64_H
#define HOPSCOTCH_IO_BASE64_H

#include <stdbool.h>
#include <stddef.h>

// text[BASE64_SIZE(size)] <- bytes[size] in Base64, and a NUL.
#define BASE64_SIZE(size) (((size) + 2) / 3 * 4 + 1)
void base64_put(const unsigned char *bytes, size_t size, char *text);
// bytes[size] <- what base64_put got. False: `text` is not exactly `size` bytes in Base64.
bool base64_get(const char *text, unsigned char *bytes, size_t size);

#endif
