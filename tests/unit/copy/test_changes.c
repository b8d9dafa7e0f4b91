/* The texts of parapet_copy_changes: what each means, and the sentence for each that means nothing. */
#include "support.h"

#include "base/status.h"
#include "copy/changes.h"

#define S PP_EXTENT_SAME
#define W PP_EXTENT_WHOLE

/* 100 x 50 x 20. */
static void init_document(pp_array_document *document, bool has_names)
{
    static char names[3][5] = {"time", "lat", "lon"};
    static const int64_t shape[] = {100, 50, 20};
    int d;
    *document = (pp_array_document){.zarr_format = 3, .ndim = 3, .has_dimension_names = has_names};
    for (d = 0; d < 3; d++) {
        document->shape[d] = shape[d];
        document->dimension_names[d] = has_names ? names[d] : NULL;
    }
}

static parapet_status parse(pp_copy_wishes *wishes, const parapet_copy_changes *changes, bool is_in_tree)
{
    pp_array_document document;
    init_document(&document, true);
    return pp_copy_changes_parse(wishes, changes, &document, is_in_tree);
}

static void assert_numbers(const char *text, const int64_t *found, const int64_t *expected)
{
    int d;
    for (d = 0; d < 3; d++)
        if (found[d] != expected[d])
            fail_msg("\"%s\": %lld instead of %lld in dimension %d", text, (long long)found[d],
                     (long long)expected[d], d);
}

typedef struct good_extents {
    const char *text;
    pp_extents_kind kind;
    int64_t extent[3];
} good_extents;

static void test_copy_changes__lists_of_extents_are_understood(void **state)
{
    static const good_extents cases[] = {
        {NULL, PP_EXTENTS_SAME, {0, 0, 0}},
        {"", PP_EXTENTS_SAME, {0, 0, 0}},
        {"auto", PP_EXTENTS_CHOSEN, {0, 0, 0}},
        {"none", PP_EXTENTS_SAME, {0, 0, 0}},
        {"10,20,5", PP_EXTENTS_LISTED, {10, 20, 5}},
        {" 10, 20 ,5 ", PP_EXTENTS_LISTED, {10, 20, 5}},
        {"10x20x5", PP_EXTENTS_LISTED, {10, 20, 5}},
        {"0x-1xnone", PP_EXTENTS_LISTED, {W, W, S}},
        {"0,-1,none", PP_EXTENTS_LISTED, {W, W, S}},
        {"1000,1,9223372036854775807", PP_EXTENTS_LISTED, {1000, 1, INT64_MAX}},
        {"time/10", PP_EXTENTS_LISTED, {10, S, S}},
        {"lon=5,time=10", PP_EXTENTS_LISTED, {10, S, 5}},
        {"lon/5,time=10, lat / 7", PP_EXTENTS_LISTED, {10, 7, 5}},
        {"time/,lat=,lon/none", PP_EXTENTS_LISTED, {W, W, S}},
        {"time/0,lat/-1", PP_EXTENTS_LISTED, {W, W, S}},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        parapet_copy_changes changes = {.chunks = cases[i].text};
        pp_copy_wishes wishes;
        assert_ok(parse(&wishes, &changes, false));
        assert_int_equal(wishes.chunks.kind, cases[i].kind);
        if (cases[i].kind == PP_EXTENTS_LISTED)
            assert_numbers(cases[i].text, wishes.chunks.extent, cases[i].extent);
        assert_int_equal(wishes.shards.kind, PP_EXTENTS_SAME);
        assert_int_equal(wishes.is_touched, cases[i].text != NULL && cases[i].text[0] != '\0');
    }
}

static void test_copy_changes__none_alone_means_no_shards(void **state)
{
    parapet_copy_changes changes = {.shards = "none"};
    pp_copy_wishes wishes;
    (void)state;
    assert_ok(parse(&wishes, &changes, false));
    assert_int_equal(wishes.shards.kind, PP_EXTENTS_UNSHARDED);
    changes.shards = "none,none,none";
    assert_ok(parse(&wishes, &changes, false));
    assert_int_equal(wishes.shards.kind, PP_EXTENTS_LISTED);
}

