// Clocks.
#ifndef HOPSCOTCH_IO_CLOCK_H
#define HOPSCOTCH_IO_CLOCK_H

#include "text.h"

double clock_seconds(void); // s since an unspecified instant; never goes back (CLOCK_MONOTONIC)
Text32 clock_utc(void);     // now: "2026-01-31T12:00:00Z"

#endif
