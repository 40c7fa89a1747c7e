#include "../../io/shard_hdf5.h"
#include "../../io/system.h"
#include "../test.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Columns: id, then types by turns, some with words. Every seventh column has equal numbers, every fifth has large
// integers.
enum { TABLE_COLUMNS_MAX = 300 };

static const char *const table_words[] = {"none", "fell", "l\xc3\xa4uft"};
static const ShardAttribute table_attributes[] = {{"campaign", "raibert_gains"}, {"note", ""}};

typedef struct TableTest {
    Arena arena;
    NumberColumn columns[TABLE_COLUMNS_MAX];
    ShardTable table;
    int64_t rows;
    const void *values[TABLE_COLUMNS_MAX];
    ColumnLayout places[TABLE_COLUMNS_MAX];
    ShardTableFile file;
    char folder[256];
} TableTest;

static void *table_test_values(NumberType type, int column, int64_t rows, Arena *arena)
{
    void *values = arena_take(arena, (size_t)rows + 1, 8);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t small = column == 0 ? i + 100 : (i * 7919 + column) % 3;
        const int64_t n = column % 5 == 4 ? (small - 1) * ((int64_t)1 << (7 + 11 * (column % 4))) : small;
        if (type == NUMBER_REAL) ((double *)values)[i] = i % 5 == 4 ? (double)NAN : sin((double)(i * 31 + column));
        if (type == NUMBER_INTEGER) ((int64_t *)values)[i] = n;
        if (column % 7 == 6) memcpy((char *)values + 8 * i, values, 8);
    }
    return values;
}

static void table_test_start(TableTest *test, int n_columns, int64_t rows)
{
    CHECK_OK(arena_create(&test->arena, (size_t)(rows + 16) * 8 * (size_t)n_columns * 2 + (8 << 20), "a test"));
    snprintf(test->folder, sizeof test->folder, "%s", test_folder());
    test->rows = rows;
    for (int c = 0; c < n_columns; c++) {
        const NumberType type = c % 3 == 1 ? NUMBER_REAL : NUMBER_INTEGER;
        NumberColumn *column = &test->columns[c];
        const char *name = c == 0 ? "id" : arena_format(&test->arena, "column_%d", c);
        *column =
            (NumberColumn){.field = {name, c % 4 == 1 ? "m/s" : NULL, c % 2 ? "a column" : NULL, NULL}, .type = type};
        if (c % 3 == 0 && c > 0) {
            column->words = table_words;
            column->n_words = 3;
        }
        test->values[c] = table_test_values(type, c, rows, &test->arena);
    }
    test->table = (ShardTable){.group = "trials",
                               .attributes = table_attributes,
                               .n_attributes = 2,
                               .columns = test->columns,
                               .n_columns = n_columns};
}

// A chunk as HDF5 makes it has no room that is not used: the bytes are those of `file`. HDF5 then reads its numbers.
static void table_test_put_chunk(Error *error, const TableTest *test, int column, const Bytes *file, hid_t data)
{
    const ColumnLayout *place = &test->places[column];
    const hsize_t first = 0;
    const hid_t types[] = {H5T_NATIVE_DOUBLE, H5T_NATIVE_INT64};
    Cell *cells = malloc((size_t)test->rows * sizeof *cells);
    if (cells == NULL) abort();
    shard_ok(error, H5Dwrite_chunk(data, H5P_DEFAULT, 0, &first, (size_t)place->deflated, file->data + place->offset),
             "chunk");
    shard_ok(error, H5Dread(data, types[test->columns[column].type], H5S_ALL, H5S_ALL, H5P_DEFAULT, cells), "chunk");
    CHECK(memcmp(cells, test->values[column], 8 * (size_t)test->rows) == 0);
    free(cells);
}

// The file as HDF5 makes it when it gets the values. The caller frees it.
static Bytes table_test_by_hdf5(TableTest *test, const Bytes *written)
{
    Bytes image = {0};
    Error error = shard_ready((size_t)test->file.bytes);
    const hid_t types[] = {H5T_NATIVE_DOUBLE, H5T_NATIVE_INT64}, file = shard_create_file(&error);
    ColumnLayout *places = ARENA_NEW(&test->arena, ColumnLayout, test->table.n_columns);
    memcpy(places, test->places, (size_t)test->table.n_columns * sizeof *places);
    shard_put_table(&error, &test->table, test->rows, file, places, &test->arena);
    for (int c = 0; c < test->table.n_columns; c++) {
        const hid_t type = types[test->columns[c].type];
        const char *name = arena_format(&test->arena, "trials/%s", test->columns[c].field.name);
        const hid_t data = shard_id(&error, H5Dopen2(file, name, H5P_DEFAULT), name);
        if (test->places[c].deflated > 0)
            table_test_put_chunk(&error, test, c, written, data);
        else if (test->places[c].width > 0)
            shard_ok(&error, H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, test->values[c]), name);
        shard_ok(&error, H5Dclose(data), name);
    }
    shard_ok(&error, H5Fflush(file, H5F_SCOPE_GLOBAL), "a test");
    if (error.kind == OK) error = shard_take_image(file, &image);
    shard_ok(&error, H5Fclose(file), "a test");
    CHECK_OK(error);
    return image;
}

