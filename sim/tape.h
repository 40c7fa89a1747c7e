// Tapes: the expressions of a system as straight-line code in static single assignment. The host builds a tape from
// operations (tape.c): equal operations are one value, constants are folded by the rules of IEEE 754, nothing is
// contracted. From its values it makes codes: short programs for kernels (tape_code.h), with registers assigned.
// Operations are those of tape_view.h, so a tape gives the bits of runner/experiment/expression.
#include "sim.h" // which includes this file behind its types

#ifndef HOPSCOTCH_TAPE_H
#define HOPSCOTCH_TAPE_H

typedef int32_t TapeValue; // number of a value on its tape; TAPE_NONE: none
enum { TAPE_NONE = -1, TAPE_VALUES_MAX = 1 << 17, TAPE_REGISTERS_MAX = 1 << 14, TAPE_TABLES_MAX = 128 };
// Operations of tapes alone.
enum {
    TAPE_FUSED = PROGRAM_N_OPERATIONS, // a b + c, rounded once
    TAPE_PRODUCT_PLUS,                 // of codes, two steps in one: a b + c, both rounded
    TAPE_PRODUCT_LESS,                 // a b - c
    TAPE_LESS_PRODUCT,                 // c - a b
    TAPE_INPUT,
    TAPE_TABLE, // of a table: the value, then derivatives by its arguments
    TAPE_TABLE_BY_FIRST,
    TAPE_TABLE_BY_SECOND,
    TAPE_TABLE_BEND, // the second derivative; of two arguments by both
    TAPE_SIGNAL,     // of a table of time and the row that counts: the value, then the derivative by time
    TAPE_SIGNAL_BY_TIME
};
#define TAPE_WORK_MAX ((int64_t)1 << 30)

// What a value depends on.
enum {
    TAPE_FIXED = 1, // inputs that do not change while a lane runs
    TAPE_MOVING = 2 // others
};

typedef struct TapeNode {
    int32_t operation; // of ProgramOperation, PROGRAM_NUMBER for a number, or TAPE_INPUT
    TapeValue a, b, c; // operands; TAPE_NONE: none. Of an input: a is its register
    double number;     // of a table the number of that table
    int32_t depends;
    TapeValue next; // of equal hash
} TapeNode;

// ---- tables (lookup.h) ----------------------------------------------------------------------------------------------

// LINEAR and HELD pass through their values; HELD keeps each up to the next argument. CUBIC: monotone where the values
// are. Fritsch & Carlson, Monotone piecewise cubic interpolation, SIAM J. Numer. Anal. 17 (1980), 238, with the slopes
// of Fritsch & Butland, SIAM J. Sci. Stat. Comput. 5 (1984), 300, as PCHIP has them.
typedef enum LookupBetween { LOOKUP_LINEAR, LOOKUP_CUBIC, LOOKUP_HELD } LookupBetween;
typedef enum LookupWhat { LOOKUP_VALUE, LOOKUP_BY_FIRST, LOOKUP_BY_SECOND, LOOKUP_BEND } LookupWhat;

typedef struct TapeTable {
    LookupBetween between;
    bool extends;      // beyond its ends, else the value there is held
    int first, second; // numbers of arguments; second 0: it has one argument
    const double *row; // [count] as kernels have it
    int64_t count;
} TapeTable;

// A table of at[first] and across[second] (NULL, 0: none), both increasing, with values[first][second], or
// values[first]. LINEAR and CUBIC need two arguments; a table of two arguments is LINEAR.
const TapeTable *lookup_table(LookupBetween between, bool extends, const double *at, int first, const double *across,
                              int second, const double *values, Arena *arena);
const double *lookup_arguments(const TapeTable *table); // [first]
// The row of a table of one argument that counts at time t, from -1 on.
int lookup_row_at(const TapeTable *table, double t);

// ---- values ---------------------------------------------------------------------------------------------------------

enum { TAPE_BUCKETS = 4096 };
typedef struct Tape {
    Arena *arena;
    TapeNode *nodes; // [count]
    int count, room;
    bool full; // more than TAPE_VALUES_MAX values were asked for, or TAPE_WORK_MAX; what is built from then on is wrong
    int64_t work;        // values that slopes, layouts and codes looked at
    int32_t *list[4];    // [room_of_lists] for one call at a time
    bool *mark, *within; // the same
    int room_of_lists;
    TapeValue bucket[TAPE_BUCKETS];
    const TapeTable *tables[TAPE_TABLES_MAX];
    int n_tables;
} Tape;

