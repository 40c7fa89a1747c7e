// Which of the differences of nine steps is the derivative. Wide steps miss the bends of the fitness, with an error
// that falls with the square of the step h; narrow ones see its noise n, rounding at least, as n/h. In between the
// curve of differences has a plateau. A jump of height J within h adds J/(2h): such differences grow as 1/h until h
// leaves the jump out, and are no derivative. At a kink the two sides have different slopes at every step.
#include "gradient.h"

#include <float.h>
#include <math.h>

static bool plateau_both(const GradientSamples *samples, int k)
{
    return !samples->out[2 * k] && !samples->out[2 * k + 1];
}

// Step k's difference, over the distance of the two values as they are rounded.
static double plateau_difference(const GradientRow *row, int k, const GradientSamples *samples)
{
    const bool right = !samples->out[2 * k], left = !samples->out[2 * k + 1];
    if (!right && !left) return (double)NAN;
    const double above = right ? row->value + row->steps[k] : row->value;
    const double below = left ? row->value - row->steps[k] : row->value;
    const double high = right ? samples->fitness[2 * k] : samples->centre;
    const double low = left ? samples->fitness[2 * k + 1] : samples->centre;
    return (high - low) / (above - below);
}

// ---- noise ----------------------------------------------------------------------------------------------------------

// f(x + h) - 2 f(x) + f(x - h): little but noise for small h. With one side alone: f(x + h) - f(x), less ten times that
// of the next step, over ten. NaN: unknown.
static double plateau_bend(const GradientSamples *samples, int k)
{
    if (plateau_both(samples, k))
        return fabs(samples->fitness[2 * k] - 2.0 * samples->centre + samples->fitness[2 * k + 1]);
    const int side = samples->out[2 * k] ? 1 : 0;
    if (k + 1 == GRADIENT_STEPS || samples->out[2 * k + side] || samples->out[2 * (k + 1) + side]) return (double)NAN;
    const double wide = samples->fitness[2 * k + side] - samples->centre;
    const double narrow = samples->fitness[2 * (k + 1) + side] - samples->centre;
    return fabs(wide / 10.0 - narrow);
}

// The noise of a fitness: the middle one of the last three bends, and not less than rounding. *at_jump: these are
// equal, so they are the height of a jump at the value itself, if there is one.
static double plateau_noise(const GradientSamples *samples, bool *at_jump)
{
    enum { BENDS = 3 };
    double bend[BENDS]; // ascending
    int count = 0;
    for (int k = GRADIENT_STEPS - 1; k >= 0 && count < BENDS; k--) {
        const double own = plateau_bend(samples, k);
        if (!isfinite(own)) continue;
        int i = count++;
        for (; i > 0 && bend[i - 1] > own; i--) bend[i] = bend[i - 1];
        bend[i] = own;
    }
    *at_jump = count == BENDS && bend[BENDS - 1] - bend[0] <= 0.1 * bend[0];
    return (count > 0 ? bend[count / 2] : 0.0) + DBL_EPSILON * fabs(samples->centre) + DBL_TRUE_MIN;
}

// The change of the fitness at the narrowest step that changes it, if narrower ones do not: of a fitness with few
// digits, about their unit. 0: every step changes it.
static double plateau_unit(const GradientSamples *samples)
{
    bool flat = false;
    for (int k = GRADIENT_STEPS - 1; k >= 0; k--) {
        const double above = samples->out[2 * k] ? 0.0 : fabs(samples->fitness[2 * k] - samples->centre);
        const double below = samples->out[2 * k + 1] ? 0.0 : fabs(samples->fitness[2 * k + 1] - samples->centre);
        const double change = fmax(above, below);
        if (change > 0.0) return flat ? change : 0.0;
        flat = true;
    }
    return 0.0;
}

// ---- errors ---------------------------------------------------------------------------------------------------------

// Of step k: what noise and the rounding of the value do, and twice how far the nearer neighbour is. The farther one
// counts by the ratio that it has where the error falls with h^2, or with h where only one side has runs: an equal
// neighbour alone is no plateau.
static double plateau_error(const GradientRow *row, const GradientSamples *samples, int k, double noise)
{
    const double *curve = row->curve, wider = k > 0 ? fabs(curve[k] - curve[k - 1]) : (double)NAN;
    const double narrower = k + 1 < GRADIENT_STEPS ? fabs(curve[k + 1] - curve[k]) : (double)NAN;
    const double rounding = noise / row->steps[k] + fabs(curve[k]) * DBL_EPSILON * fabs(row->value) / row->steps[k];
    const double near = fmin(wider, narrower), far = fmax(wider, narrower); // of a number and NaN: the number
    const double ratio = plateau_both(samples, k) ? 0.01 : 0.1;
    return isnan(near) ? (double)INFINITY : fmax(rounding, 2.0 * fmax(near, ratio * far));
}

