// Writes shards of columns. All shards of one table with the same number of rows and the same forms of columns have the
// same bytes around their columns, the frame: HDF5 makes it once, and each file is written from the frame and from the
// columns where they lie.
//
// HDF5 makes the frame in a file without a name, in memory, and leaves holes for the columns: datasets are contiguous,
// their offset is chosen when they are created, and nothing is filled in. So a frame needs no memory for the columns.
#include "shard_columns.h"

#include "shard_hdf5.h"
#include "system.h"
#include "table_encoder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SHARD_FRAMES = 4 }; // shapes that are kept: batches of a run have one or two, and the last one has another

typedef struct ShardFrame {
    Arena arena;
    int64_t rows; // 0: none
    int64_t used; // when
    ShardTableFile file;
    ColumnLayout *layouts; // [n_columns]
    int *order, n_stored;  // [n_stored] columns with storage, in the order of their offsets
    unsigned char *around; // the bytes before the first column, between columns, and behind the last one
} ShardFrame;

struct ShardTableWriter {
    Arena arena;
    const ShardTable *table;
    ShardFrame frames[SHARD_FRAMES];
    int64_t used;
    FilePiece *pieces; // [2 n_columns + 1]
    TableEncoder encoder;
};

// ---- by HDF5 --------------------------------------------------------------------------------------------------------

static hid_t frame_type(NumberType type, int64_t width)
{
    if (type == NUMBER_REAL) return H5T_IEEE_F64LE;
    return width == 1 ? H5T_STD_I8LE : width == 2 ? H5T_STD_I16LE : width == 4 ? H5T_STD_I32LE : H5T_STD_I64LE;
}

// A column of equal numbers is never allocated: readers get the fill value.
static hid_t frame_storage(Error *error, NumberType type, const ColumnLayout *layout, hsize_t rows)
{
    const hid_t create = shard_id(error, H5Pcreate(H5P_DATASET_CREATE), "the columns");
    const hid_t memory = type == NUMBER_REAL ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
    const bool allocated = layout->width > 0 && layout->deflated == 0;
    shard_ok(error, H5Pset_obj_track_times(create, 0), "the columns");
    shard_ok(error, H5Pset_layout(create, layout->deflated > 0 ? H5D_CHUNKED : H5D_CONTIGUOUS), "the columns");
    if (layout->deflated > 0) {
        shard_ok(error, H5Pset_chunk(create, 1, &rows), "the columns");
        shard_ok(error, H5Pset_shuffle(create), "the columns");
        shard_ok(error, H5Pset_deflate(create, 1), "the columns");
    }
    shard_ok(error, H5Pset_alloc_time(create, allocated ? H5D_ALLOC_TIME_EARLY : H5D_ALLOC_TIME_LATE), "the columns");
    shard_ok(error, H5Pset_fill_time(create, layout->width > 0 ? H5D_FILL_TIME_NEVER : H5D_FILL_TIME_IFSET),
             "the columns");
    if (layout->width == 0) shard_ok(error, H5Pset_fill_value(create, memory, &layout->value), "the columns");
    return create;
}

// HDF5 gives a chunk its offset in the file when the chunk is written.
static void frame_put_chunk(Error *error, const ColumnLayout *layout, hid_t data, const char *name, Arena *arena)
{
    const hsize_t first = 0;
    const size_t used = arena->used, size = (size_t)layout->deflated;
    shard_ok(error, H5Dwrite_chunk(data, H5P_DEFAULT, 0, &first, size, ARENA_NEW(arena, char, size)), name);
    arena_rewind(arena, used);
}

static hid_t frame_put_column(Error *error, const NumberColumn *column, const ColumnLayout *layout, hid_t parent,
                              hid_t space, hsize_t rows, Arena *arena)
{
    const char *name = column->field.name;
    const hid_t create = frame_storage(error, column->type, layout, rows);
    const hid_t data = shard_id(
        error,
        H5Dcreate2(parent, name, frame_type(column->type, layout->width), space, H5P_DEFAULT, create, H5P_DEFAULT),
        name);
    if (layout->deflated > 0) frame_put_chunk(error, layout, data, name, arena);
    if (column->words != NULL) shard_put_texts(error, data, "words", column->words, (hsize_t)column->n_words);
    shard_ok(error, H5Pclose(create), name);
    return data;
}

// The offset of a column in the file; HADDR_UNDEF: it has none.
static haddr_t frame_offset(Error *error, const ColumnLayout *layout, hid_t data, const char *name)
{
    const hsize_t first = 0;
    haddr_t offset = HADDR_UNDEF;
    hsize_t size = 0;
    unsigned filters = 0;
    if (error->kind != OK) return offset;
    if (layout->deflated == 0) return H5Dget_offset(data);
    shard_ok(error, H5Dget_chunk_info_by_coord(data, &first, &filters, &offset, &size), name);
    shard_check(error, size == (hsize_t)layout->deflated, name);
    return offset;
}

