// Gaussian elimination: known systems, random ones, near-singular ones, and that pivots are the greatest.
#define HOPSCOTCH_SCALAR
#include "../../sim/linear.h"
#include "../test.h"

#include <math.h>

enum { LINEAR_RANDOM = 1000 };

// Elements uniform in [-1, 1); each number gives another matrix.
static Matrix5 linear_random(int number)
{
    const RandomKey key = {.seed = 5, .ordinal = (uint64_t)number, .purpose = RANDOM_SAMPLE};
    Matrix5 a;
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5; j++) a.at[i][j] = 2.0 * random_uniform(&key, (uint32_t)(5 * i + j)) - 1.0;
    }
    return a;
}

// Greatest |A x - b|.
static double linear_residual(const Matrix5 *a, const Vector5 *x, const Vector5 *b)
{
    const Vector5 product = linear_product(a, x);
    double greatest = 0.0;
    for (int i = 0; i < 5; i++) greatest = fmax(greatest, fabs(product.at[i] - b->at[i]));
    return greatest;
}

TEST(linear_solves_known_systems)
{
    // second differences; a permutation, with zeros on its diagonal; a Vandermonde matrix of 0..4
    const Matrix5 known[] = {
        {{{2, -1, 0, 0, 0}, {-1, 2, -1, 0, 0}, {0, -1, 2, -1, 0}, {0, 0, -1, 2, -1}, {0, 0, 0, -1, 2}}},
        {{{0, 0, 1, 0, 0}, {0, 0, 0, 0, 1}, {1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, 0, 1, 0}}},
        {{{1, 0, 0, 0, 0}, {1, 1, 1, 1, 1}, {1, 2, 4, 8, 16}, {1, 3, 9, 27, 81}, {1, 4, 16, 64, 256}}}};
    const Vector5 x = {{1.0, -2.0, 3.0, -4.0, 5.0}};
    for (int k = 0; k < 3; k++) {
        const Vector5 b = linear_product(&known[k], &x);
        const Factors5 f = linear_factored(&known[k]);
        const Vector5 got = linear_solved(&f, &b);
        CHECK(!f.near_singular);
        for (int i = 0; i < 5; i++) CHECK_NEAR(x.at[i], got.at[i], 1e-13);
    }
}

TEST(linear_solves_random_systems)
{
    for (int number = 0; number < LINEAR_RANDOM; number++) {
        const Matrix5 a = linear_random(number), other = linear_random(LINEAR_RANDOM + number);
        const Vector5 b = {{other.at[0][0], other.at[0][1], other.at[0][2], other.at[0][3], other.at[0][4]}};
        const Factors5 f = linear_factored(&a);
        const Vector5 x = linear_solved(&f, &b);
        double greatest = 1.0;
        for (int i = 0; i < 5; i++) greatest = fmax(greatest, fabs(x.at[i]));
        CHECK(!f.near_singular);
        CHECK_NEAR(0.0, linear_residual(&a, &x, &b) / greatest, 1e-12);
        for (int i = 1; i < 5; i++) {
            for (int j = 0; j < i; j++) CHECK(fabs(f.lu.at[i][j]) <= 1.0); // the pivot is the greatest of its column
        }
    }
}

TEST(linear_reports_near_singular_systems)
{
    for (int number = 0; number < LINEAR_RANDOM; number++) {
        Matrix5 a = linear_random(number);
        for (int j = 0; j < 5; j++) a.at[3][j] = 0.5 * a.at[0][j] - 0.25 * a.at[4][j]; // dependent up to rounding
        CHECK(linear_factored(&a).near_singular);
        a.at[3][number % 5] += 1e-3;
        CHECK(!linear_factored(&a).near_singular);
        a.at[number % 5][number % 3] = NAN;
        CHECK(linear_factored(&a).near_singular);
    }
    const Matrix5 zero = {{{0}}};
    CHECK(linear_factored(&zero).near_singular);
}
