// The C compiler of this machine, for kernels of a CPU: cc, gcc or clang, found by PATH. It is a process of a group of
// its own, which ends with this one, and works in a folder that is removed.
#include "compile_c.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CC_OBJECT_MOST = 32 << 20, CC_WORDS_MOST = 24 };

// ---- which compiler -------------------------------------------------------------------------------------------------

static bool cc_is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

// The path of the program in a folder of PATH. Folders without a full path are left out: which they are depends on
// where a run begins.
static const char *cc_in_path(const char *name, Arena *arena)
{
    const char *folders = getenv("PATH");
    if (folders == NULL) return NULL;
    char *rest = arena_copy(arena, folders);
    for (char *folder; (folder = strsep(&rest, ":")) != NULL;) {
        const char *path = arena_format(arena, "%s/%s", folder, name);
        if (folder[0] == '/' && cc_is_program(path)) return path;
    }
    return NULL;
}

static const char *cc_find(Arena *arena)
{
    static const char *const names[] = {"cc", "gcc", "clang"};
    const char *path = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && path == NULL; i++) path = cc_in_path(names[i], arena);
    return path;
}

const char *made_c_compiler(Arena *arena)
{
    struct stat status = {0};
    const char *path = cc_find(arena);
    if (path == NULL) return NULL;
    char *whole = realpath(path, NULL); // without links
    if (whole != NULL) path = arena_copy(arena, whole);
    free(whole);
    (void)stat(path, &status);
    return arena_format(arena, "%s, %lld bytes of %lld", path, (long long)status.st_size, (long long)status.st_mtime);
}

// Without the libraries of C: the program has what a kernel calls. clang halves vectors of 64 bytes unless it is to
// prefer them.
const char *made_c_options(const char *architecture, Arena *arena)
{
    const char *of = strstr(architecture, "-scalar"), *level = of != NULL ? "x86-64-v3" : architecture;
    const bool x86 = strncmp(architecture, "x86-64-", 7) == 0;
    return arena_format(arena,
                        "-x c -std=gnu17 -O2 -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-strict-aliasing "
                        "-march=%.20s %s%s-fPIC -shared -nostdlib -w",
                        x86 ? level : "armv8-a", x86 ? "-mprefer-vector-width=512 " : "",
                        of != NULL ? "-DHOPSCOTCH_SCALAR " : "");
}

// ---- its folder -----------------------------------------------------------------------------------------------------

typedef struct CcFolder {
    const char *path;
    int open;
} CcFolder;

// In $TMPDIR or /tmp, unless another user could exchange it there.
static Error cc_folder_make(Arena *arena, CcFolder *folder)
{
    struct stat above;
    const char *chosen = getenv("TMPDIR"), *in = chosen != NULL && chosen[0] == '/' ? chosen : "/tmp";
    char *path = arena_format(arena, "%s/hopscotch-XXXXXX", in);
    if (stat(in, &above) != 0 || ((above.st_mode & 022) != 0 && (above.st_mode & S_ISVTX) == 0))
        return error_make(ERROR_MACHINE, "%.200s is missing, or other users may exchange its files", in);
    if (mkdtemp(path) != NULL) folder->open = open(path, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    folder->path = path;
    return folder->open >= 0 ? error_none()
                             : error_make(ERROR_MACHINE, "can't make a folder in %.200s: %s", in, strerror(errno));
}

// With what the compiler left, if it was ended.
static void cc_folder_remove(CcFolder *folder)
{
    DIR *entries = fdopendir(folder->open);
    if (entries == NULL) return;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) (void)unlinkat(folder->open, entry->d_name, 0);
    closedir(entries);
    (void)rmdir(folder->path);
}

// A file in it, of at most `most` bytes; false: there is none, or it is longer.
static bool cc_folder_read(const CcFolder *folder, const char *name, size_t most, Arena *arena, MadeImage *out)
{
    struct stat status;
    const int file = openat(folder->open, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) return false;
    bool whole = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && (size_t)status.st_size <= most;
    if (whole) {
        char *data = ARENA_NEW(arena, char, status.st_size + 1);
        whole = pread(file, data, (size_t)status.st_size, 0) == status.st_size;
        *out = (MadeImage){(const unsigned char *)data, (size_t)status.st_size};
    }
    close(file);
    return whole;
}

// ---- its process ----------------------------------------------------------------------------------------------------

static volatile sig_atomic_t cc_process; // > 0: the process and group of the compiler; < 0: there is to be none

static void cc_end(int signal)
{
    (void)signal;
    if (cc_process > 0) (void)kill(-(pid_t)cc_process, SIGKILL);
    cc_process = -1;
}

