// Reads a shard. The whole file is loaded into memory, and its SHA-256 is compared before HDF5 sees it. Its tables are
// checked at opening, so that reading a lane needs no memory and stays within the samples.
//
// A shard may come from another person, with a database whose digest matches, and HDF5 1.10 trusts the contents of a
// file. So no text of variable length is read, because it may point anywhere in the file's heaps; the columns come from
// the spec. Numbers are read only if their type and storage are those that a shard is written with. Some files still
// crash the library, so all of a shard is first read in a separate process.
#include "shard_hdf5.h"
#include "system.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- opening --------------------------------------------------------------------------------------------------------

enum { SHARD_READER_MEMORY = 1 << 20, SHARD_BUFFER_ROWS = 4096 };

struct ShardReader {
    Arena arena; // path, datasets, groups and columns
    const char *path;
    ShardLayout layout;
    hid_t file, access; // access: property list for opening datasets
    hid_t *datasets;    // [groups.count]
    ShardGroups groups;
    int64_t bytes; // of the file
    int64_t n_lanes, n_samples;
    ShardRow *rows;      // [n_lanes], malloc
    double *buffer;      // [block_rows][widest group], malloc
    int64_t buffer_rows; // at least the length of the longest lane
    bool float64, no_memory;
};

static Error shard_damaged(const char *path, const char *why)
{
    return error_make(ERROR_MACHINE, "shard %s is damaged: %.200s", path_text(path).text, why);
}

// An error of the machine, not of the file.
static Error shard_no_memory(const char *path)
{
    return error_make(ERROR_MACHINE, "not enough memory to read shard %s", path_text(path).text);
}

static Error shard_verify(const char *path, const char *sha256, const Bytes *image)
{
    const Sha256Text found = sha256_of(image->data, image->size);
    if (strcmp(found.hex, sha256) == 0) return error_none();
    char why[160];
    snprintf(why, sizeof why, "its SHA-256 begins with %.12s, expected %.12s", found.hex, sha256);
    return shard_damaged(path, why);
}

static hid_t shard_open_image(Error *error, const Bytes *image)
{
    const hid_t access = shard_id(error, H5Pcreate(H5P_FILE_ACCESS), "the file");
    shard_ok(error, H5Pset_fapl_core(access, SHARD_GROWTH, 0), "the file");
    shard_ok(error, H5Pset_file_image(access, image->data, image->size), "the file");
    char name[64]; // HDF5 takes two open files of one name for the same file, so each gets a new name
    snprintf(name, sizeof name, "shard %lld", (long long)access);
    const hid_t file = shard_id(error, H5Fopen(name, H5F_ACC_RDONLY, access), "the file");
    shard_ok(error, H5Pclose(access), "the file");
    return file;
}

// ---- what is not trusted --------------------------------------------------------------------------------------------

static herr_t shard_refuse_link(const char *file, const char *group, const char *other, const char *name,
                                unsigned *flags, hid_t access, void *data)
{
    (void)file, (void)group, (void)other, (void)name, (void)flags, (void)access, (void)data;
    return -1;
}

// Property list for opening groups or datasets: external links are not followed.
static hid_t shard_link_access(Error *error, hid_t kind)
{
    const hid_t access = shard_id(error, H5Pcreate(kind), "links");
    shard_ok(error, H5Pset_elink_cb(access, shard_refuse_link, NULL), "links");
    return access;
}

static bool shard_has_type(hid_t type, const hid_t *known, int count)
{
    for (int i = 0; i < count; i++) {
        if (H5Tequal(type, known[i]) > 0) return true;
    }
    return false;
}

// True if all filters are those that a shard is written with. *deflated: one of them compresses.
static bool shard_has_filters(hid_t create, bool *deflated)
{
    const int filters = H5Pget_nfilters(create);
    bool ok = filters >= 0;
    for (int i = 0; i < filters && ok; i++) {
        unsigned flags;
        size_t values = 0;
        const H5Z_filter_t filter = H5Pget_filter2(create, (unsigned)i, &flags, &values, NULL, 0, NULL, NULL);
        ok = filter == H5Z_FILTER_SHUFFLE || filter == H5Z_FILTER_DEFLATE;
        *deflated |= filter == H5Z_FILTER_DEFLATE;
    }
    return ok;
}

// True if the chunks are whole rows, as many as shard_chunk_rows gives: half of SHARD_CHUNK_BYTES, or all rows in one.
static bool shard_has_chunks(hid_t create, const hsize_t *shape, hsize_t row_bytes)
{
    hsize_t chunk[2] = {0, 1};
    if (H5Pget_layout(create) != H5D_CHUNKED) return shape[0] == 0 && H5Pget_layout(create) == H5D_CONTIGUOUS;
    const int rank = H5Pget_chunk(create, 2, chunk);
    const hsize_t most = row_bytes < SHARD_CHUNK_BYTES ? SHARD_CHUNK_BYTES / row_bytes : 1;
    return (rank == 1 || rank == 2) && chunk[1] == shape[1] && chunk[0] <= most &&
           (chunk[0] >= shape[0] || 2 * chunk[0] >= most);
}

