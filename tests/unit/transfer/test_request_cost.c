/* What a request costs: noted once, forced by the option, measured with any object, and told in words. */
#include "support.h"

#include "hand_clock.h"
#include "plan/stretch.h"
#include "scratch.h"
#include "stores/faulty.h"
#include "transfer/request_cost.h"

static void test_request_cost__of_an_ordinary_disk_is_assumed_first(void **state)
{
    pp_request_cost cost = {0};
    (void)state;
    assert_false(pp_request_cost_is_known(&cost));
    assert_int_equal(pp_request_cost_gap(&cost), 60000);
    assert_int_equal(pp_request_cost_gap(NULL), 60000);
    assert_true(pp_request_cost_pays_ahead(&cost));
}

static void test_request_cost__the_first_measurement_stays(void **state)
{
    pp_request_cost cost = {0};
    (void)state;
    pp_request_cost_note(&cost, 0.0 - 1, 1e-3, 1e9);
    pp_request_cost_note(&cost, 1e-3, 0.0 - 1, 1e9);
    pp_request_cost_note(&cost, 1e-3, 1e-3, 0);
    assert_false(pp_request_cost_is_known(&cost));
    pp_request_cost_note(&cost, 2e-6, 2e-6, 4e9);
    pp_request_cost_note(&cost, 1, 1, 1e9);
    assert_true(pp_request_cost_is_known(&cost));
    assert_int_equal(pp_request_cost_gap(&cost), 8000);
    assert_false(pp_request_cost_pays_ahead(&cost));
}

static void test_request_cost__the_option_leaves_no_choice(void **state)
{
    pp_request_cost cost = {.reads_holes = true};
    (void)state;
    assert_true(pp_request_cost_gap(&cost) == SIZE_MAX);
    cost = (pp_request_cost){.skips_holes = true};
    assert_int_equal(pp_request_cost_gap(&cost), 0);
}

static unsigned char data[PP_COST_STRETCH_BYTES], buffer[PP_COST_STRETCH_BYTES];

static void put_object(pp_store *store)
{
    pp_budget budget;
    pp_budget_init(&budget, 64 << 20);
    assert_ok(pp_store_write_all(
        store, &(pp_write_request){.key = "object", .staging = "tmp", .budget = &budget, .is_small = true}, data,
        sizeof data, PP_PUBLISH_REPLACE));
}

