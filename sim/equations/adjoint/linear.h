// Implicit methods once more: their linear equations, and these transposed; the stages of implicit_midpoint and
// rodas5p. The matrix is diagonal 1 - factor J of the states; rows -factor J of the integrals stand below it.
#ifndef HOPSCOTCH_EQUATIONS_ADJOINT_LINEAR_H
#define HOPSCOTCH_EQUATIONS_ADJOINT_LINEAR_H

#include "noise.h"

HD_CALL void linear_swap(double *a, double *b)
{
    const double was = *a;
    *a = *b;
    *b = was;
}

// LU with partial pivoting; rows are exchanged as a whole.
HD_CALL void linear_decompose(Motion *m)
{
    const int n = m->c->n_states;
    const Cells a = m->matrix;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (absolute(a[i * n + k]) > absolute(a[best * n + k])) best = i;
        m->pivots[k] = best;
        for (int j = 0; j < n && best != k; j++) linear_swap(&a[k * n + j], &a[best * n + j]);
        for (int i = k + 1; i < n; i++) {
            const double factor = a[i * n + k] / a[k * n + k];
            a[i * n + k] = factor;
            for (int j = k + 1; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
        }
    }
}

// With J at the arguments.
HD_CALL void linear_make(Motion *m, const DerivativeMode *mode, double diagonal, double factor)
{
    const int n = m->c->n_states;
    const DerivativeCode *code = &mode->jacobian;
    for (int i = 0; i < n * n; i++) m->matrix[i] = i % (n + 1) == 0 ? diagonal : 0.0;
    for (int i = 0; i < m->c->n_integrals * n; i++) m->below[i] = 0.0;
    motion_run(m, code);
    for (int k = 0; k < code->n_outputs; k++) {
        const int what = motion_what(m, code, k);
        double *at = what < n * n ? &m->matrix[what] : &m->below[what - n * n];
        *at -= factor * motion_output(m, code, k);
    }
    m->diagonal = diagonal;
    linear_decompose(m);
}

// x[n_total] <- the solution for x.
HD_CALL void linear_solve(const Motion *m, Cells x)
{
    const int n = m->c->n_states;
    const ConstCells a = m->matrix;
    for (int k = 0; k < n; k++)
        if (m->pivots[k] != k) linear_swap(&x[k], &x[(int64_t)m->pivots[k]]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) x[i] -= a[i * n + j] * x[j];
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) x[i] -= a[i * n + j] * x[j];
        x[i] /= a[i * n + i];
    }
    for (int q = 0; q < m->c->n_integrals; q++) {
        for (int j = 0; j < n; j++) x[n + q] -= m->below[q * n + j] * x[j];
        x[n + q] /= m->diagonal;
    }
}

HD_CALL void linear_solve_transposed(const Motion *m, Cells x)
{
    const int n = m->c->n_states;
    const ConstCells a = m->matrix;
    for (int q = 0; q < m->c->n_integrals; q++) {
        x[n + q] /= m->diagonal;
        for (int j = 0; j < n; j++) x[j] -= m->below[q * n + j] * x[n + q];
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) x[i] -= a[j * n + i] * x[j];
        x[i] /= a[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--)
        for (int j = i + 1; j < n; j++) x[i] -= a[j * n + i] * x[j];
    for (int k = n - 1; k >= 0; k--)
        if (m->pivots[k] != k) linear_swap(&x[k], &x[(int64_t)m->pivots[k]]);
}

// ---- implicit_midpoint ----------------------------------------------------------------------------------------------

// The arguments in the middle of the step, by the rates stage[0].
HD void motion_argue_midpoint(const Motion *m, ConstCells entry)
{
    const double half = 0.5 * entry[TRAIL_H];
    m->file[SYSTEM_TIME] = entry[TRAIL_T] + half;
    for (int i = 0; i < m->c->n_states; i++)
        m->file[SYSTEM_STATE(i)] = entry_state(entry)[i] + half * motion_stage(m, 0)[i];
}

// stage[0] <- the rates in the middle of the step, by Newton's method. The matrix is 1 - h/2 J there.
HD_CALL void midpoint_stage(Motion *m, ConstCells entry)
{
    const DerivativeMode *mode = entry_mode(m, entry);
    const int n = m->c->n_states, total = m->c->n_total;
    const double half = 0.5 * entry[TRAIL_H];
    const Cells change = m->change;
    motion_argue_at(m, entry[TRAIL_T], entry_state(entry));
    motion_values(m, &mode->rates, motion_stage(m, 0), total);
    for (int newton = 0; newton < EQUATIONS_NEWTON_STEPS; newton++) {
        double size = 0.0, most = 0.0;
        motion_argue_midpoint(m, entry);
        motion_values(m, &mode->rates, change, total);
        linear_make(m, mode, 1.0, half);
        for (int i = 0; i < total; i++) change[i] -= motion_stage(m, 0)[i];
        linear_solve(m, change);
        for (int i = 0; i < total; i++) motion_stage(m, 0)[i] += change[i];
        for (int i = 0; i < n; i++) {
            size = greater_of(absolute(half * change[i]), size);
            most = greater_of(absolute(entry_state(entry)[i]) + absolute(half * motion_stage(m, 0)[i]), most);
        }
        if (!(size > 1e-15 * most)) break;
    }
    motion_argue_midpoint(m, entry);
    linear_make(m, mode, 1.0, half);
}

