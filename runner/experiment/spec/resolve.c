// The resolved spec, every key with its value, as YAML that reads back to the same spec; and its identity: the
// canonical text of everything that can change a number, one "path = value" a line, sorted, and the SHA-256 of that.
#include "keys.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESOLVE_POINTS_LISTED = 1000 }; // so many points are told one by one

// ---- values as texts ------------------------------------------------------------------------------------------------

static double resolve_number(const Key *key)
{
    switch (key->store) {
    case STORE_INT: return *(const int *)key->at;
    case STORE_INT64: return (double)*(const int64_t *)key->at;
    case STORE_UINT64: return (double)*(const uint64_t *)key->at;
    case STORE_DOUBLE: return *(const double *)key->at;
    case STORE_BOOLEAN: return *(const bool *)key->at;
    case STORE_NONE:
    case STORE_TEXT:
    case STORE_POINTS:
    case STORE_ITEMS:
    case STORE_FILE: break;
    }
    return key->value;
}

// Integers in full: 1e6 trials are 1000000.
static const char *resolve_number_text(const Key *key, double number, Arena *arena)
{
    if (key->type == KEY_INTEGER) return arena_format(arena, "%.0f", number);
    return arena_copy(arena, text_number(number).text);
}

static const char *resolve_value(const Key *key, Arena *arena)
{
    if (key->store == STORE_TEXT) return *(const char *const *)key->at;
    if (key->type == KEY_NUMBERS) return numbers_text(key->at, arena);
    if (key->store == STORE_POINTS) return points_text(key->at, arena);
    if (key->store == STORE_FILE) return files_text(key->at, arena);
    if (key->store == STORE_ITEMS) return items_text(key, arena);
    const double number = resolve_number(key);
    if (key->type == KEY_BOOLEAN) return number != 0.0 ? "true" : "false";
    if (key->type == KEY_CHOICE) return words_at(key->words, (int)number, arena);
    if (key->words != NULL && number == key->value) return key->words; // auto, none
    return resolve_number_text(key, number, arena);
}

// A name that YAML would take for something else stands in quotes.
static const char *resolve_plain(const char *text, Arena *arena)
{
    const bool word = words_find("true|false|null|yes|no|on|off|y|n|True|False|Null|Yes|No|On|Off|Y|N", text) >= 0;
    return isalpha((unsigned char)text[0]) && !word ? text : arena_format(arena, "\"%s\"", text);
}

static const char *resolve_quoted(const Expression *expression, Arena *arena)
{
    return arena_format(arena, "\"%s\"", expression_text(expression, arena));
}

static const char *resolve_perturbation(const Perturbation *perturbation, Arena *arena)
{
    return arena_format(arena, "{%s: [%s, %s]}",
                        perturbation->distribution == DISTRIBUTION_NORMAL ? "normal" : "uniform",
                        text_number(perturbation->a).text, text_number(perturbation->b).text);
}

// ---- YAML -----------------------------------------------------------------------------------------------------------

typedef struct ResolveWriter {
    FILE *out;
    const SpecReader *reader;
    const char *last; // path of the last line
} ResolveWriter;

// Writes "name: value" at its place in the nesting, with the headers of sections that start here.
static void resolve_line(ResolveWriter *writer, const char *path, const char *value, const char *unit)
{
    size_t common = 0; // length of the sections that the last line stands in too
    for (size_t i = 0; path[i] != '\0' && path[i] == writer->last[i]; i++) {
        if (path[i] == '.') common = i + 1;
    }
    int depth = 0;
    for (const char *p = path; *p != '\0'; p += strcspn(p, ".") + (strchr(p, '.') != NULL)) {
        const size_t length = strcspn(p, ".");
        if (p[length] == '.' && p >= path + common) fprintf(writer->out, "%*s%.*s:\n", 2 * depth, "", (int)length, p);
        if (p[length] == '\0') fprintf(writer->out, "%*s%s:%s%s", 2 * depth, "", p, value[0] != '\0' ? " " : "", value);
        depth++;
    }
    const bool has_unit = unit != NULL && unit[0] != '\0' && strcmp(unit, "1") != 0 && strcmp(unit, "fraction") != 0;
    fprintf(writer->out, "%s%s\n", has_unit ? " # " : "", has_unit ? unit : "");
    writer->last = path;
}

