#include "forecast/drawing.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/checked.h"
#include "base/sketch.h"

/* Shards along a side: of more, a corner is drawn. */
#define SHARDS_MOST 24
/* Names of ranks along a side. */
#define NAMES_MOST 160
#define LEGEND_MOST 14

#define DRAWN_WIDTH 660.0
#define DRAWN_HEIGHT 600.0
#define LEFT 84.0
#define TOP 112.0
#define LEGEND_WIDTH 250.0

typedef struct sketch {
    const pp_forecast_facts *facts;
    pp_sketch page;
    int64_t rows, columns;   /* of shards, drawn */
    int legend[LEGEND_MOST]; /* servers that are named */
    int legend_count;
    bool has_more_servers;
} sketch;

/* ---- What is drawn ---- */

static bool is_cut(const pp_forecast_facts *facts, int d)
{
    return facts->by.tiling->shards.cells[d] > 1 || facts->by.distribution->mesh[d] > 1;
}

static int next_dimension(const pp_forecast_facts *facts, int from, bool wants_cut)
{
    int d;
    for (d = from; d < facts->by.tiling->shards.ndim; d++)
        if (is_cut(facts, d) == wants_cut)
            return d;
    return -1;
}

/* Whether the drawing of these two dimensions would show more than one owner. */
static bool shows_owners(const pp_forecast_facts *facts, int down, int across)
{
    const pp_grid *shards = &facts->by.tiling->shards;
    int64_t rows = pp_min_i64(shards->cells[down], SHARDS_MOST);
    int64_t columns = pp_min_i64(shards->cells[across], SHARDS_MOST), i;
    for (i = 1; i < rows * columns; i++) {
        int64_t cell[PARAPET_MAX_NDIM] = {0};
        cell[down] = i / columns;
        cell[across] = i % columns;
        if (pp_schedule_owner(facts->schedule, pp_grid_cell_number(shards, cell)) !=
            pp_schedule_owner(facts->schedule, 0))
            return true;
    }
    return false;
}

/* The next dimension that is cut, or a later one if only that shows more than one owner: shards that are dealt out in
 * turn can belong to one server wherever the last dimension stays the same. */
static int second_dimension(const pp_forecast_facts *facts, int first)
{
    int next = next_dimension(facts, first + 1, true), d;
    for (d = next; d >= 0; d = next_dimension(facts, d + 1, true))
        if (shows_owners(facts, first, d))
            return d;
    return next;
}

/* The first two dimensions that are cut; of those that are not, the last ones, which lie closest in memory. */
static void choose_dimensions(sketch *drawing)
{
    const pp_forecast_facts *facts = drawing->facts;
    int ndim = facts->by.tiling->shards.ndim, first = next_dimension(facts, 0, true);
    int second = first < 0 ? -1 : second_dimension(facts, first);
    if (first < 0)
        first = ndim - 1;
    if (second < 0 && ndim > 1)
        second = first == ndim - 1 ? ndim - 2 : ndim - 1;
    if (second >= 0 && second < first) {
        int swapped = first;
        first = second;
        second = swapped;
    }
    drawing->page.down.d = second >= 0 ? first : -1;
    drawing->page.across.d = second >= 0 ? second : first;
}

/* Returns how many shards are drawn along the side. */
static int64_t measure_side(const pp_forecast_facts *facts, pp_sketch_side *side)
{
    const pp_grid *shards = &facts->by.tiling->shards;
    int64_t drawn;
    if (side->d < 0 || shards->shape[side->d] == 0) {
        side->elements = 1;
        return 1;
    }
    drawn = pp_min_i64(shards->cells[side->d], SHARDS_MOST);
    side->elements = pp_min_i64(drawn * shards->cell_shape[side->d], shards->shape[side->d]);
    return drawn;
}

/* ---- Colours ---- */

static int channel(double hue, double saturation, double lightness, double shift)
{
    double k = fmod(shift + hue * 12, 12), a = saturation * fmin(lightness, 1 - lightness);
    double value = lightness - a * fmax(-1, fmin(fmin(k - 3, 9 - k), 1));
    return (int)(value * 255 + 0.5);
}

