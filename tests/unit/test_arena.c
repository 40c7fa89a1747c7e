// The growing arena: pieces of address space are reserved as needed; the message when there are no more.
#include "../test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static bool arena_all_are(const unsigned char *bytes, size_t count, unsigned char value)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != value) return false;
    }
    return true;
}

// Items of random sizes, most of them small, keep what was written into them, and new ones are zero.
TEST(arena_that_grows_keeps_all_its_items)
{
    enum { ITEMS = 400 };
    Arena arena;
    unsigned char *item[ITEMS];
    size_t size[ITEMS], total = 0;
    uint32_t state = 1;
    CHECK_OK(arena_create_growing(&arena, (size_t)4 << 30, "test"));
    for (int i = 0; i < ITEMS; i++) {
        state = state * 1664525 + 1013904223;
        size[i] = (state >> 8) % (i % 40 == 0 ? 5 * MIB : 60000);
        item[i] = arena_take(&arena, size[i], 1);
        CHECK_INTEGER(0, (int64_t)((uintptr_t)item[i] % 64));
        CHECK(arena_all_are(item[i], size[i], 0));
        memset(item[i], 1 + i % 200, size[i]);
        total += size[i];
    }
    for (int i = 0; i < ITEMS; i++) CHECK(arena_all_are(item[i], size[i], (unsigned char)(1 + i % 200)));
    CHECK(arena.used >= total && arena.used < total + (size_t)ITEMS * 64 + 64);
    arena_destroy(&arena);
    CHECK(arena.base == NULL);
}

TEST(arena_is_rewound_over_its_pieces)
{
    Arena arena;
    CHECK_OK(arena_create_growing(&arena, (size_t)1 << 30, "test"));
    const char *kept = arena_copy(&arena, "kept");
    memset(arena_take(&arena, MIB - 1000, 1), 7, MIB - 1000); // the first piece is nearly full
    for (int round = 0; round < 3; round++) {
        const size_t used = arena.used;
        for (int i = 0; i < 5; i++) {
            unsigned char *bytes = arena_take(&arena, (size_t)3 * MIB, 1);
            CHECK(arena_all_are(bytes, (size_t)3 * MIB, 0));
            memset(bytes, 9, (size_t)3 * MIB);
        }
        arena_rewind(&arena, used);
        CHECK_INTEGER((int64_t)used, (int64_t)arena.used);
        CHECK(arena_all_are(arena_take(&arena, 100, 1), 100, 0));
        arena_rewind(&arena, used);
    }
    arena_rewind(&arena, 64);
    CHECK(arena_all_are(arena_take(&arena, MIB, 1), MIB, 0));
    CHECK_TEXT("kept", kept);
    arena_destroy(&arena);
}

TEST(arena_formats_texts_over_the_end_of_a_piece)
{
    Arena arena;
    CHECK_OK(arena_create_growing(&arena, (size_t)1 << 30, "test"));
    for (int length = 0; length < 300; length += 7) {
        const size_t used = arena.used;
        arena_take(&arena, MIB - used - 192, 1); // 192 bytes of the first piece are left
        const char *text = arena_format(&arena, "%0*d|%s", length, 1, "end");
        CHECK_INTEGER((length > 1 ? length : 1) + 4, (int64_t)strlen(text));
        CHECK_TEXT("|end", text + strlen(text) - 4);
        CHECK(arena_all_are(arena_take(&arena, 256, 1), 256, 0));
        arena_rewind(&arena, used);
    }
    arena_destroy(&arena);
}

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>

// What lies between the items of an arena is poisoned; the next owner of that address space can use all of it.
static void arena_check_poison(Arena *arena)
{
    enum { ITEMS = 400, SIZE = 10001, ROOM = 10048 };
    unsigned char *item[ITEMS];
    for (int i = 0; i < ITEMS; i++) item[i] = arena_take(arena, SIZE, 1);
    arena_rewind(arena, arena->used - (size_t)20 * ROOM);
    for (int i = 0; i < ITEMS; i++) CHECK((__asan_region_is_poisoned(item[i], ROOM) != NULL) == (i < ITEMS - 20));
    arena_destroy(arena);
    for (int i = 0; i < ITEMS; i++) CHECK(__asan_region_is_poisoned(item[i], ROOM) == NULL);
}

TEST(arena_leaves_nothing_poisoned)
{
    Arena arena;
    CHECK_OK(arena_create_growing(&arena, (size_t)1 << 30, "test"));
    arena_check_poison(&arena);
    CHECK_OK(arena_create(&arena, (size_t)1 << 26, "test"));
    arena_check_poison(&arena);
}
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // sanitizers reserve more than the limit
TEST(arena_that_can_not_grow_says_so)
{
    char path[512], text[256] = "";
    int status = 0;
    snprintf(path, sizeof path, "%s/stderr", test_folder());
    const pid_t child = fork();
    if (child == 0) {
        Arena arena;
        const struct rlimit none = {0, 0};
        const int out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(out, STDERR_FILENO);
        if (arena_create_growing(&arena, (size_t)1 << 30, "test").kind != OK) _exit(1);
        setrlimit(RLIMIT_AS, &none);
        arena_take(&arena, 2 * MIB, 1);
        _exit(0);
    }
    CHECK_INTEGER(child, waitpid(child, &status, 0));
    CHECK(WIFEXITED(status));
    CHECK_INTEGER(3, WEXITSTATUS(status));
    FILE *in = fopen(path, "r");
    CHECK(in != NULL && fgets(text, sizeof text, in) != NULL);
    CHECK_TEXT("hopscotch: not enough memory: test has 0 bytes and needs 2097152 more of address space; is it limited "
               "(ulimit -v)?\n",
               text);
    fclose(in);
}
#endif
