// The best trials of several campaigns with the same objective, in one table.
#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEVERAL_MOST = 1000, SEVERAL_TOP_MOST = 1000 }; // campaigns, trials of each

// Columns before those of the trials.
enum { SEVERAL_RANK, SEVERAL_CAMPAIGN, SEVERAL_FIRST };

typedef struct SeveralSide {
    const char *name; // as the user names it
    CampaignLocation location;
    StoredCampaign campaign;
    TrialColumns all;
    const char *const *names; // [count] the columns that are shown of it
    int count;
} SeveralSide;

typedef struct SeveralCell {
    enum { SEVERAL_NONE, SEVERAL_TEXT, SEVERAL_INTEGER, SEVERAL_REAL, SEVERAL_EXACT } kind;
    const char *text;
    int64_t integer;
    double real;
} SeveralCell;

typedef struct SeveralRow {
    const SeveralSide *side;
    int order; // among rows of equal cost
    int64_t trial;
    double violation, cost; // NaN cost: there is no such trial
    SeveralCell *cells;     // [n_columns]
} SeveralRow;

typedef struct Several {
    SeveralSide *sides; // [n_sides]
    int n_sides, n_columns;
    const char **columns; // [n_columns] of all sides, in the order in which they come
    SeveralRow *rows;
    int n_rows;
} Several;

// ---- reading --------------------------------------------------------------------------------------------------------

static Error several_open(const CommandLine *line, const char *name, bool machine, SeveralSide *side)
{
    side->name = name;
    TRY(campaign_find(line, name, &side->location));
    TRY(campaign_open(side->location.results, side->location.name, line->arena, &side->campaign));
    const Spec *spec = &side->campaign.spec;
    if (spec_several(spec))
        return error_make(ERROR_USER,
                          "campaign %.128s has several objectives, so it has no single best trial: `best %.128s` alone "
                          "shows its front",
                          side->location.name, side->location.name);
    TRY(trial_columns(side->campaign.database, spec, line->arena, &side->all));
    side->names = side->all.names;
    side->count = side->all.count;
    if (!machine) side->count = trial_columns_main(spec, line->arena, &side->names);
    return error_none();
}

// Error (user): the objectives are not the same, so that their values can't be ordered.
static Error several_check(const Several *several, Arena *arena)
{
    const SeveralSide *first = &several->sides[0];
    const char *expected = objective_text(&first->campaign.spec, 0, arena);
    for (int i = 1; i < several->n_sides; i++) {
        const SeveralSide *other = &several->sides[i];
        const char *objective = objective_text(&other->campaign.spec, 0, arena);
        if (strcmp(objective, expected) == 0) continue;
        return error_make(ERROR_USER,
                          "the objectives of %.80s and %.80s differ, so their trials have no common order: `%.150s` "
                          "and `%.150s`",
                          first->location.name, other->location.name, text_visible(expected, arena),
                          text_visible(objective, arena));
    }
    return error_none();
}

// What else differs is only said: equal objectives may mean another thing in another task.
static void several_warn(const Several *several, FILE *messages, Arena *arena)
{
    const SeveralSide *first = &several->sides[0];
    for (int i = 1; i < several->n_sides; i++) {
        const SeveralSide *other = &several->sides[i];
        const char *model = first->campaign.spec.model->name, *other_model = other->campaign.spec.model->name;
        const bool same_model = strcmp(model, other_model) == 0;
        const char *keys = same_model ? compare_tasks(&first->campaign.spec, &other->campaign.spec, arena) : "model";
        if (keys[0] == '\0') continue;
        fprintf(messages, "warning: %s and %s have different tasks: they differ in %s\n", first->location.name,
                other->location.name, text_visible(keys, arena));
    }
}

static int several_column(const Several *several, const char *name)
{
    for (int i = 0; i < several->n_columns; i++) {
        if (strcmp(several->columns[i], name) == 0) return i;
    }
    return -1;
}

