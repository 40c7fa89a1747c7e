// The cache of made kernels: an entry is the one that was written under its key, in folders of this user alone.
#include "../test.h"

#include "../../io/io.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct CacheCase {
    Arena arena;
    const char *parent, *folder, *before; // before: XDG_CACHE_HOME
} CacheCase;

static void cache_case_start(CacheCase *test)
{
    CHECK_OK(arena_create(&test->arena, 16 << 20, "a test"));
    const char *cache = folder_absolute(test_folder(), &test->arena);
    const char *set = getenv("XDG_CACHE_HOME");
    test->before = set != NULL ? arena_copy(&test->arena, set) : NULL;
    CHECK(setenv("XDG_CACHE_HOME", cache, 1) == 0);
    test->parent = arena_format(&test->arena, "%s/hopscotch", cache);
    test->folder = arena_format(&test->arena, "%s/kernels", test->parent);
    cache_write("kernels", "one", "first", 5, &test->arena);
    cache_write("kernels", "two", "second", 6, &test->arena);
}

static void cache_case_end(CacheCase *test)
{
    CHECK((test->before != NULL ? setenv("XDG_CACHE_HOME", test->before, 1) : unsetenv("XDG_CACHE_HOME")) == 0);
    arena_destroy(&test->arena);
}

static bool cache_case_has(CacheCase *test, const char *key, const char *text)
{
    Bytes found;
    return cache_read("kernels", key, &test->arena, &found) && found.size == strlen(text) &&
           memcmp(found.data, text, found.size) == 0;
}

TEST(cache_entry_is_that_of_its_key)
{
    CacheCase test;
    Bytes found;
    cache_case_start(&test);
    CHECK(cache_case_has(&test, "one", "first") && cache_case_has(&test, "two", "second"));
    CHECK(!cache_read("kernels", "three", &test.arena, &found));
    CHECK_OK(file_rename(arena_format(&test.arena, "%s/one", test.folder),
                         arena_format(&test.arena, "%s/two", test.folder)));
    CHECK(!cache_read("kernels", "two", &test.arena, &found));
    cache_write("kernels", "two", "second", 6, &test.arena);
    CHECK(cache_case_has(&test, "two", "second"));
    cache_case_end(&test);
}

TEST(cache_needs_folders_of_this_user_alone)
{
    CacheCase test;
    Bytes found;
    const mode_t open[] = {0720, 0702, 0777, 01777};
    cache_case_start(&test);
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
        CHECK(chmod(test.parent, open[i]) == 0);
        CHECK(!cache_read("kernels", "one", &test.arena, &found));
        CHECK(chmod(test.parent, 0755) == 0);
        CHECK(cache_case_has(&test, "one", "first"));
        CHECK(chmod(test.folder, 0700 | open[i]) == 0);
        CHECK(!cache_read("kernels", "one", &test.arena, &found));
        CHECK(chmod(test.folder, 0700) == 0);
        CHECK(cache_case_has(&test, "one", "first"));
    }
    cache_case_end(&test);
}
