// The CMA-ES: a search's points depend on its seed and number only, not on other searches or on where it is
// interrupted.
#include "cmaes_case.h"

#include <string.h>

static const char cmaes_three[] = "searches: 3, sigma: 0.2, restarts: bipop, restarts_max: 2, stop: {trials: 2500}";

TEST(cmaes_batches_of_any_size_give_the_same_searches)
{
    static const int64_t sizes[] = {1, 7, 33};
    CmaesCase whole;
    cmaes_case_start(&whole, cmaes_rosenbrock, 5, 3, cmaes_three);
    cmaes_case_run(&whole, CMAES_TEST_TRIALS);
    CHECK(whole.evaluations >= 3 * 2500);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CmaesCase parts;
        cmaes_case_start(&parts, cmaes_rosenbrock, 5, 3, cmaes_three);
        cmaes_case_run(&parts, sizes[i]);
        CHECK_INTEGER(whole.evaluations, parts.evaluations);
        CHECK(cmaes_same_state(&whole, &parts));
        cmaes_case_end(&parts);
    }
    cmaes_case_end(&whole);
}

// Two batches in flight: the search gives the second before it gets the results of the first.
TEST(cmaes_batches_in_flight_give_the_same_searches)
{
    CmaesCase whole, overlapped;
    cmaes_case_start(&whole, cmaes_rosenbrock, 5, 3, cmaes_three);
    cmaes_case_run(&whole, CMAES_TEST_TRIALS);
    cmaes_case_start(&overlapped, cmaes_rosenbrock, 5, 3, cmaes_three);
    CmaesCase *test = &overlapped;
    Trials slots[2] = {test->trials, {.capacity = 11}};
    slots[1].id = ARENA_NEW(&test->arena, int64_t, 11);
    slots[1].ordinal = ARENA_NEW(&test->arena, uint64_t, 11);
    slots[1].search = ARENA_NEW(&test->arena, int32_t, 11);
    slots[1].round = ARENA_NEW(&test->arena, int32_t, 11);
    slots[1].parameter = ARENA_NEW(&test->arena, double, 11 * 5);
    slots[1].fitness = ARENA_NEW(&test->arena, double, 11);
    slots[1].survived = ARENA_NEW(&test->arena, double, 11);
    bool waiting = false;
    int64_t in_flight = 0;
    for (int slot = 0;; slot = 1 - slot) {
        CHECK_OK(test->search.method->ask(&test->search, 11, &slots[slot], &waiting));
        for (int64_t t = 0; t < slots[slot].count; t++)
            slots[slot].fitness[t] = test->function(slots[slot].parameter + t * 5, 5);
        in_flight += slots[slot].count;
        CHECK_OK(test->search.method->tell(&test->search, &slots[1 - slot]));
        in_flight -= slots[1 - slot].count;
        slots[1 - slot].count = 0;
        if (in_flight == 0 && !waiting) break;
    }
    CHECK(cmaes_same_state(&whole, &overlapped));
    cmaes_case_end(&overlapped);
    cmaes_case_end(&whole);
}

TEST(cmaes_a_search_beside_others_equals_one_alone)
{
    CmaesCase all;
    cmaes_case_start(&all, cmaes_rosenbrock, 5, 3, cmaes_three);
    cmaes_case_run(&all, 50);
    const size_t bytes = ((const Cmaes *)all.search.scratch)->run_bytes;
    for (int64_t i = 0; i < 3; i++) {
        CmaesCase alone;
        char options[160];
        snprintf(options, sizeof options,
                 "first: %d, sigma: 0.2, restarts: bipop, restarts_max: 2, stop: {trials: 2500}", (int)i);
        cmaes_case_start(&alone, cmaes_rosenbrock, 5, 3, options);
        cmaes_case_run(&alone, 50);
        CHECK(memcmp(cmaes_case_of(&all, i), cmaes_case_of(&alone, 0), bytes) == 0);
        cmaes_case_end(&alone);
    }
    CHECK(cmaes_case_of(&all, 0)->best != cmaes_case_of(&all, 1)->best);
    cmaes_case_end(&all);
}

TEST(cmaes_continues_from_its_state_alone)
{
    CmaesCase whole, pieces;
    cmaes_case_start(&whole, cmaes_rosenbrock, 5, 3, cmaes_three);
    cmaes_case_run(&whole, CMAES_TEST_TRIALS);
    cmaes_case_start(&pieces, cmaes_rosenbrock, 5, 3, cmaes_three);
    cmaes_case_run_in_pieces(&pieces, 13);
    CHECK_INTEGER(whole.evaluations, pieces.evaluations);
    CHECK(cmaes_same_state(&whole, &pieces));
    cmaes_case_end(&pieces);
    cmaes_case_end(&whole);
}

TEST(cmaes_refuses_a_state_that_it_cannot_read)
{
    CmaesCase test;
    cmaes_case_start(&test, cmaes_sphere, 5, 3, "searches: 2");
    (void)cmaes_case_batch(&test, 5);
    CmaesState *state = test.search.state, kept = *state;
    CHECK_OK(test.search.method->restore(&test.search));
    state->version++;
    CHECK_SAYS(ERROR_USER, "is not of version", test.search.method->restore(&test.search));
    *state = kept;
    state->progress.told = 6;
    CHECK_SAYS(ERROR_MACHINE, "is damaged", test.search.method->restore(&test.search));
    *state = kept;
    state->progress.search = 2;
    CHECK_SAYS(ERROR_MACHINE, "is damaged", test.search.method->restore(&test.search));
    cmaes_case_end(&test);
}

