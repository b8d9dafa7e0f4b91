/* kinds.h - one store of every kind, to check what all of them promise: directories on a disk and in memory, with and
 * without direct I/O, the store in memory, a store that can fail over two of these, and one that can be slow. */
#ifndef PARAPET_TESTS_STORE_KINDS_H
#define PARAPET_TESTS_STORE_KINDS_H

#include "scratch.h"
#include "stores/faulty.h"
#include "stores/throttled.h"

typedef struct kind {
    const char *where; /* NULL: no directory, but the store in memory */
    pp_direct_io direct_io;
    bool is_durable;
    bool is_faulty;
    bool is_throttled;
} kind;

static const kind kinds[] = {
    {SCRATCH_HERE, PP_DIRECT_IO_ALWAYS, false, false, false},
    {SCRATCH_HERE, PP_DIRECT_IO_NEVER, false, false, false},
    {SCRATCH_HERE, PP_DIRECT_IO_LARGE, true, false, false},
    {SCRATCH_MEMORY, PP_DIRECT_IO_ALWAYS, true, false, false},
    {SCRATCH_MEMORY, PP_DIRECT_IO_NEVER, true, false, false},
    {SCRATCH_MEMORY, PP_DIRECT_IO_ALWAYS, true, true, false},
    {NULL, PP_DIRECT_IO_LARGE, true, false, false},
    {NULL, PP_DIRECT_IO_LARGE, true, true, false},
    {NULL, PP_DIRECT_IO_LARGE, true, false, true},
};

typedef struct subject {
    const kind *kind;
    scratch made;       /* of a directory */
    pp_store *inner;    /* the store itself */
    pp_store *store;    /* the one to use: itself, or the one around it that can fail or be slow */
    pp_fault_plan plan; /* of that one; nothing fails until a test says so */
} subject;

static inline void subject_open(subject *tested)
{
    pp_posix_options options = {.create = true};
    options.direct_io = tested->kind->direct_io;
    options.not_durable = !tested->kind->is_durable;
    if (tested->kind->where != NULL)
        assert_ok(pp_store_posix_build(&tested->inner, tested->made.root, &options));
    else
        assert_ok(pp_store_memory_build(&tested->inner, "kinds"));
    tested->store = tested->inner;
    if (tested->kind->is_faulty)
        assert_ok(pp_store_faulty_build(&tested->store, tested->inner, &tested->plan));
    if (tested->kind->is_throttled)
        assert_ok(pp_store_throttled_build(&tested->store, tested->inner, &(pp_throttle){.bytes_per_second = 1e12}));
}

static inline void subject_close(subject *tested)
{
    if (tested->store != tested->inner)
        pp_store_free(tested->store);
    pp_store_free(tested->inner);
}

/* What a new process would find. */
static inline void subject_reopen(subject *tested)
{
    subject_close(tested);
    subject_open(tested);
}

/* Runs a check on a fresh store of that kind and looks for what it did not give back. */
static inline void check_kind(const kind *wanted, void (*check)(subject *tested))
{
    subject tested = {.kind = wanted, .plan = {.fail_at = -1}};
    long live = pp_memory_live_count();
    int descriptors = descriptor_count();
    if (wanted->where != NULL)
        tested.made = scratch_make(wanted->where);
    subject_open(&tested);
    check(&tested);
    subject_close(&tested);
    pp_store_memory_drop("kinds");
    if (wanted->where != NULL)
        scratch_remove(&tested.made);
    assert_int_equal(pp_memory_live_count(), live);
    assert_int_equal(descriptor_count(), descriptors);
}

static inline void check_every_kind(void (*check)(subject *tested))
{
    size_t i;
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        check_kind(&kinds[i], check);
}

#endif
