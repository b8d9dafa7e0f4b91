/* Every system call and every allocation of every operation of a store fails in turn, in many ways: nothing hangs, no
 * memory and no descriptor is left, a failure has a sentence, an object is the old one or the new one, and everything
 * works once the trouble is gone. Locks are tried as locks of the file system and as owner records.
 *
 * fault_syscalls does the same with whole calls of the library, and asks for the right status. */
#include "scratch.h"

#include <errno.h>

#include "base/memory.h"
#include "base/status.h"
#include "shim.h"
#include "stores/faulty.h"

#define LARGE_BYTES ((size_t)2 << 20)
#define OLD "old"
#define NEW "new and longer"

typedef struct manner {
    int error_number; /* 0: transfers are short */
    bool forever;
} manner;

static const manner manners[] = {
    {EIO, false},        {EIO, true},     {EINTR, false},  {EAGAIN, false}, {ENOENT, false}, {ENOENT, true},
    {EEXIST, false},     {EEXIST, true},  {EACCES, false}, {EACCES, true},  {ENOSPC, false}, {EMFILE, true},
    {ENOTDIR, true},     {ELOOP, false},  {EXDEV, false},  {EINVAL, false}, {EINVAL, true},  {ENOLCK, true},
    {EOPNOTSUPP, false}, {ESTALE, false}, {ENOSYS, false}, {0, false},      {0, true},
};

enum { MANNERS = sizeof manners / sizeof manners[0] };

typedef enum keeper { KEEPER_LOCKS, KEEPER_RECORDS, KEEPER_MEMORY, KEEPER_FAULTY } keeper;

/* One operation after another; the first failure ends it. Everything that it opens it closes. */
typedef parapet_status (*task)(pp_store *store);

static unsigned char *large; /* LARGE_BYTES on a page boundary */

static parapet_status replace_small(pp_store *store)
{
    return put(store, "a/object", NEW, PP_PUBLISH_REPLACE);
}

static parapet_status create_deep(pp_store *store)
{
    parapet_status status = put(store, "new/deep/object", NEW, PP_PUBLISH_EXCLUSIVE);
    return status == PARAPET_OK ? pp_store_sync_dirs(store) : status;
}

static parapet_status write_parts(pp_writer *writer)
{
    parapet_status status = pp_writer_append(writer, large, LARGE_BYTES);
    if (status == PARAPET_OK)
        status = pp_writer_append(writer, "tail", 4);
    if (status == PARAPET_OK)
        status = pp_writer_sync(writer);
    return status == PARAPET_OK ? pp_writer_append(writer, "end", 3) : status;
}

/* Nobody knows how much of an append that failed has reached a file: nothing may follow it. In memory it is nothing.
 */
static bool is_file;

static parapet_status give_up(pp_writer *writer, parapet_status status)
{
    if (pp_writer_append(writer, "more", 4) == PARAPET_OK && pp_writer_stage(writer) == PARAPET_OK &&
        pp_writer_publish(writer, PP_PUBLISH_REPLACE) == PARAPET_OK && is_file)
        fail_msg("an object whose writing had failed was published");
    pp_writer_free(writer);
    return status;
}

static parapet_status finish(pp_writer *writer)
{
    parapet_status status = pp_writer_stage(writer);
    if (status == PARAPET_OK)
        status = pp_writer_publish(writer, PP_PUBLISH_REPLACE);
    pp_writer_free(writer);
    return status;
}

static parapet_status write_large(pp_store *store)
{
    pp_write_request request = {.key = "large", .staging = "tmp"};
    pp_writer *writer;
    pp_budget budget;
    parapet_status status;
    pp_budget_init(&budget, 8 * LARGE_BYTES);
    request.budget = &budget;
    if ((status = pp_store_begin(store, &request, &writer)) == PARAPET_OK) {
        if ((status = write_parts(writer)) == PARAPET_OK)
            status = finish(writer);
        else
            status = give_up(writer, status);
    }
    pp_budget_clear(&budget);
    return status;
}

static parapet_status write_first_run(pp_store *store, const pp_write_request *request)
{
    pp_writer *writer;
    parapet_status status = pp_store_begin(store, request, &writer);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_writer_append(writer, large, LARGE_BYTES / 2 + 5)) == PARAPET_OK)
        status = pp_writer_sync(writer);
    pp_writer_suspend(writer);
    return status;
}

static parapet_status write_second_run(pp_store *store, const pp_write_request *request)
{
    pp_writer *writer;
    parapet_status status = pp_store_resume(store, request, LARGE_BYTES / 2 + 4, &writer);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_writer_append(writer, large, LARGE_BYTES / 2)) == PARAPET_OK)
        return finish(writer);
    return give_up(writer, status);
}

