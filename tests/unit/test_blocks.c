// Blocks in files: written as shards of columns, read as a table. Neither the database's records nor the files are
// trusted.
#include "../../runner/campaign/store/trials/blocks.h"
#include "../../io/system.h"
#include "../test.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_COLUMNS = 4, FILES_MOST = 150 };

static const char *const files_words[] = {"none", "fell"};
static const NumberColumn files_columns[FILES_COLUMNS] = {
    {.field = {.name = "id"}, .type = NUMBER_INTEGER},
    {.field = {.name = "x"}, .type = NUMBER_REAL},
    {.field = {.name = "failure"}, .type = NUMBER_INTEGER, .words = files_words, .n_words = 2},
    {.field = {.name = "fitness"}, .type = NUMBER_REAL},
};

typedef struct FilesTest {
    Arena arena;
    const char *folder;
    Database *database;
    Blocks *blocks;
    BlockRecord records[FILES_MOST];
    ColumnLayout places[FILES_MOST][FILES_COLUMNS];
    int64_t n;
} FilesTest;

static void files_write(FilesTest *test, int64_t n, int64_t rows)
{
    const ShardTable table = {.group = "trials", .columns = files_columns, .n_columns = FILES_COLUMNS};
    ShardTableWriter *writer;
    ShardTableFile written;
    int64_t *id = ARENA_NEW(&test->arena, int64_t, rows), *failure = ARENA_NEW(&test->arena, int64_t, rows);
    double *x = ARENA_NEW(&test->arena, double, rows), *fitness = ARENA_NEW(&test->arena, double, rows);
    const void *values[FILES_COLUMNS] = {id, x, failure, fitness};
    CHECK_OK(shard_table_open(&table, &writer));
    for (test->n = 0; test->n < n; test->n++) {
        const int64_t first = test->n * (rows + 3);
        BlockRecord *record = &test->records[test->n];
        for (int64_t i = 0; i < rows; i++) {
            id[i] = first + i;
            x[i] = (double)id[i];
            failure[i] = id[i] % 2;
            fitness[i] = failure[i] ? (double)NAN : -x[i];
        }
        const char *name = arena_format(&test->arena, "%06lld.h5", (long long)test->n);
        shard_table_encode(writer, NULL, rows, values, test->places[test->n]);
        CHECK_OK(shard_table_write(writer, test->folder, name, rows, test->places[test->n], &written));
        record->bytes = written.bytes;
        record->span = (BlockSpan){.first = first, .last = first + rows - 1, .rows = rows};
        record->name = name;
        record->columns = (Bytes){(unsigned char *)test->places[test->n], sizeof test->places[0]};
        record->seal = blocks_seal(&record->span, record->bytes, 0, test->places[test->n], FILES_COLUMNS);
    }
    shard_table_close(writer);
}

static Error files_open(FilesTest *test)
{
    return blocks_open(test->folder, files_columns, FILES_COLUMNS, test->records, test->n, "resume", &test->blocks);
}

static void files_start(FilesTest *test, int64_t n, int64_t rows)
{
    *test = (FilesTest){.n = 0};
    CHECK_OK(arena_create(&test->arena, 16 << 20, "a test"));
    test->folder = arena_copy(&test->arena, test_folder());
    files_write(test, n, rows);
    CHECK_OK(
        database_open(arena_format(&test->arena, "%s/campaign.db", test->folder), DATABASE_WRITE, &test->database));
}

static void files_end(FilesTest *test)
{
    CHECK_OK(database_close(test->database));
    blocks_close(test->blocks);
    arena_destroy(&test->arena);
}

static Error files_ask(FilesTest *test, const char *sql, double *number)
{
    Statement *statement;
    bool row = false;
    TRY(database_prepare(test->database, sql, &statement));
    const Error error = statement_step(statement, &row);
    *number = row ? column_real(statement, 0) : (double)NAN;
    statement_close(statement);
    return error;
}

