// The codes of a campaign as text: a switch over their first steps, whose cases compute in variables of their own, with
// numbers in place of registers that hold them. Nothing of the user's text is in it.
#include "made.h"

#include "../models.h"
#include "../tape_code.h"
#include "equations.h"
#include "system.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// More would take too long to compile. INLINED: where all is inlined; gcc takes 20 ms each, NVRTC as long or longer.
enum {
    EQUATIONS_MADE_STEPS = 6000,
    EQUATIONS_MADE_FRAME = 1500,
    EQUATIONS_MADE_INLINED_CPU = 300,
    EQUATIONS_MADE_INLINED_GPU = 500
};

static void made_line(TextSink out, const char *format, ...) PRINTF_LIKE(2, 3);
static void made_line(TextSink out, const char *format, ...)
{
    char line[160];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    out.write(out.to, line, (size_t)length);
}

typedef struct MadeCodes {
    TextSink out;
    const Configured *configured;
    const EquationsConstants *c;
    int64_t steps, functions;         // so far; the latter are steps that are long when they are inlined
    int first_scratch;                // from this register on a code computes in variables of its own
    int64_t seen[TAPE_REGISTERS_MAX]; // the code that has this variable, by its first step; 0: none
} MadeCodes;

static int64_t made_integer(const MadeCodes *codes, int64_t at)
{
    int64_t value;
    memcpy(&value, codes->configured->assets + at, sizeof value);
    return value;
}

// A register as an operand: a number, a variable of the code, or what the lane has.
static const char *made_operand(const MadeCodes *codes, int of, char *text)
{
    enum { ROOM = 48 };
    const EquationsConstants *c = codes->c;
    const int number = of - c->first_number;
    if (number >= 0 && number < c->n_numbers) {
        const double value = codes->configured->assets[c->numbers + number];
        if (isnan(value))
            snprintf(text, ROOM, "math_nan()");
        else if (isinf(value))
            snprintf(text, ROOM, "splat(%sINFINITY)", value < 0.0 ? "-" : "");
        else
            snprintf(text, ROOM, "splat(%a)", value);
    } else {
        snprintf(text, ROOM, of >= codes->first_scratch ? "t%d" : "r[%d]", of);
    }
    return text;
}

// The beginning of a statement that computes a register. first: of the code.
static void made_assign(MadeCodes *codes, int to, int64_t first)
{
    char text[48];
    const bool fresh = to >= codes->first_scratch && codes->seen[to] != first + 1;
    if (to >= codes->first_scratch) codes->seen[to] = first + 1;
    made_line(codes->out, "%s%s = ", fresh ? "real " : "", made_operand(codes, to, text));
}

// A step on a table, whose head the compiler sees.
static void made_lookup(const MadeCodes *codes, int64_t step, const char *a, const char *b)
{
    const int operation = tape_step_operation(step);
    const bool signal = operation >= TAPE_SIGNAL;
    const int64_t at = made_integer(codes, codes->c->tables + tape_step_register(step, 3));
    const LookupShape shape = lookup_shape_of(codes->configured->assets + at);
    made_line(codes->out, "%s(assets + %lld, lookup_shape(%d, %d, %d, %d), ", signal ? "lookup_signal" : "lookup_value",
              (long long)at, shape.between, shape.beyond, shape.first, shape.second);
    made_line(codes->out, "%s, %s, (LookupWhat)%d);\\\n", a, b, operation - (signal ? TAPE_SIGNAL : TAPE_TABLE));
}

// A step as a statement.
static void made_step(MadeCodes *codes, int64_t step, int64_t first)
{
    static const struct {
        int operation;
        const char *sign;
    } signs[] = {{PROGRAM_ADD, "+"}, {PROGRAM_SUBTRACT, "-"}, {PROGRAM_MULTIPLY, "*"}, {PROGRAM_DIVIDE, "/"}};
    const TextSink out = codes->out;
    const int operation = tape_step_operation(step);
    char room[3][48];
    const char *a = made_operand(codes, tape_step_register(step, 1), room[0]),
               *b = made_operand(codes, tape_step_register(step, 2), room[1]),
               *c = made_operand(codes, tape_step_register(step, 3), room[2]);
    made_assign(codes, tape_step_register(step, 0), first);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (signs[i].operation != operation) continue;
        made_line(out, "%s %s %s;\\\n", a, signs[i].sign, b);
        return;
    }
    if (operation == TAPE_FUSED)
        made_line(out, "fused(%s, %s, %s);\\\n", a, b, c);
    else if (operation > TAPE_INPUT)
        made_lookup(codes, step, a, b);
    else if (program_takes_one(operation))
        made_line(out, "program_of_one(%d, %s);\\\n", operation, a);
    else if (program_takes_three(operation))
        made_line(out, "program_of_three(%d, %s, %s, %s);\\\n", operation, a, b, c);
    else
        made_line(out, "program_of_two(%d, %s, %s);\\\n", operation, a, b);
}

