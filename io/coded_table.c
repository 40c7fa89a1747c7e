// See coded_table.h. The coded bytes are parts, each a text and a table behind it; the last has no table. Of a part,
// with the low byte of numbers first:
//
//   before           8 bytes: how much text stands before the table
//   rows, columns    8 bytes each; 0: no table
//   separator, end   1 byte each: between two cells; '\r' or '\n', the first byte behind a row, or ',': behind each row
//                    stands ", ", as in a list
//   orders           1 byte per column: how often its numbers are differences of numbers, at most 3
//   decimals         1 byte per column: a whole number is 10^decimals times the cell's
//   the text before
//   forms            1 byte per cell, by columns: the decimals that it shows, CODED_WHOLE without a point, and
//                    CODED_MINUS for the minus of a zero
//   numbers          8 bytes per cell: the lowest bytes of all cells, by columns, then the next ones
#include "coded_table.h"

#include <string.h>

enum {
    CODED_HEAD = 26,
    CODED_CELL = 9,       // bytes
    CODED_ROWS = 8,       // of a table, at least
    CODED_COLUMNS = 4096, // at most
    CODED_DIGITS = 17,    // of a cell, at most
    CODED_ORDERS = 4,
    CODED_WHOLE = 31,
    CODED_FORM = 31,
    CODED_MINUS = 32
};

static const char coded_separators[] = ",;\t ";

typedef struct CodedTable {
    size_t before, rows, columns;
    unsigned char separator, end;
    unsigned char *order, *decimals; // [columns]
    unsigned char *text;             // [before]
    unsigned char *form;             // [columns][rows]
    unsigned char *number;           // [8][columns][rows]
} CodedTable;

static uint64_t coded_power(int exponent)
{
    uint64_t power = 1;
    while (exponent-- > 0) power *= 10;
    return power;
}

static size_t coded_size(const CodedTable *table)
{
    return CODED_HEAD + table->before + 2 * table->columns + CODED_CELL * table->rows * table->columns;
}

// The parts of the coded bytes, of which there are as many as the table says.
static void coded_place(CodedTable *table, unsigned char *data)
{
    table->order = data + CODED_HEAD;
    table->decimals = table->order + table->columns;
    table->text = table->decimals + table->columns;
    table->form = table->text + table->before;
    table->number = table->form + table->rows * table->columns;
}

// ---- cells ----------------------------------------------------------------------------------------------------------

typedef struct CodedCell {
    uint64_t digits; // without sign and point
    bool minus;
    int decimals; // CODED_WHOLE: no point
} CodedCell;

static int coded_shown(int form) { return form == CODED_WHOLE ? 0 : form; }

// "-12.50" at `at`, before `end`; where it ends, or NULL.
static const unsigned char *coded_cell(const unsigned char *at, const unsigned char *end, CodedCell *cell)
{
    int digits = 0;
    *cell = (CodedCell){.minus = at < end && *at == '-', .decimals = CODED_WHOLE};
    at += cell->minus;
    for (; at < end && digits <= CODED_DIGITS; at++) {
        if (*at == '.' && cell->decimals == CODED_WHOLE && digits > 0) {
            cell->decimals = 0;
        } else if (*at >= '0' && *at <= '9') {
            cell->digits = cell->digits * 10 + (uint64_t)(*at - '0');
            cell->decimals += cell->decimals != CODED_WHOLE;
            digits++;
        } else {
            break;
        }
    }
    return digits > 0 && digits <= CODED_DIGITS ? at : NULL;
}

