/* A simulation that may be killed at any moment and continued on any number of ranks: heat in a square plate, with
 * checkpoints to restart from, and a series of maps that xarray can open during the run.
 *
 *     mpiexec -n 4 ./07_heat_restart heat.zarr 400 64 20 5
 *         computes 400 steps of 64 x 64 cells, with a checkpoint every 20 steps and a map every 5 steps
 *     mpiexec -n 3 ./07_heat_restart heat.zarr 800 64 20 5
 *         continues at step 400, or wherever the first run was killed
 *     python -c 'import xarray; print(xarray.open_zarr("heat.zarr/history"))'
 *
 * The series is flushed before a checkpoint is committed. So whichever checkpoint a restart finds, the series has all
 * maps up to it; maps that it already has beyond the checkpoint are not appended again. */
#include <inttypes.h>
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double seconds_per_step = 0.1, diffusion = 0.2;

/* The block of this rank. Its cells are surrounded by a halo: cells of the neighbours, or the edge of the plate. */
typedef struct plate {
    int64_t grid[2], start[2], count[2], strides[2];
    double *cells, *next;
    MPI_Comm mesh;
    int neighbours[2][2]; /* along each dimension: before, after */
    MPI_Datatype column;
} plate;

static double *cell(const plate *self, double *memory, int64_t row, int64_t column)
{
    return memory + (row + 1) * (self->count[1] + 2) + column + 1;
}

static double *build_cells(const plate *self)
{
    double *memory = calloc((size_t)((self->count[0] + 2) * (self->count[1] + 2)), sizeof *memory);
    if (memory == NULL)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int64_t i = 0; i < self->count[0]; i++)
        for (int64_t j = 0; j < self->count[1]; j++)
            *cell(self, memory, i, j) = (double)((self->start[0] + i) * 7 % 100 + (self->start[1] + j) * 3 % 50);
    for (int64_t j = -1; self->start[0] == 0 && j <= self->count[1]; j++)
        *cell(self, memory, -1, j) = 100; /* the first row of the plate is held hot, the other edges at 0 */
    return memory;
}

static void build_plate(plate *self, int64_t grid)
{
    int size, rank, sides[2] = {0}, periods[2] = {0}, place[2];
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, sides);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periods, 0, &self->mesh);
    MPI_Comm_rank(self->mesh, &rank);
    MPI_Cart_coords(self->mesh, rank, 2, place);
    for (int d = 0; d < 2; d++) {
        self->grid[d] = grid;
        self->start[d] = grid * place[d] / sides[d];
        self->count[d] = grid * (place[d] + 1) / sides[d] - self->start[d];
        MPI_Cart_shift(self->mesh, d, 1, &self->neighbours[d][0], &self->neighbours[d][1]);
    }
    self->strides[0] = (self->count[1] + 2) * (int64_t)sizeof(double);
    self->strides[1] = sizeof(double);
    self->cells = build_cells(self);
    self->next = build_cells(self);
    MPI_Type_vector((int)self->count[0], 1, (int)self->count[1] + 2, MPI_DOUBLE, &self->column);
    MPI_Type_commit(&self->column);
}

static void free_plate(plate *self)
{
    free(self->cells);
    free(self->next);
    MPI_Type_free(&self->column);
    MPI_Comm_free(&self->mesh);
}

