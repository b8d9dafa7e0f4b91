/* arrays.c - every type, every codec, groups and metadata, and what later calls change. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bed.h"

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

/* ---- Types ---- */

typedef struct digest_type {
    parapet_type type;
    const char *name;
    const void *fill; /* one that is hard to print */
    size_t raw_bytes;
    const char *time_unit;
} digest_type;

static void make_type(const digest_bed *bed, parapet_store *store, const digest_type *type, const char *codec)
{
    int64_t shape[2] = {7, 10}, chunks[2] = {2, 5}, shards[2] = {4, 10};
    parapet_array_spec spec = {.type = type->type, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards};
    digest_box some = {.start = {1, 2}, .count = {4, 3}};
    parapet_array *array = NULL;
    char path[80];
    spec.codec = codec;
    spec.fill_value = type->fill;
    spec.element_bytes = type->raw_bytes;
    spec.time_unit = type->time_unit;
    (void)snprintf(path, sizeof path, "%s/sharded", type->name);
    leave_array(bed, store, path, &spec, 1);
    (void)snprintf(path, sizeof path, "%s/scattered", type->name);
    spec.unsharded = 1;
    spec.shards = NULL;
    require(parapet_array_create(&array, store, path, &spec));
    write_box(bed, array, &some, 2);
    require(parapet_array_close(&array));
    (void)snprintf(path, sizeof path, "%s/scalar", type->name);
    spec.ndim = 0;
    spec.shape = spec.chunks = NULL;
    leave_array(bed, store, path, &spec, 3);
}

static void make_types_in(const digest_bed *bed, const char *name, const char *codec)
{
    static const unsigned char raw[5] = {0xde, 0xad, 0xbe, 0xef, 0x01};
    const digest_type types[] = {
        {PARAPET_BOOL, "bool", &(unsigned char){1}, 0, NULL},
        {PARAPET_INT8, "int8", &(int8_t){INT8_MIN}, 0, NULL},
        {PARAPET_INT16, "int16", &(int16_t){-12345}, 0, NULL},
        {PARAPET_INT32, "int32", &(int32_t){INT32_MIN}, 0, NULL},
        {PARAPET_INT64, "int64", &(int64_t){INT64_MIN}, 0, NULL},
        {PARAPET_UINT8, "uint8", &(uint8_t){255}, 0, NULL},
        {PARAPET_UINT16, "uint16", NULL, 0, NULL},
        {PARAPET_UINT32, "uint32", &(uint32_t){UINT32_MAX}, 0, NULL},
        {PARAPET_UINT64, "uint64", &(uint64_t){UINT64_MAX}, 0, NULL},
        {PARAPET_FLOAT16, "float16", &(uint16_t){0x3555}, 0, NULL},
        {PARAPET_FLOAT32, "float32", &(uint32_t){0x7fc00001}, 0, NULL},
        {PARAPET_FLOAT64, "float64", &(double){0.1}, 0, NULL},
        {PARAPET_COMPLEX64, "complex64", &(float[2]){-0.0f, 1.5f}, 0, NULL},
        {PARAPET_COMPLEX128, "complex128", &(double[2]){INFINITY, 1e300}, 0, NULL},
        {PARAPET_BFLOAT16, "bfloat16", &(uint16_t){0xff80}, 0, NULL},
        {PARAPET_DATETIME64, "datetime64", &(int64_t){INT64_MIN}, 0, "ms"},
        {PARAPET_TIMEDELTA64, "timedelta64", &(int64_t){86400}, 0, NULL},
        {PARAPET_RAW, "raw", raw, sizeof raw, NULL},
    };
    parapet_store *store = open_store(bed, name);
    size_t i;
    for (i = 0; i < COUNT_OF(types); i++)
        make_type(bed, store, &types[i], codec);
    require(parapet_store_close(&store));
}

void make_types(const digest_bed *bed)
{
    make_types_in(bed, "types", "none");
    make_types_in(bed, "compressed_types", NULL);
}

/* ---- Codecs ---- */

/* Every word that the tool knows; snappy has none. */
static const char *const codecs[] = {
    "none",
    "zstd",
    "zstd:0",
    "zstd:1",
    "zstd:22",
    "gzip",
    "gzip:0",
    "gzip:9",
    "blosc",
    "blosc:blosclz",
    "blosc:lz4:0",
    "blosc:lz4:1:noshuffle",
    "blosc:lz4:9:bitshuffle",
    "blosc:lz4hc",
    "blosc:lz4hc:9:noshuffle",
    "blosc:zlib:5:shuffle",
    "blosc:zlib:9:bitshuffle",
    "blosc:zstd",
    "blosc:zstd:3:noshuffle",
    "blosc:zstd:3:bitshuffle",
    "blosc:blosclz:9:bitshuffle",
};

