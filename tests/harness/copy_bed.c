#include "copy_bed.h"

#include <parapet_plan.h>
#include <unistd.h>

#include "base/bytes.h"
#include "codec/crc32c.h"
#include "crash.h"
#include "support.h"

enum { EDGE = 24 };

/* Source: 24 x 24 in chunks of 4 x 6, some of which are not stored. */
const copy_subject copy_subjects[] = {
    {.name = "shards of several templates",
     .changes = {.chunks = "6,4", .shards = "12,12"},
     .unit_bytes = 200,
     .source_path = "s",
     .target_path = "g/t"},
    {.name = "no shards",
     .changes = {.chunks = "6,4", .shards = "none", .codec = "zstd:1"},
     .unit_bytes = 400,
     .source_path = "s",
     .target_path = "t"},
    {.name = "two passes",
     .changes = {.chunks = "8,3", .shards = "24,6"},
     .unit_bytes = 500,
     .passes = 2,
     .source_path = "s",
     .target_path = "g/t"},
    {.name = "work units of several shards",
     .changes = {.chunks = "2,12", .shards = "4,12"},
     .unit_bytes = 800,
     .source_path = "s",
     .target_path = "t"},
    {.name = "two passes, a third store, another order",
     .changes = {.chunks = "3,8", .shards = "6,24", .order = "1,-0", .region = "2:23,1:24"},
     .unit_bytes = 300,
     .passes = 2,
     .has_temporary = true,
     .elides_fill = true,
     .source_path = "s",
     .target_path = "t"},
    {.name = "the root, runs of chunks",
     .changes = {.chunks = "12,3", .shards = "24,6", .codec = "gzip:1"},
     .unit_bytes = 300,
     .reading = PARAPET_READING_RUNS,
     .source_path = "plain",
     .target_path = ""},
    {.name = "three passes without shards, measured first",
     .changes = {.chunks = "24,2", .shards = "none"},
     .unit_bytes = 400,
     .passes = 3,
     .probes = true,
     .source_path = "s",
     .target_path = "t"},
    {.name = "text, object by object", .source_path = "named/words", .target_path = "g/t"},
    {.name = "a group with text", .source_path = "named", .target_path = "copies"},
    {.name = "a group with arrays",
     .changes = {.chunks = "6,4", .shards = "12,12"},
     .unit_bytes = 600,
     .source_path = "",
     .target_path = "copies"},
};
const int copy_subject_count = sizeof copy_subjects / sizeof copy_subjects[0];

/* ---- Stores ---- */

static void build_inner(copy_bed *made, int which)
{
    static const char *const names[COPY_STORES] = {"source", "target", "temporary"};
    pp_posix_options options = {.create = true, .not_durable = true};
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", made->folder, names[which]);
    if (made->storage == COPY_IN_MEMORY)
        assert_ok(pp_store_memory_build(&made->inner[which], NULL));
    else
        assert_ok(pp_store_posix_build(&made->inner[which], path, &options));
    crash_prepare(made->inner[which], &made->plan);
    assert_ok(pp_store_faulty_build(&made->faulty[which], made->inner[which], &made->plan));
}

static void build_stores(copy_bed *made, const copy_subject *of, copy_storage storage)
{
    int i;
    *made = (copy_bed){.of = of, .storage = storage, .plan = {.fail_at = -1}, .threads = 1};
    if (storage == COPY_IN_DIRECTORY) {
        (void)snprintf(made->folder, sizeof made->folder, "%s/parapet-copy-XXXXXX",
                       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".");
        assert_non_null(mkdtemp(made->folder));
    }
    for (i = 0; i < COPY_STORES; i++)
        build_inner(made, i);
}

void copy_bed_build(copy_bed *made, const copy_subject *of, const copy_reference *reference, copy_storage storage)
{
    build_stores(made, of, storage);
    image_put(&reference->before, made->inner[COPY_SOURCE]);
}

