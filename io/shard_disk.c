// A driver of HDF5 (Virtual File Layer) for a file that is written once and is too large for memory: all its calls go
// through system.h. The file is new and empty, and nobody else knows its name.
#include "shard_hdf5.h"
#include "system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

typedef struct DiskFile {
    H5FD_t hdf5; // HDF5's own fields come first
    ShardDisk *disk;
    haddr_t end, written; // of the addresses in use; of the bytes in the file
} DiskFile;

static H5FD_t *disk_open(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    ShardDisk *const *info = H5Pget_driver_info(access);
    (void)name, (void)flags, (void)most;
    if (info == NULL) return NULL;
    DiskFile *file = calloc(1, sizeof *file);
    if (file != NULL) file->disk = *info;
    return (H5FD_t *)file;
}

static herr_t disk_close(H5FD_t *file)
{
    free(file);
    return 0;
}

static herr_t disk_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t disk_get_end(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const DiskFile *)file)->end;
}

static herr_t disk_set_end(H5FD_t *file, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    ((DiskFile *)file)->end = end;
    return 0;
}

static haddr_t disk_get_size(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const DiskFile *)file)->written;
}

// Bytes behind the end of the file are 0.
static herr_t disk_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size, void *out)
{
    const ShardDisk *disk = ((const DiskFile *)file)->disk;
    unsigned char *bytes = out;
    (void)type, (void)transfer;
    while (size > 0) {
        const ssize_t n = system_read_at(disk->descriptor, bytes, size, (int64_t)address);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        if (n == 0) memset(bytes, 0, size);
        if (n == 0) return 0;
        bytes += n;
        address += (haddr_t)n;
        size -= (size_t)n;
    }
    return 0;
}

static herr_t disk_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size, const void *in)
{
    ShardDisk *disk = ((const DiskFile *)file)->disk;
    const unsigned char *bytes = in;
    (void)type, (void)transfer;
    while (size > 0 && disk->reason == 0) {
        const ssize_t n = system_write_at(disk->descriptor, bytes, size, (int64_t)address);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) disk->reason = n < 0 ? errno : EIO;
        if (n <= 0) break;
        bytes += n;
        address += (haddr_t)n;
        size -= (size_t)n;
    }
    if (address > ((DiskFile *)file)->written) ((DiskFile *)file)->written = address;
    return 0;
}

static herr_t disk_truncate(H5FD_t *file, hid_t transfer, hbool_t closing)
{
    DiskFile *disk = (DiskFile *)file;
    (void)transfer, (void)closing;
    if (disk->end == disk->written || disk->disk->reason != 0) return 0;
    if (system_truncate(disk->disk->descriptor, (int64_t)disk->end) != 0) disk->disk->reason = errno;
    disk->written = disk->end;
    return 0;
}

hid_t shard_disk_driver(Error *error)
{
    static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 13, 0)
        .version = H5FD_CLASS_VERSION,
        .value = (H5FD_class_value_t)511, // the last of those that are not registered with the HDF Group
#endif
        .name = "hopscotch",
        .maxaddr = INT64_MAX,
        .fc_degree = H5F_CLOSE_STRONG,
        .fapl_size = sizeof(ShardDisk *),
        .open = disk_open,
        .close = disk_close,
        .query = disk_query,
        .get_eoa = disk_get_end,
        .set_eoa = disk_set_end,
        .get_eof = disk_get_size,
        .read = disk_read,
        .write = disk_write,
        .truncate = disk_truncate,
        .fl_map = H5FD_FLMAP_DICHOTOMY,
    };
    return shard_id(error, H5FDregister(&driver), "the driver of files");
}

hid_t shard_disk_create(Error *error, hid_t driver, ShardDisk *disk)
{
    const hid_t access = shard_id(error, H5Pcreate(H5P_FILE_ACCESS), "the file");
    const hid_t create = shard_id(error, H5Pcreate(H5P_FILE_CREATE), "the file");
    shard_ok(error, H5Pset_driver(access, driver, &disk), "the file");
    shard_ok(error, H5Pset_obj_track_times(create, 0), "the file");
    const hid_t file = shard_id(error, H5Fcreate("arrays", H5F_ACC_TRUNC, create, access), "the file");
    shard_ok(error, H5Pclose(access), "the file");
    shard_ok(error, H5Pclose(create), "the file");
    return file;
}
