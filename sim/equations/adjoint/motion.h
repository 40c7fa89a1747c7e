// What goes along the trail of a lane (../trail.h): its entries, the codes of its derivatives, and the stages of a step
// that is computed once more.
#ifndef HOPSCOTCH_EQUATIONS_ADJOINT_MOTION_H
#define HOPSCOTCH_EQUATIONS_ADJOINT_MOTION_H

// Kernels that leave a trail, of one lane.
#if !defined(HOPSCOTCH_TRAIL)
#define HOPSCOTCH_TRAIL
#if !defined(HOPSCOTCH_SCALAR)
#define HOPSCOTCH_SCALAR
#endif
#endif
#include "../advance.h"
#include "../derivatives.h"

enum { MOTION_STAGES = 8 };

// A lane whose trail is read. file: registers of the codes.
typedef struct Motion {
    const EquationsConstants *c;
    const EquationsDerivatives *d;
    const double *assets; // of the kernels
    Cells file;
    Cells stages; // [MOTION_STAGES][n_total]
    Cells matrix; // [n_states][n_states] of implicit methods, decomposed (linear.h)
    Cells below;  // [n_integrals][n_states] the rows of integrals
    Cells pivots; // [n_states]
    Cells sigma;  // [2][n_states] sizes of the noise where a step begins, and ends (noise.h)
    Cells shift;  // [n_states] what the noise adds to the argument of a stage
    double diagonal;
    // Of a step that is gone back through (pull.h)
    Cells argument;     // [MOTION_STAGES][1 + n_states] bars of stages' arguments
    Cells weight;       // [n_total]
    Cells bars;         // [MOTION_STAGES][n_total] of stages; forwards what they change by (push.h)
    Cells change;       // [n_total]
    Cells time_rates;   // [n_total]
    Cells moved;        // [n_states]
    Cells noise_weight; // [2][n_states]
} Motion;

HD Cells motion_stage(const Motion *m, int s) { return m->stages + (int64_t)s * m->c->n_total; }
HD Cells motion_bar(const Motion *m, int s) { return m->bars + (int64_t)s * m->c->n_total; }
HD Cells motion_argument(const Motion *m, int s) { return m->argument + (int64_t)s * (1 + m->c->n_states); }

HD bool motion_is_implicit(const Motion *m)
{
    return m->d->method == EQUATIONS_BY_implicit_midpoint || m->d->method == EQUATIONS_BY_rodas5p;
}

// Lays the arrays out from `at` on; returns where they end.
HD_CALL Cells motion_lay(Motion *m, Cells at)
{
    const int64_t n = m->c->n_states, total = m->c->n_total, stages = MOTION_STAGES;
    const bool implicit = motion_is_implicit(m), noisy = m->c->n_sources > 0;
    m->file = cells_take(&at, m->d->registers);
    m->stages = cells_take(&at, stages * total);
    m->matrix = cells_take(&at, implicit ? n * n : 0);
    m->below = cells_take(&at, implicit ? m->c->n_integrals * n : 0);
    m->pivots = cells_take(&at, implicit ? n : 0);
    m->sigma = cells_take(&at, noisy ? 2 * n : 0);
    m->shift = cells_take(&at, noisy ? n : 0);
    m->noise_weight = cells_take(&at, noisy ? 2 * n : 0);
    m->argument = cells_take(&at, stages * (1 + n));
    m->weight = cells_take(&at, total);
    m->bars = cells_take(&at, stages * total);
    m->change = cells_take(&at, total);
    m->time_rates = cells_take(&at, total);
    m->moved = cells_take(&at, n);
    return at;
}

// ---- entries --------------------------------------------------------------------------------------------------------

HD ConstCells entry_state(ConstCells entry) { return entry + TRAIL_NAMED; }
HD ConstCells entry_integrals(const Motion *m, ConstCells entry) { return entry + TRAIL_NAMED + m->c->n_states; }
HD ConstCells entry_held(const Motion *m, ConstCells entry) { return entry + TRAIL_NAMED + m->c->n_total; }
HD ConstCells entry_rows(const Motion *m, ConstCells entry) { return entry_held(m, entry) + m->c->n_held; }
HD ConstCells entry_conditions(const Motion *m, ConstCells entry) { return entry_rows(m, entry) + m->d->n_rows; }
HD const DerivativeMode *entry_mode(const Motion *m, ConstCells entry) { return &m->d->modes[(int)entry[TRAIL_MODE]]; }
HD bool entry_is(ConstCells entry, int kind) { return (int)entry[TRAIL_KIND] == kind; }

