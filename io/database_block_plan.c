// What SQLite asks of the table over blocks: which conditions and orders the table takes over (xBestIndex), and their
// values (xFilter). A condition may let rows pass that do not meet it, because SQLite compares again what it gets; it
// never drops a row that meets it.
#include "database_blocks.h"

#include <stdlib.h>
#include <string.h>

// ---- what SQLite asks for -------------------------------------------------------------------------------------------

static const struct {
    unsigned char operation;
    Comparison comparison; // COMPARISONS: none
    double share;          // of the rows, for SQLite's planner
} block_operations[] = {
    {SQLITE_INDEX_CONSTRAINT_EQ, IS_EQUAL, 0.01},           {SQLITE_INDEX_CONSTRAINT_IS, IS_EQUAL, 0.01},
    {SQLITE_INDEX_CONSTRAINT_NE, IS_NOT_EQUAL, 0.9},        {SQLITE_INDEX_CONSTRAINT_LT, IS_LESS, 0.3},
    {SQLITE_INDEX_CONSTRAINT_LE, IS_LESS_OR_EQUAL, 0.3},    {SQLITE_INDEX_CONSTRAINT_GT, IS_GREATER, 0.3},
    {SQLITE_INDEX_CONSTRAINT_GE, IS_GREATER_OR_EQUAL, 0.3}, {SQLITE_INDEX_CONSTRAINT_ISNULL, COMPARISONS, 0.1},
    {SQLITE_INDEX_CONSTRAINT_ISNOTNULL, COMPARISONS, 0.9},
};
enum { BLOCK_OPERATIONS = sizeof block_operations / sizeof *block_operations, BLOCK_LIST = BLOCK_OPERATIONS };

static int block_operation(unsigned char operation)
{
    for (int i = 0; i < BLOCK_OPERATIONS; i++) {
        if (block_operations[i].operation == operation) return i;
    }
    return -1;
}

// Only whether texts are equal. That they differ must be meant byte by byte.
static bool block_can_test_words(const NumberColumn *column, sqlite3_index_info *plan, int constraint)
{
    const unsigned char operation = plan->aConstraint[constraint].op;
    if (column->n_words > TEST_WORDS_MAX) return false;
    return operation == SQLITE_INDEX_CONSTRAINT_EQ ||
           (operation == SQLITE_INDEX_CONSTRAINT_NE &&
            sqlite3_stricmp(sqlite3_vtab_collation(plan, constraint), "BINARY") == 0);
}

// Whether a condition is `column IN (...)`, which the table then gets as a list. Before SQLite 3.38, and for ids, the
// cursor is asked for one value after the other.
static bool block_takes_list(sqlite3_index_info *plan, int constraint)
{
#if SQLITE_VERSION_NUMBER >= 3038000
    return plan->aConstraint[constraint].iColumn > 0 && sqlite3_vtab_in(plan, constraint, 1);
#else
    (void)plan, (void)constraint;
    return false;
#endif
}

// The column of a condition that the table takes over; -1: none. SQLite counts the rowid as column -1.
static int block_tested_column(const BlockTable *table, sqlite3_index_info *plan, int constraint)
{
    const struct sqlite3_index_constraint *condition = &plan->aConstraint[constraint];
    const int column = condition->iColumn < 0 ? 0 : condition->iColumn;
    if (!condition->usable || column >= table->n_columns || block_operation(condition->op) < 0) return -1;
    const NumberColumn *tested = &table->columns[column];
    return tested->words == NULL || block_can_test_words(tested, plan, constraint) ? column : -1;
}

// Whether the table can give its rows in the order that the statement asks for. *n_terms: terms before ids decide.
static bool block_can_order(const BlockTable *table, sqlite3_index_info *plan, int *n_terms)
{
    *n_terms = 0;
#if SQLITE_VERSION_NUMBER >= 3038000
    if (sqlite3_vtab_distinct(plan) == 2) return false; // DISTINCT: SQLite remembers values faster than we sort
#endif
    for (int i = 0; i < plan->nOrderBy; i++) {
        const int column = plan->aOrderBy[i].iColumn;
        if (column <= 0 && !plan->aOrderBy[i].desc) return true;
        if (*n_terms == ORDER_TERMS_MAX || (column > 0 && table->columns[column].words != NULL)) return false;
        ++*n_terms;
        if (column <= 0) return true; // ids differ: later terms decide nothing
    }
    return plan->nOrderBy > 0;
}

