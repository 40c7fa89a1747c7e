// Transactions and single values of a campaign's database, and its events. What other folders use is in campaign.h.
#ifndef HOPSCOTCH_TRANSACTION_H
#define HOPSCOTCH_TRANSACTION_H

#include "../../campaign.h"

// Runs a statement without rows that has one text, which may be NULL.
Error store_set_text(Database *database, const char *sql, const char *text);
// Ends a transaction in whichever folder the database is now: commits, or rolls back after an error, which it returns.
Error store_end_anywhere(Store *store, Error error);
CommandText store_how_to_repair(const Database *database, const char *name); // "hopscotch doctor NAME --repair"

// An event (events.c): a row, written within a transaction, and a line of log.jsonl, written after the commit.
Error store_insert_event(Database *database, const char *time, const char *kind, const char *text);
Error store_log_line(const Store *store, const char *time, const char *kind, const char *text);

#endif
