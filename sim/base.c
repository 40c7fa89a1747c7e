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
        return error_make(ERROR_MEMORY,
                          "not enough memory: %s needs %zu bytes of address space; is it limited (ulimit -v)?", purpose,
                          size);
    }
    *arena = (Arena){.base = base, .size = size, .purpose = purpose};
    return error_none();
}

// Under the address sanitizer the bytes between the end of what was taken and the next boundary are nobody's, so that
// an array that is overrun in an arena is found as it would be on the heap.
#if defined(__has_include) && __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
#endif

enum { ARENA_ALIGNMENT = 64 };

static size_t arena_aligned(size_t used) { return (used + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT; }

static void arena_guard(Arena *arena, size_t start)
{
    ASAN_UNPOISON_MEMORY_REGION(arena->base + start, arena->used - start);
    ASAN_POISON_MEMORY_REGION(arena->base + arena->used, arena_aligned(arena->used) - arena->used);
}

void *arena_take(Arena *arena, size_t count, size_t item_size)
{
    const size_t start = arena_aligned(arena->used);
    if (start > arena->size || (item_size > 0 && count > (arena->size - start) / item_size)) {
        fprintf(stderr, "hopscotch: bug: the arena for %s holds %zu bytes, and %zu x %zu more were asked for\n",
                arena->purpose, arena->size, count, item_size);
        abort();
    }
    arena->used = start + count * item_size;
    arena_guard(arena, start);
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
    ASAN_UNPOISON_MEMORY_REGION(text, ARENA_ALIGNMENT);
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, room, format, arguments);
    va_end(arguments);
    arena->used -= 1;
    return length < 0 ? text : arena_take(arena, (size_t)length + 1, 1);
}

void arena_rewind(Arena *arena, size_t used)
{
    ASAN_UNPOISON_MEMORY_REGION(arena->base + used, arena_aligned(arena->used) - used);
    memset(arena->base + used, 0, arena->used - used);
    arena->used = used;
    arena_guard(arena, used);
}

void arena_destroy(Arena *arena)
{
    if (arena->base != NULL) ASAN_UNPOISON_MEMORY_REGION(arena->base, arena_aligned(arena->used));
    if (arena->base != NULL) munmap(arena->base, arena->size);
    *arena = (Arena){.purpose = arena->purpose};
}
