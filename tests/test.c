// The test runner: runs every registered test, or those whose name contains one of the arguments; `-WORDS` leaves out
// those whose name contains the words.
#include "test.h"

#include "../sim/cpu_kernels.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS_THREADS
#endif
// By gcc 12, which was seen to forget them. Sanitizers' kernels are compiled at -O1, where it clears none.
#if defined(__x86_64__) && __GNUC__ == 12 && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TELLS_UPPERS
#include <cpuid.h>
#endif

enum { TESTS_MAX = 2048 };

static struct {
    const char *file, *name;
    TestFunction function;
} tests[TESTS_MAX];
static int n_tests, failures_in_test;
static const char *skipped, *remedy; // what it needs, and how to have that; NULL: it was not
static jmp_buf left;                 // where a test goes that can't go on
static char folder_root[64];
static int n_folders;

void test_register(const char *file, const char *name, TestFunction function)
{
    if (n_tests == TESTS_MAX) {
        fprintf(stderr, "more than %d tests: raise TESTS_MAX in tests/test.c\n", TESTS_MAX);
        abort();
    }
    tests[n_tests].file = file;
    tests[n_tests].name = name;
    tests[n_tests++].function = function;
}

static bool report(bool good, const char *file, int line)
{
    if (good) return true;
    failures_in_test++;
    if (failures_in_test <= 20) printf("%s:%d: ", file, line);
    return failures_in_test > 20; // enough was printed
}

void test_check(bool good, const char *file, int line, const char *condition)
{
    if (!report(good, file, line)) printf("expected %s\n", condition);
}

void test_integer(int64_t expected, int64_t got, const char *file, int line, const char *what)
{
    if (!report(expected == got, file, line))
        printf("%s: expected %lld, got %lld\n", what, (long long)expected, (long long)got);
}

void test_near(double expected, double got, double tolerance, const char *file, int line, const char *what)
{
    const double difference = expected > got ? expected - got : got - expected;
    if (!report(difference <= tolerance, file, line))
        printf("%s: expected %.17g, got %.17g, difference %.3g, tolerance %.3g\n", what, expected, got, difference,
               tolerance);
}

void test_bits(double expected, double got, const char *file, int line, const char *what)
{
    if (!report(memcmp(&expected, &got, sizeof got) == 0, file, line))
        printf("%s: expected the bits of %a, got %a\n", what, expected, got);
}

void test_text(const char *expected, const char *got, const char *file, int line, const char *what)
{
    if (!report(got != NULL && strcmp(expected, got) == 0, file, line))
        printf("%s: expected\n%s\ngot\n%s\n", what, expected, got != NULL ? got : "(null)");
}

// Of a build without some instruction sets (ISAS, PLAIN of the Makefile), which tests ask for by name.
static bool build_is_partial(void)
{
#if defined(__aarch64__)
    return &cpu_plain_scalar == NULL || &cpu_plain_neon == NULL || &cpu_observed_scalar == NULL ||
           &cpu_observed_neon == NULL || &cpu_environment_scalar == NULL || &cpu_environment_neon == NULL;
#else
    const CpuKernels *const all[] = {&cpu_plain_scalar,    &cpu_plain_v2,    &cpu_plain_v3,
                                     &cpu_observed_scalar, &cpu_observed_v2, &cpu_observed_v3};
    const EnvironmentKernels *const environments[] = {&cpu_environment_scalar, &cpu_environment_v2,
                                                      &cpu_environment_v3};
    const bool v4 = &cpu_plain_v4 != NULL && &cpu_observed_v4 != NULL && &cpu_environment_v4 != NULL;
    bool whole = v4 || !test_has_isa(ISA_V4);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) whole = whole && all[i] != NULL;
    for (size_t i = 0; i < sizeof environments / sizeof *environments; i++) whole = whole && environments[i] != NULL;
    return !whole;
#endif
}

// A test that needs kernels which such a build lacks is skipped, and says which.
static void leave_without_kernels(const Error *error)
{
    static char why[sizeof error->text];
    const bool lacks = strstr(error->text, "without kernels for") != NULL ||
                       strstr(error->text, "no environments for the instruction set") != NULL;
    if (!lacks || !build_is_partial()) return;
    const char *set = strstr(error->text, " for ");
    snprintf(why, sizeof why, "kernels%.*s", (int)strcspn(set, ":"), set);
    test_skip(why, "make");
    longjmp(left, 1);
}

void test_error(ErrorKind expected, Error got, const char *file, int line, const char *what)
{
    if (expected == OK && got.kind != OK) leave_without_kernels(&got);
    if (!report(expected == got.kind, file, line))
        printf("%s: expected error kind %d, got %d: %s\n", what, (int)expected, (int)got.kind, got.text);
}

void test_says(ErrorKind expected, const char *words, Error got, const char *file, int line, const char *what)
{
    test_error(expected, got, file, line, what);
    if (expected == got.kind && !report(strstr(got.text, words) != NULL, file, line))
        printf("%s: expected the words\n%s\ngot\n%s\n", what, words, got.text);
}

bool test_has_isa(const char *isa)
{
#if defined(__aarch64__)
    return strcmp(isa, "neon") == 0 || strcmp(isa, "scalar") == 0;
#else
    if (strcmp(isa, "v4") == 0) return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
    if (strcmp(isa, "v2") == 0) return true;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
}

bool test_quick(void)
{
    const char *quick = getenv("QUICK");
    return quick != NULL && quick[0] != '\0';
}

void test_skip(const char *needs, const char *how)
{
    skipped = needs;
    remedy = how;
}

