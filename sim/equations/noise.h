// The Brownian motion of systems with noise: dy = f dt + sigma dW, by Ito, with a source W per state or per name.
//
// Time is divided into intervals of dt. The increment D = W(dt) - W(0) of a source over an interval, and its space-time
// area H = (1/dt) integral of W - D/2, which methods of order 1.5 need, are functions of the lane's seed, the number of
// the interval and the source: D is N(0, dt), H is N(0, dt/12), and they are independent. So the path is the same
// whatever the batch, the device, and what else happens in the system.
//
// A step ends within an interval for two reasons. An instant known beforehand cuts the path at a point of the bridge
// between the interval's ends: W there is drawn under the condition of D and H (J. Foster, Numerical approximations for
// stochastic differential equations, thesis, Oxford 2020, chapter 6). The step up to it has its part, and the rest of
// the interval has what remains.
//
// An event is located where the curve that is expected under D and H takes the state. Its step has the increment of the
// curve up to there, and what remains of D is not drawn anew: an interval in which a guard turns is not an interval of
// average noise, so a new draw would shift every passage. That loss would be 0.58 sigma sqrt(dt) at each event.
#ifndef HOPSCOTCH_EQUATIONS_NOISE_H
#define HOPSCOTCH_EQUATIONS_NOISE_H

#include "../philox_lanes.h"
#include "lane.h"

enum { EQUATIONS_DRAW_NOISE = 6 }; // purpose of a random number, beside those of ../sim.h and ../environment.h

HD bool equations_has_noise(const EquationsLane *lane) { return lane->c->n_sources > 0; }
HD bool equations_has_areas(EquationsMethod method) { return EQUATIONS_IS(method, sra3); }

// Where the numbers of the noise stand in the frame. Kept: the state in which the piece begins, then of sources the
// increments and the areas (of methods that have them) of the piece and of the rest.
HD int equations_origin(const EquationsLane *lane) { return lane->c->path; }
HD int equations_piece(const EquationsLane *lane) { return lane->c->path + lane->c->n_states; }
HD int equations_rest_of_path(const EquationsLane *lane) { return equations_piece(lane) + 2 * lane->c->n_sources; }
// Of a step: increments and areas of sources; sizes of the noise of states, at its begin and its end; of all numbers
// what the noise adds, and by how much it bends.
HD int equations_stepped(const EquationsLane *lane) { return lane->c->noise; }
HD int equations_sigma(const EquationsLane *lane) { return lane->c->noise + 2 * lane->c->n_sources; }
HD int equations_sigma_end(const EquationsLane *lane) { return equations_sigma(lane) + lane->c->n_states; }
HD int equations_noise_change(const EquationsLane *lane) { return equations_sigma_end(lane) + lane->c->n_states; }
HD int equations_noise_bend(const EquationsLane *lane) { return equations_noise_change(lane) + lane->c->n_total; }

// The table of noise: how often a step is halved near a guard, then the source of each state, -1: none.
HD int equations_halvings(const EquationsLane *lane) { return equations_integer(lane, lane->c->sources); }
HD int equations_source(const EquationsLane *lane, int state)
{
    return equations_integer(lane, lane->c->sources + 1 + state);
}

// Two normal numbers of a source (Box & Muller 1958), for the lane's interval and the number of its cuts.
HD_CALL void equations_draw(const EquationsLane *UNALIASED lane, int source, real *first, real *second)
{
    const EquationsConstants *c = lane->c;
    const real seed = frame_get(lane->file, SYSTEM_PARAMETER(c->n_states, c->n_held, c->n_parameters - 1));
    const real interval = clamped(equations_named(lane, EQUATIONS_GRID), splat(0.0), splat(1e15)),
               cuts = clamped(equations_named(lane, EQUATIONS_CUTS), splat(0.0), splat(4294967295.0));
    real u, v, sine_of, cosine_of;
    philox_uniforms(interval, cuts, (uint32_t)EQUATIONS_DRAW_NOISE << 16 | (uint32_t)source, seed, &u, &v);
    const real radius = square_root(-2.0 * logarithm(u));
    sine_cosine(6.283185307179586 * v, &sine_of, &cosine_of);
    *first = radius * cosine_of;
    *second = radius * sine_of;
}

// ---- pieces of an interval ------------------------------------------------------------------------------------------
// A piece is what a step tries to go through. The rest lies behind it, up to the end of the interval.

// Increment and area over a stretch of time. at: of its source in the frame.
typedef struct EquationsStretch {
    real increment, area;
} EquationsStretch;

