#include "arguments.h"
#include "display.h"
#include "element.h"
#include "memory.h"
#include "missing.h"
#include "node.h"
#include "packing.h"
#include "place.h"
#include "png.h"
#include "region.h"
#include "region_read.h"
#include "report.h"
#include "screen.h"
#include "store.h"
#include "verbs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tool_flag flags[] = {
    {0, 0, NULL, NULL},
};

static const tool_value values[] = {
    {'r', "region", "--region LIST", "which slice: \"time=5\", \"time=5,lat=0:100\" or \"5,:,:\""},
    {0, "svg", "--svg FILE", "draw into FILE instead of the terminal"},
    {0, NULL, NULL, NULL},
};

enum { PICTURE_WIDTH = 720, PICTURE_HEIGHT = 480, TERMINAL_ROWS = 40 };

/* One of the two dimensions of the slice. */
typedef struct tool_axis {
    int dimension;
    int64_t start, length;     /* in the array */
    int64_t step, pixels;      /* every step-th element is shown */
    char *name, *first, *last; /* for people */
} tool_axis;

/* A slice that is being shown. */
typedef struct tool_showing {
    const tool_request *request;
    parapet_store *store;
    const char *path;
    tool_node node;
    tool_region region;
    tool_missing missing;
    tool_packing packing;
    tool_axis down, right;
    double *pixels; /* rows of values; NAN: missing */
    double least, most;
    char *title, *units;
} tool_showing;

/* ---- Colours ---- */

/* From dark blue over green to yellow, equally spaced (viridis). */
static const unsigned char colour_points[][3] = {{68, 1, 84},    {71, 44, 122},  {59, 81, 139},
                                                 {44, 113, 142}, {33, 144, 141}, {39, 173, 129},
                                                 {92, 200, 99},  {170, 220, 50}, {253, 231, 37}};
enum { COLOUR_STEPS = sizeof colour_points / sizeof colour_points[0] - 1 };

/* Where a value is between the least and the most, from 0 to 1; of halves, as the range itself may be too large for a
 * number. */
static double place_of(const tool_showing *showing, double value)
{
    double range = showing->most / 2 - showing->least / 2;
    double place = range > 0 ? (value / 2 - showing->least / 2) / range : 0.5;
    return place < 0 ? 0 : place > 1 ? 1 : place;
}

static void colour_at(double place, unsigned char colour[3])
{
    double at = place * COLOUR_STEPS;
    int low = at >= COLOUR_STEPS ? COLOUR_STEPS - 1 : (int)at;
    for (int i = 0; i < 3; i++)
        colour[i] = (unsigned char)lrint(colour_points[low][i] +
                                         (at - low) * (colour_points[low + 1][i] - colour_points[low][i]));
}

/* What is missing is grey. */
static void colour_of(const tool_showing *showing, double value, unsigned char colour[3])
{
    static const unsigned char grey[3] = {190, 190, 190};
    if (isnan(value))
        memcpy(colour, grey, sizeof grey);
    else
        colour_at(place_of(showing, value), colour);
}

/* ---- Reading ---- */

/* Elements that are read at once: one call reads no chunk twice. */
typedef struct tool_batch {
    parapet_part *parts;
    int64_t *starts; /* of each part */
    unsigned char *data;
    int64_t *counts; /* of all: one element */
} tool_batch;

static void batch_init(tool_batch *batch, const parapet_array_info *info, int64_t elements)
{
    *batch = (tool_batch){.parts = memory_get((size_t)elements * sizeof *batch->parts),
                          .starts = memory_get((size_t)(elements * info->ndim) * sizeof *batch->starts),
                          .data = memory_get((size_t)elements * info->element_bytes),
                          .counts = memory_get((size_t)info->ndim * sizeof *batch->counts)};
    for (int d = 0; d < info->ndim; d++)
        batch->counts[d] = 1;
}

static void batch_free(tool_batch *batch)
{
    free(batch->parts);
    free(batch->starts);
    free(batch->data);
    free(batch->counts);
}

/* The part that is one pixel. */
static void batch_set(tool_batch *batch, const tool_showing *showing, int64_t index)
{
    const parapet_array_info *info = &showing->node.info;
    const tool_axis *down = &showing->down, *right = &showing->right;
    int64_t *start = batch->starts + index * info->ndim;
    memcpy(start, showing->region.start, (size_t)info->ndim * sizeof *start);
    start[down->dimension] += index / right->pixels * down->step;
    start[right->dimension] += index % right->pixels * right->step;
    batch->parts[index] = (parapet_part){.ndim = info->ndim,
                                         .start = start,
                                         .count = batch->counts,
                                         .data = batch->data + (size_t)index * info->element_bytes};
}

