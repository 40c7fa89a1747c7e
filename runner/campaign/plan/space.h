// Disk space that a run needs (space.c).
#ifndef HOPSCOTCH_SPACE_H
#define HOPSCOTCH_SPACE_H

#include "../store/ground/recording.h"

// Estimates of disk space, bytes.
double space_hdf5(const Spec *spec, RecordKind kind, int64_t lanes, int64_t shards); // arrays of a kind, in shards
double space_sqlite(const Spec *spec, int64_t trials, int64_t lanes);                // the database
double space_journal(double sqlite_bytes);                                           // the files beside the database
double space_blocks(const Spec *spec, int64_t trials);                               // trials in blocks of columns
// For the generations of a search that learns: rows and two states of the search in the database; arrays.
double space_rounds_sqlite(const Search *search, int64_t rounds);
double space_rounds_hdf5(const Search *search, int64_t rounds);
typedef enum SpaceVerdict { SPACE_ENOUGH, SPACE_TIGHT, SPACE_SHORT } SpaceVerdict; // tight: nine tenths and more
SpaceVerdict space_verdict(double needed, double available);
// Before a run: error (machine) if the bytes still to be written do not fit the disk, unless options->ignore_space; a
// warning to options->messages if they barely fit.
Error space_check(const Spec *spec, Store *store, const RunOptions *options, int64_t trials_done, Arena *arena);

#endif
