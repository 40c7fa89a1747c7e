// The codes of a campaign as text: a switch over their first steps, and one over the rows of the table of modes.
#include "made.h"

#include "../made/codes.h"
#include "../models.h"
#include "equations.h"
#include "system.h"

#include <string.h>

// More would take too long to compile. INLINED: where all is inlined; gcc takes 20 ms each, NVRTC as long or longer.
enum {
    EQUATIONS_MADE_STEPS = 6000,
    EQUATIONS_MADE_FRAME = 1500,
    EQUATIONS_MADE_INLINED_CPU = 300,
    EQUATIONS_MADE_INLINED_GPU = 500
};

// The code steps[count] from `first` on.
static bool made_begin(MadeCodes *codes, int64_t first, int64_t count)
{
    if (first < 0 || count <= 0) return false; // one without steps may begin where another does
    made_line(codes->out, "case %lld: {\\\n", (long long)first);
    made_steps(codes, first, count);
    return true;
}
// Keeps the registers of outputs, which stand at `outputs`; -1: they are in place.
static void made_outputs(const MadeCodes *codes, int64_t outputs, int n_outputs)
{
    for (int i = 0; i < n_outputs && outputs >= 0; i++) made_keep(codes, made_integer(codes, outputs + i));
}
static void made_end(const MadeCodes *codes) { made_line(codes->out, "return; }\\\n"); }

static void made_code_at(MadeCodes *codes, int64_t row, int n_outputs)
{
    if (!made_begin(codes, made_integer(codes, row), made_integer(codes, row + 1))) return;
    made_outputs(codes, made_integer(codes, row + 2), n_outputs);
    made_end(codes);
}

// What a mode computes and what its events set, by first steps: but for EQUATIONS_MADE_MODES.
static void made_mode(MadeCodes *codes, const EquationsConstants *c, int m, bool implicit)
{
    const int64_t row = c->modes + (int64_t)m * EQUATIONS_MODE;
    const bool shared = (c->shared >> EQUATIONS_MODE_JACOBIAN / EQUATIONS_CODE & 1) != 0;
    if (implicit && (m == 0 || !shared))
        made_code_at(codes, row + EQUATIONS_MODE_JACOBIAN, c->n_total * c->n_states + c->n_total);
    const int64_t actions = made_integer(codes, row + EQUATIONS_MODE_ACTIONS);
    for (int64_t a = 0; a < made_integer(codes, row + EQUATIONS_MODE_N_ACTIONS); a++)
        made_code_at(codes, actions + a * EQUATIONS_ACTION + EQUATIONS_ACTION_SET, c->n_states + c->n_held);
}

// The outputs of a code that stands before them: numbers of the frame; 0 where the mode has none.
static void made_results(MadeCodes *codes, int64_t outputs, int count)
{
    for (int i = 0; i < count; i++) {
        const int64_t at = made_integer(codes, outputs + i);
        made_line(codes->out, "EQUATIONS_RESULT(%d, ", i);
        if (at >= 0)
            made_result(codes, at);
        else
            made_line(codes->out, "splat(0.0)");
        made_line(codes->out, ");\\\n");
    }
}

// What equations_of_modes does in a row of the table of modes.
static void made_row(MadeCodes *codes, const EquationsConstants *c, int row, int count)
{
    const int64_t at = c->modes + row;
    const int code = row / EQUATIONS_CODE;
    const bool shared = (c->shared >> code & 1) != 0, same = (c->same >> code & 1) != 0;
    if (count == 0 || made_integer(codes, at) < 0 || made_integer(codes, at + 2) < 0) return;
    made_line(codes->out, "case %d: {\\\n", row);
    if (shared) made_steps(codes, made_integer(codes, at), made_integer(codes, at + 1));
    for (int m = 0; m < (same ? 1 : c->n_modes); m++) {
        const int64_t of = at + (int64_t)m * EQUATIONS_MODE;
        made_line(codes->out, "EQUATIONS_IN_MODE(%d)\\\n", same ? -1 : m);
        if (!shared) made_steps(codes, made_integer(codes, of), made_integer(codes, of + 1));
        made_results(codes, made_integer(codes, of + 2), count);
        made_line(codes->out, "EQUATIONS_END_MODE \\\n");
    }
    made_line(codes->out, "return; }\\\n");
}

