/* fuzz_verbs.c - whole verbs on a store in which one of the library's own files was changed.
 *
 *     | kind of file | 's': mend checksums | edits of 4 bytes: what, where: 2 bytes, with what ... |
 *
 * The store of a kind is what a job has left that died, or that ended, and is made once. The edits change the file,
 * so that what is tried is mostly right. Then all verbs run that read it. Each ends in a status and a sentence, and
 * nothing stays allocated. PARAPET_FUZZ_FILE=job, for example, tries one kind only. At the end it says how many verbs
 * that were. */
#include <parapet_store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/open.h"
#include "base/bytes.h"
#include "base/checked.h"
#include "bed.h"
#include "codec/crc32c.h"
#include "stores/faulty.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

enum { OBJECTS_MOST = 256, STEPS = 6, EDIT_BYTES = 4, EDITS_MOST = 8 };

typedef struct object {
    char *key, *data;
    size_t bytes;
} object;

typedef struct kind {
    const char *name, *key; /* of the file */
    const char *word;       /* that it has to have in it */
    void (*prepare)(parapet_store *store);
    void (*die)(parapet_store *store); /* what a job does that dies as late as the file is there; NULL: none does */
    void (*mend)(char *data, size_t bytes);
    void (*verbs)(parapet_store *store);
} kind;

/* What lies in the store of a kind, and which of it is the file; NULL: it was not made yet. */
typedef struct made {
    object objects[OBJECTS_MOST];
    int count;
    const object *file;
} made;

/* ---- Verbs ---- */

static long verbs; /* that have ended */

static void tell_verbs(void)
{
    printf("verbs: %ld\n", verbs);
}

static void judge(parapet_status status)
{
    if (verbs++ == 0)
        (void)atexit(tell_verbs);
    require(status == PARAPET_OK || parapet_error_message()[0] != '\0');
}

static void read_array(parapet_store *store, const char *path)
{
    parapet_check_summary summary;
    parapet_array *array = NULL;
    parapet_status status = parapet_array_open(&array, store, path);
    judge(status);
    if (status == PARAPET_OK)
        judge(parapet_array_check(array, PARAPET_CHECK_DATA, NULL, NULL, &summary));
    (void)parapet_array_close(&array);
}

static void collect(parapet_store *store)
{
    judge(parapet_store_remove(store, "", 1, 1, NULL, NULL));
    judge(parapet_store_collect(store, "", 1, NULL, NULL));
    judge(parapet_store_collect(store, "", 0, NULL, NULL));
}

static void write_values(parapet_array *array, int64_t rows, int64_t columns)
{
    static float values[1024];
    const int64_t start[2] = {0, 0}, count[2] = {rows, columns};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = values};
    require(rows * columns <= 1024 && parapet_array_write(array, &part, 1) == PARAPET_OK);
}

/* ---- Sealed and cut arrays ---- */

static void make_array(parapet_store *store, const char *path, parapet_array **array)
{
    static const int64_t shape[2] = {32, 32}, chunks[2] = {8, 8}, shards[2] = {16, 16};
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT32, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    require(parapet_array_create(array, store, path, &spec) == PARAPET_OK);
    write_values(*array, 32, 32);
}

static void make_sealed(parapet_store *store)
{
    parapet_array *array;
    make_array(store, "a", &array);
    require(parapet_array_seal(array) == PARAPET_OK && parapet_array_close(&array) == PARAPET_OK);
}

static void make_plain(parapet_store *store)
{
    parapet_array *array;
    make_array(store, "a", &array);
    require(parapet_array_close(&array) == PARAPET_OK);
}

static void cut_array(parapet_store *store)
{
    static const int64_t shape[2] = {20, 12};
    parapet_array *array = NULL;
    if (parapet_array_open(&array, store, "a") == PARAPET_OK)
        (void)parapet_array_resize(array, shape);
    (void)parapet_array_close(&array);
}

static void use_array(parapet_store *store)
{
    static const int64_t shape[2] = {32, 32};
    parapet_array *array = NULL;
    read_array(store, "a");
    collect(store);
    judge(parapet_array_open(&array, store, "a"));
    if (array != NULL)
        judge(parapet_array_resize(array, shape));
    (void)parapet_array_close(&array);
    judge(parapet_store_remove(store, "a", 0, 0, NULL, NULL));
}

/* ---- Series ---- */