static void resolve_row(ResolveWriter *writer, const Key *key)
{
    const Spec *spec = writer->reader->spec;
    const Axis *axis = key->parameter > 0 ? axis_of(spec, key->parameter - 1) : NULL;
    if (axis != NULL && !axis->partial) return; // stands in search.over
    const char *value = resolve_value(key, writer->reader->arena);
    if (key->type == KEY_NAME) value = resolve_plain(value, writer->reader->arena);
    const bool is_word = key->words != NULL && strcmp(value, key->words) == 0;
    const bool no_unit = is_word || key->type == KEY_CHOICE || key->type == KEY_FILE;
    resolve_line(writer, key->path, value, no_unit ? NULL : key->unit);
}

static void resolve_model(ResolveWriter *writer, const char *path)
{
    resolve_line(writer, path, writer->reader->spec->model->name, NULL);
}

static void resolve_method(ResolveWriter *writer, const char *path)
{
    const SearchMethod *method = writer->reader->spec->method;
    resolve_line(writer, path, method->name, NULL);
    for (int i = 0; i < writer->reader->n_keys; i++) {
        const Key *key = &writer->reader->keys[i];
        const bool own = key->method != NULL && strcmp(key->method, method->name) == 0;
        if (own && key->type != KEY_FORM) resolve_row(writer, key);
    }
}

static void resolve_from(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    if (spec->warm.from != NULL)
        resolve_line(writer, path, resolve_plain(spec->warm.from, writer->reader->arena), NULL);
}

static void resolve_taken(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    if (spec->warm.mean != NULL) resolve_line(writer, path, cmaes_taken_text(spec, writer->reader->arena), NULL);
}

static void resolve_inject(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    if (spec->n_inject == 0) return;
    resolve_line(writer, path, "", NULL);
    for (int i = 0; i < spec->n_inject; i++)
        fprintf(writer->out, "      - %s\n", cmaes_inject_text(spec, writer->reader->names, i, writer->reader->arena));
}

static void resolve_over(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    Arena *arena = writer->reader->arena;
    for (int a = 0; a < spec->n_axes + spec->n_derived; a++) {
        const Axis *axis = &spec->axes[a];
        if (a < spec->n_axes && (spec->method->wants_points || spec->n_blocks > 0)) continue; // in points or union
        const char *value = axis->derive == NULL
                                ? values_text(&axis->values, arena)
                                : arena_format(arena, "{derive: %s}", resolve_quoted(axis->derive, arena));
        resolve_line(writer, arena_format(arena, "%s.%s", path, writer->reader->names[axis->parameter]), value, NULL);
    }
}

static void resolve_outer(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    Arena *arena = writer->reader->arena;
    for (int i = 0; i < spec->n_outer; i++) {
        const Axis *axis = &spec->axes[spec->n_axes + spec->n_derived + i];
        resolve_line(writer, arena_format(arena, "%s.%s", path, writer->reader->names[axis->parameter]),
                     values_text(&axis->values, arena), NULL);
    }
}

// A table of its own lines is shorter than mappings, and one text to YAML.
static void resolve_table(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    resolve_line(writer, path, "|", NULL);
    for (int a = 0; a < spec->n_axes; a++)
        fprintf(writer->out, "%s%s", a == 0 ? "    " : ",", writer->reader->names[spec->axes[a].parameter]);
    for (int64_t i = 0; i < spec->n_points * spec->n_axes; i++)
        fprintf(writer->out, "%s%s", i % spec->n_axes == 0 ? "\n    " : ",", text_number(spec->points[i]).text);
    fputc('\n', writer->out);
}

