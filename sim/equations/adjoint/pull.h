// Steps backwards: from the derivatives ("bars") of something by a step's end to those by its begin, its length and
// what the rates read. Lengths of steps count as numbers here; lane.h says what they depend on.
#ifndef HOPSCOTCH_EQUATIONS_ADJOINT_PULL_H
#define HOPSCOTCH_EQUATIONS_ADJOINT_PULL_H

#include "linear.h"

// next[n_total]: bars of the states and integrals at the end. to[n_inputs]: those of time, states, held numbers and
// parameters at the begin are added; integrals have the same bars before and after a step. Returns that of the length.
// The arguments are those of the entry.

// Adds the bars of the rates' arguments: of held numbers and parameters to `to`, of time and states to argument[1 +
// n_states], which is cleared first.
HD void pull_rates(const Motion *m, const DerivativeMode *mode, ConstCells weight, Cells argument, Cells to)
{
    const int n = m->c->n_states;
    const DerivativeCode *code = &mode->rates_pull;
    bool some = false;
    for (int i = 0; i <= n; i++) argument[i] = 0.0;
    for (int i = 0; i < m->c->n_total; i++) some |= weight[i] != 0.0;
    if (!some) return; // also where rates have no derivative
    motion_weigh(m, weight, m->c->n_total);
    motion_run(m, code);
    for (int k = 0; k < code->n_outputs; k++) {
        const int what = motion_what(m, code, k);
        double *at = what <= n ? &argument[what] : &to[what];
        *at += motion_output(m, code, k);
    }
}

