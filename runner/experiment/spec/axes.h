// What the forms that search parameters share: the axes as they are gathered (axes.c).
#ifndef HOPSCOTCH_AXES_H
#define HOPSCOTCH_AXES_H

#include "forms.h"

typedef struct AxesBuild {
    Axis *axes, *derived, *outer; // [n_parameters] each; axes has room for all of them
    const Node **expressions;     // [n_derived] that derived ones are computed by
    const Node **names;           // [n_parameters] where the spec names each axis
    int n_axes, n_derived, n_outer;
    bool several_grids; // the axes are those of several grids (forms/union.c)
    const Node **taken; // [n_parameters] where it is searched; NULL: not searched
} AxesBuild;

// ---- axes.c ---------------------------------------------------------------------------------------------------------

AxesBuild *axes_start(SpecReader *reader, int n); // the reader's, with room for n parameters
// Marks a parameter as searched. False: it is searched already, or it is unknown (-1).
bool axes_claim(AxesBuild *build, const Node *name, int parameter);
bool axes_are_grid(const SearchMethod *method);                   // it takes values, no ranges
int64_t axes_product(SpecReader *reader, const AxesBuild *build); // points of the grid; 0 after an error

// ---- followers.c ----------------------------------------------------------------------------------------------------

// Parameters that come with a word (Configured.followers), and that the spec does not give, are derived from it.
void followers_derive(SpecReader *reader, AxesBuild *build);
// Reports those that are searched in some trials only, and so have no value in the others.
void followers_check_partial(SpecReader *reader, const AxesBuild *build);

// ---- forms/over.c ---------------------------------------------------------------------------------------------------

void axes_read_derived(SpecReader *reader, AxesBuild *build); // the expressions, after all axes

// ---- forms/zip.c ----------------------------------------------------------------------------------------------------

// Sets Axis.zip of the axes that the key names; errors go to the diagnostics.
void axes_read_zip(SpecReader *reader, const Node *zip, AxesBuild *build);
const char *zip_text(const SpecReader *reader, const int *zip); // of zip[n_axes], as Axis.zip; NULL: none is zipped

// ---- forms/points.c -------------------------------------------------------------------------------------------------

// Whether the method takes points; reports an error if not.
bool axes_takes_points(SpecReader *reader, const GivenKey *given);
// Sets the spec's points[count][n_axes].
void axes_set_points(SpecReader *reader, AxesBuild *build, const double *points, int64_t count);

// ---- forms/csv.c ----------------------------------------------------------------------------------------------------

// Points from a table; `columns`: a list of those that are read, NULL: all.
void axes_read_table(SpecReader *reader, const Source *source, const Node *columns, AxesBuild *build);

#endif
