// The kernel of the benchmark functions: one tick is one evaluation. Numbers and names as in N. Hansen, S. Finck, R.
// Ros & A. Auger, Real-parameter black-box optimization benchmarking 2009: noiseless functions definitions, INRIA
// research report RR-6829. f_opt is 0: the value is the distance to the optimal value. The penalty f_pen of points
// beyond [-5, 5] is left out where it is always 0, because the parameters' range ends there.
#ifndef HOPSCOTCH_BBOB_ADVANCE_H
#define HOPSCOTCH_BBOB_ADVANCE_H

#include "../samples.h"
#include "../portable_math.h"
#include "bbob.h"

#define BBOB_TWO_PI 6.283185307179586

// Arguments of a function: the constants, the assets, and the point.
typedef struct BbobPoint {
    const BbobConstants *c;
    const double *assets, *weight;
    int d;
    real x[BBOB_DIMENSIONS_MAX]; // the point, then its transformed values
    real y[BBOB_DIMENSIONS_MAX]; // scratch for a linear map
} BbobPoint;

// ---- transformations (section 0.2) ----------------------------------------------------------------------------------

// x_i - x_opt_i
HD real bbob_offset(const LaneGroup *group, const double *x_opt, int i)
{
    return lanes_parameter(group, i) - splat(x_opt[i]);
}

HD real bbob_square(real x) { return x * x; }

// x <- M x, M[d][d]
HD void bbob_map(BbobPoint *p, const double *matrix)
{
    for (int i = 0; i < p->d; i++) {
        p->y[i] = splat(0.0);
        for (int j = 0; j < p->d; j++) p->y[i] = fused(splat(matrix[i * p->d + j]), p->x[j], p->y[i]);
    }
    for (int i = 0; i < p->d; i++) p->x[i] = p->y[i];
}

HD void bbob_map_A(BbobPoint *p) { bbob_map(p, p->assets + BBOB_AT_A * p->d); }
HD void bbob_map_B(BbobPoint *p) { bbob_map(p, p->assets + BBOB_AT_B(p->d)); }

// T_osz of one number: small irregularities; exp(l + 0.049 (sin(c1 l) + sin(c2 l))) with l = ln |x|, and the sign of x.
HD real bbob_oscillated(real x)
{
    const mask positive = MASK(x > splat(0.0)), zero = MASK(x == splat(0.0));
    const real l = logarithm(select_real(zero, splat(1.0), absolute(x)));
    const real c1 = select_real(positive, splat(10.0), splat(5.5));
    const real c2 = select_real(positive, splat(7.9), splat(3.1));
    const real image = exponential(l + 0.049 * (sine(c1 * l) + sine(c2 * l)));
    return select_real(zero, x, select_real(positive, image, -image));
}

HD void bbob_oscillate(BbobPoint *p)
{
    for (int i = 0; i < p->d; i++) p->x[i] = bbob_oscillated(p->x[i]);
}

// T_asy^beta: x_i^(1 + beta (i-1)/(D-1) sqrt(x_i)) where x_i > 0.
HD void bbob_skew(BbobPoint *p, double beta)
{
    for (int i = 0; i < p->d; i++) {
        const mask positive = MASK(p->x[i] > splat(0.0));
        const real x = select_real(positive, p->x[i], splat(1.0));
        const real exponent = fused(splat(beta * i / (p->d - 1)), square_root(x), splat(1.0));
        p->x[i] = select_real(positive, power(x, exponent), p->x[i]);
    }
}

HD real bbob_floor(real x)
{
    const real near = math_nearest(x);
    return select_real(MASK(near > x), near - 1.0, near);
}

// 10 (D - sum of cos(2 pi z_i)) + |z|^2
HD real bbob_ripples(const BbobPoint *p)
{
    real waves = splat(0.0), square = splat(0.0);
    for (int i = 0; i < p->d; i++) {
        waves = waves + cosine(BBOB_TWO_PI * p->x[i]);
        square = fused(p->x[i], p->x[i], square);
    }
    return fused(splat(10.0), splat((double)p->d) - waves, square);
}