// The row at `at`: its cells, or NULL to count them; how many, 0: it is no row of numbers. *next <- behind the row. The
// table's separator, if that is 0, becomes the first of the row. columns: at most so many.
static size_t coded_row(const unsigned char *at, const unsigned char *end, CodedTable *table, CodedCell *cells,
                        size_t columns, const unsigned char **next)
{
    CodedCell one;
    size_t count = 0;
    while (count < columns) {
        at = coded_cell(at, end, cells != NULL ? &cells[count] : &one);
        if (at == NULL || at == end) return 0;
        count++;
        if (table->end == ',') break;
        if (table->separator == 0 && *at != '\0' && strchr(coded_separators, *at) != NULL) table->separator = *at;
        if (*at != table->separator) break;
        at++;
    }
    if (at == end || (end - at < 2 && *at != '\n')) return 0;
    if (table->end == ',') {
        *next = at + 2;
        return at[0] == ',' && at[1] == ' ' ? count : 0;
    }
    if (*at == '\r') at++;
    *next = at + 1;
    return *at == '\n' ? count : 0;
}

// ---- writing --------------------------------------------------------------------------------------------------------

// The table that begins at `at`, with rows like the first; its end, or NULL.
static const unsigned char *coded_try(const unsigned char *at, const unsigned char *end, unsigned char row_end,
                                      CodedTable *table)
{
    const unsigned char *next = NULL;
    *table = (CodedTable){.end = row_end};
    table->columns = coded_row(at, end, table, NULL, CODED_COLUMNS, &next);
    if (table->columns == 0) return NULL;
    if (row_end != ',' && next[-2] == '\r') table->end = '\r';
    while (at < end && coded_row(at, end, table, NULL, CODED_COLUMNS, &next) == table->columns) {
        table->rows++;
        at = next;
    }
    return table->rows >= CODED_ROWS ? at : NULL;
}

// The next table in the text, which begins with a line or behind a bracket; returns its end. Without one `rows` is 0.
static const unsigned char *coded_find(const unsigned char *from, const unsigned char *end, CodedTable *table)
{
    unsigned char row_end = '\n';
    for (const unsigned char *at = from; at < end; at++) {
        const unsigned char *behind = coded_try(at, end, row_end, table);
        table->before = (size_t)(at - from);
        if (behind != NULL) return behind;
        while (at < end && *at != '\n' && *at != '[') at++;
        row_end = at < end && *at == '[' ? ',' : '\n';
    }
    *table = (CodedTable){.before = (size_t)(end - from)};
    return end;
}

static void coded_difference(int64_t *numbers, size_t rows)
{
    for (size_t r = rows; r-- > 1;) numbers[r] = (int64_t)((uint64_t)numbers[r] - (uint64_t)numbers[r - 1]);
}

static double coded_bits(const int64_t *numbers, size_t rows)
{
    double bits = 0;
    for (size_t r = 0; r < rows; r++) {
        const uint64_t size = (uint64_t)(numbers[r] < 0 ? ~numbers[r] : numbers[r]);
        bits += size > 0 ? 64 - __builtin_clzll(size) : 0;
    }
    return bits;
}

// numbers[rows] <- their differences of the order that takes the fewest bits. room: for as many.
static int coded_choose(int64_t *numbers, int64_t *room, size_t rows)
{
    int best = 0;
    double least = coded_bits(numbers, rows);
    memcpy(room, numbers, rows * sizeof *room);
    for (int order = 1; order < CODED_ORDERS; order++) {
        coded_difference(room, rows);
        const double bits = coded_bits(room, rows);
        if (bits < least) least = bits, best = order;
    }
    for (int order = 0; order < best; order++) coded_difference(numbers, rows);
    return best;
}