/* Steps of the golden angle: neighbours differ most, and no number of servers runs out of colours. */
static void format_colour(int server, char text[16])
{
    static const double lightness[3] = {0.82, 0.76, 0.88};
    double hue = fmod(0.58 + server * 0.618034, 1), light = lightness[server / 8 % 3];
    (void)snprintf(text, 16, "#%02x%02x%02x", channel(hue, 0.62, light, 0), channel(hue, 0.62, light, 8),
                   channel(hue, 0.62, light, 4));
}

/* ---- Parts of the drawing ---- */

static void note_server(sketch *drawing, int server)
{
    int i;
    for (i = 0; i < drawing->legend_count; i++)
        if (drawing->legend[i] == server)
            return;
    if (drawing->legend_count == LEGEND_MOST)
        drawing->has_more_servers = true;
    else
        drawing->legend[drawing->legend_count++] = server;
}

static void draw_shard(sketch *drawing, int64_t row, int64_t column)
{
    const pp_grid *shards = &drawing->facts->by.tiling->shards;
    const pp_sketch_side *down = &drawing->page.down, *across = &drawing->page.across;
    int64_t cell[PARAPET_MAX_NDIM] = {0};
    char colour[16], label[24];
    double left, top, width, height;
    int owner;
    if (down->d >= 0)
        cell[down->d] = row;
    if (across->d >= 0)
        cell[across->d] = column;
    owner = pp_schedule_owner(drawing->facts->schedule, pp_grid_cell_number(shards, cell));
    note_server(drawing, owner);
    format_colour(owner, colour);
    left = across->d < 0 ? across->first : pp_sketch_place(across, column * shards->cell_shape[across->d]);
    top = down->d < 0 ? down->first : pp_sketch_place(down, row * shards->cell_shape[down->d]);
    width = (across->d < 0 ? across->first + across->pixels
                           : pp_sketch_place(across, (column + 1) * shards->cell_shape[across->d])) -
            left;
    height =
        (down->d < 0 ? down->first + down->pixels : pp_sketch_place(down, (row + 1) * shards->cell_shape[down->d])) -
        top;
    pp_text_add(drawing->page.svg, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", left,
                top, width, height, colour);
    (void)snprintf(label, sizeof label, "%d", owner);
    if (width >= 7 * (owner > 999 ? 4 : owner > 99 ? 3 : 2) && height >= 16)
        pp_sketch_words(drawing->page.svg, left + width - 4, top + height - 5, "owner", label);
}

static void draw_shards(sketch *drawing)
{
    int64_t row, column;
    if (drawing->facts->by.tiling->shards.cell_count == 0)
        return;
    for (row = 0; row < drawing->rows; row++)
        for (column = 0; column < drawing->columns; column++)
            draw_shard(drawing, row, column);
}

typedef struct fineness {
    bool has_chunks, has_ranks;
} fineness;

static fineness draw_grids(const sketch *drawing)
{
    const pp_sketch_side *sides[2] = {&drawing->page.down, &drawing->page.across};
    const pp_forecast_facts *facts = drawing->facts;
    fineness seen = {true, true};
    int i;
    for (i = 0; i < 2; i++)
        if (sides[i]->d >= 0)
            seen.has_chunks = pp_sketch_lines(&drawing->page, sides[i],
                                              facts->by.tiling->chunks.cell_shape[sides[i]->d], 0, "chunk", 5) &&
                              seen.has_chunks;
    for (i = 0; i < 2; i++)
        if (sides[i]->d >= 0)
            (void)pp_sketch_lines(&drawing->page, sides[i], facts->by.tiling->shards.cell_shape[sides[i]->d], 0,
                                  "shard", 0);
    for (i = 0; i < 2; i++)
        if (sides[i]->d >= 0)
            seen.has_ranks =
                pp_sketch_lines(&drawing->page, sides[i], facts->by.distribution->block[sides[i]->d], 0, "rank", 4) &&
                seen.has_ranks;
    return seen;
}

/* Blocks of one side that are drawn, at least one. */
static int64_t blocks_of(const sketch *drawing, const pp_sketch_side *side)
{
    return side->d < 0 ? 1 : pp_divide_up(side->elements, drawing->facts->by.distribution->block[side->d]);
}

