/* Owner records, which stand in for locks: who is kept out, who may take over, and what is never removed. */
#include "scratch.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "store/internal.h"
#include "store/record.h"
#include "stores/faulty.h"

#define KEY "a/__parapet/lock"
#define OWN "store/a/__parapet"
#define LONG_AGO 1000000000

static pp_store *record_store(const scratch *made, bool takes_over)
{
    pp_store *store = scratch_store(made, PP_DIRECT_IO_LARGE);
    pp_store_posix_use_records(store, takes_over);
    return store;
}

static pp_lock *open_lock(pp_store *store)
{
    pp_lock *lock;
    assert_ok(pp_store_open_lock(store, KEY, &lock));
    return lock;
}

static parapet_status take(pp_lock *lock, pp_lock_byte byte)
{
    return pp_lock_set(lock, byte, PP_LOCK_EXCLUSIVE);
}

static void make_directories(const scratch *made)
{
    (void)mkdir(scratch_path(made, "store/a"), 0777);
    (void)mkdir(scratch_path(made, OWN), 0777);
}

/* A record as another process may have left it. */
static void leave_record(const scratch *made, const char *name, const pp_record *record)
{
    char text[PP_RECORD_BYTES], path[64];
    make_directories(made);
    (void)snprintf(path, sizeof path, OWN "/%s", name);
    pp_record_print(record, text);
    write_file(scratch_path(made, path), text);
}

static pp_record record_of_another_machine(void)
{
    pp_record record;
    assert_ok(pp_record_init(&record));
    record.since = LONG_AGO;
    (void)snprintf(record.process.host, sizeof record.process.host, "node12");
    (void)snprintf(record.process.boot, sizeof record.process.boot, "00000000-1111-2222-3333-444444444444");
    return record;
}

/* A number that was given to this process since: the start tells them apart. */
static pp_record record_of_a_dead_process(void)
{
    pp_record record;
    assert_ok(pp_record_init(&record));
    record.process.start--;
    return record;
}

static bool is_there(const scratch *made, const char *name)
{
    char path[64];
    (void)snprintf(path, sizeof path, OWN "/%s", name);
    return access(scratch_path(made, path), F_OK) == 0;
}

/* ---- Text ---- */

static void test_record__text_is_read_back_as_it_was(void **state)
{
    char text[PP_RECORD_BYTES], name[PP_LOCK_HOLDER_BYTES];
    pp_record record, again;
    (void)state;
    assert_ok(pp_record_init(&record));
    pp_record_print(&record, text);
    assert_true(pp_record_parse(&again, text));
    assert_string_equal(again.id, record.id);
    assert_int_equal(again.process.number, getpid());
    assert_int_equal(pp_process_judge(&again.process), PP_PROCESS_LIVES);
    record = record_of_another_machine();
    record.process.number = 4711;
    pp_record_name(&record, name);
    assert_string_equal(name, "process 4711 on node12 since 2001-09-09T01:46:40Z");
}

