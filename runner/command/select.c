// Rows of the table trials: the options --where, --order, --columns and --limit choose them.
#include "command.h"

Error command_select(const CommandLine *line, const StoredCampaign *campaign, int64_t limit, const char *columns,
                     Query *query)
{
    const QueryAsked asked = {.where = switch_text(line, "where", NULL),
                              .order = switch_text(line, "order", NULL),
                              .columns = switch_text(line, "columns", columns),
                              .limit = switch_integer(line, "limit", limit)};
    return query_start(campaign, &asked, line->arena, query);
}

Error command_report_rows(const CommandLine *line, const StoredCampaign *campaign)
{
    const char *words = NULL;
    TRY(kept_words(campaign->database, line->arena, &words));
    if (words != NULL)
        fprintf(line->messages, "made from %s; %s shows sums over all\n", words,
                command_again(folder_of(campaign->folder, line->arena), "status %.128s", campaign->name).text);
    return error_none();
}

void trial_cell(Table *table, const Cursor *trial, int cell, const TrialColumns *columns, int column)
{
    if (columns->is_text[column])
        table_text(table, cell_is_null(trial, cell) ? NULL : cell_text(trial, cell));
    else if (columns->is_integer[column] && !cell_is_null(trial, cell))
        table_integer(table, cell_integer(trial, cell));
    else if (columns->is_parameter[column])
        table_exact(table, cell_real(trial, cell));
    else
        table_number(table, cell_real(trial, cell));
}

static const Switch query_select_rows[] = {
    {"where", SWITCH_TEXT, "EXPRESSION", 0, 0,
     "which trials: comparisons of columns, and, or, not; texts in single quotes. A comparison with a "
     "missing value is never true, nor is its `not`"},
    {"order", SWITCH_TEXT, "COLUMN[:desc],..", 0, 0, "order of the rows; missing values last (default id)"},
    {"columns", SWITCH_TEXT, "A,B,..", 0, 0, "which columns; all: every column"},
    {"limit", SWITCH_INTEGER, "N", 0, 1LL << 40, "number of rows; 0: all (default: all, but 50 for a table of query)"},
};
const Switches switches_select = {query_select_rows, sizeof query_select_rows / sizeof *query_select_rows};