// ---- rodas5p --------------------------------------------------------------------------------------------------------

// Its stages as those of one table: the last three begin where the one before ends.
typedef struct RodasTable {
    double a[9][8], c[8]; // a[8]: of the step's end
} RodasTable;

HD_CALL RodasTable rodas_table(void)
{
    const EquationsRodas *of = equations_rodas();
    RodasTable table = {0};
    for (int s = 0; s < 6; s++)
        for (int j = 0; j < s; j++) table.a[s][j] = of->a[s][j];
    for (int s = 6; s < 9; s++) {
        for (int j = 0; j < s - 1; j++) table.a[s][j] = table.a[s - 1][j];
        table.a[s][s - 1] = 1.0;
    }
    for (int s = 0; s < 8; s++) table.c[s] = of->c[s];
    return table;
}

HD void rodas_argue(const Motion *m, const RodasTable *table, int s, ConstCells entry)
{
    m->file[SYSTEM_TIME] = entry[TRAIL_T] + table->c[s] * entry[TRAIL_H];
    for (int i = 0; i < m->c->n_states; i++)
        m->file[SYSTEM_STATE(i)] = entry_state(entry)[i] + motion_weighted(m, table->a[s], s, i);
}

// The rates of inputs: `time`, then those of states, which are 0 unless they move; others are 0.
HD_CALL void rodas_direct(const Motion *m, double time, ConstCells states, bool moves)
{
    const Cells rate = m->file + m->d->rate;
    rate[SYSTEM_TIME] = time;
    for (int i = 0; i < m->c->n_states; i++) rate[SYSTEM_STATE(i)] = moves ? states[i] : 0.0;
    for (int k = 1 + m->c->n_states; k < m->d->n_inputs; k++) m->file[m->d->rate + k] = 0.0;
}

// stage[8] <- U; time_rates[n_total] <- d rates/d time. The matrix is 1/(h gamma) - J.
HD_CALL void rodas_stages(Motion *m, const RodasTable *table, ConstCells entry, Cells time_rates)
{
    const EquationsRodas *of = equations_rodas();
    const DerivativeMode *mode = entry_mode(m, entry);
    const int total = m->c->n_total;
    const double h = entry[TRAIL_H];
    motion_argue_at(m, entry[TRAIL_T], entry_state(entry));
    rodas_direct(m, 1.0, time_rates, false);
    motion_values(m, &mode->rates_push, time_rates, total);
    linear_make(m, mode, 1.0 / (h * of->gamma), 1.0);
    for (int s = 0; s < 8; s++) {
        rodas_argue(m, table, s, entry);
        const Cells stage = motion_stage(m, s);
        motion_values(m, &mode->rates, stage, total);
        for (int i = 0; i < total; i++) {
            double sum = 0.0;
            for (int j = 0; j < s; j++) sum += of->C[s][j] * motion_stage(m, j)[i];
            stage[i] += sum / h + h * of->d[s] * time_rates[i];
        }
        linear_solve(m, stage);
    }
}

// ---- the end of a step ----------------------------------------------------------------------------------------------

// The arguments are those at the end of the step of an entry, computed once more: also of one that is cut.
HD_CALL void motion_argue_end(Motion *m, ConstCells entry)
{
    const MotionTable table_of_explicit = motion_table(m->d->method);
    const int n = m->c->n_states;
    const double h = entry[TRAIL_H];
    const Cells change = m->change;
    switch (m->d->method) {
    case EQUATIONS_BY_rodas5p: {
        const RodasTable table = rodas_table();
        rodas_stages(m, &table, entry, m->time_rates);
        for (int i = 0; i < n; i++) change[i] = motion_weighted(m, table.a[8], 8, i);
        break;
    }
    case EQUATIONS_BY_implicit_midpoint:
        midpoint_stage(m, entry);
        for (int i = 0; i < n; i++) change[i] = h * motion_stage(m, 0)[i];
        break;
    case EQUATIONS_BY_semi_implicit_euler:
        euler_stages(m, entry);
        for (int i = 0; i < n; i++) change[i] = h * motion_stage(m, motion_is_position(m, i))[i];
        break;
    default:
        motion_stages(m, &table_of_explicit, entry);
        for (int i = 0; i < n; i++)
            change[i] = h * motion_weighted(m, table_of_explicit.b, table_of_explicit.stages, i);
    }
    m->file[SYSTEM_TIME] = entry[TRAIL_T] + h;
    for (int i = 0; i < n; i++) m->file[SYSTEM_STATE(i)] = entry_state(entry)[i] + change[i];
}

#endif