// What SQLite's planner compares. Looking through a column counts as more than half of a scan of all rows, although it
// takes a tenth of its time: else SQLite would look up the terms of `a OR b` one after the other, and rows would come
// in another order than from an ordinary table.
static void block_estimate(int64_t rows, sqlite3_index_info *plan, int n_terms)
{
    double out = (double)rows, looked = (double)rows;
    bool tested = n_terms > 0;
    bool one = false;
    for (int i = 0; i < plan->nConstraint; i++) {
        if (plan->aConstraintUsage[i].argvIndex == 0) continue;
        const bool id = plan->aConstraint[i].iColumn <= 0,
                   equal = plan->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ;
        const double share = block_operations[block_operation(plan->aConstraint[i].op)].share;
        one = one || (id && equal);
        out *= share;
        if (id) looked *= share;
        tested = tested || !id;
    }
    plan->estimatedRows = one || out < 1 ? 1 : (sqlite3_int64)out;
    plan->estimatedCost = one ? 2 : 2 + (tested ? 0.55 * looked + 0.45 * out : looked);
    plan->idxFlags = one ? SQLITE_INDEX_SCAN_UNIQUE : 0;
}

// The plan is a text: for each argument of the cursor "column operation ", then a point, then for each term of the
// order "column descending ".
int block_plan(sqlite3_vtab *base, sqlite3_index_info *plan)
{
    const BlockModule *module = ((const BlockVtab *)base)->module;
    const BlockTable *table = &module->table;
    int arguments = 0, n_terms = 0;
    sqlite3_str *text = sqlite3_str_new(NULL);
    for (int i = 0; i < plan->nConstraint && arguments < BLOCK_TESTS_MAX; i++) {
        const int column = block_tested_column(table, plan, i);
        if (column < 0) continue;
        plan->aConstraintUsage[i].argvIndex = ++arguments;
        sqlite3_str_appendf(text, "%d %d ", column,
                            block_takes_list(plan, i) ? BLOCK_LIST : block_operation(plan->aConstraint[i].op));
    }
    sqlite3_str_appendall(text, ".");
    plan->orderByConsumed = block_can_order(table, plan, &n_terms);
    if (!plan->orderByConsumed) n_terms = 0;
    for (int i = 0; i < n_terms; i++) {
        const int column = plan->aOrderBy[i].iColumn;
        sqlite3_str_appendf(text, "%d %d ", column < 0 ? 0 : column, plan->aOrderBy[i].desc);
    }
    block_estimate(module->before[table->n_blocks], plan, n_terms);
    plan->idxNum = arguments;
    plan->idxStr = sqlite3_str_finish(text);
    plan->needToFreeIdxStr = 1;
    return plan->idxStr != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

// ---- conditions of SQL ----------------------------------------------------------------------------------------------

static size_t text_trimmed(const char *text, size_t size)
{
    while (size > 0 && text[size - 1] == ' ') size--;
    return size;
}

// Equal by any of SQLite's collations (BINARY, NOCASE, RTRIM). SQLite makes `a = 'x' COLLATE NOCASE OR a = 'y'` an IN
// of the collation BINARY, so the collation that it names says nothing.
static bool text_may_equal(const char *a, size_t a_size, const char *b, size_t b_size)
{
    const size_t size = text_trimmed(a, a_size);
    return size == text_trimmed(b, b_size) && sqlite3_strnicmp(a, b, (int)size) == 0;
}

// False: the condition can't be tested here.
static bool test_of_words(const NumberColumn *column, Comparison comparison, sqlite3_value *value, ColumnTest *test)
{
    const int type = sqlite3_value_type(value);
    *test = (ColumnTest){.kind = TEST_WORD, .n_words = column->n_words};
    if (type == SQLITE_NULL) return true; // no row
    if (type != SQLITE_TEXT) return false;
    const char *text = (const char *)sqlite3_value_text(value);
    const size_t size = (size_t)sqlite3_value_bytes(value);
    if (text == NULL) return false;
    for (int i = 0; i <= column->n_words; i++) {
        const char *word = number_word(column, i);
        const size_t length = strlen(word);
        const bool passes = comparison == IS_EQUAL ? text_may_equal(word, length, text, size)
                                                   : length != size || memcmp(word, text, size) != 0;
        if (passes) test->words |= (uint64_t)1 << (i < column->n_words ? i : TEST_WORDS_MAX);
    }
    return true;
}

// SQLite compares a column of numbers with a text as a number if the text is one; else numbers come before texts.
static ColumnTest test_of_numbers(bool real, int operation, sqlite3_value *value)
{
    const Comparison comparison = block_operations[operation].comparison;
    switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_INTEGER: return test_with_integer(real, comparison, sqlite3_value_int64(value));
    case SQLITE_FLOAT: return test_with_real(real, comparison, sqlite3_value_double(value));
    case SQLITE_NULL: break;
    default:
        return comparison == IS_LESS || comparison == IS_LESS_OR_EQUAL || comparison == IS_NOT_EQUAL ? test_all(real)
                                                                                                     : test_none(real);
    }
    if (block_operations[operation].operation != SQLITE_INDEX_CONSTRAINT_IS) return test_none(real);
    return (ColumnTest){.real = real, .kind = TEST_NULL};
}

