#include "transfer/point_exchange.h"

#include <string.h>

#include "base/checked.h"
#include "comm/exchange.h"

/* A home that this rank has picks for: those from first on. */
typedef struct pick_home {
    int rank; /* first, for find_rank */
    size_t first, count;
    pp_pick_stream stream;
} pick_home;

/* A rank that has picks for this home. */
typedef struct pick_sender {
    int rank; /* first, for find_rank */
    pp_pick_sums sums;
    int64_t first_place;   /* of its elements */
    int64_t arrived_picks; /* in served, from first_pick on */
    int64_t arrived_elements;
    int64_t first_pick;
    size_t moved_bytes; /* of its elements */
} pick_sender;

/* The entry of a rank in homes or senders, which are sorted by rank and have it. */
static void *find_rank(const pp_list *list, int rank)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (*(const int *)pp_list_at(list, middle) < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return pp_list_at(list, low);
}

static size_t element_bytes(const pp_point_exchange *post)
{
    return post->target->tiling->element_bytes;
}

static void note(pp_point_exchange *post, parapet_status status)
{
    pp_failure_take(&post->failure, status);
}

static bool is_well(const pp_point_exchange *post)
{
    return post->failure.status == PARAPET_OK;
}

void pp_point_exchange_init(pp_point_exchange *post, const pp_team *team, const pp_target *target,
                            const pp_indices *indices, pp_budget *budget)
{
    *post = (pp_point_exchange){.team = team, .target = target, .indices = indices, .budget = budget};
    pp_list_init(&post->sums, sizeof(pp_pick_sums), budget, "the numbers of listed elements");
    pp_list_init(&post->senders, sizeof(pick_sender), budget, "the list of ranks that list elements");
    pp_list_init(&post->own, sizeof(pp_pick), budget, "the list of elements");
    pp_list_init(&post->homes, sizeof(pick_home), budget, "the homes of listed elements");
    pp_list_init(&post->served, sizeof(pp_pick), budget,
                 "the elements that all ranks list of the shards of this one");
}

void pp_point_exchange_forget_own(pp_point_exchange *post)
{
    pp_list_clear(&post->own);
    pp_list_clear(&post->homes);
}

void pp_point_exchange_clear(pp_point_exchange *post)
{
    pp_point_exchange_forget_own(post);
    pp_list_clear(&post->sums);
    pp_list_clear(&post->senders);
    pp_list_clear(&post->served);
    pp_buffer_free(&post->data);
    post->data = (pp_buffer){0};
}

size_t pp_point_exchange_fixed_bytes(const pp_team *team, int64_t shards)
{
    size_t servers = (size_t)team->server_count, ranks = (size_t)pp_comm_size(team->comm);
    size_t homes = (size_t)pp_min_i64((int64_t)servers, shards);
    return servers * sizeof(pp_pick_sums) + homes * sizeof(pick_home) + 2 * (ranks + 1) * sizeof(pick_sender);
}

/* [collective] The first failure of any kind is kept until the next agreement. */
static void exchange(pp_point_exchange *post, bool (*next)(void *, int *, void *, size_t *),
                     void (*receive)(void *, int, const void *, size_t))
{
    post->next_home = post->next_pick = 0;
    note(post, pp_comm_exchange(post->team->comm, &(pp_exchange){.context = post, .next = next, .receive = receive}));
}

/* ---- Measuring ---- */

static int home_of(const pp_point_exchange *post, int64_t shard)
{
    return pp_home_of(post->target, shard, post->team->server_count);
}

/* Finds the homes of picks. Those of one shard mostly come together. */
typedef struct home_search {
    const pp_point_exchange *post;
    int64_t elements;    /* of a shard */
    int64_t first, home; /* stored index of the shard before, and its home; it has none at first */
} home_search;

static int64_t find_home(home_search *search, const pp_pick *pick)
{
    int64_t shard;
    if (search->first >= 0 && pick->index >= search->first && pick->index - search->first < search->elements)
        return search->home;
    shard = pick->index / search->elements;
    search->first = shard * search->elements;
    search->home = home_of(search->post, shard);
    return search->home;
}

