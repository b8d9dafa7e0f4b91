/* What is not resumed: a copy that was begun with other arguments or from another source. The sentence says what
 * differs, nothing is touched, and the right arguments go on with it. */
#include "support.h"

#include <parapet_store.h>

#include "base/bytes.h"
#include "codec/crc32c.h"
#include "copy_bed.h"

enum { ARRAY = 0, PASSES = 2, TREE = 9 /* of copy_subjects */ };

static copy_reference reference;

static void interrupt_at(copy_bed *work, const copy_subject *of, copy_storage storage, long operation)
{
    parapet_copy_result result;
    copy_bed_build(work, of, &reference, storage);
    work->plan = (pp_fault_plan){.fail_at = operation, .fail_forever = true};
    assert_int_equal(copy_bed_run(work, (copy_manner){0}, &result), PARAPET_ERR_IO);
    work->plan = (pp_fault_plan){.fail_at = -1};
}

/* An interrupted copy: about two thirds of its operations were done. */
static void interrupt(copy_bed *work, const copy_subject *of)
{
    copy_reference_build(&reference, of);
    interrupt_at(work, of, COPY_IN_DIRECTORY, reference.operations * 2 / 3);
}

static void end(copy_bed *work)
{
    copy_bed_free(work);
    copy_reference_free(&reference);
}

static void expect_refusal(copy_bed *work, copy_manner manner, parapet_status expected, const char *word)
{
    parapet_copy_result result;
    image before, after;
    parapet_status status;
    image_take(&before, work->inner[COPY_TARGET]);
    status = copy_bed_run(work, manner, &result);
    if (status != expected || strstr(parapet_error_message(), word) == NULL)
        fail_msg("%s (%s) instead of %s with \"%s\"", parapet_status_name(status), parapet_error_message(),
                 parapet_status_name(expected), word);
    printf("refused: %s\n", parapet_error_message());
    image_take(&after, work->inner[COPY_TARGET]);
    assert_true(image_equals(&before, &after));
    image_free(&before);
    image_free(&after);
}

static void expect_copy(copy_bed *work, copy_manner manner, bool resumes)
{
    parapet_copy_result result;
    char problem[256];
    assert_ok(copy_bed_run(work, manner, &result));
    assert_int_equal(result.templates_resumed > 0, resumes);
    if (!copy_bed_is_complete(work, &reference, problem))
        fail_msg("%s", problem);
}

static const struct {
    const char *word;
    copy_subject asked; /* what differs */
    parapet_status status;
} others[] = {
    {"chunks", {.changes.chunks = "4,4"}, PARAPET_ERR_ARGUMENT},
    {"shards", {.changes.shards = "24,24"}, PARAPET_ERR_ARGUMENT},
    {"order", {.changes.order = "1,0"}, PARAPET_ERR_ARGUMENT},
    {"region", {.changes.region = "0:12,:"}, PARAPET_ERR_ARGUMENT},
    {"codec", {.changes.codec = "gzip:3"}, PARAPET_ERR_ARGUMENT},
    {"no_checksum", {.changes.no_checksum = 1}, PARAPET_ERR_ARGUMENT},
    {"unit", {.unit_bytes = 4000}, PARAPET_ERR_ARGUMENT},
    {"intermediate store", {.has_temporary = true}, PARAPET_ERR_ARGUMENT},
};

/* The subject with what differs. */
static copy_subject change(const copy_subject *of, const copy_subject *asked)
{
    copy_subject other = *of;
    other.changes.chunks = asked->changes.chunks != NULL ? asked->changes.chunks : of->changes.chunks;
    other.changes.shards = asked->changes.shards != NULL ? asked->changes.shards : of->changes.shards;
    other.changes.order = asked->changes.order;
    other.changes.region = asked->changes.region;
    other.changes.codec = asked->changes.codec;
    other.changes.no_checksum = asked->changes.no_checksum;
    other.unit_bytes = asked->unit_bytes > 0 ? asked->unit_bytes : of->unit_bytes;
    other.has_temporary = asked->has_temporary;
    return other;
}

static void refuse_other_arguments(const copy_subject *of)
{
    copy_bed work;
    size_t i;
    interrupt(&work, of);
    for (i = 0; i < sizeof others / sizeof others[0]; i++) {
        copy_subject other = change(of, &others[i].asked);
        work.of = &other;
        expect_refusal(&work, (copy_manner){.resumes = true}, others[i].status, others[i].word);
    }
    work.of = of;
    expect_copy(&work, (copy_manner){.resumes = true}, true);
    end(&work);
}