// ---- jumps and kinks ------------------------------------------------------------------------------------------------

// Steps [first, last] whose differences grow as 1/h.
typedef struct PlateauJump {
    int first, last; // first > last: none
} PlateauJump;

// Three steps or more that show the same jump, far above the noise.
static PlateauJump plateau_jump(const GradientRow *row, double noise)
{
    PlateauJump jump = {GRADIENT_STEPS, -1};
    int pairs = 0;
    for (int k = 0; k + 1 < GRADIENT_STEPS; k++) {
        const double wide = row->curve[k] * row->steps[k], narrow = row->curve[k + 1] * row->steps[k + 1];
        const bool same = fabs(wide - narrow) <= 0.1 * fabs(narrow) && fabs(narrow) > 10.0 * noise;
        pairs = same ? pairs + 1 : 0;
        if (pairs == 2 && jump.last < 0) jump.first = k - 1;
        if (pairs >= 2) jump.last = k + 1;
    }
    return jump;
}

// The slope above the value less that below it, by step k.
static double plateau_kink_at(const GradientRow *row, int k, const GradientSamples *samples)
{
    const double bend = samples->fitness[2 * k] - 2.0 * samples->centre + samples->fitness[2 * k + 1];
    return plateau_both(samples, k) ? bend / row->steps[k] : (double)NAN;
}

// The difference of the slopes of the two sides, if three steps from the chosen one on agree in it; else 0.
static double plateau_kink(const GradientRow *row, int chosen, const GradientSamples *samples)
{
    const int first = chosen + 3 <= GRADIENT_STEPS ? chosen : GRADIENT_STEPS - 3;
    const double kink = plateau_kink_at(row, first + 2, samples);
    for (int k = first; k < first + 2; k++) {
        if (!(fabs(plateau_kink_at(row, k, samples) - kink) <= 0.05 * fabs(kink))) return 0.0;
    }
    return fabs(kink);
}

// Whether the slopes of the two sides differ by the same at steps k and k + 1, by much more than `error`.
static bool plateau_sides_differ(const GradientRow *row, int k, const GradientSamples *samples, double error)
{
    if (k + 1 >= GRADIENT_STEPS) return false;
    const double wide = plateau_kink_at(row, k, samples), narrow = plateau_kink_at(row, k + 1, samples);
    return fabs(wide) > 4.0 * error && fabs(wide - narrow) <= 0.2 * fabs(wide);
}

// ---- all of it ------------------------------------------------------------------------------------------------------

// The step with the least error, apart from those that show the jump; -1: none.
static int plateau_choose(const GradientRow *row, const GradientSamples *samples, PlateauJump jump, double noise,
                          double *least)
{
    int chosen = -1;
    *least = (double)INFINITY;
    for (int k = 0; k < GRADIENT_STEPS; k++) {
        const double error = plateau_error(row, samples, k, noise);
        if (!(error < *least) || (k >= jump.first && k <= jump.last)) continue;
        *least = error;
        chosen = k;
    }
    return chosen;
}

void gradient_plateau(GradientRow *row, const GradientSamples *samples)
{
    bool at_jump;
    double least;
    for (int k = 0; k < GRADIENT_STEPS; k++) row->curve[k] = plateau_difference(row, k, samples);
    const double noise = plateau_noise(samples, &at_jump), unit = plateau_unit(samples);
    const PlateauJump jump = plateau_jump(row, at_jump ? DBL_EPSILON * fabs(samples->centre) : noise);
    const bool jumps = jump.last >= 0;
    row->difference = row->error = row->step = (double)NAN;
    row->remark = jumps ? "a discontinuity near" : "";
    int chosen = plateau_choose(row, samples, jump, fmax(noise, unit), &least);
    if (unit > 0.0 && (chosen < 0 || least > 0.5 * fabs(row->curve[chosen]) ||
                       plateau_sides_differ(row, chosen, samples, least))) // no few digits: it is flat here
        chosen = plateau_choose(row, samples, jump, noise, &least);
    if (chosen < 0 || (jumps && least > 0.5 * fabs(row->curve[chosen]))) return; // no step leaves the jump out
    row->difference = row->curve[chosen];
    row->error = least;
    row->step = row->steps[chosen];
    const double kink = jumps ? 0.0 : plateau_kink(row, chosen, samples);
    if (kink <= 10.0 * least) return;
    row->error = fmax(least, kink / 2.0); // reaches the slopes of both sides
    row->remark = "a kink: the slopes of the two sides differ";
}