static void resolve_points(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    if (spec->n_points == 0) return;
    if (spec->n_points > RESOLVE_POINTS_LISTED) {
        resolve_table(writer, path);
        return;
    }
    resolve_line(writer, path, "", NULL);
    for (int64_t p = 0; p < spec->n_points; p++) {
        for (int a = 0; a < spec->n_axes; a++)
            fprintf(writer->out, "%s%s: %s", a == 0 ? "    - {" : ", ", writer->reader->names[spec->axes[a].parameter],
                    text_number(spec->points[p * spec->n_axes + a]).text);
        fputs("}\n", writer->out);
    }
}

// Groups are numbered by their first axis; -1: the axis is not zipped.
static int resolve_zip_number(const Spec *spec, int axis)
{
    int number = -1;
    for (int a = 0; a <= axis; a++) {
        bool first = spec->axes[a].zip >= 0;
        for (int before = 0; before < a; before++) first &= spec->axes[before].zip != spec->axes[a].zip;
        number += first;
        if (spec->axes[a].zip >= 0 && spec->axes[a].zip == spec->axes[axis].zip) return number;
    }
    return -1;
}

static void resolve_zip(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    Arena *arena = writer->reader->arena;
    const char *text = "";
    for (int group = 0;; group++) {
        const char *names = "";
        for (int a = 0; a < spec->n_axes; a++) {
            if (spec->axes[a].zip < 0 || resolve_zip_number(spec, a) != group) continue;
            names = arena_format(arena, "%s%s%s", names, names[0] != '\0' ? ", " : "",
                                 writer->reader->names[spec->axes[a].parameter]);
        }
        if (names[0] == '\0') break;
        text = arena_format(arena, "%s%s[%s]", text, group > 0 ? ", " : "", names);
    }
    if (text[0] != '\0') resolve_line(writer, path, arena_format(arena, "[%s]", text), NULL);
}

// {a: [1, 2], b: {linspace: [0, 1, 3]}}, and the zipped ones [[a, b]]
static const char *resolve_block(const SpecReader *reader, const Block *block)
{
    const Spec *spec = reader->spec;
    Arena *arena = reader->arena;
    const char *over = "", *zip = "";
    for (int a = 0; a < spec->n_axes; a++) {
        if (block->values[a].count == 0) continue;
        over = arena_format(arena, "%s%s%s: %s", over, over[0] != '\0' ? ", " : "",
                            reader->names[spec->axes[a].parameter], values_text(&block->values[a], arena));
    }
    for (int a = 0; a < spec->n_axes; a++) {
        const char *names = "";
        bool first = block->zip[a] >= 0;
        for (int b = 0; b < a; b++) first &= block->zip[b] != block->zip[a];
        for (int b = a; first && b < spec->n_axes; b++) {
            if (block->zip[b] != block->zip[a]) continue;
            names = arena_format(arena, "%s%s%s", names, names[0] != '\0' ? ", " : "",
                                 reader->names[spec->axes[b].parameter]);
        }
        if (first) zip = arena_format(arena, "%s%s[%s]", zip, zip[0] != '\0' ? ", " : "", names);
    }
    return zip[0] != '\0' ? arena_format(arena, "{over: {%s}, zip: [%s]}", over, zip)
                          : arena_format(arena, "{over: {%s}}", over);
}

static void resolve_union(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    if (spec->n_blocks == 0) return;
    resolve_line(writer, path, "", NULL);
    for (int b = 0; b < spec->n_blocks; b++)
        fprintf(writer->out, "    - %s\n", resolve_block(writer->reader, &spec->blocks[b]));
}

static void resolve_when(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    Arena *arena = writer->reader->arena;
    for (int w = 0; w < spec->n_when; w++) {
        const char *name = writer->reader->names[spec->axes[spec->when[w].axis].parameter];
        resolve_line(writer, arena_format(arena, "%s.%s", path, name), resolve_quoted(spec->when[w].condition, arena),
                     NULL);
    }
}

