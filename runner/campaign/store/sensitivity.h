// Sensitivities of a campaign that sampled for them (sensitivity.c).
#ifndef HOPSCOTCH_SENSITIVITY_H
#define HOPSCOTCH_SENSITIVITY_H

#include "cursor.h"

extern const char *const sensitivity_table_sql;               // CREATE TABLE sensitivity
Error sensitivity_record(Store *store, const Search *search); // of a campaign that is done; nothing for other methods

// A measure of a parameter; texts are valid until the next one.
typedef struct SensitivityRow {
    const char *parameter, *measure;
    double value, low, high; // with an interval of 95 %
    int64_t blocks, left_out;
} SensitivityRow;
Cursor sensitivity_by_parameter(Database *database); // the parameter that matters most first
Cursor sensitivity_by_measure(Database *database, int64_t most);
bool sensitivity_next(Cursor *rows, SensitivityRow *row);

#endif
