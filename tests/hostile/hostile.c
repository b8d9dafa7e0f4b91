/* hostile.c - every store of make_hostile.py, each in a process of its own, through the public API alone.
 *
 *     hostile DIRECTORY [NAME]      all cases of DIRECTORY/cases.txt, or one, told in detail
 *
 * A case passes when the child ends by itself, within the time and the memory that are allowed, with a status and a
 * sentence that the case allows. The memory of a case is what its process took beyond one that opened a harmless
 * store. Prints one line per failure and the totals. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <parapet.h>

/* Sanitizers keep shadow memory: neither an address limit nor a resident size means anything under them. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

#define ADDRESS_BYTES ((rlim_t)1 << 30)
#define ALARM_SECONDS 120                        /* far above the limit on what it works */
#define TIME_LIMIT_S (IS_SANITIZED ? 25.0 : 5.0) /* of the processor: twenty times what the slowest takes */
#define MEMORY_LIMIT_KIB (64L << 10)
#define BOX_ELEMENTS_MOST (1 << 16)
#define REFUSED_LEAST 300 /* fewer, and the generator has lost some */

typedef struct hostile_case {
    char name[128];
    char action[16];
    char expectation[16];
    char statuses[128];
    char word[512];
} hostile_case;

/* What a child tells its parent; written in one piece. */
typedef struct answer {
    int status;
    char sentence[1024];
} answer;

typedef struct outcome {
    bool has_answer;
    int wait_status;
    double seconds;
    long resident_kib;
    answer answer;
} outcome;

typedef struct totals {
    int cases, failures, refused, accepted, open;
    double seconds_most;
    long memory_most_kib;
    char slowest[128], largest[128];
} totals;

/* ---- In the child: what is done with a store ---- */

/* The first elements of every dimension, few enough to keep the caller's own memory out of the figures. */
static size_t choose_box(const parapet_array_info *info, int64_t most, int64_t *count)
{
    size_t elements = 1;
    int d;
    for (d = 0; d < info->ndim; d++) {
        int64_t limit = elements * (size_t)most > BOX_ELEMENTS_MOST ? 1 : most;
        count[d] = info->shape[d] < limit ? info->shape[d] : limit;
        elements *= (size_t)count[d];
    }
    return elements;
}

static parapet_status transfer(parapet_array *array, bool writes, int64_t most)
{
    int64_t start[PARAPET_MAX_NDIM] = {0}, count[PARAPET_MAX_NDIM] = {0};
    parapet_array_info info;
    parapet_part part = {.start = start, .count = count};
    parapet_status status = parapet_array_get_info(array, &info);
    size_t elements;
    if (status != PARAPET_OK)
        return status;
    elements = choose_box(&info, most, count);
    part.ndim = info.ndim;
    part.data = calloc(elements + 1, info.element_bytes + 1);
    if (part.data == NULL)
        return PARAPET_ERR_INTERNAL;
    status = writes ? parapet_array_write(array, &part, 1) : parapet_array_read(array, &part, 1);
    free(part.data);
    return status;
}

static parapet_status act_on_array(parapet_array *array, const char *action)
{
    parapet_check_summary summary;
    if (strcmp(action, "read") == 0)
        return transfer(array, false, 8);
    if (strcmp(action, "write") == 0)
        return transfer(array, true, 8);
    if (strcmp(action, "write_part") == 0)
        return transfer(array, true, 1);
    if (strcmp(action, "check") == 0)
        return parapet_array_check(array, PARAPET_CHECK_DATA, NULL, NULL, &summary);
    if (strcmp(action, "unseal") == 0)
        return parapet_array_unseal(array);
    return PARAPET_OK;
}

static int join_name(void *context, const char *name, parapet_node_kind kind)
{
    char *names = context;
    size_t used = strlen(names);
    (void)kind;
    (void)snprintf(names + used, 1024 - used, "%s%s", used > 0 ? "," : "", name);
    return 0;
}

static parapet_status list_root(parapet_store *store, char names[1024])
{
    parapet_group *group = NULL;
    parapet_status status = parapet_group_open(&group, store, "");
    if (status == PARAPET_OK)
        status = parapet_group_list(group, join_name, names);
    (void)parapet_group_close(&group);
    return status;
}

