// Noise along a trail. The path of a lane does not depend on its parameters: it is a curve in time, in each piece of it
// a parabola (../noise.h), of which a step has the part from its begin to its end. So a step's increment D and area H
// change with these times alone, over a step of length h:
//     dD/dh = (D - 6 H)/h, dD/dt = -12 H/h, dH/dh = 2 H/h, dH/dt = 0.
// What a step adds to the state, with I = H + D/2 (../steps.h):
//     euler_maruyama and maps: sigma(t) D;
//     sra3: (sigma(t) - sigma(t + h)) I + sigma(t + h) D, and (sigma(t)/2 + sigma(t + h)) I to its third stage.
// Where cuts of the path move with a parameter there is no such derivative (lane.h).
#ifndef HOPSCOTCH_EQUATIONS_ADJOINT_NOISE_H
#define HOPSCOTCH_EQUATIONS_ADJOINT_NOISE_H

#include "motion.h"

HD bool noise_has_areas(const Motion *m) { return m->d->method == EQUATIONS_BY_sra3; }

typedef struct NoiseStep {
    double increment, area, mean; // D, H, I
} NoiseStep;

// Of a state in the step of an entry; 0: it has no noise.
HD NoiseStep noise_step(const Motion *m, ConstCells entry, int state)
{
    NoiseStep step = {0.0, 0.0, 0.0};
    const int source = (int)asset_integer(m->assets, m->c->sources + 1 + state);
    if (source < 0) return step;
    step.increment = entry_path(m, entry)[source];
    if (noise_has_areas(m)) step.area = entry_path(m, entry)[m->c->n_sources + source];
    step.mean = 0.5 * step.increment + step.area;
    return step;
}
// How it changes with the begin and the length of the step.
HD NoiseStep noise_change(const Motion *m, ConstCells entry, int state, double dt, double dh)
{
    const double h = entry[TRAIL_H];
    NoiseStep step = noise_step(m, entry, state);
    const double area = step.area / h;
    step.increment = m->c->is_map || h == 0.0 ? 0.0 : (step.increment / h - 6.0 * area) * dh - 12.0 * area * dt;
    step.area = m->c->is_map || h == 0.0 ? 0.0 : 2.0 * area * dh;
    step.mean = 0.5 * step.increment + step.area;
    return step;
}

// The arguments are those of the sizes of the noise at the begin of a step (end 0) or at its end (1).
HD void noise_argue(const Motion *m, ConstCells entry, int end)
{
    motion_argue_at(m, entry[TRAIL_T] + (end != 0 ? entry[TRAIL_H] : 0.0), entry_origin(m, entry));
}

// The sizes of the noise in the step of an entry, and what it adds to a stage. The arguments are those of the entry.
HD_CALL void noise_begin(Motion *m, ConstCells entry)
{
    const DerivativeMode *mode = entry_mode(m, entry);
    if (!motion_has_noise(m)) return;
    for (int end = 0; end < (noise_has_areas(m) ? 2 : 1); end++) {
        noise_argue(m, entry, end);
        motion_values(m, &mode->noise, m->sigma + end * m->c->n_states, m->c->n_states);
    }
    for (int i = 0; i < m->c->n_states && noise_has_areas(m); i++)
        m->shift[i] = (0.5 * m->sigma[i] + m->sigma[m->c->n_states + i]) * noise_step(m, entry, i).mean;
}

// to[n_bars] += the bars of what sizes[n_states] depend on, at one end of a step. Returns that of the length.
HD double noise_pull_sizes(const Motion *m, ConstCells entry, int end, ConstCells weight, Cells to)
{
    const DerivativeCode *code = &entry_mode(m, entry)->noise_pull;
    double length = 0.0;
    noise_argue(m, entry, end);
    motion_weigh(m, weight, m->c->n_states);
    motion_run(m, code);
    for (int k = 0; k < code->n_outputs; k++) {
        const int what = motion_what(m, code, k);
        const bool origin = what > SYSTEM_TIME && what <= m->c->n_states;
        to[origin ? m->d->n_inputs + what - SYSTEM_STATE(0) : what] += motion_output(m, code, k);
        if (what == SYSTEM_TIME && end != 0) length += motion_output(m, code, k);
    }
    return length;
}

// next[n_states]: bars of what the noise adds to the state; shift[n_states]: to a stage. Returns the bar of the length.
HD_CALL double noise_pull(const Motion *m, ConstCells entry, ConstCells next, ConstCells shift, Cells to)
{
    const int n = m->c->n_states;
    const Cells weight = m->noise_weight;
    double length = 0.0;
    if (!motion_has_noise(m)) return 0.0;
    for (int i = 0; i < m->c->n_states; i++) {
        const NoiseStep step = noise_step(m, entry, i), by_length = noise_change(m, entry, i, 0.0, 1.0),
                        by_time = noise_change(m, entry, i, 1.0, 0.0);
        const double begin = m->sigma[i], end = m->sigma[n + i];
        double increment = next[i] * begin, mean = 0.0; // their bars
        weight[i] = next[i] * step.increment;
        if (noise_has_areas(m)) {
            weight[i] = (next[i] + 0.5 * shift[i]) * step.mean;
            weight[n + i] = next[i] * (step.increment - step.mean) + shift[i] * step.mean;
            increment = next[i] * end;
            mean = next[i] * (begin - end) + shift[i] * (0.5 * begin + end);
        }
        length += increment * by_length.increment + mean * by_length.mean;
        to[SYSTEM_TIME] += increment * by_time.increment + mean * by_time.mean;
    }
    for (int end = 0; end < (noise_has_areas(m) ? 2 : 1); end++)
        length += noise_pull_sizes(m, entry, end, weight + end * n, to);
    return length;
}

#endif
