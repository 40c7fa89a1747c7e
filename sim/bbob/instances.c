// Instances of the benchmark functions: optima, rotations and weights. They depend only on function, instance and
// position.
#include "bbob.h"

#include <math.h>
#include <string.h>

const char bbob_names[] =
    "sphere|ellipsoid_separable|rastrigin_separable|buche_rastrigin|linear_slope|attractive_sector|step_ellipsoid|"
    "rosenbrock|rosenbrock_rotated|ellipsoid|discus|bent_cigar|sharp_ridge|different_powers|rastrigin|weierstrass|"
    "schaffers|schaffers_ill_conditioned|griewank_rosenbrock|schwefel|gallagher_101|gallagher_21|katsuura|lunacek";

// Purposes of random numbers, as `replicate` of the key.
enum { BBOB_DRAW_OPTIMUM, BBOB_DRAW_R, BBOB_DRAW_Q, BBOB_DRAW_PEAKS, BBOB_DRAW_CONDITIONS, BBOB_DRAW_ORDER };

typedef struct BbobInstance {
    int function, d;
    uint64_t number;
    Arena *arena;
    BbobConstants *constants;
    double *assets, *weight, *A, *B;
} BbobInstance;

static RandomKey bbob_key(const BbobInstance *instance, int what)
{
    return (RandomKey){.search = (uint32_t)instance->function,
                       .ordinal = instance->number,
                       .replicate = (uint32_t)what,
                       .purpose = RANDOM_INSTANCE};
}

// (i - 1)/(D - 1), i from 0 here
static double bbob_place(const BbobInstance *instance, int i) { return (double)i / (double)(instance->d - 1); }

// ---- matrices -------------------------------------------------------------------------------------------------------

// A rotation, uniformly distributed: normal deviates, orthonormalised row by row (Gram & Schmidt, twice for accuracy).
static double *bbob_rotation(const BbobInstance *instance, int what)
{
    const int d = instance->d;
    const RandomKey key = bbob_key(instance, what);
    double *rotation = ARENA_NEW(instance->arena, double, d *d);
    for (int i = 0; i < d * d; i++) rotation[i] = random_normal(&key, (uint32_t)i);
    for (int i = 0; i < d; i++) {
        double *row = rotation + i * d, square = 0.0;
        for (int j = 0; j < 2 * i; j++) { // every earlier row, twice
            const double *other = rotation + j % i * d;
            double along = 0.0;
            for (int k = 0; k < d; k++) along += row[k] * other[k];
            for (int k = 0; k < d; k++) row[k] -= along * other[k];
        }
        for (int k = 0; k < d; k++) square += row[k] * row[k];
        for (int k = 0; k < d; k++) row[k] /= sqrt(square);
    }
    return rotation;
}

// out = left Lambda^alpha right, Lambda^alpha = diag(alpha^(1/2 (i-1)/(D-1))); NULL: the identity
static void bbob_product(const BbobInstance *instance, const double *left, double alpha, const double *right,
                         double *out)
{
    const int d = instance->d;
    double stretch[BBOB_DIMENSIONS_MAX];
    for (int k = 0; k < d; k++) stretch[k] = portable_pow(alpha, 0.5 * bbob_place(instance, k));
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
    for (int i = 0; i < instance->d; i++) instance->weight[i] = portable_pow(base, factor * bbob_place(instance, i));
}

// A and B of each function.
static void bbob_set_maps(const BbobInstance *instance)
{
    static const double alpha_A[BBOB_FUNCTIONS + 1] = {[6] = 10, [7] = 10, [13] = 10, [23] = 100, [24] = 100};
    static const double alpha_B[BBOB_FUNCTIONS + 1] = {[15] = 10, [16] = 0.01, [17] = 10, [18] = 1000};
    const int f = instance->function;
    if (f == 1 || f == 8) return; // these functions are sums over x - x_opt
    const double *R = bbob_rotation(instance, BBOB_DRAW_R), *Q = bbob_rotation(instance, BBOB_DRAW_Q);
    const bool linear = alpha_A[f] > 0.0;
    bbob_product(instance, linear && f != 7 ? Q : NULL, linear ? alpha_A[f] : 1.0, R, instance->A);
    if (f == 7) bbob_product(instance, Q, 1.0, NULL, instance->B);
    if (f == 12) bbob_product(instance, R, 1.0, NULL, instance->B);
    if (alpha_B[f] > 0.0) bbob_product(instance, f <= 16 ? R : NULL, alpha_B[f], Q, instance->B);
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
        if (f == 14) instance->weight[i] = 2.0 + 4.0 * bbob_place(instance, i);
    }
}

