// Which trial is better: the orders of a campaign's trials, as SQL. What other folders use is in campaign.h.
#ifndef HOPSCOTCH_BEST_ORDER_H
#define HOPSCOTCH_BEST_ORDER_H

#include "../../campaign.h"

const char *store_worst_order(const Spec *spec);
// The first trial of a query of id and fitness. Without a row, *id and *fitness keep their values.
Error store_take_best(Database *database, const char *sql, int64_t *id, double *fitness);
// The best trial by the campaign's own objective. Without one, *id and *fitness keep their values.
Error store_best(Database *database, int64_t *id, double *fitness);

#endif
