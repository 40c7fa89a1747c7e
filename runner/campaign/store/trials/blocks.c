// Reads blocks. A file and its record may come from another person, and another process may change the file while it is
// read. So records are checked before a file is opened, and parts of files are read into memory that we own: a mapping
// of a file that becomes shorter would end the process.
#include "blocks.h"

#include <stdio.h>
#include <string.h>

enum { BLOCKS_FILES = 64 }; // that are open at a time

typedef struct BlockFile {
    int64_t block; // -1: none
    int descriptor;
} BlockFile;

struct Blocks {
    Arena arena;
    const NumberColumn *columns;
    int n_columns;
    BlockSpan *spans;
    const char **paths;
    int64_t *bytes;      // [n_blocks] of the file
    ColumnPlace *places; // [n_blocks][n_columns]
    const char **around; // [n_blocks] as in a record
    const int64_t **rows_digest;
    bool *checked;         // [n_blocks]
    DatabaseStamp *stamps; // [n_blocks] of files that were compared; zero: not known
    bool stamped;          // files that were compared are compared again if their stamp has changed
    int64_t behind;        // the block behind the blocks that were compared last
    int64_t ahead;         // the end of the blocks that were compared before they were read
    const char *remedy;
    int64_t n_blocks;
    BlockFile files[BLOCKS_FILES]; // a block can be at one place only
};

// ---- records --------------------------------------------------------------------------------------------------------

static Error blocks_damaged(const char *name, const char *why)
{
    return error_make(ERROR_MACHINE, "the record of block %.60s in the database is damaged: %s", name, why);
}

static Error blocks_check_span(const BlockRecord *record, const BlockRecord *before)
{
    const BlockSpan *span = &record->span;
    if (span->first < 0 || span->last < span->first || span->last == INT64_MAX)
        return blocks_damaged(record->name, "its trials have no valid ids");
    if (span->rows < 1 || span->rows - 1 > span->last - span->first)
        return blocks_damaged(record->name, "it has more or fewer rows than ids");
    if (before != NULL && before->span.last >= span->first)
        return blocks_damaged(record->name, "its trials are in the block before it too");
    return error_none();
}

static Error blocks_check_places(const Blocks *blocks, const BlockRecord *record, const ColumnPlace *places)
{
    // Ids differ. So a file holds no more rows than bytes.
    if (places[0].width == 0 && record->span.rows > 1)
        return blocks_damaged(record->name, "its trials have the same id");
    for (int c = 0; c < blocks->n_columns; c++) {
        if (!column_place_is_valid(&places[c], blocks->columns[c].type, record->span.rows, record->bytes))
            return blocks_damaged(record->name, "a column lies outside of its file");
    }
    return error_none();
}

static Error blocks_add(Blocks *blocks, const char *folder, const BlockRecord *record, const BlockRecord *before)
{
    const int64_t at = blocks->n_blocks;
    ColumnPlace *places = &blocks->places[at * blocks->n_columns];
    const size_t size = (size_t)blocks->n_columns * sizeof *places;
    if (record->name[0] == '\0' || record->name[0] == '.' || strchr(record->name, '/') != NULL)
        return blocks_damaged(record->name, "its name is not that of a file in the folder of shards");
    if (record->columns.size != size) return blocks_damaged(record->name, "it has other columns");
    TRY(blocks_check_span(record, before));
    memcpy(places, record->columns.data, size);
    TRY(blocks_check_places(blocks, record, places));
    blocks->spans[at] = record->span;
    blocks->paths[at] = arena_format(&blocks->arena, "%s/%s", folder, record->name);
    blocks->bytes[at] = record->bytes;
    blocks->around[at] = record->around;
    blocks->rows_digest[at] = record->rows_digest;
    blocks->checked[at] = record->checked;
    blocks->n_blocks++;
    return error_none();
}

