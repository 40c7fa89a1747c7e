// The reference page, `hopscotch help spec`: every key with its meaning, what it takes, its default and an example; the
// value forms; the keys of each method and model. From the same tables as reading.
#include "../keys.h"

#include <stdio.h>
#include <string.h>

enum { REFERENCE_ARENA = 16 << 20, REFERENCE_COLUMNS = 96 };

// A paragraph, indented by 4 and broken between words.
static void reference_paragraph(FILE *out, const char *text)
{
    size_t column = 0;
    for (const char *p = text; *p != '\0'; p += strspn(p, " ")) {
        const size_t word = strcspn(p, " ");
        const bool breaks = column == 0 || column + 1 + word > REFERENCE_COLUMNS;
        fprintf(out, "%s%.*s", column == 0 ? "    " : breaks ? "\n    " : " ", (int)word, p);
        column = breaks ? 4 + word : column + 1 + word;
        p += word;
    }
    fputc('\n', out);
}

// "default 150", "required"; NULL: there is nothing to say.
static const char *reference_default(const Key *key, Arena *arena)
{
    if ((key->flags & KEY_REQUIRED) != 0) return "required";
    if (key->type == KEY_CHOICE) return arena_format(arena, "default %s", words_at(key->words, (int)key->value, arena));
    if (key->type == KEY_BOOLEAN) return key->value != 0.0 ? "default true" : "default false";
    if (key->type != KEY_NUMBER && key->type != KEY_INTEGER) return NULL;
    if (key->words != NULL) return arena_format(arena, "default %s", key->words);
    return arena_format(arena, "default %s", text_number(key->value).text);
}

static void reference_describe(FILE *out, const Key *key, Arena *arena)
{
    fprintf(out, "%s\n", key->path);
    reference_paragraph(out, key->doc);
    if (key->type != KEY_SECTION) {
        const char *initial = reference_default(key, arena), *expected = key_expected(key, arena);
        reference_paragraph(out, initial != NULL ? arena_format(arena, "%s; %s", expected, initial) : expected);
    }
    if (key->example != NULL) fprintf(out, "    example: %s: %s\n", key_name(key), key->example);
}

static void reference_describe_options(FILE *out, const Option *options, int count, const char *section, Arena *arena)
{
    for (int i = 0; i < count; i++) {
        const Key key = key_of_option(&options[i], section, arena);
        reference_describe(out, &key, arena);
    }
}

static void reference_describe_values(FILE *out)
{
    int count;
    const ValueForm *forms = value_forms(&count);
    fprintf(out, "\nVALUES of a parameter in search.over\n\n[1, 2, 3]\n    these, in this order\n");
    for (int i = 0; i < count; i++)
        fprintf(out, "{%s: %s}\n    %s\n    example: %s\n", forms[i].name, forms[i].arguments, forms[i].doc,
                forms[i].example);
    fprintf(out,
            "{derive: expression}\n    computed from other parameters; not an axis. It may use axes, fixed values and\n"
            "    parameters derived before it\n    example: {derive: \"0.1 * k_fp\"}\n");
}

void spec_reference(FILE *out)
{
    Arena arena;
    if (arena_create(&arena, REFERENCE_ARENA, "the reference page").kind != OK) return;
    int count;
    const Key *rows = keys_table(&count);
    fprintf(out, "KEYS of a spec\n\n");
    for (int i = 0; i < count; i++) {
        if (rows[i].type != KEY_LATER) reference_describe(out, &rows[i], &arena);
    }
    reference_describe_values(out);
    for (int i = 0; i < search_method_count(); i++) {
        const SearchMethod *method = search_method_at(i);
        fprintf(out, "\nMETHOD %s: %s\n\n", method->name, method->doc);
        reference_describe_options(out, method->options, method->n_options, "search", &arena);
    }
    for (int i = 0; i < model_count(); i++) {
        const Model *model = model_at(i);
        fprintf(out, "\nMODEL %s: %s (parameters and metrics: hopscotch models %s)\n\n", model->name, model->doc,
                model->name);
        reference_describe_options(out, model->options, model->n_options, "simulation", &arena);
    }
    limits_reference(out);
    fprintf(out,
            "\nNumbers are written 3, -0.5, 1e-4. Keys in s also take 5us, 5ms, 10s, 30min, 2h; fractions also 50%%.\n"
            "Expressions: + - * / ^, < <= > >= = !=, and or not, min max abs sqrt exp log sin cos, parentheses.\n");
    arena_destroy(&arena);
}
