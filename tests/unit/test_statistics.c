// Intervals and the rank test against tables and against counting by hand.
#include "../../runner/view/view.h"
#include "../test.h"

#include <math.h>
#include <stdlib.h>

// Newcombe, Statistics in Medicine 17, 1998, table I, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
TEST(statistics_rates_have_the_bounds_of_wilsons_table)
{
    static const struct {
        int64_t successes, n;
        double low, high;
    } cases[] = {{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0.0, 0.1611}, {1, 29, 0.0061, 0.1718}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Interval interval = interval_of_rate(cases[i].successes, cases[i].n);
        CHECK_NEAR(cases[i].low, interval.low, 5e-5);
        CHECK_NEAR(cases[i].high, interval.high, 5e-5);
    }
    CHECK_BITS(1.0, interval_of_rate(7, 7).high);
    CHECK(isnan(interval_of_rate(0, 0).value));
}

// Half widths of values +-1 about 0 are t s / sqrt(n), with t from the tables: 12.706, 2.776, 2.262, 1.962.
TEST(statistics_means_have_students_bounds)
{
    static const struct {
        int64_t n;
        double t;
    } cases[] = {{2, 12.7062}, {5, 2.77645}, {10, 2.26216}, {1000, 1.96234}};
    double value[1000];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const int64_t n = cases[c].n;
        double squares = 0.0, mean = 0.0;
        for (int64_t i = 0; i < n; i++) value[i] = i % 2 == 0 ? 1.0 : -1.0;
        for (int64_t i = 0; i < n; i++) mean += value[i] / (double)n;
        for (int64_t i = 0; i < n; i++) squares += (value[i] - mean) * (value[i] - mean);
        const Interval interval = interval_of_mean(value, n);
        const double half = cases[c].t * sqrt(squares / (double)(n - 1) / (double)n);
        CHECK_NEAR(mean, interval.value, 1e-12);
        CHECK_NEAR(mean + half, interval.high, 5e-5 * half);
        CHECK_NEAR(mean - half, interval.low, 5e-5 * half);
    }
    CHECK(isnan(interval_of_mean(value, 1).low));
}

// The interval from the 2nd to the 9th of 10 values contains the median with 97.9 %; no interval of 5 values does with
// 95 %.
TEST(statistics_medians_lie_between_order_statistics)
{
    double value[100];
    for (int i = 0; i < 100; i++) value[i] = i + 1;
    CHECK_BITS(5.5, interval_of_quantile(value, 10, 0.5).value);
    CHECK_BITS(2.0, interval_of_quantile(value, 10, 0.5).low);
    CHECK_BITS(9.0, interval_of_quantile(value, 10, 0.5).high);
    CHECK(isnan(interval_of_quantile(value, 5, 0.5).low));
    CHECK_BITS(40.0, interval_of_quantile(value, 100, 0.5).low); // Conover's table: 40 and 61
    CHECK_BITS(61.0, interval_of_quantile(value, 100, 0.5).high);
    CHECK(isnan(interval_of_quantile(value, 20, 0.9).high)); // 0.9^20 = 0.12: all values may lie below the quantile
}

TEST(statistics_rank_test_counts_all_orders_of_few_values)
{
    static const double a[] = {1.1, 2.2, 3.3, 4.4, 5.5}, b[] = {0.5, 0.6, 1.2, 2.5}, high[] = {10, 11, 12},
                        low[] = {1, 2, 3};
    Arena arena;
    CHECK_OK(arena_create(&arena, (size_t)16 << 20, "test"));
    RankTest test = rank_test(a, 5, b, 4, &arena);
    CHECK(test.exact);
    CHECK_BITS(17.0, test.u);
    CHECK_NEAR(14.0 / 126.0, test.p, 1e-12); // 7 of the 126 orders are as extreme on that side
    CHECK_NEAR(0.85, test.superior, 1e-12);
    test = rank_test(high, 3, low, 3, &arena);
    CHECK_NEAR(2.0 / 20.0, test.p, 1e-12);
    CHECK_BITS(1.0, test.superior);
    CHECK_BITS(0.0, rank_test(low, 3, high, 3, &arena).superior);
    arena_destroy(&arena);
}

