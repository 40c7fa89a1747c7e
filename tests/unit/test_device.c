// Faults of devices: the watchdog, batches that shrink until they fit, failing devices and their replacement. With
// every fault at every call the campaign has the digest of one without faults.
#include "../../runner/campaign/batch/device.h"
#include "device_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// 55 trials of two replicates: some are recorded as they run, the best and their debug rows at the end
#define DEVICE_SPEC                                                                                                    \
    "version: 1\nexperiment: hops\nseed: 7\nmodel: hopper\nsimulation: {duration: 0.03, dt: 1.0e-3, settle: 0}\n"      \
    "search: {method: grid, over: {k_fp: {linspace: [50, 300, 11]}, thrust: {arange: [25, 29, 1]}}}\n"                 \
    "replicates: {count: 2, perturb: {phi_leg: {normal: [0.01, 0.02]}}}\n"                                             \
    "objective: {minimize: velocity_error}\n"                                                                          \
    "record: {trajectories: {select: {best: 3, every: 10}, sample: 0.005}, "                                           \
    "debug: {newton: {select: {best: 2}, window: [0.01, 0.02]}}}\n"

static void device_case_whole(DeviceCase *test, char *hex)
{
    CHECK_OK(device_case_run(test, "whole", ""));
    CHECK_INTEGER(55, test->summary.trials_done);
    memcpy(hex, test->digest.hex, sizeof test->digest.hex);
}

// ---- campaigns ------------------------------------------------------------------------------------------------------

// Injects one fault at the first call of an operation, the sixth, ... until the fault comes too late to matter.
// DEVICE_EVERY_CALL=1 tries each call, which takes a minute.
static void device_case_sweep(DeviceCase *test, const char *operation, const char *what, const char *whole)
{
    const int step = getenv("DEVICE_EVERY_CALL") != NULL ? 1 : test_quick() ? 12 : 5;
    bool told = true;
    int n = 1;
    for (; told && n < 100; n += step) {
        char faults[64], name[64];
        snprintf(faults, sizeof faults, "backend:%s:%d:%s", operation, n, what);
        snprintf(name, sizeof name, "%s_%s_%d", operation, what, n);
        CHECK_OK(device_case_run(test, name, faults));
        CHECK_TEXT(whole, test->digest.hex);
        CHECK_INTEGER(55, test->summary.trials_done);
        told = device_case_count(test, name, "SELECT count(*) FROM events WHERE kind = 'device'") > 0;
    }
    CHECK((n > 1 + step || test_quick()) && n < 100);
}

TEST(device_trouble_at_any_call_changes_no_bit)
{
    static const char *const operations[] = {"open", "prepare", "begin", "advance", "wait"};
    static const char *const whats[] = {"MEMORY", "LAUNCH", "LOST"};
    DeviceCase test;
    char whole[65];
    device_case_start(&test, DEVICE_SPEC, 0.2, 32, 20);
    device_case_whole(&test, whole);
    for (int o = 0; o < 5; o++) {
        for (int w = 0; w < 3; w++) {
            if (!test_quick() || w == o % 3) device_case_sweep(&test, operations[o], whats[w], whole);
        }
    }
    device_case_end(&test);
}

#define LIES "SELECT count(*) FROM batches WHERE kernel_seconds IS NULL OR kernel_seconds NOT BETWEEN 0 AND 1e6"

TEST(device_wrong_clock_changes_no_bit)
{
    DeviceCase test;
    char whole[65];
    device_case_start(&test, DEVICE_SPEC, 60.0, 32, 20);
    device_case_whole(&test, whole);
    test.options.slice = 0; // slices sized by the clock
    CHECK_OK(device_case_run(&test, "lies", "backend:wait:1+:TIME"));
    CHECK_TEXT(whole, test.digest.hex);
    CHECK_INTEGER(0, device_case_count(&test, "lies", LIES));
    device_case_end(&test);
}

