#include "support.h"

#include "base/sha256.h"

static void check(const char *text, const char *expected)
{
    unsigned char digest[PP_SHA256_BYTES];
    char hex[PP_SHA256_HEX_BYTES];
    pp_sha256_of(text, strlen(text), digest);
    pp_sha256_print(digest, hex);
    assert_string_equal(hex, expected);
}

static void test_sha256__gives_the_published_digests(void **state)
{
    (void)state;
    check("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void test_sha256__does_not_depend_on_how_the_bytes_are_cut(void **state)
{
    unsigned char data[300], whole[PP_SHA256_BYTES], parts[PP_SHA256_BYTES];
    size_t i, cut;
    (void)state;
    for (i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7);
    pp_sha256_of(data, sizeof data, whole);
    for (cut = 0; cut <= sizeof data; cut++) {
        pp_sha256 hash;
        pp_sha256_init(&hash);
        pp_sha256_add(&hash, data, cut);
        pp_sha256_add(&hash, data + cut, sizeof data - cut);
        pp_sha256_finish(&hash, parts);
        assert_memory_equal(whole, parts, sizeof whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256__gives_the_published_digests),
        cmocka_unit_test(test_sha256__does_not_depend_on_how_the_bytes_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
