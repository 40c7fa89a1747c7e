// Intervals of 95 %, the rank test of two samples and that of pairs. They are printed with few digits and never stored
// among results, so the C library's functions are exact enough here.
#include "../view.h"

#include <math.h>
#include <stdlib.h>

static const double statistics_z = 1.959963984540054; // the normal distribution's 0.975-quantile

// ---- distributions --------------------------------------------------------------------------------------------------

// The continued fraction of the incomplete beta function (NIST DLMF 8.17.22) by Lentz's method (Applied Optics 15,
// 1976): for x < (a + 1)/(a + b + 2), where it converges fast.
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0), f;
    d = 1.0 / (fabs(d) < tiny ? tiny : d);
    f = d;
    for (int m = 1; m < 10000; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        const double terms[2] = {even, odd};
        double step = 1.0;
        for (int i = 0; i < 2; i++) {
            d = 1.0 + terms[i] * d;
            c = 1.0 + terms[i] / c;
            d = 1.0 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            step = c * d;
            f *= step;
        }
        if (fabs(step - 1.0) < 1e-15) break;
    }
    return f;
}

// I_x(a, b), the regularised incomplete beta function (DLMF 8.17).
static double beta_regularised(double a, double b, double x)
{
    if (x <= 0.0) return 0.0;
    if (x >= 1.0) return 1.0;
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1.0) / (a + b + 2.0)) return front * beta_fraction(a, b, x) / a;
    return 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

double beta_above(double x, double a, double b) { return beta_regularised(b, a, 1.0 - x); }

// The 0.975-quantile of Student's t with v = `freedom` degrees of freedom: P(|T| > t) = I_(v/(v + t^2))(v/2, 1/2).
double student_quantile(double freedom)
{
    double low = 0.0, high = 13.0; // 12.71 for one degree
    for (int i = 0; i < 60; i++) {
        const double t = (low + high) / 2.0;
        if (beta_regularised(freedom / 2.0, 0.5, freedom / (freedom + t * t)) > 0.05)
            low = t;
        else
            high = t;
    }
    return high;
}

// The upper incomplete gamma function, regularised (DLMF 8.2.4, 8.7.1, 8.9.2): by the series of the lower one below
// a + 1, by the continued fraction above.
static double gamma_upper(double a, double x)
{
    const double front = exp(a * log(x) - x - lgamma(a)), tiny = 1e-300;
    if (!(x > 0.0)) return 1.0;
    if (x < a + 1.0) {
        double term = 1.0 / a, sum = term;
        for (int k = 1; k < 10000 && term > sum * 1e-16; k++) sum += term *= x / (a + k);
        return 1.0 - front * sum;
    }
    double b = x + 1.0 - a, c = 1.0 / tiny, d = 1.0 / b, f = d;
    for (int k = 1; k < 10000; k++) {
        const double an = -k * (k - a);
        b += 2.0;
        d = an * d + b;
        c = b + an / c;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        f *= d * c;
        if (fabs(d * c - 1.0) < 1e-15) break;
    }
    return front * f;
}

double chi_squared_above(double x, double freedom) { return gamma_upper(freedom / 2.0, x / 2.0); }

// P(X <= k) for X binomial (n, q), as an incomplete beta function (DLMF 8.17.5).
static double binomial_below(int64_t k, int64_t n, double q)
{
    if (k < 0) return 0.0;
    return k >= n ? 1.0 : beta_regularised((double)(n - k), (double)(k + 1), 1.0 - q);
}

// ---- intervals ------------------------------------------------------------------------------------------------------

// E. B. Wilson, Journal of the American Statistical Association 22, 1927. It stays in [0, 1], and holds for rates of 0
// and 1.
Interval interval_of_rate(int64_t successes, int64_t n)
{
    if (n == 0) return (Interval){(double)NAN, (double)NAN, (double)NAN};
    const double rate = (double)successes / (double)n, z2 = statistics_z * statistics_z / (double)n;
    const double middle = (rate + z2 / 2.0) / (1.0 + z2);
    const double half = statistics_z * sqrt(rate * (1.0 - rate) / (double)n + z2 / (4.0 * (double)n)) / (1.0 + z2);
    return (Interval){rate, successes == 0 ? 0.0 : middle - half, successes == n ? 1.0 : middle + half};
}