static void several_choose_columns(Several *several, Arena *arena)
{
    int most = 0;
    for (int i = 0; i < several->n_sides; i++) most += several->sides[i].count;
    several->columns = ARENA_NEW(arena, const char *, most + 1);
    for (int i = 0; i < several->n_sides; i++) {
        const SeveralSide *side = &several->sides[i];
        for (int k = 0; k < side->count; k++) {
            if (several_column(several, side->names[k]) < 0) several->columns[several->n_columns++] = side->names[k];
        }
    }
}

static SeveralCell several_cell(const Cursor *trial, int location, const TrialColumns *all, int column, Arena *arena)
{
    if (cell_is_null(trial, location)) return (SeveralCell){.kind = SEVERAL_NONE};
    if (all->is_text[column])
        return (SeveralCell){.kind = SEVERAL_TEXT, .text = arena_copy(arena, cell_text(trial, location))};
    if (all->is_integer[column])
        return (SeveralCell){.kind = SEVERAL_INTEGER, .integer = cell_integer(trial, location)};
    return (SeveralCell){.kind = all->is_parameter[column] ? SEVERAL_EXACT : SEVERAL_REAL,
                         .real = cell_real(trial, location)};
}

static double several_number(const Cursor *trial, const SeveralSide *side, const char *name)
{
    for (int k = 0; k < side->count; k++) {
        if (strcmp(side->names[k], name) == 0) return cell_is_null(trial, k) ? (double)NAN : cell_real(trial, k);
    }
    return 0.0; // a campaign without constraints violates none
}

// A parameter that this campaign does not search has its fixed value.
static void several_fill_fixed(const Several *several, const SeveralSide *side, Arena *arena, SeveralCell *cells)
{
    const Configured *configured = &side->campaign.spec.configured;
    for (int p = 0; p < configured_named(configured); p++) {
        const int column = several_column(several, configured->parameters[p].name);
        if (column < 0 || trial_column_find(&side->all, several->columns[column]) >= 0) continue;
        const double value = side->campaign.spec.fixed[p];
        const char *choices = configured_choices(configured, p);
        cells[column] = (SeveralCell){.kind = SEVERAL_EXACT, .real = value};
        if (choices == NULL) continue;
        cells[column] = (SeveralCell){.kind = SEVERAL_TEXT, .text = arena_copy(arena, value_text(choices, value).text)};
    }
}

static Error several_read(Several *several, const SeveralSide *side, int64_t top, Arena *arena)
{
    Cursor trials = trials_best(&side->campaign, side->names, side->count, top, arena);
    while (cursor_next(&trials)) {
        SeveralRow *row = &several->rows[several->n_rows];
        *row = (SeveralRow){.side = side,
                            .order = several->n_rows++,
                            .trial = cell_integer(&trials, 0),
                            .violation = several_number(&trials, side, "violation"),
                            .cost = spec_cost(&side->campaign.spec, 0, several_number(&trials, side, "fitness")),
                            .cells = ARENA_NEW(arena, SeveralCell, several->n_columns)};
        memset(row->cells, 0, (size_t)several->n_columns * sizeof *row->cells);
        several_fill_fixed(several, side, arena, row->cells);
        for (int k = 0; k < side->count; k++)
            row->cells[several_column(several, side->names[k])] =
                several_cell(&trials, k, &side->all, trial_column_find(&side->all, side->names[k]), arena);
    }
    return cursor_close(&trials);
}

// As within a campaign: the least violation first, then the best fitness; failed trials last.
static int several_order(const void *a, const void *b)
{
    const SeveralRow *left = a, *right = b;
    if (isnan(left->cost) != isnan(right->cost)) return isnan(left->cost) - isnan(right->cost);
    if (!isnan(left->cost) && left->violation != right->violation) return left->violation < right->violation ? -1 : 1;
    if (!isnan(left->cost) && left->cost != right->cost) return left->cost < right->cost ? -1 : 1;
    return left->order - right->order;
}

// ---- printing -------------------------------------------------------------------------------------------------------

static void several_print_cell(const SeveralCell *cell, Table *table)
{
    switch (cell->kind) {
    case SEVERAL_NONE: table_number(table, (double)NAN); return;
    case SEVERAL_TEXT: table_text(table, cell->text); return;
    case SEVERAL_INTEGER: table_integer(table, cell->integer); return;
    case SEVERAL_REAL: table_number(table, cell->real); return;
    case SEVERAL_EXACT: table_exact(table, cell->real); return;
    }
}