static parapet_status act(const char *root, const char *action, char names[1024])
{
    bool changes = strncmp(action, "write", 5) == 0 || strcmp(action, "unseal") == 0;
    parapet_store_options options = {.ignore_seal = strcmp(action, "unseal") == 0};
    parapet_store *store = NULL;
    parapet_array *array = NULL;
    parapet_status status =
        parapet_store_open(&store, MPI_COMM_NULL, root, changes ? PARAPET_UPDATE : PARAPET_READ, &options);
    if (status != PARAPET_OK)
        return status;
    if (strcmp(action, "list") == 0)
        status = list_root(store, names);
    else if ((status = parapet_array_open(&array, store, "a")) == PARAPET_OK)
        status = act_on_array(array, action);
    (void)parapet_array_close(&array);
    (void)parapet_store_close(&store);
    return status;
}

static void limit_child(void)
{
    struct rlimit address = {ADDRESS_BYTES, ADDRESS_BYTES}, no_core = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    if (!IS_SANITIZED)
        (void)setrlimit(RLIMIT_AS, &address);
    (void)alarm(ALARM_SECONDS);
}

static void run_child(int channel, const char *root, const char *action)
{
    char names[1024] = "";
    answer told = {0};
    limit_child();
    told.status = act(root, action, names);
    (void)snprintf(told.sentence, sizeof told.sentence, "%s",
                   told.status == PARAPET_OK ? names : parapet_error_message());
    exit(write(channel, &told, sizeof told) == (ssize_t)sizeof told ? 0 : 3); /* where leaks are looked for */
}

/* ---- In the parent ---- */

