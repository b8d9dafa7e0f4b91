/* Copies between the memories of two ranks: random boxes in random layouts, strides of any sign, against a naive
 * reference; and what the system refuses is said to be refused. */
#include "comm/direct.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "inside.h"

#define ROUNDS 150
#define MOST_RANKS 64
#define MOST_NDIM 5
#define ARENA_BYTES ((size_t)1 << 20)

static unsigned char source_arena[ARENA_BYTES], target_arena[ARENA_BYTES], expected_arena[ARENA_BYTES];

/* What a rank tells the others. */
typedef struct address {
    pp_identity_proof proof;
    uint64_t source, target;
} address;

static address addresses[MOST_RANKS];

/* A box in an arena: where its first element is, and how far the next ones are. */
typedef struct layout {
    int64_t start;
    int64_t strides[MOST_NDIM];
} layout;

typedef struct problem {
    int ndim;
    size_t element_bytes;
    int64_t count[MOST_NDIM];
    layout near, far;
} problem;

static unsigned char pattern(int rank, size_t offset)
{
    return (unsigned char)((offset * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)rank * 77) >> 29);
}

/* Dimensions in any order from fast to slow, with gaps, some of them backwards. */
static void draw_layout(test_random *random, const problem *of, layout *result)
{
    int order[MOST_NDIM], d, i;
    int64_t extent = (int64_t)of->element_bytes;
    bool has_gaps = test_random_between(random, 0, 1) == 1, is_c = test_random_between(random, 0, 1) == 1;
    for (d = 0; d < of->ndim; d++)
        order[d] = of->ndim - 1 - d;
    for (d = of->ndim - 1; d > 0 && !is_c; d--) {
        int other = (int)test_random_between(random, 0, d), kept = order[d];
        order[d] = order[other];
        order[other] = kept;
    }
    result->start = test_random_between(random, 0, 100);
    for (i = 0; i < of->ndim; i++) {
        d = order[i];
        if (has_gaps)
            extent += test_random_between(random, 0, 9);
        result->strides[d] = extent;
        extent *= of->count[d];
    }
    for (d = 0; d < of->ndim; d++)
        if (test_random_between(random, 0, 3) == 0) {
            result->start += result->strides[d] * (of->count[d] - 1);
            result->strides[d] = -result->strides[d];
        }
}

/* Small boxes of many dimensions, and now and then more runs than one system call takes. */
static problem draw_problem(uint64_t seed, uint64_t round, int rank)
{
    test_random random = random_of(seed, round, (uint64_t)rank, 5);
    problem drawn = {.ndim = (int)test_random_between(&random, 0, MOST_NDIM)};
    int most = drawn.ndim <= 2 ? 70 : drawn.ndim == 3 ? 16 : 5, d;
    drawn.element_bytes = (size_t)1 << test_random_between(&random, 0, 4);
    if (test_random_between(&random, 0, 3) == 0)
        drawn.element_bytes = (size_t)test_random_between(&random, 1, 17);
    for (d = 0; d < drawn.ndim; d++)
        drawn.count[d] = test_random_between(&random, test_random_between(&random, 0, 20) > 0, most);
    draw_layout(&random, &drawn, &drawn.near);
    draw_layout(&random, &drawn, &drawn.far);
    return drawn;
}

/* Copies element after element between two arenas of this process. */
static void copy_naively(const problem *of, unsigned char *to, const layout *to_layout, const unsigned char *from,
                         const layout *from_layout)
{
    int64_t cell[MOST_NDIM] = {0};
    int d;
    for (d = 0; d < of->ndim; d++)
        if (of->count[d] == 0)
            return;
    do {
        int64_t to_offset = to_layout->start, from_offset = from_layout->start;
        for (d = 0; d < of->ndim; d++) {
            to_offset += cell[d] * to_layout->strides[d];
            from_offset += cell[d] * from_layout->strides[d];
        }
        memcpy(to + to_offset, from + from_offset, of->element_bytes);
        for (d = of->ndim - 1; d >= 0 && ++cell[d] == of->count[d]; d--)
            cell[d] = 0;
    } while (d >= 0);
}

