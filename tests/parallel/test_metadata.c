/* Metadata on many ranks: every rank gets the same answer and knows the same afterwards; only rank 0 touches storage,
 * and the servers that make many arrays; the number of agreements does not depend on the number of arrays, and what
 * fails on one rank fails on all. */
#include <parapet_store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array_handle.h"
#include "array/open.h"
#include "array/state.h"
#include "comm/internal.h"
#include "comm/wait.h"
#include "hand_clock.h"
#include "launch.h"
#include "one_clock.h"
#include "stores/faulty.h"

#define MANY 1000

/* A store of all ranks over a directory, with every operation counted and failed as planned on each rank. */
typedef struct bed {
    launch *run;
    pp_store *directory, *counting;
    pp_fault_plan plan;
    parapet_store *store;
} bed;

static int64_t digest_bytes(const void *data, size_t bytes)
{
    pp_call call;
    pp_call_init(&call, "digest");
    pp_call_add(&call, data, bytes);
    return (int64_t)(call.digest >> 2);
}

static bool is_same(int64_t number)
{
    int64_t largest = launch_largest(number), least = -launch_largest(-number);
    return largest == least;
}

/* Every rank gets the same text; frees it. */
static void expect_same_text(launch *run, char *text, const char *what)
{
    launch_expect(run, text != NULL, "a text");
    launch_expect(run, is_same(digest_bytes(text, text != NULL ? strlen(text) : 0)), what);
    parapet_free(text);
}

/* All that the handles of an array know is the same on all ranks. */
static void expect_same_array(launch *run, const parapet_array *array, const char *what)
{
    pp_text bytes = {0};
    launch_expect(run, pp_array_state_print(array, &bytes) == PARAPET_OK && bytes.status == PARAPET_OK, "a state");
    launch_expect(run, is_same(digest_bytes(bytes.data, bytes.bytes)), what);
    pp_text_free(&bytes);
}

static void expect_same_group(launch *run, const parapet_group *group, const char *what)
{
    pp_text bytes = {0};
    launch_expect(run, pp_group_state_print(group, &bytes) == PARAPET_OK && bytes.status == PARAPET_OK, "a state");
    launch_expect(run, is_same(digest_bytes(bytes.data, bytes.bytes)), what);
    pp_text_free(&bytes);
}

static void expect_fails(launch *run, parapet_status status, parapet_status expected, const char *word)
{
    char sentence[PP_MESSAGE_BYTES];
    (void)snprintf(sentence, sizeof sentence, "%s", parapet_error_message());
    launch_expect(run, launch_agreed(run, status, word) == expected, parapet_status_name(expected));
    if (strstr(sentence, word) == NULL) {
        fprintf(stderr, "the sentence is \"%s\"\n", sentence);
        launch_expect(run, false, word);
    }
}

static void name_folder(const launch *run, const char *name, char path[640])
{
    (void)snprintf(path, 640, "%s/%s", run->folder, name);
}

static void bed_open(bed *made, launch *run, const char *name, parapet_mode mode)
{
    pp_posix_options posix = {.create = true, .not_durable = true};
    char path[640];
    name_folder(run, name, path);
    *made = (bed){.run = run, .plan = {.fail_at = -1, .status = PARAPET_ERR_IO}};
    if (run->rank == 0)
        launch_expect(run, pp_store_posix_build(&made->directory, path, &posix) == PARAPET_OK, "a directory");
    launch_barrier();
    if (run->rank != 0)
        launch_expect(run, pp_store_posix_build(&made->directory, path, &posix) == PARAPET_OK, "a directory");
    launch_expect(run, pp_store_faulty_build(&made->counting, made->directory, &made->plan) == PARAPET_OK,
                  "counting");
    LAUNCH_OK(run, pp_store_open_over(&made->store, MPI_COMM_WORLD, made->counting, mode, NULL));
}

static void bed_close(bed *used)
{
    LAUNCH_OK(used->run, parapet_store_close(&used->store));
    pp_store_free(used->counting);
    pp_store_free(used->directory);
}

static int64_t count_rounds(const parapet_store *store)
{
    return store->comm->endpoint.round;
}

