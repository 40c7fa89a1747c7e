// Binary recordings: .npz of the program's own writer and made here, deflated and damaged ones; MCAP made here.
// tests/cli/recordings.sh reads files that NumPy and the mcap package wrote.
#include "../test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

typedef struct Made {
    unsigned char data[65536];
    size_t size;
} Made;

static void made_bytes(Made *made, const void *data, size_t size)
{
    if (made->size + size > sizeof made->data) return;
    memcpy(made->data + made->size, data, size);
    made->size += size;
}
static void made_number(Made *made, int bytes, uint64_t value)
{
    for (int i = 0; i < bytes; i++) {
        const unsigned char byte = (unsigned char)(value >> (8 * i));
        made_bytes(made, &byte, 1);
    }
}
static void made_text(Made *made, const char *text)
{
    made_number(made, 4, strlen(text));
    made_bytes(made, text, strlen(text));
}
static void made_double(Made *made, double value) { made_bytes(made, &value, 8); }

// ---- npz ------------------------------------------------------------------------------------------------------------

// An archive of one array: `words` of its header, then its numbers.
static void made_npz(Made *made, const char *words, const void *numbers, size_t size, bool deflated)
{
    static Made npy, packed;
    npy = packed = (Made){.size = 0};
    made_bytes(&npy, "\x93NUMPY\x01\x00", 8);
    made_number(&npy, 2, strlen(words));
    made_bytes(&npy, words, strlen(words));
    made_bytes(&npy, numbers, size);
    if (deflated) {
        z_stream stream = {.next_in = npy.data, .next_out = packed.data};
        stream.avail_in = (uInt)npy.size;
        stream.avail_out = sizeof packed.data;
        deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
        deflate(&stream, Z_FINISH);
        packed.size = stream.total_out;
        deflateEnd(&stream);
    }
    const Made *stored = deflated ? &packed : &npy;
    const uint32_t crc = (uint32_t)crc32(0, npy.data, (uInt)npy.size);
    *made = (Made){.size = 0};
    for (int directory = 0; directory < 2; directory++) {
        const size_t at = made->size;
        made_bytes(made, directory ? "PK\x01\x02\x14\x00" : "PK\x03\x04", directory ? 6 : 4);
        made_number(made, 2, 20);
        made_number(made, 2, 0);
        made_number(made, 2, deflated ? 8 : 0);
        made_number(made, 4, 0);
        made_number(made, 4, crc);
        made_number(made, 4, stored->size);
        made_number(made, 4, npy.size);
        made_number(made, 2, 5);
        made_number(made, 2, 0);
        if (directory) made_bytes(made, "\0\0\0\0\0\0\0\0\0\0\0\0\0", 10); // comment, disk, attributes
        if (directory) made_number(made, 4, 0);
        made_bytes(made, "q.npy", 5);
        if (!directory) made_bytes(made, stored->data, stored->size);
        if (!directory) continue;
        const size_t end = made->size;
        made_bytes(made, "PK\x05\x06\0\0\0\0\1\0\1\0", 12);
        made_number(made, 4, end - at);
        made_number(made, 4, at);
        made_number(made, 2, 0);
    }
}

static Error made_open(Made *made, RecordedFile *file)
{
    return recorded_open("log", (Bytes){made->data, made->size}, file);
}

TEST(recorded_npz_has_what_was_written)
{
    static const NpzColumn columns[] = {{.name = "time", .type = NPZ_REAL},
                                        {.name = "count", .type = NPZ_INTEGER},
                                        {.name = "mode", .type = NPZ_TEXT, .width = 4}};
    static Made made;
    Arena arena;
    Npz *npz;
    RecordedFile file;
    const double *value, *time;
    FILE *out = tmpfile();
    CHECK_OK(arena_create(&arena, 1 << 20, "test"));
    CHECK_OK(npz_open(out, columns, 3, 3, &arena, &npz));
    for (int r = 0; r < 3; r++) {
        CHECK_OK(npz_real(npz, 0, 0.1 * r));
        CHECK_OK(npz_integer(npz, 1, 7 - r));
        CHECK_OK(npz_text(npz, 2, "run"));
    }
    CHECK_OK(npz_finish(npz));
    rewind(out);
    made.size = fread(made.data, 1, sizeof made.data, out);
    fclose(out);
    CHECK_OK(made_open(&made, &file));
    CHECK_INTEGER(3, file.count);
    CHECK_TEXT("time", file.columns[0].name);
    CHECK_TEXT("its type is '<U4'", file.columns[2].why);
    CHECK_OK(file.load(&file, 0, 0, &arena, &value, &time));
    CHECK_INTEGER(3, file.columns[0].count);
    CHECK_BITS(0.1 * 2, value[2]);
    CHECK_OK(file.load(&file, 1, 0, &arena, &value, &time));
    CHECK_BITS(5.0, value[2]);
    CHECK(time == NULL && file.clocks == NULL);
    recorded_close(&file);
    arena_destroy(&arena);
}

