// The table of actions of a run, for models whose actions have names of the user's.
#include "sim.h"

#include <string.h>

// Its columns in the order of the actions.
static Error table_of_file(const Action *actions, int n, const Points *file, Arena *arena, const double **rows)
{
    double *filled = ARENA_NEW(arena, double, file->count / file->columns * n);
    for (int64_t column = 0; column < file->columns; column++) {
        bool known = false;
        for (int a = 0; a < n; a++) known |= strcmp(file->names[column], actions[a].name) == 0;
        if (!known)
            return error_make(ERROR_USER, "control.file has a column '%.100s', which is no input with a range",
                              file->names[column]);
    }
    for (int a = 0; a < n; a++) {
        int64_t column = 0;
        while (column < file->columns && strcmp(file->names[column], actions[a].name) != 0) column++;
        if (column == file->columns) return error_make(ERROR_USER, "control.file has no column '%s'", actions[a].name);
        for (int64_t row = 0; row < file->count / file->columns; row++)
            filled[row * n + a] = file->numbers[row * file->columns + column];
    }
    *rows = filled;
    return error_none();
}

Error actions_table(const Action *actions, int n, const Points *listed, const Points *file, Arena *arena,
                    const double **rows, int64_t *n_rows, bool *of_file)
{
    *of_file = file->count > 0;
    *rows = listed->numbers;
    *n_rows = 0;
    if (!*of_file && listed->count == 0) return error_none();
    if (n == 0)
        return error_make(ERROR_USER,
                          "control.%s gives actions, and no input has a range: inputs: {u: {range: [-1, 1]}}",
                          *of_file ? "file" : "actions");
    if (*of_file && listed->count > 0)
        return error_make(ERROR_USER, "the actions are in control.actions already: give one of the two");
    if (listed->count % n != 0)
        return error_make(ERROR_USER, "control.actions has %lld numbers, expected rows of %d", (long long)listed->count,
                          n);
    *n_rows = *of_file ? file->count / file->columns : listed->count / n;
    return *of_file ? table_of_file(actions, n, file, arena, rows) : error_none();
}