// True if the data is in the file itself and not larger than the file can hold. So the memory for reading is known
// before it is taken.
static bool shard_has_storage(hid_t data, const hsize_t *shape, size_t number_size, int64_t file_bytes)
{
    const hsize_t deflate_most = 1032; // zlib's largest compression ratio
    const hid_t create = H5Dget_create_plist(data);
    const hsize_t row_bytes = shape[1] * number_size;
    bool deflated = false;
    bool ok = H5Pget_external_count(create) == 0 && shard_has_filters(create, &deflated);
    ok = ok && shape[1] > 0 && shape[1] <= SHARD_CHUNK_BYTES && shard_has_chunks(create, shape, row_bytes) &&
         shape[0] <= (hsize_t)file_bytes * (deflated ? deflate_most : 1) / row_bytes;
    return H5Pclose(create) >= 0 && ok;
}

// shape[2] of a dataset: {rows, columns}
static void shard_get_shape(Error *error, hid_t data, const char *name, hsize_t *shape)
{
    const hid_t space = shard_id(error, H5Dget_space(data), name);
    const int rank = error->kind == OK ? H5Sget_simple_extent_ndims(space) : 0;
    shape[0] = 0;
    shape[1] = 1;
    shard_check(error, rank == 1 || rank == 2, name);
    if (error->kind == OK) H5Sget_simple_extent_dims(space, shape, NULL);
    shard_ok(error, H5Sclose(space), name);
}

// Opens a dataset of one of the types, [count]
static hid_t shard_open_dataset(Error *error, const ShardReader *reader, hid_t group, const char *name,
                                const hid_t *known, int count, hsize_t *shape)
{
    const hid_t data = shard_id(error, H5Dopen2(group, name, reader->access), name);
    const hid_t type = shard_id(error, H5Dget_type(data), name);
    shard_get_shape(error, data, name, shape);
    if (error->kind == OK &&
        !(shard_has_type(type, known, count) && shard_has_storage(data, shape, H5Tget_size(type), reader->bytes)))
        *error = error_make(ERROR_MACHINE, "%s is not stored as a shard stores it", name);
    shard_ok(error, H5Tclose(type), name);
    return data;
}

// ---- contents -------------------------------------------------------------------------------------------------------

static void shard_lacks_memory(Error *error, ShardReader *reader)
{
    reader->no_memory = true;
    *error = shard_no_memory(reader->path);
}

static void shard_get_lanes(Error *error, ShardReader *reader, hid_t group)
{
    hsize_t shape[2];
    const hid_t type = shard_row_type(error), stored = shard_row_file_type(error);
    const hid_t data = shard_open_dataset(error, reader, group, "lanes", &stored, 1, shape);
    reader->n_lanes = (int64_t)shape[0];
    if (error->kind == OK) reader->rows = calloc((size_t)shape[0] + 1, sizeof(ShardRow));
    if (error->kind == OK && reader->rows == NULL) shard_lacks_memory(error, reader);
    if (error->kind == OK && shape[0] > 0)
        shard_ok(error, H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, reader->rows), "the lane table");
    shard_ok(error, H5Tclose(type), "the lane table");
    shard_ok(error, H5Tclose(stored), "the lane table");
    shard_ok(error, H5Dclose(data), "the lane table");
}

static void shard_get_dataset(Error *error, ShardReader *reader, hid_t group, int g)
{
    const hid_t numbers[] = {H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_STD_I8LE, H5T_STD_I32LE};
    const ShardGroup *item = &reader->groups.items[g];
    hsize_t shape[2];
    reader->datasets[g] = shard_open_dataset(error, reader, group, item->name, numbers, 4, shape);
    if (g == 0) reader->n_samples = (int64_t)shape[0];
    if (error->kind == OK && ((int64_t)shape[0] != reader->n_samples || shape[1] != (hsize_t)item->count))
        *error = error_make(ERROR_MACHINE, "the shape of %s does not match its columns", item->name);
}

