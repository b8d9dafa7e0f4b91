#include "file.h"

#include "foreign/outline.h"

enum { ARRAYS_MOST = 4 };

/* Arrays from their documents, and the file that they would be. */
typedef struct outlined {
    pp_array_document documents[ARRAYS_MOST];
    pp_outline_array arrays[ARRAYS_MOST];
    pp_outline outline;
    pp_json *attributes;
} outlined;

static pp_json *parse(const char *text)
{
    pp_json *json;
    assert_ok(pp_json_parse(&json, text, strlen(text)));
    return json;
}

/* The type, shape and last members of a zarr.json. */
static void add_array(outlined *of, const char *name, const char *type, const char *shape, const char *rest)
{
    size_t number = of->outline.count++;
    char text[1200];
    pp_json *json;
    (void)snprintf(text, sizeof text,
                   "{\"zarr_format\": 3, \"node_type\": \"array\", \"data_type\": %s, \"shape\": %s, "
                   "\"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": %s}}, "
                   "\"chunk_key_encoding\": {\"name\": \"default\"}, %s"
                   "\"codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]%s}",
                   type, shape,
                   strcmp(shape, "[]") == 0     ? "[]"
                   : strchr(shape, ',') != NULL ? "[1, 1]"
                                                : "[1]",

                   strstr(rest, "\"fill_value\"") != NULL ? "" : "\"fill_value\": 0, ", rest);
    json = parse(text);
    assert_ok(pp_array_document_parse(&of->documents[number], json));
    pp_json_free(json);
    of->arrays[number] = (pp_outline_array){.name = name, .document = &of->documents[number]};
    of->outline.arrays = of->arrays;
}

static parapet_status lay_out(outlined *of, const pp_outline_format *format)
{
    of->outline.attributes = of->attributes;
    return pp_outline_lay_out(&of->outline, format);
}

static void clear(outlined *of)
{
    size_t i;
    for (i = 0; i < of->outline.count; i++)
        pp_array_document_clear(&of->documents[i]);
    pp_json_free(of->attributes);
    pp_outline_clear(&of->outline);
}

static void assert_left_out(const outlined *of, const char *lines)
{
    assert_string_equal(of->outline.left_out.data != NULL ? of->outline.left_out.data : "", lines);
}