static double value_of(const tool_showing *showing, const unsigned char *element)
{
    double value = NAN;
    (void)element_number(&showing->node.info, element, &value);
    return missing_is(&showing->missing, element, value) ? NAN : packing_undo(&showing->packing, value);
}

/* Reads only what is shown, however large the slice is. */
static parapet_status read_values(tool_showing *showing, int64_t count)
{
    tool_batch batch;
    parapet_status status;
    batch_init(&batch, &showing->node.info, count);
    for (int64_t i = 0; i < count; i++)
        batch_set(&batch, showing, i);
    status = parapet_array_read(showing->node.array, batch.parts, (int)count);
    for (int64_t i = 0; i < count && status == PARAPET_OK; i++)
        showing->pixels[i] = value_of(showing, batch.data + (size_t)i * showing->node.info.element_bytes);
    batch_free(&batch);
    return status;
}

static void find_range(tool_showing *showing)
{
    bool is_known = false;
    for (int64_t i = 0; i < showing->down.pixels * showing->right.pixels; i++) {
        double value = showing->pixels[i];
        if (!isfinite(value))
            continue;
        showing->least = !is_known || value < showing->least ? value : showing->least;
        showing->most = !is_known || value > showing->most ? value : showing->most;
        is_known = true;
    }
}

static parapet_status read_pixels(tool_showing *showing)
{
    size_t count = (size_t)(showing->down.pixels * showing->right.pixels);
    parapet_status status;
    showing->pixels = memory_get(count * sizeof *showing->pixels);
    for (size_t i = 0; i < count; i++)
        showing->pixels[i] = NAN;
    missing_init(&showing->missing, &showing->node);
    showing->packing = packing_of(&showing->node);
    status = read_values(showing, (int64_t)count);
    missing_free(&showing->missing);
    find_range(showing);
    return status;
}

/* ---- Axes ---- */

/* The coordinate of an index along a dimension; NULL: there is none. */
static char *text_of_coordinate(const tool_showing *showing, const char *name, int64_t index)
{
    const char *slash = strrchr(showing->path, '/');
    char *path = text_format("%.*s%s", slash != NULL ? (int)(slash - showing->path + 1) : 0, showing->path, name);
    tool_region one = {.ndim = 1, .start = {index}, .count = {1}};
    tool_node node = {0};
    char *text = NULL;
    if (node_open(&node, showing->store, path) == PARAPET_OK && node.array != NULL && node.info.ndim == 1 &&
        node.info.element_bytes > 0 && node.info.shape[0] > index) {
        void *element = memory_get(node.info.element_bytes);
        if (region_read(&node, &one, element) == PARAPET_OK)
            text = text_of_element(&node.info, element);
        free(element);
    }
    node_close(&node);
    free(path);
    return text;
}

/* The coordinate of an axis at one end, if there is one; else the index. */
static char *text_of_end(const tool_showing *showing, const tool_axis *axis, int64_t index)
{
    char *text = text_of_coordinate(showing, axis->name, index);
    return text != NULL ? text : text_format("%" PRId64, index);
}

static void init_axis(tool_showing *showing, tool_axis *axis, int dimension, int64_t pixels_most)
{
    const parapet_array_info *info = &showing->node.info;
    const char *name = info->dimension_names != NULL ? info->dimension_names[dimension] : NULL;
    *axis = (tool_axis){.dimension = dimension,
                        .start = showing->region.start[dimension],
                        .length = showing->region.count[dimension]};
    axis->step = (axis->length - 1) / pixels_most + 1;
    axis->pixels = (axis->length - 1) / axis->step + 1;
    axis->name = name != NULL ? text_visible(name) : text_format("dim_%d", dimension);
    axis->first = text_of_end(showing, axis, axis->start);
    axis->last = text_of_end(showing, axis, axis->start + axis->length - 1);
}

static void free_axis(tool_axis *axis)
{
    free(axis->name);
    free(axis->first);
    free(axis->last);
}

/* Of dimensions that are not given, the last two are shown, of the others the first element. */
static bool choose_axes(tool_showing *showing, int64_t width, int64_t height)
{
    tool_region *region = &showing->region;
    int shown[2] = {-1, -1}, found = 2;
    for (int d = region->ndim - 1; d >= 0; d--) {
        if (!region->is_index[d] && found > 0)
            shown[--found] = d;
        else if (!region->is_index[d])
            region->count[d] = 1;
    }
    if (found > 0) {
        report_error(showing->request->operands[0],
                     "a picture needs two dimensions that are not given as one index; parapet dump prints values");
        return false;
    }
    init_axis(showing, &showing->down, shown[0], height);
    init_axis(showing, &showing->right, shown[1], width);
    return true;
}

