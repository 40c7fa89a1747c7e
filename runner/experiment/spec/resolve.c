// The resolved spec: every key with its value, as YAML that reads back to the same spec. And its identity: the
// canonical text of everything that can change a number, one "path = value" per line, sorted, and the SHA-256 of this
// text.
#include "forms.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const char *resolve_value(const Key *key, Arena *arena)
{
    if (key->store == STORE_TEXT) return *(const char *const *)key->at;
    if (key->type == KEY_NUMBERS) return numbers_text(key->at, arena);
    if (key->type == KEY_WORDS || key->type == KEY_ARGUMENTS) return texts_text(key->at, arena);
    if (key->type == KEY_SYSTEM) return system_key_text(key);
    if (key->type == KEY_LAW) return law_key_text(key);
    if (key->store == STORE_POINTS) return points_text(key->at, arena);
    if (key->store == STORE_FILE) return files_text(key->at, arena);
    if (key->store == STORE_ITEMS) return items_text(key, arena);
    const double number = resolve_number(key);
    if (key->type == KEY_BOOLEAN) return number != 0.0 ? "true" : "false";
    if (key->type == KEY_CHOICE) return words_at(key->words, (int)number, arena);
    if (key->words != NULL && number == key->value) return key->words; // auto, none
    return resolve_number_text(key, number, arena);
}

const char *resolve_plain(const char *text, Arena *arena)
{
    const bool word = words_find("true|false|null|yes|no|on|off|y|n|True|False|Null|Yes|No|On|Off|Y|N", text) >= 0;
    return isalpha((unsigned char)text[0]) && !word ? text : arena_format(arena, "\"%s\"", text);
}

const char *resolve_quoted(const Expression *expression, Arena *arena)
{
    return arena_format(arena, "\"%s\"", expression_text(expression, arena));
}

// ---- YAML -----------------------------------------------------------------------------------------------------------

void resolve_line(ResolveWriter *writer, const char *path, const char *value, const char *unit)
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

// Whether it stands in `search`, in all trials.
static bool resolve_is_searched(const Spec *spec, const Key *key)
{
    const Axis *axis = spec != NULL && key->parameter > 0 ? axis_of(spec, key->parameter - 1) : NULL;
    return axis != NULL && !axis->partial;
}

// A parameter that the spec declares is written with its unit and range, also if it is searched.
static bool resolve_declared(ResolveWriter *writer, const Key *key)
{
    const SpecReader *reader = writer->reader;
    if (key->parameter == 0 || reader->spec->model->declares == 0) return false;
    const char *text = items_declared(reader->spec, key->parameter - 1, *(const double *)key->at, reader->arena);
    resolve_line(writer, key->path, text, NULL);
    return true;
}

void resolve_row(ResolveWriter *writer, const Key *key)
{
    if (resolve_declared(writer, key)) return;
    if (resolve_is_searched(writer->reader->spec, key) || resolve_is_searched(writer->from, key)) return;
    const char *value = resolve_value(key, writer->reader->arena);
    if (key->type == KEY_NAME) value = resolve_plain(value, writer->reader->arena);
    const bool is_word = key->words != NULL && strcmp(value, key->words) == 0;
    const bool no_unit = is_word || key->type == KEY_CHOICE || key->type == KEY_FILE;
    resolve_line(writer, key->path, value, no_unit ? NULL : key->unit);
}

static void resolve_entries(ResolveWriter *writer, const Form *form, const char *path)
{
    const SpecReader *reader = writer->reader;
    FormEntry entry = {0};
    int depth = 1;
    for (const char *p = path; *p != '\0'; p++) depth += *p == '.';
    for (int i = 0; form->entry(reader, i, &entry); i++) {
        const char *text = entry.expression != NULL ? resolve_quoted(entry.expression, reader->arena) : entry.text;
        if (entry.name != NULL) {
            resolve_line(writer, arena_format(reader->arena, "%s.%s", path, entry.name), text, NULL);
        } else {
            if (i == 0) resolve_line(writer, path, "", NULL);
            fprintf(writer->out, "%*s- %s\n", 2 * depth, "", text);
        }
    }
}

static void resolve_form(ResolveWriter *writer, const Form *form, const char *path)
{
    const bool foreign = form_is_foreign(writer->reader, form);
    const char *text = form->text != NULL ? form->text(writer->reader) : NULL;
    if (foreign) return;
    if (form->resolve != NULL)
        form->resolve(writer, path);
    else if (form->entry != NULL)
        resolve_entries(writer, form, path);
    else if (text != NULL)
        resolve_line(writer, path, text, NULL);
}

static void resolve_open_section(ResolveWriter *writer, const char *section)
{
    for (int i = 0; i < writer->reader->n_keys; i++) {
        const Key *key = &writer->reader->keys[i];
        if (path_below(key->path, section) != NULL) resolve_row(writer, key);
    }
}

// Keys of the model that stand at the top follow `simulation`.
static void resolve_top(ResolveWriter *writer)
{
    for (int i = 0; i < writer->reader->n_keys; i++) {
        if ((writer->reader->keys[i].flags & KEY_TOP) != 0) resolve_row(writer, &writer->reader->keys[i]);
    }
}

// The rows of a key or a section; "": all.
static void resolve_section(ResolveWriter *writer, const char *section)
{
    const SpecReader *reader = writer->reader;
    for (int i = 0; i < reader->n_own; i++) {
        const Key *key = &reader->keys[i];
        if (strcmp(key->path, section) != 0 && path_below(key->path, section) == NULL) continue;
        if ((key->flags & KEY_OPEN) != 0) resolve_open_section(writer, key->path);
        if (strcmp(key->path, "simulation") == 0) resolve_top(writer);
        if (key->type == KEY_SECTION) continue;
        if (key->type != KEY_FORM)
            resolve_row(writer, key);
        else
            resolve_form(writer, key->form, key->path);
    }
}

