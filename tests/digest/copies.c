/* copies.c - copies that were completed, resumed and interrupted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bed.h"

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

/* How one copy differs from the next. */
typedef struct digest_copy {
    const char *target;
    parapet_copy_changes changes;
    int64_t passes;
    parapet_reading reading;
} digest_copy;

static const digest_copy kinds[] = {
    {"same", {0}, 0, 0},
    {"chunks", {.chunks = "5,6,7"}, 0, 0},
    {"shards", {.chunks = "4,4,4", .shards = "8,16,8"}, 0, 0},
    {"scattered", {.chunks = "x/10", .shards = "none"}, 0, 0},
    {"permuted", {.order = "x,-t,y", .chunks = "8,4,5", .shards = "16,12,10"}, 0, 0},
    {"region", {.region = "t=2:9,x=3:20", .chunks = "auto"}, 0, 0},
    {"two_passes", {.chunks = "12,2,2", .shards = "12,6,8"}, 2, 0},
    {"no_checksum", {.chunks = "6,8,10", .no_checksum = 1}, 0, 0},
};

static void make_source(const digest_bed *bed, parapet_store *store, const char *path, const char *codec,
                        bool is_sharded)
{
    static const int64_t shape[3] = {12, 18, 22}, chunks[3] = {3, 9, 11}, shards[3] = {6, 18, 22};
    static const char *const names[3] = {"t", "y", "x"};
    static const float fill = -1.5f;
    parapet_array_spec spec = {.type = PARAPET_FLOAT32, .ndim = 3, .shape = shape, .chunks = chunks};
    spec.shards = is_sharded ? shards : NULL;
    spec.unsharded = !is_sharded;
    spec.codec = codec;
    spec.fill_value = &fill;
    spec.dimension_names = names;
    spec.attributes = "{\"long_name\": \"what is copied\"}";
    spec.no_checksum = strcmp(path, "plain") == 0;
    leave_array(bed, store, path, &spec, 21);
}

/* An array with holes, and one that is sealed. */
static void make_special_sources(const digest_bed *bed, parapet_store *store, const char *codec)
{
    static const int64_t shape[2] = {16, 16}, chunks[2] = {4, 4}, shards[2] = {8, 8};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards};
    digest_box corner = {.start = {1, 1}, .count = {6, 3}};
    parapet_array *array = NULL;
    spec.codec = codec;
    require(parapet_array_create(&array, store, "g/holes", &spec));
    write_box(bed, array, &corner, 22);
    require(parapet_array_close(&array));
    array = make_array(bed, store, "g/below/sealed", &spec, 23);
    require(parapet_array_seal(array));
    require(parapet_array_close(&array));
}

static parapet_store *make_sources(const digest_bed *bed, const char *name, const char *codec)
{
    parapet_store *store = open_store(bed, name);
    parapet_group *group = NULL;
    make_source(bed, store, "a", codec, true);
    make_source(bed, store, "plain", "none", true);
    make_source(bed, store, "g/first", codec, false);
    make_source(bed, store, "g/second", codec, true);
    make_special_sources(bed, store, codec);
    require(parapet_group_open(&group, store, "g"));
    require(parapet_group_attribute_set(group, "title", "\"four arrays\""));
    require(parapet_group_consolidate(group));
    require(parapet_group_close(&group));
    return store;
}

/* The time is not measured, so that the plan depends on nothing else. */
static parapet_copy_request request_of(const digest_copy *kind, parapet_store *source, parapet_store *target)
{
    return (parapet_copy_request){.source = source,
                                  .source_path = "a",
                                  .target = target,
                                  .target_path = kind->target,
                                  .changes = kind->changes,
                                  .passes = kind->passes,
                                  .reading = kind->reading,
                                  .verify = 1,
                                  .no_probe = 1};
}

