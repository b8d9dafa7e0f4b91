#include "support.h"

#include <time.h>

#include "base/checked.h"
#include "rechunk/count.h"
#include "rechunk/strategy.h"

enum { MIB = 1 << 20, NDIM_MOST = 3 };
/* Of the processor: more than thirty times what the longest takes; a search of all shapes takes hours. */
#define SECONDS_MOST 30
#define SECONDS_MOST_OF_MANY_DIMENSIONS 120

/* Of this process: others may have the processor, too. */
static double clock_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int64_t product_of(int ndim, const int64_t *factors)
{
    int64_t product = 1;
    int d;
    for (d = 0; d < ndim; d++)
        product *= factors[d];
    return product;
}

/* A layout of chunks stored as they are, with a checksum; shard NULL: each is an object of its own. */
static void init_side(pp_rechunk_side *side, int ndim, const int64_t *chunk, const int64_t *shard,
                      int64_t element_bytes)
{
    int d;
    *side = (pp_rechunk_side){.element_bytes = element_bytes, .is_sharded = shard != NULL};
    for (d = 0; d < ndim; d++) {
        side->chunk[d] = chunk[d];
        side->shard[d] = shard == NULL ? chunk[d] : shard[d];
        side->stored_order[d] = d;
    }
    side->encoded_bytes = side->chunk_buffer_bytes = product_of(ndim, chunk) * element_bytes + 4;
}

/* Shape, chunks of the source and chunks of the target of a problem that is known. */
typedef struct known_case {
    const char *name;
    int ndim;
    int64_t shape[NDIM_MOST], source[NDIM_MOST], target[NDIM_MOST], shard[NDIM_MOST]; /* shard 0: none */
    int64_t element_bytes, memory_bytes;
    int ranks;
} known_case;

static void init_known(pp_rechunk_problem *problem, const known_case *known)
{
    int d;
    *problem = (pp_rechunk_problem){.ndim = known->ndim,
                                    .memory_bytes = known->memory_bytes,
                                    .unit_bytes = 1 << 30,
                                    .cooperation_bytes = 16 * MIB,
                                    .threads = 1,
                                    .ranks = known->ranks,
                                    .machine = {.cores = known->ranks}};
    for (d = 0; d < known->ndim; d++)
        problem->shape[d] = known->shape[d];
    init_side(&problem->source, known->ndim, known->source, NULL, known->element_bytes);
    init_side(&problem->target, known->ndim, known->target, known->shard[0] == 0 ? NULL : known->shard,
              known->element_bytes);
    problem->between.element_bytes = known->element_bytes;
}

static double array_bytes(const pp_rechunk_problem *problem)
{
    return (double)product_of(problem->ndim, problem->shape) * (double)problem->target.element_bytes;
}

/* Bytes read by all passes, in multiples of the array. */
static double reads_of(const pp_rechunk_problem *problem, const pp_rechunk_plan *plan)
{
    double bytes = 0;
    int i;
    for (i = 0; i < plan->pass_count; i++)
        bytes += (double)plan->passes[i].counts.decoded_bytes;
    return bytes / array_bytes(problem);
}

static void print_shape(const char *word, int ndim, const int64_t *shape)
{
    int d;
    printf(" %s ", word);
    for (d = 0; d < ndim; d++)
        printf("%s%lld", d == 0 ? "" : "x", (long long)shape[d]);
}

static void print_plan(const char *name, const pp_rechunk_problem *problem, const pp_rechunk_plan *plan,
                       double seconds)
{
    int i;
    printf("%s: planned in %.3f s, %d passes, reads %.3f times, %.1f of %.1f MiB (least %.1f), %.1f s\n", name,
           seconds, plan->pass_count, reads_of(problem, plan), (double)plan->memory_bytes / MIB,
           (double)plan->limit_bytes / MIB, (double)plan->memory_least_bytes / MIB, plan->seconds);
    for (i = 0; i < plan->pass_count; i++) {
        const pp_rechunk_pass *pass = &plan->passes[i];
        printf("   ");
        print_shape("from", plan->ndim, pass->source.chunk);
        print_shape("to", plan->ndim, pass->target.chunk);
        print_shape("shard", plan->ndim, pass->target.shard);
        print_shape("template", plan->ndim, pass->template_shape);
        printf("%s%s, %lld requests\n", pass->reads_runs ? " in runs" : "", pass->cooperates ? " together" : "",
               (long long)pass->counts.read_requests);
    }
}

