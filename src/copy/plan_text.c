/* plan_text.c - what a copy would do, computed with no MPI and no storage. */
#include "copy/plan_text.h"

#include <limits.h>
#include <parapet_plan.h>

#include "array/document.h"
#include "array/options.h"
#include "array/spec.h"
#include "base/choice.h"
#include "base/reserved.h"
#include "copy/copy_request.h"
#include "copy/problem.h"
#include "copy/target_document.h"
#include "rechunk/plan_drawing.h"
#include "rechunk/plan_print.h"

/* ---- In words ---- */

/* What a plan of numbers is about; the texts are owned. */
typedef struct copy_words {
    pp_rechunk_labels labels;
    char *source_codecs, *target_codecs, *permutation;
} copy_words;

static void clear_words(copy_words *words)
{
    pp_free(words->source_codecs);
    pp_free(words->target_codecs);
    pp_free(words->permutation);
}

static parapet_status print_codecs(const pp_array_document *document, char **words)
{
    pp_text text = {0};
    pp_chain_spec_print(pp_document_chunk_codecs(document), &text);
    return pp_text_finish(&text, words);
}

static bool is_turned(const pp_copy_view *view)
{
    int d;
    for (d = 0; d < view->ndim; d++)
        if (view->axis[d] != d || view->is_reversed[d])
            return true;
    return false;
}

static void add_dimension(const pp_array_document *source, int d, pp_text *text)
{
    if (source->dimension_names[d] != NULL)
        pp_text_add(text, "%s", source->dimension_names[d]);
    else
        pp_text_add(text, "%d", d);
}

/* "time,lat,lon to lat,lon,-time"; NULL when dimensions stay as they are. */
static parapet_status print_permutation(const pp_array_document *source, const pp_copy_view *view, char **words)
{
    pp_text text = {0};
    int d;
    *words = NULL;
    if (!is_turned(view))
        return PARAPET_OK;
    for (d = 0; d < view->ndim; d++) {
        pp_text_add(&text, "%s", d > 0 ? "," : "");
        add_dimension(source, d, &text);
    }
    for (d = 0; d < view->ndim; d++) {
        pp_text_add(&text, "%s%s", d > 0 ? "," : " to ", view->is_reversed[d] ? "-" : "");
        add_dimension(source, view->axis[d], &text);
    }
    return pp_text_finish(&text, words);
}

static parapet_status init_words(copy_words *words, const pp_copy_planned *planned)
{
    parapet_status status;
    *words = (copy_words){.permutation = NULL};
    if ((status = print_codecs(planned->source, &words->source_codecs)) != PARAPET_OK ||
        (status = print_codecs(planned->target, &words->target_codecs)) != PARAPET_OK ||
        (status = print_permutation(planned->source, planned->view, &words->permutation)) != PARAPET_OK)
        return status;
    words->labels = (pp_rechunk_labels){
        .type_name = planned->target->type.name,
        .dimension_names =
            planned->target->has_dimension_names ? (const char *const *)planned->target->dimension_names : NULL,
        .source_codecs = words->source_codecs,
        .target_codecs = words->target_codecs,
        .permutation = words->permutation,
    };
    return PARAPET_OK;
}

parapet_status pp_copy_planned_print(const pp_copy_planned *planned, bool is_json, pp_text *text)
{
    copy_words words;
    parapet_status status = init_words(&words, planned);
    if (status == PARAPET_OK)
        status = is_json ? pp_rechunk_print_json(planned->plan, &words.labels, text)
                         : pp_rechunk_print(planned->plan, &words.labels, text);
    clear_words(&words);
    return status;
}

parapet_status pp_copy_planned_draw(const pp_copy_planned *planned, pp_text *svg)
{
    copy_words words;
    parapet_status status = init_words(&words, planned);
    if (status == PARAPET_OK)
        status = pp_rechunk_draw(planned->plan, &words.labels, svg);
    clear_words(&words);
    return status;
}

/* ---- From a request ---- */

typedef struct plan_job {
    const parapet_copy_plan_request *request;
    pp_array_document source, target;
    pp_layout source_layout, target_layout;
    pp_copy_view view;
    pp_copy_means means;
    pp_rechunk_plan plan;
} plan_job;

static void clear_job(plan_job *job)
{
    pp_layout_clear(&job->source_layout);
    pp_layout_clear(&job->target_layout);
    pp_array_document_clear(&job->source);
    pp_array_document_clear(&job->target);
}

