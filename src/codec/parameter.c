/* Fields of a pp_codec_spec by their description. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "codec/internal.h"

const pp_parameter pp_v2_level[] = {
    {"level", PP_PARAMETER_INTEGER, PP_FIELD(level), .low = INT_MIN, .high = INT_MAX, .usual = 1},
    {0},
};

static const char *field_of(const pp_parameter *parameter, const pp_codec_spec *spec)
{
    return (const char *)spec + parameter->offset;
}

int pp_parameter_find(const pp_parameter *parameter, const char *text)
{
    int i;
    for (i = 0; parameter->choices[i] != NULL; i++)
        if (strcmp(text, parameter->choices[i]) == 0)
            return i;
    return -1;
}

int pp_parameter_get(const pp_parameter *parameter, const pp_codec_spec *spec)
{
    const char *field = field_of(parameter, spec);
    bool flag;
    int number;
    switch (parameter->kind) {
    case PP_PARAMETER_INTEGER:
    case PP_PARAMETER_CHOICE:
        memcpy(&number, field, sizeof number);
        return number;
    case PP_PARAMETER_FLAG:
        memcpy(&flag, field, sizeof flag);
        return flag ? 1 : 0;
    case PP_PARAMETER_NAME:
        return pp_parameter_find(parameter, field);
    case PP_PARAMETER_FIXED:
        break;
    }
    return 0;
}

void pp_parameter_set(const pp_parameter *parameter, pp_codec_spec *spec, int value)
{
    char *field = (char *)spec + parameter->offset;
    bool flag = value != 0;
    switch (parameter->kind) {
    case PP_PARAMETER_INTEGER:
    case PP_PARAMETER_CHOICE:
        memcpy(field, &value, sizeof value);
        break;
    case PP_PARAMETER_FLAG:
        memcpy(field, &flag, sizeof flag);
        break;
    case PP_PARAMETER_NAME:
        (void)snprintf(field, PP_PARAMETER_NAME_BYTES, "%s", parameter->choices[value]);
        break;
    case PP_PARAMETER_FIXED:
        break;
    }
}

static int count_choices(const pp_parameter *parameter)
{
    int count = 0;
    while (parameter->choices[count] != NULL)
        count++;
    return count;
}

const char *pp_parameter_text(const pp_parameter *parameter, const pp_codec_spec *spec)
{
    int value;
    if (parameter->kind == PP_PARAMETER_NAME)
        return field_of(parameter, spec);
    value = pp_parameter_get(parameter, spec);
    return value >= 0 && value < count_choices(parameter) ? parameter->choices[value] : "unknown";
}

void pp_parameters_set_usual(const pp_parameter *list, pp_codec_spec *spec)
{
    for (; list != NULL && list->name != NULL; list++)
        if (!list->is_required)
            pp_parameter_set(list, spec, list->usual);
}
