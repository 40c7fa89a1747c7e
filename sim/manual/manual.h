// Failures that every experiment by hand can have (manual.c); the spec's own stand behind them.
#ifndef HOPSCOTCH_MANUAL_MODEL_H
#define HOPSCOTCH_MANUAL_MODEL_H

#include "../declared.h"

// failed: for a reason that has no name; skipped: it was not run, and will not be.
enum { MANUAL_NONE, MANUAL_FAILED, MANUAL_SKIPPED, MANUAL_NON_FINITE, MANUAL_FAILURES };

#endif
