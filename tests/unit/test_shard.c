#include "../../io/system.h"
#include "../../io/shard_hdf5.h"
#include "../test.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SHARD_TEST_COLUMNS = 6 };

static const Field shard_test_columns[SHARD_TEST_COLUMNS] = {
    {"time", "s", "time since the start", "time"},
    {"x", "m", "position of the body", "state"},
    {"x_dot", "m/s", "speed of the body", "state"},
    {"thrust", "N", "thrust of the leg", "control"},
    {"fsm", "1", "phase of the hop", "fsm"},
    {"phi", "rad", "angle of the leg, \xcf\x86", "state"}, // not next to the other columns of its group
};

static const ShardAttribute shard_test_attributes[] = {
    {"campaign", "raibert_gains"},
    {"seed", "7"},
    {"note", ""},
};

static const ShardLane shard_test_lanes[] = {{41, 0, 3}, {7, 2, 0}, {1000000000000, 1, 4}};

typedef struct ShardTest {
    Arena arena;
    Shard shard;
    double *samples;
} ShardTest;

static double shard_test_value(int64_t sample, int column)
{
    if (column == 0) return (double)sample * 1e-3;
    if (column == 4) return (double)(sample % 5) - 1;
    return sin((double)(sample * SHARD_TEST_COLUMNS + column)) * 1e3;
}

static ShardTest shard_test_start(const ShardLane *lanes, int64_t n_lanes, bool float64, bool gzip)
{
    ShardTest test;
    int64_t samples = 0;
    for (int64_t i = 0; i < n_lanes; i++) samples += lanes[i].length;
    CHECK_OK(arena_create(&test.arena, (size_t)(samples + 1) * 8 * SHARD_TEST_COLUMNS * 3 + (1 << 22), "a test"));
    test.samples = ARENA_NEW(&test.arena, double, samples *SHARD_TEST_COLUMNS);
    for (int64_t i = 0; i < samples; i++) {
        for (int c = 0; c < SHARD_TEST_COLUMNS; c++) test.samples[i * SHARD_TEST_COLUMNS + c] = shard_test_value(i, c);
    }
    test.shard = (Shard){.group = SHARD_TRAJECTORIES,
                         .attributes = shard_test_attributes,
                         .n_attributes = 3,
                         .columns = shard_test_columns,
                         .n_columns = SHARD_TEST_COLUMNS,
                         .lanes = lanes,
                         .n_lanes = n_lanes,
                         .samples = test.samples,
                         .float64 = float64,
                         .gzip = gzip};
    return test;
}

// Builds the shard and writes it. Returns its path.
static const char *shard_test_write(ShardTest *test, Sha256Text *digest)
{
    Bytes image;
    const char *folder = arena_copy(&test->arena, test_folder());
    CHECK_OK(shard_build(&test->shard, &image));
    *digest = sha256_of(image.data, image.size);
    CHECK_OK(file_write(folder, "000001.h5", image.data, image.size));
    free(image.data);
    return arena_format(&test->arena, "%s/000001.h5", folder);
}

static Error shard_test_open(const char *path, const char *group, const char *sha256, ShardReader **reader)
{
    const ShardLayout layout = {group, shard_test_columns, SHARD_TEST_COLUMNS};
    return shard_open(path, &layout, sha256, reader);
}

// Number of samples that differ between the test and the shard, at the precision of the file
static int64_t shard_test_differences(const ShardTest *test, ShardReader *reader)
{
    const Shard *shard = &test->shard;
    int64_t different = 0, first = 0;
    for (int64_t i = 0; i < shard->n_lanes; i++) {
        const int64_t count = shard->lanes[i].length * SHARD_TEST_COLUMNS;
        double *got = malloc((size_t)(count + 1) * sizeof *got);
        CHECK_OK(shard_samples(reader, i, got));
        for (int64_t k = 0; k < count; k++) {
            const double value = shard->samples[first + k], stored = shard->float64 ? value : (double)(float)value;
            different += memcmp(&stored, &got[k], sizeof stored) != 0;
        }
        first += count;
        free(got);
    }
    return different;
}

