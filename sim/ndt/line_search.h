// The length of the step: minimises phi(alpha) = -score(pose + alpha delta), from alpha = 0 up to the alpha at which
// the step has the length `step_size`.
//   none          the whole step, shortened to step_size; no trial
//   more_thuente  J. J. More & D. J. Thuente, Line search algorithms with guaranteed sufficient decrease,
//                 ACM TOMS 20(3), 1994; mu = 1e-4, nu = 0.9, at most NDT_TRIALS_MAX trials
//   batched       alpha = 0.618^k of the shortened step, k = 0 .. 7, which a device can try together
// A trial that meets the strong Wolfe conditions ends the search: the first one, for batched the longest. If none does,
// the trial of the best score is taken, if that is above the score at the start; else the step is 0.
#ifndef HOPSCOTCH_NDT_LINE_SEARCH_H
#define HOPSCOTCH_NDT_LINE_SEARCH_H

#include "solve.h"

enum { NDT_TRIALS_MAX = 10, NDT_CANDIDATES = 8 };
#define NDT_MU 1e-4
#define NDT_NU 0.9
#define NDT_SHRINK 0.618

// phi and its derivative at one alpha
typedef struct NdtTrial {
    double alpha, f, g;
} NdtTrial;

typedef struct NdtSearch {
    const NdtTask *task;
    const double *pose; // at alpha = 0
    const NdtDelta *delta;
    NdtTrial start, best; // alpha = 0; the trial of the best score so far
    NdtSums sums;         // of the best trial, if its alpha is not 0
    bool found;           // a trial met the strong Wolfe conditions; it is `best`
    int evaluations;
} NdtSearch;

HD void ndt_move(const double *pose, const NdtDelta *delta, double alpha, double *out)
{
    for (int i = 0; i < NDT_POSE; i++) out[i] = pose[i] + alpha * delta->at[i];
}

// Their equations 1.1 and 1.2.
HD bool ndt_is_wolfe(const NdtTrial *start, const NdtTrial *t)
{
    return t->f <= start->f + NDT_MU * t->alpha * start->g && ndt_size(t->g) <= NDT_NU * ndt_size(start->g);
}

HD NdtTrial ndt_try(NdtSearch *search, double alpha)
{
    double pose[NDT_POSE];
    NdtSums sums;
    NdtTrial t;
    ndt_move(search->pose, search->delta, alpha, pose);
    ndt_value(search->task, pose, &sums);
    search->evaluations++;
    t.alpha = alpha;
    t.f = -sums.at[NDT_SCORE];
    t.g = -ndt_dot6(sums.at + NDT_GRADIENT, search->delta->at);
    search->found = ndt_is_wolfe(&search->start, &t);
    if (search->found || t.f < search->best.f) {
        search->best = t;
        search->sums = sums;
    }
    return t;
}

// ---- More and Thuente -----------------------------------------------------------------------------------------------

// The minimiser of the cubic through two points (their equation 4.1, by the formula of section 4).
HD double ndt_cubic(const NdtTrial *a, const NdtTrial *b)
{
    const double z = 3.0 * (a->f - b->f) / (b->alpha - a->alpha) + a->g + b->g, inner = z * z - a->g * b->g;
    const double w = ndt_root(inner > 0.0 ? inner : 0.0), turn = b->alpha > a->alpha ? w : -w;
    return b->alpha - (b->alpha - a->alpha) * (b->g + turn - z) / (b->g - a->g + 2.0 * turn);
}

// the minimiser of the parabola through both with the slope of the first; of the one with both slopes
HD double ndt_parabola(const NdtTrial *a, const NdtTrial *b)
{
    const double width = b->alpha - a->alpha;
    return a->alpha + 0.5 * a->g * width * width / (a->f - b->f + a->g * width);
}
HD double ndt_secant(const NdtTrial *a, const NdtTrial *b)
{
    return b->alpha - b->g * (b->alpha - a->alpha) / (b->g - a->g);
}

HD double ndt_nearer(double to, double a, double b) { return ndt_size(a - to) < ndt_size(b - to) ? a : b; }
HD double ndt_farther(double to, double a, double b) { return ndt_size(a - to) < ndt_size(b - to) ? b : a; }

