// Sums without rounding: known ones, in any order, in parts.
#include "../../runner/view/analysis/exact_sum.h"
#include "../test.h"

#include <math.h>
#include <string.h>

static double exact_sum_of(const double *terms, int n)
{
    ExactSum sum = {{0}, 0, 0, 0};
    for (int i = 0; i < n; i++) exact_add(&sum, terms[i]);
    return exact_value(&sum);
}

TEST(exact_sums_of_few_terms)
{
    static const struct {
        double terms[5], sum;
    } cases[] = {
        {{0}, 0},
        {{0x1p-1074}, 0x1p-1074},
        {{-0x1p-1074, 0x1p-1022}, 0x0.fffffffffffffp-1022},
        {{1e16, 1, -1e16}, 1},
        {{1e308, 1e308, -1e308, -1e308, 0x1p-1074}, 0x1p-1074},
        {{1, 0x1p-53}, 1},                              // a tie: to even
        {{1, 0x1p-53, 0x1p-1074}, 0x1.0000000000001p0}, // and just above it
        {{-1, -0x1p-53, -0x1p-1074}, -0x1.0000000000001p0},
        {{0x1.0000000000001p0, 0x1p-53}, 0x1.0000000000002p0},
        {{0x1.fffffffffffffp1023, 0x1p969}, 0x1.fffffffffffffp1023},
        {{0x1.fffffffffffffp1023, 0x1p970}, INFINITY},
        {{INFINITY, 1, -1e308}, INFINITY},
        {{-INFINITY, 1}, -INFINITY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) CHECK_BITS(cases[i].sum, exact_sum_of(cases[i].terms, 5));
    const double both[] = {INFINITY, -INFINITY};
    CHECK(isnan(exact_sum_of(both, 2)));
}

// Terms of all magnitudes and their negatives, shuffled, in two parts, leave what was added once.
TEST(exact_sums_do_not_depend_on_the_order)
{
    enum { N = 5000 };
    static double terms[2 * N + 1];
    const RandomKey key = {.seed = 3, .purpose = RANDOM_SAMPLE};
    for (int i = 0; i < N; i++) {
        const double u = random_uniform(&key, (uint32_t)(2 * i)), v = random_uniform(&key, (uint32_t)(2 * i + 1));
        terms[2 * i] = ldexp(u - 0.5, (int)(2000 * v) - 1000);
        terms[2 * i + 1] = -terms[2 * i];
    }
    terms[2 * N] = 0.1;
    for (int i = 2 * N; i > 0; i--) {
        const int j = (int)(random_uniform(&key, (uint32_t)(2 * N + i)) * (i + 1));
        const double kept = terms[i];
        terms[i] = terms[j];
        terms[j] = kept;
    }
    CHECK_BITS(0.1, exact_sum_of(terms, 2 * N + 1));
    ExactSum left = {{0}, 0, 0, 0}, right = {{0}, 0, 0, 0};
    for (int i = 0; i <= 2 * N; i++) exact_add(i % 3 == 0 ? &left : &right, terms[i]);
    exact_add_sum(&left, &right);
    CHECK_BITS(0.1, exact_value(&left));
    memset(&left, 0, sizeof left);
    for (int i = 0; i < 4000; i++) exact_add(&left, 0x1.fffffffffffffp0); // carries
    CHECK_BITS(4000 * 0x1.fffffffffffffp0, exact_value(&left));
    memset(&left, 0, sizeof left);
    exact_add_product(&left, 1 + 0x1p-30, 1 + 0x1p-30);
    exact_add(&left, -1 - 0x1p-29);
    CHECK_BITS(0x1p-60, exact_value(&left));
}