// sum of weight_i z_i^2
HD real bbob_weighted(const BbobPoint *p)
{
    real sum = splat(0.0);
    for (int i = 0; i < p->d; i++) sum = fused(p->weight[i] * p->x[i], p->x[i], sum);
    return sum;
}

// ---- separable functions --------------------------------------------------------------------------------------------

// f1, sphere: |x - x_opt|^2
HD real bbob_f1(const BbobConstants *c, const double *x_opt, const LaneGroup *group)
{
    real sum = splat(0.0);
    for (int i = 0; i < c->dimension; i++) {
        const real z = bbob_offset(group, x_opt, i);
        sum = fused(z, z, sum);
    }
    return sum;
}

// f2 and, after the rotation, f10: ellipsoids of condition 10^6
HD real bbob_ellipsoid(BbobPoint *p)
{
    bbob_oscillate(p);
    return bbob_weighted(p);
}

// f3, Rastrigin; weight: Lambda^10
HD real bbob_f3(BbobPoint *p)
{
    bbob_oscillate(p);
    bbob_skew(p, 0.2);
    for (int i = 0; i < p->d; i++) p->x[i] = p->weight[i] * p->x[i];
    return bbob_ripples(p);
}

// f4, Bueche-Rastrigin; weight: 10^(1/2 (i-1)/(D-1)), tenfold for positive z_i of odd i
HD real bbob_f4(BbobPoint *p)
{
    bbob_oscillate(p);
    for (int i = 0; i < p->d; i++) {
        const mask steep = i % 2 == 0 ? MASK(p->x[i] > splat(0.0)) : no_lanes();
        p->x[i] = select_real(steep, splat(10.0 * p->weight[i]), splat(p->weight[i])) * p->x[i];
    }
    return bbob_ripples(p);
}

// f5, linear slope: x_opt is a corner; weight: 10^((i-1)/(D-1)). In x - x_opt, which is never beyond the corner.
HD real bbob_f5(BbobPoint *p)
{
    real sum = splat(0.0);
    for (int i = 0; i < p->d; i++) sum = fused(splat(p->weight[i]), absolute(p->x[i]), sum);
    return sum;
}

// ---- functions of low or moderate condition -------------------------------------------------------------------------

// f6, attractive sector; A = Q Lambda^10 R
HD real bbob_f6(BbobPoint *p)
{
    real sum = splat(0.0);
    bbob_map_A(p);
    for (int i = 0; i < p->d; i++) {
        const mask uphill = MASK(p->x[i] * p->assets[i] > splat(0.0));
        const real z = select_real(uphill, 100.0 * p->x[i], p->x[i]);
        sum = fused(z, z, sum);
    }
    return power(bbob_oscillated(sum), splat(0.9));
}

// f7, step ellipsoid; A = Lambda^10 R, B = Q, weight: 10^(2 (i-1)/(D-1))
HD real bbob_f7(BbobPoint *p)
{
    bbob_map_A(p);
    const real first = 1e-4 * absolute(p->x[0]);
    for (int i = 0; i < p->d; i++) {
        const mask far = MASK(absolute(p->x[i]) > splat(0.5));
        const real coarse = bbob_floor(0.5 + p->x[i]),
                   fine = bbob_floor(fused(splat(10.0), p->x[i], splat(0.5))) / 10.0;
        p->x[i] = select_real(far, coarse, fine);
    }
    bbob_map_B(p);
    return 0.1 * greater_of(first, bbob_weighted(p));
}

