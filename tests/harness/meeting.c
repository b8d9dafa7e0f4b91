/* meeting.c - a counter in shared memory: see meeting.h. */
#include "meeting.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* So often it is looked whether the others have come before the first sleep: they mostly come at once. */
enum { LOOKS_AT_ONCE = 200, SLEEP_NS = 50000 };

typedef struct meeting_shared {
    atomic_int arrived;
    atomic_uint turn; /* how often all have met */
    atomic_int is_dissolved;
    int64_t room[MEETING_ROOM_BYTES / 8];
} meeting_shared;

struct meeting {
    meeting_shared *shared;
    int members;
};

static meeting the_meeting; /* a process has one */

double meeting_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

meeting *meeting_open(const char *path, int members)
{
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *mapped = MAP_FAILED;
    if (descriptor >= 0 && ftruncate(descriptor, sizeof(meeting_shared)) == 0)
        mapped = mmap(NULL, sizeof(meeting_shared), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (descriptor >= 0)
        (void)close(descriptor);
    if (mapped == MAP_FAILED)
        return NULL;
    the_meeting = (meeting){.shared = mapped, .members = members};
    return &the_meeting;
}

void meeting_close(meeting *at)
{
    (void)munmap(at->shared, sizeof *at->shared);
}

void *meeting_room(meeting *at)
{
    return at->shared->room;
}

void meeting_dissolve(meeting *at)
{
    atomic_store(&at->shared->is_dissolved, 1);
}

static bool await_turn(meeting_shared *shared, unsigned turn, double patience)
{
    const struct timespec nap = {.tv_nsec = SLEEP_NS};
    double end = meeting_seconds() + patience;
    int looks;
    for (looks = 0; atomic_load(&shared->turn) == turn; looks++) {
        if (atomic_load(&shared->is_dissolved) || meeting_seconds() > end)
            return false;
        if (looks > LOOKS_AT_ONCE)
            (void)nanosleep(&nap, NULL);
    }
    return true;
}

bool meeting_wait(meeting *at, double patience)
{
    meeting_shared *shared = at->shared;
    unsigned turn = atomic_load(&shared->turn);
    if (atomic_load(&shared->is_dissolved))
        return false;
    if (atomic_fetch_add(&shared->arrived, 1) + 1 == at->members) {
        atomic_store(&shared->arrived, 0);
        (void)atomic_fetch_add(&shared->turn, 1);
        return true;
    }
    return await_turn(shared, turn, patience);
}
