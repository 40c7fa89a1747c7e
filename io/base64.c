// Base64 (RFC 4648).
#include "page.h"

void base64_put(const unsigned char *bytes, size_t size, char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const uint32_t second = i + 1 < size ? bytes[i + 1] : 0, third = i + 2 < size ? bytes[i + 2] : 0;
        const uint32_t bits = (uint32_t)bytes[i] << 16 | second << 8 | third;
        *text++ = letters[bits >> 18];
        *text++ = letters[bits >> 12 & 63];
        *text++ = i + 1 < size ? letters[bits >> 6 & 63] : '=';
        *text++ = i + 2 < size ? letters[bits & 63] : '=';
    }
    *text = '\0';
}