/* Shards for what seals, shrinks and checks, by a program of one rank. */
static void fill_alone(launch *run, const char *name, const char *path)
{
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    parapet_array_info info;
    int64_t start[2] = {0, 0};
    double *values = calloc(64, sizeof *values);
    parapet_part part = {.ndim = 2, .start = start, .data = values};
    char folder[640];
    name_folder(run, name, folder);
    if (run->rank == 0) {
        launch_expect(run, parapet_store_open(&store, MPI_COMM_SELF, folder, PARAPET_UPDATE, NULL) == PARAPET_OK,
                      "a store of one rank beside");
        launch_expect(run, parapet_array_open(&array, store, path) == PARAPET_OK, "its array");
        launch_expect(run, parapet_array_get_info(array, &info) == PARAPET_OK, "its shape");
        part.count = info.shape;
        launch_expect(run, parapet_array_write(array, &part, 1) == PARAPET_OK, "its values");
        launch_expect(run, parapet_array_close(&array) == PARAPET_OK, "its end");
        launch_expect(run, parapet_store_close(&store) == PARAPET_OK, "its end");
    }
    free(values);
    launch_barrier();
}

static parapet_array_spec small_spec(void)
{
    static const int64_t shape[2] = {8, 8}, chunks[2] = {2, 2}, shards[2] = {4, 4};
    return (parapet_array_spec){.type = PARAPET_FLOAT64,
                                .ndim = 2,
                                .shape = shape,
                                .chunks = chunks,
                                .shards = shards,
                                .attributes = "{\"unit\": \"m\"}"};
}

static int add_child(void *context, const char *name, parapet_node_kind kind)
{
    pp_text_add(context, "%s %d,", name, (int)kind);
    return 0;
}

static int end_at_once(void *context, const char *name, parapet_node_kind kind)
{
    pp_text_add(context, "%s %d,", name, (int)kind);
    return 1;
}

static void check_listing(launch *run, parapet_group *group, parapet_child_visitor child, const char *expected)
{
    pp_text text = {0};
    char *names = NULL;
    LAUNCH_OK(run, parapet_group_list(group, child, &text));
    launch_expect(run, pp_text_finish(&text, &names) == PARAPET_OK && strcmp(names, expected) == 0, expected);
    parapet_free(names);
}

static void check_groups(launch *run, parapet_store *store)
{
    parapet_group *group = NULL, *root = NULL;
    char *json = NULL;
    LAUNCH_OK(run, parapet_group_create(&group, store, "g/inner", "{\"a\": 1}"));
    expect_same_group(run, group, "the same new group");
    LAUNCH_OK(run, parapet_group_attribute_set(group, "b", "[1, 2]"));
    LAUNCH_OK(run, parapet_group_attribute_get(group, NULL, &json));
    launch_expect(run, json != NULL && strcmp(json, "{\"a\":1,\"b\":[1,2]}") == 0, "both attributes");
    expect_same_text(run, json, "the same attributes");
    LAUNCH_OK(run, parapet_group_attribute_set(group, "a", NULL));
    expect_same_group(run, group, "the same changed group");
    LAUNCH_OK(run, parapet_group_close(&group));
    LAUNCH_OK(run, parapet_group_open(&root, store, ""));
    check_listing(run, root, add_child, "a 2,g 1,old 2,");
    /* One rank ends its own listing, and nobody else's. */
    check_listing(run, root, run->rank == 0 ? end_at_once : add_child, run->rank == 0 ? "a 2," : "a 2,g 1,old 2,");
    LAUNCH_OK(run, parapet_group_close(&root));
}

/* A Zarr v2 array: known on all ranks, and refused for changes on all. */
static void check_version_2(launch *run, parapet_store *store)
{
    parapet_array *old = NULL;
    parapet_array_info info;
    char *json = NULL;
    LAUNCH_OK(run, parapet_array_open(&old, store, "old"));
    if (old == NULL)
        return;
    expect_same_array(run, old, "the same Zarr v2 array");
    LAUNCH_OK(run, parapet_array_get_info(old, &info));
    launch_expect(run, info.zarr_format == 2 && info.shape[0] == 6, "Zarr v2");
    LAUNCH_OK(run, parapet_array_attribute_get(old, "k", &json));
    expect_same_text(run, json, "the same attribute");
    expect_fails(run, parapet_array_attribute_set(old, "k", "2"), PARAPET_ERR_UNSUPPORTED, "can only be read");
    LAUNCH_OK(run, parapet_array_close(&old));
}

