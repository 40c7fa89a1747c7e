// Any bytes as a spec with its files: the input is cut at lines of "%%" into spec.yaml, a.yaml, b.yaml and points.csv
// of one folder. The result is an error, or a spec whose resolved text reads back to it without any file.
#include "fuzz.h"

#include <stdio.h>

static const char *const fuzz_names[] = {"spec.yaml", "a.yaml", "b.yaml", "points.csv"};
enum { FUZZ_FILES = sizeof fuzz_names / sizeof *fuzz_names };

// The folder, made once, in memory if the machine has such a place.
static const char *fuzz_folder(void)
{
    static char folder[64];
    if (folder[0] != '\0') return folder;
    strcpy(folder, file_exists("/dev/shm") ? "/dev/shm/fuzz_include.XXXXXX" : "/tmp/fuzz_include.XXXXXX");
    if (mkdtemp(folder) == NULL) abort();
    return folder;
}

static void fuzz_write(const char *name, const char *text, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(text, 1, size, file) != size || fclose(file) != 0) abort();
}

static void fuzz_write_files(const char *text)
{
    for (int i = 0; i < FUZZ_FILES; i++) {
        const char *end = i + 1 < FUZZ_FILES ? strstr(text, "%%\n") : NULL;
        const size_t size = end != NULL ? (size_t)(end - text) : strlen(text);
        fuzz_write(fuzz_names[i], text, size);
        text += end != NULL ? size + 3 : size;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *arena = fuzz_arena();
    char *text = fuzz_text(data, size), path[128];
    Spec spec = {0}, again = {0};
    fuzz_write_files(text);
    snprintf(path, sizeof path, "%s/spec.yaml", fuzz_folder());
    Diagnostics *diagnostics = diagnostics_new(arena);
    const Error error = spec_load(path, NULL, 0, arena, diagnostics, &spec);
    fuzz_check_error(error);
    if ((error.kind == OK) != (diagnostics_errors(diagnostics) == 0)) abort();
    if (error.kind == OK) {
        if (spec_parse("again.yaml", spec.resolved, NULL, 0, arena, diagnostics_new(arena), &again).kind != OK) abort();
        if (strcmp(spec.hash.hex, again.hash.hex) != 0) abort();
    }
    free(text);
    return 0;
}