static void exchange_halo(plate *self)
{
    const int64_t last[2] = {self->count[0] - 1, self->count[1] - 1};
    for (int d = 0; d < 2; d++) {
        MPI_Datatype type = d == 0 ? MPI_DOUBLE : self->column;
        int count = d == 0 ? (int)self->count[1] : 1, before = self->neighbours[d][0], after = self->neighbours[d][1];
        double *first_own = cell(self, self->cells, 0, 0);
        double *last_own = cell(self, self->cells, d == 0 ? last[0] : 0, d == 1 ? last[1] : 0);
        double *first_halo = cell(self, self->cells, d == 0 ? -1 : 0, d == 1 ? -1 : 0);
        double *last_halo = cell(self, self->cells, d == 0 ? last[0] + 1 : 0, d == 1 ? last[1] + 1 : 0);
        MPI_Sendrecv(first_own, count, type, before, 0, last_halo, count, type, after, 0, self->mesh,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(last_own, count, type, after, 1, first_halo, count, type, before, 1, self->mesh,
                     MPI_STATUS_IGNORE);
    }
}

static void advance(plate *self)
{
    const int64_t row = self->count[1] + 2;
    double *memory = self->cells;
    exchange_halo(self);
    for (int64_t i = 0; i < self->count[0]; i++) {
        const double *old = cell(self, self->cells, i, 0);
        double *new = cell(self, self->next, i, 0);
        for (int64_t j = 0; j < self->count[1]; j++)
            new[j] = old[j] + diffusion *(old[j - row] + old[j + row] + old[j - 1] + old[j + 1] - 4 * old[j]);
    }
    self->cells = self->next;
    self->next = memory;
}

static parapet_part part_of(const plate *self)
{
    return (parapet_part){.ndim = 2,
                          .start = self->start,
                          .count = self->count,
                          .data = cell(self, self->cells, 0, 0),
                          .strides_bytes = self->strides};
}

/* Does not depend on how the plate is divided; 0 on all ranks but the first. */
static uint64_t checksum(const plate *self)
{
    uint64_t sum = 0, total = 0, bits;
    for (int64_t i = 0; i < self->count[0]; i++)
        for (int64_t j = 0; j < self->count[1]; j++) {
            memcpy(&bits, cell(self, self->cells, i, j), sizeof bits);
            sum += bits * (uint64_t)(2 * ((self->start[0] + i) * self->grid[1] + self->start[1] + j) + 1);
        }
    MPI_Reduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, 0, self->mesh);
    return total;
}

/* ---- Checkpoints ---- */

static parapet_status save(parapet_store *store, const plate *self, int64_t step)
{
    parapet_part part = part_of(self);
    parapet_array_spec spec = {.type = PARAPET_FLOAT64, .ndim = 2, .shape = self->grid};
    parapet_checkpoint_item item = {.name = "temperature", .spec = &spec, .parts = &part, .part_count = 1};
    parapet_checkpoint *checkpoint = NULL;
    parapet_status status;
    char number[32];
    snprintf(number, sizeof number, "%" PRId64, step);
    if ((status = parapet_checkpoint_begin(&checkpoint, store, "restart", NULL)) != PARAPET_OK)
        return status;
    if ((status = parapet_checkpoint_put(checkpoint, &item, 1)) == PARAPET_OK &&
        (status = parapet_checkpoint_attribute_set(checkpoint, "step", number)) == PARAPET_OK)
        return parapet_checkpoint_commit(&checkpoint, NULL);
    (void)parapet_checkpoint_abort(&checkpoint);
    return status;
}

/* Restores the newest checkpoint that verifies, however many ranks wrote it; if there is none, starts anew. */
static parapet_status restore(parapet_store *store, plate *self, int64_t *step)
{
    parapet_part part = part_of(self);
    parapet_checkpoint_item item = {.name = "temperature", .parts = &part, .part_count = 1};
    parapet_restore *restore = NULL;
    parapet_status status = parapet_restore_open(&restore, store, "restart", 0);
    char *number = NULL;
    *step = 0;
    if (status == PARAPET_ERR_NOT_FOUND)
        return PARAPET_OK;
    if (status == PARAPET_OK && (status = parapet_restore_get(restore, &item, 1)) == PARAPET_OK &&
        (status = parapet_restore_attribute_get(restore, "step", &number)) == PARAPET_OK)
        *step = strtoll(number, NULL, 10);
    parapet_free(number);
    parapet_restore_close(&restore);
    return status;
}

/* ---- The series ---- */

