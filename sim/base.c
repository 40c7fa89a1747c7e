// The two types that every layer shares: Error and Arena.
#include "sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

// Under the address sanitizer the bytes after a piece of an arena, up to the next alignment boundary, are poisoned. An
// overrun of an array in an arena is then found as on the heap.
#if defined(__has_include) && __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
#endif

enum { ARENA_ALIGNMENT = 64, ARENA_EXIT = 3 };
#define ARENA_PIECE_LEAST ((size_t)1 << 20) // bytes of a piece of a growing arena
#define ARENA_PIECE_MOST ((size_t)64 << 20) // unless one request needs more

// Consecutive bytes of an arena, from `start` on; they follow this header.
typedef struct ArenaPiece {
    struct ArenaPiece *before;
    size_t start, room; // bytes
} ArenaPiece;

static size_t arena_aligned(size_t used) { return (used + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT; }

static unsigned char *arena_at(const Arena *arena, size_t offset)
{
    return (unsigned char *)arena->base + ARENA_ALIGNMENT + (offset - arena->base->start);
}

static size_t arena_end(const Arena *arena) { return arena->base->start + arena->base->room; }

// Adds a piece for the bytes from `start` on. False: there is no address space for it.
static bool arena_add_piece(Arena *arena, size_t start, size_t room)
{
    room = arena_aligned(room);
    void *base =
        mmap(NULL, room + ARENA_ALIGNMENT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return false;
    ArenaPiece *piece = base;
    *piece = (ArenaPiece){.before = arena->base, .start = start, .room = room};
    arena->base = piece;
    return true;
}

static void arena_drop_piece(Arena *arena)
{
    ArenaPiece *piece = arena->base;
    const size_t taken = arena_aligned(arena->used) - piece->start; // what follows was never poisoned
    ASAN_UNPOISON_MEMORY_REGION(arena_at(arena, piece->start), taken < piece->room ? taken : piece->room);
    arena->base = piece->before;
    munmap(piece, piece->room + ARENA_ALIGNMENT);
}

static Error arena_begin(Arena *arena, size_t room)
{
    if (arena_add_piece(arena, 0, room)) return error_none();
    return error_make(ERROR_MEMORY,
                      "not enough memory: %s needs %zu bytes of address space; is it limited (ulimit -v)?",
                      arena->purpose, room);
}

Error arena_create(Arena *arena, size_t size, const char *purpose)
{
    *arena = (Arena){.size = size, .purpose = purpose};
    return arena_begin(arena, size);
}

Error arena_create_growing(Arena *arena, size_t most, const char *purpose)
{
    *arena = (Arena){.size = most, .purpose = purpose, .grows = true};
    return arena_begin(arena, most < ARENA_PIECE_LEAST ? most : ARENA_PIECE_LEAST);
}

static void arena_guard(Arena *arena, size_t start)
{
    ASAN_UNPOISON_MEMORY_REGION(arena_at(arena, start), arena->used - start);
    ASAN_POISON_MEMORY_REGION(arena_at(arena, arena->used), arena_aligned(arena->used) - arena->used);
}

// Adds a piece with room for `bytes`: as large as all pieces so far, within limits, or as large as `bytes`.
static void arena_grow(Arena *arena, size_t start, size_t bytes)
{
    size_t room = start < ARENA_PIECE_LEAST ? ARENA_PIECE_LEAST : start < ARENA_PIECE_MOST ? start : ARENA_PIECE_MOST;
    if (room > arena->size - start) room = arena->size - start;
    if (bytes < room && arena_add_piece(arena, start, room)) return;
    if (arena_add_piece(arena, start, bytes)) return;
    fprintf(stderr,
            "hopscotch: not enough memory: %s has %zu bytes and needs %zu more of address space; is it limited (ulimit "
            "-v)?\n",
            arena->purpose, start, bytes);
    _exit(ARENA_EXIT); // files are consistent at any time; unwinding would need memory
}

void *arena_take(Arena *arena, size_t count, size_t item_size)
{
    const size_t start = arena_aligned(arena->used);
    if (start > arena->size || (item_size > 0 && count > (arena->size - start) / item_size)) {
        fprintf(stderr, "hopscotch: bug: the arena for %s holds %zu bytes, and %zu x %zu more were asked for\n",
                arena->purpose, arena->size, count, item_size);
        abort();
    }
    if (arena->grows && start + count * item_size > arena_end(arena)) arena_grow(arena, start, count * item_size);
    arena->used = start + count * item_size;
    arena_guard(arena, start);
    return arena_at(arena, start);
}

char *arena_copy(Arena *arena, const char *text)
{
    const size_t size = strlen(text) + 1;
    return memcpy(arena_take(arena, size, 1), text, size);
}

// Formats into the rest of the current piece first, which is nearly always enough.
char *arena_format(Arena *arena, const char *format, ...)
{
    char *text = arena_take(arena, 1, 1); // the NUL
    const size_t start = arena->used - 1, room = arena_end(arena) - start;
    ASAN_UNPOISON_MEMORY_REGION(text, ARENA_ALIGNMENT);
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, room, format, arguments);
    va_end(arguments);
    if (length < 0) return text;
    const bool fits = (size_t)length < room;
    if (!fits) memset(text, 0, room);
    arena->used = start;
    text = arena_take(arena, (size_t)length + 1, 1);
    if (fits) return text;
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

void arena_rewind(Arena *arena, size_t used)
{
    size_t end = arena->used;
    while (arena->base->start > used) {
        end = arena->base->start; // aligned, so at most the end of the piece before
        arena_drop_piece(arena);
    }
    ASAN_UNPOISON_MEMORY_REGION(arena_at(arena, used), arena_aligned(end) - used);
    memset(arena_at(arena, used), 0, end - used);
    arena->used = used;
    arena_guard(arena, used);
}

void arena_destroy(Arena *arena)
{
    while (arena->base != NULL) arena_drop_piece(arena);
    *arena = (Arena){.purpose = arena->purpose};
}
