// Running the codes of tapes (tape.h): LANES lanes at once, each step on registers of their frame.
#ifndef HOPSCOTCH_TAPE_CODE_H
#define HOPSCOTCH_TAPE_CODE_H

#include "lookup.h"
#include "program.h"
#include "real.h"

// A number of a frame: a made kernel keeps them in registers.
#if defined(HOPSCOTCH_MADE)
typedef real FrameNumber;
enum { FRAME_NUMBERS = 1 }; // of a group of lanes
#else
typedef double FrameNumber;
enum { FRAME_NUMBERS = LANES };
#endif

// Where the numbers of a group of lanes stand: number k of all of them at at[k*apart].
typedef struct Frame {
    FrameNumber *at;
    int apart; // of a GPU; on a CPU the numbers of the lanes are neighbours
} Frame;

// Before a loop whose length a made kernel knows, over numbers that are then in registers.
#define FRAME_EACH UNROLL_MADE
#define FRAME_LOADS UNROLL_LOADS // where it is run often

HD real frame_get(Frame frame, int k)
{
#if defined(HOPSCOTCH_MADE)
    return frame.at[k];
#elif LANES == 1
    return frame.at[(int64_t)k * frame.apart];
#else
    return load_all(frame.at + (int64_t)k * LANES);
#endif
}

HD void frame_set(Frame frame, int k, real value)
{
#if defined(HOPSCOTCH_MADE)
    frame.at[k] = value;
#elif LANES == 1
    frame.at[(int64_t)k * frame.apart] = value;
#else
    store_all(frame.at + (int64_t)k * LANES, value);
#endif
}

HD void frame_put(Frame frame, int k, real value, mask which)
{
    if (ON_GPU) {
        if (any_lane(which)) frame_set(frame, k, value);
        return;
    }
    frame_set(frame, k, select_real(which, value, frame_get(frame, k)));
}

HD Frame frame_from(Frame frame, int first)
{
    Frame inner = frame;
#if defined(HOPSCOTCH_MADE)
    inner.at += first;
#else
    inner.at += (int64_t)first * (LANES == 1 ? frame.apart : LANES);
#endif
    return inner;
}

// ---- steps ----------------------------------------------------------------------------------------------------------
// Operation, result and operands of a step in one number.

enum { TAPE_OPERATION_BITS = 8, TAPE_REGISTER_BITS = 14 };

HD int64_t tape_step_of(int operation, int to, int a, int b, int c)
{
    return (int64_t)((uint64_t)operation | (uint64_t)to << 8 | (uint64_t)a << 22 | (uint64_t)b << 36 |
                     (uint64_t)c << 50);
}
HD int tape_step_operation(int64_t step) { return (int)(step & 0xff); }
HD int tape_step_register(int64_t step, int which) // 0: the result, 1 to 3: operands
{
    return (int)((uint64_t)step >> (TAPE_OPERATION_BITS + TAPE_REGISTER_BITS * which) & 0x3fff);
}

// The step with register `from` as `to`: its result if `result`, else its operands. The third may be a table's number.
HD int64_t tape_step_renamed(int64_t step, bool result, int from, int to)
{
    int at[4];
    for (int which = 0; which < 4; which++) {
        const bool renames = result == (which == 0) && !(which == 3 && tape_step_operation(step) > TAPE_INPUT);
        at[which] = tape_step_register(step, which);
        if (renames && at[which] == from) at[which] = to;
    }
    return tape_step_of(tape_step_operation(step), at[0], at[1], at[2], at[3]);
}

// Assets are numbers; whole numbers among them are kept as their bits.
HD int64_t asset_integer(const double *assets, int64_t k) { return integer_at(assets + k); }

// The value of an operation on its operands; those that it does not have are ignored.
HD_CALL real tape_function(int operation, real a, real b, real c)
{
    if (operation == TAPE_PRODUCT_PLUS) return a * b + c;
    if (operation == TAPE_PRODUCT_LESS) return a * b - c;
    if (operation == TAPE_LESS_PRODUCT) return c - a * b;
    return program_takes_one(operation)     ? program_of_one(operation, a)
           : program_takes_three(operation) ? program_of_three(operation, a, b, c)
                                            : program_of_two(operation, a, b);
}

// A step on a table, whose number is its last operand.
HD_CALL real tape_lookup_in(const double *table, int64_t step, real a, real b)
{
    const int operation = tape_step_operation(step);
    const LookupShape shape = lookup_shape_of(table);
    return operation >= TAPE_SIGNAL ? lookup_signal(table, shape, a, b, (LookupWhat)(operation - TAPE_SIGNAL))
                                    : lookup_value(table, shape, a, b, (LookupWhat)(operation - TAPE_TABLE));
}