static void make_version_2(launch *run, const char *name)
{
    static const char *const texts[2][2] = {
        {".zarray", "{\"zarr_format\":2,\"shape\":[6],\"chunks\":[3],\"dtype\":\"<f8\",\"compressor\":null,"
                    "\"fill_value\":\"NaN\",\"order\":\"C\",\"filters\":null}"},
        {".zattrs", "{\"k\":1}"}};
    char folder[640], path[700];
    int i;
    name_folder(run, name, folder);
    (void)snprintf(path, sizeof path, "mkdir %s/old", folder);
    launch_expect(run, system(path) == 0, "a directory");
    for (i = 0; i < 2; i++) {
        FILE *file;
        (void)snprintf(path, sizeof path, "%s/old/%s", folder, texts[i][0]);
        file = fopen(path, "w");
        launch_expect(run, file != NULL && fputs(texts[i][1], file) >= 0 && fclose(file) == 0, "a Zarr v2 document");
    }
}

/* Shards are described by all ranks: what that takes of storage is not counted. */
static void check_sealing(launch *run, bed *all, parapet_array *array)
{
    parapet_array_info info;
    long before = all->plan.operations;
    LAUNCH_OK(run, parapet_array_seal(array));
    all->plan.operations = before;
    LAUNCH_OK(run, parapet_array_get_info(array, &info));
    launch_expect(run, info.is_sealed, "a seal on every rank");
    expect_same_array(run, array, "the same sealed array");
    LAUNCH_OK(run, parapet_array_attribute_set(array, "unit", "\"km\""));
    launch_expect(run, array->is_sealed, "a seal that stays");
    expect_same_array(run, array, "the same sealed array with another attribute");
}

static void check_summaries(launch *run, parapet_array *array, int64_t present)
{
    parapet_check_summary summary;
    LAUNCH_OK(run, parapet_array_check(array, PARAPET_CHECK_DATA, NULL, NULL, &summary));
    launch_expect(run, summary.shards_present == present, "all shards");
    launch_expect(run, summary.missing == 0 && summary.torn == 0 && summary.stray == 0, "no findings");
    launch_expect(run, is_same(digest_bytes(&summary, sizeof summary)), "the same summary");
}

static void check_life(launch *run)
{
    parapet_array_spec spec = small_spec();
    parapet_array *array = NULL;
    parapet_group *root = NULL;
    int64_t smaller[2] = {3, 8}, larger[2] = {3, 20};
    char *text = NULL;
    bed all;
    launch_case_begin(run, 1);
    bed_open(&all, run, "life", PARAPET_CREATE);
    LAUNCH_OK(run, parapet_array_create(&array, all.store, "a", &spec));
    expect_same_array(run, array, "the same new array");
    fill_alone(run, "life", "a");
    check_sealing(run, &all, array);
    check_summaries(run, array, 4);
    LAUNCH_OK(run, parapet_array_unseal(array));
    launch_expect(run, !array->is_sealed, "no seal");
    LAUNCH_OK(run, parapet_array_resize(array, smaller));
    expect_same_array(run, array, "the same smaller array");
    check_summaries(run, array, 2);
    LAUNCH_OK(run, parapet_array_resize(array, larger));
    launch_expect(run, array->document.shape[1] == 20, "the new shape on every rank");
    LAUNCH_OK(run, parapet_array_layout_print(array, &text));
    expect_same_text(run, text, "the same layout");
    LAUNCH_OK(run, parapet_array_close(&array));
    if (run->rank == 0)
        make_version_2(run, "life");
    launch_barrier();
    check_groups(run, all.store);
    check_version_2(run, all.store);
    LAUNCH_OK(run, parapet_group_open(&root, all.store, "g"));
    LAUNCH_OK(run, parapet_group_consolidate(root));
    expect_same_group(run, root, "the same consolidated group");
    LAUNCH_OK(run, parapet_group_close(&root));
    LAUNCH_OK(run, parapet_array_open(&array, all.store, "a"));
    expect_same_array(run, array, "the same array, opened again");
    LAUNCH_OK(run, parapet_array_close(&array));
    launch_expect(run, run->rank == 0 || all.plan.operations == 0, "that only rank 0 touches storage");
    bed_close(&all);
    launch_expect(run, pp_memory_live_count() == 0, "all memory given back");
    (void)launch_case_end(run, "a life of arrays and groups");
}

