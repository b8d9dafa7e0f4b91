#include "rechunk/plan_drawing.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/shape_text.h"
#include "base/sketch.h"
#include "rechunk/count.h"

/* Chunks of the finer grid along a side: of more, a corner is drawn. */
#define CHUNKS_MOST 40
/* Chunks along a side of which it is worked out which are open. */
#define FOLLOWED_MOST 64
/* Strokes of a visit: of more, some are left out. */
#define STROKES_MOST 20

#define LEFT 84.0
#define TOP 96.0
#define DRAWN_WIDTH 560.0
#define DRAWN_HEIGHT 400.0
#define LEGEND_WIDTH 260.0
#define LEGEND_HEIGHT 150.0
#define ABOVE_PANEL 86.0
#define BELOW_PANEL 24.0

/* One side of the template in a panel. */
typedef struct panel_side {
    int64_t source, target, phase; /* chunks, and where element 0 lies in its source chunk */
    int64_t template_elements;     /* drawn */
    int64_t visits, chunks;        /* source chunks visited and target chunks in what is drawn of the template */
} panel_side;

typedef struct panel {
    const pp_rechunk_plan *plan;
    const pp_rechunk_labels *labels;
    const pp_rechunk_pass *pass;
    int number;
    pp_sketch page;
    panel_side down, across;
    bool is_down_slower;
    bool has_open;       /* what follows was worked out */
    int64_t row, column; /* the source chunk that is visited while most are open */
    int64_t open_count;  /* target chunks open then, in this slice */
    bool has_source_lines, has_target_lines;
} panel;

/* ---- What is drawn ---- */

/* How much the chunks of source and target differ along a dimension: 0 not at all. */
static double difference(const pp_rechunk_plan *plan, int d)
{
    const pp_rechunk_side *source = &plan->passes[0].source, *target = &plan->passes[plan->pass_count - 1].target;
    int64_t extent = pp_max_i64(plan->shape[d], 1);
    return fabs(log((double)pp_min_i64(source->chunk[d], extent) / (double)pp_min_i64(target->chunk[d], extent)));
}

/* The dimension that differs most, without one of them; of equals the last. -1: none. */
static int most_different(const pp_rechunk_plan *plan, int without)
{
    int d, most = -1;
    for (d = 0; d < plan->ndim; d++)
        if (d != without && (most < 0 || difference(plan, d) >= difference(plan, most)))
            most = d;
    return most;
}

static void choose_dimensions(const pp_rechunk_plan *plan, pp_sketch *page)
{
    int first = most_different(plan, -1), second = plan->ndim > 1 ? most_different(plan, first) : -1;
    page->across.d = first > second ? first : second;
    page->down.d = first > second ? second : first;
}

/* The template and a quarter more, unless its chunks would be too small to be seen; but a whole chunk of both. */
static void measure_side(const panel *of, pp_sketch_side *side, panel_side *measured)
{
    const pp_rechunk_pass *pass = of->pass;
    int64_t shape, extent, smaller, larger, wanted;
    side->elements = 1;
    *measured = (panel_side){.source = 1, .target = 1, .template_elements = 1, .visits = 1, .chunks = 1};
    if (side->d < 0)
        return;
    shape = of->plan->shape[side->d];
    measured->source = pass->source.chunk[side->d];
    measured->target = pass->target.chunk[side->d];
    measured->phase = pass->source.origin[side->d] % measured->source;
    extent = pp_min_i64(pass->template_shape[side->d], shape);
    smaller = pp_min_i64(measured->source, measured->target);
    larger = pp_max_i64(measured->source, measured->target);
    wanted = pp_min_i64(pp_add_saturating(extent, extent / 4), pp_multiply_saturating(smaller, CHUNKS_MOST));
    wanted = pp_max_i64(wanted, pp_add_saturating(larger, larger / 4));
    side->elements = pp_max_i64(pp_min_i64(wanted, shape), 1);
    measured->template_elements = pp_min_i64(extent, side->elements);
    measured->visits = (measured->template_elements - 1) / measured->source + 1;
    if ((measured->template_elements - 1) % measured->source + measured->phase >= measured->source)
        measured->visits++;
    measured->chunks = pp_divide_up(measured->template_elements, measured->target);
}