HD EquationsStretch equations_stretch(const EquationsLane *lane, EquationsMethod method, int at)
{
    EquationsStretch stretch = {frame_get(lane->frame, at), splat(0.0)};
    if (equations_has_areas(method)) stretch.area = frame_get(lane->frame, at + lane->c->n_sources);
    return stretch;
}

HD void equations_set_stretch(const EquationsLane *lane, EquationsMethod method, int at, EquationsStretch stretch,
                              mask which)
{
    frame_put(lane->frame, at, stretch.increment, which);
    if (equations_has_areas(method)) frame_put(lane->frame, at + lane->c->n_sources, stretch.area, which);
}

// The part up to `a` of a stretch of `length`, on the bridge between its ends; *rest <- what is behind it. By the
// covariances of W(a) and its area with those of the stretch, r = a/length:
//     E W(a) = r D + 6 r (1 - r) H,  E H(a) = r^2 H,  Var W(a) = a (1 - r) (1 - 3 r (1 - r)),
//     Cov = -a r^2 (1 - r) / 2,      Var(H(a) | W(a)) = a (1 - r)^3 / (12 (1 - 3 r (1 - r))).
HD EquationsStretch equations_bridge(EquationsMethod method, EquationsStretch whole, real a, real length, real first,
                                     real second, EquationsStretch *rest)
{
    const real r = a / length, left = (length - a) / length, both = r * left;
    EquationsStretch part = {fused(square_root(a * left), first, r * whole.increment), splat(0.0)};
    rest->area = splat(0.0);
    if (equations_has_areas(method)) {
        const real shape = 1.0 - 3.0 * both, deviation = square_root(a * left * shape);
        const real moved = deviation * first;
        const real turned = fused(square_root(a * left * left * left / (12.0 * shape)), second,
                                  -0.5 * a * r * both / deviation * first);
        part.increment = fused(6.0 * both, whole.area, fused(r, whole.increment, moved));
        part.area = fused(r * r, whole.area, turned);
        rest->area = fused(left * left, whole.area, -fused(a, turned, 0.5 * length * moved) / (length - a));
    }
    rest->increment = whole.increment - part.increment;
    return part;
}

// Two stretches, one behind the other, as one.
HD EquationsStretch equations_joined(EquationsStretch a, real a_length, EquationsStretch b, real b_length)
{
    const real length = a_length + b_length, increment = a.increment + b.increment;
    const real sum = a_length * fused(splat(0.5), a.increment, a.area) +
                     b_length * (fused(splat(0.5), b.increment, b.area) + a.increment);
    const EquationsStretch both = {increment, fused(splat(-0.5), increment, sum / length)};
    return both;
}

// Cuts the piece from t at `end`, in the lanes of `which`.
HD_CALL void equations_cut(const EquationsLane *UNALIASED lane, EquationsMethod method, real t, real grid, real end,
                           mask which)
{
    const EquationsConstants *c = lane->c;
    const real piece_end = equations_named(lane, EQUATIONS_PIECE_END), behind = grid - piece_end;
    equations_name(lane, EQUATIONS_CUTS, equations_named(lane, EQUATIONS_CUTS) + 1.0, which);
    FRAME_EACH
    for (int s = 0; s < c->n_sources; s++) {
        real first, second;
        EquationsStretch rest;
        equations_draw(lane, s, &first, &second);
        const EquationsStretch piece = equations_stretch(lane, method, equations_piece(lane) + s),
                               old = equations_stretch(lane, method, equations_rest_of_path(lane) + s);
        const EquationsStretch part = equations_bridge(method, piece, end - t, piece_end - t, first, second, &rest);
        const EquationsStretch joined = equations_joined(rest, piece_end - end, old, behind);
        rest.area = select_real(MASK(behind > 0.0), joined.area, rest.area);
        rest.increment = joined.increment;
        equations_set_stretch(lane, method, equations_piece(lane) + s, part, which);
        equations_set_stretch(lane, method, equations_rest_of_path(lane) + s, rest, which);
    }
    equations_name(lane, EQUATIONS_PIECE_END, end, which);
}

