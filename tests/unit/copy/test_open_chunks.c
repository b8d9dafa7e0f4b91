/* Open chunks: which chunk has which buffer, and who waits for one. */
#include "support.h"

#include "base/memory.h"
#include "copy/open_chunks.h"
#include "laid_out.h"

#define FILL 7
#define BUDGET ((size_t)1 << 20)

/* 5 x 5 elements in chunks of 2 x 2: chunks of the last row and column reach beyond the array. */
static const char *const document = "\"shape\":[5,5],\"data_type\":\"uint8\",\"fill_value\":7,"
                                    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[2,2]}},"
                                    "\"codecs\":[{\"name\":\"bytes\"}]";

typedef struct bed {
    laid_out made;
    pp_budget budget;
    pp_transfer_context context;
    pp_open_chunks chunks;
} bed;

static void bed_open(bed *used, int64_t buffers, int64_t template_chunks)
{
    laid_out_init(&used->made, document);
    pp_budget_init(&used->budget, BUDGET);
    used->context = (pp_transfer_context){.layout = &used->made.layout, .budget = &used->budget};
    assert_ok(pp_open_chunks_init(&used->chunks, &used->context, buffers, template_chunks));
}

static void bed_close(bed *used)
{
    pp_open_chunks_free(&used->chunks);
    assert_int_equal(pp_budget_available(&used->budget), BUDGET);
    laid_out_clear(&used->made);
}

static void begin(bed *used, const int64_t *start, const int64_t *count)
{
    pp_box box;
    assert_ok(pp_box_init(&box, 2, start, count));
    pp_open_chunks_begin(&used->chunks, &box);
}

static void test_open_chunks__are_numbered_in_the_template(void **state)
{
    int64_t chunk, cell[2];
    bed used;
    (void)state;
    bed_open(&used, 4, 4);
    begin(&used, (int64_t[]){2, 0}, (int64_t[]){3, 4});
    for (chunk = 0; chunk < 4; chunk++) {
        pp_open_chunks_cell(&used.chunks, chunk, cell);
        assert_int_equal(cell[0], 1 + chunk / 2);
        assert_int_equal(cell[1], chunk % 2);
        assert_true(pp_open_chunks_open(&used.chunks, cell, chunk + 1));
        assert_int_equal(pp_open_chunks_find(&used.chunks, cell)->chunk, chunk);
        assert_int_equal(atomic_load(&pp_open_chunks_find(&used.chunks, cell)->missing), chunk + 1);
    }
    bed_close(&used);
}

