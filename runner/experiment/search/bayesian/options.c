// The options of the method bayesian, in the order of the rows in bayesian.h.
#include "bayesian.h"

#include <math.h>

const Option bayesian_options[BAYESIAN_N_OPTIONS] = {
    {"bayesian.batch", OPTION_INTEGER, "1", 1, 1, BAYESIAN_BATCH_MAX, NULL,
     "trials of a round, which are chosen together and can run at once: set it to the number of workers. Fewer learn "
     "more from each trial"},
    {"bayesian.n_start", OPTION_INTEGER, "1", 0, 2, 1000, "auto",
     "trials of the first round, which fill the ranges evenly; auto: 2 n for n parameters, at least 4 and a batch"},
    {"bayesian.searches", OPTION_INTEGER, "1", 1, 1, BAYESIAN_SEARCHES_MAX, NULL,
     "independent searches, which run side by side"},
    {"bayesian.first", OPTION_INTEGER, "1", 0, 0, 60000, NULL,
     "number of the first search: what a search does depends on the seed and on its number alone"},
    {"bayesian.stop.trials", OPTION_INTEGER, "1", 0, 1, BAYESIAN_TRIALS_MAX, "auto",
     "trials of each search, fewer where integers and words have fewer points; auto: 30 n for n parameters"},
    {"bayesian.stop.target", OPTION_NUMBER, "", -(double)INFINITY, -(double)INFINITY, (double)INFINITY, "none",
     "a search ends when its best fitness is at least this good"},
};

const char *const bayesian_stop_names[BAYESIAN_STOPS] = {
    [BAYESIAN_GOES_ON] = "",
    [BAYESIAN_AT_TRIALS] = "trials",
    [BAYESIAN_AT_TARGET] = "target",
    [BAYESIAN_AT_POINTS] = "points",
};
