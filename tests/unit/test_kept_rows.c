// record.rows: which trials keep a row, and the sums over all trials, against what all trials together say. The trials
// are invented: fitness with many equal values and gaps, in batches of any size, with crashes between them.
#include "../../runner/campaign/store/commit/commit.h"
#include "../../runner/campaign/store/commit/kept_rows.h"
#include "../../runner/campaign/store/commit/seal.h"
#include "../../runner/campaign/store/trials/trial_blocks.h"
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_TRIALS = 4000, KEPT_EVERY = 250, KEPT_FAILURES = 21 };

typedef struct KeptCase {
    Arena arena;
    Spec spec;
    RunOptions options;
    const char *folder;
    Store *store;
    TrialRows all; // every trial
    Commit commit;
    uint64_t random;
} KeptCase;

static uint64_t kept_draw(KeptCase *test, uint64_t below)
{
    test->random = test->random * 6364136223846793005u + 1442695040888963407u;
    return (test->random >> 33) % below;
}

static const char kept_spec[] = "version: 1\nexperiment: kept\nseed: 7\nmodel: hopper\n"
                                "simulation: {duration: 0.01, dt: 1.0e-3, settle: 0}\n"
                                "search: {method: random, trials: 1e6, over: {k_fp: {range: [50, 300]}, "
                                "k_xdot: {range: [0.01, 1], scale: log}, thrust: [45, 25, 35]}}\n"
                                "record: {rows: {best: %d, every: 250, failures: 21}}\n";

static void kept_open_store(KeptCase *test)
{
    CHECK_OK(store_open(test->folder, "kept", &test->spec, &test->options, &test->arena, &test->store));
}

static double *kept_metric(KeptCase *test, const char *name)
{
    int m = 0;
    while (strcmp(test->spec.configured.metrics[m].name, name) != 0) m++;
    return test->all.metric + m * test->all.stride;
}

static void kept_invent(KeptCase *test)
{
    TrialRows *rows = &test->all;
    const int metrics = test->spec.configured.n_metrics;
    double *survived = kept_metric(test, "survived");
    rows->count = KEPT_TRIALS;
    for (int64_t i = 0; i < KEPT_TRIALS; i++) {
        rows->id[i] = i;
        rows->failure[i] = kept_draw(test, 5) == 0 ? (int64_t)(1 + kept_draw(test, 3)) : 0;
        rows->n_failed[i] = rows->failure[i] != 0;
        rows->fitness[i] = kept_draw(test, 70) == 0  ? (double)INFINITY
                           : kept_draw(test, 7) == 0 ? (double)NAN
                                                     : (double)kept_draw(test, 300) / 8 - 3;
        for (int m = 0; m < metrics; m++) {
            const double value = ((double)kept_draw(test, 2000) - 1000) * 1e-3;
            rows->metric[m * rows->stride + i] = kept_draw(test, 11) == 0 ? (double)NAN : value * fabs(value);
        }
        survived[i] = (double)kept_draw(test, 3);
        rows->searched[i].real = 50 + 0.25 * (double)kept_draw(test, 1001);
        rows->searched[rows->stride + i].real = portable_exp(-4.6 + 4.6e-3 * (double)kept_draw(test, 1001));
        rows->searched[2 * rows->stride + i].real = 25 + 10 * (double)kept_draw(test, 3);
        if (rows->constraint != NULL && rows->columns[6] > 0)
            for (int c = 0; c < 2; c++)
                rows->constraint[c * rows->stride + i] =
                    isnan(rows->fitness[i]) ? (double)NAN : (double)kept_draw(test, 3) * 0.5;
    }
}