static Error several_print(const Several *several, TableFormat format, FILE *out, Arena *arena)
{
    const char **titles = ARENA_NEW(arena, const char *, SEVERAL_FIRST + several->n_columns);
    titles[SEVERAL_RANK] = "rank";
    titles[SEVERAL_CAMPAIGN] = "campaign";
    for (int k = 0; k < several->n_columns; k++)
        titles[SEVERAL_FIRST + k] =
            format == TABLE_TEXT && strcmp(several->columns[k], "id") == 0 ? "trial" : several->columns[k];
    Table *table = table_start(out, format, SEVERAL_FIRST + several->n_columns, titles);
    for (int i = 0; table != NULL && i < several->n_rows; i++) {
        table_integer(table, i + 1);
        table_text(table, several->rows[i].side->location.name);
        for (int k = 0; k < several->n_columns; k++) several_print_cell(&several->rows[i].cells[k], table);
    }
    return table_finish(table);
}

// The campaigns of which no trial is listed.
static void several_print_missing(const Several *several, FILE *messages)
{
    for (int i = 0; i < several->n_sides; i++) {
        bool any = false;
        for (int k = 0; k < several->n_rows; k++)
            any = any || (several->rows[k].side == &several->sides[i] && !isnan(several->rows[k].cost));
        if (!any) fprintf(messages, "%s has no trial with a fitness\n", several->sides[i].location.name);
    }
}

static void several_print_next(const CommandLine *line, const Several *several)
{
    if (several->n_rows == 0 || isnan(several->rows[0].cost)) return;
    const SeveralSide *side = several->rows[0].side;
    const char *program = command_program(line->arena);
    fprintf(line->out, "\nnext  %s show %s/%" PRId64 "%s\n      %s compare", program, side->location.name,
            several->rows[0].trial, command_results_option(side->location.results, line->arena), program);
    for (int i = 0; i < several->n_sides; i++)
        fprintf(line->out, " %s", command_quoted(text_visible(several->sides[i].name, line->arena), line->arena));
    fputc('\n', line->out);
}

static Error several_show(const CommandLine *line, const char *const *names, Several *several)
{
    const TableFormat format = command_format(line);
    const int64_t top = switch_integer(line, "top", switch_integer(line, "limit", 1));
    if (top > SEVERAL_TOP_MOST)
        return error_make(ERROR_USAGE, "of several campaigns at most %d trials each are listed", SEVERAL_TOP_MOST);
    for (int i = 0; i < several->n_sides; i++)
        TRY(several_open(line, names[i], format != TABLE_TEXT, &several->sides[i]));
    TRY(several_check(several, line->arena));
    several_warn(several, line->messages, line->arena);
    several_choose_columns(several, line->arena);
    several->rows = ARENA_NEW(line->arena, SeveralRow, several->n_sides * top + 1);
    for (int i = 0; i < several->n_sides; i++) TRY(several_read(several, &several->sides[i], top, line->arena));
    qsort(several->rows, (size_t)several->n_rows, sizeof *several->rows, several_order);
    TRY(several_print(several, format, line->out, line->arena));
    several_print_missing(several, line->messages);
    if (format == TABLE_TEXT) several_print_next(line, several);
    return error_none();
}

Error best_of_several(const CommandLine *line, const char *const *names, int count)
{
    if (count > SEVERAL_MOST)
        return error_make(ERROR_USAGE, "best takes at most %d campaigns, and these are %d", SEVERAL_MOST, count);
    if (switch_given(line, "per") || switch_given(line, "pareto") || switch_given(line, "objectives"))
        return error_make(ERROR_USAGE, "--per, --pareto and --objectives are of one campaign");
    Several several = {.sides = ARENA_NEW(line->arena, SeveralSide, count), .n_sides = count};
    memset(several.sides, 0, (size_t)count * sizeof *several.sides);
    const Error error = several_show(line, names, &several);
    for (int i = 0; i < count; i++) campaign_close(&several.sides[i].campaign);
    return error;
}
