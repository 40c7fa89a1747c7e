// The points of an outer grid, one a search (outer_points.c).
#ifndef HOPSCOTCH_OUTER_POINTS_H
#define HOPSCOTCH_OUTER_POINTS_H

#include "../campaign.h"

Error outer_record(Database *database, const Spec *spec); // once, within the transaction that makes the campaign

#endif
