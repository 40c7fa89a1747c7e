// Copies that a system has of an item with `repeat`: x1, x2, ... of x#. They are written out before a system is read
// (copies.c), with the number of each in its texts (numbered.c).
#ifndef HOPSCOTCH_EXPERIMENT_COPIES_H
#define HOPSCOTCH_EXPERIMENT_COPIES_H

#include "equations.h"

// The copies of a name that expressions use.
typedef struct CopyFamily {
    const char *name; // with # for the number
    int64_t first, last;
    bool ring; // the last one's neighbour is the first
} CopyFamily;

typedef struct Copies {
    SystemReader *reader;
    CopyFamily *families; // [n_families] by name
    const char **plain;   // [n_plain] names that are declared without #, by name
    int n_families, n_plain;
    CopyFamily usual; // of items without `repeat`: the numbers of the states. name NULL: they have several, or none
    int64_t bytes, n_nodes; // that were written
    bool full, wrong;       // there is too much; it is not known which copies there are, which is reported
} Copies;

// What a mark stands for: index "" is the copy's own.
typedef struct CopyNumber {
    const char *index;
    int length;
    int64_t number;
    const struct CopyNumber *outer;
} CopyNumber;

// ---- numbered.c -----------------------------------------------------------------------------------------------------

const CopyFamily *copy_family(const Copies *copies, const char *name); // NULL: there is none
bool copy_is_plain(const Copies *copies, const char *name);            // it is declared without #
bool copy_has_own_mark(const char *text); // one that stands for the copy's own number, which no sum runs over
const char *copy_number_text(const CopyNumber *number, Arena *arena); // " (# = 3)"; NULL: ""
// A scalar with numbers for its marks. NULL after an error.
const Node *copy_numbered(Copies *copies, const Node *node, const CopyNumber *numbers);

// ---- copies.c -------------------------------------------------------------------------------------------------------

// Counts a node of `bytes` that is written out; false, which is reported once: there are too many.
bool copies_count(Copies *copies, const Node *node, int bytes);

#endif