static size_t blocks_memory(const char *folder, int n_columns, const BlockRecord *records, int64_t n_records)
{
    const size_t alignment = 64, each = sizeof(BlockSpan) + 3 * sizeof(char *) + sizeof(bool) + sizeof(int64_t) +
                                        sizeof(DatabaseStamp) + sizeof(ColumnPlace) * (size_t)n_columns;
    size_t paths = 0;
    for (int64_t b = 0; b < n_records; b++) paths += strlen(folder) + strlen(records[b].name) + 2 + alignment;
    return sizeof(Blocks) + paths + (size_t)n_records * each + 16 * alignment;
}

Error blocks_open(const char *folder, const NumberColumn *columns, int n_columns, const BlockRecord *records,
                  int64_t n_records, const char *remedy, Blocks **out)
{
    Arena arena;
    *out = NULL;
    TRY(arena_create(&arena, blocks_memory(folder, n_columns, records, n_records), "a list of blocks"));
    Blocks *blocks = ARENA_NEW(&arena, Blocks, 1);
    *blocks = (Blocks){.columns = columns,
                       .n_columns = n_columns,
                       .spans = ARENA_NEW(&arena, BlockSpan, n_records),
                       .paths = ARENA_NEW(&arena, const char *, n_records),
                       .bytes = ARENA_NEW(&arena, int64_t, n_records),
                       .places = ARENA_NEW(&arena, ColumnPlace, n_records * n_columns),
                       .around = ARENA_NEW(&arena, const char *, n_records),
                       .rows_digest = ARENA_NEW(&arena, const int64_t *, n_records),
                       .checked = ARENA_NEW(&arena, bool, n_records),
                       .stamps = ARENA_NEW(&arena, DatabaseStamp, n_records),
                       .behind = -1,
                       .remedy = remedy};
    blocks->arena = arena;
    for (int i = 0; i < BLOCKS_FILES; i++) blocks->files[i] = (BlockFile){.block = -1};
    for (int64_t b = 0; b < n_records; b++) {
        const Error error = blocks_add(blocks, folder, &records[b], b > 0 ? &records[b - 1] : NULL);
        if (error.kind == OK) continue;
        blocks_close(blocks);
        return error;
    }
    *out = blocks;
    return error_none();
}

static void blocks_close_files(Blocks *blocks)
{
    for (int i = 0; i < BLOCKS_FILES; i++) {
        if (blocks->files[i].block >= 0) file_close_stored(blocks->files[i].descriptor);
        blocks->files[i].block = -1;
    }
}

void blocks_close(Blocks *blocks)
{
    if (blocks == NULL) return;
    blocks_close_files(blocks);
    Arena arena = blocks->arena;
    arena_destroy(&arena);
}

// ---- files ----------------------------------------------------------------------------------------------------------

static Error blocks_differ(const Blocks *blocks, int64_t block, const char *why)
{
    return error_make(ERROR_MACHINE, "block %.200s is damaged: %s; %s", blocks->paths[block], why, blocks->remedy);
}

static void blocks_digest(const NumberColumn *column, const Cell *cells, int64_t rows, uint64_t *digests)
{
    if (column->type == NUMBER_REAL) {
        row_digest_reals(digests, &cells->real, rows);
    } else if (column->words == NULL) {
        row_digest_integers(digests, &cells->integer, rows);
    } else {
        for (int64_t i = 0; i < rows; i++) {
            const char *word = number_word(column, cells[i].integer);
            digests[i] = row_digest_text(digests[i], word, strlen(word));
        }
    }
}

