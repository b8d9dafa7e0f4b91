/* comm.h - the ranks that share a store. The only module that calls MPI.
 *
 * Depends on base. A communicator of one rank, and a program that never started MPI, need no messages: every function
 * below then returns at once.
 *
 * No rank blocks inside MPI: one that waits tests, yields, then sleeps briefly (wait.h), because ranks are often
 * oversubscribed. While a rank waits in an agreement, it keeps answering the others.
 *
 * A collective function of the library has this shape. Between two agreements, no rank leaves it alone:
 *
 *     pp_call_init(&call, "write(%s)", path);              which call this is, and with which arguments
 *     status = pp_comm_begin(comm, &call, check());        all ranks made the same call; no rank refuses
 *     if (status != PARAPET_OK) return status;             the same on every rank
 *     status = pp_comm_agree(comm, "staging", work());     no rank failed */
#ifndef PARAPET_COMM_COMM_H
#define PARAPET_COMM_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/choice.h"
#include "base/text.h"
#include "base/thread.h"

typedef struct pp_comm pp_comm;

/* [local] For this process alone. flavour.h builds one over the ranks of a caller's communicator. */
parapet_status pp_comm_build_alone(pp_comm **comm);

/* [collective] Takes NULL. After a TIMEOUT the duplicate is left to MPI, because messages may still be in transit. */
void pp_comm_free(pp_comm *comm);

int pp_comm_rank(const pp_comm *comm);
int pp_comm_size(const pp_comm *comm);

/* The longest time that an agreement waits for another rank, in seconds; 0: no limit. */
void pp_comm_set_deadline(pp_comm *comm, double seconds);

/* A deadline has passed: the ranks are no longer in step, and every agreement fails at once. */
bool pp_comm_is_lost(const pp_comm *comm);

/* [local] The ranks need not be together for a local read, but if they are lost, nobody knows what the others have
 * changed. */
parapet_status pp_comm_check_together(const pp_comm *comm);

/* Whether the deadline has passed since that time of pp_clock_seconds. */
bool pp_comm_is_overdue(const pp_comm *comm, double since);

/* Memory of a transfer or an exchange that was given up. Messages that are under way may still read and write it, so
 * it is not given back while the process lives; and by this it can be found. */
typedef struct pp_stranded {
    struct pp_stranded *before;
} pp_stranded;

void pp_comm_strand(pp_comm *comm, pp_stranded *memory);

/* The turn of a call on a store: see turn.h. */
typedef enum pp_turn_kind { PP_TURN_LOCAL, PP_TURN_COLLECTIVE } pp_turn_kind;

typedef struct pp_turn {
    pp_comm *comm; /* NULL: none was taken, or it has ended */
    struct pp_turn *outer;
    pp_turn_kind kind;
    bool is_outermost;   /* of this thread, on this communicator */
    bool is_guest;       /* lent by a call that is in a callback */
    bool is_refused;     /* when the call begins, on all ranks */
    int callbacks;       /* that this thread is in, if it is the outermost */
    pp_file_limit limit; /* held back by the first turn of a thread, until it ends */
} pp_turn;

/* A turn that ends with the block, however that is left. */
#define PP_TURN __attribute__((cleanup(pp_turn_end))) pp_turn

/* [local] Every public function on a store begins with this, before it looks at its handle: waits for the turn, or
 * refuses. After a failure there is none, and the function returns at once, also if it is collective: there is
 * nothing that could be agreed on. comm NULL: there is none. */
parapet_status pp_turn_take(pp_turn *turn, pp_comm *comm, pp_turn_kind kind);
void pp_turn_end(pp_turn *turn);     /* takes one that has ended */
void pp_turn_end_all(pp_turn *turn); /* before the communicator is freed: whoever waits for a turn is refused */

/* [local] For what takes no turn: refuses in a callback of a call on this store. */
parapet_status pp_turn_check(const pp_comm *comm);

/* [local] Refuses to wait for what was started by the process that this one was forked from. */
parapet_status pp_turn_check_process(pp_comm *comm);

/* [local] Around every call of a function of the program. */
void pp_callback_begin(void);
void pp_callback_end(void);

/* [local] Waits for the call that runs beside the program, unless the caller is that call. */
void pp_comm_complete(pp_comm *comm);

/* What a rank is about to do: words for messages, the arguments that must be equal on all ranks, and a digest of all
 * of it. If there are very many arguments, only the first ones can be named; all of them are compared. */
typedef struct pp_call {
    char words[96];
    uint64_t digest;
    char prefix[48];      /* of the names of the arguments that follow */
    char arguments[1000]; /* names and values, for pp_call_find_difference */
    bool is_cut;          /* some did not fit */
} pp_call;

