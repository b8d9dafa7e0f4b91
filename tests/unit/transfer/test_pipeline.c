/* Items pass the pipeline once each and in order; the first failure wins and everything is joined. */
#include "support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/status.h"
#include "transfer/pipeline.h"

#define ITEMS_MOST 400
#define SLOTS_MOST 16

typedef enum site { SITE_NONE, SITE_NEXT, SITE_PRODUCE, SITE_CONSUME, SITE_TICK } site;

typedef struct probe_item {
    long number;
    long product; /* what produce makes of it */
    atomic_int holders;
} probe_item;

typedef struct probe {
    long item_count;
    site fails_in;
    long fails_at; /* number of the item; of the call for ticks */
    bool fails_twice;
    bool yields;
    pthread_t caller;
    long next_number;
    atomic_int in_next, on_single_side, running;
    bool workers_produce;
    atomic_int produced[ITEMS_MOST], consumed[ITEMS_MOST];
    atomic_long consumed_order; /* number of the item consumed last; for one consumer */
    atomic_long produced_order; /* of the item produced last; for one producer */
    atomic_long ticks;
    atomic_int highest_worker;
    atomic_bool is_wrong;
    probe_item items[SLOTS_MOST];
} probe;

static void expect(probe *p, bool is_true)
{
    if (!is_true)
        atomic_store(&p->is_wrong, true);
}

static parapet_status fail_if_due(const probe *p, site here, long number, const char *name)
{
    if (p->fails_in == here && (number == p->fails_at || (p->fails_twice && number > p->fails_at)))
        return pp_fail(PARAPET_ERR_IO, "%s of %ld failed", name, number);
    return PARAPET_OK;
}

static void note_worker(probe *p, int worker)
{
    int highest = atomic_load(&p->highest_worker);
    while (worker > highest && !atomic_compare_exchange_weak(&p->highest_worker, &highest, worker))
        continue;
    if (p->yields)
        (void)sched_yield();
}

/* The side of the storage thread is never entered by two threads. */
static void enter(probe *p, bool is_single_side)
{
    atomic_fetch_add(&p->running, 1);
    if (is_single_side)
        expect(p, atomic_fetch_add(&p->on_single_side, 1) == 0);
}

static void leave(probe *p, bool is_single_side)
{
    if (is_single_side)
        atomic_fetch_sub(&p->on_single_side, 1);
    atomic_fetch_sub(&p->running, 1);
}

static parapet_status next_item(void *context, void *pointer, bool *is_end)
{
    probe *p = context;
    probe_item *item = pointer;
    parapet_status status;
    expect(p, atomic_fetch_add(&p->in_next, 1) == 0);
    expect(p, atomic_load(&item->holders) == 0);
    status = fail_if_due(p, SITE_NEXT, p->next_number, "next");
    if (status == PARAPET_OK && p->next_number == p->item_count)
        *is_end = true;
    else if (status == PARAPET_OK) {
        item->number = p->next_number++;
        item->product = -1;
    }
    atomic_fetch_sub(&p->in_next, 1);
    return status;
}

static parapet_status produce(void *context, int worker, void *pointer)
{
    probe *p = context;
    probe_item *item = pointer;
    parapet_status status;
    enter(p, !p->workers_produce);
    expect(p, atomic_fetch_add(&item->holders, 1) == 0);
    note_worker(p, worker);
    atomic_fetch_add(&p->produced[item->number], 1);
    if (!p->workers_produce)
        expect(p, atomic_exchange(&p->produced_order, item->number) == item->number - 1);
    item->product = 3 * item->number + 1;
    status = fail_if_due(p, SITE_PRODUCE, item->number, "produce");
    atomic_fetch_sub(&item->holders, 1);
    leave(p, !p->workers_produce);
    return status;
}

static parapet_status consume(void *context, int worker, void *pointer)
{
    probe *p = context;
    probe_item *item = pointer;
    parapet_status status;
    enter(p, p->workers_produce);
    expect(p, atomic_fetch_add(&item->holders, 1) == 0);
    note_worker(p, worker);
    expect(p, item->product == 3 * item->number + 1);
    atomic_fetch_add(&p->consumed[item->number], 1);
    if (p->workers_produce)
        expect(p, atomic_exchange(&p->consumed_order, item->number) == item->number - 1);
    status = fail_if_due(p, SITE_CONSUME, item->number, "consume");
    atomic_fetch_sub(&item->holders, 1);
    leave(p, p->workers_produce);
    return status;
}

