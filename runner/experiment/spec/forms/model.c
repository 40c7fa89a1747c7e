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

static const char *model_text(const SpecReader *reader) { return reader->spec->model->name; }

const Form form_model = {
    .path = "model",
    .after = "seed",
    .words = "the name of a model",
    .doc = "what is simulated; `hopscotch models` lists them",
    .example = "hopper",
    .flags = KEY_REQUIRED | KEY_IDENTITY,
    .stage = FORM_FIRST,
    .read = model_read,
    .text = model_text,
    .choice = model_name,
};
