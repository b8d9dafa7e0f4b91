/* Appends by several ranks, of which one finds no memory, has storage that fails, asks to stop, or calls another
 * append: all return the same, every array is closed again, the target is as it was, and the next append succeeds. */
#include "support.h"

#include <parapet.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/open.h"
#include "base/memory.h"
#include "base/text.h"
#include "codec/crc32c.h"
#include "image.h"
#include "launch.h"
#include "store/store.h"
#include "stores/faulty.h"

enum { WIDTH = 5, BEFORE = 3, ADDED = 4, AFTER = BEFORE + ADDED };

#define TARGET "g/target"
#define MARK TARGET "/__parapet/change"

static launch run;
static image prepared; /* on rank 0: source and target before */

/* ---- What is stored ---- */

static void put_array(parapet_store *store, const char *path, int first, int length, bool has_x)
{
    static const char *const names[2] = {"time", "x"};
    const int64_t shape[2] = {length, WIDTH}, chunks[2] = {2, 2}, start[2] = {0};
    parapet_array_spec spec = {.ndim = has_x ? 2 : 1,
                               .type = PARAPET_INT32,
                               .shape = shape,
                               .chunks = chunks,
                               .codec = "none",
                               .dimension_names = names};
    int32_t values[AFTER * WIDTH];
    parapet_part part = {.ndim = spec.ndim, .start = start, .count = shape, .data = values};
    parapet_array *array;
    int i;
    for (i = 0; i < AFTER * WIDTH; i++)
        values[i] = first * (has_x ? WIDTH : 1) + i;
    assert_ok(parapet_array_create(&array, store, path, &spec));
    assert_ok(parapet_array_write(array, &part, 1));
    assert_ok(parapet_array_close(&array));
}

static void consolidate(parapet_store *store, const char *path)
{
    parapet_group *group;
    assert_ok(parapet_group_open(&group, store, path));
    assert_ok(parapet_group_consolidate(group));
    assert_ok(parapet_group_close(&group));
}

/* The target and the groups around it have consolidated metadata. */
static void prepare(void)
{
    pp_store *memory;
    parapet_store *store;
    assert_ok(pp_store_memory_build(&memory, NULL));
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, memory, PARAPET_CREATE, NULL));
    put_array(store, "source/t", BEFORE, ADDED, true);
    put_array(store, "source/u", BEFORE, ADDED, true);
    put_array(store, "source/time", BEFORE, ADDED, false);
    put_array(store, TARGET "/t", 0, BEFORE, true);
    put_array(store, TARGET "/u", 0, BEFORE, true);
    put_array(store, TARGET "/time", 0, BEFORE, false);
    consolidate(store, TARGET);
    consolidate(store, "g");
    consolidate(store, "");
    assert_ok(parapet_store_close(&store));
    image_take(&prepared, memory);
    pp_store_free(memory);
}

/* A fresh directory, and what can fail around it on every rank. */
typedef struct bed {
    pp_store *inner, *faulty;
    pp_fault_plan plan;
    char folder[600];
    bool stops;    /* this rank asks to, when it is told of progress */
    bool is_taken; /* somebody else takes the target over, when its mark is there */
} bed;

static void bed_build(bed *made)
{
    static long number;
    pp_posix_options posix = {.not_durable = true, .direct_io = PP_DIRECT_IO_NEVER};
    *made = (bed){.plan = {.fail_at = -1}};
    (void)snprintf(made->folder, sizeof made->folder, "%s/append-%ld", run.folder, number++);
    if (run.rank == 0) {
        assert_int_equal(mkdir(made->folder, 0700), 0);
        assert_ok(pp_store_posix_build(&made->inner, made->folder, &posix));
        image_put(&prepared, made->inner);
    }
    launch_barrier();
    if (run.rank != 0)
        assert_ok(pp_store_posix_build(&made->inner, made->folder, &posix));
    assert_ok(pp_store_faulty_build(&made->faulty, made->inner, &made->plan));
}

static void bed_free(bed *used)
{
    pp_store_free(used->faulty);
    pp_store_free(used->inner);
}

/* ---- The append ---- */

/* The text of the mark; NULL: there is none. Free with pp_free. */
static char *read_mark(const bed *used)
{
    char *text = NULL;
    size_t bytes;
    parapet_status status = pp_store_read_all(used->inner, MARK, 1 << 20, &text, &bytes);
    return status == PARAPET_OK ? text : NULL;
}

/* As a job does that takes over: the lock becomes another, and so does the record, with an id of its own. */
static void take_over(bed *used)
{
    char *text = read_mark(used), path[700];
    size_t word, bytes = 0;
    pp_text other = {0};
    if (text == NULL)
        return;
    while (strncmp(text + bytes, "id: ", 4) != 0)
        bytes++;
    word = bytes + 4;
    text[word] = text[word] == '0' ? '1' : '0';
    while (strncmp(text + bytes, "crc32c: ", 8) != 0)
        bytes++;
    pp_text_add(&other, "%.*scrc32c: %08x\n", (int)bytes, text, (unsigned)pp_crc32c(0, text, bytes));
    assert_ok(pp_store_write_all(used->inner, &(pp_write_request){.key = MARK, .staging = TARGET, .is_small = true},
                                 other.data, other.bytes, PP_PUBLISH_REPLACE));
    (void)snprintf(path, sizeof path, "%s/" TARGET "/__parapet/lock", used->folder);
    assert_int_equal(unlink(path), 0);
    used->is_taken = false;
    pp_text_free(&other);
    pp_free(text);
}

