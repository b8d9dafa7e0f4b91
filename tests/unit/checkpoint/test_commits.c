/* Generations and their commit records: names, order, who is first, and what belongs to nobody. */
#include "support.h"

#include "array/open.h"
#include "base/memory.h"
#include "checkpoint/commits.h"
#include "stored.h"
#include "stores/faulty.h"

#define TEMPORARY ".parapet-0123456789abcdef0123456789abcdef.tmp"

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
    stored_put_text(store, "c/__parapet/commits/00000006/notes", "somebody's directory");
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
    stored_put_text(store, "c/g00000009/__parapet/notes", "not reserved, and not empty");
    stored_put_text(store, "c/g00000010/" TEMPORARY, "");
    stored_put_text(store, "c/g00000010/notes.txt", "");
    assert_ok(pp_generations_stray(store, "c", note_stray, &found));
    assert_ok(found.status);
    assert_string_equal(found.data, "g00000007=7 g00000008=8 ");
    pp_text_free(&found);
    assert_ok(pp_generation_check_free(store, "c/g00000008"));
    assert_ok(pp_generation_check_free(store, "c/g00000011"));
    assert_fails(pp_generation_check_free(store, "c/g00000010"), PARAPET_ERR_EXISTS, "c/g00000010");
    assert_fails(pp_generation_check_free(store, "c/g20261116"), PARAPET_ERR_EXISTS, "c/g20261116");
    stored_close(&store);
}

/* ---- a publication whose answer is not what became of it ---- */

/* The store over another one that fails as the plan says. */
static void open_over(parapet_store **store, pp_store *inner, pp_store **faulty, pp_fault_plan *plan)
{
    *plan = (pp_fault_plan){.fail_at = -1};
    assert_ok(pp_store_faulty_build(faulty, inner, plan));
    assert_ok(pp_store_open_over(store, MPI_COMM_NULL, *faulty, PARAPET_UPDATE, NULL));
}

/* What one publication of generation 7 does when an operation of it fails in that manner. */
typedef struct published {
    parapet_status status;
    bool is_certain, is_there, is_reached;
    char sentence[200];
} published;

static published publish_with(pp_fault_plan manner)
{
    pp_commit record = {.generation = 7, .is_durable = true}, found;
    pp_store *inner, *faulty;
    pp_fault_plan plan;
    parapet_store *store;
    published result = {0};
    assert_ok(pp_store_memory_build(&inner, NULL));
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, inner, PARAPET_CREATE, NULL));
    assert_ok(parapet_store_close(&store));
    open_over(&store, inner, &faulty, &plan);
    assert_ok(pp_text_duplicate(&record.group, "g00000007"));
    plan = manner;
    result.status = pp_commit_publish(store, "c", &record, &result.is_certain);
    (void)snprintf(result.sentence, sizeof result.sentence, "%s", pp_failure_message());
    result.is_reached = plan.failures > 0;
    plan = (pp_fault_plan){.fail_at = -1};
    result.is_there = pp_commit_load(store, "c", 7, &found) == PARAPET_OK;
    pp_commit_clear(&found);
    pp_commit_clear(&record);
    assert_ok(parapet_store_close(&store));
    pp_store_free(faulty);
    pp_store_free(inner);
    return result;
}

/* OK: it is there. Anything else, and certain: it is not. Whatever fails, and whether or not it had its effect. */
static void test_commits__a_publication_that_fails_is_undone_or_uncertain(void **state)
{
    static const pp_fault_plan manners[] = {{.status = PARAPET_ERR_IO},
                                            {.status = PARAPET_ERR_IO, .fail_after = true},
                                            {.status = PARAPET_ERR_NO_SPACE, .fail_forever = true},
                                            {.status = PARAPET_ERR_IO, .fail_forever = true, .fail_after = true}};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof manners / sizeof manners[0]; i++) {
        pp_fault_plan plan = manners[i];
        published result = {.is_reached = true};
        for (plan.fail_at = 0; result.is_reached; plan.fail_at++) {
            result = publish_with(plan);
            if (result.status == PARAPET_OK ? !result.is_there : result.is_certain && result.is_there)
                fail_msg("manner %zu, operation %ld: %s, %s, %s", i, plan.fail_at, parapet_status_name(result.status),
                         result.is_certain ? "certain" : "uncertain", result.is_there ? "there" : "not there");
            assert_true(result.is_reached || result.status == PARAPET_OK);
        }
        assert_true(plan.fail_at > 5);
    }
}

