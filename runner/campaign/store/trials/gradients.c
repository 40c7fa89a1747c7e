// How good the gradients of searches are (GradientSigns), one row for each round that took one. Only campaigns whose
// method takes gradients have the table, and of these not the ones that an earlier program created.
#include "../queries.h"
#include "rank.h"

#include <math.h>

bool gradients_are_kept(const Database *database) { return database_has(database, "gradients", NULL); }

Error gradients_make(Database *database)
{
    return database_run(database,
                        "CREATE TABLE IF NOT EXISTS gradients(search INTEGER NOT NULL, round INTEGER NOT NULL,\n"
                        "  norm REAL, spread REAL, cosine REAL, growth REAL, PRIMARY KEY(search, round),\n"
                        "  FOREIGN KEY(search, round) REFERENCES rounds(search, round)) STRICT, WITHOUT ROWID");
}

Cursor gradients_filler(Database *database)
{
    return cursor_open(database, "INSERT INTO gradients VALUES(?, ?, ?, ?, ?, ?)");
}

void gradients_add(Cursor *filler, const Round *round)
{
    with_integer(filler, round->search);
    with_integer(filler, round->round);
    with_real(filler, round->gradient.norm);
    with_real(filler, round->gradient.spread);
    with_real(filler, round->gradient.cosine);
    with_real(filler, round->gradient.growth);
    cursor_next(filler);
}

// ---- reading --------------------------------------------------------------------------------------------------------

Error gradients_have(Database *database, bool *spread, bool *cosine, bool *growth)
{
    *spread = *cosine = *growth = false;
    if (!gradients_are_kept(database)) return error_none();
    Cursor row = cursor_open(database, "SELECT count(spread) > 0, count(cosine) > 0, count(growth) > 0 FROM gradients");
    if (cursor_next(&row)) {
        *spread = cell_integer(&row, 0) != 0;
        *cosine = cell_integer(&row, 1) != 0;
        *growth = cell_integer(&row, 2) != 0;
    }
    return cursor_close(&row);
}

Error gradients_count(Database *database, int64_t *count)
{
    *count = 0;
    return gradients_are_kept(database) ? store_integer(database, "SELECT count(*) FROM gradients", 0, count)
                                        : error_none();
}

Cursor gradients_of_best(Database *database, bool maximize, int64_t every, int64_t searches, int64_t most, Arena *arena)
{
    static const char sql[] =
        "SELECT search, round, norm, spread, cosine, growth FROM (SELECT *, row_number() OVER (PARTITION BY search "
        "ORDER BY round) - 1 AS place FROM gradients WHERE search IN (%s LIMIT ?2)) "
        "WHERE place %% ?1 = 0 ORDER BY search, round LIMIT ?3";
    Cursor rounds = cursor_open(database, arena_format(arena, sql, rank_searches(maximize)));
    with_integer(&rounds, every);
    with_integer(&rounds, searches);
    with_integer(&rounds, most);
    return rounds;
}

bool gradients_next(Cursor *gradients, int64_t *search, int64_t *round, GradientSigns *signs)
{
    if (!cursor_next(gradients)) return false;
    *search = cell_integer(gradients, 0);
    *round = cell_integer(gradients, 1);
    *signs = (GradientSigns){cell_real(gradients, 2), cell_real(gradients, 3), cell_real(gradients, 4),
                             cell_real(gradients, 5)};
    return true;
}

Cursor gradients_by_round(Database *database)
{
    static const char *const none = "SELECT NULL, NULL, NULL, NULL, NULL WHERE ?1 < 0 AND ?2 < 0";
    return cursor_open(database, gradients_are_kept(database)
                                     ? "SELECT norm, spread, cosine, growth, round FROM gradients WHERE search = ? AND "
                                       "round <= ? ORDER BY round DESC LIMIT 1"
                                     : none);
}

bool gradient_of_round(Cursor *gradients, int64_t search, int64_t round, GradientSigns *signs)
{
    const double none = (double)NAN;
    *signs = (GradientSigns){none, none, none, none};
    with_integer(gradients, search);
    with_integer(gradients, round);
    if (!cursor_next(gradients)) return false;
    *signs = (GradientSigns){cell_real(gradients, 0), cell_real(gradients, 1), cell_real(gradients, 2),
                             cell_real(gradients, 3)};
    while (gradients->row) cursor_next(gradients); // there is only one
    return true;
}
