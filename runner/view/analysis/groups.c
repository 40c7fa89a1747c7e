// Groups of trials and their aggregates. Each thread finds groups of its own; then these are joined. Sums are exact
// (exact_sum.h), so no result depends on who adds what first.
#include "aggregates.h"
#include "exact_sum.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_MAX = 100000, GROUPS_BY_MAX = 16, GROUPS_COLUMNS_MAX = 64 + GROUPS_BY_MAX };
static const int64_t groups_values_max = 100000000, groups_bytes_max = (int64_t)2 << 30;

// What aggregates of a column need, of each group.
typedef struct GroupColumn {
    int64_t *count; // of values
    double *least, *greatest;
    ExactSum *sum, *squares;
    double *value; // [n_values] all of them, with their groups
    uint32_t *group;
    int64_t n_values, room;
} GroupColumn;

typedef enum GroupsFault { GROUPS_OK, GROUPS_MANY, GROUPS_BYTES, GROUPS_MEMORY } GroupsFault;

typedef struct GroupTable {
    uint64_t *keys;  // [count][n_by] of order_key; missing: the greatest
    int64_t *trials; // [count]
    int64_t count, room;
    uint32_t *slots; // [n_slots] a hash table of groups, counted from 1
    int64_t n_slots;
    GroupColumn *columns; // [n_columns]
    GroupsFault fault;
    uint32_t of_row[TRIAL_PIECE];
} GroupTable;

typedef struct GroupsScan {
    int n_by;
    int columns[GROUPS_COLUMNS_MAX]; // [n_by + n_columns] in TrialColumns
    bool sum[GROUPS_COLUMNS_MAX], squares[GROUPS_COLUMNS_MAX], value[GROUPS_COLUMNS_MAX]; // [n_columns]
    int n_columns;
    GroupTable **tables; // [threads]
    _Atomic int64_t bytes, values;
} GroupsScan;

// ---- memory ---------------------------------------------------------------------------------------------------------

// *array <- room for `room` items; the new ones are zero.
static bool groups_extend(GroupsScan *scan, GroupTable *table, void *array, int64_t before, int64_t room, size_t size)
{
    void *old;
    memcpy(&old, array, sizeof old);
    const int64_t more = (room - before) * (int64_t)size;
    if (atomic_fetch_add(&scan->bytes, more) + more > groups_bytes_max) table->fault = GROUPS_BYTES;
    if (table->fault != GROUPS_OK) return false;
    void *grown = realloc(old, (size_t)room * size);
    if (grown == NULL) table->fault = GROUPS_MEMORY;
    if (grown == NULL) return false;
    memset((char *)grown + (size_t)before * size, 0, (size_t)more);
    memcpy(array, &grown, sizeof grown);
    return true;
}

static bool groups_extend_column(GroupsScan *scan, GroupTable *table, int c, int64_t room)
{
    GroupColumn *column = &table->columns[c];
    const int64_t before = table->room;
    return groups_extend(scan, table, &column->count, before, room, sizeof *column->count) &&
           groups_extend(scan, table, &column->least, before, room, sizeof *column->least) &&
           groups_extend(scan, table, &column->greatest, before, room, sizeof *column->greatest) &&
           (!scan->sum[c] || groups_extend(scan, table, &column->sum, before, room, sizeof *column->sum)) &&
           (!scan->squares[c] || groups_extend(scan, table, &column->squares, before, room, sizeof *column->squares));
}