static double middle_of(const sketch *drawing, const pp_sketch_side *side, int64_t block, double *pixels)
{
    int64_t step = side->d < 0 ? side->elements : drawing->facts->by.distribution->block[side->d];
    double low = pp_sketch_place(side, block * step), high = pp_sketch_place(side, (block + 1) * step);
    *pixels = high - low;
    return low + *pixels / 2;
}

/* "rank 7" or only "7", whichever a box of that width has room for; false: neither. */
static bool fit_name(int64_t rank, double width, char label[32], double *needed)
{
    *needed = 8 + 6.6 * snprintf(label, 32, "rank %" PRId64, rank);
    if (width < *needed + 4)
        *needed = 8 + 6.8 * snprintf(label, 32, "%" PRId64, rank);
    return width >= *needed + 4;
}

/* In the middle of their boxes, where there is room. */
static void name_ranks(const sketch *drawing)
{
    const pp_distribution *distribution = drawing->facts->by.distribution;
    const pp_sketch_side *down = &drawing->page.down, *across = &drawing->page.across;
    int64_t row, column, position[PARAPET_MAX_NDIM] = {0};
    for (row = 0; row < blocks_of(drawing, down) && row <= NAMES_MOST; row++)
        for (column = 0; column < blocks_of(drawing, across) && column <= NAMES_MOST; column++) {
            double width, height, x = middle_of(drawing, across, column, &width);
            double y = middle_of(drawing, down, row, &height), needed;
            char label[32];
            if (down->d >= 0)
                position[down->d] = row % distribution->mesh[down->d];
            if (across->d >= 0)
                position[across->d] = column % distribution->mesh[across->d];
            if (!fit_name(pp_distribution_rank(distribution, position), width, label, &needed) || height < 34)
                continue;
            pp_text_add(drawing->page.svg,
                        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"17\" rx=\"8\" class=\"name\"/>\n",
                        x - needed / 2, y - 9, needed);
            pp_sketch_words(drawing->page.svg, x, y + 4, "ranks", label);
        }
}

/* ---- Words around it ---- */

static void add_seen(const sketch *drawing, pp_text *text)
{
    const pp_grid *shards = &drawing->facts->by.tiling->shards;
    const pp_sketch_side *down = &drawing->page.down, *across = &drawing->page.across;
    int64_t rows = down->d < 0 ? 1 : shards->cells[down->d];
    int64_t columns = across->d < 0 ? 1 : shards->cells[across->d];
    if (shards->ndim > 2) {
        pp_text_add(text, "The slice ");
        pp_sketch_slice(&drawing->page, shards->ndim, text);
        pp_text_add(text, ". ");
    }
    if (shards->cell_count == 0)
        pp_text_add(text, "The array has no elements. ");
    else if (drawing->rows < rows || drawing->columns < columns)
        pp_text_add(text, "Only a corner is drawn: %" PRId64 " x %" PRId64 " of %" PRId64 " x %" PRId64 " shards. ",
                    drawing->rows, drawing->columns, rows, columns);
}

static void draw_title(const sketch *drawing)
{
    const pp_forecast_facts *facts = drawing->facts;
    pp_text *svg = drawing->page.svg;
    pp_text_add(svg, "<text x=\"%.1f\" y=\"36\" class=\"title\">%s of ", LEFT, facts->is_read ? "Read" : "Write");
    pp_shape_print(facts->by.tiling->shards.ndim, facts->by.tiling->shards.shape, svg);
    pp_text_add(svg, " %s</text>\n<text x=\"%.1f\" y=\"58\" class=\"note\">%" PRId64 " ranks as ", facts->type_name,
                LEFT, facts->by.distribution->rank_count);
    pp_shape_print(facts->by.distribution->ndim, facts->by.distribution->mesh, svg);
    pp_text_add(svg, ", %" PRId64 " shards of ", facts->by.tiling->shards.cell_count);
    pp_shape_print(facts->by.tiling->shards.ndim, facts->by.tiling->shards.cell_shape, svg);
    pp_text_add(svg, ", %d servers (owners %s, sharing %s)</text>\n<text x=\"%.1f\" y=\"78\" class=\"note\">",
                facts->by.server_count, pp_forecast_owners_word(facts), pp_forecast_sharing_word(facts), LEFT);
    add_seen(drawing, svg);
    pp_text_add(svg, "</text>\n");
}