static void assert_refused(outlined *of, const pp_outline_format *format, const char *sentence)
{
    assert_int_equal(lay_out(of, format), PARAPET_ERR_UNSUPPORTED);
    if (strstr(parapet_error_message(), sentence) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", parapet_error_message(), sentence);
    clear(of);
}

/* The file that the header begins, with zeros for elements, as it is read. */
static opened_file open_outlined(const outlined *of)
{
    file_bytes file = {0};
    add_bytes(&file, of->outline.header.data, of->outline.header.bytes);
    while (file.count < of->outline.file_bytes)
        add_big(&file, 0, 1);
    return open_bytes(file.data, file.count, NULL);
}

static void test_outline__netcdf_is_read_as_what_it_was_made_from(void **state)
{
    outlined of = {.attributes = parse("{\"title\": \"caf\303\251\", \"runs\": [1, 2], \"_parapet\": {\"a\": 1}}")};
    opened_file opened;
    (void)state;
    add_array(&of, "t", "\"int16\"", "[3, 2]",
              ", \"dimension_names\": [\"time\", \"x\"], \"attributes\": {\"_FillValue\": -7, \"scale_factor\": 0.5, "
              "\"valid_range\": [1, 2], \"big\": 5000000000, \"units\": \"\"}");
    add_array(&of, "x", "\"float32\"", "[2]",
              ", \"dimension_names\": [\"x\"], \"attributes\": {\"_FillValue\": "
              "\"AAAAAAAA+H8=\"}");
    add_array(&of, "s", "\"uint64\"", "[]", "");
    assert_ok(lay_out(&of, &pp_outline_netcdf));
    assert_left_out(&of, "");
    opened = open_outlined(&of);
    assert_ok(opened.status);
    assert_says(&opened, "zarr.json", "\"title\": \"caf\303\251\"");
    assert_says(&opened, "t/zarr.json", "\"fill_value\": -7");
    assert_says(&opened, "t/zarr.json", "\"scale_factor\": 0.5");
    assert_says(&opened, "t/zarr.json", "\"big\": 5000000000");
    assert_says(&opened, "t/zarr.json", "\"units\": \"\"");
    assert_says(&opened, "t/zarr.json", "\"time\",");
    assert_says(&opened, "x/zarr.json", "\"fill_value\": \"NaN\"");
    assert_says(&opened, "s/zarr.json", "\"uint64\"");
    close_file(&opened);
    clear(&of);
}

/* CDF-5 has 64 bits for lengths and offsets: nothing is special at 2 or 4 GiB. */
static void test_outline__variables_beyond_4_GiB_follow_each_other(void **state)
{
    outlined of = {0};
    (void)state;
    add_array(&of, "a", "\"int8\"", "[5000000001]", "");
    add_array(&of, "b", "\"float64\"", "[2500000000]", "");
    assert_ok(lay_out(&of, &pp_outline_netcdf));
    assert_int_equal(of.arrays[0].start % 4, 0);
    assert_true(of.arrays[1].start == of.arrays[0].start + UINT64_C(5000000004));
    assert_true(of.outline.file_bytes == of.arrays[1].start + UINT64_C(20000000000));
    clear(&of);
}

static void test_outline__more_than_any_file_is_refused(void **state)
{
    outlined of = {0};
    (void)state;
    add_array(&of, "a", "\"float64\"", "[9223372036854775807]", "");
    assert_refused(&of, &pp_outline_netcdf, "\"a\" has more elements than any file");
    of = (outlined){0};
    add_array(&of, "a", "\"int8\"", "[2305843009213693951]", "");
    add_array(&of, "b", "\"int8\"", "[2305843009213693951]", "");
    add_array(&of, "c", "\"int8\"", "[2305843009213693951]", "");
    assert_refused(&of, &pp_outline_netcdf, "the arrays together are larger than any file");
}

static void test_outline__what_netcdf_cannot_say_is_listed(void **state)
{
    outlined of = {.attributes = parse("{\"a/b\": 1, \"nothing\": null}")};
    (void)state;
    add_array(&of, "t", "\"int16\"", "[1]",
              ", \"attributes\": {\"deep\": {\"a\": 1}, \"names\": [\"a\", \"b\"], \"flag\": true, \" x\": 1, "
              "\"fine\": 1}, \"fill_value\": 7");
    assert_ok(lay_out(&of, &pp_outline_netcdf));
    assert_left_out(&of, "the attribute \"a/b\": netCDF does not allow this name\n"
                         "the attribute \"nothing\": it is neither a text nor numbers\n"
                         "the fill value of \"t\"\n"
                         "the attribute \"deep\" of \"t\": it is neither a text nor numbers\n"
                         "the attribute \"names\" of \"t\": it is neither a text nor numbers\n"
                         "the attribute \"flag\" of \"t\": it is neither a text nor numbers\n"
                         "the attribute \" x\" of \"t\": netCDF does not allow this name\n");
    clear(&of);
}

static void test_outline__netcdf_refuses_arrays_that_it_cannot_hold(void **state)
{
    char name[300];
    outlined of = {0};
    (void)state;
    add_array(&of, "t", "\"float16\"", "[1]", "");
    add_array(&of, "z", "\"float16\"", "[1]", "");
    assert_refused(&of, &pp_outline_netcdf, "cannot hold \"t\" (float16), \"z\" (float16)");
    of = (outlined){0};
    add_array(&of, "-t", "\"int8\"", "[1]", "");
    assert_refused(&of, &pp_outline_netcdf, "\"-t\" (netCDF does not allow its name)");
    memset(name, 'a', sizeof name);
    name[257] = '\0';
    of = (outlined){0};
    add_array(&of, name, "\"int8\"", "[1]", "");
    assert_refused(&of, &pp_outline_netcdf, "(netCDF does not allow its name)");
    of = (outlined){0};
    add_array(&of, "a", "\"int8\"", "[1]", ", \"dimension_names\": [\"x\"]");
    add_array(&of, "b", "\"int8\"", "[2]", ", \"dimension_names\": [\"x\"]");
    assert_refused(&of, &pp_outline_netcdf, "\"b\" (a dimension has another length in another array)");
    of = (outlined){0};
    add_array(&of, "a", "\"int8\"", "[3, 0]", "");
    assert_refused(&of, &pp_outline_netcdf, "\"a\" (a dimension other than the first");
}

static void test_outline__a_first_dimension_without_indices_is_the_record_dimension(void **state)
{
    outlined of = {0};
    opened_file opened;
    (void)state;
    add_array(&of, "a", "\"int16\"", "[0, 3]", ", \"dimension_names\": [\"time\", \"x\"]");
    add_array(&of, "x", "\"int16\"", "[3]", ", \"dimension_names\": [\"x\"]");
    assert_ok(lay_out(&of, &pp_outline_netcdf));
    opened = open_outlined(&of);
    assert_ok(opened.status);
    assert_says(&opened, "a/zarr.json", "0,\n");
    close_file(&opened);
    clear(&of);
}

/* netCDF refuses a file in which the offset of a variable is not behind the first record of the one before it. */
static void test_outline__offsets_of_arrays_without_records_ascend(void **state)
{
    outlined of = {0};
    uint64_t end;
    (void)state;
    add_array(&of, "a", "\"int8\"", "[0, 3]", ", \"dimension_names\": [\"time\", \"x\"]");
    add_array(&of, "b", "\"float64\"", "[0]", ", \"dimension_names\": [\"time\"]");
    add_array(&of, "x", "\"int16\"", "[3]", ", \"dimension_names\": [\"x\"]");
    add_array(&of, "z", "\"int8\"", "[0]", ", \"dimension_names\": [\"time\"]");
    assert_ok(lay_out(&of, &pp_outline_netcdf));
    end = of.outline.file_bytes;
    assert_true(of.arrays[2].start + 8 == end);
    assert_true(of.arrays[0].start == end && of.arrays[1].start == end + 4 && of.arrays[3].start == end + 12);
    clear(&of);
}

/* The product of the other extents is the length of a record. */
static void test_outline__a_record_larger_than_any_file_is_refused(void **state)
{
    outlined of = {0};
    (void)state;
    add_array(&of, "a", "\"float64\"", "[0, 4611686018427387904]", "");
    assert_refused(&of, &pp_outline_netcdf, "\"a\" has more elements than any file");
    of = (outlined){0};
    add_array(&of, "a", "\"int8\"", "[0, 2305843009213693951]", ", \"dimension_names\": [\"time\", \"x\"]");
    add_array(&of, "b", "\"int8\"", "[0, 2305843009213693951]", ", \"dimension_names\": [\"time\", \"x\"]");
    add_array(&of, "c", "\"int8\"", "[0, 2305843009213693951]", ", \"dimension_names\": [\"time\", \"x\"]");
    assert_refused(&of, &pp_outline_netcdf, "one record of all arrays together is larger than any file");
}

/* xarray opens no dataset in which text has the attribute, so a copy of netCDF has the fill value alone. */
static void test_outline__the_fill_value_of_text_is_that_of_netcdf(void **state)
{
    static const char type[] = "{\"name\": \"null_terminated_bytes\", \"configuration\": {\"length_bytes\": 1}}";
    outlined of = {0};
    opened_file opened;
    (void)state;
    add_array(&of, "a", type, "[2]", ", \"fill_value\": \"eA==\"");
    add_array(&of, "b", type, "[2]", ", \"fill_value\": \"AA==\"");
    assert_ok(lay_out(&of, &pp_outline_netcdf));
    assert_left_out(&of, "");
    assert_non_null(memmem(of.outline.header.data, of.outline.header.bytes, "_FillValue\0\0\0\0\0\2", 16));
    opened = open_outlined(&of);
    assert_ok(opened.status);
    assert_says(&opened, "a/zarr.json", "\"eA==\"");
    assert_says(&opened, "a/zarr.json", "\"attributes\": {}");
    close_file(&opened);
    clear(&of);
}

/* Of several values, of none, or of another type: netCDF would open the file, and make no netCDF-4 of it. */
static void test_outline__a_fill_value_that_is_none_is_left_out(void **state)
{
    static const char *const values[] = {"1.5", "70000", "[1, 2]", "\"text\"", "true", "\"AAAAAAAA+H8=\"", "\"NaN\""};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof values / sizeof values[0]; i++) {
        outlined of = {0};
        char rest[100];
        (void)snprintf(rest, sizeof rest, ", \"attributes\": {\"_FillValue\": %s}", values[i]);
        add_array(&of, "t", "\"int16\"", "[1]", rest);
        assert_ok(lay_out(&of, &pp_outline_netcdf));
        assert_left_out(&of, "the attribute \"_FillValue\" of \"t\": it is not one value of the type of its array\n");
        clear(&of);
    }
}