static parapet_status check_request(const parapet_copy_plan_request *request)
{
    const parapet_copy_request copy = {.changes = request->changes,
                                       .memory_bytes = request->memory_bytes,
                                       .unit_bytes = request->unit_bytes,
                                       .passes = request->passes,
                                       .reading = request->reading,
                                       .cooperation = request->cooperation};
    parapet_status status;
    if ((status = PP_RESERVED_CHECK(parapet_copy_plan_request, request)) != PARAPET_OK ||
        (status = pp_boolean_check("as_json", request->as_json)) != PARAPET_OK ||
        (status = pp_copy_request_check(&copy)) != PARAPET_OK)
        return status;
    if (request->ranks < 0 || request->ranks > INT_MAX)
        return pp_fail(PARAPET_ERR_ARGUMENT, "ranks is %lld, but must be between 0 and %d; 0 means 1",
                       (long long)request->ranks, INT_MAX);
    if (!(request->read_rate >= 0) || !(request->write_rate >= 0))
        return pp_fail(PARAPET_ERR_ARGUMENT, "read_rate and write_rate of a plan must be 0 or more");
    return pp_spec_check(&request->source);
}

/* Options are filled up as those of a store are. */
static parapet_status choose_means(plan_job *job, parapet_store_options *options)
{
    const parapet_copy_plan_request *request = job->request;
    parapet_store_options given = {.memory_bytes = request->memory_bytes, .threads = request->threads};
    parapet_status status = pp_options_resolve(options, &given);
    job->means = (pp_copy_means){
        .memory_bytes = options->memory_bytes,
        .unit_bytes = pp_copy_unit_bytes(request->unit_bytes, options->memory_bytes),
        .threads = (int)options->threads,
        .ranks = request->ranks > 0 ? (int)request->ranks : 1,
        .machine = {.read_rate = request->read_rate,
                    .read_limit = request->read_rate,
                    .write_rate = request->write_rate,
                    .write_limit = request->write_rate},
        .passes = (int)request->passes,
        .reading = request->reading,
        .cooperation = request->cooperation,
    };
    return status;
}

static parapet_status compute(plan_job *job)
{
    pp_rechunk_problem problem;
    parapet_store_options options;
    parapet_status status;
    if ((status = choose_means(job, &options)) != PARAPET_OK ||
        (status = pp_document_from_spec(&job->source, &job->request->source, options.expected_servers)) !=
            PARAPET_OK ||
        (status = pp_layout_init(&job->source_layout, &job->source, false)) != PARAPET_OK ||
        (status = pp_copy_document(&job->request->changes, &job->source, false, options.expected_servers,
                                   &job->target, &job->view)) != PARAPET_OK ||
        (status = pp_layout_init(&job->target_layout, &job->target, false)) != PARAPET_OK)
        return status;
    job->means.cooperation_bytes = pp_copy_cooperation_bytes(&job->source_layout, job->means.ranks);
    pp_copy_problem_init(&problem, &job->source_layout, &job->target_layout, &job->view, &job->means);
    return pp_rechunk_plan_build(&problem, &job->plan);
}

static parapet_status deliver(const plan_job *job, char **text, char **svg)
{
    const pp_copy_planned planned = {&job->source, &job->target, &job->view, &job->plan};
    pp_text words = {0}, drawing = {0};
    parapet_status status = pp_copy_planned_print(&planned, job->request->as_json, &words);
    if (status == PARAPET_OK && svg != NULL)
        status = pp_copy_planned_draw(&planned, &drawing);
    if (status == PARAPET_OK && (status = pp_text_finish(&words, text)) == PARAPET_OK && svg != NULL)
        status = pp_text_finish(&drawing, svg);
    if (status != PARAPET_OK) {
        pp_free(*text);
        *text = NULL;
    }
    pp_text_free(&words);
    pp_text_free(&drawing);
    return status;
}

parapet_status parapet_copy_plan_print(const parapet_copy_plan_request *request, char **text, char **svg)
{
    plan_job job = {.request = request};
    parapet_status status;
    if (request == NULL || text == NULL)
        return pp_fail(PARAPET_ERR_ARGUMENT, "parapet_copy_plan_print needs a request and a pointer for the text");
    *text = NULL;
    if (svg != NULL)
        *svg = NULL;
    if ((status = check_request(request)) == PARAPET_OK && (status = compute(&job)) == PARAPET_OK)
        status = deliver(&job, text, svg);
    clear_job(&job);
    return pp_outcome(status);
}