static parapet_status tick(void *context)
{
    probe *p = context;
    expect(p, pthread_equal(pthread_self(), p->caller) != 0);
    return fail_if_due(p, SITE_TICK, atomic_fetch_add(&p->ticks, 1), "tick");
}

typedef struct shape {
    int slots, workers;
    pp_pipeline_role role;
    bool has_threads;
} shape;

static void start_probe(probe *p, long item_count, const shape *s)
{
    memset(p, 0, sizeof *p);
    p->item_count = item_count;
    p->caller = pthread_self();
    p->workers_produce = s->role == PP_PIPELINE_PRODUCES;
    atomic_store(&p->consumed_order, -1);
    atomic_store(&p->produced_order, -1);
}

static parapet_status run_probe(probe *p, const shape *s)
{
    parapet_status status;
    long live = pp_memory_live_count();
    pp_pool *pool;
    assert_ok(pp_pool_build(&pool));
    pp_failure_clear();
    status = pp_pipeline_run(&(pp_pipeline_job){
        .context = p,
        .next = next_item,
        .produce = produce,
        .consume = consume,
        .tick = tick,
        .items = p->items,
        .item_bytes = sizeof p->items[0],
        .slot_count = s->slots,
        .worker_count = s->workers,
        .workers = s->role,
        .pool = s->has_threads ? pool : NULL,
    });
    pp_pool_free(pool);
    assert_int_equal(atomic_load(&p->running), 0);
    assert_int_equal(atomic_load(&p->in_next), 0);
    assert_int_equal(pp_memory_live_count(), live);
    return status;
}

static void assert_each_once(const probe *p)
{
    long i;
    for (i = 0; i < p->item_count; i++) {
        assert_int_equal(atomic_load(&p->produced[i]), 1);
        assert_int_equal(atomic_load(&p->consumed[i]), 1);
    }
}

/* After a failure: nothing twice, and nothing consumed that was not produced. */
static void assert_none_twice(const probe *p)
{
    long i;
    for (i = 0; i < p->item_count; i++) {
        assert_true(atomic_load(&p->produced[i]) <= 1);
        assert_true(atomic_load(&p->consumed[i]) <= atomic_load(&p->produced[i]));
    }
}

static void for_every_shape(void (*check)(const shape *s))
{
    static const int slot_counts[] = {1, 2, 3, 7, 16};
    static const int worker_counts[] = {1, 2, 3, 7};
    size_t i, j;
    int role, storage;
    for (i = 0; i < sizeof slot_counts / sizeof slot_counts[0]; i++)
        for (j = 0; j < sizeof worker_counts / sizeof worker_counts[0]; j++)
            for (role = 0; role < 2; role++)
                for (storage = 0; storage < 2; storage++)
                    check(&(shape){.slots = slot_counts[i],
                                   .workers = worker_counts[j],
                                   .role = role == 0 ? PP_PIPELINE_PRODUCES : PP_PIPELINE_CONSUMES,
                                   .has_threads = storage == 1});
}

static probe shared_probe;

static void check_complete(const shape *s)
{
    static const long counts[] = {0, 1, 2, 5, 60};
    probe *p = &shared_probe;
    size_t i;
    for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        start_probe(p, counts[i], s);
        p->yields = true;
        assert_ok(run_probe(p, s));
        assert_false(atomic_load(&p->is_wrong));
        assert_each_once(p);
        assert_true(atomic_load(&p->highest_worker) < s->workers);
        assert_true(atomic_load(&p->ticks) <= counts[i]);
    }
}

static void test_pipeline__passes_every_item_once_and_in_order_on_the_single_side(void **state)
{
    (void)state;
    for_every_shape(check_complete);
}

static void check_failure(const shape *s, site where, long at)
{
    probe *p = &shared_probe;
    char sentence[32];
    start_probe(p, 20, s);
    p->fails_in = where;
    p->fails_at = at;
    (void)snprintf(sentence, sizeof sentence, " of %ld failed", at);
    assert_fails(run_probe(p, s), PARAPET_ERR_IO, sentence);
    assert_false(atomic_load(&p->is_wrong));
    assert_none_twice(p);
}