// Increments and areas of sources in a step; the state that sizes of the noise are taken at; the end of the piece.
HD ConstCells entry_path(const Motion *m, ConstCells entry) { return entry + trail_path(m->c); }
HD ConstCells entry_origin(const Motion *m, ConstCells entry) { return entry_path(m, entry) + 2 * m->c->n_sources; }
HD double entry_piece_end(const Motion *m, ConstCells entry) { return entry_origin(m, entry)[m->c->n_states]; }

// What a lane depends on at some time: its inputs, and with noise the state that sizes are taken at behind them.
HD bool motion_has_noise(const Motion *m) { return m->c->n_sources > 0; }
HD int motion_bars(const Motion *m) { return m->d->n_inputs + (motion_has_noise(m) ? m->c->n_states : 0); }

// ---- codes ----------------------------------------------------------------------------------------------------------

HD void motion_run(const Motion *m, const DerivativeCode *code)
{
    const Frame frame = {cells_begin(m->file), CELLS_APART};
    if (code->count > 0) tape_run(m->d->assets, m->d->tables, code->first, code->count, frame);
}
HD int motion_what(const Motion *m, const DerivativeCode *code, int k)
{
    return (int)asset_integer(m->d->assets, code->outputs + 2 * (int64_t)k);
}
HD double motion_output(const Motion *m, const DerivativeCode *code, int k)
{
    return m->file[asset_integer(m->d->assets, code->outputs + 2 * (int64_t)k + 1)];
}

// to[count] <- the outputs of a code that runs now; 0: it has none.
HD void motion_values(const Motion *m, const DerivativeCode *code, Cells to, int count)
{
    motion_run(m, code);
    for (int i = 0; i < count; i++) to[i] = 0.0;
    for (int k = 0; k < code->n_outputs; k++) to[motion_what(m, code, k)] = motion_output(m, code, k);
}
HD double motion_value(const Motion *m, const DerivativeCode *code)
{
    double value = 0.0;
    motion_run(m, code);
    for (int k = 0; k < code->n_outputs; k++) value = motion_output(m, code, k);
    return value;
}

// to[..] += factor times the outputs of a code that runs now.
HD void motion_add(const Motion *m, const DerivativeCode *code, double factor, Cells to)
{
    motion_run(m, code);
    for (int k = 0; k < code->n_outputs; k++) to[motion_what(m, code, k)] += factor * motion_output(m, code, k);
}

// ---- arguments ------------------------------------------------------------------------------------------------------

HD_CALL void motion_begin(const Motion *m, ConstCells parameter)
{
    const EquationsDerivatives *d = m->d;
    const Frame frame = {cells_begin(m->file), CELLS_APART};
    for (int k = 0; k < d->registers; k++) m->file[k] = 0.0;
    for (int k = 0; k < d->n_numbers; k++) m->file[d->first_number + k] = d->assets[d->numbers + k];
    for (int p = 0; p < m->c->n_parameters; p++)
        m->file[SYSTEM_PARAMETER(m->c->n_states, m->c->n_held, p)] = parameter[p];
    tape_run(d->assets, d->tables, d->derived, d->n_derived, frame);
}

// The arguments are those of an entry: its state at its time.
HD void motion_argue(const Motion *m, ConstCells entry)
{
    const EquationsConstants *c = m->c;
    const ConstCells held = entry_held(m, entry), rows = entry_rows(m, entry);
    m->file[SYSTEM_TIME] = entry[TRAIL_T];
    for (int i = 0; i < c->n_states; i++) m->file[SYSTEM_STATE(i)] = entry_state(entry)[i];
    for (int i = 0; i < c->n_held; i++) m->file[SYSTEM_HELD(c->n_states, i)] = held[i];
    for (int k = 0; k < m->d->n_rows; k++) m->file[m->d->n_inputs + k] = rows[k];
}
// Another time and state in the same entry.
HD void motion_argue_at(const Motion *m, double t, ConstCells y)
{
    m->file[SYSTEM_TIME] = t;
    for (int i = 0; i < m->c->n_states; i++) m->file[SYSTEM_STATE(i)] = y[i];
}
HD void motion_weigh(const Motion *m, ConstCells weight, int count)
{
    for (int i = 0; i < count; i++) m->file[m->d->weight + i] = weight[i];
}
// The rates of the inputs, `count` of them from the first on.
HD void motion_move(const Motion *m, ConstCells rate, int count)
{
    for (int k = 0; k < count; k++) m->file[m->d->rate + k] = rate[k];
}