// All numbers, and a few from the middle.
static void table_test_read(TableTest *test, const char *path)
{
    const int64_t middle = test->rows / 3, some = test->rows / 2;
    Cell *cells = malloc((size_t)test->rows * sizeof *cells);
    int file;
    int64_t bytes;
    CHECK(cells != NULL);
    CHECK_OK(file_open_stored(path, &file, &bytes));
    for (int c = 0; c < test->table.n_columns; c++) {
        const Cell *values = test->values[c];
        if (test->places[c].deflated > 0) {
            CHECK_OK(column_read_deflated(file, path, &test->places[c], test->rows, cells, NULL));
            CHECK(memcmp(cells, values, 8 * (size_t)test->rows) == 0);
            continue;
        }
        CHECK_OK(column_read(file, path, &test->places[c], 0, test->rows, cells, NULL));
        CHECK(memcmp(cells, values, 8 * (size_t)test->rows) == 0);
        CHECK_OK(column_read(file, path, &test->places[c], middle, some, cells, NULL));
        CHECK(memcmp(cells, values + middle, 8 * (size_t)some) == 0);
    }
    file_close_stored(file);
    free(cells);
}

// The file holds every column at its place, and is HDF5's own.
static void table_test_compare(TableTest *test, const char *name)
{
    Bytes file;
    Arena arena;
    CHECK_OK(arena_create(&arena, (size_t)test->file.bytes + 4096, "a test"));
    CHECK_OK(
        file_read(arena_format(&test->arena, "%s/%s", test->folder, name), (size_t)test->file.bytes, &arena, &file));
    CHECK_INTEGER(test->file.bytes, (int64_t)file.size);
    for (int c = 0; c < test->table.n_columns; c++) {
        CHECK(column_layout_is_valid(&test->places[c], test->columns[c].type, test->rows, test->file.bytes));
        CHECK(test->rows >= SHARD_TABLE_ENCODED || test->places[c].width == 8);
    }
    ShardTableFile found;
    const char *path = arena_format(&test->arena, "%s/%s", test->folder, name);
    table_test_read(test, path);
    CHECK_OK(shard_table_look(path, test->rows, test->places, test->table.n_columns, &test->arena, &found));
    CHECK_INTEGER(test->file.bytes, found.bytes);
    CHECK_TEXT(test->file.around.hex, found.around.hex);
    const Bytes image = table_test_by_hdf5(test, &file);
    CHECK_INTEGER((int64_t)image.size, (int64_t)file.size);
    CHECK(image.size == file.size && memcmp(image.data, file.data, file.size) == 0);
    free(image.data);
    arena_destroy(&arena);
}

static Error table_test_write(TableTest *test, ShardTableWriter *writer, const char *name)
{
    ThreadTeam *team = thread_team_open(3);
    shard_table_encode(writer, team, test->rows, test->values, test->places);
    thread_team_close(team);
    return shard_table_write(writer, test->folder, name, test->rows, test->places, &test->file);
}

TEST(shard_columns_are_the_file_that_hdf5_writes)
{
    static const struct {
        int columns;
        int64_t rows;
    } shapes[] = {{1, 1},     {1, 7},  {2, 1},     {18, 4095}, {18, 4096},
                  {60, 4099}, {60, 1}, {60, 1023}, {300, 33},  {3, 1000001}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        TableTest test;
        ShardTableWriter *writer;
        table_test_start(&test, shapes[i].columns, shapes[i].rows);
        CHECK_OK(shard_table_open(&test.table, &writer));
        CHECK_OK(table_test_write(&test, writer, "000001.h5"));
        table_test_compare(&test, "000001.h5");
        shard_table_close(writer);
        arena_destroy(&test.arena);
    }
}

// One writer, batches of many shapes: more than it keeps frames for.
TEST(shard_columns_of_many_shapes)
{
    TableTest test;
    ShardTableWriter *writer;
    table_test_start(&test, 8, 5000);
    CHECK_OK(shard_table_open(&test.table, &writer));
    for (int i = 0; i < 30; i++) {
        test.rows = (int64_t[]){5000, 1, 17, 5000, 4999, 2, 3, 4096}[(i * 5) % 8];
        CHECK_OK(table_test_write(&test, writer, "000002.h5"));
        table_test_compare(&test, "000002.h5");
    }
    shard_table_close(writer);
    arena_destroy(&test.arena);
}

