// Instances of the benchmark functions: optima, rotations and weights. They are those of COCO's suite bbob (N. Hansen
// et al., COCO: a platform for comparing continuous optimizers in a black-box setting, 2021), so that published tables
// apply: same generator, seeds and roundings.
#include "bbob.h"

#include <math.h>
#include <string.h>

const char bbob_names[] =
    "sphere|ellipsoid_separable|rastrigin_separable|buche_rastrigin|linear_slope|attractive_sector|step_ellipsoid|"
    "rosenbrock|rosenbrock_rotated|ellipsoid|discus|bent_cigar|sharp_ridge|different_powers|rastrigin|weierstrass|"
    "schaffers|schaffers_ill_conditioned|griewank_rosenbrock|schwefel|gallagher_101|gallagher_21|katsuura|lunacek";

typedef struct BbobInstance {
    int function, d;
    int64_t seed;
    Arena *arena;
    BbobConstants *constants;
    double *assets, *weight, *A, *B;
} BbobInstance;

// ---- random numbers -------------------------------------------------------------------------------------------------

// The minimal standard generator, s <- 16807 s mod (2^31 - 1) (Park & Miller, CACM 31, 1988), shuffled by a table of 32
// (Bays & Durham, ACM TOMS 2, 1976).
static int64_t bbob_next(int64_t s) { return 16807 * s % 2147483647; }

// count numbers in (0, 1]
static void bbob_uniform(int64_t seed, int count, double *u)
{
    int64_t table[32], s = seed < 1 ? 1 : seed;
    for (int i = 39; i >= 0; i--) {
        s = bbob_next(s);
        if (i < 32) table[i] = s;
    }
    int64_t last = table[0];
    for (int i = 0; i < count; i++) {
        s = bbob_next(s);
        int64_t *entry = &table[last / 67108865];
        last = *entry;
        *entry = s;
        u[i] = (double)last / 2147483647.0;
        if (u[i] == 0.0) u[i] = 1e-99;
    }
}

// count normal deviates (Box & Muller)
static void bbob_normal(const BbobInstance *instance, int64_t seed, int count, double *normal)
{
    double *u = ARENA_NEW(instance->arena, double, 2 * count);
    bbob_uniform(seed, 2 * count, u);
    for (int i = 0; i < count; i++) {
        normal[i] = sqrt(-2.0 * portable_log(u[i])) * portable_cos(6.283185307179586 * u[count + i]);
        if (normal[i] == 0.0) normal[i] = 1e-99;
    }
}