static void build_known(const known_case *known, pp_rechunk_problem *problem, pp_rechunk_plan *plan)
{
    double start = clock_seconds(), seconds;
    assert_ok(pp_rechunk_plan_build(problem, plan));
    seconds = clock_seconds() - start;
    print_plan(known->name, problem, plan, seconds);
    assert_true(seconds < SECONDS_MOST * TEST_SLOWNESS);
    assert_true(plan->memory_bytes <= problem->memory_bytes);
}

static void assert_pass_is_sound(const pp_rechunk_problem *problem, const pp_rechunk_pass *pass)
{
    int64_t group = 1, elements = 1;
    bool is_chunk = true, seen[PARAPET_MAX_NDIM] = {false};
    int d;
    for (d = 0; d < problem->ndim; d++) {
        int64_t chunk = pass->target.chunk[d], shard = pass->target.shard[d], extent = pass->template_shape[d];
        assert_int_equal(shard % chunk, 0);
        assert_int_equal(extent % chunk, 0);
        assert_true(extent > 0 && (extent <= shard || extent % shard == 0));
        assert_int_equal(pass->work_unit_shape[d], pp_max_i64(extent, shard));
        assert_true(pass->order[d] >= 0 && pass->order[d] < problem->ndim && !seen[pass->order[d]]);
        seen[pass->order[d]] = true;
        is_chunk = is_chunk && extent == chunk;
        elements *= pp_min_i64(extent, problem->shape[d]);
        group *= pass->cooperates ? pass->group[d] : 1;
    }
    assert_true(group >= 1 && group <= problem->ranks);
    assert_true(is_chunk || problem->unit_bytes == 0 || elements * pass->target.element_bytes <= problem->unit_bytes);
    assert_true(pass->memory.memory_bytes <= problem->memory_bytes);
    assert_false(pass->reads_runs && !pass->source.allows_runs);
}

/* What holds for every plan: passes that follow each other from source to target, each within its rules. */
static void assert_plan_is_sound(const pp_rechunk_problem *problem, const pp_rechunk_plan *plan)
{
    int64_t memory = 0, temporary = 0, files = 0;
    double seconds = 0;
    int i;
    assert_in_range(plan->pass_count, 1, PP_RECHUNK_PASSES_MOST);
    assert_memory_equal(&plan->passes[0].source, &problem->source, sizeof problem->source);
    assert_memory_equal(&plan->passes[plan->pass_count - 1].target, &problem->target, sizeof problem->target);
    for (i = 0; i < plan->pass_count; i++) {
        const pp_rechunk_pass *pass = &plan->passes[i];
        pp_rechunk_pass again = *pass;
        assert_pass_is_sound(problem, pass);
        if (i > 0)
            assert_memory_equal(&pass->source, &plan->passes[i - 1].target, sizeof pass->source);
        assert_true(pp_rechunk_size_memory(problem, problem->memory_bytes, &again));
        pp_rechunk_count(problem->ndim, problem->shape, problem->ranks, &again);
        pp_rechunk_predict(problem, &again);
        assert_memory_equal(&again.counts, &pass->counts, sizeof again.counts);
        assert_memory_equal(&again.memory, &pass->memory, sizeof again.memory);
        assert_true(again.seconds == pass->seconds);
        memory = pp_max_i64(memory, pass->memory.memory_bytes);
        temporary += i < plan->pass_count - 1 ? pass->counts.written_bytes : 0;
        files += i < plan->pass_count - 1 ? pass->counts.shards_written : 0;
        seconds += pass->seconds;
    }
    assert_int_equal(plan->memory_bytes, memory);
    assert_int_equal(plan->temporary_bytes, temporary);
    assert_int_equal(plan->temporary_files, files);
    assert_true(plan->seconds == seconds);
    assert_true(plan->memory_least_bytes <= problem->memory_bytes);
}

/* The chosen candidate is the plan, and none is faster. */
static void assert_choice_is_the_fastest(const pp_rechunk_plan *plan)
{
    int i, chosen = 0;
    for (i = 0; i < plan->candidate_count; i++) {
        const pp_rechunk_candidate *candidate = &plan->candidates[i];
        assert_true(strlen(candidate->name) > 0);
        if (candidate->is_feasible)
            assert_true(candidate->seconds >= plan->seconds);
        if (!candidate->is_chosen)
            continue;
        chosen++;
        assert_true(candidate->is_feasible && candidate->seconds == plan->seconds);
        assert_int_equal(candidate->pass_count, plan->pass_count);
        assert_int_equal(candidate->memory_bytes, plan->memory_bytes);
    }
    assert_int_equal(chosen, 1);
}

