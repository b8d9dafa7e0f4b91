/* What the variables of launchers say, and those of queues do not. */
#include "support.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm/internal.h"
#include "comm/launcher.h"

static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK",    "PMI_SIZE",
                                        "MV2_COMM_WORLD_RANK",  "MV2_COMM_WORLD_SIZE",  "PALS_RANKID", "PMIX_RANK",
                                        "SLURM_NTASKS",         "SLURM_PROCID"};

static int clear_environment(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; i < sizeof variables / sizeof variables[0]; i++)
        (void)unsetenv(variables[i]);
    return 0;
}

static void expect_launch(const char *own, const char *flavour, int rank, int count)
{
    pp_launch launch = pp_launch_find(own);
    assert_string_equal(launch.flavour, flavour);
    assert_int_equal(launch.rank, rank);
    assert_int_equal(launch.count, count);
    assert_false(launch.is_inherited); /* what runs this test does not have these variables */
}

static void test_launcher__none_without_variables(void **state)
{
    (void)state;
    expect_launch("serial", "", -1, 0);
}

static void test_launcher__a_queue_is_no_launcher(void **state)
{
    (void)state;
    (void)setenv("SLURM_NTASKS", "8", 1);
    (void)setenv("SLURM_PROCID", "3", 1);
    expect_launch("mpich", "", -1, 0);
}

static void test_launcher__each_is_known_by_its_variables(void **state)
{
    (void)state;
    (void)setenv("OMPI_COMM_WORLD_RANK", "1", 1);
    (void)setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    (void)setenv("PMIX_RANK", "1", 1);
    expect_launch("serial", "openmpi", 1, 4);
    (void)clear_environment(state);
    (void)setenv("PMI_RANK", "0", 1);
    (void)setenv("PMI_SIZE", "2", 1);
    expect_launch("serial", "mpich", 0, 2);
    (void)clear_environment(state);
    (void)setenv("PALS_RANKID", "5", 1);
    expect_launch("serial", "mpich", 5, 6);
}

static void test_launcher__pmix_does_not_say_how_many(void **state)
{
    (void)state;
    (void)setenv("PMIX_RANK", "0", 1);
    expect_launch("serial", "", 0, 0);
    (void)setenv("PMIX_RANK", "3", 1);
    expect_launch("serial", "", 3, 4);
}

static void test_launcher__of_two_the_own_one_counts(void **state)
{
    (void)state;
    (void)setenv("OMPI_COMM_WORLD_RANK", "1", 1);
    (void)setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    (void)setenv("PMI_RANK", "0", 1);
    (void)setenv("PMI_SIZE", "1", 1);
    expect_launch("mpich", "mpich", 0, 1);
    expect_launch("openmpi", "openmpi", 1, 4);
}

static void test_launcher__what_is_no_number_is_no_launcher(void **state)
{
    (void)state;
    (void)setenv("PMI_RANK", "first", 1);
    (void)setenv("PMI_SIZE", "", 1);
    (void)setenv("OMPI_COMM_WORLD_SIZE", "-3", 1);
    expect_launch("mpich", "", -1, 0);
}

static void test_launcher__the_size_alone_tells_of_a_launcher(void **state)
{
    (void)state;
    (void)setenv("PMI_SIZE", "2", 1);
    expect_launch("mpich", "mpich", 0, 2);
    (void)setenv("PMI_SIZE", "2147483648", 1); /* more than any MPI has */
    expect_launch("mpich", "", -1, 0);
}

/* ---- processes that inherit the variables: this program once more, with other words on its command line ---- */

enum { SAYS_INHERITED = 3, SAYS_STARTED, SAYS_NONE, REFUSES_INHERITED };

static bool has_one_process(void)
{
    return true;
}

