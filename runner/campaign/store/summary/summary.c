// See summary.h. Columns are added one after the other, so that the bins of a histogram that are in use stay in the
// processor's cache.
#include "summary.h"

#include "../ground/rows.h"

#include <math.h>
#include <string.h>

// ---- taking ---------------------------------------------------------------------------------------------------------

static void summary_take_column(Summary *summary, const char *name, Arena *arena)
{
    summary->columns[summary->n_columns++] = (SummaryColumn){.name = name,
                                                             .least = (double)NAN,
                                                             .greatest = (double)NAN,
                                                             .counts = ARENA_NEW(arena, int64_t *, SUMMARY_EXPONENTS)};
}

// The fitness, the violation and the constraints, the metrics
static void summary_take_columns(Summary *summary, Arena *arena)
{
    const Spec *spec = summary->spec;
    const int metrics = spec->configured.n_metrics, constraints = rows_constraints(spec);
    summary->columns = ARENA_NEW(arena, SummaryColumn, 1 + constraints + metrics);
    summary_take_column(summary, "fitness", arena);
    for (int i = 0; i < constraints; i++)
        summary_take_column(summary, arena_copy(arena, rows_constraint_name(i).text), arena);
    for (int i = 0; i < metrics; i++) summary_take_column(summary, spec->configured.metrics[i].name, arena);
}

static int summary_pair_bins(const Summary *summary, int axis)
{
    const int most = summary->n_axes > SUMMARY_FEW ? SUMMARY_PAIR_OF_MANY : SUMMARY_PAIR,
              bins = summary->axes[axis].bins;
    return bins < most ? bins : most;
}

static void summary_take_grid(Summary *summary, int x, int y, Arena *arena)
{
    SummaryGrid *grid = &summary->grids[summary->n_grids++];
    *grid = (SummaryGrid){.x = x, .y = y, .n_x = summary->axes[x].bins, .n_y = 1};
    if (y >= 0) grid->n_x = summary_pair_bins(summary, x);
    if (y >= 0) grid->n_y = summary_pair_bins(summary, y);
    grid->bins = ARENA_NEW(arena, SummaryBin, grid->n_x * grid->n_y);
    for (int i = 0; i < grid->n_x * grid->n_y; i++) grid->bins[i] = (SummaryBin){.best = (double)NAN, .best_trial = -1};
}

void summary_take(const Spec *spec, Arena *arena, Summary *summary)
{
    *summary = (Summary){.spec = spec, .arena = arena};
    summary->failures = ARENA_NEW(arena, int64_t, spec->configured.n_failures + 1);
    summary_take_columns(summary, arena);
    summary->axes = ARENA_NEW(arena, SummaryAxis, SUMMARY_AXES);
    summary->n_axes = summary_axes(spec, summary->axes, arena);
    summary->grids = ARENA_NEW(arena, SummaryGrid, SUMMARY_AXES * (SUMMARY_AXES + 1) / 2);
    for (int x = 0; x < summary->n_axes; x++) summary_take_grid(summary, x, -1, arena);
    for (int x = 0; x < summary->n_axes; x++) {
        for (int y = x + 1; y < summary->n_axes; y++) summary_take_grid(summary, x, y, arena);
    }
}

// ---- histograms -----------------------------------------------------------------------------------------------------

enum { SUMMARY_SHIFT = 52 - SUMMARY_MANTISSA }; // bits of the mantissa that are not looked at

// Zero, which many metrics are, has a bin of its own: subnormal numbers near it are in the next one.
void summary_find_bin(double value, int *exponent, int *fraction)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    *exponent = (int)(bits >> 52);
    *fraction = (int)(bits >> SUMMARY_SHIFT & (SUMMARY_FRACTIONS - 1));
    if (bits >> SUMMARY_SHIFT == 0 && bits != 0) *fraction = 1;
}

void summary_bounds(int exponent, int fraction, double *low, double *high)
{
    const bool zero = exponent == 0 && fraction == 0, near_zero = exponent == 0 && fraction == 1,
               negative = exponent >> 11 != 0;
    const uint64_t bits = (uint64_t)exponent << 52 | (uint64_t)fraction << SUMMARY_SHIFT;
    const uint64_t first = near_zero ? 1 : bits, last = zero ? 0 : bits | (((uint64_t)1 << SUMMARY_SHIFT) - 1);
    memcpy(low, negative ? &last : &first, sizeof *low);
    memcpy(high, negative ? &first : &last, sizeof *high);
}

static void summary_count(Summary *summary, SummaryColumn *column, double value)
{
    int exponent, fraction;
    summary_find_bin(value, &exponent, &fraction);
    if (column->counts[exponent] == NULL)
        column->counts[exponent] = ARENA_NEW(summary->arena, int64_t, SUMMARY_FRACTIONS);
    column->counts[exponent][fraction]++;
}

