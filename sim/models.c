// The models by number and by name.
#include "models.h"

#include <string.h>

#define MODELS_DECLARE(name) extern const Model name##_model;
MODELS(MODELS_DECLARE)
#undef MODELS_DECLARE

#define MODELS_ENTRY(name) &name##_model,
static const Model *const models_all[] = {MODELS(MODELS_ENTRY)};
#undef MODELS_ENTRY

int model_count(void) { return (int)(sizeof models_all / sizeof models_all[0]); }

const Model *model_at(int index) { return models_all[index]; }

int configured_named(const Configured *configured)
{
    int count = configured->n_parameters;
    while (count > 0 && configured->parameters[count - 1].section == SECTION_SEED) count--;
    return count;
}

const Model *model_find(const char *name)
{
    for (int i = 0; i < model_count(); i++) {
        if (strcmp(models_all[i]->name, name) == 0) return models_all[i];
    }
    return NULL;
}