static double npz_number(const char *words, const void *numbers, size_t size, bool deflated, int column, int row)
{
    static Made made;
    RecordedFile file;
    const double *value = NULL, *time;
    made_npz(&made, words, numbers, size, deflated);
    CHECK_OK(made_open(&made, &file));
    CHECK(file.count > column && file.columns[column].why == NULL);
    CHECK_OK(file.load(&file, column, 0, &file.arena, &value, &time));
    const double number = value != NULL ? value[row] : NAN;
    recorded_close(&file);
    return number;
}

TEST(recorded_npz_of_all_types_and_orders)
{
    static const double reals[] = {1, 2, 3, 4, 5, 6};
    static const float halves[] = {0.5f, -1.25f};
    static const int16_t big = (int16_t)0xfeff; // -2 with its bytes swapped
    for (int deflated = 0; deflated < 2; deflated++) {
        const bool d = deflated;
        CHECK_BITS(5.0, npz_number("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", reals, 48, d, 1, 1));
        CHECK_BITS(4.0, npz_number("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", reals, 48, d, 1, 1));
        CHECK_BITS(-1.25, npz_number("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", halves, 8, d, 0, 1));
        CHECK_BITS(-2.0, npz_number("{'descr': '>i2', 'fortran_order': False, 'shape': (1,), }", &big, 2, d, 0, 0));
        CHECK_BITS(255.0, npz_number("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", "\xff", 1, d, 0, 0));
    }
}

TEST(recorded_npz_that_is_damaged_is_refused)
{
    static const double reals[] = {1, 2, 3, 4, 5, 6};
    static Made made, cut;
    RecordedFile file;
    const double *value, *time;
    made_npz(&made, "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }", reals, 48, false);
    for (size_t size = 4; size < made.size; size++) {
        cut = made;
        cut.size = size;
        CHECK_ERROR(ERROR_USER, made_open(&cut, &file));
    }
    cut = made;
    cut.data[30 + 5 + 10 + 60] ^= 1; // in a number
    CHECK_OK(made_open(&cut, &file));
    CHECK_SAYS(ERROR_USER, "array 'q' is damaged: its CRC-32 is wrong",
               file.load(&file, 0, 0, &file.arena, &value, &time));
    recorded_close(&file);
    made_npz(&made, "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }", reals, 48, true);
    const size_t directory = made.size - 22 - 46 - 5; // of 46 bytes and a name of 5
    cut = made;
    cut.size--;
    CHECK_SAYS(ERROR_USER, "the archive's directory is missing: the file is cut off", made_open(&cut, &file));
    cut = made;
    cut.data[directory] = 'Q';
    CHECK_SAYS(ERROR_USER, "the archive's directory is damaged", made_open(&cut, &file));
    cut = made;
    cut.data[directory + 8] |= 1;
    CHECK_SAYS(ERROR_USER, "the archive is encrypted", made_open(&cut, &file));
    cut = made;
    cut.data[directory + 10] = 12;
    CHECK_SAYS(ERROR_USER, "array 'q' is compressed by another method than deflate", made_open(&cut, &file));
    cut = made;
    cut.data[35] ^= 0x06; // of the first block
    CHECK_SAYS(ERROR_USER, "array 'q' can't be inflated", made_open(&cut, &file));
    made_npz(&made, "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }", reals, 48, false);
    cut = made;
    cut.data[36] = 'n';
    CHECK_SAYS(ERROR_USER, "'q' is no array of NumPy's", made_open(&cut, &file));
    made_npz(&made, "{'descr': '<f8', 'fortran_order': False, 'shape': (7,), }", reals, 48, true);
    CHECK_SAYS(ERROR_USER, "has another size than its header says", made_open(&made, &file));
    made_npz(&made, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (6,), }", reals, 48, true);
    CHECK_OK(made_open(&made, &file));
    CHECK_TEXT("it has fields: save each as an array of its own", file.columns[0].why);
    recorded_close(&file);
    CHECK_SAYS(ERROR_USER, "neither npz nor MCAP",
               recorded_open("log", (Bytes){(unsigned char *)"time,a\n", 7}, &file));
}

// ---- MCAP -----------------------------------------------------------------------------------------------------------

static void made_record(Made *made, uint8_t opcode, const Made *body)
{
    made_number(made, 1, opcode);
    made_number(made, 8, body->size);
    made_bytes(made, body->data, body->size);
}

static void cdr_align(Made *made, size_t start, size_t to)
{
    while ((made->size - start) % to != 0) made_number(made, 1, 0);
}