static void check_failures(const shape *s)
{
    long at;
    if (s->slots > 3 && s->workers > 3)
        return; /* covered by smaller shapes; time */
    for (at = 0; at < 20; at++) {
        check_failure(s, SITE_NEXT, at);
        check_failure(s, SITE_PRODUCE, at);
        check_failure(s, SITE_CONSUME, at);
    }
    check_failure(s, SITE_NEXT, 20); /* instead of the end */
    if (s->workers == 1)
        for (at = 0; at < 20; at++)
            check_failure(s, SITE_TICK, at);
}

static void test_pipeline__ends_with_the_failure_of_any_function_at_any_item(void **state)
{
    (void)state;
    for_every_shape(check_failures);
}

/* With one producer and one consumer, nothing behind the failing item is ever consumed. */
static void test_pipeline__items_behind_a_failed_one_are_not_consumed(void **state)
{
    probe *p = &shared_probe;
    shape s = {.slots = 4, .workers = 3, .role = PP_PIPELINE_PRODUCES, .has_threads = true};
    long at, i;
    (void)state;
    for (at = 0; at < 20; at++) {
        start_probe(p, 20, &s);
        p->fails_in = SITE_PRODUCE;
        p->fails_at = at;
        assert_fails(run_probe(p, &s), PARAPET_ERR_IO, "produce");
        for (i = at; i < 20; i++)
            assert_int_equal(atomic_load(&p->consumed[i]), 0);
    }
}

static void test_pipeline__keeps_the_first_of_many_failures(void **state)
{
    probe *p = &shared_probe;
    shape s = {.slots = 8, .workers = 1, .role = PP_PIPELINE_PRODUCES, .has_threads = true};
    (void)state;
    start_probe(p, 100, &s);
    p->fails_in = SITE_CONSUME; /* one consumer, in order: 30 is the first for certain */
    p->fails_at = 30;
    p->fails_twice = true;
    assert_fails(run_probe(p, &s), PARAPET_ERR_IO, "consume of 30 failed");
    assert_int_equal(atomic_load(&p->consumed[31]), 0);
}

static void test_pipeline__a_failing_tick_ends_the_run_also_with_many_workers(void **state)
{
    probe *p = &shared_probe;
    shape s = {.slots = 8, .workers = 4, .role = PP_PIPELINE_CONSUMES, .has_threads = true};
    parapet_status status;
    (void)state;
    start_probe(p, ITEMS_MOST, &s);
    p->fails_in = SITE_TICK;
    status = run_probe(p, &s); /* the caller may get no item at all; then there is no tick */
    assert_true(status == (atomic_load(&p->ticks) > 0 ? PARAPET_ERR_IO : PARAPET_OK));
    assert_none_twice(p);
}

static void test_pipeline__loop_does_what_threads_do(void **state)
{
    static probe loop, threads;
    shape plain = {.slots = 1, .workers = 1, .role = PP_PIPELINE_PRODUCES, .has_threads = false};
    shape helped = {.slots = 5, .workers = 1, .role = PP_PIPELINE_PRODUCES, .has_threads = true};
    long i;
    (void)state;
    start_probe(&loop, 100, &plain);
    start_probe(&threads, 100, &helped);
    assert_ok(run_probe(&loop, &plain));
    assert_ok(run_probe(&threads, &helped));
    assert_false(atomic_load(&loop.is_wrong) || atomic_load(&threads.is_wrong));
    assert_int_equal(atomic_load(&loop.ticks), 100);
    assert_int_equal(atomic_load(&threads.ticks), 100);
    for (i = 0; i < 100; i++)
        assert_int_equal(atomic_load(&loop.consumed[i]), atomic_load(&threads.consumed[i]));
}

static parapet_status consume_on_caller(void *context, int worker, void *pointer)
{
    probe *p = context;
    expect(p, pthread_equal(pthread_self(), p->caller) != 0);
    return consume(context, worker, pointer);
}

static void test_pipeline__loop_starts_no_thread(void **state)
{
    probe *p = &shared_probe;
    shape s = {.slots = 1, .workers = 1, .role = PP_PIPELINE_PRODUCES};
    (void)state;
    start_probe(p, 10, &s);
    assert_ok(pp_pipeline_run(&(pp_pipeline_job){.context = p,
                                                 .next = next_item,
                                                 .produce = produce,
                                                 .consume = consume_on_caller,
                                                 .items = p->items,
                                                 .item_bytes = sizeof p->items[0],
                                                 .slot_count = 1,
                                                 .worker_count = 1}));
    assert_false(atomic_load(&p->is_wrong));
    assert_each_once(p);
}

