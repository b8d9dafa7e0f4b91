/* Reads in C what Fortran wrote: along the memory the elements are 1, 2, 3, ..., modulo 97, so nothing was
 * transposed.
 *
 *     check_elements STORE COUNT     fails unless COUNT arrays are right */
#include <complex.h>
#include <parapet.h>
#include <stdio.h>
#include <stdlib.h>

static double element(const void *values, parapet_type type, int64_t i)
{
    switch (type) {
    case PARAPET_BOOL:
    case PARAPET_INT8:
        return ((const int8_t *)values)[i];
    case PARAPET_INT16:
    case PARAPET_UINT16:
        return ((const int16_t *)values)[i];
    case PARAPET_INT32:
        return ((const int32_t *)values)[i];
    case PARAPET_INT64:
        return (double)((const int64_t *)values)[i];
    case PARAPET_FLOAT32:
        return ((const float *)values)[i];
    case PARAPET_COMPLEX64:
        return crealf(((const float complex *)values)[i]);
    case PARAPET_COMPLEX128:
        return creal(((const double complex *)values)[i]);
    default:
        return ((const double *)values)[i];
    }
}

static int is_right(const void *values, parapet_type type, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (element(values, type, i) != (double)(type == PARAPET_BOOL ? (i + 1) % 97 % 2 : (i + 1) % 97))
            return 0;
    return 1;
}

/* Whether an array, read whole and in C order, has the right elements. */
static int check_array(parapet_array *array)
{
    static const int64_t zeros[PARAPET_MAX_NDIM];
    static double values[1 << 16];
    parapet_array_info info;
    int64_t count = 1;
    if (parapet_array_get_info(array, &info) != PARAPET_OK)
        return 0;
    for (int d = 0; d < info.ndim; d++)
        count *= info.shape[d];
    parapet_part all = {.ndim = info.ndim, .start = zeros, .count = info.shape, .data = values};
    return parapet_array_read(array, &all, 1) == PARAPET_OK && is_right(values, info.type, count);
}

enum { ARRAYS_MOST = 400, NAME_BYTES = 64 };

/* What a listing shows: while it is under way the arrays cannot be opened. */
typedef struct listing {
    char names[ARRAYS_MOST][NAME_BYTES];
    int count;
} listing;

static int add_child(void *context, const char *name, parapet_node_kind kind)
{
    listing *all = context;
    if (all->count == ARRAYS_MOST || kind != PARAPET_NODE_ARRAY)
        return 1;
    (void)snprintf(all->names[all->count++], NAME_BYTES, "%s", name);
    return 0;
}

static int count_right(parapet_store *store, const listing *all)
{
    int i, count = 0;
    for (i = 0; i < all->count; i++) {
        parapet_array *array = NULL;
        int right = parapet_array_open(&array, store, all->names[i]) == PARAPET_OK && check_array(array);
        if (!right)
            printf("%s: %s\n", all->names[i], parapet_error_message());
        count += right && parapet_array_close(&array) == PARAPET_OK;
    }
    return count;
}

int main(int argc, char **argv)
{
    static listing all;
    parapet_store *store = NULL;
    parapet_group *root = NULL;
    int wanted = argc == 3 ? atoi(argv[2]) : -1, right = 0;
    if (wanted < 0 || parapet_store_open(&store, MPI_COMM_NULL, argv[1], PARAPET_READ, NULL) != PARAPET_OK ||
        parapet_group_open(&root, store, "") != PARAPET_OK || parapet_group_list(root, add_child, &all) != PARAPET_OK)
        printf("%s\n", parapet_error_message());
    else
        right = count_right(store, &all);
    parapet_group_close(&root);
    parapet_store_close(&store);
    printf("%d of %d arrays are right\n", right, wanted);
    return right != wanted;
}
