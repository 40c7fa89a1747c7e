// The parameters of a trial that was run. A method that knows its trials beforehand computes them from the id; those of
// one that learns depend on all that it was told before, so they are taken from the stored row, whose columns are what
// was searched, to the bit.
#include "stored_trial.h"

#include <string.h>

// The place of a trial among those of its search and round, whose ids follow each other.
static Error stored_member(Database *database, const TrialRows *rows, int64_t row, int64_t *member)
{
    Statement *statement = NULL;
    bool before = false;
    TRY(database_prepare(database,
                         "SELECT id FROM trials WHERE id < ? AND (search <> ? OR round <> ?) ORDER BY id DESC LIMIT 1",
                         &statement));
    bind_integer(statement, 1, rows->id[row]);
    bind_integer(statement, 2, rows->search[row]);
    bind_integer(statement, 3, rows->round[row]);
    const Error error = statement_step(statement, &before);
    *member = rows->id[row] - (before ? column_integer(statement, 0) + 1 : 0);
    statement_close(statement);
    return error;
}

Error search_stored_trial(const Search *search, Database *database, const TrialRows *rows, int64_t row,
                          uint64_t *ordinal, double *parameter)
{
    const Spec *spec = search->spec;
    const int searched = rows_searched(spec);
    int64_t member = 0;
    if (!search_learns(search->method)) return search->method->trial(search, rows->id[row], ordinal, parameter);
    memcpy(parameter, spec->fixed, (size_t)spec->configured.n_parameters * sizeof *parameter);
    for (int i = 0; i < searched; i++) parameter[spec->axes[i].parameter] = rows->searched[row * searched + i];
    if (!spec->replicates.common) TRY(stored_member(database, rows, row, &member)); // else it names no random number
    *ordinal = search_round_ordinal(rows->round[row], member);
    return error_none();
}

Error search_read_trial(const Search *search, Database *database, int64_t id, Arena *arena, double *parameter)
{
    Statement *statement = NULL;
    TrialRows rows;
    bool row = false;
    uint64_t ordinal;
    if (!search_learns(search->method)) return search->method->trial(search, id, &ordinal, parameter);
    rows_take(search->spec, 1, arena, &rows);
    TRY(database_prepare(database, rows_select_sql(search->spec, arena, "WHERE id = ?"), &statement));
    bind_integer(statement, 1, id);
    Error error = statement_step(statement, &row);
    if (error.kind == OK && row) {
        rows_read(search->spec, statement, &rows, 0);
        error = search_stored_trial(search, database, &rows, 0, &ordinal, parameter);
    }
    statement_close(statement);
    return error;
}