static void kept_case_start(KeptCase *test, int best, const char *more)
{
    *test = (KeptCase){.random = 5};
    if (arena_create(&test->arena, (size_t)2 << 30, "test").kind != OK) abort();
    const char *text = arena_format(&test->arena, "%s%s", arena_format(&test->arena, kept_spec, best), more);
    Diagnostics *diagnostics = diagnostics_new(&test->arena);
    CHECK_OK(spec_parse("kept.yaml", text, NULL, 0, &test->arena, diagnostics, &test->spec));
    diagnostics_print(diagnostics, stdout, false);
    test->folder = arena_copy(&test->arena, test_folder());
    CHECK_OK(folder_make(arena_format(&test->arena, "%s/" CAMPAIGN_SHARDS, test->folder)));
    rows_take(&test->spec, KEPT_TRIALS, &test->arena, &test->all);
    commit_take(&test->spec, KEPT_TRIALS, 0, 0, 4, &test->arena, &test->commit);
    kept_invent(test);
    kept_open_store(test);
}

static void kept_case_end(KeptCase *test)
{
    CHECK_OK(store_close(test->store));
    arena_destroy(&test->arena);
}

static void kept_commit_rows(KeptCase *test, int64_t first, int64_t end)
{
    double seconds = 0;
    for (int64_t i = first; i < end; i++) rows_copy(&test->all, i, &test->commit.rows, i - first);
    test->commit.rows.count = end - first;
    CHECK_OK(store_commit(test->store, &test->commit, &seconds));
}

// In batches of at most `most` trials. Sometimes the process ends without an end of the run, and another one goes on.
static void kept_commit_all(KeptCase *test, int64_t most, bool crashes)
{
    for (int64_t first = 0; first < KEPT_TRIALS;) {
        const int64_t count = 1 + (int64_t)kept_draw(test, (uint64_t)most), left = KEPT_TRIALS - first;
        kept_commit_rows(test, first, first + (count < left ? count : left));
        first += count;
        if (!crashes || kept_draw(test, 3) != 0) continue;
        CHECK_OK(store_close(test->store));
        kept_open_store(test);
    }
    CHECK_OK(kept_settle(test->store));
    CHECK_OK(trial_blocks_show_to_run(test->store->database));
}

// ---- which rows -----------------------------------------------------------------------------------------------------

static KeptCase *kept_sorted; // qsort has no place for it

