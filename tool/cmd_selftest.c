#include "document.h"
#include "memory.h"
#include "ranks.h"
#include "scratch.h"
#include "verbs.h"

#include <inttypes.h>
#include <parapet_arrays.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tool_flag flags[] = {{0, 0, NULL, NULL}};

/* One store under test, and what went wrong in the check that is running. */
typedef struct tool_trial {
    const char *place; /* "memory" or "directory" */
    const char *url;
    parapet_store *store;
    char *problem;
} tool_trial;

typedef struct tool_check {
    const char *name;
    bool (*run)(tool_trial *trial, const char *argument);
    const char *argument;
    bool needs_files; /* damages what is stored, which only works on files */
} tool_check;

enum { ROWS = 37, COLUMNS = 53, CHUNK = 10, SHARD = 20 };

static bool fail(tool_trial *trial, const char *what)
{
    free(trial->problem);
    trial->problem = text_format("%s", what);
    return false;
}

/* True if the call returned what it had to. */
static bool expect(tool_trial *trial, const char *call, parapet_status status, parapet_status expected)
{
    if (status == expected)
        return true;
    free(trial->problem);
    trial->problem = text_format("%s returned %s, not %s: %s", call, parapet_status_name(status),
                                 parapet_status_name(expected), status == PARAPET_OK ? "" : parapet_error_message());
    return false;
}

/* An array of two dimensions that no chunk divides, and its values in memory. */
typedef struct tool_sample {
    parapet_array *array;
    int64_t shape[2];
    size_t element_bytes;
    unsigned char *values;
    unsigned char *read;
} tool_sample;

static size_t sample_bytes(const tool_sample *sample)
{
    return (size_t)(sample->shape[0] * sample->shape[1]) * sample->element_bytes;
}

/* Numbers that look random but are the same in every run; only 0 and 1 are truth values. */
static void fill_values(tool_sample *sample, parapet_type type)
{
    uint32_t state = 12345;
    for (size_t i = 0; i < sample_bytes(sample); i++) {
        state = state * 1664525 + 1013904223;
        sample->values[i] = (unsigned char)(type == PARAPET_BOOL ? state >> 31 : state >> 24 & 0x3f);
    }
}

typedef struct tool_sample_spec {
    const char *path;
    parapet_type type;
    const char *codec;
} tool_sample_spec;

static bool sample_create(tool_sample *sample, tool_trial *trial, const tool_sample_spec *spec)
{
    static const int64_t chunks[2] = {CHUNK, CHUNK};
    static const int64_t shards[2] = {SHARD, SHARD};
    parapet_array_spec array_spec = {
        .type = spec->type, .ndim = 2, .chunks = chunks, .shards = shards, .codec = spec->codec};
    *sample = (tool_sample){.shape = {ROWS, COLUMNS}, .element_bytes = parapet_type_bytes(spec->type)};
    array_spec.shape = sample->shape;
    if (spec->type == PARAPET_RAW)
        array_spec.element_bytes = sample->element_bytes = 12;
    sample->values = memory_get(sample_bytes(sample));
    sample->read = memory_get(sample_bytes(sample));
    fill_values(sample, spec->type);
    return expect(trial, "parapet_array_create",
                  parapet_array_create(&sample->array, trial->store, spec->path, &array_spec), PARAPET_OK);
}

static bool sample_close(tool_sample *sample, tool_trial *trial, bool has_passed)
{
    parapet_status status = parapet_array_close(&sample->array);
    free(sample->values);
    free(sample->read);
    return has_passed && expect(trial, "parapet_array_close", status, PARAPET_OK);
}

static bool sample_reopen(tool_sample *sample, tool_trial *trial, const char *path)
{
    return expect(trial, "parapet_array_close", parapet_array_close(&sample->array), PARAPET_OK) &&
           expect(trial, "parapet_array_open", parapet_array_open(&sample->array, trial->store, path), PARAPET_OK);
}

static parapet_status sample_transfer(tool_sample *sample, bool is_write)
{
    static const int64_t start[2] = {0, 0};
    parapet_part part = {.ndim = 2, .start = start, .count = sample->shape};
    part.data = is_write ? sample->values : sample->read;
    return is_write ? parapet_array_write(sample->array, &part, 1) : parapet_array_read(sample->array, &part, 1);
}

static bool sample_write(tool_sample *sample, tool_trial *trial)
{
    return expect(trial, "parapet_array_write", sample_transfer(sample, true), PARAPET_OK);
}

