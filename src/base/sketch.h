/* sketch.h - what the drawings of this module share: two dimensions of an array on a page of SVG. Pure; depends on
 * base. */
#ifndef PARAPET_BASE_SKETCH_H
#define PARAPET_BASE_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* One side of a drawing: a dimension of the array, or none if the array has only one. */
typedef struct pp_sketch_side {
    int d;            /* -1: none */
    int64_t elements; /* drawn, >= 1 */
    double pixels;    /* of all elements */
    double first;     /* where it starts on the page */
} pp_sketch_side;

typedef struct pp_sketch {
    pp_text *svg;
    pp_sketch_side down, across;
} pp_sketch;

/* The document up to its white page. style adds to what every drawing has: text, title, heading, note, axis, end,
 * frame. */
void pp_sketch_open(pp_text *svg, double width, double height, const char *style);

/* Fits the elements of both sides into width x height below (left, top), true to scale if that can still be seen. */
void pp_sketch_scale(pp_sketch *sketch, double left, double top, double width, double height);

/* Where an element begins; after the last one, where the drawing ends. */
double pp_sketch_place(const pp_sketch_side *side, int64_t element);

/* Text of any origin, with everything escaped that SVG would interpret. */
void pp_sketch_escape(pp_text *svg, const char *words);
void pp_sketch_words(pp_text *svg, double x, double y, const char *style, const char *words);

/* Lines along one side where cells of step elements begin; element 0 is phase elements after such a place. False:
 * nothing is drawn, because the lines would be closer than pixels_least or far too many. */
bool pp_sketch_lines(const pp_sketch *sketch, const pp_sketch_side *along, int64_t step, int64_t phase,
                     const char *style, double pixels_least);

/* The frame, and along both sides which dimension it is and how much of it is shown. names may be NULL. */
void pp_sketch_frame(const pp_sketch *sketch, const int64_t *shape, const char *const *names);

/* "[:, :, 0]": which part of an array of more dimensions is shown. */
void pp_sketch_slice(const pp_sketch *sketch, int ndim, pp_text *text);

#endif
