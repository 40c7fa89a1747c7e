// Readers of point clouds: every encoding gives the same points, and a bad file gives one clear error.
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static Error cloud_of(const void *data, size_t size, CloudFile *out)
{
    unsigned char *copy = malloc(size + 1); // a separate block, so that the sanitizer finds a read past its end
    if (copy == NULL) abort();
    memcpy(copy, data, size);
    copy[size] = '\0';
    const Error error = cloud_parse("cloud", (Bytes){copy, size}, out);
    free(copy);
    return error;
}

static Error cloud_of_text(const char *text, CloudFile *out) { return cloud_of(text, strlen(text), out); }

// The three points that all good files of this test hold.
static const double cloud_points[3][3] = {{1.0, 2.0, 3.0}, {-0.5, 0.25, 1e3}, {7.0, -8.0, 0.0}};

static void check_points(Error error, CloudFile *file, int64_t dropped)
{
    CHECK_OK(error);
    if (error.kind != OK) return;
    CHECK_INTEGER(3, file->cloud.count);
    CHECK_INTEGER(dropped, file->dropped);
    for (int i = 0; i < 3 && file->cloud.count == 3; i++) {
        for (int a = 0; a < 3; a++) CHECK_BITS(cloud_points[i][a], file->cloud.at[a][i]);
    }
    cloud_close(file);
}

// ---- bytes ----------------------------------------------------------------------------------------------------------

typedef struct CloudBytes {
    unsigned char data[4096];
    size_t size;
} CloudBytes;

static void put_text(CloudBytes *to, const char *text)
{
    memcpy(to->data + to->size, text, strlen(text));
    to->size += strlen(text);
}

static void put_float(CloudBytes *to, double value, bool big_endian)
{
    const float narrow = (float)value;
    unsigned char bytes[4];
    memcpy(bytes, &narrow, 4);
    for (int i = 0; i < 4; i++) to->data[to->size++] = bytes[big_endian ? 3 - i : i];
}

static void put_word(CloudBytes *to, uint32_t value)
{
    for (int i = 0; i < 4; i++) to->data[to->size++] = (unsigned char)(value >> 8 * i);
}

#define PCD_HEAD(points, data)                                                                                         \
    "# .PCD v0.7\nVERSION 0.7\nFIELDS intensity x y z\nSIZE 1 4 4 4\nTYPE U F F F\nCOUNT 1 1 1 1\nWIDTH " points       \
    "\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS " points "\nDATA " data "\n"

static CloudBytes pcd_binary(void)
{
    CloudBytes b = {.size = 0};
    put_text(&b, PCD_HEAD("3", "binary"));
    for (int i = 0; i < 3; i++) {
        b.data[b.size++] = 9;
        for (int a = 0; a < 3; a++) put_float(&b, cloud_points[i][a], false);
    }
    return b;
}

// Columns, one after the other: 39 bytes, as literal runs and, for the three equal intensities, a copy.
static CloudBytes pcd_compressed(void)
{
    CloudBytes b = {.size = 0}, plain = {.size = 0};
    for (int a = 0; a < 3; a++) {
        for (int i = 0; i < 3; i++) put_float(&plain, cloud_points[i][a], false);
    }
    put_text(&b, PCD_HEAD("3", "binary_compressed"));
    put_word(&b, 6 + 33 + 5);
    put_word(&b, 39);
    const unsigned char front[] = {0, 9, 0, 9, 0, 9, 31};
    memcpy(b.data + b.size, front, sizeof front);
    b.size += sizeof front;
    memcpy(b.data + b.size, plain.data, 32);
    b.size += 32;
    b.data[b.size++] = 3;
    memcpy(b.data + b.size, plain.data + 32, 4);
    b.size += 4;
    return b;
}

static CloudBytes ply_binary(const char *byte, bool big_endian)
{
    CloudBytes b = {.size = 0};
    put_text(&b, "ply\nformat ");
    put_text(&b, big_endian ? "binary_big_endian" : "binary_little_endian");
    put_text(&b, " 1.0\ncomment none\nelement vertex 3\nproperty float x\nproperty ");
    put_text(&b, byte);
    put_text(&b, " red\nproperty float y\nproperty float z\nelement face 0\n"
                 "property list uchar int vertex_indices\nend_header\n");
    for (int i = 0; i < 3; i++) {
        put_float(&b, cloud_points[i][0], big_endian);
        b.data[b.size++] = 200;
        put_float(&b, cloud_points[i][1], big_endian);
        put_float(&b, cloud_points[i][2], big_endian);
    }
    return b;
}