static void shard_get_datasets(Error *error, ShardReader *reader, hid_t group)
{
    const ShardLayout *layout = &reader->layout;
    const char **names = ARENA_NEW(&reader->arena, const char *, layout->n_columns);
    for (int c = 0; c < layout->n_columns; c++) names[c] = layout->columns[c].group;
    const ShardGroups groups = shard_groups(names, layout->n_columns, &reader->arena);
    reader->datasets = ARENA_NEW(&reader->arena, hid_t, groups.count);
    reader->groups = groups;
    for (int g = 0; g < groups.count; g++) reader->datasets[g] = H5I_INVALID_HID;
    for (int g = 0; g < groups.count && error->kind == OK; g++) shard_get_dataset(error, reader, group, g);
    if (groups.count == 0 || error->kind != OK) return;
    const hid_t type = shard_id(error, H5Dget_type(reader->datasets[0]), "the precision");
    reader->float64 = H5Tget_size(type) == 8;
    shard_ok(error, H5Tclose(type), "the precision");
}

static void shard_prepare_lanes(Error *error, ShardReader *reader)
{
    int64_t longest = SHARD_BUFFER_ROWS;
    int widest = 1;
    for (int64_t i = 0; i < reader->n_lanes && error->kind == OK; i++) {
        const ShardRow *row = &reader->rows[i];
        const bool from = row->offset >= 0 && row->length >= 0;
        if (!from || (reader->groups.count > 0 && row->length > reader->n_samples - row->offset))
            *error = error_make(ERROR_MACHINE, "row %lld of the table lanes points beyond the samples", (long long)i);
        if (row->length > longest) longest = row->length;
    }
    for (int g = 0; g < reader->groups.count; g++) {
        if (reader->groups.items[g].count > widest) widest = reader->groups.items[g].count;
    }
    if (error->kind == OK && reader->groups.count > 0)
        reader->buffer = calloc((size_t)longest, (size_t)widest * sizeof(double));
    reader->buffer_rows = longest;
    if (error->kind == OK && reader->groups.count > 0 && reader->buffer == NULL) shard_lacks_memory(error, reader);
}

static Error shard_open_contents(ShardReader *reader, const Bytes *image)
{
    Error error = error_none();
    const char *name = reader->layout.group;
    const hid_t access = shard_link_access(&error, H5P_GROUP_ACCESS);
    reader->access = shard_link_access(&error, H5P_DATASET_ACCESS);
    reader->file = shard_open_image(&error, image);
    const hid_t group = shard_id(&error, H5Gopen2(reader->file, name, access), name);
    if (error.kind == OK) shard_get_datasets(&error, reader, group);
    if (error.kind == OK) shard_get_lanes(&error, reader, group);
    if (error.kind == OK) shard_prepare_lanes(&error, reader);
    shard_ok(&error, H5Gclose(group), name);
    shard_ok(&error, H5Pclose(access), name);
    return error.kind == OK || reader->no_memory ? error : shard_damaged(reader->path, error.text);
}

// buffer[length][columns of the group] <- the lane's rows, widened by HDF5
static void shard_read_group(Error *error, const ShardReader *reader, int g, const ShardRow *row)
{
    const ShardGroup *group = &reader->groups.items[g];
    const hsize_t start[2] = {(hsize_t)row->offset, 0}, count[2] = {(hsize_t)row->length, (hsize_t)group->count};
    const hid_t space = shard_id(error, H5Dget_space(reader->datasets[g]), group->name);
    const hid_t memory = shard_id(error, H5Screate_simple(group->count > 1 ? 2 : 1, count, NULL), group->name);
    shard_ok(error, H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL), group->name);
    shard_ok(error, H5Dread(reader->datasets[g], H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, reader->buffer),
             group->name);
    shard_ok(error, H5Sclose(memory), group->name);
    shard_ok(error, H5Sclose(space), group->name);
}

// ---- a rehearsal ----------------------------------------------------------------------------------------------------

enum { SHARD_REHEARSED = 0, SHARD_REFUSED = 2 }; // exit codes of the process, if it does not crash

// Reads all that a reader could ask for, and closes it
static Error shard_read_all(ShardReader *reader, const Bytes *image)
{
    Error error = shard_open_contents(reader, image);
    for (int64_t first = 0; first < reader->n_samples && error.kind == OK; first += reader->buffer_rows) {
        const int64_t left = reader->n_samples - first;
        const ShardRow rows = {.offset = first, .length = left < reader->buffer_rows ? left : reader->buffer_rows};
        for (int g = 0; g < reader->groups.count; g++) shard_read_group(&error, reader, g, &rows);
    }
    shard_close(reader);
    return error;
}

// In the child: no core file, and a time limit, at the latest the parent's end. The child inherits the descriptors of
// the parent's locks and would keep them locked.
static _Noreturn void shard_rehearse_child(ShardReader *reader, const Bytes *image, pid_t parent)
{
    const struct rlimit none = {0};
    const int64_t least = 20, bytes_a_second = 10 << 20; // ten times as long as a shard takes
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(SHARD_REFUSED);
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGALRM, SIG_DFL);
    alarm((unsigned)(least + reader->bytes / bytes_a_second));
    if (system_fault("rehearse") > 0) abort();
    _exit(shard_read_all(reader, image).kind == OK ? SHARD_REHEARSED : SHARD_REFUSED);
}

