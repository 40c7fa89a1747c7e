// A spec derived from another: a copy with some fields changed. The rows that write a spec that was read write its
// texts from the fields.
#include "axes.h"

#include <string.h>

// ---- what is searched -----------------------------------------------------------------------------------------------

static void derive_settings(Spec *spec, Arena *arena)
{
    const SearchMethod *method = spec->method;
    double *settings = ARENA_NEW(arena, double, method->n_options);
    for (int i = 0; i < method->n_options; i++) settings[i] = method->options[i].value;
    spec->method_settings = settings;
}

static void derive_nothing(Spec *spec, Arena *arena)
{
    spec->axes = NULL;
    spec->n_axes = spec->n_derived = spec->n_outer = 0;
    memset(&spec->outer, 0, sizeof spec->outer);
    memset(&spec->warm, 0, sizeof spec->warm);
    spec->values_in = NULL;
    spec->grids = NULL;
    spec->when = NULL;
    spec->exclude = NULL;
    spec->points = spec->inject = NULL;
    spec->n_grids = spec->n_when = spec->n_exclude = spec->n_inject = 0;
    spec->n_points = 0;
    spec->segments = NULL;
    spec->n_segments = 0;
    spec->part = (PartOf){.count = 0};
    spec->overrides = (Overrides){.count = 0};
    derive_settings(spec, arena);
}

// A searched parameter has its default as fixed value.
static void derive_axes(const Spec *from, const Axis *axes, int n_axes, Arena *arena, Spec *out)
{
    const int n = configured_named(&from->configured);
    Axis *all = ARENA_NEW(arena, Axis, n_axes + from->n_derived);
    double *fixed = ARENA_NEW(arena, double, from->configured.n_parameters);
    bool *searched = ARENA_NEW(arena, bool, n);
    memcpy(fixed, from->fixed, (size_t)from->configured.n_parameters * sizeof *fixed);
    for (int a = 0; a < n_axes; a++) {
        const int p = axes[a].parameter;
        all[a] = axes[a];
        all[a].values.choices = configured_choices(&from->configured, p);
        searched[p] = true;
        fixed[p] = from->configured.parameters[p].value;
    }
    for (int a = from->n_axes; a < from->n_axes + from->n_derived; a++) {
        if (!searched[from->axes[a].parameter]) all[n_axes + out->n_derived++] = from->axes[a];
    }
    out->axes = all;
    out->n_axes = n_axes;
    out->fixed = fixed;
}

static void derive_copy(const Spec *from, const char *file, const char *experiment, const SearchMethod *method,
                        Arena *arena, Spec *out)
{
    *out = *from;
    out->file = file;
    out->text = "";
    out->experiment = experiment;
    out->method = method;
    derive_nothing(out, arena);
}

void spec_derive(const Spec *from, const char *file, const char *experiment, const SearchMethod *method,
                 const Axis *axes, int n_axes, Arena *arena, Spec *out)
{
    derive_copy(from, file, experiment, method, arena, out);
    derive_axes(from, axes, n_axes, arena, out);
}

// ---- rows of a spec that is there -----------------------------------------------------------------------------------

static SpecReader derive_reader(Spec *spec, Arena *arena, Diagnostics *diagnostics)
{
    Source *source = ARENA_NEW(arena, Source, 1);
    Node *root = ARENA_NEW(arena, Node, 1);
    *source = (Source){.file = spec->file, .text = spec->text};
    *root = (Node){.kind = NODE_MAPPING, .source = source, .line = 1, .column = 1, .width = 1};
    SpecReader reader = {.spec = spec, .arena = arena, .diagnostics = diagnostics, .root = root};
    spec_rows_of(&reader);
    return reader;
}

static void derive_check_perturbed(SpecReader *reader)
{
    for (int i = 0; i < reader->spec->replicates.n_perturb; i++) {
        const int parameter = reader->spec->replicates.perturb[i].parameter;
        if (reader->axes->taken[parameter] != NULL)
            diagnose(reader->diagnostics, reader->axes->taken[parameter], "%s is searched, so it can't be perturbed",
                     reader->names[parameter]);
    }
}

Error spec_derive_points(const Spec *from, const char *file, const char *experiment, const char *table, Arena *arena,
                         Diagnostics *diagnostics, Spec *out)
{
    Source *source = ARENA_NEW(arena, Source, 1);
    *source = (Source){.file = arena_format(arena, "%s: points", file), .text = table};
    derive_copy(from, file, experiment, &search_list, arena, out);
    SpecReader reader = derive_reader(out, arena, diagnostics);
    axes_start(&reader, configured_named(&out->configured));
    axes_read_table(&reader, source, NULL, reader.axes);
    derive_check_perturbed(&reader);
    if (diagnostics_errors(diagnostics) > 0) return spec_summary(file, diagnostics);
    derive_axes(from, reader.axes->axes, reader.axes->n_axes, arena, out);
    return error_none();
}

Error spec_strip(Spec *spec, Arena *arena)
{
    static const char *const sections[] = {"replicates.", "record.", "limits.", "device.", "store."};
    // a law and metrics of the user's own take columns of bodies, whose choice stays
    const bool seen = spec->configured.law != NULL || spec->configured.meter != NULL;
    const char *const *bodies = spec->record.bodies;
    const int n_bodies = seen ? spec->record.n_bodies : 0;
    memset(&spec->replicates, 0, sizeof spec->replicates);
    memset(&spec->record, 0, sizeof spec->record);
    memset(&spec->limits, 0, sizeof spec->limits);
    memset(&spec->recommend, 0, sizeof spec->recommend);
    SpecReader reader = derive_reader(spec, arena, diagnostics_new(arena));
    for (int i = 0; i < reader.n_own; i++) {
        const Key *key = &reader.keys[i];
        for (size_t s = 0; s < sizeof sections / sizeof *sections; s++) {
            const bool own = key->store != STORE_NONE && strncmp(key->path, sections[s], strlen(sections[s])) == 0;
            if (own) scalar_read(&reader, key, NULL);
        }
    }
    if (n_bodies == 0) return things_choose_default(spec, arena);
    spec->record.bodies = bodies;
    spec->record.n_bodies = n_bodies;
    return error_none();
}

void spec_write(const Spec *spec, const Spec *from, const char *const *keys, int count, Arena *arena, FILE *out)
{
    Spec copy = *spec;
    const SpecReader reader = derive_reader(&copy, arena, diagnostics_new(arena));
    ResolveWriter writer = {.out = out, .reader = &reader, .last = "", .from = from};
    resolve_keys(&writer, keys, count);
}

// ---- all that follows -----------------------------------------------------------------------------------------------

Error spec_complete(Spec *spec, Arena *arena, Diagnostics *diagnostics)
{
    const char *key;
    SpecReader reader = derive_reader(spec, arena, diagnostics);
    record_read(&reader);
    const Error error = search_check(spec, &key);
    if (error.kind != OK) diagnose(diagnostics, reader.root, "%s", error.text);
    if (diagnostics_errors(diagnostics) == 0) TRY(spec_resolve(&reader));
    return diagnostics_errors(diagnostics) > 0 ? spec_summary(spec->file, diagnostics) : error_none();
}