static void shard_test_round_trip(bool float64, bool gzip)
{
    ShardTest test = shard_test_start(shard_test_lanes, 3, float64, gzip);
    Sha256Text digest;
    ShardReader *reader;
    const char *path = shard_test_write(&test, &digest);
    CHECK_OK(shard_test_open(path, SHARD_TRAJECTORIES, digest.hex, &reader));
    CHECK_INTEGER(3, shard_lane_count(reader));
    for (int64_t i = 0; i < 3; i++) {
        const ShardLane lane = shard_lane(reader, i);
        CHECK_INTEGER(shard_test_lanes[i].trial, lane.trial);
        CHECK_INTEGER(shard_test_lanes[i].replicate, lane.replicate);
        CHECK_INTEGER(shard_test_lanes[i].length, lane.length);
    }
    CHECK(shard_is_float64(reader) == float64);
    CHECK_INTEGER(0, shard_test_differences(&test, reader));
    shard_close(reader);
    arena_destroy(&test.arena);
}

TEST(shard_round_trip)
{
    for (int i = 0; i < 4; i++) shard_test_round_trip(i & 1, i & 2);
}

TEST(shard_in_a_group_of_a_group)
{
    ShardTest test = shard_test_start(shard_test_lanes, 3, true, false);
    Sha256Text digest;
    ShardReader *reader;
    test.shard.group = SHARD_DEBUG;
    const char *path = shard_test_write(&test, &digest);
    CHECK_OK(shard_test_open(path, SHARD_DEBUG, digest.hex, &reader));
    CHECK_INTEGER(3, shard_lane_count(reader));
    CHECK_INTEGER(0, shard_test_differences(&test, reader));
    shard_close(reader);
    CHECK_ERROR(ERROR_MACHINE, shard_test_open(path, SHARD_TRAJECTORIES, digest.hex, &reader));
    const Sha256Text first = digest;
    shard_test_write(&test, &digest);
    CHECK_TEXT(first.hex, digest.hex); // equal bytes for equal contents
    arena_destroy(&test.arena);
}

// Several chunks per dataset, lanes across their edges, smaller when compressed
TEST(shard_of_many_chunks)
{
    ShardLane lanes[100];
    size_t sizes[2], values = 0;
    for (int i = 0; i < 100; i++) {
        lanes[i] = (ShardLane){.trial = i, .length = 2000 + 37 * (i % 7)};
        values += (size_t)lanes[i].length * (5 * sizeof(double) + 1);
    }
    for (int gzip = 0; gzip < 2; gzip++) {
        ShardTest test = shard_test_start(lanes, 100, true, gzip);
        Sha256Text digest;
        ShardReader *reader;
        int64_t bytes;
        const char *path = shard_test_write(&test, &digest);
        CHECK_OK(file_size(path, &bytes));
        sizes[gzip] = (size_t)bytes;
        CHECK_OK(shard_test_open(path, SHARD_TRAJECTORIES, digest.hex, &reader));
        CHECK_INTEGER(0, shard_test_differences(&test, reader));
        shard_close(reader);
        arena_destroy(&test.arena);
    }
    CHECK(sizes[1] < sizes[0]);
    CHECK(sizes[0] > values && sizes[0] < values + values / 50); // the last chunks waste little
}

TEST(shard_without_lanes_or_of_empty_lanes)
{
    const ShardLane empty[1] = {{5, 0, 0}};
    for (int64_t n = 0; n < 2; n++) {
        ShardTest test = shard_test_start(empty, n, false, true);
        Sha256Text digest;
        ShardReader *reader;
        const char *path = shard_test_write(&test, &digest);
        CHECK_OK(shard_test_open(path, SHARD_TRAJECTORIES, digest.hex, &reader));
        CHECK_INTEGER(n, shard_lane_count(reader));
        double none;
        if (n == 1) CHECK_OK(shard_samples(reader, 0, &none));
        shard_close(reader);
        arena_destroy(&test.arena);
    }
}

TEST(shard_keeps_nan_and_infinities)
{
    const ShardLane lane[1] = {{1, 0, 2}};
    ShardTest test = shard_test_start(lane, 1, false, false);
    Sha256Text digest;
    ShardReader *reader;
    test.samples[1] = (double)NAN;
    test.samples[2] = -(double)INFINITY;
    test.samples[3] = 1e300; // beyond float32
    const char *path = shard_test_write(&test, &digest);
    CHECK_OK(shard_test_open(path, SHARD_TRAJECTORIES, NULL, &reader));
    double got[2 * SHARD_TEST_COLUMNS];
    CHECK_OK(shard_samples(reader, 0, got));
    CHECK(isnan(got[1]) && isinf(got[2]) && got[2] < 0 && isinf(got[3]) && got[3] > 0);
    shard_close(reader);
    arena_destroy(&test.arena);
}