// Student's: mean +- t s / sqrt(n).
Interval interval_of_mean(const double *value, int64_t n)
{
    double sum = 0.0, squares = 0.0;
    if (n == 0) return (Interval){(double)NAN, (double)NAN, (double)NAN};
    for (int64_t i = 0; i < n; i++) sum += value[i];
    const double mean = sum / (double)n;
    if (n == 1) return (Interval){mean, (double)NAN, (double)NAN};
    for (int64_t i = 0; i < n; i++) squares += (value[i] - mean) * (value[i] - mean);
    const double freedom = (double)(n - 1), half = student_quantile(freedom) * sqrt(squares / freedom / (double)n);
    return (Interval){mean, mean - half, mean + half};
}

// Type 7 of Hyndman & Fan, as in experiment/fitness/objective.c. The bounds are the order statistics between which the
// quantile lies with at least 95 %, for any distribution: W. J. Conover, Practical Nonparametric Statistics, 3.2.
Interval interval_of_quantile(const double *value, int64_t n, double q)
{
    Interval interval = {(double)NAN, (double)NAN, (double)NAN};
    if (n == 0) return interval;
    const double rank = (double)(n - 1) * q, fraction = rank - floor(rank);
    const double *at = value + (int64_t)rank;
    interval.value = fraction == 0.0 || at[0] == at[1] ? at[0] : at[0] + fraction * (at[1] - at[0]);
    int64_t low = -1, high = n; // indices from 0: P(X < quantile) at most 2.5 %, P(X > quantile) likewise
    while (low + 1 < n && binomial_below(low + 1, n, q) <= 0.025) low++;
    while (high > 0 && 1.0 - binomial_below(high - 1, n, q) <= 0.025) high--;
    if (low >= 0) interval.low = value[low];
    if (high < n) interval.high = value[high];
    return interval;
}

int statistics_ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

typedef struct RankedValue {
    double value;
    int64_t at;
} RankedValue;

static int ranked_ascending(const void *left, const void *right)
{
    return statistics_ascending(&((const RankedValue *)left)->value, &((const RankedValue *)right)->value);
}

void statistics_ranks(const double *value, int64_t n, Arena *arena, double *rank)
{
    const size_t used = arena->used;
    RankedValue *sorted = ARENA_NEW(arena, RankedValue, n + 1);
    for (int64_t i = 0; i < n; i++) sorted[i] = (RankedValue){value[i], i};
    qsort(sorted, (size_t)n, sizeof *sorted, ranked_ascending);
    for (int64_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && sorted[end].value == sorted[first].value;) end++;
        for (int64_t i = first; i < end; i++) rank[sorted[i].at] = (double)(first + 1 + end) / 2.0;
    }
    arena_rewind(arena, used);
}

// ---- two samples ----------------------------------------------------------------------------------------------------

// H. B. Mann and D. R. Whitney, Annals of Mathematical Statistics 18, 1947. Ties and effect size: A. Vargha and
// H. D. Delaney, Journal of Educational and Behavioral Statistics 25, 2000.

enum { RANK_EXACT_MAX = 50 }; // the greatest n_a + n_b for which all orders are counted

// P(U <= u) if all orders of n_a and n_b values are equally likely. count[k][s]: the number of ways to choose k of the
// ranks seen so far with the sum s of their ranks above the least (the recursion of Mann and Whitney's section 4).
static double rank_exact(double u, int64_t n_a, int64_t n_b, Arena *arena)
{
    const int64_t sums = n_a * n_b + 1;
    const size_t used = arena->used;
    double *count = ARENA_NEW(arena, double, (n_a + 1) * sums), all = 0.0, below = 0.0;
    count[0] = 1.0;
    for (int64_t rank = 0; rank < n_a + n_b; rank++) {
        for (int64_t k = (rank < n_a ? rank : n_a - 1); k >= 0; k--) { // rank as the k-th chosen adds rank - k
            const int64_t more = rank - k;
            for (int64_t s = sums - 1 - more; s >= 0; s--) count[(k + 1) * sums + s + more] += count[k * sums + s];
        }
    }
    for (int64_t s = 0; s < sums; s++) {
        all += count[n_a * sums + s];
        if ((double)s <= u) below += count[n_a * sums + s];
    }
    arena_rewind(arena, used);
    return below / all;
}

// Two-sided, with a correction for continuity. ties: the sum of t^3 - t over groups of t equal values.
static double rank_normal(double u, double n_a, double n_b, double ties)
{
    const double n = n_a + n_b;
    const double variance = n_a * n_b / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
    const double off = fabs(u - n_a * n_b / 2.0) - 0.5;
    return variance <= 0.0 || off <= 0.0 ? 1.0 : erfc(off / sqrt(2.0 * variance));
}

