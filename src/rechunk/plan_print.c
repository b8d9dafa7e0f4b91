#include "rechunk/plan_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/shape_text.h"
#include "rechunk/count.h"

static int64_t box_bytes(const pp_rechunk_plan *plan, const int64_t *extents, int64_t element_bytes)
{
    int64_t bytes = element_bytes;
    int d;
    for (d = 0; d < plan->ndim; d++)
        bytes = pp_multiply_saturating(bytes, pp_min_i64(extents[d], plan->shape[d]));
    return bytes;
}

int64_t pp_rechunk_plan_array_bytes(const pp_rechunk_plan *plan)
{
    return plan->pass_count == 0 ? 0 : box_bytes(plan, plan->shape, plan->passes[0].target.element_bytes);
}

int64_t pp_rechunk_plan_redone_bytes(const pp_rechunk_plan *plan)
{
    int64_t most = 0;
    int i;
    for (i = 0; i < plan->pass_count; i++)
        most =
            pp_max_i64(most, box_bytes(plan, plan->passes[i].template_shape, plan->passes[i].target.element_bytes));
    return most;
}

static int64_t align_to_page(int64_t bytes)
{
    return pp_multiply_saturating(pp_divide_up(bytes, PP_PAGE_BYTES), PP_PAGE_BYTES);
}

pp_rechunk_parts pp_rechunk_memory_parts(const pp_rechunk_pass *pass)
{
    const pp_rechunk_memory *memory = &pass->memory;
    pp_rechunk_parts parts = {.rest = memory->memory_bytes};
    if (!pass->cooperates)
        parts.chunk_buffers =
            pp_multiply_saturating(memory->chunk_buffers, align_to_page(pass->target.chunk_buffer_bytes));
    parts.indexes = pp_add_saturating(memory->source_indexes, memory->target_indexes);
    parts.writers = pp_multiply_saturating(memory->writers, memory->writer_bytes);
    parts.rest -= pp_min_i64(parts.rest, parts.chunk_buffers);
    parts.rest -= pp_min_i64(parts.rest, parts.indexes);
    parts.rest -= pp_min_i64(parts.rest, parts.writers);
    return parts;
}

