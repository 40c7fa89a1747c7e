// Reads blocks. A file and its record may come from another person, and another process may change the file while it is
// read. So records are checked before a file is opened, and ranges of files are read into memory that we own: a mapping
// of a file that becomes shorter would end the process.
#include "blocks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_FILES = 64 }; // that are open at a time

typedef struct BlockFile {
    int64_t block; // -1: none
    int descriptor;
} BlockFile;

// A column that was read as a whole, because it is deflated.
typedef struct BlockColumn {
    int64_t block; // -1: none
    int64_t capacity;
    Cell *cells; // [capacity] malloc's
} BlockColumn;

struct Blocks {
    Arena arena;
    const NumberColumn *columns;
    int n_columns;
    BlockSpan *spans;
    const char **paths;
    int64_t *bytes;        // [n_blocks] of the file
    ColumnLayout *layouts; // [n_blocks][n_columns]
    const char **around;   // [n_blocks] as in a record
    const int64_t **rows_digest;
    bool *checked; // [n_blocks][n_columns] the column's bytes are those of its layout
    const char *remedy;
    int64_t n_blocks;
    BlockFile files[BLOCKS_FILES]; // a block can be in one slot only
    BlockColumn *inflated;         // [n_columns] the block that was inflated last
};

// ---- records --------------------------------------------------------------------------------------------------------

static Error blocks_damaged(const char *name, const char *why)
{
    return error_make(ERROR_MACHINE, "the record of block %.60s in the database is damaged: %s", name, why);
}

int64_t blocks_seal(const BlockSpan *span, int64_t bytes, int64_t rows_digest, const ColumnLayout *layouts,
                    int n_columns)
{
    ColumnHash hash;
    const int64_t numbers[8] = {span->first, span->last, span->rows, bytes, rows_digest, n_columns};
    column_hash_start(&hash);
    column_hash_add(&hash, numbers, sizeof numbers);
    column_hash_add(&hash, layouts, (size_t)n_columns * sizeof *layouts);
    return (int64_t)column_hash_finish(&hash);
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

static Error blocks_check_layouts(const Blocks *blocks, const BlockRecord *record, const ColumnLayout *layouts)
{
    // Ids differ. So a file holds no more rows than bytes.
    if (layouts[0].width == 0 && record->span.rows > 1)
        return blocks_damaged(record->name, "its trials have the same id");
    for (int c = 0; c < blocks->n_columns; c++) {
        if (!column_layout_is_valid(&layouts[c], blocks->columns[c].type, record->span.rows, record->bytes))
            return blocks_damaged(record->name, "a column lies outside of its file");
    }
    return error_none();
}

static Error blocks_add(Blocks *blocks, const char *folder, const BlockRecord *record, const BlockRecord *before)
{
    const int64_t at = blocks->n_blocks;
    ColumnLayout *layouts = &blocks->layouts[at * blocks->n_columns];
    const size_t size = (size_t)blocks->n_columns * sizeof *layouts;
    if (record->name[0] == '\0' || record->name[0] == '.' || strchr(record->name, '/') != NULL)
        return blocks_damaged(record->name, "its name is not that of a file in the folder of shards");
    if (record->columns.size != size) return blocks_damaged(record->name, "it has other columns");
    TRY(blocks_check_span(record, before));
    memcpy(layouts, record->columns.data, size);
    TRY(blocks_check_layouts(blocks, record, layouts));
    const int64_t digest = record->rows_digest != NULL ? *record->rows_digest : 0;
    if (blocks_seal(&record->span, record->bytes, digest, layouts, blocks->n_columns) != record->seal)
        return blocks_damaged(record->name, "its numbers are not those that were written");
    blocks->spans[at] = record->span;
    blocks->paths[at] = arena_format(&blocks->arena, "%s/%s", folder, record->name);
    blocks->bytes[at] = record->bytes;
    blocks->around[at] = record->around;
    blocks->rows_digest[at] = record->rows_digest;
    blocks->n_blocks++;
    return error_none();
}

static size_t blocks_memory(const char *folder, int n_columns, const BlockRecord *records, int64_t n_records)
{
    const size_t alignment = 64,
                 each = sizeof(BlockSpan) + 3 * sizeof(char *) + sizeof(int64_t) +
                        (sizeof(bool) + sizeof(ColumnLayout)) * (size_t)n_columns,
                 columns = (size_t)n_columns * sizeof(BlockColumn);
    size_t paths = 0;
    for (int64_t b = 0; b < n_records; b++) paths += strlen(folder) + strlen(records[b].name) + 2 + alignment;
    return sizeof(Blocks) + paths + (size_t)n_records * each + columns + 16 * alignment;
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
                       .layouts = ARENA_NEW(&arena, ColumnLayout, n_records * n_columns),
                       .around = ARENA_NEW(&arena, const char *, n_records),
                       .rows_digest = ARENA_NEW(&arena, const int64_t *, n_records),
                       .checked = ARENA_NEW(&arena, bool, n_records *n_columns),
                       .inflated = ARENA_NEW(&arena, BlockColumn, n_columns),
                       .remedy = remedy};
    blocks->arena = arena;
    for (int c = 0; c < n_columns; c++) blocks->inflated[c].block = -1;
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
    for (int c = 0; c < blocks->n_columns; c++) free(blocks->inflated[c].cells);
    Arena arena = blocks->arena;
    arena_destroy(&arena);
}

