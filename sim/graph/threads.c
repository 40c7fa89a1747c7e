// The number of threads for a graph.
#include "graph.h"

#include <sched.h>
#include <unistd.h>

// By the affinity mask. If the mask does not fit its buffer, all processors that are online count.
int processor_count(void)
{
    cpu_set_t affinity;
    const int allowed = sched_getaffinity(0, sizeof affinity, &affinity) == 0 ? CPU_COUNT(&affinity) : 0;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return allowed > 0 ? allowed : online > 0 ? (int)online : 1;
}

int graph_threads(int wanted)
{
    const int threads = wanted > 0 ? wanted : processor_count();
    return threads < GRAPH_THREADS_MAX ? threads : GRAPH_THREADS_MAX;
}
