#include "transfer/client.h"

#include <string.h>

#include "transfer/move.h"

enum {
    WORD_TARGET_AND_COUNT,
    WORD_SHARD,
    WORD_NEWS,
    WORD_BAND_FIRST,
    WORD_BAND_COUNT,
    WORD_LOAD_FIRST,
    WORD_LOAD_COUNT,
    WORD_CHUNKS
};
_Static_assert(WORD_CHUNKS + PP_WINDOW_CHUNKS <= PP_REQUEST_WORDS, "a window fits a request");

void pp_window_write(const pp_window *window, pp_window_news news, const pp_window_load *load, int64_t *words)
{
    words[WORD_TARGET_AND_COUNT] = ((int64_t)window->target << 32) | window->chunk_count;
    words[WORD_SHARD] = window->shard;
    words[WORD_NEWS] = news;
    words[WORD_BAND_FIRST] = window->band_first;
    words[WORD_BAND_COUNT] = window->band_count;
    words[WORD_LOAD_FIRST] = load->first;
    words[WORD_LOAD_COUNT] = load->count;
    memcpy(words + WORD_CHUNKS, window->chunks, (size_t)window->chunk_count * sizeof words[0]);
}

pp_window_news pp_window_read(pp_window *window, pp_window_load *load, const int64_t *words)
{
    window->target = (int32_t)(words[WORD_TARGET_AND_COUNT] >> 32);
    window->chunk_count = (int32_t)(words[WORD_TARGET_AND_COUNT] & INT32_MAX);
    window->shard = words[WORD_SHARD];
    window->band_first = words[WORD_BAND_FIRST];
    window->band_count = words[WORD_BAND_COUNT];
    *load = (pp_window_load){.first = words[WORD_LOAD_FIRST], .count = words[WORD_LOAD_COUNT]};
    memcpy(window->chunks, words + WORD_CHUNKS, (size_t)window->chunk_count * sizeof words[0]);
    return (pp_window_news)words[WORD_NEWS];
}

static const pp_layout *layout_of(const pp_client *client, const pp_window *window)
{
    return pp_session_context(client->session, window->target)->layout;
}

/* A move between this rank's memory and something packed: the box is its own chunk. */
static pp_move move_of(const pp_client *client, const pp_client_answer *answer, const pp_piece *piece, void *packed)
{
    const pp_view *own = &client->session->own;
    return (pp_move){
        .box = &piece->box,
        .claim = pp_view_claim(own, (size_t)piece->work),
        .ndim_most = own->claims.ndim_most,
        .chunk_box = &piece->box,
        .chunk = packed,
        .element_bytes = layout_of(client, &answer->window)->tiling.element_bytes,
    };
}

static void fill_shard(const pp_client *client, const pp_client_answer *answer, size_t first, size_t end)
{
    const pp_view *own = &client->session->own;
    pp_piece piece = {0};
    pp_box shard;
    size_t i;
    pp_tiling_shard_box(&layout_of(client, &answer->window)->tiling, answer->window.shard, &shard);
    for (i = first; i < end; i++) {
        pp_move move;
        piece.work = (int64_t)i;
        if (!pp_view_intersect(own, i, &shard, &piece.box))
            continue;
        move = move_of(client, answer, &piece, NULL);
        pp_move_fill(&move, layout_of(client, &answer->window)->fill_value);
    }
}

static void fill_chunks(const pp_client *client, pp_client_answer *answer)
{
    pp_piece piece;
    while (pp_pieces_next(&answer->pieces, &piece)) {
        pp_move move = move_of(client, answer, &piece, NULL);
        pp_move_fill(&move, layout_of(client, &answer->window)->fill_value);
    }
}

static bool begin(void *context, int number, const pp_pull_request *request)
{
    pp_client *client = context;
    pp_client_answer *answer = &client->answers[number];
    const pp_view *own = &client->session->own;
    pp_window_load load;
    pp_window_news news = pp_window_read(&answer->window, &load, request->words);
    size_t first = 0, end = 0;
    (void)pp_worklist_find(&own->list, answer->window.target, answer->window.shard, &first, &end);
    pp_pieces_init(&answer->pieces, &own->plan, &own->list, &answer->window, first, end, client->fragment_bytes);
    answer->left = load.count;
    if (news == PP_WINDOW_DATA) {
        pp_pieces_skip(&answer->pieces, load.first);
        return true;
    }
    if (news == PP_WINDOW_FILL_SHARD)
        fill_shard(client, answer, first, end);
    else
        fill_chunks(client, answer);
    return false;
}

