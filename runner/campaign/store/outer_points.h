// The points of an outer grid, one a search (outer_points.c).
#ifndef HOPSCOTCH_OUTER_POINTS_H
#define HOPSCOTCH_OUTER_POINTS_H

#include "cursor.h"

extern const char *const outer_table_sql;                 // CREATE TABLE outer_points
Error outer_record(Database *database, const Spec *spec); // once, within the transaction that makes the campaign

// Its parameters, at most `most`; none in databases of schemas before 6.
Error outer_names(Database *database, int most, Arena *arena, const char **names, int *count);
// What searches have for them: outer_value; NaN: that is not known.
Cursor outer_values(Database *database);
double outer_value(Cursor *values, int64_t search, const char *parameter);

#endif
