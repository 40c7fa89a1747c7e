// Rows of the tables trials and replicates (rows.c).
#ifndef HOPSCOTCH_ROWS_H
#define HOPSCOTCH_ROWS_H

#include "../../campaign.h"

int rows_constraints(const Spec *spec);           // C: the violation and the constraints; 0 without constraints
Text32 rows_constraint_name(int index);           // violation, constraint_1, ...
int64_t rows_columns(const Spec *spec);           // of the tables trials and replicates
int64_t rows_replicate_columns(const Spec *spec); // of the table replicates alone
int64_t rows_new(const TrialRows *rows);          // those that replace none
int64_t rows_bytes(const Spec *spec);             // of one row in memory
const char *rows_table_sql(const Spec *spec, const char *table, Arena *arena); // CREATE TABLE trials, or best
const char *rows_replicates_sql(const Spec *spec, Arena *arena);               // CREATE TABLE replicates
// The tables trials and replicates of rows that are still in memory. *_take names the columns; the first is the trial's
// id. *_show makes the table show the rows [first, end).
void rows_table_take(const Spec *spec, Arena *arena, MemoryTable *table);
void rows_table_show(const TrialRows *rows, int64_t first, int64_t end, MemoryTable *table);
void rows_replicates_table_take(const Spec *spec, Arena *arena, MemoryTable *table);
void rows_replicates_table_show(const Spec *spec, const TrialRows *rows, int64_t first, int64_t end,
                                MemoryTable *table);
void *rows_cells(const TrialRows *rows, int column); // of the table trials: doubles or integers, [count]
// Copies a row to another index.
void rows_copy(const TrialRows *from, int64_t row, TrialRows *to, int64_t target_row);
int32_t rows_failure_code(const Spec *spec, const char *name); // -1: the model has none of that name
// Adds the row to a hash: every column in table order; numbers as 8 bytes, NULL as the canonical NaN (which is never
// stored), texts as length and bytes.
void rows_hash(const Spec *spec, const TrialRows *rows, int64_t row, Sha256 *hash);
// A number as SQLite gives it back: without the sign and payload of NaN, and without the sign of zero.
double rows_stored(double value);

#endif
