// What the files that read `search:` share: the axes as they are gathered (axes.c), points (axes_points.c,
// axes_csv.c), unions (axes_union.c), conditions (axes_when.c) and outer grids (axes_outer.c).
#ifndef HOPSCOTCH_AXES_H
#define HOPSCOTCH_AXES_H

#include "keys.h"

typedef struct AxesBuild {
    Axis *axes, *derived, *outer; // [n_parameters] each; axes has room for all of them
    const Node **names;           // [n_parameters] where the spec names each axis
    int n_axes, n_derived, n_outer;
    const Node **taken; // [n_parameters] where it is searched; NULL: it is not
} AxesBuild;

// ---- axes.c ---------------------------------------------------------------------------------------------------------

// A parameter can be searched once. False: it is searched already, or is none.
bool axes_claim(AxesBuild *build, const Node *name, int parameter);
void axes_read_zip(SpecReader *reader, const Node *zip, AxesBuild *build);
int64_t axes_product(SpecReader *reader, const AxesBuild *build); // points of the grid; 0 after an error

// ---- axes_points.c --------------------------------------------------------------------------------------------------

void axes_read_points(SpecReader *reader, const Node *points, AxesBuild *build);

// Sets the spec's points[count][n_axes].
void axes_set_points(SpecReader *reader, AxesBuild *build, const double *points, int64_t count);

// ---- axes_csv.c -----------------------------------------------------------------------------------------------------

// Points from a table; `columns`: a list of those that are read, NULL: all.
void axes_read_table(SpecReader *reader, const Source *source, const Node *columns, AxesBuild *build);
void axes_read_csv(SpecReader *reader, const Node *node, AxesBuild *build);

// ---- axes_outer.c ---------------------------------------------------------------------------------------------------

void axes_read_outer(SpecReader *reader, const Node *outer, AxesBuild *build);

// ---- axes_union.c, axes_when.c --------------------------------------------------------------------------------------

void axes_read_union(SpecReader *reader, const Node *blocks, AxesBuild *build);
void axes_read_when(SpecReader *reader, const GivenKey *when, AxesBuild *build); // after the axes and derived ones

#endif