// Opens a piece in the lanes that have none: a new interval, or the rest of one that is cut. It ends at `deadline`, the
// next instant at which a step must end, or before. Returns its end. The noise of a piece has the size that it has
// where the piece begins (`origin`): a size from inside it would depend on the increment, which is not Ito's integral.
HD_CALL real equations_open_piece(const EquationsLane *UNALIASED lane, EquationsMethod method, real t, real grid,
                                  real deadline, mask which)
{
    const EquationsConstants *c = lane->c;
    const mask opens = which & MASK(equations_named(lane, EQUATIONS_OPEN) == 0.0),
               anew = opens & MASK(equations_named(lane, EQUATIONS_CUTS) == 0.0);
    if (any_lane(opens)) {
        equations_name(lane, EQUATIONS_OPEN, splat(1.0), opens);
        equations_name(lane, EQUATIONS_PIECE_END, grid, opens);
        FRAME_EACH
        for (int s = 0; s < c->n_sources; s++) {
            const EquationsStretch none = {splat(0.0), splat(0.0)};
            EquationsStretch piece = equations_stretch(lane, method, equations_rest_of_path(lane) + s);
            if (any_lane(anew)) {
                real first, second;
                equations_draw(lane, s, &first, &second);
                piece.increment = select_real(anew, square_root(splat(c->dt)) * first, piece.increment);
                piece.area = select_real(anew, square_root(splat(c->dt / 12.0)) * second, piece.area);
            }
            equations_set_stretch(lane, method, equations_piece(lane) + s, piece, opens);
            equations_set_stretch(lane, method, equations_rest_of_path(lane) + s, none, opens);
        }
        FRAME_EACH
        for (int i = 0; i < c->n_states; i++)
            frame_put(lane->frame, equations_origin(lane) + i, frame_get(lane->frame, c->y + i), opens);
    }
    const mask cut = which & MASK(deadline < equations_named(lane, EQUATIONS_PIECE_END));
    if (any_lane(cut)) equations_cut(lane, method, t, grid, deadline, cut);
    return equations_named(lane, EQUATIONS_PIECE_END);
}

// The part of a piece, `left` long, that a step of length h goes through: all of it, or in the lanes of `landing` that
// up to an event.
HD real equations_part_of_piece(real h, real left, mask landing)
{
    const real part = select_real(MASK(left > 0.0), lesser_of(h / left, splat(1.0)), splat(1.0));
    return select_real(landing, part, splat(1.0));
}

// step_increment, step_area <- those of the step: on the curve that is expected between the ends of the piece.
HD_CALL void equations_take_path(const EquationsLane *UNALIASED lane, EquationsMethod method, real part)
{
    const EquationsConstants *c = lane->c;
    FRAME_EACH
    for (int s = 0; s < c->n_sources; s++) {
        const EquationsStretch piece = equations_stretch(lane, method, equations_piece(lane) + s);
        const real bent = 6.0 * part * (1.0 - part) * piece.area;
        const EquationsStretch step = {fused(part, piece.increment, bent), part * part * piece.area};
        equations_set_stretch(lane, method, equations_stepped(lane) + s, step, all_lanes());
    }
}

// What of the piece remains behind an event, in the lanes of `landed`; those of `done` have gone through it, and those
// of `next` are at the end of their interval.
HD_CALL void equations_leave_path(const EquationsLane *UNALIASED lane, EquationsMethod method, real part, mask landed,
                                  mask done, mask next)
{
    const EquationsConstants *c = lane->c;
    FRAME_EACH
    for (int s = 0; s < c->n_sources && any_lane(landed); s++) {
        const EquationsStretch piece = equations_stretch(lane, method, equations_piece(lane) + s);
        const EquationsStretch left = {piece.increment - frame_get(lane->frame, equations_stepped(lane) + s),
                                       (1.0 - part) * (1.0 - part) * piece.area};
        equations_set_stretch(lane, method, equations_piece(lane) + s, left, landed);
    }
    equations_name(lane, EQUATIONS_OPEN, splat(0.0), done);
    equations_name(lane, EQUATIONS_CUTS, splat(0.0), done & next);
}

// ---- the size of the noise ------------------------------------------------------------------------------------------

// sigma[n_states] <- sizes of the noise at time t. Where they depend on states: on those in which the piece begins.
HD_CALL void equations_sizes_of_noise(const EquationsLane *UNALIASED lane, int sigma, real t, mask which)
{
    equations_argue(lane, equations_origin(lane));
    equations_at(lane, t);
    equations_of_modes(lane, EQUATIONS_MODE_NOISE, sigma, lane->c->n_states, which);
}

// The increment of the source of a state in this step, and its mean over the step: (1/h) integral of W. 0: it has none.
HD real equations_step_increment(const EquationsLane *lane, int state)
{
    const int source = equations_source(lane, state);
    return source >= 0 ? frame_get(lane->frame, equations_stepped(lane) + source) : splat(0.0);
}
HD real equations_step_mean(const EquationsLane *lane, int state)
{
    const int source = equations_source(lane, state);
    if (source < 0) return splat(0.0);
    return fused(splat(0.5), frame_get(lane->frame, equations_stepped(lane) + source),
                 frame_get(lane->frame, equations_stepped(lane) + lane->c->n_sources + source));
}

#endif