/* "level 850 (index 1)", or "level 1" without a coordinate. */
static char *text_of_place(const tool_showing *showing, int dimension)
{
    const parapet_array_info *info = &showing->node.info;
    const char *name = info->dimension_names != NULL ? info->dimension_names[dimension] : NULL;
    int64_t index = showing->region.start[dimension];
    char *visible = name != NULL ? text_visible(name) : text_format("dim_%d", dimension);
    char *coordinate = text_of_coordinate(showing, visible, index);
    char *text = coordinate != NULL ? text_format("%s %s (index %" PRId64 ")", visible, coordinate, index)
                                    : text_format("%s %" PRId64, visible, index);
    free(coordinate);
    free(visible);
    return text;
}

/* "t2m, time 1051896 (index 0), level 1" */
static char *text_of_title(const tool_showing *showing)
{
    char *title = text_visible(showing->path[0] != '\0' ? showing->path : showing->request->operands[0]);
    for (int d = 0; d < showing->node.info.ndim; d++) {
        char *place, *longer;
        if (d == showing->down.dimension || d == showing->right.dimension)
            continue;
        place = text_of_place(showing, d);
        longer = text_format("%s, %s", title, place);
        free(place);
        free(title);
        title = longer;
    }
    return title;
}

static void init_title(tool_showing *showing)
{
    char *json = NULL;
    showing->title = text_of_title(showing);
    if (parapet_array_attribute_get(showing->node.array, "units", &json) == PARAPET_OK && json[0] == '"')
        showing->units = text_format("%.*s", (int)strlen(json) - 2, json + 1);
    else
        showing->units = text_format("%s", "");
    parapet_free(json);
}

/* ---- In the terminal ---- */

static double pixel(const tool_showing *showing, int64_t y, int64_t x)
{
    return y < showing->down.pixels ? showing->pixels[y * showing->right.pixels + x] : NAN;
}

static void print_shade(double place)
{
    static const char shades[] = " .:-=+*#%@";
    putchar(isnan(place) ? '?' : shades[(int)(place * (double)(sizeof shades - 2) + 0.5)]);
}

/* Two values one above the other, in a character; without colours, one. */
static void print_rows(const tool_showing *showing, bool has_colours)
{
    for (int64_t y = 0; y < showing->down.pixels; y += has_colours ? 2 : 1) {
        for (int64_t x = 0; x < showing->right.pixels; x++) {
            unsigned char upper[3], lower[3];
            double value = pixel(showing, y, x);
            if (!has_colours) {
                print_shade(isnan(value) ? value : place_of(showing, value));
                continue;
            }
            colour_of(showing, value, upper);
            colour_of(showing, pixel(showing, y + 1, x), lower);
            printf("\033[38;2;%d;%d;%dm\033[48;2;%d;%d;%dm▀", upper[0], upper[1], upper[2], lower[0], lower[1],
                   lower[2]);
        }
        puts(has_colours ? "\033[0m" : "");
    }
}

static void print_bar(const tool_showing *showing, bool has_colours)
{
    enum { LENGTH = 40 };
    printf("%.6g ", showing->least);
    for (int i = 0; i < LENGTH; i++) {
        unsigned char colour[3];
        colour_at((double)i / (LENGTH - 1), colour);
        if (has_colours)
            printf("\033[48;2;%d;%d;%dm ", colour[0], colour[1], colour[2]);
        else
            print_shade((double)i / (LENGTH - 1));
    }
    printf("%s %.6g%s%s\n", has_colours ? "\033[0m" : "", showing->most, showing->units[0] != '\0' ? " " : "",
           showing->units);
}

static void show_in_terminal(const tool_showing *showing)
{
    const tool_axis *down = &showing->down, *right = &showing->right;
    bool has_colours = isatty(STDOUT_FILENO) != 0 && getenv("NO_COLOR") == NULL;
    printf("%s\n", showing->title);
    print_rows(showing, has_colours);
    printf("%s %s to %s downwards, %s %s to %s to the right\n", down->name, down->first, down->last, right->name,
           right->first, right->last);
    print_bar(showing, has_colours);
}

/* ---- As SVG ---- */

