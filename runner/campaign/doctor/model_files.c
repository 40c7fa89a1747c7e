// hopscotch doctor, the campaign's copies of the files that its model reads, and of its program: compares them with
// the digests in the spec, and in the events. These files can't be computed again.
#include "doctor.h"

#include <string.h>

static Error kept_digest(const char *path, Sha256Text *digest)
{
    int64_t size = 0;
    Arena arena;
    Bytes content;
    TRY(file_check_regular(path));
    if (file_missing(path)) return error_make(ERROR_USER, "it is missing");
    TRY(file_size(path, &size));
    if ((uint64_t)size > CLOUD_BYTES_MAX)
        return error_make(ERROR_USER, "it has %s, and no file that a model reads is as large",
                          text_bytes((double)size).text);
    TRY(arena_create(&arena, (size_t)size + 65536, "a file that is checked"));
    const Error error = file_read_stored(path, (size_t)size, &arena, &content);
    if (error.kind == OK) *digest = sha256_of(content.data, content.size);
    arena_destroy(&arena);
    return error;
}

static bool kept_is_sound(Doctor *doctor, const char *name, const Sha256Text *expected)
{
    Sha256Text digest = {.hex = ""};
    const char *path = arena_format(doctor->arena, "%s/" CAMPAIGN_FILES "/%s", doctor->location->folder, expected->hex);
    Error error = kept_digest(path, &digest);
    if (error.kind == OK && strcmp(digest.hex, expected->hex) != 0)
        error = error_make(ERROR_USER, "its content changed: its SHA-256 is %.12s...", digest.hex);
    if (error.kind == OK) return true;
    doctor_find(doctor, "kept files",
                CAMPAIGN_FILES "/%.12s..., the copy of %.150s: %.300s; it can't be computed again: put that file there",
                expected->hex, name, error.text);
    return false;
}

// The copies of a program's files: the campaign's events name them.
static void kept_check_program(Doctor *doctor, int *count, int *sound)
{
    ProgramFiles kept;
    if (!doctor->spec.model->runs_program || doctor->database == NULL) return;
    const Error error = program_files_kept(doctor->database, doctor->arena, &kept);
    if (error.kind != OK) {
        doctor_find(doctor, "kept files", "%s", error.text);
        return;
    }
    for (int i = 0; i < kept.count; i++) {
        ++*count;
        *sound += kept_is_sound(doctor, text_visible(kept.items[i].name, doctor->arena), &kept.items[i].digest);
    }
}

void doctor_check_kept(Doctor *doctor)
{
    int count = 0, sound = 0;
    if (!doctor->spec_ok) return;
    const Error inside = campaign_check_folders(doctor->location->folder, doctor->arena);
    if (inside.kind != OK) return; // doctor_check_files reports it
    const Spec *spec = &doctor->spec;
    for (int k = 0; spec != NULL; spec = spec_with_files(&doctor->spec, ++k)) {
        for (int i = 0; i < spec->model->n_options; i++) {
            if (spec->files[i].name == NULL) continue;
            count++;
            sound += kept_is_sound(doctor, spec->files[i].name, &spec->files[i].digest);
        }
    }
    kept_check_program(doctor, &count, &sound);
    if (count > 0 && sound == count)
        doctor_pass(doctor, "kept files", "%d, each with the content that the campaign names", count);
}
