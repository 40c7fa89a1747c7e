// The codes of a campaign as text: a switch over their first steps.
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

// The code in this row of mode m, or, with the first mode, what all modes share.
static void made_code_of_modes(MadeCodes *codes, const EquationsConstants *c, int m, int row, int n_outputs)
{
    const int64_t at = c->modes + row;
    const bool shared = (c->shared >> row / EQUATIONS_CODE & 1) != 0;
    if (!shared) {
        made_code_at(codes, at + (int64_t)m * EQUATIONS_MODE, n_outputs);
    } else if (m == 0 && made_begin(codes, made_integer(codes, at), made_integer(codes, at + 1))) {
        for (int of = 0; of < c->n_modes; of++)
            made_outputs(codes, made_integer(codes, at + (int64_t)of * EQUATIONS_MODE + 2), n_outputs);
        made_end(codes);
    }
}

static void made_mode(MadeCodes *codes, const EquationsConstants *c, int m)
{
    const int64_t row = c->modes + (int64_t)m * EQUATIONS_MODE;
    const struct {
        int row, outputs;
    } rows[] = {
        {EQUATIONS_MODE_RATES, c->n_total},           {EQUATIONS_MODE_GUARDS, c->n_guards},
        {EQUATIONS_MODE_SLOPES, 2 * c->n_guards},     {EQUATIONS_MODE_WATCHED, 2 * c->n_metrics},
        {EQUATIONS_MODE_CONDITIONS, c->n_conditions}, {EQUATIONS_MODE_JACOBIAN, c->n_total * c->n_states + c->n_total},
        {EQUATIONS_MODE_SIZES, c->n_guards},          {EQUATIONS_MODE_NOISE, c->n_states}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        made_code_of_modes(codes, c, m, rows[i].row, rows[i].outputs);
    const int64_t actions = made_integer(codes, row + EQUATIONS_MODE_ACTIONS);
    for (int64_t a = 0; a < made_integer(codes, row + EQUATIONS_MODE_N_ACTIONS); a++)
        made_code_at(codes, actions + a * EQUATIONS_ACTION + EQUATIONS_ACTION_SET, c->n_states + c->n_held);
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
    const bool implicit = kernel == KERNEL_equations_implicit_midpoint || kernel == KERNEL_equations_rodas5p;
    return (codes->steps + 15 * codes->functions) * (implicit ? 2 : 1);
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
    for (int m = 0; m < c.n_modes; m++) made_mode(&codes, &c, m);
    made_line(out, "\n#define EQUATIONS_MADE_INLINED %lld\n", (long long)made_inlined(&codes, configured->kernel));
    made_line(out, "#if EQUATIONS_MADE_INLINED > %d || (EQUATIONS_MADE_INLINED > %d && MADE_ON_CPU)\n",
              EQUATIONS_MADE_INLINED_GPU, EQUATIONS_MADE_INLINED_CPU);
    made_line(out, "#define HOPSCOTCH_MADE_LARGE\n#endif\n");
    return codes.steps <= EQUATIONS_MADE_STEPS;
}