/* What all ranks do wrong together. */
static void check_common_errors(launch *run, parapet_store *store)
{
    parapet_array_spec spec = small_spec();
    parapet_array *array = NULL;
    parapet_group *group = NULL;
    expect_fails(run, parapet_array_create(&array, store, "a", &spec), PARAPET_ERR_EXISTS, "already");
    launch_expect(run, array == NULL, "no handle");
    expect_fails(run, parapet_array_open(&array, store, "nothing"), PARAPET_ERR_NOT_FOUND, "nothing");
    launch_expect(run, array == NULL, "no handle");
    expect_fails(run, parapet_array_open(&array, store, "__bad"), PARAPET_ERR_ARGUMENT, "__bad");
    expect_fails(run, parapet_array_open(&array, store, NULL), PARAPET_ERR_ARGUMENT, "NULL");
    expect_fails(run, parapet_array_open(NULL, store, "a"), PARAPET_ERR_ARGUMENT, "needs");
    expect_fails(run, parapet_array_create(&array, store, "new", NULL), PARAPET_ERR_ARGUMENT, "needs");
    spec.codec = "zap";
    expect_fails(run, parapet_array_create(&array, store, "new", &spec), PARAPET_ERR_ARGUMENT, "zap");
    expect_fails(run, parapet_group_create(&group, store, "a", NULL), PARAPET_ERR_EXISTS, "already");
    expect_fails(run, parapet_group_open(&group, store, "a"), PARAPET_ERR_ARGUMENT, "not a group");
    launch_expect(run, group == NULL, "no handle");
}

/* What one rank does otherwise than all others. */
static void check_mismatches(launch *run, parapet_store *store, parapet_array *array)
{
    bool is_odd = run->rank == 1;
    int64_t shape[2] = {8, is_odd ? 9 : 8};
    parapet_array_spec spec = small_spec();
    parapet_array *other = NULL;
    expect_fails(run, parapet_array_open(&other, store, is_odd ? "b" : "a"), PARAPET_ERR_ARGUMENT,
                 "rank 1 called open(b), rank 0 called open(a)");
    expect_fails(run, parapet_array_open(&other, store, is_odd ? "__bad" : "a"), PARAPET_ERR_ARGUMENT, "rank 1");
    expect_fails(run, parapet_array_attribute_set(array, is_odd ? "" : "k", "1"), PARAPET_ERR_ARGUMENT, "rank 1");
    expect_fails(run, parapet_array_attribute_set(array, "k", is_odd ? "1" : "2"), PARAPET_ERR_ARGUMENT, "rank 1");
    expect_fails(run, parapet_array_resize(array, shape), PARAPET_ERR_ARGUMENT,
                 "shape[1] of resize(a) is 9 on rank 1 and 8 on rank 0");
    spec.no_checksum = is_odd;
    expect_fails(run, parapet_array_create(&other, store, "n", &spec), PARAPET_ERR_ARGUMENT,
                 "no_checksum of create(n) is 1 on rank 1 and 0 on rank 0");
    expect_fails(run, is_odd ? parapet_array_seal(array) : parapet_array_unseal(array), PARAPET_ERR_ARGUMENT,
                 "rank 1 called seal(a), rank 0 called unseal(a)");
    expect_fails(run, is_odd ? parapet_store_close(&store) : parapet_array_seal(array), PARAPET_ERR_ARGUMENT,
                 "rank 1 called store_close(), rank 0 called seal(a)");
    launch_expect(run, store != NULL, "a store that is still open");
    LAUNCH_OK(run, parapet_array_attribute_set(array, "k", "3"));
    expect_same_array(run, array, "the same array after all that");
}

