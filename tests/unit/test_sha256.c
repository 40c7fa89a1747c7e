#include "../test.h"

#include <string.h>

// FIPS 180-4 examples, and NIST's long message of a million 'a'
TEST(sha256_known_digests)
{
    CHECK_TEXT("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", sha256_of("", 0).hex);
    CHECK_TEXT("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", sha256_of("abc", 3).hex);
    CHECK_TEXT("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
               sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56).hex);
    CHECK_TEXT("cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
               sha256_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmno"
                         "pqrsmnopqrstnopqrstu",
                         112)
                   .hex);
    char as[1000];
    memset(as, 'a', sizeof as);
    for (int i = 0; i < 2; i++) {
        Sha256 hash;
        sha256_start(&hash);
        if (i == 1) hash.instructions = false;
        for (int k = 0; k < 1000; k++) sha256_add(&hash, as, sizeof as);
        CHECK_TEXT("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", sha256_finish(&hash).hex);
    }
}

// Padding has special cases at 55, 56, 63 and 64 bytes: for each length, cut at each place, the digest is that of the
// whole.
TEST(sha256_in_parts_is_of_the_whole)
{
    unsigned char data[200];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 7 + 1);
    int different = 0;
    for (size_t size = 0; size <= sizeof data; size++) {
        const Sha256Text whole = sha256_of(data, size);
        for (size_t cut = 0; cut <= size; cut++) {
            Sha256 hash;
            sha256_start(&hash);
            sha256_add(&hash, data, cut);
            sha256_add(&hash, data + cut, size - cut);
            different += strcmp(whole.hex, sha256_finish(&hash).hex) != 0;
        }
    }
    CHECK_INTEGER(0, different);
    // by Python's hashlib, of the same 119 bytes
    CHECK_TEXT("a3ed307b730fa77c07531300c6e4a282330011d4d4caf6bb7b63ae05950f4b66", sha256_of(data, 119).hex);
}

TEST(sha256_by_instructions_is_the_same)
{
    unsigned char data[1000];
    Sha256 fast, plain;
    for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * i + 3 * i);
    sha256_start(&fast);
    if (!fast.instructions) {
        test_skip("a processor with instructions for SHA-256", "another machine");
        return;
    }
    for (size_t size = 0; size < sizeof data; size += 37) {
        sha256_start(&fast);
        sha256_start(&plain);
        plain.instructions = false;
        sha256_add(&fast, data, size);
        sha256_add(&plain, data, size);
        const Sha256Text expected = sha256_finish(&plain);
        CHECK_TEXT(expected.hex, sha256_finish(&fast).hex);
    }
}