// All datasets first, so that they follow each other; then what describes them.
static void frame_put_columns(Error *error, const ShardTable *table, hsize_t rows, const ColumnLayout *layouts,
                              hid_t parent, hid_t *data, Arena *arena)
{
    const int n = table->n_columns;
    ShardGroups groups = {.items = ARENA_NEW(arena, ShardGroup, n), .count = n};
    const char **names = ARENA_NEW(arena, const char *, n);
    Field *fields = ARENA_NEW(arena, Field, n);
    int *numbers = ARENA_NEW(arena, int, n);
    const hid_t space = shard_id(error, H5Screate_simple(1, &rows, NULL), table->group);
    for (int c = 0; c < n; c++) {
        names[c] = table->columns[c].field.name;
        fields[c] = table->columns[c].field;
        numbers[c] = c;
        groups.items[c] = (ShardGroup){.name = names[c], .columns = &numbers[c], .count = 1};
        data[c] = frame_put_column(error, &table->columns[c], &layouts[c], parent, space, rows, arena);
    }
    shard_put_texts(error, parent, "columns", names, (hsize_t)n);
    for (int c = 0; c < n; c++) shard_describe_columns(error, fields, &groups.items[c], data[c], arena);
    ShardScale id = shard_scale_start(error, parent, names[0], names[0], n, arena);
    for (int c = 1; c < n; c++) shard_attach(error, names[c], &id, NULL);
    shard_scale_end(error, &id);
    shard_ok(error, H5Sclose(space), table->group);
}

void shard_put_table(Error *error, const ShardTable *table, int64_t rows, hid_t file, ColumnLayout *layouts,
                     Arena *arena)
{
    hid_t *data = ARENA_NEW(arena, hid_t, table->n_columns);
    for (int i = 0; i < table->n_attributes; i++)
        shard_put_text(error, file, table->attributes[i].name, table->attributes[i].text);
    const hid_t parent = shard_create_group(error, file, table->group, table->n_columns, arena);
    frame_put_columns(error, table, (hsize_t)rows, layouts, parent, data, arena);
    for (int c = 0; c < table->n_columns; c++) {
        const char *name = table->columns[c].field.name;
        const haddr_t offset = frame_offset(error, &layouts[c], data[c], name);
        shard_check(error, (offset != HADDR_UNDEF) == (layouts[c].width > 0), name);
        if (layouts[c].width > 0) layouts[c].offset = (int64_t)offset;
        shard_ok(error, H5Dclose(data[c]), name);
    }
    shard_ok(error, H5Gclose(parent), table->group);
    shard_ok(error, H5Fflush(file, H5F_SCOPE_GLOBAL), "the file in memory");
}

static size_t frame_memory(const ShardTable *table, const ColumnLayout *layouts)
{
    const size_t each =
        8 * sizeof(void *) + sizeof(ShardGroup) + sizeof(Field) + 1792; // arrays, each aligned, and texts
    size_t chunk = 0;
    for (int c = 0; c < table->n_columns; c++)
        chunk = (size_t)layouts[c].deflated > chunk ? (size_t)layouts[c].deflated : chunk;
    return (size_t)table->n_columns * each + chunk + (1 << 16);
}

// ---- the frame ------------------------------------------------------------------------------------------------------

// By the driver on C's files: the default one looks for the file that a link points to, and this one has no name.
static hid_t frame_create_file(Error *error, int memory)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    const hid_t access = shard_id(error, H5Pcreate(H5P_FILE_ACCESS), "the file in memory");
    shard_ok(error, H5Pset_fapl_stdio(access), "the file in memory");
    const hid_t create = shard_id(error, H5Pcreate(H5P_FILE_CREATE), "the file in memory");
    shard_ok(error, H5Pset_obj_track_times(create, 0), "the file in memory");
    const hid_t file = shard_id(error, H5Fcreate(path, H5F_ACC_TRUNC, create, access), "the file in memory");
    shard_ok(error, H5Pclose(access), "the file in memory");
    shard_ok(error, H5Pclose(create), "the file in memory");
    return file;
}

// Columns without storage are left out.
static void frame_sort(ShardFrame *frame, int n_columns)
{
    frame->n_stored = 0;
    for (int c = 0; c < n_columns; c++) {
        if (frame->layouts[c].width == 0) continue;
        int at = frame->n_stored++;
        for (; at > 0 && frame->layouts[frame->order[at - 1]].offset > frame->layouts[c].offset; at--)
            frame->order[at] = frame->order[at - 1];
        frame->order[at] = c;
    }
}