/* Over a network a request may be sent twice, and the second finds what the first has made: that is no other job. */
static void test_commits__a_publication_that_meets_itself_is_done(void **state)
{
    pp_fault_plan plan = {.status = PARAPET_ERR_EXISTS};
    published result = {.is_reached = true};
    int done = 0, refused = 0, after;
    (void)state;
    for (after = 0; after < 2; after++, result.is_reached = true)
        for (plan.fail_after = after != 0, plan.fail_at = 0; result.is_reached; plan.fail_at++) {
            result = publish_with(plan);
            done += result.is_reached && result.status == PARAPET_OK && result.is_there;
            refused += strstr(result.sentence, "another job has committed generation 7") != NULL && !result.is_there;
        }
    assert_true(done > 0);
    assert_true(refused > 0);
}

static void test_commits__a_record_leads_only_to_its_own_directory(void **state)
{
    static const char *const groups[] = {"g00000008", "g7", "../c", "elsewhere"};
    parapet_store *store;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        pp_commit record = {.generation = 7, .is_durable = true}, found;
        pp_text text = {0};
        stored_open(&store, NULL);
        assert_ok(pp_text_duplicate(&record.group, groups[i]));
        pp_commit_print(&record, &text);
        assert_ok(text.status);
        stored_put(store, "c/__parapet/commits/00000007", text.data, text.bytes);
        assert_int_equal(pp_commit_load(store, "c", 7, &found), PARAPET_ERR_CORRUPT);
        pp_commit_clear(&found);
        pp_commit_clear(&record);
        pp_text_free(&text);
        stored_close(&store);
    }
}

/* What has a document that cannot be read is not ours to judge: it stays, and the rest goes. */
static void test_commits__what_cannot_be_read_in_a_directory_stays(void **state)
{
    static const char *const documents[] = {
        "{",
        "{}",
        "{\"zarr_format\":4,\"node_type\":\"array\"}",
        "{\"zarr_format\":3,\"node_type\":\"table\"}",
        "{\"zarr_format\":3,\"node_type\":\"array\"}",
        "{\"zarr_format\":3,\"node_type\":\"group\",\"x\":{\"must_understand\":true}}"};
    parapet_store *store;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        parapet_status status;
        stored_open(&store, NULL);
        stored_put_text(store, "c/g00000007/__parapet/claim", "");
        stored_put_text(store, "c/g00000007/u/zarr.json", documents[i]);
        stored_put_text(store, "c/g00000007/u/c/0", "a shard");
        status = pp_generation_erase(store, "c", "g00000007");
        if (status != PARAPET_OK)
            fail_msg("%s: %s: %s", documents[i], parapet_status_name(status), pp_failure_message());
        assert_true(stored_has(store, "c/g00000007/u/zarr.json"));
        assert_true(stored_has(store, "c/g00000007/u/c/0"));
        assert_false(stored_has(store, "c/g00000007/__parapet/claim"));
        stored_close(&store);
    }
}

/* Temporary objects go with a generation, what others have put there stays; and it may be gone already. */
static void test_commits__erasing_takes_temporary_objects(void **state)
{
    parapet_store *store;
    (void)state;
    stored_open(&store, NULL);
    stored_put_text(store, "c/g00000007/__parapet/claim", "");
    stored_put_text(store, "c/g00000007/" TEMPORARY, "of the document of the group");
    stored_put_text(store, "c/g00000007/notes.txt", "somebody's notes");
    stored_put_text(store, "c/g00000007/notes/page", "and more of them");
    assert_ok(pp_generation_erase(store, "c", "g00000007"));
    assert_false(stored_has(store, "c/g00000007/__parapet/claim"));
    assert_false(stored_has(store, "c/g00000007/" TEMPORARY));
    assert_true(stored_has(store, "c/g00000007/notes.txt"));
    assert_true(stored_has(store, "c/g00000007/notes/page"));
    assert_ok(pp_generation_erase(store, "c", "g00000008"));
    stored_close(&store);
}

/* Of very many, all are listed. */
static void test_commits__hundreds_are_listed(void **state)
{
    parapet_store *store;
    int64_t *numbers, i;
    size_t count;
    (void)state;
    stored_open(&store, NULL);
    for (i = 1; i <= 100; i++)
        assert_ok(commit(store, i, 0));
    assert_ok(pp_commits_list(store, "c", &numbers, &count));
    assert_int_equal(count, 100);
    for (i = 0; i < 100; i++)
        assert_int_equal(numbers[i], 100 - i);
    pp_free(numbers);
    stored_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commits__a_publication_that_fails_is_undone_or_uncertain),
        cmocka_unit_test(test_commits__a_publication_that_meets_itself_is_done),
        cmocka_unit_test(test_commits__a_record_leads_only_to_its_own_directory),
        cmocka_unit_test(test_commits__what_cannot_be_read_in_a_directory_stays),
        cmocka_unit_test(test_commits__erasing_takes_temporary_objects),
        cmocka_unit_test(test_commits__hundreds_are_listed),
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
