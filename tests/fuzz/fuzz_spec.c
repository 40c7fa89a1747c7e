// Any bytes as a spec: spec_parse reports errors, or returns a spec whose resolved text reads back to it, whose trials
// can be asked for, and whose recorded arrays can be computed.
#include "fuzz.h"
#include "../../runner/campaign/run/record.h"

static bool fuzz_parse(const char *text, Arena *arena, Spec *spec)
{
    Diagnostics *diagnostics = diagnostics_new(arena);
    const Error error = spec_parse("fuzz.yaml", text, NULL, 0, arena, diagnostics, spec);
    fuzz_check_error(error);
    if ((error.kind == OK) != (diagnostics_errors(diagnostics) == 0)) abort();
    return error.kind == OK;
}

static void fuzz_check_parameters(const Configured *configured, const double *parameter)
{
    for (int i = 0; i < configured_named(configured); i++) {
        const Parameter *row = &configured->parameters[i];
        if (!(parameter[i] >= row->low && parameter[i] <= row->high)) abort();
    }
}

static void fuzz_trial(const Search *search, int64_t id, double *parameter)
{
    uint64_t ordinal;
    const Error error = search->method->trial(search, id, &ordinal, parameter);
    fuzz_check_error(error);
    if (error.kind == OK) fuzz_check_parameters(&search->spec->configured, parameter);
}

// The trials of a search that learns are not a function of their ids: its first ones.
static void fuzz_ask(Search *search, Arena *arena)
{
    enum { FUZZ_ASKED = 4 };
    const int parameters = search->spec->configured.n_parameters;
    bool waiting = false;
    Trials trials = {.capacity = FUZZ_ASKED,
                     .id = ARENA_NEW(arena, int64_t, FUZZ_ASKED),
                     .ordinal = ARENA_NEW(arena, uint64_t, FUZZ_ASKED),
                     .search = ARENA_NEW(arena, int32_t, FUZZ_ASKED),
                     .round = ARENA_NEW(arena, int32_t, FUZZ_ASKED),
                     .parameter = ARENA_NEW(arena, double, FUZZ_ASKED *parameters),
                     .fitness = ARENA_NEW(arena, double, FUZZ_ASKED),
                     .objective = ARENA_NEW(arena, double, FUZZ_ASKED *rows_objectives(search->spec)),
                     .constraint = ARENA_NEW(arena, double, FUZZ_ASKED * search->spec->n_constraints),
                     .survived = ARENA_NEW(arena, double, FUZZ_ASKED)};
    const Error error = search->method->ask(search, FUZZ_ASKED, &trials, &waiting);
    fuzz_check_error(error);
    for (int64_t i = 0; error.kind == OK && i < trials.count; i++)
        fuzz_check_parameters(&search->spec->configured, trials.parameter + i * parameters);
}

static void fuzz_plan(const Spec *spec, Arena *arena)
{
    Search search;
    double *parameter = ARENA_NEW(arena, double, spec->configured.n_parameters);
    const Error error = search_init(spec, arena, &search);
    fuzz_check_error(error);
    if (error.kind != OK) return;
    const int64_t ids[] = {0, 1, search.total / 2, search.total - 1, search.total, -1};
    if (search_learns(search.method)) {
        fuzz_ask(&search, arena);
    } else {
        for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) fuzz_trial(&search, ids[i], parameter);
    }
    for (RecordKind kind = 0; kind < RECORD_KINDS; kind++) {
        const Recording recording = recording_of(spec, kind);
        if (recording.wanted && recording_lane_bytes(&recording) <= 0) abort();
        if (recording_lanes_max(&recording) < 0) abort();
    }
    if (record_trials_max(spec, recording_lanes_max(&(Recording){0})) < 1) abort();
    if (record_debug_lanes(spec, 1000) < 0 || flight_bytes(spec) <= 0 || rows_bytes(spec) <= 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *arena = fuzz_arena();
    char *text = fuzz_text(data, size);
    Spec spec = {0}, again = {0};
    if (fuzz_parse(text, arena, &spec)) {
        if (!fuzz_parse(spec.resolved, arena, &again)) abort();
        if (strcmp(spec.hash.hex, again.hash.hex) != 0) abort();
        fuzz_plan(&spec, arena);
    }
    free(text);
    return 0;
}
