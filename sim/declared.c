// Tables that a spec declares itself: the parameters, metrics, columns and failures of an experiment that no model of
// this program simulates (sim/command, sim/manual).
#include "declared.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const ItemField declared_parameter_fields[DECLARED_PARAMETER_FIELDS] = {
    {"name", ITEM_NAME, 0, 1, "", 0, 0, 0, NULL, NULL, "its name, in expressions, tables and messages"},
    {"value", ITEM_NUMBERS, 1, 1, "1", 0, -1e300, 1e300, "words", "auto",
     "its value where it is not searched; auto: 0, or the number of the range that is nearest to it; the first word"},
    {"unit", ITEM_WORDS, 0, 1, "", 0, 0, 0, NULL, NULL, "its unit"},
    {"range", ITEM_NUMBERS, 2, 2, "1", 0, -1e300, 1e300, NULL, "none",
     "the least and the greatest value that it takes"},
    {"doc", ITEM_WORDS, 0, 1, "", 0, 0, 0, NULL, NULL, "what it is"},
    {"words", ITEM_WORDS, 0, 1, "", 0, 0, 0, NULL, NULL,
     "the words that are its values, in place of numbers, such as [adam, sgd]"},
};
enum { DECLARED_UNIT, DECLARED_DOC, DECLARED_WORDS, DECLARED_PARAMETER_WORDS }; // fields of words, in their order
enum { DECLARED_OUTPUT_WORDS = DECLARED_WORDS };                                // of outputs: the first two
enum { DECLARED_PARAMETER_WIDTH = 3 };                                          // doubles: value, range

const ItemField declared_output_fields[DECLARED_OUTPUT_FIELDS] = {
    {"name", ITEM_NAME, 0, 1, "", 0, 0, 0, NULL, NULL, "its name, in expressions, tables and messages"},
    {"unit", ITEM_WORDS, 0, 1, "", 0, 0, 0, NULL, NULL, "its unit"},
    {"doc", ITEM_WORDS, 0, 1, "", 0, 0, 0, NULL, NULL, "what it is"},
};

// ---- names ----------------------------------------------------------------------------------------------------------

static Error declared_wrong(Configured *out, int list, int64_t item, const char *format, const char *name)
{
    out->wrong_list = list + 1;
    out->wrong_item = item;
    return error_make(ERROR_USER, format, name); // NOLINT: the formats are literals of the callers
}

// A table has a column per name, whatever its case.
Error declared_check_names(const Points *lists, int list, Configured *out)
{
    const Points *own = &lists[list], *others = &lists[DECLARED_PARAMETERS];
    for (int64_t i = 0; i < own->count; i++) {
        if (name_is_reserved(own->names[i])) return declared_wrong(out, list, i, "'%.40s' is reserved", own->names[i]);
        for (int64_t k = 0; list == DECLARED_METRICS && k < others->count; k++) {
            if (strcasecmp(own->names[i], others->names[k]) == 0)
                return declared_wrong(out, list, i, "'%.40s' is the name of a parameter already", own->names[i]);
        }
    }
    return error_none();
}

// ---- tables ---------------------------------------------------------------------------------------------------------

// The first text of a field of words, if it has one.
static const char *declared_or(const char *const *words, const char *otherwise)
{
    return words != NULL && words[0] != NULL ? words[0] : otherwise;
}

// A word stands in specs, expressions, tables and messages as it is, and is never taken for a number.
static bool declared_word_is_plain(const char *word)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    static const char others[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789.:+-";
    const size_t length = strlen(word);
    return length > 0 && length <= DECLARED_WORD_LENGTH && strchr(letters, word[0]) != NULL &&
           strspn(word, others) == length && strcmp(word, "all") != 0 && strcmp(word, "auto") != 0;
}

static Error declared_check_words(const char *const *words, int count, const char *name, int64_t item, Configured *out)
{
    char text[320];
    if (count > DECLARED_WORDS_MAX) {
        snprintf(text, sizeof text, "%.40s has more than %d words", name, DECLARED_WORDS_MAX);
        return declared_wrong(out, DECLARED_PARAMETERS, item, "%s", text);
    }
    for (int i = 0; i < count; i++) {
        bool twice = false;
        for (int k = 0; k < i; k++) twice |= strcmp(words[k], words[i]) == 0;
        if (!twice && declared_word_is_plain(words[i])) continue;
        if (twice)
            snprintf(text, sizeof text, "%.40s has the word '%.40s' twice, remove one", name, words[i]);
        else
            snprintf(text, sizeof text,
                     "'%.60s' can't be a word of %.40s: words have up to %d of A-Z a-z 0-9 _ . : + -, begin with a "
                     "letter or _, and are not all or auto",
                     words[i], name, DECLARED_WORD_LENGTH);
        return declared_wrong(out, DECLARED_PARAMETERS, item, "%s", text);
    }
    return error_none();
}

