// Steps forwards: how a step's end changes with its begin, its length, held numbers and parameters. The rates of held
// numbers and parameters stand in the registers of rates.
#ifndef HOPSCOTCH_EQUATIONS_ADJOINT_PUSH_H
#define HOPSCOTCH_EQUATIONS_ADJOINT_PUSH_H

#include "linear.h"

// How something changes: time, states, held numbers and parameters as the inputs, then integrals.
typedef struct Push {
    double dt, dh;
    ConstCells y;    // [n_total] of the begin
    ConstCells rest; // [n_bars] of which held numbers, parameters, and the state of the noise's sizes count
} Push;

// next[n_states], shift[n_states] <- how what the noise adds changes: dt, dh of time and length, rest[n_bars].
HD_CALL void noise_push(const Motion *m, ConstCells entry, double dt, double dh, ConstCells rest, Cells next,
                        Cells shift)
{
    const int n = m->c->n_states;
    double sizes[2][SYSTEM_STATES_MAX], rate[1 + SYSTEM_STATES_MAX];
    for (int i = 0; i < n; i++) next[i] = shift[i] = 0.0;
    if (!motion_has_noise(m)) return;
    for (int i = 0; i < n; i++) rate[SYSTEM_STATE(i)] = rest[m->d->n_inputs + i];
    for (int end = 0; end < (noise_has_areas(m) ? 2 : 1); end++) {
        noise_argue(m, entry, end);
        rate[SYSTEM_TIME] = dt + (end != 0 ? dh : 0.0);
        motion_move(m, rate, 1 + n);
        motion_values(m, &entry_mode(m, entry)->noise_push, sizes[end], n);
    }
    for (int i = 0; i < n; i++) {
        const NoiseStep step = noise_step(m, entry, i), change = noise_change(m, entry, i, dt, dh);
        const double begin = m->sigma[i], end = m->sigma[n + i];
        next[i] = sizes[0][i] * step.increment + begin * change.increment;
        if (!noise_has_areas(m)) continue;
        next[i] = (sizes[0][i] - sizes[1][i]) * step.mean + (begin - end) * change.mean + sizes[1][i] * step.increment +
                  end * change.increment;
        shift[i] = (0.5 * sizes[0][i] + sizes[1][i]) * step.mean + (0.5 * begin + end) * change.mean;
    }
}

HD_CALL void push_rest(const Motion *m, const Push *push)
{
    for (int k = 1 + m->c->n_states; k < m->d->n_inputs; k++) m->file[m->d->rate + k] = push->rest[k];
}

// to[n_total] <- how the rates at the arguments change, if time does by `time` and states by `states`.
HD_CALL void push_rates(const Motion *m, const DerivativeMode *mode, double time, const double *states, double *to)
{
    double rate[1 + SYSTEM_STATES_MAX];
    rate[0] = time;
    for (int i = 0; i < m->c->n_states; i++) rate[1 + i] = states[i];
    motion_move(m, rate, 1 + m->c->n_states);
    motion_values(m, &mode->rates_push, to, m->c->n_total);
}

HD_CALL void push_explicit(Motion *m, ConstCells entry, const Push *push, double *next)
{
    const MotionTable table = motion_table(m->d->method);
    const DerivativeMode *mode = entry_mode(m, entry);
    const int n = m->c->n_states, total = m->c->n_total;
    const double h = entry[TRAIL_H];
    double moved[SYSTEM_STATES_MAX], changes[6][MOTION_TOTAL], noise[SYSTEM_STATES_MAX], shift[SYSTEM_STATES_MAX];
    push_rest(m, push);
    noise_begin(m, entry);
    noise_push(m, entry, push->dt, push->dh, push->rest, noise, shift);
    for (int i = 0; i < total; i++) next[i] = push->y[i];
    for (int s = 0; s < table.stages; s++) {
        motion_argue_stage(m, &table, s, entry);
        motion_values(m, &mode->rates, motion_stage(m, s), total);
        for (int i = 0; i < n; i++) {
            moved[i] = push->y[i];
            for (int j = 0; j < s; j++)
                moved[i] += table.a[s][j] * (h * changes[j][i] + push->dh * motion_stage(m, j)[i]);
            if (s == table.shifted) moved[i] += shift[i];
        }
        push_rates(m, mode, push->dt + table.c[s] * push->dh, moved, changes[s]);
        for (int i = 0; i < total; i++) next[i] += table.b[s] * (h * changes[s][i] + push->dh * motion_stage(m, s)[i]);
    }
    for (int i = 0; i < n; i++) next[i] += noise[i];
}