static void test_resume__with_other_arguments_is_refused(void **context)
{
    (void)context;
    refuse_other_arguments(&copy_subjects[ARRAY]);
}

static void test_resume__of_a_group_with_other_arguments_is_refused(void **context)
{
    (void)context;
    refuse_other_arguments(&copy_subjects[TREE]);
}

static void test_resume__with_less_memory_than_planned_is_refused(void **context)
{
    copy_subject small = copy_subjects[ARRAY];
    parapet_copy_result result;
    copy_bed work;
    (void)context;
    copy_reference_build(&reference, &copy_subjects[ARRAY]);
    assert_true(reference.result.memory_planned_bytes > 0);
    end(&(copy_bed){0});
    interrupt(&work, &copy_subjects[ARRAY]);
    small.memory_bytes = reference.result.memory_planned_bytes - 1;
    work.of = &small;
    expect_refusal(&work, (copy_manner){.resumes = true}, PARAPET_ERR_MEMORY, "memory");
    work.of = &copy_subjects[ARRAY];
    assert_ok(copy_bed_run(&work, (copy_manner){.resumes = true}, &result));
    end(&work);
}

/* ---- The source ---- */

typedef void (*source_change)(parapet_array *array);

static void rewrite_chunk(parapet_array *array)
{
    int32_t values[24] = {0};
    int64_t start[2] = {20, 18}, count[2] = {4, 6};
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = values};
    assert_ok(parapet_array_write(array, &part, 1));
}

static void set_attribute(parapet_array *array)
{
    assert_ok(parapet_array_attribute_set(array, "units", "\"m\""));
}

static void change_source(copy_bed *work, source_change change_it, const char *path)
{
    parapet_store_options options = {.io_thread = PARAPET_IO_THREAD_NONE};
    parapet_store *store;
    parapet_array *array;
    assert_ok(pp_store_open_over(&store, MPI_COMM_NULL, work->faulty[COPY_SOURCE], PARAPET_UPDATE, &options));
    assert_ok(parapet_array_open(&array, store, path));
    change_it(array);
    assert_ok(parapet_array_close(&array));
    assert_ok(parapet_store_close(&store));
}

static void refuse_changed_source(const copy_subject *of, source_change change_it, const char *path, const char *word)
{
    copy_bed work;
    interrupt(&work, of);
    change_source(&work, change_it, path);
    expect_refusal(&work, (copy_manner){.resumes = true}, PARAPET_ERR_ARGUMENT, word);
    end(&work);
}

static void test_resume__from_a_source_whose_chunks_changed_is_refused(void **context)
{
    (void)context;
    refuse_changed_source(&copy_subjects[ARRAY], rewrite_chunk, "s", "stored objects of the source");
}

static void test_resume__from_a_source_whose_attributes_changed_is_refused(void **context)
{
    (void)context;
    refuse_changed_source(&copy_subjects[ARRAY], set_attribute, "s", "document of the source");
}

static void test_resume__of_a_group_after_a_copied_array_changed_is_refused(void **context)
{
    (void)context;
    refuse_changed_source(&copy_subjects[TREE], rewrite_chunk, "below/third", "source of \"copies/below/third\"");
}

static void test_resume__of_a_group_after_attributes_of_a_copied_array_changed_is_refused(void **context)
{
    (void)context;
    refuse_changed_source(&copy_subjects[TREE], set_attribute, "below/third", "source of \"copies/below/third\"");
}

/* ---- What the interrupted copy wrote down ---- */

/* The first object whose key has that, and which is not short; NULL: there is none. */
static const image_object *find_state(const image *seen, const char *part)
{
    size_t i;
    for (i = 0; i < seen->count; i++)
        if (strstr(seen->objects[i].key, part) != NULL && seen->objects[i].bytes > 72)
            return &seen->objects[i];
    return NULL;
}

/* A copy that was interrupted within its first work unit, as soon as there is a journal. */
static const image_object *interrupt_work_unit(copy_bed *work, image *seen)
{
    long operation;
    copy_reference_build(&reference, &copy_subjects[ARRAY]);
    for (operation = 0; operation < reference.operations; operation++) {
        const image_object *journal;
        interrupt_at(work, &copy_subjects[ARRAY], COPY_IN_MEMORY, operation);
        image_take(seen, work->inner[COPY_TARGET]);
        if ((journal = find_state(seen, "/lot-")) != NULL)
            return journal;
        image_free(seen);
        copy_bed_free(work);
    }
    fail_msg("no journal is ever there");
    return NULL;
}

