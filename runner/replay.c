// The re-simulation of a stored trial: on any backend, in a batch of its own, the bits must be those that the campaign
// stored.
#include "store.h"

static Error replay_read_row(const StoredCampaign *campaign, int64_t trial, Arena *arena, TrialRows *stored)
{
    Statement *statement = NULL;
    bool row = false;
    rows_take(&campaign->spec, 1, arena, stored);
    TRY(database_prepare(campaign->database, rows_select_sql(&campaign->spec, arena, "WHERE id = ?"), &statement));
    bind_integer(statement, 1, trial);
    const Error error = statement_step(statement, &row);
    if (row) rows_read(&campaign->spec, statement, stored, 0);
    stored->count = row;
    statement_close(statement);
    return error;
}

// One batch that holds nothing but this trial's replicates.
static Error replay_batch(const Spec *spec, Backend *backend, Flight *flight, Commit *again)
{
    TRY(backend_prepare(backend, &spec->configured, spec->replicates.count, 0, 0));
    flight_fill(spec, flight, backend_batch(backend, 0));
    TRY(flight_run(spec, backend, flight, 0, NULL));
    flight_collect(spec, flight, backend_batch(backend, 0), again);
    return error_none();
}

static Error replay_simulate(const StoredCampaign *campaign, const TrialRows *stored, const BackendOptions *options,
                             Arena *arena, Commit *again)
{
    const Spec *spec = &campaign->spec;
    Search search;
    Flight flight;
    Backend *backend = NULL;
    flight_take(spec, 1, arena, &flight);
    commit_take(spec, 1, 0, 0, 0, arena, again);
    flight.trials.count = 1;
    flight.trials.id[0] = stored->id[0];
    flight.trials.search[0] = stored->search[0];
    flight.trials.round[0] = stored->round[0];
    TRY(search_init(spec, arena, &search));
    TRY(search_stored_trial(&search, campaign->database, stored, 0, &flight.trials.ordinal[0],
                            flight.trials.parameter));
    TRY(backend_open(options, &backend));
    const Error error = replay_batch(spec, backend, &flight, again);
    backend_close(backend);
    return error;
}

Error campaign_replay(const StoredCampaign *campaign, int64_t trial, const BackendOptions *backend, Arena *arena,
                      ReplayResult *result)
{
    TrialRows stored;
    Commit again;
    if (campaign->numerics_version != NUMERICS_VERSION) {
        return error_make(ERROR_USER,
                          "campaign %s was computed with numerics version %d and this program has version "
                          "%d: replay it with the program that wrote it (version %s)",
                          campaign->name, campaign->numerics_version, NUMERICS_VERSION, campaign->program_version);
    }
    TRY(replay_read_row(campaign, trial, arena, &stored));
    if (stored.count == 0) {
        return error_make(ERROR_USER, "campaign %s has no trial %lld", campaign->name, (long long)trial);
    }
    TRY(replay_simulate(campaign, &stored, backend, arena, &again));
    *result = (ReplayResult){
        .trial = trial, .fitness = rows_stored(again.rows.fitness[0]), .stored_fitness = stored.fitness[0]};
    result->equal =
        !rows_differ(&campaign->spec, &stored, 0, &again.rows, 0, result->difference, sizeof result->difference);
    return error_none();
}
