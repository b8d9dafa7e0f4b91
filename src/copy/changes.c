/* changes.c - the texts of parapet_copy_changes, told of one array. */
#include "copy/changes.h"

#include <string.h>

#include "base/checked.h"
#include "base/reserved.h"
#include "base/status.h"
#include "copy/copy_request.h"

/* A piece of a text that somebody else owns. */
typedef struct word {
    const char *text;
    int length;
} word;

/* One of the texts, and the array that it is about: its dimensions in the order in which the text lists them. */
typedef struct reading {
    const char *field; /* "chunks" */
    const char *text;
    const char *marks; /* one of which stands between the name of a dimension and what is said of it */
    bool is_in_tree;
    bool is_named;
    int ndim;
    const char *names[PARAPET_MAX_NDIM]; /* an entry may be NULL */
    int64_t shape[PARAPET_MAX_NDIM];
    bool is_taken[PARAPET_MAX_NDIM];
} reading;

static word trim(word piece)
{
    while (piece.length > 0 && piece.text[0] == ' ') {
        piece.text++;
        piece.length--;
    }
    while (piece.length > 0 && piece.text[piece.length - 1] == ' ')
        piece.length--;
    return piece;
}

static bool equals(word piece, const char *text)
{
    return text != NULL && strlen(text) == (size_t)piece.length && memcmp(piece.text, text, strlen(text)) == 0;
}

/* Takes the next word off *rest, which is NULL after the last one. */
static word next_word(const char **rest, char separator)
{
    const char *end = strchr(*rest, separator);
    word piece = {*rest, (int)(end != NULL ? (size_t)(end - *rest) : strlen(*rest))};
    *rest = end != NULL ? end + 1 : NULL;
    return trim(piece);
}

static int count_words(const char *text, char separator)
{
    int count = 1;
    while ((text = strchr(text, separator)) != NULL) {
        count++;
        text++;
    }
    return count;
}

/* A number of digits only that fits 63 bits. */
static bool read_number(word piece, int64_t *number)
{
    int i;
    *number = 0;
    for (i = 0; i < piece.length; i++) {
        if (piece.text[i] < '0' || piece.text[i] > '9' || !pp_multiply_fits(*number, 10, number) ||
            !pp_add_fits(*number, piece.text[i] - '0', number))
            return false;
    }
    return piece.length > 0;
}

/* ---- Dimensions ---- */

static bool has_names(const reading *of)
{
    int d;
    for (d = 0; d < of->ndim; d++)
        if (of->names[d] != NULL)
            return true;
    return false;
}

static void add_dimension(const reading *of, int d, pp_text *text)
{
    if (of->names[d] != NULL)
        pp_text_add(text, "%s", of->names[d]);
    else
        pp_text_add(text, "dimension %d", d);
}

/* The dimensions for a sentence; the end of a long list is cut off with the sentence. */
static void add_dimensions(const reading *of, pp_text *text)
{
    int d;
    for (d = 0; d < of->ndim; d++) {
        pp_text_add(text, "%s", d > 0 ? ", " : "");
        add_dimension(of, d, text);
    }
}

/* Fails with "field: " and the text, which is freed. */
static parapet_status refuse(const reading *of, pp_text *text)
{
    parapet_status status = text->status;
    if (status == PARAPET_OK)
        status = pp_fail(PARAPET_ERR_ARGUMENT, "%s: %s", of->field, text->data);
    pp_text_free(text);
    return status;
}

static parapet_status refuse_name(const reading *of, word name)
{
    pp_text text = {0};
    pp_text_add(&text, "there is no dimension \"%.*s\"; the array has ", name.length, name.text);
    if (of->ndim == 0)
        pp_text_add(&text, "none");
    else if (!has_names(of))
        pp_text_add(&text, "%d dimension%s without names", of->ndim, of->ndim == 1 ? "" : "s");
    else
        add_dimensions(of, &text);
    return refuse(of, &text);
}

static parapet_status refuse_count(const reading *of, int count)
{
    pp_text text = {0};
    pp_text_add(&text, "\"%s\" lists %d, but the array has %d dimension%s", of->text, count, of->ndim,
                of->ndim == 1 ? "" : "s");
    if (has_names(of)) {
        pp_text_add(&text, " (");
        add_dimensions(of, &text);
        pp_text_add(&text, ")");
    }
    return refuse(of, &text);
}

