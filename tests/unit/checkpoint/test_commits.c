/* Generations and their commit records: names, order, who is first, and what belongs to nobody. */
#include "support.h"

#include "base/memory.h"
#include "checkpoint/checkpoint.h"
#include "stored.h"

static void test_generation__a_name_is_parsed_as_it_was_printed(void **state)
{
    static const int64_t numbers[] = {1, 7, 99999999, 100000000, PP_COMMIT_LAST_GENERATION};
    static const int attempts[] = {0, 1, 12, 9999};
    size_t i, j;
    (void)state;
    for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        for (j = 0; j < sizeof attempts / sizeof attempts[0]; j++) {
            char name[PP_GENERATION_NAME_BYTES];
            int64_t number = 0;
            pp_generation_print(numbers[i], attempts[j], name);
            assert_true(pp_generation_parse(name, &number));
            assert_int_equal(number, numbers[i]);
            assert_int_equal(strchr(name, '-') != NULL, attempts[j] > 0);
        }
}

static void test_generation__other_names_are_none(void **state)
{
    static const char *const names[] = {
        "",
        "g",
        "g0000007",
        "g00000000",
        "h00000007",
        "00000007",
        "g0000000x",
        "g00000007x",
        "g00000007-1x",
        "g00000007--1",
        "g00000007-",
        "g00000007-0",
        "g00000007-01",
        "g0000000000000000007",
    };
    int64_t number;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        if (pp_generation_parse(names[i], &number))
            fail_msg("\"%s\" counts as generation %lld", names[i], (long long)number);
}

/* Commits a generation without arrays, whose directory is named after the attempt. */
static parapet_status commit(parapet_store *store, int64_t number, int attempt)
{
    pp_commit record = {.generation = number, .is_durable = true};
    char name[PP_GENERATION_NAME_BYTES];
    bool is_certain = false;
    parapet_status status;
    pp_generation_print(number, attempt, name);
    assert_ok(pp_text_duplicate(&record.group, name));
    status = pp_commit_publish(store, "c", &record, &is_certain);
    assert_true(is_certain);
    pp_commit_clear(&record);
    return status;
}

/* The group that the record names; "": there is no record. */
static void assert_committed(parapet_store *store, int64_t number, const char *group)
{
    pp_commit record;
    parapet_status status = pp_commit_load(store, "c", number, &record);
    if (*group == '\0') {
        assert_int_equal(status, PARAPET_ERR_NOT_FOUND);
    } else {
        assert_ok(status);
        assert_string_equal(record.group, group);
    }
    pp_commit_clear(&record);
}

static void test_commits__are_listed_newest_first(void **state)
{
    static const int64_t newest_first[] = {12345678901, 30, 4};
    parapet_store *store;
    int64_t *numbers;
    size_t count, i;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(pp_commits_list(store, "c", &numbers, &count));
    assert_int_equal(count, 0);
    pp_free(numbers);
    for (i = 3; i-- > 0;)
        assert_ok(commit(store, newest_first[i], 0));
    stored_put_text(store, "c/__parapet/commits/0000005", "too few digits");
    stored_put_text(store, "c/__parapet/commits/00000005.txt", "somebody's notes");
    assert_ok(pp_commits_list(store, "c", &numbers, &count));
    assert_int_equal(count, 3);
    assert_memory_equal(numbers, newest_first, sizeof newest_first);
    pp_free(numbers);
    stored_close(&store);
}

static void test_commits__the_first_with_a_number_wins(void **state)
{
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(commit(store, 7, 0));
    assert_fails(commit(store, 7, 1), PARAPET_ERR_EXISTS, "generation 7");
    assert_fails(commit(store, 6, 0), PARAPET_ERR_EXISTS, "generation 6 cannot be committed");
    assert_committed(store, 7, "g00000007");
    assert_committed(store, 6, "");
    assert_ok(commit(store, 8, 2));
    assert_committed(store, 8, "g00000008-2");
    stored_close(&store);
}

static void test_commits__a_dropped_generation_is_gone_and_may_be_dropped_again(void **state)
{
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(commit(store, 7, 0));
    stored_put_text(store, "c/g00000007/__parapet/claim", "");
    assert_ok(pp_generation_drop(store, "c", 7));
    assert_committed(store, 7, "");
    assert_false(stored_has(store, "c/g00000007/__parapet/claim"));
    assert_ok(pp_generation_drop(store, "c", 7));
    stored_close(&store);
}

/* Nobody may be led to another generation's directory, which would be removed with this one. */
static void test_commits__a_record_of_another_generation_is_refused(void **state)
{
    parapet_store *store;
    pp_commit record;
    size_t bytes;
    char *text;
    (void)state;
    stored_open(&store, NULL);
    assert_ok(commit(store, 7, 0));
    text = stored_get(store, "c/__parapet/commits/00000007", &bytes);
    stored_put(store, "c/__parapet/commits/00000009", text, bytes);
    assert_fails(pp_commit_load(store, "c", 9, &record), PARAPET_ERR_CORRUPT, "belongs to generation 7");
    pp_commit_clear(&record);
    text[bytes / 2] ^= 1;
    stored_put(store, "c/__parapet/commits/00000007", text, bytes);
    assert_fails(pp_commit_load(store, "c", 7, &record), PARAPET_ERR_CORRUPT, "00000007");
    pp_commit_clear(&record);
    pp_free(text);
    stored_close(&store);
}

static parapet_status note_stray(void *context, const char *group, int64_t number)
{
    pp_text_add(context, "%s=%lld ", group, (long long)number);
    return PARAPET_OK;
}

static void test_commits__only_reserved_directories_without_a_record_are_stray(void **state)
{
    parapet_store *store;
    pp_text found = {0};
    (void)state;
    stored_open(&store, NULL);
    assert_ok(commit(store, 7, 1));
    stored_put_text(store, "c/g00000007/__parapet/claim", "lost against g00000007-1");
    stored_put_text(store, "c/g00000007-1/__parapet/claim", "committed");
    stored_put_text(store, "c/g00000008/__parapet/claim", "never committed");
    stored_put_text(store, "c/g20261116/notes.txt", "named like a generation");
    stored_put_text(store, "c/data/__parapet/claim", "no generation");
    assert_ok(pp_generations_stray(store, "c", note_stray, &found));
    assert_ok(found.status);
    assert_string_equal(found.data, "g00000007=7 g00000008=8 ");
    pp_text_free(&found);
    assert_ok(pp_generation_check_free(store, "c/g00000008"));
    assert_ok(pp_generation_check_free(store, "c/g00000009"));
    assert_fails(pp_generation_check_free(store, "c/g20261116"), PARAPET_ERR_EXISTS, "c/g20261116");
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generation__a_name_is_parsed_as_it_was_printed),
        cmocka_unit_test(test_generation__other_names_are_none),
        cmocka_unit_test(test_commits__are_listed_newest_first),
        cmocka_unit_test(test_commits__the_first_with_a_number_wins),
        cmocka_unit_test(test_commits__a_dropped_generation_is_gone_and_may_be_dropped_again),
        cmocka_unit_test(test_commits__a_record_of_another_generation_is_refused),
        cmocka_unit_test(test_commits__only_reserved_directories_without_a_record_are_stray),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