static int kept_compare_terms(int64_t a, int64_t b)
{
    const TrialRows *all = &kept_sorted->all;
    const double *survived = kept_metric(kept_sorted, "survived");
    const double sign = kept_sorted->spec.objective.maximize[0] ? -1 : 1;
    const bool violates = all->columns[6] > 0;
    if (violates && all->constraint[a] != all->constraint[b]) return all->constraint[a] < all->constraint[b] ? -1 : 1;
    if (all->fitness[a] != all->fitness[b]) return sign * all->fitness[a] < sign * all->fitness[b] ? -1 : 1;
    if (survived[a] != survived[b]) return survived[a] > survived[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int kept_compare_trials(const void *a, const void *b)
{
    return kept_compare_terms(*(const int64_t *)a, *(const int64_t *)b);
}

static void kept_expect(KeptCase *test, bool *wanted)
{
    int64_t *good = ARENA_NEW(&test->arena, int64_t, KEPT_TRIALS), n_good = 0, failed = 0;
    for (int64_t i = 0; i < KEPT_TRIALS; i++) {
        wanted[i] = i % KEPT_EVERY == 0 || (test->all.failure[i] != 0 && failed < KEPT_FAILURES);
        failed += test->all.failure[i] != 0;
        if (!isnan(test->all.fitness[i])) good[n_good++] = i;
    }
    kept_sorted = test;
    qsort(good, (size_t)n_good, sizeof *good, kept_compare_trials);
    for (int64_t i = 0; i < test->spec.record.rows.best && i < n_good; i++) wanted[good[i]] = true;
}

static void kept_check_rows(KeptCase *test)
{
    bool *wanted = ARENA_NEW(&test->arena, bool, KEPT_TRIALS);
    char difference[256];
    TrialRows back;
    int64_t expected = 0, found = 0, wrong = 0;
    kept_expect(test, wanted);
    for (int64_t i = 0; i < KEPT_TRIALS; i++) expected += wanted[i];
    rows_take(&test->spec, 1, &test->arena, &back);
    Cursor trials = trial_rows(test->store->database, &test->spec, &test->arena);
    for (; trial_rows_next(&trials, &test->spec, &back, 0); found++) {
        const int64_t id = back.id[0];
        wrong += id < 0 || id >= KEPT_TRIALS || !wanted[id] ||
                 rows_differ(&test->spec, &back, 0, &test->all, id, difference, sizeof difference);
    }
    CHECK_OK(cursor_close(&trials));
    CHECK_INTEGER(expected, found);
    CHECK_INTEGER(0, wrong);
}

static void kept_check_digests(KeptCase *test)
{
    SealDamage damage;
    CHECK_OK(seal_check(test->store->database, &test->arena, &damage));
    CHECK_INTEGER(0, damage.count);
}

static const char *const kept_variants[] = {
    "store: {rows: table}\n", "objective: {maximize: mean_speed}\nstore: {rows: table}\n",
    "objective: {minimize: velocity_error}\nconstraints: [attitude_rms < 0.1]\nstore: {rows: table}\n",
    "store: {rows: blocks}\n", "objective: {maximize: mean_speed}\nstore: {rows: blocks}\n"};

TEST(kept_rows_are_those_of_all_trials_ranked_together)
{
    for (size_t v = 0; v < sizeof kept_variants / sizeof *kept_variants; v++) {
        for (int64_t most = v % (test_quick() ? 5 : 3) == 0 ? 1500 : 150; most > 50; most /= 10) {
            KeptCase test;
            kept_case_start(&test, 37, kept_variants[v]);
            kept_commit_all(&test, most, most < 1000);
            kept_check_rows(&test);
            kept_check_digests(&test);
            kept_case_end(&test);
        }
    }
}

// What a repair does: all trials of a block get rows, then those go that are not kept.
TEST(kept_rows_come_back_among_all_rows_of_a_block)
{
    KeptCase test;
    SealTally tally;
    int64_t first, end;
    kept_case_start(&test, 37, "store: {rows: table}\n");
    kept_commit_all(&test, 900, false);
    seal_trials(1, &first, &end);
    CHECK_OK(store_begin(test.store));
    CHECK_OK(database_run(test.store->database, "DELETE FROM trials WHERE id BETWEEN 1024 AND 2047"));
    CHECK_OK(seal_again(test.store->database, "trials", 1, &test.arena, &tally)); // no trigger follows it
    for (int64_t i = first; i < end; i++) rows_copy(&test.all, i, &test.commit.rows, i - first);
    test.commit.rows.count = end - first;
    CHECK_OK(store_insert_rows(test.store, &test.commit.rows));
    CHECK_OK(store_end(test.store, kept_settle_between(test.store, first, end)));
    kept_check_rows(&test);
    kept_check_digests(&test);
    kept_case_end(&test);
}

// ---- blocks ---------------------------------------------------------------------------------------------------------

static int64_t kept_number(KeptCase *test, const char *sql)
{
    int64_t number = -1;
    CHECK_OK(store_integer(test->store->database, sql, -1, &number));
    return number;
}

// Trials that come in the order from worst to best: each one is the best so far.
static void kept_invent_better_and_better(KeptCase *test)
{
    for (int64_t i = 0; i < KEPT_TRIALS; i++) test->all.fitness[i] = (double)(KEPT_TRIALS - i);
}

TEST(kept_rows_blocks_are_written_anew_before_most_of_their_rows_are_dropped)
{
    KeptCase test;
    int64_t rewritten = 0, most = 0;
    kept_case_start(&test, 37, "store: {rows: blocks}\n");
    kept_invent_better_and_better(&test);
    for (int64_t first = 0; first < KEPT_TRIALS; first += 40) {
        kept_commit_rows(&test, first, first + 40);
        const int64_t rows = kept_number(&test, "SELECT sum(rows) FROM blocks");
        rewritten += kept_number(&test, "SELECT count(*) FROM blocks WHERE name GLOB 'rows_*_*.h5'") > 0;
        if (rows > most) most = rows;
        CHECK_INTEGER(rows, test.store->kept->stored);
    }
    CHECK(rewritten > 50);
    CHECK(most < 5 * (37 + KEPT_FAILURES + KEPT_TRIALS / KEPT_EVERY));
    kept_case_end(&test);
}

// A block that changed on the disk stays, so that the digests of its rows still tell of it.
TEST(kept_rows_blocks_that_are_damaged_are_not_written_anew)
{
    KeptCase test;
    SealDamage damage;
    unsigned char byte = 0;
    int64_t forgotten = 0;
    kept_case_start(&test, 37, "store: {rows: blocks}\n");
    kept_invent_better_and_better(&test);
    kept_commit_rows(&test, 0, 100);
    kept_commit_rows(&test, 100, 200);
    const int64_t rows = kept_number(&test, "SELECT sum(rows) FROM blocks");
    FILE *file = fopen(arena_format(&test.arena, "%s/" CAMPAIGN_SHARDS "/rows_000001.h5", test.folder), "r+b");
    CHECK(file != NULL);
    if (file == NULL) return;
    const long place = (long)kept_number(&test, "SELECT bytes FROM blocks WHERE name = 'rows_000001.h5'") / 2;
    CHECK(fseek(file, place, SEEK_SET) == 0 && fread(&byte, 1, 1, file) == 1);
    byte ^= 1;
    CHECK(fseek(file, place, SEEK_SET) == 0 && fwrite(&byte, 1, 1, file) == 1);
    fclose(file);
    CHECK_SAYS(ERROR_MACHINE, "rows_000001.h5 is damaged: its rows differ from what was written",
               kept_settle(test.store));
    CHECK_INTEGER(rows, kept_number(&test, "SELECT sum(rows) FROM blocks"));
    CHECK_OK(trial_blocks_forget(test.store->database, &forgotten));
    CHECK_INTEGER(1, forgotten);
    CHECK_OK(trial_blocks_show_to_run(test.store->database));
    CHECK_OK(seal_check(test.store->database, &test.arena, &damage));
    CHECK(damage.count > 0);
    kept_case_end(&test);
}

// ---- sums -----------------------------------------------------------------------------------------------------------

static int kept_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The column's values, sorted; their sum in the order of ids.
static int64_t kept_column(KeptCase *test, const double *column, double *values, double *sum)
{
    int64_t count = 0;
    *sum = 0;
    for (int64_t i = 0; i < KEPT_TRIALS; i++) {
        if (!isfinite(column[i])) continue;
        *sum += column[i];
        values[count++] = column[i];
    }
    (void)test;
    qsort(values, (size_t)count, sizeof *values, kept_ascending);
    return count;
}

static void kept_check_histogram(const ColumnSum *sum, const double *values)
{
    int64_t wrong = 0, at = 0;
    for (int64_t i = 0; i < sum->bins; i++) {
        const HistogramBin bin = histogram_bin(sum, i);
        int64_t trials = 0;
        for (; at < sum->values && values[at] >= bin.low && values[at] <= bin.high; at++) trials++;
        wrong += trials != bin.trials || trials == 0;
        wrong += bin.low != 0 && bin.high - bin.low > fabs(bin.low) * 0x1p-5;
    }
    CHECK_INTEGER(0, wrong);
    CHECK_INTEGER(sum->values, at);
}

static void kept_check_quantiles(const ColumnSum *sum, const double *values)
{
    for (double part = 0; part <= 1; part += 0.125) {
        const int64_t rank = (int64_t)fmax(1, ceil(part * (double)sum->values));
        double low, high;
        column_quantile(sum, part, &low, &high);
        CHECK(low <= values[rank - 1] && values[rank - 1] <= high);
    }
}

static void kept_check_column(KeptCase *test, const ColumnSum *sum, const double *column)
{
    double *values = ARENA_NEW(&test->arena, double, KEPT_TRIALS), total = 0;
    const int64_t count = kept_column(test, column, values, &total);
    CHECK_INTEGER(count, sum->values);
    CHECK_INTEGER(KEPT_TRIALS - count, sum->missing);
    CHECK_BITS(total, sum->sum);
    CHECK_BITS(values[0], sum->least);
    CHECK_BITS(values[count - 1], sum->greatest);
    kept_check_histogram(sum, values);
    kept_check_quantiles(sum, values);
}

static void kept_check_columns(KeptCase *test)
{
    ColumnSum sum;
    int seen = 0;
    Cursor columns = sums_of_columns(test->store->database);
    for (; column_sum_next(&columns, &sum); seen++) {
        const bool fitness = strcmp(sum.name, "fitness") == 0;
        const bool constraint = strcmp(sum.name, "violation") == 0 || strcmp(sum.name, "constraint_1") == 0;
        const double *column = fitness      ? test->all.fitness
                               : constraint ? test->all.constraint + (sum.name[0] == 'c' ? test->all.stride : 0)
                                            : kept_metric(test, sum.name);
        kept_check_column(test, &sum, column);
    }
    CHECK_OK(cursor_close(&columns));
    CHECK_INTEGER(1 + test->all.columns[6] + test->spec.configured.n_metrics, seen);
}

static bool kept_in_bin(double x, double low, double high, double last)
{
    return low == high ? x == low : x >= low && (x < high || (high == last && x <= high));
}

static void kept_check_bin(KeptCase *test, const AxisBin *bin, const double *x, const double *y, double x_last,
                           double y_last)
{
    AxisBin again = {.best = (double)NAN, .best_trial = -1};
    const TrialRows *all = &test->all;
    for (int64_t i = 0; i < KEPT_TRIALS; i++) {
        if (!kept_in_bin(x[i], bin->x_low, bin->x_high, x_last)) continue;
        if (y != NULL && !kept_in_bin(y[i], bin->y_low, bin->y_high, y_last)) continue;
        again.trials++;
        again.failures += all->failure[i] != 0;
        if (!isfinite(all->fitness[i])) continue;
        again.values++;
        again.sum += all->fitness[i];
        if (all->columns[6] > 0 && all->constraint[i] > 0) continue;
        if (again.best_trial >= 0 && !spec_better(&test->spec, 0, all->fitness[i], again.best)) continue;
        again.best = all->fitness[i];
        again.best_trial = i;
    }
    CHECK(again.trials == bin->trials && again.failures == bin->failures && again.values == bin->values);
    CHECK(again.sum == bin->sum && again.best_trial == bin->best_trial);
    CHECK((again.best_trial < 0 && isnan(bin->best)) || again.best == bin->best);
}

static const double *kept_searched(KeptCase *test, const char *name)
{
    static const char *const names[] = {"k_fp", "k_xdot", "thrust"};
    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], name) == 0) return &test->all.searched[i * test->all.stride].real;
    return NULL;
}