/* Names come from files: what would break a line is not printed. */
static void print_name(const char *name, pp_text *text)
{
    for (; *name != '\0'; name++)
        pp_text_add(text, "%c", (unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name);
}

void pp_rechunk_print_dimension(const pp_rechunk_labels *labels, int d, pp_text *text)
{
    if (labels != NULL && labels->dimension_names != NULL && labels->dimension_names[d] != NULL)
        print_name(labels->dimension_names[d], text);
    else
        pp_text_add(text, "dimension %d", d);
}

/* "1.5 ms", "12.3 s", "5 min 20 s", "3 h 2 min", "2 days 5 h". */
static void format_seconds(double seconds, char words[32])
{
    double whole = floor(seconds + 0.5);
    if (seconds < 0.1)
        (void)snprintf(words, 32, "%.3g ms", seconds * 1e3);
    else if (seconds < 99.95)
        (void)snprintf(words, 32, "%.3g s", seconds);
    else if (whole < 7200)
        (void)snprintf(words, 32, "%.0f min %.0f s", floor(whole / 60), fmod(whole, 60));
    else if (whole < 172800)
        (void)snprintf(words, 32, "%.0f h %.0f min", floor(whole / 3600), floor(fmod(whole, 3600) / 60));
    else
        (void)snprintf(words, 32, "%.0f days %.0f h", floor(whole / 86400), floor(fmod(whole, 86400) / 3600));
}

static void print_seconds(double seconds, pp_text *text)
{
    char words[32];
    format_seconds(seconds, words);
    pp_text_add(text, "%s", words);
}

static void print_rate(const char *what, int64_t bytes, double seconds, pp_text *text)
{
    if (seconds <= 0)
        return;
    pp_text_add(text, "%s", what);
    pp_bytes_print((double)bytes / seconds, text);
    pp_text_add(text, "/s");
}

static void print_count(int64_t count, const char *one, pp_text *text)
{
    pp_text_add(text, "%" PRId64 " %s%s", count, one, count == 1 ? "" : "s");
}

static void print_layout(const pp_rechunk_plan *plan, const pp_rechunk_side *side, pp_text *text)
{
    pp_shape_print(plan->ndim, side->chunk, text);
    if (side->is_sharded) {
        pp_text_add(text, " in shards ");
        pp_shape_print(plan->ndim, side->shard, text);
    }
}

static void print_side(const pp_rechunk_plan *plan, const char *name, const pp_rechunk_side *side, const char *codecs,
                       pp_text *text)
{
    double bytes = (double)side->element_bytes;
    int d;
    for (d = 0; d < plan->ndim; d++)
        bytes *= (double)side->chunk[d];
    pp_text_add(text, "  %-10s", name);
    pp_text_add(text, "chunks ");
    print_layout(plan, side, text);
    pp_text_add(text, "; a chunk has ");
    pp_bytes_print(bytes, text);
    if (codecs != NULL)
        pp_text_add(text, "; codecs %s", codecs[0] != '\0' ? codecs : "none");
    pp_text_add(text, "\n");
}

static void print_heading(const pp_rechunk_plan *plan, const pp_rechunk_labels *labels, pp_text *text)
{
    pp_text_add(text, "copy of %s%s", labels->type_name != NULL ? labels->type_name : "",
                labels->type_name != NULL ? ", " : "");
    pp_shape_print(plan->ndim, plan->shape, text);
    pp_text_add(text, ", ");
    pp_bytes_print((double)pp_rechunk_plan_array_bytes(plan), text);
    if (labels->permutation != NULL) {
        pp_text_add(text, ", ");
        print_name(labels->permutation, text);
    }
    pp_text_add(text, "\n");
    if (plan->pass_count > 0) {
        print_side(plan, "from", &plan->passes[0].source, labels->source_codecs, text);
        print_side(plan, "to", &plan->passes[plan->pass_count - 1].target, labels->target_codecs, text);
    }
    pp_text_add(text, "  by        ");
    print_count(plan->ranks, "rank", text);
    pp_text_add(text, " of ");
    print_count(plan->threads, "thread", text);
    pp_text_add(text, "\n");
}

static void print_template(const pp_rechunk_plan *plan, const pp_rechunk_pass *pass, pp_text *text)
{
    pp_text_add(text, "  template  ");
    pp_shape_print(plan->ndim, pass->template_shape, text);
    pp_text_add(text, ", ");
    pp_bytes_print((double)box_bytes(plan, pass->template_shape, pass->target.element_bytes), text);
    pp_text_add(text, "; %" PRId64 " in ", pass->counts.templates);
    print_count(pass->counts.work_units, "work unit", text);
    if (pass->cooperates) {
        pp_text_add(text, ", all ranks read together for ");
        pp_shape_print(plan->ndim, pass->group, text);
        pp_text_add(text, " work units at a time\n");
    } else {
        pp_text_add(text, ", each done by one rank alone\n");
    }
}

static void print_visit(const pp_rechunk_plan *plan, const pp_rechunk_labels *labels, const pp_rechunk_pass *pass,
                        pp_text *text)
{
    int i;
    pp_text_add(text, "  visit     ");
    for (i = plan->ndim - 1; i >= 0; i--) {
        pp_text_add(text, "%s", i == plan->ndim - 1 ? "along " : ", then ");
        pp_rechunk_print_dimension(labels, pass->order[i], text);
    }
    pp_text_add(text, "%s%s\n", plan->ndim > 0 ? "; " : "",
                pass->reads_runs ? "runs of chunks, only what a template needs" : "whole chunks");
}

static void print_reads(const pp_rechunk_plan *plan, const pp_rechunk_pass *pass, pp_text *text)
{
    const pp_rechunk_counts *counts = &pass->counts;
    int64_t array_bytes = pp_rechunk_plan_array_bytes(plan);
    double ratio = pass->source.stored_ratio;
    pp_text_add(text, "  reads     ");
    pp_bytes_print((double)counts->decoded_bytes, text);
    if (array_bytes > 0)
        pp_text_add(text, ", %.4g x the array", (double)counts->decoded_bytes / (double)array_bytes);
    if (ratio > 0 && (ratio < 1 || ratio > 1)) {
        pp_text_add(text, ", stored in about ");
        pp_bytes_print((double)counts->decoded_bytes * ratio, text);
    }
    pp_text_add(text, "; ");
    print_count(counts->read_requests, "request", text);
    if (pass->source.is_sharded)
        pp_text_add(text, " and %" PRId64 " for indexes", counts->index_reads);
    pp_text_add(text, "\n");
}

static void print_writes(const pp_rechunk_pass *pass, pp_text *text)
{
    pp_text_add(text, "  writes    ");
    pp_bytes_print((double)pass->counts.written_bytes, text);
    pp_text_add(text, " in ");
    print_count(pass->counts.chunks_written, "chunk", text);
    pp_text_add(text, ", ");
    print_count(pass->counts.shards_written, "file", text);
    pp_text_add(text, "\n");
}

static void print_pass_memory(const pp_rechunk_pass *pass, pp_text *text)
{
    const pp_rechunk_memory *memory = &pass->memory;
    pp_rechunk_parts parts = pp_rechunk_memory_parts(pass);
    pp_text_add(text, "  memory    ");
    pp_bytes_print((double)memory->memory_bytes, text);
    pp_text_add(text, " a rank: ");
    if (pass->cooperates) {
        pp_text_add(text, "%" PRId64 " chunks of a template and the common read ", memory->chunk_buffers);
    } else {
        pp_text_add(text, "%" PRId64 " open chunks in %" PRId64 " buffers ", memory->open_chunks,
                    memory->chunk_buffers);
        pp_bytes_print((double)parts.chunk_buffers, text);
        pp_text_add(text, ", ");
        print_count(memory->items, "item", text);
        if (memory->item_chunks > 1)
            pp_text_add(text, " of up to %" PRId64 " chunks", memory->item_chunks);
        pp_text_add(text, " and coding ");
    }
    pp_bytes_print((double)parts.rest, text);
    pp_text_add(text, ", indexes ");
    pp_bytes_print((double)parts.indexes, text);
    pp_text_add(text, ", ");
    print_count(memory->writers, "writer", text);
    pp_text_add(text, " ");
    pp_bytes_print((double)parts.writers, text);
    pp_text_add(text, "\n");
}

static void print_pass(const pp_rechunk_plan *plan, const pp_rechunk_labels *labels, int number, pp_text *text)
{
    const pp_rechunk_pass *pass = &plan->passes[number];
    pp_text_add(text, "pass %d of %d: ", number + 1, plan->pass_count);
    print_layout(plan, &pass->source, text);
    pp_text_add(text, " -> ");
    print_layout(plan, &pass->target, text);
    pp_text_add(text, "\n");
    print_template(plan, pass, text);
    print_visit(plan, labels, pass, text);
    print_reads(plan, pass, text);
    print_writes(pass, text);
    print_pass_memory(pass, text);
    pp_text_add(text, "  time      ");
    print_seconds(pass->seconds, text);
    print_rate(": reads ", pass->counts.decoded_bytes, pass->seconds, text);
    print_rate(", writes ", pass->counts.written_bytes, pass->seconds, text);
    pp_text_add(text, "\n");
}

static void print_temporary(const pp_rechunk_plan *plan, pp_text *text)
{
    pp_text_add(text, "  temporary ");
    if (plan->temporary_files == 0) {
        pp_text_add(text, "nothing\n");
        return;
    }
    pp_bytes_print((double)plan->temporary_bytes, text);
    pp_text_add(text, " in ");
    print_count(plan->temporary_files, "file", text);
    pp_text_add(text, "\n");
}

static void print_total(const pp_rechunk_plan *plan, pp_text *text)
{
    pp_text_add(text, "in all\n");
    print_temporary(plan, text);
    pp_text_add(text, "  memory    ");
    pp_bytes_print((double)plan->memory_bytes, text);
    if (plan->limit_bytes == INT64_MAX) {
        pp_text_add(text, " a rank, without a limit");
    } else {
        pp_text_add(text, " of ");
        pp_bytes_print((double)plan->limit_bytes, text);
        pp_text_add(text, " a rank");
    }
    pp_text_add(text, "; the smallest limit that would do is ");
    pp_bytes_print((double)plan->memory_least_bytes, text);
    pp_text_add(text, "\n  kill      at most ");
    pp_bytes_print((double)pp_rechunk_plan_redone_bytes(plan), text);
    pp_text_add(text, " a rank is done again: one template\n  time      ");
    print_seconds(plan->seconds, text);
    pp_text_add(text, " predicted");
    print_rate(", ", pp_rechunk_plan_array_bytes(plan), plan->seconds, text);
    pp_text_add(text, "\n");
}

static void print_verdict(const pp_rechunk_plan *plan, const pp_rechunk_candidate *candidate, pp_text *text)
{
    if (candidate->is_chosen) {
        pp_text_add(text, "chosen");
    } else if (candidate->is_feasible) {
        pp_text_add(text, "slower");
        if (plan->seconds > 0)
            pp_text_add(text, ", %.3g x the time", candidate->seconds / plan->seconds);
    } else if (candidate->memory_bytes > plan->limit_bytes) {
        pp_text_add(text, "needs ");
        pp_bytes_print((double)candidate->memory_bytes, text);
    } else {
        pp_text_add(text, "does not fit");
    }
    pp_text_add(text, "\n");
}

static void print_candidate(const pp_rechunk_plan *plan, const pp_rechunk_candidate *candidate, pp_text *text)
{
    char read[32] = "-", written[32] = "-", memory[32] = "-", time[32] = "-";
    if (candidate->read_bytes > 0)
        pp_bytes_format((double)candidate->read_bytes, read);
    if (candidate->written_bytes > 0)
        pp_bytes_format((double)candidate->written_bytes, written);
    if (candidate->memory_bytes > 0)
        pp_bytes_format((double)candidate->memory_bytes, memory);
    if (candidate->is_feasible)
        format_seconds(candidate->seconds, time);
    pp_text_add(text, "  %-40s %11s %11s %11s %12s  ", candidate->name, read, written, memory, time);
    print_verdict(plan, candidate, text);
}

parapet_status pp_rechunk_print(const pp_rechunk_plan *plan, const pp_rechunk_labels *labels, pp_text *text)
{
    static const pp_rechunk_labels none = {0};
    int i;
    labels = labels != NULL ? labels : &none;
    print_heading(plan, labels, text);
    for (i = 0; i < plan->pass_count; i++)
        print_pass(plan, labels, i, text);
    print_total(plan, text);
    if (plan->candidate_count > 0)
        pp_text_add(text, "%-42s %11s %11s %11s %12s  %s\n", "weighed", "read", "written", "memory", "time",
                    "verdict");
    for (i = 0; i < plan->candidate_count; i++)
        print_candidate(plan, &plan->candidates[i], text);
    return text->status;
}
