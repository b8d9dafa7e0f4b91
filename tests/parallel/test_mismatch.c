/* Ranks that make different calls, or the same call with different arguments, are all told so: PARAPET_ERR_ARGUMENT,
 * with both calls named. Nothing has happened then, and the next call that all make alike works. */
#include <stdio.h>
#include <string.h>

#include "strip.h"

static launch run;
static char store_name[32];
static int odd_rank; /* that deviates */

typedef struct handles {
    parapet_store *store;
    parapet_array *first, *second; /* "a" and "b" */
} handles;

/* Makes one of two calls. */
typedef parapet_status (*deviation)(handles *of, bool is_odd);

static parapet_status write_or_close(handles *of, bool is_odd)
{
    return is_odd ? parapet_array_close(&of->first) : strip_write(of->first, &run, 2);
}

static parapet_status write_different_arrays(handles *of, bool is_odd)
{
    return strip_write(is_odd ? of->second : of->first, &run, 2);
}

static parapet_status write_or_read(handles *of, bool is_odd)
{
    int32_t generation;
    return is_odd ? strip_read(of->first, &run, &generation) : strip_write(of->first, &run, 2);
}

static parapet_status create_different_shapes(handles *of, bool is_odd)
{
    parapet_array *made = NULL;
    parapet_status status = strip_create(&made, of->store, "c", run.ranks + is_odd);
    launch_expect(&run, made == NULL, "no handle of an array that was not made");
    return status;
}

static parapet_status open_different_arrays(handles *of, bool is_odd)
{
    parapet_array *opened = NULL;
    parapet_status status = parapet_array_open(&opened, of->store, is_odd ? "b" : "a");
    launch_expect(&run, opened == NULL, "no handle of an array that was not opened");
    return status;
}

static parapet_status open_store(const char *name, parapet_mode mode)
{
    parapet_store *store = NULL;
    char path[600];
    parapet_status status;
    (void)snprintf(path, sizeof path, "%s/%s", run.folder, name);
    status = parapet_store_open(&store, MPI_COMM_WORLD, path, mode, NULL);
    launch_expect(&run, store == NULL, "no handle of a store that was not opened");
    return status;
}

static parapet_status open_different_stores(handles *of, bool is_odd)
{
    (void)of;
    return open_store(is_odd ? "other" : store_name, PARAPET_CREATE);
}

static parapet_status open_in_different_modes(handles *of, bool is_odd)
{
    (void)of;
    return open_store(store_name, is_odd ? PARAPET_READ : PARAPET_UPDATE);
}

static parapet_status set_different_attributes(handles *of, bool is_odd)
{
    return parapet_array_attribute_set(of->first, "x", is_odd ? "1" : "2");
}

static parapet_status resize_differently(handles *of, bool is_odd)
{
    int64_t shape[1] = {STRIP_SHARD + is_odd};
    return parapet_array_resize(of->first, shape);
}

static parapet_status seal_or_unseal(handles *of, bool is_odd)
{
    return is_odd ? parapet_array_unseal(of->first) : parapet_array_seal(of->first);
}

static parapet_status close_store_or_write(handles *of, bool is_odd)
{
    return is_odd ? parapet_store_close(&of->store) : strip_write(of->first, &run, 2);
}

static parapet_status write_one_or_both(handles *of, bool is_odd)
{
    parapet_array_parts list[2] = {{.array = of->first}, {.array = of->second}};
    return parapet_arrays_write(list, is_odd ? 2 : 1);
}

static parapet_status write_in_different_order(handles *of, bool is_odd)
{
    parapet_array_parts list[2] = {{.array = is_odd ? of->second : of->first},
                                   {.array = is_odd ? of->first : of->second}};
    return parapet_arrays_write(list, 2);
}

/* Not different calls: one rank's argument is wrong in itself. */
static parapet_status pass_a_null(handles *of, bool is_odd)
{
    return parapet_array_write(of->first, NULL, is_odd ? 1 : 0);
}

static parapet_status leave_the_array(handles *of, bool is_odd)
{
    static const int64_t start[1] = {-1}, count[1] = {2};
    int32_t values[2] = {0};
    parapet_part part = {.start = start, .count = count, .data = values};
    return parapet_array_write(of->first, &part, is_odd ? 1 : 0);
}