static void init_random_machine(pp_rechunk_machine *machine, test_random *random)
{
    static const double rates[] = {1e5, 1e7, 1e9}, delays[] = {1e-7, 1e-5, 1e-3};
    machine->read_rate = rates[test_random_between(random, 0, 2)];
    machine->write_rate = rates[test_random_between(random, 0, 2)];
    machine->request_seconds = delays[test_random_between(random, 0, 2)];
    machine->flush_seconds = delays[test_random_between(random, 0, 2)];
    machine->cores = (int)test_random_between(random, 1, 4);
}

static void init_random_side(pp_rechunk_side *side, test_random *random, const pp_rechunk_problem *problem,
                             bool is_source)
{
    static const int64_t sizes[] = {1, 2, 4, 8, 100, 1000, 4096};
    int64_t chunk[NDIM_MOST], shard[NDIM_MOST], element_bytes = problem->source.element_bytes;
    bool is_sharded = test_random_between(random, 0, 1) == 1;
    int d;
    if (is_source)
        element_bytes = sizes[test_random_between(random, 0, 6)];
    for (d = 0; d < problem->ndim; d++) {
        chunk[d] = test_random_between(random, 1, 8);
        shard[d] = chunk[d] * test_random_between(random, 1, 4);
    }
    init_side(side, problem->ndim, chunk, is_sharded ? shard : NULL, element_bytes);
    side->scratch_bytes = test_random_between(random, 0, 1) * 10000;
    if (!is_source)
        return;
    side->allows_runs = test_random_between(random, 0, 1) == 1;
    for (d = 0; d < problem->ndim; d++)
        side->origin[d] = test_random_between(random, 0, 1) == 0 ? 0 : test_random_between(random, 0, shard[d] - 1);
    for (d = 0; d < problem->ndim; d++)
        side->origin[d] %= side->shard[d];
}

/* Small, with every kind of grid; extents_most keeps what is tried by force short. */
static void init_random(pp_rechunk_problem *problem, test_random *random, int ndim, int64_t extents_most)
{
    int d;
    *problem = (pp_rechunk_problem){.ndim = ndim, .memory_bytes = INT64_MAX, .ranks = 1, .threads = 1};
    for (d = 0; d < ndim; d++)
        problem->shape[d] =
            test_random_between(random, test_random_between(random, 0, 19) == 0 ? 0 : 1, extents_most);
    init_random_side(&problem->source, random, problem, true);
    init_random_side(&problem->target, random, problem, false);
    init_random_machine(&problem->machine, random);
    problem->between.element_bytes = problem->target.element_bytes;
    problem->threads = (int)test_random_between(random, 1, 3);
    if (test_random_between(random, 0, 2) == 0)
        problem->ranks = (int)test_random_between(random, 2, 9);
    if (test_random_between(random, 0, 1) == 0)
        problem->unit_bytes = problem->target.element_bytes * test_random_between(random, 1, 2000);
}

/* A limit between the smallest that works and what is used when there is none; sometimes none. */
static void limit_at_random(pp_rechunk_problem *problem, test_random *random)
{
    static pp_rechunk_plan plan;
    problem->memory_bytes = INT64_MAX;
    assert_ok(pp_rechunk_plan_build(problem, &plan));
    switch (test_random_between(random, 0, 5)) {
    case 0:
        return;
    case 1:
        problem->memory_bytes = plan.memory_least_bytes;
        return;
    default:
        problem->memory_bytes =
            plan.memory_least_bytes +
            test_random_between(random, 0, pp_max_i64(0, plan.memory_bytes - plan.memory_least_bytes));
    }
}

/* The best single pass, found by trying everything: no candidates, no bounds, nothing left out. */
typedef struct force {
    const pp_rechunk_problem *problem;
    pp_rechunk_pass pass;
    double seconds;
    bool is_found;
    int64_t least_bytes;
} force;