static bool is_slower(const pp_rechunk_plan *plan, const pp_rechunk_pass *pass, int d, int other)
{
    int i;
    for (i = 0; i < plan->ndim; i++)
        if (pass->order[i] == d || pass->order[i] == other)
            return pass->order[i] == d;
    return false;
}

static void init_panel(panel *of, const pp_rechunk_plan *plan, const pp_rechunk_labels *labels, int number)
{
    *of = (panel){.plan = plan, .labels = labels, .pass = &plan->passes[number], .number = number};
    choose_dimensions(plan, &of->page);
    measure_side(of, &of->page.down, &of->down);
    measure_side(of, &of->page.across, &of->across);
    of->is_down_slower = of->page.down.d < 0 || is_slower(plan, of->pass, of->page.down.d, of->page.across.d);
}

/* ---- Which chunks are open ---- */

static int64_t source_of(const panel_side *side, int64_t element)
{
    return pp_add_saturating(element, side->phase) / side->source;
}

/* Where a target chunk ends, or the template does. */
static int64_t chunk_end(const panel_side *side, int64_t chunk)
{
    return pp_min_i64(pp_multiply_saturating(chunk + 1, side->target), side->template_elements);
}

static int64_t last_source_of(const panel_side *side, int64_t chunk)
{
    return source_of(side, chunk_end(side, chunk) - 1);
}

static int64_t visit_number(const panel *of, int64_t row, int64_t column)
{
    return of->is_down_slower ? row * of->across.visits + column : column * of->down.visits + row;
}

static int64_t first_visit(const panel *of, int64_t row, int64_t column)
{
    return visit_number(of, source_of(&of->down, row * of->down.target),
                        source_of(&of->across, column * of->across.target));
}

static int64_t last_visit(const panel *of, int64_t row, int64_t column)
{
    return visit_number(of, last_source_of(&of->down, row), last_source_of(&of->across, column));
}

static bool can_follow(const panel_side *side)
{
    return side->template_elements > 0 && side->visits <= FOLLOWED_MOST && side->chunks <= FOLLOWED_MOST;
}

/* Finds the first visit at which most target chunks of the slice are open. */
static void find_most_open(panel *of)
{
    int change[FOLLOWED_MOST * FOLLOWED_MOST + 1] = {0};
    int64_t row, column, visit, open = 0, most = 0;
    of->has_open = can_follow(&of->down) && can_follow(&of->across);
    if (!of->has_open)
        return;
    for (row = 0; row < of->down.chunks; row++)
        for (column = 0; column < of->across.chunks; column++) {
            change[first_visit(of, row, column)]++;
            change[last_visit(of, row, column) + 1]--;
        }
    for (visit = 0; visit < of->down.visits * of->across.visits; visit++) {
        open += change[visit];
        if (open > of->open_count) {
            of->open_count = open;
            most = visit;
        }
    }
    of->row = of->is_down_slower ? most / of->across.visits : most % of->down.visits;
    of->column = of->is_down_slower ? most % of->across.visits : most / of->down.visits;
}

static bool is_open(const panel *of, int64_t row, int64_t column)
{
    int64_t now = visit_number(of, of->row, of->column);
    if (of->pass->cooperates)
        return true;
    return first_visit(of, row, column) <= now && now <= last_visit(of, row, column);
}

/* ---- Parts of a panel ---- */

static void draw_box(const panel *of, const int64_t low[2], const int64_t high[2], const char *style)
{
    double left = pp_sketch_place(&of->page.across, low[1]), top = pp_sketch_place(&of->page.down, low[0]);
    double right = pp_sketch_place(&of->page.across, high[1]), bottom = pp_sketch_place(&of->page.down, high[0]);
    pp_text_add(of->page.svg, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"/>\n", left,
                top, right - left, bottom - top, style);
}

