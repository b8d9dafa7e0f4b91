/* MPI-IO, on the patterns of pattern.h: one file in C order, written and read at one of the levels of the paper.
 *
 *   level0   one independent call for each contiguous run
 *   level2   a view of all boxes, and one independent call
 *   level3   a view of all boxes, and one collective call
 *
 * words: any hint, such as romio_ds_read=disable. */
#include "pattern.h"

#include <stdlib.h>
#include <string.h>

static void must(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    bench_die(what, text);
}

static MPI_Info make_hints(const bench_case *c)
{
    MPI_Info info;
    MPI_Info_create(&info);
    for (int i = 0; i < c->word_count; i++) {
        char name[MPI_MAX_INFO_KEY];
        size_t length = strcspn(c->words[i], "=");
        if (length >= sizeof name || c->words[i][length] != '=')
            bench_die(c->words[i], "not of the form name=value");
        memcpy(name, c->words[i], length);
        name[length] = '\0';
        MPI_Info_set(info, name, c->words[i] + length + 1);
    }
    return info;
}

static MPI_File open_file(const bench_case *c, int mode)
{
    char path[BENCH_PATH_BYTES];
    MPI_Info info = make_hints(c);
    MPI_File file;
    bench_path(c, "mpiio.bin", path);
    must(MPI_File_open(MPI_COMM_WORLD, path, mode, info, &file), path);
    MPI_Info_free(&info);
    return file;
}

static MPI_Datatype make_box_type(const bench_pattern *pattern, const bench_box *box)
{
    int shape[BENCH_MOST_NDIM], start[BENCH_MOST_NDIM], count[BENCH_MOST_NDIM];
    MPI_Datatype type;
    for (int d = 0; d < pattern->ndim; d++) {
        shape[d] = (int)pattern->shape[d];
        start[d] = (int)box->start[d];
        count[d] = (int)box->count[d];
    }
    MPI_Type_create_subarray(pattern->ndim, shape, count, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype make_points_type(const bench_pattern *pattern)
{
    int *places = calloc((size_t)pattern->point_count, sizeof *places);
    MPI_Datatype type;
    if (places == NULL)
        bench_die("the view", "no memory");
    for (int64_t i = 0; i < pattern->point_count; i++)
        places[i] = (int)(pattern->points[i] * BENCH_POINT_DOUBLES);
    MPI_Type_create_indexed_block((int)pattern->point_count, BENCH_POINT_DOUBLES, places, MPI_DOUBLE, &type);
    free(places);
    return type;
}

/* Boxes come in the order of their offsets, as a view wants them. */
static MPI_Datatype make_boxes_type(const bench_pattern *pattern)
{
    int count = pattern->box_count;
    int *lengths = calloc((size_t)count, sizeof *lengths);
    MPI_Aint *places = calloc((size_t)count, sizeof *places);
    MPI_Datatype all, *types = calloc((size_t)count, sizeof(MPI_Datatype));
    if (lengths == NULL || places == NULL || types == NULL)
        bench_die("the view", "no memory");
    for (int b = 0; b < count; b++) {
        lengths[b] = 1;
        types[b] = make_box_type(pattern, &pattern->boxes[b]);
    }
    MPI_Type_create_struct(count, lengths, places, types, &all);
    for (int b = 0; b < count; b++)
        MPI_Type_free(&types[b]);
    free(lengths);
    free(places);
    free(types);
    return all;
}

static void set_view(const bench_pattern *pattern, MPI_File file)
{
    MPI_Datatype type = pattern->points != NULL ? make_points_type(pattern) : make_boxes_type(pattern);
    MPI_Type_commit(&type);
    must(MPI_File_set_view(file, 0, MPI_DOUBLE, type, "native", MPI_INFO_NULL), "setting the view");
    MPI_Type_free(&type);
}

static int elements(const bench_case *c)
{
    return (int)(c->bytes / sizeof(double));
}

static MPI_File open_to_write(const bench_case *c)
{
    return open_file(c, MPI_MODE_CREATE | MPI_MODE_RDWR); /* a write with holes reads what lies in them */
}

static void flush_and_close(MPI_File file)
{
    must(MPI_File_sync(file), "flushing");
    bench_clock_stop();
    must(MPI_File_close(&file), "closing");
}

static void stop_and_close(MPI_File file)
{
    bench_clock_stop();
    must(MPI_File_close(&file), "closing");
}

static void write_run(const bench_pattern *pattern, const bench_box *run, void *file)
{
    MPI_Offset offset = bench_box_offset(pattern, run) * (MPI_Offset)sizeof(double);
    int count = (int)bench_box_elements(pattern, run);
    must(MPI_File_write_at(*(MPI_File *)file, offset, run->data, count, MPI_DOUBLE, MPI_STATUS_IGNORE), "writing");
}

static void read_run(const bench_pattern *pattern, const bench_box *run, void *file)
{
    MPI_Offset offset = bench_box_offset(pattern, run) * (MPI_Offset)sizeof(double);
    int count = (int)bench_box_elements(pattern, run);
    must(MPI_File_read_at(*(MPI_File *)file, offset, run->data, count, MPI_DOUBLE, MPI_STATUS_IGNORE), "reading");
}

static void read_level0(const bench_case *c)
{
    MPI_File file = open_file(c, MPI_MODE_RDONLY);
    bench_clock_start();
    bench_pattern_few_runs(bench_pattern_of(c), read_run, &file);
    stop_and_close(file);
}

static void write_level2(const bench_case *c)
{
    MPI_File file = open_to_write(c);
    set_view(bench_pattern_of(c), file);
    bench_clock_start();
    must(MPI_File_write(file, c->data, elements(c), MPI_DOUBLE, MPI_STATUS_IGNORE), "writing");
    flush_and_close(file);
}

static void read_level2(const bench_case *c)
{
    MPI_File file = open_file(c, MPI_MODE_RDONLY);
    set_view(bench_pattern_of(c), file);
    bench_clock_start();
    must(MPI_File_read(file, c->data, elements(c), MPI_DOUBLE, MPI_STATUS_IGNORE), "reading");
    stop_and_close(file);
}

static void write_level3(const bench_case *c)
{
    MPI_File file = open_to_write(c);
    set_view(bench_pattern_of(c), file);
    bench_clock_start();
    must(MPI_File_write_all(file, c->data, elements(c), MPI_DOUBLE, MPI_STATUS_IGNORE), "writing");
    flush_and_close(file);
}

/* Only some of the points are read one by one; what is read has to be there all the same. */
static void write_level0(const bench_case *c)
{
    MPI_File file;
    if (bench_pattern_of(c)->points != NULL) {
        write_level3(c);
        return;
    }
    file = open_to_write(c);
    bench_clock_start();
    bench_pattern_runs(bench_pattern_of(c), write_run, &file);
    flush_and_close(file);
}

static void read_level3(const bench_case *c)
{
    MPI_File file = open_file(c, MPI_MODE_RDONLY);
    set_view(bench_pattern_of(c), file);
    bench_clock_start();
    must(MPI_File_read_all(file, c->data, elements(c), MPI_DOUBLE, MPI_STATUS_IGNORE), "reading");
    stop_and_close(file);
}

int main(int argc, char **argv)
{
    static const bench_method methods[] = {{.name = "level0", .write = write_level0, .read = read_level0},
                                           {.name = "level2", .write = write_level2, .read = read_level2},
                                           {.name = "level3", .write = write_level3, .read = read_level3},
                                           {0}};
    return bench_pattern_main(argc, argv, methods);
}
