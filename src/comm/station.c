#include "comm/station.h"

#include <string.h>

static pp_neighbour *above(pp_station *station)
{
    return &station->neighbours[0];
}

static pp_neighbour *find_neighbour(pp_station *station, int rank)
{
    int i;
    for (i = 0; i <= PP_TREE_WIDTH; i++)
        if (station->neighbours[i].rank == rank)
            return &station->neighbours[i];
    return NULL;
}

void pp_station_init(pp_station *station, pp_wire *wire)
{
    int i;
    memset(station, 0, sizeof *station);
    station->wire = wire;
    station->round = 1;
    above(station)->rank = wire->rank > 0 ? (wire->rank - 1) / PP_TREE_WIDTH : -1;
    for (i = 1; i <= PP_TREE_WIDTH; i++) {
        int64_t below = (int64_t)wire->rank * PP_TREE_WIDTH + i;
        station->neighbours[i].rank = below < wire->size ? (int)below : -1;
    }
}

void pp_station_clear(pp_station *station)
{
    pp_free(station->requests);
    station->requests = NULL;
}

parapet_status pp_station_allow_requests(pp_station *station, size_t request_capacity)
{
    pp_free(station->requests);
    station->request_capacity = request_capacity;
    return pp_allocate_array(&station->requests, request_capacity, sizeof station->requests[0]);
}

/* Keeps the lowest failing rank, the lowest rank whose call differs, and the smallest value. */
static void merge(pp_verdict *into, const pp_verdict *from)
{
    int32_t differing = from->digest != into->digest ? from->call_rank : from->differing_rank;
    if (from->least < into->least)
        into->least = from->least;
    if (from->failed_rank >= 0 && (into->failed_rank < 0 || from->failed_rank < into->failed_rank)) {
        into->failed_rank = from->failed_rank;
        into->status = from->status;
        memcpy(into->sentence, from->sentence, sizeof into->sentence);
    }
    if (differing >= 0 && (into->differing_rank < 0 || differing < into->differing_rank)) {
        into->differing_rank = differing;
        memcpy(into->differing_call, differing == from->call_rank ? from->call : from->differing_call,
               sizeof into->differing_call);
    }
}

void pp_station_join(pp_station *station, const pp_verdict *verdict)
{
    int i;
    station->verdict = *verdict;
    station->is_joined = true;
    station->has_reported = false;
    station->has_result = false;
    for (i = 0; i <= PP_TREE_WIDTH; i++)
        station->neighbours[i].has_reported = false;
}

static void take_reports(pp_station *station)
{
    int i;
    for (i = 1; i <= PP_TREE_WIDTH; i++) {
        pp_neighbour *below = &station->neighbours[i];
        if (!below->is_report_waiting || below->report.round > station->round)
            continue;
        below->is_report_waiting = false;
        if (below->report.round < station->round || below->has_reported)
            continue; /* came after we had given it up */
        merge(&station->verdict, &below->report.of.verdict);
        below->has_reported = true;
    }
}

static bool has_all_reports(const pp_station *station)
{
    int i;
    for (i = 1; i <= PP_TREE_WIDTH; i++)
        if (station->neighbours[i].rank >= 0 && !station->neighbours[i].has_reported)
            return false;
    return true;
}

static void send_verdict(pp_station *station, pp_neighbour *to, pp_control_kind kind)
{
    to->verdict.control.kind = (int32_t)kind;
    to->verdict.control.round = station->round;
    to->verdict.control.of.verdict = station->verdict;
    station->wire->ops->send_control(station->wire, to->rank, &to->verdict);
}

static bool have_verdicts_left(pp_station *station)
{
    int i;
    for (i = 0; i <= PP_TREE_WIDTH; i++)
        if (!station->wire->ops->is_over(station->wire, &station->neighbours[i].verdict.request))
            return false;
    return true;
}

static void finish(pp_station *station)
{
    int i;
    for (i = 1; i <= PP_TREE_WIDTH; i++)
        if (station->neighbours[i].rank >= 0)
            send_verdict(station, &station->neighbours[i], PP_CONTROL_RESULT);
    station->is_joined = false;
    station->round++;
}

bool pp_station_is_agreed(pp_station *station)
{
    if (!station->is_joined)
        return true;
    take_reports(station);
    if (!station->has_result) {
        if (!has_all_reports(station) || !have_verdicts_left(station))
            return false;
        if (above(station)->rank < 0) {
            station->has_result = true;
        } else if (!station->has_reported) {
            send_verdict(station, above(station), PP_CONTROL_REPORT);
            station->has_reported = true;
        }
    }
    if (!station->has_result || !have_verdicts_left(station))
        return false;
    finish(station);
    return true;
}