/* "e" and an accent, "ka" and its mark, three parts of a syllable, and a sign for ohm: libnetcdf would not find them.
 */
static void test_outline__names_that_are_not_composed_are_refused(void **state)
{
    static const char *const names[] = {"e\xcc\x81", "\xe3\x81\x8b\xe3\x82\x99",
                                        "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", "\xe2\x84\xa6"};
    outlined of = {0};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        of = (outlined){0};
        add_array(&of, names[i], "\"int8\"", "[1]", "");
        assert_refused(&of, &pp_outline_netcdf, "(netCDF does not allow its name)");
    }
    of = (outlined){0};
    add_array(&of,
              "gr\xc3\xb6\xc3\x9f"
              "e",
              "\"int8\"", "[1]", "");
    assert_ok(lay_out(&of, &pp_outline_netcdf));
    clear(&of);
}

/* Names that the library has given, and nobody chose, do not tie arrays together. */
static void test_outline__usual_names_of_dimensions_give_way(void **state)
{
    outlined of = {0};
    opened_file opened;
    (void)state;
    add_array(&of, "a", "\"int8\"", "[2]", ", \"dimension_names\": [\"dim_0\"]");
    add_array(&of, "b", "\"int8\"", "[3]", ", \"dimension_names\": [\"dim_0\"]");
    add_array(&of, "c", "\"int8\"", "[2]", ", \"dimension_names\": [\"dim_0\"]");
    assert_ok(lay_out(&of, &pp_outline_netcdf));
    assert_left_out(&of, "the name \"dim_0\" of a dimension of \"b\"\n");
    opened = open_outlined(&of);
    assert_ok(opened.status);
    assert_says(&opened, "b/zarr.json", "\"b_dim_0\"");
    assert_says(&opened, "c/zarr.json", "\"dim_0\"");
    close_file(&opened);
    clear(&of);
}