void copy_bed_free(copy_bed *used)
{
    char command[96];
    int i;
    for (i = 0; i < COPY_STORES; i++) {
        pp_store_free(used->faulty[i]);
        pp_store_free(used->inner[i]);
    }
    (void)snprintf(command, sizeof command, "rm -rf %s", used->folder);
    if (used->folder[0] != '\0')
        assert_int_equal(system(command), 0);
}

/* ---- The source ---- */

static void write_rows(parapet_array *array, int64_t first, int64_t count)
{
    int32_t values[EDGE * EDGE];
    int64_t start[2] = {first, 0}, counts[2] = {count, EDGE}, i;
    parapet_part part = {.ndim = 2, .start = start, .count = counts, .data = values};
    for (i = 0; i < count * EDGE; i++)
        values[i] = (int32_t)(first * EDGE + i) * 7;
    assert_ok(parapet_array_write(array, &part, 1));
}

static void write_array(parapet_store *store, const char *path, const parapet_array_spec *spec)
{
    parapet_array *array;
    assert_ok(parapet_array_create(&array, store, path, spec));
    write_rows(array, 0, 8); /* the next two rows of chunks are not stored */
    write_rows(array, 16, 8);
    assert_ok(parapet_array_close(&array));
}

/* Text of variable length, which is copied as it is stored. */
static void put_words(pp_store *store)
{
    static const char document[] =
        "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [6], \"data_type\": \"string\", \"fill_value\": "
        "\"\","
        " \"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [2]}},"
        " \"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": {\"separator\": \"/\"}},"
        " \"codecs\": [{\"name\": \"vlen-utf8\"}], \"attributes\": {}}";
    static const char words[] = "\2\0\0\0\1\0\0\0a\2\0\0\0bc";
    static const char group[] = "{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": {}}";
    image_put_object(store, "named/zarr.json", group, sizeof group - 1);
    image_put_object(store, "named/words/c/0", words, sizeof words - 1);
    image_put_object(store, "named/words/c/2", words, sizeof words - 1);
    image_put_object(store, "named/words/zarr.json", document, sizeof document - 1);
}

static void write_source(copy_bed *made)
{
    static const int64_t shape[2] = {EDGE, EDGE}, chunks[2] = {4, 6}, shards[2] = {8, 12};
    parapet_array_spec spec = {.type = PARAPET_INT32,
                               .ndim = 2,
                               .shape = shape,
                               .chunks = chunks,
                               .shards = shards,
                               .codec = "zstd:1",
                               .attributes = "{\"units\": \"K\"}"};
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE};
    parapet_group *group;
    parapet_store *store;
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, made->faulty[COPY_SOURCE], PARAPET_CREATE, &options));
    write_array(store, "s", &spec);
    assert_ok(parapet_group_create(&group, store, "below", "{\"title\": \"copied too\"}"));
    assert_ok(parapet_group_close(&group));
    spec.codec = "none";
    spec.no_checksum = spec.unsharded = 1;
    spec.shards = NULL;
    write_array(store, "plain", &spec);
    write_array(store, "below/third", &spec);
    if (strncmp(made->of->source_path, "named", 5) == 0)
        put_words(made->faulty[COPY_SOURCE]);
    assert_ok(parapet_store_close(&store));
}

/* ---- Copying ---- */

parapet_copy_request copy_subject_request(const copy_subject *of)
{
    return (parapet_copy_request){.source_path = of->source_path,
                                  .target_path = of->target_path,
                                  .changes = of->changes,
                                  .unit_bytes = of->unit_bytes,
                                  .memory_bytes = of->memory_bytes,
                                  .passes = of->passes,
                                  .reading = of->reading,
                                  .no_probe = !of->probes};
}

