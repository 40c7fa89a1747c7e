// Threads with stacks of a fixed size (thread.c).
#ifndef HOPSCOTCH_THREAD_H
#define HOPSCOTCH_THREAD_H

#include <pthread.h>

// As pthread_create: 0, or an errno.
int thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);
// Runs the function to its end in a thread with a stack of 8 MiB, whatever `ulimit -s` says. That thread gets the
// signals.
int thread_run_deep(void *(*run)(void *argument), void *argument);

#endif
