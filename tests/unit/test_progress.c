// Progress: the line fits its width and shows the important numbers at every width; plain and JSON lines; the last
// line.
#include "../test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const ProgressNumbers progress_test_numbers = {.trials_done = 420131,
                                                      .trials_total = 1000000,
                                                      .ticks_done = 420131,
                                                      .ticks_total = 1000000,
                                                      .simulated_seconds = 2.1e6,
                                                      .failures = 1234,
                                                      .best = 0.20134,
                                                      .best_trial = 419999,
                                                      .doing = "running"};

// The first line that is drawn; the caller frees it.
static char *progress_test_show(ProgressStyle style, const char *columns, const ProgressNumbers *numbers)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    setenv("COLUMNS", columns, 1);
    Progress *progress = progress_start(out, style, "gains");
    const double until = clock_seconds() + 0.02;
    while (clock_seconds() < until) {
    }
    progress_show(progress, numbers);
    fclose(out);
    unsetenv("COLUMNS");
    free(progress);
    return text;
}

// Characters between \r and the clear-to-end that follows.
static int progress_test_width(const char *line)
{
    const char *end = strstr(line, "\033[K");
    return line[0] == '\r' && end != NULL ? (int)(end - line) - 1 : -1;
}

TEST(progress_bar_fits_and_keeps_the_important_numbers)
{
    static const char *const widths[] = {"200", "120", "100", "80"};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        char *line = progress_test_show(PROGRESS_BAR, widths[i], &progress_test_numbers);
        const int width = progress_test_width(line);
        CHECK(width > 0 && width < atoi(widths[i]));
        CHECK(strstr(line, "[==") != NULL);
        CHECK(strstr(line, "42%") != NULL || strstr(line, "] 420k/1.00M") != NULL);
        CHECK(strstr(line, "420,131/1,000,000") != NULL || strstr(line, "420k/1.00M") != NULL);
        CHECK(strstr(line, "/s") != NULL);
        CHECK(strstr(line, "sim s/s") != NULL || strstr(line, " x") != NULL);
        CHECK(strstr(line, "1.23k failed") != NULL);
        CHECK(strstr(line, "best 0.20134 #419999") != NULL);
        CHECK(strstr(line, "left") != NULL);
        free(line);
    }
}

TEST(progress_bar_is_cut_where_nothing_fits)
{
    char *line = progress_test_show(PROGRESS_BAR, "20", &progress_test_numbers);
    CHECK_INTEGER(19, progress_test_width(line));
    CHECK(strncmp(line, "\r 42% 420k/1.00M ", 17) == 0);
    free(line);
}

TEST(progress_with_an_open_end_draws_no_time_left)
{
    ProgressNumbers numbers = {.trials_done = 10, .best = (double)NAN};
    char *line = progress_test_show(PROGRESS_BAR, "80", &numbers);
    CHECK(strstr(line, "left") == NULL);
    CHECK(strstr(line, "10 trials") != NULL);
    CHECK(strstr(line, "no best yet") != NULL);
    free(line);
}

// The time left follows from the speed of this run alone, without the trials of an earlier run.
TEST(progress_time_left_ignores_what_was_done_before)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const double before = clock_seconds();
    Progress *progress = progress_start(out, PROGRESS_JSON, "gains");
    const double start = clock_seconds();
    ProgressNumbers numbers = {.trials_total = 1000, .trials_before = 500, .best = (double)NAN};
    while (clock_seconds() < start + 0.1) {
    }
    numbers.trials_done = 600; // 100 of them in this run: the other 400 take four times as long as these
    const double least = 4 * (clock_seconds() - start);
    progress_show(progress, &numbers);
    const double most = 4 * (clock_seconds() - before);
    fclose(out);
    const char *left = strstr(text, "\"seconds_left\":");
    CHECK(left != NULL);
    if (left != NULL) CHECK_NEAR(0.5 * (least + most), strtod(left + 15, NULL), 0.5 * (most - least) + 0.01);
    free(progress);
    free(text);
}

TEST(progress_json_is_one_object_a_line)
{
    char *text = progress_test_show(PROGRESS_JSON, "80", &progress_test_numbers);
    CHECK(strncmp(text, "{\"event\":\"progress\",", 20) == 0);
    CHECK(strstr(text, "\"campaign\":\"gains\"") != NULL);
    CHECK(strstr(text, "\"trials_done\":420131,\"trials_total\":1000000") != NULL);
    CHECK(strstr(text, "\"best\":0.20134,\"best_trial\":419999") != NULL);
    CHECK(text[strlen(text) - 2] == '}' && strchr(text, '\n') == text + strlen(text) - 1);
    free(text);
}

TEST(progress_plain_waits_and_finishes)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    Progress *progress = progress_start(out, PROGRESS_PLAIN, "gains");
    progress_show(progress, &progress_test_numbers); // too early for a line
    progress_note(progress, "recovered %d", 3);
    progress_finish(progress, &progress_test_numbers);
    fclose(out);
    CHECK(strncmp(text, "recovered 3\ngains: 420,131 trials in ", 37) == 0);
    CHECK(strstr(text, "; 1,234 failed, best 0.20134 (trial 419999)\n") != NULL);
    free(text);
}

