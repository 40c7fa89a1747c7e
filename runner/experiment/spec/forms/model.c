// `model`: what is simulated.
#include "../forms.h"

static const char *model_name(int index) { return index < model_count() ? model_at(index)->name : NULL; }

static void model_read(SpecReader *reader, const GivenKey *given)
{
    const Node *node = given->value;
    const Model *model = node->kind == NODE_SCALAR ? model_find(node->text) : NULL;
    const char *meant = model == NULL ? form_unknown(reader, &form_model, node) : NULL;
    reader->spec->model = meant != NULL ? model_find(meant) : model; // the rest is read as of the model that was meant
}

static void model_resolve(ResolveWriter *writer, const char *path)
{
    resolve_line(writer, path, writer->reader->spec->model->name, NULL);
}

static void model_identify(const SpecReader *reader, CanonicalLines *lines)
{
    canonical_add(lines, form_model.path, reader->spec->model->name);
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
    .choice = model_name,
};
