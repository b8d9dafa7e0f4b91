#include "rechunk/plan_print.h"

#include <inttypes.h>
#include <math.h>

#include "base/shape_text.h"

typedef struct json_lines {
    pp_text *text;
    int depth;
    bool is_first; /* nothing is in this object or list yet */
} json_lines;

/* Starts a line; key is NULL in lists. */
static void start_line(json_lines *json, const char *key)
{
    pp_text_add(json->text, "%s\n%*s", json->is_first ? "" : ",", 2 * json->depth, "");
    if (key != NULL)
        pp_text_add(json->text, "\"%s\": ", key);
    json->is_first = false;
}

static void open_group(json_lines *json, const char *key, char bracket)
{
    start_line(json, key);
    pp_text_add(json->text, "%c", bracket);
    json->depth++;
    json->is_first = true;
}

static void close_group(json_lines *json, char bracket)
{
    json->depth--;
    pp_text_add(json->text, "\n%*s%c", 2 * json->depth, "", bracket);
    json->is_first = false;
}

static void add_integer(json_lines *json, const char *key, int64_t value)
{
    start_line(json, key);
    pp_text_add(json->text, "%" PRId64, value);
}

static void add_bool(json_lines *json, const char *key, bool value)
{
    start_line(json, key);
    pp_text_add(json->text, "%s", value ? "true" : "false");
}

static void add_real(json_lines *json, const char *key, double value)
{
    start_line(json, key);
    if (isfinite(value))
        pp_text_add(json->text, "%.17g", value);
    else
        pp_text_add(json->text, "null");
}

static void add_list(json_lines *json, const char *key, int count, const int64_t *values)
{
    start_line(json, NULL);
    pp_list_print_json(key, count, values, json->text);
}

static void add_dimensions(json_lines *json, const char *key, int count, const int *dimensions)
{
    int64_t values[PARAPET_MAX_NDIM];
    int i;
    for (i = 0; i < count; i++)
        values[i] = dimensions[i];
    add_list(json, key, count, values);
}

/* Names come from files: any character may be in them. */
static void add_quoted(json_lines *json, const char *words)
{
    pp_text_add(json->text, "\"");
    for (; *words != '\0'; words++) {
        if (*words == '"' || *words == '\\')
            pp_text_add(json->text, "\\%c", *words);
        else if ((unsigned char)*words < 0x20)
            pp_text_add(json->text, "\\u%04x", (unsigned)*words);
        else
            pp_text_add(json->text, "%c", *words);
    }
    pp_text_add(json->text, "\"");
}

static void add_words(json_lines *json, const char *key, const char *words)
{
    start_line(json, key);
    if (words == NULL)
        pp_text_add(json->text, "null");
    else
        add_quoted(json, words);
}

static void add_names(json_lines *json, const pp_rechunk_plan *plan, const pp_rechunk_labels *labels)
{
    int d;
    if (labels->dimension_names == NULL)
        return;
    open_group(json, "dimension_names", '[');
    for (d = 0; d < plan->ndim; d++)
        add_words(json, NULL, labels->dimension_names[d]);
    close_group(json, ']');
}

static void add_side(json_lines *json, const char *key, int ndim, const pp_rechunk_side *side, const char *codecs)
{
    open_group(json, key, '{');
    add_list(json, "chunks", ndim, side->chunk);
    if (side->is_sharded)
        add_list(json, "shards", ndim, side->shard);
    add_list(json, "origin", ndim, side->origin);
    add_dimensions(json, "stored_order", ndim, side->stored_order);
    add_integer(json, "element_bytes", side->element_bytes);
    add_integer(json, "encoded_bytes", side->encoded_bytes);
    add_integer(json, "chunk_buffer_bytes", side->chunk_buffer_bytes);
    add_integer(json, "scratch_bytes", side->scratch_bytes);
    add_real(json, "codec_rate", side->codec_rate);
    add_real(json, "stored_ratio", side->stored_ratio);
    if (codecs != NULL)
        add_words(json, "codecs", codecs);
    close_group(json, '}');
}

static void add_counts(json_lines *json, const pp_rechunk_counts *counts)
{
    add_integer(json, "work_units", counts->work_units);
    add_integer(json, "templates", counts->templates);
    add_integer(json, "chunk_reads", counts->chunk_reads);
    add_integer(json, "read_requests", counts->read_requests);
    add_integer(json, "index_reads", counts->index_reads);
    add_integer(json, "decoded_bytes", counts->decoded_bytes);
    add_integer(json, "chunks_written", counts->chunks_written);
    add_integer(json, "shards_written", counts->shards_written);
    add_integer(json, "written_bytes", counts->written_bytes);
}