// Any flipped byte around the columns changes the digest, and none in a column. Places that are wrong are refused.
TEST(shard_columns_are_looked_at)
{
    TableTest test;
    ShardTableWriter *writer;
    ShardTableFile found;
    Bytes file;
    table_test_start(&test, 3, 33);
    CHECK_OK(shard_table_open(&test.table, &writer));
    CHECK_OK(table_test_write(&test, writer, "000006.h5"));
    const char *path = arena_format(&test.arena, "%s/000006.h5", test.folder);
    CHECK_OK(file_read(path, 1 << 20, &test.arena, &file));
    for (size_t at = 0; at < file.size; at += 37) {
        bool inside = false;
        for (int c = 0; c < 3; c++)
            inside |= (int64_t)at >= test.places[c].offset && (int64_t)at < test.places[c].offset + 8 * test.rows;
        file.data[at] ^= 4;
        CHECK_OK(file_write(test.folder, "000006.h5", file.data, file.size));
        file.data[at] ^= 4;
        CHECK_OK(shard_table_look(path, test.rows, test.places, 3, &test.arena, &found));
        CHECK((strcmp(found.around.hex, test.file.around.hex) == 0) == inside);
    }
    const int64_t wrong[] = {-1, test.places[0].offset + 1, test.file.bytes - 8, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const ColumnLayout places[3] = {test.places[0], {.width = 8, .offset = wrong[i]}, test.places[2]};
        CHECK_SAYS(ERROR_MACHINE, "do not lie one after the other",
                   shard_table_look(path, test.rows, places, 3, &test.arena, &found));
    }
    const int64_t rows[] = {0, -1, 1000, INT64_MAX, INT64_MIN, (int64_t)1 << 61};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_SAYS(ERROR_MACHINE, "do not lie one after the other",
                   shard_table_look(path, rows[i], test.places, 3, &test.arena, &found));
    CHECK_SAYS(ERROR_MACHINE, "cannot open",
               shard_table_look("/nowhere/x.h5", test.rows, test.places, 3, &test.arena, &found));
    shard_table_close(writer);
    arena_destroy(&test.arena);
}

// Places come from a database that another program may have changed.
TEST(column_places_that_are_not_valid)
{
    static const struct {
        NumberType type;
        int64_t width, offset;
        bool valid;
    } cases[] = {
        {NUMBER_REAL, 8, 0, true},        {NUMBER_REAL, 8, 200, true},       {NUMBER_REAL, 8, 201, false},
        {NUMBER_REAL, 8, -1, false},      {NUMBER_REAL, 4, 0, false},        {NUMBER_REAL, 0, -5, true},
        {NUMBER_INTEGER, 4, 600, true},   {NUMBER_INTEGER, 4, 601, false},   {NUMBER_INTEGER, 1, 900, true},
        {NUMBER_INTEGER, 2, 900, false},  {NUMBER_INTEGER, 3, 0, false},     {NUMBER_INTEGER, 16, 0, false},
        {NUMBER_INTEGER, -8, 0, false},   {NUMBER_INTEGER, 0, 0, true},      {NUMBER_INTEGER, INT64_MIN, 0, false},
        {NUMBER_INTEGER, 1, 1001, false}, {NUMBER_REAL, 8, INT64_MAX, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ColumnLayout place = {.width = cases[i].width, .offset = cases[i].offset};
        CHECK(column_layout_is_valid(&place, cases[i].type, 100, 1000) == cases[i].valid);
        CHECK(place.width == 0 || !column_layout_is_valid(&place, cases[i].type, INT64_MAX, 1000));
    }
}

#ifdef HOPSCOTCH_FAULTS
// Nothing of an interrupted or failed write counts as a file.
TEST(shard_columns_are_whole_or_absent)
{
    static const struct {
        const char *rule;
        bool written;
        const char *words;
    } faults[] = {
        {"write:1:SHORT", true, ""},          {"write:1:EINTR,write:2:SHORT,write:3:EINTR", true, ""},
        {"fsync:1:EINTR", true, ""},          {"close:2:EINTR", true, ""},
        {"write:1:ENOSPC", false, "write"},   {"write:1:SHORT,write:2:ENOSPC", false, "No space left"},
        {"fsync:1:EIO", false, "sync"},       {"rename:1:EIO", false, "rename"},
        {"open:1:EMFILE", false, "too many"}, {"write:2:SHORT,write:1:SHORT,write:3:EDQUOT", false, "quota"},
    };
    TableTest test;
    ShardTableWriter *writer;
    table_test_start(&test, 9, 5001);
    CHECK_OK(shard_table_open(&test.table, &writer));
    CHECK_OK(table_test_write(&test, writer, "first.h5")); // the frame is there: faults hit the file
    const char *path = arena_format(&test.arena, "%s/000003.h5", test.folder);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        system_set_faults(faults[i].rule);
        const Error error = table_test_write(&test, writer, "000003.h5");
        system_set_faults("");
        CHECK(file_exists(path) == faults[i].written);
        CHECK(!file_exists(arena_format(&test.arena, "%s.tmp", path)));
        if (faults[i].written) {
            CHECK_OK(error);
            table_test_compare(&test, "000003.h5");
            CHECK_OK(file_remove(path));
        } else
            CHECK_SAYS(ERROR_MACHINE, faults[i].words, error);
    }
    shard_table_close(writer);
    arena_destroy(&test.arena);
}