static bool sample_verify(tool_sample *sample, tool_trial *trial)
{
    memset(sample->read, 0xa5, sample_bytes(sample));
    if (!expect(trial, "parapet_array_read", sample_transfer(sample, false), PARAPET_OK))
        return false;
    if (memcmp(sample->read, sample->values, sample_bytes(sample)) != 0)
        return fail(trial, "what was read is not what was written");
    return true;
}

static bool round_trip(tool_trial *trial, const tool_sample_spec *spec)
{
    tool_sample sample;
    bool has_passed = sample_create(&sample, trial, spec) && sample_write(&sample, trial) &&
                      sample_reopen(&sample, trial, spec->path) && sample_verify(&sample, trial);
    return sample_close(&sample, trial, has_passed);
}

static bool check_codec(tool_trial *trial, const char *codec)
{
    char *path = text_format("codec/%.4s", codec);
    tool_sample_spec spec = {.path = path, .type = PARAPET_FLOAT32, .codec = codec};
    bool has_passed = round_trip(trial, &spec);
    free(path);
    return has_passed;
}

static bool check_types(tool_trial *trial, const char *unused)
{
    bool has_passed = true;
    (void)unused;
    for (int type = PARAPET_BOOL; type <= PARAPET_RAW && has_passed; type++) {
        char *path = text_format("type/%d", type);
        tool_sample_spec spec = {.path = path, .type = (parapet_type)type};
        has_passed = round_trip(trial, &spec);
        if (!has_passed) {
            char *problem = text_format("type %d: %s", type, trial->problem);
            (void)fail(trial, problem);
            free(problem);
        }
        free(path);
    }
    return has_passed;
}

/* A box that cuts chunks, handed over from the middle of the caller's memory. */
static bool write_inner_box(tool_trial *trial, tool_sample *sample)
{
    int64_t start[2] = {5, 7};
    int64_t count[2] = {23, 31};
    int64_t strides[2] = {COLUMNS * (int64_t)sample->element_bytes, (int64_t)sample->element_bytes};
    unsigned char *corner = sample->values + start[0] * strides[0] + start[1] * strides[1];
    parapet_part part = {.ndim = 2, .start = start, .count = count, .data = corner, .strides_bytes = strides};
    for (int64_t i = 0; i < count[0]; i++)
        for (int64_t j = 0; j < count[1] * strides[1]; j++)
            corner[i * strides[0] + j] ^= 0x11;
    return expect(trial, "parapet_array_write", parapet_array_write(sample->array, &part, 1), PARAPET_OK);
}

static bool check_partial_update(tool_trial *trial, const char *unused)
{
    tool_sample_spec spec = {.path = "update", .type = PARAPET_FLOAT64};
    tool_sample sample;
    bool has_passed;
    (void)unused;
    has_passed = sample_create(&sample, trial, &spec) && sample_write(&sample, trial) &&
                 write_inner_box(trial, &sample) && sample_reopen(&sample, trial, spec.path) &&
                 sample_verify(&sample, trial);
    return sample_close(&sample, trial, has_passed);
}

/* What was cut off must read as the fill value, zero, after growing again. */
static void clear_outside(tool_sample *sample, const int64_t *kept)
{
    for (int64_t i = 0; i < sample->shape[0]; i++)
        for (int64_t j = 0; j < sample->shape[1]; j++)
            if (i >= kept[0] || j >= kept[1])
                memset(sample->values + (size_t)(i * sample->shape[1] + j) * sample->element_bytes, 0,
                       sample->element_bytes);
}

static bool check_resize(tool_trial *trial, const char *unused)
{
    static const int64_t small[2] = {13, 29};
    tool_sample_spec spec = {.path = "resize", .type = PARAPET_INT16};
    tool_sample sample;
    bool has_passed;
    (void)unused;
    has_passed = sample_create(&sample, trial, &spec) && sample_write(&sample, trial) &&
                 expect(trial, "parapet_array_resize", parapet_array_resize(sample.array, small), PARAPET_OK) &&
                 expect(trial, "parapet_array_resize", parapet_array_resize(sample.array, sample.shape), PARAPET_OK);
    clear_outside(&sample, small);
    has_passed = has_passed && sample_reopen(&sample, trial, spec.path) && sample_verify(&sample, trial);
    return sample_close(&sample, trial, has_passed);
}

