/* Another job that takes no locks acts between two operations of a call, before each of them in turn: nothing that it
 * has made is removed unless it was told, and a generation that goes is no damage. */
#include "support.h"

#include "generation.h"
#include "stored.h"
#include "stores/wrapper.h"

/* Many stores are opened: none needs threads. */
static const parapet_store_options options = {
    .memory_bytes = 1 << 20, .threads = 1, .io_thread = PARAPET_IO_THREAD_NONE};

#define GROUP "{\"zarr_format\": 3, \"node_type\": \"group\"}"

/* ---- a store in which something happens before one of its operations ---- */

typedef struct meddler {
    pp_wrapper wrapper;
    parapet_store *below; /* the same store without this wrapper */
    void (*act)(parapet_store *below);
    long at, operations; /* -1: never; so far */
} meddler;

static parapet_status meddle_begin(pp_wrapper *wrapper, pp_operation *operation)
{
    meddler *self = (meddler *)wrapper;
    (void)operation;
    if (self->operations++ == self->at)
        self->act(self->below);
    return PARAPET_OK;
}

static parapet_status meddle_end(pp_wrapper *wrapper, const pp_operation *operation, parapet_status status)
{
    (void)wrapper;
    (void)operation;
    return status;
}

static void meddle_free(pp_wrapper *wrapper)
{
    (void)wrapper;
}

static const pp_wrapper_hooks hooks = {
    .name = "meddler", .begin = meddle_begin, .end = meddle_end, .free = meddle_free};

static void meddler_open(meddler *self, parapet_store *below, parapet_store **store)
{
    *self = (meddler){.below = below, .at = -1};
    pp_wrapper_init(&self->wrapper, below->backend, &hooks);
    assert_ok(pp_store_open_over(store, MPI_COMM_NULL, &self->wrapper.store, PARAPET_UPDATE, &options));
}

/* From now on, before that operation. */
static void meddler_start(meddler *self, void (*act)(parapet_store *below), long at)
{
    self->act = act;
    self->operations = 0;
    self->at = at;
}

/* Whether it has acted; it does no more. */
static bool meddler_stop(meddler *self)
{
    bool has_acted = self->operations > self->at;
    self->at = -1;
    return has_acted;
}

/* ---- a removal ---- */

static void create_array(parapet_store *store, const char *path)
{
    int64_t extent[] = {4};
    parapet_array_spec spec = {.type = PARAPET_INT32, .ndim = 1, .shape = extent, .chunks = extent};
    parapet_array *array = NULL;
    assert_ok(parapet_array_create(&array, store, path, &spec));
    assert_ok(parapet_array_close(&array));
}

static void add_group(parapet_store *below)
{
    stored_put_text(below, "g/new/zarr.json", GROUP);
}

static void make_group_of_array(parapet_store *below)
{
    stored_put_text(below, "g/a/zarr.json", GROUP);
}

static void add_directory(parapet_store *below)
{
    stored_put_text(below, "g/new/notes", "");
}

static void begin_copy(parapet_store *below)
{
    stored_put_text(below, "g/new/__parapet/copy/job", "");
    stored_put_text(below, "g/new/c/0", "");
}

static void make_group_of_remains(parapet_store *below)
{
    stored_put_text(below, "g/r/zarr.json", GROUP);
}

static void remove_all(parapet_store *below)
{
    assert_ok(pp_store_remove_prefix(below->backend, "g"));
}

typedef struct meddling {
    const char *name;
    void (*act)(parapet_store *below);
    const char *made; /* what the other job has made; NULL: it has removed everything */
    const char *node; /* that it is of */
} meddling;

static const meddling meddlings[] = {
    {"a group is added", add_group, "g/new/zarr.json", "g/new"},
    {"a directory is added", add_directory, "g/new/notes", "g/new"},
    {"a copy begins", begin_copy, "g/new/c/0", "g/new"},
    {"remains become a group", make_group_of_remains, "g/r/zarr.json", "g/r"},
    {"an array becomes a group", make_group_of_array, "g/a/zarr.json", "g/a"},
    {"everything is removed", remove_all, NULL, "g"},
};