static void force_weigh(force *by)
{
    const pp_rechunk_problem *problem = by->problem;
    pp_rechunk_pass *pass = &by->pass;
    pp_rechunk_set_work_unit(problem->ndim, problem->shape, pass);
    pp_rechunk_count(problem->ndim, problem->shape, problem->ranks, pass);
    if (!pp_rechunk_size_memory(problem, problem->memory_bytes, pass)) {
        by->least_bytes = pp_min_i64(by->least_bytes, pass->memory.memory_bytes);
        return;
    }
    pp_rechunk_predict(problem, pass);
    if (!by->is_found || pass->seconds < by->seconds)
        by->seconds = pass->seconds;
    by->is_found = true;
}

static void force_orders(force *by, int position, unsigned used)
{
    int d;
    if (position == by->problem->ndim) {
        for (d = 0; d <= (by->problem->source.allows_runs ? 1 : 0); d++) {
            by->pass.reads_runs = d == 1;
            force_weigh(by);
        }
        return;
    }
    for (d = 0; d < by->problem->ndim; d++)
        if ((used & (1U << d)) == 0) {
            by->pass.order[position] = d;
            force_orders(by, position + 1, used | (1U << d));
        }
}

static bool is_within_unit(const force *by)
{
    int64_t bytes = by->problem->target.element_bytes;
    bool is_chunk = true;
    int d;
    for (d = 0; d < by->problem->ndim; d++) {
        bytes *= pp_min_i64(by->pass.template_shape[d], by->problem->shape[d]);
        is_chunk = is_chunk && by->pass.template_shape[d] == by->problem->target.chunk[d];
    }
    return is_chunk || by->problem->unit_bytes == 0 || bytes <= by->problem->unit_bytes;
}

static void force_templates(force *by, int d)
{
    const pp_rechunk_problem *problem = by->problem;
    int64_t chunk, shard, extent;
    if (d == problem->ndim) {
        if (is_within_unit(by))
            force_orders(by, 0, 0);
        return;
    }
    chunk = problem->target.chunk[d];
    shard = problem->target.shard[d];
    for (extent = chunk; extent == chunk || extent - chunk < problem->shape[d]; extent += chunk)
        if (extent <= shard || extent % shard == 0) {
            by->pass.template_shape[d] = extent;
            force_templates(by, d + 1);
        }
    if (extent - chunk >= shard && (extent - chunk) % shard != 0) {
        by->pass.template_shape[d] = pp_divide_up(extent - chunk, shard) * shard;
        force_templates(by, d + 1);
    }
}

static force force_one_pass(const pp_rechunk_problem *problem)
{
    force by = {.problem = problem, .least_bytes = INT64_MAX};
    by.pass.source = problem->source;
    by.pass.target = problem->target;
    force_templates(&by, 0);
    return by;
}

static void test_plan__one_pass_is_the_best_of_all_templates_and_orders(void **state)
{
    test_random random = test_random_start();
    static pp_rechunk_plan plan;
    int i, limited = 0;
    (void)state;
    for (i = 0; i < 1200 / TEST_THINNING; i++) {
        int ndim = (int)test_random_between(&random, 1, NDIM_MOST);
        pp_rechunk_problem problem;
        force best;
        init_random(&problem, &random, ndim, ndim == 3 ? 8 : 24);
        problem.force_passes = 1;
        limit_at_random(&problem, &random);
        assert_ok(pp_rechunk_plan_build(&problem, &plan));
        best = force_one_pass(&problem);
        assert_true(best.is_found);
        if (plan.seconds != best.seconds)
            fail_msg("case %d: %.17g s planned, %.17g s are possible", i, plan.seconds, best.seconds);
        assert_plan_is_sound(&problem, &plan);
        limited += best.least_bytes != INT64_MAX;
    }
    printf("%d cases, in %d of which something did not fit\n", i, limited);
    assert_true(limited > i / 4);
}

