// The models by number and by name.
#include "models.h"

#include <math.h>
#include <string.h>
#include <strings.h>

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

int configured_own_metrics(const Configured *configured)
{
    return configured->meter != NULL ? configured->meter->first : configured->n_metrics;
}

const char *configured_choices(const Configured *configured, int parameter)
{
    return configured->choices != NULL ? configured->choices[parameter] : NULL;
}

bool configured_iterates(const Configured *configured)
{
    return configured->tick_duration > 0.0 && configured->n_columns > 0 &&
           strcmp(configured->columns[0].unit, "1") == 0;
}

int configured_failure(const Configured *configured, const char *name)
{
    for (int i = 0; i < configured->n_failures; i++) {
        if (strcmp(configured->failures[i], name) == 0) return i;
    }
    return -1;
}

int configured_fails_as(Configured *configured, const char *name, Arena *arena)
{
    const int known = configured_failure(configured, name), count = configured->n_failures;
    if (known >= 0) return known;
    const char **failures = ARENA_NEW(arena, const char *, count + 1);
    for (int i = 0; i < count; i++) failures[i] = configured->failures[i];
    failures[count] = name;
    configured->failures = failures;
    configured->n_failures = count + 1;
    return count;
}

Error model_configure(const Model *model, const double *settings, const Points *points, Arena *arena, Configured *out)
{
    TRY(model->configure(settings, points, arena, out));
    (void)configured_fails_as(out, NON_FINITE, arena);
    return error_none();
}

static bool name_is_among(const char *name, const char *const *words, size_t count)
{
    bool is = false;
    for (size_t i = 0; i < count; i++) is |= strcasecmp(words[i], name) == 0;
    return is;
}

// NULL: it is not reserved.
static const char *name_reserved(const char *name)
{
    static const char *const columns[] = {"id",        "search", "round", "fitness", "failure",
                                          "n_failed",  "trial",  "seed",  "time",    "violation",
                                          "replicate", "rowid",  "oid",   "_rowid_", "rank"};
    static const char *const words[] = {"and", "or",  "not", "min", "max",  "abs",     "sqrt",
                                        "exp", "log", "sin", "cos", "step", "include", "repeat"};
    const size_t length = strlen(name);
    if (name_is_among(name, columns, sizeof columns / sizeof *columns)) return "tables have a column of this name";
    if (name_is_among(name, words, sizeof words / sizeof *words)) return "it is a word of expressions or specs";
    if (strncasecmp(name, "objective_", 10) == 0) return "columns of objectives are called objective_1 and so on";
    if (strncasecmp(name, "constraint_", 11) == 0) return "columns of constraints are called constraint_1 and so on";
    if (length > 4 && strcasecmp(name + length - 4, "_std") == 0)
        return "columns of standard deviations over replicates end in _std";
    return NULL;
}

bool name_is_reserved(const char *name) { return name_reserved(name) != NULL; }

const char *name_reserved_why(const char *name) { return name_reserved(name); }

int list_field_width(const ItemField *field)
{
    return field->type == ITEM_NAME || field->type == ITEM_WORDS ? 0 : field->type == ITEM_NUMBERS ? field->count : 1;
}

double list_default(const ItemField *field, int number)
{
    if (field->type == ITEM_REFERENCE) return -1.0;
    return field->otherwise != NULL || (field->type == ITEM_NUMBERS && number >= field->least) ? NAN : field->value;
}

int list_words(const List *list)
{
    int count = 0;
    for (int f = 0; f < list->n_fields; f++) count += list->fields[f].type == ITEM_WORDS;
    return count;
}

int list_width(const List *list)
{
    int width = 0;
    for (int f = 0; f < list->n_fields; f++) width += list_field_width(&list->fields[f]);
    return width;
}

const Model *model_find(const char *name)
{
    for (int i = 0; i < model_count(); i++) {
        if (strcmp(models_all[i]->name, name) == 0) return models_all[i];
    }
    return NULL;
}