Tape *tape_new(Arena *arena);
TapeValue tape_number(Tape *tape, double number);
TapeValue tape_input(Tape *tape, int register_index, int depends); // depends: TAPE_FIXED or TAPE_MOVING
int program_operands(int operation);                               // number of operands of an operation: 0 to 3
// An operation; operands that it does not have are TAPE_NONE.
TapeValue tape_operation(Tape *tape, int operation, TapeValue a, TapeValue b, TapeValue c);
// a b + c, rounded once.
TapeValue tape_fused(Tape *tape, TapeValue a, TapeValue b, TapeValue c);
// The number of a table on the tape.
int tape_add_table(Tape *tape, const TapeTable *table);
// A lookup at a, and b of a table of two arguments. A signal: a is the time, b the row that counts then, from -1 on.
TapeValue tape_table(Tape *tape, int operation, int table, TapeValue a, TapeValue b);
bool tape_looks_up(const TapeNode *node); // the node is one of a table's operations
bool tape_is_number(const Tape *tape, TapeValue value, double *number);
// Whether a value depends on an input with a register from `first` on, below `end`.
bool tape_reads(Tape *tape, TapeValue value, int first, int end);
// The derivative of a value if each value `along[i]` changes by `rate[i]`, i < count; TAPE_NONE: it does not change.
// Where an operation bends (min, max, abs, clip): that of the operand that it takes. Derivatives of steps are 0, and so
// are those of slopes of tables.
TapeValue tape_slope(Tape *tape, TapeValue value, const TapeValue *along, const TapeValue *rate, int count);

// The same backwards: slope[k] <- the derivative of the sum of weight[i] outputs[i], i < n, by the input along[k],
// k < count; TAPE_NONE: 0. A TAPE_NONE among the outputs is left out. No weight depends on these inputs.
void tape_adjoint(Tape *tape, const TapeValue *outputs, const TapeValue *weight, int n, const TapeValue *along,
                  int count, TapeValue *slope);

// values[n] <- the same with to[i] in place of from[i], i < count, wherever they are made of that. TAPE_NONE in `to`:
// from[i] stays. Once: what to[i] is made of stays.
void tape_replace(Tape *tape, TapeValue *values, int n, const TapeValue *from, const TapeValue *to, int count);

// ---- codes ----------------------------------------------------------------------------------------------------------

// The registers of a lane: numbers, then the inputs, then values that depend on fixed inputs alone, then those of the
// code that runs.
typedef struct TapeLayout {
    int first;         // register of the first number
    double *numbers;   // [n_numbers]
    int n_numbers;     //
    int first_derived; // register of the first value of `derived`
    int n_derived;     //
    int first_free;    // of a code
    int registers;     // in all
    int32_t *of_value; // [tape->count] register of a number, input or derived value; -1: none
    int64_t *derived;  // [n_derived_steps] code that computes them
    int n_derived_steps;
} TapeLayout;

// A code: steps, and the registers in which its outputs stand after it.
typedef struct TapeCode {
    int64_t *steps; // [count]
    int count;
    int32_t *outputs; // [n_outputs]
    int n_outputs;
} TapeCode;

// Which values of the tape values[count] are made of, [tape->count], until the next call. NULL: that is too much.
const bool *tape_needs(Tape *tape, const TapeValue *values, int count);
// Assigns registers to the numbers from `first` on, inputs have theirs below it, and to what the values
// wanted[count] need of fixed inputs. Error (user): there are too many, or the tape is full.
Error tape_layout(Tape *tape, int first, const TapeValue *wanted, int count, Arena *arena, TapeLayout *out);
// The code that computes outputs[count]. TAPE_NONE: register -1. Raises layout->registers. Error (user): too many
// registers, or the tape is full.
Error tape_code(Tape *tape, TapeLayout *layout, const TapeValue *outputs, int count, Arena *arena, TapeCode *out);

// ---- assets ---------------------------------------------------------------------------------------------------------

// The tables of a kernel while they grow: numbers and codes; whole numbers among them are kept as their bits.
typedef struct TapeAssets {
    Arena *arena;
    double *numbers; // [room]
    int64_t count, room;
} TapeAssets;

// Appends numbers[count]; returns the index of the first.
int32_t tape_assets_put(TapeAssets *assets, const void *numbers, int64_t count);
// Appends the tables of a tape, then their indices by their numbers; returns where these stand.
int32_t tape_assets_put_tables(TapeAssets *assets, const Tape *tape);
// Appends a code with its numbers.
CodeView tape_assets_put_code(TapeAssets *assets, const TapeLayout *layout, const TapeCode *code);

#endif
