// Any bytes as a spec: spec_parse says what is wrong with them, or gives a spec whose resolved text reads back to it.
#include "../../runner/runner.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool fuzz_parse(const char *text, Arena *arena, Spec *spec)
{
    Diagnostics *diagnostics = diagnostics_new(arena);
    const Error error = spec_parse("fuzz.yaml", text, NULL, 0, arena, diagnostics, spec);
    if ((error.kind == OK) != (diagnostics_errors(diagnostics) == 0)) abort();
    return error.kind == OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena;
    if (arena_create(&arena, (size_t)1 << 30, "fuzzing").kind != OK) abort();
    char *text = ARENA_NEW(&arena, char, size + 1);
    if (size > 0) memcpy(text, data, size);
    Spec spec = {0}, again = {0};
    if (fuzz_parse(text, &arena, &spec)) {
        if (!fuzz_parse(spec.resolved, &arena, &again)) abort();
        if (strcmp(spec.hash.hex, again.hash.hex) != 0) abort();
    }
    arena_destroy(&arena);
    return 0;
}