static parapet_status create_from(handles *of, const char *path, const parapet_array_spec *spec)
{
    parapet_array *made = NULL;
    parapet_status status = parapet_array_create(&made, of->store, path, spec);
    launch_expect(&run, made == NULL, "no handle of an array that was not made");
    return status;
}

static parapet_status create_with_a_bad_spec(handles *of, bool is_odd)
{
    static const int64_t shape[1] = {8};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = is_odd ? 99 : 1, .shape = shape};
    return create_from(of, "c", &spec);
}

static parapet_status create_without_a_spec(handles *of, bool is_odd)
{
    static const int64_t shape[1] = {8};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = shape};
    return create_from(of, "c", is_odd ? NULL : &spec);
}

static parapet_status open_without_a_path(handles *of, bool is_odd)
{
    parapet_array *opened = NULL;
    return parapet_array_open(&opened, of->store, is_odd ? NULL : "a");
}

static parapet_status create_a_group_with_a_bad_path(handles *of, bool is_odd)
{
    parapet_group *made = NULL;
    return parapet_group_create(&made, of->store, is_odd ? "../up" : "g", NULL);
}

static parapet_status set_an_attribute_without_a_name(handles *of, bool is_odd)
{
    return parapet_array_attribute_set(of->first, is_odd ? NULL : "x", "1");
}

static parapet_status set_an_attribute_to_bad_json(handles *of, bool is_odd)
{
    return parapet_array_attribute_set(of->first, "x", is_odd ? "{" : "1");
}

static parapet_status resize_without_a_shape(handles *of, bool is_odd)
{
    static const int64_t shape[1] = {STRIP_SHARD};
    return parapet_array_resize(of->first, is_odd ? NULL : shape);
}

static parapet_status open_a_store_without_a_url(handles *of, bool is_odd)
{
    parapet_store *store = NULL;
    char path[600];
    (void)of;
    (void)snprintf(path, sizeof path, "%s/%s", run.folder, store_name);
    return parapet_store_open(&store, MPI_COMM_WORLD, is_odd ? NULL : path, PARAPET_UPDATE, NULL);
}

static parapet_status open_a_store_with_a_bad_option(handles *of, bool is_odd)
{
    parapet_options options = {.threads = is_odd ? -5 : 1};
    parapet_store *store = NULL;
    char path[600];
    (void)of;
    (void)snprintf(path, sizeof path, "%s/%s", run.folder, store_name);
    return parapet_store_open(&store, MPI_COMM_WORLD, path, PARAPET_UPDATE, &options);
}

/* The odd one's and that of the rank after it. */
static parapet_status write_what_another_writes(handles *of, bool is_odd)
{
    static const int64_t start[1] = {5}, count[1] = {7};
    int32_t values[7] = {0};
    parapet_part part = {.start = start, .count = count, .data = values};
    return parapet_array_write(of->first, &part, is_odd || run.rank == (odd_rank + 1) % run.ranks ? 1 : 0);
}

static const struct deviating {
    const char *name;
    deviation call;
    const char *usual, *odd; /* must be in the sentence */
} deviations[] = {
    {"write or close", write_or_close, "write(a)", "close(a)"},
    {"write of different arrays", write_different_arrays, "write(a)", "write(b)"},
    {"write or read", write_or_read, "write(a)", "read(a)"},
    {"create with different shapes", create_different_shapes, "create(c)", "create(c)"},
    {"open of different arrays", open_different_arrays, "open(a)", "open(b)"},
    {"open of different stores", open_different_stores, "/store", "/other"},
    {"open in different modes", open_in_different_modes, "store_open(", "store_open("},
    {"different attributes", set_different_attributes, "attribute_set(a)", "attribute_set(a)"},
    {"resize to different shapes", resize_differently, "resize(a)", "resize(a)"},
    {"seal or unseal", seal_or_unseal, "seal(a)", "unseal(a)"},
    {"close of the store or write", close_store_or_write, "write(a)", "store_close()"},
    {"write of one array or two", write_one_or_both, "write(a", "write(a"},
    {"write in different order", write_in_different_order, "write(a", "write(b"},
    {"parts that are NULL", pass_a_null, "rank ", " on "},
    {"a part outside the array", leave_the_array, "rank ", " on "},
    {"a bad spec", create_with_a_bad_spec, "rank ", ""},
    {"no spec", create_without_a_spec, "rank ", ""},
    {"no path", open_without_a_path, "rank ", ""},
    {"a path that leads away", create_a_group_with_a_bad_path, "rank ", ""},
    {"no name", set_an_attribute_without_a_name, "rank ", ""},
    {"bad JSON", set_an_attribute_to_bad_json, "rank ", ""},
    {"no shape", resize_without_a_shape, "rank ", ""},
    {"no url", open_a_store_without_a_url, "rank ", ""},
    {"a bad option", open_a_store_with_a_bad_option, "rank ", ""},
    {"parts of two ranks that overlap", write_what_another_writes, "overlap", "[5:12]"},
};

