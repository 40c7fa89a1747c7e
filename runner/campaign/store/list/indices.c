// Whether the indices of the table trials agree with the table. SQLite's integrity_check looks each row up in each
// index, which takes longer than all other checks together. Here each index and the table are read once, in the order
// of the index: the numbers of entries are equal, the sums of their digests are equal, and each entry is greater than
// the one before. So every row has exactly one entry, and a search finds it. Sums are equal by chance once in 2^64.
//
// integrity_check decides where a test fails, and for an index that is not a plain one over columns.
#include "integrity.h"

#include <string.h>

enum { INDEX_KEY_MAX = 64 };

typedef struct IndexKey {
    const char *columns; // "fitness", "survived", "rowid", as SQL
    bool descending[INDEX_KEY_MAX];
    int count;
} IndexKey;

// A value of the previous entry. SQLite orders values by type: NULL, numbers, texts, bytes.
typedef struct IndexValue {
    ColumnKind kind;
    int64_t integer;
    double real;
    char text[64];
} IndexValue;

typedef struct IndexSum {
    int64_t rows;
    uint64_t digest;
    bool in_order;
} IndexSum;

// ---- order ----------------------------------------------------------------------------------------------------------

static int index_rank(ColumnKind kind)
{
    static const int ranks[] = {
        [COLUMN_NULL] = 0, [COLUMN_INTEGER] = 1, [COLUMN_REAL] = 1, [COLUMN_TEXT] = 2, [COLUMN_BLOB] = 3};
    return ranks[kind];
}

// False: a value that is not compared here.
static bool index_take(const Cursor *row, int column, IndexValue *value)
{
    value->kind = cell_kind(row, column);
    value->integer = value->kind == COLUMN_INTEGER ? cell_integer(row, column) : 0;
    value->real = index_rank(value->kind) == 1 ? cell_real(row, column) : 0;
    value->text[0] = '\0';
    if (value->kind == COLUMN_BLOB) return false;
    if (value->kind != COLUMN_TEXT) return true;
    const char *text = cell_text(row, column);
    if (strlen(text) >= sizeof value->text) return false;
    strcpy(value->text, text);
    return true;
}

static int index_compare(const IndexValue *a, const IndexValue *b)
{
    const int rank = index_rank(a->kind) - index_rank(b->kind);
    if (rank != 0) return rank;
    if (a->kind == COLUMN_TEXT) return strcmp(a->text, b->text);
    if (a->kind == COLUMN_INTEGER && b->kind == COLUMN_INTEGER)
        return (a->integer > b->integer) - (a->integer < b->integer);
    return (a->real > b->real) - (a->real < b->real);
}

// Whether the row comes after the values. It replaces them.
static bool index_goes_on(const IndexKey *key, const Cursor *row, bool first, IndexValue *before)
{
    int order = first ? 1 : 0;
    for (int i = 0; i < key->count; i++) {
        IndexValue value;
        if (!index_take(row, i, &value)) return false;
        if (order == 0)
            order = key->descending[i] ? -index_compare(&value, &before[i]) : index_compare(&value, &before[i]);
        before[i] = value;
    }
    return order > 0;
}

// ---- one index ------------------------------------------------------------------------------------------------------

// ordered: the rows should come in the order of the key.
static Error index_sum(Database *database, const char *sql, const IndexKey *key, bool ordered, IndexSum *sum)
{
    IndexValue before[INDEX_KEY_MAX];
    *sum = (IndexSum){.in_order = true};
    Cursor rows = cursor_open(database, sql);
    while (sum->in_order && cursor_next(&rows)) {
        sum->in_order = !ordered || index_goes_on(key, &rows, sum->rows == 0, before);
        sum->digest += cells_digest(&rows, 0);
        sum->rows++;
    }
    return cursor_close(&rows);
}

// *plain: it is over columns of the table alone, compared byte by byte.
static Error index_read_key(Database *database, const char *name, Arena *arena, IndexKey *key, bool *plain)
{
    *key = (IndexKey){.columns = ""};
    *plain = true;
    Cursor columns = cursor_open(database, "SELECT cid, name, desc, coll FROM pragma_index_xinfo(?) ORDER BY seqno");
    with_text(&columns, name);
    while (*plain && cursor_next(&columns)) {
        const int64_t column = cell_integer(&columns, 0);
        *plain = column >= -1 && strcmp(cell_text(&columns, 3), "BINARY") == 0 && key->count < INDEX_KEY_MAX;
        if (!*plain) break;
        key->descending[key->count] = cell_integer(&columns, 2) != 0;
        key->columns = arena_format(arena, "%s%s%s", key->columns, key->count++ > 0 ? ", " : "",
                                    column == -1 ? "rowid" : sql_identifier(arena, cell_text(&columns, 1)));
    }
    *plain = *plain && key->count > 0;
    return cursor_close(&columns);
}

static Error index_matches(Database *database, const char *name, Arena *arena, bool *matches)
{
    IndexKey key;
    IndexSum index, table;
    *matches = false;
    TRY(index_read_key(database, name, arena, &key, matches));
    if (!*matches) return error_none();
    TRY(index_sum(
        database,
        arena_format(arena, "SELECT %s FROM main.trials INDEXED BY %s", key.columns, sql_identifier(arena, name)), &key,
        true, &index));
    *matches = index.in_order;
    if (!*matches) return error_none();
    TRY(index_sum(database, arena_format(arena, "SELECT %s FROM main.trials NOT INDEXED", key.columns), &key, false,
                  &table));
    *matches = index.rows == table.rows && index.digest == table.digest;
    return error_none();
}

// ---- all of them ----------------------------------------------------------------------------------------------------

bool indices_match(Database *database, Arena *arena)
{
    bool match = true;
    Cursor indices = cursor_open(database, "SELECT name, \"unique\", partial FROM pragma_index_list('trials')");
    while (match && cursor_next(&indices)) {
        match = cell_integer(&indices, 1) == 0 && cell_integer(&indices, 2) == 0;
        if (match)
            cursor_stop(&indices, index_matches(database, arena_copy(arena, cell_text(&indices, 0)), arena, &match));
    }
    return cursor_close(&indices).kind == OK && match;
}
