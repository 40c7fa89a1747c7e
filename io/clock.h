// Clocks.
#ifndef HOPSCOTCH_IO_CLOCK_H
#define HOPSCOTCH_IO_CLOCK_H

#include "text.h"

double clock_seconds(void); // monotonic
Text32 clock_utc(void);     // "2026-01-31T12:00:00Z"

#endif