static void test_outline__npy_has_the_header_that_numpy_writes(void **state)
{
    static const char expected[] =
        "\223NUMPY\001\000v\000{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), } ";
    outlined of = {.attributes = parse("{\"title\": \"t\"}")};
    (void)state;
    add_array(&of, "t", "\"float32\"", "[3, 2]",
              ", \"dimension_names\": [\"time\", null], \"attributes\": {\"units\": \"K\", \"_parapet\": {}}");
    assert_ok(lay_out(&of, &pp_outline_npy));
    assert_int_equal(of.outline.header.bytes, 128);
    assert_memory_equal(of.outline.header.data, expected, sizeof expected - 1);
    assert_int_equal(of.outline.header.data[127], '\n');
    assert_true(of.outline.file_bytes == 128 + 24);
    assert_left_out(&of,
                    "the names of the dimensions\nthe attribute \"title\" of the group\nthe attribute \"units\"\n");
    clear(&of);
    of = (outlined){0};
    add_array(&of, "a", "\"int8\"", "[1]", "");
    add_array(&of, "b", "\"int8\"", "[1]", "");
    assert_refused(&of, &pp_outline_npy, "a NumPy file holds one array, but there are 2; name one of them");
}

static void test_outline__the_format_is_found_by_word_and_by_the_end_of_the_name(void **state)
{
    const char *path;
    (void)state;
    assert_ptr_equal(pp_outline_format_find("a/b.nc", &path), &pp_outline_netcdf);
    assert_string_equal(path, "a/b.nc");
    assert_ptr_equal(pp_outline_format_find("npy:a.nc", &path), &pp_outline_npy);
    assert_string_equal(path, "a.nc");
    assert_ptr_equal(pp_outline_format_find("raw:x", &path), &pp_outline_raw);
    assert_null(pp_outline_format_find("x.dat", &path));
    assert_null(pp_outline_format_find(".nc", &path));
}