static home_search search_homes(const pp_point_exchange *post)
{
    return (home_search){.post = post, .elements = pp_tiling_shard_elements(post->target->tiling), .first = -1};
}

static void add_up(pp_point_exchange *post, const pp_shard_range *range)
{
    pp_pick_sums *sums = pp_list_at(&post->sums, 0), *sum;
    home_search search = search_homes(post);
    pp_index_walk walk;
    pp_pick pick;
    pp_index_walk_init(&walk, post->indices, range);
    while (pp_index_walk_next(&walk, &pick)) {
        sum = &sums[find_home(&search, &pick)];
        sum->picks++;
        sum->elements += pp_pick_count(&pick);
        post->own_sums.picks++;
        post->own_sums.elements += pp_pick_count(&pick);
    }
}

static bool next_sums(void *context, int *rank, void *parcel, size_t *bytes)
{
    pp_point_exchange *post = context;
    const pp_pick_sums *sums = pp_list_at(&post->sums, 0);
    while (is_well(post) && post->next_home < post->sums.count && sums[post->next_home].picks == 0)
        post->next_home++;
    if (!is_well(post) || post->next_home == post->sums.count)
        return false;
    *rank = post->team->servers[post->next_home];
    *bytes = sizeof sums[0];
    memcpy(parcel, &sums[post->next_home++], sizeof sums[0]);
    return true;
}

static void receive_sums(void *context, int source, const void *parcel, size_t bytes)
{
    pp_point_exchange *post = context;
    pick_sender sender = {.rank = source};
    memcpy(&sender.sums, parcel, pp_min_size(bytes, sizeof sender.sums));
    note(post, pp_list_add(&post->senders, &sender));
    post->served_sums.picks += sender.sums.picks;
    post->served_sums.elements += sender.sums.elements;
}

void pp_point_exchange_measure(pp_point_exchange *post, const pp_shard_range *range)
{
    parapet_status status;
    pp_point_exchange_clear(post);
    post->own_sums = post->served_sums = (pp_pick_sums){0};
    if ((status = pp_list_reserve(&post->sums, (size_t)post->team->server_count)) == PARAPET_OK) {
        post->sums.count = (size_t)post->team->server_count;
        memset(post->sums.rows, 0, post->sums.count * post->sums.row_bytes);
        add_up(post, range);
    }
    note(post, status);
    exchange(post, next_sums, receive_sums);
}

size_t pp_point_exchange_served_bytes(const pp_point_exchange *post)
{
    size_t picks, elements, sum;
    if (post->served_sums.picks == 0)
        return 0;
    if (!pp_multiply_size_fits((size_t)post->served_sums.picks, sizeof(pp_pick), &picks) ||
        !pp_multiply_size_fits((size_t)post->served_sums.elements, element_bytes(post), &elements) ||
        !pp_add_size_fits(picks, elements, &sum) || !pp_add_size_fits(sum, (size_t)2 * PP_PAGE_BYTES, &sum))
        return SIZE_MAX;
    return sum;
}

/* ---- Picks ---- */

static uint64_t home_number(void *context, const pp_pick *pick)
{
    return (uint64_t)find_home(context, pick);
}

static parapet_status list_homes(pp_point_exchange *post)
{
    const pp_pick_sums *sums = pp_list_at(&post->sums, 0);
    size_t server, first = 0, count = 0;
    parapet_status status;
    for (server = 0; server < post->sums.count; server++)
        count += sums[server].picks > 0;
    status = pp_list_reserve(&post->homes, count);
    for (server = 0; server < post->sums.count && status == PARAPET_OK; server++) {
        pick_home home = {.rank = post->team->servers[server], .first = first, .count = (size_t)sums[server].picks};
        home.stream = (pp_pick_stream){.picks = pp_list_at(&post->own, first),
                                       .count = home.count,
                                       .element_bytes = element_bytes(post),
                                       .data = post->indices->data};
        first += home.count;
        if (home.count > 0)
            status = pp_list_add(&post->homes, &home);
    }
    return status;
}

