/* parapet-places FILE [BYTES]: prints the table of places of an HDF5 file, with so many bytes of texts at most. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "places.h"

static int open_file(const char *path, uint64_t *bytes)
{
    struct stat found;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &found) != 0)
        die("%s: %s", path, strerror(errno));
    *bytes = (uint64_t)found.st_size;
    return descriptor;
}

static void put_group(hid_t file, const node *from)
{
    hid_t id = H5Gopen(file, from->path, H5P_DEFAULT);
    if (id < 0)
        die("the group %s cannot be opened: the file is damaged", from->path);
    put("group %s\n{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":", from->path);
    put_attributes(id, NULL);
    put("}\n");
    H5Gclose(id);
}

static void put_table(hid_t file, uint64_t file_bytes)
{
    node_list list = {0};
    size_t i;
    list_nodes(file, &list);
    dimensions_measure(file, &list);
    put("parapet places 1\nfile %" PRIu64 "\n", file_bytes);
    for (i = 0; i < list.count; i++)
        if (list.nodes[i].is_group && list.nodes[i].refusal == NULL)
            put_group(file, &list.nodes[i]);
        else if (!list.nodes[i].is_hidden)
            put_array(file, &list, &list.nodes[i]);
    put_end();
}

int main(int count, char **words)
{
    uint64_t file_bytes = 0;
    int descriptor;
    hid_t file;
    if (count != 2 && count != 3) {
        (void)fprintf(stderr, "usage: parapet-places FILE [BYTES]\n");
        return 2;
    }
    if (count == 3)
        texts_limit((size_t)strtoull(words[2], NULL, 10));
    limits_set();
    descriptor = open_file(words[1], &file_bytes);
    if (H5open() < 0 || H5Eset_auto(H5E_DEFAULT, NULL, NULL) < 0)
        die("HDF5 cannot be used");
    limits_close();
    if ((file = driver_open(descriptor, file_bytes)) < 0)
        die("it is not a file that HDF5 can open: it is damaged, cut off, or still being written");
    put_table(file, file_bytes);
    _Exit(0); /* without HDF5's own end, which would look at the file again */
}