static parapet_status append_steps(parapet_series *series, int count)
{
    static double values[40];
    static const int64_t start[1] = {0}, points[1] = {40};
    parapet_part part = {.ndim = 1, .start = start, .count = points, .data = values};
    parapet_step step = {.parts = &part, .part_count = 1};
    parapet_status status = PARAPET_OK;
    for (; count > 0 && status == PARAPET_OK; count--)
        status = parapet_series_append(series, 100.0 - count, &step);
    return status;
}

static void make_series(parapet_store *store)
{
    static const int64_t shape[2] = {0, 40}, chunks[2] = {1, 20}, shards[2] = {4, 20};
    static const char *const names[1] = {"u"};
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = 2, .shape = shape, .chunks = chunks, .shards = shards, .codec = "none"};
    parapet_series_spec given = {.count = 1, .names = names, .specs = &spec};
    parapet_series *series = NULL;
    require(parapet_series_create(&series, store, "run", &given) == PARAPET_OK);
    require(append_steps(series, STEPS) == PARAPET_OK && parapet_series_close(&series) == PARAPET_OK);
}

static void append_series(parapet_store *store)
{
    parapet_series *series = NULL;
    if (parapet_series_open(&series, store, "run") == PARAPET_OK)
        (void)append_steps(series, STEPS);
    (void)parapet_series_close(&series);
}

static void use_series(parapet_store *store)
{
    parapet_series *series = NULL;
    judge(parapet_series_repair(store, "run", PARAPET_BEYOND_REFUSE));
    read_array(store, "run/u");
    judge(parapet_series_open(&series, store, "run"));
    if (series != NULL)
        judge(append_steps(series, 1));
    (void)parapet_series_close(&series);
    collect(store);
}

/* ---- Checkpoints ---- */

static float field[16];

static parapet_checkpoint_item item_of(parapet_part *part)
{
    static const int64_t start[1] = {0}, count[1] = {16};
    static const parapet_array_spec spec = {.type = PARAPET_FLOAT32, .ndim = 1, .shape = count};
    *part = (parapet_part){.ndim = 1, .start = start, .count = count, .data = field};
    return (parapet_checkpoint_item){.name = "f", .spec = &spec, .parts = part, .part_count = 1};
}

static void make_checkpoints(parapet_store *store)
{
    int i;
    for (i = 0; i < 2; i++) {
        parapet_checkpoint *checkpoint = NULL;
        parapet_part part;
        parapet_checkpoint_item item = item_of(&part);
        require(parapet_checkpoint_begin(&checkpoint, store, "restart", NULL) == PARAPET_OK);
        require(parapet_checkpoint_put(checkpoint, &item, 1) == PARAPET_OK);
        require(parapet_checkpoint_commit(&checkpoint, NULL) == PARAPET_OK);
    }
}

static void use_checkpoints(parapet_store *store)
{
    parapet_restore *restore = NULL;
    parapet_part part;
    parapet_checkpoint_item item = item_of(&part);
    judge(parapet_restore_open(&restore, store, "restart", 0));
    if (restore != NULL)
        judge(parapet_restore_get(restore, &item, 1));
    (void)parapet_restore_close(&restore);
    judge(parapet_store_remove(store, "restart/g00000002/f", 0, 0, NULL, NULL));
    collect(store);
}

/* ---- Copies ---- */

static parapet_status copy(parapet_store *store, const char *source, const char *target, int64_t passes)
{
    parapet_copy_request request = {.source = store,
                                    .source_path = source,
                                    .target = store,
                                    .target_path = target,
                                    .changes = {.chunks = "32,4", .shards = "32,8"},
                                    .unit_bytes = 2048,
                                    .resume = 1,
                                    .passes = passes,
                                    .no_probe = 1};
    return parapet_copy(&request, NULL);
}

static void make_source(parapet_store *store)
{
    parapet_array *array;
    make_array(store, "s/a", &array);
    require(parapet_array_close(&array) == PARAPET_OK);
    make_array(store, "s/b", &array);
    require(parapet_array_close(&array) == PARAPET_OK);
}

static void copy_once(parapet_store *store)
{
    (void)copy(store, "s/a", "t", 1);
}

static void copy_twice(parapet_store *store)
{
    (void)copy(store, "s/a", "t", 2);
}

static void copy_group(parapet_store *store)
{
    (void)copy(store, "s", "t", 0);
}

static void use_copy(parapet_store *store)
{
    judge(copy(store, "s/a", "t", 1));
    read_array(store, "t");
    collect(store);
}