// A column whose cells are `cells[row * columns]`. False: its numbers are too large.
static bool coded_put_column(const CodedCell *cells, size_t column, int64_t *numbers, CodedTable *table)
{
    const size_t rows = table->rows, first = column * rows, all = rows * table->columns;
    int decimals = 0;
    for (size_t r = 0; r < rows; r++) {
        const int shown = coded_shown(cells[r * table->columns].decimals);
        if (shown > decimals) decimals = shown;
    }
    for (size_t r = 0; r < rows; r++) {
        const CodedCell *cell = &cells[r * table->columns];
        const uint64_t power = coded_power(decimals - coded_shown(cell->decimals));
        if (cell->digits > (uint64_t)(INT64_MAX / 4) / power) return false;
        numbers[r] = (int64_t)(cell->digits * power) * (cell->minus ? -1 : 1);
        table->form[first + r] = (unsigned char)(cell->decimals | (cell->minus && cell->digits == 0 ? CODED_MINUS : 0));
    }
    table->decimals[column] = (unsigned char)decimals;
    table->order[column] = (unsigned char)coded_choose(numbers, numbers + rows, rows);
    for (size_t r = 0; r < rows; r++) {
        const uint64_t zigzag = (uint64_t)numbers[r] << 1 ^ (numbers[r] < 0 ? UINT64_MAX : 0);
        for (size_t k = 0; k < 8; k++) table->number[k * all + first + r] = (unsigned char)(zigzag >> 8 * k);
    }
    return true;
}

static void coded_put_word(unsigned char *out, uint64_t word)
{
    for (int k = 0; k < 8; k++) out[k] = (unsigned char)(word >> 8 * k);
}

// The text at `from` and the table behind it.
static bool coded_put(const unsigned char *from, const unsigned char *end, CodedTable *table, unsigned char *data,
                      Arena *arena)
{
    const size_t used = arena->used;
    const uint64_t words[3] = {table->before, table->rows, table->columns};
    bool fits = true;
    for (int i = 0; i < 3; i++) coded_put_word(data + 8 * i, words[i]);
    data[24] = table->separator;
    data[25] = table->end;
    coded_place(table, data);
    memcpy(table->text, from, table->before);
    CodedCell *cells = ARENA_NEW(arena, CodedCell, table->rows * table->columns + 1);
    int64_t *numbers = ARENA_NEW(arena, int64_t, 2 * table->rows + 1);
    from += table->before;
    for (size_t r = 0; r < table->rows; r++)
        coded_row(from, end, table, cells + r * table->columns, table->columns, &from);
    for (size_t c = 0; fits && c < table->columns; c++) fits = coded_put_column(cells + c, c, numbers, table);
    arena_rewind(arena, used);
    return fits;
}

void coded_table_write(Bytes text, size_t most, Arena *arena, Bytes *coded)
{
    const unsigned char *end = text.data + text.size, *behind;
    size_t size = 0, tables = 0;
    CodedTable table = {.rows = 1};
    *coded = (Bytes){0};
    for (const unsigned char *at = text.data; table.rows > 0; at = behind) {
        behind = coded_find(at, end, &table);
        tables += table.rows > 0;
        size += coded_size(&table);
        if (size > most) return;
    }
    if (tables == 0) return;
    const Bytes whole = {.data = ARENA_NEW(arena, unsigned char, size), .size = size};
    unsigned char *data = whole.data, *again = ARENA_NEW(arena, unsigned char, text.size);
    table.rows = 1;
    for (const unsigned char *at = text.data; table.rows > 0; at = behind) {
        behind = coded_find(at, end, &table);
        if (!coded_put(at, end, &table, data, arena)) return;
        data += coded_size(&table);
    }
    // Forms that it does not keep, such as 007, are found here.
    if (coded_table_read(whole, again, text.size) && memcmp(again, text.data, text.size) == 0) *coded = whole;
}

// ---- reading --------------------------------------------------------------------------------------------------------

static uint64_t coded_take_word(const unsigned char *in)
{
    uint64_t word = 0;
    for (int k = 0; k < 8; k++) word |= (uint64_t)in[k] << 8 * k;
    return word;
}