// ---- semi_implicit_euler --------------------------------------------------------------------------------------------

HD bool motion_is_position(const Motion *m, int state)
{
    return state < m->c->n_states && asset_integer(m->assets, m->c->positions + state) != 0;
}

// stage[0] <- the rates at the begin; stage[1] <- those of positions, with the new velocities, whose arguments stay.
HD_CALL void euler_stages(Motion *m, ConstCells entry)
{
    const DerivativeMode *mode = entry_mode(m, entry);
    const ConstCells y = entry_state(entry);
    const Cells moved = m->moved;
    motion_argue_at(m, entry[TRAIL_T], y);
    motion_values(m, &mode->rates, motion_stage(m, 0), m->c->n_total);
    for (int i = 0; i < m->c->n_states; i++)
        moved[i] = motion_is_position(m, i) ? y[i] : y[i] + entry[TRAIL_H] * motion_stage(m, 0)[i];
    motion_argue_at(m, entry[TRAIL_T], moved);
    motion_values(m, &mode->rates, motion_stage(m, 1), m->c->n_total);
}

// ---- explicit methods -----------------------------------------------------------------------------------------------

typedef struct MotionTable {
    int stages, shifted; // the stage to whose argument the noise adds something; -1: there is none
    double a[6][6], b[6], c[6];
} MotionTable;

HD MotionTable motion_table(EquationsMethod method)
{
    const MotionTable euler_maruyama = {1, -1, {{0.0}}, {1.0}, {0.0}},
                      sra3 = {3,
                              2,
                              {{0.0}, {1.0}, {0.25, 0.25}},
                              {0.16666666666666666, 0.16666666666666666, 0.6666666666666666},
                              {0.0, 1.0, 0.5}};
    MotionTable table = {4,
                         -1,
                         {{0.0}, {0.5}, {0.0, 0.5}, {0.0, 0.0, 1.0}},
                         {0.16666666666666666, 0.3333333333333333, 0.3333333333333333, 0.16666666666666666},
                         {0.0, 0.5, 0.5, 1.0}};
    if (method == EQUATIONS_BY_euler_maruyama) return euler_maruyama;
    if (method == EQUATIONS_BY_sra3) return sra3;
    if (method != EQUATIONS_BY_dormand_prince) return table;
    const EquationsTable *of = equations_table();
    table.stages = 6; // the seventh is where the step ends
    for (int s = 0; s < 6; s++) {
        for (int j = 0; j < 6; j++) table.a[s][j] = of->A[s][j];
        table.b[s] = of->A[6][s];
        table.c[s] = of->c[s];
    }
    return table;
}

HD double motion_weighted(const Motion *m, const double *weight, int count, int i)
{
    const int64_t total = m->c->n_total;
    const ConstCells stages = m->stages + i;
    double sum = 0.0;
    for (int j = 0; j < count; j++) sum += weight[j] * stages[j * total];
    return sum;
}

// The argument of stage s of the step of an entry.
HD void motion_argue_stage(const Motion *m, const MotionTable *table, int s, ConstCells entry)
{
    const double h = entry[TRAIL_H];
    m->file[SYSTEM_TIME] = entry[TRAIL_T] + table->c[s] * h;
    for (int i = 0; i < m->c->n_states; i++)
        m->file[SYSTEM_STATE(i)] = entry_state(entry)[i] + h * motion_weighted(m, table->a[s], s, i);
    for (int i = 0; i < m->c->n_states && s == table->shifted && motion_has_noise(m); i++)
        m->file[SYSTEM_STATE(i)] += m->shift[i];
}

// The rates of all stages.
HD void motion_stages(Motion *m, const MotionTable *table, ConstCells entry)
{
    const DerivativeMode *mode = entry_mode(m, entry);
    for (int s = 0; s < table->stages; s++) {
        motion_argue_stage(m, table, s, entry);
        motion_values(m, &mode->rates, motion_stage(m, s), m->c->n_total);
    }
}

#endif