static parapet_status write_in_two_runs(pp_store *store)
{
    pp_write_request request = {.key = "resumed", .staging = "tmp", .name = "found-again"};
    parapet_status status;
    pp_budget budget;
    pp_budget_init(&budget, 8 * LARGE_BYTES);
    request.budget = &budget;
    if ((status = write_first_run(store, &request)) == PARAPET_OK)
        status = write_second_run(store, &request);
    pp_budget_clear(&budget);
    return status;
}

/* Three halves of a buffer and a bit, with a flush after the second. */
static parapet_status append_halves(pp_writer *writer)
{
    size_t piece = LARGE_BYTES / 4 + 1;
    parapet_status status = PARAPET_OK;
    int i;
    for (i = 0; i < 7 && status == PARAPET_OK; i++) {
        status = pp_writer_append(writer, large + i, piece);
        if (status == PARAPET_OK && i == 4)
            status = pp_writer_sync(writer);
    }
    return status;
}

static parapet_status write_halves(pp_store *store)
{
    pp_write_request request = {.key = "halves", .staging = "tmp", .buffer_bytes = LARGE_BYTES};
    pp_writer *writer;
    pp_budget budget;
    parapet_status status;
    if ((status = pp_pool_build(&request.pool)) != PARAPET_OK)
        return status;
    pp_budget_init(&budget, 8 * LARGE_BYTES);
    request.budget = &budget;
    if ((status = pp_store_begin(store, &request, &writer)) == PARAPET_OK)
        status = (status = append_halves(writer)) == PARAPET_OK ? finish(writer) : give_up(writer, status);
    pp_budget_clear(&budget);
    pp_pool_free(request.pool);
    return status;
}

static parapet_status read_objects(pp_store *store)
{
    pp_reader *reader;
    uint64_t version;
    char *data;
    size_t bytes;
    parapet_status status = pp_store_open_object(store, "big", &reader);
    if (status == PARAPET_OK) {
        pp_reader_expect(reader, 0, (size_t)reader->bytes);
        if ((status = pp_reader_read(reader, 0, LARGE_BYTES, large)) == PARAPET_OK)
            assert_int_equal(large[LARGE_BYTES - 1], 7);
        pp_reader_free(reader);
    }
    if (status == PARAPET_OK && (status = pp_store_read_all(store, "a/object", 100, &data, &bytes)) == PARAPET_OK) {
        assert_string_equal(data, OLD);
        pp_free(data);
    }
    return status == PARAPET_OK ? pp_store_version(store, "a/object", &version) : status;
}

static parapet_status append_to_log(pp_store *store, uint64_t keep_bytes)
{
    pp_log *log;
    parapet_status status = pp_store_open_log(store, "a/log", keep_bytes, &log);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_log_append(log, "entry.", 6)) != PARAPET_OK && pp_log_append(log, "more", 4) == PARAPET_OK &&
        is_file)
        fail_msg("a log that had failed was appended to");
    pp_log_close(log);
    return status;
}

static parapet_status keep_log(pp_store *store)
{
    parapet_status status = append_to_log(store, 0);
    if (status == PARAPET_OK)
        status = append_to_log(store, 6);
    return status == PARAPET_OK ? append_to_log(store, 3) : status;
}

static parapet_status use_lock(pp_lock *lock)
{
    char text[PP_LOCK_TEXT_BYTES + 1];
    bool is_held;
    parapet_status status = pp_lock_set(lock, PP_LOCK_LONG, PP_LOCK_EXCLUSIVE);
    if (status == PARAPET_OK)
        status = pp_lock_set(lock, PP_LOCK_SHORT, PP_LOCK_SHARED);
    if (status == PARAPET_OK)
        status = pp_lock_prove(lock);
    if (status == PARAPET_OK)
        status = pp_lock_write(lock, "what it is for");
    if (status == PARAPET_OK)
        status = pp_lock_read(lock, text);
    if (status == PARAPET_OK)
        status = pp_lock_test(lock, PP_LOCK_DELEGATES, &is_held);
    if (status == PARAPET_OK)
        status = pp_lock_write(lock, "");
    return status == PARAPET_OK ? pp_lock_set(lock, PP_LOCK_LONG, PP_LOCK_FREE) : status;
}

