// Failed trials that are run again (retry.c).
#ifndef HOPSCOTCH_RETRY_H
#define HOPSCOTCH_RETRY_H

#include "loop.h"

// Requests to run failed trials again: `kinds` is "failed" or "fell,solver".
Error retry_request(Store *store, const char *kinds, FILE *messages, Arena *arena);
// Before the loop: runs the rest of a request. `text`: the result in words; "": there was no request. Error
// (interrupted) between two slices.
Error retry_pending(const Loop *loop, char *text, size_t size);

#endif