const char *test_folder(void)
{
    static char path[128];
    if (folder_root[0] == '\0') {
        const char *folder = getenv("TMPDIR"); // in memory, where tests/run.sh finds room: each commit waits for a disk
        if (folder == NULL || folder[0] != '/' || strlen(folder) > 32) folder = "/tmp";
        snprintf(folder_root, sizeof folder_root, "%s/hopscotch-test-XXXXXX", folder);
        if (mkdtemp(folder_root) == NULL) abort();
    }
    snprintf(path, sizeof path, "%s/%d", folder_root, n_folders++);
    if (folder_make(path).kind != OK) abort();
    return path;
}

const char *test_shared(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "../shared/%s", name);
    return access(path, R_OK) == 0 ? path : NULL;
}

// Of the tests that are named, or of all, every N-th: `--part=2/3`, so that processes can share them out.
typedef struct Part {
    int number, of;
} Part;

static Part part_given(int *argc, char ***argv)
{
    Part part = {1, 1};
    const bool given = *argc > 1 && sscanf((*argv)[1], "--part=%d/%d", &part.number, &part.of) == 2;
    if (!given || part.of < 1) return (Part){1, 1};
    (*argc)--, (*argv)++;
    return part;
}

static bool wanted(const char *name, int argc, char **argv)
{
    bool chosen = false, all = true;
    for (int i = 1; i < argc; i++) {
        const bool leaves_out = argv[i][0] == '-';
        const bool named = strstr(name, argv[i] + leaves_out) != NULL;
        if (leaves_out && named) return false;
        chosen = chosen || (named && !leaves_out);
        all = all && leaves_out;
    }
    return chosen || all;
}

// ---- vector registers -----------------------------------------------------------------------------------------------

// Whether upper halves of vector registers are in use (XINUSE of AVX), where the processor tells it: between tests
// nothing should use them.
#if defined(TELLS_UPPERS)
static bool uppers_in_use(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
    return (low & 4) != 0;
}
static void uppers_leave(void) { __asm__ volatile("vzeroupper" ::: "memory"); }
static bool uppers_are_told(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__builtin_cpu_supports("avx2") || !__get_cpuid_count(0xd, 1, &a, &b, &c, &d) || (a & 4) == 0) return false;
    uppers_leave();
    const bool before = uppers_in_use();
    __asm__ volatile("vpcmpeqd %%ymm5, %%ymm5, %%ymm5" ::: "xmm5");
    const bool used = uppers_in_use();
    uppers_leave();
    return !before && used && !uppers_in_use();
}
#else
static bool uppers_in_use(void) { return false; }
static void uppers_leave(void) {}
static bool uppers_are_told(void) { return false; }
#endif

static void check_uppers(bool told, const char *file)
{
    if (!told) return;
    test_check(!uppers_in_use(), file, 0, "that vector registers are left (leave_vectors)");
    uppers_leave();
}

// ---- threads --------------------------------------------------------------------------------------------------------

// How many threads this process and its children have started. Sanitizers have a pthread_create of their own.
#if defined(COUNTS_THREADS)
static atomic_int *threads_started;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *const found = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&next, &found, sizeof next);
    if (threads_started != NULL) (*threads_started)++;
    return next(thread, attributes, run, argument);
}

static void count_threads(void)
{
    void *shared = mmap(NULL, sizeof *threads_started, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) abort();
    threads_started = shared;
}
#endif

// The thread sanitizer leaves out the tests of tests/one_thread (`make tsan`), because they start no thread. Without
// that file, for a program that runs elsewhere, nothing is checked.
static void check_threads(const char *name, const char *file)
{
#if defined(COUNTS_THREADS)
    if (atomic_exchange(threads_started, 0) == 0) return;
    FILE *list = fopen("tests/one_thread", "r");
    char line[256];
    bool listed = false;
    while (list != NULL && fgets(line, sizeof line, list) != NULL) {
        line[strcspn(line, "# \n")] = '\0';
        listed = listed || (line[0] != '\0' && strstr(name, line) != NULL);
    }
    if (list != NULL) fclose(list);
    test_check(!listed, file, 0, "that it starts no thread: tests/one_thread names it; remove that line");
#else
    (void)name, (void)file;
#endif
}

static __attribute__((noinline)) void run_test(TestFunction function)
{
    if (setjmp(left) == 0) function();
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0, n_skipped = 0, n_wanted = 0;
    const Part part = part_given(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) != 0) continue;
        fprintf(stderr,
                "usage: tests [--part=I/N] [WORD | -WORD]...   (tests with, or without, a word in their names)\n");
        return 2;
    }
    const bool uppers_told = uppers_are_told();
#if defined(COUNTS_THREADS)
    count_threads();
#endif
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < n_tests; i++) {
        if (!wanted(tests[i].name, argc, argv) || n_wanted++ % part.of != part.number - 1) continue;
        failures_in_test = 0;
        skipped = NULL;
        const double start = clock_seconds();
        run_test(tests[i].function);
        check_uppers(uppers_told, tests[i].file);
        check_threads(tests[i].name, tests[i].file);
        const bool is_skipped = failures_in_test == 0 && skipped != NULL;
        failed += failures_in_test > 0;
        n_skipped += is_skipped;
        passed += failures_in_test == 0 && !is_skipped;
        if (is_skipped)
            printf("skip %s: needs %s (%s); nothing is wrong without\n", tests[i].name, skipped, remedy);
        else
            printf("%-4s %s (%.2f s)\n", failures_in_test > 0 ? "FAIL" : "ok", tests[i].name, clock_seconds() - start);
    }
    if (folder_root[0] != '\0') {
        char command[128];
        snprintf(command, sizeof command, "rm -rf -- '%s'", folder_root);
        if (system(command) != 0) printf("could not remove %s\n", folder_root);
    }
    printf("%d passed, %d failed, %d skipped\n", passed, failed, n_skipped);
    return failed > 0 ? 1 : 0;
}
