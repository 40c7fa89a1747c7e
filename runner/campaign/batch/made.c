// A kernel is compiled by a process of its own, which may hang, die, or want too much memory: it has limits, it is
// killed, and the general kernel goes on. That process is this program again. Source and image are files in memory.
#include "made.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Of the process that compiles.
enum { MADE_SECONDS = 30, MADE_IMAGE_MAX = 32 << 20, MADE_PATIENCE = 2000 }; // the last: ms until it is killed
static const char made_cache[] = "kernels";

// ---- the compiler's process -----------------------------------------------------------------------------------------

static int made_answer(const void *data, size_t size, int code)
{
    const unsigned char *from = data;
    while (size > 0) {
        const ssize_t written = write(STDOUT_FILENO, from, size);
        if (written <= 0) return 1;
        from += written;
        size -= (size_t)written;
    }
    return code;
}

int made_compiler_main(const char *architecture)
{
    Arena arena;
    MadeImage image;
    struct stat status;
    const struct rlimit seconds = {MADE_SECONDS, MADE_SECONDS + 1}, none = {0, 0}; // SIGXCPU, then SIGKILL
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const rlim_t most = (rlim_t)8 << 30; // bytes
    const struct rlimit memory = {most, most};
#endif
    prctl(PR_SET_PDEATHSIG, SIGKILL); // its parent waits for it; a C compiler changes this (sim/made/compile_c.h)
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    (void)setrlimit(RLIMIT_AS, &memory);
#endif
    (void)setrlimit(RLIMIT_CPU, &seconds);
    (void)setrlimit(RLIMIT_CORE, &none);
    if (fstat(STDIN_FILENO, &status) != 0) return 1;
    Error error = arena_create_growing(&arena, (size_t)1 << 30, "a kernel");
    if (error.kind != OK) return made_answer(error.text, strlen(error.text), 1);
    char *source = ARENA_NEW(&arena, char, status.st_size + 1);
    if (pread(STDIN_FILENO, source, (size_t)status.st_size, 0) != status.st_size) return 1;
    error = made_compile(source, architecture, &arena, &image);
    if (error.kind != OK) return made_answer(error.text, strlen(error.text), 1);
    return made_answer(image.data, image.size, 0);
}

// ---- a job ----------------------------------------------------------------------------------------------------------

static void made_give_up(MadeJob *job, const char *why)
{
    job->offered = true;
    snprintf(job->note, sizeof job->note, "using the general kernel; compiling one for this campaign failed: %.300s",
             why);
}

static void made_close_files(MadeJob *job)
{
    if (job->in > 0) close(job->in);
    if (job->out > 0) close(job->out);
    job->in = job->out = 0;
}

static bool made_open_files(MadeJob *job)
{
    const size_t size = strlen(job->source);
    job->in = memfd_create("source", MFD_CLOEXEC);
    job->out = memfd_create("image", MFD_CLOEXEC);
    return job->in > 0 && job->out > 0 && pwrite(job->in, job->source, size, 0) == (ssize_t)size;
}

extern char **environ;

