/* Seals a finished array, then loses one of its files. Without the seal the loss would read as fill value; with
 * it, reading is an error and a check names what is missing. */
#include <parapet.h>
#include <stdio.h>

enum { LENGTH = 1000 };

static int64_t shape[1] = {LENGTH}, chunks[1] = {100}, shards[1] = {500}, start[1] = {0};
static int32_t values[LENGTH];

static parapet_status write_sealed(parapet_store *store)
{
    parapet_array_spec spec = {
        .type = PARAPET_INT32, .ndim = 1, .shape = shape, .chunks = chunks, .shards = shards, .overwrite = 1};
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = values};
    parapet_array *array = NULL;
    parapet_status status;
    if ((status = parapet_array_create(&array, store, "result", &spec)) == PARAPET_OK &&
        (status = parapet_array_write(array, &part, 1)) == PARAPET_OK)
        status = parapet_array_seal(array);
    return parapet_array_close(&array) == PARAPET_OK ? status : PARAPET_ERR_IO;
}

static int print_finding(void *context, const parapet_finding *finding)
{
    (void)context;
    printf("%s: %s\n", finding->key, finding->problem);
    return 0;
}

/* The status of reading the whole array; prints what a check finds. */
static parapet_status verify(parapet_store *store)
{
    parapet_part part = {.ndim = 1, .start = start, .count = shape, .data = values};
    parapet_check_summary summary;
    parapet_array *array = NULL;
    parapet_status status;
    if ((status = parapet_array_open(&array, store, "result")) == PARAPET_OK &&
        (status = parapet_array_check(array, PARAPET_CHECK_DATA, print_finding, NULL, &summary)) == PARAPET_OK)
        status = parapet_array_read(array, &part, 1);
    parapet_array_close(&array);
    return status;
}

int main(void)
{
    parapet_store *store = NULL;
    parapet_status before = PARAPET_ERR_IO, after = PARAPET_OK;
    if (parapet_store_open(&store, MPI_COMM_NULL, "example03.zarr", PARAPET_CREATE, NULL) == PARAPET_OK &&
        write_sealed(store) == PARAPET_OK)
        before = verify(store);
    if (before == PARAPET_OK && remove("example03.zarr/result/c/1") == 0)
        after = verify(store);
    printf("whole: %s, with a lost file: %s\n%s\n", parapet_status_name(before), parapet_status_name(after),
           parapet_error_message());
    parapet_store_close(&store);
    return before != PARAPET_OK || after != PARAPET_ERR_MISSING;
}
