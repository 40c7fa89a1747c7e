// The formats of `export`, in the order in which users see them and files are written. A row NAME stands for the option
// --NAME and the ExportFormat `export_NAME`, in a file of this folder. Then the endings of its files.
#ifndef HOPSCOTCH_EXPORT_FORMATS_H
#define HOPSCOTCH_EXPORT_FORMATS_H

#include "../command.h"

// clang-format off
#define EXPORT_FORMATS(X) \
    X(csv, "csv", "trials as comma-separated values (RFC 4180); - is standard output") \
    X(jsonl, "jsonl|ndjson", \
      "trials as JSON lines, one object per line; null where a number is missing or infinite; - is standard output") \
    X(npz, "npz", "trials for numpy.load, one array per column; NaN where a number is missing") \
    X(parquet, "parquet|pq", \
      "trials as Parquet, for DuckDB, polars and pandas; null where a number is missing; - is standard output") \
    X(sqlite, "sqlite|sqlite3|db", "trials as the table trials of a SQLite database") \
    X(hdf5, "h5|hdf5", \
      "one HDF5 file with copies of all recorded arrays; takes no --where, --order, --columns, --limit")
// clang-format on

// What is written.
typedef struct Export {
    const StoredCampaign *campaign;
    const Query *query; // the trials; NULL if the format has recorded arrays
    FILE *file;
    const char *path; // of the file until it is whole: the writer may open it again
    Arena *arena;
} Export;

typedef struct ExportFormat {
    bool arrays;           // all recorded arrays instead of trials
    const char *unordered; // "NPZ": writes not in order, into a regular file; NULL: also to a pipe
    Error (*write)(const Export *export);
} ExportFormat;

#define EXPORT_FORMAT(name, ...) extern const ExportFormat export_##name;
EXPORT_FORMATS(EXPORT_FORMAT)
#undef EXPORT_FORMAT

Error export_has_arrays(const StoredCampaign *campaign, Arena *arena, bool *any); // that export_hdf5 would write

// --crate FOLDER: the campaign as a folder with files of these formats, and words on them that programs read (crate.c).
extern const Switches switches_crate;
Error export_crate(const CommandLine *line, const StoredCampaign *campaign);

#endif