/* Every byte of it, exchanged or cut off: no record, or one that says the same kind of things. */
static void test_record__any_other_text_is_no_record(void **state)
{
    static const char *const others[] = {
        "",
        "\n",
        "parapet owner 1\n",
        "parapet owner 2\nid 0123456789abcdef\nprocess 1 1 on a\nboot b 1 1\nsince 1\n",
        "parapet owner 1\nid 0123456789abcde\nprocess 1 1 on a\nboot b 1 1\nsince 1\n",
        "parapet owner 1\nid 0123456789abcdef\nprocess 0 1 on a\nboot b 1 1\nsince 1\n",
        "parapet owner 1\nid 0123456789abcdef\nprocess -1 1 on a\nboot b 1 1\nsince 1\n",
        "parapet owner 1\nid 0123456789abcdef\nprocess 1 1 on a\nboot b 1 1\nsince -1\n",
        "parapet owner 1\nid 0123456789abcdef\nprocess 99999999999 1 on a\nboot b 1 1\nsince 1\n",
        "parapet owner 1\nid 0123456789abcdef\nprocess 1 1 on a\nboot b 1 1\nsince 9223372036854775807\n",
        "parapet owner 1\nid 0123456789abcdef\nprocess 1 99999999999999999999 on a\nboot b 1 1\nsince 1\n",
        "parapet owner 1\nid 0123456789abcdef\nprocess 1 1 on \033[2J\nboot b 1 1\nsince 1\n",
        "parapet owner 1\nid 0123456789abcdef\nprocess 1 1 on a/b\nboot b 1 1\nsince 1\n",
        "parapet owner 1\nid ../../../../etc\nprocess 1 1 on a\nboot b 1 1\nsince 1\n",
        "parapet owner 1\nid 0123456789abcdef\nprocess 1 1 on a\nboot b 1 1\nsince 1\nmore",
        "parapet owner 1\nid 0123456789abcdef\nprocess  1 1 on a\nboot b 1 1\nsince 1\n",
        "parapet owner 1\nid 0123456789abcdef\nprocess 01 1 on a\nboot b 1 1\nsince 1\n"};
    char text[PP_RECORD_BYTES], changed[PP_RECORD_BYTES];
    pp_record record;
    size_t i, length;
    (void)state;
    for (i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(pp_record_parse(&record, others[i]));
    assert_true(
        pp_record_parse(&record, "parapet owner 1\nid 0123456789abcdef\nprocess 1 1 on a\nboot b 1 1\nsince 1\n"));
    assert_ok(pp_record_init(&record));
    pp_record_print(&record, text);
    length = strlen(text);
    for (i = 0; i < length; i++) {
        memcpy(changed, text, sizeof changed);
        changed[i] = '\0';
        assert_false(pp_record_parse(&record, changed));
        changed[i] = (char)(text[i] ^ 0x80);
        assert_false(pp_record_parse(&record, changed));
    }
}

/* ---- Holding ---- */

static void test_record__keeps_others_out_of_long_and_short(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, false);
    pp_lock *one = open_lock(store), *two = open_lock(store);
    bool is_held;
    (void)state;
    assert_ok(pp_lock_set(one, PP_LOCK_LONG, PP_LOCK_SHARED));
    assert_fails(pp_lock_set(two, PP_LOCK_LONG, PP_LOCK_SHARED), PARAPET_ERR_BUSY, KEY); /* never shared */
    assert_ok(take(two, PP_LOCK_SHORT));
    assert_fails(take(one, PP_LOCK_SHORT), PARAPET_ERR_BUSY, KEY);
    assert_ok(pp_lock_test(one, PP_LOCK_SHORT, &is_held));
    assert_true(is_held);
    assert_ok(pp_lock_test(one, PP_LOCK_LONG, &is_held));
    assert_false(is_held); /* by somebody else */
    assert_ok(pp_lock_prove(one));
    assert_ok(pp_lock_set(one, PP_LOCK_LONG, PP_LOCK_FREE));
    assert_ok(take(two, PP_LOCK_LONG));
    assert_ok(take(two, PP_LOCK_LONG)); /* once more is fine */
    pp_lock_close(one);
    pp_lock_close(two);
    assert_int_not_equal(access(scratch_path(&made, OWN), F_OK), 0); /* nothing is left */
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_record__many_lend_a_hand(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, false);
    pp_lock *one = open_lock(store), *two = open_lock(store), *three = open_lock(store);
    bool is_held;
    (void)state;
    assert_ok(pp_lock_set(one, PP_LOCK_DELEGATES, PP_LOCK_SHARED));
    assert_ok(pp_lock_set(two, PP_LOCK_DELEGATES, PP_LOCK_SHARED));
    assert_ok(pp_lock_prove(two));
    assert_ok(pp_lock_test(three, PP_LOCK_PUBLISHING, &is_held));
    assert_false(is_held);
    pp_lock_close(one);
    assert_ok(pp_lock_test(three, PP_LOCK_DELEGATES, &is_held));
    assert_true(is_held);
    pp_lock_close(two);
    assert_ok(pp_lock_test(three, PP_LOCK_DELEGATES, &is_held));
    assert_false(is_held);
    pp_lock_close(three);
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_record__has_a_text_beside_it(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, false);
    pp_lock *lock = open_lock(store);
    pp_lock_view view;
    (void)state;
    assert_ok(take(lock, PP_LOCK_LONG));
    assert_ok(pp_lock_write(lock, "a long text about the holder"));
    assert_ok(pp_lock_write(lock, "short"));
    assert_ok(pp_store_view_lock(store, KEY, &view));
    assert_int_equal(strspn(view.text, "short"), 5);
    assert_null(strstr(view.text, "holder"));
    assert_true(view.is_held);
    assert_non_null(strstr(view.holder, "process "));
    assert_string_equal(view.advice, ""); /* it is seen to live */
    pp_lock_close(lock);
    lock = open_lock(store);
    assert_ok(pp_store_view_lock(store, KEY, &view));
    assert_false(view.is_held);
    assert_int_equal(strspn(view.text, "short"), 5);
    assert_ok(pp_lock_write(lock, ""));
    pp_lock_close(lock);
    assert_absent(store, KEY);
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_record__notices_that_it_was_removed(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, false);
    pp_lock *lock = open_lock(store), *other = open_lock(store);
    (void)state;
    assert_ok(take(lock, PP_LOCK_LONG));
    assert_int_equal(unlink(scratch_path(&made, OWN "/lock.long")), 0);
    assert_fails(pp_lock_prove(lock), PARAPET_ERR_STALE, "removed or taken over");
    assert_ok(take(other, PP_LOCK_LONG));
    assert_fails(pp_lock_prove(lock), PARAPET_ERR_STALE, "removed or taken over");
    assert_fails(take(lock, PP_LOCK_SHORT), PARAPET_ERR_STALE, "removed or taken over");
    assert_fails(pp_lock_write(lock, "lies"), PARAPET_ERR_STALE, "removed or taken over");
    pp_lock_close(lock);
    assert_ok(pp_lock_prove(other)); /* what is not ours stays */
    pp_lock_close(other);
    pp_store_free(store);
    scratch_remove(&made);
}

