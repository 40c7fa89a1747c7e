// What it costs to compile the kernel of each spec (sim/made): CPU time and memory of a process that compiles it by
// NVRTC, for sm_90; no GPU is needed.
//
//   bench_made_compile [SPEC...]     (experiments/*.yaml)
#include "../../runner/campaign/batch/made.h"
#include "../test.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COMPILE_PROCESSORS = 132, COMPILE_LANES = 100000 };

static const char *compile_source(const char *path, Arena *arena, const char **why)
{
    Diagnostics *diagnostics = diagnostics_new(arena);
    Spec spec;
    Configured built;
    Error error = spec_load(path, NULL, 0, arena, diagnostics, &spec);
    if (error.kind == OK) error = spec_build(&spec, arena, &built);
    if (error.kind != OK) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        exit(1);
    }
    const MadeWish wish = {.configured = &built,
                           .fixed = made_fixed(&spec, &built, arena),
                           .thread_blocks = made_thread_blocks(&built, COMPILE_LANES, COMPILE_PROCESSORS)};
    return made_source(&wish, arena, why);
}

// In a process of its own: writes the size of the image, or what went wrong.
static void compile_alone(const char *source, int out)
{
    Arena arena;
    MadeImage image = {0};
    char text[320];
    if (arena_create_growing(&arena, (size_t)1 << 30, "a kernel").kind != OK) _exit(1);
    const Error error = made_compile(source, "sm_90", &arena, &image);
    const int length = error.kind == OK ? snprintf(text, sizeof text, "%7.0f kB", (double)image.size / 1e3)
                                        : snprintf(text, sizeof text, "%.300s", error.text);
    _exit(write(out, text, (size_t)length) == length ? 0 : 1);
}

static void compile_time(const char *path, const char *source)
{
    char said[400] = "the compiler died";
    int pipe_ends[2], ended;
    struct rusage used;
    if (pipe(pipe_ends) != 0) exit(1);
    fflush(stdout);
    const pid_t process = fork();
    if (process == 0) compile_alone(source, pipe_ends[1]);
    close(pipe_ends[1]);
    const ssize_t length = read(pipe_ends[0], said, sizeof said - 1);
    if (length > 0) said[length] = '\0';
    close(pipe_ends[0]);
    if (wait4(process, &ended, 0, &used) != process) exit(1);
    const double seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    printf("%-48s %6.1f s %6ld MiB  source %5.0f kB  image %s\n", path, seconds, used.ru_maxrss / 1024,
           (double)strlen(source) / 1e3, said);
}

static void compile_spec(const char *path)
{
    Arena arena;
    if (arena_create_growing(&arena, (size_t)1 << 32, "a spec").kind != OK) exit(1);
    const char *why, *source = compile_source(path, &arena, &why);
    if (source != NULL)
        compile_time(path, source);
    else
        printf("%-48s general: %s\n", path, why);
    arena_destroy(&arena);
}

int main(int count, char **paths)
{
    glob_t shipped;
    for (int i = 1; i < count; i++) compile_spec(paths[i]);
    if (count > 1 || glob("experiments/*.yaml", 0, NULL, &shipped) != 0) return 0;
    for (size_t i = 0; i < shipped.gl_pathc; i++) compile_spec(shipped.gl_pathv[i]);
    globfree(&shipped);
    return 0;
}
