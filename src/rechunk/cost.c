/* cost.c - what a pass takes of time, predicted. */
#include "rechunk/count.h"

/* An ordinary disk, and a processor of some years ago. */
#define READ_RATE 1.5e9
#define WRITE_RATE 1.0e9
#define REQUEST_SECONDS 1e-4
#define RUN_SECONDS 2e-5
#define PAGE_CACHE_RATE                                                                                              \
    4e9 /* bytes of runs, beside what storage needs for them: they do not go round the page cache */
#define FLUSH_SECONDS 5e-3
#define COPY_RATE 3e9
#define EXCHANGE_RATE 3e9
#define CORES 2
/* What a row costs beside its bytes, and an element whose neighbours do not stay its neighbours; a line of the cache
 * in the target, which the elements of an item share that lie in it; and every box that item and target chunk have in
 * common. */
#define ROW_SECONDS 8e-9
#define ELEMENT_SECONDS 2.5e-9
#define LINE_SECONDS 4e-9
#define BOX_SECONDS 3e-7
/* Reading, working and writing at the same time still wait for each other: fitted to copies of 2 GiB. */
#define OVERLAP_LOSS 0.75
/* So many work units for each rank are looked at one by one. */
#define UNITS_LOOKED_AT 16

static double known_or(double value, double otherwise)
{
    return value > 0 ? value : otherwise;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static pp_rechunk_machine complete(const pp_rechunk_machine *given)
{
    pp_rechunk_machine machine = *given;
    machine.read_rate = known_or(given->read_rate, READ_RATE);
    machine.write_rate = known_or(given->write_rate, WRITE_RATE);
    machine.read_limit = known_or(given->read_limit, machine.read_rate);
    machine.write_limit = known_or(given->write_limit, machine.write_rate);
    machine.request_seconds = known_or(given->request_seconds, REQUEST_SECONDS);
    machine.run_seconds =
        known_or(given->run_seconds, given->request_seconds > 0 ? given->request_seconds : RUN_SECONDS);
    machine.flush_seconds = known_or(given->flush_seconds, FLUSH_SECONDS);
    machine.copy_rate = known_or(given->copy_rate, COPY_RATE);
    machine.exchange_rate = known_or(given->exchange_rate, EXCHANGE_RATE);
    machine.cores = given->cores > 0 ? given->cores : CORES;
    return machine;
}

/* What part of a pass the busiest rank does, and how many do something at the same time. */
typedef struct pass_share {
    double reading, writing; /* of all the work: 1 when one rank does everything */
    double readers, writers;
} pass_share;

/* Work units one after the other on the busiest rank. */
static double count_rounds(const pp_rechunk_problem *problem, const pp_rechunk_pass *pass)
{
    double rounds = 1;
    int d;
    if (!pass->cooperates)
        return (double)pp_divide_up(pass->counts.work_units, problem->ranks);
    for (d = 0; d < problem->ndim; d++)
        rounds *= (double)pp_divide_up(pp_divide_up(problem->shape[d], pass->work_unit_shape[d]),
                                       pp_max_i64(pass->group[d], 1));
    return rounds;
}

/* What part of the array the busiest rank has, when work units are dealt out in turn: those at the edge are smaller.
 * Beyond a few work units for each rank that evens out. */
static double busiest_part(const pp_rechunk_problem *problem, const pp_rechunk_pass *pass)
{
    int64_t rank, work_unit, elements, most_elements = 0, all = 0;
    pp_box box;
    if (problem->ranks == 1)
        return 1;
    if (pass->cooperates || pass->counts.work_units > UNITS_LOOKED_AT * (int64_t)problem->ranks)
        return count_rounds(problem, pass) / (double)pass->counts.work_units;
    for (rank = 0; rank < problem->ranks; rank++) {
        elements = 0;
        for (work_unit = rank; work_unit < pass->counts.work_units; work_unit += problem->ranks) {
            pp_rechunk_work_unit_box(problem->ndim, problem->shape, pass, work_unit, &box);
            elements += pp_box_element_count(&box);
        }
        most_elements = pp_max_i64(most_elements, elements);
        all += elements;
    }
    return all > 0 ? (double)most_elements / (double)all : 1;
}

static pass_share share_of(const pp_rechunk_problem *problem, const pp_rechunk_pass *pass)
{
    double ranks = (double)problem->ranks, work_units = (double)pass->counts.work_units;
    double part = busiest_part(problem, pass);
    pass_share share = {.reading = part, .writing = part, .readers = least(ranks, work_units), .writers = 1 / part};
    if (!pass->cooperates)
        share.writers = share.readers;
    else {
        share.reading = 1 / ranks;
        share.readers = ranks;
    }
    return share;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

/* What the busiest rank needs for its share of the bytes. Storage that is the limit is shared only as long as others
 * have something left: all of it takes what one rank alone would need. */
static double bytes_seconds(double share, double bytes, double rate, double limit)
{
    return most(share * bytes / rate, bytes / limit);
}

static double read_seconds(const pp_rechunk_pass *pass, const pp_rechunk_machine *machine, const pass_share *share)
{
    bool reads_runs = pass->reads_runs && !pass->cooperates;
    double each = reads_runs ? machine->run_seconds : machine->request_seconds;
    double requests =
        (double)pass->counts.read_requests * each + (double)pass->counts.index_reads * machine->request_seconds;
    double bytes = (double)pass->counts.decoded_bytes * known_or(pass->source.stored_ratio, 1);
    return share->reading * (requests + (reads_runs ? bytes / PAGE_CACHE_RATE : 0)) +
           bytes_seconds(share->reading, bytes, machine->read_rate, machine->read_limit);
}

static double array_bytes(const pp_rechunk_problem *problem, const pp_rechunk_pass *pass)
{
    double bytes = (double)pass->source.element_bytes;
    int d;
    for (d = 0; d < problem->ndim; d++)
        bytes *= (double)problem->shape[d];
    return bytes;
}

/* Workers of a rank that have a core when `ranks` work at the same time. */
static double workers_of(const pp_rechunk_problem *problem, const pp_rechunk_machine *machine, double ranks)
{
    return least(problem->threads, machine->cores / ranks);
}

static double codec_seconds(const pp_rechunk_side *side, int64_t bytes)
{
    return side->codec_rate > 0 ? (double)bytes / side->codec_rate : 0;
}

/* How many pieces the bounds of both grids cut a dimension into; bounds that they share cut once. */
static double count_pieces(int64_t extent, int64_t source, int64_t target)
{
    int64_t factor = source / pp_greatest_common_divisor(source, target);
    int64_t shared = factor <= (extent - 1) / target ? (extent - 1) / (factor * target) : 0;
    return (double)(pp_divide_up(extent, source) + pp_divide_up(extent, target) - 1 - shared);
}

static int64_t chunks_of_item(const pp_rechunk_pass *pass)
{
    return pp_max_i64(1, pass->memory.item_chunks);
}

/* Boxes that the source chunks of an item and a target chunk have in common. */
static double count_boxes(const pp_rechunk_problem *problem, const pp_rechunk_pass *pass)
{
    double boxes = 1;
    int d;
    for (d = 0; d < problem->ndim; d++)
        boxes *=
            problem->shape[d] > 0 ? count_pieces(problem->shape[d], pass->source.chunk[d], pass->target.chunk[d]) : 0;
    return boxes / (double)chunks_of_item(pass);
}

/* Elements move in rows, as long as source and target chunk have in common, if both store the same dimension densely;
 * else one by one. */
static double scatter_rate(const pp_rechunk_problem *problem, const pp_rechunk_pass *pass,
                           const pp_rechunk_machine *machine)
{
    int last = problem->ndim - 1;
    double element_bytes = (double)pass->target.element_bytes, row;
    if (last < 0)
        return machine->copy_rate;
    row =
        element_bytes * (double)pp_min_i64(pass->source.chunk[last] * chunks_of_item(pass), pass->target.chunk[last]);
    if (pass->source.stored_order[last] != last)
        return least(machine->copy_rate,
                     element_bytes / (ELEMENT_SECONDS + LINE_SECONDS * least(1, element_bytes / row)));
    return row > 0 ? row / (row / machine->copy_rate + ROW_SECONDS) : machine->copy_rate;
}

static double processor_seconds(const pp_rechunk_problem *problem, const pp_rechunk_pass *pass,
                                const pp_rechunk_machine *machine, const pass_share *share)
{
    double decode = share->reading * codec_seconds(&pass->source, pass->counts.decoded_bytes);
    double scatter = share->writing * (array_bytes(problem, pass) / scatter_rate(problem, pass, machine) +
                                       count_boxes(problem, pass) * BOX_SECONDS);
    double encode = share->writing * codec_seconds(&pass->target, pass->counts.written_bytes);
    return decode / workers_of(problem, machine, share->readers) +
           (scatter + encode) / workers_of(problem, machine, share->writers);
}

/* A shard is made durable when it is complete, and the journal after every template. */
static double write_seconds(const pp_rechunk_pass *pass, const pp_rechunk_machine *machine, const pass_share *share)
{
    double flushes = (double)pass->counts.shards_written + (double)pass->counts.templates;
    double bytes = (double)pass->counts.written_bytes * known_or(pass->target.stored_ratio, 1);
    return bytes_seconds(share->writing, bytes, machine->write_rate, machine->write_limit) +
           share->writing * flushes * machine->flush_seconds;
}

/* What the busiest rank receives of others. */
static double exchange_seconds(const pp_rechunk_problem *problem, const pp_rechunk_pass *pass,
                               const pp_rechunk_machine *machine, const pass_share *share)
{
    double foreign = 1 - 1 / (double)problem->ranks;
    return share->writing * foreign * array_bytes(problem, pass) / machine->exchange_rate;
}

/* What the storage itself needs for everything that all ranks read and write. */
static double storage_seconds(const pp_rechunk_pass *pass, const pp_rechunk_machine *machine)
{
    double read = (double)pass->counts.decoded_bytes * known_or(pass->source.stored_ratio, 1);
    double written = (double)pass->counts.written_bytes * known_or(pass->target.stored_ratio, 1);
    return read / machine->read_limit + written / machine->write_limit;
}

/* What does not overlap: at the beginning of a template nothing is complete, at its end nothing is left to read. */
static double edge_seconds(const pp_rechunk_pass *pass, const pp_rechunk_machine *machine, const pass_share *share)
{
    double bytes = (double)pass->memory.open_chunks * (double)pass->target.encoded_bytes;
    return share->writing * (double)pass->counts.templates * bytes *
           (1 / machine->read_rate + 1 / machine->write_rate);
}

static double overlapped(double read, double processor, double write)
{
    double longest = most(read, most(processor, write));
    return longest + OVERLAP_LOSS * (read + processor + write - longest);
}

void pp_rechunk_predict(const pp_rechunk_problem *problem, pp_rechunk_pass *pass)
{
    pp_rechunk_machine machine = complete(&problem->machine);
    pass_share share;
    double read, processor, write;
    pass->seconds = 0;
    if (pass->counts.work_units == 0)
        return;
    share = share_of(problem, pass);
    read = read_seconds(pass, &machine, &share);
    processor = processor_seconds(problem, pass, &machine, &share);
    write = write_seconds(pass, &machine, &share);
    if (pass->cooperates)
        pass->seconds = read + processor + write + exchange_seconds(problem, pass, &machine, &share);
    else if (pass->memory.items >= 2 && pass->memory.chunk_buffers > pass->memory.open_chunks)
        pass->seconds = least(read + processor + write,
                              edge_seconds(pass, &machine, &share) +
                                  most(overlapped(read, processor, write), storage_seconds(pass, &machine)));
    else
        pass->seconds = read + processor + write;
}