static int report(void *context, int64_t done, int64_t total)
{
    bed *used = context;
    (void)done;
    (void)total;
    if (used->is_taken)
        take_over(used);
    return used->stops;
}

static parapet_store *open_store(bed *used)
{
    parapet_store_options options = {
        .io_thread = PARAPET_IO_THREAD_NONE, .progress = report, .progress_context = used};
    parapet_store *store = NULL;
    (void)LAUNCH_OK(&run, pp_store_open_over(&store, MPI_COMM_WORLD, used->faulty, PARAPET_UPDATE, &options));
    return store;
}

static parapet_status append(parapet_store *store, const char *dimension, parapet_copy_result *result)
{
    parapet_copy_request request = {
        .source = store, .source_path = "source", .target = store, .target_path = TARGET, .append = dimension};
    *result = (parapet_copy_result){0};
    return parapet_copy(&request, result);
}

/* Every array and group of the call is closed: otherwise the store cannot be. */
static void expect_next_succeeds(bed *used, parapet_store **store)
{
    parapet_copy_result result;
    (void)LAUNCH_OK(&run, parapet_store_close(store));
    *store = open_store(used);
    (void)LAUNCH_OK(&run, append(*store, "time", &result));
    launch_expect(&run, result.extent_after == AFTER, "the new length");
    (void)LAUNCH_OK(&run, parapet_store_close(store));
}

/* ---- One rank ---- */

typedef struct refusal {
    long at, count;
} refusal;

static int refuse_one(void *context, size_t bytes)
{
    refusal *refused = context;
    (void)bytes;
    return refused->count++ == refused->at;
}

/* Whether the append came so far. */
static bool refuse_memory(int rank, long at)
{
    refusal refused = {.at = at};
    parapet_copy_result result;
    parapet_store *store;
    char description[80];
    bed used;
    launch_case_begin(&run, (uint64_t)at);
    bed_build(&used);
    store = open_store(&used);
    if (run.rank == rank)
        pp_memory_hook_set(refuse_one, &refused);
    launch_phase(&run, "append");
    (void)launch_agreed(&run, append(store, "time", &result), "append");
    pp_memory_hook_set(NULL, NULL);
    expect_next_succeeds(&used, &store);
    bed_free(&used);
    (void)snprintf(description, sizeof description, "rank %d, allocation %ld", rank, at);
    (void)launch_case_end(&run, description);
    return launch_largest(run.rank == rank && refused.count > at) != 0;
}

static void test_memory(long stride)
{
    int rank;
    long at;
    for (rank = 0; rank < run.ranks; rank++)
        for (at = rank; refuse_memory(rank, at);)
            at += stride;
}

static bool fail_storage(int rank, long at)
{
    parapet_copy_result result;
    parapet_store *store;
    char description[80];
    bool is_reached;
    bed used;
    launch_case_begin(&run, (uint64_t)at);
    bed_build(&used);
    store = open_store(&used);
    used.plan = (pp_fault_plan){.fail_at = run.rank == rank ? at : -1, .status = PARAPET_ERR_IO};
    launch_phase(&run, "append");
    (void)launch_agreed(&run, append(store, "time", &result), "append");
    is_reached = launch_largest(used.plan.failures) > 0;
    used.plan = (pp_fault_plan){.fail_at = -1};
    expect_next_succeeds(&used, &store);
    bed_free(&used);
    (void)snprintf(description, sizeof description, "rank %d, operation %ld", rank, at);
    (void)launch_case_end(&run, description);
    return is_reached;
}

static void test_storage(long stride)
{
    int rank;
    long at;
    for (rank = 0; rank < run.ranks; rank++)
        for (at = rank; fail_storage(rank, at);)
            at += stride;
}

/* The storage of rank 0 is gone from then on, as after a kill; the ranks put right together what is left. */
static long left_at; /* an operation of rank 0 where that leaves a mark */

static bool has_mark(const bed *used)
{
    char *text = read_mark(used);
    bool is_there = text != NULL;
    pp_free(text);
    return is_there;
}

static bool collect_after(long at)
{
    parapet_copy_result result;
    parapet_store *store;
    bool is_reached;
    bed used;
    launch_case_begin(&run, (uint64_t)at);
    bed_build(&used);
    store = open_store(&used);
    used.plan = (pp_fault_plan){.fail_at = run.rank == 0 ? at : -1, .fail_forever = true, .status = PARAPET_ERR_IO};
    launch_phase(&run, "append");
    (void)launch_agreed(&run, append(store, "time", &result), "append");
    is_reached = launch_largest(used.plan.failures) > 0;
    used.plan = (pp_fault_plan){.fail_at = -1};
    if (run.rank == 0 && has_mark(&used))
        left_at = at;
    (void)LAUNCH_OK(&run, parapet_store_close(&store));
    store = open_store(&used);
    (void)LAUNCH_OK(&run, parapet_store_collect(store, "", 0, NULL, NULL));
    expect_next_succeeds(&used, &store);
    bed_free(&used);
    (void)launch_case_end(&run, "collecting after the storage of rank 0 was gone");
    return is_reached;
}