static void resolve_exclude(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    if (spec->n_exclude == 0) return;
    resolve_line(writer, path, "", NULL);
    for (int i = 0; i < spec->n_exclude; i++)
        fprintf(writer->out, "    - %s\n", resolve_quoted(spec->exclude[i], writer->reader->arena));
}

static void resolve_constraints(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    if (spec->n_constraints == 0) return;
    resolve_line(writer, path, "", NULL);
    for (int i = 0; i < spec->n_constraints; i++)
        fprintf(writer->out, "  - %s\n", resolve_quoted(spec->constraints[i], writer->reader->arena));
}

static void resolve_perturb(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    Arena *arena = writer->reader->arena;
    for (int i = 0; i < spec->replicates.n_perturb; i++) {
        const Perturbation *perturbation = &spec->replicates.perturb[i];
        resolve_line(writer, arena_format(arena, "%s.%s", path, writer->reader->names[perturbation->parameter]),
                     resolve_perturbation(perturbation, arena), NULL);
    }
}

// The objectives of one direction, as an expression or a list.
static void resolve_objectives(ResolveWriter *writer, const char *path, bool maximize)
{
    const Spec *spec = writer->reader->spec;
    Arena *arena = writer->reader->arena;
    const char *text = NULL;
    int count = 0;
    for (int k = 0; k < spec->objective.count; k++) {
        if (spec->objective.maximize[k] != maximize) continue;
        const char *one = resolve_quoted(spec->objective.expression[k], arena);
        text = count++ == 0 ? one : arena_format(arena, "%s, %s", text, one);
    }
    if (count > 0) resolve_line(writer, path, count > 1 ? arena_format(arena, "[%s]", text) : text, NULL);
}

static void resolve_minimize(ResolveWriter *writer, const char *path) { resolve_objectives(writer, path, false); }
static void resolve_maximize(ResolveWriter *writer, const char *path) { resolve_objectives(writer, path, true); }

static const char *resolve_reference_text(const Spec *spec, Arena *arena)
{
    const Values list = {.form = VALUES_LIST, .list = spec->objective.reference, .count = spec->objective.count};
    return values_text(&list, arena);
}

static void resolve_reference(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    if (spec->objective.reference == NULL) return;
    resolve_line(writer, path, resolve_reference_text(spec, writer->reader->arena), NULL);
}

static void resolve_objective_over(ResolveWriter *writer, const char *path)
{
    resolve_line(writer, path, objective_over_text(writer->reader->spec, writer->reader->arena), NULL);
}

static void resolve_failed(ResolveWriter *writer, const char *path)
{
    resolve_line(writer, path, objective_failed_text(writer->reader->spec, writer->reader->arena), NULL);
}

static void resolve_ids(ResolveWriter *writer, const char *path, const Selection *select)
{
    const size_t size = (size_t)select->n_trials * 24 + 3; // 19 digits at most, and ", "
    char *text = arena_take(writer->reader->arena, size, 1), *p = stpcpy(text, "[");
    for (int i = 0; i < select->n_trials; i++)
        p += snprintf(p, 24, "%s%lld", i > 0 ? ", " : "", (long long)select->trials[i]);
    stpcpy(p, "]");
    resolve_line(writer, path, text, NULL);
}

static void resolve_bodies(ResolveWriter *writer, const char *path)
{
    const Spec *spec = writer->reader->spec;
    Arena *arena = writer->reader->arena;
    const char *text = "";
    if (spec->record.n_bodies == 0) return;
    for (int i = 0; i < spec->record.n_bodies; i++)
        text = arena_format(arena, "%s%s\"%s\"", text, i > 0 ? ", " : "", spec->record.bodies[i]);
    resolve_line(writer, path, arena_format(arena, "[%s]", text), NULL);
}

static void resolve_trials(ResolveWriter *writer, const char *path)
{
    resolve_ids(writer, path, &writer->reader->spec->record.select);
}

