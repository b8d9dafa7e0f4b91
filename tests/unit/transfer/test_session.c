/* What a rank serves: alone what it holds, and when it trims the shards at the edge of the array. */
#include "support.h"

#include "laid_out.h"
#include "transfer/session.h"

/* A 7 x 10 array in shards of 4 x 6: the second row and the second column of shards overhang it. */
static const char overhanging[] = "\"shape\":[7,10],\"data_type\":\"int16\",\"fill_value\":0,"
                                  "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[4,6]}},"
                                  "\"codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]";

typedef struct scene {
    laid_out made;
    pp_budget budget;
    pp_store store; /* nothing is asked of it, but where it is */
    pp_transfer_context context;
    pp_transfer_array array;
} scene;

static void scene_init(scene *of)
{
    laid_out_init(&of->made, overhanging);
    pp_budget_init(&of->budget, 1 << 20);
    of->store = (pp_store){.is_in_memory = false};
    of->context = (pp_transfer_context){.store = &of->store, .layout = &of->made.layout, .budget = &of->budget};
    of->array = (pp_transfer_array){.context = &of->context};
}

static void scene_clear(scene *of)
{
    assert_int_equal(pp_budget_used(&of->budget), 0);
    laid_out_clear(&of->made);
}

/* The numbers of the shards that are served, as digits. */
static const char *served_shards(const pp_session *session)
{
    static char digits[8];
    const pp_worklist *list = &pp_session_served(session)->list;
    size_t i;
    assert_true(list->count < sizeof digits);
    for (i = 0; i < list->count; i++)
        digits[i] = (char)('0' + list->work[i].shard);
    digits[list->count] = '\0';
    return digits;
}

static void assert_trims(const bool *is_shrunk, const char *shards)
{
    pp_session session;
    pp_box box = {.ndim = 2, .count = {7, 10}}, common;
    scene of;
    size_t i;
    scene_init(&of);
    assert_ok(pp_session_build_trim(&session, &of.array, is_shrunk));
    assert_string_equal(served_shards(&session), shards);
    for (i = 0; i < pp_session_served(&session)->list.count; i++)
        assert_false(pp_view_intersect(pp_session_served(&session), i, &box, &common));
    assert_true(session.is_alone);
    assert_int_equal(pp_session_shard_count(&session), strlen(shards));
    assert_int_equal(pp_session_rank_most(&session), 0);
    assert_false(pp_session_has_remote(&session));
    assert_false(pp_session_uses_direct(&session));
    pp_session_clear(&session);
    scene_clear(&of);
}

static void test_session__trimming_serves_the_edge_and_claims_nothing(void **state)
{
    (void)state;
    assert_trims((const bool[]){true, false}, "23");
    assert_trims((const bool[]){false, true}, "13");
    assert_trims((const bool[]){true, true}, "123");
    assert_trims((const bool[]){false, false}, "");
}

static void test_session__trimming_without_memory_takes_nothing(void **state)
{
    pp_session session;
    scene of;
    (void)state;
    scene_init(&of);
    pp_budget_init(&of.budget, 16);
    assert_fails(pp_session_build_trim(&session, &of.array, (const bool[]){true, true}), PARAPET_ERR_MEMORY, "");
    pp_session_clear(&session);
    scene_clear(&of);
}

static void test_session__alone_a_rank_serves_what_it_holds(void **state)
{
    static const int servers[1] = {0};
    int16_t data[4] = {0};
    int64_t start[2] = {3, 0}, count[2] = {2, 2};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = data};
    pp_box box = {.ndim = 2, .start = {4, 0}, .count = {3, 6}}, common;
    pp_parts parts;
    pp_session session;
    pp_team team = {.servers = servers, .server_count = 1, .fragment_bytes = 4096};
    scene of;
    (void)state;
    scene_init(&of);
    assert_ok(pp_comm_build_alone(&team.comm));
    assert_ok(pp_parts_init(&parts, &part, 1, &of.made.layout, PARAPET_INT16));
    of.array.parts = &parts;
    assert_ok(pp_session_build(&session, PP_READING, &team, &of.array, 1));
    assert_string_equal(served_shards(&session), "02");
    assert_true(pp_view_intersect(pp_session_served(&session), 1, &box, &common));
    assert_int_equal(common.start[0], 4);
    assert_int_equal(common.count[0], 1);
    assert_int_equal(common.count[1], 2);
    assert_int_equal(pp_session_rank_most(&session), 0);
    pp_session_clear(&session);
    pp_comm_free(team.comm);
    scene_clear(&of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session__trimming_serves_the_edge_and_claims_nothing),
        cmocka_unit_test(test_session__trimming_without_memory_takes_nothing),
        cmocka_unit_test(test_session__alone_a_rank_serves_what_it_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