// order[i]: the index of the i-th smallest of the numbers. A stable sort; count is small.
static void bbob_ranks(const double *u, int count, int *order)
{
    for (int i = 0; i < count; i++) {
        int at = i;
        for (; at > 0 && u[order[at - 1]] > u[i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
}

// (i - 1)/(D - 1), i from 0 here
static double bbob_fraction(const BbobInstance *instance, int i) { return (double)i / (double)(instance->d - 1); }

// ---- matrices -------------------------------------------------------------------------------------------------------

// A rotation: normal deviates, the columns orthonormalised one after the other (Gram & Schmidt).
static double *bbob_rotation(const BbobInstance *instance, int64_t seed)
{
    const int d = instance->d;
    double *normal = ARENA_NEW(instance->arena, double, d *d), *rotation = ARENA_NEW(instance->arena, double, d *d);
    bbob_normal(instance, seed, d * d, normal);
    for (int i = 0; i < d; i++) { // column i is normal + i d
        double *column = normal + i * d, square = 0.0;
        for (int j = 0; j < i; j++) {
            const double *other = normal + j * d;
            double along = 0.0;
            for (int k = 0; k < d; k++) along += column[k] * other[k];
            for (int k = 0; k < d; k++) column[k] -= along * other[k];
        }
        for (int k = 0; k < d; k++) square += column[k] * column[k];
        for (int k = 0; k < d; k++) column[k] /= sqrt(square);
        for (int k = 0; k < d; k++) rotation[k * d + i] = column[k];
    }
    return rotation;
}

// out = left Lambda^alpha right, Lambda^alpha = diag(alpha^(1/2 (i-1)/(D-1))); NULL: the identity
static void bbob_product(const BbobInstance *instance, const double *left, double alpha, const double *right,
                         double *out)
{
    const int d = instance->d;
    double stretch[BBOB_DIMENSIONS_MAX];
    for (int k = 0; k < d; k++) stretch[k] = portable_pow(alpha, 0.5 * bbob_fraction(instance, k));
    for (int i = 0; i < d; i++) {
        for (int j = 0; j < d; j++) {
            double sum = 0.0;
            for (int k = 0; k < d; k++) {
                const double l = left != NULL ? left[i * d + k] : i == k ? 1.0 : 0.0;
                const double r = right != NULL ? right[k * d + j] : k == j ? 1.0 : 0.0;
                sum += l * stretch[k] * r;
            }
            out[i * d + j] = sum;
        }
    }
}

static void bbob_set_weights(const BbobInstance *instance, double base, double factor)
{
    for (int i = 0; i < instance->d; i++) instance->weight[i] = portable_pow(base, factor * bbob_fraction(instance, i));
}

// A and B of each function. P and Q are the suite's first and second rotation.
static void bbob_set_maps(const BbobInstance *instance)
{
    static const double alpha_A[BBOB_FUNCTIONS + 1] = {[6] = 10, [7] = 10, [13] = 10, [23] = 100, [24] = 100};
    static const double alpha_B[BBOB_FUNCTIONS + 1] = {[15] = 10, [16] = 0.01, [17] = 10, [18] = 1000};
    const int f = instance->function;
    if (f == 1 || f == 8) return; // these functions are sums over x - x_opt
    const double *P = bbob_rotation(instance, instance->seed + 1000000), *Q = bbob_rotation(instance, instance->seed);
    const bool linear = alpha_A[f] > 0.0, one = f == 9 || f == 19 || f == 21 || f == 22;
    if (linear)
        bbob_product(instance, f != 7 ? P : NULL, alpha_A[f], Q, instance->A);
    else
        bbob_product(instance, NULL, 1.0, one ? Q : P, instance->A);
    if (f == 7 || f == 12) bbob_product(instance, P, 1.0, NULL, instance->B);
    if (alpha_B[f] > 0.0) bbob_product(instance, f <= 16 ? P : NULL, alpha_B[f], Q, instance->B);
}

static void bbob_set_all_weights(const BbobInstance *instance)
{
    const int f = instance->function;
    if (f == 2 || f == 10) bbob_set_weights(instance, 10.0, 6.0);
    if (f == 3 || f == 4 || f == 20) bbob_set_weights(instance, 10.0, 0.5);
    if (f == 5) bbob_set_weights(instance, 10.0, 1.0);
    if (f == 7) bbob_set_weights(instance, 10.0, 2.0);
    for (int i = 0; i < instance->d; i++) {
        if (f == 11) instance->weight[i] = i == 0 ? 1e6 : 1.0;
        if (f == 12) instance->weight[i] = i == 0 ? 1.0 : 1e6;
        if (f == 14) instance->weight[i] = 2.0 + 4.0 * bbob_fraction(instance, i);
    }
}

// ---- optima ---------------------------------------------------------------------------------------------------------

// In [-4, 4]^D in steps of 8e-4, never 0, unless the definition says otherwise.
static void bbob_set_optimum(const BbobInstance *instance)
{
    const int f = instance->function, d = instance->d;
    double *x_opt = instance->assets, u[BBOB_DIMENSIONS_MAX];
    if (f == 24)
        bbob_normal(instance, instance->seed, d, u);
    else
        bbob_uniform(f == 12 ? instance->seed + 1000000 : instance->seed, d, u);
    for (int i = 0; i < d; i++) {
        const double x = 8.0 * floor(1e4 * u[i]) / 1e4 - 4.0;
        x_opt[i] = x == 0.0 ? -1e-5 : x;
        if (f == 4 && i % 2 == 0) x_opt[i] = fabs(x_opt[i]);
        if (f == 5) x_opt[i] = x_opt[i] < 0.0 ? -5.0 : 5.0;
        if (f == 8) x_opt[i] *= 0.75;
        if (f == 20) x_opt[i] = 0.5 * 4.2096874637 * (u[i] - 0.5 < 0.0 ? -1.0 : 1.0);
        if (f == 24) x_opt[i] = 0.5 * instance->constants->mu_0 * (u[i] < 0.0 ? -1.0 : 1.0);
    }
    for (int i = 0; (f == 9 || f == 19) && i < d; i++) { // Q' (1/(2 scale))
        x_opt[i] = 0.0;
        for (int k = 0; k < d; k++) x_opt[i] += instance->A[k * d + i] * 0.5 / instance->constants->scale;
    }
}

// ---- constants ------------------------------------------------------------------------------------------------------

static void bbob_set_constants(const BbobInstance *instance)
{
    BbobConstants *c = instance->constants;
    const int f = instance->function;
    const double d = instance->d, stretch = sqrt(d) / 8.0;
    const bool stretched = f == 8 || f == 9 || f == 19;
    *c = (BbobConstants){.scale = stretched && stretch > 1.0 ? stretch : 1.0,
                         .dimension = instance->d,
                         .function = f,
                         .peaks = f == 21   ? 101
                                  : f == 22 ? 21
                                            : 0,
                         .mu_0 = 2.5,
                         .s = 1.0 - 1.0 / (2.0 * sqrt(d + 20.0) - 8.2),
                         .exponent = 10.0 / portable_pow(d, 1.2)};
    c->mu_1 = -sqrt((c->mu_0 * c->mu_0 - 1.0) / c->s);
    double amplitude = 1.0, frequency = 6.283185307179586;
    for (int k = 0; k < 12; k++) { // f_0, with the operations of the kernel
        c->rest = fma(amplitude, portable_cos(frequency * 0.5), c->rest);
        amplitude *= 0.5;
        frequency *= 3.0;
    }
}

// ---- Gallagher's peaks ----------------------------------------------------------------------------------------------

// Height, Q y and diagonal of C = Lambda^alpha/alpha^(1/4), its entries in a random order.
static void bbob_set_peak(const BbobInstance *instance, int k, double height, double alpha, const double *y)
{
    const int d = instance->d;
    double *peak = instance->assets + BBOB_AT_PEAK(d, k), u[BBOB_DIMENSIONS_MAX];
    int order[BBOB_DIMENSIONS_MAX];
    bbob_uniform(instance->seed + 1000 * k, d, u);
    bbob_ranks(u, d, order);
    peak[0] = height;
    for (int i = 0; i < d; i++) {
        peak[1 + i] = 0.0;
        for (int j = 0; j < d; j++) peak[1 + i] = fma(instance->A[i * d + j], y[j], peak[1 + i]); // as the kernel does
        peak[1 + d + i] = portable_pow(alpha, 0.5 * bbob_fraction(instance, order[i])) / portable_pow(alpha, 0.25);
    }
}

// The first peak is the optimum, at 0.8 of its draw.
static void bbob_set_peaks(const BbobInstance *instance)
{
    const int d = instance->d, n = (int)instance->constants->peaks;
    const double reach = n == 101 ? 5.0 : 4.9;
    double *u = ARENA_NEW(instance->arena, double, d *n), y[BBOB_DIMENSIONS_MAX];
    int order[BBOB_PEAKS_MAX];
    bbob_uniform(instance->seed, n - 1, u);
    bbob_ranks(u, n - 1, order);
    bbob_uniform(instance->seed, d * n, u);
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < d; i++) y[i] = (k == 0 ? 0.8 : 1.0) * (2.0 * reach * u[k * d + i] - reach);
        if (k == 0) memcpy(instance->assets, y, (size_t)d * sizeof *y);
        const double height = k == 0 ? 10.0 : 1.1 + 8.0 * (k - 1) / (n - 2);
        const double alpha = k == 0 ? (n == 101 ? 1e3 : 1e6) : portable_pow(1e3, 2.0 * order[k - 1] / (n - 2));
        bbob_set_peak(instance, k, height, alpha, y);
    }
}

// ---- all of it ------------------------------------------------------------------------------------------------------

const double *bbob_instance(int function, uint64_t instance, int dimension, Arena *arena, BbobConstants *constants,
                            int64_t *n_assets)
{
    const int of = function == 4 ? 3 : function == 18 ? 17 : function; // these share the seed of their simpler twin
    BbobInstance it = {.function = function,
                       .d = dimension,
                       .seed = of + 10000 * (int64_t)instance,
                       .arena = arena,
                       .constants = constants};
    bbob_set_constants(&it);
    *n_assets = BBOB_AT_PEAK(dimension, (int)constants->peaks);
    it.assets = ARENA_NEW(arena, double, *n_assets);
    it.weight = it.assets + BBOB_AT_WEIGHT * dimension;
    it.A = it.assets + BBOB_AT_A * dimension;
    it.B = it.assets + BBOB_AT_B(dimension);
    bbob_set_maps(&it);
    bbob_set_all_weights(&it);
    bbob_set_optimum(&it);
    if (constants->peaks > 0) bbob_set_peaks(&it);
    return it.assets;
}
