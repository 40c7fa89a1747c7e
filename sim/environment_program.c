// The program of an environment as its kernels take it: a postfix program whose leaves (numbers, columns, inputs,
// definitions) become operands of the steps that use them. Operands keep their order, so the bits are the same. x^2 is
// x x, which is what the power of 2 computes.
#include "environment_device.h"

// A number on the stack of the postfix program: a leaf that no step has taken, or one that was computed.
typedef struct ShortenEntry {
    ProgramStep leaf;
    bool computed;
} ShortenEntry;

typedef struct Shorten {
    EnvironmentStep *to; // NULL: steps are counted only
    int32_t count;
    ShortenEntry stack[PROGRAM_STACK];
    int n;
    int computed; // entries of the stack: the upper one is at hand, the others on the kernel's stack
} Shorten;

static void shorten_emit(Shorten *s, EnvironmentStep step)
{
    if (s->to != NULL) s->to[s->count] = step;
    s->count++;
}

static void shorten_take(EnvironmentStep *step, const ProgramStep *leaf)
{
    step->code |= leaf->operation << ENVIRONMENT_OPERAND_AT;
    if (leaf->operation == PROGRAM_NUMBER)
        step->of.number = leaf->number;
    else
        step->of.index = leaf->index;
}

// An operation on the top alone. A leaf replaces the number at hand, which goes on the stack.
static void shorten_one(Shorten *s, int operation, int32_t to)
{
    ShortenEntry *top = &s->stack[s->n - 1];
    EnvironmentStep step = {.code = operation, .to = to};
    if (!top->computed) {
        shorten_take(&step, &top->leaf);
        step.code |= ENVIRONMENT_OPERAND_FIRST | (s->computed > 0 ? ENVIRONMENT_PUSHES : 0);
        s->computed++;
    }
    top->computed = true;
    shorten_emit(s, step);
}

static bool shorten_is_two(const ShortenEntry *entry)
{
    return !entry->computed && entry->leaf.operation == PROGRAM_NUMBER && entry->leaf.number == 2.0;
}

// An operation on the two upper entries, a and b.
static void shorten_two(Shorten *s, int operation)
{
    const ShortenEntry b = s->stack[--s->n];
    ShortenEntry *a = &s->stack[s->n - 1];
    if (operation == PROGRAM_POWER && shorten_is_two(&b)) {
        shorten_one(s, ENVIRONMENT_SQUARE, 0);
        return;
    }
    if (!a->computed && !b.computed) shorten_one(s, ENVIRONMENT_MOVE, 0);
    EnvironmentStep step = {.code = operation | (b.computed ? ENVIRONMENT_OPERAND_FIRST : 0)};
    if (!b.computed) shorten_take(&step, &b.leaf);
    if (b.computed && !a->computed) shorten_take(&step, &a->leaf);
    if (b.computed && a->computed) {
        step.code |= ENVIRONMENT_POPPED << ENVIRONMENT_OPERAND_AT;
        s->computed--;
    }
    a->computed = true;
    shorten_emit(s, step);
}

// An operation on the three upper entries. The first one was computed before the others, so it is on the kernel's
// stack, below one of the others if that is there too.
static void shorten_three(Shorten *s, int operation)
{
    shorten_two(s, operation);
    s->n--;
    s->computed--;
}

// Whether the number that step k leaves becomes the first of three operands.
static bool shorten_is_first_of_three(const EnvironmentSetup *setup, int k)
{
    int above = 0; // numbers above it
    for (int i = k + 1; i < setup->n_program; i++) {
        const int operands = program_operands(setup->program[i].operation);
        if (operands > above) return operands == 3 && above == 2;
        above += 1 - operands;
    }
    return false;
}

static void shorten_step(Shorten *s, const ProgramStep *step)
{
    const int operation = step->operation, operands = program_operands(operation);
    if (operands == 0) {
        s->stack[s->n++] = (ShortenEntry){.leaf = *step};
        return;
    }
    ShortenEntry *top = &s->stack[s->n - 1];
    if (operation >= PROGRAM_DEFINE) {
        shorten_one(s, operation, step->index);
        s->computed--;
        s->n--;
    } else if (operation == PROGRAM_NEGATE && !top->computed && top->leaf.operation == PROGRAM_NUMBER) {
        top->leaf.number = -top->leaf.number;
    } else if (operands == 1) {
        shorten_one(s, operation, 0);
    } else if (operands == 2) {
        shorten_two(s, operation);
    } else {
        shorten_three(s, operation);
    }
}

int32_t environment_shorten(const EnvironmentSetup *setup, EnvironmentStep *to, int32_t *observed)
{
    Shorten s = {.to = to};
    *observed = 0;
    for (int k = 0; k < setup->n_program; k++) {
        if (k == setup->n_observe) *observed = s.count;
        shorten_step(&s, &setup->program[k]);
        const bool leaf = s.n > 0 && !s.stack[s.n - 1].computed;
        if (leaf && shorten_is_first_of_three(setup, k)) shorten_one(&s, ENVIRONMENT_MOVE, 0);
    }
    if (setup->n_observe == setup->n_program) *observed = s.count;
    return s.count;
}
