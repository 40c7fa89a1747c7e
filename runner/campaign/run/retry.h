// Failed trials that are run again (retry.c).
#ifndef HOPSCOTCH_RETRY_H
#define HOPSCOTCH_RETRY_H

#include "loop.h"

// Failed trials that are to be run again: `kinds` is "failed" or "fell,solver".
Error retry_request(Store *store, const char *kinds, FILE *messages, Arena *arena);
// Before the loop: all that is still to do of a request; `text` says what came of it, "" if there was none. Error
// (interrupted) between two slices.
Error retry_pending(const Loop *loop, char *text, size_t size);

#endif
