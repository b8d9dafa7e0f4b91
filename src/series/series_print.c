#include "array/store_queries.h"
#include "base/status.h"
#include "series/arena.h"
#include "series/series_handle.h"

static void print_place(const parapet_series *series, pp_text *text)
{
    const pp_series_arena *arena = &series->arena;
    double limit = (double)pp_series_limit_bytes(series);
    if (series->steps_per_row == 1) {
        pp_text_add(text, "Every step is a row of its own: it is written from the caller's memory, and committed, as "
                          "soon as it is appended.\n");
        return;
    }
    pp_text_add(
        text,
        "A row has %lld steps. They are kept until the row is full or flushed; then every shard is written once.\n",
        (long long)series->steps_per_row);
    if (arena->step_count == 0)
        pp_text_add(text, "No step is open: the first step of a row decides how much memory it takes.\n");
    else
        pp_text_add(text,
                    "The open row will take %.0f bytes on this rank when it is full; its %lld steps take %llu now.\n",
                    (double)arena->used_bytes / (double)arena->step_count * (double)series->steps_per_row,
                    (long long)arena->step_count, (unsigned long long)arena->used_bytes);
    if (arena->is_staged)
        pp_text_add(text, "On some rank that is more than half of memory_bytes (%.0f): open steps are kept in %s.\n",
                    limit, arena->key);
    else
        pp_text_add(text, "Up to half of memory_bytes (%.0f) it is kept in memory, beyond that in %s.\n", limit,
                    arena->key);
}

static void print_loss(const parapet_series *series, pp_text *text)
{
    long long open = (long long)(series->steps - series->steps_committed);
    pp_text_add(text, "%lld steps have been appended, and %lld of them committed. ", (long long)series->steps,
                (long long)series->steps_committed);
    if (open == 0)
        pp_text_add(text, "A crash now loses none.\n");
    else
        pp_text_add(text, "A crash now loses %lld: those since the last flush or the last full row.\n", open);
}

parapet_status parapet_series_print(parapet_series *series, char **text)
{
    PP_TURN turn = {0};
    parapet_status status;
    pp_text words = {0};
    if (series == NULL || text == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_series_print needs a series and a pointer for the text");
    if ((status = pp_turn_take(&turn, pp_store_comm(series->store), PP_TURN_LOCAL)) != PARAPET_OK)
        return status;
    pp_text_add(&words, "Series \"%s\": %d arrays that grow along \"%s\".\n", series->path, series->count,
                series->dimension);
    print_place(series, &words);
    print_loss(series, &words);
    return pp_outcome(pp_text_finish(&words, text));
}
