// The numbers of tables and inputs of a system, in lists. Those of files are lists too by now (spec/system_tables.c),
// whose items know their places in the file.
#include "equations.h"

#include <string.h>
#include <strings.h>

static bool numbers_flooded(const SystemReader *reader)
{
    return diagnostics_errors(reader->diagnostics) > SYSTEM_ERRORS_MAX;
}

static bool numbers_is_gap(const char *text)
{
    static const char *const gaps[] = {"", "nan", "na", "n/a", "null", "none", "-", "inf", "+inf", "-inf"};
    bool gap = false;
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) gap |= strcasecmp(text, gaps[i]) == 0;
    return gap;
}

// False after an error.
static bool numbers_scalar(SystemReader *reader, const Node *node, double *value)
{
    *value = 0.0;
    if (node->kind == NODE_SCALAR && text_to_number(node->text, value)) return true;
    if (node->kind != NODE_SCALAR)
        diagnose(reader->diagnostics, node, "a number is due here");
    else if (numbers_is_gap(node->text))
        diagnose(reader->diagnostics, node, "there is no number here: leave out the row, or fill the gap");
    else
        diagnose(reader->diagnostics, node, "a number is due here, not '%.60s'%s",
                 text_visible(node->text, reader->arena),
                 text_has_decimal_comma(node->text) ? ": the decimal point is '.'" : "");
    return false;
}

// Counts numbers of the system. False: there are too many, which is reported once.
static bool numbers_count(SystemReader *reader, const Node *at, int64_t count)
{
    const bool before = reader->n_numbers > SYSTEM_NUMBERS_MAX;
    reader->n_numbers += count;
    if (reader->n_numbers <= SYSTEM_NUMBERS_MAX) return true;
    if (!before) diagnose(reader->diagnostics, at, EQUATIONS_TOO_MANY_NUMBERS, SYSTEM_NUMBERS_MAX);
    return false;
}

enum { NUMBERS_WRONG_MAX = 5 };

// The numbers of a list, `count` of them (-1: any). increases: each is greater than the last one. False after an error,
// which may have been reported before: two inputs of one file share its times, and a place is reported once.
static bool numbers_list(SystemReader *reader, const Node *node, int count, bool increases, const char *what,
                         const double **out)
{
    if (node->kind != NODE_SEQUENCE || (count >= 0 && node->count != count)) {
        if (count >= 0 && node->kind == NODE_SEQUENCE)
            diagnose(reader->diagnostics, node, "%s has %d numbers, and there are %d arguments", what, node->count,
                     count);
        else
            diagnose(reader->diagnostics, node, "%s must be numbers in a list", what);
        return false;
    }
    if (!numbers_count(reader, node, node->count)) return false;
    double *numbers = ARENA_NEW(reader->arena, double, node->count);
    bool before = false;
    int wrong = 0; // a column of words, or times that run backwards, would be an error a row
    for (int i = 0; i < node->count && wrong < NUMBERS_WRONG_MAX && !numbers_flooded(reader); i++) {
        const bool is = numbers_scalar(reader, node->items[i], &numbers[i]),
                   behind = increases && is && before && !(numbers[i] > numbers[i - 1]);
        wrong += !is || behind;
        if (!is && node->items[i]->kind == NODE_SCALAR && text_has_decimal_comma(node->items[i]->text))
            wrong = NUMBERS_WRONG_MAX; // others have one, too
        if (behind)
            diagnose(reader->diagnostics, node->items[i],
                     "%s stands behind %s: arguments and times increase from one to the next",
                     text_number(numbers[i]).text, text_number(numbers[i - 1]).text);
        before = is;
    }
    *out = numbers;
    return wrong == 0 && !numbers_flooded(reader);
}