/* ---- Whose holder is gone ---- */

static void take_and_die(pp_store *store, pp_lock_byte byte)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        pp_lock *lock;
        if (pp_store_open_lock(store, KEY, &lock) == PARAPET_OK &&
            pp_lock_set(lock, byte, PP_LOCK_SHARED) == PARAPET_OK)
            (void)kill(getpid(), SIGKILL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void test_record__of_a_killed_process_keeps_nobody_out(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, false);
    pp_lock *lock;
    bool is_held;
    int byte, times;
    (void)state;
    for (byte = 0; byte < PP_LOCK_BYTES; byte++)
        for (times = 0; times < 3; times++)
            take_and_die(store, (pp_lock_byte)byte);
    lock = open_lock(store);
    assert_ok(take(lock, PP_LOCK_LONG));
    assert_ok(take(lock, PP_LOCK_SHORT));
    assert_ok(pp_lock_test(lock, PP_LOCK_DELEGATES, &is_held));
    assert_false(is_held);
    assert_ok(pp_lock_test(lock, PP_LOCK_PUBLISHING, &is_held));
    assert_false(is_held);
    assert_ok(pp_lock_prove(lock));
    assert_int_equal(entry_count(scratch_path(&made, OWN)), 2); /* its own */
    pp_lock_close(lock);
    assert_int_not_equal(access(scratch_path(&made, OWN), F_OK), 0);
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_record__of_a_process_that_was_not_waited_for_keeps_nobody_out(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, false);
    pp_lock *lock = open_lock(store);
    int tries;
    pid_t child = fork();
    (void)state;
    if (child == 0) {
        pp_lock *held;
        _exit(pp_store_open_lock(store, KEY, &held) != PARAPET_OK || take(held, PP_LOCK_LONG) != PARAPET_OK);
    }
    for (tries = 0; tries < 60000 && (!is_there(&made, "lock.long") || take(lock, PP_LOCK_LONG) != PARAPET_OK);
         tries++)
        usleep(1000);
    assert_ok(take(lock, PP_LOCK_LONG));
    assert_int_equal(waitpid(child, NULL, 0), child);
    pp_lock_close(lock);
    pp_store_free(store);
    scratch_remove(&made);
}

