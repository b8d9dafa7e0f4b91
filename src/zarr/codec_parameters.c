/* The parameters of a codec, which its file in codec/ describes: JSON to pp_codec_spec and back. */
#include "zarr/codec_parameters.h"

#include <stdio.h>

#include "base/status.h"
#include "zarr/fields.h"
#include "zarr/json_print.h"

#define MAX_PARAMETERS 15
#define FIELD_BYTES 96

static bool is_end(const pp_parameter *parameter)
{
    return parameter == NULL || parameter->name == NULL;
}

parapet_status pp_parameters_check(const pp_parameter *list, pp_json *object, const char *who)
{
    const char *names[MAX_PARAMETERS + 1] = {NULL};
    int i;
    for (i = 0; i < MAX_PARAMETERS && !is_end(list); i++, list++)
        names[i] = list->name;
    return pp_members_check(object, names, who);
}

/* "a", "b" or "c" */
static void list_choices(const char *const *choices, pp_text *text)
{
    int i;
    for (i = 0; choices[i] != NULL; i++)
        pp_text_add(text, "%s\"%s\"", i == 0 ? "" : choices[i + 1] != NULL ? ", " : " or ", choices[i]);
}

static parapet_status refuse_choice(const pp_parameter *parameter, pp_json *json, const char *who)
{
    char words[PP_JSON_WORDS_BYTES];
    pp_text choices = {0};
    parapet_status status;
    list_choices(parameter->choices, &choices);
    if ((status = choices.status) == PARAPET_OK)
        status = pp_fail(parameter->has_others ? PARAPET_ERR_UNSUPPORTED : PARAPET_ERR_FORMAT,
                         "%s: %s must be %s, not %s", who, parameter->name, choices.data, pp_json_words(json, words));
    pp_text_free(&choices);
    return status;
}

static parapet_status parse_choice(const pp_parameter *parameter, pp_json *json, const char *who, int *value)
{
    int i;
    if (json == NULL && !parameter->is_required)
        return PARAPET_OK;
    for (i = 0; parameter->choices[i] != NULL; i++)
        if (pp_json_is_text(json, parameter->choices[i])) {
            *value = i;
            return PARAPET_OK;
        }
    return refuse_choice(parameter, json, who);
}

static parapet_status parse_flag(const pp_parameter *parameter, pp_json *json, const char *who, int *value)
{
    bool flag = *value != 0;
    if (json != NULL && !pp_json_get_bool(json, &flag))
        return pp_fail(PARAPET_ERR_FORMAT, "%s: %s must be true or false", who, parameter->name);
    *value = flag;
    return PARAPET_OK;
}

static parapet_status parse_integer(const pp_parameter *parameter, pp_json *json, const char *who, int *value)
{
    char field[FIELD_BYTES];
    const pp_integer_range range = {field, parameter->low, parameter->high};
    (void)snprintf(field, sizeof field, "%s: %s", who, parameter->name);
    return pp_integer_parse(json, &range, value);
}

parapet_status pp_parameters_parse(const pp_parameter *list, pp_json *object, const char *who, pp_codec_spec *spec)
{
    parapet_status status;
    for (; !is_end(list); list++) {
        pp_json *json = pp_json_member(object, list->name);
        int value = list->usual;
        if (list->kind == PP_PARAMETER_INTEGER)
            status = parse_integer(list, json, who, &value);
        else if (list->choices != NULL)
            status = parse_choice(list, json, who, &value);
        else
            status = parse_flag(list, json, who, &value);
        if (status != PARAPET_OK)
            return status;
        pp_parameter_set(list, spec, value);
    }
    return PARAPET_OK;
}

void pp_parameters_print(const pp_parameter *list, const pp_codec_spec *spec, pp_text *text)
{
    const char *comma = "";
    for (; !is_end(list); list++, comma = ",") {
        pp_text_add(text, "%s\"%s\":", comma, list->name);
        if (list->kind == PP_PARAMETER_INTEGER)
            pp_text_add(text, "%d", pp_parameter_get(list, spec));
        else if (list->choices != NULL)
            pp_text_add(text, "\"%s\"", pp_parameter_text(list, spec));
        else
            pp_text_add(text, "%s", pp_parameter_get(list, spec) != 0 ? "true" : "false");
    }
}