static void draw_legend(const sketch *drawing, fineness seen)
{
    double x = LEFT + drawing->page.across.pixels + 28, y = TOP + 10;
    char words[96], colour[16];
    int i;
    bool has_owners = !pp_schedule_is_self_service(drawing->facts->schedule);
    pp_sketch_words(drawing->page.svg, x, y, "heading",
                    has_owners ? "Owners of shards" : "Who reads most of a shard");
    for (i = 0; i < drawing->legend_count; i++) {
        int server = drawing->legend[i];
        y += 21;
        format_colour(server, colour);
        pp_text_add(drawing->page.svg,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"15\" height=\"15\" rx=\"2\" fill=\"%s\" "
                    "stroke=\"#777\" stroke-width=\"0.6\"/>\n",
                    x, y - 12, colour);
        (void)snprintf(words, sizeof words, "server %d on rank %" PRId64, server,
                       pp_schedule_server_rank(drawing->facts->schedule, server));
        pp_sketch_words(drawing->page.svg, x + 23, y, "note", words);
    }
    if (drawing->has_more_servers)
        pp_sketch_words(drawing->page.svg, x + 23, y += 21, "note", "and more, by number");
    y += 34;
    pp_sketch_words(drawing->page.svg, x, y, "heading", "Lines");
    pp_text_add(drawing->page.svg, "<path d=\"M%.1f %.1fh15\" class=\"rank\"/>\n", x, y + 17);
    pp_sketch_words(drawing->page.svg, x + 23, y + 21, "note",
                    seen.has_ranks ? "between ranks" : "between ranks: too fine to draw");
    pp_text_add(drawing->page.svg, "<path d=\"M%.1f %.1fh15\" class=\"shard key\"/>\n", x, y + 38);
    pp_sketch_words(drawing->page.svg, x + 23, y + 42, "note", "between shards, each a file");
    pp_text_add(drawing->page.svg, "<path d=\"M%.1f %.1fh15\" class=\"chunk key\"/>\n", x, y + 59);
    pp_sketch_words(drawing->page.svg, x + 23, y + 63, "note",
                    seen.has_chunks ? "between chunks" : "between chunks: too fine to draw");
    pp_sketch_words(drawing->page.svg, x, y + 97, "heading", "Numbers");
    pp_sketch_words(drawing->page.svg, x, y + 118, "note", "on white: the rank that holds the box");
    pp_sketch_words(drawing->page.svg, x, y + 139, "note",
                    has_owners ? "small: the server that owns the shard" : "small: the server that reads most of it");
}

static const char style[] = ".owner{font-size:9px;fill:#444;text-anchor:end}.ranks{font-size:11px;text-anchor:middle}"
                            ".name{fill:#fff;fill-opacity:.82;stroke:none}"
                            ".rank{stroke:#1a1a1a;stroke-width:2.4}.shard{stroke:#777;stroke-width:1}"
                            ".chunk{stroke:#777;stroke-opacity:.45;stroke-width:.5}.key{stroke-opacity:1}";

void pp_forecast_draw(const pp_forecast_facts *facts, pp_text *svg)
{
    sketch drawing = {.facts = facts, .page.svg = svg};
    double width, height;
    int legend_lines;
    fineness seen;
    choose_dimensions(&drawing);
    drawing.rows = measure_side(facts, &drawing.page.down);
    drawing.columns = measure_side(facts, &drawing.page.across);
    pp_sketch_scale(&drawing.page, LEFT, TOP, DRAWN_WIDTH, DRAWN_HEIGHT);
    width = LEFT + fmax(drawing.page.across.pixels + LEGEND_WIDTH, DRAWN_WIDTH + 40) + 28;
    legend_lines = (int)pp_min_i64(facts->by.server_count, LEGEND_MOST + 1);
    height = TOP + fmax(drawing.page.down.pixels, 21.0 * legend_lines + 190) + 28;
    pp_sketch_open(svg, width, height, style);
    draw_title(&drawing);
    draw_shards(&drawing);
    seen = draw_grids(&drawing);
    pp_sketch_frame(&drawing.page, facts->by.tiling->shards.shape, NULL);
    name_ranks(&drawing);
    draw_legend(&drawing, seen);
    pp_text_add(svg, "</svg>\n");
}