static void summary_add_column(Summary *summary, SummaryColumn *column, const double *values, int64_t count)
{
    double least = column->least, greatest = column->greatest, sum = column->sum;
    int64_t missing = 0;
    for (int64_t i = 0; i < count; i++) {
        const double value = values[i] + 0.0; // -0 -> 0
        if (!isfinite(value)) {
            missing++;
            continue;
        }
        if (!(value >= least)) least = value;
        if (!(value <= greatest)) greatest = value;
        sum += value;
        summary_count(summary, column, value);
    }
    column->least = least;
    column->greatest = greatest;
    column->sum = sum;
    column->missing += missing;
    column->values += count - missing;
}

static void summary_add_columns(Summary *summary, const TrialRows *rows)
{
    const int constraints = rows_constraints(summary->spec), metrics = summary->spec->configured.n_metrics;
    SummaryColumn *column = summary->columns;
    summary_add_column(summary, column++, rows->fitness, rows->count);
    for (int i = 0; i < constraints; i++)
        summary_add_column(summary, column++, rows->constraint + i * rows->stride, rows->count);
    for (int i = 0; i < metrics; i++)
        summary_add_column(summary, column++, rows->metric + i * rows->stride, rows->count);
}

// ---- bins of the axes -----------------------------------------------------------------------------------------------

enum { SUMMARY_CHUNK = 512 }; // rows at a time

typedef struct SummaryChunk {
    const TrialRows *rows;
    int64_t first;
    int count;
    bool maximizes;
    unsigned char failed[SUMMARY_CHUNK], ranked[SUMMARY_CHUNK]; // ranked: it can be the best of its bin
    unsigned char bin[SUMMARY_AXES][SUMMARY_CHUNK];
} SummaryChunk;

static void summary_find_chunk(const Summary *summary, SummaryChunk *chunk)
{
    const TrialRows *rows = chunk->rows;
    const double *fitness = rows->fitness + chunk->first;
    const double *violation = rows_constraints(summary->spec) > 0 ? rows->constraint + chunk->first : NULL;
    for (int i = 0; i < chunk->count; i++) {
        chunk->failed[i] = rows->failure[chunk->first + i] != 0;
        chunk->ranked[i] = isfinite(fitness[i]) && (violation == NULL || violation[i] == 0);
    }
    for (int a = 0; a < summary->n_axes; a++) {
        const SummaryAxis *axis = &summary->axes[a];
        const bool words = rows_choices(summary->spec, axis->column) != NULL;
        const Cell *cells = rows->searched + axis->column * rows->stride + chunk->first;
        for (int i = 0; i < chunk->count; i++) {
            const double value = words ? (double)cells[i].integer : cells[i].real;
            chunk->bin[a][i] = (unsigned char)summary_bin(axis, value);
        }
    }
}

static inline void summary_add_to_bin(SummaryBin *bin, const SummaryChunk *chunk, int i)
{
    const double fitness = chunk->rows->fitness[chunk->first + i];
    bin->trials++;
    bin->failures += chunk->failed[i];
    if (!isfinite(fitness)) return;
    bin->values++;
    bin->sum += fitness + 0.0;
    if (!chunk->ranked[i] || (chunk->maximizes ? fitness <= bin->best : fitness >= bin->best)) return;
    bin->best = fitness + 0.0;
    bin->best_trial = chunk->rows->id[chunk->first + i];
}

static void summary_add_axis(SummaryGrid *grid, const SummaryChunk *chunk)
{
    for (int i = 0; i < chunk->count; i++) summary_add_to_bin(&grid->bins[chunk->bin[grid->x][i]], chunk, i);
}

// Neighbouring bins of an axis share one of a pair.
static void summary_add_pair(const Summary *summary, SummaryGrid *grid, const SummaryChunk *chunk)
{
    int x[SUMMARY_LEVELS], y[SUMMARY_LEVELS];
    const int bins_x = summary->axes[grid->x].bins, bins_y = summary->axes[grid->y].bins;
    for (int i = 0; i < bins_x; i++) x[i] = i * grid->n_x / bins_x * grid->n_y;
    for (int i = 0; i < bins_y; i++) y[i] = i * grid->n_y / bins_y;
    for (int i = 0; i < chunk->count; i++)
        summary_add_to_bin(&grid->bins[x[chunk->bin[grid->x][i]] + y[chunk->bin[grid->y][i]]], chunk, i);
}

static void summary_add_grids(Summary *summary, const TrialRows *rows)
{
    SummaryChunk chunk = {.rows = rows, .maximizes = summary->spec->objective.maximize[0]};
    for (chunk.first = 0; chunk.first < rows->count; chunk.first += SUMMARY_CHUNK) {
        const int64_t left = rows->count - chunk.first;
        chunk.count = left < SUMMARY_CHUNK ? (int)left : SUMMARY_CHUNK;
        summary_find_chunk(summary, &chunk);
        for (int g = 0; g < summary->n_grids; g++) {
            SummaryGrid *grid = &summary->grids[g];
            grid->y < 0 ? summary_add_axis(grid, &chunk) : summary_add_pair(summary, grid, &chunk);
        }
    }
}

void summary_add(Summary *summary, const TrialRows *rows)
{
    const int failures = summary->spec->configured.n_failures;
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t code = rows->failure[i];
        summary->failures[code >= 0 && code < failures ? code : failures]++;
    }
    summary_add_columns(summary, rows);
    summary_add_grids(summary, rows);
    summary->trials += rows->count;
}
