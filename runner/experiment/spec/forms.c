// The table of forms, and their shared functions.
#include "forms.h"

#include <string.h>

#define FORM_ROW(name) &form_##name,
static const Form *const forms_table[] = {FORMS(FORM_ROW)};
#undef FORM_ROW

int form_count(void) { return (int)(sizeof forms_table / sizeof *forms_table); }
const Form *form_at(int index) { return forms_table[index]; }

// By the reader's path: models have their own names for debug rows.
const GivenKey *form_given(const SpecReader *reader, const Form *form)
{
    for (int i = 0; i < reader->n_keys; i++) {
        if (reader->keys[i].form == form) return given_find(reader, reader->keys[i].path);
    }
    return NULL;
}

int forms_given(const SpecReader *reader, FormStage stage)
{
    int count = 0;
    for (int i = 0; i < form_count(); i++)
        count += form_at(i)->stage == stage && form_given(reader, form_at(i)) != NULL;
    return count;
}

static bool forms_is_replaced(const SpecReader *reader, const Form *form)
{
    for (int i = 0; i < form_count(); i++) {
        const char *other = form_at(i)->instead_of;
        if (other != NULL && strcmp(other, form->path) == 0 && form_given(reader, form_at(i)) != NULL) return true;
    }
    return false;
}

bool form_is_foreign(const SpecReader *reader, const Form *form)
{
    const SearchMethod *method = reader->spec->method;
    return form->method != NULL && (method == NULL || strcmp(form->method, method->name) != 0);
}

void forms_read(SpecReader *reader, FormStage stage)
{
    for (int i = 0; i < form_count(); i++) {
        const Form *form = form_at(i);
        if (form->stage != stage || form_is_foreign(reader, form) || forms_is_replaced(reader, form))
            continue; // a foreign form is reported elsewhere
        const GivenKey *given = form_given(reader, form);
        if (given != NULL || form->always) form->read(reader, given);
    }
}

static bool forms_has_line(const FormLines *lines, const char *path)
{
    if (lines->start == NULL || strncmp(path, lines->start, strlen(lines->start)) != 0) return false;
    const size_t length = strlen(path), end = lines->end != NULL ? strlen(lines->end) : 0;
    return lines->end == NULL || (length > end && strcmp(path + length - end, lines->end) == 0);
}

const FormLines *form_lines(const char *path)
{
    enum { KINDS = sizeof form_over.lines / sizeof *form_over.lines };
    const FormLines *found = NULL;
    for (int i = 0; i < form_count(); i++) {
        for (int k = 0; k < KINDS; k++) {
            const FormLines *lines = &form_at(i)->lines[k];
            if (forms_has_line(lines, path) && (found == NULL || lines->end != NULL)) found = lines;
        }
    }
    return found;
}

void form_map_names(const Node *value, FormNames *names)
{
    for (int i = 0; value->kind == NODE_MAPPING && i < value->count; i++) {
        bool known = false;
        for (int k = 0; k < names->count; k++) known = known || strcmp(names->names[k], value->keys[i]->text) == 0;
        if (!known && names->count < names->most) names->names[names->count++] = value->keys[i]->text;
    }
}

void form_mistyped(SpecReader *reader, const GivenKey *given)
{
    key_mistyped(reader, key_find(reader, given->path), given->value);
}

const char *form_unknown(SpecReader *reader, const Form *form, const Node *node)
{
    const char *names[64];
    int count = 0;
    while (count < 64 && form->choice(count) != NULL) {
        names[count] = form->choice(count);
        count++;
    }
    const char *near = node->kind == NODE_SCALAR ? nearest_name(node->text, names, count) : NULL;
    const char *name = key_name(key_find(reader, form->path)), *text = scalar_given(node, reader->arena);
    if (near != NULL)
        diagnose(reader->diagnostics, node, "%s is %s; did you mean '%s'?", name, text, near);
    else
        diagnose(reader->diagnostics, node, "%s is %s, expected %s", name, text,
                 words_sentence(names, count, reader->arena));
    return near;
}