static void draw_template(const panel *of, const char *style)
{
    const int64_t low[2] = {0, 0}, high[2] = {of->down.template_elements, of->across.template_elements};
    draw_box(of, low, high, style);
}

/* Open chunks of a row that lie side by side are one box. */
static void draw_open(const panel *of)
{
    int64_t row, column, end;
    for (row = 0; of->has_open && row < of->down.chunks; row++)
        for (column = 0; column < of->across.chunks; column = end + 1) {
            int64_t low[2] = {row * of->down.target, column * of->across.target}, high[2];
            end = column;
            while (end < of->across.chunks && is_open(of, row, end))
                end++;
            high[0] = chunk_end(&of->down, row);
            high[1] = chunk_end(&of->across, end - 1);
            if (end > column)
                draw_box(of, low, high, "open");
        }
}

static void source_span(const panel_side *side, int64_t visit, int64_t *low, int64_t *high)
{
    *low = pp_max_i64(visit * side->source - side->phase, 0);
    *high = pp_min_i64(pp_multiply_saturating(visit + 1, side->source) - side->phase, side->template_elements);
}

static void draw_current(const panel *of)
{
    int64_t low[2], high[2];
    if (!of->has_open || of->pass->cooperates)
        return;
    source_span(&of->down, of->row, &low[0], &high[0]);
    source_span(&of->across, of->column, &low[1], &high[1]);
    draw_box(of, low, high, "current");
}

/* The middle of a source chunk, of what is in the template. */
static double middle_of(const pp_sketch_side *side, const panel_side *measured, int64_t visit)
{
    int64_t low, high;
    source_span(measured, visit, &low, &high);
    return (pp_sketch_place(side, low) + pp_sketch_place(side, high)) / 2;
}

/* A stroke goes along the faster side, unless that has only one source chunk. */
static bool strokes_go_across(const panel *of)
{
    return of->is_down_slower ? of->across.visits > 1 : of->down.visits == 1;
}

static int64_t stroke_count(const panel *of)
{
    return strokes_go_across(of) ? of->down.visits : of->across.visits;
}

/* A stroke between two points, each given by where it lies among the strokes and along them. */
static void draw_stroke(const panel *of, const double from[2], const double to[2], const char *style)
{
    int x = strokes_go_across(of) ? 1 : 0, y = 1 - x;
    pp_text_add(of->page.svg, "<path d=\"M%.1f %.1fL%.1f %.1f\" class=\"%s\"/>\n", from[x], from[y], to[x], to[y],
                style);
}

/* One stroke for each row of source chunks, and a thin one back. */
static void draw_visit(const panel *of)
{
    bool is_across = strokes_go_across(of);
    const pp_sketch_side *slow = is_across ? &of->page.down : &of->page.across;
    const pp_sketch_side *fast = is_across ? &of->page.across : &of->page.down;
    const panel_side *rows = is_across ? &of->down : &of->across, *along = is_across ? &of->across : &of->down;
    int64_t gaps = pp_min_i64(rows->visits, STROKES_MOST) - 1, i;
    double start[2] = {0, middle_of(fast, along, 0)}, end[2] = {0, middle_of(fast, along, along->visits - 1)};
    for (i = 0; i <= gaps; i++) {
        int64_t row = gaps == 0 ? 0 : (rows->visits - 1) / gaps * i + (rows->visits - 1) % gaps * i / gaps;
        start[0] = middle_of(slow, rows, row);
        if (i > 0)
            draw_stroke(of, end, start, "back");
        end[0] = start[0];
        draw_stroke(of, start, end, "visit");
    }
}

