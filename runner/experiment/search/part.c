// Parts of a campaign: a fixed share of its trials, that another machine runs in a campaign of its own. Trials that are
// known beforehand are divided by their ids, so a part has the trials that the whole campaign has at these ids. A
// method that learns is divided by its searches, which know nothing of each other and have random numbers of their own;
// only the ids of their trials depend on the other searches, and follow when the parts are joined.
#include "../experiment.h"

#include <stdlib.h>
#include <string.h>

// ---- the split ------------------------------------------------------------------------------------------------------

// 2^48 ids (TRIALS_MAX) times PARTS_MAX fit into 63 bits.
void part_units(PartOf part, int64_t units, int64_t *first, int64_t *end)
{
    const bool all = part.count == 0;
    *first = all ? 0 : units * (part.number - 1) / part.count;
    *end = all ? units : units * part.number / part.count;
}

static Error part_check_searches(const Spec *spec, int64_t searches)
{
    const char *method = spec->method->name;
    if (searches == 1)
        return error_make(ERROR_USER,
                          "%s runs one search here, and a search can't be divided: set search.%s.searches to %d or "
                          "more, or run it without --part",
                          method, method, spec->part.count);
    return error_make(ERROR_USER,
                      "%s runs %lld searches here, which can't be divided into %d parts: use %lld parts or fewer, or "
                      "more searches (search.%s.searches)",
                      method, (long long)searches, spec->part.count, (long long)searches, method);
}

Error part_check_spec(const Spec *spec, int64_t units)
{
    if (spec->part.count == 0) return error_none();
    if (spec->n_segments > 0)
        return error_make(ERROR_USER, "a campaign that was extended can't be divided into parts: run its last spec "
                                      "under a new name");
    if (spec->limits.trials > 0)
        return error_make(ERROR_USER, "limits.trials needs the trials of all parts: remove it, limit the search");
    if (spec_compares(spec) != NULL)
        return error_make(ERROR_USER, "%s needs the trials of all parts: remove it to run in parts",
                          spec_compares(spec));
    if (spec->record.rows.some)
        return error_make(ERROR_USER, "record.rows needs all trials in order: remove it to run in parts");
    if (units >= spec->part.count) return error_none();
    if (search_learns(spec->method)) return part_check_searches(spec, units);
    return error_make(ERROR_USER, "%s trial%s can't be divided into %d parts: use fewer parts", text_count(units).text,
                      units == 1 ? "" : "s", spec->part.count);
}

// ---- names ----------------------------------------------------------------------------------------------------------

PartName part_name(PartOf part)
{
    PartName name;
    const int digits = part.count > 999 ? 4 : part.count > 99 ? 3 : 2;
    snprintf(name.text, sizeof name.text, "%0*dof%0*d", digits, part.number, digits, part.count);
    return name;
}

// Only the name that part_name gives, so that no part has two folders.
bool part_is_named(const char *name, PartOf *part)
{
    const char *of = strstr(name, "of");
    if (of == NULL || strlen(name) >= sizeof(PartName) || strspn(name, "0123456789of") != strlen(name)) return false;
    const long number = strtol(name, NULL, 10), count = strtol(of + 2, NULL, 10);
    if (number < 1 || count < number || count > PARTS_MAX) return false;
    *part = (PartOf){(int)number, (int)count};
    return strcmp(part_name(*part).text, name) == 0;
}