static void resolve_debug_trials(ResolveWriter *writer, const char *path)
{
    resolve_ids(writer, path, &writer->reader->spec->record.debug.select);
}

static void resolve_window(ResolveWriter *writer, const char *path)
{
    const double *window = writer->reader->spec->record.debug.window;
    if (window[1] <= 0.0) return; // always
    resolve_line(
        writer, path,
        arena_format(writer->reader->arena, "[%s, %s]", text_number(window[0]).text, text_number(window[1]).text), "s");
}

static const struct {
    const char *path;
    void (*write)(ResolveWriter *writer, const char *path);
} resolve_forms[] = {
    {"model", resolve_model},
    {"search.method", resolve_method},
    {"search.cmaes.outer", resolve_outer},
    {"search.cmaes.from", resolve_from},
    {"search.cmaes.inject", resolve_inject},
    {"search.cmaes.taken", resolve_taken},
    {"search.over", resolve_over},
    {"search.points", resolve_points},
    {"search.zip", resolve_zip},
    {"search.exclude", resolve_exclude},
    {"search.union", resolve_union},
    {"search.when", resolve_when},
    {"replicates.perturb", resolve_perturb},
    {"objective.minimize", resolve_minimize},
    {"objective.maximize", resolve_maximize},
    {"objective.over", resolve_objective_over},
    {"objective.reference", resolve_reference},
    {"objective.failed", resolve_failed},
    {"constraints", resolve_constraints},
    {"record.trajectories.select.trials", resolve_trials},
    {"record.debug.newton.select.trials", resolve_debug_trials},
    {"record.debug.newton.window", resolve_window},
    {"record.bodies", resolve_bodies},
};

static void resolve_open_section(ResolveWriter *writer, const char *section)
{
    const size_t length = strlen(section);
    for (int i = 0; i < writer->reader->n_keys; i++) {
        const Key *key = &writer->reader->keys[i];
        if (strncmp(key->path, section, length) == 0 && key->path[length] == '.') resolve_row(writer, key);
    }
}

static void resolve_write(FILE *out, const SpecReader *reader)
{
    ResolveWriter writer = {.out = out, .reader = reader, .last = ""};
    fprintf(out, "# Every key with its value, as Hopscotch %s understood it.\n", HOPSCOTCH_VERSION);
    int count;
    keys_table(&count);
    for (int i = 0; i < count; i++) { // the reader's table starts with these rows
        const Key *key = &reader->keys[i];
        if ((key->flags & KEY_OPEN) != 0) resolve_open_section(&writer, key->path);
        if (key->type == KEY_SECTION || key->type == KEY_LATER) continue;
        if (key->type != KEY_FORM) resolve_row(&writer, key);
        for (size_t f = 0; f < sizeof resolve_forms / sizeof resolve_forms[0]; f++) {
            if (strcmp(resolve_forms[f].path, key_table_path(key, reader->arena)) == 0)
                resolve_forms[f].write(&writer, key->path);
        }
    }
}

// ---- identity -------------------------------------------------------------------------------------------------------

typedef struct ResolveLines {
    const char **lines;
    int64_t count, capacity;
    Arena *arena;
} ResolveLines;

static void resolve_add(ResolveLines *lines, const char *path, const char *value)
{
    if (lines->count == lines->capacity) {
        lines->capacity = lines->capacity > 0 ? 2 * lines->capacity : 256;
        const char **more = ARENA_NEW(lines->arena, const char *, lines->capacity);
        if (lines->count > 0) memcpy(more, lines->lines, (size_t)lines->count * sizeof *more);
        lines->lines = more;
    }
    lines->lines[lines->count++] = arena_format(lines->arena, "%s = %s\n", path, value);
}

