// A table of SQL over arrays in memory: statements of one connection read columns in memory as a table of its schema
// `temp`, without a copy. The table is read from front to back and can't be changed by SQL.
#ifndef HOPSCOTCH_IO_DATABASE_TABLE_H
#define HOPSCOTCH_IO_DATABASE_TABLE_H

#include "database.h"

typedef enum MemoryKind { MEMORY_INTEGER, MEMORY_REAL, MEMORY_WORD } MemoryKind;

typedef struct MemoryColumn {
    const char *name;
    MemoryKind kind;
    const int64_t *integers;  // MEMORY_INTEGER, and MEMORY_WORD: places in `words`
    const double *reals;      // MEMORY_REAL: NaN is NULL, -0 is 0
    const char *const *words; // [n_words] of MEMORY_WORD; any other place means the last one
    int n_words;
} MemoryColumn;

// The rows are those of the arrays from `first` to before `end`.
typedef struct MemoryTable {
    MemoryColumn *columns; // [n_columns]
    int n_columns;
    int64_t first, end;
} MemoryTable;

// Adds the table; it must outlive the connection. Between statements its arrays and rows may be others.
// name: at most 32 bytes
Error database_add_table(Database *database, const char *name, MemoryTable *table);
// The digests of `count` rows from the arrays' row `first` on, as bound_digest and column_digest give them: column by
// column, in half of the time.
void memory_table_digests(const MemoryTable *table, int64_t first, int64_t count, uint64_t *digests);

#endif
