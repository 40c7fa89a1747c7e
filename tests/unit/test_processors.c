// The CPU time that control groups leave to a process.
#include "../test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *processors_folder;

static void processors_file(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", processors_folder, folder);
    CHECK_OK(folder_make(path));
    CHECK_OK(file_write(path, name, text, strlen(text)));
}

static double processors_quota_of(const char *groups)
{
    char path[512];
    processors_file("proc", "cgroup", groups);
    snprintf(path, sizeof path, "%s/proc/cgroup", processors_folder);
    return processors_quota_under(path, processors_folder);
}

TEST(processors_are_those_of_the_narrowest_control_group)
{
    processors_folder = test_folder();
    CHECK(isinf(processors_quota_of("0::/a/b\n"))); // the control group has no folder
    processors_file("a/b", "cpu.max", "max 100000\n");
    CHECK(isinf(processors_quota_of("0::/a/b\n")));
    processors_file("a", "cpu.max", "250000 100000\n");
    CHECK_NEAR(2.5, processors_quota_of("0::/a/b\n"), 0.0);
    processors_file("a/b", "cpu.max", "50000 100000\n");
    CHECK_NEAR(0.5, processors_quota_of("0::/a/b\n"), 0.0);
    processors_file(".", "cpu.max", "400000 100000\n"); // in the root folder, where a container sees its own group
    CHECK_NEAR(4.0, processors_quota_of("0::/elsewhere\n"), 0.0);
    CHECK_NEAR(4.0, processors_quota_of("0::/\n"), 0.0);
    CHECK(isinf(processors_quota_of("0::/../a\n")));
}

TEST(processors_of_the_first_version_of_control_groups)
{
    processors_folder = test_folder();
    processors_file("cpu/x/y", "cpu.cfs_quota_us", "-1\n");
    processors_file("cpu/x/y", "cpu.cfs_period_us", "100000\n");
    CHECK(isinf(processors_quota_of("9:memory:/x\n4:cpuacct,cpu:/x/y\n")));
    processors_file("cpu/x", "cpu.cfs_quota_us", "150000\n");
    processors_file("cpu/x", "cpu.cfs_period_us", "50000\n");
    CHECK_NEAR(3.0, processors_quota_of("9:memory:/x\n4:cpuacct,cpu:/x/y\n"), 0.0);
    CHECK(isinf(processors_quota_of("9:memory:/x\n4:cpuset:/x/y\n")));
    CHECK(isinf(processors_quota_of("nonsense\n:\n4:cpu\n")));
    CHECK(isinf(processors_quota_under("/nowhere/cgroup", processors_folder)));
    CHECK(processors_allowed() >= 1 && processors_allowed() <= processor_count());
}
