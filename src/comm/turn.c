#include "comm/turn.h"

#include "base/thread.h"
#include "comm/internal.h"

/* Those of the calling thread, the newest first. */
static _Thread_local pp_turn *newest;

/* What was started and runs on the calling thread. */
static _Thread_local const pp_call_turns *here;

static const char in_callback[] = "a callback cannot make a call on the store whose call it is in; note what is to "
                                  "be done, and do it when that call "
                                  "has returned";

static const char on_thread[] = "another thread is inside a call on this store; make all calls on a store, except "
                                "local reads, on one thread at a "
                                "time";

static void init_locks(pp_call_turns *turns)
{
    (void)pthread_mutex_init(&turns->mutex, NULL);
    (void)pthread_cond_init(&turns->has_changed, NULL);
}

void pp_call_turns_init(pp_call_turns *turns)
{
    turns->forks = pp_thread_forks();
    init_locks(turns);
}

/* ---- What runs beside the program ---- */

static void wait_until_over(pp_call_turns *turns)
{
    (void)pthread_mutex_lock(&turns->mutex);
    while (turns->is_running)
        (void)pthread_cond_wait(&turns->has_changed, &turns->mutex);
    (void)pthread_mutex_unlock(&turns->mutex);
}

static void join_thread(pp_call_turns *turns)
{
    wait_until_over(turns);
    if (turns->has_thread)
        (void)pthread_join(turns->thread, NULL);
    turns->has_thread = false;
}

/* Whoever still waits for a turn leaves first. */
void pp_call_turns_clear(pp_call_turns *turns)
{
    join_thread(turns);
    (void)pthread_mutex_lock(&turns->mutex);
    turns->is_closing = true;
    (void)pthread_cond_broadcast(&turns->has_changed);
    while (turns->waiting > 0)
        (void)pthread_cond_wait(&turns->has_changed, &turns->mutex);
    (void)pthread_mutex_unlock(&turns->mutex);
    (void)pthread_cond_destroy(&turns->has_changed);
    (void)pthread_mutex_destroy(&turns->mutex);
}

static void set_running(pp_call_turns *turns, bool is_running)
{
    (void)pthread_mutex_lock(&turns->mutex);
    turns->is_running = is_running;
    if (!is_running)
        (void)pthread_cond_broadcast(&turns->has_changed);
    (void)pthread_mutex_unlock(&turns->mutex);
}

static void *run_thread(void *argument)
{
    pp_call_turns *turns = argument;
    here = turns;
    turns->run(turns->context);
    set_running(turns, false);
    return NULL;
}

void pp_comm_run_beside(pp_comm *comm, void (*run)(void *context), void *context, bool has_thread)
{
    pp_call_turns *turns = &comm->turns;
    join_thread(turns);
    turns->run = run;
    turns->context = context;
    if (has_thread) {
        set_running(turns, true);
        turns->has_thread = pp_thread_start(&turns->thread, run_thread, turns);
        if (turns->has_thread)
            return;
        set_running(turns, false);
    }
    run(context);
}

void pp_comm_complete(pp_comm *comm)
{
    if (here != &comm->turns)
        wait_until_over(&comm->turns);
}

/* ---- Taking a turn ---- */

/* The outermost turn that this thread has on the communicator; NULL: none. */
static pp_turn *find_own(const pp_comm *comm)
{
    pp_turn *turn, *found = NULL;
    for (turn = newest; turn != NULL; turn = turn->outer)
        if (turn->comm == comm)
            found = turn;
    return found;
}

parapet_status pp_turn_check(const pp_comm *comm)
{
    const pp_turn *own = find_own(comm);
    if (own != NULL && own->callbacks > 0)
        return pp_fail(PARAPET_ERR_ARGUMENT, "%s", in_callback);
    return PARAPET_OK;
}

static parapet_status refuse_forked(const char *why)
{
    return pp_fail(PARAPET_ERR_ARGUMENT,
                   "this process was forked from the one that opened the store, %s; open the store again here", why);
}

parapet_status pp_turn_check_process(pp_comm *comm)
{
    if (comm->turns.forks != pp_thread_forks() && comm->turns.is_running)
        return refuse_forked("while a request was running there");
    return PARAPET_OK;
}

/* A child has none of the other threads of its parent: what they were inside of never ends. Nor may it call MPI. */
static parapet_status check_process(pp_comm *comm, pp_turn_kind kind)
{
    pp_call_turns *turns = &comm->turns;
    if (turns->forks != pp_thread_forks()) {
        if (turns->is_running || (turns->is_taken && find_own(comm) == NULL))
            return refuse_forked("while a call was under way there");
        init_locks(turns);
        turns->has_guest = turns->has_thread = false;
        turns->waiting = 0;
        turns->is_inherited = true;
        turns->forks = pp_thread_forks();
    }
    if (turns->is_inherited && comm->size > 1 && kind == PP_TURN_COLLECTIVE)
        return refuse_forked("and is none of its ranks");
    return PARAPET_OK;
}

/* Other ranks can be told of a refusal only by a call that begins. */
static bool can_refuse_together(const pp_comm *comm)
{
    return comm->size > 1 && !comm->is_lost && comm->ops->is_running();
}

/* Within one that this thread has. In the visitor of a local call the ranks are free to agree that it is refused. */
static parapet_status take_within(pp_turn *turn, pp_comm *comm, const pp_turn *own)
{
    if (own->callbacks == 0)
        return PARAPET_OK;
    if (own->kind != PP_TURN_LOCAL || turn->kind != PP_TURN_COLLECTIVE || own->is_guest || !can_refuse_together(comm))
        return pp_fail(PARAPET_ERR_ARGUMENT, "%s", in_callback);
    turn->is_refused = true;
    comm->turns.refusal = in_callback;
    return PARAPET_OK;
}