// *choices <- the words of item i as "a|b|c"; NULL: it has none.
static Error declared_choices(const Points *items, int64_t i, Arena *arena, const char **choices, Configured *out)
{
    const char *const *words = items->words[i * DECLARED_PARAMETER_WORDS + DECLARED_WORDS];
    int count = 0;
    size_t size = 1;
    *choices = NULL;
    if (words == NULL) return error_none();
    for (; words[count] != NULL; count++) size += strlen(words[count]) + 1;
    if (count == 0)
        return declared_wrong(out, DECLARED_PARAMETERS, i, "%.40s has an empty list of words", items->names[i]);
    TRY(declared_check_words(words, count, items->names[i], i, out));
    char *text = arena_take(arena, size, 1), *end = text;
    for (int w = 0; w < count; w++) end = stpcpy(stpcpy(end, w > 0 ? "|" : ""), words[w]);
    *choices = text;
    return error_none();
}

static double declared_last_choice(const char *choices)
{
    double last = 0.0;
    for (; *choices != '\0'; choices++) last += *choices == '|';
    return last;
}

static Error declared_parameter(const Points *items, int64_t i, const char *choices, Parameter *row, Configured *out)
{
    const char *const *const *words = items->words + i * DECLARED_PARAMETER_WORDS;
    const double *item = items->items + i * DECLARED_PARAMETER_WIDTH, given = item[0];
    const double last = choices != NULL ? declared_last_choice(choices) : INFINITY;
    const double low = !isnan(item[1]) ? item[1] : choices != NULL ? 0.0 : -INFINITY;
    const double high = isnan(item[2]) ? last : item[2];
    const double value = !isnan(given) ? given : low > 0.0 ? low : high < 0.0 ? high : 0.0;
    *row = (Parameter){.name = items->names[i],
                       .unit = declared_or(words[DECLARED_UNIT], "1"),
                       .value = value,
                       .low = low,
                       .high = high,
                       .section = SECTION_PARAMETERS,
                       .doc = declared_or(words[DECLARED_DOC], row->doc)};
    if (choices != NULL && !isnan(item[1]))
        return declared_wrong(out, DECLARED_PARAMETERS, i, "%.40s has words, and so no range", row->name);
    if (low > high) return declared_wrong(out, DECLARED_PARAMETERS, i, "range of %.40s must be [low, high]", row->name);
    if (value < low || value > high)
        return declared_wrong(out, DECLARED_PARAMETERS, i, "value of %.40s is outside of its range", row->name);
    return error_none();
}

Error declared_parameters(const Points *items, const char *whose, Arena *arena, Parameter **table, Configured *out)
{
    Parameter *rows = ARENA_NEW(arena, Parameter, items->count + 1);
    const char **choices = ARENA_NEW(arena, const char *, items->count + 1);
    const char *doc = arena_format(arena, "parameter of the %s", whose);
    for (int64_t i = 0; i < items->count; i++) {
        rows[i].doc = doc;
        TRY(declared_choices(items, i, arena, &choices[i], out));
        TRY(declared_parameter(items, i, choices[i], &rows[i], out));
        if (choices[i] != NULL) out->choices = choices;
    }
    out->parameters = *table = rows;
    out->n_parameters = (int)items->count;
    return error_none();
}

Field *declared_fields(const Points *items, const char *doc, const char *group, Arena *arena)
{
    Field *rows = ARENA_NEW(arena, Field, items->count + 1);
    for (int64_t i = 0; i < items->count; i++) {
        const char *const *const *words = items->words + i * DECLARED_OUTPUT_WORDS;
        rows[i] = (Field){items->names[i], declared_or(words[DECLARED_UNIT], "1"),
                          declared_or(words[DECLARED_DOC], doc), group};
    }
    return rows;
}

Error declared_failures(const char *const *builtin, int n_builtin, const Points *own, int option, Arena *arena,
                        Configured *out)
{
    const char **names = ARENA_NEW(arena, const char *, n_builtin + own->count);
    memcpy(names, builtin, (size_t)n_builtin * sizeof *names);
    for (int64_t i = 0; i < own->count; i++) {
        names[n_builtin + i] = own->names[i];
        for (int k = 0; k < n_builtin; k++) {
            if (strcmp(own->names[i], builtin[k]) != 0) continue;
            out->wrong_option = option + 1;
            out->wrong_item = i + 1;
            return error_make(ERROR_USER, "failures: '%s' is built in; remove it", builtin[k]);
        }
    }
    out->failures = names;
    out->n_failures = n_builtin + (int)own->count;
    return error_none();
}