static parapet_status open_stores(copy_bed *used, parapet_copy_request *request)
{
    parapet_store_options options = {.io_thread = used->threads > 1 ? 1 : 2,
                                     .threads = used->threads,
                                     .elide_fill = used->of->elides_fill,
                                     .memory_bytes = 8 << 20,
                                     .progress = used->progress,
                                     .progress_context = used->progress_context};
    parapet_mode mode = used->of->target_path[0] == '\0' ? PARAPET_UPDATE : PARAPET_CREATE;
    parapet_status status;
    if ((status = pp_store_open_over(&request->source, MPI_COMM_NULL, used->faulty[COPY_SOURCE], PARAPET_READ,
                                     &options)) != PARAPET_OK ||
        (status = pp_store_open_over(&request->target, MPI_COMM_NULL, used->faulty[COPY_TARGET], mode, &options)) !=
            PARAPET_OK ||
        !used->of->has_temporary)
        return status;
    return pp_store_open_over(&request->temporary, MPI_COMM_NULL, used->faulty[COPY_TEMPORARY], PARAPET_UPDATE,
                              &options);
}

parapet_status copy_bed_run(copy_bed *used, copy_manner manner, parapet_copy_result *result)
{
    parapet_copy_request request = copy_subject_request(used->of);
    parapet_status status = open_stores(used, &request);
    pp_failure failure = {0};
    *result = (parapet_copy_result){0};
    request.resume = manner.resumes;
    request.overwrite = manner.overwrites;
    request.verify = manner.verifies;
    if (status == PARAPET_OK)
        status = parapet_copy(&request, result);
    pp_failure_take(&failure, status);
    (void)parapet_store_close(&request.temporary);
    (void)parapet_store_close(&request.target);
    (void)parapet_store_close(&request.source);
    return pp_failure_put(&failure);
}

/* ---- What an uninterrupted copy does ---- */

static int64_t product_of_quotients(const char *above, const char *below)
{
    int64_t product = 1;
    char *end;
    for (;; above++, below++) {
        int64_t a = strtoll(above, &end, 10), b;
        above = end;
        b = strtoll(below, &end, 10);
        below = end;
        product *= (a + b - 1) / b;
        if (*above != ',')
            return product;
    }
}

/* Takes templates out of the text of a plan: every pass has its target's chunks, then its template. */
static void study_plan(copy_reference *made, const char *plan)
{
    const char *at = plan, *shape;
    while ((shape = strstr(at, "\"template\": [")) != NULL) {
        const char *chunks = NULL, *next;
        int64_t most;
        for (next = at; (next = strstr(next, "\"chunks\": [")) != NULL && next < shape; next++)
            chunks = next;
        assert_non_null(chunks);
        most = product_of_quotients(strchr(shape, '[') + 1, strchr(chunks, '[') + 1);
        if (most > made->most_chunks)
            made->most_chunks = most;
        made->templates += strtoll(strstr(shape, "\"templates\": ") + 13, NULL, 10);
        at = shape + 1;
    }
}

static void explain(copy_reference *made, copy_bed *used)
{
    parapet_copy_request request = copy_subject_request(used->of);
    char *plan = NULL;
    assert_ok(open_stores(used, &request));
    assert_ok(parapet_copy_request_plan_print(&request, 1, &plan, NULL));
    study_plan(made, plan);
    parapet_free(plan);
    (void)parapet_store_close(&request.temporary);
    assert_ok(parapet_store_close(&request.target));
    assert_ok(parapet_store_close(&request.source));
}

void copy_reference_build(copy_reference *made, const copy_subject *of)
{
    copy_bed work;
    *made = (copy_reference){0};
    pp_memory_hook_set(NULL, NULL); /* a test before this one may have ended early */
    build_stores(&work, of, COPY_IN_MEMORY);
    write_source(&work);
    image_take(&made->before, work.inner[COPY_SOURCE]);
    explain(made, &work);
    work.plan.operations = 0;
    assert_ok(copy_bed_run(&work, (copy_manner){0}, &made->result));
    made->operations = work.plan.operations;
    image_take(&made->stored, work.inner[COPY_TARGET]);
    copy_bed_free(&work);
}

void copy_reference_free(copy_reference *made)
{
    image_free(&made->before);
    image_free(&made->stored);
}

/* ---- What is stored ---- */