static void test_record__whose_number_was_given_again_keeps_nobody_out(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, false);
    pp_record dead = record_of_a_dead_process();
    pp_lock *lock = open_lock(store);
    (void)state;
    leave_record(&made, "lock.long", &dead);
    assert_ok(take(lock, PP_LOCK_LONG));
    assert_ok(pp_lock_prove(lock));
    pp_lock_close(lock);
    pp_store_free(store);
    scratch_remove(&made);
}

/* Whoever was killed while taking over is followed in turn; and what is left of that goes. */
static void test_record__a_chain_of_dead_ones_is_followed_to_its_end(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, false);
    pp_record first = record_of_a_dead_process(), second = record_of_a_dead_process(),
              new = record_of_a_dead_process();
    pp_lock *lock = open_lock(store), *other = open_lock(store);
    char name[64];
    bool is_held;
    (void)state;
    leave_record(&made, "lock.long", &first);
    (void)snprintf(name, sizeof name, "lock.long.%s", first.id);
    leave_record(&made, name, &second);
    (void)snprintf(name, sizeof name, "lock.new.%s", new.id);
    leave_record(&made, name, &new);
    assert_ok(take(lock, PP_LOCK_LONG));
    assert_fails(take(other, PP_LOCK_LONG), PARAPET_ERR_BUSY, KEY);
    assert_ok(pp_lock_test(lock, PP_LOCK_DELEGATES, &is_held));
    assert_int_equal(entry_count(scratch_path(&made, OWN)), 1);
    pp_lock_close(other);
    pp_lock_close(lock);
    assert_int_not_equal(access(scratch_path(&made, OWN), F_OK), 0);
    pp_store_free(store);
    scratch_remove(&made);
}

/* A job that follows a record which is past keeps others out before it has put its own in the first place. */
static void test_record__that_follows_a_dead_one_counts(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, false);
    pp_record dead = record_of_a_dead_process(), living;
    pp_lock *lock = open_lock(store);
    char name[64];
    (void)state;
    assert_ok(pp_record_init(&living));
    leave_record(&made, "lock.long", &dead);
    (void)snprintf(name, sizeof name, "lock.long.%s", dead.id);
    leave_record(&made, name, &living);
    assert_fails(take(lock, PP_LOCK_LONG), PARAPET_ERR_BUSY, KEY);
    assert_true(is_there(&made, "lock.long"));
    pp_lock_close(lock);
    pp_store_free(store);
    scratch_remove(&made);
}

/* Records that lead back to themselves are an error, not a loop. */
static void test_record__that_follows_itself_is_refused(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, false);
    pp_record dead = record_of_a_dead_process();
    pp_lock *lock = open_lock(store);
    pp_lock_view view;
    char name[64];
    (void)state;
    leave_record(&made, "lock.long", &dead);
    (void)snprintf(name, sizeof name, "lock.long.%s", dead.id);
    leave_record(&made, name, &dead);
    assert_fails(take(lock, PP_LOCK_LONG), PARAPET_ERR_CORRUPT, "remove them if no job is using the store");
    assert_fails(pp_store_view_lock(store, KEY, &view), PARAPET_ERR_CORRUPT, KEY);
    pp_lock_close(lock);
    assert_true(is_there(&made, "lock.long"));
    assert_true(is_there(&made, name));
    pp_store_free(store);
    scratch_remove(&made);
}

/* ---- Of another machine ---- */