/* One number in the first record of a journal, at these bytes, and what it becomes. */
static const struct {
    const char *name;
    size_t at;
    uint64_t value;
} journal_changes[] = {
    {"a shard below all", 24, UINT64_MAX},
    {"a shard beyond all", 24, 1000},
    {"a shard of another work unit", 24, 3},
    {"a chunk below all", 48, UINT64_MAX},
    {"a chunk beyond all", 48, 1000},
    {"a chunk that begins behind its shard", 56, UINT64_MAX / 2},
    {"a chunk that is longer than its shard", 64, UINT64_MAX / 2},
};

/* The checksum of the record, which its length tells, is right again. */
static void put_journal(copy_bed *work, const image_object *journal, size_t at, uint64_t value)
{
    unsigned char *data = malloc(journal->bytes);
    size_t bytes = 8 + (size_t)pp_load_u64le(journal->data);
    assert_true(bytes + 4 <= journal->bytes && at + 8 <= bytes);
    memcpy(data, journal->data, journal->bytes);
    pp_store_u64le(data + at, value);
    pp_store_u32le(data + bytes, pp_crc32c(0, data, bytes));
    image_put_object(work->inner[COPY_TARGET], journal->key, data, journal->bytes);
    free(data);
}

static void test_resume__with_a_journal_that_lists_what_cannot_be_is_refused(void **context)
{
    const image_object *journal;
    parapet_copy_result result;
    copy_bed work;
    image seen;
    size_t i;
    (void)context;
    journal = interrupt_work_unit(&work, &seen);
    for (i = 0; i < sizeof journal_changes / sizeof journal_changes[0]; i++) {
        parapet_status status;
        put_journal(&work, journal, journal_changes[i].at, journal_changes[i].value);
        status = copy_bed_run(&work, (copy_manner){.resumes = true}, &result);
        if (status != PARAPET_ERR_CORRUPT || strstr(parapet_error_message(), "journal") == NULL)
            fail_msg("%s: %s: %s", journal_changes[i].name, parapet_status_name(status), parapet_error_message());
        image_put(&seen, work.inner[COPY_TARGET]);
    }
    image_free(&seen);
    expect_copy(&work, (copy_manner){.overwrites = true}, false);
    end(&work);
}

/* Another text with the right sum at the end; from on is left out, or replaced. */
static void put_job(copy_bed *work, const image_object *job, const char *from, const char *instead)
{
    const size_t sum_bytes = sizeof "crc32c: 00000000\n" - 1;
    char text[8192];
    const char *begin = memmem(job->data, job->bytes - sum_bytes, from, strlen(from));
    size_t before, behind, bytes;
    assert_non_null(begin);
    before = (size_t)(begin - (const char *)job->data);
    behind = instead[0] == '\0' ? 0 : job->bytes - sum_bytes - before - strlen(from);
    bytes = before + strlen(instead) + behind;
    assert_true(bytes + sum_bytes < sizeof text);
    memcpy(text, job->data, before);
    memcpy(text + before, instead, strlen(instead));
    memcpy(text + before + strlen(instead), begin + strlen(from), behind);
    (void)snprintf(text + bytes, sizeof text - bytes, "crc32c: %08x\n", (unsigned)pp_crc32c(0, text, bytes));
    image_put_object(work->inner[COPY_TARGET], job->key, text, bytes + sum_bytes);
}