static void draw_grids(panel *of)
{
    const pp_sketch_side *sides[2] = {&of->page.down, &of->page.across};
    const panel_side *measured[2] = {&of->down, &of->across};
    int i;
    of->has_source_lines = of->has_target_lines = true;
    for (i = 0; i < 2; i++) {
        if (sides[i]->d < 0)
            continue;
        if (!pp_sketch_lines(&of->page, sides[i], measured[i]->target, 0, "target", 5))
            of->has_target_lines = false;
        if (!pp_sketch_lines(&of->page, sides[i], measured[i]->source, measured[i]->phase, "source", 5))
            of->has_source_lines = false;
    }
}

/* ---- Words around it ---- */

static bool is_cut_off(const panel *of, const pp_sketch_side *side)
{
    return side->d >= 0 && side->elements < of->plan->shape[side->d];
}

static void add_seen(const panel *of, pp_text *svg)
{
    if (of->plan->ndim > 2) {
        pp_text_add(svg, "The slice ");
        pp_sketch_slice(&of->page, of->plan->ndim, svg);
        pp_text_add(svg, ". ");
    }
    if (is_cut_off(of, &of->page.down) || is_cut_off(of, &of->page.across))
        pp_text_add(svg, "Only a corner is drawn. ");
    if (stroke_count(of) > STROKES_MOST)
        pp_text_add(svg, "Not every stroke of the visit is drawn. ");
    if (!of->has_open)
        pp_text_add(svg, "Open chunks are too fine to draw. ");
}

static void draw_caption(const panel *of, double top)
{
    const pp_rechunk_plan *plan = of->plan;
    pp_text *svg = of->page.svg;
    pp_text_add(svg, "<text x=\"%.1f\" y=\"%.1f\" class=\"heading\">Pass %d of %d: chunks ", LEFT, top + 14,
                of->number + 1, plan->pass_count);
    pp_shape_print(plan->ndim, of->pass->source.chunk, svg);
    pp_text_add(svg, " to ");
    pp_shape_print(plan->ndim, of->pass->target.chunk, svg);
    pp_text_add(svg, ", template ");
    pp_shape_print(plan->ndim, of->pass->template_shape, svg);
    pp_text_add(svg, "</text>\n<text x=\"%.1f\" y=\"%.1f\" class=\"note\">", LEFT, top + 34);
    add_seen(of, svg);
    pp_text_add(
        svg, "</text>\n<text x=\"%.1f\" y=\"%.1f\" class=\"note\">At most %" PRId64 " target chunks are open at once",
        LEFT, top + 52, of->pass->memory.open_chunks);
    if (of->has_open && !of->pass->cooperates)
        pp_text_add(svg, ", up to %" PRId64 " in what is drawn", of->open_count);
    pp_text_add(svg, "%s.</text>\n", of->pass->cooperates ? ": all ranks read a template together" : "");
}

static void draw_legend(const panel *of)
{
    static const char *const boxes[3][2] = {
        {"template", "template: done before the next one"},
        {"open", "target chunks that are open"},
        {"current", "source chunk that is visited then"},
    };
    double x = LEFT + DRAWN_WIDTH + 28, y = of->page.down.first + 10;
    pp_text *svg = of->page.svg;
    int i;
    for (i = 0; i < 3; i++, y += 24) {
        pp_text_add(svg, "<rect x=\"%.1f\" y=\"%.1f\" width=\"16\" height=\"14\" class=\"%s\"/>\n", x, y - 11,
                    boxes[i][0]);
        pp_sketch_words(svg, x + 26, y, "note", boxes[i][1]);
    }
    pp_text_add(svg, "<path d=\"M%.1f %.1fh16\" class=\"source\"/>\n", x, y - 4);
    pp_sketch_words(svg, x + 26, y, "note",
                    of->has_source_lines ? "between source chunks" : "between source chunks: too fine");
    pp_text_add(svg, "<path d=\"M%.1f %.1fh16\" class=\"target\"/>\n", x, y + 20);
    pp_sketch_words(svg, x + 26, y + 24, "note",
                    of->has_target_lines ? "between target chunks" : "between target chunks: too fine");
    pp_text_add(svg, "<path d=\"M%.1f %.1fh14\" class=\"visit\"/>\n", x, y + 44);
    pp_sketch_words(svg, x + 26, y + 48, "note", "order of the visit");
}