static pp_direct_copy copy_of(const problem *of, int peer, unsigned char *local, uint64_t remote)
{
    return (pp_direct_copy){.process = addresses[peer].proof.process,
                            .ndim = of->ndim,
                            .element_bytes = of->element_bytes,
                            .count = of->count,
                            .local = local + of->near.start,
                            .local_strides = of->near.strides,
                            .remote = remote + (uint64_t)of->far.start,
                            .remote_strides = of->far.strides};
}

static void fill(unsigned char *arena, int rank)
{
    size_t i;
    for (i = 0; i < ARENA_BYTES; i++)
        arena[i] = pattern(rank, i);
}

/* Everything outside the box must stay as it was: whole arenas are compared. */
static void check_read(const problem *of, int peer)
{
    static unsigned char theirs[ARENA_BYTES];
    pp_direct_copy copy = copy_of(of, peer, target_arena, addresses[peer].source);
    fill(theirs, peer);
    memset(target_arena, 0xAA, ARENA_BYTES);
    memset(expected_arena, 0xAA, ARENA_BYTES);
    copy_naively(of, expected_arena, &of->near, theirs, &of->far);
    expect(pp_direct_read(&copy), "a read from rank %d", peer);
    expect(memcmp(expected_arena, target_arena, ARENA_BYTES) == 0, "what rank %d has", peer);
}

static void check_write(pp_comm *comm, uint64_t seed, uint64_t round, int shift)
{
    static unsigned char theirs[ARENA_BYTES];
    int rank = pp_comm_rank(comm), size = pp_comm_size(comm);
    int to = (rank + shift) % size, from = (rank - shift % size + size) % size;
    problem mine = draw_problem(seed, round, rank), coming = draw_problem(seed, round, from);
    pp_direct_copy copy = copy_of(&mine, to, source_arena, addresses[to].target);
    memset(target_arena, 0x55, ARENA_BYTES);
    meet(comm);
    expect(pp_direct_write(&copy), "a write to rank %d", to);
    meet(comm);
    fill(theirs, from);
    memset(expected_arena, 0x55, ARENA_BYTES);
    copy_naively(&coming, expected_arena, &coming.far, theirs, &coming.near);
    expect(memcmp(expected_arena, target_arena, ARENA_BYTES) == 0, "what rank %d wrote", from);
}

/* 6,000 runs of 3 bytes on both sides, and the whole arena at once. */
static void check_large(int peer)
{
    problem many = {.ndim = 2, .element_bytes = 3, .count = {3000, 2}};
    problem whole = {.ndim = 1, .element_bytes = 1, .count = {(int64_t)ARENA_BYTES}};
    many.near = (layout){7, {20, 5}};
    many.far = (layout){3000 * 40, {-40, 11}};
    whole.near = whole.far = (layout){0, {1}};
    check_read(&many, peer);
    check_read(&whole, peer);
}

/* More than one system call moves: it stops in the middle of a run and is resumed there. All elements land on one
 * another, so that the memory is only there to be read from, where untouched pages cost nothing. */
static void check_beyond_two_gib(void)
{
    int64_t element = (int64_t)4 << 20, count = 600, strides[2] = {0, element};
    size_t bytes = (size_t)(count * element);
    unsigned char *there =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    unsigned char *here = malloc((size_t)element);
    pp_direct_copy copy = {getpid(), 1, (size_t)element, &count, here, &strides[0], (uintptr_t)there, &strides[1]};
    expect(there != MAP_FAILED && here != NULL, "address space");
    there[bytes - (size_t)element] = 1;
    there[bytes - 1] = 2;
    expect(pp_direct_read(&copy), "a large copy");
    expect(here[0] == 1 && here[element - 1] == 2, "the last element, not %d and %d", here[0], here[element - 1]);
    free(here);
    expect(munmap(there, bytes) == 0, "address space given back");
}

