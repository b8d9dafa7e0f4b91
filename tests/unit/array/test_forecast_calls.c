#include "support.h"

#include <parapet_plan.h>

#include "base/memory.h"
#include "scratch.h"

static int64_t shape[2] = {100, 77}, chunks[2] = {10, 10}, shards[2] = {30, 40}, mesh[2] = {3, 2};

static parapet_transfer_plan_request make_request(void)
{
    parapet_transfer_plan_request request = {.server = -1, .servers = 2};
    request.spec = (parapet_array_spec){
        .type = PARAPET_FLOAT64, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    request.distribution = (parapet_distribution){.ndim = 2, .mesh = mesh};
    request.owners = PARAPET_OWNERS_IN_TURN;
    return request;
}

static void test_plan__words_and_drawing_of_a_small_array(void **state)
{
    parapet_transfer_plan_request request = make_request();
    char *text = NULL, *svg = NULL;
    (void)state;
    assert_ok(parapet_transfer_plan_print(&request, &text, &svg));
    assert_non_null(strstr(text, "write of float64, 100 x 77"));
    assert_non_null(strstr(text, "6 as 3 x 2, spread block, block"));
    assert_true(strncmp(svg, "<svg ", 5) == 0 && strstr(svg, "</svg>") != NULL);
    parapet_free(text);
    parapet_free(svg);
    request.is_read = 1;
    request.server = 1;
    assert_ok(parapet_transfer_plan_print(&request, &text, NULL));
    assert_non_null(strstr(text, "server 1 on rank 3 owns 4 shards"));
    parapet_free(text);
    assert_int_equal(pp_memory_live_count(), 0);
}

static void test_plan__what_makes_no_sense_is_refused(void **state)
{
    parapet_transfer_plan_request request = make_request();
    int64_t other[2] = {100, 78};
    char nothing[1] = "", *text = nothing;
    (void)state;
    assert_fails(parapet_transfer_plan_print(NULL, &text, NULL), PARAPET_ERR_ARGUMENT, "needs a request");
    assert_fails(parapet_transfer_plan_print(&request, NULL, NULL), PARAPET_ERR_ARGUMENT, "pointer for the text");
    request.server = 2;
    assert_fails(parapet_transfer_plan_print(&request, &text, NULL), PARAPET_ERR_ARGUMENT, "no server 2");
    assert_null(text);
    request = make_request();
    request.distribution.shape = other;
    assert_fails(parapet_transfer_plan_print(&request, &text, NULL), PARAPET_ERR_ARGUMENT, "shape[1] is 77");
    request = make_request();
    request.distribution.ndim = 1;
    assert_fails(parapet_transfer_plan_print(&request, &text, NULL), PARAPET_ERR_ARGUMENT, "2 dimensions");
    request = make_request();
    request.reserved[3] = 1;
    assert_fails(parapet_transfer_plan_print(&request, &text, NULL), PARAPET_ERR_ARGUMENT, "reserved");
    request = make_request();
    request.owners = 9;
    assert_fails(parapet_transfer_plan_print(&request, &text, NULL), PARAPET_ERR_ARGUMENT, "owners");
    request = make_request();
    request.spec.type = PARAPET_VARIABLE;
    assert_int_not_equal(parapet_transfer_plan_print(&request, &text, NULL), PARAPET_OK);
    request = make_request();
    request.servers = -1;
    assert_fails(parapet_transfer_plan_print(&request, &text, NULL), PARAPET_ERR_ARGUMENT, "servers");
    assert_int_equal(pp_memory_live_count(), 0);
}

static void assert_refused(const parapet_transfer_plan_request *request, parapet_status status, const char *word)
{
    char *text = NULL;
    assert_fails(parapet_transfer_plan_print(request, &text, NULL), status, word);
    assert_null(text);
}

static void test_plan__fields_that_are_no_numbers_of_theirs_are_refused(void **state)
{
    parapet_transfer_plan_request request = make_request();
    (void)state;
    request.is_read = 2;
    assert_refused(&request, PARAPET_ERR_ARGUMENT, "is_read");
    request.is_read = 0;
    request.as_json = -1;
    assert_refused(&request, PARAPET_ERR_ARGUMENT, "as_json");
    request.as_json = 0;
    request.server = -2;
    assert_refused(&request, PARAPET_ERR_ARGUMENT, "no server -2");
    request.server = -1;
    request.spec.shape = NULL;
    request.distribution.shape = shape;
    assert_refused(&request, PARAPET_ERR_ARGUMENT, "no shape");
    request.spec.shape = shape;
    request.weights = "/there/is/no/such/file";
    assert_refused(&request, PARAPET_ERR_NOT_FOUND, "weights file");
    assert_int_equal(pp_memory_live_count(), 0);
}

/* Every way to own and to share, on one rank and on six, as words and as JSON: what is printed names it. */
static void test_plan__of_all_owners_is_printed(void **state)
{
    static int64_t alone[2] = {1, 1};
    static const struct {
        parapet_owners owners;
        parapet_sharing sharing;
        const char *words[2];
    } ways[] = {
        {PARAPET_OWNERS_IN_TURN, PARAPET_SHARING_EQUAL, {"in_turn", "equal"}},
        {PARAPET_OWNERS_NEAREST, PARAPET_SHARING_EQUAL, {"nearest", "equal"}},
        {PARAPET_OWNERS_CHOOSE, PARAPET_SHARING_CHOOSE, {"nearest", "equal"}},
        {PARAPET_OWNERS_CHOOSE, PARAPET_SHARING_STEALING, {"nearest", "stealing"}},
        {PARAPET_OWNERS_CHOOSE, PARAPET_SHARING_WEIGHTS, {"in_turn", "weights"}},
    };
    size_t way;
    int i;
    (void)state;
    for (way = 0; way < sizeof ways / sizeof ways[0]; way++)
        for (i = 0; i < 16; i++) {
            parapet_transfer_plan_request request = make_request();
            char *text = NULL, *svg = NULL;
            request.owners = ways[way].owners;
            request.sharing = ways[way].sharing;
            request.is_read = i % 2;
            request.as_json = i / 2 % 2;
            request.server = i / 4 % 2 - 1;
            request.distribution.mesh = i / 8 ? alone : mesh;
            request.servers = i / 8 ? 0 : 2;
            request.spec.codec = i % 3 ? "zstd:3" : "none";
            request.spec.no_checksum = 1;
            assert_ok(parapet_transfer_plan_print(&request, &text, &svg));
            if (request.server < 0 &&
                (strstr(text, ways[way].words[0]) == NULL || strstr(text, ways[way].words[1]) == NULL))
                fail_msg("%s", text);
            parapet_free(text);
            parapet_free(svg);
        }
    assert_int_equal(pp_memory_live_count(), 0);
}

/* Every allocation fails in turn: an error each time, and nothing is left behind. */
static void check_allocations(const parapet_transfer_plan_request *request)
{
    refusal by = {0};
    for (;; by.at++) {
        char *text = NULL, *svg = NULL;
        parapet_status status;
        by.count = 0;
        pp_memory_hook_set(refuse_one, &by);
        status = parapet_transfer_plan_print(request, &text, &svg);
        pp_memory_hook_set(NULL, NULL);
        if (by.count <= by.at) {
            assert_ok(status);
            parapet_free(text);
            parapet_free(svg);
            break;
        }
        assert_int_equal(status, PARAPET_ERR_MEMORY);
        assert_true(text == NULL && svg == NULL);
        assert_int_equal(pp_memory_live_count(), 0);
    }
    assert_true(by.at > 20);
}

static void test_plan__every_failed_allocation_is_reported_and_leaves_nothing(void **state)
{
    parapet_transfer_plan_request request = make_request();
    (void)state;
    check_allocations(&request);
    request.owners = PARAPET_OWNERS_NEAREST;
    request.server = 0;
    check_allocations(&request);
    request.sharing = PARAPET_SHARING_STEALING;
    check_allocations(&request);
    request.as_json = 1;
    check_allocations(&request);
    assert_int_equal(pp_memory_live_count(), 0);
}

/* A million shards of one element on one server. */
static void test_plan__of_more_shards_than_memory_can_list_is_refused(void **state)
{
    int64_t many[1] = {1000000}, one[1] = {1}, ranks[1] = {1};
    parapet_transfer_plan_request request = {.server = -1, .servers = 1, .memory_bytes = 1 << 20};
    (void)state;
    request.spec = (parapet_array_spec){
        .type = PARAPET_INT32, .ndim = 1, .shape = many, .chunks = one, .shards = one, .codec = "none"};
    request.distribution = (parapet_distribution){.ndim = 1, .mesh = ranks};
    request.owners = PARAPET_OWNERS_IN_TURN;
    assert_refused(&request, PARAPET_ERR_MEMORY, "more than the memory_bytes of 1048576");
}

/* Speeds that are given: of servers that are alike, and of one that is three times as fast. */
static void test_plan__of_given_speeds_is_printed(void **state)
{
    static const char *const texts[] = {
        "parapet weights 1\nservers 2\nserver 0 writing 100 reading 100\nserver 1 writing 100 reading 100\nend\n",
        "parapet weights 1\nservers 2\nserver 0 writing 100 reading 300\nserver 1 writing 300 reading 100\nend\n",
    };
    scratch place = scratch_make(SCRATCH_MEMORY);
    int i;
    (void)state;
    for (i = 0; i < 16; i++) {
        parapet_transfer_plan_request request = make_request();
        FILE *file = fopen(place.root, "w");
        char *text = NULL;
        assert_non_null(file);
        assert_true(fputs(texts[i % 2], file) >= 0 && fclose(file) == 0);
        request.weights = place.root;
        request.is_read = i / 2 % 2;
        request.server = i / 4 % 2 - 1;
        request.owners = PARAPET_OWNERS_CHOOSE;
        request.sharing = i / 8 ? PARAPET_SHARING_WEIGHTS : PARAPET_SHARING_EQUAL;
        assert_ok(parapet_transfer_plan_print(&request, &text, NULL));
        assert_true(strlen(text) > 100);
        parapet_free(text);
        if (i >= 8)
            check_allocations(&request);
        request.servers = 3;
        assert_refused(&request, PARAPET_ERR_ARGUMENT, "weights file");
    }
    scratch_remove(&place);
}

static void test_distribution__without_dimensions_has_one_box_of_one_element(void **state)
{
    parapet_distribution distribution = {0};
    int64_t count = -1, start = -1;
    (void)state;
    assert_ok(parapet_distribution_count(&distribution, 0, &count));
    assert_int_equal(count, 1);
    assert_ok(parapet_distribution_box(&distribution, 0, 0, NULL, NULL));
    assert_fails(parapet_distribution_box(&distribution, 1, 0, NULL, NULL), PARAPET_ERR_ARGUMENT, "rank 1");
    assert_fails(parapet_distribution_count(&distribution, 0, NULL), PARAPET_ERR_ARGUMENT, "pointer");
    assert_fails(parapet_distribution_box(NULL, 0, 0, &start, &count), PARAPET_ERR_ARGUMENT, "needs a distribution");
    distribution = (parapet_distribution){.ndim = 1, .shape = (int64_t[]){8}, .mesh = (int64_t[]){2}};
    assert_fails(parapet_distribution_box(&distribution, 0, 0, NULL, &count), PARAPET_ERR_ARGUMENT,
                 "start and count");
    assert_fails(parapet_distribution_box(&distribution, 0, 0, &start, NULL), PARAPET_ERR_ARGUMENT,
                 "start and count");
    assert_fails(parapet_distribution_box(&distribution, -1, 0, &start, &count), PARAPET_ERR_ARGUMENT, "rank -1");
    assert_fails(parapet_distribution_box(&distribution, 0, -1, &start, &count), PARAPET_ERR_ARGUMENT, "no box -1");
    assert_ok(parapet_distribution_box(&distribution, 1, 0, &start, &count));
    assert_true(start == 4 && count == 4);
}

static void test_distribution__public_functions_give_boxes_and_refuse_the_rest(void **state)
{
    parapet_spread spread[2] = {PARAPET_BLOCK, PARAPET_CYCLIC};
    int64_t block[2] = {0, 5}, start[2], count[2], boxes = -1;
    parapet_distribution given = {.ndim = 2, .shape = shape, .mesh = mesh, .spread = spread, .block = block};
    (void)state;
    assert_ok(parapet_distribution_count(&given, 3, &boxes));
    assert_int_equal(boxes, 8);
    assert_ok(parapet_distribution_box(&given, 3, 7, start, count));
    assert_true(start[0] == 34 && count[0] == 34 && start[1] == 75 && count[1] == 2);
    assert_fails(parapet_distribution_box(&given, 3, 8, start, count), PARAPET_ERR_ARGUMENT, "has 8 boxes");
    assert_fails(parapet_distribution_box(&given, 3, -1, start, count), PARAPET_ERR_ARGUMENT, "has 8 boxes");
    assert_fails(parapet_distribution_count(&given, 6, &boxes), PARAPET_ERR_ARGUMENT, "rank 6");
    assert_fails(parapet_distribution_count(&given, -1, &boxes), PARAPET_ERR_ARGUMENT, "rank -1");
    assert_fails(parapet_distribution_count(NULL, 0, &boxes), PARAPET_ERR_ARGUMENT, "needs a distribution");
    given.reserved[0] = 1;
    assert_fails(parapet_distribution_count(&given, 0, &boxes), PARAPET_ERR_ARGUMENT, "reserved");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan__words_and_drawing_of_a_small_array),
        cmocka_unit_test(test_plan__what_makes_no_sense_is_refused),
        cmocka_unit_test(test_plan__every_failed_allocation_is_reported_and_leaves_nothing),
        cmocka_unit_test(test_distribution__without_dimensions_has_one_box_of_one_element),
        cmocka_unit_test(test_plan__fields_that_are_no_numbers_of_theirs_are_refused),
        cmocka_unit_test(test_plan__of_all_owners_is_printed),
        cmocka_unit_test(test_plan__of_more_shards_than_memory_can_list_is_refused),
        cmocka_unit_test(test_plan__of_given_speeds_is_printed),
        cmocka_unit_test(test_distribution__public_functions_give_boxes_and_refuse_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