/* The sentences may begin in different ways: each rank says first what it could not do. */
static bool is_refused_everywhere(parapet_status status)
{
    return launch_largest(status) == PARAPET_ERR_ARGUMENT &&
           launch_largest(-(int64_t)status) == -PARAPET_ERR_ARGUMENT;
}

static void check_sentence(const struct deviating *of, int odd)
{
    const char *sentence = parapet_error_message();
    char who[32], text[1200];
    (void)snprintf(who, sizeof who, "rank %d ", odd);
    (void)snprintf(text, sizeof text, "\"%s\", \"%s\" and \"%s\" in: %s", of->usual, of->odd, who, sentence);
    launch_expect(&run, strstr(sentence, of->usual) != NULL && strstr(sentence, of->odd) != NULL, text);
    launch_expect(&run, strstr(sentence, who) != NULL, text);
}

static bool open_handles(handles *of)
{
    static int number;
    char path[600];
    *of = (handles){0};
    (void)snprintf(store_name, sizeof store_name, "store-%d", number++);
    (void)snprintf(path, sizeof path, "%s/%s", run.folder, store_name);
    return LAUNCH_OK(&run, parapet_store_open(&of->store, MPI_COMM_WORLD, path, PARAPET_CREATE, NULL)) &&
           LAUNCH_OK(&run, strip_create(&of->first, of->store, "a", run.ranks)) &&
           LAUNCH_OK(&run, strip_create(&of->second, of->store, "b", run.ranks)) &&
           LAUNCH_OK(&run, strip_write(of->first, &run, 1));
}

static void close_handles(handles *of)
{
    (void)LAUNCH_OK(&run, parapet_array_close(&of->first));
    (void)LAUNCH_OK(&run, parapet_array_close(&of->second));
    (void)LAUNCH_OK(&run, parapet_store_close(&of->store));
}

/* All ranks still have all handles, and what they stand for is as it was. */
static void check_afterwards(handles *of)
{
    int32_t generation = -1;
    bool is_whole = of->store != NULL && of->first != NULL && of->second != NULL;
    launch_expect(&run, is_whole, "handles that are still open");
    if (launch_largest(!is_whole) > 0)
        return; /* the others cannot even close theirs */
    if (LAUNCH_OK(&run, strip_read(of->first, &run, &generation)))
        launch_expect(&run, generation == 1, "old values");
    (void)LAUNCH_OK(&run, strip_write(of->first, &run, 1));
    (void)LAUNCH_OK(&run, parapet_array_attribute_set(of->second, "same", "true"));
    close_handles(of);
}

static void run_deviation(const struct deviating *deviating, int odd)
{
    char description[128];
    parapet_status status;
    handles of;
    (void)snprintf(description, sizeof description, "%s, rank %d is the odd one", deviating->name, odd);
    launch_case_begin(&run, (uint64_t)odd);
    odd_rank = odd;
    if (open_handles(&of)) {
        launch_phase(&run, deviating->name);
        status = deviating->call(&of, run.rank == odd);
        check_sentence(deviating, odd);
        launch_expect(&run, is_refused_everywhere(status), "PARAPET_ERR_ARGUMENT on every rank");
        check_afterwards(&of);
    }
    (void)launch_case_end(&run, description);
}

static void run_deviations(int odd)
{
    size_t i;
    for (i = 0; i < sizeof deviations / sizeof deviations[0]; i++)
        run_deviation(&deviations[i], odd);
}

int main(int argc, char **argv)
{
    launch_start(&run, &argc, &argv, MPI_THREAD_SINGLE);
    run_deviations(run.ranks - 1);
    run_deviations(0);
    run_deviations(run.ranks / 2);
    if (run.rank == 0)
        printf("%d deviations on %d ranks: %lld failed\n", (int)(sizeof deviations / sizeof deviations[0]) * 3,
               run.ranks, (long long)run.failed_cases);
    return launch_finish(&run);
}