// Error: HDF5 crashes on the file or does not end. If HDF5 only refuses it, opening it in this process reports why.
static Error shard_rehearse(ShardReader *reader, const Bytes *image)
{
    int status = 0;
    const pid_t parent = getpid(), child = fork();
    if (child == 0) shard_rehearse_child(reader, image, parent);
    pid_t ended = child;
    do
        if (child > 0) ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    if (ended < 0)
        return error_make(ERROR_MACHINE, "shard %s could not be read in a separate process: %s",
                          path_text(reader->path).text, strerror(errno));
    if (WIFEXITED(status) && (WEXITSTATUS(status) == SHARD_REHEARSED || WEXITSTATUS(status) == SHARD_REFUSED))
        return error_none();
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return error_make(ERROR_MACHINE, "the process that reads shard %s was killed: is there too little memory?",
                          path_text(reader->path).text);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return shard_damaged(reader->path, "HDF5 does not finish reading it");
    return shard_damaged(reader->path, "HDF5 crashes on it");
}

// Loads the whole file and checks it; then HDF5 copies it.
static Error shard_load(ShardReader *reader, const char *sha256, int64_t bytes)
{
    Arena arena;
    Bytes image;
    reader->bytes = bytes;
    TRY(arena_create(&arena, (size_t)bytes + (1 << 16), "reading a shard"));
    Error error = file_read_stored(reader->path, (size_t)bytes, &arena, &image);
    if (error.kind == OK && sha256 != NULL) error = shard_verify(reader->path, sha256, &image);
    if (error.kind == OK) error = shard_rehearse(reader, &image);
    if (error.kind == OK) error = shard_open_contents(reader, &image);
    arena_destroy(&arena);
    return error;
}

static Error shard_new_reader(const char *path, const ShardLayout *layout, ShardReader **out)
{
    ShardReader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) return shard_no_memory(path);
    const Error error = arena_create(&reader->arena, SHARD_READER_MEMORY, "reading a shard");
    if (error.kind != OK) {
        free(reader);
        return error;
    }
    reader->path = arena_copy(&reader->arena, path);
    reader->layout = *layout;
    reader->file = reader->access = H5I_INVALID_HID;
    *out = reader;
    return error_none();
}

// A shard is read whole. Shards of this program have 64 MiB, or the data of one flush.
static double shard_bytes_most(void) { return 0.25 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE); }

Error shard_open(const char *path, const ShardLayout *layout, const char *sha256, ShardReader **out)
{
    int64_t bytes = 0;
    ShardReader *reader = NULL;
    *out = NULL;
    if (!file_exists(path)) return error_make(ERROR_MACHINE, "shard %s is missing", path_text(path).text);
    TRY(file_size(path, &bytes));
    if ((double)bytes > shard_bytes_most())
        return shard_damaged(path, "it is larger than a quarter of the machine's memory");
    TRY(shard_ready((size_t)bytes));
    TRY(shard_new_reader(path, layout, &reader));
    const Error error = shard_load(reader, sha256, bytes);
    if (error.kind != OK)
        shard_close(reader);
    else
        *out = reader;
    return error;
}

void shard_close(ShardReader *reader)
{
    if (reader == NULL) return;
    for (int g = 0; g < reader->groups.count && reader->datasets != NULL; g++) H5Dclose(reader->datasets[g]);
    H5Pclose(reader->access);
    H5Fclose(reader->file); // it was only read: a failed close loses nothing
    free(reader->rows);
    free(reader->buffer);
    arena_destroy(&reader->arena);
    free(reader);
}

// ---- reading --------------------------------------------------------------------------------------------------------

int64_t shard_lane_count(const ShardReader *reader) { return reader->n_lanes; }

ShardLane shard_lane(const ShardReader *reader, int64_t index)
{
    const ShardRow *row = &reader->rows[index];
    return (ShardLane){.trial = row->trial, .replicate = row->replicate, .length = row->length};
}

bool shard_is_float64(const ShardReader *reader) { return reader->float64; }

Error shard_samples(ShardReader *reader, int64_t index, double *samples)
{
    const ShardRow *row = &reader->rows[index];
    if (row->length == 0) return error_none();
    for (int g = 0; g < reader->groups.count; g++) {
        const ShardGroup *group = &reader->groups.items[g];
        Error error = error_none();
        shard_read_group(&error, reader, g, row);
        if (error.kind != OK) return shard_damaged(reader->path, error.text);
        for (int64_t i = 0; i < row->length; i++) {
            for (int k = 0; k < group->count; k++)
                samples[i * reader->layout.n_columns + group->columns[k]] = reader->buffer[i * group->count + k];
        }
    }
    return error_none();
}