// f8, Rosenbrock: sum of 100 (z_i^2 - z_i+1)^2 + (z_i - 1)^2, z = scale (x - x_opt) + 1
HD real bbob_f8(const BbobConstants *c, const double *x_opt, const LaneGroup *group)
{
    const real one = splat(1.0), scale = splat(c->scale);
    real sum = splat(0.0), z = fused(scale, bbob_offset(group, x_opt, 0), one);
    for (int i = 1; i < c->dimension; i++) {
        const real next = fused(scale, bbob_offset(group, x_opt, i), one);
        const real bend = fused(z, z, -next), rest = z - one;
        sum = fused(100.0 * bend, bend, sum);
        sum = fused(rest, rest, sum);
        z = next;
    }
    return sum;
}

// z = scale R (x - x_opt) + 1, which is scale R x + 1/2, because R x_opt = 1/(2 scale)
HD void bbob_valley(BbobPoint *p)
{
    bbob_map_A(p);
    for (int i = 0; i < p->d; i++) p->x[i] = fused(splat(p->c->scale), p->x[i], splat(1.0));
}

// One term of Rosenbrock's sum
HD real bbob_bend(const BbobPoint *p, int i)
{
    const real bend = fused(p->x[i], p->x[i], -p->x[i + 1]), rest = p->x[i] - 1.0;
    return fused(100.0 * bend, bend, rest * rest);
}

// f9, Rosenbrock, rotated
HD real bbob_f9(BbobPoint *p)
{
    real sum = splat(0.0);
    bbob_valley(p);
    for (int i = 0; i + 1 < p->d; i++) sum = sum + bbob_bend(p, i);
    return sum;
}

// ---- functions of high condition, one valley ------------------------------------------------------------------------

// f10, ellipsoid; f11, discus: the same with other weights
HD real bbob_f10(BbobPoint *p)
{
    bbob_map_A(p);
    return bbob_ellipsoid(p);
}

// f12, bent cigar; B = R
HD real bbob_f12(BbobPoint *p)
{
    bbob_map_A(p);
    bbob_skew(p, 0.5);
    bbob_map_B(p);
    return bbob_weighted(p);
}

// f13, sharp ridge; A = Q Lambda^10 R
HD real bbob_f13(BbobPoint *p)
{
    real rest = splat(0.0);
    bbob_map_A(p);
    for (int i = 1; i < p->d; i++) rest = fused(p->x[i], p->x[i], rest);
    return fused(splat(100.0), square_root(rest), p->x[0] * p->x[0]);
}

// f14, different powers; weight: the exponents 2 + 4 (i-1)/(D-1)
HD real bbob_f14(BbobPoint *p)
{
    real sum = splat(0.0);
    bbob_map_A(p);
    for (int i = 0; i < p->d; i++) sum = sum + power(absolute(p->x[i]), splat(p->weight[i]));
    return square_root(sum);
}

// ---- many valleys on a global structure -----------------------------------------------------------------------------

// f15, Rastrigin, rotated; B = R Lambda^10 Q
HD real bbob_f15(BbobPoint *p)
{
    bbob_map_A(p);
    bbob_oscillate(p);
    bbob_skew(p, 0.2);
    bbob_map_B(p);
    return bbob_ripples(p);
}

// f16, Weierstrass; B = R Lambda^1/100 Q
HD real bbob_f16(BbobPoint *p)
{
    real sum = splat(0.0);
    bbob_map_A(p);
    bbob_oscillate(p);
    bbob_map_B(p);
    for (int i = 0; i < p->d; i++) {
        real waves = splat(0.0);
        double amplitude = 1.0, frequency = BBOB_TWO_PI;
        for (int k = 0; k < 12; k++) {
            waves = fused(splat(amplitude), cosine(frequency * (p->x[i] + 0.5)), waves);
            amplitude *= 0.5;
            frequency *= 3.0;
        }
        sum = sum + (waves - p->c->rest);
    }
    const real above = sum / (double)p->d;
    return 10.0 * (above * above * above);
}