static parapet_status collect_own(pp_point_exchange *post, const pp_shard_range *range)
{
    home_search search = search_homes(post);
    const pp_pick_order by_home = {
        .number_of = home_number, .context = &search, .most = (uint64_t)post->team->server_count};
    parapet_status status = pp_indices_collect(post->indices, range, post->own_sums.picks, &post->own, &post->rest);
    if (status != PARAPET_OK)
        return status;
    pp_picks_sort(pp_list_at(&post->own, 0), post->own.count, &by_home);
    return list_homes(post);
}

static int compare_senders(const void *left, const void *right)
{
    int a = ((const pick_sender *)left)->rank, b = ((const pick_sender *)right)->rank;
    return (a > b) - (a < b);
}

/* Room for what was announced: for each sender one after the other. */
static parapet_status make_room(pp_point_exchange *post)
{
    pp_pick_sums sums = {0};
    parapet_status status;
    size_t i;
    if ((status = pp_list_sort(&post->senders, compare_senders)) != PARAPET_OK ||
        (status = pp_list_reserve(&post->served, (size_t)post->served_sums.picks)) != PARAPET_OK)
        return status;
    for (i = 0; i < post->senders.count; i++) {
        pick_sender *sender = pp_list_at(&post->senders, i);
        sender->first_pick = sums.picks;
        sender->first_place = sums.elements;
        sums.picks += sender->sums.picks;
        sums.elements += sender->sums.elements;
    }
    post->served.count = (size_t)sums.picks;
    return pp_buffer_init(&post->data, post->budget, pp_max_size((size_t)sums.elements * element_bytes(post), 1),
                          "listed elements");
}

static bool next_picks(void *context, int *rank, void *parcel, size_t *bytes)
{
    pp_point_exchange *post = context;
    const pick_home *home;
    size_t count;
    if (!is_well(post) || post->next_home == post->homes.count)
        return false;
    home = pp_list_at(&post->homes, post->next_home);
    count = pp_min_size(home->count - post->next_pick, PP_PARCEL_BYTES / sizeof(pp_pick));
    *rank = home->rank;
    *bytes = count * sizeof(pp_pick);
    memcpy(parcel, pp_list_at(&post->own, home->first + post->next_pick), *bytes);
    post->next_pick += count;
    if (post->next_pick == home->count) {
        post->next_home++;
        post->next_pick = 0;
    }
    return true;
}

static void receive_picks(void *context, int source, const void *parcel, size_t bytes)
{
    pp_point_exchange *post = context;
    size_t i, count = bytes / sizeof(pp_pick);
    pick_sender *sender;
    pp_pick *served;
    if (!is_well(post))
        return;
    sender = find_rank(&post->senders, source);
    served = pp_list_at(&post->served, (size_t)(sender->first_pick + sender->arrived_picks));
    memcpy(served, parcel, bytes);
    for (i = 0; i < count; i++) {
        int64_t elements = pp_pick_count(&served[i]);
        served[i] = pp_pick_of(served[i].index, sender->first_place + sender->arrived_elements, elements);
        sender->arrived_elements += elements;
    }
    sender->arrived_picks += (int64_t)count;
}

void pp_point_exchange_deliver(pp_point_exchange *post, const pp_shard_range *range)
{
    parapet_status status = collect_own(post, range);
    note(post, status == PARAPET_OK ? make_room(post) : status);
    exchange(post, next_picks, receive_picks);
}

/* ---- Elements ---- */

static bool next_gathered(void *context, int *rank, void *parcel, size_t *bytes)
{
    pp_point_exchange *post = context;
    for (; is_well(post) && post->next_home < post->homes.count; post->next_home++) {
        pick_home *home = pp_list_at(&post->homes, post->next_home);
        *rank = home->rank;
        if ((*bytes = pp_picks_gather(&home->stream, parcel, PP_PARCEL_BYTES)) > 0)
            return true;
    }
    return false;
}

