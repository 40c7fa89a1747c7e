// The parameters of a trial that was run. Most methods compute them from the id. For a method that learns they depend
// on all earlier results, so they are read from the stored row, whose columns are the searched parameters to the bit.
#include "../queries.h"

#include <string.h>

// The index of a trial among those of its search and round, whose ids follow each other.
static Error stored_member(Database *database, const TrialRows *rows, int64_t row, int64_t *member)
{
    int64_t before = -1;
    Cursor trials = cursor_open(
        database, "SELECT id FROM trials WHERE id < ? AND (search <> ? OR round <> ?) ORDER BY id DESC LIMIT 1");
    with_integer(&trials, rows->id[row]);
    with_integer(&trials, rows->search[row]);
    with_integer(&trials, rows->round[row]);
    next_integer(&trials, &before);
    *member = rows->id[row] - (before + 1);
    return cursor_close(&trials);
}

Error search_stored_trial(const Search *search, Database *database, const TrialRows *rows, int64_t row,
                          uint64_t *ordinal, double *parameter)
{
    const Spec *spec = search->spec;
    const int searched = rows_searched(spec);
    int64_t member = 0;
    if (!search_learns(search->method)) return search->method->trial(search, rows->id[row], ordinal, parameter);
    memcpy(parameter, spec->fixed, (size_t)spec->configured.n_parameters * sizeof *parameter);
    for (int i = 0; i < searched; i++) {
        const char *choices = rows_choices(spec, i);
        const double value = rows_searched_value(spec, rows, i, row);
        parameter[spec->axes[i].parameter] = value;
        if (choices == NULL || words_have(choices, value)) continue;
        return error_make(ERROR_MACHINE,
                          "trial %lld has a word of %s that the spec does not have: another program "
                          "changed the database",
                          (long long)rows->id[row], spec->configured.parameters[spec->axes[i].parameter].name);
    }
    if (!spec->replicates.common) TRY(stored_member(database, rows, row, &member)); // else it names no random number
    *ordinal = search_ordinal(search->method, (int32_t)rows->round[row], member);
    return error_none();
}

Error search_read_trial(const Search *search, Database *database, int64_t id, Arena *arena, double *parameter)
{
    TrialRows row;
    uint64_t ordinal;
    if (!search_learns(search->method)) return search->method->trial(search, id, &ordinal, parameter);
    rows_take(search->spec, 1, arena, &row);
    Cursor trials = trial_rows_by_id(database, search->spec, arena);
    if (trial_row_at(&trials, id, search->spec, &row, 0))
        cursor_stop(&trials, search_stored_trial(search, database, &row, 0, &ordinal, parameter));
    return cursor_close(&trials);
}
