/* More than one rank: refused on every rank with the same sentence, at once; one rank of many still works alone.
 * Runs under the launcher on any number of ranks; no cmocka, since every rank is a process of its own. */
#include <parapet.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void expect(int is_true, const char *what)
{
    if (is_true)
        return;
    failures++;
    fprintf(stderr, "expected: %s; the sentence is \"%s\"\n", what, parapet_error_message());
}

static void check_world(int size)
{
    parapet_store *store = NULL;
    char ranks[32];
    parapet_status status = parapet_store_open(&store, MPI_COMM_WORLD, "memory:refused", PARAPET_CREATE, NULL);
    if (size == 1) {
        expect(status == PARAPET_OK, "one rank may open a store");
    } else {
        (void)snprintf(ranks, sizeof ranks, "has %d ranks", size);
        expect(status == PARAPET_ERR_UNSUPPORTED, "PARAPET_ERR_UNSUPPORTED");
        expect(strstr(parapet_error_message(), ranks) != NULL, "the number of ranks in the sentence");
        expect(strstr(parapet_error_message(), "MPI_COMM_SELF") != NULL, "the way out in the sentence");
        expect(store == NULL, "no store");
    }
    expect(parapet_store_close(&store) == PARAPET_OK, "close takes what open left");
}

/* A refusal must leave nothing half done: each rank goes on with a store of its own. */
static void check_self(int rank)
{
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    int32_t written = rank, found = -1;
    parapet_array_spec spec = {.type = PARAPET_INT32};
    parapet_part part = {.data = &written};
    expect(parapet_store_open(&store, MPI_COMM_SELF, "memory:own", PARAPET_CREATE, NULL) == PARAPET_OK, "own store");
    expect(parapet_array_create(&array, store, "a", &spec) == PARAPET_OK, "own array");
    expect(parapet_array_write(array, &part, 1) == PARAPET_OK, "own write");
    part.data = &found;
    expect(parapet_array_read(array, &part, 1) == PARAPET_OK, "own read");
    expect(found == rank, "what was written");
    expect(parapet_array_close(&array) == PARAPET_OK, "own array closed");
    expect(parapet_store_close(&store) == PARAPET_OK, "own store closed");
}

int main(int argc, char **argv)
{
    int rank, size, all_failures = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_world(size);
    check_self(rank);
    MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all_failures != 0;
}
