/* Restores a state, or begins; computes three steps; saves it: mpiexec -n 4 restart STORE */
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>

static const int64_t shape[2] = {36, 48};

static parapet_status restore_state(parapet_store *store, const parapet_part *band, int *step)
{
    parapet_restore *restore = NULL;
    parapet_checkpoint_item item = {.name = "state", .parts = band, .part_count = 1};
    char *text = NULL;
    parapet_status status = parapet_restore_open(&restore, store, "restart", 0);
    if (status == PARAPET_ERR_NOT_FOUND)
        return PARAPET_OK;
    if (status == PARAPET_OK && (status = parapet_restore_get(restore, &item, 1)) == PARAPET_OK &&
        (status = parapet_restore_attribute_get(restore, "step", &text)) == PARAPET_OK)
        *step = atoi(text);
    parapet_free(text);
    parapet_restore_close(&restore);
    return status;
}

static parapet_status save_state(parapet_store *store, const parapet_part *band, int step)
{
    parapet_checkpoint *checkpoint = NULL;
    parapet_array_spec spec = {.ndim = 2, .type = PARAPET_FLOAT64, .shape = shape};
    parapet_checkpoint_item item = {.name = "state", .spec = &spec, .parts = band, .part_count = 1};
    char text[16];
    snprintf(text, sizeof text, "%d", step);
    if (parapet_checkpoint_begin(&checkpoint, store, "restart", NULL) == PARAPET_OK &&
        parapet_checkpoint_put(checkpoint, &item, 1) == PARAPET_OK)
        parapet_checkpoint_attribute_set(checkpoint, "step", text);
    return parapet_checkpoint_commit(&checkpoint, NULL);
}

int main(int argc, char **argv)
{
    int rank, size, step = 0, last;
    int64_t start[2], count[2];
    double state[36 * 48] = {0};
    parapet_store *store = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int64_t mesh[2] = {size, 1};
    parapet_distribution bands = {.ndim = 2, .shape = shape, .mesh = mesh};
    parapet_distribution_box(&bands, rank, 0, start, count);
    parapet_part band = {.ndim = 2, .start = start, .count = count, .data = state};
    parapet_status status = parapet_store_open(&store, MPI_COMM_WORLD, argv[1], PARAPET_UPDATE, NULL);
    if (status == PARAPET_OK && (status = restore_state(store, &band, &step)) == PARAPET_OK)
        for (last = step + 3; step < last; step++)
            for (int64_t i = 0; i < count[0] * count[1]; i++)
                state[i] = 0.5 * state[i] + (double)(start[0] * 48 + i);
    if (status != PARAPET_OK || (status = save_state(store, &band, step)) != PARAPET_OK)
        fprintf(stderr, "%s\n", parapet_error_message());
    parapet_store_close(&store);
    return MPI_Finalize() != MPI_SUCCESS || status != PARAPET_OK;
}
