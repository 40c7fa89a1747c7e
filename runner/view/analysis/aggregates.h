// Aggregates of groups of trials, as `query --group-by` names them (aggregates.c).
#ifndef HOPSCOTCH_AGGREGATES_H
#define HOPSCOTCH_AGGREGATES_H

#include "../view.h"

typedef enum AggregateKind {
    AGGREGATE_COUNT,
    AGGREGATE_MIN,
    AGGREGATE_MAX,
    AGGREGATE_MEAN,
    AGGREGATE_SUM,
    AGGREGATE_STD,
    AGGREGATE_MEDIAN,
    AGGREGATE_QUANTILE
} AggregateKind;

struct Aggregate {
    AggregateKind kind;
    int column;       // index in TrialColumns; -1: of trials
    double fraction;  // of a quantile
    const char *name; // "quantile(fitness, 0.9)"
};

// Splits a list at commas outside of parentheses: *rest points to what is left, NULL at the end. Spaces around an item
// are left out.
char *aggregates_next(char **rest);
// Reads "count,mean(f),quantile(f, 0.9)"; NULL: the default. by[n_by]: the columns of the groups, which may stand in
// the list too.
Error aggregates_read(const StoredCampaign *campaign, const TrialColumns *all, const char *text, const int *by,
                      int n_by, Arena *arena, Aggregate **aggregates, int *count);
// query.c: *column <- index of a column; error (user) with the nearest name. what: the option.
Error query_column(const TrialColumns *all, const char *name, const char *what, int *column);

#endif
