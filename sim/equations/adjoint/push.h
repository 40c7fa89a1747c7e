// Steps forwards: how a step's end changes with its begin, its length, held numbers and parameters. The rates of held
// numbers and parameters stand in the registers of rates. What stages change by stands where pull.h has their bars.
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
    const Cells rate = m->file + m->d->rate, sizes = m->noise_weight;
    for (int i = 0; i < n; i++) next[i] = shift[i] = 0.0;
    if (!motion_has_noise(m)) return;
    for (int end = 0; end < (noise_has_areas(m) ? 2 : 1); end++) {
        noise_argue(m, entry, end);
        rate[SYSTEM_TIME] = dt + (end != 0 ? dh : 0.0);
        for (int i = 0; i < n; i++) rate[SYSTEM_STATE(i)] = rest[m->d->n_inputs + i];
        motion_values(m, &entry_mode(m, entry)->noise_push, sizes + (int64_t)end * n, n);
    }
    for (int i = 0; i < n; i++) {
        const NoiseStep step = noise_step(m, entry, i), change = noise_change(m, entry, i, dt, dh);
        const double begin = m->sigma[i], end = m->sigma[n + i];
        next[i] = sizes[i] * step.increment + begin * change.increment;
        if (!noise_has_areas(m)) continue;
        next[i] = (sizes[i] - sizes[n + i]) * step.mean + (begin - end) * change.mean + sizes[n + i] * step.increment +
                  end * change.increment;
        shift[i] = (0.5 * sizes[i] + sizes[n + i]) * step.mean + (0.5 * begin + end) * change.mean;
    }
}

HD_CALL void push_rest(const Motion *m, const Push *push)
{
    for (int k = 1 + m->c->n_states; k < m->d->n_inputs; k++) m->file[m->d->rate + k] = push->rest[k];
}

// to[n_total] <- how the rates at the arguments change, if time does by `time` and states by `states`.
HD_CALL void push_rates(const Motion *m, const DerivativeMode *mode, double time, ConstCells states, Cells to)
{
    const Cells rate = m->file + m->d->rate;
    rate[SYSTEM_TIME] = time;
    for (int i = 0; i < m->c->n_states; i++) rate[SYSTEM_STATE(i)] = states[i];
    motion_values(m, &mode->rates_push, to, m->c->n_total);
}

HD_CALL void push_explicit(Motion *m, ConstCells entry, const Push *push, Cells next)
{
    const MotionTable table = motion_table(m->d->method);
    const DerivativeMode *mode = entry_mode(m, entry);
    const int n = m->c->n_states, total = m->c->n_total;
    const double h = entry[TRAIL_H];
    const Cells moved = m->moved, noise = m->argument, shift = m->argument + n;
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
                moved[i] += table.a[s][j] * (h * motion_bar(m, j)[i] + push->dh * motion_stage(m, j)[i]);
            if (s == table.shifted) moved[i] += shift[i];
        }
        const Cells change = motion_bar(m, s);
        push_rates(m, mode, push->dt + table.c[s] * push->dh, moved, change);
        for (int i = 0; i < total; i++) next[i] += table.b[s] * (h * change[i] + push->dh * motion_stage(m, s)[i]);
    }
    for (int i = 0; i < n; i++) next[i] += noise[i];
}

HD_CALL void push_semi_implicit_euler(Motion *m, ConstCells entry, const Push *push, Cells next)
{
    const EquationsConstants *c = m->c;
    const DerivativeMode *mode = entry_mode(m, entry);
    const int n = c->n_states, total = c->n_total;
    const double h = entry[TRAIL_H];
    const ConstCells y = entry_state(entry);
    const Cells moved = m->moved, moving = m->argument, change = motion_bar(m, 0);
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

HD_CALL void push_map(Motion *m, ConstCells entry, const Push *push, Cells next)
{
    const Cells noise = m->argument, shift = m->argument + m->c->n_states;
    push_rest(m, push);
    noise_begin(m, entry);
    noise_push(m, entry, 0.0, 0.0, push->rest, noise, shift);
    motion_argue_at(m, entry[TRAIL_T], entry_state(entry));
    push_rates(m, entry_mode(m, entry), 0.0, push->y, next);
    for (int i = m->c->n_states; i < m->c->n_total; i++) next[i] += push->y[i];
    for (int i = 0; i < m->c->n_states; i++) next[i] += noise[i];
}

HD_CALL void push_implicit_midpoint(Motion *m, ConstCells entry, const Push *push, Cells next)
{
    const DerivativeMode *mode = entry_mode(m, entry);
    const int n = m->c->n_states, total = m->c->n_total;
    const double h = entry[TRAIL_H];
    const Cells moving = m->moved, change = motion_bar(m, 0);
    push_rest(m, push);
    midpoint_stage(m, entry);
    motion_argue_midpoint(m, entry);
    for (int i = 0; i < n; i++) moving[i] = push->y[i] + 0.5 * push->dh * motion_stage(m, 0)[i];
    push_rates(m, mode, push->dt + 0.5 * push->dh, moving, change);
    linear_solve(m, change);
    for (int i = 0; i < total; i++) next[i] = push->y[i] + h * change[i] + push->dh * motion_stage(m, 0)[i];
}

HD_CALL void push_rodas5p(Motion *m, ConstCells entry, const Push *push, Cells next)
{
    const EquationsRodas *of = equations_rodas();
    const RodasTable table = rodas_table();
    const DerivativeMode *mode = entry_mode(m, entry);
    const int n = m->c->n_states, total = m->c->n_total;
    const double h = entry[TRAIL_H];
    const Cells time_rates = m->time_rates, bend = m->weight, moving = m->moved, second = m->file + m->d->second;
    rodas_stages(m, &table, entry, time_rates);
    second[SYSTEM_TIME] = push->dt;
    for (int i = 0; i < n; i++) second[SYSTEM_STATE(i)] = push->y[i];
    for (int k = 1 + n; k < m->d->n_inputs; k++) second[k] = push->rest[k];
    for (int s = 0; s < 8; s++) {
        const ConstCells u = motion_stage(m, s);
        const Cells changes = motion_bar(m, s);
        motion_argue_at(m, entry[TRAIL_T], entry_state(entry));
        rodas_direct(m, h * of->d[s], u, true);
        motion_values(m, &mode->bend_push, bend, total);
        push_rest(m, push);
        rodas_argue(m, &table, s, entry);
        for (int i = 0; i < n; i++) {
            moving[i] = push->y[i];
            for (int j = 0; j < s; j++) moving[i] += table.a[s][j] * motion_bar(m, j)[i];
        }
        push_rates(m, mode, push->dt + table.c[s] * push->dh, moving, changes);
        for (int i = 0; i < total; i++) {
            double *change = &changes[i];
            *change += bend[i] + push->dh * (of->d[s] * time_rates[i] + u[i] / (h * h * of->gamma));
            for (int j = 0; j < s; j++)
                *change += of->C[s][j] / h * (motion_bar(m, j)[i] - push->dh / h * motion_stage(m, j)[i]);
        }
        linear_solve(m, changes);
    }
    for (int i = 0; i < total; i++) {
        next[i] = push->y[i];
        for (int s = 0; s < 8; s++) next[i] += table.a[8][s] * motion_bar(m, s)[i];
    }
}

// next[n_total] <- how the end of an entry's step changes. The arguments are those of the entry.
HD_CALL void push_step(Motion *m, ConstCells entry, const Push *push, Cells next)
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
