/* simulated_wire.h - a network in one process: a pp_wire for each of a few ranks, on which everything that is under
 * way moves only when the test says so, in any order that MPI allows.
 *
 *   send --> left (its memory is free again) --> acknowledged (is_over says so)
 *        \-> delivered                             all three in any order that leaves before it acknowledges
 *
 * Finds for itself: memory touched before it has left, data sent before its receive was posted, lengths that differ,
 * and, at the end, anything that is still under way. */
#ifndef PARAPET_TESTS_SIMULATED_WIRE_H
#define PARAPET_TESTS_SIMULATED_WIRE_H

#include "support.h"

#include "comm/wire.h"

#define SIM_MOST_RANKS 9
#define SIM_MOST_TAGS 64
#define SIM_MOST_BYTES 64
#define SIM_MOST_SENDS 4096
#define SIM_PAIRS (SIM_MOST_RANKS * SIM_MOST_RANKS)

typedef struct sim_send {
    int source, target, tag; /* tag -1: a control message */
    const void *data;        /* of the sender, until it has left */
    size_t bytes;
    union {
        unsigned char bytes[SIM_MOST_BYTES];
        pp_control control;
    } copy;
    bool has_left, is_acknowledged, is_delivered, is_forgotten; /* forgotten: is_over has said that it is over */
    bool is_lazy;                                               /* it takes long until it is acknowledged */
    int place;                                                  /* among those not acknowledged */
    struct sim_send *following;
} sim_send;

typedef struct sim_receive {
    void *data;
    size_t bytes;
    bool is_delivered;
    struct sim_receive *following;
} sim_receive;

typedef struct sim_queue {
    sim_send *first, **end;
} sim_queue;

typedef struct sim_stream {
    sim_queue sends;
    sim_receive *receives, **receives_end;
    int send_count, receive_count;
    int place; /* among those that can move, -1: not there */
} sim_stream;

typedef struct sim_network sim_network;

typedef struct sim_wire {
    pp_wire wire;
    sim_network *network;
    sim_queue arrived; /* control messages */
} sim_wire;

/* What broke, in words; the test decides how to say it. */
typedef void (*sim_breakage)(const char *what);

struct sim_network {
    int size;
    sim_breakage breakage;
    /* Called when a control message is sent. */
    void (*on_control)(int source, int target, const pp_control *control);
    sim_wire wires[SIM_MOST_RANKS];
    sim_stream controls[SIM_PAIRS];
    sim_stream data[SIM_PAIRS][SIM_MOST_TAGS];
    sim_stream *movable[SIM_PAIRS * (SIM_MOST_TAGS + 1)];
    int movable_count;
    sim_send *pending[SIM_MOST_SENDS]; /* not acknowledged */
    int pending_count;
    sim_send sends[SIM_MOST_SENDS], *free_sends;
    sim_receive receives[SIM_MOST_SENDS], *free_receives;
    int send_count, receive_count; /* in use */
    unsigned lazy_of_16;           /* how many sends of 16 are lazy */
    unsigned started;
    int64_t calls; /* that did something: to see whether a rank moves */
    int64_t delivered_data, delivered_bytes;
};

static inline sim_stream *sim_stream_of(sim_network *network, int source, int target, int tag)
{
    int pair = source * SIM_MOST_RANKS + target;
    if (tag >= SIM_MOST_TAGS) /* that of taking, which is behind all others */
        tag = SIM_MOST_TAGS - 1;
    return tag < 0 ? &network->controls[pair] : &network->data[pair][tag];
}

static inline void sim_push(sim_queue *queue, sim_send *send)
{
    send->following = NULL;
    *queue->end = send;
    queue->end = &send->following;
}

static inline sim_send *sim_pop(sim_queue *queue)
{
    sim_send *send = queue->first;
    queue->first = send->following;
    if (queue->first == NULL)
        queue->end = &queue->first;
    return send;
}

/* Keeps the list of streams on which something can be delivered. */
static inline void sim_sort_in(sim_network *network, sim_stream *stream, bool is_control)
{
    bool is_movable = stream->send_count > 0 && (is_control || stream->receive_count > 0);
    if (is_movable && stream->place < 0) {
        stream->place = network->movable_count;
        network->movable[network->movable_count++] = stream;
    } else if (!is_movable && stream->place >= 0) {
        sim_stream *last = network->movable[--network->movable_count];
        network->movable[stream->place] = last;
        last->place = stream->place;
        stream->place = -1;
    }
}