static void test_copy_changes__extents_are_in_the_order_of_the_target(void **state)
{
    const int64_t expected[3] = {3, 1, 2};
    parapet_copy_changes changes = {.chunks = "3,1,2", .shards = "lat/2,lon/3,time/1", .order = "lon,-time,lat"};
    pp_copy_wishes wishes;
    (void)state;
    assert_ok(parse(&wishes, &changes, false));
    assert_numbers(changes.chunks, wishes.chunks.extent, expected);
    assert_numbers(changes.shards, wishes.shards.extent, expected);
}

typedef struct good_view {
    const char *order, *region;
    int64_t axis[3], is_reversed[3], start[3], shape[3];
} good_view;

static void test_copy_changes__order_and_region_become_a_view(void **state)
{
    static const good_view cases[] = {
        {NULL, NULL, {0, 1, 2}, {0, 0, 0}, {0, 0, 0}, {100, 50, 20}},
        {"lat,lon,-time", NULL, {1, 2, 0}, {0, 0, 1}, {0, 0, 0}, {50, 20, 100}},
        {"1,2,-0", NULL, {1, 2, 0}, {0, 0, 1}, {0, 0, 0}, {50, 20, 100}},
        {"-lon, -time ,-1", NULL, {2, 0, 1}, {1, 1, 1}, {0, 0, 0}, {20, 100, 50}},
        {"time,lat,lon", NULL, {0, 1, 2}, {0, 0, 0}, {0, 0, 0}, {100, 50, 20}},
        {NULL, "0:100,10:20,:", {0, 1, 2}, {0, 0, 0}, {0, 10, 0}, {100, 10, 20}},
        {NULL, "7:,:8,19:20", {0, 1, 2}, {0, 0, 0}, {7, 0, 19}, {93, 8, 1}},
        {NULL, "time=0:100,lat=10:20", {0, 1, 2}, {0, 0, 0}, {0, 10, 0}, {100, 10, 20}},
        {NULL, "lon = 3 : 4", {0, 1, 2}, {0, 0, 0}, {0, 0, 3}, {100, 50, 1}},
        {"lon,time,-lat", "1:2,3:5,6:9", {2, 0, 1}, {0, 0, 1}, {6, 1, 3}, {3, 1, 2}},
    };
    size_t i;
    int d;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        parapet_copy_changes changes = {.order = cases[i].order, .region = cases[i].region};
        pp_copy_wishes wishes;
        assert_ok(parse(&wishes, &changes, false));
        assert_int_equal(wishes.view.ndim, 3);
        assert_numbers(cases[i].region, wishes.view.start, cases[i].start);
        assert_numbers(cases[i].region, wishes.view.shape, cases[i].shape);
        for (d = 0; d < 3; d++) {
            assert_int_equal(wishes.view.axis[d], cases[i].axis[d]);
            assert_int_equal(wishes.view.is_reversed[d], cases[i].is_reversed[d]);
        }
    }
}

typedef struct bad_text {
    parapet_copy_changes changes;
    const char *sentence;
} bad_text;

#define EXTENTS_ACCEPTED                                                                                             \
    " is not accepted: give a number of elements, 0 or -1 for the whole dimension, or none to leave it as it is"
#define RANGES_ACCEPTED " is not accepted: give start:end, start:, :end or :"