/* What the child has worked: other tests may keep it waiting. */
static double worked_s(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

static bool run(const char *root, const char *action, outcome *result)
{
    int channel[2];
    struct rusage usage;
    pid_t child;
    *result = (outcome){0};
    (void)fflush(stdout);
    if (pipe(channel) != 0 || (child = fork()) < 0)
        return false;
    if (child == 0) {
        (void)close(channel[0]);
        run_child(channel[1], root, action);
    }
    (void)close(channel[1]);
    result->has_answer = read(channel[0], &result->answer, sizeof result->answer) == (ssize_t)sizeof result->answer;
    (void)close(channel[0]);
    while (wait4(child, &result->wait_status, 0, &usage) < 0)
        if (errno != EINTR)
            return false;
    result->seconds = worked_s(&usage);
    result->resident_kib = usage.ru_maxrss;
    return true;
}

/* "FORMAT,CORRUPT" holds PARAPET_ERR_FORMAT, "OK" holds PARAPET_OK. */
static bool is_allowed(const char *statuses, parapet_status status)
{
    const char *name = parapet_status_name(status), *at;
    size_t bytes;
    name += strncmp(name, "PARAPET_ERR_", 12) == 0 ? 12 : 8;
    bytes = strlen(name);
    for (at = statuses; (at = strstr(at, name)) != NULL; at += bytes)
        if ((at == statuses || at[-1] == ',') && (at[bytes] == ',' || at[bytes] == '\0'))
            return true;
    return false;
}

/* What is wrong with an outcome, or NULL. */
static const char *find_fault(const hostile_case *one, const outcome *result, long baseline_kib)
{
    bool is_refusal = strcmp(one->expectation, "refuse") == 0;
    if (WIFSIGNALED(result->wait_status))
        return WTERMSIG(result->wait_status) == SIGALRM ? "did not end" : "crashed";
    if (!result->has_answer || WEXITSTATUS(result->wait_status) != 0)
        return "ended without an answer";
    if (is_refusal && result->answer.status == PARAPET_OK)
        return "was not refused";
    if (!is_allowed(one->statuses, (parapet_status)result->answer.status))
        return "has another status";
    if (is_refusal && result->answer.sentence[0] == '\0')
        return "has no sentence";
    if (strcmp(one->expectation, "either") != 0 && strstr(result->answer.sentence, one->word) == NULL)
        return "has a sentence without the word";
    if (strcmp(one->action, "list") == 0 && !is_refusal && strcmp(result->answer.sentence, one->word) != 0)
        return "lists other names";
    if (result->seconds > TIME_LIMIT_S)
        return "took too long";
    if (!IS_SANITIZED && result->resident_kib - baseline_kib > MEMORY_LIMIT_KIB)
        return "took too much memory";
    return NULL;
}

static void count_case(totals *all, const hostile_case *one, const outcome *result, long baseline_kib)
{
    long memory_kib = result->resident_kib - baseline_kib;
    all->cases++;
    if (strcmp(one->expectation, "refuse") == 0)
        all->refused++;
    else if (strcmp(one->expectation, "accept") == 0)
        all->accepted++;
    else
        all->open++;
    if (result->seconds > all->seconds_most) {
        all->seconds_most = result->seconds;
        memcpy(all->slowest, one->name, sizeof all->slowest);
    }
    if (memory_kib > all->memory_most_kib) {
        all->memory_most_kib = memory_kib;
        memcpy(all->largest, one->name, sizeof all->largest);
    }
}

static void tell(const hostile_case *one, const outcome *result, long baseline_kib, const char *fault)
{
    printf("%s %s\n    %s, expected %s of %s with \"%s\"\n    %s: %s\n    %.3f s, %.1f MiB\n", one->name,
           fault != NULL ? fault : "passes", one->action, one->expectation, one->statuses, one->word,
           result->has_answer ? parapet_status_name((parapet_status)result->answer.status) : "no answer",
           result->answer.sentence, result->seconds, (double)(result->resident_kib - baseline_kib) / 1024);
}

/* A machine that is busy may be slow once: time is judged on the better of two runs. */
static bool run_case(const char *directory, const hostile_case *one, outcome *result)
{
    char root[4096];
    (void)snprintf(root, sizeof root, "%s/stores/%s/store", directory, one->name);
    if (!run(root, one->action, result))
        return false;
    if (result->seconds > TIME_LIMIT_S && result->has_answer)
        return run(root, one->action, result);
    return true;
}

/* Fields are separated by tabs; an empty last one is lawful. */
static bool take_field(char **line, char *field, size_t bytes)
{
    char *start = *line;
    size_t length;
    if (start == NULL)
        return false;
    length = strcspn(start, "\t\n");
    if (length >= bytes)
        return false;
    memcpy(field, start, length);
    field[length] = '\0';
    *line = start[length] == '\t' ? start + length + 1 : NULL;
    return true;
}

static bool parse_case(char *line, hostile_case *one)
{
    return take_field(&line, one->name, sizeof one->name) && take_field(&line, one->action, sizeof one->action) &&
           take_field(&line, one->expectation, sizeof one->expectation) &&
           take_field(&line, one->statuses, sizeof one->statuses) && take_field(&line, one->word, sizeof one->word);
}

static bool run_line(const char *directory, char *line, const char *only, long baseline_kib, totals *all)
{
    hostile_case one = {0};
    outcome result;
    const char *fault;
    if (!parse_case(line, &one))
        return false;
    if (only != NULL && strcmp(only, one.name) != 0)
        return true;
    if (!run_case(directory, &one, &result))
        return false;
    fault = find_fault(&one, &result, baseline_kib);
    count_case(all, &one, &result, baseline_kib);
    all->failures += fault != NULL;
    if (fault != NULL || only != NULL)
        tell(&one, &result, baseline_kib, fault);
    return true;
}

static void print_totals(const totals *all)
{
    printf("%d cases: %d to refuse, %d lawful, %d open; %d failures\n", all->cases, all->refused, all->accepted,
           all->open, all->failures);
    printf("slowest %.3f s (%s), largest %.1f MiB (%s)\n", all->seconds_most, all->slowest,
           (double)all->memory_most_kib / 1024, all->largest);
}

/* Read to its end before any child is made: a child that exits would move the position that they share. */
static char *load_cases(const char *directory)
{
    char path[4096], *text = NULL;
    FILE *file;
    long bytes;
    (void)snprintf(path, sizeof path, "%s/cases.txt", directory);
    if ((file = fopen(path, "r")) == NULL)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (bytes = ftell(file)) > 0 && (text = calloc(1, (size_t)bytes + 1)) != NULL) {
        rewind(file);
        if (fread(text, 1, (size_t)bytes, file) != (size_t)bytes)
            text[0] = '\0';
    }
    (void)fclose(file);
    return text;
}

/* What a process takes that does nothing special. */
static bool measure_harmless(const char *directory, long *baseline_kib)
{
    char root[4096];
    outcome harmless;
    (void)snprintf(root, sizeof root, "%s/stores/blosc_stored_is_lawful/store", directory);
    if (!run(root, "read", &harmless) || !harmless.has_answer || harmless.answer.status != PARAPET_OK) {
        printf("the harmless store cannot be read: %s\n", harmless.answer.sentence);
        return false;
    }
    *baseline_kib = harmless.resident_kib;
    return true;
}

int main(int argc, char **argv)
{
    const char *only = argc > 2 ? argv[2] : NULL;
    totals all = {0};
    long baseline_kib;
    bool is_sound;
    char *cases, *line;
    if (argc < 2 || (cases = load_cases(argv[1])) == NULL)
        return 2;
    is_sound = measure_harmless(argv[1], &baseline_kib);
    for (line = cases; is_sound && *line != '\0'; line += strcspn(line, "\n") + 1)
        is_sound = run_line(argv[1], line, only, baseline_kib, &all);
    free(cases);
    print_totals(&all);
    return is_sound && all.failures == 0 && (only != NULL || all.refused >= REFUSED_LEAST) ? 0 : 1;
}
