#include "restore_test.h"
#include "base/clock.h"
#include "display.h"
#include "document.h"
#include "finding.h"
#include "holding.h"
#include "memory.h"
#include "memory_limit.h"
#include "node.h"
#include "quantity.h"
#include "report.h"
#include "store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct tool_restoring {
    const tool_request *request;
    parapet_store *store;
    parapet_restore *restore; /* NULL: none verifies */
    parapet_restore_info info;
    tool_holding holding;
    tool_document *document; /* NULL: for people, or not rank 0 */
    unsigned char *buffer;
    size_t buffer_bytes;
    int64_t bytes; /* of elements, on all ranks */
    double seconds;
    char *problem;   /* of the generation that was taken; NULL: none */
    int exit_code;   /* what a program that restores would meet */
    int passed_over; /* exit code of the worst that is newer */
} tool_restoring;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- Pieces: an array cut into boxes that fit the buffer, and no larger than shards ---- */

typedef struct tool_pieces {
    int ndim;
    int64_t shape[PARAPET_MAX_NDIM];
    int64_t block[PARAPET_MAX_NDIM];
    int64_t blocks[PARAPET_MAX_NDIM]; /* along each dimension */
    int64_t count;
} tool_pieces;

static void pieces_init(tool_pieces *pieces, const parapet_array_info *info, size_t buffer_bytes)
{
    int64_t limit = (int64_t)(buffer_bytes / (info->element_bytes > 0 ? info->element_bytes : 1)), elements = 1;
    *pieces = (tool_pieces){.ndim = info->ndim, .count = 1};
    if (limit < 1)
        limit = 1;
    for (int d = info->ndim - 1; d >= 0; d--) {
        pieces->shape[d] = info->shape[d];
        if (info->shape[d] == 0) {
            pieces->count = 0;
            return;
        }
        pieces->block[d] = smaller(smaller(info->shards[d], info->shape[d]), limit / elements);
        elements *= pieces->block[d];
        pieces->blocks[d] = (info->shape[d] - 1) / pieces->block[d] + 1;
        if (__builtin_mul_overflow(pieces->count, pieces->blocks[d], &pieces->count))
            pieces->count = INT64_MAX;
    }
}

static void piece_locate(const tool_pieces *pieces, int64_t index, int64_t *start, int64_t *count)
{
    for (int d = pieces->ndim - 1; d >= 0; d--) {
        start[d] = index % pieces->blocks[d] * pieces->block[d];
        count[d] = smaller(pieces->block[d], pieces->shape[d] - start[d]);
        index /= pieces->blocks[d];
    }
}

/* [collective] Each rank takes every so many-th piece. */
static parapet_status read_pieces(const tool_restoring *restoring, const char *name, const tool_pieces *pieces)
{
    int64_t ranks = restoring->request->rank_count, rank = restoring->request->rank;
    parapet_status status = PARAPET_OK;
    for (int64_t first = 0; first < pieces->count && status == PARAPET_OK; first += ranks) {
        int64_t start[PARAPET_MAX_NDIM] = {0}, count[PARAPET_MAX_NDIM] = {0};
        parapet_part part = {.ndim = pieces->ndim, .start = start, .count = count, .data = restoring->buffer};
        parapet_checkpoint_item item = {.name = name, .parts = &part};
        item.part_count = rank < pieces->count - first;
        if (item.part_count > 0)
            piece_locate(pieces, first + rank, start, count);
        status = parapet_restore_get(restoring->restore, &item, 1);
    }
    return status;
}

/* [collective] */
static parapet_status read_array(tool_restoring *restoring, const char *name)
{
    tool_node node = {0};
    tool_pieces pieces = {0};
    char *path = text_join_path(restoring->info.path, name);
    parapet_status status = node_open(&node, restoring->store, path);
    if (status == PARAPET_OK) {
        pieces_init(&pieces, &node.info, restoring->buffer_bytes);
        restoring->bytes += logical_bytes(&node.info);
    }
    node_close(&node);
    free(path);
    return status == PARAPET_OK ? read_pieces(restoring, name, &pieces) : status;
}

/* ---- Generations ---- */

static void write_passed_over(tool_document *document, int64_t number, const char *problem)
{
    document_open_object(document, NULL);
    document_integer(document, "generation", number);
    document_text(document, "problem", problem);
    document_close(document);
}

static void print_passed_over(const tool_request *request, int64_t number, int exit_code, const char *problem)
{
    char *visible = text_visible(request->operands[0]), *sentence = text_visible(problem);
    printf("%s: %s: generation %" PRId64 " is passed over: %s\n", name_of_exit_code(exit_code), visible, number,
           sentence);
    free(sentence);
    free(visible);
}

/* [collective] Opens one that is newer than the one that was taken, to learn what is wrong with it. */
static void tell_passed_over(tool_restoring *restoring, int64_t number)
{
    parapet_restore *restore = NULL;
    parapet_status status = parapet_restore_open(&restore, restoring->store, "", number);
    int exit_code = exit_code_of_finding(status);
    (void)parapet_restore_close(&restore);
    if (status == PARAPET_OK)
        return;
    if (restoring->passed_over != TOOL_FAILED && restoring->passed_over != TOOL_TORN)
        restoring->passed_over = exit_code;
    if (restoring->document != NULL)
        write_passed_over(restoring->document, number, parapet_error_message());
    else if (restoring->request->rank == 0 && !(restoring->request->flags & TOOL_JSON))
        print_passed_over(restoring->request, number, exit_code, parapet_error_message());
}