/* Begins the next fragment of the load and returns its bytes; 0: no more. */
static size_t begin_fragment(pp_client_answer *answer)
{
    return answer->left-- > 0 ? pp_pieces_begin_fragment(&answer->pieces) : 0;
}

/* Whether the fragment that was begun is one run of this rank's memory: then it needs no buffer. */
static bool find_run(const pp_client *client, const pp_client_answer *answer, size_t bytes, void **data)
{
    pp_pieces walk = answer->pieces;
    pp_piece piece;
    pp_move move;
    if (client->session->team->has_deadline || !pp_pieces_next_in_fragment(&walk, &piece))
        return false;
    move = move_of(client, answer, &piece, NULL);
    *data = (void *)(uintptr_t)pp_move_address(&move);
    return (size_t)pp_box_element_count(&piece.box) * move.element_bytes == bytes && pp_move_is_run(&move);
}

/* Moves the pieces of the fragment that was begun between memory and packed; packed NULL: only passes over them. */
static void walk_fragment(const pp_client *client, const pp_client_answer *answer, pp_pieces *pieces,
                          pp_direction direction, unsigned char *packed)
{
    pp_piece piece;
    while (pp_pieces_next_in_fragment(pieces, &piece)) {
        pp_move move = move_of(client, answer, &piece, packed);
        if (packed == NULL)
            continue;
        pp_move_own(&move, direction);
        packed += (size_t)pp_box_element_count(&piece.box) * move.element_bytes;
    }
}

static bool pack(void *context, int number, void *buffer, pp_fragment *fragment)
{
    pp_client *client = context;
    pp_client_answer *answer = &client->answers[number];
    bool is_run;
    fragment->bytes = begin_fragment(answer);
    if (fragment->bytes == 0)
        return false;
    fragment->data = buffer;
    is_run = find_run(client, answer, fragment->bytes, &fragment->data);
    if (!is_run)
        fragment->data = buffer;
    walk_fragment(client, answer, &answer->pieces, PP_WRITING, is_run ? NULL : buffer);
    return true;
}

static bool place(void *context, int number, void *buffer, pp_fragment *fragment)
{
    pp_client *client = context;
    pp_client_answer *answer = &client->answers[number];
    fragment->bytes = begin_fragment(answer);
    if (fragment->bytes == 0)
        return false;
    answer->arriving = answer->pieces;
    answer->is_arriving_packed = !find_run(client, answer, fragment->bytes, &fragment->data);
    if (answer->is_arriving_packed)
        fragment->data = buffer;
    answer->arriving_data = fragment->data;
    walk_fragment(client, answer, &answer->pieces, PP_READING, NULL);
    return true;
}

static void unpack(void *context, int number)
{
    pp_client *client = context;
    pp_client_answer *answer = &client->answers[number];
    if (answer->is_arriving_packed)
        walk_fragment(client, answer, &answer->arriving, PP_READING, answer->arriving_data);
}

pp_pull_client pp_client_functions(pp_client *client)
{
    return (pp_pull_client){.context = client, .begin = begin, .pack = pack, .place = place, .unpack = unpack};
}

parapet_status pp_messages_build(pp_messages *messages, const pp_session *session)
{
    parapet_status status;
    *messages = (pp_messages){.counters = pp_session_context(session, 0)->counters};
    if (session->is_alone)
        return PARAPET_OK;
    if ((status = pp_allocate(&messages->client, sizeof *messages->client)) != PARAPET_OK)
        return status;
    messages->client->session = session;
    messages->client->fragment_bytes = session->fragment_bytes;
    return pp_pull_build(&messages->pull, &(pp_pull_options){.endpoint = pp_comm_endpoint(session->team->comm),
                                                             .budget = session->budget,
                                                             .fragment_bytes = session->fragment_bytes,
                                                             .client = pp_client_functions(messages->client)});
}

void pp_messages_clear(pp_messages *messages)
{
    pp_pull_figures figures;
    if (messages->pull != NULL) {
        figures = pp_pull_get_figures(messages->pull);
        messages->counters->messages_sent += figures.control_messages + figures.data_messages;
        messages->counters->message_bytes += figures.data_bytes;
    }
    pp_pull_free(messages->pull);
    pp_free(messages->client);
    *messages = (pp_messages){0};
}