// Two groups with ties and with failures, which count as infinite. Expected: the formula with a correction for ties,
// computed separately.
TEST(statistics_rank_test_corrects_for_ties)
{
    static const double a[] = {1, 2, 2, 3, (double)INFINITY}, b[] = {2, 3, 4, (double)INFINITY, (double)INFINITY};
    Arena arena;
    CHECK_OK(arena_create(&arena, (size_t)16 << 20, "test"));
    const RankTest test = rank_test(a, 5, b, 5, &arena);
    CHECK(!test.exact);
    // u: for each value of b the number of greater values in a, a tie as 0.5. 2: 3; 3: 1.5; 4: 1; inf: 0.5 twice
    CHECK_BITS(6.5, test.u);
    const double variance = 25.0 / 12.0 * (11.0 - (24.0 + 6.0 + 24.0) / 90.0); // ties of 3, 2 and 3
    CHECK_NEAR(erfc((6.0 - 0.5) / sqrt(2.0 * variance)), test.p, 1e-12);
    static const double same[] = {1, 1, 1};
    CHECK_BITS(1.0, rank_test(same, 3, same, 3, &arena).p);
    CHECK(isnan(rank_test(a, 0, b, 5, &arena).p));
    arena_destroy(&arena);
}

// Expected: scipy.stats.wilcoxon 1.17, method="exact" and method="asymptotic".
TEST(statistics_signed_rank_test_of_pairs)
{
    static const double a[] = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30},
                        b[] = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
    static const double tied_a[] = {7, 3, 9, 4, 4, 8, 1, 12, 5, 6, 2, 10},
                        tied_b[] = {5, 3, 6, 5, 2, 8, 3, 7, 5.5, 4, 2, 6};
    static const double failed_a[] = {1, 2, 3, 4, (double)INFINITY, (double)INFINITY, 7},
                        failed_b[] = {2, (double)INFINITY, 2.5, (double)INFINITY, 5, (double)INFINITY, 4};
    double many[60], none[60] = {0};
    Arena arena;
    CHECK_OK(arena_create(&arena, (size_t)16 << 20, "test"));
    SignedRankTest test = signed_rank_test(a, b, 9, &arena);
    CHECK(test.exact);
    CHECK_BITS(40.0, test.w); // of the greater side; that of the other is 5
    CHECK_NEAR(0.0390625, test.p, 1e-14);
    CHECK_INTEGER(7, test.less);
    CHECK_INTEGER(2, test.greater);
    test = signed_rank_test(tied_a, tied_b, 12, &arena);
    CHECK(!test.exact);
    CHECK_INTEGER(3, test.equal);
    CHECK_NEAR(0.07299804543011548, test.p, 1e-12);
    test = signed_rank_test(failed_a, failed_b, 7, &arena);
    CHECK_INTEGER(1, test.equal);
    CHECK_NEAR(0.7504854193424544, test.p, 1e-12);
    for (int i = 0; i < 60; i++) many[i] = (i * i * 37 + 11 * i) % 1009 - 450 + i * 0.001;
    test = signed_rank_test(many, none, 60, &arena);
    CHECK(!test.exact);
    CHECK_NEAR(0.9823803041798845, test.p, 1e-12);
    test = signed_rank_test(many, none, 50, &arena);
    CHECK(test.exact);
    CHECK_NEAR(0.4151920088524754, test.p, 1e-12);
    CHECK_INTEGER(19, test.less);
    CHECK(isnan(signed_rank_test(a, a, 9, &arena).p));
    CHECK_BITS(1.0, signed_rank_test((const double[]){1}, (const double[]){2}, 1, &arena).p);
    arena_destroy(&arena);
}