/* Four words, and variables with their values, or NULL: those that this process has; what it returned. */
static int run_again(const char *const words[4], const char *const *variables_set)
{
    pid_t child = fork();
    int status = -1;
    if (child == 0) {
        if (variables_set != NULL)
            (void)clearenv();
        for (; variables_set != NULL && variables_set[0] != NULL; variables_set += 2)
            (void)setenv(variables_set[0], variables_set[1], 1);
        (void)execl("/proc/self/exe", "launcher", words[0], words[1], words[2], words[3], (char *)NULL);
        _exit(99);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* "ask FLAVOUR": what the launcher looks like from here. */
static int answer(const char *flavour)
{
    static const pp_comm_ops single = {.is_single = has_one_process};
    static pp_comm comm = {.ops = &single, .size = 1};
    pp_launch launch = pp_launch_find(flavour);
    if (launch.rank < 0)
        return SAYS_NONE;
    if (strcmp(flavour, pp_comm_flavour()) == 0 && launch.is_inherited && pp_comm_check_launcher(&comm) != PARAPET_OK)
        return REFUSES_INHERITED;
    return launch.is_inherited ? SAYS_INHERITED : SAYS_STARTED;
}

/* A file of that name is in the memory of this process, as a library that it has loaded. */
static bool map_file(const char *folder, const char *name)
{
    char path[200];
    int descriptor;
    void *memory;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    descriptor = open(path, O_RDWR | O_CREAT, 0600);
    memory = ftruncate(descriptor, 1) == 0 ? mmap(NULL, 1, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
    (void)close(descriptor);
    return memory != MAP_FAILED;
}

/* A library of MPI by its name, or Open MPI as far as others can see in the folder of that name. */
static bool load(const char *library)
{
    if (library[0] != '/')
        return library[0] == '\0' || dlopen(library, RTLD_NOW) != NULL;
    return map_file(library, "libmpi.so.40") && map_file(library, "libopen-pal.so.40");
}

static void change_environment(const char *change)
{
    if (strcmp(change, "rank") == 0)
        (void)setenv("PMI_RANK", "1", 1);
    if (strcmp(change, "no size") == 0)
        (void)unsetenv("PMI_SIZE");
    if (strcmp(change, "openmpi") == 0)
        (void)setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
}

/* "between FLAVOUR LIBRARY CHANGE": a process that the launcher has started loads a library, or none, and starts
 * another one with the variables that it has, or with others; "twice": and that one does the same again. */
static int stand_between(char **words)
{
    if (!load(words[2]))
        return SAYS_NONE;
    if (strcmp(words[3], "twice") == 0)
        return run_again((const char *const[]){"between", words[1], words[2], ""}, NULL);
    change_environment(words[3]);
    return run_again((const char *const[]){"ask", words[1], "", ""}, NULL);
}

static int ask_behind(const char *flavour, const char *library, const char *change, const char *const *with)
{
    return run_again((const char *const[]){"between", flavour, library, change}, with);
}

static const char *const of_mpich[] = {"HOME", "/", "PMI_RANK", "0", "PMI_SIZE", "2", NULL};
static const char *const of_mpich_size[] = {"PMI_SIZEABLE", "3", "PMI_SIZE", "2", NULL};
static const char *const of_openmpi[] = {"OMPI_COMM_WORLD_RANK", "0", "OMPI_COMM_WORLD_SIZE", "2", NULL};
static const char *const of_pmix[] = {"PMIX_RANK", "0", NULL};

static void test_launcher__a_rank_passes_its_variables_on(void **state)
{
    const char *mpich = "libmpich.so.12";
    (void)state;
    if (strcmp(pp_comm_flavour(), "openmpi") == 0 || dlopen(mpich, RTLD_NOW) == NULL)
        skip(); /* not both in one process */
    assert_int_equal(ask_behind("mpich", mpich, "", of_mpich), SAYS_INHERITED);
    assert_int_equal(ask_behind("mpich", mpich, "", of_mpich_size), SAYS_INHERITED);
    assert_int_equal(ask_behind("serial", mpich, "", of_pmix), SAYS_INHERITED);
    assert_int_equal(ask_behind("mpich", mpich, "", of_openmpi), SAYS_STARTED); /* which MPICH is no rank of */
    assert_int_equal(ask_behind("mpich", mpich, "rank", of_mpich), SAYS_STARTED);
    assert_int_equal(ask_behind("mpich", mpich, "no size", of_mpich), SAYS_STARTED);
    assert_int_equal(ask_behind("mpich", mpich, "twice", of_mpich), SAYS_INHERITED);
    /* Those of another launcher are its own. */
    assert_int_equal(ask_behind("mpich", mpich, "openmpi", of_mpich), SAYS_STARTED);
}

static void test_launcher__ranks_of_open_mpi_are_known_by_its_libraries(void **state)
{
    char folder[] = "/tmp/parapet-launcher-XXXXXX", path[200];
    (void)state;
    assert_non_null(mkdtemp(folder));
    if (strcmp(pp_comm_flavour(), "openmpi") != 0)
        assert_int_equal(ask_behind("openmpi", folder, "", of_mpich), SAYS_STARTED);
    assert_int_equal(ask_behind("openmpi", folder, "", of_openmpi), SAYS_INHERITED);
    (void)snprintf(path, sizeof path, "%s/libmpi.so.40", folder);
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof path, "%s/libopen-pal.so.40", folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* A shell or a script that the launcher was told to start is no rank. */
static void test_launcher__what_has_no_mpi_is_no_rank(void **state)
{
    (void)state;
    if (pp_comm_flavour()[0] != 's')
        skip(); /* this program has an MPI */
    assert_int_equal(ask_behind("mpich", "", "", of_mpich), SAYS_STARTED);
}

static void test_launcher__what_inherits_nothing_has_no_launcher(void **state)
{
    (void)state;
    assert_int_equal(run_again((const char *const[]){"ask", "mpich", "", ""}, NULL), SAYS_NONE);
}

/* ---- what is refused ---- */

static bool has_a_parent(void)
{
    return false;
}

static void test_launcher__refuses_a_rank_that_mpi_believes_alone(void **state)
{
    static const pp_comm_ops single = {.is_single = has_one_process}, spawned = {.is_single = has_a_parent};
    static pp_comm comm;
    (void)state;
    (void)setenv("PMI_RANK", "1", 1);
    (void)setenv("PMI_SIZE", "4", 1);
    comm = (pp_comm){.ops = &single, .size = 1};
    assert_fails(pp_comm_check_launcher(&comm), PARAPET_ERR_MPI, "started 4 processes (PMI_SIZE)");
    comm.ops = &spawned;
    assert_ok(pp_comm_check_launcher(&comm));
    comm.ops = NULL; /* alone on purpose */
    assert_ok(pp_comm_check_launcher(&comm));
    comm = (pp_comm){.ops = &single, .size = 4};
    assert_ok(pp_comm_check_launcher(&comm));
    (void)setenv("PMI_SIZE", "1", 1);
    comm.size = 1;
    assert_ok(pp_comm_check_launcher(&comm));
}

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_launcher__none_without_variables, clear_environment),
        cmocka_unit_test_setup(test_launcher__a_queue_is_no_launcher, clear_environment),
        cmocka_unit_test_setup(test_launcher__each_is_known_by_its_variables, clear_environment),
        cmocka_unit_test_setup(test_launcher__pmix_does_not_say_how_many, clear_environment),
        cmocka_unit_test_setup(test_launcher__of_two_the_own_one_counts, clear_environment),
        cmocka_unit_test_setup(test_launcher__what_is_no_number_is_no_launcher, clear_environment),
        cmocka_unit_test_setup(test_launcher__the_size_alone_tells_of_a_launcher, clear_environment),
        cmocka_unit_test_setup(test_launcher__a_rank_passes_its_variables_on, clear_environment),
        cmocka_unit_test_setup(test_launcher__ranks_of_open_mpi_are_known_by_its_libraries, clear_environment),
        cmocka_unit_test_setup(test_launcher__what_has_no_mpi_is_no_rank, clear_environment),
        cmocka_unit_test_setup(test_launcher__what_inherits_nothing_has_no_launcher, clear_environment),
        cmocka_unit_test_setup(test_launcher__refuses_a_rank_that_mpi_believes_alone, clear_environment),
    };
    if (count == 5)
        return strcmp(words[1], "ask") == 0 ? answer(words[2]) : stand_between(words + 1);
    return cmocka_run_group_tests(tests, NULL, clear_environment);
}
