// How a spec says that a table of numbers is to be read: `{file: log.csv, time: stamp, columns: {knee_q: {column:
// motor3.pos, unit: deg}}, from: 0.5, to: 2}`. A table has the names of the model's columns then, and numbers in SI.
#ifndef HOPSCOTCH_RECORDING_H
#define HOPSCOTCH_RECORDING_H

#include "keys.h"

// A column that the model gets: (scale x number + offset), in `unit`.
typedef struct TableColumn {
    const char *name, *from; // of the model; in the file
    const char *unit;        // as given; NULL: SI
    double factor;           // of the unit, to SI
    double scale, offset;    // offset in `unit`
    double noise;            // in `unit`; NaN: not given
    const Node *at;
} TableColumn;

typedef struct TableReading {
    TableColumn time;
    double offset;        // s, is added to times; NaN: the first row is at 0 s
    double from, to;      // s, of rows that are read
    int64_t every;        // of these rows: each n-th
    bool gaps;            // rows may have no value in a column
    bool chosen;          // columns are named; else all are read, under their own names
    TableColumn *columns; // [n_columns]
    int n_columns;
} TableReading;

// The keys of a mapping besides `file` and `sha256`; NULL: there are none, or they are wrong.
const TableReading *recording_read(SpecReader *reader, const Key *key, const Node *node);
// ", time: {...}, ..." as YAML that reads back to the same; "": reading NULL.
const char *recording_text(const TableReading *reading, Arena *arena);
extern const char recording_keys[]; // their names, as a sentence

// A table as its rows come.
typedef struct TableBuild {
    SpecReader *reader;
    const TableReading *reading; // NULL: all columns as they are
    const Node *at;              // for errors that have no place in the file
    const char *file, *row;      // as TableSource
    int64_t columns, rows, most; // of the table
    int64_t time;                // the column `time`; -1: none
    const int64_t *from;         // [columns] in the file
    const char **names;          // [columns]
    double *numbers;             // [most][columns]
    int64_t *places;             // [most]
    int64_t seen;                // rows within from and to, so far
    double first, low, high;     // times: of the first row as in the file; s: of all rows
    bool recording;              // its times are seconds of the run
    bool dated;                  // times count from another origin than the run's, which was reported
} TableBuild;

// Times (s) that cannot be those of a run: more than three years. A clock that counts from 1970 has them.
#define RECORDING_DATED 1e8
// Of such a time as it stands in a file: what the spec must say, "offset: start" with the unit that it seems to be in.
const char *recording_dated(const char *file, const char *column, double time, Arena *arena);

// names[count] of the file's columns; places NULL: they have none. Room for `rows` rows, as far as MATRIX_MAX allows.
// False: errors were reported.
bool table_begin(TableBuild *build, const char *const *names, const Node *places, int64_t count, int64_t rows);
// Takes a row, whose values are in the file's order and units at build->from; number: of the row. False: there are too
// many.
bool table_add(TableBuild *build, const double *value, int64_t number);
bool table_end(TableBuild *build, Points *out); // false: errors were reported

// Reads a binary recording (io/recorded.h), `name` in messages. False: errors were reported, at `at`.
bool recording_binary(SpecReader *reader, const Option *option, const char *name, Bytes data,
                      const TableReading *reading, const Node *at, Points *out);

#endif
