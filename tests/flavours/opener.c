/* Opens a store as told and says what came of it: opener COMMUNICATOR MODE URL [COMMAND], where COMMUNICATOR is
 * world, self or null, MODE is read, create or write (an array), and COMMAND is run by rank 0 first, as a child of
 * this process; COMMAND "spawn": MPI spawns a child that opens the store in place of this process. Exit code 0: it
 * opened; 3: it was refused. */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_Comm comm_named(const char *name)
{
#ifndef PARAPET_SERIAL
    if (strcmp(name, "world") == 0)
        return MPI_COMM_WORLD;
    if (strcmp(name, "self") == 0)
        return MPI_COMM_SELF;
#endif
    (void)name;
    return MPI_COMM_NULL;
}

static parapet_status write_array(parapet_store *store)
{
    int64_t shape[1] = {8}, start[1] = {0};
    int32_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    parapet_array_spec spec = {.ndim = 1, .type = PARAPET_INT32, .shape = shape, .overwrite = 1};
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = data};
    parapet_array *array = NULL;
    parapet_status status = parapet_array_create(&array, store, "a", &spec);
    if (status == PARAPET_OK)
        status = parapet_array_write(array, &part, 1);
    (void)parapet_array_close(&array);
    return status;
}

static int open_store(char **words)
{
    parapet_mode mode = strcmp(words[2], "read") == 0 ? PARAPET_READ : PARAPET_CREATE;
    parapet_store *store = NULL;
    parapet_status status = parapet_store_open(&store, comm_named(words[1]), words[3], mode, NULL);
    if (status == PARAPET_OK && strcmp(words[2], "write") == 0)
        status = write_array(store);
    printf("%s %s: %s %s\n", words[1], words[2], parapet_status_name(status),
           status != PARAPET_OK ? parapet_error_message() : "");
    (void)fflush(stdout);
    (void)parapet_store_close(&store);
    return status == PARAPET_OK ? 0 : 3;
}

#ifndef PARAPET_SERIAL
/* The child says over the communicator to its parent what its exit code would be. */
static int open_in_child(char **words)
{
    char *given[] = {words[1], words[2], words[3], NULL};
    MPI_Comm children;
    int code = 1;
    MPI_Comm_spawn(words[0], given, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
    MPI_Recv(&code, 1, MPI_INT, 0, 1, children, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&children);
    return code;
}

static int run(int count, char **words)
{
    MPI_Comm parent = MPI_COMM_NULL;
    int code;
    MPI_Init(&count, &words);
    MPI_Comm_get_parent(&parent);
    if (count > 4 && strcmp(words[4], "spawn") == 0)
        code = open_in_child(words);
    else if (count > 4)
        code = system(words[4]) == 0 ? 0 : 3;
    else
        code = open_store(words);
    if (parent != MPI_COMM_NULL) {
        MPI_Send(&code, 1, MPI_INT, 0, 1, parent);
        MPI_Comm_disconnect(&parent);
    }
    MPI_Finalize();
    return code;
}
#endif

int main(int count, char **words)
{
    if (count < 4)
        return 2;
#ifdef PARAPET_SERIAL
    return open_store(words);
#else
    return strcmp(words[1], "null") == 0 ? open_store(words) : run(count, words);
#endif
}