// The part at the beginning of the coded bytes.
static bool coded_take(Bytes coded, CodedTable *table)
{
    if (coded.size < CODED_HEAD) return false;
    uint64_t words[3], left = coded.size - CODED_HEAD;
    for (int i = 0; i < 3; i++) words[i] = coded_take_word(coded.data + 8 * i);
    if (words[0] > left || words[1] > left || words[2] > CODED_COLUMNS) return false;
    *table = (CodedTable){
        .before = words[0], .rows = words[1], .columns = words[2], .separator = coded.data[24], .end = coded.data[25]};
    if (coded_size(table) > coded.size || (table->rows == 0) != (table->columns == 0)) return false;
    coded_place(table, coded.data);
    for (size_t c = 0; c < table->columns; c++)
        if (table->order[c] >= CODED_ORDERS || table->decimals[c] > CODED_DIGITS) return false;
    return true;
}

// The number of a cell, whose column's earlier numbers gave `sums`: the last one, its difference to that before, ...
static int64_t coded_take_number(const CodedTable *table, size_t row, size_t column, uint64_t sums[CODED_ORDERS])
{
    const size_t all = table->rows * table->columns, at = column * table->rows + row;
    const int order = table->order[column];
    uint64_t zigzag = 0;
    for (size_t k = 0; k < 8; k++) zigzag |= (uint64_t)table->number[k * all + at] << 8 * k;
    sums[order] = zigzag >> 1 ^ ((zigzag & 1) != 0 ? UINT64_MAX : 0);
    // The first number is whole, the second a difference of the first two, and so on.
    for (int k = order; k-- > 0;) sums[k] = row == 0 ? sums[order] : sums[k] + sums[k + 1];
    return (int64_t)sums[0];
}

// Writes a cell at text[at]; the place behind it, or 0: there is no room, or it is damaged.
static size_t coded_show(int64_t number, int form, int decimals, unsigned char *text, size_t at, size_t size)
{
    unsigned char digits[24];
    const int shown = coded_shown(form & CODED_FORM);
    if (shown > decimals || number < -(INT64_MAX / 2) || number > INT64_MAX / 2) return 0;
    const bool minus = number < 0 || (form & CODED_MINUS) != 0;
    uint64_t left = (uint64_t)(number < 0 ? -number : number) / coded_power(decimals - shown);
    int count = 0;
    for (; left > 0 || count <= shown; left /= 10) digits[count++] = (unsigned char)('0' + left % 10);
    const bool point = (form & CODED_FORM) != CODED_WHOLE;
    if (size - at < (size_t)(count + minus + point)) return 0;
    if (minus) text[at++] = '-';
    while (count-- > 0) {
        text[at++] = digits[count];
        if (point && count == shown) text[at++] = '.';
    }
    return at;
}

// Writes the rows at text[*at].
static bool coded_take_rows(const CodedTable *table, unsigned char *text, size_t *at, size_t size, uint64_t *sums)
{
    const char *ends = table->end == '\r' ? "\r\n" : table->end == ',' ? ", " : "\n";
    for (size_t r = 0; r < table->rows; r++) {
        for (size_t c = 0; c < table->columns; c++) {
            const int64_t number = coded_take_number(table, r, c, sums + c * CODED_ORDERS);
            if (c > 0 && *at == size) return false;
            if (c > 0) text[(*at)++] = table->separator;
            *at = coded_show(number, table->form[c * table->rows + r], table->decimals[c], text, *at, size);
            if (*at == 0) return false;
        }
        for (const char *end = ends; *end != '\0'; end++) {
            if (*at == size) return false;
            text[(*at)++] = (unsigned char)*end;
        }
    }
    return true;
}

bool coded_table_read(Bytes coded, unsigned char *text, size_t size)
{
    CodedTable table = {.rows = 1};
    uint64_t sums[CODED_COLUMNS * CODED_ORDERS];
    size_t at = 0;
    while (table.rows > 0) {
        if (!coded_take(coded, &table) || table.before > size - at) return false;
        memset(sums, 0, table.columns * CODED_ORDERS * sizeof *sums);
        memcpy(text + at, table.text, table.before);
        at += table.before;
        if (!coded_take_rows(&table, text, &at, size, sums)) return false;
        coded.data += coded_size(&table);
        coded.size -= coded_size(&table);
    }
    return at == size && coded.size == 0;
}