static parapet_status take_lock(pp_store *store)
{
    pp_lock_view view = {0};
    pp_lock *lock, *other = NULL;
    parapet_status status = pp_store_open_lock(store, "node/__parapet/lock", &lock);
    if (status != PARAPET_OK)
        return status;
    status = use_lock(lock);
    if (status == PARAPET_OK)
        status = pp_store_view_lock(store, "node/__parapet/lock", &view);
    if (status == PARAPET_OK && (status = pp_store_open_lock(store, "node/__parapet/lock", &other)) == PARAPET_OK) {
        if (pp_lock_set(other, PP_LOCK_SHORT, PP_LOCK_EXCLUSIVE) == PARAPET_OK)
            fail_msg("two hold a lock that excludes others");
        if ((status = pp_lock_set(other, PP_LOCK_SHORT, PP_LOCK_SHARED)) == PARAPET_ERR_BUSY)
            status = PARAPET_OK; /* a record may keep out more than it has to */
    }
    pp_lock_close(other);
    pp_lock_close(lock);
    return status;
}

static parapet_status rearrange(pp_store *store)
{
    char names[1024] = "";
    parapet_status status = pp_store_list(store, "", note_name, names);
    if (status == PARAPET_OK)
        status = pp_store_move(store, "spare/one", "elsewhere/one");
    if (status == PARAPET_OK)
        status = pp_store_remove(store, "spare/two");
    if (status == PARAPET_OK)
        status = pp_store_remove_empty(store, "spare");
    if (status == PARAPET_OK)
        status = pp_store_remove_prefix(store, "rest");
    return status == PARAPET_OK ? pp_store_sync_dirs(store) : status;
}

static char other_root[300];

static parapet_status make_root(pp_store *store)
{
    pp_store *made;
    pp_lock_trust trust;
    parapet_status status = pp_store_posix_build(&made, other_root, &(pp_posix_options){.create = true});
    (void)store;
    if (status != PARAPET_OK)
        return status;
    pp_store_posix_trust(made, &trust);
    assert_string_not_equal(trust.source, "");
    pp_store_free(made);
    return status;
}

/* What is in the root goes, and the root stays. */
static parapet_status empty_root(pp_store *store)
{
    pp_store *made;
    parapet_status status = pp_store_posix_build(&made, other_root, &(pp_posix_options){.create = true});
    (void)store;
    if (status != PARAPET_OK)
        return status;
    if ((status = put(made, "a/object", NEW, PP_PUBLISH_REPLACE)) == PARAPET_OK &&
        (status = pp_store_remove_prefix(made, "")) == PARAPET_OK)
        status = pp_store_sync_dirs(made);
    pp_store_free(made);
    return status;
}

static parapet_status write_shared(pp_store *store, const char *key)
{
    char found[sizeof NEW] = "";
    pp_shared *shared;
    parapet_status status = pp_shared_open(store, key, &shared);
    if (status != PARAPET_OK)
        return status;
    if ((status = pp_shared_write(shared, 0, NEW, sizeof NEW)) == PARAPET_OK &&
        (status = pp_shared_read(shared, 0, found, sizeof found)) == PARAPET_OK) {
        assert_string_equal(found, NEW);
        status = pp_shared_finish(shared);
    }
    pp_shared_free(shared);
    return status;
}

/* An object whose bytes others write; only in a directory. */
static parapet_status share(pp_store *store)
{
    pp_write_request request = {.key = "shared", .staging = "tmp", .is_small = true};
    pp_writer *writer;
    char *key = NULL;
    parapet_status status;
    if (!is_file)
        return PARAPET_OK;
    if ((status = pp_store_begin(store, &request, &writer)) != PARAPET_OK)
        return status;
    if ((status = pp_store_posix_share(writer, sizeof NEW, &key)) == PARAPET_OK)
        status = write_shared(store, key);
    pp_free(key);
    if (status == PARAPET_OK)
        return finish(writer);
    pp_writer_free(writer);
    return status;
}

static const struct {
    const char *name;
    task run;
} tasks[] = {{"replace an object", replace_small},
             {"create an object", create_deep},
             {"write much", write_large},
             {"write in two runs", write_in_two_runs},
             {"write halves", write_halves},
             {"read", read_objects},
             {"keep a log", keep_log},
             {"lock", take_lock},
             {"move and remove", rearrange},
             {"make a root", make_root},
             {"empty a root", empty_root},
             {"write together", share}};

enum { TASKS = sizeof tasks / sizeof tasks[0] };

/* ---- One run ---- */

typedef struct run {
    keeper keeper;
    pp_store *inner;    /* of a store that can fail */
    pp_fault_plan plan; /* of that store: it does not */
    scratch made;
    int task;
    pp_posix_options options;
    parapet_status status;
    char description[128];
} run;

