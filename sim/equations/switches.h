// Instants at which a comparison of time changes, so that steps end there (switches.c).
#ifndef HOPSCOTCH_EQUATIONS_SWITCHES_H
#define HOPSCOTCH_EQUATIONS_SWITCHES_H

#include "system.h"

// A switch has a row, an input of the tape. It is -1 before the instant `at`, 0 for what happens at it, and then 1. Or
// it counts: it is the greatest whole number with row*period <= rate*time + rest, if period and rate are positive.
typedef struct SystemSwitch {
    bool counts;
    TapeValue at, period, rate, rest; // of fixed inputs; TAPE_NONE: not of its kind
} SystemSwitch;

enum { SYSTEM_SWITCHES_MAX = 256 };

// A copy of a system in which what compares time with fixed values reads switches instead, where it does so in what a
// step computes: rates, noise, guards, conditions, and what metrics want the extrema of. The rows stand behind the
// sides of guards. Error (user): there are more than SYSTEM_SWITCHES_MAX.
Error system_switches(const System *system, Arena *arena, System *out, SystemSwitch *switches, int *count);

#endif