// More blocks than files are held open, in every order.
TEST(blocks_are_read_from_their_files)
{
    FilesTest test;
    double number;
    const int64_t n = FILES_MOST, rows = 7, all = n * rows;
    files_start(&test, n, rows);
    CHECK_OK(files_open(&test));
    CHECK_OK(blocks_table(test.blocks, test.database));
    double sum = 0;
    for (int64_t b = 0; b < n; b++) sum += (double)(rows * b * (rows + 3) + rows * (rows - 1) / 2);
    CHECK_OK(files_ask(&test, "SELECT sum(x) FROM trials", &number));
    CHECK_NEAR(sum, number, 0);
    CHECK_OK(files_ask(&test, "SELECT count(*) FROM trials WHERE failure = 'fell' AND fitness IS NULL", &number));
    CHECK_NEAR((double)(3 * n), number, 0); // the odd ids of 0 to 6
    CHECK_OK(files_ask(&test, "SELECT x FROM trials WHERE fitness IS NOT NULL ORDER BY fitness DESC LIMIT 1 OFFSET 70",
                       &number));
    CHECK_NEAR(174, number, 0);
    CHECK_OK(files_ask(&test, "SELECT x FROM trials WHERE id = 1006", &number));
    CHECK_NEAR(1006, number, 0);
    CHECK_OK(files_ask(&test, "SELECT count(*) FROM trials a JOIN trials b ON b.id = a.id + 10 AND b.x = a.x + 10",
                       &number));
    CHECK_NEAR((double)(all - rows), number, 0);
    files_end(&test);
}

TEST(blocks_without_any)
{
    FilesTest test;
    double number;
    files_start(&test, 0, 1);
    CHECK_OK(files_open(&test));
    CHECK_OK(blocks_table(test.blocks, test.database));
    CHECK_OK(files_ask(&test, "SELECT count(*) FROM trials WHERE id > 3", &number));
    CHECK_NEAR(0, number, 0);
    CHECK_OK(files_ask(&test, "SELECT x FROM trials ORDER BY x LIMIT 1", &number));
    CHECK(isnan(number));
    files_end(&test);
}

// What a record can say that is wrong. It is refused before a file is opened.
TEST(blocks_of_hostile_records)
{
    enum { ROWS = 100 };
    static const struct {
        BlockSpan span; // of the second of three
        const char *name;
        int64_t bytes, offset;
        size_t size;
        const char *words;
    } wrong[] = {
        {{103, 202, 100}, "../x.h5", 0, 0, 0, "not that of a file"},
        {{103, 202, 100}, "", 0, 0, 0, "not that of a file"},
        {{103, 202, 100}, ".x.h5", 0, 0, 0, "not that of a file"},
        {{103, 202, 101}, NULL, 0, 0, 0, "more or fewer rows"},
        {{103, 202, 0}, NULL, 0, 0, 0, "more or fewer rows"},
        {{103, 202, -5}, NULL, 0, 0, 0, "more or fewer rows"},
        {{103, 202, INT64_MAX}, NULL, 0, 0, 0, "more or fewer rows"},
        {{103, 202, INT64_MIN}, NULL, 0, 0, 0, "more or fewer rows"},
        {{-1, 202, 100}, NULL, 0, 0, 0, "no valid ids"},
        {{INT64_MIN, INT64_MAX, 100}, NULL, 0, 0, 0, "no valid ids"},
        {{103, INT64_MAX, 100}, NULL, 0, 0, 0, "no valid ids"},
        {{203, 202, 100}, NULL, 0, 0, 0, "no valid ids"},
        {{99, 202, 100}, NULL, 0, 0, 0, "in the block before it"},
        {{103, 206, 100}, NULL, 0, 0, 0, "in the block before it"}, // those of the third
        {{103, 202, 100}, NULL, 0, -1, 0, "outside of its file"},
        {{103, 202, 100}, NULL, 0, INT64_MIN, 0, "outside of its file"},
        {{103, 202, 100}, NULL, 0, INT64_MAX, 0, "outside of its file"},
        {{103, 202, 100}, NULL, 0, INT64_MAX - 799, 0, "outside of its file"},
        {{103, 202, 100}, NULL, 801, 2, 0, "outside of its file"},
        {{103, 202, 100}, NULL, -1, 2, 0, "outside of its file"},
        {{103, 202, 100}, NULL, INT64_MIN, 2, 0, "outside of its file"},
        {{103, INT64_MAX - 1, (int64_t)1 << 61}, NULL, 0, 0, 0, "outside of its file"}, // 8 bytes each are 0 in 64 bits
        {{103, INT64_MAX - 1, INT64_MAX - 103}, NULL, 0, 0, 0, "outside of its file"},
        {{103, 202, 100}, NULL, 0, 0, 63, "other columns"},
        {{103, 202, 100}, NULL, 0, 0, sizeof(ColumnLayout) * (FILES_COLUMNS + 1), "other columns"},
        {{103, 203, 100}, NULL, 0, 0, 0, "not those that were written"}, // as if ids had a gap
        {{103, 202, 100}, NULL, 0, 16, 0, "not those that were written"},
    };
    FilesTest test;
    files_start(&test, 3, ROWS);
    CHECK_OK(files_open(&test));
    blocks_close(test.blocks);
    const BlockRecord good = test.records[1];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ColumnLayout places[FILES_COLUMNS + 1];
        memcpy(places, good.columns.data, sizeof test.places[0]);
        if (wrong[i].offset != 0) places[2].offset = wrong[i].offset;
        test.records[1] = good;
        test.records[1].span = wrong[i].span;
        if (wrong[i].name != NULL) test.records[1].name = wrong[i].name;
        if (wrong[i].bytes != 0) test.records[1].bytes = wrong[i].bytes;
        test.records[1].columns =
            (Bytes){(unsigned char *)places, wrong[i].size > 0 ? wrong[i].size : sizeof test.places[0]};
        if (strstr(wrong[i].words, "written") == NULL)
            test.records[1].seal = blocks_seal(&wrong[i].span, test.records[1].bytes, 0, places, FILES_COLUMNS);
        CHECK_SAYS(ERROR_MACHINE, wrong[i].words, files_open(&test));
        CHECK(test.blocks == NULL);
    }
    files_end(&test);
}