enum { MARGIN_LEFT = 110, MARGIN_TOP = 50, BAR_GAP = 30, BAR_WIDTH = 20, MARGIN_RIGHT = 120, MARGIN_BOTTOM = 60 };
enum { CHARACTER_WIDTH = 8, NUMBER_CHARACTERS = 13 }; /* of 14 points, at most on average; of "-1.23456e-123" */

static void write_characters(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '<' || *text == '>' || *text == '&')
            fprintf(out, "&#%d;", *text);
        else
            fputc(*text, out);
    fputs("</text>\n", out);
}

static void write_text(FILE *out, double x, double y, const char *anchor, const char *text)
{
    fprintf(out, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\">", x, y, anchor);
    write_characters(out, text);
}

/* From below to above, so that it may be long. */
static void write_turned_text(FILE *out, double x, double y, const char *text)
{
    fprintf(out, "<text transform=\"translate(%.0f %.0f) rotate(-90)\" text-anchor=\"middle\">", x, y);
    write_characters(out, text);
}

static void write_number(FILE *out, double x, double y, double number, const char *units)
{
    char *text = text_format("%.6g%s%s", number, units[0] != '\0' ? " " : "", units);
    write_text(out, x, y, "start", text);
    free(text);
}

static void write_picture(const tool_showing *showing, FILE *out, double width, double height)
{
    size_t count = (size_t)(showing->down.pixels * showing->right.pixels);
    unsigned char *colours = memory_get(3 * count);
    char *png;
    for (size_t i = 0; i < count; i++)
        colour_of(showing, showing->pixels[i], colours + 3 * i);
    png = text_of_png(colours, (size_t)showing->right.pixels, (size_t)showing->down.pixels);
    fprintf(out,
            "<image x=\"%d\" y=\"%d\" width=\"%.0f\" height=\"%.0f\" preserveAspectRatio=\"none\" "
            "style=\"image-rendering: pixelated\" href=\"data:image/png;base64,%s\"/>\n"
            "<rect x=\"%d\" y=\"%d\" width=\"%.0f\" height=\"%.0f\" fill=\"none\" stroke=\"#444\"/>\n",
            MARGIN_LEFT, MARGIN_TOP, width, height, png, MARGIN_LEFT, MARGIN_TOP, width, height);
    free(png);
    free(colours);
}