/* A word about a dimension is not what is accepted there. */
static parapet_status refuse_word(const reading *of, int d, word value, const char *why)
{
    pp_text text = {0};
    pp_text_add(&text, "\"%.*s\" for ", value.length, value.text);
    add_dimension(of, d, &text);
    pp_text_add(&text, " %s", why);
    return refuse(of, &text);
}

/* -1 when there is no such dimension. */
static int find_dimension(const reading *of, word name)
{
    int d;
    for (d = 0; d < of->ndim; d++)
        if (equals(name, of->names[d]))
            return d;
    return -1;
}

static parapet_status take_dimension(reading *of, int d)
{
    pp_text text = {0};
    if (of->is_taken[d]) {
        add_dimension(of, d, &text);
        pp_text_add(&text, " is listed twice");
        return refuse(of, &text);
    }
    of->is_taken[d] = true;
    return PARAPET_OK;
}

/* ---- Lists of something per dimension: by name, or in order ---- */

/* Takes what a list says of one dimension. */
typedef parapet_status (*word_thief)(const reading *of, int d, word value, void *context);

/* "time/1000": the name may itself contain what separates it. */
static parapet_status read_named(reading *of, word piece, word_thief take, void *context)
{
    word name = {piece.text, piece.length}, value;
    int d;
    parapet_status status;
    while (name.length > 0 && strchr(of->marks, name.text[name.length - 1]) == NULL)
        name.length--;
    if (name.length == 0) {
        pp_text text = {0};
        pp_text_add(&text, "\"%.*s\" does not name a dimension, as the other entries do", piece.length, piece.text);
        return refuse(of, &text);
    }
    value = trim((word){name.text + name.length, piece.length - name.length});
    name.length--;
    name = trim(name);
    d = find_dimension(of, name);
    if (d < 0)
        return of->is_in_tree ? PARAPET_OK : refuse_name(of, name);
    if ((status = take_dimension(of, d)) != PARAPET_OK)
        return status;
    return take(of, d, value, context);
}

/* Whether the list was about this array goes into *is_used. */
static parapet_status read_list(reading *of, char separator, word_thief take, void *context, bool *is_used)
{
    int count = count_words(of->text, separator), d;
    const char *rest = of->text;
    parapet_status status = PARAPET_OK;
    *is_used = false;
    if (!of->is_named && count != of->ndim)
        return of->is_in_tree ? PARAPET_OK : refuse_count(of, count);
    for (d = 0; rest != NULL && status == PARAPET_OK; d++) {
        word piece = next_word(&rest, separator);
        status = of->is_named ? read_named(of, piece, take, context) : take(of, d, piece, context);
    }
    for (d = 0; d < of->ndim; d++)
        *is_used = *is_used || !of->is_named || of->is_taken[d];
    return status;
}

/* ---- Extents ---- */

static parapet_status take_extent(const reading *of, int d, word value, void *context)
{
    pp_extents *extents = context;
    int64_t *extent = &extents->extent[d];
    if (equals(value, "none"))
        *extent = PP_EXTENT_SAME;
    else if (equals(value, "-1") || (of->is_named && value.length == 0))
        *extent = PP_EXTENT_WHOLE;
    else if (equals(value, "auto"))
        return refuse_word(of, d, value, "is not accepted: auto must be given alone and chooses all extents");
    else if (!read_number(value, extent))
        return refuse_word(of, d, value,
                           "is not accepted: give a number of elements, 0 or -1 for the whole dimension, or none to "
                           "leave it as it is");
    return PARAPET_OK;
}

static parapet_status read_extents(reading *of, pp_extents *extents, bool *is_used)
{
    word all = trim((word){of->text, (int)strlen(of->text)});
    parapet_status status;
    int d;
    *extents = (pp_extents){.kind = PP_EXTENTS_SAME};
    *is_used = true;
    if (equals(all, "auto")) {
        extents->kind = PP_EXTENTS_CHOSEN;
        return PARAPET_OK;
    }
    if (equals(all, "none")) {
        extents->kind = strcmp(of->field, "shards") == 0 ? PP_EXTENTS_UNSHARDED : PP_EXTENTS_SAME;
        return PARAPET_OK;
    }
    for (d = 0; d < of->ndim; d++)
        extents->extent[d] = PP_EXTENT_SAME;
    of->marks = "/=";
    of->is_named = strpbrk(of->text, of->marks) != NULL;
    status = read_list(of, of->is_named || strchr(of->text, ',') != NULL ? ',' : 'x', take_extent, extents, is_used);
    if (*is_used)
        extents->kind = PP_EXTENTS_LISTED;
    return status;
}