static int made_spawn(MadeJob *job)
{
    char *const arguments[] = {(char *)"hopscotch", (char *)MADE_COMPILER, job->architecture, NULL};
    posix_spawn_file_actions_t files;
    if (posix_spawn_file_actions_init(&files) != 0) return ENOMEM;
    pid_t process = 0;
    int failed = posix_spawn_file_actions_adddup2(&files, job->in, STDIN_FILENO);
    if (failed == 0) failed = posix_spawn_file_actions_adddup2(&files, job->out, STDOUT_FILENO);
    if (failed == 0) failed = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (failed == 0) failed = posix_spawn(&process, "/proc/self/exe", &files, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    job->process = failed == 0 ? process : 0;
    return failed;
}

static void made_start(MadeJob *job)
{
    job->started = clock_seconds();
    if (made_open_files(job) && made_spawn(job) == 0) return;
    made_close_files(job);
    made_give_up(job, "its process could not start");
}

static const char *made_end_words(MadeJob *job, int ended)
{
    if (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGXCPU)
        return arena_format(&job->arena, "the compiler took longer than %d s of processor time", MADE_SECONDS);
    return WIFSIGNALED(ended) ? "the compiler died" : "the compiler gave no output";
}

// What the process wrote; false: nothing that can be used, and it was given up.
static bool made_take(MadeJob *job, int ended, MadeImage *image)
{
    struct stat status = {0};
    const bool ok = WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
    if (fstat(job->out, &status) != 0 || status.st_size == 0 || status.st_size > MADE_IMAGE_MAX) {
        made_give_up(job, made_end_words(job, ended));
        return false;
    }
    char *data = ARENA_NEW(&job->arena, char, status.st_size + 1);
    if (pread(job->out, data, (size_t)status.st_size, 0) != status.st_size || !ok) {
        made_give_up(job, ok ? "can't read the compiled kernel" : text_visible(data, &job->arena));
        return false;
    }
    *image = (MadeImage){(const unsigned char *)data, (size_t)status.st_size};
    return true;
}

static Error made_offer(MadeJob *job, Backend *backend, const MadeImage *image)
{
    job->offered = true;
    return backend_use_made(backend, image, job->fixed);
}

// That of a C compiler ends its compiler first.
static void made_kill(MadeJob *job)
{
    bool ended = false;
    if (job->process == 0) return;
    if (made_is_for_cpu(job->architecture)) kill(job->process, SIGTERM);
    for (int i = 0; i < MADE_PATIENCE && made_is_for_cpu(job->architecture) && !ended; i++) {
        ended = waitpid(job->process, NULL, WNOHANG) != 0;
        if (!ended) usleep(1000);
    }
    if (!ended) kill(job->process, SIGKILL);
    while (!ended && waitpid(job->process, NULL, 0) < 0 && errno == EINTR) {
    }
    job->process = 0;
}

// Has the process ended? Then the made kernel is the backend's and the cache's.
static Error made_look(MadeJob *job, Backend *backend)
{
    MadeImage image;
    int ended = 0;
    const pid_t process = waitpid(job->process, &ended, WNOHANG);
    job->seconds = clock_seconds() - job->started;
    if (process < 0) ended = SIGKILL; // this process ignores SIGCHLD: how it ended is not known
    if (process == 0 && job->seconds < MADE_SECONDS) return error_none();
    if (process == 0) {
        made_kill(job);
        made_close_files(job);
        made_give_up(job, arena_format(&job->arena, "the compiler took longer than %d s", MADE_SECONDS));
        return error_none();
    }
    job->process = 0;
    const bool made = made_take(job, ended, &image);
    made_close_files(job);
    if (!made) return error_none();
    cache_write(made_cache, job->key.hex, image.data, image.size, &job->arena);
    return made_offer(job, backend, &image);
}

Error made_tend(MadeJob *job, Backend *backend, bool worth)
{
    if (job->source == NULL || job->offered) return error_none();
    if (job->process > 0) return made_look(job, backend);
    if (worth) made_start(job);
    return error_none();
}

// ---- what there is to make ------------------------------------------------------------------------------------------

const double *made_fixed(const Spec *spec, const Configured *configured, Arena *arena)
{
    double *fixed = ARENA_NEW(arena, double, configured->n_parameters + 1);
    for (int p = 0; p < configured->n_parameters; p++)
        fixed[p] = p < configured_named(configured) ? spec->fixed[p] : (double)NAN;
    for (int i = 0; i < spec->n_axes + spec->n_derived + spec->n_outer; i++)
        fixed[spec->axes[i].parameter] = (double)NAN;
    for (int i = 0; i < spec->replicates.n_perturb; i++) fixed[spec->replicates.perturb[i].parameter] = (double)NAN;
    for (int k = 0; k < spec->n_cases; k++)
        for (int i = 0; i < spec->cases[k].n_values; i++)
            if (spec->cases[k].from[i] >= 0) fixed[spec->cases[k].parameter[i]] = (double)NAN;
    return fixed;
}

static Sha256Text made_key(const MadeJob *job, const char *compiler, Arena *arena)
{
    Sha256 hash;
    const char *options = made_options(job->architecture, arena);
    sha256_start(&hash);
    sha256_add(&hash, options, strlen(options));
    sha256_add(&hash, compiler, strlen(compiler));
    sha256_add(&hash, job->source, strlen(job->source));
    return sha256_finish(&hash);
}

static Error made_wait(MadeJob *job, Backend *backend)
{
    while (!job->offered) {
        TRY(made_tend(job, backend, true));
        if (interrupt_requested() != 0) return error_make(ERROR_INTERRUPTED, "interrupted");
        usleep(2000);
    }
    return error_none();
}

Error made_begin(const Spec *spec, const Configured *configured, const char *choice, int64_t lanes, Backend *backend,
                 MadeJob *job)
{
    const BackendInfo *info = backend_info(backend);
    Bytes image;
    const bool on_cpu = made_is_for_cpu(info->architecture);
    made_end(job);
    if (info->architecture[0] == '\0' || (on_cpu && !configured->model->made_on_cpu)) return error_none();
    snprintf(job->architecture, sizeof job->architecture, "%s", info->architecture);
    if (choice == NULL || strcmp(choice, "general") == 0) return error_none();
    const Error memory = arena_create_growing(&job->arena, (size_t)1 << 30, "a kernel for this campaign");
    if (memory.kind != OK) made_give_up(job, memory.text);
    if (memory.kind != OK) return error_none();
    job->fixed = made_fixed(spec, configured, &job->arena);
    const MadeWish wish = {.configured = configured,
                           .fixed = job->fixed,
                           .thread_blocks = made_thread_blocks(configured, lanes, info->processors),
                           .on_cpu = on_cpu};
    const char *why = "its lanes end at several times (limits.retire)";
    job->source = spec_has_rungs(spec) ? NULL : made_source(&wish, &job->arena, &why);
    job->without = arena_format(&job->arena, "general: %s", why);
    if (job->source == NULL) return error_none();
    const char *compiler = made_compiler(job->architecture, &job->arena);
    if (compiler == NULL) {
        job->source = NULL;
        job->without = "general: no C compiler was found by PATH (cc, gcc or clang)";
        return error_none();
    }
    job->key = made_key(job, compiler, &job->arena);
    job->cached = cache_read(made_cache, job->key.hex, &job->arena, &image);
    if (job->cached) return made_offer(job, backend, &(MadeImage){image.data, image.size});
    return strcmp(choice, "made") == 0 ? made_wait(job, backend) : error_none();
}

const char *made_words(const MadeJob *job)
{
    if (job->architecture[0] == '\0') return NULL;
    if (job->note[0] != '\0') return job->note;
    if (job->source == NULL) return job->without != NULL ? job->without : "general";
    if (job->offered) return job->cached ? "made for this campaign, from the cache" : "made for this campaign";
    return "general; makes one for this campaign if that saves time";
}

void made_forget(MadeJob *job) { cache_remove(made_cache, job->key.hex, &job->arena); }

void made_end(MadeJob *job)
{
    made_kill(job);
    made_close_files(job);
    arena_destroy(&job->arena);
    *job = (MadeJob){0};
}
