// Any bytes as --set: an error with a place, or a spec that differs in what was set alone.
#include "fuzz.h"

static const char fuzz_base[] = "version: 1\nexperiment: fuzz\nmodel: bbob\nsimulation: {dimension: 2}\n"
                                "search: {over: {x1: [1, 2], x2: {linspace: [0, 1, 5]}}, zip: []}\n"
                                "replicates: {count: 2, store: true}\nlimits: {trials: 9}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *arena = fuzz_arena();
    char *text = fuzz_text(data, size);
    Diagnostics *diagnostics = diagnostics_new(arena);
    Spec spec;
    const Error error = spec_parse("fuzz.yaml", fuzz_base, (const char *const[]){text}, 1, arena, diagnostics, &spec);
    fuzz_check_error(error);
    if ((error.kind == OK) != (diagnostics_errors(diagnostics) == 0)) abort();
    free(text);
    return 0;
}