// ---- optima ---------------------------------------------------------------------------------------------------------

// Uniform in [-reach, reach]^D, unless the definition says otherwise.
static void bbob_set_optimum(const BbobInstance *instance)
{
    const RandomKey key = bbob_key(instance, BBOB_DRAW_OPTIMUM);
    const int f = instance->function, d = instance->d;
    const double reach = f == 8 ? 3.0 : f == 22 ? 3.92 : 4.0;
    double *x_opt = instance->assets;
    for (int i = 0; i < d; i++) {
        const double x = reach * (2.0 * random_uniform(&key, (uint32_t)i) - 1.0), sign = x < 0.0 ? -1.0 : 1.0;
        x_opt[i] = x;
        if (f == 4 && i % 2 == 0) x_opt[i] = fabs(x);
        if (f == 5) x_opt[i] = 5.0 * sign;
        if (f == 20) x_opt[i] = 0.5 * 4.2096874633 * sign;
        if (f == 24) x_opt[i] = 0.5 * instance->constants->mu_0 * sign;
    }
    for (int i = 0; (f == 9 || f == 19) && i < d; i++) { // R' (1/(2 scale))
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
    double part = 1.0, frequency = 6.283185307179586;
    for (int k = 0; k < 12; k++) { // f_0, with the operations of the kernel
        c->rest = fma(part, portable_cos(frequency * 0.5), c->rest);
        part *= 0.5;
        frequency *= 3.0;
    }
}

// ---- Gallagher's peaks ----------------------------------------------------------------------------------------------

// The numbers 0 .. count-1 in a random order (Fisher & Yates; Knuth, TAOCP vol. 2, 3.4.2 P).
static void bbob_shuffle(const RandomKey *key, uint32_t index, int count, int *order)
{
    for (int i = 0; i < count; i++) order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        const int j = (int)(random_uniform(key, index + (uint32_t)i) * (i + 1)), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

// Height, R y and diagonal of C = Lambda^alpha/alpha^(1/4), its entries in a random order.
static void bbob_set_peak(const BbobInstance *instance, int k, double height, double alpha, const double *y)
{
    const int d = instance->d;
    const RandomKey key = bbob_key(instance, BBOB_DRAW_ORDER);
    double *peak = instance->assets + BBOB_AT_PEAK(d, k);
    int order[BBOB_DIMENSIONS_MAX];
    bbob_shuffle(&key, (uint32_t)(k * d), d, order);
    peak[0] = height;
    for (int i = 0; i < d; i++) {
        peak[1 + i] = 0.0;
        for (int j = 0; j < d; j++) peak[1 + i] = fma(instance->A[i * d + j], y[j], peak[1 + i]); // as the kernel does
        peak[1 + d + i] = portable_pow(alpha, 0.5 * bbob_place(instance, order[i])) / portable_pow(alpha, 0.25);
    }
}

static void bbob_set_peaks(const BbobInstance *instance)
{
    const int d = instance->d, n = (int)instance->constants->peaks;
    const RandomKey key = bbob_key(instance, BBOB_DRAW_PEAKS), conditions = bbob_key(instance, BBOB_DRAW_CONDITIONS);
    const double reach = n == 101 ? 5.0 : 4.9;
    int order[BBOB_PEAKS_MAX];
    double y[BBOB_DIMENSIONS_MAX];
    bbob_shuffle(&conditions, 0, n - 1, order);
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < d; i++) {
            const double u = random_uniform(&key, (uint32_t)(k * d + i));
            y[i] = k == 0 ? instance->assets[i] : reach * (2.0 * u - 1.0);
        }
        const double height = k == 0 ? 10.0 : 1.1 + 8.0 * (k - 1) / (n - 2);
        const double alpha = k == 0 ? (n == 101 ? 1e3 : 1e6) : portable_pow(1e3, 2.0 * order[k - 1] / (n - 2));
        bbob_set_peak(instance, k, height, alpha, y);
    }
}

// ---- all of it ------------------------------------------------------------------------------------------------------

const double *bbob_instance(int function, uint64_t instance, int dimension, Arena *arena, BbobConstants *constants,
                            int64_t *n_assets)
{
    BbobInstance it = {
        .function = function, .d = dimension, .number = instance, .arena = arena, .constants = constants};
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