TEST(device_that_fails_for_good_stops_the_run_and_another_one_resumes_it)
{
    DeviceCase test;
    char whole[65];
    device_case_start(&test, DEVICE_SPEC, 60.0, 32, 20);
    device_case_whole(&test, whole);
    const Error error = device_case_run(&test, "gone", "backend:wait:5+:LOST"); // on both devices
    CHECK_ERROR(ERROR_DEVICE, error);
    CHECK(strstr(error.text, "the device is lost") != NULL);
    CHECK(strstr(error.text, " resume gone") != NULL);
    const int64_t stored = device_case_count(&test, "gone", "SELECT count(*) FROM trials");
    CHECK(stored > 0 && stored < 55);
    CHECK_INTEGER(stored, test.summary.trials_done);
    CHECK_INTEGER(1, device_case_count(&test, "gone", "SELECT state = 'interrupted' FROM campaign"));
    CHECK_INTEGER(0, device_case_count(&test, "gone", "SELECT count(*) FROM trials WHERE survived = -12345"));
    test.options.backend.name = "cpu";
    CHECK_OK(device_case_run(&test, "gone", ""));
    CHECK_TEXT(whole, test.digest.hex);
    device_case_end(&test);
}

TEST(device_that_was_asked_for_is_replaced_only_on_request)
{
    DeviceCase test;
    char whole[65];
    device_case_start(&test, DEVICE_SPEC, 0.2, 32, 20);
    device_case_whole(&test, whole);
    test.options.backend.devices = 1;
    CHECK_ERROR(ERROR_DEVICE, device_case_run(&test, "pinned", "backend:advance:4:LOST"));
    CHECK(strcmp(test.digest.hex, whole) != 0);
    test.options.fallback_cpu = true;
    CHECK_OK(device_case_run(&test, "fallback", "backend:advance:6:LOST"));
    CHECK_TEXT(whole, test.digest.hex);
    CHECK(device_case_count(&test, "fallback", "SELECT count(*) FROM batches WHERE backend = 'cpu'") > 0);
    CHECK(device_case_count(&test, "fallback", "SELECT count(*) FROM batches WHERE backend = 'faulty'") > 0);
    device_case_end(&test);
}

TEST(device_trouble_does_not_count_towards_limits)
{
    DeviceCase test;
    device_case_start(&test, DEVICE_SPEC, 0.2, 32, 20);
    test.spec.limits.trials = 40;
    CHECK_OK(device_case_run(&test, "whole", ""));
    const Sha256Text whole = test.digest;
    CHECK_OK(device_case_run(&test, "lost", "backend:wait:4:LOST"));
    CHECK_INTEGER(40, test.summary.trials_done);
    CHECK_TEXT("stopped", test.summary.state);
    CHECK_TEXT(whole.hex, test.digest.hex);
    device_case_end(&test);
}

TEST(device_that_keeps_failing_is_given_up)
{
    DeviceCase test;
    char whole[65];
    device_case_start(&test, DEVICE_SPEC, 0.2, 32, 20);
    device_case_whole(&test, whole);
    // the device is reopened twice, then the other one takes over
    CHECK_OK(device_case_run(&test, "worn", "backend:wait:2:LAUNCH,backend:wait:5:LAUNCH,backend:wait:8:LAUNCH"));
    CHECK_TEXT(whole, test.digest.hex);
    CHECK_INTEGER(3, device_case_count(&test, "worn", "SELECT count(*) FROM events WHERE kind = 'device'"));
    CHECK_INTEGER(1, device_case_count(&test, "worn",
                                       "SELECT count(*) FROM events WHERE kind = 'device' AND text LIKE "
                                       "'%continues on faulty device 1%'"));
    device_case_end(&test);
}

TEST(device_slice_that_does_not_end_stops_the_run)
{
    DeviceCase test;
    char whole[65];
    const double patient = 60.0, short_of_time = 0.2; // s; a machine that is busy with other things may pause for more
    device_case_start(&test, DEVICE_SPEC, patient, 32, 20);
    device_case_whole(&test, whole);
    test.options.backend.patience = short_of_time;
    const Error error = device_case_run(&test, "stuck", "backend:advance:3:HANG");
    test.options.backend.patience = patient;
    CHECK_ERROR(ERROR_STUCK, error);
    CHECK(strstr(error.text, "--watchdog") != NULL);
    CHECK(strstr(error.text, " resume stuck") != NULL);
    CHECK_OK(device_case_run(&test, "stuck", ""));
    CHECK_TEXT(whole, test.digest.hex);
    device_case_end(&test);
}

// ---- memory ---------------------------------------------------------------------------------------------------------

