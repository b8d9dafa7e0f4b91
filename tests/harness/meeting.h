/* meeting.h - processes of different jobs meet at a file: MPI knows nothing of it.
 *
 * The file is mapped by all of them. They meet any number of times; who waits sleeps in between, so that others can
 * work. There is room in it for what they tell each other. */
#ifndef PARAPET_TESTS_MEETING_H
#define PARAPET_TESTS_MEETING_H

#include <stdbool.h>
#include <stddef.h>

enum { MEETING_ROOM_BYTES = 65536 };

typedef struct meeting meeting;

/* Of so many members. The file is made if it does not exist; NULL: it cannot be mapped. */
meeting *meeting_open(const char *path, int members);
void meeting_close(meeting *at);

/* Waits for all members. False: one of them did not come within so many seconds, or is gone. */
bool meeting_wait(meeting *at, double patience);

/* From now on no member waits for the others any more. */
void meeting_dissolve(meeting *at);

/* What all members see; zero at first. */
void *meeting_room(meeting *at);

double meeting_seconds(void);

#endif