// *digest <- of all rows of the file
static Error blocks_digest_rows(const Blocks *blocks, int64_t block, int descriptor, int64_t *digest)
{
    enum { ROWS = 1 << 13 }; // at a time
    uint64_t digests[ROWS], all = 0;
    Cell cells[ROWS];
    const ColumnPlace *places = &blocks->places[block * blocks->n_columns];
    const int64_t rows = blocks->spans[block].rows;
    for (int64_t first = 0; first < rows; first += ROWS) {
        const int64_t n = rows - first < ROWS ? rows - first : ROWS;
        memset(digests, 0, sizeof digests);
        for (int c = 0; c < blocks->n_columns; c++) {
            TRY(column_read(descriptor, blocks->paths[block], &places[c], first, n, cells));
            blocks_digest(&blocks->columns[c], cells, n, digests);
        }
        for (int64_t i = 0; i < n; i++) all ^= digests[i];
    }
    memcpy(digest, &all, sizeof all);
    return error_none();
}

static Error blocks_look_around(const Blocks *blocks, int64_t block, ShardTableFile *found)
{
    Arena arena;
    const size_t alignment = 64, n = (size_t)blocks->n_columns;
    TRY(arena_create(&arena, n * (sizeof(ColumnPlace) + sizeof(int)) + 4 * alignment, "the places of columns"));
    const Error error = shard_table_look(blocks->paths[block], blocks->spans[block].rows,
                                         &blocks->places[block * blocks->n_columns], blocks->n_columns, &arena, found);
    arena_destroy(&arena);
    return error;
}

static bool blocks_stamp_is(const Blocks *blocks, int64_t block, const DatabaseStamp *stamp)
{
    const DatabaseStamp *known = &blocks->stamps[block];
    return known->word[1] != 0 && memcmp(known, stamp, sizeof *stamp) == 0; // word 1: the inode
}

// The file is the one that was written if the bytes around its columns and the digests of its rows are. These cover
// all columns: also ids without gaps, which are not read from the file.
static Error blocks_compare(const Blocks *blocks, int64_t block, int descriptor, int64_t bytes)
{
    char why[96];
    ShardTableFile found;
    DatabaseStamp stamp;
    int64_t digest = 0;
    snprintf(why, sizeof why, "it has %lld bytes, expected %lld", (long long)bytes, (long long)blocks->bytes[block]);
    if (bytes != blocks->bytes[block]) return blocks_differ(blocks, block, why);
    const bool settled = file_stamp(descriptor, &stamp);
    if (blocks->checked[block] && (!blocks->stamped || blocks_stamp_is(blocks, block, &stamp))) return error_none();
    blocks->checked[block] = false;
    if (blocks->around[block] != NULL) TRY(blocks_look_around(blocks, block, &found));
    if (blocks->around[block] != NULL && strcmp(found.around.hex, blocks->around[block]) != 0)
        return blocks_differ(blocks, block, "it differs from what was written");
    if (blocks->rows_digest[block] != NULL) TRY(blocks_digest_rows(blocks, block, descriptor, &digest));
    if (blocks->rows_digest[block] != NULL && digest != *blocks->rows_digest[block])
        return blocks_differ(blocks, block, "its rows differ from what was written");
    blocks->checked[block] = true;
    blocks->stamps[block] = settled ? stamp : (DatabaseStamp){.word = {0}};
    return error_none();
}

// A block that can't be compared, or differs, is compared again when it is read: then that is an error.
static void blocks_compare_some(void *context, int thread, int64_t first, int64_t end)
{
    const Blocks *blocks = context;
    (void)thread;
    for (int64_t block = blocks->ahead + first; block < blocks->ahead + end; block++) {
        int descriptor;
        int64_t bytes;
        if (blocks->checked[block] || file_open_stored(blocks->paths[block], &descriptor, &bytes).kind != OK) continue;
        (void)blocks_compare(blocks, block, descriptor, bytes);
        file_close_stored(descriptor);
    }
}

