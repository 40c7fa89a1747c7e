// The two clocks: a monotonic one for durations, and the wall clock for people. No result depends on either.
#include "clock.h"

#include <time.h>

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

Text32 clock_utc(void)
{
    Text32 text = {""};
    struct tm fields;
    const time_t now = time(NULL);
    if (gmtime_r(&now, &fields) != NULL) strftime(text.text, sizeof text.text, "%Y-%m-%dT%H:%M:%SZ", &fields);
    return text;
}