static const struct {
    const char *from, *instead; /* "": and all behind it */
    parapet_status status;
} job_changes[] = {
    {"\n\n", "", PARAPET_ERR_CORRUPT},
    {"\n\n", "\nx\n", PARAPET_ERR_CORRUPT},
    {"memory_bytes: ", "memory_bytes: -", PARAPET_ERR_CORRUPT},
    {"memory_bytes: ", "memory_bytes: 0", PARAPET_ERR_CORRUPT},
    {"memory_bytes: ", "memory_bytes: 99999999999999999999", PARAPET_ERR_CORRUPT},
    {"memory_bytes: ", "memory_bytes: 9223372036854775808\n", PARAPET_ERR_CORRUPT},
    {"memory_bytes: ", "memory_bytes: 0a", PARAPET_ERR_CORRUPT},
    {"memory_bytes: ", "memory_bytes: 0\n", PARAPET_ERR_CORRUPT},
    {"memory_bytes: ", "memory_byte: ", PARAPET_ERR_CORRUPT},
    {"memory_bytes: ", "memory_bytes; ", PARAPET_ERR_CORRUPT},
    {"\nplan", "\nplans", PARAPET_ERR_CORRUPT},
    {"\nplan: ", "\nplan: x", PARAPET_ERR_CORRUPT},
    {"\nplan: ", "\nplan: 0", PARAPET_ERR_CORRUPT},
    {"\nplan: ", "\nplan: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef ", PARAPET_ERR_CORRUPT},
    {"\nranks: 1\n", "\nranks: 0\n", PARAPET_ERR_CORRUPT},
    {"\nranks: ", "\nranks: 1", PARAPET_ERR_CORRUPT},                             /* another plan */
    {"\nmemory_bytes: ", "\nmemory_bytes: 1\nunit_bytes: ", PARAPET_ERR_CORRUPT}, /* a line too many */
    {"\npasses: 0", "\npasses: 8", PARAPET_ERR_CORRUPT},                          /* no plan */
    {"\n", "", PARAPET_ERR_CORRUPT},
};

static void test_resume__of_a_job_that_cannot_be_is_refused(void **context)
{
    parapet_copy_result result;
    copy_bed work;
    image seen;
    size_t i;
    (void)context;
    interrupt(&work, &copy_subjects[ARRAY]);
    image_take(&seen, work.inner[COPY_TARGET]);
    for (i = 0; i < sizeof job_changes / sizeof job_changes[0]; i++) {
        parapet_status status;
        put_job(&work, find_state(&seen, "copy/job"), job_changes[i].from, job_changes[i].instead);
        status = copy_bed_run(&work, (copy_manner){.resumes = true}, &result);
        if (status != job_changes[i].status || strstr(parapet_error_message(), "nothing was removed") == NULL)
            fail_msg("\"%s\": %s: %s", job_changes[i].instead, parapet_status_name(status), parapet_error_message());
    }
    image_put(&seen, work.inner[COPY_TARGET]);
    image_free(&seen);
    expect_copy(&work, (copy_manner){.resumes = true}, true);
    end(&work);
}

static void expect_job_refused(copy_bed *work, const char *key, const char *text, size_t bytes)
{
    parapet_copy_result result;
    image_put_object(work->inner[COPY_TARGET], key, text, bytes);
    assert_fails(copy_bed_run(work, (copy_manner){.resumes = true}, &result), PARAPET_ERR_CORRUPT,
                 "nothing was removed");
}

static void test_resume__of_a_job_that_is_no_text_is_refused(void **context)
{
    const image_object *job;
    char text[8192];
    copy_bed work;
    image seen;
    (void)context;
    interrupt(&work, &copy_subjects[ARRAY]);
    image_take(&seen, work.inner[COPY_TARGET]);
    job = find_state(&seen, "copy/job");
    assert_true(job->bytes < sizeof text);
    memcpy(text, job->data, job->bytes);
    expect_job_refused(&work, job->key, text, 5);
    text[9] = '\0';
    expect_job_refused(&work, job->key, text, job->bytes);
    image_free(&seen);
    end(&work);
}

/* The store between passes has the same job, or it is another one. */
static void test_resume__with_another_store_between_passes_is_refused(void **context)
{
    copy_subject of = copy_subjects[PASSES];
    const image_object *job;
    parapet_copy_result result;
    char text[8192], longer[200000] = {0};
    copy_bed work;
    image seen;
    size_t i;
    (void)context;
    of.has_temporary = true;
    interrupt(&work, &of);
    image_take(&seen, work.inner[COPY_TEMPORARY]);
    job = find_state(&seen, "copy/job");
    assert_true(job->bytes < sizeof text);
    memcpy(text, job->data, job->bytes);
    text[0] ^= 1;
    for (i = 0; i < 4; i++) {
        const size_t bytes[] = {job->bytes, job->bytes - 1, sizeof longer};
        if (i < 3)
            image_put_object(work.inner[COPY_TEMPORARY], job->key, i == 2 ? longer : text, bytes[i]);
        else
            assert_ok(pp_store_remove(work.inner[COPY_TEMPORARY], job->key));
        assert_fails(copy_bed_run(&work, (copy_manner){.resumes = true}, &result), PARAPET_ERR_ARGUMENT,
                     "not in this intermediate store");
    }
    image_put_object(work.inner[COPY_TEMPORARY], job->key, job->data, job->bytes);
    image_free(&seen);
    expect_copy(&work, (copy_manner){.resumes = true}, true);
    end(&work);
}