/* ---- Region ---- */

typedef struct region {
    int64_t start[PARAPET_MAX_NDIM], end[PARAPET_MAX_NDIM];
} region;

static parapet_status take_range(const reading *of, int d, word value, void *context)
{
    region *chosen = context;
    const char *colon = memchr(value.text, ':', (size_t)value.length);
    word first = {value.text, colon != NULL ? (int)(colon - value.text) : 0}, last = {colon, 0};
    if (colon != NULL)
        last = (word){colon + 1, value.length - first.length - 1};
    first = trim(first);
    last = trim(last);
    if (colon == NULL || (first.length > 0 && !read_number(first, &chosen->start[d])) ||
        (last.length > 0 && !read_number(last, &chosen->end[d])))
        return refuse_word(of, d, value, "is not accepted: give start:end, start:, :end or :");
    if (chosen->end[d] > of->shape[d] || chosen->start[d] > of->shape[d])
        return refuse_word(of, d, value,
                           of->shape[d] == 0 ? "is not inside it: it has no elements"
                                             : "goes beyond its last element");
    if (chosen->start[d] >= chosen->end[d] && of->shape[d] > 0)
        return refuse_word(of, d, value, "has no elements: the end itself is not included");
    return PARAPET_OK;
}

static parapet_status read_region(reading *of, region *chosen, bool *is_used)
{
    int d;
    for (d = 0; d < of->ndim; d++) {
        chosen->start[d] = 0;
        chosen->end[d] = of->shape[d];
    }
    of->marks = "=";
    of->is_named = strpbrk(of->text, of->marks) != NULL;
    return read_list(of, ',', take_range, chosen, is_used);
}

/* ---- Order ---- */

/* The dimensions that a list names, as it names them. */
typedef struct order {
    int count;
    int axis[PARAPET_MAX_NDIM];
    bool is_reversed[PARAPET_MAX_NDIM];
} order;

/* A name that begins with "-" is found as it is; a number is one unless it is a name. */
static int find_axis(const reading *of, word piece, bool *is_reversed)
{
    int64_t number;
    int d = find_dimension(of, piece);
    *is_reversed = d < 0 && piece.length > 0 && piece.text[0] == '-';
    if (*is_reversed)
        d = find_dimension(of, piece = (word){piece.text + 1, piece.length - 1});
    if (d < 0 && read_number(piece, &number) && number < of->ndim)
        d = (int)number;
    return d;
}

static bool is_numbered(word piece)
{
    int64_t number;
    if (piece.length > 0 && piece.text[0] == '-')
        piece = (word){piece.text + 1, piece.length - 1};
    return read_number(piece, &number);
}

static parapet_status check_all_taken(const reading *of)
{
    pp_text text = {0};
    int d;
    for (d = 0; d < of->ndim && of->is_taken[d]; d++)
        ;
    if (d == of->ndim)
        return PARAPET_OK;
    add_dimension(of, d, &text);
    pp_text_add(&text, " is missing; list each of ");
    add_dimensions(of, &text);
    pp_text_add(&text, " once");
    return refuse(of, &text);
}

static bool is_all_numbers(const char *text)
{
    while (text != NULL)
        if (!is_numbered(next_word(&text, ',')))
            return false;
    return true;
}

/* In a hierarchy, a list of numbers is about arrays of as many dimensions only, and of a list of names an array takes
 * those that it has. */
static parapet_status read_order(reading *of, order *listed)
{
    const char *rest = of->text;
    bool is_strict = !of->is_in_tree || is_all_numbers(of->text);
    parapet_status status;
    if (of->is_in_tree && is_strict && count_words(of->text, ',') != of->ndim)
        return PARAPET_OK;
    while (rest != NULL) {
        word piece = next_word(&rest, ',');
        bool is_reversed;
        int d = find_axis(of, piece, &is_reversed);
        if (d < 0 && !is_strict)
            continue;
        if (d < 0)
            return refuse_name(of, is_reversed ? (word){piece.text + 1, piece.length - 1} : piece);
        if ((status = take_dimension(of, d)) != PARAPET_OK)
            return status;
        listed->axis[listed->count] = d;
        listed->is_reversed[listed->count++] = is_reversed;
    }
    return is_strict ? check_all_taken(of) : PARAPET_OK;
}