static bool frame_holds(const ShardFrame *frame, const ColumnLayout *layout)
{
    if (layout->offset < 0 || layout->offset > frame->file.bytes) return false;
    const int64_t left = frame->file.bytes - layout->offset;
    return layout->deflated > 0 ? layout->deflated <= left : frame->rows <= left / layout->width;
}

// *first, *size <- the bytes of the file before column order[k], or behind the last column. False: a column
// lies outside of the file, or two overlap.
static bool frame_gap(const ShardFrame *frame, int k, int64_t *first, int64_t *size)
{
    const ColumnLayout *before = k > 0 ? &frame->layouts[frame->order[k - 1]] : NULL;
    const int64_t end = k < frame->n_stored ? frame->layouts[frame->order[k]].offset : frame->file.bytes;
    *first = 0;
    if (end < 0 || end > frame->file.bytes) return false;
    if (before != NULL && !frame_holds(frame, before)) return false;
    if (before != NULL) *first = before->offset + column_bytes(before, frame->rows);
    *size = end - *first;
    return *size >= 0;
}

static Error frame_misplaced(const char *path)
{
    return error_make(ERROR_MACHINE, "the columns do not lie one after the other in %s", path_text(path).text);
}

// Hashes the bytes around the columns, and copies them to `around` unless it is NULL. *size: their number.
static Error frame_read(int file, const char *path, ShardFrame *frame, unsigned char *around, int64_t *size)
{
    unsigned char buffer[4096];
    Sha256 hash;
    int64_t first, left;
    *size = 0;
    sha256_start(&hash);
    for (int k = 0; k <= frame->n_stored; k++) {
        if (!frame_gap(frame, k, &first, &left)) return frame_misplaced(path);
        while (left > 0) {
            const int64_t n = left < (int64_t)sizeof buffer ? left : (int64_t)sizeof buffer;
            TRY(file_read_at(file, path, first, buffer, (size_t)n));
            sha256_add(&hash, buffer, (size_t)n);
            if (around != NULL) memcpy(around + *size, buffer, (size_t)n);
            *size += n;
            first += n;
            left -= n;
        }
    }
    frame->file.around = sha256_finish(&hash);
    return error_none();
}

// Sets *kept from what HDF5 wrote: `built` has the layouts of the columns.
static Error frame_keep(const ShardTable *table, int memory, ShardFrame *built, ShardFrame *kept)
{
    static const char name[] = "the file in memory";
    const int n = table->n_columns;
    const size_t columns = (size_t)n, alignment = 64;
    int64_t size = 0;
    built->file.bytes = lseek(memory, 0, SEEK_END);
    frame_sort(built, n);
    TRY(frame_read(memory, name, built, NULL, &size));
    *kept = *built;
    TRY(arena_create(&kept->arena,
                     (size_t)size + columns * (sizeof *built->layouts + sizeof *built->order) + 4 * alignment,
                     "a shard of columns"));
    kept->layouts = ARENA_NEW(&kept->arena, ColumnLayout, n);
    kept->order = ARENA_NEW(&kept->arena, int, n);
    kept->around = ARENA_NEW(&kept->arena, unsigned char, size);
    memcpy(kept->layouts, built->layouts, columns * sizeof *built->layouts);
    memcpy(kept->order, built->order, columns * sizeof *built->order);
    return frame_read(memory, name, kept, kept->around, &size);
}

static Error frame_make(const ShardTable *table, int64_t rows, const ColumnLayout *layouts, ShardFrame *frame)
{
    Arena arena;
    TRY(shard_ready(0));
    TRY(arena_create(&arena, frame_memory(table, layouts), "a shard of columns"));
    Error error = error_none();
    ShardFrame built = {.rows = rows,
                        .layouts = ARENA_NEW(&arena, ColumnLayout, table->n_columns),
                        .order = ARENA_NEW(&arena, int, table->n_columns)};
    memcpy(built.layouts, layouts, (size_t)table->n_columns * sizeof *layouts);
    const int memory = memfd_create("hopscotch shard", MFD_CLOEXEC);
    if (memory < 0) error = file_error("make", "a file in memory", 0);
    const hid_t file = frame_create_file(&error, memory);
    shard_put_table(&error, table, rows, file, built.layouts, &arena);
    shard_ok(&error, H5Fclose(file), "the file in memory");
    if (error.kind == OK) error = frame_keep(table, memory, &built, frame);
    if (memory >= 0) (void)close(memory);
    arena_destroy(&arena);
    return error;
}

static void frame_drop(ShardFrame *frame)
{
    arena_destroy(&frame->arena);
    *frame = (ShardFrame){.rows = 0};
}