static void test_plan__smallest_memory_is_exact(void **state)
{
    test_random random = test_random_start();
    static pp_rechunk_plan plan;
    int i, below_one_pass = 0;
    (void)state;
    for (i = 0; i < 300 / TEST_THINNING; i++) {
        pp_rechunk_problem problem;
        int64_t least;
        char words[64];
        init_random(&problem, &random, (int)test_random_between(&random, 1, NDIM_MOST), 12);
        problem.cooperation_bytes = test_random_between(&random, 0, 1) * 20000;
        problem.force_passes = (int)test_random_between(&random, 0, 3);
        problem.memory_bytes = 0;
        (void)snprintf(words, sizeof words, "needs at least");
        assert_fails(pp_rechunk_plan_build(&problem, &plan), PARAPET_ERR_MEMORY, words);
        least = plan.memory_least_bytes;
        problem.memory_bytes = least - 1;
        (void)snprintf(words, sizeof words, "at least %lld bytes", (long long)least);
        assert_fails(pp_rechunk_plan_build(&problem, &plan), PARAPET_ERR_MEMORY, words);
        assert_true(force_one_pass(&problem).least_bytes >= least || problem.force_passes > 1);
        below_one_pass += force_one_pass(&problem).least_bytes > least;
        problem.memory_bytes = least;
        assert_ok(pp_rechunk_plan_build(&problem, &plan));
        assert_int_equal(plan.memory_least_bytes, least);
        assert_plan_is_sound(&problem, &plan);
        assert_choice_is_the_fastest(&plan);
    }
    printf("%d of %d need less than one pass does\n", below_one_pass, i);
    assert_true(below_one_pass > 0);
}

/* The best two passes, over every shape of the chunks between them; for each pass all templates and orders. */
static double force_two_passes(const pp_rechunk_problem *problem)
{
    int64_t spent = 0;
    pp_rechunk_aim aim = {
        .problem = problem, .limit_bytes = problem->memory_bytes, .effort = INT64_MAX / 4, .spent = &spent};
    pp_rechunk_ends first = {.source = problem->source, .is_between = true}, second = {.target = problem->target};
    int64_t chunk[PARAPET_MAX_NDIM];
    pp_box shapes = {.ndim = problem->ndim};
    double best = -1;
    bool more;
    int d;
    for (d = 0; d < problem->ndim; d++) {
        shapes.start[d] = 1;
        shapes.count[d] = problem->shape[d];
    }
    for (more = pp_box_first(&shapes, chunk); more; more = pp_box_next(&shapes, chunk)) {
        pp_rechunk_pass passes[2];
        init_side(&first.target, problem->ndim, chunk, chunk, problem->target.element_bytes);
        if (!pp_rechunk_search_any(&aim, &first, &passes[0]))
            continue;
        second.source = passes[0].target;
        if (!pp_rechunk_search_any(&aim, &second, &passes[1]))
            continue;
        if (best < 0 || passes[0].seconds + passes[1].seconds < best)
            best = passes[0].seconds + passes[1].seconds;
    }
    return best;
}

static void test_plan__two_passes_are_near_the_best_of_all_shapes_between(void **state)
{
    test_random random = test_random_start();
    static pp_rechunk_plan plan;
    double ratio, worst = 1, sum = 0;
    int i, near = 0, equal = 0, count = 0;
    (void)state;
    for (i = 0; i < 120; i++) {
        int ndim = (int)test_random_between(&random, 1, NDIM_MOST);
        pp_rechunk_problem problem;
        double best;
        init_random(&problem, &random, ndim, ndim == 1 ? 24 : ndim == 2 ? 10 : 4);
        problem.force_passes = 2;
        limit_at_random(&problem, &random);
        assert_ok(pp_rechunk_plan_build(&problem, &plan));
        assert_int_equal(plan.pass_count, 2);
        assert_plan_is_sound(&problem, &plan);
        assert_choice_is_the_fastest(&plan);
        if ((best = force_two_passes(&problem)) <= 0)
            continue;
        ratio = plan.seconds / best;
        worst = ratio > worst ? ratio : worst;
        sum += ratio;
        count++;
        near += ratio <= 1.10;
        equal += ratio <= 1.000001;
    }
    printf("two passes: %d of %d best of all, %d within 1.10, on average %.4f, at worst %.3f\n", equal, count, near,
           sum / count, worst);
    assert_true(count > 100);
    assert_true(near * 10 >= count * 9);
}

static void test_plan__pancakes_become_pencils_in_two_passes_that_read_everything_once(void **state)
{
    known_case known = {.name = "pancakes to pencils",
                        .ndim = 2,
                        .shape = {32768, 8192},
                        .source = {16, 8192},
                        .target = {32768, 4},
                        .element_bytes = 8,
                        .memory_bytes = 128 * MIB,
                        .ranks = 1};
    static pp_rechunk_plan plan;
    pp_rechunk_problem problem;
    (void)state;
    init_known(&problem, &known);
    build_known(&known, &problem, &plan);
    assert_plan_is_sound(&problem, &plan);
    assert_choice_is_the_fastest(&plan);
    assert_int_equal(plan.pass_count, 2);
    assert_true(reads_of(&problem, &plan) <= 2.1);
    assert_int_equal(plan.temporary_bytes, (int64_t)32768 * 8192 * 8);
    assert_in_range(plan.temporary_files, 1, 8);
}