static void test_record__of_another_machine_stays_until_it_is_taken_over(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, false), *taking = record_store(&made, true);
    pp_record foreign = record_of_another_machine(), hand = record_of_another_machine();
    pp_lock *lock = open_lock(store), *taker = open_lock(taking);
    pp_lock_view view;
    char name[64];
    bool is_held;
    (void)state;
    leave_record(&made, "lock.long", &foreign);
    (void)snprintf(name, sizeof name, "lock.delegates.%s", hand.id);
    leave_record(&made, name, &hand);
    assert_fails(take(lock, PP_LOCK_LONG), PARAPET_ERR_BUSY, KEY);
    assert_ok(pp_lock_test(lock, PP_LOCK_DELEGATES, &is_held));
    assert_true(is_held);
    assert_ok(pp_store_view_lock(store, KEY, &view));
    assert_true(view.is_held);
    assert_non_null(strstr(view.holder, "on node12 since 2001-09-09"));
    assert_non_null(strstr(view.advice, "--takeover"));
    assert_ok(take(taker, PP_LOCK_LONG));
    assert_ok(pp_lock_test(taker, PP_LOCK_DELEGATES, &is_held));
    assert_false(is_held);
    assert_ok(pp_lock_prove(taker));
    assert_fails(take(lock, PP_LOCK_LONG), PARAPET_ERR_BUSY, KEY);
    pp_lock_close(taker);
    assert_ok(take(lock, PP_LOCK_LONG));
    pp_lock_close(lock);
    pp_store_free(taking);
    pp_store_free(store);
    scratch_remove(&made);
}

/* Neither who is seen to live, nor who came later. */
static void test_record__takeover_spares_who_lives_or_came_later(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, false), *taking = record_store(&made, true);
    pp_record later = record_of_another_machine();
    pp_lock *lock = open_lock(store), *taker = open_lock(taking);
    (void)state;
    assert_ok(take(lock, PP_LOCK_LONG));
    assert_fails(take(taker, PP_LOCK_LONG), PARAPET_ERR_BUSY, KEY);
    assert_ok(pp_lock_prove(lock));
    later.since = pp_clock_wall_ns() / PP_SECOND_NS + 3600;
    leave_record(&made, "lock.short", &later);
    assert_fails(take(taker, PP_LOCK_SHORT), PARAPET_ERR_BUSY, KEY);
    pp_lock_close(taker);
    pp_lock_close(lock);
    pp_store_free(taking);
    pp_store_free(store);
    scratch_remove(&made);
}

/* A holder whose record was taken over is told so, and takes nothing away from the one who did. */
static void test_record__a_holder_notices_that_it_was_taken_over(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, false);
    pp_lock *lock = open_lock(store);
    pp_record other = record_of_another_machine();
    (void)state;
    assert_ok(take(lock, PP_LOCK_LONG));
    assert_int_equal(unlink(scratch_path(&made, OWN "/lock.long")), 0);
    leave_record(&made, "lock.long", &other);
    assert_fails(pp_lock_prove(lock), PARAPET_ERR_STALE, "taken over");
    pp_lock_close(lock);
    assert_true(is_there(&made, "lock.long"));
    pp_store_free(store);
    scratch_remove(&made);
}

/* ---- What is no record ---- */

static void test_record__what_is_none_keeps_out_and_stays(void **state)
{
    static const char *const texts[] = {"", "somebody's notes", "parapet owner 1\nid 0123456789abcdef\n"};
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, true);
    pp_lock *lock = open_lock(store);
    pp_lock_view view;
    size_t i;
    (void)state;
    make_directories(&made);
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        write_file(scratch_path(&made, OWN "/lock.long"), texts[i]);
        assert_fails(take(lock, PP_LOCK_LONG), PARAPET_ERR_BUSY, KEY);
        assert_ok(pp_store_view_lock(store, KEY, &view));
        assert_true(view.is_held);
        assert_non_null(strstr(view.advice, "a/__parapet/lock.long is not an owner record"));
        assert_file(scratch_path(&made, OWN "/lock.long"), texts[i]);
    }
    assert_int_equal(unlink(scratch_path(&made, OWN "/lock.long")), 0);
    assert_int_equal(mkdir(scratch_path(&made, OWN "/lock.long"), 0777), 0);
    assert_fails(take(lock, PP_LOCK_LONG), PARAPET_ERR_BUSY, KEY);
    assert_int_equal(rmdir(scratch_path(&made, OWN "/lock.long")), 0);
    assert_int_equal(symlink("/etc/hostname", scratch_path(&made, OWN "/lock.long")), 0);
    assert_fails(take(lock, PP_LOCK_LONG), PARAPET_ERR_BUSY, KEY);
    assert_int_equal(unlink(scratch_path(&made, OWN "/lock.long")), 0);
    assert_int_equal(mkfifo(scratch_path(&made, OWN "/lock.long"), 0666), 0);
    assert_fails(take(lock, PP_LOCK_LONG), PARAPET_ERR_BUSY, KEY);
    pp_lock_close(lock);
    assert_true(is_there(&made, "lock.long"));
    pp_store_free(store);
    scratch_remove(&made);
}