static bool check_attributes(tool_trial *trial, const char *unused)
{
    parapet_group *group = NULL;
    char *json = NULL;
    bool has_passed;
    (void)unused;
    has_passed =
        expect(trial, "parapet_group_create",
               parapet_group_create(&group, trial->store, "attributes/below", "{\"a\": 1}"), PARAPET_OK) &&
        expect(trial, "parapet_group_attribute_set", parapet_group_attribute_set(group, "units", "\"m/s\""),
               PARAPET_OK) &&
        expect(trial, "parapet_group_attribute_get", parapet_group_attribute_get(group, "units", &json), PARAPET_OK);
    if (has_passed && strcmp(json, "\"m/s\"") != 0)
        has_passed = fail(trial, "an attribute did not come back as it was set");
    parapet_free(json);
    return expect(trial, "parapet_group_close", parapet_group_close(&group), PARAPET_OK) && has_passed;
}

static bool is_sealed(tool_trial *trial, tool_sample *sample)
{
    parapet_array_info info = {0};
    if (!expect(trial, "parapet_array_get_info", parapet_array_get_info(sample->array, &info), PARAPET_OK))
        return false;
    return info.is_sealed ? true : fail(trial, "the array is not sealed after parapet_array_seal");
}

static bool expect_findings(tool_trial *trial, tool_sample *sample, int64_t torn, int64_t missing)
{
    parapet_check_summary summary = {0};
    parapet_status status = parapet_array_check(sample->array, PARAPET_CHECK_DATA, NULL, NULL, &summary);
    if (!expect(trial, "parapet_array_check", status, PARAPET_OK))
        return false;
    if (summary.torn == torn && summary.missing == missing && summary.stray == 0)
        return true;
    free(trial->problem);
    trial->problem = text_format("the check found %" PRId64 " torn, %" PRId64 " missing, %" PRId64
                                 " stray objects, not %" PRId64 ", %" PRId64 ", 0",
                                 summary.torn, summary.missing, summary.stray, torn, missing);
    return false;
}

static bool create_sealed(tool_trial *trial, tool_sample *sample, const char *path)
{
    tool_sample_spec spec = {.path = path, .type = PARAPET_FLOAT64};
    return sample_create(sample, trial, &spec) && sample_write(sample, trial) &&
           expect(trial, "parapet_array_seal", parapet_array_seal(sample->array), PARAPET_OK) &&
           sample_reopen(sample, trial, path) && is_sealed(trial, sample);
}

static bool check_seal(tool_trial *trial, const char *unused)
{
    tool_sample sample;
    bool has_passed;
    (void)unused;
    has_passed = create_sealed(trial, &sample, "seal") && sample_verify(&sample, trial) &&
                 expect_findings(trial, &sample, 0, 0);
    return sample_close(&sample, trial, has_passed);
}

/* Changes one bit of the stored object, as a failing disk would. */
static bool flip_bit(tool_trial *trial, const char *path)
{
    char *name = text_format("%s/%s/c/0/0", trial->url, path);
    FILE *file = fopen(name, "r+b");
    int byte = file == NULL ? EOF : fgetc(file);
    bool is_done = byte != EOF && fseek(file, 0, SEEK_SET) == 0 && fputc(byte ^ 1, file) != EOF;
    if (file != NULL && fclose(file) != 0)
        is_done = false;
    free(name);
    return is_done ? true : fail(trial, "could not change a byte of the stored shard");
}

static bool check_damage(tool_trial *trial, const char *unused)
{
    tool_sample_spec spec = {.path = "damage", .type = PARAPET_FLOAT64};
    tool_sample sample;
    bool has_passed;
    (void)unused;
    has_passed = sample_create(&sample, trial, &spec) && sample_write(&sample, trial) &&
                 expect(trial, "parapet_array_close", parapet_array_close(&sample.array), PARAPET_OK) &&
                 flip_bit(trial, spec.path) && sample_reopen(&sample, trial, spec.path) &&
                 expect(trial, "parapet_array_read", sample_transfer(&sample, false), PARAPET_ERR_CORRUPT) &&
                 expect_findings(trial, &sample, 1, 0);
    return sample_close(&sample, trial, has_passed);
}

static bool remove_shard(tool_trial *trial, const char *path)
{
    char *name = text_format("%s/%s/c/1/1", trial->url, path);
    bool is_done = unlink(name) == 0;
    free(name);
    return is_done ? true : fail(trial, "could not remove a stored shard");
}

static bool check_missing_shard(tool_trial *trial, const char *unused)
{
    const char *path = "missing";
    tool_sample sample;
    bool has_passed;
    (void)unused;
    has_passed = create_sealed(trial, &sample, path) && remove_shard(trial, path) &&
                 sample_reopen(&sample, trial, path) &&
                 expect(trial, "parapet_array_read", sample_transfer(&sample, false), PARAPET_ERR_MISSING) &&
                 expect_findings(trial, &sample, 0, 1);
    return sample_close(&sample, trial, has_passed);
}

