// The options of the method cmaes, in the order of the rows in cmaes.h.
#include "cmaes.h"

#include <math.h>

const Option cmaes_options[CMAES_N_OPTIONS] = {
    {"cmaes.population", OPTION_INTEGER, "1", 0, 4, CMAES_POPULATION_MAX, "auto",
     "members of a generation; auto: 4 + 3 ln n for n parameters"},
    {"cmaes.sigma", OPTION_NUMBER, "1", 0.3, 1e-6, 1.0, NULL,
     "step size at the start, as a fraction of each parameter's range (or of the range of its logarithm)"},
    {"cmaes.searches", OPTION_INTEGER, "1", 1, 1, SEARCHES_MAX, NULL,
     "number of independent searches, which run side by side; with `outer`, per point of it"},
    {"cmaes.first", OPTION_INTEGER, "1", 0, 0, 60000, NULL,
     "number of the first search: what a search does depends on the seed and on its number alone"},
    {"cmaes.start", OPTION_CHOICE, "", 0, 0, 2, "random|center|default",
     "where searches start. random: in the middle 80 % of the ranges; center: in their middle; default: at the "
     "model's defaults. Restarts are random"},
    {"cmaes.bounds", OPTION_CHOICE, "", 0, 0, 2, "transform|resample|penalty",
     "at the ends of ranges. transform: a smooth mapping; resample: members beyond them are drawn again; penalty: "
     "these are evaluated at the end, and rank worse the farther beyond it they are"},
    {"cmaes.weights", OPTION_CHOICE, "", 0, 0, 1, "active|positive",
     "active: bad members shrink the covariance where they lie"},
    {"cmaes.covariance", OPTION_CHOICE, "", 0, 0, 2, "auto|full|separable",
     "separable: only the diagonal is learned, faster and in less memory; auto: for more than 100 parameters"},
    {"cmaes.uncertainty", OPTION_BOOLEAN, "", 0, 0, 1, NULL,
     "a fraction of each generation is run twice; if that changes ranks too much, all members are run more often. "
     "Needs `replicates: {common: false}`"},
    {"cmaes.uncertainty_max", OPTION_INTEGER, "1", 16, 1, 1024, NULL,
     "greatest number of trials of a member; if that is not enough, steps get longer"},
    {"cmaes.constraints", OPTION_CHOICE, "", 0, 0, 1, "ranking|augmented_lagrangian",
     "ranking: members that meet all constraints rank before those that do not; augmented_lagrangian: the search "
     "learns what each constraint costs, and also runs the mean"},
    {"cmaes.restarts", OPTION_CHOICE, "", 0, 0, 2, "none|ipop|bipop",
     "after a search has converged. ipop: again with twice the population; bipop: also with small populations between"},
    {"cmaes.restarts_max", OPTION_INTEGER, "1", 9, 0, 16, NULL, "doublings of the population"},
    {"cmaes.patience", OPTION_INTEGER, "1", 10, 1, 1e6, NULL,
     "generations without a single success, after which a run of the strategy ends"},
    {"cmaes.stop.trials", OPTION_INTEGER, "1", 0, 1, 1e15, "none",
     "trials of one search, all restarts together; --extend may raise it"},
    {"cmaes.stop.target", OPTION_NUMBER, "", -(double)INFINITY, -(double)INFINITY, (double)INFINITY, "none",
     "a search ends when its best fitness is at least this good"},
    {"cmaes.stop.generations", OPTION_INTEGER, "1", 0, 1, 1e7, "auto",
     "of one restart; auto: 100 + 150 (n + 3)^2/sqrt(population); --extend may raise it where there are no restarts"},
    {"cmaes.stop.tolfun", OPTION_NUMBER, "", 1e-11, 0, (double)INFINITY, NULL,
     "range of the fitness within a generation and of the best of the last ones"},
    {"cmaes.stop.tolfunhist", OPTION_NUMBER, "", 1e-12, 0, (double)INFINITY, NULL,
     "range of the best fitness of the last generations"},
    {"cmaes.stop.tolx", OPTION_NUMBER, "1", 1e-12, 0, 1, NULL, "steps in all directions, as a fraction of sigma"},
    {"cmaes.stop.tolxup", OPTION_NUMBER, "1", 1e4, 1, (double)INFINITY, NULL, "growth of the longest step"},
    {"cmaes.stop.condition", OPTION_NUMBER, "1", 1e14, 1, (double)INFINITY, NULL, "condition number of the covariance"},
    {"cmaes.surrogate", OPTION_CHOICE, "", 0, 0, 1, "none|quadratic",
     "quadratic: a model of the fitness ranks each generation, and only a part of it is run, more where the model "
     "ranks badly. For trials that cost seconds or more, and up to 40 parameters (Hansen 2019)"},
    {"cmaes.evaluate_least", OPTION_INTEGER, "1", 0, 1, CMAES_POPULATION_MAX, "auto",
     "with a surrogate: trials of a round at least, best by the model first; write the number of workers. auto: 2 % of "
     "the population and one"},
};
