// `model`: what is simulated.
#include "../forms.h"

static void model_read(SpecReader *reader, const GivenKey *given)
{
    const char *names[64];
    const int count = model_count() < 64 ? model_count() : 64;
    for (int i = 0; i < count; i++) names[i] = model_at(i)->name;
    const bool scalar = given->value->kind == NODE_SCALAR;
    const Model *model = scalar ? model_find(given->value->text) : NULL;
    reader->spec->model = model;
    if (model != NULL) return;
    const char *near = scalar ? nearest_name(given->value->text, names, count) : NULL;
    diagnose(reader->diagnostics, given->value, "model is %s, expected %s%s%s%s",
             scalar_given(given->value, reader->arena), words_sentence(names, count, reader->arena),
             near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
    if (near != NULL) reader->spec->model = model_find(near); // as a misspelt key: the rest is read as of that one
}

static void model_resolve(ResolveWriter *writer, const char *path)
{
    resolve_line(writer, path, writer->reader->spec->model->name, NULL);
}

static void model_identify(const SpecReader *reader, CanonicalLines *lines)
{
    canonical_add(lines, form_model.path, reader->spec->model->name);
}

static void model_schema(Json *json, Arena *arena)
{
    (void)arena;
    json_array(json, "enum");
    for (int i = 0; i < model_count(); i++) json_text(json, NULL, model_at(i)->name);
    json_close(json, ']');
}

const Form form_model = {
    .path = "model",
    .after = "seed",
    .words = "the name of a model",
    .doc = "what is simulated; `hopscotch models` lists them",
    .example = "hopper",
    .flags = KEY_REQUIRED,
    .stage = FORM_FIRST,
    .read = model_read,
    .resolve = model_resolve,
    .identify = model_identify,
    .schema = model_schema,
};