static void use_passes(parapet_store *store)
{
    judge(copy(store, "s/a", "t", 2));
    read_array(store, "t");
    collect(store);
}

static void use_group(parapet_store *store)
{
    judge(copy(store, "s", "t", 0));
    read_array(store, "t/b");
    collect(store);
}

/* ---- Appends ---- */

static void make_dated(parapet_store *store, const char *path, int32_t first)
{
    static const int64_t extent[1] = {3}, start[1] = {0}, chunks[1] = {4};
    static const char *const names[1] = {"time"};
    int32_t values[3] = {first, first + 1, first + 2};
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 1, .shape = extent, .chunks = chunks, .dimension_names = names};
    parapet_part part = {.ndim = 1, .start = start, .count = extent, .data = values};
    parapet_array *array;
    require(parapet_array_create(&array, store, path, &spec) == PARAPET_OK);
    require(parapet_array_write(array, &part, 1) == PARAPET_OK && parapet_array_close(&array) == PARAPET_OK);
}

static void make_dated_groups(parapet_store *store)
{
    make_dated(store, "old/time", 0);
    make_dated(store, "old/t", 0);
    make_dated(store, "new/time", 3);
    make_dated(store, "new/t", 3);
}

static parapet_status append(parapet_store *store)
{
    parapet_copy_request request = {
        .source = store, .source_path = "new", .target = store, .target_path = "old", .append = "time"};
    return parapet_copy(&request, NULL);
}

static void append_group(parapet_store *store)
{
    (void)append(store);
}

static void use_append(parapet_store *store)
{
    read_array(store, "old/t");
    judge(parapet_store_collect(store, "", 1, NULL, NULL));
    judge(append(store));
    collect(store);
}

/* Of documents that an append believes: it alone, so that many are tried. */
static void append_only(parapet_store *store)
{
    judge(append(store));
}

/* ---- Checksums ---- */

static void mend_lines(char *data, size_t bytes, const char *word)
{
    char line[32], *last = NULL, *found = data;
    size_t length;
    if (strlen(data) != bytes)
        return;
    while ((found = strstr(found, word)) != NULL)
        last = found++;
    if (last == NULL)
        return;
    (void)snprintf(line, sizeof line, "%s%08x\n", word, (unsigned)pp_crc32c(0, data, (size_t)(last - data)));
    length = strlen(line);
    if (strlen(last) == length)
        memcpy(last, line, length);
}

static void mend_text(char *data, size_t bytes)
{
    mend_lines(data, bytes, "crc32c: ");
}

static void mend_commit(char *data, size_t bytes)
{
    mend_lines(data, bytes, "crc32c ");
}

static void mend_end(char *data, size_t bytes)
{
    if (bytes >= 4)
        pp_store_u32le((unsigned char *)data + bytes - 4, pp_crc32c(0, data, bytes - 4));
}

static void mend_records(char *data, size_t bytes, size_t record, size_t summed)
{
    size_t at;
    for (at = 0; at + record <= bytes; at += record)
        pp_store_u32le((unsigned char *)data + at + record - 4, pp_crc32c(0, data + at, summed));
}

static void mend_done(char *data, size_t bytes)
{
    mend_records(data, bytes, 16, 12);
}

/* ---- The kinds ---- */

#define STATE "t/__parapet/copy/"

