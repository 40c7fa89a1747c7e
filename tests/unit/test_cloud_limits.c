// Messages about clouds that are too large, or whose compressed data does not match the header.
#include "../test.h"

#include <stdlib.h>
#include <string.h>

static Error cloud_limits_parse(const char *text, size_t size)
{
    CloudFile cloud;
    const Error error = cloud_parse("cloud", (Bytes){(unsigned char *)(uintptr_t)text, size}, &cloud);
    if (error.kind == OK) cloud_close(&cloud);
    return error;
}

static Error cloud_limits_parse_text(const char *text) { return cloud_limits_parse(text, strlen(text)); }

TEST(cloud_of_too_many_points_is_refused)
{
    const size_t lines = (size_t)CLOUD_POINTS_MAX + 1;
    char *text = malloc(lines + 7);
    if (text == NULL) abort();
    memcpy(text, "1,2,3\n", 6);
    memset(text + 6, '\n', lines);
    text[lines + 6] = '\0';
    CHECK_SAYS(ERROR_USER, "a cloud may have at most 67108864 points; this file has ",
               cloud_limits_parse(text, lines + 6));
    free(text);
}

TEST(cloud_of_too_many_fields_is_refused)
{
    char pcd[1024] = "VERSION 0.7\nFIELDS", ply[4096] = "ply\nformat ascii 1.0\nelement vertex 1\n";
    for (int i = 0; i <= CLOUD_FIELDS_MAX; i++) {
        strcat(pcd, " w");
        strcat(ply, "property float w\n");
    }
    strcat(pcd, "\n");
    CHECK_SAYS(ERROR_USER, "a point may have at most 64 fields", cloud_limits_parse_text(pcd));
    CHECK_SAYS(ERROR_USER, "a point may have at most 64 fields", cloud_limits_parse_text(ply));
}

// One point of three floats, compressed: the size in the file, the size after it, and data that no compressor writes.
TEST(cloud_whose_compressed_data_is_damaged_is_refused)
{
    static const char head[] = "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 1\nHEIGHT 1\n"
                               "POINTS 1\nDATA binary_compressed\n";
    static const char cut[] = "\x09\0\0\0\x0c\0\0\0\xff\xff", junk[] = "\x02\0\0\0\x0c\0\0\0\xff\xff";
    char text[512];
    const size_t start = sizeof head - 1;
    memcpy(text, head, start);
    memcpy(text + start, cut, 10);
    CHECK_SAYS(ERROR_USER, "the header announces 9 compressed bytes, but the file has 2: it is cut off",
               cloud_limits_parse(text, start + 10));
    memcpy(text + start, junk, 10);
    CHECK_SAYS(ERROR_USER, "the compressed data is damaged", cloud_limits_parse(text, start + 10));
}