static const char ply_ascii[] = "ply\nformat ascii 1.0\nelement vertex 3\nproperty double x\nproperty double y\n"
                                "property float z\nend_header\n1 2 3\n-0.5 0.25 1000\n7 -8 0\n";

// ---- good files -----------------------------------------------------------------------------------------------------

TEST(cloud_formats_give_the_same_points)
{
    static const char *const texts[] = {
        "1,2,3\n-0.5,0.25,1e3\n7,-8,0\n",
        "# a scan\nx;y;z;i\n1;2;3;4\n\n-0.5;.25;1000;4\r\n7;-8;0",
        "z, intensity, x, y\n3, 0, 1, 2\n1000, 0, -0.5, 0.25\n0, 0, 7, -8\n",
        "1 2 3 99\n-0.5\t0.25 1000 99\n  7   -8  0 99\n",
        PCD_HEAD("3", "ascii") "9 1 2 3\n9 -0.5 0.25 1000\n9 7 -8 0\n",
        ply_ascii,
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty bool seen\nproperty double x\nproperty double y\n"
        "property double z\nend_header\n1 1 2 3\n0 -0.5 0.25 1000\n1 7 -8 0\n",
    };
    CloudFile file;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check_points(cloud_of_text(texts[i], &file), &file, 0);
    const CloudBytes binaries[] = {pcd_binary(), pcd_compressed(), ply_binary("uchar", false),
                                   ply_binary("bool", true)};
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
        check_points(cloud_of(binaries[i].data, binaries[i].size, &file), &file, 0);
}

TEST(cloud_leaves_out_points_that_are_not_finite)
{
    CloudFile file;
    check_points(cloud_of_text("1,2,3\nnan,0,0\n-0.5,0.25,1e3\n0,inf,0\n7,-8,0\n", &file), &file, 2);
    CHECK_ERROR(ERROR_USER, cloud_of_text("nan,nan,nan\n", &file));
}

// An LZF copy that overlaps itself, as for runs: one byte, then the same byte 8 more times.
TEST(cloud_unpacks_runs)
{
    CloudBytes b = {.size = 0};
    CloudFile file;
    put_text(&b, "VERSION 0.7\nFIELDS x y z\nSIZE 1 1 1\nTYPE I I I\nWIDTH 3\nHEIGHT 1\nDATA binary_compressed\n");
    put_word(&b, 5);
    put_word(&b, 9);
    const unsigned char packed[] = {0, 0xFE, 0xE0, 255, 0}; // 7 + 255 + 2 bytes do not fit
    memcpy(b.data + b.size, packed, sizeof packed);
    CHECK_ERROR(ERROR_USER, cloud_of(b.data, b.size + 5, &file));
    b.data[b.size + 2] = 6 << 5; // copies 8 bytes from 1 byte before
    b.data[b.size + 3] = 0;
    b.data[b.size - 8] = 4;
    const Error error = cloud_of(b.data, b.size + 4, &file);
    CHECK_OK(error);
    if (error.kind != OK) return;
    CHECK_INTEGER(3, file.cloud.count);
    for (int i = 0; i < 3; i++) CHECK_BITS(-2.0, file.cloud.at[2][i]);
    cloud_close(&file);
}

// ---- bad files ------------------------------------------------------------------------------------------------------

