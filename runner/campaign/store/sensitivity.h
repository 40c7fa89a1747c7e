// Sensitivities of a campaign that sampled for them (sensitivity.c).
#ifndef HOPSCOTCH_SENSITIVITY_H
#define HOPSCOTCH_SENSITIVITY_H

#include "../campaign.h"

Error sensitivity_record(Store *store, const Search *search); // of a campaign that is done; nothing for other methods

#endif
