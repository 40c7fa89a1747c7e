// Sensitivities of the parameters of a campaign (morris, sobol_indices): the method's measures over its groups of
// trials, with the method's intervals of 95 %, or from a thousand bootstrap samples of groups (B. Efron & R. J.
// Tibshirani, An introduction to the bootstrap, 1993, chapter 13: percentiles). A group with a failed or missing trial
// is left out. The table `sensitivity` is written again when a run of the campaign ends.
#include "store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SENSITIVITY_SAMPLES = 1000 };

typedef struct SensitivityPass {
    const Search *search;
    Store *store;
    int64_t n_groups, group; // group: trials per group
    int n_values;            // measures of all axes
    double *fitness;         // [n_groups][group]
    int64_t *whole;          // [n_whole] groups without a failure
    int64_t n_whole;
    int64_t *chosen;            // [n_whole]
    double *value, *low, *high; // [n_values]
    double *sample;             // [SENSITIVITY_SAMPLES][n_values]
} SensitivityPass;

// ---- trials ---------------------------------------------------------------------------------------------------------

static Error sensitivity_read(SensitivityPass *pass)
{
    const int64_t count = pass->n_groups * pass->group;
    for (int64_t i = 0; i < count; i++) pass->fitness[i] = (double)NAN;
    Cursor trials = cursor_open(pass->store->database, "SELECT id, fitness FROM trials WHERE fitness IS NOT NULL");
    while (cursor_next(&trials)) {
        const int64_t id = cell_integer(&trials, 0);
        if (id >= 0 && id < count) pass->fitness[id] = cell_real(&trials, 1);
    }
    return cursor_close(&trials);
}

static void sensitivity_find_whole(SensitivityPass *pass)
{
    pass->n_whole = 0;
    for (int64_t b = 0; b < pass->n_groups; b++) {
        bool complete = true;
        for (int64_t i = 0; i < pass->group; i++) complete = complete && isfinite(pass->fitness[b * pass->group + i]);
        if (complete) pass->whole[pass->n_whole++] = b;
    }
}

// ---- measures -------------------------------------------------------------------------------------------------------

static void sensitivity_measure(const SensitivityPass *pass, const int64_t *chosen, double *out)
{
    const SensitivityGroups groups = {pass->fitness, chosen, pass->n_whole};
    pass->search->method->sensitivity->measure(pass->search, &groups, out);
}

static void sensitivity_bootstrap(SensitivityPass *pass)
{
    for (int s = 0; s < SENSITIVITY_SAMPLES; s++) {
        RandomKey key = {
            .seed = pass->search->spec->seed, .search = 0xFFFC, .replicate = (uint32_t)s, .purpose = RANDOM_SAMPLE};
        for (int64_t b = 0; b < pass->n_whole; b++) {
            key.ordinal = (uint64_t)b;
            pass->chosen[b] = pass->whole[(int64_t)(random_uniform(&key, 0) * (double)pass->n_whole)];
        }
        sensitivity_measure(pass, pass->chosen, pass->sample + s * pass->n_values);
    }
}

static int sensitivity_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The 2.5th and the 97.5th percentile of value v.
static void sensitivity_percentiles(const SensitivityPass *pass, int v, double *low, double *high)
{
    double sorted[SENSITIVITY_SAMPLES];
    for (int s = 0; s < SENSITIVITY_SAMPLES; s++) sorted[s] = pass->sample[s * pass->n_values + v];
    qsort(sorted, SENSITIVITY_SAMPLES, sizeof *sorted, sensitivity_ascending);
    *low = sorted[SENSITIVITY_SAMPLES / 40 - 1];
    *high = sorted[SENSITIVITY_SAMPLES - SENSITIVITY_SAMPLES / 40];
}

static void sensitivity_intervals(SensitivityPass *pass)
{
    const Sensitivity *sensitivity = pass->search->method->sensitivity;
    const SensitivityGroups groups = {pass->fitness, pass->whole, pass->n_whole};
    if (sensitivity->interval != NULL) {
        sensitivity->interval(pass->search, &groups, pass->low, pass->high);
        return;
    }
    sensitivity_bootstrap(pass);
    for (int v = 0; v < pass->n_values; v++) sensitivity_percentiles(pass, v, &pass->low[v], &pass->high[v]);
}

