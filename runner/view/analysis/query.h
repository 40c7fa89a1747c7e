// Rows of the table trials by a condition, in an order: what `query` prints and `export` writes. The condition goes
// through our own expression parser and the columns through the list of those that exist; nothing that the user typed
// becomes part of a statement.
//
// A reader of a write-ahead log that stays in one long transaction (a pager that waits for a key) would keep the log
// from being folded back while a run writes. So the matching ids are taken in one go, and their rows, which never
// change, in short transactions; what they give is written between them.
#ifndef HOPSCOTCH_QUERY_H
#define HOPSCOTCH_QUERY_H

#include "../../campaign/store/trials.h"

typedef struct Query {
    const StoredCampaign *campaign;
    TrialColumns all;
    const char **names; // [count] columns to give
    int *columns;       // [count] their places in `all`
    int count;
    Condition where;
    TrialOrder *order; // [n_order]
    int n_order;
    int64_t limit; // 0: none
    int64_t *ids;  // [n_ids] that match; one more than the limit tells that there are more
    int64_t n_ids;
} Query;

// What the user asks for, as --where, --order, --columns and --limit say it.
typedef struct QueryAsked {
    const char *where, *order; // NULL: all; by id
    const char *columns;       // "all", "a,b"; NULL: those that tell most
    int64_t limit;             // 0: none
} QueryAsked;
Error query_start(const StoredCampaign *campaign, const QueryAsked *asked, Arena *arena, Query *query);
int64_t query_rows(const Query *query); // that are given
// Calls `take` with every trial, whose cells are the columns.
typedef Error QueryTake(void *taker, const Query *query, const Cursor *trial);
Error query_each(const Query *query, Arena *arena, QueryTake *take, void *taker);

#endif