TEST(cloud_errors_say_what_is_wrong)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "cloud: not a point cloud: use PCD, PLY or lines of x, y, z"},
        {"# nothing\n", "cloud: the file has no point"},
        {"nan,0,0\n", "cloud: the file has no point with finite coordinates"},
        {"hello\n", "cloud:1: not a point cloud: use PCD, PLY or lines of x, y, z"},
        {"1,2,3\n1,2\n", "cloud:2: expected three numbers: x, y, z"},
        {"x,y,z\n1,2,3\n1,two,3\n", "cloud:3: expected three numbers: x, y, z"},
        {"VERSION 0.7\n", "cloud:2: the header ends without DATA"},
        {"VERSION 0.7\nCOLOUR red\n", "cloud:2: not a line of a PCD header; known are VERSION, FIELDS, SIZE, TYPE, "
                                      "COUNT, WIDTH, HEIGHT, VIEWPOINT, POINTS and DATA"},
        {"FIELDS x y\nSIZE 4 4\nTYPE F F\nWIDTH 1\nHEIGHT 1\nDATA ascii\n", "cloud:7: FIELDS must have x, y and z"},
        {"FIELDS x y z\nSIZE 4 4\nTYPE F F\nWIDTH 1\nHEIGHT 1\nDATA ascii\n",
         "cloud:7: FIELDS, SIZE and TYPE must have as many values each: 3, 2, 2"},
        {"FIELDS x y z\nSIZE 4 4 3\n", "cloud:2: SIZE must be 1, 2, 4 or 8"},
        {"FIELDS x y z\nTYPE F F G\n", "cloud:2: TYPE must be I, U or F"},
        {"FIELDS x y z\nCOUNT 1 1 0\n", "cloud:2: COUNT must be a number from 1 to 4096"},
        {"FIELDS x y z\nWIDTH many\n", "cloud:2: WIDTH must be a whole number of points"},
        {"FIELDS x y z\nPOINTS\n", "cloud:2: POINTS needs a value"},
        {"FIELDS x y z\nPOINTS 1000000000\n",
         "cloud:2: POINTS is 1000000000; a cloud may have at most 67108864 points: thin it first"},
        {PCD_HEAD("3", "zip"), "cloud:11: DATA must be ascii, binary or binary_compressed"},
        {"FIELDS x y z\nSIZE 2 2 2\nTYPE F F F\nWIDTH 1\nHEIGHT 1\nDATA ascii\n",
         "cloud:7: the field x must be one number, a float of 4 or 8 bytes"},
        {"FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 2\nHEIGHT 2\nPOINTS 3\nDATA ascii\n",
         "cloud:8: WIDTH x HEIGHT is 4, and POINTS is 3"},
        {"FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nDATA ascii\n", "cloud:5: WIDTH, HEIGHT and POINTS are missing"},
        {PCD_HEAD("60000000", "ascii") "1 2 3 4\n",
         "cloud:12: the header announces 60000000 points, but the file has room for 1"},
        {PCD_HEAD("60000000", "binary") "1234",
         "cloud:12: the header announces 60000000 points of 13 bytes, but the file has 0: it is cut off"},
        {PCD_HEAD("2", "ascii") "9 1 2 3\n9 1 2\n         ", "cloud:13: point 2 of 2: expected 4 numbers, found 3"},
        {PCD_HEAD("1", "ascii") "9 1 2 3 4\n", "cloud:12: point 1 of 1 has more than 4 numbers"},
        {PCD_HEAD("3", "binary_compressed") "123", "cloud:12: the compressed data is cut off"},
        {PCD_HEAD("3", "binary_compressed") "12345678",
         "cloud:12: the compressed data has 943142453 bytes, but 3 points take 39"},
        {PCD_HEAD("3", "binary_compressed") "\x7f\x01\x01\x01\x27\x00", "cloud:12: the compressed data is cut off"},
        {"ply\n", "cloud:2: the header ends without end_header"},
        {"ply\nformat ascii 1.0\nend_header\n", "cloud:4: the header has no format or no vertex"},
        {"ply\nformat text 1.0\n", "cloud:2: the format must be ascii, binary_little_endian or binary_big_endian"},
        {"ply\nelement vertex\n", "cloud:2: an element needs a name and a number"},
        {"ply\nelement face 2\n", "cloud:2: the first element must be vertex"},
        {"ply\nelement vertex -2\n", "cloud:2: element vertex must be a whole number of points"},
        {"ply\nelement vertex 1\nproperty list uchar int i\n",
         "cloud:3: a property of a vertex must be one number: char, uchar, bool, short, ushort, int, uint, float or "
         "double"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n",
         "cloud:6: a vertex must have the properties x, y and z"},
        {"1,5;2,3;0,7\n",
         "cloud:1:4: numbers are separated by another character than before: is ',' the decimal point? "
         "Write '.', and one kind of separator"},
        {"x;y;z\n1,5;2,3;0,7\n",
         "cloud:2:4: numbers are separated by another character than before: is ',' the decimal "
         "point? Write '.', and one kind of separator"},
        {"1,5 2,3 0,7\n",
         "cloud:1:4: numbers are separated by another character than before: is ',' the decimal point? "
         "Write '.', and one kind of separator"},
        {"1,5\t2,3\t0,7\n", "cloud:1:4: numbers are separated by another character than before: is ',' the decimal "
                            "point? Write '.', and one kind of separator"},
        {"x,y,z\n1,5,2,3,0,7\n", "cloud:2: the line has 6 fields, and the first line has 3"},
        {"x,x,y,z\n1,2,3,4\n", "cloud:1: not a point cloud: use PCD, PLY or lines of x, y, z"},
        {PCD_HEAD("1", "ascii") "9 1 2 3\n\n9 4 5 6\n", "cloud:14: the header announces 1 points, and more follow"},
        {PCD_HEAD("1", "binary") "9 1 2 3\n9 4 5 6\n9 7 8 9\n9 1 2 3\n",
         "cloud:12: the header says binary, and the points are text"},
        {PCD_HEAD("1", "binary") "1234567890123====~========",
         "cloud:12: the header announces 1 points, and 13 bytes follow them"},
        {"POINTS 1\nPOINTS 2\n", "cloud:1: not a point cloud: use PCD, PLY or lines of x, y, z"},
        {"VERSION 0.7\nPOINTS 1\nPOINTS 2\n", "cloud:3: POINTS stands twice in the header"},
        {"VERSION 0.7\nWIDTH 1 2\n", "cloud:2: WIDTH has more than one value"},
        {"FIELDS x x y z\nSIZE 4 4 4 4\nTYPE F F F F\nWIDTH 1\nHEIGHT 1\nDATA ascii\n",
         "cloud:7: the field x stands twice in FIELDS"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float x\n",
         "cloud:5: a vertex has two properties x"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n"
         "1 2 3\n4 5 6\n",
         "cloud:9: the header announces 1 points, and more follow"},
        {"ply\nvertices 3\n", "cloud:2: not a line of a PLY header; known are format, element, property, comment "
                              "and end_header"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CloudFile file;
        const Error error = cloud_of_text(cases[i].text, &file);
        CHECK_ERROR(ERROR_USER, error);
        CHECK_TEXT(cases[i].message, error.text);
        if (error.kind == OK) cloud_close(&file);
    }
}

