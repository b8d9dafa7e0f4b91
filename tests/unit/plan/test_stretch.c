/* The requests by which parts of a stretch are read, against every other choice. */
#include "support.h"

#include "plan/stretch.h"

#define GRANULES 12

/* What requests that read these granules take: each costs something, and so does each granule. */
static size_t cost_of(unsigned read, size_t request_cost)
{
    size_t cost = 0;
    int i;
    for (i = 0; i < GRANULES; i++)
        if (read >> i & 1)
            cost += PP_STRETCH_GRANULE + (i == 0 || !(read >> (i - 1) & 1) ? request_cost : 0);
    return cost;
}

/* The best of all sets of granules that hold what is wanted. */
static size_t least_cost(unsigned wanted, size_t request_cost)
{
    size_t least = SIZE_MAX;
    unsigned read;
    for (read = wanted; read < 1u << GRANULES; read = (read + 1) | wanted)
        if (cost_of(read, request_cost) < least)
            least = cost_of(read, request_cost);
    return least;
}

static unsigned granules_of(const pp_stretch_request *request)
{
    unsigned first = (unsigned)(request->from / PP_STRETCH_GRANULE);
    unsigned end = (unsigned)((request->end + PP_STRETCH_GRANULE - 1) / PP_STRETCH_GRANULE);
    return ((1u << end) - 1) & ~((1u << first) - 1);
}

static unsigned choose(unsigned wanted, size_t bytes, size_t gap)
{
    pp_stretch stretch;
    pp_stretch_request request = {0};
    unsigned read = 0;
    int i;
    pp_stretch_init(&stretch, bytes);
    for (i = 0; i < GRANULES; i++)
        if (wanted >> i & 1)
            pp_stretch_want(&stretch, (size_t)i * PP_STRETCH_GRANULE + 1, (size_t)i * PP_STRETCH_GRANULE + 2);
    while (pp_stretch_next(&stretch, gap, &request)) {
        assert_true(request.end <= bytes);
        read |= granules_of(&request);
    }
    return read;
}

static void test_stretch__no_other_requests_take_less_time(void **state)
{
    unsigned wanted;
    size_t gap;
    (void)state;
    for (wanted = 0; wanted < 1u << GRANULES; wanted++)
        for (gap = 0; gap <= 4; gap++) {
            size_t cost = gap * PP_STRETCH_GRANULE;
            unsigned read = choose(wanted, GRANULES * PP_STRETCH_GRANULE, cost);
            assert_int_equal(read & wanted, wanted);
            assert_int_equal(cost_of(read, cost), least_cost(wanted, cost));
        }
}

static void test_stretch__forced_choices_are_runs_alone_and_one_request(void **state)
{
    unsigned wanted;
    (void)state;
    for (wanted = 1; wanted < 1u << GRANULES; wanted++) {
        unsigned all = (2u << (31 - __builtin_clz(wanted))) - (wanted & -wanted);
        assert_int_equal(choose(wanted, GRANULES * PP_STRETCH_GRANULE, 0), wanted);
        assert_int_equal(choose(wanted, GRANULES * PP_STRETCH_GRANULE, SIZE_MAX), all);
    }
}

static void draw_boxes(test_random *random, pp_box *box, pp_box *wanted)
{
    int d;
    box->ndim = wanted->ndim = (int)test_random_between(random, 1, 3);
    for (d = 0; d < box->ndim; d++) {
        int64_t skip;
        box->start[d] = test_random_between(random, 0, 5);
        box->count[d] = test_random_between(random, 1, 40);
        skip = test_random_between(random, 0, box->count[d] - 1);
        wanted->start[d] = box->start[d] + skip;
        wanted->count[d] = test_random_between(random, 1, box->count[d] - skip);
    }
}

/* Marks the bytes of a box one by one. */
static void want_bytes(unsigned char *bytes, const pp_stretch_place *place, const pp_box *wanted)
{
    int64_t cell[PARAPET_MAX_NDIM];
    bool more;
    for (more = pp_box_first(wanted, cell); more; more = pp_box_next(wanted, cell)) {
        int64_t element = 0;
        int d;
        for (d = 0; d < wanted->ndim; d++)
            element = element * place->box->count[d] + cell[d] - place->box->start[d];
        memset(bytes + place->offset + (size_t)element * place->element_bytes, 1, place->element_bytes);
    }
}

/* Each request holds wanted bytes in each of its granules, and all requests together hold all of them. */
static void check_requests(const pp_stretch *stretch, const unsigned char *wanted)
{
    pp_stretch_request request = {0};
    size_t from = 0, i;
    while (pp_stretch_next(stretch, 0, &request)) {
        for (; from < request.from; from++)
            assert_false(wanted[from]);
        for (; from < request.end; from = i) {
            bool has_some = false;
            for (i = from; i < request.end && i < from + stretch->granule; i++)
                has_some |= wanted[i] != 0;
            assert_true(has_some);
        }
    }
    for (; from < stretch->bytes; from++)
        assert_false(wanted[from]);
}

static void test_stretch__boxes_are_wanted_as_their_elements_are(void **state)
{
    test_random random = test_random_start();
    int round, boxes;
    (void)state;
    for (round = 0; round < 300; round++) {
        pp_box box, wanted;
        pp_stretch_place place = {.box = &box};
        pp_stretch stretch;
        unsigned char *bytes;
        draw_boxes(&random, &box, &wanted);
        place.element_bytes = (size_t)test_random_between(&random, 1, 24);
        place.offset = (size_t)test_random_between(&random, 0, 3000);
        pp_stretch_init(&stretch, place.offset + (size_t)pp_box_element_count(&box) * place.element_bytes);
        bytes = test_calloc(stretch.bytes, 1);
        for (boxes = (int)test_random_between(&random, 1, 3); boxes > 0; boxes--) {
            pp_stretch_want_box(&stretch, &place, &wanted);
            want_bytes(bytes, &place, &wanted);
            wanted = box;
            wanted.count[0] = 1;
        }
        check_requests(&stretch, bytes);
        test_free(bytes);
    }
}

static void test_stretch__of_any_length_has_room_for_its_marks(void **state)
{
    pp_stretch stretch;
    pp_stretch_request request = {0};
    size_t bytes = (size_t)1 << 40;
    (void)state;
    pp_stretch_init(&stretch, bytes + 1);
    pp_stretch_want(&stretch, bytes, bytes + 1);
    assert_true(pp_stretch_next(&stretch, 0, &request));
    assert_int_equal(request.end, bytes + 1);
    assert_true(request.from <= bytes && request.from + stretch.granule > bytes);
    assert_false(pp_stretch_next(&stretch, 0, &request));
}

static void test_request_gap__is_what_storage_delivers_meanwhile(void **state)
{
    (void)state;
    assert_int_equal(pp_request_gap(100e-6, 1e9), 100000);
    assert_int_equal(pp_request_gap(0, 1e9), PP_STRETCH_GRANULE);
    assert_int_equal(pp_request_gap(1e9, 1e9), 4 << 20);
    assert_int_equal(pp_request_gap(0.0 / 1e-300, 0), PP_STRETCH_GRANULE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stretch__no_other_requests_take_less_time),
        cmocka_unit_test(test_stretch__forced_choices_are_runs_alone_and_one_request),
        cmocka_unit_test(test_stretch__boxes_are_wanted_as_their_elements_are),
        cmocka_unit_test(test_stretch__of_any_length_has_room_for_its_marks),
        cmocka_unit_test(test_request_gap__is_what_storage_delivers_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