static const kind kinds[] = {
    {"seal", "a/__parapet/seal", "", make_sealed, NULL, mend_end, use_array},
    {"sealed_document", "a/zarr.json", "sealed", make_sealed, NULL, NULL, use_array},
    {"cut_document", "a/zarr.json", "trim", make_plain, cut_array, NULL, use_array},
    {"lock", "a/__parapet/lock", "", make_plain, NULL, NULL, use_array},
    {"commit", "restart/__parapet/commits/00000002", "", make_checkpoints, NULL, mend_commit, use_checkpoints},
    {"series_mark", "run/zarr.json", "", make_series, append_series, NULL, use_series},
    {"row_records", "run/time/__parapet/changes", "", make_series, append_series, mend_text, use_series},
    {"job", STATE "job", "", make_source, copy_once, mend_text, use_copy},
    {"done", STATE "pass-0/done-0", "", make_source, copy_once, mend_done, use_copy},
    {"pass", STATE "finished-0", "", make_source, copy_twice, NULL, use_passes},
    {"finished", STATE "finished", " t/", make_source, copy_group, NULL, use_group},
    {"change", "old/__parapet/change", "document", make_dated_groups, append_group, mend_text, use_append},
    {"append_source", "new/time/zarr.json", "", make_dated_groups, NULL, NULL, append_only},
    {"append_along", "new/t/zarr.json", "", make_dated_groups, NULL, NULL, append_only},
    {"append_target", "old/time/zarr.json", "", make_dated_groups, NULL, NULL, append_only},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static made stores[KINDS];

/* ---- The store of a kind ---- */

typedef struct folder {
    made *of;
    pp_store *memory;
    const char *prefix;
} folder;

static void forget(made *of)
{
    while (of->count > 0) {
        of->count--;
        pp_free(of->objects[of->count].key);
        pp_free(of->objects[of->count].data);
    }
}

static parapet_status keep_listed(void *context, const pp_listed *listed)
{
    const folder *above = context;
    pp_text text = {0};
    char *key = NULL;
    pp_text_add(&text, "%s%s%s", above->prefix, above->prefix[0] != '\0' ? "/" : "", listed->name);
    require(pp_text_finish(&text, &key) == PARAPET_OK);
    if (listed->is_prefix) {
        folder below = {.of = above->of, .memory = above->memory, .prefix = key};
        require(pp_store_list(above->memory, key, keep_listed, &below) == PARAPET_OK);
        pp_free(key);
    } else {
        object *kept = &above->of->objects[above->of->count++];
        require(above->of->count < OBJECTS_MOST);
        kept->key = key;
        require(pp_store_read_all(above->memory, key, 1 << 20, &kept->data, &kept->bytes) == PARAPET_OK);
    }
    return PARAPET_OK;
}

static void keep(made *of, pp_store *memory)
{
    folder root = {.of = of, .memory = memory, .prefix = ""};
    forget(of);
    require(pp_store_list(memory, "", keep_listed, &root) == PARAPET_OK);
}

static bool has_file(const kind *of, pp_store *memory)
{
    char *data = NULL;
    size_t bytes;
    bool has = pp_store_read_all(memory, of->key, 1 << 20, &data, &bytes) == PARAPET_OK &&
               (of->word[0] == '\0' || strstr(data, of->word) != NULL);
    pp_free(data);
    return has;
}

/* With a plan, storage is gone from an operation on, counted since the store is open. */
static void do_over(pp_store *storage, void (*work)(parapet_store *store), pp_fault_plan *plan, long at)
{
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE, .threads = 1, .memory_bytes = 1 << 20};
    parapet_store *store = NULL;
    require(pp_store_open_over(&store, MPI_COMM_NULL, storage, PARAPET_CREATE, &options) == PARAPET_OK);
    if (plan != NULL)
        *plan = (pp_fault_plan){.fail_at = at, .fail_forever = true, .status = PARAPET_ERR_IO};
    work(store);
    (void)parapet_store_close(&store);
}

/* The job dies at an operation, if that is not negative; how many there were. */
static long die_at(const kind *of, made *left, long at)
{
    pp_fault_plan plan = {.fail_at = -1};
    pp_store *memory, *faulty;
    require(pp_store_memory_build(&memory, NULL) == PARAPET_OK);
    do_over(memory, of->prepare, NULL, 0);
    require(pp_store_faulty_build(&faulty, memory, &plan) == PARAPET_OK);
    if (of->die != NULL)
        do_over(faulty, of->die, &plan, at);
    pp_store_free(faulty);
    if (has_file(of, memory) && (plan.failures > 0 || of->die == NULL))
        keep(left, memory);
    pp_store_free(memory);
    return plan.operations;
}

static void prepare(const kind *of, made *left)
{
    long at = die_at(of, left, -1);
    int i;
    while (left->count == 0 && at > 0)
        (void)die_at(of, left, --at);
    for (i = 0; i < left->count; i++)
        if (strcmp(left->objects[i].key, of->key) == 0)
            left->file = &left->objects[i];
    if (left->file == NULL)
        (void)fprintf(stderr, "%s: no job leaves %s\n", of->name, of->key);
    require(left->file != NULL);
}

static void put_all(const made *of, pp_store *memory, const char *data, size_t bytes)
{
    int i;
    for (i = 0; i < of->count; i++) {
        const object *kept = &of->objects[i];
        bool is_file = kept == of->file;
        pp_write_request request = {.key = kept->key, .staging = "", .is_small = true};
        require(pp_store_write_all(memory, &request, is_file ? data : kept->data, is_file ? bytes : kept->bytes,
                                   PP_PUBLISH_REPLACE) == PARAPET_OK);
    }
}