static void test_plan__pancakes_become_squares_in_one_pass(void **state)
{
    known_case known = {.name = "pancakes to squares",
                        .ndim = 2,
                        .shape = {32768, 8192},
                        .source = {16, 8192},
                        .target = {362, 362},
                        .element_bytes = 8,
                        .memory_bytes = 128 * MIB,
                        .ranks = 1};
    static pp_rechunk_plan plan;
    pp_rechunk_problem problem;
    (void)state;
    init_known(&problem, &known);
    build_known(&known, &problem, &plan);
    assert_plan_is_sound(&problem, &plan);
    assert_int_equal(plan.pass_count, 1);
    assert_true(reads_of(&problem, &plan) <= 1.05);
}

/* Whole chunks in one pass are read three times; runs or two passes once per pass, which is less. */
static void test_plan__runs_or_two_passes_where_whole_chunks_are_read_again(void **state)
{
    known_case known = {.name = "pancakes to strips",
                        .ndim = 2,
                        .shape = {32768, 8192},
                        .source = {16, 8192},
                        .target = {4096, 32},
                        .shard = {32768, 1024},
                        .element_bytes = 8,
                        .memory_bytes = 128 * MIB,
                        .ranks = 1};
    static pp_rechunk_plan plan;
    pp_rechunk_problem problem;
    (void)state;
    init_known(&problem, &known);
    problem.source.allows_runs = true;
    problem.machine.read_rate = 2e8;
    build_known(&known, &problem, &plan);
    assert_plan_is_sound(&problem, &plan);
    assert_true(plan.passes[0].reads_runs || plan.pass_count == 2);
    assert_true(reads_of(&problem, &plan) <= 2.1);
}

static void test_plan__forty_years_of_maps_become_series(void **state)
{
    known_case known = {.name = "maps to series on 1 rank",
                        .ndim = 3,
                        .shape = {350640, 721, 1440},
                        .source = {1, 721, 1440},
                        .target = {350640, 10, 10},
                        .element_bytes = 4,
                        .memory_bytes = 1000000000,
                        .ranks = 1};
    static pp_rechunk_plan plan;
    pp_rechunk_problem problem;
    (void)state;
    init_known(&problem, &known);
    build_known(&known, &problem, &plan);
    assert_plan_is_sound(&problem, &plan);
    assert_int_equal(plan.pass_count, 2);
    assert_true(reads_of(&problem, &plan) <= 2.1);
    known.name = "maps to series on 64 ranks";
    known.ranks = 64;
    init_known(&problem, &known);
    build_known(&known, &problem, &plan);
    assert_plan_is_sound(&problem, &plan);
    assert_true(reads_of(&problem, &plan) <= 2.1);
    assert_in_range(plan.temporary_files, 64, 256);
}

/* A target shard of pencils is a work unit; every pancake crosses all of them. Alone, every rank with a work unit
 * reads them all.
 */
static void test_plan__ranks_read_together_what_all_of_them_need(void **state)
{
    known_case known = {.name = "pancakes for sixteen",
                        .ndim = 2,
                        .shape = {4096, 4096},
                        .source = {16, 4096},
                        .target = {4096, 16},
                        .shard = {4096, 256},
                        .element_bytes = 8,
                        .memory_bytes = 64 * MIB,
                        .ranks = 16};
    static pp_rechunk_plan plan, alone;
    pp_rechunk_problem problem;
    (void)state;
    init_known(&problem, &known);
    problem.force_passes = 1;
    build_known(&known, &problem, &plan);
    assert_plan_is_sound(&problem, &plan);
    assert_true(plan.passes[0].cooperates);
    assert_true(reads_of(&problem, &plan) <= 1.0);
    assert_int_equal(plan.passes[0].group[1], 16);
    problem.force_cooperation = PARAPET_COOPERATION_ALONE;
    assert_ok(pp_rechunk_plan_build(&problem, &alone));
    assert_false(alone.passes[0].cooperates);
    assert_true(alone.seconds > plan.seconds);
    assert_true(reads_of(&problem, &alone) > 1.5);
}