static void made_rows(MadeCodes *codes, const EquationsConstants *c)
{
    const struct {
        int row, outputs;
    } rows[] = {{EQUATIONS_MODE_RATES, c->n_total},           {EQUATIONS_MODE_GUARDS, c->n_guards},
                {EQUATIONS_MODE_SLOPES, 2 * c->n_guards},     {EQUATIONS_MODE_WATCHED, 2 * c->n_metrics},
                {EQUATIONS_MODE_CONDITIONS, c->n_conditions}, {EQUATIONS_MODE_SIZES, c->n_guards},
                {EQUATIONS_MODE_NOISE, c->n_states}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) made_row(codes, c, rows[i].row, rows[i].outputs);
}

static bool made_is_implicit(int kernel)
{
    return kernel == KERNEL_equations_implicit_midpoint || kernel == KERNEL_equations_rodas5p;
}

static const char *made_method(int kernel)
{
#define MADE_METHOD(name, fixed)                                                                                       \
    if (kernel == KERNEL_equations_##name) return #name;
    EQUATIONS_INTEGRATORS(MADE_METHOD)
#undef MADE_METHOD
    return "map";
}

// What compiling takes if all is inlined, as measured: in steps of arithmetic.
static int64_t made_inlined(const MadeCodes *codes, int kernel)
{
    return (codes->steps + 15 * codes->functions) * (made_is_implicit(kernel) ? 2 : 1);
}

bool equations_made_macros(const Configured *configured, TextSink out)
{
    EquationsConstants c;
    memcpy(&c, &configured->constants, sizeof c);
    MadeCodes codes = {.out = out,
                       .get = "EQUATIONS_GET",
                       .set = "EQUATIONS_SET",
                       .assets = configured->assets,
                       .tables = c.tables,
                       .numbers = c.numbers,
                       .first_number = c.first_number,
                       .n_numbers = c.n_numbers,
                       .first_scratch = c.first_number + c.n_numbers + c.n_derived_steps};
    if (c.file + c.registers > EQUATIONS_MADE_FRAME) return false;
#define EQUATIONS_MADE_MACRO(type, name) made_line(out, "#define made_%s %a\n", #name, (double)c.name);
    EQUATIONS_CONSTANTS(EQUATIONS_MADE_MACRO)
#undef EQUATIONS_MADE_MACRO
    made_line(out, "#define made_method EQUATIONS_BY_%s\n", made_method(configured->kernel));
    made_line(out, "#define made_observed %d\n", configured->meter != NULL);
    made_line(out, "#define EQUATIONS_MADE_CODES \\\n");
    if (made_begin(&codes, c.derived, c.n_derived_steps)) made_end(&codes);
    made_code_at(&codes, c.start, c.n_states + c.n_held);
    if (c.straight != 0) made_code_at(&codes, c.straight, c.n_total + c.is_map);
    for (int m = 0; m < c.n_modes; m++) made_mode(&codes, &c, m, made_is_implicit(configured->kernel));
    made_line(out, "\n#define EQUATIONS_MADE_MODES \\\n");
    made_rows(&codes, &c);
    made_line(out, "\n#define EQUATIONS_MADE_INLINED %lld\n", (long long)made_inlined(&codes, configured->kernel));
    made_line(out, "#if EQUATIONS_MADE_INLINED > %d || (EQUATIONS_MADE_INLINED > %d && MADE_ON_CPU)\n",
              EQUATIONS_MADE_INLINED_GPU, EQUATIONS_MADE_INLINED_CPU);
    made_line(out, "#define HOPSCOTCH_MADE_LARGE\n#endif\n");
    return codes.steps <= EQUATIONS_MADE_STEPS;
}