// Another process changes the files; `read` reads from all of them.
TEST(blocks_of_files_that_change)
{
    static const char read[] = "SELECT max(x) + sum(fitness) + (SELECT x FROM trials WHERE id = 150) FROM trials";
    FilesTest test;
    double number;
    for (int step = 0; step < 6; step++) {
        files_start(&test, 3, 100);
        const char *path = arena_format(&test.arena, "%s/000001.h5", test.folder), *words = "";
        const bool opened = step < 3;
        CHECK_OK(files_open(&test));
        CHECK_OK(blocks_table(test.blocks, test.database));
        if (opened) CHECK_OK(files_ask(&test, read, &number));
        switch (step) {
        case 0: // cut while it is open
            CHECK_INTEGER(0, truncate(path, test.places[1][3].offset + 5));
            words = "000001.h5 is shorter than expected";
            break;
        case 1:
            CHECK_INTEGER(0, truncate(path, 0));
            words = "000001.h5 is shorter than expected";
            break;
        case 2: // replaced: the open file stays
            CHECK_INTEGER(0, unlink(path));
            break;
        case 3:
            CHECK_INTEGER(0, truncate(path, 3000));
            words = "000001.h5 is damaged: it has 3000 bytes, expected ";
            break;
        case 4:
            CHECK_INTEGER(0, unlink(path));
            words = "000001.h5 is damaged: its file is missing; resume";
            break;
        case 5:
            CHECK_INTEGER(0, unlink(path));
            CHECK_INTEGER(0, symlink("000002.h5", path));
            words = "is a link, not a regular file";
            break;
        }
        const Error error = files_ask(&test, read, &number);
        if (step == 2)
            CHECK_OK(error);
        else
            CHECK_SAYS(ERROR_MACHINE, words, error);
        files_end(&test);
    }
}