// ---- the table ------------------------------------------------------------------------------------------------------

static double sensitivity_finite(double value) { return isfinite(value) ? value : (double)NAN; }

static Error sensitivity_replace(SensitivityPass *pass)
{
    const Spec *spec = pass->search->spec;
    const Sensitivity *sensitivity = pass->search->method->sensitivity;
    Database *database = pass->store->database;
    TRY(database_run(database, "DELETE FROM sensitivity"));
    Cursor insert = cursor_open(database, "INSERT INTO sensitivity VALUES(?, ?, ?, ?, ?, ?, ?)");
    for (int v = 0; v < pass->n_values; v++) {
        with_text(&insert, spec->configured.parameters[spec->axes[v / sensitivity->n_measures].parameter].name);
        with_text(&insert, sensitivity->measures[v % sensitivity->n_measures]);
        with_real(&insert, sensitivity_finite(pass->value[v]));
        with_real(&insert, sensitivity_finite(pass->low[v]));
        with_real(&insert, sensitivity_finite(pass->high[v]));
        with_integer(&insert, pass->n_whole);
        with_integer(&insert, pass->n_groups - pass->n_whole);
        cursor_next(&insert);
    }
    return cursor_close(&insert);
}

static Error sensitivity_all(SensitivityPass *pass)
{
    TRY(sensitivity_read(pass));
    sensitivity_find_whole(pass);
    if (pass->n_whole < 2) return error_none(); // no interval from fewer
    sensitivity_measure(pass, pass->whole, pass->value);
    sensitivity_intervals(pass);
    TRY(store_begin(pass->store));
    return store_end(pass->store, sensitivity_replace(pass));
}

Error sensitivity_record(Store *store, const Search *search)
{
    const Sensitivity *sensitivity = search->method->sensitivity;
    Arena arena;
    if (sensitivity == NULL) return error_none();
    SensitivityPass pass = {.search = search, .store = store, .group = sensitivity->group(search->spec)};
    pass.n_groups = search->total / pass.group;
    pass.n_values = search->spec->n_axes * sensitivity->n_measures;
    const size_t bytes = (size_t)(pass.n_groups * (pass.group + 2) + (SENSITIVITY_SAMPLES + 3) * pass.n_values) * 8;
    TRY(arena_create(&arena, bytes + 4096, "sensitivities"));
    pass.fitness = ARENA_NEW(&arena, double, pass.n_groups *pass.group);
    pass.whole = ARENA_NEW(&arena, int64_t, pass.n_groups);
    pass.chosen = ARENA_NEW(&arena, int64_t, pass.n_groups);
    pass.value = ARENA_NEW(&arena, double, pass.n_values);
    pass.low = ARENA_NEW(&arena, double, pass.n_values);
    pass.high = ARENA_NEW(&arena, double, pass.n_values);
    pass.sample = ARENA_NEW(&arena, double, SENSITIVITY_SAMPLES *pass.n_values);
    const Error error = sensitivity_all(&pass);
    arena_destroy(&arena);
    return error;
}

// ---- reading --------------------------------------------------------------------------------------------------------

#define SENSITIVITY_ROWS "SELECT parameter, measure, value, low, high, blocks, left_out FROM sensitivity s ORDER BY "

Cursor sensitivity_by_parameter(Database *database)
{
    return cursor_open(database, SENSITIVITY_ROWS
                       "(SELECT max(abs(value)) FROM sensitivity m WHERE m.parameter = s.parameter AND "
                       "m.measure IN ('mu_star', 'total')) DESC, parameter, measure");
}

Cursor sensitivity_by_measure(Database *database, int64_t most)
{
    Cursor rows =
        cursor_open(database, SENSITIVITY_ROWS "measure NOT IN ('mu_star', 'total'), measure, abs(value) DESC LIMIT ?");
    with_integer(&rows, most);
    return rows;
}

bool sensitivity_next(Cursor *rows, StoredMeasure *row)
{
    if (!cursor_next(rows)) return false;
    *row = (StoredMeasure){.parameter = cell_text(rows, 0),
                           .measure = cell_text(rows, 1),
                           .value = cell_real(rows, 2),
                           .low = cell_real(rows, 3),
                           .high = cell_real(rows, 4),
                           .blocks = cell_integer(rows, 5),
                           .left_out = cell_integer(rows, 6)};
    return true;
}