static inline void sim_free_send(sim_network *network, sim_send *send)
{
    if (!send->is_delivered || !send->is_forgotten)
        return;
    send->following = network->free_sends;
    network->free_sends = send;
    network->send_count--;
}

static inline sim_send *sim_start(sim_network *network, int source, int target, int tag, pp_wire_request *request)
{
    sim_send *send = network->free_sends;
    sim_stream *stream = sim_stream_of(network, source, target, tag);
    if (request->is_active)
        network->breakage("a request is used again before it is over");
    if (send == NULL) {
        network->breakage("too much under way");
        abort();
    }
    network->free_sends = send->following;
    network->send_count++;
    network->calls++;
    send->source = source;
    send->target = target;
    send->tag = tag;
    send->has_left = send->is_acknowledged = send->is_delivered = send->is_forgotten = false;
    send->is_lazy = (network->started++ * 7 + 3) % 16 < network->lazy_of_16;
    send->place = network->pending_count;
    network->pending[network->pending_count++] = send;
    sim_push(&stream->sends, send);
    stream->send_count++;
    sim_sort_in(network, stream, tag < 0);
    request->handle = (uintptr_t)(send - network->sends) + 1;
    request->is_active = true;
    return send;
}

/* Only as much as the kind needs: what lies behind is not part of the message. */
static inline size_t sim_control_bytes(const pp_control *control)
{
    switch (control->kind) {
    case PP_CONTROL_REPORT:
    case PP_CONTROL_RESULT:
        return offsetof(pp_control, of) + sizeof control->of.verdict;
    case PP_CONTROL_REQUEST:
    case PP_CONTROL_OFFER:
        return offsetof(pp_control, of) + sizeof control->of.words;
    case PP_CONTROL_TAKE:
    case PP_CONTROL_NONE:
    case PP_CONTROL_GIVE:
        return offsetof(pp_control, of) + PP_STEALING_WORDS * sizeof control->of.words[0];
    default:
        return offsetof(pp_control, of);
    }
}

static inline void sim_send_control(pp_wire *wire, int rank, pp_wire_message *message)
{
    sim_network *network = ((sim_wire *)wire)->network;
    sim_send *send = sim_start(network, wire->rank, rank, -1, &message->request);
    send->data = &message->control;
    send->bytes = sim_control_bytes(&message->control);
    memcpy(&send->copy, send->data, send->bytes);
    network->on_control(wire->rank, rank, &message->control);
}

static inline void sim_send_data(pp_wire *wire, int rank, int tag, const void *data, size_t bytes,
                                 pp_wire_request *request)
{
    sim_network *network = ((sim_wire *)wire)->network;
    sim_stream *stream = sim_stream_of(network, wire->rank, rank, tag);
    sim_send *send = sim_start(network, wire->rank, rank, tag, request);
    if (stream->send_count > stream->receive_count)
        network->breakage("data is sent whose receive is not posted");
    if (bytes > SIM_MOST_BYTES)
        network->breakage("a fragment is too large");
    send->data = data;
    send->bytes = bytes;
    memcpy(send->copy.bytes, data, bytes);
}

static inline void sim_receive_data(pp_wire *wire, int rank, int tag, void *data, size_t bytes,
                                    pp_wire_request *request)
{
    sim_network *network = ((sim_wire *)wire)->network;
    sim_stream *stream = sim_stream_of(network, rank, wire->rank, tag);
    sim_receive *receive = network->free_receives;
    if (request->is_active)
        network->breakage("a request is used again before it is over");
    network->free_receives = receive->following;
    network->receive_count++;
    network->calls++;
    receive->data = data;
    receive->bytes = bytes;
    receive->is_delivered = false;
    receive->following = NULL;
    memset(data, 0xEE, bytes); /* MPI may write there from now on */
    *stream->receives_end = receive;
    stream->receives_end = &receive->following;
    stream->receive_count++;
    sim_sort_in(network, stream, false);
    request->handle = SIM_MOST_SENDS + (uintptr_t)(receive - network->receives) + 1;
    request->is_active = true;
}

static inline bool sim_is_over(pp_wire *wire, pp_wire_request *request)
{
    sim_network *network = ((sim_wire *)wire)->network;
    if (!request->is_active)
        return true;
    if (request->handle > SIM_MOST_SENDS) {
        sim_receive *receive = &network->receives[request->handle - SIM_MOST_SENDS - 1];
        if (!receive->is_delivered)
            return false;
        receive->following = network->free_receives;
        network->free_receives = receive;
        network->receive_count--;
    } else {
        sim_send *send = &network->sends[request->handle - 1];
        if (!send->is_acknowledged)
            return false;
        send->is_forgotten = true;
        sim_free_send(network, send);
    }
    network->calls++;
    request->is_active = false;
    return true;
}

