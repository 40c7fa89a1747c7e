// `method`: how trials are chosen, with the method's own options.
#include "../forms.h"

#include <string.h>

static void method_unknown(SpecReader *reader, const Node *node)
{
    const char *known[16];
    int n_known = search_method_count() < 16 ? search_method_count() : 16;
    for (int i = 0; i < n_known; i++) known[i] = search_method_at(i)->name;
    const bool later = node->kind == NODE_SCALAR && words_find("nsga2|adam", node->text) >= 0;
    const char *near = node->kind == NODE_SCALAR && !later ? nearest_name(node->text, known, n_known) : NULL;
    diagnose(reader->diagnostics, node, "method is %s, %s %s%s%s%s", scalar_given(node, reader->arena),
             later ? "which is not supported by this version, expected" : "expected",
             words_sentence(known, n_known, reader->arena), near != NULL ? "; did you mean '" : "",
             near != NULL ? near : "", near != NULL ? "'?" : "");
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
    if (foreign != NULL)
        diagnose(reader->diagnostics, given->key, "%s belongs to method %s, and this is method %s", key_name(foreign),
                 foreign->method, reader->spec->method->name);
}

static void method_read(SpecReader *reader, const GivenKey *given)
{
    const char *name = given == NULL ? "grid" : given->value->kind == NODE_SCALAR ? given->value->text : "";
    reader->spec->method = search_method_find(name);
    if (reader->spec->method == NULL) {
        method_unknown(reader, given->value);
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

// ---- writing --------------------------------------------------------------------------------------------------------

static void method_resolve(ResolveWriter *writer, const char *path)
{
    const SearchMethod *method = writer->reader->spec->method;
    resolve_line(writer, path, method->name, NULL);
    for (int i = 0; i < writer->reader->n_keys; i++) {
        const Key *key = &writer->reader->keys[i];
        const bool own = key->method != NULL && strcmp(key->method, method->name) == 0;
        if (own && key->type != KEY_FORM) resolve_row(writer, key);
    }
}

static void method_identify(const SpecReader *reader, CanonicalLines *lines)
{
    canonical_add(lines, form_method.path, reader->spec->method->name);
}

static void method_schema(Json *json, Arena *arena)
{
    (void)arena;
    json_array(json, "enum");
    for (int i = 0; i < search_method_count(); i++) json_text(json, NULL, search_method_at(i)->name);
    json_close(json, ']');
}

const Form form_method = {
    .path = "search.method",
    .after = "search",
    .words = "the name of a search method",
    .doc = "how trials are chosen",
    .example = "grid",
    .stage = FORM_FIRST,
    .always = true,
    .read = method_read,
    .resolve = method_resolve,
    .identify = method_identify,
    .schema = method_schema,
};
