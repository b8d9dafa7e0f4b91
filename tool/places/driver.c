/* A file driver that reads through one descriptor. While a chunk is looked for, it notes where, and reads nothing:
 * that is how the place of a chunk is found in any kind of index, in the time that HDF5 takes to look one up. The
 * public calls that tell it scan the whole index, in versions before 1.14, or leave out the user block. */
#include <unistd.h>

#include "places.h"

typedef struct driver_file {
    H5FD_t base;
    haddr_t end;
} driver_file;

static int file_descriptor;
static uint64_t file_end;
static struct {
    bool is_on, is_found;
    uint64_t start, bytes;
} watch;

static H5FD_t *driver_begin(const char *name, unsigned flags, hid_t fapl, haddr_t most)
{
    driver_file *file = take_memory(1, sizeof *file);
    (void)name;
    (void)flags;
    (void)fapl;
    (void)most;
    return &file->base;
}

static herr_t driver_close(H5FD_t *file)
{
    (void)file; /* the process is about to end */
    return 0;
}

static herr_t driver_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_ACCUMULATE_METADATA;
    return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *file, H5FD_mem_t kind)
{
    (void)kind;
    return ((const driver_file *)file)->end;
}

static herr_t driver_set_eoa(H5FD_t *file, H5FD_mem_t kind, haddr_t end)
{
    (void)kind;
    ((driver_file *)file)->end = end;
    return 0;
}

static haddr_t driver_get_eof(const H5FD_t *file, H5FD_mem_t kind)
{
    (void)file;
    (void)kind;
    return file_end;
}

static herr_t driver_read(H5FD_t *file, H5FD_mem_t kind, hid_t dxpl, haddr_t start, size_t bytes, void *target)
{
    unsigned char *next = target;
    (void)file;
    (void)dxpl;
    limits_note_step();
    if (watch.is_on && kind == H5FD_MEM_DRAW) {
        watch.is_found = true;
        watch.start = start;
        watch.bytes = bytes;
        return 0;
    }
    while (bytes > 0) {
        ssize_t done = pread(file_descriptor, next, bytes, (off_t)start);
        if (done <= 0)
            return -1;
        next += done;
        start += (haddr_t)done;
        bytes -= (size_t)done;
    }
    return 0;
}

static herr_t driver_write(H5FD_t *file, H5FD_mem_t kind, hid_t dxpl, haddr_t start, size_t bytes, const void *source)
{
    (void)file;
    (void)kind;
    (void)dxpl;
    (void)start;
    (void)bytes;
    (void)source;
    return -1;
}

static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)300,
#endif
    .name = "parapet",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_WEAK,
    .open = driver_begin,
    .close = driver_close,
    .query = driver_query,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eof,
    .read = driver_read,
    .write = driver_write,
    .fl_map = H5FD_FLMAP_SINGLE,
};

hid_t driver_open(int descriptor, uint64_t file_bytes)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), id = H5FDregister(&driver);
    file_descriptor = descriptor;
    file_end = file_bytes;
    if (fapl < 0 || id < 0 || H5Pset_driver(fapl, id, NULL) < 0)
        return -1;
    return H5Fopen("the file", H5F_ACC_RDONLY, fapl);
}

bool driver_find_chunk(hid_t dataset, const hsize_t *offset, seen_chunk *chunk)
{
    static unsigned char nothing[1]; /* is not written to */
    hsize_t bytes = 0;
    herr_t status;
    limits_note_step();
    if (H5Dget_chunk_storage_size(dataset, offset, &bytes) < 0 || bytes == 0)
        return false;
    watch.is_on = true;
    watch.is_found = false;
    status = H5Dread_chunk(dataset, H5P_DEFAULT, offset, &chunk->left_out, nothing);
    watch.is_on = false;
    if (status < 0 || !watch.is_found)
        die("a chunk of the file cannot be found: the file is damaged");
    chunk->start = watch.start;
    chunk->bytes = watch.bytes;
    return true;
}
