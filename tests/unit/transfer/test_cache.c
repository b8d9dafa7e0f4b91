#include "support.h"

#include <string.h>

#include "transfer/cache.h"

enum { LIMIT = 64 << 10, CHUNK = 1000 };

typedef struct bed {
    pp_budget budget;
    pp_cache *cache;
    unsigned char data[LIMIT];
} bed;

static bed used;

static void begin(size_t cache_bytes)
{
    pp_budget_init(&used.budget, LIMIT);
    assert_ok(pp_cache_build(&used.cache, &used.budget, cache_bytes));
}

static void end(void)
{
    pp_cache_free(used.cache);
    assert_int_equal(used.budget.lent_bytes, 0);
    pp_budget_clear(&used.budget);
}

static pp_cache_object object_of(int64_t array, int64_t shard, uint64_t version)
{
    return (pp_cache_object){.array = array, .shard = shard, .version = version};
}

static void put(const pp_cache_object *object, int64_t chunk, int value)
{
    memset(used.data, value, CHUNK);
    pp_cache_put(used.cache, object, chunk, used.data, CHUNK);
}

/* The value of every byte of the chunk; -1: it is not there. */
static int get(const pp_cache_object *object, int64_t chunk)
{
    size_t i;
    if (!pp_cache_get(used.cache, object, chunk, used.data, CHUNK))
        return -1;
    for (i = 0; i < CHUNK; i++)
        assert_int_equal(used.data[i], used.data[0]);
    return used.data[0];
}

static void test_cache__a_hit_needs_the_same_array_shard_chunk_version_and_length(void **state)
{
    pp_cache_object known = object_of(1, 2, 3), other;
    (void)state;
    begin(LIMIT);
    put(&known, 4, 7);
    assert_int_equal(get(&known, 4), 7);
    assert_int_equal(get(&known, 5), -1);
    other = object_of(2, 2, 3);
    assert_int_equal(get(&other, 4), -1);
    other = object_of(1, 3, 3);
    assert_int_equal(get(&other, 4), -1);
    other = object_of(1, 2, 4);
    assert_int_equal(get(&other, 4), -1);
    assert_false(pp_cache_get(used.cache, &known, 4, used.data, CHUNK - 1));
    end();
}

static void test_cache__an_unknown_version_is_never_found(void **state)
{
    pp_cache_object unknown = object_of(1, 2, 0);
    (void)state;
    begin(LIMIT);
    put(&unknown, 4, 7);
    assert_int_equal(get(&unknown, 4), -1);
    assert_int_equal(used.budget.lent_bytes, 0);
    end();
}

static void test_cache__a_newer_version_takes_the_place_of_an_older_one(void **state)
{
    pp_cache_object old = object_of(1, 2, 3), fresh = object_of(1, 2, 4);
    size_t lent;
    (void)state;
    begin(LIMIT);
    put(&old, 0, 1);
    lent = used.budget.lent_bytes;
    put(&fresh, 0, 2);
    assert_int_equal(used.budget.lent_bytes, lent);
    assert_int_equal(get(&old, 0), -1);
    assert_int_equal(get(&fresh, 0), 2);
    end();
}

static void test_cache__a_draft_is_found_when_it_is_published(void **state)
{
    pp_cache_object draft = {.array = 1, .shard = 2, .is_draft = true}, published = object_of(1, 2, 0);
    (void)state;
    begin(LIMIT);
    draft.version = published.version = pp_cache_draft(used.cache);
    put(&draft, 0, 9);
    put(&draft, PP_CACHE_INDEX, 8);
    assert_int_equal(get(&published, 0), -1);
    pp_cache_publish(used.cache, &draft, 77, 1);
    published.version = 77;
    assert_int_equal(get(&published, 0), 9);
    assert_int_equal(get(&published, PP_CACHE_INDEX), 8);
    assert_int_equal(get(&draft, 0), -1);
    end();
}

static void test_cache__a_draft_of_which_no_version_is_known_leaves(void **state)
{
    pp_cache_object draft = {.array = 1, .shard = 2, .is_draft = true};
    (void)state;
    begin(LIMIT);
    draft.version = pp_cache_draft(used.cache);
    put(&draft, 0, 9);
    pp_cache_publish(used.cache, &draft, 0, 1);
    assert_int_equal(used.budget.lent_bytes, 0);
    end();
}