static void copy_groups(parapet_store *source, parapet_store *target, const char *codec)
{
    const digest_copy same = {"group", {0}, 0, 0};
    const digest_copy changed = {"changed/group", {.chunks = "t/6,x/5", .codec = codec}, 0, 0};
    parapet_copy_request request = request_of(&same, source, target);
    request.source_path = "g";
    require(parapet_copy(&request, NULL));
    request = request_of(&changed, source, target);
    request.source_path = "g";
    require(parapet_copy(&request, NULL));
}

/* Chunks that are stored as they are can be read in runs. */
static void copy_runs(parapet_store *source, parapet_store *target, const char *codec)
{
    const digest_copy runs = {"runs", {.chunks = "12,5,4", .shards = "none", .codec = codec}, 1, 2};
    parapet_copy_request request = request_of(&runs, source, target);
    request.source_path = "plain";
    require(parapet_copy(&request, NULL));
}

static void copy_all(const digest_bed *bed, parapet_store *source, const char *name, const char *codec)
{
    parapet_store *target = open_store(bed, name);
    parapet_copy_request request;
    size_t i;
    for (i = 0; i < COUNT_OF(kinds); i++) {
        request = request_of(&kinds[i], source, target);
        request.changes.codec = codec;
        require(parapet_copy(&request, NULL));
    }
    copy_runs(source, target, codec);
    copy_groups(source, target, codec);
    require(parapet_store_close(&target));
}

void make_copies(const digest_bed *bed)
{
    parapet_store *source = make_sources(bed, "copy_source", "none");
    parapet_store *compressed = make_sources(bed, "compressed_source", "zstd:3");
    copy_all(bed, source, "copies", NULL);
    copy_all(bed, compressed, "compressed_copies", NULL);
    copy_all(bed, source, "compressed_copies_packed", "gzip:4");
    require(parapet_store_close(&source));
    require(parapet_store_close(&compressed));
}

/* ---- Arrays of other writers ---- */

/* Types and codecs that an array cannot be made with, only copied: text, records, v2 filters, nested shards. */
static const char *const foreign[] = {
    "extra/accept_type_fixed_length_utf32",
    "extra/accept_type_struct",
    "extra/accept_type_structured_old_form",
    "extra/accept_type_r24",
    "extra/accept_v2_adler32",
    "extra/accept_v2_crc32",
    "extra/accept_v2_fletcher32",
    "extra/accept_v2_structured",
    "extra/accept_v2_utf32_big_endian",
    "extra/accept_v2_text_fill",
    "extra/accept_v2_datetime64",
    "cases/v2/p02_raw_be",
    "cases/v2/p03_order_F",
    "cases/v2/p04_zlib",
    "cases/v2/p05_gzip",
    "cases/v2/p06_zstd",
    "cases/v2/p08_blosc_zstd_bit",
    "cases/v2/p10_lz4",
    "cases/v2/p12_nan_fill",
    "cases/v2/p13_null_fill",
    "cases/v2/p16_shuffle_zlib",
    "cases/v2/p17_delta_zlib",
    "cases/v2/q_S4",
    "cases/v2/r1_scalar",
    "cases/v3/a02_plain_be",
    "cases/v3/a03_gzip",
    "cases/v3/a05_zstd_checksum",
    "cases/v3/b_blosc_lz4_bitshuffle",
    "cases/v3/c2_transpose_120",
    "cases/v3/c3_crc32c_chunk",
    "cases/v3/c6_transpose_reverse_3d",
    "cases/v3/d02_shard_start_crc",
    "cases/v3/d04_shard_end_nocrc",
    "cases/v3/d05_shard_index_big",
    "cases/v3/d08_shard_nested",
    "cases/v3/d09_shard_inner_crc",
    "cases/v3/d10_shard_outer_gzip",
    "cases/v3/g1_key_default_dot",
    "cases/v3/g4_key_v2_dot",
    "cases/v3/g5_key_v2_slash",
    "cases/v3/j1_dimnames_null",
    "cases/v3/f_fill_f32_hexnan",
    "cases/v3/l3_zstd_negative_level",
    "cases/v3/i6_unknown_codec_mu_false",
    "cases/v3/d19_transpose_then_shard_ok_both",
};

