/* strided.c - how fast boxes of elements move between memories of different strides.
 *
 *     bench_strided ROUNDS
 *
 * For every case and size of an element a line: NAME BYTES KERNEL MEMCPY LOOP, in GB/s of the elements that moved,
 * each the median of so many rounds, in which the three take turns. LOOP goes through the target in order, an element
 * at a time, with the size of the element known to the compiler. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "geometry/strided.h"

enum { NDIM = 3, METHODS = 3, ROUNDS_MOST = 99, REPEATS_BYTES = 1 << 26 };

/* Extents of the target, and by dimension of the target, from the slowest on, which dimension of the source it is. */
typedef struct strided_case {
    const char *name;
    int64_t count[NDIM];
    int axis[NDIM];
} strided_case;

static const strided_case cases[] = {
    {"whole rows", {64, 64, 256}, {0, 1, 2}},
    {"transposed, in cache", {1, 512, 512}, {0, 2, 1}},
    {"transposed", {1, 3000, 3000}, {0, 2, 1}},
    {"transposed, 4096 a side", {1, 4096, 4096}, {0, 2, 1}},
    {"slowest becomes fastest", {192, 192, 192}, {1, 2, 0}},
    {"all reversed", {192, 192, 192}, {2, 1, 0}},
    {"16 steps become a line", {400, 500, 16}, {1, 2, 0}},
};

typedef struct copy_case {
    pp_strided copy;
    int64_t bytes;
    int64_t source_strides[NDIM], target_strides[NDIM];
} copy_case;

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int64_t count_elements(const strided_case *of)
{
    return of->count[0] * of->count[1] * of->count[2];
}

static void set_copy(copy_case *out, const strided_case *of, size_t element_bytes, void *target, const void *source)
{
    int64_t shape[NDIM], strides[NDIM];
    int d;
    for (d = 0; d < NDIM; d++)
        shape[of->axis[d]] = of->count[d];
    pp_strides_c_order(NDIM, shape, element_bytes, strides);
    pp_strides_c_order(NDIM, of->count, element_bytes, out->target_strides);
    for (d = 0; d < NDIM; d++)
        out->source_strides[d] = strides[of->axis[d]];
    out->bytes = count_elements(of) * (int64_t)element_bytes;
    out->copy = (pp_strided){.ndim = NDIM,
                             .element_bytes = element_bytes,
                             .count = of->count,
                             .target = target,
                             .target_strides = out->target_strides,
                             .source = source,
                             .source_strides = out->source_strides};
}

/* ---- Methods ---- */

static void by_kernel(const copy_case *of)
{
    pp_strided_copy(&of->copy);
}

static void by_memcpy(const copy_case *of)
{
    memcpy(of->copy.target, of->copy.source, (size_t)of->bytes);
}

#define LOOP(element)                                                                                                \
    static void loop_##element(const copy_case *of)                                                                  \
    {                                                                                                                \
        const int64_t *count = of->copy.count, *strides = of->source_strides;                                        \
        element *target = of->copy.target;                                                                           \
        int64_t i, j, k;                                                                                             \
        for (i = 0; i < count[0]; i++)                                                                               \
            for (j = 0; j < count[1]; j++) {                                                                         \
                const char *row = (const char *)of->copy.source + i * strides[0] + j * strides[1];                   \
                for (k = 0; k < count[2]; k++, row += strides[2])                                                    \
                    *target++ = *(const element *)(const void *)row;                                                 \
            }                                                                                                        \
    }

typedef struct pair {
    uint64_t first, second;
} pair;

LOOP(uint8_t)
LOOP(uint16_t)
LOOP(uint32_t)
LOOP(uint64_t)
LOOP(pair)

static void by_loop(const copy_case *of)
{
    switch (of->copy.element_bytes) {
    case 1:
        loop_uint8_t(of);
        break;
    case 2:
        loop_uint16_t(of);
        break;
    case 4:
        loop_uint32_t(of);
        break;
    case 8:
        loop_uint64_t(of);
        break;
    default:
        loop_pair(of);
    }
}

static void (*const methods[METHODS])(const copy_case *) = {by_kernel, by_memcpy, by_loop};

/* ---- Measuring ---- */

static double measure(void (*method)(const copy_case *), const copy_case *of)
{
    int64_t repeats = 1 + REPEATS_BYTES / of->bytes, i;
    double start = now();
    for (i = 0; i < repeats; i++)
        method(of);
    return (double)(repeats * of->bytes) / (now() - start) * 1e-9;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void run_case(const strided_case *of, size_t element_bytes, int rounds, void *target, const void *source)
{
    static double found[METHODS][ROUNDS_MOST];
    copy_case made;
    int round, i;
    set_copy(&made, of, element_bytes, target, source);
    for (round = 0; round < rounds; round++)
        for (i = 0; i < METHODS; i++) {
            int method = (i + round) % METHODS;
            found[method][round] = measure(methods[method], &made);
        }
    printf("%s\t%zu", of->name, element_bytes);
    for (i = 0; i < METHODS; i++) {
        qsort(found[i], (size_t)rounds, sizeof found[i][0], compare);
        printf("\t%.2f", found[i][rounds / 2]);
    }
    printf("\n");
}

/* Kernel and loop must have done the same. */
static int check_case(const strided_case *of, size_t element_bytes, unsigned char *target,
                      const unsigned char *source)
{
    unsigned char *other;
    copy_case made;
    int differs;
    set_copy(&made, of, element_bytes, target, source);
    if ((other = malloc((size_t)made.bytes)) == NULL)
        return 1;
    by_loop(&made);
    memcpy(other, target, (size_t)made.bytes);
    memset(target, 0, (size_t)made.bytes);
    by_kernel(&made);
    differs = memcmp(other, target, (size_t)made.bytes) != 0;
    free(other);
    if (differs)
        fprintf(stderr, "bench: %s, %zu bytes: kernel and loop differ\n", of->name, element_bytes);
    return differs;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {1, 2, 4, 8, 16};
    enum { MOST = 4096 * 4096 * 16 };
    int rounds = argc > 1 ? atoi(argv[1]) : 9, failures = 0;
    unsigned char *source = malloc(MOST), *target = malloc(MOST);
    size_t i, size;
    if (source == NULL || target == NULL || rounds < 1 || rounds > ROUNDS_MOST) {
        fprintf(stderr, "bench_strided ROUNDS (1 to %d), with 512 MiB of memory\n", ROUNDS_MOST);
        return 2;
    }
    for (i = 0; i < MOST; i++)
        source[i] = (unsigned char)(i * 2654435761U >> 13);
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size = 0; size < sizeof sizes / sizeof sizes[0]; size++) {
            failures += check_case(&cases[i], sizes[size], target, source);
            run_case(&cases[i], sizes[size], rounds, target, source);
        }
    free(source);
    free(target);
    return failures > 0;
}