/* ---- Together ---- */

/* What all texts about an array have in common; its dimensions are told in the order of the view. */
static reading read_about(const pp_array_document *source, const pp_copy_view *view, bool is_in_tree)
{
    reading about = {.ndim = source->ndim, .is_in_tree = is_in_tree};
    int d;
    for (d = 0; d < source->ndim; d++) {
        int a = view->axis[d];
        about.names[d] = source->has_dimension_names ? source->dimension_names[a] : NULL;
        about.shape[d] = source->shape[a];
    }
    return about;
}

/* The dimensions that are listed are put in that order into the places that they have; the others stay. */
static void apply_order(const order *listed, pp_copy_view *view)
{
    bool is_listed[PARAPET_MAX_NDIM] = {false};
    int i, d, next = 0;
    for (i = 0; i < listed->count; i++)
        is_listed[listed->axis[i]] = true;
    for (d = 0; d < view->ndim; d++) {
        if (!is_listed[d])
            continue;
        view->axis[d] = listed->axis[next];
        view->is_reversed[d] = listed->is_reversed[next++];
    }
}

static void apply_region(const pp_array_document *source, const region *chosen, pp_copy_view *view)
{
    int d;
    for (d = 0; d < source->ndim; d++) {
        int a = view->axis[d];
        view->start[d] = chosen != NULL ? chosen->start[a] : 0;
        view->shape[d] = chosen != NULL ? chosen->end[a] - chosen->start[a] : source->shape[a];
    }
}

/* Both are told in the dimensions of the source. */
static parapet_status read_view(pp_copy_wishes *wishes, const parapet_copy_changes *changes,
                                const pp_array_document *source, bool is_in_tree)
{
    reading order_of = read_about(source, &wishes->view, is_in_tree), region_of = order_of;
    order listed = {0};
    region chosen;
    bool has_region = false;
    parapet_status status = PARAPET_OK;
    region_of.field = "region";
    region_of.text = changes->region;
    order_of.field = "order";
    order_of.text = changes->order;
    if (pp_copy_is_given(changes->region))
        status = read_region(&region_of, &chosen, &has_region);
    if (status == PARAPET_OK && pp_copy_is_given(changes->order))
        status = read_order(&order_of, &listed);
    if (status != PARAPET_OK)
        return status;
    apply_order(&listed, &wishes->view);
    apply_region(source, has_region ? &chosen : NULL, &wishes->view);
    wishes->is_touched = has_region || listed.count > 0;
    return PARAPET_OK;
}

parapet_status pp_copy_changes_parse(pp_copy_wishes *wishes, const parapet_copy_changes *changes,
                                     const pp_array_document *source, bool is_in_tree)
{
    reading chunks, shards;
    bool has_chunks = false, has_shards = false;
    parapet_status status;
    *wishes = (pp_copy_wishes){0};
    pp_copy_view_init(&wishes->view, source->ndim, source->shape);
    if ((status = PP_RESERVED_CHECK(parapet_copy_changes, changes)) != PARAPET_OK ||
        (status = read_view(wishes, changes, source, is_in_tree)) != PARAPET_OK)
        return status;
    chunks = shards = read_about(source, &wishes->view, is_in_tree);
    chunks.field = "chunks";
    chunks.text = changes->chunks;
    shards.field = "shards";
    shards.text = changes->shards;
    if (pp_copy_is_given(changes->chunks))
        status = read_extents(&chunks, &wishes->chunks, &has_chunks);
    if (status == PARAPET_OK && pp_copy_is_given(changes->shards))
        status = read_extents(&shards, &wishes->shards, &has_shards);
    wishes->is_touched = wishes->is_touched || has_chunks || has_shards;
    return status;
}

static bool is_coordinate(const pp_array_document *document, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    return document->ndim == 1 && document->dimension_names[0] != NULL &&
           strcmp(document->dimension_names[0], name) == 0;
}

parapet_copy_changes pp_copy_changes_for(const parapet_copy_changes *changes, const pp_array_document *source,
                                         const char *path, bool is_in_tree)
{
    parapet_copy_changes own = *changes;
    if (is_in_tree && is_coordinate(source, path))
        own.chunks = own.shards = NULL;
    return own;
}
