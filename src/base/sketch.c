#include "base/sketch.h"

#include <inttypes.h>
#include <math.h>

#include "base/checked.h"

/* Lines along a side: more would be a grey area. */
#define LINES_MOST 160
#define PIXELS_OF_NO_DIMENSION 90.0

static const char style_of_all[] = "text{font-family:'DejaVu Sans',Verdana,sans-serif;fill:#222}"
                                   ".title{font-size:20px;font-weight:bold}.heading{font-size:13px;font-weight:bold}"
                                   ".note,.axis{font-size:12px}.axis{fill:#555}.end{text-anchor:end}"
                                   "path{fill:none}.frame{fill:none;stroke:#1a1a1a;stroke-width:2.4}";

void pp_sketch_open(pp_text *svg, double width, double height, const char *style)
{
    pp_text_add(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
        "<style>%s%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        width, height, width, height, style_of_all, style);
}

void pp_sketch_scale(pp_sketch *sketch, double left, double top, double width, double height)
{
    pp_sketch_side *down = &sketch->down, *across = &sketch->across;
    double scale = fmin(width / (double)across->elements, height / (double)down->elements);
    across->pixels = fmax(scale * (double)across->elements, width / 3);
    down->pixels = down->d < 0 ? PIXELS_OF_NO_DIMENSION : fmax(scale * (double)down->elements, height / 4);
    if (down->d < 0)
        across->pixels = width;
    across->first = left;
    down->first = top;
}

double pp_sketch_place(const pp_sketch_side *side, int64_t element)
{
    double share = (double)pp_min_i64(element, side->elements) / (double)side->elements;
    return side->first + share * side->pixels;
}

void pp_sketch_escape(pp_text *svg, const char *words)
{
    for (; *words != '\0'; words++) {
        if (*words == '<')
            pp_text_add(svg, "&lt;");
        else if (*words == '>')
            pp_text_add(svg, "&gt;");
        else if (*words == '&')
            pp_text_add(svg, "&amp;");
        else
            pp_text_add(svg, "%c", (unsigned char)*words < 0x20 ? '?' : *words);
    }
}

void pp_sketch_words(pp_text *svg, double x, double y, const char *style, const char *words)
{
    pp_text_add(svg, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, style);
    pp_sketch_escape(svg, words);
    pp_text_add(svg, "</text>\n");
}

bool pp_sketch_lines(const pp_sketch *sketch, const pp_sketch_side *along, int64_t step, int64_t phase,
                     const char *style, double pixels_least)
{
    const pp_sketch_side *other = along == &sketch->down ? &sketch->across : &sketch->down;
    int64_t count = (along->elements - 1) / step + (phase > step - 1 - (along->elements - 1) % step), i;
    double low = other->first, high = other->first + other->pixels;
    if (count > LINES_MOST || along->pixels * (double)step / (double)along->elements < pixels_least)
        return false;
    for (i = 0; i < count; i++) {
        double at = pp_sketch_place(along, step - phase + i * step);
        if (along == &sketch->down)
            pp_text_add(sketch->svg, "<path d=\"M%.1f %.1fH%.1f\" class=\"%s\"/>\n", low, at, high, style);
        else
            pp_text_add(sketch->svg, "<path d=\"M%.1f %.1fV%.1f\" class=\"%s\"/>\n", at, low, high, style);
    }
    return true;
}

/* "dimension 0: 0 to 100 of 1000" */
static void add_extent(const pp_sketch *sketch, const pp_sketch_side *side, int64_t shape, const char *name)
{
    if (name != NULL)
        pp_sketch_escape(sketch->svg, name);
    else
        pp_text_add(sketch->svg, "dimension %d", side->d);
    pp_text_add(sketch->svg, ": 0 to %" PRId64, pp_min_i64(side->elements, shape));
    if (side->elements < shape)
        pp_text_add(sketch->svg, " of %" PRId64, shape);
}

void pp_sketch_frame(const pp_sketch *sketch, const int64_t *shape, const char *const *names)
{
    const pp_sketch_side *down = &sketch->down, *across = &sketch->across;
    pp_text_add(sketch->svg, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"frame\"/>\n",
                across->first, down->first, across->pixels, down->pixels);
    if (across->d >= 0) {
        pp_text_add(sketch->svg, "<text x=\"%.1f\" y=\"%.1f\" class=\"axis\">", across->first, down->first - 9);
        add_extent(sketch, across, shape[across->d], names != NULL ? names[across->d] : NULL);
        pp_text_add(sketch->svg, " \xe2\x86\x92</text>\n");
    }
    if (down->d >= 0) {
        pp_text_add(sketch->svg,
                    "<text transform=\"translate(%.1f %.1f) rotate(-90)\" class=\"axis end\">\xe2\x86\x90 ",
                    across->first - 12, down->first);
        add_extent(sketch, down, shape[down->d], names != NULL ? names[down->d] : NULL);
        pp_text_add(sketch->svg, "</text>\n");
    }
}

void pp_sketch_slice(const pp_sketch *sketch, int ndim, pp_text *text)
{
    int d;
    pp_text_add(text, "[");
    for (d = 0; d < ndim; d++)
        pp_text_add(text, "%s%s", d > 0 ? ", " : "", d == sketch->down.d || d == sketch->across.d ? ":" : "0");
    pp_text_add(text, "]");
}
