// Reads columns of all trials that meet a condition (queries.h).
#include "../queries.h"

#include "trial_blocks.h"

#include <stdlib.h>
#include <string.h>

enum { SCAN_WORDS_MAX = 1 << 16 };

// ---- words of the text columns --------------------------------------------------------------------------------------

static int scan_compare_words(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void scan_sort_words(TrialScan *scan)
{
    int n = 0;
    if (scan->n_words > 0) qsort(scan->words, (size_t)scan->n_words, sizeof *scan->words, scan_compare_words);
    for (int i = 0; i < scan->n_words; i++) {
        if (n == 0 || strcmp(scan->words[n - 1], scan->words[i]) != 0) scan->words[n++] = scan->words[i];
    }
    scan->n_words = n;
}

static double scan_word(const TrialScan *scan, const char *text)
{
    const char **word = bsearch(&text, scan->words, (size_t)scan->n_words, sizeof *scan->words, scan_compare_words);
    return word != NULL ? (double)(word - scan->words) : (double)__builtin_nan("");
}

static Error scan_read_words(TrialScan *scan, int column)
{
    const char *text;
    const char *name = sql_identifier(scan->arena, scan->all->names[column]);
    Cursor rows = cursor_open(scan->database, arena_format(scan->arena, "SELECT DISTINCT %s FROM trials", name));
    while (next_text(&rows, &text)) {
        if (scan->n_words == SCAN_WORDS_MAX)
            cursor_stop(&rows, error_make(ERROR_USER, "column %.60s has more than %d different texts",
                                          scan->all->names[column], SCAN_WORDS_MAX));
        else
            scan->words[scan->n_words++] = arena_copy(scan->arena, text);
    }
    return cursor_close(&rows);
}

// ---- trials in a table ----------------------------------------------------------------------------------------------

// The words are those of the rows that are then read: all of one transaction.
static Error scan_start_rows(TrialScan *scan)
{
    Error error = error_none();
    scan->threads = 1;
    scan->words = NULL;
    for (int k = 0; k < scan->n && error.kind == OK; k++) {
        if (!scan->all->is_text[scan->columns[k]]) continue;
        if (scan->words == NULL) scan->words = ARENA_NEW(scan->arena, const char *, SCAN_WORDS_MAX);
        if (!scan->within) TRY(store_read_begin(scan->database));
        scan->within = true;
        error = scan_read_words(scan, scan->columns[k]);
    }
    scan_sort_words(scan);
    return error.kind != OK && scan->within ? store_read_end(scan->database, error) : error;
}

static Error scan_check(const DatabaseGuard *guard)
{
    if (guard == NULL || guard->interrupted == NULL || guard->interrupted() == 0) return error_none();
    return error_make(ERROR_INTERRUPTED, "interrupted");
}

static Cursor scan_open_rows(const TrialScan *scan)
{
    const char **names = ARENA_NEW(scan->arena, const char *, scan->n + 1);
    for (int k = 0; k < scan->n; k++) names[k] = scan->all->names[scan->columns[k]];
    const char *list = scan->n > 0 ? trial_columns_sql(names, scan->n, scan->arena) : "1";
    Cursor rows = cursor_open(scan->database,
                              arena_format(scan->arena, "SELECT %s FROM trials WHERE (%s)%s%s", list, scan->where->sql,
                                           scan->between != NULL ? " AND id BETWEEN ? AND ?" : "",
                                           scan->first > 0 ? " ORDER BY id LIMIT ?" : ""));
    for (int i = 0; i < scan->where->count; i++) with_value(&rows, &scan->where->values[i]);
    for (int i = 0; i < 2 && scan->between != NULL; i++) with_integer(&rows, scan->between[i]);
    if (scan->first > 0) with_integer(&rows, scan->first);
    return rows;
}

static Error scan_rows(const TrialScan *scan)
{
    double *values = ARENA_NEW(scan->arena, double, (int64_t)TRIAL_PIECE * scan->n + 1);
    const double **columns = ARENA_NEW(scan->arena, const double *, scan->n + 1);
    TrialPiece piece = {.columns = columns};
    for (int k = 0; k < scan->n; k++) columns[k] = &values[k * TRIAL_PIECE];
    Cursor rows = scan_open_rows(scan);
    while (cursor_next(&rows)) {
        for (int k = 0; k < scan->n; k++) {
            const bool text = scan->all->is_text[scan->columns[k]];
            values[k * TRIAL_PIECE + piece.rows] = text ? scan_word(scan, cell_text(&rows, k)) : cell_real(&rows, k);
        }
        if (++piece.rows < TRIAL_PIECE) continue;
        scan->take(scan->context, 0, &piece);
        piece.rows = 0;
        cursor_stop(&rows, scan_check(scan->guard));
    }
    if (piece.rows > 0) scan->take(scan->context, 0, &piece);
    return cursor_close(&rows);
}

// ---- trials in blocks -----------------------------------------------------------------------------------------------

enum { SCAN_RUN = 512 }; // rows whose condition is evaluated at a time

// A column as numbers: those of words are looked up.
typedef struct ScanColumn {
    int at; // index among the columns that are read
    NumberType type;
    const double *words; // [n_words] numbers of a text column; NULL: of another one
    int n_words;
} ScanColumn;

typedef struct TrialsThread {
    double *inputs;          // [n_inputs][SCAN_RUN] of the condition
    const double **columns;  // [n_names] in `inputs`; those of other names are not used
    double *stack;           // [height][SCAN_RUN]
    double *values;          // [n][TRIAL_PIECE] of the trials that meet it
    const double **pointers; // [n] to them
    uint32_t *chosen;        // [TRIAL_PIECE]
} TrialsThread;

typedef struct BlocksScan {
    const TrialScan *scan;
    const TrialBlocks *list;
    int *read; // [n_read] columns of the blocks
    int n_read;
    int id;              // index in `read`, if the scan is between ids
    ScanColumn *outputs; // [scan->n]
    ScanColumn *inputs;  // [n_inputs]
    int *names;          // [n_inputs] in the condition
    int n_inputs;
    const ExpressionBound *bounds;
    int n_bounds;
    TrialsThread *threads;
} BlocksScan;

static int scan_read_column(BlocksScan *blocks, int column)
{
    int at = 0;
    while (at < blocks->n_read && blocks->read[at] != column) at++;
    if (at == blocks->n_read) blocks->read[blocks->n_read++] = column;
    return at;
}

static ScanColumn scan_column(BlocksScan *blocks, int column, const double *words)
{
    const NumberColumn *stored = &blocks->list->columns[column];
    return (ScanColumn){.at = scan_read_column(blocks, column),
                        .type = stored->type,
                        .words = stored->words != NULL ? words : NULL,
                        .n_words = stored->n_words};
}

static double scan_number(const ScanColumn *column, Cell cell)
{
    if (column->type == NUMBER_REAL) return cell.real + 0.0; // -0 -> 0
    if (column->words == NULL) return (double)cell.integer;
    return column->words[cell.integer >= 0 && cell.integer < column->n_words ? cell.integer : column->n_words - 1];
}

static void scan_numbers(const ScanColumn *column, const Cell *cells, int64_t n, double *out)
{
    if (column->type == NUMBER_REAL) {
        for (int64_t i = 0; i < n; i++) out[i] = cells[i].real + 0.0;
    } else {
        for (int64_t i = 0; i < n; i++) out[i] = scan_number(column, cells[i]);
    }
}

// chosen <- the rows of the piece that meet the condition; returns their number.
static int scan_choose(const BlocksScan *blocks, TrialsThread *own, const BlockPiece *piece)
{
    const Expression *expression = blocks->scan->where->expression;
    int n = 0;
    for (int64_t first = 0; first < piece->rows; first += SCAN_RUN) {
        const int rows = (int)(piece->rows - first < SCAN_RUN ? piece->rows - first : SCAN_RUN);
        for (int k = 0; k < blocks->n_inputs; k++)
            scan_numbers(&blocks->inputs[k], piece->cells[blocks->inputs[k].at] + first, rows,
                         &own->inputs[k * SCAN_RUN]);
        expression_values(expression, own->columns, rows, own->stack);
        for (int i = 0; i < rows; i++) {
            own->chosen[n] = (uint32_t)(first + i);
            n += (own->stack[i] < 0) | (own->stack[i] > 0);
        }
    }
    return n;
}

static void scan_take(void *context, int thread, const BlockPiece *piece)
{
    const BlocksScan *blocks = context;
    const TrialScan *scan = blocks->scan;
    TrialsThread *own = &blocks->threads[thread];
    const bool all = scan->where->expression == NULL;
    const int rows = all ? (int)piece->rows : scan_choose(blocks, own, piece);
    for (int k = 0; k < scan->n && rows > 0; k++) {
        const ScanColumn *column = &blocks->outputs[k];
        const Cell *cells = piece->cells[column->at];
        double *values = &own->values[(int64_t)k * TRIAL_PIECE];
        if (rows == piece->rows) {
            scan_numbers(column, cells, rows, values);
        } else {
            for (int i = 0; i < rows; i++) values[i] = scan_number(column, cells[own->chosen[i]]);
        }
    }
    if (rows > 0) scan->take(scan->context, thread, &(TrialPiece){own->pointers, rows});
}

// ---- blocks that can be left out ------------------------------------------------------------------------------------

static double scan_bound(const ScanColumn *column, Cell cell)
{
    return column->type == NUMBER_REAL ? cell.real : (double)cell.integer;
}

// Whether a word between two numbers meets the comparison with the text that has the number `text`.
static bool scan_words_meet(const ScanColumn *column, const ColumnBounds *bounds, bool equal, double text)
{
    for (int w = 0; w < column->n_words; w++) {
        const bool below = bounds->least.integer <= w, above = bounds->greatest.integer >= w,
                   last = w == column->n_words - 1; // for all other numbers
        if ((last ? above || bounds->least.integer < 0 : below && above) && (column->words[w] == text) == equal)
            return true;
    }
    return false;
}

static bool scan_contradicts(const ExpressionBound *bound, const ScanColumn *column, const ColumnBounds *bounds)
{
    const double least = scan_bound(column, bounds->least), greatest = scan_bound(column, bounds->greatest);
    const bool equal = bound->comparison == COMPARES_EQUAL;
    if (column->words != NULL) return !scan_words_meet(column, bounds, equal, bound->value);
    if (!(least <= greatest) || bound->value != bound->value) return true; // a missing value meets nothing
    switch (bound->comparison) {
    case COMPARES_EQUAL: return bound->value < least || bound->value > greatest;
    case COMPARES_UNEQUAL: return bound->value == least && bound->value == greatest;
    case COMPARES_BELOW: return least > bound->value;
    case COMPARES_ABOVE: return greatest < bound->value;
    }
    return false;
}

static bool scan_skips_by_condition(const BlocksScan *blocks, const ColumnBounds *bounds)
{
    for (int b = 0; b < blocks->n_bounds; b++) {
        for (int k = 0; k < blocks->n_inputs; k++) {
            if (blocks->names[k] == blocks->bounds[b].name &&
                scan_contradicts(&blocks->bounds[b], &blocks->inputs[k], &bounds[blocks->inputs[k].at]))
                return true;
        }
    }
    return false;
}

static bool scan_leaves_out(const void *context, const ColumnBounds *bounds)
{
    const BlocksScan *blocks = context;
    const TrialScan *scan = blocks->scan;
    if (scan_check(scan->guard).kind != OK || scan_skips_by_condition(blocks, bounds)) return true;
    if (scan->between != NULL &&
        (bounds[blocks->id].greatest.integer < scan->between[0] || bounds[blocks->id].least.integer > scan->between[1]))
        return true;
    if (scan->skips == NULL || blocks->outputs[0].words != NULL) return false;
    const ScanColumn *first = &blocks->outputs[0];
    return scan->skips(scan->context, scan_bound(first, bounds[first->at].least),
                       scan_bound(first, bounds[first->at].greatest));
}

// ---- what is read ---------------------------------------------------------------------------------------------------

// The words of all text columns, each once.
static void scan_take_words(TrialScan *scan, const TrialBlocks *list)
{
    int n = 0;
    for (int c = 0; c < list->n_columns; c++) n += list->columns[c].n_words;
    scan->words = ARENA_NEW(scan->arena, const char *, n + 1);
    scan->n_words = n;
    n = 0;
    for (int c = 0; c < list->n_columns; c++) {
        for (int w = 0; w < list->columns[c].n_words; w++) scan->words[n++] = list->columns[c].words[w];
    }
    scan_sort_words(scan);
}

// [n_words] numbers of the words of a column: to those who take pieces, and to the condition (expression_texts).
static double *scan_map(const BlocksScan *blocks, int column, const char *const *texts, int n_texts)
{
    const TrialScan *scan = blocks->scan;
    const NumberColumn *stored = &blocks->list->columns[column];
    double *map = ARENA_NEW(scan->arena, double, stored->n_words + 1);
    for (int w = 0; w < stored->n_words && stored->words != NULL; w++) {
        map[w] = n_texts + scan_word(scan, stored->words[w]);
        for (int t = 0; t < n_texts; t++) {
            if (strcmp(texts[t], stored->words[w]) == 0) map[w] = t;
        }
    }
    return map;
}

static void scan_prepare_condition(BlocksScan *blocks)
{
    const TrialScan *scan = blocks->scan;
    const Condition *where = scan->where;
    int n_texts = 0;
    if (where->expression == NULL) return;
    const char *const *texts = expression_texts(where->expression, scan->arena, &n_texts);
    for (int i = 0; i < where->n_columns; i++) {
        if (!expression_uses(where->expression, i)) continue;
        const int column = where->columns[i];
        blocks->names[blocks->n_inputs] = i;
        blocks->inputs[blocks->n_inputs++] = scan_column(blocks, column, scan_map(blocks, column, texts, n_texts));
    }
    blocks->bounds = expression_bounds(where->expression, scan->arena, &blocks->n_bounds);
}

static void scan_prepare_thread(const BlocksScan *blocks, TrialsThread *own)
{
    const TrialScan *scan = blocks->scan;
    const Expression *expression = scan->where->expression;
    const int height = expression != NULL ? expression_height(expression) : 0;
    *own = (TrialsThread){.inputs = ARENA_NEW(scan->arena, double, blocks->n_inputs *SCAN_RUN),
                          .columns = ARENA_NEW(scan->arena, const double *, scan->where->n_columns),
                          .stack = ARENA_NEW(scan->arena, double, height *SCAN_RUN),
                          .values = ARENA_NEW(scan->arena, double, (int64_t)scan->n *TRIAL_PIECE),
                          .pointers = ARENA_NEW(scan->arena, const double *, scan->n),
                          .chosen = ARENA_NEW(scan->arena, uint32_t, TRIAL_PIECE)};
    for (int k = 0; k < blocks->n_inputs; k++) own->columns[blocks->names[k]] = &own->inputs[k * SCAN_RUN];
    for (int k = 0; k < scan->n; k++) own->pointers[k] = &own->values[(int64_t)k * TRIAL_PIECE];
}

static Error scan_all_blocks(TrialScan *scan)
{
    const int most = 1 + scan->n + scan->where->n_columns;
    BlocksScan blocks = {.scan = scan,
                         .list = database_blocks_source(scan->database),
                         .read = ARENA_NEW(scan->arena, int, most + 1),
                         .outputs = ARENA_NEW(scan->arena, ScanColumn, scan->n + 1),
                         .inputs = ARENA_NEW(scan->arena, ScanColumn, scan->where->n_columns + 1),
                         .names = ARENA_NEW(scan->arena, int, scan->where->n_columns + 1),
                         .threads = ARENA_NEW(scan->arena, TrialsThread, scan->threads)};
    for (int k = 0; k < scan->n; k++)
        blocks.outputs[k] = scan_column(&blocks, scan->columns[k], scan_map(&blocks, scan->columns[k], NULL, 0));
    if (scan->between != NULL) blocks.id = scan_read_column(&blocks, 0);
    scan_prepare_condition(&blocks);
    for (int t = 0; t < scan->threads; t++) scan_prepare_thread(&blocks, &blocks.threads[t]);
    const BlockScan asked = {blocks.read, blocks.n_read, scan_leaves_out, scan_take, &blocks};
    TRY(blocks_scan(blocks.list->blocks, &asked));
    return scan_check(scan->guard);
}

// ---- both forms -----------------------------------------------------------------------------------------------------

static const TrialBlocks *scan_blocks_of(const TrialScan *scan)
{
    return trial_blocks_exist(scan->database) ? database_blocks_source(scan->database) : NULL;
}

Error trial_scan_start(TrialScan *scan, Arena *arena)
{
    const TrialBlocks *list = scan_blocks_of(scan);
    scan->arena = arena;
    scan->n_words = 0;
    scan->within = false;
    if (list == NULL) return scan_start_rows(scan);
    scan->threads = blocks_threads(list->blocks);
    scan_take_words(scan, list);
    return error_none();
}

Error trial_scan_run(TrialScan *scan)
{
    const Error error = scan_blocks_of(scan) != NULL ? scan_all_blocks(scan) : scan_rows(scan);
    return scan->within ? store_read_end(scan->database, error) : error;
}