// Killed at any call, the file is absent or whole.
TEST(shard_columns_survive_a_kill)
{
    static const char *const rules[] = {"write:1:KILL", "write:1:SHORT,write:2:KILL", "fsync:1:KILL", "rename:1:KILL",
                                        "fsync:2:KILL"};
    TableTest test;
    ShardTableWriter *writer;
    table_test_start(&test, 9, 5001);
    CHECK_OK(shard_table_open(&test.table, &writer));
    CHECK_OK(table_test_write(&test, writer, "first.h5"));
    const char *path = arena_format(&test.arena, "%s/000004.h5", test.folder);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        int status = 0;
        const pid_t child = fork();
        if (child == 0) {
            system_set_faults(rules[i]);
            (void)table_test_write(&test, writer, "000004.h5");
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        CHECK(file_exists(path) == (i == 4));
        if (i == 4) table_test_compare(&test, "000004.h5");
    }
    shard_table_close(writer);
    arena_destroy(&test.arena);
}
#endif

static const char table_test_python[] =
    "import sys, h5py\n"
    "f = h5py.File(sys.argv[1], 'r'); t = f['trials']\n"
    "assert f.attrs['campaign'] == 'raibert_gains' and f.attrs['note'] == ''\n"
    "assert list(t.attrs['columns']) == ['id'] + ['column_%d' % c for c in range(1, 15)]\n"
    "assert [t[n].dtype.str for n in list(t.attrs['columns'])[:6]] == ['<i2', '<f8', '|i1', '|i1', '<f8', '|i1'], 1\n"
    "assert t['column_14'].dtype.str == '<i4' and set(t['column_14'][:]) == {-2 ** 29, 0, 2 ** 29}\n"
    "assert set(t['column_6'][:]) == {0} and t['column_6'].id.get_offset() is None\n"
    "assert len(set(t['column_13'][:])) == 1 and t['column_13'].id.get_offset() is None\n"
    "assert t['column_3'].shape == (5001,) and list(t['column_3'].attrs['words']) == ['none', 'fell', 'l\xc3\xa4uft']\n"
    "assert list(t['id'][:3]) == [100, 101, 102] and t['column_1'][4] != t['column_1'][4]\n"
    "assert list(t['column_1'].attrs['units']) == ['m/s'] and list(t['column_1'].attrs['long_name']) == ['a column']\n"
    "assert list(t['column_2'].attrs['units']) == ['1'] and list(t['column_2'].attrs['long_name']) == ['column_2']\n"
    "assert h5py.h5ds.is_scale(t['id'].id) and t['column_4'].dims[0]['id'][1000] == 1100\n"
    "assert t['column_1'].id.get_offset() == int(sys.argv[2])\n";

TEST(shard_columns_are_read_by_other_programs)
{
    TableTest test;
    ShardTableWriter *writer;
    if (system("python3 -c 'import h5py' 2>/dev/null && command -v h5dump >/dev/null") != 0) {
        test_skip("python3 with h5py, and h5dump", "apt-get install python3-h5py hdf5-tools");
        return;
    }
    table_test_start(&test, 15, 5001);
    CHECK_OK(shard_table_open(&test.table, &writer));
    CHECK_OK(table_test_write(&test, writer, "000005.h5"));
    CHECK_OK(file_write(test.folder, "read.py", table_test_python, strlen(table_test_python)));
    const char *in = arena_format(&test.arena, "cd %s && ", test.folder);
    CHECK_INTEGER(
        0, system(arena_format(&test.arena, "%spython3 read.py 000005.h5 %lld", in, (long long)test.places[1].offset)));
    CHECK_INTEGER(0, system(arena_format(&test.arena, "%sh5dump -d trials/column_3 000005.h5 >dump.txt", in)));
    CHECK_INTEGER(0, system(arena_format(&test.arena, "%sgrep -q ': .*0, 2, 1, 0, 2, 1' dump.txt", in)));
    shard_table_close(writer);
    arena_destroy(&test.arena);
}
