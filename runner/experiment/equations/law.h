// What the files of control laws share: law.c reads a law, sensors.c what it sees of the model, policies.c the networks
// that it asks.
#ifndef HOPSCOTCH_EXPERIMENT_LAW_H
#define HOPSCOTCH_EXPERIMENT_LAW_H

#include "equations.h"

// Inputs of a law's tape beside columns, held numbers and parameters.
typedef enum LawInputKind {
    LAW_INPUT_HELD,  // the law holds it from a period to the next
    LAW_INPUT_NOISE, // a standard normal number
    LAW_INPUT_FIRST, // whether the period is the first
    LAW_INPUT_GIVEN, // by a policy
    LAW_INPUT_ACTION,
    LAW_INPUT_KINDS
} LawInputKind;

enum { LAW_INPUTS_MAX = 4096 };
typedef struct LawInputs {
    Tape *tape;
    int first;           // their number on the tape
    LawInputKind *kinds; // [count]
    TapeValue *next;     // [count] of a reading that is delayed: what it is at the next period; else TAPE_NONE
    TapeValue begins;    // the input LAW_INPUT_FIRST
    bool rounds;         // a reading is rounded
    int count;
} LawInputs;

LawInputs law_inputs(SystemReader *reader); // after all names are declared
TapeValue law_input(LawInputs *inputs, LawInputKind kind);
const TapeValue *law_inputs_of(SystemReader *reader, LawInputs *inputs, LawInputKind kind, int count); // [count]

// Whether a name is that of a pattern: * stands for any characters, # for a number. *number <- that of the first #, if
// there is one.
bool law_matches(const char *pattern, const char *name, int64_t *number);

// Reads `sensors`, and puts what is read of columns in their place in values[count]. Readings that are delayed are
// held.
void law_read_sensors(SystemReader *reader, const Configured *configured, LawInputs *inputs, TapeValue *values,
                      int count);
// What a law asks: policies[n_policies], with the section's keys and items.
typedef struct LawAsked {
    LawPolicy *policies;
    const Node **nodes; // [n_policies]
    int n_policies, n_given, n_seen;
    bool failed; // a network can't be read, so names lack
} LawAsked;

// Reads the networks of `policies` and declares what they give, NAME_1, NAME_2, ...
LawAsked law_declare_policies(SystemReader *reader);
// Reads what they observe, after the events of a period: to[n_held] in place of from[n_held]. seen[n_seen] <- all of
// it.
void law_read_policies(SystemReader *reader, LawAsked *asked, const TapeValue *from, const TapeValue *to,
                       TapeValue *seen);

// The program of next[n_next], the values of the held numbers that were declared before sensors were read; those of
// sensors follow. Starts are still to be filled in.
LawProgram law_laid(SystemReader *reader, const Configured *configured, const LawInputs *inputs, const TapeValue *next,
                    int n_next);

#endif
