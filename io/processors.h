// How many processors this process may use.
#ifndef HOPSCOTCH_IO_PROCESSORS_H
#define HOPSCOTCH_IO_PROCESSORS_H

#include "../sim/sim.h"

// Number of threads worth starting, at least 1: limited by the affinity mask and by the quota of the control groups.
int processors_allowed(void);
// CPU seconds per second that the control groups in the file `groups` (/proc/self/cgroup) may use, according to the
// folders under `root` (/sys/fs/cgroup). Infinite if there is no limit.
double processors_quota_under(const char *groups, const char *root);

#endif