/* The index at the end of a shard: as many entries as its checksum goes with; 0: this is no shard. */
static size_t count_entries(const image_object *object)
{
    const unsigned char *data = (const unsigned char *)object->data;
    size_t count;
    for (count = 1; 16 * count + 4 <= object->bytes; count++) {
        const unsigned char *index = data + object->bytes - 4 - 16 * count;
        if (pp_crc32c(0, index, 16 * count) == pp_load_u32le(data + object->bytes - 4))
            return count;
    }
    return 0;
}

/* Chunks may lie in another order: a plan that had to do without some memory visits them in another one. */
static bool has_same_chunks(const image_object *a, const image_object *b)
{
    size_t i, count = count_entries(a);
    const unsigned char *first, *second;
    if (count == 0 || count != count_entries(b) || a->bytes != b->bytes)
        return false;
    first = (const unsigned char *)a->data + a->bytes - 4 - 16 * count;
    second = (const unsigned char *)b->data + b->bytes - 4 - 16 * count;
    for (i = 0; i < 16 * count; i += 16) {
        uint64_t from = pp_load_u64le(first + i), to = pp_load_u64le(second + i),
                 bytes = pp_load_u64le(first + i + 8);
        if (bytes != pp_load_u64le(second + i + 8) || (from == UINT64_MAX) != (to == UINT64_MAX))
            return false;
        if (from != UINT64_MAX &&
            memcmp((const unsigned char *)a->data + from, (const unsigned char *)b->data + to, (size_t)bytes) != 0)
            return false;
    }
    return true;
}

static bool is_same_object(const image_object *a, const image_object *b)
{
    return a->bytes == b->bytes && (memcmp(a->data, b->data, a->bytes) == 0 || has_same_chunks(a, b));
}

static bool say_difference(const image *seen, const image *wanted, char problem[256])
{
    size_t i;
    for (i = 0; i < wanted->count; i++) {
        const image_object *found = image_find(seen, wanted->objects[i].key);
        if (found == NULL || !is_same_object(found, &wanted->objects[i])) {
            (void)snprintf(problem, 256, "%s %s", wanted->objects[i].key, found == NULL ? "is missing" : "differs");
            return false;
        }
    }
    for (i = 0; i < seen->count; i++)
        if (image_find(wanted, seen->objects[i].key) == NULL) {
            (void)snprintf(problem, 256, "%s was left", seen->objects[i].key);
            return false;
        }
    return true;
}

bool copy_bed_is_complete(copy_bed *used, const copy_reference *reference, char problem[256])
{
    image seen, between;
    bool is_complete;
    image_take(&seen, used->inner[COPY_TARGET]);
    image_take(&between, used->inner[COPY_TEMPORARY]);
    is_complete =
        say_difference(&seen, &reference->stored, problem) && say_difference(&between, &(image){0}, problem);
    image_free(&seen);
    image_free(&between);
    return is_complete;
}

static size_t count_below(pp_store *store, const char *path, bool *is_visible)
{
    size_t i, count = 0, length = strlen(path);
    char document[64];
    image seen;
    (void)snprintf(document, sizeof document, "%s%szarr.json", path, length > 0 ? "/" : "");
    image_take(&seen, store);
    for (i = 0; i < seen.count; i++) {
        const char *key = seen.objects[i].key;
        count += length == 0 || (strncmp(key, path, length) == 0 && key[length] == '/');
    }
    *is_visible = image_find(&seen, document) != NULL;
    image_free(&seen);
    return count;
}

size_t copy_bed_remains(copy_bed *used, bool *is_visible)
{
    bool is_between;
    return count_below(used->inner[COPY_TARGET], used->of->target_path, is_visible) +
           count_below(used->inner[COPY_TEMPORARY], "", &is_between);
}

bool copy_bed_has(copy_bed *used, const char *key)
{
    image seen;
    bool has;
    image_take(&seen, used->inner[COPY_TARGET]);
    has = image_find(&seen, key) != NULL;
    image_free(&seen);
    return has;
}