static void check_store_errors(launch *run)
{
    parapet_store *store = NULL;
    parapet_store_options options = {.servers = run->rank == 1 ? 1 : 2};
    char path[640];
    name_folder(run, "errors", path);
    expect_fails(run, parapet_store_open(&store, MPI_COMM_WORLD, "", PARAPET_READ, NULL), PARAPET_ERR_ARGUMENT,
                 "url");
    expect_fails(run, parapet_store_open(NULL, MPI_COMM_WORLD, path, PARAPET_READ, NULL), PARAPET_ERR_ARGUMENT,
                 "pointer");
    expect_fails(run, parapet_store_open(&store, MPI_COMM_WORLD, "/nowhere/at/all", PARAPET_READ, NULL),
                 PARAPET_ERR_NOT_FOUND, "/nowhere/at/all");
    if (run->ranks == 1)
        return;
    expect_fails(run, parapet_store_open(&store, MPI_COMM_WORLD, "memory:x", PARAPET_CREATE, NULL),
                 PARAPET_ERR_UNSUPPORTED, "one process");
    expect_fails(run, parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_READ, &options), PARAPET_ERR_ARGUMENT,
                 "is 1 on rank 1 and 2 on rank 0");
    launch_expect(run, store == NULL, "no store");
}

static void check_errors(launch *run)
{
    parapet_array_spec spec = small_spec();
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    char path[640];
    launch_case_begin(run, 2);
    name_folder(run, "errors", path);
    LAUNCH_OK(run, parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_CREATE, NULL));
    LAUNCH_OK(run, parapet_array_create(&array, store, "a", &spec));
    check_common_errors(run, store);
    if (run->ranks > 1)
        check_mismatches(run, store, array);
    expect_fails(run, parapet_store_close(&store), PARAPET_ERR_ARGUMENT, "still open");
    LAUNCH_OK(run, parapet_array_close(&array));
    LAUNCH_OK(run, parapet_store_close(&store));
    LAUNCH_OK(run, parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_READ, NULL));
    expect_fails(run, parapet_array_create(&array, store, "r", &spec), PARAPET_ERR_ARGUMENT, "open for reading");
    LAUNCH_OK(run, parapet_store_close(&store));
    check_store_errors(run);
    launch_expect(run, pp_memory_live_count() == 0, "all memory given back");
    (void)launch_case_end(run, "errors");
}

/* Agreements that creating, opening and closing take; *made: operations on this rank until all are created. */
static int64_t count_agreements(bed *all, const char *const *paths, parapet_array **arrays, int count, long *made)
{
    launch *run = all->run;
    parapet_array_spec *specs = calloc((size_t)count, sizeof *specs);
    int64_t before = count_rounds(all->store);
    int i;
    for (i = 0; i < count; i++)
        specs[i] = small_spec();
    LAUNCH_OK(run, parapet_arrays_create(arrays, all->store, paths, specs, count));
    *made = all->plan.operations;
    for (i = 0; i < count; i += count / 3 + 1)
        expect_same_array(run, arrays[i], "the same new array of many");
    LAUNCH_OK(run, parapet_arrays_close(arrays, count));
    LAUNCH_OK(run, parapet_arrays_open(arrays, all->store, paths, count));
    for (i = 0; i < count; i += count / 3 + 1)
        expect_same_array(run, arrays[i], "the same array of many");
    LAUNCH_OK(run, parapet_arrays_close(arrays, count));
    free(specs);
    return count_rounds(all->store) - before;
}

/* Of MANY arrays, with so many operations on this rank until they were created. */
static void expect_shared(const bed *all, long made)
{
    launch *run = all->run;
    launch_expect(run, run->rank == 0 || all->plan.operations == made,
                  "that only creating touches storage elsewhere");
    launch_expect(run, made > MANY / run->ranks, "that every server touches storage");
    launch_expect(run, run->rank != 0 || all->plan.operations - made > MANY, "that rank 0 does to open them");
}

static void check_many(launch *run)
{
    static char names[MANY][16];
    static const char *paths[MANY];
    static parapet_array *arrays[MANY];
    const char *alone = "alone";
    int64_t one, many;
    long made;
    int i;
    bed all;
    launch_case_begin(run, 3);
    for (i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof names[i], "n%d", i);
        paths[i] = names[i];
    }
    bed_open(&all, run, "many", PARAPET_CREATE);
    one = count_agreements(&all, &alone, arrays, 1, &made);
    hand_clock_take(false);
    many = count_agreements(&all, paths, arrays, MANY, &made);
    hand_clock_drop();
    launch_expect(run, many == one + (run->ranks > 1), "one agreement more for 1,000 arrays than for one");
    expect_shared(&all, made);
    if (run->rank == 0)
        printf("%d ranks: %lld agreements; %ld operations on rank 0\n", run->ranks, (long long)many,
               all.plan.operations);
    paths[MANY / 2] = "missing";
    expect_fails(run, parapet_arrays_open(arrays, all.store, paths, MANY), PARAPET_ERR_NOT_FOUND, "missing");
    launch_expect(run, arrays[0] == NULL && arrays[MANY - 1] == NULL, "no handle at all");
    LAUNCH_OK(run, parapet_arrays_open(arrays, all.store, NULL, 0));
    bed_close(&all);
    launch_expect(run, pp_memory_live_count() == 0, "all memory given back");
    (void)launch_case_end(run, "many arrays");
}