static void test_plan__what_is_forced_is_done(void **state)
{
    known_case known = {.name = "forced",
                        .ndim = 2,
                        .shape = {512, 512},
                        .source = {8, 512},
                        .target = {512, 8},
                        .element_bytes = 8,
                        .memory_bytes = 8 * MIB,
                        .ranks = 2};
    static pp_rechunk_plan plan;
    pp_rechunk_problem problem;
    int passes, i;
    (void)state;
    init_known(&problem, &known);
    problem.cooperation_bytes = MIB;
    for (passes = 1; passes <= PP_RECHUNK_PASSES_MOST; passes++) {
        problem.force_passes = passes;
        assert_ok(pp_rechunk_plan_build(&problem, &plan));
        assert_int_equal(plan.pass_count, passes);
        assert_plan_is_sound(&problem, &plan);
    }
    problem.force_passes = 2;
    problem.force_cooperation = PARAPET_COOPERATION_TOGETHER;
    assert_ok(pp_rechunk_plan_build(&problem, &plan));
    for (i = 0; i < plan.pass_count; i++)
        assert_true(plan.passes[i].cooperates);
    problem.force_cooperation = 0;
    problem.source.allows_runs = true;
    problem.force_reading = PARAPET_READING_RUNS;
    assert_ok(pp_rechunk_plan_build(&problem, &plan));
    assert_true(plan.passes[0].reads_runs && !plan.passes[1].reads_runs);
    problem.force_reading = PARAPET_READING_CHUNKS;
    assert_ok(pp_rechunk_plan_build(&problem, &plan));
    assert_false(plan.passes[0].reads_runs);
}

static void test_plan__what_cannot_be_forced_is_refused(void **state)
{
    known_case known = {
        .ndim = 1, .shape = {64}, .source = {4}, .target = {8}, .element_bytes = 8, .memory_bytes = MIB, .ranks = 2};
    static pp_rechunk_plan plan;
    pp_rechunk_problem problem;
    (void)state;
    init_known(&problem, &known);
    problem.force_passes = PP_RECHUNK_PASSES_MOST + 1;
    assert_fails(pp_rechunk_plan_build(&problem, &plan), PARAPET_ERR_ARGUMENT, "1 to 8 passes");
    problem.force_passes = 0;
    problem.force_reading = PARAPET_READING_RUNS;
    assert_fails(pp_rechunk_plan_build(&problem, &plan), PARAPET_ERR_ARGUMENT, "runs");
    problem.source.allows_runs = true;
    problem.force_cooperation = PARAPET_COOPERATION_TOGETHER;
    assert_fails(pp_rechunk_plan_build(&problem, &plan), PARAPET_ERR_ARGUMENT, "together");
    problem.force_reading = 0;
    problem.cooperation_bytes = 0;
    assert_fails(pp_rechunk_plan_build(&problem, &plan), PARAPET_ERR_ARGUMENT, "cannot read together");
    problem.ranks = 1;
    assert_ok(pp_rechunk_plan_build(&problem, &plan));
}

static void test_plan__nothing_is_copied_of_an_empty_array(void **state)
{
    known_case known = {.ndim = 2, .source = {3, 3}, .target = {2, 4}, .element_bytes = 8, .ranks = 1};
    static pp_rechunk_plan plan;
    pp_rechunk_problem problem;
    (void)state;
    known.memory_bytes = MIB;
    known.shape[1] = 7;
    init_known(&problem, &known);
    assert_ok(pp_rechunk_plan_build(&problem, &plan));
    assert_plan_is_sound(&problem, &plan);
    assert_int_equal(plan.pass_count, 1);
    assert_int_equal(plan.passes[0].counts.templates, 0);
    assert_int_equal(plan.passes[0].counts.chunk_reads, 0);
}

static void test_plan__a_scalar_is_one_chunk(void **state)
{
    known_case known = {.ndim = 0, .element_bytes = 8, .memory_bytes = MIB, .ranks = 3};
    static pp_rechunk_plan plan;
    pp_rechunk_problem problem;
    (void)state;
    init_known(&problem, &known);
    assert_ok(pp_rechunk_plan_build(&problem, &plan));
    assert_plan_is_sound(&problem, &plan);
    assert_int_equal(plan.pass_count, 1);
    assert_int_equal(plan.passes[0].counts.chunk_reads, 1);
    assert_int_equal(plan.passes[0].counts.chunks_written, 1);
}

