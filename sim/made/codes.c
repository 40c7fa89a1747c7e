#include "codes.h"

#include "../tape_code.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void made_line(TextSink out, const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    out.write(out.to, line, (size_t)length);
}

int64_t made_integer(const MadeCodes *codes, int64_t at)
{
    int64_t value;
    memcpy(&value, codes->assets + at, sizeof value);
    return value;
}

// A register as an operand: a number, a variable of the code, or what the lane has.
static const char *made_operand(const MadeCodes *codes, int of, char *text)
{
    enum { ROOM = 48 };
    const int number = of - codes->first_number;
    if (number >= 0 && number < codes->n_numbers) {
        const double value = codes->assets[codes->numbers + number];
        if (isnan(value))
            snprintf(text, ROOM, "math_nan()");
        else if (isinf(value))
            snprintf(text, ROOM, "splat(%sINFINITY)", value < 0.0 ? "-" : "");
        else
            snprintf(text, ROOM, "splat(%a)", value);
    } else if (of >= codes->first_scratch) {
        snprintf(text, ROOM, "t%d", of);
    } else {
        snprintf(text, ROOM, "%.32s(%d)", codes->get, of);
    }
    return text;
}

// A step on a table, whose head the compiler sees.
static void made_lookup(const MadeCodes *codes, int64_t step, const char *a, const char *b)
{
    const int operation = tape_step_operation(step);
    const bool signal = operation >= TAPE_SIGNAL;
    const int64_t at = made_integer(codes, codes->tables + tape_step_register(step, 3));
    const LookupShape shape = lookup_shape_of(codes->assets + at);
    made_line(codes->out, "%s(assets + %lld, lookup_shape(%d, %d, %d, %d), ", signal ? "lookup_signal" : "lookup_value",
              (long long)at, shape.between, shape.beyond, shape.first, shape.second);
    made_line(codes->out, "%s, %s, (LookupWhat)%d)", a, b, operation - (signal ? TAPE_SIGNAL : TAPE_TABLE));
}

// What a step computes.
static void made_value(const MadeCodes *codes, int64_t step)
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
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (signs[i].operation != operation) continue;
        made_line(out, "%s %s %s", a, signs[i].sign, b);
        return;
    }
    if (operation == TAPE_FUSED)
        made_line(out, "fused(%s, %s, %s)", a, b, c);
    else if (operation == TAPE_LESS_PRODUCT)
        made_line(out, "%s - %s * %s", c, a, b);
    else if (operation == TAPE_PRODUCT_PLUS || operation == TAPE_PRODUCT_LESS)
        made_line(out, "%s * %s %c %s", a, b, operation == TAPE_PRODUCT_PLUS ? '+' : '-', c);
    else if (operation > TAPE_INPUT)
        made_lookup(codes, step, a, b);
    else if (program_takes_one(operation))
        made_line(out, "program_of_one(%d, %s)", operation, a);
    else if (program_takes_three(operation))
        made_line(out, "program_of_three(%d, %s, %s, %s)", operation, a, b, c);
    else
        made_line(out, "program_of_two(%d, %s, %s)", operation, a, b);
}

// A step as a statement.
static void made_step(MadeCodes *codes, int64_t step)
{
    const int to = tape_step_register(step, 0);
    if (to < codes->first_scratch) {
        made_line(codes->out, "%s(%d, ", codes->set, to);
        made_value(codes, step);
        made_line(codes->out, ");\\\n");
        return;
    }
    made_line(codes->out, "%st%d = ", codes->seen[to] != codes->written ? "real " : "", to);
    codes->seen[to] = codes->written;
    made_value(codes, step);
    made_line(codes->out, ";\\\n");
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

void made_steps(MadeCodes *codes, int64_t first, int64_t count)
{
    codes->written++;
    for (int64_t k = 0; k < count; k++) {
        const int64_t step = made_integer(codes, first + k);
        made_step(codes, step);
        codes->functions += made_is_long(tape_step_operation(step));
    }
    codes->steps += count;
}

void made_numbers(const MadeCodes *codes)
{
    char text[48];
    for (int k = 0; k < codes->n_numbers; k++)
        made_line(codes->out, "%s(%d, %s);\\\n", codes->set, codes->first_number + k,
                  made_operand(codes, codes->first_number + k, text));
}

void made_result(const MadeCodes *codes, int64_t at)
{
    char text[48];
    made_line(codes->out, "%s", made_operand(codes, (int)at, text));
}

void made_keep(const MadeCodes *codes, int64_t at)
{
    if (at >= codes->first_scratch)
        made_line(codes->out, "%s(%lld, t%lld);\\\n", codes->set, (long long)at, (long long)at);
}