static void test_cache__what_was_used_longest_ago_gives_way(void **state)
{
    pp_cache_object object = object_of(1, 2, 3);
    (void)state;
    begin(4 * CHUNK); /* three of them, with what is known of them */
    put(&object, 0, 10);
    put(&object, 1, 11);
    put(&object, 2, 12);
    assert_int_equal(get(&object, 0), 10);
    put(&object, 3, 13);
    assert_int_equal(get(&object, 0), 10);
    assert_int_equal(get(&object, 1), -1);
    assert_int_equal(get(&object, 3), 13);
    assert_true(used.budget.lent_bytes <= 4 * CHUNK);
    end();
}

static void test_cache__gives_way_to_what_is_reserved(void **state)
{
    pp_cache_object object = object_of(1, 2, 3);
    int64_t i;
    (void)state;
    begin(LIMIT);
    for (i = 0; i < 40; i++)
        put(&object, i, (int)i);
    assert_ok(pp_budget_reserve(&used.budget, LIMIT - 2 * CHUNK, "all but a little"));
    assert_int_equal(get(&object, 39), 39);
    assert_int_equal(get(&object, 0), -1);
    pp_budget_release(&used.budget, LIMIT - 2 * CHUNK);
    end();
}

/* What finds no room at all pushes nothing out. */
static void test_cache__what_cannot_enter_leaves_the_others(void **state)
{
    pp_cache_object object = object_of(1, 2, 3);
    size_t large = LIMIT / 2;
    (void)state;
    begin(LIMIT);
    put(&object, 0, 10);
    assert_ok(pp_budget_reserve(&used.budget, LIMIT - large, "half of it"));
    pp_cache_put(used.cache, &object, 1, used.data, large);
    assert_int_equal(get(&object, 0), 10);
    pp_budget_release(&used.budget, LIMIT - large);
    end();
}

static int refuse(void *context, size_t bytes)
{
    (void)context, (void)bytes;
    return 1;
}

static void test_cache__without_memory_nothing_is_kept(void **state)
{
    pp_cache_object object = object_of(1, 2, 3);
    long live;
    (void)state;
    begin(LIMIT);
    live = pp_memory_live_count();
    pp_memory_hook_set(refuse, NULL);
    put(&object, 0, 10);
    pp_memory_hook_set(NULL, NULL);
    assert_int_equal(pp_memory_live_count(), live);
    assert_int_equal(used.budget.lent_bytes, 0);
    assert_int_equal(get(&object, 0), -1);
    put(&object, 0, 10);
    assert_int_equal(get(&object, 0), 10);
    end();
}

static void test_cache__forgets_one_array(void **state)
{
    pp_cache_object one = object_of(1, 2, 3), other = object_of(2, 2, 3);
    (void)state;
    begin(LIMIT);
    put(&one, 0, 10);
    put(&other, 0, 11);
    put(&one, 1, 12);
    pp_cache_forget(used.cache, 1);
    assert_int_equal(get(&one, 0), -1);
    assert_int_equal(get(&one, 1), -1);
    assert_int_equal(get(&other, 0), 11);
    end();
}

static void test_cache__has_room_only_where_nothing_gives_way(void **state)
{
    pp_cache_object object = object_of(1, 2, 3);
    (void)state;
    begin(4 * CHUNK);
    assert_true(pp_cache_has_room(used.cache, CHUNK));
    assert_false(pp_cache_has_room(used.cache, 4 * CHUNK));
    put(&object, 0, 10);
    assert_false(pp_cache_has_room(used.cache, 3 * CHUNK));
    assert_ok(pp_budget_reserve(&used.budget, LIMIT - 2 * CHUNK, "nearly all"));
    assert_false(pp_cache_has_room(used.cache, CHUNK));
    pp_budget_release(&used.budget, LIMIT - 2 * CHUNK);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cache__a_hit_needs_the_same_array_shard_chunk_version_and_length),
        cmocka_unit_test(test_cache__an_unknown_version_is_never_found),
        cmocka_unit_test(test_cache__a_newer_version_takes_the_place_of_an_older_one),
        cmocka_unit_test(test_cache__a_draft_is_found_when_it_is_published),
        cmocka_unit_test(test_cache__a_draft_of_which_no_version_is_known_leaves),
        cmocka_unit_test(test_cache__what_was_used_longest_ago_gives_way),
        cmocka_unit_test(test_cache__gives_way_to_what_is_reserved),
        cmocka_unit_test(test_cache__what_cannot_enter_leaves_the_others),
        cmocka_unit_test(test_cache__without_memory_nothing_is_kept),
        cmocka_unit_test(test_cache__forgets_one_array),
        cmocka_unit_test(test_cache__has_room_only_where_nothing_gives_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