static bool is_free(const pp_call_turns *turns)
{
    return !turns->is_taken && (!turns->is_running || here == turns);
}

static bool is_for_guest(const pp_call_turns *turns, const pp_turn *turn)
{
    return turn->kind == PP_TURN_LOCAL && turns->is_lent && !turns->has_guest && !turns->is_running;
}

/* Waiting while others wait for what this thread has could have no end. */
static bool holds_others_up(void)
{
    return newest != NULL && newest->callbacks == 0;
}

/* [mutex held] Whether to wait for a turn that another thread has. */
static parapet_status check_waiting(pp_turn *turn, const pp_comm *comm)
{
    const pp_call_turns *turns = &comm->turns;
    bool is_second = turn->kind == PP_TURN_COLLECTIVE && (turns->kind == PP_TURN_COLLECTIVE || turns->is_lent);
    if (turns->is_running || !turns->is_taken)
        return PARAPET_OK; /* for the thread of a request */
    if (holds_others_up() || (is_second && (turns->is_lent || !can_refuse_together(comm) || !comm->has_any_thread)))
        return pp_fail(PARAPET_ERR_ARGUMENT, "%s", on_thread);
    turn->is_refused = turn->is_refused || is_second;
    return PARAPET_OK;
}

/* [mutex held] */
static parapet_status wait_for_turn(pp_turn *turn, pp_comm *comm)
{
    pp_call_turns *turns = &comm->turns;
    parapet_status status = PARAPET_OK;
    while (!turns->is_closing && !is_free(turns) && !is_for_guest(turns, turn)) {
        if ((status = check_waiting(turn, comm)) != PARAPET_OK)
            return status;
        turns->waiting++;
        (void)pthread_cond_wait(&turns->has_changed, &turns->mutex);
        turns->waiting--;
    }
    if (!turns->is_closing)
        return PARAPET_OK;
    (void)pthread_cond_broadcast(&turns->has_changed);
    return pp_fail(PARAPET_ERR_ARGUMENT, "another thread has closed the store");
}

static parapet_status take_new(pp_turn *turn, pp_comm *comm)
{
    pp_call_turns *turns = &comm->turns;
    parapet_status status;
    (void)pthread_mutex_lock(&turns->mutex);
    status = wait_for_turn(turn, comm);
    turn->is_guest = status == PARAPET_OK && !is_free(turns);
    turn->is_outermost = status == PARAPET_OK;
    if (turn->is_guest)
        turns->has_guest = true;
    if (turn->is_outermost && !turn->is_guest) {
        turns->is_taken = true;
        turns->kind = turn->kind;
        turns->refusal = turn->is_refused ? on_thread : NULL;
    }
    (void)pthread_mutex_unlock(&turns->mutex);
    return status;
}

parapet_status pp_turn_take(pp_turn *turn, pp_comm *comm, pp_turn_kind kind)
{
    const pp_turn *own;
    parapet_status status;
    *turn = (pp_turn){.kind = kind};
    if (comm == NULL)
        return PARAPET_OK;
    if ((status = check_process(comm, kind)) != PARAPET_OK)
        return status;
    own = find_own(comm);
    if ((status = own != NULL ? take_within(turn, comm, own) : take_new(turn, comm)) != PARAPET_OK)
        return status;
    if (newest == NULL)
        pp_file_limit_hold(&turn->limit);
    turn->comm = comm;
    turn->outer = newest;
    newest = turn;
    return PARAPET_OK;
}

static void give_back(const pp_turn *turn, pp_call_turns *turns, bool is_closing)
{
    (void)pthread_mutex_lock(&turns->mutex);
    if (turn->is_guest)
        turns->has_guest = false;
    else
        turns->is_taken = false;
    turns->is_closing = turns->is_closing || is_closing;
    (void)pthread_cond_broadcast(&turns->has_changed);
    (void)pthread_mutex_unlock(&turns->mutex);
}

static void end(pp_turn *turn, bool is_closing)
{
    pp_comm *comm = turn->comm;
    if (comm == NULL)
        return;
    newest = turn->outer;
    if (newest == NULL)
        pp_file_limit_release(&turn->limit);
    turn->comm = NULL;
    if (turn->is_refused)
        comm->turns.refusal = NULL;
    if (turn->is_outermost)
        give_back(turn, &comm->turns, is_closing);
}

void pp_turn_end(pp_turn *turn)
{
    end(turn, false);
}

void pp_turn_end_all(pp_turn *turn)
{
    end(turn, true);
}

/* ---- Callbacks ---- */

static void lend(pp_call_turns *turns, bool is_lent)
{
    (void)pthread_mutex_lock(&turns->mutex);
    turns->is_lent = is_lent;
    if (is_lent)
        (void)pthread_cond_broadcast(&turns->has_changed);
    while (!is_lent && turns->has_guest)
        (void)pthread_cond_wait(&turns->has_changed, &turns->mutex);
    (void)pthread_mutex_unlock(&turns->mutex);
}

void pp_callback_begin(void)
{
    pp_turn *turn;
    for (turn = newest; turn != NULL; turn = turn->outer)
        if (turn->is_outermost && turn->callbacks++ == 0 && !turn->is_guest)
            lend(&turn->comm->turns, true);
}

void pp_callback_end(void)
{
    pp_turn *turn;
    for (turn = newest; turn != NULL; turn = turn->outer)
        if (turn->is_outermost && --turn->callbacks == 0 && !turn->is_guest)
            lend(&turn->comm->turns, false);
}