/* What may fail. */
typedef struct attempt {
    const char *name;
    parapet_status (*run)(parapet_store *store, parapet_array *array);
} attempt;

static parapet_status try_attribute(parapet_store *store, parapet_array *array)
{
    (void)store;
    return parapet_array_attribute_set(array, "tried", "1");
}

static parapet_status try_shrink(parapet_store *store, parapet_array *array)
{
    static const int64_t shape[2] = {3, 5};
    (void)store;
    return parapet_array_resize(array, shape);
}

static parapet_status try_seal(parapet_store *store, parapet_array *array)
{
    (void)store;
    return parapet_array_seal(array);
}

static parapet_status try_check(parapet_store *store, parapet_array *array)
{
    parapet_check_summary summary;
    (void)store;
    return parapet_array_check(array, PARAPET_CHECK_INDEX, NULL, NULL, &summary);
}

static parapet_status try_open(parapet_store *store, parapet_array *array)
{
    parapet_array *second = NULL;
    parapet_status status = parapet_array_open(&second, store, array->path);
    parapet_status closed = parapet_array_close(&second);
    return status != PARAPET_OK ? status : closed;
}

static parapet_status try_create(parapet_store *store, parapet_array *array)
{
    parapet_array_spec spec = small_spec();
    parapet_array *second = NULL;
    parapet_status status, closed;
    (void)array;
    spec.overwrite = 1;
    status = parapet_array_create(&second, store, "second", &spec);
    closed = parapet_array_close(&second);
    return status != PARAPET_OK ? status : closed;
}

static int ignore_child(void *context, const char *name, parapet_node_kind kind)
{
    (void)context;
    (void)name;
    (void)kind;
    return 0;
}

static parapet_status try_group(parapet_store *store, parapet_array *array)
{
    parapet_group *root = NULL;
    parapet_status status = parapet_group_open(&root, store, ""), closed;
    (void)array;
    if (status == PARAPET_OK && (status = parapet_group_attribute_set(root, "g", "1")) == PARAPET_OK &&
        (status = parapet_group_consolidate(root)) == PARAPET_OK)
        status = parapet_group_list(root, ignore_child, NULL);
    closed = parapet_group_close(&root);
    return status != PARAPET_OK ? status : closed;
}

static const attempt attempts[] = {{"attribute_set", try_attribute},
                                   {"resize", try_shrink},
                                   {"seal", try_seal},
                                   {"check", try_check},
                                   {"open", try_open},
                                   {"create", try_create},
                                   {"groups", try_group}};

enum { ATTEMPT_COUNT = sizeof attempts / sizeof attempts[0] };

/* Refuses one allocation. */
typedef struct refusal {
    long at, count;
} refusal;

static int decide(void *context, size_t bytes)
{
    refusal *plan = context;
    (void)bytes;
    return plan->count++ == plan->at;
}