// Who ends this process ends the compiler: then the folder is removed.
static void cc_listen(void)
{
    static const int ends[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct sigaction action = {.sa_handler = cc_end};
        (void)sigaction(ends[i], &action, NULL);
    }
    (void)signal(SIGCHLD, SIG_DFL); // else how the compiler ends is not known
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
}

// The words of the command, NULL behind them.
static void cc_words(const char *path, const char *options, Arena *arena, char *words[CC_WORDS_MOST])
{
    int count = 0;
    char *rest = arena_copy(arena, options);
    words[count++] = arena_copy(arena, path);
    for (char *word; count < CC_WORDS_MOST - 4 && (word = strsep(&rest, " ")) != NULL;) words[count++] = word;
    words[count++] = (char *)"-o";
    words[count++] = (char *)"made.so";
    words[count++] = (char *)"-";
    words[count] = NULL;
}

// In the new process: the compiler, with the source as its standard input, in the folder.
static void cc_become(char *const words[], const CcFolder *folder, int source)
{
    const struct rlimit size = {CC_OBJECT_MOST, CC_OBJECT_MOST};
    const int log = openat(folder->open, "log", O_CREAT | O_WRONLY | O_EXCL | O_CLOEXEC, 0600);
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setrlimit(RLIMIT_FSIZE, &size);
    if (log < 0 || fchdir(folder->open) != 0 || setenv("TMPDIR", folder->path, 1) != 0 ||
        setenv("LC_ALL", "C", 1) != 0 || dup2(source, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 ||
        dup2(log, STDERR_FILENO) < 0)
        _exit(127);
    (void)execv(words[0], words);
    _exit(127);
}

// *ended: as waitpid gives it.
static Error cc_run(char *const words[], const CcFolder *folder, int source, int *ended)
{
    sigset_t ends, before;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &ends, &before);
    const pid_t process = cc_process < 0 ? -1 : fork();
    if (process == 0) {
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        cc_become(words, folder, source);
    }
    if (process > 0) {
        (void)setpgid(process, process); // as the process does: whoever is first
        cc_process = (sig_atomic_t)process;
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    pid_t waited = -1;
    while (process > 0 && (waited = waitpid(process, ended, 0)) < 0 && errno == EINTR) {
    }
    if (process > 0) (void)kill(-process, SIGKILL); // what it left running
    return waited > 0 ? error_none() : error_make(ERROR_MACHINE, "the C compiler could not be started");
}

static int cc_source(const char *source)
{
    const size_t size = strlen(source);
    const int file = memfd_create("source", MFD_CLOEXEC);
    if (file >= 0 && write(file, source, size) == (ssize_t)size && lseek(file, 0, SEEK_SET) == 0) return file;
    if (file >= 0) close(file);
    return -1;
}

// What the compiler says about an error: from there to the end of its line.
static Error cc_refusal(const CcFolder *folder, int ended, Arena *arena)
{
    MadeImage log = {0};
    if (WIFSIGNALED(ended)) return error_make(ERROR_MACHINE, "the C compiler died by signal %d", WTERMSIG(ended));
    (void)cc_folder_read(folder, "log", CC_OBJECT_MOST, arena, &log);
    char *words = log.size > 0 ? arena_copy(arena, (const char *)log.data) : (char *)"";
    char *first = strstr(words, "error");
    if (first == NULL) first = words;
    first[strcspn(first, "\n")] = '\0';
    return error_make(ERROR_MACHINE, "the C compiler refused the kernel (exit status %d)%s%.300s", WEXITSTATUS(ended),
                      first[0] != '\0' ? ": " : "", first);
}

static Error cc_compile(const char *path, const char *options, int source, const CcFolder *folder, Arena *arena,
                        MadeImage *image)
{
    char *words[CC_WORDS_MOST];
    int ended = 0;
    cc_words(path, options, arena, words);
    TRY(cc_run(words, folder, source, &ended));
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0) return cc_refusal(folder, ended, arena);
    if (cc_folder_read(folder, "made.so", CC_OBJECT_MOST, arena, image) && image->size > 0) return error_none();
    return error_make(ERROR_MACHINE, "the C compiler gave no object");
}

Error made_c_compile(const char *source, const char *architecture, Arena *arena, MadeImage *image)
{
    CcFolder folder = {.open = -1};
    const char *path = cc_find(arena);
    if (path == NULL) return error_make(ERROR_MACHINE, "no C compiler was found by PATH (cc, gcc or clang)");
    const int file = cc_source(source);
    if (file < 0) return error_make(ERROR_MACHINE, "there is no memory for its source");
    cc_listen();
    Error error = cc_folder_make(arena, &folder);
    if (error.kind == OK) {
        error = cc_compile(path, made_c_options(architecture, arena), file, &folder, arena, image);
        cc_folder_remove(&folder);
    }
    close(file);
    return error;
}