static void test_request_cost__is_measured_if_there_is_a_choice_and_enough_to_measure_with(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_store *store = scratch_store(&made, PP_DIRECT_IO_NEVER);
    pp_request_cost cost = {0}, forced = {.skips_holes = true};
    pp_cost_stretch stretch = {.bytes = sizeof data - 1, .buffer = buffer};
    pp_cost_spent spent;
    (void)state;
    put_object(store);
    assert_ok(pp_store_open_object(store, "object", &stretch.reader));
    assert_int_equal(pp_request_cost_measure(&cost, &stretch).requests, 0);
    assert_false(pp_request_cost_is_known(&cost));
    stretch.bytes = sizeof data;
    assert_int_equal(pp_request_cost_measure(&forced, &stretch).requests, 0);
    assert_false(pp_request_cost_is_known(&forced));
    spent = pp_request_cost_measure(&cost, &stretch);
    assert_int_equal(spent.requests, 16 + 3);
    assert_int_equal(spent.bytes, 16 * PP_COST_PIECE_BYTES + 3 * (size_t)21 * PP_PAGE_BYTES); /* of 64 pages */
    assert_true(pp_request_cost_is_known(&cost));
    assert_true(pp_request_cost_gap(&cost) >= PP_PAGE_BYTES);
    pp_reader_free(stretch.reader);
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_request_cost__stays_unknown_if_what_is_read_to_measure_it_cannot_be_read(void **state)
{
    scratch made = scratch_make(SCRATCH_HERE);
    pp_fault_plan plan = {.fail_at = -1};
    pp_request_cost cost = {0};
    pp_cost_stretch stretch = {.bytes = sizeof data, .buffer = buffer};
    pp_store *inner = scratch_store(&made, PP_DIRECT_IO_NEVER), *store = NULL;
    (void)state;
    assert_ok(pp_store_faulty_build(&store, inner, &plan));
    put_object(store);
    assert_ok(pp_store_open_object(store, "object", &stretch.reader));
    plan.fail_at = plan.operations + 17;
    assert_int_equal(pp_request_cost_measure(&cost, &stretch).requests, 17);
    assert_int_equal(plan.failures, 1);
    assert_false(pp_request_cost_is_known(&cost));
    assert_int_equal(pp_request_cost_measure(&cost, &stretch).requests, 19);
    assert_true(pp_request_cost_is_known(&cost));
    pp_reader_free(stretch.reader);
    pp_store_free(store);
    pp_store_free(inner);
    scratch_remove(&made);
}

/* Storage that begins to look for what it is told of, and lets everybody else wait; bytes come at a rate. */
#define WAIT_NS 20000000
#define BYTE_NS 4 /* 250 MB/s */
#define TOLD_MOST 64

typedef struct distant_reader {
    pp_reader head;
    uint64_t told[TOLD_MOST];
    int told_count;
} distant_reader;

static parapet_status distant_read(pp_reader *reader, uint64_t offset, size_t bytes, void *target)
{
    const distant_reader *self = (const distant_reader *)reader;
    bool is_told = false;
    int i;
    (void)target;
    for (i = 0; i < self->told_count; i++)
        is_told = is_told || self->told[i] == offset;
    hand_clock_move((is_told ? 0 : WAIT_NS) + (int64_t)bytes * BYTE_NS);
    return PARAPET_OK;
}

static void distant_expect(pp_reader *reader, uint64_t offset, size_t bytes)
{
    distant_reader *self = (distant_reader *)reader;
    (void)bytes;
    assert_true(self->told_count < TOLD_MOST);
    self->told[self->told_count++] = offset;
}

/* Up to what is lost in numbers of seconds. */
static void assert_close(int64_t value, int64_t expected)
{
    assert_true(value >= expected - expected / 100000 && value <= expected + expected / 100000);
}

static void test_request_cost__is_that_of_requests_that_storage_is_told_of_ahead(void **state)
{
    static const pp_store_ops ops = {.read = distant_read, .expect = distant_expect};
    pp_store store = {.ops = &ops};
    distant_reader reader = {.head = {.store = &store, .bytes = sizeof data}};
    pp_request_cost cost = {0};
    (void)state;
    hand_clock_take(false);
    (void)pp_request_cost_measure(&cost,
                                  &(pp_cost_stretch){.reader = &reader.head, .bytes = sizeof data, .buffer = buffer});
    hand_clock_drop();
    assert_true(pp_request_cost_is_known(&cost));
    assert_close(atomic_load(&cost.bytes_per_second), PP_SECOND_NS / BYTE_NS);
    assert_close(atomic_load(&cost.alone_ns), WAIT_NS);
    assert_close(atomic_load(&cost.request_ns),
                 (WAIT_NS + (int64_t)PP_COST_PIECE_BYTES * BYTE_NS) / PP_REQUESTS_AHEAD);
    assert_true(pp_request_cost_pays_ahead(&cost));
}

static void test_request_cost__telling_ahead_pays_where_a_request_alone_takes_long(void **state)
{
    pp_request_cost cost = {0};
    (void)state;
    pp_request_cost_note(&cost, 9e-6, 90e-6, 1e9);
    assert_int_equal(pp_request_cost_gap(&cost), 9000);
    assert_true(pp_request_cost_pays_ahead(&cost));
}

/* Files are read in pages, so that less is never skipped: a column of rows of 2 KiB was read one row at a time, page
 * by page, where the system had read ahead of what was measured, and requests seemed to cost nothing. */
static void test_request_cost__what_saves_no_page_is_not_skipped(void **state)
{
    pp_request_cost cost = {0};
    (void)state;
    pp_request_cost_note(&cost, 2e-6, 2e-6, 4e8);
    assert_int_equal(pp_request_cost_gap(&cost), PP_PAGE_BYTES);
}

static void test_request_cost__is_told_in_words(void **state)
{
    pp_request_cost cost = {0};
    pp_text text = {0};
    char *told = NULL;
    (void)state;
    pp_request_cost_note(&cost, 85e-6, 85e-6, 1e9);
    pp_request_cost_print(&cost, &text);
    assert_ok(pp_text_finish(&text, &told));
    assert_string_equal(told,
                        "a request takes 85.0 us, bytes 1000 MB/s (measured): holes of up to 85000 bytes are read");
    pp_free(told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request_cost__of_an_ordinary_disk_is_assumed_first),
        cmocka_unit_test(test_request_cost__the_first_measurement_stays),
        cmocka_unit_test(test_request_cost__the_option_leaves_no_choice),
        cmocka_unit_test(test_request_cost__is_measured_if_there_is_a_choice_and_enough_to_measure_with),
        cmocka_unit_test(test_request_cost__stays_unknown_if_what_is_read_to_measure_it_cannot_be_read),
        cmocka_unit_test(test_request_cost__is_that_of_requests_that_storage_is_told_of_ahead),
        cmocka_unit_test(test_request_cost__what_saves_no_page_is_not_skipped),
        cmocka_unit_test(test_request_cost__telling_ahead_pays_where_a_request_alone_takes_long),
        cmocka_unit_test(test_request_cost__is_told_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