/* A dead record under a name that is not its own was put there by somebody; so was a name that is no record's. */
static void test_record__removes_only_what_is_proved_to_be_left(void **state)
{
    static const char *const foreign[] = {"lock.backup", "lock.delegates.notes", "lock.delegates.0123456789abcdef",
                                          "lock.new.0123456789abcdef", "notes"};
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, true);
    pp_record dead = record_of_a_dead_process();
    pp_lock *lock = open_lock(store);
    size_t i;
    bool is_held;
    (void)state;
    for (i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        leave_record(&made, foreign[i], &dead);
    leave_record(&made, "lock.short.0123456789abcdef", &dead);
    write_file(scratch_path(&made, OWN "/lock.long.0123456789abcdef"), "somebody's notes");
    assert_ok(take(lock, PP_LOCK_LONG));
    assert_ok(pp_lock_test(lock, PP_LOCK_DELEGATES, &is_held));
    assert_ok(pp_lock_test(lock, PP_LOCK_PUBLISHING, &is_held));
    pp_lock_close(lock);
    for (i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        assert_true(is_there(&made, foreign[i]));
    assert_true(is_there(&made, "lock.short.0123456789abcdef")); /* SHORT was not ours */
    assert_true(is_there(&made, "lock.long.0123456789abcdef"));
    pp_store_free(store);
    scratch_remove(&made);
}

/* A job that is killed between making its new record and writing it leaves an empty one. */
static void test_record__a_new_one_that_was_never_written_is_removed(void **state)
{
    static const char *const kept[] = {"lock.new.0123456789abcde0", "lock.new.0123456789abcde1",
                                       "lock.new.0123456789abcde2", "lock.new.notes",
                                       "lock.delegates.0123456789abcdef"};
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, false);
    pp_lock *lock = open_lock(store);
    size_t i;
    bool is_held;
    (void)state;
    make_directories(&made);
    write_file(scratch_path(&made, OWN "/lock.new.0123456789abcdef"), "");
    write_file(scratch_path(&made, OWN "/lock.new.0123456789abcde0"), "somebody's notes");
    assert_int_equal(mkdir(scratch_path(&made, OWN "/lock.new.0123456789abcde1"), 0777), 0);
    assert_int_equal(symlink("/dev/null", scratch_path(&made, OWN "/lock.new.0123456789abcde2")), 0);
    write_file(scratch_path(&made, OWN "/lock.new.notes"), "");
    write_file(scratch_path(&made, OWN "/lock.delegates.0123456789abcdef"), ""); /* may be somebody's */
    assert_ok(take(lock, PP_LOCK_LONG));
    assert_ok(pp_lock_test(lock, PP_LOCK_DELEGATES, &is_held));
    assert_true(is_held);
    pp_lock_close(lock);
    assert_false(is_there(&made, "lock.new.0123456789abcdef"));
    for (i = 0; i < sizeof kept / sizeof kept[0]; i++)
        assert_true(is_there(&made, kept[i]));
    pp_store_free(store);
    scratch_remove(&made);
}

/* ---- Forks and races ---- */