/* Planned for several threads, which take more memory than the one that is left. */
static void test_resume__with_less_memory_than_several_threads_take_is_refused(void **context)
{
    copy_subject small = copy_subjects[ARRAY];
    parapet_copy_result result;
    copy_bed work;
    (void)context;
    copy_reference_build(&reference, &copy_subjects[ARRAY]);
    copy_bed_build(&work, &copy_subjects[ARRAY], &reference, COPY_IN_DIRECTORY);
    work.threads = 16;
    assert_ok(copy_bed_run(&work, (copy_manner){0}, &result));
    small.memory_bytes = result.memory_planned_bytes - 1;
    copy_bed_free(&work);
    copy_bed_build(&work, &copy_subjects[ARRAY], &reference, COPY_IN_DIRECTORY);
    work.threads = 16;
    work.plan = (pp_fault_plan){.fail_at = reference.operations * 2 / 3, .fail_forever = true};
    assert_int_equal(copy_bed_run(&work, (copy_manner){0}, &result), PARAPET_ERR_IO);
    work.plan = (pp_fault_plan){.fail_at = -1};
    work.threads = 1;
    work.of = &small;
    expect_refusal(&work, (copy_manner){.resumes = true}, PARAPET_ERR_MEMORY, "it was planned with");
    end(&work);
}

/* Words that say how far a copy is, each in an object of its own: what is none of them is refused, at every point
 * where such an object is there. */
static void refuse_words(const copy_subject *of, const char *part, copy_manner first, copy_manner again)
{
    parapet_copy_result result;
    long operation, refused = 0;
    copy_reference_build(&reference, of);
    for (operation = 0; operation < 2 * reference.operations && refused < 3; operation += 7) {
        const image_object *word = NULL;
        parapet_status status;
        copy_bed work;
        image seen;
        size_t i;
        copy_bed_build(&work, of, &reference, COPY_IN_MEMORY);
        if (first.overwrites)
            assert_ok(copy_bed_run(&work, (copy_manner){0}, &result));
        work.plan = (pp_fault_plan){.fail_at = operation, .fail_forever = true};
        (void)copy_bed_run(&work, first, &result);
        work.plan = (pp_fault_plan){.fail_at = -1};
        image_take(&seen, work.inner[COPY_TARGET]);
        for (i = 0; i < seen.count && word == NULL; i++)
            if (strstr(seen.objects[i].key, part) != NULL)
                word = &seen.objects[i];
        if (word != NULL) {
            image_put_object(work.inner[COPY_TARGET], word->key, "gone\n", 5);
            status = copy_bed_run(&work, again, &result);
            if (status != PARAPET_ERR_CORRUPT || strstr(parapet_error_message(), "nothing was removed") == NULL)
                fail_msg("%s: %s: %s", word->key, parapet_status_name(status), parapet_error_message());
            refused++;
        }
        image_free(&seen);
        copy_bed_free(&work);
    }
    assert_true(refused > 0);
    copy_reference_free(&reference);
}

static void test_resume__with_words_that_nobody_has_written_is_refused(void **context)
{
    (void)context;
    refuse_words(&copy_subjects[PASSES], "__parapet/copy/finished", (copy_manner){0}, (copy_manner){.resumes = true});
}

/* ---- Beginning ---- */

static void begin_in_every_way(const copy_subject *of)
{
    copy_bed work;
    interrupt(&work, of);
    expect_refusal(&work, (copy_manner){0}, PARAPET_ERR_EXISTS, "unfinished");
    expect_copy(&work, (copy_manner){.overwrites = true}, false);
    expect_refusal(&work, (copy_manner){0}, PARAPET_ERR_EXISTS, "set overwrite");
    expect_refusal(&work, (copy_manner){.resumes = true}, PARAPET_ERR_EXISTS, "set overwrite");
    expect_copy(&work, (copy_manner){.overwrites = true}, false);
    end(&work);
    copy_reference_build(&reference, of);
    copy_bed_build(&work, of, &reference, COPY_IN_DIRECTORY);
    expect_copy(&work, (copy_manner){.resumes = true}, false);
    end(&work);
}