static const bad_text bad_texts[] = {
    {{.chunks = "tme/10"}, "chunks: there is no dimension \"tme\"; the array has time, lat, lon"},
    {{.shards = "time/10,la/5"}, "shards: there is no dimension \"la\"; the array has time, lat, lon"},
    {{.chunks = "/10"}, "chunks: there is no dimension \"\"; the array has time, lat, lon"},
    {{.chunks = "10,20"}, "chunks: \"10,20\" lists 2, but the array has 3 dimensions (time, lat, lon)"},
    {{.chunks = "10,20,30,"}, "chunks: \"10,20,30,\" lists 4, but the array has 3 dimensions (time, lat, lon)"},
    {{.chunks = "10x20"}, "chunks: \"10x20\" lists 2, but the array has 3 dimensions (time, lat, lon)"},
    {{.chunks = "10,,5"}, "chunks: \"\" for lat" EXTENTS_ACCEPTED},
    {{.chunks = "10,2q,5"}, "chunks: \"2q\" for lat" EXTENTS_ACCEPTED},
    {{.chunks = "10,-2,5"}, "chunks: \"-2\" for lat" EXTENTS_ACCEPTED},
    {{.chunks = "10,2.5,5"}, "chunks: \"2.5\" for lat" EXTENTS_ACCEPTED},
    {{.chunks = "10x20,5,1"}, "chunks: \"10x20\" for time" EXTENTS_ACCEPTED},
    {{.chunks = "1,1,9223372036854775808"}, "chunks: \"9223372036854775808\" for lon" EXTENTS_ACCEPTED},
    {{.chunks = "lat/all"}, "chunks: \"all\" for lat" EXTENTS_ACCEPTED},
    {{.shards = "10,auto,5"},
     "shards: \"auto\" for lat is not accepted: auto must be given alone and chooses all extents"},
    {{.chunks = "time/10,20"}, "chunks: \"20\" does not name a dimension, as the other entries do"},
    {{.chunks = "time/10,lat/5,time=3"}, "chunks: time is listed twice"},
    {{.order = "lat,lon"}, "order: time is missing; list each of time, lat, lon once"},
    {{.order = "lat,lon,-lat"}, "order: lat is listed twice"},
    {{.order = "lat,1,time"}, "order: lat is listed twice"},
    {{.order = "lat,lon,-tme"}, "order: there is no dimension \"tme\"; the array has time, lat, lon"},
    {{.order = "0,1,3"}, "order: there is no dimension \"3\"; the array has time, lat, lon"},
    {{.order = "0,1,--2"}, "order: there is no dimension \"-2\"; the array has time, lat, lon"},
    {{.order = "lat,,lon"}, "order: there is no dimension \"\"; the array has time, lat, lon"},
    {{.region = "0:10,:"}, "region: \"0:10,:\" lists 2, but the array has 3 dimensions (time, lat, lon)"},
    {{.region = "tme=0:10"}, "region: there is no dimension \"tme\"; the array has time, lat, lon"},
    {{.region = "time=5"}, "region: \"5\" for time" RANGES_ACCEPTED},
    {{.region = "time="}, "region: \"\" for time" RANGES_ACCEPTED},
    {{.region = "-5:,:,:"}, "region: \"-5:\" for time" RANGES_ACCEPTED},
    {{.region = ":,:,1:2:3"}, "region: \"1:2:3\" for lon" RANGES_ACCEPTED},
    {{.region = "time=0:101"}, "region: \"0:101\" for time goes beyond its last element"},
    {{.region = "lat=51:"}, "region: \"51:\" for lat goes beyond its last element"},
    {{.region = "lat=20:10"}, "region: \"20:10\" for lat has no elements: the end itself is not included"},
    {{.region = "lat=20:20"}, "region: \"20:20\" for lat has no elements: the end itself is not included"},
    {{.reserved = {0, 1}}, "the reserved words of parapet_copy_changes must be 0; initialise the struct with {0}"},
};

static void test_copy_changes__what_cannot_be_meant_is_refused_in_a_sentence(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < sizeof bad_texts / sizeof bad_texts[0]; i++) {
        pp_copy_wishes wishes;
        assert_int_equal(parse(&wishes, &bad_texts[i].changes, false), PARAPET_ERR_ARGUMENT);
        assert_string_equal(pp_failure_message(), bad_texts[i].sentence);
    }
}

static void test_copy_changes__dimensions_without_names_are_told_by_number(void **state)
{
    parapet_copy_changes by_name = {.chunks = "time/10"}, by_number = {.order = "2,-0,1", .chunks = "5,10,none"},
                         bad = {.chunks = "5,?,1"};
    pp_array_document document;
    pp_copy_wishes wishes;
    (void)state;
    init_document(&document, false);
    assert_ok(pp_copy_changes_parse(&wishes, &by_number, &document, false));
    assert_int_equal(wishes.view.axis[0], 2);
    assert_int_equal(wishes.chunks.extent[1], 10);
    assert_int_equal(pp_copy_changes_parse(&wishes, &by_name, &document, false), PARAPET_ERR_ARGUMENT);
    assert_string_equal(pp_failure_message(),
                        "chunks: there is no dimension \"time\"; the array has 3 dimensions without names");
    assert_int_equal(pp_copy_changes_parse(&wishes, &bad, &document, false), PARAPET_ERR_ARGUMENT);
    assert_string_equal(pp_failure_message(), "chunks: \"?\" for dimension 1" EXTENTS_ACCEPTED);
}