static void receive_elements(void *context, int source, const void *parcel, size_t bytes)
{
    pp_point_exchange *post = context;
    pick_sender *sender;
    if (!is_well(post))
        return;
    sender = find_rank(&post->senders, source);
    memcpy(post->data.data + (size_t)sender->first_place * element_bytes(post) + sender->moved_bytes, parcel, bytes);
    sender->moved_bytes += bytes;
}

void pp_point_exchange_send_elements(pp_point_exchange *post)
{
    exchange(post, next_gathered, receive_elements);
}

static bool next_returned(void *context, int *rank, void *parcel, size_t *bytes)
{
    pp_point_exchange *post = context;
    for (; is_well(post) && post->next_home < post->senders.count; post->next_home++) {
        pick_sender *sender = pp_list_at(&post->senders, post->next_home);
        size_t all = (size_t)sender->sums.elements * element_bytes(post);
        *rank = sender->rank;
        *bytes = pp_min_size(all - sender->moved_bytes, PP_PARCEL_BYTES);
        memcpy(parcel, post->data.data + (size_t)sender->first_place * element_bytes(post) + sender->moved_bytes,
               *bytes);
        sender->moved_bytes += *bytes;
        if (*bytes > 0)
            return true;
    }
    return false;
}

static void receive_returned(void *context, int source, const void *parcel, size_t bytes)
{
    pp_point_exchange *post = context;
    pick_home *home;
    if (!is_well(post))
        return;
    home = find_rank(&post->homes, source);
    (void)pp_picks_scatter(&home->stream, parcel, bytes);
}

void pp_point_exchange_return_elements(pp_point_exchange *post)
{
    exchange(post, next_returned, receive_returned);
}

bool pp_point_exchange_is_complete(const pp_point_exchange *post)
{
    size_t i;
    for (i = 0; i < post->senders.count; i++) {
        const pick_sender *sender = pp_list_at(&post->senders, i);
        if (sender->arrived_picks != sender->sums.picks)
            return false;
    }
    return is_well(post);
}

/* ---- Shared elements ---- */

/* Who listed the elements at a place. */
static int rank_of(const pp_point_exchange *post, const pp_pick *pick)
{
    size_t i;
    for (i = 0; i + 1 < post->senders.count; i++)
        if (((const pick_sender *)pp_list_at(&post->senders, i + 1))->first_place > pp_pick_place(pick))
            break;
    return ((const pick_sender *)pp_list_at(&post->senders, i))->rank;
}

static void print_element(const pp_tiling *tiling, int64_t index, pp_text *text)
{
    int64_t element[PARAPET_MAX_NDIM], flat = 0;
    int d;
    pp_stored_index_element(tiling, index, element);
    pp_text_add(text, "[");
    for (d = 0; d < tiling->shards.ndim; d++) {
        pp_text_add(text, "%s%lld", d > 0 ? ", " : "", (long long)element[d]);
        flat = flat * tiling->shards.shape[d] + element[d];
    }
    pp_text_add(text, "], flat index %lld,", (long long)flat);
}

static parapet_status refuse_shared(const pp_point_exchange *post, const pp_pick *first, const pp_pick *second)
{
    int a = rank_of(post, first), b = rank_of(post, second);
    pp_text text = {0};
    char *shown;
    parapet_status status;
    print_element(post->target->tiling, second->index, &text);
    if ((status = pp_text_finish(&text, &shown)) != PARAPET_OK)
        return status;
    if (a == b)
        status = pp_fail(PARAPET_ERR_ARGUMENT, "element %s is listed twice by rank %d", shown, a);
    else
        status = pp_fail(PARAPET_ERR_ARGUMENT, "element %s is listed by rank %d and by rank %d", shown, a < b ? a : b,
                         a < b ? b : a);
    pp_free(shown);
    return status;
}

parapet_status pp_point_exchange_check_shared(const pp_point_exchange *post)
{
    const pp_pick *picks = pp_list_at(&post->served, 0);
    size_t found = pp_picks_find_shared(picks, post->served.count);
    return found < post->served.count ? refuse_shared(post, &picks[found], &picks[found + 1]) : PARAPET_OK;
}