// tables: where the indices of tables stand in the assets.
HD const double *tape_table_of(const double *assets, int64_t tables, int64_t step)
{
    return assets + asset_integer(assets, tables + tape_step_register(step, 3));
}

// Runs steps[count] of assets, from index `first` on. tables: as tape_table_of.
HD_CALL void tape_run(const double *assets, int64_t tables, int64_t first, int count, Frame frame)
{
    for (int k = 0; k < count; k++) {
        const int64_t step = asset_integer(assets, first + k);
        const int operation = tape_step_operation(step);
        const real a = frame_get(frame, tape_step_register(step, 1)), b = frame_get(frame, tape_step_register(step, 2));
        real value;
        switch (operation) {
        case PROGRAM_ADD: value = a + b; break;
        case PROGRAM_SUBTRACT: value = a - b; break;
        case PROGRAM_MULTIPLY: value = a * b; break;
        case PROGRAM_DIVIDE: value = a / b; break;
        case PROGRAM_NEGATE: value = -a; break;
        case TAPE_FUSED: value = fused(a, b, frame_get(frame, tape_step_register(step, 3))); break;
        case TAPE_PRODUCT_PLUS: value = a * b + frame_get(frame, tape_step_register(step, 3)); break;
        case TAPE_PRODUCT_LESS: value = a * b - frame_get(frame, tape_step_register(step, 3)); break;
        case TAPE_LESS_PRODUCT: value = frame_get(frame, tape_step_register(step, 3)) - a * b; break;
        case PROGRAM_IF: // reverse codes have many
            value = program_of_three(PROGRAM_IF, a, b, frame_get(frame, tape_step_register(step, 3)));
            break;
        default:
            value = operation > TAPE_INPUT
                        ? tape_lookup_in(tape_table_of(assets, tables, step), step, a, b)
                        : tape_function(operation, a, b, frame_get(frame, tape_step_register(step, 3)));
        }
        frame_set(frame, tape_step_register(step, 0), value);
    }
}

#if defined(HAS_SHARED_ADDRESSES)
// As tape_run, where the frame is that of shared_numbers(). The next step is loaded while this one computes.
HD_CALL void tape_run_shared(const double *assets, int64_t tables, int64_t first, int count, Frame frame)
{
    enum { ROW = THREAD_BLOCK * (int)sizeof(double) };
    const unsigned rows = shared_address(frame.at);
    const uint2 *steps = (const uint2 *)(assets + first);
    uint2 next = __ldg(steps);
    for (int k = 0; k < count; k++) {
        const uint2 step = next;
        next = __ldg(steps + (k + 1 < count ? k + 1 : k));
        const unsigned operation = step.x & 0xff, to = rows + (step.x >> 8 & 0x3fff) * ROW,
                       at_c = rows + (step.y >> 18) * ROW;
        const double a = load_shared(rows + (__funnelshift_r(step.x, step.y, 22) & 0x3fff) * ROW),
                     b = load_shared(rows + (step.y >> 4 & 0x3fff) * ROW);
        double value;
        switch (operation) {
        case PROGRAM_ADD: value = a + b; break;
        case PROGRAM_SUBTRACT: value = a - b; break;
        case PROGRAM_MULTIPLY: value = a * b; break;
        case PROGRAM_DIVIDE: value = a / b; break;
        case PROGRAM_NEGATE: value = -a; break;
        case TAPE_FUSED: value = fused(a, b, load_shared(at_c)); break;
        case TAPE_PRODUCT_PLUS: value = a * b + load_shared(at_c); break;
        case TAPE_PRODUCT_LESS: value = a * b - load_shared(at_c); break;
        case TAPE_LESS_PRODUCT: value = load_shared(at_c) - a * b; break;
        default:
            if (operation > TAPE_INPUT) {
                const int64_t whole = asset_integer(assets, first + k);
                value = tape_lookup_in(tape_table_of(assets, tables, whole), whole, a, b);
            } else {
                value = tape_function((int)operation, a, b, load_shared(at_c));
            }
        }
        store_shared(to, value);
    }
}
#endif

// Runs a code whose inputs are in their registers (CodeView). tape_begin: what does not change while a lane runs.
HD void tape_begin(const double *assets, const CodeView *code, Frame frame)
{
    for (int k = 0; k < code->n_numbers; k++)
        frame_set(frame, code->first_number + k, splat(assets[code->numbers + k]));
    tape_run(assets, code->tables, code->derived, code->n_derived, frame);
}
HD void tape_step(const double *assets, const CodeView *code, Frame frame)
{
    tape_run(assets, code->tables, code->steps, code->n_steps, frame);
}

#endif