static void test_copy_changes__names_may_look_like_anything(void **state)
{
    parapet_copy_changes changes = {.chunks = "a/b/7,x=3", .order = "-x,-,a/b"};
    pp_array_document document = {.ndim = 3, .shape = {9, 9, 9}, .has_dimension_names = true};
    pp_copy_wishes wishes;
    char names[3][4] = {"a/b", "-", "x"};
    int d;
    (void)state;
    for (d = 0; d < 3; d++)
        document.dimension_names[d] = names[d];
    assert_ok(pp_copy_changes_parse(&wishes, &changes, &document, false));
    assert_int_equal(wishes.view.axis[0], 2);
    assert_true(wishes.view.is_reversed[0]);
    assert_int_equal(wishes.view.axis[1], 1);
    assert_false(wishes.view.is_reversed[1]);
    assert_int_equal(wishes.chunks.extent[0], 3);
    assert_int_equal(wishes.chunks.extent[2], 7);
}

typedef struct tree_case {
    parapet_copy_changes changes;
    bool is_touched;
} tree_case;

static void test_copy_changes__in_a_tree_what_does_not_fit_leaves_the_array_alone(void **state)
{
    static const tree_case cases[] = {
        {{.chunks = "depth/10"}, false}, {{.chunks = "10,20"}, false},
        {{.shards = "10"}, false},       {{.order = "depth,-x"}, false},
        {{.order = "1,0"}, false},       {{.region = "depth=0:5"}, false},
        {{.region = "0:5"}, false},      {{.chunks = "depth/10,lat/5"}, true},
        {{.order = "depth,-lat"}, true}, {{.region = "x=0:5,lon=1:2"}, true},
        {{.order = "2,1,0"}, true},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pp_copy_wishes wishes;
        pp_copy_view same;
        const int64_t shape[3] = {100, 50, 20};
        assert_ok(parse(&wishes, &cases[i].changes, true));
        assert_int_equal(wishes.is_touched, cases[i].is_touched);
        if (cases[i].is_touched)
            continue;
        pp_copy_view_init(&same, 3, shape);
        assert_memory_equal(&wishes.view, &same, sizeof same);
        assert_int_equal(wishes.chunks.kind, PP_EXTENTS_SAME);
        assert_int_equal(wishes.shards.kind, PP_EXTENTS_SAME);
    }
}

/* As coordinates need it: of "lat,lon,-time", an array of time alone is reversed, and one of lat alone is not. */
static void test_copy_changes__in_a_tree_an_order_moves_the_dimensions_that_are_there(void **state)
{
    parapet_copy_changes changes = {.order = "-lon,depth,time"};
    pp_copy_wishes wishes;
    (void)state;
    assert_ok(parse(&wishes, &changes, true));
    assert_int_equal(wishes.view.axis[0], 2);
    assert_int_equal(wishes.view.axis[1], 1);
    assert_int_equal(wishes.view.axis[2], 0);
    assert_true(wishes.view.is_reversed[0]);
    assert_false(wishes.view.is_reversed[1]);
    assert_false(wishes.view.is_reversed[2]);
    assert_int_equal(wishes.view.shape[0], 20);
}

static void test_copy_changes__in_a_tree_nonsense_is_still_refused(void **state)
{
    static const parapet_copy_changes cases[] = {
        {.chunks = "lat/many"}, {.chunks = "1,2,c"}, {.order = "0,1,7"}, {.order = "lat,lat"}, {.region = "lat=0:51"},
    };
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pp_copy_wishes wishes;
        assert_int_equal(parse(&wishes, &cases[i], true), PARAPET_ERR_ARGUMENT);
    }
}

static void test_copy_changes__a_scalar_has_no_dimensions_to_change(void **state)
{
    parapet_copy_changes none = {.chunks = "auto", .shards = "none"}, some = {.chunks = "1"},
                         named = {.region = "time=0:1"};
    pp_array_document document = {.ndim = 0};
    pp_copy_wishes wishes;
    (void)state;
    assert_ok(pp_copy_changes_parse(&wishes, &none, &document, false));
    assert_fails(pp_copy_changes_parse(&wishes, &some, &document, false), PARAPET_ERR_ARGUMENT,
                 "chunks: \"1\" lists 1, but the array has 0 dimensions");
    assert_fails(pp_copy_changes_parse(&wishes, &named, &document, false), PARAPET_ERR_ARGUMENT,
                 "region: there is no dimension \"time\"; the array has none");
    assert_ok(pp_copy_changes_parse(&wishes, &some, &document, true));
    assert_false(wishes.is_touched);
}