// f17, Schaffers F7, and f18, ill-conditioned; B = Lambda^10 Q or Lambda^1000 Q
HD real bbob_f17(BbobPoint *p)
{
    real sum = splat(0.0);
    bbob_map_A(p);
    bbob_skew(p, 0.5);
    bbob_map_B(p);
    for (int i = 0; i + 1 < p->d; i++) {
        const real s = square_root(fused(p->x[i], p->x[i], p->x[i + 1] * p->x[i + 1]));
        const real wave = sine(50.0 * power(s, splat(0.2))), root = square_root(s);
        sum = sum + fused(root, wave * wave, root);
    }
    return bbob_square(sum / (double)(p->d - 1));
}

// f19, Griewank-Rosenbrock
HD real bbob_f19(BbobPoint *p)
{
    real sum = splat(0.0);
    bbob_valley(p);
    for (int i = 0; i + 1 < p->d; i++) {
        const real s = bbob_bend(p, i);
        sum = sum + (s / 4000.0 - cosine(s));
    }
    return 10.0 * (sum / (double)(p->d - 1)) + 10.0;
}

// ---- many valleys, weak structure -----------------------------------------------------------------------------------

// f20, Schwefel; on x itself. weight: Lambda^10
HD real bbob_f20(BbobPoint *p)
{
    real sum = splat(0.0), penalty = splat(0.0), before = splat(0.0);
    for (int i = 0; i < p->d; i++) {
        const double x_opt = p->assets[i], twice = 2.0 * (x_opt < 0.0 ? -x_opt : x_opt);
        const real x = (x_opt < 0.0 ? -2.0 : 2.0) * (p->x[i] + x_opt); // p->x is x - x_opt
        const real bent = i == 0 ? x : fused(splat(0.25), before, x);
        const real z = 100.0 * fused(splat(p->weight[i]), bent - twice, splat(twice));
        const real beyond = greater_of(absolute(z / 100.0) - 5.0, splat(0.0));
        sum = fused(z, sine(square_root(absolute(z))), sum);
        penalty = fused(beyond, beyond, penalty);
        before = x - twice;
    }
    const real f = fused(splat(100.0), penalty, 4.189828872724339 - sum / (100.0 * (double)p->d));
    return select_real(MASK(f < splat(0.0)), splat(0.0), f); // the constants have 16 digits: -1e-14 at the optimum
}

// f21 and f22, Gallagher's 101 and 21 Gaussian peaks; A = R
HD real bbob_f21(BbobPoint *p)
{
    real greatest = splat(0.0);
    for (int i = 0; i < p->d; i++) p->x[i] = p->x[i] + p->assets[i];
    bbob_map_A(p);
    for (int64_t k = 0; k < p->c->peaks; k++) {
        const double *peak = p->assets + BBOB_AT_PEAK(p->d, k);
        real sum = splat(0.0);
        for (int i = 0; i < p->d; i++) {
            const real z = p->x[i] - peak[1 + i];
            sum = fused(peak[1 + p->d + i] * z, z, sum);
        }
        greatest = greater_of(greatest, peak[0] * exponential(sum * (-0.5 / (double)p->d)));
    }
    return bbob_square(bbob_oscillated(10.0 - greatest));
}

// f23, Katsuura; A = Q Lambda^100 R
HD real bbob_f23(BbobPoint *p)
{
    real product = splat(1.0);
    bbob_map_A(p);
    for (int i = 0; i < p->d; i++) {
        real sum = splat(0.0);
        double scale = 2.0;
        for (int j = 0; j < 32; j++) {
            const real z = scale * p->x[i];
            sum = sum + absolute(z - math_nearest(z)) / scale;
            scale *= 2.0;
        }
        product = product * fused(splat(i + 1.0), sum, splat(1.0));
    }
    const double front = 10.0 / ((double)p->d * (double)p->d);
    return front * power(product, splat(p->c->exponent)) - front;
}