// Sorts the ranks. The sum of t^3 - t over groups of t equal ones.
static double rank_ties(double *rank, int64_t n)
{
    double ties = 0.0;
    qsort(rank, (size_t)n, sizeof *rank, statistics_ascending);
    for (int64_t i = 0, same; i < n; i += same) {
        for (same = 1; i + same < n && rank[i + same] == rank[i];) same++;
        ties += (double)same * ((double)same * (double)same - 1.0);
    }
    return ties;
}

RankTest rank_test(const double *a, int64_t n_a, const double *b, int64_t n_b, Arena *arena)
{
    RankTest test = {.u = 0.0, .p = (double)NAN, .superior = (double)NAN};
    const int64_t n = n_a + n_b;
    const double pairs = (double)n_a * (double)n_b;
    double ranks_of_a = 0.0;
    if (n_a == 0 || n_b == 0) return test;
    double *all = ARENA_NEW(arena, double, n), *rank = ARENA_NEW(arena, double, n);
    for (int64_t i = 0; i < n; i++) all[i] = i < n_a ? a[i] : b[i - n_a];
    statistics_ranks(all, n, arena, rank);
    for (int64_t i = 0; i < n_a; i++) ranks_of_a += rank[i];
    const double ties = rank_ties(rank, n);
    test.u = ranks_of_a - (double)n_a * ((double)n_a + 1.0) / 2.0;
    test.superior = test.u / pairs;
    test.exact = ties == 0.0 && n <= RANK_EXACT_MAX;
    const double least = fmin(test.u, pairs - test.u);
    test.p = test.exact ? fmin(1.0, 2.0 * rank_exact(least, n_a, n_b, arena))
                        : rank_normal(test.u, (double)n_a, (double)n_b, ties);
    return test;
}

// ---- pairs ----------------------------------------------------------------------------------------------------------

// F. Wilcoxon, Biometrics Bulletin 1, 1945: pairs that are equal are left out. Exact for up to 50 pairs without ties
// and without equal ones; else normal, corrected for ties, without a correction for continuity, as scipy.stats.wilcoxon
// with method="asymptotic".

enum { SIGNED_EXACT_MAX = 50 };

// P(W <= w) if all signs of n ranks are equally likely: count[s] of 2^n choices of ranks have the sum s.
static double signed_exact(double w, int64_t n, Arena *arena)
{
    const int64_t sums = n * (n + 1) / 2 + 1;
    const size_t used = arena->used;
    double *count = ARENA_NEW(arena, double, sums), below = 0.0;
    count[0] = 1.0;
    for (int64_t rank = 1; rank <= n; rank++) {
        for (int64_t s = sums - 1; s >= rank; s--) count[s] += count[s - rank];
    }
    for (int64_t s = 0; s < sums && (double)s <= w; s++) below += count[s];
    arena_rewind(arena, used);
    return ldexp(below, -(int)n);
}

static double signed_normal(double w, double n, double ties)
{
    const double variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    return erfc(fabs(w - n * (n + 1.0) / 4.0) / sqrt(2.0 * variance));
}

SignedRankTest signed_rank_test(const double *a, const double *b, int64_t n, Arena *arena)
{
    SignedRankTest test = {.p = (double)NAN};
    double *size = ARENA_NEW(arena, double, n + 1), *rank = ARENA_NEW(arena, double, n + 1);
    bool *less = ARENA_NEW(arena, bool, n + 1);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        if (a[i] == b[i]) continue; // also two infinities
        less[count] = b[i] < a[i];
        size[count++] = fabs(b[i] - a[i]);
    }
    test.equal = n - count;
    if (count == 0) return test;
    statistics_ranks(size, count, arena, rank);
    for (int64_t i = 0; i < count; i++) {
        test.less += less[i];
        if (less[i]) test.w += rank[i];
    }
    test.greater = count - test.less;
    const double all = (double)count * ((double)count + 1.0) / 2.0, ties = rank_ties(rank, count);
    test.exact = count <= SIGNED_EXACT_MAX && ties == 0.0 && test.equal == 0;
    test.p = test.exact ? fmin(1.0, 2.0 * signed_exact(fmin(test.w, all - test.w), count, arena))
                        : signed_normal(test.w, (double)count, ties);
    return test;
}