// Who reads a block and then the next one reads more: all threads compare some blocks from this one on. Not all blocks,
// because a query that was interrupted, or whose time is over, ends between two reads.
static void blocks_compare_ahead(Blocks *blocks, int64_t block)
{
    enum { EACH = 4 }; // blocks a thread
    const int64_t threads = processors_allowed(), left = blocks->n_blocks - block;
    const int64_t count = left < EACH * threads ? left : EACH * threads;
    const bool follows = block == blocks->behind && block >= blocks->ahead;
    if (blocks->checked[block]) return;
    blocks->behind = block + 1;
    if (!follows || count < 2 || threads < 2) return;
    ThreadTeam *team = thread_team_open((int)(count < threads ? count : threads));
    blocks->ahead = block;
    thread_team_for(team, count, 1, blocks_compare_some, blocks);
    thread_team_close(team);
    blocks->behind = blocks->ahead = block + count;
}

static Error blocks_file(Blocks *blocks, int64_t block, int *descriptor)
{
    const char *path = blocks->paths[block];
    BlockFile *file = &blocks->files[block % BLOCKS_FILES];
    int64_t bytes = 0;
    if (file->block != block) {
        if (file->block >= 0) file_close_stored(file->descriptor);
        file->block = -1;
        if (file_missing(path)) return blocks_differ(blocks, block, "its file is missing");
        blocks_compare_ahead(blocks, block);
        TRY(file_open_stored(path, &file->descriptor, &bytes));
        const Error error = blocks_compare(blocks, block, file->descriptor, bytes);
        if (error.kind != OK) file_close_stored(file->descriptor);
        TRY(error);
        file->block = block;
    }
    *descriptor = file->descriptor;
    return error_none();
}

Error blocks_check(Blocks *blocks, int64_t block)
{
    int descriptor = -1;
    return blocks_file(blocks, block, &descriptor);
}

void blocks_start_again(Blocks *blocks)
{
    blocks_close_files(blocks);
    blocks->stamped = true;
    blocks->behind = -1;
    blocks->ahead = 0;
}

static bool blocks_are_equal(const Blocks *a, int64_t i, const Blocks *b, int64_t k)
{
    const size_t columns = (size_t)a->n_columns;
    return a->spans[i].last == b->spans[k].last && a->spans[i].rows == b->spans[k].rows && a->bytes[i] == b->bytes[k] &&
           strcmp(a->paths[i], b->paths[k]) == 0 && strcmp(a->around[i], b->around[k]) == 0 &&
           *a->rows_digest[i] == *b->rows_digest[k] &&
           memcmp(&a->places[i * a->n_columns], &b->places[k * b->n_columns], columns * sizeof *a->places) == 0;
}

void blocks_take_checked(Blocks *blocks, const Blocks *before)
{
    for (int64_t b = 0, k = 0; b < blocks->n_blocks && blocks->n_columns == before->n_columns; b++) {
        while (k < before->n_blocks && before->spans[k].first < blocks->spans[b].first) k++;
        if (k == before->n_blocks) return;
        if (before->spans[k].first != blocks->spans[b].first || !blocks_are_equal(blocks, b, before, k)) continue;
        blocks->checked[b] = before->checked[k];
        blocks->stamps[b] = before->stamps[k];
    }
}

bool blocks_is_checked(const Blocks *blocks, int64_t block) { return blocks->checked[block]; }

Error blocks_read(Blocks *blocks, int64_t block, int column, int64_t first, int64_t rows, void *values)
{
    int descriptor = -1;
    TRY(blocks_file(blocks, block, &descriptor));
    return column_read(descriptor, blocks->paths[block], &blocks->places[block * blocks->n_columns + column], first,
                       rows, values);
}

// ---- a table --------------------------------------------------------------------------------------------------------

static Error blocks_read_for_table(void *blocks, int64_t block, int column, int64_t first, int64_t rows, void *values)
{
    return blocks_read(blocks, block, column, first, rows, values);
}

Error blocks_table(Blocks *blocks, Database *database)
{
    const BlockTable table = {.columns = blocks->columns,
                              .n_columns = blocks->n_columns,
                              .blocks = blocks->spans,
                              .n_blocks = blocks->n_blocks,
                              .read = blocks_read_for_table,
                              .source = blocks};
    return database_add_blocks(database, "trials", &table);
}
