// Several devices that share every batch: any number of them gives the digest of one, arrays and all; one that fails
// leaves the others running. The devices are those of the backend `faulty`.
#include "device_case.h"

#include <stdlib.h>
#include <string.h>

// 275 trials of two replicates in batches of up to 203 lanes: some devices get whole blocks, one gets part of a block
#define SEVERAL_SPEC                                                                                                   \
    "version: 1\nexperiment: hops\nseed: 7\nmodel: hopper\nsimulation: {duration: 0.03, dt: 1.0e-3, settle: 0}\n"      \
    "search: {method: grid, over: {k_fp: {linspace: [50, 300, 55]}, thrust: {arange: [25, 29, 1]}}}\n"                 \
    "replicates: {count: 2, perturb: {phi_leg: {normal: [0.01, 0.02]}}}\n"                                             \
    "objective: {minimize: velocity_error}\n"                                                                          \
    "record: {trajectories: {select: {best: 3, every: 2}, sample: 0.005, replicates: all}, "                           \
    "debug: {newton: {select: {best: 40}, window: [0.01, 0.02]}}}\n"

static Error several_case_run(DeviceCase *test, const char *name, uint64_t devices, const char *faults)
{
    test->options.backend.devices = devices;
    return device_case_run(test, name, faults);
}

// ---- the same bits --------------------------------------------------------------------------------------------------

TEST(several_devices_give_the_bytes_of_one_device)
{
    static const uint64_t devices[] = {3, 7, 15, 9, BACKEND_ALL_DEVICES};
    static const int64_t batches[] = {203, 64, 21, 4096};
    DeviceCase test;
    device_case_start(&test, SEVERAL_SPEC, 2.0, 203, 12);
    CHECK_OK(several_case_run(&test, "one", 1, ""));
    const Sha256Text one = test.digest;
    CHECK_INTEGER(275, test.summary.trials_done);
    CHECK_TEXT("faulty device 0", test.summary.device);
    for (int d = 0; d < 5; d++) {
        for (int b = 0; b < 4; b++) {
            if (test_quick() && b != d % 4) continue;
            char name[32];
            snprintf(name, sizeof name, "devices_%d_%d", d, b);
            test.options.batch = batches[b];
            CHECK_OK(several_case_run(&test, name, devices[d], ""));
            CHECK_TEXT(one.hex, test.digest.hex);
        }
    }
    CHECK_TEXT("faulty device 0 and devices 1, 2, 3", test.summary.device);
    device_case_end(&test);
}

// The parameters and results of every lane, on each device, are in the places that the caller uses.
TEST(several_devices_share_a_batch)
{
    DeviceCase test;
    Backend *backend = NULL;
    device_case_start(&test, SEVERAL_SPEC, 2.0, 203, 12);
    BackendOptions options = {.name = "faulty", .threads = 1, .devices = 7};
    const Configured *configured = &test.spec.configured;
    enum { LANES = 5 * 32 + 7 };
    CHECK_OK(backend_open(&options, &backend));
    CHECK_INTEGER(7, (int64_t)backend_info(backend)->devices);
    CHECK_OK(backend_prepare(backend, configured, LANES, 0, 0));
    Batch *batch = backend_batch(backend, 0);
    batch->lanes = LANES;
    for (int p = 0; p < configured->n_parameters; p++) {
        for (int64_t i = 0; i < LANES; i++)
            batch->parameter[p * batch->stride + i] = test.spec.fixed[p] * (1 + 1e-4 * (double)i);
    }
    bool done = false;
    double seconds = -1;
    CHECK_OK(backend_begin(backend, 0));
    for (int slices = 0; !done && slices < 100; slices++) {
        CHECK_OK(backend_advance(backend, 0, 9));
        CHECK_OK(backend_wait(backend, 0, &done, &seconds));
    }
    CHECK(done && seconds > 0);
    int64_t different = 0; // lanes with another result than the lane before
    for (int64_t i = 0; i < LANES; i++) {
        CHECK(batch->status[i] != LANE_RUNNING);
        different += i > 0 && batch->metric[i] != batch->metric[i - 1];
    }
    CHECK(different > LANES / 2);
    CHECK(backend_close(backend));
    device_case_end(&test);
}

