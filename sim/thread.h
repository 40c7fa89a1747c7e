// Threads with stacks of a size of our own (thread.c).
#ifndef HOPSCOTCH_THREAD_H
#define HOPSCOTCH_THREAD_H

#include <pthread.h>

// As pthread_create: 0, or the errno of what was not to be had.
int thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);
// Runs it to its end on a stack of 8 MiB, whatever `ulimit -s` leaves this thread. Signals are the runner's.
int thread_run_deep(void *(*run)(void *argument), void *argument);

#endif
