// Shared by the targets: one arena for all inputs, so that an input costs no system call.
#ifndef HOPSCOTCH_FUZZ_H
#define HOPSCOTCH_FUZZ_H

#include "../../runner/command/command.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The arena, empty.
static inline Arena *fuzz_arena(void)
{
    static Arena arena;
    if (arena.base == NULL && arena_create(&arena, (size_t)1 << 30, "fuzzing").kind != OK) abort();
    arena_rewind(&arena, 0);
    return &arena;
}

// The input as a text, up to its first NUL, in a block of its own, so that a byte too far is found.
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL) abort();
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

// For errors: they say something, in one piece.
static inline void fuzz_check_error(Error error)
{
    if (error.kind != OK && (error.text[0] == '\0' || memchr(error.text, '\0', sizeof error.text) == NULL)) abort();
}

#endif