static void check_refusals(pp_comm *comm, int peer)
{
    pp_identity_proof proof = addresses[peer].proof;
    unsigned char byte[16384];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int64_t count = 1, stride = 1;
    pp_direct_copy copy = {proof.process, 1, 1, &count, byte, &stride, 16, &stride};
    expect(!pp_direct_read(&copy) && !pp_direct_write(&copy), "no copy at a bad address");
    copy.process = INT64_C(0x3fffffff); /* beyond the largest number that Linux gives */
    copy.remote = addresses[peer].source;
    expect(!pp_direct_read(&copy) && !pp_direct_write(&copy), "no copy with a process that is not there");

    proof.nonce++;
    expect(!pp_direct_works(comm, &proof), "a wrong nonce is seen");
    proof = addresses[peer].proof;
    proof.process = INT64_C(0x3fffffff);
    expect(!pp_direct_works(comm, &proof), "a missing process is seen");
    proof = addresses[peer].proof;
    proof.nonce_address = 16;
    expect(!pp_direct_works(comm, &proof), "a bad address is seen");
    proof = addresses[peer].proof;
    proof.node++;
    expect(!pp_direct_works(comm, &proof), "another node is not tried");

    /* The first page is there, the second is not. */
    expect(pages != MAP_FAILED && munmap(pages + page, page) == 0, "pages");
    count = (int64_t)(2 * page);
    copy = (pp_direct_copy){getpid(), 1, 1, &count, byte, &stride, (uintptr_t)pages, &stride};
    expect(2 * page > sizeof byte || !pp_direct_read(&copy), "no copy that only begins well");
    count = (int64_t)page;
    expect(page > sizeof byte || pp_direct_read(&copy), "a copy of the page that is there");
    expect(munmap(pages, page) == 0, "pages");
}

static void check_made_to_fail(void)
{
    unsigned char from = 7, to = 0;
    pp_direct_copy copy = {.process = getpid(), .element_bytes = 1, .local = &to, .remote = (uintptr_t)&from};
    pp_direct_fail_at(2, false);
    expect(pp_direct_read(&copy) && to == 7, "the first copy");
    expect(pp_direct_write(&copy), "the second copy");
    expect(!pp_direct_read(&copy), "the third copy fails");
    expect(pp_direct_read(&copy) && pp_direct_read(&copy), "the copies after it");
    pp_direct_fail_at(1, true);
    expect(pp_direct_read(&copy), "the copy before");
    expect(!pp_direct_read(&copy) && !pp_direct_write(&copy) && !pp_direct_read(&copy), "none after it");
    pp_direct_fail_at(-1, false);
    expect(pp_direct_read(&copy), "no failure asked for");
}

/* Whether the system lets us look into that process at all, asked without the code under test. */
static bool is_allowed(const pp_identity_proof *proof)
{
    uint64_t found = 0;
    struct iovec here = {&found, sizeof found}, there = {(void *)(uintptr_t)proof->nonce_address, sizeof found};
    return process_vm_readv((pid_t)proof->process, &here, 1, &there, 1, 0) == (ssize_t)sizeof found;
}

static void check(pp_comm *comm)
{
    uint64_t seed = test_random_start().state, round;
    int rank = pp_comm_rank(comm), size = pp_comm_size(comm), peer;
    int64_t is_any_allowed = 1;
    address mine = {pp_identity_proof_of(comm), (uintptr_t)source_arena, (uintptr_t)target_arena};
    fill(source_arena, rank);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, addresses, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    for (peer = 0; peer < size; peer++) {
        bool works = pp_direct_works(comm, &addresses[peer].proof);
        expect(works == is_allowed(&addresses[peer].proof), "with rank %d %s", peer, works ? "works" : "does not");
        is_any_allowed = is_any_allowed && works;
        expect(peer == rank || addresses[peer].proof.nonce != mine.proof.nonce, "rank %d has a nonce of its own",
               peer);
    }
    check_made_to_fail();
    if (rank == 0)
        check_beyond_two_gib();
    check_refusals(comm, (rank + 1) % size);
    expect(pp_comm_agree_min(comm, "test", PARAPET_OK, &is_any_allowed) == PARAPET_OK, "agreement");
    if (is_any_allowed == 0) {
        printf("the system does not allow copies between processes: only refusals are checked\n");
        return;
    }
    for (round = 0; round < ROUNDS; round++) {
        problem drawn = draw_problem(seed, round, rank);
        check_read(&drawn, (int)((uint64_t)rank + round) % size);
    }
    check_large((rank + 1) % size);
    for (round = 0; round < ROUNDS / 3; round++)
        check_write(comm, seed, ROUNDS + round, (int)round);
}

int main(int argc, char **argv)
{
    return run_parallel(&argc, &argv, check);
}