static parapet_status create_history(parapet_series **series, parapet_store *store, const plate *self)
{
    const int64_t shape[3] = {0, self->grid[0], self->grid[1]}, chunks[3] = {8, self->grid[0], self->grid[1]};
    const char *dimensions[3] = {"time", "y", "x"}, *name = "temperature";
    parapet_array_spec spec = {
        .type = PARAPET_FLOAT64, .ndim = 3, .shape = shape, .chunks = chunks, .shards = chunks};
    parapet_series_spec all = {.count = 1, .names = &name, .specs = &spec};
    spec.dimension_names = dimensions;
    spec.attributes = "{\"units\": \"degC\", \"long_name\": \"temperature of the plate\"}";
    all.attributes = "{\"Conventions\": \"CF-1.11\", \"title\": \"heat in a plate\"}";
    all.coordinate_attributes =
        "{\"units\": \"seconds since 2000-01-01 00:00:00\", \"calendar\": \"standard\", \"axis\": \"T\"}";
    return parapet_series_create(series, store, "history", &all);
}

static parapet_status open_history(parapet_series **series, parapet_store *store, const plate *self)
{
    parapet_status status = parapet_series_open(series, store, "history");
    return status == PARAPET_ERR_NOT_FOUND ? create_history(series, store, self) : status;
}

/* Appends the map with that number, unless an earlier run did. */
static parapet_status append(parapet_series *series, const plate *self, int64_t map, int64_t step)
{
    parapet_part part = part_of(self);
    parapet_step one = {.parts = &part, .part_count = 1};
    parapet_series_info info;
    parapet_status status = parapet_series_get_info(series, &info);
    if (status != PARAPET_OK || info.steps > map)
        return status;
    return parapet_series_append(series, (double)step * seconds_per_step, &one);
}

/* ---- The run ---- */

typedef struct settings {
    const char *store;
    int64_t steps, grid, checkpoint_every, map_every;
} settings;

/* *step: where the run began, then where it ended. */
static parapet_status run(parapet_store *store, parapet_series *series, plate *self, const settings *wanted,
                          int64_t *step)
{
    parapet_status status = restore(store, self, step);
    int64_t first = *step;
    for (; status == PARAPET_OK; ++*step) {
        if (*step % wanted->map_every == 0)
            status = append(series, self, *step / wanted->map_every, *step);
        if (*step > first && (*step % wanted->checkpoint_every == 0 || *step >= wanted->steps) &&
            status == PARAPET_OK && (status = parapet_series_flush(series)) == PARAPET_OK)
            status = save(store, self, *step);
        if (*step >= wanted->steps)
            break;
        advance(self);
    }
    return status;
}

static settings read_settings(int argc, char **argv)
{
    settings wanted = {.store = argc > 1 ? argv[1] : "heat.zarr"};
    int64_t *numbers[4] = {&wanted.steps, &wanted.grid, &wanted.checkpoint_every, &wanted.map_every};
    const int64_t defaults[4] = {100, 64, 20, 5};
    for (int i = 0; i < 4; i++)
        *numbers[i] = argc > i + 2 ? strtoll(argv[i + 2], NULL, 10) : defaults[i];
    return wanted;
}

int main(int argc, char **argv)
{
    settings wanted = read_settings(argc, argv);
    parapet_store *store = NULL;
    parapet_series *series = NULL;
    parapet_status status, closed;
    plate self;
    uint64_t sum;
    int64_t step = 0;
    int rank, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    build_plate(&self, wanted.grid);
    MPI_Comm_rank(self.mesh, &rank);
    if ((status = parapet_store_open(&store, self.mesh, wanted.store, PARAPET_CREATE, NULL)) == PARAPET_OK &&
        (status = open_history(&series, store, &self)) == PARAPET_OK)
        status = run(store, series, &self, &wanted, &step);
    if (status != PARAPET_OK && rank == 0)
        fprintf(stderr, "%s\n", parapet_error_message());
    closed = parapet_series_close(&series);
    parapet_store_close(&store);
    sum = checksum(&self);
    if (rank == 0 && status == PARAPET_OK)
        printf("step %" PRId64 ", checksum %016" PRIx64 "\n", step, sum);
    free_plate(&self);
    MPI_Finalize();
    return status != PARAPET_OK || closed != PARAPET_OK;
}