/* No two buffers overlap, and a chunk that is opened again keeps the one that it has. */
static void test_open_chunks__have_a_buffer_each(void **state)
{
    int64_t i, cells[4][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    bed used;
    (void)state;
    bed_open(&used, 4, 4);
    begin(&used, (int64_t[]){0, 0}, (int64_t[]){4, 4});
    for (i = 0; i < 4; i++) {
        assert_true(pp_open_chunks_open(&used.chunks, cells[i], 2));
        memset(pp_open_chunks_find(&used.chunks, cells[i])->buffer.data, (int)(10 + i), 4);
    }
    for (i = 0; i < 4; i++) {
        pp_open_chunk *found = pp_open_chunks_find(&used.chunks, cells[i]);
        atomic_fetch_sub(&found->missing, 1);
        assert_true(pp_open_chunks_open(&used.chunks, cells[i], 2));
        assert_ptr_equal(pp_open_chunks_find(&used.chunks, cells[i]), found);
        assert_int_equal(atomic_load(&found->missing), 1);
        assert_int_equal(found->buffer.data[3], 10 + i);
    }
    bed_close(&used);
}

/* What lies beyond the array is fill value, whatever chunk had the buffer before. */
static void test_open_chunks__at_the_edge_start_as_fill_value(void **state)
{
    int64_t inner[2] = {1, 1}, edge[2] = {2, 1};
    pp_open_chunk *found;
    bed used;
    (void)state;
    bed_open(&used, 1, 2);
    begin(&used, (int64_t[]){2, 2}, (int64_t[]){3, 2});
    assert_true(pp_open_chunks_open(&used.chunks, inner, 1));
    found = pp_open_chunks_find(&used.chunks, inner);
    memset(found->buffer.data, 1, 4);
    atomic_store(&found->has_data, true);
    pp_open_chunks_close(&used.chunks, found);
    assert_true(pp_open_chunks_open(&used.chunks, edge, 1));
    found = pp_open_chunks_find(&used.chunks, edge);
    assert_memory_equal(found->buffer.data, ((unsigned char[]){FILL, FILL, FILL, FILL}), 4);
    assert_false(atomic_load(&found->has_data));
    bed_close(&used);
}

static void test_open_chunks__of_the_template_before_are_forgotten(void **state)
{
    int64_t first[2] = {0, 0}, second[2] = {1, 1};
    bed used;
    (void)state;
    bed_open(&used, 1, 1);
    begin(&used, (int64_t[]){0, 0}, (int64_t[]){2, 2});
    assert_true(pp_open_chunks_open(&used.chunks, first, 1));
    begin(&used, (int64_t[]){2, 2}, (int64_t[]){2, 2});
    assert_true(pp_open_chunks_open(&used.chunks, second, 5));
    assert_int_equal(atomic_load(&pp_open_chunks_find(&used.chunks, second)->missing), 5);
    bed_close(&used);
}

/* ---- Waiting ---- */

typedef struct waiting {
    pthread_t thread;
    bed *used;
    int64_t cell[2];
    bool result;
    atomic_bool has_ended;
} waiting;

static void *open_one(void *context)
{
    waiting *its = context;
    its->result = pp_open_chunks_open(&its->used->chunks, its->cell, 1);
    atomic_store(&its->has_ended, true);
    return NULL;
}

static void *drain_all(void *context)
{
    waiting *its = context;
    its->result = pp_open_chunks_drain(&its->used->chunks);
    atomic_store(&its->has_ended, true);
    return NULL;
}

/* Starts it and gives it time to end too early. */
static void start_waiting(waiting *its, void *(*run)(void *))
{
    struct timespec moment = {.tv_nsec = 20000000};
    atomic_store(&its->has_ended, false);
    assert_int_equal(pthread_create(&its->thread, NULL, run, its), 0);
    (void)nanosleep(&moment, NULL);
    assert_false(atomic_load(&its->has_ended));
}

static bool end_waiting(waiting *its)
{
    assert_int_equal(pthread_join(its->thread, NULL), 0);
    return its->result;
}

static void test_open_chunks__one_waits_until_another_is_closed(void **state)
{
    int64_t first[2] = {0, 0};
    waiting second = {.cell = {0, 1}};
    pp_open_chunk *found;
    bed used;
    (void)state;
    bed_open(&used, 1, 4);
    begin(&used, (int64_t[]){0, 0}, (int64_t[]){4, 4});
    assert_true(pp_open_chunks_open(&used.chunks, first, 1));
    found = pp_open_chunks_find(&used.chunks, first);
    second.used = &used;
    start_waiting(&second, open_one);
    pp_open_chunks_close(&used.chunks, found);
    assert_true(end_waiting(&second));
    assert_ptr_equal(pp_open_chunks_find(&used.chunks, second.cell), found);
    bed_close(&used);
}

static void test_open_chunks__nobody_waits_after_giving_up(void **state)
{
    int64_t first[2] = {0, 0};
    waiting second = {.cell = {0, 1}}, drained = {.used = NULL};
    bed used;
    (void)state;
    bed_open(&used, 1, 4);
    begin(&used, (int64_t[]){0, 0}, (int64_t[]){4, 4});
    assert_true(pp_open_chunks_open(&used.chunks, first, 1));
    pp_open_chunks_enter(&used.chunks);
    second.used = drained.used = &used;
    start_waiting(&second, open_one);
    start_waiting(&drained, drain_all);
    pp_open_chunks_give_up(&used.chunks);
    assert_false(end_waiting(&second));
    assert_false(end_waiting(&drained));
    bed_close(&used);
}

static void test_open_chunks__drained_when_the_last_visit_is_over(void **state)
{
    waiting drained = {.used = NULL};
    bed used;
    (void)state;
    bed_open(&used, 1, 1);
    begin(&used, (int64_t[]){0, 0}, (int64_t[]){2, 2});
    assert_true(pp_open_chunks_drain(&used.chunks));
    pp_open_chunks_enter(&used.chunks);
    pp_open_chunks_enter(&used.chunks);
    pp_open_chunks_leave(&used.chunks);
    drained.used = &used;
    start_waiting(&drained, drain_all);
    pp_open_chunks_leave(&used.chunks);
    assert_true(end_waiting(&drained));
    bed_close(&used);
}

/* ---- Memory ---- */

static void test_open_chunks__that_do_not_fit_leave_nothing_behind(void **state)
{
    size_t limit;
    bed used;
    (void)state;
    laid_out_init(&used.made, document);
    for (limit = 0; limit < 3 * PP_PAGE_BYTES; limit += 64) {
        pp_budget_init(&used.budget, limit);
        used.context = (pp_transfer_context){.layout = &used.made.layout, .budget = &used.budget};
        assert_fails(pp_open_chunks_init(&used.chunks, &used.context, 3, 9), PARAPET_ERR_MEMORY, "memory");
        pp_open_chunks_free(&used.chunks);
        assert_int_equal(pp_budget_available(&used.budget), limit);
    }
    laid_out_clear(&used.made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_chunks__are_numbered_in_the_template),
        cmocka_unit_test(test_open_chunks__have_a_buffer_each),
        cmocka_unit_test(test_open_chunks__at_the_edge_start_as_fill_value),
        cmocka_unit_test(test_open_chunks__of_the_template_before_are_forgotten),
        cmocka_unit_test(test_open_chunks__one_waits_until_another_is_closed),
        cmocka_unit_test(test_open_chunks__nobody_waits_after_giving_up),
        cmocka_unit_test(test_open_chunks__drained_when_the_last_visit_is_over),
        cmocka_unit_test(test_open_chunks__that_do_not_fit_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