/* One run in which allocation or operation number at fails on one rank; false when it was not reached. */
static bool fail_once(bed *all, const attempt *of, int victim, bool is_memory, long at)
{
    launch *run = all->run;
    refusal plan = {.at = run->rank == victim ? at : -1};
    parapet_array_spec spec = small_spec();
    parapet_array *array = NULL;
    parapet_status status;
    bool is_reached;
    spec.overwrite = 1;
    LAUNCH_OK(run, parapet_array_create(&array, all->store, "a", &spec));
    if (is_memory)
        pp_memory_hook_set(decide, &plan);
    else
        all->plan = (pp_fault_plan){.fail_at = run->rank == victim ? at : -1, .status = PARAPET_ERR_NO_SPACE};
    status = of->run(all->store, array);
    pp_memory_hook_set(NULL, NULL);
    is_reached = launch_largest(is_memory ? plan.at >= 0 && plan.count > plan.at : all->plan.failures > 0) != 0;
    all->plan = (pp_fault_plan){.fail_at = -1};
    status = launch_agreed(run, status, of->name);
    launch_expect(run, is_reached || status == PARAPET_OK, "a failure only where there is one");
    launch_expect(run, is_same(array->is_broken), "handles that are usable on all ranks or on none");
    launch_expect(run, at > 0 || victim > 0 || !array->is_broken,
                  "a handle that is usable where nothing was changed");
    if (!launch_largest(array->is_broken)) {
        expect_same_array(run, array, "handles that know the same after a failure");
        LAUNCH_OK(run, parapet_array_attribute_set(array, "after", "1"));
    } else {
        expect_fails(run, parapet_array_attribute_set(array, "after", "1"), PARAPET_ERR_ARGUMENT, "half-way");
    }
    LAUNCH_OK(run, parapet_array_close(&array));
    LAUNCH_OK(run, parapet_array_open(&array, all->store, "a"));
    LAUNCH_OK(run, parapet_array_close(&array));
    return is_reached;
}

/* Fails them in turn; after the first few allocations not every one. Returns how many. */
static int fail_each(bed *all, const attempt *of, int victim, bool is_memory)
{
    int sites = 0;
    long at = 0;
    while (at < 2000 && fail_once(all, of, victim, is_memory, at)) {
        at += is_memory ? 1 + at / 8 : 1;
        sites++;
    }
    return sites;
}

static void check_failures(launch *run)
{
    int i, sites = 0;
    bed all;
    launch_case_begin(run, 4);
    bed_open(&all, run, "failures", PARAPET_CREATE);
    for (i = 0; i < ATTEMPT_COUNT; i++) {
        sites += fail_each(&all, &attempts[i], 0, true) + fail_each(&all, &attempts[i], 0, false);
        if (run->ranks > 1)
            sites += fail_each(&all, &attempts[i], run->ranks - 1, true);
    }
    if (run->rank == 0)
        printf("%d ranks: %d failures injected\n", run->ranks, sites);
    bed_close(&all);
    launch_expect(run, pp_memory_live_count() == 0, "all memory given back");
    (void)launch_case_end(run, "failures of one rank");
}

/* A rank that does not come: the others go on after the deadline, and may only close. Last, since what MPI may still
 * look at is not given back. */
static void check_deadline(launch *run)
{
    parapet_array_spec spec = small_spec();
    parapet_store_options options = {.deadline_seconds = 1};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    bool is_late = run->rank == run->ranks - 1;
    char path[640];
    launch_case_begin(run, 5);
    one_clock_take(run);
    name_folder(run, "deadline", path);
    LAUNCH_OK(run, parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_CREATE, &options));
    LAUNCH_OK(run, parapet_array_create(&array, store, "a", &spec));
    if (is_late)
        one_clock_stay_away(1);
    launch_expect(run, parapet_array_attribute_set(array, "k", "1") == PARAPET_ERR_TIMEOUT, "PARAPET_ERR_TIMEOUT");
    one_clock_note_answer();
    launch_expect(run, is_late || strstr(parapet_error_message(), "attribute_set(a)") != NULL, "the call");
    launch_expect(run, parapet_array_seal(array) == PARAPET_ERR_TIMEOUT, "PARAPET_ERR_TIMEOUT again");
    launch_expect(run, parapet_store_close(&store) == PARAPET_ERR_ARGUMENT, "an array that is still open");
    launch_expect(run, parapet_array_close(&array) == PARAPET_OK && array == NULL, "a closed array");
    launch_expect(run, parapet_store_close(&store) == PARAPET_OK && store == NULL, "a closed store");
    (void)launch_case_end(run, "a rank that does not come");
}

int main(int argc, char **argv)
{
    launch run;
    launch_start(&run, &argc, &argv, MPI_THREAD_FUNNELED);
    check_life(&run);
    check_errors(&run);
    check_many(&run);
    check_failures(&run);
    if (run.ranks > 1)
        check_deadline(&run);
    return launch_finish(&run);
}