TEST(several_devices_that_are_not_there_are_refused)
{
    DeviceCase test;
    Backend *backend = NULL;
    device_case_start(&test, SEVERAL_SPEC, 2.0, 203, 12);
    const BackendOptions options = {.name = "faulty", .threads = 1, .devices = 1 | (uint64_t)1 << 40};
    const Error error = backend_open(&options, &backend);
    CHECK_ERROR(ERROR_USER, error);
    CHECK(strstr(error.text, "device 40") != NULL);
    const BackendOptions isa = {.name = "cpu", .threads = 1, .isa = "v9"};
    CHECK_SAYS(ERROR_USER, "there is no instruction set 'v9'; there are v4, v3, v2 and scalar",
               backend_open(&isa, &backend));
    const BackendOptions unknown = {.name = "abacus", .threads = 1};
    CHECK_SAYS(ERROR_USER, "there is no backend `abacus` in this build; it has cpu", backend_open(&unknown, &backend));
    const BackendOptions cpu = {.name = "cpu", .threads = 1, .devices = 3}; // the CPU is always one device
    CHECK_OK(backend_open(&cpu, &backend));
    CHECK_TEXT("cpu", backend_info(backend)->name);
    CHECK(backend_close(backend));
    device_case_end(&test);
}

// ---- trouble --------------------------------------------------------------------------------------------------------

#define EVENTS "SELECT count(*) FROM events WHERE kind = 'device'"
#define WITHOUT_1                                                                                                      \
    "SELECT (SELECT count(*) FROM batches WHERE device = 'faulty device 0 and device 2') + "                           \
    "(SELECT count(*) FROM events WHERE text LIKE '%continues on faulty device 0 and device 2 %')"

TEST(several_devices_of_which_one_dies_go_on_without_it)
{
    static const char *const operations[] = {"open", "prepare", "begin", "advance", "wait"};
    DeviceCase test;
    device_case_start(&test, SEVERAL_SPEC, 2.0, 203, 12);
    CHECK_OK(several_case_run(&test, "one", 1, ""));
    const Sha256Text one = test.digest;
    for (int o = 0; o < 5; o++) {
        for (int n = 1; n < 8; n += 3) {
            if (test_quick() && n != (o % 2 == 0 ? 1 : 7)) continue;
            char name[32], faults[64];
            snprintf(name, sizeof name, "%s_%d", operations[o], n);
            snprintf(faults, sizeof faults, "backend:%s1:%d:LOST", operations[o], n);
            CHECK_OK(several_case_run(&test, name, 7, faults));
            CHECK_TEXT(one.hex, test.digest.hex);
            const bool late = n > (o < 2 ? 2 : o == 2 ? 6 : 20); // opened once, prepared twice; six batches
            CHECK_INTEGER(!late, device_case_count(&test, name, WITHOUT_1) > 0);
        }
    }
    device_case_end(&test);
}

TEST(several_devices_of_which_one_keeps_failing_give_it_up)
{
    DeviceCase test;
    device_case_start(&test, SEVERAL_SPEC, 2.0, 203, 12);
    CHECK_OK(several_case_run(&test, "one", 1, ""));
    const Sha256Text one = test.digest;
    CHECK_OK(several_case_run(&test, "worn", 7, "backend:wait1:2+:LAUNCH"));
    CHECK_TEXT(one.hex, test.digest.hex);
    CHECK_INTEGER(3, device_case_count(&test, "worn", EVENTS));
    CHECK_INTEGER(1, device_case_count(&test, "worn", EVENTS " AND text LIKE '%faulty device 0 and device 2%'"));
    // devices fail one after the other; device 2 is left
    CHECK_OK(several_case_run(&test, "last", 7, "backend:wait1:2+:LOST,backend:wait0:5+:LOST"));
    CHECK_TEXT(one.hex, test.digest.hex);
    CHECK_TEXT("faulty device 2", test.summary.device);
    device_case_end(&test);
}

TEST(several_devices_that_all_fail_stop_the_run)
{
    DeviceCase test;
    device_case_start(&test, SEVERAL_SPEC, 2.0, 203, 12);
    CHECK_OK(several_case_run(&test, "one", 1, ""));
    const Sha256Text one = test.digest;
    const Error error = several_case_run(&test, "gone", 6, "backend:wait:9+:LOST");
    CHECK_ERROR(ERROR_DEVICE, error);
    CHECK(strstr(error.text, " resume gone") != NULL);
    CHECK_OK(several_case_run(&test, "gone", 15, "backend:prepare:1:MEMORY"));
    CHECK_TEXT(one.hex, test.digest.hex);
    const Error stuck = several_case_run(&test, "stuck", 3, "backend:advance1:3:HANG");
    CHECK_ERROR(ERROR_STUCK, stuck);
    CHECK_OK(several_case_run(&test, "stuck", 3, ""));
    CHECK_TEXT(one.hex, test.digest.hex);
    device_case_end(&test);
}