static void test_record__is_not_a_forked_childs(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, false);
    pp_lock *lock = open_lock(store);
    int status;
    pid_t child;
    (void)state;
    assert_ok(take(lock, PP_LOCK_LONG));
    if ((child = fork()) == 0) {
        bool is_refused = take(lock, PP_LOCK_SHORT) == PARAPET_ERR_STALE && pp_lock_prove(lock) == PARAPET_ERR_STALE;
        pp_lock_close(lock);
        _exit(is_refused ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_ok(pp_lock_prove(lock));
    pp_lock_close(lock);
    pp_store_free(store);
    scratch_remove(&made);
}

enum { RACERS = 4, ROUNDS = 60 };

/* Each takes it again and again, works on a file that only the holder may make, and now and then dies with it. */
static void race(pp_store *store, const char *inside)
{
    int round;
    for (round = 0; round < ROUNDS; round++) {
        pp_lock *lock;
        int descriptor, tries;
        if (pp_store_open_lock(store, KEY, &lock) != PARAPET_OK)
            _exit(2);
        for (tries = 0; tries < 600000 && take(lock, PP_LOCK_LONG) != PARAPET_OK; tries++)
            usleep(100);
        if (tries == 600000)
            _exit(3);
        if ((descriptor = open(inside, O_CREAT | O_EXCL | O_WRONLY, 0666)) < 0)
            _exit(4); /* somebody else is in here */
        usleep(50);
        if (unlink(inside) != 0 || close(descriptor) != 0)
            _exit(5);
        if (round == ROUNDS - 1)
            (void)kill(getpid(), SIGKILL);
        pp_lock_close(lock);
    }
}

static void test_record__is_held_by_one_at_a_time_however_many_die(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, false);
    pid_t children[RACERS * 3];
    char inside[600];
    int i, status;
    (void)state;
    (void)snprintf(inside, sizeof inside, "%s", scratch_path(&made, "inside"));
    for (i = 0; i < RACERS * 3; i++) {
        if ((children[i] = fork()) == 0)
            race(store, inside);
        if (i >= RACERS - 1) { /* so many at a time */
            assert_int_equal(waitpid(children[i - RACERS + 1], &status, 0), children[i - RACERS + 1]);
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        }
    }
    for (i = RACERS * 3 - RACERS + 1; i < RACERS * 3; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    pp_store_free(store);
    scratch_remove(&made);
}

/* A store whose locks fail: nobody is told that he holds something, and nothing stays held. */
static void test_record__failures_hold_nothing(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *inner = record_store(&made, false), *store;
    pp_fault_plan plan = {.fail_at = -1, .status = PARAPET_ERR_IO};
    pp_lock *lock, *other = NULL;
    long at;
    (void)state;
    assert_ok(pp_store_faulty_build(&store, inner, &plan));
    for (at = 0; at < 8; at++) { /* the second half takes effect before it fails */
        parapet_status status;
        plan =
            (pp_fault_plan){.fail_at = at % 4, .fail_forever = true, .fail_after = at >= 4, .status = PARAPET_ERR_IO};
        lock = NULL;
        if ((status = pp_store_open_lock(store, KEY, &lock)) == PARAPET_OK &&
            (status = take(lock, PP_LOCK_LONG)) == PARAPET_OK && (status = take(lock, PP_LOCK_SHORT)) == PARAPET_OK)
            status = pp_lock_prove(lock);
        assert_int_equal(status, PARAPET_ERR_IO);
        pp_lock_close(lock);
        assert_ok(pp_store_open_lock(inner, KEY, &other));
        assert_ok(take(other, PP_LOCK_LONG));
        assert_ok(take(other, PP_LOCK_SHORT));
        pp_lock_close(other);
    }
    pp_store_free(store);
    pp_store_free(inner);
    scratch_remove(&made);
}

/* Names that nearly are those of records: nobody holds anything by them, and nobody removes them. */
static void test_record__files_that_are_no_records_are_left_alone(void **state)
{
    static const char *const names[] = {"lock.delegatesome", "lock.delegates.0123", "lock.delegates.zzzzzzzzzzzzzzzz",
                                        "lock.other.txt", "lock.publishing.0123456789abcdeX"};
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, true);
    char longest[200] = "lock.delegates.", path[300];
    pp_lock *lock;
    bool is_held;
    size_t i;
    (void)state;
    make_directories(&made);
    memset(longest + strlen(longest), '0', sizeof longest - 1 - strlen(longest));
    (void)snprintf(path, sizeof path, OWN "/%s", longest);
    write_file(scratch_path(&made, path), "text");
    assert_int_equal(mkdir(scratch_path(&made, OWN "/lock.folder"), 0777), 0);
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(path, sizeof path, OWN "/%s", names[i]);
        write_file(scratch_path(&made, path), "text");
    }
    lock = open_lock(store);
    assert_ok(pp_lock_set(lock, PP_LOCK_DELEGATES, PP_LOCK_SHARED));
    assert_ok(pp_lock_test(lock, PP_LOCK_DELEGATES, &is_held));
    assert_false(is_held);
    assert_ok(take(lock, PP_LOCK_LONG));
    assert_ok(pp_lock_test(lock, PP_LOCK_PUBLISHING, &is_held));
    assert_false(is_held);
    pp_lock_close(lock);
    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_true(is_there(&made, names[i]));
    assert_true(is_there(&made, "lock.folder"));
    pp_store_free(store);
    scratch_remove(&made);
}