static const tool_check checks[] = {
    {"codec none", check_codec, "none", false},
    {"codec zstd", check_codec, "zstd:3", false},
    {"codec gzip", check_codec, "gzip:6", false},
    {"codec blosc", check_codec, "blosc:lz4:5:shuffle", false},
    {"every type", check_types, NULL, false},
    {"partial update", check_partial_update, NULL, false},
    {"shrink and grow", check_resize, NULL, false},
    {"groups and attributes", check_attributes, NULL, false},
    {"seal", check_seal, NULL, false},
    {"a changed bit is found", check_damage, NULL, true},
    {"a missing shard is found", check_missing_shard, NULL, true},
};

enum { CHECK_COUNT = sizeof checks / sizeof checks[0] };

/* Passed and failed checks so far. */
typedef struct tool_score {
    tool_document *document; /* NULL: for people */
    int64_t passed;
    int64_t failed;
} tool_score;

static void report_check(tool_score *score, const tool_trial *trial, const char *name, bool has_passed)
{
    score->passed += has_passed;
    score->failed += !has_passed;
    if (score->document != NULL) {
        document_open_object(score->document, NULL);
        document_text(score->document, "place", trial->place);
        document_text(score->document, "name", name);
        document_truth(score->document, "passed", has_passed);
        document_text(score->document, "problem", has_passed ? NULL : trial->problem);
        document_close(score->document);
        return;
    }
    printf("%-4s  %s: %s%s%s\n", has_passed ? "ok" : "FAIL", trial->place, name, has_passed ? "" : ": ",
           has_passed ? "" : trial->problem);
    (void)fflush(stdout);
}

static void run_checks(tool_score *score, const tool_request *request, tool_trial *trial, bool has_files)
{
    parapet_status status = ranks_open_store(request, &trial->store, trial->url, PARAPET_CREATE, &request->options);
    bool is_open = expect(trial, "parapet_store_open", status, PARAPET_OK);
    report_check(score, trial, "open", is_open);
    for (int i = 0; i < CHECK_COUNT && is_open; i++)
        if (has_files || !checks[i].needs_files)
            report_check(score, trial, checks[i].name, checks[i].run(trial, checks[i].argument));
    if (is_open)
        report_check(score, trial, "close",
                     expect(trial, "parapet_store_close", parapet_store_close(&trial->store), PARAPET_OK));
    free(trial->problem);
    trial->problem = NULL;
}

static const char *parent_directory(const tool_request *request)
{
    const char *parent = getenv("TMPDIR");
    if (request->operand_count > 0)
        return request->operands[0];
    return parent != NULL && parent[0] != '\0' ? parent : ".";
}

static void test_directory(tool_score *score, const tool_request *request)
{
    char *directory = scratch_make(parent_directory(request), "selftest");
    tool_trial trial = {.place = "directory"};
    char *url;
    if (directory == NULL) {
        score->failed++;
        return;
    }
    url = text_format("%s/test.zarr", directory);
    trial.url = url;
    run_checks(score, request, &trial, true);
    scratch_remove(directory);
    free(url);
    free(directory);
}

static void test_memory(tool_score *score, const tool_request *request)
{
    tool_trial trial = {.place = "memory", .url = "memory:selftest"};
    run_checks(score, request, &trial, false);
}

static int run(const tool_request *request)
{
    tool_document document = {.out = stdout};
    tool_score score = {.document = request->flags & TOOL_JSON ? &document : NULL};
    if (score.document != NULL) {
        document_open_object(&document, NULL);
        document_open_list(&document, "checks");
    }
    test_memory(&score, request);
    test_directory(&score, request);
    if (score.document != NULL) {
        document_close(&document);
        document_integer(&document, "passed", score.passed);
        document_integer(&document, "failed", score.failed);
        document_close(&document);
    } else {
        printf("%" PRId64 " passed, %" PRId64 " failed\n", score.passed, score.failed);
    }
    return score.failed > 0 ? TOOL_FAILED : TOOL_OK;
}

const tool_verb verb_selftest = {
    .name = "selftest",
    .operands = "[DIRECTORY]",
    .summary = "Tests in seconds whether this installation works.",
    .details = "Writes, reads, updates, seals and damages small arrays: in memory, and in a\n"
               "directory that it creates and removes below DIRECTORY, $TMPDIR or \".\".\n",
    .exit_codes = "0 all passed, 1 some failed, 2 wrong usage.",
    .flags = flags,
    .operands_min = 0,
    .operands_max = 1,
    .run = run,
};