/* Chunk by chunk, with hardly more memory than two of them. */
static void test_plan__the_same_layout_streams_through_one_open_chunk(void **state)
{
    known_case known = {.name = "the same layout",
                        .ndim = 3,
                        .shape = {1000, 1000, 1000},
                        .source = {100, 100, 100},
                        .target = {100, 100, 100},
                        .element_bytes = 4,
                        .memory_bytes = 12 * MIB,
                        .ranks = 1};
    static pp_rechunk_plan plan;
    pp_rechunk_problem problem;
    (void)state;
    init_known(&problem, &known);
    build_known(&known, &problem, &plan);
    assert_plan_is_sound(&problem, &plan);
    assert_int_equal(plan.pass_count, 1);
    assert_int_equal(plan.passes[0].memory.open_chunks, 1);
    assert_int_equal(plan.passes[0].counts.chunk_reads, 1000);
}

static void test_plan__many_dimensions_take_little_time(void **state)
{
    static const int counts[] = {6, 32};
    static pp_rechunk_plan plan;
    pp_rechunk_problem problem;
    double start;
    int i, d;
    (void)state;
    for (i = 0; i < 2; i++) {
        int64_t source[PARAPET_MAX_NDIM], target[PARAPET_MAX_NDIM];
        problem = (pp_rechunk_problem){
            .ndim = counts[i], .memory_bytes = 64 * MIB, .ranks = 64, .threads = 2, .cooperation_bytes = MIB};
        for (d = 0; d < counts[i]; d++) {
            problem.shape[d] = counts[i] == 6 ? 20 : d < 12 ? 3 : 1 + d % 2;
            source[d] = d % 2 == 0 ? 1 : problem.shape[d];
            target[d] = d % 3 == 0 ? problem.shape[d] : 1;
        }
        init_side(&problem.source, counts[i], source, NULL, 4);
        init_side(&problem.target, counts[i], target, NULL, 4);
        problem.between.element_bytes = 4;
        start = clock_seconds();
        assert_ok(pp_rechunk_plan_build(&problem, &plan));
        printf("%d dimensions: planned in %.3f s\n", counts[i], clock_seconds() - start);
        assert_true(clock_seconds() - start < SECONDS_MOST_OF_MANY_DIMENSIONS * TEST_SLOWNESS);
        assert_plan_is_sound(&problem, &plan);
        assert_choice_is_the_fastest(&plan);
    }
}

static void test_plan__the_same_problem_gives_the_same_plan(void **state)
{
    test_random random = test_random_start();
    static pp_rechunk_plan first, second;
    int i;
    (void)state;
    for (i = 0; i < 50; i++) {
        pp_rechunk_problem problem;
        init_random(&problem, &random, (int)test_random_between(&random, 1, NDIM_MOST), 12);
        limit_at_random(&problem, &random);
        assert_ok(pp_rechunk_plan_build(&problem, &first));
        memset(&second, 0xff, sizeof second);
        assert_ok(pp_rechunk_plan_build(&problem, &second));
        assert_int_equal(first.pass_count, second.pass_count);
        assert_memory_equal(first.passes, second.passes, (size_t)first.pass_count * sizeof first.passes[0]);
        assert_int_equal(first.candidate_count, second.candidate_count);
        assert_true(first.seconds == second.seconds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan__one_pass_is_the_best_of_all_templates_and_orders),
        cmocka_unit_test(test_plan__smallest_memory_is_exact),
        cmocka_unit_test(test_plan__two_passes_are_near_the_best_of_all_shapes_between),
        cmocka_unit_test(test_plan__pancakes_become_pencils_in_two_passes_that_read_everything_once),
        cmocka_unit_test(test_plan__pancakes_become_squares_in_one_pass),
        cmocka_unit_test(test_plan__runs_or_two_passes_where_whole_chunks_are_read_again),
        cmocka_unit_test(test_plan__forty_years_of_maps_become_series),
        cmocka_unit_test(test_plan__ranks_read_together_what_all_of_them_need),
        cmocka_unit_test(test_plan__what_is_forced_is_done),
        cmocka_unit_test(test_plan__what_cannot_be_forced_is_refused),
        cmocka_unit_test(test_plan__nothing_is_copied_of_an_empty_array),
        cmocka_unit_test(test_plan__a_scalar_is_one_chunk),
        cmocka_unit_test(test_plan__the_same_layout_streams_through_one_open_chunk),
        cmocka_unit_test(test_plan__many_dimensions_take_little_time),
        cmocka_unit_test(test_plan__the_same_problem_gives_the_same_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