// Every shorter file is an error, or has fewer points if it is text. No byte past its end is read.
TEST(cloud_cut_off_anywhere_is_an_error)
{
    const CloudBytes binaries[] = {pcd_binary(), pcd_compressed(), ply_binary("bool", false)};
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
        for (size_t size = 0; size < binaries[i].size; size++) {
            CloudFile file;
            CHECK_ERROR(ERROR_USER, cloud_of(binaries[i].data, size, &file));
        }
    }
}

// What stands behind the points in files of other programs: other elements, a line's end, zeros that fill a block.
TEST(cloud_may_be_followed)
{
    static const char faces[] = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                                "property float z\nelement face 1\nproperty list uchar int i\nend_header\n1 2 3\n"
                                "-0.5 0.25 1000\n7 -8 0\n3 0 1 2\n";
    CloudBytes zeros = pcd_binary(), packed = pcd_compressed();
    CloudFile file;
    check_points(cloud_of_text(faces, &file), &file, 0);
    check_points(cloud_of_text("\xEF\xBB\xBF"
                               "1, 2 ,3\n-0.5 , 0.25,1e3 \n7,-8,0\n",
                               &file),
                 &file, 0);
    memset(zeros.data + zeros.size, 0, 40);
    memset(packed.data + packed.size, 0, 40);
    check_points(cloud_of(zeros.data, zeros.size + 40, &file), &file, 0);
    check_points(cloud_of(packed.data, packed.size + 40, &file), &file, 0);
    put_text(&zeros, "\n");
    check_points(cloud_of(zeros.data, zeros.size, &file), &file, 0);
}

// A line that does not fit is not read in part.
TEST(cloud_lines_are_not_cut)
{
    char text[6000];
    CloudFile file;
    memset(text, '1', sizeof text - 1);
    text[1] = text[3] = ',';
    text[sizeof text - 1] = '\0';
    CHECK_TEXT("cloud:1: the line is too long", cloud_of_text(text, &file).text);
}

TEST(cloud_read_of_a_file)
{
    Arena arena;
    CloudFile file;
    CHECK_OK(arena_create(&arena, 1 << 20, "a test"));
    const char *folder = test_folder();
    static const char three[] = "1,2,3\n-0.5,0.25,1e3\n7,-8,0\n";
    CHECK_OK(file_write(folder, "three.csv", three, sizeof three - 1));
    check_points(cloud_read(arena_format(&arena, "%s/three.csv", folder), &file), &file, 0);
    CHECK_ERROR(ERROR_MACHINE, cloud_read(arena_format(&arena, "%s/none.csv", folder), &file));
    arena_destroy(&arena);
}