typedef struct told {
    const char *node;
    bool is_gone;
} told;

static int note(void *context, const char *path, const char *kind)
{
    told *about = context;
    (void)kind;
    about->is_gone = about->is_gone || strcmp(path, about->node) == 0;
    return 0;
}

static bool is_refusal(parapet_status status)
{
    return status == PARAPET_ERR_BUSY || status == PARAPET_ERR_STALE || status == PARAPET_ERR_EXISTS ||
           status == PARAPET_ERR_NOT_FOUND || status == PARAPET_ERR_ARGUMENT;
}

/* False: the removal needed fewer operations. */
static bool remove_meddled(const meddling *with, long at, int *refused)
{
    parapet_store *below = NULL, *store = NULL;
    told about = {.node = with->node};
    meddler self;
    parapet_status status;
    bool has_acted;
    stored_open(&below, &options);
    create_array(below, "g/a");
    stored_put_text(below, "g/r/__parapet/tmp/1", "");
    meddler_open(&self, below, &store);
    meddler_start(&self, with->act, at);
    status = parapet_store_remove(store, "g", 1, 0, note, &about);
    has_acted = meddler_stop(&self);
    if (status != PARAPET_OK && !is_refusal(status))
        fail_msg("%s, operation %ld: %s: %s", with->name, at, parapet_status_name(status), parapet_error_message());
    if (with->made != NULL && has_acted && !about.is_gone && !stored_has(below, with->made))
        fail_msg("%s, operation %ld: it is gone, and not told: %s", with->name, at, parapet_error_message());
    if (with->made == NULL)
        assert_false(has_acted && stored_has(below, "g/a/zarr.json"));
    *refused += status != PARAPET_OK;
    assert_ok(parapet_store_close(&store));
    pp_store_free(&self.wrapper.store);
    stored_close(&below);
    return has_acted;
}

static void test_meddled__a_removal_takes_nothing_that_it_has_not_told(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < sizeof meddlings / sizeof meddlings[0]; i++) {
        int refused = 0;
        long at = 0;
        while (remove_meddled(&meddlings[i], at, &refused))
            at++;
        assert_true(at > 20);
        if (refused == 0)
            fail_msg("%s: no removal was refused", meddlings[i].name);
    }
}

/* ---- a restore ---- */

/* As a job does that keeps fewer generations: the record goes first. */
static void drop_newest(parapet_store *below)
{
    assert_ok(pp_store_remove(below->backend, "c/__parapet/commits/00000002"));
    assert_ok(pp_store_remove_prefix(below->backend, "c/g00000002"));
}

/* False: the restore needed fewer operations. */
static bool restore_meddled(long at, int *older)
{
    parapet_store *below = NULL, *store = NULL;
    parapet_restore *restore = NULL;
    parapet_restore_info info;
    parapet_status status;
    meddler self;
    bool has_acted;
    stored_open(&below, &options);
    put_generation(below, 1);
    put_generation(below, 2);
    meddler_open(&self, below, &store);
    meddler_start(&self, drop_newest, at);
    status = parapet_restore_open(&restore, store, "c", 0);
    has_acted = meddler_stop(&self);
    if (status != PARAPET_OK)
        fail_msg("operation %ld: %s: %s", at, parapet_status_name(status), parapet_error_message());
    assert_ok(parapet_restore_get_info(restore, &info));
    assert_int_equal(info.passed_over, 0);
    assert_string_equal(info.problem, "");
    *older += info.generation == 1;
    assert_ok(parapet_restore_close(&restore));
    assert_ok(parapet_store_close(&store));
    pp_store_free(&self.wrapper.store);
    stored_close(&below);
    return has_acted;
}

static void test_meddled__a_generation_that_goes_is_no_damage(void **state)
{
    int older = 0;
    long at = 0;
    (void)state;
    while (restore_meddled(at, &older))
        at++;
    assert_true(at > 5);
    assert_true(older > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meddled__a_removal_takes_nothing_that_it_has_not_told),
        cmocka_unit_test(test_meddled__a_generation_that_goes_is_no_damage),
    };
    return cmocka_run_group_tests_name("checkpoint_meddled", tests, NULL, NULL);
}