// Equal contents give equal bytes, independent of old data in memory and of the time.
TEST(shard_of_equal_contents_has_equal_bytes)
{
    ShardTest test = shard_test_start(shard_test_lanes, 3, false, true);
    Bytes first, second;
    CHECK_OK(shard_build(&test.shard, &first));
    for (int i = 0; i < 64; i++) { // fills the memory that malloc will return next
        void *dirt = malloc((size_t)1 << (i % 23));
        if (dirt != NULL) memset(dirt, 0xa5, (size_t)1 << (i % 23));
        free(dirt);
    }
    const double start = clock_seconds();
    while (clock_seconds() < start + 1.1) continue; // waits until the clock shows another second
    CHECK_OK(shard_build(&test.shard, &second));
    CHECK_INTEGER((int64_t)first.size, (int64_t)second.size);
    CHECK(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
    test.samples[0] = 5;
    Bytes third;
    CHECK_OK(shard_build(&test.shard, &third));
    CHECK(first.size == third.size && memcmp(first.data, third.data, first.size) != 0);
    free(first.data);
    free(second.data);
    free(third.data);
    arena_destroy(&test.arena);
}

TEST(shard_refuses_what_does_not_fit_fsm)
{
    ShardTest test = shard_test_start(shard_test_lanes, 3, false, false);
    const double bad[] = {128, -129, 0.5, (double)NAN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Bytes image;
        test.samples[SHARD_TEST_COLUMNS + 4] = bad[i];
        const Error error = shard_build(&test.shard, &image);
        CHECK_ERROR(ERROR_MACHINE, error);
        CHECK(strstr(error.text, "column fsm of sample 1") != NULL);
        CHECK(image.data == NULL && image.size == 0);
    }
    arena_destroy(&test.arena);
}

// A digest finds any flipped byte. Without a digest, a file that is cut off, empty or not HDF5 gives an error and no
// crash.
TEST(shard_damaged_or_missing)
{
    ShardTest test = shard_test_start(shard_test_lanes, 3, false, false);
    Sha256Text digest;
    ShardReader *reader;
    Bytes image;
    const char *path = shard_test_write(&test, &digest);
    const char *folder = arena_copy(&test.arena, path);
    *strrchr(folder, '/') = '\0';
    CHECK_OK(file_read(path, 1 << 20, &test.arena, &image));
    image.data[image.size / 2] ^= 1;
    CHECK_OK(file_write(folder, "000001.h5", image.data, image.size));
    const Error damaged = shard_test_open(path, SHARD_TRAJECTORIES, digest.hex, &reader);
    CHECK_ERROR(ERROR_MACHINE, damaged);
    CHECK(strstr(damaged.text, "damaged") != NULL && strstr(damaged.text, path) != NULL && reader == NULL);
    for (size_t size = 0; size < image.size; size += image.size / 7) {
        CHECK_OK(file_write(folder, "000001.h5", image.data, size));
        const Error cut = shard_test_open(path, SHARD_TRAJECTORIES, NULL, &reader);
        CHECK_ERROR(ERROR_MACHINE, cut);
        CHECK(strstr(cut.text, "damaged: HDF5 failed on the file: ") != NULL);
    }
    CHECK_OK(file_remove(path));
    const Error missing = shard_test_open(path, SHARD_TRAJECTORIES, digest.hex, &reader);
    CHECK_ERROR(ERROR_MACHINE, missing);
    CHECK(strstr(missing.text, "is missing") != NULL && strstr(missing.text, path) != NULL);
    arena_destroy(&test.arena);
}

// Other programs can read the file: h5dump, and h5py, with a scale for every dimension.
static const char shard_test_python[] =
    "import sys, h5py\n"
    "f = h5py.File(sys.argv[1], 'r'); t = f['trajectories']; s = t['state']\n"
    "assert f.attrs['campaign'] == 'raibert_gains' and f.attrs['note'] == ''\n"
    "sizes = {'sample': 7, 'lane': 3, 'state_column': 3}\n"
    "arrays = ['control', 'fsm', 'lane_length', 'lane_replicate', 'lane_trial', 'lanes', 'state', 'time']\n"
    "assert sorted(t) == sorted([*arrays, *sizes])\n"
    "assert all(h5py.h5ds.is_scale(t[d].id) and t[d].shape == (n,) for d, n in sizes.items())\n"
    "scales = {n: [d[0].name.split('/')[-1] for d in t[n].dims] for n in arrays}\n"
    "assert scales == {n: ['lane' if 'lane' in n else 'sample'] + ['state_column'] * (n == 'state') for n in arrays}\n"
    "uses = {(t[u].name.split('/')[-1], d) for n in sizes for u, d in t[n].attrs['REFERENCE_LIST']}\n"
    "assert uses == {(n, d) for n in arrays for d in range(t[n].ndim)}\n"
    "assert list(t['state_column'].asstr()) == list(s.attrs['column_names']) and s.attrs['coordinates'] == 'time'\n"
    "assert s.attrs['_FillValue'][0] != s.attrs['_FillValue'][0] and s.attrs['_FillValue'].dtype == 'f4'\n"
    "assert not any('_FillValue' in t[n].attrs for n in ('time', 'fsm', 'lanes', 'lane_length'))\n"
    "assert t['lane_length'].attrs['sample_dimension'] == 'sample' and list(t['lane_length']) == [3, 0, 4]\n"
    "assert list(t['lane_trial']) == [41, 7, 10**12] and list(t['lane_replicate']) == [0, 2, 1]\n"
    "assert s.shape == (7, 3) and s.dtype == 'f4' and t['control'].shape == (7,) and t['fsm'].dtype == 'i1'\n"
    "assert list(s.attrs['column_names']) == ['x', 'x_dot', 'phi'] and list(s.attrs['units']) == ['m', 'm/s', 'rad']\n"
    "assert s.attrs['long_name'][2] == 'angle of the leg, \xcf\x86' and list(t['time'].attrs['units']) == ['s']\n"
    "assert abs(t['time'][4] - 0.004) < 1e-9 and list(t['fsm']) == [-1, 0, 1, 2, 3, -1, 0]\n"
    "assert t['lanes'].dtype.names == ('trial', 'replicate', 'offset', 'length')\n"
    "assert [list(r) for r in t['lanes'][()]] == [[41, 0, 0, 3], [7, 2, 3, 0], [10**12, 1, 3, 4]]\n";

TEST(shard_is_read_by_other_programs)
{
    if (system("python3 -c 'import h5py' 2>/dev/null && command -v h5dump >/dev/null") != 0) {
        test_skip("python3 with h5py, and h5dump", "apt-get install python3-h5py hdf5-tools");
        return;
    }
    ShardTest test = shard_test_start(shard_test_lanes, 3, false, true);
    Sha256Text digest;
    const char *path = shard_test_write(&test, &digest);
    const char *folder = arena_copy(&test.arena, path);
    *strrchr(folder, '/') = '\0';
    CHECK_OK(file_write(folder, "read.py", shard_test_python, sizeof shard_test_python - 1));
    CHECK_INTEGER(0, system(arena_format(&test.arena, "python3 %s/read.py %s", folder, path)));
    CHECK_INTEGER(
        0, system(arena_format(&test.arena, "h5dump %s | grep -q 'DATASET [0-9]* \"/trajectories/sample\"'", path)));
    arena_destroy(&test.arena);
}

// HDF5 takes two open files in memory with the same name for one file, so each gets its own name.
TEST(shard_loads_no_plugins)
{
    unsigned wanted = 1;
    CHECK_OK(shard_ready(0));
    CHECK(H5PLget_loading_state(&wanted) >= 0);
    CHECK(wanted == 0);
}

TEST(shards_open_at_once_are_apart)
{
    const ShardLane other_lane[1] = {{99, 3, 2}};
    ShardTest first = shard_test_start(shard_test_lanes, 3, false, false);
    ShardTest second = shard_test_start(other_lane, 1, true, false);
    Sha256Text digest;
    ShardReader *a, *b;
    CHECK_OK(shard_test_open(shard_test_write(&first, &digest), SHARD_TRAJECTORIES, NULL, &a));
    CHECK_OK(shard_test_open(shard_test_write(&second, &digest), SHARD_TRAJECTORIES, NULL,
                             &b)); // the second shard is built while the first is open
    CHECK_INTEGER(3, shard_lane_count(a));
    CHECK_INTEGER(1, shard_lane_count(b));
    CHECK_INTEGER(0, shard_test_differences(&first, a));
    CHECK_INTEGER(0, shard_test_differences(&second, b));
    shard_close(a);
    CHECK_INTEGER(0, shard_test_differences(&second, b));
    shard_close(b);
    arena_destroy(&first.arena);
    arena_destroy(&second.arena);
}

// ---- malicious shards -----------------------------------------------------------------------------------------------

// Writes the image as the test's shard, and opens it without a digest, as if the database had the digest of the image.
static Error shard_test_open_image(ShardTest *test, const Bytes *image, ShardReader **reader)
{
    const char *folder = arena_copy(&test->arena, test_folder());
    CHECK_OK(file_write(folder, "000001.h5", image->data, image->size));
    return shard_test_open(arena_format(&test->arena, "%s/000001.h5", folder), SHARD_TRAJECTORIES, NULL, reader);
}

// HDF5 1.10 trusts the sizes and addresses in a heap. Texts and lists lie in heaps, and the program does not read them.
TEST(shard_with_heaps_of_garbage)
{
    ShardTest test = shard_test_start(shard_test_lanes, 3, false, false);
    Bytes image;
    ShardReader *reader;
    int heaps = 0;
    CHECK_OK(shard_build(&test.shard, &image));
    for (size_t i = 0; i + 4096 <= image.size; i++) {
        if (memcmp(image.data + i, "GCOL", 4) != 0) continue;
        memset(image.data + i + 8, 0xa5, 4096 - 8);
        heaps++;
    }
    CHECK(heaps > 0);
    CHECK_OK(shard_test_open_image(&test, &image, &reader));
    if (reader != NULL) CHECK_INTEGER(0, shard_test_differences(&test, reader));
    shard_close(reader);
    free(image.data);
    arena_destroy(&test.arena);
}

#ifdef HOPSCOTCH_FAULTS
// The library crashes in the separate process that reads the shard first.
TEST(shard_that_crashes_the_library_is_damaged)
{
    ShardTest test = shard_test_start(shard_test_lanes, 3, false, false);
    Bytes image;
    ShardReader *reader;
    CHECK_OK(shard_build(&test.shard, &image));
    system_set_faults("rehearse:1:EIO");
    const Error error = shard_test_open_image(&test, &image, &reader);
    system_set_faults("");
    CHECK_ERROR(ERROR_MACHINE, error);
    CHECK(strstr(error.text, "is damaged: HDF5 crashes on it") != NULL && reader == NULL);
    CHECK_OK(shard_test_open_image(&test, &image, &reader)); // without the fault the shard is whole
    shard_close(reader);
    free(image.data);
    arena_destroy(&test.arena);
}

// A process takes a lock and reads a shard. Its child, which reads the shard first, is stopped in the middle; then the
// process is killed. The child must not hold the lock.
TEST(shard_reader_that_is_killed_leaves_no_lock)
{
    ShardTest test = shard_test_start(shard_test_lanes, 3, false, false);
    Bytes image;
    ShardReader *reader;
    Lock lock = {.descriptor = -1};
    char path[160];
    Error error = error_none();
    int ready[2], status;
    snprintf(path, sizeof path, "%s/lock", test_folder());
    CHECK_OK(shard_build(&test.shard, &image));
    CHECK(pipe(ready) == 0);
    const pid_t killed = fork();
    if (killed == 0) {
        system_set_faults("rehearse:1:STOP");
        if (lock_take(path, &lock).kind == OK && write(ready[1], "1", 1) == 1)
            (void)shard_test_open_image(&test, &image, &reader);
        _exit(1);
    }
    CHECK(read(ready[0], path + sizeof path - 1, 1) == 1);
    path[sizeof path - 1] = '\0';
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL); // time for the child to reach the stop
    CHECK(kill(killed, SIGKILL) == 0 && waitpid(killed, &status, 0) == killed && WIFSIGNALED(status));
    for (int tries = 0; tries < 100 && lock.descriptor < 0; tries++) {
        error = lock_take(path, &lock);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    CHECK_OK(error);
    lock_release(&lock);
    (void)close(ready[0]);
    (void)close(ready[1]);
    free(image.data);
    arena_destroy(&test.arena);
}
#endif

// Chunks of zero dimensions: HDF5 1.10 divides by zero when it opens the dataset, HDF5 1.14 refuses it.
TEST(shard_with_chunks_of_no_dimension_is_damaged)
{
    // version 3, chunked, rank 1 and the size of an element; an address; 7 rows, 4 bytes: `time` and `control`
    static const unsigned char head[] = {3, 2, 2}, tail[] = {7, 0, 0, 0, 4, 0, 0, 0};
    ShardTest test = shard_test_start(shard_test_lanes, 3, false, false);
    Bytes image;
    ShardReader *reader;
    int found = 0;
    CHECK_OK(shard_build(&test.shard, &image));
    for (size_t i = 0; i + 19 <= image.size; i++) {
        if (memcmp(image.data + i, head, 3) != 0 || memcmp(image.data + i + 11, tail, 8) != 0) continue;
        image.data[i + 2] = 0;
        found++;
    }
    CHECK(found > 0);
    const Error error = shard_test_open_image(&test, &image, &reader);
    CHECK_ERROR(ERROR_MACHINE, error);
    if (strstr(error.text, "is damaged: HDF5 crashes on it") == NULL)
        CHECK_SAYS(ERROR_MACHINE, "is damaged: HDF5 failed on ", error);
    CHECK(reader == NULL);
    free(image.data);
    arena_destroy(&test.arena);
}

// A row of the table of lanes points past the last sample.
TEST(shard_whose_lanes_point_elsewhere)
{
    static const int64_t row[] = {7, 2, 3, 0}; // trial, replicate, offset, length of the second lane
    ShardTest test = shard_test_start(shard_test_lanes, 3, false, false);
    Bytes image;
    ShardReader *reader;
    int found = 0;
    CHECK_OK(shard_build(&test.shard, &image));
    for (size_t i = 0; i + 32 <= image.size; i++) {
        if (memcmp(image.data + i, &row[0], 8) != 0 || memcmp(image.data + i + 8, &row[1], 4) != 0) continue;
        image.data[i + 20] = 200; // the length of the lane
        found++;
    }
    CHECK_INTEGER(1, found);
    CHECK_SAYS(ERROR_MACHINE, "is damaged: row 1 of the table lanes points beyond the samples",
               shard_test_open_image(&test, &image, &reader));
    free(image.data);
    arena_destroy(&test.arena);
}

// A link to another file is not followed, even if that file is valid.
TEST(shard_with_a_link_to_another_file)
{
    ShardTest test = shard_test_start(shard_test_lanes, 3, false, false);
    Sha256Text digest;
    ShardReader *reader;
    unsigned char bytes[1 << 14];
    Bytes image = {.data = bytes};
    const char *other = shard_test_write(&test, &digest);
    CHECK_OK(shard_test_open(other, SHARD_TRAJECTORIES, NULL, &reader));
    shard_close(reader);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 4096, 0);
    const hid_t file = H5Fcreate("link", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    CHECK(H5Lcreate_external(other, "/trajectories", file, "trajectories", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    image.size = (size_t)H5Fget_file_image(file, bytes, sizeof bytes);
    H5Fclose(file);
    H5Pclose(access);
    CHECK(image.size <= sizeof bytes);
    CHECK_ERROR(ERROR_MACHINE, shard_test_open_image(&test, &image, &reader));
    shard_close(reader);
    arena_destroy(&test.arena);
}

// Columns that the spec does not have, or has in another place
TEST(shard_of_other_columns)
{
    ShardTest test = shard_test_start(shard_test_lanes, 3, false, false);
    Field columns[SHARD_TEST_COLUMNS];
    Sha256Text digest;
    ShardReader *reader;
    const char *path = shard_test_write(&test, &digest);
    memcpy(columns, shard_test_columns, sizeof columns);
    columns[3].group = "state";
    ShardLayout layout = {SHARD_TRAJECTORIES, columns, SHARD_TEST_COLUMNS};
    CHECK_SAYS(ERROR_MACHINE, "is damaged: the shape of state does not match its columns",
               shard_open(path, &layout, NULL, &reader));
    columns[0].group = "lanes"; // a table instead of numbers
    const Error error = shard_open(path, &layout, NULL, &reader);
    CHECK_ERROR(ERROR_MACHINE, error);
    CHECK(strstr(error.text, "lanes is not stored as a shard stores it") != NULL);
    layout.n_columns = 0;
    CHECK_OK(shard_open(path, &layout, NULL, &reader));
    CHECK_INTEGER(3, shard_lane_count(reader));
    shard_close(reader);
    arena_destroy(&test.arena);
}