static void resolve_identity_rows(const SpecReader *reader, ResolveLines *lines)
{
    const Spec *spec = reader->spec;
    for (int i = 0; i < reader->n_keys; i++) {
        const Key *key = &reader->keys[i];
        if ((key->flags & KEY_IDENTITY) == 0 || key->type == KEY_FORM) continue;
        if (key->method != NULL && strcmp(key->method, spec->method->name) != 0) continue;
        const Axis *axis = key->parameter > 0 ? axis_of(spec, key->parameter - 1) : NULL;
        const char *value =
            key->type == KEY_FILE ? files_identity(key->at, lines->arena) : resolve_value(key, lines->arena);
        if (axis == NULL)
            resolve_add(lines, key->path, value);
        else if (axis->partial) // its own key is free to come and go
            resolve_add(lines, arena_format(lines->arena, "search.elsewhere.%s", key_name(key)), value);
    }
}

// Point by point; many as one line with their digest.
static void resolve_identity_points(const Spec *spec, ResolveLines *lines)
{
    Arena *arena = lines->arena;
    const size_t bytes = (size_t)(spec->n_points * spec->n_axes) * sizeof *spec->points;
    if (spec->n_points > RESOLVE_POINTS_LISTED) {
        resolve_add(lines, "search.points",
                    arena_format(arena, "%lld points, sha256 %s", (long long)spec->n_points,
                                 sha256_of(spec->points, bytes).hex));
        return;
    }
    for (int64_t p = 0; p < spec->n_points; p++) {
        const Values point = {.form = VALUES_LIST, .list = spec->points + p * spec->n_axes, .count = spec->n_axes};
        resolve_add(lines, arena_format(arena, "search.points.%09lld", (long long)p), values_text(&point, arena));
    }
}

// The order of axes gives the trials their ids, so it enters; that of derived parameters changes nothing.
static void resolve_identity_search(const SpecReader *reader, ResolveLines *lines)
{
    const Spec *spec = reader->spec;
    Arena *arena = lines->arena;
    resolve_add(lines, "search.method", spec->method->name);
    for (int a = 0; a < spec->n_axes + spec->n_derived; a++) {
        const Axis *axis = &spec->axes[a];
        const char *name = reader->names[axis->parameter];
        const char *path = axis->derive != NULL ? arena_format(arena, "search.derived.%s", name)
                                                : arena_format(arena, "search.axis.%03d.%s", a, name);
        resolve_add(lines, path,
                    axis->derive != NULL         ? expression_text(axis->derive, arena)
                    : spec->method->wants_points ? "points"
                    : spec->n_blocks > 0         ? "union"
                                                 : values_text(&axis->values, arena));
        if (axis->derive == NULL && axis->zip >= 0)
            resolve_add(lines, arena_format(arena, "%s.zip", path),
                        arena_format(arena, "%d", resolve_zip_number(spec, a)));
    }
    for (int i = 0; i < spec->n_outer; i++) {
        const Axis *axis = &spec->axes[spec->n_axes + spec->n_derived + i];
        const char *path = arena_format(arena, "search.outer.%03d.%s", i, reader->names[axis->parameter]);
        resolve_add(lines, path, values_text(&axis->values, arena));
    }
    for (int b = 0; b < spec->n_blocks; b++)
        resolve_add(lines, arena_format(arena, "search.union.%03d", b), resolve_block(reader, &spec->blocks[b]));
    for (int w = 0; w < spec->n_when; w++) {
        const char *name = reader->names[spec->axes[spec->when[w].axis].parameter];
        resolve_add(lines, arena_format(arena, "search.when.%03d.%s", w, name),
                    expression_text(spec->when[w].condition, arena));
    }
    resolve_identity_points(spec, lines);
    for (int i = 0; i < spec->n_exclude; i++)
        resolve_add(lines, "search.exclude", expression_text(spec->exclude[i], arena));
}