static void make_codec(const digest_bed *bed, parapet_store *store, const char *codec, int form)
{
    int64_t shape[2] = {30, 64}, chunks[2] = {10, 32}, shards[2] = {30, 64};
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 2, .shape = shape, .chunks = chunks, .codec = codec};
    char path[80], *colon;
    spec.no_checksum = form % 2;
    spec.unsharded = form / 2;
    if (spec.unsharded)
        spec.chunks = shards;
    else
        spec.shards = shards;
    if (form == 3)
        spec.type = PARAPET_INT16;
    (void)snprintf(path, sizeof path, "%s/%s%s", codec, spec.unsharded ? "chunk" : "shard",
                   spec.no_checksum ? "_no_checksum" : "");
    while ((colon = strchr(path, ':')) != NULL)
        *colon = '-';
    leave_array(bed, store, path, &spec, 5);
}

void make_codecs(const digest_bed *bed)
{
    parapet_store *compressed = open_store(bed, "compressed_codecs"), *plain = open_store(bed, "codec_none");
    size_t i;
    int form;
    for (i = 0; i < COUNT_OF(codecs); i++)
        for (form = 0; form < 4; form++)
            make_codec(bed, strcmp(codecs[i], "none") == 0 ? plain : compressed, codecs[i], form);
    require(parapet_store_close(&compressed));
    require(parapet_store_close(&plain));
}

/* ---- Groups and metadata ---- */

static void make_named_arrays(const digest_bed *bed, parapet_store *store)
{
    int64_t shape[3] = {3, 4, 5}, large[2] = {4000, 3000}, empty[2] = {0, 6}, thin[PARAPET_MAX_NDIM];
    const char *names[3] = {"time", "y \"2\"", "l\303\244nge"};
    parapet_array_spec spec = {.type = PARAPET_FLOAT32, .ndim = 3, .shape = shape, .codec = "none"};
    parapet_array *array = NULL;
    int d;
    spec.dimension_names = names;
    spec.attributes = "{\"units\": \"kg m-3\", \"range\": [0, 1e-7, -2.5], \"odd\": {\"b\": 1, \"a\": null}}";
    leave_array(bed, store, "deep/er/named", &spec, 1);
    array = make_array(bed, store, "deep/attributes", &spec, 1);
    require(parapet_array_attribute_set(array, "units", NULL));
    require(parapet_array_attribute_set(array, "text", "\"tab\\t quote\\\" \303\251 \\u00e9 \\ud83d\\ude00\""));
    require(parapet_array_attribute_set(array, "large", "[18446744073709551615, -9223372036854775808, 0.1, 1e400]"));
    require(parapet_array_close(&array));
    spec = (parapet_array_spec){.type = PARAPET_FLOAT64, .ndim = 2, .shape = large};
    require(parapet_array_create(&array, store, "chosen", &spec));
    require(parapet_array_close(&array));
    spec.shape = empty;
    leave_array(bed, store, "empty", &spec, 1);
    for (d = 0; d < PARAPET_MAX_NDIM; d++)
        thin[d] = d % 15 == 0 ? 2 : 1;
    spec = (parapet_array_spec){.type = PARAPET_INT16, .ndim = PARAPET_MAX_NDIM, .shape = thin, .codec = "none"};
    leave_array(bed, store, "dimensions", &spec, 1);
}

static void make_group(parapet_store *store, const char *path, const char *attributes, bool is_consolidated)
{
    parapet_group *group = NULL;
    require(parapet_group_create(&group, store, path, attributes));
    require(parapet_group_attribute_set(group, "gone", "1"));
    require(parapet_group_attribute_set(group, "level", "{\"of\": [true, false, null]}"));
    require(parapet_group_attribute_set(group, "gone", NULL));
    if (is_consolidated)
        require(parapet_group_consolidate(group));
    require(parapet_group_close(&group));
}

