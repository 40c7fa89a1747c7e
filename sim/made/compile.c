// What compiles made kernels: for a CPU the C compiler (compile_c.c), for a GPU NVRTC, the compiler of CUDA C++ as a
// library, found when it is wanted: the program runs without them.
#include "compile_c.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct NvrtcProgram NvrtcProgram;

// The functions of NVRTC that are used. Each gives 0, or the number of an error.
typedef struct Nvrtc {
    void *library;
    const char *(*words)(int result);
    int (*create)(NvrtcProgram **program, const char *source, const char *name, int headers, const char *const *texts,
                  const char *const *names);
    int (*compile)(NvrtcProgram *program, int options, const char *const *option);
    int (*log_size)(NvrtcProgram *program, size_t *size);
    int (*log)(NvrtcProgram *program, char *log);
    int (*image_size)(NvrtcProgram *program, size_t *size);
    int (*image)(NvrtcProgram *program, char *image);
} Nvrtc;

// It stays: its libstdc++ never frees a pool of 72 kB, which each new load would take again.
static void *nvrtc_load(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); }

// NVRTC as a Python package (nvidia-cuda-nvrtc) beside the wheel that this code is in: PACKAGES/hopscotch/lib and
// PACKAGES/nvidia/*/lib. Code elsewhere looks for nothing beside it, where others may write.
static void *nvrtc_of_python(const char *name)
{
    static const char inside[] = "-packages/hopscotch/";
    char pattern[512];
    Dl_info own;
    glob_t found;
    void *library = NULL;
    if (dladdr(inside, &own) == 0 || own.dli_fname == NULL) return NULL;
    const char *at = strstr(own.dli_fname, inside);
    if (at == NULL || strpbrk(own.dli_fname, "*?[\\") != NULL) return NULL;
    const int length = snprintf(pattern, sizeof pattern, "%.*s-packages/nvidia/*/lib/%s", (int)(at - own.dli_fname),
                                own.dli_fname, name);
    if (length >= (int)sizeof pattern || glob(pattern, 0, NULL, &found) != 0) return NULL;
    for (size_t i = 0; i < found.gl_pathc && library == NULL; i++) library = nvrtc_load(found.gl_pathv[i]);
    globfree(&found);
    return library;
}

// In a wheel among Python's packages, then in the folders of the system, then in that of the toolkit that the program
// was built with.
static void *nvrtc_library(void)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
#ifdef NVRTC_FOLDER
    static const char *const folders[] = {"", NVRTC_FOLDER "/"};
#else
    static const char *const folders[] = {""};
#endif
    char path[512];
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        void *library = nvrtc_of_python(names[n]);
        if (library != NULL) return library;
    }
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            snprintf(path, sizeof path, "%s%s", folders[f], names[n]);
            void *library = nvrtc_load(path);
            if (library != NULL) return library;
        }
    }
    return NULL;
}