static void draw_panel(panel *of, double top)
{
    pp_sketch_scale(&of->page, LEFT, top + ABOVE_PANEL, DRAWN_WIDTH, DRAWN_HEIGHT);
    find_most_open(of);
    draw_caption(of, top);
    draw_template(of, "template");
    draw_open(of);
    draw_grids(of);
    draw_template(of, "border");
    draw_current(of);
    if (of->down.template_elements > 0 && of->across.template_elements > 0)
        draw_visit(of);
    pp_sketch_frame(&of->page, of->plan->shape, of->labels->dimension_names);
    draw_legend(of);
}

static void draw_title(const pp_rechunk_plan *plan, const pp_rechunk_labels *labels, pp_text *svg)
{
    pp_text_add(svg,
                "<defs><marker id=\"to\" viewBox=\"0 0 8 8\" refX=\"6\" refY=\"4\" markerWidth=\"6\" "
                "markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" class=\"head\"/></marker></defs>\n"
                "<text x=\"%.1f\" y=\"36\" class=\"title\">Copy of ",
                LEFT);
    pp_shape_print(plan->ndim, plan->shape, svg);
    if (labels->type_name != NULL)
        pp_text_add(svg, " %s", labels->type_name);
    pp_text_add(svg, ", ");
    pp_bytes_print((double)pp_rechunk_plan_array_bytes(plan), svg);
    pp_text_add(svg, "</text>\n<text x=\"%.1f\" y=\"58\" class=\"note\">", LEFT);
    if (labels->permutation != NULL) {
        pp_sketch_escape(svg, labels->permutation);
        pp_text_add(svg, "; ");
    }
    pp_text_add(svg, "%d rank%s of %d thread%s, ", plan->ranks, plan->ranks == 1 ? "" : "s", plan->threads,
                plan->threads == 1 ? "" : "s");
    pp_bytes_print((double)plan->memory_bytes, svg);
    pp_text_add(svg, " a rank</text>\n");
}

static const char style[] =
    ".template{fill:#fff6d6}.border{fill:none;stroke:#c08a00;stroke-width:3}"
    ".open{fill:#f2a65a;fill-opacity:.6}.source{stroke:#2a6fbb;stroke-width:1.2}"
    ".target{stroke:#c0392b;stroke-width:1;stroke-dasharray:5 3}"
    ".current{fill:#2a6fbb;fill-opacity:.25;stroke:#2a6fbb;stroke-width:2}"
    ".visit{stroke:#1a1a1a;stroke-width:1.4;marker-end:url(#to)}.back{stroke:#1a1a1a;stroke-width:.6;"
    "stroke-dasharray:2 3}.head{fill:#1a1a1a}";

parapet_status pp_rechunk_draw(const pp_rechunk_plan *plan, const pp_rechunk_labels *labels, pp_text *svg)
{
    static const pp_rechunk_labels none = {0};
    double height = TOP, top = TOP;
    panel of;
    int i;
    labels = labels != NULL ? labels : &none;
    for (i = 0; i < plan->pass_count; i++) {
        init_panel(&of, plan, labels, i);
        pp_sketch_scale(&of.page, LEFT, 0, DRAWN_WIDTH, DRAWN_HEIGHT);
        height += ABOVE_PANEL + fmax(of.page.down.pixels, LEGEND_HEIGHT) + BELOW_PANEL;
    }
    pp_sketch_open(svg, LEFT + DRAWN_WIDTH + LEGEND_WIDTH + 28, height, style);
    draw_title(plan, labels, svg);
    for (i = 0; i < plan->pass_count; i++) {
        init_panel(&of, plan, labels, i);
        of.page.svg = svg;
        draw_panel(&of, top);
        top += ABOVE_PANEL + fmax(of.page.down.pixels, LEGEND_HEIGHT) + BELOW_PANEL;
    }
    pp_text_add(svg, "</svg>\n");
    return svg->status;
}
