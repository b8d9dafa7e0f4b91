/* A sparse exchange of one process with itself; of several ranks: parallel_exchange. */
#include "support.h"

#include "base/memory.h"
#include "comm/exchange.h"
#include "comm/flavour.h"

/* Parcels of 0, 1, 2, ... times step bytes, at most PP_PARCEL_BYTES, each filled with its number. */
typedef struct mail {
    size_t step;
    int to_send, sent, received;
    bool is_in_order;
} mail;

static size_t size_of(const mail *of, int number)
{
    size_t bytes = (size_t)number * of->step;
    return bytes < PP_PARCEL_BYTES ? bytes : PP_PARCEL_BYTES;
}

static bool send_next(void *context, int *rank, void *parcel, size_t *bytes)
{
    mail *of = context;
    if (of->sent == of->to_send)
        return false;
    *rank = 0;
    *bytes = size_of(of, of->sent);
    memset(parcel, of->sent, *bytes);
    of->sent++;
    return true;
}

static void receive_next(void *context, int source, const void *parcel, size_t bytes)
{
    mail *of = context;
    const unsigned char *data = parcel;
    size_t i;
    of->is_in_order = of->is_in_order && source == 0 && bytes == size_of(of, of->received);
    for (i = 0; i < bytes; i++)
        of->is_in_order = of->is_in_order && data[i] == of->received;
    of->received++;
}

static int refuse(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return 1;
}

static parapet_status exchange(mail *of, pp_memory_hook decide)
{
    pp_comm *comm = NULL;
    parapet_status status;
    assert_ok(pp_comm_build(&comm, MPI_COMM_NULL, 0));
    of->is_in_order = true;
    pp_memory_hook_set(decide, NULL);
    status = pp_comm_exchange(comm, &(pp_exchange){of, send_next, receive_next});
    pp_memory_hook_set(NULL, NULL);
    pp_comm_free(comm);
    return status;
}

static void test_exchange__of_nothing_ends_at_once(void **state)
{
    mail of = {0};
    (void)state;
    assert_ok(exchange(&of, NULL));
    assert_int_equal(of.received, 0);
}

static void test_exchange__parcels_to_oneself_arrive_whole_and_in_order(void **state)
{
    mail of = {.step = PP_PARCEL_BYTES / 10, .to_send = 100};
    (void)state;
    assert_ok(exchange(&of, NULL));
    assert_int_equal(of.received, 100);
    assert_true(of.is_in_order);
}

/* Whoever waits for a parcel gets it, and the failure is told at the next agreement. */
static void test_exchange__without_memory_delivers_everything_and_fails(void **state)
{
    mail of = {.step = PP_PARCEL_BYTES, .to_send = 3};
    (void)state;
    assert_fails(exchange(&of, refuse), PARAPET_ERR_MEMORY, "memory");
    assert_int_equal(of.received, 3);
    assert_true(of.is_in_order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchange__of_nothing_ends_at_once),
        cmocka_unit_test(test_exchange__parcels_to_oneself_arrive_whole_and_in_order),
        cmocka_unit_test(test_exchange__without_memory_delivers_everything_and_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
