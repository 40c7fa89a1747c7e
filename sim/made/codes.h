// Codes of tapes (../tape_code.h) as text of made kernels: a statement for each step, in variables of its own, with
// numbers in place of registers that hold them. Nothing of the user's text is in it.
#ifndef HOPSCOTCH_MADE_CODES_H
#define HOPSCOTCH_MADE_CODES_H

#include "../sim.h"

typedef struct MadeCodes {
    TextSink out;
    const char *get, *set;            // macros of the kernel: the register k as get(k), and set(k, value)
    const double *assets;             // of the codes, which the text calls `assets`
    int64_t tables;                   // in the assets, as CodeView
    int64_t numbers;                  // the same; they are in registers from first_number on
    int first_number, n_numbers;      //
    int first_scratch;                // from this register on a code computes in variables
    int64_t steps, functions;         // so far; the latter are steps that are long when they are inlined
    int64_t written;                  // codes so far
    int64_t seen[TAPE_REGISTERS_MAX]; // the last of them that has this variable; 0: none
} MadeCodes;

void made_line(TextSink out, const char *format, ...) PRINTF_LIKE(2, 3);

int64_t made_integer(const MadeCodes *codes, int64_t at); // of the assets

// All numbers into their registers.
void made_numbers(const MadeCodes *codes);
// The code steps[count] from `first` on, in a scope of its own.
void made_steps(MadeCodes *codes, int64_t first, int64_t count);
// A register that was a variable is kept.
void made_keep(const MadeCodes *codes, int64_t at);
// The register `at` of the code that stands before it, as an operand.
void made_result(const MadeCodes *codes, int64_t at);

#endif