HD_CALL void push_semi_implicit_euler(Motion *m, ConstCells entry, const Push *push, double *next)
{
    const EquationsConstants *c = m->c;
    const DerivativeMode *mode = entry_mode(m, entry);
    const int n = c->n_states, total = c->n_total;
    const double h = entry[TRAIL_H], *y = entry_state(entry);
    double moved[SYSTEM_STATES_MAX], moving[SYSTEM_STATES_MAX] = {0.0}, change[MOTION_TOTAL];
    push_rest(m, push);
    euler_stages(m, entry);
    motion_argue_at(m, entry[TRAIL_T], y);
    push_rates(m, mode, push->dt, push->y, change);
    for (int i = 0; i < total; i++) next[i] = push->y[i] + h * change[i] + push->dh * motion_stage(m, 0)[i];
    for (int i = 0; i < n; i++) {
        moved[i] = motion_is_position(m, i) ? y[i] : y[i] + h * motion_stage(m, 0)[i];
        moving[i] = motion_is_position(m, i) ? push->y[i] : next[i];
    }
    motion_argue_at(m, entry[TRAIL_T], moved);
    push_rates(m, mode, push->dt, moving, change);
    for (int i = 0; i < n; i++)
        if (motion_is_position(m, i)) next[i] = push->y[i] + h * change[i] + push->dh * motion_stage(m, 1)[i];
}

HD_CALL void push_map(Motion *m, ConstCells entry, const Push *push, double *next)
{
    double noise[SYSTEM_STATES_MAX], shift[SYSTEM_STATES_MAX];
    push_rest(m, push);
    noise_begin(m, entry);
    noise_push(m, entry, 0.0, 0.0, push->rest, noise, shift);
    motion_argue_at(m, entry[TRAIL_T], entry_state(entry));
    push_rates(m, entry_mode(m, entry), 0.0, push->y, next);
    for (int i = m->c->n_states; i < m->c->n_total; i++) next[i] += push->y[i];
    for (int i = 0; i < m->c->n_states; i++) next[i] += noise[i];
}

HD_CALL void push_implicit_midpoint(Motion *m, ConstCells entry, const Push *push, double *next)
{
    const DerivativeMode *mode = entry_mode(m, entry);
    const int n = m->c->n_states, total = m->c->n_total;
    const double h = entry[TRAIL_H];
    double moving[SYSTEM_STATES_MAX], change[MOTION_TOTAL];
    push_rest(m, push);
    midpoint_stage(m, entry);
    motion_argue_midpoint(m, entry);
    for (int i = 0; i < n; i++) moving[i] = push->y[i] + 0.5 * push->dh * motion_stage(m, 0)[i];
    push_rates(m, mode, push->dt + 0.5 * push->dh, moving, change);
    linear_solve(m, change);
    for (int i = 0; i < total; i++) next[i] = push->y[i] + h * change[i] + push->dh * motion_stage(m, 0)[i];
}

HD_CALL void push_rodas5p(Motion *m, ConstCells entry, const Push *push, double *next)
{
    const EquationsRodas *of = equations_rodas();
    const RodasTable table = rodas_table();
    const DerivativeMode *mode = entry_mode(m, entry);
    const int n = m->c->n_states, total = m->c->n_total;
    const double h = entry[TRAIL_H];
    double changes[8][MOTION_TOTAL], time_rates[MOTION_TOTAL], bend[MOTION_TOTAL], moving[SYSTEM_STATES_MAX];
    double second[1 + SYSTEM_STATES_MAX];
    rodas_stages(m, &table, entry, time_rates);
    second[0] = push->dt;
    for (int i = 0; i < n; i++) second[1 + i] = push->y[i];
    motion_move_too(m, second, 1 + n);
    for (int k = 1 + n; k < m->d->n_inputs; k++) m->file[m->d->second + k] = push->rest[k];
    for (int s = 0; s < 8; s++) {
        ConstCells u = motion_stage(m, s);
        motion_argue_at(m, entry[TRAIL_T], entry_state(entry));
        rodas_direct(m, h * of->d[s], u, true);
        motion_values(m, &mode->bend_push, bend, total);
        push_rest(m, push);
        rodas_argue(m, &table, s, entry);
        for (int i = 0; i < n; i++) {
            moving[i] = push->y[i];
            for (int j = 0; j < s; j++) moving[i] += table.a[s][j] * changes[j][i];
        }
        push_rates(m, mode, push->dt + table.c[s] * push->dh, moving, changes[s]);
        for (int i = 0; i < total; i++) {
            double *change = &changes[s][i];
            *change += bend[i] + push->dh * (of->d[s] * time_rates[i] + u[i] / (h * h * of->gamma));
            for (int j = 0; j < s; j++)
                *change += of->C[s][j] / h * (changes[j][i] - push->dh / h * motion_stage(m, j)[i]);
        }
        linear_solve(m, changes[s]);
    }
    for (int i = 0; i < total; i++) {
        next[i] = push->y[i];
        for (int s = 0; s < 8; s++) next[i] += table.a[8][s] * changes[s][i];
    }
}

// next[n_total] <- how the end of an entry's step changes. The arguments are those of the entry.
HD_CALL void push_step(Motion *m, ConstCells entry, const Push *push, double *next)
{
    switch (m->d->method) {
    case EQUATIONS_BY_semi_implicit_euler: push_semi_implicit_euler(m, entry, push, next); break;
    case EQUATIONS_BY_implicit_midpoint: push_implicit_midpoint(m, entry, push, next); break;
    case EQUATIONS_BY_rodas5p: push_rodas5p(m, entry, push, next); break;
    case EQUATIONS_BY_map: push_map(m, entry, push, next); break;
    default: push_explicit(m, entry, push, next);
    }
}

#endif