/* What xarray keeps in Zarr v2: the fill value marks what is missing, and dimensions are named in an attribute. */
static void check_v2(const char *attributes, const char *left_out)
{
    pp_json *zarray =
        parse("{\"zarr_format\": 2, \"shape\": [2], \"chunks\": [2], \"dtype\": \"<i2\", \"order\": \"C\", "
              "\"fill_value\": -9, \"compressor\": null, \"filters\": null}");
    pp_json *zattrs = parse(attributes);
    outlined of = {.outline.count = 1};
    opened_file opened;
    assert_ok(pp_array_document_parse_v2(&of.documents[0], zarray, zattrs));
    of.arrays[0] = (pp_outline_array){.name = "t", .document = &of.documents[0]};
    of.outline.arrays = of.arrays;
    assert_ok(lay_out(&of, &pp_outline_netcdf));
    assert_left_out(&of, left_out);
    opened = open_outlined(&of);
    assert_ok(opened.status);
    assert_says(&opened, "t/zarr.json", "\"_FillValue\": -9");
    assert_says(&opened, "t/zarr.json", "\"x\"");
    close_file(&opened);
    clear(&of);
    pp_json_free(zarray);
    pp_json_free(zattrs);
}

static void test_outline__zarr_v2_keeps_its_fill_value_and_names(void **state)
{
    (void)state;
    check_v2("{\"_ARRAY_DIMENSIONS\": [\"x\"]}", "");
    check_v2("{\"_ARRAY_DIMENSIONS\": [\"x\"], \"_FillValue\": 5}",
             "the attribute \"_FillValue\" of \"t\": in Zarr v2 the fill value takes its place\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outline__netcdf_is_read_as_what_it_was_made_from),
        cmocka_unit_test(test_outline__variables_beyond_4_GiB_follow_each_other),
        cmocka_unit_test(test_outline__more_than_any_file_is_refused),
        cmocka_unit_test(test_outline__what_netcdf_cannot_say_is_listed),
        cmocka_unit_test(test_outline__netcdf_refuses_arrays_that_it_cannot_hold),
        cmocka_unit_test(test_outline__a_first_dimension_without_indices_is_the_record_dimension),
        cmocka_unit_test(test_outline__offsets_of_arrays_without_records_ascend),
        cmocka_unit_test(test_outline__a_record_larger_than_any_file_is_refused),
        cmocka_unit_test(test_outline__the_fill_value_of_text_is_that_of_netcdf),
        cmocka_unit_test(test_outline__a_fill_value_that_is_none_is_left_out),
        cmocka_unit_test(test_outline__names_that_are_not_composed_are_refused),
        cmocka_unit_test(test_outline__usual_names_of_dimensions_give_way),
        cmocka_unit_test(test_outline__npy_has_the_header_that_numpy_writes),
        cmocka_unit_test(test_outline__the_format_is_found_by_word_and_by_the_end_of_the_name),
        cmocka_unit_test(test_outline__zarr_v2_keeps_its_fill_value_and_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