static void resolve_write(FILE *out, const SpecReader *reader)
{
    ResolveWriter writer = {.out = out, .reader = reader, .last = ""};
    fprintf(out, "# Every key with its value, as Hopscotch %s understood it.\n", HOPSCOTCH_VERSION);
    resolve_section(&writer, "");
}

void resolve_keys(ResolveWriter *writer, const char *const *keys, int count)
{
    for (int i = 0; i < count; i++) resolve_section(writer, keys[i]);
}

// ---- identity -------------------------------------------------------------------------------------------------------

void canonical_add(CanonicalLines *lines, const char *path, const char *value)
{
    if (lines->count == lines->capacity) {
        lines->capacity = lines->capacity > 0 ? 2 * lines->capacity : 256;
        const char **more = ARENA_NEW(lines->arena, const char *, lines->capacity);
        if (lines->count > 0) memcpy(more, lines->lines, (size_t)lines->count * sizeof *more);
        lines->lines = more;
    }
    lines->lines[lines->count++] = arena_format(lines->arena, "%s = %s\n", path, value);
}

static bool resolve_is_default(const Key *key)
{
    if (key->store == STORE_POINTS) return ((const Points *)key->at)->count == 0;
    return key->type == KEY_FILE ? ((const SpecFile *)key->at)->name == NULL : resolve_number(key) == key->value;
}

const char *resolve_identity_value(const Key *key, Arena *arena)
{
    const bool names = key->type == KEY_ITEMS && (key->flags & KEY_TOP) != 0;
    return key->type == KEY_FILE ? files_identity(key->at, arena)
           : names               ? items_identity(key, arena)
                                 : resolve_value(key, arena);
}

static void resolve_identity_rows(const SpecReader *reader, CanonicalLines *lines)
{
    const Spec *spec = reader->spec;
    for (int i = 0; i < reader->n_keys; i++) {
        const Key *key = &reader->keys[i];
        if ((key->flags & KEY_IDENTITY) == 0 || key->type == KEY_FORM) continue;
        if (key->method != NULL && strcmp(key->method, spec->method->name) != 0) continue;
        if ((key->flags & KEY_LATER) != 0 && resolve_is_default(key)) continue;
        const Axis *axis = key->parameter > 0 ? axis_of(spec, key->parameter - 1) : NULL;
        const char *value = resolve_identity_value(key, lines->arena);
        if (axis == NULL)
            canonical_add(lines, key->path, value);
        else if (axis->partial) // an extension may make it an axis of all trials
            canonical_add(lines, arena_format(lines->arena, "search.elsewhere.%s", key_name(key)), value);
    }
}

// Parameters that the spec declares: a range can change what is drawn.
static void resolve_identity_declared(const SpecReader *reader, CanonicalLines *lines)
{
    const Spec *spec = reader->spec;
    const int declares = spec->model->declares;
    if (declares == 0) return;
    const List *list = &spec->model->lists[declares - 1];
    Points items = spec->option_points[spec->model->n_options + declares - 1];
    Key key = key_of_list(list, "", lines->arena);
    key.at = &items;
    canonical_add(lines, "parameters", items_identity(&key, lines->arena));
}

static void resolve_identity_entries(const SpecReader *reader, const Form *form, CanonicalLines *lines)
{
    FormEntry entry = {0};
    for (int i = 0; form->entry(reader, i, &entry); i++) {
        const char *number = form->digits > 0 ? arena_format(lines->arena, "%0*d", form->digits, i) : "";
        const char *path = arena_format(lines->arena, "%s%s%s%s", form->canonical, number,
                                        entry.name != NULL ? "." : "", entry.name != NULL ? entry.name : "");
        canonical_add(lines, path,
                      entry.expression != NULL ? expression_text(entry.expression, lines->arena) : entry.text);
    }
}

static void resolve_identity_form(const SpecReader *reader, const Form *form, CanonicalLines *lines)
{
    if (form_is_foreign(reader, form)) return;
    if (form->identify != NULL) {
        form->identify(reader, lines);
    } else if ((form->flags & KEY_IDENTITY) != 0 && form->entry != NULL) {
        resolve_identity_entries(reader, form, lines);
    } else if ((form->flags & KEY_IDENTITY) != 0) {
        const char *text = form->text(reader);
        if (text != NULL) canonical_add(lines, form->path, text);
    }
}

static int resolve_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *resolve_join(const CanonicalLines *lines)
{
    size_t size = 1;
    for (int64_t i = 0; i < lines->count; i++) size += strlen(lines->lines[i]);
    char *text = arena_take(lines->arena, size, 1), *p = text;
    for (int64_t i = 0; i < lines->count; i++) p = stpcpy(p, lines->lines[i]);
    return text;
}

// Every value written out, in a buffer of the greatest size that can be read back. A stream with a growing buffer would
// silently lose a piece when memory runs out.
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
    CanonicalLines lines = {.arena = reader->arena};
    resolve_identity_rows(reader, &lines);
    resolve_identity_declared(reader, &lines);
    for (int i = 0; i < form_count(); i++) resolve_identity_form(reader, form_at(i), &lines);
    qsort(lines.lines, (size_t)lines.count, sizeof *lines.lines, resolve_compare);
    spec->canonical = resolve_join(&lines);
    spec->hash = sha256_of(spec->canonical, strlen(spec->canonical));

    return resolve_text(reader);
}