static bool is_in_memory(const run *this)
{
    return this->keeper == KEEPER_MEMORY || this->keeper == KEEPER_FAULTY;
}

static void open_store(run *this, pp_store **store, const pp_posix_options *options)
{
    if (is_in_memory(this))
        assert_ok(pp_store_memory_build(store, "store_calls"));
    else
        assert_ok(pp_store_posix_build(store, this->made.root, options));
    if (this->keeper == KEEPER_RECORDS)
        pp_store_posix_use_records(*store, false);
    if (this->keeper == KEEPER_FAULTY) {
        this->inner = *store;
        this->plan.fail_at = -1;
        assert_ok(pp_store_faulty_build(store, this->inner, &this->plan));
    }
}

static void close_store(run *this, pp_store *store)
{
    pp_store_free(store);
    if (this->keeper == KEEPER_FAULTY)
        pp_store_free(this->inner);
}

/* What the tasks find. */
static void fill(run *this)
{
    static const char *const keys[] = {"a/object", "spare/one", "spare/two", "rest/deep/one", "rest/two"};
    pp_write_request request = {.key = "big", .staging = "tmp", .is_small = true};
    pp_store *store;
    size_t i;
    open_store(this, &store, &(pp_posix_options){.create = true, .not_durable = true});
    for (i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_ok(put(store, keys[i], OLD, PP_PUBLISH_REPLACE));
    memset(large, 7, LARGE_BYTES);
    if (tasks[this->task].run == read_objects)
        assert_ok(pp_store_write_all(store, &request, large, LARGE_BYTES, PP_PUBLISH_REPLACE));
    close_store(this, store);
}

static void check_kept(run *this)
{
    char *data;
    size_t bytes;
    pp_store *store;
    open_store(this, &store, &(pp_posix_options){.not_durable = true});
    assert_ok(pp_store_read_all(store, "a/object", 100, &data, &bytes));
    if (strcmp(data, OLD) != 0 && strcmp(data, NEW) != 0)
        fail_msg("%s: the object has \"%s\"", this->description, data);
    pp_free(data);
    close_store(this, store);
}

/* Runs the task with whatever is armed by arm. */
static void run_struck(run *this, void (*arm)(void *plan), void *plan)
{
    pp_store *store;
    long live = pp_memory_live_count();
    int descriptors = descriptor_count();
    open_store(this, &store, &this->options);
    is_file = !is_in_memory(this);
    arm(plan);
    this->status = tasks[this->task].run(store);
    arm(NULL);
    if (this->status != PARAPET_OK && pp_failure_message()[0] == '\0')
        fail_msg("%s: a failure without a sentence", this->description);
    close_store(this, store);
    if (descriptor_count() != descriptors)
        fail_msg("%s: %d descriptors are left", this->description, descriptor_count() - descriptors);
    if (!is_in_memory(this) && pp_memory_live_count() != live)
        fail_msg("%s: %ld allocations are left", this->description, pp_memory_live_count() - live);
    check_kept(this);
}

static void begin_run(run *this)
{
    this->made = scratch_make(SCRATCH_MEMORY);
    (void)snprintf(other_root, sizeof other_root, "%s/other", this->made.path);
    fill(this);
}

static void end_run(run *this)
{
    pp_store_memory_drop("store_calls");
    scratch_remove(&this->made);
}

/* Once the trouble is gone, on a new store: one whose directory could not be flushed promises nothing any more. */
static void check_works(run *this)
{
    pp_store *store;
    begin_run(this);
    open_store(this, &store, &this->options);
    if (tasks[this->task].run(store) != PARAPET_OK)
        fail_msg("%s: afterwards: %s", this->description, pp_failure_message());
    close_store(this, store);
    end_run(this);
}

/* ---- System calls ---- */

static void arm_calls(void *plan)
{
    shim_arm(plan);
}

/* Returns whether the call was reached. */
static bool strike_call(run *this, shim_call call, long at, const manner *how)
{
    shim_plan plan = {.call = call,
                      .fail_at = at,
                      .forever = how->forever,
                      .is_short = how->error_number == 0,
                      .error_number = how->error_number};
    (void)snprintf(this->description, sizeof this->description, "%s, %s: %s %ld, error %d%s", tasks[this->task].name,
                   this->keeper == KEEPER_RECORDS ? "records" : "locks", shim_call_name(call), at, how->error_number,
                   how->forever ? " forever" : "");
    begin_run(this);
    run_struck(this, arm_calls, &plan);
    end_run(this);
    return plan.failures > 0;
}

#define CALLS(...)                                                                                                   \
    (const int[])                                                                                                    \
    {                                                                                                                \
        __VA_ARGS__, SHIM_CALLS                                                                                      \
    }

static bool is_among(shim_call call, const int *list)
{
    while (*list != SHIM_CALLS && *list != (int)call)
        list++;
    return *list != SHIM_CALLS;
}

/* Which calls are known to report that error. */
static bool is_applicable(shim_call call, const manner *how)
{
    switch (how->error_number) {
    case 0:
        return is_among(call, CALLS(SHIM_READ, SHIM_WRITE));
    case EIO:
    case EINTR:
        return true;
    case ENOSPC:
        return is_among(call, CALLS(SHIM_OPEN, SHIM_WRITE, SHIM_FLUSH, SHIM_MAKE_DIRECTORY, SHIM_CLOSE, SHIM_CUT));
    case EAGAIN:
        return is_among(call, CALLS(SHIM_OPEN, SHIM_READ, SHIM_WRITE, SHIM_EXAMINE, SHIM_CONTROL));
    case EMFILE:
        return is_among(call, CALLS(SHIM_OPEN, SHIM_CONTROL, SHIM_LIST));
    case EINVAL:
    case EOPNOTSUPP:
    case ENOSYS:
        return is_among(call, CALLS(SHIM_OPEN, SHIM_WRITE, SHIM_FLUSH, SHIM_RENAME, SHIM_CONTROL, SHIM_CUT));
    case ENOLCK:
        return call == SHIM_CONTROL;
    case EEXIST:
        return is_among(call, CALLS(SHIM_OPEN, SHIM_RENAME, SHIM_MAKE_DIRECTORY, SHIM_UNLINK));
    default:
        return is_among(call, CALLS(SHIM_OPEN, SHIM_EXAMINE, SHIM_RENAME, SHIM_UNLINK, SHIM_MAKE_DIRECTORY));
    }
}

static void strike_every_call(run *this)
{
    int call, i;
    long at;
    for (call = 0; call < SHIM_CALLS; call++)
        for (i = 0; i < MANNERS; i++)
            for (at = i % TEST_THINNING; is_applicable((shim_call)call, &manners[i]); at += TEST_THINNING)
                if (!strike_call(this, (shim_call)call, at, &manners[i]))
                    break;
}

static void check_calls(keeper kept, pp_direct_io direct_io)
{
    run this = {.keeper = kept, .options = {.create = true, .direct_io = direct_io}};
    for (this.task = 0; this.task < TASKS; this.task++) {
        if (kept == KEEPER_RECORDS && tasks[this.task].run != take_lock)
            continue;
        strike_every_call(&this);
        check_works(&this);
    }
}

static void test_store__every_system_call_may_fail(void **state)
{
    (void)state;
    check_calls(KEEPER_LOCKS, PP_DIRECT_IO_ALWAYS);
}

static void test_store__every_system_call_of_owner_records_may_fail(void **state)
{
    (void)state;
    check_calls(KEEPER_RECORDS, PP_DIRECT_IO_NEVER);
}

/* ---- Memory ---- */

static void arm_memory(void *plan)
{
    pp_memory_hook_set(plan != NULL ? refuse_one : NULL, plan);
}

static void check_memory(keeper kept)
{
    run this = {.keeper = kept, .options = {.create = true, .not_durable = true}};
    for (this.task = 0; this.task < TASKS; this.task++) {
        refusal plan = {.at = -1};
        do {
            plan = (refusal){.at = plan.at + 1};
            (void)snprintf(this.description, sizeof this.description, "%s: allocation %ld", tasks[this.task].name,
                           plan.at);
            begin_run(&this);
            run_struck(&this, arm_memory, &plan);
            end_run(&this);
        } while (plan.count > plan.at);
        assert_int_equal(this.status, PARAPET_OK);
    }
}

static void test_store__every_allocation_may_be_refused(void **state)
{
    (void)state;
    check_memory(KEEPER_LOCKS);
    check_memory(KEEPER_RECORDS);
    check_memory(KEEPER_MEMORY);
    check_memory(KEEPER_FAULTY);
}

int main(void)
{
    const struct CMUnitTest list[] = {
        cmocka_unit_test(test_store__every_system_call_may_fail),
        cmocka_unit_test(test_store__every_system_call_of_owner_records_may_fail),
        cmocka_unit_test(test_store__every_allocation_may_be_refused),
    };
    int failed;
    if (pp_allocate_pages(&large, LARGE_BYTES) != PARAPET_OK)
        return 1;
    failed = cmocka_run_group_tests(list, NULL, NULL);
    pp_free(large);
    return failed;
}