void pp_call_init(pp_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Arguments that must be equal on all ranks. Lists and texts may be NULL, which differs from empty ones. */
void pp_call_add_integer(pp_call *call, const char *name, int64_t value);
void pp_call_add_choice(pp_call *call, const pp_choice *choice, int value); /* told by its word */
void pp_call_add_integers(pp_call *call, const char *name, int count, const int64_t *values);
void pp_call_add_real(pp_call *call, const char *name, double value);
void pp_call_add_text(pp_call *call, const char *name, const char *text);
void pp_call_add_element(pp_call *call, const char *name, int index, const char *text); /* name[index] */
void pp_call_add_value(pp_call *call, const char *name, const void *data, size_t bytes);

/* A prefix for the names that follow: "specs[3]." */
void pp_call_within(pp_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Only goes into the digest. */
void pp_call_add(pp_call *call, const void *data, size_t bytes);

/* The first argument that differs between two ranks; false: it is not one of those that can be named. */
typedef struct pp_difference {
    char name[96], here[80], there[80];
} pp_difference;
bool pp_call_find_difference(const char *here, const char *there, pp_difference *difference);

/* [collective] Every collective function starts with this: compares the calls of all ranks, and spreads a failure.
 * Every rank returns the status of the lowest failing rank and its sentence, with "rank 3 on host: " before it. Calls
 * that differ are PARAPET_ERR_ARGUMENT: "rank 3 called write(T), rank 0 called close(T)", or, for the same call,
 * "shape[1] of create(T) is 200 on rank 3 and 100 on rank 0". */
parapet_status pp_comm_begin(pp_comm *comm, const pp_call *call, parapet_status mine);

/* [collective] What a call does first, once it has begun, if it begins with the above and not with one of the next: a
 * failure is that of the call, which has done nothing. No call that frees something may begin so, nor one that takes
 * its failure for the end of something: neither could be repeated. */
typedef parapet_status (*pp_comm_first)(void *context);
void pp_comm_set_first(pp_comm *comm, pp_comm_first first, void *context);

/* [collective] As pp_comm_begin, and nothing is done first. */
parapet_status pp_comm_begin_at_once(pp_comm *comm, const pp_call *call, parapet_status mine);

/* [collective] The same, and sets *least to the smallest of all ranks, and *common to the bits that all of them have
 * set. */
parapet_status pp_comm_begin_with(pp_comm *comm, const pp_call *call, parapet_status mine, int64_t *least,
                                  uint64_t *common);

/* [local] After a call that could not begin: whether all ranks made it, if perhaps with other arguments. */
bool pp_comm_is_same_call(const pp_comm *comm);

/* [collective] Spreads a failure within the call that began last. phase says what was being done ("staging"), for the
 * sentence when a deadline passes. After a failure the call is over: return without another agreement. */
parapet_status pp_comm_agree(pp_comm *comm, const char *phase, parapet_status mine);

/* The same as pp_comm_agree, without waiting: join, then ask until it is complete. In the meantime the rank takes
 * part in what the others still do. A transfer ends this way. */
void pp_comm_join(pp_comm *comm, const char *phase, parapet_status mine);
/* Joins with the news that a rank has not answered since that time of pp_clock_seconds, which counts as that of
 * joining: who waits longest is not made to wait another deadline. */
void pp_comm_join_without(pp_comm *comm, int missing, const char *phase, double since);
bool pp_comm_is_agreed(pp_comm *comm, parapet_status *status);

/* [local] Something has failed here: the others need not finish what ends with the next agreement. */
void pp_comm_abort(pp_comm *comm);

/* [local] Whether another rank has said so; takes in the messages that have arrived. */
bool pp_comm_is_aborted(pp_comm *comm);

/* [collective] Agrees, then gives every rank the bytes of rank 0 in fresh memory; free with pp_free. On rank 0 *data
 * and *bytes are what is given, and stay as they are. Same status on every rank. */
parapet_status pp_comm_share(pp_comm *comm, const char *phase, parapet_status mine, void **data, size_t *bytes);

/* [collective] The same in two halves, where the agreement that follows settles more than that the bytes arrived: all
 * agree, and learn how many bytes rank 0 has; then each gets them. The status of the second half is that of this rank
 * alone, and after a failure *data is NULL on ranks other than 0. */
parapet_status pp_comm_share_size(pp_comm *comm, const char *phase, parapet_status mine, size_t *bytes);
parapet_status pp_comm_share_bytes(pp_comm *comm, void **data, size_t bytes);

/* [collective] Agrees, and sets *value to the smallest of all ranks. */
parapet_status pp_comm_agree_min(pp_comm *comm, const char *phase, parapet_status mine, int64_t *value);

/* [collective] Agrees, and sets both numbers to those of rank 0. */
parapet_status pp_comm_agree_bcast(pp_comm *comm, const char *phase, parapet_status mine, int64_t told[2]);

/* [collective] Agrees, and sets each of the values, at most 16, to the sum over all ranks. */
parapet_status pp_comm_agree_sums(pp_comm *comm, const char *phase, parapet_status mine, int64_t *values, int count);

/* [collective] Between two agreements: sets each of the values, at most 16, to the sum over all ranks. Same status on
 * every rank only after the next agreement. */
parapet_status pp_comm_add_up(pp_comm *comm, int64_t *values, int count);

/* [collective] Agrees, and gives every rank the number of each: numbers has room for one of every rank. */
parapet_status pp_comm_agree_numbers(pp_comm *comm, const char *phase, parapet_status mine, int64_t own,
                                     int64_t *numbers);

/* [local] Whether MPI tolerates threads beside the one that calls it. */
bool pp_comm_allows_threads(void);

/* [local] Whether any thread may call MPI, several at once. */
bool pp_comm_allows_any_thread(void);

/* [local] The flavour of this library: "mpich", "openmpi", or "serial" without MPI. */
const char *pp_comm_flavour(void);

/* [local] Name and version of the MPI library, on one line. */
void pp_comm_print_library(pp_text *text);

#endif