static void test_begin__an_unfinished_copy_is_only_overwritten_when_told_so(void **context)
{
    (void)context;
    begin_in_every_way(&copy_subjects[ARRAY]);
}

static void test_begin__an_unfinished_copy_of_a_group_is_only_overwritten_when_told_so(void **context)
{
    (void)context;
    begin_in_every_way(&copy_subjects[TREE]);
}

/* What a thread that writes behind the others is told by storage reaches the caller. */
static void test_begin__storage_that_fails_behind_several_threads_fails_the_copy(void **context)
{
    parapet_copy_result result;
    long operation, failed = 0;
    (void)context;
    copy_reference_build(&reference, &copy_subjects[ARRAY]);
    for (operation = reference.operations / 4; operation < reference.operations * 3 / 4; operation += 3) {
        copy_bed work;
        parapet_status status;
        copy_bed_build(&work, &copy_subjects[ARRAY], &reference, COPY_IN_MEMORY);
        work.threads = 3;
        work.plan = (pp_fault_plan){.fail_at = operation, .status = PARAPET_ERR_NO_SPACE};
        status = copy_bed_run(&work, (copy_manner){0}, &result);
        assert_true(status == PARAPET_OK || status == PARAPET_ERR_NO_SPACE);
        failed += status != PARAPET_OK;
        work.plan = (pp_fault_plan){.fail_at = -1};
        expect_copy(&work, (copy_manner){.overwrites = true}, false);
        copy_bed_free(&work);
    }
    assert_true(failed > 0);
    copy_reference_free(&reference);
}

/* A failure removes what was begun, and nothing that others have put below the same path. */
static void test_begin__a_failure_leaves_a_node_below_the_path(void **context)
{
    static const char document[] = "{\"zarr_format\": 3, \"node_type\": \"group\"}";
    const copy_subject *of = &copy_subjects[ARRAY];
    parapet_copy_result result;
    copy_bed work;
    (void)context;
    copy_reference_build(&reference, of);
    copy_bed_build(&work, of, &reference, COPY_IN_DIRECTORY);
    image_put_object(work.inner[COPY_TARGET], "g/t/below/zarr.json", document, strlen(document));
    work.plan = (pp_fault_plan){.fail_at = reference.operations * 2 / 3};
    assert_int_equal(copy_bed_run(&work, (copy_manner){0}, &result), PARAPET_ERR_IO);
    work.plan = (pp_fault_plan){.fail_at = -1};
    assert_true(copy_bed_has(&work, "g/t/below/zarr.json"));
    assert_false(copy_bed_has(&work, "g/t/__parapet/copy/job"));
    end(&work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resume__with_other_arguments_is_refused),
        cmocka_unit_test(test_resume__of_a_group_with_other_arguments_is_refused),
        cmocka_unit_test(test_resume__with_less_memory_than_planned_is_refused),
        cmocka_unit_test(test_resume__from_a_source_whose_chunks_changed_is_refused),
        cmocka_unit_test(test_resume__from_a_source_whose_attributes_changed_is_refused),
        cmocka_unit_test(test_resume__of_a_group_after_a_copied_array_changed_is_refused),
        cmocka_unit_test(test_resume__of_a_group_after_attributes_of_a_copied_array_changed_is_refused),
        cmocka_unit_test(test_resume__with_a_journal_that_lists_what_cannot_be_is_refused),
        cmocka_unit_test(test_resume__of_a_job_that_cannot_be_is_refused),
        cmocka_unit_test(test_resume__of_a_job_that_is_no_text_is_refused),
        cmocka_unit_test(test_resume__with_another_store_between_passes_is_refused),
        cmocka_unit_test(test_resume__with_less_memory_than_several_threads_take_is_refused),
        cmocka_unit_test(test_resume__with_words_that_nobody_has_written_is_refused),
        cmocka_unit_test(test_begin__an_unfinished_copy_is_only_overwritten_when_told_so),
        cmocka_unit_test(test_begin__an_unfinished_copy_of_a_group_is_only_overwritten_when_told_so),
        cmocka_unit_test(test_begin__storage_that_fails_behind_several_threads_fails_the_copy),
        cmocka_unit_test(test_begin__a_failure_leaves_a_node_below_the_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
