/* client.h - how a rank answers the servers: it computes which of its own parts a window needs. */
#ifndef PARAPET_TRANSFER_CLIENT_H
#define PARAPET_TRANSFER_CLIENT_H

#include "comm/pull.h"
#include "transfer/move.h"
#include "transfer/session.h"

/* What a request or an offer says. */
typedef enum pp_window_news {
    PP_WINDOW_DATA = 0,
    PP_WINDOW_FILL = 1,      /* the chunks are not stored: they read as fill value */
    PP_WINDOW_FILL_SHARD = 2 /* the whole shard is not stored */
} pp_window_news;

/* Which messages of data it is about, of those that the window has for the rank. */
typedef struct pp_window_load {
    int64_t first, count;
} pp_window_load;

void pp_window_write(const pp_window *window, pp_window_news news, const pp_window_load *load, int64_t *words);
pp_window_news pp_window_read(pp_window *window, pp_window_load *load, const int64_t *words);

typedef struct pp_client_answer {
    pp_window window;
    pp_pieces pieces;
    int64_t left;       /* fragments of the load that have not begun */
    pp_pieces arriving; /* the fragment in transit, before its first piece */
    void *arriving_data;
    bool is_arriving_packed;
} pp_client_answer;

typedef struct pp_client {
    const pp_session *session;
    size_t fragment_bytes;
    pp_client_answer answers[PP_PULL_ANSWERS];
} pp_client;

/* The functions for pp_pull_build; client must outlive the pull. */
pp_pull_client pp_client_functions(pp_client *client);

/* This rank's end of the protocol, for one transfer. */
typedef struct pp_messages {
    pp_client *client;
    pp_pull *pull; /* NULL when alone */
    pp_counters *counters;
} pp_messages;

parapet_status pp_messages_build(pp_messages *messages, const pp_session *session);
void pp_messages_clear(pp_messages *messages); /* also adds its figures to the counters */

#endif