TEST(cmaes_refuses_results_out_of_order)
{
    CmaesCase test;
    bool waiting;
    cmaes_case_start(&test, cmaes_sphere, 5, 3, "searches: 2");
    CHECK_OK(test.search.method->ask(&test.search, 3, &test.trials, &waiting));
    test.trials.id[0]++;
    CHECK_SAYS(ERROR_MACHINE, "out of order", test.search.method->tell(&test.search, &test.trials));
    cmaes_case_end(&test);
}

// Changes one option and reads the state again, as an extension does.
static void cmaes_case_extend(CmaesCase *test, int option, double value)
{
    test->settings = ARENA_NEW(&test->arena, double, CMAES_N_OPTIONS);
    memcpy(test->settings, test->spec.method_settings, sizeof(double) * CMAES_N_OPTIONS);
    test->settings[option] = value;
    test->spec.method_settings = test->settings;
    cmaes_case_run_in_pieces(test, 1); // the first batch is empty: the old search has ended
    cmaes_case_run(test, 7);
}

// Searches that no tolerance has ended continue.
TEST(cmaes_extended_in_generations_equals_one_run)
{
    static const char options[] = "searches: 4, sigma: 0.2, stop: {tolfun: 1e-3, tolfunhist: 1e-3, generations: ";
    char few[160], many[160];
    CmaesCase whole, parts;
    snprintf(few, sizeof few, "%s25}", options);
    snprintf(many, sizeof many, "%s80}", options);
    cmaes_case_start(&whole, cmaes_sphere, 3, 3, many);
    cmaes_case_run(&whole, CMAES_TEST_TRIALS);
    cmaes_case_start(&parts, cmaes_sphere, 3, 3, few);
    cmaes_case_run(&parts, CMAES_TEST_TRIALS);
    CHECK(parts.evaluations < whole.evaluations);
    cmaes_case_extend(&parts, CMAES_STOP_GENERATIONS, 50);
    cmaes_case_extend(&parts, CMAES_STOP_GENERATIONS, 80);
    CHECK_INTEGER(whole.evaluations, parts.evaluations);
    CHECK(cmaes_same_state(&whole, &parts));
    int64_t least = INT64_MAX, most = 0;
    for (int s = 0; s < 4; s++) {
        const int64_t rounds = cmaes_case_of(&parts, s)->round;
        least = rounds < least ? rounds : least;
        most = rounds > most ? rounds : most;
    }
    CHECK(least < most && most > 25); // the searches ended at different times, some in the second part
    cmaes_case_end(&parts);
    cmaes_case_end(&whole);
}

TEST(cmaes_extended_in_restarts_and_trials_equals_one_run)
{
    static const char options[] = "sigma: 0.2, restarts: bipop, restarts_max: 2, stop: {trials: ";
    for (int64_t first = 200; first < 2400; first += 300) {
        char few[160], many[160];
        CmaesCase whole, parts;
        snprintf(few, sizeof few, "%s%lld}", options, (long long)first);
        snprintf(many, sizeof many, "%s2500}", options);
        cmaes_case_start(&whole, cmaes_rosenbrock, 5, 3, many);
        cmaes_case_run(&whole, CMAES_TEST_TRIALS);
        cmaes_case_start(&parts, cmaes_rosenbrock, 5, 3, few);
        cmaes_case_run(&parts, CMAES_TEST_TRIALS);
        cmaes_case_extend(&parts, CMAES_STOP_TRIALS, 2500);
        CHECK_INTEGER(whole.evaluations, parts.evaluations);
        CHECK(cmaes_same_state(&whole, &parts));
        cmaes_case_end(&parts);
        cmaes_case_end(&whole);
    }
}

// Searches that end in different rounds are extended: each equals the search that had the larger budget from the start.
TEST(cmaes_searches_that_ended_apart_continue_apart)
{
    static const char options[] = "searches: 3, sigma: 0.2, restarts: ipop, restarts_max: 2, stop: {trials: ";
    char few[160], many[160];
    CmaesCase whole, parts;
    snprintf(few, sizeof few, "%s1500}", options);
    snprintf(many, sizeof many, "%s4000}", options);
    cmaes_case_start(&whole, cmaes_sphere, 4, 3, many);
    cmaes_case_run(&whole, CMAES_TEST_TRIALS);
    cmaes_case_start(&parts, cmaes_sphere, 4, 3, few);
    cmaes_case_run(&parts, CMAES_TEST_TRIALS);
    CHECK(cmaes_case_of(&parts, 0)->round != cmaes_case_of(&parts, 1)->round);
    cmaes_case_extend(&parts, CMAES_STOP_TRIALS, 4000);
    const size_t bytes = ((const Cmaes *)whole.search.scratch)->run_bytes;
    for (int64_t s = 0; s < 3; s++) CHECK(memcmp(cmaes_case_of(&whole, s), cmaes_case_of(&parts, s), bytes) == 0);
    cmaes_case_end(&parts);
    cmaes_case_end(&whole);
}