static bool made_is_long(int operation)
{
    static const int longs[] = {PROGRAM_EXP,  PROGRAM_LOG,   PROGRAM_SIN,   PROGRAM_COS,  PROGRAM_TAN,
                                PROGRAM_ASIN, PROGRAM_ACOS,  PROGRAM_ATAN,  PROGRAM_SINH, PROGRAM_COSH,
                                PROGRAM_TANH, PROGRAM_ATAN2, PROGRAM_HYPOT, PROGRAM_MOD,  PROGRAM_POWER};
    bool is_long = false;
    for (size_t i = 0; i < sizeof longs / sizeof *longs; i++) is_long = is_long || longs[i] == operation;
    return is_long;
}

// The code steps[count] from `first` on; outputs: where the registers of its outputs stand, -1: they are in place.
static void made_code(MadeCodes *codes, int64_t first, int64_t count, int64_t outputs, int n_outputs)
{
    if (first < 0 || count <= 0) return; // one without steps may begin where another does
    made_line(codes->out, "case %lld: {\\\n", (long long)first);
    for (int64_t k = 0; k < count; k++) {
        const int64_t step = made_integer(codes, first + k);
        made_step(codes, step, first);
        codes->functions += made_is_long(tape_step_operation(step));
    }
    for (int i = 0; i < n_outputs && outputs >= 0; i++) {
        const int64_t at = made_integer(codes, outputs + i);
        if (at >= codes->first_scratch) made_line(codes->out, "r[%lld] = t%lld;\\\n", (long long)at, (long long)at);
    }
    made_line(codes->out, "return; }\\\n");
    codes->steps += count;
}

static void made_code_at(MadeCodes *codes, int64_t row, int n_outputs)
{
    made_code(codes, made_integer(codes, row), made_integer(codes, row + 1), made_integer(codes, row + 2), n_outputs);
}

static void made_mode(MadeCodes *codes, int64_t row)
{
    const EquationsConstants *c = codes->c;
    const struct {
        int row, outputs;
    } rows[] = {
        {EQUATIONS_MODE_RATES, c->n_total},           {EQUATIONS_MODE_GUARDS, c->n_guards},
        {EQUATIONS_MODE_SLOPES, 2 * c->n_guards},     {EQUATIONS_MODE_WATCHED, 2 * c->n_metrics},
        {EQUATIONS_MODE_CONDITIONS, c->n_conditions}, {EQUATIONS_MODE_JACOBIAN, c->n_total * c->n_states + c->n_total},
        {EQUATIONS_MODE_SIZES, c->n_guards},          {EQUATIONS_MODE_NOISE, c->n_states}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) made_code_at(codes, row + rows[i].row, rows[i].outputs);
    const int64_t actions = made_integer(codes, row + EQUATIONS_MODE_ACTIONS);
    for (int64_t a = 0; a < made_integer(codes, row + EQUATIONS_MODE_N_ACTIONS); a++)
        made_code_at(codes, actions + a * EQUATIONS_ACTION + EQUATIONS_ACTION_SET, c->n_states + c->n_held);
}

// What compiling takes if all is inlined, as measured: in steps of arithmetic.
static int64_t made_inlined(const MadeCodes *codes)
{
    const int kernel = codes->configured->kernel;
    const bool implicit = kernel == KERNEL_equations_implicit_midpoint || kernel == KERNEL_equations_rodas5p;
    return (codes->steps + 15 * codes->functions) * (implicit ? 2 : 1);
}

bool equations_made_macros(const Configured *configured, TextSink out)
{
    EquationsConstants c;
    MadeCodes codes = {.out = out, .configured = configured, .c = &c};
    memcpy(&c, &configured->constants, sizeof c);
    codes.first_scratch = c.first_number + c.n_numbers + c.n_derived_steps;
    if (c.file + c.registers > EQUATIONS_MADE_FRAME) return false;
#define EQUATIONS_MADE_MACRO(type, name) made_line(out, "#define made_%s %a\n", #name, (double)c.name);
    EQUATIONS_CONSTANTS(EQUATIONS_MADE_MACRO)
#undef EQUATIONS_MADE_MACRO
    made_line(out, "#define EQUATIONS_MADE_CODES \\\n");
    made_code(&codes, c.derived, c.n_derived_steps, -1, 0);
    made_code_at(&codes, c.start, c.n_states + c.n_held);
    if (c.straight != 0) made_code_at(&codes, c.straight, c.n_total + c.is_map);
    for (int m = 0; m < c.n_modes; m++) made_mode(&codes, c.modes + (int64_t)m * EQUATIONS_MODE);
    made_line(out, "\n#define EQUATIONS_MADE_INLINED %lld\n", (long long)made_inlined(&codes));
    made_line(out, "#if EQUATIONS_MADE_INLINED > %d || (EQUATIONS_MADE_INLINED > %d && MADE_ON_CPU)\n",
              EQUATIONS_MADE_INLINED_GPU, EQUATIONS_MADE_INLINED_CPU);
    made_line(out, "#define HOPSCOTCH_MADE_LARGE\n#endif\n");
    return codes.steps <= EQUATIONS_MADE_STEPS;
}
