// Rungs of limits.retire: how many trials go on, and what that saves. Whole campaigns: tests/cli/rungs.sh.
#include "../test.h"

#include "../../runner/experiment/experiment.h"

TEST(rungs_keep_a_part_of_each_group)
{
    static const struct {
        double keep;
        int64_t trials, kept;
    } cases[] = {{0.25, 4096, 1024}, {0.25, 1, 1}, {0.25, 5, 2},   {0.1, 30, 3},
                 {0.3, 10, 3},       {0.5, 7, 4},  {0.001, 64, 1}, {0.99, 100, 99}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const Rung rung = {.at = 1, .keep = cases[c].keep};
        const Spec spec = {.limits.rungs = {.count = 1, .of = 4096, .rung = &rung}};
        CHECK_INTEGER(cases[c].kept, rungs_kept(&spec, 0, cases[c].trials));
    }
}

// 5 s: of 16 trials 4 go on past 1 s, and 1 past 2.5 s; of the last 3 one.
TEST(rungs_simulate_less_than_whole_trials)
{
    const Rung rung[] = {{.at = 1, .keep = 0.25}, {.at = 2.5, .keep = 0.25}};
    Spec spec = {.configured = {.ticks = 5000, .tick_duration = 0.001}};
    CHECK_NEAR(35.0, rungs_simulated(&spec, 35), 0.0);
    spec.limits.rungs.count = spec.limits.rungs.passed = 2;
    spec.limits.rungs.of = 16;
    spec.limits.rungs.rung = rung;
    const double group = 16 * 0.2 + 4 * 0.5 + 1;
    CHECK_NEAR(2 * group, rungs_simulated(&spec, 32), 1e-12);
    CHECK_NEAR(2 * group + 3 * 0.2 + 0.5 + 1, rungs_simulated(&spec, 35), 1e-12);
    CHECK(!rungs_end(&spec));
    CHECK_INTEGER(3, race_rungs(&spec));
}