static void want_abort(pp_station *station, int64_t round, int source)
{
    int i;
    if (round < station->round || round == station->aborted_round)
        return;
    station->aborted_round = round;
    for (i = 0; i <= PP_TREE_WIDTH; i++) {
        pp_neighbour *to = &station->neighbours[i];
        if (to->rank < 0 || to->rank == source)
            continue;
        to->wants_abort = true;
        to->abort_round = round;
    }
}

static void send_aborts(pp_station *station)
{
    int i;
    for (i = 0; i <= PP_TREE_WIDTH; i++) {
        pp_neighbour *to = &station->neighbours[i];
        if (!to->wants_abort || !station->wire->ops->is_over(station->wire, &to->abort.request))
            continue;
        to->wants_abort = false;
        if (to->abort_round < station->round)
            continue; /* too late: everybody has agreed meanwhile */
        to->abort.control.kind = PP_CONTROL_ABORT;
        to->abort.control.round = to->abort_round;
        station->wire->ops->send_control(station->wire, to->rank, &to->abort);
    }
}

void pp_station_abort(pp_station *station)
{
    want_abort(station, station->round, -1);
    send_aborts(station);
}

bool pp_station_is_aborted(const pp_station *station)
{
    return station->aborted_round == station->round;
}

static void keep_request(pp_station *station, const pp_control *control, int source)
{
    size_t place = (station->request_first + station->request_count) % station->request_capacity;
    pp_waiting_request *request = &station->requests[place];
    station->request_count++;
    request->source = source;
    request->kind = control->kind;
    request->tag = control->tag;
    memcpy(request->words, control->of.words, sizeof request->words);
}

bool pp_station_next_request(pp_station *station, pp_waiting_request *request)
{
    if (station->request_count == 0)
        return false;
    *request = station->requests[station->request_first];
    station->request_first = (station->request_first + 1) % station->request_capacity;
    station->request_count--;
    return true;
}

static void dispatch(pp_station *station, const pp_control *control, int source)
{
    pp_neighbour *from;
    switch ((pp_control_kind)control->kind) {
    case PP_CONTROL_REPORT:
        from = find_neighbour(station, source);
        from->report = *control;
        from->is_report_waiting = true;
        break;
    case PP_CONTROL_RESULT:
        if (station->is_joined && control->round == station->round) {
            station->verdict = control->of.verdict;
            station->has_result = true;
        }
        break;
    case PP_CONTROL_ABORT:
        want_abort(station, control->round, source);
        break;
    case PP_CONTROL_REQUEST:
    case PP_CONTROL_OFFER:
        keep_request(station, control, source);
        break;
    case PP_CONTROL_GRANT:
        if (station->on_grant != NULL)
            station->on_grant(station->grant_context, source, control->tag);
        break;
    }
}

bool pp_station_progress(pp_station *station)
{
    pp_control control;
    bool is_any = false;
    int source;
    while (station->wire->ops->next_control(station->wire, &control, &source)) {
        dispatch(station, &control, source);
        is_any = true;
    }
    send_aborts(station);
    return is_any;
}

int pp_station_waits_for(const pp_station *station)
{
    int i;
    for (i = 1; i <= PP_TREE_WIDTH; i++)
        if (station->neighbours[i].rank >= 0 && !station->neighbours[i].has_reported)
            return station->neighbours[i].rank;
    return station->neighbours[0].rank;
}

int pp_station_height(const pp_station *station, int rank)
{
    int64_t below = (int64_t)rank * PP_TREE_WIDTH + 1;
    int height = 0;
    for (; below < station->wire->size; below = below * PP_TREE_WIDTH + 1)
        height++;
    return height;
}

void pp_station_give_up(pp_station *station, parapet_status status, const char *sentence)
{
    bool is_below = !has_all_reports(station);
    int i;
    if (station->verdict.failed_rank < 0 || station->verdict.failed_rank == PP_RANK_UNKNOWN) {
        station->verdict.failed_rank = station->wire->rank;
        station->verdict.status = (int32_t)status;
        memset(station->verdict.sentence, 0, sizeof station->verdict.sentence);
        strncpy(station->verdict.sentence, sentence, sizeof station->verdict.sentence - 1);
    }
    for (i = 1; i <= PP_TREE_WIDTH; i++)
        station->neighbours[i].has_reported = true;
    if (!is_below)
        station->has_result = true; /* the one above is silent: this is all we will ever know */
}