static void test_collect(long stride)
{
    long at = 0;
    while (collect_after(at))
        at += stride;
}

/* Ranks do not part ways when the collector fails at one of its own operations, or one finds no memory for it. */
static bool fail_collect(int rank, long at, bool is_memory)
{
    refusal refused = {.at = at};
    parapet_copy_result result;
    parapet_store *store;
    bool is_reached;
    bed used;
    launch_case_begin(&run, (uint64_t)at);
    bed_build(&used);
    store = open_store(&used);
    used.plan =
        (pp_fault_plan){.fail_at = run.rank == 0 ? left_at : -1, .fail_forever = true, .status = PARAPET_ERR_IO};
    (void)launch_agreed(&run, append(store, "time", &result), "append");
    used.plan = (pp_fault_plan){.fail_at = run.rank == rank && !is_memory ? at : -1, .status = PARAPET_ERR_IO};
    if (run.rank == rank && is_memory)
        pp_memory_hook_set(refuse_one, &refused);
    launch_phase(&run, "collect");
    (void)launch_agreed(&run, parapet_store_collect(store, "", 0, NULL, NULL), "collect");
    pp_memory_hook_set(NULL, NULL);
    is_reached = launch_largest(is_memory ? refused.count > at : used.plan.failures) > 0;
    used.plan = (pp_fault_plan){.fail_at = -1};
    expect_next_succeeds(&used, &store);
    bed_free(&used);
    (void)launch_case_end(&run, "a rank that fails while it collects");
    return is_reached;
}

static void test_failing_collect(long stride)
{
    int rank, is_memory;
    long at;
    for (is_memory = 0; is_memory < 2; is_memory++)
        for (rank = 0; rank < run.ranks; rank++)
            for (at = rank; fail_collect(rank, at, is_memory != 0);)
                at += stride;
}

static void test_cancel(void)
{
    int rank;
    for (rank = 0; rank < run.ranks; rank++) {
        parapet_copy_result result;
        parapet_store *store;
        bed used;
        launch_case_begin(&run, (uint64_t)rank);
        bed_build(&used);
        used.stops = run.rank == rank;
        store = open_store(&used);
        launch_expect(&run, launch_agreed(&run, append(store, "time", &result), "append") == PARAPET_ERR_CANCELLED,
                      "PARAPET_ERR_CANCELLED");
        used.stops = false;
        expect_next_succeeds(&used, &store);
        bed_free(&used);
        (void)launch_case_end(&run, "one rank asks to stop");
    }
}

static bool is_same_object(const image *left, const char *key)
{
    const image_object *now = image_find(left, key), *before = image_find(&prepared, key);
    return now != NULL && now->bytes == before->bytes && memcmp(now->data, before->data, now->bytes) == 0;
}

/* Who has lost the target to another job publishes nothing, and leaves that job's mark alone. */
static void test_taken_over(void)
{
    parapet_copy_result result;
    parapet_store *store;
    image left;
    bed used;
    launch_case_begin(&run, 0);
    bed_build(&used);
    used.is_taken = run.rank == 0;
    store = open_store(&used);
    launch_expect(&run, launch_agreed(&run, append(store, "time", &result), "append") != PARAPET_OK, "a failure");
    if (run.rank == 0) {
        launch_expect(&run, !used.is_taken && has_mark(&used), "the mark of the other job");
        image_take(&left, used.inner);
        launch_expect(&run,
                      is_same_object(&left, TARGET "/t/zarr.json") && is_same_object(&left, TARGET "/time/zarr.json"),
                      "documents as they were");
        image_free(&left);
    }
    expect_next_succeeds(&used, &store);
    bed_free(&used);
    (void)launch_case_end(&run, "another job takes the target over");
}

static void test_mismatch(void)
{
    parapet_copy_result result;
    parapet_store *store;
    bed used;
    launch_case_begin(&run, 0);
    bed_build(&used);
    store = open_store(&used);
    launch_expect(&run, append(store, run.rank == 0 ? "time" : "x", &result) == PARAPET_ERR_ARGUMENT,
                  "PARAPET_ERR_ARGUMENT");
    expect_next_succeeds(&used, &store);
    bed_free(&used);
    (void)launch_case_end(&run, "another dimension on one rank");
}

int main(int argc, char **argv)
{
    bool is_full;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    is_full = argc > 1 && strcmp(argv[1], "full") == 0;
    if (run.rank == 0)
        prepare();
    launch_barrier();
    test_mismatch();
    test_cancel();
    test_taken_over();
    test_memory(is_full ? 1 : 31);
    test_storage(is_full ? 1 : 13);
    test_collect(is_full ? 1 : 11);
    test_failing_collect(is_full ? 1 : 17);
    if (run.rank == 0)
        image_free(&prepared);
    return launch_finish(&run);
}