/* ---- Items that are sent ---- */

static bool is_sent(void *context, const void *pointer)
{
    (void)context;
    return ((const probe_item *)pointer)->number % 4 != 0;
}

/* Item number n is consumed n % 4 times, or once if that is 0. */
static bool has_more(void *context, const void *pointer)
{
    probe *p = context;
    const probe_item *item = pointer;
    return atomic_load(&p->consumed[item->number]) < item->number % 4;
}

/* Sends what waits, until all is over. */
static parapet_status run_and_send(probe *p, const shape *s)
{
    pp_pool *pool;
    pp_pipeline_job job = {.context = p,
                           .next = next_item,
                           .produce = produce,
                           .consume = consume,
                           .wants_send = is_sent,
                           .has_more = has_more,
                           .items = p->items,
                           .item_bytes = sizeof p->items[0],
                           .slot_count = s->slots,
                           .worker_count = s->workers,
                           .workers = s->role};
    pp_pipeline *line;
    void *item;
    parapet_status status;
    pp_failure_clear();
    assert_ok(pp_pool_build(&pool));
    job.pool = s->has_threads ? pool : NULL;
    assert_ok(pp_pipeline_start(&line, &job));
    while (!pp_pipeline_is_over(line)) {
        bool is_any = pp_pipeline_step(line);
        if ((item = pp_pipeline_take_to_send(line)) != NULL)
            pp_pipeline_sent(line, item);
        else if (!is_any)
            pp_pipeline_wait(line, 100000);
    }
    status = pp_pipeline_finish(line);
    pp_pool_free(pool);
    return status;
}

static void check_sent(const shape *s)
{
    probe *p = &shared_probe;
    long i;
    if (s->role != PP_PIPELINE_CONSUMES)
        return;
    start_probe(p, 40, s);
    assert_ok(run_and_send(p, s));
    assert_false(atomic_load(&p->is_wrong));
    for (i = 0; i < 40; i++)
        assert_int_equal(atomic_load(&p->consumed[i]), i % 4 == 0 ? 1 : i % 4);
    for (i = 0; i < 40; i += 13) {
        start_probe(p, 40, s);
        p->fails_in = SITE_CONSUME;
        p->fails_at = i;
        assert_fails(run_and_send(p, s), PARAPET_ERR_IO, "consume");
    }
}

static void test_pipeline__consumes_again_what_has_more_to_send(void **state)
{
    (void)state;
    for_every_shape(check_sent);
}

static int refuse_nth(void *context, size_t bytes)
{
    int *left = context;
    (void)bytes;
    return (*left)-- == 0;
}

static void test_pipeline__reports_missing_memory_before_any_item(void **state)
{
    probe *p = &shared_probe;
    shape s = {.slots = 4, .workers = 2, .role = PP_PIPELINE_PRODUCES, .has_threads = true};
    parapet_status status;
    int nth, left;
    (void)state;
    for (nth = 1; nth < 3; nth++) { /* the first is that of the pool */
        start_probe(p, 10, &s);
        left = nth;
        pp_memory_hook_set(refuse_nth, &left);
        status = run_probe(p, &s);
        pp_memory_hook_set(NULL, NULL);
        assert_int_equal(status, PARAPET_ERR_MEMORY);
        assert_int_equal(p->next_number, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pipeline__passes_every_item_once_and_in_order_on_the_single_side),
        cmocka_unit_test(test_pipeline__ends_with_the_failure_of_any_function_at_any_item),
        cmocka_unit_test(test_pipeline__items_behind_a_failed_one_are_not_consumed),
        cmocka_unit_test(test_pipeline__keeps_the_first_of_many_failures),
        cmocka_unit_test(test_pipeline__a_failing_tick_ends_the_run_also_with_many_workers),
        cmocka_unit_test(test_pipeline__loop_does_what_threads_do),
        cmocka_unit_test(test_pipeline__loop_starts_no_thread),
        cmocka_unit_test(test_pipeline__consumes_again_what_has_more_to_send),
        cmocka_unit_test(test_pipeline__reports_missing_memory_before_any_item),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
