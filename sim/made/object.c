// The image is written to a file in memory that cannot change any more, and loaded from there: nothing lies between the
// bytes whose digest was checked and those that run.
#include "object.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool object_write(int file, const unsigned char *data, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(file, data, size);
        if (written <= 0) return false;
        data += written;
        size -= (size_t)written;
    }
    return fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0;
}

// The loader knows objects by their path: the file stays open, so that no other has the same.
static Error object_load(MadeObject *object)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", object->file);
    object->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *address = object->library != NULL ? dlsym(object->library, "made") : NULL;
    if (address == NULL) {
        const char *why = dlerror();
        return error_make(ERROR_MACHINE, "it could not be loaded: %.200s", why != NULL ? why : "no function");
    }
    memcpy(&object->run, &address, sizeof address);
    return error_none();
}

Error made_object_open(const MadeImage *image, MadeObject *object)
{
    *object = (MadeObject){.file = memfd_create("kernel", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    if (object->file < 0) {
        *object = (MadeObject){0};
        return error_make(ERROR_MACHINE, "there is no memory for it");
    }
    const Error error = object_write(object->file, image->data, image->size)
                            ? object_load(object)
                            : error_make(ERROR_MACHINE, "there is no memory for it");
    if (error.kind != OK) made_object_close(object);
    return error;
}

void made_object_close(MadeObject *object)
{
    if (object->library != NULL) (void)dlclose(object->library);
    if (object->file > 0) (void)close(object->file);
    *object = (MadeObject){0};
}
