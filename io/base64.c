// See base64.h.
#include "base64.h"

#include <stdint.h>
#include <string.h>

static const char base64_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_put(const unsigned char *bytes, size_t size, char *text)
{
    for (size_t i = 0; i < size; i += 3) {
        const uint32_t second = i + 1 < size ? bytes[i + 1] : 0, third = i + 2 < size ? bytes[i + 2] : 0;
        const uint32_t bits = (uint32_t)bytes[i] << 16 | second << 8 | third;
        *text++ = base64_letters[bits >> 18];
        *text++ = base64_letters[bits >> 12 & 63];
        *text++ = i + 1 < size ? base64_letters[bits >> 6 & 63] : '=';
        *text++ = i + 2 < size ? base64_letters[bits & 63] : '=';
    }
    *text = '\0';
}

bool base64_get(const char *text, unsigned char *bytes, size_t size)
{
    signed char value[256];
    memset(value, -1, sizeof value);
    for (int i = 0; i < 64; i++) value[(unsigned char)base64_letters[i]] = (signed char)i;
    if (strlen(text) != BASE64_SIZE(size) - 1) return false;
    for (size_t i = 0; i < size; i += 3, text += 4) {
        const size_t here = size - i < 3 ? size - i : 3;
        uint32_t bits = 0;
        for (size_t k = 0; k < 4; k++) {
            const int letter = k <= here ? value[(unsigned char)text[k]] : text[k] == '=' ? 0 : -1;
            if (letter < 0) return false;
            bits = bits << 6 | (uint32_t)letter;
        }
        if ((bits & (0xffffffu >> 8 * here)) != 0) return false; // bits behind the last byte
        for (size_t k = 0; k < here; k++) bytes[i + k] = (unsigned char)(bits >> (16 - 8 * k));
    }
    return true;
}