static void make_many(const digest_bed *bed, parapet_store *store)
{
    static const char *const paths[2] = {"many/first", "many/second"};
    int64_t shape[2] = {6, 8};
    parapet_array_spec specs[2] = {{.type = PARAPET_INT32, .ndim = 2, .shape = shape, .codec = "none"},
                                   {.type = PARAPET_UINT8, .ndim = 2, .shape = shape, .codec = "none"}};
    parapet_array *arrays[2] = {NULL, NULL};
    parapet_array_parts list[2] = {{0}, {0}};
    parapet_part parts[2] = {{0}, {0}};
    parapet_array_info info = {0};
    digest_box box = {.count = {6, 8}}, share = share_of(bed, 2, &box);
    int i;
    require(parapet_arrays_create(arrays, store, paths, specs, 2));
    for (i = 0; i < 2; i++) {
        require(parapet_array_get_info(arrays[i], &info));
        parts[i].ndim = 2;
        parts[i].start = share.start;
        parts[i].count = share.count;
        parts[i].data = make_elements(&info, &share, (uint64_t)i);
        list[i].array = arrays[i];
        list[i].parts = &parts[i];
        list[i].part_count = 1;
    }
    require(parapet_arrays_write(list, 2));
    require(parapet_arrays_close(arrays, 2));
    free(parts[0].data);
    free(parts[1].data);
}

static void make_tree_in(const digest_bed *bed, const char *name, bool is_consolidated)
{
    parapet_store *store = open_store(bed, name);
    parapet_group *root = NULL;
    make_group(store, "deep/empty", NULL, false);
    make_group(store, "other group", "{\"note\": \"below\", \"z\": 1, \"a\": 2}", false);
    make_named_arrays(bed, store);
    make_many(bed, store);
    require(parapet_group_open(&root, store, ""));
    require(parapet_group_attribute_set(root, "title", "\"all of it\""));
    if (is_consolidated)
        require(parapet_group_consolidate(root));
    require(parapet_group_close(&root));
    if (is_consolidated)
        make_group(store, "late", NULL, true); /* takes the consolidated metadata of the root away */
    require(parapet_store_close(&store));
}

static void make_consolidated(const digest_bed *bed)
{
    parapet_store *store = open_store(bed, "consolidated");
    parapet_group *root = NULL;
    make_named_arrays(bed, store);
    require(parapet_group_open(&root, store, "deep"));
    require(parapet_group_consolidate(root));
    require(parapet_group_close(&root));
    require(parapet_group_open(&root, store, ""));
    require(parapet_group_consolidate(root));
    require(parapet_group_close(&root));
    require(parapet_store_close(&store));
}

void make_tree(const digest_bed *bed)
{
    make_tree_in(bed, "tree", false);
    make_tree_in(bed, "unconsolidated", true);
    make_consolidated(bed);
}

/* ---- What later calls change ---- */

static const int64_t wide[2] = {20, 24}, wide_chunks[2] = {4, 6}, wide_shards[2] = {8, 12};

static parapet_array_spec wide_spec(bool is_sharded, const char *codec)
{
    static const int32_t fill = -7;
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = wide, .chunks = wide_chunks};
    spec.unsharded = !is_sharded;
    if (is_sharded)
        spec.shards = wide_shards;
    else
        spec.chunks = wide_shards;
    spec.codec = codec;
    spec.fill_value = &fill;
    return spec;
}

static parapet_array *make_wide(const digest_bed *bed, parapet_store *store, const char *name,
                                const parapet_array_spec *spec)
{
    char path[80];
    (void)snprintf(path, sizeof path, "%s/%s", spec->unsharded ? "chunks" : "shards", name);
    return make_array(bed, store, path, spec, 9);
}

static void resize(const digest_bed *bed, parapet_store *store, const parapet_array_spec *spec)
{
    int64_t larger[2] = {33, 25}, smaller[2] = {9, 13}, none[2] = {0, 0};
    parapet_array *array = make_wide(bed, store, "grown", spec);
    digest_box beyond = {.start = {18, 20}, .count = {9, 5}};
    require(parapet_array_resize(array, larger));
    write_box(bed, array, &beyond, 10);
    require(parapet_array_close(&array));
    array = make_wide(bed, store, "shrunk", spec);
    require(parapet_array_resize(array, smaller));
    require(parapet_array_close(&array));
    array = make_wide(bed, store, "shrunk_and_grown", spec);
    require(parapet_array_resize(array, smaller));
    require(parapet_array_resize(array, larger));
    require(parapet_array_close(&array));
    array = make_wide(bed, store, "emptied", spec);
    require(parapet_array_resize(array, none));
    require(parapet_array_close(&array));
}

/* Rank 0 writes a box from memory that runs backwards. */
static void write_backwards(const digest_bed *bed, parapet_array *array)
{
    static const int64_t start[2] = {3, 4}, count[2] = {5, 7}, strides[2] = {-28, -4};
    parapet_array_info info = {0};
    digest_box box = {.count = {5, 7}};
    parapet_part part = {0};
    char *elements;
    require(parapet_array_get_info(array, &info));
    elements = make_elements(&info, &box, 11);
    part.ndim = 2;
    part.start = start;
    part.count = count;
    part.data = elements + 34 * 4;
    part.strides_bytes = strides;
    require(parapet_array_write(array, &part, bed->rank == 0 ? 1 : 0));
    free(elements);
}