// f24, Lunacek bi-Rastrigin; A = Q Lambda^100 R
HD real bbob_f24(BbobPoint *p)
{
    real near = splat(0.0), far = splat(0.0), waves = splat(0.0);
    for (int i = 0; i < p->d; i++) {
        const real x = (p->assets[i] < 0.0 ? -2.0 : 2.0) * (p->x[i] + p->assets[i]);
        p->x[i] = x - p->c->mu_0;
        near = fused(p->x[i], p->x[i], near);
        far = far + bbob_square(x - p->c->mu_1);
    }
    bbob_map_A(p);
    for (int i = 0; i < p->d; i++) waves = waves + cosine(BBOB_TWO_PI * p->x[i]);
    const real funnel = lesser_of(near, fused(splat(p->c->s), far, splat((double)p->d)));
    return fused(splat(10.0), splat((double)p->d) - waves, funnel);
}

// ---- the kernel -----------------------------------------------------------------------------------------------------

HD real bbob_on_point(BbobPoint *p)
{
    switch (p->c->function) {
    case 2: return bbob_ellipsoid(p);
    case 3: return bbob_f3(p);
    case 4: return bbob_f4(p);
    case 5: return bbob_f5(p);
    case 6: return bbob_f6(p);
    case 7: return bbob_f7(p);
    case 9: return bbob_f9(p);
    case 10:
    case 11: return bbob_f10(p);
    case 12: return bbob_f12(p);
    case 13: return bbob_f13(p);
    case 14: return bbob_f14(p);
    case 15: return bbob_f15(p);
    case 16: return bbob_f16(p);
    case 17:
    case 18: return bbob_f17(p);
    case 19: return bbob_f19(p);
    case 20: return bbob_f20(p);
    case 21:
    case 22: return bbob_f21(p);
    case 23: return bbob_f23(p);
    default: return bbob_f24(p);
    }
}

HD real bbob_value(const BbobConstants *c, const double *assets, const LaneGroup *group)
{
    BbobPoint p;
    if (c->function == 1) return bbob_f1(c, assets, group);
    if (c->function == 8) return bbob_f8(c, assets, group);
    p.c = c;
    p.assets = assets;
    p.weight = assets + BBOB_AT_WEIGHT * c->dimension;
    p.d = (int)c->dimension;
    p.x[0] = splat(0.0); // D >= 1, but some compilers do not know it
    for (int i = 0; i < p.d; i++) p.x[i] = bbob_offset(group, assets, i);
    return bbob_on_point(&p);
}

// Samples the point x of a lane: once before the evaluation, once after it.
HD void bbob_sample(const BbobConstants *c, const LaneGroup *group, double tick, bool last, mask which)
{
    real sample[1 + BBOB_DIMENSIONS_MAX];
    sample[0] = splat(tick);
    for (int i = 0; i < c->dimension; i++) sample[1 + i] = lanes_parameter(group, i);
    lanes_sample(group, sample, last, which);
}

// Ends the lanes of `which` with the value f.
HD void bbob_finish(const BbobConstants *c, const double *x_opt, const LaneGroup *group, real f, mask which)
{
    lanes_set_metric(group, BBOB_METRIC_F, f, which);
    lanes_set_metric(group, BBOB_METRIC_DISTANCE, square_root(bbob_f1(c, x_opt, group)), which);
    lanes_end(group, select_real(is_finite(f), splat(BBOB_NONE), splat(BBOB_DIVERGED)), which);
}

HD void bbob_evaluate(const Constants *constants, const double *assets, const LaneGroup *group, bool observed)
{
    BbobConstants c;
    memcpy(&c, constants, sizeof c);
    const mask running = lanes_running(group);
    if (group->ticks < 1 || !any_lane(running)) return;
    if (observed && lanes_sample_due(group, 0)) bbob_sample(&c, group, 0.0, false, running);
    if (observed) bbob_sample(&c, group, 1.0, true, running);
    bbob_finish(&c, assets, group, bbob_value(&c, assets, group), running);
}

#endif
