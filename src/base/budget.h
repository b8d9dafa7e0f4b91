/* budget.h - a hard limit on the memory of buffers that grow with data.
 *
 * A buffer is reserved before it is allocated; what does not fit is refused before any work starts, with the limit
 * that would be enough. Safe to use from several threads.
 *
 * Fresh memory is faulted in and zeroed page by page, which takes longer than filling it. Therefore a budget may keep
 * some freed buffers for later ones of the same size. Together with the memory in use they never exceed the limit:
 * they are released when something else needs the room.
 *
 * The same holds for what its owner keeps only because it may be of use again: it is lent to the budget, which has it
 * given back when something else needs the room. So nothing is ever refused because of what is lent. */
#ifndef PARAPET_BASE_BUDGET_H
#define PARAPET_BASE_BUDGET_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/memory.h"

#define PP_SPARE_COUNT 32

typedef struct pp_spare {
    unsigned char *data;
    size_t bytes;
} pp_spare;

/* Something that is kept between uses. */
typedef struct pp_loan {
    size_t bytes;
    /* Frees it. The budget is locked: this may use neither the budget nor what belongs to it. */
    void (*give_back)(struct pp_loan *loan);
    struct pp_loan *older, *newer;
    bool is_lent; /* and not given back; only to be looked at while the budget is locked */
} pp_loan;

typedef struct pp_budget {
    size_t limit_bytes;
    atomic_size_t used_bytes;
    atomic_size_t peak_bytes;
    atomic_size_t expected_bytes; /* what will be needed in addition to what is refused */
    pthread_mutex_t mutex;        /* held to change anything here */
    size_t spare_limit_bytes, spare_bytes;
    int spare_count;
    pp_spare spares[PP_SPARE_COUNT]; /* the oldest first */
    size_t lent_bytes;
    pp_loan *oldest, *newest; /* loans */
} pp_budget;

void pp_budget_init(pp_budget *budget, size_t limit_bytes);

/* From now on keeps freed buffers, up to this many bytes in all. The budget must then be cleared. */
void pp_budget_keep_spares(pp_budget *budget, size_t bytes);
void pp_budget_clear(pp_budget *budget);

/* Takes bytes off the budget, or fails with PARAPET_ERR_MEMORY; purpose ends the sentence: "chunk buffers". */
parapet_status pp_budget_reserve(pp_budget *budget, size_t bytes, const char *purpose);
void pp_budget_release(pp_budget *budget, size_t bytes);

/* Whether this much could be reserved now, so that a caller can refuse early what would fail half-way. */
parapet_status pp_budget_check(const pp_budget *budget, size_t bytes, const char *purpose);

/* From now on the limit that a refusal names leaves room for this much more, which is known to be needed later. */
void pp_budget_expect(pp_budget *budget, size_t bytes);

/* What was reserved is lent from now on; the loan stays where it is, until it is reclaimed or given back. */
void pp_budget_lend(pp_budget *budget, pp_loan *loan);

/* The other way round: it is in use, and will not be given back. false: it has been, or was never lent. */
bool pp_budget_reclaim(pp_budget *budget, pp_loan *loan);

/* For owners of many loans that several threads use: what they know of them changes only while the budget is locked.
 */
void pp_budget_lock(pp_budget *budget);
void pp_budget_unlock(pp_budget *budget);

/* While it is locked: whether there is room for this much beside all that is in use, spare or lent, once so much of
 * what is lent is withdrawn. */
bool pp_budget_has_room(const pp_budget *budget, size_t bytes, size_t withdrawn_bytes);

/* While it is locked: lends what was not reserved before, and there is room for; and the other way round: the bytes
 * are nobody's. */
void pp_budget_offer(pp_budget *budget, pp_loan *loan);
void pp_budget_withdraw(pp_budget *budget, pp_loan *loan);

size_t pp_budget_available(const pp_budget *budget);
size_t pp_budget_used(const pp_budget *budget);
size_t pp_budget_peak(const pp_budget *budget);

/* A page-aligned buffer that was reserved; {0} is empty. */
typedef struct pp_buffer {
    unsigned char *data;
    size_t capacity;
    pp_budget *budget;
    bool wants_huge_pages; /* set by the owner before the buffer is made */
} pp_buffer;

parapet_status pp_buffer_init(pp_buffer *buffer, pp_budget *budget, size_t bytes, const char *purpose);

/* Makes room for at least this many bytes. The old contents are lost. */
parapet_status pp_buffer_ensure(pp_buffer *buffer, size_t bytes, const char *purpose);
void pp_buffer_free(pp_buffer *buffer);

#endif