TEST(device_halves_its_batches_until_they_fit)
{
    DeviceCase test;
    Device device;
    device_case_start(&test, DEVICE_SPEC, 60.0, 32, 20);
    test.options.batch = 40;
    device_set_faults("backend:prepare:1:MEMORY,backend:prepare:2:MEMORY");
    CHECK_OK(device_open(&test.spec, &test.options, &test.arena, &device));
    CHECK_INTEGER(10, device.lanes); // whole trials of two replicates each
    CHECK_INTEGER(10, backend_batch(device.backend, 0)->stride);
    CHECK(strstr(device.note, "40 replicates") != NULL && strstr(device.note, "10 now") != NULL);
    CHECK(device_close(&device));

    device_set_faults("backend:prepare:1+:MEMORY");
    const Error error = device_open(&test.spec, &test.options, &test.arena, &device);
    CHECK_ERROR(ERROR_MEMORY, error);
    CHECK(strstr(error.text, "single trial") != NULL);
    CHECK(device.backend == NULL);
    device_case_end(&test);
}

TEST(device_arena_that_is_too_large_is_missing_memory)
{
    Arena arena;
    CHECK_ERROR(ERROR_MEMORY, arena_create(&arena, SIZE_MAX / 2, "everything"));
}

// ---- the watchdog ---------------------------------------------------------------------------------------------------

static int interrupted_at_once(void) { return 2; }

static void device_case_watch(DeviceCase *test, const BackendOptions *options, double least, double most)
{
    Backend *backend = NULL;
    bool done = false;
    double seconds = 0;
    device_set_faults("backend:advance:1:HANG");
    CHECK_OK(backend_open(options, &backend));
    CHECK_OK(backend_prepare(backend, &test->spec.configured, 8, 0, 0));
    backend_batch(backend, 0)->lanes = 8;
    CHECK_OK(backend_begin(backend, 0));
    CHECK_OK(backend_advance(backend, 0, 1));
    const double start = clock_seconds();
    CHECK_ERROR(ERROR_STUCK, backend_wait(backend, 0, &done, &seconds));
    const double took = clock_seconds() - start;
    CHECK(took >= least && took < most);
    CHECK(!done);
    CHECK(!backend_close(backend)); // the abandoned slice may still write to its memory
}

TEST(device_watchdog_is_as_patient_as_it_was_told)
{
    DeviceCase test;
    device_case_start(&test, DEVICE_SPEC, 0.2, 32, 20);
    BackendOptions options = {.name = "faulty", .threads = 1, .patience = 0.3};
    device_case_watch(&test, &options, 0.25, 20);
    options.patience = (double)INFINITY;
    options.interrupted = interrupted_at_once;
    device_case_watch(&test, &options, 0.9, 20);
    device_case_end(&test);
}

TEST(device_slice_in_flight_is_cut_short_when_the_backend_closes)
{
    DeviceCase test;
    Backend *backend = NULL;
    device_case_start(&test, DEVICE_SPEC, 0.2, 32, 20);
    const BackendOptions options = {.name = "cpu", .threads = 1, .patience = INFINITY};
    enum { LANES = 65536 };
    CHECK_OK(backend_open(&options, &backend));
    CHECK_OK(backend_prepare(backend, &test.spec.configured, LANES, 0, 0));
    Batch *batch = backend_batch(backend, 0);
    batch->lanes = LANES;
    for (int p = 0; p < test.spec.configured.n_parameters; p++) {
        for (int64_t i = 0; i < LANES; i++) batch->parameter[p * LANES + i] = test.spec.fixed[p];
    }
    bool done = false;
    double seconds = 0;
    const clock_t start = clock(); // of processor: the machine may be busy with other things
    CHECK_OK(backend_begin(backend, 0));
    CHECK_OK(backend_advance(backend, 0, test.spec.configured.ticks));
    CHECK_OK(backend_wait(backend, 0, &done, &seconds));
    CHECK(done);
    const clock_t cut = clock();
    CHECK_OK(backend_begin(backend, 0));
    CHECK_OK(backend_advance(backend, 0, test.spec.configured.ticks));
    CHECK(backend_close(backend));
    CHECK(clock() - cut < (cut - start) / 2);
    device_case_end(&test);
}
