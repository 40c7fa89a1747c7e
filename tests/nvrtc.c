// A library in place of NVRTC, for tests/cli/made.sh. FAKE_NVRTC says what it does with a kernel: "made" gives an
// image; "wrong", "alien" and "crash" give one that stands for wrong code, for an image that can't be loaded, for a
// kernel that crashes; "empty" gives none; "begin", "refuse", "hang", "die"; "memory" takes all memory; "spin" takes
// processor time until its limit, which it finds at 20 s and shortens.
// FAKE_NVRTC_LOG: a file that gets a line per kernel. FAKE_NVRTC_MAJOR: its version (13).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char *task(void)
{
    const char *text = getenv("FAKE_NVRTC");
    return text != NULL ? text : "made";
}

static void spin(void)
{
    struct rlimit seconds;
    if (getrlimit(RLIMIT_CPU, &seconds) != 0 || seconds.rlim_cur != 30 || seconds.rlim_max <= 30) abort();
    seconds.rlim_cur = 1;
    if (setrlimit(RLIMIT_CPU, &seconds) != 0) abort();
    for (volatile int i = 0;; i = i + 1) {
    }
}

int nvrtcVersion(int *major, int *minor)
{
    const char *text = getenv("FAKE_NVRTC_MAJOR");
    *major = text != NULL ? atoi(text) : 13;
    *minor = 0;
    return 0;
}

const char *nvrtcGetErrorString(int result) { return result == 0 ? "success" : "fake error"; }

int nvrtcCreateProgram(void **program, const char *source, const char *name, int headers, const char *const *texts,
                       const char *const *names)
{
    (void)name, (void)headers, (void)texts, (void)names;
    *program = (void *)(size_t)1;
    return strstr(source, "__global__") != NULL && strcmp(task(), "begin") != 0 ? 0 : 1;
}

int nvrtcCompileProgram(void *program, int options, const char *const *option)
{
    (void)program;
    const char *log = getenv("FAKE_NVRTC_LOG");
    FILE *file = log != NULL ? fopen(log, "a") : NULL;
    if (file != NULL) {
        for (int i = 0; i < options; i++) fprintf(file, "%s ", option[i]);
        fputc('\n', file);
        fclose(file);
    }
    if (strcmp(task(), "hang") == 0)
        for (;;) pause();
    if (strcmp(task(), "die") == 0) abort();
    if (strcmp(task(), "spin") == 0) spin();
    if (strcmp(task(), "memory") == 0)
        for (;;) memset(malloc((size_t)1 << 28), 1, (size_t)1 << 28); // NULL at the limit: it dies
    return strcmp(task(), "refuse") == 0 ? 6 : 0;
}

int nvrtcGetProgramLogSize(void *program, size_t *size)
{
    (void)program;
    *size = 64;
    return 0;
}

int nvrtcGetProgramLog(void *program, char *log)
{
    (void)program;
    strcpy(log, "made.cu(1): error: \033[31mfake\n");
    return 0;
}

int nvrtcGetCUBINSize(void *program, size_t *size)
{
    (void)program;
    *size = strcmp(task(), "empty") == 0 ? 0 : 6;
    return 0;
}

int nvrtcGetCUBIN(void *program, char *image)
{
    (void)program;
    const int bad = strcmp(task(), "wrong") == 0 || strcmp(task(), "alien") == 0 || strcmp(task(), "crash") == 0;
    strcpy(image, bad ? task() : "made!");
    return 0;
}