static void test_copy_changes__one_dimension_and_one_without_elements(void **state)
{
    const parapet_copy_changes named = {.chunks = "time/10"}, beyond = {.region = "0:1"}, all = {.region = ":"},
                               many = {.chunks = "99999999999999999999999"}, two = {.chunks = "1,2"};
    const pp_array_document document = {.ndim = 1, .shape = {0}};
    pp_copy_wishes wishes;
    (void)state;
    assert_fails(pp_copy_changes_parse(&wishes, &named, &document, false), PARAPET_ERR_ARGUMENT,
                 "the array has 1 dimension without names");
    assert_fails(pp_copy_changes_parse(&wishes, &beyond, &document, false), PARAPET_ERR_ARGUMENT,
                 "is not inside it: it has no elements");
    assert_fails(pp_copy_changes_parse(&wishes, &many, &document, false), PARAPET_ERR_ARGUMENT, "chunks");
    assert_fails(pp_copy_changes_parse(&wishes, &two, &document, false), PARAPET_ERR_ARGUMENT,
                 "lists 2, but the array has 1 dimension");
    assert_ok(pp_copy_changes_parse(&wishes, &all, &document, false));
}

static void test_copy_changes__a_coordinate_of_a_hierarchy_keeps_its_chunks(void **state)
{
    const parapet_copy_changes changes = {
        .chunks = "lat/7", .shards = "lat/14", .region = "lat=0:20", .codec = "none"};
    pp_array_document coordinate = {.ndim = 1, .has_dimension_names = true, .shape = {50}};
    char name[] = "lat";
    (void)state;
    coordinate.dimension_names[0] = name;
    assert_null(pp_copy_changes_for(&changes, &coordinate, "deep/lat", true).chunks);
    assert_null(pp_copy_changes_for(&changes, &coordinate, "lat", true).shards);
    assert_string_equal(pp_copy_changes_for(&changes, &coordinate, "lat", true).region, "lat=0:20");
    assert_string_equal(pp_copy_changes_for(&changes, &coordinate, "lat", true).codec, "none");
    assert_string_equal(pp_copy_changes_for(&changes, &coordinate, "lat", false).chunks, "lat/7");
    assert_string_equal(pp_copy_changes_for(&changes, &coordinate, "weights", true).chunks, "lat/7");
    assert_string_equal(pp_copy_changes_for(&changes, &coordinate, "flat", true).chunks, "lat/7");
    coordinate.dimension_names[0] = NULL;
    assert_string_equal(pp_copy_changes_for(&changes, &coordinate, "lat", true).chunks, "lat/7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy_changes__one_dimension_and_one_without_elements),
        cmocka_unit_test(test_copy_changes__lists_of_extents_are_understood),
        cmocka_unit_test(test_copy_changes__none_alone_means_no_shards),
        cmocka_unit_test(test_copy_changes__extents_are_in_the_order_of_the_target),
        cmocka_unit_test(test_copy_changes__order_and_region_become_a_view),
        cmocka_unit_test(test_copy_changes__what_cannot_be_meant_is_refused_in_a_sentence),
        cmocka_unit_test(test_copy_changes__dimensions_without_names_are_told_by_number),
        cmocka_unit_test(test_copy_changes__names_may_look_like_anything),
        cmocka_unit_test(test_copy_changes__in_a_tree_what_does_not_fit_leaves_the_array_alone),
        cmocka_unit_test(test_copy_changes__in_a_tree_an_order_moves_the_dimensions_that_are_there),
        cmocka_unit_test(test_copy_changes__in_a_tree_nonsense_is_still_refused),
        cmocka_unit_test(test_copy_changes__a_scalar_has_no_dimensions_to_change),
        cmocka_unit_test(test_copy_changes__a_coordinate_of_a_hierarchy_keeps_its_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