static void add_memory(json_lines *json, const pp_rechunk_pass *pass)
{
    const pp_rechunk_memory *memory = &pass->memory;
    pp_rechunk_parts parts = pp_rechunk_memory_parts(pass);
    open_group(json, "memory", '{');
    add_integer(json, "memory_bytes", memory->memory_bytes);
    add_integer(json, "open_chunks", memory->open_chunks);
    add_integer(json, "chunk_buffers", memory->chunk_buffers);
    add_integer(json, "items", memory->items);
    add_integer(json, "item_chunks", memory->item_chunks);
    add_integer(json, "writers", memory->writers);
    add_integer(json, "writer_bytes", memory->writer_bytes);
    add_integer(json, "source_indexes_bytes", memory->source_indexes);
    add_integer(json, "target_indexes_bytes", memory->target_indexes);
    add_integer(json, "all_chunk_buffers_bytes", parts.chunk_buffers);
    add_integer(json, "all_writers_bytes", parts.writers);
    add_integer(json, "items_and_coding_bytes", parts.rest);
    close_group(json, '}');
}

static void add_pass(json_lines *json, const pp_rechunk_plan *plan, const pp_rechunk_pass *pass)
{
    open_group(json, NULL, '{');
    add_side(json, "source", plan->ndim, &pass->source, NULL);
    add_side(json, "target", plan->ndim, &pass->target, NULL);
    add_list(json, "template", plan->ndim, pass->template_shape);
    add_list(json, "work_unit", plan->ndim, pass->work_unit_shape);
    add_dimensions(json, "order_slowest_first", plan->ndim, pass->order);
    add_bool(json, "reads_runs", pass->reads_runs);
    add_bool(json, "cooperates", pass->cooperates);
    if (pass->cooperates)
        add_list(json, "group", plan->ndim, pass->group);
    add_counts(json, &pass->counts);
    add_memory(json, pass);
    add_real(json, "seconds", pass->seconds);
    close_group(json, '}');
}

static void add_candidate(json_lines *json, const pp_rechunk_candidate *candidate)
{
    open_group(json, NULL, '{');
    add_words(json, "name", candidate->name);
    add_integer(json, "passes", candidate->pass_count);
    add_integer(json, "read_bytes", candidate->read_bytes);
    add_integer(json, "written_bytes", candidate->written_bytes);
    add_integer(json, "memory_bytes", candidate->memory_bytes);
    add_real(json, "seconds", candidate->seconds);
    add_bool(json, "feasible", candidate->is_feasible);
    add_bool(json, "chosen", candidate->is_chosen);
    close_group(json, '}');
}

static void add_heading(json_lines *json, const pp_rechunk_plan *plan, const pp_rechunk_labels *labels)
{
    if (labels->type_name != NULL)
        add_words(json, "type", labels->type_name);
    add_list(json, "shape", plan->ndim, plan->shape);
    add_names(json, plan, labels);
    if (labels->permutation != NULL)
        add_words(json, "permutation", labels->permutation);
    add_integer(json, "array_bytes", pp_rechunk_plan_array_bytes(plan));
    if (plan->pass_count > 0) {
        const pp_rechunk_pass *last = &plan->passes[plan->pass_count - 1];
        add_side(json, "source", plan->ndim, &plan->passes[0].source, labels->source_codecs);
        add_side(json, "target", plan->ndim, &last->target, labels->target_codecs);
    }
    add_integer(json, "ranks", plan->ranks);
    add_integer(json, "threads", plan->threads);
    if (plan->limit_bytes != INT64_MAX)
        add_integer(json, "memory_limit_bytes", plan->limit_bytes);
    add_integer(json, "memory_bytes", plan->memory_bytes);
    add_integer(json, "memory_least_bytes", plan->memory_least_bytes);
    add_integer(json, "unit_bytes", plan->unit_bytes);
    add_integer(json, "redone_bytes", pp_rechunk_plan_redone_bytes(plan));
    add_integer(json, "temporary_bytes", plan->temporary_bytes);
    add_integer(json, "temporary_files", plan->temporary_files);
    add_real(json, "seconds", plan->seconds);
}

parapet_status pp_rechunk_print_json(const pp_rechunk_plan *plan, const pp_rechunk_labels *labels, pp_text *text)
{
    static const pp_rechunk_labels none = {0};
    json_lines json = {.text = text, .depth = 1, .is_first = true};
    int i;
    pp_text_add(text, "{");
    add_heading(&json, plan, labels != NULL ? labels : &none);
    open_group(&json, "passes", '[');
    for (i = 0; i < plan->pass_count; i++)
        add_pass(&json, plan, &plan->passes[i]);
    close_group(&json, ']');
    open_group(&json, "candidates", '[');
    for (i = 0; i < plan->candidate_count; i++)
        add_candidate(&json, &plan->candidates[i]);
    close_group(&json, ']');
    pp_text_add(text, "\n}\n");
    return text->status;
}