static void update(const digest_bed *bed, parapet_store *store, const parapet_array_spec *spec)
{
    digest_box middle = {.start = {5, 5}, .count = {10, 3}}, chunk = {.start = {4, 6}, .count = {4, 6}};
    parapet_array_spec replaced = *spec;
    parapet_array *array = make_wide(bed, store, "updated", spec);
    write_box(bed, array, &middle, 12);
    write_box(bed, array, &chunk, 13);
    write_backwards(bed, array);
    require(parapet_array_close(&array));
    array = make_wide(bed, store, "replaced", spec);
    require(parapet_array_close(&array));
    replaced.overwrite = 1;
    replaced.type = PARAPET_UINT16;
    replaced.fill_value = NULL;
    array = make_wide(bed, store, "replaced", &replaced);
    require(parapet_array_close(&array));
}

static void make_changed_in(const digest_bed *bed, const char *name, const char *codec)
{
    parapet_store *store = open_store(bed, name);
    int sharded;
    for (sharded = 0; sharded < 2; sharded++) {
        parapet_array_spec spec = wide_spec(sharded, codec);
        resize(bed, store, &spec);
        update(bed, store, &spec);
    }
    require(parapet_store_close(&store));
}

static void seal(const digest_bed *bed, parapet_store *store, const parapet_array_spec *spec)
{
    digest_box corner = {.start = {2, 3}, .count = {3, 3}};
    char path[80];
    parapet_array *array = make_wide(bed, store, "sealed", spec);
    require(parapet_array_seal(array));
    require(parapet_array_attribute_set(array, "note", "\"set when sealed\""));
    require(parapet_array_close(&array));
    array = make_wide(bed, store, "written", spec);
    require(parapet_array_seal(array));
    write_box(bed, array, &corner, 14);
    require(parapet_array_close(&array));
    array = make_wide(bed, store, "sealed_again", spec);
    require(parapet_array_seal(array));
    write_box(bed, array, &corner, 14);
    require(parapet_array_seal(array));
    require(parapet_array_close(&array));
    array = make_wide(bed, store, "unsealed", spec);
    require(parapet_array_seal(array));
    require(parapet_array_unseal(array));
    require(parapet_array_close(&array));
    (void)snprintf(path, sizeof path, "%s/partly", spec->unsharded ? "chunks" : "shards");
    require(parapet_array_create(&array, store, path, spec));
    write_box(bed, array, &corner, 15);
    require(parapet_array_seal(array));
    require(parapet_array_close(&array));
}

static void make_sealed_in(const digest_bed *bed, const char *name, const char *codec)
{
    parapet_store *store = open_store(bed, name);
    int sharded;
    for (sharded = 0; sharded < 2; sharded++) {
        parapet_array_spec spec = wide_spec(sharded, codec);
        seal(bed, store, &spec);
    }
    require(parapet_store_close(&store));
}

/* Chunks that equal the fill value are not stored. */
static void make_elided(const digest_bed *bed)
{
    parapet_store_options options = plain_options(bed);
    parapet_array_spec spec = wide_spec(true, "none");
    int32_t *fill = malloc((size_t)(wide[0] * wide[1]) * sizeof fill[0]);
    static const int64_t start[2] = {0, 0};
    parapet_part part = {0};
    digest_box some = {.start = {0, 0}, .count = {9, 9}};
    parapet_array *array = NULL;
    parapet_store *store;
    int64_t i;
    require_true(fill != NULL, "no memory");
    for (i = 0; i < wide[0] * wide[1]; i++)
        fill[i] = *(const int32_t *)spec.fill_value;
    part.ndim = 2;
    part.start = start;
    part.count = wide;
    part.data = fill;
    options.elide_fill = 1;
    store = open_store_with(bed, "elided", &options);
    require(parapet_array_create(&array, store, "a", &spec));
    require(parapet_array_write(array, &part, bed->rank == 0 ? 1 : 0));
    write_box(bed, array, &some, 16);
    require(parapet_array_close(&array));
    require(parapet_store_close(&store));
    free(fill);
}

void make_changed(const digest_bed *bed)
{
    make_changed_in(bed, "changed", "none");
    make_changed_in(bed, "compressed_changed", "blosc:zstd:3:shuffle");
    make_sealed_in(bed, "sealed", "none");
    make_sealed_in(bed, "compressed_sealed", "zstd:3");
    make_elided(bed);
}