// A joint state of joints "hip" and "knee", with positions and efforts.
static void made_state(Made *to, int64_t log_time, int32_t seconds, uint32_t nanoseconds, double hip, double knee)
{
    static Made body;
    body = (Made){.size = 0};
    made_number(&body, 2, 1);
    made_number(&body, 4, 0);
    made_number(&body, 8, (uint64_t)log_time);
    made_number(&body, 8, (uint64_t)log_time);
    made_bytes(&body, "\0\1\0\0", 4);
    const size_t start = body.size;
    made_number(&body, 4, (uint32_t)seconds);
    made_number(&body, 4, nanoseconds);
    made_number(&body, 4, 5);
    made_bytes(&body, "base", 5);
    cdr_align(&body, start, 4);
    made_number(&body, 4, 2);
    made_number(&body, 4, 4);
    made_bytes(&body, "hip", 4);
    made_number(&body, 4, 5);
    made_bytes(&body, "knee", 5);
    for (int field = 0; field < 3; field++) {
        cdr_align(&body, start, 4);
        made_number(&body, 4, field == 1 ? 0 : 2);
        if (field == 1) continue;
        cdr_align(&body, start, 8);
        made_double(&body, field == 0 ? hip : 10.0 * hip);
        made_double(&body, field == 0 ? knee : 10.0 * knee);
    }
    made_record(to, 0x05, &body);
}

// A file of `channels` topics whose messages are of `schema`, in `encoding`, and of its own records before the end.
static void made_topics(Made *made, const char *schema, const char *encoding, int channels, const Made *more)
{
    static Made body;
    *made = body = (Made){.size = 0};
    made_bytes(made, "\x89MCAP0\r\n", 8);
    made_number(&body, 2, 1);
    made_text(&body, schema);
    made_text(&body, "ros2msg");
    made_text(&body, "");
    made_record(made, 0x03, &body);
    for (int i = 1; i <= channels; i++) {
        body = (Made){.size = 0};
        made_number(&body, 2, (uint64_t)i);
        made_number(&body, 2, 1);
        made_text(&body, "/joint_states");
        made_text(&body, encoding);
        made_text(&body, "");
        made_record(made, 0x04, &body);
    }
    if (more != NULL) made_bytes(made, more->data, more->size);
    made_bytes(made, "\x89MCAP0\r\n", 8);
}

// A joint state of 600 joints with names from `first` on, and positions.
static void made_many(Made *to, int first)
{
    static Made body;
    enum { JOINTS = 600 };
    body = (Made){.size = 0};
    made_number(&body, 2, 1);
    for (int i = 0; i < 5; i++) made_number(&body, 4, 0);
    made_bytes(&body, "\0\1\0\0", 4);
    const size_t start = body.size;
    for (int i = 0; i < 3; i++) made_number(&body, 4, 0); // stamp, no name of a frame
    made_number(&body, 4, JOINTS);
    for (int i = 0; i < JOINTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "%06d", first + i);
        name[6] = '\0';
        made_number(&body, 4, 7);
        made_bytes(&body, name, 7);
        cdr_align(&body, start, 4);
    }
    made_number(&body, 4, JOINTS);
    cdr_align(&body, start, 8);
    for (int i = 0; i < JOINTS; i++) made_double(&body, i);
    made_number(&body, 4, 0);
    made_number(&body, 4, 0);
    made_record(to, 0x05, &body);
}

static void made_mcap(Made *made, const char *compression, bool chunked, int32_t second)
{
    static Made body, records;
    records = *made = (Made){.size = 0};
    made_bytes(made, "\x89MCAP0\r\n", 8);
    body = (Made){.size = 0};
    made_number(&body, 2, 1);
    made_text(&body, "sensor_msgs/msg/JointState");
    made_text(&body, "ros2msg");
    made_text(&body, "");
    made_record(&records, 0x03, &body);
    body = (Made){.size = 0};
    made_number(&body, 2, 1);
    made_number(&body, 2, 1);
    made_text(&body, "/joint_states");
    made_text(&body, "cdr");
    made_text(&body, "");
    made_record(&records, 0x04, &body);
    made_state(&records, 2000000000, 100, 500000000, 0.25, -0.5);
    made_state(&records, 2100000000, second, 0, 0.75, -1.5);
    if (chunked) {
        body = (Made){.size = 0};
        made_number(&body, 8, 0);
        made_number(&body, 8, 0);
        made_number(&body, 8, records.size);
        made_number(&body, 4, (uint32_t)crc32(0, records.data, (uInt)records.size));
        made_text(&body, compression);
        made_number(&body, 8, records.size);
        made_bytes(&body, records.data, records.size);
        made_record(made, 0x06, &body);
    } else {
        made_bytes(made, records.data, records.size);
    }
    body = (Made){.size = 0};
    made_number(&body, 4, 0);
    made_record(made, 0x0f, &body);
    made_bytes(made, "\x89MCAP0\r\n", 8);
}