TEST(progress_note_does_not_tear_the_bar)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    Progress *progress = progress_start(out, PROGRESS_BAR, "gains");
    progress_show(progress, &progress_test_numbers);
    progress_note(progress, "slow disk");
    fflush(out);
    const char *note = strstr(text, "\r\033[Kslow disk\n\r");
    CHECK(note != NULL && strstr(note, "420k/1.00M") != NULL);
    progress_finish(progress, &progress_test_numbers);
    fclose(out);
    CHECK(text[strlen(text) - 1] == '\n');
    free(text);
}

TEST(progress_none_prints_nothing)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    Progress *progress = progress_start(out, PROGRESS_NONE, "gains");
    progress_show(progress, &progress_test_numbers);
    progress_finish(progress, &progress_test_numbers);
    progress_show(NULL, &progress_test_numbers); // NULL: there was no memory for it; as style none
    progress_finish(NULL, &progress_test_numbers);
    fclose(out);
    CHECK_TEXT("", text);
    free(text);
}

// ---- unknown totals and unfinished work -----------------------------------------------------------------------------

TEST(progress_of_a_search_that_may_end_early_is_a_bound)
{
    ProgressNumbers numbers = {.trials_done = 196,
                               .trials_most = 12000,
                               .ticks_done = 196,
                               .ticks_total = 12000,
                               .best = (double)NAN,
                               .doing = "running"};
    char *line = progress_test_show(PROGRESS_BAR, "200", &numbers);
    CHECK(strstr(line, "196 of at most 12,000") != NULL && strstr(line, "at most ") != NULL);
    CHECK(strstr(line, "  1%") != NULL);
    free(line);
    line = progress_test_show(PROGRESS_BAR, "80", &numbers);
    CHECK(strstr(line, "196/<=12.0k") != NULL);
    free(line);
    line = progress_test_show(PROGRESS_JSON, "80", &numbers);
    CHECK(strstr(line, "\"trials_total\":0,\"trials_most\":12000") != NULL);
    free(line);
}

// All trials are computed, but not all are written: the bar is below 100 % and not full, and some time is left.
TEST(progress_is_not_full_before_all_is_committed)
{
    ProgressNumbers numbers = {.trials_done = 48000,
                               .trials_total = 51200,
                               .ticks_done = 51200,
                               .ticks_total = 51200,
                               .writing_seconds = 7,
                               .best = (double)NAN,
                               .doing = "running"};
    char *line = progress_test_show(PROGRESS_BAR, "120", &numbers);
    CHECK(strstr(line, "48,000/51,200") != NULL);
    CHECK(strstr(line, ">]") != NULL && strstr(line, " 99%") != NULL && strstr(line, "100%") == NULL);
    CHECK(strstr(line, "7.0 s left") != NULL);
    free(line);
    numbers.doing = "writing";
    line = progress_test_show(PROGRESS_BAR, "120", &numbers);
    CHECK(strstr(line, "left") == NULL && strstr(line, "writing") != NULL);
    free(line);
}

// The recording after the search has its own count and time.
TEST(progress_of_a_phase_counts_what_it_does)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    Progress *progress = progress_start(out, PROGRESS_JSON, "gains");
    ProgressNumbers numbers = {.trials_done = 1000,
                               .trials_total = 1000,
                               .ticks_done = 1000,
                               .ticks_total = 1000,
                               .best = (double)NAN,
                               .doing = "recording",
                               .phase_total = 25,
                               .phase_unit = "trials' trajectories"};
    const double before = clock_seconds();
    progress_show(progress, &numbers);
    const double start = clock_seconds();
    while (clock_seconds() < start + 1.05) {
    }
    numbers.phase_done = 5; // 20 more take four times as long as these 5
    const double least = 4 * (clock_seconds() - start);
    progress_show(progress, &numbers);
    const double most = 4 * (clock_seconds() - before);
    fclose(out);
    const char *last = strstr(text, "\"phase_done\":5");
    CHECK(last != NULL && strstr(last, "\"phase_total\":25") != NULL && strstr(last, "\"fraction\":0.2") != NULL);
    const char *left = last != NULL ? strstr(last, "\"seconds_left\":") : NULL;
    if (left != NULL) CHECK_NEAR(0.5 * (least + most), strtod(left + 15, NULL), 0.5 * (most - least) + 0.01);
    CHECK(left != NULL);
    free(progress);
    free(text);
    numbers.phase_done = 3.4;
    char *line = progress_test_show(PROGRESS_BAR, "120", &numbers);
    CHECK(strstr(line, "recording 3 of 25 trials' trajectories") != NULL && strstr(line, "100%") == NULL);
    free(line);
}

TEST(progress_of_a_resumed_run_has_no_rate_before_it_advanced)
{
    ProgressNumbers numbers = progress_test_numbers;
    numbers.trials_before = numbers.trials_done;
    numbers.simulated_seconds = 0.0; // of this run
    char *line = progress_test_show(PROGRESS_BAR, "120", &numbers);
    CHECK(strstr(line, "420,131/1,000,000") != NULL && strstr(line, "/s") == NULL);
    free(line);
    line = progress_test_show(PROGRESS_JSON, "120", &numbers);
    CHECK(strstr(line, "\"trials_per_second\":null") != NULL || strstr(line, "\"trials_per_second\": null") != NULL);
    free(line);
}