static void kept_check_axes(KeptCase *test, bool pairs)
{
    AxisSum sum;
    int seen = 0;
    Cursor axes = sums_of_axes(test->store->database, pairs);
    for (; axis_sum_next(&axes, &sum); seen++) {
        const AxisBin last = axis_bin(&sum, sum.bins - 1);
        int64_t trials = 0;
        for (int64_t i = 0; i < sum.bins; i++) {
            const AxisBin bin = axis_bin(&sum, i);
            trials += bin.trials;
            if (i % (pairs ? 37 : 1) == 0)
                kept_check_bin(test, &bin, kept_searched(test, sum.x), kept_searched(test, sum.y), last.x_high,
                               last.y_high);
        }
        CHECK_INTEGER(KEPT_TRIALS, trials);
        if (strcmp(sum.x, "thrust") == 0) CHECK_INTEGER(3, sum.bins); // a bin per value
    }
    CHECK_OK(cursor_close(&axes));
    CHECK_INTEGER(3, seen);
}

static void kept_check_failures(KeptCase *test)
{
    int64_t failed = 0, told = 0;
    for (int64_t i = 0; i < KEPT_TRIALS; i++) failed += test->all.failure[i] != 0;
    Cursor failures = sums_of_failures(test->store->database);
    while (cursor_next(&failures)) told += cell_integer(&failures, 1);
    CHECK_OK(cursor_close(&failures));
    CHECK_INTEGER(failed, told);
    const Summary *summary = &test->store->kept->summary;
    CHECK_INTEGER(failed, summary->trials - summary->failures[0]);
}