// The columns have the same widths, and those without storage the same numbers.
static bool frame_fits(const ShardFrame *frame, int64_t rows, const ColumnLayout *layouts, int n_columns)
{
    if (frame->rows != rows) return false;
    for (int c = 0; c < n_columns; c++) {
        const ColumnLayout *layout = &frame->layouts[c];
        if (layout->width != layouts[c].width || layout->deflated != layouts[c].deflated) return false;
        if (layout->width == 0 && layout->value.integer != layouts[c].value.integer) return false;
    }
    return true;
}

// The frame for a table: a kept frame, or a new frame instead of the one that was used longest ago.
static Error frame_for(ShardTableWriter *writer, int64_t rows, const ColumnLayout *layouts, const ShardFrame **out)
{
    ShardFrame *oldest = &writer->frames[0];
    for (int i = 0; i < SHARD_FRAMES; i++) {
        ShardFrame *frame = &writer->frames[i];
        if (frame_fits(frame, rows, layouts, writer->table->n_columns)) {
            frame->used = ++writer->used;
            *out = frame;
            return error_none();
        }
        if (frame->used < oldest->used) oldest = frame;
    }
    frame_drop(oldest);
    const Error error = frame_make(writer->table, rows, layouts, oldest);
    if (error.kind != OK) {
        frame_drop(oldest);
        return error;
    }
    oldest->used = ++writer->used;
    *out = oldest;
    return error;
}

// ---- writing --------------------------------------------------------------------------------------------------------

Error shard_table_open(const ShardTable *table, ShardTableWriter **out)
{
    Arena arena;
    const size_t pieces = 2 * (size_t)table->n_columns + 1;
    *out = NULL;
    const size_t bytes = sizeof(ShardTableWriter) + pieces * (sizeof(FilePiece) + sizeof(EncodedColumn)) + 4096;
    TRY(arena_create(&arena, bytes, "shards of columns"));
    ShardTableWriter *writer = ARENA_NEW(&arena, ShardTableWriter, 1);
    *writer = (ShardTableWriter){.table = table,
                                 .pieces = ARENA_NEW(&arena, FilePiece, pieces),
                                 .encoder = {.columns = table->columns,
                                             .n_columns = table->n_columns,
                                             .encoded = ARENA_NEW(&arena, EncodedColumn, table->n_columns)}};
    writer->arena = arena;
    *out = writer;
    return error_none();
}

void shard_table_close(ShardTableWriter *writer)
{
    if (writer == NULL) return;
    for (int i = 0; i < SHARD_FRAMES; i++) frame_drop(&writer->frames[i]);
    table_encoder_free(&writer->encoder);
    Arena arena = writer->arena;
    arena_destroy(&arena);
}

void shard_table_encode(ShardTableWriter *writer, ThreadTeam *team, int64_t rows, const void *const *values,
                        ColumnLayout *layouts)
{
    table_encode(&writer->encoder, team, rows, values, rows >= SHARD_TABLE_ENCODED, layouts);
}

Error shard_table_write(ShardTableWriter *writer, const char *folder, const char *name, int64_t rows,
                        ColumnLayout *layouts, ShardTableFile *written)
{
    const ShardFrame *frame = NULL;
    int64_t at = 0, around = 0;
    int n = 0;
    TRY(frame_for(writer, rows, layouts, &frame));
    for (int c = 0; c < writer->table->n_columns; c++) {
        if (layouts[c].width > 0) layouts[c].offset = frame->layouts[c].offset;
    }
    for (int k = 0; k < frame->n_stored; k++) {
        const int c = frame->order[k];
        const int64_t before = layouts[c].offset - at, size = column_bytes(&layouts[c], rows);
        writer->pieces[n++] = (FilePiece){frame->around + around, (size_t)before};
        writer->pieces[n++] = (FilePiece){writer->encoder.encoded[c].stored, (size_t)size};
        around += before;
        at = layouts[c].offset + size;
    }
    writer->pieces[n++] = (FilePiece){frame->around + around, (size_t)(frame->file.bytes - at)};
    *written = frame->file;
    return file_write_pieces(folder, name, writer->pieces, n);
}

// ---- looking at a file ----------------------------------------------------------------------------------------------

Error shard_table_look(const char *path, int64_t rows, const ColumnLayout *layouts, int n_columns, Arena *arena,
                       ShardTableFile *found)
{
    const size_t used = arena->used, n = (size_t)n_columns;
    int64_t size = 0;
    int file;
    ShardFrame frame = {.rows = rows, .layouts = ARENA_NEW(arena, ColumnLayout, n), .order = ARENA_NEW(arena, int, n)};
    memcpy(frame.layouts, layouts, n * sizeof *layouts);
    frame_sort(&frame, n_columns);
    Error error = file_open_stored(path, &file, &frame.file.bytes);
    if (error.kind == OK) {
        error = rows > 0 ? frame_read(file, path, &frame, NULL, &size) : frame_misplaced(path);
        file_close_stored(file);
    }
    arena_rewind(arena, used);
    *found = frame.file;
    return error;
}