// A byte in a column, between columns, of another block; the digests are those that the store keeps.
TEST(blocks_that_differ_are_not_read)
{
    FilesTest test;
    files_start(&test, 2, 1500);
    int64_t digests[2] = {0, 0};
    for (int b = 0; b < 2; b++) {
        for (int64_t i = 0; i < 1500; i++) {
            const int64_t id = b * 1503 + i;
            const char *word = files_columns[2].words[id % 2];
            uint64_t digest = row_digest_real(row_digest_integer(0, id), (double)id);
            digest = row_digest_text(digest, word, strlen(word));
            digests[b] ^= (int64_t)row_digest_real(digest, id % 2 ? (double)NAN : -(double)id);
        }
        BlockRecord *record = &test.records[b];
        record->rows_digest = &digests[b];
        record->seal = blocks_seal(&record->span, record->bytes, digests[b], test.places[b], FILES_COLUMNS);
    }
    CHECK_OK(files_open(&test));
    for (int b = 0; b < 2; b++) CHECK_OK(blocks_check(test.blocks, b));
    blocks_close(test.blocks);
    const char *path = arena_format(&test.arena, "%s/000001.h5", test.folder);
    for (int c = 0; c < FILES_COLUMNS; c++) {
        FILE *file = fopen(path, "r+b");
        CHECK(file != NULL);
        if (file == NULL) return;
        unsigned char byte = 0;
        const long place = (long)test.places[1][c].offset + 8 * 1400; // an id without gaps, too
        CHECK(fseek(file, place, SEEK_SET) == 0 && fread(&byte, 1, 1, file) == 1);
        byte ^= 1;
        CHECK(fseek(file, place, SEEK_SET) == 0 && fwrite(&byte, 1, 1, file) == 1);
        fclose(file);
        CHECK_OK(files_open(&test));
        for (int read = 0; read < FILES_COLUMNS; read++) { // a column that is as it was written can be read
            Cell cell;
            CHECK_OK(blocks_read(test.blocks, 0, read, 0, 1, &cell));
            const Error error = blocks_read(test.blocks, 1, read, 0, 1, &cell);
            if (read == c)
                CHECK_SAYS(ERROR_MACHINE, "000001.h5 is damaged: its rows differ from what was written", error);
            else
                CHECK_OK(error);
        }
        CHECK_SAYS(ERROR_MACHINE, "000001.h5 is damaged: its rows differ", blocks_check(test.blocks, 1));
        blocks_close(test.blocks);
        file = fopen(path, "r+b");
        if (file == NULL) return;
        byte ^= 1;
        CHECK(fseek(file, place, SEEK_SET) == 0 && fwrite(&byte, 1, 1, file) == 1);
        fclose(file);
    }
    test.records[1].rows_digest = &digests[0];
    CHECK_SAYS(ERROR_MACHINE, "its numbers are not those that were written", files_open(&test));
    BlockRecord *record = &test.records[1];
    record->seal = blocks_seal(&record->span, record->bytes, digests[0], test.places[1], FILES_COLUMNS);
    CHECK_OK(files_open(&test));
    CHECK_SAYS(ERROR_MACHINE, "its rows differ", blocks_check(test.blocks, 1));
    files_end(&test);
}

#ifdef HOPSCOTCH_FAULTS
TEST(blocks_through_faults)
{
    FilesTest test;
    double number, expected;
    files_start(&test, 3, 100);
    CHECK_OK(files_open(&test));
    CHECK_OK(blocks_table(test.blocks, test.database));
    CHECK_OK(files_ask(&test, "SELECT sum(x) FROM trials", &expected));
    system_set_faults("read:1:SHORT,read:3:EINTR,read:4:SHORT");
    CHECK_OK(files_ask(&test, "SELECT sum(x) FROM trials", &number));
    CHECK_NEAR(expected, number, 0);
    system_set_faults("read:2:EIO");
    CHECK_SAYS(ERROR_MACHINE, "cannot read ", files_ask(&test, "SELECT sum(x) FROM trials", &number));
    system_set_faults("");
    CHECK_OK(files_ask(&test, "SELECT sum(x) FROM trials", &number));
    CHECK_NEAR(expected, number, 0);
    files_end(&test);
}
#endif