static void kept_check_sums(KeptCase *test)
{
    kept_check_columns(test);
    kept_check_axes(test, false);
    kept_check_axes(test, true);
    kept_check_failures(test);
}

TEST(sums_are_those_of_all_trials)
{
    for (size_t v = 0; v < sizeof kept_variants / sizeof *kept_variants; v++) {
        KeptCase test;
        kept_case_start(&test, 37, kept_variants[v]);
        kept_commit_all(&test, 700, true);
        kept_check_sums(&test);
        kept_case_end(&test);
    }
}

// A large batch drops the best many times over before it deletes their rows.
TEST(few_best_rows_are_kept_in_large_batches)
{
    for (int best = 1; best < 9; best += 3) {
        KeptCase test;
        kept_case_start(&test, best, "");
        kept_commit_all(&test, 2 * KEPT_TRIALS, false);
        kept_check_rows(&test);
        kept_check_digests(&test);
        kept_check_sums(&test);
        kept_case_end(&test);
    }
}

TEST(bins_of_a_histogram_hold_zero_and_the_ends_of_doubles)
{
    static const double values[] = {0,    -0.0 + 0.0, 5e-324, -5e-324, 1e-310, 2.2250738585072014e-308,
                                    -1.0, 1.0,        1.9999, 1e308,   -1e308, 0.1};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        int exponent, part, again_exponent, again_part;
        double low, high;
        summary_find_bin(values[i], &exponent, &part);
        summary_bounds(exponent, part, &low, &high);
        CHECK(low <= values[i] && values[i] <= high);
        summary_find_bin(low, &again_exponent, &again_part); // a stored bin is found by its least value
        CHECK_INTEGER(exponent, again_exponent);
        CHECK_INTEGER(part, again_part);
    }
    int exponent, part;
    double low, high;
    summary_find_bin(0, &exponent, &part);
    summary_bounds(exponent, part, &low, &high);
    CHECK(low == 0 && high == 0);
}

// ---- sums that are not those of the campaign ------------------------------------------------------------------------

TEST(a_store_refuses_sums_of_other_sizes)
{
    static const char *const changes[] = {
        "UPDATE summary_axes SET bins = zeroblob(80) WHERE y = ''",
        "UPDATE summary_axes SET bins = zeroblob(length(bins))",
        "UPDATE summary_columns SET histogram = x'0011'",
        "UPDATE summary_columns SET vals = vals + 1",
        "UPDATE summary_columns SET missing = -1",
        "UPDATE summary_failures SET trials = -1",
        "DELETE FROM summary_failures",
        "DELETE FROM summary_columns",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        KeptCase test;
        kept_case_start(&test, 37, "store: {rows: table}\n");
        kept_commit_rows(&test, 0, 500);
        CHECK_OK(database_run(test.store->database, changes[i]));
        CHECK_OK(store_close(test.store));
        CHECK_SAYS(ERROR_MACHINE, "does not hold the sums of this campaign",
                   store_open(test.folder, "kept", &test.spec, &test.options, &test.arena, &test.store));
        arena_destroy(&test.arena);
    }
}