// False after an error.
static bool numbers_of_two(SystemReader *reader, const Node *at, const Node *values, SystemNumbers *out)
{
    const double *first, *second, *row;
    if (at->kind != NODE_SEQUENCE || at->count != 2) {
        diagnose(reader->diagnostics, at, "at must be two lists, those of the first and of the second argument");
        return false;
    }
    const bool along = numbers_list(reader, at->items[0], -1, true, "the first list of at", &first);
    if (!numbers_list(reader, at->items[1], -1, true, "the second list of at", &second) || !along) return false;
    const int n = at->items[0]->count, m = at->items[1]->count;
    if (values->kind != NODE_SEQUENCE || values->count != n) {
        diagnose(reader->diagnostics, values, "values must be %d lists, one for each first argument", n);
        return false;
    }
    if ((int64_t)n * m > SYSTEM_NUMBERS_MAX) return numbers_count(reader, values, (int64_t)n * m);
    double *all = ARENA_NEW(reader->arena, double, (int64_t)n *m);
    bool right = true;
    for (int i = 0; i < n; i++) {
        const bool is = numbers_list(reader, values->items[i], m, false, "a list of values", &row);
        if (is) memcpy(all + (int64_t)i * m, row, (size_t)m * sizeof *all);
        right &= is;
    }
    *out = (SystemNumbers){.at = first, .across = second, .values = all, .first = n, .second = m};
    return right;
}

// False after an error.
static bool numbers_of_one(SystemReader *reader, const Node *at, const Node *values, SystemNumbers *out)
{
    const double *arguments, *numbers;
    const bool increase = numbers_list(reader, at, -1, true, "at", &arguments);
    if (at->kind != NODE_SEQUENCE || !numbers_list(reader, values, at->count, false, "values", &numbers)) return false;
    *out = (SystemNumbers){.at = arguments, .values = numbers, .first = at->count};
    return increase;
}

// Whether the slope between two points is finite.
static bool numbers_rise(double from, double to, double value_from, double value_to)
{
    const double slope = (value_to - value_from) / (to - from);
    return slope - slope == 0.0;
}

static void numbers_check_slopes(SystemReader *reader, const Node *node, const SystemNumbers *numbers)
{
    const int m = numbers->second > 0 ? numbers->second : 1;
    bool finite = true;
    for (int i = 0; i < numbers->first; i++)
        for (int k = 0; k < m; k++) {
            const double *value = numbers->values + (int64_t)i * m + k;
            if (i > 0) finite &= numbers_rise(numbers->at[i - 1], numbers->at[i], value[-m], *value);
            if (k > 0) finite &= numbers_rise(numbers->across[k - 1], numbers->across[k], value[-1], *value);
        }
    if (!finite)
        diagnose(reader->diagnostics, node, "values differ by more than a double can hold from one to the next");
}

bool equations_numbers(SystemReader *reader, const Node *key, const Node *node, bool grid, int least,
                       SystemNumbers *out)
{
    const Node *file = node_find(node, "file"), *at = node_find(node, "at"), *values = node_find(node, "values");
    const int errors = diagnostics_errors(reader->diagnostics);
    *out = (SystemNumbers){0};
    if (file != NULL && at == NULL && values == NULL) return false; // it can't be read, which is reported
    if (file != NULL) {
        diagnose(reader->diagnostics, file, "%s has its numbers here too: give a file, or at and values", key->text);
        return false;
    }
    if (at == NULL || values == NULL) {
        diagnose(reader->diagnostics, key, "%s needs a file, or at and values: {file: %s.csv}", key->text, key->text);
        return false;
    }
    if (!(grid ? numbers_of_two(reader, at, values, out) : numbers_of_one(reader, at, values, out))) return false;
    if (out->first < least || (grid && out->second < least)) {
        diagnose(reader->diagnostics, at, "%s needs at least %d row%s%s, and has %d%s", key->text, least,
                 least > 1 ? "s" : "", grid ? " and columns" : "", out->first,
                 grid ? arena_format(reader->arena, " and %d", out->second) : "");
        return false;
    }
    numbers_check_slopes(reader, values, out);
    return diagnostics_errors(reader->diagnostics) == errors;
}
