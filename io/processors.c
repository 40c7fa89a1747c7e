// How much CPU time the control groups leave to this process. A container may be limited to N CPU seconds per second;
// further threads would only wait for each other. Source: the Linux kernel's documentation of control groups, v2
// (cpu.max) and v1 (cpu.cfs_quota_us).
#include "processors.h"

#include "file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PROCESSORS_FILE_MAX = 1 << 16 };

// The text of a small file. NULL if it can't be read: then it sets no limit.
static const char *processors_read(const char *path, Arena *arena)
{
    Bytes bytes;
    if (file_missing(path) || file_read(path, PROCESSORS_FILE_MAX, arena, &bytes).kind != OK) return NULL;
    return (const char *)bytes.data;
}

// The limit of one folder: "150000 100000" (v2), or two files of v1; infinite: no limit
static double processors_of_folder(const char *folder, Arena *arena)
{
    double quota, period;
    const char *both = processors_read(arena_format(arena, "%s/cpu.max", folder), arena);
    if (both != NULL) return sscanf(both, "%lf %lf", &quota, &period) == 2 && period > 0 ? quota / period : INFINITY;
    const char *first = processors_read(arena_format(arena, "%s/cpu.cfs_quota_us", folder), arena);
    const char *second = processors_read(arena_format(arena, "%s/cpu.cfs_period_us", folder), arena);
    if (first == NULL || second == NULL) return INFINITY;
    const bool limited = sscanf(first, "%lf", &quota) == 1 && sscanf(second, "%lf", &period) == 1;
    return limited && quota > 0 && period > 0 ? quota / period : INFINITY;
}

// The least limit of a group and of all groups above it. In a container the path may be the host's: a missing folder
// sets no limit.
static double processors_of_group(const char *root, const char *group, Arena *arena)
{
    char *path = arena_format(arena, "%s%s", root, group);
    double least = INFINITY;
    for (char *slash = path + strlen(path); slash != NULL && slash >= path + strlen(root);) {
        *slash = '\0';
        least = fmin(least, processors_of_folder(path, arena));
        slash = strrchr(path, '/');
    }
    return least;
}

// The group's path in one line: "0::/a/b" (v2), "4:cpu,cpuacct:/a/b" (v1); NULL: it is another line
static char *processors_group(char *line, bool *v2)
{
    char *controllers = strchr(line, ':'), *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (group == NULL) return NULL;
    *group++ = '\0';
    *v2 = controllers[1] == '\0';
    for (char *rest = controllers + 1, *name; (name = strsep(&rest, ",")) != NULL;) {
        if (*v2 || strcmp(name, "cpu") == 0) return group;
    }
    return NULL;
}

double processors_quota_under(const char *groups, const char *root)
{
    Arena arena;
    double least = INFINITY;
    if (arena_create_growing(&arena, (size_t)1 << 26, "control groups").kind != OK) return INFINITY;
    const char *text = processors_read(groups, &arena);
    char *rest = text != NULL ? arena_copy(&arena, text) : NULL;
    for (char *line; rest != NULL && (line = strsep(&rest, "\n")) != NULL;) {
        bool v2;
        const char *group = processors_group(line, &v2);
        if (group == NULL || strstr(group, "..") != NULL) continue;
        const char *mount = v2 ? root : arena_format(&arena, "%s/cpu", root);
        least = fmin(least, processors_of_group(mount, strcmp(group, "/") == 0 ? "" : group, &arena));
    }
    arena_destroy(&arena);
    return least;
}

int processors_allowed(void)
{
    const int affinity = processor_count();
    const double quota = ceil(processors_quota_under("/proc/self/cgroup", "/sys/fs/cgroup"));
    return quota >= 1.0 && quota < affinity ? (int)quota : affinity;
}