/* One of its name that is no record, because it is too long for one, belongs to somebody who is not known. */
static void test_record__a_file_that_is_too_long_for_a_record_is_held_by_somebody(void **state)
{
    scratch made = scratch_make(SCRATCH_MEMORY);
    pp_store *store = record_store(&made, true);
    char text[PP_RECORD_BYTES + 2];
    pp_lock *lock;
    bool is_held;
    (void)state;
    make_directories(&made);
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    write_file(scratch_path(&made, OWN "/lock.delegates.0123456789abcdef"), text);
    lock = open_lock(store);
    assert_ok(pp_lock_test(lock, PP_LOCK_DELEGATES, &is_held));
    assert_true(is_held);
    pp_lock_close(lock);
    assert_true(is_there(&made, "lock.delegates.0123456789abcdef"));
    pp_store_free(store);
    scratch_remove(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record__text_is_read_back_as_it_was),
        cmocka_unit_test(test_record__any_other_text_is_no_record),
        cmocka_unit_test(test_record__keeps_others_out_of_long_and_short),
        cmocka_unit_test(test_record__many_lend_a_hand),
        cmocka_unit_test(test_record__has_a_text_beside_it),
        cmocka_unit_test(test_record__notices_that_it_was_removed),
        cmocka_unit_test(test_record__of_a_killed_process_keeps_nobody_out),
        cmocka_unit_test(test_record__of_a_process_that_was_not_waited_for_keeps_nobody_out),
        cmocka_unit_test(test_record__whose_number_was_given_again_keeps_nobody_out),
        cmocka_unit_test(test_record__a_chain_of_dead_ones_is_followed_to_its_end),
        cmocka_unit_test(test_record__that_follows_a_dead_one_counts),
        cmocka_unit_test(test_record__that_follows_itself_is_refused),
        cmocka_unit_test(test_record__of_another_machine_stays_until_it_is_taken_over),
        cmocka_unit_test(test_record__takeover_spares_who_lives_or_came_later),
        cmocka_unit_test(test_record__a_holder_notices_that_it_was_taken_over),
        cmocka_unit_test(test_record__what_is_none_keeps_out_and_stays),
        cmocka_unit_test(test_record__removes_only_what_is_proved_to_be_left),
        cmocka_unit_test(test_record__a_new_one_that_was_never_written_is_removed),
        cmocka_unit_test(test_record__is_not_a_forked_childs),
        cmocka_unit_test(test_record__is_held_by_one_at_a_time_however_many_die),
        cmocka_unit_test(test_record__failures_hold_nothing),
        cmocka_unit_test(test_record__files_that_are_no_records_are_left_alone),
        cmocka_unit_test(test_record__a_file_that_is_too_long_for_a_record_is_held_by_somebody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