static void tell_all_passed_over(tool_restoring *restoring)
{
    const tool_holding *holding = &restoring->holding;
    for (size_t i = 0; i < holding->generation_count; i++)
        if (holding->generations[i].number > restoring->info.generation)
            tell_passed_over(restoring, holding->generations[i].number);
}

static void keep_problem(tool_restoring *restoring, parapet_status status)
{
    restoring->exit_code = exit_code_of_finding(status);
    if (status != PARAPET_OK)
        restoring->problem = text_format("%s", parapet_error_message());
}

/* [collective] As a program that restarts does it. */
static void restore(tool_restoring *restoring)
{
    double start = pp_clock_seconds();
    parapet_status status = parapet_restore_open(&restoring->restore, restoring->store, "", 0);
    if (status == PARAPET_OK)
        status = parapet_restore_get_info(restoring->restore, &restoring->info);
    for (int i = 0; status == PARAPET_OK && i < restoring->info.array_count; i++)
        status = read_array(restoring, restoring->info.names[i]);
    restoring->seconds = pp_clock_seconds() - start;
    keep_problem(restoring, status);
}

/* ---- Reports, by rank 0 ---- */

static int exit_code_of(const tool_restoring *restoring)
{
    return restoring->exit_code != TOOL_OK ? restoring->exit_code : restoring->passed_over;
}

static void print_result(const tool_restoring *restoring)
{
    const tool_request *request = restoring->request;
    char *visible = text_visible(request->operands[0]), *size = text_of_size(restoring->bytes);
    char *seconds = text_of_seconds(restoring->seconds);
    if (restoring->problem != NULL) {
        char *problem = text_visible(restoring->problem);
        printf("%s: %s: cannot be restored: %s\n", name_of_exit_code(restoring->exit_code), visible, problem);
        free(problem);
    } else {
        printf("%s: %s: restored generation %" PRId64 ", arrays %d, %s in %s, ranks %d\n",
               name_of_exit_code(exit_code_of(restoring)), visible, restoring->info.generation,
               restoring->info.array_count, size, seconds, request->rank_count);
    }
    free(seconds);
    free(size);
    free(visible);
}

static void write_result(const tool_restoring *restoring)
{
    tool_document *document = restoring->document;
    bool has_opened = restoring->restore != NULL;
    if (has_opened)
        document_integer(document, "generation", restoring->info.generation);
    else
        document_null(document, "generation");
    document_text(document, "group", has_opened ? restoring->info.path : NULL);
    document_integer(document, "arrays", restoring->info.array_count);
    document_integer(document, "bytes", restoring->problem == NULL ? restoring->bytes : 0);
    document_number(document, "seconds", restoring->seconds);
    document_integer(document, "ranks", restoring->request->rank_count);
    document_text(document, "problem", restoring->problem);
    document_text(document, "result", name_of_exit_code(exit_code_of(restoring)));
}

static void test_for_programs(tool_restoring *restoring)
{
    tool_document document = {.out = stdout};
    bool is_shown = restoring->request->rank == 0;
    restore(restoring);
    if (is_shown) {
        restoring->document = &document;
        document_open_object(&document, NULL);
        document_text(&document, "path", restoring->request->operands[0]);
        document_open_list(&document, "passed_over");
    }
    tell_all_passed_over(restoring);
    if (is_shown) {
        document_close(&document);
        write_result(restoring);
        document_close(&document);
    }
}

static void test_for_people(tool_restoring *restoring)
{
    restore(restoring);
    tell_all_passed_over(restoring);
    if (restoring->request->rank == 0 && (restoring->problem != NULL || !(restoring->request->flags & TOOL_QUIET)))
        print_result(restoring);
}

static int test_opened(tool_restoring *restoring)
{
    const char *url = restoring->request->operands[0];
    if (holding_init(&restoring->holding, restoring->store, "") != PARAPET_OK) {
        report_failure(url);
        return TOOL_FAILED;
    }
    if (restoring->holding.generation_count == 0) {
        report_error(url, "there is no checkpoint here; name the group that holds the generations");
        return TOOL_FAILED;
    }
    restoring->buffer = memory_get(restoring->buffer_bytes);
    if (restoring->request->flags & TOOL_JSON)
        test_for_programs(restoring);
    else
        test_for_people(restoring);
    return exit_code_of(restoring);
}

int restore_test_run(const tool_request *request)
{
    tool_request shared = *request;
    tool_restoring restoring = {.request = request};
    int exit_code = TOOL_FAILED;
    if (!memory_share(&shared, 1, &restoring.buffer_bytes))
        return TOOL_USAGE;
    if ((restoring.store = store_open(&shared, request->operands[0], PARAPET_READ)) != NULL)
        exit_code = test_opened(&restoring);
    (void)parapet_restore_close(&restoring.restore);
    holding_free(&restoring.holding);
    free(restoring.buffer);
    free(restoring.problem);
    (void)parapet_store_close(&restoring.store);
    return exit_code;
}