// C has no cast from an object's address to a function's: the bytes are taken over.
static bool nvrtc_symbol(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static Error nvrtc_open(Nvrtc *nvrtc)
{
    nvrtc->library = nvrtc_library();
    if (nvrtc->library == NULL)
        return error_make(ERROR_MACHINE,
                          "NVRTC, CUDA's compiler at run time, was not found (libnvrtc.so of CUDA 11.2 "
                          "or later): install it (pip install nvidia-cuda-nvrtc beside the wheel), or add its "
                          "folder to LD_LIBRARY_PATH");
    const bool all = nvrtc_symbol(nvrtc->library, "nvrtcGetErrorString", &nvrtc->words) &&
                     nvrtc_symbol(nvrtc->library, "nvrtcCreateProgram", &nvrtc->create) &&
                     nvrtc_symbol(nvrtc->library, "nvrtcCompileProgram", &nvrtc->compile) &&
                     nvrtc_symbol(nvrtc->library, "nvrtcGetProgramLogSize", &nvrtc->log_size) &&
                     nvrtc_symbol(nvrtc->library, "nvrtcGetProgramLog", &nvrtc->log) &&
                     nvrtc_symbol(nvrtc->library, "nvrtcGetCUBINSize", &nvrtc->image_size) &&
                     nvrtc_symbol(nvrtc->library, "nvrtcGetCUBIN", &nvrtc->image);
    return all ? error_none() : error_make(ERROR_MACHINE, "NVRTC lacks a function: CUDA 11.2 or later has them all");
}

static Error nvrtc_check(const Nvrtc *nvrtc, int result, const char *what)
{
    if (result == 0) return error_none();
    return error_make(ERROR_MACHINE, "NVRTC could not %s: %.200s", what, nvrtc->words(result));
}

// The first error of the compiler's log.
static Error nvrtc_refusal(const Nvrtc *nvrtc, NvrtcProgram *program, Arena *arena)
{
    size_t size = 0;
    TRY(nvrtc_check(nvrtc, nvrtc->log_size(program, &size), "give its log"));
    char *log = ARENA_NEW(arena, char, size + 1);
    TRY(nvrtc_check(nvrtc, nvrtc->log(program, log), "give its log"));
    const char *first = strstr(log, "error");
    return error_make(ERROR_MACHINE, "NVRTC refused the kernel: %.300s", first != NULL ? first : log);
}

static Error nvrtc_image(const Nvrtc *nvrtc, NvrtcProgram *program, Arena *arena, MadeImage *image)
{
    TRY(nvrtc_check(nvrtc, nvrtc->image_size(program, &image->size), "give the kernel"));
    if (image->size == 0) return error_make(ERROR_MACHINE, "NVRTC gave an empty kernel");
    char *data = ARENA_NEW(arena, char, image->size);
    TRY(nvrtc_check(nvrtc, nvrtc->image(program, data), "give the kernel"));
    image->data = (const unsigned char *)data;
    return error_none();
}

bool made_is_for_cpu(const char *architecture)
{
    return strncmp(architecture, "x86-64-", 7) == 0 || strncmp(architecture, "aarch64-", 8) == 0;
}

const char *made_compiler(const char *architecture, Arena *arena)
{
    int (*version)(int *major, int *minor), major = 0, minor = 0;
    struct stat status = {0};
    Dl_info file;
    if (made_is_for_cpu(architecture)) return made_c_compiler(arena);
    void *library = nvrtc_library(), *address;
    if (library == NULL) return "no NVRTC";
    if (nvrtc_symbol(library, "nvrtcVersion", &version)) {
        memcpy(&address, &version, sizeof address);
        (void)version(&major, &minor);
        if (dladdr(address, &file) != 0) (void)stat(file.dli_fname, &status);
    }
    (void)dlclose(library);
    return arena_format(arena, "NVRTC %d.%d, %lld bytes of %lld", major, minor, (long long)status.st_size,
                        (long long)status.st_mtime);
}

const char *made_options(const char *architecture, Arena *arena)
{
    if (made_is_for_cpu(architecture)) return made_c_options(architecture, arena);
    return arena_format(arena, "--gpu-architecture=%.20s -std=c++17 -fmad=false -default-device -w", architecture);
}

enum { MADE_OPTIONS_MOST = 16 };

Error made_compile(const char *source, const char *architecture, Arena *arena, MadeImage *image)
{
    Nvrtc nvrtc = {0};
    NvrtcProgram *program = NULL;
    const char *option[MADE_OPTIONS_MOST];
    int options = 0;
    if (made_is_for_cpu(architecture)) return made_c_compile(source, architecture, arena, image);
    char *rest = arena_copy(arena, made_options(architecture, arena));
    for (char *word; options < MADE_OPTIONS_MOST && (word = strsep(&rest, " ")) != NULL;) option[options++] = word;
    TRY(nvrtc_open(&nvrtc));
    TRY(nvrtc_check(&nvrtc, nvrtc.create(&program, source, "made.cu", 0, NULL, NULL), "begin a kernel"));
    if (nvrtc.compile(program, options, option) != 0) return nvrtc_refusal(&nvrtc, program, arena);
    return nvrtc_image(&nvrtc, program, arena, image);
}