TEST(recorded_mcap_has_joints_by_both_clocks)
{
    static Made made;
    RecordedFile file;
    const double *value = NULL, *time = NULL;
    for (int chunked = 0; chunked < 2; chunked++) {
        made_mcap(&made, "", chunked != 0, 101);
        CHECK_OK(made_open(&made, &file));
        CHECK_INTEGER(4, file.count); // no velocities
        CHECK_TEXT("/joint_states.hip.position", file.columns[0].name);
        CHECK_TEXT("/joint_states.knee.effort", file.columns[3].name);
        CHECK_OK(file.load(&file, 3, 0, &file.arena, &value, &time));
        CHECK_INTEGER(2, file.columns[3].count);
        CHECK_BITS(-15.0, value[1]);
        CHECK_NEAR(0.0, time[0], 0.0);
        CHECK_NEAR(0.5, time[1], 1e-15);
        CHECK_OK(file.load(&file, 0, 1, &file.arena, &value, &time));
        CHECK_BITS(0.75, value[1]);
        CHECK_NEAR(0.1, time[1], 1e-15);
        recorded_close(&file);
    }
}

TEST(recorded_mcap_that_is_not_read_is_refused)
{
    static Made made, cut;
    RecordedFile file;
    const double *value, *time;
    made_mcap(&made, "zstd", true, 101);
    CHECK_SAYS(ERROR_USER, "compressed by zstd, which is not read", made_open(&made, &file));
    made_mcap(&made, "", true, 99);
    CHECK_OK(made_open(&made, &file));
    CHECK_SAYS(ERROR_USER, "times of '/joint_states.hip.position' must increase, and message 2 is 1.5 s before",
               file.load(&file, 0, 0, &file.arena, &value, &time));
    recorded_close(&file);
    made_mcap(&made, "", true, 101);
    for (size_t size = 8; size < made.size; size++) {
        cut = made;
        cut.size = size;
        CHECK_ERROR(ERROR_USER, made_open(&cut, &file));
    }
    CHECK_SAYS(ERROR_USER, "the MCAP file has no end: `mcap recover IN -o OUT` mends it", made_open(&cut, &file));
    cut = made;
    cut.data[200] ^= 1;
    CHECK_SAYS(ERROR_USER, "a chunk is damaged: its CRC-32 is wrong", made_open(&cut, &file));
}

TEST(recorded_mcap_of_other_topics_is_refused)
{
    static const char states[] = "sensor_msgs/msg/JointState";
    static Made made, more;
    RecordedFile file;
    made_topics(&made, "std_msgs/msg/String", "cdr", 1, NULL);
    CHECK_SAYS(ERROR_USER, "has no topic of sensor_msgs/msg/JointState", made_open(&made, &file));
    made_topics(&made, states, "ros1", 1, NULL);
    CHECK_SAYS(ERROR_USER, "messages of /joint_states are in 'ros1'; cdr is read, of ROS 2", made_open(&made, &file));
    made_topics(&made, states, "cdr", 257, NULL);
    CHECK_SAYS(ERROR_USER, "has more than 256 topics of joints", made_open(&made, &file));
    more = (Made){.size = 0};
    made_many(&more, 0);
    made_topics(&made, states, "cdr", 1, &more);
    CHECK_OK(made_open(&made, &file));
    CHECK_INTEGER(600, file.count);
    recorded_close(&file);
    made_many(&more, 500);
    made_topics(&made, states, "cdr", 1, &more);
    CHECK_SAYS(ERROR_USER, "a topic has more than 1024 joints", made_open(&made, &file));
    more.size = 0;
    made_many(&more, 0);
    more.data[9 + 22] = 1; // its encoding is none of CDR
    made_topics(&made, states, "cdr", 1, &more);
    CHECK_SAYS(ERROR_USER, "message 1 of the topics of joints is damaged", made_open(&made, &file));
    more = (Made){.size = 0};
    made_many(&more, 999999); // names are cut to six digits: 1000000, 1000001 ... are one
    made_topics(&made, states, "cdr", 1, &more);
    CHECK_SAYS(ERROR_USER, "message 1 of the topics of joints names '100000' twice", made_open(&made, &file));
    more = (Made){.size = 0};
    made_bytes(&more, "\x05\xff\0\0\0\0\0\0\0", 9);
    made_topics(&made, states, "cdr", 1, &more);
    CHECK_SAYS(ERROR_USER, "a record of the MCAP file is damaged", made_open(&made, &file));
}
