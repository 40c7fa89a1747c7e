// Starts threads. By default `ulimit -s` sets the size of their stacks: it may be too small for a step of a model, or
// so large that many threads use up the address space. Kernels need up to 150 KiB; sanitizers several times as much.
#include "thread.h"

#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>

#define THREAD_STACK ((size_t)2 << 20) // bytes
#define THREAD_DEEP_STACK ((size_t)8 << 20)

static int thread_start_sized(pthread_t *thread, size_t stack, void *(*run)(void *argument), void *argument)
{
    pthread_attr_t attributes;
    int failed = pthread_attr_init(&attributes);
    if (failed != 0) return failed;
    failed = pthread_attr_setstacksize(&attributes, stack);
    if (failed == 0) failed = pthread_create(thread, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return failed;
}

int thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    return thread_start_sized(thread, THREAD_STACK, run, argument);
}

// The new thread inherits the mask of signals. This thread then blocks them, so that they interrupt the new thread's
// waits.
int thread_run_deep(void *(*run)(void *argument), void *argument)
{
    struct rlimit limit;
    pthread_t thread;
    sigset_t all, before;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= THREAD_DEEP_STACK) { // RLIM_INFINITY is the greatest
        (void)run(argument);
        return 0;
    }
    const int failed = thread_start_sized(&thread, THREAD_DEEP_STACK, run, argument);
    if (failed != 0) return failed;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return 0;
}
