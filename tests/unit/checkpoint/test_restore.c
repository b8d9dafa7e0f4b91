/* Which generation is restored where the documents of the newest cannot be read. */
#include "support.h"

#include "base/sha256.h"
#include "checkpoint/commits.h"
#include "checkpoint/health.h"
#include "failing.h"
#include "generation.h"
#include "store/store.h"
#include "stored.h"

static void open_two_generations(parapet_store **store)
{
    stored_open(store, NULL);
    put_generation(*store, 1);
    put_generation(*store, 2);
}

/* Another word in a document in place of one of the same length. */
static void change_word(parapet_store *store, const char *key, const char *word, const char *other)
{
    size_t bytes, at = 0;
    char *text = stored_get(store, key, &bytes);
    assert_non_null(strstr(text, word));
    assert_int_equal(strlen(word), strlen(other));
    while (strncmp(text + at, word, strlen(word)) != 0)
        at++;
    memcpy(text + at, other, strlen(other));
    stored_put(store, key, text, bytes);
    pp_free(text);
}

static void digest_of(parapet_store *store, const char *key, unsigned char digest[PP_SHA256_BYTES])
{
    size_t bytes;
    char *text = stored_get(store, key, &bytes);
    pp_sha256_of(text, bytes, digest);
    pp_free(text);
}

/* As if generation 2 had been committed as it is stored now. */
static void commit_again(parapet_store *store)
{
    pp_commit commit;
    pp_text text = {0};
    assert_ok(pp_commit_load(store, "c", 2, &commit));
    digest_of(store, "c/g00000002/zarr.json", commit.document);
    digest_of(store, "c/g00000002/u/zarr.json", commit.arrays[0].document);
    digest_of(store, "c/g00000002/v/zarr.json", commit.arrays[1].document);
    pp_commit_print(&commit, &text);
    assert_ok(text.status);
    stored_put(store, "c/__parapet/commits/00000002", text.data, text.bytes);
    pp_text_free(&text);
    pp_commit_clear(&commit);
}

static void assert_restores(parapet_store *store, int64_t generation, int64_t passed_over)
{
    parapet_restore_info info;
    parapet_restore *restore;
    assert_ok(parapet_restore_open(&restore, store, "c", 0));
    assert_ok(parapet_restore_get_info(restore, &info));
    assert_int_equal(info.generation, generation);
    assert_int_equal(info.passed_over, passed_over);
    assert_int_equal(info.problem[0] != '\0', passed_over > 0);
    assert_ok(parapet_restore_close(&restore));
}

/* A document in which a word has become one that this version does not know. */
static const char *const documents[] = {"c/g00000002/zarr.json", "c/g00000002/u/zarr.json",
                                        "c/g00000002/v/zarr.json"};
static const char *const words[][2] = {
    {"\"group\"", "\"groop\""}, {"\"uint8\"", "\"uint9\""}, {"\"bytes\"", "\"bites\""}};

static void test_restore__a_document_that_was_not_committed_is_damage(void **state)
{
    parapet_restore *restore;
    parapet_store *store;
    size_t i;
    (void)state;
    for (i = 0; i < 3; i++) {
        open_two_generations(&store);
        assert_restores(store, 2, 0);
        change_word(store, documents[i], words[i][0], words[i][1]);
        assert_fails(parapet_restore_open(&restore, store, "c", 2), i == 0 ? PARAPET_ERR_FORMAT : PARAPET_ERR_CORRUPT,
                     "zarr.json");
        assert_null(restore);
        assert_restores(store, 1, 1);
        stored_close(&store);
    }
}

/* It may be of a later version, and whole: an older one does not take its place. */
static void test_restore__a_document_that_cannot_be_read_but_was_committed_is_an_error(void **state)
{
    parapet_restore *restore;
    parapet_store *store;
    size_t i;
    (void)state;
    for (i = 1; i < 3; i++) {
        open_two_generations(&store);
        change_word(store, documents[i], words[i][0], words[i][1]);
        commit_again(store);
        assert_fails(parapet_restore_open(&restore, store, "c", 0), PARAPET_ERR_UNSUPPORTED, words[i][1] + 1);
        assert_null(restore);
        stored_close(&store);
    }
}

static void test_restore__what_is_missing_is_damage(void **state)
{
    parapet_store *store;
    size_t i;
    (void)state;
    for (i = 0; i < 3; i++) {
        open_two_generations(&store);
        assert_ok(pp_store_remove(store->backend, documents[i]));
        assert_restores(store, 1, 1);
        stored_close(&store);
    }
    open_two_generations(&store);
    stored_put_text(store, "c/__parapet/commits/00000002", "no record");
    assert_restores(store, 1, 1);
    stored_close(&store);
}

/* Whoever writes records can also write their checksums: what they name must be as a checkpoint makes it. */
static void test_restore__an_array_that_is_not_sealed_is_damage_though_it_was_committed(void **state)
{
    parapet_store *store;
    parapet_array *array;
    (void)state;
    open_two_generations(&store);
    assert_ok(parapet_array_open(&array, store, "c/g00000002/u"));
    assert_ok(parapet_array_unseal(array));
    assert_ok(parapet_array_close(&array));
    commit_again(store);
    assert_restores(store, 1, 1);
    stored_reopen(&store, PARAPET_READ, &(parapet_store_options){.ignore_seal = 1});
    assert_restores(store, 2, 0);
    stored_close(&store);
}