// Where a search starts; the campaign that it was taken from enters by what was taken.
static void resolve_identity_start(const SpecReader *reader, ResolveLines *lines)
{
    const Spec *spec = reader->spec;
    Arena *arena = lines->arena;
    for (int i = 0; i < spec->n_inject; i++)
        resolve_add(lines, arena_format(arena, "search.cmaes.inject.%04d", i),
                    cmaes_inject_text(spec, reader->names, i, arena));
    if (spec->warm.from != NULL) resolve_add(lines, "search.cmaes.from", spec->warm.from);
    if (spec->warm.mean != NULL) resolve_add(lines, "search.cmaes.taken", cmaes_taken_text(spec, arena));
}

// The order of perturbations says which random number each gets.
static void resolve_identity_rest(const SpecReader *reader, ResolveLines *lines)
{
    const Spec *spec = reader->spec;
    Arena *arena = lines->arena;
    resolve_add(lines, "model", spec->model->name);
    for (int i = 0; i < spec->replicates.n_perturb; i++) {
        const Perturbation *perturbation = &spec->replicates.perturb[i];
        const char *name = reader->names[perturbation->parameter];
        resolve_add(lines, arena_format(arena, "replicates.perturb.%03d.%s", i, name),
                    resolve_perturbation(perturbation, arena));
    }
    for (int k = 0, of[2] = {0, 0}; k < spec->objective.count; k++) {
        const bool maximize = spec->objective.maximize[k];
        const char *path = maximize ? "objective.maximize" : "objective.minimize";
        resolve_add(lines, of[maximize]++ == 0 ? path : arena_format(arena, "%s.%d", path, of[maximize]),
                    expression_text(spec->objective.expression[k], arena));
    }
    if (spec->objective.reference != NULL)
        resolve_add(lines, "objective.reference", resolve_reference_text(spec, arena));
    for (int i = 0; i < spec->n_constraints; i++)
        resolve_add(lines, arena_format(arena, "constraints.%03d", i), expression_text(spec->constraints[i], arena));
    resolve_add(lines, "objective.over", objective_over_text(spec, arena));
    resolve_add(lines, "objective.failed", objective_failed_text(spec, arena));
}

static int resolve_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *resolve_join(const ResolveLines *lines)
{
    size_t size = 1;
    for (int64_t i = 0; i < lines->count; i++) size += strlen(lines->lines[i]);
    char *text = arena_take(lines->arena, size, 1), *p = text;
    for (int64_t i = 0; i < lines->count; i++) p = stpcpy(p, lines->lines[i]);
    return text;
}

// Every value written out, in a buffer of the greatest size that can be read back: a stream whose buffer grows would
// lose a piece, and not say so, when memory runs out.
static Error resolve_text(SpecReader *reader)
{
    Arena arena;
    TRY(arena_create(&arena, RESOLVED_BYTES_MAX + 1, "a spec with every value"));
    char *text = arena_take(&arena, RESOLVED_BYTES_MAX + 1, 1);
    FILE *out = fmemopen(text, RESOLVED_BYTES_MAX + 1, "w");
    if (out != NULL) resolve_write(out, reader);
    const bool fits = out != NULL && ferror(out) == 0;
    if (out != NULL && (fclose(out) != 0 || !fits)) {
        diagnose(reader->diagnostics, reader->root,
                 "with every value written out the spec has more than 16 MiB, the most that is allowed; give it "
                 "fewer points");
    }
    reader->spec->resolved = arena_copy(reader->arena, text);
    arena_destroy(&arena);
    return out != NULL ? error_none()
                       : error_make(ERROR_MACHINE, "%s: not enough memory to resolve it", reader->spec->file);
}

Error spec_resolve(SpecReader *reader)
{
    Spec *spec = reader->spec;
    ResolveLines lines = {.arena = reader->arena};
    resolve_identity_rows(reader, &lines);
    resolve_identity_search(reader, &lines);
    resolve_identity_start(reader, &lines);
    resolve_identity_rest(reader, &lines);
    qsort(lines.lines, (size_t)lines.count, sizeof *lines.lines, resolve_compare);
    spec->canonical = resolve_join(&lines);
    spec->hash = sha256_of(spec->canonical, strlen(spec->canonical));

    return resolve_text(reader);
}
