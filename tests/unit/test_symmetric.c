// The eigen-decomposition of a search's covariance.
#include "../test.h"

#include <math.h>
#include <string.h>

enum { EIGEN_MAX = 40 };

typedef struct EigenCase {
    int n;
    double matrix[EIGEN_MAX * EIGEN_MAX], values[EIGEN_MAX], vectors[EIGEN_MAX * EIGEN_MAX];
    double work[EIGEN_MAX * EIGEN_MAX + 3 * EIGEN_MAX];
} EigenCase;

static EigenCase eigen_random(int n, uint64_t instance)
{
    EigenCase test = {.n = n};
    const RandomKey key = {.seed = 1, .ordinal = instance, .purpose = RANDOM_SAMPLE};
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++)
            test.matrix[i * n + j] = test.matrix[j * n + i] = random_normal(&key, (uint32_t)(i * n + j));
    }
    return test;
}

static bool eigen_solve(EigenCase *test)
{
    return symmetric_eigen(test->n, test->matrix, test->values, test->vectors, test->work);
}

// Checks A v = value v for each eigenvector, and that the vectors are orthonormal.
static void eigen_check(const EigenCase *test, double scale)
{
    const int n = test->n;
    for (int k = 0; k < n; k++) {
        const double *v = test->vectors + k * n;
        if (k > 0) CHECK(test->values[k] >= test->values[k - 1]);
        for (int i = 0; i < n; i++) {
            double product = 0.0;
            for (int j = 0; j < n; j++) product += test->matrix[i * n + j] * v[j];
            CHECK_NEAR(test->values[k] * v[i], product, 1e-14 * scale * n);
        }
        for (int other = 0; other <= k; other++) {
            double dot = 0.0;
            for (int i = 0; i < n; i++) dot += v[i] * test->vectors[other * n + i];
            CHECK_NEAR(other == k ? 1.0 : 0.0, dot, 1e-14 * n);
        }
    }
}

TEST(symmetric_eigen_of_random_matrices)
{
    static const int sizes[] = {1, 2, 3, 5, 8, 20, 40};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        EigenCase test = eigen_random(sizes[i], i);
        CHECK(eigen_solve(&test));
        eigen_check(&test, 4.0 * sqrt(sizes[i]));
    }
}

// The second difference matrix has the eigenvalues 2 - 2 cos(k pi/(n + 1)).
TEST(symmetric_eigen_of_the_second_difference)
{
    enum { SIZE = 12 };
    EigenCase test = {.n = SIZE};
    for (int i = 0; i < SIZE; i++) {
        test.matrix[i * SIZE + i] = 2.0;
        if (i > 0) test.matrix[i * SIZE + i - 1] = test.matrix[(i - 1) * SIZE + i] = -1.0;
    }
    CHECK(eigen_solve(&test));
    for (int k = 0; k < SIZE; k++)
        CHECK_NEAR(2.0 - 2.0 * portable_cos((k + 1) * 3.141592653589793 / (SIZE + 1)), test.values[k], 1e-14);
}

TEST(symmetric_eigen_of_extreme_values)
{
    EigenCase diagonal = {.n = 3};
    const double values[] = {3e150, 1e150, 2e150};
    for (int i = 0; i < 3; i++) diagonal.matrix[i * 4] = values[i];
    CHECK(eigen_solve(&diagonal)); // the squares of these values would overflow
    CHECK_BITS(1e150, diagonal.values[0]);
    CHECK_BITS(2e150, diagonal.values[1]);
    CHECK_BITS(3e150, diagonal.values[2]);
    CHECK_BITS(1.0, fabs(diagonal.vectors[1])); // the least belongs to the second coordinate

    EigenCase zero = {.n = 4}, none = eigen_random(4, 9);
    CHECK(!eigen_solve(&zero));
    none.matrix[7] = (double)NAN;
    CHECK(!eigen_solve(&none));
}

TEST(symmetric_eigen_is_repeatable)
{
    EigenCase first = eigen_random(20, 3), second = first;
    CHECK(eigen_solve(&first) && eigen_solve(&second));
    CHECK(memcmp(first.vectors, second.vectors, sizeof first.vectors) == 0);
}