static void write_bar(const tool_showing *showing, FILE *out, double x, double height)
{
    fputs("<defs><linearGradient id=\"bar\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">\n", out);
    for (int i = 0; i <= COLOUR_STEPS; i++)
        fprintf(out, "<stop offset=\"%d%%\" stop-color=\"rgb(%d,%d,%d)\"/>\n", 100 * i / COLOUR_STEPS,
                colour_points[i][0], colour_points[i][1], colour_points[i][2]);
    fprintf(out,
            "</linearGradient></defs>\n<rect x=\"%.0f\" y=\"%d\" width=\"%d\" height=\"%.0f\" "
            "fill=\"url(#bar)\" stroke=\"#444\"/>\n",
            x, MARGIN_TOP, BAR_WIDTH, height);
    write_number(out, x + BAR_WIDTH + 6, MARGIN_TOP + 10, showing->most, showing->units);
    write_number(out, x + BAR_WIDTH + 6, MARGIN_TOP + height / 2 + 4, showing->least / 2 + showing->most / 2,
                 showing->units);
    write_number(out, x + BAR_WIDTH + 6, MARGIN_TOP + height, showing->least, showing->units);
}

static void write_axes(const tool_showing *showing, FILE *out, double width, double height)
{
    const tool_axis *down = &showing->down, *right = &showing->right;
    write_text(out, MARGIN_LEFT - 8, MARGIN_TOP + 12, "end", down->first);
    write_turned_text(out, 20, MARGIN_TOP + height / 2, down->name);
    write_text(out, MARGIN_LEFT - 8, MARGIN_TOP + height, "end", down->last);
    write_text(out, MARGIN_LEFT, MARGIN_TOP + height + 20, "start", right->first);
    write_text(out, MARGIN_LEFT + width / 2, MARGIN_TOP + height + 40, "middle", right->name);
    write_text(out, MARGIN_LEFT + width, MARGIN_TOP + height + 20, "end", right->last);
}

/* Elements are square as long as the picture is neither very wide nor very high. */
static void choose_size(const tool_showing *showing, double *width, double *height)
{
    double ratio = (double)showing->down.length / (double)showing->right.length;
    *width = PICTURE_WIDTH;
    *height = PICTURE_WIDTH * (ratio < 0.2 ? 0.2 : ratio);
    if (*height > PICTURE_HEIGHT) {
        *height = PICTURE_HEIGHT;
        *width = PICTURE_HEIGHT / (ratio > 4 ? 4 : ratio);
    }
}

/* Room for the title, and for numbers with units beside the bar. */
static double choose_whole_width(const tool_showing *showing, double width)
{
    double bar_end = MARGIN_LEFT + width + BAR_GAP + BAR_WIDTH;
    double with_title = MARGIN_LEFT + CHARACTER_WIDTH * (double)strlen(showing->title) + BAR_GAP;
    double with_units = bar_end + CHARACTER_WIDTH * (double)(NUMBER_CHARACTERS + strlen(showing->units));
    return fmax(bar_end + MARGIN_RIGHT, fmax(with_title, with_units));
}

static bool show_as_svg(const tool_showing *showing, const char *path)
{
    char *svg = NULL;
    size_t bytes = 0;
    double width, height;
    bool is_written;
    FILE *out = open_memstream(&svg, &bytes);
    if (out == NULL)
        return false;
    choose_size(showing, &width, &height);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" "
            "font-size=\"14\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            choose_whole_width(showing, width), MARGIN_TOP + height + MARGIN_BOTTOM);
    write_text(out, MARGIN_LEFT, MARGIN_TOP - 18, "start", showing->title);
    write_picture(showing, out, width, height);
    write_axes(showing, out, width, height);
    write_bar(showing, out, MARGIN_LEFT + width + BAR_GAP, height);
    fputs("</svg>\n", out);
    (void)fclose(out);
    is_written = file_write(path, svg);
    free(svg);
    return is_written;
}

/* ---- Together ---- */

static bool is_showable(const tool_showing *showing)
{
    double number;
    if (!node_is_readable(&showing->node, showing->request->operands[0]))
        return false;
    if (region_elements(&showing->region) > 0 &&
        element_number(&showing->node.info, showing->node.info.fill_value, &number))
        return true;
    report_error(showing->request->operands[0], "it has no numbers to show");
    return false;
}

static int show(tool_showing *showing)
{
    const char *svg = request_value(showing->request, "svg");
    int64_t width = svg != NULL ? PICTURE_WIDTH : (int64_t)screen_columns();
    parapet_status status;
    if (!choose_axes(showing, width, svg != NULL ? PICTURE_HEIGHT : TERMINAL_ROWS))
        return TOOL_FAILED;
    init_title(showing);
    if ((status = read_pixels(showing)) != PARAPET_OK) {
        report_status(status, showing->request->operands[0]);
        return TOOL_FAILED;
    }
    if (svg != NULL)
        return show_as_svg(showing, svg) ? TOOL_OK : TOOL_FAILED;
    show_in_terminal(showing);
    return TOOL_OK;
}

static int run_opened(tool_showing *showing)
{
    const tool_request *request = showing->request;
    parapet_status status = node_open(&showing->node, showing->store, showing->path);
    if (status != PARAPET_OK) {
        report_status(status, request->operands[0]);
        return TOOL_FAILED;
    }
    if (showing->node.array != NULL && !region_parse(request, &showing->node.info, &showing->region))
        return TOOL_USAGE;
    return is_showable(showing) ? show(showing) : TOOL_FAILED;
}

static int run(const tool_request *request)
{
    tool_showing showing = {.request = request};
    tool_place place;
    int exit_code = TOOL_FAILED;
    if (request->flags & TOOL_JSON) {
        report_error("show", "--json: a picture is no document; parapet dump --json prints the values");
        return TOOL_USAGE;
    }
    if (!place_init_source(&place, request, request->operands[0]) ||
        (showing.store = store_open(request, place.store, PARAPET_READ)) == NULL)
        return TOOL_FAILED;
    showing.path = place.path;
    exit_code = run_opened(&showing);
    node_close(&showing.node);
    free_axis(&showing.down);
    free_axis(&showing.right);
    free(showing.pixels);
    free(showing.title);
    free(showing.units);
    (void)parapet_store_close(&showing.store);
    return exit_code;
}

const tool_verb verb_show = {
    .name = "show",
    .operands = "ARRAY",
    .summary = "Shows a slice of an array as a picture.",
    .details = "The slice has the last two dimensions, unless the region gives one of them as an\n"
               "index; of others it is the first element, unless the region says which.\n"
               "Only what is shown is read. Coordinates and units are shown if there are any;\n"
               "packed values are unpacked.\n"
               "Example:\n"
               "  parapet show --region time=5 --svg t2m.svg run.zarr/t2m\n",
    .exit_codes = "0 shown, 1 failed, 2 wrong usage.",
    .flags = flags,
    .values = values,
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