static void test_restore__an_array_in_place_of_the_group_is_damage(void **state)
{
    parapet_store *store;
    size_t bytes;
    char *text;
    (void)state;
    open_two_generations(&store);
    text = stored_get(store, documents[1], &bytes);
    stored_put(store, documents[0], text, bytes);
    commit_again(store);
    assert_restores(store, 1, 1);
    pp_free(text);
    stored_close(&store);
}

/* Without seals only the documents are compared. */
static void test_restore__seals_may_be_ignored(void **state)
{
    parapet_store *store;
    (void)state;
    open_two_generations(&store);
    stored_reopen(&store, PARAPET_READ, &(parapet_store_options){.ignore_seal = 1});
    assert_restores(store, 2, 0);
    stored_close(&store);
}

static void test_restore__says_if_none_verifies(void **state)
{
    parapet_restore *restore;
    parapet_store *store;
    (void)state;
    open_two_generations(&store);
    stored_put_text(store, "c/__parapet/commits/00000001", "no record");
    stored_put_text(store, "c/__parapet/commits/00000002", "no record");
    assert_fails(parapet_restore_open(&restore, store, "c", 0), PARAPET_ERR_CORRUPT, "none of the 2 generations");
    assert_fails(parapet_restore_open(&restore, store, "c", 3), PARAPET_ERR_NOT_FOUND, "no generation 3");
    assert_fails(parapet_restore_open(&restore, store, "elsewhere", 0), PARAPET_ERR_NOT_FOUND, "no checkpoint");
    stored_close(&store);
}

static int note_path(void *context, int64_t generation, const char *path)
{
    pp_text_add(context, "%lld=%s ", (long long)generation, path);
    return 0;
}

/* A record that cannot be read leads to no path, and is listed all the same. */
static void test_restore__lists_a_record_that_cannot_be_read(void **state)
{
    parapet_store *store;
    pp_text found = {0};
    (void)state;
    open_two_generations(&store);
    stored_put_text(store, "c/__parapet/commits/00000002", "no record");
    assert_ok(parapet_checkpoint_list(store, "c", note_path, &found));
    assert_string_equal(found.data, "2= 1=c/g00000001 ");
    pp_text_free(&found);
    stored_close(&store);
}

/* What goes missing after it was verified is told when it is read, and known from then on. */
static void test_restore__what_is_gone_when_it_is_read_is_damage(void **state)
{
    int64_t shape[1] = {1}, start[1] = {0};
    unsigned char value = 0;
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = &value};
    parapet_checkpoint_item item = {.name = "u", .parts = &part, .part_count = 1};
    parapet_store *store;
    parapet_restore *restore;
    (void)state;
    open_two_generations(&store);
    assert_ok(parapet_restore_open(&restore, store, "c", 0));
    assert_ok(parapet_restore_get(restore, &item, 1));
    assert_int_equal(value, 2);
    assert_int_equal(pp_generation_get_health(store, "c", 2), PP_GENERATION_VERIFIES);
    assert_ok(pp_store_remove(store->backend, "c/g00000002/u/c/0"));
    assert_int_equal(parapet_restore_get(restore, &item, 1), PARAPET_ERR_MISSING);
    assert_int_equal(pp_generation_get_health(store, "c", 2), PP_GENERATION_DAMAGED);
    assert_ok(parapet_restore_close(&restore));
    stored_close(&store);
}

/* The newest, and what was stored in it; or an error of what has failed. Never an older one: that is for damage. */
static void restore_failing(failing *by, parapet_status expected)
{
    unsigned char value = 0;
    int64_t start = 0, count = 1;
    parapet_part part = {.ndim = 1, .start = &start, .count = &count, .data = &value};
    parapet_checkpoint_item item = {.name = "u", .parts = &part, .part_count = 1};
    parapet_restore *restore = NULL;
    parapet_status status = parapet_restore_open(&restore, by->store, "c", 0);
    if (status == PARAPET_OK)
        status = parapet_restore_get(restore, &item, 1);
    if (status == PARAPET_OK && value != 2)
        fail_msg("generation %d is restored when %s %ld fails", value, failing_words(by), by->at);
    if (status != PARAPET_OK && status != expected)
        fail_msg("%s %ld: %s", failing_words(by), by->at, parapet_error_message());
    (void)parapet_restore_close(&restore);
}

static void test_restore__takes_no_failure_for_damage(void **state)
{
    parapet_store *store;
    failing by;
    int i;
    (void)state;
    open_two_generations(&store);
    for (i = 0; i < 2; i++) {
        failing_open(&by, store->backend, i > 0);
        do {
            failing_begin(&by);
            restore_failing(&by, i > 0 ? PARAPET_ERR_MEMORY : PARAPET_ERR_IO);
        } while (failing_end(&by));
        failing_close(&by);
    }
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restore__lists_a_record_that_cannot_be_read),
        cmocka_unit_test(test_restore__what_is_gone_when_it_is_read_is_damage),
        cmocka_unit_test(test_restore__a_document_that_was_not_committed_is_damage),
        cmocka_unit_test(test_restore__a_document_that_cannot_be_read_but_was_committed_is_an_error),
        cmocka_unit_test(test_restore__what_is_missing_is_damage),
        cmocka_unit_test(test_restore__an_array_that_is_not_sealed_is_damage_though_it_was_committed),
        cmocka_unit_test(test_restore__an_array_in_place_of_the_group_is_damage),
        cmocka_unit_test(test_restore__takes_no_failure_for_damage),
        cmocka_unit_test(test_restore__seals_may_be_ignored),
        cmocka_unit_test(test_restore__says_if_none_verifies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
