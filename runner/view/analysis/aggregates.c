// Reads the aggregates of `query --group-by`.
#include "aggregates.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AGGREGATES_MAX = 64 };

static const char *const aggregate_names[] = {
    [AGGREGATE_COUNT] = "count",   [AGGREGATE_MIN] = "min",          [AGGREGATE_MAX] = "max",
    [AGGREGATE_MEAN] = "mean",     [AGGREGATE_SUM] = "sum",          [AGGREGATE_STD] = "std",
    [AGGREGATE_MEDIAN] = "median", [AGGREGATE_QUANTILE] = "quantile"};
enum { AGGREGATE_KINDS = sizeof aggregate_names / sizeof *aggregate_names };

static char *aggregate_trim(char *text)
{
    while (isspace((unsigned char)*text)) text++;
    for (char *end = text + strlen(text); end > text && isspace((unsigned char)end[-1]);) *--end = '\0';
    return text;
}

char *aggregates_next(char **rest)
{
    char *item = *rest, *at = item;
    if (item == NULL) return NULL;
    for (int depth = 0; *at != '\0' && (*at != ',' || depth > 0); at++) depth += (*at == '(') - (*at == ')');
    *rest = *at != '\0' ? at + 1 : NULL;
    *at = '\0';
    return aggregate_trim(item);
}

static Error aggregate_unknown(const TrialColumns *all, const char *name)
{
    const char *nearest = nearest_name(name, aggregate_names, AGGREGATE_KINDS);
    if (trial_column_find(all, name) >= 0)
        return error_make(ERROR_USER,
                          "--columns: of a group '%.60s' has many values; write mean(%.60s), or another of "
                          "count, min, max, mean, sum, std, median, quantile(%.60s, 0.9)",
                          name, name, name);
    if (nearest != NULL)
        return error_make(ERROR_USER, "--columns: there is no aggregate '%.60s'; did you mean '%s'?", name, nearest);
    return error_make(ERROR_USER,
                      "--columns: there is no aggregate '%.60s'; there are count, min, max, mean, sum, std, "
                      "median and quantile",
                      name);
}

static Error aggregate_read_fraction(const char *text, double *fraction)
{
    char *end = NULL;
    *fraction = text != NULL ? strtod(text, &end) : (double)NAN;
    if (text != NULL && end != text && *end == '\0' && *fraction >= 0 && *fraction <= 1) return error_none();
    return error_make(ERROR_USER,
                      "--columns: quantile takes a column and a number from 0 to 1, as in quantile(fitness, "
                      "0.9)");
}

// What stands in the parentheses: a column, and the fraction of a quantile.
static Error aggregate_read_inner(const TrialColumns *all, char *inner, Aggregate *aggregate)
{
    char *column = aggregates_next(&inner), *fraction = aggregates_next(&inner);
    const bool quantile = aggregate->kind == AGGREGATE_QUANTILE;
    const char *name = aggregate_names[aggregate->kind];
    TRY(query_column(all, column, "columns", &aggregate->column));
    if (all->is_text[aggregate->column] && aggregate->kind != AGGREGATE_COUNT)
        return error_make(ERROR_USER, "--columns: '%.60s' is a text; only count(%.60s) takes it", column, column);
    if (inner != NULL || (fraction != NULL && !quantile))
        return error_make(ERROR_USER, "--columns: %s takes %s", name,
                          quantile ? "a column and a number" : "one column");
    return quantile ? aggregate_read_fraction(fraction, &aggregate->fraction) : error_none();
}

static Error aggregate_read(const TrialColumns *all, char *text, Arena *arena, Aggregate *aggregate)
{
    char *open = strchr(text, '('), *close = text + strlen(text);
    int kind = 0;
    *aggregate = (Aggregate){.column = -1};
    if (open != NULL && close[-1] != ')')
        return error_make(ERROR_USER, "--columns: '%.60s' has no closing parenthesis at its end", text);
    if (open != NULL) *open = close[-1] = '\0';
    const char *name = aggregate_trim(text);
    while (kind < AGGREGATE_KINDS && strcmp(aggregate_names[kind], name) != 0) kind++;
    if (kind == AGGREGATE_KINDS) return aggregate_unknown(all, name);
    aggregate->kind = (AggregateKind)kind;
    aggregate->name = aggregate_names[kind];
    if (open == NULL && kind != AGGREGATE_COUNT)
        return error_make(ERROR_USER, "--columns: %s of which column? Write %s(fitness)", name, name);
    if (open == NULL) return error_none();
    TRY(aggregate_read_inner(all, open + 1, aggregate));
    const char *column = all->names[aggregate->column];
    aggregate->name = kind == AGGREGATE_QUANTILE
                          ? arena_format(arena, "%s(%s, %s)", name, column, text_number(aggregate->fraction).text)
                          : arena_format(arena, "%s(%s)", name, column);
    return error_none();
}

static const char *aggregates_default(const StoredCampaign *campaign, Arena *arena)
{
    const bool several = spec_several(&campaign->spec);
    const char *text = "count";
    for (int k = 0; k < (several ? rows_objectives(&campaign->spec) : 1); k++) {
        const char *column = several ? rows_objective_name(k) : "fitness";
        text = arena_format(arena, "%s,min(%s),median(%s),max(%s)", text, column, column, column);
    }
    return text;
}

static bool aggregate_is_group(const TrialColumns *all, const char *name, const int *by, int n_by)
{
    for (int k = 0; k < n_by; k++) {
        if (strcmp(all->names[by[k]], name) == 0) return true;
    }
    return false;
}

Error aggregates_read(const StoredCampaign *campaign, const TrialColumns *all, const char *text, const int *by,
                      int n_by, Arena *arena, Aggregate **aggregates, int *count)
{
    char *rest = arena_copy(arena, text != NULL ? text : aggregates_default(campaign, arena));
    *aggregates = ARENA_NEW(arena, Aggregate, AGGREGATES_MAX);
    *count = 0;
    for (char *item; (item = aggregates_next(&rest)) != NULL;) {
        if (aggregate_is_group(all, item, by, n_by)) continue;
        if (*count == AGGREGATES_MAX)
            return error_make(ERROR_USER, "--columns: more than %d aggregates", AGGREGATES_MAX);
        TRY(aggregate_read(all, item, arena, &(*aggregates)[*count]));
        ++*count;
    }
    return error_none();
}