// ---- files ----------------------------------------------------------------------------------------------------------

static Error blocks_differ(const Blocks *blocks, int64_t block, const char *why)
{
    return error_make(ERROR_MACHINE, "block %.200s is damaged: %s; %s", blocks->paths[block], why, blocks->remedy);
}

// Makes *column the column of the block, unless it is.
static Error blocks_inflate(const Blocks *blocks, int64_t block, int c, int descriptor, ColumnHash *hash,
                            BlockColumn *column)
{
    const int64_t rows = blocks->spans[block].rows;
    if (column->block == block) return error_none();
    column->block = -1;
    if (rows > column->capacity) {
        free(column->cells);
        column->cells = malloc((size_t)rows * sizeof *column->cells);
        column->capacity = column->cells != NULL ? rows : 0;
    }
    if (column->cells == NULL)
        return error_make(ERROR_MEMORY, "not enough memory for a column of %lld trials", (long long)rows);
    TRY(column_read_deflated(descriptor, blocks->paths[block], &blocks->layouts[block * blocks->n_columns + c], rows,
                             column->cells, hash));
    column->block = block;
    return error_none();
}

// cells[rows] <- rows [first, first + rows) of a column of an open block
static Error blocks_take(Blocks *blocks, int64_t block, int column, int descriptor, int64_t first, int64_t rows,
                         Cell *cells)
{
    const ColumnLayout *layout = &blocks->layouts[block * blocks->n_columns + column];
    if (layout->deflated == 0) return column_read(descriptor, blocks->paths[block], layout, first, rows, cells, NULL);
    TRY(blocks_inflate(blocks, block, column, descriptor, NULL, &blocks->inflated[column]));
    memcpy(cells, blocks->inflated[column].cells + first, (size_t)rows * sizeof *cells);
    return error_none();
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
static Error blocks_digest_rows(Blocks *blocks, int64_t block, int descriptor, int64_t *digest)
{
    enum { ROWS = 1 << 13 }; // at a time
    uint64_t digests[ROWS], all = 0;
    Cell cells[ROWS];
    const int64_t rows = blocks->spans[block].rows;
    for (int64_t first = 0; first < rows; first += ROWS) {
        const int64_t n = rows - first < ROWS ? rows - first : ROWS;
        memset(digests, 0, sizeof digests);
        for (int c = 0; c < blocks->n_columns; c++) {
            TRY(blocks_take(blocks, block, c, descriptor, first, n, cells));
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
    TRY(arena_create(&arena, n * (sizeof(ColumnLayout) + sizeof(int)) + 4 * alignment, "the layouts of columns"));
    const Error error = shard_table_look(blocks->paths[block], blocks->spans[block].rows,
                                         &blocks->layouts[block * blocks->n_columns], blocks->n_columns, &arena, found);
    arena_destroy(&arena);
    return error;
}

static Error blocks_check_column(const Blocks *blocks, int64_t block, int column, int descriptor)
{
    bool *checked = &blocks->checked[block * blocks->n_columns + column], same = true;
    const ColumnLayout *layout = &blocks->layouts[block * blocks->n_columns + column];
    if (*checked) return error_none();
    TRY(column_compare(descriptor, blocks->paths[block], layout, blocks->spans[block].rows, &same));
    if (!same) return blocks_differ(blocks, block, "its rows differ from what was written");
    *checked = true;
    return error_none();
}

// Opens the file of a block. The caller closes it.
static Error blocks_open_file(const Blocks *blocks, int64_t block, int *descriptor)
{
    char why[96];
    int64_t bytes = 0;
    const Error error = file_open_stored(blocks->paths[block], descriptor, &bytes);
    if (error.kind != OK && file_missing(blocks->paths[block]))
        return blocks_differ(blocks, block, "its file is missing");
    TRY(error);
    if (bytes == blocks->bytes[block]) return error_none();
    file_close_stored(*descriptor);
    snprintf(why, sizeof why, "it has %lld bytes, expected %lld", (long long)bytes, (long long)blocks->bytes[block]);
    return blocks_differ(blocks, block, why);
}

static Error blocks_file(Blocks *blocks, int64_t block, int *descriptor)
{
    BlockFile *file = &blocks->files[block % BLOCKS_FILES];
    if (file->block != block) {
        if (file->block >= 0) file_close_stored(file->descriptor);
        file->block = -1;
        TRY(blocks_open_file(blocks, block, &file->descriptor));
        file->block = block;
    }
    *descriptor = file->descriptor;
    return error_none();
}

// The file is the one that was written if the bytes around its columns and the digests of its rows are. These cover
// all columns: also ids without gaps, which are not read from the file. Layouts are compared too: queries rely on their
// hashes.
Error blocks_check(Blocks *blocks, int64_t block)
{
    ShardTableFile found;
    int descriptor = -1;
    int64_t digest = 0;
    TRY(blocks_file(blocks, block, &descriptor));
    if (blocks->around[block] != NULL) TRY(blocks_look_around(blocks, block, &found));
    if (blocks->around[block] != NULL && strcmp(found.around.hex, blocks->around[block]) != 0)
        return blocks_differ(blocks, block, "it differs from what was written");
    for (int c = 0; c < blocks->n_columns; c++) TRY(blocks_check_column(blocks, block, c, descriptor));
    if (blocks->rows_digest[block] != NULL) TRY(blocks_digest_rows(blocks, block, descriptor, &digest));
    if (blocks->rows_digest[block] != NULL && digest != *blocks->rows_digest[block])
        return blocks_differ(blocks, block, "its rows differ from what was written");
    return error_none();
}

void blocks_start_again(Blocks *blocks)
{
    blocks_close_files(blocks);
    memset(blocks->checked, 0, (size_t)(blocks->n_blocks * blocks->n_columns) * sizeof *blocks->checked);
    for (int c = 0; c < blocks->n_columns; c++) blocks->inflated[c].block = -1;
}

Error blocks_read(Blocks *blocks, int64_t block, int column, int64_t first, int64_t rows, void *values)
{
    int descriptor = -1;
    TRY(blocks_file(blocks, block, &descriptor));
    TRY(blocks_check_column(blocks, block, column, descriptor));
    return blocks_take(blocks, block, column, descriptor, first, rows, values);
}

// ---- all blocks, by all threads -------------------------------------------------------------------------------------

// What a thread has of its own.
typedef struct ScanThread {
    Cell *cells;           // [n][BLOCKS_PIECE]
    const Cell **pointers; // [n] into cells, or into a column that was inflated
    BlockColumn *inflated; // [n]
    ColumnHash *hashes;    // [n]
    ColumnBounds *bounds;  // [n]
} ScanThread;

typedef struct Scan {
    const Blocks *blocks;
    const BlockScan *asked;
    ScanThread *threads;
    pthread_mutex_t mutex; // of all that follows
    int64_t failed;        // the first block that failed, as far as is known; n_blocks: none
    Error error;
} Scan;

static void scan_fail(Scan *scan, int64_t block, const Error *error)
{
    pthread_mutex_lock(&scan->mutex);
    if (block < scan->failed) scan->error = *error;
    if (block < scan->failed) scan->failed = block;
    pthread_mutex_unlock(&scan->mutex);
}

// Blocks after one that failed need not be read.
static bool scan_ends_before(Scan *scan, int64_t block)
{
    pthread_mutex_lock(&scan->mutex);
    const bool ends = scan->failed < block;
    pthread_mutex_unlock(&scan->mutex);
    return ends;
}

static bool scan_skips(const Scan *scan, const ScanThread *own, const ColumnLayout *layouts)
{
    const BlockScan *asked = scan->asked;
    for (int k = 0; k < asked->n; k++) own->bounds[k] = layouts[asked->columns[k]].bounds;
    return asked->skips != NULL && asked->skips(asked->context, own->bounds);
}

// pointers[k] <- rows [first, first + rows) of a column. Ids without gaps are not read.
static Error scan_read(const Scan *scan, const ScanThread *own, int64_t block, int k, int descriptor, int64_t first,
                       int64_t rows)
{
    const Blocks *blocks = scan->blocks;
    const int column = scan->asked->columns[k];
    const BlockSpan *span = &blocks->spans[block];
    const ColumnLayout *layout = &blocks->layouts[block * blocks->n_columns + column];
    Cell *cells = &own->cells[(int64_t)k * BLOCKS_PIECE];
    own->pointers[k] = cells;
    if (column == 0 && span->last - span->first + 1 == span->rows) {
        for (int64_t i = 0; i < rows; i++) cells[i].integer = span->first + first + i;
        return error_none();
    }
    if (layout->deflated == 0)
        return column_read(descriptor, blocks->paths[block], layout, first, rows, cells, &own->hashes[k]);
    TRY(blocks_inflate(blocks, block, column, descriptor, &own->hashes[k], &own->inflated[k]));
    own->pointers[k] = own->inflated[k].cells + first;
    return error_none();
}

// All bytes of a column were read, or none.
static Error scan_compare(const Scan *scan, const ScanThread *own, int64_t block)
{
    const Blocks *blocks = scan->blocks;
    for (int k = 0; k < scan->asked->n; k++) {
        const int64_t at = block * blocks->n_columns + scan->asked->columns[k];
        if (own->hashes[k].bytes == 0) continue;
        if (column_hash_finish(&own->hashes[k]) != blocks->layouts[at].hash)
            return blocks_differ(blocks, block, "its rows differ from what was written");
        blocks->checked[at] = true;
    }
    return error_none();
}

static Error scan_pieces(const Scan *scan, int thread, int64_t block, int descriptor)
{
    const ScanThread *own = &scan->threads[thread];
    const BlockScan *asked = scan->asked;
    const int64_t all = scan->blocks->spans[block].rows;
    for (int k = 0; k < asked->n; k++) column_hash_start(&own->hashes[k]);
    for (int64_t first = 0; first < all; first += BLOCKS_PIECE) {
        const BlockPiece piece = {.block = block,
                                  .first = first,
                                  .rows = all - first < BLOCKS_PIECE ? all - first : BLOCKS_PIECE,
                                  .cells = own->pointers};
        for (int k = 0; k < asked->n; k++) TRY(scan_read(scan, own, block, k, descriptor, first, piece.rows));
        asked->take(asked->context, thread, &piece);
    }
    return scan_compare(scan, own, block);
}

static void scan_blocks(void *context, int thread, int64_t first, int64_t end)
{
    Scan *scan = context;
    const Blocks *blocks = scan->blocks;
    for (int64_t block = first; block < end && !scan_ends_before(scan, block); block++) {
        int descriptor = -1;
        if (scan_skips(scan, &scan->threads[thread], &blocks->layouts[block * blocks->n_columns])) continue;
        Error error = blocks_open_file(blocks, block, &descriptor);
        if (error.kind == OK) {
            error = scan_pieces(scan, thread, block, descriptor);
            file_close_stored(descriptor);
        }
        if (error.kind != OK) scan_fail(scan, block, &error);
    }
}

int blocks_threads(const Blocks *blocks)
{
    const int64_t threads = processors_allowed();
    return (int)(blocks->n_blocks < threads ? blocks->n_blocks > 0 ? blocks->n_blocks : 1 : threads);
}

static void scan_take_threads(Scan *scan, int threads, Arena *arena)
{
    const int n = scan->asked->n;
    scan->threads = ARENA_NEW(arena, ScanThread, threads);
    for (int t = 0; t < threads; t++) {
        ScanThread *own = &scan->threads[t];
        *own = (ScanThread){.cells = ARENA_NEW(arena, Cell, (int64_t)n * BLOCKS_PIECE),
                            .pointers = ARENA_NEW(arena, const Cell *, n),
                            .inflated = ARENA_NEW(arena, BlockColumn, n),
                            .hashes = ARENA_NEW(arena, ColumnHash, n),
                            .bounds = ARENA_NEW(arena, ColumnBounds, n)};
        for (int k = 0; k < n; k++) own->inflated[k].block = -1;
    }
}

static void scan_free_threads(const Scan *scan, int threads)
{
    for (int t = 0; t < threads; t++) {
        for (int k = 0; k < scan->asked->n; k++) free(scan->threads[t].inflated[k].cells);
    }
}

Error blocks_scan(const Blocks *blocks, const BlockScan *asked)
{
    Arena arena;
    const int threads = blocks_threads(blocks);
    TRY(arena_create_growing(&arena, (size_t)1 << 34, "columns of blocks"));
    Scan scan = {.blocks = blocks, .asked = asked, .failed = blocks->n_blocks, .error = error_none()};
    scan_take_threads(&scan, threads, &arena);
    (void)pthread_mutex_init(&scan.mutex, NULL);
    ThreadTeam *team = thread_team_open(threads);
    thread_team_for(team, blocks->n_blocks, 1, scan_blocks, &scan);
    thread_team_close(team);
    (void)pthread_mutex_destroy(&scan.mutex);
    scan_free_threads(&scan, threads);
    arena_destroy(&arena);
    return scan.error;
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