static uint64_t groups_hash(const uint64_t *key, int n)
{
    uint64_t hash = 0;
    for (int k = 0; k < n; k++) {
        hash = (hash ^ key[k]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return hash;
}

static void groups_insert_slot(const GroupsScan *scan, GroupTable *table, uint32_t group)
{
    uint64_t at = groups_hash(&table->keys[(int64_t)group * scan->n_by], scan->n_by);
    while (table->slots[at & (uint64_t)(table->n_slots - 1)] != 0) at++;
    table->slots[at & (uint64_t)(table->n_slots - 1)] = group + 1;
}

// Twice the room, and at least two slots per group
static bool groups_grow(GroupsScan *scan, GroupTable *table)
{
    const int64_t room = table->room > 0 ? 2 * table->room : 64;
    if (!groups_extend(scan, table, &table->keys, table->room * scan->n_by, room * scan->n_by, sizeof *table->keys) ||
        !groups_extend(scan, table, &table->trials, table->room, room, sizeof *table->trials))
        return false;
    for (int c = 0; c < scan->n_columns; c++) {
        if (!groups_extend_column(scan, table, c, room)) return false;
    }
    if (!groups_extend(scan, table, &table->slots, table->n_slots, 2 * room, sizeof *table->slots)) return false;
    table->room = room;
    table->n_slots = 2 * room;
    memset(table->slots, 0, (size_t)table->n_slots * sizeof *table->slots);
    for (int64_t g = 0; g < table->count; g++) groups_insert_slot(scan, table, (uint32_t)g);
    return true;
}

// The group of a key, a new one if there is none; 0 after a fault.
static uint32_t groups_find(GroupsScan *scan, GroupTable *table, const uint64_t *key)
{
    const size_t size = (size_t)scan->n_by * sizeof *key;
    if (table->count == table->room && !groups_grow(scan, table)) return 0;
    for (uint64_t at = groups_hash(key, scan->n_by);; at++) {
        const uint32_t slot = table->slots[at & (uint64_t)(table->n_slots - 1)];
        if (slot == 0) break;
        if (memcmp(&table->keys[(int64_t)(slot - 1) * scan->n_by], key, size) == 0) return slot - 1;
    }
    if (table->count == GROUPS_MAX) table->fault = GROUPS_MANY;
    if (table->fault != GROUPS_OK) return 0;
    const uint32_t group = (uint32_t)table->count++;
    memcpy(&table->keys[(int64_t)group * scan->n_by], key, size);
    groups_insert_slot(scan, table, group);
    return group;
}

// ---- adding trials --------------------------------------------------------------------------------------------------

static bool groups_same(const TrialPiece *piece, int n_by, int i)
{
    for (int k = 0; k < n_by; k++) {
        if (memcmp(&piece->columns[k][i], &piece->columns[k][i - 1], sizeof(double)) != 0) return false;
    }
    return true;
}

static bool groups_find_rows(GroupsScan *scan, GroupTable *table, const TrialPiece *piece)
{
    uint64_t key[GROUPS_BY_MAX];
    for (int i = 0; i < piece->rows && table->fault == GROUPS_OK; i++) {
        if (i > 0 && groups_same(piece, scan->n_by, i)) {
            table->of_row[i] = table->of_row[i - 1];
            continue;
        }
        for (int k = 0; k < scan->n_by; k++) {
            const double value = piece->columns[k][i];
            key[k] = value != value ? UINT64_MAX : order_key(true, false, (Cell){.real = value});
        }
        table->of_row[i] = groups_find(scan, table, key);
    }
    return table->fault == GROUPS_OK;
}

static void groups_take_value(GroupColumn *column, uint32_t group, double value)
{
    const bool first = column->count[group]++ == 0;
    if (first || value < column->least[group]) column->least[group] = value;
    if (first || value > column->greatest[group]) column->greatest[group] = value;
}

static bool groups_keep_values(GroupsScan *scan, GroupTable *table, GroupColumn *column, const double *values,
                               const uint32_t *groups, int64_t rows)
{
    if (atomic_fetch_add(&scan->values, rows) + rows > groups_values_max) table->fault = GROUPS_MEMORY;
    while (table->fault == GROUPS_OK && column->room < column->n_values + rows) {
        const int64_t room = column->room > 0 ? 2 * column->room : TRIAL_PIECE;
        double *value = realloc(column->value, (size_t)room * sizeof *value);
        if (value != NULL) column->value = value;
        uint32_t *group = realloc(column->group, (size_t)room * sizeof *group);
        if (group != NULL) column->group = group;
        if (value == NULL || group == NULL) table->fault = GROUPS_MEMORY;
        column->room = room;
    }
    for (int64_t i = 0; i < rows && table->fault == GROUPS_OK; i++) {
        column->value[column->n_values] = values[i];
        column->group[column->n_values] = groups[i];
        column->n_values += values[i] == values[i];
    }
    return table->fault == GROUPS_OK;
}

static void groups_take(void *context, int thread, const TrialPiece *piece)
{
    GroupsScan *scan = context;
    GroupTable *table = scan->tables[thread];
    if (table->fault != GROUPS_OK || !groups_find_rows(scan, table, piece)) return;
    const uint32_t *of_row = table->of_row;
    for (int i = 0; i < piece->rows; i++) table->trials[of_row[i]]++;
    for (int c = 0; c < scan->n_columns; c++) {
        GroupColumn *column = &table->columns[c];
        const double *values = piece->columns[scan->n_by + c];
        for (int i = 0; i < piece->rows; i++) {
            const double value = values[i];
            if (value != value) continue;
            groups_take_value(column, of_row[i], value);
            if (scan->sum[c]) exact_add(&column->sum[of_row[i]], value);
            if (scan->squares[c]) exact_add_product(&column->squares[of_row[i]], value, value);
        }
        if (scan->value[c] && !groups_keep_values(scan, table, column, values, of_row, piece->rows)) return;
    }
}

// ---- joining the groups of all threads ------------------------------------------------------------------------------

static void groups_join_column(const GroupsScan *scan, int c, GroupColumn *to, uint32_t group, const GroupColumn *from,
                               int64_t g)
{
    if (from->count[g] == 0) return;
    const int64_t count = to->count[group] + from->count[g];
    groups_take_value(to, group, from->least[g]);
    groups_take_value(to, group, from->greatest[g]);
    to->count[group] = count;
    if (scan->sum[c]) exact_add_sum(&to->sum[group], &from->sum[g]);
    if (scan->squares[c]) exact_add_sum(&to->squares[group], &from->squares[g]);
}

static void groups_join(GroupsScan *scan, GroupTable *to, const GroupTable *from)
{
    uint32_t *groups = malloc(((size_t)from->count + 1) * sizeof *groups);
    if (from->fault != GROUPS_OK || groups == NULL) to->fault = groups == NULL ? GROUPS_MEMORY : from->fault;
    for (int64_t g = 0; g < from->count && to->fault == GROUPS_OK; g++) {
        groups[g] = groups_find(scan, to, &from->keys[g * scan->n_by]);
        if (to->fault != GROUPS_OK) break;
        to->trials[groups[g]] += from->trials[g];
        for (int c = 0; c < scan->n_columns; c++)
            groups_join_column(scan, c, &to->columns[c], groups[g], &from->columns[c], g);
    }
    for (int c = 0; c < scan->n_columns && to->fault == GROUPS_OK; c++) {
        const GroupColumn *column = &from->columns[c];
        for (int64_t i = 0; i < column->n_values; i++) column->group[i] = groups[column->group[i]];
        atomic_fetch_sub(&scan->values, column->n_values);
        groups_keep_values(scan, to, &to->columns[c], column->value, column->group, column->n_values);
    }
    free(groups);
}

static Error groups_error(GroupsFault fault)
{
    switch (fault) {
    case GROUPS_OK: break;
    case GROUPS_MANY:
        return error_make(ERROR_USER,
                          "--group-by: more than %d groups; use columns with fewer values, or choose trials "
                          "with --where",
                          GROUPS_MAX);
    case GROUPS_BYTES:
        return error_make(ERROR_USER, "--group-by: the sums of so many groups need more than 2 GiB; use columns with "
                                      "fewer values, or ask for fewer aggregates");
    case GROUPS_MEMORY: return error_make(ERROR_MACHINE, "not enough memory to group trials; --where chooses fewer");
    }
    return error_none();
}

// ---- results --------------------------------------------------------------------------------------------------------

// value[k] <- what stands there when the values are sorted; none before it is greater. (Hoare's algorithm 65, 1961)
static void groups_select(double *value, int64_t n, int64_t k)
{
    for (int64_t low = 0, high = n - 1; low < high;) {
        const double pivot = value[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (value[i] < pivot) i++;
            while (value[j] > pivot) j--;
            if (i > j) break;
            const double kept = value[i];
            value[i++] = value[j];
            value[j--] = kept;
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            return;
    }
}

// Type 7 of R. J. Hyndman and Y. Fan, The American Statistician 50, 1996: linear between the values.
static double groups_quantile(double *value, int64_t n, double fraction)
{
    if (n == 0) return (double)NAN;
    const double position = (double)(n - 1) * fraction;
    const int64_t k = (int64_t)position;
    groups_select(value, n, k);
    double next = k + 1 < n ? value[k + 1] : value[k];
    for (int64_t i = k + 2; i < n; i++) next = value[i] < next ? value[i] : next;
    const double a = value[k], t = position - (double)k;
    if (t == 0 || a == next) return a;
    return t < 0.5 ? a + (next - a) * t : next - (next - a) * (1 - t);
}

// With m = the rounded mean, the sum of (x - m)^2 is that of x^2 - 2 m x + m^2, which is computed exactly; from it to
// the squares around the mean itself is r^2 / n, r = sum of x - m.
static double groups_deviation(const GroupColumn *column, int64_t g)
{
    const double n = (double)column->count[g];
    if (n < 2) return (double)NAN;
    if (column->least[g] == column->greatest[g]) return isfinite(column->least[g]) ? 0 : (double)NAN;
    ExactSum sum = column->sum[g], squares = column->squares[g];
    const double mean = exact_value(&sum) / n;
    if (!isfinite(mean) || !isfinite(mean * mean)) return (double)NAN;
    const double square = mean * mean;
    for (int i = 0; i < 3; i++) { // the sum as three doubles
        const double residual = exact_value(&sum);
        exact_add_product(&squares, -2 * mean, residual);
        exact_add(&sum, -residual);
    }
    exact_add_product(&squares, square, n);
    exact_add_product(&squares, fma(mean, mean, -square), n);
    sum = column->sum[g];
    exact_add_product(&sum, -mean, n);
    const double rest = exact_value(&sum), around = exact_value(&squares) - rest * rest / n;
    return around > 0 ? sqrt(around / (n - 1)) : 0;
}

static double groups_value(const Aggregate *aggregate, const GroupTable *table, const GroupColumn *column, int64_t g,
                           double *values)
{
    const int64_t n = column != NULL ? column->count[g] : table->trials[g];
    if (aggregate->kind == AGGREGATE_COUNT) return (double)n;
    if (n == 0) return (double)NAN;
    switch (aggregate->kind) {
    case AGGREGATE_COUNT: break;
    case AGGREGATE_MIN: return column->least[g];
    case AGGREGATE_MAX: return column->greatest[g];
    case AGGREGATE_SUM: return exact_value(&column->sum[g]);
    case AGGREGATE_MEAN: return exact_value(&column->sum[g]) / (double)n;
    case AGGREGATE_STD: return groups_deviation(column, g);
    case AGGREGATE_MEDIAN: return groups_quantile(values, n, 0.5);
    case AGGREGATE_QUANTILE: return groups_quantile(values, n, aggregate->fraction);
    }
    return (double)NAN;
}

// sorted[n_values] <- the values, group by group; starts[count + 1]: where those of each begin.
static bool groups_gather_values(const GroupTable *table, const GroupColumn *column, double **sorted, int64_t *starts)
{
    *sorted = malloc(((size_t)column->n_values + 1) * sizeof **sorted);
    if (*sorted == NULL) return false;
    starts[0] = 0;
    for (int64_t g = 0; g < table->count; g++) starts[g + 1] = starts[g] + column->count[g];
    for (int64_t i = 0; i < column->n_values; i++) (*sorted)[starts[column->group[i]]++] = column->value[i];
    for (int64_t g = 0; g < table->count; g++) starts[g] -= column->count[g];
    return true;
}

// The column of an aggregate; -1: of trials.
static int groups_column(const GroupsScan *scan, const Aggregate *aggregate)
{
    int c = 0;
    if (aggregate->column < 0) return -1;
    while (scan->columns[scan->n_by + c] != aggregate->column) c++;
    return c;
}

static Error groups_aggregate(const GroupsScan *scan, const GroupTable *table, Groups *groups, Arena *arena)
{
    const int width = groups->n_by + groups->n_aggregates;
    int64_t *starts = ARENA_NEW(arena, int64_t, table->count + 1);
    for (int a = 0; a < groups->n_aggregates; a++) {
        const Aggregate *aggregate = &groups->aggregates[a];
        const int c = groups_column(scan, aggregate);
        const bool sorted = aggregate->kind == AGGREGATE_MEDIAN || aggregate->kind == AGGREGATE_QUANTILE;
        const GroupColumn *column = c >= 0 ? &table->columns[c] : NULL;
        double *values = NULL;
        if (sorted && !groups_gather_values(table, column, &values, starts)) return groups_error(GROUPS_MEMORY);
        for (int64_t g = 0; g < table->count; g++)
            groups->values[g * width + groups->n_by + a] =
                groups_value(aggregate, table, column, g, sorted ? &values[starts[g]] : NULL);
        free(values);
    }
    return error_none();
}

static Error groups_take_results(GroupsScan *scan, int threads, Groups *groups, Arena *arena)
{
    GroupTable *table = scan->tables[0];
    const int width = groups->n_by + groups->n_aggregates;
    for (int t = 1; t < threads; t++) groups_join(scan, table, scan->tables[t]);
    TRY(groups_error(table->fault));
    groups->count = table->count;
    groups->values = ARENA_NEW(arena, double, table->count *width + 1);
    for (int64_t g = 0; g < table->count; g++) {
        for (int k = 0; k < groups->n_by; k++) {
            const uint64_t key = table->keys[g * groups->n_by + k];
            groups->values[g * width + k] = key == UINT64_MAX ? (double)NAN : order_value(false, key);
        }
    }
    return groups_aggregate(scan, table, groups, arena);
}

// ---- the scan -------------------------------------------------------------------------------------------------------

static void groups_ask(const Groups *groups, GroupsScan *scan)
{
    scan->n_by = groups->n_by;
    for (int k = 0; k < groups->n_by; k++) scan->columns[k] = groups->by[k];
    for (int a = 0; a < groups->n_aggregates; a++) {
        const Aggregate *aggregate = &groups->aggregates[a];
        int c = 0;
        if (aggregate->column < 0) continue;
        while (c < scan->n_columns && scan->columns[scan->n_by + c] != aggregate->column) c++;
        scan->columns[scan->n_by + c] = aggregate->column;
        scan->n_columns += c == scan->n_columns;
        const AggregateKind kind = aggregate->kind;
        scan->sum[c] |= kind == AGGREGATE_SUM || kind == AGGREGATE_MEAN || kind == AGGREGATE_STD;
        scan->squares[c] |= kind == AGGREGATE_STD;
        scan->value[c] |= kind == AGGREGATE_MEDIAN || kind == AGGREGATE_QUANTILE;
    }
}

static void groups_free(const GroupsScan *scan, GroupTable *table)
{
    for (int c = 0; c < scan->n_columns; c++) {
        const GroupColumn *column = &table->columns[c];
        void *const arrays[] = {column->count,   column->least, column->greatest, column->sum,
                                column->squares, column->value, column->group};
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    }
    free(table->keys);
    free(table->trials);
    free(table->slots);
}

static Error groups_scan(const StoredCampaign *campaign, const Condition *where, Groups *groups, Arena *arena)
{
    const DatabaseGuard guard = {.interrupted = interrupt_requested};
    GroupsScan *asked = ARENA_NEW(arena, GroupsScan, 1);
    memset(asked, 0, sizeof *asked);
    groups_ask(groups, asked);
    TrialScan scan = {.database = campaign->database,
                      .all = &groups->all,
                      .where = where,
                      .columns = asked->columns,
                      .n = asked->n_by + asked->n_columns,
                      .guard = &guard,
                      .take = groups_take,
                      .context = asked};
    TRY(trial_scan_start(&scan, arena));
    groups->words = scan.words;
    asked->tables = ARENA_NEW(arena, GroupTable *, scan.threads);
    for (int t = 0; t < scan.threads; t++) {
        asked->tables[t] = ARENA_NEW(arena, GroupTable, 1);
        memset(asked->tables[t], 0, sizeof *asked->tables[t]);
        asked->tables[t]->columns = ARENA_NEW(arena, GroupColumn, asked->n_columns + 1);
        memset(asked->tables[t]->columns, 0, (size_t)asked->n_columns * sizeof *asked->tables[t]->columns);
    }
    Error error = trial_scan_run(&scan);
    if (error.kind == OK) error = groups_take_results(asked, scan.threads, groups, arena);
    for (int t = 0; t < scan.threads; t++) groups_free(asked, asked->tables[t]);
    return error;
}

// ---- order ----------------------------------------------------------------------------------------------------------

typedef struct GroupsOrder {
    int outputs[GROUPS_COLUMNS_MAX];
    bool descending[GROUPS_COLUMNS_MAX];
    int n, width;
} GroupsOrder;

static int groups_compare(const void *a, const void *b, void *given)
{
    const GroupsOrder *order = given;
    for (int i = 0; i < order->n; i++) {
        const double x = ((const double *)a)[order->outputs[i]], y = ((const double *)b)[order->outputs[i]];
        if (x != x || y != y) {
            if ((x != x) != (y != y)) return x != x ? 1 : -1;
        } else if (x != y) {
            return (x < y) != order->descending[i] ? -1 : 1;
        }
    }
    return 0;
}

// Spaces do not count: "quantile(f,0.9)" is "quantile(f, 0.9)".
static bool groups_named(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == ' ') a++;
        while (*b == ' ') b++;
        if (*a != *b || *a == '\0') return *a == *b;
    }
}

static Error groups_order_by(const Groups *groups, char *item, GroupsOrder *order)
{
    char *direction = strchr(item, ':');
    int output = 0;
    if (direction != NULL) *direction++ = '\0';
    while (output < order->width && !groups_named(groups->names[output], item)) output++;
    if (output == order->width) {
        const char *nearest = nearest_name(item, groups->names, order->width);
        return error_make(ERROR_USER, "--order: '%.60s' is not a column of the groups; %s '%.60s'%s", item,
                          nearest != NULL ? "did you mean" : "there is", nearest != NULL ? nearest : groups->names[0],
                          nearest != NULL ? "?" : ", and what --columns names");
    }
    if (direction != NULL && strcmp(direction, "desc") != 0 && strcmp(direction, "asc") != 0)
        return error_make(ERROR_USER, "--order: '%.60s' is not a direction; write %.60s:asc or %.60s:desc", direction,
                          item, item);
    if (order->n + groups->n_by == GROUPS_COLUMNS_MAX)
        return error_make(ERROR_USER, "--order: more than %d columns; the first few decide",
                          GROUPS_COLUMNS_MAX - groups->n_by);
    order->outputs[order->n] = output;
    order->descending[order->n++] = direction != NULL && strcmp(direction, "desc") == 0;
    return error_none();
}

static Error groups_read_order(const Groups *groups, const char *text, Arena *arena, GroupsOrder *order)
{
    char *rest = text != NULL ? arena_copy(arena, text) : NULL;
    *order = (GroupsOrder){.width = groups->n_by + groups->n_aggregates};
    for (char *item; (item = aggregates_next(&rest)) != NULL;) TRY(groups_order_by(groups, item, order));
    for (int k = 0; k < groups->n_by; k++) {
        order->outputs[order->n] = k;
        order->descending[order->n++] = false;
    }
    return error_none();
}

// ---- all of it ------------------------------------------------------------------------------------------------------

static Error groups_read_by(Groups *groups, const char *text, Arena *arena)
{
    char *rest = arena_copy(arena, text);
    groups->by = ARENA_NEW(arena, int, GROUPS_BY_MAX);
    for (char *name; (name = aggregates_next(&rest)) != NULL;) {
        int column;
        TRY(query_column(&groups->all, name, "group-by", &column));
        if (groups->n_by == GROUPS_BY_MAX)
            return error_make(ERROR_USER, "--group-by: more than %d columns", GROUPS_BY_MAX);
        groups->by[groups->n_by++] = column;
    }
    return error_none();
}

bool groups_counts(const Groups *groups, int output)
{
    return output >= groups->n_by && groups->aggregates[output - groups->n_by].kind == AGGREGATE_COUNT;
}

Error groups_read(const StoredCampaign *campaign, const QueryAsked *asked, const char *by, Arena *arena, Groups *groups)
{
    Condition where;
    GroupsOrder order;
    *groups = (Groups){.n_by = 0};
    TRY(trial_columns(campaign->database, &campaign->spec, arena, &groups->all));
    TRY(condition_read(&groups->all, asked->where, arena, &where));
    TRY(groups_read_by(groups, by, arena));
    TRY(aggregates_read(campaign, &groups->all, asked->columns, groups->by, groups->n_by, arena, &groups->aggregates,
                        &groups->n_aggregates));
    const int width = groups->n_by + groups->n_aggregates;
    groups->names = ARENA_NEW(arena, const char *, width);
    for (int k = 0; k < groups->n_by; k++) groups->names[k] = groups->all.names[groups->by[k]];
    for (int a = 0; a < groups->n_aggregates; a++) groups->names[groups->n_by + a] = groups->aggregates[a].name;
    TRY(groups_read_order(groups, asked->order, arena, &order));
    TRY(groups_scan(campaign, &where, groups, arena));
    if (groups->count > 0)
        qsort_r(groups->values, (size_t)groups->count, (size_t)width * sizeof(double), groups_compare, &order);
    return error_none();
}