static inline bool sim_next_control(pp_wire *wire, pp_control *control, int *source)
{
    sim_wire *end = (sim_wire *)wire;
    sim_send *send;
    if (end->arrived.first == NULL)
        return false;
    send = sim_pop(&end->arrived);
    memcpy(control, &send->copy, send->bytes);
    *source = send->source;
    send->is_delivered = true;
    sim_free_send(end->network, send);
    end->network->calls++;
    return true;
}

static inline void sim_leave(sim_network *network, sim_send *send)
{
    if (send->has_left)
        return;
    if (memcmp(send->data, &send->copy, send->bytes) != 0)
        network->breakage("a message was touched before it had left");
    send->has_left = true;
}

static inline void sim_acknowledge(sim_network *network, sim_send *send)
{
    sim_send *last = network->pending[--network->pending_count];
    sim_leave(network, send);
    network->pending[send->place] = last;
    last->place = send->place;
    send->is_acknowledged = true;
}

/* What has waited longest on one stream arrives. */
static inline void sim_deliver(sim_network *network, sim_stream *stream)
{
    sim_send *send = sim_pop(&stream->sends);
    sim_receive *receive = stream->receives;
    stream->send_count--;
    sim_leave(network, send);
    if (send->tag < 0) {
        sim_push(&network->wires[send->target].arrived, send);
    } else {
        stream->receives = receive->following;
        if (stream->receives == NULL)
            stream->receives_end = &stream->receives;
        stream->receive_count--;
        if (receive->bytes != send->bytes)
            network->breakage("a fragment has another length than its receive");
        memcpy(receive->data, send->copy.bytes, send->bytes);
        receive->is_delivered = true;
        network->delivered_data++;
        network->delivered_bytes += (int64_t)send->bytes;
        send->is_delivered = true;
        sim_free_send(network, send);
    }
    sim_sort_in(network, stream, send->tag < 0);
}

static inline bool sim_can_move(const sim_network *network)
{
    return network->movable_count + network->pending_count > 0;
}

/* Something that is under way moves; there must be something. */
static inline void sim_move(sim_network *network, test_random *random)
{
    int which = (int)test_random_between(random, 0, network->movable_count + network->pending_count - 1);
    sim_send *send;
    if (which < network->movable_count) {
        sim_deliver(network, network->movable[which]);
        return;
    }
    send = network->pending[which - network->movable_count];
    if (send->is_lazy && test_random_next(random) % 32 != 0)
        return;
    if (send->has_left || test_random_next(random) % 2 == 0)
        sim_acknowledge(network, send);
    else
        sim_leave(network, send);
}

static inline void sim_stream_init(sim_stream *stream)
{
    stream->sends.end = &stream->sends.first;
    stream->receives_end = &stream->receives;
    stream->place = -1;
}

/* Once per process; sim_restart then gives a network that is empty again. */
static inline void sim_init(sim_network *network, sim_breakage breakage,
                            void (*on_control)(int source, int target, const pp_control *control))
{
    int i, tag;
    memset(network, 0, sizeof *network);
    network->breakage = breakage;
    network->on_control = on_control;
    for (i = 0; i < SIM_PAIRS; i++) {
        sim_stream_init(&network->controls[i]);
        for (tag = 0; tag < SIM_MOST_TAGS; tag++)
            sim_stream_init(&network->data[i][tag]);
    }
    for (i = 0; i < SIM_MOST_SENDS; i++) {
        network->sends[i].following = network->free_sends;
        network->free_sends = &network->sends[i];
        network->receives[i].following = network->free_receives;
        network->free_receives = &network->receives[i];
    }
}

static inline void sim_restart(sim_network *network, int size, unsigned lazy_of_16)
{
    static const pp_wire_ops ops = {sim_send_control, sim_next_control, sim_send_data, sim_receive_data, sim_is_over};
    int rank;
    network->size = size;
    network->lazy_of_16 = lazy_of_16;
    network->started = 0;
    network->calls = network->delivered_data = network->delivered_bytes = 0;
    for (rank = 0; rank < size; rank++) {
        sim_wire *wire = &network->wires[rank];
        wire->wire = (pp_wire){.ops = &ops, .rank = rank, .size = size};
        wire->network = network;
        wire->arrived.first = NULL;
        wire->arrived.end = &wire->arrived.first;
    }
}

#endif