static bool test_of_value(const BlockTable *table, int column, int operation, sqlite3_value *value, ColumnTest *test)
{
    const bool real = block_column_is_real(table, column);
    bool ok = true;
    if (block_operations[operation].operation == SQLITE_INDEX_CONSTRAINT_ISNULL)
        *test = (ColumnTest){.real = real, .kind = TEST_NULL};
    else if (block_operations[operation].operation == SQLITE_INDEX_CONSTRAINT_ISNOTNULL)
        *test = test_all(real);
    else if (table->columns[column].words != NULL)
        ok = test_of_words(&table->columns[column], block_operations[operation].comparison, value, test);
    else
        *test = test_of_numbers(real, operation, value);
    test->column = column;
    return ok;
}

// x IN (...): between the least and the greatest value of the list.
static bool test_of_list(const BlockTable *table, int column, sqlite3_value *list, ColumnTest *test)
{
    sqlite3_value *value = NULL;
    const int equal = block_operation(SQLITE_INDEX_CONSTRAINT_EQ);
    bool ok = true;
    *test = table->columns[column].words != NULL
                ? (ColumnTest){.kind = TEST_WORD, .n_words = table->columns[column].n_words}
                : test_none(block_column_is_real(table, column));
    test->column = column;
#if SQLITE_VERSION_NUMBER >= 3038000
    int code = sqlite3_vtab_in_first(list, &value);
    for (; ok && code == SQLITE_OK; code = sqlite3_vtab_in_next(list, &value)) {
        ColumnTest one;
        ok = test_of_value(table, column, equal, value, &one);
        if (ok) *test = test_either(test, &one);
    }
    return ok && code == SQLITE_DONE;
#else
    (void)list, (void)value, (void)equal;
    return false;
#endif
}

static bool test_of_condition(const BlockTable *table, int column, int operation, sqlite3_value *value,
                              ColumnTest *test)
{
    return operation == BLOCK_LIST ? test_of_list(table, column, value, test)
                                   : test_of_value(table, column, operation, value, test);
}

static void filter_order(BlockCursor *cursor, const char *text)
{
    FirstRows *found = &cursor->found;
    for (char *at = NULL; *text != '\0' && found->n_terms < ORDER_TERMS_MAX; text = at + 1) {
        const int column = (int)strtol(text, &at, 10);
        cursor->order[found->n_terms++] = (BlockOrder){column, strtol(at, &at, 10) != 0};
    }
    cursor->backward = found->n_terms > 0 && cursor->order[0].column == 0; // ids that ascend are not a term
    if (cursor->backward) found->n_terms = 0;
}

int block_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values)
{
    BlockCursor *cursor = (BlockCursor *)base;
    char *at = NULL;
    (void)number;
    block_rows_all(cursor);
    for (int i = 0; i < count; i++, text = at + 1) {
        const int column = (int)strtol(text, &at, 10), operation = (int)strtol(at, &at, 10);
        ColumnTest *test = &cursor->tests[cursor->n_tests];
        if (!test_of_condition(&cursor->module->table, column, operation, values[i], test)) continue;
        const int code = column == 0 ? block_rows_narrow(cursor, test) : SQLITE_OK;
        if (code != SQLITE_OK) return code;
        cursor->n_tests += column != 0;
    }
    filter_order(cursor, text + 1);
    return block_rows_first(cursor);
}
