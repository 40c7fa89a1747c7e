#include "device_case.h"

#include <stdlib.h>

void device_case_start(DeviceCase *test, const char *spec, double patience, int64_t batch, int64_t slice)
{
    *test = (DeviceCase){.spec = {.seed = 0}};
    if (arena_create(&test->arena, (size_t)1 << 30, "test").kind != OK) abort();
    Diagnostics *diagnostics = diagnostics_new(&test->arena);
    CHECK_OK(spec_parse("hops.yaml", spec, NULL, 0, &test->arena, diagnostics, &test->spec));
    diagnostics_print(diagnostics, stdout, false);
    test->options = (RunOptions){.results = arena_copy(&test->arena, test_folder()),
                                 .backend = {.name = "faulty", .threads = 1, .patience = patience},
                                 .batch = batch,
                                 .slice = slice};
    backend_faulty_repair();
}

void device_case_end(DeviceCase *test)
{
    device_set_faults("");
    backend_faulty_repair();
    arena_destroy(&test->arena);
}

Error device_case_run(DeviceCase *test, const char *name, const char *faults)
{
    StoredCampaign stored;
    test->options.name = arena_copy(&test->arena, name);
    backend_faulty_repair();
    device_set_faults(faults);
    const Error error = campaign_run(&test->spec, &test->options, &test->arena, &test->summary);
    device_set_faults("");
    CHECK_OK(campaign_open(test->options.results, name, &test->arena, &stored));
    CHECK_OK(campaign_digest(&stored, &test->digest));
    campaign_close(&stored);
    return error;
}

int64_t device_case_count(DeviceCase *test, const char *name, const char *sql)
{
    StoredCampaign stored;
    Statement *statement = NULL;
    bool row = false;
    CHECK_OK(campaign_open(test->options.results, name, &test->arena, &stored));
    CHECK_OK(database_prepare(stored.database, sql, &statement));
    CHECK_OK(statement_step(statement, &row));
    const int64_t count = row ? column_integer(statement, 0) : -1;
    statement_close(statement);
    campaign_close(&stored);
    return count;
}
