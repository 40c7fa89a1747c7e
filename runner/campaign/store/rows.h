// Rows of the tables trials and replicates (rows.c).
#ifndef HOPSCOTCH_ROWS_H
#define HOPSCOTCH_ROWS_H

#include "cursor.h"

// A block of rows, in the order of their ids. P: searched parameters, K: objectives, if they are several, else 0;
// M: metrics, R: replicates.
typedef struct TrialRows {
    int64_t count, capacity;
    int64_t *id;                // [capacity]
    int32_t *search, *round;    // [capacity]
    double *searched;           // [capacity][P], the spec's axes in order, derived ones too
    double *fitness;            // [capacity], NaN: failed, or there are several objectives
    double *objective;          // [capacity][K] of several objectives, NaN: failed
    double *constraint;         // [capacity][C] violation and constraints, if there are any; NaN: failed
    int32_t *failure;           // [capacity], index in configured.failures
    int32_t *n_failed;          // [capacity]
    double *metric;             // [capacity][M], mean over the replicates
    double *spread;             // [capacity][M], standard deviation; NULL with one replicate
    double *replicate_metric;   // [capacity][R][M]; NULL unless the spec stores replicates
    int32_t *replicate_failure; // [capacity][R]; NULL likewise
} TrialRows;

int rows_searched(const Spec *spec);    // P
int rows_objectives(const Spec *spec);  // K
int rows_constraints(const Spec *spec); // C: one more than there are constraints, 0 without
Text32 rows_constraint_name(int index); // violation, constraint_1, ...
const char *rows_objective_name(int index);
const char *rows_good_name(const Spec *spec); // the column that is NULL if a trial failed
int64_t rows_columns(const Spec *spec);       // of the tables trials and replicates
int64_t rows_replicate_columns(const Spec *spec);
void rows_take(const Spec *spec, int64_t capacity, Arena *arena, TrialRows *rows);
int64_t rows_bytes(const Spec *spec); // of one row in memory
// Error (user): a parameter and a metric would stand in columns of the same name.
Error rows_check_names(const Spec *spec);
const char *rows_table_sql(const Spec *spec, Arena *arena);      // CREATE TABLE trials
const char *rows_replicates_sql(const Spec *spec, Arena *arena); // CREATE TABLE replicates
const char *rows_insert_sql(const Spec *spec, Arena *arena);
const char *rows_insert_replicate_sql(const Spec *spec, Arena *arena);
const char *rows_select_sql(const Spec *spec, Arena *arena, const char *tail); // every column, in table order
void rows_bind(const Spec *spec, const TrialRows *rows, int64_t row, Statement *statement);
void rows_bind_replicate(const Spec *spec, const TrialRows *rows, int64_t row, int replicate, Statement *statement);
// Row `row` from a row of rows_select_sql.
void rows_read(const Spec *spec, const Cursor *trial, TrialRows *rows, int64_t row);
int32_t rows_failure_code(const Spec *spec, const char *name); // -1: the model has none of that name
// Adds the row to a hash: every column in table order, numbers by their 8 bytes, NULL as the canonical NaN (which is
// never stored), texts by length and bytes.
void rows_hash(const Spec *spec, const TrialRows *rows, int64_t row, Sha256 *hash);
// The first field in which two rows of one trial differ, with both values; false if all bits are equal.
bool rows_differ(const Spec *spec, const TrialRows *stored, int64_t row, const TrialRows *again, int64_t row_again,
                 char *text, size_t size);
// A number as SQLite gives it back: it keeps neither NaN's sign and payload nor the sign of zero.
double rows_stored(double value);

#endif