/* Once more, and written over: with codecs that only a copy has. */
static void write_copy(const digest_bed *bed, parapet_copy_request *request)
{
    parapet_array *array = NULL;
    char path[200];
    (void)snprintf(path, sizeof path, "written/%s", request->target_path);
    request->target_path = path;
    require(parapet_copy(request, NULL));
    require(parapet_array_open(&array, request->target, path));
    write_whole(bed, array, 31);
    require(parapet_array_close(&array));
}

static void copy_foreign(const digest_bed *bed, const char *name, parapet_store *target)
{
    parapet_store_options options = plain_options(bed);
    parapet_copy_request request = {.source_path = "", .target = target, .no_probe = 1};
    char url[2000];
    (void)snprintf(url, sizeof url, "%s/%s", bed->cases, name);
    require(parapet_store_open(&request.source, bed->comm, url, PARAPET_READ, &options));
    request.target_path = strrchr(name, '/') + 1;
    require(parapet_copy(&request, NULL));
    if (strncmp(name, "cases/v2/", 9) != 0)
        write_copy(bed, &request);
    require(parapet_store_close(&request.source));
}

void make_foreign(const digest_bed *bed)
{
    parapet_store *target = open_store(bed, "compressed_foreign");
    size_t i;
    for (i = 0; i < COUNT_OF(foreign); i++)
        copy_foreign(bed, foreign[i], target);
    require(parapet_store_close(&target));
}

/* ---- Interrupted ---- */

/* Cancels when so many thousandths are done. */
static int stop_at(void *context, int64_t done_bytes, int64_t total_bytes)
{
    const int64_t *thousandths = context;
    return done_bytes * 1000 >= total_bytes * *thousandths;
}

/* A copy in units of 2 KiB that is left after so many thousandths. */
static void interrupt(const digest_bed *bed, parapet_store *source, const char *name, parapet_copy_request request,
                      int64_t thousandths)
{
    parapet_store_options options = plain_options(bed);
    options.memory_bytes = 1 << 20;
    options.progress = stop_at;
    options.progress_context = &thousandths;
    request.source = source;
    request.target = open_store_with(bed, name, &options);
    request.unit_bytes = 2048;
    request.verify = 0; /* which would count as progress */
    require_true(parapet_copy(&request, NULL) == PARAPET_ERR_CANCELLED, "a copy was not interrupted");
    require(parapet_store_close(&request.target));
}

static void resume(const digest_bed *bed, parapet_store *source, const char *name, parapet_copy_request request)
{
    parapet_store_options options = plain_options(bed);
    options.memory_bytes = 1 << 20;
    request.source = source;
    request.target = open_store_with(bed, name, &options);
    request.unit_bytes = 2048;
    request.resume = 1;
    require(parapet_copy(&request, NULL));
    require(parapet_store_close(&request.target));
}

void interrupt_copies(const digest_bed *bed)
{
    const digest_copy one = {"one", {.chunks = "4,6,5", .shards = "12,18,10"}, 1, 0};
    const digest_copy two = {"two", {.chunks = "12,2,2", .shards = "12,6,8"}, 2, 0};
    const digest_copy group = {"group", {.chunks = "t/4,x/5", .shards = "auto"}, 0, 0};
    parapet_store *source = open_store(bed, "copy_source");
    parapet_copy_request requests[] = {request_of(&one, source, NULL), request_of(&two, source, NULL),
                                       request_of(&group, source, NULL)};
    size_t i;
    requests[2].source_path = "g";
    for (i = 0; i < COUNT_OF(requests); i++) {
        interrupt(bed, source, "interrupted_at_once", requests[i], 0);
        interrupt(bed, source, "interrupted_early", requests[i], 150);
        interrupt(bed, source, "interrupted_midway", requests[i], 500);
        interrupt(bed, source, "interrupted_late", requests[i], 900);
        interrupt(bed, source, "resumed", requests[i], 600);
        resume(bed, source, "resumed", requests[i]);
    }
    require(parapet_store_close(&source));
}
