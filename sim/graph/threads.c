// How many threads run a graph.
#include "graph.h"

#include <sched.h>
#include <unistd.h>

// Those in the affinity mask; a mask of more processors than fit is not asked for twice.
int graph_processors(void)
{
    cpu_set_t affinity;
    const int allowed = sched_getaffinity(0, sizeof affinity, &affinity) == 0 ? CPU_COUNT(&affinity) : 0;
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return allowed > 0 ? allowed : online > 0 ? (int)online : 1;
}

int graph_threads(int wanted)
{
    const int threads = wanted > 0 ? wanted : graph_processors();
    return threads < GRAPH_THREADS_MAX ? threads : GRAPH_THREADS_MAX;
}
