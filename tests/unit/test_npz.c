// NumPy's .npz: messages if one can't be written. tests/cli/export.sh tests that numpy reads it.
#include "../test.h"

#include <stdio.h>

static const NpzColumn npz_test_columns[] = {{.name = "id", .type = NPZ_INTEGER},
                                             {.name = "fitness", .type = NPZ_REAL}};

// Two rows are counted, then one row arrives. A campaign that is written meanwhile can only gain rows.
TEST(npz_of_other_rows_than_were_counted_is_refused)
{
    Arena arena;
    Npz *npz = NULL;
    FILE *out = tmpfile();
    CHECK_OK(arena_create(&arena, 1 << 20, "test"));
    CHECK_OK(npz_open(out, npz_test_columns, 2, 2, &arena, &npz));
    CHECK_OK(npz_integer(npz, 0, 41));
    CHECK_OK(npz_integer(npz, 0, 42));
    CHECK_OK(npz_real(npz, 1, 0.5));
    CHECK_SAYS(ERROR_MACHINE, "the number of rows of column fitness changed meanwhile: try again", npz_finish(npz));
    fclose(out);
    arena_destroy(&arena);
}

TEST(npz_says_when_it_could_not_be_written)
{
    Arena arena;
    Npz *npz = NULL;
    FILE *out = fopen("/dev/full", "w");
    if (out == NULL) {
        test_skip("/dev/full", "Linux");
        return;
    }
    CHECK_OK(arena_create(&arena, 1 << 20, "test"));
    CHECK_OK(npz_open(out, npz_test_columns, 2, 0, &arena, &npz));
    CHECK_SAYS(ERROR_MACHINE, "the .npz file could not be written: ", npz_finish(npz));
    fclose(out);
    arena_destroy(&arena);
}