// The next alpha to try (section 4, cases 1 to 4). low: the end of the interval with the least value; high: the other
// end, if the minimum is between them.
HD double ndt_next(const NdtTrial *low, const NdtTrial *high, const NdtTrial *t, bool between, double most)
{
    if (t->f > low->f) {
        const double cubic = ndt_cubic(low, t), parabola = ndt_parabola(low, t);
        return ndt_size(cubic - low->alpha) < ndt_size(parabola - low->alpha) ? cubic : 0.5 * (cubic + parabola);
    }
    if (t->g * low->g < 0.0) return ndt_farther(t->alpha, ndt_cubic(low, t), ndt_secant(low, t));
    if (ndt_size(t->g) <= ndt_size(low->g)) {
        const double cubic = ndt_cubic(low, t), secant = ndt_secant(low, t);
        const bool onward = (cubic - t->alpha) * (t->alpha - low->alpha) > 0.0;
        const double next = onward ? ndt_nearer(t->alpha, cubic, secant) : secant;
        if (!between) return next;
        const double limit = t->alpha + 0.66 * (high->alpha - t->alpha);
        return (t->alpha > low->alpha) == (next > limit) ? limit : next;
    }
    if (between) return ndt_cubic(high, t);
    return t->alpha > low->alpha ? most : 0.0;
}

// f minus its line of sufficient decrease: their psi
HD NdtTrial ndt_lowered(const NdtTrial *start, const NdtTrial *t)
{
    NdtTrial psi = *t;
    psi.f = t->f - start->f - NDT_MU * start->g * t->alpha;
    psi.g = t->g - NDT_MU * start->g;
    return psi;
}

HD void ndt_more_thuente(NdtSearch *search, double first, double most)
{
    NdtTrial low = ndt_lowered(&search->start, &search->start), high = low;
    bool between = false, lowered = true;
    double alpha = first;
    for (int k = 0; k < NDT_TRIALS_MAX; k++) {
        const NdtTrial phi = ndt_try(search, alpha);
        NdtTrial t = ndt_lowered(&search->start, &phi);
        if (search->found || (alpha >= most && t.f <= 0.0 && t.g <= 0.0)) return;
        if (lowered && t.f <= 0.0 && phi.g >= 0.0) { // from now on phi (the modified algorithm of section 3)
            const double slope = NDT_MU * search->start.g;
            lowered = false;
            low.f += search->start.f + slope * low.alpha;
            high.f += search->start.f + slope * high.alpha;
            low.g += slope;
            high.g += slope;
        }
        if (!lowered) t = phi;
        double next = ndt_next(&low, &high, &t, between, most);
        if (t.f > low.f) {
            high = t;
            between = true;
        } else {
            if (t.g * (low.alpha - t.alpha) < 0.0) {
                high = low;
                between = true;
            }
            low = t;
        }
        const double one = between ? high.alpha : most, least = low.alpha < one ? low.alpha : one;
        const double greatest = low.alpha < one ? one : low.alpha;
        if (!(next > least && next <= greatest)) next = 0.5 * (least + greatest);
        if (next == alpha) return;
        alpha = next;
    }
}

// ---- all of them ----------------------------------------------------------------------------------------------------

HD void ndt_batched(NdtSearch *search, double first)
{
    double alpha = first;
    for (int k = 0; k < NDT_CANDIDATES && !search->found; k++, alpha *= NDT_SHRINK) ndt_try(search, alpha);
}

// Factor that shortens a step of the length `size` to step_size.
HD double ndt_shortened(double size, double step_size) { return size <= step_size ? 1.0 : step_size / size; }

// alpha of the step from `pose`, which has the sums `sums`; 0: it stalls. After a search the sums are those of the new
// pose, and *known is true.
HD double ndt_line_search(NdtLineSearch kind, const NdtTask *task, const double *pose, const NdtDelta *delta,
                          double step_size, NdtSums *sums, bool *known, int *evaluations)
{
    const double size = ndt_norm6(delta->at), first = ndt_shortened(size, step_size);
    NdtSearch search;
    *known = false;
    if (!(size > 0.0)) return 0.0;
    if (kind == NDT_NO_SEARCH) return first;
    search.task = task;
    search.pose = pose;
    search.delta = delta;
    search.start.alpha = 0.0;
    search.start.f = -sums->at[NDT_SCORE];
    search.start.g = -ndt_dot6(sums->at + NDT_GRADIENT, delta->at);
    search.best = search.start;
    search.found = false;
    search.evaluations = 0;
    if (kind == NDT_MORE_THUENTE)
        ndt_more_thuente(&search, first, step_size / size);
    else
        ndt_batched(&search, first);
    *evaluations += search.evaluations;
    *known = search.best.alpha > 0.0;
    if (*known) *sums = search.sums;
    return search.best.alpha;
}

#endif