/* ---- Edits ---- */

static const uint64_t numbers[] = {0,
                                   1,
                                   2,
                                   7,
                                   255,
                                   1 << 15,
                                   INT32_MAX,
                                   (uint64_t)1 << 32,
                                   (uint64_t)1 << 40,
                                   (uint64_t)1 << 62,
                                   INT64_MAX,
                                   (uint64_t)1 << 63,
                                   UINT64_MAX};

typedef struct content {
    char data[1 << 16];
    size_t bytes;
} content;

static void replace(content *file, size_t at, size_t gone, const char *with, size_t bytes)
{
    gone = pp_min_size(gone, file->bytes - at);
    if (file->bytes - gone + bytes >= sizeof file->data)
        return;
    memmove(file->data + at + bytes, file->data + at + gone, file->bytes - at - gone);
    memcpy(file->data + at, with, bytes);
    file->bytes += bytes - gone;
}

static void replace_number(content *file, size_t at, uint64_t number)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    size_t count = 0;
    while (at < file->bytes && (file->data[at] < '0' || file->data[at] > '9'))
        at++;
    while (at + count < file->bytes && file->data[at + count] >= '0' && file->data[at + count] <= '9')
        count++;
    replace(file, at, count, digits, (size_t)length);
}

/* Drops the line at a place, or doubles it. */
static void change_line(content *file, size_t at, bool doubles)
{
    char line[512];
    size_t length = 0;
    while (at > 0 && file->data[at - 1] != '\n')
        at--;
    while (at + length < file->bytes && length < sizeof line - 1 && file->data[at + length] != '\n')
        length++;
    length += at + length < file->bytes;
    memcpy(line, file->data + at, length);
    replace(file, at, doubles ? 0 : length, line, doubles ? length : 0);
}

static void edit(content *file, const unsigned char *with)
{
    enum { WAYS = 8 };
    size_t at = (size_t)(with[1] | with[2] << 8) % (file->bytes + 1);
    uint64_t number = numbers[with[3] % (sizeof numbers / sizeof numbers[0])];
    unsigned char eight[8];
    pp_store_u64le(eight, number);
    switch (with[0] % WAYS) {
    case 0:
        replace(file, at, 1, (const char *)with + 3, 1);
        break;
    case 1:
        replace(file, at, with[3], "", 0);
        break;
    case 2:
        replace(file, at, 0, (const char *)with + 3, 1);
        break;
    case 3:
        replace_number(file, at, number);
        break;
    case 4:
        replace(file, at / 8 * 8, 8, (const char *)eight, 8);
        break;
    case 5:
        file->bytes = at;
        break;
    default:
        change_line(file, at, with[0] % WAYS == 6);
    }
}

/* ---- One input ---- */

static int kind_of(unsigned char first)
{
    const char *wanted = getenv("PARAPET_FUZZ_FILE");
    int i;
    for (i = 0; wanted != NULL && i < KINDS; i++)
        if (strcmp(kinds[i].name, wanted) == 0)
            return i;
    require(wanted == NULL || wanted[0] == '\0');
    return first % KINDS;
}

static void run_verbs(const kind *of, const made *left, const content *file)
{
    pp_store *memory;
    require(pp_store_memory_build(&memory, NULL) == PARAPET_OK);
    put_all(left, memory, file->data, file->bytes);
    do_over(memory, of->verbs, NULL, 0);
    pp_store_free(memory);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    static content file;
    const kind *of;
    made *left;
    size_t at;
    long live;
    if (bytes < 2)
        return 0;
    of = &kinds[kind_of(data[0])];
    left = &stores[of - kinds];
    if (left->file == NULL)
        prepare(of, left);
    live = pp_memory_live_count();
    file.bytes = left->file->bytes;
    require(file.bytes < sizeof file.data);
    memcpy(file.data, left->file->data, file.bytes);
    for (at = 2; at + EDIT_BYTES <= bytes && at < EDITS_MOST * EDIT_BYTES; at += EDIT_BYTES)
        edit(&file, data + at);
    file.data[file.bytes] = '\0';
    if (data[1] == 's' && of->mend != NULL)
        of->mend(file.data, file.bytes);
    run_verbs(of, left, &file);
    require(pp_memory_live_count() == live);
    return 0;
}
