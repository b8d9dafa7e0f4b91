#include "copy_report.h"
#include "arguments.h"
#include "display.h"
#include "document.h"
#include "memory.h"
#include "quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *copying_resume_command(const tool_copying *copying)
{
    const tool_request *request = copying->request;
    bool is_given = request->options.memory_bytes > 0 || request_value(request, "memory-target") != NULL;
    char *launcher =
        request->working == RANKS_NONE ? text_format("%s", "") : text_format("mpiexec -n %d ", request->rank_count);
    char *text = text_format("%sparapet copy --resume", launcher);
    free(launcher);
    /* A limit that was chosen could be another one next time. */
    if (!is_given) {
        char *longer = text_format("%s --max-mem %" PRId64, text, copying->options.memory_bytes);
        free(text);
        text = longer;
    }
    for (int i = 0; i < request->word_count; i++) {
        char *word = text_quoted(request->words[i]);
        bool is_new = strcmp(word, "--resume") != 0;
        char *longer = text_format("%s%s%s", text, is_new ? " " : "", is_new ? word : "");
        free(word);
        free(text);
        text = longer;
    }
    return text;
}

static void print_changes(const parapet_copy_request *copy)
{
    const parapet_copy_changes *changes = &copy->changes;
    const char *const names[] = {"chunks", "shards", "order", "codec", "region", "include", "exclude"};
    const char *const values[] = {changes->chunks, changes->shards, changes->order, changes->codec,
                                  changes->region, copy->include,   copy->exclude};
    int count = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (values[i] != NULL) {
            char *value = text_visible(values[i]);
            printf("%s%s %s", count++ == 0 ? "changes   " : "; ", names[i], value);
            free(value);
        }
    if (changes->no_checksum)
        printf("%sno checksum", count++ == 0 ? "changes   " : "; ");
    if (count > 0)
        putchar('\n');
}

void copying_print_header(const tool_copying *copying)
{
    const tool_request *request = copying->request;
    const parapet_array_info *info = &copying->node.info;
    char *source = text_visible(request->operands[0]), *target = text_visible(request->operands[1]);
    char *memory = text_of_size(copying->options.memory_bytes);
    if (copying->node.array != NULL) {
        char *shape = text_of_shape(info->shape, info->ndim), *size = text_of_size(logical_bytes(info));
        char *type = text_visible(info->type_name);
        printf("copy      %s to %s: %s, %s, %s\n", source, target, type, shape, size);
        free(type);
        free(shape);
        free(size);
    } else {
        printf("copy      %s to %s: a group and everything below\n", source, target);
    }
    print_changes(&copying->copy);
    if (request->rank_count > 1)
        printf("memory    at most %s on each of %d ranks (%s)\n", memory, request->rank_count,
               copying->memory_origin);
    else
        printf("memory    at most %s (%s)\n", memory, copying->memory_origin);
    if (copying->options.threads > 1)
        printf("threads   %" PRId64 "%s\n", (int64_t)copying->options.threads,
               request->rank_count > 1 ? " on each rank" : "");
    (void)fflush(stdout);
    free(source);
    free(target);
    free(memory);
}

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_counts(const parapet_copy_result *result)
{
    char *decoded = text_of_size(result->decoded_bytes);
    printf("reads     %" PRId64 " of chunks, %" PRId64 " of shard indexes; %s decoded\n", result->read_requests,
           result->index_reads, decoded);
    printf("writes    %" PRId64 " chunks in %" PRId64 " files\n", result->chunks_written, result->shards_written);
    free(decoded);
}

static void print_memory(const tool_copying *copying)
{
    const parapet_copy_result *result = &copying->result;
    char *peak = text_of_size(result->memory_peak_bytes), *planned = text_of_size(result->memory_planned_bytes);
    char *limit = text_of_size(copying->options.memory_bytes);
    printf("memory    peak %s of %s planned, limit %s\n", peak, planned, limit);
    free(peak);
    free(planned);
    free(limit);
}

/* What earlier runs did is no work of this one, and says nothing of its speed. */
static void print_resumed(const parapet_copy_result *result)
{
    printf("resumed   %" PRId64 " template%s had been done before\n", result->templates_resumed,
           plural(result->templates_resumed));
    printf("this run  wrote %" PRId64 " chunk%s in %" PRId64 " file%s\n", result->chunks_written,
           plural(result->chunks_written), result->shards_written, plural(result->shards_written));
}

void copying_print_result(const tool_copying *copying)
{
    const parapet_copy_result *result = &copying->result;
    char *size = text_of_size(result->array_bytes), *verified = text_of_size(result->verified_bytes);
    char *rate = text_of_rate(result->seconds > 0 ? (double)result->array_bytes / result->seconds : 0);
    char *time = text_of_seconds(result->seconds), *predicted = text_of_seconds(result->planned_seconds);
    printf("copied    %s", size);
    if (result->templates_resumed == 0)
        printf(" in %s, %s", time, rate);
    printf("; %" PRId64 " pass%s", result->passes, result->passes == 1 ? "" : "es");
    if (copying->node.group != NULL)
        printf("; %" PRId64 " array%s, %" PRId64 " group%s", result->arrays, plural(result->arrays), result->groups,
               plural(result->groups));
    putchar('\n');
    if (result->templates_resumed > 0)
        print_resumed(result);
    if (copying->request->flags & TOOL_VERBOSE)
        print_counts(result);
    print_memory(copying);
    printf("time      %s, predicted %s\n", time, predicted);
    if (copying->copy.verify)
        printf("verified  %s read again and compared: no difference\n", verified);
    free(size);
    free(verified);
    free(rate);
    free(time);
    free(predicted);
}

static void write_counts(tool_document *document, const parapet_copy_result *result)
{
    document_integer(document, "arrays", result->arrays);
    document_integer(document, "groups", result->groups);
    document_integer(document, "passes", result->passes);
    document_integer(document, "array_bytes", result->array_bytes);
    document_integer(document, "read_requests", result->read_requests);
    document_integer(document, "index_reads", result->index_reads);
    document_integer(document, "decoded_bytes", result->decoded_bytes);
    document_integer(document, "chunks_written", result->chunks_written);
    document_integer(document, "shards_written", result->shards_written);
    document_integer(document, "templates_resumed", result->templates_resumed);
    document_integer(document, "memory_peak_bytes", result->memory_peak_bytes);
    document_integer(document, "memory_planned_bytes", result->memory_planned_bytes);
    document_number(document, "planned_seconds", result->planned_seconds);
    document_number(document, "seconds", result->seconds);
    document_integer(document, "verified_bytes", result->verified_bytes);
}

void copying_print_document(const tool_copying *copying, parapet_status status)
{
    tool_document document = {.out = stdout};
    char *command = copying->signal != 0 ? copying_resume_command(copying) : NULL;
    document_open_object(&document, NULL);
    document_text(&document, "source", copying->request->operands[0]);
    document_text(&document, "target", copying->request->operands[1]);
    document_integer(&document, "ranks", copying->request->rank_count);
    document_integer(&document, "memory_limit_bytes", copying->options.memory_bytes);
    document_text(&document, "memory_limit_origin", copying->memory_origin);
    if (status == PARAPET_OK) {
        write_counts(&document, &copying->result);
    } else {
        document_text(&document, "status", parapet_status_name(status));
        document_text(&document, "error", parapet_error_message());
    }
    if (command != NULL)
        document_text(&document, "resume", command);
    document_text(&document, "result",
                  status == PARAPET_OK   ? "copied"
                  : copying->signal != 0 ? "interrupted"
                                         : "failed");
    document_close(&document);
    free(command);
}