HD double pull_dot(ConstCells a, ConstCells b, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

// With k_s = f(t + c_s h, y + h sum a_sj k_j), next = y + h sum b_s k_s; and the noise (noise.h).
HD_CALL double pull_explicit(Motion *m, ConstCells entry, ConstCells next, Cells to)
{
    const MotionTable table = motion_table(m->d->method);
    const int n = m->c->n_states, total = m->c->n_total;
    const double h = entry[TRAIL_H];
    const Cells weight = m->weight;
    double length = 0.0;
    noise_begin(m, entry);
    motion_stages(m, &table, entry);
    for (int i = 0; i < n; i++) to[SYSTEM_STATE(i)] += next[i];
    for (int s = table.stages - 1; s >= 0; s--) {
        for (int i = 0; i < total; i++) weight[i] = h * table.b[s] * next[i];
        for (int j = s + 1; j < table.stages; j++) {
            const ConstCells later = motion_argument(m, j) + 1;
            const double factor = h * table.a[j][s];
            for (int i = 0; i < n && table.a[j][s] != 0.0; i++) weight[i] += factor * later[i];
        }
        motion_argue_stage(m, &table, s, entry);
        const Cells argument = motion_argument(m, s);
        pull_rates(m, entry_mode(m, entry), weight, argument, to);
        for (int i = 0; i <= n; i++) to[i] += argument[i];
        length += table.b[s] * pull_dot(next, motion_stage(m, s), total) + table.c[s] * argument[0];
        for (int j = 0; j < s; j++)
            if (table.a[s][j] != 0.0) length += table.a[s][j] * pull_dot(argument + 1, motion_stage(m, j), n);
    }
    const ConstCells shifted = motion_argument(m, table.shifted >= 0 ? table.shifted : 0) + 1; // read by sra3 alone
    return length + noise_pull(m, entry, next, shifted, to);
}

// Velocities first: v + h f_v(t, x, v); then x + h f_x(t, x, new v).
HD_CALL double pull_semi_implicit_euler(Motion *m, ConstCells entry, ConstCells next, Cells to)
{
    const EquationsConstants *c = m->c;
    const DerivativeMode *mode = entry_mode(m, entry);
    const int n = c->n_states, total = c->n_total;
    const double h = entry[TRAIL_H];
    const ConstCells y = entry_state(entry);
    const Cells bar = m->bars, weight = m->weight, argument = m->argument;
    double length = 0.0;
    euler_stages(m, entry);
    for (int i = 0; i < total; i++) {
        const bool position = motion_is_position(m, i);
        weight[i] = position ? h * next[i] : 0.0;
        bar[i] = position ? 0.0 : next[i];
        if (position) length += next[i] * motion_stage(m, 1)[i];
        if (position) to[SYSTEM_STATE(i)] += next[i];
    }
    pull_rates(m, mode, weight, argument, to);
    to[SYSTEM_TIME] += argument[0];
    for (int i = 0; i < n; i++) {
        if (motion_is_position(m, i))
            to[SYSTEM_STATE(i)] += argument[1 + i];
        else
            bar[i] += argument[1 + i];
    }
    for (int i = 0; i < total; i++) {
        weight[i] = h * bar[i];
        length += bar[i] * motion_stage(m, 0)[i];
        if (i < n) to[SYSTEM_STATE(i)] += bar[i];
    }
    motion_argue_at(m, entry[TRAIL_T], y);
    pull_rates(m, mode, weight, argument, to);
    for (int i = 0; i <= n; i++) to[i] += argument[i];
    return length;
}

// next = f(t, y), with noise sigma(t, y) D more; an integral is a sum.
HD_CALL double pull_map(Motion *m, ConstCells entry, ConstCells next, Cells to)
{
    const Cells argument = m->argument;
    motion_argue_at(m, entry[TRAIL_T], entry_state(entry));
    pull_rates(m, entry_mode(m, entry), next, argument, to);
    for (int i = 1; i <= m->c->n_states; i++) to[i] += argument[i];
    noise_begin(m, entry);
    return noise_pull(m, entry, next, next, to);
}

// k = f(t + h/2, y + h/2 k), next = y + h k.
HD_CALL double pull_implicit_midpoint(Motion *m, ConstCells entry, ConstCells next, Cells to)
{
    const EquationsConstants *c = m->c;
    const DerivativeMode *mode = entry_mode(m, entry);
    const int n = c->n_states, total = c->n_total;
    const double h = entry[TRAIL_H];
    const Cells weight = m->weight, argument = m->argument;
    midpoint_stage(m, entry);
    for (int i = 0; i < total; i++) weight[i] = h * next[i];
    linear_solve_transposed(m, weight); // (1 - h/2 J)^T
    motion_argue_midpoint(m, entry);
    pull_rates(m, mode, weight, argument, to);
    double length = pull_dot(next, motion_stage(m, 0), total) + 0.5 * argument[0];
    length += 0.5 * pull_dot(argument + 1, motion_stage(m, 0), n);
    to[SYSTEM_TIME] += argument[0];
    for (int i = 0; i < n; i++) to[SYSTEM_STATE(i)] += next[i] + argument[1 + i];
    return length;
}

// (1/(h gamma) - J) U_s = f(t + c_s h, y + sum a_sj U_j) + sum C_sj/h U_j + h d_s f_t, next = y + sum a_8j U_j. What J
// and f_t change with goes by the derivative of J U_s + h d_s f_t, weighed as the right side.
HD Cells pull_bar(const Motion *m, int s) { return m->bars + (int64_t)s * m->c->n_total; }

HD_CALL double pull_rodas5p(Motion *m, ConstCells entry, ConstCells next, Cells to)
{
    const EquationsRodas *of = equations_rodas();
    const RodasTable table = rodas_table();
    const DerivativeMode *mode = entry_mode(m, entry);
    const int n = m->c->n_states, total = m->c->n_total;
    const double h = entry[TRAIL_H];
    const Cells time_rates = m->time_rates, argument = m->argument;
    double length = 0.0;
    rodas_stages(m, &table, entry, time_rates);
    for (int s = 0; s < 8; s++)
        for (int i = 0; i < total; i++) pull_bar(m, s)[i] = table.a[8][s] * next[i];
    for (int i = 0; i < n; i++) to[SYSTEM_STATE(i)] += next[i];
    for (int s = 7; s >= 0; s--) {
        const ConstCells u = motion_stage(m, s);
        const Cells bar = pull_bar(m, s);
        linear_solve_transposed(m, bar);
        rodas_argue(m, &table, s, entry);
        pull_rates(m, mode, bar, argument, to);
        for (int i = 0; i <= n; i++) to[i] += argument[i];
        length += table.c[s] * argument[0] + of->d[s] * pull_dot(bar, time_rates, total) +
                  pull_dot(bar, u, total) / (h * h * of->gamma);
        for (int j = 0; j < s; j++) {
            for (int i = 0; i < n; i++) pull_bar(m, j)[i] += table.a[s][j] * argument[1 + i];
            for (int i = 0; i < total; i++) pull_bar(m, j)[i] += of->C[s][j] / h * bar[i];
            length -= of->C[s][j] / (h * h) * pull_dot(bar, motion_stage(m, j), total);
        }
        motion_argue_at(m, entry[TRAIL_T], entry_state(entry));
        rodas_direct(m, h * of->d[s], u, true);
        motion_weigh(m, bar, total);
        motion_add(m, &mode->bend_pull, 1.0, to);
    }
    return length;
}

HD_CALL double pull_step(Motion *m, ConstCells entry, ConstCells next, Cells to)
{
    switch (m->d->method) {
    case EQUATIONS_BY_semi_implicit_euler: return pull_semi_implicit_euler(m, entry, next, to);
    case EQUATIONS_BY_implicit_midpoint: return pull_implicit_midpoint(m, entry, next, to);
    case EQUATIONS_BY_rodas5p: return pull_rodas5p(m, entry, next, to);
    case EQUATIONS_BY_map: return pull_map(m, entry, next, to);
    default: return pull_explicit(m, entry, next, to);
    }
}

#endif
