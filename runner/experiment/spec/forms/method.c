// `method`: how trials are chosen, with the method's own options.
#include "../forms.h"

#include <string.h>

static const char *method_name(int index)
{
    return index < search_method_count() ? search_method_at(index)->name : NULL;
}

// ", expected trials": the keys that a method has under `search` itself; empty if none.
static const char *method_own_keys(const SpecReader *reader, const char *method)
{
    const char *text = "";
    for (int i = 0; i < reader->n_keys; i++) {
        const Key *key = &reader->keys[i];
        if (key->method == NULL || strcmp(key->method, method) != 0 || key->type == KEY_FORM) continue;
        if (strchr(path_below(key->path, "search"), '.') != NULL) continue;
        text = arena_format(reader->arena, "%s%s %s", text, text[0] == '\0' ? ", expected" : " or", key_name(key));
    }
    return text;
}

// A key that only other methods have.
static void method_foreign_key(SpecReader *reader, const GivenKey *given)
{
    const Key *foreign = NULL;
    for (int i = 0; i < reader->n_keys; i++) {
        const Key *key = &reader->keys[i];
        if (strcmp(key->path, given->path) != 0) continue;
        if (key->method == NULL || strcmp(key->method, reader->spec->method->name) == 0) return;
        if (foreign == NULL) foreign = key;
    }
    if (foreign == NULL) return;
    const char *method = reader->spec->method->name;
    if (foreign->type == KEY_FORM || strchr(path_below(foreign->path, "search"), '.') != NULL) // of that method alone
        diagnose(reader->diagnostics, given->key, "%s belongs to method %s, and this is method %s", key_name(foreign),
                 foreign->method, method);
    else
        diagnose(reader->diagnostics, given->key, "method %s has no key '%s'%s", method, key_name(foreign),
                 method_own_keys(reader, method));
}

static void method_read(SpecReader *reader, const GivenKey *given)
{
    const char *name = given == NULL ? "grid" : given->value->kind == NODE_SCALAR ? given->value->text : "";
    reader->spec->method = search_method_find(name);
    if (reader->spec->method == NULL) {
        form_unknown(reader, &form_method, given->value);
        return;
    }
    for (int i = 0; i < reader->n_keys; i++) {
        const Key *key = &reader->keys[i];
        if (key->method == NULL || strcmp(key->method, name) != 0 || key->type == KEY_FORM) continue;
        const GivenKey *option = given_find(reader, key->path);
        scalar_read(reader, key, option != NULL ? option->value : NULL);
        if (reader->spec->method_settings == NULL) reader->spec->method_settings = key->at;
    }
    for (int i = 0; i < reader->n_given; i++) method_foreign_key(reader, &reader->given[i]);
}

void method_choose(SpecReader *reader)
{
    Spec *spec = reader->spec;
    const char *key;
    AutoChoice choice;
    int option = 0;
    if (spec->method != &search_auto) return;
    const Error error = auto_choose(spec, reader->arena, &choice, &key);
    if (error.kind != OK) {
        diagnose(reader->diagnostics, given_find(reader, key)->value, "%s", error.text);
        return;
    }
    spec->method_settings = NULL;
    for (int i = 0; i < reader->n_keys; i++) {
        const Key *row = &reader->keys[i];
        if (row->method == NULL || strcmp(row->method, choice.method->name) != 0 || row->type == KEY_FORM) continue;
        if (spec->method_settings == NULL) spec->method_settings = row->at;
        *(double *)row->at = choice.settings[option++];
    }
    spec->method = choice.method;
    spec->chosen = choice.why;
}

// ---- writing --------------------------------------------------------------------------------------------------------

static void method_resolve(ResolveWriter *writer, const char *path)
{
    const SearchMethod *method = writer->reader->spec->method;
    resolve_line(writer, path, method->name, writer->reader->spec->chosen);
    for (int i = 0; i < writer->reader->n_keys; i++) {
        const Key *key = &writer->reader->keys[i];
        const bool own = key->method != NULL && strcmp(key->method, method->name) == 0;
        if (own && key->type != KEY_FORM) resolve_row(writer, key);
    }
}

static const char *method_text(const SpecReader *reader) { return reader->spec->method->name; }

const Form form_method = {
    .path = "search.method",
    .after = "search",
    .words = "the name of a search method",
    .doc = "how trials are chosen",
    .example = "grid",
    .stage = FORM_FIRST,
    .always = true,
    .read = method_read,
    .flags = KEY_IDENTITY,
    .text = method_text,
    .resolve = method_resolve,
    .choice = method_name,
};
