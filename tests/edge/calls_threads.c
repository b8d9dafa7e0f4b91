/* calls_threads.c - threads of one program that make calls on one store at the same time. */
#include "strip.h"

#include <parapet_store.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { WRITERS = 4, CALLS = 40, TOGETHER = 8 /* calls after which they meet again */ };

typedef struct bed {
    parapet_store *store;
    parapet_array *array;
    strip own;
    pthread_barrier_t all_here;
    atomic_int worked, refused, odd;
    atomic_bool is_over;
} bed;

static launch run;

static void open_bed(bed *all)
{
    parapet_store_options options = {.durability = PARAPET_DURABILITY_LEAVE};
    char url[600];
    (void)snprintf(url, sizeof url, "%s/threads", run.folder);
    atomic_store(&all->worked, 0);
    atomic_store(&all->refused, 0);
    atomic_store(&all->odd, 0);
    atomic_store(&all->is_over, false);
    strip_deal(&all->own, run.rank, run.ranks);
    strip_fill(&all->own, 3);
    (void)LAUNCH_OK(&run, parapet_store_open(&all->store, MPI_COMM_WORLD, url, PARAPET_CREATE, &options));
    (void)LAUNCH_OK(&run, strip_create(&all->array, all->store, "a", run.ranks, 2));
    (void)LAUNCH_OK(&run, parapet_array_write(all->array, all->own.parts, all->own.part_count));
}

static void close_bed(bed *all)
{
    (void)LAUNCH_OK(&run, parapet_array_close(&all->array));
    (void)LAUNCH_OK(&run, parapet_store_remove(all->store, "", 1, 0, NULL, NULL));
    (void)LAUNCH_OK(&run, parapet_store_close(&all->store));
}

static void take(bed *all, parapet_status status)
{
    if (status == PARAPET_OK)
        atomic_fetch_add(&all->worked, 1);
    else if (status == PARAPET_ERR_ARGUMENT && strstr(parapet_error_message(), "another thread") != NULL)
        atomic_fetch_add(&all->refused, 1);
    else if (atomic_fetch_add(&all->odd, 1) == 0)
        fprintf(stderr, "rank %d: %s: %s\n", run.rank, parapet_status_name(status), parapet_error_message());
}

/* The values are the same each time, so that it does not matter which call was the last. */
static void *write_often(void *context)
{
    bed *all = context;
    int i;
    for (i = 0; i < CALLS; i++) {
        if (i % TOGETHER == 0)
            (void)pthread_barrier_wait(&all->all_here);
        take(all, parapet_array_write(all->array, all->own.parts, all->own.part_count));
    }
    return NULL;
}

/* Each call works or is refused, on all ranks alike, so that none waits for a call that another rank was refused. */
static void test_of_two_threads_that_write_one_is_refused(void)
{
    static bed all;
    pthread_t writers[WRITERS];
    int64_t worked;
    int32_t generation = 0;
    int i;
    launch_case_begin(&run, 1);
    open_bed(&all);
    (void)pthread_barrier_init(&all.all_here, NULL, WRITERS);
    for (i = 0; i < WRITERS; i++)
        (void)pthread_create(&writers[i], NULL, write_often, &all);
    for (i = 0; i < WRITERS; i++)
        (void)pthread_join(writers[i], NULL);
    worked = launch_largest(all.worked);
    launch_expect(&run, all.worked == worked, "as many calls that worked as on the other ranks");
    launch_expect(&run, all.odd == 0 && worked > 0, "calls that work, and calls that are refused");
    launch_expect(&run, all.worked + all.refused == WRITERS * CALLS, "an answer to every call");
    (void)LAUNCH_OK(&run, strip_read(all.array, &run, &generation));
    launch_expect(&run, generation == 3, "the values");
    if (run.rank == 0)
        printf("%d ranks: %d calls worked, %d were refused\n", run.ranks, (int)all.worked, (int)all.refused);
    close_bed(&all);
    (void)launch_case_end(&run, "writes on several threads");
}

static void *look_often(void *context)
{
    bed *all = context;
    while (!atomic_load(&all->is_over)) {
        parapet_array_info info;
        parapet_statistics statistics;
        char *text = NULL;
        take(all, parapet_array_get_info(all->array, &info));
        take(all, parapet_store_get_statistics(all->store, &statistics));
        take(all, parapet_array_attribute_get(all->array, NULL, &text));
        parapet_free(text);
    }
    return NULL;
}

/* They wait for their turn. */
static void test_threads_may_look_while_one_writes(void)
{
    static bed all;
    pthread_t lookers[2];
    int i;
    launch_case_begin(&run, 2);
    open_bed(&all);
    for (i = 0; i < 2; i++)
        (void)pthread_create(&lookers[i], NULL, look_often, &all);
    for (i = 0; i < CALLS; i++) {
        (void)LAUNCH_OK(&run, parapet_array_write(all.array, all.own.parts, all.own.part_count));
        (void)LAUNCH_OK(&run, parapet_array_attribute_set(all.array, "i", i % 2 == 0 ? "1" : "[1, 2, 3]"));
    }
    atomic_store(&all.is_over, true);
    for (i = 0; i < 2; i++)
        (void)pthread_join(lookers[i], NULL);
    launch_expect(&run, all.refused == 0 && all.odd == 0 && all.worked > 0, "looks that work");
    close_bed(&all);
    (void)launch_case_end(&run, "looks on several threads");
}

int main(int argc, char **argv)
{
    launch_start(&run, &argc, &argv, MPI_THREAD_MULTIPLE);
    test_of_two_threads_that_write_one_is_refused();
    test_threads_may_look_while_one_writes();
    return launch_finish(&run);
}
