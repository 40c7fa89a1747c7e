// The two words that every layer shares: Error and Arena.
#include "sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

Error error_none(void) { return (Error){.kind = OK}; }

Error error_make(ErrorKind kind, const char *format, ...)
{
    Error error = {.kind = kind};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error.text, sizeof error.text, format, arguments);
    va_end(arguments);
    return error;
}

Error arena_create(Arena *arena, size_t size, const char *purpose)
{
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        *arena = (Arena){.purpose = purpose};
        return error_make(ERROR_MEMORY, "not enough memory: %s needs %zu bytes of address space", purpose, size);
    }
    *arena = (Arena){.base = base, .size = size, .purpose = purpose};
    return error_none();
}

void *arena_take(Arena *arena, size_t count, size_t item_size)
{
    const size_t alignment = 64, start = (arena->used + alignment - 1) / alignment * alignment;
    if (start > arena->size || (item_size > 0 && count > (arena->size - start) / item_size)) {
        fprintf(stderr, "hopscotch: bug: the arena for %s holds %zu bytes, and %zu x %zu more were asked for\n",
                arena->purpose, arena->size, count, item_size);
        abort();
    }
    arena->used = start + count * item_size;
    return arena->base + start;
}

char *arena_copy(Arena *arena, const char *text)
{
    const size_t size = strlen(text) + 1;
    return memcpy(arena_take(arena, size, 1), text, size);
}

char *arena_format(Arena *arena, const char *format, ...)
{
    char *text = arena_take(arena, 1, 1); // the NUL
    const size_t room = arena->size - arena->used;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, room, format, arguments);
    va_end(arguments);
    arena->used -= 1;
    return length < 0 ? text : arena_take(arena, (size_t)length + 1, 1);
}

void arena_rewind(Arena *arena, size_t used)
{
    memset(arena->base + used, 0, arena->used - used);
    arena->used = used;
}

void arena_destroy(Arena *arena)
{
    if (arena->base != NULL) munmap(arena->base, arena->size);
    *arena = (Arena){.purpose = arena->purpose};
}
